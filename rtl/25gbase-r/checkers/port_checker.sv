// port_checker
//
// What port claims about itself: assertions for simulation and proof, no hardware. They are checked
// at the rising edge of the clock, unless it is reset then.
//
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 0c107b60ff7977f4158ad7d4f1aa597251940b139ef4ab2731c27318e5fd01e0

`default_nettype none

module port_checker (
    input wire        clk,                         // clock
    input wire        rst,                         // synchronous reset
    input wire        tx_enable,                   // the port may start a packet
    input wire  [2:0] power_state,                 // 0 wake, 1 going down, 2 fast wake, 3 deep sleep, 4 refresh, 5 going up
    input wire        active,                      // the port is active
    input wire [31:0] u_idle_meter_count_q,        // whole ticks idle, saturating
    input wire [31:0] u_pdt_timer_in_force_q,      // threshold that stood when the idle period began
    input wire        u_pdt_timer_passed_q,        // this idle period is longer than the threshold
    input wire        lpi_fsm_tx_enable,           // the link is awake
    input wire [31:0] u_perfbound_threshold_now_q  // the threshold
);

  localparam [31:0] LONGEST_THRESHOLD = 32'd2097152;   // the longest threshold, in ticks
  localparam [31:0] LONGEST_PREDICTION = 32'd2097152;  // h_maxval, or t_pdt_init if that is longer, in ticks
  localparam [32:0] LONGEST_IDLE = 33'd2097153;        // the timer has expired by then

  reg  [32:0] idle_cycles_q;  // idle clock cycles, up to the longest time of the timer
  reg  [32:0] idle_cycles_d;
  reg         unhindered_q;   // awake, and permitted to sleep, since the last activity
  wire        unhindered_d;
  wire        sends_awake_only_holds;
  wire        sleeps_in_time_holds;
  wire        threshold_in_range_holds;
  wire        prediction_in_range_holds;
  wire        timer_ahead_holds;
  wire        threshold_behind_holds;
  wire        idle_counted_holds;
  wire        rest_is_idle_holds;
  wire        timer_over;     // the timer has expired in this idle time
  wire [32:0] elapsed;        // idle clock cycles, as the meter has them

  assign sends_awake_only_holds = ~tx_enable | (power_state == 3'd0);
  assign threshold_in_range_holds = u_pdt_timer_in_force_q <= LONGEST_THRESHOLD;
  assign prediction_in_range_holds = u_perfbound_threshold_now_q <= LONGEST_PREDICTION;
  assign timer_ahead_holds = u_pdt_timer_passed_q
      | (u_idle_meter_count_q <= u_pdt_timer_in_force_q);
  assign threshold_behind_holds = ~u_pdt_timer_passed_q
      | (u_idle_meter_count_q > u_pdt_timer_in_force_q)
      | (&u_idle_meter_count_q);
  assign timer_over = u_pdt_timer_passed_q;

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
  assign unhindered_d = active | (unhindered_q & lpi_fsm_tx_enable);
  assign sleeps_in_time_holds = ~unhindered_q
      | ~lpi_fsm_tx_enable
      | (idle_cycles_q < LONGEST_IDLE);
  assign rest_is_idle_holds = ~unhindered_q | ~lpi_fsm_tx_enable | ~timer_over;

  always @(posedge clk) begin
    if (rst) begin
      idle_cycles_q <= 33'd0;
      unhindered_q <= 1'b1;
    end else begin
      idle_cycles_q <= idle_cycles_d;
      unhindered_q <= unhindered_d;
    end
  end

  // Nothing is transmitted unless the link is awake.
  always @(posedge clk) if (!rst) sends_awake_only: assert (sends_awake_only_holds);

  // A direction that stays idle while the guard, if there is one, permits to sleep leaves Wake
  // within the time that `estimate` says.
  always @(posedge clk) if (!rst) sleeps_in_time: assert (sleeps_in_time_holds);

  // No threshold is longer than the longest one.
  always @(posedge clk) if (!rst) threshold_in_range: assert (threshold_in_range_holds);

  // PerfBound's threshold is at most max_value_ns, or t_pdt_init_ns if that is longer.
  always @(posedge clk) if (!rst) prediction_in_range: assert (prediction_in_range_holds);

  // What the timer waits for is still to come.
  always @(posedge clk) if (!rst) timer_ahead: assert (timer_ahead_holds);

  // What the timer has passed is not to come again.
  always @(posedge clk) if (!rst) threshold_behind: assert (threshold_behind_holds);

  // The meter counts the idle cycles until the timer has expired.
  always @(posedge clk) if (!rst) idle_counted: assert (idle_counted_holds);

  // A rest is no longer than the idle time that it is part of.
  always @(posedge clk) if (!rst) rest_is_idle: assert (rest_is_idle_holds);

endmodule

`default_nettype wire
