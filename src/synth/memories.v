// Turns memories into black boxes, before logic is mapped to standard cells: their area
// and timing are those of a memory compiler. Tables that nothing writes stay: they become logic.
(* techmap_celltype = "$mem_v2" *)
module leave_memory_out (RD_CLK, RD_EN, RD_ARST, RD_SRST, RD_ADDR, RD_DATA,
                         WR_CLK, WR_EN, WR_ADDR, WR_DATA);
  parameter MEMID = "";
  parameter SIZE = 0;
  parameter OFFSET = 0;
  parameter ABITS = 0;
  parameter WIDTH = 0;
  parameter INIT = 0;
  parameter RD_PORTS = 0;
  parameter RD_CLK_ENABLE = 0;
  parameter RD_CLK_POLARITY = 0;
  parameter RD_TRANSPARENCY_MASK = 0;
  parameter RD_COLLISION_X_MASK = 0;
  parameter RD_WIDE_CONTINUATION = 0;
  parameter RD_CE_OVER_SRST = 0;
  parameter RD_ARST_VALUE = 0;
  parameter RD_SRST_VALUE = 0;
  parameter RD_INIT_VALUE = 0;
  parameter WR_PORTS = 0;
  parameter WR_CLK_ENABLE = 0;
  parameter WR_CLK_POLARITY = 0;
  parameter WR_PRIORITY_MASK = 0;
  parameter WR_WIDE_CONTINUATION = 0;
  input [RD_PORTS-1:0] RD_CLK, RD_EN, RD_ARST, RD_SRST;
  input [RD_PORTS*ABITS-1:0] RD_ADDR;
  output [RD_PORTS*WIDTH-1:0] RD_DATA;
  input [WR_PORTS-1:0] WR_CLK;
  input [WR_PORTS*WIDTH-1:0] WR_EN, WR_DATA;
  input [WR_PORTS*ABITS-1:0] WR_ADDR;
  wire _TECHMAP_FAIL_ = WR_PORTS == 0;
  memory_left_out #(
    .ABITS(ABITS), .WIDTH(WIDTH), .RD_PORTS(RD_PORTS), .WR_PORTS(WR_PORTS)
  ) _TECHMAP_REPLACE_ (
    .clk(WR_CLK[0]), .read_enable(RD_EN), .read_address(RD_ADDR), .read_data(RD_DATA),
    .write_enable(WR_EN), .write_address(WR_ADDR), .write_data(WR_DATA)
  );
endmodule
