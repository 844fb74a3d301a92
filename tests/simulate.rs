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
    // Whatever `hops` says: a NIC's packets take 2 to 5 links, of 1 % all together.
    let factor = number(&found, "/degradation_factors/node to switch");
    assert!((0.002..0.005).contains(&factor), "{factor}");
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
    // The two runs were cut at different places of the program: energies do not compare.
    let against = found["against_always_on_percent"].as_object().unwrap();
    for (name, percent) in against {
        let compares = name.starts_with("latency") || name == "p003_energy_per_data";
        assert_eq!(percent.is_number(), compares, "{name}: {percent}");
    }
    assert_eq!(against.len(), 14);
}

#[test]
fn copies_of_a_job_run_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let ping = |bytes: u32| {
        format!(
            "num_ranks 2\nrank 0 {{\nsend {bytes}b to 1\n}}\nrank 1 {{\nrecv {bytes}b from 0\n}}\n"
        )
    };
    written(folder.path(), "short.goal", &ping(64));
    written(folder.path(), "long.goal", &ping(900_000));
    let scenario = written(
        folder.path(),
        "jobs.toml",
        "[[traffic.jobs]]\nfile = \"short.goal\"\ncopies = 3\nmapping = \"random\"\n\
         [[traffic.jobs]]\nfile = \"long.goal\"\n",
    );
    let found = json(folder.path(), &["simulate", &scenario, "--json"]);
    let jobs = found["jobs"].as_array().unwrap();
    let name = |job: &Value| {
        let name = job["name"].as_str().unwrap();
        name.rsplit('/').next().unwrap().to_owned()
    };
    let names: Vec<String> = jobs.iter().map(name).collect();
    let expected = ["short.goal 1", "short.goal 2", "short.goal 3", "long.goal"];
    assert_eq!(names, expected);
    assert!(jobs.iter().all(|job| job["ranks"] == 2));
    let times: Vec<f64> = jobs.iter().map(|job| number(job, "/time_ns")).collect();
    assert!(times[0] == times[1] && times[0] == times[2] && times[0] < times[3]);
    assert_eq!(number(&found, "/time_ns"), times[3]);
    let mean = times.iter().sum::<f64>() / 4.0;
    assert!((number(&found, "/job_time_mean_ns") / mean - 1.0).abs() < 1e-12);
    let (table, _) = run(linkdoze(folder.path()).args(["simulate", &scenario]), 0);
    assert!(table.contains("of a job, mean, ms"), "{table}");
}

/// Ctrl-C during a long run: it says how far it came, and what lies in the folder stays.
#[test]
fn ctrl_c_says_how_far_it_came_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let uniform = |ns: u64| format!("[traffic]\nkind = \"uniform\"\n[run]\nduration_ns = {ns}\n");
    let short = written(folder.path(), "short.toml", &uniform(1000));
    run(
        linkdoze(folder.path()).args(["simulate", &short, "-o", "out"]),
        0,
    );
    let content = || {
        let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder.path().join("out"))
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                let name = entry.file_name().into_string().unwrap();
                (name, std::fs::read(entry.path()).unwrap())
            })
            .collect();
        files.sort();
        files
    };
    let before = content();
    assert_eq!(before.len(), 3);

    // Hours of work.
    let long = written(folder.path(), "long.toml", &uniform(1_000_000_000_000));
    for threads in ["1", "2"] {
        let child = std::process::Command::new(env!("CARGO_BIN_EXE_linkdoze"))
            .current_dir(folder.path())
            .args(["simulate", &long, "-o", "out", "--threads", threads])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_secs(1));
        let sent = std::time::Instant::now();
        let kill = std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{text}");
        assert!(sent.elapsed() < std::time::Duration::from_secs(30));
        assert_eq!(output.stdout, b"");
        let told = text.strip_prefix("error: interrupted after ").unwrap();
        let (ms, rest) = told.split_once(' ').unwrap();
        assert!(ms.parse::<f64>().unwrap() > 0.0, "{text}");
        assert_eq!(
            rest,
            "ms of simulated time of the run \"always on\"; nothing was written\n"
        );
        assert!(content() == before, "{threads} threads");
    }
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
        let table = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
        (summary, table("ports.csv"), table("idle.csv"))
    };
    let one = with("1");
    assert!(number(&one.0, "/packets") > 1000.0);
    assert!(number(&one.0, "/ports/misses") > 10.0);
    // The hot node's link is full: others are paused.
    assert!(number(&one.0, "/ports/pauses") > 0.0);
    assert!(one.1.starts_with("port,wake_ns,"));
    assert!(one.2.lines().count() > 1000);
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
    let warming = format!("{cut}warm_up_ns = 1000\n");
    let what = "warming.toml:5:14: warm_up_ns must be below duration_ns";
    refused("warming.toml", &warming, &[], what);
    // The trace is not what needs mending.
    written(folder.path(), "two.goal", TWO_MESSAGES);
    let slow = "[traffic]\nfile = \"two.goal\"\n[power.clock]\nperiod_ps = 2000\n";
    let message = "slow.toml: a clock period of 2000 ps (clock.period_ps): it must be";
    refused("slow.toml", slow, &[], message);
    let many = ["--threads", "1000000"];
    refused("many.toml", &cut, &many, "takes at most 16, one for each");
    refused(
        "alone.toml",
        "[topology]\nkind = \"megafly\"\ngroups = 1\nradix = 2\n[traffic]\nkind = \"uniform\"\n\
         [run]\nduration_ns = 20000\n",
        &[],
        "alone.toml:6:8: kind = \"uniform\" has messages from node to node",
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

/// What waits in the NICs shows, and is told.
#[test]
fn a_saturated_network_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let with = |load: &str, senders: &str| {
        let text = format!(
            "[topology]\nkind = \"single-switch\"\nnodes = 16\n[traffic]\nkind = \"hotspot\"\n\
             load = {load}\nhot_senders = {senders}\n[run]\nduration_ns = 200000\n"
        );
        let scenario = written(folder.path(), "hot.toml", &text);
        let (out, told) = run(
            linkdoze(folder.path()).args(["simulate", &scenario, "--json"]),
            0,
        );
        let found: Value = serde_json::from_str(&out).unwrap();
        // 16 nodes, 50 bytes to the nanosecond.
        let offered = number(&found, "/offered_bytes") / (16.0 * 50.0 * 200_000.0);
        assert!((number(&found, "/offered_load") / offered - 1.0).abs() < 1e-9);
        assert!(number(&found, "/accepted_load") <= offered);
        let asked: f64 = load.parse().unwrap();
        assert!((offered / asked - 1.0).abs() < 0.1, "{offered}");
        let backlog = number(&found, "/offered_bytes") - number(&found, "/delivered_bytes");
        assert_eq!(number(&found, "/backlog_bytes"), backlog);
        let waiting = number(&found, "/offered_messages") - number(&found, "/messages");
        assert_eq!(number(&found, "/backlog_messages"), waiting);
        (backlog / number(&found, "/offered_bytes"), told)
    };
    // All send half of their rate to one node, which takes an eighth of that.
    let (waiting, told) = with("0.5", "1");
    assert!(waiting > 0.8, "{waiting}");
    assert!(
        told.contains("note: ") && told.contains("the network is saturated"),
        "{told}"
    );
    let (waiting, told) = with("0.1", "0.000001");
    assert!(waiting < 0.02, "{waiting}");
    assert!(!told.contains("saturated"), "{told}");
}

/// Two messages, 10 us of computing between them: every time can be computed by hand.
const TWO_MESSAGES: &str = "num_ranks 2\n\
     rank 0 {\na: send 1000b to 1 tag 1\nb: calc 10000\nb requires a\n\
     c: send 1000b to 1 tag 2\nc requires b\n}\n\
     rank 1 {\na: recv 1000b from 0 tag 1\nb: recv 1000b from 0 tag 2\nb requires a\n}\n";

#[test]
fn messages_of_another_size_than_their_receive_are_told() {
    let folder = tempfile::tempdir().unwrap();
    written(
        folder.path(),
        "two.goal",
        &TWO_MESSAGES.replace("recv 1000b from 0 tag 2", "recv 999b from 0 tag 2"),
    );
    let scenario = written(folder.path(), "s.toml", "[traffic]\nfile = \"two.goal\"\n");
    let found = json(folder.path(), &["simulate", &scenario, "--json"]);
    assert_eq!(number(&found, "/sizes_differ"), 1.0);
    let (table, _) = run(linkdoze(folder.path()).args(["simulate", &scenario]), 0);
    assert!(table.contains("1 messages had another size"), "{table}");
}

#[test]
fn the_scenario_says_what_switches_and_nodes_draw() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "two.goal", TWO_MESSAGES);
    let energies = |table: &str| {
        let text = format!("[traffic]\nfile = \"two.goal\"\n{table}");
        let scenario = written(folder.path(), "s.toml", &text);
        let found = json(folder.path(), &["simulate", &scenario, "--json"]);
        let energy = |what: &str| number(&found, &format!("/energy_j/{what}"));
        (energy("links"), energy("switches"), energy("nodes"))
    };
    let (links, switches, nodes) = energies("");
    let table = "[energy]\nswitch_w = 125\nnode_min_w = 0\nnode_max_w = 400\n";
    let (same, half, computing) = energies(table);
    assert_eq!(same, links);
    assert!((half / switches - 0.5).abs() < 1e-12, "{half} {switches}");
    // 800 W less at each of 16 nodes, where a switch drew 250 W.
    let less = switches / 250.0 * 16.0 * 800.0;
    assert!(((nodes - less) / computing - 1.0).abs() < 1e-9);
    // 400 W for 10 us.
    assert!((computing / 4e-3 - 1.0).abs() < 1e-9, "{computing}");
}

#[test]
fn idle_periods_and_models_of_two_messages() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "two.goal", TWO_MESSAGES);
    let text = "[topology]\nkind = \"single-switch\"\nnodes = 2\n\
                [traffic]\nkind = \"goal\"\nfile = \"two.goal\"\n";
    let plain = written(folder.path(), "plain.toml", text);
    let found = json(folder.path(), &["simulate", &plain, "--json", "-o", "out"]);
    // A message takes 200 ns of its CPU and 20 ns on a link. The second one leaves 10,200 ns
    // after the first, so every port is idle for 10,180 ns; all four see both messages.
    let lines = std::fs::read_to_string(folder.path().join("out/idle.csv")).unwrap();
    let expected: Vec<String> = ["switch0.port0", "switch0.port1", "nic0", "nic1"]
        .iter()
        .map(|port| format!("{port},10000.0,20000.0,1,10180.0"))
        .collect();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines[0], "port,from_ns,to_ns,periods,idle_ns");
    assert_eq!(lines[1..], expected);
    let idle = |what: &str| number(&found, &format!("/idle_periods/{what}"));
    assert_eq!(idle("bins/0/from_ns"), 1e4);
    assert_eq!(idle("bins/0/to_ns"), 2e4);
    assert_eq!((idle("periods"), idle("bins/0/periods")), (4.0, 4.0));
    assert_eq!(
        (idle("idle_ns"), idle("bins/0/idle_ns")),
        (40720.0, 40720.0)
    );
    assert_eq!(idle("busy_ns"), 4.0 * 2.0 * 20.0);
    // The run, and one cable delay.
    let length = (number(&found, "/time_ns") + 15.0).ceil();
    let rest = idle("before_first_ns") + idle("after_last_ns");
    assert_eq!(idle("idle_ns") + idle("busy_ns") + rest, 4.0 * length);
    // nic0 sends from 200 ns on, the others follow: 4 cables' ends, and the switch.
    assert!(idle("before_first_ns") > 4.0 * 200.0);

    // Always on: the network of p001 draws its maximum.
    let model = |what: &str| number(&found, &format!("/models/{what}"));
    let close = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    };
    close(model("p001/w_net_fraction"), 1.0);
    close(model("p001/e_net_full_power_s"), length / 1e9);
    close(model("p002/average_power_w"), 4.0 * 24.0);
    assert_eq!(model("p002/saving_percent"), 0.0);
    // 4 * 24 W and 250 W for 2,000 bytes.
    close(
        model("p003/network_nj_per_bit"),
        (96.0 + 250.0) * length / 16_000.0,
    );

    // With power saving they are those of the run with links that never sleep.
    let saving =
        format!("{text}[power.port]\npolicy = \"fixed\"\nsleep = \"fast-wake\"\nt_pdt_ns = 1000\n");
    let saving = written(folder.path(), "saving.toml", &saving);
    let saved = json(folder.path(), &["simulate", &saving, "--json"]);
    assert_eq!(saved["idle_periods"], found["idle_periods"]);
    assert_eq!(saved["always_on"]["models"], found["models"]);
    let less = |what: &str| number(&saved, &format!("/against_always_on_percent/{what}"));
    for what in ["p001_e_net", "p002_average_power", "p003_energy_per_data"] {
        assert!(less(what) < -1.0, "{what}");
    }
    let percent = number(&saved, "/models/p002/saving_percent");
    close(-less("p002_average_power"), percent);

    // Idle periods of links that never sleep end neither awake nor asleep.
    assert_eq!(number(&saved, "/ports/hits"), 0.0);
    assert_eq!(number(&saved, "/ports/misses"), 4.0);
    assert!(found["ports"]["hits"].is_null() && saved["always_on"]["ports"]["hits"].is_null());
    let ports = std::fs::read_to_string(folder.path().join("out/ports.csv")).unwrap();
    let hits = ports.lines().map(|line| line.split(',').nth(7).unwrap());
    assert_eq!(hits.collect::<Vec<_>>(), ["hits", "", "", "", ""]);

    // No packet after the warm-up: no latency.
    let warming = written(
        folder.path(),
        "warming.toml",
        &format!("{text}[run]\nwarm_up_ns = 1000000\n"),
    );
    let late = json(folder.path(), &["simulate", &warming, "--json"]);
    assert_eq!(number(&late, "/latency_ns/packets"), 0.0);
    for what in ["mean", "p50", "p99", "max"] {
        assert!(late["latency_ns"][what].is_null(), "{what}");
        assert!(number(&found, &format!("/latency_ns/{what}")) > 0.0);
    }
    assert_eq!(number(&found, "/latency_ns/packets"), 2.0);
    let (table, _) = run(linkdoze(folder.path()).args(["simulate", &warming]), 0);
    let row = |line: &str| {
        line.trim()
            .strip_prefix("latency, mean, ns")
            .map(str::to_owned)
    };
    assert_eq!(table.lines().find_map(row).unwrap().trim(), "-");

    // What it was computed from.
    let inputs = &saved["inputs"];
    assert_eq!(inputs["linkdoze"], env!("CARGO_PKG_VERSION"));
    assert_eq!(inputs["seed"], 1);
    let digest = |name: &str| linkdoze::files::sha256(&folder.path().join(name)).unwrap();
    assert_eq!(inputs["scenario_sha256"], digest("saving.toml"));
    assert_eq!(inputs["traces"][0]["sha256"], digest("two.goal"));
    assert_ne!(inputs["port_sha256"], found["inputs"]["port_sha256"]);

    // Left out with the run that shows them, and not left there from an earlier one.
    run(
        linkdoze(folder.path()).args(["simulate", &saving, "-o", "none"]),
        0,
    );
    assert!(folder.path().join("none/idle.csv").exists());
    let none = ["simulate", &saving, "--json", "--no-baseline", "-o", "none"];
    assert!(json(folder.path(), &none).get("idle_periods").is_none());
    assert!(!folder.path().join("none/idle.csv").exists());
    let (text, _) = run(linkdoze(folder.path()).args(["simulate", &saving]), 0);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(words).collect();
    for line in [
        "idle periods of ports whose links never sleep: 4",
        "100 us 100.000 100.000",
    ] {
        assert!(lines.iter().any(|found| found == line), "{text}");
    }
}
