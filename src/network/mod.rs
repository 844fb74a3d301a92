//! The network model: traces, their replay, and the packets they send.
//!
//! [`event`] is the engine that runs them. `clocked` is a second one, written for the tests alone:
//! it clocks every controller through every cycle and shares no code with the first, which is
//! compared with it.

pub mod budget;
#[cfg(test)]
pub(crate) mod clocked;
pub mod event;
pub mod event_queue;
pub mod lanes;
pub mod on_off_links;
pub mod parameters;
mod port_set;
pub mod queueing;
pub mod replay;
pub mod run;
pub mod scenario;
pub mod selection;
pub mod skeleton;
pub mod topology;
pub mod trace;
pub mod traffic;
pub mod workload;

pub use run::{Ended, Latency, PortCycles, PortSummary, Progress, RunError, RunSummary};
pub use workload::{input_files, Job, Program, Workload};

use std::ops::ControlFlow;

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

/// Runs a scenario with the network engine ([`event`]). `plan` governs every port; `None`:
/// links never sleep. `replacements` take the places of golden models.
///
/// # Errors
/// If the run fails.
pub fn run(
    scenario: &scenario::Scenario,
    workload: Option<&Workload>,
    power: &event::Power,
    threads: usize,
    replacements: event::Replacements,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<RunSummary, Error> {
    let programs = workload.map(Workload::programs).unwrap_or_default();
    let load = match (&scenario.traffic, workload) {
        (scenario::Traffic::Pattern(pattern), _) => event::Load::Pattern(pattern),
        (scenario::Traffic::Jobs(_), Some(workload)) => event::Load::Programs {
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
    let settings = event::Settings {
        switch: scenario.switch,
        power: *power,
        duration_ps: scenario.duration_ps,
        warm_up_ps: scenario.warm_up_ps,
        sample_ps: scenario.sample_ps,
        threads,
    };
    event::run(&*scenario.topology, load, &settings, replacements, progress)
        .map_err(|problem| failed(problem, scenario, workload))
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
