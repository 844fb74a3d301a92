//! What decides whether a port is awake.

use crate::blocks::port::model::Model;
use crate::blocks::port::pins::{Inputs, Outputs, PowerState};

/// The controller of one port: the golden model, or [`AlwaysOn`].
pub trait PowerController: Model {
    /// Cycles, the present one included, for which the outputs will certainly stay as they
    /// are if `inputs` hold (a lower bound >= 1; `u64::MAX` is for ever).
    fn quiet_cycles(&self, inputs: &Inputs) -> u64;

    /// Cycles, the present one included, for which `tx_enable`, `power_state` and
    /// `message_out` will certainly stay as they are if `inputs` hold: what the other end
    /// and the queue can notice (a lower bound >= 1; `u64::MAX` is for ever).
    fn outward_quiet_cycles(&self, inputs: &Inputs) -> u64 {
        self.quiet_cycles(inputs)
    }

    /// Whether it exchanges messages with the other end of the link (SPEC 5); otherwise it
    /// sees it through levels, or not at all.
    fn exchanges_messages(&self) -> bool {
        false
    }

    /// Whether the direction that its port sends on sleeps for itself (SPEC 14): it sees nothing
    /// of the other end.
    fn per_direction(&self) -> bool {
        false
    }

    /// Whether packets may be on their way out in this state.
    fn transmits_in(&self, state: PowerState) -> bool {
        state == PowerState::Wake
    }

    /// From the present cycle on so many bytes wait to be sent, without those of the packet that is
    /// being sent. What looks at that may let packets pass in the same cycle, or may not.
    fn set_backlog(&mut self, bytes: u64) {
        let _ = bytes;
    }
}

/// A controller did what none may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The clock cycle, counted as its user counts them.
    pub cycle: u64,
    /// What it did.
    pub what: String,
}

impl Fault {
    /// What a controller did that left `Wake` for `state` too early.
    pub fn went_to_sleep(state: PowerState) -> String {
        format!(
            "its controller went to {} while a packet was on the link",
            state.name()
        )
    }
}

/// Never sleeps.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysOn;

impl Model for AlwaysOn {
    fn outputs(&self) -> Outputs {
        Outputs {
            tx_enable: true,
            ..Default::default()
        }
    }

    fn advance(&mut self, _: &Inputs, max: u64) -> u64 {
        max
    }
}

impl PowerController for AlwaysOn {
    fn quiet_cycles(&self, _: &Inputs) -> u64 {
        u64::MAX
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::blocks::port::pins::PowerState;

    /// A fixed threshold, written for the tests of the network as plainly as possible.
    #[derive(Clone, Debug)]
    pub struct FixedThreshold {
        pub t_pdt: u64,
        pub t_s: u64,
        pub t_w: u64,
        state: PowerState,
        /// Cycles left of a transition, or idle cycles while armed.
        count: u64,
        armed: bool,
    }

    impl FixedThreshold {
        pub fn new(t_pdt: u64, t_s: u64, t_w: u64) -> Self {
            Self {
                t_pdt,
                t_s,
                t_w,
                state: PowerState::Wake,
                count: 0,
                armed: false,
            }
        }

        fn clock(&mut self, inputs: &Inputs) {
            match self.state {
                PowerState::Wake if inputs.active() => {
                    self.armed = inputs.transmitting;
                    self.count = 0;
                }
                PowerState::Wake => {
                    self.count += u64::from(self.armed);
                    let expired = self.armed && self.count > self.t_pdt && inputs.sleep_permit;
                    if expired || inputs.remote_down {
                        self.state = PowerState::GoingDown;
                        self.count = self.t_s;
                        self.armed = false;
                    }
                }
                PowerState::GoingDown => {
                    self.count -= 1;
                    if self.count == 0 {
                        self.state = PowerState::FastWake;
                    }
                }
                PowerState::GoingUp => {
                    self.count -= 1;
                    if self.count == 0 {
                        self.state = PowerState::Wake;
                    }
                }
                _ => {
                    if inputs.queue_nonempty || inputs.remote_up {
                        self.state = PowerState::GoingUp;
                        self.count = self.t_w;
                    }
                }
            }
        }
    }

    impl Model for FixedThreshold {
        fn outputs(&self) -> Outputs {
            Outputs {
                tx_enable: self.state == PowerState::Wake,
                power_state: self.state,
                ..Default::default()
            }
        }

        fn advance(&mut self, inputs: &Inputs, max: u64) -> u64 {
            let before = self.outputs();
            let mut cycle = 0;
            while cycle < max {
                // The first cycle may change registers that are not outputs; between it
                // and the change of the outputs only the counter moves.
                if cycle > 0 {
                    let skip = self.quiet_cycles(inputs).min(max - cycle) - 1;
                    match self.state {
                        PowerState::Wake if inputs.active() => {}
                        PowerState::Wake => self.count += skip * u64::from(self.armed),
                        PowerState::GoingDown | PowerState::GoingUp => self.count -= skip,
                        _ => {}
                    }
                    cycle += skip;
                }
                self.clock(inputs);
                cycle += 1;
                if self.outputs() != before {
                    break;
                }
            }
            cycle
        }
    }

    impl PowerController for FixedThreshold {
        fn quiet_cycles(&self, inputs: &Inputs) -> u64 {
            match self.state {
                PowerState::Wake if inputs.active() => u64::MAX,
                PowerState::Wake if inputs.remote_down => 1,
                PowerState::Wake if self.armed && inputs.sleep_permit => {
                    (self.t_pdt + 1).saturating_sub(self.count).max(1)
                }
                PowerState::Wake if self.armed => 1,
                PowerState::Wake => u64::MAX,
                PowerState::GoingDown | PowerState::GoingUp => self.count,
                _ if inputs.queue_nonempty || inputs.remote_up => 1,
                _ => u64::MAX,
            }
        }
    }
}
