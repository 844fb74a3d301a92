//! Links of several lanes, most of which are off while there is little to send (Zahn II.A, III.B).

use super::parameters::{Lanes, Parameters};
use crate::blocks::lane_controller::golden::{LaneController, Lanes as State};
use crate::blocks::port::controller::PowerController;
use crate::blocks::port::model::Model;
use crate::blocks::port::pins::{Inputs, Outputs, PowerState};
use crate::config::plan::{LanePlan, Policy, PortPlan, Sleep};

impl Lanes {
    /// The lane controller of a port of such a switch, whose buffers are divided into `queues`, and whose
    /// clock has a period of `clock_ps`.
    ///
    /// # Errors
    /// Why a port with this plan has none, or why it would never turn lanes on.
    pub fn plan(
        &self,
        port: &PortPlan,
        switch: &Parameters,
        queues: usize,
        clock_ps: u64,
    ) -> Result<LanePlan, String> {
        let plan = self.plan_of(port, switch.queue, |t_w| {
            LanePlan::level(self.count, self.low, switch.byte_ps, t_w * clock_ps)
        });
        let plan = plan.map_err(|problem| format!("link_lanes in [switch]: {problem}"))?;
        // Packets of one message all go into the same queue. It holds whole packets, and the one that is
        // being sent does not wait.
        let (queues, largest) = (queues as u64, u64::from(switch.largest()));
        let queue = u64::from(switch.queue) / queues;
        let waiting = (queue / largest).saturating_sub(1) * largest;
        if plan.level >= waiting {
            let enough = queues * largest * (plan.level / largest + 2);
            return Err(format!(
                "queue_bytes = {} in [switch]: all lanes of a link are turned on when more than {} bytes \
                 wait, and in a queue of {queue} bytes wait {waiting} at most beside the packet that is being \
                 sent, with packets of up to {largest} bytes: lanes that are off might never be turned on; \
                 queue_bytes = {enough} would do, or smaller packets, a shorter t_w_ns, or \
                 fewer low_lanes",
                switch.queue, plan.level
            ));
        }
        Ok(plan)
    }

    /// The lane controller of a port with a buffer of `queue` bytes; `level` is that of a time in clock
    /// cycles for which lanes are turned on.
    ///
    /// # Errors
    /// Why a port with this plan has none.
    pub fn plan_of(
        &self,
        port: &PortPlan,
        queue: u32,
        level: impl Fn(u64) -> u64,
    ) -> Result<LanePlan, String> {
        let fits = port.policy == Policy::Fixed
            && port.per_direction()
            && port.sleep == Sleep::FastWake
            && port.registers.is_none()
            && port.guard.is_none()
            && !port.control_pins
            && !port.triple_redundancy;
        if !fits {
            return Err(
                "each direction of a link turns lanes off by a fixed threshold, in fast wake; give the \
                 ports policy = \"fixed\", sleep = \"fast-wake\", sync = \"lpi\", no registers, no \
                 guard, control_pins = false and triple_redundancy = false"
                    .into(),
            );
        }
        let times = port.link.fast_wake;
        let plan = LanePlan {
            lanes: self.count,
            low: self.low,
            // A threshold of 0 is the shortest: a cycle without a packet.
            t_down: (port.t_pdt_init * port.clocks_per_tick).max(1),
            t_narrow: times.t_s,
            t_widen: times.t_w,
            level: level(times.t_w),
            most_backlog: queue.into(),
        };
        match plan.unsupported_in_hardware() {
            Some(problem) => Err(problem),
            None => Ok(plan),
        }
    }
}

/// The lane controller of a port in a simulated network: fast wake is when the low lanes alone are on.
#[derive(Clone, Debug)]
pub struct LanePort {
    model: LaneController,
    /// Bytes that wait, without those of the packet being sent.
    backlog: u64,
}

impl LanePort {
    /// A port just after reset.
    pub fn new(plan: &LanePlan) -> LanePort {
        LanePort {
            model: LaneController::new(plan),
            backlog: 0,
        }
    }

    fn changes_in(&self, inputs: &Inputs) -> Option<u64> {
        let active = inputs.queue_nonempty || inputs.transmitting;
        let (model, sends) = (&self.model, inputs.transmitting);
        model.changes_in(active, sends, self.backlog)
    }
}

impl Model for LanePort {
    fn outputs(&self) -> Outputs {
        Outputs {
            tx_enable: self.model.may_send(self.backlog),
            power_state: match self.model.lanes() {
                State::All => PowerState::Wake,
                State::Fewer => PowerState::GoingDown,
                State::Low => PowerState::FastWake,
                State::More => PowerState::GoingUp,
            },
            ..Outputs::default()
        }
    }

    fn advance(&mut self, inputs: &Inputs, max: u64) -> u64 {
        let step = self.changes_in(inputs).unwrap_or(max).min(max);
        let active = inputs.queue_nonempty || inputs.transmitting;
        let sends = inputs.transmitting;
        self.model.clock(step, active, sends, self.backlog);
        step
    }
}

impl PowerController for LanePort {
    fn quiet_cycles(&self, inputs: &Inputs) -> u64 {
        self.changes_in(inputs).unwrap_or(u64::MAX)
    }

    fn per_direction(&self) -> bool {
        true
    }

    fn transmits_in(&self, state: PowerState) -> bool {
        matches!(state, PowerState::Wake | PowerState::FastWake)
    }

    fn set_backlog(&mut self, bytes: u64) {
        self.backlog = bytes;
    }
}
