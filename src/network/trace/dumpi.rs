//! DUMPI, the trace format of SST: a text `NAME.meta`, and `PREFIX-RRRR.bin` for each rank.
//!
//! Everything binary is big endian. A file begins and ends with the magic number; behind the
//! last one stand the offsets of its parts. The body is a sequence of calls:
//!
//! ```text
//! u16 function | u8 mask | [u16 thread] | [CPU times] | [wall times] | [counters] | arguments
//! ```
//! (`docs/traceformat.dox` and `dumpi/common/iodefs.h` of sst-dumpi.) Nothing tells the length
//! of an unknown call, so that only those known here can be read. Computing is the wall-clock
//! time between calls, or the CPU time where that is all there is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::collectives::Collective;
use super::mpi::{Comm, Rank, Tags, MAX_RANKS};
use super::{Builder, Format, Program, TraceError, ANY};
use crate::files::FileError;

const MAGIC: [u8; 8] = *b"\xff\xaa\xddDUMPI";
/// Most bytes of the name of a file, without the rank and the ending.
const LONGEST_PREFIX: usize = 240;
/// Ends the body.
const END: u16 = 293;
const NO_REQUEST: i32 = 1;
const WORLD: u16 = 2;
const ALONE: u16 = 3;
/// Sizes of the built-in types: where the file has no table of its own.
const BUILT_IN: [(u16, u64); 8] = [
    (2, 1),
    (5, 1),
    (7, 2),
    (9, 4),
    (11, 8),
    (13, 4),
    (14, 8),
    (18, 8),
];

/// Where in a file, in bytes from 0, and what.
type Problem = (usize, String);

fn problem<T>(at: usize, text: impl Into<String>) -> Result<T, Problem> {
    Err((at, text.into()))
}

/// Reads the trace whose `.meta` file this is.
///
/// # Errors
/// As [`super::read`].
pub(super) fn read(path: &Path) -> Result<Program, TraceError> {
    let binaries = binaries(path)?;
    let ranks = binaries.len() as u32;
    let mut files = Vec::new();
    for file in binaries {
        let bytes = load(&file)?;
        let calls = Reader::new(&bytes).and_then(Reader::calls);
        let calls = calls.map_err(|(offset, problem)| binary(&file, offset, problem))?;
        files.push((file, calls));
    }
    let created = communicators(&files)?;
    let mut builder = Builder::new(Format::Dumpi);
    let mut tags = Tags::default();
    for (me, ((file, calls), created)) in files.iter().zip(created).enumerate() {
        let me = me as u32;
        let mut replay = Replay {
            me,
            comms: HashMap::new(),
            created: created.into_iter(),
            requests: HashMap::new(),
            rank: Rank::new(&mut builder),
            tags: &mut tags,
        };
        let world = Comm::new(0, (0..ranks).collect(), me).expect("a member");
        replay.comms.insert(WORLD, world);
        let alone = Comm::new(1, vec![me], me).expect("a member");
        replay.comms.insert(ALONE, alone);
        for timed in calls {
            replay.rank.compute(timed.gap_ns);
            replay
                .call(&timed.call)
                .map_err(|problem| binary(file, timed.at, problem))?;
        }
        let end = replay.rank.end();
        end.map_err(|problem| binary(file, 0, problem))?;
    }
    Ok(builder.program)
}

/// The file of each rank.
pub(super) fn binaries(path: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let bytes = load(path)?;
    let (ranks, prefix) = meta(path, &String::from_utf8_lossy(&bytes))?;
    let file = |rank| path.with_file_name(format!("{prefix}-{rank:04}.bin"));
    Ok((0..ranks).map(file).collect())
}

fn load(path: &Path) -> Result<Vec<u8>, TraceError> {
    std::fs::read(path).map_err(|source| {
        TraceError::File(FileError::Read {
            path: path.into(),
            source,
        })
    })
}

fn binary(path: &Path, offset: usize, problem: String) -> TraceError {
    TraceError::Binary {
        path: path.into(),
        offset: offset as u64,
        problem,
    }
}

/// Number of ranks and how the binary files are called.
fn meta(path: &Path, text: &str) -> Result<(u32, String), TraceError> {
    let value = |key: &str| {
        let mut lines = text.lines().enumerate();
        lines.find_map(|(line, text)| {
            let value = text.strip_prefix(key)?.strip_prefix('=')?;
            Some((line as u64 + 1, value.trim()))
        })
    };
    let fault = |line, column, problem: String| TraceError::Text {
        path: path.into(),
        line,
        column,
        problem,
    };
    let missing = |key: &str| TraceError::Whole {
        path: path.into(),
        problem: format!("a line `{key}=` is missing in the description of a DUMPI trace"),
    };
    let (line, ranks) = value("numprocs").ok_or_else(|| missing("numprocs"))?;
    let ranks = match ranks.parse() {
        Ok(ranks) if (1..=MAX_RANKS).contains(&ranks) => ranks,
        _ => {
            let text = format!("`{ranks}` ranks: there are 1 to {MAX_RANKS}");
            return Err(fault(line, "numprocs=".len() + 1, text));
        }
    };
    let (line, prefix) = value("fileprefix").ok_or_else(|| missing("fileprefix"))?;
    // The path where the trace was recorded says nothing here.
    let prefix = prefix.rsplit('/').next().unwrap_or_default();
    if prefix.len() > LONGEST_PREFIX {
        let length = prefix.len();
        let text = format!(
            "{length} bytes: names of files can begin with {LONGEST_PREFIX}, and `-0000.bin` \
             follows"
        );
        return Err(fault(line, "fileprefix=".len() + 1, text));
    }
    Ok((ranks, prefix.to_owned()))
}

/// A call, where it stands and the computing before it.
#[derive(Debug)]
struct Timed {
    at: usize,
    gap_ns: u64,
    call: Call,
}

/// What is needed of a call. Partners and roots are places in the communicator.
#[derive(Debug)]
enum Call {
    Send(Message),
    Recv(Message, Option<Status>),
    Isend(Message, i32),
    Irecv(Message, i32),
    Sendrecv(Message, Message, Option<Status>),
    /// Requests that are complete.
    Complete(Vec<(i32, Option<Status>)>),
    Collective(u16, CollectiveCall),
    Group(u16, u16),
    Subgroup(u16, Vec<i32>, u16),
    NewComm(u16, How, u16),
    Nothing,
}

#[derive(Clone, Copy, Debug)]
struct Message {
    partner: i32,
    bytes: u64,
    tag: i32,
    comm: u16,
}

#[derive(Clone, Copy, Debug)]
struct Status {
    bytes: i32,
    source: i32,
    tag: Option<i32>,
}

/// A collective, before the size of its communicator is known.
#[derive(Debug)]
enum CollectiveCall {
    Known(Collective),
    /// As many bytes from each member.
    Gather(usize, u64),
    /// As many bytes to each member.
    Scatter(usize, u64),
}

/// How a communicator is made of another one.
#[derive(Clone, Copy, Debug)]
enum How {
    Dup,
    Split { color: i32, key: i32 },
    Create { group: u16 },
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    version: [u8; 3],
    sizes: Vec<i32>,
}

impl<'a> Reader<'a> {
    /// At the first call.
    fn new(bytes: &'a [u8]) -> Result<Self, Problem> {
        let mut reader = Reader {
            bytes,
            at: 0,
            version: [0; 3],
            sizes: Vec::new(),
        };
        if reader.take::<8>()? != MAGIC {
            return problem(0, "does not begin as a DUMPI file of a rank");
        }
        let words = bytes.len() / 8;
        let back = (5..=8.min(words)).rev().find(|back| {
            let at = bytes.len() - back * 8;
            bytes[at..].starts_with(&MAGIC)
        });
        let Some(back) = back else {
            return problem(
                bytes.len(),
                "does not end as a DUMPI file of a rank: it is truncated",
            );
        };
        let index = bytes.len() - back * 8;
        // Counted from the end: keyvals, footer, body, header, and further back what older
        // files do not have.
        let part = |from_end: usize| -> Result<usize, Problem> {
            let at = bytes.len() - from_end * 8;
            let field = bytes[at..at + 8].try_into().expect("8 bytes");
            match usize::try_from(u64::from_be_bytes(field)) {
                Ok(part) if part < index => Ok(part),
                _ => problem(at, "an offset beyond the end of the file: it is damaged"),
            }
        };
        let (body, header) = (part(3)?, part(4)?);
        reader.at = header;
        reader.version = reader.take()?;
        if back == 8 {
            let sizes = part(7)?;
            if sizes > 0 {
                reader.at = sizes;
                reader.sizes = reader.ints()?;
            }
        }
        reader.at = body;
        Ok(reader)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let field = self.bytes.get(self.at..).and_then(|rest| rest.get(..N));
        let Some(field) = field else {
            return problem(
                self.bytes.len(),
                "ends within a part: it is truncated or damaged",
            );
        };
        self.at += N;
        Ok(field.try_into().expect("N bytes"))
    }

    fn u8(&mut self) -> Result<u8, Problem> {
        self.take::<1>().map(|field| field[0])
    }

    fn u16(&mut self) -> Result<u16, Problem> {
        self.take().map(u16::from_be_bytes)
    }

    fn i32(&mut self) -> Result<i32, Problem> {
        self.take().map(i32::from_be_bytes)
    }

    /// The length of a list of entries of at least `least` bytes.
    fn count(&mut self, least: usize) -> Result<usize, Problem> {
        let at = self.at;
        let count = self.i32()?;
        let left = (self.bytes.len() - self.at) / least;
        match usize::try_from(count) {
            Ok(count) if count <= left => Ok(count),
            _ => problem(at, format!("a list of {count} entries: room for {left}")),
        }
    }

    fn ints(&mut self) -> Result<Vec<i32>, Problem> {
        (0..self.count(4)?).map(|_| self.i32()).collect()
    }

    fn text(&mut self) -> Result<(), Problem> {
        self.at += self.count(1)?;
        Ok(())
    }

    /// Times at entry and exit, in ns.
    fn times(&mut self, bias: i32) -> Result<(i64, i64), Problem> {
        let mut time = || -> Result<i64, Problem> {
            let seconds = i64::from(bias) + i64::from(self.u16()?);
            let ns = u32::from_be_bytes(self.take()?);
            Ok(seconds * 1_000_000_000 + i64::from(ns))
        };
        Ok((time()?, time()?))
    }

    fn calls(mut self) -> Result<Vec<Timed>, Problem> {
        let (cpu_bias, wall_bias) = (self.i32()?, self.i32()?);
        let mut calls = Vec::new();
        let mut left: Option<i64> = None;
        loop {
            let at = self.at;
            let function = self.u16()?;
            if function == END {
                return Ok(calls);
            }
            let mask = self.u8()?;
            if mask & 64 != 0 {
                self.u16()?;
            }
            let mut times = None;
            if mask & 4 != 0 {
                times = Some(self.times(cpu_bias)?);
            }
            if mask & 8 != 0 {
                times = Some(self.times(wall_bias)?);
            }
            if mask & 128 != 0 {
                for _ in 0..self.u8()? {
                    self.take::<16>()?;
                }
            }
            let call = self.call(at, function, mask & 3 != 0)?;
            // The program begins when the rank has left its first call.
            let gap = times.zip(left).map_or(0, |((enter, _), left)| enter - left);
            left = times.map(|(_, leave)| leave).or(left);
            calls.push(Timed {
                at,
                gap_ns: gap.max(0) as u64,
                call,
            });
        }
    }

    /// A count, then a type: their bytes.
    fn volume(&mut self) -> Result<u64, Problem> {
        let at = self.at;
        let count = self.i32()?;
        let size = self.size()?;
        match u64::try_from(count) {
            Ok(count) => Ok(count.saturating_mul(size)),
            Err(_) => problem(at, format!("{count} elements")),
        }
    }

    fn size(&mut self) -> Result<u64, Problem> {
        let at = self.at;
        let kind = self.u16()?;
        let listed = self.sizes.get(usize::from(kind)).copied();
        if let Some(size) = listed.and_then(|size| u64::try_from(size).ok()) {
            return Ok(size);
        }
        let known = BUILT_IN.iter().find(|(number, _)| *number == kind);
        known.map(|(_, size)| *size).ok_or_else(|| {
            let text = format!("the file does not tell the size of its type {kind}");
            (at, text)
        })
    }

    /// Numbers of elements, in bytes.
    fn volumes(&self, at: usize, counts: &[i32], size: u64) -> Result<Vec<u64>, Problem> {
        let bytes = |&count: &i32| match u64::try_from(count) {
            Ok(count) => Ok(count.saturating_mul(size)),
            Err(_) => problem(at, format!("{count} elements")),
        };
        counts.iter().map(bytes).collect()
    }

    fn message(&mut self) -> Result<Message, Problem> {
        Ok(Message {
            bytes: self.volume()?,
            partner: self.i32()?,
            tag: self.i32()?,
            comm: self.u16()?,
        })
    }

    fn half_of_exchange(&mut self) -> Result<Message, Problem> {
        Ok(Message {
            bytes: self.volume()?,
            partner: self.i32()?,
            tag: self.i32()?,
            comm: 0,
        })
    }

    fn statuses(&mut self, kept: bool) -> Result<Vec<Status>, Problem> {
        if !kept {
            return Ok(Vec::new());
        }
        let tagged = self.version >= [0, 6, 3];
        let count = self.count(if tagged { 14 } else { 10 })?;
        let mut statuses = Vec::with_capacity(count);
        for _ in 0..count {
            let (bytes, source) = (self.i32()?, self.i32()?);
            self.take::<2>()?;
            let tag = tagged.then(|| self.i32()).transpose()?;
            statuses.push(Status { bytes, source, tag });
        }
        Ok(statuses)
    }

    fn status(&mut self, kept: bool) -> Result<Option<Status>, Problem> {
        Ok(self.statuses(kept)?.first().copied())
    }

    /// The request that a call with a list of them completed; `MPI_UNDEFINED`, which is below 0, names
    /// none.
    fn chosen(&self, requests: &[i32], index: i32) -> Result<Option<i32>, Problem> {
        let Ok(index) = usize::try_from(index) else {
            return Ok(None);
        };
        match requests.get(index) {
            Some(&request) => Ok(Some(request)),
            None => problem(
                self.at,
                format!(
                    "request {index} of a list of {} was completed",
                    requests.len()
                ),
            ),
        }
    }

    fn place(&mut self) -> Result<usize, Problem> {
        let at = self.at;
        let place = self.i32()?;
        usize::try_from(place).or_else(|_| problem(at, format!("{place} is no rank")))
    }

    /// The arguments of a function.
    fn call(&mut self, at: usize, function: u16, kept: bool) -> Result<Call, Problem> {
        Ok(match function {
            0 | 3 | 4 | 5 => Call::Send(self.message()?),
            1 => Call::Recv(self.message()?, self.status(kept)?),
            8 => Call::Isend(self.message()?, self.i32()?),
            12 => Call::Irecv(self.message()?, self.i32()?),
            13 => Call::Complete(vec![(self.i32()?, self.status(kept)?)]),
            14 => {
                let (request, flag) = (self.i32()?, self.i32()?);
                let status = self.status(kept)?;
                match flag {
                    0 => Call::Nothing,
                    _ => Call::Complete(vec![(request, status)]),
                }
            }
            16 => {
                self.i32()?;
                let requests = self.ints()?;
                let index = self.i32()?;
                let status = self.status(kept)?;
                let request = self.chosen(&requests, index)?;
                let complete = request.map(|request| (request, status));
                Call::Complete(complete.into_iter().collect())
            }
            18 => {
                self.i32()?;
                let requests = self.ints()?;
                let statuses = self.statuses(kept)?;
                let status = |index: usize| statuses.get(index).copied();
                let complete = requests.iter().enumerate();
                Call::Complete(complete.map(|(i, &request)| (request, status(i))).collect())
            }
            20 => {
                self.i32()?;
                let requests = self.ints()?;
                let count = usize::try_from(self.i32()?).unwrap_or(0);
                let indices = self.ints()?;
                let statuses = self.statuses(kept)?;
                let mut complete = Vec::new();
                for (i, &index) in indices.iter().take(count).enumerate() {
                    let request = self.chosen(&requests, index)?;
                    complete.extend(request.map(|request| (request, statuses.get(i).copied())));
                }
                Call::Complete(complete)
            }
            33 => {
                let (mut sent, mut received) = (self.half_of_exchange()?, self.half_of_exchange()?);
                sent.comm = self.u16()?;
                received.comm = sent.comm;
                Call::Sendrecv(sent, received, self.status(kept)?)
            }
            52..=67 => self.collective(at, function)?,
            72 => Call::Group(self.u16()?, self.u16()?),
            76 => {
                let group = self.u16()?;
                self.i32()?;
                Call::Subgroup(group, self.ints()?, self.u16()?)
            }
            81 | 82 => {
                self.u16()?;
                self.i32()?;
                Call::Nothing
            }
            84 => Call::NewComm(self.u16()?, How::Dup, self.u16()?),
            85 => {
                let (comm, group) = (self.u16()?, self.u16()?);
                Call::NewComm(comm, How::Create { group }, self.u16()?)
            }
            86 => {
                let comm = self.u16()?;
                let (color, key) = (self.i32()?, self.i32()?);
                Call::NewComm(comm, How::Split { color, key }, self.u16()?)
            }
            114 => {
                self.text()?;
                self.i32()?;
                Call::Nothing
            }
            124 => {
                let count = self.count(4)?;
                if self.version < [0, 6, 2] {
                    self.i32()?;
                }
                for _ in 0..count {
                    self.text()?;
                }
                Call::Nothing
            }
            125 => Call::Nothing,
            _ => return unknown(at, function),
        })
    }

    /// The arguments of a function that all ranks of a communicator call.
    fn collective(&mut self, at: usize, function: u16) -> Result<Call, Problem> {
        Ok(match function {
            52 => Call::Collective(self.u16()?, CollectiveCall::Known(Collective::Barrier)),
            53 => {
                let (bytes, root) = (self.volume()?, self.place()?);
                let shape = Collective::Broadcast { root, bytes };
                Call::Collective(self.u16()?, CollectiveCall::Known(shape))
            }
            54 | 56 => {
                let me = self.i32()?;
                let bytes = self.volume()?;
                let root = self.place()?;
                let comm = self.u16()?;
                if usize::try_from(me) == Ok(root) {
                    self.volume()?;
                }
                let shape = match function {
                    54 => CollectiveCall::Gather(root, bytes),
                    _ => CollectiveCall::Scatter(root, bytes),
                };
                Call::Collective(comm, shape)
            }
            58 => {
                let bytes = self.volume()?;
                self.volume()?;
                let shape = Collective::AllGather { bytes };
                Call::Collective(self.u16()?, CollectiveCall::Known(shape))
            }
            59 => {
                self.i32()?;
                self.volume()?;
                let counts = self.ints()?;
                self.ints()?;
                let size = self.size()?;
                let blocks = self.volumes(at, &counts, size)?;
                let blocks = blocks.into();
                let shape = Collective::AllGatherV { blocks };
                Call::Collective(self.u16()?, CollectiveCall::Known(shape))
            }
            60 => {
                let bytes = self.volume()?;
                self.volume()?;
                let shape = Collective::AllToAll { bytes };
                Call::Collective(self.u16()?, CollectiveCall::Known(shape))
            }
            61 => {
                self.i32()?;
                let mut side = || {
                    let counts = self.ints()?;
                    self.ints()?;
                    let size = self.size()?;
                    self.volumes(at, &counts, size)
                };
                let (to, from) = (side()?, side()?);
                let shape = Collective::AllToAllV { to, from };
                Call::Collective(self.u16()?, CollectiveCall::Known(shape))
            }
            62 => {
                let bytes = self.volume()?;
                self.u8()?;
                let root = self.place()?;
                let shape = Collective::Reduce { root, bytes };
                Call::Collective(self.u16()?, CollectiveCall::Known(shape))
            }
            65 | 67 => {
                let count = self.i32()?;
                let element = self.size()?;
                let bytes = self.volumes(at, &[count], element)?[0];
                self.u8()?;
                let shape = match function {
                    65 => Collective::AllReduce { bytes, element },
                    _ => Collective::Scan { bytes },
                };
                Call::Collective(self.u16()?, CollectiveCall::Known(shape))
            }
            _ => return unknown(at, function),
        })
    }
}

fn unknown<T>(at: usize, function: u16) -> Result<T, Problem> {
    problem(
        at,
        format!(
            "function {function} of MPI: this reader does not know its arguments, without which the \
             rest cannot be read"
        ),
    )
}

/// The communicators that a rank creates, in this order: number and members. Nothing where
/// it takes part in the creation without becoming a member.
type Created = Vec<Option<(u32, Vec<u32>)>>;

/// What is known of a rank while communicators are found out.
struct Creating<'a> {
    calls: std::slice::Iter<'a, Timed>,
    /// The creation under way.
    pending: Option<(&'a Timed, How, u32, u16)>,
    comms: HashMap<u16, (u32, Vec<u32>)>,
    groups: HashMap<u16, Vec<u32>>,
    created: Created,
}

impl Creating<'_> {
    /// Goes on to the next creation.
    fn advance(&mut self) -> Result<(), Problem> {
        while self.pending.is_none() {
            let Some(timed) = self.calls.next() else {
                return Ok(());
            };
            let comm = |comm: &u16| {
                let known = self.comms.get(comm);
                known.ok_or_else(|| (timed.at, format!("communicator {comm} does not exist")))
            };
            match &timed.call {
                Call::Group(of, group) => {
                    let members = comm(of)?.1.clone();
                    self.groups.insert(*group, members);
                }
                Call::Subgroup(of, places, group) => {
                    let members = self.group(timed.at, *of)?;
                    let member = |&place: &i32| {
                        let member = usize::try_from(place).ok().and_then(|i| members.get(i));
                        let fault = || (timed.at, format!("group {of} has no member {place}"));
                        member.copied().ok_or_else(fault)
                    };
                    let chosen = places.iter().map(member).collect::<Result<_, _>>()?;
                    self.groups.insert(*group, chosen);
                }
                Call::NewComm(of, how, new) => {
                    let parent = comm(of)?.0;
                    self.pending = Some((timed, *how, parent, *new));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn group(&self, at: usize, group: u16) -> Result<&Vec<u32>, Problem> {
        let known = self.groups.get(&group);
        known.ok_or_else(|| (at, format!("group {group} does not exist")))
    }
}

/// Finds out the members of all communicators: creation is a collective, so that each can be
/// answered when all members of its parent have come to it.
fn communicators(files: &[(PathBuf, Vec<Timed>)]) -> Result<Vec<Created>, TraceError> {
    let world: Vec<u32> = (0..files.len() as u32).collect();
    let mut ranks: Vec<Creating> = files
        .iter()
        .enumerate()
        .map(|(rank, (_, calls))| Creating {
            calls: calls.iter(),
            pending: None,
            comms: HashMap::from([(WORLD, (0, world.clone())), (ALONE, (1, vec![rank as u32]))]),
            groups: HashMap::new(),
            created: Vec::new(),
        })
        .collect();
    let fault = |rank: usize, (at, text): Problem| binary(&files[rank].0, at, text);
    let mut next = 2;
    loop {
        for (rank, creating) in ranks.iter_mut().enumerate() {
            creating.advance().map_err(|problem| fault(rank, problem))?;
        }
        let Some(first) = ranks.iter().position(|rank| rank.pending.is_some()) else {
            return Ok(ranks.into_iter().map(|rank| rank.created).collect());
        };
        // The first creation that all members have come to.
        let complete = ranks.iter().find_map(|rank| {
            let (timed, _, parent, _) = rank.pending?;
            let Call::NewComm(of, ..) = timed.call else {
                return None;
            };
            let members = &rank.comms[&of].1;
            let here = |&member: &u32| {
                let pending = ranks[member as usize].pending;
                pending.is_some_and(|(_, _, other, _)| other == parent)
            };
            members.iter().all(here).then(|| members.clone())
        });
        let Some(members) = complete else {
            let at = ranks[first].pending.map_or(0, |(timed, ..)| timed.at);
            let text = "a communicator is created here, and not by all members of the other one";
            return Err(fault(first, (at, text.into())));
        };
        let mut wanted = Vec::new();
        for &member in &members {
            let rank = &ranks[member as usize];
            let (timed, how, _, new) = rank.pending.expect("all have come");
            let list = match how {
                How::Dup => Some(members.clone()),
                How::Split { color, .. } if color < 0 => None,
                How::Split { color, .. } => {
                    let same = members.iter().filter_map(|&other| {
                        match ranks[other as usize].pending?.1 {
                            How::Split {
                                color: other_color,
                                key,
                            } if other_color == color => Some((key, other)),
                            _ => None,
                        }
                    });
                    let mut same: Vec<(i32, u32)> = same.collect();
                    same.sort_by_key(|(key, _)| *key);
                    Some(same.into_iter().map(|(_, other)| other).collect())
                }
                How::Create { group } => {
                    let group = rank.group(timed.at, group);
                    let group = group.map_err(|problem| fault(member as usize, problem))?;
                    group.contains(&member).then(|| group.clone())
                }
            };
            wanted.push((member, new, list));
        }
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        for (member, new, list) in wanted {
            let comm = list.map(|list| {
                let number = *numbers.entry(list.clone()).or_insert_with(|| {
                    next += 1;
                    next - 1
                });
                (number, list)
            });
            let rank = &mut ranks[member as usize];
            rank.pending = None;
            if let Some(comm) = &comm {
                rank.comms.insert(new, comm.clone());
            }
            rank.created.push(comm);
        }
    }
}

/// A rank whose calls become operations.
struct Replay<'b> {
    me: u32,
    comms: HashMap<u16, Comm>,
    created: std::vec::IntoIter<Option<(u32, Vec<u32>)>>,
    /// What is under way; no operation where the partner is nobody.
    requests: HashMap<i32, Option<(u32, Message)>>,
    rank: Rank<&'b mut Builder>,
    tags: &'b mut Tags,
}

impl Replay<'_> {
    fn comm(&self, comm: u16) -> Result<&Comm, String> {
        let known = self.comms.get(&comm);
        known.ok_or_else(|| format!("communicator {comm} does not exist"))
    }

    /// The partner and the tag in the program; nothing for nobody.
    fn partner(&mut self, message: &Message, receives: bool) -> Result<Option<(u32, u32)>, String> {
        let comm = self.comm(message.comm)?;
        let partner = match usize::try_from(message.partner) {
            Ok(place) => *comm.members.get(place).ok_or_else(|| {
                let size = comm.members.len();
                format!(
                    "partner {place}: the communicator has members 0 to {}",
                    size - 1
                )
            })?,
            Err(_) if receives && message.partner == -1 => ANY,
            Err(_) => return Ok(None),
        };
        let tag = match u32::try_from(message.tag) {
            Ok(tag) => tag,
            Err(_) if receives && message.tag == -1 => ANY,
            Err(_) => return Err(format!("tag {}: it is never negative", message.tag)),
        };
        let number = comm.number;
        Ok(Some((partner, self.tags.message(number, tag))))
    }

    /// The receive as its status tells that it went; without one, or with one that cannot
    /// be right (old files hold them), as it was posted.
    fn actual(&self, message: &Message, status: Option<Status>) -> Message {
        let mut actual = *message;
        let Some(status) = status else {
            return actual;
        };
        let size = self.comms[&message.comm].members.len();
        let place = usize::try_from(status.source);
        if message.partner == -1 && place.is_ok_and(|place| place < size) {
            actual.partner = status.source;
        }
        if let Some(tag) = status.tag.filter(|&tag| message.tag == -1 && tag >= 0) {
            actual.tag = tag;
        }
        let bytes = u64::try_from(status.bytes);
        actual.bytes = bytes.map_or(actual.bytes, |bytes| bytes.min(actual.bytes));
        actual
    }

    fn post(&mut self, message: &Message, receives: bool) -> Result<Option<u32>, String> {
        let Some((partner, tag)) = self.partner(message, receives)? else {
            return Ok(None);
        };
        match receives {
            true => self.rank.irecv(partner, message.bytes, tag),
            false => self.rank.isend(partner, message.bytes, tag),
        }
        .map(Some)
    }

    fn complete(&mut self, request: i32, status: Option<Status>) -> Result<(), String> {
        if request == NO_REQUEST {
            return Ok(());
        }
        let Some(under_way) = self.requests.remove(&request) else {
            return Err(format!("request {request} is not under way"));
        };
        let Some((op, message)) = under_way else {
            return Ok(());
        };
        if self.rank.is_receive(op) {
            let actual = self.actual(&message, status);
            if let Some((partner, tag)) = self.partner(&actual, true)? {
                self.rank.received(op, partner, actual.bytes, tag);
            }
        }
        self.rank.complete(op)
    }

    fn begin(&mut self, message: &Message, request: i32, receives: bool) -> Result<(), String> {
        let op = self.post(message, receives)?;
        let op = op.map(|op| (op, *message));
        match self.requests.insert(request, op) {
            Some(_) => Err(format!("request {request} is under way already")),
            None => Ok(()),
        }
    }

    fn call(&mut self, call: &Call) -> Result<(), String> {
        match call {
            Call::Send(message) => {
                let op = self.post(message, false)?;
                op.into_iter().for_each(|op| self.rank.wait(op));
            }
            Call::Recv(message, status) => {
                self.comm(message.comm)?;
                let actual = self.actual(message, *status);
                let op = self.post(&actual, true)?;
                op.into_iter().for_each(|op| self.rank.wait(op));
            }
            Call::Isend(message, request) => self.begin(message, *request, false)?,
            Call::Irecv(message, request) => self.begin(message, *request, true)?,
            Call::Sendrecv(sent, received, status) => {
                self.comm(received.comm)?;
                let actual = self.actual(received, *status);
                let ops = [self.post(&actual, true)?, self.post(sent, false)?];
                let ops = ops.into_iter().flatten();
                ops.for_each(|op| self.rank.wait(op));
            }
            Call::Complete(requests) => {
                for &(request, status) in requests {
                    self.complete(request, status)?;
                }
            }
            Call::Collective(comm, shape) => {
                let size = self.comm(*comm)?.members.len();
                let expanded;
                let collective = match shape {
                    CollectiveCall::Known(collective) => collective,
                    &CollectiveCall::Gather(root, bytes) => {
                        let blocks = vec![bytes; size];
                        expanded = Collective::Gather { root, blocks };
                        &expanded
                    }
                    &CollectiveCall::Scatter(root, bytes) => {
                        let blocks = vec![bytes; size];
                        expanded = Collective::Scatter { root, blocks };
                        &expanded
                    }
                };
                let comm = self.comms.get_mut(comm).expect("has been looked up");
                collective.expand(comm, self.tags, &mut self.rank)?;
            }
            Call::NewComm(_, _, new) => {
                if let Some((number, members)) = self.created.next().flatten() {
                    let comm = Comm::new(number, members, self.me);
                    let missing = || format!("rank {} is not a member", self.me);
                    self.comms.insert(*new, comm.ok_or_else(missing)?);
                }
            }
            Call::Group(..) | Call::Subgroup(..) | Call::Nothing => {}
        }
        Ok(())
    }
}
