// history
//
// What the history of misses holds, for `linkdoze verify` (docs/evidence/proofs.md). The modules are
// put into `miss_history`, the second where the history is short. The prover sets the parameters and
// connects them.

`default_nettype none

// Which idle periods were misses, and how many.
module history_claims #(
    parameter HISTORY = 2,  // idle periods that it covers
    parameter STAGES = 2,   // cycles for which an idle period is under way
    parameter AT = 1,       // bits of a place
    parameter COUNT = 1     // bits of the number of misses
) (
    input wire                   clk,
    input wire                   rst,
    input wire                   ended,
    input wire      [STAGES-1:0] samples,
    input wire      [STAGES-1:0] missed,
    input wire     [HISTORY-1:0] outcomes,
    input wire          [AT-1:0] head,
    input wire          [AT-1:0] tail,
    input wire       [COUNT-1:0] misses
);

  // The stage in which an idle period's outcome is taken in was one cycle before the last.
  localparam ADD = STAGES - 1;

  // Misses among the outcomes, and the place behind the last of their ratios.
  reg [COUNT:0] ones;
  integer o;
  always @(*) begin
    ones = 0;
    for (o = 0; o < HISTORY; o = o + 1) ones = ones + outcomes[o];
  end
  wire [AT+COUNT+1:0] behind = head + ones;
  wire [AT+COUNT+1:0] wrapped = behind >= HISTORY ? behind - HISTORY : behind;

  // The number of misses is that of the last `history` idle periods, but for the one that is taken
  // in.
  always @(*) if (!rst) misses_counted: assert (ones == misses + missed[ADD]);

  // There are as many ratios in the queue as misses in the shift register.
  always @(*) if (!rst) queue_follows: assert (wrapped == tail);

  // Head and tail are places of the queue.
  always @(*) if (!rst) places_in_queue: assert (head < HISTORY & tail < HISTORY);

  // Two idle periods are two cycles apart at least, and misses are idle periods.
  always @(*) if (!rst) periods_apart: assert (
      (samples & (samples << 1)) == 0 & (missed & ~samples) == 0 & !(ended & samples[0]));

endmodule

// The ratios of the misses, and their sum.
module ratio_claims #(
    parameter HISTORY = 2,  // idle periods that it covers
    parameter STAGES = 2,   // cycles for which an idle period is under way
    parameter WORDS = 2,    // words of the memory of ratios
    parameter RATIO = 1,    // bits of a ratio
    parameter AT = 1,       // bits of a place
    parameter COUNT = 1,    // bits of the number of misses
    parameter SUM = 1       // bits of the sum of ratios
) (
    input wire                   clk,
    input wire                   rst,
    input wire      [STAGES-1:0] samples,
    input wire      [STAGES-1:0] missed,
    input wire          [AT-1:0] head,
    input wire          [AT-1:0] tail,
    input wire       [COUNT-1:0] misses,
    input wire         [SUM-1:0] sum,
    input wire       [RATIO-1:0] ratio,
    input wire [WORDS*RATIO-1:0] ratios,
    input wire       [RATIO-1:0] read_data
);

  localparam ADD = STAGES - 1;

  wire [COUNT:0] ones = misses + missed[ADD];

  // The sum of the ratios of these misses, one by one.
  reg [SUM-1:0] total;
  reg [AT+COUNT+1:0] place;
  integer r;
  always @(*) begin
    total = 0;
    place = 0;
    for (r = 0; r < HISTORY; r = r + 1) begin
      place = head + r;
      if (place >= HISTORY) place = place - HISTORY;
      if (r < ones) total = total + ratios[place*RATIO +: RATIO];
    end
  end

  wire [AT-1:0] newest = tail == 0 ? HISTORY - 1 : tail - 1;

  // The sum is that of the ratios of these misses.
  always @(*) if (!rst) ratios_summed: assert (
      total == sum + (missed[ADD] ? {{(SUM-RATIO){1'b0}}, ratio} : {SUM{1'b0}}));

  // The oldest ratio has been read when its miss leaves, and the newest has been written.
  always @(*) if (!rst) ratios_stand: assert (
      (samples[ADD] | ones == 0 | read_data == ratios[head*RATIO +: RATIO])
      & (!missed[ADD] | (ones != 0 & ratio == ratios[newest*RATIO +: RATIO])));

endmodule

`default_nettype wire
