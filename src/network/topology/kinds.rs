//! The kinds of networks and their parameters.

use std::ops::Deref;
use std::sync::Arc;

use super::dragonfly::Dragonfly;
use super::fat_tree::FatTree;
use super::hyperx::HyperX;
use super::megafly::Megafly;
use super::parameters::{Initial, Parameter, ParameterError, Parameters, Value};
use super::single_switch::SingleSwitch;
use super::torus::Torus;
use super::{Topology, MAX_NODES};
use crate::input::similar;
use crate::network::parameters::MAX_RADIX;

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
    // PerfBound Table 6.
    Kind {
        name: "megafly",
        parameters: &[
            number("groups", 65, 1, GROUPS),
            number("radix", 16, 2, RADIX),
        ],
        build: |parameters| Ok(Arc::new(Megafly::new(parameters)?)),
    },
    // PerfBound Table 7.
    Kind {
        name: "rlft",
        parameters: &[
            number("radix", 26, 2, RADIX),
            number("levels", 3, 2, 20),
            Parameter {
                key: "subtrees",
                initial: Initial::Computed("as many as `radix`"),
                range: 2..=RADIX,
            },
        ],
        build: |parameters| Ok(Arc::new(FatTree::rlft(parameters)?)),
    },
    // POWAR 4.1.
    Kind {
        name: "torus",
        parameters: &[
            dims(&[4, 4, 4], 64),
            number("ports_per_link", 4, 1, RADIX),
            number("nodes_per_switch", 1, 1, RADIX),
            Parameter {
                key: "radix",
                initial: Initial::Computed("as many as the others need"),
                range: 1..=RADIX,
            },
        ],
        build: |parameters| Ok(Arc::new(Torus::new(parameters)?)),
    },
    // Alonso 2.
    Kind {
        name: "k-ary-n-tree",
        parameters: &[number("k", 4, 2, RADIX / 2), number("n", 3, 2, 20)],
        build: |parameters| Ok(Arc::new(FatTree::k_ary_n_tree(parameters)?)),
    },
    // Zahn III.A.
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
    // Georgakoudis Table V: 6 x 16, radix 48, 8 nodes per switch. It leaves open how the other 40
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
    // Georgakoudis Table V.
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

/// A network: its kind, its parameters, and the topology that they make.
#[derive(Clone, Debug)]
pub struct ConfiguredTopology {
    kind: &'static Kind,
    parameters: Vec<(&'static str, Value)>,
    topology: Arc<dyn Topology>,
}

/// Names under which kinds are known elsewhere, and the kinds.
const OTHER_NAMES: [(&str, &[&str]); 7] = [
    ("fat-tree", &["rlft", "k-ary-n-tree"]),
    ("fattree", &["rlft", "k-ary-n-tree"]),
    ("folded-clos", &["rlft", "k-ary-n-tree"]),
    ("clos", &["rlft", "k-ary-n-tree"]),
    ("dragonfly+", &["megafly"]),
    ("dragonfly-plus", &["megafly"]),
    ("flattened-butterfly", &["hyperx"]),
];

/// The kinds that `name`, which is none, may mean: those that are called so elsewhere, or the one
/// whose name is similar.
pub fn nearest_kinds(name: &str) -> Vec<&'static str> {
    let lower = name.to_lowercase().replace([' ', '_'], "-");
    match OTHER_NAMES.iter().find(|(other, _)| *other == lower) {
        Some((_, kinds)) => kinds.to_vec(),
        None => similar(&lower, &KINDS.each_ref().map(|kind| kind.name))
            .into_iter()
            .collect(),
    }
}

impl ConfiguredTopology {
    /// The network of that kind with the parameters that are given, and defaults for the
    /// others.
    ///
    /// # Errors
    /// If no network can have these.
    ///
    /// # Panics
    /// If the kind has no such parameter.
    pub fn new(kind: &'static Kind, given: &[(&str, Value)]) -> Result<Self, ParameterError> {
        let parameters = Parameters::of(kind.name, kind.parameters, given)?;
        Ok(Self {
            kind,
            topology: (kind.build)(&parameters)?,
            parameters: parameters.into_given(),
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

impl Deref for ConfiguredTopology {
    type Target = dyn Topology;

    fn deref(&self) -> &Self::Target {
        &*self.topology
    }
}

impl PartialEq for ConfiguredTopology {
    fn eq(&self, other: &Self) -> bool {
        self.kind.name == other.kind.name && self.parameters == other.parameters
    }
}
