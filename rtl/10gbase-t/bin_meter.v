// bin_meter
//
// The bin of the present idle period: its length without its low bits. What
// is longer than the histogram falls into its highest bin.
//
// Instances: port.bin_meter
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 272f87574b83b01d4193b1230c79ac435c03303bccd1da4a5e2f27e11a711e8f

`default_nettype none

module bin_meter (
    input  wire [31:0] ticks,  // whole ticks idle before this cycle
    output reg   [7:0] bin     // bin of an idle period of this length
);

  localparam [21:0] TOP_SPAN = 22'd255;  // highest bin in use
  localparam [7:0] TOP_BIN = 8'd255;     // highest bin in use

  wire [21:0] span;  // length of the idle period in bins

  assign span = ticks[31:10];

  always @(*) begin
    bin = span[7:0];
    if (span > TOP_SPAN) begin
      bin = TOP_BIN;
    end
  end

  // What this configuration leaves unread.
  wire unused_ticks = &{1'b0, ticks[9:0]};

endmodule

`default_nettype wire
