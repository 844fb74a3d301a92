// One direction of a pair of PHYs and the cable between them, as far as low power idle (LPI) goes
// (IEEE 802.3, 78.1.3): words come out a fixed time later. After t_s words of LPI the direction is
// quiet. To wake it takes t_w words from the first that is no LPI; until they are over, the far end
// puts out idle, and frames that come too early are lost.

`default_nettype none

module phy #(
    parameter DELAY = 12  // words
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [15:0] t_s,
    input  wire [15:0] t_w,
    input  wire [63:0] in_data,
    input  wire [ 7:0] in_control,
    output wire [63:0] out_data,
    output wire [ 7:0] out_control,
    output wire        quiet,
    output wire        too_short,  // LPI ends before it has lasted t_s words
    output wire        too_early  // a frame starts before the way up is over
);
  localparam [1:0] AWAKE = 2'd0, SLEEPING = 2'd1, QUIET = 2'd2, WAKING = 2'd3;
  localparam [71:0] IDLE_WORD = {8'hff, {8{8'h07}}}, LPI_WORD = {8'hff, {8{8'h06}}};

  reg [1:0] state;
  reg [15:0] words;  // of this state
  reg [71:0] cable[0:DELAY-1];
  reg [71:0] sent;
  integer k;

  wire [71:0] word = {in_control, in_data};
  wire is_lpi = word == LPI_WORD;
  wire is_start = (in_control[0] && in_data[7:0] == 8'hfb) ||
      (in_control[4] && in_data[39:32] == 8'hfb);
  wire wakes = !is_lpi && (state == SLEEPING || state == QUIET);
  wire waking = wakes || (state == WAKING && words < t_w);
  assign quiet = state == QUIET && is_lpi;
  assign too_short = !is_lpi && state == SLEEPING;
  assign too_early = waking && is_start;
  assign {out_control, out_data} = cable[DELAY-1];

  always @(*)
    if (is_lpi) sent = LPI_WORD;
    else if (waking) sent = IDLE_WORD;
    else sent = word;

  always @(posedge clk)
    if (rst) begin
      state <= AWAKE;
      words <= 16'd0;
      for (k = 0; k < DELAY; k = k + 1) cable[k] <= IDLE_WORD;
    end else begin
      cable[0] <= sent;
      for (k = 1; k < DELAY; k = k + 1) cable[k] <= cable[k-1];
      words <= words + 16'd1;
      if (is_lpi) begin
        if (state == AWAKE || state == WAKING) begin
          state <= SLEEPING;
          words <= 16'd1;
        end else if (state == SLEEPING && words + 16'd1 >= t_s) state <= QUIET;
      end else if (wakes) begin
        state <= WAKING;
        words <= 16'd1;
      end else if (state == WAKING && words >= t_w) state <= AWAKE;
    end
endmodule

`default_nettype wire
