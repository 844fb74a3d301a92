//! Values in the places of a scenario's own.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::keys::TABLES;

/// Keys by their paths, `switch.mtu_bytes`, and a value for each.
pub type Keys = Vec<(String, Value)>;

/// What the paths of keys begin with that are of the ports' configuration.
const PORTS: &str = "power.";

/// The key of a scenario that names a file of that configuration: it is the scenario's own.
pub const PORT_FILE: &str = "power.controller";

/// A place that is not in the text of the scenario.
const NOWHERE: Range<usize> = 0..0;

/// Values that take the places of a scenario's own; what is none, or empty, leaves what its file
/// has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variation {
    /// Keys of a workload, and a name for them.
    pub workload: Option<(String, Keys)>,
    /// Keys that change together, and a name for them.
    pub configuration: Option<(String, Keys)>,
    /// Keys that change one by one.
    pub keys: Keys,
    /// `load` of `[traffic]`.
    pub load: Option<f64>,
    /// `mapping` of `[traffic]`, or of each of its jobs: `linear` or `random`.
    pub mapping: Option<&'static str>,
    /// `seed` of `[run]`.
    pub seed: Option<u64>,
}

impl Variation {
    /// All keys that have a path, those of the workload and of the configuration first.
    fn paths(&self) -> impl Iterator<Item = &(String, Value)> {
        let named = self.workload.iter().chain(&self.configuration);
        let configured = named.flat_map(|(_, keys)| keys);
        configured.chain(&self.keys)
    }

    /// Those of the ports' configuration, as their paths are there: `histogram.bins`. A scenario
    /// does not have them.
    pub fn of_ports(&self) -> Keys {
        let own = self.paths().filter(|(path, _)| path != PORT_FILE);
        own.filter_map(|(path, value)| Some((path.strip_prefix(PORTS)?.to_owned(), value.clone())))
            .collect()
    }

    /// Those of the scenario, as its tables.
    fn tables(&self) -> Table {
        let mut tables = Table::new();
        for (path, value) in self.paths() {
            if path == PORT_FILE || !path.starts_with(PORTS) {
                insert(&mut tables, path, value.clone());
            }
        }
        if let Some(load) = self.load {
            insert(&mut tables, "traffic.load", load.into());
        }
        if let Some(mapping) = self.mapping {
            insert(&mut tables, "traffic.mapping", mapping.into());
        }
        if let Some(seed) = self.seed {
            // No scenario has a larger one than TOML has numbers.
            let seed = i64::try_from(seed).unwrap_or(i64::MAX);
            insert(&mut tables, "run.seed", seed.into());
        }
        tables
    }

    /// The values as the text of a scenario, for [`put`].
    pub(super) fn toml(&self) -> String {
        self.tables().to_string()
    }
}

/// Puts the values of [`Variation::toml`] into the tables of a scenario. They have no place in its
/// text.
pub(super) fn put<'t>(values: &DeTable<'t>, document: &mut DeTable<'t>) {
    for (name, values) in values {
        let table = document
            .entry(nowhere(name.get_ref().clone()))
            .or_insert_with(|| nowhere(DeValue::Table(DeTable::new())));
        // What is no table is refused later.
        let (DeValue::Table(table), DeValue::Table(values)) = (table.get_mut(), values.get_ref())
        else {
            continue;
        };
        if replaces(name.get_ref(), table, values) {
            table.clear();
        }
        for (key, value) in values {
            let (key, value) = (nowhere(key.get_ref().clone()), without_place(value));
            let jobs = match key.get_ref().as_ref() {
                "mapping" => table.get_mut("jobs").map(Spanned::get_mut),
                _ => None,
            };
            let Some(DeValue::Array(jobs)) = jobs else {
                table.insert(key, value);
                continue;
            };
            for job in jobs.iter_mut() {
                if let DeValue::Table(job) = job.get_mut() {
                    job.insert(key.clone(), value.clone());
                }
            }
        }
    }
}

/// Whether nothing is left of a table with these values: they make it one of another kind, which has
/// other keys, or name a file in its place.
fn replaces(name: &str, table: &DeTable, values: &DeTable) -> bool {
    let Some(kind) = values.get("kind").map(Spanned::get_ref) else {
        return name == "power" && values.contains_key("controller");
    };
    // The first kind is the one without the key.
    let first = TABLES.iter().find(|known| known.path == name);
    let own = match table.get("kind") {
        Some(own) => own.get_ref().as_str(),
        None => first.map(|table| table.kind),
    };
    own != kind.as_str()
}

/// Puts a value in its place, in tables that are made where there are none.
pub fn insert(tables: &mut Table, path: &str, value: Value) {
    let Some((table, rest)) = path.split_once('.') else {
        tables.insert(path.into(), value);
        return;
    };
    let empty = || Value::Table(Table::new());
    let inner = tables.entry(table).or_insert_with(empty);
    // A key with a value is no table, and refused where the tables are read.
    if !inner.is_table() {
        *inner = empty();
    }
    if let Value::Table(inner) = inner {
        insert(inner, rest, value);
    }
}

fn nowhere<T>(value: T) -> Spanned<T> {
    Spanned::new(NOWHERE, value)
}

/// A value, and all values in it, with no place in a text.
fn without_place<'t>(value: &Spanned<DeValue<'t>>) -> Spanned<DeValue<'t>> {
    let mut value = value.get_ref().clone();
    match &mut value {
        DeValue::Array(values) => {
            for value in values.iter_mut() {
                *value = without_place(value);
            }
        }
        DeValue::Table(table) => {
            let own = std::mem::take(table).into_iter();
            *table = own
                .map(|(key, value)| (nowhere(key.into_inner()), without_place(&value)))
                .collect();
        }
        _ => {}
    }
    nowhere(value)
}
