// port_checker
//
// What port claims about itself: assertions for simulation and proof, no hardware. They are checked
// at the rising edge of the clock, unless it is reset then.
//
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: be547d4fd8d7bf3c11ee4c1ad0406a21c31c2df6367f60c955ec098c5be2468d

`default_nettype none

module port_checker (
    input wire        clk,                            // clock
    input wire        rst,                            // synchronous reset
    input wire        queue_nonempty,                 // the output queue holds a packet
    input wire  [2:0] message_in,                     // 0 none, 1 REQ_DOWN, 2 REQ_UP, 3 ACK, 4 NACK, 5 SYNC
    input wire        tx_enable,                      // the port may start a packet
    input wire  [2:0] power_state,                    // 0 wake, 1 going down, 2 fast wake, 3 deep sleep, 4 refresh, 5 going up
    input wire        active,                         // the port is active
    input wire [31:0] u_idle_meter_count_q,           // whole ticks idle, saturating
    input wire [31:0] u_pdt_timer_in_force_q,         // threshold that stood when the idle period began
    input wire        u_pdt_timer_last_sender_q,      // this port transmitted last, or never was active
    input wire        u_pdt_timer_passed_q,           // this idle period is longer than the threshold
    input wire        u_pdt_timer_backstop_passed_q,  // this idle period is longer than the backstop
    input wire        lpi_fsm_tx_enable,              // the link is awake
    input wire        lpi_fsm_asleep,                 // the link sleeps or is on the way down
    input wire        lpi_fsm_may_go_down,            // the link is in a state with a way down
    input wire  [2:0] u_lpi_fsm_state_q,              // state of the link
    input wire [12:0] u_lpi_fsm_age_q,                // clock cycles since the transition began
    input wire  [2:0] u_link_sync_state_q,            // where the exchange stands
    input wire [14:0] u_link_sync_count_q,            // clock cycles in this state; SYNC_*: still to wait; IDLE: overdue
    input wire        u_link_sync_rise_q,             // agreed to go up as soon as the transition down is over
    input wire        u_link_sync_unheard_q,          // the other end did not answer the last time
    input wire [31:0] u_perfbound_threshold_now_q     // the threshold
);

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
  // LINK_WAKE = 3'd0: not named here        // ready to transmit
  localparam [2:0] LINK_GOING_DOWN = 3'd1;   // on the way down, full power
  // LINK_FAST_WAKE = 3'd2: not named here   // asleep, most of the PHY on
  // LINK_DEEP_SLEEP = 3'd3: not named here  // asleep, deepest
  // LINK_REFRESH = 3'd4: not named here     // refreshing within deep sleep, full power
  localparam [2:0] LINK_GOING_UP = 3'd5;     // on the way up, full power

  localparam [15:0] MESSAGE_WAIT = 16'd10001;          // w: longest wait for a message
  localparam [15:0] HALF_WAIT = 16'd5000;              // longest wait from SYNC to the start
  localparam [15:0] START_WAIT = 16'd16483;            // all of START
  localparam [15:0] ASK_WAIT = 16'd10002;              // waited before this end asks to wake, at most
  localparam [15:0] AWAIT_WAIT = 16'd20003;            // and before it follows a request that crossed
  localparam [15:0] SYNC_WAIT = 16'd25003;             // and with its own SYNC
  localparam [15:0] RISE_WAIT = 16'd30004;             // waited before the way up begins, at most
  localparam [15:0] LONGEST_WAIT = 16'd34484;          // the longest wait, as `estimate` prints it
  localparam [31:0] BACKSTOP_NOW = 32'd4194304;        // the backstop in force, in ticks
  localparam [31:0] LONGEST_THRESHOLD = 32'd4194304;   // the longest threshold, in ticks
  localparam [31:0] BACKSTOP_TICKS = 32'd4194304;      // the backstop, in ticks
  localparam [31:0] LONGEST_PREDICTION = 32'd4194304;  // h_maxval, or t_pdt_init if that is longer, in ticks
  localparam [32:0] LONGEST_IDLE = 33'd4194305;        // the timer has expired by then
  localparam [32:0] REST_BEFORE = 33'd16483;           // rested before a timer that expired in vain
  localparam [32:0] REST_ASKED = 33'd4194305;          // rested before the other end is asked, at most
  localparam [32:0] REST_SYNCED = 33'd5000;            // longest wait from SYNC to the start
  localparam [32:0] REST_TIMEOUT = 33'd10000;          // longest wait for a message, less one
  localparam [32:0] LONGEST_REST = 33'd4204306;        // the longest rest, as `estimate` prints it

  reg  [15:0] waiting_q;       // clock cycles for which a packet has waited
  reg  [15:0] waiting_d;
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
  wire        threshold_behind_holds;
  wire        backstop_behind_holds;
  wire        idle_counted_holds;
  wire        rest_is_idle_holds;
  reg         rest_in_exchange_holds;
  wire        to_wake;         // the link sleeps and is not yet agreed to go up
  wire [15:0] count;           // clock cycles in the state of the exchange
  wire [15:0] age;             // clock cycles in the transition
  wire        backstop_ahead;  // it has passed, or is yet to come
  wire        timer_over;      // the timer has expired in this idle time
  wire        at_rest;         // idle in Wake, and nothing is heard
  wire [32:0] elapsed;         // idle clock cycles, as the meter has them
  wire [32:0] exchange_count;  // clock cycles in the state of the exchange

  assign sends_awake_only_holds = ~tx_enable | (power_state == 3'd0);

  always @(*) begin
    waiting_d = 16'd0;
    if (queue_nonempty & ~tx_enable) begin
      waiting_d = waiting_q + 16'd1;
    end
  end

  assign wait_bounded_holds = waiting_q <= LONGEST_WAIT;
  assign count = {1'b0, u_link_sync_count_q};
  assign age = {3'd0, u_lpi_fsm_age_q};
  assign to_wake = lpi_fsm_asleep & ~u_link_sync_rise_q;

  always @(*) begin
    commitment_kept_holds = 1'b1;
    exchange_fits_holds = 1'b1;
    exchange_timed_holds = 1'b1;
    wait_in_exchange_holds = 1'b1;
    case (u_link_sync_state_q)
      EXCHANGE_IDLE: begin
        if (to_wake) begin
          wait_in_exchange_holds = waiting_q <= MESSAGE_WAIT;
        end
      end
      EXCHANGE_ASK_DOWN: begin
        exchange_fits_holds = lpi_fsm_may_go_down & ~u_link_sync_rise_q;
        exchange_timed_holds = count < MESSAGE_WAIT;
        if (to_wake) begin
          wait_in_exchange_holds = waiting_q <= count;
        end
      end
      EXCHANGE_SYNC_DOWN: begin
        commitment_kept_holds = ~tx_enable;
        exchange_fits_holds = lpi_fsm_may_go_down & ~u_link_sync_rise_q;
        exchange_timed_holds = count <= HALF_WAIT;
        wait_in_exchange_holds = waiting_q <= (HALF_WAIT - count);
      end
      EXCHANGE_AWAIT_DOWN: begin
        commitment_kept_holds = ~tx_enable;
        exchange_fits_holds = lpi_fsm_may_go_down & ~u_link_sync_rise_q;
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
    if (u_link_sync_rise_q
        & (u_lpi_fsm_state_q != LINK_GOING_DOWN)
        & (u_lpi_fsm_state_q != LINK_GOING_UP)) begin
      exchange_fits_holds = 1'b0;
    end
  end

  always @(*) begin
    wait_in_transition_holds = 1'b1;
    case (u_lpi_fsm_state_q)
      LINK_GOING_DOWN: begin
        wait_in_transition_holds = waiting_q <= (MESSAGE_WAIT + age);
      end
      LINK_GOING_UP: begin
        wait_in_transition_holds = waiting_q <= (RISE_WAIT + age);
      end
      default: ;
    endcase
  end

  assign threshold_in_range_holds = u_pdt_timer_in_force_q <= LONGEST_THRESHOLD;
  assign prediction_in_range_holds = u_perfbound_threshold_now_q <= LONGEST_PREDICTION;
  assign backstop_ahead = u_pdt_timer_backstop_passed_q | (u_idle_meter_count_q <= BACKSTOP_NOW);
  assign timer_ahead_holds = (u_pdt_timer_passed_q | (u_idle_meter_count_q <= u_pdt_timer_in_force_q))
      & backstop_ahead;
  assign threshold_behind_holds = ~u_pdt_timer_passed_q
      | (u_idle_meter_count_q > u_pdt_timer_in_force_q)
      | (&u_idle_meter_count_q);
  assign backstop_behind_holds = ~u_pdt_timer_backstop_passed_q
      | (u_idle_meter_count_q > BACKSTOP_TICKS)
      | (&u_idle_meter_count_q);
  assign timer_over = u_pdt_timer_passed_q
      & (u_pdt_timer_last_sender_q | u_pdt_timer_backstop_passed_q);

  always @(*) begin
    idle_cycles_d = idle_cycles_q;
    if (active) begin
      idle_cycles_d = 33'd0;
    end else if (idle_cycles_q < LONGEST_IDLE) begin
      idle_cycles_d = idle_cycles_q + 33'd1;
    end
  end

  assign elapsed = {1'b0, u_idle_meter_count_q};
  assign idle_counted_holds = ((idle_cycles_q == elapsed) & (idle_cycles_q < LONGEST_IDLE))
      | ((idle_cycles_q == LONGEST_IDLE) & timer_over);
  assign at_rest = ~active & (message_in == 3'd0) & lpi_fsm_tx_enable & ~u_link_sync_unheard_q;

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
  assign exchange_count = {18'd0, u_link_sync_count_q};

  always @(*) begin
    rest_in_exchange_holds = 1'b1;
    case (u_link_sync_state_q)
      EXCHANGE_START: begin
        rest_in_exchange_holds = rest_q <= exchange_count;
      end
      EXCHANGE_IDLE: begin
        rest_in_exchange_holds = exchange_count <= REST_TIMEOUT;
        if (timer_over & ~u_link_sync_unheard_q) begin
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
      waiting_q <= 16'd0;
      idle_cycles_q <= 33'd0;
      rest_q <= 33'd0;
    end else begin
      waiting_q <= waiting_d;
      idle_cycles_q <= idle_cycles_d;
      rest_q <= rest_d;
    end
  end

  // Nothing is transmitted unless the link is awake.
  always @(posedge clk) if (!rst) sends_awake_only: assert (sends_awake_only_holds);

  // Whatever the other end does, a packet never waits longer than `estimate` says.
  always @(posedge clk) if (!rst) wait_bounded: assert (wait_bounded_holds);

  // From its ACK or SYNC for going down on, the port starts no packet.
  always @(posedge clk) if (!rst) commitment_kept: assert (commitment_kept_holds);

  // An exchange for going down stands only where there is a way down, one of this end's own for
  // going up only where the link sleeps.
  always @(posedge clk) if (!rst) exchange_fits: assert (exchange_fits_holds);

  // No wait for a message outlasts its time-out.
  always @(posedge clk) if (!rst) exchange_timed: assert (exchange_timed_holds);

  // What a packet has waited for is the exchange under way, and those before.
  always @(posedge clk) if (!rst) wait_in_exchange: assert (wait_in_exchange_holds);

  // What a packet has waited for is the transition under way, and what led to it.
  always @(posedge clk) if (!rst) wait_in_transition: assert (wait_in_transition_holds);

  // An end that stays idle and hears nothing leaves Wake within the time that `estimate` says, or
  // finds out that the other end is silent.
  always @(posedge clk) if (!rst) sleeps_in_time: assert (sleeps_in_time_holds);

  // No threshold is longer than the longest one.
  always @(posedge clk) if (!rst) threshold_in_range: assert (threshold_in_range_holds);

  // PerfBound's threshold is at most max_value_ns, or t_pdt_init_ns if that is longer.
  always @(posedge clk) if (!rst) prediction_in_range: assert (prediction_in_range_holds);

  // What the timer waits for is still to come.
  always @(posedge clk) if (!rst) timer_ahead: assert (timer_ahead_holds);

  // What the timer has passed is not to come again.
  always @(posedge clk) if (!rst) threshold_behind: assert (threshold_behind_holds);

  // Nor is the backstop, once it has passed.
  always @(posedge clk) if (!rst) backstop_behind: assert (backstop_behind_holds);

  // The meter counts the idle cycles until the timer has expired.
  always @(posedge clk) if (!rst) idle_counted: assert (idle_counted_holds);

  // A rest is no longer than the idle time that it is part of.
  always @(posedge clk) if (!rst) rest_is_idle: assert (rest_is_idle_holds);

  // What has been rested is the wait under way, and those before.
  always @(posedge clk) if (!rst) rest_in_exchange: assert (rest_in_exchange_holds);

endmodule

`default_nettype wire
