//! The pins of a port controller, as plain data.
//!
//! Shared by the packet model (which drives them), the golden model and the
//! co-simulation. Every output depends on registers alone: the outputs of a clock
//! cycle are known before its inputs are.

use crate::blocks::fixed_point::Arithmetic;
use crate::config::plan::PortPlan;

/// What the names of the AXI4-Lite pins of the registers begin with.
pub const REGISTER_PREFIX: &str = "s_axi_";

/// Width in bits of `packet_hops`: hop counts 0 to 63.
pub const HOPS_WIDTH: u32 = 6;

/// Width in bits of `message_in` and `message_out`.
pub const MESSAGE_WIDTH: u32 = 3;

/// A message between the two ends of a link (SPEC 5), as the pins encode it; one per clock
/// cycle at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Message {
    /// No message.
    #[default]
    None = 0,
    /// Asks to go down.
    ReqDown = 1,
    /// Asks to go up.
    ReqUp = 2,
    /// Accepts a request.
    Ack = 3,
    /// Refuses a request; from the end that asked, withdraws it.
    Nack = 4,
    /// The transition starts when this arrives, and in half a round trip where it was sent.
    Sync = 5,
}

impl Message {
    /// Every message, in the order of its encoding.
    pub const ALL: [Message; 6] = [
        Message::None,
        Message::ReqDown,
        Message::ReqUp,
        Message::Ack,
        Message::Nack,
        Message::Sync,
    ];

    /// The name in SPEC 5 and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Message::None => "none",
            Message::ReqDown => "REQ_DOWN",
            Message::ReqUp => "REQ_UP",
            Message::Ack => "ACK",
            Message::Nack => "NACK",
            Message::Sync => "SYNC",
        }
    }

    /// The message that the pins' value means to a port; the codes 6 and 7 are none.
    pub fn decode(code: u8) -> Message {
        let known = Message::ALL.get(usize::from(code));
        known.copied().unwrap_or_default()
    }
}

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
    /// One cycle per packet sent: `packet_hops` is valid.
    pub packet_valid: bool,
    /// Hop count from source to destination of the packet being sent, 0 to 63.
    pub packet_hops: u8,
    /// Levels only: the other end of the link has nothing to send and nothing is under way
    /// from it: it agrees to sleep.
    pub sleep_permit: bool,
    /// Levels only: the other end has begun a transition down and its last packet has
    /// arrived: this end follows.
    pub remote_down: bool,
    /// Levels only: the other end asks for the link to wake.
    pub remote_up: bool,
    /// Messages only: the strap that decides between requests that cross; 1 at one end of
    /// the link.
    pub initiator: bool,
    /// Messages only: the code of the message that arrives in this cycle, 0 to 7.
    pub message_in: u8,
}

/// An input pin of a port controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputPin {
    /// Its name in the Verilog.
    pub name: &'static str,
    /// Its lowest bit in [`Inputs::pack`].
    pub low: u32,
    /// Its width in bits.
    pub width: u32,
}

impl Inputs {
    /// The input pins that the controller of `plan` has.
    pub fn pins(plan: &PortPlan) -> Vec<InputPin> {
        let pin = |name, low, width| InputPin { name, low, width };
        let mut pins = vec![
            pin("rst", 0, 1),
            pin("queue_nonempty", 1, 1),
            pin("transmitting", 2, 1),
            pin("receiving", 3, 1),
            pin("packet_valid", 4, 1),
            pin("packet_hops", 5, HOPS_WIDTH),
        ];
        if plan.sync.is_some() {
            pins.extend([
                pin("initiator", 14, 1),
                pin("message_in", 15, MESSAGE_WIDTH),
            ]);
        } else {
            pins.extend([
                pin("sleep_permit", 11, 1),
                pin("remote_down", 12, 1),
                pin("remote_up", 13, 1),
            ]);
        }
        pins
    }

    /// All pins in one word, as [`Inputs::pins`] says.
    pub fn pack(&self) -> u32 {
        u32::from(self.rst)
            | u32::from(self.queue_nonempty) << 1
            | u32::from(self.transmitting) << 2
            | u32::from(self.receiving) << 3
            | u32::from(self.packet_valid) << 4
            | u32::from(self.packet_hops & 63) << 5
            | u32::from(self.sleep_permit) << 11
            | u32::from(self.remote_down) << 12
            | u32::from(self.remote_up) << 13
            | u32::from(self.initiator) << 14
            | u32::from(self.message_in & 7) << 15
    }

    /// The pins that [`Inputs::pack`] put into this word.
    pub fn unpack(word: u32) -> Inputs {
        let bit = |low: u32| word >> low & 1 == 1;
        Inputs {
            rst: bit(0),
            queue_nonempty: bit(1),
            transmitting: bit(2),
            receiving: bit(3),
            packet_valid: bit(4),
            packet_hops: (word >> 5 & 63) as u8,
            sleep_permit: bit(11),
            remote_down: bit(12),
            remote_up: bit(13),
            initiator: bit(14),
            message_in: (word >> 15 & 7) as u8,
        }
    }

    /// The value of one pin.
    pub fn value(&self, pin: &InputPin) -> u64 {
        u64::from(self.pack() >> pin.low & ((1 << pin.width) - 1))
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
    /// One cycle: there is a new threshold; `t_pb`, `window` and `budget` are those of the
    /// latest search (and, without a correction, new).
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
    /// `log2 cf` (SPEC 8) as fixed point in two's complement; 0 without misses
    /// (`perfbound-correct` only).
    pub log2_cf: u64,
    /// The message that leaves in this cycle (messages only).
    pub message_out: Message,
    /// The other end once did not answer in time; stays until reset (messages only).
    pub sync_error: bool,
}

/// The pins of a port controller, `clk` left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pins {
    /// Those that are driven.
    pub inputs: Vec<InputPin>,
    /// Those that are compared.
    pub outputs: Vec<OutputPin>,
}

impl Pins {
    /// The pins of the controller of `plan`.
    pub fn of(plan: &PortPlan) -> Pins {
        Pins {
            inputs: Inputs::pins(plan),
            outputs: Outputs::pins(plan),
        }
    }
}

/// An output pin of a port controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputPin {
    /// Its number, whichever pins a controller has: below [`Outputs::COUNT`].
    pub number: usize,
    /// Its name in the Verilog.
    pub name: &'static str,
    /// Its width in bits.
    pub width: u32,
}

impl Outputs {
    /// Output pins that a controller can have.
    pub const COUNT: usize = 12;

    /// The output pins that the controller of `plan` has.
    pub fn pins(plan: &PortPlan) -> Vec<OutputPin> {
        let pin = |number, name, width| OutputPin {
            number,
            name,
            width,
        };
        let mut pins = vec![
            pin(0, "tx_enable", 1),
            pin(1, "power_state", 3),
            pin(2, "hit", 1),
            pin(3, "miss", 1),
            pin(4, "t_pdt", plan.time_width),
        ];
        if plan.predicts() {
            pins.extend([
                pin(5, "update", 1),
                pin(6, "t_pb", plan.time_width),
                pin(7, "window", plan.time_width),
                pin(8, "budget", plan.budget.width),
            ]);
        }
        if plan.corrects() {
            pins.push(pin(11, "log2_cf", Arithmetic::new(plan).log2_cf_bits()));
        }
        if plan.sync.is_some() {
            pins.extend([
                pin(9, "message_out", MESSAGE_WIDTH),
                pin(10, "sync_error", 1),
            ]);
        }
        pins
    }

    /// The value of the pin of that number.
    ///
    /// # Panics
    /// If there is no such pin.
    pub fn value(&self, number: usize) -> u64 {
        match number {
            0 => self.tx_enable.into(),
            1 => self.power_state as u64,
            2 => self.hit.into(),
            3 => self.miss.into(),
            4 => self.t_pdt,
            5 => self.update.into(),
            6 => self.t_pb,
            7 => self.window,
            8 => self.budget,
            9 => self.message_out as u64,
            10 => self.sync_error.into(),
            11 => self.log2_cf,
            _ => panic!("a port controller has at most {} output pins", Self::COUNT),
        }
    }
}
