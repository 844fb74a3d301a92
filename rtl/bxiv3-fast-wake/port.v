// port
//
// Power controller of one end of a link. It watches the port's activity,
// powers the link down when the port has been idle for longer than the
// power-down threshold t_pdt, and forbids transmission while the link is not
// awake. All outputs come from registers alone.
//
// Block: port
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 8f491c529a42dec02c5ab2291218ce36841136b7f31e942fc5d762bd1117f37f
//
// The configuration:
//   [clock]
//   period_ps = 1000
//   tick_ns = 1
//
//   [port]
//   time_width = 32
//   policy = "perfbound"
//   sleep = "fast-wake"
//   t_pdt_ns = 100000
//   t_pdt_init_ns = 262144
//   hybrid_hold_ns = 8000
//   sync = "levels"
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
//   bins = 256
//   bin_ns = 1024
//   counter_bits = 8
//   max_samples = 250
//   ttl_ns = 1000000000
//   map_entries = 64
//   max_value_ns = 262144
//
//   [perfbound]
//   bound = 0.01
//   hops = [[2, 0.002], [4, 0.013], [5, 0.985]]
//
//   [correction]
//   history = 16
//   mode = "at-least-one"
//   fraction_bits = 16

`default_nettype none

module port (
    input  wire        clk,             // clock
    input  wire        rst,             // synchronous reset
    input  wire        queue_nonempty,  // the output queue holds a packet
    input  wire        transmitting,    // a packet is leaving over the link
    input  wire        receiving,       // a packet is arriving over the link
    input  wire        sleep_permit,    // the other end has nothing to send
    input  wire        remote_down,     // the other end has begun to go down
    input  wire        remote_up,       // the other end wants the link awake
    input  wire        packet_valid,    // one cycle per packet sent
    input  wire  [5:0] packet_hops,     // hop count of that packet
    output wire        tx_enable,       // the port may start a packet
    output wire  [2:0] power_state,     // 0 wake, 1 going down, 2 fast wake, 3 deep sleep, 4 refresh, 5 going up
    output wire        hit,             // an idle period ended, the link stayed awake
    output wire        miss,            // an idle period ended, the link had left wake
    output wire [31:0] t_pdt,           // threshold in force, in ticks
    output wire        update,          // t_pb, window and budget are new
    output wire [31:0] t_pb,            // PerfBound's threshold, in ticks
    output wire [31:0] window,          // window it was computed for, in ticks
    output wire [12:0] budget           // packets that may be delayed in it
);

  reg         hit_now_q;                 // an idle period ended, the link stayed awake
  wire        hit_now_d;
  reg         miss_now_q;                // an idle period ended, the link had left wake
  wire        miss_now_d;
  reg         left_wake_q;               // the link has left wake in this idle period
  wire        left_wake_d;
  wire        active;                    // the port is active
  wire        expires;                   // the port wants to power down, and may
  wire        idle_meter_ended;          // an idle period ends in this cycle: its length is ticks
  wire        idle_meter_tick;           // this idle cycle completes a tick
  wire [31:0] idle_meter_ticks;          // whole ticks idle before this cycle
  wire        idle_meter_saturated;      // ticks is at its largest value
  wire [31:0] pdt_timer_t_pdt_in_force;  // threshold of this idle period, or the next
  wire        pdt_timer_expired;         // the timer expires at the end of this cycle
  wire        lpi_fsm_down_start;        // leave Wake at the end of this cycle
  wire        lpi_fsm_up_start;          // a packet waits here, or the other end asks to wake
  wire        lpi_fsm_tx_enable;         // the port may start a packet
  wire        lpi_fsm_leaving;           // the link leaves Wake at the end of this cycle
  wire  [2:0] lpi_fsm_power_state;       // state of the link, encoded as LINK_*
  wire [11:0] histogram_group_sum;       // samples in the group read the cycle before
  wire [15:0] histogram_group_mask;      // which of its bins hold samples
  wire  [7:0] histogram_bin_count;       // counter read the cycle before
  wire        histogram_cleared;         // the sample clears the histogram
  wire  [7:0] histogram_sample_bin;      // bin of the sample
  wire [31:0] histogram_window;          // ticks since the clear, one cycle late
  wire        histogram_window_step;     // the window grows by a tick
  wire  [3:0] perfbound_read_group;      // group to read, or group of the bin to read
  wire  [3:0] perfbound_read_place;      // place in the group of the bin to read
  wire        perfbound_update;          // t_pb, window and budget are new
  wire [31:0] perfbound_t_pb;            // threshold, in ticks
  wire [31:0] perfbound_window;          // window that t_pb was computed for, in ticks
  wire [12:0] perfbound_budget;          // packets that may be delayed in it

  assign active = queue_nonempty | transmitting | receiving;
  assign t_pdt = pdt_timer_t_pdt_in_force;

  // The link goes down when the timer expires and the other end agrees, or when
  // the other end goes down and nothing is leaving here.
  assign expires = pdt_timer_expired & sleep_permit;
  assign lpi_fsm_down_start = expires | (remote_down & ~transmitting);
  assign lpi_fsm_up_start = queue_nonempty | remote_up;
  assign tx_enable = lpi_fsm_tx_enable;
  assign power_state = lpi_fsm_power_state;

  // A miss is an idle period in which the link left wake, for whatever reason.
  assign left_wake_d = ~active & (left_wake_q | lpi_fsm_leaving);
  assign hit_now_d = idle_meter_ended & ~left_wake_q;
  assign miss_now_d = idle_meter_ended & left_wake_q;
  assign hit = hit_now_q;
  assign miss = miss_now_q;
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
      .saturated      (idle_meter_saturated),
      .t_pdt          (perfbound_t_pb),
      .t_pdt_in_force (pdt_timer_t_pdt_in_force),
      .expired        (pdt_timer_expired)
  );

  lpi_fsm u_lpi_fsm (
      .clk         (clk),
      .rst         (rst),
      .down_start  (lpi_fsm_down_start),
      .up_start    (lpi_fsm_up_start),
      .tx_enable   (lpi_fsm_tx_enable),
      .leaving     (lpi_fsm_leaving),
      .power_state (lpi_fsm_power_state)
  );

  histogram_clearing u_histogram (
      .clk         (clk),
      .rst         (rst),
      .ended       (idle_meter_ended),
      .ticks       (idle_meter_ticks),
      .read_group  (perfbound_read_group),
      .read_place  (perfbound_read_place),
      .group_sum   (histogram_group_sum),
      .group_mask  (histogram_group_mask),
      .bin_count   (histogram_bin_count),
      .cleared     (histogram_cleared),
      .sample_bin  (histogram_sample_bin),
      .window      (histogram_window),
      .window_step (histogram_window_step)
  );

  perfbound u_perfbound (
      .clk         (clk),
      .rst         (rst),
      .ended       (idle_meter_ended),
      .cleared     (histogram_cleared),
      .sample_bin  (histogram_sample_bin),
      .live_window (histogram_window),
      .window_step (histogram_window_step),
      .group_sum   (histogram_group_sum),
      .group_mask  (histogram_group_mask),
      .bin_count   (histogram_bin_count),
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

endmodule

`default_nettype wire
