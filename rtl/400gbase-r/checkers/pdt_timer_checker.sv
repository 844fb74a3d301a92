// pdt_timer_checker
//
// What pdt_timer claims about itself: assertions for simulation and proof, no hardware. They are
// checked at the rising edge of the clock, unless it is reset then.
//
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: dff0b4e897fb48c75bc0df6460f1451b52e960a0aff85a548d4a5fa513b37a84

`default_nettype none

module pdt_timer_checker (
    input wire        clk,        // clock
    input wire        rst,        // synchronous reset
    input wire        active,     // the port is active in this cycle
    input wire [31:0] in_force_q  // threshold that stood when the idle period began
);

  reg         was_idle_q;       // the port was idle the cycle before
  wire        was_idle_d;
  reg  [31:0] in_force_then_q;  // threshold that was in force the cycle before
  wire [31:0] in_force_then_d;
  wire        t_pdt_kept_holds;

  assign was_idle_d = ~active;
  assign in_force_then_d = in_force_q;
  assign t_pdt_kept_holds = ~was_idle_q | (in_force_q == in_force_then_q);

  always @(posedge clk) begin
    if (rst) begin
      was_idle_q <= 1'b0;
      in_force_then_q <= 32'd262144;
    end else begin
      was_idle_q <= was_idle_d;
      in_force_then_q <= in_force_then_d;
    end
  end

  // While the port is idle, the threshold in force does not change.
  always @(posedge clk) if (!rst) t_pdt_kept: assert (t_pdt_kept_holds);

endmodule

`default_nettype wire
