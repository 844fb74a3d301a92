// bind
//
// Puts a checker into every instance of the modules that make claims.
//
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: c92336abb6fa41ae9cb928003adec668803f02cf12e93090c7d6e7360256b75e

`default_nettype none

bind port port_checker u_checker (
    .clk                         (clk),
    .rst                         (rst),
    .tx_enable                   (tx_enable),
    .power_state                 (power_state),
    .active                      (active),
    .u_idle_meter_count_q        (u_idle_meter.count_q),
    .u_pdt_timer_in_force_q      (u_pdt_timer.in_force_q),
    .u_pdt_timer_passed_q        (u_pdt_timer.passed_q),
    .lpi_fsm_tx_enable           (lpi_fsm_tx_enable),
    .u_perfbound_threshold_now_q (u_perfbound.threshold_now_q)
);

bind idle_meter idle_meter_checker u_checker (
    .clk         (clk),
    .rst         (rst),
    .ended       (ended),
    .in_period_q (in_period_q)
);

bind pdt_timer pdt_timer_checker u_checker (
    .clk        (clk),
    .rst        (rst),
    .active     (active),
    .in_force_q (in_force_q)
);

bind lpi_fsm lpi_fsm_checker u_checker (
    .clk       (clk),
    .rst       (rst),
    .up_start  (up_start),
    .tx_enable (tx_enable),
    .over      (over),
    .state_d   (state_d),
    .state_q   (state_q),
    .cycles_q  (cycles_q)
);

bind histogram_window histogram_window_checker u_checker (
    .clk         (clk),
    .rst         (rst),
    .ticks_q     (ticks_q),
    .last_tick_q (last_tick_q),
    .over_q      (over_q),
    .samples_q   (samples_q)
);

bind counter_store counter_store_checker u_checker (
    .clk         (clk),
    .rst         (rst),
    .here_place  (here_place),
    .mask        (mask),
    .last_group  (last_group),
    .changing_q  (changing_q),
    .writing_q   (writing_q),
    .counted_q   (counted_q),
    .wrote_q     (wrote_q),
    .populated_q (populated_q)
);

bind perfbound perfbound_checker u_checker (
    .clk             (clk),
    .rst             (rst),
    .cleared         (cleared),
    .live_window     (live_window),
    .window_step     (window_step),
    .arrived         (arrived),
    .carry           (carry),
    .credit_q        (credit_q),
    .credit_part_q   (credit_part_q),
    .state_q         (state_q),
    .pending_q       (pending_q),
    .group_q         (group_q),
    .place_q         (place_q),
    .reading_q       (reading_q),
    .arriving_q      (arriving_q),
    .looking_q       (looking_q),
    .bin_q           (bin_q),
    .update_now_q    (update_now_q),
    .threshold_now_q (threshold_now_q),
    .window_now_q    (window_now_q),
    .budget_now_q    (budget_now_q)
);

`default_nettype wire
