// perfbound
//
// Finds the power-down threshold: the middle of the lowest bin such that the
// samples in it and above are at most the budget, the packets that may be
// delayed in the window of the histogram.
//
// One word is read per cycle, from the highest group down, until a group does
// not fit into what is left of the budget; then the bins of that group, from
// the highest down. Samples that come during a search are covered by the next.
//
// Instances: port.perfbound
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: dff0b4e897fb48c75bc0df6460f1451b52e960a0aff85a548d4a5fa513b37a84

`default_nettype none

module perfbound (
    input  wire        clk,          // clock
    input  wire        rst,          // synchronous reset
    input  wire        ended,        // a sample is recorded
    input  wire        cleared,      // that sample clears the histogram
    input  wire  [7:0] sample_bin,   // bin of that sample
    input  wire [31:0] live_window,  // window of the histogram, in ticks
    input  wire        window_step,  // the window grows by a tick
    input  wire        taken,        // what is read in this cycle is not for the search
    input  wire  [7:0] group_sum,    // samples in the group read two cycles before
    input  wire  [7:0] bin_count,    // samples in the bin read two cycles before
    input  wire  [7:0] arrived,      // that bin
    output wire  [3:0] read_group,   // group to read, or group of the bin to read
    output wire  [3:0] read_place,   // place in the group of the bin to read
    output wire        update,       // t_pb, window and budget are new
    output wire [31:0] t_pb,         // threshold, in ticks
    output wire [31:0] window,       // window that t_pb was computed for, in ticks
    output wire [12:0] budget        // packets that may be delayed in it
);

  // States: Search
  localparam [2:0] SEARCH_IDLE = 3'd0;      // waiting for a sample
  localparam [2:0] SEARCH_MULTIPLY = 3'd1;  // multiplying the window into a budget
  localparam [2:0] SEARCH_GROUPS = 3'd2;    // adding up whole groups from the highest down
  localparam [2:0] SEARCH_BINS = 3'd3;      // adding up the bins of the group that holds the answer
  localparam [2:0] SEARCH_ENTRIES = 3'd4;   // all entries of a map tell the answer
  localparam [2:0] SEARCH_FINISH = 3'd5;    // turning the bin into a time

  localparam [12:0] GAIN = 13'd0;                     // packets that a tick of the window allows to delay, l / t_w:
  localparam [25:0] GAIN_PART = 26'd107;              // whole ones, and this / 20400000
  localparam [25:0] PART_AFTER_CARRY = 26'd46708971;  // that, less a whole packet
  localparam [25:0] NO_CREDIT = 26'd46708971;         // a part of 0
  localparam [3:0] TOP_GROUP = 4'd15;                 // highest group in use
  localparam [31:0] HALF = 32'd512;                   // half a bin
  localparam [8:0] NEVER_FROM = 9'd256;               // from this bin on, the middle is not below the longest threshold
  localparam [31:0] MAX_VALUE = 32'd262144;           // longest threshold, in ticks
  localparam [3:0] TOP_PLACE = 4'd15;                 // highest place in a group

  reg  [12:0] credit_q;         // budget of the live window
  reg  [12:0] credit_d;
  reg  [25:0] credit_part_q;    // and its part of a packet / 20400000, less what the next tick carries from
  reg  [25:0] credit_part_d;
  reg   [2:0] state_q;          // where the search stands
  reg   [2:0] state_d;
  reg         pending_q;        // a sample came that no search covers yet
  reg         pending_d;
  reg   [3:0] group_q;          // next group to read, or group of the bins
  reg   [3:0] group_d;
  reg   [3:0] place_q;          // next bin of the group to read
  reg   [3:0] place_d;
  reg         reading_q;        // what was read the cycle before is the search's
  reg         reading_d;
  reg         arriving_q;       // what arrives is the search's
  reg         arriving_d;
  reg         looking_q;        // samples is the search's
  reg         looking_d;
  reg   [7:0] bin_q;            // the bin that was read, or one of the group
  wire  [7:0] bin_d;
  reg  [12:0] samples_q;        // samples in what was read
  reg  [12:0] samples_d;
  reg  [12:0] left_q;           // budget left after the bins passed
  reg  [12:0] left_d;
  reg   [7:0] found_q;          // the bin found
  reg   [7:0] found_d;
  reg         above_q;          // the answer is the bin above it
  reg         above_d;
  reg         update_now_q;     // t_pb, window and budget are new
  reg         update_now_d;
  reg  [31:0] threshold_now_q;  // the threshold
  reg  [31:0] threshold_now_d;
  reg  [31:0] window_now_q;     // window of the search
  reg  [31:0] window_now_d;
  reg  [12:0] budget_now_q;     // budget of the search
  reg  [12:0] budget_now_d;
  reg  [25:0] part_step;        // what a tick adds to the part
  wire        carry;            // the parts make a whole packet
  wire  [3:0] bin_group;        // its group
  wire  [3:0] bin_place;        // its place in it
  wire [13:0] rest;             // what they leave of the budget
  wire        exceeds;          // they exceed it
  wire  [8:0] index;            // the answer, the number of bins if none will do
  reg  [31:0] threshold;        // its middle, at most the longest threshold

  // The budget l / t_w * X as a whole number and a fraction, both exact.
  assign carry = ~credit_part_q[25];

  always @(*) begin
    if (carry) begin
      part_step = PART_AFTER_CARRY;
    end else begin
      part_step = GAIN_PART;
    end
  end

  always @(*) begin
    credit_d = credit_q;
    credit_part_d = credit_part_q;
    if (window_step) begin
      credit_part_d = credit_part_q + part_step;
      credit_d = credit_q + GAIN + {12'd0, carry};
    end
    if (cleared) begin
      credit_d = 13'd0;
      credit_part_d = NO_CREDIT;
    end
  end

  assign read_group = group_q;
  assign read_place = place_q;

  always @(*) begin
    state_d = state_q;
    pending_d = pending_q;
    group_d = group_q;
    place_d = place_q;
    found_d = found_q;
    above_d = above_q;
    threshold_now_d = threshold_now_q;
    window_now_d = window_now_q;
    budget_now_d = budget_now_q;
    arriving_d = reading_q;
    looking_d = arriving_q;
    // What the search goes by follows the state alone: whether samples fit is known
    // late in a cycle.
    if (state_q == SEARCH_BINS) begin
      if (~taken) begin
        place_d = place_q - 4'd1;
      end
      found_d = bin_q;
      above_d = exceeds;
    end else begin
      place_d = TOP_PLACE;
    end
    reading_d = 1'b0;
    update_now_d = 1'b0;
    case (state_q)
      SEARCH_IDLE: begin
        group_d = TOP_GROUP;
        found_d = 8'd0;
        above_d = 1'b0;
        if (pending_q) begin
          pending_d = 1'b0;
          window_now_d = live_window;
          budget_now_d = credit_q;
          state_d = SEARCH_GROUPS;
        end
      end
      SEARCH_MULTIPLY: begin
        // Not used in this configuration.
        state_d = SEARCH_IDLE;
      end
      SEARCH_GROUPS: begin
        if (looking_q & exceeds) begin
          // What was read since is not needed.
          state_d = SEARCH_BINS;
          arriving_d = 1'b0;
          looking_d = 1'b0;
          group_d = bin_group;
        end else if (looking_q & (bin_group == 4'd0)) begin
          // All samples fit: even the lowest bin will do.
          state_d = SEARCH_FINISH;
        end else if (~taken) begin
          reading_d = 1'b1;
          group_d = group_q - 4'd1;
        end
      end
      SEARCH_BINS: begin
        // The group exceeds the budget: if its other bins fit, the lowest does not.
        if (looking_q & (exceeds | (bin_place == 4'd1))) begin
          state_d = SEARCH_FINISH;
        end else if (~taken) begin
          reading_d = 1'b1;
        end
      end
      SEARCH_ENTRIES: begin
        // Not used in this configuration.
        state_d = SEARCH_IDLE;
      end
      SEARCH_FINISH: begin
        // What was read for the search and not used is gone before the next.
        state_d = SEARCH_IDLE;
        threshold_now_d = threshold;
        update_now_d = 1'b1;
      end
      default: begin
        state_d = SEARCH_IDLE;
      end
    endcase
    if (ended) begin
      pending_d = 1'b1;
    end
    // A sample that clears is alone in the histogram, with a budget of 0: the bin
    // above it is the answer. It replaces whatever search is under way.
    if (cleared) begin
      state_d = SEARCH_FINISH;
      pending_d = 1'b0;
      reading_d = 1'b0;
      update_now_d = 1'b0;
      threshold_now_d = threshold_now_q;
      found_d = sample_bin;
      above_d = 1'b1;
      window_now_d = 32'd0;
      budget_now_d = 13'd0;
    end
  end

  assign bin_d = arrived;

  always @(*) begin
    samples_d = samples_q;
    if (state_q == SEARCH_GROUPS) begin
      samples_d = {5'd0, group_sum};
    end else begin
      samples_d = {5'd0, bin_count};
    end
  end

  assign bin_group = bin_q[7:4];
  assign bin_place = bin_q[3:0];
  assign rest = {1'b0, left_q} - {1'b0, samples_q};
  assign exceeds = rest[13];
  assign index = {1'b0, found_q} + {8'd0, above_q};

  always @(*) begin
    threshold = {13'd0, index, 10'd0} | HALF;
    if (index >= NEVER_FROM) begin
      threshold = MAX_VALUE;
    end
  end

  always @(*) begin
    left_d = left_q;
    if ((state_q == SEARCH_GROUPS) | (state_q == SEARCH_BINS)) begin
      if (looking_q & ~exceeds) begin
        left_d = rest[12:0];
      end
    end else begin
      left_d = credit_q;
    end
  end

  assign update = update_now_q;
  assign t_pb = threshold_now_q;
  assign window = window_now_q;
  assign budget = budget_now_q;

  always @(posedge clk) begin
    if (rst) begin
      credit_q <= 13'd0;
      credit_part_q <= 26'd46708971;
      state_q <= SEARCH_IDLE;
      pending_q <= 1'b0;
      group_q <= 4'd0;
      place_q <= 4'd0;
      reading_q <= 1'b0;
      arriving_q <= 1'b0;
      looking_q <= 1'b0;
      bin_q <= 8'd0;
      samples_q <= 13'd0;
      left_q <= 13'd0;
      found_q <= 8'd0;
      above_q <= 1'b0;
      update_now_q <= 1'b0;
      threshold_now_q <= 32'd262144;
      window_now_q <= 32'd0;
      budget_now_q <= 13'd0;
    end else begin
      credit_q <= credit_d;
      credit_part_q <= credit_part_d;
      state_q <= state_d;
      pending_q <= pending_d;
      group_q <= group_d;
      place_q <= place_d;
      reading_q <= reading_d;
      arriving_q <= arriving_d;
      looking_q <= looking_d;
      bin_q <= bin_d;
      samples_q <= samples_d;
      left_q <= left_d;
      found_q <= found_d;
      above_q <= above_d;
      update_now_q <= update_now_d;
      threshold_now_q <= threshold_now_d;
      window_now_q <= window_now_d;
      budget_now_q <= budget_now_d;
    end
  end

endmodule

`default_nettype wire
