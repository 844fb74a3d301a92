//! What a run of a network comes to: its results, why it ended or failed, how far it has come.

use super::event::idle::IdlePeriods;
use super::event::link_idle::LinkIdle;
use super::event::series::Series;
use super::parameters::ParameterError;
use crate::blocks::port::pins::PowerState;

/// A run cannot be begun or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The settings do not fit each other or the network: the scenario needs mending.
    #[error("{0}")]
    Settings(String),
    /// The program does not fit the settings or the network.
    #[error("{0}")]
    Unfit(String),
    /// The ranks wait for each other for ever.
    #[error("deadlock at {time_ps} ps: {what}")]
    Deadlock {
        /// When nothing was left to happen.
        time_ps: u64,
        /// The operations that wait, and for what.
        what: String,
    },
    /// A controller broke the rules of its trait, or never wakes.
    #[error("{port} in clock cycle {cycle}: {what}")]
    Controller {
        /// The port's name.
        port: String,
        /// The clock cycle, from 0.
        cycle: u64,
        /// What the controller did, or failed to do.
        what: String,
    },
    /// Switches have turned off what a packet needs.
    #[error(
        "at {time_ps} ps: a packet is to leave by {port}, which is off, and by none that is on; this is \
         an error of the model, please report it"
    )]
    NoWay {
        /// When it arrived in the switch, in ps.
        time_ps: u64,
        /// The port's name.
        port: String,
    },
    /// A packet would have been lost.
    #[error("at {time_ps} ps: {overflow}")]
    Overflow {
        /// When the packet arrived.
        time_ps: u64,
        /// The buffer, and by how much.
        overflow: Overflow,
    },
}

impl From<ParameterError> for RunError {
    fn from(error: ParameterError) -> Self {
        RunError::Settings(format!("{}: {error}", error.key))
    }
}

/// A buffer would have to hold more than it can: the model or its limits are wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the input buffer of switch port {input} would hold {used} of {capacity} bytes: a packet is lost, which the PFC limits should prevent; this is an error of the model, please report it")]
pub struct Overflow {
    /// Port of the input buffer.
    pub input: u32,
    /// Bytes that it would hold.
    pub used: u64,
    /// Bytes that it can hold.
    pub capacity: u32,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Every operation has finished.
    Complete,
    /// The duration asked for is over; the program is not.
    Duration,
    /// The sink or the progress callback asked to stop.
    Stopped,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time in ps.
    pub time_ps: u64,
    /// Operations of the program that have finished.
    pub operations_finished: usize,
    /// Operations of the program.
    pub operations: usize,
    /// Packets delivered.
    pub packets: u64,
}

/// Latency of packets from the NIC's taking their message to the arrival of their last
/// byte, in ps. The mean and the largest are exact, the quantiles within 0.1 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Latency {
    /// Packets that count.
    pub packets: u64,
    /// The mean; 0 without packets.
    pub mean_ps: f64,
    /// The median.
    pub p50_ps: u64,
    /// The 99th percentile.
    pub p99_ps: u64,
    /// The longest.
    pub max_ps: u64,
}

/// What a port's controller did, in clock cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PortCycles {
    /// Cycles in each state, in the order of [`PowerState::ALL`].
    pub states: [u64; 6],
    /// Transitions begun: entries into `GoingDown` and into `GoingUp`.
    pub transitions: u64,
    /// Of these, entries into `GoingUp`.
    pub wake_ups: u64,
    /// Idle periods that the port spent awake, as its controller counts them.
    pub hits: u64,
    /// Idle periods in which the port slept, as its controller counts them.
    pub misses: u64,
}

impl PortCycles {
    /// The port has come into another state.
    pub fn enter(&mut self, state: PowerState) {
        let (down, up) = (state == PowerState::GoingDown, state == PowerState::GoingUp);
        self.transitions += u64::from(down || up);
        self.wake_ups += u64::from(up);
    }
}

/// What one port did.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PortSummary {
    /// The port's name in the topology.
    pub name: String,
    /// A cable is plugged in. A port without one has no power states and draws nothing.
    pub cabled: bool,
    /// Clock cycles per power state, and what ended the idle periods.
    pub cycles: PortCycles,
    /// Packets put on the wire.
    pub packets_sent: u64,
    /// On the wire.
    pub bytes_sent: u64,
    /// Pause frames that stopped this port.
    pub pauses: u64,
    /// Most bytes in the input buffer (switch ports only).
    pub highest_input: u32,
    /// Most bytes in the output buffer (switch ports only).
    pub highest_output: u32,
    /// How often a packet that could have left had to wait for the link, because it slept, was on
    /// its way down or up, or its ends were agreeing about that (SPEC 11).
    pub sleep_waits: u64,
    /// How long these waits were together, in ps, up to the end of the run.
    pub sleep_delay_ps: u64,
    /// Its idle periods, if the run kept them ([`super::event::Power::metered`]).
    pub idle: Option<IdlePeriods>,
    /// Those of its link, at the first end, or of the direction that it sends on, if the run kept
    /// them.
    pub link_idle: Option<LinkIdle>,
}

/// What a run did.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RunSummary {
    /// Why the run ended.
    pub ended: Ended,
    /// The last operation finished, or the run was cut, at this time in ps.
    pub time_ps: u64,
    /// Clock cycles that every port was clocked; time per state adds up to this.
    pub cycles: u64,
    /// Clock period in ps.
    pub clock_ps: u64,
    /// Messages that nodes sent, whether they have left their NIC or not.
    pub offered_messages: u64,
    /// Payload bytes of those for other nodes.
    pub offered_bytes: u64,
    /// Messages that arrived completely.
    pub messages: u64,
    /// Packets that arrived completely.
    pub packets: u64,
    /// Payload bytes of these packets.
    pub delivered_bytes: u64,
    /// Packets that crossed a link, summed over all links.
    pub packet_hops: u64,
    /// Pause frames that stopped a port while the direction of the link that carried them was not
    /// awake: only where directions sleep for themselves (SPEC 14). They pass all the same.
    pub pauses_asleep: u64,
    /// Packets under way when the run ended.
    pub packets_in_flight: usize,
    /// Of the packets generated after the warm-up.
    pub latency: Latency,
    /// Messages that met a receive of another size.
    pub sizes_differ: u64,
    /// Operations of the program that have finished.
    pub operations_finished: usize,
    /// Operations of the program.
    pub operations: usize,
    /// When the last operation of each job finished, in ps; `None` if it has not.
    pub jobs_ps: Vec<Option<u64>>,
    /// CPU time of each node's calcs, in ps, over its CPUs.
    pub calc_ps: Vec<u64>,
    /// Processors of each node: CPUs that compute.
    pub cpus: Vec<u32>,
    /// Switch ports first, then the NICs.
    pub ports: Vec<PortSummary>,
    /// What happened over time, if the run kept it ([`super::event::Settings::sample_ps`]).
    pub series: Option<Series>,
    /// Events that were scheduled.
    pub events: u64,
}

impl RunSummary {
    /// Duration that the times per state add up to, in ps.
    pub fn duration_ps(&self) -> u64 {
        self.cycles * self.clock_ps
    }

    /// Mean utilisation of the links: what the ends of cables sent, at `byte_ps` for a byte, divided by
    /// the time (Zahn V).
    pub fn link_utilisation(&self, byte_ps: u64) -> f64 {
        let cabled = || self.ports.iter().filter(|port| port.cabled);
        let bytes: u64 = cabled().map(|port| port.bytes_sent).sum();
        let time = self.duration_ps() as f64 * cabled().count().max(1) as f64;
        bytes as f64 * byte_ps as f64 / time
    }

    /// Mean of the jobs' own execution times, in ps; all begin at 0. `None` if there are none,
    /// or one has not ended.
    pub fn job_mean_ps(&self) -> Option<f64> {
        let ends = self.jobs_ps.iter().copied();
        let sum: u64 = ends.sum::<Option<u64>>()?;
        (!self.jobs_ps.is_empty()).then(|| sum as f64 / self.jobs_ps.len() as f64)
    }
}
