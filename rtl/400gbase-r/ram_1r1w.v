// ram_1r1w
//
// A memory with one write port and one read port, both synchronous: every memory of the design is
// an instance of this module. To use memories of another make, put a module of this name, with
// these parameters and pins, in the place of this file.
//
// A word that is read while it is written may come as anything, here as x: no one uses it. There is
// no reset, and the first contents may be anything. No one uses a word that was not written before,
// nor an address of DEPTH or more.
//
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: dff0b4e897fb48c75bc0df6460f1451b52e960a0aff85a548d4a5fa513b37a84

`default_nettype none

module ram_1r1w #(
    parameter WIDTH = 8,          // bits of a word
    parameter DEPTH = 16,         // words
    parameter ADDRESS_WIDTH = 4   // bits of an address, ceil(log2(DEPTH))
) (
    input  wire                     clk,
    input  wire                     write_enable,   // write at the next clock edge
    input  wire [ADDRESS_WIDTH-1:0] write_address,  // word to write
    input  wire         [WIDTH-1:0] write_data,     // what to write
    input  wire [ADDRESS_WIDTH-1:0] read_address,   // word to read
    output reg          [WIDTH-1:0] read_data       // the word read at the last clock edge
);

  reg [WIDTH-1:0] words [0:DEPTH-1];

  always @(posedge clk) begin
    if (write_enable) begin
      words[write_address] <= write_data;
    end
    if (write_enable & (write_address == read_address)) begin
      read_data <= {WIDTH{1'bx}};
    end else begin
      read_data <= words[read_address];
    end
  end

endmodule

`default_nettype wire
