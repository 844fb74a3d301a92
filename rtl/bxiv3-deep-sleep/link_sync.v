// link_sync
//
// Agrees with the other end of the link when to go down and up, so that both
// start in the same clock cycle. The end that asks measures the round trip; once
// its request is accepted it sends SYNC, waits for half a round trip and starts;
// the other end starts when SYNC arrives. Every request is answered in the cycle
// after it came, every wait ends by a time-out, and whoever gives up comes awake.
//
// Instances: port.link_sync
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: ab2ac361881000537561263568972299b56920643739be3326eec91869cba9bf

`default_nettype none

module link_sync (
    input  wire       clk,             // clock
    input  wire       rst,             // synchronous reset
    input  wire       initiator,       // of two requests that cross, this end's goes on
    input  wire [2:0] message_in,      // message from the other end
    input  wire       queue_nonempty,  // the output queue holds a packet
    input  wire       transmitting,    // a packet is leaving over the link
    input  wire       active,          // the port is active
    input  wire       awake,           // the link is awake
    input  wire       asleep,          // the link sleeps or is on the way down
    input  wire       may_go_down,     // the link is in a state with a way down
    input  wire       wants_down,      // this end would like to go down
    input  wire       overdue,         // it has wanted that before, and nothing has happened since
    input  wire       permitted,       // the guard permits to go down
    output reg        down_start,      // go down at the end of this cycle
    output wire       up_start,        // go up at the end of this cycle
    output wire       tx_enable,       // the port may start a packet
    output wire [2:0] message_out,     // message to the other end
    output wire       sync_error,      // the other end once did not answer in time
    output wire       fails            // it has not, in this cycle
);

  // States: Exchange
  localparam [2:0] EXCHANGE_START = 3'd0;       // just reset: nothing is sent until both ends are surely awake
  localparam [2:0] EXCHANGE_IDLE = 3'd1;        // no exchange under way
  localparam [2:0] EXCHANGE_ASK_DOWN = 3'd2;    // REQ_DOWN sent, no answer yet
  localparam [2:0] EXCHANGE_SYNC_DOWN = 3'd3;   // SYNC sent: down in half a round trip
  localparam [2:0] EXCHANGE_AWAIT_DOWN = 3'd4;  // REQ_DOWN accepted: down when SYNC comes
  localparam [2:0] EXCHANGE_ASK_UP = 3'd5;      // REQ_UP sent, no answer yet
  localparam [2:0] EXCHANGE_SYNC_UP = 3'd6;     // SYNC sent: up in half a round trip
  localparam [2:0] EXCHANGE_AWAIT_UP = 3'd7;    // REQ_UP accepted: up when SYNC comes

  localparam [2:0] NONE = 3'd0;              // no message
  localparam [2:0] REQ_DOWN = 3'd1;          // asks to go down
  localparam [2:0] REQ_UP = 3'd2;            // asks to go up
  localparam [2:0] ACK = 3'd3;               // accepts
  localparam [2:0] NACK = 3'd4;              // refuses; from the end that asked: withdraws
  localparam [2:0] SYNC = 3'd5;              // start now; the sender starts in half a round trip
  localparam [14:0] TIMEOUT = 15'd10000;     // longest wait for a message
  localparam [14:0] START_LAST = 15'd16482;  // last cycle of START: by now the other end has answered and is awake
  localparam [14:0] ONE = 15'd1;             // one bit

  reg   [2:0] state_q;        // where the exchange stands
  reg   [2:0] state_d;
  reg  [14:0] count_q;        // clock cycles in this state; SYNC_*: still to wait; IDLE: overdue
  reg  [14:0] count_d;
  reg         cancelled_q;    // there was activity after REQ_DOWN
  reg         cancelled_d;
  reg         rise_q;         // agreed to go up as soon as the transition down is over
  wire        rise_d;
  reg         unheard_q;      // the other end did not answer the last time
  reg         unheard_d;
  reg   [2:0] message_q;      // message to the other end, for one cycle
  reg   [2:0] message_d;
  reg         error_q;        // the other end once did not answer in time
  reg         error_d;
  wire        is_req_down;    // REQ_DOWN arrives
  wire        is_req_up;      // REQ_UP arrives
  wire        is_ack;         // ACK arrives
  wire        is_nack;        // NACK arrives
  wire        is_sync;        // SYNC arrives
  wire        wants_up;       // a packet waits on a link that is going to stay asleep
  wire        refuses;        // this end does not accept a REQ_DOWN
  wire        timed_out;      // the wait for a message ends with this cycle
  wire        asks_down;      // time to ask to go down, or to ask again
  reg         gives_up;       // the wait ends, and the message has not come
  reg         stays_unheard;  // no answer has come since reset
  reg         up_now;         // the agreed time of the start up, or no more waiting for it
  wire [14:0] half;           // half a round trip

  assign is_req_down = message_in == REQ_DOWN;
  assign is_req_up = message_in == REQ_UP;
  assign is_ack = message_in == ACK;
  assign is_nack = message_in == NACK;
  assign is_sync = message_in == SYNC;
  assign wants_up = asleep & queue_nonempty & ~rise_q;
  assign refuses = queue_nonempty | transmitting | ~may_go_down | ~permitted;
  assign timed_out = count_q == TIMEOUT;

  // An end that stays idle in an awake link asks again after each time-out.
  assign asks_down = wants_down | (overdue & timed_out);

  // The answer came one cycle after the request: count is the round trip and one.
  assign half = count_q >> ONE;

  always @(*) begin
    state_d = state_q;
    cancelled_d = cancelled_q;
    unheard_d = unheard_q;
    gives_up = 1'b0;
    stays_unheard = 1'b0;
    down_start = 1'b0;
    up_now = 1'b0;
    message_d = NONE;
    count_d = count_q + 15'd1;
    if (is_sync) begin
      unheard_d = 1'b0;
    end
    case (state_q)
      EXCHANGE_IDLE: begin
        count_d = 15'd0;
        cancelled_d = 1'b0;
        // A request of one's own to wake also answers a REQ_DOWN.
        if (is_req_up) begin
          message_d = ACK;
          state_d = EXCHANGE_AWAIT_UP;
        end else if (wants_up) begin
          message_d = REQ_UP;
          state_d = EXCHANGE_ASK_UP;
        end else if (is_req_down) begin
          if (refuses) begin
            message_d = NACK;
          end else begin
            message_d = ACK;
            state_d = EXCHANGE_AWAIT_DOWN;
          end
        end else if (~unheard_q) begin
          if (asks_down & permitted) begin
            message_d = REQ_DOWN;
            state_d = EXCHANGE_ASK_DOWN;
          end else if (overdue & ~timed_out) begin
            count_d = count_q + 15'd1;
          end
        end
      end
      EXCHANGE_ASK_DOWN: begin
        if (active) begin
          cancelled_d = 1'b1;
        end
        if (is_req_up) begin
          // The other end's wish to wake stands for its answer.
          message_d = ACK;
          count_d = 15'd0;
          state_d = EXCHANGE_AWAIT_UP;
        end else if (is_ack) begin
          if (active | cancelled_q) begin
            message_d = NACK;
            state_d = EXCHANGE_IDLE;
          end else begin
            message_d = SYNC;
            count_d = half;
            state_d = EXCHANGE_SYNC_DOWN;
          end
          unheard_d = 1'b0;
        end else if (is_nack) begin
          state_d = EXCHANGE_IDLE;
        end else if (is_req_down & ~initiator) begin
          // Both asked at once: the initiator goes on.
          count_d = 15'd0;
          if (refuses) begin
            message_d = NACK;
            state_d = EXCHANGE_IDLE;
          end else begin
            message_d = ACK;
            state_d = EXCHANGE_AWAIT_DOWN;
          end
        end else begin
          gives_up = timed_out;
        end
      end
      EXCHANGE_SYNC_DOWN: begin
        count_d = count_q - 15'd1;
        if (is_req_up) begin
          // Only an end that was reset asks now: it will not go down.
          message_d = ACK;
          count_d = 15'd0;
          state_d = EXCHANGE_AWAIT_UP;
        end else if (count_q == 15'd0) begin
          down_start = 1'b1;
          state_d = EXCHANGE_IDLE;
        end
      end
      EXCHANGE_AWAIT_DOWN: begin
        if (is_sync) begin
          down_start = 1'b1;
          state_d = EXCHANGE_IDLE;
        end else if (is_nack) begin
          state_d = EXCHANGE_IDLE;
        end else if (is_req_up) begin
          message_d = ACK;
          count_d = 15'd0;
          state_d = EXCHANGE_AWAIT_UP;
        end else begin
          gives_up = timed_out;
        end
      end
      EXCHANGE_ASK_UP: begin
        if (is_ack) begin
          message_d = SYNC;
          count_d = half;
          state_d = EXCHANGE_SYNC_UP;
          unheard_d = 1'b0;
        end else if (is_sync) begin
          // The other end was reset and has lost the request, but asked itself.
          up_now = 1'b1;
          state_d = EXCHANGE_IDLE;
        end else if (is_req_up & ~initiator) begin
          // Both asked at once: the initiator goes on.
          message_d = ACK;
          count_d = 15'd0;
          state_d = EXCHANGE_AWAIT_UP;
        end else begin
          if (is_req_up) begin
            message_d = ACK;
          end else if (is_req_down) begin
            message_d = NACK;
          end
          gives_up = timed_out;
        end
      end
      EXCHANGE_SYNC_UP: begin
        count_d = count_q - 15'd1;
        if (is_req_up) begin
          message_d = ACK;
        end else if (is_req_down) begin
          message_d = NACK;
        end
        // SYNC: the other end was reset and asked before it answered.
        if ((count_q == 15'd0) | is_sync) begin
          up_now = 1'b1;
          state_d = EXCHANGE_IDLE;
        end
      end
      EXCHANGE_AWAIT_UP: begin
        if (is_sync) begin
          up_now = 1'b1;
          state_d = EXCHANGE_IDLE;
        end else begin
          if (is_req_up) begin
            message_d = ACK;
          end else if (is_req_down) begin
            message_d = NACK;
          end
          gives_up = timed_out;
        end
      end
      default: begin  // EXCHANGE_START, and what encodes no state
        if (count_q == 15'd0) begin
          // The other end may be asleep. What it sent is lost with the reset.
          message_d = REQ_UP;
        end else if (is_req_up) begin
          message_d = ACK;
        end else if (is_req_down) begin
          message_d = NACK;
        end else if (is_ack) begin
          message_d = SYNC;
          unheard_d = 1'b0;
        end
        if (count_q == START_LAST) begin
          state_d = EXCHANGE_IDLE;
          stays_unheard = unheard_q;
        end
      end
    endcase
    if (gives_up) begin
      state_d = EXCHANGE_IDLE;
      up_now = 1'b1;
      unheard_d = 1'b1;
    end
    if ((state_d == EXCHANGE_IDLE) & (state_q != EXCHANGE_IDLE)) begin
      count_d = 15'd0;
    end
  end

  assign fails = gives_up | stays_unheard;

  always @(*) begin
    error_d = error_q;
    if (fails) begin
      error_d = 1'b1;
    end
  end

  // A transition down is never cut short: the way up waits for its end.
  assign rise_d = asleep & (rise_q | up_now);
  assign up_start = rise_q | up_now;

  // No data once SYNC for going down has been sent, or an answer to it has been promised.
  assign tx_enable = awake
      & (state_q != EXCHANGE_START)
      & (state_q != EXCHANGE_SYNC_DOWN)
      & (state_q != EXCHANGE_AWAIT_DOWN);
  assign message_out = message_q;
  assign sync_error = error_q;

  always @(posedge clk) begin
    if (rst) begin
      state_q <= EXCHANGE_START;
      count_q <= 15'd0;
      cancelled_q <= 1'b0;
      rise_q <= 1'b0;
      unheard_q <= 1'b1;
      message_q <= 3'd0;
      error_q <= 1'b0;
    end else begin
      state_q <= state_d;
      count_q <= count_d;
      cancelled_q <= cancelled_d;
      rise_q <= rise_d;
      unheard_q <= unheard_d;
      message_q <= message_d;
      error_q <= error_d;
    end
  end

endmodule

`default_nettype wire
