//! `linkdoze sweep` and `linkdoze report`: killed and resumed, with other threads, with other
//! inputs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use linkdoze::network::event::idle::IdleTable;
use linkdoze::network::topology::KINDS;
use linkdoze::sweep::{from_parquet, Row};

use crate::common::{linkdoze, run};

/// The LAMMPS trace of `sim/` cut to its first `ns`, and a few settings.
fn inputs(ns: u64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("scenario.toml", scenario(ns));
    write(
        "sweep.toml",
        "scenario = \"scenario.toml\"\n[fixed]\nt_pdt_ns = [0, 1e4]\n[perfbound]\n\
         bounds = [0.01]\nhistograms = [\"clearing\", \"circular\"]\n"
            .into(),
    );
    folder
}

fn scenario(ns: u64) -> String {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("sim/lammps-lj-r16-s300.goal.zst");
    format!(
        "[traffic]\nkind = \"goal\"\nfile = \"{}\"\n[run]\nduration_ns = {ns}\n",
        trace.display()
    )
}

/// Experiments of [`inputs`]: 1 + 2 * 2 + 2 * 2 * 2.
const EXPERIMENTS: usize = 13;

/// Runs the sweep and returns its rows without the CPU time they took.
fn sweep(inputs: &Path, out: &str, threads: &str) -> Vec<Row> {
    let args = ["sweep", "sweep.toml", "-o", out, "--threads", threads];
    run(linkdoze(inputs).args(args), 0);
    rows(&inputs.join(out))
}

fn rows(out: &Path) -> Vec<Row> {
    let (mut rows, _) = from_parquet(&out.join("results.parquet")).unwrap();
    for row in &mut rows {
        let seconds = row.measured.cpu_seconds.take();
        assert!(seconds.is_none_or(|seconds| seconds > 0.0));
    }
    rows
}

/// The results that lie in the folder.
fn results(out: &Path) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(out.join("experiments"));
    let entries = folder.into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    paths.sort();
    paths
}

#[test]
fn killed_and_resumed_gives_the_same() {
    let folder = inputs(100_000_000);
    let whole = sweep(folder.path(), "whole", "1");
    assert_eq!(whole.len(), EXPERIMENTS);
    assert_eq!(whole[0].setting.policy, "always-on");
    // The runs did differ, and links did sleep.
    for row in &whole[1..] {
        assert!(row.measured.transitions > 0, "{row:?}");
        let asleep = row.measured.part_fast_wake + row.measured.part_deep_sleep;
        assert!(asleep > 0.0, "{row:?}");
        assert_ne!(
            row.measured.energy_links_j,
            whole[0].measured.energy_links_j
        );
    }

    let killed = folder.path().join("killed");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_linkdoze"))
        .current_dir(folder.path())
        .args(["sweep", "sweep.toml", "-o", "killed", "--threads", "1"])
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while results(&killed).len() < 3 {
        assert!(child.try_wait().unwrap().is_none(), "it has ended already");
        assert!(begin.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(2));
    }
    // SIGKILL: no chance to tidy up.
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = results(&killed);
    assert!((3..EXPERIMENTS).contains(&kept.len()), "{kept:?}");
    assert!(!killed.join("results.parquet").exists());
    let modified = |path: &PathBuf| path.metadata().unwrap().modified().unwrap();
    let before: Vec<_> = kept.iter().map(modified).collect();
    // A half-written file of a killed process is neither taken for a result nor kept.
    let half = killed.join("experiments/.linkdoze-half00");
    std::fs::write(&half, "{").unwrap();

    assert_eq!(sweep(folder.path(), "killed", "3"), whole);
    assert!(!half.exists());
    let idle = |out: &str| {
        let path = folder.path().join(out).join("idle-periods.json");
        std::fs::read_to_string(path).unwrap()
    };
    assert_eq!(idle("killed"), idle("whole"));
    let table: IdleTable = serde_json::from_str(&idle("whole")).unwrap();
    assert!(table.periods > 1000, "{}", table.periods);
    let after: Vec<_> = kept.iter().map(modified).collect();
    assert_eq!(before, after, "results that were there were computed again");
    assert_eq!(results(&killed).len(), EXPERIMENTS);

    let (out, _) = run(linkdoze(folder.path()).args(["report", "killed"]), 0);
    let page = std::fs::read_to_string(killed.join("report.html")).unwrap();
    // The runs are cut: idle periods and latencies are what can be drawn.
    assert_eq!(page.matches("<section id=").count(), 13 + 3);
    assert_eq!(page.matches("<svg ").count(), 3);
    assert!(!page.contains("http"));
    assert!(page.contains("linkdoze sweep sweep.toml -o killed\nlinkdoze report killed"));
    let files: Vec<&str> = out.lines().collect();
    assert_eq!(files.len(), 1 + 3);
    for file in files {
        assert!(
            folder.path().join(file).metadata().unwrap().len() > 10_000,
            "{file}"
        );
    }
}

#[test]
fn other_inputs_are_refused() {
    let folder = inputs(200_000);
    let first = sweep(folder.path(), "out", "2");
    let refused = |what: &str| {
        let args = ["sweep", "sweep.toml", "-o", "out"];
        let (out, err) = run(linkdoze(folder.path()).args(args), 2);
        assert_eq!(out, "");
        assert!(err.contains(what), "{err}");
        assert!(
            err.contains("name another folder with -o, or remove this one"),
            "{err}"
        );
        assert_eq!(rows(&folder.path().join("out")), first);
    };
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("scenario.toml", &scenario(300_000));
    refused("another text of the scenario");
    write("scenario.toml", &scenario(200_000));

    // A result of other inputs that was put there.
    let result = folder
        .path()
        .join("out/experiments/fixed-fast-wake-0ns.json");
    let text = std::fs::read_to_string(&result).unwrap();
    let digest = text.find("\"inputs_sha256\": \"").unwrap() + 18;
    let other = if text.as_bytes()[digest] == b'0' {
        "1"
    } else {
        "0"
    };
    let mut changed = text.clone();
    changed.replace_range(digest..=digest, other);
    std::fs::write(&result, changed).unwrap();
    refused("other inputs for fixed-fast-wake-0ns");
    std::fs::write(&result, &text).unwrap();

    // The same inputs, and a narrower matrix: what is there is used, whichever state is left.
    for state in ["fast-wake", "deep-sleep"] {
        write(
            "sweep.toml",
            &format!(
                "scenario = \"scenario.toml\"\nstates = [\"{state}\"]\n[fixed]\n\
                 t_pdt_ns = [0]\n[perfbound]\nbounds = []\n"
            ),
        );
        let narrow = sweep(folder.path(), "out", "1");
        let name = format!("fixed-{state}-0ns");
        let same = first.iter().find(|row| row.setting.experiment == name);
        assert_eq!(narrow, [first[0].clone(), same.unwrap().clone()]);
    }

    // A configuration of the same name that is another one: what is there stays as it is.
    let named = |nodes: u32| {
        format!(
            "scenario = \"scenario.toml\"\nstates = [\"fast-wake\"]\n[fixed]\nt_pdt_ns = [0]\n\
             [perfbound]\nbounds = []\n[configurations.one]\ntopology.kind = \"single-switch\"\n\
             topology.nodes = {nodes}\n"
        )
    };
    write("sweep.toml", &named(16));
    sweep(folder.path(), "named", "1");
    let report = || run(linkdoze(folder.path()).args(["report", "named"]), 0);
    let (before, _) = report();
    write("sweep.toml", &named(17));
    let args = ["sweep", "sweep.toml", "-o", "named"];
    let (_, err) = run(linkdoze(folder.path()).args(args), 2);
    assert!(err.contains("other inputs for always-on_one"), "{err}");
    assert_eq!(report().0, before);
}

#[test]
fn a_setting_that_the_port_cannot_have_is_refused() {
    let folder = inputs(200_000);
    let text = "scenario = \"scenario.toml\"\n[fixed]\nt_pdt_ns = [0.3]\n";
    std::fs::write(folder.path().join("sweep.toml"), text).unwrap();
    let args = ["sweep", "sweep.toml", "-o", "out"];
    let (_, err) = run(linkdoze(folder.path()).args(args), 2);
    assert!(
        err.contains("sweep.toml:3:13: fixed-fast-wake-0.3ns: port.t_pdt_ns = 0.3"),
        "{err}"
    );
    assert!(!folder.path().join("out").exists());
    // The same, with the histograms' default and a base of the scenario's own.
    let text =
        "scenario = \"scenario.toml\"\nstates = [\n\"deep-sleep\"]\n[fixed]\nt_pdt_ns = []\n";
    std::fs::write(folder.path().join("sweep.toml"), text).unwrap();
    std::fs::write(folder.path().join("out"), "a file").unwrap();
    let (_, err) = run(linkdoze(folder.path()).args(args), 2);
    assert!(err.contains("out: not a folder"), "{err}");
}

/// What is done of a sweep that was interrupted can be looked at, and nobody takes it for all.
#[test]
fn an_unfinished_sweep_is_reported_as_what_it_is() {
    let folder = inputs(200_000);
    let at = |name: &str| folder.path().join(name);
    let small = "scenario = \"scenario.toml\"\nstates = [\"fast-wake\"]\n[fixed]\n\
                 t_pdt_ns = [0, 1000]\n[perfbound]\nbounds = []\n";
    std::fs::write(at("sweep.toml"), small).unwrap();
    let whole = sweep(folder.path(), "out", "1");
    assert_eq!(whole.len(), 3);
    let report = |status| run(linkdoze(folder.path()).args(["report", "out"]), status);
    let (out, err) = report(0);
    assert!(!out.contains("UNFINISHED"), "{out}");
    assert!(!err.contains("earlier report"), "{err}");
    // The rows of the table of all experiments but that of the run without power saving.
    let fixed = |page: &str| -> Vec<String> {
        let all = page.split("<section id=\"all\">").nth(1).unwrap();
        let rows = all
            .split("<tr>")
            .filter(|row| row.contains("<td>fixed</td>"));
        rows.map(|row| row.split("</tr>").next().unwrap().to_owned())
            .collect()
    };
    let before = std::fs::read_to_string(at("out/report.html")).unwrap();
    assert!(!before.contains("UNFINISHED"));

    std::fs::remove_file(at("out/results.parquet")).unwrap();
    std::fs::remove_file(at("out/idle-periods.json")).unwrap();
    std::fs::remove_file(at("out/experiments/fixed-fast-wake-1000ns.json")).unwrap();
    let sentence = "UNFINISHED: 2 of 3 experiments are done; the sweep goes on with the command \
                    that began it.";
    // Figures that an earlier report had are not taken for those of this one.
    std::fs::write(at("out/report-of-before.png"), "").unwrap();
    std::fs::write(at("out/reports.png"), "").unwrap();
    let (out, err) = report(0);
    let note = "note: figures of an earlier report, which this one does not have: \
                out/report-of-before.png\n";
    assert!(err.ends_with(note), "{err}");
    assert_eq!(out.lines().next(), Some(sentence));
    assert!(out
        .lines()
        .skip(1)
        .all(|file| folder.path().join(file).exists()));
    let page = std::fs::read_to_string(at("out/report.html")).unwrap();
    let heading = page.find("</h1>\n").unwrap() + "</h1>\n".len();
    assert!(page[heading..].starts_with(&format!("<p class=\"note\">{sentence}</p>")));
    // What is there is what it will be.
    assert_eq!((fixed(&before).len(), fixed(&page).len()), (2, 1));
    assert_eq!(fixed(&page)[0], fixed(&before)[0]);

    // Without the run that all others are compared with there is nothing to say.
    std::fs::remove_file(at("out/experiments/always-on.json")).unwrap();
    let (_, err) = report(2);
    assert!(err.contains("has not come to its first result"), "{err}");
    assert_eq!(sweep(folder.path(), "out", "1"), whole);
}

/// A table and a description that are not of the same sweep.
#[test]
fn a_report_is_of_one_sweep() {
    let folder = inputs(200_000);
    let at = |name: &str| folder.path().join(name);
    let small = "scenario = \"scenario.toml\"\nstates = [\"fast-wake\"]\n[fixed]\n\
                 t_pdt_ns = [0]\n[perfbound]\nbounds = []\n";
    std::fs::write(at("sweep.toml"), small).unwrap();
    sweep(folder.path(), "out", "1");
    let refused = |what: &str| {
        let (_, err) = run(linkdoze(folder.path()).args(["report", "out"]), 2);
        assert!(err.contains(what), "{err}");
        assert!(
            err.contains("not the results of the sweep that sweep.json"),
            "{err}"
        );
        assert!(!at("out/report.html").exists());
    };
    // An interrupted sweep of more experiments has left its description.
    let description = std::fs::read_to_string(at("out/sweep.json")).unwrap();
    assert!(description.contains("fixed-fast-wake-0ns"), "{description}");
    let more = description.replace("fixed-fast-wake-0ns", "fixed-fast-wake-1ns");
    std::fs::write(at("out/sweep.json"), more).unwrap();
    refused("results.parquet");
    std::fs::write(at("out/sweep.json"), &description).unwrap();
    // Idle periods of another scenario.
    std::fs::write(at("scenario.toml"), scenario(300_000)).unwrap();
    sweep(folder.path(), "other", "1");
    let idle = std::fs::read(at("out/idle-periods.json")).unwrap();
    std::fs::copy(at("other/idle-periods.json"), at("out/idle-periods.json")).unwrap();
    refused("idle-periods.json");
    std::fs::write(at("out/idle-periods.json"), idle).unwrap();
    // The page must not take the place of what it is drawn from.
    for result in ["results.parquet", "sweep.json", "idle-periods.json"] {
        let before = std::fs::read(at("out").join(result)).unwrap();
        let link = at("page.html");
        std::os::unix::fs::symlink(format!("out/../out/{result}"), &link).unwrap();
        let args = ["report", "out", "-o", "page.html"];
        let (_, err) = run(linkdoze(folder.path()).args(args), 2);
        assert!(err.contains("an input of this run"), "{err}");
        std::fs::remove_file(link).unwrap();
        assert_eq!(std::fs::read(at("out").join(result)).unwrap(), before);
    }
    run(linkdoze(folder.path()).args(["report", "out"]), 0);

    // A damaged file: the message says how to mend it, and it does.
    let result = at("out/experiments/always-on.json");
    let text = std::fs::read_to_string(&result).unwrap();
    std::fs::write(&result, &text[..text.len() / 2]).unwrap();
    std::fs::write(at("scenario.toml"), scenario(200_000)).unwrap();
    let (_, err) = run(
        linkdoze(folder.path()).args(["sweep", "sweep.toml", "-o", "out"]),
        2,
    );
    assert!(err.contains("remove it and run the sweep again"), "{err}");
    std::fs::remove_file(&result).unwrap();
    sweep(folder.path(), "out", "1");
}

/// The digests in the description are those that `sha256sum` gives.
#[test]
fn digests_are_of_files() {
    let folder = inputs(200_000);
    let trace = "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n";
    std::fs::write(folder.path().join("a.goal"), trace).unwrap();
    let scenario = "[traffic]\nkind = \"goal\"\nfile = \"a.goal\"\n";
    std::fs::write(folder.path().join("scenario.toml"), scenario).unwrap();
    let text = "scenario = \"scenario.toml\"\nstates = []\n";
    std::fs::write(folder.path().join("sweep.toml"), text).unwrap();
    sweep(folder.path(), "out", "1");
    let description = std::fs::read(folder.path().join("out/sweep.json")).unwrap();
    let description: serde_json::Value = serde_json::from_slice(&description).unwrap();
    let digest = "2baa95221c56ea701421cef4582e0cafeeb8d9380e3773bf36c17f50c41701ff";
    assert_eq!(description["trace_files_sha256"][0][1], digest);
    assert_ne!(description["traces"][0][1], digest);
    run(linkdoze(folder.path()).args(["report", "out"]), 0);
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains(&format!("SHA-256 of its files {digest}")));
}

/// The CPU time of a send is that of each variation: of two sends of 9,600 bytes the second leaves 100 us
/// later, or while the first is still on its way. The trace comes through a pipe, which is read once.
#[test]
fn overheads_are_varied_and_a_pipe_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "scenario.toml",
        "[topology]\nnodes = 2\n[traffic]\nfile = \"/dev/stdin\"\n[power.port]\nsync = \"lpi\"\n",
    );
    write(
        "sweep.toml",
        "scenario = \"scenario.toml\"\nstates = []\n[vary]\n\
         traffic.send_overhead_ns = [200, 100000]\n",
    );
    let trace = "num_ranks 2\nrank 0 {\na: send 9600b to 1\nb: send 9600b to 1\nb requires a\n}\n\
                 rank 1 {\na: recv 9600b from 0\nb: recv 9600b from 0\nb requires a\n}\n";
    let mut command = linkdoze(folder.path());
    command.args(["sweep", "sweep.toml", "-o", "out"]);
    run(command.write_stdin(trace), 0);
    let times: Vec<f64> = rows(&folder.path().join("out"))
        .iter()
        .map(|row| row.measured.time_ns)
        .collect();
    let [short, long] = times[..] else {
        panic!("{times:?}")
    };
    // Two sends: the first one's message has left when the second begins.
    assert!(
        long - short >= 2.0 * (100_000.0 - 200.0) - 192.0,
        "{times:?}"
    );
}

/// A bound that is kept and one that is not: told first, and the same as `simulate` tells. What is
/// missing later, when the run without power saving is there already, comes out the same.
#[test]
fn the_verdict_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| std::fs::write(at(name), text).unwrap();
    // Two messages, 10 us of computing between them.
    write(
        "two.goal",
        "num_ranks 2\nrank 0 {\na: send 1000b to 1 tag 1\nb: calc 10000\nb requires a\n\
         c: send 1000b to 1 tag 2\nc requires b\n}\n\
         rank 1 {\na: recv 1000b from 0 tag 1\nb: recv 1000b from 0 tag 2\nb requires a\n}\n",
    );
    let scenario = |bound: f64| {
        format!(
            "[topology]\nkind = \"single-switch\"\nnodes = 2\n[traffic]\nfile = \"two.goal\"\n\
             [power.port]\npolicy = \"perfbound\"\nsleep = \"fast-wake\"\n\
             t_pdt_init_ns = 1000\n[power.histogram]\nkind = \"clearing\"\n\
             [power.perfbound]\nbound = {bound}\n"
        )
    };
    write("scenario.toml", &scenario(0.01));
    let sweep_file = |bounds: &str| {
        write(
            "sweep.toml",
            &format!(
                "scenario = \"scenario.toml\"\nstates = [\"fast-wake\"]\n[fixed]\nt_pdt_ns = [1000]\n\
                 [perfbound]\npolicies = [\"perfbound\"]\nbounds = {bounds}\n\
                 histograms = [\"clearing\"]\n"
            ),
        );
    };
    sweep_file("[0.01, 0.2]");
    let args = ["sweep", "sweep.toml", "-o", "out"];
    let (text, _) = run(linkdoze(folder.path()).args(args), 0);
    let verdict =
        "BOUND NOT KEPT in 1 of 2 experiments that have one: perfbound-fast-wake-clearing-0.01.\n";
    assert!(text.starts_with(verdict), "{text}");
    let line = |name: &str| text.lines().rfind(|line| line.contains(name)).unwrap();
    assert!(line("clearing-0.01").contains("NOT KEPT"), "{text}");
    assert!(line("clearing-0.2").contains(" kept "), "{text}");
    let found = rows(&at("out"));
    let kept: Vec<Option<bool>> = found.iter().map(|row| row.bound_kept).collect();
    assert_eq!(kept, [None, None, Some(false), Some(true)]);
    for (row, bound) in found[2..].iter().zip([0.01, 0.2]) {
        write("single.toml", &scenario(bound));
        let args = ["simulate", "single.toml", "--json"];
        let (text, _) = run(linkdoze(folder.path()).args(args), 0);
        let single: serde_json::Value = serde_json::from_str(&text).unwrap();
        let number = |key: &str| single.pointer(key).unwrap().as_f64();
        let (measured, potential) = (&row.measured, &row.potential);
        assert_eq!(single["bound"]["kept"].as_bool(), row.bound_kept);
        let over = measured.ports_over_budget.map(|over| over as f64);
        assert_eq!(over, number("/bound/ports_over_budget"));
        assert_eq!(measured.worst_port_use, number("/bound/worst_port_use"));
        assert_eq!(
            measured.worst_port.as_deref(),
            single["bound"]["worst_port"].as_str()
        );
        let at_bound = potential.optimum_at_bound_saved_percent;
        assert_eq!(at_bound, number("/offline_optimum/at_bound/saved_percent"));
        assert_eq!(potential.score_at_bound, number("/score/at_bound"));
    }
    assert!(found[3]
        .potential
        .score_at_bound
        .is_some_and(|score| score > 0.5));
    run(linkdoze(folder.path()).args(["report", "out"]), 0);
    let page = std::fs::read_to_string(at("out/report.html")).unwrap();
    let verdict = page
        .find("<p class=\"verdict\">BOUND NOT KEPT in 1 of 2")
        .unwrap();
    assert!(verdict < page.find("<h2>").unwrap());

    // First one bound, then the other one beside it.
    sweep_file("[0.01]");
    run(
        linkdoze(folder.path()).args(["sweep", "sweep.toml", "-o", "later"]),
        0,
    );
    sweep_file("[0.01, 0.2]");
    run(
        linkdoze(folder.path()).args(["sweep", "sweep.toml", "-o", "later"]),
        0,
    );
    assert_eq!(rows(&at("later")), found);

    // A fixed threshold has a bound where a guard enforces one.
    let guarded = format!("{}[power.guard]\nburst = 64\n", scenario(0.00001));
    write("guarded.toml", &guarded);
    write(
        "guard.toml",
        "scenario = \"guarded.toml\"\nstates = [\"fast-wake\"]\n[fixed]\nt_pdt_ns = [0]\n\
         [perfbound]\npolicies = []\n",
    );
    let args = ["sweep", "guard.toml", "-o", "guarded"];
    let (text, _) = run(linkdoze(folder.path()).args(args), 0);
    let verdict = "BOUND NOT KEPT in 1 of 1 experiment that has one: fixed-fast-wake-0ns.\n";
    assert!(text.starts_with(verdict), "{text}");
    let row = &rows(&at("guarded"))[1];
    assert_eq!(
        (row.setting.bound, row.bound_configured),
        (None, Some(1e-5))
    );
    assert_eq!(row.bound_kept, Some(false));
    let fixed = "policy = \"fixed\"\nt_pdt_ns = 0";
    write(
        "single.toml",
        &guarded.replace("policy = \"perfbound\"", fixed),
    );
    let args = ["simulate", "single.toml", "--json"];
    let (text, _) = run(linkdoze(folder.path()).args(args), 0);
    let single: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(single["bound"]["configured"], 1e-5);
    assert_eq!(single["bound"]["kept"], false);
}

/// What a run is compared with may change after it was made: the report of a sweep that has not ended
/// goes by the sweep's file, not by what was written with the run.
#[test]
fn an_unfinished_sweep_compares_as_its_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(
        at("scenario.toml"),
        "[topology]\nkind = \"single-switch\"\nnodes = 4\n[traffic]\nkind = \"uniform\"\n\
         [run]\nduration_ns = 20000\n",
    )
    .unwrap();
    let sweep = |base: &str| {
        let text = format!(
            "scenario = \"scenario.toml\"\nstates = [\"fast-wake\"]\n[fixed]\nt_pdt_ns = [100]\n\
             [perfbound]\npolicies = []\n[configurations.a]\n[configurations.b]\n{base}"
        );
        std::fs::write(at("sweep.toml"), text).unwrap();
        let args = ["sweep", "sweep.toml", "-o", "out"];
        run(linkdoze(folder.path()).args(args), 0);
    };
    let compared = |rows: Vec<Row>| -> Vec<Option<String>> {
        let settings = rows.into_iter().map(|row| row.setting);
        settings.map(|setting| setting.compared_with).collect()
    };
    sweep("");
    let apart = compared(rows(&at("out")));
    sweep("based_on = \"a\"\n");
    let based = compared(rows(&at("out")));
    assert_ne!(apart, based);
    for file in ["results.parquet", "idle-periods.json"] {
        std::fs::remove_file(at("out").join(file)).unwrap();
    }
    let unfinished = linkdoze::sweep::Results::read(&at("out")).unwrap();
    assert_eq!(compared(unfinished.rows), based);
}

/// Loads, seeds and mappings: every run is the one that `simulate` makes of a scenario with these
/// values, and is compared with links that never sleep under the same values.
#[test]
fn what_is_varied_is_what_simulate_runs() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| std::fs::write(at(name), text).unwrap();
    let power = "[power.port]\npolicy = \"fixed\"\nsleep = \"deep-sleep\"\nt_pdt_ns = 1000\n";
    let matrix =
        "states = [\"deep-sleep\"]\n[fixed]\nt_pdt_ns = [1000]\n[perfbound]\nbounds = []\n";
    // Each scenario with the text that stands for what is varied.
    let check = |out: &str,
                 scenario: &dyn Fn(&str, &str) -> String,
                 vary: &str,
                 expected: &[(&str, &str)]| {
        write("scenario.toml", &scenario("", ""));
        let sweep_of = |vary: &str| {
            write(
                "sweep.toml",
                &format!("scenario = \"scenario.toml\"\n{matrix}[vary]\n{vary}"),
            );
            sweep(folder.path(), out, "2")
        };
        let found = sweep_of(vary);
        assert_eq!(found.len(), 2 * expected.len());
        for (pair, (traffic, run_keys)) in found.chunks(2).zip(expected) {
            write("single.toml", &scenario(traffic, run_keys));
            let args = ["simulate", "single.toml", "--json"];
            let (text, _) = run(linkdoze(folder.path()).args(args), 0);
            let single: serde_json::Value = serde_json::from_str(&text).unwrap();
            for (row, json) in [(&pair[0], &single["always_on"]), (&pair[1], &single)] {
                let name = &row.setting.experiment;
                let number = |key: &str| json.pointer(key).unwrap().as_f64().unwrap();
                assert_eq!(row.measured.time_ns, number("/time_ns"), "{name}");
                assert_eq!(
                    row.measured.latency_mean_ns,
                    Some(number("/latency_ns/mean")),
                    "{name}"
                );
                assert_eq!(
                    row.measured.energy_total_j,
                    number("/energy_j/total"),
                    "{name}"
                );
                assert_eq!(row.measured.packets as f64, number("/packets"), "{name}");
                assert_eq!(
                    row.measured.misses as f64,
                    number("/ports/misses"),
                    "{name}"
                );
            }
            let more = &single["against_always_on_percent"];
            let more = |what: &str| more[what].as_f64();
            let against = &pair[1].against;
            assert_eq!(against.latency_mean_overhead_percent, more("latency_mean"));
            let saved = against.energy_network_saved_percent;
            assert_eq!(saved.map(|percent| 0.0 - percent), more("energy_network"));
            // Verdict, limits and score.
            let number = |key: &str| single.pointer(key).unwrap().as_f64();
            let (measured, potential) = (&pair[1].measured, &pair[1].potential);
            let (wake_ups, waits) = (measured.wake_ups as f64, measured.sleep_waits as f64);
            assert_eq!(Some(wake_ups), number("/ports/wake_ups"));
            assert_eq!(Some(waits), number("/ports/sleep_waits"));
            assert_eq!(
                Some(measured.sleep_delay_ns),
                number("/ports/sleep_delay_ns")
            );
            let own = potential.optimum_at_own_wake_ups_saved_percent;
            assert_eq!(
                own,
                number("/offline_optimum/at_own_wake_ups/saved_percent")
            );
            assert_eq!(
                potential.score_at_own_wake_ups,
                number("/score/at_own_wake_ups")
            );
            let ideal = potential.ideal_network_saved_percent;
            assert_eq!(ideal, number("/ideal/saved_percent/network"));
            // A fixed threshold has no bound.
            assert_eq!(
                (measured.ports_over_budget, pair[1].bound_kept),
                (None, None)
            );
            assert_eq!(potential.score_at_bound, None);
        }
        // Nothing is run again, in whatever order, and with fewer or more values.
        let first = vary.replace("0.05, ", "").replace("[3, 4]", "[4, 3]");
        let kept = results(&at(out));
        let modified = |path: &PathBuf| path.metadata().unwrap().modified().unwrap();
        let before: Vec<_> = kept.iter().map(modified).collect();
        for row in sweep_of(&first) {
            assert!(found.contains(&row), "{row:?}");
        }
        assert_eq!(sweep_of(vary), found);
        assert_eq!(
            before,
            results(&at(out)).iter().map(modified).collect::<Vec<_>>()
        );
        run(linkdoze(folder.path()).args(["report", out]), 0);
        found
    };

    let pattern = |traffic: &str, run_keys: &str| {
        format!(
            "[topology]\nnodes = 4\n[traffic]\nkind = \"uniform\"\n{traffic}{power}\
             [run]\nduration_ns = 50000\n{run_keys}"
        )
    };
    let found = check(
        "loads",
        &pattern,
        "load = [0.05, 0.2]\nseed = [3, 4]\n",
        &[
            ("load = 0.05\n", "seed = 3\n"),
            ("load = 0.05\n", "seed = 4\n"),
            ("load = 0.2\n", "seed = 3\n"),
            ("load = 0.2\n", "seed = 4\n"),
        ],
    );
    assert!(found[7].measured.wake_ups > 0 && found[7].measured.sleep_waits > 0);
    let last = &found[7].setting;
    assert_eq!(last.experiment, "fixed-deep-sleep-1000ns_load-0.2_seed-4");
    assert_eq!(
        (last.load, last.seed, &last.mapping),
        (Some(0.2), Some(4), &None)
    );
    for one in 0..4 {
        for other in 0..one {
            let packets = |number: usize| &found[2 * number].measured;
            assert_ne!(
                packets(one).energy_nodes_j + packets(one).packets as f64,
                packets(other).energy_nodes_j + packets(other).packets as f64
            );
        }
    }
    let page = std::fs::read_to_string(at("loads/report.html")).unwrap();
    assert!(page.contains("<section id=\"load-fixed-latency\">"));
    assert!(page.contains("means over 2 seeds") && !page.contains("id=\"fixed-latency\""));

    // Two pairs that exchange messages at the same time: where they are makes a difference.
    let rank = |other: u32| {
        let lines: String = (0..20)
            .map(|n| {
                let before = match n {
                    0 => String::new(),
                    _ => format!("s{n} requires r{}\n", n - 1),
                };
                format!("s{n}: send 20000b to {other} tag {n}\nr{n}: recv 20000b from {other} tag {n}\n{before}")
            })
            .collect();
        lines
    };
    let ranks: String = [1, 0, 3, 2]
        .iter()
        .enumerate()
        .map(|(me, other)| format!("rank {me} {{\n{}}}\n", rank(*other)))
        .collect();
    write("pairs.goal", &format!("num_ranks 4\n{ranks}"));
    let jobs = |traffic: &str, run_keys: &str| {
        format!(
            "[topology]\nkind = \"dragonfly\"\ngroups = 3\nswitches_per_group = 2\n\
             nodes_per_switch = 2\nglobal_ports = 1\n[traffic]\nfile = \"pairs.goal\"\n\
             {traffic}{power}[run]\n{run_keys}"
        )
    };
    let random = "mapping = \"random\"\n";
    let found = check(
        "mappings",
        &jobs,
        "mapping = [\"linear\", \"random\"]\nseed = [3, 4]\n",
        &[
            ("", ""),
            ("", "seed = 4\n"),
            (random, "seed = 3\n"),
            (random, "seed = 4\n"),
        ],
    );
    assert_eq!(
        found[7].setting.experiment,
        "fixed-deep-sleep-1000ns_random_seed-4"
    );
    assert_eq!(found[0].measured, found[2].measured);
    assert!(found[4].measured.packet_hops > found[0].measured.packet_hops);
    let page = std::fs::read_to_string(at("mappings/report.html")).unwrap();
    for mapping in ["linear", "random"] {
        assert!(page.contains(&format!("<section id=\"{mapping}_fixed-latency\">")));
    }

    // What the scenario cannot vary is refused where the sweep has it.
    let refused = |vary: &str, what: &str| {
        write(
            "sweep.toml",
            &format!("scenario = \"scenario.toml\"\n[vary]\n{vary}\n"),
        );
        let (_, err) = run(
            linkdoze(folder.path()).args(["sweep", "sweep.toml", "-o", "no"]),
            2,
        );
        assert!(err.contains(what), "{err}");
        assert!(!at("no").exists());
    };
    refused(
        "load = [0.1]",
        "sweep.toml:3:9: traffic.load: [traffic] of kind \"goal\" has no such key",
    );
    refused(
        "seed = [1, 2]",
        "sweep.toml:3:9: seed: nothing of this scenario is drawn, so all seeds give the same; \
         only patterns of traffic",
    );
    write("scenario.toml", &pattern("", ""));
    refused(
        "mapping = [\"random\"]",
        "sweep.toml:3:12: traffic.mapping: [traffic] of kind \"uniform\" has no such key",
    );
    refused(
        "load = [0.1, 0.1234567]",
        "sweep.toml:3:14: vary.load, 0.1234567: must be",
    );
}

/// A trace of several files: a change in one that the scenario does not name.
#[test]
fn a_change_of_a_secondary_file_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| std::fs::write(at(name), text).unwrap();
    let log = |me: u32, gap: u32| {
        let comm = format!("7,{me},2");
        format!(
            "# collprof 0.9 output file\n\nMPI_Init:-:1:2:100\n\
             MPI_Comm_rank:103:{comm}:5:104.000000\n\
             MPI_Allreduce:{}:1:2:1:10,8,8:3:{comm}:{}\nMPI_Finalize:900:-\n",
            120 + gap,
            130 + gap
        )
    };
    write("run-0.dat", &log(0, 0));
    write("run-1.dat", &log(1, 0));
    write("scenario.toml", "[traffic]\nfile = \"run-0.dat\"\n");
    write("sweep.toml", "scenario = \"scenario.toml\"\nstates = []\n");
    sweep(folder.path(), "out", "1");
    let digests = || -> (serde_json::Value, serde_json::Value) {
        let description = std::fs::read(at("out/sweep.json")).unwrap();
        let sweep: serde_json::Value = serde_json::from_slice(&description).unwrap();
        let args = ["simulate", "scenario.toml", "--json"];
        let (text, _) = run(linkdoze(folder.path()).args(args), 0);
        let simulate: serde_json::Value = serde_json::from_str(&text).unwrap();
        let of = |pointer: &str| simulate.pointer(pointer).unwrap().clone();
        (
            sweep["trace_files_sha256"][0][1].clone(),
            of("/inputs/traces/0/sha256"),
        )
    };
    let before = digests();
    assert_eq!(before.0, before.1);
    // Other bytes and the same program: the results stay, and the digest is of what is there.
    write("run-1.dat", &(log(1, 0) + "# no more\n"));
    sweep(folder.path(), "out", "1");
    let after = digests();
    assert_eq!(after.0, after.1);
    assert_ne!(before, after);
    write("run-1.dat", &log(1, 50));
    let args = ["sweep", "sweep.toml", "-o", "out"];
    let (_, err) = run(linkdoze(folder.path()).args(args), 2);
    assert!(err.contains("computed with other traces"), "{err}");
}

/// Any key varies, of the network, of the switches and of the ports, and configurations stand beside
/// each other. Each run is the one of a scenario that has these values.
#[test]
fn any_key_varies_and_configurations_have_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
    let scenario = |topology: &str, switch: &str, bins: &str| {
        format!(
            "[topology]\n{topology}[traffic]\nkind = \"uniform\"\nload = 0.05\n{switch}\
             [run]\nduration_ns = 2e5\n{bins}"
        )
    };
    let (tree, torus) = (
        "kind = \"k-ary-n-tree\"\nk = 2\nn = 2\n",
        "kind = \"torus\"\ndims = [2, 2]\n",
    );
    let settings = "[fixed]\nt_pdt_ns = []\n[perfbound]\npolicies = [\"perfbound\"]\n\
                    histograms = [\"clearing\"]\nbounds = [0.05]\n";
    let sweep_of =
        |scenario: &str| format!("scenario = \"{scenario}\"\nstates = [\"fast-wake\"]\n{settings}");
    write("scenario.toml", &scenario(tree, "", ""));
    write(
        "sweep.toml",
        &format!(
            "{}[configurations.tree]\n[configurations.torus]\n{}[vary]\n\
             switch.mtu_bytes = [1024, 4096]\npower.histogram.bins = [32, 256]\n",
            sweep_of("scenario.toml"),
            torus
                .replace("kind", "topology.kind")
                .replace("dims", "topology.dims")
        ),
    );
    let rows = sweep(path, "out", "2");
    // Two of each: always on, and PerfBound.
    assert_eq!(rows.len(), 2 * 2 * 2 * 2);
    let mut energies = Vec::new();
    for pair in rows.chunks(2) {
        let [base, predicted] = pair else { panic!() };
        let setting = &predicted.setting;
        let varied: serde_json::Value =
            serde_json::from_str(setting.varied.as_deref().unwrap()).unwrap();
        let (mtu, bins) = (&varied["switch.mtu_bytes"], &varied["power.histogram.bins"]);
        let name = setting.configuration.as_deref().unwrap();
        assert_eq!(
            setting.experiment,
            format!("perfbound-fast-wake-clearing-0.05_{name}_mtu_bytes-{mtu}_bins-{bins}")
        );
        assert_eq!(base.setting.varied, setting.varied);
        // The same with the values written in the scenario; its ports are those of the preset.
        let topology = if name == "tree" { tree } else { torus };
        let preset = path.join("port.toml");
        let init = [
            "init",
            "--preset",
            "bxiv3-fast-wake",
            "-o",
            "port.toml",
            "--force",
            "-q",
        ];
        run(linkdoze(path).args(init), 0);
        let port = std::fs::read_to_string(&preset).unwrap();
        let line = port
            .lines()
            .find(|line| line.starts_with("bins = "))
            .unwrap();
        write("port.toml", &port.replace(line, &format!("bins = {bins}")));
        let switch = format!("[switch]\nmtu_bytes = {mtu}\n");
        let power = "[power]\ncontroller = \"port.toml\"\n";
        write("plain.toml", &scenario(topology, &switch, power));
        write("plain-sweep.toml", &sweep_of("plain.toml"));
        let out = format!("{name}-{mtu}-{bins}");
        let args = ["sweep", "plain-sweep.toml", "-o", &out];
        run(linkdoze(path).args(args), 0);
        for (plain, of) in self::rows(&path.join(&out)).iter().zip([base, predicted]) {
            assert_eq!(plain.measured, of.measured, "{out}");
            assert_eq!(plain.against, of.against, "{out}");
        }
        energies.push(predicted.measured.energy_links_j);
    }
    // Two networks and two lengths of packets make four, and bins make a difference to some of them.
    energies.sort_by(f64::total_cmp);
    energies.dedup();
    assert!(energies.len() > 4, "{energies:?}");

    // What is wrong with a value is said of the sweep, at the value.
    for (text, expected) in [
        (
            "switch.mtu_bytes = [1024, 0]",
            "sweep.toml:10:27: switch.mtu_bytes = 0: must be",
        ),
        (
            "power.histogram.bins = [32, 0]",
            "sweep.toml:10:29: histogram.bins = 0: ",
        ),
        (
            "power.histogram.bin = [32]",
            "sweep.toml:10:24: histogram.bin: unknown key",
        ),
        ("topology.groups = [2]", "sweep.toml:10:20: topology.groups"),
        (
            "power.histogram.bins.most = [2]",
            "sweep.toml:10:30: histogram.bins",
        ),
        // The same in another unit is the same.
        (
            "switch.mtu_bytes = [4096, 1024, \"4 KiB\"]",
            "sweep.toml:10:33: vary.switch.mtu_bytes, \"4 KiB\": is the same as 4096",
        ),
        (
            "power.port.sync_timeout_ns = [20000, \"20 us\"]\nswitch.mtu_bytes = [1024, 4096]",
            "sweep.toml:10:38: vary.power.port.sync_timeout_ns, \"20 us\": is the same as 20000",
        ),
    ] {
        write(
            "sweep.toml",
            &format!("{}[vary]\n{text}\n", sweep_of("scenario.toml")),
        );
        let (_, err) = run(linkdoze(path).args(["sweep", "sweep.toml", "-o", "no"]), 2);
        assert!(err.contains(expected), "{text}: {err}");
    }
    assert!(!path.join("no").exists());
}

/// A configuration that is based on another one has its keys and is compared with its links that never
/// sleep, has settings of its own, and each workload is run with each. What saves most comes first, in the
/// table and in the report.
#[test]
fn configurations_compete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
    write(
        "scenario.toml",
        "[topology]\nkind = \"k-ary-n-tree\"\nk = 2\nn = 3\n[traffic]\nkind = \"skeleton\"\n\
         program = \"lammps\"\nranks = 8\nsteps = 1\n",
    );
    write(
        "sweep.toml",
        "scenario = \"scenario.toml\"\nstates = [\"fast-wake\"]\n[fixed]\nt_pdt_ns = [1e4]\n\
         [perfbound]\npolicies = []\n[workloads.lammps]\n[workloads.fft]\n\
         traffic.program = \"fft\"\n[configurations.slow]\nswitch.link_gbps = 100\n\
         [configurations.slow-first-on]\nbased_on = \"slow\"\nswitch.selection = \"first-on\"\n\
         fixed.t_pdt_ns = [1e3, 1e5]\n[configurations.alone]\n",
    );
    let (out, _) = run(linkdoze(path).args(["sweep", "sweep.toml", "-o", "out"]), 0);
    let rows = rows(&path.join("out"));
    assert_eq!(rows.len(), 2 * (2 + 3 + 2));
    let find = |name: &str| {
        let row = rows.iter().find(|row| row.setting.experiment == name);
        row.unwrap_or_else(|| panic!("{name}"))
    };
    for workload in ["lammps", "fft"] {
        let base = find(&format!("always-on_{workload}_slow"));
        assert_eq!(base.setting.compared_with, None);
        for setting in [
            "always-on",
            "fixed-fast-wake-1000ns",
            "fixed-fast-wake-100000ns",
        ] {
            let row = find(&format!("{setting}_{workload}_slow-first-on"));
            let name = Some(base.setting.experiment.clone());
            assert_eq!(row.setting.compared_with, name);
            let longer = row.measured.time_ns / base.measured.time_ns - 1.0;
            let printed = row.against.time_overhead_percent.unwrap();
            assert!(
                (printed - 100.0 * longer).abs() < 1e-9,
                "{printed} {longer}"
            );
        }
        let alone = find(&format!("fixed-fast-wake-10000ns_{workload}_alone"));
        let own = format!("always-on_{workload}_alone");
        assert_eq!(alone.setting.compared_with, Some(own));
        // It is found again where a person looks first.
        let of_contest = |row: &&Row| {
            row.setting.compared_with == Some(base.setting.experiment.clone())
                && row.against.time_overhead_percent.unwrap() <= 5.0
        };
        let saved = |row: &Row| row.against.energy_network_saved_percent.unwrap();
        let best = rows
            .iter()
            .filter(of_contest)
            .map(saved)
            .fold(0.0, f64::max);
        assert!(best > 0.0);
        let line = out
            .lines()
            .position(|line| line.starts_with(&format!("{workload}, slow ")));
        let three = out.lines().skip(line.unwrap()).take(3);
        let last = three.last().unwrap();
        assert!(
            last.contains("+5 %") && last.contains(&format!("{best:+.2} %")),
            "{last}"
        );
    }
    let verdict = out.lines().next().unwrap();
    assert!(verdict.starts_with("compared with"), "{out}");
    run(linkdoze(path).args(["report", "out"]), 0);
    let html = std::fs::read_to_string(path.join("out/report.html")).unwrap();
    let best = html.find("What saves most of the network").unwrap();
    assert!(best < html.find("<section id=\"lammps_slow-contest\">").unwrap());
    // Those that stand for themselves have the figures of the matrix.
    assert!(html.contains("<section id=\"fft_alone_fixed-time\">"));
    assert!(!html.contains("slow-first-on_fixed-time"));
}

/// `sim/sweep-every-network.toml` has every kind of network and every policy; what it leaves out of a
/// network, `simulate` refuses there with the reason.
#[test]
fn every_policy_runs_on_every_network_that_supports_it() {
    let sim = Path::new(env!("CARGO_MANIFEST_DIR")).join("sim");
    let text = std::fs::read_to_string(sim.join("sweep-every-network.toml")).unwrap();
    let sweep: toml::Table = text.parse().unwrap();
    let configurations = sweep["configurations"].as_table().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let command = ["sweep", "sweep-every-network.toml", "-o"];
    run(linkdoze(&sim).args(command).arg(&out), 0);
    let rows = rows(&out);

    let policies = ["fixed", "perfbound", "perfbound-correct"];
    let states = ["fast-wake", "deep-sleep", "hybrid"];
    let mut kinds = BTreeSet::new();
    let mut refused = 0;
    for (network, keys) in configurations {
        let Some(topology) = keys.get("topology") else {
            continue;
        };
        kinds.insert(topology["kind"].as_str().unwrap());
        let found = |variant: &str, policy: &str, state: Option<&str>| {
            let name = format!("{network}{variant}");
            let row = rows.iter().find(|row| {
                let setting = &row.setting;
                setting.configuration.as_ref() == Some(&name)
                    && (setting.policy.as_str(), setting.state.as_deref()) == (policy, state)
            });
            let row = row.unwrap_or_else(|| panic!("{name}: {policy}, {state:?}"));
            assert_eq!(
                row.measured.ended, "complete",
                "{name}: {policy}, {state:?}"
            );
            row.against.energy_links_saved_percent
        };
        let whole_matrix = |variant: &str| {
            for policy in policies {
                for state in states {
                    assert!(found(variant, policy, Some(state)) > Some(0.0));
                }
            }
        };
        assert_eq!(found("", "always-on", None), None);
        for variant in ["", "-guard", "-lpi"] {
            whole_matrix(variant);
        }
        assert!(found("-lanes", "fixed", Some("fast-wake")) > Some(0.0));
        let histograms: BTreeSet<_> = rows
            .iter()
            .filter(|row| row.setting.configuration == Some(format!("{network}-histograms")))
            .filter_map(|row| row.setting.histogram.as_deref())
            .collect();
        let others = ["circular", "decaying", "map", "regular"];
        assert_eq!(histograms, BTreeSet::from(others), "{network}");
        let one_way = "every packet has one way only";
        let no_minimal_tree = "have the minimal tree whose links stay on";
        let no_dimensions = "made for networks with dimensions";
        let selections = ["round-robin", "first-on", "powar", "alonso"];
        let with_duato = selections.map(|selection| (selection, true));
        for (selection, duato) in selections
            .map(|it| (it, false))
            .into_iter()
            .chain(with_duato)
        {
            let variant = match duato {
                true => &format!("-{selection}-duato"),
                false => &format!("-{selection}"),
            };
            if configurations.contains_key(&format!("{network}{variant}")) {
                match selection {
                    "alonso" => assert!(found(variant, "fixed", Some("deep-sleep")) > Some(0.0)),
                    _ => whole_matrix(variant),
                }
                continue;
            }
            let reasons = match (selection, duato) {
                ("alonso", true) => &[no_dimensions, no_minimal_tree][..],
                (_, true) => &[no_dimensions],
                ("alonso", false) => &[one_way, no_minimal_tree],
                _ => &[one_way],
            };
            let queueing = if duato { "queueing = \"duato\"" } else { "" };
            let topology = toml::to_string(topology).unwrap();
            let scenario = format!(
                "[topology]\n{topology}\n[traffic]\nkind = \"uniform\"\n[switch]\nselection = \
                 \"{selection}\"\n{queueing}\n\
                 [power.port]\npolicy = \"fixed\"\nt_pdt_ns = 0\nsync = \"lpi\"\ncontrol_pins = true\n"
            );
            std::fs::write(folder.path().join("scenario.toml"), scenario).unwrap();
            let command = ["simulate", "scenario.toml"];
            let (_, error) = run(linkdoze(folder.path()).args(command), 2);
            let told = reasons.iter().any(|reason| error.contains(reason));
            assert!(told, "{network}{variant}: {error}");
            refused += 1;
        }
    }
    let all: BTreeSet<&str> = KINDS.iter().map(|kind| kind.name).collect();
    assert_eq!(kinds, all);
    // One switch, Megafly and both kinds of Dragonfly have no choice at all, the three trees no
    // dimensions, and the pruned one no minimal tree.
    assert_eq!(refused, 4 * 8 + 3 * 4 + 1);
}
