//! The shims for low power idle: their Verilog passes every lint, what it claims is proved, and
//! what is wrong with an edited one breaks the claim about it.

use std::fs;

use linkdoze::blocks::mii::Mii;
use linkdoze::hdl::{check, Claim};
use linkdoze::rtl;
use linkdoze::verify::Verdict;

use crate::common::block::{files, prove};
use crate::common::{linkdoze, run, share, SHORT_TIMES};

#[test]
fn every_shim_is_lint_clean() {
    for mii in Mii::ALL {
        for design in rtl::ethernet_parts(mii, 24, 16).unwrap() {
            if let Err(error) = check::lints(&files(&design)) {
                panic!("{}: {error}", mii.name());
            }
        }
    }
}

#[test]
fn every_claim_is_proved() {
    let shapes: Vec<(Mii, u32)> = [16, 0]
        .into_iter()
        .flat_map(|latency| Mii::ALL.map(|mii| (mii, latency)))
        .collect();
    for &(mii, latency) in share(&shapes, 3) {
        for design in rtl::ethernet_parts(mii, 24, latency).unwrap() {
            let report = prove(&design, &files(&design), 12);
            let (top, name) = (&report.top, mii.name());
            for finding in &report.findings {
                assert!(finding.proved(), "{top} for {name}: {finding:?}");
            }
            let properties = report.findings.iter();
            let properties = properties.filter(|it| it.kind == Claim::Property).count();
            let known = [("lpi_tx", 9), ("lpi_rx", 6), ("lpi_hold_off", 1)];
            assert!(
                known.contains(&(top.as_str(), properties)),
                "{top}: {properties}"
            );
            println!("{:>5.1} s  {top} for {name}, {latency}", report.seconds);
        }
    }
}

/// What is edited in the transmit side (0), the receive side (1) or the hold-off (2), and the claim that is
/// broken.
const EDITS: [(usize, &str, &str, &str); 20] = [
    (
        0,
        "state_q <= TX_RESET",
        "state_q <= TX_OPEN",
        "start_awake",
    ),
    (
        0,
        "columns_0_all_control & (columns_0_bytes == COLUMNS_0_IDLE_LANES)",
        "(columns_0_bytes == COLUMNS_0_IDLE_LANES)",
        "passes_unchanged",
    ),
    (
        0,
        "sends_lpi_d = replaces",
        "sends_lpi_d = idle",
        "lpi_told",
    ),
    (
        0,
        "carries_d = carries",
        "carries_d = starts",
        "frames_told",
    ),
    (0, "& idle & ~in_frame_q", "& idle", "lpi_between_frames"),
    (
        0,
        "lpi_request & ~link_fault",
        "lpi_request",
        "lpi_as_asked",
    ),
    (
        0,
        "(wanted | (cycles_q > 3'd1))",
        "(wanted | (cycles_q > 3'd2))",
        "lpi_lasts",
    ),
    (0, "cycles_q <= 3'd2", "cycles_q <= 3'd3", "start_awake"),
    (
        0,
        "closed = closed_for_q == MAC_LATENCY",
        "closed = 1'b1",
        "start_awake",
    ),
    (
        0,
        "(state_q != TX_OPEN)",
        "(state_q == TX_WAKING)",
        "early_start_told",
    ),
    (0, "(wanted | (cycles_q > 3'd1))", "1'b1", "opens_in_time"),
    (1, "phy_data | more_bits_1", "phy_data", "no_lpi_to_mac"),
    (
        1,
        "columns_0_lpi & ~open_0",
        "columns_0_lpi",
        "lpi_replaced",
    ),
    (
        1,
        "given_control_d = phy_control",
        "given_control_d = 4'd15",
        "frames_unchanged",
    ),
    (
        1,
        "columns_0_starts & after_lpi_0",
        "columns_0_starts & 1'b0",
        "errors_told",
    ),
    (
        1,
        "indication_d = silent_0",
        "indication_d = 1'b0",
        "lpi_told",
    ),
    (
        1,
        "carries_d = carries",
        "carries_d = columns_0_starts",
        "frames_told",
    ),
    (
        2,
        "holds = link_fault | waits_q",
        "holds = waits_q",
        "held_exactly",
    ),
    (
        2,
        "passed_q < hold_off",
        "passed_q <= hold_off",
        "held_exactly",
    ),
    (2, "passed_q + 40'd1", "passed_q + 40'd2", "held_exactly"),
];

#[test]
fn an_edit_of_each_part_breaks_its_claim() {
    let edits = [EDITS[1], EDITS[16], EDITS[19]];
    assert_eq!(edits.map(|edit| edit.0), [0, 1, 2]);
    break_their_claims(&edits);
}

#[test]
#[ignore = "long; make test-all runs it"]
fn every_edit_breaks_its_claim() {
    break_their_claims(&EDITS);
}

fn break_their_claims(edits: &[(usize, &str, &str, &str)]) {
    let designs = rtl::ethernet_parts(Mii::Xgmii32, 3, 2).unwrap();
    for &(shim, from, to, claim) in edits {
        let mut files = files(&designs[shim]);
        let (_, text) = &mut files[0];
        assert_eq!(text.matches(from).count(), 1, "`{from}`");
        *text = text.replace(from, to);
        let report = prove(&designs[shim], &files, 12);
        let mut findings = report.findings.iter();
        let finding = findings.find(|it| it.name == claim).unwrap();
        assert!(
            matches!(finding.verdict, Verdict::Failed { .. }),
            "`{to}`: {finding:?}"
        );
        println!("{:>5.1} s  {claim}: {:?}", report.seconds, finding.verdict);
    }
}

/// `verify --ethernet` proves the claims of the shims beside those of the controller, at the widths that are
/// emitted; `netlist --ethernet` compares their netlists. A wrong edit is seen by both.
#[test]
fn commands_take_a_port_of_ethernet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let config = SHORT_TIMES.replace("sync = \"levels\"", "sync = \"lpi\"\ncontrol_pins = true");
    fs::write(path.join("port.toml"), config).unwrap();
    let ethernet = ["--ethernet", "xgmii32", "--mac-latency", "3"];
    let with = |command: &str, more: &[&str]| {
        let mut linkdoze = linkdoze(path);
        linkdoze
            .args([command, "port.toml"])
            .args(ethernet)
            .args(more);
        linkdoze
    };
    run(&mut with("generate", &["-o", "rtl"]), 0);
    let verify = [
        "--port-only",
        "--claim",
        "start_awake",
        "--claim",
        "no_lpi_to_mac",
        "--claim",
        "held_exactly",
    ];
    let (out, _) = run(&mut with("verify", &verify), 0);
    for part in [
        "lpi_tx: 1 of 1 claims proved",
        "lpi_rx: 1 of 1 claims proved",
        "lpi_hold_off: 1 of 1 claims proved",
    ] {
        assert!(out.contains(part), "{out}");
    }
    let file = path.join("rtl/lpi_tx.v");
    let text = fs::read_to_string(&file).unwrap();
    let edited = text.replace("state_q <= TX_RESET", "state_q <= TX_OPEN");
    assert_ne!(text, edited);
    fs::write(&file, edited).unwrap();
    let edited = [&verify[..], &["--rtl", "rtl", "--traces", "traces"]].concat();
    let (out, _) = run(&mut with("verify", &edited), 1);
    assert!(out.contains("start_awake"), "{out}");
    let netlist = ["--target", "ice40", "--rtl", "rtl"];
    let (out, _) = run(&mut with("netlist", &netlist), 1);
    let line = |name: &str| out.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(!line("lpi_tx ").contains(" equal "), "{out}");
    assert!(line("lpi_rx ").contains(" equal "), "{out}");
    fs::write(path.join("other.toml"), SHORT_TIMES).unwrap();
    let mut refused = linkdoze(path);
    refused
        .args(["synth", "other.toml", "--target", "ice40"])
        .args(ethernet);
    let (_, err) = run(&mut refused, 2);
    assert!(
        err.contains("needs \"lpi\", which the presets 10gbase-t"),
        "{err}"
    );
}

#[test]
fn times_that_are_too_narrow_are_refused() {
    let error = rtl::ethernet_parts(Mii::Cgmii, 1, 0).unwrap_err();
    assert!(error.to_string().contains("2 to 64"), "{error}");
}
