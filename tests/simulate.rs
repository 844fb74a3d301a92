//! `linkdoze simulate`, as a user runs it.

use std::path::Path;

use serde_json::Value;

mod common;

use common::{linkdoze, run};

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let (out, _) = run(linkdoze(folder).args(arguments), 0);
    serde_json::from_str(&out).unwrap()
}

fn number(json: &Value, path: &str) -> f64 {
    let value = json.pointer(path);
    let number = value.and_then(Value::as_f64);
    number.unwrap_or_else(|| panic!("{path} is {value:?}"))
}

/// The trace of 16 ranks on a Dragonfly whose links sleep, cut after 2 ms.
fn lammps(folder: &Path) -> String {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("sim/lammps-lj-r16-s300.goal.zst");
    let text = format!(
        "[topology]\nkind = \"dragonfly\"\n\
         [traffic]\nkind = \"goal\"\nfile = \"{}\"\nmapping = \"random\"\n\
         [power.port]\npolicy = \"perfbound-correct\"\nt_pdt_init_ns = 20000\n\
         [run]\nduration_ns = 2000000\n",
        trace.display()
    );
    written(folder, "lammps.toml", &text)
}

#[test]
fn an_application_on_a_dragonfly() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = lammps(folder.path());
    let found = json(folder.path(), &["simulate", &scenario, "--json"]);
    for path in [
        "/packets",
        "/delivered_bytes",
        "/cpu_seconds",
        "/peak_bytes",
    ] {
        assert!(number(&found, path) > 0.0, "{path}");
    }
    assert_eq!(number(&found, "/time_ns"), 2e6);
    // Minimal ways: 2 links on one switch to 5 (p003).
    let hops = number(&found, "/packet_hops") / number(&found, "/packets");
    assert!((3.0..5.0).contains(&hops), "{hops}");
    let latency = |what: &str| number(&found, &format!("/latency_ns/{what}"));
    assert!(latency("p50") <= latency("p99") && latency("p99") <= latency("max"));
    assert!(latency("mean") <= latency("max"));
    // Links sleep: that shows in misses, time, energy and latency.
    for path in [
        "/ports/hits",
        "/ports/misses",
        "/ports/transitions",
        "/ports/states/deep-sleep",
    ] {
        assert!(number(&found, path) > 0.0, "{path}");
    }
    let parts = found["ports"]["states"].as_object().unwrap();
    let sum: f64 = parts.values().filter_map(Value::as_f64).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    let energy = |of: &str, what: &str| number(&found, &format!("{of}/energy_j/{what}"));
    let whole = energy("", "links") + energy("", "switches") + energy("", "nodes");
    assert!((whole / energy("", "total") - 1.0).abs() < 1e-12);
    assert!(energy("", "links") < energy("/always_on", "links"));
    // 264 switches of radix 15 and 1,056 NICs, 24 W each, 250 W a switch.
    let ends = 264.0 * 15.0 + 1056.0;
    assert!((energy("/always_on", "links") / (ends * 24.0 * 2e-3) - 1.0).abs() < 1e-9);
    assert!((energy("", "switches") / (264.0 * 250.0 * 2e-3) - 1.0).abs() < 1e-9);
    assert!(latency("mean") > number(&found, "/always_on/latency_ns/mean"));
}

#[test]
fn threads_do_not_change_a_byte() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = written(
        folder.path(),
        "megafly.toml",
        "[topology]\nkind = \"megafly\"\nradix = 8\ngroups = 9\n\
         [traffic]\nkind = \"hotspot\"\nload = 0.5\nmessage_bytes = 3000\n\
         [power.port]\npolicy = \"perfbound\"\nsleep = \"fast-wake\"\nt_pdt_init_ns = 500\n\
         [run]\nduration_ns = 60000\nwarm_up_ns = 5000\n",
    );
    let with = |threads: &str| {
        let out = folder.path().join(threads);
        let out_text = out.display().to_string();
        let arguments = [
            "simulate",
            &scenario,
            "--threads",
            threads,
            "-o",
            &out_text,
            "--json",
        ];
        let mut summary = json(folder.path(), &arguments);
        for volatile in ["cpu_seconds", "peak_bytes", "threads"] {
            summary.as_object_mut().unwrap().remove(volatile);
        }
        summary["always_on"]["cpu_seconds"] = Value::Null;
        (summary, std::fs::read(out.join("ports.csv")).unwrap())
    };
    let one = with("1");
    assert!(number(&one.0, "/packets") > 1000.0);
    assert!(number(&one.0, "/ports/misses") > 10.0);
    // The hot node's link is full: others are paused.
    assert!(number(&one.0, "/ports/pauses") > 0.0);
    assert!(one.1.starts_with(b"port,wake_ns,"));
    for threads in ["2", "3"] {
        assert!(one == with(threads), "{threads} threads");
    }
}

#[test]
fn hardware_in_the_loop_makes_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = lammps(folder.path());
    let arguments = ["simulate", &scenario, "--no-baseline", "-o", "out"];
    run(linkdoze(folder.path()).args(arguments), 0);
    // The busiest switch port and NIC.
    let ports = std::fs::read_to_string(folder.path().join("out/ports.csv")).unwrap();
    let busiest = |prefix: &str| {
        let rows = ports.lines().filter(|line| line.starts_with(prefix));
        let packets = |line: &&str| line.split(',').nth(10).unwrap().parse::<u64>().unwrap();
        let row = rows.max_by_key(packets).unwrap();
        row.split(',').next().unwrap().to_owned()
    };
    let chosen = format!("{},{}", busiest("switch"), busiest("nic"));
    let arguments = [
        "simulate",
        &scenario,
        "--no-baseline",
        "--rtl-ports",
        &chosen,
        "--json",
    ];
    let found = json(folder.path(), &arguments);
    assert_eq!(found["rtl"]["same_run"], Value::Bool(true));
    assert_eq!(number(&found, "/rtl/mismatches"), 0.0);
    // Two ports for 2 ms at 1 GHz, and what went before.
    assert!(number(&found, "/rtl/cycles") >= 4e6);
}

#[test]
fn what_cannot_be_simulated_is_said_to_be_so() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, text: &str, more: &[&str], what: &str| {
        let scenario = written(folder.path(), name, text);
        let mut arguments = vec!["simulate", &scenario];
        arguments.extend(more);
        let (_, errors) = run(linkdoze(folder.path()).args(arguments), 2);
        assert!(errors.contains(what), "{name}: {errors}");
    };
    let uniform = "[traffic]\nkind = \"uniform\"\n";
    refused("endless.toml", uniform, &[], "give duration_ns in [run]");
    let cut = format!("{uniform}[run]\nduration_ns = 1000\n");
    let levels = format!("{cut}[power.port]\npolicy = \"fixed\"\nsync = \"levels\"\n");
    refused("levels.toml", &levels, &[], "use port.sync = \"messages\"");
    let sleeping = format!("{cut}[power.port]\npolicy = \"fixed\"\n");
    let named = |port| ["--rtl-ports", port];
    refused("awake.toml", &cut, &named("nic0"), "has no controllers");
    let missing = "ports are named switch0.port0 to switch0.port15 and nic0 to nic15";
    refused("missing.toml", &sleeping, &named("nic16"), missing);
    refused(
        "twice.toml",
        &sleeping,
        &named("nic1,nic1"),
        "names nic1 twice",
    );
    let cable = format!("{cut}[switch]\ncable_ns = 0\n");
    refused(
        "cable.toml",
        &cable,
        &["--threads", "2"],
        "runs on one thread only",
    );
    refused(
        "load.toml",
        "[traffic]\nkind = \"uniform\"\nload = 1.5\n",
        &[],
        "load.toml:3:8",
    );
}

/// Twice the load that a network carries fills every buffer; what arrives goes on at the same
/// rate, or the network has locked up. Two lanes, or one.
#[test]
fn overload_does_not_stop_a_network() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, least) in [
        ("dragonfly", 0.3),
        ("torus", 0.4),
        ("megafly\"\nradix = 8\ngroups = 9\n#", 0.4),
    ] {
        let delivered = |duration: f64| {
            let text = format!(
                "[topology]\nkind = \"{kind}\"\n[traffic]\nkind = \"uniform\"\nload = 1\n\
                 message_bytes = 20000\n[run]\nduration_ns = {duration}\n"
            );
            let scenario = written(folder.path(), "overload.toml", &text);
            let found = json(folder.path(), &["simulate", &scenario, "--json"]);
            assert!(number(&found, "/ports/pauses") > 10.0, "{kind}");
            number(&found, "/delivered_bytes") / number(&found, "/nodes")
        };
        let (first, all) = (delivered(60_000.0), delivered(120_000.0));
        // 50 bytes to the nanosecond.
        let rate = (all - first) / (60_000.0 * 50.0);
        assert!(
            rate > least,
            "{kind}: {rate} of the links' rate in the second half"
        );
    }
}
