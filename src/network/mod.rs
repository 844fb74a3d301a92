//! The network model: traces, their replay, and the packets they send.

pub mod budget;
pub mod engine;
pub mod fabric;
mod link;
pub mod replay;
pub mod scenario;
mod simulation;
pub mod skeleton;
pub mod topology;
pub mod trace;
pub mod traffic;

pub use link::{ActivitySink, NoSink, PortCycles};
pub use simulation::{
    simulate, Ended, Latency, PortSummary, Progress, RunError, RunSummary, Settings,
};

use std::collections::btree_map::{BTreeMap, Entry};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::switch::power::PowerController;
use replay::Source;
use skeleton::Skeleton;

/// Clock cycles after which a sink is brought up to date at the latest.
pub const WINDOW_CYCLES: u64 = 1 << 16;

/// A scenario cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The trace cannot be used.
    #[error(transparent)]
    Trace(#[from] trace::TraceError),
    /// The mapping does not fit the trace or the network, or a skeleton is too long.
    #[error("{scenario}: {problem}")]
    Mapping {
        /// The scenario's file.
        scenario: std::path::PathBuf,
        /// What does not fit, and what would.
        problem: String,
    },
    /// The run failed.
    #[error("{file}: {problem}")]
    Run {
        /// The file to look at: the trace, or the scenario.
        file: std::path::PathBuf,
        /// Why it failed.
        problem: RunError,
    },
}

/// The controllers of all ports, numbered as [`topology::Topology`] numbers ports: the
/// switch ports, then the NICs.
pub struct Controllers {
    /// Clock period in ps.
    pub clock_ps: u64,
    /// One controller per port.
    pub ports: Vec<Box<dyn PowerController + Send>>,
}

/// The programs of a scenario's jobs, and where their ranks run.
#[derive(Debug)]
pub struct Workload {
    /// The jobs, copies one after the other.
    pub jobs: Vec<Job>,
    /// The node of each rank, job by job.
    pub nodes: Vec<u32>,
    /// CPU time of sends and receives.
    pub overheads: replay::Overheads,
    /// Where the program comes from, for messages.
    pub source: PathBuf,
}

/// A program that runs.
#[derive(Clone, Debug)]
pub struct Job {
    /// The file of its trace, or the name of the skeleton; of the copies of a job each with its
    /// number, from 1.
    pub name: String,
    /// The program; copies and jobs of the same file and speed share it.
    pub program: Program,
}

/// A program that can run.
#[derive(Clone, Debug)]
pub enum Program {
    /// It was recorded.
    Recorded(Arc<trace::Program>),
    /// It is made while it runs.
    Skeleton(Arc<Skeleton>),
}

impl Program {
    /// Where a replay gets its operations.
    pub fn source(&self) -> Source<'_> {
        match self {
            Program::Recorded(program) => (&**program).into(),
            Program::Skeleton(skeleton) => (&**skeleton).into(),
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.source().ranks()
    }

    /// Operations of all ranks.
    pub fn operations(&self) -> usize {
        self.source().operations()
    }

    /// All operations at once.
    ///
    /// # Errors
    /// If a skeleton has more than can be held.
    pub fn recorded(&self) -> Result<Arc<trace::Program>, String> {
        match self {
            Program::Recorded(program) => Ok(Arc::clone(program)),
            Program::Skeleton(skeleton) => skeleton.program().map(Arc::new),
        }
    }
}

impl Workload {
    /// Reads the traces of a scenario's jobs and places their ranks; `None` if it has none.
    ///
    /// # Errors
    /// If a trace cannot be used, or does not fit the network.
    pub fn of(scenario: &scenario::Scenario) -> Result<Option<Self>, Error> {
        let scenario::Traffic::Jobs(all) = &scenario.traffic else {
            return Ok(None);
        };
        let mut programs: BTreeMap<(&Path, u64), Arc<trace::Program>> = BTreeMap::new();
        let mut jobs = Vec::new();
        for job in &all.jobs {
            let program = match &job.origin {
                scenario::Origin::Trace(file) => {
                    Program::Recorded(match programs.entry((file, job.cpu_speed)) {
                        Entry::Occupied(there) => Arc::clone(there.get()),
                        Entry::Vacant(place) => {
                            let program = trace::read(file)?.at_speed(job.cpu_speed);
                            Arc::clone(place.insert(program.into()))
                        }
                    })
                }
                scenario::Origin::Skeleton(parameters) => {
                    skeleton(parameters, job.cpu_speed, scenario)?
                }
            };
            let name = job.origin.name();
            jobs.extend((1..=job.copies).map(|copy| Job {
                name: match job.copies {
                    1 => name.clone(),
                    _ => format!("{name} {copy}"),
                },
                program: program.clone(),
            }));
        }
        let source = match scenario.traffic.only_job().map(|job| &job.origin) {
            Some(scenario::Origin::Trace(file)) => file.clone(),
            _ => scenario.path.clone(),
        };
        Self {
            jobs,
            nodes: Vec::new(),
            overheads: all.overheads,
            source,
        }
        .placed(all, scenario)
        .map(Some)
    }

    /// The same programs, placed as `all` and `scenario` have it; skeletons with its seed.
    ///
    /// # Errors
    /// If the ranks do not fit the network.
    pub fn placed(
        &self,
        all: &scenario::Jobs,
        scenario: &scenario::Scenario,
    ) -> Result<Self, Error> {
        let ranks: Vec<usize> = self.jobs.iter().map(|job| job.program.ranks()).collect();
        let nodes = all
            .place(&ranks, scenario.topology.nodes(), scenario.seed)
            .map_err(|problem| Error::Mapping {
                scenario: scenario.path.clone(),
                problem,
            })?;
        let mut jobs = self.jobs.clone();
        let origins = all
            .jobs
            .iter()
            .flat_map(|job| std::iter::repeat_n(job, job.copies as usize));
        for (
            job,
            scenario::Job {
                origin, cpu_speed, ..
            },
        ) in jobs.iter_mut().zip(origins)
        {
            if let scenario::Origin::Skeleton(parameters) = origin {
                job.program = skeleton(parameters, *cpu_speed, scenario)?;
            }
        }
        Ok(Self {
            jobs,
            nodes,
            overheads: self.overheads,
            source: self.source.clone(),
        })
    }

    /// The program of each job.
    fn programs(&self) -> Vec<Source<'_>> {
        self.jobs.iter().map(|job| job.program.source()).collect()
    }

    /// Operations of all jobs.
    pub fn operations(&self) -> usize {
        self.jobs.iter().map(|job| job.program.operations()).sum()
    }
}

/// The skeleton of a job, with the scenario's seed.
fn skeleton(
    parameters: &skeleton::Parameters,
    cpu_speed: u64,
    scenario: &scenario::Scenario,
) -> Result<Program, Error> {
    match Skeleton::new(*parameters, cpu_speed, scenario.seed) {
        Ok(skeleton) => Ok(Program::Skeleton(skeleton.into())),
        Err(problem) => Err(Error::Mapping {
            scenario: scenario.path.clone(),
            problem,
        }),
    }
}

/// Runs a scenario with the network engine ([`fabric`]). `plan` governs every port; `None`:
/// links never sleep. `replacements` take the places of golden models.
///
/// # Errors
/// If the run fails.
pub fn run(
    scenario: &scenario::Scenario,
    workload: Option<&Workload>,
    power: &fabric::Power,
    threads: usize,
    replacements: fabric::Replacements,
    progress: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
) -> Result<RunSummary, Error> {
    let programs = workload.map(Workload::programs).unwrap_or_default();
    let load = match (&scenario.traffic, workload) {
        (scenario::Traffic::Pattern(pattern), _) => fabric::Load::Pattern(pattern),
        (scenario::Traffic::Jobs(_), Some(workload)) => fabric::Load::Programs {
            programs: &programs,
            nodes: &workload.nodes,
            overheads: workload.overheads,
        },
        (scenario::Traffic::Jobs(_), None) => {
            return match Workload::of(scenario)? {
                Some(workload) => run(
                    scenario,
                    Some(&workload),
                    power,
                    threads,
                    replacements,
                    progress,
                ),
                None => unreachable!("jobs make a workload"),
            }
        }
    };
    let settings = fabric::Settings {
        switch: scenario.switch,
        power: *power,
        duration_ps: scenario.duration_ps,
        warm_up_ps: scenario.warm_up_ps,
        sample_ps: scenario.sample_ps,
        threads,
    };
    fabric::run(&*scenario.topology, load, &settings, replacements, progress)
        .map_err(|problem| failed(problem, scenario, workload))
}

/// Runs a scenario's program with controllers that are clocked through every cycle in which
/// anything happens; the sink hears every cycle of every port. `progress` is called once per
/// window and may stop the run.
///
/// # Errors
/// If the program does not fit the network, or the run fails.
pub fn run_clocked(
    scenario: &scenario::Scenario,
    workload: &Workload,
    controllers: Controllers,
    sink: &mut dyn ActivitySink,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<RunSummary, Error> {
    let settings = Settings {
        switch: scenario.switch,
        overheads: workload.overheads,
        clock_ps: controllers.clock_ps,
        duration_ps: scenario.duration_ps,
        warm_up_ps: scenario.warm_up_ps,
        window_cycles: WINDOW_CYCLES,
    };
    let joined;
    let program = match &*workload.jobs {
        [one] => one.program.source(),
        several => {
            let recorded = several.iter().map(|job| job.program.recorded());
            joined = recorded
                .collect::<Result<Vec<_>, _>>()
                .and_then(|programs| {
                    let programs: Vec<_> = programs.iter().map(|program| &**program).collect();
                    trace::Program::join(&programs)
                })
                .map_err(|problem| Error::Mapping {
                    scenario: scenario.path.clone(),
                    problem,
                })?;
            (&joined).into()
        }
    };
    simulate(
        &*scenario.topology,
        program,
        &workload.nodes,
        &settings,
        controllers.ports,
        sink,
        progress,
    )
    .map_err(|problem| failed(problem, scenario, Some(workload)))
}

/// Names the file to look at.
fn failed(problem: RunError, scenario: &scenario::Scenario, workload: Option<&Workload>) -> Error {
    let file = match (&problem, workload) {
        (RunError::Settings(_), _) | (_, None) => &scenario.path,
        (_, Some(workload)) => &workload.source,
    };
    Error::Run {
        file: file.clone(),
        problem,
    }
}

#[cfg(test)]
mod tests;
