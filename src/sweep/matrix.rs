//! Sweep files: a scenario and the settings that it is run with.
//!
//! Every key but `scenario` and what varies of the scenario (`super::vary`) has the matrix of
//! PerfBound 4.3 as its default ([`TABLES`]). An empty list leaves its part of the matrix out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::config::plan::{HistogramKind, Policy, Sleep};
use crate::input::{
    self, choice, integer, key, list, number, schema, Decimal, InputError, Kind, Reader, Section,
    Sections, Table, Type, Unit, Value,
};
use crate::network::scenario::Variation;

use super::listed::{known, listed, Place, MOST_RUNS};
use super::vary::{self, Places, MAPPINGS};

/// The fixed thresholds, in ns. PerfBound 4.3 has "9 possible values, from 0 to one second" and
/// does not list them; 0 and the decades from 100 ns on are nine, and its text names those of
/// 1 us, 10 us, 100 us, 1 ms and 1 s.
const T_PDT_NS: [f64; 9] = [0.0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/// PerfBound 4.3.
const BOUNDS: [f64; 3] = [0.01, 0.02, 0.05];

/// A sweep file, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The scenario that every experiment runs.
    pub scenario: PathBuf,
    /// What the scenario is run with; one that varies nothing where the file has none of `[vary]`,
    /// `[workloads]` and `[configurations]`.
    pub variations: Vec<Variation>,
    /// Of each variation.
    of: Vec<OfVariation>,
    /// The settings that variations are run with: those of the file, then those that configurations
    /// have of their own.
    matrices: Vec<Matrix>,
    /// For the lines and columns of faults that come up later.
    text: String,
}

/// What a sweep knows of a variation.
#[derive(Clone, Debug, PartialEq)]
struct OfVariation {
    /// The places of its values.
    places: Places,
    /// The number of its matrix.
    matrix: usize,
    /// The number of the variation with whose run without power saving it is compared.
    against: usize,
}

/// Experiments, each once, in the order of the file, with the places of their settings; the first is
/// the one without power saving.
#[derive(Clone, Debug, PartialEq)]
struct Matrix(Vec<(Experiment, Place)>);

/// The values that a matrix is made of, with their places.
#[derive(Clone)]
pub(super) struct Lists {
    states: Vec<(Sleep, Place)>,
    thresholds: Vec<(f64, Place)>,
    policies: Vec<(Policy, Place)>,
    bounds: Vec<(f64, Place)>,
    histograms: Vec<(HistogramKind, Place)>,
}

/// Without a place in the file.
fn anywhere<T: Copy>(values: &[T]) -> Vec<(T, Place)> {
    values.iter().map(|&value| (value, None)).collect()
}

impl Default for Lists {
    /// The matrix of PerfBound 4.3.
    fn default() -> Self {
        Self {
            states: anywhere(&STATES),
            thresholds: anywhere(&T_PDT_NS),
            policies: anywhere(&POLICIES),
            bounds: anywhere(&BOUNDS),
            histograms: anywhere(&HISTOGRAMS),
        }
    }
}

const STATES: [Sleep; 2] = [Sleep::FastWake, Sleep::DeepSleep];
const POLICIES: [Policy; 2] = [Policy::PerfBound, Policy::PerfBoundCorrect];
const HISTOGRAMS: [HistogramKind; 3] = [
    HistogramKind::Regular,
    HistogramKind::Clearing,
    HistogramKind::Circular,
];

/// Every table of a sweep and its keys; those without a name stand before all tables.
pub static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let names = |names: &[&str]| format!("`{names:?}`");
    let part = number(1, 1_000_000, 6, Unit::Fraction);
    let seed = integer(0, i64::MAX as u64, Unit::None);
    let threshold = number(0, 1_000_000_000_000_000_000, 3, Unit::Nanoseconds);
    let table = |path, about, keys| Table {
        path,
        kind: "",
        about,
        keys,
    };
    vec![
        table(
            "",
            "The scenario and the sleep states",
            vec![
                key(
                    "scenario",
                    Type::Text {
                        legal: "the name of a file, such as \"scenario.toml\"",
                        pattern: "^.+$",
                        check: |text| !text.is_empty(),
                    },
                    input::REQUIRED,
                    "the scenario, relative to this file; its [power] is the base of every port",
                ),
                key(
                    "states",
                    list(choice(Sleep::ALL.map(Sleep::name))),
                    names(&STATES.map(Sleep::name)),
                    "where links go when they sleep",
                ),
            ],
        ),
        table(
            "fixed",
            "Fixed thresholds",
            vec![key(
                "t_pdt_ns",
                list(threshold),
                format!("`{T_PDT_NS:?}`"),
                "the thresholds",
            )],
        ),
        table(
            "perfbound",
            "Predicted thresholds",
            vec![
                key(
                    "policies",
                    list(choice(POLICIES.map(Policy::name))),
                    names(&POLICIES.map(Policy::name)),
                    "how thresholds are predicted",
                ),
                key(
                    "bounds",
                    list(Type::Fraction),
                    format!("`{BOUNDS:?}`"),
                    "degradations allowed; 0.01 is 1 %",
                ),
                key(
                    "histograms",
                    list(choice(HistogramKind::ALL.map(HistogramKind::name))),
                    names(&HISTOGRAMS.map(HistogramKind::name)),
                    "what idle times are kept in",
                ),
            ],
        ),
        table(
            "vary",
            "Values in the places of the scenario's own; the whole matrix for each combination. Any \
             other key of the scenario has a list, too, by its path, such as `switch.mtu_bytes`, and \
             any of the ports' configuration, such as `power.histogram.bins`",
            vec![
                key(
                    "load",
                    list(part),
                    "that of the scenario",
                    "of a pattern: part of the link's rate that a node sends",
                ),
                key(
                    "seed",
                    list(seed),
                    "that of the scenario",
                    "for what is drawn",
                ),
                key(
                    "mapping",
                    list(choice(MAPPINGS)),
                    "that of the scenario",
                    "where the ranks of all jobs run",
                ),
            ],
        ),
        table(
            "workloads",
            "Tables with names, such as `[workloads.lammps]`: keys of the scenario by their paths that \
             change together; all configurations for each",
            vec![],
        ),
        table(
            "configurations",
            "Tables with names, such as `[configurations.small]`: keys of the scenario by their paths \
             that change together, and `states`, keys of `[fixed]` and `[perfbound]`, such as \
             `fixed.t_pdt_ns`, where it has a matrix of its own. With `based_on` it has the scenario's keys of the \
             configuration that this names, too, and is compared with its run without power saving",
            vec![],
        ),
    ]
});

/// The JSON Schema of a sweep.
pub fn json_schema() -> serde_json::Value {
    let about = "A scenario and the settings that it is run with";
    let mut schema = schema::json(Kind::Sweep.title(), about, &TABLES);
    // What has any name is checked where it is put into the scenario.
    let tables = &mut schema["properties"];
    tables["vary"]["additionalProperties"] = serde_json::json!({"type": ["array", "object"]});
    for table in vary::NAMED_TABLES {
        tables[table]["additionalProperties"] = serde_json::json!({"type": "object"});
    }
    schema
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

impl Sweep {
    /// Reads a sweep file.
    ///
    /// # Errors
    /// If it cannot be read, or with everything that is wrong in it.
    pub fn load(path: &Path) -> Result<Self, InputError> {
        Self::parse(&input::read_text(path)?, path)
    }

    /// Reads a sweep from its text; the scenario is relative to the folder of `path`.
    ///
    /// # Errors
    /// With everything that is wrong in the text.
    pub fn parse(text: &str, path: &Path) -> Result<Self, InputError> {
        let name = path.display().to_string();
        let mut reader = Reader::new(text, &name);
        let mut document = reader.document(Kind::Sweep);
        if reader.has_faults() {
            return reader.finish(None);
        }
        let axes = vary::take(&mut reader, text, &mut document);
        let known: Vec<_> = TABLES.iter().collect();
        let mut tables = reader.sections(document, &known, &TABLES);
        let top = tables.table("");
        let lists = Lists::default().replaced(&mut reader, &top, &mut tables);
        let mut matrices = vec![Matrix::new(&lists)];
        let varied = vary::variations(&mut reader, &tables.table("vary"), axes);
        if !top.has("scenario") {
            let what = "the scenario to run, such as scenario = \"scenario.toml\"";
            reader.missing(&top, "scenario", what);
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let scenario = top.text("scenario").map(|it| folder.join(it.value));
        let mut matrix_of: Vec<usize> = Vec::new();
        // Of configurations with settings of their own, which several variations may have.
        let mut own: BTreeMap<String, usize> = BTreeMap::new();
        for (variation, varied) in &varied {
            let named = variation
                .configuration
                .as_ref()
                .zip(varied.settings.as_ref());
            let Some(((name, _), settings)) = named else {
                matrix_of.push(0);
                continue;
            };
            let number = own.entry(name.clone()).or_insert_with(|| {
                let own: Vec<_> = TABLES
                    .iter()
                    .filter(|of| MATRIX.contains(&of.path))
                    .collect();
                let mut tables = reader.sections(settings.clone(), &own, &TABLES);
                let top = tables.table("");
                let lists = lists.clone().replaced(&mut reader, &top, &mut tables);
                matrices.push(Matrix::new(&lists));
                matrices.len() - 1
            });
            matrix_of.push(*number);
        }
        let settings = matrix_of.iter().map(|&matrix| matrices[matrix].0.len());
        let runs = settings.fold(0, usize::saturating_add);
        if runs > MOST_RUNS {
            let problem = format!(
                "{} variations with all their settings are {runs} runs, and a sweep has at most \
                 {MOST_RUNS}: list fewer values, or make several sweeps",
                varied.len()
            );
            reader.fault(0, problem);
        }
        let sweep = scenario.map(|scenario| {
            let (variations, varied): (Vec<_>, Vec<_>) = varied.into_iter().unzip();
            let of = varied.into_iter().zip(matrix_of);
            let of = of.map(|(varied, matrix)| OfVariation {
                places: varied.places,
                against: varied.against,
                matrix,
            });
            Self {
                scenario,
                of: of.collect(),
                variations,
                matrices,
                text: text.into(),
            }
        });
        reader.finish(sweep)
    }

    /// The experiments of a variation, by its number; the first is the one without power saving.
    pub fn experiments(&self, variation: usize) -> impl Iterator<Item = &Experiment> {
        let matrix = &self.matrices[self.matrix_of(variation)];
        matrix.0.iter().map(|(experiment, _)| experiment)
    }

    /// The names of all runs, variation by variation.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        let variations = self.variations.iter().enumerate();
        variations.flat_map(|(number, variation)| {
            let of = vary::name(variation);
            let experiments = self.experiments(number);
            experiments.map(move |experiment| experiment.name() + &of)
        })
    }

    /// Which matrix a variation, by its number, is run with; several may share one.
    pub fn matrix_of(&self, variation: usize) -> usize {
        self.of[variation].matrix
    }

    /// The number of the variation with whose run without power saving a variation is compared: its
    /// own, but for a configuration that is based on another one.
    pub fn against(&self, variation: usize) -> usize {
        self.of[variation].against
    }

    /// What is wrong with the setting of an experiment of a variation, by their numbers, of the sweep
    /// in `path`.
    pub fn fault(
        &self,
        path: &Path,
        (variation, experiment): (usize, usize),
        problem: String,
    ) -> InputError {
        let (_, place) = self.matrices[self.matrix_of(variation)].0[experiment];
        self.fault_at(path, place, problem)
    }

    /// What is wrong with a variation, by its number: with its seed, or with the value that the problem
    /// names.
    pub fn variation_fault(
        &self,
        path: &Path,
        variation: usize,
        of_seed: bool,
        problem: String,
    ) -> InputError {
        let places = &self.of[variation].places;
        let place = match of_seed {
            true => places.of_seed(),
            false => places.of_problem(&problem),
        };
        self.fault_at(path, place, problem)
    }

    /// Settings that the file leaves to their defaults are blamed at its begin.
    fn fault_at(&self, path: &Path, place: Place, problem: String) -> InputError {
        let name = path.display().to_string();
        let mut reader = Reader::new(&self.text, &name);
        reader.fault(place.unwrap_or(0), problem);
        reader.faults()
    }
}

/// The tables that a matrix is read from.
const MATRIX: [&str; 3] = ["", "fixed", "perfbound"];

impl Lists {
    /// With the lists that the tables have; the others stay.
    fn replaced(mut self, reader: &mut Reader, top: &Section, tables: &mut Sections) -> Self {
        let fixed = tables.table("fixed");
        let predicted = tables.table("perfbound");
        listed(reader, top, "states", &mut self.states, |value| {
            known(value, &Sleep::ALL, Sleep::name)
        });
        listed(
            reader,
            &predicted,
            "policies",
            &mut self.policies,
            |value| known(value, &POLICIES, Policy::name),
        );
        let kinds = &mut self.histograms;
        listed(reader, &predicted, "histograms", kinds, |value| {
            known(value, &HistogramKind::ALL, HistogramKind::name)
        });
        // The port's configuration checks them once more, against its ticks and its range.
        listed(reader, &fixed, "t_pdt_ns", &mut self.thresholds, |value| {
            Some(Decimal::scaled(value.number()?, 3).to_f64())
        });
        listed(
            reader,
            &predicted,
            "bounds",
            &mut self.bounds,
            |value| match value {
                Value::Fraction(bound) => Some(bound.to_f64()),
                _ => None,
            },
        );
        self
    }
}

impl Matrix {
    /// Every combination.
    fn new(lists: &Lists) -> Self {
        // The number is blamed first: it is what a state or a histogram cannot have.
        let mut experiments = vec![(Experiment::AlwaysOn, None)];
        for &(state, of_state) in &lists.states {
            experiments.extend(lists.thresholds.iter().map(|&(t_pdt_ns, place)| {
                let fixed = Experiment::Fixed { state, t_pdt_ns };
                (fixed, place.or(of_state))
            }));
        }
        for &(policy, of_policy) in &lists.policies {
            for &(state, of_state) in &lists.states {
                for &(histogram, of_histogram) in &lists.histograms {
                    experiments.extend(lists.bounds.iter().map(|&(bound, place)| {
                        let predicted = Experiment::Predicted {
                            policy,
                            state,
                            histogram,
                            bound,
                        };
                        (predicted, place.or(of_histogram).or(of_state).or(of_policy))
                    }));
                }
            }
        }
        Matrix(experiments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Sweep, String> {
        Sweep::parse(text, Path::new("folder/sweep.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn the_default_is_the_matrix_of_the_perfbound_paper() {
        let sweep = parse("scenario = \"a.toml\"").unwrap();
        assert_eq!(sweep.scenario, Path::new("folder/a.toml"));
        assert_eq!(sweep.experiments(0).next(), Some(&Experiment::AlwaysOn));
        let count = |policy| {
            let of = |experiment: &&Experiment| experiment.policy() == policy;
            sweep.experiments(0).filter(of).count()
        };
        // PerfBound 4.3: 9 values, 2 states; 3 bounds, 3 histograms, 2 states.
        assert_eq!(count(Policy::AlwaysOn), 1);
        assert_eq!(count(Policy::Fixed), 18);
        assert_eq!(count(Policy::PerfBound), 18);
        assert_eq!(count(Policy::PerfBoundCorrect), 18);
        let mut names: Vec<String> = sweep.experiments(0).map(Experiment::name).collect();
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
        let names: Vec<String> = sweep.experiments(0).map(Experiment::name).collect();
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
        let none = parse(none).unwrap();
        assert!(none.experiments(0).eq([&Experiment::AlwaysOn]));
    }

    #[test]
    fn more_runs_than_can_be_made_are_refused() {
        let list = |count: u32| {
            let values: Vec<String> = (1..=count).map(|value| value.to_string()).collect();
            values.join(", ")
        };
        let of = |seeds, thresholds| {
            parse(&format!(
                "scenario = \"a\"\n[fixed]\nt_pdt_ns = [{}]\n[vary]\nload = [0.1, 0.2]\n\
                 seed = [{}]\n[perfbound]\nbounds = []\n",
                list(thresholds),
                list(seeds)
            ))
        };
        let sweep = of(1000, 24).unwrap();
        assert_eq!(
            (sweep.variations.len(), sweep.experiments(0).count()),
            (2000, 49)
        );
        assert_eq!(
            of(1000, 25).unwrap_err(),
            "folder/sweep.toml:1:1: 2000 variations with all their settings are 102000 runs, and a \
             sweep has at most 100000: list fewer values, or make several sweeps"
        );
        // None of these is tried: that would take all memory, or for ever.
        let text = format!(
            "scenario = \"a\"\n[vary]\nseed = [{0}]\nload = [{1}]\n",
            list(10_000),
            (1..=10_000)
                .map(|part| format!("0.{part:05}"))
                .collect::<Vec<_>>()
                .join(", ")
        );
        let error = parse(&text).unwrap_err();
        assert!(
            error.contains("[vary]: 100000000 combinations of all that varies"),
            "{error}"
        );
        let text = format!("scenario = \"a\"\n[vary]\nseed = [{}]\n", list(10_001));
        let error = parse(&text).unwrap_err();
        assert!(
            error.contains("10001 values, and at most 10000 can be listed"),
            "{error}"
        );
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
            ..Variation::default()
        };
        let expected = [of(0.1, 7), of(0.1, 3), of(1.0, 7), of(1.0, 3)];
        assert_eq!(sweep.variations, expected);
        // The matrix is the same for each.
        assert_eq!(sweep.experiments(0).count(), 55);
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
        let refusal = |text: &str| parse(&format!("scenario = \"a\"\n{text}\n")).unwrap_err();
        let error = refusal("states = [\"fast-wake\", \"asleep\"]");
        assert!(
            error.starts_with("folder/sweep.toml:2:24: states, \"asleep\": must be one of"),
            "{error}"
        );
        let error = refusal("states = [\"hybrid\", \"hybrid\"]");
        assert!(
            error.contains("2:21: states, \"hybrid\": is listed twice"),
            "{error}"
        );
        let error = refusal("[fixed]\nt_pdt_ns = [-1]");
        assert!(
            error.contains("3:13: fixed.t_pdt_ns, -1: must be a time"),
            "{error}"
        );
        let error = parse("scenario = \"\"").unwrap_err();
        assert!(
            error.contains("1:12: scenario = \"\": must be the name of a file"),
            "{error}"
        );
        let error = refusal("[perfbound]\nbounds = [1]");
        assert!(
            error.contains("3:11: perfbound.bounds, 1: must be a fraction above 0"),
            "{error}"
        );
        let error = refusal("[perfbound]\nbound = [1]");
        assert!(
            error.contains("3:1: perfbound.bound: unknown key; the nearest known one is `bounds`"),
            "{error}"
        );
        let error = refusal("[vary]\nload = [0.1, 0]");
        assert!(
            error.contains("3:14: vary.load, 0: must be a number"),
            "{error}"
        );
        let error = refusal("[vary]\nmapping = [\"random\", \"scattered\"]");
        assert!(
            error.contains("3:22: vary.mapping, \"scattered\": must be one of"),
            "{error}"
        );
        let error = refusal("[vary]\nseed = [1, 2, 1]");
        assert!(
            error.contains("3:15: vary.seed, 1: is listed twice"),
            "{error}"
        );
        let error = refusal("[perfbound]\nbounds = [0.01, 0.010]");
        assert!(error.contains("listed twice"), "{error}");
    }
}
