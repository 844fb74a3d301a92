// histogram_clearing
//
// Histogram of idle periods, cleared when it holds max_samples samples or when
// its time to live has passed, in either case just before the next sample.
//
// A word of memory counters is the counter of one bin. A word of memory groups
// belongs to a group of bins: a bit per bin that says whether its counter
// means anything, above the sum of the group's counters. A bit of register
// populated says whether the group's word means anything: clearing those bits
// clears the histogram. A sample reads both memories in the cycle in which
// its idle period ends, and is written back in the next.
//
// Instances: port.histogram
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 48c8e0e580f37530af8343e6fbb609c70280ab1ab912b29c8eca03754f4fcedd

`default_nettype none

module histogram_clearing (
    input  wire        clk,         // clock
    input  wire        rst,         // synchronous reset
    input  wire        ended,       // a sample: an idle period of that many ticks ended
    input  wire [31:0] ticks,       // length of the idle period
    input  wire  [3:0] read_group,  // group the search reads, unless ended
    input  wire  [3:0] read_place,  // bin of that group the search reads
    output reg  [11:0] group_sum,   // samples in the group read the cycle before
    output wire [15:0] group_mask,  // which of its bins hold samples
    output wire  [7:0] bin_count,   // counter read the cycle before
    output wire        cleared,     // the sample clears the histogram
    output reg   [7:0] sample_bin,  // bin of the sample
    output wire [31:0] window,      // ticks since the clear, one cycle late
    output wire        window_step  // the window grows by a tick
);

  localparam [27:0] WINDOW_MAX = 28'd156250000;  // time to live, in ticks: the window stops there
  localparam [7:0] MAX_SAMPLES = 8'd250;         // samples that fill the histogram
  localparam [21:0] TOP_BIN = 22'd255;           // highest bin in use

  reg         running_q;               // reset is over
  wire        running_d;
  reg  [27:0] age_q;                   // ticks since the clear, one cycle late
  reg  [27:0] age_d;
  reg   [7:0] samples_q;               // samples since the clear
  reg   [7:0] samples_d;
  reg         recording_q;             // a sample is being written back
  wire        recording_d;
  reg   [7:0] record_bin_q;            // bin of that sample
  reg   [7:0] record_bin_d;
  reg         record_fresh_q;          // its group holds no sample yet
  reg         record_fresh_d;
  reg  [15:0] populated_q;             // which groups hold samples
  reg  [15:0] populated_d;
  reg         read_populated_q;        // the group read the cycle before holds samples
  wire        read_populated_d;
  wire        old;                     // the time to live has passed
  wire        window_tick;             // a tick of the window is complete
  wire [21:0] span;                    // length of the sample in bins
  wire  [3:0] sample_group;            // group of the sample's bin
  wire  [3:0] record_group;            // group of that bin
  wire  [3:0] record_place;            // place of the bin in its group
  reg  [15:0] record_mask;             // which bins of the group hold samples
  reg  [11:0] record_sum;              // samples in the group
  reg   [7:0] record_count;            // samples in the bin
  wire [15:0] word_mask;               // bits of the bins, of the group word read
  wire [11:0] word_sum;                // sum of the counters, of the group word read
  reg   [7:0] counters_mem [0:255];    // samples per bin
  reg   [7:0] counters_read_data;      // the word read at the last clock edge
  reg   [7:0] counters_read_address;   // word to read
  wire        counters_write_enable;   // write at the next clock edge
  wire  [7:0] counters_write_address;  // word to write
  wire  [7:0] counters_write_data;     // what to write
  reg  [27:0] groups_mem [0:15];       // per group: sum of its counters, below it a bit per bin that holds samples
  reg  [27:0] groups_read_data;        // the word read at the last clock edge
  reg   [3:0] groups_read_address;     // word to read
  wire        groups_write_enable;     // write at the next clock edge
  wire  [3:0] groups_write_address;    // word to write
  wire [27:0] groups_write_data;       // what to write

  // The window is one cycle late, so that the cycle after a sample sees the
  // window as it was when the sample came.
  assign running_d = 1'b1;
  assign window_tick = running_q;
  assign window_step = window_tick & (age_q != WINDOW_MAX);
  assign window = {4'd0, age_q};
  assign old = (age_q == WINDOW_MAX) | (window_step & (age_q == (WINDOW_MAX - 28'd1)));
  assign cleared = ended & (old | (samples_q == MAX_SAMPLES));

  always @(*) begin
    age_d = age_q;
    if (cleared) begin
      age_d = 28'd0;
    end else if (window_step) begin
      age_d = age_q + 28'd1;
    end
  end

  always @(*) begin
    samples_d = samples_q;
    if (cleared) begin
      samples_d = 8'd1;
    end else if (ended) begin
      samples_d = samples_q + 8'd1;
    end
  end

  // What is longer than the histogram falls into its highest bin.
  assign span = ticks[31:10];

  always @(*) begin
    if (span > TOP_BIN) begin
      sample_bin = 8'd255;
    end else begin
      sample_bin = span[7:0];
    end
  end

  assign sample_group = sample_bin[7:4];

  // A sample takes the read ports; every other cycle they are the search's.
  always @(*) begin
    if (ended) begin
      counters_read_address = sample_bin;
      groups_read_address = sample_group;
    end else begin
      counters_read_address = {read_group, read_place};
      groups_read_address = read_group;
    end
  end

  assign read_populated_d = populated_q[read_group];
  assign word_mask = groups_read_data[15:0];
  assign word_sum = groups_read_data[27:16];

  always @(*) begin
    if (read_populated_q) begin
      group_sum = word_sum;
    end else begin
      group_sum = 12'd0;
    end
  end

  assign group_mask = word_mask;
  assign bin_count = counters_read_data;

  // The cycle after a sample: one more in its bin and in its group.
  assign recording_d = ended;

  always @(*) begin
    record_bin_d = record_bin_q;
    record_fresh_d = record_fresh_q;
    if (ended) begin
      record_bin_d = sample_bin;
      record_fresh_d = cleared | ~populated_q[sample_group];
    end
  end

  assign record_group = record_bin_q[7:4];
  assign record_place = record_bin_q[3:0];

  always @(*) begin
    if (record_fresh_q) begin
      record_mask = 16'd0;
      record_sum = 12'd0;
    end else begin
      record_mask = word_mask;
      record_sum = word_sum;
    end
  end

  always @(*) begin
    if (record_mask[record_place]) begin
      record_count = counters_read_data;
    end else begin
      record_count = 8'd0;
    end
  end

  assign counters_write_enable = recording_q;
  assign counters_write_address = record_bin_q;
  assign counters_write_data = record_count + 8'd1;
  assign groups_write_enable = recording_q;
  assign groups_write_address = record_group;
  assign groups_write_data = {record_sum + 12'd1, record_mask | (16'd1 << record_place)};

  always @(*) begin
    populated_d = populated_q;
    if (cleared) begin
      populated_d = 16'd0;
    end else if (recording_q) begin
      populated_d = populated_q | (16'd1 << record_group);
    end
  end

  always @(posedge clk) begin
    if (rst) begin
      running_q <= 1'b0;
      age_q <= 28'd0;
      samples_q <= 8'd0;
      recording_q <= 1'b0;
      record_bin_q <= 8'd0;
      record_fresh_q <= 1'b0;
      populated_q <= 16'd0;
      read_populated_q <= 1'b0;
    end else begin
      running_q <= running_d;
      age_q <= age_d;
      samples_q <= samples_d;
      recording_q <= recording_d;
      record_bin_q <= record_bin_d;
      record_fresh_q <= record_fresh_d;
      populated_q <= populated_d;
      read_populated_q <= read_populated_d;
    end
  end

  // A read at the same address as a write gives the word before the write.
  always @(posedge clk) begin
    if (counters_write_enable) begin
      counters_mem[counters_write_address] <= counters_write_data;
    end
    counters_read_data <= counters_mem[counters_read_address];
  end

  // A read at the same address as a write gives the word before the write.
  always @(posedge clk) begin
    if (groups_write_enable) begin
      groups_mem[groups_write_address] <= groups_write_data;
    end
    groups_read_data <= groups_mem[groups_read_address];
  end

  // What this configuration leaves unread.
  wire unused_ticks = &{1'b0, ticks[9:0]};

endmodule

`default_nettype wire
