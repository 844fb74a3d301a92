//! The configurations of the ports of a sweep: the base that the scenario has, or a preset, and the setting
//! of each experiment in it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::error::{Error, ExperimentError};
use super::matrix::{Experiment, Sweep};
use super::vary;
use crate::config::plan::{HistogramKind, Sleep};
use crate::config::{Config, Preset};
use crate::input::{self, InputError};
use crate::network::scenario::{self, Keys, Power};

/// The settings of the ports, and the configuration that each makes of a base.
pub(super) type Experiments = Vec<(Experiment, Config)>;

/// The states whose base the experiments of a variation, by its number, take; some several times.
pub(super) fn states(sweep: &Sweep, variation: usize) -> impl Iterator<Item = Sleep> + '_ {
    sweep.experiments(variation).map(base_state)
}

/// The state whose base an experiment takes. Without power saving it makes no difference; it is
/// one and the same, so that the result stays good when the matrix changes.
fn base_state(experiment: &Experiment) -> Sleep {
    experiment.state().unwrap_or(Sleep::DeepSleep)
}

/// The port's configuration before the setting comes in: that of the scenario, or the preset
/// of the PerfBound paper's switch for the sleep state.
pub(super) fn base(power: &Power, state: Sleep) -> Result<String, Error> {
    Ok(match power {
        Power::File(file) => input::read_text(file)?,
        Power::Inline(text) => text.clone(),
        Power::AlwaysOn => {
            let name = format!("bxiv3-{}", state.name());
            let preset = Preset::find(&name).expect("a preset for each state");
            preset.text.into()
        }
    })
}

/// The configurations of the ports of a sweep.
pub(super) struct Ports<'a> {
    sweep: &'a Sweep,
    path: &'a Path,
    /// What was made of a scenario's power with some keys of its own, for a matrix of settings.
    made: Vec<((Power, Keys, usize), Arc<Experiments>)>,
}

impl<'a> Ports<'a> {
    /// Of the sweep in the file `path`.
    pub(super) fn new(sweep: &'a Sweep, path: &'a Path) -> Self {
        let made = Vec::new();
        Ports { sweep, path, made }
    }

    /// Those of a variation, by its number, whose scenario has this power.
    pub(super) fn experiments(
        &mut self,
        number: usize,
        power: &Power,
    ) -> Result<Arc<Experiments>, Error> {
        let variation = &self.sweep.variations[number];
        let keys = variation.of_ports();
        let of = (power.clone(), keys.clone(), self.sweep.matrix_of(number));
        if let Some((_, made)) = self.made.iter().find(|(there, _)| *there == of) {
            return Ok(made.clone());
        }
        let mut bases = BTreeMap::new();
        for state in states(self.sweep, number) {
            if bases.contains_key(state.name()) {
                continue;
            }
            let base =
                changed(power, &base(power, state)?, &keys).map_err(|error| match error {
                    ExperimentError::Setting(problem) => {
                        let fault = self
                            .sweep
                            .variation_fault(self.path, number, false, problem);
                        Error::Input(fault)
                    }
                    error => error.of(format!("always-on{}", vary::name(variation))),
                })?;
            bases.insert(state.name(), base);
        }
        let mut experiments = Vec::new();
        for (place, experiment) in self.sweep.experiments(number).enumerate() {
            let base = &bases[base_state(experiment).name()];
            let config = config(experiment, base, power, &keys).map_err(|error| match error {
                // The setting does not go with the base: the user's text of it is the sweep's.
                ExperimentError::Setting(problem) => {
                    let problem = format!("{}: {problem}", experiment.name());
                    Error::Input(self.sweep.fault(self.path, (number, place), problem))
                }
                error => error.of(experiment.name() + &vary::name(variation)),
            })?;
            experiments.push((*experiment, config));
        }
        let made = Arc::new(experiments);
        self.made.push((of, made.clone()));
        Ok(made)
    }
}

/// The base of the ports with some keys that a sweep varies.
fn changed(power: &Power, base: &str, keys: &Keys) -> Result<toml::Table, ExperimentError> {
    // Says what is wrong with the base by itself, with its own lines.
    let name = match power {
        Power::File(file) => file.display().to_string(),
        _ => "[power]".into(),
    };
    Config::parse(base, &name)?;
    let mut tables: toml::Table = base.parse().expect("a configuration is TOML");
    for (path, value) in keys {
        if path == "perfbound.hop_factor" {
            // `l` itself takes the place of the hop counts.
            if let Some(perfbound) = tables.get_mut("perfbound") {
                perfbound.as_table_mut().map(|table| table.remove("hops"));
            }
        }
        scenario::insert(&mut tables, path, value.clone());
    }
    if !keys.is_empty() {
        checked(&tables)?;
    }
    Ok(tables)
}

/// The configuration of an experiment's ports, made of their base, which has these keys of a
/// variation.
fn config(
    experiment: &Experiment,
    base: &toml::Table,
    power: &Power,
    keys: &Keys,
) -> Result<Config, ExperimentError> {
    const COUNTER_BITS: &str = "histogram.counter_bits";
    let mut tables = base.clone();
    let mut set = |path: &str, value: toml::Value| scenario::insert(&mut tables, path, value);
    set("port.policy", experiment.policy().name().into());
    if let Some(state) = experiment.state() {
        set("port.sleep", state.name().into());
    }
    match *experiment {
        Experiment::AlwaysOn => {}
        Experiment::Fixed { t_pdt_ns, .. } => set("port.t_pdt_ns", number(t_pdt_ns)),
        Experiment::Predicted {
            histogram, bound, ..
        } => {
            let perfbound = base.get("perfbound").and_then(toml::Value::as_table);
            if perfbound.is_some_and(|it| it.contains_key("hop_factor")) {
                let is_varied = keys.iter().any(|(path, _)| path == "perfbound.hop_factor");
                let remedy = match is_varied {
                    true => {
                        "leave it out, or the predicted thresholds (`policies = []` of [perfbound])"
                    }
                    false => "give hops in its place, or leave it out",
                };
                return Err(ExperimentError::Setting(format!(
                    "perfbound.hop_factor gives l itself, which no bound of the sweep changes: {remedy}"
                )));
            }
            set("histogram.kind", histogram.name().into());
            set("perfbound.bound", bound.into());
            // PerfBound 3.2: it records every idle period; the preset's counters suit 250.
            let is_varied = keys.iter().any(|(path, _)| path == COUNTER_BITS);
            let is_preset = *power == Power::AlwaysOn && !is_varied;
            if histogram == HistogramKind::Regular && is_preset {
                set(COUNTER_BITS, 32.into());
            }
        }
    }
    checked(&tables)
}

/// A configuration that nobody wrote as a text: the messages name its keys, and no places.
fn checked(tables: &toml::Table) -> Result<Config, ExperimentError> {
    let text = toml::to_string(tables).expect("a table of TOML values is TOML");
    Config::parse(&text, "[power]").map_err(|error| match error {
        InputError::Invalid { diagnostics, .. } => {
            let faults: Vec<String> = diagnostics.into_iter().map(|fault| fault.message).collect();
            ExperimentError::Setting(faults.join("; "))
        }
        error => error.into(),
    })
}

/// A number as a person would write it.
fn number(value: f64) -> toml::Value {
    match value.fract() == 0.0 && value < 1e15 {
        true => toml::Value::Integer(value as i64),
        false => value.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::plan::Policy;

    fn config_of(experiment: &Experiment, power: Power) -> Config {
        let base = base(&power, experiment.state().unwrap()).unwrap();
        let base = changed(&power, &base, &Keys::new()).unwrap();
        config(experiment, &base, &power, &Keys::new()).unwrap()
    }

    #[test]
    fn the_setting_goes_into_the_base() {
        let fixed = Experiment::Fixed {
            state: Sleep::FastWake,
            t_pdt_ns: 1e9,
        };
        let port = config_of(&fixed, Power::AlwaysOn).port;
        assert_eq!((port.policy, port.sleep), (Policy::Fixed, Sleep::FastWake));
        assert_eq!(port.t_pdt_ps, 1_000_000_000_000);
        let predicted = |histogram| Experiment::Predicted {
            policy: Policy::PerfBoundCorrect,
            state: Sleep::DeepSleep,
            histogram,
            bound: 0.05,
        };
        let regular = config_of(&predicted(HistogramKind::Regular), Power::AlwaysOn);
        assert_eq!(regular.histogram.kind, HistogramKind::Regular);
        assert_eq!(regular.histogram.counter_bits, 32);
        assert_eq!(regular.port.policy, Policy::PerfBoundCorrect);
        let circular = predicted(HistogramKind::Circular);
        let (preset, own) = (
            config_of(&circular, Power::AlwaysOn),
            config_of(&circular, Power::Inline("[histogram]\nbins = 32\n".into())),
        );
        assert_eq!((preset.histogram.bins, own.histogram.bins), (64, 32));
        assert_eq!(preset.histogram.counter_bits, 8);
        assert_ne!(preset.hash(), own.hash());
        // `l` itself takes the place of hop counts.
        let base = "[port]\npolicy = \"fixed\"\n[perfbound]\nhops = [[4, 1.0]]\n";
        let keys = vec![("perfbound.hop_factor".into(), toml::Value::Float(0.001))];
        let tables = changed(&Power::AlwaysOn, base, &keys).unwrap();
        let varied = checked(&tables).unwrap().canonical();
        assert!(
            varied.contains("hop_factor = 0.001") && !varied.contains("hops ="),
            "{varied}"
        );
        // A bound would change nothing.
        let base = "[perfbound]\nhop_factor = 0.001\n".parse().unwrap();
        let power = Power::Inline(String::new());
        let error = config(&circular, &base, &power, &Keys::new()).unwrap_err();
        assert!(
            error.to_string().contains("hop_factor gives l itself"),
            "{error}"
        );
    }
}
