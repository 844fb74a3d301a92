// Two ends of a link, each a user of a MAC, LiteEth's MAC, and linkdoze's port of Ethernet; between
// them two directions of a PHY. Ends with a line of figures for each end.
//
// Plusargs: frames (of each end), a and b (lists of frames), window (cycles that are simulated and
// counted), t_s and t_w_sys (of the shims), phy_t_s and phy_t_w; awake if neither end is to sleep;
// trace prints what passes from the first time that end 0 sleeps to the end of the frame that wakes
// it; wave is a file for the waveform.

`default_nettype none
`timescale 1ns / 1ps

// An end of the link, and what is counted at it.
module end_of_link #(
    parameter FROM = 0,
    parameter MOST = 100000
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [47:0] now,
    input  wire [31:0] frames,
    input  wire [31:0] t_s,
    input  wire [31:0] t_w_sys,
    input  wire        awake,  // never sleeps: its queue seems to hold a frame always
    output wire [63:0] tx_data,
    output wire [ 7:0] tx_control,
    input  wire [63:0] rx_data,
    input  wire [ 7:0] rx_control,
    input  wire        quiet,  // of the direction that this end sends on
    input  wire        too_short,
    input  wire        too_early,
    input  wire        counts  // time counts
);
  wire enable, waiting, starts;
  wire valid, ready, last, got, got_last;
  wire [63:0] data, got_data;
  wire [7:0] last_be, got_last_be, got_error;
  wire [63:0] mac_tx_data, mac_rx_data;
  wire [7:0] mac_tx_control, mac_rx_control;
  wire [2:0] power_state;
  wire early_start, lpi_error, rx_lpi, lpi_request;
  wire [31:0] intact, lost, altered;

  frame_source #(
      .FROM(FROM),
      .MOST(MOST)
  ) u_source (
      .clk(clk),
      .rst(rst),
      .now(now),
      .frames(frames),
      .enable(enable),
      .waiting(waiting),
      .starts(starts),
      .done(),
      .valid(valid),
      .data(data),
      .last(last),
      .last_be(last_be),
      .ready(ready)
  );

  liteeth_mac u_mac (
      .clk(clk),
      .rst(rst),
      .sink_valid(valid),
      .sink_ready(ready),
      .sink_data(data),
      .sink_last(last),
      .sink_last_be(last_be),
      .sink_error(8'd0),
      .source_valid(got),
      .source_ready(1'b1),
      .source_data(got_data),
      .source_last(got_last),
      .source_last_be(got_last_be),
      .source_error(got_error),
      .xgmii_tx_data(mac_tx_data),
      .xgmii_tx_ctl(mac_tx_control),
      .xgmii_rx_data(mac_rx_data),
      .xgmii_rx_ctl(mac_rx_control)
  );

  ethernet_port u_port (
      .clk(clk),
      .rst(rst),
      .queue_nonempty(waiting || awake),
      .packet_valid(starts),
      .packet_hops(4'd1),
      .mac_tx_data(mac_tx_data),
      .mac_tx_control(mac_tx_control),
      .mac_tx_enable(enable),
      .mac_rx_data(mac_rx_data),
      .mac_rx_control(mac_rx_control),
      .phy_tx_data(tx_data),
      .phy_tx_control(tx_control),
      .phy_rx_data(rx_data),
      .phy_rx_control(rx_control),
      .link_fault(1'b0),
      // No second without LPI after reset: the bench would run for it.
      .hold_off(40'd0),
      .t_s(t_s),
      .t_w_sys(t_w_sys),
      .power_state(power_state),
      .lpi_request(lpi_request),
      .early_start(early_start),
      .rx_lpi(rx_lpi),
      .lpi_error(lpi_error)
  );

  scoreboard #(
      .FROM(1 - FROM),
      .MOST(MOST)
  ) u_scoreboard (
      .clk(clk),
      .rst(rst),
      .valid(got),
      .data(got_data),
      .last(got_last),
      .last_be(got_last_be),
      .error(got_error),
      .intact(intact),
      .lost(lost),
      .altered(altered)
  );

  wire is_lpi, is_start;
  wire [31:0] started, sleeps, least_lpi, least_wake;
  wire_monitor u_wire (
      .clk(clk),
      .rst(rst),
      .data(tx_data),
      .control(tx_control),
      .is_lpi(is_lpi),
      .is_start(is_start),
      .started(started),
      .sleeps(sleeps),
      .least_lpi(least_lpi),
      .least_wake(least_wake)
  );

  // Frames start on the wire in the order of the list. A frame is held back while it is ready, no
  // other is on its way, and the port does not let it go.
  wire [47:0] ready_at = u_source.list[started][47:0];
  wire held = waiting && !u_source.in_frame && !enable;
  reg was_held, was_indicated;
  reg [7:0] given_lpi;  // lanes in which the MAC gets LPI
  integer lane;
  always @(*)
    for (lane = 0; lane < 8; lane = lane + 1)
      given_lpi[lane] = mac_rx_control[lane] && mac_rx_data[8*lane+:8] == 8'h06;
  reg [31:0] early, wrong, short_lpi, lost_starts, indicated, holds, lpi_to_mac;
  reg [47:0] quieted, lpi_words, latency, held_for;

  always @(posedge clk)
    if (rst) begin
      was_held <= 1'b0;
      was_indicated <= 1'b0;
      early <= 32'd0;
      wrong <= 32'd0;
      short_lpi <= 32'd0;
      lost_starts <= 32'd0;
      indicated <= 32'd0;
      holds <= 32'd0;
      lpi_to_mac <= 32'd0;
      quieted <= 48'd0;
      lpi_words <= 48'd0;
      latency <= 48'd0;
      held_for <= 48'd0;
    end else begin
      was_held <= held;
      was_indicated <= rx_lpi;
      if (rx_lpi && !was_indicated) indicated <= indicated + 32'd1;
      if (held && !was_held) holds <= holds + 32'd1;
      if (counts) quieted <= quieted + {47'd0, quiet};
      lpi_words <= lpi_words + {47'd0, is_lpi};
      held_for  <= held_for + {47'd0, held};
      if (is_start) latency <= latency + (now - ready_at);
      lpi_to_mac <= lpi_to_mac + {31'd0, |given_lpi};
      early <= early + {31'd0, early_start};
      wrong <= wrong + {31'd0, lpi_error};
      short_lpi <= short_lpi + {31'd0, too_short};
      lost_starts <= lost_starts + {31'd0, too_early};
    end

  task report;
    begin
      $display("end %0d: started %0d intact %0d lost %0d altered %0d sleeps %0d indicated %0d", FROM,
               started, intact, lost, altered, sleeps, indicated);
      $display("end %0d: quiet %0d lpi_words %0d holds %0d held %0d latency %0d", FROM, quieted,
               lpi_words, holds, held_for, latency);
      $display("end %0d: least_lpi %0d least_wake %0d early_starts %0d lpi_errors %0d", FROM,
               least_lpi, least_wake, early, wrong);
      $display("end %0d: short_lpi %0d too_early %0d lpi_to_mac %0d", FROM, short_lpi, lost_starts,
               lpi_to_mac);
    end
  endtask
endmodule

module bench;
  parameter MOST = 100000;

  reg clk = 1'b0;
  reg rst = 1'b1;
  reg awake = 1'b0;
  reg [47:0] now = 48'd0, window = 48'd0;
  reg [31:0] frames = 32'd0, t_s = 32'd0, t_w_sys = 32'd0, phy_t_s = 32'd0, phy_t_w = 32'd0;
  reg [8*1024-1:0] file_a, file_b, wave;
  localparam TAIL = 300;  // cycles in which arrives what is under way
  wire counts = now < window;

  wire [63:0] a_data, b_data, a_got, b_got;
  wire [7:0] a_control, b_control, a_got_control, b_got_control;
  wire a_quiet, b_quiet, a_short, b_short, a_early, b_early;

  end_of_link #(
      .FROM(0),
      .MOST(MOST)
  ) a (
      .clk(clk),
      .rst(rst),
      .now(now),
      .frames(frames),
      .t_s(t_s),
      .t_w_sys(t_w_sys),
      .awake(awake),
      .tx_data(a_data),
      .tx_control(a_control),
      .rx_data(a_got),
      .rx_control(a_got_control),
      .quiet(a_quiet),
      .too_short(a_short),
      .too_early(a_early),
      .counts(counts)
  );
  end_of_link #(
      .FROM(1),
      .MOST(MOST)
  ) b (
      .clk(clk),
      .rst(rst),
      .now(now),
      .frames(frames),
      .t_s(t_s),
      .t_w_sys(t_w_sys),
      .awake(awake),
      .tx_data(b_data),
      .tx_control(b_control),
      .rx_data(b_got),
      .rx_control(b_got_control),
      .quiet(b_quiet),
      .too_short(b_short),
      .too_early(b_early),
      .counts(counts)
  );
  phy a_to_b (
      .clk(clk),
      .rst(rst),
      .t_s(phy_t_s[15:0]),
      .t_w(phy_t_w[15:0]),
      .in_data(a_data),
      .in_control(a_control),
      .out_data(b_got),
      .out_control(b_got_control),
      .quiet(a_quiet),
      .too_short(a_short),
      .too_early(a_early)
  );
  phy b_to_a (
      .clk(clk),
      .rst(rst),
      .t_s(phy_t_s[15:0]),
      .t_w(phy_t_w[15:0]),
      .in_data(b_data),
      .in_control(b_control),
      .out_data(a_got),
      .out_control(a_got_control),
      .quiet(b_quiet),
      .too_short(b_short),
      .too_early(b_early)
  );

  initial begin
    if (!$value$plusargs("frames=%d", frames) || !$value$plusargs("a=%s", file_a) ||
        !$value$plusargs("b=%s", file_b) || !$value$plusargs("t_s=%d", t_s) ||
        !$value$plusargs("t_w_sys=%d", t_w_sys) || !$value$plusargs("phy_t_s=%d", phy_t_s) ||
        !$value$plusargs("phy_t_w=%d", phy_t_w) || !$value$plusargs("window=%d", window) ||
        frames > MOST) begin
      $display("bench: a plusarg is missing, or frames is above %0d", MOST);
      $finish;
    end
    $readmemh(file_a, a.u_source.list, 0, frames - 1);
    $readmemh(file_a, b.u_scoreboard.list, 0, frames - 1);
    $readmemh(file_b, b.u_source.list, 0, frames - 1);
    $readmemh(file_b, a.u_scoreboard.list, 0, frames - 1);
    awake = $test$plusargs("awake") != 0;
    if ($value$plusargs("wave=%s", wave)) begin
      $dumpfile(wave);
      $dumpvars(3, bench);
    end
  end

  initial forever #1 clk = ~clk;

  always @(posedge clk) begin
    // Four cycles of reset.
    if (rst) begin
      now <= now + 48'd1;
      if (now == 48'd3) begin
        now <= 48'd0;
        rst <= 1'b0;
      end
    end else begin
      now <= now + 48'd1;
      if (now[19:0] == 20'd0 && now != 48'd0) begin
        $display("progress %0d of %0d cycles", now, window);
        $fflush;
      end
      if (now == window + TAIL) begin
        a.report;
        b.report;
        $finish;
      end
    end
  end

  // A diagram of a frame that wakes its direction: a line in each cycle.
  reg tracing = 1'b0, traced = 1'b0;
  initial traced = $test$plusargs("trace") == 0;

  function [7:0] character(input [63:0] data, input [7:0] control);
    if (control != 8'hff || data[7:0] == 8'hfb || data[39:32] == 8'hfb) character = "f";
    else if (data == {8{8'h06}}) character = "L";
    else if (data == {8{8'h07}}) character = "i";
    else character = data[7:0] == 8'hfd ? "f" : "?";
  endfunction

  always @(negedge clk)
    if (!rst && !traced) begin
      if (a.lpi_request && a.started != 0) tracing <= 1'b1;
      if (tracing)
        $display("trace %0d %b %b %b %c %c %b %c %b %c", now, a.waiting, a.lpi_request, a.enable,
                 character(a.mac_tx_data, a.mac_tx_control), character(a_data, a_control), a_quiet,
                 character(b_got, b_got_control), b.rx_lpi,
                 character(b.mac_rx_data, b.mac_rx_control));
      if (tracing && b.got && b.got_last) begin
        tracing <= 1'b0;
        traced  <= 1'b1;
      end
    end
endmodule

`default_nettype wire
