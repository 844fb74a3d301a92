//! How long an idle end takes to go to sleep, at most (SPEC 3).

use crate::blocks::link_sync;
use crate::config::plan::{Policy, PortPlan, SyncPlan};

/// How long an end that stays idle in an awake link can take to leave `Wake`, in clock cycles
/// (SPEC 3); see [`SleepBound::of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepBound {
    /// From the end of activity to the end of the tick in which the longest timer expires.
    pub timer: u64,
    /// A timer that expired in vain has been repeated by so many cycles of rest.
    pub(super) repeated: u64,
    /// With a guard: within so many cycles awake its bucket holds a token.
    pub guard: u64,
    /// The wait for an answer to a request.
    pub(super) wait: u64,
    /// All of it.
    pub total: u64,
}

impl SleepBound {
    /// The bound of the ports of `plan`; `None` if there is none: a port that never sleeps by
    /// itself, one without a backstop, or times beyond 2^64 cycles.
    ///
    /// With messages: the timer expires, or has expired in vain (during START, or without a token)
    /// and is repeated after a time-out; then the request is answered, or the
    /// other end counts as silent, and must stay awake.
    pub fn of(plan: &PortPlan) -> Option<Self> {
        if plan.policy == Policy::AlwaysOn {
            return None;
        }
        let longest = match plan.sync {
            SyncPlan::Lpi => plan.longest_threshold(),
            SyncPlan::Messages(_) | SyncPlan::Levels => {
                plan.longest_threshold().max(plan.t_backstop?)
            }
        };
        let ticks = longest.checked_add(1)?;
        let timer = ticks.checked_mul(plan.clocks_per_tick)?;
        let guard = match plan.guard {
            None => 0,
            Some(guard) => guard
                .ticks_to_token()?
                .checked_add(1)?
                .checked_mul(plan.clocks_per_tick)?,
        };
        let Some(sync) = plan.messages() else {
            return Some(Self {
                timer,
                repeated: 0,
                guard,
                wait: 0,
                total: timer.max(guard),
            });
        };
        let wait = link_sync::longest_timeout(plan, &sync) + 1;
        let repeated = link_sync::start_cycles(plan, &sync).max(guard.checked_add(1)?);
        let total = timer.max(repeated.checked_add(wait)?).checked_add(wait)?;
        Some(Self {
            timer,
            repeated,
            guard,
            wait,
            total,
        })
    }

    /// The same of a link, both of whose ends have ports of `plan` and stay idle; with messages,
    /// over a cable of so many clock cycles one way. It leaves `Wake` at both ends at once.
    ///
    /// In place of START, a request may have been refused, or accepted and withdrawn, shortly
    /// before, or refused by a guard without a token; one that is sent while both ends are idle
    /// and have tokens is accepted.
    pub fn of_link(plan: &PortPlan, delay: u64) -> Option<u64> {
        let bound = Self::of(plan)?;
        if plan.messages().is_none() {
            return Some(bound.total);
        }
        let messages = delay.checked_mul(3)?.checked_add(3)?;
        let refused = messages
            .checked_add(1)?
            .max(bound.guard.checked_add(delay + 3)?);
        let repeated = bound.repeated.max(refused).checked_add(bound.wait)?;
        bound.timer.max(repeated).checked_add(messages)
    }
}
