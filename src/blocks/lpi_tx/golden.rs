//! Golden model of the transmit side of low power idle: it counts words since LPI began and ended.

use std::mem::discriminant;

use crate::blocks::mii::golden::{open_behind, starts, Character, Lanes};
use crate::blocks::mii::{Mii, IDLE, LPI};

/// The inputs of a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Inputs {
    /// The MAC's word.
    pub word: Lanes,
    /// The transmit direction is to sleep.
    pub lpi_request: bool,
    /// The controller allows frames.
    pub tx_enable: bool,
    /// Local or remote fault.
    pub link_fault: bool,
    /// Least words of LPI.
    pub t_s: u64,
    /// Least words from LPI to the start of a frame.
    pub t_w_sys: u64,
}

/// The outputs of a cycle that do not depend on its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// The word to the PHY.
    pub word: Lanes,
    /// It has a frame, or a part of one.
    pub transmitting: bool,
    /// It is LPI in the place of idle.
    pub lpi_active: bool,
    /// A frame starts in it too early.
    pub early_start: bool,
}

/// Where the shim is between frames and LPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Right after reset, which may have come in the middle of LPI.
    Reset,
    Open,
    /// So many words of LPI have been sent, of so many at least.
    Asleep(u64, u64),
    /// So many words have been sent since LPI, of so many before the start of a frame.
    Waking(u64, u64),
}

/// Cycle-exact model of the transmit side of low power idle.
#[derive(Clone, Debug)]
pub struct LpiTx {
    mii: Mii,
    mac_latency: u32,
    phase: Phase,
    /// Cycles for which the MAC has been held back without a break.
    closed_for: u32,
    /// A frame is under way.
    open: bool,
    outputs: Outputs,
}

impl LpiTx {
    /// A shim just after reset.
    pub fn new(mii: Mii, mac_latency: u32) -> Self {
        LpiTx {
            mii,
            mac_latency,
            phase: Phase::Reset,
            // No frame is on its way.
            closed_for: mac_latency,
            open: false,
            outputs: Outputs {
                word: Lanes::control(mii, IDLE),
                transmitting: false,
                lpi_active: false,
                early_start: false,
            },
        }
    }

    /// The outputs of this cycle.
    pub fn outputs(&self) -> Outputs {
        self.outputs
    }

    /// The MAC may start a frame in this cycle.
    pub fn mac_tx_enable(&self, inputs: &Inputs) -> bool {
        self.phase == Phase::Open && inputs.tx_enable && !inputs.lpi_request
    }

    /// Cycles, the present one included, for which the outputs will certainly stay as they are if
    /// `inputs` hold (a lower bound >= 1; `u64::MAX` is for ever).
    pub fn quiet_cycles(&self, inputs: &Inputs) -> u64 {
        let mut next = self.clone();
        next.clock(inputs);
        if next.outputs != self.outputs
            || next.open != self.open
            || discriminant(&next.phase) != discriminant(&self.phase)
        {
            return 1;
        }
        let left = match self.phase {
            // LPI may begin when the MAC has been held back for long enough.
            Phase::Open if inputs.lpi_request => {
                u64::from(self.mac_latency.saturating_sub(self.closed_for))
            }
            Phase::Open => u64::MAX,
            Phase::Asleep(..) if inputs.lpi_request && !inputs.link_fault => u64::MAX,
            Phase::Asleep(sent, least) | Phase::Waking(sent, least) => least.saturating_sub(sent),
            Phase::Reset => 1,
        };
        left.max(1)
    }

    /// So many clock edges one after the other with the same inputs, as many as
    /// [`quiet_cycles`](Self::quiet_cycles) has at most.
    pub fn pass(&mut self, inputs: &Inputs, cycles: u64) {
        // All but the last change what is counted, and nothing else.
        let Some(before) = cycles.checked_sub(1) else {
            return;
        };
        if !self.mac_tx_enable(inputs) {
            let held = u32::try_from(before).unwrap_or(u32::MAX);
            self.closed_for = self.closed_for.saturating_add(held);
        }
        if let Phase::Asleep(sent, _) | Phase::Waking(sent, _) = &mut self.phase {
            *sent = sent.saturating_add(before);
        }
        self.clock(inputs);
    }

    /// The clock edge at the end of a cycle.
    pub fn clock(&mut self, inputs: &Inputs) {
        let idle = inputs.word == Lanes::control(self.mii, IDLE);
        let wanted = inputs.lpi_request && !inputs.link_fault;
        let was_awake = self.phase == Phase::Open;
        let may_begin = idle && wanted && !self.open && self.closed_for >= self.mac_latency;
        self.closed_for = match self.mac_tx_enable(inputs) {
            true => 0,
            false => self.closed_for.saturating_add(1),
        };
        self.phase = match self.phase {
            Phase::Open if may_begin => Phase::Asleep(1, inputs.t_s),
            Phase::Open => Phase::Open,
            Phase::Asleep(sent, least) if idle && (wanted || sent < least) => {
                Phase::Asleep(sent.saturating_add(1), least)
            }
            Phase::Reset | Phase::Asleep(..) => Phase::Waking(1, inputs.t_w_sys.max(2)),
            Phase::Waking(sent, least) if sent + 1 >= least => Phase::Open,
            Phase::Waking(sent, least) => Phase::Waking(sent + 1, least),
        };

        let characters = inputs.word.characters(self.mii);
        let mut carries = false;
        let mut started = false;
        for column in characters.chunks(self.mii.column() as usize) {
            let silent = [IDLE, LPI].map(|byte| vec![Character::Control(byte); column.len()]);
            let starts = starts(column);
            carries |= starts || (self.open && !silent.iter().any(|it| it == column));
            started |= starts;
            self.open = open_behind(self.open, column);
        }
        let lpi_active = matches!(self.phase, Phase::Asleep(..));
        self.outputs = Outputs {
            word: match lpi_active {
                true => Lanes::control(self.mii, LPI),
                false => inputs.word,
            },
            transmitting: carries,
            lpi_active,
            early_start: started && !was_awake,
        };
    }
}
