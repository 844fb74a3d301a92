// histogram_window_checker
//
// What histogram_window claims about itself: assertions for simulation and proof, no hardware. They
// are checked at the rising edge of the clock, unless it is reset then.
//
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 272f87574b83b01d4193b1230c79ac435c03303bccd1da4a5e2f27e11a711e8f

`default_nettype none

module histogram_window_checker (
    input wire        clk,          // clock
    input wire        rst,          // synchronous reset
    input wire [27:0] ticks_q,      // ticks since it began, one cycle late
    input wire        last_tick_q,  // one tick is left
    input wire        over_q,       // none is left: the age stands still
    input wire  [7:0] samples_q     // samples since it began
);

  localparam [7:0] SAMPLES_BUILT = 8'd250;            // samples that fill the window
  localparam [27:0] LONGEST_AGE = 28'd156250000;      // the largest age
  localparam [27:0] LONGEST_BUT_ONE = 28'd156249999;  // the largest age less one tick

  wire age_told_holds;
  wire samples_fit_holds;

  assign age_told_holds = (ticks_q <= LONGEST_AGE)
      & (over_q == (ticks_q == LONGEST_AGE))
      & (last_tick_q == (ticks_q == LONGEST_BUT_ONE));
  assign samples_fit_holds = samples_q <= SAMPLES_BUILT;

  // The age stands still at the largest one, and the flags tell.
  always @(posedge clk) if (!rst) age_told: assert (age_told_holds);

  // The window holds no more samples than fill it.
  always @(posedge clk) if (!rst) samples_fit: assert (samples_fit_holds);

endmodule

`default_nettype wire
