//! Golden model of the whole port controller.

use super::model::Model;
use super::pins::{Inputs, Message, Outputs, PowerState};
use crate::blocks::corrector::golden::Corrector;
use crate::blocks::histogram::golden::Histogram;
use crate::blocks::idle_meter::golden::IdleMeter;
use crate::blocks::link_sync::golden::{LinkSync, View};
use crate::blocks::lpi_fsm::golden::LpiFsm;
use crate::blocks::miss_history::golden::{MissHistory, Sample};
use crate::blocks::pdt_timer::golden::PdtTimer;
use crate::blocks::perfbound::golden::PerfBound;
use crate::config::plan::{Policy, PortPlan};

/// Cycle-exact model of a port controller: equal to the RTL in every output of every
/// clock cycle (SPEC 9).
///
/// It steps through the cycles in which something happens and skips the others: an idle
/// second costs as much as an idle microsecond.
#[derive(Clone, Debug)]
pub struct Port {
    plan: PortPlan,
    /// Clock cycles since the last reset.
    now: u64,
    meter: IdleMeter,
    timer: PdtTimer,
    fsm: LpiFsm,
    /// The exchange of messages with the other end; `None`: levels.
    sync: Option<LinkSync>,
    predictor: Option<(Histogram, PerfBound)>,
    correction: Option<(MissHistory, Corrector)>,
    /// The link has left `Wake` in the present idle period.
    left_wake: bool,
    hit: bool,
    miss: bool,
}

/// What the inputs of one cycle mean in it.
struct Cycle {
    active: bool,
    down_start: bool,
    up_start: bool,
    /// Length of the idle period that ends in this cycle, in ticks.
    sample: Option<u64>,
}

impl Port {
    /// A controller just after reset.
    pub fn new(plan: &PortPlan) -> Self {
        let plan = *plan;
        let max_time = plan.max_time();
        Port {
            plan,
            now: 0,
            meter: IdleMeter::new(plan.clocks_per_tick, max_time),
            timer: PdtTimer::new(plan.t_pdt_init),
            fsm: LpiFsm::new(&plan),
            sync: LinkSync::new(&plan),
            predictor: plan
                .predicts()
                .then(|| (Histogram::new(&plan), PerfBound::new(plan))),
            correction: plan
                .corrects()
                .then(|| (MissHistory::new(&plan), Corrector::new(&plan))),
            left_wake: false,
            hit: false,
            miss: false,
        }
    }

    /// Whether the ends of the link agree by messages (SPEC 5), not levels.
    pub fn exchanges_messages(&self) -> bool {
        self.sync.is_some()
    }

    /// The threshold for the next idle period, in ticks.
    fn t_pdt(&self) -> u64 {
        match (&self.correction, &self.predictor) {
            (Some((_, corrector)), _) => corrector.t_pdt(),
            (None, Some((_, perfbound))) => perfbound.t_pb(),
            (None, None) => self.plan.t_pdt_init,
        }
    }

    /// The cycle in which the timer expires if no activity comes before.
    fn expiry(&self) -> Option<u64> {
        if self.plan.policy == Policy::AlwaysOn {
            return None;
        }
        self.meter.completes(self.timer.expiring_tick()?)
    }

    fn look(&self, inputs: &Inputs) -> Cycle {
        let active = inputs.active();
        let expired = !active && self.expiry() == Some(self.now);
        let (down_start, up_start) = match &self.sync {
            Some(sync) => sync.starts(self.now, &self.view(inputs)),
            None => (
                (expired && inputs.sleep_permit) || (inputs.remote_down && !inputs.transmitting),
                inputs.queue_nonempty || inputs.remote_up,
            ),
        };
        Cycle {
            active,
            down_start,
            up_start,
            sample: self.meter.ended(active).then(|| self.meter.ticks(self.now)),
        }
    }

    /// What link synchronisation sees in this cycle.
    fn view(&self, inputs: &Inputs) -> View {
        let active = inputs.active();
        let awake = self.fsm.state() == PowerState::Wake;
        let expired = !active && self.expiry() == Some(self.now);
        // Both holds in fast wake end together: one request is enough.
        let held = self.fsm.hold_ends().is_some_and(|last| last <= self.now);
        View {
            message: Message::decode(inputs.message_in),
            initiator: inputs.initiator,
            queue_nonempty: inputs.queue_nonempty,
            transmitting: inputs.transmitting,
            active,
            state: self.fsm.state(),
            may_go_down: self.fsm.may_go_down(),
            wants_down: (expired && awake) || (held && inputs.initiator && !active),
        }
    }

    /// The clock edge at the end of the present cycle.
    pub fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            *self = Port::new(&self.plan);
            return;
        }
        let now = self.now;
        let cycle = self.look(inputs);
        let view = self.view(inputs);
        let leaves = cycle.down_start && self.fsm.state() == PowerState::Wake;
        let ended = cycle.sample.map(|ticks| Sample {
            ticks,
            t_pdt: self.timer.in_force(),
            miss: self.left_wake,
        });
        self.hit = cycle.sample.is_some() && !self.left_wake;
        self.miss = cycle.sample.is_some() && self.left_wake;
        self.left_wake = !cycle.active && (self.left_wake || leaves);
        self.timer
            .clock(cycle.active, inputs.transmitting, self.t_pdt());
        self.fsm.clock(now, cycle.down_start, cycle.up_start);
        if let Some(sync) = &mut self.sync {
            sync.clock(now, &view);
        }
        if let (Some((history, corrector)), Some((_, perfbound))) =
            (&mut self.correction, &self.predictor)
        {
            corrector.clock(now, history, perfbound.t_pb(), perfbound.update());
            history.clock(now, ended);
        }
        if let Some((histogram, perfbound)) = &mut self.predictor {
            perfbound.clock(now, histogram, cycle.sample);
            histogram.clock(now, cycle.sample);
        }
        self.meter.clock(now, cycle.active);
        self.now += 1;
    }

    /// Cycles that pass, while `inputs` hold, before one that changes anything but the
    /// time; `u64::MAX` if there is none.
    fn uneventful(&self, inputs: &Inputs) -> u64 {
        let active = inputs.active();
        let strobes = self.hit || self.miss;
        if inputs.rst || strobes || (active && self.left_wake) {
            return 0;
        }
        let timer = &self.timer;
        let predictor_is_steady = match &self.predictor {
            Some((histogram, perfbound)) => histogram.steady() && perfbound.steady(),
            None => true,
        };
        let correction_is_steady = match &self.correction {
            Some((history, corrector)) => history.steady() && corrector.steady(),
            None => true,
        };
        let steady = predictor_is_steady
            && correction_is_steady
            && self.meter.steady(self.now, active)
            && timer.steady(active, inputs.transmitting, self.t_pdt());
        if !steady {
            return 0;
        }
        let cycle = self.look(inputs);
        let transition = self.fsm.quiet(self.now, cycle.down_start, cycle.up_start);
        // The timer matters only while awake; later it has gone off for this period.
        let expiry = match self.expiry() {
            Some(expiry) if !active && expiry >= self.now => expiry - self.now,
            _ => u64::MAX,
        };
        let exchange = match &self.sync {
            Some(sync) => {
                let hold = match self.fsm.hold_ends() {
                    Some(last) if last >= self.now => last - self.now,
                    _ => u64::MAX,
                };
                sync.quiet(self.now, &self.view(inputs)).min(hold)
            }
            None => u64::MAX,
        };
        transition.min(expiry).min(exchange)
    }

    /// Cycles, this one included, for which the outputs certainly stay as they are if
    /// `inputs` hold: at least 1; `u64::MAX` is for ever.
    pub fn quiet_cycles(&self, inputs: &Inputs) -> u64 {
        self.uneventful(inputs).saturating_add(1)
    }
}

impl Model for Port {
    fn outputs(&self) -> Outputs {
        let mut outputs = Outputs {
            tx_enable: self.fsm.state() == PowerState::Wake
                && !self.sync.as_ref().is_some_and(LinkSync::holds_back),
            power_state: self.fsm.state(),
            hit: self.hit,
            miss: self.miss,
            t_pdt: self.timer.in_force(),
            ..Outputs::default()
        };
        if let Some(sync) = &self.sync {
            outputs.message_out = sync.message();
            outputs.sync_error = sync.error();
        }
        if let Some((_, perfbound)) = &self.predictor {
            outputs.update = perfbound.update();
            outputs.t_pb = perfbound.t_pb();
            outputs.window = perfbound.window();
            outputs.budget = perfbound.budget();
        }
        if let Some((_, corrector)) = &self.correction {
            outputs.update = corrector.update();
            outputs.log2_cf = corrector.log2_cf();
        }
        outputs
    }

    fn advance(&mut self, inputs: &Inputs, max: u64) -> u64 {
        let before = self.outputs();
        let mut clocked = 0;
        while clocked < max {
            let skipped = self.uneventful(inputs).min(max - clocked);
            if skipped > 0 {
                self.meter.skip(self.now, skipped, inputs.active());
                self.now += skipped;
                clocked += skipped;
                if clocked == max {
                    break;
                }
            }
            self.clock(inputs);
            clocked += 1;
            if self.outputs() != before {
                break;
            }
        }
        clocked
    }
}
