// pdt_timer
//
// Power-down timer. It expires at the end of the cycle that completes tick
// t_pdt + 1 of an idle period, so that activity in the very tick in which it
// would expire wins: a period is a miss iff it is longer than t_pdt.
//
// Instances: port.pdt_timer
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 4e5bb7230e7aca7d3e9703db329c4a334aa9d13ffe87d83b31918f8e3d018ec2

`default_nettype none

module pdt_timer (
    input  wire        clk,             // clock
    input  wire        rst,             // synchronous reset
    input  wire        active,          // the port is active in this cycle
    input  wire        transmitting,    // the port transmits in this cycle
    input  wire        tick,            // this idle cycle completes a tick
    input  wire [31:0] ticks,           // whole ticks idle before this cycle
    input  wire        saturated,       // ticks is at its largest value
    input  wire [31:0] t_pdt,           // latest threshold, in ticks
    output wire [31:0] t_pdt_in_force,  // threshold of this idle period, or the next
    output wire        expired          // the timer expires at the end of this cycle
);

  reg  [31:0] in_force_q;  // threshold that stood when the idle period began
  reg  [31:0] in_force_d;
  reg         armed_q;     // this port was the last transmitter
  reg         armed_d;

  always @(*) begin
    in_force_d = in_force_q;
    // An update that completes while the port is idle governs the next period.
    if (active) begin
      in_force_d = t_pdt;
    end
  end

  always @(*) begin
    armed_d = armed_q;
    // A port that only received leaves the decision to the other end.
    if (active) begin
      armed_d = transmitting;
    end
  end

  assign t_pdt_in_force = in_force_q;

  // A saturated count can no longer tell whether the period grows longer.
  assign expired = armed_q & tick & ~saturated & (ticks == in_force_q);

  always @(posedge clk) begin
    if (rst) begin
      in_force_q <= 32'd262144;
      armed_q <= 1'b0;
    end else begin
      in_force_q <= in_force_d;
      armed_q <= armed_d;
    end
  end

endmodule

`default_nettype wire
