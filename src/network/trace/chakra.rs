//! Execution traces of MLCommons Chakra: one graph of computations and communications per
//! accelerator, `NAME.0.et`, `NAME.1.et`, ..., each a sequence of protobuf messages with their
//! lengths before them (`et_def.proto`): one with metadata, then the nodes.
//!
//! A node runs when all that it names as dependencies have finished. Where control dependencies
//! close a circle they are left out, all of them: older converters wrote the calling operator
//! there, and the readers of that time used data dependencies only. Computations last as
//! recorded; an accelerator has three CPUs, which the nodes on each share: 0 communicates, 1
//! computes, 2 is its host (`is_cpu_op`), where communication nodes are calls that take their
//! time. The messages of collectives are those of [`collectives`](super::collectives).
//! `comm_size` is what each accelerator gives, as astra-sim has it: of an all-reduce,
//! reduce-scatter, all-to-all or scatter the whole vector, of an all-gather or gather its part.
//! The n-th collective of a process group in the file of one member is the n-th of the others.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};

use prost::Message;

use super::collectives::{split, Collective};
use super::mpi::{Comm, Rank, Tags};
use super::{Builder, Cycle, Format, Op, OpKind, Program, TraceError};

/// The CPUs of an accelerator.
const COMMUNICATES: u8 = 0;
const COMPUTES: u8 = 1;
const HOST: u8 = 2;

/// The first message of a file.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Metadata {
    #[prost(string, tag = "1")]
    pub(super) version: String,
    #[prost(message, repeated, tag = "2")]
    pub(super) attributes: Vec<Attribute>,
}

/// What of a node matters here.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Node {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(string, tag = "2")]
    pub(super) name: String,
    #[prost(int32, tag = "3")]
    pub(super) kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub(super) control: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub(super) data: Vec<u64>,
    #[prost(uint64, tag = "7")]
    pub(super) duration_us: u64,
    #[prost(message, repeated, tag = "10")]
    pub(super) attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(
        oneof = "Value",
        tags = "7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 28, 29"
    )]
    pub(super) value: Option<Value>,
}

/// A value of one of the types that the attributes used here have.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Value {
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(message, tag = "28")]
    Bools(Bools),
    #[prost(string, tag = "29")]
    Text(String),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Bools {
    #[prost(bool, repeated, tag = "1")]
    pub(super) values: Vec<bool>,
}

impl Node {
    fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|one| one.name == name)
    }

    /// A whole number that is not negative, if the node has the attribute.
    fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(attribute) = self.attribute(name) else {
            return Ok(None);
        };
        let number = match attribute.value {
            Some(Value::Int32(value) | Value::Sint32(value) | Value::Sfixed32(value)) => {
                u64::try_from(value).ok()
            }
            Some(Value::Int64(value) | Value::Sint64(value) | Value::Sfixed64(value)) => {
                u64::try_from(value).ok()
            }
            Some(Value::Uint32(value) | Value::Fixed32(value)) => Some(value.into()),
            Some(Value::Uint64(value) | Value::Fixed64(value)) => Some(value),
            Some(Value::Bool(value)) => Some(value.into()),
            _ => None,
        };
        let fault = || format!("its attribute `{name}` is no whole number from 0 on");
        number.map(Some).ok_or_else(fault)
    }

    fn needed(&self, name: &str) -> Result<u64, String> {
        self.number(name)?
            .ok_or_else(|| format!("its attribute `{name}` is missing"))
    }

    fn is_on_host(&self) -> Result<bool, String> {
        Ok(self.number("is_cpu_op")? == Some(1))
    }

    /// The process group of a collective; that of all accelerators has no name.
    fn group(&self) -> Result<String, String> {
        if let Some(attribute) = self.attribute("involved_dim") {
            match &attribute.value {
                Some(Value::Bools(dimensions)) if dimensions.values.iter().all(|&is| is) => {}
                Some(Value::Bools(_)) => {
                    return Err(
                        "its `involved_dim` leaves out dimensions of the network, but the \
                                trace does not tell which accelerators lie along the others: \
                                give the members as a process group (`pg_name`)"
                            .into(),
                    )
                }
                _ => return Err("its attribute `involved_dim` is no list of bools".into()),
            }
        }
        match self.attribute("pg_name").map(|attribute| &attribute.value) {
            None => Ok(String::new()),
            Some(Some(Value::Text(name))) => Ok(name.clone()),
            Some(_) => Err("its attribute `pg_name` is no text".into()),
        }
    }
}

/// The trace of one accelerator.
struct Trace {
    path: PathBuf,
    /// With the place of each node, in bytes from 0.
    nodes: Vec<(u64, Node)>,
}

impl Trace {
    /// The places of the nodes that each node names, and how many are not in the file.
    fn dependencies(&self, control: bool) -> (Vec<Vec<usize>>, u64) {
        let nodes = self.nodes.iter().enumerate();
        let places: HashMap<u64, usize> =
            nodes.map(|(place, (_, node))| (node.id, place)).collect();
        let mut missing = 0;
        let others = self.nodes.iter().map(|(_, node)| {
            let ids = node.control.iter().filter(|_| control).chain(&node.data);
            let mut others: Vec<usize> = ids
                .filter_map(|id| {
                    let place = places.get(id).copied();
                    missing += u64::from(place.is_none());
                    place
                })
                .collect();
            others.sort_unstable();
            others.dedup();
            others
        });
        (others.collect(), missing)
    }

    /// Whether no nodes wait for each other, control dependencies included.
    fn is_acyclic(&self) -> bool {
        let (others, _) = self.dependencies(true);
        let mut needs: Vec<usize> = others.iter().map(Vec::len).collect();
        let mut waiting = vec![Vec::new(); others.len()];
        for (place, others) in others.iter().enumerate() {
            others.iter().for_each(|&other| waiting[other].push(place));
        }
        let mut ready: Vec<usize> = (0..needs.len())
            .filter(|&place| needs[place] == 0)
            .collect();
        let mut taken = 0;
        while let Some(place) = ready.pop() {
            taken += 1;
            for &next in &waiting[place] {
                needs[next] -= 1;
                if needs[next] == 0 {
                    ready.push(next);
                }
            }
        }
        taken == needs.len()
    }

    fn fault(&self, node: usize, problem: &str) -> TraceError {
        let (offset, node) = &self.nodes[node];
        TraceError::Binary {
            path: self.path.clone(),
            offset: *offset,
            problem: format!("node {} (`{}`): {problem}", node.id, node.name),
        }
    }
}

/// The name without `.et` and what compresses it; nothing where it has none.
pub(super) fn place(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    // Copies of attributes that macOS puts into archives.
    if name.starts_with("._") {
        return None;
    }
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let name = name.strip_suffix(".zst").unwrap_or(name);
    name.strip_suffix(".et")
}

/// The number of the accelerator, and the name before it.
fn number(path: &Path) -> Option<(&str, u32)> {
    let (name, number) = place(path)?.rsplit_once('.')?;
    Some((name, number.parse().ok()?))
}

/// Whether two files are traces of one run.
pub(super) fn belong_together(one: &Path, other: &Path) -> bool {
    match (number(one), number(other)) {
        (Some((name, _)), Some((other, _))) => name == other,
        _ => one.file_name() == other.file_name(),
    }
}

/// Why a trace in JSON cannot be read, and what to give instead.
pub(super) fn why_not_json(input: impl Read) -> String {
    let keys: HashMap<String, serde::de::IgnoredAny> = match serde_json::from_reader(input) {
        Ok(keys) => keys,
        Err(error) => return format!("neither a trace nor JSON: {error}"),
    };
    let lacks = if keys.contains_key("traceEvents") {
        "a profile of Kineto tells times, but not which messages the collectives are"
    } else if keys.contains_key("workload_graph") {
        "a workload graph in JSON tells times, but neither kind nor size of the communications"
    } else if keys.contains_key("schema") && keys.contains_key("nodes") {
        "an execution trace of PyTorch tells sizes, but no times"
    } else {
        return "JSON that is no trace; a GOAL trace begins with `num_ranks N`".into();
    };
    format!(
        "{lacks}: join the execution trace of PyTorch and the profile of Kineto of each accelerator \
         with `chakra_trace_link`, make NAME.0.et, NAME.1.et, ... of them with `chakra_converter \
         PyTorch`, and give these"
    )
}

/// Reads the traces of all accelerators, with the paths they have in `path`.
///
/// # Errors
/// As [`super::read`].
pub(super) fn program(
    path: &Path,
    mut files: Vec<(PathBuf, Vec<u8>)>,
) -> Result<Program, TraceError> {
    let whole = |path: &Path, problem: String| TraceError::Whole {
        path: path.into(),
        problem,
    };
    for (file, _) in &files {
        let Some((name, _)) = number(file) else {
            return Err(whole(
                file,
                "the name does not tell the accelerator: NAME.0.et, NAME.1.et, ...".into(),
            ));
        };
        if !belong_together(file, &files[0].0) {
            let other = number(&files[0].0).map_or("", |(name, _)| name);
            return Err(whole(
                path,
                format!("holds two traces, `{name}` and `{other}`: give a file of one"),
            ));
        }
    }
    files.sort_by_key(|(file, _)| number(file).map(|(_, number)| number));
    for (expected, (file, _)) in files.iter().enumerate() {
        if number(file).map(|(_, number)| number as usize) != Some(expected) {
            return Err(whole(
                file,
                format!(
                    "the {} traces must be those of accelerators 0 to {}, each once: here that of \
                     accelerator {expected} should stand",
                    files.len(),
                    files.len() - 1
                ),
            ));
        }
    }
    let traces = files
        .into_iter()
        .map(|(path, bytes)| parse(path, &bytes))
        .collect::<Result<Vec<Trace>, _>>()?;
    let groups = groups(&traces)?;
    let control = traces.iter().all(Trace::is_acyclic);
    let mut builder = Builder::new(Format::Chakra);
    let mut tags = Tags::default();
    for (me, trace) in traces.iter().enumerate() {
        let mut left_out = BTreeMap::new();
        let comms = groups.iter().enumerate().filter_map(|(number, group)| {
            let members = group.members.clone();
            Some((
                group.name.clone(),
                Comm::new(number as u32, members, me as u32)?,
            ))
        });
        let mut writer = Writer {
            me: me as u32,
            accelerators: traces.len() as u32,
            comms: comms.collect(),
            rank: Rank::new(&mut builder),
            tags: &mut tags,
            left_out: &mut left_out,
        };
        let mut ends = Vec::with_capacity(trace.nodes.len());
        for (number, (_, node)) in trace.nodes.iter().enumerate() {
            let end = writer.node(node);
            ends.push(end.map_err(|problem| trace.fault(number, &problem))?);
        }
        writer.dependencies(trace, &ends, control)?;
        let end = writer.rank.end_acyclic();
        if let Err(Cycle(cycle)) = end.map_err(|problem| whole(&trace.path, problem))? {
            return Err(circle(trace, &ends, &cycle));
        }
        for (what, count) in left_out {
            builder.left_out(what, count);
        }
    }
    Ok(builder.program)
}

fn circle(trace: &Trace, ends: &[(u32, u32)], cycle: &[u32]) -> TraceError {
    let node = |op: u32| ends.partition_point(|&(first, _)| first <= op) - 1;
    let mut nodes: Vec<usize> = cycle.iter().map(|&op| node(op)).collect();
    nodes.dedup();
    let ids: Vec<String> = nodes
        .iter()
        .chain(nodes.first())
        .map(|&node| trace.nodes[node].1.id.to_string())
        .collect();
    let problem = format!("nodes wait for each other: {}", ids.join(" -> "));
    trace.fault(nodes[0], &problem)
}

/// The nodes of a file.
fn parse(path: PathBuf, bytes: &[u8]) -> Result<Trace, TraceError> {
    let fault = |offset: usize, problem: String| TraceError::Binary {
        path: path.clone(),
        offset: offset as u64,
        problem,
    };
    let mut rest = bytes;
    let mut metadata = false;
    let mut nodes = Vec::new();
    let mut places: HashMap<u64, usize> = HashMap::new();
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let length = prost::decode_length_delimiter(&mut rest);
        let length =
            length.map_err(|error| fault(at, format!("no length of a message: {error}")))?;
        if length > rest.len() {
            return Err(fault(
                at,
                format!(
                    "a message of {length} bytes, but the file ends after {}: it is truncated, or no \
                     trace of Chakra",
                    rest.len()
                ),
            ));
        }
        let (message, behind) = rest.split_at(length);
        rest = behind;
        if !metadata {
            Metadata::decode(message).map_err(|error| {
                fault(
                    at,
                    format!("the first message is no GlobalMetadata of Chakra: {error}"),
                )
            })?;
            metadata = true;
            continue;
        }
        let node = Node::decode(message)
            .map_err(|error| fault(at, format!("the message is no Node of Chakra: {error}")))?;
        if let Some(other) = places.insert(node.id, at) {
            return Err(fault(
                at,
                format!("node {} stands at byte {other} already", node.id),
            ));
        }
        nodes.push((at as u64, node));
    }
    if nodes.is_empty() {
        return Err(fault(bytes.len(), "the file holds no node".into()));
    }
    Ok(Trace { path, nodes })
}

/// Accelerators that have collectives together.
struct Group {
    /// Empty: all.
    name: String,
    members: Vec<u32>,
}

/// What must be alike on all members of a collective.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Contribution {
    kind: u64,
    bytes: u64,
}

/// The process groups: that of all first. Its members are those whose files have collectives of
/// it, because all members take part in each; their collectives must be the same.
fn groups(traces: &[Trace]) -> Result<Vec<Group>, TraceError> {
    let all = (0..traces.len() as u32).collect();
    let mut groups = vec![Group {
        name: String::new(),
        members: all,
    }];
    // By group and accelerator, with the node.
    let mut parts: BTreeMap<String, BTreeMap<u32, Vec<(usize, Contribution)>>> = BTreeMap::new();
    for (me, trace) in traces.iter().enumerate() {
        for (number, (_, node)) in trace.nodes.iter().enumerate() {
            let fault = |problem: String| trace.fault(number, &problem);
            if node.kind != 7 || node.is_on_host().map_err(fault)? {
                continue;
            }
            if traces.len() == 1 {
                return Err(fault(
                    "a collective, but this is the trace of one accelerator: put those of the \
                     others beside it (NAME.1.et, ...); where all do the same, copies of this one"
                        .into(),
                ));
            }
            let part = part(node).map_err(fault)?;
            let group = node.group().map_err(fault)?;
            let members = parts.entry(group).or_default();
            members.entry(me as u32).or_default().push((number, part));
        }
    }
    for (name, by_member) in parts {
        if name.is_empty() {
            for me in 0..traces.len() as u32 {
                if !by_member.contains_key(&me) {
                    let (&other, nodes) = by_member.first_key_value().expect("not empty");
                    let problem = format!(
                        "a collective of all, but accelerator {me} has none: the members of smaller \
                         groups must be told by `pg_name`"
                    );
                    return Err(traces[other as usize].fault(nodes[0].0, &problem));
                }
            }
        }
        let (&first, expected) = by_member.first_key_value().expect("not empty");
        for (&me, nodes) in &by_member {
            let differs = nodes
                .iter()
                .zip(expected)
                .position(|((_, one), (_, other))| one != other);
            let (trace, other) = (&traces[me as usize], &traces[first as usize]);
            if let Some(place) = differs {
                let ((node, part), (other_node, other_part)) = (nodes[place], expected[place]);
                return Err(trace.fault(
                    node,
                    &format!(
                        "collective {place} of its process group `{name}` is {part}, that of \
                         accelerator {first} (node {}) {other_part}: they must be the same, in the \
                         same order",
                        other.nodes[other_node].1.id
                    ),
                ));
            }
            if nodes.len() != expected.len() {
                let problem = format!(
                    "accelerator {me} has {} collectives of process group `{name}`, accelerator \
                     {first} {}: they must be as many",
                    nodes.len(),
                    expected.len()
                );
                return Err(trace.fault(nodes[nodes.len() - 1].0, &problem));
            }
            let (node, _) = nodes[0];
            let size = trace.nodes[node].1.number("pg_size");
            let size = size.map_err(|problem| trace.fault(node, &problem))?;
            if size.is_some_and(|size| size != by_member.len() as u64) {
                let problem = format!(
                    "its `pg_size` does not fit: {} of the {} traces have collectives of process \
                     group `{name}`; all of its members must be there",
                    by_member.len(),
                    traces.len()
                );
                return Err(trace.fault(node, &problem));
            }
        }
        if !name.is_empty() {
            let members = by_member.into_keys().collect();
            groups.push(Group { name, members });
        }
    }
    Ok(groups)
}

impl std::fmt::Display for Contribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = KINDS[self.kind as usize];
        write!(f, "{name} of {} bytes", self.bytes)
    }
}

/// The kinds of collectives by `comm_type`.
const KINDS: [&str; 10] = [
    "an all-reduce",
    "a reduce",
    "an all-gather",
    "a gather",
    "a scatter",
    "a broadcast",
    "an all-to-all",
    "a reduce-scatter",
    "a reduce-scatter-block",
    "a barrier",
];
const BARRIER: u64 = 9;

fn part(node: &Node) -> Result<Contribution, String> {
    let kind = node.needed("comm_type")?;
    if kind >= KINDS.len() as u64 {
        return Err(format!("its `comm_type` is {kind}: it is 0 to 9"));
    }
    let bytes = match kind {
        BARRIER => 0,
        _ => node.needed("comm_size")?,
    };
    Ok(Contribution { kind, bytes })
}

/// Writes the operations of an accelerator.
struct Writer<'a> {
    me: u32,
    accelerators: u32,
    /// By process group.
    comms: HashMap<String, Comm>,
    rank: Rank<&'a mut Builder>,
    tags: &'a mut Tags,
    left_out: &'a mut BTreeMap<&'static str, u64>,
}

impl Writer<'_> {
    fn count(&mut self, what: &'static str, count: u64) {
        *self.left_out.entry(what).or_default() += count;
    }

    /// Writes a node that waits for nothing yet; its first and its last operation.
    fn node(&mut self, node: &Node) -> Result<(u32, u32), String> {
        self.rank.set_after(Vec::new());
        let host = node.is_on_host()?;
        match node.kind {
            0 | 1 => {
                if node.kind == 0 {
                    self.count("nodes of no type (only their dependencies count)", 1);
                }
                self.calc(0, COMMUNICATES)
            }
            2..=4 => self.computation(node, if host { HOST } else { COMPUTES }),
            5..=7 if host => self.computation(node, HOST),
            5 => {
                let (to, tag) = self.partner(node, "comm_src", "comm_dst")?;
                let op = self.rank.isend(to, node.needed("comm_size")?, tag)?;
                Ok((op, op))
            }
            6 => {
                let (from, tag) = self.partner(node, "comm_dst", "comm_src")?;
                let op = self.rank.irecv(from, node.needed("comm_size")?, tag)?;
                Ok((op, op))
            }
            7 => self.collective(node),
            kind => Err(format!("its type is {kind}: this reader knows 0 to 7")),
        }
    }

    fn calc(&mut self, ns: u64, cpu: u8) -> Result<(u32, u32), String> {
        let op = self.rank.add(Op {
            size: ns,
            peer: 0,
            tag: 0,
            kind: OpKind::Calc,
            cpu,
            nic: 0,
        })?;
        Ok((op, op))
    }

    fn computation(&mut self, node: &Node, cpu: u8) -> Result<(u32, u32), String> {
        if node.duration_us == 0 {
            for work in ["num_ops", "tensor_size"] {
                if node.number(work)?.unwrap_or(0) > 0 {
                    return Err(format!(
                        "it has `{work}` but no `duration_micros`, and the trace does not tell how \
                         fast the accelerator is: give durations"
                    ));
                }
            }
            self.count("computations without a duration (taken as 0)", 1);
        }
        self.calc(node.duration_us.saturating_mul(1000), cpu)
    }

    /// The other accelerator of a message, and the tag.
    fn partner(&mut self, node: &Node, own: &str, other: &str) -> Result<(u32, u32), String> {
        let me = self.me;
        if let Some(number) = node.number(own)?.filter(|&number| number != u64::from(me)) {
            return Err(format!(
                "its `{own}` is {number}, but by its name this is the trace of accelerator {me}"
            ));
        }
        let number = node.needed(other)?;
        if number >= u64::from(self.accelerators) {
            return Err(format!(
                "its `{other}` is {number}, but there are the traces of accelerators 0 to {} only",
                self.accelerators - 1
            ));
        }
        let tag = node.number("comm_tag")?.unwrap_or(0);
        let tag = i32::try_from(tag).map_err(|_| format!("its `comm_tag` {tag} is too large"))?;
        Ok((number as u32, self.tags.message(0, tag as u32)))
    }

    fn collective(&mut self, node: &Node) -> Result<(u32, u32), String> {
        let Contribution { kind, bytes } = part(node)?;
        let root = 0;
        if matches!(kind, 1 | 3 | 4 | 5) {
            // No attribute of the format tells it.
            self.count("collectives whose root is not told (taken as member 0)", 1);
        }
        let (begin, _) = self.calc(0, COMMUNICATES)?;
        self.rank.wait(begin);
        let comm = self.comms.get_mut(&node.group()?);
        let comm = comm.ok_or("it is not a member of the process group")?;
        let members = comm.members.len();
        let collective = match kind {
            0 => Collective::AllReduce { bytes, element: 1 },
            1 => Collective::Reduce { root, bytes },
            2 => Collective::AllGather { bytes },
            3 => Collective::Gather {
                root,
                blocks: vec![bytes; members],
            },
            4 => Collective::Scatter {
                root,
                blocks: split(bytes, members),
            },
            5 => Collective::Broadcast { root, bytes },
            6 => {
                let to = split(bytes, members);
                let from = vec![to[comm.me]; members];
                Collective::AllToAllV { to, from }
            }
            7 | 8 => Collective::ReduceScatter {
                blocks: split(bytes, members).into(),
            },
            _ => Collective::Barrier,
        };
        collective.expand(comm, self.tags, &mut self.rank)?;
        let (end, _) = self.calc(0, COMMUNICATES)?;
        Ok((begin, end))
    }

    /// Lets every node wait for those that it names.
    fn dependencies(
        &mut self,
        trace: &Trace,
        ends: &[(u32, u32)],
        control: bool,
    ) -> Result<(), TraceError> {
        let (others, missing) = trace.dependencies(control);
        for (place, others) in others.iter().enumerate() {
            for &other in others {
                let added = self.rank.depend(ends[place].0, ends[other].1);
                added.map_err(|problem| trace.fault(place, &problem))?;
            }
        }
        self.count("dependencies on nodes that are not in the file", missing);
        if !control {
            let nodes = trace.nodes.iter();
            self.count(
                "control dependencies (with them nodes would wait for each other)",
                nodes.map(|(_, node)| node.control.len() as u64).sum(),
            );
        }
        Ok(())
    }
}
