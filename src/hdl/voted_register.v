`default_nettype none

module voted_register #(
    parameter WIDTH = 8,                         // bits
    parameter [WIDTH-1:0] RESET = {WIDTH{1'b0}}  // the value in reset
) (
    input  wire             clk,
    input  wire             rst,     // synchronous reset
    input  wire       [1:0] inject,  // 1 to 3: that copy is stored wrong at the next clock edge
    input  wire [WIDTH-1:0] d,       // the next value
    output wire [WIDTH-1:0] q,       // the present value
    output wire       [1:0] upset    // 1 to 3: that copy differs; 0: all are alike
);

  // Synthesis is not to join them.
  (* keep, dont_touch = "true", syn_preserve = 1 *) reg [WIDTH-1:0] copy_1;
  (* keep, dont_touch = "true", syn_preserve = 1 *) reg [WIDTH-1:0] copy_2;
  (* keep, dont_touch = "true", syn_preserve = 1 *) reg [WIDTH-1:0] copy_3;

  assign q = (copy_1 & copy_2) | (copy_1 & copy_3) | (copy_2 & copy_3);
  assign upset = {(copy_2 != q) | (copy_3 != q), (copy_1 != q) | (copy_3 != q)};

  always @(posedge clk) begin
    if (rst) begin
      copy_1 <= RESET;
      copy_2 <= RESET;
      copy_3 <= RESET;
    end else begin
      copy_1 <= d ^ {WIDTH{inject == 2'd1}};
      copy_2 <= d ^ {WIDTH{inject == 2'd2}};
      copy_3 <= d ^ {WIDTH{inject == 2'd3}};
    end
  end

endmodule

`default_nettype wire
