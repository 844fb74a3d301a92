//! The ports of a switch under an application's traffic, each with its own instance of the
//! hardware.
//!
//! The packet model clocks the golden models and tells what their pins did; here the same
//! inputs go into the hardware, port by port, and every output is compared in every cycle.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::coverage::Coverage;
use super::lock_step::HISTORY;
use super::{EngineError, Mismatch, Rtl, Run, Tally};
use crate::blocks::port::pins::{Inputs, Outputs};
use crate::config::plan::PortPlan;
use crate::network::ActivitySink;

/// Runs kept of all ports together before they are compared: 48 bytes each. What the
/// packet model tells between two of its windows comes on top.
const PENDING_RUNS: usize = 1 << 19;
/// Cycles kept of all ports together: a few seconds' work, so that a sparse trace can be
/// stopped, and shows its progress, too.
const PENDING_CYCLES: u64 = 1 << 27;

/// One port: its hardware and the runs that it has not seen yet.
struct Port<R> {
    rtl: R,
    pending: Vec<Run>,
    /// The last runs before them.
    earlier: Vec<Run>,
    tally: Tally,
    coverage: Coverage,
}

/// What became of all ports.
pub struct Results {
    /// What every port did in the cycles that were compared.
    pub tallies: Vec<Tally>,
    /// The corners that the ports reached together.
    pub coverage: Coverage,
    /// The earliest difference and its port.
    pub mismatch: Option<(usize, Mismatch)>,
}

impl<R: Rtl> Port<R> {
    fn compare(&mut self) -> Result<Option<Mismatch>, EngineError> {
        let found = self.rtl.run(&self.pending)?;
        if let Some(difference) = found {
            let mismatch =
                Mismatch::new(&difference, self.tally.cycles, &self.pending, &self.earlier);
            let at = difference.run as usize;
            self.tally.add(&self.pending[..at]);
            self.tally
                .add(&[self.pending[at].with_cycles(difference.cycle)]);
            return Ok(Some(mismatch));
        }
        self.tally.add(&self.pending);
        self.coverage.observe(&self.pending);
        let kept = self.pending.len().saturating_sub(HISTORY);
        if kept > 0 || self.earlier.len() > 4 * HISTORY {
            self.earlier.clear();
        }
        self.earlier.extend(&self.pending[kept..]);
        self.pending.clear();
        Ok(None)
    }
}

/// The hardware of all ports of a scenario.
pub struct Bench<R> {
    plan: PortPlan,
    ports: Vec<Port<R>>,
    pending: usize,
    pending_cycles: u64,
    outcome: Result<Option<(usize, Mismatch)>, EngineError>,
    stop: Box<dyn FnMut(u64) -> ControlFlow<()> + Send>,
    stopped: bool,
}

impl<R: Rtl + Send> Bench<R> {
    /// One engine per port, each just after reset. `watch` hears after every window how
    /// many cycles of all ports were compared, and may stop the run.
    pub fn new(
        plan: &PortPlan,
        engines: Vec<R>,
        watch: impl FnMut(u64) -> ControlFlow<()> + Send + 'static,
    ) -> Bench<R> {
        Bench {
            plan: *plan,
            ports: engines
                .into_iter()
                .map(|rtl| Port {
                    rtl,
                    pending: Vec::new(),
                    earlier: Vec::new(),
                    tally: Tally::default(),
                    coverage: Coverage::new(plan),
                })
                .collect(),
            pending: 0,
            pending_cycles: 0,
            outcome: Ok(None),
            stop: Box::new(watch),
            stopped: false,
        }
    }

    /// Compares what is pending, ports in parallel. `Break` after a difference (the
    /// earliest of this window), an error or the watcher's stop.
    pub fn compare(&mut self) -> ControlFlow<()> {
        if self.stopped {
            return ControlFlow::Break(());
        }
        self.pending = 0;
        self.pending_cycles = 0;
        let found: Result<Vec<Option<Mismatch>>, EngineError> =
            self.ports.par_iter_mut().map(Port::compare).collect();
        self.outcome = found.map(|found| {
            found
                .into_iter()
                .enumerate()
                .filter_map(|(port, mismatch)| Some((port, mismatch?)))
                .min_by_key(|(port, mismatch)| (mismatch.cycle, *port))
        });
        let cycles = self.ports.iter().map(|port| port.tally.cycles).sum();
        self.stopped = !matches!(self.outcome, Ok(None)) || (self.stop)(cycles).is_break();
        if self.stopped {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Compares the rest and sums up.
    ///
    /// # Errors
    /// If an engine failed.
    pub fn finish(mut self) -> Result<Results, EngineError> {
        // Whether to go on is of no interest any more.
        let _flow = self.compare();
        let mut coverage = Coverage::new(&self.plan);
        for port in &self.ports {
            coverage.merge(&port.coverage);
        }
        Ok(Results {
            tallies: self.ports.iter().map(|port| port.tally).collect(),
            coverage,
            mismatch: self.outcome?,
        })
    }
}

/// Ports beyond those that have hardware here (the NICs) are not compared.
impl<R: Rtl + Send> ActivitySink for Bench<R> {
    fn run(&mut self, port: usize, cycles: u64, inputs: Inputs, outputs: Outputs) {
        let Some(port) = self.ports.get_mut(port) else {
            return;
        };
        self.pending_cycles += cycles;
        let run = Run::new(cycles, &inputs, &outputs);
        match port.pending.last_mut() {
            Some(last) if last.same_pins(&run) => last.cycles += cycles,
            _ => {
                port.pending.push(run);
                self.pending += 1;
            }
        }
    }

    fn window(&mut self, _cycle: u64) -> ControlFlow<()> {
        let full = self.pending >= PENDING_RUNS || self.pending_cycles >= PENDING_CYCLES;
        if full || self.stopped {
            return self.compare();
        }
        ControlFlow::Continue(())
    }
}

/// A sink that keeps one port only, for the waveform of a mismatch.
pub struct OnePort<F> {
    /// The port whose runs are passed on.
    pub port: usize,
    /// Takes them until it breaks.
    pub take: F,
    flow: ControlFlow<()>,
}

impl<F: FnMut(&Run) -> ControlFlow<()>> OnePort<F> {
    /// Passes the runs of `port` on to `take`.
    pub fn new(port: usize, take: F) -> Self {
        OnePort {
            port,
            take,
            flow: ControlFlow::Continue(()),
        }
    }
}

impl<F: FnMut(&Run) -> ControlFlow<()>> ActivitySink for OnePort<F> {
    fn run(&mut self, port: usize, cycles: u64, inputs: Inputs, outputs: Outputs) {
        if port == self.port && self.flow.is_continue() {
            self.flow = (self.take)(&Run::new(cycles, &inputs, &outputs));
        }
    }

    fn window(&mut self, _cycle: u64) -> ControlFlow<()> {
        self.flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::fixture::{small_plan, Fixture};
    use crate::cosim::native::Native;
    use crate::cosim::random::Random;
    use crate::cosim::{Activity, Design, Model};

    /// Feeds every port with its own random activity; port 2 sees a wrong output once.
    fn feed(sink: &mut dyn ActivitySink, wrong: Option<u64>) {
        let plan = small_plan();
        let fixture = Fixture { plan };
        let mut ports: Vec<_> = (0..4)
            .map(|seed| (fixture.golden(), Random::new(&plan, seed, 20_000), 0u64))
            .collect();
        loop {
            for (port, (golden, activity, cycle)) in ports.iter_mut().enumerate() {
                let outputs = golden.outputs();
                let stretch = activity.next(&outputs).unwrap();
                let clocked = golden.advance(&stretch.inputs, stretch.cycles.min(100));
                let mut told = outputs;
                if port == 2 && wrong.is_some_and(|at| (*cycle..*cycle + clocked).contains(&at)) {
                    told.t_pdt ^= 1;
                }
                *cycle += clocked;
                sink.run(port, clocked, stretch.inputs, told);
                if sink.window(*cycle).is_break() || *cycle > 20_000 {
                    return;
                }
            }
        }
    }

    fn engines() -> Vec<impl Rtl + Send> {
        let fixture = Fixture { plan: small_plan() };
        (0..4)
            .map(|_| Native::new(fixture.native().unwrap(), &fixture.plan).unwrap())
            .collect()
    }

    #[test]
    fn ports_are_compared_each_on_its_own() {
        let mut bench = Bench::new(&small_plan(), engines(), |_| ControlFlow::Continue(()));
        feed(&mut bench, None);
        let Results {
            tallies,
            coverage,
            mismatch,
        } = bench.finish().unwrap();
        assert_eq!(mismatch, None);
        assert_eq!(tallies.len(), 4);
        assert!(coverage.count(crate::cosim::coverage::Corner::Miss) > 100);
        assert!(
            tallies.iter().all(|tally| tally.cycles > 5_000),
            "{tallies:?}"
        );
    }

    #[test]
    fn a_difference_names_its_port_and_cycle() {
        let mut bench = Bench::new(&small_plan(), engines(), |_| ControlFlow::Continue(()));
        feed(&mut bench, Some(5_000));
        let (port, mismatch) = bench.finish().unwrap().mismatch.expect("a mismatch");
        assert_eq!(port, 2);
        assert!(
            (4_900..=5_000).contains(&mismatch.cycle),
            "{}",
            mismatch.cycle
        );
        assert_ne!(mismatch.actual[4], mismatch.expected.expected(4));
        assert!(mismatch.history.len() > 8);
        for pair in mismatch.history.windows(2) {
            assert_eq!(pair[0].0 + pair[0].1.cycles, pair[1].0, "gapless");
        }
    }

    #[test]
    fn one_port_passes_its_runs_on() {
        let mut cycles = 0;
        let mut sink = OnePort::new(1, |run: &Run| {
            cycles += run.cycles;
            ControlFlow::Continue(())
        });
        feed(&mut sink, None);
        assert!(cycles > 5_000);
    }
}
