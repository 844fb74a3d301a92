//! What the pins of a port do when its link goes to sleep and when it wakes: golden models, run.
//!
//! Where the ends exchange messages there are two of them on a cable. With levels there is one, whose
//! other end has nothing to send.

use std::collections::VecDeque;

use super::wave::{Lane, Level, Record, Stretch};
use crate::blocks::link_sync::longest_delay;
use crate::blocks::port::controller::PowerController;
use crate::blocks::port::golden::Port;
use crate::blocks::port::model::Model;
use crate::blocks::port::pins::{Inputs, Message, Outputs, PowerState};
use crate::config::plan::{Policy, PortPlan, Sleep};

/// Delay of the cable in clock cycles, if the time-out admits so much. **Ours:** enough to tell what
/// an end says from what it hears.
const DELAY: u64 = 8;

/// Clock cycles that a packet takes, and that are shown before and after what a diagram is about.
const MARGIN: u64 = 2;

/// Clock cycles for which a link that sleeps is left alone.
const ASLEEP: u64 = 100;

/// The pins of a port in a clock cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pins {
    /// What the port is told.
    pub inputs: Inputs,
    /// What it answers.
    pub outputs: Outputs,
}

fn message(message: Message) -> Level {
    match message {
        Message::None => Level::Bit(false),
        said => Level::Named(said.name()),
    }
}

/// The pins in its diagrams.
pub(super) const LANES: [Lane<Pins>; 8] = [
    Lane {
        name: "queue_nonempty",
        always: true,
        value: |it| Level::Bit(it.inputs.queue_nonempty),
    },
    Lane {
        name: "transmitting",
        always: true,
        value: |it| Level::Bit(it.inputs.transmitting),
    },
    Lane {
        name: "message_out",
        always: false,
        value: |it| message(it.outputs.message_out),
    },
    Lane {
        name: "message_in",
        always: false,
        value: |it| message(Message::decode(it.inputs.message_in)),
    },
    Lane {
        name: "tx_enable",
        always: true,
        value: |it| Level::Bit(it.outputs.tx_enable),
    },
    Lane {
        name: "power_state",
        always: true,
        value: |it| Level::Named(it.outputs.power_state.name()),
    },
    Lane {
        name: "hit",
        always: false,
        value: |it| Level::Bit(it.outputs.hit),
    },
    Lane {
        name: "miss",
        always: false,
        value: |it| Level::Bit(it.outputs.miss),
    },
];

/// The two diagrams of a port that sent the last packet.
#[derive(Clone, Debug)]
pub(super) struct Story {
    /// Delay of the cable in clock cycles; `None`: levels.
    pub delay: Option<u64>,
    /// From the end of a packet, whose next cycle is 0, until the link is as deep asleep as it gets.
    pub sleep: Vec<Stretch<Pins>>,
    /// From a packet on, whose first cycle in the queue is 0, until it has been sent.
    pub wake: Vec<Stretch<Pins>>,
}

/// What the configuration's port does; `None` if it never goes to sleep by itself.
pub(super) fn story(plan: &PortPlan) -> Option<Story> {
    if plan.policy == Policy::AlwaysOn {
        return None;
    }
    let deepest = match plan.sleep {
        Sleep::FastWake => PowerState::FastWake,
        Sleep::DeepSleep | Sleep::Hybrid => PowerState::DeepSleep,
    };
    let mut link = Link::new(plan);
    // From reset to the end of a packet.
    link.run(Drive::Waits, |outputs| outputs.tx_enable)?;
    link.begin();
    link.hold(Drive::Sends, MARGIN);
    let begin = link.now;
    link.run(Drive::Idle, |outputs| outputs.power_state == deepest)?;
    link.hold(Drive::Idle, MARGIN);
    let sleep = link.end(begin);

    link.hold(Drive::Idle, ASLEEP);
    // Refreshing, it would wake in another time.
    link.run(Drive::Idle, |outputs| outputs.power_state == deepest)?;
    link.begin();
    link.hold(Drive::Idle, MARGIN);
    let begin = link.now;
    link.run(Drive::Waits, |outputs| outputs.tx_enable)?;
    link.hold(Drive::Sends, MARGIN);
    link.hold(Drive::Idle, MARGIN);
    Some(Story {
        delay: plan.messages().map(|_| link.delay),
        sleep,
        wake: link.end(begin),
    })
}

/// What the port has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drive {
    Idle,
    /// A packet is in its queue.
    Waits,
    /// The packet leaves.
    Sends,
}

/// A change that is on its way over the cable, and the cycle in which it arrives.
type OnItsWay<T> = VecDeque<(u64, T)>;

/// The next of them, if it has arrived by now.
fn arrived<T>(coming: &mut OnItsWay<T>, now: u64) -> Option<T> {
    coming.front().filter(|(at, _)| *at <= now)?;
    coming.pop_front().map(|(_, what)| what)
}

struct Link {
    /// The port, and the other end where there is one.
    ends: Vec<Port>,
    delay: u64,
    now: u64,
    /// To each end.
    messages: [OnItsWay<Message>; 2],
    /// What the port sends arrives at the other end from each cycle on, or no more.
    data: OnItsWay<bool>,
    receives: bool,
    sends: bool,
    record: Record<Pins>,
}

impl Link {
    fn new(plan: &PortPlan) -> Link {
        let delay = plan
            .messages()
            .map_or(0, |sync| longest_delay(plan, &sync).min(DELAY));
        let ends = if plan.messages().is_some() { 2 } else { 1 };
        Link {
            ends: vec![Port::new(plan); ends],
            delay,
            now: 0,
            messages: [VecDeque::new(), VecDeque::new()],
            data: VecDeque::new(),
            receives: false,
            sends: false,
            record: Record::new(),
        }
    }

    fn begin(&mut self) {
        self.record = Record::new();
    }

    /// What was recorded, counted from cycle `zero`.
    fn end(&mut self, zero: u64) -> Vec<Stretch<Pins>> {
        self.record.take(zero)
    }

    /// Runs until the port's outputs are as wanted; `None` if they never will be.
    fn run(&mut self, drive: Drive, wanted: impl Fn(&Outputs) -> bool) -> Option<()> {
        while !wanted(&self.ends[0].outputs()) {
            if self.step(drive, u64::MAX) == u64::MAX {
                return None;
            }
        }
        Some(())
    }

    /// Runs for so many cycles.
    fn hold(&mut self, drive: Drive, cycles: u64) {
        let mut left = cycles;
        while left > 0 {
            left -= self.step(drive, left);
        }
    }

    /// Runs for at most so many cycles in which no pin changes; how many. If none ever changes
    /// again, it stands still.
    fn step(&mut self, drive: Drive, most: u64) -> u64 {
        let sends = drive == Drive::Sends;
        if sends != self.sends {
            self.sends = sends;
            self.data.push_back((self.now + self.delay, sends));
        }
        while let Some(receives) = arrived(&mut self.data, self.now) {
            self.receives = receives;
        }
        let outputs: Vec<Outputs> = self.ends.iter().map(Model::outputs).collect();
        let both = self.ends.len() == 2;
        let mut inputs = vec![Inputs {
            queue_nonempty: drive != Drive::Idle,
            transmitting: sends,
            sleep_permit: !both,
            initiator: both,
            ..Inputs::default()
        }];
        if both {
            inputs.push(Inputs {
                receiving: self.receives,
                ..Inputs::default()
            });
        }
        for (end, outputs) in outputs.iter().enumerate() {
            let message = outputs.message_out;
            if message != Message::None {
                self.messages[1 - end].push_back((self.now + self.delay, message));
            }
        }
        for (end, inputs) in inputs.iter_mut().enumerate() {
            if let Some(message) = arrived(&mut self.messages[end], self.now) {
                inputs.message_in = message as u8;
            }
        }
        let speaks = |(inputs, outputs): (&Inputs, &Outputs)| {
            inputs.message_in != 0 || outputs.message_out != Message::None
        };
        let pulse = inputs.iter().zip(&outputs).any(speaks);
        let arrivals = self
            .messages
            .iter()
            .filter_map(|coming| coming.front().map(|(at, _)| *at));
        let arrivals = arrivals.chain(self.data.front().map(|(at, _)| *at));
        let quiet = self.ends.iter().zip(&inputs);
        let quiet = quiet.map(|(end, inputs)| end.quiet_cycles(inputs));
        let cycles = quiet
            .chain(arrivals.map(|at| at - self.now))
            .chain(pulse.then_some(1))
            .fold(most, u64::min);
        if cycles == u64::MAX {
            return cycles;
        }
        for (end, inputs) in self.ends.iter_mut().zip(&inputs) {
            let mut left = cycles;
            while left > 0 {
                left -= end.advance(inputs, left);
            }
        }
        let pins = Pins {
            inputs: inputs[0],
            outputs: outputs[0],
        };
        self.record.push(self.now, cycles, pins);
        self.now += cycles;
        cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::link_sync::wait_bound;
    use crate::blocks::lpi_fsm;
    use crate::config::{Config, PRESETS};

    fn of(text: &str) -> (PortPlan, Option<Story>) {
        let plan = Config::parse(text, "test").unwrap().plan().unwrap();
        (plan, story(&plan))
    }

    /// The first stretch in which something holds.
    fn first(stretches: &[Stretch<Pins>], holds: impl Fn(&Pins) -> bool) -> i64 {
        let found = stretches.iter().find(|stretch| holds(&stretch.pins));
        found.expect("it is shown").from
    }

    /// The times of SPEC 3 and 14: nobody is asked.
    fn a_direction_sleeps_and_wakes(name: &str, plan: &PortPlan, story: &Story) {
        let down = first(&story.sleep, |it| {
            it.outputs.power_state == PowerState::GoingDown
        });
        let timer = (plan.t_pdt_init + 1) * plan.clocks_per_tick;
        assert!((down - timer as i64).abs() <= 1, "{name}: {down}");
        let (state, times) = match plan.sleep {
            Sleep::FastWake => (PowerState::FastWake, plan.link.fast_wake),
            _ => (PowerState::DeepSleep, plan.link.deep_sleep),
        };
        let asleep = first(&story.sleep, |it| it.outputs.power_state == state);
        assert_eq!(asleep, down + times.t_s as i64, "{name}");
        // A cycle passes before the state machine sees the packet.
        let sends = first(&story.wake, |it| it.inputs.transmitting);
        assert_eq!(sends, times.t_w as i64 + 1, "{name}");
    }

    /// The times of SPEC 3 and 5, worked out by hand from the configuration.
    #[test]
    fn a_link_sleeps_after_its_threshold_and_wakes_within_the_bound() {
        for preset in PRESETS {
            let (plan, story) = of(preset.text);
            let story = story.unwrap();
            let Some(delay) = story.delay else {
                a_direction_sleeps_and_wakes(preset.name, &plan, &story);
                continue;
            };
            let d = delay as i64;
            let asks = first(&story.sleep, |it| {
                it.outputs.message_out == Message::ReqDown
            });
            // The tick that completes the threshold, the one after it, and a register.
            let timer = (plan.t_pdt_init + 1) * plan.clocks_per_tick;
            assert!((asks - timer as i64).abs() <= 2, "{}: {asks}", preset.name);
            let answered = first(&story.sleep, |it| {
                it.inputs.message_in == Message::Ack as u8
            });
            assert_eq!(answered, asks + 2 * d + 1, "{}", preset.name);
            let down = first(&story.sleep, |it| {
                it.outputs.power_state == PowerState::GoingDown
            });
            assert_eq!(down, answered + 1 + d + 1, "{}", preset.name);
            let deep = plan.link.deep_sleep;
            if plan.sleep == Sleep::DeepSleep {
                let asleep = first(&story.sleep, |it| {
                    it.outputs.power_state == PowerState::DeepSleep
                });
                assert_eq!(asleep, down + deep.t_s as i64, "{}", preset.name);
            }
            let sends = first(&story.wake, |it| it.inputs.transmitting);
            let bound = wait_bound(&plan, Some(2 * delay)).unwrap();
            assert!(sends > 0 && sends as u64 <= bound, "{}", preset.name);
            let stretches = [&story.sleep[..], &story.wake].concat();
            assert!(stretches.iter().all(|it| !it.pins.outputs.sync_error));
        }
    }

    #[test]
    fn levels_take_no_messages() {
        let (plan, story) = of(
            "[port]\npolicy = \"fixed\"\nt_pdt_ns = 100\nsync = \"levels\"\nsleep = \"fast-wake\"\n",
        );
        let story = story.unwrap();
        assert_eq!(story.delay, None);
        let down = first(&story.sleep, |it| {
            it.outputs.power_state == PowerState::GoingDown
        });
        assert_eq!(down, 101);
        let sends = first(&story.wake, |it| it.inputs.transmitting);
        assert!(sends as u64 <= lpi_fsm::wake_bound(&plan));
    }

    #[test]
    fn a_port_that_never_sleeps_has_no_story() {
        assert!(of("[port]\npolicy = \"always-on\"\n").1.is_none());
    }

    /// Seconds, deep sleep that refreshes, a guard: what takes longest is skipped, not clocked.
    #[test]
    fn every_kind_of_port_has_one() {
        for text in [
            "[port]\nsleep = \"hybrid\"\n[guard]\nburst = 2\n",
            "[port]\ntime_width = 48\npolicy = \"fixed\"\nt_pdt_ns = \"60 s\"\n\
             [states.deep-sleep]\nt_q_ns = 10000\nt_r_ns = 100\n",
            "[port]\npolicy = \"perfbound-correct\"\nregisters = true\n",
        ] {
            let (plan, story) = of(text);
            let story = story.unwrap();
            assert!(
                !story.sleep.is_empty() && !story.wake.is_empty(),
                "{plan:?}"
            );
            for stretches in [&story.sleep, &story.wake] {
                let mut next = stretches[0].from;
                for stretch in stretches {
                    assert_eq!(stretch.from, next);
                    next += stretch.cycles as i64;
                }
            }
        }
    }
}
