// axi_lite_crossing_late
//
// The first flip-flop of a synchroniser, for the proof of `axi_lite_crossing` as its others
// (axi_lite_crossing_ticks.v): when its input has changed, it may hold the old value for one edge
// more, as one does that comes to rest on the wrong side.

`default_nettype none

(* techmap_celltype = "$dff" *)
module late (CLK, D, Q);
  parameter WIDTH = 1;
  parameter CLK_POLARITY = 1'b1;
  input wire CLK;
  input wire [WIDTH-1:0] D;
  output wire [WIDTH-1:0] Q;
  wire _TECHMAP_FAIL_ = (WIDTH != 1) | (CLK_POLARITY != 1'b1);

  (* anyseq *) wire power_up;
  (* anyseq *) wire chooses;
  reg state = 1'b0;
  reg powered = 1'b0;
  reg was_late = 1'b0;
  assign Q = powered ? state : power_up;
  wire is_late = chooses & (D != Q) & ~was_late;
  always @($global_clock) begin
    powered <= 1'b1;
    if (CLK) begin
      state <= is_late ? Q : D;
      was_late <= is_late;
    end
  end
endmodule

`default_nettype wire
