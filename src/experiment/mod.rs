//! One experiment: a scenario with a configuration of its ports, run and measured.
//!
//! `simulate`, `sweep` and programs that use this library run the same thing:
//!
//! ```no_run
//! use std::path::Path;
//!
//! use linkdoze::experiment;
//! use linkdoze::network::scenario::Scenario;
//!
//! let text = r#"
//!     [topology]
//!     nodes = 4
//!     [traffic]
//!     kind = "uniform"
//!     load = 0.01
//!     [power.port]
//!     policy = "fixed"
//!     t_pdt_ns = 100
//!     [run]
//!     duration_ns = "200 us"
//! "#;
//! let scenario = Scenario::parse(text, Path::new("example.toml"))?;
//! let result = experiment::run(&scenario, 1)?;
//! let saved = result.against.energy_links_saved_percent.unwrap_or(0.0);
//! println!("{} packets; the links draw {saved:.1} % less", result.run.measured.packets);
//! assert!(saved > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod measured;
mod verdict;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

#[cfg(test)]
pub(crate) use measured::tests::plausible;
pub use measured::{Against, Measured, Potential};
pub use verdict::{summary, Verdict};

use crate::config::plan::PortPlan;
use crate::config::{CoarseBins, Config, InputError, PlanError};
use crate::energy::limits::{AlwaysOn, Limits, SleepStates};
use crate::energy::{
    check_conservation, EnergyReport, LinkPower, Models, NotConserved, PowerRange, SystemPower,
};
use crate::network::budget::Budget;
use crate::network::event::link_idle::Sleeper;
use crate::network::event::{self, configs_of, Replacements};
use crate::network::scenario::Scenario;
use crate::network::topology::Topology;
use crate::network::{self, Progress, RunSummary, Workload};

/// What the controllers of networks cannot do ([`Config::notes`]), each line once. Of each network there
/// are the configurations of the classes of ports, or the one of all, and the names of the classes; a
/// line that is not true of all has its class in front, and that of [`CoarseBins`] all its classes.
pub fn notes(networks: &[(Vec<Config>, Vec<String>)]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut classes: BTreeSet<&str> = BTreeSet::new();
    let mut coarse: Vec<(CoarseBins, Vec<&str>)> = Vec::new();
    for (configs, names) in networks {
        let of_each: Vec<Vec<String>> = configs.iter().map(Config::other_notes).collect();
        let same = of_each.windows(2).all(|pair| pair[0] == pair[1]);
        let lines: Vec<String> = match same {
            true => of_each.into_iter().next().unwrap_or_default(),
            false => {
                let with_class = names.iter().zip(of_each);
                let line = |(class, notes): (&String, Vec<String>)| {
                    let line = |note| format!("{class}: {note}");
                    notes.into_iter().map(line).collect::<Vec<_>>()
                };
                with_class.flat_map(line).collect()
            }
        };
        for line in lines {
            if !notes.contains(&line) {
                notes.push(line);
            }
        }
        classes.extend(names.iter().map(String::as_str));
        for (class, config) in names.iter().zip(configs.iter().cycle()) {
            let Some(found) = config.coarse_bins() else {
                continue;
            };
            match coarse.iter_mut().find(|(known, _)| known.is_like(&found)) {
                Some((known, of)) => {
                    *known = known.clone().worse(found);
                    if !of.contains(&class.as_str()) {
                        of.push(class);
                    }
                }
                None => coarse.push((found, vec![class])),
            }
        }
    }
    let coarse = coarse
        .into_iter()
        .map(|(note, of)| match of.len() == classes.len() {
            true => note.to_string(),
            false => format!("{}: {note}", of.join(", ")),
        });
    notes.extend(coarse);
    notes
}

/// Clock period of controllers that do nothing, in ps, unless a packet is shorter.
const IDLE_CLOCK_PS: u64 = 1000;

/// An experiment that is not possible.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration of the ports cannot be used.
    #[error(transparent)]
    Input(#[from] InputError),
    /// It has no controller.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A power is out of range.
    #[error(transparent)]
    Power(#[from] PowerRange),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] network::Error),
    /// The run's times do not add up.
    #[error(transparent)]
    NotConserved(#[from] NotConserved),
}

/// A scenario, what its nodes run, and the controllers of its ports.
pub struct Experiment<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Its programs; none of a pattern.
    pub workload: Option<&'a Workload>,
    /// The configuration of the ports; none if links never sleep.
    pub config: Option<&'a Config>,
    /// That of each class of ports.
    pub configs: Vec<Config>,
    /// The same in the units of the hardware; empty if links never sleep.
    pub plans: Vec<PortPlan>,
    /// The powers of links, switches and nodes.
    pub power: SystemPower,
    /// What ports may spend of the bound; none if no bound governs them.
    pub budget: Option<Budget>,
}

/// A run, and what it measured.
pub struct Measurement {
    /// What the engine counted.
    pub summary: RunSummary,
    /// The energies of ports, switches and nodes.
    pub energy: EnergyReport,
    /// The models of the papers.
    pub models: Models,
    /// The figures.
    pub measured: Measured,
}

/// What power saving changed, and what it could have.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Against the same run with links that never sleep.
    pub against: Against,
    /// What could have been saved.
    pub limits: Option<Limits>,
    /// The same in percent, and the scores.
    pub potential: Potential,
    /// What became of the bound; none of links that cannot sleep.
    pub verdict: Option<Verdict>,
}

/// What comes of an experiment.
pub struct Outcome {
    /// The run.
    pub run: Measurement,
    /// The same with links that never sleep; none where that is `run` itself.
    pub always_on: Option<Measurement>,
    /// One against the other.
    pub against: Against,
    /// What could have been saved, and the scores.
    pub potential: Potential,
    /// What became of the bound; none of links that cannot sleep.
    pub verdict: Option<Verdict>,
}

/// Whom a run tells how far it has come, and asks whether to go on.
pub type Watch<'w> = &'w mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send);

/// Runs a scenario with its own `[power]`, and once more with links that never sleep.
///
/// # Errors
/// If a file that the scenario names cannot be used, or a run fails.
pub fn run(scenario: &Scenario, threads: usize) -> Result<Outcome, Error> {
    let workload = Workload::of(scenario)?;
    let config = scenario.power.config()?;
    let experiment = Experiment::new(scenario, workload.as_ref(), config.as_ref())?;
    let go_on: Watch = &mut |_| ControlFlow::Continue(());
    let own = experiment.run(threads, Replacements::new(), go_on)?;
    let run = experiment.measure(own, None);
    let always_on = match experiment.can_sleep() {
        false => None,
        true => {
            let always_on = experiment.run_always_on(threads, true, go_on)?;
            Some(experiment.measure_always_on(always_on, None))
        }
    };
    let best = always_on
        .as_ref()
        .and_then(|base| experiment.always_on(base));
    let base = always_on.as_ref().map(|base| &base.measured);
    let Comparison {
        against,
        potential,
        verdict,
        ..
    } = experiment.compare(&run, base, best.as_ref());
    Ok(Outcome {
        run,
        always_on,
        against,
        potential,
        verdict,
    })
}

impl<'a> Experiment<'a> {
    /// Makes the controllers of all ports.
    ///
    /// # Errors
    /// If the configuration has no controller, or a power is out of range.
    pub fn new(
        scenario: &'a Scenario,
        workload: Option<&'a Workload>,
        config: Option<&'a Config>,
    ) -> Result<Self, Error> {
        let topology: &dyn Topology = &*scenario.topology;
        let mut experiment = Self::without_controllers(scenario, workload, config)?;
        if let Some(config) = config {
            experiment.configs = configs_of(config, topology);
            let plans = experiment.configs.iter().map(Config::plan);
            experiment.plans = plans.collect::<Result<_, _>>()?;
            experiment.budget = Budget::of(config, &experiment.configs, topology);
        }
        Ok(experiment)
    }

    /// With links that never sleep, whose powers and clock are those of a configuration.
    ///
    /// # Errors
    /// If a power is out of range.
    pub fn without_controllers(
        scenario: &'a Scenario,
        workload: Option<&'a Workload>,
        config: Option<&'a Config>,
    ) -> Result<Self, Error> {
        let link = match config {
            Some(config) => LinkPower::of_states(&config.states)?,
            None => LinkPower::default(),
        };
        Ok(Self {
            scenario,
            workload,
            config,
            configs: Vec::new(),
            plans: Vec::new(),
            power: SystemPower::new(link, &scenario.devices),
            budget: None,
        })
    }

    /// What sleeps as a whole; links, if none ever does.
    pub fn sleeper(&self) -> Sleeper {
        self.config.map_or(Sleeper::Link, Sleeper::of)
    }

    /// Whether there are controllers.
    pub fn can_sleep(&self) -> bool {
        !self.plans.is_empty()
    }

    /// Runs the scenario. Links that never sleep keep their idle periods.
    ///
    /// # Errors
    /// If the run fails, or its times do not add up.
    pub fn run(
        &self,
        threads: usize,
        replacements: Replacements,
        watch: Watch,
    ) -> Result<RunSummary, Error> {
        let metered = (!self.can_sleep()).then(|| self.sleeper());
        self.run_with(&self.plans, metered, threads, replacements, watch)
    }

    /// Runs the scenario with links that never sleep; `metered`: their idle periods are kept.
    ///
    /// # Errors
    /// If the run fails, or its times do not add up.
    pub fn run_always_on(
        &self,
        threads: usize,
        metered: bool,
        watch: Watch,
    ) -> Result<RunSummary, Error> {
        let metered = metered.then(|| self.sleeper());
        self.run_with(&[], metered, threads, Replacements::new(), watch)
    }

    fn run_with(
        &self,
        plans: &[PortPlan],
        metered: Option<Sleeper>,
        threads: usize,
        replacements: Replacements,
        watch: Watch,
    ) -> Result<RunSummary, Error> {
        let clock = self.config.map(|config| config.clock.period_ps);
        let switch = &self.scenario.switch;
        let shortest = switch.link_time(switch.min_packet);
        let power = event::Power {
            clock_ps: clock.unwrap_or(IDLE_CLOCK_PS.min(shortest)),
            plans,
            metered,
        };
        let (scenario, workload) = (self.scenario, self.workload);
        let run = network::run(scenario, workload, &power, threads, replacements, watch)?;
        check_conservation(&run)?;
        Ok(run)
    }

    /// The figures of a run of [`Experiment::run`], which took this CPU time, in s.
    pub fn measure(&self, summary: RunSummary, cpu_seconds: Option<f64>) -> Measurement {
        self.measured(summary, self.can_sleep(), cpu_seconds)
    }

    /// The figures of a run of [`Experiment::run_always_on`].
    pub fn measure_always_on(&self, summary: RunSummary, cpu_seconds: Option<f64>) -> Measurement {
        self.measured(summary, false, cpu_seconds)
    }

    fn measured(&self, summary: RunSummary, can_sleep: bool, cpu: Option<f64>) -> Measurement {
        let topology: &dyn Topology = &*self.scenario.topology;
        let switches = topology.switches();
        let energy = self.power.energy(switches, &summary);
        let models = Models::new(&self.power.link, switches, &summary, &energy);
        let budget = self.budget.as_ref().filter(|_| can_sleep);
        let used = budget.map(|budget| budget.usage(&summary, topology));
        let byte_ps = self.scenario.switch.byte_ps;
        let used = used.as_ref();
        Measurement {
            measured: Measured::new(&summary, byte_ps, can_sleep, &energy, &models, used, cpu),
            summary,
            energy,
            models,
        }
    }

    /// What the limits of runs with controllers depend on, from the run with links that never
    /// sleep; none if its idle periods were not kept.
    pub fn always_on(&self, base: &Measurement) -> Option<AlwaysOn> {
        let topology: &dyn Topology = &*self.scenario.topology;
        AlwaysOn::new(&base.summary, &base.energy, self.sleeper(), topology)
    }

    /// A run against the one with links that never sleep, as far as there is one.
    pub fn compare(
        &self,
        run: &Measurement,
        base: Option<&Measured>,
        always_on: Option<&AlwaysOn>,
    ) -> Comparison {
        let against = base.map_or(Against::default(), |base| Against::new(&run.measured, base));
        // Where a link sends by low lanes, what idle periods allow is no limit.
        let always_on = always_on.filter(|_| self.scenario.switch.link_lanes.is_none());
        let limits = self.config.zip(always_on).map(|(config, always_on)| {
            let states = SleepStates::of(config, &self.power.link);
            let topology: &dyn Topology = &*self.scenario.topology;
            let budget = self.budget.as_ref();
            Limits::new(always_on, &states, &run.summary, budget, topology)
        });
        let potential = limits.as_ref().map_or(Potential::default(), |limits| {
            Potential::new(limits, &against)
        });
        let verdict = self.config.map(|config| {
            let configured = config.bound().map(|bound| bound.to_f64());
            Verdict::new(configured, &run.measured, &against)
        });
        Comparison {
            against,
            limits,
            potential,
            verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_note_says_of_all_classes_that_bins_are_too_coarse() {
        let network = |factors: [&str; 2]| {
            let config = |factor: &str| {
                let text =
                    format!("[perfbound]\nhop_factor = {factor}\n[histogram]\nbin_ns = 16384\n");
                Config::parse(&text, "a").unwrap()
            };
            let classes = ["node to switch", "switch to node"].map(str::to_owned);
            (factors.map(config).to_vec(), classes.to_vec())
        };
        let coarse = |networks: &[(Vec<Config>, Vec<String>)]| -> Vec<String> {
            let notes = notes(networks).into_iter();
            notes
                .filter(|note| note.contains("no threshold is near"))
                .collect()
        };
        let several = [network(["0.002", "0.0015"]), network(["0.001", "0.003"])];
        let all = coarse(&several);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].starts_with("no threshold is near"), "{all:?}");
        // Enough for all of them: 4480 ns / 0.001.
        assert!(all[0].contains("; 547 bins of 8192 ns"), "{all:?}");
        // Of those that have the note, their names.
        let mut one = network(["0.01", "0.005"]);
        one.0[0] = Config::parse("[port]\npolicy = \"fixed\"\n", "b").unwrap();
        let all = coarse(&[one]);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(
            all[0].starts_with("switch to node: no threshold is near"),
            "{all:?}"
        );
    }
}
