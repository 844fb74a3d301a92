// bin_meter
//
// The bin of the present idle period: its length without its low bits. What
// is longer than the histogram falls into its highest bin.
//
// Instances: port.bin_meter
// Emitted by linkdoze 0.1.0; change the configuration rather than this file.
// SHA-256 of the configuration: be547d4fd8d7bf3c11ee4c1ad0406a21c31c2df6367f60c955ec098c5be2468d

`default_nettype none

module bin_meter (
    input  wire [31:0] ticks,  // whole ticks idle before this cycle
    output reg   [5:0] bin     // bin of an idle period of this length
);

  localparam [15:0] TOP_SPAN = 16'd63;  // highest bin in use
  localparam [5:0] TOP_BIN = 6'd63;     // highest bin in use

  wire [15:0] span;  // length of the idle period in bins

  assign span = ticks[31:16];

  always @(*) begin
    bin = span[5:0];
    if (span > TOP_SPAN) begin
      bin = TOP_BIN;
    end
  end

  // What this configuration leaves unread.
  wire unused_ticks = &{1'b0, ticks[15:0]};

endmodule

`default_nettype wire
