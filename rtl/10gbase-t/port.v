// port
//
// Power controller of one end of a link. It watches the port's activity,
// powers the link down when the port has been idle for longer than the
// power-down threshold t_pdt, and forbids transmission while the link is not
// awake. All outputs come from registers alone.
//
// Block: port
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: ff3624271be04b9a04ba2a0927a3220cb681c8b3cd0f1a25cb5fe95d2b18448c
//
// The configuration:
//   [clock]
//   period_ps = 6400
//   tick_ns = 6.4
//
//   [port]
//   time_width = 32
//   policy = "perfbound"
//   sleep = "deep-sleep"
//   t_pdt_ns = 100000
//   t_pdt_init_ns = 1677721.6
//   t_backstop_ns = 1677721.6
//   hybrid_hold_ns = 11520
//   sync = "messages"
//   sync_timeout_ns = 64000
//   registers = false
//
//   [states.wake]
//   power_w = 1.0
//
//   [states.fast-wake]
//   power_w = 0.1
//   t_w_ns = 4480
//   t_s_ns = 2880
//
//   [states.deep-sleep]
//   power_w = 0.1
//   t_w_ns = 4480
//   t_s_ns = 2880
//   t_q_ns = 0
//   t_r_ns = 0
//
//   [histogram]
//   kind = "clearing"
//   bin_scale = "linear"
//   bins = 256
//   bin_ns = 6553.6
//   counter_bits = 8
//   max_samples = 250
//   ttl_ns = 1000000000
//   map_entries = 64
//   max_value_ns = 1677721.6
//
//   [perfbound]
//   bound = 0.01
//   hops = [[2, 1.0]]
//   window = "held"
//
//   [correction]
//   history = 16
//   mode = "at-least-one"
//   miss_unit = "fraction"
//   fraction_bits = 10
//
//   [guard]
//   burst = 0

`default_nettype none

module port (
    input  wire        clk,             // clock
    input  wire        rst,             // synchronous reset
    input  wire        queue_nonempty,  // the output queue holds a packet
    input  wire        transmitting,    // a packet is leaving over the link
    input  wire        receiving,       // a packet is arriving over the link
    input  wire        packet_valid,    // one cycle per packet sent
    input  wire  [5:0] packet_hops,     // hop count of that packet
    input  wire        initiator,       // strap, 1 at one end: its request goes on if two cross
    input  wire  [2:0] message_in,      // 0 none, 1 REQ_DOWN, 2 REQ_UP, 3 ACK, 4 NACK, 5 SYNC
    output wire        tx_enable,       // the port may start a packet
    output wire  [2:0] power_state,     // 0 wake, 1 going down, 2 fast wake, 3 deep sleep, 4 refresh, 5 going up
    output wire        hit,             // an idle period ended, the link stayed awake
    output wire        miss,            // an idle period ended, the link had left wake
    output wire [31:0] t_pdt,           // threshold in force, in ticks
    output wire        update,          // there is a new threshold
    output wire [31:0] t_pb,            // PerfBound's threshold, in ticks
    output wire [31:0] window,          // window it was computed for, in ticks
    output wire [10:0] budget,          // packets that may be delayed in it
    output wire  [2:0] message_out,     // coded as message_in, each for one cycle
    output wire        sync_error       // the other end once did not answer in time
);

  reg         hit_now_q;                 // an idle period ended, the link stayed awake
  wire        hit_now_d;
  reg         miss_now_q;                // an idle period ended, the link had left wake
  wire        miss_now_d;
  reg         left_wake_q;               // the link has left wake in this idle period
  wire        left_wake_d;
  wire  [3:0] read_group;                // group of bins to read
  wire  [3:0] read_place;                // bin in it to read
  wire        active;                    // the port is active
  wire        expires;                   // the power-down timer of a port that sleeps expires
  wire        overdue;                   // it expired earlier in this idle period
  wire        down_start;                // the link goes down at the end of this cycle
  wire        idle_meter_ended;          // an idle period ends in this cycle: its length is ticks
  wire        idle_meter_tick;           // this idle cycle completes a tick
  wire [31:0] idle_meter_ticks;          // whole ticks idle before this cycle
  wire        idle_meter_saturated;      // ticks is at its largest value
  wire [31:0] pdt_timer_t_pdt_in_force;  // threshold of this idle period, or the next
  wire        pdt_timer_expired;         // the timer expires at the end of this cycle
  wire        pdt_timer_overdue;         // it expired earlier in this idle period
  wire        lpi_fsm_tx_enable;         // the port may start a packet
  wire        lpi_fsm_leaving;           // the link leaves Wake at the end of this cycle
  wire        lpi_fsm_asleep;            // the link sleeps or is on the way down
  wire        lpi_fsm_may_go_down;       // the link is in a state with a way down
  wire        lpi_fsm_hold_over;         // it has been long enough in fast wake for deep sleep
  wire  [2:0] lpi_fsm_power_state;       // state of the link, encoded as LINK_*
  wire        link_sync_wants_down;      // this end would like to go down
  wire        link_sync_overdue;         // it has wanted that before, and nothing has happened since
  wire        link_sync_down_start;      // go down at the end of this cycle
  wire        link_sync_up_start;        // go up at the end of this cycle
  wire        link_sync_tx_enable;       // the port may start a packet
  wire  [2:0] link_sync_message_out;     // message to the other end
  wire        link_sync_sync_error;      // the other end once did not answer in time
  wire        link_sync_fails;           // it has not, in this cycle
  wire  [7:0] bin_meter_bin;             // bin of an idle period of this length
  wire        clearing_cleared;          // the sample clears the histogram
  wire [31:0] clearing_age;              // ticks since the clear, one cycle late
  wire        clearing_step;             // the age grows by a tick
  wire        clearing_taken;            // the search reads nothing in this cycle
  wire  [7:0] clearing_group_sum;        // samples in the group read two cycles before
  wire  [7:0] clearing_bin_count;        // samples in the bin read two cycles before
  wire  [7:0] clearing_arrived;          // that bin
  wire  [3:0] perfbound_read_group;      // group to read, or group of the bin to read
  wire  [3:0] perfbound_read_place;      // place in the group of the bin to read
  wire        perfbound_update;          // t_pb, window and budget are new
  wire [31:0] perfbound_t_pb;            // threshold, in ticks
  wire [31:0] perfbound_window;          // window that t_pb was computed for, in ticks
  wire [10:0] perfbound_budget;          // packets that may be delayed in it

  assign active = queue_nonempty | transmitting | receiving;
  assign t_pdt = pdt_timer_t_pdt_in_force;
  assign expires = pdt_timer_expired;
  assign overdue = pdt_timer_overdue;

  // Both holds in fast wake end together: one request is enough.
  assign link_sync_wants_down = (expires & ~pdt_timer_overdue & lpi_fsm_tx_enable)
      | (lpi_fsm_hold_over & initiator & ~active);
  assign link_sync_overdue = overdue & lpi_fsm_tx_enable & ~active;
  assign down_start = link_sync_down_start;
  assign tx_enable = link_sync_tx_enable;
  assign message_out = link_sync_message_out;
  assign sync_error = link_sync_sync_error;
  assign power_state = lpi_fsm_power_state;

  // A miss is an idle period in which the link left wake, for whatever reason.
  assign left_wake_d = ~active & (left_wake_q | lpi_fsm_leaving);
  assign hit_now_d = idle_meter_ended & ~left_wake_q;
  assign miss_now_d = idle_meter_ended & left_wake_q;
  assign hit = hit_now_q;
  assign miss = miss_now_q;
  assign read_group = perfbound_read_group;
  assign read_place = perfbound_read_place;
  assign update = perfbound_update;
  assign t_pb = perfbound_t_pb;
  assign window = perfbound_window;
  assign budget = perfbound_budget;

  idle_meter u_idle_meter (
      .clk       (clk),
      .rst       (rst),
      .active    (active),
      .ended     (idle_meter_ended),
      .tick      (idle_meter_tick),
      .ticks     (idle_meter_ticks),
      .saturated (idle_meter_saturated)
  );

  pdt_timer u_pdt_timer (
      .clk            (clk),
      .rst            (rst),
      .active         (active),
      .transmitting   (transmitting),
      .tick           (idle_meter_tick),
      .ticks          (idle_meter_ticks),
      .t_pdt          (perfbound_t_pb),
      .t_pdt_in_force (pdt_timer_t_pdt_in_force),
      .expired        (pdt_timer_expired),
      .overdue        (pdt_timer_overdue)
  );

  lpi_fsm u_lpi_fsm (
      .clk         (clk),
      .rst         (rst),
      .down_start  (down_start),
      .up_start    (link_sync_up_start),
      .tx_enable   (lpi_fsm_tx_enable),
      .leaving     (lpi_fsm_leaving),
      .asleep      (lpi_fsm_asleep),
      .may_go_down (lpi_fsm_may_go_down),
      .hold_over   (lpi_fsm_hold_over),
      .power_state (lpi_fsm_power_state)
  );

  link_sync u_link_sync (
      .clk            (clk),
      .rst            (rst),
      .initiator      (initiator),
      .message_in     (message_in),
      .queue_nonempty (queue_nonempty),
      .transmitting   (transmitting),
      .active         (active),
      .awake          (lpi_fsm_tx_enable),
      .asleep         (lpi_fsm_asleep),
      .may_go_down    (lpi_fsm_may_go_down),
      .wants_down     (link_sync_wants_down),
      .overdue        (link_sync_overdue),
      .permitted      (1'b1),
      .down_start     (link_sync_down_start),
      .up_start       (link_sync_up_start),
      .tx_enable      (link_sync_tx_enable),
      .message_out    (link_sync_message_out),
      .sync_error     (link_sync_sync_error),
      .fails          (link_sync_fails)
  );

  bin_meter u_bin_meter (
      .ticks (idle_meter_ticks),
      .bin   (bin_meter_bin)
  );

  histogram_clearing u_clearing (
      .clk        (clk),
      .rst        (rst),
      .ended      (idle_meter_ended),
      .sample_bin (bin_meter_bin),
      .read_group (read_group),
      .read_place (read_place),
      .cleared    (clearing_cleared),
      .age        (clearing_age),
      .step       (clearing_step),
      .taken      (clearing_taken),
      .group_sum  (clearing_group_sum),
      .bin_count  (clearing_bin_count),
      .arrived    (clearing_arrived)
  );

  perfbound u_perfbound (
      .clk         (clk),
      .rst         (rst),
      .ended       (idle_meter_ended),
      .cleared     (clearing_cleared),
      .sample_bin  (bin_meter_bin),
      .live_window (clearing_age),
      .window_step (clearing_step),
      .taken       (clearing_taken),
      .group_sum   (clearing_group_sum),
      .bin_count   (clearing_bin_count),
      .arrived     (clearing_arrived),
      .read_group  (perfbound_read_group),
      .read_place  (perfbound_read_place),
      .update      (perfbound_update),
      .t_pb        (perfbound_t_pb),
      .window      (perfbound_window),
      .budget      (perfbound_budget)
  );

  always @(posedge clk) begin
    if (rst) begin
      hit_now_q <= 1'b0;
      miss_now_q <= 1'b0;
      left_wake_q <= 1'b0;
    end else begin
      hit_now_q <= hit_now_d;
      miss_now_q <= miss_now_d;
      left_wake_q <= left_wake_d;
    end
  end

  // What this configuration leaves unread.
  wire unused_packet_valid = &{1'b0, packet_valid};
  wire unused_packet_hops = &{1'b0, packet_hops};
  wire unused_idle_meter_saturated = &{1'b0, idle_meter_saturated};
  wire unused_link_sync_fails = &{1'b0, link_sync_fails};

`ifdef FORMAL
  // For proofs; no hardware.

  (* hierconn *) wire [31:0] \u_idle_meter.count_q ;
  (* hierconn *) wire [31:0] \u_pdt_timer.in_force_q ;
  (* hierconn *) wire \u_pdt_timer.last_sender_q ;
  (* hierconn *) wire \u_pdt_timer.passed_q ;
  (* hierconn *) wire \u_pdt_timer.backstop_passed_q ;
  (* hierconn *) wire [2:0] \u_lpi_fsm.state_q ;
  (* hierconn *) wire [9:0] \u_lpi_fsm.age_q ;
  (* hierconn *) wire [2:0] \u_link_sync.state_q ;
  (* hierconn *) wire [13:0] \u_link_sync.count_q ;
  (* hierconn *) wire \u_link_sync.rise_q ;
  (* hierconn *) wire \u_link_sync.unheard_q ;
  (* hierconn *) wire [31:0] \u_perfbound.threshold_now_q ;

  // States: Exchange
  localparam [2:0] EXCHANGE_START = 3'd0;       // just reset: nothing is sent until both ends are surely awake
  localparam [2:0] EXCHANGE_IDLE = 3'd1;        // no exchange under way
  localparam [2:0] EXCHANGE_ASK_DOWN = 3'd2;    // REQ_DOWN sent, no answer yet
  localparam [2:0] EXCHANGE_SYNC_DOWN = 3'd3;   // SYNC sent: down in half a round trip
  localparam [2:0] EXCHANGE_AWAIT_DOWN = 3'd4;  // REQ_DOWN accepted: down when SYNC comes
  localparam [2:0] EXCHANGE_ASK_UP = 3'd5;      // REQ_UP sent, no answer yet
  localparam [2:0] EXCHANGE_SYNC_UP = 3'd6;     // SYNC sent: up in half a round trip
  localparam [2:0] EXCHANGE_AWAIT_UP = 3'd7;    // REQ_UP accepted: up when SYNC comes

  // States: Link
  localparam [2:0] LINK_GOING_DOWN = 3'd1;  // on the way down, full power
  localparam [2:0] LINK_GOING_UP = 3'd5;    // on the way up, full power

  localparam [14:0] MESSAGE_WAIT = 15'd10001;         // w: longest wait for a message
  localparam [14:0] HALF_WAIT = 15'd5000;             // longest wait from SYNC to the start
  localparam [14:0] START_WAIT = 15'd11153;           // all of START
  localparam [14:0] ASK_WAIT = 15'd10002;             // waited before this end asks to wake, at most
  localparam [14:0] AWAIT_WAIT = 15'd20003;           // and before it follows a request that crossed
  localparam [14:0] SYNC_WAIT = 15'd25003;            // and with its own SYNC
  localparam [14:0] RISE_WAIT = 15'd30004;            // waited before the way up begins, at most
  localparam [14:0] LONGEST_WAIT = 15'd30704;         // the longest wait, as `estimate` prints it
  localparam [31:0] BACKSTOP_NOW = 32'd262144;        // the backstop in force, in ticks
  localparam [31:0] LONGEST_THRESHOLD = 32'd262144;   // the longest threshold, in ticks
  localparam [31:0] LONGEST_PREDICTION = 32'd262144;  // h_maxval, or t_pdt_init if that is longer, in ticks
  localparam [32:0] LONGEST_IDLE = 33'd262145;        // the timer has expired by then
  localparam [32:0] REST_BEFORE = 33'd11153;          // rested before a timer that expired in vain
  localparam [32:0] REST_ASKED = 33'd262145;          // rested before the other end is asked, at most
  localparam [32:0] REST_SYNCED = 33'd5000;           // longest wait from SYNC to the start
  localparam [32:0] REST_TIMEOUT = 33'd10000;         // longest wait for a message, less one
  localparam [32:0] LONGEST_REST = 33'd272146;        // the longest rest, as `estimate` prints it

  reg  [14:0] waiting_q;       // clock cycles for which a packet has waited
  reg  [14:0] waiting_d;
  reg  [32:0] idle_cycles_q;   // idle clock cycles, up to the longest time of the timer
  reg  [32:0] idle_cycles_d;
  reg  [32:0] rest_q;          // idle clock cycles in Wake, nothing being heard
  reg  [32:0] rest_d;
  wire        sends_awake_only_holds;
  wire        wait_bounded_holds;
  reg         commitment_kept_holds;
  reg         exchange_fits_holds;
  reg         exchange_timed_holds;
  reg         wait_in_exchange_holds;
  reg         wait_in_transition_holds;
  wire        sleeps_in_time_holds;
  wire        threshold_in_range_holds;
  wire        prediction_in_range_holds;
  wire        timer_ahead_holds;
  wire        idle_counted_holds;
  wire        rest_is_idle_holds;
  reg         rest_in_exchange_holds;
  wire        to_wake;         // the link sleeps and is not yet agreed to go up
  wire [14:0] count;           // clock cycles in the state of the exchange
  wire [14:0] age;             // clock cycles in the transition
  wire        backstop_ahead;  // it has passed, or is yet to come
  wire        timer_over;      // the timer has expired in this idle time
  wire        at_rest;         // idle in Wake, and nothing is heard
  wire [32:0] elapsed;         // idle clock cycles, as the meter has them
  wire [32:0] exchange_count;  // clock cycles in the state of the exchange

  assign sends_awake_only_holds = ~tx_enable | (power_state == 3'd0);

  always @(*) begin
    waiting_d = 15'd0;
    if (queue_nonempty & ~tx_enable) begin
      waiting_d = waiting_q + 15'd1;
    end
  end

  assign wait_bounded_holds = waiting_q <= LONGEST_WAIT;
  assign count = {1'b0, u_link_sync.count_q};
  assign age = {5'd0, u_lpi_fsm.age_q};
  assign to_wake = lpi_fsm_asleep & ~u_link_sync.rise_q;

  always @(*) begin
    commitment_kept_holds = 1'b1;
    exchange_fits_holds = 1'b1;
    exchange_timed_holds = 1'b1;
    wait_in_exchange_holds = 1'b1;
    case (u_link_sync.state_q)
      EXCHANGE_IDLE: begin
        if (to_wake) begin
          wait_in_exchange_holds = waiting_q <= MESSAGE_WAIT;
        end
      end
      EXCHANGE_ASK_DOWN: begin
        exchange_fits_holds = lpi_fsm_may_go_down & ~u_link_sync.rise_q;
        exchange_timed_holds = count < MESSAGE_WAIT;
        if (to_wake) begin
          wait_in_exchange_holds = waiting_q <= count;
        end
      end
      EXCHANGE_SYNC_DOWN: begin
        commitment_kept_holds = ~tx_enable;
        exchange_fits_holds = lpi_fsm_may_go_down & ~u_link_sync.rise_q;
        exchange_timed_holds = count <= HALF_WAIT;
        wait_in_exchange_holds = waiting_q <= (HALF_WAIT - count);
      end
      EXCHANGE_AWAIT_DOWN: begin
        commitment_kept_holds = ~tx_enable;
        exchange_fits_holds = lpi_fsm_may_go_down & ~u_link_sync.rise_q;
        exchange_timed_holds = count < MESSAGE_WAIT;
        wait_in_exchange_holds = waiting_q <= count;
      end
      EXCHANGE_ASK_UP: begin
        exchange_fits_holds = to_wake;
        exchange_timed_holds = count < MESSAGE_WAIT;
        wait_in_exchange_holds = waiting_q <= (ASK_WAIT + count);
      end
      EXCHANGE_SYNC_UP: begin
        exchange_fits_holds = to_wake;
        exchange_timed_holds = count <= HALF_WAIT;
        wait_in_exchange_holds = waiting_q <= (SYNC_WAIT - count);
      end
      EXCHANGE_AWAIT_UP: begin
        exchange_timed_holds = count < MESSAGE_WAIT;
        if (to_wake) begin
          wait_in_exchange_holds = waiting_q <= (AWAIT_WAIT + count);
        end
      end
      default: begin  // EXCHANGE_START, and what encodes no state
        exchange_fits_holds = lpi_fsm_tx_enable;
        exchange_timed_holds = count < START_WAIT;
        wait_in_exchange_holds = waiting_q <= count;
      end
    endcase
    if (u_link_sync.rise_q
        & (u_lpi_fsm.state_q != LINK_GOING_DOWN)
        & (u_lpi_fsm.state_q != LINK_GOING_UP)) begin
      exchange_fits_holds = 1'b0;
    end
  end

  always @(*) begin
    wait_in_transition_holds = 1'b1;
    case (u_lpi_fsm.state_q)
      LINK_GOING_DOWN: begin
        wait_in_transition_holds = waiting_q <= (MESSAGE_WAIT + age);
      end
      LINK_GOING_UP: begin
        wait_in_transition_holds = waiting_q <= (RISE_WAIT + age);
      end
      default: ;
    endcase
  end

  assign threshold_in_range_holds = u_pdt_timer.in_force_q <= LONGEST_THRESHOLD;
  assign prediction_in_range_holds = u_perfbound.threshold_now_q <= LONGEST_PREDICTION;
  assign backstop_ahead = u_pdt_timer.backstop_passed_q | (u_idle_meter.count_q <= BACKSTOP_NOW);
  assign timer_ahead_holds = (u_pdt_timer.passed_q | (u_idle_meter.count_q <= u_pdt_timer.in_force_q))
      & backstop_ahead;
  assign timer_over = u_pdt_timer.passed_q
      & (u_pdt_timer.last_sender_q | u_pdt_timer.backstop_passed_q);

  always @(*) begin
    idle_cycles_d = idle_cycles_q;
    if (active) begin
      idle_cycles_d = 33'd0;
    end else if (idle_cycles_q < LONGEST_IDLE) begin
      idle_cycles_d = idle_cycles_q + 33'd1;
    end
  end

  assign elapsed = {1'b0, u_idle_meter.count_q};
  assign idle_counted_holds = ((idle_cycles_q == elapsed) & (idle_cycles_q < LONGEST_IDLE))
      | ((idle_cycles_q == LONGEST_IDLE) & timer_over);
  assign at_rest = ~active & (message_in == 3'd0) & lpi_fsm_tx_enable & ~u_link_sync.unheard_q;

  always @(*) begin
    rest_d = rest_q;
    if (at_rest) begin
      rest_d = rest_q + 33'd1;
    end else begin
      rest_d = 33'd0;
    end
  end

  assign sleeps_in_time_holds = rest_q <= LONGEST_REST;
  assign rest_is_idle_holds = (rest_q <= idle_cycles_q) | (idle_cycles_q == LONGEST_IDLE);
  assign exchange_count = {19'd0, u_link_sync.count_q};

  always @(*) begin
    rest_in_exchange_holds = 1'b1;
    case (u_link_sync.state_q)
      EXCHANGE_START: begin
        rest_in_exchange_holds = rest_q <= exchange_count;
      end
      EXCHANGE_IDLE: begin
        rest_in_exchange_holds = exchange_count <= REST_TIMEOUT;
        if (timer_over & ~u_link_sync.unheard_q) begin
          rest_in_exchange_holds = (exchange_count <= REST_TIMEOUT)
              & (rest_q <= (REST_BEFORE + exchange_count));
        end
      end
      EXCHANGE_ASK_DOWN: begin
        rest_in_exchange_holds = rest_q <= (REST_ASKED + exchange_count);
      end
      EXCHANGE_SYNC_DOWN: begin
        rest_in_exchange_holds = rest_q <= (REST_SYNCED - exchange_count);
      end
      default: begin
        rest_in_exchange_holds = rest_q <= exchange_count;
      end
    endcase
  end

  always @(posedge clk) begin
    if (rst) begin
      waiting_q <= 15'd0;
      idle_cycles_q <= 33'd0;
      rest_q <= 33'd0;
    end else begin
      waiting_q <= waiting_d;
      idle_cycles_q <= idle_cycles_d;
      rest_q <= rest_d;
    end
  end

  initial assume (rst);

  // Nothing is transmitted unless the link is awake.
  always @(*) if (!rst) sends_awake_only: assert (sends_awake_only_holds);

  // Whatever the other end does, a packet never waits longer than `estimate` says.
  always @(*) if (!rst) wait_bounded: assert (wait_bounded_holds);

  // From its ACK or SYNC for going down on, the port starts no packet.
  always @(*) if (!rst) commitment_kept: assert (commitment_kept_holds);

  // An exchange for going down stands only where there is a way down, one of this end's own for
  // going up only where the link sleeps.
  always @(*) if (!rst) exchange_fits: assert (exchange_fits_holds);

  // No wait for a message outlasts its time-out.
  always @(*) if (!rst) exchange_timed: assert (exchange_timed_holds);

  // What a packet has waited for is the exchange under way, and those before.
  always @(*) if (!rst) wait_in_exchange: assert (wait_in_exchange_holds);

  // What a packet has waited for is the transition under way, and what led to it.
  always @(*) if (!rst) wait_in_transition: assert (wait_in_transition_holds);

  // An end that stays idle and hears nothing leaves Wake within the time that `estimate` says, or
  // finds out that the other end is silent.
  always @(*) if (!rst) sleeps_in_time: assert (sleeps_in_time_holds);

  // No threshold is longer than the longest one.
  always @(*) if (!rst) threshold_in_range: assert (threshold_in_range_holds);

  // PerfBound's threshold is at most max_value_ns, or t_pdt_init_ns if that is longer.
  always @(*) if (!rst) prediction_in_range: assert (prediction_in_range_holds);

  // What the timer waits for is still to come.
  always @(*) if (!rst) timer_ahead: assert (timer_ahead_holds);

  // The meter counts the idle cycles until the timer has expired.
  always @(*) if (!rst) idle_counted: assert (idle_counted_holds);

  // A rest is no longer than the idle time that it is part of.
  always @(*) if (!rst) rest_is_idle: assert (rest_is_idle_holds);

  // What has been rested is the wait under way, and those before.
  always @(*) if (!rst) rest_in_exchange: assert (rest_in_exchange_holds);
`endif

endmodule

`default_nettype wire
