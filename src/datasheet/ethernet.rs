//! What the pins of a port of Ethernet do when its direction goes to sleep and wakes, and when the other
//! end does: the golden models of controller and shims, run.
//!
//! The MAC starts a frame in the first cycle in which it may.

use super::wave::{Lane, Level, Record, Stretch};
use crate::blocks::ethernet_port::golden::{EthernetPort, Inputs, Outputs};
use crate::blocks::mii::golden::{Character, Lanes};
use crate::blocks::mii::{Mii, IDLE, LPI, START, TERMINATE};
use crate::blocks::port::pins::{self, PowerState};
use crate::config::plan::{Policy, PortPlan, Sleep};

/// Bytes of the frames, preamble and frame check sequence included: the shortest of IEEE 802.3, 64 bytes
/// (4A.4.2), behind 8 of preamble.
const FRAME_BYTES: u32 = 72;

/// Clock cycles that are shown before and after what a diagram is about.
const MARGIN: u64 = 2;

/// Clock cycles for which a direction that sleeps is left alone.
const ASLEEP: u64 = 100;

/// The pins of a port in a clock cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pins {
    mii: Mii,
    /// What the port is told: a frame waits.
    pub waits: bool,
    /// The word of the MAC, and that of the PHY.
    pub mac_tx: Lanes,
    pub phy_rx: Lanes,
    /// What it answers.
    pub outputs: PinsOut,
}

/// The outputs that are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PinsOut {
    pub mac_tx_enable: bool,
    pub phy_tx: Lanes,
    pub mac_rx: Lanes,
    pub power_state: PowerState,
    pub lpi_request: bool,
    pub lpi_active: bool,
    pub transmitting: bool,
    pub early_start: bool,
    pub hit: bool,
    pub miss: bool,
    pub rx_lpi: bool,
    pub receiving: bool,
    pub lpi_error: bool,
}

impl PinsOut {
    fn of(outputs: &Outputs) -> Self {
        let Outputs {
            port,
            mac_tx_enable,
            sent,
            received,
        } = outputs;
        PinsOut {
            mac_tx_enable: *mac_tx_enable,
            phy_tx: sent.word,
            mac_rx: received.word,
            power_state: port.power_state,
            lpi_request: port.lpi_request,
            lpi_active: sent.lpi_active,
            transmitting: sent.transmitting,
            early_start: sent.early_start,
            hit: port.hit,
            miss: port.miss,
            rx_lpi: received.rx_lpi,
            receiving: received.receiving,
            lpi_error: received.lpi_error,
        }
    }
}

/// What is in a word, by its control characters.
fn content(mii: Mii, word: Lanes) -> Level {
    let has = |character| {
        let characters = word.characters(mii);
        characters.contains(&Character::Control(character))
    };
    let whole = |character| word == Lanes::control(mii, character);
    Level::Named(match word {
        _ if whole(IDLE) => "idle",
        _ if whole(LPI) => "LPI",
        _ if has(START) => "start",
        _ if has(TERMINATE) => "end",
        _ => "data",
    })
}

/// A pin of one bit; `always`: in every diagram.
const fn bit(name: &'static str, always: bool, value: fn(&Pins) -> Level) -> Lane<Pins> {
    Lane {
        name,
        always,
        value,
    }
}

/// The pins in the diagrams of the direction that the port sends on.
pub(super) const SENT: [Lane<Pins>; 11] = [
    bit("queue_nonempty", true, |it| Level::Bit(it.waits)),
    bit("mac_tx_enable", true, |it| {
        Level::Bit(it.outputs.mac_tx_enable)
    }),
    bit("mac_tx word", true, |it| content(it.mii, it.mac_tx)),
    bit("phy_tx word", true, |it| content(it.mii, it.outputs.phy_tx)),
    bit("transmitting", true, |it| {
        Level::Bit(it.outputs.transmitting)
    }),
    bit("power_state", true, |it| {
        Level::Named(it.outputs.power_state.name())
    }),
    bit("lpi_request", true, |it| Level::Bit(it.outputs.lpi_request)),
    bit("lpi_active", true, |it| Level::Bit(it.outputs.lpi_active)),
    bit("early_start", false, |it| {
        Level::Bit(it.outputs.early_start)
    }),
    bit("hit", false, |it| Level::Bit(it.outputs.hit)),
    bit("miss", false, |it| Level::Bit(it.outputs.miss)),
];

/// Those of the direction that it receives on.
pub(super) const RECEIVED: [Lane<Pins>; 5] = [
    bit("phy_rx word", true, |it| content(it.mii, it.phy_rx)),
    bit("mac_rx word", true, |it| content(it.mii, it.outputs.mac_rx)),
    bit("rx_lpi", true, |it| Level::Bit(it.outputs.rx_lpi)),
    bit("receiving", true, |it| Level::Bit(it.outputs.receiving)),
    bit("lpi_error", false, |it| Level::Bit(it.outputs.lpi_error)),
];

/// The diagrams of a port.
#[derive(Clone, Debug)]
pub(super) struct Story {
    /// From the end of a frame, whose next cycle is 0 at the PHY, until LPI is sent and the direction is
    /// as deep asleep as it gets; and from a frame on that waits from cycle 0 on, until it has been sent.
    /// `None` of a port that never goes to sleep by itself.
    pub sent: Option<[Vec<Stretch<Pins>>; 2]>,
    /// LPI from the other end, whose first word comes from the PHY in cycle 0, and a frame behind it.
    pub received: Vec<Stretch<Pins>>,
}

/// What the port of a configuration does on this interface.
pub(super) fn story(plan: &PortPlan, mii: Mii, mac_latency: u32) -> Story {
    Story {
        sent: sent(plan, mii, mac_latency),
        received: received(plan, mii, mac_latency),
    }
}

fn sent(plan: &PortPlan, mii: Mii, mac_latency: u32) -> Option<[Vec<Stretch<Pins>>; 2]> {
    if plan.policy == Policy::AlwaysOn {
        return None;
    }
    let deepest = match plan.sleep {
        Sleep::FastWake => PowerState::FastWake,
        Sleep::DeepSleep | Sleep::Hybrid => PowerState::DeepSleep,
    };
    let asleep = |it: &PinsOut| it.lpi_active && it.power_state == deepest;
    let mut end = End::new(plan, mii, mac_latency);
    // From reset on, so that it waits for the other end to be awake.
    end.frame()?;
    let begin = end.now;
    end.run(asleep)?;
    end.hold(MARGIN);
    let mut sleep = end.record.take(begin);
    shorten(&mut sleep);

    end.hold(ASLEEP);
    // It may be refreshing.
    end.run(asleep)?;
    end.record = Record::new();
    end.hold(MARGIN);
    let begin = end.now;
    end.frame()?;
    end.hold(MARGIN);
    Some([sleep, end.record.take(begin)])
}

/// Leaves out all but the end of what comes before cycle 0.
fn shorten(stretches: &mut Vec<Stretch<Pins>>) {
    let first = -(MARGIN as i64);
    stretches.retain(|it| it.from + it.cycles as i64 > first);
    if let Some(stretch) = stretches.first_mut().filter(|it| it.from < first) {
        stretch.cycles -= stretch.from.abs_diff(first);
        stretch.from = first;
    }
}

fn received(plan: &PortPlan, mii: Mii, mac_latency: u32) -> Vec<Stretch<Pins>> {
    let [t_s, t_w] = End::times(plan);
    let mut end = End::new(plan, mii, mac_latency);
    end.hold(MARGIN);
    end.record = Record::new();
    end.hold(MARGIN);
    let begin = end.now;
    end.phy_rx = Lanes::control(mii, LPI);
    end.hold(t_s.saturating_add(ASLEEP));
    end.phy_rx = Lanes::control(mii, IDLE);
    end.hold(t_w);
    for (word, cycles) in frame(mii) {
        end.phy_rx = word;
        end.hold(cycles);
    }
    end.phy_rx = Lanes::control(mii, IDLE);
    end.hold(MARGIN + 1);
    end.record.take(begin)
}

/// The words of a frame, and for how many cycles each is sent.
fn frame(mii: Mii) -> [(Lanes, u64); 3] {
    let lanes = mii.lanes();
    // What the bytes are does not matter here.
    let word = |first: Option<u8>, others: Character| {
        let mut characters = vec![others; lanes as usize];
        if let (Some(first), Some(place)) = (first, characters.first_mut()) {
            *place = Character::Control(first);
        }
        Lanes::of(&characters)
    };
    let data = Character::Data(0x55);
    [
        (word(Some(START), data), 1),
        (word(None, data), u64::from(FRAME_BYTES / lanes - 1)),
        (word(Some(TERMINATE), Character::Control(IDLE)), 1),
    ]
}

/// A port with its MAC, whose other end sends `phy_rx`.
struct End {
    port: EthernetPort,
    mii: Mii,
    times: [u64; 2],
    waits: bool,
    mac_tx: Lanes,
    phy_rx: Lanes,
    now: u64,
    record: Record<Pins>,
}

impl End {
    /// `t_s` and `t_w` of the sleep state that the direction goes to in the end, in words: what the pins
    /// `t_s` and `t_w_sys` carry here, where there are any.
    fn times(plan: &PortPlan) -> [u64; 2] {
        let times = match plan.sleep {
            Sleep::FastWake => plan.link.fast_wake,
            Sleep::DeepSleep | Sleep::Hybrid => plan.link.deep_sleep,
        };
        [times.t_s, times.t_w]
    }

    fn new(plan: &PortPlan, mii: Mii, mac_latency: u32) -> End {
        End {
            port: EthernetPort::new(plan, mii, mac_latency),
            mii,
            times: End::times(plan),
            waits: false,
            mac_tx: Lanes::control(mii, IDLE),
            phy_rx: Lanes::control(mii, IDLE),
            now: 0,
            record: Record::new(),
        }
    }

    fn inputs(&self) -> Inputs {
        Inputs {
            port: pins::Inputs {
                queue_nonempty: self.waits,
                ..pins::Inputs::default()
            },
            mac_word: self.mac_tx,
            phy_word: self.phy_rx,
            link_fault: false,
            hold_off: 0,
            t_s: self.times[0],
            t_w_sys: self.times[1],
        }
    }

    fn outputs(&self) -> PinsOut {
        PinsOut::of(&self.port.outputs(&self.inputs()))
    }

    /// A frame waits, and is sent as soon as it may be; ends with the first cycle in which the word to the
    /// PHY has nothing of it.
    fn frame(&mut self) -> Option<()> {
        self.waits = true;
        self.run(|it| it.mac_tx_enable)?;
        for (word, cycles) in frame(self.mii) {
            self.mac_tx = word;
            for _ in 0..cycles {
                // The controller sees a frame that is on its way by `transmitting`.
                self.waits &= !self.outputs().transmitting;
                self.hold(1);
            }
        }
        self.mac_tx = Lanes::control(self.mii, IDLE);
        self.run(|it| !it.transmitting)
    }

    /// Runs until the outputs are as wanted; `None` if they never will be.
    fn run(&mut self, wanted: impl Fn(&PinsOut) -> bool) -> Option<()> {
        while !wanted(&self.outputs()) {
            if self.step(u64::MAX) == u64::MAX {
                return None;
            }
        }
        Some(())
    }

    /// Runs for so many cycles.
    fn hold(&mut self, cycles: u64) {
        let mut left = cycles;
        while left > 0 {
            left -= self.step(left);
        }
    }

    /// Runs for at most so many cycles in which no output changes; how many. If none ever changes again,
    /// it stands still.
    fn step(&mut self, most: u64) -> u64 {
        let inputs = self.inputs();
        let cycles = self.port.quiet_cycles(&inputs).min(most);
        if cycles == u64::MAX {
            return cycles;
        }
        let pins = Pins {
            mii: self.mii,
            waits: self.waits,
            mac_tx: self.mac_tx,
            phy_rx: self.phy_rx,
            outputs: self.outputs(),
        };
        self.record.push(self.now, cycles, pins);
        self.port.pass(&inputs, cycles);
        self.now += cycles;
        cycles
    }
}
