//! Many runs of one scenario, each with another setting of the ports (PerfBound 4.3), that go on
//! where they stopped.
//!
//! A result is a file of its own, written whole as soon as its run has ended. It carries the
//! digest of everything that it depends on; a folder never mixes results of different inputs.

mod contest;
mod listed;
mod matrix;
mod table;
mod vary;
mod words;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use contest::{contests, trades, Contest, Spread, Trade, LIMITS};
pub use matrix::{json_schema, Experiment, Sweep, TABLES};
#[cfg(test)]
pub(crate) use table::tests::row as plausible_row;
pub use table::{from_parquet, to_parquet, Row, Setting, TableError};
pub use words::{percent_label, time_label};

use crate::config::plan::{HistogramKind, Policy, Sleep};
use crate::config::{Config, Preset};
use crate::energy::limits::AlwaysOn;
use crate::experiment::{self, Against, Measured, Measurement, Potential, Verdict};
use crate::files::{self, FileError, FolderLock};
use crate::input::{self, InputError};
use crate::network::event::idle::IdleTable;
use crate::network::event::Replacements;
use crate::network::scenario::{
    self, Job, Jobs, Keys, Mapping, Origin, Power, Scenario, Traffic, Variation,
};
use crate::network::topology::Topology;
use crate::network::{self, trace, Progress as RunProgress, Workload};
use crate::usage;

/// In the folder of a sweep: the table of all results.
pub const RESULTS: &str = "results.parquet";
/// What the results depend on.
pub const DESCRIPTION: &str = "sweep.json";
/// The idle periods of links that never sleep, by length ([`IdleTable`]).
pub const IDLE_PERIODS: &str = "idle-periods.json";
/// A result each.
const EXPERIMENTS: &str = "experiments";

/// A sweep cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The sweep file, or the scenario.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A result or the description is not what a sweep writes.
    #[error(
        "{path}: {source}; it is damaged, or no file of a sweep: remove it and run the \
             sweep again, which makes it anew, or name another folder"
    )]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The folder's results are of other inputs.
    #[error(
        "{folder}: its results were computed with {what}; name another folder with -o, or remove \
         this one to compute everything again", folder = folder.display()
    )]
    OtherInputs {
        /// The folder.
        folder: PathBuf,
        /// What is not the same.
        what: String,
    },
    /// A file is not of the sweep that the folder describes.
    #[error("{0}: not the results of the sweep that {DESCRIPTION} beside it describes")]
    OfAnotherSweep(PathBuf),
    /// The table of results cannot be read.
    #[error(transparent)]
    Rows(#[from] TableError),
    /// No run without power saving is done, so that there is nothing to compare with.
    #[error(
        "{0}: the sweep has not come to its first result, a run without power saving; go on with \
         it first"
    )]
    NothingDone(PathBuf),
    /// An experiment is not possible.
    #[error("{experiment}: {source}")]
    Experiment {
        /// Its name.
        experiment: String,
        /// Why.
        source: Box<ExperimentError>,
    },
    /// The traffic cannot be used.
    #[error(transparent)]
    Network(#[from] network::Error),
    /// The table cannot be made.
    #[error("{RESULTS}: {0}")]
    Table(#[from] parquet::errors::ParquetError),
}

/// Why an experiment is not possible.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The base does not go with the setting.
    #[error(transparent)]
    Config(#[from] InputError),
    /// The setting does not go with the base, whose own text is right.
    #[error("{0}")]
    Setting(String),
    /// It cannot be run.
    #[error(transparent)]
    Run(#[from] experiment::Error),
}

impl ExperimentError {
    fn of(self, experiment: String) -> Error {
        Error::Experiment {
            experiment,
            source: Box::new(self),
        }
    }
}

/// What all results of a folder depend on, by digest (SHA-256); kept beside them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The version that computes them.
    pub linkdoze: String,
    /// Its code that can change a result (`build.rs`); empty of results from before it counted.
    #[serde(default)]
    pub sources_sha256: String,
    /// The sweep file as it was named.
    pub sweep: PathBuf,
    /// The scenario's file.
    pub scenario: PathBuf,
    /// The text of the scenario.
    pub scenario_sha256: String,
    /// The network in a few words.
    pub network: String,
    /// The experiments, by name.
    #[serde(default)]
    pub experiments: Vec<String>,
    /// Each trace's file and the program that was read from it.
    pub traces: Vec<(PathBuf, String)>,
    /// Each skeleton in a few words.
    #[serde(default)]
    pub skeletons: Vec<String>,
    /// Each trace's file or folder, and the bytes of all files that were read for it
    /// ([`trace::sha256`]); a trace that is a pipe is not there.
    #[serde(default)]
    pub trace_files_sha256: Vec<(PathBuf, String)>,
    /// The base of the port's configuration, by sleep state.
    pub ports_sha256: BTreeMap<String, String>,
}

impl Description {
    /// What differs from `other`, for a message; names of files do not count.
    fn difference(&self, other: &Description) -> Option<String> {
        let contents = |of: &Description| -> Vec<String> {
            of.traces.iter().map(|(_, digest)| digest.clone()).collect()
        };
        if self.linkdoze != other.linkdoze {
            return Some(format!(
                "version {} (this is {})",
                self.linkdoze, other.linkdoze
            ));
        }
        if self.sources_sha256 != other.sources_sha256 {
            return Some(format!(
                "other code of version {} that results depend on",
                self.linkdoze
            ));
        }
        if self.scenario_sha256 != other.scenario_sha256 {
            return Some(format!(
                "another text of the scenario {}",
                other.scenario.display()
            ));
        }
        if contents(self) != contents(other) {
            return Some("other traces".into());
        }
        // States may be added and left out.
        let same = |(state, digest): (&String, &String)| {
            other.ports_sha256.get(state).is_none_or(|of| of == digest)
        };
        let changed = !self.ports_sha256.iter().all(same);
        changed.then(|| "another port configuration".into())
    }

    /// The digest of all inputs of a run.
    fn digest(&self, point: &Point) -> String {
        let mut all = Sha256::new();
        let traces = self.traces.iter().map(|(_, digest)| digest);
        let program = [&self.linkdoze, &self.sources_sha256, &self.scenario_sha256];
        for part in program.into_iter().chain(traces) {
            all.update(part);
            all.update("\n");
        }
        // A name may leave out what makes no file name.
        all.update(format!("{:?}\n", point.varied.variation));
        all.update(point.config.canonical());
        hex(&all.finalize())
    }
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A sweep, with everything read that it needs.
pub struct Prepared {
    /// The files that were read.
    inputs: Vec<PathBuf>,
    description: Description,
    variations: Vec<Varied>,
}

/// The settings of the ports, and the configuration that each makes of a base.
type Experiments = Vec<(Experiment, Config)>;

/// The scenario with other values.
struct Varied {
    variation: Variation,
    /// The number of the variation with whose run without power saving it is compared.
    against: usize,
    scenario: Scenario,
    workload: Option<Workload>,
    experiments: Arc<Experiments>,
    /// Its run without power saving, once something has asked for it.
    base: Mutex<Option<Arc<Base>>>,
}

/// A run without power saving.
struct Base {
    measured: Measured,
    idle_periods: Option<IdleTable>,
    /// What the limits of the others depend on: too much to be kept in the folder.
    limits: Option<AlwaysOn>,
}

/// A run of the sweep.
struct Point<'a> {
    /// The number of its variation.
    number: usize,
    varied: &'a Varied,
    /// The variation with whose run without power saving it is compared.
    against: &'a Variation,
    experiment: &'a Experiment,
    config: &'a Config,
    /// That of the run without power saving.
    base_config: &'a Config,
}

impl Prepared {
    /// What the ports' configurations cannot do ([`Config::notes`]), each line once.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        // Variations with the same ports share them.
        let mut all: Vec<_> = self.variations.iter().map(|of| &of.experiments).collect();
        all.dedup_by(|one, other| Arc::ptr_eq(one, other));
        let all = all.into_iter().flat_map(|of| &**of);
        for note in all.flat_map(|(_, config)| config.notes()) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }
}

impl Point<'_> {
    /// The values that are not the scenario's own, as part of a name; empty where all are.
    fn variation_name(&self) -> String {
        vary::name(&self.varied.variation)
    }

    fn name(&self) -> String {
        self.experiment.name() + &self.variation_name()
    }

    fn setting(&self) -> Setting {
        Setting::new(self.experiment, &self.varied.variation, self.against)
    }
}

/// A network in a few words.
fn network(topology: &dyn Topology) -> String {
    let parts = [
        counted(topology.nodes(), "node", "nodes"),
        counted(topology.switches(), "switch", "switches"),
        counted(topology.links(), "link", "links"),
    ];
    parts.join(", ")
}

/// The jobs of a scenario; none of a pattern.
fn jobs(traffic: &Traffic) -> &[Job] {
    match traffic {
        Traffic::Jobs(Jobs { jobs, .. }) => jobs,
        Traffic::Pattern(_) => &[],
    }
}

/// Whether a scenario runs the same programs as these jobs, wherever their ranks are.
fn same_programs(traffic: &Traffic, all: &Jobs) -> bool {
    let program = |job: &Job| (job.origin.clone(), job.cpu_speed, job.copies);
    let others = all.jobs.iter().map(program);
    jobs(traffic).iter().map(program).eq(others)
}

/// A skeleton in a few words.
fn skeleton(job: &Job) -> Option<String> {
    let Origin::Skeleton(parameters) = &job.origin else {
        return None;
    };
    let ranks = counted(parameters.ranks as usize, "rank", "ranks");
    let steps = counted(parameters.steps as usize, "step", "steps");
    Some(format!("{}, {ranks}, {steps}", parameters.name()))
}

/// Whether anything of a run of the scenario is drawn.
fn draws(scenario: &Scenario) -> bool {
    match &scenario.traffic {
        Traffic::Pattern(_) => true,
        Traffic::Jobs(all) if all.drawn => true,
        Traffic::Jobs(all) => all.jobs.iter().any(|job| {
            let jitters = matches!(&job.origin, Origin::Skeleton(of) if of.jitter() > 0.0);
            jitters || job.mapping == Mapping::Random
        }),
    }
}

/// The idle periods as they lie in the folder.
#[derive(Serialize, Deserialize)]
struct StoredIdle {
    /// Digest of the description that they belong to.
    #[serde(default)]
    sweep_sha256: String,
    /// The experiment that they are of.
    #[serde(default)]
    experiment: String,
    #[serde(flatten)]
    table: IdleTable,
}

/// A result as it lies in the folder.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// Digest of what it depends on.
    inputs_sha256: String,
    setting: Setting,
    measured: Measured,
    /// What could have been saved.
    potential: Potential,
    /// Of the run without power saving.
    #[serde(skip_serializing_if = "Option::is_none")]
    idle_periods: Option<IdleTable>,
}

/// How far a sweep has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Experiments finished.
    pub done: usize,
    /// Experiments of the sweep.
    pub total: usize,
    /// Experiments finished, counting the running ones by what they have done.
    pub work: f64,
}

impl Prepared {
    /// Reads a sweep file and all that it names.
    ///
    /// # Errors
    /// If something cannot be read or does not go together.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let sweep = Sweep::load(path)?;
        let mut inputs = vec![path.to_owned()];
        let text = input::read_text(&sweep.scenario)?;
        let scenario = Scenario::of_text(&text, &sweep.scenario)?;
        let scenarios = varied(&sweep, path, &text)?;
        let mut ports = Ports::new(&sweep, path);
        let mut experiments = Vec::new();
        for (number, scenario) in scenarios.iter().enumerate() {
            experiments.push(ports.experiments(number, &scenario.power)?);
        }
        // The base that the scenario itself has, by state.
        let mut bases = BTreeMap::new();
        for state in (0..scenarios.len()).flat_map(|number| states(&sweep, number)) {
            if !bases.contains_key(state.name()) {
                let base = base(&scenario.power, state)?;
                bases.insert(state.name().to_owned(), hex(&Sha256::digest(base)));
            }
        }
        let (mut traces, mut skeletons) = (Vec::new(), Vec::new());
        let (mut networks, mut trace_files_sha256) = (Vec::new(), Vec::new());
        let mut variations: Vec<Varied> = Vec::new();
        let of_each = scenarios.into_iter().zip(experiments);
        for (number, (scenario, experiments)) in of_each.enumerate() {
            let network = network(&*scenario.topology);
            if !networks.contains(&network) {
                networks.push(network);
            }
            for job in jobs(&scenario.traffic) {
                match &job.origin {
                    Origin::Trace(file) if traces.iter().all(|(there, _)| there != file) => {
                        traces.push((file.clone(), trace_digest(file)?));
                        let digest = trace::sha256(file).map_err(network::Error::from)?;
                        trace_files_sha256.extend(digest.map(|digest| (file.clone(), digest)));
                    }
                    Origin::Trace(_) => {}
                    // The text of the scenario has all that a skeleton is made of.
                    Origin::Skeleton(_) => {
                        skeletons.extend(skeleton(job).filter(|it| !skeletons.contains(it)));
                    }
                }
            }
            for file in network::input_files(&scenario)? {
                if !inputs.contains(&file) {
                    inputs.push(file);
                }
            }
            let workload = match &scenario.traffic {
                Traffic::Pattern(_) => None,
                Traffic::Jobs(all) => {
                    // Traces are large, and read once.
                    let same = |there: &&Varied| same_programs(&there.scenario.traffic, all);
                    let there = variations.iter().find(same);
                    match there.and_then(|there| there.workload.as_ref()) {
                        Some(workload) => Some(workload.placed(all, &scenario)?),
                        None => Workload::of(&scenario)?,
                    }
                }
            };
            variations.push(Varied {
                variation: sweep.variations[number].clone(),
                against: sweep.against(number),
                scenario,
                workload,
                experiments,
                base: Mutex::default(),
            });
        }
        let description = Description {
            linkdoze: env!("CARGO_PKG_VERSION").into(),
            sources_sha256: env!("LINKDOZE_SOURCES").into(),
            sweep: path.into(),
            scenario: sweep.scenario.clone(),
            scenario_sha256: hex(&Sha256::digest(&text)),
            experiments: sweep.names().collect(),
            network: networks.join("; "),
            traces,
            skeletons,
            trace_files_sha256,
            ports_sha256: bases,
        };
        Ok(Self {
            inputs,
            description,
            variations,
        })
    }

    /// All runs: those of the first variation, then those of the next. Each variation begins with
    /// the run without power saving.
    fn points(&self) -> Vec<Point<'_>> {
        let variations = self.variations.iter().enumerate();
        let points = variations.flat_map(|(number, varied)| {
            let experiments = varied.experiments.iter();
            experiments.map(move |(experiment, config)| Point {
                number,
                varied,
                against: &self.variations[varied.against].variation,
                experiment,
                config,
                base_config: &varied.experiments[0].1,
            })
        });
        points.collect()
    }

    /// Runs what has no result in `folder` yet, up to `threads` experiments at a time, and
    /// writes the table of all results.
    ///
    /// # Errors
    /// If the folder is in use, or holds results of other inputs; if a run fails, or a file
    /// cannot be written. Results that are there by then stay.
    pub fn run(
        &self,
        folder: &Path,
        threads: usize,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Vec<Row>, Error> {
        let points = self.points();
        let tables = [RESULTS, DESCRIPTION, IDLE_PERIODS].map(|name| folder.join(name));
        let results = points
            .iter()
            .map(|point| result_path(folder, &point.name()));
        let outputs = results.chain(tables);
        files::refuse_to_replace(outputs, &self.inputs)?;
        let _lock = lock(folder)?;
        let description = self.claim(folder)?;
        let mut results = Vec::new();
        for point in &points {
            results.push(self.stored(folder, point)?);
        }
        let missing: Vec<usize> = (0..results.len())
            .filter(|&place| results[place].is_none())
            .collect();
        let parts = Parts {
            parts: Mutex::new(vec![0.0; missing.len()]),
            before: results.len() - missing.len(),
            progress,
        };
        parts.set(None);
        let variation = |place: usize| points[place].number;
        let left: Vec<AtomicUsize> = self.variations.iter().map(|_| 0.into()).collect();
        for &place in &missing {
            left[variation(place)].fetch_add(1, Ordering::Relaxed);
        }
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let found = Mutex::new((results, None));
        std::thread::scope(|scope| {
            for _ in 0..threads.min(missing.len()) {
                scope.spawn(|| loop {
                    let turn = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&place) = missing.get(turn) else {
                        return;
                    };
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let outcome = self.one(folder, &points[place], &stop, &|part| {
                        parts.set(Some((turn, part)));
                    });
                    // Nobody else needs the run without power saving, which is large.
                    if left[variation(place)].fetch_sub(1, Ordering::Relaxed) == 1 {
                        let base = points[place].varied.base.lock();
                        *base.unwrap_or_else(PoisonError::into_inner) = None;
                    }
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    match outcome {
                        Ok(stored) => found.0[place] = stored,
                        Err(error) => {
                            stop.store(true, Ordering::Relaxed);
                            found.1.get_or_insert(error);
                        }
                    }
                });
            }
        });
        let (results, error) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = error {
            return Err(error);
        }
        let results: Vec<Stored> = results.into_iter().flatten().collect();
        let mut rows = Vec::new();
        let bases = Bases::of(points.iter().map(Point::setting).zip(&results));
        for (point, stored) in points.iter().zip(&results) {
            let setting = point.setting();
            let against = bases.against(&setting, stored);
            rows.push(stored.row(setting, against));
        }
        let table = to_parquet(&rows, &description)?;
        let idle = results[0].idle_periods.clone().map(|table| {
            json(&StoredIdle {
                sweep_sha256: description,
                experiment: points[0].name(),
                table,
            })
        });
        let mut files = vec![(folder.join(RESULTS), table.as_slice())];
        files.extend(
            idle.iter()
                .map(|idle| (folder.join(IDLE_PERIODS), idle.as_slice())),
        );
        files::write_together(&files)?;
        Ok(rows)
    }

    /// Makes sure that the folder holds results of the same inputs only; returns the digest of
    /// the description that is there now.
    fn claim(&self, folder: &Path) -> Result<String, Error> {
        let path = folder.join(DESCRIPTION);
        let mut description = self.description.clone();
        if path.exists() {
            let there: Description = read_json(&path)?;
            if let Some(what) = there.difference(&self.description) {
                return Err(Error::OtherInputs {
                    folder: folder.into(),
                    what,
                });
            }
            // Results of states that this sweep leaves out may lie there still.
            description.ports_sha256.extend(there.ports_sha256);
        }
        let text = json(&description);
        files::write_whole(&path, &text)?;
        Ok(hex(&Sha256::digest(&text)))
    }

    /// The result that lies in the folder.
    fn stored(&self, folder: &Path, point: &Point) -> Result<Option<Stored>, Error> {
        let path = result_path(folder, &point.name());
        if !path.exists() {
            return Ok(None);
        }
        let stored: Stored = read_json(&path)?;
        if stored.inputs_sha256 != self.description.digest(point) {
            return Err(Error::OtherInputs {
                folder: folder.into(),
                what: format!("other inputs for {}", point.name()),
            });
        }
        // A result from before idle periods were kept.
        let lacks = *point.experiment == Experiment::AlwaysOn && stored.idle_periods.is_none();
        Ok(Some(stored).filter(|_| !lacks))
    }

    /// Runs an experiment and writes its result; `None` if it was stopped.
    fn one(
        &self,
        folder: &Path,
        point: &Point,
        stop: &AtomicBool,
        part: &(dyn Fn(f64) + Sync),
    ) -> Result<Option<Stored>, Error> {
        let measured = point
            .measure(stop, part)
            .map_err(|error| error.of(point.name()))?;
        let Some((measured, potential, idle_periods)) =
            measured.filter(|_| !stop.load(Ordering::Relaxed))
        else {
            return Ok(None);
        };
        let stored = Stored {
            inputs_sha256: self.description.digest(point),
            setting: point.setting(),
            measured,
            potential,
            idle_periods,
        };
        files::write_whole(&result_path(folder, &point.name()), &json(&stored))?;
        part(1.0);
        Ok(Some(stored))
    }
}

/// What a run measured, what it could have saved, and the idle periods of links that never sleep.
type Found = (Measured, Potential, Option<IdleTable>);

impl Point<'_> {
    /// Runs it; `None` if it was stopped.
    fn measure(
        &self,
        stop: &AtomicBool,
        part: &(dyn Fn(f64) + Sync),
    ) -> Result<Option<Found>, ExperimentError> {
        if *self.experiment == Experiment::AlwaysOn {
            let base = self.base(stop, part)?;
            return Ok(base.map(|base| {
                let idle_periods = base.idle_periods.clone();
                (base.measured.clone(), Potential::default(), idle_periods)
            }));
        }
        // Whoever comes first runs it, whether its result is in the folder or not.
        let Some(base) = self.base(stop, &|_| ())? else {
            return Ok(None);
        };
        let before = usage::thread_cpu_seconds();
        let Varied {
            scenario, workload, ..
        } = self.varied;
        let experiment =
            experiment::Experiment::new(scenario, workload.as_ref(), Some(self.config))?;
        let mut watch = self.watch(stop, part);
        let summary = experiment.run(1, Replacements::new(), &mut watch)?;
        let run = experiment.measure(summary, cpu_since(before));
        let limits = base.limits.as_ref();
        let compared = experiment.compare(&run, Some(&base.measured), limits);
        Ok(Some((run.measured, compared.potential, None)))
    }

    /// The run without power saving; `None` if it was stopped.
    fn base(
        &self,
        stop: &AtomicBool,
        part: &(dyn Fn(f64) + Sync),
    ) -> Result<Option<Arc<Base>>, ExperimentError> {
        // Others who need it wait for it.
        let base = self.varied.base.lock();
        let mut base = base.unwrap_or_else(PoisonError::into_inner);
        if base.is_none() {
            let before = usage::thread_cpu_seconds();
            let Varied {
                scenario, workload, ..
            } = self.varied;
            let experiment = experiment::Experiment::without_controllers(
                scenario,
                workload.as_ref(),
                Some(self.base_config),
            )?;
            let summary = experiment.run_always_on(1, true, &mut self.watch(stop, part))?;
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let run = experiment.measure_always_on(summary, cpu_since(before));
            let (idle_periods, limits) = (IdleTable::of(&run.summary), experiment.always_on(&run));
            let Measurement { measured, .. } = run;
            *base = Some(Arc::new(Base {
                measured,
                idle_periods,
                limits,
            }));
        }
        Ok(base.clone())
    }

    /// Tells `part` how far a run has come, and ends it when it is to `stop`.
    fn watch<'w>(
        &self,
        stop: &'w AtomicBool,
        part: &'w (dyn Fn(f64) + Sync),
    ) -> impl FnMut(&RunProgress) -> ControlFlow<()> + Send + 'w {
        let duration = self.varied.scenario.duration_ps;
        move |now| {
            let operations = now.operations_finished as f64 / now.operations.max(1) as f64;
            let time = duration.map_or(0.0, |all| now.time_ps as f64 / all as f64);
            part(operations.max(time).min(1.0));
            match stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }
    }
}

/// CPU time of this thread since then, in s.
fn cpu_since(before: Option<f64>) -> Option<f64> {
    let now = usage::thread_cpu_seconds().zip(before);
    now.map(|(now, then)| now - then)
}

/// What the running experiments have done.
struct Parts<'a> {
    parts: Mutex<Vec<f64>>,
    /// Experiments whose result was there.
    before: usize,
    progress: &'a (dyn Fn(Progress) + Sync),
}

impl Parts<'_> {
    /// The experiment whose turn it is has come to `part`.
    fn set(&self, turn: Option<(usize, f64)>) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((turn, part)) = turn {
            parts[turn] = part;
        }
        let finished = parts.iter().filter(|&&part| part >= 1.0).count();
        (self.progress)(Progress {
            done: self.before + finished,
            total: self.before + parts.len(),
            work: self.before as f64 + parts.iter().sum::<f64>(),
        });
    }
}

/// The scenario with each variation's values.
fn varied(sweep: &Sweep, path: &Path, text: &str) -> Result<Vec<Scenario>, Error> {
    let mut scenarios = Vec::new();
    for (place, variation) in sweep.variations.iter().enumerate() {
        let scenario = Scenario::parse_varied(text, variation, &sweep.scenario);
        // The scenario's own text is right: the user's text of what is wrong is the sweep's.
        let mut scenario = scenario.map_err(|error| match error {
            InputError::Invalid { diagnostics, .. } => {
                let faults = diagnostics.into_iter().map(|fault| fault.message);
                let faults: Vec<String> = faults.collect();
                sweep.variation_fault(path, place, false, faults.join("; "))
            }
            error => error,
        })?;
        // Nothing here keeps samples.
        scenario.sample_ps = None;
        scenarios.push(scenario);
    }
    if sweep.variations[0].seed.is_some() && !scenarios.iter().any(draws) {
        let problem = "seed: nothing of this scenario is drawn, so all seeds give the same; only \
                       patterns of traffic, random jobs and jobs with mapping = \"random\" depend on it";
        let fault = sweep.variation_fault(path, 0, true, problem.into());
        return Err(fault.into());
    }
    Ok(scenarios)
}

/// The states whose base the experiments of a variation, by its number, take; some several times.
fn states(sweep: &Sweep, variation: usize) -> impl Iterator<Item = Sleep> + '_ {
    sweep.experiments(variation).map(base_state)
}

/// The state whose base an experiment takes. Without power saving it makes no difference; it is
/// one and the same, so that the result stays good when the matrix changes.
fn base_state(experiment: &Experiment) -> Sleep {
    experiment.state().unwrap_or(Sleep::DeepSleep)
}

/// The port's configuration before the setting comes in: that of the scenario, or the preset
/// of the PerfBound paper's switch for the sleep state.
fn base(power: &Power, state: Sleep) -> Result<String, Error> {
    Ok(match power {
        Power::File(file) => input::read_text(file)?,
        Power::Inline(text) => text.clone(),
        Power::AlwaysOn => {
            let name = format!("bxiv3-{}", state.name());
            let preset = Preset::find(&name).expect("a preset for each state");
            preset.text.into()
        }
    })
}

/// The configurations of the ports of a sweep.
struct Ports<'a> {
    sweep: &'a Sweep,
    path: &'a Path,
    /// What was made of a scenario's power with some keys of its own, for a matrix of settings.
    made: Vec<((Power, Keys, usize), Arc<Experiments>)>,
}

impl<'a> Ports<'a> {
    /// Of the sweep in the file `path`.
    fn new(sweep: &'a Sweep, path: &'a Path) -> Self {
        let made = Vec::new();
        Ports { sweep, path, made }
    }

    /// Those of a variation, by its number, whose scenario has this power.
    fn experiments(&mut self, number: usize, power: &Power) -> Result<Arc<Experiments>, Error> {
        let variation = &self.sweep.variations[number];
        let keys = variation.of_ports();
        let of = (power.clone(), keys.clone(), self.sweep.matrix_of(number));
        if let Some((_, made)) = self.made.iter().find(|(there, _)| *there == of) {
            return Ok(made.clone());
        }
        let mut bases = BTreeMap::new();
        for state in states(self.sweep, number) {
            if bases.contains_key(state.name()) {
                continue;
            }
            let base =
                changed(power, &base(power, state)?, &keys).map_err(|error| match error {
                    ExperimentError::Setting(problem) => {
                        let fault = self
                            .sweep
                            .variation_fault(self.path, number, false, problem);
                        Error::Input(fault)
                    }
                    error => error.of(format!("always-on{}", vary::name(variation))),
                })?;
            bases.insert(state.name(), base);
        }
        let mut experiments = Vec::new();
        for (place, experiment) in self.sweep.experiments(number).enumerate() {
            let base = &bases[base_state(experiment).name()];
            let config = config(experiment, base, power, &keys).map_err(|error| match error {
                // The setting does not go with the base: the user's text of it is the sweep's.
                ExperimentError::Setting(problem) => {
                    let problem = format!("{}: {problem}", experiment.name());
                    Error::Input(self.sweep.fault(self.path, (number, place), problem))
                }
                error => error.of(experiment.name() + &vary::name(variation)),
            })?;
            experiments.push((*experiment, config));
        }
        let made = Arc::new(experiments);
        self.made.push((of, made.clone()));
        Ok(made)
    }
}

/// The base of the ports with some keys that a sweep varies.
fn changed(power: &Power, base: &str, keys: &Keys) -> Result<toml::Table, ExperimentError> {
    // Says what is wrong with the base by itself, with its own lines.
    let name = match power {
        Power::File(file) => file.display().to_string(),
        _ => "[power]".into(),
    };
    Config::parse(base, &name)?;
    let mut tables: toml::Table = base.parse().expect("a configuration is TOML");
    for (path, value) in keys {
        scenario::insert(&mut tables, path, value.clone());
    }
    if !keys.is_empty() {
        checked(&tables)?;
    }
    Ok(tables)
}

/// The configuration of an experiment's ports, made of their base, which has these keys of a
/// variation.
fn config(
    experiment: &Experiment,
    base: &toml::Table,
    power: &Power,
    keys: &Keys,
) -> Result<Config, ExperimentError> {
    const COUNTER_BITS: &str = "histogram.counter_bits";
    let mut tables = base.clone();
    let mut set = |path: &str, value: toml::Value| scenario::insert(&mut tables, path, value);
    set("port.policy", experiment.policy().name().into());
    if let Some(state) = experiment.state() {
        set("port.sleep", state.name().into());
    }
    match *experiment {
        Experiment::AlwaysOn => {}
        Experiment::Fixed { t_pdt_ns, .. } => set("port.t_pdt_ns", number(t_pdt_ns)),
        Experiment::Predicted {
            histogram, bound, ..
        } => {
            set("histogram.kind", histogram.name().into());
            set("perfbound.bound", bound.into());
            // PerfBound 3.2: it records every idle period; the preset's counters suit 250.
            let is_varied = keys.iter().any(|(path, _)| path == COUNTER_BITS);
            let is_preset = *power == Power::AlwaysOn && !is_varied;
            if histogram == HistogramKind::Regular && is_preset {
                set(COUNTER_BITS, 32.into());
            }
        }
    }
    checked(&tables)
}

/// A configuration that nobody wrote as a text: the messages name its keys, and no places.
fn checked(tables: &toml::Table) -> Result<Config, ExperimentError> {
    let text = toml::to_string(tables).expect("a table of TOML values is TOML");
    Config::parse(&text, "[power]").map_err(|error| match error {
        InputError::Invalid { diagnostics, .. } => {
            let faults: Vec<String> = diagnostics.into_iter().map(|fault| fault.message).collect();
            ExperimentError::Setting(faults.join("; "))
        }
        error => error.into(),
    })
}

/// A number as a person would write it.
fn number(value: f64) -> toml::Value {
    match value.fract() == 0.0 && value < 1e15 {
        true => toml::Value::Integer(value as i64),
        false => value.into(),
    }
}

/// Where the result of the experiment of this name lies.
fn result_path(folder: &Path, experiment: &str) -> PathBuf {
    folder.join(EXPERIMENTS).join(format!("{experiment}.json"))
}

/// What the experiments of a sweep did with their bounds ([`experiment::summary`]).
pub fn bounds_kept(rows: &[Row]) -> Option<String> {
    experiment::summary(rows.iter().map(|row| {
        let setting = &row.setting;
        (&*setting.experiment, setting.bound, row.bound_kept)
    }))
}

/// What a sweep leaves in its folder.
pub struct Results {
    /// What the results depend on.
    pub description: Description,
    /// A row for each experiment that is done.
    pub rows: Vec<Row>,
    /// The idle periods of links that never sleep, in the first experiment.
    pub idle: IdleTable,
}

impl Results {
    /// Reads a folder; of a sweep that has not ended, what is done.
    ///
    /// # Errors
    /// If it is not the folder of a sweep, its files are of several sweeps, or no run without
    /// power saving is done.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let (results, idle) = (folder.join(RESULTS), folder.join(IDLE_PERIODS));
        if !results.exists() && folder.join(DESCRIPTION).exists() {
            return Self::read_unfinished(folder);
        }
        let (rows, of_rows) = from_parquet(&results)?;
        let stored: StoredIdle = read_json(&idle)?;
        let path = folder.join(DESCRIPTION);
        let description = read_json(&path)?;
        let digest = hex(&Sha256::digest(files::read_bytes(&path)?));
        for (path, of) in [(results, of_rows), (idle, stored.sweep_sha256)] {
            if of != digest {
                return Err(Error::OfAnotherSweep(path));
            }
        }
        Ok(Self {
            description,
            rows,
            idle: stored.table,
        })
    }

    /// The results that are there, of a sweep that has not ended.
    fn read_unfinished(folder: &Path) -> Result<Self, Error> {
        let description: Description = read_json(&folder.join(DESCRIPTION))?;
        let mut all: Vec<Stored> = Vec::new();
        for experiment in &description.experiments {
            let path = result_path(folder, experiment);
            if path.exists() {
                all.push(read_json(&path)?);
            }
        }
        let idle = all.iter().find_map(|stored| stored.idle_periods.clone());
        let idle = idle.ok_or_else(|| Error::NothingDone(folder.into()))?;
        let bases = Bases::of(all.iter().map(|stored| (stored.setting.clone(), stored)));
        let rows = all.iter().map(|stored| {
            let against = bases.against(&stored.setting, stored);
            stored.row(stored.setting.clone(), against)
        });
        Ok(Self {
            rows: rows.collect(),
            description,
            idle,
        })
    }

    /// How many experiments of the sweep are not done.
    pub fn missing(&self) -> usize {
        // Descriptions of earlier versions do not list them.
        let all = self.description.experiments.len();
        all.saturating_sub(self.rows.len())
    }
}

/// The runs without power saving that are done, by name.
struct Bases<'s>(BTreeMap<String, &'s Stored>);

impl<'s> Bases<'s> {
    /// Those among results.
    fn of(results: impl Iterator<Item = (Setting, &'s Stored)>) -> Self {
        let bases = results.filter(|(setting, _)| setting.policy == Policy::AlwaysOn.name());
        Bases(
            bases
                .map(|(setting, stored)| (setting.experiment, stored))
                .collect(),
        )
    }

    /// What a run with this setting changed.
    fn against(&self, setting: &Setting, run: &Stored) -> Against {
        let base = setting.compared_with.as_ref();
        let base = base.and_then(|name| self.0.get(name));
        base.map_or_else(Against::default, |base| {
            Against::new(&run.measured, &base.measured)
        })
    }
}

impl Stored {
    /// As a row of the table.
    fn row(&self, setting: Setting, against: Against) -> Row {
        Row {
            bound_kept: Verdict::new(setting.bound, &self.measured, &against).kept,
            setting,
            measured: self.measured.clone(),
            against,
            potential: self.potential,
        }
    }
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let text = files::read_text(path)?;
    serde_json::from_str(&text).map_err(|source| Error::Content {
        path: path.into(),
        source,
    })
}

fn json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("figures have a JSON form");
    text.push(b'\n');
    text
}

/// Of the program that a trace holds, however many files it lies in.
fn trace_digest(path: &Path) -> Result<String, Error> {
    let program = trace::read(path).map_err(network::Error::from)?;
    let mut digest = Sha256::new();
    program.describe(|bytes| digest.update(bytes));
    Ok(hex(&digest.finalize()))
}

/// Takes the folder for this process, and removes what a process that was killed has left
/// half-written.
fn lock(folder: &Path) -> Result<FolderLock, FileError> {
    let lock = FolderLock::new(folder)?;
    files::remove_left_files(&folder.join(EXPERIMENTS));
    Ok(lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config_of(experiment: &Experiment, power: Power) -> Config {
        let base = base(&power, experiment.state().unwrap()).unwrap();
        let base = changed(&power, &base, &Keys::new()).unwrap();
        config(experiment, &base, &power, &Keys::new()).unwrap()
    }

    #[test]
    fn the_setting_goes_into_the_base() {
        let fixed = Experiment::Fixed {
            state: Sleep::FastWake,
            t_pdt_ns: 1e9,
        };
        let port = config_of(&fixed, Power::AlwaysOn).port;
        assert_eq!((port.policy, port.sleep), (Policy::Fixed, Sleep::FastWake));
        assert_eq!(port.t_pdt_ps, 1_000_000_000_000);
        let predicted = |histogram| Experiment::Predicted {
            policy: Policy::PerfBoundCorrect,
            state: Sleep::DeepSleep,
            histogram,
            bound: 0.05,
        };
        let regular = config_of(&predicted(HistogramKind::Regular), Power::AlwaysOn);
        assert_eq!(regular.histogram.kind, HistogramKind::Regular);
        assert_eq!(regular.histogram.counter_bits, 32);
        assert_eq!(regular.port.policy, Policy::PerfBoundCorrect);
        let circular = predicted(HistogramKind::Circular);
        let (preset, own) = (
            config_of(&circular, Power::AlwaysOn),
            config_of(&circular, Power::Inline("[histogram]\nbins = 32\n".into())),
        );
        assert_eq!((preset.histogram.bins, own.histogram.bins), (64, 32));
        assert_eq!(preset.histogram.counter_bits, 8);
        assert_ne!(preset.hash(), own.hash());
    }

    #[test]
    fn what_differs_is_named() {
        let one = Description {
            linkdoze: "1".into(),
            sources_sha256: "v".into(),
            sweep: "a".into(),
            scenario: "s".into(),
            scenario_sha256: "x".into(),
            network: String::new(),
            experiments: Vec::new(),
            trace_files_sha256: Vec::new(),
            traces: vec![("t".into(), "y".into())],
            skeletons: Vec::new(),
            ports_sha256: [("fast-wake".to_owned(), "z".to_owned())].into(),
        };
        let against = |change: &dyn Fn(&mut Description)| {
            let mut other = one.clone();
            change(&mut other);
            one.difference(&other).unwrap_or_default()
        };
        assert!(against(&|other| other.linkdoze = "2".into()).contains("version 1"));
        let build = against(&|other| other.sources_sha256.clear());
        assert_eq!(build, "other code of version 1 that results depend on");
        assert!(against(&|other| other.scenario_sha256.clear()).contains("text of the scenario"));
        assert!(against(&|other| other.traces[0].1.clear()).contains("traces"));
        let port = against(&|other| {
            other.ports_sha256.insert("fast-wake".into(), "w".into());
        });
        assert!(port.contains("port configuration"), "{port}");
        let free = against(&|other| {
            other.traces[0].0 = "elsewhere".into();
            other.scenario = "elsewhere".into();
            other.ports_sha256.clear();
        });
        assert_eq!(free, "");
    }

    #[test]
    fn a_folder_is_one_process_s() {
        let folder = tempfile::tempdir().unwrap();
        let held = lock(folder.path()).unwrap();
        std::fs::create_dir(folder.path().join(EXPERIMENTS)).unwrap();
        let left = folder.path().join(EXPERIMENTS).join(".linkdoze-half00");
        std::fs::write(&left, "{").unwrap();
        assert!(matches!(lock(folder.path()), Err(FileError::Busy { .. })));
        assert!(left.exists());
        drop(held);
        lock(folder.path()).unwrap();
        assert!(!left.exists());
    }
}
