//! Communication traces: what each rank of a parallel program does, as a graph.
//!
//! A [`Program`] holds, for every rank, sends, receives and computations with the
//! dependencies between them; ranks meet only through messages. It is read from GOAL
//! text ([`goal`]) or binary ([`goalbin`]), or made from logs of MPI calls (mpilog, DUMPI,
//! liballprof, OTF2), from VEF or from the graphs of Chakra; the format is told from the
//! content as far as possible.

mod chakra;
pub(in crate::network) mod collectives;
mod dumpi;
pub mod export;
pub mod fit;
pub mod goal;
pub mod goalbin;
pub mod info;
mod liballprof;
pub mod limits;
mod matching;
pub(in crate::network) mod mpi;
mod mpilog;
mod otf2;
mod vef;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use sha2::{Digest, Sha256};

use crate::files::{self, FileError};

/// Stands for "any source" and "any tag" of a receive, as GOAL binary stores it.
pub const ANY: u32 = u32::MAX;

/// Tags with this bit belong to the messages of MPI's collectives, in traces that
/// have such messages next to receives of any tag.
const COLLECTIVE: u32 = 1 << 30;

/// Stands for "any tag but those of collectives": what MPI_ANY_TAG means.
pub const ANY_OF_USERS: u32 = ANY & !COLLECTIVE;

/// The processors of a replay are as fast as those of the trace ([`Program::at_speed`]).
pub const TRACED_SPEED: u64 = 1_000_000;

/// How long a calc of `size` ns of a trace lasts, in ps, on a processor that is so many millionths
/// as fast as those of the trace: to the nearest, halves up; at most `u64::MAX`.
///
/// # Panics
/// If `speed` is 0.
pub fn calc_ps(speed: u64, size: u64) -> u64 {
    let traced = u128::from(size) * 1000 * u128::from(TRACED_SPEED);
    let speed = u128::from(speed);
    u64::try_from((traced + speed / 2) / speed).unwrap_or(u64::MAX)
}

/// Whether a receive with this source and tag can meet more than one kind of message.
pub fn is_wildcard(from: u32, tag: u32) -> bool {
    from == ANY || tag == ANY || tag == ANY_OF_USERS
}

/// The source and tag of all receives with wildcards that a message can meet.
pub fn wildcards(from: u32, tag: u32) -> impl Iterator<Item = (u32, u32)> {
    let users = (tag & COLLECTIVE == 0).then_some(ANY_OF_USERS);
    [(ANY, tag), (from, ANY), (ANY, ANY)].into_iter().chain(
        users
            .into_iter()
            .flat_map(move |any| [(from, any), (ANY, any)]),
    )
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpKind {
    /// Sends a message.
    Send,
    /// Receives a message.
    Recv,
    /// Occupies its CPU.
    Calc,
}

impl OpKind {
    /// The keyword in GOAL text.
    pub fn name(self) -> &'static str {
        match self {
            OpKind::Send => "send",
            OpKind::Recv => "recv",
            OpKind::Calc => "calc",
        }
    }
}

/// One operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Bytes of a send or a receive, at least 1; nanoseconds of a calc, as traced
    /// ([`Program::calc_ps`]).
    pub size: u64,
    /// The other rank; [`ANY`] on a receive from any source; 0 on a calc.
    pub peer: u32,
    /// Tag; [`ANY`] or [`ANY_OF_USERS`] on a receive of any tag; 0 on a calc.
    pub tag: u32,
    /// What it does.
    pub kind: OpKind,
    /// The CPU of the rank that works on it.
    pub cpu: u8,
    /// The NIC of the rank that carries it.
    pub nic: u8,
}

impl std::fmt::Display for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let any = |value: u32| match value {
            ANY | ANY_OF_USERS => "-1".to_owned(),
            _ => value.to_string(),
        };
        let (peer, tag) = (any(self.peer), any(self.tag));
        match self.kind {
            OpKind::Send => write!(f, "send {}b to {peer} tag {tag}", self.size),
            OpKind::Recv => write!(f, "recv {}b from {peer} tag {tag}", self.size),
            OpKind::Calc => write!(f, "calc {}", self.size),
        }
    }
}

/// An operation that waits for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Successor(u32);

impl Successor {
    const ON_START: u32 = 1 << 31;

    fn new(op: u32, on_start: bool) -> Self {
        Self(op | if on_start { Self::ON_START } else { 0 })
    }

    /// The waiting operation, numbered through the whole program.
    pub fn op(self) -> u32 {
        self.0 & !Self::ON_START
    }

    /// It waits for the start (`irequires`), not for the end (`requires`).
    pub fn on_start(self) -> bool {
        self.0 & Self::ON_START != 0
    }
}

/// How the program was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text, one operation to a line.
    GoalText,
    /// The binary form of LogGOPSim's `txt2bin`.
    GoalBinary,
    /// Logs of the MPI calls of each rank, with CPU times, in a tar archive or a folder.
    Mpilog,
    /// A `.meta` file and one binary file of MPI calls per rank, of SST.
    Dumpi,
    /// Text of UCLM's VEF-TraceLIB: messages and collectives with what each waits for.
    Vef,
    /// Text logs of the MPI calls of each rank, of LogGOPSim's tracer.
    Liballprof,
    /// The archive of Score-P and others, as `otf2-print` shows it.
    Otf2,
    /// Execution traces of MLCommons Chakra, one graph per accelerator.
    Chakra,
    /// None: a skeleton makes it ([`super::skeleton`]).
    Skeleton,
}

impl Format {
    /// The name in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Format::GoalText => "GOAL text",
            Format::GoalBinary => "GOAL binary",
            Format::Mpilog => "mpilog",
            Format::Dumpi => "DUMPI",
            Format::Vef => "VEF",
            Format::Liballprof => "liballprof",
            Format::Otf2 => "OTF2",
            Format::Chakra => "Chakra",
            Format::Skeleton => "skeleton",
        }
    }
}

/// The operations of all ranks. Operations are numbered through, rank by rank in the
/// order of the file; dependencies lie in one flat array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    format: Format,
    compressed: bool,
    left_out: BTreeMap<String, u64>,
    rank_start: Vec<u32>,
    /// How fast the processor of each rank is, in millionths of that of the trace.
    speeds: Vec<u64>,
    ops: Vec<Op>,
    needs: Vec<u32>,
    successor_start: Vec<u32>,
    successors: Vec<Successor>,
}

impl Program {
    /// How the file stored it.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Processors of a rank: CPUs that compute; operations that take no time only order others. The
    /// delays of a VEF trace can overlap, and name CPUs that nobody has: a task of it has one processor.
    pub fn processors(&self, rank: usize) -> u32 {
        let ops = self.rank_ops(rank);
        let ops = &self.ops[ops.start as usize..ops.end as usize];
        let calcs = ops
            .iter()
            .filter(|op| op.kind == OpKind::Calc && op.size > 0);
        let cpus: std::collections::BTreeSet<u8> = calcs.map(|op| op.cpu).collect();
        match self.format {
            Format::Vef => 1,
            _ => cpus.len().max(1) as u32,
        }
    }

    /// The file was compressed with zstd or gzip.
    pub fn compressed(&self) -> bool {
        self.compressed
    }

    /// What of the file is not in the program, or had to be assumed, and how often.
    pub fn left_out(&self) -> &BTreeMap<String, u64> {
        &self.left_out
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.rank_start.len() - 1
    }

    /// All operations.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The numbers of the operations of `rank`.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn rank_ops(&self, rank: usize) -> std::ops::Range<u32> {
        self.rank_start[rank]..self.rank_start[rank + 1]
    }

    /// The rank that an operation belongs to.
    pub fn rank_of(&self, op: u32) -> usize {
        self.rank_start.partition_point(|&start| start <= op) - 1
    }

    /// The program on processors that are so many millionths as fast as those of the trace:
    /// Dimemas's relative CPU speed. [`TRACED_SPEED`] changes nothing.
    ///
    /// # Panics
    /// If `millionths` is 0.
    pub fn at_speed(mut self, millionths: u64) -> Self {
        assert!(millionths > 0, "a processor that never computes");
        self.speeds.fill(millionths);
        self
    }

    /// How long a calc of `size` ns lasts on `rank`, in ps: to the nearest, halves up; at most
    /// `u64::MAX`.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn calc_ps(&self, rank: usize, size: u64) -> u64 {
        calc_ps(self.speeds[rank], size)
    }

    /// How many dependencies each operation has, of both kinds.
    pub fn needs(&self) -> &[u32] {
        &self.needs
    }

    /// The operations that wait for `op`.
    ///
    /// # Panics
    /// If there is no such operation.
    pub fn successors(&self, op: u32) -> &[Successor] {
        let op = op as usize;
        &self.successors[self.successor_start[op] as usize..self.successor_start[op + 1] as usize]
    }

    /// Several programs that run at the same time and do not meet: the ranks of the first,
    /// then those of the second, and so on.
    ///
    /// # Errors
    /// If together they have more operations or ranks than can be numbered.
    pub fn join(programs: &[&Program]) -> Result<Program, String> {
        let (first, others) = programs.split_first().ok_or("no program to run")?;
        let mut joined = Program::clone(first);
        for program in others {
            let (ranks, ops) = (joined.ranks() as u32, joined.ops.len() as u32);
            let dependencies = joined.successors.len() as u32;
            let all = joined.ops.len() + program.ops.len();
            let links = joined.successors.len() + program.successors.len();
            if all >= Successor::ON_START as usize || u32::try_from(links).is_err() {
                return Err(format!(
                    "the jobs have {all} operations and {links} dependencies together; there can \
                     be {} and {}",
                    Successor::ON_START - 1,
                    u32::MAX
                ));
            }
            let shifted = |start: &u32, by: u32| start + by;
            let starts = program.rank_start.iter().skip(1);
            joined
                .rank_start
                .extend(starts.map(|start| shifted(start, ops)));
            joined.speeds.extend(&program.speeds);
            joined
                .ops
                .extend(program.ops.iter().map(|op| match op.kind {
                    OpKind::Calc => *op,
                    _ if op.peer == ANY => *op,
                    _ => Op {
                        peer: op.peer + ranks,
                        ..*op
                    },
                }));
            joined.needs.extend(&program.needs);
            for (what, count) in &program.left_out {
                *joined.left_out.entry(what.clone()).or_default() += count;
            }
            let starts = program.successor_start.iter().skip(1);
            joined
                .successor_start
                .extend(starts.map(|start| shifted(start, dependencies)));
            joined.successors.extend(
                program
                    .successors
                    .iter()
                    .map(|next| Successor::new(next.op() + ops, next.on_start())),
            );
        }
        Ok(joined)
    }

    /// Tells all that a replay depends on, as bytes: equal for equal programs.
    pub fn describe(&self, mut write: impl FnMut(&[u8])) {
        let mut numbers = |numbers: &[u32]| {
            write(&(numbers.len() as u64).to_le_bytes());
            numbers
                .iter()
                .for_each(|number| write(&number.to_le_bytes()));
        };
        numbers(&self.rank_start);
        numbers(&self.successor_start);
        let successors: Vec<u32> = self.successors.iter().map(|next| next.0).collect();
        numbers(&successors);
        for speed in &self.speeds {
            write(&speed.to_le_bytes());
        }
        for op in &self.ops {
            write(&op.size.to_le_bytes());
            write(&op.peer.to_le_bytes());
            write(&op.tag.to_le_bytes());
            write(&[op.kind as u8, op.cpu, op.nic]);
        }
    }

    /// Number of dependencies.
    pub fn dependencies(&self) -> usize {
        self.successors.len()
    }
}

/// A trace that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A fault at a place in a text.
    #[error("{path}:{line}:{column}: {problem}", path = path.display(), problem = brief(problem))]
    Text {
        /// The trace's file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// In characters, counted from 1.
        column: usize,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A fault at a place in GOAL binary.
    #[error("{path}: at byte {offset}: {problem}", path = path.display(), problem = brief(problem))]
    Binary {
        /// The trace's file.
        path: PathBuf,
        /// From 0, after decompression.
        offset: u64,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A fault of the trace as a whole.
    #[error("{path}: {problem}", path = path.display(), problem = brief(problem))]
    Whole {
        /// The trace's file.
        path: PathBuf,
        /// What is wrong and what would be right.
        problem: String,
    },
}

/// A problem without the middle of what it repeats of the file, if that is long: a damaged file may
/// have one word.
fn brief(problem: &str) -> Cow<'_, str> {
    const BEGIN: usize = 300;
    const END: usize = 600;
    let mut places = problem.char_indices().map(|(at, _)| at);
    let (Some(begin), Some(end)) = (places.nth(BEGIN), places.nth_back(END - 1)) else {
        return problem.into();
    };
    format!("{} [...] {}", &problem[..begin], &problem[end..]).into()
}

/// Collects the operations of a program rank by rank.
pub(in crate::network) struct Builder {
    program: Program,
    /// Dependencies of the rank under way: (operation that waits, operation it waits
    /// for, for its start only), counted within the rank.
    dependencies: Vec<(u32, u32, bool)>,
}

/// The program has more operations or dependencies than its numbering can hold.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::network) struct TooLarge;

/// Operations of one rank that wait for each other in a circle, counted within the rank;
/// each waits for the one after it, the last for the first.
#[derive(Debug, PartialEq, Eq)]
struct Cycle(Vec<u32>);

impl Builder {
    pub(in crate::network) fn new(format: Format) -> Self {
        Self {
            program: Program {
                format,
                compressed: false,
                left_out: BTreeMap::new(),
                rank_start: vec![0],
                speeds: Vec::new(),
                ops: Vec::new(),
                needs: Vec::new(),
                successor_start: vec![0],
                successors: Vec::new(),
            },
            dependencies: Vec::new(),
        }
    }

    /// The program, when all ranks have ended.
    pub(in crate::network) fn finish(self) -> Program {
        self.program
    }

    /// Something of the file that the program does not hold.
    fn left_out(&mut self, what: &str, count: u64) {
        if count > 0 {
            *self.program.left_out.entry(what.to_owned()).or_default() += count;
        }
    }

    /// Adds an operation and returns its number within the rank.
    fn op(&mut self, op: Op) -> Result<u32, TooLarge> {
        let program = &mut self.program;
        if program.ops.len() >= Successor::ON_START as usize {
            return Err(TooLarge);
        }
        let start = *program.rank_start.last().expect("holds at least 0");
        program.ops.push(op);
        Ok(program.ops.len() as u32 - 1 - start)
    }

    /// An operation of the rank under way.
    fn op_mut(&mut self, op: u32) -> &mut Op {
        let start = *self.program.rank_start.last().expect("holds at least 0");
        &mut self.program.ops[(start + op) as usize]
    }

    fn dependency(&mut self, waits: u32, for_op: u32, on_start: bool) -> Result<(), TooLarge> {
        if self.program.successors.len() + self.dependencies.len() >= u32::MAX as usize {
            return Err(TooLarge);
        }
        self.dependencies.push((waits, for_op, on_start));
        Ok(())
    }

    /// Ends the rank under way; the next operation belongs to the next one.
    fn end_rank(&mut self) -> Result<(), Cycle> {
        let program = &mut self.program;
        let start = *program.rank_start.last().expect("holds at least 0");
        let end = program.ops.len() as u32;
        let count = (end - start) as usize;
        let first = program.successors.len() as u32;

        program.needs.resize(end as usize, 0);
        let mut fill = vec![0u32; count + 1];
        for &(waits, for_op, _) in &self.dependencies {
            program.needs[(start + waits) as usize] += 1;
            fill[for_op as usize + 1] += 1;
        }
        for op in 0..count {
            fill[op + 1] += fill[op];
            program.successor_start.push(first + fill[op + 1]);
        }
        program.successors.resize(
            first as usize + self.dependencies.len(),
            Successor::new(0, false),
        );
        for &(waits, for_op, on_start) in &self.dependencies {
            let place = first + fill[for_op as usize];
            fill[for_op as usize] += 1;
            program.successors[place as usize] = Successor::new(start + waits, on_start);
        }
        self.dependencies.clear();
        program.rank_start.push(end);
        program.speeds.push(TRACED_SPEED);
        find_cycle(program, start, count)
    }
}

/// Takes operations whose needs are met until none is left; what remains holds a cycle.
fn find_cycle(program: &Program, start: u32, count: usize) -> Result<(), Cycle> {
    let mut needs = program.needs[start as usize..].to_vec();
    let mut ready: Vec<u32> = (0..count as u32)
        .filter(|&op| needs[op as usize] == 0)
        .collect();
    let mut taken = 0;
    while let Some(op) = ready.pop() {
        taken += 1;
        for successor in program.successors(start + op) {
            let next = successor.op() - start;
            needs[next as usize] -= 1;
            if needs[next as usize] == 0 {
                ready.push(next);
            }
        }
    }
    if taken == count {
        return Ok(());
    }
    // Every operation left waits for another one left: following these must meet itself.
    let mut waits_for = vec![u32::MAX; count];
    for op in (0..count as u32).filter(|&op| needs[op as usize] > 0) {
        for successor in program.successors(start + op) {
            waits_for[(successor.op() - start) as usize] = op;
        }
    }
    let mut seen = vec![false; count];
    let mut op = needs.iter().position(|&n| n > 0).unwrap_or(0) as u32;
    while !seen[op as usize] {
        seen[op as usize] = true;
        op = waits_for[op as usize];
    }
    let mut cycle = vec![op];
    let mut next = waits_for[op as usize];
    while next != op {
        cycle.push(next);
        next = waits_for[next as usize];
    }
    Err(Cycle(cycle))
}

/// Reads a trace: GOAL or VEF; a folder or tar archive of mpilog or Chakra, all of these also
/// compressed with zstd or gzip; the `.meta` file of DUMPI; the log of rank 0 of liballprof; the
/// `.otf2` file; any `.et` file of Chakra, with the others beside it.
///
/// # Errors
/// If the file cannot be read, is not one of the formats, is damaged, or describes a
/// program that cannot run to its end: dependencies in a circle, messages without a
/// receive, receives without a message.
pub fn read(path: &Path) -> Result<Program, TraceError> {
    let program = if path.is_dir() {
        read_members(path, Members::of_folder(path)?)?
    } else if chakra::place(path).is_some() {
        std::fs::metadata(path).map_err(|source| read_failure(path, source))?;
        let mut members = Members::of_folder(folder_of(path))?;
        members.keep_only(|member| chakra::belong_together(member, path));
        read_members(path, members)?
    } else {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("meta") => dumpi::read(path)?,
            Some("otf2") => otf2::read(path)?,
            _ => read_file(path)?,
        }
    };
    matching::check(&program).map_err(|problem| TraceError::Whole {
        path: path.into(),
        problem,
    })?;
    Ok(program)
}

/// What [`read`] makes of the OTF2 archive `path` if `otf2-print -G` prints `definitions` of it, and
/// `otf2-print` prints `events`.
///
/// # Errors
/// As [`read`], with the line of the output.
pub fn of_otf2_print(path: &Path, definitions: &str, events: &str) -> Result<Program, TraceError> {
    let whole = |problem| TraceError::Whole {
        path: path.into(),
        problem,
    };
    let program = otf2::from_output(definitions, events).map_err(whole)?;
    matching::check(&program).map_err(whole)?;
    Ok(program)
}

/// The SHA-256 of all files that [`read`] reads for `path`, in hexadecimal: of one file what
/// `sha256sum` gives; of several that of the lines which `sha256sum` prints for them, in the order
/// of their names and with names relative to the folder in which `path` lies or which it is. None
/// of what can be read only once, such as a pipe.
///
/// # Errors
/// If a file cannot be read, or the files cannot be told.
pub fn sha256(path: &Path) -> Result<Option<String>, TraceError> {
    if !path.is_file() && !path.is_dir() {
        return Ok(None);
    }
    let mut files = sources(path)?;
    if let [only] = &*files {
        return Ok(Some(crate::files::sha256(only)?));
    }
    // Byte by byte, as a list of names is sorted, and not folder by folder.
    files.sort_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    let folder = match path.is_dir() {
        true => path,
        false => path.parent().unwrap_or(Path::new("")),
    };
    let mut all = Sha256::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).display();
        all.update(format!("{}  {name}\n", crate::files::sha256(&file)?));
    }
    let all = all.finalize();
    Ok(Some(all.iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// The files that [`read`] reads for `path`.
///
/// # Errors
/// If a file cannot be read, or the files cannot be told.
pub fn sources(path: &Path) -> Result<Vec<PathBuf>, TraceError> {
    if path.is_dir() {
        let mut files = files_in(path)?;
        files.retain(|file| is_member(file));
        return Ok(files);
    }
    if chakra::place(path).is_some() {
        let mut files = files_in(folder_of(path))?;
        files.retain(|file| is_member(file) && chakra::belong_together(file, path));
        return Ok(files);
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("meta") => {
            let mut files = dumpi::binaries(path)?;
            files.push(path.into());
            Ok(files)
        }
        Some("otf2") => otf2::files(path),
        _ => {
            let fail = |source| read_failure(path, source);
            let file = File::open(path).map_err(fail)?;
            let (_, plain) = unpacked(BufReader::new(file)).map_err(fail)?;
            let mut start = Vec::new();
            plain.take(8).read_to_end(&mut start).map_err(fail)?;
            match liballprof::begins(&start) {
                true => liballprof::files(path),
                false => Ok(vec![path.into()]),
            }
        }
    }
}

/// The folder in which a file lies.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The files in a folder, without those in folders of it.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let fail = |source| read_failure(folder, source);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let file = entry.map_err(fail)?.path();
        if file.is_file() {
            files.push(file);
        }
    }
    Ok(files)
}

/// Whether the name is that of the log of a rank or the trace of an accelerator.
fn is_member(path: &Path) -> bool {
    mpilog::rank_of(path).is_some() || chakra::place(path).is_some()
}

fn read_file(path: &Path) -> Result<Program, TraceError> {
    let fail = |source| read_failure(path, source);
    let file = files::open(path).map_err(fail)?;
    let (compressed, plain) = unpacked(BufReader::with_capacity(1 << 16, file)).map_err(fail)?;
    let most = if compressed { MOST_UNPACKED } else { u64::MAX };
    let mut program = read_plain(path, plain, most)?;
    program.compressed |= compressed;
    Ok(program)
}

/// What a file holds that may be compressed, and whether it is.
fn unpacked<'i>(mut input: impl BufRead + 'i) -> std::io::Result<(bool, Box<dyn BufRead + 'i>)> {
    let start = input.fill_buf()?;
    let packed: Box<dyn Read> = if start.starts_with(files::ZSTD) {
        Box::new(zstd::stream::read::Decoder::with_buffer(input)?)
    } else if start.starts_with(files::GZIP) {
        Box::new(flate2::bufread::MultiGzDecoder::new(input))
    } else {
        return Ok((false, Box::new(input)));
    };
    Ok((true, Box::new(BufReader::with_capacity(1 << 16, packed))))
}

/// A file that cannot be read; zstd and gzip report a truncated file as an unexpected end.
fn read_failure(path: &Path, source: std::io::Error) -> TraceError {
    if source.kind() == std::io::ErrorKind::UnexpectedEof {
        return TraceError::Whole {
            path: path.into(),
            problem: "the compressed data end too early: the file is truncated".into(),
        };
    }
    TraceError::File(FileError::Read {
        path: path.into(),
        source,
    })
}

/// Most bytes that are kept of an archive or of compressed data: a few megabytes can unpack to more
/// than any memory. What lies unpacked on the disk may be longer.
const MOST_UNPACKED: u64 = 1 << 30;
/// Most bytes of an archive that may name one file.
const LONGEST_NAME: u64 = 1 << 16;

/// All that can be read, of which at most `left` bytes are kept; `left` becomes less by so many.
fn read_limited(path: &Path, input: impl Read, left: &mut u64) -> Result<Vec<u8>, TraceError> {
    let mut bytes = Vec::new();
    input
        .take(left.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| read_failure(path, source))?;
    match left.checked_sub(bytes.len() as u64) {
        Some(less) => *left = less,
        None => {
            return Err(TraceError::Whole {
                path: path.into(),
                problem: format!(
                    "with this, more than {MOST_UNPACKED} bytes are unpacked, and so many are \
                     not kept in memory; unpack it, and give the folder or the file"
                ),
            })
        }
    }
    Ok(bytes)
}

/// An archive of which at most so many bytes are read until the number is set anew.
struct Metered<R> {
    input: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.input.read(into)?;
        match self.left.get().checked_sub(count as u64) {
            Some(left) => self.left.set(left),
            None => {
                return Err(std::io::Error::other(format!(
                    "the name of a file is longer than {LONGEST_NAME} bytes"
                )))
            }
        }
        Ok(count)
    }
}

/// The files of a folder or tar archive whose names belong to a trace.
struct Members {
    /// Bytes that may still be unpacked.
    left: u64,
    files: Vec<(PathBuf, Vec<u8>)>,
    /// How many have other names.
    others: u64,
    /// One of the others that is JSON.
    json: Option<(PathBuf, Vec<u8>)>,
    compressed: bool,
    /// Bytes that may be unpacked from compressed members.
    left_unpacked: u64,
}

impl Members {
    /// None yet, and at most so many bytes unpacked.
    fn new(most: u64) -> Self {
        Self {
            left: most,
            files: Vec::new(),
            others: 0,
            json: None,
            compressed: false,
            left_unpacked: MOST_UNPACKED,
        }
    }

    /// Whether to read a file, which is counted if not.
    fn wants(&mut self, path: &Path) -> bool {
        let wanted = is_member(path);
        self.others += u64::from(!wanted);
        let name = path.file_name().and_then(|name| name.to_str());
        let json = name.is_some_and(|name| name.ends_with(".json") && !name.starts_with("._"));
        wanted || (json && self.json.is_none())
    }

    fn add(&mut self, path: PathBuf, bytes: Vec<u8>) -> Result<(), TraceError> {
        let (compressed, input) =
            unpacked(bytes.as_slice()).map_err(|source| read_failure(&path, source))?;
        let packed = match compressed {
            true => {
                let most = self.left.min(self.left_unpacked);
                let unpacked = read_limited(&path, input, &mut { most })?;
                self.left -= unpacked.len() as u64;
                self.left_unpacked -= unpacked.len() as u64;
                Some(unpacked)
            }
            false => {
                drop(input);
                None
            }
        };
        self.compressed |= compressed;
        let plain = packed.unwrap_or(bytes);
        match path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            true => self.json = Some((path, plain)),
            false => self.files.push((path, plain)),
        }
        Ok(())
    }

    fn of_folder(path: &Path) -> Result<Self, TraceError> {
        let mut members = Self::new(MOST_UNPACKED);
        for file in files_in(path)? {
            if members.wants(&file) {
                let bytes = std::fs::read(&file).map_err(|source| read_failure(&file, source))?;
                members.add(file, bytes)?;
            }
        }
        Ok(members)
    }

    fn of_archive(path: &Path, input: impl Read, most: u64) -> Result<Self, TraceError> {
        let fail = |source| read_failure(path, source);
        let mut members = Self::new(most);
        let left = Rc::new(Cell::new(u64::MAX));
        let metered = Metered {
            input,
            left: Rc::clone(&left),
        };
        let mut archive = tar::Archive::new(metered);
        let mut entries = archive.entries().map_err(fail)?;
        loop {
            // A long name is a file of its own before the file, and held.
            left.set(LONGEST_NAME);
            let Some(entry) = entries.next() else {
                break;
            };
            left.set(u64::MAX);
            let mut entry = entry.map_err(fail)?;
            let name = entry.path().map_err(fail)?.into_owned();
            // Its holes are no bytes of the archive, and would be read without end.
            if entry.header().entry_type() == tar::EntryType::GNUSparse {
                return Err(TraceError::Whole {
                    path: path.join(name),
                    problem: "a sparse file: make the archive without `tar --sparse`".into(),
                });
            }
            let kind = entry.header().entry_type();
            if (kind.is_hard_link() || kind.is_symlink()) && is_member(&name) {
                return Err(TraceError::Whole {
                    path: path.join(name),
                    problem: "a link to another file: make the archive with `tar -h \
                              --hard-dereference`"
                        .into(),
                });
            }
            if !kind.is_file() || !members.wants(&name) {
                std::io::copy(&mut entry, &mut std::io::sink()).map_err(fail)?;
                continue;
            }
            let bytes = read_limited(&path.join(&name), &mut entry, &mut members.left)?;
            if bytes.len() as u64 != entry.size() {
                return Err(TraceError::Whole {
                    path: path.join(name),
                    problem: format!(
                        "the archive ends after {} of its {} bytes: it is truncated",
                        bytes.len(),
                        entry.size()
                    ),
                });
            }
            members.add(path.join(name), bytes)?;
        }
        Ok(members)
    }

    /// Forgets the other files.
    fn keep_only(&mut self, wanted: impl Fn(&Path) -> bool) {
        self.files.retain(|(path, _)| wanted(path));
        self.others = 0;
    }
}

/// Reads the logs of all ranks or the traces of all accelerators.
fn read_members(path: &Path, members: Members) -> Result<Program, TraceError> {
    let whole = |problem: &str| TraceError::Whole {
        path: path.into(),
        problem: problem.into(),
    };
    let graphs = |(file, _): &(PathBuf, _)| chakra::place(file).is_some();
    let count = members.files.iter().filter(|file| graphs(file)).count();
    if count > 0 && count < members.files.len() {
        return Err(whole(
            "holds logs of MPI calls and traces of Chakra: put one trace in a folder",
        ));
    }
    if let (true, Some((file, json))) = (members.files.is_empty(), &members.json) {
        return Err(TraceError::Whole {
            path: file.clone(),
            problem: chakra::why_not_json(json.as_slice()),
        });
    }
    if members.files.is_empty() {
        return Err(whole(
            "holds no log of a rank (rank-0000.log, rank-0001.log, ...) and no trace of an \
             accelerator (NAME.0.et, NAME.1.et, ...); for other formats give the file",
        ));
    }
    let mut program = match count {
        0 => mpilog::program(path, members.files)?,
        _ => chakra::program(path, members.files)?,
    };
    program.compressed = members.compressed;
    if members.others > 0 {
        let what = "files with other names".to_owned();
        program.left_out.insert(what, members.others);
    }
    Ok(program)
}

/// So much tells the formats apart: the first block of a tar archive.
const HEAD_BYTES: u64 = 512;

/// Reads a trace that is not compressed any more, of which at most `most` bytes are kept.
fn read_plain(path: &Path, mut input: impl BufRead, most: u64) -> Result<Program, TraceError> {
    let fail = |source| read_failure(path, source);
    let whole = |problem: String| TraceError::Whole {
        path: path.into(),
        problem,
    };
    let mut start = Vec::new();
    let mut head = input.by_ref().take(HEAD_BYTES);
    head.read_to_end(&mut start).map_err(fail)?;
    if start.is_empty() {
        return Err(whole(
            "the file is empty; a GOAL trace begins with `num_ranks N`".into(),
        ));
    }
    let begins = |with: &[u8]| start.starts_with(with);
    // The magic number's first bytes are control characters, which no text begins with.
    let goal_binary = begins(&goalbin::MAGIC.to_le_bytes()[..4])
        || begins(&goalbin::MAGIC_SPOILT.to_le_bytes()[..4]);
    let tar = start.get(257..262) == Some(b"ustar");
    let vef = begins(b"VEF ");
    let liballprof = liballprof::begins(&start);
    let one_mpilog = begins(b"#mpilog");
    let json = start.trim_ascii_start().starts_with(b"{");
    let input = Cursor::new(start).chain(input);
    if goal_binary {
        goalbin::parse(path, &read_limited(path, input, &mut { most })?)
    } else if tar {
        read_members(path, Members::of_archive(path, input, most)?)
    } else if vef {
        vef::parse(path, input)
    } else if liballprof && most < u64::MAX {
        // The logs of the others lie beside it, each compressed for itself.
        Err(whole(
            "the compressed log of one rank: unpack the logs of all, and give that of rank 0"
                .into(),
        ))
    } else if liballprof {
        liballprof::read(path)
    } else if one_mpilog {
        Err(whole(
            "the log of one rank: give the folder with the logs of all, or their tar archive"
                .into(),
        ))
    } else if json {
        // A key alone may be longer than any memory.
        Err(whole(chakra::why_not_json(input.take(MOST_UNPACKED))))
    } else {
        goal::parse(path, input)
    }
}

#[cfg(test)]
mod tests;

/// The check of [`read`] that messages and receives can be paired.
#[cfg(test)]
pub(crate) fn check_matching(program: &Program) -> Result<(), String> {
    matching::check(program)
}

/// A program from GOAL text, checked as [`read`] checks files.
#[cfg(test)]
pub(crate) fn from_text(text: &str) -> Result<Program, String> {
    let program =
        read_plain(Path::new("test.goal"), text.as_bytes(), u64::MAX).map_err(|e| e.to_string())?;
    matching::check(&program)?;
    Ok(program)
}
