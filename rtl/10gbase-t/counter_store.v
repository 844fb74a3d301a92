// counter_store
//
// Counters of a histogram. A word of memory counters is the counter of one
// bin. A word of memory groups belongs to a group of bins: a bit per bin that
// says whether its counter means anything, above them the sum of the group's
// counters. A bit of register populated says whether the group's word means
// anything: clearing those bits clears the histogram.
//
// A change reads both memories in one cycle and writes back in the next.
//
// Instances: port.clearing.store
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 336e1e4856636b2ed30b1f8cec46bbdd589b469b02186b743de0767d065de1cd

`default_nettype none

module counter_store (
    input  wire       clk,         // clock
    input  wire       rst,         // synchronous reset
    input  wire       clear,       // forget all samples before this cycle's
    input  wire       add,         // one more sample in that bin
    input  wire [7:0] bin,         // bin of the change
    input  wire [3:0] read_group,  // group the search reads
    input  wire [3:0] read_place,  // bin of that group the search reads
    output wire       taken,       // the search reads nothing in this cycle
    output wire [7:0] group_sum,   // samples in the group read the cycle before
    output wire [7:0] bin_count,   // samples in the bin read the cycle before
    output wire [7:0] arrived      // that bin
);

  reg   [7:0] at_q;                    // bin read the cycle before
  wire  [7:0] at_d;
  reg         valid_q;                 // the word of its group means something
  wire        valid_d;
  reg         writing_q;               // a change is being written back
  wire        writing_d;
  reg  [15:0] populated_q;             // which groups hold samples
  reg  [15:0] populated_d;
  wire        changes;                 // a change reads in this cycle
  reg   [7:0] address;                 // bin to read
  wire  [3:0] group;                   // its group
  wire  [3:0] at_group;                // its group
  wire  [3:0] at_place;                // its place in the group
  wire [23:0] word;                    // that word
  wire  [7:0] counter;                 // the counter of that bin
  reg  [15:0] mask;                    // which bins of the group have counters
  reg   [7:0] sum;                     // samples in the group
  reg   [7:0] count;                   // samples in the bin
  wire  [7:0] new_count;               // samples in the bin after the change
  wire  [7:0] new_sum;                 // samples in the group after the change
  wire [23:0] new_word;                // word of the group after the change
  reg   [7:0] counters_mem [0:255];    // samples per bin
  reg   [7:0] counters_read_data;      // the word read at the last clock edge
  wire  [7:0] counters_read_address;   // word to read
  wire        counters_write_enable;   // write at the next clock edge
  wire  [7:0] counters_write_address;  // word to write
  wire  [7:0] counters_write_data;     // what to write
  reg  [23:0] groups_mem [0:15];       // per group: sum of its counters, below it a bit per bin that has a counter
  reg  [23:0] groups_read_data;        // the word read at the last clock edge
  wire  [3:0] groups_read_address;     // word to read
  wire        groups_write_enable;     // write at the next clock edge
  wire  [3:0] groups_write_address;    // word to write
  wire [23:0] groups_write_data;       // what to write

  assign at_group = at_q[7:4];
  assign at_place = at_q[3:0];

  // A change takes the read ports; every other cycle they are the search's,
  // unless it would read the group that is being written.
  assign changes = add;
  assign taken = changes | (writing_q & (read_group == at_group));

  always @(*) begin
    if (changes) begin
      address = bin;
    end else begin
      address = {read_group, read_place};
    end
  end

  assign group = address[7:4];
  assign counters_read_address = address;
  assign groups_read_address = group;
  assign at_d = address;
  assign valid_d = populated_q[group] & ~clear;

  // What has arrived; nothing is in a bin or a group that was not written yet.
  assign counter = counters_read_data;
  assign word = groups_read_data;

  always @(*) begin
    if (valid_q) begin
      mask = word[15:0];
      sum = word[23:16];
    end else begin
      mask = 16'd0;
      sum = 8'd0;
    end
  end

  always @(*) begin
    if (mask[at_place]) begin
      count = counter;
    end else begin
      count = 8'd0;
    end
  end

  assign group_sum = sum;
  assign bin_count = count;
  assign arrived = at_q;

  // The cycle after a change has read: its bin and its group are written back.
  assign writing_d = changes;
  assign new_count = count + 8'd1;
  assign new_sum = sum + 8'd1;
  assign new_word = {new_sum, mask | (16'd1 << at_place)};
  assign counters_write_enable = writing_q;
  assign counters_write_address = at_q;
  assign counters_write_data = new_count;
  assign groups_write_enable = writing_q;
  assign groups_write_address = at_group;
  assign groups_write_data = new_word;

  always @(*) begin
    populated_d = populated_q;
    if (clear) begin
      populated_d = 16'd0;
    end else if (writing_q) begin
      populated_d = populated_q | (16'd1 << at_group);
    end
  end

  always @(posedge clk) begin
    if (rst) begin
      at_q <= 8'd0;
      valid_q <= 1'b0;
      writing_q <= 1'b0;
      populated_q <= 16'd0;
    end else begin
      at_q <= at_d;
      valid_q <= valid_d;
      writing_q <= writing_d;
      populated_q <= populated_d;
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

endmodule

`default_nettype wire
