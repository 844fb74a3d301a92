//! Co-simulation: the emitted Verilog and the golden model in lock step.
//!
//! A [`Model`] (golden) is clocked with an [`Activity`]; what it did is written down as
//! [`Run`]s, stretches of cycles with constant inputs and constant outputs, and an
//! [`Rtl`] engine clocks the same inputs and compares every output in every cycle. So
//! one driver ([`LockStep`]) compares the golden model with any of the engines:
//! [`verilator`] (the emitted Verilog, compiled) and [`native`] (the simulation of the
//! description itself).

pub mod cache;
pub mod code_coverage;
pub mod controls;
pub mod coverage;
#[cfg(test)]
pub(crate) mod fixture;
mod glue;
pub mod in_loop;
pub mod interrupted;
pub mod line_rate;
mod low_power_idle;
pub mod native;
pub mod open_loop;
pub mod pair;
pub mod peer;
pub mod periods;
pub mod port;
mod predictor;
pub mod random;
pub mod scenario;
mod scoreboard;
pub mod software;
pub mod switch;
mod transfers;
mod two_threads;
mod upsets;
pub mod verilator;
pub mod wave;

mod lock_step;

use code_coverage::CodeCoverage;
pub use lock_step::LockStep;
pub use scoreboard::{Ended, Mismatch, Tally};

pub use crate::blocks::port::model::Model;

use std::ops::ControlFlow;

use crate::blocks::port::pins::{
    Inputs, Outputs, PackedOutputs, Pin, PinValue, Place, PowerState, Values,
};
use crate::config::plan::PortPlan;

/// What a port is to be compared with: the same controller in all its forms.
pub trait Design {
    /// The golden model.
    type Golden: Model + Send;
    /// The configuration in the units of the hardware.
    fn plan(&self) -> &PortPlan;
    /// Clock period in picoseconds, for the time axis of waveforms.
    fn period_ps(&self) -> u64;

    /// What its configuration cannot do ([`crate::config::Config::notes`]).
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
    /// A golden model just after reset.
    fn golden(&self) -> Self::Golden;
    /// The Verilog, as file names and texts; the top module is `port`, behind the prefix of the
    /// configuration.
    ///
    /// # Errors
    /// If the description does not elaborate; the message says why.
    fn verilog(&self) -> anyhow::Result<Vec<(String, String)>>;
    /// The simulation of the description itself, just built.
    ///
    /// # Errors
    /// If the description does not elaborate; the message says why.
    fn native(&self) -> anyhow::Result<Box<dyn native::ByName + Send>>;
}

/// Consecutive cycles with the same inputs and the same outputs of the golden model; laid
/// out as [`run_header`] tells the harness.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// At least 1.
    pub cycles: u64,
    /// The input pins.
    pub inputs: Inputs,
    /// [`Outputs::pack`].
    bits: u64,
    words: [u64; Outputs::WORDS],
}

/// `run.h`, what crosses the border between Rust ([`Run`], [`Difference`]) and the harness.
pub fn run_header() -> String {
    let inputs = Inputs::PINS.map(|pin| format!("    uint{}_t {};", 8 * pin.bytes, pin.name));
    let (mut bits, mut words) = (Vec::new(), Vec::new());
    for pin in Pin::ALL {
        let name = pin.name();
        match pin.place() {
            Place::Bits { low, width } => {
                bits.push(format!("    // {name}: {width} from bit {low}"))
            }
            Place::Word(word) => words.push(format!("    // {word}: {name}")),
        }
    }
    format!(
        "// Generated from the pins of the port (src/blocks/port/pins.rs) by src/cosim/mod.rs.\n\
         #pragma once\n\n#include <cstdint>\n\n\
         // The input pins.\nstruct Inputs {{\n{}\n}};\n\n\
         // Consecutive cycles with the same inputs and the same expected outputs.\n\
         struct Run {{\n    uint64_t cycles;\n    Inputs inputs;\n{}\n    \
         uint64_t bits;\n{}\n    uint64_t words[{}];\n}};\n\
         static_assert(sizeof(Run) == {}, \"as large as in Rust\");\n\n\
         // Where and how the model departs from what was expected.\n\
         struct Difference {{\n    uint64_t run;    // index of the run\n    \
         uint64_t cycle;  // cycle within the run\n    \
         uint64_t actual[{}];  // by pin, in the order of Pin::ALL\n}};\n",
        inputs.join("\n"),
        bits.join("\n"),
        words.join("\n"),
        Outputs::WORDS,
        size_of::<Run>(),
        Pin::COUNT
    )
}

impl Run {
    /// A run of `cycles` cycles.
    #[inline]
    pub fn new(cycles: u64, inputs: &Inputs, expected: &Outputs) -> Run {
        Run::one_cycle(*inputs, expected.pack()).with_cycles(cycles)
    }

    /// A run of one cycle.
    #[inline]
    fn one_cycle(inputs: Inputs, expected: PackedOutputs) -> Run {
        let PackedOutputs { bits, words } = expected;
        Run {
            cycles: 1,
            inputs,
            bits,
            words,
        }
    }

    /// Whether these are the expected outputs.
    fn expects(&self, outputs: &PackedOutputs) -> bool {
        let Run { bits, words, .. } = *self;
        PackedOutputs { bits, words } == *outputs
    }

    /// The same run with another length.
    #[must_use]
    #[inline]
    pub fn with_cycles(self, cycles: u64) -> Run {
        Run { cycles, ..self }
    }

    /// Whether inputs and outputs are those of `other`.
    pub fn same_pins(&self, other: &Run) -> bool {
        self.with_cycles(other.cycles) == *other
    }

    /// The expected value of an output pin.
    #[inline]
    pub fn expected(&self, pin: Pin) -> u64 {
        match pin.place() {
            Place::Bits { low, width } => self.bits >> low & ((1 << width) - 1),
            Place::Word(word) => self.words[word],
        }
    }

    /// The expected values of all output pins.
    pub fn expected_values(&self) -> Values {
        let mut values = Values::default();
        for pin in Pin::ALL {
            values[pin] = self.expected(pin);
        }
        values
    }

    /// The expected state of the link; of one that does not exist, `Wake`.
    #[inline]
    pub fn power_state(&self) -> PowerState {
        PinValue::decode(self.expected(Pin::PowerState))
    }
}

/// Takes what several ports did: for each port the gapless sequence of runs from its reset on.
pub trait ActivitySink {
    /// What `port` did next.
    fn run(&mut self, port: usize, run: Run);

    /// Called now and then; `Break` asks for no more.
    fn window(&mut self) -> ControlFlow<()>;
}

/// The first cycle in which an engine departs from the runs it was given.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Which of the runs.
    pub run: u64,
    /// Which cycle of that run, from 0.
    pub cycle: u64,
    /// What the engine had on its output pins.
    pub actual: Values,
}

/// An engine that clocks the hardware. It starts just after reset.
pub trait Rtl {
    /// Clocks the runs one after the other and compares all outputs in every cycle, before
    /// the edge that ends it. Stops at the first difference; then the engine's state is
    /// that of the differing cycle.
    ///
    /// # Errors
    /// If the engine itself fails (the design executes `$finish`, does not settle...).
    fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError>;

    /// Whether it can [`Rtl::leap`].
    fn leaps(&self) -> bool {
        false
    }

    /// Compares the outputs of the present cycle with those of `leap.run`, and the registers that
    /// count time with what they should hold; then makes them what they hold `leap.run.cycles`
    /// later, as if so many cycles had been clocked in which nothing else happens.
    ///
    /// # Errors
    /// If the engine itself fails, or cannot leap.
    fn leap(&mut self, leap: &Leap) -> Result<Option<LeapDifference>, EngineError> {
        let _ = leap;
        Err(EngineError::new(
            "co-simulation",
            "this engine clocks every cycle",
        ))
    }

    /// Which lines, branches and bits of the Verilog it has reached so far; nothing if it does not
    /// count ([`verilator::Compiled::covering`]).
    ///
    /// # Errors
    /// If the engine itself fails.
    fn code_coverage(&mut self) -> Result<CodeCoverage, EngineError> {
        Ok(CodeCoverage::default())
    }

    /// Cycles to give it at a time, about a tenth of a second's work: between two calls a
    /// run can be stopped and its progress shown.
    fn batch_cycles(&self) -> u64 {
        1 << 22
    }
}

/// Idle time that is not clocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leap {
    /// How long, and the pins meanwhile.
    pub run: Run,
    /// What the registers of [`Model::time_registers`] hold in its first cycle.
    pub before: Vec<u64>,
    /// The same in the cycle after it.
    pub after: Vec<u64>,
    /// Of a link that sleeps deeply and refreshes meanwhile: so many cycles are quiet, so many refresh.
    pub refreshing: Option<[u64; 2]>,
}

/// Where an engine departs from what a [`Leap`] says of the cycle in which it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeapDifference {
    /// An output pin.
    Pins(Values),
    /// A register that counts time: which of them, and what it holds.
    Register(usize, u64),
}

impl<T: Rtl + ?Sized> Rtl for Box<T> {
    fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError> {
        (**self).run(runs)
    }

    fn leaps(&self) -> bool {
        (**self).leaps()
    }

    fn leap(&mut self, leap: &Leap) -> Result<Option<LeapDifference>, EngineError> {
        (**self).leap(leap)
    }

    fn code_coverage(&mut self) -> Result<CodeCoverage, EngineError> {
        (**self).code_coverage()
    }

    fn batch_cycles(&self) -> u64 {
        (**self).batch_cycles()
    }
}

/// An engine failed while it ran.
#[derive(Debug, thiserror::Error)]
#[error("the {engine} engine failed: {message}")]
pub struct EngineError {
    /// `verilator` or `native`.
    pub engine: &'static str,
    /// What happened.
    pub message: String,
}

impl EngineError {
    fn new(engine: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        EngineError { engine, message }
    }
}

/// A stretch of more cycles than this is idle time rather than traffic.
const LONG_STRETCH: u64 = 4096;

/// A stretch of activity with constant inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The inputs in each of the cycles.
    pub inputs: Inputs,
    /// At least 1.
    pub cycles: u64,
    /// The stretch also ends where the outputs change.
    pub until_change: bool,
    /// What software may do meanwhile.
    pub software: SoftwareMay,
}

/// What software may do for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoftwareMay {
    /// Everything but change parameters.
    Ask,
    /// It may change parameters, too: a reset follows that ends it.
    Configure,
    /// Nothing: events are counted, and nobody looks.
    Nothing,
    /// It reads what was counted, and leaves it as it is.
    ReadCounts,
    /// It clears what was counted again and again, and reads some of it at once.
    ClearCounts,
}

impl Stretch {
    /// These inputs for so many cycles.
    #[inline]
    pub fn hold(inputs: Inputs, cycles: u64) -> Self {
        Stretch {
            inputs,
            cycles,
            until_change: false,
            software: SoftwareMay::Ask,
        }
    }

    /// The same, but only until the outputs change.
    pub fn until_change(inputs: Inputs, cycles: u64) -> Self {
        Stretch {
            until_change: true,
            ..Stretch::hold(inputs, cycles)
        }
    }

    /// It is idle time rather than traffic.
    fn is_long(&self) -> bool {
        self.cycles > LONG_STRETCH
    }

    /// The stretch for no more than so many cycles, but all of it if it is idle time.
    fn at_most(self, cycles: u64) -> Stretch {
        let cycles = match self.is_long() {
            true => self.cycles,
            false => self.cycles.min(cycles),
        };
        Stretch { cycles, ..self }
    }
}

/// Something that drives a port: random, recorded, scripted.
pub trait Activity {
    /// The next stretch, given the port's outputs in its first cycle; `None` at the end.
    fn next(&mut self, outputs: &PackedOutputs) -> Option<Stretch>;

    /// So many cycles of the last stretch have passed, and it is over; `leapt` of them were not
    /// clocked.
    fn passed(&mut self, cycles: u64, leapt: u64) {
        let _ = (cycles, leapt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::port::pins::Message;
    use crate::config::plan::{MessagesPlan, SyncPlan};

    /// What the harness is compiled with is laid out as `Run` and `Difference` are.
    #[test]
    fn the_header_of_the_harness_fits_the_runs() {
        let header = run_header();
        let count = |what: &str| -> usize {
            let (_, rest) = header.split_once(what).expect(what);
            rest[..rest.find(']').unwrap()].parse().unwrap()
        };
        let (words, actual) = (count("uint64_t words["), count("uint64_t actual["));
        let after_inputs = (8 + size_of::<Inputs>()).next_multiple_of(8);
        assert_eq!(size_of::<Run>(), after_inputs + 8 * (1 + words));
        assert_eq!(size_of::<Difference>(), 8 + 8 + 8 * actual);
        for pin in Pin::ALL {
            assert!(header.contains(pin.name()), "{}", pin.name());
        }
        let (_, inputs) = header.split_once("struct Inputs {\n").unwrap();
        let fields: Vec<&str> = inputs.lines().take_while(|line| *line != "};").collect();
        assert_eq!(fields.len(), Inputs::PINS.len());
        for (pin, field) in Inputs::PINS.iter().zip(fields) {
            assert!(pin.width as usize <= 8 * pin.bytes, "{}", pin.name);
            let of_type = format!("    uint{}_t {};", 8 * pin.bytes, pin.name);
            assert_eq!(field, of_type);
        }
    }

    /// The narrow pins must fit the word that they are packed in.
    #[test]
    fn packed_pins_do_not_overlap() {
        let mut taken = 0u64;
        for pin in Pin::ALL {
            if let Place::Bits { low, width } = pin.place() {
                assert!(low + width <= 64, "{}", pin.name());
                let bits = ((1u64 << width) - 1) << low;
                assert_eq!(taken & bits, 0, "{}", pin.name());
                taken |= bits;
            }
        }
        let mut taken = [0; Inputs::WORDS];
        for pin in Inputs::PINS {
            assert!(pin.low + pin.width <= 64, "{}", pin.name);
            let bits = pin.mask() << pin.low;
            assert_eq!(taken[pin.word] & bits, 0, "{}", pin.name);
            taken[pin.word] |= bits;
        }
    }

    #[test]
    fn a_run_keeps_every_pin() {
        let inputs = Inputs {
            queue_nonempty: true,
            remote_up: true,
            packet_valid: true,
            packet_hops: 43,
            initiator: true,
            message_in: 6,
            s_axi_arprot: 5,
            s_axi_araddr: 0xabc,
            s_axi_wdata: 0xdead_beef,
            ..Inputs::default()
        };
        let outputs = Outputs {
            tx_enable: true,
            power_state: PowerState::GoingUp,
            lpi_request: true,
            hit: true,
            miss: false,
            update: true,
            t_pdt: 1 << 63,
            t_pb: 7,
            window: 8,
            budget: 9,
            log2_cf: 10,
            message_out: Message::Sync,
            sync_error: true,
            upset: true,
            memory_upset: 2,
            irq: true,
            s_axi_awready: true,
            s_axi_wready: false,
            s_axi_bvalid: true,
            s_axi_bresp: 2,
            s_axi_arready: false,
            s_axi_rvalid: true,
            s_axi_rresp: 3,
            s_axi_rdata: 0xfeed_f00d,
        };
        let run = Run::new(3, &inputs, &outputs);
        assert_eq!(run.inputs, Inputs::unpack(inputs.pack()));
        for sync in [
            SyncPlan::Levels,
            SyncPlan::Messages(MessagesPlan { timeout: 1 }),
            SyncPlan::Lpi,
        ] {
            let plan = fixture::small_plan().with(|plan| plan.sync = sync);
            for pin in Inputs::pins(&plan) {
                let mut words = [0; Inputs::WORDS];
                words[pin.word] = pin.mask() << pin.low;
                let alone = Inputs::unpack(words);
                assert_eq!(alone.value(&pin), pin.mask(), "{}", pin.name);
            }
        }
        for pin in Pin::ALL {
            assert_eq!(run.expected(pin), outputs.value(pin), "{}", pin.name());
        }
        assert_eq!(Outputs::decode(&outputs.values()), outputs);
    }
}
