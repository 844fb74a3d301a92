//! Text logs of liballprof, the MPI tracer of LogGOPSim: one file per rank, told apart by the
//! number behind the last `-` of the name.
//!
//! ```text
//! MPI_Recv:1237666047187471.000000:11251872:4500:11,8,8:1:3000:0,0,4:140737488340112:1237666047238935.000000
//! ```
//! A call is its name, the time of its begin in us, its arguments in the order of C and the time of
//! its end. A type is `id,size,extent`, a communicator `handle,rank,size`. Lines with `#` are
//! comments. Computing is the time between calls. The log tells neither the members of a
//! communicator nor what a receive with wildcards has received.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::collectives::Collective;
use super::mpi::{Comm, Rank, Tags, MAX_RANKS};
use super::{Builder, Format, Program, TraceError, ANY};
use crate::files::FileError;

/// Where in a line, in bytes from 0, and what.
type Problem = (usize, String);

fn problem<T>(at: usize, text: impl Into<String>) -> Result<T, Problem> {
    Err((at, text.into()))
}

/// Distances of requests in an array: a pointer (Open MPI), an int (MPICH).
const REQUEST_BYTES: [u64; 2] = [8, 4];

/// Reads the logs, of which `path` is that of rank 0.
///
/// # Errors
/// As [`super::read`].
pub(super) fn read(path: &Path) -> Result<Program, TraceError> {
    let mut logs: Vec<(PathBuf, String)> = Vec::new();
    for file in files(path)? {
        let text = std::fs::read_to_string(&file).map_err(|source| {
            TraceError::File(FileError::Read {
                path: file.clone(),
                source,
            })
        })?;
        logs.push((file, text));
    }
    let ranks = logs.len() as u32;
    let mut builder = Builder::new(Format::Liballprof);
    let mut tags = Tags::default();
    for (me, (file, text)) in logs.iter().enumerate() {
        let me = me as u32;
        let world = (0..ranks).collect();
        let mut log = Log {
            me,
            world: Comm::new(0, world, me).expect("a member"),
            alone: Comm::new(1, vec![me], me).expect("a member"),
            left: None,
            requests: HashMap::new(),
            rank: Rank::new(&mut builder),
            tags: &mut tags,
        };
        for (number, line) in text.lines().enumerate() {
            log.line(line)
                .map_err(|(column, problem)| TraceError::Text {
                    path: file.clone(),
                    line: number as u64 + 1,
                    column: column + 1,
                    problem,
                })?;
        }
        let end = log.rank.end();
        end.map_err(|problem| whole(path, &problem))?;
    }
    Ok(builder.program)
}

fn whole(path: &Path, problem: &str) -> TraceError {
    TraceError::Whole {
        path: path.into(),
        problem: problem.into(),
    }
}

/// Whether a file that begins so is a log.
pub(super) fn begins(start: &[u8]) -> bool {
    start.starts_with(b"# ") || start.starts_with(b"MPI_")
}

/// The log of each rank.
pub(super) fn files(path: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let name = path.file_name().and_then(|name| name.to_str());
    let (before, behind) = name
        .and_then(|name| name.rsplit_once("-0"))
        .ok_or_else(|| {
            whole(
            path,
            "the name of rank 0's log must hold `-0`, in place of which others have -1, -2, ...",
        )
        })?;
    let log = |rank| path.with_file_name(format!("{before}-{rank}{behind}"));
    let there = |rank: &u32, file: &Path| *rank == 0 || file.exists();
    Ok((0..MAX_RANKS)
        .map(|rank| (rank, log(rank)))
        .take_while(|(rank, file)| there(rank, file))
        .map(|(_, file)| file)
        .collect())
}

/// The fields of a call, told apart by `:` and `,`.
struct Call<'t> {
    line: &'t str,
    fields: Vec<(usize, &'t str)>,
}

impl<'t> Call<'t> {
    fn new(line: &'t str) -> Self {
        let mut at = 0;
        let fields = line.split([':', ',']).map(|text| {
            let field = (at, text);
            at += text.len() + 1;
            field
        });
        Self {
            line,
            fields: fields.collect(),
        }
    }

    fn field(&self, index: usize) -> Result<(usize, &'t str), Problem> {
        let missing = || {
            (
                self.line.len(),
                format!("the call ends before field {index}"),
            )
        };
        self.fields.get(index).copied().ok_or_else(missing)
    }

    fn number<T: std::str::FromStr>(&self, index: usize) -> Result<T, Problem> {
        let (at, text) = self.field(index)?;
        let fault = |_| (at, format!("`{text}` is no number as it should stand here"));
        text.parse().map_err(fault)
    }

    /// Bytes of `count` elements of a type.
    fn bytes(&self, count: usize, kind: usize) -> Result<u64, Problem> {
        Ok(self
            .number::<u64>(count)?
            .saturating_mul(self.number(kind + 1)?))
    }

    /// A time in ns; nothing where a `-` stands.
    fn time(&self, index: usize) -> Result<Option<u64>, Problem> {
        let (at, text) = self.field(index)?;
        if text == "-" {
            return Ok(None);
        }
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
        let whole = whole.parse::<u64>().ok().filter(|_| digits(whole));
        let ns = whole
            .and_then(|us| us.checked_mul(1000))
            .filter(|_| digits(part));
        let Some(ns) = ns else {
            return problem(at, format!("`{text}` is no time in us"));
        };
        let part = part.bytes().chain([b'0'; 3]).take(3);
        Ok(Some(ns.saturating_add(
            part.fold(0, |ns, digit| ns * 10 + u64::from(digit - b'0')),
        )))
    }
}

struct Log<'b> {
    me: u32,
    world: Comm,
    alone: Comm,
    /// When the call before ended, in ns.
    left: Option<u64>,
    /// The operations of the requests under way, by address; none with nobody as partner.
    requests: HashMap<u64, Option<u32>>,
    rank: Rank<&'b mut Builder>,
    tags: &'b mut Tags,
}

impl Log<'_> {
    fn line(&mut self, line: &str) -> Result<(), Problem> {
        if line.trim().is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let call = Call::new(line);
        let (at, name) = call.field(0)?;
        let Some(name) = name.strip_prefix("MPI_") else {
            return problem(
                at,
                format!("`{name}` is no call: its name begins with MPI_"),
            );
        };
        let begin = call.time(1)?;
        let end = call.time(call.fields.len() - 1)?;
        if let Some((begin, left)) = begin.zip(self.left) {
            self.rank.compute(begin.saturating_sub(left));
        }
        self.left = end.or(self.left);
        self.call(name, &call)
    }

    fn call(&mut self, name: &str, call: &Call) -> Result<(), Problem> {
        let fault = |text| (0, text);
        match name {
            "Send" | "Rsend" | "Ssend" | "Bsend" | "Recv" => {
                let op = self.post(call, 2, 9, name == "Recv")?;
                op.into_iter().for_each(|op| self.rank.wait(op));
            }
            "Isend" | "Irecv" => {
                let op = self.post(call, 2, 9, name == "Irecv")?;
                if self.requests.insert(call.number(12)?, op).is_some() {
                    let (at, request) = call.field(12)?;
                    return problem(at, format!("request {request} is under way already"));
                }
            }
            "Sendrecv" => {
                let ops = [
                    self.post(call, 9, 16, true)?,
                    self.post(call, 2, 16, false)?,
                ];
                let ops = ops.into_iter().flatten();
                ops.for_each(|op| self.rank.wait(op));
            }
            "Wait" => self.complete(call, 2, call.number(2)?)?,
            "Waitall" => {
                let (count, first): (u64, u64) = (call.number(2)?, call.number(3)?);
                let addresses = |size: u64| (0..count).map(move |i| first.checked_add(i * size));
                let under_way = |address: Option<u64>| {
                    address.is_some_and(|address| self.requests.contains_key(&address))
                };
                // More than are under way cannot be meant.
                let size = REQUEST_BYTES.into_iter().find(|&size| {
                    count <= self.requests.len() as u64 && addresses(size).all(under_way)
                });
                let Some(size) = size else {
                    let text = format!("not all of {count} requests from {first} are under way");
                    return problem(call.field(2)?.0, text);
                };
                for address in addresses(size).flatten() {
                    self.complete(call, 3, address)?;
                }
            }
            "Init" | "Initialized" | "Finalize" | "Wtime" | "Comm_rank" | "Comm_size"
            | "Get_count" | "Get_processor_name" => {}
            _ if name.starts_with("Type_") || name.starts_with("Op_") => {}
            _ => {
                let (collective, place) = self.collective(name, call)?;
                self.comm(call, place)?;
                let comm = match call.number::<usize>(place + 2)? {
                    1 => &mut self.alone,
                    _ => &mut self.world,
                };
                collective
                    .expand(comm, self.tags, &mut self.rank)
                    .map_err(fault)?;
            }
        }
        Ok(())
    }

    /// The communicator whose handle is field `place`: the world, or the rank alone.
    fn comm(&self, call: &Call, place: usize) -> Result<&Comm, Problem> {
        let (rank, size): (usize, usize) = (call.number(place + 1)?, call.number(place + 2)?);
        let ranks = self.world.members.len();
        if size == 1 && rank == 0 {
            return Ok(&self.alone);
        }
        if size == ranks && rank == self.me as usize {
            return Ok(&self.world);
        }
        let me = self.me;
        let (at, text) = match size == ranks {
            true => (
                call.field(place + 1)?.0,
                format!(
                    "the call is by rank {rank} of its communicator, but by its name this is the \
                     log of rank {me}: the file is another rank's or not a recorded one (then \
                     write {me} here), or the communicator numbers the ranks anew, which the log \
                     does not tell"
                ),
            ),
            false => (
                call.field(place + 2)?.0,
                format!(
                    "a communicator of {size} of the {ranks} ranks: the log does not tell which; \
                     only calls in that of all ranks and in that of one alone can be read"
                ),
            ),
        };
        problem(at, text)
    }

    /// Posts the message whose buffer is field `buffer`.
    fn post(
        &mut self,
        call: &Call,
        buffer: usize,
        comm: usize,
        receives: bool,
    ) -> Result<Option<u32>, Problem> {
        let bytes = call.bytes(buffer + 1, buffer + 2)?;
        let (partner, tag): (i64, i64) = (call.number(buffer + 5)?, call.number(buffer + 6)?);
        let comm = self.comm(call, comm)?;
        let partner = match usize::try_from(partner) {
            Ok(place) => *comm.members.get(place).ok_or_else(|| {
                let at = call.fields[buffer + 5].0;
                (at, format!("rank {place} does not exist"))
            })?,
            Err(_) if receives && partner == -1 => ANY,
            // MPI_PROC_NULL.
            Err(_) => return Ok(None),
        };
        let number = comm.number;
        let tag = match i32::try_from(tag) {
            Ok(tag) if tag >= 0 => tag as u32,
            Ok(-1) if receives => ANY,
            _ => return problem(call.fields[buffer + 6].0, format!("tag {tag}")),
        };
        let tag = self.tags.message(number, tag);
        let op = match receives {
            true => self.rank.irecv(partner, bytes, tag),
            false => self.rank.isend(partner, bytes, tag),
        };
        op.map(Some).map_err(|text| (0, text))
    }

    fn complete(&mut self, call: &Call, field: usize, address: u64) -> Result<(), Problem> {
        match self.requests.remove(&address) {
            Some(Some(op)) => self.rank.complete(op).map_err(|text| (0, text)),
            Some(None) => Ok(()),
            None => {
                let at = call.field(field)?.0;
                problem(at, format!("request {address} is not under way"))
            }
        }
    }

    /// A collective and the field where its communicator stands.
    fn collective(&self, name: &str, call: &Call) -> Result<(Collective, usize), Problem> {
        Ok(match name {
            "Barrier" => (Collective::Barrier, 2),
            "Bcast" => {
                let (bytes, root) = (call.bytes(3, 4)?, call.number(7)?);
                (Collective::Broadcast { root, bytes }, 8)
            }
            "Reduce" => {
                let (bytes, root) = (call.bytes(4, 5)?, call.number(9)?);
                (Collective::Reduce { root, bytes }, 10)
            }
            "Allreduce" => {
                let (bytes, element) = (call.bytes(4, 5)?, call.number(6)?);
                (Collective::AllReduce { bytes, element }, 9)
            }
            "Scan" => {
                let bytes = call.bytes(4, 5)?;
                (Collective::Scan { bytes }, 9)
            }
            "Allgather" => {
                let bytes = call.bytes(3, 4)?;
                (Collective::AllGather { bytes }, 12)
            }
            "Alltoall" => {
                let bytes = call.bytes(3, 4)?;
                (Collective::AllToAll { bytes }, 12)
            }
            _ => {
                return problem(0, format!("MPI_{name} is no call that this reader knows"));
            }
        })
    }
}
