// pair_faults
//
// Two port controllers joined by a link that may lose any message, each with a reset of its own,
// for `linkdoze verify` (docs/evidence/proofs.md). The times of the ports are short, so that all states
// can be searched: every claim here is decided without a bound on time. Packets are arbitrary, and
// so is what the timers and guards of the ports say. The prover sets the parameters.
//
// `broken_X` is 1 where the claim X does not hold. `reached_X` is 1 where the situation X has come
// about, which has to be possible: claims about what never happens would say nothing.

`default_nettype none

module pair_faults #(
    parameter LONGEST_DELAY = 1,  // of the link, in clock cycles: 0 to 2
    parameter TIMEOUT = 3,        // clock cycles after which a silent end is given up
    parameter START = 1,          // clock cycles of EXCHANGE_START
    parameter LONGEST_WAIT = 1,   // clock cycles that a packet waits, whatever the other end does
    parameter RESET = 3,          // clock cycles that a reset lasts at least
    parameter SLEEP = 3,          // the state that both ends sleep in at last
    parameter W = 6               // width of counters, which stop at their largest value
) (
    input wire       clk,
    input wire       reset_wanted_a,
    input wire       reset_wanted_b,
    input wire       lose_ab,         // what A sends in this cycle is lost
    input wire       lose_ba,
    input wire [1:0] delay_wanted,
    input wire       queue_nonempty_a,
    input wire       queue_nonempty_b,
    input wire       transmitting_wanted_a,
    input wire       transmitting_wanted_b,
    input wire       receiving_a,
    input wire       receiving_b
);

  localparam [2:0] NONE = 3'd0;
  localparam [2:0] IN_START = 3'd0;
  localparam [2:0] IDLE = 3'd1;
  localparam [2:0] WAKE = 3'd0;
  localparam [2:0] GOING_DOWN = 3'd1;
  localparam [2:0] GOING_UP = 3'd5;

  // Both ends are reset in the first cycle. The delay of the link is any, and stays.
  reg started = 1'b0;
  reg [1:0] delay;
  always @(posedge clk) begin
    started <= 1'b1;
    if (!started) begin
      delay <= delay_wanted > LONGEST_DELAY ? LONGEST_DELAY : delay_wanted;
    end
  end

  wire rst_a, rst_b;
  fault_reset #(.RESET(RESET)) u_reset_a (
      .clk(clk), .started(started), .wanted(reset_wanted_a), .rst(rst_a)
  );
  fault_reset #(.RESET(RESET)) u_reset_b (
      .clk(clk), .started(started), .wanted(reset_wanted_b), .rst(rst_b)
  );

  wire       tx_enable_a, tx_enable_b;
  wire [2:0] link_a, link_b;
  wire [2:0] sent_a, sent_b;
  wire [2:0] heard_a, heard_b;
  wire       error_a, error_b;
  wire       transmitting_a, transmitting_b;

  port u_a (
      .clk(clk), .rst(rst_a), .initiator(1'b1),
      .queue_nonempty(queue_nonempty_a), .transmitting(transmitting_a), .receiving(receiving_a),
      .message_in(heard_a), .message_out(sent_a),
      .tx_enable(tx_enable_a), .power_state(link_a), .sync_error(error_a)
  );
  port u_b (
      .clk(clk), .rst(rst_b), .initiator(1'b0),
      .queue_nonempty(queue_nonempty_b), .transmitting(transmitting_b), .receiving(receiving_b),
      .message_in(heard_b), .message_out(sent_b),
      .tx_enable(tx_enable_b), .power_state(link_b), .sync_error(error_b)
  );

  wire empty_ab, empty_ba;
  fault_link u_ab (
      .clk(clk), .delay(delay), .sent(!started || lose_ab ? NONE : sent_a), .heard(heard_b),
      .empty(empty_ab)
  );
  fault_link u_ba (
      .clk(clk), .delay(delay), .sent(!started || lose_ba ? NONE : sent_b), .heard(heard_a),
      .empty(empty_ba)
  );

  // Signals of the two ports; Yosys joins such wires with them.
  (* hierconn *) wire [2:0] \u_a.u_link_sync.state_q ;
  (* hierconn *) wire [2:0] \u_b.u_link_sync.state_q ;
  (* hierconn *) wire \u_a.u_link_sync.rise_q ;
  (* hierconn *) wire \u_b.u_link_sync.rise_q ;
  (* hierconn *) wire \u_a.u_link_sync.fails ;
  (* hierconn *) wire \u_b.u_link_sync.fails ;
  (* hierconn *) wire \u_a.u_link_sync.overdue ;
  (* hierconn *) wire \u_b.u_link_sync.overdue ;
  (* hierconn *) wire \u_a.u_link_sync.permitted ;
  (* hierconn *) wire \u_b.u_link_sync.permitted ;

  wire [2:0] a = \u_a.u_link_sync.state_q ;
  wire [2:0] b = \u_b.u_link_sync.state_q ;
  wire to_a, to_b;  // data of the other end arrives

  fault_end #(.TIMEOUT(TIMEOUT), .START(START), .LONGEST_WAIT(LONGEST_WAIT), .W(W)) u_end_a (
      .clk(clk), .rst(rst_a), .started(started), .delay(delay), .exchange(a), .link(link_a),
      .rise(\u_a.u_link_sync.rise_q ), .fails(\u_a.u_link_sync.fails ), .error(error_a),
      .heard(heard_a), .tx_enable(tx_enable_a), .queue_nonempty(queue_nonempty_a),
      .transmitting_wanted(transmitting_wanted_a), .transmitting(transmitting_a), .arriving(to_b)
  );
  fault_end #(.TIMEOUT(TIMEOUT), .START(START), .LONGEST_WAIT(LONGEST_WAIT), .W(W)) u_end_b (
      .clk(clk), .rst(rst_b), .started(started), .delay(delay), .exchange(b), .link(link_b),
      .rise(\u_b.u_link_sync.rise_q ), .fails(\u_b.u_link_sync.fails ), .error(error_b),
      .heard(heard_b), .tx_enable(tx_enable_b), .queue_nonempty(queue_nonempty_b),
      .transmitting_wanted(transmitting_wanted_b), .transmitting(transmitting_b), .arriving(to_a)
  );

  // Faults until now: a message was lost, and no end has been through START without a loss since;
  // an end was reset after power-up.
  wire loses = started && ((lose_ab && sent_a != NONE) || (lose_ba && sent_b != NONE));
  wire resets = started && (rst_a || rst_b);
  reg lost, lost_a, lost_b, reset_again, running, started_a, started_b;
  wire renewed = (started_a && a != IN_START && !lost_a) || (started_b && b != IN_START && !lost_b);
  always @(posedge clk) begin
    started_a <= a == IN_START && !rst_a;
    started_b <= b == IN_START && !rst_b;
    lost_a <= started && (loses || (lost_a && !rst_a));
    lost_b <= started && (loses || (lost_b && !rst_b));
    lost <= started && (loses || (lost && !renewed));
    running <= started && (running || !resets);
    reset_again <= started && (reset_again || rst_a != rst_b || (running && resets));
  end

  wire told = error_a || error_b;
  wire misses = started && ((to_b && link_b != WAKE) || (to_a && link_a != WAKE));

  // Nothing is under way: no exchange, no message, no transition.
  wire quiet = a == IDLE && b == IDLE && sent_a == NONE && sent_b == NONE && empty_ab && empty_ba
      && link_a != GOING_DOWN && link_a != GOING_UP && link_b != GOING_DOWN && link_b != GOING_UP
      && !\u_a.u_link_sync.rise_q && !\u_b.u_link_sync.rise_q ;

  // Clock cycles for which both ends have been idle in an awake link, with their timers expired
  // and their guards content, since the last fault.
  reg [W-1:0] rest;
  wire rests_a = !queue_nonempty_a && !transmitting_a && !receiving_a
      && \u_a.u_link_sync.overdue && \u_a.u_link_sync.permitted ;
  wire rests_b = !queue_nonempty_b && !transmitting_b && !receiving_b
      && \u_b.u_link_sync.overdue && \u_b.u_link_sync.permitted ;
  wire rests = rests_a && rests_b && link_a == WAKE && link_b == WAKE;
  always @(posedge clk) begin
    rest <= !started || loses || resets || !rests ? 0 : &rest ? rest : rest + 1;
  end
  wire [W-1:0] refused = 3 * delay + 4;
  wire [W-1:0] before = refused > START ? refused : START;
  wire [W-1:0] longest_rest = before + TIMEOUT + 1 + 4 * delay + 3;

  // The ends have met since the last fault: both awake, without an exchange or a message under way.
  reg met;
  wire meet = quiet && link_a == WAKE && link_b == WAKE;
  always @(posedge clk) met <= started && !loses && !resets && (met || meet);

  // Claims of *resets* hold while nothing is lost; and after a loss, once an end has been reset and
  // nothing was lost until its START was over.

  // Resets: both ends are in the same state in every cycle, except while one of them is in START.
  wire broken_same_state = started && !lost && a != IN_START && b != IN_START && link_a != link_b;

  // Resets: as long as data is under way, the end that it goes to is awake.
  wire broken_data_meets_awake = !lost && misses;

  // Resets: a link whose two ends stay idle goes to sleep in time once their timers have expired.
  wire broken_sleeps_in_time = !lost && rest > longest_rest;

  // Lost messages, no reset: where the ends are in different states and nothing is under way,
  // `sync_error` is up at one of them.
  wire broken_difference_told = started && !reset_again && !told && quiet && link_a != link_b;

  // Lost messages, no reset: where a link whose two ends stay idle does not go to sleep in time,
  // `sync_error` is up at one of them.
  wire broken_wakefulness_told = !reset_again && !told && rest > longest_rest;

  // Lost messages and resets: once both ends have been awake after the last fault, with nothing
  // under way, they are in the same state in every cycle, and data meets an end that is awake.
  wire broken_agree_again = met && (link_a != link_b || misses);

  // Both ends sleep.
  wire reached_asleep = started && link_a == SLEEP && link_b == SLEEP;

  // Data arrives at an end that is awake, while the other end awaits an answer.
  wire reached_data = started && to_b && link_b == WAKE && b != IDLE && b != IN_START;

  // An end is in START while the other one sleeps.
  wire reached_reset_asleep = started && a == IN_START && link_b == SLEEP;

  // A message was lost, and both ends have given up.
  wire reached_loss_told = !reset_again && error_a && error_b;

  // After a lost message one end sleeps alone; the other one has given up.
  wire reached_asleep_alone = !reset_again && quiet && link_a == SLEEP && link_b == WAKE && error_b;

  // The ends met after a fault, and sleep.
  wire reached_asleep_again = met && told && link_a == SLEEP && link_b == SLEEP;

endmodule

// A reset of one end, whenever it is wanted; it lasts for RESET cycles at least.
module fault_reset #(
    parameter RESET = 1
) (
    input  wire clk,
    input  wire started,
    input  wire wanted,
    output wire rst
);
  reg [3:0] left;
  reg       before;
  assign rst = !started || wanted || left != 0;
  always @(posedge clk) begin
    before <= rst;
    left <= rst && !before ? RESET - 1 : left != 0 ? left - 1 : 0;
  end
endmodule

// One direction of the link: what is sent in one cycle is heard `delay` cycles later.
module fault_link (
    input  wire       clk,
    input  wire [1:0] delay,
    input  wire [2:0] sent,
    output wire [2:0] heard,
    output wire       empty
);
  reg [2:0] first, second;
  always @(posedge clk) begin
    first <= sent;
    second <= first;
  end
  assign heard = delay == 0 ? sent : delay == 1 ? first : second;
  assign empty = (delay == 0 || first == 0) && (delay != 2 || second == 0);
endmodule

// One end: its packets, and the claims about it.
module fault_end #(
    parameter TIMEOUT = 1,
    parameter START = 1,
    parameter LONGEST_WAIT = 1,
    parameter W = 1
) (
    input  wire       clk,
    input  wire       rst,
    input  wire       started,
    input  wire [1:0] delay,
    input  wire [2:0] exchange,
    input  wire [2:0] link,
    input  wire       rise,
    input  wire       fails,
    input  wire       error,
    input  wire [2:0] heard,
    input  wire       tx_enable,
    input  wire       queue_nonempty,
    input  wire       transmitting_wanted,
    output wire       transmitting,
    output wire       arriving
);

  localparam [2:0] NONE = 3'd0;
  localparam [2:0] IN_START = 3'd0;
  localparam [2:0] IDLE = 3'd1;
  localparam [2:0] SYNC_DOWN = 3'd3;
  localparam [2:0] AWAIT_DOWN = 3'd4;
  localparam [2:0] WAKE = 3'd0;
  localparam [2:0] GOING_UP = 3'd5;

  // A packet begins while transmission is enabled, or one cycle later if it was waiting; it
  // may last as long as it likes, also beyond a reset of this controller.
  reg goes_on, sent1, sent2;
  assign transmitting = started && transmitting_wanted && (tx_enable || goes_on);
  assign arriving = transmitting || (delay != 0 && sent1) || (delay == 2 && sent2);

  reg [W-1:0] waiting;   // clock cycles that a packet has waited for
  reg [W-1:0] busy;      // clock cycles of an exchange that is under way
  reg [W-1:0] unheard;   // clock cycles of that in which nothing was heard
  reg [W-1:0] age;       // clock cycles since reset, if nothing was heard since
  reg         gave_up;
  always @(posedge clk) begin
    goes_on <= transmitting || (started && !rst && tx_enable && queue_nonempty);
    sent1 <= transmitting;
    sent2 <= sent1;
    waiting <= rst || !queue_nonempty || tx_enable ? 0 : &waiting ? waiting : waiting + 1;
    busy <= rst || exchange == IN_START || exchange == IDLE ? 0 : &busy ? busy : busy + 1;
    unheard <= rst || exchange == IN_START || exchange == IDLE || heard != NONE ? 0
        : &unheard ? unheard : unheard + 1;
    age <= rst ? 1 : age == 0 || heard != NONE ? 0 : &age ? age : age + 1;
    gave_up <= started && !rst && fails;
  end

  // Whatever is lost or reset: nothing is transmitted unless the link is awake.
  wire broken_sends_awake_only = transmitting && link != WAKE;

  // Whatever is lost or reset: no packet begins or goes on after the `ACK` or `SYNC` for going down.
  wire broken_commitment_kept = (exchange == SYNC_DOWN || exchange == AWAIT_DOWN) && transmitting;

  // Whatever is lost or reset: a packet never waits longer than `estimate` prints.
  wire broken_wait_bounded = waiting > LONGEST_WAIT;

  // Whatever is lost or reset: an exchange ends within three time-outs.
  wire broken_exchange_ends = busy > 3 * (TIMEOUT + 1);

  // An end that waits for a message and hears nothing gives up within a time-out.
  wire broken_silence_ends = unheard > TIMEOUT + 1;

  // An end that gives up says so, and is awake or on the way up, at the latest after its way down.
  wire broken_gives_up_awake = gave_up
      && !(error && exchange == IDLE && (link == WAKE || link == GOING_UP || rise));

  // An end that hears nothing after its reset says so at the end of START.
  wire broken_silence_told = age > START + 1 && !error;

endmodule

`default_nettype wire
