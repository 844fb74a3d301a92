//! What lies beside the emitted Verilog, read by the tools that it is for: the FuseSoC core, the file
//! lists, the smoke test, and IP-XACT and UVM made of the register description.
//! `make handover` does the first and the last for every preset.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::common::{linkdoze, part_of, run, PRESETS};

/// A controller whose ends see each other through pins, and that goes to sleep at once.
const LEVELS: &str = "[port]\npolicy = \"fixed\"\nt_pdt_ns = 0\nsleep = \"fast-wake\"\n\
                      sync = \"levels\"\nt_backstop_ns = \"off\"\n";

/// FuseSoC and PeakRDL come from PyPI, which must be within reach the first time.
#[test]
#[ignore = "long; make test-all runs it"]
fn fusesoc_runs_the_core_and_peakrdl_reads_the_registers() {
    let out = part_of("handover");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 2, "{out}");
    let drawn = "; diagrams 2 in WaveDrom";
    let both =
        "sim passed: ports 1, packets of each 8; sim_icarus passed: ports 1, packets of each 8";
    assert_eq!(lines[0], format!("bxiv3-hybrid: {both}{drawn}"));
    let two = both.replace("ports 1", "ports 2");
    let begin = format!("bxiv3-hybrid-2-ports: {two}{drawn}; registers ");
    let rest = lines[1]
        .strip_prefix(&begin)
        .unwrap_or_else(|| panic!("{out}"));
    let (registers, _) = rest.split_once(" in IP-XACT and UVM").unwrap();
    assert!(registers.parse::<u32>().unwrap() > 100, "{out}");
}

/// What is emitted for a preset, or for the text of a configuration, in a folder of its own.
fn emitted(configuration: &str, ports: Option<u32>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("port.toml");
    match configuration.contains('\n') {
        true => fs::write(&file, configuration).unwrap(),
        false => {
            let words = ["init", "--preset", configuration, "-o", "port.toml"];
            run(linkdoze(folder.path()).args(words), 0);
        }
    }
    let mut command = linkdoze(folder.path());
    command.args(["-q", "generate", "port.toml", "-o", "emitted"]);
    if let Some(ports) = ports {
        command.args(["--ports", &ports.to_string()]);
    }
    run(&mut command, 0);
    let emitted = folder.path().join("emitted");
    (folder, emitted)
}

/// Runs words of a shell in `folder`, where `$DIR` is what was emitted; both streams as one text.
fn shell(folder: &Path, emitted: &Path, line: &str) -> (Output, String) {
    let output = Command::new("sh")
        .args(["-eu", "-c", line])
        .env("DIR", emitted)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = [&output.stdout[..], &output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (output, text)
}

/// The commands of `docs/guide/hand-over.md`, in a folder that is neither that of the files nor above
/// it.
#[test]
fn every_tool_reads_the_files_from_any_folder() {
    let elsewhere = tempfile::tempdir().unwrap();
    for (ports, top) in [(None, "port"), (Some(2), "switch_ports")] {
        let (_keep, emitted) = emitted("bxiv3-deep-sleep", ports);
        for line in [
            "verilator --lint-only -Wall -F $DIR/TOP.f",
            "verilator --lint-only --assert -Wall -F $DIR/TOP.f -F $DIR/TOP_checkers.f --top-module TOP",
            "iverilog -g2005 -Wall -y $DIR -o TOP.vvp $DIR/TOP.v",
            "(cd $DIR && iverilog -g2005 -Wall -c TOP.f -o /dev/null)",
            "yosys -q -p \"read_verilog $DIR/TOP.v; hierarchy -check -libdir $DIR -top TOP; proc; check -assert\"",
        ] {
            let line = line.replace("TOP", top);
            let (output, text) = shell(elsewhere.path(), &emitted, &line);
            assert!(output.status.success(), "{line}\n{text}");
            assert!(text.trim().is_empty(), "{line}\n{text}");
        }
        // What the page says of -f.
        let line = format!("verilator --lint-only -Wall -f $DIR/{top}.f");
        let (output, text) = shell(elsewhere.path(), &emitted, &line);
        assert!(!output.status.success(), "{text}");
    }
}

/// The smoke test on Icarus Verilog.
fn smoke(emitted: &Path, top: &str) -> (bool, String) {
    let line = format!(
        "iverilog -g2012 -Wall -y $DIR -s {top}_smoke -o $DIR/smoke.vvp \
         $DIR/testbench/{top}_smoke.sv && vvp -n $DIR/smoke.vvp"
    );
    let (output, text) = shell(emitted, emitted, &line);
    (output.status.success(), text)
}

#[test]
#[ignore = "long; make test-all runs it"]
fn the_smoke_test_passes_with_every_preset() {
    let more = [LEVELS, "[port]\npolicy = \"always-on\"\n"];
    for configuration in PRESETS.iter().chain(&more) {
        for (ports, top) in [(None, "port"), (Some(3), "switch_ports")] {
            let (_keep, emitted) = emitted(configuration, ports);
            let (passed, text) = smoke(&emitted, top);
            let count = ports.unwrap_or(1);
            let says = format!("{top}_smoke: passed: ports {count}, packets of each 8\n");
            assert!(passed && text == says, "{configuration}: {text}");
        }
    }
}

#[test]
fn the_smoke_test_finds_what_does_not_work_at_all() {
    let registers = "[port]\nregisters = true\n";
    for (configuration, file, from, to, says) in [
        (
            LEVELS,
            "lpi_fsm.v",
            "tx_enable = state_q == LINK_WAKE;",
            "tx_enable = 1'b0;",
            "a port does not come awake",
        ),
        (
            "bxiv3-hybrid",
            "port.v",
            "hit_now_q <= 1'b0;",
            "",
            "an output is unknown",
        ),
        (
            "bxiv3-hybrid",
            "port.v",
            "assign miss = miss_now_q;",
            "assign miss = 1'b1;",
            "idle periods, not 7",
        ),
        (
            registers,
            "csr.v",
            "32'd1280001114",
            "32'd1280001115",
            "the register at 00000000 holds 4c4b445b, not 4c4b445a",
        ),
    ] {
        let (_keep, emitted) = emitted(configuration, None);
        let path = emitted.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let (passed, text) = smoke(&emitted, "port");
        assert!(!passed && text.contains(says), "{file}: {text}");
    }
    let (_keep, emitted) = emitted("bxiv3-hybrid", None);
    fs::remove_file(emitted.join("perfbound.v")).unwrap();
    let (passed, text) = smoke(&emitted, "port");
    assert!(!passed && text.contains("perfbound"), "{text}");
}

/// Constraints in another folder are not the core's, and what another top left behind goes.
#[test]
fn the_core_lists_what_lies_beside_it() {
    let (folder, emitted) = emitted("bxiv3-hybrid", Some(2));
    let core = fs::read_to_string(emitted.join("switch_ports.core")).unwrap();
    let listed = core
        .lines()
        .filter_map(|line| line.strip_prefix("      - "));
    let mut listed: Vec<&str> = listed.collect();
    listed.sort_unstable();
    let mut there: Vec<String> = Vec::new();
    for below in ["", "checkers", "testbench"] {
        for entry in fs::read_dir(emitted.join(below)).unwrap() {
            let path = entry.unwrap().path();
            let end = path.extension().unwrap_or_default();
            if path.is_file() && end != "f" && end != "core" {
                let name = path.strip_prefix(&emitted).unwrap();
                there.push(name.to_str().unwrap().to_owned());
            }
        }
    }
    there.sort_unstable();
    assert_eq!(listed, there);

    let apart = "-q generate port.toml -o emitted --constraints constraints";
    run(linkdoze(folder.path()).args(apart.split(' ')), 0);
    assert!(!emitted.join("switch_ports.core").exists());
    assert!(!emitted.join("testbench/switch_ports_smoke.sv").exists());
    let core = fs::read_to_string(emitted.join("port.core")).unwrap();
    assert!(core.contains("- port.v\n"), "{core}");
    for absent in [".sdc", ".xdc", ".lpf", "synth:", "registers"] {
        assert!(!core.contains(absent), "{absent} in {core}");
    }
    let same = format!("{apart} --check").replace("-q ", "");
    run(linkdoze(folder.path()).args(same.split(' ')), 0);
}
