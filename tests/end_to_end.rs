//! A port of Ethernet as it is emitted: frames from end to end through a MAC that is not of this
//! project (`testbench/ethernet`), of which `make ethernet` sends more; and what `generate` says.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::common::{linkdoze, part_of, run};

/// LiteEth and cocotbext-eth come from PyPI, which must be within reach the first time. The run fails
/// by itself if one of its faults is not found.
#[test]
#[ignore = "long; make test-all runs it"]
fn frames_arrive_through_a_mac_of_others_as_they_were_sent() {
    let out = part_of("ethernet");
    let all = "Holds: 2,000 of 2,000 frames arrived as they were sent, 0 were lost, 0 altered; ";
    assert!(out.starts_with(all), "{out}");
    let faults: Vec<&str> = out.lines().filter(|it| it.starts_with("fault: ")).collect();
    assert!(faults.len() >= 8, "{out}");
    assert!(faults.iter().all(|it| it.contains(": found: ")), "{out}");
}

/// A configuration in a folder of its own.
fn configured(preset: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let words = ["init", "--preset", preset, "-o", "port.toml"];
    run(linkdoze(folder.path()).args(words), 0);
    folder
}

fn generate(folder: &Path, words: &[&str], status: i32) -> String {
    let mut command = linkdoze(folder);
    command.args(["-q", "generate", "port.toml", "-o", "emitted"]);
    let (out, err) = run(command.args(words), status);
    out + &err
}

#[test]
fn a_port_is_emitted_for_every_interface() {
    for (interface, rate) in [
        ("xgmii32", "32 bits in a clock cycle of 6.4 ns, 5 Gb/s"),
        ("xgmii64", "64 bits in a clock cycle of 6.4 ns, 10 Gb/s"),
        ("cgmii", "64 bits in a clock cycle of 6.4 ns, 10 Gb/s"),
        ("cgmii128", "128 bits in a clock cycle of 6.4 ns, 20 Gb/s"),
    ] {
        let folder = configured("10gbase-t");
        let told = [
            "generate",
            "port.toml",
            "-o",
            "told",
            "--ethernet",
            interface,
        ];
        let (_, err) = run(linkdoze(folder.path()).args(told), 0);
        let note = format!("note: {interface} carries {rate}\n");
        assert!(err.contains(&note), "{err}");
        let words = ["--ethernet", interface, "--mac-latency", "4"];
        generate(folder.path(), &words, 0);
        let emitted = folder.path().join("emitted");
        let list = fs::read_to_string(emitted.join("ethernet_port.f")).unwrap();
        for module in ["ethernet_port.v", "port.v", "lpi_tx.v", "lpi_rx.v"] {
            assert!(list.lines().any(|line| line == module), "{list}");
        }
        let check = ["--ethernet", interface, "--mac-latency", "4", "--check"];
        generate(folder.path(), &check, 0);
        let other = ["--ethernet", interface, "--mac-latency", "5", "--check"];
        let said = generate(folder.path(), &other, 1);
        assert!(said.contains("lpi_tx.v"), "{said}");
        let top = "ethernet_port";
        let line = format!(
            "iverilog -g2012 -Wall -y emitted -s {top}_smoke -o smoke.vvp \
             emitted/testbench/{top}_smoke.sv && vvp -n smoke.vvp"
        );
        let output = Command::new("sh")
            .args(["-eu", "-c", &line])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(": passed"), "{interface}: {text}{output:?}");
    }
}

#[test]
fn a_port_that_agrees_by_messages_is_no_port_of_ethernet() {
    let folder = configured("bxiv3-deep-sleep");
    let said = generate(folder.path(), &["--ethernet", "xgmii64"], 2);
    assert!(said.contains("port.sync = \"messages\""), "{said}");
    assert!(said.contains("\"lpi\""), "{said}");
    assert!(!folder.path().join("emitted").exists());
    for words in [
        &["--ethernet", "gmii"][..],
        &["--ethernet", "cgmii", "--ports", "2"],
        &["--mac-latency", "3"],
        &["--ethernet", "cgmii", "--mac-latency", "65536"],
    ] {
        generate(folder.path(), words, 2);
    }
}
