//! What Yosys and OpenSTA tell of a controller in standard cells.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::report::{Enable, StaticPath};

/// Flip-flops before they are mapped, and what enables them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FlipFlops {
    pub count: u64,
    /// The largest first.
    pub enables: Vec<Enable>,
}

/// The parts of Yosys' `write_json` that are read here.
#[derive(Deserialize)]
struct Netlist {
    modules: BTreeMap<String, Module>,
}

#[derive(Deserialize)]
struct Module {
    cells: BTreeMap<String, Cell>,
    netnames: BTreeMap<String, Net>,
}

#[derive(Deserialize)]
struct Cell {
    #[serde(rename = "type")]
    kind: String,
    /// A bit is a number, or a constant as a text.
    connections: BTreeMap<String, Vec<Value>>,
}

#[derive(Deserialize)]
struct Net {
    hide_name: u8,
    bits: Vec<Value>,
}

/// The flip-flops of the module `top` in what Yosys' `write_json` wrote before they were mapped:
/// `$_DFFE_PN_` has an enable that is active low, `$_SDFFCE_PP0P_` one that is active high.
///
/// # Errors
/// If the text has another form.
pub(super) fn flip_flops(text: &str, top: &str) -> Result<FlipFlops, String> {
    let mut netlist: Netlist = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let module = (netlist.modules.remove(top)).ok_or_else(|| format!("no module {top}"))?;
    let public = module.netnames.iter().filter(|(_, net)| net.hide_name == 0);
    // A bit has several names: those of the pins that it leads to, and that of the register.
    let mut names: BTreeMap<u64, &str> = BTreeMap::new();
    for (name, net) in public {
        for bit in net.bits.iter().filter_map(Value::as_u64) {
            let known = names.entry(bit).or_insert(name);
            if name.ends_with("_q") {
                *known = name;
            }
        }
    }
    let mut count = 0;
    let mut behind: BTreeMap<(u64, char), (u64, BTreeSet<&str>)> = BTreeMap::new();
    let registers = module
        .cells
        .values()
        .filter(|cell| cell.kind.contains("DFF"));
    for cell in registers {
        count += 1;
        let bit = |pin: &str| cell.connections.get(pin)?.first()?.as_u64();
        let Some(enable) = bit("E") else { continue };
        let active = cell.kind.trim_end_matches('_').chars().last();
        let (number, registers) = behind.entry((enable, active.unwrap_or('P'))).or_default();
        *number += 1;
        registers.extend(bit("Q").and_then(|bit| names.get(&bit)));
    }
    let enables = behind.into_values().map(|(flip_flops, registers)| Enable {
        flip_flops,
        registers: registers.into_iter().map(str::to_owned).collect(),
    });
    let mut enables: Vec<Enable> = enables.collect();
    enables.sort_by(|one, other| {
        (other.flip_flops, &one.registers).cmp(&(one.flip_flops, &other.registers))
    });
    Ok(FlipFlops { count, enables })
}

/// The area of the top in what Yosys' `stat -liberty` prints. The JSON of Yosys 0.23 has none.
pub(super) fn chip_area(statistics: &str) -> Option<f64> {
    let mut areas = statistics.lines().filter_map(|line| {
        let (_, area) = line
            .trim_start()
            .strip_prefix("Chip area for ")?
            .rsplit_once(": ")?;
        area.trim().parse().ok()
    });
    areas.next_back()
}

/// The slowest path in a report of OpenSTA's `report_checks -format full_clock`; `netlist` names its
/// ends.
pub(super) fn slowest(report: &str, netlist: &str) -> Option<StaticPath> {
    let end = |label: &str| {
        report.lines().find_map(|line| {
            let rest = line.trim_start().strip_prefix(label)?;
            rest.split_whitespace().next()
        })
    };
    // What is printed in front of a label, negated where it is subtracted; the first of each.
    let time = |label: &str| {
        report.lines().find_map(|line| {
            let (number, rest) = line.trim_start().split_once(' ')?;
            let found = rest.trim_start().starts_with(label);
            number.parse::<f64>().ok().filter(|_| found)
        })
    };
    let (from, to) = (end("Startpoint:")?, end("Endpoint:")?);
    let mut on_the_way: BTreeSet<&str> = BTreeSet::new();
    for line in report.lines() {
        if line.contains("data arrival time") {
            break;
        }
        // `0.1600    0.5200 ^ _783_/Y (OAI21X1)`; pins of the top are `(in)` and `(out)`.
        let pin = line.split_whitespace().rev().nth(1).unwrap_or_default();
        on_the_way.extend(pin.rsplit_once('/').map(|(instance, _)| instance));
    }
    let gates = on_the_way.iter().filter(|&&it| it != from && it != to);
    Some(StaticPath {
        slack_ns: time("slack")?,
        arrival_ns: time("data arrival time")?,
        required_ns: time("data required time")?,
        gates: gates.count() as u64,
        from: register_of(netlist, from),
        to: register_of(netlist, to),
    })
}

/// The net that the register cell `instance` drives: its name in the controller. A pin keeps its own.
pub(super) fn register_of(netlist: &str, instance: &str) -> String {
    let named = || {
        let (_, cell) = netlist.split_once(&format!(" {instance} ("))?;
        let (_, output) = cell.split(';').next()?.split_once(".Q(")?;
        let net = output.split(')').next()?.trim().trim_start_matches('\\');
        Some(net.to_owned())
    };
    named().unwrap_or_else(|| instance.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flip_flops_are_grouped_by_what_enables_them() {
        let cell = |kind: &str, enable: &str, q: u64| {
            format!(r#"{{"type": "{kind}", "connections": {{"D": [9], "Q": [{q}]{enable}}}}}"#)
        };
        let cells = [
            cell("$_DFF_P_", "", 20),
            cell("$_DFFE_PP_", r#", "E": [5]"#, 21),
            cell("$_SDFFE_PP0P_", r#", "E": [5]"#, 22),
            cell("$_SDFFCE_PP1P_", r#", "E": [5]"#, 23),
            // The same net, active low: another gate of the clock.
            cell("$_SDFFE_PP0N_", r#", "E": [5]"#, 24),
            cell("$_SDFFE_PP0P_", r#", "E": [6]"#, 25),
            cell("$_SDFFE_PP0P_", r#", "E": [6]"#, 26),
            cell("$_AND_", "", 5),
        ];
        let cells: Vec<String> = (cells.iter().enumerate())
            .map(|(at, cell)| format!(r#""cell{at}": {cell}"#))
            .collect();
        let text = format!(
            r#"{{"modules": {{"port": {{"cells": {{{}}}, "netnames": {{
                "a_q": {{"hide_name": 0, "bits": [21, 22, "x"]}},
                "u_b.c_q": {{"hide_name": 0, "bits": [23]}},
                "wire": {{"hide_name": 0, "bits": [20, 21, 22, 23, 24, "0"]}},
                "$1": {{"hide_name": 1, "bits": [25, 26]}}}}}}}}}}"#,
            cells.join(", ")
        );
        let found = flip_flops(&text, "port").unwrap();
        assert_eq!(found.count, 7);
        let groups: Vec<(u64, Vec<&str>)> = (found.enables.iter())
            .map(|it| {
                (
                    it.flip_flops,
                    it.registers.iter().map(String::as_str).collect(),
                )
            })
            .collect();
        assert_eq!(
            groups,
            [(3, vec!["a_q", "u_b.c_q"]), (2, vec![]), (1, vec!["wire"])]
        );
        assert_eq!(flip_flops(&text, "switch").unwrap_err(), "no module switch");
        assert!(flip_flops("{}", "port").is_err());
    }

    /// As Yosys 0.23 and 0.70 print it.
    #[test]
    fn the_area_is_that_of_the_top() {
        let old = "     XOR2X1    18\n\n   Chip area for module '\\port': 78319.000000\n\n";
        assert_eq!(chip_area(old), Some(78319.0));
        let new =
            "   Chip area for module '\\port': 78319.500000\n     of which used for sequential \
                   elements: 31488.000000 (40.21%)\n";
        assert_eq!(chip_area(new), Some(78319.5));
        let several = "   Chip area for module '\\a': 1.000000\n   Chip area for top module \
                       '\\port': 7.000000\n";
        assert_eq!(chip_area(several), Some(7.0));
        assert_eq!(chip_area("   Number of cells: 3\n"), None);
    }

    /// As OpenSTA 2.0.17 prints it.
    #[test]
    fn the_slowest_path_is_found_in_openstas_report() {
        let report = "\
Startpoint: _3643_ (rising edge-triggered flip-flop clocked by clk)
Endpoint: _3536_ (rising edge-triggered flip-flop clocked by clk)
Path Group: clk
Path Type: max

    Delay      Time   Description
-------------------------------------------------------------
   0.0000    0.0000   clock clk (rise edge)
   0.0000    0.0000 ^ _3643_/CLK (DFFPOSX1)
   0.1829    0.1829 v _3643_/Q (DFFPOSX1)
   0.1912    0.3741 ^ _1783_/Y (OAI21X1)
   2.3674    2.7415 v _1784_/Y (AOI21X1)
   0.0000    2.7415 v _3536_/D (DFFPOSX1)
             2.7415   data arrival time

   1.0000    1.0000   clock clk (rise edge)
             1.0000 ^ _3536_/CLK (DFFPOSX1)
  -0.1607    0.8393   library setup time
             0.8393   data required time
-------------------------------------------------------------
             0.8393   data required time
            -2.7415   data arrival time
-------------------------------------------------------------
            -1.9022   slack (VIOLATED)
";
        let netlist = "  DFFPOSX1 _3643_ (\n    .CLK(clk),\n    .D(_1_),\n    \
                       .Q(\\u_perfbound.state_q [0])\n  );\n";
        let found = slowest(report, netlist).unwrap();
        assert_eq!(
            (found.slack_ns, found.arrival_ns, found.required_ns),
            (-1.9022, 2.7415, 0.8393)
        );
        assert_eq!(found.gates, 2);
        assert_eq!(found.from, "u_perfbound.state_q [0]");
        assert_eq!(found.to, "_3536_");
        assert_eq!(slowest("No paths found.\n", netlist), None);
        let from_a_pin = report
            .replace("Startpoint: _3643_", "Startpoint: rst")
            .replace("_3643_/CLK (DFFPOSX1)", "rst (in)")
            .replace("   0.1829    0.1829 v _3643_/Q (DFFPOSX1)\n", "");
        let found = slowest(&from_a_pin, netlist).unwrap();
        assert_eq!((found.from.as_str(), found.gates), ("rst", 2));
    }
}
