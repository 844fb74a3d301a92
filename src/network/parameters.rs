//! The figures of a switch and of its links: PerfBound Table 6 and what that table leaves out.

use super::selection::Selection;

/// Most ports a switch can have: a set of them is a word, and a queue of an output (lane, then input)
/// a byte.
pub const MAX_RADIX: usize = 64;

/// Resolution of the age in the network, in ps: switches compare whole nanoseconds, and at equal
/// age the order of arrival.
pub const AGE_PS: u64 = 1000;

/// Which of the packets that may cross a switch goes first: the one of the greatest age (the
/// PerfBound paper Table 6 has "Aging" without saying since when).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aging {
    /// Age since the packet arrived in this switch.
    #[default]
    Switch,
    /// Age since the packet was due to leave its NIC: at once, or right behind the packets before it,
    /// had nothing held up any of them. Fair to packets that come a long way.
    Network,
}

impl Aging {
    /// Both.
    pub const ALL: [Aging; 2] = [Aging::Switch, Aging::Network];

    /// As scenarios name it.
    pub fn name(self) -> &'static str {
        match self {
            Aging::Switch => "switch",
            Aging::Network => "network",
        }
    }
}

/// The lanes of every link. In fast wake a port has only some of them on, and sends by these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// All lanes of a link.
    pub count: u32,
    /// Those that stay on.
    pub low: u32,
}

impl Lanes {
    /// How long by the low lanes takes what takes `ps` by all of them, rounded up.
    pub fn by_low(&self, ps: u64) -> u64 {
        (ps * u64::from(self.count)).div_ceil(self.low.into())
    }
}

/// How packets are put into the queues of a buffer ([`queueing`](super::queueing); Zahn III.C, POWAR 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queueing {
    /// One queue for all (1Q).
    One,
    /// A queue for each output of the switch (VOQsw).
    PerOutput,
    /// A queue for each node of the network (VOQnet).
    PerNode,
    /// As many queues, by the number of the destination (DBBM).
    ByDestination {
        /// Queues of a lane.
        queues: u8,
    },
    /// A queue for each dimension in which packets go on, and one for those that have arrived (IODET).
    PerDimension,
    /// As many queues, by the groups of source and destination (Flow2SL).
    ByGroups {
        /// Queues of a lane, and groups of nodes.
        queues: u8,
    },
    /// By the number of the destination, in other queues once packets have come to its group (H2LQ).
    TwoLevels {
        /// Queues up to the group of the destination: the standard virtual network.
        queues: u8,
        /// Queues in that group: the escape virtual network.
        escape_queues: u8,
    },
    /// As virtual channels of Duato's protocol: a packet takes any port that leads nearer to its
    /// destination and is free, or waits for an escape channel (POWAR 3).
    Adaptive {
        /// Adaptive channels of a link.
        queues: u8,
    },
}

impl Queueing {
    /// As scenarios name them; the first one is no scheme.
    pub const NAMES: [&'static str; 9] = [
        "voq", "1q", "voqsw", "voqnet", "dbbm", "iodet", "flow2sl", "h2lq", "duato",
    ];

    /// As scenarios name it (Zahn III.C, POWAR 3).
    pub fn name(&self) -> &'static str {
        match self {
            Queueing::One => "1q",
            Queueing::PerOutput => "voqsw",
            Queueing::PerNode => "voqnet",
            Queueing::ByDestination { .. } => "dbbm",
            Queueing::PerDimension => "iodet",
            Queueing::ByGroups { .. } => "flow2sl",
            Queueing::TwoLevels { .. } => "h2lq",
            Queueing::Adaptive { .. } => "duato",
        }
    }
}

/// Everything the packet model depends on. Times in picoseconds, sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Time of one byte on a link: 20 ps at 400 Gb/s (PerfBound Table 6).
    pub byte_ps: u64,
    /// Largest packet, header included (PerfBound Table 6).
    pub mtu: u32,
    /// Shortest packet on the wire; smaller ones are padded. 64 is Ethernet's smallest
    /// frame, and SPEC 10 counts on it.
    pub min_packet: u32,
    /// Bytes that every packet carries beside its payload. The papers name none.
    pub header: u32,
    /// Capacity of the buffer at each input, and of that at each output (PerfBound Table 6).
    pub queue: u32,
    /// An input buffer that holds this much or more pauses the sender (PerfBound Table 6).
    pub pfc_stop: u32,
    /// An input buffer that has fallen to this much lets the sender go on (PerfBound Table 6).
    pub pfc_go: u32,
    /// Size of a pause frame (PerfBound 3.1: control messages have 64 bytes).
    pub control: u32,
    /// The crossbar moves a packet this much faster than a link, in thousandths
    /// (PerfBound Table 6: 2.44).
    pub speedup_milli: u64,
    /// Delay of every cable. 15 ns is 3 m at 5 ns/m, which is the longest that the
    /// headroom of the PerfBound paper's PFC limits carries.
    pub cable_ps: u64,
    /// From a packet's arrival in a switch to its asking for the crossbar (SPEC 15). A pipeline:
    /// packets follow each other as fast as without it. The PerfBound paper names none; POWAR 4.1
    /// has 50 ns a hop.
    pub switch_ps: u64,
    /// What a NIC takes for a packet, when it sends it and when it receives it. A pipeline, too.
    /// The papers name none.
    pub nic_ps: u64,
    /// Order of the packets that want to cross a switch.
    pub aging: Aging,
    /// Which of several equally short ways a packet takes.
    pub selection: Selection,
    /// Buffers are divided into queues, with credits; `None`: an input has virtual output queues in one
    /// buffer, with PFC.
    pub queueing: Option<Queueing>,
    /// Links have lanes, of which only some are on in fast wake, and packets are sent by these (Zahn
    /// II.A); `None`: a link in fast wake sends nothing.
    pub link_lanes: Option<Lanes>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            byte_ps: 20,
            mtu: 9600,
            min_packet: 64,
            header: 0,
            queue: 49152,
            pfc_stop: 37900,
            pfc_go: 3200,
            control: 64,
            speedup_milli: 2440,
            cable_ps: 15_000,
            switch_ps: 0,
            nic_ps: 0,
            aging: Aging::Switch,
            selection: Selection::Fixed,
            queueing: None,
            link_lanes: None,
        }
    }
}

/// Parameters that no switch can have, or that would lose packets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ParameterError {
    /// The parameter as scenarios name it.
    pub key: &'static str,
    /// What is wrong with it, and what would be right.
    pub problem: String,
}

impl Parameters {
    /// Time of `bytes` on a link, in ps.
    pub fn link_time(&self, bytes: u32) -> u64 {
        u64::from(bytes) * self.byte_ps
    }

    /// Time of `bytes` through the crossbar in ps, rounded up.
    pub fn crossbar_time(&self, bytes: u32) -> u64 {
        (self.link_time(bytes) * 1000).div_ceil(self.speedup_milli)
    }

    /// From the moment an input buffer reaches a PFC limit to the moment the other end of
    /// the link obeys.
    pub fn pause_delay(&self) -> u64 {
        self.link_time(self.control) + self.cable_ps
    }

    /// Most that an input buffer can ever hold. When the buffer reaches the STOP limit it
    /// held less before; until the sender obeys, packets begin to arrive for the delay of
    /// the pause frame and of the cable back, and the last of them may be as large as
    /// they get.
    ///
    /// Packets that are still in the pipeline of the switch ([`Parameters::switch_ps`]) occupy the
    /// buffer, which counts them from their first byte on: how long they stay there has no part
    /// in this.
    pub fn input_bound(&self) -> u64 {
        let exposed = self.pause_delay() + self.cable_ps;
        u64::from(self.pfc_stop) - 1 + exposed.div_ceil(self.byte_ps) + u64::from(self.largest())
    }

    /// The largest packet on the wire.
    pub fn largest(&self) -> u32 {
        self.mtu.max(self.min_packet)
    }

    /// Payload bytes of the largest packet.
    pub fn payload(&self) -> u32 {
        self.mtu - self.header
    }

    /// Bytes on the wire of a packet with `payload` bytes.
    #[inline]
    pub fn wire(&self, payload: u32) -> u32 {
        (payload + self.header).max(self.min_packet)
    }

    /// Whether a switch can have these parameters and lose no packet.
    ///
    /// # Errors
    /// Names the parameter and the nearest value that would do.
    pub fn validate(&self) -> Result<(), ParameterError> {
        let fail = |key, problem: String| Err(ParameterError { key, problem });
        if self.byte_ps == 0 || self.byte_ps > 8000 {
            return fail(
                "link_gbps",
                "a byte takes between 1 ps (8000 Gb/s) and 8000 ps (1 Gb/s)".into(),
            );
        }
        if self.mtu == 0 || self.mtu > 1 << 24 {
            return fail("mtu_bytes", format!("must be 1 to {}", 1 << 24));
        }
        if self.header >= self.mtu {
            return fail(
                "header_bytes",
                format!("must be smaller than mtu_bytes ({})", self.mtu),
            );
        }
        if self.min_packet == 0 || self.min_packet > self.mtu {
            return fail(
                "min_packet_bytes",
                format!("must be 1 to mtu_bytes ({})", self.mtu),
            );
        }
        if self.control == 0 || self.control > self.mtu {
            return fail(
                "control_bytes",
                format!("must be 1 to mtu_bytes ({})", self.mtu),
            );
        }
        if self.speedup_milli < 1000 || self.speedup_milli > 1_000_000 {
            return fail("speedup", "must be 1 to 1000".into());
        }
        if let Some(thresholds) = self.selection.thresholds() {
            if let Err((key, problem)) = thresholds.validate() {
                return fail(key, problem);
            }
        }
        if let Some(Lanes { count, low }) = self.link_lanes {
            if low >= count {
                let problem = format!("must be fewer than the {count} lanes of a link");
                return fail("low_lanes", problem);
            }
        }
        if self.cable_ps > 1_000_000_000 {
            return fail("cable_ns", "must be 0 to 1000000 (1 ms)".into());
        }
        for (key, delay) in [("switch_ns", self.switch_ps), ("nic_ns", self.nic_ps)] {
            if delay > 1_000_000_000 {
                return fail(key, "must be 0 to 1000000 (1 ms)".into());
            }
        }
        if self.queue > 1 << 30 {
            return fail("queue_bytes", format!("must be at most {}", 1 << 30));
        }
        if self.queue < self.largest() {
            return fail(
                "queue_bytes",
                format!("must hold the largest packet ({} bytes)", self.largest()),
            );
        }
        if self.queueing.is_some() {
            // There are credits, and nothing that stops a sender late.
            return Ok(());
        }
        if self.pfc_stop == 0 || self.pfc_go >= self.pfc_stop {
            return fail(
                "pfc_go_bytes",
                format!("must be smaller than pfc_stop_bytes ({})", self.pfc_stop),
            );
        }
        let bound = self.input_bound();
        if bound > u64::from(self.queue) {
            let excess = bound - u64::from(self.queue);
            let shorter = (self.cable_ps).checked_sub((excess * self.byte_ps).div_ceil(2));
            let remedy = match shorter {
                Some(ps) => format!(", cable_ns = {}", ps as f64 / 1000.0),
                None => String::new(),
            };
            let lower = match u64::from(self.pfc_stop).checked_sub(excess) {
                Some(stop) if stop > u64::from(self.pfc_go) => {
                    format!(", pfc_stop_bytes = {stop}")
                }
                _ => String::new(),
            };
            return fail(
                "queue_bytes",
                format!(
                    "packets would be lost: an input buffer can come to hold {bound} bytes \
                     before its pause frame takes effect (pfc_stop_bytes {} + what arrives \
                     within twice the cable delay + one packet), but has {}; nearest \
                     remedies: queue_bytes = {bound}{lower}{remedy}",
                    self.pfc_stop, self.queue
                ),
            );
        }
        Ok(())
    }
}
