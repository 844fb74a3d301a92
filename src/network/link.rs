//! One link: the controllers at its two ends, clocked only as far as anything asks.
//!
//! Cycle `k` spans `[k T, (k+1) T)`. What happens at time `t` shows in the inputs of cycle
//! `ceil(t/T)`. Between two changes of the inputs the controllers are advanced in one step
//! per change of their outputs, so an idle millisecond costs as little as an idle cycle.
//!
//! The two ends see each other through three inputs that stand for the exchange of
//! messages of SPEC 5 with messages that never overtake a packet and otherwise take no
//! time, each a level:
//! - `sleep_permit`: in this cycle the other end has an empty queue, does not transmit,
//!   and no packet is on its way from there. A packet on its way *to* the other end is no
//!   obstacle: a request to sleep would arrive behind it. (If it were one, a threshold
//!   shorter than the delay of the cable would never power down.)
//! - `remote_down`: the other end is in a state that follows a decision to sleep, and its
//!   last packet has arrived. So the other end goes down at most the delay of a cable
//!   later;
//! - `remote_up`: the other end has a packet, and one of the ends is not awake.

use crate::blocks::port::pins::{Inputs, Outputs, PowerState};
use crate::switch::power::PowerController;

/// Takes what the ports did, cycle by cycle: for each port the gapless sequence of inputs
/// and outputs from cycle 0, as runs of equal cycles.
pub trait ActivitySink {
    /// `cycles` (>= 1) more cycles of `port`, all with these inputs and outputs.
    fn run(&mut self, port: usize, cycles: u64, inputs: Inputs, outputs: Outputs);

    /// All ports have been told up to (and without) `cycle`. Called at least once per
    /// window and at the end. `Break` stops the simulation.
    fn window(&mut self, cycle: u64) -> std::ops::ControlFlow<()> {
        let _ = cycle;
        std::ops::ControlFlow::Continue(())
    }
}

/// Forgets everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSink;

impl ActivitySink for NoSink {
    fn run(&mut self, _: usize, _: u64, _: Inputs, _: Outputs) {}
}

/// A controller did what none may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ControllerFault {
    pub port: usize,
    pub cycle: u64,
    pub what: String,
}

/// What a port's controller did, in clock cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PortCycles {
    /// Cycles in each state, in the order of [`PowerState::ALL`].
    pub states: [u64; 6],
    /// Transitions begun: entries into `GoingDown` and into `GoingUp`.
    pub transitions: u64,
    /// Idle periods that the port spent awake, as its controller counts them.
    pub hits: u64,
    /// Idle periods in which the port slept, as its controller counts them.
    pub misses: u64,
}

pub(super) struct End {
    pub port: usize,
    controller: Box<dyn PowerController + Send>,
    outputs: Outputs,
    /// The queue of this end holds a packet, or one is leaving.
    pub queue: bool,
    pub transmitting: bool,
    pub receiving: bool,
    /// Packets on their way to this end: their first byte has left the other end, their
    /// last byte has not arrived here.
    pub arriving: u32,
    /// Hops of a packet that starts in the present cycle.
    pub start: Option<u8>,
    pub cycles: PortCycles,
    /// The run that has not been told yet.
    pending: Option<(u64, Inputs, Outputs)>,
}

impl End {
    fn tell(&mut self, cycles: u64, inputs: Inputs, sink: &mut dyn ActivitySink) {
        let count = &mut self.cycles;
        count.states[self.outputs.power_state as usize] += cycles;
        count.hits += u64::from(self.outputs.hit) * cycles;
        count.misses += u64::from(self.outputs.miss) * cycles;
        match &mut self.pending {
            Some((run, i, o)) if *i == inputs && *o == self.outputs => *run += cycles,
            pending => {
                if let Some((run, i, o)) = pending.replace((cycles, inputs, self.outputs)) {
                    sink.run(self.port, run, i, o);
                }
            }
        }
    }

    fn flush(&mut self, sink: &mut dyn ActivitySink) {
        if let Some((run, inputs, outputs)) = self.pending.take() {
            sink.run(self.port, run, inputs, outputs);
        }
    }
}

pub(super) struct Link {
    pub ends: [End; 2],
    /// The controllers stand at the beginning of this cycle.
    cycle: u64,
    /// Time in ps at which the link is to be looked at again for waiting packets.
    pub poll_at: u64,
}

impl Link {
    pub fn new(ports: [usize; 2], controllers: [Box<dyn PowerController + Send>; 2]) -> Self {
        let mut ports = ports.into_iter();
        Self {
            ends: controllers.map(|controller| End {
                port: ports.next().expect("two ports"),
                outputs: controller.outputs(),
                controller,
                queue: false,
                transmitting: false,
                receiving: false,
                arriving: 0,
                start: None,
                cycles: PortCycles::default(),
                pending: None,
            }),
            cycle: 0,
            poll_at: u64::MAX,
        }
    }

    /// Both ends may carry data in the present cycle.
    pub fn enabled(&self) -> bool {
        self.ends.iter().all(|end| end.outputs.tx_enable)
    }

    /// Cycles, the present one included, for which the outputs of both ends will
    /// certainly stay as they are if nothing happens.
    pub fn quiet(&self) -> u64 {
        self.quiet_with(&self.inputs())
    }

    fn quiet_with(&self, inputs: &[Inputs; 2]) -> u64 {
        // The pulse of a packet's start ends with the cycle.
        if inputs.iter().any(|inputs| inputs.packet_valid) {
            return 1;
        }
        let of = |end: usize| self.ends[end].controller.quiet_cycles(&inputs[end]).max(1);
        of(0).min(of(1))
    }

    fn inputs(&self) -> [Inputs; 2] {
        let awake = |end: &End| end.outputs.power_state == PowerState::Wake;
        let both_awake = self.ends.iter().all(awake);
        [0, 1].map(|side| {
            let (end, other) = (&self.ends[side], &self.ends[1 - side]);
            Inputs {
                rst: false,
                queue_nonempty: end.queue,
                transmitting: end.transmitting,
                receiving: end.receiving,
                sleep_permit: !other.queue && !other.transmitting && end.arriving == 0,
                remote_down: end.arriving == 0
                    && matches!(
                        other.outputs.power_state,
                        PowerState::GoingDown
                            | PowerState::FastWake
                            | PowerState::DeepSleep
                            | PowerState::Refresh
                    ),
                remote_up: other.queue && !both_awake,
                packet_valid: end.start.is_some(),
                packet_hops: end.start.unwrap_or(0),
                ..Inputs::default()
            }
        })
    }

    /// Clocks both controllers to the beginning of `cycle` with the inputs as they stand.
    /// Must be called before anything that the inputs depend on changes.
    pub fn advance_to(
        &mut self,
        cycle: u64,
        sink: &mut dyn ActivitySink,
    ) -> Result<(), ControllerFault> {
        while self.cycle < cycle {
            let inputs = self.inputs();
            self.check_awake()?;
            let step = self.quiet_with(&inputs).min(cycle - self.cycle);
            for (end, inputs) in self.ends.iter_mut().zip(&inputs) {
                end.tell(step, *inputs, sink);
                let clocked = end.controller.advance(inputs, step);
                if clocked != step {
                    return Err(ControllerFault {
                        port: end.port,
                        cycle: self.cycle,
                        what: format!(
                            "its controller announced {step} quiet cycles but changed its \
                             outputs after {clocked}"
                        ),
                    });
                }
                end.start = None;
                let before = end.outputs.power_state;
                end.outputs = end.controller.outputs();
                let after = end.outputs.power_state;
                let begun = matches!(after, PowerState::GoingDown | PowerState::GoingUp);
                end.cycles.transitions += u64::from(begun && after != before);
            }
            self.cycle += step;
        }
        Ok(())
    }

    /// No end may leave `Wake` while it transmits or while a packet is on its way to it.
    fn check_awake(&self) -> Result<(), ControllerFault> {
        match self.ends.iter().find(|end| {
            (end.transmitting || end.arriving > 0) && end.outputs.power_state != PowerState::Wake
        }) {
            None => Ok(()),
            Some(end) => Err(ControllerFault {
                port: end.port,
                cycle: self.cycle,
                what: format!(
                    "its controller went to {} while a packet was {}",
                    end.outputs.power_state.name(),
                    if end.transmitting {
                        "leaving"
                    } else {
                        "on its way to it"
                    }
                ),
            }),
        }
    }

    /// Tells the sink what it has not been told yet.
    pub fn flush(&mut self, sink: &mut dyn ActivitySink) {
        for end in &mut self.ends {
            end.flush(sink);
        }
    }
}
