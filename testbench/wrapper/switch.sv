// switch
//
// A test of the wrapper of a switch of two ports with a clock of its own for AXI4-Lite, aresetn and
// vectors: what a program reads and writes through the other clock. Ends with `$fatal` if anything is wrong. The parameters come from the register map.

`timescale 1ps / 1ps
`default_nettype none

module switch #(
    parameter integer CLK_HALF = 500,         // half a period of clk, in ps
    parameter integer AXI_HALF = 1700,        // the same of s_axi_aclk
    parameter [13:0] STRIDE = 14'h1000,       // from the page of a port to the next
    parameter [13:0] MAGIC_AT = 14'h0,        // the register that says what it is
    parameter [31:0] MAGIC = 32'h0,           // what it says
    parameter [13:0] HASH_AT = 14'h0,         // the register with the configuration's hash
    parameter [31:0] HASH = 32'h0,            // its first word
    parameter [13:0] SHADOW_AT = 14'h0        // a register that keeps what is written
);

  reg clk = 1'b0;
  reg s_axi_aclk = 1'b0;
  initial forever #CLK_HALF clk = ~clk;
  initial #77 forever #AXI_HALF s_axi_aclk = ~s_axi_aclk;

  reg aresetn = 1'b0;
  reg s_axi_aresetn = 1'b0;
  reg awvalid = 1'b0, wvalid = 1'b0, bready = 1'b0, arvalid = 1'b0, rready = 1'b0;
  wire awready, wready, bvalid, arready, rvalid;
  reg [13:0] awaddr, araddr;
  reg [31:0] wdata;
  wire [1:0] bresp, rresp, tx_enable;
  wire [31:0] rdata;
  reg [1:0] queue_nonempty = 2'b00;

  switch_ports_wrapper dut (
      .clk            (clk),
      .aresetn        (aresetn),
      .s_axi_aclk     (s_axi_aclk),
      .s_axi_aresetn  (s_axi_aresetn),
      .s_axi_awvalid  (awvalid),
      .s_axi_awready  (awready),
      .s_axi_awaddr   (awaddr),
      .s_axi_awprot   (3'd0),
      .s_axi_wvalid   (wvalid),
      .s_axi_wready   (wready),
      .s_axi_wdata    (wdata),
      .s_axi_wstrb    (4'hf),
      .s_axi_bvalid   (bvalid),
      .s_axi_bready   (bready),
      .s_axi_bresp    (bresp),
      .s_axi_arvalid  (arvalid),
      .s_axi_arready  (arready),
      .s_axi_araddr   (araddr),
      .s_axi_arprot   (3'd0),
      .s_axi_rvalid   (rvalid),
      .s_axi_rready   (rready),
      .s_axi_rdata    (rdata),
      .s_axi_rresp    (rresp),
      .queue_nonempty (queue_nonempty),
      .transmitting   (2'b00),
      .receiving      (2'b00),
      .packet_valid   (2'b00),
      .packet_hops    (12'd0),
      .initiator      (2'b00),
      .message_in     (6'd0),
      .irq            (),
      .tx_enable      (tx_enable),
      .power_state    (),
      .message_out    ()
  );

  task write(input [13:0] address, input [31:0] data);
    begin
      awvalid <= 1'b1;
      awaddr <= address;
      wvalid <= 1'b1;
      wdata <= data;
      bready <= 1'b1;
      @(posedge s_axi_aclk);
      while (awvalid | wvalid | ~bvalid) begin
        if (awready) awvalid <= 1'b0;
        if (wready) wvalid <= 1'b0;
        @(posedge s_axi_aclk);
      end
      bready <= 1'b0;
      if (bresp !== 2'd0) $fatal(1, "a write of %h is answered with %b", address, bresp);
    end
  endtask

  task expects(input [13:0] address, input [31:0] data);
    begin
      arvalid <= 1'b1;
      araddr <= address;
      rready <= 1'b1;
      @(posedge s_axi_aclk);
      while (arvalid | ~rvalid) begin
        if (arready) arvalid <= 1'b0;
        @(posedge s_axi_aclk);
      end
      rready <= 1'b0;
      if (rresp !== 2'd0) $fatal(1, "a read of %h is answered with %b", address, rresp);
      if (rdata !== data) $fatal(1, "%h holds %h, not %h", address, rdata, data);
    end
  endtask

  integer port;
  integer number;
  time begun;
  initial begin
    #100000;
    @(posedge s_axi_aclk) s_axi_aresetn <= 1'b1;
    #20000;
    @(posedge clk) aresetn <= 1'b1;
    @(posedge s_axi_aclk);
    for (port = 0; port < 2; port = port + 1) begin
      expects(port * STRIDE + MAGIC_AT, MAGIC);
      expects(port * STRIDE + HASH_AT, HASH);
    end
    for (number = 0; number < 20; number = number + 1) begin
      for (port = 0; port < 2; port = port + 1) write(port * STRIDE + SHADOW_AT, number * 37 + port);
      for (port = 0; port < 2; port = port + 1) expects(port * STRIDE + SHADOW_AT, number * 37 + port);
    end
    // The core is reset alone, and the registers are as at first.
    @(posedge clk) aresetn <= 1'b0;
    #100000;
    @(posedge clk) aresetn <= 1'b1;
    @(posedge s_axi_aclk);
    expects(MAGIC_AT, MAGIC);
    begun = $time;
    write(SHADOW_AT, 32'd5);
    $display("passed: a write takes %0d ps", $time - begun);
    begun = $time;
    expects(SHADOW_AT, 32'd5);
    $display("a read takes %0d ps", $time - begun);
    $finish;
  end

  initial begin
    #20000000;
    $fatal(1, "a transfer never ends");
  end

endmodule

`default_nettype wire
