// histogram
//
// What a histogram holds and what the search makes of it, for `linkdoze verify`
// (docs/evidence/proofs.md). These modules are put into the controller: the first into the memory
// of the counters, `ring_claims` into a circular histogram, `aging_claims` into a regular one,
// `map_claims` into a map, and `search_claims` into the port. The prover sets the parameters and connects them.

`default_nettype none

// The counters, beside a histogram that adds up the samples one by one.
module counter_claims #(
    parameter BINS = 2,   // words of the memory of counters
    parameter GROUPS = 2, // words of the memory of groups
    parameter INDEX = 1,  // bits of a bin's index
    parameter PLACE = 1,  // bits of a bin's place in its group
    parameter COUNT = 1,  // bits of a counter
    parameter SUM = 1,    // bits of a group's sum
    parameter WIDE = 1,   // bits of every number of samples here
    parameter SUCCESSIVE = 0, // changes come in successive cycles
    parameter REMOVES = 0 // the oldest sample gives way a cycle after the newest has come
) (
    input  wire                           clk,
    input  wire                           rst,
    input  wire          [BINS*COUNT-1:0] counters,
    input  wire [GROUPS*(SUM+(1<<PLACE))-1:0] groups,
    input  wire              [GROUPS-1:0] populated,
    input  wire               [INDEX-1:0] at,
    input  wire                           changing,
    input  wire                           removing,
    input  wire               [COUNT-1:0] read_counter,
    input  wire    [SUM+(1<<PLACE)-1:0]   read_word,
    input  wire               [INDEX-1:0] here,
    input  wire                           writing,
    input  wire                           down,
    input  wire                           shrinks,
    input  wire                           doubles,
    input  wire                           rounds,
    input  wire    [SUM+(1<<PLACE)-1:0]   word,
    input  wire               [COUNT-1:0] count,
    input  wire               [COUNT-1:0] new_count,
    input  wire                 [SUM-1:0] new_sum,
    input  wire               [INDEX-1:0] last,
    input  wire                           wrote,
    input  wire    [SUM+(1<<PLACE)-1:0]   last_word,
    input  wire               [COUNT-1:0] last_count,
    input  wire                           clearing,
    output reg [BINS*(COUNT+REMOVES)-1:0] recorded,
    output wire                [WIDE-1:0] samples
);

  localparam SIZE = 1 << PLACE;
  localparam WORD = SUM + SIZE;
  // Where a sample comes before another leaves, a full counter holds one more for a cycle.
  localparam RECORD = COUNT + REMOVES;

  wire [INDEX-PLACE-1:0] at_group = at[INDEX-1:PLACE];
  wire [INDEX-PLACE-1:0] here_group = here[INDEX-1:PLACE];
  wire [INDEX-PLACE-1:0] last_group = last[INDEX-1:PLACE];

  // The histogram that adds up samples, takes them out and halves, as far as that is written back.
  wire [RECORD-1:0] recorded_here = recorded[here*RECORD +: RECORD];
  wire [RECORD-1:0] rounded_here = recorded_here + rounds;
  always @(posedge clk) begin
    if (rst | clearing) recorded <= 0;
    else if (writing) recorded[here*RECORD +: RECORD] <=
        down ? recorded_here - 1 : shrinks ? rounded_here >> 1
        : recorded_here + (doubles ? 2 : 1);
  end

  // A counter or a sum wraps; none has wrapped so far. Where samples leave, `fits` says it.
  wire wraps = !REMOVES & writing
      & (shrinks ? rounds & (&recorded_here) : new_count <= doubles | new_sum <= doubles);
  reg roomy;
  always @(posedge clk) roomy <= rst | (roomy & !wraps);

  // What the memories say of it.
  reg [GROUPS*WIDE-1:0] sums;
  reg [WIDE-1:0] total;
  reg counters_agree;
  reg sums_agree;
  reg fits;
  reg [RECORD-1:0] record;
  reg [WIDE-1:0] group_sum;
  integer b;
  integer g;
  always @(*) begin
    sums = 0;
    total = 0;
    counters_agree = 1;
    sums_agree = 1;
    fits = 1;
    record = 0;
    group_sum = 0;
    for (b = 0; b < BINS; b = b + 1) begin
      record = recorded[b*RECORD +: RECORD];
      sums[(b/SIZE)*WIDE +: WIDE] = sums[(b/SIZE)*WIDE +: WIDE] + record;
      total = total + record;
      if (record[COUNT-1:0] != (populated[b/SIZE] & groups[(b/SIZE)*WORD+b%SIZE]
          ? counters[b*COUNT +: COUNT] : {COUNT{1'b0}}))
        counters_agree = 0;
      if (record > (1 << COUNT) - 1 + (writing & down & here == b)) fits = 0;
    end
    for (g = 0; g < GROUPS; g = g + 1) begin
      group_sum = sums[g*WIDE +: WIDE];
      if (populated[g] & groups[g*WORD+SIZE +: SUM] != (REMOVES ? group_sum[SUM-1:0] : group_sum))
        sums_agree = 0;
      if (group_sum > (1 << SUM) - 1 + (writing & down & here_group == g)) fits = 0;
    end
  end
  wire [WORD-1:0] group_here = populated[here_group] ? groups[here_group*WORD +: WORD] : {WORD{1'b0}};
  assign samples = (clearing ? {WIDE{1'b0}} : total) + (changing & !removing) + (writing & !down)
      - (changing & removing) - (writing & down);

  // Every counter is the number of samples recorded in its bin since the histogram was cleared,
  // less those taken out; a halving leaves half of them.
  always @(*) if (!rst) counters_count: assert (counters_agree);

  // The sum of a group is that of its counters, unless one of them has wrapped.
  always @(*) if (!rst) sums_add_up: assert (!roomy | sums_agree);

  // No counter wraps, and no sum does, but for the cycle between a sample that comes and the one
  // that gives way to it.
  always @(*) if (!rst) no_wrap: assert (REMOVES ? fits : roomy & !wraps);

  // The histogram is cleared with a sample.
  always @(*) if (!rst) cleared_with_sample: assert (!clearing | changing);

  // What was read is in the memory, unless it was written meanwhile.
  always @(*) if (!rst) read_from_memory: assert (!populated[at_group]
      | (((wrote & last == at) | read_counter == counters[at*COUNT +: COUNT])
        & ((wrote & last_group == at_group) | read_word == groups[at_group*WORD +: WORD])));

  // What was written is in the memory.
  always @(*) if (!rst) written_to_memory: assert (!wrote
      | (last_count == counters[last*COUNT +: COUNT] & last_word == groups[last_group*WORD +: WORD]));

  // What comes out is what the group and the bin hold, unless it was written meanwhile.
  always @(*) if (!rst) found_in_memory: assert (
      ((!SUCCESSIVE & wrote & last_group == here_group) | word == group_here)
      & ((!SUCCESSIVE & wrote & last == here) | count == recorded_here[COUNT-1:0]));

endmodule

// The ring of a circular histogram, beside its counters.
module ring_claims #(
    parameter PLACES = 2,   // samples that fill the ring
    parameter WORDS = 2,    // words of its memory
    parameter WORD = 1,     // bits of a word
    parameter LENGTH = 1,   // bits of a length
    parameter AT = 1,       // bits of a place
    parameter BINS = 2,     // words of the memory of counters
    parameter INDEX = 1,    // bits of a bin's index
    parameter COUNT = 1,    // bits of a counter
    parameter WIDE = 1,     // bits of every number of samples here
    parameter TIME = 1,     // bits of a time
    parameter SHIFT = 0,    // log2 of the ticks in a bin
    parameter TOP_BIN = 1,  // highest bin in use
    parameter MAX_VALUE = 1,    // longest length recorded, in ticks
    parameter CLAMPS = 0,       // idle periods may be longer
    parameter LOGARITHMIC = 0,  // a word has the bin above the length
    parameter SUMS = 0,         // the window is the sum of the lengths
    parameter TOTAL = 1         // bits of that sum
) (
    input wire                  clk,
    input wire                  rst,
    input wire                  ended,
    input wire       [TIME-1:0] ticks,
    input wire                  too_long,
    input wire [WORDS*WORD-1:0] lengths,
    input wire       [WORD-1:0] read_data,
    input wire         [AT-1:0] head,
    input wire                  full,
    input wire      [TOTAL-1:0] window_sum,
    input wire                  evicts,
    input wire      [INDEX-1:0] evicted_bin,
    input wire      [INDEX-1:0] at,
    input wire                  changing,
    input wire                  removing,
    input wire      [INDEX-1:0] here,
    input wire                  writing,
    input wire                  down,
    input wire [BINS*(COUNT+1)-1:0] recorded // one more for a cycle: a sample comes before one leaves
);

  // The samples of the ring by their bins, and the sum of their lengths.
  reg [BINS*WIDE-1:0] ring;
  reg     [TOTAL-1:0] sum;
  reg     [TOTAL-1:0] span;
  reg     [INDEX-1:0] place_bin;
  integer p;
  always @(*) begin
    ring = 0;
    sum = 0;
    span = 0;
    place_bin = 0;
    for (p = 0; p < PLACES; p = p + 1)
      if (full | p < head) begin
        span = lengths[p*WORD +: LENGTH] >> SHIFT;
        place_bin = LOGARITHMIC ? lengths[p*WORD+WORD-INDEX +: INDEX] : span > TOP_BIN ? TOP_BIN : span;
        ring[place_bin*WIDE +: WIDE] = ring[place_bin*WIDE +: WIDE] + 1;
        sum = sum + lengths[p*WORD +: LENGTH];
      end
  end

  // The counters with the changes that are under way.
  reg counters_agree;
  integer b;
  always @(*) begin
    counters_agree = 1;
    for (b = 0; b < BINS; b = b + 1)
      if (ring[b*WIDE +: WIDE] + (evicts & evicted_bin == b)
          + (changing & removing & at == b) + (writing & down & here == b)
          != recorded[b*(COUNT+1) +: COUNT+1] + {{(WIDE-1){1'b0}}, changing & !removing & at == b}
          + (writing & !down & here == b))
        counters_agree = 0;
  end

  // The sample that came last.
  wire   [AT-1:0] newest = head == 0 ? PLACES - 1 : head - 1;
  wire [WORD-1:0] newest_word = lengths[newest*WORD +: WORD];
  wire [WORD-1:0] newest_span = newest_word[LENGTH-1:0] >> SHIFT;
  wire [INDEX-1:0] newest_bin = LOGARITHMIC ? newest_word[WORD-1:WORD-INDEX]
      : newest_span > TOP_BIN ? TOP_BIN : newest_span;

  // A sample came the cycle before.
  reg moved;
  always @(posedge clk) moved <= !rst & ended;

  // The counters are those of the samples in the ring: the last `max_samples` idle periods, or all
  // of them while they are fewer.
  always @(*) if (!rst) ring_counted: assert (counters_agree);

  // The window is the sum of the lengths in the ring.
  always @(*) if (!rst) window_summed: assert (!SUMS | window_sum == sum);

  // The head is a place of the ring.
  always @(*) if (!rst) head_in_ring: assert (head < PLACES);

  // Two samples are two cycles apart at least.
  always @(*) if (!rst) samples_apart: assert (!(moved & ended));

  // The oldest sample of a full ring has been read when the next one comes.
  always @(*) if (!rst) oldest_read: assert (!full | moved
      | read_data == lengths[head*WORD +: WORD]);

  // A length is longer than what is recorded if that was said one cycle before.
  always @(*) if (!rst) too_long_told: assert (!CLAMPS | !ended
      | (too_long ? ticks >= MAX_VALUE : ticks <= MAX_VALUE));

  // The sample that is on its way to the counters is the one that came last; after it goes the one
  // that gave way.
  always @(*) if (!rst) newest_on_its_way: assert (
      (moved == (changing & !removing)) & (!evicts | moved)
      & (!(changing & removing) | (writing & !down)) & (!(changing & !removing) | !(writing & !down))
      & (!(changing & !removing) | (newest_bin == at & (full | head != 0)))
      & (!(writing & !down) | (newest_bin == here & (full | head != 0))));

endmodule

// Counters of a regular histogram, beside one whose bins are all halved at once.
module aging_claims #(
    parameter BINS = 2,    // words of the memory of counters
    parameter TOP_BIN = 1, // highest bin in use
    parameter INDEX = 1,   // bits of a bin's index
    parameter COUNT = 1    // bits of a counter
) (
    input wire                  clk,
    input wire                  rst,
    input wire                  ended,
    input wire      [INDEX-1:0] sample_bin,
    input wire                  starts,
    input wire                  halving,
    input wire      [INDEX-1:0] next_bin,
    input wire                  odd,
    input wire      [INDEX-1:0] at,
    input wire                  changing,
    input wire                  shrinking,
    input wire                  doubling,
    input wire                  rounding,
    input wire      [INDEX-1:0] here,
    input wire                  writing,
    input wire                  shrinks,
    input wire                  doubles,
    input wire                  rounds,
    input wire [BINS*COUNT-1:0] recorded
);

  // So wide that nothing wraps at once.
  localparam WIDE = COUNT + 2;
  localparam FULL = (1 << COUNT) - 1;

  function [WIDE-1:0] half(input [WIDE-1:0] count, input up);
    half = (count + up) >> 1;
  endfunction

  // All bins are halved at once, odd counts up in every second bin, in the others the next time;
  // then the sample is added.
  reg [BINS*WIDE-1:0] aged;
  integer b;
  always @(posedge clk) begin
    if (rst) aged <= 0;
    else
      for (b = 0; b < BINS; b = b + 1)
        aged[b*WIDE +: WIDE] <=
            (starts ? half(aged[b*WIDE +: WIDE], b[0] ^ odd) : aged[b*WIDE +: WIDE])
            + (ended & sample_bin == b);
  end

  // The counters with the changes that are under way, and with the halving that is to come.
  reg counters_agree;
  reg overflows;
  reg nothing_above;
  reg [WIDE-1:0] count;
  integer c;
  always @(*) begin
    counters_agree = 1;
    overflows = 0;
    nothing_above = 1;
    count = 0;
    for (c = 0; c < BINS; c = c + 1) begin
      count = recorded[c*COUNT +: COUNT];
      if (count >= FULL) overflows = 1;
      if (writing & here == c) count = shrinks ? half(count, rounds) : count + (doubles ? 2 : 1);
      if (count >= FULL) overflows = 1;
      if (changing & at == c) count = shrinking ? half(count, rounding) : count + (doubling ? 2 : 1);
      if (count >= FULL) overflows = 1;
      if (halving & c >= next_bin) count = half(count, !(c[0] ^ odd));
      if (count != aged[c*WIDE +: WIDE]) counters_agree = 0;
      if (c > TOP_BIN & aged[c*WIDE +: WIDE] != 0) nothing_above = 0;
    end
  end

  // No counter has reached its largest value, and no halving has started before the last one was
  // over. The width of the counters and the search between two halvings see to that
  // (src/blocks/histogram/mod.rs); where they did not, nothing more would be claimed.
  reg roomy;
  always @(posedge clk) roomy <= rst | (roomy & !overflows & !(starts & halving));

  // The counters are those of a histogram whose bins are all halved at once, just before the sample
  // that starts a halving.
  always @(*) if (!rst) halved_together: assert (!roomy | overflows | counters_agree);

  // Only bins in use are halved, and only they hold samples.
  always @(*) if (!rst) bins_in_use: assert ((next_bin <= TOP_BIN | !halving) & nothing_above);

endmodule

// The entries of a map and what it finds, beside a histogram that adds up the samples.
module map_claims #(
    parameter ENTRIES = 2, // places for bins
    parameter BINS = 2,    // bins in use
    parameter KEY = 1,     // bits of a key: a bin's index plus one, 0 for no bin
    parameter TAIL = 1,    // bits of a tail sum
    parameter COUNT = 1,   // bits of the samples that the window can hold
    parameter BUDGET = 1,  // bits of a budget
    parameter WIDE = 1     // bits of every number of samples here
) (
    input wire                    clk,
    input wire                    rst,
    input wire                    ended,
    input wire                    cleared,
    input wire          [KEY-1:0] sample,
    input wire  [ENTRIES*KEY-1:0] keys,
    input wire [ENTRIES*TAIL-1:0] tails,
    input wire        [COUNT-1:0] window_samples,
    input wire       [BUDGET-1:0] budget,
    input wire          [KEY-1:0] found
);

  localparam KEYS = 1 << KEY;

  // The samples by their keys, since the map was cleared.
  reg [KEYS*COUNT-1:0] recorded;
  integer r;
  always @(posedge clk)
    for (r = 0; r < KEYS; r = r + 1)
      if (rst) recorded[r*COUNT +: COUNT] <= 0;
      else if (ended)
        recorded[r*COUNT +: COUNT] <=
            (cleared ? {COUNT{1'b0}} : recorded[r*COUNT +: COUNT]) + (sample == r);

  // Samples of each key and of all higher ones.
  reg [(KEYS+1)*WIDE-1:0] sums;
  integer k;
  always @(*) begin
    sums = 0;
    for (k = KEYS - 1; k >= 0; k = k - 1)
      sums[k*WIDE +: WIDE] = sums[(k+1)*WIDE +: WIDE] + recorded[k*COUNT +: COUNT];
  end

  reg ordered;
  reg counted;
  reg [KEYS-1:0] held;
  reg [KEY-1:0] key;
  integer e;
  always @(*) begin
    ordered = 1;
    counted = 1;
    held = 0;
    key = 0;
    for (e = 0; e < ENTRIES; e = e + 1) begin
      key = keys[e*KEY +: KEY];
      if (key != 0 & tails[e*TAIL +: TAIL] != sums[key*WIDE +: WIDE]) counted = 0;
      if (e != 0 & key != 0 & key >= keys[(e-1)*KEY +: KEY]) ordered = 0;
      if (e != 0 & keys[(e-1)*KEY +: KEY] == 0 & key != 0) ordered = 0;
      held[key] = 1;
    end
  end

  // A bin that holds samples has an entry, and no other bin has; there are no more than `BINS`.
  reg covered;
  integer c;
  always @(*) begin
    covered = recorded[COUNT-1:0] == 0;
    for (c = 1; c < KEYS; c = c + 1)
      if (held[c] != (recorded[c*COUNT +: COUNT] != 0) | (held[c] & c > BINS)) covered = 0;
  end

  // The entries are ordered by their bins, the highest first, and those without a bin come last.
  always @(*) if (!rst) map_ordered: assert (ordered);

  // The bins of the entries are those that hold samples.
  always @(*) if (!rst) map_covers: assert (covered);

  // The tail sum of an entry is that of the samples in its bin and in all higher ones since the map
  // was cleared.
  always @(*) if (!rst) map_counted: assert (counted);

  // All entries together hold the samples of the window.
  always @(*) if (!rst) map_window_counted: assert (sums[WIDE-1:0] == window_samples);

  // Neither reset nor a sample cleared the map the cycle before.
  reg known;
  reg [(KEYS+1)*WIDE-1:0] sums_then;
  reg [BUDGET-1:0] budget_then;
  always @(posedge clk) begin
    known <= !rst & !cleared;
    sums_then <= sums;
    budget_then <= budget;
  end

  // What comes out is the lowest bin whose samples, and those above it, were at most the budget the
  // cycle before. Nobody asks for it after a sample that cleared the map.
  always @(*) if (!rst) map_search_exact: assert (!known
      | (sums_then[(found+1)*WIDE +: WIDE] <= budget_then
          & (found == 0 | sums_then[found*WIDE +: WIDE] > budget_then)));

endmodule

// The key by which a map knows the bin of the idle period, beside the bin.
module key_claims #(
    parameter BINS = 2,  // bins in use
    parameter INDEX = 1, // bits of a bin's index
    parameter KEY = 1    // bits of a key
) (
    input wire             rst,
    input wire [INDEX-1:0] present,
    input wire   [KEY-1:0] sample
);

  // The key is that of the bin, and no bin is above the highest one in use.
  always @(*) if (!rst) key_follows: assert (sample == present + 1 & present < BINS);

endmodule

// The search, beside tail sums of the histogram that adds up the samples.
module search_claims #(
    parameter BINS = 2,      // words of the memory of counters
    parameter TOP_GROUP = 1, // the highest group in use
    parameter INDEX = 1,     // bits of a bin's index
    parameter PLACE = 1,     // bits of a bin's place in its group
    parameter COUNT = 1,     // bits of a counter
    parameter WIDE = 1       // bits of every number of samples here
) (
    input wire                   clk,
    input wire                   rst,
    input wire                   cleared,
    input wire             [2:0] state,
    input wire                   pending,
    input wire                   reading,
    input wire                   reading_next,
    input wire                   arriving,
    input wire                   looking,
    input wire                   exceeds,
    input wire [INDEX-PLACE-1:0] group,
    input wire       [PLACE-1:0] place,
    input wire       [INDEX-1:0] bin,
    input wire       [INDEX-1:0] arrived,
    input wire       [INDEX-1:0] at,
    input wire       [INDEX-1:0] here,
    input wire        [WIDE-1:0] seen,
    input wire        [WIDE-1:0] left,
    input wire        [WIDE-1:0] budget,
    input wire       [INDEX-1:0] found,
    input wire                   above,
    input wire                   changes,
    input wire                   changing,
    input wire                   writing,
    input wire                   wrote,
    input wire                   clearing,
    input wire  [BINS*COUNT-1:0] recorded,
    input wire        [WIDE-1:0] samples,
    input wire        [WIDE-1:0] window_samples
);

  localparam SIZE = 1 << PLACE;

  localparam [2:0] IDLE = 3'd0;
  localparam [2:0] GROUPS = 3'd2;
  localparam [2:0] BINS_OF_GROUP = 3'd3;
  localparam [2:0] FINISH = 3'd5;

  wire in_groups = state == GROUPS;
  wire in_bins = state == BINS_OF_GROUP;

  // Samples in each bin and in all above it, with those on their way into the memory.
  reg [(BINS+1)*WIDE-1:0] tails;
  integer b;
  always @(*) begin
    tails = 0;
    for (b = BINS - 1; b >= 0; b = b - 1)
      tails[b*WIDE +: WIDE] = tails[(b+1)*WIDE +: WIDE]
          + (clearing ? {COUNT{1'b0}} : recorded[b*COUNT +: COUNT])
          + (changing & at == b) + (writing & here == b);
  end

  // A search is alone if no sample came since it began: that of its beginning is recorded.
  reg disturbed;
  always @(posedge clk) begin
    if (rst) disturbed <= 1;
    else if (cleared) disturbed <= 0;
    else if (state == IDLE) disturbed <= !pending | changes;
    else disturbed <= disturbed | changes;
  end

  // Words read of the groups, or of the bins of one group, and those looked at before.
  reg [INDEX+2:0] asked;
  always @(posedge clk) begin
    if (rst | !(in_groups | in_bins) | (in_groups & looking & exceeds)) asked <= 0;
    else asked <= asked + reading_next;
  end
  wire [INDEX+2:0] passed = asked - reading - arriving - looking;

  wire [INDEX-PLACE-1:0] next_group = TOP_GROUP - asked;
  wire [INDEX-PLACE-1:0] look_group = TOP_GROUP - passed;
  wire [INDEX-PLACE-1:0] arrive_group = look_group - looking;
  wire [INDEX-PLACE-1:0] read_group = arrive_group - arriving;
  wire [PLACE-1:0] next_place = SIZE - 1 - asked;
  wire [PLACE-1:0] look_place = SIZE - 1 - passed;
  wire [PLACE-1:0] arrive_place = look_place - looking;
  wire [PLACE-1:0] read_place = arrive_place - arriving;

  wire [INDEX:0] groups_from = (TOP_GROUP + 1 - passed) << PLACE;
  wire [INDEX:0] bins_from = {group, {PLACE{1'b0}}} + SIZE - passed;
  wire [WIDE-1:0] above_groups = tails[groups_from*WIDE +: WIDE];
  wire [WIDE-1:0] above_bins = tails[bins_from*WIDE +: WIDE];
  wire [INDEX:0] group_begin = {bin[INDEX-1:PLACE], {PLACE{1'b0}}};
  wire [INDEX:0] answer = found + above;

  // The bin found is the lowest whose samples and those above it are at most the budget (SPEC 7),
  // if no sample came during the search.
  always @(*) if (!rst) search_exact: assert (disturbed | state != FINISH
      | (tails[answer*WIDE +: WIDE] <= budget
        & (answer == 0 | tails[(answer-1)*WIDE +: WIDE] > budget)));

  // The counters hold the samples of the window.
  always @(*) if (!rst) window_counted: assert (samples == window_samples);

  // Nothing is recorded above the highest group in use.
  always @(*) if (!rst) nothing_above: assert (tails[((TOP_GROUP + 1) << PLACE)*WIDE +: WIDE] == 0);

  // As long as groups are looked at, the lowest bin is the answer: that of a search in which all fit.
  always @(*) if (!rst) lowest_first: assert (!in_groups | answer == 0);

  // Groups are asked for, come and are looked at from the highest down.
  always @(*) if (!rst) groups_asked: assert (!in_groups | (group == next_group
      & (!looking | bin[INDEX-1:PLACE] == look_group)
      & (!arriving | arrived[INDEX-1:PLACE] == arrive_group)
      & (!reading | at[INDEX-1:PLACE] == read_group)
      & place == SIZE - 1 & passed <= TOP_GROUP & asked <= TOP_GROUP + 3
      & asked >= reading + arriving + looking));

  // So are the bins of a group, but for the lowest.
  always @(*) if (!rst) bins_asked: assert (!in_bins | (place == next_place
      & (!looking | bin == {group, look_place})
      & (!arriving | arrived == {group, arrive_place})
      & (!reading | at == {group, read_place})
      & passed <= SIZE - 2 & asked <= SIZE + 1 & asked >= reading + arriving + looking));

  // What is read while no sample comes is in the memory.
  always @(*) if (!rst) settled: assert (disturbed | !(in_groups | in_bins)
      | (!changing & !clearing & (!reading | !writing)
        & (!(arriving | looking | in_bins) | !(writing | wrote))));

  // What is looked at are the samples of the group, or of the bin.
  always @(*) if (!rst) seen_counted: assert (disturbed | !looking
      | ((!in_groups
          | seen == tails[group_begin*WIDE +: WIDE] - tails[(group_begin+SIZE)*WIDE +: WIDE])
        & (!in_bins | seen == tails[bin*WIDE +: WIDE] - tails[(bin+1)*WIDE +: WIDE])));

  // What is left of the budget are the samples passed less; the group of the bins exceeds it.
  always @(*) if (!rst) budget_left: assert (disturbed
      | ((!in_groups | (above_groups <= budget & left == budget - above_groups))
        & (!in_bins | (above_bins <= budget & left == budget - above_bins
          & tails[{group, {PLACE{1'b0}}}*WIDE +: WIDE] > budget))));

endmodule

`default_nettype wire
