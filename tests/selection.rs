//! What a switch needs to choose among ports (POWAR 3, Alonso 3): the Verilog passes every lint, what it
//! claims is proved, and what is wrong with an edited one breaks the claim about it.

use std::fs;
use std::process::Command;

use linkdoze::blocks::port_choice::golden as port_choice;
use linkdoze::blocks::selectable_ports::golden as selectable_ports;
use linkdoze::blocks::tree_links::golden as tree_links;
use linkdoze::config::plan::{SelectionKind, SelectionPlan};
use linkdoze::hdl::check::{self, Pins};
use linkdoze::hdl::mutants::mutants;
use linkdoze::hdl::{Claim, Design};
use linkdoze::mutate::{part_faults, PartFaults};
use linkdoze::rtl::{self, SwitchPart};
use linkdoze::synth::netlist::{self, Cells};
use linkdoze::verify::Verdict;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::common::block::{files, prove};
use crate::common::{every_case, linkdoze, run};

/// 4 ports down and 4 up, `T_on` 0.5 and `T_off` 0.25 (POWAR 4.2).
const PLAN: SelectionPlan = SelectionPlan {
    kind: SelectionKind::Alonso,
    ports_down: 4,
    ports_up: 4,
    window: 10_000,
    on_millionths: 500_000,
    off_millionths: 250_000,
};

const KINDS: [SelectionKind; 4] = [
    SelectionKind::RoundRobin,
    SelectionKind::FirstOn,
    SelectionKind::Powar,
    SelectionKind::Alonso,
];

/// The selection function, and what it goes by.
fn parts(plan: &SelectionPlan) -> Vec<Design> {
    let beside = match plan.kind {
        SelectionKind::RoundRobin | SelectionKind::FirstOn => None,
        SelectionKind::Powar => Some(SwitchPart::SelectablePorts),
        SelectionKind::Alonso => Some(SwitchPart::TreeLinks),
    };
    let parts = [Some(SwitchPart::PortChoice), beside].into_iter().flatten();
    parts
        .map(|part| rtl::switch_part(plan, part).unwrap())
        .collect()
}

/// Switches from the smallest to one of 64 ports.
fn sizes() -> impl Iterator<Item = SelectionPlan> {
    let sizes = [(1, 2), (4, 4), (5, 3), (24, 24), (32, 32)];
    sizes.into_iter().flat_map(|(ports_down, ports_up)| {
        KINDS.map(|kind| SelectionPlan {
            kind,
            ports_down,
            ports_up,
            ..PLAN
        })
    })
}

#[test]
fn every_part_is_lint_clean() {
    for plan in sizes() {
        for design in parts(&plan) {
            if let Err(error) = check::lints(&files(&design)) {
                panic!("{plan:?}: {error}");
            }
        }
    }
}

#[test]
fn every_claim_is_proved() {
    // The largest takes most of the time.
    let sizes: Vec<SelectionPlan> = sizes().filter(|plan| plan.ports_up != 32).collect();
    let few = |plan: &&SelectionPlan| plan.ports_up < 24;
    let all = every_case();
    for plan in sizes.iter().filter(|plan| all || few(plan)) {
        for design in parts(plan) {
            let report = prove(&design, &files(&design), 12);
            for finding in &report.findings {
                assert!(finding.proved(), "{plan:?}: {finding:?}");
            }
            let properties = report.findings.iter();
            let properties = properties.filter(|it| it.kind == Claim::Property);
            assert!(properties.count() >= 3, "{plan:?}");
            println!("{:>5.1} s  {}, {plan:?}", report.seconds, report.top);
        }
    }
}

/// What is edited in a file of the selection function (0) or of what it goes by (1), and the claim that is
/// broken.
type Edit = (
    SelectionKind,
    usize,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const EDITS: [Edit; 15] = [
    (
        ALONSO,
        1,
        "tree_links.v",
        "(incoming_q & unrouted)",
        "8'd0",
        "incoming_kept",
    ),
    (
        ALONSO,
        1,
        "tree_links.v",
        "(waiting | transmitting)",
        "waiting",
        "kept_for_packets",
    ),
    (
        ALONSO,
        1,
        "tree_links.v",
        "(waiting | transmitting)",
        "transmitting",
        "kept_for_packets",
    ),
    (
        ALONSO,
        1,
        "tree_links.v",
        "link_on = on | carries_q",
        "link_on = carries_q",
        "on_is_told",
    ),
    (
        ALONSO,
        1,
        "tree_links.v",
        "if (|incoming_q) begin",
        "if (&incoming_q) begin",
        "way_down",
    ),
    (
        ALONSO,
        1,
        "tree_links.v",
        "ports_up = from_below & UPPER;",
        "ports_up = 8'd0;",
        "way_up",
    ),
    (
        ALONSO,
        1,
        "tree_links.v",
        "      ports_down = LOWER;\n    end else",
        "      ports_down = 8'd0;\n    end else",
        "tree_kept",
    ),
    (
        POWAR,
        1,
        "selectable_ports.v",
        "unused_q < MOST_UNUSED",
        "unused_q <= MOST_UNUSED",
        "one_at_a_time",
    ),
    (
        POWAR,
        1,
        "selectable_ports.v",
        "ALL_PORTS >> unused_q",
        "ALL_PORTS << unused_q",
        "first_selectable",
    ),
    (
        POWAR,
        1,
        "least_busy.v",
        "2'd0: begin\n        value = 4'd2;",
        "2'd0: begin\n        value = 4'd5;",
        "no_return",
    ),
    (
        POWAR,
        0,
        "port_choice.v",
        "usable = choices & allowed",
        "usable = choices",
        "chosen_fits",
    ),
    (
        POWAR,
        0,
        "port_choice.v",
        "candidates = free_awake",
        "candidates = free",
        "awake_first",
    ),
    (
        POWAR,
        0,
        "port_choice.v",
        "first & ~(first - 4'd1)",
        "first",
        "one_chosen",
    ),
    (
        POWAR,
        0,
        "port_choice.v",
        "ALL_PORTS << turn_q",
        "ALL_PORTS",
        "turns_come",
    ),
    (
        ALONSO,
        0,
        "port_choice.v",
        "found = |candidates",
        "found = 1'b0",
        "found_if_any",
    ),
];

const POWAR: SelectionKind = SelectionKind::Powar;
const ALONSO: SelectionKind = SelectionKind::Alonso;

/// Breaks a claim of the first block and of the last one.
#[test]
fn some_edits_break_their_claims() {
    break_their_claims(&[EDITS[0], EDITS[EDITS.len() - 1]]);
}

#[test]
#[ignore = "long; make test-all runs it"]
fn every_edit_breaks_its_claim() {
    break_their_claims(&EDITS);
}

fn break_their_claims(edits: &[Edit]) {
    for &(kind, part, file, from, to, claim) in edits {
        // Windows so short that a few cycles reach the end of some.
        let plan = SelectionPlan {
            kind,
            window: 2,
            ..PLAN
        };
        let design = &parts(&plan)[part];
        let mut files = files(design);
        let text = files.iter_mut().find(|(name, _)| name.ends_with(file));
        let (_, text) = text.unwrap();
        assert_eq!(text.matches(from).count(), 1, "`{from}`");
        *text = text.replace(from, to);
        let report = prove(design, &files, 12);
        let finding = report.findings.iter().find(|it| it.name.ends_with(claim));
        let finding = finding.unwrap();
        let failed = matches!(finding.verdict, Verdict::Failed { .. });
        assert!(failed, "`{to}`: {finding:?}");
        println!("{:>5.1} s  {claim}: {:?}", report.seconds, finding.verdict);
    }
}

/// Inputs and what the golden model puts out, for some thousand cycles: levels that stay for some time, few
/// and many ports.
fn activity(design: &Design, plan: &SelectionPlan) -> Vec<(Pins, Pins)> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let ports = |random: &mut ChaCha8Rng, count: u32| {
        let (one, other): (u64, u64) = (random.random(), random.random());
        let ports = match random.random_range(0..8) {
            0 | 1 => 0,
            2 | 3 => u64::MAX,
            4 => one & other,
            5 => one | other,
            _ => one,
        };
        ports & (u64::MAX >> (64 - count))
    };
    let (up, all) = (plan.ports_up, plan.ports_down + plan.ports_up);
    let mut choice = port_choice::PortChoice::new(plan);
    let mut selectable = selectable_ports::SelectablePorts::new(plan);
    let mut links = tree_links::TreeLinks::new(plan);
    let mut inputs = tree_links::Inputs::default();
    // Ports that are sending, of 4.
    let mut busy = 0;
    let mut cycles = Vec::new();
    for cycle in 0..15_000 {
        let rst = random.random_ratio(1, 30);
        if cycle % 60 == 0 {
            busy = random.random_range(0..=4);
        }
        let sending = |random: &mut ChaCha8Rng, count: u32| {
            let ports = (0..count).filter(|_| random.random_range(0..4) < busy);
            ports.map(|port| 1 << port).sum()
        };
        let (mut driven, expected) = match design.top() {
            "port_choice" => {
                let inputs = port_choice::Inputs {
                    choose: random.random_ratio(3, 4),
                    choices: ports(&mut random, up),
                    busy: ports(&mut random, up),
                    awake: ports(&mut random, up),
                    allowed: ports(&mut random, up),
                };
                let chosen = choice.chosen(&inputs);
                choice.clock(&inputs);
                let driven = vec![
                    ("choose", inputs.choose.into()),
                    ("choices", inputs.choices.into()),
                    ("busy", inputs.busy.into()),
                    ("awake", inputs.awake.into()),
                    ("allowed", inputs.allowed.into()),
                ];
                let chosen_bit = chosen.map_or(0, |port| 1 << port);
                (
                    driven,
                    vec![("chosen", chosen_bit), ("found", chosen.is_some().into())],
                )
            }
            "selectable_ports" => {
                let sending = sending(&mut random, up);
                let expected = selectable.selectable();
                selectable.clock(sending);
                (
                    vec![("transmitting", u128::from(sending))],
                    vec![("selectable", u128::from(expected))],
                )
            }
            _ => {
                if cycle % 200 == 0 {
                    inputs.minimal = random.random_ratio(2, 3);
                    inputs.cabled = match random.random() {
                        true => u64::MAX >> (64 - all),
                        false => ports(&mut random, all),
                    };
                }
                if random.random_ratio(1, 4) {
                    inputs.link_on_in = ports(&mut random, all);
                    inputs.unrouted = ports(&mut random, all);
                    inputs.waiting = ports(&mut random, all);
                }
                inputs.transmitting = sending(&mut random, all);
                let expected = vec![
                    ("on", links.on(&inputs).into()),
                    ("link_on", links.link_on(&inputs).into()),
                ];
                links.clock(&inputs);
                let driven = inputs.pins().map(|(name, bits)| (name, bits.into())).into();
                (driven, expected)
            }
        };
        if rst {
            choice = port_choice::PortChoice::new(plan);
            selectable = selectable_ports::SelectablePorts::new(plan);
            links = tree_links::TreeLinks::new(plan);
        }
        driven.push(("rst", rst.into()));
        cycles.push((driven, expected));
    }
    cycles
}

/// Every single fault in the Verilog (operators, constants, slices, enables, resets, statements that are
/// not there, arguments that are exchanged) shows at an output within 15,000 cycles, or is proved to be none.
#[test]
#[ignore = "long; make test-all runs it"]
fn every_fault_shows() {
    let mut all = PartFaults::default();
    for kind in KINDS {
        // Three ports up, of four places: one place is no port.
        let plan = SelectionPlan {
            kind,
            ports_down: 2,
            ports_up: 3,
            window: 7,
            ..PLAN
        };
        for design in parts(&plan) {
            let cycles = activity(&design, &plan);
            let faults = part_faults(&design, mutants(&design), &cycles).unwrap();
            let (tried, none) = (faults.tried, faults.equivalent.len());
            println!(
                "{tried:>4} faults in {}, {kind:?}, {none} of them none",
                design.top()
            );
            all = all.and(faults);
        }
    }
    all.all_found().unwrap();
    assert!(all.tried > 300, "{}", all.tried);
}

/// Yosys' netlists of every block are its Verilog, for gates and for iCE40.
#[test]
fn netlists_are_the_verilog() {
    for (kind, cells) in [(POWAR, Cells::Generic), (ALONSO, Cells::Ice40)] {
        for design in parts(&SelectionPlan { kind, ..PLAN }) {
            let mut files = files(&design);
            files.retain(|(name, _)| name.ends_with(".v"));
            let report = netlist::compare(&design, &files, &files, cells, 60, &|_| {}).unwrap();
            assert!(report.equal(), "{}: {report:?}", design.top());
        }
    }
}

#[test]
fn what_no_hardware_is_made_for_is_refused() {
    let refused = |change: &dyn Fn(&mut SelectionPlan)| {
        let mut plan = PLAN;
        change(&mut plan);
        rtl::switch_part(&plan, SwitchPart::TreeLinks)
            .unwrap_err()
            .to_string()
    };
    assert!(refused(&|plan| plan.ports_up = 1).contains("two at least"));
    assert!(refused(&|plan| plan.ports_down = 61).contains("64 in all"));
    assert!(refused(&|plan| plan.ports_down = 0).contains("one down"));
    assert!(refused(&|plan| plan.window = 1).contains("2 to 2^48"));
    assert!(refused(&|plan| plan.off_millionths = 0).contains("above 0"));
    assert!(refused(&|plan| plan.on_millionths = 1_000_000).contains("below 1"));
    assert!(refused(&|plan| plan.off_millionths = 250_001)
        .contains("is below twice --select-off 0.250001"));
}

/// `verify`, `netlist` and `synth` take a part in the place of a controller; an edited folder is not proved.
#[test]
fn a_part_is_proved_and_synthesised_by_commands() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("port.toml"), "").unwrap();
    let part = |command: &str, part: &str, options: &[&str]| {
        let mut linkdoze = linkdoze(path);
        linkdoze.args([command, "port.toml", "--switch-part", part]);
        linkdoze.args(["--ports-down", "2", "--ports-up", "2"]);
        linkdoze.args(options);
        linkdoze
    };
    let (out, _) = run(&mut part("verify", "tree-links", &["--all"]), 0);
    assert!(out.starts_with("PROVED: all 10 claims\n"), "{out}");
    assert!(out.contains("u_selectable_ports.no_return"), "{out}");

    run(&mut part("generate", "tree-links", &["-o", "edited"]), 0);
    let file = path.join("edited/tree_links.v");
    let text = fs::read_to_string(&file).unwrap();
    let edited = text.replacen("assign link_on = ", "assign link_on = {4{minimal}} & ", 1);
    assert_ne!(edited, text);
    fs::write(&file, edited).unwrap();
    let (out, _) = run(
        &mut part("verify", "tree-links", &["--rtl", "edited", "--all"]),
        1,
    );
    assert!(out.starts_with("NOT PROVED"), "{out}");
    let failed = |claim: &str| {
        let mut lines = out.lines();
        lines.any(|line| line.starts_with(claim) && line.contains("FAILED"))
    };
    assert!(failed("on_is_told"), "{out}");

    let options = ["--target", "generic"];
    let (out, _) = run(&mut part("netlist", "selectable-ports", &options), 0);
    assert!(
        out.starts_with("EQUAL: the netlists of all 3 blocks"),
        "{out}"
    );
    let options = ["--target", "ecp5", "--seeds", "1", "--json"];
    let (out, _) = run(&mut part("synth", "powar", &options), 0);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["top"], "port_choice");
    // The turn among two ports is all that it remembers.
    assert_eq!(
        report["mappings"][0]["resources"]["flip_flops"], 1,
        "{report}"
    );

    let (_, err) = run(&mut part("verify", "powar", &["--port-only"]), 2);
    assert!(err.contains("cannot be used with"), "{err}");
    let (_, err) = run(
        &mut part("synth", "powar", &["--target", "ice40", "--ports", "2"]),
        2,
    );
    assert!(err.contains("cannot be used with"), "{err}");
}

/// `linkdoze generate --switch-part` emits each part, with the prefix of the configuration; the same command
/// line says that nothing is stale, and Icarus reads the file list.
#[test]
fn every_part_is_emitted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let prefix = "[verilog]\nmodule_prefix = \"west_\"\n";
    fs::write(path.join("port.toml"), prefix).unwrap();
    let parts = [
        ("round-robin", "port_choice"),
        ("first-on", "port_choice"),
        ("powar", "port_choice"),
        ("alonso", "port_choice"),
        ("selectable-ports", "selectable_ports"),
        ("tree-links", "tree_links"),
    ];
    for (part, top) in parts {
        // The configuration's links take 4,480 ns to wake.
        let window = ["--select-window-ns", "5000"];
        let (window, given) = match top {
            "port_choice" => (&window[..0], ""),
            _ => (&window[..], " --select-window-ns 5000"),
        };
        let options = [
            "generate",
            "port.toml",
            "-o",
            part,
            "--switch-part",
            part,
            "--ports-down",
            "12",
            "--ports-up",
            "6",
        ];
        let options = [&options[..], window].concat();
        let (out, _) = run(linkdoze(path).args(&options), 0);
        let listed = |name: &str| {
            out.lines()
                .any(|line| line == format!("{part}/west_{name}"))
        };
        assert!(
            listed(&format!("{top}.v")) && listed(&format!("{top}.sdc")),
            "{out}"
        );
        assert!(!out.contains("smoke") && !out.contains(".core"), "{out}");
        assert!(!path.join(part).join("testbench").exists());
        run(linkdoze(path).args(&options).arg("--check"), 0);
        let icarus = Command::new("iverilog")
            .args(["-g2005", "-Wall", "-o", "out", "-c"])
            .arg(format!("west_{top}.f"))
            .current_dir(path.join(part))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&icarus.stderr).into_owned();
        assert!(icarus.status.success() && said.is_empty(), "{said}");
        let text = fs::read_to_string(path.join(format!("{part}/west_{top}.v"))).unwrap();
        let ports = if top == "tree_links" { 18 } else { 6 };
        assert!(text.contains(&format!("[{}:0]", ports - 1)), "{text}");
        fs::write(path.join(format!("{part}/west_{top}.v")), "").unwrap();
        let (_, err) = run(linkdoze(path).args(&options).arg("--check"), 1);
        let again = format!(
            "linkdoze generate port.toml --switch-part {part} --ports-down 12 --ports-up 6{given} -o {part}\n"
        );
        assert!(err.contains(&again), "{err}");
    }
    let refused = |options: &[&str]| {
        let options = [&["generate", "port.toml", "-o", "none"], options].concat();
        let (_, err) = run(linkdoze(path).args(options), 2);
        assert!(!path.join("none").exists());
        err
    };
    let part = [
        "--switch-part",
        "powar",
        "--ports-down",
        "4",
        "--ports-up",
        "4",
    ];
    assert!(refused(&part[..4]).contains("--ports-up"));
    assert!(refused(&["--ports-down", "4"]).contains("--switch-part"));
    // What one of them requires is refused with the others, too.
    let lanes = ["--link-lanes", "4"];
    for options in [
        [&part[..], &["--ports", "2"]].concat(),
        [&part[..], &["--low-lanes", "2"]].concat(),
        [&part[..], &["--mac-latency", "2"]].concat(),
        [&lanes[..], &part[2..]].concat(),
        [&lanes[..], &["--mac-latency", "2"]].concat(),
        ["--ports", "2", "--low-lanes", "2"].to_vec(),
        ["--ports", "2", "--mac-latency", "2"].to_vec(),
        ["--ports", "2", "--select-on", "0.9"].to_vec(),
        ["--ethernet", "xgmii64", "--ports-up", "4"].to_vec(),
    ] {
        let err = refused(&options);
        assert!(err.contains("cannot be used with"), "{options:?}: {err}");
    }
    for threshold in ["--select-on", "--select-off", "--select-window-ns"] {
        let err = refused(&[&part[..], &[threshold, "0.3"]].concat());
        let told = format!("{threshold}: a selection function measures no load");
        assert!(err.contains(&told), "{err}");
    }
    let measured = [&["--switch-part", "selectable-ports"], &part[2..]].concat();
    let err = refused(&[&measured[..], &["--select-off", "0.3"]].concat());
    assert!(
        err.contains("--select-on 0.5 is below twice --select-off 0.3")
            && err.contains("--select-on 0.6 would do, or --select-off 0.25"),
        "{err}"
    );
    let err = refused(&[&measured[..], &["--select-on", "0.1234567"]].concat());
    assert!(err.contains("--select-on 0.1234567: must be"), "{err}");
    let err = refused(&[&measured[..], &["--select-window-ns", "0.5"]].concat());
    assert!(
        err.contains("--select-window-ns 0.5") && err.contains("1 ns each"),
        "{err}"
    );
    // The configuration's links take 4,480 ns to wake.
    let links = [&["--switch-part", "tree-links"], &part[2..]].concat();
    let err = refused(&[&links[..], &["--select-window-ns", "4480"]].concat());
    assert!(
        err.contains("--select-window-ns 4480")
            && err.contains("takes 4480 ns to sleep or to wake"),
        "{err}"
    );
    let err = refused(&[
        "--switch-part",
        "powar",
        "--ports-down",
        "60",
        "--ports-up",
        "6",
    ]);
    assert!(err.contains("64 in all"), "{err}");
}
