//! Golden model of the hop monitor.

use std::collections::HashMap;

/// One whole, in the units of the hop factor: 16 bits below the point.
const ONE: u64 = 65_536;

/// Cycle-exact model of the hop monitor (SPEC 7.2).
#[derive(Clone, Debug)]
pub struct HopMonitor {
    /// Packets in a window of the mean.
    window: u64,
    /// The packet of the cycle before, by its hop count: it counts at the next clock edge.
    arriving: Option<u8>,
    sum: u64,
    packets: u64,
    factor: u64,
    measured: bool,
    counts: HashMap<u8, u32>,
    /// Where a counter stops.
    most: u32,
}

impl HopMonitor {
    /// A monitor just after reset whose factor is the mean over `2^window_log2` packets, with
    /// counters of `counter_width` bits (1 to 32).
    pub fn new(window_log2: u32, counter_width: u32) -> Self {
        HopMonitor {
            window: 1 << window_log2,
            arriving: None,
            sum: 0,
            packets: 0,
            // As if every packet took the 63 links that `packet_hops` can say.
            factor: ONE / 63,
            measured: false,
            counts: HashMap::new(),
            most: u32::MAX >> (32 - counter_width),
        }
    }

    /// The mean of `1/h` over the last full window, in units of `2^-16`.
    pub fn factor(&self) -> u64 {
        self.factor
    }

    /// One cycle after a window is full: the factor is new.
    pub fn measured(&self) -> bool {
        self.measured
    }

    /// Packets of a hop count before this cycle, as a read in it finds them.
    pub fn count(&self, hops: u8) -> u32 {
        let counted = self.counts.get(&hops).copied().unwrap_or(0);
        let arriving = u32::from(self.arriving == Some(hops));
        self.most.min(counted.saturating_add(arriving))
    }

    /// Nothing changes while no packet comes and nothing is cleared.
    pub fn steady(&self) -> bool {
        self.arriving.is_none() && !self.measured
    }

    /// The clock edge at the end of a cycle in which a packet is sent (`packet`: its hop
    /// count), and the counters are cleared or not.
    pub fn clock(&mut self, packet: Option<u8>, clear: bool) {
        self.measured = false;
        if let Some(hops) = std::mem::replace(&mut self.arriving, packet) {
            let count = self.counts.entry(hops).or_default();
            *count = self.most.min(count.saturating_add(1));
            if hops != 0 {
                self.sum += ONE / u64::from(hops);
                self.packets += 1;
            }
            if self.packets == self.window {
                self.factor = self.sum / self.window;
                self.measured = true;
                self.packets = 0;
                self.sum = 0;
            }
        }
        if clear {
            self.counts.clear();
        }
    }
}
