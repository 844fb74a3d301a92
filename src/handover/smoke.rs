//! The smoke test of a design: a testbench for any simulator that knows SystemVerilog's `$fatal`.
//!
//! It drives every port alike: packets with idle time in between, and another end of the link that
//! says nothing. It finds files that are missing or were mixed up, ports that never come awake,
//! outputs without a value, and registers that do not answer. What the controller should do in
//! detail the co-simulation compares.

use std::fmt::Write as _;

use super::{comment, TESTBENCH};
use crate::blocks::csr::map;
use crate::blocks::mii::IDLE;
use crate::blocks::{link_sync, lpi_fsm};
use crate::config::plan::PortPlan;
use crate::hdl::sim::{Pin, PinDirection};
use crate::hdl::Design;

/// Packets that every port sends.
const PACKETS: u32 = 8;

/// Clock cycles that a packet takes. **Ours**, as are the other figures: enough to be no special
/// case, and few.
const PACKET_CYCLES: u32 = 4;

/// Idle clock cycles between packets.
const IDLE_CYCLES: u32 = 100;

/// Clock cycles within which the registers answer.
const ANSWER_CYCLES: u32 = 100;

/// The module of the smoke test.
pub fn name(top: &str) -> String {
    format!("{top}_smoke")
}

/// The smoke test of a design of one port, or of several: name and text of the file. `hash` is the
/// SHA-256 of the configuration. The same arguments give the same bytes.
pub fn file(design: &Design, plan: &PortPlan, ports: Option<u32>, hash: &str) -> (String, String) {
    let top = design.top();
    let module = name(top);
    let pins = design.pins();
    let [emitted, hashed] = crate::files::origin(hash);
    let count = ports.unwrap_or(1);
    let longest = match plan.messages() {
        Some(_) => link_sync::wake_bound(plan, None).unwrap_or_default(),
        None => lpi_fsm::wake_bound(plan),
    };
    let mut text = comment(
        "//",
        &[
            &module,
            "",
            &format!("Smoke test of {top}: every port comes awake and sends packets, no output is"),
            "unknown, and the registers, if there are any, answer. Ends with `$fatal` otherwise. The",
            "other end of the link says nothing, and no port is idle for long.",
            "",
            &emitted,
            &hashed,
        ],
    );
    let registers = plan.registers.is_some();
    // The only outputs that say so; of several ports the registers say it.
    let counts_pins = pins.iter().any(|pin| pin.name == "hit");
    let outputs = outputs(&pins);
    let _ = write!(
        text,
        "\n`default_nettype none\n\nmodule {module};\n\n  \
         localparam integer PORTS = {count};\n  \
         localparam integer PACKETS = {PACKETS};\n  \
         // Clock cycles within which a port comes awake, whatever the other end does.\n  \
         localparam [63:0] LONGEST_WAIT = 64'd{longest};\n\n  \
         reg clk = 1'b0;\n  reg rst = 1'b1;\n  reg queue_nonempty = 1'b0;\n  \
         reg transmitting = 1'b0;\n  reg packet_valid = 1'b0;\n  \
         wire [PORTS-1:0] tx_enable;\n"
    );
    if counts_pins {
        text += "  wire hit;\n  wire miss;\n";
    }
    if registers {
        text += "  reg s_axi_arvalid = 1'b0;\n  reg [31:0] s_axi_araddr = 32'd0;\n  \
                 wire s_axi_arready;\n  wire s_axi_rvalid;\n  wire [1:0] s_axi_rresp;\n  \
                 wire [31:0] s_axi_rdata;\n";
    }
    let _ = writeln!(text, "  wire [{}:0] others;", outputs.others.max(1) - 1);
    if outputs.others == 0 {
        text += "  assign others = 1'b0;\n";
    }
    let _ = write!(
        text,
        "\n  // Half a period is one unit of time: what is driven changes at the falling edge.\n  \
         initial forever #1 clk = ~clk;\n\n  {top} dut (\n"
    );
    let width = pins.iter().map(|pin| pin.name.len()).max().unwrap_or(0);
    let connections: Vec<String> = pins
        .iter()
        .map(|pin| {
            let value = match pin.direction {
                PinDirection::Input => input(pin),
                PinDirection::Output => outputs.of(&pin.name),
            };
            format!("      .{:width$} ({value})", pin.name)
        })
        .collect();
    let _ = write!(text, "{}\n  );\n\n", connections.join(",\n"));
    let _ = write!(
        text,
        "{}  integer packet;\n  reg [63:0] waited;\n\n  \
         // A clock cycle: its inputs are driven, its outputs stand.\n  \
         task cycle;\n    begin\n      @(negedge clk);\n      \
         if (^{{{}}} === 1'bx) $fatal(1, \"{module}: an output is unknown\");\n",
        if counts_pins {
            "  integer ended = 0;\n"
        } else {
            ""
        },
        outputs.all.join(", ")
    );
    if counts_pins {
        text += "      if (hit || miss) ended = ended + 1;\n";
    }
    text += "    end\n  endtask\n";
    if registers {
        let _ = write!(
            text,
            "\n  \
             // Reads a register, which must hold a value.\n  \
             task expect_register(input [31:0] address, input [31:0] value);\n    begin\n      \
             s_axi_araddr = address;\n      s_axi_arvalid = 1'b1;\n      waited = 64'd0;\n      \
             while (!s_axi_arready && waited < {ANSWER_CYCLES}) begin\n        cycle;\n        \
             waited = waited + 64'd1;\n      end\n      \
             cycle;\n      s_axi_arvalid = 1'b0;\n      \
             while (!s_axi_rvalid && waited < {ANSWER_CYCLES}) begin\n        cycle;\n        \
             waited = waited + 64'd1;\n      end\n      \
             if (!s_axi_rvalid || s_axi_rresp != 2'd0 || s_axi_rdata != value)\n        \
             $fatal(1, \"{module}: the register at %h holds %h, not %h\", address, s_axi_rdata, value);\n      \
             cycle;\n    end\n  endtask\n",
        );
    }
    let _ = write!(
        text,
        "\n  initial begin\n    repeat (3) @(negedge clk);\n    // Reset gives every output a value.\n    cycle;\n    rst = 1'b0;\n    \
         for (packet = 0; packet < PACKETS; packet = packet + 1) begin\n      \
         queue_nonempty = 1'b1;\n      waited = 64'd0;\n      cycle;\n      \
         while (!(&tx_enable)) begin\n        \
         if (waited > LONGEST_WAIT) $fatal(1, \"{module}: a port does not come awake\");\n        \
         cycle;\n        waited = waited + 64'd1;\n      end\n      \
         transmitting = 1'b1;\n      packet_valid = 1'b1;\n      cycle;\n      \
         packet_valid = 1'b0;\n      repeat ({}) cycle;\n      \
         transmitting = 1'b0;\n      queue_nonempty = 1'b0;\n      \
         repeat ({IDLE_CYCLES}) cycle;\n    end\n",
        PACKET_CYCLES - 1,
    );
    if counts_pins {
        let _ = write!(
            text,
            "    // The last idle period has not ended.\n    \
             if (ended != PACKETS - 1) $fatal(1, \"{module}: %0d idle periods, not %0d\", ended, PACKETS - 1);\n"
        );
    }
    if registers {
        let page = map::port(plan);
        let periods = page.register("periods_low").offset;
        let magic = page.register("magic");
        let _ = write!(
            text,
            "    for (packet = 0; packet < PORTS; packet = packet + 1) begin\n      \
             expect_register(packet * 32'h{:x} + 32'h{:x}, 32'h{:x});\n      \
             // The last idle period has not ended.\n      \
             expect_register(packet * 32'h{:x} + 32'h{periods:x}, PACKETS - 1);\n    end\n",
            map::STRIDE,
            magic.offset,
            magic.reset(),
            map::STRIDE,
        );
    }
    let _ = write!(
        text,
        "    $display(\"{module}: passed: ports %0d, packets of each %0d\", PORTS, PACKETS);\n    \
         $finish;\n  end\n\nendmodule\n\n`default_nettype wire\n"
    );
    (format!("{TESTBENCH}/{module}.sv"), text)
}

/// The port whose pin it is, and what the pin is called without its number.
fn port_of(pin: &str) -> (&str, u32) {
    let numbered = pin
        .rsplit_once('_')
        .and_then(|(name, port)| Some((name, port.parse().ok()?)));
    numbered.unwrap_or((pin, 0))
}

/// What an input is tied to.
fn input(pin: &Pin) -> String {
    let (name, _) = port_of(&pin.name);
    match name {
        "clk" | "rst" | "queue_nonempty" | "transmitting" | "packet_valid" | "s_axi_arvalid" => {
            name.to_owned()
        }
        "s_axi_araddr" => format!("{name}[{}:0]", pin.width - 1),
        // A packet of one hop; the other end would let the link sleep, and so do the control pins;
        // there is a link; answers are taken at once.
        "packet_hops" | "enable" | "link_up" | "sleep_permit" | "initiator" | "s_axi_bready"
        | "s_axi_rready" => {
            format!("{}'d1", pin.width)
        }
        // Idle in every lane: the frames themselves are the MAC's and the PHY's.
        "mac_tx_data" | "phy_rx_data" => format!("{{{}{{8'h{IDLE:02x}}}}}", pin.width / 8),
        "mac_tx_control" | "phy_rx_control" => format!("{{{}{{1'b1}}}}", pin.width),
        _ => format!("{}'d0", pin.width),
    }
}

/// Where the outputs go.
struct Outputs {
    /// Each pin and what it is connected to.
    places: Vec<(String, String)>,
    /// Bits of those that nothing but the check for unknown values reads.
    others: u32,
    /// All that the outputs are connected to.
    all: Vec<&'static str>,
}

impl Outputs {
    fn of(&self, pin: &str) -> String {
        let place = self.places.iter().find(|(name, _)| name == pin);
        place.map_or_else(String::new, |(_, place)| place.clone())
    }
}

fn outputs(pins: &[Pin]) -> Outputs {
    const READ: [&str; 6] = [
        "hit",
        "miss",
        "s_axi_arready",
        "s_axi_rvalid",
        "s_axi_rresp",
        "s_axi_rdata",
    ];
    let mut found = Outputs {
        places: Vec::new(),
        others: 0,
        all: vec!["tx_enable"],
    };
    for pin in pins {
        if pin.direction != PinDirection::Output {
            continue;
        }
        let (name, port) = port_of(&pin.name);
        let place = match (name, READ.iter().find(|read| **read == name)) {
            ("tx_enable", _) => format!("tx_enable[{port}]"),
            (_, Some(read)) => {
                found.all.push(read);
                name.to_owned()
            }
            _ => {
                let low = found.others;
                found.others += pin.width;
                format!("others[{}:{low}]", low + pin.width - 1)
            }
        };
        found.places.push((pin.name.clone(), place));
    }
    found.all.push("others");
    found
}
