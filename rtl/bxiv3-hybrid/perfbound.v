// perfbound
//
// Finds the power-down threshold: the middle of the lowest bin such that the
// samples in it and above are at most the budget, the packets that may be
// delayed in the window of the histogram.
//
// One word is read per cycle, from the highest group down, until a group does
// not fit into the budget; then the bins of that group, from the highest down.
// A cycle with a sample is not available for reading. Samples that come during
// a search are covered by the next. A sample that clears the histogram is
// alone in it, with a budget of 0: the bin above it is the answer.
//
// Instances: port.perfbound
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: ed1cf4f07119c7c73f710e41e7b22153447802214ce2bf268d454d3cbaa26127

`default_nettype none

module perfbound (
    input  wire        clk,          // clock
    input  wire        rst,          // synchronous reset
    input  wire        ended,        // a sample is recorded; the histogram reads for it
    input  wire        cleared,      // that sample clears the histogram
    input  wire  [7:0] sample_bin,   // bin of that sample
    input  wire [31:0] live_window,  // ticks since the clear, one cycle late
    input  wire        window_step,  // the window grows by a tick
    input  wire [11:0] group_sum,    // samples in the group read the cycle before
    input  wire [15:0] group_mask,   // which of its bins hold samples
    input  wire  [7:0] bin_count,    // counter read the cycle before
    output wire  [3:0] read_group,   // group to read, or group of the bin to read
    output wire  [3:0] read_place,   // place in the group of the bin to read
    output wire        update,       // t_pb, window and budget are new
    output wire [31:0] t_pb,         // threshold, in ticks
    output wire [31:0] window,       // window that t_pb was computed for, in ticks
    output wire  [8:0] budget        // packets that may be delayed in it
);

  // States: Search
  localparam [1:0] SEARCH_IDLE = 2'd0;    // no sample to cover
  localparam [1:0] SEARCH_GROUPS = 2'd1;  // adding up groups, highest first
  localparam [1:0] SEARCH_BINS = 2'd2;    // adding up the bins of the group that does not fit
  localparam [1:0] SEARCH_FINISH = 2'd3;  // turning the bin into a time

  localparam [8:0] GAIN = 9'd0;                   // packets that a tick of the window allows to delay, l / t_w:
  localparam [25:0] GAIN_PART = 26'd23;           // whole ones, and this / 51200000
  localparam [25:0] CARRIES_FROM = 26'd51199977;  // a part from which the next tick makes a whole packet
  localparam [3:0] TOP_GROUP = 4'd15;             // highest group in use
  localparam [31:0] HALF = 32'd8192;              // half a bin
  localparam [8:0] BIN_COUNT_TOTAL = 9'd256;      // number of bins
  localparam [31:0] MAX_VALUE = 32'd4194304;      // longest threshold, in ticks
  localparam [3:0] TOP_PLACE = 4'd15;             // highest place in a group

  reg   [8:0] credit_q;         // budget of the live window
  reg   [8:0] credit_d;
  reg  [25:0] credit_part_q;    // and this / 51200000
  reg  [25:0] credit_part_d;
  reg   [1:0] state_q;          // where the search stands
  reg   [1:0] state_d;
  reg         pending_q;        // a sample came that no search covers yet
  reg         pending_d;
  reg   [3:0] group_q;          // next group to read, or group of the bins
  reg   [3:0] group_d;
  reg   [3:0] place_q;          // next bin of the group to read
  reg   [3:0] place_d;
  reg         reading_q;        // what was read the cycle before is the search's
  reg         reading_d;
  reg  [15:0] mask_q;           // bins of the group that held samples
  reg  [15:0] mask_d;
  reg  [16:0] passed_q;         // samples in the bins passed
  reg  [16:0] passed_d;
  reg   [8:0] index_q;          // the bin found
  reg   [8:0] index_d;
  reg         update_now_q;     // t_pb, window and budget are new
  reg         update_now_d;
  reg  [31:0] threshold_now_q;  // the threshold
  reg  [31:0] threshold_now_d;
  reg  [31:0] window_now_q;     // window of the search
  reg  [31:0] window_now_d;
  reg   [8:0] budget_now_q;     // budget of the search
  reg   [8:0] budget_now_d;
  wire        carry;            // the parts make a whole packet
  wire  [3:0] arrived_group;    // group read the cycle before
  wire  [3:0] arrived_place;    // bin of the group read the cycle before
  reg  [16:0] arrived;          // samples in it
  wire [16:0] tail;             // samples in it and in what was passed
  wire        exceeds;          // they are more than the budget
  wire [31:0] middle;           // middle of the bin found, in ticks
  reg  [31:0] threshold;        // that, at most the longest threshold

  // The budget l / t_w * X as a whole number and a fraction, both exact.
  assign carry = ~(credit_part_q < CARRIES_FROM);

  always @(*) begin
    credit_part_d = credit_part_q;
    if (cleared) begin
      credit_part_d = 26'd0;
    end else if (window_step) begin
      if (carry) begin
        credit_part_d = credit_part_q - CARRIES_FROM;
      end else begin
        credit_part_d = credit_part_q + GAIN_PART;
      end
    end
  end

  always @(*) begin
    credit_d = credit_q;
    if (cleared) begin
      credit_d = 9'd0;
    end else if (window_step) begin
      credit_d = credit_q + GAIN + {8'd0, carry};
    end
  end

  // The address counts down with every read, so what arrives is one above it.
  assign read_group = group_q;
  assign read_place = place_q;
  assign arrived_group = group_q + 4'd1;
  assign arrived_place = place_q + 4'd1;

  always @(*) begin
    if (state_q == SEARCH_GROUPS) begin
      arrived = {5'd0, group_sum};
    end else if (mask_q[arrived_place]) begin
      arrived = {9'd0, bin_count};
    end else begin
      arrived = 17'd0;
    end
  end

  assign tail = passed_q + arrived;
  assign exceeds = tail > {8'd0, budget_now_q};
  assign middle = {9'd0, index_q, 14'd0} | HALF;

  // Above the highest bin: never, as far as the histogram can tell.
  always @(*) begin
    if (index_q == BIN_COUNT_TOTAL) begin
      threshold = MAX_VALUE;
    end else begin
      threshold = middle;
    end
  end

  always @(*) begin
    state_d = state_q;
    pending_d = pending_q;
    group_d = group_q;
    place_d = place_q;
    mask_d = mask_q;
    passed_d = passed_q;
    index_d = index_q;
    threshold_now_d = threshold_now_q;
    window_now_d = window_now_q;
    budget_now_d = budget_now_q;
    reading_d = 1'b0;
    update_now_d = 1'b0;
    case (state_q)
      SEARCH_IDLE: begin
        if (pending_q) begin
          state_d = SEARCH_GROUPS;
          pending_d = 1'b0;
          window_now_d = live_window;
          budget_now_d = credit_q;
          passed_d = 17'd0;
          group_d = TOP_GROUP;
        end
      end
      SEARCH_GROUPS: begin
        if (reading_q & exceeds) begin
          state_d = SEARCH_BINS;
          group_d = arrived_group;
          place_d = TOP_PLACE;
          mask_d = group_mask;
        end else if (reading_q & (arrived_group == 4'd0)) begin
          // All samples fit: even the lowest bin will do.
          state_d = SEARCH_FINISH;
          index_d = 9'd0;
        end else begin
          if (reading_q) begin
            passed_d = tail;
          end
          if (~ended) begin
            reading_d = 1'b1;
            group_d = group_q - 4'd1;
          end
        end
      end
      SEARCH_BINS: begin
        // The group exceeds the budget: if its other bins fit, the lowest does not.
        if (reading_q & (exceeds | (arrived_place == 4'd1))) begin
          state_d = SEARCH_FINISH;
          index_d = {1'b0, group_q, arrived_place} + {8'd0, exceeds};
        end else begin
          if (reading_q) begin
            passed_d = tail;
          end
          if (~ended) begin
            reading_d = 1'b1;
            place_d = place_q - 4'd1;
          end
        end
      end
      SEARCH_FINISH: begin
        state_d = SEARCH_IDLE;
        threshold_now_d = threshold;
        update_now_d = 1'b1;
      end
      default: begin
        state_d = SEARCH_IDLE;
      end
    endcase
    // A sample that clears replaces whatever search is under way.
    if (cleared) begin
      state_d = SEARCH_FINISH;
      pending_d = 1'b0;
      reading_d = 1'b0;
      update_now_d = 1'b0;
      threshold_now_d = threshold_now_q;
      index_d = {1'b0, sample_bin} + 9'd1;
      window_now_d = 32'd0;
      budget_now_d = 9'd0;
    end else if (ended) begin
      pending_d = 1'b1;
    end
  end

  assign update = update_now_q;
  assign t_pb = threshold_now_q;
  assign window = window_now_q;
  assign budget = budget_now_q;

  always @(posedge clk) begin
    if (rst) begin
      credit_q <= 9'd0;
      credit_part_q <= 26'd0;
      state_q <= SEARCH_IDLE;
      pending_q <= 1'b0;
      group_q <= 4'd0;
      place_q <= 4'd0;
      reading_q <= 1'b0;
      mask_q <= 16'd0;
      passed_q <= 17'd0;
      index_q <= 9'd0;
      update_now_q <= 1'b0;
      threshold_now_q <= 32'd4194304;
      window_now_q <= 32'd0;
      budget_now_q <= 9'd0;
    end else begin
      credit_q <= credit_d;
      credit_part_q <= credit_part_d;
      state_q <= state_d;
      pending_q <= pending_d;
      group_q <= group_d;
      place_q <= place_d;
      reading_q <= reading_d;
      mask_q <= mask_d;
      passed_q <= passed_d;
      index_q <= index_d;
      update_now_q <= update_now_d;
      threshold_now_q <= threshold_now_d;
      window_now_q <= window_now_d;
      budget_now_q <= budget_now_d;
    end
  end

endmodule

`default_nettype wire
