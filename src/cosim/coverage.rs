//! Which corners of SPEC 2 to 7 a run has reached, counted from what happened on the pins.

mod corner;
mod registers;

use std::collections::{BTreeMap, VecDeque};

use corner::half_a_window;
pub use corner::Corner;
use registers::Registers;

use super::Run;
use crate::blocks::fixed_point::Arithmetic;
use crate::blocks::histogram::bin_meter::golden::Edges;
use crate::blocks::port::pins::{Inputs, Message, Pin, PowerState};
use crate::config::plan::{HistogramKind, PortPlan};

/// Whether this message arrives.
fn asks(inputs: &Inputs, message: Message) -> bool {
    Message::decode(inputs.message_in) == message
}

/// Counts of every corner.
pub struct Coverage {
    plan: PortPlan,
    counts: Vec<u64>,
    now: u64,
    last: Option<Run>,
    /// The idle period under way.
    idle_cycles: u64,
    idle: Option<Idle>,
    /// The last activity was a transmission, of a period seen from its beginning.
    armed: bool,
    received_only: bool,
    /// There has been activity since reset.
    used: bool,
    active_cycles: u64,
    packet_in_active: bool,
    hard_cycles: u64,
    samples: u64,
    /// The bin of the last one, and its cycle.
    sample: Option<(usize, u64)>,
    cleared_at: u64,
    edges: Edges,
    /// Samples by bin since the last clear, for a map.
    populated: BTreeMap<usize, u64>,
    /// The window of the last threshold, in ticks.
    window: u64,
    /// A packet arrived in the one cycle before, in this state.
    arrived: Option<PowerState>,
    exchange: Exchange,
    /// The link was lost, or the port reset without one, and it has not been awake since.
    lost: bool,
    /// Nothing but `force_wake` has wanted the link awake since it slept.
    forced_alone: bool,
    registers: Option<Registers>,
    /// Packets since reset whose hop count is known.
    packets: u64,
    /// Which idle periods of the history of the correction were misses, the oldest first.
    outcomes: VecDeque<bool>,
    /// The sign bit of the pin `log2_cf`; 0 where the threshold is not corrected.
    log2_cf_sign: u64,
}

/// What has been said between the ends, as far as the pins tell.
#[derive(Clone, Copy, Default)]
struct Exchange {
    /// This end's request that has no answer yet.
    asked: Option<Message>,
    /// The other end's request that this end has accepted.
    promised: Option<Message>,
    /// The last request of the other end.
    request: Option<Message>,
    /// It found this end with nothing to send, awake.
    request_suits: bool,
    /// So it did, but `enable` was low.
    request_disabled: bool,
    /// The request, of this end or not, that a SYNC has settled.
    settled: Option<(Message, bool)>,
    /// This end has sent a SYNC, and has not yet started.
    starting: bool,
    /// An ACK arrived in the cycle before.
    accepted: bool,
    error: bool,
}

#[derive(Clone, Copy)]
struct Idle {
    threshold: u64,
    left_wake: bool,
    refused: bool,
    /// The guard did not permit to sleep when the timer expired.
    held: bool,
    /// Nor did a control pin.
    stayed: bool,
    /// It has asked to go down.
    asked: bool,
}

impl Coverage {
    /// No corner reached yet; the port is just after reset.
    pub fn new(plan: &PortPlan) -> Coverage {
        Coverage {
            plan: *plan,
            counts: vec![0; Corner::ALL.len()],
            now: 0,
            last: None,
            idle_cycles: 0,
            idle: None,
            armed: false,
            received_only: false,
            used: false,
            active_cycles: 0,
            packet_in_active: false,
            hard_cycles: 0,
            samples: 0,
            sample: None,
            cleared_at: 0,
            edges: Edges::new(&plan.histogram),
            populated: BTreeMap::new(),
            window: 0,
            arrived: None,
            exchange: Exchange::default(),
            lost: false,
            forced_alone: false,
            registers: Registers::new(plan),
            packets: 0,
            outcomes: VecDeque::new(),
            log2_cf_sign: match plan.corrects() {
                true => 1 << (Arithmetic::new(plan).log2_cf_bits() - 1),
                false => 0,
            },
        }
    }

    /// How often a corner was reached.
    pub fn count(&self, corner: Corner) -> u64 {
        self.counts[corner as usize]
    }

    /// Adds the counts of another run.
    pub fn merge(&mut self, other: &Coverage) {
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
    }

    /// Corners that were not reached though this configuration has them.
    pub fn missed(&self) -> Vec<Corner> {
        Corner::ALL
            .iter()
            .copied()
            .filter(|&corner| self.count(corner) == 0 && corner.impossible(&self.plan).is_none())
            .collect()
    }

    fn reach(&mut self, corner: Corner) {
        self.counts[corner as usize] += 1;
    }

    /// Takes in what happened next.
    pub fn observe(&mut self, runs: &[Run]) {
        for run in runs {
            self.observe_one(run);
        }
    }

    fn observe_one(&mut self, run: &Run) {
        let inputs = run.inputs;
        let state = run.power_state();
        if let Some(registers) = &mut self.registers {
            let configured = registers.configured();
            let counts = &mut self.counts;
            registers.observe(run, &inputs, |corner| counts[corner as usize] += 1);
            // What the configuration says of the port no longer holds, until it is reset.
            if configured && !inputs.rst {
                self.now += run.cycles;
                self.last = Some(*run);
                return;
            }
        }
        if inputs.packet_valid && inputs.packet_hops > 0 {
            let before = self.packets >> self.plan.hop_window_log2;
            self.packets += run.cycles;
            if self.packets >> self.plan.hop_window_log2 > before {
                self.reach(Corner::HopWindow);
            }
        }
        let before = self.last.map(|last| (last.inputs, last.power_state()));
        if let Some(arrived) = self.arrived.take() {
            if arrived != state && arrived == PowerState::GoingDown {
                self.reach(Corner::ArriveGoingDownLast);
            } else if arrived != state && arrived == PowerState::GoingUp {
                self.reach(Corner::ArriveGoingUpLast);
            }
        }
        let entered = before.is_none_or(|(_, earlier)| earlier != state);
        if let Some(visit) = Corner::visit(state).filter(|_| entered) {
            self.reach(visit);
        }
        if run.expected(Pin::Upset) == 1 {
            self.reach(Corner::Upset);
            if state != PowerState::Wake {
                self.reach(Corner::UpsetAsleep);
            }
            if run.expected(Pin::MessageOut) != 0 {
                self.reach(Corner::UpsetSays);
            }
        }
        if run.expected(Pin::Hit) == 1 {
            self.reach(Corner::Hit);
            self.outcome(false);
        }
        if run.expected(Pin::Miss) == 1 {
            self.reach(Corner::Miss);
            self.outcome(true);
        }
        if run.expected(Pin::Update) == 1 {
            self.reach(Corner::Update);
            self.threshold(run.expected(Pin::Budget), run.expected(Pin::TPb));
            if self.plan.corrects() {
                self.corrected(run);
            }
            let window = run.expected(Pin::Window);
            if window == self.plan.max_time() {
                self.reach(Corner::WindowSaturated);
            }
            if self.plan.halves() && window < self.window {
                self.reach(Corner::Halved);
            }
            self.window = window;
        }
        self.messages(run, &inputs, state, entered);
        if inputs.rst {
            if self.plan.control_pins && !inputs.link_up {
                self.reach(Corner::LostReset);
            }
            self.outcomes.clear();
            self.reset(state);
            self.now += run.cycles;
            self.last = Some(*run);
            return;
        }
        let earlier = before.map_or(Inputs::default(), |(inputs, _)| inputs);
        if self.plan.control_pins {
            self.control_pins(&inputs, &earlier, state, entered);
            if !inputs.link_up {
                // As after a reset, but that what is idle from now on is an idle period.
                self.idle_cycles = 0;
                self.idle = None;
                self.armed = true;
                self.received_only = false;
                self.used = true;
                self.active_cycles += run.cycles;
                self.packet_in_active = true;
                self.hard_cycles = 0;
                self.exchange = Exchange {
                    error: self.exchange.error,
                    ..Exchange::default()
                };
                self.now += run.cycles;
                self.last = Some(*run);
                return;
            }
        }
        self.requests(&inputs, &earlier, state, entered, run.cycles);
        if inputs.packet_valid {
            match inputs.packet_hops {
                0 => self.reach(Corner::HopsMin),
                63 => self.reach(Corner::HopsMax),
                _ => {}
            }
        }
        if inputs.active() {
            if self.idle_cycles > 0 {
                self.end_of_idle();
            }
            self.used = true;
            self.active_cycles += run.cycles;
            self.packet_in_active |= inputs.packet_valid || inputs.queue_nonempty;
            if inputs.transmitting {
                self.armed = true;
                self.received_only = false;
            } else if inputs.receiving {
                self.received_only = !self.armed || self.received_only || self.idle_cycles > 0;
                self.armed = false;
            }
            self.idle_cycles = 0;
            self.idle = None;
        } else {
            self.idle_on(run, &inputs, state);
        }
        self.now += run.cycles;
        self.last = Some(*run);
    }

    /// What the control pins do to a port that is not in reset.
    fn control_pins(
        &mut self,
        inputs: &Inputs,
        earlier: &Inputs,
        state: PowerState,
        entered: bool,
    ) {
        let asleep = !matches!(state, PowerState::Wake | PowerState::GoingUp);
        if !inputs.enable && earlier.enable {
            if asleep {
                self.reach(Corner::DisabledAsleep);
            }
            if self.exchange.asked == Some(Message::ReqDown) {
                self.reach(Corner::DisabledWithdraws);
            }
        }
        if inputs.force_wake && !earlier.force_wake && inputs.link_up {
            if let Some(forced) = Corner::forced(state) {
                self.reach(forced);
            }
        }
        if asleep {
            let other = inputs.queue_nonempty
                || inputs.remote_up
                || Message::decode(inputs.message_in) == Message::ReqUp;
            self.forced_alone = inputs.force_wake && !other && inputs.link_up;
        }
        if entered && state == PowerState::GoingUp && self.forced_alone {
            self.reach(Corner::ForcedUp);
        }
        if !inputs.link_up && earlier.link_up && !earlier.rst {
            self.reach(Corner::lost(state));
            if self.idle_cycles > 0 && self.used {
                self.reach(Corner::LostPeriod);
            }
            if self.exchange.asked.is_some() {
                self.reach(Corner::LostAsked);
            } else if self.exchange.promised.is_some() {
                self.reach(Corner::LostPromised);
            } else if self.exchange.starting {
                self.reach(Corner::LostSettled);
            }
        }
        if !inputs.link_up {
            self.lost = true;
            if inputs.queue_nonempty {
                self.reach(Corner::LostWaiting);
            }
        } else if state == PowerState::Wake && self.lost {
            self.lost = false;
            if entered {
                self.reach(Corner::LinkBack);
            }
        }
    }

    fn reset(&mut self, state: PowerState) {
        self.reach(match state {
            PowerState::Wake => Corner::ResetWake,
            PowerState::GoingDown => Corner::ResetGoingDown,
            PowerState::FastWake => Corner::ResetFastWake,
            PowerState::DeepSleep => Corner::ResetDeepSleep,
            PowerState::Refresh => Corner::ResetRefresh,
            PowerState::GoingUp => Corner::ResetGoingUp,
        });
        self.exchange = Exchange::default();
        self.idle_cycles = 0;
        self.idle = None;
        self.armed = false;
        self.received_only = false;
        self.used = false;
        self.active_cycles = 0;
        self.hard_cycles = 0;
        self.window = 0;
        self.packets = 0;
        self.clear();
    }

    /// A threshold came out.
    fn threshold(&mut self, budget: u64, t_pb: u64) {
        let half = half_a_window(&self.plan);
        self.reach(match budget {
            0 => Corner::BudgetNone,
            1 => Corner::BudgetOne,
            some if some < half => Corner::BudgetSome,
            _ => Corner::BudgetMost,
        });
        if t_pb == self.plan.histogram.max_value {
            return self.reach(Corner::ThresholdNever);
        }
        let bin = self.edges.bin(t_pb);
        if bin == 0 {
            self.reach(Corner::ThresholdLowest);
        }
        self.reach(match 4 * bin / self.edges.len() {
            0 => Corner::ThresholdFirst,
            1 => Corner::ThresholdSecond,
            2 => Corner::ThresholdThird,
            _ => Corner::ThresholdFourth,
        });
    }

    /// A corrected threshold came out.
    fn corrected(&mut self, run: &Run) {
        let misses = self.outcomes.iter().filter(|&&missed| missed).count();
        if misses == 0 && !self.outcomes.is_empty() {
            self.reach(Corner::Uncorrected);
        }
        let log2_cf = run.expected(Pin::Log2Cf);
        let raises = log2_cf != 0 && log2_cf < self.log2_cf_sign;
        let (t_pb, t_pdt) = (run.expected(Pin::TPb), run.expected(Pin::TPdt));
        if !raises || t_pdt <= t_pb {
            return;
        }
        self.reach(match misses {
            _ if t_pdt == self.plan.histogram.max_value => Corner::CorrectedMost,
            0 | 1 => Corner::CorrectedOnce,
            _ => Corner::Corrected,
        });
    }

    /// An idle period ended asleep, or awake.
    fn outcome(&mut self, missed: bool) {
        if !self.plan.corrects() {
            return;
        }
        if self.outcomes.len() >= self.plan.correction.history as usize {
            self.outcomes.pop_front();
        }
        self.outcomes.push_back(missed);
    }

    fn clear(&mut self) {
        self.samples = 0;
        self.cleared_at = self.now;
        self.populated.clear();
    }

    fn requests(
        &mut self,
        inputs: &Inputs,
        earlier: &Inputs,
        state: PowerState,
        entered: bool,
        cycles: u64,
    ) {
        if inputs.queue_nonempty && !earlier.queue_nonempty {
            match state {
                PowerState::Wake => {}
                PowerState::GoingDown => {
                    self.reach(Corner::ArriveGoingDown);
                    if entered {
                        self.reach(Corner::ArriveGoingDownFirst);
                    }
                }
                PowerState::FastWake => self.reach(Corner::ArriveFastWake),
                PowerState::DeepSleep => self.reach(Corner::ArriveDeepSleep),
                PowerState::Refresh => self.reach(Corner::ArriveRefresh),
                PowerState::GoingUp => self.reach(Corner::ArriveGoingUp),
            }
            if cycles == 1 {
                self.arrived = Some(state);
            }
        }
        let rises = |level: fn(&Inputs) -> bool| level(inputs) && !level(earlier);
        if rises(|inputs| inputs.remote_down || asks(inputs, Message::ReqDown)) {
            self.reach(match state {
                PowerState::Wake if inputs.active() => Corner::RemoteDownActive,
                PowerState::Wake => Corner::RemoteDownIdle,
                _ => Corner::RemoteDownElse,
            });
        }
        if rises(|inputs| inputs.remote_up || asks(inputs, Message::ReqUp)) {
            self.reach(match state {
                PowerState::Wake => Corner::RemoteUpWake,
                PowerState::GoingDown => Corner::RemoteUpGoingDown,
                PowerState::FastWake => Corner::RemoteUpFastWake,
                PowerState::DeepSleep => Corner::RemoteUpDeepSleep,
                PowerState::Refresh => Corner::RemoteUpRefresh,
                PowerState::GoingUp => Corner::RemoteUpGoingUp,
            });
        }
    }

    /// Follows the exchange of messages. What leaves in a cycle was decided in the one
    /// before; what arrives in it shows in the next.
    fn messages(&mut self, run: &Run, inputs: &Inputs, state: PowerState, entered: bool) {
        use Message::{Ack, Nack, ReqDown, ReqUp, Sync};
        let mut exchange = self.exchange;
        let sent = Message::decode(run.expected(Pin::MessageOut) as u8);
        match sent {
            ReqDown | ReqUp => exchange.asked = Some(sent),
            Ack => exchange.promised = exchange.request.take(),
            Nack if exchange.accepted => self.reach(Corner::Withdrawn),
            Nack => {
                self.reach(Corner::Declined);
                let crossed = exchange.asked.is_some();
                if exchange.request == Some(ReqDown) && exchange.request_disabled {
                    self.reach(Corner::DisabledDeclines);
                }
                if exchange.request == Some(ReqDown) && exchange.request_suits && !crossed {
                    self.reach(Corner::GuardDeclines);
                }
            }
            Sync => {
                let asleep = !matches!(state, PowerState::Wake | PowerState::GoingUp);
                exchange.starting = match exchange.settled {
                    Some((ReqDown, own)) => own,
                    Some((_, own)) => own && asleep,
                    None => false,
                };
            }
            Message::None => {}
        }
        let started = entered && matches!(state, PowerState::GoingDown | PowerState::GoingUp);
        if started || run.expected(Pin::TxEnable) == 1 {
            exchange.starting = false;
        }
        if sent == ReqUp && state == PowerState::GoingDown {
            self.reach(Corner::AskUpGoingDown);
        }
        if entered {
            match (state, exchange.settled) {
                (PowerState::GoingDown, Some((ReqDown, true))) => self.reach(Corner::DownByRequest),
                (PowerState::GoingDown, Some((ReqDown, false))) => self.reach(Corner::DownByAnswer),
                (PowerState::GoingUp, Some((ReqUp, true))) => self.reach(Corner::UpByRequest),
                (PowerState::GoingUp, Some((ReqUp, false))) => self.reach(Corner::UpByAnswer),
                _ => {}
            }
        }
        let error = run.expected(Pin::SyncError) == 1;
        let clears = self.last.is_some_and(|last| last.inputs.clear_error);
        if self.plan.control_pins && clears && error != exchange.error {
            self.reach(match error {
                true => Corner::ErrorKept,
                false => Corner::ErrorCleared,
            });
        }
        if error && !exchange.error {
            self.reach(Corner::NoAnswer);
            exchange.asked = None;
            exchange.promised = None;
        }
        exchange.error = error;
        exchange.accepted = false;
        match Message::decode(inputs.message_in) {
            Message::None if inputs.message_in > 5 => self.reach(Corner::Illegal),
            Message::None => {}
            request @ (ReqDown | ReqUp) => {
                match (exchange.asked, request, inputs.initiator) {
                    (Some(ReqDown), ReqDown, true) => self.reach(Corner::CrossDownOn),
                    (Some(ReqDown), ReqDown, false) => self.reach(Corner::CrossDownYields),
                    (Some(ReqUp), ReqUp, true) => self.reach(Corner::CrossUpOn),
                    (Some(ReqUp), ReqUp, false) => self.reach(Corner::CrossUpYields),
                    (Some(ReqDown), ReqUp, _) => self.reach(Corner::CrossDownUp),
                    _ => {}
                }
                exchange.request = Some(request);
                let suits = !inputs.queue_nonempty
                    && !inputs.transmitting
                    && !inputs.force_wake
                    && run.expected(Pin::TxEnable) == 1;
                exchange.request_suits = suits && inputs.enable;
                exchange.request_disabled = suits && !inputs.enable;
            }
            Ack => match exchange.asked.take() {
                Some(request) => {
                    exchange.accepted = request == ReqDown;
                    exchange.settled = Some((request, true));
                }
                None => self.reach(Corner::Stale),
            },
            Nack => {
                if exchange.asked == Some(ReqDown) {
                    exchange.asked = None;
                    if state == PowerState::Wake {
                        self.reach(Corner::Refused);
                    }
                } else if exchange.promised == Some(ReqDown) {
                    exchange.promised = None;
                    self.reach(Corner::Released);
                } else {
                    self.reach(Corner::Stale);
                }
            }
            Sync => match exchange.promised.take() {
                Some(request) => exchange.settled = Some((request, false)),
                None => self.reach(Corner::Stale),
            },
        }
        self.exchange = exchange;
    }

    fn idle_on(&mut self, run: &Run, inputs: &Inputs, state: PowerState) {
        if self.idle_cycles == 0 && self.active_cycles == 1 && !self.packet_in_active {
            self.reach(Corner::Glitch);
        }
        let mut idle = self.idle.unwrap_or(Idle {
            threshold: run.expected(Pin::TPdt),
            left_wake: false,
            refused: false,
            held: false,
            stayed: false,
            asked: false,
        });
        if state == PowerState::GoingDown && !idle.left_wake {
            let ticks = self.idle_cycles / self.plan.clocks_per_tick;
            if !self.used {
                self.reach(Corner::Unused);
            } else if self.received_only
                && (self.plan.t_backstop).is_some_and(|t| ticks > t.max(idle.threshold))
            {
                self.reach(Corner::Backstop);
            }
        }
        if run.expected(Pin::MessageOut) == Message::ReqDown as u64 {
            if idle.asked {
                self.reach(Corner::AsksAgain);
            }
            idle.asked = true;
        }
        // A port may begin with a way up.
        idle.left_wake |= !matches!(state, PowerState::Wake | PowerState::GoingUp);
        let after = self.idle_cycles.saturating_add(run.cycles);
        let expired = after / self.plan.clocks_per_tick > idle.threshold;
        if expired
            && self.armed
            && self.plan.messages().is_none()
            && !inputs.sleep_permit
            && state == PowerState::Wake
            && !idle.refused
        {
            idle.refused = true;
            self.reach(Corner::Refused);
        }
        let may_sleep = inputs.enable && !inputs.force_wake;
        if expired && self.armed && !may_sleep && state == PowerState::Wake && !idle.stayed {
            idle.stayed = true;
            self.reach(match inputs.force_wake {
                true => Corner::ForcedStays,
                false => Corner::DisabledStays,
            });
        }
        let long_expired = after / self.plan.clocks_per_tick > idle.threshold.saturating_add(2);
        let held =
            self.plan.messages().is_none() && inputs.sleep_permit && state == PowerState::Wake;
        let held = held && may_sleep;
        if long_expired && self.armed && held && self.plan.guard.is_some() && !idle.held {
            idle.held = true;
            self.reach(Corner::GuardHolds);
        }
        self.idle = Some(idle);
        self.idle_cycles = after;
    }

    fn end_of_idle(&mut self) {
        let ticks = self.idle_cycles / self.plan.clocks_per_tick;
        let Some(idle) = self.idle else { return };
        match self.idle_cycles {
            1 => self.reach(Corner::Idle1),
            2 => self.reach(Corner::Idle2),
            _ => {}
        }
        if self.idle_cycles + self.active_cycles <= 3 {
            let before = self.hard_cycles;
            self.hard_cycles += self.idle_cycles + self.active_cycles;
            if before < 1000 && self.hard_cycles >= 1000 {
                self.reach(Corner::Hardest);
            }
        } else {
            self.hard_cycles = 0;
        }
        self.active_cycles = 0;
        self.packet_in_active = false;
        if self.armed {
            if ticks.checked_add(1) == Some(idle.threshold) {
                self.reach(Corner::BelowPdt);
            } else if ticks == idle.threshold {
                self.reach(Corner::AtPdt);
            } else if ticks.checked_sub(1) == Some(idle.threshold) {
                self.reach(Corner::AbovePdt);
            }
        } else if self.received_only && ticks > idle.threshold && !idle.left_wake {
            self.reach(Corner::ReceiveOnly);
        }
        let histogram = self.plan.histogram;
        let in_bin = ticks & ((1 << histogram.bin_shift) - 1);
        if ticks > 0 && ticks < histogram.max_value {
            if in_bin == 0 {
                self.reach(Corner::AtBin);
            }
            if in_bin == (1 << histogram.bin_shift) - 1 {
                self.reach(Corner::BelowBin);
            }
        }
        if ticks.checked_add(1) == Some(histogram.max_value) {
            self.reach(Corner::BelowMax);
        } else if ticks == histogram.max_value {
            self.reach(Corner::AtMax);
        } else if ticks.checked_sub(1) == Some(histogram.max_value) {
            self.reach(Corner::AboveMax);
        }
        if ticks >= self.plan.max_time() {
            self.reach(Corner::IdleSaturated);
        }
        let window = (self.now - self.cleared_at) / self.plan.clocks_per_tick;
        let full = self.samples >= u64::from(histogram.max_samples);
        let expired = histogram.ttl.is_some_and(|ttl| window >= ttl);
        if histogram.kind.clears() && (full || expired) {
            if full {
                self.reach(Corner::ClearBySamples);
            } else {
                self.reach(Corner::ClearByTtl);
                let cycles = self.now - self.cleared_at;
                if window * self.plan.clocks_per_tick == cycles && histogram.ttl == Some(window) {
                    self.reach(Corner::ClearAtTtl);
                }
            }
            self.clear();
        }
        let bin = self.edges.bin(ticks);
        if let Some((_, before)) = self.sample.filter(|(before, _)| *before == bin) {
            match self.now - before {
                2 => self.reach(Corner::SameBinNext),
                3 => self.reach(Corner::SameBinAfter),
                _ => {}
            }
        }
        self.sample = Some((bin, self.now));
        if histogram.kind == HistogramKind::Map {
            self.map(bin);
        }
        self.samples += 1;
    }

    /// A sample of a map's bin, after the clear that it may have caused.
    fn map(&mut self, bin: usize) {
        let histogram = self.plan.histogram;
        if let Some(count) = self.populated.get_mut(&bin) {
            *count += 1;
            if *count > u64::MAX >> (64 - histogram.counter_bits) {
                self.reach(Corner::MapSaturated);
            }
            return;
        }
        if self.populated.len() == histogram.map_entries as usize {
            self.reach(Corner::MapOverflow);
            self.clear();
        }
        let above = self.populated.range(bin..).next().is_some();
        let below = self.populated.range(..bin).next().is_some();
        match (above, below) {
            (true, true) => self.reach(Corner::MapMiddle),
            (true, false) => self.reach(Corner::MapBottom),
            (false, true) => self.reach(Corner::MapTop),
            (false, false) => {}
        }
        self.populated.insert(bin, 1);
    }
}
