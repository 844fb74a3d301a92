//! Scenarios and sweeps.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use linkdoze::experiment::{Error, Experiment, Measurement};
use linkdoze::network::event::Replacements;
use linkdoze::network::scenario::{Origin, Power, Scenario, Traffic, Variation};
use linkdoze::network::topology::{Topology, Walker, MAX_NODES};
use linkdoze::network::{self, RunError, Workload};
use linkdoze::sweep::Sweep;

use super::{check_faults, check_message, check_written, pieces, Folder};

/// A scenario that is accepted has a network whose cables have two ends and whose routes arrive,
/// and ports that can be configured. The files that it names are not looked at: a name could be
/// that of any file of the machine.
pub fn scenario(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        // What is no text is refused before it is read as a scenario.
        let folder = Folder::of([("scenario.toml", bytes)]);
        let refused = Scenario::load(&folder.file("scenario.toml"));
        return check_faults(&refused.expect_err("not UTF-8"), bytes);
    };
    let path = Path::new("scenario.toml");
    let scenario = match Scenario::parse(text, path) {
        Ok(scenario) => scenario,
        Err(error) => return check_faults(&error, bytes),
    };
    check_topology(&*scenario.topology);
    if let Power::Inline(_) = scenario.power {
        let config = scenario.power.config().expect("it was checked");
        check_written(&config.expect("there is one"));
    }
    assert!(scenario
        .duration_ps
        .is_none_or(|end| scenario.warm_up_ps < end));
    for variation in [
        Variation {
            load: Some(0.25),
            seed: Some(7),
            ..Variation::default()
        },
        Variation {
            mapping: Some("random"),
            ..Variation::default()
        },
        Variation {
            keys: vec![
                ("topology.dims".into(), vec![2, 3].into()),
                ("switch.mtu_bytes".into(), "1 KiB".into()),
                ("power.controller".into(), "port.toml".into()),
            ],
            ..Variation::default()
        },
    ] {
        match Scenario::parse_varied(text, &variation, path) {
            Ok(varied) if variation.keys.is_empty() => {
                assert_eq!(varied.topology, scenario.topology);
            }
            Ok(varied) => assert_eq!(varied.switch.mtu, 1024),
            Err(error) => check_message(&error.to_string()),
        }
    }
    true
}

/// Ports of a network that are looked at: they begin with the first switches.
const PORTS: usize = 256;

fn check_topology(topology: &dyn Topology) {
    let nodes = topology.nodes();
    assert!((2..=MAX_NODES).contains(&nodes), "{nodes} nodes");
    for port in 0..topology.ports().min(PORTS) {
        if let Some(peer) = topology.peer(port) {
            assert!(peer < topology.ports() && peer != port, "port {port}");
            assert_eq!(topology.peer(peer), Some(port), "the cable of {port}");
            assert!(topology.class(port) < topology.classes().len());
        }
    }
    let walker = Walker::new(topology);
    let some = [0, 1, nodes / 2, nodes - 1];
    for source in some {
        for destination in some {
            if source != destination {
                let hops = usize::from(topology.hops(source, destination));
                let way = walker.way(source, destination).take(hops + 2).count();
                assert_eq!(way, hops, "from {source} to {destination}");
            }
        }
    }
}

/// Most runs of a sweep whose names are compared.
const MOST_RUNS: usize = 2000;

/// A sweep that is accepted has runs with names of their own, and one that says what is wrong with
/// any of them. The scenario is not looked at.
pub fn sweep(bytes: &[u8]) -> bool {
    let folder = Folder::of([("sweep.toml", bytes)]);
    let path = folder.file("sweep.toml");
    let sweep = match Sweep::load(&path) {
        Ok(sweep) => sweep,
        Err(error) => return check_faults(&error, bytes),
    };
    let last = sweep.variations.len() - 1;
    let experiments = sweep.experiments(last).count();
    let fault = sweep.fault(&path, (last, experiments - 1), "refused".into());
    check_faults(&fault, bytes);
    let fault = sweep.variation_fault(&path, last, false, "refused".into());
    check_faults(&fault, bytes);
    let mut seen = BTreeSet::new();
    for name in sweep.names().take(MOST_RUNS) {
        assert!(seen.insert(name.clone()), "two runs are called {name}");
    }
    true
}

/// What a simulation may cost here. Larger ones are legal, and take their time.
const MOST_NODES: usize = 40;
const MOST_RANKS: u32 = 64;
const MOST_STEPS: u32 = 3;
const MOST_SAMPLES: u64 = 1000;
/// Reports of progress, one in 65,536 events, after which a run is stopped.
const MOST_REPORTS: u32 = 2;

/// A scenario (and, behind it, a trace `t.goal`) runs to its end, to its duration, or to an error
/// that names the file: no packet is lost, times and energies are finite and add up, and two
/// threads do what one does.
pub fn simulation(bytes: &[u8]) -> bool {
    let files = pieces(bytes);
    let folder = Folder::of(["scenario.toml", "t.goal"].iter().zip(&files));
    let path = folder.file("scenario.toml");
    let Ok(text) = std::str::from_utf8(files[0]) else {
        return false;
    };
    let Ok(scenario) = Scenario::parse(text, &path) else {
        // That is what the target `scenario` is for.
        return false;
    };
    if !is_small(&scenario, &folder.file("t.goal")) {
        return false;
    }
    let one = run(&scenario, 1);
    if let (Ok(Some(one)), true) = (&one, bytes.len().is_multiple_of(4)) {
        if let Ok(Some(two)) = run(&scenario, 2) {
            assert_eq!(one.measured, two.measured, "two threads do something else");
        }
    }
    if let Err(error) = &one {
        check_message(&error.to_string());
    }
    one.is_ok()
}

/// Whether a run takes milliseconds, and reads no file but `trace`.
fn is_small(scenario: &Scenario, trace: &PathBuf) -> bool {
    let samples = match (scenario.duration_ps, scenario.sample_ps) {
        (Some(duration), Some(sample)) => duration / sample,
        // The end is not known.
        (None, Some(_)) => return false,
        (_, None) => 0,
    };
    let jobs = match &scenario.traffic {
        Traffic::Pattern(_) => &[][..],
        Traffic::Jobs(all) => &all.jobs,
    };
    let ranks = jobs.iter().map(|job| match &job.origin {
        Origin::Trace(file) if file == trace => job.copies,
        Origin::Trace(_) => u32::MAX,
        Origin::Skeleton(skeleton) if skeleton.steps <= MOST_STEPS => {
            skeleton.ranks.saturating_mul(job.copies)
        }
        Origin::Skeleton(_) => u32::MAX,
    });
    scenario.topology.nodes() <= MOST_NODES
        && scenario.topology.ports() <= 4 * PORTS
        && samples <= MOST_SAMPLES
        && !matches!(scenario.power, Power::File(_))
        && ranks.fold(0, u32::saturating_add) <= MOST_RANKS
}

/// None, if the run was stopped.
fn run(scenario: &Scenario, threads: usize) -> Result<Option<Measurement>, Error> {
    let workload = Workload::of(scenario)?;
    let config = scenario.power.config().expect("it was checked");
    let experiment = Experiment::new(scenario, workload.as_ref(), config.as_ref())?;
    let mut reports = 0;
    let mut watch = |_: &network::Progress| {
        reports += 1;
        match reports < MOST_REPORTS {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    };
    let summary = match experiment.run(threads, Replacements::new(), &mut watch) {
        Err(Error::Run(network::Error::Run { problem, .. }))
            if matches!(
                problem,
                RunError::Overflow { .. } | RunError::Controller { .. }
            ) =>
        {
            panic!("an error of the model: {problem}")
        }
        Err(Error::NotConserved(error)) => panic!("an error of the model: {error}"),
        other => other?,
    };
    let stopped = summary.ended == network::Ended::Stopped;
    let measurement = experiment.measure(summary, None);
    // `Debug` writes what is no number as NaN or inf.
    let text = format!("{:?}", measurement.measured);
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    Ok((!stopped).then_some(measurement))
}
