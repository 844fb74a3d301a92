//! Writes down a run of the co-simulation: what drove a port in every cycle, and what the emitted
//! Verilog had on its pins. `tools/golden-mutants.sh` lets faulty golden models run against it.
//!
//! ```text
//! record CONFIG.toml OUT CYCLES SEED random|clocked|line-rate|ports=N
//! ```
//!
//! `random` is `cosim --random`, which leaps over idle time; `clocked` is the same activity with every
//! cycle clocked; `ports=N` is `cosim --random --ports N`. It ends with an error if the Verilog and
//! the golden model differ. `OUT.run` holds the run, `OUT.rs` the plan of the configuration as Rust.
//!
//! A run is numbers in base 128, least digits first, the highest bit set in all but the last digit.
//! First come four: the cycles that were clocked, whether it leaps, the ports of a switch (0: one port
//! alone), the numbers of the first list. Two lists follow. Pins and registers are written as what has
//! changed of them, by exclusive or, since the number before.
//!
//! - The stretches of the activity: cycles, 1 if it ends where the outputs change, inputs.
//! - What the Verilog did: 0, cycles, outputs; or 1, cycles of a leap, outputs, how many registers
//!   count time, what they hold before, what they hold after.
//!
//! Of a switch the first list is empty, and the second has inputs and outputs of every port:
//! 0, cycles, and for each port its inputs and its outputs.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use anyhow::{bail, ensure, Context, Result};
use linkdoze::blocks::port::pins::{Inputs, Outputs};
use linkdoze::config::Config;
use linkdoze::cosim::line_rate::LineRate;
use linkdoze::cosim::peer::WithPeer;
use linkdoze::cosim::port::PortDesign;
use linkdoze::cosim::random::Random;
use linkdoze::cosim::switch::{SwitchDesign, SwitchEnded, SwitchLockStep};
use linkdoze::cosim::verilator::Compiled;
use linkdoze::cosim::{
    Activity, Design, Difference, Ended, EngineError, Leap, LeapDifference, LockStep, Rtl, Run,
    Stretch,
};

/// A list of numbers.
#[derive(Default)]
struct List {
    bytes: Vec<u8>,
    numbers: u64,
    /// The pins, or registers, as they were written last.
    before: Vec<u64>,
}

impl List {
    fn number(&mut self, mut value: u64) {
        self.numbers += 1;
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// What has changed of `values` since; `place` is where they stand among all that change.
    fn changes(&mut self, place: usize, values: &[u64]) {
        if self.before.len() < place + values.len() {
            self.before.resize(place + values.len(), 0);
        }
        for (at, &value) in values.iter().enumerate() {
            let changed = std::mem::replace(&mut self.before[place + at], value) ^ value;
            self.number(changed);
        }
    }
}

/// Places of inputs and outputs of one port among what changes, and where the next one's begin.
const OUTPUTS: usize = Inputs::WORDS;
const PLACES: usize = Inputs::WORDS + 1 + Outputs::WORDS;

fn outputs(run: &Run) -> [u64; 1 + Outputs::WORDS] {
    let (bits, words) = Outputs::decode(&run.expected_values()).pack();
    let mut all = [0; 1 + Outputs::WORDS];
    all[0] = bits.into();
    all[1..].copy_from_slice(&words);
    all
}

/// An activity that is written down.
struct Watched {
    activity: Box<dyn Activity>,
    list: Rc<RefCell<List>>,
}

impl Activity for Watched {
    fn next(&mut self, outputs: &Outputs) -> Option<Stretch> {
        let stretch = self.activity.next(outputs)?;
        let mut list = self.list.borrow_mut();
        list.number(stretch.cycles);
        list.number(stretch.until_change.into());
        list.changes(0, &stretch.inputs.pack());
        Some(stretch)
    }

    fn passed(&mut self, cycles: u64, leapt: u64) {
        self.activity.passed(cycles, leapt);
    }
}

/// An engine whose outputs are written down: what it was asked to compare and found equal.
struct Recorded<R> {
    engine: R,
    list: Rc<RefCell<List>>,
    /// Ports of a switch; 0: one port alone.
    ports: usize,
}

impl<R: Rtl> Rtl for Recorded<R> {
    fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError> {
        let found = self.engine.run(runs)?;
        let mut list = self.list.borrow_mut();
        for step in runs.chunks(self.ports.max(1)) {
            list.number(0);
            list.number(step[0].cycles);
            for (port, run) in step.iter().enumerate() {
                if self.ports > 0 {
                    list.changes(port * PLACES, &run.packed_inputs());
                }
                list.changes(port * PLACES + OUTPUTS, &outputs(run));
            }
        }
        Ok(found)
    }

    fn leaps(&self) -> bool {
        self.engine.leaps()
    }

    fn leap(&mut self, leap: &Leap) -> Result<Option<LeapDifference>, EngineError> {
        let found = self.engine.leap(leap)?;
        let mut list = self.list.borrow_mut();
        list.number(1);
        list.number(leap.run.cycles);
        list.changes(OUTPUTS, &outputs(&leap.run));
        list.number(leap.before.len() as u64);
        list.changes(PLACES, &leap.before);
        list.changes(PLACES, &leap.after);
        Ok(found)
    }

    fn batch_cycles(&self) -> u64 {
        self.engine.batch_cycles()
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [config, out, cycles, seed, kind] = &arguments[..] else {
        bail!("record CONFIG.toml OUT CYCLES SEED random|clocked|line-rate|ports=N");
    };
    let (cycles, seed): (u64, u64) = (cycles.parse()?, seed.parse()?);
    let config = Config::parse(&std::fs::read_to_string(config)?, config)?;
    let stretches = Rc::new(RefCell::new(List::default()));
    let list = Rc::new(RefCell::new(List::default()));
    let (mut leaps, mut ports) = (false, 0);
    let plan;
    if let Some(count) = kind.strip_prefix("ports=") {
        ports = count.parse()?;
        let design = SwitchDesign::new(&config, ports)?;
        plan = *design.plan();
        let model = design.compile(&design.verilog()?, None)?;
        let engine = Recorded {
            engine: model.engine()?,
            list: list.clone(),
            ports: ports as usize,
        };
        let ended = SwitchLockStep::new(&design, engine)
            .drive(seed, cycles, |_| ControlFlow::Continue(()))?;
        ensure!(ended == SwitchEnded::Complete, "a mismatch: {ended:?}");
    } else {
        let design = PortDesign::new(&config)?;
        plan = *design.plan();
        let model = Compiled::fast(&design.verilog()?, &plan)?;
        let engine = Recorded {
            engine: model.engine()?,
            list: list.clone(),
            ports: 0,
        };
        let mut pair = LockStep::new(design.golden(), engine);
        if kind == "random" {
            pair = pair.leaping();
        }
        leaps = pair.leaps();
        let activity: Box<dyn Activity> = match kind.as_str() {
            "random" | "clocked" => Box::new(Random::new(&plan, seed, cycles, leaps)),
            "line-rate" => Box::new(WithPeer::prompt(LineRate::new(seed), &plan)),
            _ => bail!("`{kind}` is no activity"),
        };
        let mut activity = Watched {
            activity,
            list: stretches.clone(),
        };
        let ended = pair.drive(&mut activity, cycles, |_, _| ControlFlow::Continue(()))?;
        ensure!(ended == Ended::Complete, "a mismatch: {ended:?}");
    }
    let (stretches, list) = (stretches.borrow(), list.borrow());
    let mut head = List::default();
    for number in [cycles, leaps.into(), ports.into(), stretches.numbers] {
        head.number(number);
    }
    let bytes = [&head.bytes[..], &stretches.bytes, &list.bytes].concat();
    std::fs::write(format!("{out}.run"), bytes).with_context(|| format!("{out}.run"))?;
    std::fs::write(format!("{out}.rs"), format!("{plan:?}\n"))?;
    println!("{out}: {cycles} cycles, leaps: {leaps}");
    Ok(())
}
