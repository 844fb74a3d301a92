// counter_store
//
// Counters of a histogram. A word of memory counters is the counter of one
// bin. A word of memory groups belongs to a group of bins: a bit per bin that
// says whether its counter means anything, above them the sum of the group's
// counters. A bit of register populated says whether the group's word means
// anything: clearing those bits clears the histogram.
//
// A change reads both memories in one cycle and is written back two cycles
// later. In between the words stand in registers, behind the memories, which
// are the slowest part; who reads meanwhile is given what was written.
//
// Instances: port.clearing.store
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: dff0b4e897fb48c75bc0df6460f1451b52e960a0aff85a548d4a5fa513b37a84

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
    output wire [7:0] group_sum,   // samples in the group read two cycles before
    output wire [7:0] bin_count,   // samples in the bin read two cycles before
    output wire [7:0] arrived      // that bin
);

  reg   [7:0] at_q;                    // bin read the cycle before
  wire  [7:0] at_d;
  reg         changing_q;              // a change has read it
  wire        changing_d;
  reg   [7:0] here_q;                  // bin read two cycles before
  wire  [7:0] here_d;
  reg         writing_q;               // a change is being written back
  wire        writing_d;
  reg  [23:0] group_word_q;            // word of the group, 0 if it holds no samples
  wire [23:0] group_word_d;
  reg         counted_q;               // the bin has a counter
  reg         counted_d;
  reg   [7:0] counter_q;               // that counter
  reg   [7:0] counter_d;
  reg   [7:0] last_q;                  // bin read three cycles before
  wire  [7:0] last_d;
  reg         wrote_q;                 // it was written the cycle before
  wire        wrote_d;
  reg         clearing_q;              // all samples before the present change are forgotten
  wire        clearing_d;
  reg  [23:0] last_word_q;             // word of its group that was written
  wire [23:0] last_word_d;
  reg   [7:0] last_count_q;            // counter of that bin that was written
  wire  [7:0] last_count_d;
  reg  [15:0] populated_q;             // which groups hold samples
  reg  [15:0] populated_d;
  wire        changes;                 // a change reads in this cycle
  reg   [7:0] address;                 // bin to read
  wire  [3:0] at_group;                // its group
  wire  [3:0] at_place;                // its place in the group
  wire        same_group;              // its group was written while it was read
  wire        valid;                   // the group holds samples
  wire [15:0] last_mask;               // bits of the bins, of the word written last
  wire [15:0] new_mask;                // those of the word being written
  wire [15:0] read_mask;               // those of the word read
  reg  [23:0] word;                    // word of its group
  wire  [3:0] here_group;              // its group
  wire  [3:0] here_place;              // its place in the group
  wire [15:0] mask;                    // which bins of the group have counters
  wire  [7:0] sum;                     // samples in the group
  reg   [7:0] count;                   // samples in the bin
  wire  [7:0] new_count;               // samples in the bin after the change
  wire  [7:0] new_sum;                 // samples in the group after the change
  wire [23:0] new_word;                // word of the group after the change
  wire  [3:0] last_group;              // the group of that bin
  wire  [7:0] counters_read_data;      // the word read at the last clock edge
  wire  [7:0] counters_read_address;   // word to read
  wire        counters_write_enable;   // write at the next clock edge
  wire  [7:0] counters_write_address;  // word to write
  wire  [7:0] counters_write_data;     // what to write
  wire [23:0] groups_read_data;        // the word read at the last clock edge
  wire  [3:0] groups_read_address;     // word to read
  wire        groups_write_enable;     // write at the next clock edge
  wire  [3:0] groups_write_address;    // word to write
  wire [23:0] groups_write_data;       // what to write

  // A change takes the read ports; every other cycle they are the search's.
  assign changes = add;
  assign taken = changes;

  always @(*) begin
    if (changes) begin
      address = bin;
    end else begin
      address = {read_group, read_place};
    end
  end

  assign counters_read_address = address;
  assign groups_read_address = address[7:4];
  assign at_d = address;
  assign changing_d = changes;
  assign at_group = at_q[7:4];
  assign at_place = at_q[3:0];
  assign here_group = here_q[7:4];
  assign here_place = here_q[3:0];
  assign last_group = last_q[7:4];

  // The words, in the third cycle: a change writes them back.
  assign mask = group_word_q[15:0];
  assign sum = group_word_q[23:16];

  always @(*) begin
    count = 8'd0;
    if (counted_q) begin
      count = counter_q;
    end
  end

  assign group_sum = sum;
  assign bin_count = count;
  assign arrived = here_q;
  assign new_count = count + 8'd1;
  assign new_sum = sum + 8'd1;
  assign new_mask = mask | (16'd1 << here_place);
  assign new_word = {new_sum, new_mask};
  assign counters_write_enable = writing_q;
  assign counters_write_address = here_q;
  assign counters_write_data = new_count;
  assign groups_write_enable = writing_q;
  assign groups_write_address = here_group;
  assign groups_write_data = new_word;

  always @(*) begin
    populated_d = populated_q;
    if (clearing_q) begin
      populated_d = 16'd0;
    end else if (writing_q) begin
      populated_d = populated_q | (16'd1 << here_group);
    end
  end

  // The words, in the second cycle: nothing is in a group that was not written;
  // what was written while it was read has not come out of the memory.
  assign clearing_d = clear;
  assign last_d = here_q;
  assign wrote_d = writing_q;
  assign last_word_d = new_word;
  assign last_count_d = new_count;
  assign same_group = wrote_q & (last_group == at_group);
  assign valid = populated_q[at_group];
  assign last_mask = last_word_q[15:0];
  assign read_mask = groups_read_data[15:0];

  always @(*) begin
    counted_d = counted_q;
    if (clearing_q) begin
      word = 24'd0;
      counted_d = 1'b0;
    end else if (same_group) begin
      word = last_word_q;
      counted_d = last_mask[at_place];
    end else if (valid) begin
      word = groups_read_data;
      counted_d = read_mask[at_place];
    end else begin
      word = 24'd0;
      counted_d = 1'b0;
    end
  end

  assign group_word_d = word;

  always @(*) begin
    counter_d = counter_q;
    if (wrote_q & (last_q == at_q)) begin
      counter_d = last_count_q;
    end else begin
      counter_d = counters_read_data;
    end
  end

  assign here_d = at_q;
  assign writing_d = changing_q;

  always @(posedge clk) begin
    if (rst) begin
      at_q <= 8'd0;
      changing_q <= 1'b0;
      here_q <= 8'd0;
      writing_q <= 1'b0;
      group_word_q <= 24'd0;
      counted_q <= 1'b0;
      counter_q <= 8'd0;
      last_q <= 8'd0;
      wrote_q <= 1'b0;
      clearing_q <= 1'b0;
      last_word_q <= 24'd0;
      last_count_q <= 8'd0;
      populated_q <= 16'd0;
    end else begin
      at_q <= at_d;
      changing_q <= changing_d;
      here_q <= here_d;
      writing_q <= writing_d;
      group_word_q <= group_word_d;
      counted_q <= counted_d;
      counter_q <= counter_d;
      last_q <= last_d;
      wrote_q <= wrote_d;
      clearing_q <= clearing_d;
      last_word_q <= last_word_d;
      last_count_q <= last_count_d;
      populated_q <= populated_d;
    end
  end

  // Memory: samples per bin.
  ram_1r1w #(
      .WIDTH         (8),
      .DEPTH         (256),
      .ADDRESS_WIDTH (8)
  ) u_counters (
      .clk           (clk),
      .write_enable  (counters_write_enable),
      .write_address (counters_write_address),
      .write_data    (counters_write_data),
      .read_address  (counters_read_address),
      .read_data     (counters_read_data)
  );

  // Memory: per group: sum of its counters, below it a bit per bin that has a counter.
  ram_1r1w #(
      .WIDTH         (24),
      .DEPTH         (16),
      .ADDRESS_WIDTH (4)
  ) u_groups (
      .clk           (clk),
      .write_enable  (groups_write_enable),
      .write_address (groups_write_address),
      .write_data    (groups_write_data),
      .read_address  (groups_read_address),
      .read_data     (groups_read_data)
  );

endmodule

`default_nettype wire
