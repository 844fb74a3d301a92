//! Sweep files: a scenario and the settings that it is run with.
//!
//! ```toml
//! scenario = "scenario.toml"   # relative to this file; its [power] is the base of every port
//! states = ["fast-wake", "deep-sleep"]
//!
//! [fixed]
//! t_pdt_ns = [0, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
//!
//! [perfbound]
//! policies = ["perfbound", "perfbound-correct"]
//! bounds = [0.01, 0.02, 0.05]
//! histograms = ["regular", "clearing", "circular"]
//!
//! [vary]                            # the whole matrix for each combination of these values
//! load = [0.1, 0.3]                 # of a pattern, in the place of the scenario's
//! seed = [1, 2, 3]
//! mapping = ["linear", "random"]    # of all jobs
//! ```
//! Every key but `scenario` and those of `[vary]` has the value shown: the matrix of p000 4.3. An
//! empty list leaves its part of the matrix out. Without values in `[vary]` the scenario's own
//! stays.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::config::plan::{HistogramKind, Policy, Sleep};
use crate::files::{read_text, FileError};
use crate::network::scenario::Variation;

/// The fixed thresholds, in ns. p000 4.3 has "9 possible values, from 0 to one second" and
/// does not list them; 0 and the decades from 100 ns on are nine, and its text names those of
/// 1 us, 10 us, 100 us, 1 ms and 1 s.
const T_PDT_NS: [f64; 9] = [0.0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/// p000 4.3.
const BOUNDS: [f64; 3] = [0.01, 0.02, 0.05];

/// A sweep file, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The scenario that every experiment runs.
    pub scenario: PathBuf,
    /// What the scenario is run with, each with all experiments; one that varies nothing where
    /// the file has no `[vary]`.
    pub variations: Vec<Variation>,
    /// Each once, in the order of the file; the first is the one without power saving.
    pub experiments: Vec<Experiment>,
    /// Line and column of `load`, `seed` and `mapping` of each variation.
    varied: Vec<[Option<(usize, usize)>; 3]>,
    /// Line and column of each one's setting, if the file has it.
    places: Vec<Option<(usize, usize)>>,
}

/// What governs the ports in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Experiment {
    /// Links that never sleep.
    AlwaysOn,
    /// A fixed threshold.
    Fixed {
        /// Where links go.
        state: Sleep,
        /// The threshold in ns.
        t_pdt_ns: f64,
    },
    /// A predicted threshold.
    Predicted {
        /// `PerfBound` or `PerfBoundCorrect`.
        policy: Policy,
        /// Where links go.
        state: Sleep,
        /// What idle times are kept in.
        histogram: HistogramKind,
        /// The admitted degradation as a fraction.
        bound: f64,
    },
}

impl Experiment {
    /// The policy of the ports.
    pub fn policy(&self) -> Policy {
        match self {
            Experiment::AlwaysOn => Policy::AlwaysOn,
            Experiment::Fixed { .. } => Policy::Fixed,
            Experiment::Predicted { policy, .. } => *policy,
        }
    }

    /// Where links go.
    pub fn state(&self) -> Option<Sleep> {
        match self {
            Experiment::AlwaysOn => None,
            Experiment::Fixed { state, .. } | Experiment::Predicted { state, .. } => Some(*state),
        }
    }

    /// The name, which is also that of a file.
    pub fn name(&self) -> String {
        let policy = self.policy().name();
        match self {
            Experiment::AlwaysOn => policy.into(),
            Experiment::Fixed { state, t_pdt_ns } => {
                format!("{policy}-{}-{t_pdt_ns}ns", state.name())
            }
            Experiment::Predicted {
                state,
                histogram,
                bound,
                ..
            } => format!("{policy}-{}-{}-{bound}", state.name(), histogram.name()),
        }
    }
}

/// A sweep file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MatrixError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A fault at a place in it.
    #[error("{path}:{line}:{column}: {problem}")]
    At {
        /// The sweep file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// In characters, counted from 1.
        column: usize,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A fault of a setting that the file leaves to its default.
    #[error("{path}: {problem}")]
    Default {
        /// The sweep file.
        path: PathBuf,
        /// What is wrong and what would be right.
        problem: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    scenario: Spanned<PathBuf>,
    states: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    fixed: Fixed,
    #[serde(default)]
    perfbound: Predicted,
    #[serde(default)]
    vary: Vary,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vary {
    load: Option<Vec<Spanned<f64>>>,
    seed: Option<Vec<Spanned<u64>>>,
    mapping: Option<Vec<Spanned<String>>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixed {
    t_pdt_ns: Option<Vec<Spanned<f64>>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Predicted {
    policies: Option<Vec<Spanned<String>>>,
    bounds: Option<Vec<Spanned<f64>>>,
    histograms: Option<Vec<Spanned<String>>>,
}

type Fault = (Range<usize>, String);
/// The bytes at which the file has a setting.
type Place = Option<Range<usize>>;

impl Sweep {
    /// Reads a sweep file.
    ///
    /// # Errors
    /// If it cannot be read, or names line and column of what is wrong.
    pub fn load(path: &Path) -> Result<Self, MatrixError> {
        Self::parse(&read_text(path)?, path)
    }

    /// Reads a sweep from its text; the scenario is relative to the folder of `path`.
    ///
    /// # Errors
    /// Names line and column of what is wrong.
    pub fn parse(text: &str, path: &Path) -> Result<Self, MatrixError> {
        let place = |at: Range<usize>| {
            let before = &text[..at.start];
            let line_start = before.rfind('\n').map_or(0, |end| end + 1);
            (
                before.matches('\n').count() + 1,
                before[line_start..].chars().count() + 1,
            )
        };
        toml::from_str(text)
            .map_err(|error| (error.span().unwrap_or(0..0), error.message().to_owned()))
            .and_then(|written: Written| {
                let folder = path.parent().unwrap_or(Path::new(""));
                Ok((matrix(&written, folder)?, variations(&written.vary)?))
            })
            .map(|((scenario, experiments), variations)| {
                let (experiments, places): (_, Vec<Place>) = experiments.into_iter().unzip();
                let (variations, varied): (_, Vec<[Place; 3]>) = variations.into_iter().unzip();
                let varied = varied.into_iter();
                Self {
                    scenario,
                    variations,
                    experiments,
                    varied: varied.map(|at| at.map(|at| at.map(place))).collect(),
                    places: places.into_iter().map(|at| at.map(place)).collect(),
                }
            })
            .map_err(|(at, problem)| {
                let (line, column) = place(at);
                MatrixError::At {
                    path: path.into(),
                    line,
                    column,
                    problem: problem.trim_end().replace('\n', "; "),
                }
            })
    }

    /// What is wrong with the setting of an experiment, by its number, of the sweep in `path`.
    pub fn fault(&self, path: &Path, experiment: usize, problem: String) -> MatrixError {
        fault(path, self.places[experiment], problem)
    }

    /// What is wrong with a variation, by its number: with its seed, or with the values that are
    /// listed otherwise.
    pub fn variation_fault(
        &self,
        path: &Path,
        variation: usize,
        of_seed: bool,
        problem: String,
    ) -> MatrixError {
        let [load, seed, mapping] = self.varied[variation];
        let place = match of_seed {
            true => seed,
            false => load.or(mapping).or(seed),
        };
        fault(path, place, problem)
    }
}

fn fault(path: &Path, place: Option<(usize, usize)>, problem: String) -> MatrixError {
    match place {
        Some((line, column)) => MatrixError::At {
            path: path.into(),
            line,
            column,
            problem,
        },
        None => MatrixError::Default {
            path: path.into(),
            problem,
        },
    }
}

/// Every combination of the listed values, loads outermost and seeds innermost.
fn variations(vary: &Vary) -> Result<Vec<(Variation, [Place; 3])>, Fault> {
    let loads = numbers(vary.load.as_deref(), &[], |load| {
        (load > 0.0 && load <= 1.0)
            .then_some(())
            .ok_or("a load must be above 0 and at most 1")
    })?;
    let seeds = listed(vary.seed.as_deref())?;
    let mappings = chosen(
        vary.mapping.as_deref(),
        "mapping",
        &[("linear", "linear"), ("random", "random")],
        &[],
    )?;
    let mut variations = Vec::new();
    for (load, at_load) in axis(&loads) {
        for (mapping, at_mapping) in axis(&mappings) {
            for (seed, at_seed) in axis(&seeds) {
                variations.push((
                    Variation {
                        load,
                        seed,
                        mapping,
                    },
                    [at_load.clone(), at_seed, at_mapping.clone()],
                ));
            }
        }
    }
    Ok(variations)
}

/// The values of an axis; where none is listed, that of the scenario.
fn axis<T: Copy>(values: &[(T, Place)]) -> Vec<(Option<T>, Place)> {
    if values.is_empty() {
        return vec![(None, None)];
    }
    let listed = values.iter();
    listed
        .map(|(value, at)| (Some(*value), at.clone()))
        .collect()
}

/// Values of a list, each once.
fn listed<T: Copy + PartialEq + std::fmt::Display>(
    written: Option<&[Spanned<T>]>,
) -> Result<Vec<(T, Place)>, Fault> {
    let mut values: Vec<(T, Place)> = Vec::new();
    for written in written.unwrap_or_default() {
        let value = *written.get_ref();
        if values.iter().any(|(there, _)| *there == value) {
            return Err((written.span(), format!("{value} is listed twice")));
        }
        values.push((value, Some(written.span())));
    }
    Ok(values)
}

/// The scenario and the experiments.
fn matrix(written: &Written, folder: &Path) -> Result<(PathBuf, Vec<(Experiment, Place)>), Fault> {
    let scenario = written.scenario.get_ref();
    if scenario.as_os_str().is_empty() {
        let problem = "scenario is \"\": it must name a file, such as \"scenario.toml\"";
        return Err((written.scenario.span(), problem.into()));
    }
    let states = chosen(
        written.states.as_deref(),
        "state",
        &Sleep::ALL.map(|state| (state.name(), state)),
        &[Sleep::FastWake, Sleep::DeepSleep],
    )?;
    let policies = chosen(
        written.perfbound.policies.as_deref(),
        "policy",
        &[Policy::PerfBound, Policy::PerfBoundCorrect].map(|policy| (policy.name(), policy)),
        &[Policy::PerfBound, Policy::PerfBoundCorrect],
    )?;
    let histograms = chosen(
        written.perfbound.histograms.as_deref(),
        "histogram",
        &HistogramKind::ALL.map(|kind| (kind.name(), kind)),
        &[
            HistogramKind::Regular,
            HistogramKind::Clearing,
            HistogramKind::Circular,
        ],
    )?;
    // The port's configuration checks them once more, against its ticks and its range.
    let thresholds = numbers(written.fixed.t_pdt_ns.as_deref(), &T_PDT_NS, |ns| {
        (0.0..=1e15)
            .contains(&ns)
            .then_some(())
            .ok_or("a threshold must be 0 to 1e15 ns")
    })?;
    let bounds = numbers(written.perfbound.bounds.as_deref(), &BOUNDS, |bound| {
        (bound > 0.0 && bound < 1.0)
            .then_some(())
            .ok_or("a bound must be above 0 and below 1 (0.01 is 1 %)")
    })?;
    // The number is blamed first: it is what a state or a histogram cannot have.
    let mut experiments = vec![(Experiment::AlwaysOn, None)];
    for (state, of_state) in &states {
        experiments.extend(thresholds.iter().map(|(t_pdt_ns, place)| {
            let (state, t_pdt_ns) = (*state, *t_pdt_ns);
            let fixed = Experiment::Fixed { state, t_pdt_ns };
            (fixed, place.clone().or(of_state.clone()))
        }));
    }
    for (policy, of_policy) in &policies {
        for (state, of_state) in &states {
            for (histogram, of_histogram) in &histograms {
                experiments.extend(bounds.iter().map(|(bound, place)| {
                    let predicted = Experiment::Predicted {
                        policy: *policy,
                        state: *state,
                        histogram: *histogram,
                        bound: *bound,
                    };
                    let others = [of_histogram, of_state, of_policy];
                    let written = || others.into_iter().find_map(Option::clone);
                    (predicted, place.clone().or_else(written))
                }));
            }
        }
    }
    Ok((folder.join(scenario), experiments))
}

/// Values that the file leaves to their default.
fn unwritten<T: Copy>(default: &[T]) -> Vec<(T, Place)> {
    default.iter().map(|&value| (value, None)).collect()
}

/// The values that a list names, each once.
fn chosen<T: Copy + PartialEq>(
    written: Option<&[Spanned<String>]>,
    what: &str,
    known: &[(&str, T)],
    default: &[T],
) -> Result<Vec<(T, Place)>, Fault> {
    let Some(written) = written else {
        return Ok(unwritten(default));
    };
    let mut values: Vec<(T, Place)> = Vec::new();
    for name in written {
        let found = known.iter().find(|(known, _)| known == name.get_ref());
        let Some(&(_, value)) = found else {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let names = names.join(", ");
            let problem = format!("unknown {what} \"{}\" (known: {names})", name.get_ref());
            return Err((name.span(), problem));
        };
        if values.iter().any(|(there, _)| *there == value) {
            return Err((
                name.span(),
                format!("\"{}\" is listed twice", name.get_ref()),
            ));
        }
        values.push((value, Some(name.span())));
    }
    Ok(values)
}

/// The numbers of a list, each once and legal.
fn numbers(
    written: Option<&[Spanned<f64>]>,
    default: &[f64],
    check: impl Fn(f64) -> Result<(), &'static str>,
) -> Result<Vec<(f64, Place)>, Fault> {
    let Some(written) = written else {
        return Ok(unwritten(default));
    };
    let mut values: Vec<(f64, Place)> = Vec::new();
    for number in written {
        // 0, not -0, in names.
        let value = *number.get_ref() + 0.0;
        let fault = |problem: String| Err((number.span(), problem));
        if let Err(problem) = check(value) {
            return fault(format!("{value}: {problem}"));
        }
        if values.iter().any(|(there, _)| *there == value) {
            return fault(format!("{value} is listed twice"));
        }
        values.push((value, Some(number.span())));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Sweep, String> {
        Sweep::parse(text, Path::new("folder/sweep.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn the_default_is_the_matrix_of_p000() {
        let sweep = parse("scenario = \"a.toml\"").unwrap();
        assert_eq!(sweep.scenario, Path::new("folder/a.toml"));
        assert_eq!(sweep.experiments[0], Experiment::AlwaysOn);
        let count = |policy| {
            let of = |experiment: &&Experiment| experiment.policy() == policy;
            sweep.experiments.iter().filter(of).count()
        };
        // p000 4.3: 9 values, 2 states; 3 bounds, 3 histograms, 2 states.
        assert_eq!(count(Policy::AlwaysOn), 1);
        assert_eq!(count(Policy::Fixed), 18);
        assert_eq!(count(Policy::PerfBound), 18);
        assert_eq!(count(Policy::PerfBoundCorrect), 18);
        let mut names: Vec<String> = sweep.experiments.iter().map(Experiment::name).collect();
        assert_eq!(names[2], "fixed-fast-wake-100ns");
        assert_eq!(names[54], "perfbound-correct-deep-sleep-circular-0.05");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 55);
    }

    #[test]
    fn every_axis_can_be_narrowed() {
        let sweep = parse(
            "scenario = \"a.toml\"\nstates = [\"hybrid\"]\n[fixed]\nt_pdt_ns = [6.4, 12]\n\
             [perfbound]\npolicies = [\"perfbound-correct\"]\nbounds = [0.1]\n\
             histograms = [\"map\"]\n",
        )
        .unwrap();
        let names: Vec<String> = sweep.experiments.iter().map(Experiment::name).collect();
        assert_eq!(
            names,
            [
                "always-on",
                "fixed-hybrid-6.4ns",
                "fixed-hybrid-12ns",
                "perfbound-correct-hybrid-map-0.1"
            ]
        );
        let none = "scenario = \"a\"\n[fixed]\nt_pdt_ns = []\n[perfbound]\nbounds = []\n";
        assert_eq!(parse(none).unwrap().experiments, [Experiment::AlwaysOn]);
    }

    #[test]
    fn every_combination_varies_the_scenario() {
        let sweep = parse("scenario = \"a.toml\"").unwrap();
        assert_eq!(sweep.variations, [Variation::default()]);
        let text = "scenario = \"a.toml\"\n[vary]\nload = [0.1, 1]\nseed = [7, 3]\n\
                    mapping = []\n";
        let sweep = parse(text).unwrap();
        let of = |load, seed| Variation {
            load: Some(load),
            seed: Some(seed),
            mapping: None,
        };
        let expected = [of(0.1, 7), of(0.1, 3), of(1.0, 7), of(1.0, 3)];
        assert_eq!(sweep.variations, expected);
        // The matrix is the same for each.
        assert_eq!(sweep.experiments.len(), 55);
        let place = |of_seed| {
            let fault = sweep.variation_fault(Path::new("s.toml"), 2, of_seed, "no".into());
            fault.to_string()
        };
        assert_eq!(
            [place(false), place(true)],
            ["s.toml:3:14: no", "s.toml:4:9: no"]
        );
    }

    #[test]
    fn faults_have_a_place() {
        let told = |text: &str| parse(&format!("scenario = \"a\"\n{text}\n")).unwrap_err();
        let error = told("states = [\"fast-wake\", \"asleep\"]");
        assert!(
            error.starts_with("folder/sweep.toml:2:24: unknown state"),
            "{error}"
        );
        let error = told("states = [\"hybrid\", \"hybrid\"]");
        assert!(
            error.contains("2:21: \"hybrid\" is listed twice"),
            "{error}"
        );
        let error = told("[fixed]\nt_pdt_ns = [-1]");
        assert!(error.contains("3:13: -1: a threshold must be"), "{error}");
        let error = parse("scenario = \"\"").unwrap_err();
        assert!(error.contains("1:12: scenario is \"\""), "{error}");
        let error = told("[perfbound]\nbounds = [1]");
        assert!(error.contains("3:11: 1: a bound must be"), "{error}");
        let error = told("[perfbound]\nbound = [1]");
        assert!(error.contains("3:1: unknown field `bound`"), "{error}");
        let error = told("[vary]\nload = [0.1, 0]");
        assert!(error.contains("3:14: 0: a load must be"), "{error}");
        let error = told("[vary]\nmapping = [\"random\", \"scattered\"]");
        assert!(error.contains("3:22: unknown mapping"), "{error}");
        let error = told("[vary]\nseed = [1, 2, 1]");
        assert!(error.contains("3:15: 1 is listed twice"), "{error}");
        let error = told("[perfbound]\nbounds = [0.01, 0.010]");
        assert!(error.contains("listed twice"), "{error}");
    }
}
