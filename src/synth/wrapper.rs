//! The controller between shift registers, for place and route.

use std::fmt::Write as _;

use crate::hdl::sim::{Pin, PinDirection};
use crate::hdl::Type;

/// Name of the wrapper's module.
pub(super) const MODULE: &str = "between_shift_registers";

/// Name of the controller's instance in it.
pub(super) const INSTANCE: &str = "dut";

/// A module with two data pins whose input shift register drives the inputs of `top`, and
/// whose output chain takes in every output: nothing is optimised away, and every path of
/// the controller is one between registers.
pub(super) fn verilog(top: &str, pins: &[Pin]) -> String {
    let of = |direction: PinDirection| {
        pins.iter()
            .filter(move |pin| pin.direction == direction && pin.kind != Type::Clock)
    };
    let width = |direction: PinDirection| of(direction).map(|pin| pin.width).sum::<u32>().max(2);
    let inputs = width(PinDirection::Input);
    let outputs = width(PinDirection::Output);
    let mut text = format!(
        "module {MODULE} (input wire clk, input wire scan_in, output wire scan_out);\n  \
           reg [{}:0] stimulus;\n  \
           reg [{1}:0] chain;\n  \
           wire [{1}:0] response;\n  \
           assign scan_out = chain[{1}];\n  \
           always @(posedge clk) begin\n    \
             stimulus <= {{stimulus[{2}:0], scan_in}};\n    \
             chain <= (chain << 1) ^ response;\n  \
           end\n  \
           {top} {INSTANCE} (\n",
        inputs - 1,
        outputs - 1,
        inputs - 2
    );
    let mut connections = Vec::new();
    for pin in pins.iter().filter(|pin| pin.kind == Type::Clock) {
        connections.push(format!("    .{}(clk)", pin.name));
    }
    for (direction, net) in [
        (PinDirection::Input, "stimulus"),
        (PinDirection::Output, "response"),
    ] {
        let mut low = 0;
        for pin in of(direction) {
            connections.push(format!("    .{}({net}[{low}+:{}])", pin.name, pin.width));
            low += pin.width;
        }
    }
    let _ = writeln!(text, "{}\n  );\nendmodule", connections.join(",\n"));
    text
}
