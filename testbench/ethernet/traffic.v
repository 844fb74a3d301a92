// The user of a MAC: a queue of frames in front of it, a gate that holds frames back, and the
// scoreboard of what comes out of the MAC at the other end.
//
// A frame of `list` is {bytes without FCS: 16 bits, cycle in which it is ready: 48 bits}. Its bytes
// follow from its number, so that both ends know them and no frame is like another.

`default_nettype none

// The bytes of word `word` of frame `number`, sent by end `from`.
module frame_word (
    input  wire        from,
    input  wire [31:0] number,
    input  wire [15:0] word,
    output wire [63:0] bytes
);
  wire [63:0] mixed = {number, 15'd0, from, word} * 64'h9e3779b97f4a7c15;
  // The first word names the frame: the scoreboard finds its place after a loss.
  assign bytes = word == 16'd0 ? {from, 31'h5a5a5a5a, number} : mixed ^ (mixed >> 31);
endmodule

module frame_source #(
    parameter FROM = 0,
    parameter MOST = 100000
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [47:0] now,
    input  wire [31:0] frames,  // in the list
    input  wire        enable,  // a frame may start
    output wire        waiting,  // a frame waits, or is on its way to the MAC
    output wire        starts,  // the first word of a frame is taken
    output wire        done,
    output wire        valid,
    output wire [63:0] data,
    output wire        last,
    output wire [ 7:0] last_be,
    input  wire        ready
);
  reg [63:0] list[0:MOST-1];
  reg [31:0] number = 32'd0;
  reg [15:0] word = 16'd0;
  reg in_frame = 1'b0;

  wire [63:0] entry = list[number];
  wire [15:0] bytes = entry[63:48];
  wire [15:0] words = (bytes + 16'd7) >> 3;
  wire is_ready = !done && entry[47:0] <= now;
  assign done    = number == frames;
  assign waiting = is_ready || in_frame;
  assign valid   = in_frame || (is_ready && enable);
  assign starts  = valid && ready && word == 16'd0;
  assign last    = word + 16'd1 == words;
  assign last_be = last ? 8'd1 << ((bytes - 16'd1) & 16'd7) : 8'd0;
  frame_word u_word (
      .from(FROM[0]),
      .number(number),
      .word(word),
      .bytes(data)
  );

  always @(posedge clk)
    if (rst) begin
      number <= 32'd0;
      word <= 16'd0;
      in_frame <= 1'b0;
    end else if (valid && ready) begin
      in_frame <= !last;
      word <= last ? 16'd0 : word + 16'd1;
      if (last) number <= number + 32'd1;
    end else if (valid) in_frame <= 1'b1;
endmodule

module scoreboard #(
    parameter FROM = 0,
    parameter MOST = 100000
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        valid,
    input  wire [63:0] data,
    input  wire        last,
    input  wire [ 7:0] last_be,
    input  wire [ 7:0] error,
    output reg  [31:0] intact,  // frames that came as they were sent
    output reg  [31:0] lost,  // numbers that were passed over
    output reg  [31:0] altered  // frames of other bytes, or with an error
);
  reg [63:0] list[0:MOST-1];
  reg [31:0] expected;
  reg [15:0] word;
  reg wrong;

  wire [31:0] number = word == 16'd0 ? data[31:0] : expected;
  wire [15:0] bytes = list[number][63:48];
  wire [63:0] wanted;
  frame_word u_word (
      .from(FROM[0]),
      .number(number),
      .word(word),
      .bytes(wanted)
  );
  wire ends = word + 16'd1 == (bytes + 16'd7) >> 3;
  wire [7:0] last_wanted = 8'd1 << ((bytes - 16'd1) & 16'd7);
  wire [63:0] mask = last ? ~64'd0 >> (6'd56 - {(bytes[2:0] - 3'd1), 3'd0}) : ~64'd0;
  wire bad = ((data ^ wanted) & mask) != 64'd0 || last != ends ||
      (last && (last_be != last_wanted || error != 8'd0)) || (word == 16'd0 && number < expected);

  always @(posedge clk)
    if (rst) begin
      expected <= 32'd0;
      word <= 16'd0;
      wrong <= 1'b0;
      intact <= 32'd0;
      lost <= 32'd0;
      altered <= 32'd0;
    end else if (valid) begin
      word <= last ? 16'd0 : word + 16'd1;
      wrong <= !last && (wrong || bad);
      if (word == 16'd0 && data[63:32] == {FROM[0], 31'h5a5a5a5a} && number > expected) begin
        lost <= lost + number - expected;
        expected <= number;
      end
      if (last) begin
        if (wrong || bad) altered <= altered + 32'd1;
        else intact <= intact + 32'd1;
        expected <= expected + 32'd1;
      end
    end
endmodule

`default_nettype wire
