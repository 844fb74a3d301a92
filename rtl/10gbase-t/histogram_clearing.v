// histogram_clearing
//
// Histogram of idle periods, cleared when it holds max_samples samples or when
// its time to live has passed, in either case just before the next sample.
//
// Instances: port.clearing
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 272f87574b83b01d4193b1230c79ac435c03303bccd1da4a5e2f27e11a711e8f

`default_nettype none

module histogram_clearing (
    input  wire        clk,         // clock
    input  wire        rst,         // synchronous reset
    input  wire        ended,       // a sample: an idle period ended
    input  wire  [7:0] sample_bin,  // bin of the sample
    input  wire  [3:0] read_group,  // group the search reads
    input  wire  [3:0] read_place,  // bin of that group the search reads
    output wire        cleared,     // the sample clears the histogram
    output wire [31:0] age,         // ticks since the clear, one cycle late
    output wire        step,        // the age grows by a tick
    output wire        taken,       // the search reads nothing in this cycle
    output wire  [7:0] group_sum,   // samples in the group read two cycles before
    output wire  [7:0] bin_count,   // samples in the bin read two cycles before
    output wire  [7:0] arrived      // that bin
);

  wire        window_due;       // the next sample is to begin a new window
  wire [31:0] window_age;       // ticks since it began, one cycle late
  wire        window_step;      // the age grows by a tick
  wire        store_taken;      // the search reads nothing in this cycle
  wire  [7:0] store_group_sum;  // samples in the group read two cycles before
  wire  [7:0] store_bin_count;  // samples in the bin read two cycles before
  wire  [7:0] store_arrived;    // that bin

  assign cleared = ended & window_due;
  assign age = window_age;
  assign step = window_step;
  assign taken = store_taken;
  assign group_sum = store_group_sum;
  assign bin_count = store_bin_count;
  assign arrived = store_arrived;

  histogram_window u_window (
      .clk     (clk),
      .rst     (rst),
      .ended   (ended),
      .restart (cleared),
      .due     (window_due),
      .age     (window_age),
      .step    (window_step)
  );

  counter_store u_store (
      .clk        (clk),
      .rst        (rst),
      .clear      (cleared),
      .add        (ended),
      .bin        (sample_bin),
      .read_group (read_group),
      .read_place (read_place),
      .taken      (store_taken),
      .group_sum  (store_group_sum),
      .bin_count  (store_bin_count),
      .arrived    (store_arrived)
  );

endmodule

`default_nettype wire
