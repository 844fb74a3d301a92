// Two of linkdoze's ports of Ethernet with a PHY's two directions between them. The MACs are left to
// the testbench: cocotbext-eth makes and reads their XGMII.

`default_nettype none
`timescale 1ns / 1ps

module link (
    input  wire        clk,
    input  wire        rst,
    input  wire [31:0] t_s,
    input  wire [31:0] t_w_sys,
    input  wire [15:0] phy_t_s,
    input  wire [15:0] phy_t_w,
    input  wire        a_waiting,
    input  wire        b_waiting,
    input  wire [63:0] a_mac_tx_data,
    input  wire [ 7:0] a_mac_tx_control,
    input  wire [63:0] b_mac_tx_data,
    input  wire [ 7:0] b_mac_tx_control,
    output wire        a_enable,
    output wire        b_enable,
    output wire [63:0] a_mac_rx_data,
    output wire [ 7:0] a_mac_rx_control,
    output wire [63:0] b_mac_rx_data,
    output wire [ 7:0] b_mac_rx_control,
    output wire [63:0] a_wire_data,
    output wire [ 7:0] a_wire_control,
    output wire [63:0] b_wire_data,
    output wire [ 7:0] b_wire_control,
    output wire [31:0] a_sleeps,
    output wire [31:0] b_sleeps,
    output wire [31:0] a_least_wake,
    output wire [31:0] b_least_wake,
    output reg  [31:0] faults  // LPI too short, frames too early, or told as such by a port
);
  wire [63:0] a_got, b_got;
  wire [7:0] a_got_control, b_got_control;
  wire [7:0] wrong;

  ethernet_port a (
      .clk(clk),
      .rst(rst),
      .queue_nonempty(a_waiting),
      .packet_valid(1'b0),
      .packet_hops(4'd1),
      .mac_tx_data(a_mac_tx_data),
      .mac_tx_control(a_mac_tx_control),
      .mac_tx_enable(a_enable),
      .mac_rx_data(a_mac_rx_data),
      .mac_rx_control(a_mac_rx_control),
      .phy_tx_data(a_wire_data),
      .phy_tx_control(a_wire_control),
      .phy_rx_data(a_got),
      .phy_rx_control(a_got_control),
      .link_fault(1'b0),
      // No second without LPI after reset: the bench would run for it.
      .hold_off(40'd0),
      .t_s(t_s),
      .t_w_sys(t_w_sys),
      .early_start(wrong[0]),
      .lpi_error(wrong[1])
  );
  ethernet_port b (
      .clk(clk),
      .rst(rst),
      .queue_nonempty(b_waiting),
      .packet_valid(1'b0),
      .packet_hops(4'd1),
      .mac_tx_data(b_mac_tx_data),
      .mac_tx_control(b_mac_tx_control),
      .mac_tx_enable(b_enable),
      .mac_rx_data(b_mac_rx_data),
      .mac_rx_control(b_mac_rx_control),
      .phy_tx_data(b_wire_data),
      .phy_tx_control(b_wire_control),
      .phy_rx_data(b_got),
      .phy_rx_control(b_got_control),
      .link_fault(1'b0),
      // No second without LPI after reset: the bench would run for it.
      .hold_off(40'd0),
      .t_s(t_s),
      .t_w_sys(t_w_sys),
      .early_start(wrong[2]),
      .lpi_error(wrong[3])
  );
  phy a_to_b (
      .clk(clk),
      .rst(rst),
      .t_s(phy_t_s),
      .t_w(phy_t_w),
      .in_data(a_wire_data),
      .in_control(a_wire_control),
      .out_data(b_got),
      .out_control(b_got_control),
      .quiet(),
      .too_short(wrong[4]),
      .too_early(wrong[5])
  );
  phy b_to_a (
      .clk(clk),
      .rst(rst),
      .t_s(phy_t_s),
      .t_w(phy_t_w),
      .in_data(b_wire_data),
      .in_control(b_wire_control),
      .out_data(a_got),
      .out_control(a_got_control),
      .quiet(),
      .too_short(wrong[6]),
      .too_early(wrong[7])
  );
  wire_monitor a_wire (
      .clk(clk),
      .rst(rst),
      .data(a_wire_data),
      .control(a_wire_control),
      .is_lpi(),
      .is_start(),
      .started(),
      .sleeps(a_sleeps),
      .least_lpi(),
      .least_wake(a_least_wake)
  );
  wire_monitor b_wire (
      .clk(clk),
      .rst(rst),
      .data(b_wire_data),
      .control(b_wire_control),
      .is_lpi(),
      .is_start(),
      .started(),
      .sleeps(b_sleeps),
      .least_lpi(),
      .least_wake(b_least_wake)
  );

  always @(posedge clk)
    if (rst) faults <= 32'd0;
    else faults <= faults + {31'd0, |wrong};
endmodule

`default_nettype wire
