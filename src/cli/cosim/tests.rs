//! The command on the fixture, a hand-written piece of Verilog.

use std::path::Path;

use anyhow::Result;
use clap::Parser;

use super::scenario::{compare, switch_report};
use super::session::SwitchReport;
use super::*;
use crate::blocks::port::controller::{testing::FixedThreshold, AlwaysOn, PowerController};
use crate::blocks::testing::share;
use crate::config::plan::{Policy, PortPlan};
use crate::config::Config;
use crate::cosim::fixture::{small_plan, Fixture};
use crate::cosim::random::Random;
use crate::cosim::{Activity, Design, Model};
use crate::cosim::{ActivitySink, Run};
use crate::energy::{LinkPower, SystemPower};
use crate::network::parameters::Parameters;
use crate::network::replay::Overheads;
use crate::network::scenario::{Devices, Scenario};
use crate::network::topology::SingleSwitch;
use crate::network::{clocked, event, RunSummary};

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: Args,
}

fn args(words: &[&str]) -> Args {
    Command::try_parse_from(["cosim", "port.toml"].iter().chain(words))
        .unwrap_or_else(|error| panic!("{error}"))
        .args
}

fn fixture() -> Fixture {
    Fixture { plan: small_plan() }
}

fn run(words: &[&str]) -> Result<(Outcome, String)> {
    let mut out = Vec::new();
    let outcome = open_loop::run(&args(words), &fixture(), &mut out)?;
    Ok((outcome, String::from_utf8(out)?))
}

/// The fixture's Verilog in a folder, with one place edited.
fn edited(from: &str, to: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (name, text) = fixture().verilog().unwrap().remove(0);
    assert!(text.contains(from), "{from}");
    std::fs::write(folder.path().join(name), text.replacen(from, to, 1)).unwrap();
    folder
}

#[test]
fn a_correct_design_has_no_mismatch() {
    let (outcome, text) =
        run(&["--random", "--cycles", "150000", "--seed", "1..3", "--json"]).unwrap();
    assert_eq!(outcome, Outcome::Done);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["cycles"], 450_000);
    assert_eq!(value["mismatches"], 0);
    assert_eq!(value["comparisons"], 450_000 * 9);
    assert_eq!(value["engine"], "verilator");
    assert!(value["verilator"]
        .as_str()
        .unwrap()
        .starts_with("Verilator 5"));
    assert!(value["cycles_per_second"].as_f64().unwrap() > 0.0);
    let unreached = value["coverage"]["unreached"].as_object().unwrap();
    for (corner, reason) in unreached {
        let reason = reason.as_str().unwrap();
        assert!(
            reason.starts_with("not in this configuration"),
            "{corner}: {reason}"
        );
    }
}

#[test]
fn an_edited_operator_is_found_shown_and_reproduced() {
    let edits = [
        ("idle_q >= t_pdt_q", "idle_q > t_pdt_q"),
        ("ended & ~left_q", "ended & left_q"),
        ("idle_q + 12'd1", "idle_q - 12'd1"),
        (
            "pending_q <= pending_q | wake",
            "pending_q <= pending_q & wake",
        ),
        ("queue_nonempty | remote_up", "queue_nonempty ^ remote_up"),
        ("(idle_q > 12'd128)", "(idle_q >= 12'd2000)"),
    ];
    for &(from, to) in share(&edits, 3) {
        let folder = edited(from, to);
        let wave = folder.path().join("wave.vcd");
        let words = [
            "--random",
            "--cycles",
            "400000",
            "--seed",
            "7",
            "--rtl",
            folder.path().to_str().unwrap(),
            "--wave",
            wave.to_str().unwrap(),
        ];
        let (outcome, text) = run(&words).unwrap();
        assert_eq!(outcome, Outcome::CheckFailed, "{from} -> {to}\n{text}");
        assert!(text.contains("mismatch in cycle"), "{text}");
        assert!(text.contains("mismatches: 1"), "{text}");
        assert!(
            text.contains(
                "again: linkdoze cosim port.toml --random --seed 7 --cycles 400000 --rtl"
            ),
            "{text}"
        );
        let shown = std::fs::read_to_string(&wave).unwrap();
        assert!(shown.contains("golden_t_pdt") && shown.contains("mismatch"));
        let (again, repeated) = run(&words).unwrap();
        assert_eq!(again, Outcome::CheckFailed);
        let found = |text: &str| {
            let mut lines = text.lines().map(str::to_owned);
            lines.find(|line| line.starts_with("mismatch in cycle "))
        };
        assert_eq!(found(&text), found(&repeated));
    }
}

#[test]
fn a_waveform_is_written_without_a_mismatch_too() {
    let folder = tempfile::tempdir().unwrap();
    for (name, engine) in [
        ("a.fst", "verilator"),
        ("b.vcd", "verilator"),
        ("c.vcd", "native"),
    ] {
        let wave = folder.path().join(name);
        let path = wave.to_str().unwrap();
        match run(&[
            "--random", "--cycles", "3000", "--engine", engine, "--wave", path,
        ]) {
            Ok((outcome, text)) => {
                assert_eq!(outcome, Outcome::Done);
                assert!(text.contains(name), "{text}");
                assert!(std::fs::metadata(&wave).unwrap().len() > 1000);
            }
            // FST needs libraries that a machine may lack; it must say which.
            Err(error) => {
                let text = format!("{error:#}");
                assert!(name == "a.fst" && text.contains("zlib1g-dev"), "{text}");
                assert!(!wave.exists());
            }
        }
    }
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(["a.fst", "b.vcd", "c.vcd"].contains(&name.to_str().unwrap()));
    }
    // One that cannot be written ends the command before anything is clocked.
    let taken = folder.path().join("d.vcd");
    std::fs::create_dir(&taken).unwrap();
    let path = taken.to_str().unwrap();
    let without_end = "1000000000000000";
    let error = run(&[
        "--random",
        "--cycles",
        without_end,
        "--engine",
        "native",
        "--wave",
        path,
    ]);
    let error = format!("{:#}", error.unwrap_err());
    assert!(
        error.contains("d.vcd: cannot write: it is a folder"),
        "{error}"
    );
}

#[test]
fn both_engines_write_the_same_pins() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, engine: &str| {
        let wave = folder.path().join(name);
        run(&[
            "--random",
            "--cycles",
            "2000",
            "--engine",
            engine,
            "--wave",
            wave.to_str().unwrap(),
        ])
        .unwrap();
        let text = std::fs::read(&wave).unwrap();
        let mut parser = vcd::Parser::new(&text[..]);
        let header = parser.parse_header().unwrap();
        // What Verilator calls the scope above the top module depends on its version.
        let id = [
            &["port", "t_pdt"][..],
            &["top", "lockstep", "t_pdt"],
            &["TOP", "lockstep", "t_pdt"],
            &["lockstep", "t_pdt"],
        ]
        .iter()
        .find_map(|path| header.find_var(path))
        .expect("t_pdt")
        .code;
        let mut time = 0;
        let mut changes = Vec::new();
        for command in parser {
            match command.unwrap() {
                vcd::Command::Timestamp(now) => time = now,
                vcd::Command::ChangeVector(code, value) if code == id => {
                    let number = value
                        .iter()
                        .fold(0u64, |sum, bit| sum << 1 | u64::from(bit == vcd::Value::V1));
                    changes.push((time, number));
                }
                _ => {}
            }
        }
        changes
    };
    let verilated = read("a.vcd", "verilator");
    assert!(verilated.len() > 20);
    assert_eq!(verilated, read("b.vcd", "native"));
}

#[test]
fn periods_are_driven_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("periods.csv");
    std::fs::write(&path, "busy,idle\n3,20\n1,50\n2,39\n").unwrap();
    let (outcome, text) = run(&[
        "--periods",
        path.to_str().unwrap(),
        "--engine",
        "native",
        "--json",
    ])
    .unwrap();
    assert_eq!(outcome, Outcome::Done);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["cycles"], 3 + 20 + 1 + 50 + 2 + 39 + 1);
    assert_eq!(value["engine"], "native");
}

#[test]
fn what_is_not_a_port_is_refused_with_a_reason() {
    let empty = tempfile::tempdir().unwrap();
    let cases = [
        (edited("module port", "module harbour"), "no module `port`"),
        (
            edited("    output miss,\n", "    output missed,\n"),
            "`miss` (1 bits) is missing",
        ),
        (
            edited("output [2:0] power_state", "output [3:0] power_state"),
            "`power_state` is 4 bits wide instead of 3",
        ),
        (
            edited("    input rst,", "    input rst,\n    input test_mode,"),
            "`test_mode` (1 bits) is not one",
        ),
        (edited("endmodule", "endmodul"), "refuses the design"),
        (empty, "no Verilog files"),
    ];
    for (folder, part) in cases {
        let error = run(&["--random", "--rtl", folder.path().to_str().unwrap()])
            .err()
            .unwrap_or_else(|| panic!("no error: {part}"));
        assert!(format!("{error:#}").contains(part), "{error:#}");
    }
}

#[test]
fn a_design_that_stops_the_simulation_is_an_error() {
    let folder = edited(
        "hit_q <= ended",
        "if (window_q > 12'd40) $finish;\n        hit_q <= ended",
    );
    let error = run(&["--random", "--rtl", folder.path().to_str().unwrap()]).expect_err("an error");
    assert!(format!("{error:#}").contains("$finish"), "{error:#}");
}

#[test]
fn seeds_and_options_are_checked() {
    assert_eq!("1..5".parse(), Ok(Seeds { first: 1, last: 5 }));
    assert_eq!("9".parse(), Ok(Seeds { first: 9, last: 9 }));
    for bad in ["", "x", "-1", "5..1", "1..", "0..99999999"] {
        assert!(bad.parse::<Seeds>().is_err(), "{bad}");
    }
    for bad in [
        &["--random", "--periods", "x.csv"][..],
        &[],
        &["--periods", "x.csv", "--seed", "1"],
        &["--random", "--cycles", "0"],
        &["--random", "--engine", "icarus"],
    ] {
        let words = ["cosim", "port.toml"].iter().chain(bad);
        assert!(Command::try_parse_from(words).is_err(), "{bad:?}");
    }
    for (words, part) in [
        (&["--random", "--wave", "wave.txt"][..], ".fst or .vcd"),
        (
            &["--random", "--wave", "/no/such/folder/w.vcd"],
            "no folder",
        ),
        (
            &["--random", "--engine", "native", "--wave", "w.fst"],
            ".vcd",
        ),
        (
            &["--random", "--engine", "native", "--rtl", "rtl"],
            "--engine verilator",
        ),
        (&["--random", "--rtl", "/no/such/folder"], "/no/such/folder"),
        (&["--periods", "/no/such/file.csv"], "cannot read"),
    ] {
        let error = run(words).err().unwrap_or_else(|| panic!("{words:?}"));
        assert!(format!("{error:#}").contains(part), "{error:#}");
    }
}

/// Four ports with random activity of their own in place of a switch.
fn feed(plan: PortPlan) -> impl Fn(&mut dyn ActivitySink) -> Result<Option<RunSummary>> {
    move |sink| {
        let mut ports: Vec<_> = (0..4)
            .map(|seed| {
                (
                    Fixture { plan }.golden(),
                    Random::new(&plan, seed, 60_000, false),
                    0,
                )
            })
            .collect();
        for end in (500..=20_000).step_by(500) {
            for (port, (golden, activity, done)) in ports.iter_mut().enumerate() {
                while *done < end {
                    let outputs = golden.outputs();
                    let Some(stretch) = activity.next(&outputs.pack()) else {
                        return Ok(None);
                    };
                    let most = stretch.cycles.min(end - *done);
                    let clocked = golden.advance(&stretch.inputs, most);
                    activity.passed(clocked, 0);
                    *done += clocked;
                    sink.run(port, Run::new(clocked, &stretch.inputs, &outputs));
                }
            }
            if sink.window().is_break() {
                break;
            }
        }
        Ok(None)
    }
}

fn no_report(_: &RunSummary) -> Result<SwitchReport> {
    unreachable!("the feed of these tests has no summary")
}

#[test]
fn a_scenario_runs_one_instance_per_port() {
    let plan = PortPlan {
        policy: Policy::Fixed,
        ..small_plan()
    };
    let fixture = Fixture { plan };
    let mut out = Vec::new();
    let arguments = args(&["--scenario", "s.toml", "--json"]);
    let outcome = compare(
        &arguments,
        &fixture,
        (4, Some(20_000)),
        &feed(plan),
        &no_report,
        &mut out,
    )
    .unwrap();
    assert_eq!(outcome, Outcome::Done);
    let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(value["cycles"], 80_000);
    assert_eq!(value["ports"].as_array().unwrap().len(), 4);
    assert_eq!(value["ports"][3]["cycles"], 20_000);
    assert_eq!(value["mismatches"], 0);
}

/// The progress counts the cycles from reset to the beginning of simulated time, too.
#[test]
fn ports_of_a_scenario_are_compared_from_their_reset_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.toml");
    let text = "[topology]\nkind = \"single-switch\"\nnodes = 2\n[traffic]\nkind = \"skeleton\"\n\
                program = \"lammps\"\nranks = 2\nsteps = 1\n";
    std::fs::write(&path, text).unwrap();
    let config = Config::parse("[port]\npolicy = \"fixed\"\n", "port.toml").unwrap();
    let design = PortDesign::new(&config).unwrap();
    let scenario = Scenario::load(&path).unwrap();
    let clock_ps = config.clock.period_ps;
    let waking = event::waking_cycles(&scenario.switch, design.plan(), clock_ps).unwrap();
    assert!(waking > 1000, "{waking}");
    let words = ["--scenario", "s.toml", "--engine", "native", "--json"];
    let arguments = args(&[&words[..], &["--cycles", "100"]].concat());
    let mut out = Vec::new();
    let outcome = scenario::run(&arguments, &config, &design, &path, &mut out).unwrap();
    assert_eq!(outcome, Outcome::Done);
    let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
    for port in value["ports"].as_array().unwrap() {
        let cycles = port["cycles"].as_u64().unwrap();
        assert!(
            (waking + 100..waking + 200).contains(&cycles),
            "{cycles} {waking}"
        );
    }
}

/// Of a cut trace the slower run has done less: what it "saved" would say nothing.
#[test]
fn only_a_whole_trace_tells_what_was_saved() {
    let text = "num_ranks 2\nrank 0 {\na: send 9600b to 1\nb: calc 20000\nc: send 8b to 1\n\
                b requires a\nc requires b\n}\nrank 1 {\nrecv 9600b from 0\nrecv 8b from 0\n}\n";
    let program = crate::network::trace::from_text(text).unwrap();
    let topology = SingleSwitch { nodes: 2 };
    let run = |duration_ps, controller: &dyn Fn() -> Box<dyn PowerController + Send>| {
        let settings = clocked::Settings {
            switch: Parameters::default(),
            overheads: Overheads { send: 0, recv: 0 },
            clock_ps: 1000,
            duration_ps,
            warm_up_ps: 0,
            window_cycles: 1000,
        };
        clocked::simulate(
            &topology,
            &program,
            &[0, 1],
            &settings,
            (0..4).map(|_| controller()).collect(),
            &mut clocked::NoSink,
            &mut |_| std::ops::ControlFlow::Continue(()),
        )
        .unwrap()
    };
    let power = SystemPower::new(LinkPower::default(), &Devices::default());
    let of = |duration_ps| {
        let sleeper = run(duration_ps, &|| Box::new(FixedThreshold::new(10, 100, 100)));
        let awake = run(duration_ps, &|| Box::new(AlwaysOn));
        switch_report(&sleeper, &awake, &power, Path::new("two.goal"))
    };
    let whole = of(None);
    assert!(whole.text.contains("the whole trace"), "{}", whole.text);
    assert!(whole.text.contains(" % saved"), "{}", whole.text);
    assert!(whole.json["links_saved_percent"].as_f64().unwrap() > 0.0);
    let cut = of(Some(10_000_000));
    assert!(cut.text.contains("the first 0.010 ms"), "{}", cut.text);
    assert!(!cut.text.contains("saved"), "{}", cut.text);
    assert!(cut.json["links_saved_percent"].is_null());
    assert_eq!(cut.json["whole_trace"], false);
}

#[test]
fn a_mismatch_of_a_scenario_names_its_port() {
    // The golden models sleep a cycle earlier than the hardware.
    let mismatched = PortPlan {
        t_pdt_init: 39,
        policy: Policy::Fixed,
        ..small_plan()
    };
    let fixture = Fixture {
        plan: PortPlan {
            t_pdt_init: 40,
            ..mismatched
        },
    };
    let folder = tempfile::tempdir().unwrap();
    let wave = folder.path().join("s.vcd");
    let arguments = args(&["--scenario", "s.toml", "--wave", wave.to_str().unwrap()]);
    let mut out = Vec::new();
    let outcome = compare(
        &arguments,
        &fixture,
        (4, None),
        &feed(mismatched),
        &no_report,
        &mut out,
    )
    .unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(outcome, Outcome::CheckFailed);
    assert!(text.contains("mismatch in cycle 0, port 0"), "{text}");
    assert!(text.contains("t_pdt"), "{text}");
    assert!(
        text.contains("again: linkdoze cosim port.toml --scenario s.toml"),
        "{text}"
    );
    assert!(wave.exists());
}
