// pdt_timer
//
// Power-down timer. It expires at the end of the cycle that completes tick
// t_pdt + 1 of an idle period, so that activity in the very tick in which it
// would expire wins: a period is a miss iff it is longer than t_pdt. An idle port
// is always armed; one that did not transmit last waits for the backstop, too,
// because the other end normally asks first.
//
// Instances: port.pdt_timer
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 272f87574b83b01d4193b1230c79ac435c03303bccd1da4a5e2f27e11a711e8f

`default_nettype none

module pdt_timer (
    input  wire        clk,             // clock
    input  wire        rst,             // synchronous reset
    input  wire        active,          // the port is active in this cycle
    input  wire        tick,            // this idle cycle completes a tick
    input  wire [31:0] ticks,           // whole ticks idle before this cycle
    input  wire [31:0] t_pdt,           // latest threshold, in ticks
    output wire [31:0] t_pdt_in_force,  // threshold of this idle period, or the next
    output wire        expired,         // the timer expires at the end of this cycle
    output wire        overdue          // it expired earlier in this idle period
);

  reg  [31:0] in_force_q;    // threshold that stood when the idle period began
  reg  [31:0] in_force_d;
  reg         passed_q;      // this idle period is longer than the threshold
  reg         passed_d;
  wire        at_threshold;  // this cycle makes it longer than the threshold

  always @(*) begin
    in_force_d = in_force_q;
    // An update that completes while the port is idle governs the next period.
    if (active) begin
      in_force_d = t_pdt;
    end
  end

  assign t_pdt_in_force = in_force_q;
  assign at_threshold = tick & (ticks == in_force_q);

  always @(*) begin
    passed_d = passed_q;
    if (active) begin
      passed_d = 1'b0;
    end else if (at_threshold) begin
      passed_d = 1'b1;
    end
  end

  assign expired = at_threshold;
  assign overdue = passed_q;

  always @(posedge clk) begin
    if (rst) begin
      in_force_q <= 32'd262144;
      passed_q <= 1'b0;
    end else begin
      in_force_q <= in_force_d;
      passed_q <= passed_d;
    end
  end

endmodule

`default_nettype wire
