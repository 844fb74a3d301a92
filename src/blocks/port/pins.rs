//! The pins of a port controller, as plain data.
//!
//! Shared by the packet model (which drives them), the golden model and the
//! co-simulation. Every output depends on registers alone: the outputs of a clock
//! cycle are known before its inputs are.

use crate::config::plan::PortPlan;

/// Width in bits of `packet_hops`: hop counts 0 to 63.
pub const HOPS_WIDTH: u32 = 6;

/// The inputs of one clock cycle, `clk` left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inputs {
    /// Synchronous reset, active high.
    pub rst: bool,
    /// This port's output queue holds a packet.
    pub queue_nonempty: bool,
    /// A packet is leaving over the link.
    pub transmitting: bool,
    /// A packet is arriving over the link.
    pub receiving: bool,
    /// The other end of the link has nothing to send and nothing is under way from it:
    /// it agrees to sleep.
    pub sleep_permit: bool,
    /// The other end has begun a transition down and its last packet has arrived: this end
    /// follows.
    pub remote_down: bool,
    /// The other end asks for the link to wake.
    pub remote_up: bool,
    /// One cycle per packet sent: `packet_hops` is valid.
    pub packet_valid: bool,
    /// Hop count from source to destination of the packet being sent, 0 to 63.
    pub packet_hops: u8,
}

impl Inputs {
    /// The input pins in the order in which [`Inputs::pack`] lays them out, lowest bit
    /// first, each with its width in bits.
    pub const PINS: [(&'static str, u32); 9] = [
        ("rst", 1),
        ("queue_nonempty", 1),
        ("transmitting", 1),
        ("receiving", 1),
        ("sleep_permit", 1),
        ("remote_down", 1),
        ("remote_up", 1),
        ("packet_valid", 1),
        ("packet_hops", HOPS_WIDTH),
    ];

    /// All pins in one word, in the order of [`Inputs::PINS`].
    pub fn pack(&self) -> u32 {
        u32::from(self.rst)
            | u32::from(self.queue_nonempty) << 1
            | u32::from(self.transmitting) << 2
            | u32::from(self.receiving) << 3
            | u32::from(self.sleep_permit) << 4
            | u32::from(self.remote_down) << 5
            | u32::from(self.remote_up) << 6
            | u32::from(self.packet_valid) << 7
            | u32::from(self.packet_hops & 63) << 8
    }

    /// A port is active while its output queue holds a packet, while it transmits or
    /// while it receives (SPEC 2).
    pub fn active(&self) -> bool {
        self.queue_nonempty || self.transmitting || self.receiving
    }
}

/// The state of the link at this end, as the pin `power_state` encodes it (3 bits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PowerState {
    /// Ready to transmit; full power.
    #[default]
    Wake = 0,
    /// On the way down; full power, nothing is transmitted.
    GoingDown = 1,
    /// Asleep with most of the PHY on.
    FastWake = 2,
    /// Asleep, deepest.
    DeepSleep = 3,
    /// Refreshing within deep sleep; full power, nothing is transmitted.
    Refresh = 4,
    /// On the way up; full power, nothing is transmitted.
    GoingUp = 5,
}

impl PowerState {
    /// Every state, in the order of its encoding.
    pub const ALL: [PowerState; 6] = [
        PowerState::Wake,
        PowerState::GoingDown,
        PowerState::FastWake,
        PowerState::DeepSleep,
        PowerState::Refresh,
        PowerState::GoingUp,
    ];

    /// The name in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            PowerState::Wake => "wake",
            PowerState::GoingDown => "going-down",
            PowerState::FastWake => "fast-wake",
            PowerState::DeepSleep => "deep-sleep",
            PowerState::Refresh => "refresh",
            PowerState::GoingUp => "going-up",
        }
    }
}

/// The outputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// The port may start a packet.
    pub tx_enable: bool,
    /// The state of the link at this end.
    pub power_state: PowerState,
    /// One cycle after an idle period that the link spent awake.
    pub hit: bool,
    /// One cycle after an idle period in which the link left `Wake`.
    pub miss: bool,
    /// One cycle: `t_pb`, `window` and `budget` are new.
    pub update: bool,
    /// The power-down threshold that governs this idle period, or the next one while
    /// the port is active, in ticks.
    pub t_pdt: u64,
    /// PerfBound's threshold, in ticks (predicting policies only).
    pub t_pb: u64,
    /// `X` of that threshold: ticks since the window of the histogram began.
    pub window: u64,
    /// `N` of that threshold: packets that may be delayed.
    pub budget: u64,
}

impl Outputs {
    /// The output pins that the controller of `plan` has, in the order in which
    /// [`Outputs::value`] numbers them, each with its width in bits.
    pub fn pins(plan: &PortPlan) -> Vec<(&'static str, u32)> {
        let mut pins = vec![
            ("tx_enable", 1),
            ("power_state", 3),
            ("hit", 1),
            ("miss", 1),
            ("t_pdt", plan.time_width),
        ];
        if plan.predicts() {
            pins.extend([
                ("update", 1),
                ("t_pb", plan.time_width),
                ("window", plan.time_width),
                ("budget", plan.budget.width),
            ]);
        }
        pins
    }

    /// The value of one pin by its place in [`Outputs::pins`].
    ///
    /// # Panics
    /// If `index` is 9 or more.
    pub fn value(&self, index: usize) -> u64 {
        match index {
            0 => self.tx_enable.into(),
            1 => self.power_state as u64,
            2 => self.hit.into(),
            3 => self.miss.into(),
            4 => self.t_pdt,
            5 => self.update.into(),
            6 => self.t_pb,
            7 => self.window,
            8 => self.budget,
            _ => panic!("a port controller has at most 9 output pins"),
        }
    }
}
