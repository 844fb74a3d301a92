//! Writes down a run of the co-simulation: what drove a port in every cycle, and what the emitted
//! Verilog had on its pins. `tools/golden-mutants.sh` lets faulty golden models run against it.
//!
//! ```text
//! record CONFIG.toml OUT CYCLES SEED random|clocked|line-rate|ports=N
//! ```
//!
//! `random` is `cosim --random`, which leaps over idle time; `clocked` is the same activity with every
//! cycle clocked; `ports=N` is `cosim --random --ports N`. It ends with an error if the Verilog and
//! the golden model differ. `OUT.run` holds the run, `OUT.rs` as Rust the plan of the configuration,
//! the names of the registers that count time, and which of them cannot be left out: if they are not
//! moved with the time that is leapt over, the Verilog differs from the golden model.
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
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::rc::Rc;

use anyhow::{bail, ensure, Context, Result};
use linkdoze::blocks::port::pins::{Inputs, Outputs, PackedOutputs};
use linkdoze::config::Config;
use linkdoze::cosim::line_rate::LineRate;
use linkdoze::cosim::peer::WithPeer;
use linkdoze::cosim::port::PortDesign;
use linkdoze::cosim::random::Random;
use linkdoze::cosim::switch::{SwitchDesign, SwitchEnded, SwitchLockStep};
use linkdoze::cosim::verilator::Compiled;
use linkdoze::cosim::{
    Activity, Design, Difference, Ended, EngineError, Leap, LeapDifference, LockStep, Model, Rtl,
    Run, Stretch,
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
    let packed = Outputs::decode(&run.expected_values()).pack();
    let mut all = [0; 1 + Outputs::WORDS];
    all[0] = packed.bits;
    all[1..].copy_from_slice(&packed.words);
    all
}

/// An activity that is written down.
struct Watched {
    activity: Box<dyn Activity>,
    list: Rc<RefCell<List>>,
}

impl Activity for Watched {
    fn next(&mut self, outputs: &PackedOutputs) -> Option<Stretch> {
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
    /// Which registers a leap has changed.
    moved: Rc<RefCell<BTreeSet<usize>>>,
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
                    list.changes(port * PLACES, &run.inputs.pack());
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
        let both = leap.before.iter().zip(&leap.after).enumerate();
        let moved = both.filter(|(_, (before, after))| before != after);
        self.moved.borrow_mut().extend(moved.map(|(at, _)| at));
        Ok(found)
    }

    fn batch_cycles(&self) -> u64 {
        self.engine.batch_cycles()
    }
}

/// An engine for a golden model that does not know of some registers: they are not compared, and not
/// moved when time is leapt over.
struct Omitting<R> {
    engine: R,
    omitted: BTreeSet<usize>,
}

impl<R: Rtl> Rtl for Omitting<R> {
    fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError> {
        self.engine.run(runs)
    }

    fn leaps(&self) -> bool {
        self.engine.leaps()
    }

    fn leap(&mut self, leap: &Leap) -> Result<Option<LeapDifference>, EngineError> {
        let mut leap = leap.clone();
        for &at in &self.omitted {
            leap.after[at] = leap.before[at];
        }
        loop {
            match self.engine.leap(&leap)? {
                Some(LeapDifference::Register(at, actual)) if self.omitted.contains(&at) => {
                    (leap.before[at], leap.after[at]) = (actual, actual);
                }
                found => return Ok(found),
            }
        }
    }

    fn batch_cycles(&self) -> u64 {
        self.engine.batch_cycles()
    }
}

/// The registers, by their places, that show if they are left out: each alone, and all of a block.
fn noticed(
    design: &PortDesign,
    model: &Compiled,
    seed: u64,
    cycles: u64,
    moved: &BTreeSet<usize>,
) -> Result<Vec<BTreeSet<usize>>> {
    let mut sets: BTreeSet<BTreeSet<usize>> = moved.iter().map(|&at| [at].into()).collect();
    let registers = design.golden().time_registers();
    for &at in moved {
        let block = |name: &str| name.rsplit_once('.').map(|(block, _)| block.to_owned());
        let own = block(registers[at].0);
        let all = (0..registers.len()).filter(|&other| block(registers[other].0) == own);
        sets.insert(all.collect());
    }
    let mut noticed = Vec::new();
    for omitted in sets {
        let engine = Omitting {
            engine: model.engine()?,
            omitted,
        };
        let omitted = engine.omitted.clone();
        let mut pair = LockStep::new(design.golden(), engine).leaping();
        let mut activity = Random::new(design.plan(), seed, cycles, true);
        let ended = pair.drive(&mut activity, cycles, |_, _| ControlFlow::Continue(()))?;
        if matches!(ended, Ended::Mismatch(_)) {
            noticed.push(omitted);
        }
    }
    Ok(noticed)
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
    let moved = Rc::new(RefCell::new(BTreeSet::new()));
    let (mut leaps, mut ports) = (false, 0);
    let (mut names, mut found): (Vec<&str>, Vec<Vec<&str>>) = (Vec::new(), Vec::new());
    let plan;
    if let Some(count) = kind.strip_prefix("ports=") {
        ports = count.parse()?;
        let design = SwitchDesign::new(&config, ports)?;
        plan = *design.plan();
        let model = design.compile(&design.verilog()?, None)?;
        let engine = Recorded {
            engine: model.engine()?,
            list: list.clone(),
            moved: moved.clone(),
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
            moved: moved.clone(),
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
        if leaps {
            let registers = design.golden().time_registers();
            names = registers.into_iter().map(|(name, _)| name).collect();
            let sets = noticed(&design, &model, seed, cycles, &moved.borrow())?;
            let names_of = |set: &BTreeSet<usize>| set.iter().map(|&at| names[at]).collect();
            found = sets.iter().map(names_of).collect();
        }
    }
    let (stretches, list) = (stretches.borrow(), list.borrow());
    let mut head = List::default();
    for number in [cycles, leaps.into(), ports.into(), stretches.numbers] {
        head.number(number);
    }
    let bytes = [&head.bytes[..], &stretches.bytes, &list.bytes].concat();
    std::fs::write(format!("{out}.run"), bytes).with_context(|| format!("{out}.run"))?;
    let found: Vec<String> = found.iter().map(|set| format!("&{set:?}")).collect();
    let text = format!("{plan:?}, &{names:?}, &[{}]\n", found.join(", "));
    std::fs::write(format!("{out}.rs"), text)?;
    println!("{out}: {cycles} cycles, leaps: {leaps}");
    Ok(())
}
