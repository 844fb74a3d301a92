//! The kinds of networks and their parameters.

use std::ops::{Deref, RangeInclusive};
use std::sync::Arc;

use super::dragonfly::Dragonfly;
use super::fat_tree::FatTree;
use super::hyperx::HyperX;
use super::megafly::Megafly;
use super::single_switch::SingleSwitch;
use super::torus::Torus;
use super::{Topology, MAX_NODES};
use crate::switch::MAX_RADIX;

/// A kind of network, as the key `kind` of `[topology]` names it.
#[derive(Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// Its parameters. The defaults together are a network of the papers, where one has a
    /// network of that kind.
    pub parameters: &'static [Parameter],
    build: fn(&Parameters) -> Result<Arc<dyn Topology>, ParameterError>,
}

/// A parameter of a kind.
#[derive(Debug)]
pub struct Parameter {
    /// Its key in `[topology]`.
    pub key: &'static str,
    /// Its value if none is given.
    pub initial: Initial,
    /// The least and the largest value, or element of the list.
    pub range: RangeInclusive<u64>,
}

/// What a parameter is if it is not given.
#[derive(Clone, Copy, Debug)]
pub enum Initial {
    /// A number.
    Number(usize),
    /// A list of numbers; another one can have another length.
    List(&'static [usize]),
    /// A number that follows from the others.
    Computed,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(usize),
    /// A list of numbers.
    List(Vec<usize>),
}

/// Parameters that no network can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ParameterError {
    /// The key to blame.
    pub key: &'static str,
    /// What is wrong and what would be right.
    pub problem: String,
}

/// Most dimensions of a torus or a HyperX.
const MAX_DIMENSIONS: usize = 6;

const fn number(key: &'static str, initial: usize, low: u64, high: u64) -> Parameter {
    Parameter {
        key,
        initial: Initial::Number(initial),
        range: low..=high,
    }
}

const fn dims(initial: &'static [usize], high: u64) -> Parameter {
    Parameter {
        key: "dims",
        initial: Initial::List(initial),
        range: 2..=high,
    }
}

const RADIX: u64 = MAX_RADIX as u64;
const GROUPS: u64 = MAX_NODES as u64;

/// Every kind of network.
pub static KINDS: [Kind; 8] = [
    Kind {
        name: "single-switch",
        parameters: &[number("nodes", 16, 2, RADIX)],
        build: |parameters| Ok(Arc::new(SingleSwitch::new(parameters)?)),
    },
    // p000 Table 6.
    Kind {
        name: "megafly",
        parameters: &[
            number("groups", 65, 1, GROUPS),
            number("radix", 16, 2, RADIX),
        ],
        build: |parameters| Ok(Arc::new(Megafly::new(parameters)?)),
    },
    // p000 Table 7.
    Kind {
        name: "rlft",
        parameters: &[number("radix", 26, 2, RADIX), number("levels", 3, 2, 20)],
        build: |parameters| Ok(Arc::new(FatTree::rlft(parameters)?)),
    },
    // p001 4.1.
    Kind {
        name: "torus",
        parameters: &[
            dims(&[4, 4, 4], 64),
            number("ports_per_link", 4, 1, RADIX),
            number("nodes_per_switch", 1, 1, RADIX),
            Parameter {
                key: "radix",
                initial: Initial::Computed,
                range: 1..=RADIX,
            },
        ],
        build: |parameters| Ok(Arc::new(Torus::new(parameters)?)),
    },
    // p004 2.
    Kind {
        name: "k-ary-n-tree",
        parameters: &[number("k", 4, 2, RADIX / 2), number("n", 3, 2, 20)],
        build: |parameters| Ok(Arc::new(FatTree::k_ary_n_tree(parameters)?)),
    },
    // p003 III.A.
    Kind {
        name: "dragonfly",
        parameters: &[
            number("groups", 33, 1, GROUPS),
            number("switches_per_group", 8, 1, RADIX),
            number("nodes_per_switch", 4, 1, RADIX),
            number("global_ports", 4, 1, RADIX),
        ],
        build: |parameters| Ok(Arc::new(Dragonfly::new(parameters)?)),
    },
    // p002 Table V: 6 x 16, radix 48, 8 nodes per switch. It leaves open how the other 40
    // ports are divided; these are the Cray XC's: 15 in the row, 3 to each of the 5 others
    // in the column, 10 to other groups.
    Kind {
        name: "rc-dragonfly",
        parameters: &[
            number("groups", 6, 1, GROUPS),
            number("rows", 6, 1, RADIX),
            number("columns", 16, 1, RADIX),
            number("ports_per_column_link", 3, 1, RADIX),
            number("nodes_per_switch", 8, 1, RADIX),
            number("global_ports", 10, 1, RADIX),
        ],
        build: |parameters| Ok(Arc::new(Dragonfly::row_column(parameters)?)),
    },
    // p002 Table V.
    Kind {
        name: "hyperx",
        parameters: &[
            dims(&[8, 8, 6], 64),
            number("nodes_per_switch", 12, 1, RADIX),
            number("ports_per_link", 1, 1, RADIX),
            number("radix", 48, 1, RADIX),
        ],
        build: |parameters| Ok(Arc::new(HyperX::new(parameters)?)),
    },
];

/// The parameters of a network, each in its range.
pub(super) struct Parameters(Vec<(&'static str, Value)>);

impl Parameters {
    /// Those that are given, and defaults for the others.
    pub(super) fn of(kind: &Kind, given: &[(&str, Value)]) -> Result<Self, ParameterError> {
        let known = |key| kind.parameters.iter().any(|parameter| parameter.key == key);
        if let Some((key, _)) = given.iter().find(|(key, _)| !known(*key)) {
            panic!("{} has no parameter {key}", kind.name);
        }
        let mut parameters = Vec::new();
        for parameter in kind.parameters {
            let value = given
                .iter()
                .find(|(key, _)| *key == parameter.key)
                .map(|(_, value)| value.clone());
            if let Some(value) = &value {
                parameter.check(value)?;
            }
            let value = value.or(match parameter.initial {
                Initial::Number(number) => Some(Value::Number(number)),
                Initial::List(list) => Some(Value::List(list.to_vec())),
                Initial::Computed => None,
            });
            parameters.extend(value.map(|value| (parameter.key, value)));
        }
        Ok(Self(parameters))
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.0
            .iter()
            .find_map(|(name, value)| (*name == key).then_some(value))
    }

    /// A parameter that may be missing.
    pub(super) fn given(&self, key: &str) -> Option<usize> {
        match self.value(key)? {
            Value::Number(number) => Some(*number),
            Value::List(_) => panic!("{key} is a list"),
        }
    }

    /// A number of the kind.
    pub(super) fn number(&self, key: &str) -> usize {
        self.given(key)
            .unwrap_or_else(|| panic!("no parameter {key}"))
    }

    /// A list of the kind.
    pub(super) fn list(&self, key: &str) -> &[usize] {
        match self.value(key) {
            Some(Value::List(list)) => list,
            other => panic!("{key} is {other:?}"),
        }
    }

    /// Half of `radix`: as many ports up as down.
    pub(super) fn half_radix(&self) -> Result<usize, ParameterError> {
        let radix = self.number("radix");
        if radix.is_multiple_of(2) {
            return Ok(radix / 2);
        }
        Err(ParameterError {
            key: "radix",
            problem: format!(
                "radix is {radix}: it must be even, as half of the ports point up; the nearest \
                 are {} and {}",
                radix - 1,
                radix + 1
            ),
        })
    }

    /// The points of the grid that the list `key` spans: its switches.
    pub(super) fn points(
        &self,
        key: &'static str,
        nodes_per_switch: usize,
    ) -> Result<usize, ParameterError> {
        let points = self
            .list(key)
            .iter()
            .fold(1, |points: usize, size| points.saturating_mul(*size));
        self.node_limit(key, points, nodes_per_switch)?;
        Ok(points)
    }

    /// Refuses networks that are too large; `key` is to blame.
    pub(super) fn node_limit(
        &self,
        key: &'static str,
        switches: usize,
        nodes_per_switch: usize,
    ) -> Result<(), ParameterError> {
        let nodes = switches.saturating_mul(nodes_per_switch);
        if nodes <= MAX_NODES {
            return Ok(());
        }
        Err(ParameterError {
            key,
            problem: format!(
                "{switches} switches with {nodes_per_switch} nodes each are {nodes} nodes; a \
                 network can have at most {MAX_NODES}"
            ),
        })
    }
}

/// A network: its kind, its parameters, and the topology that they make.
#[derive(Clone, Debug)]
pub struct Shape {
    kind: &'static Kind,
    parameters: Vec<(&'static str, Value)>,
    topology: Arc<dyn Topology>,
}

impl Shape {
    /// The network of that kind with the parameters that are given, and defaults for the
    /// others.
    ///
    /// # Errors
    /// If no network can have these.
    ///
    /// # Panics
    /// If the kind has no such parameter.
    pub fn new(kind: &'static Kind, given: &[(&str, Value)]) -> Result<Self, ParameterError> {
        let parameters = Parameters::of(kind, given)?;
        Ok(Self {
            kind,
            topology: (kind.build)(&parameters)?,
            parameters: parameters.0,
        })
    }

    /// The network of that name with its defaults; `None` if there is no such kind.
    pub fn named(name: &str) -> Option<Self> {
        let kind = KINDS.iter().find(|kind| kind.name == name)?;
        Some(Self::new(kind, &[]).expect("the defaults are legal"))
    }

    /// The name of its kind.
    pub fn kind(&self) -> &'static str {
        self.kind.name
    }

    /// Its parameters, but those that follow from the others.
    pub fn parameters(&self) -> &[(&'static str, Value)] {
        &self.parameters
    }
}

impl Parameter {
    /// Whether the value has the parameter's type and range.
    fn check(&self, value: &Value) -> Result<(), ParameterError> {
        let wrong = |problem: String| {
            Err(ParameterError {
                key: self.key,
                problem,
            })
        };
        let (low, high) = (self.range.start(), self.range.end());
        let elements = match (value, self.initial) {
            (Value::Number(number), Initial::Number(_) | Initial::Computed) => {
                std::slice::from_ref(number)
            }
            (Value::List(list), Initial::List(_)) if list.is_empty() => {
                return wrong(format!("{} is empty: at least one number", self.key));
            }
            (Value::List(list), Initial::List(_)) if list.len() > MAX_DIMENSIONS => {
                return wrong(format!(
                    "{} has {} numbers: at most {MAX_DIMENSIONS}",
                    self.key,
                    list.len()
                ));
            }
            (Value::List(list), Initial::List(_)) => list,
            (_, Initial::List(_)) => return wrong(format!("{} must be a list", self.key)),
            _ => return wrong(format!("{} must be a number", self.key)),
        };
        match elements
            .iter()
            .find(|&&element| !self.range.contains(&(element as u64)))
        {
            Some(element) => wrong(format!(
                "{} is {element}: it must be {low} to {high}",
                self.key
            )),
            None => Ok(()),
        }
    }
}

impl Deref for Shape {
    type Target = dyn Topology;

    fn deref(&self) -> &Self::Target {
        &*self.topology
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        self.kind.name == other.kind.name && self.parameters == other.parameters
    }
}
