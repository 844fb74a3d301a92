// perfbound_checker
//
// What perfbound claims about itself: assertions for simulation and proof, no hardware. They are
// checked at the rising edge of the clock, unless it is reset then.
//
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 272f87574b83b01d4193b1230c79ac435c03303bccd1da4a5e2f27e11a711e8f

`default_nettype none

module perfbound_checker (
    input wire        clk,              // clock
    input wire        rst,              // synchronous reset
    input wire        cleared,          // that sample clears the histogram
    input wire [31:0] live_window,      // window of the histogram, in ticks
    input wire        window_step,      // the window grows by a tick
    input wire  [7:0] arrived,          // that bin
    input wire        carry,            // the parts make a whole packet
    input wire [10:0] credit_q,         // budget of the live window
    input wire [18:0] credit_part_q,    // and its part of a packet / 140000, less what the next tick carries from
    input wire  [2:0] state_q,          // where the search stands
    input wire        pending_q,        // a sample came that no search covers yet
    input wire  [3:0] group_q,          // next group to read, or group of the bins
    input wire  [3:0] place_q,          // next bin of the group to read
    input wire        reading_q,        // what was read the cycle before is the search's
    input wire        arriving_q,       // what arrives is the search's
    input wire        looking_q,        // samples is the search's
    input wire  [7:0] bin_q,            // the bin that was read, or one of the group
    input wire        update_now_q,     // t_pb, window and budget are new
    input wire [31:0] threshold_now_q,  // the threshold
    input wire [31:0] window_now_q,     // window of the search
    input wire [10:0] budget_now_q      // budget of the search
);

  // States: Search
  localparam [2:0] SEARCH_IDLE = 3'd0;      // waiting for a sample
  localparam [2:0] SEARCH_MULTIPLY = 3'd1;  // multiplying the window into a budget
  localparam [2:0] SEARCH_GROUPS = 3'd2;    // adding up whole groups from the highest down
  localparam [2:0] SEARCH_BINS = 3'd3;      // adding up the bins of the group that holds the answer
  // SEARCH_ENTRIES = 3'd4: not named here  // all entries of a map tell the answer
  localparam [2:0] SEARCH_FINISH = 3'd5;    // turning the bin into a time

  localparam [10:0] GAIN = 11'd0;               // packets that a tick of the window allows to delay, l / t_w:
  localparam [31:0] LONGEST = 32'd262144;       // h_maxval, in ticks
  localparam [31:0] BEFORE_FIRST = 32'd262144;  // the threshold before the first sample
  localparam [33:0] OPEN = 34'd0;               // what these allow, if the budget is behind
  localparam [18:0] NO_REST = 19'd139999;       // a whole packet less the part that a tick allows
  localparam [18:0] WHOLE_PART = 19'd140000;    // a whole packet, as wide as a part
  localparam [33:0] PER_TICK = 34'd1;           // l / t_w, in parts of a packet
  localparam [33:0] PACKET = 34'd140000;        // a whole packet, in parts

  reg  [33:0] allowed_q;      // what the live window allows
  reg  [33:0] allowed_d;
  reg  [33:0] taken_q;        // what its whole packets are
  reg  [33:0] taken_d;
  reg  [33:0] allowed_now_q;  // what the window of the search allows
  reg  [33:0] allowed_now_d;
  reg  [33:0] taken_now_q;    // what its whole packets are
  reg  [33:0] taken_now_d;
  wire        t_pb_in_range_holds;
  reg         legal_state_holds;
  wire        told_at_rest_holds;
  wire        reads_in_search_holds;
  reg         groups_in_order_holds;
  reg         bins_in_order_holds;
  wire        budget_exact_holds;
  wire        part_fits_holds;
  wire        credit_exact_holds;
  wire        window_allows_holds;
  wire        packets_taken_holds;
  wire        search_allows_holds;
  wire        search_taken_holds;
  wire        searches_now;   // the search reads
  wire  [3:0] arrived_group;  // group of the bin read two cycles before
  wire  [3:0] looked_group;   // of the bin read three cycles before
  wire  [3:0] group_read;     // group read last
  wire  [3:0] group_arrived;  // group of what arrived last
  wire  [3:0] place_read;     // place read last
  wire  [3:0] place_arrived;  // place of what arrived last
  wire [18:0] credit_rest;    // the part of a packet
  reg  [33:0] gain_now;       // what the whole packets grow by
  wire        starts;         // a search begins

  assign starts = (state_q == SEARCH_IDLE) & pending_q;
  assign t_pb_in_range_holds = (threshold_now_q <= LONGEST) | (threshold_now_q == BEFORE_FIRST);
  assign searches_now = (state_q == SEARCH_GROUPS) | (state_q == SEARCH_BINS);

  always @(*) begin
    legal_state_holds = (state_q == SEARCH_IDLE) | (state_q == SEARCH_FINISH);
    if (searches_now) begin
      legal_state_holds = 1'b1;
    end
  end

  assign told_at_rest_holds = ~update_now_q | (state_q == SEARCH_IDLE);
  assign reads_in_search_holds = searches_now
      | ~(reading_q | (arriving_q & (state_q != SEARCH_FINISH)) | (looking_q & (state_q == SEARCH_MULTIPLY)));
  assign arrived_group = arrived[7:4];
  assign looked_group = bin_q[7:4];
  assign group_read = group_q + 4'd1;
  assign group_arrived = group_read + {3'd0, reading_q};
  assign place_read = place_q + 4'd1;
  assign place_arrived = place_read + {3'd0, reading_q};

  always @(*) begin
    groups_in_order_holds = 1'b1;
    if (state_q == SEARCH_GROUPS) begin
      groups_in_order_holds = (~arriving_q | (arrived_group == group_arrived))
          & (~looking_q | (looked_group == (group_arrived + {3'd0, arriving_q})));
    end
  end

  always @(*) begin
    bins_in_order_holds = 1'b1;
    if (state_q == SEARCH_BINS) begin
      bins_in_order_holds = (~arriving_q | ((arrived_group == group_q) & (arrived[3:0] == place_arrived)))
          & (~looking_q | ((looked_group == group_q) & (bin_q[3:0] == (place_arrived + {3'd0, arriving_q}))));
    end
  end

  always @(*) begin
    gain_now = {23'd0, GAIN} * PACKET;
    if (carry) begin
      gain_now = ({23'd0, GAIN} * PACKET) + PACKET;
    end
  end

  assign credit_rest = credit_part_q + NO_REST;
  assign part_fits_holds = credit_rest < WHOLE_PART;

  always @(*) begin
    allowed_d = allowed_q;
    taken_d = taken_q;
    allowed_now_d = allowed_now_q;
    taken_now_d = taken_now_q;
    if (window_step) begin
      allowed_d = allowed_q + PER_TICK;
    end
    if (window_step) begin
      taken_d = taken_q + gain_now;
    end
    if (starts) begin
      allowed_now_d = allowed_q;
      taken_now_d = taken_q;
    end
    if (cleared) begin
      allowed_d = 34'd0;
      taken_d = 34'd0;
      allowed_now_d = 34'd0;
      taken_now_d = 34'd0;
    end
  end

  assign credit_exact_holds = (taken_q + {15'd0, credit_rest} + OPEN) == allowed_q;
  assign window_allows_holds = ({2'd0, live_window} * PER_TICK) == allowed_q;
  assign packets_taken_holds = ({23'd0, credit_q} * PACKET) == taken_q;
  assign search_allows_holds = ({2'd0, window_now_q} * PER_TICK) == allowed_now_q;
  assign search_taken_holds = ({23'd0, budget_now_q} * PACKET) == taken_now_q;
  assign budget_exact_holds = (taken_now_q <= allowed_now_q)
      & ((allowed_now_q - taken_now_q) < PACKET);

  always @(posedge clk) begin
    if (rst) begin
      allowed_q <= 34'd0;
      taken_q <= 34'd0;
      allowed_now_q <= 34'd0;
      taken_now_q <= 34'd0;
    end else begin
      allowed_q <= allowed_d;
      taken_q <= taken_d;
      allowed_now_q <= allowed_now_d;
      taken_now_q <= taken_now_d;
    end
  end

  // No threshold is longer than h_maxval but that before the first sample.
  always @(posedge clk) if (!rst) t_pb_in_range: assert (t_pb_in_range_holds);

  // The search is in a state that this configuration has.
  always @(posedge clk) if (!rst) legal_state: assert (legal_state_holds);

  // A threshold comes out when the search is over.
  always @(posedge clk) if (!rst) told_at_rest: assert (told_at_rest_holds);

  // Only a search reads, and what is left on its way at the end is gone before the next.
  always @(posedge clk) if (!rst) reads_in_search: assert (reads_in_search_holds);

  // What is looked at are the groups from the highest down, as they were read.
  always @(posedge clk) if (!rst) groups_in_order: assert (groups_in_order_holds);

  // Then the bins of one group from the highest down, as they were read.
  always @(posedge clk) if (!rst) bins_in_order: assert (bins_in_order_holds);

  // The budget of a search is l / t_w times its window, rounded down.
  always @(posedge clk) if (!rst) budget_exact: assert (budget_exact_holds);

  // The part of a packet is less than one.
  always @(posedge clk) if (!rst) part_fits: assert (part_fits_holds);

  // The live window allows whole packets and the part of one.
  always @(posedge clk) if (!rst) credit_exact: assert (credit_exact_holds);

  // Every tick of the live window allows l / t_w packets.
  always @(posedge clk) if (!rst) window_allows: assert (window_allows_holds);

  // Every packet of the live budget is a whole one.
  always @(posedge clk) if (!rst) packets_taken: assert (packets_taken_holds);

  // The window of a search is one that was live.
  always @(posedge clk) if (!rst) search_allows: assert (search_allows_holds);

  // So is its budget.
  always @(posedge clk) if (!rst) search_taken: assert (search_taken_holds);

endmodule

`default_nettype wire
