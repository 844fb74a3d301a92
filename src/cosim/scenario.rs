//! The ports of a switch under an application's traffic, each with its own instance of the
//! hardware.
//!
//! In the network engine a `Tapped` golden model controls each of these ports and keeps what its
//! pins did; here the same inputs go into the hardware, port by port, and every output is compared
//! in every cycle.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::coverage::Coverage;
use super::scoreboard::HISTORY;
use super::{ActivitySink, EngineError, Mismatch, Model, Rtl, Run, Tally};
use crate::blocks::port::controller::PowerController;
use crate::blocks::port::pins::{Inputs, Outputs};
use crate::config::plan::PortPlan;
use crate::network::event::Replacements;

/// Runs kept of all ports together before they are compared: some 80 bytes each. What the
/// golden models did since they were last asked comes on top.
const PENDING_RUNS: usize = 1 << 19;
/// Cycles kept of all ports together: a few seconds' work, so that a sparse trace can be
/// stopped, and shows its progress, too.
const PENDING_CYCLES: u64 = 1 << 27;

/// What golden models did in a simulation, until a sink takes it.
#[derive(Clone, Debug, Default)]
pub struct Taps(Arc<Mutex<Vec<(usize, Run)>>>);

impl Taps {
    /// Golden models for the ports `ports` of a network. They keep here what they do, from their
    /// reset on.
    pub fn replacements<M: PowerController + Send + 'static>(
        &self,
        ports: impl Iterator<Item = usize>,
        golden: impl Fn() -> M,
    ) -> Replacements {
        ports
            .map(|port| {
                let tapped = Tapped {
                    port,
                    golden: golden(),
                    taps: self.clone(),
                };
                (port, Box::new(tapped) as Box<dyn PowerController + Send>)
            })
            .collect()
    }

    /// Passes on what the models have done so far; `Break` as soon as the sink asks for no more.
    pub fn drain(&self, sink: &mut dyn ActivitySink) -> ControlFlow<()> {
        let runs = std::mem::take(&mut *self.lock());
        for (port, run) in runs {
            sink.run(port, run);
            sink.window()?;
        }
        ControlFlow::Continue(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(usize, Run)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A golden model that keeps what its pins did.
struct Tapped<M> {
    port: usize,
    golden: M,
    taps: Taps,
}

impl<M: Model> Model for Tapped<M> {
    fn outputs(&self) -> Outputs {
        self.golden.outputs()
    }

    fn advance(&mut self, inputs: &Inputs, max: u64) -> u64 {
        let outputs = self.golden.outputs();
        let clocked = self.golden.advance(inputs, max);
        let run = Run::new(clocked, inputs, &outputs);
        self.taps.lock().push((self.port, run));
        clocked
    }
}

impl<M: PowerController> PowerController for Tapped<M> {
    fn quiet_cycles(&self, inputs: &Inputs) -> u64 {
        self.golden.quiet_cycles(inputs)
    }

    fn outward_quiet_cycles(&self, inputs: &Inputs) -> u64 {
        self.golden.outward_quiet_cycles(inputs)
    }

    fn exchanges_messages(&self) -> bool {
        self.golden.exchanges_messages()
    }

    fn per_direction(&self) -> bool {
        self.golden.per_direction()
    }
}

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
    /// Cycles of all ports together that are compared at once: fewer with an engine that is slow.
    most_cycles: u64,
}

impl<R: Rtl + Send> Bench<R> {
    /// One engine per port, each just after reset. `watch` hears after every window how
    /// many cycles of all ports were compared, and may stop the run.
    pub fn new(
        plan: &PortPlan,
        engines: Vec<R>,
        watch: impl FnMut(u64) -> ControlFlow<()> + Send + 'static,
    ) -> Bench<R> {
        let batches = engines.iter().map(Rtl::batch_cycles);
        let all = batches.fold(0, u64::saturating_add);
        Bench {
            most_cycles: all.clamp(1, PENDING_CYCLES),
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
    fn run(&mut self, port: usize, run: Run) {
        let Some(port) = self.ports.get_mut(port) else {
            return;
        };
        self.pending_cycles += run.cycles;
        match port.pending.last_mut() {
            Some(last) if last.same_pins(&run) => last.cycles += run.cycles,
            _ => {
                port.pending.push(run);
                self.pending += 1;
            }
        }
    }

    fn window(&mut self) -> ControlFlow<()> {
        let full = self.pending >= PENDING_RUNS || self.pending_cycles >= self.most_cycles;
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
    fn run(&mut self, port: usize, run: Run) {
        if port == self.port && self.flow.is_continue() {
            self.flow = (self.take)(&run);
        }
    }

    fn window(&mut self) -> ControlFlow<()> {
        self.flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::port::pins::Pin;
    use crate::cosim::fixture::{small_plan, Fixture};
    use crate::cosim::native::Native;
    use crate::cosim::random::Random;
    use crate::cosim::{Activity, Design, Model};

    /// Feeds every port with its own random activity; port 2 sees a wrong output once.
    fn feed(sink: &mut dyn ActivitySink, wrong: Option<u64>) {
        let plan = small_plan();
        let fixture = Fixture { plan };
        let mut ports: Vec<_> = (0..4)
            .map(|seed| {
                (
                    fixture.golden(),
                    Random::new(&plan, seed, 20_000, false),
                    0u64,
                )
            })
            .collect();
        loop {
            for (port, (golden, activity, cycle)) in ports.iter_mut().enumerate() {
                let outputs = golden.outputs();
                let stretch = activity.next(&outputs.pack()).unwrap();
                let clocked = golden.advance(&stretch.inputs, stretch.cycles.min(100));
                activity.passed(clocked, 0);
                let mut faulty = outputs;
                if port == 2 && wrong.is_some_and(|at| (*cycle..*cycle + clocked).contains(&at)) {
                    faulty.t_pdt ^= 1;
                }
                *cycle += clocked;
                sink.run(port, Run::new(clocked, &stretch.inputs, &faulty));
                if sink.window().is_break() || *cycle > 20_000 {
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
        assert_ne!(
            mismatch.actual[Pin::TPdt],
            mismatch.expected.expected(Pin::TPdt)
        );
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
