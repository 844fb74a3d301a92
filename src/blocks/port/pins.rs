//! The pins of a port controller, as plain data.
//!
//! Shared by the packet model (which drives them), the golden model and the
//! co-simulation. Every output depends on registers alone: the outputs of a clock
//! cycle are known before its inputs are.

use std::ops::{Index, IndexMut};

use crate::blocks::axi_lite::golden as axi;
use crate::blocks::axi_lite::DATA_WIDTH;
use crate::blocks::csr::map::{address_bits, MAX_PORTS, PAGE_BITS};
use crate::blocks::fixed_point::Arithmetic;
use crate::blocks::lpi_fsm::COPY_CODE;
use crate::config::plan::{PortPlan, SyncPlan, HOPS_WIDTH};

/// Width in bits of `message_in` and `message_out`.
pub const MESSAGE_WIDTH: u32 = 3;

/// Declares what a pin says: its codes, from 0 on, with their names in reports.
macro_rules! codes {
    ($(#[$meta:meta])* $type:ident { $($(#[$doc:meta])* $code:ident = $name:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $type {
            $($(#[$doc])* $code,)*
        }

        impl $type {
            /// Every one, in the order of the encoding.
            pub const ALL: [$type; [$($name),*].len()] = [$($type::$code),*];

            /// The name in reports and JSON.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$code => $name,)*
                }
            }
        }
    };
}

codes! {
    /// A message between the two ends of a link (SPEC 5), as the pins encode it; one per clock
    /// cycle at most.
    Message {
        /// No message.
        #[default]
        None = "none",
        /// Asks to go down.
        ReqDown = "REQ_DOWN",
        /// Asks to go up.
        ReqUp = "REQ_UP",
        /// Accepts a request.
        Ack = "ACK",
        /// Refuses a request; from the end that asked, withdraws it.
        Nack = "NACK",
        /// The transition starts when this arrives, and in half a round trip where it was sent.
        Sync = "SYNC",
    }
}

impl Message {
    /// The message that the pins' value means to a port; the codes 6 and 7 are none.
    pub fn decode(code: u8) -> Message {
        let known = Message::ALL.get(usize::from(code));
        known.copied().unwrap_or_default()
    }
}

/// What a pin carries, as bits.
pub trait PinValue: Copy {
    /// The bits.
    fn encode(self) -> u64;

    /// What the bits mean.
    fn decode(bits: u64) -> Self;
}

impl PinValue for bool {
    #[inline]
    fn encode(self) -> u64 {
        self.into()
    }
    fn decode(bits: u64) -> Self {
        bits & 1 == 1
    }
}

impl PinValue for u8 {
    #[inline]
    fn encode(self) -> u64 {
        self.into()
    }
    fn decode(bits: u64) -> Self {
        bits as u8
    }
}

impl PinValue for u32 {
    #[inline]
    fn encode(self) -> u64 {
        self.into()
    }
    fn decode(bits: u64) -> Self {
        bits as u32
    }
}

impl PinValue for u64 {
    #[inline]
    fn encode(self) -> u64 {
        self
    }
    fn decode(bits: u64) -> Self {
        bits
    }
}

impl PinValue for Message {
    #[inline]
    fn encode(self) -> u64 {
        self as u64
    }
    fn decode(bits: u64) -> Self {
        Message::decode(bits as u8)
    }
}

impl PinValue for PowerState {
    #[inline]
    fn encode(self) -> u64 {
        self as u64
    }
    /// A state that does not exist is `Wake`.
    fn decode(bits: u64) -> Self {
        let known = PowerState::ALL.get(bits as usize);
        known.copied().unwrap_or_default()
    }
}

/// An input pin of a port controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputPin {
    /// Its name in the Verilog.
    pub name: &'static str,
    /// Its word in [`Inputs::pack`].
    pub word: usize,
    /// Its lowest bit in that word.
    pub low: u32,
    /// Its width in bits.
    pub width: u32,
    /// Bytes of its field in [`Inputs`].
    pub bytes: usize,
}

impl InputPin {
    /// All its bits, from the lowest of a word.
    pub const fn mask(&self) -> u64 {
        (1 << self.width) - 1
    }
}

/// Places the pins of these names, widths and bytes side by side, the first one lowest; what does not
/// fit into a word goes to the next.
const fn side_by_side<const N: usize>(pins: [(&'static str, u32, usize); N]) -> [InputPin; N] {
    let mut placed = [InputPin {
        name: "",
        word: 0,
        low: 0,
        width: 0,
        bytes: 0,
    }; N];
    let (mut word, mut low, mut pin) = (0, 0, 0);
    while pin < N {
        let (name, width, bytes) = pins[pin];
        if low + width > u64::BITS {
            word += 1;
            low = 0;
        }
        placed[pin] = InputPin {
            name,
            word,
            low,
            width,
            bytes,
        };
        low += width;
        pin += 1;
    }
    placed
}

/// What no bit set means.
macro_rules! zero {
    (bool) => {
        false
    };
    ($number:ident) => {
        0
    };
}

/// Declares the input pins: field, type, width in bits, and which controllers have it.
macro_rules! input_pins {
    ($($(#[$doc:meta])* $field:ident: $type:ident, $width:expr, if $present:expr;)*) => {
        /// The inputs of one clock cycle, `clk` left out; laid out as the harness of the
        /// co-simulation is told ([`crate::cosim::run_header`]).
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct Inputs {
            $($(#[$doc])* pub $field: $type,)*
        }

        /// The harness compares inputs byte by byte: each byte is of a pin.
        const _: () = assert!(size_of::<Inputs>() == 0 $(+ size_of::<$type>())*);

        /// The places of the pins among those of the word.
        #[allow(non_camel_case_types)]
        enum InputNumber {
            $($field),*
        }

        impl Inputs {
            /// Every input pin that a controller can have.
            pub const PINS: [InputPin; [$(InputNumber::$field as usize),*].len()] =
                side_by_side([$((stringify!($field), $width, size_of::<$type>())),*]);

            /// The input pins that the controller of `plan` has.
            pub fn pins(plan: &PortPlan) -> Vec<InputPin> {
                Self::pins_with_address(plan, PAGE_BITS)
            }

            /// The same with byte addresses of so many bits.
            fn pins_with_address(plan: &PortPlan, address_bits: u32) -> Vec<InputPin> {
                let present: [fn(&PortPlan) -> bool; Self::PINS.len()] = [$($present),*];
                let pins = Self::PINS.iter().zip(present);
                pins.filter(|(_, present)| present(plan))
                    .map(|(pin, _)| InputPin {
                        width: match pin.name {
                            "s_axi_awaddr" | "s_axi_araddr" => address_bits,
                            _ => pin.width,
                        },
                        ..*pin
                    })
                    .collect()
            }

            /// Words of [`Inputs::pack`].
            pub const WORDS: usize = Inputs::PINS[Inputs::PINS.len() - 1].word + 1;

            /// All pins in words, as [`Inputs::PINS`] says.
            #[inline]
            pub fn pack(&self) -> [u64; Inputs::WORDS] {
                let mut words = [0; Inputs::WORDS];
                $({
                    const PIN: InputPin = Inputs::PINS[InputNumber::$field as usize];
                    words[PIN.word] |= (self.$field.encode() & PIN.mask()) << PIN.low;
                })*
                words
            }

            /// All pins 0.
            const fn zero() -> Inputs {
                Inputs { $($field: zero!($type),)* }
            }

            /// The pins that [`Inputs::pack`] put into these words.
            pub fn unpack(words: [u64; Inputs::WORDS]) -> Inputs {
                Inputs {
                    $($field: {
                        const PIN: InputPin = Inputs::PINS[InputNumber::$field as usize];
                        PinValue::decode(words[PIN.word] >> PIN.low & PIN.mask())
                    },)*
                }
            }
        }
    };
}

/// What the shims of an Ethernet port say of low power idle (LPI) in a cycle, where each direction of a
/// link sleeps for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LowPowerIdle {
    /// The other end sends LPI.
    pub received: bool,
    /// This end sends LPI.
    pub sent: bool,
    /// What is received of it is malformed, or a frame comes right behind it.
    pub error: bool,
    /// A frame is sent before the other end is awake.
    pub early_start: bool,
}

input_pins! {
    /// Synchronous reset, active high.
    rst: bool, 1, if |_| true;
    /// This port's output queue holds a packet.
    queue_nonempty: bool, 1, if |_| true;
    /// A packet is leaving over the link.
    transmitting: bool, 1, if |_| true;
    /// A packet is arriving over the link; no activity of a direction that sleeps for itself, which
    /// has no such pin.
    receiving: bool, 1, if |plan| !plan.per_direction();
    /// One cycle per packet sent: `packet_hops` is valid.
    packet_valid: bool, 1, if |_| true;
    /// Hop count from source to destination of the packet being sent, 0 to 63.
    packet_hops: u8, HOPS_WIDTH, if |_| true;
    /// Levels only: the other end of the link has nothing to send and nothing is under way
    /// from it: it agrees to sleep.
    sleep_permit: bool, 1, if |plan| plan.sync == SyncPlan::Levels;
    /// Levels only: the other end has begun a transition down and its last packet has
    /// arrived: this end follows.
    remote_down: bool, 1, if |plan| plan.sync == SyncPlan::Levels;
    /// Levels only: the other end asks for the link to wake.
    remote_up: bool, 1, if |plan| plan.sync == SyncPlan::Levels;
    /// Messages only: the strap that decides between requests that cross; 1 at one end of
    /// the link.
    initiator: bool, 1, if |plan| plan.messages().is_some();
    /// Messages only: the code of the message that arrives in this cycle, 0 to 7.
    message_in: u8, MESSAGE_WIDTH, if |plan| plan.messages().is_some();
    /// Control pins only, as are the next two: the link may go to sleep.
    enable: bool, 1, if |plan| plan.control_pins;
    /// The link is to wake, and to stay awake.
    force_wake: bool, 1, if |plan| plan.control_pins;
    /// The PHY has a link.
    link_up: bool, 1, if |plan| plan.control_pins;
    /// Control pins and messages only: `sync_error` is cleared.
    clear_error: bool, 1, if |plan| plan.control_pins && plan.messages().is_some();
    /// Registers of a direction that sleeps for itself only, as are the next three, which software learns
    /// of: the other end sends low power idle.
    rx_lpi: bool, 1, if |plan| plan.counts_lpi();
    /// This end sends it.
    lpi_active: bool, 1, if |plan| plan.counts_lpi();
    /// What is received of it is malformed, or a frame comes right behind it.
    lpi_error: bool, 1, if |plan| plan.counts_lpi();
    /// A frame is sent before the other end is awake.
    early_start: bool, 1, if |plan| plan.counts_lpi();
    /// Registers in three copies only: 1 to 3: that copy of every register is stored wrong at the
    /// clock edge, as a test.
    inject_upset: u8, COPY_CODE, if |plan| plan.triple_redundancy;
    /// Registers only, as are all that follow (AXI4-Lite): there is a write address.
    s_axi_awvalid: bool, 1, if has_registers;
    /// Protection of the write, not read.
    s_axi_awprot: u8, 3, if has_registers;
    /// There is data to write.
    s_axi_wvalid: bool, 1, if has_registers;
    /// Which of its bytes to write.
    s_axi_wstrb: u8, DATA_WIDTH / 8, if has_registers;
    /// The answer to a write is taken.
    s_axi_bready: bool, 1, if has_registers;
    /// There is a read address.
    s_axi_arvalid: bool, 1, if has_registers;
    /// Protection of the read, not read.
    s_axi_arprot: u8, 3, if has_registers;
    /// The answer to a read is taken.
    s_axi_rready: bool, 1, if has_registers;
    /// Write address in bytes; a switch has one for all its ports.
    s_axi_awaddr: u32, address_bits(MAX_PORTS), if has_registers;
    /// Read address in bytes; a switch has one for all its ports.
    s_axi_araddr: u32, address_bits(MAX_PORTS), if has_registers;
    /// Data to write.
    s_axi_wdata: u32, DATA_WIDTH, if has_registers;
}

fn has_registers(plan: &PortPlan) -> bool {
    plan.registers.is_some()
}

impl Default for Inputs {
    /// Everything 0, but for a link that is there and may sleep.
    #[inline]
    fn default() -> Inputs {
        Inputs {
            enable: true,
            link_up: true,
            ..Inputs::zero()
        }
    }
}

impl Inputs {
    /// These inputs with a change.
    #[inline]
    pub fn with(mut self, change: impl FnOnce(&mut Inputs)) -> Inputs {
        change(&mut self);
        self
    }

    /// The inputs of an idle port whose other end permits to sleep.
    #[inline]
    pub fn quiet() -> Inputs {
        Inputs::default().with(|pins| pins.sleep_permit = true)
    }

    /// The same with a packet in the queue.
    pub fn waiting() -> Inputs {
        Inputs::quiet().with(|pins| pins.queue_nonempty = true)
    }

    /// The same while it is leaving.
    pub fn sending() -> Inputs {
        Inputs::waiting().with(|pins| pins.transmitting = true)
    }

    /// These inputs with what `software` drives at the AXI4-Lite port.
    #[must_use]
    pub fn with_axi_of(self, software: &Inputs) -> Inputs {
        Inputs {
            rst: self.rst,
            queue_nonempty: self.queue_nonempty,
            transmitting: self.transmitting,
            receiving: self.receiving,
            packet_valid: self.packet_valid,
            packet_hops: self.packet_hops,
            sleep_permit: self.sleep_permit,
            remote_down: self.remote_down,
            remote_up: self.remote_up,
            initiator: self.initiator,
            message_in: self.message_in,
            enable: self.enable,
            force_wake: self.force_wake,
            link_up: self.link_up,
            clear_error: self.clear_error,
            rx_lpi: self.rx_lpi,
            lpi_active: self.lpi_active,
            lpi_error: self.lpi_error,
            early_start: self.early_start,
            inject_upset: self.inject_upset,
            ..*software
        }
    }

    /// What the shims say of low power idle.
    pub fn lpi(&self) -> LowPowerIdle {
        LowPowerIdle {
            received: self.rx_lpi,
            sent: self.lpi_active,
            error: self.lpi_error,
            early_start: self.early_start,
        }
    }

    /// What the manager drives at the AXI4-Lite port.
    pub fn axi(&self) -> axi::Inputs {
        axi::Inputs {
            aw: self.s_axi_awvalid.then_some(self.s_axi_awaddr),
            w: self
                .s_axi_wvalid
                .then_some((self.s_axi_wdata, self.s_axi_wstrb)),
            b_ready: self.s_axi_bready,
            ar: self.s_axi_arvalid.then_some(self.s_axi_araddr),
            r_ready: self.s_axi_rready,
        }
    }

    /// The value of one pin.
    pub fn value(&self, pin: &InputPin) -> u64 {
        self.pack()[pin.word] >> pin.low & pin.mask()
    }

    /// A port is active while its output queue holds a packet, while it transmits or
    /// while it receives (SPEC 2); the control pins are not looked at.
    #[inline]
    pub fn active(&self) -> bool {
        self.queue_nonempty || self.transmitting || self.receiving
    }
}

codes! {
    /// The state of the link at this end, as the pin `power_state` encodes it (3 bits).
    PowerState {
        /// Ready to transmit; full power.
        #[default]
        Wake = "wake",
        /// On the way down; full power, nothing is transmitted.
        GoingDown = "going-down",
        /// Asleep with most of the PHY on.
        FastWake = "fast-wake",
        /// Asleep, deepest.
        DeepSleep = "deep-sleep",
        /// Refreshing within deep sleep; full power, nothing is transmitted.
        Refresh = "refresh",
        /// On the way up; full power, nothing is transmitted.
        GoingUp = "going-up",
    }
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

/// A pin of a top module: which port's it is, and what it is called there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopPin<P> {
    /// The port; 0 for a pin that all ports share.
    pub port: usize,
    /// Its name in the Verilog.
    pub name: String,
    /// What the port knows it as.
    pub pin: P,
}

/// The pins of a top module, `clk` left out: of one port, or of the ports of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopPins {
    /// The module, without a prefix.
    pub top: &'static str,
    /// How many ports it has.
    pub ports: usize,
    /// Those that are driven.
    pub inputs: Vec<TopPin<InputPin>>,
    /// Those that are compared.
    pub outputs: Vec<TopPin<OutputPin>>,
}

impl TopPins {
    /// The pins of the controller of `plan`.
    pub fn of_port(plan: &PortPlan) -> TopPins {
        let pins = Pins::of(plan);
        TopPins {
            top: "port",
            ports: 1,
            inputs: of_ports(&pins.inputs, 1, |pin| (pin.name, true)),
            outputs: of_ports(&pins.outputs, 1, |pin| (pin.name, true)),
        }
    }

    /// The pins of a switch of so many ports of `plan`
    /// ([`crate::blocks::switch_ports::SwitchPorts`]): reset and AXI4-Lite for all together, then
    /// what every port has of its own; the interrupts are joined. What else a port knows is read
    /// through its registers.
    pub fn of_switch(plan: &PortPlan, ports: usize) -> TopPins {
        let shared = |name: &str| matches!(name, "rst" | "irq") || name.starts_with("s_axi_");
        let at_switch = |pin: Pin| {
            shared(pin.name())
                || matches!(
                    pin,
                    Pin::TxEnable
                        | Pin::PowerState
                        | Pin::MessageOut
                        | Pin::LpiRequest
                        | Pin::Upset
                )
        };
        let count = u32::try_from(ports).unwrap_or(MAX_PORTS);
        let mut inputs = Inputs::pins_with_address(plan, address_bits(count));
        // The error that it clears is a pin of a port, which software does not see.
        inputs.retain(|pin| pin.name != "clear_error");
        let mut outputs = Outputs::pins(plan);
        outputs.retain(|pin| at_switch(pin.pin));
        TopPins {
            top: "switch_ports",
            ports,
            inputs: of_ports(&inputs, ports, |pin| (pin.name, shared(pin.name))),
            outputs: of_ports(&outputs, ports, |pin| (pin.name, shared(pin.name))),
        }
    }
}

/// Pins of all ports: those that they share, then those of each port; `what` gives a pin's name, and
/// whether it is shared.
fn of_ports<P: Copy>(
    pins: &[P],
    ports: usize,
    what: impl Fn(&P) -> (&'static str, bool),
) -> Vec<TopPin<P>> {
    let mut all = Vec::new();
    for &pin in pins {
        match what(&pin) {
            (name, true) => all.push(TopPin {
                port: 0,
                name: name.to_owned(),
                pin,
            }),
            (name, false) => all.extend((0..ports).map(|port| TopPin {
                port,
                name: format!("{name}_{port}"),
                pin,
            })),
        }
    }
    all
}

/// An output pin of the controller of one configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputPin {
    /// Which one.
    pub pin: Pin,
    /// Its name in the Verilog.
    pub name: &'static str,
    /// Its width in bits.
    pub width: u32,
}

/// How wide an output pin is.
#[derive(Clone, Copy)]
enum Size {
    /// So many bits, which are packed with those of other pins.
    Bits(u32),
    /// As the configuration says; the pin has a word of its own.
    Word(fn(&PortPlan) -> u32),
}

/// Where [`Outputs::pack`] puts a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// So many bits of the first word, from bit `low`.
    Bits {
        /// The lowest of them.
        low: u32,
        /// How many.
        width: u32,
    },
    /// A further word, by its number.
    Word(usize),
}

/// The places of pins of these sizes, and how many words there are.
const fn places<const N: usize>(sizes: &[Size; N]) -> ([Place; N], usize) {
    let mut places = [Place::Word(0); N];
    let (mut low, mut words, mut pin) = (0, 0, 0);
    while pin < N {
        match sizes[pin] {
            Size::Bits(width) => {
                places[pin] = Place::Bits { low, width };
                low += width;
            }
            Size::Word(_) => {
                places[pin] = Place::Word(words);
                words += 1;
            }
        }
        pin += 1;
    }
    (places, words)
}

/// Declares the output pins: number, field, type, size, and which controllers have it.
macro_rules! output_pins {
    ($($(#[$doc:meta])* $pin:ident $field:ident: $type:ty, $size:expr, if $present:expr;)*) => {
        /// An output pin that a port controller can have.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Pin {
            $($(#[$doc])* $pin,)*
        }

        impl Pin {
            /// Every output pin.
            pub const ALL: [Pin; [$(Pin::$pin),*].len()] = [$(Pin::$pin),*];
            /// How many there are.
            pub const COUNT: usize = Pin::ALL.len();
            const SIZES: [Size; Pin::COUNT] = [$($size),*];
            const PLACES: ([Place; Pin::COUNT], usize) = places(&Pin::SIZES);

            /// Its name in the Verilog.
            pub fn name(self) -> &'static str {
                match self {
                    $(Pin::$pin => stringify!($field),)*
                }
            }

            fn is_present(self, plan: &PortPlan) -> bool {
                let present: fn(&PortPlan) -> bool = match self {
                    $(Pin::$pin => $present,)*
                };
                present(plan)
            }
        }

        /// The outputs of one clock cycle.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Outputs {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Outputs {
            /// The value of a pin.
            pub fn value(&self, pin: Pin) -> u64 {
                match pin {
                    $(Pin::$pin => self.$field.encode(),)*
                }
            }

            /// The outputs with these values.
            pub fn decode(values: &Values) -> Outputs {
                Outputs {
                    $($field: PinValue::decode(values[Pin::$pin]),)*
                }
            }

            /// The outputs that [`Outputs::pack`] put into these bits.
            #[inline]
            pub fn unpack(packed: &PackedOutputs) -> Outputs {
                Outputs {
                    $($field: PinValue::decode(match const { Pin::$pin.place() } {
                        Place::Bits { low, width } => packed.bits >> low & ((1 << width) - 1),
                        Place::Word(word) => packed.words[word],
                    }),)*
                }
            }

            /// All pins as bits.
            #[inline]
            pub fn pack(&self) -> PackedOutputs {
                let (mut bits, mut words) = (0, [0; Outputs::WORDS]);
                $(
                    match const { Pin::$pin.place() } {
                        Place::Bits { low, .. } => bits |= self.$field.encode() << low,
                        Place::Word(word) => words[word] = self.$field.encode(),
                    }
                )*
                PackedOutputs { bits, words }
            }
        }
    };
}

output_pins! {
    /// The port may start a packet.
    TxEnable tx_enable: bool, Size::Bits(1), if |_| true;
    /// The state of the link at this end.
    PowerState power_state: PowerState, Size::Bits(3), if |_| true;
    /// Low power idle is to be sent: the direction is asleep, or on its way there (SPEC 14).
    LpiRequest lpi_request: bool, Size::Bits(1), if PortPlan::per_direction;
    /// One cycle after an idle period that the link spent awake.
    Hit hit: bool, Size::Bits(1), if |_| true;
    /// One cycle after an idle period in which the link left `Wake`.
    Miss miss: bool, Size::Bits(1), if |_| true;
    /// The power-down threshold that governs this idle period, or the next one while
    /// the port is active, in ticks.
    TPdt t_pdt: u64, Size::Word(|plan| plan.time_width), if |_| true;
    /// One cycle: there is a new threshold; `t_pb`, `window` and `budget` are those of the
    /// latest search (and, without a correction, new).
    Update update: bool, Size::Bits(1), if PortPlan::predicts;
    /// PerfBound's threshold, in ticks (predicting policies only).
    TPb t_pb: u64, Size::Word(|plan| plan.time_width), if PortPlan::predicts;
    /// `X` of that threshold: ticks since the window of the histogram began.
    Window window: u64, Size::Word(|plan| plan.time_width), if PortPlan::predicts;
    /// `N` of that threshold: packets that may be delayed.
    Budget budget: u64, Size::Word(|plan| plan.budget.width), if PortPlan::predicts;
    /// `log2 cf` (SPEC 8) as fixed point in two's complement; 0 without misses
    /// (`perfbound-correct` only).
    Log2Cf log2_cf: u64, Size::Word(|plan| Arithmetic::new(plan).log2_cf_bits()),
        if PortPlan::corrects;
    /// The message that leaves in this cycle (messages only).
    MessageOut message_out: Message, Size::Bits(MESSAGE_WIDTH), if |plan| plan.messages().is_some();
    /// The other end once did not answer in time; stays until reset, or `clear_error` (messages
    /// only).
    SyncError sync_error: bool, Size::Bits(1), if |plan| plan.messages().is_some();
    /// A copy of a register differed from the two others (registers in three copies only).
    Upset upset: bool, Size::Bits(1), if |plan| plan.triple_redundancy;
    /// Wrong bits in words of a memory: 1, put right; 2, not (memories with a code only).
    MemoryUpset memory_upset: u8, Size::Bits(2), if PortPlan::codes_memories;
    /// An event that software has enabled has happened (registers only, as are all that follow).
    Irq irq: bool, Size::Bits(1), if has_registers;
    /// A write address is taken.
    AwReady s_axi_awready: bool, Size::Bits(1), if has_registers;
    /// Data to write is taken.
    WReady s_axi_wready: bool, Size::Bits(1), if has_registers;
    /// A write is answered.
    BValid s_axi_bvalid: bool, Size::Bits(1), if has_registers;
    /// The answer to the last write.
    BResp s_axi_bresp: u8, Size::Bits(2), if has_registers;
    /// A read address is taken.
    ArReady s_axi_arready: bool, Size::Bits(1), if has_registers;
    /// A read is answered.
    RValid s_axi_rvalid: bool, Size::Bits(1), if has_registers;
    /// The answer to the last read.
    RResp s_axi_rresp: u8, Size::Bits(2), if has_registers;
    /// What the last read found.
    RData s_axi_rdata: u32, Size::Word(|_| DATA_WIDTH), if has_registers;
}

/// The outputs of one clock cycle as bits ([`Outputs::pack`]): quickly copied and compared.
#[derive(Clone, Copy, Debug, Eq)]
pub struct PackedOutputs {
    /// The pins of a few bits.
    pub bits: u64,
    /// The others, a word each.
    pub words: [u64; Outputs::WORDS],
}

impl PackedOutputs {
    /// The pins.
    #[inline]
    pub fn unpack(&self) -> Outputs {
        Outputs::unpack(self)
    }
}

impl PartialEq for PackedOutputs {
    /// Without a branch at each word.
    #[inline]
    fn eq(&self, other: &PackedOutputs) -> bool {
        let mut differing = self.bits ^ other.bits;
        for word in 0..Outputs::WORDS {
            differing |= self.words[word] ^ other.words[word];
        }
        differing == 0
    }
}

impl Pin {
    /// Where [`Outputs::pack`] puts it.
    pub const fn place(self) -> Place {
        Pin::PLACES.0[self as usize]
    }
}

impl Outputs {
    /// Words of [`Outputs::pack`] beside the first.
    pub const WORDS: usize = Pin::PLACES.1;

    /// The output pins that the controller of `plan` has.
    pub fn pins(plan: &PortPlan) -> Vec<OutputPin> {
        let present = Pin::ALL.iter().filter(|pin| pin.is_present(plan));
        present
            .map(|&pin| OutputPin {
                pin,
                name: pin.name(),
                width: match Pin::SIZES[pin as usize] {
                    Size::Bits(width) => width,
                    Size::Word(width) => width(plan),
                },
            })
            .collect()
    }

    /// With what the AXI4-Lite port drives.
    #[must_use]
    #[inline]
    pub fn with_axi(self, axi: &axi::Outputs) -> Outputs {
        Outputs {
            s_axi_awready: axi.aw_ready,
            s_axi_wready: axi.w_ready,
            s_axi_bvalid: axi.b_valid,
            s_axi_bresp: axi.b_response,
            s_axi_arready: axi.ar_ready,
            s_axi_rvalid: axi.r_valid,
            s_axi_rresp: axi.r_response,
            s_axi_rdata: axi.r_data,
            ..self
        }
    }

    /// What the registers alone decide taken away.
    #[must_use]
    pub fn without_registers(self) -> Outputs {
        Outputs {
            irq: false,
            ..self.with_axi(&axi::Outputs::default())
        }
    }

    /// The values of all pins.
    pub fn values(&self) -> Values {
        Values(Pin::ALL.map(|pin| self.value(pin)))
    }
}

/// A value for every output pin; 0 where a controller lacks it.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Values([u64; Pin::COUNT]);

impl Index<Pin> for Values {
    type Output = u64;

    fn index(&self, pin: Pin) -> &u64 {
        &self.0[pin as usize]
    }
}

impl IndexMut<Pin> for Values {
    fn index_mut(&mut self, pin: Pin) -> &mut u64 {
        &mut self.0[pin as usize]
    }
}
