//! The network model: traces, their replay, and the packets they send.

pub mod engine;
mod link;
pub mod replay;
pub mod scenario;
mod simulation;
pub mod topology;
pub mod trace;

pub use link::{ActivitySink, NoSink, PortCycles};
pub use simulation::{
    simulate, Ended, Latency, PortSummary, Progress, RunError, RunSummary, Settings,
};

use std::ops::ControlFlow;

use crate::switch::power::PowerController;

/// Clock cycles after which a sink is brought up to date at the latest.
pub const WINDOW_CYCLES: u64 = 1 << 16;

/// A scenario cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The trace cannot be used.
    #[error(transparent)]
    Trace(#[from] trace::TraceError),
    /// The mapping does not fit the trace or the network.
    #[error("{scenario}: {problem}")]
    Mapping {
        /// The scenario's file.
        scenario: std::path::PathBuf,
        /// What does not fit, and what would.
        problem: String,
    },
    /// The replay failed.
    #[error("{trace}: {problem}")]
    Run {
        /// The trace's file.
        trace: std::path::PathBuf,
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

/// Reads the trace of a scenario and replays it. The sink hears every cycle of every port;
/// `progress` is called once per window and may stop the run.
///
/// # Errors
/// If the trace cannot be used, does not fit the network, or the run fails.
pub fn run(
    scenario: &scenario::Scenario,
    controllers: Controllers,
    sink: &mut dyn ActivitySink,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<RunSummary, Error> {
    let program = trace::read(&scenario.traffic.file)?;
    run_program(scenario, &program, controllers, sink, progress)
}

/// As [`run`], with a program that has been read already.
///
/// # Errors
/// If the program does not fit the network, or the run fails.
pub fn run_program(
    scenario: &scenario::Scenario,
    program: &trace::Program,
    controllers: Controllers,
    sink: &mut dyn ActivitySink,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<RunSummary, Error> {
    let nodes = scenario
        .traffic
        .mapping
        .nodes(program.ranks(), scenario.topology.nodes())
        .map_err(|problem| Error::Mapping {
            scenario: scenario.path.clone(),
            problem,
        })?;
    let settings = Settings {
        switch: scenario.switch,
        overheads: scenario.traffic.overheads,
        clock_ps: controllers.clock_ps,
        duration_ps: scenario.duration_ps,
        warm_up_ps: scenario.warm_up_ps,
        window_cycles: WINDOW_CYCLES,
    };
    simulate(
        &*scenario.topology,
        program,
        &nodes,
        &settings,
        controllers.ports,
        sink,
        progress,
    )
    .map_err(|problem| Error::Run {
        trace: scenario.traffic.file.clone(),
        problem,
    })
}

#[cfg(test)]
mod tests;
