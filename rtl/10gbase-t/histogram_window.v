// histogram_window
//
// The window of a histogram: its age in ticks, and whether it is due to end
// because it holds max_samples samples or its time to live has passed.
//
// The age is one cycle late, so that the cycle after a sample sees it as it
// was when the sample came.
//
// Instances: port.clearing.window
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 272f87574b83b01d4193b1230c79ac435c03303bccd1da4a5e2f27e11a711e8f

`default_nettype none

module histogram_window (
    input  wire        clk,      // clock
    input  wire        rst,      // synchronous reset
    input  wire        ended,    // a sample: an idle period ended
    input  wire        restart,  // the window begins anew, with that sample
    output wire        due,      // the next sample is to begin a new window
    output wire [31:0] age,      // ticks since it began, one cycle late
    output wire        step      // the age grows by a tick
);

  localparam [27:0] LAST_BUT_ONE = 28'd156249998;  // the time to live less two ticks
  localparam [7:0] SAMPLES_WANTED = 8'd250;        // samples that fill the window

  reg         running_q;    // reset is over
  wire        running_d;
  reg  [27:0] ticks_q;      // ticks since it began, one cycle late
  reg  [27:0] ticks_d;
  reg         last_tick_q;  // one tick is left
  reg         last_tick_d;
  reg         over_q;       // none is left: the age stands still
  reg         over_d;
  reg   [7:0] samples_q;    // samples since it began
  reg   [7:0] samples_d;
  reg         full_q;       // it holds all its samples, one cycle late
  wire        full_d;
  wire        tick;         // a tick is complete
  wire        old;          // its time to live has passed

  assign running_d = 1'b1;
  assign tick = running_q;
  assign step = tick & ~over_q;
  assign age = {4'd0, ticks_q};

  // In time: samples are two cycles apart at least.
  assign full_d = samples_q == SAMPLES_WANTED;
  assign old = over_q | (step & last_tick_q);
  assign due = full_q | old;

  always @(*) begin
    ticks_d = ticks_q;
    last_tick_d = last_tick_q;
    over_d = over_q;
    if (restart) begin
      ticks_d = 28'd0;
      last_tick_d = 1'b0;
      over_d = 1'b0;
    end else if (step) begin
      ticks_d = ticks_q + 28'd1;
      last_tick_d = ticks_q == LAST_BUT_ONE;
      over_d = last_tick_q;
    end
  end

  always @(*) begin
    samples_d = samples_q;
    if (restart) begin
      samples_d = 8'd1;
    end else if (ended) begin
      samples_d = samples_q + 8'd1;
    end
  end

  always @(posedge clk) begin
    if (rst) begin
      running_q <= 1'b0;
      ticks_q <= 28'd0;
      last_tick_q <= 1'b0;
      over_q <= 1'b0;
      samples_q <= 8'd0;
      full_q <= 1'b0;
    end else begin
      running_q <= running_d;
      ticks_q <= ticks_d;
      last_tick_q <= last_tick_d;
      over_q <= over_d;
      samples_q <= samples_d;
      full_q <= full_d;
    end
  end

endmodule

`default_nettype wire
