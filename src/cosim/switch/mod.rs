//! All ports of a switch behind one AXI4-Lite port, in lock step with their golden model: random
//! activity at every port, and software that asks the registers of all of them.

mod corners;

use std::ops::ControlFlow;

pub use self::corners::{Corner, Corners};

use super::random::port_of_switch;
use super::scoreboard::HISTORY;
use super::software::Software;
use super::two_threads::on_two_threads;
use super::verilator::{BuildError, Compiled, WaveFormat};
use super::{Activity, EngineError, Mismatch, Rtl, Run, Stretch, Tally};
use crate::blocks::port::pins::{Inputs, Outputs, TopPins};
use crate::blocks::switch_ports::golden::SwitchPorts;
use crate::config::plan::PortPlan;
use crate::config::Config;
use crate::rtl;

/// Steps of all ports that are handed to the engine at once.
const BATCH_STEPS: usize = 256;

/// Cycles after which a batch is compared at the latest.
const BATCH_CYCLES: u64 = 1 << 18;

/// The ports of a switch, all of one configuration.
#[derive(Clone, Debug)]
pub struct SwitchDesign {
    config: Config,
    plan: PortPlan,
    ports: u32,
}

impl SwitchDesign {
    /// So many ports of `config`, 1 to [`crate::blocks::switch_ports::MAX_PORTS`]; they have
    /// registers, whatever the configuration says.
    ///
    /// # Errors
    /// If the configuration asks for what has no hardware yet.
    pub fn new(config: &Config, ports: u32) -> Result<Self, rtl::RtlError> {
        let mut config = config.clone();
        config.port.registers = true;
        Ok(SwitchDesign {
            plan: rtl::plan(&config)?,
            config,
            ports,
        })
    }

    /// The configuration of every port, in the units of the hardware.
    pub fn plan(&self) -> &PortPlan {
        &self.plan
    }

    /// How many ports there are.
    pub fn ports(&self) -> u32 {
        self.ports
    }

    /// Clock period in picoseconds.
    pub fn period_ps(&self) -> u64 {
        self.config.clock.period_ps
    }

    /// What the configuration cannot do ([`Config::notes`]).
    pub fn notes(&self) -> Vec<String> {
        self.config.notes()
    }

    /// The Verilog, as file names and texts.
    ///
    /// # Errors
    /// If the description does not elaborate.
    pub fn verilog(&self) -> Result<Vec<(String, String)>, rtl::RtlError> {
        let mut files = rtl::emit_all(&self.config, Some(self.ports), &[])?.sources;
        files.retain(|(name, _)| name.ends_with(".v"));
        Ok(files)
    }

    /// Compiles the Verilog `files` of these ports, for a waveform or for comparison.
    ///
    /// # Errors
    /// As [`Compiled::switch`].
    pub fn compile(
        &self,
        files: &[(String, String)],
        wave: Option<WaveFormat>,
    ) -> Result<Compiled, BuildError> {
        Compiled::switch(files, &self.plan, self.ports as usize, wave)
    }

    /// The pins of the switch.
    pub fn pins(&self) -> TopPins {
        TopPins::of_switch(&self.plan, self.ports as usize)
    }
}

/// What drives the ports: each has traffic and another end of its link of its own. The resets are
/// those of the first port's activity, and software changes parameters when that lets it.
struct SwitchActivity {
    ports: Vec<Box<dyn Activity + Send>>,
    software: Software,
    inputs: Vec<Inputs>,
}

impl SwitchActivity {
    fn new(design: &SwitchDesign, seed: u64, cycles: u64) -> SwitchActivity {
        let plan = &design.plan;
        let ports = (0..u64::from(design.ports)).map(|port| {
            // Every port sees other packets.
            let seed = seed.wrapping_mul(1_000_003).wrapping_add(port);
            let activity = port_of_switch(plan, seed, cycles);
            Box::new(activity) as Box<dyn Activity + Send>
        });
        SwitchActivity {
            ports: ports.collect(),
            software: Software::of_switch(plan, design.ports, seed),
            inputs: vec![Inputs::default(); design.ports as usize],
        }
    }

    /// The inputs of every port, given their outputs, and for how many cycles they stay so.
    fn next(&mut self, outputs: &[Outputs]) -> Option<(&[Inputs], u64)> {
        let mut cycles = u64::MAX;
        let mut first = None;
        for (port, activity) in self.ports.iter_mut().enumerate() {
            // What the registers answer ends no stretch of a port's own.
            let own = outputs[port].without_registers();
            let stretch = activity.next(&own.pack())?;
            cycles = cycles.min(stretch.cycles);
            self.inputs[port] = Inputs {
                rst: stretch.inputs.rst && port == 0,
                ..stretch.inputs
            };
            first.get_or_insert(stretch);
        }
        let stretch = Stretch { cycles, ..first? };
        cycles = cycles.min(self.software.drive(&stretch, &outputs[0]));
        self.inputs[0] = self.software.beside(self.inputs[0]);
        Some((&self.inputs, cycles))
    }

    fn passed(&mut self, cycles: u64) {
        for activity in &mut self.ports {
            activity.passed(cycles, 0);
        }
        self.software.clocked(cycles);
    }
}

/// How a lock-step run of a switch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchEnded {
    /// All cycles that were asked for are compared and equal.
    Complete,
    /// The observer asked to stop; what was compared is equal.
    Stopped,
    /// A difference, and the port of which an output differs; the pins that all ports share are the
    /// first one's.
    Mismatch(usize, Box<Mismatch>),
}

/// How the comparison goes on: at its end there is a verdict, or the engine has failed.
type Flow = ControlFlow<Result<SwitchEnded, EngineError>>;

/// Golden model and engine of the ports of a switch, both just after reset.
pub struct SwitchLockStep<R> {
    design: SwitchDesign,
    golden: SwitchPorts,
    scoreboard: Scoreboard<R>,
}

impl<R: Rtl> SwitchLockStep<R> {
    /// Takes both at their first cycle after reset.
    pub fn new(design: &SwitchDesign, rtl: R) -> SwitchLockStep<R> {
        SwitchLockStep {
            design: design.clone(),
            golden: SwitchPorts::new(&design.plan, design.ports),
            scoreboard: Scoreboard {
                pins: design.pins(),
                rtl,
                earlier: Vec::new(),
                tallies: vec![Tally::default(); design.ports as usize],
                corners: Corners::new(&design.plan, design.ports),
            },
        }
    }

    /// What every port did so far.
    pub fn tallies(&self) -> &[Tally] {
        &self.scoreboard.tallies
    }

    /// Which corners were reached.
    pub fn into_corners(self) -> Corners {
        self.scoreboard.corners
    }

    /// Clocks both with the activity of `seed` for `cycles` cycles, the golden models in a thread of
    /// their own, which takes some 3 % more processor time. `observe` is told the cycles compared so far now and then, and may stop the run.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn drive(
        &mut self,
        seed: u64,
        cycles: u64,
        mut observe: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<SwitchEnded, EngineError> {
        let SwitchLockStep {
            design,
            golden,
            scoreboard,
        } = self;
        let flow = on_two_threads(
            |give| predict(design, golden, seed, cycles, give),
            |batch| scoreboard.compare(batch, &mut observe),
        );
        match flow {
            ControlFlow::Break(ended) => ended,
            ControlFlow::Continue(_) => Ok(SwitchEnded::Complete),
        }
    }
}

/// Clocks the golden models with the activity of `seed` for `cycles` cycles. `give` gets what the ports
/// did: a run of each, then those of the next step. It leaves an empty batch, and may ask for no more.
fn predict(
    design: &SwitchDesign,
    golden: &mut SwitchPorts,
    seed: u64,
    cycles: u64,
    give: &mut dyn FnMut(&mut Vec<Run>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut activity = SwitchActivity::new(design, seed, cycles);
    let mut outputs = golden.outputs();
    let mut batch = Vec::new();
    let (mut left, mut batch_cycles) = (cycles, 0);
    while left > 0 {
        let Some((inputs, most)) = activity.next(&outputs) else {
            break;
        };
        let clocked = golden.advance(inputs, most.min(left).min(BATCH_CYCLES));
        let runs = inputs.iter().zip(&outputs);
        batch.extend(runs.map(|(inputs, outputs)| Run::new(clocked, inputs, outputs)));
        activity.passed(clocked);
        golden.outputs_into(&mut outputs);
        left -= clocked;
        batch_cycles += clocked;
        if batch.len() >= BATCH_STEPS * outputs.len() || batch_cycles >= BATCH_CYCLES {
            batch_cycles = 0;
            give(&mut batch)?;
        }
    }
    give(&mut batch)
}

/// An engine of all ports, and what was compared so far.
struct Scoreboard<R> {
    pins: TopPins,
    rtl: R,
    /// The runs before those that are compared, for the report of a mismatch.
    earlier: Vec<Run>,
    tallies: Vec<Tally>,
    corners: Corners,
}

impl<R: Rtl> Scoreboard<R> {
    /// Lets the engine do what is expected, compares, and leaves the batch empty.
    fn compare(
        &mut self,
        batch: &mut Vec<Run>,
        observe: &mut impl FnMut(u64) -> ControlFlow<()>,
    ) -> Flow {
        if batch.is_empty() {
            return Flow::Continue(());
        }
        let ports = self.tallies.len();
        let cycles = self.tallies[0].cycles;
        let of_port = |runs: &[Run], port: usize| -> Vec<Run> {
            runs.iter().skip(port).step_by(ports).copied().collect()
        };
        let found = match self.rtl.run(batch) {
            Ok(found) => found,
            Err(error) => return Flow::Break(Err(error)),
        };
        if let Some(mut difference) = found {
            let at = difference.run as usize;
            let (step, port) = (at / ports, at % ports);
            let runs = of_port(batch, port);
            let mut actual = runs[step].expected_values();
            for top in self.pins.outputs.iter().filter(|top| top.port == port) {
                actual[top.pin.pin] = difference.actual[top.pin.pin];
            }
            (difference.run, difference.actual) = (step as u64, actual);
            let earlier = of_port(&self.earlier, port);
            let mismatch = Mismatch::new(&difference, cycles, &runs, &earlier);
            for (port, tally) in self.tallies.iter_mut().enumerate() {
                let runs = of_port(batch, port);
                tally.add(&runs[..step]);
                tally.add(&[runs[step].with_cycles(difference.cycle)]);
            }
            let ended = SwitchEnded::Mismatch(port, Box::new(mismatch));
            return Flow::Break(Ok(ended));
        }
        for step in batch.chunks(ports) {
            for (tally, run) in self.tallies.iter_mut().zip(step) {
                tally.add(std::slice::from_ref(run));
            }
            self.corners.observe(step);
        }
        if batch.len() >= HISTORY * ports {
            std::mem::swap(batch, &mut self.earlier);
            batch.clear();
        } else {
            self.earlier.append(batch);
        }
        match observe(self.tallies[0].cycles) {
            ControlFlow::Continue(()) => Flow::Continue(()),
            ControlFlow::Break(()) => Flow::Break(Ok(SwitchEnded::Stopped)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::port::pins::Pin;
    use crate::cosim::Difference;

    const PORTS: usize = 3;
    const CYCLES: u64 = 100_000;

    fn design() -> SwitchDesign {
        let text = "[port]\npolicy = \"fixed\"\nsleep = \"deep-sleep\"\nt_pdt_init_ns = 200\n\
            sync = \"messages\"\nsync_timeout_ns = 60\n\
            [states.deep-sleep]\nt_w_ns = 90\nt_s_ns = 60\n";
        let config = Config::parse(text, "port.toml").unwrap();
        SwitchDesign::new(&config, PORTS as u32).unwrap()
    }

    /// An engine that has another `tx_enable` at a port in a cycle, or fails there if no port is named.
    struct Scripted {
        cycle: u64,
        port: Option<usize>,
        passed: u64,
    }

    impl Scripted {
        fn new(cycle: u64, port: Option<usize>) -> Scripted {
            Scripted {
                cycle,
                port,
                passed: 0,
            }
        }
    }

    impl Rtl for Scripted {
        fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError> {
            for (step, of_all) in runs.chunks(PORTS).enumerate() {
                let end = self.passed + of_all[0].cycles;
                if self.cycle < end {
                    let Some(port) = self.port else {
                        return Err(EngineError::new("scripted", "fails"));
                    };
                    let mut actual = of_all[port].expected_values();
                    actual[Pin::TxEnable] ^= 1;
                    // The switch does not have this pin: whatever stands there is not compared.
                    actual[Pin::Window] = 77;
                    return Ok(Some(Difference {
                        run: (step * PORTS + port) as u64,
                        cycle: self.cycle - self.passed,
                        actual,
                    }));
                }
                self.passed = end;
            }
            Ok(None)
        }
    }

    #[test]
    fn a_difference_is_told_of_its_port_and_its_cycle() {
        let design = design();
        for (port, cycle) in [(0, 0), (2, 1), (1, 12_345), (2, CYCLES - 1)] {
            let mut pair = SwitchLockStep::new(&design, Scripted::new(cycle, Some(port)));
            let ended = pair
                .drive(1, CYCLES, |_| ControlFlow::Continue(()))
                .unwrap();
            let SwitchEnded::Mismatch(at, mismatch) = ended else {
                panic!("{ended:?}");
            };
            assert_eq!((at, mismatch.cycle), (port, cycle));
            let expected = mismatch.expected.expected_values();
            let wrong = Pin::ALL.into_iter();
            let wrong = wrong.filter(|pin| mismatch.actual[*pin] != expected[*pin]);
            assert_eq!(wrong.collect::<Vec<_>>(), [Pin::TxEnable]);
            // The runs before it, without a gap, and the cycle itself.
            let mut next = mismatch.history[0].0;
            for (start, run) in &mismatch.history {
                assert_eq!(*start, next);
                next += run.cycles;
            }
            assert_eq!(next, cycle + 1);
            for tally in pair.tallies() {
                assert_eq!(tally.cycles, cycle);
            }
        }
    }

    #[test]
    fn a_run_ends_where_it_is_to_end() {
        let design = design();
        let never = || Scripted::new(CYCLES, Some(0));
        let mut pair = SwitchLockStep::new(&design, never());
        let ended = pair
            .drive(1, CYCLES, |_| ControlFlow::Continue(()))
            .unwrap();
        assert_eq!(ended, SwitchEnded::Complete);
        let compared = |pair: &SwitchLockStep<Scripted>| -> Vec<u64> {
            pair.tallies().iter().map(|tally| tally.cycles).collect()
        };
        assert_eq!(compared(&pair), [CYCLES; PORTS]);

        let mut pair = SwitchLockStep::new(&design, never());
        let mut told = 0;
        let stop = |cycles| {
            told = cycles;
            ControlFlow::Break(())
        };
        assert_eq!(pair.drive(1, CYCLES, stop).unwrap(), SwitchEnded::Stopped);
        assert!(0 < told && told < CYCLES, "{told}");
        assert_eq!(compared(&pair), [told; PORTS]);

        let mut pair = SwitchLockStep::new(&design, Scripted::new(500, None));
        let failed = pair.drive(1, CYCLES, |_| ControlFlow::Continue(()));
        assert_eq!(failed.unwrap_err().message, "fails");
    }
}
