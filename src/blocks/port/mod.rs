//! The port controller: one per switch port or NIC port.

pub mod golden;
pub mod model;
pub mod pins;
#[cfg(test)]
pub(crate) mod tests;

use crate::blocks::histogram::bin_meter::BinMeter;
use crate::blocks::histogram::circular::CircularHistogram;
use crate::blocks::histogram::clearing::ClearingHistogram;
use crate::blocks::histogram::decaying::DecayingHistogram;
use crate::blocks::idle_meter::IdleMeter;
use crate::blocks::link_sync::{self, Exchange, LinkSync};
use crate::blocks::lpi_fsm::{Link, LpiFsm};
use crate::blocks::pdt_timer::PdtTimer;
use crate::blocks::perfbound::PerfBound;
use crate::config::plan::{HistogramKind, Policy, PortPlan, SyncPlan};
use crate::hdl::prelude::*;

/// The port controller: joins the blocks (`docs/controller.md`). Its pins are those of
/// [`pins`].
#[derive(LogicBlock)]
pub struct Port {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub queue_nonempty: Signal<In, Bit>,
    pub transmitting: Signal<In, Bit>,
    pub receiving: Signal<In, Bit>,
    pub packet_valid: Signal<In, Bit>,
    pub packet_hops: Signal<In, Bits>,
    pub sleep_permit: Optional<Signal<In, Bit>>,
    pub remote_down: Optional<Signal<In, Bit>>,
    pub remote_up: Optional<Signal<In, Bit>>,
    pub initiator: Optional<Signal<In, Bit>>,
    pub message_in: Optional<Signal<In, Bits>>,
    pub tx_enable: Signal<Out, Bit>,
    pub power_state: Signal<Out, Bits>,
    pub hit: Signal<Out, Bit>,
    pub miss: Signal<Out, Bit>,
    pub t_pdt: Signal<Out, Bits>,
    pub update: Optional<Signal<Out, Bit>>,
    pub t_pb: Optional<Signal<Out, Bits>>,
    pub window: Optional<Signal<Out, Bits>>,
    pub budget: Optional<Signal<Out, Bits>>,
    pub message_out: Optional<Signal<Out, Bits>>,
    pub sync_error: Optional<Signal<Out, Bit>>,
    sleeps: Constant<Bit>,
    predicts: Constant<Bit>,
    agrees: Constant<Bit>,
    fixed_t_pdt: Constant<Bits>,
    active: Signal<Local, Bit>,
    expires: Signal<Local, Bit>,
    down_start: Signal<Local, Bit>,
    hit_now: Reg<Bit>,
    miss_now: Reg<Bit>,
    left_wake: Reg<Bit>,
    idle_meter: IdleMeter,
    pdt_timer: PdtTimer,
    lpi_fsm: LpiFsm,
    link_sync: Optional<LinkSync>,
    clears: Constant<Bit>,
    is_circular: Constant<Bit>,
    is_decaying: Constant<Bit>,
    bin_meter: Optional<BinMeter>,
    clearing: Optional<ClearingHistogram>,
    circular: Optional<CircularHistogram>,
    decaying: Optional<DecayingHistogram>,
    perfbound: Optional<PerfBound>,
    // For the proofs (docs/proofs.md).
    sends_awake_only: Reg<Bit>,
    wait_bounded: Optional<Reg<Bit>>,
    commitment_kept: Optional<Reg<Bit>>,
    exchange_fits: Optional<Reg<Bit>>,
    exchange_timed: Optional<Reg<Bit>>,
    wait_in_exchange: Optional<Reg<Bit>>,
    wait_in_transition: Optional<Reg<Bit>>,
    waiting: Reg<Bits>,
    to_wake: Signal<Local, Bit>,
    count: Signal<Local, Bits>,
    age: Signal<Local, Bits>,
    message_wait: Constant<Bits>,
    half_wait: Constant<Bits>,
    start_wait: Constant<Bits>,
    ask_wait: Constant<Bits>,
    await_wait: Constant<Bits>,
    sync_wait: Constant<Bits>,
    rise_wait: Constant<Bits>,
    longest_wait: Constant<Bits>,
    _wait_bits: usize,
}

impl Port {
    /// The port controller of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
        let width = plan.time_width;
        let predicts = plan.predicts();
        let kind = plan.histogram.kind;
        let agrees = plan.sync.is_some();
        let level = |doc: &str| Optional::when(!agrees, Signal::bit(doc));
        // Not elaborated without the exchange of messages, whatever its time-out.
        let sync = plan.sync.unwrap_or(SyncPlan { timeout: 1 });
        // The waits that the proofs account for; SPEC 5: a wait for a message ends by a
        // time-out, so that it lasts `w` cycles.
        let w = sync.timeout + 1;
        let longest_wait = link_sync::wake_bound(plan, None).unwrap_or(0);
        let wait_bits = clog2(u128::from(longest_wait) + 2);
        let wait = |cycles: u64, doc: &str| {
            Constant::bits(wait_bits, if agrees { cycles.into() } else { 0 }, doc)
        };
        let claim = |claim: Reg<Bit>| Optional::when(agrees, claim);
        Port {
            about: About::new(
                "port",
                "Power controller of one end of a link. It watches the port's activity,\n\
                 powers the link down when the port has been idle for longer than the\n\
                 power-down threshold t_pdt, and forbids transmission while the link is not\n\
                 awake. All outputs come from registers alone.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            queue_nonempty: Signal::bit("the output queue holds a packet"),
            transmitting: Signal::bit("a packet is leaving over the link"),
            receiving: Signal::bit("a packet is arriving over the link"),
            packet_valid: Signal::bit("one cycle per packet sent"),
            packet_hops: Signal::bits(pins::HOPS_WIDTH, "hop count of that packet"),
            sleep_permit: level("the other end has nothing to send"),
            remote_down: level("the other end has begun to go down"),
            remote_up: level("the other end wants the link awake"),
            initiator: Optional::when(
                agrees,
                Signal::bit("strap, 1 at one end: its request goes on if two cross"),
            ),
            message_in: Optional::when(
                agrees,
                Signal::bits(
                    pins::MESSAGE_WIDTH,
                    "0 none, 1 REQ_DOWN, 2 REQ_UP, 3 ACK, 4 NACK, 5 SYNC",
                ),
            ),
            tx_enable: Signal::bit("the port may start a packet"),
            power_state: Signal::bits(
                3,
                "0 wake, 1 going down, 2 fast wake, 3 deep sleep, 4 refresh, 5 going up",
            ),
            hit: Signal::bit("an idle period ended, the link stayed awake"),
            miss: Signal::bit("an idle period ended, the link had left wake"),
            t_pdt: Signal::bits(width, "threshold in force, in ticks"),
            update: Optional::when(predicts, Signal::bit("t_pb, window and budget are new")),
            t_pb: Optional::when(
                predicts,
                Signal::bits(width, "PerfBound's threshold, in ticks"),
            ),
            window: Optional::when(
                predicts,
                Signal::bits(width, "window it was computed for, in ticks"),
            ),
            budget: Optional::when(
                predicts,
                Signal::bits(plan.budget.width, "packets that may be delayed in it"),
            ),
            message_out: Optional::when(
                agrees,
                Signal::bits(pins::MESSAGE_WIDTH, "the same, each for one cycle"),
            ),
            sync_error: Optional::when(
                agrees,
                Signal::bit("the other end once did not answer in time"),
            ),
            sleeps: Constant::bit(
                plan.policy != Policy::AlwaysOn,
                "the port powers down by itself",
            ),
            predicts: Constant::bit(predicts, "the threshold is predicted"),
            agrees: Constant::bit(agrees, "the ends agree by messages"),
            fixed_t_pdt: Constant::bits(width, plan.t_pdt_init.into(), "the threshold, in ticks"),
            active: Signal::bit("the port is active"),
            expires: Signal::bit("the power-down timer of a port that sleeps expires"),
            down_start: Signal::bit("the link goes down at the end of this cycle"),
            hit_now: Reg::bit(false, "an idle period ended, the link stayed awake"),
            miss_now: Reg::bit(false, "an idle period ended, the link had left wake"),
            left_wake: Reg::bit(false, "the link has left wake in this idle period"),
            idle_meter: IdleMeter::new(plan),
            pdt_timer: PdtTimer::new(plan),
            lpi_fsm: LpiFsm::new(plan),
            link_sync: Optional::when(agrees, LinkSync::new(plan, &sync)),
            clears: Constant::bit(
                kind == HistogramKind::Clearing,
                "the histogram is cleared from time to time",
            ),
            is_circular: Constant::bit(
                kind == HistogramKind::Circular,
                "the histogram holds the last samples",
            ),
            is_decaying: Constant::bit(
                kind == HistogramKind::Decaying,
                "the counters halve from time to time",
            ),
            bin_meter: Optional::when(predicts, BinMeter::new(plan)),
            clearing: Optional::when(
                predicts && matches!(kind, HistogramKind::Regular | HistogramKind::Clearing),
                ClearingHistogram::new(plan),
            ),
            circular: Optional::when(
                predicts && kind == HistogramKind::Circular,
                CircularHistogram::new(plan),
            ),
            decaying: Optional::when(
                predicts && kind == HistogramKind::Decaying,
                DecayingHistogram::new(plan),
            ),
            perfbound: Optional::when(predicts, PerfBound::new(plan)),
            sends_awake_only: Reg::property("Nothing is transmitted unless the link is awake."),
            wait_bounded: claim(Reg::property(
                "Whatever the other end does, a packet never waits longer than `estimate` says.",
            )),
            commitment_kept: claim(Reg::property(
                "From its ACK or SYNC for going down on, the port starts no packet.",
            )),
            exchange_fits: claim(Reg::invariant(
                "An exchange for going down stands only where there is a way down, one of this \
                 end's own for going up only where the link sleeps.",
            )),
            exchange_timed: claim(Reg::invariant(
                "No wait for a message outlasts its time-out.",
            )),
            wait_in_exchange: claim(Reg::invariant(
                "What a packet has waited for is the exchange under way, and those before.",
            )),
            wait_in_transition: claim(Reg::invariant(
                "What a packet has waited for is the transition under way, and what led to it.",
            )),
            waiting: Reg::bits(wait_bits, 0, "clock cycles for which a packet has waited"),
            to_wake: Signal::bit("the link sleeps and is not yet agreed to go up"),
            count: Signal::bits(wait_bits, "clock cycles in the state of the exchange"),
            age: Signal::bits(wait_bits, "clock cycles in the transition"),
            message_wait: wait(w, "w: longest wait for a message"),
            half_wait: wait(sync.timeout / 2, "longest wait from SYNC to the start"),
            start_wait: wait(link_sync::start_cycles(plan, &sync), "all of START"),
            ask_wait: wait(w + 1, "waited before this end asks to wake, at most"),
            await_wait: wait(2 * w + 1, "and before it follows a request that crossed"),
            sync_wait: wait(2 * w + 1 + sync.timeout / 2, "and with its own SYNC"),
            rise_wait: wait(
                longest_wait.min(w + (2 * w + 1).max(link_sync::longest_transitions(plan).0)),
                "waited before the way up begins, at most",
            ),
            longest_wait: wait(longest_wait, "the longest wait, as `estimate` prints it"),
            _wait_bits: wait_bits as usize,
        }
    }
}

impl Logic for Port {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            hit_now,
            miss_now,
            left_wake,
            waiting,
            sends_awake_only
        );

        self.active.next =
            self.queue_nonempty.val() | self.transmitting.val() | self.receiving.val();

        self.idle_meter.clk.next = self.clk.val();
        self.idle_meter.rst.next = self.rst.val();
        self.idle_meter.active.next = self.active.val();

        self.pdt_timer.clk.next = self.clk.val();
        self.pdt_timer.rst.next = self.rst.val();
        self.pdt_timer.active.next = self.active.val();
        self.pdt_timer.transmitting.next = self.transmitting.val();
        self.pdt_timer.tick.next = self.idle_meter.tick.val();
        self.pdt_timer.ticks.next = self.idle_meter.ticks.val();
        self.pdt_timer.saturated.next = self.idle_meter.saturated.val();
        if self.predicts.val() {
            self.pdt_timer.t_pdt.next = self.perfbound.t_pb.val();
        } else {
            self.pdt_timer.t_pdt.next = self.fixed_t_pdt.val();
        }
        self.t_pdt.next = self.pdt_timer.t_pdt_in_force.val();

        if self.sleeps.val() {
            self.expires.next = self.pdt_timer.expired.val();
        } else {
            self.expires.next = false;
        }
        self.lpi_fsm.clk.next = self.clk.val();
        self.lpi_fsm.rst.next = self.rst.val();
        if self.agrees.val() {
            self.link_sync.clk.next = self.clk.val();
            self.link_sync.rst.next = self.rst.val();
            self.link_sync.initiator.next = self.initiator.val();
            self.link_sync.message_in.next = self.message_in.val();
            self.link_sync.queue_nonempty.next = self.queue_nonempty.val();
            self.link_sync.transmitting.next = self.transmitting.val();
            self.link_sync.active.next = self.active.val();
            self.link_sync.awake.next = self.lpi_fsm.tx_enable.val();
            self.link_sync.asleep.next = self.lpi_fsm.asleep.val();
            self.link_sync.may_go_down.next = self.lpi_fsm.may_go_down.val();
            comment!("Both holds in fast wake end together: one request is enough.");
            self.link_sync.wants_down.next = (self.expires.val() & self.lpi_fsm.tx_enable.val())
                | (self.lpi_fsm.hold_over.val() & self.initiator.val() & !self.active.val());
            self.down_start.next = self.link_sync.down_start.val();
            self.lpi_fsm.up_start.next = self.link_sync.up_start.val();
            self.tx_enable.next = self.link_sync.tx_enable.val();
            self.message_out.next = self.link_sync.message_out.val();
            self.sync_error.next = self.link_sync.sync_error.val();
        } else {
            comment!("The link goes down when the timer expires and the other end agrees, or when");
            comment!("the other end goes down and nothing is leaving here.");
            self.down_start.next = (self.expires.val() & self.sleep_permit.val())
                | (self.remote_down.val() & !self.transmitting.val());
            self.lpi_fsm.up_start.next = self.queue_nonempty.val() | self.remote_up.val();
            self.tx_enable.next = self.lpi_fsm.tx_enable.val();
        }
        self.lpi_fsm.down_start.next = self.down_start.val();
        self.power_state.next = self.lpi_fsm.power_state.val();

        comment!("A miss is an idle period in which the link left wake, for whatever reason.");
        self.left_wake.d.next =
            !self.active.val() & (self.left_wake.q.val() | self.lpi_fsm.leaving.val());
        self.hit_now.d.next = self.idle_meter.ended.val() & !self.left_wake.q.val();
        self.miss_now.d.next = self.idle_meter.ended.val() & self.left_wake.q.val();
        self.hit.next = self.hit_now.q.val();
        self.miss.next = self.miss_now.q.val();

        if self.predicts.val() {
            self.bin_meter.clk.next = self.clk.val();
            self.bin_meter.rst.next = self.rst.val();
            self.bin_meter.active.next = self.active.val();
            self.bin_meter.tick.next = self.idle_meter.tick.val();
            self.bin_meter.ticks.next = self.idle_meter.ticks.val();

            self.perfbound.clk.next = self.clk.val();
            self.perfbound.rst.next = self.rst.val();
            self.perfbound.ended.next = self.idle_meter.ended.val();
            if self.is_circular.val() {
                self.circular.clk.next = self.clk.val();
                self.circular.rst.next = self.rst.val();
                self.circular.ended.next = self.idle_meter.ended.val();
                self.circular.ticks.next = self.idle_meter.ticks.val();
                self.circular.sample_bin.next = self.bin_meter.bin.val();
                self.circular.read_group.next = self.perfbound.read_group.val();
                self.circular.read_place.next = self.perfbound.read_place.val();
                self.perfbound.live_window.next = self.circular.window.val();
                self.perfbound.taken.next = self.circular.taken.val();
                self.perfbound.group_sum.next = self.circular.group_sum.val();
                self.perfbound.bin_count.next = self.circular.bin_count.val();
                self.perfbound.arrived.next = self.circular.arrived.val();
            } else if self.is_decaying.val() {
                self.decaying.clk.next = self.clk.val();
                self.decaying.rst.next = self.rst.val();
                self.decaying.ended.next = self.idle_meter.ended.val();
                self.decaying.sample_bin.next = self.bin_meter.bin.val();
                self.decaying.read_group.next = self.perfbound.read_group.val();
                self.decaying.read_place.next = self.perfbound.read_place.val();
                self.perfbound.live_window.next = self.decaying.window.val();
                self.perfbound.taken.next = self.decaying.taken.val();
                self.perfbound.group_sum.next = self.decaying.group_sum.val();
                self.perfbound.bin_count.next = self.decaying.bin_count.val();
                self.perfbound.arrived.next = self.decaying.arrived.val();
            } else {
                self.clearing.clk.next = self.clk.val();
                self.clearing.rst.next = self.rst.val();
                self.clearing.ended.next = self.idle_meter.ended.val();
                self.clearing.sample_bin.next = self.bin_meter.bin.val();
                self.clearing.read_group.next = self.perfbound.read_group.val();
                self.clearing.read_place.next = self.perfbound.read_place.val();
                self.perfbound.live_window.next = self.clearing.age.val();
                self.perfbound.window_step.next = self.clearing.step.val();
                self.perfbound.taken.next = self.clearing.taken.val();
                self.perfbound.group_sum.next = self.clearing.group_sum.val();
                self.perfbound.bin_count.next = self.clearing.bin_count.val();
                self.perfbound.arrived.next = self.clearing.arrived.val();
                if self.clears.val() {
                    self.perfbound.cleared.next = self.clearing.cleared.val();
                    self.perfbound.sample_bin.next = self.bin_meter.bin.val();
                }
            }

            self.update.next = self.perfbound.update.val();
            self.t_pb.next = self.perfbound.t_pb.val();
            self.window.next = self.perfbound.window.val();
            self.budget.next = self.perfbound.budget.val();
        }

        self.sends_awake_only.d.next = !self.tx_enable.val() | (self.power_state.val() == 0);
        if self.agrees.val() {
            dff_setup!(
                self,
                clk,
                wait_bounded,
                commitment_kept,
                exchange_fits,
                exchange_timed
            );
            dff_setup!(self, clk, wait_in_exchange, wait_in_transition);
            self.waiting.d.next = 0.into();
            if self.queue_nonempty.val() & !self.tx_enable.val() {
                self.waiting.d.next = self.waiting.q.val() + 1;
            }
            self.wait_bounded.d.next = self.waiting.q.val() <= self.longest_wait.val();
            self.count.next = bit_cast(self.link_sync.count.q.val(), self._wait_bits);
            self.age.next = bit_cast(self.lpi_fsm.age.q.val(), self._wait_bits);
            self.to_wake.next = self.lpi_fsm.asleep.val() & !self.link_sync.rise.q.val();
            match self.link_sync.state.q.val() {
                Exchange::Start => {
                    self.exchange_fits.d.next = self.lpi_fsm.tx_enable.val();
                    self.exchange_timed.d.next = self.count.val() < self.start_wait.val();
                    self.wait_in_exchange.d.next = self.waiting.q.val() <= self.count.val();
                }
                Exchange::Idle => {
                    if self.to_wake.val() {
                        self.wait_in_exchange.d.next =
                            self.waiting.q.val() <= self.message_wait.val();
                    }
                }
                Exchange::AskDown => {
                    self.exchange_fits.d.next =
                        self.lpi_fsm.may_go_down.val() & !self.link_sync.rise.q.val();
                    self.exchange_timed.d.next = self.count.val() < self.message_wait.val();
                    if self.to_wake.val() {
                        self.wait_in_exchange.d.next = self.waiting.q.val() <= self.count.val();
                    }
                }
                Exchange::SyncDown => {
                    self.commitment_kept.d.next = !self.tx_enable.val();
                    self.exchange_fits.d.next =
                        self.lpi_fsm.may_go_down.val() & !self.link_sync.rise.q.val();
                    self.exchange_timed.d.next = self.count.val() <= self.half_wait.val();
                    self.wait_in_exchange.d.next =
                        self.waiting.q.val() <= (self.half_wait.val() - self.count.val());
                }
                Exchange::AwaitDown => {
                    self.commitment_kept.d.next = !self.tx_enable.val();
                    self.exchange_fits.d.next =
                        self.lpi_fsm.may_go_down.val() & !self.link_sync.rise.q.val();
                    self.exchange_timed.d.next = self.count.val() < self.message_wait.val();
                    self.wait_in_exchange.d.next = self.waiting.q.val() <= self.count.val();
                }
                Exchange::AskUp => {
                    self.exchange_fits.d.next = self.to_wake.val();
                    self.exchange_timed.d.next = self.count.val() < self.message_wait.val();
                    self.wait_in_exchange.d.next =
                        self.waiting.q.val() <= (self.ask_wait.val() + self.count.val());
                }
                Exchange::SyncUp => {
                    self.exchange_fits.d.next = self.to_wake.val();
                    self.exchange_timed.d.next = self.count.val() <= self.half_wait.val();
                    self.wait_in_exchange.d.next =
                        self.waiting.q.val() <= (self.sync_wait.val() - self.count.val());
                }
                Exchange::AwaitUp => {
                    self.exchange_timed.d.next = self.count.val() < self.message_wait.val();
                    if self.to_wake.val() {
                        self.wait_in_exchange.d.next =
                            self.waiting.q.val() <= (self.await_wait.val() + self.count.val());
                    }
                }
            }
            if self.link_sync.rise.q.val()
                & !(self.lpi_fsm.state.q.val() == Link::GoingDown)
                & !(self.lpi_fsm.state.q.val() == Link::GoingUp)
            {
                self.exchange_fits.d.next = false;
            }
            match self.lpi_fsm.state.q.val() {
                Link::GoingDown => {
                    self.wait_in_transition.d.next =
                        self.waiting.q.val() <= (self.message_wait.val() + self.age.val());
                }
                Link::GoingUp => {
                    self.wait_in_transition.d.next =
                        self.waiting.q.val() <= (self.rise_wait.val() + self.age.val());
                }
                _ => {}
            }
        }
    }
}
