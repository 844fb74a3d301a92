// counter_store_checker
//
// What counter_store claims about itself: assertions for simulation and proof, no hardware. They
// are checked at the rising edge of the clock, unless it is reset then.
//
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 272f87574b83b01d4193b1230c79ac435c03303bccd1da4a5e2f27e11a711e8f

`default_nettype none

module counter_store_checker (
    input wire        clk,         // clock
    input wire        rst,         // synchronous reset
    input wire  [3:0] here_place,  // its place in the group
    input wire [15:0] mask,        // which bins of the group have counters
    input wire  [3:0] last_group,  // the group of that bin
    input wire        changing_q,  // a change has read it
    input wire        writing_q,   // a change is being written back
    input wire        counted_q,   // the bin has a counter
    input wire        wrote_q,     // it was written the cycle before
    input wire [15:0] populated_q  // which groups hold samples
);

  wire changes_apart_holds;
  wire counters_marked_holds;
  wire written_groups_stand_holds;
  wire last_populated;  // the group written last holds samples

  assign changes_apart_holds = ~(changing_q & writing_q);
  assign counters_marked_holds = counted_q == mask[here_place];
  assign last_populated = populated_q[last_group];
  assign written_groups_stand_holds = ~wrote_q | last_populated;

  // Two changes are two cycles apart at least.
  always @(posedge clk) if (!rst) changes_apart: assert (changes_apart_holds);

  // A bin has a counter if the word of its group says so.
  always @(posedge clk) if (!rst) counters_marked: assert (counters_marked_holds);

  // The group that was written the cycle before holds samples.
  always @(posedge clk) if (!rst) written_groups_stand: assert (written_groups_stand_holds);

endmodule

`default_nettype wire
