//! What a run is given: what the nodes send, what governs the ports, and how long it takes.

use super::link_idle::Sleeper;
use crate::config::plan::PortPlan;
use crate::network::parameters::Parameters;
use crate::network::replay::{Overheads, Source};
use crate::network::topology::Topology;
use crate::network::traffic::pattern::Pattern;

/// What the nodes send.
#[derive(Clone, Copy, Debug)]
pub enum Load<'p> {
    /// Programs that run at the same time and do not meet, with the node of each rank and what
    /// sends and receives cost their CPU.
    Programs {
        /// The programs; one may be there several times.
        programs: &'p [Source<'p>],
        /// The node of each rank, program by program.
        nodes: &'p [u32],
        /// CPU time of sends and receives.
        overheads: Overheads,
    },
    /// A pattern, which never ends.
    Pattern(&'p Pattern),
}

impl Load<'_> {
    /// Operations of all programs.
    pub(super) fn operations(&self) -> usize {
        match self {
            Load::Programs { programs, .. } => {
                programs.iter().map(|program| program.operations()).sum()
            }
            Load::Pattern(_) => 0,
        }
    }
}

/// What governs the ports.
#[derive(Clone, Copy, Debug)]
pub struct Power<'p> {
    /// Clock period of the port controllers, in ps; at most the time of the shortest packet.
    pub clock_ps: u64,
    /// The controller of every port, by its class in the topology; empty: links never sleep.
    pub plans: &'p [PortPlan],
    /// Links that never sleep keep their idle periods and those of their ports, as what would sleep
    /// as a whole has them; `None`: they keep none.
    pub metered: Option<Sleeper>,
}

/// What a run depends on, beside the topology and the load.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'p> {
    /// Rates, latencies and buffers of switches and links.
    pub switch: Parameters,
    /// What governs the ports.
    pub power: Power<'p>,
    /// End of the run in ps; `None` runs a program to its end.
    pub duration_ps: Option<u64>,
    /// Packets handed to a NIC before this time, in ps, do not count in the latency.
    pub warm_up_ps: u64,
    /// Length in ps of the samples of a [`Series`]; `None`: the run keeps none. At most
    /// [`MAX_SAMPLES`] are kept: a run that takes more fails.
    pub sample_ps: Option<u64>,
    /// Threads, 1 to [`most_threads`]; more than 1 need cables with a delay.
    pub threads: usize,
}

/// Threads that a run can have at most, whatever the network: what they hand to each other
/// grows with their number squared, and each hears of all others in every step.
pub const MOST_THREADS: usize = 64;

/// Threads that a run on a network can have: there must be a node for each, or some would have
/// nothing to do but to wait.
pub fn most_threads(topology: &dyn Topology) -> usize {
    topology.nodes().clamp(1, MOST_THREADS)
}
