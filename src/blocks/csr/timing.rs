//! The times of the link that software sets: a section of [`Csr`](super::Csr).

use super::layout::{Request, WORD_BITS};
use super::map;
use crate::blocks::axi_lite::DATA_WIDTH;
use crate::blocks::lpi_fsm::{time_width, TimingOutputs};
use crate::config::plan::{AdjustableTime, PortPlan};
use crate::hdl::prelude::*;

/// Bits of the longest time that software may set, in clock cycles.
pub fn staged_width(times: &[AdjustableTime]) -> u32 {
    let most = times.iter().map(|time| time.most).fold(1, u64::max);
    clog2(u128::from(most) + 1)
}

fn limit(cycles: u64, width: u32, what: &str, time: &AdjustableTime) -> Constant<Bits> {
    let doc = format!("{what} {}", time.time.name());
    Constant::bits(width, cycles.into(), doc)
}

block! {
    /// The times of the link, staged in clock cycles, and those in force, in clock cycles less one.
    pub struct Timing;

    /// Those of `plan`, which has some.
    pub fn new(plan: &PortPlan) {
        let page = map::port(plan);
        let times = plan.adjustable_times();
        let bits = staged_width(&times);
        let last_bits = time_width(plan);
        let refreshes = plan.link.refresh.is_some();
        let t_w_bits = plan.budget.rate.map_or(1, |rate| rate.t_w_bits);
        let at = |time: &AdjustableTime| {
            let register = page.register(time.time.name());
            Constant::bits(WORD_BITS, (register.offset / 4).into(), register.doc.clone())
        };
    }

    {
        pub flat in_force: TimingOutputs(plan),
        pub out sync_timeout: Bits(
            bits, "longest wait for a message: clock cycles less one"
        ) if plan.messages().is_some(),
        pub in word: Bits(WORD_BITS, "address in words of the register asked for"),
        pub alias asked: Request(),
        pub in commits: Bit("the staged parameters come into force at the end of this cycle"),
        number _times(times.len() as u32),
        number _last_bits(last_bits),
        number _t_w_bits(t_w_bits),
        choice refreshes(refreshes), // deep sleep has refreshes
        choice agrees(plan.messages().is_some()), // the ends agree by messages
        local quiet: Bits(bits, "t_q in force, less one"),
        local refresh: Bits(bits, "t_r in force, less one"),
        pub constant at_time[time in times.iter()]: at(time),
        pub constant least[time in times.iter()]: limit(time.least, DATA_WIDTH, "least", time),
        pub constant most[time in times.iter()]: limit(time.most, DATA_WIDTH, "most", time),
        pub reg staged[time in times.iter()]: Bits(
            bits, time.reset.into(), format!("staged: {}", time.time.doc())
        ),
        pub kept last[time in times.iter()]: Bits(
            bits, u128::from(time.reset) - 1, format!("in force, less one: {}", time.time.doc())
        ),
        local written: Bits(bits, "what is written"),
        pub local staged_fast_wake: Bits(t_w_bits, "t_w of fast wake as it is staged, less one"),
        pub local staged_deep_sleep: Bits(t_w_bits, "t_w of deep sleep as it is staged, less one"),
        pub local now_fast_wake: Bits(t_w_bits, "t_w of fast wake in force, less one"),
        pub local now_deep_sleep: Bits(t_w_bits, "t_w of deep sleep in force, less one"),
        // For the proofs.
        pub local staged_times_kept: Bit("no staged time has changed"),
        pub local used_times_kept: Bit("no time in force has changed"),
        reg then_staged[time in times.iter()]: Bits(
            bits, time.reset.into(), format!("the cycle before: {}", time.time.doc())
        ),
        reg then_last[time in times.iter()]: Bits(
            bits, u128::from(time.reset) - 1, format!("the cycle before: {}", time.time.doc())
        ),
    }
}

impl Logic for Timing {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("Times of the link");
        self.written.next = bit_cast(self.asked.merged.val(), &self.written);
        for i in 0..self._times {
            if self.asked.writes.val() & (self.word.val() == self.at_time[i].val()) {
                self.staged[i].d.next = self.written.val();
            }
            if self.commits.val() {
                self.last[i].d.next = self.staged[i].q.val() - 1;
            }
        }
        // In the order of `LinkTime::ALL`.
        self.in_force.t_s_fast_wake.next = bit_cast(self.last[0].q.val(), self._last_bits);
        self.in_force.t_w_fast_wake.next = bit_cast(self.last[1].q.val(), self._last_bits);
        self.in_force.t_s_deep_sleep.next = bit_cast(self.last[2].q.val(), self._last_bits);
        self.in_force.t_w_deep_sleep.next = bit_cast(self.last[3].q.val(), self._last_bits);
        self.in_force.hold.next = bit_cast(self.last[4].q.val(), self._last_bits);
        if self.refreshes {
            self.quiet.next = self.last[5].q.val();
            self.refresh.next = self.last[6].q.val();
        }
        if self.agrees {
            self.sync_timeout.next = self.last[self._times - 1].q.val();
        }
        if self.refreshes {
            self.in_force.t_q.next = bit_cast(self.quiet.val(), self._last_bits);
            self.in_force.t_r.next = bit_cast(self.refresh.val(), self._last_bits);
        } else {
            self.in_force.t_q.next = 0.into();
            self.in_force.t_r.next = 0.into();
        }
        self.staged_fast_wake.next = bit_cast(self.staged[1].q.val() - 1, self._t_w_bits);
        self.staged_deep_sleep.next = bit_cast(self.staged[3].q.val() - 1, self._t_w_bits);
        self.now_fast_wake.next = bit_cast(self.last[1].q.val(), self._t_w_bits);
        self.now_deep_sleep.next = bit_cast(self.last[3].q.val(), self._t_w_bits);

        self.staged_times_kept.next = true;
        self.used_times_kept.next = true;
        for i in 0..self._times {
            self.then_staged[i].d.next = self.staged[i].q.val();
            self.then_last[i].d.next = self.last[i].q.val();
            if self.staged[i].q.val() != self.then_staged[i].q.val() {
                self.staged_times_kept.next = false;
            }
            if self.last[i].q.val() != self.then_last[i].q.val() {
                self.used_times_kept.next = false;
            }
        }
    }
}
