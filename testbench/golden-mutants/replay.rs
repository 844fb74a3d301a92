//! Runs that were written down (`examples/record.rs`), once more: the golden models are driven as
//! they were, and compared with what the Verilog did.
//!
//! The driver is that of the co-simulation, `src/cosim/lock_step.rs`. In place of the Verilog stands
//! what is written down of it. That says nothing of cycles in which the Verilog would hold something
//! else than it did then: where a faulty model leaps further than the sound one, or leaves other
//! values in the registers that count time. From there on a run settles nothing. What becomes of a
//! model that leaves such registers out was tried when the run was written down.
//!
//! A leap that is wrong in the same way before and after shows in no co-simulation: the Verilog gets
//! what the model says. That a leap comes to what clocking comes to, a test of the library shows
//! (`src/cosim/lock_step.rs`). The same is done here: each run is driven once more, against a second
//! copy of the model that clocks where the first one leaps.

use crate::blocks::port::golden::Port;
use crate::blocks::port::model::Model;
use crate::blocks::port::pins::{
    Inputs, OutputPin, Outputs, PackedOutputs, Pin, Place, TopPins, Values,
};
use crate::blocks::switch_ports::golden::SwitchPorts;
use crate::config::plan::PortPlan;
use crate::cosim::{
    Activity, Difference, Ended, EngineError, Leap, LeapDifference, LockStep, Rtl, Run, Stretch,
};
use crate::plans::plans;

/// Words of the outputs of a port, as they are written down.
const OUTPUT_WORDS: usize = 1 + Outputs::WORDS;

/// Places of one port among what changes.
const PLACES: usize = Inputs::WORDS + OUTPUT_WORDS;

/// How a run went.
enum Fate {
    Equal,
    Differs(String),
    Unsettled(String),
}

/// A list of numbers that is read.
struct List {
    bytes: std::vec::IntoIter<u8>,
    /// The pins, or registers, as they were read last.
    before: Vec<u64>,
}

impl List {
    fn new(bytes: Vec<u8>) -> List {
        List {
            bytes: bytes.into_iter(),
            before: Vec::new(),
        }
    }

    fn number(&mut self) -> Option<u64> {
        let (mut value, mut place) = (0, 0);
        loop {
            let digit = self.bytes.next()?;
            value |= u64::from(digit & 0x7f) << place;
            if digit < 0x80 {
                return Some(value);
            }
            place += 7;
        }
    }

    fn changes(&mut self, place: usize, count: usize) -> Option<&[u64]> {
        if self.before.len() < place + count {
            self.before.resize(place + count, 0);
        }
        for at in place..place + count {
            self.before[at] ^= self.number()?;
        }
        Some(&self.before[place..place + count])
    }

    /// Cuts off the numbers that follow.
    fn split(&mut self, numbers: u64) -> List {
        let ends = |digit: &&u8| **digit < 0x80;
        let rest = self.bytes.as_slice();
        let length = match numbers {
            0 => 0,
            _ => {
                let mut ends = rest.iter().enumerate().filter(|(_, digit)| ends(digit));
                ends.nth(numbers as usize - 1).unwrap().0 + 1
            }
        };
        let (first, second) = rest.split_at(length);
        let (first, second) = (first.to_vec(), second.to_vec());
        *self = List::new(second);
        List::new(first)
    }
}

fn output(words: &[u64], pin: Pin) -> u64 {
    match pin.place() {
        Place::Bits { low, width } => words[0] >> low & ((1 << width) - 1),
        Place::Word(word) => words[1 + word],
    }
}

/// What drove the port.
struct Recorded(List);

impl Activity for Recorded {
    fn next(&mut self, _: &PackedOutputs) -> Option<Stretch> {
        let cycles = self.0.number()?;
        let until_change = self.0.number()? == 1;
        let words = self.0.changes(0, Inputs::WORDS)?;
        let inputs = Inputs::unpack(words.try_into().unwrap());
        Some(Stretch {
            until_change,
            ..Stretch::hold(inputs, cycles)
        })
    }
}

/// What the Verilog did next.
#[derive(Default)]
struct Event {
    /// So many of its cycles are to come.
    cycles: u64,
    outputs: [u64; OUTPUT_WORDS],
    /// It is a leap: the registers before and after.
    leap: Option<(Vec<u64>, Vec<u64>)>,
}

struct Verilog {
    list: List,
    pins: Vec<OutputPin>,
    leaps: bool,
    present: Event,
    /// The recording is over.
    over: bool,
    /// For each register that counts time, where the model names it; `None`: it does not.
    places: Vec<Option<usize>>,
}

fn unsettled(message: &str) -> EngineError {
    EngineError {
        engine: "recorded",
        message: message.to_owned(),
    }
}

impl Verilog {
    fn read(&mut self) -> Option<Event> {
        let kind = self.list.number()?;
        let cycles = self.list.number()?;
        let outputs = self.list.changes(Inputs::WORDS, OUTPUT_WORDS)?;
        let outputs = outputs.try_into().unwrap();
        let mut leap = None;
        if kind == 1 {
            let count = self.list.number()? as usize;
            let before = self.list.changes(PLACES, count)?.to_vec();
            let after = self.list.changes(PLACES, count)?.to_vec();
            leap = Some((before, after));
        }
        Some(Event {
            cycles,
            outputs,
            leap,
        })
    }

    fn advance(&mut self) {
        match self.read() {
            Some(event) => self.present = event,
            None => self.over = true,
        }
    }

    fn differs(&self, run: &Run) -> Option<Values> {
        let outputs = &self.present.outputs;
        let differs = |pin: &OutputPin| run.expected(pin.pin) != output(outputs, pin.pin);
        self.pins.iter().any(differs).then(|| {
            let mut values = run.expected_values();
            for pin in &self.pins {
                values[pin.pin] = output(outputs, pin.pin);
            }
            values
        })
    }
}

impl Rtl for Verilog {
    fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError> {
        let stands_still = runs.len() > 100 && runs.iter().all(|run| run.cycles == 0);
        assert!(!stands_still, "the golden model stands still");
        for (at, run) in runs.iter().enumerate() {
            let mut cycle = 0;
            while cycle < run.cycles {
                while self.present.cycles == 0 && !self.over {
                    self.advance();
                }
                if self.over {
                    return Err(unsettled("the recording is over"));
                }
                if let Some(actual) = self.differs(run) {
                    return Ok(Some(Difference {
                        run: at as u64,
                        cycle,
                        actual,
                    }));
                }
                let cycles = self.present.cycles.min(run.cycles - cycle);
                self.present.cycles -= cycles;
                self.present.leap = None;
                cycle += cycles;
            }
        }
        Ok(None)
    }

    fn leaps(&self) -> bool {
        self.leaps
    }

    fn leap(&mut self, leap: &Leap) -> Result<Option<LeapDifference>, EngineError> {
        if self.present.cycles == 0 && self.present.leap.is_none() {
            self.advance();
        }
        let Some((before, after)) = self.present.leap.take() else {
            return match leap.run.cycles {
                0 => Ok(None),
                _ => Err(unsettled("it leaps where the sound model does not")),
            };
        };
        if let Some(actual) = self.differs(&leap.run) {
            return Ok(Some(LeapDifference::Pins(actual)));
        }
        for (place, &actual) in self.places.iter().zip(&before) {
            match *place {
                Some(at) if leap.before[at] != actual => {
                    return Ok(Some(LeapDifference::Register(at, actual)));
                }
                _ => {}
            }
        }
        if leap.run.cycles != self.present.cycles {
            return Err(unsettled(
                "it leaps further than the sound model, or less far",
            ));
        }
        let places = self.places.iter().zip(after);
        let known = places.filter_map(|(place, after)| Some((leap.after[(*place)?], after)));
        if known
            .into_iter()
            .any(|(expected, actual)| expected != actual)
        {
            return Err(unsettled("its leap leaves other values in the registers"));
        }
        self.present.cycles = 0;
        Ok(None)
    }
}

/// One port alone.
fn port(
    plan: &PortPlan,
    registers: &[&str],
    noticed: &[&[&str]],
    cycles: u64,
    stretches: List,
    list: List,
) -> Fate {
    let golden = Port::new(plan);
    let names: Vec<&str> = golden.time_registers().iter().map(|it| it.0).collect();
    // Where it names a register that the Verilog does not have, the co-simulation does not leap.
    let leaps = !registers.is_empty()
        && !names.is_empty()
        && names.iter().all(|name| registers.contains(name));
    let place = |name: &&str| names.iter().position(|other| other == name);
    let places: Vec<_> = registers.iter().map(place).collect();
    let verilog = Verilog {
        list,
        pins: Outputs::pins(plan),
        leaps,
        present: Event::default(),
        over: false,
        places,
    };
    let missing: Vec<&str> = (registers.iter().copied())
        .filter(|name| leaps && !names.contains(name))
        .collect();
    if noticed.iter().any(|set| *set == missing) {
        return Fate::Differs(format!("it leaves out {}", missing.join(", ")));
    }
    let mut pair = LockStep::new(golden, verilog);
    if leaps {
        pair = pair.leaping();
    }
    let go_on = |_: &_, _: &[Run]| std::ops::ControlFlow::Continue(());
    match pair.drive(&mut Recorded(stretches), cycles, go_on) {
        Err(error) => Fate::Unsettled(format!(
            "{}, after {} cycles",
            error.message,
            pair.tally().passed()
        )),
        Ok(Ended::Mismatch(found)) => {
            let pin = Outputs::pins(plan)
                .into_iter()
                .find(|pin| found.actual[pin.pin] != found.expected.expected(pin.pin));
            let what = match (found.register, pin) {
                (Some((name, ..)), _) => name,
                (None, Some(pin)) => pin.name,
                (None, None) => "",
            };
            Fate::Differs(format!("cycle {}, {what}", found.cycle))
        }
        Ok(_) => Fate::Equal,
    }
}

/// Most cycles of a run that are driven against a copy of the model.
const CLOCKED_CYCLES: u64 = 200_000;

/// Longer leaps are not clocked there: some are over hours.
const LONGEST_CLOCKED: u64 = 2000;

/// A copy of the golden model, which clocks short leaps of the other one.
struct Copy(Port);

impl Copy {
    fn registers(&self) -> Vec<u64> {
        let registers = self.0.time_registers().into_iter();
        registers.map(|(_, value)| value).collect()
    }

    fn differs_from(&self, run: &Run) -> bool {
        Run::new(run.cycles, &run.inputs, &self.0.outputs()) != *run
    }
}

impl Rtl for Copy {
    fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError> {
        for (at, run) in runs.iter().enumerate() {
            for cycle in 0..run.cycles {
                if self.differs_from(run) {
                    return Ok(Some(Difference {
                        run: at as u64,
                        cycle,
                        actual: Values::default(),
                    }));
                }
                self.0.clock(&run.inputs);
            }
        }
        Ok(None)
    }

    fn leaps(&self) -> bool {
        true
    }

    fn leap(&mut self, leap: &Leap) -> Result<Option<LeapDifference>, EngineError> {
        let run = &leap.run;
        if self.differs_from(run) || self.registers() != leap.before {
            return Ok(Some(LeapDifference::Pins(Values::default())));
        }
        let refreshes = self.0.refreshes(&run.inputs);
        match refreshes.filter(|_| run.cycles > self.0.quiet(&run.inputs)) {
            _ if run.cycles <= LONGEST_CLOCKED => {
                (0..run.cycles).for_each(|_| self.0.clock(&run.inputs));
            }
            Some(it) => (self.0).pass_refreshes(&run.inputs, run.cycles / it.period()),
            None => {
                self.0.advance(&run.inputs, run.cycles);
            }
        }
        if self.differs_from(run) || self.registers() != leap.after {
            return Ok(Some(LeapDifference::Pins(Values::default())));
        }
        Ok(None)
    }
}

/// The first cycle in which a golden model that leaps is not what its copy is that clocks.
fn leaps_wrongly(plan: &PortPlan, cycles: u64, stretches: List) -> Option<u64> {
    let golden = Port::new(plan);
    if golden.time_registers().is_empty() {
        return None;
    }
    let mut pair = LockStep::new(golden, Copy(Port::new(plan))).leaping();
    let go_on = |_: &_, _: &[Run]| std::ops::ControlFlow::Continue(());
    let cycles = cycles.min(CLOCKED_CYCLES);
    match pair.drive(&mut Recorded(stretches), cycles, go_on) {
        Ok(Ended::Mismatch(found)) => Some(found.cycle),
        _ => None,
    }
}

/// The ports of a switch. What they are driven with is held until it changes.
fn switch(plan: &PortPlan, ports: usize, mut list: List) -> Fate {
    let pins = TopPins::of_switch(plan, ports);
    let mut golden = SwitchPorts::new(plan, ports as u32);
    let mut present = golden.outputs();
    let mut step = || -> Option<(u64, Vec<Inputs>, Vec<[u64; OUTPUT_WORDS]>)> {
        list.number()?;
        let cycles = list.number()?;
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for port in 0..ports {
            let place = port * PLACES;
            let words = list.changes(place, Inputs::WORDS)?.try_into().unwrap();
            inputs.push(Inputs::unpack(words));
            let words = list.changes(place + Inputs::WORDS, OUTPUT_WORDS)?;
            outputs.push(words.try_into().unwrap());
        }
        Some((cycles, inputs, outputs))
    };
    let mut next = step();
    let mut passed = 0;
    while let Some((cycles, inputs, outputs)) = next.take() {
        let mut actual = vec![(cycles, outputs)];
        let mut left = cycles;
        next = step();
        while let Some((cycles, _, outputs)) = next.take_if(|(_, same, _)| *same == inputs) {
            left += cycles;
            actual.push((cycles, outputs));
            next = step();
        }
        let mut actual = actual.into_iter().peekable();
        while left > 0 {
            let clocked = golden.advance(&inputs, left);
            assert!(
                (1..=left).contains(&clocked),
                "the golden model stands still"
            );
            left -= clocked;
            let mut compared = 0;
            while compared < clocked {
                let (cycles, outputs) = actual.peek_mut().unwrap();
                for top in &pins.outputs {
                    let expected = Run::new(1, &inputs[top.port], &present[top.port]);
                    if expected.expected(top.pin.pin) != output(&outputs[top.port], top.pin.pin) {
                        return Fate::Differs(format!("cycle {}, {}", passed + compared, top.name));
                    }
                }
                let both = (*cycles).min(clocked - compared);
                compared += both;
                *cycles -= both;
                if *cycles == 0 {
                    actual.next();
                }
            }
            passed += clocked;
            golden.outputs_into(&mut present);
        }
    }
    Fate::Equal
}

fn replay(name: &str, plan: &PortPlan, registers: &[&str], noticed: &[&[&str]]) -> Fate {
    let path = format!("{}/../runs/{name}.run", env!("CARGO_MANIFEST_DIR"));
    let mut list = List::new(std::fs::read(&path).expect("the run can be read"));
    let mut number = || list.number().unwrap();
    let (cycles, _, ports, numbers) = (number(), number(), number(), number());
    let stretches = list.split(numbers);
    if ports > 0 {
        return switch(plan, ports as usize, list);
    }
    let again = List::new(stretches.bytes.as_slice().to_vec());
    match port(plan, registers, noticed, cycles, stretches, list) {
        Fate::Differs(what) => Fate::Differs(what),
        fate => match leaps_wrongly(plan, cycles, again) {
            Some(cycle) => Fate::Differs(format!("cycle {cycle}, a leap is not what clocking is")),
            None => fate,
        },
    }
}

/// Replays all runs. A difference is a panic.
pub fn all() {
    for (name, plan, registers, noticed) in plans() {
        match replay(name, &plan, registers, noticed) {
            Fate::Equal => {}
            Fate::Differs(what) => panic!("differs: {name}, {what}"),
            Fate::Unsettled(why) => println!("unsettled: {name}, {why}"),
        }
    }
}

#[test]
fn the_golden_models_do_what_the_verilog_did() {
    all();
}
