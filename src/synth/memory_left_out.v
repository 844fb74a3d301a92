(* blackbox *)
module memory_left_out #(
  parameter ABITS = 1, parameter WIDTH = 1, parameter RD_PORTS = 1, parameter WR_PORTS = 1
) (
  input wire clk,
  input wire [RD_PORTS-1:0] read_enable,
  input wire [RD_PORTS*ABITS-1:0] read_address,
  output wire [RD_PORTS*WIDTH-1:0] read_data,
  input wire [WR_PORTS*WIDTH-1:0] write_enable,
  input wire [WR_PORTS*ABITS-1:0] write_address,
  input wire [WR_PORTS*WIDTH-1:0] write_data
);
endmodule
