//! The wrapper around the top: every variant passes every lint and connects every pin to the right bits;
//! the crossing between two clocks works in simulation, and what is claimed of it is proved.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rayon::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{linkdoze, run, share};

const REGISTERS: &str = "[port]\nregisters = true\n";

/// Each direction of the link sleeps for itself.
const ETHERNET: &str = "[port]\nsync = \"lpi\"\nregisters = true\ntiming_range = 2\n";

/// What is emitted for a configuration with these arguments, in the folder `out`.
fn emitted(configuration: &str, arguments: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("port.toml"), configuration).unwrap();
    let words = format!("-q generate port.toml -o out {arguments}");
    run(linkdoze(folder.path()).args(words.split_whitespace()), 0);
    folder
}

/// Runs a program in a folder.
fn tool(folder: &Path, program: &str, words: &[&str]) -> (Output, String) {
    let output = Command::new(program)
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let text = [&output.stdout[..], &output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (output, text)
}

/// A file of the test benches.
fn testbench(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testbench")
        .join(name)
}

/// Replaces what occurs once.
fn edited(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "`{from}`");
    text.replace(from, to)
}

/// The variants: configuration, arguments, top module.
const VARIANTS: [(&str, &str, &str); 9] = [
    (
        REGISTERS,
        "--ports 3 --wrapper axi-clock,aresetn,vectors",
        "switch_ports",
    ),
    (REGISTERS, "--wrapper axi-clock", "port"),
    (REGISTERS, "--wrapper aresetn", "port"),
    (REGISTERS, "--ports 2 --wrapper vectors", "switch_ports"),
    (
        REGISTERS,
        "--ports 1 --wrapper vectors,aresetn",
        "switch_ports",
    ),
    ("[port]\npolicy = \"fixed\"\n", "--wrapper aresetn", "port"),
    (
        "[port]\ncontrol_pins = true\n[verilog]\nmodule_prefix = \"north_\"\n",
        "--ports 2 --wrapper vectors,axi-clock",
        "north_switch_ports",
    ),
    (
        ETHERNET,
        "--ethernet xgmii32 --wrapper axi-clock,aresetn",
        "ethernet_port",
    ),
    (
        ETHERNET,
        "--ethernet cgmii128 --wrapper aresetn",
        "ethernet_port",
    ),
];

#[test]
fn every_variant_is_lint_clean() {
    for (configuration, arguments, top) in VARIANTS {
        let folder = emitted(configuration, arguments);
        let out = folder.path().join("out");
        for (program, words) in [
            ("verilator", format!("--lint-only -Wall -F {top}.f")),
            (
                "iverilog",
                format!("-g2005 -Wall -y . -o /dev/null {top}_wrapper.v"),
            ),
            ("iverilog", format!("-g2005 -Wall -c {top}.f -o /dev/null")),
        ] {
            let (output, text) = tool(&out, program, &words.split(' ').collect::<Vec<_>>());
            assert!(
                output.status.success(),
                "{arguments}: {program} {words}\n{text}"
            );
            assert!(
                text.trim().is_empty(),
                "{arguments}: {program} {words}\n{text}"
            );
        }
        let script = format!(
            "read_verilog {top}_wrapper.v; hierarchy -check -libdir . -top {top}_wrapper; proc; \
             check -assert"
        );
        let (output, text) = tool(&out, "yosys", &["-q", "-p", &script]);
        assert!(output.status.success(), "{arguments}\n{text}");
    }
}

/// The core lists the files, and its targets are of the wrapper, but for the smoke test.
#[test]
fn the_core_is_of_the_wrapper() {
    let folder = emitted(REGISTERS, "--ports 2 --wrapper axi-clock");
    let out = folder.path().join("out");
    let core = fs::read_to_string(out.join("switch_ports.core")).unwrap();
    for listed in [
        "- switch_ports_wrapper.v\n",
        "- axi_lite_crossing.v\n",
        "- synchroniser.v\n",
        "- switch_ports_wrapper.sdc\n",
        "toplevel: switch_ports_wrapper\n",
        "toplevel: switch_ports_smoke\n",
    ] {
        assert!(core.contains(listed), "{listed}{core}");
    }
    assert!(!core.contains("- switch_ports.sdc\n"), "{core}");
    let list = fs::read_to_string(out.join("switch_ports.f")).unwrap();
    assert!(
        list.ends_with("switch_ports_wrapper.v\naxi_lite_crossing.v\nsynchroniser.v\n"),
        "{list}"
    );
    // The top is the same as without.
    let bare = emitted(REGISTERS, "--ports 2");
    for name in ["switch_ports.v", "port.v", "switch_ports.sdc"] {
        let text = |folder: &TempDir| fs::read_to_string(folder.path().join("out").join(name));
        assert_eq!(text(&folder).unwrap(), text(&bare).unwrap(), "{name}");
    }
    let ethernet = emitted(ETHERNET, "--ethernet cgmii --wrapper axi-clock");
    let out = ethernet.path().join("out");
    let core = fs::read_to_string(out.join("ethernet_port.core")).unwrap();
    for listed in [
        "- ethernet_port_wrapper.v\n",
        "toplevel: ethernet_port_wrapper\n",
    ] {
        assert!(core.contains(listed), "{listed}{core}");
    }
    let sdc = fs::read_to_string(out.join("ethernet_port_wrapper.sdc")).unwrap();
    assert!(sdc.contains("set_clock_groups -asynchronous"), "{sdc}");
    // What was emitted is what is checked.
    let check = "generate port.toml -o out --ports 2 --wrapper axi-clock --check";
    run(linkdoze(folder.path()).args(check.split(' ')), 0);
    let other = "generate port.toml -o out --ports 2 --wrapper vectors,axi-clock --check";
    let (_, err) = run(linkdoze(folder.path()).args(other.split(' ')), 1);
    assert!(
        err.contains("linkdoze generate port.toml --ports 2 --wrapper vectors,axi-clock -o out"),
        "{err}"
    );
}

#[test]
fn what_there_is_no_wrapper_for_is_refused() {
    let bare = "[port]\nregisters = false\n";
    for (arguments, says) in [
        (
            "--wrapper vectors",
            "a single port has no vectors: leave out `vectors`, or give --ports N",
        ),
        (
            "--wrapper axi-clock",
            "without registers there is no AXI4-Lite: leave out `axi-clock`",
        ),
        (
            "--wrapper clock",
            "possible values: axi-clock, aresetn, vectors",
        ),
        ("--wrapper", "a value is required"),
        ("--ports 2 --ethernet cgmii", "cannot be used with"),
        ("--wrapper aresetn --link-lanes 4", "cannot be used with"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("port.toml"), bare).unwrap();
        let words = format!("generate port.toml -o out {arguments}");
        let (_, err) = run(linkdoze(folder.path()).args(words.split_whitespace()), 2);
        assert!(err.contains(says), "{arguments}: {err}");
        assert!(!folder.path().join("out").exists(), "{arguments}");
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("port.toml"), ETHERNET).unwrap();
    let words = "generate port.toml -o out --ethernet xgmii32 --wrapper vectors";
    let (_, err) = run(linkdoze(folder.path()).args(words.split(' ')), 2);
    assert!(err.contains("a single port has no vectors"), "{err}");
}

/// A module in the netlist of Yosys.
fn netlist(out: &Path, top: &str) -> Value {
    // The top of the design is empty here: how it is connected is looked at, not what it does.
    let script = format!(
        "read_verilog {top}_wrapper.v; read_verilog -lib {top}.v; hierarchy -check -top {top}_wrapper; \
         proc; opt -full; clean; write_json netlist.json"
    );
    let (output, text) = tool(out, "yosys", &["-q", "-p", &script]);
    assert!(output.status.success(), "{text}");
    let text = fs::read_to_string(out.join("netlist.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What is wrong in the connections of a wrapper with `aresetn` and, for a switch with so many ports,
/// `vectors`: every pin of the top must lead to its bits of the pin of the wrapper, and nothing else may
/// be there but an inverter.
fn wrong_connections(out: &Path, top: &str, ports: usize) -> Vec<String> {
    let netlist = netlist(out, top);
    let modules = &netlist["modules"];
    let wrapper = &modules[format!("{top}_wrapper")];
    let cells = wrapper["cells"].as_object().unwrap();
    let mut kinds: Vec<&str> = cells
        .values()
        .map(|it| it["type"].as_str().unwrap())
        .collect();
    kinds.sort_unstable();
    let mut wrong = Vec::new();
    if kinds != ["$not", top] {
        wrong.push(format!("cells: {kinds:?}"));
        return wrong;
    }
    let pins = |module: &Value| -> BTreeMap<String, (String, Vec<Value>)> {
        let ports = module["ports"].as_object().unwrap();
        ports
            .iter()
            .map(|(name, pin)| {
                let direction = pin["direction"].as_str().unwrap().to_owned();
                (
                    name.clone(),
                    (direction, pin["bits"].as_array().unwrap().clone()),
                )
            })
            .collect()
    };
    let (outer, inner) = (pins(wrapper), pins(&modules[top]));
    let inverter = cells.values().find(|it| it["type"] == "$not").unwrap();
    if inverter["connections"]["A"] != Value::Array(outer["aresetn"].1.clone()) {
        wrong.push("the inverter is not behind aresetn".into());
    }
    let instance = cells.values().find(|it| it["type"] == top).unwrap();
    let mut reached: Vec<(String, usize)> = Vec::new();
    for (name, (direction, bits)) in &inner {
        let connected = instance["connections"][name].as_array().unwrap();
        if name == "rst" {
            if Value::Array(connected.clone()) != inverter["connections"]["Y"] {
                wrong.push("rst is not the inverter's".into());
            }
            reached.push(("aresetn".into(), 0));
            continue;
        }
        let numbered = name.rsplit_once('_').and_then(|(name, port)| {
            let port: usize = port.parse().ok()?;
            (port < ports).then_some((name, port))
        });
        let (pin, port) = numbered.unwrap_or((name.as_str(), 0));
        let Some((of, all)) = outer.get(pin) else {
            wrong.push(format!("no pin {pin}"));
            continue;
        };
        let low = port * bits.len();
        let expected = all.get(low..low + bits.len());
        if of != direction || expected != Some(&connected[..]) {
            wrong.push(format!("{name} is not {pin}[{low} +: {}]", bits.len()));
        }
        reached.extend((low..low + bits.len()).map(|bit| (pin.to_owned(), bit)));
    }
    for (name, (_, bits)) in &outer {
        for bit in 0..bits.len() {
            let times = reached
                .iter()
                .filter(|it| **it == (name.clone(), bit))
                .count();
            if times != 1 {
                wrong.push(format!("{name}[{bit}] is connected {times} times"));
            }
        }
    }
    wrong
}

#[test]
fn vectors_and_aresetn_are_wires_to_the_right_bits() {
    let prose = "[port]\nregisters = true\ncontrol_pins = true\nsync = \"levels\"\n";
    for (configuration, ports) in [(REGISTERS, 3), (prose, 2), (REGISTERS, 1)] {
        let arguments = format!("--ports {ports} --wrapper vectors,aresetn");
        let folder = emitted(configuration, &arguments);
        let wrong = wrong_connections(&folder.path().join("out"), "switch_ports", ports);
        assert_eq!(wrong, Vec::<String>::new(), "{configuration}");
    }
    let folder = emitted(ETHERNET, "--ethernet xgmii64 --wrapper aresetn");
    let wrong = wrong_connections(&folder.path().join("out"), "ethernet_port", 0);
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_wrong_connection_is_found() {
    let folder = emitted(REGISTERS, "--ports 3 --wrapper vectors,aresetn");
    let out = folder.path().join("out");
    let file = out.join("switch_ports_wrapper.v");
    let text = fs::read_to_string(&file).unwrap();
    for (from, to, says) in [
        (
            "(tx_enable[1])",
            "(tx_enable[2])",
            "tx_enable_1 is not tx_enable[1 +: 1]",
        ),
        (
            "(packet_hops[11:6])",
            "(packet_hops[12:7])",
            "packet_hops_1 is not packet_hops[6 +: 6]",
        ),
        ("(queue_nonempty[2])", "(~queue_nonempty[2])", "cells:"),
        ("rst = ~aresetn", "rst = aresetn", "cells:"),
        (
            ".irq              (irq)",
            ".irq              ()",
            "irq is not irq[0 +: 1]",
        ),
    ] {
        fs::write(&file, edited(&text, from, to)).unwrap();
        let wrong = wrong_connections(&out, "switch_ports", 3);
        assert!(wrong.iter().any(|it| it.contains(says)), "{to}: {wrong:?}");
    }
}

/// The crossing as it is emitted: its own module.
fn crossing() -> String {
    let folder = emitted(REGISTERS, "--wrapper axi-clock");
    fs::read_to_string(folder.path().join("out/axi_lite_crossing.v")).unwrap()
}

const SYNCHRONISER: &str = "synchroniser.v";

/// A crossing with its synchroniser as it is emitted, in a folder.
fn with_synchroniser(crossing: &str) -> TempDir {
    let emitted = emitted(REGISTERS, "--wrapper axi-clock");
    let folder = tempfile::tempdir().unwrap();
    let file = emitted.path().join("out").join(SYNCHRONISER);
    fs::copy(file, folder.path().join(SYNCHRONISER)).unwrap();
    fs::write(folder.path().join("axi_lite_crossing.v"), crossing).unwrap();
    folder
}

/// Simulates the crossing by itself: whether the test passes, and what it says.
fn simulated(text: &str, arguments: &[&str]) -> Vec<(bool, String)> {
    simulated_in(&with_synchroniser(text), arguments)
}

/// The same with the crossing and the synchroniser of a folder.
fn simulated_in(folder: &TempDir, arguments: &[&str]) -> Vec<(bool, String)> {
    let bench = testbench("wrapper/crossing.sv");
    let words = [
        "-g2012",
        "-o",
        "test.vvp",
        "axi_lite_crossing.v",
        SYNCHRONISER,
        bench.to_str().unwrap(),
    ];
    let (output, text) = tool(folder.path(), "iverilog", &words);
    assert!(output.status.success(), "{text}");
    let runs = arguments.par_iter().map(|arguments| {
        let mut words = vec!["-n", "test.vvp"];
        words.extend(arguments.split_whitespace());
        let (output, text) = tool(folder.path(), "vvp", &words);
        (
            output.status.success() && text.starts_with("passed: "),
            text,
        )
    });
    runs.collect()
}

/// Clocks as fast, nearly as fast, faster, slower, with drift; resets of either side.
const CLOCKS: [&str; 10] = [
    "+transfers=1500",
    "+s_half=5000 +m_half=5001 +transfers=1500 +seed=2",
    "+s_half=1000 +m_half=7300 +transfers=700 +seed=3",
    "+s_half=7300 +m_half=1000 +transfers=700 +seed=4",
    "+s_half=4900 +drift=300 +transfers=1500 +stall=0 +seed=5",
    "+s_half=400 +m_half=15000 +transfers=200 +stall=1 +seed=6",
    "+drift=900 +resets=100 +transfers=2500 +seed=7",
    "+s_half=1000 +m_half=3300 +resets=60 +transfers=1500 +seed=8",
    "+s_half=3300 +m_half=1000 +resets=60 +transfers=1500 +seed=9",
    "+s_half=1000 +m_half=1003 +drift=20 +resets=150 +transfers=4000 +stall=1 +seed=10",
];

#[test]
fn the_crossing_works_at_clocks_of_any_ratio() {
    for ((passed, text), arguments) in simulated(&crossing(), &CLOCKS).iter().zip(CLOCKS) {
        assert!(passed, "{arguments}: {text}");
        if arguments.contains("resets") {
            assert!(!text.contains("refused 0,"), "{arguments}: {text}");
            assert!(!text.contains("dropped 0,"), "{arguments}: {text}");
        }
        print!("{arguments}: {text}");
    }
}

/// The file of the synchroniser may be replaced by one with more flip-flops.
#[test]
fn a_synchroniser_of_three_flip_flops_works() {
    let folder = with_synchroniser(&crossing());
    let file = folder.path().join(SYNCHRONISER);
    let text = fs::read_to_string(&file).unwrap();
    let three = edited(&text, "reg second;", "reg second, third;");
    let three = edited(
        &three,
        "second <= first;",
        "second <= first;\n    third <= second;",
    );
    let three = edited(&three, "synchronous = second", "synchronous = third");
    fs::write(&file, three).unwrap();
    for ((passed, text), arguments) in simulated_in(&folder, &CLOCKS).iter().zip(CLOCKS) {
        assert!(passed, "{arguments}: {text}");
    }
    // One that turns a bit around is found.
    let wrong = edited(&text, "first <= asynchronous", "first <= ~asynchronous");
    fs::write(&file, wrong).unwrap();
    assert!(!simulated_in(&folder, &CLOCKS[..1])[0].0);
}

/// What a transfer costs beside what the subordinate takes, which answers in two of its cycles.
#[test]
fn a_transfer_takes_as_long_as_the_book_says() {
    let clocks = [
        "+stall=0 +transfers=50",
        "+stall=0 +transfers=50 +s_half=5000 +m_half=50",
        "+stall=0 +transfers=50 +s_half=50 +m_half=5000",
    ];
    let cycles: Vec<f64> = simulated(&crossing(), &clocks)
        .iter()
        .map(|(passed, text)| {
            assert!(passed, "{text}");
            text.trim()
                .rsplit(' ')
                .next()
                .unwrap()
                .parse::<f64>()
                .unwrap()
                / 50.0
        })
        .collect();
    println!("{cycles:?}");
    assert!((11.0..12.0).contains(&cycles[0]), "{cycles:?}");
    assert!((6.0..7.0).contains(&cycles[1]), "{cycles:?}");
    // In cycles of the slower clock.
    assert!((5.0..6.0).contains(&(cycles[2] / 100.0)), "{cycles:?}");
}

/// The whole switch behind the crossing, as its register map says.
#[test]
fn software_reads_and_writes_a_switch_through_the_other_clock() {
    let folder = emitted(REGISTERS, "--ports 2 --wrapper axi-clock,aresetn,vectors");
    let out = folder.path().join("out");
    let header = fs::read_to_string(out.join("switch_ports_registers.h")).unwrap();
    let core = fs::read_to_string(out.join("switch_ports.core")).unwrap();
    let (_, hash) = core.split_once("SHA-256 of the configuration: ").unwrap();
    let at = |name: &str| {
        let line = header
            .lines()
            .find_map(|it| it.strip_prefix(&format!("#define LINKDOZE_{name} 0x")));
        let value = line.unwrap().split('u').next().unwrap();
        u32::from_str_radix(value, 16).unwrap()
    };
    let bench = testbench("wrapper/switch.sv");
    let compile = |clocks: [u32; 2]| {
        let parameters = [
            format!("CLK_HALF={}", clocks[0]),
            format!("AXI_HALF={}", clocks[1]),
            format!("STRIDE={}", at("STRIDE")),
            format!("MAGIC_AT={}", at("MAGIC")),
            format!("MAGIC={}", 0x4c4b_445a),
            format!("HASH_AT={}", at("CONFIG_HASH")),
            format!("HASH=32'h{}", &hash[..8]),
            format!("SHADOW_AT={}", at("T_PDT_LOW")),
        ];
        let parameters = parameters.map(|it| format!("-Pswitch.{it}"));
        let mut words = vec!["-g2012", "-s", "switch", "-y", ".", "-o", "test.vvp"];
        words.extend(parameters.iter().map(String::as_str));
        words.push(bench.to_str().unwrap());
        let (output, text) = tool(&out, "iverilog", &words);
        assert!(output.status.success(), "{text}");
        let (output, text) = tool(&out, "vvp", &["-n", "test.vvp"]);
        (
            output.status.success() && text.starts_with("passed: "),
            text,
        )
    };
    for clocks in [[500, 500], [500, 1700], [1700, 500]] {
        let (passed, text) = compile(clocks);
        assert!(passed, "{clocks:?}: {text}");
        print!("{clocks:?}: {text}");
    }
    let file = out.join("switch_ports_wrapper.v");
    let text = fs::read_to_string(&file).unwrap();
    let wrong = edited(
        &text,
        ".s_axi_awaddr     (m_axi_awaddr)",
        ".s_axi_awaddr     (m_axi_araddr)",
    );
    fs::write(&file, wrong).unwrap();
    let (passed, text) = compile([500, 1700]);
    assert!(!passed && text.contains("FATAL"), "{text}");
}

/// The circuit of the proof: the emitted module with the claims in it, and with flip-flops that step
/// when their clock pin is 1.
struct Circuit {
    folder: TempDir,
    /// The wires that are decided, and the outputs of the circuit that they are.
    outputs: BTreeMap<String, String>,
}

/// Narrow: no bit of an address or of data decides about anything.
const CIRCUIT: &str = "\
read_verilog -formal TESTBENCH/axi_lite_crossing_ticks.v
design -stash ticks
read_verilog -formal TESTBENCH/axi_lite_crossing_late.v
design -stash late
read_verilog -sv -formal axi_lite_crossing.v synchroniser.v TESTBENCH/axi_lite_crossing_claims.v
chparam -set ADDRESS 2 -set DATA 8 axi_lite_crossing
hierarchy -check -top axi_lite_crossing
proc
flatten
cd axi_lite_crossing
select -assert-count 7 a:ASYNC_REG w:*.first %i
expose w:*broken_* w:*reached_*
select -set firsts a:ASYNC_REG w:*.first %i %ci1 t:$dff %i
techmap -autoproc -map %late @firsts
techmap -autoproc -map %ticks t:$dff
select -assert-none t:$dff
cd
opt -full
techmap
setundef -undriven -zero
setundef -init -zero
abc -g AND -fast
opt_clean
write_aiger -zinit -map circuit.map circuit.aig
";

impl Circuit {
    fn new(text: &str) -> Circuit {
        let claims = "  axi_lite_crossing_claims #(.ADDRESS(ADDRESS), .DATA(DATA)) claims (.*);\n";
        let with_claims = edited(text, "\nendmodule\n", &format!("\n{claims}endmodule\n"));
        let folder = with_synchroniser(&with_claims);
        let script = CIRCUIT.replace(
            "TESTBENCH",
            testbench("").to_str().unwrap().trim_end_matches('/'),
        );
        fs::write(folder.path().join("circuit.ys"), script).unwrap();
        let (output, text) = tool(folder.path(), "yosys", &["-q", "circuit.ys"]);
        assert!(output.status.success(), "{text}");
        let map = fs::read_to_string(folder.path().join("circuit.map")).unwrap();
        let outputs = map.lines().filter_map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let name = words.get(3)?.strip_prefix("claims.")?;
            (words[0] == "output").then(|| (name.to_owned(), words[1].to_owned()))
        });
        Circuit {
            outputs: outputs.collect(),
            folder,
        }
    }

    /// Whether the wire can be 1.
    fn can_be(&self, wire: &str) -> bool {
        let output = &self.outputs[wire];
        let script =
            format!("read circuit.aig; cone -s -O {output}; scorr; dc2; pdr; print_status");
        let started = std::time::Instant::now();
        let (_, text) = tool(self.folder.path(), "yosys-abc", &["-c", &script]);
        println!("{:>6.1} s  {wire}", started.elapsed().as_secs_f64());
        let status = text
            .rsplit_once("Status = ")
            .unwrap_or_else(|| panic!("{text}"))
            .1;
        match status.split_whitespace().next() {
            Some("1") => false,
            Some("0") => true,
            _ => panic!("{wire}: {text}"),
        }
    }
}

/// Decides the claims: all of them, or those that take little.
fn prove_the_crossing(all: bool) {
    let circuit = Circuit::new(&crossing());
    let wires: Vec<&String> = circuit.outputs.keys().collect();
    assert!(wires.len() > 25, "{wires:?}");
    let quick = |wire: &str| {
        let long = [
            "_unchanged",
            "_still",
            "_once",
            "_sent",
            "reached_read",
            "reached_write",
        ];
        !long.iter().any(|it| wire.contains(it)) || wire == "broken_write_once"
    };
    wires
        .par_iter()
        .filter(|wire| all || quick(wire))
        .for_each(|wire| {
            assert_eq!(circuit.can_be(wire), wire.starts_with("reached_"), "{wire}");
        });
}

#[test]
fn the_quick_claims_of_the_crossing_are_proved() {
    prove_the_crossing(false);
}

#[test]
#[ignore = "long; make test-all runs it"]
fn every_claim_of_the_crossing_is_proved() {
    prove_the_crossing(true);
}

/// What is edited in the crossing, and the claim that is broken then.
const EDITS: [(&str, &str, &str); 14] = [
    // A write is sent before its data are there.
    (
        "s_aw_held & s_w_held & ~s_writing",
        "s_aw_held & ~s_writing",
        "broken_write_unchanged",
    ),
    // Address and data are not held until the answer.
    (
        "s_axi_awready <= s_answers_write | ~(s_aw_held | s_takes_aw)",
        "s_axi_awready <= ~s_takes_aw",
        "broken_requests_wait",
    ),
    // The answer of the subordinate is not held.
    (
        "    if (m_restarts) begin\n      // Nothing",
        "    m_bresp <= m_axi_bresp;\n    if (m_restarts) begin\n      // Nothing",
        "broken_b_still",
    ),
    // A valid is dropped before its ready.
    (
        "m_axi_awvalid & ~m_axi_awready",
        "m_axi_awvalid & ~m_axi_wready",
        "broken_aw_stays",
    ),
    (
        "s_axi_rvalid <= s_answers_read | (s_axi_rvalid & ~s_axi_rready)",
        "s_axi_rvalid <= s_answers_read",
        "broken_r_stays",
    ),
    // The sides do not begin anew together.
    (
        "      m_wrote <= m_write;",
        "      m_wrote <= m_wrote;",
        "broken_write_once",
    ),
    (
        "~m_restart & ~m_restart_before",
        "~m_restart",
        "broken_write_once",
    ),
    (
        "~m_was_reset & ~m_restart & ~m_restarts",
        "~m_restart & ~m_restarts",
        "broken_write_once",
    ),
    // What is under way is not ended first.
    (
        "~m_restarts & ~m_axi_bready & ~m_axi_rready",
        "~m_restarts & ~m_axi_rready",
        "broken_b_back",
    ),
    // What comes in the reset of the subordinate counts.
    (
        "m_ends_read & m_axi_aresetn",
        "m_ends_read",
        "broken_r_back",
    ),
    // A read begins that nobody asked for, is answered before the subordinate was asked, or is sent twice.
    ("& (m_read != m_has_read)", "", "broken_read_once"),
    (
        "(s_open & (s_has_read == s_read))",
        "s_open",
        "broken_r_back",
    ),
    (
        "s_ar_held & ~s_reading & ~s_axi_rvalid",
        "s_ar_held & ~s_axi_rvalid",
        "broken_read_once",
    ),
    // Another answer than the subordinate's.
    ("s_closes ? SLVERR : m_bresp", "2'd0", "broken_b_unchanged"),
];

#[test]
fn an_edit_of_the_crossing_breaks_its_claim() {
    let text = crossing();
    share(&EDITS, 4).par_iter().for_each(|(from, to, claim)| {
        let circuit = Circuit::new(&edited(&text, from, to));
        assert!(circuit.can_be(claim), "`{from}` as `{to}`: {claim} holds");
    });
}

/// What a claim about what must not happen does not see: transfers that never end.
#[test]
fn a_crossing_that_stops_fails_in_simulation() {
    let text = crossing();
    let resets = ["+drift=900 +resets=100 +transfers=2500 +seed=7"];
    for (from, to) in [
        ("s_writing & (s_closes | (s_open", "s_writing & ((s_open"),
        (
            "      m_axi_wvalid <= m_starts_write |",
            "      m_axi_wvalid <= 1'b0 &",
        ),
        ("s_restart <= ~s_clears;", "s_restart <= 1'b1;"),
        ("m_was_reset <= 1'b1;", "m_was_reset <= 1'b0;"),
        ("s_wstrb <= s_axi_wstrb;", "s_wstrb <= ~s_axi_wstrb;"),
    ] {
        let found = simulated(&edited(&text, from, to), &resets);
        assert!(!found[0].0, "`{to}`: {}", found[0].1);
        println!("{to}: {}", found[0].1.lines().next().unwrap_or_default());
    }
}

/// Whether no path leads through a crossing from pin to pin.
fn has_registers_at_outputs(text: &str) -> bool {
    let folder = with_synchroniser(text);
    let script =
        "read_verilog axi_lite_crossing.v synchroniser.v; hierarchy -top axi_lite_crossing; \
                  proc; flatten; opt_clean; \
                  select -assert-none o:* %ci1 t:$dff %d o:* %d; \
                  select -assert-none o:* %ci*:-$dff i:* %i";
    let (output, text) = tool(folder.path(), "yosys", &["-q", "-p", script]);
    assert!(
        output.status.success() || text.contains("Assertion failed"),
        "{text}"
    );
    output.status.success()
}

#[test]
fn every_output_of_the_crossing_is_a_register() {
    let text = crossing();
    assert!(has_registers_at_outputs(&text));
    let from = "output reg                m_axi_rready,";
    let to = "output wire               m_axi_rready,";
    let wire = edited(&text, from, to)
        .replace("      m_axi_rready <= ", "      m_reads <= ")
        .replace(
            "  // Reads, subordinate's side.\n",
            "  reg m_reads;\n  assign m_axi_rready = m_reads & m_axi_rvalid;\n",
        );
    assert!(!has_registers_at_outputs(&wire));
}
