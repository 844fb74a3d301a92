// port
//
// Power controller of one end of a link. It watches the port's activity,
// powers the link down when the port has been idle for longer than the
// power-down threshold t_pdt, and forbids transmission while the link is not
// awake. All outputs come from registers alone.
//
// Block: port
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: ab2ac361881000537561263568972299b56920643739be3326eec91869cba9bf
//
// The configuration:
//   [clock]
//   period_ps = 1000
//   tick_ns = 1
//
//   [port]
//   time_width = 32
//   policy = "perfbound"
//   sleep = "deep-sleep"
//   t_pdt_ns = 100000
//   t_pdt_init_ns = 100000
//   t_backstop_ns = 4194304
//   hybrid_hold_ns = 8000
//   sync = "messages"
//   sync_timeout_ns = 10000
//   registers = false
//
//   [states.wake]
//   power_w = 24.0
//
//   [states.fast-wake]
//   power_w = 9.6
//   t_w_ns = 375
//   t_s_ns = 200
//
//   [states.deep-sleep]
//   power_w = 2.4
//   t_w_ns = 4480
//   t_s_ns = 2000
//   t_q_ns = 0
//   t_r_ns = 0
//
//   [histogram]
//   kind = "clearing"
//   bin_scale = "linear"
//   bins = 64
//   bin_ns = 65536
//   counter_bits = 8
//   max_samples = 64
//   ttl_ns = 1000000000
//   map_entries = 64
//   max_value_ns = 4194304
//
//   [perfbound]
//   bound = 0.01
//   hops = [[2, 0.002], [4, 0.013], [5, 0.985]]
//   hop_window = 4096
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
    output wire  [8:0] budget,          // packets that may be delayed in it
    output wire  [2:0] message_out,     // coded as message_in, each for one cycle
    output wire        sync_error       // the other end once did not answer in time
);

  reg         hit_now_q;                 // an idle period ended, the link stayed awake
  wire        hit_now_d;
  reg         miss_now_q;                // an idle period ended, the link had left wake
  wire        miss_now_d;
  reg         left_wake_q;               // the link has left wake in this idle period
  wire        left_wake_d;
  wire  [2:0] read_group;                // group of bins to read
  wire  [2:0] read_place;                // bin in it to read
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
  wire        lpi_fsm_tx_enable;         // the link is awake
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
  wire  [5:0] bin_meter_bin;             // bin of an idle period of this length
  wire        clearing_cleared;          // the sample clears the histogram
  wire [31:0] clearing_age;              // ticks since the clear, one cycle late
  wire        clearing_step;             // the age grows by a tick
  wire        clearing_taken;            // the search reads nothing in this cycle
  wire  [6:0] clearing_group_sum;        // samples in the group read two cycles before
  wire  [6:0] clearing_bin_count;        // samples in the bin read two cycles before
  wire  [5:0] clearing_arrived;          // that bin
  wire  [2:0] perfbound_read_group;      // group to read, or group of the bin to read
  wire  [2:0] perfbound_read_place;      // place in the group of the bin to read
  wire        perfbound_update;          // t_pb, window and budget are new
  wire [31:0] perfbound_t_pb;            // threshold, in ticks
  wire [31:0] perfbound_window;          // window that t_pb was computed for, in ticks
  wire  [8:0] perfbound_budget;          // packets that may be delayed in it

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

endmodule

`default_nettype wire
