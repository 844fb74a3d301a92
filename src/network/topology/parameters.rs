//! The parameters of networks, and what they can be.

use std::ops::RangeInclusive;

use super::MAX_NODES;

/// Most dimensions of a torus or a HyperX.
const MAX_DIMENSIONS: usize = 6;

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
    /// A number that follows from the others: how, in words.
    Computed(&'static str),
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
            (Value::Number(number), Initial::Number(_) | Initial::Computed(_)) => {
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

/// The parameters of a network, each in its range.
pub(super) struct Parameters(Vec<(&'static str, Value)>);

impl Parameters {
    /// Those that are given, and defaults for the others.
    pub(super) fn of(
        kind: &str,
        all: &[Parameter],
        given: &[(&str, Value)],
    ) -> Result<Self, ParameterError> {
        let known = |key| all.iter().any(|parameter| parameter.key == key);
        if let Some((key, _)) = given.iter().find(|(key, _)| !known(*key)) {
            panic!("{} has no parameter {key}", kind);
        }
        let mut parameters = Vec::new();
        for parameter in all {
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
                Initial::Computed(_) => None,
            });
            parameters.extend(value.map(|value| (parameter.key, value)));
        }
        Ok(Self(parameters))
    }

    /// Each with its value, but those that follow from the others.
    pub(super) fn into_given(self) -> Vec<(&'static str, Value)> {
        self.0
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
