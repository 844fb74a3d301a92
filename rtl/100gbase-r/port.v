// port
//
// Power controller of one end of a link. It watches the port's activity,
// powers the link down when the port has been idle for longer than the
// power-down threshold t_pdt, and forbids transmission while the link is not
// awake. All outputs come from registers alone.
//
// Block: port
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: c92336abb6fa41ae9cb928003adec668803f02cf12e93090c7d6e7360256b75e
//
// The configuration:
//   [clock]
//   period_ps = 2000
//   tick_ns = 2
//
//   [port]
//   time_width = 32
//   policy = "perfbound"
//   sleep = "deep-sleep"
//   t_pdt_ns = 4400
//   t_pdt_init_ns = 4194304
//   t_backstop_ns = 4194304
//   hybrid_hold_ns = 4400
//   sync = "lpi"
//   sync_timeout_ns = 20000
//   registers = false
//
//   [states.wake]
//   power_w = 1.0
//
//   [states.fast-wake]
//   power_w = 0.6
//   t_w_ns = 340
//   t_s_ns = 2
//
//   [states.deep-sleep]
//   power_w = 0.1
//   t_w_ns = 5500
//   t_s_ns = 1100
//   t_q_ns = 1750000
//   t_r_ns = 6200
//
//   [histogram]
//   kind = "clearing"
//   bin_scale = "linear"
//   bins = 256
//   bin_ns = 16384
//   counter_bits = 8
//   max_samples = 250
//   ttl_ns = 1000000000
//   map_entries = 64
//   max_value_ns = 4194304
//
//   [perfbound]
//   bound = 0.01
//   hops = [[2, 0.005], [4, 0.12], [6, 0.875]]
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
    input  wire        packet_valid,    // one cycle per packet sent
    input  wire  [5:0] packet_hops,     // hop count of that packet
    output wire        tx_enable,       // the port may start a packet
    output wire  [2:0] power_state,     // 0 wake, 1 going down, 2 fast wake, 3 deep sleep, 4 refresh, 5 going up
    output wire        lpi_request,     // low power idle is to be sent
    output wire        hit,             // an idle period ended, the link stayed awake
    output wire        miss,            // an idle period ended, the link had left wake
    output wire [31:0] t_pdt,           // threshold in force, in ticks
    output wire        update,          // there is a new threshold
    output wire [31:0] t_pb,            // PerfBound's threshold, in ticks
    output wire [31:0] window,          // window it was computed for, in ticks
    output wire  [8:0] budget           // packets that may be delayed in it
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
  wire        due;                       // it expires, or has expired in this idle period
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
  wire  [2:0] lpi_fsm_power_state;       // state of the link, encoded as LINK_*
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
  wire  [8:0] perfbound_budget;          // packets that may be delayed in it

  // What the other end sends has its own direction of the link.
  assign active = queue_nonempty | transmitting;
  assign t_pdt = pdt_timer_t_pdt_in_force;
  assign expires = pdt_timer_expired;
  assign overdue = pdt_timer_overdue;

  // A timer that expired before the link was awake counts as soon as it is.
  assign due = expires | (overdue & ~active);
  assign down_start = due;
  assign tx_enable = lpi_fsm_tx_enable;
  assign lpi_request = lpi_fsm_asleep;
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
      .up_start    (queue_nonempty),
      .tx_enable   (lpi_fsm_tx_enable),
      .leaving     (lpi_fsm_leaving),
      .asleep      (lpi_fsm_asleep),
      .power_state (lpi_fsm_power_state)
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

endmodule

`default_nettype wire
