//! Many runs of one scenario, each with another setting of the ports (PerfBound 4.3), that go on
//! where they stopped.
//!
//! A result is a file of its own, written whole as soon as its run has ended. It carries the
//! digest of everything that it depends on; a folder never mixes results of different inputs.

mod contest;
mod description;
mod error;
mod layout;
mod listed;
mod matrix;
mod ports;
mod results;
mod table;
mod vary;
mod words;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

pub use contest::{contests, trades, Contest, Spread, Trade, LIMITS};
pub use description::Description;
pub use error::{Error, ExperimentError};
pub use layout::{DESCRIPTION, IDLE_PERIODS, RESULTS};
pub use matrix::{json_schema, Experiment, Sweep, TABLES};
pub use results::Results;
#[cfg(test)]
pub(crate) use table::tests::row as plausible_row;
pub use table::{from_parquet, to_parquet, Row, Setting, TableError};
pub use words::{percent_label, time_label};

use self::description::hex;
use self::layout::result_path;
use self::ports::{base, states, Experiments, Ports};
use self::results::{json, lock, read_json, Bases, Stored, StoredIdle};
use crate::config::Config;
use crate::energy::limits::AlwaysOn;
use crate::experiment::{self, Measured, Measurement, Potential};
use crate::files;
use crate::input::{self, InputError};
use crate::network::event::idle::IdleTable;
use crate::network::event::{self, Replacements};
use crate::network::scenario::{Job, Jobs, Mapping, Origin, Scenario, Traffic, Variation};
use crate::network::topology::Topology;
use crate::network::{self, trace, Progress as RunProgress, Workload};
use crate::usage;
use crate::words::counted;

/// A sweep, with everything read that it needs.
pub struct Prepared {
    /// The files that were read.
    inputs: Vec<PathBuf>,
    description: Description,
    variations: Vec<Varied>,
}

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
    /// What the ports' configurations cannot do in their networks ([`experiment::notes`]), each line once.
    pub fn notes(&self) -> Vec<String> {
        let mut networks = Vec::new();
        for (number, varied) in self.variations.iter().enumerate() {
            // Most variations have ports and network in common with an earlier one.
            let topology = &varied.scenario.topology;
            let same = |there: &Varied| {
                Arc::ptr_eq(&there.experiments, &varied.experiments)
                    && there.scenario.topology == *topology
            };
            let predicting = || {
                let all = varied.experiments.iter();
                all.filter(|(experiment, _)| matches!(experiment, Experiment::Predicted { .. }))
            };
            if self.variations[..number].iter().any(same) || predicting().next().is_none() {
                continue;
            }
            let (factors, classes) = (event::factors_of(&**topology), topology.classes());
            for (_, config) in predicting() {
                let configs = match config.computes_hop_factor() {
                    true => event::with_factors(config, &factors),
                    false => vec![config.clone()],
                };
                networks.push((configs, classes.clone()));
            }
        }
        experiment::notes(&networks)
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
        counted(topology.links(), "link end", "link ends"),
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
        if let Some((number, problem)) = same_value(&sweep, &scenarios, &experiments) {
            return Err(sweep.variation_fault(path, number, false, problem).into());
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
                // The text of the scenario has all that a skeleton is made of.
                if let Origin::Skeleton(_) = &job.origin {
                    skeletons.extend(skeleton(job).filter(|it| !skeletons.contains(it)));
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
                        None => Workload::read(&scenario, &mut |file| {
                            let program = trace::read(file)?;
                            if traces.iter().all(|(there, _)| there != file) {
                                traces.push((file.to_owned(), digest_of(&program)));
                                let digest = trace::sha256(file)?;
                                trace_files_sha256
                                    .extend(digest.map(|digest| (file.to_owned(), digest)));
                            }
                            Ok(program)
                        })?,
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
            compared_with: Vec::new(),
            network: networks.join("; "),
            traces,
            skeletons,
            trace_files_sha256,
            ports_sha256: bases,
        };
        let mut prepared = Self {
            inputs,
            description,
            variations,
        };
        let points = prepared.points().into_iter();
        prepared.description.compared_with =
            points.map(|point| point.setting().compared_with).collect();
        Ok(prepared)
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
        let description = self.description_for(folder)?;
        let mut results = Vec::new();
        for point in &points {
            results.push(self.stored(folder, point)?);
        }
        // Nothing in the folder speaks against it.
        files::write_whole(&folder.join(DESCRIPTION), &description)?;
        let description = hex(&Sha256::digest(&description));
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
    fn description_for(&self, folder: &Path) -> Result<Vec<u8>, Error> {
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
        Ok(json(&description))
    }

    /// The result that lies in the folder.
    fn stored(&self, folder: &Path, point: &Point) -> Result<Option<Stored>, Error> {
        let path = result_path(folder, &point.name());
        if !path.exists() {
            return Ok(None);
        }
        let stored: Stored = read_json(&path)?;
        if stored.inputs_sha256
            != self
                .description
                .digest(&point.varied.variation, point.config)
        {
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
            inputs_sha256: self
                .description
                .digest(&point.varied.variation, point.config),
            setting: point.setting(),
            measured,
            bound_configured: point.config.bound().map(|bound| bound.to_f64()),
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
                       patterns of traffic, random jobs, skeletons with jitter above 0 and jobs with \
                       mapping = \"random\" depend on it";
        let fault = sweep.variation_fault(path, 0, true, problem.into());
        return Err(fault.into());
    }
    Ok(scenarios)
}

/// A value of `[vary]` that means what another one of its key does, as 8192 and "8 KiB": every run
/// with it would be made twice. With the number of its variation.
fn same_value(
    sweep: &Sweep,
    scenarios: &[Scenario],
    experiments: &[Arc<Experiments>],
) -> Option<(usize, String)> {
    let first = &sweep.variations[0];
    first.keys.iter().enumerate().find_map(|(at, (path, _))| {
        // Those in which only this key is another one.
        let of_key: Vec<usize> = (0..scenarios.len())
            .filter(|&number| {
                let mut like_first = sweep.variations[number].clone();
                like_first.keys[at] = first.keys[at].clone();
                like_first == *first
            })
            .collect();
        of_key.iter().enumerate().find_map(|(place, &number)| {
            let same = |&&other: &&usize| {
                scenarios[other] == scenarios[number] && experiments[other] == experiments[number]
            };
            let &other = of_key[..place].iter().find(same)?;
            let [value, other] = [number, other].map(|number| &sweep.variations[number].keys[at].1);
            let problem = format!("vary.{path}, {value}: is the same as {other}: every value once");
            Some((number, problem))
        })
    })
}

/// What the experiments of a sweep did with their bounds ([`experiment::summary`]).
pub fn bounds_kept(rows: &[Row]) -> Option<String> {
    experiment::summary(rows.iter().map(|row| {
        let name = &*row.setting.experiment;
        (name, row.bound_configured, row.bound_kept)
    }))
}

/// Of the program that a trace holds, however many files it lies in.
fn digest_of(program: &trace::Program) -> String {
    let mut digest = Sha256::new();
    program.describe(|bytes| digest.update(bytes));
    hex(&digest.finalize())
}
