use std::collections::BTreeMap;

use serde_json::json;

use super::flow::{placed, readable};
use super::netlist::Memories;
use super::*;
use crate::config::Config;
use crate::hdl::{check, Design};

fn design() -> (Config, Design) {
    let preset = &crate::config::PRESETS[0];
    let config = Config::parse(preset.text, preset.name).unwrap();
    let design = crate::rtl::design(&config).unwrap();
    (config, design)
}

#[test]
fn targets_are_read_as_they_are_printed() {
    for text in ["ice40", "ecp5", "xilinx", "liberty:cells/a.lib"] {
        assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
    }
    for text in ["ICE40", "liberty:", "liberty", ""] {
        let error = text.parse::<Target>().unwrap_err();
        assert!(error.contains("liberty:FILE"), "{error}");
    }
}

#[test]
fn cells_are_sorted() {
    let count = |target: &Target, cells: &[(&str, u64)]| {
        let cells: BTreeMap<String, u64> = cells
            .iter()
            .map(|&(name, number)| (name.to_owned(), number))
            .collect();
        let found = Resources::of(target, cells);
        (
            found.luts,
            found.flip_flops,
            found.carry,
            found.memory_blocks,
            found.lut_memories,
            found.cells,
        )
    };
    let ice40 = [
        ("SB_CARRY", 3),
        ("SB_DFF", 5),
        ("SB_DFFESR", 7),
        ("SB_LUT4", 11),
        ("SB_RAM40_4K", 2),
    ];
    assert_eq!(
        count(&Target::Ice40, &ice40),
        (Some(11), 12, Some(3), Some(2), None, 28)
    );
    let ecp5 = [
        ("CCU2C", 3),
        ("DP16KD", 1),
        ("L6MUX21", 4),
        ("LUT4", 11),
        ("TRELLIS_DPR16X4", 2),
        ("TRELLIS_FF", 5),
    ];
    assert_eq!(
        count(&Target::Ecp5, &ecp5),
        (Some(11), 5, Some(3), Some(1), Some(2), 26)
    );
    let xilinx = [
        ("CARRY4", 3),
        ("FDRE", 5),
        ("FDSE", 1),
        ("INV", 2),
        ("LUT2", 11),
        ("LUT6", 4),
        ("RAM32M16", 2),
        ("RAMB18E2", 1),
        ("RAMB36E2", 1),
    ];
    assert_eq!(
        count(&Target::Xilinx, &xilinx),
        (Some(15), 6, Some(3), Some(3), Some(2), 30)
    );
}

#[test]
fn the_spread_of_an_even_number_of_seeds_has_its_median_between() {
    assert_eq!(Spread::of(&[]), None);
    let one = Spread::of(&[3.0]).unwrap();
    assert_eq!((one.median, one.min, one.max), (3.0, 3.0, 3.0));
    let four = Spread::of(&[1.0, 2.0, 4.0, 9.0]).unwrap();
    assert_eq!((four.median, four.min, four.max), (3.0, 1.0, 9.0));
    let five = Spread::of(&[1.0, 2.0, 4.0, 5.0, 9.0]).unwrap();
    assert_eq!(five.median, 4.0);
}

/// The form is that of nextpnr 0.4 and 0.11.
#[test]
fn the_slowest_path_between_registers_is_found_in_nextpnrs_report() {
    let step = |kind: &str, from: &str, to: &str| json!({"delay": 1.0, "type": kind, "from": {"cell": from, "port": "O"}, "to": {"cell": to, "port": "I"}});
    let report = json!({
        "fmax": {"clk$SB_IO_IN_$glb_clk": {"achieved": 46.5, "constraint": 1000.0}},
        "critical_paths": [
            {"from": "<async>", "to": "posedge clk$SB_IO_IN_$glb_clk",
             "path": [step("source", "scan_in", "x")]},
            {"from": "posedge clk$SB_IO_IN_$glb_clk", "to": "posedge clk$SB_IO_IN_$glb_clk",
             "path": [
                 step("clk-to-q", "dut.u_histogram.age_q_SB_DFFESR_Q_7_D_SB_LUT4_O_LC", "x"),
                 step("setup", "y", "dut.u_histogram.counters_mem.0.0"),
             ]},
        ],
    });
    let (fmax, ends) = placed(&report).unwrap();
    assert_eq!(fmax, 46.5);
    assert_eq!(ends.from, "u_histogram.age_q");
    assert_eq!(ends.to, "u_histogram.counters_mem.0.0");
    assert_eq!(placed(&json!({"fmax": {}, "critical_paths": []})), None);
    assert_eq!(
        readable("dut.u_perfbound.left_q_TRELLIS_FF_Q_5"),
        "u_perfbound.left_q"
    );
}

/// Every output bit of the controller reaches the wrapper's output, every input bit is
/// driven: Yosys, told to complain, finds nothing without driver and nothing cut off.
#[test]
fn the_wrapper_connects_every_pin() {
    let (config, design) = design();
    let mut files = crate::rtl::emit(&config).unwrap();
    files.retain(|(name, _)| !name.ends_with(".f"));
    files.push((
        format!("{}.v", wrapper::MODULE),
        wrapper::verilog(design.top(), &design.pins()),
    ));
    files.push((format!("{}.f", wrapper::MODULE), String::new()));
    check::lints(&files).unwrap();
}

/// A module with others inside it, two deep, and one with memories: it is told to be itself, and a
/// fault in it is none of that. What the memories do is a part of the module only if they are inside.
#[test]
fn a_module_is_compared_alone() {
    let (config, design) = design();
    let files = crate::rtl::emit(&config).unwrap();
    let prover = netlist::Prover::find().unwrap();
    for (module, place, memories) in [
        ("port", "assign power_state = ", Memories::Inside),
        (
            "counter_store",
            "assign counters_write_data = ",
            Memories::Apart,
        ),
    ] {
        let same = |other: &[(String, String)]| {
            let verdict = prover.same_module(&design, module, &files, other, memories, 3);
            verdict.unwrap() == netlist::Verdict::Equal
        };
        let edited = |from: &str, to: &str| {
            let edited: Vec<(String, String)> = (files.iter())
                .map(|(name, text)| (name.clone(), text.replacen(from, to, 1)))
                .collect();
            assert_ne!(edited, files, "{from}");
            edited
        };
        assert!(same(&files), "{module}");
        assert!(!same(&edited(place, &format!("{place}~"))), "{module}");
        let other_memory = edited("read_data <= words[read_address]", "read_data <= 0");
        assert!(same(&other_memory), "{module}");
    }
}

/// A table in logic, and a memory that is written: only the memory is left out.
#[test]
fn tables_are_no_memories() {
    let entries: String = (0..256)
        .map(|at| format!("    {at}: q = {};\n", at * at % 251))
        .collect();
    let table = format!(
        "module port(input clk, input write, input [7:0] a, output reg [7:0] q, output reg [7:0] m);\n\
         \x20 reg [7:0] memory [0:255];\n\
         \x20 always @(posedge clk) begin\n    if (write) memory[a] <= q;\n    m <= memory[a];\n  end\n\
         \x20 always @* case (a)\n{entries}    default: q = 0;\n  endcase\nendmodule\n"
    );
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("port.v", table.as_str()),
        ("memories.v", include_str!("memories.v")),
        ("memory_left_out.v", include_str!("memory_left_out.v")),
    ] {
        flow::write(folder.path(), name, text).unwrap();
    }
    let script =
        "read_verilog port.v memory_left_out.v; synth -flatten -top port -run begin:fine; \
                  techmap -map memories.v; opt_clean; select -assert-count 1 t:*memory_left_out*; \
                  synth -top port -run fine:check; select -assert-none t:$mem*";
    let yosys = tools::yosys().unwrap();
    yosys.run(folder.path(), &["-q", "-p", script]).unwrap();
}
