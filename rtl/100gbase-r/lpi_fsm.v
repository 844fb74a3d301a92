// lpi_fsm
//
// Power states of the link at this end. Nothing is transmitted unless the
// link is awake. A transition down always completes; if it is to go up by then,
// the way up begins at once. From a state that it cannot be in the link goes up,
// as it may be asleep.
//
// Instances: port.lpi_fsm
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: c92336abb6fa41ae9cb928003adec668803f02cf12e93090c7d6e7360256b75e

`default_nettype none

module lpi_fsm (
    input  wire       clk,         // clock
    input  wire       rst,         // synchronous reset
    input  wire       down_start,  // go down at the end of this cycle
    input  wire       up_start,    // go up at the end of this cycle, or of the transition down
    output wire       tx_enable,   // the link is awake
    output wire       leaving,     // the link leaves Wake at the end of this cycle
    output wire       asleep,      // the link sleeps or is on the way down
    output wire [2:0] power_state  // state of the link, encoded as LINK_*
);

  // States: Link
  localparam [2:0] LINK_WAKE = 3'd0;        // ready to transmit
  localparam [2:0] LINK_GOING_DOWN = 3'd1;  // on the way down, full power
  localparam [2:0] LINK_FAST_WAKE = 3'd2;   // asleep, most of the PHY on
  localparam [2:0] LINK_DEEP_SLEEP = 3'd3;  // asleep, deepest
  localparam [2:0] LINK_REFRESH = 3'd4;     // refreshing within deep sleep, full power
  localparam [2:0] LINK_GOING_UP = 3'd5;    // on the way up, full power

  localparam [19:0] T_S_DEEP_SLEEP = 20'd549;   // down to deep sleep: clock cycles less one
  localparam [19:0] T_W_DEEP_SLEEP = 20'd2749;  // up from deep sleep: clock cycles less one
  localparam [19:0] LONGEST_UP = 20'd2749;      // up from wherever the link may be: clock cycles less one
  localparam [19:0] T_Q = 20'd874999;           // quiet between two refreshes: clock cycles less one
  localparam [19:0] T_R = 20'd3099;             // one refresh: clock cycles less one

  reg   [2:0] state_q;   // state of the link
  reg   [2:0] state_d;
  reg  [19:0] cycles_q;  // clock cycles left in this state, less one
  reg  [19:0] cycles_d;
  wire        over;      // the state has lasted its time

  assign over = cycles_q == 20'd0;
  assign tx_enable = state_q == LINK_WAKE;
  assign leaving = (state_q == LINK_WAKE) & down_start;
  assign asleep = (state_q != LINK_WAKE) & (state_q != LINK_GOING_UP);
  assign power_state = state_q;

  always @(*) begin
    state_d = state_q;
    cycles_d = cycles_q;
    if (~over) begin
      cycles_d = cycles_q - 20'd1;
    end
    case (state_q)
      LINK_WAKE: begin
        if (down_start) begin
          state_d = LINK_GOING_DOWN;
          cycles_d = T_S_DEEP_SLEEP;
        end
      end
      LINK_GOING_DOWN: begin
        if (over) begin
          if (up_start) begin
            state_d = LINK_GOING_UP;
          end else begin
            state_d = LINK_DEEP_SLEEP;
          end
          if (up_start) begin
            cycles_d = T_W_DEEP_SLEEP;
          end else begin
            cycles_d = T_Q;
          end
        end
      end
      LINK_FAST_WAKE: begin
        // Not used in this configuration: the link may be asleep.
        state_d = LINK_GOING_UP;
        cycles_d = LONGEST_UP;
      end
      LINK_DEEP_SLEEP: begin
        if (up_start) begin
          state_d = LINK_GOING_UP;
          cycles_d = T_W_DEEP_SLEEP;
        end else if (over) begin
          state_d = LINK_REFRESH;
          cycles_d = T_R;
        end
      end
      LINK_REFRESH: begin
        if (up_start) begin
          state_d = LINK_GOING_UP;
          cycles_d = T_W_DEEP_SLEEP;
        end else if (over) begin
          state_d = LINK_DEEP_SLEEP;
          cycles_d = T_Q;
        end
      end
      LINK_GOING_UP: begin
        if (over) begin
          state_d = LINK_WAKE;
        end
      end
      default: begin
        // No such state: the link may be asleep.
        state_d = LINK_GOING_UP;
        cycles_d = LONGEST_UP;
      end
    endcase
  end

  always @(posedge clk) begin
    if (rst) begin
      state_q <= LINK_WAKE;
      cycles_q <= 20'd0;
    end else begin
      state_q <= state_d;
      cycles_q <= cycles_d;
    end
  end

endmodule

`default_nettype wire
