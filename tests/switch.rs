//! The ports of a switch behind one AXI4-Lite port: they agree with their golden model, every
//! corner is reached, and wrong wires between them are found.

use std::fs;
use std::path::Path;

use rayon::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{linkdoze, run};

/// Short times, and no histogram: what is tested lies between the ports.
const CONFIG: &str = "\
[port]
time_width = 16
policy = \"fixed\"
sleep = \"deep-sleep\"
t_pdt_init_ns = 200
sync = \"messages\"
sync_timeout_ns = 60
registers = true
[states.deep-sleep]
t_w_ns = 90
t_s_ns = 60
[histogram]
max_value_ns = 1536
";

/// What is changed in `switch_ports.v`, and what that breaks.
const EDITS: [(&str, &str, &str); 14] = [
    (
        "requests to port 1 go to port 2, too",
        "axi_lite_request & (page == 3'd2)",
        "axi_lite_request & (page >= 3'd1)",
    ),
    (
        "what port 1 reads is lost",
        "read_data_2 = read_data_1 | port_1_read_data",
        "read_data_2 = read_data_1",
    ),
    (
        "what port 2 refuses is lost",
        "answer_3 = answer_2 | port_2_answer",
        "answer_3 = answer_2",
    ),
    (
        "the error of port 1 is that of port 0",
        "errors_2 = errors_1 | FLAGS_1",
        "errors_2 = errors_1 | FLAGS_0",
    ),
    (
        "the interrupt of port 1 is that of port 0",
        "interrupts_2 = interrupts_1 | FLAGS_1",
        "interrupts_2 = interrupts_1 | FLAGS_0",
    ),
    (
        "the interrupt of port 2 is lost",
        "interrupts_3 = interrupts_2 | FLAGS_2",
        "interrupts_3 = interrupts_2",
    ),
    (
        "the message of port 1 is that of port 0",
        "message_out_1 = port_1_message_out",
        "message_out_1 = port_0_message_out",
    ),
    (
        "the state of port 2 is that of port 1",
        "power_state_2 = port_2_power_state",
        "power_state_2 = port_1_power_state",
    ),
    (
        "a page behind the last port answers like the ports",
        "is_port = page < END_OF_PORTS",
        "is_port = page <= END_OF_PORTS",
    ),
    (
        "a write to the page of all ports is not refused",
        "all_answer = REFUSED",
        "all_answer = OKAY",
    ),
    (
        "the page of all ports has registers everywhere",
        "if (~is_all | ~is_known) begin",
        "if (~is_all) begin",
    ),
    (
        "a packet in the queue of port 2 is one of port 1",
        ".queue_nonempty(queue_nonempty_2)",
        ".queue_nonempty(queue_nonempty_1)",
    ),
    (
        "port 1 counts the packets of port 2",
        ".packet_valid(packet_valid_1)",
        ".packet_valid(packet_valid_2)",
    ),
    (
        "port 2 counts them with the hops of port 0",
        ".packet_hops(packet_hops_2)",
        ".packet_hops(packet_hops_0)",
    ),
];

/// The same text with the spaces that line up pins taken away.
fn edited(text: &str, from: &str, to: &str) -> String {
    let squeezed: String = text
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.join(" ").replace(" (", "(") + "\n"
        })
        .collect();
    let from = from.replace(" (", "(");
    let to = to.replace(" (", "(");
    assert_eq!(squeezed.matches(&from).count(), 1, "{from}");
    squeezed.replace(&from, &to)
}

/// A folder with the Verilog of three ports in `rtl`.
fn three_ports() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("port.toml"), CONFIG).unwrap();
    let arguments = ["generate", "port.toml", "--ports", "3", "-o", "rtl"];
    run(linkdoze(folder.path()).args(arguments), 0);
    folder
}

/// The report of random activity at the Verilog in `rtl`, and standard error.
fn cosim(folder: &Path, rtl: &Path, cycles: &str, status: i32) -> (Value, String) {
    let mut command = linkdoze(folder);
    command.args(["cosim", "port.toml", "--random", "--ports", "3", "--cycles"]);
    command.args([cycles, "--all-corners", "--json", "--no-wave", "--rtl"]);
    let (out, err) = run(command.arg(rtl), status);
    (serde_json::from_str(&out).unwrap(), err)
}

#[test]
fn every_corner_of_three_ports_is_reached() {
    let folder = three_ports();
    let cosim = |cycles, status| cosim(folder.path(), Path::new("rtl"), cycles, status).0;
    let intact = cosim("2000000", 0);
    assert_eq!(intact["mismatches"], 0);
    assert_eq!(intact["cycles"], 2_000_000);
    let corners = intact["corners"].as_array().unwrap();
    assert_eq!(corners.len(), 3 * 8 + 8);
    // A run that is too short to reach them all says so, and fails.
    assert_eq!(cosim("500", 1)["mismatches"], 0);
}

#[test]
#[ignore = "long; make test-all runs it"]
fn wrong_wires_between_ports_are_found() {
    let folder = three_ports();
    let folder = folder.path();
    let found: Vec<String> = EDITS
        .par_iter()
        .enumerate()
        .filter_map(|(number, (name, from, to))| {
            let rtl = folder.join(format!("edit-{number}"));
            fs::create_dir(&rtl).unwrap();
            for entry in fs::read_dir(folder.join("rtl")).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|it| it == "v") {
                    fs::copy(&path, rtl.join(path.file_name().unwrap())).unwrap();
                }
            }
            let file = rtl.join("switch_ports.v");
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, edited(&text, from, to)).unwrap();
            let (result, err) = cosim(folder, &rtl, "2000000", 1);
            let wrong = result["mismatches"] != 1 || !err.contains("mismatch in cycle");
            wrong.then(|| format!("{name}: not found"))
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_a_switch_cannot_be_asked_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("port.toml"), CONFIG).unwrap();
    let say = |arguments: &[&str]| {
        let mut command = linkdoze(folder);
        run(command.args(["cosim", "port.toml"]).args(arguments), 2).1
    };
    let err = say(&["--random", "--ports", "2", "--engine", "native"]);
    assert!(err.contains("--ports is of the emitted Verilog"), "{err}");
    let err = say(&["--line-rate", "--ports", "2"]);
    assert!(err.contains("--ports"), "{err}");
    let err = say(&["--random", "--ports", "65"]);
    assert!(err.contains("65"), "{err}");
    // The folder holds a port, not a switch.
    run(
        linkdoze(folder).args(["generate", "port.toml", "-o", "rtl"]),
        0,
    );
    let err = say(&["--random", "--ports", "2", "--rtl", "rtl"]);
    assert!(err.contains("no module `switch_ports`"), "{err}");
}

#[test]
fn a_waveform_shows_all_ports() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("port.toml"), CONFIG).unwrap();
    let mut command = linkdoze(folder);
    command.args([
        "cosim",
        "port.toml",
        "--random",
        "--ports",
        "2",
        "--cycles",
        "20000",
    ]);
    let (out, _) = run(command.args(["--wave", "two.vcd"]), 0);
    assert!(out.contains("waveform: two.vcd"), "{out}");
    let wave = fs::read_to_string(folder.join("two.vcd")).unwrap();
    for name in [
        "tx_enable_0",
        "tx_enable_1",
        "golden_power_state_1",
        "mismatch",
    ] {
        assert!(wave.contains(&format!(" {name} ")), "{name}");
    }
}
