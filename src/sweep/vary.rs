//! What a sweep varies of its scenario: the keys of `[vary]`, and `[workloads]` and
//! `[configurations]`, keys that change together and have a name.

use std::collections::BTreeSet;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::listed::{axis, known, listed, Place, MOST_RUNS, MOST_VALUES};
use crate::input::{similar, Decimal, Kind, Reader, Section, Value as Read};
use crate::network::scenario::{Keys, Variation, PORT_FILE};

/// The values that `mapping` may have for all jobs at once.
pub(super) const MAPPINGS: [&str; 2] = ["linear", "random"];

/// The keys of `[vary]` that stand for one of the scenario.
const NAMED: [(&str, &str); 3] = [
    ("load", "traffic.load"),
    ("mapping", "traffic.mapping"),
    ("seed", "run.seed"),
];

/// What the settings of the ports replace, and what lists it instead.
const OF_SETTINGS: [(&str, &str); 5] = [
    ("power.port.policy", "`policies` of [perfbound]"),
    ("power.port.sleep", "`states`"),
    ("power.port.t_pdt_ns", "`t_pdt_ns` of [fixed]"),
    ("power.histogram.kind", "`histograms` of [perfbound]"),
    ("power.perfbound.bound", "`bounds` of [perfbound]"),
];

/// What TOML has and a scenario cannot take.
const NO_VALUE: &str =
    "cannot be put into a scenario: write whole numbers below 2^63, and tables in a \
                        list, as [{ ... }, { ... }]";

/// A path may be written in quotes and without, and TOML does not know that it is the same.
const TWICE: &str = "every key may appear once: remove one of the two";

/// Where a sweep has the values of a variation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Places {
    /// By the path of the key.
    of: Vec<(String, usize)>,
}

impl Places {
    /// Where the value is that a problem names, or else the first.
    pub(super) fn of_problem(&self, problem: &str) -> Place {
        let name = |path: &str| path.strip_prefix("power.").unwrap_or(path).to_owned();
        let is_named = |(path, _): &&(String, usize)| problem.contains(&name(path));
        // One path may begin another.
        let named = self
            .of
            .iter()
            .filter(is_named)
            .max_by_key(|(path, _)| path.len());
        named.or(self.of.first()).map(|(_, place)| *place)
    }

    /// Where the seed is.
    pub(super) fn of_seed(&self) -> Place {
        let seed = self.of.iter().find(|(path, _)| path == "run.seed");
        seed.map(|(_, place)| *place)
    }
}

/// The tables that hold tables with names.
pub(super) const NAMED_TABLES: [&str; 2] = ["workloads", "configurations"];

/// The key of a configuration that names the one whose keys it has, too.
const BASED_ON: &str = "based_on";

/// The tables and keys of a sweep that a configuration may have for itself.
const SETTINGS: [&str; 3] = ["states", "fixed", "perfbound"];

/// What a sweep has beside the keys of its tables.
#[derive(Default)]
pub(super) struct Axes<'t> {
    /// Of `[vary]`: a path, and its values with their places.
    keys: Vec<(String, Vec<(Value, usize)>)>,
    workloads: Vec<Named<'t>>,
    configurations: Vec<Named<'t>>,
}

/// Keys of the scenario that change together.
#[derive(Clone)]
struct Named<'t> {
    name: String,
    keys: Keys,
    places: Places,
    /// The configuration that this one is based on, and where the file says so.
    based_on: Option<(String, usize)>,
    /// Its own settings of the ports.
    settings: Option<DeTable<'t>>,
}

/// What belongs to a variation.
pub(super) struct Varied<'t> {
    /// Where its values are.
    pub(super) places: Places,
    /// The settings of the ports that its configuration has for itself.
    pub(super) settings: Option<DeTable<'t>>,
    /// The number of the variation with whose run without power saving it is compared.
    pub(super) against: usize,
}

/// Takes `[workloads]` and `[configurations]` out of the tables of a sweep, and what `[vary]` has
/// beside the keys that are named there.
pub(super) fn take<'t>(reader: &mut Reader, text: &str, document: &mut DeTable<'t>) -> Axes<'t> {
    let mut axes = Axes::default();
    if let Some(DeValue::Table(vary)) = document.get_mut("vary").map(Spanned::get_mut) {
        let mut others = DeTable::new();
        for (key, value) in std::mem::take(vary) {
            let is_named = NAMED.iter().any(|(name, _)| key.get_ref() == name);
            let into = if is_named { &mut *vary } else { &mut others };
            into.insert(key, value);
        }
        for (path, place, value) in leaves(&others) {
            if let Some(problem) = refused(&path, true) {
                reader.unknown_name(place, format!("vary.{path}: {problem}"));
            } else if axes.keys.iter().any(|(there, _)| *there == path) {
                reader.fault(place, format!("vary.{path}: {TWICE}"));
            } else {
                let values = values(reader, text, &path, value);
                axes.keys.push((path, values));
            }
        }
    }
    let [workloads, configurations] =
        NAMED_TABLES.map(|table| named_tables(reader, text, document, table));
    let varied: Vec<&String> = axes.keys.iter().map(|(path, _)| path).collect();
    refuse_in_both(reader, NAMED_TABLES[0], &workloads, "[vary]", &varied);
    refuse_in_both(reader, NAMED_TABLES[1], &configurations, "[vary]", &varied);
    let paths = workloads.iter().flat_map(|of| &of.keys);
    let paths: Vec<&String> = paths.map(|(path, _)| path).collect();
    refuse_in_both(
        reader,
        NAMED_TABLES[1],
        &configurations,
        "[workloads]",
        &paths,
    );
    axes.configurations = based(reader, configurations);
    axes.workloads = workloads;
    axes
}

/// The tables with names that the table `all` of a sweep holds.
fn named_tables<'t>(
    reader: &mut Reader,
    text: &str,
    document: &mut DeTable<'t>,
    all: &str,
) -> Vec<Named<'t>> {
    let Some(named) = document.remove(all) else {
        return Vec::new();
    };
    let Some(tables) = named.get_ref().as_table() else {
        let problem = format!("{all}: must hold tables, such as [{all}.small]");
        reader.fault(named.span().start, problem);
        return Vec::new();
    };
    let mut tables: Vec<_> = tables.iter().collect();
    // As they are written.
    tables.sort_by_key(|(name, _)| name.span().start);
    let mut found = Vec::new();
    for (name, value) in tables {
        let at = name.span().start;
        let name = name.get_ref().to_string();
        let Some(own) = value.get_ref().as_table() else {
            let problem = format!(
                "{all}.{name}: must be a table, such as [{all}.{name}], with keys of the scenario by \
                 their paths"
            );
            reader.fault(at, problem);
            continue;
        };
        let plain = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
        if name.is_empty() || !name.chars().all(plain) {
            let problem = "a name becomes part of file names: letters, digits, `-` and `_` alone";
            reader.fault(at, format!("{all}.{name:?}: {problem}"));
        }
        let mut of = Named {
            name,
            keys: Keys::new(),
            places: Places::default(),
            based_on: None,
            settings: None,
        };
        let mut own = own.clone();
        if all == NAMED_TABLES[1] {
            of.based_on = based_on(reader, &of.name, &mut own);
            let (settings, others): (Vec<_>, Vec<_>) = own
                .into_iter()
                .partition(|(key, _)| SETTINGS.contains(&key.get_ref().as_ref()));
            of.settings = (!settings.is_empty()).then(|| settings.into_iter().collect());
            own = others.into_iter().collect();
        }
        for (path, place, value) in leaves(&own) {
            if let Some(problem) = refused(&path, false) {
                reader.unknown_name(place, format!("{all}.{}.{path}: {problem}", of.name));
            } else if of.keys.iter().any(|(there, _)| *there == path) {
                reader.fault(place, format!("{all}.{}.{path}: {TWICE}", of.name));
            } else if let Some(value) = read(text, value) {
                of.places.of.push((path.clone(), place));
                of.keys.push((path, value));
            } else {
                reader.fault(place, format!("{all}.{}.{path}: {NO_VALUE}", of.name));
            }
        }
        found.push(of);
    }
    found
}

/// Takes the name of the configuration that one is based on out of its table.
fn based_on(reader: &mut Reader, name: &str, own: &mut DeTable) -> Option<(String, usize)> {
    let value = own.remove(BASED_ON)?;
    let at = value.span().start;
    let base = value.get_ref().as_str().map(str::to_owned);
    if base.is_none() {
        let problem = "must be the name of another configuration, in quotes";
        reader.fault(at, format!("configurations.{name}.{BASED_ON}: {problem}"));
    }
    base.map(|base| (base, at))
}

/// Refuses keys of tables with names that something else has, too.
fn refuse_in_both(reader: &mut Reader, all: &str, tables: &[Named], other: &str, has: &[&String]) {
    for Named { name, places, .. } in tables {
        for (path, place) in places.of.iter().filter(|(path, _)| has.contains(&path)) {
            let problem = format!("{other} has this key, too: one of the two would be lost");
            reader.fault(*place, format!("{all}.{name}.{path}: {problem}"));
        }
    }
}

/// The configurations, each with the keys of the one that it is based on.
fn based<'t>(reader: &mut Reader, all: Vec<Named<'t>>) -> Vec<Named<'t>> {
    let mut complete = all.clone();
    for of in &mut complete {
        let Some((base, at)) = of.based_on.clone() else {
            continue;
        };
        let mut fault = |place: usize, problem: &str| {
            reader.fault(place, format!("configurations.{}.{problem}", of.name));
        };
        let names: Vec<&str> = all.iter().map(|other| &*other.name).collect();
        match all.iter().find(|other| other.name == base) {
            Some(base) if base.based_on.is_none() => {
                let is_own = |path: &str| of.keys.iter().any(|(own, _)| own == path);
                let inherited = base.keys.iter().filter(|(path, _)| !is_own(path));
                let keys = inherited.chain(&of.keys).cloned().collect();
                of.keys = keys;
            }
            Some(_) => fault(at, "based_on: that one is based on another one itself"),
            None => match similar(&base, &names) {
                Some(nearest) => fault(
                    at,
                    &format!("based_on: no such configuration; the nearest is `{nearest}`"),
                ),
                None => fault(at, "based_on: no such configuration"),
            },
        }
        // It is compared with the run of another one, which has to do the same.
        for (path, place) in &of.places.of {
            if path.starts_with("traffic.") || path.starts_with("run.") {
                let problem =
                    "a configuration that is based on another one is compared with it, and has \
                               its traffic: put this key into a configuration of its own";
                fault(*place, &format!("{path}: {problem}"));
            }
        }
    }
    complete
}

/// What is wrong with a path, of `[vary]` or of a configuration.
fn refused(path: &str, of_vary: bool) -> Option<String> {
    if let Some((_, instead)) = OF_SETTINGS.iter().find(|(own, _)| *own == path) {
        return Some(format!(
            "a setting of the ports: list its values in {instead}"
        ));
    }
    if let Some((name, _)) = NAMED.iter().find(|(_, own)| of_vary && *own == path) {
        return Some(format!("write `{name}`, which stands for it"));
    }
    if path == "run.sample_ns" {
        return Some(
            "a sweep takes no samples: what a run costs and saves is the same with each".into(),
        );
    }
    if path.starts_with("power.verilog.") {
        return Some("a name in the Verilog: it changes nothing in a network".into());
    }
    if ["power.port.triple_redundancy", "power.port.memory_code"].contains(&path) {
        return Some("only the hardware has it: it changes nothing in a network".into());
    }
    if path == "power.perfbound.hops" {
        return Some("the hop counts of a network come from its routing: vary its topology".into());
    }
    let tables = Kind::Scenario.names();
    let known: Vec<String> = tables.iter().map(|table| format!("`{table}.`")).collect();
    let known = known.join(", ");
    let Some((table, key)) = path.split_once('.') else {
        let names = NAMED.map(|(name, _)| name);
        return Some(match similar(path, &names) {
            Some(nearest) if of_vary => {
                format!("unknown key; the nearest known one is `{nearest}`")
            }
            _ => format!("a key of the scenario has its table before it: one of {known}"),
        });
    };
    if !tables.contains(&table) {
        return Some(match similar(table, tables) {
            Some(nearest) => {
                format!("a scenario has no such table; the nearest known one is `{nearest}`")
            }
            None => format!("a scenario has no such table; there are {known}"),
        });
    }
    if table == "power" && path != PORT_FILE && !key.contains('.') {
        let problem = "a key of the ports' configuration has its table before it, such as \
                       `power.histogram.bins`; a scenario has `power.controller` alone";
        return Some(problem.into());
    }
    None
}

/// Every value that is no table: its path, the place of its key, and itself.
fn leaves<'v, 't>(table: &'v DeTable<'t>) -> Vec<(String, usize, &'v Spanned<DeValue<'t>>)> {
    let mut found = Vec::new();
    for (key, value) in table {
        let name = key.get_ref().to_string();
        match value.get_ref() {
            DeValue::Table(inner) => {
                let inner = leaves(inner).into_iter();
                found.extend(inner.map(|(path, at, value)| (format!("{name}.{path}"), at, value)));
            }
            _ => found.push((name, key.span().start, value)),
        }
    }
    // As they are written.
    found.sort_by_key(|(_, place, _)| *place);
    found
}

/// A value as it is written.
fn read(text: &str, value: &Spanned<DeValue>) -> Option<Value> {
    let table: Table = format!("value = {}", text.get(value.span())?)
        .parse()
        .ok()?;
    table.get("value").cloned()
}

/// The values of a list in `[vary]`, each once.
fn values(
    reader: &mut Reader,
    text: &str,
    path: &str,
    list: &Spanned<DeValue>,
) -> Vec<(Value, usize)> {
    let mut found: Vec<(Value, usize)> = Vec::new();
    let mut fault =
        |place: usize, problem: &str| reader.fault(place, format!("vary.{path}{problem}"));
    let DeValue::Array(all) = list.get_ref() else {
        fault(list.span().start, ": must be a list of values, in brackets");
        return found;
    };
    if all.len() > MOST_VALUES {
        let problem = format!(
            ": {} values, and at most {MOST_VALUES} can be listed",
            all.len()
        );
        fault(list.span().start, &problem);
        return found;
    }
    for value in all.iter() {
        let at = value.span().start;
        match read(text, value) {
            None => fault(at, &format!(": {NO_VALUE}")),
            Some(Value::Table(_)) => fault(at, ": a table is no value of a key"),
            Some(value) if found.iter().any(|(there, _)| *there == value) => {
                fault(at, &format!(", {value}: is listed twice"));
            }
            Some(value) => found.push((value, at)),
        }
    }
    found
}

/// Every combination of what is listed: workloads and configurations outermost, seeds innermost.
pub(super) fn variations<'t>(
    reader: &mut Reader,
    vary: &Section,
    axes: Axes<'t>,
) -> Vec<(Variation, Varied<'t>)> {
    let (mut loads, mut seeds, mut mappings) = (Vec::new(), Vec::new(), Vec::new());
    listed(reader, vary, "load", &mut loads, |value| {
        Some(Decimal::scaled(value.number()?, 6).to_f64())
    });
    listed(reader, vary, "seed", &mut seeds, Read::number);
    listed(reader, vary, "mapping", &mut mappings, |value| {
        known(value, &MAPPINGS, |it| it)
    });
    let named = [loads.len(), mappings.len(), seeds.len()];
    let tables = [axes.workloads.len(), axes.configurations.len()];
    let keys = axes.keys.iter().map(|(_, values)| values.len());
    let lengths = tables.into_iter().chain(keys).chain(named);
    let count = lengths.fold(1, |all: usize, length| all.saturating_mul(length.max(1)));
    if count > MOST_RUNS {
        let problem = format!(
            "[vary]: {count} combinations of all that varies, and a sweep has at most {MOST_RUNS} \
             runs: list fewer values, or make several sweeps"
        );
        reader.fault(vary.at, problem);
        return Vec::new();
    }
    let mut all = vec![(Variation::default(), Places::default())];
    all = each_table(all, &axes.workloads, |it, named| it.workload = Some(named));
    all = each_table(all, &axes.configurations, |it, named| {
        it.configuration = Some(named)
    });
    for (path, values) in &axes.keys {
        let values: Vec<(&Value, Place)> = values.iter().map(|(it, at)| (it, Some(*at))).collect();
        all = each(all, &values, path, |variation, value| {
            variation.keys.push((path.clone(), value.clone()));
        });
    }
    let [(_, of_load), (_, of_mapping), (_, of_seed)] = NAMED;
    all = each(all, &loads, of_load, |it, load| it.load = Some(load));
    all = each(all, &mappings, of_mapping, |it, mapping| {
        it.mapping = Some(mapping)
    });
    all = each(all, &seeds, of_seed, |it, seed| it.seed = Some(seed));
    if let Some((name, places)) = twice(&all).filter(|_| !reader.has_faults()) {
        let problem = format!(
            "two combinations would have the name {name:?}: give their values names of their own in \
             [configurations]"
        );
        reader.fault(places.of_problem("").unwrap_or(vary.at), problem);
    }
    let too_long = all.iter().find(|(it, _)| name(it).len() > LONGEST_NAME);
    if let Some((variation, places)) = too_long.filter(|_| !reader.has_faults()) {
        let name = name(variation);
        let problem = format!(
            "{name:?} would be part of file names, and may have {LONGEST_NAME} letters, not {}: give \
             the values a name of their own in [configurations]",
            name.len()
        );
        reader.fault(places.of_problem("").unwrap_or(vary.at), problem);
    }
    let against: Vec<usize> = (0..all.len())
        .map(|number| against(&all, number, &axes.configurations).unwrap_or(number))
        .collect();
    let with_own = all
        .into_iter()
        .zip(against)
        .map(|((variation, places), against)| {
            let name = variation.configuration.as_ref().map(|(name, _)| name);
            let mut own = axes.configurations.iter();
            let own = own.find(|of| Some(&of.name) == name);
            let varied = Varied {
                settings: own.and_then(|of| of.settings.clone()),
                places,
                against,
            };
            (variation, varied)
        });
    with_own.collect()
}

/// The number of the variation with the configuration that another one's is based on, and all else
/// the same.
fn against(all: &[(Variation, Places)], number: usize, configurations: &[Named]) -> Option<usize> {
    let (variation, _) = &all[number];
    let (name, _) = variation.configuration.as_ref()?;
    let of = configurations.iter().find(|of| of.name == *name)?;
    let (base, _) = of.based_on.as_ref()?;
    all.iter().position(|(other, _)| {
        let other_name = other.configuration.as_ref().map(|(name, _)| name);
        let with_base = Variation {
            configuration: other.configuration.clone(),
            ..variation.clone()
        };
        other_name == Some(base) && *other == with_base
    })
}

/// Each of the variations with each of the tables; where there are none, as it is.
fn each_table(
    all: Vec<(Variation, Places)>,
    tables: &[Named],
    put: impl Fn(&mut Variation, (String, Keys)),
) -> Vec<(Variation, Places)> {
    if tables.is_empty() {
        return all;
    }
    let mut with = Vec::new();
    for (variation, places) in all {
        for table in tables {
            let (mut variation, mut places) = (variation.clone(), places.clone());
            put(&mut variation, (table.name.clone(), table.keys.clone()));
            places.of.extend(table.places.of.iter().cloned());
            with.push((variation, places));
        }
    }
    with
}

/// Each of the variations with each of the values; where there are none, as it is.
fn each<T: Copy>(
    all: Vec<(Variation, Places)>,
    values: &[(T, Place)],
    path: &str,
    put: impl Fn(&mut Variation, T),
) -> Vec<(Variation, Places)> {
    let mut with = Vec::new();
    for (variation, places) in all {
        for (value, place) in axis(values) {
            let (mut variation, mut places) = (variation.clone(), places.clone());
            if let Some(value) = value {
                put(&mut variation, value);
            }
            places
                .of
                .extend(place.map(|place| (path.to_owned(), place)));
            with.push((variation, places));
        }
    }
    with
}

/// Most letters of the name of a variation: that of an experiment stands in front of it and what a
/// figure shows behind it, and a file's name has at most 255.
const LONGEST_NAME: usize = 150;

/// A name that two have.
fn twice(all: &[(Variation, Places)]) -> Option<(String, &Places)> {
    let mut names = BTreeSet::new();
    all.iter().find_map(|(variation, places)| {
        let name = name(variation);
        (!names.insert(name.clone())).then_some((name, places))
    })
}

/// The values that are not the scenario's own, as part of a name; empty where all are.
pub(super) fn name(variation: &Variation) -> String {
    let mut name = String::new();
    for (table, _) in variation.workload.iter().chain(&variation.configuration) {
        name += &format!("_{table}");
    }
    for key in keys_in_name(&variation.keys) {
        name += &format!("_{key}");
    }
    if let Some(load) = variation.load {
        name += &format!("_load-{load}");
    }
    if let Some(mapping) = variation.mapping {
        name += &format!("_{mapping}");
    }
    if let Some(seed) = variation.seed {
        name += &format!("_seed-{seed}");
    }
    name
}

/// Keys that change one by one, each with its value, as parts of the name of a file.
pub(super) fn keys_in_name(keys: &Keys) -> impl Iterator<Item = String> + '_ {
    keys.iter()
        .map(|(path, value)| format!("{}-{}", shortest(path, keys), in_name(value)))
}

/// The end of a path that no other one has, at a point: `mtu_bytes` of `switch.mtu_bytes`.
fn shortest<'p>(path: &'p str, all: &Keys) -> &'p str {
    let ends = path.rmatch_indices('.').map(|(at, _)| &path[at + 1..]);
    let is_of_one = |end: &&str| {
        let has = |(other, _): &&(String, Value)| {
            other
                .strip_suffix(end)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        all.iter().filter(has).count() == 1
    };
    ends.into_iter().find(is_of_one).unwrap_or(path)
}

/// A value as part of the name of a file.
fn in_name(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(in_name).collect::<Vec<_>>().join("x"),
        value => value.to_string(),
    };
    let plain = |it: char| it.is_ascii_alphanumeric() || "-._".contains(it);
    text.chars()
        .map(|it| if plain(it) { it } else { '-' })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Sweep;
    use super::*;

    fn parse(text: &str) -> Result<Sweep, String> {
        let text = format!("scenario = \"a.toml\"\n{text}");
        Sweep::parse(&text, Path::new("sweep.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn every_key_may_vary() {
        let text = "[vary]\nswitch.mtu_bytes = [2048, \"8 KiB\"]\nseed = [3, 4]\n\
                    \"topology.dims\" = [[4, 4], [2, 2, 4]]\n[vary.power.histogram]\nbins = [32]\n";
        let sweep = parse(text).unwrap();
        let names: Vec<String> = sweep.variations.iter().map(name).collect();
        let of = |mtu: &str, dims: &str, seed| {
            format!("_mtu_bytes-{mtu}_dims-{dims}_bins-32_seed-{seed}")
        };
        let mut expected = Vec::new();
        for mtu in ["2048", "8-KiB"] {
            for dims in ["4x4", "2x2x4"] {
                expected.extend([3, 4].map(|seed| of(mtu, dims, seed)));
            }
        }
        assert_eq!(names, expected);
        let first = &sweep.variations[0];
        assert_eq!(first.of_ports(), [("histogram.bins".to_owned(), 32.into())]);
        // Blamed is what a problem names, and else the first.
        let place = |problem: &str| {
            let fault = sweep.variation_fault(Path::new("s"), 7, false, problem.into());
            fault.to_string()
        };
        assert!(place("switch.mtu_bytes = 8: no").starts_with("s:3:27: "));
        assert!(place("histogram.bins = 32: no").starts_with("s:7:9: "));
        let both =
            "[configurations.x]\npower.port.sync = \"lpi\"\npower.port.sync_timeout_ns = 0.5\n";
        let both = parse(both).unwrap();
        let fault = both.variation_fault(
            Path::new("s"),
            0,
            false,
            "port.sync_timeout_ns = 0.5".into(),
        );
        assert!(fault.to_string().starts_with("s:4:12: "), "{fault}");
        assert!(place("no").starts_with("s:3:27: "));
    }

    #[test]
    fn configurations_stand_beside_each_other() {
        let text = "[configurations.small]\ntopology.kind = \"k-ary-n-tree\"\ntopology.k = 2\n\
                    [configurations.large]\npower.controller = \"port.toml\"\n\
                    [configurations.plain]\n[vary]\nload = [0.1, 0.2]\n";
        let sweep = parse(text).unwrap();
        let names: Vec<String> = sweep.variations.iter().map(name).collect();
        let each = ["small", "large", "plain"].map(|name| {
            let of = |load| format!("_{name}_load-{load}");
            [of("0.1"), of("0.2")]
        });
        assert_eq!(names, each.concat());
        let keys = |at: usize| sweep.variations[at].configuration.clone().unwrap().1;
        let kind: Value = "k-ary-n-tree".into();
        let small = [("topology.kind", kind), ("topology.k", 2.into())];
        assert_eq!(keys(0), small.map(|(path, value)| (path.to_owned(), value)));
        assert!(keys(4).is_empty() && sweep.variations[2].of_ports().is_empty());
    }

    #[test]
    fn a_configuration_is_compared_with_the_one_it_is_based_on() {
        let text = "[workloads.a]\n[workloads.b]\ntraffic.load = 0.2\n\
                    [configurations.powar]\nbased_on = \"tree\"\nswitch.selection = \"powar\"\n\
                    switch.switch_ns = 50\n[configurations.tree]\ntopology.k = 4\n\
                    switch.switch_ns = 10\n[configurations.torus]\n[vary]\nseed = [1, 2]\n";
        let sweep = parse(text).unwrap();
        let names: Vec<String> = sweep.variations.iter().map(name).collect();
        let mut expected = Vec::new();
        for workload in ["a", "b"] {
            for configuration in ["powar", "tree", "torus"] {
                expected
                    .extend([1, 2].map(|seed| format!("_{workload}_{configuration}_seed-{seed}")));
            }
        }
        assert_eq!(names, expected);
        let against: Vec<usize> = (0..12).map(|number| sweep.against(number)).collect();
        assert_eq!(against, [2, 3, 2, 3, 4, 5, 8, 9, 8, 9, 10, 11]);
        // Its own keys replace those that it is based on.
        let (_, keys) = sweep.variations[0].configuration.clone().unwrap();
        let text: Vec<String> = keys
            .iter()
            .map(|(path, to)| format!("{path} = {to}"))
            .collect();
        let [k, selection, time] = [
            "topology.k = 4",
            "switch.selection = \"powar\"",
            "switch.switch_ns = 50",
        ];
        assert_eq!(text, [k, selection, time]);
        let (workload, _) = sweep.variations[11].workload.clone().unwrap();
        assert_eq!(workload, "b");
    }

    #[test]
    fn a_configuration_has_settings_of_its_own() {
        let text = "states = [\"hybrid\"]\n[fixed]\nt_pdt_ns = [10, 20]\n[perfbound]\nbounds = []\n\
                    [configurations.all]\n[configurations.few]\nfixed.t_pdt_ns = [5]\n\
                    [configurations.more]\nstates = [\"deep-sleep\"]\n\
                    perfbound = { bounds = [0.1], policies = [\"perfbound\"], histograms = [\"map\"] }\n\
                    [vary]\nseed = [1, 2]\n";
        let sweep = parse(text).unwrap();
        let of = |number| -> Vec<String> {
            let experiments = sweep.experiments(number);
            experiments.map(super::super::Experiment::name).collect()
        };
        let all = ["always-on", "fixed-hybrid-10ns", "fixed-hybrid-20ns"];
        assert_eq!([of(0), of(1)], [all, all]);
        assert_eq!(of(2), ["always-on", "fixed-hybrid-5ns"]);
        let more = [
            "fixed-deep-sleep-10ns",
            "fixed-deep-sleep-20ns",
            "perfbound-deep-sleep-map-0.1",
        ];
        assert_eq!(of(5)[1..], more);
        // Two seeds of a configuration have one matrix.
        assert_eq!((sweep.matrix_of(4), sweep.matrix_of(5)), (2, 2));
        assert_eq!(sweep.names().count(), 2 * (3 + 2 + 4));
        // Blamed is the place of the setting, wherever it was written.
        let fault = |at| sweep.fault(Path::new("s"), at, "no".into()).to_string();
        assert_eq!([fault((0, 1)), fault((2, 1))], ["s:4:13: no", "s:9:19: no"]);
        assert_eq!(fault((5, 2)), "s:4:17: no");
    }

    /// The names of results, and of figures, are names of files.
    #[test]
    fn a_name_is_not_too_long() {
        let nodes = |count: u32| {
            let nodes: Vec<String> = (0..count).map(|node| node.to_string()).collect();
            format!(
                "[vary]\ntraffic.hot_nodes = [[0], [{}]]\n",
                nodes.join(", ")
            )
        };
        assert!(parse(&nodes(50)).is_ok());
        let error = parse(&nodes(72)).unwrap_err();
        assert!(error.contains("sweep.toml:3:27: "), "{error}");
        assert!(error.contains("may have 150 letters, not "), "{error}");
    }

    #[test]
    fn what_cannot_vary_is_refused() {
        for (text, expected) in [
            (
                "[vary]\nseeds = [1]",
                "2:1: vary.seeds: unknown key; the nearest known one is `seed`",
            ),
            (
                "[vary]\nbins = [1]",
                "a key of the scenario has its table before it",
            ),
            (
                "[vary]\nswitsh.mtu_bytes = [1]",
                "the nearest known one is `switch`",
            ),
            (
                "[vary]\nrun.seed = [1]",
                "write `seed`, which stands for it",
            ),
            (
                "[vary]\nrun.sample_ns = [1, 2]",
                "vary.run.sample_ns: a sweep takes no samples",
            ),
            (
                "[vary]\npower.port.triple_redundancy = [true, false]",
                "vary.power.port.triple_redundancy: only the hardware has it",
            ),
            (
                "[vary]\npower.port.memory_code = [\"parity\", \"secded\"]",
                "vary.power.port.memory_code: only the hardware has it",
            ),
            (
                "[vary]\npower.perfbound.hops = [[[2, 1.0]], [[60, 1.0]]]",
                "vary.power.perfbound.hops: the hop counts of a network come from its routing",
            ),
            (
                "[vary]\npower.verilog.module_prefix = [\"a_\"]",
                "it changes nothing in a network",
            ),
            (
                "[vary]\npower.port.sleep = [\"hybrid\"]",
                "list its values in `states`",
            ),
            ("[vary]\npower.bins = [1]", "such as `power.histogram.bins`"),
            (
                "[vary]\nswitch.mtu_bytes = 2048",
                "2:20: vary.switch.mtu_bytes: must be a list",
            ),
            (
                "[vary]\nswitch.mtu_bytes = [1, 2, 1]",
                "2:27: vary.switch.mtu_bytes, 1: is listed twice",
            ),
            (
                "[vary]\nswitch.mtu_bytes = [{a = 1}]",
                "a table is no value of a key",
            ),
            (
                "[vary]\nswitch.mtu_bytes = [99999999999999999999]",
                "vary.switch.mtu_bytes: cannot be put into a scenario: write whole numbers below 2^63",
            ),
            (
                "[configurations.a]\nrun.duration_ns = 99999999999999999999",
                "configurations.a.run.duration_ns: cannot be put into a scenario",
            ),
            (
                "[[workloads.a.traffic.jobs]]\nprogram = \"fft\"",
                "workloads.a.traffic.jobs: cannot be put into a scenario",
            ),
            (
                "[vary]\nswitch.mtu_bytes = [1]\n\"switch.mtu_bytes\" = [2]",
                "vary.switch.mtu_bytes: every key may appear once",
            ),
            (
                "[configurations.a]\nswitch.mtu_bytes = 1\n\"switch.mtu_bytes\" = 2",
                "configurations.a.switch.mtu_bytes: every key may appear once",
            ),
            ("configurations = 3", "must hold tables"),
            (
                "[configurations]\nsmall = 3",
                "configurations.small: must be a table",
            ),
            (
                "[configurations.\"a/b\"]",
                "a name becomes part of file names",
            ),
            (
                "[configurations.a]\nbins = 1",
                "configurations.a.bins: a key of the scenario has",
            ),
            (
                "[configurations.a]\nswitch.mtu_bytes = 1\n[vary]\nswitch.mtu_bytes = [2]",
                "[vary] has this key, too",
            ),
            (
                "[configurations.a]\nswitch.mtu_bytes = 1\n[workloads.b]\nswitch.mtu_bytes = 2",
                "configurations.a.switch.mtu_bytes: [workloads] has this key, too",
            ),
            (
                "workloads = 3",
                "workloads: must hold tables, such as [workloads.small]",
            ),
            (
                "[workloads.a]\nstates = [\"hybrid\"]",
                "workloads.a.states: a key of the scenario has its table before it",
            ),
            (
                "[configurations.tree]\n[configurations.a]\nbased_on = \"tre\"",
                "configurations.a.based_on: no such configuration; the nearest is `tree`",
            ),
            (
                "[configurations.a]\nbased_on = 3",
                "configurations.a.based_on: must be the name of another configuration",
            ),
            (
                "[configurations.a]\nbased_on = \"a\"",
                "configurations.a.based_on: that one is based on another one itself",
            ),
            (
                "[configurations.a]\n[configurations.b]\nbased_on = \"a\"\nrun.duration_ns = 9",
                "configurations.b.run.duration_ns: a configuration that is based on another one is",
            ),
            (
                "[configurations.a]\nfixed.t_pdt_ns = [-1]",
                "3:19: fixed.t_pdt_ns, -1: must be a time",
            ),
            (
                "[configurations.a]\nfixed.t_pdt = [1]",
                "fixed.t_pdt: unknown key; the nearest known one is `t_pdt_ns`",
            ),
            (
                "[vary]\ntraffic.file = [\"a/b\", \"a-b\"]",
                "two combinations would have the name \"_file-a-b\"",
            ),
        ] {
            let error = parse(text).unwrap_err();
            // The first line is that of the scenario.
            let expected = match expected.split_once(':') {
                Some((line @ "2", rest)) => format!("{}:{rest}", line.replace('2', "3")),
                _ => expected.to_owned(),
            };
            assert!(error.contains(&expected), "{text}: {error}");
        }
        let most: Vec<String> = (0..400).map(|it| it.to_string()).collect();
        let most = most.join(", ");
        let text = format!("[vary]\nswitch.mtu_bytes = [{most}]\nswitch.header_bytes = [{most}]");
        assert!(parse(&text).unwrap_err().contains("160000 combinations"));
    }
}
