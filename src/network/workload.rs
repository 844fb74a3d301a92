//! The programs of a scenario's jobs, and where their ranks run.

use std::collections::btree_map::{BTreeMap, Entry};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::replay::{self, Source};
use super::skeleton::{self, Skeleton};
use super::{scenario, trace, Error};

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

/// The files that a scenario is read from: its own, that of the ports' configuration, and those of
/// the traces.
///
/// # Errors
/// If the files of a trace cannot be told.
pub fn input_files(scenario: &scenario::Scenario) -> Result<Vec<PathBuf>, Error> {
    let mut files = vec![scenario.path.clone()];
    if let scenario::Power::File(file) = &scenario.power {
        files.push(file.clone());
    }
    if let scenario::Traffic::Jobs(all) = &scenario.traffic {
        for job in &all.jobs {
            match &job.origin {
                // A pipe can be read only once, and nothing replaces it.
                scenario::Origin::Trace(file) if file.is_file() || file.is_dir() => {
                    files.extend(trace::sources(file)?);
                }
                scenario::Origin::Trace(_) | scenario::Origin::Skeleton(_) => {}
            }
        }
    }
    Ok(files)
}

impl Workload {
    /// Reads the traces of a scenario's jobs and places their ranks; `None` if it has none.
    ///
    /// # Errors
    /// If a trace cannot be used, or does not fit the network.
    pub fn of(scenario: &scenario::Scenario) -> Result<Option<Self>, Error> {
        Self::read(scenario, &mut |file| Ok(trace::read(file)?))
    }

    /// [`Workload::of`] with traces that `read` gives; each is asked for once, and once more for every
    /// further speed.
    ///
    /// # Errors
    /// As there.
    pub fn read(
        scenario: &scenario::Scenario,
        read: &mut dyn FnMut(&Path) -> Result<trace::Program, Error>,
    ) -> Result<Option<Self>, Error> {
        let scenario::Traffic::Jobs(all) = &scenario.traffic else {
            return Ok(None);
        };
        let mut programs: BTreeMap<(&Path, u64), Arc<trace::Program>> = BTreeMap::new();
        let mut jobs = Vec::new();
        for (place, job) in all.jobs.iter().enumerate() {
            let program = match &job.origin {
                scenario::Origin::Trace(file) => {
                    Program::Recorded(match programs.entry((file, job.cpu_speed)) {
                        Entry::Occupied(there) => Arc::clone(there.get()),
                        Entry::Vacant(place) => {
                            let program = read(file)?.at_speed(job.cpu_speed);
                            Arc::clone(place.insert(program.into()))
                        }
                    })
                }
                scenario::Origin::Skeleton(parameters) => {
                    skeleton(parameters, job.cpu_speed, place, scenario)?
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

    /// The same programs, placed as `all` and `scenario` have it, with the overheads of `all`; skeletons
    /// with the scenario's seed.
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
        let origins = (all.jobs.iter().enumerate())
            .flat_map(|job| std::iter::repeat_n(job, job.1.copies as usize));
        for (job, (place, described)) in jobs.iter_mut().zip(origins) {
            if let scenario::Origin::Skeleton(parameters) = &described.origin {
                job.program = skeleton(parameters, described.cpu_speed, place, scenario)?;
            }
        }
        Ok(Self {
            jobs,
            nodes,
            overheads: all.overheads,
            source: self.source.clone(),
        })
    }

    /// The program of each job.
    pub(super) fn programs(&self) -> Vec<Source<'_>> {
        self.jobs.iter().map(|job| job.program.source()).collect()
    }

    /// Operations of all jobs.
    pub fn operations(&self) -> usize {
        self.jobs.iter().map(|job| job.program.operations()).sum()
    }
}

/// The skeleton of the job at this place among all. Its seed follows from the scenario's and the place,
/// so that two jobs of one program do not compute for the same times.
fn skeleton(
    parameters: &skeleton::Parameters,
    cpu_speed: u64,
    place: usize,
    scenario: &scenario::Scenario,
) -> Result<Program, Error> {
    let seed = scenario
        .seed
        .wrapping_add((place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    match Skeleton::new(*parameters, cpu_speed, seed) {
        Ok(skeleton) => Ok(Program::Skeleton(skeleton.into())),
        Err(problem) => Err(Error::Mapping {
            scenario: scenario.path.clone(),
            problem,
        }),
    }
}
