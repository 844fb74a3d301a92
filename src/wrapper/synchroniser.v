`default_nettype none

module synchroniser (
    input  wire clk,           // the clock of who reads
    input  wire asynchronous,  // a register of another clock
    output wire synchronous    // what it holds, two edges of clk later
);

  (* ASYNC_REG = "TRUE" *) reg first;   // may come to rest late
  (* ASYNC_REG = "TRUE" *) reg second;  // is read

  always @(posedge clk) begin
    first <= asynchronous;
    second <= first;
  end

  assign synchronous = second;

endmodule

`default_nettype wire
