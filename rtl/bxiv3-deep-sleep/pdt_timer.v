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
// SHA-256 of the configuration: ab2ac361881000537561263568972299b56920643739be3326eec91869cba9bf

`default_nettype none

module pdt_timer (
    input  wire        clk,             // clock
    input  wire        rst,             // synchronous reset
    input  wire        active,          // the port is active in this cycle
    input  wire        transmitting,    // the port transmits in this cycle
    input  wire        tick,            // this idle cycle completes a tick
    input  wire [31:0] ticks,           // whole ticks idle before this cycle
    input  wire [31:0] t_pdt,           // latest threshold, in ticks
    output wire [31:0] t_pdt_in_force,  // threshold of this idle period, or the next
    output reg         expired,         // the timer expires at the end of this cycle
    output reg         overdue          // it expired earlier in this idle period
);

  localparam [31:0] BACKSTOP = 32'd4194304;  // port.t_backstop_ns, in ticks

  reg  [31:0] in_force_q;         // threshold that stood when the idle period began
  reg  [31:0] in_force_d;
  reg         last_sender_q;      // this port transmitted last, or never was active
  reg         last_sender_d;
  reg         passed_q;           // this idle period is longer than the threshold
  reg         passed_d;
  reg         backstop_passed_q;  // this idle period is longer than the backstop
  wire        backstop_passed_d;
  wire        at_threshold;       // this cycle makes it longer than the threshold
  wire        at_backstop;        // this cycle makes it longer than the backstop
  wire        by_now;             // it is longer than the backstop at the end of this cycle

  always @(*) begin
    in_force_d = in_force_q;
    last_sender_d = last_sender_q;
    // An update that completes while the port is idle governs the next period.
    if (active) begin
      in_force_d = t_pdt;
      last_sender_d = transmitting;
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

  assign at_backstop = tick & (ticks == BACKSTOP);
  assign by_now = backstop_passed_q | at_backstop;
  assign backstop_passed_d = ~active & by_now;

  // Of the threshold and the backstop the longer one counts.
  always @(*) begin
    if (last_sender_q) begin
      expired = at_threshold;
      overdue = passed_q;
    end else begin
      expired = (at_threshold & by_now) | (at_backstop & passed_q);
      overdue = passed_q & backstop_passed_q;
    end
  end

  always @(posedge clk) begin
    if (rst) begin
      in_force_q <= 32'd100000;
      last_sender_q <= 1'b1;
      passed_q <= 1'b0;
      backstop_passed_q <= 1'b0;
    end else begin
      in_force_q <= in_force_d;
      last_sender_q <= last_sender_d;
      passed_q <= passed_d;
      backstop_passed_q <= backstop_passed_d;
    end
  end

endmodule

`default_nettype wire
