//! Golden model of the guard: what is left in the bucket, as one number.

use crate::blocks::idle_meter::golden::whole_ticks;
use crate::config::plan::{GuardPlan, PortPlan};

/// Cycle-exact model of the guard (SPEC 12).
///
/// Time is the caller's count of clock cycles since reset. The bucket is brought up to date
/// where something is taken out or its rate changes; between, it fills evenly.
#[derive(Clone, Debug)]
pub struct Guard {
    clocks_per_tick: u64,
    /// A token, and what a full bucket holds, in parts of a token.
    token: u128,
    full: u128,
    /// Parts that a tick refills.
    gain: u128,
    /// Software has switched it off: the bucket is full, whatever is taken.
    off: bool,
    /// What the bucket held at the beginning of cycle `since`.
    level: u128,
    since: u64,
    /// A token was taken for the present time asleep.
    charged: bool,
    /// Once there was none to take.
    overdrawn: bool,
}

impl Guard {
    /// A guard just after reset: its bucket is full. `None` if the plan has none.
    pub fn new(plan: &PortPlan) -> Option<Self> {
        let GuardPlan {
            burst,
            numerator,
            denominator,
            ..
        } = plan.guard?;
        let full = u128::from(burst) * denominator;
        Some(Guard {
            clocks_per_tick: plan.clocks_per_tick,
            token: denominator,
            full,
            gain: numerator,
            off: false,
            level: full,
            since: 0,
            charged: false,
            overdrawn: false,
        })
    }

    /// What the bucket holds at the beginning of cycle `now`.
    fn level(&self, now: u64) -> u128 {
        if self.off {
            return self.full;
        }
        // Ticks end in the last of every so many clock cycles since reset.
        let ticks =
            whole_ticks(now, self.clocks_per_tick) - whole_ticks(self.since, self.clocks_per_tick);
        let gained = self.gain.saturating_mul(ticks.into());
        self.level.saturating_add(gained).min(self.full)
    }

    /// Whole tokens at the beginning of cycle `now`.
    pub fn tokens(&self, now: u64) -> u64 {
        // At most the burst, 16 bits.
        (self.level(now) / self.token) as u64
    }

    /// Calls `visit` with the registers that count time, as they are at the beginning of cycle
    /// `now`.
    pub fn time_registers(&self, now: u64, visit: &mut impl FnMut(&'static str, u64)) {
        if self.clocks_per_tick > 1 {
            visit("u_guard.prescaler_q", now % self.clocks_per_tick);
        }
        visit("u_guard.tokens_q", self.tokens(now));
        // A register of at most 64 bits, or nobody asks.
        visit("u_guard.part_q", (self.level(now) % self.token) as u64);
    }

    /// The link may go to sleep in cycle `now` as far as this end is concerned.
    pub fn permits(&self, now: u64) -> bool {
        self.level(now) >= self.token
    }

    /// Cycles from `now` on before the first in which it permits that, if its rate stays as it is;
    /// `u64::MAX` if it permits now, or never.
    pub fn until_permits(&self, now: u64) -> u64 {
        if self.permits(now) || self.gain == 0 {
            return u64::MAX;
        }
        let ticks = (self.token - self.level).div_ceil(self.gain);
        let since = whole_ticks(self.since, self.clocks_per_tick);
        let cycle = (u128::from(since) + ticks).saturating_mul(self.clocks_per_tick.into());
        u64::try_from(cycle).map_or(u64::MAX, |cycle| cycle - now)
    }

    /// The bucket is not to change but by refilling while these inputs hold.
    #[inline]
    pub fn steady(&self, awake: bool, queue_nonempty: bool) -> bool {
        if awake {
            !self.charged
        } else {
            self.charged || !queue_nonempty
        }
    }

    /// The clock edge at the end of cycle `now`.
    #[inline]
    pub fn clock(&mut self, now: u64, awake: bool, queue_nonempty: bool) {
        if !self.off && !self.steady(awake, queue_nonempty) && !awake {
            self.settle(now + 1);
            self.overdrawn |= self.level < self.token;
            self.level -= self.token.min(self.level);
        }
        self.charged = !awake && (self.charged || queue_nonempty);
    }

    /// The promise was broken: there was an interval of `T` ticks with more than `B + T l / t_w`
    /// wake-ups that packets waited for. A bucket runs dry if and only if there is one.
    pub fn overdrawn(&self) -> bool {
        self.overdrawn
    }

    /// From cycle `now` on a tick refills so many parts, at most a token.
    pub fn set_gain(&mut self, now: u64, gain: u128) {
        let gain = gain.min(self.token);
        if gain != self.gain {
            self.settle(now);
            self.gain = gain;
        }
    }

    /// From cycle `now` on it is `off` or not, and a full bucket holds `burst` tokens.
    pub fn set(&mut self, now: u64, off: bool, burst: u32) {
        let full = u128::from(burst) * self.token;
        if (off, full) != (self.off, self.full) {
            self.settle(now);
            self.full = full;
            self.level = self.level.min(full);
            self.off = off;
        }
    }

    fn settle(&mut self, now: u64) {
        self.level = self.level(now);
        self.since = now;
    }
}
