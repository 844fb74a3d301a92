//! Golden model of the whole port controller.

use super::controller::PowerController;
use super::model::{Model, Refreshes};
use super::pins::{Inputs, Message, Outputs, PackedOutputs, PowerState};
use super::Access;
use crate::blocks::axi_lite::golden::{self as axi, Answer, AxiLite, Request};
use crate::blocks::budget_rate::golden::{BudgetRate, Operands};
use crate::blocks::corrector::golden::Corrector;
use crate::blocks::csr::golden::{self as csr, Csr, Parameters};
use crate::blocks::guard::golden::Guard;
use crate::blocks::histogram::golden::Histogram;
use crate::blocks::hop_monitor::golden::HopMonitor;
use crate::blocks::idle_meter::golden::IdleMeter;
use crate::blocks::link_sync::golden::{Counted, LinkSync, View};
use crate::blocks::lpi_fsm::golden::LpiFsm;
use crate::blocks::miss_history::golden::{MissHistory, Sample};
use crate::blocks::pdt_timer::golden::PdtTimer;
use crate::blocks::perfbound::golden::PerfBound;
use crate::config::plan::{BinScale, LinkTime, PortPlan, Sleep, HOP_COUNTER_WIDTH};

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
    /// The exchange of messages with the other end, if there is one.
    sync: Option<LinkSync>,
    guard: Option<Guard>,
    predictor: Option<(Histogram, PerfBound)>,
    /// Where software or packets say something.
    hops: Option<HopMonitor>,
    rate: Option<BudgetRate>,
    registers: Option<Registers>,
    /// The parameters in force.
    parameters: Parameters,
    /// Software sets the times of the link.
    adjusts: bool,
    correction: Option<(MissHistory, Corrector)>,
    /// The link was lost, or the port reset, and it is not awake since: a packet that waits does
    /// not wait for the end of a sleep.
    recovers: bool,
    /// The link has left `Wake` in the present idle period.
    left_wake: bool,
    hit: bool,
    miss: bool,
    /// A copy of every register was stored wrong in the cycle before, and is outvoted.
    upset: bool,
}

/// `control.policy` of a fixed threshold.
const FIXED: u32 = 1;

/// `control.policy` of PerfBound's threshold as it stands.
const PERFBOUND: u32 = 2;

/// The registers and the way to them.
#[derive(Clone, Debug)]
struct Registers {
    requests: Requests,
    csr: Csr,
    /// The bins that were read two cycles before and the cycle before.
    bin_counts: [u64; 2],
    /// The packet count that was read in the cycle before.
    hop_count: u32,
}

/// Where requests to the registers come from.
#[derive(Clone, Debug)]
enum Requests {
    /// The port's own pins.
    Own(AxiLite),
    /// Pins that several ports share: the request of the present cycle to this one.
    Shared(Option<Request>),
}

impl Requests {
    fn new(access: Access) -> Requests {
        match access {
            Access::AxiLite | Access::Ethernet => Requests::Own(AxiLite::default()),
            Access::Shared => Requests::Shared(None),
        }
    }

    /// The request of this cycle.
    #[inline]
    fn present(&self) -> Option<Request> {
        match self {
            Requests::Own(axi) => axi.request(),
            Requests::Shared(request) => *request,
        }
    }

    /// Nothing comes while the manager drives `inputs`.
    fn steady(&self, inputs: &axi::Inputs) -> bool {
        match self {
            Requests::Own(axi) => axi.steady(inputs),
            Requests::Shared(request) => request.is_none(),
        }
    }
}

/// What the control pins say; of a port without them, that it has a link that may sleep.
#[derive(Clone, Copy)]
struct Controls {
    /// A link that is awake may go down as far as they are concerned.
    may_sleep: bool,
    wakes: bool,
    has_link: bool,
    clears_error: bool,
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
    /// A controller with AXI4-Lite pins of its own, if it has registers, just after reset.
    pub fn new(plan: &PortPlan) -> Self {
        Port::with_access(plan, Access::AxiLite)
    }

    /// A controller whose registers are asked that way, just after reset.
    pub fn with_access(plan: &PortPlan, access: Access) -> Self {
        let plan = *plan;
        let max_time = plan.max_time();
        Port {
            plan,
            now: 0,
            meter: IdleMeter::new(plan.clocks_per_tick, max_time),
            timer: PdtTimer::new(plan.t_pdt_init, plan.t_backstop),
            fsm: LpiFsm::new(&plan),
            sync: LinkSync::new(&plan),
            guard: Guard::new(&plan),
            predictor: plan
                .predicts()
                .then(|| (Histogram::new(&plan), PerfBound::new(plan))),
            hops: (plan.registers.is_some() || plan.measures())
                .then(|| HopMonitor::new(plan.hop_window_log2, HOP_COUNTER_WIDTH)),
            rate: plan.budget.rate.filter(|_| plan.predicts()).map(|rate| {
                let initial = plan.budget.product.map_or(0, |product| product.k);
                BudgetRate::new(rate, initial)
            }),
            registers: plan.registers.map(|_| Registers {
                requests: Requests::new(access),
                csr: Csr::new(&plan),
                bin_counts: [0; 2],
                hop_count: 0,
            }),
            parameters: Parameters::of(&plan),
            adjusts: !plan.adjustable_times().is_empty(),
            correction: plan
                .corrects()
                .then(|| (MissHistory::new(&plan), Corrector::new(&plan))),
            recovers: plan.control_pins,
            left_wake: false,
            hit: false,
            miss: false,
            upset: false,
        }
    }

    /// A copy of every register is stored wrong at the end of a cycle with these inputs.
    fn upsets(&self, inputs: &Inputs) -> bool {
        self.plan.triple_redundancy && inputs.inject_upset != 0
    }

    #[inline]
    fn controls(&self, inputs: &Inputs) -> Controls {
        match self.plan.control_pins {
            false => Controls {
                may_sleep: true,
                wakes: false,
                has_link: true,
                clears_error: false,
            },
            true => Controls {
                may_sleep: inputs.enable && !inputs.force_wake,
                wakes: inputs.force_wake,
                has_link: inputs.link_up,
                clears_error: inputs.clear_error,
            },
        }
    }

    /// Whether this end counts as the last transmitter after an active cycle with these inputs.
    #[inline]
    fn sends_last(&self, inputs: &Inputs) -> bool {
        inputs.transmitting || self.plan.per_direction() || !self.controls(inputs).has_link
    }

    /// Whether the guard sees a link that is awake.
    #[inline]
    fn awake_for_guard(&self) -> bool {
        self.recovers || self.fsm.state() == PowerState::Wake
    }

    /// Whether the port recovers in the next cycle, too.
    #[inline]
    fn goes_on_recovering(&self, inputs: &Inputs) -> bool {
        let lost = !self.controls(inputs).has_link;
        lost || (self.recovers && self.fsm.state() != PowerState::Wake)
    }

    /// What the registers are asked in the present cycle, where ports share the pins for it.
    ///
    /// # Panics
    /// If this port does not share them.
    pub fn ask(&mut self, request: Option<Request>) {
        match &mut self.registers {
            Some(Registers {
                requests: Requests::Shared(present),
                ..
            }) => *present = request,
            _ => panic!("the port has pins of its own"),
        }
    }

    /// The registers' answer to the request of the cycle before; of a port that was not asked, or
    /// has no registers, 0.
    pub fn answer(&self) -> Answer {
        let registers = self.registers.as_ref();
        registers.map_or_else(Answer::default, |registers| registers.csr.answer())
    }

    /// An error flag of the registers is set.
    pub fn error_flag(&self) -> bool {
        let registers = self.registers.as_ref();
        registers.is_some_and(|registers| registers.csr.error_flag())
    }

    /// The registers raise the interrupt.
    pub fn interrupt(&self) -> bool {
        let registers = self.registers.as_ref();
        registers.is_some_and(|registers| registers.csr.interrupt())
    }

    /// Clock cycles since the last reset; the state of the link; what has been said between
    /// its ends; the guard.
    pub fn link(&self) -> (u64, &LpiFsm, Option<&LinkSync>, Option<&Guard>) {
        (self.now, &self.fsm, self.sync.as_ref(), self.guard.as_ref())
    }

    /// The threshold for an idle period that begins after this cycle, in ticks.
    #[inline]
    fn t_pdt(&self, active: bool) -> u64 {
        let predicted = match (&self.correction, &self.predictor) {
            (Some((_, corrector)), _) => Some(corrector.t_pdt()),
            (None, Some((_, perfbound))) => Some(perfbound.t_pb()),
            (None, None) => None,
        };
        let Some(registers) = &self.registers else {
            return predicted.unwrap_or(self.plan.t_pdt_init);
        };
        let next = registers.csr.next(active);
        match (next.policy, &self.predictor) {
            (FIXED, _) | (_, None) => next.t_pdt,
            (PERFBOUND, Some((_, perfbound))) => perfbound.t_pb(),
            _ => predicted.unwrap_or(next.t_pdt),
        }
    }

    /// The cycle in which the timer expires if no activity comes before.
    #[inline]
    fn expiry(&self) -> Option<u64> {
        if !self.parameters.sleeps() {
            return None;
        }
        self.meter.exceeds(self.timer.threshold()?)
    }

    /// The next cycle, from the present one on, in which the timer of an idle port expires. The
    /// largest threshold that there is cannot be told from longer times: it expires with every
    /// further tick (the exchange of messages takes only the first).
    #[inline]
    fn next_expiry(&self) -> Option<u64> {
        let expiry = self.expiry()?;
        if expiry >= self.now {
            return Some(expiry);
        }
        let is_largest = self.timer.threshold() == Some(self.plan.max_time());
        (is_largest && self.sync.is_none()).then(|| self.meter.next_tick(self.now))
    }

    /// Whether these inputs are activity: where each direction of the link sleeps for itself, what
    /// is received is none (SPEC 14). Without a link there is no idle time.
    #[inline]
    fn active(&self, inputs: &Inputs) -> bool {
        !self.controls(inputs).has_link
            || inputs.queue_nonempty
            || inputs.transmitting
            || (inputs.receiving && !self.plan.per_direction())
    }

    /// A direction that sleeps for itself goes to sleep in this cycle, or earlier in this idle
    /// period, as far as its timer is concerned.
    #[inline]
    fn overdue(&self) -> bool {
        self.expiry().is_some_and(|expiry| expiry <= self.now)
    }

    /// The timer of an idle port expires in this cycle; what expired while the control pins kept the
    /// link awake counts afterwards.
    #[inline]
    fn expires(&self) -> bool {
        match self.plan.control_pins {
            true => self.overdue(),
            false => self.next_expiry() == Some(self.now),
        }
    }

    /// What the inputs mean, of which link synchronisation, if there is any, sees `view`.
    #[inline(always)]
    fn look(&self, inputs: &Inputs, view: Option<&View>) -> Cycle {
        let active = self.active(inputs);
        let controls = self.controls(inputs);
        let permits = || (self.guard.as_ref()).is_none_or(|guard| guard.permits(self.now));
        let (down_start, up_start) = match (&self.sync, view) {
            (Some(sync), Some(view)) => sync.starts(self.now, view),
            _ if self.plan.per_direction() => (
                !active && self.overdue() && permits() && controls.may_sleep,
                inputs.queue_nonempty || controls.wakes,
            ),
            _ => (
                controls.has_link
                    && controls.may_sleep
                    && ((inputs.sleep_permit && !active && self.expires())
                        || (inputs.remote_down && !inputs.transmitting)),
                inputs.queue_nonempty || inputs.remote_up || controls.wakes,
            ),
        };
        let ended = controls.has_link && self.meter.ended(active);
        Cycle {
            active,
            down_start,
            up_start,
            sample: ended.then(|| self.meter.ticks(self.now)),
        }
    }

    /// What link synchronisation sees in this cycle; `None` if there is none.
    #[inline]
    fn view(&self, inputs: &Inputs) -> Option<View> {
        self.sync.is_some().then(|| self.view_of_sync(inputs))
    }

    fn view_of_sync(&self, inputs: &Inputs) -> View {
        let active = self.active(inputs);
        let awake = self.fsm.state() == PowerState::Wake;
        let expiry = self.expiry().filter(|_| !active && awake);
        // Both holds in fast wake end together: one request is enough.
        let held = self.fsm.hold_ends().is_some_and(|last| last <= self.now);
        let controls = self.controls(inputs);
        // A link that sleeps may sleep deeper: the way up costs one token.
        let guard_permits = !awake || (self.guard.as_ref()).is_none_or(|it| it.permits(self.now));
        let controls_permit = controls.may_sleep || (!awake && !controls.wakes);
        View {
            message: Message::decode(inputs.message_in),
            initiator: inputs.initiator,
            queue_nonempty: inputs.queue_nonempty || controls.wakes,
            transmitting: inputs.transmitting,
            active: active || !controls_permit,
            state: self.fsm.state(),
            may_go_down: self.fsm.may_go_down(),
            wants_down: expiry == Some(self.now) || (held && inputs.initiator && !active),
            overdue: expiry.is_some_and(|expiry| expiry < self.now),
            permitted: guard_permits && controls_permit,
            link_up: controls.has_link,
            clear_error: controls.clears_error,
        }
    }

    /// `t_s` and `t_w` in force, in clock cycles, of the sleep state in question.
    pub fn link_times(&self) -> [u64; 2] {
        self.fsm.times()
    }

    /// As it was when it was made.
    #[cold]
    fn reset(&mut self) {
        let access = match &self.registers {
            Some(Registers {
                requests: Requests::Shared(_),
                ..
            }) => Access::Shared,
            _ => Access::AxiLite,
        };
        *self = Port::with_access(&self.plan, access);
    }

    /// The clock edge at the end of the present cycle.
    pub fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        let now = self.now;
        let view = self.view(inputs);
        let cycle = self.look(inputs, view.as_ref());
        let leaves = cycle.down_start && self.fsm.state() == PowerState::Wake;
        let events = (self.registers.as_ref())
            .map(|registers| self.events(registers, inputs, &cycle, view.as_ref(), leaves));
        let bin_count = self.bin_count();
        let t_pdt = self.t_pdt(cycle.active);
        let ended = cycle.sample.map(|ticks| Sample {
            ticks,
            t_pdt: self.timer.in_force(),
            miss: self.left_wake,
        });
        self.hit = cycle.sample.is_some() && !self.left_wake;
        self.miss = cycle.sample.is_some() && self.left_wake;
        self.upset = self.upsets(inputs);
        self.left_wake = !cycle.active && (self.left_wake || leaves);
        self.timer
            .clock(cycle.active, self.sends_last(inputs), t_pdt);
        let awake = self.awake_for_guard();
        if let Some(guard) = &mut self.guard {
            guard.clock(now, awake, inputs.queue_nonempty);
        }
        self.recovers = self.goes_on_recovering(inputs);
        match self.controls(inputs).has_link {
            true => self.fsm.clock(now, cycle.down_start, cycle.up_start),
            false => self.fsm.clock_without_link(),
        }
        if let (Some(sync), Some(view)) = (&mut self.sync, &view) {
            sync.clock(now, view);
        }
        if let (Some((history, corrector)), Some((_, perfbound))) =
            (&mut self.correction, &self.predictor)
        {
            corrector.clock(now, history, perfbound.t_pb(), perfbound.update());
            history.clock(now, ended);
        }
        if let Some((histogram, perfbound)) = &mut self.predictor {
            histogram.answers(perfbound.update());
            perfbound.clock(now, histogram, cycle.sample);
            histogram.clock(now, cycle.sample);
        }
        match &events {
            Some(events) => self.control(inputs, events, bin_count),
            None => self.measure(inputs),
        }
        let has_link = self.controls(inputs).has_link;
        self.meter.clock(now, cycle.active, has_link);
        self.now += 1;
    }

    /// What the registers see of the port in this cycle. Out of line: a port without registers is not
    /// to pay for it.
    #[inline(never)]
    fn events(
        &self,
        registers: &Registers,
        inputs: &Inputs,
        cycle: &Cycle,
        view: Option<&View>,
        leaves: bool,
    ) -> csr::Port {
        let now = self.now;
        let fails = |(sync, view): (&LinkSync, _)| sync.fails(now, view);
        let hops = self.hops.as_ref();
        let awake = self.fsm.state() == PowerState::Wake;
        let expires = awake && !cycle.active && self.expiry() == Some(now);
        let mut events = csr::Port {
            active: self.active(inputs),
            hit: self.hit,
            miss: self.miss,
            leaving: leaves,
            queue_nonempty: inputs.queue_nonempty,
            guard_tokens: self.guard.as_ref().map_or(0, |guard| guard.tokens(now)),
            power_state: self.fsm.state(),
            sync_error: self.sync.as_ref().zip(view).is_some_and(fails),
            exchange: (self.sync.as_ref().zip(view))
                .map_or_else(Counted::default, |(sync, view)| sync.counted(view)),
            backstop_expires: expires && !self.plan.per_direction() && !self.timer.sent_last(),
            upset: self.upset,
            link_lost: !self.controls(inputs).has_link && !self.recovers,
            lpi: inputs.lpi(),
            guard_refuses: expires && self.guard.as_ref().is_some_and(|it| !it.permits(now)),
            t_pdt: self.timer.in_force(),
            hop_count: registers.hop_count,
            hop_factor: hops.map_or(0, HopMonitor::factor),
            hop_measured: hops.is_some_and(HopMonitor::measured),
            bin_count: registers.bin_counts[0],
            rate_done: self.rate.as_ref().is_some_and(BudgetRate::done),
            rate_computed: self.rate.as_ref().map_or(0, BudgetRate::rate),
            ..csr::Port::default()
        };
        if let Some((histogram, perfbound)) = &self.predictor {
            events.t_pb = perfbound.t_pb();
            events.window = perfbound.window();
            events.budget = perfbound.budget();
            if let Some(t_inac) = cycle.sample {
                events.map_overflow = histogram.overflows(now, t_inac);
                events.restarted = histogram.renews(now) || events.map_overflow;
            }
            if registers.csr.bin_request().is_some() {
                events.bin_taken =
                    !perfbound.searches() && !histogram.taken(now, cycle.sample.is_some());
            }
        }
        events
    }

    /// The bin that a read for the registers finds in this cycle.
    #[inline]
    fn bin_count(&self) -> u64 {
        let bin = self
            .registers
            .as_ref()
            .and_then(|registers| registers.csr.bin_request());
        match (&self.predictor, bin) {
            (Some((histogram, _)), Some(bin)) => histogram.count(self.now, bin as usize),
            _ => 0,
        }
    }

    /// The guard's rate is the budget's: what changes in this cycle governs the next tick.
    fn set_guard_rate(&mut self, rate: u128) {
        if let (Some(guard), true) = (
            &mut self.guard,
            self.plan.guard.is_some_and(|g| g.adjustable),
        ) {
            guard.set_gain(self.now + 1, rate);
        }
    }

    /// The clock edge of what makes the rate of the budget where there are no registers.
    #[inline]
    fn measure(&mut self, inputs: &Inputs) {
        let (Some(hops), Some(rate)) = (&mut self.hops, &mut self.rate) else {
            return;
        };
        rate.clock(hops.measured().then(|| Operands {
            bound: self.plan.budget.rate.map_or(0, |rate| rate.bound),
            hop_factor: (hops.factor() << 15) as u32,
            t_w: self.plan.t_w(),
        }));
        hops.clock(inputs.packet_valid.then_some(inputs.packet_hops), false);
        let rate = rate.rate();
        if let Some((_, perfbound)) = &mut self.predictor {
            perfbound.set_rate(rate);
        }
        self.set_guard_rate(rate);
    }

    /// The clock edge of what makes the parameters where there are registers.
    fn control(&mut self, inputs: &Inputs, events: &csr::Port, bin_count: u64) {
        let packet = inputs.packet_valid.then_some(inputs.packet_hops);
        let Some(registers) = &mut self.registers else {
            return;
        };
        let now = self.now;
        let csr = &mut registers.csr;
        let request = registers.requests.present();
        let clears = csr.clears(request, events);
        registers.bin_counts = [registers.bin_counts[1], bin_count];
        if let Some(hops) = &mut self.hops {
            registers.hop_count = hops.count(csr.hop_index());
            hops.clock(packet, clears);
        }
        if let Some(rate) = &mut self.rate {
            rate.clock(csr.rate_start(events.hop_factor));
        }
        if let Requests::Own(axi) = &mut registers.requests {
            axi.clock(&inputs.axi(), csr.answer());
        }
        csr.clock(request, events);
        // The window is compared with what was in force in this cycle.
        let (samples, ttl) = (self.parameters.max_samples, self.parameters.ttl);
        self.parameters = csr.in_force();
        self.timer.set_backstop(self.parameters.backstop());
        self.fsm.choose(match self.parameters.sleep {
            0 => Sleep::FastWake,
            1 => Sleep::DeepSleep,
            _ => Sleep::Hybrid,
        });
        if let Some(guard) = &mut self.guard {
            let (off, burst) = (self.parameters.guard_off, self.parameters.guard_burst);
            guard.set(now + 1, off, burst);
        }
        if self.adjusts {
            let times = self.parameters.times;
            self.fsm.set_times(times);
            if let Some(sync) = &mut self.sync {
                sync.set_timeout(times[LinkTime::SyncTimeout as usize]);
            }
        }
        let rate = csr.rate();
        if let Some((histogram, perfbound)) = &mut self.predictor {
            perfbound.set_rate(rate);
            if self.plan.ages() {
                histogram.set_parameters(now, samples, ttl, csr.restart());
            }
        }
        self.set_guard_rate(rate);
    }

    /// Nothing changes the parameters, nor counts packets or events.
    fn control_is_steady(&self, inputs: &Inputs) -> bool {
        let packet = self.hops.is_some() && inputs.packet_valid;
        let registers_are_steady = self.registers.as_ref().is_none_or(|registers| {
            let count = self
                .hops
                .as_ref()
                .map(|hops| hops.count(registers.csr.hop_index()));
            registers.requests.steady(&inputs.axi())
                && registers.csr.steady(
                    self.fsm.state(),
                    self.active(inputs),
                    inputs.queue_nonempty,
                    inputs.lpi(),
                )
                && count == Some(registers.hop_count)
        });
        !packet
            && self.hops.as_ref().is_none_or(HopMonitor::steady)
            && self.rate.as_ref().is_none_or(BudgetRate::steady)
            && self.predictor.as_ref().is_none_or(|(histogram, _)| {
                histogram.ages_by(self.parameters.max_samples, self.parameters.ttl)
            })
            && registers_are_steady
    }

    /// Cycles that pass, while `inputs` hold, before one that changes anything but the
    /// time; `u64::MAX` if there is none.
    fn uneventful(&self, inputs: &Inputs) -> u64 {
        match self.only_link_changes(inputs) {
            true => self.link_uneventful(inputs),
            false => 0,
        }
    }

    /// While `inputs` hold, nothing but the time changes unless the state of the link, or of the
    /// exchange with the other end, does.
    fn only_link_changes(&self, inputs: &Inputs) -> bool {
        let active = self.active(inputs);
        let strobes = self.hit || self.miss;
        if inputs.rst || strobes || (active && self.left_wake) {
            return false;
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
        let awake = self.awake_for_guard();
        let guard = self.guard.as_ref();
        guard.is_none_or(|guard| guard.steady(awake, inputs.queue_nonempty))
            && self.recovers == self.goes_on_recovering(inputs)
            && self.upset == self.upsets(inputs)
            && predictor_is_steady
            && self.control_is_steady(inputs)
            && correction_is_steady
            && self
                .meter
                .steady(self.now, active, self.controls(inputs).has_link)
            && timer.steady(active, self.sends_last(inputs), self.t_pdt(active))
    }

    /// Cycles before the guard permits a link that is awake to sleep; `u64::MAX` if it does, or the
    /// link is not awake.
    fn until_permitted(&self) -> u64 {
        match &self.guard {
            Some(guard) if self.fsm.state() == PowerState::Wake => guard.until_permits(self.now),
            _ => u64::MAX,
        }
    }

    /// The way to the registers over pins of the port's own, if it has any.
    fn axi(&self) -> Option<&AxiLite> {
        match &self.registers {
            Some(Registers {
                requests: Requests::Own(axi),
                ..
            }) => Some(axi),
            _ => None,
        }
    }

    /// The outputs but for those of the AXI4-Lite port.
    #[inline(always)]
    fn own_outputs(&self) -> Outputs {
        let sync = self.sync.as_ref();
        let perfbound = self.predictor.as_ref().map(|(_, perfbound)| perfbound);
        let corrector = self.correction.as_ref().map(|(_, corrector)| corrector);
        let update = match corrector {
            Some(corrector) => corrector.update(),
            None => perfbound.is_some_and(PerfBound::update),
        };
        Outputs {
            tx_enable: self.fsm.state() == PowerState::Wake
                && !sync.is_some_and(LinkSync::holds_back),
            power_state: self.fsm.state(),
            lpi_request: self.plan.per_direction() && self.fsm.asleep(),
            hit: self.hit,
            miss: self.miss,
            t_pdt: self.timer.in_force(),
            update,
            t_pb: perfbound.map_or(0, PerfBound::t_pb),
            window: perfbound.map_or(0, PerfBound::window),
            budget: perfbound.map_or(0, PerfBound::budget),
            log2_cf: corrector.map_or(0, Corrector::log2_cf),
            message_out: sync.map_or(Message::None, LinkSync::message),
            sync_error: sync.is_some_and(LinkSync::error),
            upset: self.upset,
            irq: self.interrupt(),
            ..Outputs::default()
        }
    }

    /// The outputs as bits. Wanted in every cycle: they are to stay in the processor's registers,
    /// and pins that the controller does not have are to cost nothing.
    #[inline(always)]
    fn packed_outputs(&self) -> PackedOutputs {
        match self.axi() {
            Some(axi) => self.own_outputs().with_axi(&axi.outputs()).pack(),
            None => self.own_outputs().pack(),
        }
    }

    /// Lets so many uneventful cycles pass.
    fn skip(&mut self, inputs: &Inputs, cycles: u64) {
        self.meter.skip(self.now, cycles, self.active(inputs));
        if let Some(registers) = &mut self.registers {
            registers.csr.skip(cycles, self.fsm.state(), inputs.lpi());
        }
        self.now += cycles;
    }

    /// Cycles that pass, while `inputs` hold, before one that changes the state of the link
    /// or of the exchange with the other end; `u64::MAX` if there is none.
    fn link_uneventful(&self, inputs: &Inputs) -> u64 {
        let view = self.view(inputs);
        let cycle = self.look(inputs, view.as_ref());
        let transition = match (self.controls(inputs).has_link, self.fsm.is_held()) {
            (true, _) => self.fsm.quiet(self.now, cycle.down_start, cycle.up_start),
            (false, true) => u64::MAX,
            (false, false) => 0,
        };
        transition.min(self.unasked(cycle.active, view.as_ref()))
    }

    /// Cycles before one in which the timer expires, or something is to be said to the other end;
    /// `u64::MAX` if there is none.
    fn unasked(&self, active: bool, view: Option<&View>) -> u64 {
        // The timer matters only while awake.
        let expiry = match self.next_expiry() {
            Some(expiry) if !active => expiry - self.now,
            _ if !active && self.plan.per_direction() && self.overdue() => self.until_permitted(),
            _ => u64::MAX,
        };
        let exchange = match (&self.sync, view) {
            (Some(sync), Some(view)) => {
                let hold = match self.fsm.hold_ends() {
                    Some(last) if last >= self.now => last - self.now,
                    _ => u64::MAX,
                };
                sync.quiet(self.now, view).min(hold)
            }
            _ => u64::MAX,
        };
        expiry.min(exchange)
    }
}

impl PowerController for Port {
    /// Cycles, this one included, for which the outputs certainly stay as they are if
    /// `inputs` hold: at least 1; `u64::MAX` is for ever.
    fn quiet_cycles(&self, inputs: &Inputs) -> u64 {
        self.uneventful(inputs).saturating_add(1)
    }

    /// Cycles, this one included, for which the other end and the queue notice no change if
    /// `inputs` hold: at least 1; `u64::MAX` is for ever. What the controller learns
    /// meanwhile governs later idle periods.
    fn outward_quiet_cycles(&self, inputs: &Inputs) -> u64 {
        if inputs.rst {
            1
        } else {
            self.link_uneventful(inputs).saturating_add(1)
        }
    }

    /// Whether the ends of the link agree by messages (SPEC 5), not levels.
    fn exchanges_messages(&self) -> bool {
        self.sync.is_some()
    }

    /// Whether its direction of the link sleeps for itself (SPEC 14).
    fn per_direction(&self) -> bool {
        self.plan.per_direction()
    }
}

impl Model for Port {
    fn quiet(&self, inputs: &Inputs) -> u64 {
        self.uneventful(inputs)
    }

    fn refreshes(&self, inputs: &Inputs) -> Option<Refreshes> {
        let times = self.fsm.refresh(self.now)?;
        let view = self.view(inputs);
        let cycle = self.look(inputs, view.as_ref());
        let rests = self.only_link_changes(inputs) && !cycle.up_start;
        rests.then(|| Refreshes {
            times,
            cycles: self.unasked(cycle.active, view.as_ref()),
        })
    }

    fn pass_refreshes(&mut self, inputs: &Inputs, periods: u64) {
        let Some(times) = self.fsm.refresh(self.now) else {
            return;
        };
        let cycles = periods * (times.t_q + times.t_r);
        self.meter.skip(self.now, cycles, self.active(inputs));
        if let Some(registers) = &mut self.registers {
            let times = [
                (PowerState::DeepSleep, periods * times.t_q),
                (PowerState::Refresh, periods * times.t_r),
            ];
            registers.csr.pass(times, inputs.lpi());
        }
        self.fsm.pass_refreshes(cycles);
        self.now += cycles;
    }

    fn time_registers(&self) -> Vec<(&'static str, u64)> {
        let now = self.now;
        let mut registers = Vec::new();
        if !self.plan.time_fits_words() {
            return registers;
        }
        let mut visit = |name, value| registers.push((name, value));
        self.meter.time_registers(now, &mut visit);
        self.timer.time_registers(
            self.sync.is_some() || self.plan.per_direction() || self.plan.control_pins,
            !self.plan.per_direction()
                && (self.plan.t_backstop.is_some() || self.registers.is_some()),
            |ticks| self.meter.has_exceeded(ticks, now),
            &mut visit,
        );
        self.fsm.time_registers(now, &mut visit);
        if let Some(sync) = &self.sync {
            sync.time_registers(now, &mut visit);
        }
        if let Some(guard) = &self.guard {
            guard.time_registers(now, &mut visit);
        }
        if let Some((histogram, perfbound)) = &self.predictor {
            let logarithmic = self.plan.histogram.scale != BinScale::Linear;
            if logarithmic || histogram.is_map() {
                let (ticks, bits) = (self.meter.ticks(now), self.plan.time_width);
                let edges = histogram.edges();
                edges.time_registers(ticks, logarithmic.then_some(bits), &mut visit);
                histogram.entry_registers(ticks, &mut visit);
            }
            histogram.time_registers(now, &mut visit);
            histogram.counter_registers(&mut visit);
            perfbound.time_registers(now, histogram, &mut visit);
        }
        if let Some(registers) = &self.registers {
            registers.csr.time_registers(&mut visit);
        }
        registers
    }

    fn outputs(&self) -> Outputs {
        match self.axi() {
            Some(axi) => self.own_outputs().with_axi(&axi.outputs()),
            None => self.own_outputs(),
        }
    }

    fn advance(&mut self, inputs: &Inputs, max: u64) -> u64 {
        let mut outputs = self.outputs().pack();
        self.advance_from(&mut outputs, inputs, max)
    }

    fn advance_from(&mut self, outputs: &mut PackedOutputs, inputs: &Inputs, max: u64) -> u64 {
        let mut clocked = 0;
        while clocked < max {
            self.clock(inputs);
            clocked += 1;
            let now = self.packed_outputs();
            if now != *outputs {
                *outputs = now;
                break;
            }
            // One cycle is clocked as quickly as it is looked at.
            if clocked + 1 < max {
                let skipped = self.uneventful(inputs).min(max - clocked);
                self.skip(inputs, skipped);
                clocked += skipped;
            }
        }
        clocked
    }
}
