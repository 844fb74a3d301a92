//! Sums of what happened in a partition.

use hdrhistogram::Histogram;

/// Sums of what happened.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Messages that nodes sent.
    pub offered_messages: u64,
    /// Payload bytes of those for other nodes.
    pub offered_bytes: u64,
    pub messages: u64,
    pub packets: u64,
    pub bytes: u64,
    pub packet_hops: u64,
    /// See [`crate::network::RunSummary::pauses_asleep`].
    pub pauses_asleep: u64,
    pub latency: Histogram<u64>,
    pub latency_sum: u128,
    pub latency_max: u64,
    /// Without those in which a controller was only looked at.
    pub events: u64,
    /// When the last message arrived or the traffic did something, in ps.
    pub last_ps: u64,
}

impl Tally {
    pub fn new() -> Self {
        Self {
            offered_messages: 0,
            offered_bytes: 0,
            messages: 0,
            packets: 0,
            bytes: 0,
            packet_hops: 0,
            pauses_asleep: 0,
            latency: Histogram::new(3).expect("three digits"),
            latency_sum: 0,
            latency_max: 0,
            events: 0,
            last_ps: 0,
        }
    }
}
