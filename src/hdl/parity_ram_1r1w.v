`default_nettype none

module parity_ram_1r1w #(
    parameter WIDTH = 8,          // bits of data in a word
    parameter CHECK = 1,          // check bits
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
    output wire               [1:0] upset           // 2: an odd number of its bits is wrong
);

  wire [WIDTH+CHECK-1:0] stored;

  assign read_data = stored[WIDTH-1:0];
  assign upset = {read_valid & ~^stored, 1'b0};

  // The number of ones in a word is odd, so that a word of zeros alone is wrong.
  ram_1r1w #(
      .WIDTH(WIDTH + CHECK),
      .DEPTH(DEPTH),
      .ADDRESS_WIDTH(ADDRESS_WIDTH)
  ) u_ram (
      .clk(clk),
      .write_enable(write_enable),
      .write_address(write_address),
      .write_data({~^write_data, write_data}),
      .read_address(read_address),
      .read_data(stored)
  );

endmodule

`default_nettype wire
