//! The lane controller (Zahn II.A): the Verilog passes every lint, what it claims is proved, wrong edits
//! break the claims, and the netlist does the same.

use std::fs;

use linkdoze::blocks::lane_controller::golden::{LaneController, Lanes};
use linkdoze::config::plan::LanePlan;
use linkdoze::hdl::check::{self, Pins};
use linkdoze::hdl::mutants::mutants;
use linkdoze::hdl::Claim;
use linkdoze::mutate::part_faults;
use linkdoze::rtl;
use linkdoze::synth::netlist::{self, Cells};
use linkdoze::verify::Verdict;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::block::{files, prove};
use crate::common::{linkdoze, run};

/// Zahn Table I at 1 GHz: 12 lanes, 11.1 us and 10 us; the level of 96 Gb/s, and PerfBound Table 6's buffer.
const ZAHN: LanePlan = LanePlan {
    lanes: 12,
    low: 1,
    t_down: 11_100,
    t_narrow: 10_000,
    t_widen: 10_000,
    level: 10_909,
    most_backlog: 49_152,
};

/// Times so short that some cycles reach all of them.
const SHORT: LanePlan = LanePlan {
    lanes: 4,
    low: 1,
    t_down: 3,
    t_narrow: 2,
    t_widen: 3,
    level: 5,
    most_backlog: 15,
};

fn plans() -> [LanePlan; 5] {
    let wide = LanePlan {
        lanes: 64,
        low: 63,
        ..ZAHN
    };
    let least = LanePlan {
        lanes: 2,
        low: 1,
        t_down: 1,
        t_narrow: 1,
        t_widen: 1,
        level: 0,
        most_backlog: 1,
    };
    let quick = LanePlan {
        t_narrow: 1,
        ..ZAHN
    };
    [ZAHN, SHORT, wide, least, quick]
}

#[test]
fn every_size_is_lint_clean() {
    for plan in plans() {
        let design = rtl::lane_controller(&plan).unwrap();
        if let Err(error) = check::lints(&files(&design)) {
            panic!("{plan:?}: {error}");
        }
    }
}

#[test]
fn every_claim_is_proved() {
    for plan in plans() {
        let design = rtl::lane_controller(&plan).unwrap();
        let report = prove(&design, &files(&design), 16);
        for finding in &report.findings {
            assert!(finding.proved(), "{plan:?}: {finding:?}");
        }
        let properties = report.findings.iter();
        let properties = properties.filter(|it| it.kind == Claim::Property);
        assert_eq!(properties.count(), 5, "{plan:?}");
        println!("{:>5.1} s  {plan:?}", report.seconds);
    }
}

/// What is edited in the Verilog, and the claim that is broken.
const EDITS: [(&str, &str, &str); 8] = [
    (
        "tx_enable = (state_q == LANES_ALL) | (low & ~is_long);",
        "tx_enable = 1'b1;",
        "silent_while_changing",
    ),
    (
        "is_long & ~transmitting",
        "is_long",
        "silent_while_changing",
    ),
    (
        "active = queue_nonempty | transmitting;",
        "active = transmitting;",
        "down_after_idle",
    ),
    (
        "cycles_d = T_NARROW;",
        "cycles_d = T_DOWN;",
        "change_completes",
    ),
    (
        "cycles_d = T_WIDEN;",
        "cycles_d = T_NARROW;",
        "change_completes",
    ),
    (
        "tx_enable = (state_q == LANES_ALL) | (low & ~is_long);",
        "tx_enable = low & ~is_long;",
        "wait_bounded",
    ),
    (
        "lanes_on = LOW_LANES;",
        "lanes_on = ~LOW_LANES;",
        "lanes_kept",
    ),
    (
        "low = state_q == LANES_LOW;",
        "low = state_q != LANES_ALL;",
        "lanes_kept",
    ),
];

#[test]
fn an_edit_breaks_its_claim() {
    break_their_claims(&EDITS[..1]);
}

#[test]
#[ignore = "long; make test-all runs it"]
fn every_edit_breaks_its_claim() {
    break_their_claims(&EDITS);
}

fn break_their_claims(edits: &[(&str, &str, &str)]) {
    for &(from, to, claim) in edits {
        let design = rtl::lane_controller(&SHORT).unwrap();
        let mut files = files(&design);
        let (_, text) = &mut files[0];
        assert!(text.contains(from), "`{from}` in\n{text}");
        *text = text.replacen(from, to, 1);
        let report = prove(&design, &files, 16);
        let finding = report.findings.iter().find(|it| it.name.ends_with(claim));
        let finding = finding.unwrap();
        let failed = matches!(finding.verdict, Verdict::Failed { .. });
        assert!(failed, "`{to}`: {finding:?}");
    }
}

/// Inputs and what the golden model puts out, for some thousand cycles: a port that is idle for some time,
/// waits, or sends.
fn activity(plan: &LanePlan) -> Vec<(Pins, Pins)> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut golden = LaneController::new(plan);
    let (mut what, mut backlog) = (0, 0);
    let mut cycles = Vec::new();
    for _ in 0..20_000 {
        let rst = random.random_ratio(1, 50);
        if random.random_ratio(1, 4) {
            what = random.random_range(0..4);
            let level = plan.level;
            let near = random.random_range(level.saturating_sub(1)..=level + 1);
            let any = random.random_range(0..=plan.most_backlog);
            backlog = if random.random() { near } else { any };
        }
        // A packet that is being sent may be the last one of the queue, as the pins can have it.
        let (waits, transmitting) = (what % 2 == 1, what > 1);
        let low = golden.lanes() == Lanes::Low;
        let on = if low { plan.low } else { plan.lanes };
        let expected = vec![
            ("tx_enable", golden.may_send(backlog).into()),
            ("low", low.into()),
            ("lanes_on", u128::from(u64::MAX >> (64 - on))),
        ];
        golden.clock(1, waits || transmitting, transmitting, backlog);
        if rst {
            golden = LaneController::new(plan);
        }
        let driven = vec![
            ("queue_nonempty", waits.into()),
            ("transmitting", transmitting.into()),
            ("backlog", backlog.into()),
            ("rst", rst.into()),
        ];
        cycles.push((driven, expected));
    }
    cycles
}

/// Every single fault in the Verilog (operators, constants, slices, enables, resets, statements that are
/// not there, arguments that are exchanged) shows at an output, or is proved to be none.
#[test]
fn every_fault_shows() {
    let design = rtl::lane_controller(&SHORT).unwrap();
    let faults = part_faults(&design, mutants(&design), &activity(&SHORT)).unwrap();
    println!(
        "{} faults, {} of them none",
        faults.tried,
        faults.equivalent.len()
    );
    faults.all_found().unwrap();
    assert!(faults.tried > 40, "{}", faults.tried);
}

/// Yosys' netlists are the Verilog, for gates and for iCE40.
#[test]
fn netlists_are_the_verilog() {
    let design = rtl::lane_controller(&ZAHN).unwrap();
    let mut files = files(&design);
    files.retain(|(name, _)| name.ends_with(".v"));
    for cells in [Cells::Generic, Cells::Ice40] {
        let report = netlist::compare(&design, &files, &files, cells, 60, &|_| {}).unwrap();
        assert!(report.equal(), "{report:?}");
    }
}

#[test]
fn what_no_hardware_is_made_for_is_refused() {
    let refused = |plan: LanePlan| rtl::lane_controller(&plan).unwrap_err().to_string();
    assert!(refused(LanePlan { low: 12, ..ZAHN }).contains("12 of 12 lanes"));
    assert!(refused(LanePlan { lanes: 65, ..ZAHN }).contains("2 to 64"));
    assert!(refused(LanePlan { t_down: 0, ..ZAHN }).contains("0 clock cycles"));
    let small = LanePlan {
        most_backlog: 10_909,
        ..ZAHN
    };
    assert!(refused(small).contains("would never be turned on"));
}

/// `generate` emits it from the configuration of a port, and says what another one lacks.
#[test]
fn a_lane_controller_is_generated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let text =
        "[port]\npolicy = \"fixed\"\nsleep = \"fast-wake\"\nsync = \"lpi\"\nt_pdt_ns = 11100\n\
                [states.fast-wake]\nt_s_ns = 10000\nt_w_ns = 10000\n";
    fs::write(path.join("port.toml"), text).unwrap();
    let generate = [
        "generate",
        "port.toml",
        "-o",
        "rtl",
        "--link-lanes",
        "12",
        "--link-gbps",
        "96",
    ];
    run(linkdoze(path).args(generate), 0);
    let verilog = fs::read_to_string(path.join("rtl/lane_controller.v")).unwrap();
    // 10,909 bytes of 49,152 (Zahn III.B).
    assert!(verilog.contains("16'd10909"), "{verilog}");
    run(linkdoze(path).args(generate).arg("--check"), 0);
    let other = [&generate[..], &["--low-lanes", "2", "--check"]].concat();
    let (_, says) = run(linkdoze(path).args(other), 1);
    assert!(
        says.contains("--link-lanes 12 --low-lanes 2 --link-gbps 96"),
        "{says}"
    );
    fs::write(
        path.join("port.toml"),
        text.replace("fast-wake", "deep-sleep"),
    )
    .unwrap();
    let (_, says) = run(linkdoze(path).args(generate), 2);
    assert!(says.contains("sleep = \"fast-wake\""), "{says}");
}
