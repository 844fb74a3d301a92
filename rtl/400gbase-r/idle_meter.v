// idle_meter
//
// Measures idle periods. A period begins in the first idle cycle after an
// active one and ends in the first active cycle; its length is the number of
// whole ticks it lasted. What comes before the first activity is no period.
//
// Instances: port.idle_meter
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: dff0b4e897fb48c75bc0df6460f1451b52e960a0aff85a548d4a5fa513b37a84

`default_nettype none

module idle_meter (
    input  wire        clk,       // clock
    input  wire        rst,       // synchronous reset
    input  wire        active,    // the port is active in this cycle
    output wire        ended,     // an idle period ends in this cycle: its length is ticks
    output wire        tick,      // this idle cycle completes a tick
    output wire [31:0] ticks,     // whole ticks idle before this cycle
    output wire        saturated  // ticks is at its largest value
);

  reg         seen_active_q;  // there has been activity since reset
  reg         seen_active_d;
  reg         in_period_q;    // the cycle before was part of an idle period
  wire        in_period_d;
  reg  [31:0] count_q;        // whole ticks idle, saturating
  reg  [31:0] count_d;

  always @(*) begin
    seen_active_d = seen_active_q;
    if (active) begin
      seen_active_d = 1'b1;
    end
  end

  assign in_period_d = ~active & seen_active_q;
  assign ended = active & in_period_q;

  // The prescaler starts anew with every idle period, so ticks are whole.
  assign tick = ~active;
  assign saturated = &count_q;

  always @(*) begin
    count_d = count_q;
    if (active) begin
      count_d = 32'd0;
    end else if (tick & ~saturated) begin
      count_d = count_q + 32'd1;
    end
  end

  assign ticks = count_q;

  always @(posedge clk) begin
    if (rst) begin
      seen_active_q <= 1'b0;
      in_period_q <= 1'b0;
      count_q <= 32'd0;
    end else begin
      seen_active_q <= seen_active_d;
      in_period_q <= in_period_d;
      count_q <= count_d;
    end
  end

endmodule

`default_nettype wire
