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
