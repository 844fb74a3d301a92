//! Standard cells: a small controller in OSU's open library for 0.18 um, timed by OpenSTA under the
//! emitted constraints. And what is synthesised of a switch.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::{every_case, linkdoze, run};

const LIBRARY: &str = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib";

/// What Debian and Ubuntu have.
fn both_are_there() {
    let sta = Command::new("sta").arg("-version").output();
    for (there, what, package) in [
        (sta.is_ok(), "OpenSTA (`sta`)", "opensta"),
        (Path::new(LIBRARY).is_file(), LIBRARY, "qflow-tech-osu018"),
    ] {
        assert!(
            there,
            "{what} is missing: run `make setup`, or apt-get install --no-install-recommends {package}"
        );
    }
}

/// All times in cycles of `period` ns: the hardware is the same for every `period`.
fn configuration(period: u32) -> String {
    let times = |cycles: u32| cycles * period;
    format!(
        "[clock]\nperiod_ps = {}\ntick_ns = {period}\n\
         [port]\ntime_width = 16\npolicy = \"perfbound\"\nsync_timeout_ns = {}\n\
         t_backstop_ns = {}\n\
         [states.fast-wake]\nt_w_ns = {}\nt_s_ns = {}\n\
         [states.deep-sleep]\nt_w_ns = {}\nt_s_ns = {}\n\
         [histogram]\nbins = 16\nbin_ns = {}\ncounter_bits = 6\nmax_samples = 20\nttl_ns = {}\n",
        1000 * period,
        times(200),
        times(700),
        times(75),
        times(40),
        times(448),
        times(200),
        times(256),
        times(20_000)
    )
}

/// Cell areas, read for the test alone: `area : X;` stands some lines behind `cell (NAME) {`.
fn areas() -> BTreeMap<String, f64> {
    let text = fs::read_to_string(LIBRARY).unwrap();
    let cells = text.split("\ncell (").skip(1);
    let areas = cells.map(|cell| {
        let (name, rest) = cell.split_once(')').unwrap();
        let (_, area) = rest.split_once("area :").unwrap();
        let area = area.split(';').next().unwrap().trim().parse().unwrap();
        (name.to_owned(), area)
    });
    areas.collect()
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-3
}

#[test]
#[ignore = "long; make test-all runs it"]
fn area_and_slack_of_an_open_library_can_be_recomputed() {
    both_are_there();
    let folder = tempfile::tempdir().unwrap();
    let target = format!("liberty:{LIBRARY}");
    let json = |arguments: &[&str], file: &str| -> Value {
        let mut command = linkdoze(folder.path());
        let (out, _) = run(command.args(arguments).args([file, "--json"]), 0);
        serde_json::from_str(&out).unwrap()
    };
    let [slow, fast] = [(10, "slow.toml"), (1, "fast.toml")].map(|(period, file)| {
        fs::write(folder.path().join(file), configuration(period)).unwrap();
        json(&["synth", "--target", &target], file)
    });
    let estimate = json(&["estimate"], "slow.toml");
    let census = |name: &str| estimate["census"][name].as_u64().unwrap();
    let areas = areas();
    assert_eq!(areas["NAND2X1"], 24.0);
    assert_eq!(slow["gate"]["cell"], "NAND2X1");
    let names = ["default", "speed", "memory"];
    let mut flip_flops = Vec::new();
    let mut enabled = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let mapping = |report: &Value| report["mappings"][at].clone();
        let (slow, fast) = (mapping(&slow), mapping(&fast));
        assert_eq!(slow["name"], *name);
        assert_eq!(slow["resources"], fast["resources"], "the same hardware");

        let resources = &slow["resources"];
        let types = resources["cell_types"].as_object().unwrap();
        let sum: f64 = types
            .iter()
            .map(|(cell, number)| areas[cell] * number.as_f64().unwrap())
            .sum();
        assert!(sum > 10_000.0 && close(resources["area"].as_f64().unwrap(), sum));
        assert!(close(
            resources["gate_equivalents"].as_f64().unwrap(),
            sum / 24.0
        ));
        let registers = types["DFFPOSX1"].as_u64().unwrap();
        assert_eq!(resources["flip_flops"], registers);
        flip_flops.push(registers);
        let enables = resources["enables"].as_array().unwrap();
        let sizes = enables.iter().map(|it| it["flip_flops"].as_u64().unwrap());
        assert!(sizes.clone().min() > Some(0));
        enabled.push(sizes.sum::<u64>());

        // The constraints ask for half of the period outside each pin.
        for (path, late) in [
            ("registers", None),
            ("inputs", None),
            ("outputs", Some(0.5)),
        ] {
            let time = |of: &Value, key: &str| of["timing"]["paths"][path][key].as_f64().unwrap();
            for (period, of) in [(10.0, &slow), (1.0, &fast)] {
                let (arrival, required) = (time(of, "arrival_ns"), time(of, "required_ns"));
                assert!(close(time(of, "slack_ns"), required - arrival), "{of}");
                match late {
                    Some(part) => assert!(close(required, part * period), "{of}"),
                    None => assert!((0.02..0.5).contains(&(period - required)), "{of}"),
                }
            }
            let inside = if path == "registers" { 9.0 } else { 4.5 };
            assert!(close(
                time(&slow, "slack_ns") - time(&fast, "slack_ns"),
                inside
            ));
            // What is not mapped for speed has no buffers, and a slow reset.
            assert!(
                *name == "default" || time(&slow, "slack_ns") > 0.0,
                "{slow}"
            );
        }
        let slack = fast["timing"]["paths"]["registers"]["slack_ns"]
            .as_f64()
            .unwrap();
        assert!(slack < 0.0, "{fast}");
        let fmax = fast["timing"]["fmax_mhz"]["median"].as_f64().unwrap();
        assert!(close(fmax, 1e3 / (1.0 - slack)), "{fast}");
    }
    // Every bit of memory becomes a flip-flop behind an enable, or stays away whole.
    let memory = census("memory_bits");
    assert!(memory > 0);
    assert_eq!(
        flip_flops,
        [
            flip_flops[0],
            flip_flops[0],
            flip_flops[0] + memory + census("memory_output_bits")
        ]
    );
    assert!(enabled[2] >= enabled[0] + memory, "{enabled:?}");
    assert!(enabled[0] > 0 && enabled[0] < flip_flops[0], "{enabled:?}");
}

#[test]
fn a_period_that_the_library_cannot_keep_is_told_first() {
    both_are_there();
    let folder = tempfile::tempdir().unwrap();
    let mut config = configuration(1);
    // The search for a threshold takes most of the time.
    if !every_case() {
        config = config.replace("\"perfbound\"", "\"fixed\"");
    }
    fs::write(folder.path().join("port.toml"), config).unwrap();
    let target = format!("liberty:{LIBRARY}");
    let synth = ["synth", "port.toml", "--target", &target];
    let (out, _) = run(linkdoze(folder.path()).args(synth), 0);
    let first = out.lines().next().unwrap();
    assert!(
        first.starts_with("Fmax, default: ") && first.contains("SLOWER than asked for"),
        "{out}"
    );
    for row in [
        "gate equivalents (NAND2X1) ",
        "  behind an enable ",
        "slack, ns  ",
    ] {
        assert!(
            out.lines().any(|line| line.starts_with(row)),
            "{row}: {out}"
        );
    }
}

/// The controller of a port with a fixed threshold has some 70 flip-flops; its registers have more.
#[test]
#[ignore = "long; make test-all runs it"]
fn a_switch_is_synthesised_with_its_registers() {
    let folder = tempfile::tempdir().unwrap();
    let fixed = configuration(1).replace("\"perfbound\"", "\"fixed\"");
    fs::write(folder.path().join("port.toml"), fixed).unwrap();
    let synth = ["synth", "port.toml", "--target", "xilinx", "--json"];
    let counted = |ports: &[&str]| -> (Value, u64) {
        let (out, _) = run(linkdoze(folder.path()).args(synth).args(ports), 0);
        let report: Value = serde_json::from_str(&out).unwrap();
        let flip_flops = &report["mappings"][0]["resources"]["flip_flops"];
        (report["ports"].clone(), flip_flops.as_u64().unwrap())
    };
    let (alone, few) = counted(&[]);
    let (ports, many) = counted(&["--ports", "1"]);
    assert_eq!((alone, ports), (Value::Null, 1.into()));
    assert!(few < 100 && many > 5 * few, "{few}, {many}");
}

/// A row of `tools/toggles.py`: register bits, changes in a cycle awake and asleep.
fn changes(folder: &Path, kind: &str, idle: u32) -> Result<[f64; 3], String> {
    let init = [
        "init",
        "--preset",
        "bxiv3-deep-sleep",
        "-o",
        "port.toml",
        "--force",
    ];
    run(linkdoze(folder).args(init), 0);
    let text = fs::read_to_string(folder.join("port.toml")).unwrap();
    let text = text
        .replace("t_pdt_init_ns = 100000", "t_pdt_init_ns = 640")
        .replace("kind = \"clearing\"", &format!("kind = \"{kind}\""));
    assert!(text.contains("t_pdt_init_ns = 640") && text.contains(&format!("\"{kind}\"")));
    fs::write(folder.join("port.toml"), text).unwrap();
    let periods = format!("busy,idle\n200,{idle}\n");
    fs::write(folder.join("periods.csv"), periods).unwrap();
    let cosim = [
        "cosim",
        "port.toml",
        "--periods",
        "periods.csv",
        "--wave",
        "wave.vcd",
    ];
    run(linkdoze(folder).args(cosim), 0);
    let toggles = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/toggles.py");
    let output = Command::new("python3")
        .arg(toggles)
        .args(["row", "wave.vcd"])
        .current_dir(folder)
        .output()
        .unwrap();
    let row = String::from_utf8(output.stdout).unwrap();
    let cells: Vec<f64> = row
        .split('|')
        .filter_map(|cell| cell.trim().parse().ok())
        .collect();
    <[f64; 3]>::try_from(cells).map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// By hand: a binary counter changes two bits a cycle on average. Asleep, a circular histogram leaves the
/// counter of idle time alone; a clearing one has the age and the budget beside it.
#[test]
fn few_registers_change_while_a_link_sleeps() {
    let folder = tempfile::tempdir().unwrap();
    let [bits, awake, asleep] = changes(folder.path(), "circular", 30_000).unwrap();
    assert!(
        (1.9..2.2).contains(&asleep) && awake > asleep,
        "{awake} {asleep}"
    );
    if every_case() {
        let [clearing_bits, _, clearing] = changes(folder.path(), "clearing", 30_000).unwrap();
        assert!(clearing > asleep + 4.0, "{clearing} {asleep}");
        assert!(bits > clearing_bits && clearing < 0.05 * clearing_bits);
    }
    // A link that is never seen asleep has no row.
    let error = changes(folder.path(), "circular", 500).unwrap_err();
    assert!(error.contains("not seen both awake and asleep"), "{error}");
}
