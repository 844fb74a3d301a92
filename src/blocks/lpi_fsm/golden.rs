//! Golden model of the LPI state machine: a state and the cycle in which it ends.

use crate::blocks::port::pins::PowerState;
use crate::config::plan::{LinkPlan, LinkTimes, PortPlan, RefreshPlan, Sleep};

/// Cycle-exact model of the LPI state machine (SPEC 4).
///
/// Time is the caller's count of clock cycles since reset.
#[derive(Clone, Debug)]
pub struct LpiFsm {
    link: LinkPlan,
    /// Where the link goes when it next leaves `Wake`.
    chosen: Sleep,
    /// What was chosen when it last left `Wake`.
    sleep: Sleep,
    /// Whether the way from fast wake to deep sleep is agreed with the other end: it
    /// begins with `down_start`, not by itself.
    agrees: bool,
    state: PowerState,
    /// The sleep state that a transition leads to or comes from.
    sleeper: PowerState,
    /// Last cycle of the present state unless something else ends it; `None` is for ever.
    last_cycle: Option<u64>,
    /// The sleep state is chosen at run time: the hardware counts the hold in any fast wake.
    chooses: bool,
    /// The cycle by which the hardware's count has run out.
    runs_out: u64,
    /// Whether the link uses fast wake, and deep sleep.
    uses: [bool; 2],
    /// There was no link in the cycle before: a way up of so many cycles is still to begin.
    held: Option<u64>,
}

impl LpiFsm {
    /// A state machine just after reset: awake.
    pub fn new(plan: &PortPlan) -> Self {
        let uses_fast_wake = plan.registers.is_some() || plan.sleep != Sleep::DeepSleep;
        let uses_deep_sleep = plan.registers.is_some() || plan.sleep != Sleep::FastWake;
        let fsm = LpiFsm {
            link: plan.link,
            chosen: plan.sleep,
            sleep: plan.sleep,
            agrees: plan.messages().is_some(),
            state: PowerState::Wake,
            sleeper: PowerState::FastWake,
            last_cycle: None,
            chooses: plan.registers.is_some(),
            runs_out: 0,
            uses: [uses_fast_wake, uses_deep_sleep],
            held: None,
        };
        let fsm = match plan.starts_going_up() || plan.per_direction() {
            true => LpiFsm {
                sleeper: fsm.farthest(),
                ..fsm
            },
            false => fsm,
        };
        match plan.starts_going_up() {
            true => fsm.clone().going_up(fsm.longest_up() - 1),
            false => fsm,
        }
    }

    /// The longest way up of the sleep states in use, in clock cycles.
    fn longest_up(&self) -> u64 {
        let ways_up = [self.link.fast_wake.t_w, self.link.deep_sleep.t_w];
        let used = ways_up.into_iter().zip(self.uses);
        used.filter(|(_, used)| *used)
            .map(|(t_w, _)| t_w)
            .fold(1, u64::max)
    }

    /// The sleep state with that way up.
    fn farthest(&self) -> PowerState {
        match self.uses[1] && self.link.deep_sleep.t_w == self.longest_up() {
            true => PowerState::DeepSleep,
            false => PowerState::FastWake,
        }
    }

    /// `t_s` and `t_w`, in clock cycles, of the sleep state that the link is in, or was in last, or goes to.
    pub fn times(&self) -> [u64; 2] {
        let state = match self.sleeper {
            PowerState::FastWake => self.link.fast_wake,
            _ => self.link.deep_sleep,
        };
        [state.t_s, state.t_w]
    }

    /// The same on a way up that ends with cycle `last`.
    fn going_up(self, last: u64) -> Self {
        LpiFsm {
            state: PowerState::GoingUp,
            last_cycle: Some(last),
            runs_out: last,
            held: None,
            ..self
        }
    }

    /// From now on a link that leaves `Wake` goes to `sleep`.
    #[inline]
    pub fn choose(&mut self, sleep: Sleep) {
        self.chosen = sleep;
    }

    /// From now on transitions that begin, holds, quiet and refresh take these times.
    pub fn set_times(&mut self, times: LinkTimes) {
        self.link = self.link.with_times(times);
    }

    /// The way up is still to begin: there was no link in the cycle before.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// The clock edge at the end of a cycle without a link.
    pub fn clock_without_link(&mut self) {
        self.state = PowerState::GoingUp;
        self.last_cycle = None;
        self.sleeper = self.farthest();
        self.held = Some(self.longest_up());
    }

    /// The present state.
    #[inline]
    pub fn state(&self) -> PowerState {
        self.state
    }

    /// The link sleeps or is on the way down.
    pub fn asleep(&self) -> bool {
        !matches!(self.state, PowerState::Wake | PowerState::GoingUp)
    }

    /// The link is in a state with a way down.
    pub fn may_go_down(&self) -> bool {
        self.state == PowerState::Wake || self.hold_ends().is_some()
    }

    /// The last cycle of the hold in fast wake, after which the link may go on to deep
    /// sleep; `None` in other states and modes.
    #[inline]
    pub fn hold_ends(&self) -> Option<u64> {
        self.last_cycle
            .filter(|_| self.state == PowerState::FastWake)
    }

    /// Idle cycles from `now` on in which the state stays as it is while the inputs
    /// hold: the cycle after them ends with a change (`u64::MAX`: there is none).
    pub fn quiet(&self, now: u64, down_start: bool, up_start: bool) -> u64 {
        if self.held.is_some() {
            return 0;
        }
        match self.state {
            PowerState::Wake if down_start => 0,
            PowerState::FastWake | PowerState::DeepSleep | PowerState::Refresh if up_start => 0,
            PowerState::FastWake if self.agrees && down_start => 0,
            PowerState::FastWake if self.agrees => u64::MAX,
            _ => self.last_cycle.map_or(u64::MAX, |last| last - now),
        }
    }

    /// Quiet and refresh, between which the link goes to and fro in its sleep from cycle `now` on;
    /// `None` if it does not.
    pub fn refresh(&self, now: u64) -> Option<RefreshPlan> {
        let refresh = self.link.refresh?;
        // What has begun before the times were set last may last longer.
        let left = self.last_cycle?.checked_sub(now)?;
        match self.state {
            PowerState::DeepSleep => Some(refresh).filter(|it| left < it.t_q),
            PowerState::Refresh => Some(refresh).filter(|it| left < it.t_r),
            _ => None,
        }
    }

    /// So many cycles pass, a whole number of the periods of [`LpiFsm::refresh`].
    pub fn pass_refreshes(&mut self, cycles: u64) {
        self.last_cycle = self.last_cycle.map(|last| last.saturating_add(cycles));
        self.runs_out = self.runs_out.saturating_add(cycles);
    }

    fn enter(&mut self, now: u64, state: PowerState, lasts: Option<u64>) {
        self.state = state;
        self.last_cycle = lasts.map(|cycles| now.saturating_add(cycles));
        self.runs_out = self.last_cycle.unwrap_or(now);
    }

    fn go_down(&mut self, now: u64, sleeper: PowerState) {
        self.sleeper = sleeper;
        let t_s = match sleeper {
            PowerState::FastWake => self.link.fast_wake.t_s,
            _ => self.link.deep_sleep.t_s,
        };
        self.enter(now, PowerState::GoingDown, Some(t_s));
    }

    fn go_up(&mut self, now: u64) {
        let t_w = match self.sleeper {
            PowerState::FastWake => self.link.fast_wake.t_w,
            _ => self.link.deep_sleep.t_w,
        };
        self.enter(now, PowerState::GoingUp, Some(t_w));
    }

    fn fall_asleep(&mut self, now: u64) {
        let lasts = match (self.sleeper, self.sleep) {
            (PowerState::FastWake, Sleep::Hybrid) => Some(self.link.hybrid_hold),
            (PowerState::FastWake, _) => None,
            _ => self.link.refresh.map(|refresh| refresh.t_q),
        };
        self.enter(now, self.sleeper, lasts);
        if self.chooses && self.sleeper == PowerState::FastWake {
            self.runs_out = now.saturating_add(self.link.hybrid_hold);
        }
    }

    /// Calls `visit` with the register that counts time, as it is at the beginning of cycle `now`.
    pub fn time_registers(&self, now: u64, visit: &mut impl FnMut(&'static str, u64)) {
        let left = match self.held {
            Some(longest_up) => longest_up - 1,
            None => self.runs_out.saturating_sub(now),
        };
        visit("u_lpi_fsm.cycles_q", left);
    }

    /// The clock edge at the end of cycle `now`. `down_start` begins a transition down
    /// from `Wake` and, if the ends agree about it, from `FastWake`; `up_start` wakes a link
    /// that sleeps.
    #[inline]
    pub fn clock(&mut self, now: u64, down_start: bool, up_start: bool) {
        if let Some(longest_up) = self.held {
            // The first cycle with a link again.
            *self = self.clone().going_up(now.saturating_add(longest_up - 1));
        }
        let over = self.last_cycle == Some(now);
        let deepens = if self.agrees {
            down_start && self.sleep == Sleep::Hybrid
        } else {
            over
        };
        match self.state {
            PowerState::Wake => {
                if down_start {
                    self.sleep = self.chosen;
                    let first = match self.sleep {
                        Sleep::DeepSleep => PowerState::DeepSleep,
                        Sleep::FastWake | Sleep::Hybrid => PowerState::FastWake,
                    };
                    self.go_down(now, first);
                }
            }
            PowerState::GoingDown if over && up_start => self.go_up(now),
            PowerState::GoingDown if over => self.fall_asleep(now),
            PowerState::GoingUp if over => self.enter(now, PowerState::Wake, None),
            PowerState::GoingDown | PowerState::GoingUp => {}
            _ if up_start => self.go_up(now),
            PowerState::FastWake if deepens => self.go_down(now, PowerState::DeepSleep),
            PowerState::DeepSleep if over => {
                let lasts = self.link.refresh.map(|refresh| refresh.t_r);
                self.enter(now, PowerState::Refresh, lasts);
            }
            PowerState::Refresh if over => self.fall_asleep(now),
            PowerState::FastWake | PowerState::DeepSleep | PowerState::Refresh => {}
        }
    }
}
