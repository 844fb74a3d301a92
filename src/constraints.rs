//! The timing constraints of a configuration: SDC for ASIC flows and Quartus, XDC for Vivado,
//! LPF for the Lattice ECP5. They find their targets by the pins' names in the Verilog.
//!
//! The block sits inside a switch: its pins lead to registers of the same clock, not to a
//! board. All outputs of a port depend on registers alone ([`crate::blocks::port::pins`]), so no
//! path leads from pin to pin, and what the surroundings of a pin leave of the period is the block's.
//! Of some parts of a switch paths lead from pin to pin, and have surroundings at both ends.

use std::fmt::Write as _;

use crate::hdl::sim::{Pin, PinDirection};
use crate::hdl::{Design, Type};

/// The clock period is shared out to so many: the surroundings before an input or behind an output,
/// and the block. **Ours:** each has the same, as none is known to need more.
const SHARES: u64 = 2;

/// The same where paths lead through the block, with surroundings at both ends.
const SHARES_THROUGH: u64 = 3;

/// The pins that stand still while the block runs: which end of a link this is (SPEC 5), and the place
/// of a switch in its tree. Several ports have one each, with `_0`, `_1`, ... behind the name.
const STRAPS: [&str; 3] = ["initiator", "minimal", "cabled"];

/// Widest line, as in the Verilog.
const COLUMNS: usize = 98;

/// The files of a design whose clock has a period of `period_ps` picoseconds: name and text.
/// `hash` is the SHA-256 of the configuration. The same arguments give the same bytes.
pub fn files(design: &Design, period_ps: u64, hash: &str) -> Vec<(String, String)> {
    let domains = [design.pins()];
    of_pins(
        design.top(),
        &domains,
        design.leads_through(),
        period_ps,
        hash,
    )
}

/// The same of a module by its pins: those of each of its clocks, with that clock, which all have this
/// period. Clocks have nothing to do with each other. Where the module has several, no path
/// leads through it from pin to pin.
pub fn of_pins(
    top: &str,
    domains: &[Vec<Pin>],
    leads_through: bool,
    period_ps: u64,
    hash: &str,
) -> Vec<(String, String)> {
    let [emitted, hashed] = crate::files::origin(hash);
    let origin = format!("# {emitted}\n# {hashed}\n\n");
    let sdc = format!(
        "# Timing of module {top} as a block of an ASIC: Synopsys Design Constraints, for static\n\
         # timing, synthesis and layout; Quartus reads them, too. All times are in ns. A tool that\n\
         # takes the unit of its cell library must be set to ns first (OpenSTA:\n\
         # set_cmd_units -time ns).\n#\n\
         {origin}{}{}",
        tcl(domains, period_ps, leads_through),
        groups(domains)
    );
    let xdc = format!(
        "# Timing of module {top} for Vivado, synthesised or placed by itself:\n\
         #   read_xdc -mode out_of_context {top}.xdc\n\
         # Do not read it when the block is part of a larger design, which knows the clock and what\n\
         # surrounds the block.\n#\n\
         {origin}{}{}",
        tcl(domains, period_ps, leads_through),
        longest_crossings(domains, period_ps)
    );
    let lpf = format!(
        "# Timing of module {top} for the Lattice ECP5 (nextpnr-ecp5 --lpf).\n#\n\
         {origin}{}",
        preferences(domains, period_ps)
    );
    vec![
        (format!("{top}.sdc"), sdc),
        (format!("{top}.xdc"), xdc),
        (format!("{top}.lpf"), lpf),
    ]
}

/// What SDC and XDC have in common.
fn tcl(domains: &[Vec<Pin>], period_ps: u64, leads_through: bool) -> String {
    let of_clocks = domains
        .iter()
        .map(|pins| of_clock(pins, period_ps, leads_through));
    of_clocks.collect::<Vec<_>>().join("\n")
}

/// The clocks, if there are several.
fn clocks(domains: &[Vec<Pin>]) -> Vec<&str> {
    match domains {
        [_] => Vec::new(),
        _ => domains.iter().map(|pins| clock(pins)).collect(),
    }
}

/// What SDC says of several clocks.
fn groups(domains: &[Vec<Pin>]) -> String {
    let clocks = clocks(domains);
    if clocks.is_empty() {
        return String::new();
    }
    let groups = clocks.iter().map(|clock| format!(" -group {{{clock}}}"));
    format!(
        "\n# The clocks have nothing to do with each other. What crosses stands still for two cycles of\n\
         # the clock that it leads to: a path between them must take less than one of them, which these\n\
         # groups do not check.\n\
         set_clock_groups -asynchronous{}\n",
        groups.collect::<String>()
    )
}

/// The same for Vivado: asynchronous groups would take precedence over the longest delays.
fn longest_crossings(domains: &[Vec<Pin>], period_ps: u64) -> String {
    let clocks = clocks(domains);
    if clocks.is_empty() {
        return String::new();
    }
    let mut text = "\n# The clocks have nothing to do with each other. What crosses stands still for two cycles of\n\
                    # the clock that it leads to: a path between them takes less than one of them. In the place of\n\
                    # set_clock_groups, which would take precedence over these delays.\n"
        .to_owned();
    for from in &clocks {
        for to in clocks.iter().filter(|to| *to != from) {
            let _ = writeln!(
                text,
                "set_max_delay -datapath_only -from [get_clocks {{{from}}}] -to [get_clocks {{{to}}}] {}",
                period_ps as f64 / 1e3
            );
        }
    }
    text
}

/// One clock and its pins, in SDC and XDC.
fn of_clock(pins: &[Pin], period_ps: u64, leads_through: bool) -> String {
    let period = period_ps as f64 / 1e3;
    let outside = match leads_through {
        false => period / SHARES as f64,
        // In whole picoseconds: the division goes on for ever.
        true => (period_ps / SHARES_THROUGH) as f64 / 1e3,
    };
    let (inputs, outputs) = match leads_through {
        false => (
            "# Inputs come from registers of the same clock, and no path leads through the block from\n\
             # pin to pin. Half of the period passes outside, register and wires included; the other\n\
             # half is the block's. No input changes before the edge.",
            "# Outputs depend on registers of the block alone and lead to registers of the same clock,\n\
             # through half a period of wires and logic at most, and none at least.",
        ),
        true => (
            "# Inputs come from registers of the same clock, and paths lead through the block from pin to\n\
             # pin. A third of the period passes before an input, register and wires included, a third\n\
             # behind an output, and a third is left between two pins. No input changes before the edge.",
            "# Outputs lead to registers of the same clock, through a third of the period of wires and\n\
             # logic at most, and none at least.",
        ),
    };
    let clock = clock(pins);
    let resets = pins
        .iter()
        .filter(|pin| pin.name == "rst" || pin.name.ends_with("aresetn"));
    let resets: String = resets
        .map(|pin| {
            format!(
                "\n# {} is synchronous: an input like the others, without recovery and removal.",
                pin.name
            )
        })
        .collect();
    let of = |direction: PinDirection| -> Vec<String> {
        pins.iter()
            .filter(|pin| pin.direction == direction && pin.kind != Type::Clock)
            .map(target)
            .collect()
    };
    let straps: Vec<String> = pins
        .iter()
        .filter(|pin| is_strap(pin))
        .map(target)
        .collect();
    let says = match pins.iter().any(|pin| pin.name == "clk") {
        true => {
            "# The clock, with [clock] period_ps of the configuration: the block counts all times in it.\n"
        }
        false => "# A clock for AXI4-Lite alone: put its own period here, if it is another.\n",
    };
    let mut text = format!(
        "{says}\
         # Jitter and skew depend on the technology: the flow adds its own set_clock_uncertainty.\n\
         create_clock -name {clock} -period {period} [get_ports {{{clock}}}]\n\n\
         {inputs}{resets}\n\
         set inputs [get_ports {{\n{}}}]\n\
         set_input_delay -clock {clock} -max {outside} $inputs\n\
         set_input_delay -clock {clock} -min 0 $inputs\n\n\
         {outputs}\n\
         set outputs [get_ports {{\n{}}}]\n\
         set_output_delay -clock {clock} -max {outside} $outputs\n\
         set_output_delay -clock {clock} -min 0 $outputs\n",
        listed(&of(PinDirection::Input)),
        listed(&of(PinDirection::Output)),
    );
    if !straps.is_empty() {
        let _ = write!(
            text,
            "\n{}\n\
             set_false_path -from [get_ports {{\n{}}}]\n",
            match straps[0].starts_with(STRAPS[0]) {
                true => {
                    "# A strap: tied high at one end of the link, low at the other. It never changes while the\n\
                     # block is out of reset, so that no register has to catch a change."
                }
                false => {
                    "# Straps: the place of the switch in its tree. They never change while the block is out of\n\
                     # reset, so that no register has to catch a change."
                }
            },
            listed(&straps)
        );
    }
    text
}

/// What nextpnr-ecp5 reads of a Lattice preference file, pins and buffers aside.
fn preferences(domains: &[Vec<Pin>], period_ps: u64) -> String {
    let mut text = "# The clock, with [clock] period_ps of the configuration as a frequency. nextpnr takes no\n\
                    # delays of pins: it times the block together with the logic around it.\n"
        .to_owned();
    if domains.len() > 1 {
        text += "# It does not time paths between two clocks.\n";
    }
    for pins in domains {
        let _ = writeln!(
            text,
            "FREQUENCY PORT \"{}\" {:.6} MHZ;",
            clock(pins),
            1e6 / period_ps as f64
        );
    }
    text
}

/// The name of the clock.
fn clock(pins: &[Pin]) -> &str {
    pins.iter()
        .find(|pin| pin.kind == Type::Clock)
        .map_or("clk", |pin| pin.name.as_str())
}

fn is_strap(pin: &Pin) -> bool {
    let is_of = |strap: &str| {
        pin.name.strip_prefix(strap).is_some_and(|rest| {
            rest.trim_start_matches('_')
                .bytes()
                .all(|b| b.is_ascii_digit())
        })
    };
    pin.direction == PinDirection::Input && STRAPS.into_iter().any(is_of)
}

/// The pattern that finds a pin: of a vector, its bits.
fn target(pin: &Pin) -> String {
    match pin.width {
        1 => pin.name.clone(),
        _ => format!("{}[*]", pin.name),
    }
}

/// Names in indented lines.
fn listed(names: &[String]) -> String {
    let mut text = String::new();
    let mut line = String::new();
    for name in names {
        if !line.is_empty() && line.len() + 1 + name.len() > COLUMNS {
            let _ = writeln!(text, "{line}");
            line.clear();
        }
        line += if line.is_empty() { "    " } else { " " };
        line += name;
    }
    let _ = writeln!(text, "{line}");
    text
}
