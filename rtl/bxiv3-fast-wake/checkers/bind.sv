// bind
//
// Puts a checker into every instance of the modules that make claims.
//
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 067e15b88f2e27ae3a453eaeebc28bfd17013299c29ebdc2901e554e1ac62a2e

`default_nettype none

bind port port_checker u_checker (
    .clk                           (clk),
    .rst                           (rst),
    .queue_nonempty                (queue_nonempty),
    .message_in                    (message_in),
    .tx_enable                     (tx_enable),
    .power_state                   (power_state),
    .active                        (active),
    .u_idle_meter_count_q          (u_idle_meter.count_q),
    .u_pdt_timer_in_force_q        (u_pdt_timer.in_force_q),
    .u_pdt_timer_last_sender_q     (u_pdt_timer.last_sender_q),
    .u_pdt_timer_passed_q          (u_pdt_timer.passed_q),
    .u_pdt_timer_backstop_passed_q (u_pdt_timer.backstop_passed_q),
    .lpi_fsm_tx_enable             (lpi_fsm_tx_enable),
    .lpi_fsm_asleep                (lpi_fsm_asleep),
    .lpi_fsm_may_go_down           (lpi_fsm_may_go_down),
    .u_lpi_fsm_state_q             (u_lpi_fsm.state_q),
    .u_lpi_fsm_age_q               (u_lpi_fsm.u_checker.age_q),
    .u_link_sync_state_q           (u_link_sync.state_q),
    .u_link_sync_count_q           (u_link_sync.count_q),
    .u_link_sync_rise_q            (u_link_sync.rise_q),
    .u_link_sync_unheard_q         (u_link_sync.unheard_q),
    .u_perfbound_threshold_now_q   (u_perfbound.threshold_now_q)
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

`default_nettype wire
