`default_nettype none

module secded_ram_1r1w #(
    parameter WIDTH = 8,          // bits of data in a word
    parameter CHECK = 5,          // check bits, the fewest with 2**(CHECK-1) >= WIDTH + CHECK
    parameter DEPTH = 16,         // words
    parameter ADDRESS_WIDTH = 4   // bits of an address, ceil(log2(DEPTH))
) (
    input  wire                     clk,
    input  wire                     write_enable,   // write at the next clock edge
    input  wire [ADDRESS_WIDTH-1:0] write_address,  // word to write
    input  wire         [WIDTH-1:0] write_data,     // what to write
    input  wire [ADDRESS_WIDTH-1:0] read_address,   // word to read
    output wire         [WIDTH-1:0] read_data,      // the word read at the last clock edge
    input  wire                     read_valid,     // it was written, and not while it was read
    output wire               [1:0] upset           // 1: a wrong bit was put right; 2: more are wrong
);

  localparam PLACE = CHECK - 1;  // bits of a place
  localparam integer LAST_PLACE = WIDTH + PLACE;

  // The place of a bit of data: they follow each other, and leave out the powers of two,
  // which are the places of check bits.
  function integer place_of;
    input integer number;
    integer power;
    begin
      place_of = number + 1;
      for (power = 1; power <= place_of; power = power * 2) begin
        place_of = place_of + 1;
      end
    end
  endfunction

  // The bits of data that a check bit covers: those whose place has that bit.
  function [WIDTH-1:0] covered_by;
    input integer check;
    integer number;
    begin
      covered_by = {WIDTH{1'b0}};
      for (number = 0; number < WIDTH; number = number + 1) begin
        covered_by[number] = ((place_of(number) >> check) & 1) != 0;
      end
    end
  endfunction

  wire       [PLACE-1:0] write_checks;
  wire [WIDTH+CHECK-1:0] stored;
  wire       [WIDTH-1:0] data;
  wire       [PLACE-1:0] checks;
  wire       [PLACE-1:0] place;  // of a single wrong bit; 0: the last check bit, or none
  wire                   odd;    // an odd number of bits is wrong
  wire                   wrong;  // more than one is

  assign data = stored[WIDTH-1:0];
  assign checks = stored[WIDTH+PLACE-1:WIDTH];
  assign odd = ^stored;
  assign wrong = odd ? {1'b0, place} > LAST_PLACE[PLACE:0] : place != {PLACE{1'b0}};
  assign upset = read_valid ? {wrong, odd & ~wrong} : 2'b00;

  // The first two check bits are stored inverted: a word of zeros alone has two wrong bits.
  genvar check;
  generate
    for (check = 0; check < PLACE; check = check + 1) begin : g_check
      localparam [WIDTH-1:0] COVERED = covered_by(check);
      localparam INVERTED = (check < 2) ? 1'b1 : 1'b0;
      assign write_checks[check] = ^(write_data & COVERED) ^ INVERTED;
      assign place[check] = ^(data & COVERED) ^ checks[check] ^ INVERTED;
    end
  endgenerate

  genvar number;
  generate
    for (number = 0; number < WIDTH; number = number + 1) begin : g_data
      localparam integer OWN_PLACE = place_of(number);
      assign read_data[number] = data[number] ^ (odd & (place == OWN_PLACE[PLACE-1:0]));
    end
  endgenerate

  ram_1r1w #(
      .WIDTH(WIDTH + CHECK),
      .DEPTH(DEPTH),
      .ADDRESS_WIDTH(ADDRESS_WIDTH)
  ) u_ram (
      .clk(clk),
      .write_enable(write_enable),
      .write_address(write_address),
      .write_data({^{write_checks, write_data}, write_checks, write_data}),
      .read_address(read_address),
      .read_data(stored)
  );

endmodule

`default_nettype wire
