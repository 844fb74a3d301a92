//! `linkdoze simulate`: a whole network under traffic.

mod print;

use std::cell::Cell;
use std::collections::btree_map::{BTreeMap, Entry};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use anyhow::{bail, ensure, Result};
use serde_json::{json, Value};

use super::numbers;
use super::output;
use super::progress::Step;
use super::{Interrupted, Outcome};
use crate::blocks::port::pins::PowerState;
use crate::config::plan::PortPlan;
use crate::config::{Config, PerfBound};
use crate::cosim::in_loop::{self, Findings, InLoop};
use crate::cosim::port::PortDesign;
use crate::cosim::verilator::Compiled;
use crate::cosim::Design;
use crate::energy::limits::Limits;
use crate::energy::series::PowerSeries;
use crate::energy::{EnergyReport, Models};
use crate::experiment::{
    self, Against, Comparison, Experiment, Measured, Measurement, Potential, Verdict, Watch,
};
use crate::files;
use crate::network::budget::Budget;
use crate::network::event::idle::IdleTable;
use crate::network::event::link_idle::Sleeper;
use crate::network::event::{self, Replacements};
use crate::network::scenario::{Origin, Scenario, Traffic};
use crate::network::topology::Topology;
use crate::network::{input_files, trace, Job, Progress, RunSummary, Workload};
use crate::report::series::{Columns, SERIES, SERIES_ALWAYS_ON};
use crate::usage;

/// Simulate a whole network under the traffic of applications or of a pattern.
#[derive(clap::Args)]
pub struct Args {
    /// The scenario: topology, traffic, switches, power saving.
    scenario: PathBuf,
    /// Write summary.json, ports.csv and, of links that never sleep, idle.csv into this folder;
    /// series.parquet, and series-always-on.parquet, if [run] has sample_ns.
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads, at most one for each node and 64; the results do not depend on it. Default: one,
    /// and one more for every thousand nodes that send, but no more than there are processors.
    #[arg(long, value_name = "N", value_parser = numbers::threads(event::MOST_THREADS))]
    threads: Option<NonZeroUsize>,
    /// Put the Verilog, compiled by Verilator, in the place of these ports' controllers:
    /// switch3.port5, nic7, ... The run must come out the same as with the golden models.
    #[arg(long, value_name = "PORTS", value_delimiter = ',')]
    rtl_ports: Vec<String>,
    /// Leave out the second run, with links that never sleep, and idle periods.
    #[arg(long)]
    no_baseline: bool,
    /// Print also every other figure: packets, the models of the papers, idle periods.
    #[arg(long, conflicts_with = "json")]
    all: bool,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// The files in the folder of the results.
const SUMMARY: &str = "summary.json";
const PORTS: &str = "ports.csv";
const IDLE: &str = "idle.csv";
const OUTPUTS: [&str; 5] = [SUMMARY, PORTS, IDLE, SERIES, SERIES_ALWAYS_ON];

/// Runs the subcommand.
///
/// # Errors
/// If the scenario cannot be used, the run fails, or the results not be written.
pub fn run(args: &Args) -> Result<Outcome> {
    let scenario = Scenario::load(&args.scenario)?;
    let step = Step::new("reading the traffic");
    let workload = Workload::of(&scenario)?;
    drop(step);
    if let Some(folder) = &args.out {
        let outputs = OUTPUTS.map(|name| folder.join(name));
        files::refuse_to_replace(outputs, input_files(&scenario)?)?;
        refuse_files_of_others(folder)?;
        files::refuse_unwritable_folder(folder)?;
    }
    let config = scenario.power.config()?;
    // Before the run: files may change while it lasts.
    let inputs = inputs(&scenario, config.as_ref())?;
    let experiment = Experiment::new(&scenario, workload.as_ref(), config.as_ref())?;
    let topology: &dyn Topology = &*scenario.topology;
    let notes = experiment::notes(&[(experiment.configs.clone(), topology.classes())]);
    super::print_notes(&notes);
    let factors = match config.as_ref().is_some_and(Config::computes_hop_factor) {
        true => factors(&experiment.configs, topology),
        false => Vec::new(),
    };
    ensure!(
        args.rtl_ports.is_empty() || scenario.switch.link_lanes.is_none(),
        "--rtl-ports: with link_lanes in [switch] ports have lane controllers, in whose places there can be \
         no Verilog; leave one of the two out"
    );
    let step = Step::new("compiling the Verilog of --rtl-ports");
    let hardware = Hardware::new(&args.rtl_ports, &experiment.configs, topology)?;
    drop(step);
    let threads = threads(args, &scenario, workload.as_ref())?;
    let simulate = |what, run: OneRun| one_run(what, &experiment, run);
    let always_on: OneRun = &|watch| experiment.run_always_on(threads, !args.no_baseline, watch);
    let run = match experiment.can_sleep() {
        true => simulate("power saving", &|watch| {
            experiment.run(threads, Replacements::new(), watch)
        })?,
        false => simulate("always on", always_on)?,
    };
    let cpu_seconds = usage::cpu_seconds();
    let loops = match hardware.ports.is_empty() {
        true => None,
        false => {
            let (replacements, findings) = hardware.replacements(&experiment.plans, topology)?;
            let replacements = Cell::new(Some(replacements));
            let in_loop = simulate("hardware in the loop", &|watch| {
                experiment.run(threads, replacements.take().unwrap_or_default(), watch)
            });
            Some(Loops::new(
                hardware.ports,
                &findings,
                in_loop,
                &run.summary,
            )?)
        }
    };
    let baseline = match args.no_baseline || !experiment.can_sleep() {
        true => None,
        false => Some(simulate("always on", always_on)?),
    };
    let baseline = baseline.map(|run| experiment.measure_always_on(run.summary, run.cpu_seconds));
    let run = experiment.measure(run.summary, run.cpu_seconds);
    let best = baseline
        .as_ref()
        .and_then(|base| experiment.always_on(base));
    let base = baseline.as_ref().map(|base| &base.measured);
    let Comparison {
        against,
        limits,
        verdict,
        ..
    } = experiment.compare(&run, base, best.as_ref());
    let found = |run| Found::of(run, &scenario, &experiment);
    let baseline = baseline.map(found);
    let found = found(run);
    let sleeper = experiment.sleeper();
    let budget = experiment.budget;
    let report = Report {
        scenario: &scenario,
        workload: workload.as_ref(),
        threads,
        cpu_seconds,
        inputs,
        factors,
        idle: IdleTable::of(&baseline.as_ref().unwrap_or(&found).run.summary),
        budget,
        found,
        sleeper,
        baseline,
        against,
        limits,
        verdict,
        loops,
    };
    let mut json = report.json(args.out.is_some());
    json["notes"] = json!(notes);
    let json = serde_json::to_string_pretty(&json)? + "\n";
    if let Some(folder) = &args.out {
        write(folder, &report, &json)?;
    }
    note_what_limits(&report.found.measured, &scenario);
    output::print(&if args.json {
        json
    } else {
        report.text(args.all, args.out.as_deref())
    })?;
    Ok(match &report.loops {
        Some(loops) if !loops.equal() => Outcome::CheckFailed,
        _ => Outcome::Done,
    })
}

/// Threads of a run: those asked for, or as many as have something to do.
///
/// # Errors
/// If more are asked for than the network takes.
fn threads(args: &Args, scenario: &Scenario, workload: Option<&Workload>) -> Result<usize> {
    let senders = match workload {
        Some(workload) => workload.nodes.len(),
        None => scenario.topology.nodes(),
    };
    let most = event::most_threads(&*scenario.topology);
    if let Some(threads) = args.threads {
        ensure!(
            threads.get() <= most,
            "--threads {threads}: this network takes at most {most}, one for each node and \
             {} together",
            event::MOST_THREADS
        );
        return Ok(threads.get());
    }
    if scenario.switch.cable_ps == 0 {
        return Ok(1);
    }
    // Threads meet after every cable's delay: there must be something to do in between.
    let available = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    Ok(available.min(1 + senders / 1000).min(most))
}

/// Writes the results of a run into a folder, and removes those of an earlier one that are not replaced.
///
/// # Errors
/// If the folder has files of others with these names, or they cannot be written.
fn write(folder: &Path, report: &Report<'_>, json: &str) -> Result<()> {
    refuse_files_of_others(folder)?;
    let (ports, idle) = (report.ports()?, report.idle_periods()?);
    let series = report.series()?;
    let mut files = vec![
        (folder.join(SUMMARY), json.as_bytes()),
        (folder.join(PORTS), &ports),
    ];
    // One that is not of this run is of an earlier one, and does not belong to these files.
    let mut stale = Vec::new();
    let optional = std::iter::once((IDLE, &idle))
        .chain(series.each_ref().map(|(name, content)| (*name, content)));
    for (name, content) in optional {
        match content {
            Some(content) => files.push((folder.join(name), content)),
            None => stale.push(folder.join(name)),
        }
    }
    files::write_together(&files)?;
    stale.retain(|path| is_there(path));
    for path in &stale {
        files::remove(path)?;
    }
    if !stale.is_empty() {
        output::note(&format!(
            "removed, of an earlier run: {}",
            files::listed(&stale)
        ));
    }
    Ok(())
}

/// Says on standard error what makes figures of the run mean less than they seem to.
fn note_what_limits(measured: &Measured, scenario: &Scenario) {
    let &Measured {
        pauses,
        pauses_asleep,
        offered_bytes,
        delivered_bytes,
        latency_packets,
        ..
    } = measured;
    if measured.may_be_saturated() {
        output::note(&format!(
            "note: {delivered_bytes} of {offered_bytes} bytes that nodes sent had arrived at the \
             end: the network is saturated, and latencies grow with the length of the run, or \
             the run is too short to tell"
        ));
    }
    if scenario.warm_up_ps > 0 && delivered_bytes > 0 && latency_packets == 0 {
        output::note(&format!(
            "note: no packet that was handed over after run.warm_up_ns = {} has arrived: there is no latency",
            ns(scenario.warm_up_ps)
        ));
    }
    if pauses_asleep > 0 {
        output::note(&format!(
            "note: {pauses_asleep} of {pauses} pause frames passed over a direction of a link that \
             was not awake; a MAC has to wake it first, and needs buffers for what arrives until then"
        ));
    }
}

/// Whether something has this name, be it a link that leads nowhere.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Refuses a folder in which files have the names of the results, and are not of an earlier run: that
/// would have left a summary with the version of linkdoze beside them.
fn refuse_files_of_others(folder: &Path) -> Result<()> {
    let outputs = OUTPUTS.map(|name| folder.join(name));
    let there: Vec<PathBuf> = outputs.into_iter().filter(|path| is_there(path)).collect();
    let summary = std::fs::read(folder.join(SUMMARY)).unwrap_or_default();
    let summary: Option<Value> = serde_json::from_slice(&summary).ok();
    let ours = summary.is_some_and(|summary| summary["inputs"]["linkdoze"].is_string());
    ensure!(
        there.is_empty() || ours,
        "{}: would be replaced or removed, and no {SUMMARY} of linkdoze beside says that it is of an \
         earlier run; move it away, or name another folder with -o",
        files::listed(&there)
    );
    Ok(())
}

/// `l` of SPEC 7.2 of each class of ports, if a bound governs them.
fn factors(configs: &[Config], topology: &dyn Topology) -> Vec<(String, f64)> {
    let classes = topology.classes().into_iter().zip(configs);
    let factor = |(class, config): (String, &Config)| match config.perfbound {
        PerfBound::Factor { factor, .. } if config.is_bounded() => Some((class, factor.to_f64())),
        _ => None,
    };
    classes.filter_map(factor).collect()
}

/// The compiled Verilog of some ports.
struct Hardware {
    /// Numbers of the ports and their names.
    ports: Vec<(usize, String)>,
    /// By class of port.
    compiled: BTreeMap<usize, Compiled>,
}

impl Hardware {
    /// Finds the ports and compiles what they need.
    fn new(names: &[String], configs: &[Config], topology: &dyn Topology) -> Result<Self> {
        ensure!(
            names.is_empty() || !configs.is_empty(),
            "--rtl-ports: the scenario has no controllers; name one in [power]"
        );
        let mut ports = Vec::new();
        let mut compiled = BTreeMap::new();
        for name in names {
            let Some(port) = topology.port_named(name) else {
                bail!(
                    "--rtl-ports: there is no port {name}; ports are named switch0.port0 to \
                     {} and nic0 to {}",
                    topology.port_name(topology.switch_ports() - 1),
                    topology.port_name(topology.ports() - 1)
                );
            };
            ensure!(
                topology.peer(port).is_some(),
                "--rtl-ports: {name} has no cable"
            );
            ensure!(
                ports.iter().all(|(other, _)| *other != port),
                "--rtl-ports names {name} twice"
            );
            ports.push((port, name.clone()));
            let class = topology.class(port);
            if let Entry::Vacant(place) = compiled.entry(class) {
                let design = PortDesign::new(&configs[class])?;
                place.insert(Compiled::fast(&design.verilog()?, design.plan())?);
            }
        }
        Ok(Self { ports, compiled })
    }

    /// An engine for each port, and what it will find.
    fn replacements(
        &self,
        plans: &[PortPlan],
        topology: &dyn Topology,
    ) -> Result<(Replacements, Vec<in_loop::Shared>)> {
        let mut replacements = Replacements::new();
        let mut all = Vec::new();
        for (port, _) in &self.ports {
            let class = topology.class(*port);
            let findings = in_loop::Shared::default();
            let engine = self.compiled[&class].engine()?;
            let controller = InLoop::new(engine, &plans[class], findings.clone());
            replacements.insert(*port, Box::new(controller));
            all.push(findings);
        }
        Ok((replacements, all))
    }
}

/// What came of the run with hardware in the loop.
struct Loops {
    ports: Vec<(String, Findings)>,
    /// The run came out as the one with golden models alone.
    same_run: bool,
    /// Why the run ended early, if it did.
    failure: Option<String>,
    cpu_seconds: Option<f64>,
}

impl Loops {
    fn new(
        ports: Vec<(usize, String)>,
        findings: &[in_loop::Shared],
        run: Result<Run>,
        golden: &RunSummary,
    ) -> Result<Self> {
        let ports: Vec<(String, Findings)> = ports
            .into_iter()
            .zip(findings)
            .map(|((_, name), findings)| {
                let findings = findings.lock().unwrap_or_else(PoisonError::into_inner);
                (name, findings.clone())
            })
            .collect();
        if let Some((name, why)) = ports.iter().find_map(|(name, findings)| {
            let why = findings.failure.as_ref()?;
            Some((name, why))
        }) {
            bail!("{name}: {why}");
        }
        let departed = ports.iter().any(|(_, found)| found.mismatch.is_some());
        Ok(match run {
            Ok(run) => Self {
                ports,
                same_run: run.summary == *golden,
                failure: None,
                cpu_seconds: run.cpu_seconds,
            },
            // Hardware that departs can break the rules.
            Err(error) if departed && !error.is::<Interrupted>() => Self {
                ports,
                same_run: false,
                failure: Some(format!("{error:#}")),
                cpu_seconds: None,
            },
            Err(error) => return Err(error),
        })
    }

    fn mismatches(&self) -> usize {
        let departed = |(_, found): &&(String, Findings)| found.mismatch.is_some();
        self.ports.iter().filter(departed).count()
    }

    fn cycles(&self) -> u64 {
        self.ports.iter().map(|(_, found)| found.cycles).sum()
    }

    fn equal(&self) -> bool {
        self.same_run && self.mismatches() == 0
    }

    fn json(&self) -> Value {
        let ports = self.ports.iter().map(|(name, found)| {
            json!({
                "port": name,
                "cycles": found.cycles,
                "first_mismatch": found.mismatch,
            })
        });
        json!({
            "ports": ports.collect::<Vec<_>>(),
            "cycles": self.cycles(),
            "mismatches": self.mismatches(),
            "same_run": self.same_run,
            "failure": self.failure,
            "cpu_seconds": self.cpu_seconds,
        })
    }
}

/// What the results of a scenario depend on, with the SHA-256 of its files and of the ports'
/// configuration; a pipe has none.
fn inputs(scenario: &Scenario, config: Option<&Config>) -> Result<Value> {
    let digest = |file: &Path| {
        let digest = file.is_file().then(|| files::sha256(file));
        digest.transpose()
    };
    let mut traces = Vec::new();
    if let Traffic::Jobs(all) = &scenario.traffic {
        for job in &all.jobs {
            // The text of the scenario has all that a skeleton is made of.
            if let Origin::Trace(file) = &job.origin {
                traces.push(json!({"file": file, "sha256": trace::sha256(file)?}));
            }
        }
    }
    Ok(json!({
        "linkdoze": env!("CARGO_PKG_VERSION"),
        "sources_sha256": env!("LINKDOZE_SOURCES"),
        "scenario_sha256": digest(&scenario.path)?,
        "seed": scenario.seed,
        "port_sha256": config.map(Config::hash),
        "traces": traces,
    }))
}

/// A run and what it cost.
struct Run {
    summary: RunSummary,
    /// CPU time of all threads.
    cpu_seconds: Option<f64>,
}

/// A run that tells how far it has come.
type OneRun<'r> = &'r dyn Fn(Watch) -> Result<RunSummary, experiment::Error>;

fn one_run(what: &'static str, experiment: &Experiment, run: OneRun) -> Result<Run> {
    let total = match experiment.workload {
        Some(workload) => workload.operations() as u64,
        None => experiment.scenario.duration_ps.unwrap_or(0),
    };
    let step = Step::of(format!("links {what}"), total);
    let before = usage::cpu_seconds();
    let orderly = super::Orderly::begin();
    let summary = run(&mut |now: &Progress| {
        step.set_position(match now.operations {
            0 => now.time_ps,
            _ => now.operations_finished as u64,
        });
        match orderly.interrupted() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    drop(step);
    // It may have come after the last look.
    if orderly.interrupted() {
        let mut so_far = format!("{:.6} ms of simulated time", summary.time_ps as f64 / 1e9);
        if summary.operations > 0 {
            so_far += &format!(
                ", {} of {} operations",
                summary.operations_finished, summary.operations
            );
        }
        bail!(Interrupted(format!(
            "interrupted after {so_far} of the run \"{what}\"; nothing was written"
        )));
    }
    Ok(Run {
        summary,
        cpu_seconds: usage::cpu_seconds()
            .zip(before)
            .map(|(now, then)| now - then),
    })
}

/// What came of a run.
struct Found {
    run: Run,
    energy: EnergyReport,
    models: Models,
    measured: Measured,
    /// Its samples, if it kept them.
    series: Option<Columns>,
}

impl Found {
    fn of(run: Measurement, scenario: &Scenario, experiment: &Experiment<'_>) -> Self {
        let (switches, byte_ps) = (scenario.topology.switches(), scenario.switch.byte_ps);
        let series = PowerSeries::new(&experiment.power, switches, byte_ps, &run.summary);
        Found {
            series: series.map(|series| Columns::new(&scenario.path, &series)),
            run: Run {
                summary: run.summary,
                cpu_seconds: run.measured.cpu_seconds,
            },
            energy: run.energy,
            models: run.models,
            measured: run.measured,
        }
    }
}

struct Report<'a> {
    scenario: &'a Scenario,
    workload: Option<&'a Workload>,
    threads: usize,
    /// CPU time to the end of the first run, set-up included: reading, hop counts, controllers.
    cpu_seconds: Option<f64>,
    /// What the results depend on.
    inputs: Value,
    /// `l` of each class of ports, where it is made of hop counts of the routing (SPEC 7.2).
    factors: Vec<(String, f64)>,
    /// What ports may use of it.
    budget: Option<Budget>,
    found: Found,
    /// What of the links sleeps as a whole.
    sleeper: Sleeper,
    /// With links that never sleep.
    baseline: Option<Found>,
    /// What power saving changes; nothing without `baseline`.
    against: Against,
    /// What it could have saved.
    limits: Option<Limits>,
    /// What became of the bound; none of links that cannot sleep.
    verdict: Option<Verdict>,
    /// Of links that never sleep.
    idle: Option<IdleTable>,
    loops: Option<Loops>,
}

fn ns(ps: u64) -> f64 {
    ps as f64 / 1e3
}

fn offered(of: &Measured) -> u64 {
    of.offered_bytes
}

fn accepted(of: &Measured) -> u64 {
    of.delivered_bytes
}

/// The name of a file and its content, if it is to be there.
type OptionalFile = (&'static str, Option<Vec<u8>>);

/// So many samples stand in the JSON; the file of the series has any number.
const SAMPLES_IN_JSON: usize = 1000;

/// The samples of a run, which are in this file if any was written.
fn series_json(series: &Columns, sample_ps: Option<u64>, file: Option<&str>) -> Value {
    let mut json = json!({
        "sample_ns": sample_ps.map(ns),
        "samples": series.len(),
        "file": file,
    });
    if series.len() <= SAMPLES_IN_JSON {
        for column in &series.columns {
            let values = column.values.iter();
            json[&column.name] = match column.whole {
                true => values
                    .map(|value| value.map(|count| count as u64))
                    .collect(),
                false => values.copied().collect(),
            };
        }
    }
    json
}

fn run_json(found: &Found, workload: Option<&Workload>) -> Value {
    let summary = &found.run.summary;
    let measured = &found.measured;
    let states: serde_json::Map<_, _> = measured
        .parts()
        .map(|(state, part)| (state.name().to_owned(), part.into()))
        .into_iter()
        .collect();
    let jobs = workload.map(|workload| {
        let jobs = workload.jobs.iter().zip(&summary.jobs_ps);
        let job = |(job, ps): (&Job, &Option<u64>)| {
            json!({
                "name": job.name,
                "ranks": job.program.ranks(),
                "time_ns": ps.map(ns),
            })
        };
        jobs.map(job).collect::<Vec<_>>()
    });
    json!({
        "ended": measured.ended,
        "time_ns": measured.time_ns,
        "job_time_mean_ns": measured.job_time_mean_ns,
        "messages": summary.messages,
        "packets": summary.packets,
        "packets_in_flight": summary.packets_in_flight,
        "sizes_differ": summary.sizes_differ,
        "packet_hops": summary.packet_hops,
        "delivered_bytes": summary.delivered_bytes,
        "offered_messages": measured.offered_messages,
        "offered_bytes": measured.offered_bytes,
        "backlog_messages": measured.backlog_messages(),
        "backlog_bytes": measured.backlog_bytes(),
        "latency_ns": {
            "packets": measured.latency_packets,
            "mean": measured.latency_mean_ns,
            "p50": measured.latency_p50_ns,
            "p99": measured.latency_p99_ns,
            "max": measured.latency_max_ns,
        },
        "energy_j": found.energy.joules(),
        "models": found.models,
        "ports": {
            "hits": measured.hits,
            "misses": measured.misses,
            "transitions": measured.transitions,
            "wake_ups": measured.wake_ups,
            "sleep_waits": measured.sleep_waits,
            "sleep_delay_ns": measured.sleep_delay_ns,
            "pauses": measured.pauses,
            "pauses_asleep": measured.pauses_asleep,
            "utilisation": measured.link_utilisation,
            "states": states,
        },
        "operations": summary.operations,
        "operations_finished": summary.operations_finished,
        "events": summary.events,
        "cpu_seconds": found.run.cpu_seconds,
        "jobs": jobs,
    })
}

impl Report<'_> {
    /// What was found; `written`: files are written as well.
    fn json(&self, written: bool) -> Value {
        let topology: &dyn Topology = &*self.scenario.topology;
        let mut json = json!({});
        if let Some(verdict) = &self.verdict {
            json["bound"] = json!(verdict);
            json["bound"]["sentence"] = verdict.sentence().into();
        }
        if let (Value::Object(all), Value::Object(run)) =
            (&mut json, run_json(&self.found, self.workload))
        {
            all.extend(run);
        }
        let series = |found: &Found, file: &'static str| {
            let series = found.series.as_ref()?;
            let file = written.then_some(file);
            Some(series_json(series, self.scenario.sample_ps, file))
        };
        if let Some(series) = series(&self.found, SERIES) {
            json["series"] = series;
        }
        json["offered_load"] = self.load(&self.found, offered).into();
        json["accepted_load"] = self.load(&self.found, accepted).into();
        json["cpu_seconds"] = self.cpu_seconds.into();
        json["inputs"] = self.inputs.clone();
        json["threads"] = self.threads.into();
        json["peak_bytes"] = usage::peak_bytes().into();
        json["scenario"] = self.scenario.path.display().to_string().into();
        json["nodes"] = topology.nodes().into();
        json["switches"] = topology.switches().into();
        json["links"] = topology.links().into();
        json["sleeps"] = json!(self.sleeper);
        if !self.factors.is_empty() {
            let factors = self.factors.iter().cloned();
            json["degradation_factors"] = json!(factors.collect::<BTreeMap<_, _>>());
        }
        if let Some(loops) = &self.loops {
            json["rtl"] = loops.json();
        }
        if let Some(idle) = &self.idle {
            json["idle_periods"] = json!(idle);
        }
        if let Some(baseline) = &self.baseline {
            json["always_on"] = run_json(baseline, self.workload);
            json["always_on"]["offered_load"] = self.load(baseline, offered).into();
            json["always_on"]["accepted_load"] = self.load(baseline, accepted).into();
            if let Some(series) = series(baseline, SERIES_ALWAYS_ON) {
                json["always_on"]["series"] = series;
            }
            json["against_always_on_percent"] = json!(self
                .differences()
                .into_iter()
                .map(|(name, percent)| (name.to_owned(), percent))
                .collect::<std::collections::BTreeMap<_, _>>());
        }
        if let Some(limits) = &self.limits {
            let score = Potential::new(limits, &self.against);
            json["ideal"] = json!(limits.ideal);
            json["offline_optimum"] = json!({
                "at_bound": limits.at_bound,
                "at_own_wake_ups": limits.at_own_wake_ups,
            });
            json["score"] = json!({
                "at_bound": score.score_at_bound,
                "at_own_wake_ups": score.score_at_own_wake_ups,
            });
        }
        json
    }

    /// Payload as a part of what the links of all nodes carry in the time.
    fn load(&self, found: &Found, bytes: fn(&Measured) -> u64) -> f64 {
        let nodes = self.scenario.topology.nodes() as f64;
        let time = found.run.summary.time_ps.max(1) as f64;
        let carried = nodes * time / self.scenario.switch.byte_ps as f64;
        bytes(&found.measured) as f64 / carried
    }

    /// What power saving changes: how much larger each figure is, in percent, where that says
    /// something.
    fn differences(&self) -> Vec<(&'static str, Option<f64>)> {
        if self.baseline.is_none() {
            return Vec::new();
        }
        let against = &self.against;
        let more = |saved: Option<f64>| saved.map(|percent| 0.0 - percent);
        vec![
            ("time", against.time_overhead_percent),
            ("job_time_mean", against.job_time_mean_overhead_percent),
            ("latency_mean", against.latency_mean_overhead_percent),
            ("latency_p50", against.latency_p50_overhead_percent),
            ("latency_p99", against.latency_p99_overhead_percent),
            ("latency_max", against.latency_max_overhead_percent),
            ("energy_links", more(against.energy_links_saved_percent)),
            (
                "energy_switches",
                more(against.energy_switches_saved_percent),
            ),
            ("energy_nodes", more(against.energy_nodes_saved_percent)),
            ("energy_network", more(against.energy_network_saved_percent)),
            ("energy_total", more(against.energy_total_saved_percent)),
            ("powar_e_net", more(against.powar_e_net_saved_percent)),
            (
                "powar_e_cluster",
                more(against.powar_e_cluster_saved_percent),
            ),
            (
                "georgakoudis_average_power",
                more(against.georgakoudis_average_power_saved_percent),
            ),
            (
                "zahn_energy_per_data",
                more(against.zahn_energy_per_data_saved_percent),
            ),
        ]
    }

    /// The files of the samples, if there are any.
    fn series(&self) -> Result<[OptionalFile; 2]> {
        let file = |found: Option<&Found>| {
            let series = found.and_then(|found| found.series.as_ref());
            series.map(Columns::to_parquet).transpose()
        };
        Ok([
            (SERIES, file(Some(&self.found))?),
            (SERIES_ALWAYS_ON, file(self.baseline.as_ref())?),
        ])
    }

    /// A line for each port, as CSV.
    fn ports(&self) -> Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut header = vec!["port".to_owned()];
        header.extend(
            PowerState::ALL
                .iter()
                .map(|state| format!("{}_ns", state.name())),
        );
        let rest = [
            "hits",
            "misses",
            "transitions",
            "packets",
            "bytes",
            "pauses",
        ];
        header.extend(rest.iter().map(|name| (*name).to_owned()));
        let last = [
            "energy_j",
            "wake_ups",
            "sleep_waits",
            "sleep_delay_ns",
            "budget_ns",
        ];
        header.extend(last.iter().map(|name| (*name).to_owned()));
        writer.write_record(&header)?;
        let summary = &self.found.run.summary;
        let topology: &dyn Topology = &*self.scenario.topology;
        let budgets = self.budget.as_ref();
        let budgets = budgets.map(|budget| budget.waits_ps(summary.duration_ps()));
        let ports = summary.ports.iter().zip(&self.found.energy.ports);
        for (number, (port, energy)) in ports.enumerate() {
            if !port.cabled {
                continue;
            }
            let states = port.cycles.states.iter();
            let mut record = vec![port.name.clone()];
            record.extend(states.map(|&cycles| ns(cycles * summary.clock_ps).to_string()));
            // Links that never sleep have no hits.
            let hits = self.found.measured.hits.map(|_| port.cycles.hits);
            record.push(hits.map_or(String::new(), |hits| hits.to_string()));
            let counts = [
                port.cycles.misses,
                port.cycles.transitions,
                port.packets_sent,
                port.bytes_sent,
                port.pauses,
            ];
            record.extend(counts.iter().map(u64::to_string));
            record.push(energy.joules().to_string());
            record.push(port.cycles.wake_ups.to_string());
            record.push(port.sleep_waits.to_string());
            record.push(ns(port.sleep_delay_ps).to_string());
            let budget = budgets.as_ref().map(|all| all[topology.class(number)]);
            record.push(budget.map_or(String::new(), |ps| (ps / 1e3).to_string()));
            writer.write_record(&record)?;
        }
        Ok(writer.into_inner()?)
    }

    /// A line for each port and length of idle periods, as CSV.
    fn idle_periods(&self) -> Result<Option<Vec<u8>>> {
        if self.idle.is_none() {
            return Ok(None);
        }
        let run = self.baseline.as_ref().unwrap_or(&self.found);
        let summary = &run.run.summary;
        let mut writer = csv::WriterBuilder::new()
            .has_headers(false)
            .from_writer(Vec::new());
        writer.write_record(["port", "from_ns", "to_ns", "periods", "idle_ns"])?;
        for port in &summary.ports {
            let Some(idle) = &port.idle else { continue };
            for bin in IdleTable::new(idle, summary.clock_ps).bins {
                if bin.periods > 0 {
                    writer.serialize((&port.name, bin))?;
                }
            }
        }
        Ok(Some(writer.into_inner()?))
    }
}
