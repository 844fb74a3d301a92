//! What could be saved: the ideal energy (SPEC 11, POWAR's reference) and the offline optimum
//! (SPEC 13), both from the idle periods of links that never sleep ([`LinkIdle`]).
//!
//! A link sleeps as a whole: what it saves is twice what one of its ends does. Where each direction
//! sleeps for itself (SPEC 14), it saves half of that, and has idle periods and wake-ups of its
//! own.

use serde::Serialize;

use super::{EnergyReport, Joules, LinkPower, Power};
use crate::config::plan::Sleep;
use crate::config::Config;
use crate::network::budget::Budget;
use crate::network::event::link_idle::{Lengths, LinkIdle, Sleeper};
use crate::network::topology::Topology;
use crate::network::RunSummary;

/// Attojoules, a microwatt over a picosecond, to the joule.
const JOULE: f64 = 1e18;

/// A sleep state.
#[derive(Clone, Copy, Debug, PartialEq)]
struct State {
    /// Power of one end that it saves against `Wake`, in uW.
    saves: f64,
    /// Time to go there and back, at the power of `Wake`, in ps.
    t_s: f64,
    t_w: f64,
    /// Ps of quiet before each refresh, and of the refresh, which saves nothing.
    refresh: Option<(f64, f64)>,
}

impl State {
    /// How much of the first `asleep` ps there is no refresh.
    fn quiet(&self, asleep: f64) -> f64 {
        match self.refresh {
            None => asleep,
            Some((t_q, t_r)) => {
                let refreshed = (asleep / (t_q + t_r)).floor();
                refreshed * t_q + (asleep - refreshed * (t_q + t_r)).min(t_q)
            }
        }
    }

    /// A line and how far [`State::quiet`] rises above it: the share of a long sleep that is quiet, and
    /// ps.
    fn mean_quiet(&self) -> (f64, f64) {
        match self.refresh {
            None => (1.0, 0.0),
            Some((t_q, t_r)) => (t_q / (t_q + t_r), t_q * t_r / (t_q + t_r)),
        }
    }
}

/// The states that links may sleep in.
#[derive(Clone, Debug, PartialEq)]
pub struct SleepStates {
    states: Vec<State>,
    /// The most power of one end that sleeping saves, in uW.
    most: f64,
    /// Ends that sleep together.
    ends: f64,
}

impl SleepStates {
    /// Those that a configuration's `port.sleep` leads to; of `hybrid` both, whichever saves more.
    pub fn of(config: &Config, link: &LinkPower) -> Self {
        let states = &config.states;
        let saved = |power: Power| link.wake.0.saturating_sub(power.0) as f64;
        let state = |saves, of: &crate::config::SleepState| State {
            saves,
            t_s: of.t_s_ps as f64,
            t_w: of.t_w_ps as f64,
            refresh: None,
        };
        let refresh = states.refresh.as_ref();
        let fast = state(saved(link.fast_wake), &states.fast_wake);
        let deep = State {
            refresh: refresh.map(|refresh| (refresh.t_q_ps as f64, refresh.t_r_ps as f64)),
            ..state(saved(link.deep_sleep), &states.deep_sleep)
        };
        let (states, most) = match config.port.sleep {
            Sleep::FastWake => (vec![fast], fast.saves),
            Sleep::DeepSleep => (vec![deep], deep.saves),
            Sleep::Hybrid => (vec![fast, deep], deep.saves.max(fast.saves)),
        };
        let ends = Sleeper::of(config).ends() as f64;
        Self { states, most, ends }
    }

    /// The most of these ps, at the power that a state saves, in J of a link or a direction.
    fn most_of(&self, quiet: impl Fn(&State) -> f64) -> f64 {
        let of = |state: &State| state.saves * quiet(state).max(0.0);
        self.ends / JOULE * self.states.iter().map(of).fold(0.0, f64::max)
    }

    /// What a link, or a direction, saves if it sleeps through an idle period of so many ps and is
    /// awake at its end, in J. The longer the period the more.
    fn through(&self, ps: f64) -> f64 {
        self.most_of(|state| state.quiet((ps - state.t_s - state.t_w).max(0.0)))
    }

    /// What a link, or a direction, saves that sleeps to the end of the run, so many ps.
    fn to_the_end(&self, ps: f64) -> f64 {
        self.most_of(|state| state.quiet((ps - state.t_s).max(0.0)))
    }

    /// No less than the mean of [`SleepStates::through`] over periods from `shortest` to `longest`
    /// whose mean is `mean`, all in ps.
    fn at_most(&self, shortest: f64, mean: f64, longest: f64) -> f64 {
        // What is convex lies below its chord.
        let chord = |convex: &dyn Fn(f64) -> f64| {
            let (low, high) = (convex(shortest), convex(longest));
            low + (high - low) * (mean - shortest) / (longest - shortest)
        };
        // There is no refresh, or there are as many as in a long sleep but for the first quiet time.
        let asleep = |state: &State, ps: f64| (ps - state.t_s - state.t_w).max(0.0);
        let never = chord(&|ps| self.most_of(|state| asleep(state, ps)));
        let ever = chord(&|ps| self.most_of(|state| state.mean_quiet().0 * asleep(state, ps)));
        never.min(ever + self.most_of(|state| state.mean_quiet().1))
    }

    /// The best that a link, or a direction, can do with these idle periods and so many wake-ups.
    fn best(&self, lengths: &Lengths, wake_ups: u64) -> Saved {
        let mut best = Saved::default();
        let mut left = wake_ups;
        // All wake-ups cost the same: the longest first.
        for bin in lengths.bins().iter().rev() {
            let periods = u64::from(bin.periods);
            let taken = periods.min(left);
            let (shortest, longest) = (bin.shortest_ps() as f64, bin.longest_ps() as f64);
            if taken == 0 || self.through(longest) == 0.0 {
                break;
            }
            left -= taken;
            let (count, mean) = (taken as f64, bin.mean_ps());
            let least = self.through(mean);
            // The longest of a bin are as long as its mean at least; and those that are left are
            // no shorter than its shortest.
            let rest = (periods - taken) as f64 * shortest;
            let top = ((bin.ps as f64 - rest) / count).min(longest);
            let most = match periods {
                1 => least,
                _ => self.at_most(shortest, top, longest),
            };
            best.saved_j += count * least;
            best.saved_j_at_most += count * most.max(least);
            best.wake_ups += if least > 0.0 { taken } else { 0 };
        }
        best
    }

    /// Sums the best of every link, and what they save after their last packet, for which no
    /// wake-up is needed.
    fn best_of(
        &self,
        base: &AlwaysOn,
        mut best: impl FnMut(&([usize; 2], LinkIdle)) -> Saved,
    ) -> Optimum {
        let mut sum = Saved::default();
        for link in &base.links {
            let (found, end) = (best(link), self.to_the_end(link.1.after_ps as f64));
            sum.saved_j += found.saved_j + end;
            sum.saved_j_at_most += found.saved_j_at_most + end;
            sum.wake_ups += found.wake_ups;
        }
        Optimum {
            saved_j: sum.saved_j,
            saved_j_at_most: sum.saved_j_at_most.max(sum.saved_j),
            saved_percent: percent(sum.saved_j, base.energy.links),
            wake_ups: sum.wake_ups,
        }
    }
}

/// What a link can save.
#[derive(Clone, Copy, Debug, Default)]
struct Saved {
    saved_j: f64,
    saved_j_at_most: f64,
    wake_ups: u64,
}

/// A part in percent; none of nothing.
fn percent(part: f64, of: f64) -> Option<f64> {
    (of > 0.0).then(|| 100.0 * part / of)
}

/// A run whose links never slept, as far as limits depend on it.
#[derive(Clone, Debug, PartialEq)]
pub struct AlwaysOn {
    /// The numbers of each link's ends, and what it did; of each direction twice the number of the
    /// end that sends.
    links: Vec<([usize; 2], LinkIdle)>,
    /// The run, in ps.
    pub run_ps: u64,
    /// Its energy.
    pub energy: Joules,
}

impl AlwaysOn {
    /// Of a run that kept the idle periods of its links, or of their directions; `None` of others.
    pub fn new(
        run: &RunSummary,
        energy: &EnergyReport,
        sleeper: Sleeper,
        topology: &dyn Topology,
    ) -> Option<Self> {
        let first = |(port, summary): (usize, &crate::network::PortSummary)| {
            let idle = summary.link_idle.clone()?;
            let other = match sleeper {
                Sleeper::Link => topology.peer(port)?,
                Sleeper::Direction => port,
            };
            Some(([port, other], idle))
        };
        let links: Vec<_> = run.ports.iter().enumerate().filter_map(first).collect();
        (!links.is_empty()).then(|| Self {
            links,
            run_ps: run.duration_ps(),
            energy: energy.joules(),
        })
    }
}

/// The same run if every link slept whenever no packet is on it, in the state that saves most,
/// and came and went in no time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ideal {
    /// Its energy.
    pub energy_j: Scope,
    /// What it saves against links that never sleep, in percent; none where there is no energy.
    pub saved_percent: Scope<Option<f64>>,
}

/// A figure of the links, of links and switches, and of everything.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scope<T = f64> {
    /// The links.
    pub links: T,
    /// The links and the switches.
    pub network: T,
    /// Links, switches and nodes.
    pub total: T,
}

/// The most that links can save with a number of wake-ups (SPEC 13).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Optimum {
    /// Against links that never sleep, in J, if the periods of a bin of [`Lengths`] have its mean length.
    pub saved_j: f64,
    /// It is no more than this, whatever the lengths within the bins.
    pub saved_j_at_most: f64,
    /// `saved_j` of the energy of the links that never sleep, in percent; none where that is 0.
    pub saved_percent: Option<f64>,
    /// Wake-ups of all links that it takes.
    pub wake_ups: u64,
}

/// What could be saved in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// With links that sleep whenever they are idle.
    pub ideal: Ideal,
    /// With the wake-ups that the bound admits; none without a bound.
    pub at_bound: Option<Optimum>,
    /// With as many wake-ups at each link as it had in the run.
    pub at_own_wake_ups: Optimum,
}

impl Limits {
    /// What could be saved in `run`, of which `base` is the one with links that never sleep, on
    /// `topology`. The `budget` of a port says how many wake-ups of its link its packets may wait
    /// for in the time of `base`.
    pub fn new(
        base: &AlwaysOn,
        states: &SleepStates,
        run: &RunSummary,
        budget: Option<&Budget>,
        topology: &dyn Topology,
    ) -> Self {
        let at_bound = budget.map(|budget| {
            let wake_ups = budget.wake_ups(base.run_ps);
            states.best_of(base, |(ends, idle)| {
                let of = |end: usize| {
                    let wake_ups = wake_ups[topology.class(ends[end])];
                    states.best(&idle.ended_by[end], wake_ups)
                };
                let (first, other) = (of(0), of(1));
                Saved {
                    saved_j: first.saved_j + other.saved_j,
                    saved_j_at_most: first.saved_j_at_most + other.saved_j_at_most,
                    wake_ups: first.wake_ups + other.wake_ups,
                }
            })
        });
        let at_own_wake_ups = states.best_of(base, |(ends, idle)| {
            let all = idle.ended_by[0].with(&idle.ended_by[1]);
            states.best(&all, run.ports[ends[0]].cycles.wake_ups)
        });
        Self {
            ideal: ideal(base, states),
            at_bound,
            at_own_wake_ups,
        }
    }
}

fn ideal(base: &AlwaysOn, states: &SleepStates) -> Ideal {
    let idle = base.links.iter().map(|(_, link)| {
        let idle = base.run_ps - link.busy_ps;
        states.ends / JOULE * states.most * idle as f64
    });
    let saved: f64 = idle.sum();
    let Joules {
        links,
        switches,
        nodes,
        ..
    } = base.energy;
    let of = |all: f64| (all - saved, percent(saved, all));
    let (links, network, total) = (
        of(links),
        of(links + switches),
        of(links + switches + nodes),
    );
    Ideal {
        energy_j: Scope {
            links: links.0,
            network: network.0,
            total: total.0,
        },
        saved_percent: Scope {
            links: links.1,
            network: network.1,
            total: total.1,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::topology::SingleSwitch;
    use proptest::prelude::*;

    fn lengths(all: &[u64]) -> Lengths {
        let mut lengths = Lengths::default();
        all.iter().for_each(|&ps| lengths.record(ps));
        lengths
    }

    fn states(sleep: &str) -> SleepStates {
        let text = format!("[port]\npolicy = \"fixed\"\nsleep = \"{sleep}\"\n");
        let config = Config::parse(&text, "port.toml").unwrap();
        SleepStates::of(&config, &LinkPower::default())
    }

    fn base(links: Vec<LinkIdle>, run_ps: u64) -> AlwaysOn {
        let ends = 2 * links.len();
        let joules = |watts: f64| watts * run_ps as f64 / 1e12;
        AlwaysOn {
            links: (0..)
                .step_by(2)
                .map(|port| [port, port + 1])
                .zip(links)
                .collect(),
            run_ps,
            energy: Joules {
                links: joules(24.0 * ends as f64),
                switches: joules(250.0),
                nodes: joules(800.0),
                network: joules(24.0 * ends as f64 + 250.0),
                total: joules(24.0 * ends as f64 + 1050.0),
            },
        }
    }

    fn close(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() <= 1e-9 * expected.abs(),
            "{found} {expected}"
        );
    }

    /// The example of docs/reference/metrics.md: the PerfBound paper's deep sleep (Table 8: 24 W
    /// and 2.4 W, 2 us down, 4.48 us up) on one link, in 1 ms of which 100 us are busy.
    #[test]
    fn one_link_by_hand() {
        let us = 1_000_000;
        let idle = LinkIdle {
            busy_ps: 100 * us,
            ended_by: [
                lengths(&[6 * us, 106_480_000, 206_480_000]),
                lengths(&[56_480_000, 306_480_000]),
            ],
            after_ps: 218_080_000,
        };
        assert_eq!(idle.run_ps(), 1000 * us);
        let base = base(vec![idle], 1000 * us);
        let states = states("deep-sleep");
        let mut run = crate::energy::tests::run(&[[1_000_000, 0, 0, 0, 0, 0]; 2], 1_000_000);
        run.ports[0].cycles.wake_ups = 3;
        // Two ends save 21.6 W each, after 2 us and before the last 4.48 us of a period: 100, 200
        // us of the first end; 50, 300 us of the other; 6 us save nothing. After the last packet:
        // 216.08 us.
        let saved = |us: f64| 2.0 * 21.6 * us * 1e-6;
        // The first end is a port of the switch, the other one a NIC. In 1 ms a factor of 0.00448
        // admits a wake-up of 4.48 us; half of one more does not count.
        let topology = SingleSwitch { nodes: 1 };
        let config = |wake_ups: u64| {
            let factor = (wake_ups as f64 + 0.5) * 0.00448;
            let text = format!(
                "[port]\npolicy = \"perfbound\"\nsleep = \"deep-sleep\"\n[perfbound]\n\
                 bound = 0.1\nhop_factor = {factor:.5}\n"
            );
            Config::parse(&text, "port.toml").unwrap()
        };
        for (wake_ups, asleep, taken) in [
            ((0, 0), 0.0, 0),
            ((1, 0), 200.0, 1),
            ((1, 1), 500.0, 2),
            ((2, 1), 600.0, 3),
            ((9, 9), 650.0, 4),
        ] {
            let configs = [config(wake_ups.1), config(wake_ups.0)];
            let budget = Budget::of(&configs[0], &configs, &topology).unwrap();
            let found = Limits::new(&base, &states, &run, Some(&budget), &topology);
            let optimum = found.at_bound.unwrap();
            close(optimum.saved_j, saved(asleep + 216.08));
            close(optimum.saved_j_at_most, optimum.saved_j);
            assert_eq!(optimum.wake_ups, taken);
            close(
                optimum.saved_percent.unwrap(),
                90.0 * (asleep + 216.08) / 1000.0,
            );
            // The three longest of both ends.
            close(found.at_own_wake_ups.saved_j, saved(600.0 + 216.08));
            assert_eq!(found.at_own_wake_ups.wake_ups, 3);
            // All 900 idle us, of 48 mJ, 298 mJ and 1.098 J.
            let Ideal {
                energy_j,
                saved_percent,
            } = found.ideal;
            close(energy_j.links, 0.048 - saved(900.0));
            close(energy_j.network, 0.298 - saved(900.0));
            close(energy_j.total, 1.098 - saved(900.0));
            close(saved_percent.links.unwrap(), 81.0);
            close(saved_percent.network.unwrap(), 100.0 * saved(900.0) / 0.298);
            close(saved_percent.total.unwrap(), 100.0 * saved(900.0) / 1.098);
        }
        let none = Limits::new(&base, &states, &run, None, &topology);
        assert_eq!(none.at_bound, None);
    }

    /// Hybrid sleeps through a period in the state that saves more; refreshes lower what deep
    /// sleep saves.
    #[test]
    fn states_and_refreshes() {
        let joules = |watts: f64, ns: f64| 2.0 * watts * ns * 1e-9;
        let hybrid = states("hybrid");
        // Fast wake: 14.4 W after 575 ns. Deep sleep: 21.6 W after 6,480 ns.
        close(hybrid.through(10_000e3), joules(14.4, 9425.0));
        close(hybrid.through(100_000e3), joules(21.6, 93_520.0));
        close(
            states("fast-wake").through(100_000e3),
            joules(14.4, 99_425.0),
        );
        assert_eq!(hybrid.through(575e3), 0.0);
        let text = "[port]\npolicy = \"fixed\"\nsleep = \"deep-sleep\"\n\
                    [states.deep-sleep]\nt_q_ns = 3000\nt_r_ns = 1000\n";
        let config = Config::parse(text, "port.toml").unwrap();
        let refreshing = SleepStates::of(&config, &LinkPower::default());
        close(
            refreshing.through(106_480e3),
            joules(0.75 * 21.6, 100_000.0),
        );
        close(
            refreshing.to_the_end(102_000e3),
            joules(0.75 * 21.6, 100_000.0),
        );
        // A sleep that ends before its first refresh has none, and one that ends in it has begun it.
        for (asleep, quiet) in [(2_000.0, 2_000.0), (3_500.0, 3_000.0), (4_100.0, 3_100.0)] {
            close(
                refreshing.through((6_480.0 + asleep) * 1e3),
                joules(21.6, quiet),
            );
        }
        // Ideal sleep needs no refresh.
        assert_eq!(refreshing.most, 21.6e6);
    }

    /// The same with refreshes of 3 us after each 10 us of quiet.
    fn refreshing(sleep: &str) -> SleepStates {
        let text = format!(
            "[port]\npolicy = \"fixed\"\nsleep = \"{sleep}\"\n\
             [states.deep-sleep]\nt_q_ns = 10000\nt_r_ns = 3000\n"
        );
        SleepStates::of(
            &Config::parse(&text, "port.toml").unwrap(),
            &LinkPower::default(),
        )
    }

    /// The most that any set of periods within the budget saves.
    fn brute_force(states: &SleepStates, periods: &[u64], wake_ups: u64) -> f64 {
        let sets = 0_u32..1 << periods.len();
        let within = sets.filter(|set| u64::from(set.count_ones()) <= wake_ups);
        let saved = within.map(|set| {
            let taken = periods.iter().enumerate();
            let taken = taken.filter(|(place, _)| set >> place & 1 == 1);
            taken.map(|(_, &ps)| states.through(ps as f64)).sum()
        });
        saved.fold(0.0, f64::max)
    }

    proptest! {
        /// Against every set of periods: the optimum lies within what is told, and is met where
        /// every length has a bin of its own, or all periods of a bin are slept through.
        #[test]
        fn no_set_of_periods_saves_more(
            // From 0.1 us to 100 us, often in the same bin.
            periods in proptest::collection::vec((100_000_u64..110_000, 0_u32..11), 1..9),
            wake_ups in 0_u64..10,
            sleep in prop_oneof![Just("fast-wake"), Just("deep-sleep"), Just("hybrid")],
        ) {
            let states = states(sleep);
            let periods: Vec<u64> = periods.iter().map(|(ps, octave)| ps << octave).collect();
            // With refreshes the mean of a bin does not say which of its periods have one.
            let refreshing = refreshing(sleep);
            let most = refreshing.best(&lengths(&periods), wake_ups).saved_j_at_most;
            prop_assert!(brute_force(&refreshing, &periods, wake_ups) <= most * (1.0 + 1e-12));
            let all = lengths(&periods);
            let found = states.best(&all, wake_ups);
            let best = brute_force(&states, &periods, wake_ups);
            let rounding = 1e-12 * best;
            prop_assert!(found.saved_j <= best + rounding, "{} {best}", found.saved_j);
            prop_assert!(best <= found.saved_j_at_most + rounding);
            prop_assert!(found.wake_ups <= wake_ups);
            // A bin is a sixteenth wide, and its mean at least its shortest.
            let width = periods.iter().map(|&ps| states.through(ps as f64 * 17.0 / 16.0)).fold(0.0, f64::max)
                - periods.iter().map(|&ps| states.through(ps as f64)).fold(0.0, f64::max);
            prop_assert!(found.saved_j_at_most - found.saved_j <= wake_ups as f64 * width + 1e-9);
            if all.bins().iter().all(|bin| bin.periods == 1) {
                prop_assert!((found.saved_j - best).abs() <= rounding);
                prop_assert!((found.saved_j_at_most - best).abs() <= rounding);
            }
        }
    }
}
