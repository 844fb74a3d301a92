// lpi_fsm_checker
//
// What lpi_fsm claims about itself: assertions for simulation and proof, no hardware. They are
// checked at the rising edge of the clock, unless it is reset then.
//
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: ed815bb39b363cbc8c3a9ed0b25ae542eeae002c6b706c7fad175890230d223d

`default_nettype none

module lpi_fsm_checker (
    input wire       clk,        // clock
    input wire       rst,        // synchronous reset
    input wire       up_start,   // go up at the end of this cycle, or of the transition down
    input wire       tx_enable,  // the link is awake
    input wire       over,       // the state has lasted its time
    input wire [2:0] state_d,    // next value of state_q
    input wire [2:0] state_q,    // state of the link
    input wire [8:0] cycles_q    // clock cycles left in this state, less one
);

  // States: Link
  localparam [2:0] LINK_WAKE = 3'd0;        // ready to transmit
  localparam [2:0] LINK_GOING_DOWN = 3'd1;  // on the way down, full power
  localparam [2:0] LINK_FAST_WAKE = 3'd2;   // asleep, most of the PHY on
  localparam [2:0] LINK_DEEP_SLEEP = 3'd3;  // asleep, deepest
  localparam [2:0] LINK_REFRESH = 3'd4;     // refreshing within deep sleep, full power
  localparam [2:0] LINK_GOING_UP = 3'd5;    // on the way up, full power

  localparam [8:0] LAST_DOWN = 9'd199;      // clock cycles of the transition down, less one
  localparam [9:0] LONGEST_WAIT = 10'd575;  // the longest transition down and the way up after it
  localparam [8:0] LASTS_DOWN = 9'd199;     // clock cycles of this transition down, less one
  localparam [8:0] LASTS_UP = 9'd374;       // clock cycles of this transition up, less one

  reg  [8:0] age_q;      // clock cycles since the transition began
  reg  [8:0] age_d;
  reg  [9:0] waiting_q;  // clock cycles for which up_start has waited
  reg  [9:0] waiting_d;
  wire       transmits_awake_only_holds;
  reg        legal_state_holds;
  reg        down_completes_holds;
  reg        up_completes_holds;
  wire       wait_bounded_holds;
  reg        sleep_known_holds;
  reg        time_adds_up_holds;
  reg        wait_explained_holds;

  always @(*) begin
    legal_state_holds = 1'b1;
    down_completes_holds = 1'b1;
    sleep_known_holds = 1'b1;
    time_adds_up_holds = 1'b1;
    wait_explained_holds = 1'b1;
    age_d = 9'd0;
    case (state_q)
      LINK_WAKE: begin
        wait_explained_holds = waiting_q <= LONGEST_WAIT;
      end
      LINK_GOING_DOWN: begin
        if (~over) begin
          age_d = age_q + 9'd1;
        end
        time_adds_up_holds = (cycles_q == (LASTS_DOWN - age_q)) & (age_q <= LASTS_DOWN);
        down_completes_holds = (age_q <= LASTS_DOWN)
            & ((state_d == LINK_GOING_DOWN) | ((age_q == LASTS_DOWN) & (state_d != LINK_WAKE)));
        wait_explained_holds = waiting_q <= {1'b0, age_q};
      end
      LINK_FAST_WAKE: begin
        legal_state_holds = 1'b1;
        sleep_known_holds = 1'b1;
        wait_explained_holds = waiting_q == 10'd0;
      end
      LINK_DEEP_SLEEP: begin
        legal_state_holds = 1'b0;
        sleep_known_holds = 1'b0;
        wait_explained_holds = waiting_q == 10'd0;
      end
      LINK_REFRESH: begin
        legal_state_holds = 1'b0;
        sleep_known_holds = 1'b0;
        wait_explained_holds = waiting_q == 10'd0;
      end
      LINK_GOING_UP: begin
        if (~over) begin
          age_d = age_q + 9'd1;
        end
        time_adds_up_holds = (cycles_q == (LASTS_UP - age_q)) & (age_q <= LASTS_UP);
        wait_explained_holds = waiting_q <= ({1'b0, LAST_DOWN} + 10'd1 + {1'b0, age_q});
      end
      default: begin
        legal_state_holds = 1'b0;
      end
    endcase
  end

  always @(*) begin
    waiting_d = 10'd0;
    if ((state_q != LINK_WAKE) & up_start) begin
      waiting_d = waiting_q + 10'd1;
    end
  end

  always @(*) begin
    up_completes_holds = 1'b1;
    if ((state_q != LINK_WAKE) & (state_d == LINK_WAKE)) begin
      up_completes_holds = (state_q == LINK_GOING_UP) & (age_q == LASTS_UP);
    end
  end

  assign transmits_awake_only_holds = tx_enable == (state_q == LINK_WAKE);
  assign wait_bounded_holds = waiting_q <= LONGEST_WAIT;

  always @(posedge clk) begin
    if (rst) begin
      age_q <= 9'd0;
      waiting_q <= 10'd0;
    end else begin
      age_q <= age_d;
      waiting_q <= waiting_d;
    end
  end

  // Nothing is transmitted unless the link is awake.
  always @(posedge clk) if (!rst) transmits_awake_only: assert (transmits_awake_only_holds);

  // The link is in a state that this configuration has.
  always @(posedge clk) if (!rst) legal_state: assert (legal_state_holds);

  // A transition down lasts exactly t_s, and the link does not wake from within it.
  always @(posedge clk) if (!rst) down_completes: assert (down_completes_holds);

  // The link becomes awake only at the end of a transition up, after exactly t_w.
  always @(posedge clk) if (!rst) up_completes: assert (up_completes_holds);

  // up_start never waits longer than one transition down and one up.
  always @(posedge clk) if (!rst) wait_bounded: assert (wait_bounded_holds);

  // The link sleeps in the state that it went down to.
  always @(posedge clk) if (!rst) sleep_known: assert (sleep_known_holds);

  // The cycles spent in a transition and the cycles left are its duration.
  always @(posedge clk) if (!rst) time_adds_up: assert (time_adds_up_holds);

  // What up_start has waited for is the transition under way, and the one before.
  always @(posedge clk) if (!rst) wait_explained: assert (wait_explained_holds);

endmodule

`default_nettype wire
