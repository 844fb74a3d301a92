// port_smoke
//
// Smoke test of port: every port comes awake and sends packets, no output is
// unknown, and the registers, if there are any, answer. Ends with `$fatal` otherwise. The
// other end of the link says nothing, and no port is idle for long.
//
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: ed815bb39b363cbc8c3a9ed0b25ae542eeae002c6b706c7fad175890230d223d

`default_nettype none

module port_smoke;

  localparam integer PORTS = 1;
  localparam integer PACKETS = 8;
  // Clock cycles within which a port comes awake, whatever the other end does.
  localparam [63:0] LONGEST_WAIT = 64'd30379;

  reg clk = 1'b0;
  reg rst = 1'b1;
  reg queue_nonempty = 1'b0;
  reg transmitting = 1'b0;
  reg packet_valid = 1'b0;
  wire [PORTS-1:0] tx_enable;
  wire hit;
  wire miss;
  wire [116:0] others;

  // Half a period is one unit of time: what is driven changes at the falling edge.
  initial forever #1 clk = ~clk;

  port dut (
      .clk            (clk),
      .rst            (rst),
      .queue_nonempty (queue_nonempty),
      .transmitting   (transmitting),
      .receiving      (1'd0),
      .packet_valid   (packet_valid),
      .packet_hops    (6'd1),
      .initiator      (1'd1),
      .message_in     (3'd0),
      .tx_enable      (tx_enable[0]),
      .power_state    (others[2:0]),
      .hit            (hit),
      .miss           (miss),
      .t_pdt          (others[34:3]),
      .update         (others[35:35]),
      .t_pb           (others[67:36]),
      .window         (others[99:68]),
      .budget         (others[112:100]),
      .message_out    (others[115:113]),
      .sync_error     (others[116:116])
  );

  integer ended = 0;
  integer packet;
  reg [63:0] waited;

  // A clock cycle: its inputs are driven, its outputs stand.
  task cycle;
    begin
      @(negedge clk);
      if (^{tx_enable, hit, miss, others} === 1'bx) $fatal(1, "port_smoke: an output is unknown");
      if (hit || miss) ended = ended + 1;
    end
  endtask

  initial begin
    repeat (3) @(negedge clk);
    // Reset gives every output a value.
    cycle;
    rst = 1'b0;
    for (packet = 0; packet < PACKETS; packet = packet + 1) begin
      queue_nonempty = 1'b1;
      waited = 64'd0;
      cycle;
      while (!(&tx_enable)) begin
        if (waited > LONGEST_WAIT) $fatal(1, "port_smoke: a port does not come awake");
        cycle;
        waited = waited + 64'd1;
      end
      transmitting = 1'b1;
      packet_valid = 1'b1;
      cycle;
      packet_valid = 1'b0;
      repeat (3) cycle;
      transmitting = 1'b0;
      queue_nonempty = 1'b0;
      repeat (100) cycle;
    end
    // The last idle period has not ended.
    if (ended != PACKETS - 1) $fatal(1, "port_smoke: %0d idle periods, not %0d", ended, PACKETS - 1);
    $display("port_smoke: passed: ports %0d, packets of each %0d", PORTS, PACKETS);
    $finish;
  end

endmodule

`default_nettype wire
