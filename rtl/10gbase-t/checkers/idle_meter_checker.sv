// idle_meter_checker
//
// What idle_meter claims about itself: assertions for simulation and proof, no hardware. They are
// checked at the rising edge of the clock, unless it is reset then.
//
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 272f87574b83b01d4193b1230c79ac435c03303bccd1da4a5e2f27e11a711e8f

`default_nettype none

module idle_meter_checker (
    input wire clk,         // clock
    input wire rst,         // synchronous reset
    input wire ended,       // an idle period ends in this cycle: its length is ticks
    input wire in_period_q  // the cycle before was part of an idle period
);

  reg  ended_before_q;  // an idle period ended the cycle before
  wire ended_before_d;
  wire samples_apart_holds;

  assign ended_before_d = ended;
  assign samples_apart_holds = ~(ended_before_q & in_period_q);

  always @(posedge clk) begin
    if (rst) begin
      ended_before_q <= 1'b0;
    end else begin
      ended_before_q <= ended_before_d;
    end
  end

  // Two idle periods end two cycles apart at least.
  always @(posedge clk) if (!rst) samples_apart: assert (samples_apart_holds);

endmodule

`default_nettype wire
