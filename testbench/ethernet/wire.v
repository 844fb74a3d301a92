// What is seen on one direction of the wire, whatever the ports say of it: the words from a port to
// its PHY.

`default_nettype none

module wire_monitor (
    input  wire        clk,
    input  wire        rst,
    input  wire [63:0] data,
    input  wire [ 7:0] control,
    output wire        is_lpi,  // low power idle in every lane
    output wire        is_start,  // a frame starts
    output reg  [31:0] started,  // frames
    output reg  [31:0] sleeps,  // times that LPI begins
    output reg  [31:0] least_lpi,  // words of LPI, from its first to its last
    output reg  [31:0] least_wake  // words from LPI to the start of a frame
);
  reg was_lpi;
  reg woke;  // no frame has started since LPI
  reg [31:0] lasted, since;  // words of LPI, and since then

  assign is_lpi = control == 8'hff && data == {8{8'h06}};
  assign is_start = (control[0] && data[7:0] == 8'hfb) || (control[4] && data[39:32] == 8'hfb);

  always @(posedge clk)
    if (rst) begin
      was_lpi <= 1'b0;
      woke <= 1'b0;
      lasted <= 32'd0;
      since <= 32'd0;
      started <= 32'd0;
      sleeps <= 32'd0;
      least_lpi <= ~32'd0;
      least_wake <= ~32'd0;
    end else begin
      was_lpi <= is_lpi;
      lasted <= is_lpi ? lasted + 32'd1 : 32'd0;
      since <= is_lpi ? 32'd0 : since + 32'd1;
      if (is_lpi) woke <= 1'b1;
      else if (is_start) woke <= 1'b0;
      if (is_lpi && !was_lpi) sleeps <= sleeps + 32'd1;
      if (!is_lpi && was_lpi && lasted < least_lpi) least_lpi <= lasted;
      if (is_start && woke && since < least_wake) least_wake <= since;
      if (is_start) started <= started + 32'd1;
    end
endmodule

`default_nettype wire
