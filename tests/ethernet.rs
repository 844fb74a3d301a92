//! The shims for low power idle: their Verilog passes every lint, what it claims is proved, and
//! what is wrong with an edited one breaks the claim about it.

use linkdoze::blocks::mii::Mii;
use linkdoze::hdl::verilog::{self, Header};
use linkdoze::hdl::{check, Claim, Design};
use linkdoze::rtl;
use linkdoze::verify::{self, TaskReport, Tools};

use crate::common::share;

/// The files of a design and its checkers.
fn files(design: &Design) -> Vec<(String, String)> {
    let header = Header {
        config_text: String::new(),
        hash: "none".into(),
    };
    let mut files = verilog::print(design, &header);
    files.extend(verilog::checkers(design, &header));
    files
}

fn prove(design: &Design, files: &[(String, String)]) -> TaskReport {
    let tools = Tools::find(None, 100).unwrap();
    let task = verify::block_task(design, files, "a shim for low power idle").unwrap();
    verify::prove(&task, &tools, 12, &|_| {}).unwrap()
}

#[test]
fn every_shim_is_lint_clean() {
    for mii in Mii::ALL {
        for design in rtl::ethernet_shims(mii, 24, 16).unwrap() {
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
        for design in rtl::ethernet_shims(mii, 24, latency).unwrap() {
            let report = prove(&design, &files(&design));
            let (top, name) = (&report.top, mii.name());
            for finding in &report.findings {
                assert!(finding.proved(), "{top} for {name}: {finding:?}");
            }
            let properties = report.findings.iter();
            let properties = properties.filter(|it| it.kind == Claim::Property);
            assert!(properties.count() >= 6, "{top}");
            println!("{:>5.1} s  {top} for {name}, {latency}", report.seconds);
        }
    }
}

/// What is edited in the transmit side (0) or the receive side (1), and the claim that is broken.
const EDITS: [(usize, &str, &str, &str); 15] = [
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
];

#[test]
fn an_edit_of_each_shim_breaks_its_claim() {
    let (one, other) = (EDITS[1], EDITS[EDITS.len() - 1]);
    assert_ne!(one.0, other.0);
    break_their_claims(&[one, other]);
}

#[test]
#[ignore = "long; make test-all runs it"]
fn every_edit_breaks_its_claim() {
    break_their_claims(&EDITS);
}

fn break_their_claims(edits: &[(usize, &str, &str, &str)]) {
    let designs = rtl::ethernet_shims(Mii::Xgmii32, 3, 2).unwrap();
    for &(shim, from, to, claim) in edits {
        let mut files = files(&designs[shim]);
        let (_, text) = &mut files[0];
        assert_eq!(text.matches(from).count(), 1, "`{from}`");
        *text = text.replace(from, to);
        let report = prove(&designs[shim], &files);
        let mut findings = report.findings.iter();
        let finding = findings.find(|it| it.name == claim).unwrap();
        assert!(
            matches!(finding.verdict, verify::Verdict::Failed { .. }),
            "`{to}`: {finding:?}"
        );
        println!("{:>5.1} s  {claim}: {:?}", report.seconds, finding.verdict);
    }
}

#[test]
fn times_that_are_too_narrow_are_refused() {
    let error = rtl::ethernet_shims(Mii::Cgmii, 1, 0).unwrap_err();
    assert!(error.to_string().contains("2 to 64"), "{error}");
}
