//! Golden model of the idle meter: remembers when the idle period began and divides.

/// Whole ticks in so many clock cycles. Where a tick is a cycle, the time of a division is saved.
#[inline]
pub fn whole_ticks(cycles: u64, clocks_per_tick: u64) -> u64 {
    match clocks_per_tick {
        1 => cycles,
        _ => cycles / clocks_per_tick,
    }
}

/// Cycle-exact model of the idle meter (SPEC 2).
///
/// Time is the caller's count of clock cycles since reset, so that idle stretches of any
/// length cost nothing.
#[derive(Clone, Debug)]
pub struct IdleMeter {
    clocks_per_tick: u64,
    max_time: u64,
    /// First cycle of the present idle stretch; the cycle after an active one.
    idle_since: u64,
    /// The cycle before this one was idle and belongs to a period.
    in_period: bool,
    /// There has been activity since reset: what comes before it is no idle period.
    seen_active: bool,
}

impl IdleMeter {
    /// A meter just after reset. Times saturate at `max_time` ticks.
    pub fn new(clocks_per_tick: u64, max_time: u64) -> Self {
        IdleMeter {
            clocks_per_tick,
            max_time,
            idle_since: 0,
            in_period: false,
            seen_active: false,
        }
    }

    /// Whole ticks that the present idle stretch had lasted when cycle `now` began.
    #[inline]
    pub fn ticks(&self, now: u64) -> u64 {
        whole_ticks(now - self.idle_since, self.clocks_per_tick).min(self.max_time)
    }

    /// An idle period ends in this cycle: its length is [`IdleMeter::ticks`].
    #[inline]
    pub fn ended(&self, active: bool) -> bool {
        active && self.in_period
    }

    /// Cycle `now`, if it is idle, completes a tick of the present idle stretch.
    pub fn tick(&self, now: u64, active: bool) -> bool {
        !active && (now + 1 - self.idle_since).is_multiple_of(self.clocks_per_tick)
    }

    /// The first cycle in which the present idle stretch, if it lasts, is longer than `ticks`
    /// whole ticks; `None` if that is past the end of time.
    #[inline]
    pub fn exceeds(&self, ticks: u64) -> Option<u64> {
        let count = ticks.checked_add(1)?;
        let cycle =
            u128::from(self.idle_since) + u128::from(count) * u128::from(self.clocks_per_tick) - 1;
        u64::try_from(cycle).ok()
    }

    /// The cycle, from `now` on, that completes the present tick of an idle stretch.
    #[inline]
    pub fn next_tick(&self, now: u64) -> u64 {
        let into = (now - self.idle_since) % self.clocks_per_tick;
        now.saturating_add(self.clocks_per_tick - 1 - into)
    }

    /// Nothing but the passing of time happens while `active` and `has_link` hold.
    #[inline]
    pub fn steady(&self, now: u64, active: bool, has_link: bool) -> bool {
        if active {
            self.idle_since == now && (self.seen_active || !has_link) && !self.in_period
        } else {
            self.in_period == self.seen_active
        }
    }

    /// The clock edge at the end of cycle `now`. A port without a link counts as active, and has seen
    /// no activity for it.
    #[inline]
    pub fn clock(&mut self, now: u64, active: bool, has_link: bool) {
        self.in_period = !active && self.seen_active;
        if active {
            self.idle_since = now + 1;
            self.seen_active |= has_link;
        }
    }

    /// Calls `visit` with the registers that count time, as they are at the beginning of cycle
    /// `now`.
    pub fn time_registers(&self, now: u64, visit: &mut impl FnMut(&'static str, u64)) {
        if self.clocks_per_tick > 1 {
            let into = (now - self.idle_since) % self.clocks_per_tick;
            visit("u_idle_meter.prescaler_q", into);
        }
        visit("u_idle_meter.count_q", self.ticks(now));
    }

    /// The present idle stretch had been longer than `ticks` whole ticks when cycle `now` began.
    pub fn has_exceeded(&self, ticks: u64, now: u64) -> bool {
        self.exceeds(ticks).is_some_and(|cycle| cycle < now)
    }

    /// Lets `cycles` steady cycles pass, the first of them being `now`.
    #[inline]
    pub fn skip(&mut self, now: u64, cycles: u64, active: bool) {
        if active {
            self.idle_since = now + cycles;
        }
    }
}
