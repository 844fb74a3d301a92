//! What PerfBound promises for a port, and what came of it.
//!
//! PerfBound 2.4: "in a period of duration X, we can delay up to N packets", `N = l X / t_w` with
//! `l = bound * sum(p_i / h_i)` (SPEC 7.2), each for the `t_w` that its link needs to wake. So in a
//! run that lasts `X`, packets of a port may wait for its link for `l X` together: the port's
//! *budget*. What they did wait is [`PortSummary::sleep_delay_ps`].
//!
//! [`PortSummary::sleep_delay_ps`]: super::PortSummary::sleep_delay_ps

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{FromPrimitive, ToPrimitive};

use super::topology::hop_counts::by_class;
use super::topology::Topology;
use super::RunSummary;
use crate::config::{Config, PerfBound};

/// The budgets of the ports of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// `l` of each class of ports.
    factors: Vec<BigRational>,
    /// `t_w` of the configured sleep state, in ps.
    t_w_ps: u64,
}

/// How ports used their budgets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BudgetUse {
    /// Ports whose packets waited longer than the budget.
    pub ports_over_budget: u64,
    /// The longest wait of a port, as a multiple of its budget; 0 where none waited.
    pub worst: f64,
    /// The number of the first port that used its budget that much; none where none waited.
    pub worst_port: Option<usize>,
}

impl Budget {
    /// Of the ports that `config` governs, whose classes have `configs`
    /// ([`super::event::configs_of`]); `None` if no bound governs them.
    ///
    /// Ports that measure their hop counts (`hops = "measured"`) are judged by those of the
    /// routing under uniform traffic.
    pub fn of(config: &Config, configs: &[Config], topology: &dyn Topology) -> Option<Self> {
        if !config.is_bounded() {
            return None;
        }
        let counted = match config.perfbound {
            PerfBound::Measured { .. } => by_class(topology),
            _ => Vec::new(),
        };
        let factor = |(class, config): (usize, &Config)| {
            let measured = match &config.perfbound {
                PerfBound::Measured { bound } => {
                    let hops = counted.get(class).and_then(|counts| counts.factor());
                    let hops = hops.and_then(BigRational::from_f64);
                    hops.map(|hops| hops * bound.to_ratio())
                }
                _ => None,
            };
            measured.unwrap_or_else(|| config.degradation_factor())
        };
        Some(Self {
            factors: configs.iter().enumerate().map(factor).collect(),
            t_w_ps: config.t_w_ps(),
        })
    }

    /// `N = floor(l X / t_w)` of each class of ports, where `X` is `run_ps`.
    pub fn wake_ups(&self, run_ps: u64) -> Vec<u64> {
        let per_factor = BigRational::new(run_ps.into(), BigInt::from(self.t_w_ps.max(1)));
        let of = |factor: &BigRational| (factor * &per_factor).to_integer().to_u64();
        let all = self.factors.iter().map(of);
        all.map(|count| count.unwrap_or(u64::MAX)).collect()
    }

    /// `l X` of each class of ports, where `X` is `run_ps`: how long packets of a port may wait
    /// for its link, in ps.
    pub fn waits_ps(&self, run_ps: u64) -> Vec<f64> {
        let factors = self.factors.iter().map(|factor| factor.to_f64());
        factors
            .map(|factor| factor.unwrap_or(0.0) * run_ps as f64)
            .collect()
    }

    /// How the ports of a run used their budgets `l X`, where `X` is the run.
    pub fn usage(&self, run: &RunSummary, topology: &dyn Topology) -> BudgetUse {
        let budgets = self.waits_ps(run.duration_ps());
        let mut found = BudgetUse {
            ports_over_budget: 0,
            worst: 0.0,
            worst_port: None,
        };
        for (number, port) in run.ports.iter().enumerate().filter(|(_, port)| port.cabled) {
            let part = port_use(port.sleep_delay_ps, budgets[topology.class(number)]);
            found.ports_over_budget += u64::from(part > 1.0);
            if part > found.worst {
                found.worst = part;
                found.worst_port = Some(number);
            }
        }
        found
    }
}

/// A wait of so many ps as a multiple of a budget in ps.
fn port_use(delay_ps: u64, budget_ps: f64) -> f64 {
    match delay_ps {
        0 => 0.0,
        // A bound of 0 has no budget at all: the greatest number that JSON has.
        _ if budget_ps <= 0.0 => f64::MAX,
        delay => delay as f64 / budget_ps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::tests::run;
    use crate::network::event::configs_of;
    use crate::network::topology::SingleSwitch;

    fn config(text: &str) -> Config {
        Config::parse(text, "port.toml").unwrap()
    }

    const PORT: &str = "[port]\npolicy = \"perfbound\"\nsleep = \"deep-sleep\"\n\
                        [states.deep-sleep]\nt_w_ns = 4480\n";

    /// All packets on a single switch take 2 links: `l = 0.02 / 2`. In 10 ms a port may keep
    /// packets waiting for 0.1 ms, which is 22 wake-ups of 4.48 us.
    #[test]
    fn budgets_of_a_switch() {
        let topology = SingleSwitch { nodes: 2 };
        let run_ps = 10_000_000_000;
        for hops in ["", "hops = \"measured\"\n", "hops = [[4, 1.0]]\n"] {
            let config = config(&format!("{PORT}[perfbound]\nbound = 0.02\n{hops}"));
            let configs = configs_of(&config, &topology);
            let budget = Budget::of(&config, &configs, &topology).unwrap();
            assert!(
                budget.wake_ups(run_ps).iter().all(|&count| count == 22),
                "{hops}"
            );
        }
        let given = config(&format!("{PORT}[perfbound]\nhop_factor = 0.01\n"));
        let configs = configs_of(&given, &topology);
        let budget = Budget::of(&given, &configs, &topology).unwrap();
        // 22 * 4.48 us are 98.56 us; one more needs 103.04 us: the floor, exactly.
        assert_eq!(budget.wake_ups(10_304_000_000 - 1)[0], 22);
        assert_eq!(budget.wake_ups(10_304_000_000)[0], 23);

        let mut run = run(&[[10_000_000, 0, 0, 0, 0, 0]; 4], 10_000_000);
        let used = budget.usage(&run, &topology);
        let nothing = BudgetUse {
            ports_over_budget: 0,
            worst: 0.0,
            worst_port: None,
        };
        assert_eq!(used, nothing);
        // Exactly the budget of 0.1 ms, less, 1.5 times, and more at a port without a cable.
        run.ports[0].sleep_delay_ps = 100_000_000;
        run.ports[1].sleep_delay_ps = 150_000_000;
        run.ports[2].sleep_delay_ps = 4_480_000;
        run.ports[3].sleep_delay_ps = 300_000_000;
        run.ports[3].cabled = false;
        let used = budget.usage(&run, &topology);
        assert_eq!((used.ports_over_budget, used.worst_port), (1, Some(1)));
        assert!((used.worst - 1.5).abs() < 1e-12, "{}", used.worst);
    }

    #[test]
    fn a_fixed_threshold_has_no_budget() {
        let fixed = config("[port]\npolicy = \"fixed\"\n");
        assert_eq!(Budget::of(&fixed, &[], &SingleSwitch { nodes: 2 }), None);
        assert_eq!((port_use(0, 0.0), port_use(1, 0.0)), (0.0, f64::MAX));
    }
}
