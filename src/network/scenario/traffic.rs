//! `[traffic]`: what the nodes send.

mod skeletons;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rand::seq::SliceRandom;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

use super::{integer, problem, shown, unknown, Checked, Section};
use crate::network::replay::Overheads;
use crate::network::skeleton;
use crate::network::trace::TRACED_SPEED;
use crate::network::traffic::inactivity::Shape;
use crate::network::traffic::pattern::{Arrivals, Destinations, Pattern};
use crate::switch::Parameters;

/// Longest time in a pattern: 1000 s.
const LONGEST_PS: u64 = 1_000_000_000_000_000;

/// What the nodes send.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// Applications: recorded, or skeletons.
    Jobs(Jobs),
    /// A pattern with chance in it.
    Pattern(Pattern),
}

impl Traffic {
    /// The only application, if there is just one.
    pub fn only_job(&self) -> Option<&Job> {
        match self {
            Traffic::Jobs(jobs) => match &*jobs.jobs {
                [job] if job.copies == 1 => Some(job),
                _ => None,
            },
            Traffic::Pattern(_) => None,
        }
    }
}

/// Applications that run at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Jobs {
    /// At least one.
    pub jobs: Vec<Job>,
    /// CPU time of sends and receives, in ps.
    pub overheads: Overheads,
}

/// Where the program of a job comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// The trace, relative to the working directory or absolute.
    Trace(PathBuf),
    /// A skeleton.
    Skeleton(skeleton::Parameters),
}

impl Origin {
    /// For messages.
    pub fn name(&self) -> String {
        match self {
            Origin::Trace(file) => file.display().to_string(),
            Origin::Skeleton(parameters) => format!("skeleton {}", parameters.name()),
        }
    }
}

/// A program and where its ranks run.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The program.
    pub origin: Origin,
    /// The node of each rank; every copy takes nodes that no other has taken.
    pub mapping: Mapping,
    /// So many ranks one after the other run on one node, at least 1; 1, if the mapping is a list.
    pub ranks_per_node: u32,
    /// So many of it run at the same time, at least 1; one, if the mapping is a list.
    pub copies: u32,
    /// How fast its nodes compute, in millionths of the processors of the trace
    /// ([`Program::at_speed`](crate::network::trace::Program::at_speed)).
    pub cpu_speed: u64,
}

/// Where the ranks of a job run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// On the first nodes that no job before uses, in the order of the ranks.
    Linear,
    /// On nodes drawn from those that no job before uses (p002 V).
    Random,
    /// The node of each rank.
    List(Vec<u32>),
}

impl Jobs {
    /// The node of each rank, job by job and copy by copy, where these have so many `ranks`
    /// and the network so many `nodes`.
    ///
    /// # Errors
    /// If there are too few nodes, or a list has another length or a node that another job has.
    pub fn place(&self, ranks: &[usize], nodes: usize, seed: u64) -> Result<Vec<u32>, String> {
        let mut free: Vec<u32> = (0..nodes as u32).collect();
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut placed = Vec::new();
        let copies = self
            .jobs
            .iter()
            .flat_map(|job| std::iter::repeat_n(job, job.copies as usize));
        let mut taken: BTreeMap<u32, &Job> = BTreeMap::new();
        for (job, &ranks) in copies.zip(ranks) {
            let first = placed.len();
            if let Mapping::List(list) = &job.mapping {
                if list.len() != ranks {
                    return Err(format!(
                        "the mapping places {} ranks, {} has {ranks}",
                        list.len(),
                        job.origin.name()
                    ));
                }
                if let Some(node) = list.iter().find(|node| taken.contains_key(node)) {
                    return Err(format!(
                        "the mapping of {} names node {node}, where ranks of {} already are: every \
                         job needs nodes of its own",
                        job.origin.name(),
                        taken[node].origin.name()
                    ));
                }
                placed.extend(list);
            } else {
                let each = job.ranks_per_node as usize;
                let needed = ranks.div_ceil(each);
                if needed > free.len() {
                    let remedy = match free.len() {
                        0 => String::new(),
                        free => format!(", ranks_per_node = {} or more", ranks.div_ceil(free)),
                    };
                    return Err(format!(
                        "{} has {ranks} ranks, and {} of the network's {nodes} nodes are free: \
                         with the mappings \"linear\" and \"random\" and ranks_per_node = {each} \
                         it needs {needed}; take a larger network{remedy}, or give the node of \
                         each rank as a list",
                        job.origin.name(),
                        free.len()
                    ));
                }
                if job.mapping == Mapping::Random {
                    free.shuffle(&mut random);
                }
                placed.extend((0..ranks).map(|rank| free[rank / each]));
            }
            taken.extend(placed[first..].iter().map(|&node| (node, job)));
            free.retain(|node| !taken.contains_key(node));
            free.sort_unstable();
        }
        Ok(placed)
    }
}

/// The kinds of traffic and their keys.
pub(super) const KINDS: [(&str, &[&str]); 7] = [
    ("goal", &GOAL),
    ("skeleton", &skeletons::KEYS),
    ("uniform", &UNIFORM),
    ("hotspot", &HOTSPOT),
    ("two-level", &TWO_LEVEL),
    ("on-off", &ON_OFF),
    ("inactivity", &INACTIVITY),
];
const JOB: [&str; 5] = ["file", "mapping", "ranks_per_node", "copies", "cpu_speed"];
const GOAL: [&str; 8] = [
    "kind",
    "file",
    "mapping",
    "ranks_per_node",
    "cpu_speed",
    "jobs",
    "send_overhead_ns",
    "recv_overhead_ns",
];
const UNIFORM: [&str; 3] = ["kind", "load", "message_bytes"];
const HOTSPOT: [&str; 5] = ["kind", "load", "message_bytes", "hot_nodes", "hot_senders"];
const TWO_LEVEL: [&str; 7] = [
    "kind",
    "load",
    "message_bytes",
    "high_load",
    "low_ns",
    "ramp_ns",
    "high_ns",
];
const ON_OFF: [&str; 5] = ["kind", "load", "message_bytes", "on_ns", "off_ns"];
const INACTIVITY: [&str; 4] = ["kind", "shape", "idle_scale", "message_bytes"];

/// Reads `[traffic]` for a network of `nodes` nodes.
pub(super) fn read(
    document: &Spanned<DeTable>,
    folder: &Path,
    nodes: usize,
    switch: &Parameters,
    seed: u64,
) -> Checked<Traffic> {
    let (kind, keys) = kind(document)?;
    let section = Section::of(document, "traffic", keys)?;
    match kind {
        "goal" => return jobs(&section, folder, nodes).map(Traffic::Jobs),
        "skeleton" => return skeletons::read(&section, nodes).map(Traffic::Jobs),
        _ => {}
    }
    if nodes < 2 {
        return problem(
            section.place("kind"),
            format!(
                "kind = \"{kind}\" has messages from node to node, and the network has {nodes} \
                 node: make it larger in [topology]"
            ),
        );
    }
    let load_millionths = section.millionths("load", 100_000, 1..=1_000_000)?;
    let load = load_millionths as f64 / 1e6;
    let message_bytes = section.integer("message_bytes", switch.payload().into(), 1..=1 << 40)?;
    let message_ps = wire_time(switch, message_bytes);
    let destinations = match kind {
        "hotspot" => Destinations::Hotspot {
            nodes: hot_nodes(&section, nodes)?,
            // p003 III: a quarter of the nodes sends to one.
            senders: section.millionths("hot_senders", 250_000, 1..=1_000_000)? as f64 / 1e6,
        },
        _ => Destinations::Uniform,
    };
    let arrivals = match kind {
        "two-level" => two_level(&section, load_millionths)?,
        "on-off" => on_off(&section, load, message_ps)?,
        "inactivity" => Arrivals::Inactivity {
            shape: shape(&section)?,
            scale: section.millionths("idle_scale", 1_000_000, 1..=1_000_000)? as f64 / 1e6,
        },
        _ => Arrivals::Steady { load },
    };
    Ok(Traffic::Pattern(Pattern {
        destinations,
        arrivals,
        message_bytes,
        message_ps,
        seed,
    }))
}

/// A low load (in millionths) and a high one in turn.
fn two_level(section: &Section, low: u64) -> Checked<Arrivals> {
    // p004 4: the load grows to seven times its low value, remains, and decreases.
    let high = section.millionths("high_load", 7 * low, 1..=1_000_000)?;
    let (low_load, high_load) = (low as f64 / 1e6, high as f64 / 1e6);
    if high > 1_000_000 {
        return problem(
            section.place("load"),
            format!(
                "load = {low_load}: the high load is 7 times that, which is more than the link \
                 carries; give high_load, from {low_load} to 1"
            ),
        );
    }
    if high < low {
        return problem(
            section.place("high_load"),
            format!(
                "high_load is {high_load}, below load = {low_load}: it must be {low_load} to 1; \
                 the nearest is {low_load}"
            ),
        );
    }
    let low_ps = section.time("low_ns", 100_000_000, LONGEST_PS)?;
    let ramp_ps = section.time("ramp_ns", 20_000_000, LONGEST_PS)?;
    let high_ps = section.time("high_ns", 60_000_000, LONGEST_PS)?;
    if low_ps + ramp_ps + high_ps == 0 {
        return problem(
            section.place("low_ns"),
            "low_ns, ramp_ns and high_ns are all 0: one of them must last",
        );
    }
    Ok(Arrivals::TwoLevel {
        low: low_load,
        high: high_load,
        low_ps,
        ramp_ps,
        high_ps,
    })
}

/// Times that a node is on before its next message comes, at most and on the mean: each of them
/// is drawn. With as many, the traffic is hardly another than that of `uniform`.
const MOST_PERIODS: f64 = 1000.0;

/// Nodes that are on and off.
fn on_off(section: &Section, load: f64, message_ps: u64) -> Checked<Arrivals> {
    let on_ps = section.thousandths("on_ns", 10_000_000, 1..=LONGEST_PS)?;
    let off_ps = section.thousandths("off_ns", 90_000_000, 1..=LONGEST_PS)?;
    let wait = message_ps as f64 / load;
    let least = (wait / MOST_PERIODS).ceil();
    if (on_ps as f64) < least {
        return problem(
            section.place("on_ns"),
            format!(
                "on_ns = {}: a node must be on for {} ns from one message to the next (the time \
                 of a message on the link by the load), more than {MOST_PERIODS} times on_ns; \
                 take at least {}, or kind = \"uniform\" at load * on_ns / (on_ns + off_ns), \
                 which hardly differs",
                on_ps as f64 / 1e3,
                wait.round() / 1e3,
                least / 1e3
            ),
        );
    }
    Ok(Arrivals::OnOff {
        load,
        on_ps,
        off_ps,
    })
}

/// Time on the link of all packets of a message.
fn wire_time(switch: &Parameters, bytes: u64) -> u64 {
    let payload = u64::from(switch.payload());
    let (full, rest) = (bytes / payload, bytes % payload);
    let last = match rest {
        0 => 0,
        rest => switch.link_time(switch.wire(rest as u32)),
    };
    full * switch.link_time(switch.wire(switch.payload())) + last
}

/// The kind of traffic and its keys.
fn kind(document: &Spanned<DeTable>) -> Checked<(&'static str, &'static [&'static str])> {
    let table = document.get_ref().get("traffic");
    let table = table.and_then(|traffic| traffic.get_ref().as_table());
    let Some(value) = table.and_then(|table| table.get("kind")) else {
        return Ok(KINDS[0]);
    };
    let at = value.span().start;
    let Some(name) = value.get_ref().as_str() else {
        let value = shown(value.get_ref());
        return problem(at, format!("kind is {value}: it must be a string"));
    };
    match KINDS.into_iter().find(|(kind, _)| *kind == name) {
        Some(found) => Ok(found),
        None => {
            let names = KINDS.map(|(kind, _)| kind);
            problem(at, unknown("kind", name, "[traffic]", &names))
        }
    }
}

fn shape(section: &Section) -> Checked<Shape> {
    let names = Shape::ALL.map(Shape::name);
    let Some((name, at)) = section.string("shape")? else {
        let text = format!(
            "`shape` is missing in [traffic]: one of {}",
            names.join(", ")
        );
        return problem(section.at, text);
    };
    let found = Shape::ALL.into_iter().find(|shape| shape.name() == name);
    match found {
        Some(shape) => Ok(shape),
        None => problem(at, unknown("shape", name, "[traffic]", &names)),
    }
}

fn hot_nodes(section: &Section, nodes: usize) -> Checked<Vec<u32>> {
    let Some(value) = section.value("hot_nodes") else {
        return Ok(vec![0]);
    };
    let DeValue::Array(list) = value.get_ref() else {
        return problem(
            value.span().start,
            "hot_nodes must be a list of nodes, such as [0]",
        );
    };
    if list.is_empty() {
        return problem(value.span().start, "hot_nodes is empty: name a node");
    }
    list.iter()
        .map(|node| integer(node, "a node in hot_nodes", 0..=nodes as u64 - 1))
        .map(|node| node.map(|node| node as u32))
        .collect()
}

fn jobs(section: &Section, folder: &Path, nodes: usize) -> Checked<Jobs> {
    let overheads = overheads(section)?;
    let Some(list) = section.value("jobs") else {
        let Some((file, _)) = section.string("file")? else {
            return problem(
                section.at,
                "`file` is missing in [traffic]: the trace to replay, such as \
                 file = \"trace.goal.zst\"",
            );
        };
        let (mapping, ranks_per_node) = place(section, nodes)?;
        return Ok(Jobs {
            jobs: vec![Job {
                origin: Origin::Trace(folder.join(file)),
                mapping,
                ranks_per_node,
                copies: 1,
                cpu_speed: cpu_speed(section)?,
            }],
            overheads,
        });
    };
    let single = ["file", "mapping", "cpu_speed", "ranks_per_node"];
    if let Some(value) = single.iter().find_map(|key| section.value(key)) {
        return problem(
            value.span().start,
            "`jobs` beside `file`, `mapping`, `cpu_speed` or `ranks_per_node` in [traffic]: a single \
             trace has the latter, several are all in [[traffic.jobs]]",
        );
    }
    let at = list.span().start;
    let jobs = match list.get_ref() {
        DeValue::Array(jobs) if !jobs.is_empty() => jobs,
        _ => {
            return problem(
                at,
                "jobs must be tables: [[traffic.jobs]], each with a file",
            )
        }
    };
    let job = |job: &Spanned<DeValue>| {
        let at = job.span().start;
        let Some(table) = job.get_ref().as_table() else {
            return problem(at, "a job must be a table: [[traffic.jobs]]");
        };
        for (key, _) in table {
            if !JOB.contains(&key.get_ref().as_ref()) {
                let text = unknown("key", key.get_ref(), "[[traffic.jobs]]", &JOB);
                return problem(key.span().start, text);
            }
        }
        let file = table.get("file").and_then(|file| file.get_ref().as_str());
        let Some(file) = file.filter(|file| !file.is_empty()) else {
            return problem(
                at,
                "a job needs its trace, such as file = \"trace.goal.zst\"",
            );
        };
        let section = Section {
            table: Some(table),
            at,
        };
        let (mapping, ranks_per_node) = place(&section, nodes)?;
        let copies = match table.get("copies") {
            None => 1,
            // Every copy needs a node at least.
            Some(value) => integer(value, "copies", 1..=nodes as u64)? as u32,
        };
        if let (Mapping::List(_), Some(value), 2..) = (&mapping, table.get("copies"), copies) {
            return problem(
                value.span().start,
                "copies of a job whose mapping is a list would share its nodes: take the mapping \
                 \"linear\" or \"random\", or a [[traffic.jobs]] with a list for each",
            );
        }
        Ok(Job {
            origin: Origin::Trace(folder.join(file)),
            mapping,
            ranks_per_node,
            copies,
            cpu_speed: cpu_speed(&section)?,
        })
    };
    Ok(Jobs {
        jobs: jobs.iter().map(job).collect::<Checked<_>>()?,
        overheads,
    })
}

/// CPU time of sends and receives.
fn overheads(section: &Section) -> Checked<Overheads> {
    Ok(Overheads {
        send: section.time("send_overhead_ns", 200_000, 1_000_000_000_000)?,
        recv: section.time("recv_overhead_ns", 0, 1_000_000_000_000)?,
    })
}

/// The most ranks of a node: more processors hardly share a NIC.
const MOST_RANKS_PER_NODE: u64 = 1024;

/// Where the ranks of a job run, and how many of them on one node.
fn place(section: &Section, nodes: usize) -> Checked<(Mapping, u32)> {
    let mapping = mapping(section.value("mapping"), nodes)?;
    let each = section.integer("ranks_per_node", 1, 1..=MOST_RANKS_PER_NODE)? as u32;
    if let (Mapping::List(_), Some(value)) = (&mapping, section.value("ranks_per_node")) {
        return problem(
            value.span().start,
            "ranks_per_node beside a mapping that is a list: the list has the node of each rank, \
             and may name a node several times",
        );
    }
    Ok((mapping, each))
}

/// From a thousandth to a thousand times: beyond these a unit is more likely mistaken.
fn cpu_speed(job: &Section) -> Checked<u64> {
    job.millionths("cpu_speed", TRACED_SPEED, 1_000..=1_000_000_000)
}

fn mapping(value: Option<&Spanned<DeValue>>, nodes: usize) -> Checked<Mapping> {
    let Some(value) = value else {
        return Ok(Mapping::Linear);
    };
    let expected =
        "\"linear\", \"random\" or a list with the node of each rank, such as [0, 1, 2, 3]";
    match value.get_ref() {
        DeValue::String(name) if name == "linear" => Ok(Mapping::Linear),
        DeValue::String(name) if name == "random" => Ok(Mapping::Random),
        DeValue::Array(list) => list
            .iter()
            .map(|node| integer(node, "a node in mapping", 0..=nodes as u64 - 1))
            .map(|node| node.map(|node| node as u32))
            .collect::<Checked<_>>()
            .map(Mapping::List),
        other => problem(
            value.span().start,
            format!("mapping is {}: it must be {expected}", shown(other)),
        ),
    }
}
