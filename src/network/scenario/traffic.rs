//! `[traffic]`: what the nodes send.

mod random_jobs;
mod skeletons;

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::files::{ns, Files};
use super::keys::{LONGEST_PS, MOST_RANKS_PER_NODE};
use crate::input::{Decimal, Reader, Section, Value, Written};
use crate::network::parameters::Parameters;
use crate::network::replay::Overheads;
use crate::network::skeleton;
use crate::network::trace::TRACED_SPEED;
use crate::network::traffic::inactivity::Application;
use crate::network::traffic::pattern::{Arrivals, Destinations, Pattern};
use rand::seq::SliceRandom;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

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
    /// Whether another seed gives other jobs.
    pub drawn: bool,
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
    /// On nodes drawn from those that no job before uses (Georgakoudis V).
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
                        free => with_ranks_per_node(ranks.div_ceil(free) as u64, ", ", " or more"),
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

/// What traffic depends on beside its own table; none of what has faults.
pub(super) struct Network<'a> {
    /// Its nodes.
    pub nodes: Option<usize>,
    /// Its switches and links.
    pub switch: Option<&'a Parameters>,
    /// For what is drawn.
    pub seed: u64,
}

/// Reads `[traffic]` of a kind; `None` if there are faults, here or in what it depends on.
pub(super) fn read(
    reader: &mut Reader,
    section: &Section,
    kind: &str,
    files: &Files,
    network: &Network,
) -> Option<Traffic> {
    match kind {
        "goal" => jobs(reader, section, files, network.nodes).map(Traffic::Jobs),
        "skeleton" => skeletons::read(reader, section, network.nodes).map(Traffic::Jobs),
        "random-jobs" => random_jobs::read(reader, section, network).map(Traffic::Jobs),
        pattern => self::pattern(reader, section, pattern, network).map(Traffic::Pattern),
    }
}

fn pattern(
    reader: &mut Reader,
    section: &Section,
    kind: &str,
    network: &Network,
) -> Option<Pattern> {
    let nodes = network.nodes?;
    if nodes < 2 {
        let wrong = format!(
            "\"{kind}\" has messages from node to node, and the network has {nodes} node: make it \
             larger in [topology]"
        );
        reader.fault_at(section, "kind", wrong);
        return None;
    }
    let millionths = |key, default| section.number(key).map_or(default, |it| it.value);
    let load_millionths = millionths("load", 100_000);
    let load = load_millionths as f64 / 1e6;
    let destinations = match kind {
        "hotspot" => Destinations::Hotspot {
            nodes: hot_nodes(reader, section, nodes),
            // Zahn III: a quarter of the nodes sends to one.
            senders_millionths: millionths("hot_senders", 250_000),
        },
        _ => Destinations::Uniform,
    };
    let sends_to_hot = |node| destinations.sends_to_hot(node);
    if kind == "hotspot" && !section.is_faulty() && !(0..nodes as u32).any(sends_to_hot) {
        let enough = 2_000_000_u64.div_ceil(nodes as u64);
        let wrong = format!(
            "so small a part of {nodes} nodes that none sends to another one that is hot: take {} or \
             more",
            Decimal::scaled(enough, 6).plain()
        );
        reader.fault_at(section, "hot_senders", wrong);
    }
    let message_bytes = section.number("message_bytes").map(|it| it.value);
    if section.is_faulty() {
        return None;
    }
    let switch = network.switch?;
    let message_bytes = message_bytes.unwrap_or(switch.payload().into());
    let message_ps = wire_time(switch, message_bytes);
    let Some(message_ps) = u64::try_from(message_ps)
        .ok()
        .filter(|it| *it <= LONGEST_PS)
    else {
        let wrong = format!(
            "takes {} ns on a link of this rate, and may take at most {} ns; take a shorter one",
            message_ps / 1000,
            LONGEST_PS / 1000
        );
        reader.fault_at(section, "message_bytes", wrong);
        return None;
    };
    let arrivals = match kind {
        "two-level" => two_level(reader, section, load_millionths),
        "on-off" => on_off(reader, section, load, message_ps),
        "inactivity" => {
            let shapes = Application::ALL.map(|shape| (shape.name(), shape));
            let shape = section.choice("shape", &shapes);
            if shape.is_none() {
                let names = Application::ALL.map(Application::name).join(", ");
                reader.missing(section, "shape", format!("one of {names}"));
            }
            shape.map(|shape| Arrivals::Inactivity {
                shape: shape.value,
                scale: millionths("idle_scale", 1_000_000) as f64 / 1e6,
            })
        }
        _ => Some(Arrivals::Steady { load }),
    };
    Some(Pattern {
        destinations,
        arrivals: arrivals?,
        message_bytes,
        message_ps,
        seed: network.seed,
    })
}

/// A low load (in millionths) and a high one in turn.
fn two_level(reader: &mut Reader, section: &Section, low: u64) -> Option<Arrivals> {
    // Alonso 4: the load grows to seven times its low value, remains, and decreases.
    let high = section.number("high_load").map_or(7 * low, |it| it.value);
    let shown = |load| Decimal::scaled(load, 6).plain();
    let low_shown = shown(low);
    if high > 1_000_000 {
        let wrong = format!(
            "the high load is 7 times that, which is more than the link carries; give high_load, \
             from {low_shown} to 1"
        );
        reader.fault_at(section, "load", wrong);
        return None;
    }
    if high < low {
        let wrong = format!(
            "must be at least load = {low_shown} and at most 1; the nearest legal value is \
             {low_shown}"
        );
        reader.fault_at(section, "high_load", wrong);
        return None;
    }
    let time = |key, default| section.number(key).map_or(default, |it| it.value);
    let low_ps = time("low_ns", 100_000_000);
    let ramp_ps = time("ramp_ns", 20_000_000);
    let high_ps = time("high_ns", 60_000_000);
    if low_ps + ramp_ps + high_ps == 0 {
        let wrong = "ramp_ns and high_ns are 0 as well: one of the three must last";
        reader.fault_at(section, "low_ns", wrong);
        return None;
    }
    Some(Arrivals::TwoLevel {
        low: low as f64 / 1e6,
        high: high as f64 / 1e6,
        low_ps,
        ramp_ps,
        high_ps,
    })
}

/// Times that a node is on before its next message comes, at most and on the mean: each of them
/// is drawn. With as many, the traffic is hardly another than that of `uniform`.
const MOST_PERIODS: f64 = 1000.0;

/// Nodes that are on and off.
fn on_off(reader: &mut Reader, section: &Section, load: f64, message_ps: u64) -> Option<Arrivals> {
    let on_ps = section.number("on_ns").map_or(10_000_000, |it| it.value);
    let off_ps = section.number("off_ns").map_or(90_000_000, |it| it.value);
    let wait = message_ps as f64 / load;
    let least = (wait / MOST_PERIODS).ceil();
    if (on_ps as f64) < least {
        let wrong = format!(
            "a node must be on for {} ns from one message to the next (the time of a message on \
             the link by the load), more than {MOST_PERIODS} times on_ns = {}; take at least {}, \
             or kind = \"uniform\" at load * on_ns / (on_ns + off_ns), which hardly differs",
            wait.round() / 1e3,
            ns(on_ps),
            least / 1e3
        );
        reader.fault_at(section, "on_ns", wrong);
        return None;
    }
    Some(Arrivals::OnOff {
        load,
        on_ps,
        off_ps,
    })
}

/// Time on the link of all packets of a message, in picoseconds.
fn wire_time(switch: &Parameters, bytes: u64) -> u128 {
    let payload = u64::from(switch.payload());
    let (full, rest) = (bytes / payload, bytes % payload);
    let last = match rest {
        0 => 0,
        rest => switch.link_time(switch.wire(rest as u32)),
    };
    u128::from(full) * u128::from(switch.link_time(switch.wire(switch.payload())))
        + u128::from(last)
}

/// The nodes of a list; one that the network does not have is a fault.
fn nodes_of(reader: &mut Reader, list: &[Written<Value>], nodes: usize) -> Vec<u32> {
    let mut all = Vec::new();
    for node in list {
        let number = node.value.number().unwrap_or(0);
        let highest = nodes as u64 - 1;
        if number > highest {
            let wrong = format!(
                "must be a node of the network, 0 to {highest}; the nearest legal value is \
                 {highest}"
            );
            reader.fault_of(node, wrong);
        }
        all.push(number as u32);
    }
    all
}

fn hot_nodes(reader: &mut Reader, section: &Section, nodes: usize) -> Vec<u32> {
    let Some(list) = section.list("hot_nodes") else {
        return vec![0];
    };
    if list.value.is_empty() {
        reader.fault_of(&list, "must name a node, such as [0]");
    }
    let all = nodes_of(reader, &list.value, nodes);
    for (place, node) in all.iter().enumerate() {
        if all[..place].contains(node) {
            let wrong = format!("node {node} is listed twice, and all have the same share");
            reader.fault_of(&list.value[place], wrong);
        }
    }
    all
}

fn jobs(
    reader: &mut Reader,
    section: &Section,
    files: &Files,
    nodes: Option<usize>,
) -> Option<Jobs> {
    let overheads = overheads(section);
    let drawn = false;
    if !section.has("jobs") {
        let job = job(reader, section, files, nodes);
        if !section.has("file") && !section.has("jobs") {
            let what = "the trace to replay, such as file = \"trace.goal.zst\"";
            reader.missing(section, "file", what);
        }
        return job.filter(|_| !section.is_faulty()).map(|job| Jobs {
            jobs: vec![job],
            overheads,
            drawn,
        });
    }
    let single = ["file", "mapping", "cpu_speed", "ranks_per_node"];
    let all = tables(reader, section, &single)?;
    let mut jobs = Vec::new();
    for table in all {
        if !table.has("file") {
            let what = "the trace of the job, such as file = \"trace.goal.zst\"";
            reader.missing(table, "file", what);
        }
        jobs.extend(job(reader, table, files, nodes));
    }
    (jobs.len() == all.len()).then_some(Jobs {
        jobs,
        overheads,
        drawn,
    })
}

/// The tables of several jobs. The keys of a `single` one that stand beside them are faults.
fn tables<'s>(reader: &mut Reader, section: &'s Section, single: &[&str]) -> Option<&'s [Section]> {
    for written in single.iter().filter_map(|key| section.get(key)) {
        reader.fault_of(
            written,
            "cannot stand beside `jobs`: a single job has its keys in [traffic], several have them all in \
             [[traffic.jobs]]",
        );
    }
    match &section.get("jobs")?.value {
        Value::Tables(tables) => Some(tables),
        _ => None,
    }
}

/// The trace of a job, and where and how it runs.
fn job(reader: &mut Reader, section: &Section, files: &Files, nodes: Option<usize>) -> Option<Job> {
    let file = files.trace(reader, section);
    let placed = place(reader, section, nodes);
    let copies = section.number("copies");
    if let (Some(copies), Some(nodes)) = (&copies, nodes) {
        if copies.value > nodes as u64 {
            let wrong = format!(
                "must be a whole number from 1 to {nodes}, as every copy needs a node at least; \
                 the nearest legal value is {nodes}"
            );
            reader.fault_of(copies, wrong);
        }
    }
    let (mapping, ranks_per_node) = placed?;
    if let (Mapping::List(_), Some(Written { value: 2.., .. })) = (&mapping, &copies) {
        reader.fault_at(
            section,
            "copies",
            "copies of a job whose mapping is a list would share its nodes: take the mapping \
             \"linear\" or \"random\", or a [[traffic.jobs]] with a list for each",
        );
    }
    Some(Job {
        origin: Origin::Trace(file?),
        mapping,
        ranks_per_node,
        copies: copies.map_or(1, |copies| copies.value as u32),
        cpu_speed: cpu_speed(section),
    })
}

/// CPU time of sends and receives.
fn overheads(section: &Section) -> Overheads {
    let time = |key, default| section.number(key).map_or(default, |it| it.value);
    Overheads {
        send: time("send_overhead_ns", 200_000),
        recv: time("recv_overhead_ns", 0),
    }
}

/// Where the ranks of a job run, and how many of them on one node.
fn place(reader: &mut Reader, section: &Section, nodes: Option<usize>) -> Option<(Mapping, u32)> {
    let each = section
        .number("ranks_per_node")
        .map_or(1, |it| it.value as u32);
    let list = section.list("mapping");
    if list.is_some() && section.has("ranks_per_node") {
        reader.fault_at(
            section,
            "ranks_per_node",
            "cannot stand beside a mapping that is a list: the list has the node of each rank, and may name a \
             node several times",
        );
    }
    let mapping = match list {
        Some(list) => Mapping::List(nodes_of(reader, &list.value, nodes?)),
        None => {
            let random = section.choice("mapping", &[("linear", false), ("random", true)]);
            match random.is_some_and(|written| written.value) {
                true => Mapping::Random,
                false => Mapping::Linear,
            }
        }
    };
    Some((mapping, each))
}

/// The remedy of so many ranks of a node between two texts; none if a node may not have so many.
fn with_ranks_per_node(ranks: u64, before: &str, behind: &str) -> String {
    match ranks <= MOST_RANKS_PER_NODE {
        true => format!("{before}ranks_per_node = {ranks}{behind}"),
        false => String::new(),
    }
}

/// How fast the nodes of a job compute, in millionths.
fn cpu_speed(job: &Section) -> u64 {
    job.number("cpu_speed").map_or(TRACED_SPEED, |it| it.value)
}
