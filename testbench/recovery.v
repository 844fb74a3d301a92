// recovery
//
// What the states of a link do from any state at all, such as one that a fault in the hardware has
// led to, for `linkdoze verify` (docs/evidence/proofs.md). The module is put into `lpi_fsm`. The
// prover sets the parameters and connects it. No claim says in which state the link can be: each is
// about one cycle and the one before, whatever that was.

`default_nettype none

module recovery_claims #(
    parameter CYCLES = 1,           // bits of the cycles that are left
    parameter USES_FAST_WAKE = 1,   // the link uses fast wake
    parameter USES_DEEP_SLEEP = 1,  // the link uses deep sleep
    parameter USES_REFRESH = 1      // deep sleep has refreshes
) (
    input wire              clk,
    input wire              rst,
    input wire        [2:0] state,
    input wire [CYCLES-1:0] cycles,    // clock cycles left in this state, less one
    input wire [CYCLES-1:0] fast_wake,   // t_w of fast wake, less one
    input wire [CYCLES-1:0] deep_sleep,  // t_w of deep sleep, less one
    input wire              link_up,   // there is a link, or nobody says otherwise
    input wire              deep,      // a transition is to or from deep sleep
    input wire              tx_enable
);

  localparam [2:0] WAKE = 3'd0;
  localparam [2:0] GOING_DOWN = 3'd1;
  localparam [2:0] FAST_WAKE_STATE = 3'd2;
  localparam [2:0] DEEP_SLEEP_STATE = 3'd3;
  localparam [2:0] REFRESH = 3'd4;
  localparam [2:0] GOING_UP = 3'd5;

  // The cycle before.
  reg was_reset;
  reg [2:0] was;
  reg [CYCLES-1:0] was_left;
  reg was_deep;
  reg was_linked;
  reg [CYCLES-1:0] was_fast_wake;
  reg [CYCLES-1:0] was_deep_sleep;
  always @(posedge clk) begin
    was_reset <= rst;
    was <= state;
    was_left <= cycles;
    was_deep <= deep;
    was_linked <= link_up;
    was_fast_wake <= fast_wake;
    was_deep_sleep <= deep_sleep;
  end

  // The t_w of the state in use that takes longer.
  wire is_deep = USES_DEEP_SLEEP & (!USES_FAST_WAKE | was_deep_sleep > was_fast_wake);
  wire [CYCLES-1:0] longest = is_deep ? was_deep_sleep : was_fast_wake;

  // How long a way up takes from the state before.
  reg [CYCLES-1:0] t_w;
  always @(*) begin
    t_w = longest;
    case (was)
      GOING_DOWN: t_w = was_deep ? was_deep_sleep : was_fast_wake;
      FAST_WAKE_STATE: if (USES_FAST_WAKE) t_w = was_fast_wake;
      DEEP_SLEEP_STATE: if (USES_DEEP_SLEEP) t_w = was_deep_sleep;
      REFRESH: if (USES_REFRESH) t_w = was_deep_sleep;
      default: t_w = longest;
    endcase
    if (!was_linked) t_w = longest;
  end

  wire steps = !rst & !was_reset;

  // Nothing is transmitted unless the link is awake, in whatever state it is.
  always @(*) if (!rst) recovery_sends_awake_only: assert (!tx_enable | state == WAKE);

  // From any state, legal or not: the link becomes awake only at the end of a transition up.
  always @(*) if (!rst) recovery_wakes_by_going_up: assert (
      !steps | state != WAKE | was == WAKE & was_linked
      | (was == GOING_UP & was_left == 0 & was_linked));

  // From any state, legal or not: a transition up lasts t_w of the state that it leaves, and the
  // longest t_w if that cannot be known.
  always @(*) if (!rst) recovery_takes_t_w: assert (
      !steps | state != GOING_UP | was == GOING_UP | cycles == t_w);

  // A transition up is not cut short; without a link it begins anew.
  always @(*) if (!rst) recovery_completes: assert (
      !steps | was != GOING_UP | (was_left == 0 & was_linked)
      | (state == GOING_UP & cycles == (was_linked ? was_left - 1'b1 : longest)));

  // A state that the link cannot be in leads to a transition up.
  always @(*) if (!rst) recovery_goes_up: assert (
      !steps | was == WAKE | was == GOING_DOWN | was == GOING_UP
      | (was == FAST_WAKE_STATE & USES_FAST_WAKE) | (was == DEEP_SLEEP_STATE & USES_DEEP_SLEEP)
      | (was == REFRESH & USES_REFRESH) | state == GOING_UP);

endmodule

`default_nettype wire
