// port_smoke
//
// Smoke test of port: every port comes awake and sends packets, no output is
// unknown, and the registers, if there are any, answer. Ends with `$fatal` otherwise. The
// other end of the link says nothing, and no port is idle for long.
//
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 0c107b60ff7977f4158ad7d4f1aa597251940b139ef4ab2731c27318e5fd01e0

`default_nettype none

module port_smoke;

  localparam integer PORTS = 1;
  localparam integer PACKETS = 8;
  // Clock cycles within which a port comes awake, whatever the other end does.
  localparam [63:0] LONGEST_WAIT = 64'd7962;

  reg clk = 1'b0;
  reg rst = 1'b1;
  reg queue_nonempty = 1'b0;
  reg transmitting = 1'b0;
  reg packet_valid = 1'b0;
  wire [PORTS-1:0] tx_enable;
  wire hit;
  wire miss;
  wire [109:0] others;

  // Half a period is one unit of time: what is driven changes at the falling edge.
  initial forever #1 clk = ~clk;

  port dut (
      .clk            (clk),
      .rst            (rst),
      .queue_nonempty (queue_nonempty),
      .transmitting   (transmitting),
      .packet_valid   (packet_valid),
      .packet_hops    (6'd1),
      .tx_enable      (tx_enable[0]),
      .power_state    (others[2:0]),
      .lpi_request    (others[3:3]),
      .hit            (hit),
      .miss           (miss),
      .t_pdt          (others[35:4]),
      .update         (others[36:36]),
      .t_pb           (others[68:37]),
      .window         (others[100:69]),
      .budget         (others[109:101])
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
