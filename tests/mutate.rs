//! `linkdoze mutate`: faults put into the hardware show, and what is no fault is told apart.

use std::path::Path;

use crate::common::{every_case, linkdoze, run};

/// Times so short that some hundred thousand cycles show most faults.
const CONFIG: &str = "\
[clock]
tick_ns = 3
[port]
time_width = 16
policy = \"perfbound\"
sleep = \"hybrid\"
t_pdt_init_ns = 600
hybrid_hold_ns = 150
sync = \"messages\"
sync_timeout_ns = 60
[states.fast-wake]
t_w_ns = 30
t_s_ns = 20
[states.deep-sleep]
t_w_ns = 90
t_s_ns = 60
[histogram]
bins = 32
bin_ns = 48
counter_bits = 4
max_samples = 40
ttl_ns = 12000
max_value_ns = 1536
[perfbound]
hop_factor = 0.1
";

fn write(folder: &Path) {
    std::fs::write(folder.join("port.toml"), CONFIG).unwrap();
}

/// One fault in 14 of every module, or in nine; what survives is in the list.
#[test]
fn most_faults_show() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let (step, least) = if every_case() {
        ("9", 150)
    } else {
        ("14", 100)
    };
    let quick = [
        "--cycles",
        "1M",
        "--step",
        step,
        "--no-equivalence",
        "-o",
        "found.json",
    ];
    let mutate = ["mutate", "port.toml"];
    let command = || {
        let mut command = linkdoze(folder.path());
        command.args(mutate).args(quick);
        command
    };
    let output = command().arg("--json").output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mutants = report["mutants"].as_array().unwrap();
    assert!(mutants.len() > least, "{}", mutants.len());
    let share = report["share"].as_f64().unwrap();
    // What is no fault is among them: without the solver some 90 % show.
    assert!(share > 0.85, "{share}");
    let fates = |fate: &str| mutants.iter().filter(|it| it["fate"] == fate).count();
    assert_eq!(
        fates("killed") + fates("survived") + fates("fails"),
        mutants.len()
    );
    let modules: std::collections::BTreeSet<_> = mutants
        .iter()
        .map(|it| it["module"].as_str().unwrap())
        .collect();
    for module in [
        "port",
        "lpi_fsm",
        "link_sync",
        "perfbound",
        "counter_store",
        "idle_meter",
    ] {
        assert!(modules.contains(module), "{module}");
    }

    // The same again takes what is known from the file; with other cycles it is refused.
    let again = command().arg("--json").output().unwrap();
    assert_eq!(again.stdout, output.stdout);
    let other = [
        "--cycles",
        "2M",
        "--step",
        step,
        "--no-equivalence",
        "-o",
        "found.json",
    ];
    let (_, err) = run(linkdoze(folder.path()).args(mutate).args(other), 2);
    assert!(
        err.contains("found.json: these are results of another"),
        "{err}"
    );
}

/// As many faults of another module are others.
#[test]
fn results_of_other_faults_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let one_of = |module: &str| {
        let mut command = linkdoze(folder.path());
        let few = ["--cycles", "1000", "--step", "1000", "--no-equivalence"];
        command.args(["mutate", "port.toml", "-o", "found.json", "--json"]);
        command.args(few).args(["--only", module]);
        command.output().unwrap()
    };
    let first = one_of("idle_meter");
    let report: serde_json::Value = serde_json::from_slice(&first.stdout).unwrap();
    assert_eq!(report["mutants"].as_array().unwrap().len(), 1, "{report:#}");
    let second = one_of("lpi_fsm");
    let err = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(2), "{err}");
    assert!(err.contains("these are results of another"), "{err}");
}

/// A solver tells that a fault is none, and does not tell so of one that is.
#[test]
#[ignore = "long; make test-all runs it"]
fn what_is_no_fault_is_proved_to_be_none() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let few = [
        "--cycles", "300k", "--only", "lpi_fsm", "--step", "10", "--json",
    ];
    let output = linkdoze(folder.path())
        .args(["mutate", "port.toml"])
        .args(few)
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mutants = report["mutants"].as_array().unwrap();
    let of = |fate: &str| mutants.iter().filter(|it| it["fate"] == fate).count();
    assert!(of("equivalent") >= 1, "{report:#}");
    assert!(of("killed") > of("equivalent"), "{report:#}");

    // Too few cycles for anything to show: the solver does not take faults for none.
    let none = [
        "--cycles", "1", "--only", "lpi_fsm", "--step", "80", "--json",
    ];
    let output = linkdoze(folder.path())
        .args(["mutate", "port.toml"])
        .args(none)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mutants = report["mutants"].as_array().unwrap();
    let survived = mutants.iter().filter(|it| it["fate"] == "survived").count();
    assert!(survived >= 2, "{report:#}");
}

/// The Verilog with a fault can be had, and the co-simulation tells the fault again.
#[test]
fn a_fault_can_be_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let emit = [
        "mutate",
        "port.toml",
        "--only",
        "pdt_timer",
        "--emit",
        "1",
        "--to",
        "wrong",
    ];
    let (text, _) = run(linkdoze(folder.path()).args(emit), 0);
    assert!(text.starts_with("pdt_timer.v, "), "{text}");
    let random = [
        "cosim",
        "port.toml",
        "--random",
        "--cycles",
        "1M",
        "--rtl",
        "wrong",
        "--no-wave",
    ];
    run(linkdoze(folder.path()).args(random), 1);
    let beyond = [
        "mutate",
        "port.toml",
        "--only",
        "pdt_timer",
        "--emit",
        "9999",
        "--to",
        "wrong",
    ];
    let (_, err) = run(linkdoze(folder.path()).args(beyond), 2);
    assert!(err.contains("there are the faults 1 to "), "{err}");
    let (_, err) = run(
        linkdoze(folder.path()).args(["mutate", "port.toml", "--only", "x"]),
        2,
    );
    assert!(err.contains("there is no module `x`; there are "), "{err}");
}
