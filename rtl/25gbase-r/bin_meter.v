// bin_meter
//
// The bin of the present idle period: its length without its low bits. What
// is longer than the histogram falls into its highest bin.
//
// Instances: port.bin_meter
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: 0c107b60ff7977f4158ad7d4f1aa597251940b139ef4ab2731c27318e5fd01e0

`default_nettype none

module bin_meter (
    input  wire [31:0] ticks,  // whole ticks idle before this cycle
    output reg   [7:0] bin     // bin of an idle period of this length
);

  localparam [18:0] TOP_SPAN = 19'd255;  // highest bin in use
  localparam [7:0] TOP_BIN = 8'd255;     // highest bin in use

  wire [18:0] span;  // length of the idle period in bins

  assign span = ticks[31:13];

  always @(*) begin
    bin = span[7:0];
    if (span > TOP_SPAN) begin
      bin = TOP_BIN;
    end
  end

  // What this configuration leaves unread.
  wire unused_ticks = &{1'b0, ticks[12:0]};

endmodule

`default_nettype wire
