// axi_lite_crossing_ticks
//
// Turns the flip-flops of `axi_lite_crossing` into those of its proof (docs/evidence/proofs.md), for
// Yosys' techmap: each takes its input in the steps in which its clock pin is 1, and holds its value
// in all others. At power-up it has any value.

`default_nettype none

(* techmap_celltype = "$dff" *)
module tick (CLK, D, Q);
  parameter WIDTH = 1;
  parameter CLK_POLARITY = 1'b1;
  input wire CLK;
  input wire [WIDTH-1:0] D;
  output wire [WIDTH-1:0] Q;
  wire _TECHMAP_FAIL_ = CLK_POLARITY != 1'b1;

  (* anyseq *) wire [WIDTH-1:0] power_up;
  reg [WIDTH-1:0] state = {WIDTH{1'b0}};
  reg powered = 1'b0;
  assign Q = powered ? state : power_up;
  always @($global_clock) begin
    powered <= 1'b1;
    state <= CLK ? D : Q;
  end
endmodule

`default_nettype wire
