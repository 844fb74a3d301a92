// pair
//
// Two port controllers joined by a link whose delay is the same in both directions and does
// not change, for `linkdoze verify` (docs/evidence/proofs.md). The packets are arbitrary, and so are the
// thresholds, up to the longest one. What one port claims is proved for one port, whatever its
// pins do, and assumed here. The prover sets the parameters.

`default_nettype none

module pair #(
    parameter LONGEST_DELAY = 0,  // of the link, in clock cycles
    parameter START = 0,          // clock cycles of EXCHANGE_START
    parameter LONGEST_DOWN = 0,   // clock cycles of the longest transition down
    parameter LONGEST_UP = 0,     // clock cycles of the longest transition up
    parameter HYBRID = 0,         // fast wake first, then deep sleep, or whatever software says
    parameter REGISTERS = 0,      // software sets parameters
    parameter TIMED = 0,          // the times of the link among them
    parameter COUNT_BITS = 1,     // widths of the registers that the claims read
    parameter CYCLES_BITS = 1,
    parameter TIMEOUT_BITS = 1,
    parameter WAIT_BITS = 1,
    parameter BOUNDED = 0,        // the ports have a bound on the time to sleep
    parameter TIMER = 0,          // clock cycles in which the longest timer expires
    parameter TIMEOUT = 0,        // clock cycles after which an end asks once more to go down
    parameter GUARD = 0,          // clock cycles awake in which a guard gets a token; 0: no guard
    parameter REST_BITS = 1
) (
    input wire        clk,
    input wire        rst,
    input wire [15:0] delay_wanted,
    input wire        queue_nonempty_a,
    input wire        queue_nonempty_b,
    input wire        transmitting_wanted_a,
    input wire        transmitting_wanted_b,
    input wire        receiving_a,
    input wire        receiving_b
);

  // Wide enough for every sum of times below.
  localparam W = (WAIT_BITS > REST_BITS ? WAIT_BITS : REST_BITS) + 2;

  localparam [2:0] NONE = 3'd0;
  localparam [2:0] REQ_DOWN = 3'd1;
  localparam [2:0] REQ_UP = 3'd2;
  localparam [2:0] ACK = 3'd3;
  localparam [2:0] NACK = 3'd4;
  localparam [2:0] SYNC = 3'd5;

  localparam [2:0] IN_START = 3'd0;
  localparam [2:0] IDLE = 3'd1;
  localparam [2:0] ASK_DOWN = 3'd2;
  localparam [2:0] SYNC_DOWN = 3'd3;
  localparam [2:0] AWAIT_DOWN = 3'd4;
  localparam [2:0] ASK_UP = 3'd5;
  localparam [2:0] SYNC_UP = 3'd6;
  localparam [2:0] AWAIT_UP = 3'd7;

  localparam [2:0] WAKE = 3'd0;

  // The delay of the link: any, fixed while in reset.
  reg [W-1:0] delay;
  always @(posedge clk) begin
    if (rst) begin
      delay <= delay_wanted > LONGEST_DELAY ? LONGEST_DELAY : delay_wanted;
    end
  end

  wire       tx_enable_a, tx_enable_b;
  wire [2:0] link_a, link_b;
  wire [2:0] sent_a, sent_b;
  wire [2:0] heard_a, heard_b;
  wire       error_a, error_b;
  wire       transmitting_a, transmitting_b;

  port u_a (
      .clk(clk), .rst(rst), .initiator(1'b1),
      .queue_nonempty(queue_nonempty_a), .transmitting(transmitting_a), .receiving(receiving_a),
      .message_in(heard_a), .message_out(sent_a),
      .tx_enable(tx_enable_a), .power_state(link_a), .sync_error(error_a)
  );
  port u_b (
      .clk(clk), .rst(rst), .initiator(1'b0),
      .queue_nonempty(queue_nonempty_b), .transmitting(transmitting_b), .receiving(receiving_b),
      .message_in(heard_b), .message_out(sent_b),
      .tx_enable(tx_enable_b), .power_state(link_b), .sync_error(error_b)
  );

  // What is under way, oldest first, and the ages, newest first.
  wire         full_ab, full_ba;
  wire [8:0]   ab, ba;
  wire [W-1:0] ab0, ab1, ab2, ba0, ba1, ba2;
  wire         flow_ab, flow_ba;

  pair_link #(.W(W)) u_ab (
      .clk(clk), .rst(rst), .delay(delay), .sent(sent_a), .heard(heard_b),
      .messages(ab), .age0(ab0), .age1(ab1), .age2(ab2), .orderly(flow_ab), .full(full_ab)
  );
  pair_link #(.W(W)) u_ba (
      .clk(clk), .rst(rst), .delay(delay), .sent(sent_b), .heard(heard_a),
      .messages(ba), .age0(ba0), .age1(ba1), .age2(ba2), .orderly(flow_ba), .full(full_ba)
  );

  // Registers of the two ports and of their checkers; Yosys joins such wires with them.
  (* hierconn *) wire [2:0] \u_a.u_link_sync.state_q ;
  (* hierconn *) wire [2:0] \u_b.u_link_sync.state_q ;
  (* hierconn *) wire [COUNT_BITS-1:0] \u_a.u_link_sync.count_q ;
  (* hierconn *) wire [COUNT_BITS-1:0] \u_b.u_link_sync.count_q ;
  (* hierconn *) wire \u_a.u_link_sync.rise_q ;
  (* hierconn *) wire \u_b.u_link_sync.rise_q ;
  (* hierconn *) wire \u_a.u_link_sync.unheard_q ;
  (* hierconn *) wire \u_b.u_link_sync.unheard_q ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_a.u_lpi_fsm.cycles_q ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_b.u_lpi_fsm.cycles_q ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_a.u_lpi_fsm.u_checker.age_q ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_b.u_lpi_fsm.u_checker.age_q ;
  (* hierconn *) wire \u_a.u_lpi_fsm.deep_q ;  // there in hybrid only
  (* hierconn *) wire \u_b.u_lpi_fsm.deep_q ;
  (* hierconn *) wire [WAIT_BITS-1:0] \u_a.u_checker.waiting_q ;
  (* hierconn *) wire [WAIT_BITS-1:0] \u_b.u_checker.waiting_q ;
  (* hierconn *) wire \u_a.u_link_sync.cancelled_q ;
  (* hierconn *) wire \u_b.u_link_sync.cancelled_q ;
  (* hierconn *) wire \u_a.u_checker.timer_over ;  // there with BOUNDED only, as the next
  (* hierconn *) wire \u_b.u_checker.timer_over ;
  (* hierconn *) wire [REST_BITS-1:0] \u_a.u_checker.awake_cycles_q ;  // with a guard
  (* hierconn *) wire [REST_BITS-1:0] \u_b.u_checker.awake_cycles_q ;
  (* hierconn *) wire [REST_BITS-1:0] \u_a.u_checker.idle_cycles_q ;
  (* hierconn *) wire [REST_BITS-1:0] \u_b.u_checker.idle_cycles_q ;

  // With REGISTERS: what they say, and where the link goes on to.
  (* hierconn *) wire [1:0] \u_a.u_csr.sleep ;
  (* hierconn *) wire [1:0] \u_b.u_csr.sleep ;
  (* hierconn *) wire \u_a.u_csr.sleeps ;
  (* hierconn *) wire \u_b.u_csr.sleeps ;
  (* hierconn *) wire \u_a.u_csr.backstops ;
  (* hierconn *) wire \u_b.u_csr.backstops ;
  (* hierconn *) wire \u_a.u_lpi_fsm.goes_on_q ;
  (* hierconn *) wire \u_b.u_lpi_fsm.goes_on_q ;
  // With TIMED: the times of the link, less one.
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_a.u_csr.t_s_fast_wake ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_b.u_csr.t_s_fast_wake ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_a.u_csr.t_w_fast_wake ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_b.u_csr.t_w_fast_wake ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_a.u_csr.t_s_deep_sleep ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_b.u_csr.t_s_deep_sleep ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_a.u_csr.t_w_deep_sleep ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_b.u_csr.t_w_deep_sleep ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_a.u_csr.hold ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_b.u_csr.hold ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_a.u_csr.t_q ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_b.u_csr.t_q ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_a.u_csr.t_r ;
  (* hierconn *) wire [CYCLES_BITS-1:0] \u_b.u_csr.t_r ;
  (* hierconn *) wire [TIMEOUT_BITS-1:0] \u_a.u_csr.sync_timeout ;
  (* hierconn *) wire [TIMEOUT_BITS-1:0] \u_b.u_csr.sync_timeout ;

  wire [2:0]   a = \u_a.u_link_sync.state_q ;
  wire [2:0]   b = \u_b.u_link_sync.state_q ;
  wire [W-1:0] ca = \u_a.u_link_sync.count_q ;
  wire [W-1:0] cb = \u_b.u_link_sync.count_q ;

  pair_end #(
      .W(W), .START(START), .LONGEST_DOWN(LONGEST_DOWN), .LONGEST_UP(LONGEST_UP), .BOUNDED(BOUNDED),
      .TIMER(TIMER), .GUARD(GUARD)
  ) u_end_a (
      .clk(clk), .rst(rst), .delay(delay), .exchange(a), .count(ca), .link(link_a),
      .rise(\u_a.u_link_sync.rise_q ), .unheard(\u_a.u_link_sync.unheard_q ),
      .age({{(W-CYCLES_BITS){1'b0}}, \u_a.u_lpi_fsm.u_checker.age_q }),
      .waiting({{(W-WAIT_BITS){1'b0}}, \u_a.u_checker.waiting_q }),
      .error(error_a), .tx_enable(tx_enable_a), .queue_nonempty(queue_nonempty_a),
      .transmitting_wanted(transmitting_wanted_a), .transmitting(transmitting_a),
      .link_of_other(link_b), .rest(rest), .before(before), .asked(asked),
      .over(\u_a.u_checker.timer_over ), .cancelled(\u_a.u_link_sync.cancelled_q ),
      .idle({{(W-REST_BITS){1'b0}}, \u_a.u_checker.idle_cycles_q }),
      .awake({{(W-REST_BITS){1'b0}}, \u_a.u_checker.awake_cycles_q })
  );
  pair_end #(
      .W(W), .START(START), .LONGEST_DOWN(LONGEST_DOWN), .LONGEST_UP(LONGEST_UP), .BOUNDED(BOUNDED),
      .TIMER(TIMER), .GUARD(GUARD)
  ) u_end_b (
      .clk(clk), .rst(rst), .delay(delay), .exchange(b), .count(cb), .link(link_b),
      .rise(\u_b.u_link_sync.rise_q ), .unheard(\u_b.u_link_sync.unheard_q ),
      .age({{(W-CYCLES_BITS){1'b0}}, \u_b.u_lpi_fsm.u_checker.age_q }),
      .waiting({{(W-WAIT_BITS){1'b0}}, \u_b.u_checker.waiting_q }),
      .error(error_b), .tx_enable(tx_enable_b), .queue_nonempty(queue_nonempty_b),
      .transmitting_wanted(transmitting_wanted_b), .transmitting(transmitting_b),
      .link_of_other(link_a), .rest(rest), .before(before), .asked(asked),
      .over(\u_b.u_checker.timer_over ), .cancelled(\u_b.u_link_sync.cancelled_q ),
      .idle({{(W-REST_BITS){1'b0}}, \u_b.u_checker.idle_cycles_q }),
      .awake({{(W-REST_BITS){1'b0}}, \u_b.u_checker.awake_cycles_q })
  );

  // Clock cycles for which both ends have been idle while the link was awake.
  reg [W-1:0] rest;
  wire may_rest = !REGISTERS || (\u_a.u_csr.sleeps && \u_b.u_csr.sleeps
      && \u_a.u_csr.backstops && \u_b.u_csr.backstops );
  wire active_a = queue_nonempty_a || transmitting_a || receiving_a;
  wire active_b = queue_nonempty_b || transmitting_b || receiving_b;
  always @(posedge clk) begin
    rest <= rst || active_a || active_b || link_a != WAKE || !may_rest ? 0 : rest + 1;
  end
  // What has been rested before a timer that has expired in vain is repeated: START, or the
  // refusal of a request; before an end asks; and before the link leaves WAKE.
  wire [W-1:0] without_token = GUARD == 0 ? 0 : GUARD + delay + 3;
  wire [W-1:0] refused = 3 * delay + 4 > without_token ? 3 * delay + 4 : without_token;
  wire [W-1:0] before = refused > START ? refused : START;
  wire [W-1:0] repeated = before + TIMEOUT + 1;
  wire [W-1:0] asked = repeated > TIMER ? repeated : TIMER;
  wire [W-1:0] longest_rest = asked + 3 * delay + 3;

  initial assume (rst);

  // Software gives both ends the same sleep state and times in the same cycle, and a time-out within
  // which the other end answers (docs/reference/registers.md).
  always @(*) if (REGISTERS) assume (\u_a.u_csr.sleep == \u_b.u_csr.sleep );
  always @(*) if (TIMED) assume (
      \u_a.u_csr.t_s_fast_wake == \u_b.u_csr.t_s_fast_wake
      && \u_a.u_csr.t_w_fast_wake == \u_b.u_csr.t_w_fast_wake
      && \u_a.u_csr.t_s_deep_sleep == \u_b.u_csr.t_s_deep_sleep
      && \u_a.u_csr.t_w_deep_sleep == \u_b.u_csr.t_w_deep_sleep
      && \u_a.u_csr.hold == \u_b.u_csr.hold
      && \u_a.u_csr.t_q == \u_b.u_csr.t_q
      && \u_a.u_csr.t_r == \u_b.u_csr.t_r
      && \u_a.u_csr.sync_timeout == \u_b.u_csr.sync_timeout
      && \u_a.u_csr.sync_timeout >= 2 * delay);

  // A link whose two ends stay idle leaves WAKE within the time that `estimate` says.
  always @(*) if (!rst) sleeps_in_time: assert (!BOUNDED || rest <= longest_rest);

  wire [W-1:0] w = GUARD + 1 > 2 * delay + 2 ? GUARD + 1 : 2 * delay + 2;

  // A request is only refused or withdrawn by an end that is active, or was since the request, or
  // whose guard has no token.
  always @(*) if (!rst) refused_by_active: assert (!BOUNDED || link_a != WAKE || (
      (ab[8:6] != NACK || rest <= w + ab2) && (ba[8:6] != NACK || rest <= w + ba2)
   && (ab[5:3] != NACK || rest <= w + ab1) && (ba[5:3] != NACK || rest <= w + ba1)
   && (ab[2:0] != NACK || rest <= w + ab0) && (ba[2:0] != NACK || rest <= w + ba0)));

  // Both ends are in the same state in every cycle, and leave it in the same cycle.
  always @(*) if (!rst) same_state: assert (link_a == link_b);

  // The times that are left are the same.
  always @(*) if (!rst) same_time: assert (
      \u_a.u_lpi_fsm.cycles_q == \u_b.u_lpi_fsm.cycles_q
      && \u_a.u_link_sync.rise_q == \u_b.u_link_sync.rise_q );

  // Hybrid: and both know which sleep state is meant.
  always @(*) if (!rst) same_sleep: assert (
      !HYBRID || (\u_a.u_lpi_fsm.deep_q == \u_b.u_lpi_fsm.deep_q
      && (!REGISTERS || \u_a.u_lpi_fsm.goes_on_q == \u_b.u_lpi_fsm.goes_on_q )));

  // Hybrid: only A asks to go from fast wake to deep sleep.
  always @(*) if (!rst) one_deepens: assert (
      link_a == WAKE || (a != AWAIT_DOWN && b != ASK_DOWN && b != SYNC_DOWN
      && ba[8:6] != REQ_DOWN && ba[5:3] != REQ_DOWN && ba[2:0] != REQ_DOWN));

  // The delay is one that is asked for.
  always @(*) if (!rst) legal_delay: assert (delay <= LONGEST_DELAY);

  // No more messages are under way than there is room for, in the order in which they left.
  always @(*) if (!rst) orderly: assert (flow_ab && flow_ba && !full_ab && !full_ba);

  // Where A's exchange stands says where B's may stand and what may be under way: the messages
  // from A to B and from B to A, oldest first, and what the counters have to do with the ages.
  localparam [8:0] EMPTY = {NONE, NONE, NONE};
  wire [W-1:0] back = delay + 1;  // a request on its way, and the cycle that its answer takes

  // Both start at once, ask, accept, and send SYNC.
  always @(*) if (!rst) when_start: assert (a != IN_START || (b == IN_START && ca == cb && (
      (ab == EMPTY && ba == EMPTY && (ca == 0 || ca > 3 * delay + 3))
   || (ab == {NONE, NONE, REQ_UP} && ba == ab && ab0 == ba0 && ca == ab0 + 1)
   || (ab == {NONE, NONE, ACK} && ba == ab && ab0 == ba0 && ca == ab0 + back + 1)
   || (ab == {NONE, NONE, SYNC} && ba == ab && ab0 == ba0 && ca == ab0 + 2 * back + 1))));

  // A is idle: B may be too, ask, or wait for a SYNC that A withdraws.
  always @(*) if (!rst) when_idle: assert (a != IDLE
   || (b == IDLE && ab == EMPTY && ba == EMPTY)
   || (b == ASK_DOWN && ab == EMPTY && ba == {NONE, NONE, REQ_DOWN} && cb == ba0)
   || (b == ASK_DOWN && ab == {NONE, NONE, NACK} && ba == EMPTY && cb == ab0 + back)
   || (b == AWAIT_DOWN && ab == {NONE, NONE, NACK} && ba == EMPTY && cb == ab0 + back)
   || (b == ASK_UP && ab == EMPTY && ba == {NONE, NONE, REQ_UP} && cb == ba0));

  // A asks to go down: B has not heard it; has answered; asks too; waits for the SYNC of an
  // earlier request, which is withdrawn.
  always @(*) if (!rst) when_ask_down: assert (a != ASK_DOWN
   || (b == IDLE && ab == {NONE, NONE, REQ_DOWN} && ba == EMPTY && ca == ab0)
   || (b == IDLE && ab == EMPTY && ba == {NONE, NONE, NACK} && ca == ba0 + back && link_a == WAKE)
   || (b == IDLE && ab == EMPTY && ba == {NONE, REQ_DOWN, NACK} && ca == ba0 + back)
   || (b == AWAIT_DOWN && ab == EMPTY && ba == {NONE, NONE, ACK} && ca == ba0 + back && cb == ba0)
   || (b == AWAIT_DOWN && ab == EMPTY && ba == {NONE, REQ_DOWN, ACK} && ca == ba0 + back
       && cb == ba0)
   || (b == AWAIT_DOWN && ab == {NONE, NACK, REQ_DOWN} && ba == EMPTY && ca == ab0
       && cb == ab1 + back)
   || (b == ASK_DOWN && ab == {NONE, NONE, REQ_DOWN} && ba == {NONE, NONE, REQ_DOWN} && ca == ab0
       && cb == ba0)
   || (b == ASK_DOWN && ab == {NONE, NONE, REQ_DOWN} && ba == EMPTY && ca == ab0
       && cb <= ab0 + delay)
   || (b == ASK_DOWN && ab == {NONE, NACK, REQ_DOWN} && ba == EMPTY && ca == ab0
       && cb == ab1 + back)
   || (b == ASK_DOWN && ab == EMPTY && ba == {NONE, NACK, REQ_DOWN} && ca == ba1 + back
       && cb == ba0)
   || (b == ASK_DOWN && ab == EMPTY && ba == {REQ_DOWN, NACK, REQ_DOWN} && ca == ba1 + back
       && cb == ba0)
   || (b == ASK_UP && ab == {NONE, NONE, REQ_DOWN} && ba == {NONE, NONE, REQ_UP} && ca == ab0
       && cb == ba0)
   || (b == ASK_UP && ab == EMPTY && ba == {NONE, NONE, REQ_UP} && ca == ba0 + back && cb == ba0)
   || (b == ASK_UP && ab == EMPTY && ba == {NONE, REQ_UP, NACK} && ca == ba0 + back && cb == ba1));

  // A has sent SYNC: what is left of the delay for it is left for A too.
  always @(*) if (!rst) when_sync_down: assert (a != SYNC_DOWN
   || (b == AWAIT_DOWN && ab == {NONE, NONE, SYNC} && ba == EMPTY && ca + ab0 == delay
       && cb == ab0 + back));

  // A has accepted: B has not heard it, has sent SYNC, or has withdrawn and perhaps asks again.
  always @(*) if (!rst) when_await_down: assert (a != AWAIT_DOWN
   || (b == ASK_DOWN && ab == {NONE, NONE, ACK} && ba == EMPTY && ca == ab0 && cb == ab0 + back)
   || (b == SYNC_DOWN && ab == EMPTY && ba == {NONE, NONE, SYNC} && ca == ba0 + back
       && cb + ba0 == delay)
   || (b == IDLE && ab == EMPTY && ba == {NONE, NONE, NACK} && ca == ba0 + back)
   || (b == ASK_DOWN && ab == EMPTY && ba == {NONE, NACK, REQ_DOWN} && ca == ba1 + back
       && cb == ba0));

  // A asks to go up: as above; of two that ask, A goes on.
  always @(*) if (!rst) when_ask_up: assert (a != ASK_UP
   || (b == IDLE && ab == {NONE, NONE, REQ_UP} && ba == EMPTY && ca == ab0)
   || (b == AWAIT_DOWN && ab == {NONE, NACK, REQ_UP} && ba == EMPTY && ca == ab0
       && cb == ab1 + back)
   || (b == AWAIT_UP && ab == EMPTY && ba == {NONE, NONE, ACK} && ca == ba0 + back && cb == ba0)
   || (b == AWAIT_UP && ab == EMPTY && ba == {NONE, REQ_UP, ACK} && ca == ba0 + back && cb == ba0)
   || (b == AWAIT_UP && ab == {NONE, NONE, ACK} && ba == {NONE, NONE, ACK} && ca == ba0 + back
       && cb == ba0)
   || (b == ASK_UP && ab == {NONE, NONE, REQ_UP} && ba == {NONE, NONE, REQ_UP} && ca == ab0
       && cb == ba0)
   || (b == ASK_UP && ab == {NONE, REQ_UP, ACK} && ba == EMPTY && ca == ab1 && cb == ab0 + back));

  // As for going down; the ACK to a crossing request of B may still be before the SYNC.
  always @(*) if (!rst) when_sync_up: assert (a != SYNC_UP
   || (b == AWAIT_UP && (ab == {NONE, NONE, SYNC} || ab == {NONE, ACK, SYNC}) && ba == EMPTY
       && ca + ab0 == delay && cb == ab0 + back));

  // A goes up with B: an earlier REQ_DOWN of A may still be under way, or its answer.
  always @(*) if (!rst) when_await_up: assert (a != AWAIT_UP
   || (b == ASK_UP && (ab == {NONE, NONE, ACK} || ab == {NONE, REQ_DOWN, ACK}) && ba == EMPTY
       && ca == ab0 && cb == ab0 + back)
   || (b == ASK_UP && ab == {NONE, NONE, ACK} && ba == {NONE, NONE, NACK} && ca == ab0
       && cb == ab0 + back)
   || (b == SYNC_UP && ab == EMPTY && (ba == {NONE, NONE, SYNC} || ba == {NONE, NACK, SYNC})
       && ca == ba0 + back && cb + ba0 == delay));

endmodule

// One direction of the link: what is sent in one cycle is heard `delay` cycles later.
module pair_link #(
    parameter W = 1
) (
    input  wire         clk,
    input  wire         rst,
    input  wire [W-1:0] delay,
    input  wire [2:0]   sent,
    output wire [2:0]   heard,
    output wire [8:0]   messages,          // under way, oldest first, with what is just sent
    output wire [W-1:0] age0, age1, age2,  // clock cycles since they left, newest first
    output wire         orderly,           // their ages are those of messages under way
    output wire         full               // what is under way does not fit
);

  // Newest first; a message that was just sent is not yet among them.
  reg [2:0]   code0, code1, code2;
  reg [W-1:0] old0, old1, old2;
  wire arrives0 = code0 != 0 && old0 == delay;
  wire arrives1 = code1 != 0 && old1 == delay;
  wire arrives2 = code2 != 0 && old2 == delay;
  wire leaves = sent != 0 && delay != 0;
  assign heard = delay == 0 ? sent : arrives2 ? code2 : arrives1 ? code1 : arrives0 ? code0 : 3'd0;

  wire [2:0] stays0 = arrives0 ? 3'd0 : code0;
  wire [2:0] stays1 = arrives1 ? 3'd0 : code1;
  wire [2:0] stays2 = arrives2 ? 3'd0 : code2;
  always @(posedge clk) begin
    if (rst) begin
      code0 <= 3'd0;
      code1 <= 3'd0;
      code2 <= 3'd0;
    end else if (leaves) begin
      code0 <= sent;
      code1 <= stays0;
      code2 <= stays1;
    end else begin
      code0 <= stays0;
      code1 <= stays1;
      code2 <= stays2;
    end
    old0 <= leaves ? 1 : old0 + 1;
    old1 <= (leaves ? old0 : old1) + 1;
    old2 <= (leaves ? old1 : old2) + 1;
  end

  assign messages = sent != 0 ? {code1, code0, sent} : {code2, code1, code0};
  assign age0 = sent != 0 ? 0 : old0;
  assign age1 = sent != 0 ? old0 : old1;
  assign age2 = sent != 0 ? old1 : old2;
  assign full = code2 != 0 && sent != 0;
  assign orderly = (code0 == 0 || (old0 != 0 && old0 <= delay))
                && (code1 == 0 || (code0 != 0 && old1 > old0 && old1 <= delay))
                && (code2 == 0 || (code1 != 0 && old2 > old1 && old2 <= delay));

endmodule

// One end: its packets, and the claims about it.
module pair_end #(
    parameter W = 1,
    parameter START = 0,
    parameter LONGEST_DOWN = 0,
    parameter LONGEST_UP = 0,
    parameter BOUNDED = 0,
    parameter TIMER = 0,
    parameter GUARD = 0
) (
    input  wire         clk,
    input  wire         rst,
    input  wire [W-1:0] delay,
    input  wire [2:0]   exchange,
    input  wire [W-1:0] count,
    input  wire [2:0]   link,
    input  wire         rise,
    input  wire [W-1:0] age,
    input  wire [W-1:0] waiting,
    input  wire         unheard,
    input  wire         error,
    input  wire         tx_enable,
    input  wire         queue_nonempty,
    input  wire         transmitting_wanted,
    output wire         transmitting,
    input  wire [2:0]   link_of_other,
    input  wire [W-1:0] rest,
    input  wire [W-1:0] before,
    input  wire [W-1:0] asked,
    input  wire         over,
    input  wire         cancelled,
    input  wire [W-1:0] idle,
    input  wire [W-1:0] awake
);

  localparam [2:0] IN_START = 3'd0;
  localparam [2:0] IDLE = 3'd1;
  localparam [2:0] ASK_DOWN = 3'd2;
  localparam [2:0] SYNC_DOWN = 3'd3;
  localparam [2:0] AWAIT_DOWN = 3'd4;
  localparam [2:0] ASK_UP = 3'd5;
  localparam [2:0] SYNC_UP = 3'd6;
  localparam [2:0] AWAIT_UP = 3'd7;
  localparam [2:0] WAKE = 3'd0;
  localparam [2:0] GOING_DOWN = 3'd1;
  localparam [2:0] GOING_UP = 3'd5;

  // A packet begins while transmission is enabled, or one cycle later if it was waiting; it
  // may last as long as it likes.
  reg goes_on;
  assign transmitting = transmitting_wanted && (tx_enable || goes_on);
  // Clock cycles since the last one with data, as far as it matters.
  reg [W-1:0] silent;
  always @(posedge clk) begin
    if (rst) begin
      goes_on <= 1'b0;
      silent <= {W{1'b1}};
    end else begin
      goes_on <= transmitting || (tx_enable && queue_nonempty);
      silent <= transmitting ? 1 : &silent ? silent : silent + 1;
    end
  end
  wire data_under_way = transmitting || silent <= delay;

  wire to_wake = link != WAKE && link != GOING_UP && !rise;
  wire [W-1:0] w = 2 * delay + 2;  // longest wait for a message
  wire [W-1:0] rise_wait = w + (2 * w + 1 > LONGEST_DOWN ? 2 * w + 1 : LONGEST_DOWN);
  wire [W-1:0] longest = rise_wait + LONGEST_UP;

  // As long as data is under way to the other end, that end is awake.
  always @(*) if (!rst) data_meets_awake: assert (!data_under_way || link_of_other == WAKE);

  // Before the link leaves its state for a deeper one, the data has arrived.
  always @(*) if (!rst) silence_first: assert (silent != 0 &&
      (exchange != SYNC_DOWN || (!goes_on && silent > delay + 1 - count))
   && (exchange != AWAIT_DOWN || (!goes_on && silent > count + 1))
   && (link == WAKE || (!goes_on && silent > delay)));

  // No time-out ever fires: the other end answers in time.
  always @(*) if (!rst) no_error: assert (!error);

  // The other end has been heard since the first answer could arrive.
  always @(*) if (!rst) heard_once: assert (
      !unheard || (exchange == IN_START && count <= 2 * delay + 2));

  // A packet never waits longer than `estimate` says for a link of this delay.
  always @(*) if (!rst) wait_bounded: assert (waiting <= (longest > START ? longest : START));

  // What a packet has waited for is the exchange under way, and those before.
  always @(*) if (!rst) wait_in_exchange: assert (
      (exchange != IN_START || waiting <= count)
   && (exchange != IDLE || !to_wake || waiting <= w)
   && (exchange != ASK_DOWN || !to_wake || waiting <= count)
   && (exchange != SYNC_DOWN || waiting <= delay - count)
   && (exchange != AWAIT_DOWN || waiting <= count)
   && (exchange != ASK_UP || waiting <= w + 1 + count)
   && (exchange != SYNC_UP || waiting <= 2 * w + 1 + delay - count)
   && (exchange != AWAIT_UP || !to_wake || waiting <= 2 * w + 1 + count));

  // A rest of both ends is no longer than the idle time of this one.
  always @(*) if (!rst) rest_is_idle: assert (!BOUNDED || rest <= idle || idle == TIMER);

  // Nor than the time for which its link has been awake.
  always @(*) if (!rst) rest_is_awake: assert (
      !BOUNDED || GUARD == 0 || rest <= awake || awake >= GUARD);

  // What both ends have rested is the wait under way, and those before.
  always @(*) if (!rst) rest_in_exchange: assert (!BOUNDED || link != WAKE || (
      (exchange != IN_START || rest <= count)
   && (exchange != IDLE || !over || rest <= before + count)
   && (exchange != ASK_DOWN || rest <= count + (cancelled ? 0 : asked))
   && (exchange != SYNC_DOWN || rest <= asked + w + delay - count)));

  // What a packet has waited for is the transition under way, and what led to it.
  always @(*) if (!rst) wait_in_transition: assert (
      (link != GOING_DOWN || waiting <= w + age)
   && (link != GOING_UP || waiting <= rise_wait + age));

endmodule

`default_nettype wire
