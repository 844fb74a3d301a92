//! Scenario files: a network, its traffic, its switches and how long to run it.
//!
//! ```toml
//! [topology]
//! kind = "single-switch"    # see docs/topologies.md for the other kinds
//! nodes = 16                # 2 to 64, one at each port of the switch
//!
//! [traffic]
//! kind = "goal"
//! file = "trace.goal.zst"   # relative to the scenario file
//! mapping = "linear"        # rank r on node r; or a list: the node of each rank
//! ranks_per_node = 1        # so many ranks one after the other on one node
//! send_overhead_ns = 200    # CPU time of a send
//! recv_overhead_ns = 0      # CPU time of a receive whose message has arrived
//!
//! [switch]                  # p000 Table 6, see `Parameters`
//! link_gbps = 400
//! mtu_bytes = 9600
//! min_packet_bytes = 64
//! header_bytes = 0
//! queue_bytes = 49152
//! pfc_stop_bytes = 37900
//! pfc_go_bytes = 3200
//! control_bytes = 64
//! speedup = 2.44
//! cable_ns = 15
//! switch_ns = 0             # from a packet's arrival in a switch until it may cross it
//! nic_ns = 0                # in the NIC, for a packet that is sent, and for one that is received
//! aging = "switch"          # or "network": since when the age of a packet counts
//!
//! [power]
//! controller = "port.toml"  # a port configuration; without it links never sleep.
//!                           # Or its tables inline: [power.port], [power.states.wake]...
//!
//! [energy]                  # p000 Table 7, see `Devices`
//! switch_w = 250
//! node_min_w = 800
//! node_max_w = 1200
//!
//! [run]
//! duration_ns = 0           # cut the run after this time; 0 runs to completion
//! warm_up_ns = 0            # packets generated earlier do not count in the latency
//! sample_ns = 0             # power, throughput and latency over time: length of a sample; 0: none
//! seed = 1                  # for traffic with chance in it; a trace has none
//! ```
//! Every key but `file` has the default shown.

mod traffic;

use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use toml::de::{DeString, DeTable, DeValue};
use toml::Spanned;

use super::fabric::series::MAX_SAMPLES;
use super::topology::{Initial, Kind, Parameter, Shape, Value, KINDS};
pub use traffic::{Job, Jobs, Mapping, Origin, Traffic};

use crate::config::{Config, ConfigError, Decimal};
use crate::files::{read_text, FileError};
use crate::switch::{Aging, Parameters};

/// A scenario, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The file it was read from.
    pub path: PathBuf,
    /// The network.
    pub topology: Shape,
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

/// `[energy]`: power of the devices beside the links, in microwatts (p000 Table 7).
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

/// Values that take the places of a scenario's own; `None` leaves what its file has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Variation {
    /// `load` of `[traffic]`.
    pub load: Option<f64>,
    /// `seed` of `[run]`.
    pub seed: Option<u64>,
    /// `mapping` of `[traffic]`, or of each of its jobs: `linear` or `random`.
    pub mapping: Option<&'static str>,
}

impl Variation {
    /// As tables of a scenario.
    fn toml(&self) -> String {
        let mut text = String::from("[traffic]\n");
        if let Some(load) = self.load {
            text += &format!("load = {load}\n");
        }
        if let Some(mapping) = self.mapping {
            text += &format!("mapping = \"{mapping}\"\n");
        }
        if let Some(seed) = self.seed {
            text += &format!("[run]\nseed = {seed}\n");
        }
        text
    }

    /// Puts the values of [`Variation::toml`] into a scenario's tables. They have no place in its
    /// text.
    fn put<'t>(values: &DeTable<'t>, document: &mut DeTable<'t>) {
        let nowhere = |key: &Spanned<DeString<'t>>| Spanned::new(0..0, key.get_ref().clone());
        for (name, values) in values {
            let empty = || Spanned::new(0..0, DeValue::Table(DeTable::new()));
            let table = document.entry(nowhere(name)).or_insert_with(empty);
            // What is no table is refused later.
            let DeValue::Table(table) = table.get_mut() else {
                continue;
            };
            for (key, value) in values.get_ref().as_table().into_iter().flatten() {
                let value = Spanned::new(0..0, value.get_ref().clone());
                let jobs = match key.get_ref().as_ref() {
                    "mapping" => table.get_mut("jobs").map(Spanned::get_mut),
                    _ => None,
                };
                let Some(DeValue::Array(jobs)) = jobs else {
                    table.insert(nowhere(key), value);
                    continue;
                };
                for job in jobs.iter_mut() {
                    if let DeValue::Table(job) = job.get_mut() {
                        job.insert(nowhere(key), value.clone());
                    }
                }
            }
        }
    }
}

/// A scenario that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The scenario's file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file that `controller` in `[power]` names.
    #[error("{path}:{line}:{column}: controller in [power]: {source}", path = path.display())]
    Controller {
        /// The scenario's file.
        path: PathBuf,
        /// Where it names the port configuration's file; counted from 1.
        line: usize,
        /// In characters, counted from 1.
        column: usize,
        /// What is wrong with it.
        source: ConfigError,
    },
    /// The port configuration in `[power]`.
    #[error(transparent)]
    Power(ConfigError),
    /// A fault at a place in the scenario.
    #[error("{path}:{line}:{column}: {problem}")]
    At {
        /// The scenario's file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// In characters, counted from 1.
        column: usize,
        /// What is wrong and what would be right.
        problem: String,
    },
}

const SECTIONS: [&str; 6] = ["topology", "traffic", "switch", "power", "energy", "run"];
const SWITCH: [&str; 13] = [
    "link_gbps",
    "mtu_bytes",
    "min_packet_bytes",
    "header_bytes",
    "queue_bytes",
    "pfc_stop_bytes",
    "pfc_go_bytes",
    "control_bytes",
    "speedup",
    "cable_ns",
    "switch_ns",
    "nic_ns",
    "aging",
];
const ENERGY: [&str; 3] = ["switch_w", "node_min_w", "node_max_w"];
const POWER: [&str; 1] = ["controller"];
const RUN: [&str; 4] = ["duration_ns", "warm_up_ns", "sample_ns", "seed"];

impl Scenario {
    /// Reads a scenario file, and checks the port configuration that it names.
    ///
    /// # Errors
    /// If a file cannot be read, or names line and column of what is wrong.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let text = read_text(path)?;
        let scenario = Self::parse(&text, path)?;
        if let Power::File(file) = &scenario.power {
            Config::load(file).map_err(|source| {
                let controller = document(&text).ok().and_then(|document| {
                    let power = document.get_ref().get("power")?.get_ref().as_table()?;
                    power.get("controller").map(|value| value.span().start)
                });
                let (line, column) = place(&text, controller.unwrap_or(0));
                ScenarioError::Controller {
                    path: path.into(),
                    line,
                    column,
                    source,
                }
            })?;
        }
        Ok(scenario)
    }

    /// Reads a scenario from its text; files it names are relative to the folder of `path`.
    ///
    /// # Errors
    /// Names line and column of what is wrong.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ScenarioError> {
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
    ) -> Result<Self, ScenarioError> {
        let scenario = read(text, variation, path).map_err(|problem| problem.place(text, path))?;
        if let Power::Inline(_) = scenario.power {
            let document = document(text).map_err(|problem| problem.place(text, path))?;
            let power = document.into_inner().remove("power");
            if let Some(DeValue::Table(table)) = power.map(Spanned::into_inner) {
                let name = path.display().to_string();
                Config::parse_table(text, table, &name).map_err(ScenarioError::Power)?;
            }
        }
        Ok(scenario)
    }

    /// Reads only the network of a scenario file; the rest of it may be missing.
    ///
    /// # Errors
    /// If the file cannot be read, or names line and column of what is wrong.
    pub fn load_topology(path: &Path) -> Result<Shape, ScenarioError> {
        let text = read_text(path)?;
        document(&text)
            .and_then(|document| topology(&document))
            .map_err(|problem| problem.place(&text, path))
    }
}

/// What is wrong, and at which byte of the text.
struct Problem {
    at: usize,
    text: String,
}

impl Problem {
    fn place(self, text: &str, path: &Path) -> ScenarioError {
        let (line, column) = place(text, self.at);
        ScenarioError::At {
            path: path.into(),
            line,
            column,
            problem: self.text,
        }
    }
}

/// Line and column, counted from 1, of a byte of the text.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let column = before[line_start..].chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

type Checked<T> = Result<T, Problem>;

fn problem<T>(at: usize, text: impl Into<String>) -> Checked<T> {
    Err(Problem {
        at,
        text: text.into(),
    })
}

/// The tables of a scenario, each of which it may have.
fn document(text: &str) -> Checked<Spanned<DeTable<'_>>> {
    let document = DeTable::parse(text).map_err(|error| Problem {
        at: error.span().map_or(0, |span| span.start),
        text: error.message().trim_end().replace('\n', "; "),
    })?;
    for (key, _) in document.get_ref() {
        if !SECTIONS.contains(&key.get_ref().as_ref()) {
            return problem(
                key.span().start,
                unknown("table", key.get_ref(), "a scenario", &SECTIONS),
            );
        }
    }
    Ok(document)
}

fn read(text: &str, variation: &Variation, path: &Path) -> Checked<Scenario> {
    let mut document = document(text)?;
    let values = variation.toml();
    let values = self::document(&values)?.into_inner();
    Variation::put(&values, document.get_mut());
    let section = |name, keys: &'static [&'static str]| Section::of(&document, name, keys);
    let folder = path.parent().unwrap_or(Path::new(""));

    let topology = topology(&document)?;

    let switch = switch(&section("switch", &SWITCH)?)?;
    let run = section("run", &RUN)?;
    let longest = super::trace::info::MAX_CALC_NS * 1000;
    let duration = run.time("duration_ns", 0, longest)?;
    let warm_up = run.time("warm_up_ns", 0, longest)?;
    if duration > 0 && warm_up >= duration {
        let at = run
            .value("warm_up_ns")
            .map_or(run.at, |value| value.span().start);
        return problem(
            at,
            "warm_up_ns must be below duration_ns: no packet would count in the latency",
        );
    }
    let sample = run.time("sample_ns", 0, longest)?;
    let samples = duration.checked_div(sample).unwrap_or(0);
    if samples > MAX_SAMPLES {
        let nearest = duration.div_ceil(MAX_SAMPLES).div_ceil(1000);
        return problem(
            run.place("sample_ns"),
            format!(
                "sample_ns: {samples} samples in duration_ns, at most {MAX_SAMPLES} can be kept; the \
                 nearest length that will do is {nearest}"
            ),
        );
    }
    let seed = run.integer("seed", 1, 0..=i64::MAX as u64)?;
    Ok(Scenario {
        path: path.into(),
        traffic: traffic::read(&document, folder, topology.nodes(), &switch, seed)?,
        switch,
        power: power(text, &document, folder)?,
        devices: devices(&section("energy", &ENERGY)?)?,
        duration_ps: (duration > 0).then_some(duration),
        warm_up_ps: warm_up,
        sample_ps: (sample > 0).then_some(sample),
        seed,
        topology,
    })
}

fn topology(document: &Spanned<DeTable>) -> Checked<Shape> {
    let names = KINDS.each_ref().map(|kind| kind.name);
    let mut kind: &'static Kind = &KINDS[0];
    let written = document.get_ref().get("topology");
    if let Some(value) = written.and_then(|table| table.get_ref().as_table()?.get("kind")) {
        let name = value.get_ref().as_str();
        let found = name.and_then(|name| KINDS.iter().find(|kind| kind.name == name));
        kind = found.ok_or_else(|| Problem {
            at: value.span().start,
            text: match name {
                Some(name) => unknown("kind", name, "[topology]", &names),
                None => format!(
                    "kind is {}: it must be one of {}",
                    shown(value.get_ref()),
                    names.join(", ")
                ),
            },
        })?;
    }
    let mut keys = vec!["kind"];
    keys.extend(kind.parameters.iter().map(|parameter| parameter.key));
    let section = Section::of(document, "topology", &keys)?;
    let mut given = Vec::new();
    for parameter in kind.parameters {
        if let Some(value) = section.value(parameter.key) {
            given.push((parameter.key, topology_parameter(value, parameter)?));
        }
    }
    Shape::new(kind, &given).map_err(|error| {
        // Where the key is not written, its default does not go with one that is.
        let mut keys = std::iter::once(error.key).chain(given.iter().map(|(key, _)| *key));
        let blamed = keys.find_map(|key| section.value(key));
        Problem {
            at: blamed.map_or(section.at, |value| value.span().start),
            text: format!("[topology] {error}"),
        }
    })
}

fn topology_parameter(value: &Spanned<DeValue>, parameter: &Parameter) -> Checked<Value> {
    let number = |value| integer(value, parameter.key, parameter.range.clone());
    match (parameter.initial, value.get_ref()) {
        (Initial::List(_), DeValue::Array(list)) => list
            .iter()
            .map(|element| number(element).map(|number| number as usize))
            .collect::<Checked<_>>()
            .map(Value::List),
        (Initial::List(example), other) => problem(
            value.span().start,
            format!(
                "{} is {}: it must be a list such as {example:?}",
                parameter.key,
                shown(other)
            ),
        ),
        _ => number(value).map(|number| Value::Number(number as usize)),
    }
}

fn switch(section: &Section) -> Checked<Parameters> {
    let default = Parameters::default();
    let bytes = |key, default: u32| {
        section
            .integer(key, default.into(), 0..=1 << 30)
            .map(|bytes| bytes as u32)
    };
    let parameters = Parameters {
        byte_ps: byte_time(section)?,
        mtu: bytes("mtu_bytes", default.mtu)?,
        min_packet: bytes("min_packet_bytes", default.min_packet)?,
        header: bytes("header_bytes", default.header)?,
        queue: bytes("queue_bytes", default.queue)?,
        pfc_stop: bytes("pfc_stop_bytes", default.pfc_stop)?,
        pfc_go: bytes("pfc_go_bytes", default.pfc_go)?,
        control: bytes("control_bytes", default.control)?,
        speedup_milli: section.thousandths("speedup", default.speedup_milli, 1000..=1_000_000)?,
        cable_ps: section.time("cable_ns", default.cable_ps, 1_000_000_000)?,
        switch_ps: section.time("switch_ns", default.switch_ps, 1_000_000_000)?,
        nic_ps: section.time("nic_ns", default.nic_ps, 1_000_000_000)?,
        aging: aging(section)?,
    };
    match parameters.validate() {
        Ok(()) => Ok(parameters),
        Err(error) => {
            // Where the key is not written, its default does not go with those that are.
            let at = section.place(error.key);
            problem(at, format!("[switch] {}: {}", error.key, error.problem))
        }
    }
}

fn aging(section: &Section) -> Checked<Aging> {
    let Some((name, at)) = section.string("aging")? else {
        return Ok(Aging::default());
    };
    let found = Aging::ALL.into_iter().find(|aging| aging.name() == name);
    found.ok_or_else(|| Problem {
        at,
        text: format!(
            "aging is {name:?}: it must be \"switch\", the age since a packet arrived in the \
             switch, or \"network\", that since it was due to leave its NIC"
        ),
    })
}

fn devices(section: &Section) -> Checked<Devices> {
    let default = Devices::default();
    let most = 1_000_000_000_000;
    let watts = |key, default| section.scaled(key, default, 0..=most, 6);
    let node_min_uw = watts("node_min_w", default.node_min_uw)?;
    let node_max_uw = watts("node_max_w", default.node_max_uw)?;
    if node_max_uw < node_min_uw {
        let key = match section.value("node_max_w") {
            Some(_) => "node_max_w",
            None => "node_min_w",
        };
        return problem(
            section.place(key),
            format!(
                "a node that computes draws less than one that does not: node_max_w = {}, \
                 node_min_w = {}",
                node_max_uw as f64 / 1e6,
                node_min_uw as f64 / 1e6
            ),
        );
    }
    Ok(Devices {
        switch_uw: watts("switch_w", default.switch_uw)?,
        node_min_uw,
        node_max_uw,
    })
}

/// Time of a byte in ps, from the link's speed.
fn byte_time(section: &Section) -> Checked<u64> {
    let gbps = section.integer("link_gbps", 400, 1..=8000)?;
    if 8000 % gbps == 0 {
        return Ok(8000 / gbps);
    }
    let legal = |gbps: &u64| 8000 % gbps == 0;
    let lower = (1..gbps).rev().find(legal).unwrap_or(1);
    let higher = (gbps..=8000).find(legal).unwrap_or(8000);
    problem(
        section.place("link_gbps"),
        format!(
            "link_gbps = {gbps}: a byte must take a whole number of picoseconds (8000 / link_gbps); \
             the nearest legal values are {lower} and {higher}"
        ),
    )
}

fn power(text: &str, document: &Spanned<DeTable>, folder: &Path) -> Checked<Power> {
    let Some(section) = document.get_ref().get("power") else {
        return Ok(Power::AlwaysOn);
    };
    let Some(table) = section.get_ref().as_table() else {
        return problem(section.span().start, "`power` must be a table: [power]");
    };
    let Some(controller) = table.get("controller") else {
        if table.is_empty() {
            return Ok(Power::AlwaysOn);
        }
        return inline_power(text, section.span().start);
    };
    if let Some((other, _)) = table.iter().find(|(key, _)| key.get_ref() != "controller") {
        return problem(
            other.span().start,
            format!(
                "`{}` beside `controller` in [power]: name a file with the port's configuration, \
                 or write its tables inline, not both",
                other.get_ref()
            ),
        );
    }
    match controller.get_ref().as_str() {
        Some(file) if !file.is_empty() => Ok(Power::File(folder.join(file))),
        _ => problem(
            controller.span().start,
            format!(
                "controller is {}: it must name a file with the port's configuration, such as \
                 \"port.toml\"",
                shown(controller.get_ref())
            ),
        ),
    }
}

/// The tables of [power] as a text of their own; [`Scenario::parse`] checks them.
fn inline_power(text: &str, at: usize) -> Checked<Power> {
    let inline = toml::from_str::<toml::Table>(text)
        .ok()
        .and_then(|mut document| document.remove("power"))
        .and_then(|power| toml::to_string(&power).ok());
    match inline {
        Some(inline) => Ok(Power::Inline(inline)),
        None => problem(at, "[power] cannot be read"),
    }
}

/// One table of the file; empty if it is not there.
struct Section<'a> {
    table: Option<&'a DeTable<'a>>,
    at: usize,
}

impl<'a> Section<'a> {
    fn of(
        document: &'a Spanned<DeTable<'a>>,
        name: &'static str,
        keys: &[&str],
    ) -> Checked<Section<'a>> {
        let Some(value) = document.get_ref().get(name) else {
            return Ok(Section { table: None, at: 0 });
        };
        let at = value.span().start;
        let Some(table) = value.get_ref().as_table() else {
            return problem(at, format!("`{name}` must be a table: [{name}]"));
        };
        for (key, _) in table {
            if !keys.contains(&key.get_ref().as_ref()) {
                let place = format!("[{name}]");
                return problem(
                    key.span().start,
                    unknown("key", key.get_ref(), &place, keys),
                );
            }
        }
        Ok(Section {
            table: Some(table),
            at,
        })
    }

    fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table?.get(key)
    }

    /// Where a key's value is written, or else the table.
    fn place(&self, key: &str) -> usize {
        self.value(key).map_or(self.at, |value| value.span().start)
    }

    fn string(&self, key: &str) -> Checked<Option<(&'a str, usize)>> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let at = value.span().start;
        match value.get_ref().as_str() {
            Some(text) if !text.is_empty() => Ok(Some((text, at))),
            Some(_) => problem(at, format!("{key} is empty")),
            None => problem(
                at,
                format!("{key} is {}: it must be a string", shown(value.get_ref())),
            ),
        }
    }

    fn integer(
        &self,
        key: &str,
        default: u64,
        range: std::ops::RangeInclusive<u64>,
    ) -> Checked<u64> {
        match self.value(key) {
            Some(value) => integer(value, key, range),
            None => Ok(default),
        }
    }

    /// A number with up to three decimals, in thousandths.
    fn thousandths(&self, key: &str, default: u64, range: RangeInclusive<u64>) -> Checked<u64> {
        self.scaled(key, default, range, 3)
    }

    /// A number with up to six decimals, in millionths.
    fn millionths(&self, key: &str, default: u64, range: RangeInclusive<u64>) -> Checked<u64> {
        self.scaled(key, default, range, 6)
    }

    /// A number with up to so many decimals, times 10 to the power of `digits`.
    fn scaled(
        &self,
        key: &str,
        default: u64,
        range: RangeInclusive<u64>,
        digits: u32,
    ) -> Checked<u64> {
        let Some(value) = self.value(key) else {
            return Ok(default);
        };
        let shift = 10_u32.pow(digits);
        let text = |scaled: u64| {
            let (whole, fraction) = (scaled / u64::from(shift), scaled % u64::from(shift));
            let text = format!("{whole}.{fraction:0width$}", width = digits as usize);
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        };
        let (low, high) = (*range.start(), *range.end());
        let wrong = |what: String| {
            let (value, at) = (shown(value.get_ref()), value.span().start);
            let (low, high) = (text(low), text(high));
            problem(
                at,
                format!("{key} is {value}: it must be a number from {low} to {high}{what}"),
            )
        };
        let number = match value.get_ref() {
            DeValue::Integer(_) => whole(value.get_ref()).map(|whole| whole.to_string()),
            DeValue::Float(number) => Some(number.as_str().to_owned()),
            _ => None,
        };
        let Some(number) = number else {
            return wrong(String::new());
        };
        let number: Decimal = match number.parse() {
            Ok(number) => number,
            Err(error) => return wrong(format!(", not {error}")),
        };
        match (number.scaled_to_integer(shift), number.scaled_floor(shift)) {
            (Some(scaled), _) if range.contains(&scaled) => Ok(scaled),
            (None, Some(floor)) if (low..high).contains(&floor) => wrong(format!(
                ", with at most {digits} decimals; the nearest are {} and {}",
                text(floor),
                text(floor + 1)
            )),
            _ => wrong(format!(
                "; the nearest is {}",
                text(match number < Decimal::new(low as i64, digits) {
                    true => low,
                    false => high,
                })
            )),
        }
    }

    /// A time in ns, returned in ps.
    fn time(&self, key: &str, default_ps: u64, max_ps: u64) -> Checked<u64> {
        self.thousandths(key, default_ps, 0..=max_ps)
    }
}

/// A whole number as it is written.
fn whole(value: &DeValue) -> Option<i128> {
    let DeValue::Integer(number) = value else {
        return None;
    };
    let digits: String = number.as_str().chars().filter(|&c| c != '_').collect();
    i128::from_str_radix(&digits, number.radix()).ok()
}

fn integer(
    value: &Spanned<DeValue>,
    what: &str,
    range: std::ops::RangeInclusive<u64>,
) -> Checked<u64> {
    let number = whole(value.get_ref());
    let Range { start, .. } = value.span();
    let (low, high) = (*range.start(), *range.end());
    match number {
        Some(number) if i128::from(low) <= number && number <= i128::from(high) => {
            Ok(number as u64)
        }
        Some(number) => {
            let nearest = if number < i128::from(low) { low } else { high };
            problem(
                start,
                format!("{what} is {number}: it must be {low} to {high}; the nearest is {nearest}"),
            )
        }
        None => problem(
            start,
            format!(
                "{what} is {}: it must be a whole number from {low} to {high}",
                shown(value.get_ref())
            ),
        ),
    }
}

/// The tables, and the kinds of them, where a key may stand.
fn home(key: &str) -> Option<String> {
    let of_kinds = |table: &str, kinds: Vec<&str>| {
        let kinds: Vec<String> = kinds.iter().map(|kind| format!("\"{kind}\"")).collect();
        (!kinds.is_empty()).then(|| format!("[{table}] of kind {}", kinds.join(", ")))
    };
    let has = |kind: &&Kind| kind.parameters.iter().any(|known| known.key == key);
    let topologies = KINDS.iter().filter(has).map(|kind| kind.name).collect();
    let traffic = traffic::KINDS.into_iter();
    let traffic = traffic.filter(|(_, keys)| key != "kind" && keys.contains(&key));
    let traffic = traffic.map(|(kind, _)| kind).collect();
    let tables: [(_, &[&str]); 4] = [
        ("switch", &SWITCH),
        ("power", &POWER),
        ("energy", &ENERGY),
        ("run", &RUN),
    ];
    let table = tables.into_iter().find(|(_, keys)| keys.contains(&key));
    of_kinds("topology", topologies)
        .or(of_kinds("traffic", traffic))
        .or(table.map(|(table, _)| format!("[{table}]")))
}

fn unknown(what: &str, name: &str, place: &str, known: &[&str]) -> String {
    let likeness = |known: &str| strsim::jaro_winkler(name, known);
    let nearest = known
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
        .filter(|nearest| likeness(nearest) > 0.8);
    let home = (what == "key").then(|| home(name)).flatten();
    let hint = match (nearest, home) {
        (_, Some(home)) => format!("; it belongs in {home}"),
        (Some(nearest), None) => format!("; the nearest is `{nearest}`"),
        (None, None) => String::new(),
    };
    format!(
        "unknown {what} `{name}` in {place}{hint} (known: {})",
        known.join(", ")
    )
}

/// A value for a message.
fn shown(value: &DeValue) -> String {
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(value) => value.to_string(),
        other => format!("of type {}", other.type_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::replay::Overheads;
    use crate::network::skeleton::program::Kind as SkeletonKind;
    use crate::network::skeleton::Parameters as SkeletonParameters;
    use crate::network::traffic::inactivity::Shape;
    use crate::network::traffic::pattern::{Arrivals, Destinations};

    fn parse(text: &str) -> Result<Scenario, String> {
        Scenario::parse(text, Path::new("folder/test.toml")).map_err(|error| error.to_string())
    }

    const LEAST: &str = "[traffic]\nfile = \"a.goal\"\n";

    #[test]
    fn defaults() {
        let scenario = parse(LEAST).unwrap();
        assert_eq!(scenario.switch, Parameters::default());
        assert_eq!(scenario.topology.nodes(), 16);
        let overheads = Overheads {
            send: 200_000,
            recv: 0,
        };
        let job = Job {
            origin: Origin::Trace("folder/a.goal".into()),
            mapping: Mapping::Linear,
            ranks_per_node: 1,
            copies: 1,
            cpu_speed: 1_000_000,
        };
        let jobs = vec![job];
        assert_eq!(scenario.traffic, Traffic::Jobs(Jobs { jobs, overheads }));
        assert_eq!(scenario.power, Power::AlwaysOn);
        assert_eq!((scenario.duration_ps, scenario.seed), (None, 1));
        assert_eq!(scenario.sample_ps, None);
    }

    /// The parameters of the skeleton and where its ranks run on 8 nodes.
    fn skeleton(keys: &str) -> Result<(SkeletonParameters, Vec<u32>), String> {
        let text = "[topology]\nnodes = 8\n[traffic]\nkind = \"skeleton\"\n".to_owned() + keys;
        let scenario = parse(&text)?;
        let Traffic::Jobs(jobs) = &scenario.traffic else {
            panic!("{:?}", scenario.traffic)
        };
        let Origin::Skeleton(parameters) = &jobs.jobs[0].origin else {
            panic!("{jobs:?}")
        };
        let ranks = parameters.ranks as usize;
        Ok((*parameters, jobs.place(&[ranks], 8, scenario.seed)?))
    }

    #[test]
    fn a_skeleton_fills_the_network_with_the_sizes_of_the_traces() {
        let (parameters, nodes) = skeleton("program = \"lammps\"\n").unwrap();
        assert_eq!(parameters, SkeletonParameters::new("lammps", 8));
        assert_eq!(nodes, [0, 1, 2, 3, 4, 5, 6, 7]);
        let (parameters, nodes) = skeleton(
            "program = \"fft\"\nranks_per_node = 3\nranks = 10\nsteps = 7\njitter = 0.25\n\
             grid = [5, 2]\nmessage_bytes = 99\ncalc_ns = 5\n",
        )
        .unwrap();
        assert_eq!(nodes, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]);
        let kind = SkeletonKind::Fft {
            grid: [5, 2],
            message_bytes: 99,
            calc_ns: 5,
        };
        let expected = SkeletonParameters {
            kind,
            ranks: 10,
            steps: 7,
            jitter_millionths: 250_000,
        };
        assert_eq!(parameters, expected);
        let group = |keys: &str| {
            let text = "program = \"allreduce-hierarchical\"\n".to_owned() + keys;
            match skeleton(&text).unwrap().0.kind {
                SkeletonKind::AllreduceHierarchical { group, .. } => group,
                other => panic!("{other:?}"),
            }
        };
        // A square's side; a node; what is asked for.
        assert_eq!(
            (
                group(""),
                group("ranks_per_node = 4\n"),
                group("group = 8\n")
            ),
            (2, 4, 8)
        );
        let (_, nodes) = skeleton("program = \"patmos\"\nmapping = [5, 5, 1]\n").unwrap();
        assert_eq!(nodes, [5, 5, 1]);
        let (_, nodes) =
            skeleton("program = \"patmos\"\nmapping = \"random\"\nranks_per_node = 2\n").unwrap();
        assert!(nodes.chunks(2).all(|pair| pair[0] == pair[1]), "{nodes:?}");
        assert_ne!(nodes[0], 0, "{nodes:?}");
    }

    #[test]
    fn what_a_skeleton_cannot_have_is_told() {
        for (keys, expected) in [
            (
                "",
                "`program` is missing in [traffic]: one of lammps, fft, allreduce-ring,",
            ),
            (
                "program = \"lamps\"",
                "unknown program `lamps` in [traffic]; the nearest is `lammps`",
            ),
            (
                "program = \"fft\"\nranks = 17\nranks_per_node = 2",
                "ranks is 17: the network has 8 nodes with ranks_per_node = 2; take \
                 ranks_per_node = 3 or a larger network; the nearest number of ranks is 16",
            ),
            (
                "program = \"fft\"\nranks = 3\nmapping = [1, 2]",
                "ranks is 3: the mapping places 2; the nearest number of ranks is 2",
            ),
            (
                "program = \"halo3d\"\ngrid = [2, 2, 3]",
                "grid is [2, 2, 3], which makes 12 ranks, and there are 8; the grid nearest to a \
                 cube is [2, 2, 2]",
            ),
            (
                "program = \"sweep3d\"\ngrid = [8]",
                "it must be a list of 2, such as [2, 4]",
            ),
            (
                "program = \"allreduce-hierarchical\"\ngroup = 3",
                "group is 3: 8 ranks cannot be cut into groups of 3; the nearest sizes that can \
                 are 2 and 4",
            ),
            (
                "program = \"lammps\"\ngroup = 2",
                "program = \"lammps\" has no `group`; it belongs to allreduce-hierarchical",
            ),
            ("program = \"halo3d\"\nneighbours = 18", "the nearest is 26"),
            (
                "program = \"lammps\"\nsteps = 0",
                "steps is 0: it must be 1 to",
            ),
            (
                "program = \"lammps\"\nmapping = [1]\nranks_per_node = 2",
                "ranks_per_node beside a mapping that is a list",
            ),
            ("program = \"lammps\"\njiter = 1", "the nearest is `jitter`"),
        ] {
            let error = skeleton(keys).unwrap_err();
            assert!(error.contains(expected), "{keys}: {error}");
        }
    }

    #[test]
    fn ranks_share_nodes_with_traces_too() {
        let text = "[[traffic.jobs]]\nfile = \"a\"\nranks_per_node = 2\n[[traffic.jobs]]\nfile = \
                    \"b\"\nranks_per_node = 3\n";
        let Traffic::Jobs(jobs) = parse(text).unwrap().traffic else {
            panic!("a pattern")
        };
        // Jobs do not share nodes.
        assert_eq!(jobs.place(&[3, 4], 4, 1).unwrap(), [0, 0, 1, 2, 2, 2, 3]);
        let error = jobs.place(&[3, 4], 3, 1).unwrap_err();
        assert!(
            error.contains("folder/b has 4 ranks, and 1 of the network's 3 nodes"),
            "{error}"
        );
        assert!(error.contains("ranks_per_node = 4 or more"), "{error}");
    }

    #[test]
    fn every_key() {
        let scenario = parse(
            "[topology]\nkind = \"single-switch\"\nnodes = 4\n\
             [traffic]\nkind = \"goal\"\nfile = \"/a\"\nmapping = [3, 2, 1]\n\
             send_overhead_ns = 1.5\nrecv_overhead_ns = 2\n\
             [switch]\nlink_gbps = 100\nmtu_bytes = 1_500\nmin_packet_bytes = 72\n\
             header_bytes = 8\nqueue_bytes = 0x10000\npfc_stop_bytes = 30000\n\
             pfc_go_bytes = 2000\ncontrol_bytes = 80\nspeedup = 3\ncable_ns = 7.25\n\
             switch_ns = 50\nnic_ns = 120.5\naging = \"network\"\n\
             [power]\ncontroller = \"port.toml\"\n\
             [energy]\nswitch_w = 100.5\nnode_min_w = 0\nnode_max_w = 300\n\
             [run]\nduration_ns = 1000000\nwarm_up_ns = 10\nsample_ns = 12.5\nseed = 7\n",
        )
        .unwrap();
        let switch = Parameters {
            byte_ps: 80,
            mtu: 1500,
            min_packet: 72,
            header: 8,
            queue: 65536,
            pfc_stop: 30000,
            pfc_go: 2000,
            control: 80,
            speedup_milli: 3000,
            cable_ps: 7250,
            switch_ps: 50_000,
            nic_ps: 120_500,
            aging: Aging::Network,
        };
        assert_eq!(scenario.switch, switch);
        let overheads = Overheads {
            send: 1500,
            recv: 2000,
        };
        let job = Job {
            origin: Origin::Trace("/a".into()),
            mapping: Mapping::List(vec![3, 2, 1]),
            ranks_per_node: 1,
            copies: 1,
            cpu_speed: 1_000_000,
        };
        let jobs = vec![job];
        assert_eq!(scenario.traffic, Traffic::Jobs(Jobs { jobs, overheads }));
        assert_eq!(scenario.power, Power::File("folder/port.toml".into()));
        let devices = Devices {
            switch_uw: 100_500_000,
            node_min_uw: 0,
            node_max_uw: 300_000_000,
        };
        assert_eq!(scenario.devices, devices);
        assert_eq!(scenario.duration_ps, Some(1_000_000_000));
        assert_eq!((scenario.warm_up_ps, scenario.seed), (10_000, 7));
        assert_eq!(scenario.sample_ps, Some(12_500));
    }

    #[test]
    fn a_port_configuration_may_stand_inline() {
        let text = format!("{LEAST}[power.port]\npolicy = \"fixed\"\nt_pdt_ns = 100\n");
        let Power::Inline(inline) = parse(&text).unwrap().power else {
            panic!("inline");
        };
        let table: toml::Table = toml::from_str(&inline).unwrap();
        assert_eq!(table["port"]["policy"].as_str(), Some("fixed"));
    }

    #[test]
    fn errors_name_place_and_remedy() {
        for (text, place, what) in [
            ("", "1:1", "`file` is missing in [traffic]"),
            (
                "[trafic]\n",
                "1:2",
                "unknown table `trafic` in a scenario; the nearest is `traffic`",
            ),
            (
                "[traffic]\nfiel = 1\n",
                "2:1",
                "unknown key `fiel` in [traffic]; the nearest is `file`",
            ),
            ("[traffic]\nfile = 1\n", "2:8", "must be a string"),
            ("[traffic]\nfile = \"\"\n", "2:8", "file is empty"),
            (
                "[traffic]\nfile = \"a\"\n[power.port]\ntime_width = 7\n",
                "4:14",
                "port.time_width = 7: must be",
            ),
            (
                "[traffic]\nfile = \"a\"\n[power.prt]\ntime_width = 8\n",
                "3:8",
                "prt: unknown table; the nearest known one is [port]",
            ),
            (
                "[power.port]\npolicy = \"fixed\"\nt_pdt_ns = -5\n[traffic]\nfile = \"a\"\n\
                 [power.states]\nwake.power_w = -1\n",
                "3:12",
                "port.t_pdt_ns = -5: must be",
            ),
            (
                "[traffic]\nfile = \"a\"\n[power]\nport = { time_width = 32, polcy = 1 }\n",
                "4:27",
                "port.polcy: unknown key",
            ),
            (
                "[traffic]\nfile = \"a\"\nfile = \"b\"\n",
                "3:1",
                "duplicate key",
            ),
            ("[traffic\n", "1:9", "expected `]`"),
            ("traffic = 1\n", "1:11", "must be a table"),
            (
                "[topology]\nkind = \"tours\"\n",
                "2:8",
                "unknown kind `tours` in [topology]; the nearest is `torus` (known: single-switch",
            ),
            (
                "[topology]\nkind = 3\n",
                "2:8",
                "kind is 3: it must be one of",
            ),
            (
                "[topology]\nkind = \"torus\"\nnodes = 4\n",
                "3:1",
                "unknown key `nodes` in [topology]; it belongs in [topology] of kind \
                 \"single-switch\" (known: kind, dims",
            ),
            (
                "[traffic]\nkind = \"uniform\"\nfile = \"a\"\n",
                "3:1",
                "in [traffic]; it belongs in [traffic] of kind \"goal\" (known: kind, load",
            ),
            (
                "[energy]\nnode_max_w = 700\n[traffic]\nfile = \"a\"\n",
                "2:14",
                "node_max_w = 700, node_min_w = 800",
            ),
            (
                "[run]\nmtu_bytes = 9600\n",
                "2:1",
                "in [run]; it belongs in [switch] (known:",
            ),
            (
                "[run]\nfoo = 9600\n",
                "2:1",
                "unknown key `foo` in [run] (known:",
            ),
            (
                "[topology]\nkind = \"torus\"\ndims = 4\n",
                "3:8",
                "dims is 4: it must be a list such as [4, 4, 4]",
            ),
            (
                "[topology]\nkind = \"torus\"\ndims = [4, 1]\n",
                "3:12",
                "dims is 1: it must be 2 to 64; the nearest is 2",
            ),
            (
                "[topology]\nkind = \"torus\"\ndims = []\n",
                "3:8",
                "dims is empty",
            ),
            (
                "[topology]\nkind = \"megafly\"\ngroups = 66\n",
                "3:10",
                "connect at most 65 groups; 66 take radix = 18",
            ),
            (
                "[topology]\nkind = \"rlft\"\nradix = 25\n",
                "3:9",
                "it must be even, as half of the ports point up; the nearest are 24 and 26",
            ),
            (
                "[topology]\nkind = \"rlft\"\nradix = 66\n",
                "3:9",
                "it must be 2 to 64; the nearest is 64",
            ),
            (
                "[topology]\nkind = \"dragonfly\"\n\nglobal_ports = 3\n",
                "4:16",
                "has cables for at most 25 groups; 33 take global_ports = 4",
            ),
            (
                "[topology]\nkind = \"hyperx\"\ndims = [8, 8, 26]\n",
                "3:8",
                "radix is 48: the switches use 51 ports with these parameters",
            ),
            (
                "[topology]\nkind = \"k-ary-n-tree\"\nn = 12\n",
                "3:5",
                "at most 10 levels",
            ),
            (
                "[topology]\nnodes = 65\n",
                "2:9",
                "it must be 2 to 64; the nearest is 64",
            ),
            ("[topology]\nnodes = -1\n", "2:9", "the nearest is 2"),
            ("[topology]\nnodes = 1.5\n", "2:9", "whole number"),
            (
                "[traffic]\nfile = \"a\"\nmapping = \"rand\"\n",
                "3:11",
                "\"linear\", \"random\" or a list",
            ),
            (
                "[traffic]\nfile = \"a\"\nmapping = [0, 16]\n",
                "3:15",
                "it must be 0 to 15",
            ),
            (
                "[traffic]\nfile = \"a\"\nsend_overhead_ns = 0.0015\n",
                "3:20",
                "with at most 3 decimals; the nearest are 0.001 and 0.002",
            ),
            (
                "[traffic]\nfile = \"a\"\nsend_overhead_ns = -1\n",
                "3:20",
                "it must be a number from 0 to 1000000000; the nearest is 0",
            ),
            (
                "[traffic]\nfile = \"a\"\nsend_overhead_ns = 1e300\n",
                "3:20",
                "it must be a number from 0 to 1000000000, not",
            ),
            (
                "[traffic]\nfile = \"a\"\nsend_overhead_ns = 1000000000.5\n",
                "3:20",
                "the nearest is 1000000000",
            ),
            (
                "[traffic]\nkind = \"uniform\"\nload = 1.5\n",
                "3:8",
                "load is 1.5: it must be a number from 0.000001 to 1; the nearest is 1",
            ),
            (
                "[traffic]\nkind = \"uniform\"\nload = 0\n",
                "3:8",
                "the nearest is 0.000001",
            ),
            (
                "[traffic]\nkind = \"two-level\"\nload = 0.5\nhigh_load = 0.1\n",
                "4:13",
                "high_load is 0.1, below load = 0.5: it must be 0.5 to 1; the nearest is 0.5",
            ),
            (
                "[traffic]\nkind = \"two-level\"\nload = 0.5\n",
                "3:8",
                "the high load is 7 times that, which is more than the link carries; give high_load",
            ),
            (
                "[traffic]\nkind = \"two-level\"\nlow_ns = 0\nhigh_ns = 0\nramp_ns = 0\n",
                "3:10",
                "one of them must last",
            ),
            (
                "[traffic]\nkind = \"on-off\"\non_ns = 0\n",
                "3:9",
                "the nearest is 0.001",
            ),
            (
                "[traffic]\nkind = \"on-off\"\noff_ns = 0\n",
                "3:10",
                "the nearest is 0.001",
            ),
            (
                // 20 ps a byte, by the load.
                "[traffic]\nkind = \"on-off\"\nload = 0.01\nmessage_bytes = 1000000\non_ns = 1.9\n",
                "5:9",
                "a node must be on for 2000000 ns from one message to the next (the time of a \
                 message on the link by the load), more than 1000 times on_ns; take at least 2000",
            ),
            (
                "[traffic]\nfile = \"a\"\n[switch]\nlink_gbps = 300\n",
                "4:13",
                "the nearest legal values are 250 and 320",
            ),
            (
                "[traffic]\nfile = \"a\"\n[switch]\ncable_ns = 50\n",
                "3:1",
                "nearest remedies: queue_bytes = 52563",
            ),
            (
                "[traffic]\nfile = \"a\"\n[switch]\nspeedup = 0.5\n",
                "4:11",
                "1 to 1000",
            ),
            (
                "[traffic]\nfile = \"a\"\n[switch]\nspeedup = nan\n",
                "4:11",
                "1 to 1000",
            ),
            (
                "[traffic]\nfile = \"a\"\n[power]\ncontroller = 5\n",
                "4:14",
                "must name a file",
            ),
            (
                "[traffic]\nfile = \"a\"\n[power]\ncontroller = \"p\"\nport = 1\n",
                "5:1",
                "not both",
            ),
            (
                "[traffic]\nfile = \"a\"\n[run]\nduration_ns = \"1ms\"\n",
                "4:15",
                "duration_ns is \"1ms\": it must be a number from 0 to",
            ),
            (
                "[traffic]\nfile = \"a\"\n[run]\nseed = -1\n",
                "4:8",
                "the nearest is 0",
            ),
        ] {
            let message = parse(text).unwrap_err();
            assert!(
                message.starts_with(&format!("folder/test.toml:{place}: "))
                    && message.contains(what),
                "{text:?}: {message}"
            );
        }
    }

    #[test]
    fn the_controller_that_is_named_is_checked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.toml");
        let text = "[traffic]\nfile = \"a\"\n[power]\ncontroller = \"port.toml\"\n";
        std::fs::write(&path, text).unwrap();
        let message = || Scenario::load(&path).unwrap_err().to_string();
        let place = format!("{}:4:14: controller in [power]: ", path.display());
        assert!(message().starts_with(&place), "{}", message());
        assert!(
            message().contains("port.toml: cannot read"),
            "{}",
            message()
        );
        let port = folder.path().join("port.toml");
        std::fs::write(&port, "[port]\ntime_width = 7\n").unwrap();
        assert!(message().contains("port.toml:2:14: "), "{}", message());
        std::fs::write(&port, "").unwrap();
        assert_eq!(Scenario::load(&path).unwrap().power, Power::File(port));
    }

    #[test]
    fn every_pattern() {
        let pattern = |text: &str| match parse(&format!("[traffic]\n{text}")).unwrap().traffic {
            Traffic::Pattern(pattern) => pattern,
            Traffic::Jobs(jobs) => panic!("{jobs:?}"),
        };
        let uniform = pattern("kind = \"uniform\"\nload = 0.25\nmessage_bytes = 20_000\n");
        assert_eq!(uniform.destinations, Destinations::Uniform);
        assert_eq!(uniform.arrivals, Arrivals::Steady { load: 0.25 });
        // Two packets of 9600 bytes and one of 800, 20 ps a byte.
        assert_eq!(uniform.message_ps, 400_000);
        let hotspot = pattern("kind = \"hotspot\"\nhot_nodes = [3, 4]\n");
        // p003: a quarter of the nodes.
        let destinations = Destinations::Hotspot {
            nodes: vec![3, 4],
            senders: 0.25,
        };
        assert_eq!(hotspot.destinations, destinations);
        // p004: seven times the low load.
        let two_level = pattern("kind = \"two-level\"\nload = 0.1\nramp_ns = 5\n");
        let Arrivals::TwoLevel {
            low, high, ramp_ps, ..
        } = two_level.arrivals
        else {
            panic!("{two_level:?}");
        };
        assert_eq!((low, high, ramp_ps), (0.1, 0.7, 5000));
        // The same number, written in several ways.
        for text in ["20_000.5", "2.00005e4", "+20000500e-3"] {
            let scenario = parse(&format!("{LEAST}[run]\nduration_ns = {text}\n")).unwrap();
            assert_eq!(scenario.duration_ps, Some(20_000_500), "{text}");
        }
        let on_off = pattern("kind = \"on-off\"\nload = 1\non_ns = 2\noff_ns = 3\n");
        let arrivals = Arrivals::OnOff {
            load: 1.0,
            on_ps: 2000,
            off_ps: 3000,
        };
        assert_eq!(on_off.arrivals, arrivals);
        let mlwf = pattern("kind = \"inactivity\"\nshape = \"mlwf\"\nidle_scale = 0.25\n");
        let arrivals = Arrivals::Inactivity {
            shape: Shape::Mlwf,
            scale: 0.25,
        };
        assert_eq!(mlwf.arrivals, arrivals);
        for (text, what) in [("shape = \"mwlf\"\n", "mlwf"), ("", "`shape` is missing")] {
            let text = format!("[traffic]\nkind = \"inactivity\"\n{text}");
            let message = parse(&text).unwrap_err().to_string();
            assert!(message.contains(what), "{message}");
        }
    }

    #[test]
    fn several_jobs_share_the_nodes() {
        let text = "[traffic]\n[[traffic.jobs]]\nfile = \"a\"\nmapping = [1, 5]\n\
                    [[traffic.jobs]]\nfile = \"b\"\n\
                    [[traffic.jobs]]\nfile = \"c\"\nmapping = \"random\"\n";
        let Traffic::Jobs(jobs) = parse(text).unwrap().traffic else {
            panic!("jobs");
        };
        let place = |seed| jobs.place(&[2, 3, 4], 16, seed).unwrap();
        let placed = place(1);
        assert_eq!(placed[..5], [1, 5, 0, 2, 3]);
        let mut all = placed.clone();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 9, "{placed:?}");
        assert_eq!(placed, place(1));
        assert!((2..9).any(|seed| place(seed)[5..] != placed[5..]));
        let error = jobs.place(&[2, 3, 12], 16, 1).unwrap_err();
        assert!(
            error.contains("folder/c has 12 ranks, and 11 of"),
            "{error}"
        );
        let error = jobs.place(&[3, 3, 4], 16, 1).unwrap_err();
        assert!(error.contains("places 2 ranks, folder/a has 3"), "{error}");
        // Lists may put several ranks of a job on a node, but not those of two jobs.
        let list = |file: &str| format!("[[traffic.jobs]]\nfile = \"{file}\"\nmapping = [2, 2]\n");
        for other in ["", "mapping = [1, 2]\n", "mapping = \"random\"\n"] {
            let text = format!("[[traffic.jobs]]\nfile = \"a\"\n{other}{}", list("b"));
            let Traffic::Jobs(jobs) = parse(&text).unwrap().traffic else {
                panic!("jobs");
            };
            // Where the mapping does not say so, the job is as large as the network.
            let ranks = if other.contains('[') { 2 } else { 16 };
            let error = jobs.place(&[ranks, 2], 16, 1).unwrap_err();
            assert!(
                error.contains("of folder/b names node 2, where ranks of folder/a"),
                "{error}"
            );
        }
        let text = list("a");
        let Traffic::Jobs(jobs) = parse(&text).unwrap().traffic else {
            panic!("jobs");
        };
        assert_eq!(jobs.place(&[2], 16, 1).unwrap(), [2, 2]);
    }

    #[test]
    fn jobs_run_on_processors_of_their_own_speed() {
        let speeds = |text: &str| match parse(text).unwrap().traffic {
            Traffic::Jobs(jobs) => jobs.jobs.iter().map(|job| job.cpu_speed).collect(),
            Traffic::Pattern(_) => Vec::new(),
        };
        assert_eq!(speeds(&format!("{LEAST}cpu_speed = 2.5")), [2_500_000]);
        let job = |keys: &str| format!("[[traffic.jobs]]\nfile = \"a\"\n{keys}\n");
        let text = job("cpu_speed = 1000") + &job("") + &job("cpu_speed = 0.001");
        assert_eq!(speeds(&text), [1_000_000_000, 1_000_000, 1000]);
        for wrong in [
            "0", "-1", "-0.5", "nan", "inf", "1000.1", "1e300", "0.0009", "\"2\"",
        ] {
            for text in [
                format!("{LEAST}cpu_speed = {wrong}"),
                job(&format!("cpu_speed = {wrong}")),
            ] {
                let error = parse(&text).unwrap_err();
                let what = "it must be a number from 0.001 to 1000";
                assert!(
                    error.starts_with("folder/test.toml:3:13: cpu_speed is ")
                        && error.contains(what),
                    "{error}"
                );
            }
        }
        let both = "[traffic]\ncpu_speed = 2\n".to_owned() + &job("");
        let error = parse(&both).unwrap_err();
        assert!(
            error.contains("`jobs` beside `file`, `mapping`, `cpu_speed` or"),
            "{error}"
        );
    }

    #[test]
    fn every_copy_of_a_job_takes_nodes_of_its_own() {
        let job = |keys: &str| format!("[[traffic.jobs]]\nfile = \"a\"\n{keys}\n");
        let text = job("copies = 3\nmapping = \"random\"") + &job("copies = 2");
        let Traffic::Jobs(jobs) = parse(&text).unwrap().traffic else {
            panic!("jobs");
        };
        let placed = jobs.place(&[4, 4, 4, 2, 2], 16, 1).unwrap();
        let mut all = placed.clone();
        all.sort_unstable();
        assert_eq!(all, (0..16).collect::<Vec<u32>>());
        // Copies are drawn one after the other, as jobs of their own would be.
        let single = job("mapping = \"random\"").repeat(3) + &job("").repeat(2);
        let Traffic::Jobs(single) = parse(&single).unwrap().traffic else {
            panic!("jobs");
        };
        assert_eq!(single.place(&[4, 4, 4, 2, 2], 16, 1).unwrap(), placed);
        let error = jobs.place(&[4, 4, 4, 2, 3], 16, 1).unwrap_err();
        assert!(error.contains("a has 3 ranks, and 2 of"), "{error}");
        for (keys, what) in [
            ("copies = 0", "it must be 1 to 16; the nearest is 1"),
            ("copies = 17", "it must be 1 to 16; the nearest is 16"),
            (
                "copies = 2\nmapping = [0, 1]",
                "copies of a job whose mapping is a list would share its nodes",
            ),
        ] {
            let error = parse(&job(keys)).unwrap_err();
            assert!(
                error.starts_with("folder/test.toml:3:10: ") && error.contains(what),
                "{error}"
            );
        }
    }

    #[test]
    fn values_take_the_places_of_the_scenario_s_own() {
        let parse = |text: &str, variation: &Variation| {
            Scenario::parse_varied(text, variation, Path::new("s.toml"))
        };
        let plain = |text: &str| Scenario::parse(text, Path::new("s.toml")).unwrap();
        let loads = Variation {
            load: Some(0.05),
            seed: Some(9),
            mapping: None,
        };
        // What depends on the load follows: the high one is 7 times as much.
        let pattern = |load: &str, run: &str| {
            format!("[traffic]\nkind = \"two-level\"\n{load}[switch]\nspeedup = 2.44\n{run}")
        };
        let expected = plain(&pattern("load = 0.05\n", "[run]\nseed = 9\n"));
        for (load, run) in [("", ""), ("load = 0.1\n", "[run]\nseed = 1\n")] {
            assert_eq!(parse(&pattern(load, run), &loads).unwrap(), expected);
        }
        let random = Variation {
            mapping: Some("random"),
            ..Variation::default()
        };
        let jobs = |mapping: &str| {
            let job = format!("[[traffic.jobs]]\nfile = \"a\"\n{mapping}");
            format!("[traffic]\nkind = \"goal\"\n{job}{job}")
        };
        let expected = plain(&jobs("mapping = \"random\"\n"));
        for mapping in ["", "mapping = \"linear\"\n", "mapping = [0, 1]\n"] {
            assert_eq!(parse(&jobs(mapping), &random).unwrap(), expected);
        }
        let single = "[traffic]\nfile = \"a\"\n";
        let expected = plain(&format!("{single}mapping = \"random\"\n"));
        assert_eq!(parse(single, &random).unwrap(), expected);
        // Keys that the scenario cannot have.
        for (text, variation) in [(single, &loads), (&*pattern("", ""), &random)] {
            let error = parse(text, variation).unwrap_err().to_string();
            assert!(error.contains("s.toml:1:1: unknown key"), "{error}");
        }
        let much = Variation {
            load: Some(0.2),
            ..Variation::default()
        };
        let error = parse(&pattern("", ""), &much).unwrap_err().to_string();
        assert!(error.contains("the high load is 7 times that"), "{error}");
    }
}
