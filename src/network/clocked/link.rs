//! One link: the controllers at its two ends, clocked only as far as anything asks.
//!
//! Cycle `k` spans `[k T, (k+1) T)`. What happens at time `t` shows in the inputs of cycle
//! `ceil(t/T)`. Between two changes of the inputs the controllers are advanced in one step
//! per change of their outputs, so an idle millisecond costs as little as an idle cycle.
//!
//! Controllers that exchange messages (SPEC 5) get each other's after the time of 64 bytes
//! and of the cable, in whole cycles. Like pause frames, messages slip in between the bytes
//! of packets. When the simulated time begins, the controllers have been out of reset for
//! long enough to have exchanged the first ones (`docs/how/link-sync.md`).
//!
//! Of controllers whose directions sleep for themselves (SPEC 14), neither sees anything of the
//! other, and what arrives at its port does not concern it. Each is awake from reset; with control
//! pins, when it has come up.
//!
//! The others see each other through three inputs that stand for that exchange with
//! messages that never overtake a packet and otherwise take no time, each a level:
//! - `sleep_permit`: in this cycle the other end has an empty queue, does not transmit,
//!   and no packet is on its way from there. A packet on its way *to* the other end is no
//!   obstacle: a request to sleep would arrive behind it. (If it were one, a threshold
//!   shorter than the delay of the cable would never power down.)
//! - `remote_down`: the other end is in a state that follows a decision to sleep, and its
//!   last packet has arrived. So the other end goes down at most the delay of a cable
//!   later;
//! - `remote_up`: the other end has a packet, and one of the ends is not awake.

use std::collections::VecDeque;

use crate::blocks::port::controller::PowerController;
use crate::blocks::port::pins::{Inputs, Message, Outputs, PowerState};
use crate::network::run::PortCycles;

/// Takes what the ports did, cycle by cycle: for each port the gapless sequence of inputs
/// and outputs from cycle 0, as runs of equal cycles.
pub trait ActivitySink {
    /// `cycles` (>= 1) more cycles of `port`, all with these inputs and outputs.
    fn run(&mut self, port: usize, cycles: u64, inputs: Inputs, outputs: Outputs);

    /// All ports have been told up to (and without) `cycle` of simulated time, which begins
    /// some cycles after the reset of controllers that exchange messages. Called at least once per
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
    /// No controller with these settings could do better.
    pub settings: bool,
}

pub(super) struct End {
    pub port: usize,
    controller: Box<dyn PowerController + Send>,
    outputs: Outputs,
    /// The queue of this end holds a packet, or one is leaving.
    pub queue: bool,
    pub transmitting: bool,
    pub receiving: bool,
    /// Its switch keeps it awake.
    pub force_wake: bool,
    /// Packets on their way to this end: their first byte has left the other end, their
    /// last byte has not arrived here.
    pub arriving: u32,
    /// Hops of a packet that starts in the present cycle.
    pub start: Option<u8>,
    /// Messages on their way to this end and the cycles in which they arrive.
    messages: VecDeque<(u64, Message)>,
    pub cycles: PortCycles,
    /// The run that has not been told yet.
    pending: Option<(u64, Inputs, Outputs)>,
}

impl End {
    fn report(&mut self, cycles: u64, inputs: Inputs, sink: &mut dyn ActivitySink) {
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

/// How the ends of a link know of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sync {
    /// By messages, which take so many cycles from `message_out` to the other end's `message_in`.
    Messages(u64),
    /// By pins.
    Levels,
    /// Not at all.
    PerDirection,
}

pub(super) struct Link {
    pub ends: [End; 2],
    /// The controllers stand at the beginning of this cycle, counted from their reset.
    cycle: u64,
    /// Simulated time begins with this cycle: by now the ends have got to know each other.
    origin: u64,
    sync: Sync,
    /// Time in ps at which the link is to be looked at again for waiting packets.
    pub poll_at: u64,
}

impl Link {
    /// A link just out of reset; a message takes `message_delay` (>= 1) cycles.
    pub fn new(
        ports: [usize; 2],
        controllers: [Box<dyn PowerController + Send>; 2],
        message_delay: u64,
    ) -> Self {
        let mut ports = ports.into_iter();
        let sync = if controllers.iter().all(|end| end.exchanges_messages()) {
            Sync::Messages(message_delay)
        } else if controllers.iter().all(|end| end.per_direction()) {
            Sync::PerDirection
        } else {
            Sync::Levels
        };
        Self {
            ends: controllers.map(|controller| End {
                port: ports.next().expect("two ports"),
                outputs: controller.outputs(),
                controller,
                queue: false,
                transmitting: false,
                receiving: false,
                force_wake: false,
                arriving: 0,
                start: None,
                messages: VecDeque::new(),
                cycles: PortCycles::default(),
                pending: None,
            }),
            cycle: 0,
            origin: 0,
            sync,
            poll_at: u64::MAX,
        }
    }

    /// An end may send data in the present cycle. Ends that exchange messages know that
    /// the other one will be ready when it arrives; of directions that sleep for themselves the
    /// receiver is awake when the transmitter is.
    pub fn enabled(&self, end: usize) -> bool {
        match self.sync {
            Sync::Messages(_) | Sync::PerDirection => self.ends[end].outputs.tx_enable,
            Sync::Levels => self.ends.iter().all(|end| end.outputs.tx_enable),
        }
    }

    /// So many bytes wait at an end, without those of the packet being sent.
    pub fn set_backlog(&mut self, end: usize, bytes: u64) {
        let end = &mut self.ends[end];
        end.controller.set_backlog(bytes);
        end.outputs = end.controller.outputs();
    }

    /// An end is in fast wake: where links have lanes, it sends by some of them.
    pub fn is_low(&self, end: usize) -> bool {
        self.ends[end].outputs.power_state == PowerState::FastWake
    }

    /// Its ends sleep when they like, but for what keeps them awake.
    pub fn can_be_kept_awake(&self) -> bool {
        self.sync == Sync::PerDirection
    }

    /// An end whose direction sleeps for itself is not awake.
    pub fn sleeps_alone(&self, end: usize) -> bool {
        self.sync == Sync::PerDirection && !self.ends[end].outputs.tx_enable
    }

    /// Cycles, the present one included, for which the outputs of both ends will
    /// certainly stay as they are if nothing happens.
    pub fn quiet(&self) -> u64 {
        self.quiet_with(&self.inputs())
    }

    fn quiet_with(&self, inputs: &[Inputs; 2]) -> u64 {
        // The pulse of a packet's start, and a message, ends with the cycle.
        if inputs
            .iter()
            .any(|inputs| inputs.packet_valid || inputs.message_in != 0)
        {
            return 1;
        }
        let of = |side: usize| {
            let end = &self.ends[side];
            let message = end.messages.front();
            let quiet = message.map_or(u64::MAX, |(arrives, _)| arrives - self.cycle);
            end.controller.quiet_cycles(&inputs[side]).max(1).min(quiet)
        };
        of(0).min(of(1))
    }

    fn inputs(&self) -> [Inputs; 2] {
        let awake = |end: &End| end.outputs.power_state == PowerState::Wake;
        let both_awake = self.ends.iter().all(awake);
        [0, 1].map(|side| {
            let (end, other) = (&self.ends[side], &self.ends[1 - side]);
            let inputs = Inputs {
                queue_nonempty: end.queue,
                transmitting: end.transmitting,
                receiving: end.receiving,
                packet_valid: end.start.is_some(),
                packet_hops: end.start.unwrap_or(0),
                force_wake: end.force_wake,
                ..Inputs::default()
            };
            match self.sync {
                Sync::PerDirection => inputs,
                Sync::Messages(_) => {
                    let arriving = end.messages.front().filter(|(at, _)| *at == self.cycle);
                    Inputs {
                        initiator: side == 0,
                        message_in: arriving.map_or(0, |&(_, message)| message as u8),
                        ..inputs
                    }
                }
                Sync::Levels => Inputs {
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
                    ..inputs
                },
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
        if self.cycle == 0 && self.sync != Sync::Levels {
            self.get_acquainted(sink)?;
        }
        self.clock_to(self.origin + cycle, sink)
    }

    /// Clocks the controllers until both may send.
    fn get_acquainted(&mut self, sink: &mut dyn ActivitySink) -> Result<(), ControllerFault> {
        while !(self.enabled(0) && self.enabled(1)) {
            let quiet = self.quiet();
            if quiet == u64::MAX {
                return Err(ControllerFault {
                    port: self.ends[0].port,
                    cycle: 0,
                    what: "its controller, or that of the other end, never lets a packet pass"
                        .into(),
                    settings: true,
                });
            }
            self.clock_to(self.cycle + quiet, sink)?;
        }
        self.origin = self.cycle;
        for end in &mut self.ends {
            end.cycles = PortCycles::default();
        }
        Ok(())
    }

    fn clock_to(&mut self, cycle: u64, sink: &mut dyn ActivitySink) -> Result<(), ControllerFault> {
        while self.cycle < cycle {
            let inputs = self.inputs();
            self.check_awake()?;
            let step = self.quiet_with(&inputs).min(cycle - self.cycle);
            if let Sync::Messages(delay) = self.sync {
                let arrives = self.cycle + delay;
                let sent = [0, 1].map(|side| self.ends[side].outputs.message_out);
                for (end, message) in self.ends.iter_mut().zip([sent[1], sent[0]]) {
                    end.messages.retain(|(at, _)| *at > self.cycle);
                    if message != Message::None {
                        end.messages.push_back((arrives, message));
                    }
                }
            }
            for (end, inputs) in self.ends.iter_mut().zip(&inputs) {
                end.report(step, *inputs, sink);
                let clocked = end.controller.advance(inputs, step);
                if clocked != step {
                    return Err(ControllerFault {
                        port: end.port,
                        cycle: self.cycle - self.origin,
                        what: format!(
                            "its controller announced {step} quiet cycles but changed its \
                             outputs after {clocked}"
                        ),
                        settings: false,
                    });
                }
                end.start = None;
                let before = end.outputs.power_state;
                end.outputs = end.controller.outputs();
                let after = end.outputs.power_state;
                if after != before {
                    end.cycles.enter(after);
                }
            }
            self.cycle += step;
        }
        Ok(())
    }

    /// No end may leave `Wake` while it transmits or, unless directions sleep for themselves, while
    /// a packet is on its way to it, and none may give the other one up.
    fn check_awake(&self) -> Result<(), ControllerFault> {
        if let Some(end) = self.ends.iter().find(|end| end.outputs.sync_error) {
            let round_trip = match self.sync {
                Sync::Messages(delay) => 2 * delay,
                Sync::Levels | Sync::PerDirection => 0,
            };
            return Err(ControllerFault {
                port: end.port,
                cycle: self.cycle - self.origin,
                what: format!(
                    "its controller did not wait for an answer: a round trip is {round_trip} \
                     clock cycles; give it a longer port.sync_timeout_ns"
                ),
                settings: true,
            });
        }
        let receives = |end: &End| self.sync != Sync::PerDirection && end.arriving > 0;
        match self.ends.iter().find(|end| {
            let busy = end.transmitting || receives(end);
            busy && !end.controller.transmits_in(end.outputs.power_state)
        }) {
            None => Ok(()),
            Some(end) => Err(ControllerFault {
                port: end.port,
                cycle: self.cycle - self.origin,
                what: format!(
                    "its controller went to {} while a packet was {}",
                    end.outputs.power_state.name(),
                    if end.transmitting {
                        "leaving"
                    } else {
                        "on its way to it"
                    }
                ),
                settings: false,
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
