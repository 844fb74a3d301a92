//! `linkdoze simulate`, as a user runs it.

use std::io::BufRead;
use std::path::Path;

use serde_json::Value;

use crate::common::{linkdoze, run, share};

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
    // Minimal ways: 2 links on one switch to 5 (Zahn).
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
        let compares = name.starts_with("latency") || name == "zahn_energy_per_data";
        assert_eq!(percent.is_number(), compares, "{name}: {percent}");
    }
    assert_eq!(against.len(), 15);
    // The links of the run that never slept could have saved something; what this one saved of a
    // program that was cut does not compare.
    assert!(found["score"]["at_bound"].is_null() && found["score"]["at_own_wake_ups"].is_null());
    let best = |of: &str| number(&found, &format!("/offline_optimum/{of}/saved_j"));
    let links = energy("/always_on", "links");
    let ideal = links - number(&found, "/ideal/energy_j/links");
    assert!(0.0 < best("at_bound") && best("at_bound") < ideal && ideal < 0.9 * links);
    assert!(0.0 < best("at_own_wake_ups") && best("at_own_wake_ups") < ideal);
    // There is no execution time, so only the ports are judged.
    let bound = &found["bound"];
    assert_eq!(bound["configured"], 0.01);
    assert!(bound["kept"].is_null() && bound["time_overhead"].is_null());
    assert_eq!(bound["ports"], 264 * 15 + 1056);
    let over = number(&found, "/bound/ports_over_budget");
    assert!((1.0..500.0).contains(&over), "{over}");
    let sentence = format!(
        "Bound of 1 % not judged: there is no execution time to compare; {over} of 5,016 ports used \
         more than their budget, the worst ("
    );
    let told = bound["sentence"].as_str().unwrap();
    assert!(told.starts_with(&sentence), "{told}");
}

/// Two messages over two links that sleep in between, all by hand. Fast wake takes 200 ns to go to
/// and 375 ns to leave, and saves 14.4 W at each of a link's ends (PerfBound Table 8).
#[test]
fn the_bound_and_the_limits_of_two_messages() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "two.goal", TWO_MESSAGES);
    let scenario = |name: &str, policy: &str| {
        let text = format!(
            "[topology]\nkind = \"single-switch\"\nnodes = 2\n[traffic]\nfile = \"two.goal\"\n\
             [power.port]\nsleep = \"fast-wake\"\n{policy}\n"
        );
        written(folder.path(), name, &text)
    };
    let close = |found: f64, expected: f64, what: &str| {
        let error = (found - expected).abs();
        assert!(error <= 1e-9 * expected.abs(), "{what}: {found} {expected}");
    };
    let fixed = scenario("fixed.toml", "policy = \"fixed\"\nt_pdt_ns = 1000");
    let found = json(folder.path(), &["simulate", &fixed, "--json", "-o", "out"]);

    // Links that never sleep carry the messages from 200 to 235 ns and from 10,400 to 10,435 ns,
    // and 44 ns later; the run with the last cable delay takes 10,494 ns.
    let base = number(&found, "/always_on/time_ns");
    assert_eq!(base, 10_479.0);
    let saved = |ns: f64| 14.4 * 2.0 * ns * 1e-9;
    let links = 4.0 * 24.0 * 10_494e-9;
    let switch = 250.0 * 10_494e-9;
    // Ideal: asleep but for 35 ns to a message and link.
    let ideal = saved(2.0 * 10_494.0 - 4.0 * 35.0);
    let nodes = number(&found, "/always_on/energy_j/nodes");
    for (what, all) in [
        ("links", links),
        ("network", links + switch),
        ("total", links + switch + nodes),
    ] {
        let at = |of: &str| number(&found, &format!("/ideal/{of}/{what}"));
        close(at("energy_j"), all - ideal, what);
        close(at("saved_percent"), 100.0 * ideal / all, what);
    }
    // Optimum: each link wakes up once, after 10,165 ns; before its first packet and after its last
    // one it is idle for too short to sleep.
    let best = saved(2.0 * (10_165.0 - 200.0 - 375.0));
    let own = |what: &str| number(&found, &format!("/offline_optimum/at_own_wake_ups/{what}"));
    close(own("saved_j"), best, "saved_j");
    close(own("saved_j_at_most"), best, "saved_j_at_most");
    close(own("saved_percent"), 100.0 * best / links, "saved_percent");
    assert_eq!(own("wake_ups"), 2.0);
    assert!(found["offline_optimum"]["at_bound"].is_null());
    let energy = |of: &str, what: &str| number(&found, &format!("{of}/energy_j/{what}"));
    let less = energy("/always_on", "links") - energy("", "links");
    close(
        number(&found, "/score/at_own_wake_ups"),
        less / best,
        "score",
    );
    assert!(found["score"]["at_bound"].is_null());
    // Network: links and switches.
    let network = energy("", "links") + energy("", "switches");
    close(energy("", "network"), network, "network");
    let percent = number(&found, "/against_always_on_percent/energy_network");
    close(
        percent,
        100.0 * (network / (links + switch) - 1.0),
        "energy_network",
    );

    // The second message waits at the NIC and at the switch; nothing else makes the run longer.
    let delay = number(&found, "/time_ns") - base;
    assert!(delay > 2.0 * 375.0, "{delay}");
    let ports = |what: &str| number(&found, &format!("/ports/{what}"));
    assert_eq!(ports("sleep_delay_ns"), delay);
    assert_eq!((ports("sleep_waits"), ports("wake_ups")), (2.0, 4.0));
    let table = std::fs::read_to_string(folder.path().join("out/ports.csv")).unwrap();
    let last: Vec<String> = table
        .lines()
        .map(|line| line.splitn(15, ',').last().unwrap().to_owned())
        .collect();
    let half = delay / 2.0;
    assert_eq!(
        last,
        [
            "wake_ups,sleep_waits,sleep_delay_ns,budget_ns".to_owned(),
            "1,0,0,".to_owned(),
            format!("1,1,{half},"),
            format!("1,1,{half},"),
            "1,0,0,".to_owned(),
        ]
    );
    // A fixed threshold has no bound.
    let overhead = delay / base;
    let bound = &found["bound"];
    close(number(bound, "/time_overhead"), overhead, "time_overhead");
    for none in ["configured", "kept", "ports_over_budget", "worst_port_use"] {
        assert!(bound[none].is_null(), "{none}");
    }
    let percent = 100.0 * overhead;
    let sentence = format!("No bound is configured: +{percent:.3} % execution time.");
    assert_eq!(bound["sentence"], sentence);

    // The same run of ports that predict, before their first sample: l is half of the bound, as
    // every packet takes 2 links.
    let perfbound = |bound: f64| {
        let policy = format!(
            "policy = \"perfbound\"\nt_pdt_init_ns = 1000\n[power.perfbound]\nbound = {bound}"
        );
        scenario("perfbound.toml", &policy)
    };
    for (bound, kept, over, wake_ups) in [(0.01, false, 2, 0.0), (0.2, true, 0, 2.0)] {
        let scenario = perfbound(bound);
        let found = json(folder.path(), &["simulate", &scenario, "--json"]);
        assert_eq!(number(&found, "/time_ns") - base, delay);
        let verdict = &found["bound"];
        assert_eq!(verdict["configured"], bound);
        assert_eq!(verdict["kept"], kept);
        assert_eq!(
            (&verdict["ports"], &verdict["ports_over_budget"]),
            (&4.into(), &over.into())
        );
        // Half of the delay is one port's, and the run is a cable's delay longer than the program.
        let used = half / (0.5 * bound * (base + delay + 15.0));
        close(number(verdict, "/worst_port_use"), used, "worst_port_use");
        assert_eq!(verdict["worst_port"], "switch0.port1");
        // In 10,494 ns a port may keep packets waiting for 0.14 or 2.8 wake-ups of 375 ns.
        let at_bound = |what: &str| number(&found, &format!("/offline_optimum/at_bound/{what}"));
        assert_eq!(at_bound("wake_ups"), wake_ups);
        match kept {
            true => {
                close(at_bound("saved_j"), best, "at the bound");
                close(
                    number(&found, "/score/at_bound"),
                    less / best,
                    "score at the bound",
                );
            }
            false => {
                assert_eq!(at_bound("saved_j"), 0.0);
                assert!(found["score"]["at_bound"].is_null());
            }
        }
        let (text, _) = run(linkdoze(folder.path()).args(["simulate", &scenario]), 0);
        let sentence = match kept {
            true => format!(
                "Bound kept: +{percent:.3} % execution time of 20 % allowed; none of 4 ports used \
                 more than its budget, the worst (switch0.port1) {used:.2} times."
            ),
            false => format!(
                "BOUND NOT KEPT: +{percent:.3} % execution time of 1 % allowed; 2 of 4 ports used \
                 more than their budget, the worst (switch0.port1) {used:.2} times."
            ),
        };
        assert_eq!(verdict["sentence"], sentence);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&text).starts_with(&sentence), "{text}");
        let all = ["simulate", &scenario, "--all"];
        let (text, _) = run(linkdoze(folder.path()).args(all), 0);
        for line in [
            "energy of network, J",
            "at most, within the bound",
            "ideal, for nothing",
        ] {
            assert!(text.contains(line), "{text}");
        }
        // Without the other run only the ports are judged.
        let alone = json(
            folder.path(),
            &["simulate", &scenario, "--json", "--no-baseline"],
        );
        assert!(alone["bound"]["kept"].is_null());
        assert_eq!(alone["bound"]["ports_over_budget"], over);
        for key in ["ideal", "offline_optimum", "score"] {
            assert!(alone.get(key).is_none(), "{key}");
        }
    }
    // Links that cannot sleep have no bound.
    let text = "[topology]\nkind = \"single-switch\"\nnodes = 2\n[traffic]\nfile = \"two.goal\"\n";
    let plain = written(folder.path(), "plain.toml", text);
    let found = json(folder.path(), &["simulate", &plain, "--json"]);
    for key in ["bound", "ideal", "offline_optimum", "score"] {
        assert!(found.get(key).is_none(), "{key}");
    }
}

/// The same two messages where each direction of a link sleeps for itself: half a link each.
#[test]
fn directions_count_as_half_links() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "two.goal", TWO_MESSAGES);
    let text = "[topology]\nkind = \"single-switch\"\nnodes = 2\n[traffic]\nfile = \"two.goal\"\n\
                [power.port]\nsleep = \"fast-wake\"\npolicy = \"fixed\"\nt_pdt_ns = 1000\nsync = ";
    let scenario = |sync: &str| {
        let text = format!("{text}\"{sync}\"\n");
        written(folder.path(), &format!("{sync}.toml"), &text)
    };
    let (lpi, messages) = (scenario("lpi"), scenario("messages"));
    let found = json(folder.path(), &["simulate", &lpi, "--json"]);
    let of_links = json(folder.path(), &["simulate", &messages, "--json"]);
    assert_eq!(found["sleeps"], "direction");
    assert_eq!(of_links["sleeps"], "link");
    // Links that never sleep draw the same.
    let always_on = "/always_on/energy_j/links";
    assert_eq!(number(&found, always_on), number(&of_links, always_on));
    // Those on the way to the other node wake up for the second message, nobody else does.
    let ports = |what: &str| number(&found, &format!("/ports/{what}"));
    assert_eq!((ports("sleep_waits"), ports("wake_ups")), (2.0, 2.0));
    assert_eq!(ports("pauses_asleep"), 0.0);
    let delay = number(&found, "/time_ns") - number(&found, "/always_on/time_ns");
    assert_eq!(ports("sleep_delay_ns"), delay);
    // They sleep from 220 to 10,400 ns and 44 ns later, and have 575 ns of transitions; the
    // opposite ones sleep all the time, but for the 200 ns of going down.
    let best = 14.4e-9 * (2.0 * (10_180.0 - 575.0) + 2.0 * (10_494.0 - 200.0));
    let own = |what: &str| number(&found, &format!("/offline_optimum/at_own_wake_ups/{what}"));
    assert_eq!(own("wake_ups"), 2.0);
    assert!(
        (own("saved_j") / best - 1.0).abs() < 1e-9,
        "{}",
        own("saved_j")
    );
    // Busy for 20 ns with each message and direction.
    let ideal = 14.4e-9 * (4.0 * 10_494.0 - 4.0 * 20.0);
    let left = number(&found, always_on) - number(&found, "/ideal/energy_j/links");
    assert!((left / ideal - 1.0).abs() < 1e-9, "{left} {ideal}");
    let idle = |what: &str| number(&found, &format!("/idle_periods/{what}"));
    assert_eq!((idle("periods"), idle("busy_ns")), (2.0, 80.0));

    let (text, _) = run(linkdoze(folder.path()).args(["simulate", &lpi, "--all"]), 0);
    for what in [
        "time of the directions of links, each half a link: ",
        "idle periods of directions of links that never sleep: 2",
        "pauses over directions asleep",
    ] {
        assert!(text.contains(what), "{text}");
    }
}

/// docs/evidence/directions.md on its smallest trace: a direction is idle whenever the link is, and
/// what wakes a link wakes both directions if they sleep together.
#[test]
fn directions_for_themselves_save_more_and_wait_more_often() {
    let folder = tempfile::tempdir().unwrap();
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("sim/lammps-lj-r8-s20.goal.zst");
    let [together, alone] = ["messages", "lpi"].map(|sync| {
        let text = format!(
            "[topology]\nkind = \"single-switch\"\nnodes = 8\n\
             [traffic]\nkind = \"goal\"\nfile = \"{}\"\nmapping = \"linear\"\n\
             [power.port]\npolicy = \"fixed\"\nt_pdt_ns = 4480\nsleep = \"deep-sleep\"\n\
             sync = \"{sync}\"\n",
            trace.display()
        );
        let scenario = written(folder.path(), &format!("{sync}.toml"), &text);
        json(folder.path(), &["simulate", &scenario, "--json"])
    });
    let more = |path: &str| number(&alone, path) / number(&together, path);
    let ideal = more("/ideal/saved_percent/network");
    assert!((1.0..1.05).contains(&ideal), "{ideal}");
    let saved = more("/against_always_on_percent/energy_network");
    assert!((1.02..1.2).contains(&saved), "{saved}");
    let waits = more("/ports/sleep_waits");
    assert!((1.5..2.0).contains(&waits), "{waits}");
    // A link that sleeps together has two ends that wake.
    let each =
        |found: &Value| number(found, "/ports/sleep_waits") / number(found, "/ports/wake_ups");
    assert_eq!(each(&alone), 1.0);
    assert!((0.5..0.6).contains(&each(&together)), "{}", each(&together));
    assert!(more("/time_ns") > 1.0);
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
    let all = ["simulate", &scenario, "--all"];
    let (table, _) = run(linkdoze(folder.path()).args(all), 0);
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
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_linkdoze"))
            .current_dir(folder.path())
            .args(["simulate", &long, "-o", "out", "--threads", threads])
            .env("LINKDOZE_PROGRESS", "0.05")
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // Until the run is under way.
        let progress = |line: &String| line.starts_with("simulate: links always on");
        let mut lines = std::io::BufReader::new(child.stderr.take().unwrap()).lines();
        lines.by_ref().map(Result::unwrap).find(progress).unwrap();
        let sent = std::time::Instant::now();
        let kill = std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        let output = child.wait_with_output().unwrap();
        let rest = lines
            .map(Result::unwrap)
            .filter(|line| !line.starts_with("simulate: "));
        let text: String = rest.map(|line| line + "\n").collect();
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
    for sync in ["messages", "lpi"] {
        same_with_any_threads(sync);
    }
}

/// A Megafly whose ports agree about sleep in this way.
fn same_with_any_threads(sync: &str) {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "[topology]\nkind = \"megafly\"\nradix = 8\ngroups = 9\n\
         [traffic]\nkind = \"hotspot\"\nload = 0.5\nmessage_bytes = 3000\n\
         [power.port]\npolicy = \"perfbound\"\nsleep = \"fast-wake\"\nt_pdt_init_ns = 500\n\
         sync = \"{sync}\"\n[run]\nduration_ns = 60000\nwarm_up_ns = 5000\n"
    );
    let scenario = written(folder.path(), "megafly.toml", &text);
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
    for sync in ["messages", "lpi"] {
        in_the_loop(sync);
    }
}

/// The Verilog at two ports that agree about sleep in this way.
fn in_the_loop(sync: &str) {
    let folder = tempfile::tempdir().unwrap();
    let scenario = lammps(folder.path());
    let text = std::fs::read_to_string(folder.path().join(&scenario)).unwrap();
    let port = "[power.port]\n";
    assert!(text.contains(port));
    let text = text.replace(port, &format!("{port}sync = \"{sync}\"\n"));
    let scenario = written(folder.path(), "sync.toml", &text);
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
    let lanes = format!(
        "{cut}[switch]\nlink_lanes = 4\n[power.port]\npolicy = \"fixed\"\nsync = \"lpi\"\nsleep = \"fast-wake\"\n"
    );
    let what = "with link_lanes in [switch] ports have lane controllers";
    refused("lanes.toml", &lanes, &named("nic0"), what);
    let cable = format!("{cut}[switch]\ncable_ns = 0\n");
    refused(
        "cable.toml",
        &cable,
        &["--threads", "2"],
        "runs on one thread only",
    );
    let warming = format!("{cut}warm_up_ns = 1000\n");
    let what = "warming.toml:5:14: run.warm_up_ns = 1000: must be below duration_ns = 1000";
    refused("warming.toml", &warming, &[], what);
    // The trace is not what needs mending.
    written(folder.path(), "two.goal", TWO_MESSAGES);
    let slow = "[traffic]\nfile = \"two.goal\"\n[power.clock]\nperiod_ps = 2000\n";
    let message = "slow.toml: a clock period of 2000 ps (clock.period_ps): it must be";
    refused("slow.toml", slow, &[], message);
    let many = ["--threads", "64"];
    refused("many.toml", &cut, &many, "takes at most 16, one for each");
    let many = ["--threads", "1M"];
    refused("many.toml", &cut, &many, "from 1 to 64");
    refused(
        "alone.toml",
        "[topology]\nkind = \"megafly\"\ngroups = 1\nradix = 2\n[traffic]\nkind = \"uniform\"\n\
         [run]\nduration_ns = 20000\n",
        &[],
        "alone.toml:6:8: traffic.kind = \"uniform\": \"uniform\" has messages from node to node",
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
    let networks = [
        ("dragonfly", 0.3),
        ("torus", 0.4),
        ("megafly\"\nradix = 8\ngroups = 9\n#", 0.4),
        // Rings of 6, where packets take every way that leads nearer.
        (
            "torus\"\ndims = [6, 5]\nports_per_link = 1\n[switch]\nqueueing = \"duato\"\n\
             selection = \"round-robin\"\nqueue_bytes = 98304\n#",
            0.4,
        ),
    ];
    for &(kind, least) in share(&networks, 3) {
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
    let (waiting, told) = with("0.1", "0.0625");
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
    assert!(table.contains("1 message had another size"), "{table}");
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

    // Always on: the network of POWAR draws its maximum.
    let model = |what: &str| number(&found, &format!("/models/{what}"));
    let close = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    };
    close(model("powar/w_net_fraction"), 1.0);
    close(model("powar/e_net_full_power_s"), length / 1e9);
    close(model("georgakoudis/average_power_w"), 4.0 * 24.0);
    assert_eq!(model("georgakoudis/saving_percent"), 0.0);
    // 4 * 24 W and 250 W for 2,000 bytes.
    close(
        model("zahn/network_nj_per_bit"),
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
    for what in [
        "powar_e_net",
        "georgakoudis_average_power",
        "zahn_energy_per_data",
    ] {
        assert!(less(what) < -1.0, "{what}");
    }
    let percent = number(&saved, "/models/georgakoudis/saving_percent");
    close(-less("georgakoudis_average_power"), percent);

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
    let (table, notes) = run(linkdoze(folder.path()).args(["simulate", &warming]), 0);
    let note = "no packet that was handed over after run.warm_up_ns = 1000000 has arrived";
    assert!(notes.contains(note), "{notes}");
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
    let all = ["simulate", &saving, "--all"];
    let (text, _) = run(linkdoze(folder.path()).args(all), 0);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(words).collect();
    for line in [
        "idle periods of ports whose links never sleep: 4",
        "100 us 100.000 100.000",
    ] {
        assert!(lines.iter().any(|found| found == line), "{text}");
    }
}

/// What happens over time: in the JSON, as Parquet files, and as a report (SPEC 11).
#[test]
fn power_throughput_and_latency_over_time() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = |sample: &str| {
        let text = format!(
            "[topology]\nkind = \"dragonfly\"\ngroups = 3\nswitches_per_group = 2\n\
             nodes_per_switch = 2\nglobal_ports = 1\n\
             [traffic]\nkind = \"two-level\"\nload = 0.05\nmessage_bytes = 9600\n\
             low_ns = 40000\nramp_ns = 5000\nhigh_ns = 40000\n\
             [switch]\nswitch_ns = 50\nnic_ns = 100\naging = \"network\"\n\
             [power.port]\npolicy = \"fixed\"\nsleep = \"fast-wake\"\nt_pdt_ns = 1000\n\
             [run]\nduration_ns = 100500\n{sample}"
        );
        written(folder.path(), "s.toml", &text)
    };
    let sampled = scenario("sample_ns = 1000\n");
    let simulate = ["simulate", &sampled, "--json", "-o", "out"];
    let found = json(folder.path(), &simulate);
    let series = &found["series"];
    assert_eq!(series["samples"], 101);
    assert_eq!(series["sample_ns"], 1000.0);
    assert_eq!(series["file"], "series.parquet");
    assert_eq!(
        found["always_on"]["series"]["file"],
        "series-always-on.parquet"
    );
    let column = |series: &Value, name: &str| -> Vec<f64> {
        let values = series[name].as_array().unwrap_or_else(|| panic!("{name}"));
        assert_eq!(values.len(), 101, "{name}");
        values
            .iter()
            .map(|value| value.as_f64().unwrap_or(f64::NAN))
            .collect()
    };
    let sum = |values: &[f64], others: &[f64]| -> f64 {
        values.iter().zip(others).map(|(a, b)| a * b).sum()
    };
    let near = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    };
    for run in [&found, &found["always_on"]] {
        let series = &run["series"];
        let lengths = column(series, "duration_ns");
        assert_eq!(lengths[100], 500.0);
        near(
            sum(&column(series, "power_links_w"), &lengths) / 1e9,
            number(run, "/energy_j/links"),
        );
        let switches = column(series, "power_switches_w");
        near(
            sum(&switches, &lengths) / 1e9,
            number(run, "/energy_j/switches"),
        );
        let bytes = sum(&column(series, "throughput_bytes_per_s"), &lengths) / 1e9;
        near(bytes, number(run, "/delivered_bytes"));
        let load = sum(&column(series, "accepted_load"), &lengths) / 100_500.0;
        near(load, number(run, "/accepted_load"));
        let packets: f64 = column(series, "packets").iter().sum();
        assert_eq!(packets, number(run, "/packets"));
        let classes = [
            "node_to_switch",
            "switch_to_node",
            "in_a_group",
            "between_groups",
        ];
        let power = column(series, "power_links_w");
        let of_classes = classes.map(|class| column(series, &format!("power_{class}_w")));
        for (sample, power) in power.iter().enumerate() {
            near(of_classes.iter().map(|of| of[sample]).sum(), *power);
        }
    }
    // Asleep at the low load, awake at the high one.
    let asleep = column(series, "asleep_links");
    let mean = |range: std::ops::Range<usize>| {
        let values = &asleep[range];
        values.iter().sum::<f64>() / values.len() as f64
    };
    assert!(mean(10..40) > 2.0 * mean(50..80), "{asleep:?}");
    assert!(column(&found["always_on"]["series"], "asleep_links")
        .iter()
        .all(|&it| it == 0.0));
    // On any number of threads the same bytes.
    let file = |name: &str| std::fs::read(folder.path().join("out").join(name)).unwrap();
    let before = ["series.parquet", "series-always-on.parquet"].map(file);
    run(
        linkdoze(folder.path())
            .args(simulate)
            .args(["--threads", "3"]),
        0,
    );
    assert_eq!(
        before,
        ["series.parquet", "series-always-on.parquet"].map(file)
    );
    // A report of the folder, which needs no other file.
    let (out, _) = run(linkdoze(folder.path()).args(["report", "out"]), 0);
    let html = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    for figure in ["power", "classes", "asleep", "throughput", "latency"] {
        let png = format!("out/report-series-{figure}.png");
        assert!(
            out.contains(&png) && folder.path().join(&png).exists(),
            "{out}"
        );
        assert!(
            html.contains(&format!("<section id=\"series-{figure}\">")),
            "{figure}"
        );
    }
    assert_eq!(html.matches("<svg ").count(), 5);
    assert!(!html.contains("http://") && html.contains("power saving"));
    // Without samples nothing is kept, nothing else changes, and no old file stays.
    let plain = scenario("");
    let plain = json(folder.path(), &["simulate", &plain, "--json", "-o", "out"]);
    assert_eq!(plain["series"], Value::Null);
    for path in ["/energy_j", "/latency_ns", "/ports", "/events"] {
        assert_eq!(plain.pointer(path), found.pointer(path), "{path}");
    }
    assert!(!folder.path().join("out/series.parquet").exists());
    assert!(!folder.path().join("out/series-always-on.parquet").exists());
}

/// A million samples are the most, whether the end of the run is known or not.
#[test]
fn too_many_samples_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("sim/lammps-lj-r8-s20.goal.zst");
    let refused = |run_table: &str, what: &str| {
        let text = format!(
            "[topology]\nnodes = 8\n[traffic]\nfile = \"{}\"\n[run]\n{run_table}",
            trace.display()
        );
        let scenario = written(folder.path(), "s.toml", &text);
        let arguments = ["simulate", &scenario, "-o", "out"];
        let (_, error) = run(linkdoze(folder.path()).args(arguments), 2);
        assert!(error.contains("s.toml") && error.contains(what), "{error}");
        assert!(!folder.path().join("out").exists());
    };
    refused(
        "duration_ns = 3000000\nsample_ns = 1\n",
        "samples in duration_ns and a cable's delay, at most 1000000 can be kept; the nearest length that \
         will do is 3.002",
    );
    // What is accounted reaches a cable's delay further than the duration.
    refused(
        "duration_ns = 3000000\nsample_ns = 3\n",
        "7:13: run.sample_ns = 3: ",
    );
    refused(
        "duration_ns = 3000000\nsample_ns = 3\n",
        "the nearest length that will do is 3.002",
    );
    refused(
        "sample_ns = 0.1\n",
        "sample_ns = 0.1 in [run]: the run has come to 1000000 samples, the most there can be, and \
         not to its end",
    );
}

/// Zero-load latency of the scenario's delays: two links, one switch, two NICs (SPEC 15).
#[test]
fn switches_and_nics_take_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let goal = "num_ranks 2\nrank 0 {\nl: send 9600b to 1\n}\nrank 1 {\nl: recv 9600b from 0\n}\n";
    written(folder.path(), "a.goal", goal);
    let latency = |switch: &str| {
        let text =
            format!("[topology]\nnodes = 2\n[traffic]\nfile = \"a.goal\"\n[switch]\n{switch}");
        let scenario = written(folder.path(), "s.toml", &text);
        number(
            &json(folder.path(), &["simulate", &scenario, "--json"]),
            "/latency_ns/max",
        )
    };
    let plain = latency("");
    // 2 (192 + 15) + 192 / 2.44, and less than a nanosecond at each of two ports.
    assert!((492.69..494.69).contains(&plain), "{plain}");
    assert_eq!(latency("switch_ns = 50\n"), plain + 50.0);
    assert_eq!(
        latency("switch_ns = 50\nnic_ns = 120\naging = \"network\"\n"),
        plain + 290.0
    );
    let text = "[traffic]\nfile = \"a.goal\"\n[switch]\naging = \"old\"\n";
    let scenario = written(folder.path(), "s.toml", text);
    let (_, error) = run(linkdoze(folder.path()).args(["simulate", &scenario]), 2);
    assert!(
        error
            .contains("s.toml:4:9: switch.aging = \"old\": must be one of \"switch\", \"network\""),
        "{error}"
    );
}

/// The example of `linkdoze::experiment`, as its documentation has it.
#[test]
fn an_experiment_is_run_by_the_library() -> Result<(), Box<dyn std::error::Error>> {
    use std::path::Path;

    use linkdoze::experiment;
    use linkdoze::network::scenario::Scenario;

    let text = r#"
        [topology]
        nodes = 4
        [traffic]
        kind = "uniform"
        load = 0.01
        [power.port]
        policy = "fixed"
        t_pdt_ns = 100
        [run]
        duration_ns = "200 us"
    "#;
    let scenario = Scenario::parse(text, Path::new("example.toml"))?;
    let result = experiment::run(&scenario, 1)?;
    let saved = result.against.energy_links_saved_percent.unwrap_or(0.0);
    println!(
        "{} packets; the links draw {saved:.1} % less",
        result.run.measured.packets
    );
    assert!(saved > 0.0);

    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let source = include_str!("../src/experiment/mod.rs");
    let shown = source.split("//! ```").nth(1).unwrap();
    let shown = words(&shown.replace("//!", ""));
    let shown = shown.strip_prefix("no_run ").unwrap();
    let (shown, _) = shown.split_once(" # Ok").unwrap();
    let own = words(include_str!("simulate.rs"));
    // rustfmt breaks lines, and puts a comma behind the last argument.
    let plain = |text: &str| {
        text.replace(", )", ")")
            .replace("( ", "(")
            .replace(" )", ")")
    };
    assert!(plain(&own).contains(&plain(shown)), "{shown}");
    Ok(())
}
