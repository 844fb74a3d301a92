//! Scenario files: a network, its traffic, its switches and how long to run it.
//!
//! Its keys, with their ranges and defaults, are [`TABLES`]; `docs/reference/keys.md` lists them.

mod files;
mod keys;
mod traffic;
mod variation;

use std::path::{Path, PathBuf};

use toml::de::{DeString, DeTable, DeValue};
use toml::Spanned;

use super::event::series::MAX_SAMPLES;
use super::topology::{ConfiguredTopology, Kind, Topology, Value as Given, KINDS};
pub use keys::{json_schema, TABLES};
pub use traffic::{Job, Jobs, Mapping, Origin, Traffic};
pub use variation::{insert, Keys, Variation, PORT_FILE};

use files::{ns, Files};

use crate::config::Config;
use crate::input::{self, similar, Decimal, InputError, Reader, Section, Sections, Table};
use crate::network::parameters::{Aging, Lanes, Parameters, Queueing};
use crate::network::queueing::Queues;
use crate::network::selection::{Selection, Thresholds};

/// A scenario, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The file it was read from.
    pub path: PathBuf,
    /// The network.
    pub topology: ConfiguredTopology,
    /// What the nodes send.
    pub traffic: Traffic,
    /// Rates, latencies and buffers of switches and links.
    pub switch: Parameters,
    /// Whether and how ports sleep.
    pub power: Power,
    /// What switches and nodes draw.
    pub devices: Devices,
    /// `None` runs to completion.
    pub duration_ps: Option<u64>,
    /// Packets generated earlier, in ps, do not count in the latency.
    pub warm_up_ps: u64,
    /// What happens over time is kept in samples of this length, in ps; `None`: it is not kept.
    pub sample_ps: Option<u64>,
    /// Seeds traffic with chance in it; the replay of a trace has none.
    pub seed: u64,
}

/// `[energy]`: power of the devices beside the links, in microwatts (PerfBound Table 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Devices {
    /// A switch without links.
    pub switch_uw: u64,
    /// A node that computes nothing.
    pub node_min_uw: u64,
    /// A node that computes all the time.
    pub node_max_uw: u64,
}

impl Default for Devices {
    /// 250 W per switch; 800 W to 1200 W per node.
    fn default() -> Self {
        Self {
            switch_uw: 250_000_000,
            node_min_uw: 800_000_000,
            node_max_uw: 1_200_000_000,
        }
    }
}

/// What decides whether ports sleep.
#[derive(Clone, Debug, PartialEq)]
pub enum Power {
    /// Nothing: links never sleep.
    AlwaysOn,
    /// The port configuration in this file.
    File(PathBuf),
    /// A port configuration written in the scenario: its TOML text.
    Inline(String),
}

impl Power {
    /// The port configuration; none if links never sleep.
    ///
    /// # Errors
    /// If its file cannot be read, or with everything that is wrong in it.
    pub fn config(&self) -> Result<Option<Config>, InputError> {
        Ok(match self {
            Power::AlwaysOn => None,
            Power::File(file) => Some(Config::load(file)?),
            Power::Inline(text) => Some(Config::parse(text, "[power]")?),
        })
    }
}

impl Scenario {
    /// Reads a scenario file, and checks that the files it names are there: the traces, and the
    /// configuration of the ports, which must be legal.
    ///
    /// # Errors
    /// If the file cannot be read, or with everything that is wrong in it.
    pub fn load(path: &Path) -> Result<Self, InputError> {
        Self::of_text(&input::read_text(path)?, path)
    }

    /// [`Scenario::load`] of the text of the file `path`, which has been read.
    ///
    /// # Errors
    /// With everything that is wrong in it.
    pub fn of_text(text: &str, path: &Path) -> Result<Self, InputError> {
        read(text, &Variation::default(), path, true)
    }

    /// Reads a scenario from its text; files it names are relative to the folder of `path`, and
    /// are not looked at.
    ///
    /// # Errors
    /// With everything that is wrong in the text.
    pub fn parse(text: &str, path: &Path) -> Result<Self, InputError> {
        Self::parse_varied(text, &Variation::default(), path)
    }

    /// [`Scenario::parse`] with some values in the places of the text's own.
    ///
    /// # Errors
    /// As [`Scenario::parse`]; what is wrong with another value has no place in the text and is
    /// said of its begin.
    pub fn parse_varied(
        text: &str,
        variation: &Variation,
        path: &Path,
    ) -> Result<Self, InputError> {
        read(text, variation, path, false)
    }

    /// Reads only the network of a scenario file; the rest of it may be missing.
    ///
    /// # Errors
    /// If the file cannot be read, or with everything that is wrong with the network.
    pub fn load_topology(path: &Path) -> Result<ConfiguredTopology, InputError> {
        let text = input::read_text(path)?;
        let name = path.display().to_string();
        let mut reader = Reader::new(&text, &name);
        let mut document = reader.document(input::Kind::Scenario);
        if reader.has_faults() {
            return reader.finish(None);
        }
        let (kind, table) = kind_of(&document, "topology");
        // Nothing is said about the other tables but that they are those of a scenario.
        let others = TABLES.iter().filter(|table| table.path != "topology");
        for other in others {
            document.remove(other.path);
        }
        let tables = reader.sections(document, &[&table], &TABLES);
        let shape = topology(&mut reader, kind, tables);
        reader.finish(shape)
    }
}

/// The kind of network or of traffic that a scenario names, and the keys of that kind. Those of
/// all kinds, where there is none of that name: the reader says so, and nothing else is wrong.
fn kind_of(document: &DeTable, path: &'static str) -> (Option<&'static str>, Table) {
    let kinds: Vec<&Table> = TABLES.iter().filter(|table| table.path == path).collect();
    let written = document
        .get(path)
        .and_then(|table| table.get_ref().as_table()?.get("kind"));
    let Some(written) = written else {
        return (Some(kinds[0].kind), kinds[0].clone());
    };
    let name = written.get_ref().as_str();
    if let Some(table) = kinds.iter().find(|table| Some(table.kind) == name) {
        return (Some(table.kind), (*table).clone());
    }
    let mut any = kinds[0].clone();
    any.kind = "";
    for key in kinds.iter().flat_map(|table| &table.keys) {
        if any.keys.iter().all(|known| known.name != key.name) {
            any.keys.push(key.clone());
        }
    }
    (None, any)
}

fn read(
    text: &str,
    variation: &Variation,
    path: &Path,
    look_at_files: bool,
) -> Result<Scenario, InputError> {
    let name = path.display().to_string();
    let mut reader = Reader::new(text, &name);
    let mut document = reader.document(input::Kind::Scenario);
    if reader.has_faults() {
        return reader.finish(None);
    }
    let values = variation.toml();
    let values = DeTable::parse(&values).expect("tables of plain values are TOML");
    variation::put(values.get_ref(), &mut document);
    let files = Files {
        folder: path.parent().unwrap_or(Path::new("")),
        look: look_at_files,
    };
    let power = document.remove("power");
    let (topology_kind, topology_keys) = kind_of(&document, "topology");
    let (traffic_kind, traffic_keys) = kind_of(&document, "traffic");
    let mut known = vec![&topology_keys, &traffic_keys];
    let others = ["switch", "power", "energy", "run"];
    known.extend(TABLES.iter().filter(|table| others.contains(&table.path)));
    let mut tables = reader.sections(document, &known, &TABLES);

    let switch_section = tables.table("switch");
    let switch = switch(&mut reader, &switch_section);
    let devices = devices(&mut reader, &tables.table("energy"));
    let cable_ps = switch.as_ref().map_or(0, |switch| switch.cable_ps);
    let run_section = tables.table("run");
    let run = run(&mut reader, &run_section, cable_ps);
    let traffic = tables.table("traffic");
    let shape = topology(&mut reader, topology_kind, tables);
    if let Some((switch, shape)) = switch.as_ref().zip(shape.as_ref()) {
        if let Err((key, problem)) = fit(switch, &**shape, topology_kind.unwrap_or_default()) {
            reader.fault_at(&switch_section, key, problem);
        }
    }
    let traffic = traffic_kind.and_then(|kind| {
        let network = traffic::Network {
            nodes: shape.as_ref().map(|shape| shape.nodes()),
            switch: switch.as_ref(),
            seed: run.as_ref().map_or(1, |run| run.seed),
        };
        traffic::read(&mut reader, &traffic, kind, &files, &network)
    });
    let duration = run_section.number("duration_ns");
    let endless = duration.filter(|duration| duration.value == 0);
    if let (Some(Traffic::Pattern(_)), Some(duration)) = (&traffic, endless) {
        reader.fault_of(
            &duration,
            "the traffic is a pattern, which never ends: give a time above 0 at which the run is cut",
        );
    }
    let power = self::power(&mut reader, text, power, &files);
    let scenario = || {
        let run = run?;
        Some(Scenario {
            path: path.into(),
            topology: shape?,
            traffic: traffic?,
            switch: switch?,
            power: power?,
            devices: devices?,
            duration_ps: (run.duration > 0).then_some(run.duration),
            warm_up_ps: run.warm_up,
            sample_ps: (run.sample > 0).then_some(run.sample),
            seed: run.seed,
        })
    };
    let scenario = scenario();
    reader.finish(scenario)
}

/// `[run]`, times in ps.
struct Run {
    duration: u64,
    warm_up: u64,
    sample: u64,
    seed: u64,
}

/// More than a clock cycle, in ps.
const CLOCK_CYCLE_PS: u64 = 1_000_000;

/// `cable_ps`: the delay of a cable.
fn run(reader: &mut Reader, section: &Section, cable_ps: u64) -> Option<Run> {
    let number = |key, default| section.number(key).map_or(default, |written| written.value);
    let run = Run {
        duration: number("duration_ns", 0),
        warm_up: number("warm_up_ns", 0),
        sample: number("sample_ns", 0),
        seed: number("seed", 1),
    };
    if section.is_faulty() {
        return None;
    }
    let Run {
        duration, warm_up, ..
    } = run;
    if duration > 0 && warm_up >= duration {
        reader.fault_at(
            section,
            "warm_up_ns",
            format!(
                "must be below duration_ns = {}: no packet would count in the latency",
                ns(duration)
            ),
        );
    }
    if duration > 0 && run.sample > 0 {
        // What is accounted reaches a cable's delay and a clock cycle further.
        let accounted = duration + cable_ps + CLOCK_CYCLE_PS;
        let samples = accounted.div_ceil(run.sample);
        if samples > MAX_SAMPLES {
            reader.fault_at(
                section,
                "sample_ns",
                format!(
                    "{samples} samples in duration_ns and a cable's delay, at most {MAX_SAMPLES} can be \
                     kept; the nearest length that will do is {}",
                    ns(accounted.div_ceil(MAX_SAMPLES))
                ),
            );
        }
    }
    Some(run)
}

fn topology(
    reader: &mut Reader,
    kind: Option<&str>,
    mut tables: Sections,
) -> Option<ConfiguredTopology> {
    let section = tables.table("topology");
    let kind: &'static Kind = KINDS.iter().find(|known| Some(known.name) == kind)?;
    if section.is_faulty() {
        return None;
    }
    let given: Vec<(&'static str, Given)> = kind
        .parameters
        .iter()
        .filter_map(|parameter| {
            let written = section.get(parameter.key)?;
            let value = match written.value.list() {
                None => Given::Number(written.value.number()? as usize),
                Some(list) => {
                    let numbers = list.iter().filter_map(|it| it.value.number());
                    Given::List(numbers.map(|number| number as usize).collect())
                }
            };
            Some((parameter.key, value))
        })
        .collect();
    match ConfiguredTopology::new(kind, &given) {
        Ok(shape) => Some(shape),
        Err(error) => {
            // Where the key is not written, its default does not go with one that is.
            let written = given.iter().map(|(key, _)| *key);
            let blamed = std::iter::once(error.key)
                .chain(written)
                .find(|key| section.has(key));
            let key = blamed.unwrap_or(error.key);
            // The fault begins with the key and its value, as this does.
            let problem = match error.problem.split_once(": ") {
                Some((value, problem)) if value.starts_with(&format!("{key} is ")) => problem,
                _ => &error.problem,
            };
            reader.fault_at(&section, key, problem);
            None
        }
    }
}

/// Whether such switches can make a network of that shape and kind.
///
/// # Errors
/// The key of `[switch]`, and why not.
fn fit(
    switch: &Parameters,
    topology: &dyn Topology,
    kind: &str,
) -> Result<(), (&'static str, String)> {
    let is_adaptive = matches!(switch.queueing, Some(Queueing::Adaptive { .. }));
    if switch.selection != Selection::Fixed && !topology.has_choices() && !is_adaptive {
        let problem = format!(
            "in this {kind} every packet has one way only; a k-ary-n-tree and an rlft of several levels \
             have more, a torus and a hyperx with ports_per_link above 1, and both with queueing = \
             \"duato\""
        );
        return Err(("selection", problem));
    }
    if matches!(switch.selection, Selection::Alonso(_)) && topology.stays_on(0).is_none() {
        let problem = "only a k-ary-n-tree and an rlft with all its subtrees have the minimal tree whose \
                       links stay on (Alonso 3), and only a torus and a hyperx with ports_per_link above 1 \
                       a cable between neighbours that can be off";
        return Err(("selection", problem.into()));
    }
    match Queues::of(topology, switch) {
        Ok(_) => Ok(()),
        Err(error) => Err((error.key, error.problem)),
    }
}

fn switch(reader: &mut Reader, section: &Section) -> Option<Parameters> {
    let default = Parameters::default();
    let number = |key, default| section.number(key).map_or(default, |written| written.value);
    let bytes = |key, default: u32| number(key, default.into()) as u32;
    let gbps = number("link_gbps", 400);
    let whole = 8000 % gbps == 0;
    if !whole {
        let legal = |gbps: &u64| 8000 % gbps == 0;
        let lower = (1..gbps).rev().find(legal).unwrap_or(1);
        let higher = (gbps..=8000).find(legal).unwrap_or(8000);
        reader.fault_at(
            section,
            "link_gbps",
            format!(
                "a byte must take a whole number of picoseconds (8000 / link_gbps); the nearest \
                 legal values are {lower} and {higher}"
            ),
        );
    }
    if section.is_faulty() || !whole {
        return None;
    }
    let aging = section.choice("aging", &Aging::ALL.map(|aging| (aging.name(), aging)));
    let parameters = Parameters {
        byte_ps: 8000 / gbps,
        mtu: bytes("mtu_bytes", default.mtu),
        min_packet: bytes("min_packet_bytes", default.min_packet),
        header: bytes("header_bytes", default.header),
        queue: bytes("queue_bytes", default.queue),
        pfc_stop: bytes("pfc_stop_bytes", default.pfc_stop),
        pfc_go: bytes("pfc_go_bytes", default.pfc_go),
        control: bytes("control_bytes", default.control),
        speedup_milli: number("speedup", default.speedup_milli),
        cable_ps: number("cable_ns", default.cable_ps),
        switch_ps: number("switch_ns", default.switch_ps),
        nic_ps: number("nic_ns", default.nic_ps),
        aging: aging.map_or(default.aging, |written| written.value),
        selection: selection(reader, section)?,
        queueing: queueing(reader, section)?,
        link_lanes: link_lanes(reader, section)?,
    };
    match parameters.validate() {
        Ok(()) => Some(parameters),
        Err(error) => {
            reader.fault_at(section, error.key, error.problem);
            None
        }
    }
}

/// What divides buffers into queues, if anything does; `None` if there is a fault.
fn queueing(reader: &mut Reader, section: &Section) -> Option<Option<Queueing>> {
    let number = |key, default| {
        section
            .number(key)
            .map_or(default, |written| written.value as u8)
    };
    // Zahn III.C: "we use four virtual output queues"; "six VCs for the SVN and two VCs for the EVN".
    let queues = |default| number("queues", default);
    let all = [
        None,
        Some(Queueing::One),
        Some(Queueing::PerOutput),
        Some(Queueing::PerNode),
        Some(Queueing::ByDestination { queues: queues(4) }),
        Some(Queueing::PerDimension),
        Some(Queueing::ByGroups { queues: queues(4) }),
        Some(Queueing::TwoLevels {
            queues: queues(6),
            escape_queues: number("escape_queues", 2),
        }),
        // POWAR 3: "2 deterministic VCs + 2 adaptive VCs".
        Some(Queueing::Adaptive { queues: queues(2) }),
    ];
    let named: Vec<_> = Queueing::NAMES.into_iter().zip(all).collect();
    let scheme = section.choice("queueing", &named);
    let scheme = scheme.and_then(|written| written.value);
    let (counted, escapes) = match scheme {
        Some(
            Queueing::ByDestination { .. } | Queueing::ByGroups { .. } | Queueing::Adaptive { .. },
        ) => (true, false),
        Some(Queueing::TwoLevels { .. }) => (true, true),
        _ => (false, false),
    };
    for (key, has, which) in [
        (
            "queues",
            counted,
            "\"dbbm\", \"flow2sl\", \"h2lq\" and \"duato\" have",
        ),
        ("escape_queues", escapes, "\"h2lq\" has"),
    ] {
        if section.has(key) && !has {
            reader.fault_at(section, key, format!("only queueing = {which} it"));
            return None;
        }
    }
    Some(scheme)
}

/// The lanes of links, if they have any; `None` if there is a fault.
fn link_lanes(reader: &mut Reader, section: &Section) -> Option<Option<Lanes>> {
    let (count, low) = (section.number("link_lanes"), section.number("low_lanes"));
    let Some(count) = count else {
        if section.has("low_lanes") {
            reader.fault_at(
                section,
                "low_lanes",
                "only links that have `link_lanes` have it",
            );
            return None;
        }
        return Some(None);
    };
    Some(Some(Lanes {
        count: count.value as u32,
        low: low.map_or(1, |low| low.value as u32),
    }))
}

/// The selection function; `None` if there is a fault.
fn selection(reader: &mut Reader, section: &Section) -> Option<Selection> {
    let default = Thresholds::DEFAULT;
    let number = |key, default| section.number(key).map_or(default, |written| written.value);
    let thresholds = Thresholds {
        on_millionths: number("select_on", default.on_millionths),
        off_millionths: number("select_off", default.off_millionths),
        window_ps: number("select_window_ns", default.window_ps),
    };
    let all = [
        Selection::Fixed,
        Selection::RoundRobin,
        Selection::FirstOn,
        Selection::Powar(thresholds),
        Selection::Alonso(thresholds),
    ];
    let named: Vec<_> = Selection::NAMES.into_iter().zip(all).collect();
    let selection = section.choice("selection", &named);
    let selection = selection.map_or(Selection::Fixed, |written| written.value);
    let thresholds = ["select_on", "select_off", "select_window_ns"];
    let written = thresholds.into_iter().find(|key| section.has(key));
    if let Some(key) = written.filter(|_| selection.thresholds().is_none()) {
        let problem = "only selection = \"powar\" (POWAR 3) and \"alonso\" (Alonso 3) have it";
        reader.fault_at(section, key, problem);
        return None;
    }
    Some(selection)
}

fn devices(reader: &mut Reader, section: &Section) -> Option<Devices> {
    let default = Devices::default();
    let watts = |key, default| section.number(key).map_or(default, |written| written.value);
    let devices = Devices {
        switch_uw: watts("switch_w", default.switch_uw),
        node_min_uw: watts("node_min_w", default.node_min_uw),
        node_max_uw: watts("node_max_w", default.node_max_uw),
    };
    if section.is_faulty() {
        return None;
    }
    if devices.node_max_uw < devices.node_min_uw {
        let key = match section.has("node_max_w") {
            true => "node_max_w",
            false => "node_min_w",
        };
        let watts = |microwatts| Decimal::scaled(microwatts, 6).plain();
        reader.fault_at(
            section,
            key,
            format!(
                "a node that computes would draw less than one that does not: node_max_w = {}, \
                 node_min_w = {}",
                watts(devices.node_max_uw),
                watts(devices.node_min_uw)
            ),
        );
        return None;
    }
    Some(devices)
}

/// `[power]`: the name of a configuration, or the tables of one.
fn power<'a>(
    reader: &mut Reader<'a>,
    text: &str,
    written: Option<Spanned<DeValue<'a>>>,
    files: &Files,
) -> Option<Power> {
    const CONTROLLER: &str = "controller";
    let Some(written) = written else {
        return Some(Power::AlwaysOn);
    };
    let at = written.span().start;
    let table = match written.into_inner() {
        DeValue::Table(table) => table,
        _ => {
            reader.fault(
                at,
                "power: must be a table, written [power] on a line of its own",
            );
            return None;
        }
    };
    if table.is_empty() {
        reader.fault(
            at,
            "power: the table is empty: name a file with power.controller, write the tables of the \
             port's configuration, such as [power.port], or leave [power] out for links that never \
             sleep",
        );
        return None;
    }
    if table.contains_key(CONTROLLER) {
        let other = table.keys().find(|key| key.get_ref() != CONTROLLER);
        if let Some(other) = other {
            reader.fault(
                other.span().start,
                format!(
                    "power.{}: beside power.controller: name a file with the port's configuration, \
                     or write its tables inline, not both",
                    other.get_ref()
                ),
            );
            return None;
        }
        let keys = TABLES.iter().find(|table| table.path == "power")?;
        let nowhere = Spanned::new(0..0, DeString::Borrowed("power"));
        let mut document = DeTable::new();
        document.insert(nowhere, Spanned::new(at..at, DeValue::Table(table)));
        let section = reader.sections(document, &[keys], &TABLES).table("power");
        let named = section.text(CONTROLLER)?;
        let file = files.folder.join(&named.value);
        if files.look {
            if let Err(error) = Config::load(&file) {
                reader.fault_of(&named, error);
                return None;
            }
        }
        return Some(Power::File(file));
    }
    let misspelt = |key: &&Spanned<DeString>| similar(key.get_ref(), &[CONTROLLER]).is_some();
    if let Some(key) = table.keys().find(misspelt) {
        reader.fault(
            key.span().start,
            format!(
                "power.{}: unknown key; the nearest known one is `{CONTROLLER}`, which names a file \
                 with the port's configuration",
                key.get_ref()
            ),
        );
        return None;
    }
    let hops = table
        .get("perfbound")
        .and_then(|it| it.get_ref().get("hops"));
    if let Some(hops) = hops.filter(|hops| hops.get_ref().is_array()) {
        reader.fault(
            hops.span().start,
            "power.perfbound.hops: the hop counts of a network come from its routing: leave this key out; \
             hop_factor gives the factor l itself",
        );
        return None;
    }
    let exact = reader.within("power.", |reader| Config::of_table(reader, table))?;
    // Elsewhere in the text may stand numbers that no key can have, and that are none of TOML's.
    if reader.has_faults() {
        return None;
    }
    // The tables as a text of their own.
    let mut document: toml::Table = text.parse().expect("what has been read is TOML");
    let inline = document.remove("power")?;
    let inline = toml::to_string(&inline).expect("a table of TOML is TOML");
    // Its numbers are binary fractions.
    if Config::parse(&inline, "[power]").ok().as_ref() != Some(&exact) {
        reader.fault(
            at,
            "power: a number has more digits than are kept here (15): write these tables into a file \
             of their own, which keeps 18 after the point, and name it with power.controller",
        );
        return None;
    }
    Some(Power::Inline(inline))
}

#[cfg(test)]
mod tests;
