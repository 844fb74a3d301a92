// voting
//
// A register in three copies, for `linkdoze verify` (docs/evidence/proofs.md). What is said of the
// copies holds whatever they are: an upset may have changed one of them, in whatever bits. The bits of
// a register do not depend on each other, so that eight stand for any number.

`default_nettype none

module voting (
    input wire       clk,
    input wire       rst,
    input wire [1:0] inject,
    input wire [7:0] d
);

  wire [7:0] q;
  wire [1:0] upset;

  voted_register #(.WIDTH(8), .RESET(8'd0)) u_register (
      .clk(clk), .rst(rst), .inject(inject), .d(d), .q(q), .upset(upset)
  );

  // Signals of the register; Yosys joins such wires with them.
  (* hierconn *) wire [7:0] \u_register.copy_1 ;
  (* hierconn *) wire [7:0] \u_register.copy_2 ;
  (* hierconn *) wire [7:0] \u_register.copy_3 ;

  wire [7:0] copy_1 = \u_register.copy_1 ;
  wire [7:0] copy_2 = \u_register.copy_2 ;
  wire [7:0] copy_3 = \u_register.copy_3 ;

  // The cycle before.
  reg [7:0] then_d;
  reg [1:0] then_inject;
  reg       stored = 1'b0;  // without a reset, so that the copies hold then_d
  always @(posedge clk) begin
    then_d <= d;
    then_inject <= inject;
    stored <= !rst;
  end

  // What two copies say holds, whatever the third one says.
  always @(*) if (!rst) two_outvote_one: assert (
      (copy_1 != copy_2 | q == copy_1) & (copy_1 != copy_3 | q == copy_1)
      & (copy_2 != copy_3 | q == copy_2));

  // An upset of one copy is told, and which copy it is.
  always @(*) if (!rst) upset_told: assert (
      (copy_1 != copy_2 | copy_2 != copy_3 | upset == 0)
      & (copy_2 != copy_3 | copy_1 == copy_2 | upset == 1)
      & (copy_1 != copy_3 | copy_1 == copy_2 | upset == 2)
      & (copy_1 != copy_2 | copy_1 == copy_3 | upset == 3));

  // With the next clock edge an upset is gone: all copies hold the next value, but for one that is
  // stored wrong as a test.
  always @(*) if (!rst) upset_gone: assert (
      !stored
      | ((then_inject == 1 | copy_1 == then_d) & (then_inject == 2 | copy_2 == then_d)
         & (then_inject == 3 | copy_3 == then_d)));

endmodule

`default_nettype wire
