// coding
//
// A memory with a code whose bits may be wrong, for `linkdoze verify` (docs/evidence/proofs.md). In the
// place of the memory inside stands one that gives out the word that is written, with the bits wrong
// that its read address says: so one cycle shows what becomes of any word with any bits wrong.

`default_nettype none

module ram_1r1w #(
    parameter WIDTH = 8,
    parameter DEPTH = 16,
    parameter ADDRESS_WIDTH = 8
) (
    input  wire                     clk,
    input  wire                     write_enable,
    input  wire [ADDRESS_WIDTH-1:0] write_address,
    input  wire         [WIDTH-1:0] write_data,
    input  wire [ADDRESS_WIDTH-1:0] read_address,
    output wire         [WIDTH-1:0] read_data
);

  assign read_data = write_data ^ read_address;

endmodule

module coding_word #(
    parameter WIDTH = 8,
    parameter CHECK = 5,
    parameter CORRECTS = 1  // the code puts a single wrong bit right
) (
    input wire                   clk,
    input wire                   rst,
    input wire                   read_valid,
    input wire       [WIDTH-1:0] data,
    input wire [WIDTH+CHECK-1:0] wrong_bits
);

  wire       [WIDTH-1:0] read_data;
  wire             [1:0] upset;

  coded_ram #(
      .WIDTH(WIDTH), .CHECK(CHECK), .DEPTH(2), .ADDRESS_WIDTH(WIDTH + CHECK)
  ) u_memory (
      .clk(clk), .write_enable(1'b1), .write_address(wrong_bits), .write_data(data),
      .read_address(wrong_bits), .read_valid(read_valid), .read_data(read_data), .upset(upset)
  );

  // The word as it is stored; Yosys joins such a wire with that of the memory.
  (* hierconn *) wire [WIDTH+CHECK-1:0] \u_memory.stored ;
  wire [WIDTH+CHECK-1:0] stored = \u_memory.stored ;

  wire [WIDTH+CHECK-1:0] but_one = wrong_bits & (wrong_bits - 1'b1);
  wire [WIDTH+CHECK-1:0] but_two = but_one & (but_one - 1'b1);
  wire none = wrong_bits == 0;
  wire one = !none && but_one == 0;
  wire two = but_one != 0 && but_two == 0;

  // A word without a wrong bit comes out as it was written, and nothing is told.
  always @(*) if (!rst) whole_word_is_read: assert (
      !none | (read_data == data & upset == 0));

  // A single wrong bit is told, wherever it is; by a code that corrects, it is put right.
  always @(*) if (!rst) wrong_bit_is_told: assert (
      !(one & read_valid) | (CORRECTS ? read_data == data & upset == 1 : upset == 2));

  // Of a code that corrects, two wrong bits are told as what it cannot put right.
  always @(*) if (!rst) two_wrong_bits_are_told: assert (
      !(two & read_valid & CORRECTS) | upset == 2);

  // A word of zeros, as a memory without power gives it, is told as what cannot be put right.
  always @(*) if (!rst) zeros_are_told: assert (
      !(stored == 0 & read_valid) | upset == 2);

  // Nothing is told of a word that was not written.
  always @(*) if (!rst) nothing_told_of_others: assert (read_valid | upset == 0);

endmodule

`default_nettype wire
