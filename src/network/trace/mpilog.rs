//! Logs of MPI calls with CPU times: one text per rank, in a tar archive or a folder.
//!
//! ```text
//! #mpilog 1
//! #rank 3 of 8
//! #clock_overhead_ns 380
//! #comm 0 0 1 2 3 4 5 6 7
//! Send 44982231 2865 901 3365 c=0 d=7 t=0 b=32768
//! ```
//! A call is its name, wall clock at its begin and its duration, CPU time since the call
//! before and CPU time inside, all in ns, then `key=value`. Computing is the CPU time since
//! the call before less what reading the clock costs. Sources, tags and sizes of receives are
//! those that their status told. Files with other names than `rank-RRRR.log` are left aside.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::collectives::Collective;
use super::mpi::{Comm, CommNumbers, Rank, Tags};
use super::{Builder, Format, Program, TraceError, ANY_OF_USERS};

/// Stands for no rank at all (`MPI_PROC_NULL`).
const NOBODY: i64 = -2;

/// The texts of the ranks, and where they come from.
type Logs = BTreeMap<u32, (PathBuf, String)>;

/// The rank whose log has this name.
pub(super) fn rank_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    name.strip_prefix("rank-")?
        .strip_suffix(".log")?
        .parse()
        .ok()
}

fn insert(logs: &mut Logs, rank: u32, path: PathBuf, bytes: Vec<u8>) -> Result<(), TraceError> {
    let whole = |problem: String| TraceError::Whole {
        path: path.clone(),
        problem,
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        whole(format!("byte {at} is no text: the file is damaged"))
    })?;
    match logs.insert(rank, (path.clone(), text)) {
        Some((other, _)) => Err(whole(format!(
            "rank {rank} has another log: {}",
            other.display()
        ))),
        None => Ok(()),
    }
}

/// Reads the logs of all ranks, with the paths they have in `path`.
///
/// # Errors
/// As [`super::read`].
pub(super) fn program(path: &Path, files: Vec<(PathBuf, Vec<u8>)>) -> Result<Program, TraceError> {
    let mut logs = Logs::new();
    for (file, bytes) in files {
        if let Some(rank) = rank_of(&file) {
            insert(&mut logs, rank, file, bytes)?;
        }
    }
    let count = logs.len() as u32;
    let whole = |problem: String| TraceError::Whole {
        path: path.into(),
        problem,
    };
    if let Some(missing) = (0..count).find(|rank| !logs.contains_key(rank)) {
        return Err(whole(format!(
            "the log of rank {missing} is missing: {count} logs are those of ranks 0 to {}",
            count - 1
        )));
    }
    let mut builder = Builder::new(Format::Mpilog);
    let mut tags = Tags::default();
    let mut numbers = CommNumbers::new();
    for (&rank, (path, text)) in &logs {
        let mut log = Log {
            me: rank,
            ranks: count,
            clock_overhead: None,
            started: false,
            comms: HashMap::new(),
            creations: HashMap::new(),
            requests: HashMap::new(),
            rank: Rank::new(&mut builder),
            tags: &mut tags,
            numbers: &mut numbers,
        };
        for (number, line) in text.lines().enumerate() {
            log.line(line)
                .map_err(|(column, problem)| TraceError::Text {
                    path: path.clone(),
                    line: number as u64 + 1,
                    column: column + 1,
                    problem,
                })?;
        }
        let end = log.rank.end();
        end.map_err(whole)?;
    }
    Ok(builder.program)
}

/// Where in a line, in bytes from 0, and what.
type Problem = (usize, String);

fn problem<T>(at: usize, text: impl Into<String>) -> Result<T, Problem> {
    Err((at, text.into()))
}

/// A piece of a line.
#[derive(Clone, Copy)]
struct Word<'t> {
    at: usize,
    text: &'t str,
}

impl<'t> Word<'t> {
    fn split(self, by: char) -> impl Iterator<Item = Word<'t>> {
        let mut at = self.at;
        self.text.split(by).map(move |text| {
            let word = Word { at, text };
            at += text.len() + by.len_utf8();
            word
        })
    }

    fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
        let line = Word { at: 0, text: line };
        line.split(' ').filter(|word| !word.text.is_empty())
    }

    fn number<T: std::str::FromStr>(self, what: &str) -> Result<T, Problem> {
        self.text.parse().map_err(|_| {
            (
                self.at,
                format!("`{}` is no {what}: a whole number", self.text),
            )
        })
    }

    /// A list with commas.
    fn numbers<T: std::str::FromStr>(self, what: &str) -> Result<Vec<T>, Problem> {
        self.split(',').map(|word| word.number(what)).collect()
    }
}

/// A call's values by key.
struct Call<'t> {
    name: Word<'t>,
    values: Vec<(&'t str, Word<'t>)>,
}

impl<'t> Call<'t> {
    fn find(&self, key: &str) -> Option<Word<'t>> {
        let found = self.values.iter().find(|(name, _)| *name == key);
        found.map(|(_, value)| *value)
    }

    fn value(&self, key: &str) -> Result<Word<'t>, Problem> {
        self.find(key).ok_or_else(|| {
            let name = self.name.text;
            (self.name.at, format!("`{key}=` is missing: {name} has it"))
        })
    }

    fn bytes(&self) -> Result<u64, Problem> {
        self.value("b")?.number("number of bytes")
    }
}

struct Log<'b> {
    me: u32,
    ranks: u32,
    clock_overhead: Option<u64>,
    /// The line `#mpilog 1` has been read.
    started: bool,
    /// By the number that this rank gives them.
    comms: HashMap<u32, Comm>,
    /// How often communicators with these members were created.
    creations: HashMap<Vec<u32>, u32>,
    /// The operations of the requests under way; none with nobody as partner.
    requests: HashMap<u64, (u32, Option<u32>)>,
    rank: Rank<&'b mut Builder>,
    tags: &'b mut Tags,
    numbers: &'b mut CommNumbers,
}

impl Log<'_> {
    fn line(&mut self, line: &str) -> Result<(), Problem> {
        let mut words = Word::words(line);
        let Some(first) = words.next() else {
            return Ok(());
        };
        let words: Vec<Word> = words.collect();
        if first.text.starts_with('#') {
            return self.header(first, &words);
        }
        if !self.started {
            return problem(first.at, "the first line must be `#mpilog 1`");
        }
        let Some(overhead) = self.clock_overhead else {
            return problem(first.at, "a call before the line `#clock_overhead_ns N`");
        };
        if words.len() < 4 {
            return problem(
                line.len(),
                format!(
                    "the line ends early: four times in ns follow `{}`",
                    first.text
                ),
            );
        }
        let (times, values) = words.split_at(4);
        for time in times {
            time.number::<u64>("time in ns")?;
        }
        let gap: u64 = times[2].number("time in ns")?;
        let mut call = Call {
            name: first,
            values: Vec::new(),
        };
        for word in values {
            let Some((key, text)) = word.text.split_once('=') else {
                return problem(word.at, format!("`{}` is no `key=value`", word.text));
            };
            let at = word.at + key.len() + 1;
            call.values.push((key, Word { at, text }));
        }
        self.rank.compute(gap.saturating_sub(overhead));
        self.call(&call)
    }

    fn header(&mut self, first: Word, words: &[Word]) -> Result<(), Problem> {
        let word = |index: usize| {
            let missing = || {
                (
                    first.at,
                    format!("a value after `{}` is missing", first.text),
                )
            };
            words.get(index).copied().ok_or_else(missing)
        };
        match first.text {
            "#mpilog" => {
                let version: u32 = word(0)?.number("version")?;
                if version != 1 {
                    return problem(word(0)?.at, format!("version {version}: it must be 1"));
                }
                self.started = true;
            }
            "#rank" => {
                let (rank, ranks) = (word(0)?, word(2)?);
                if rank.number::<u32>("rank")? != self.me {
                    return problem(
                        rank.at,
                        format!("rank {} in the log of rank {}", rank.text, self.me),
                    );
                }
                if ranks.number::<u32>("number of ranks")? != self.ranks {
                    return problem(
                        ranks.at,
                        format!("{} ranks, but there are {} logs", ranks.text, self.ranks),
                    );
                }
            }
            "#clock_overhead_ns" => self.clock_overhead = Some(word(0)?.number("time in ns")?),
            "#unsupported" => {
                let count: u64 = word(0)?.number("number of calls")?;
                if count > 0 {
                    return problem(
                        word(0)?.at,
                        format!("{count} calls could not be logged: the log is not complete"),
                    );
                }
            }
            "#comm" => {
                let id = word(0)?.number("communicator")?;
                let members = words[1..].iter().map(|word| self.member(*word));
                let members = members.collect::<Result<Vec<u32>, _>>()?;
                self.new_comm(first.at, id, members)?;
            }
            // Whatever else a logger has to say.
            _ => {}
        }
        Ok(())
    }

    fn member(&self, word: Word) -> Result<u32, Problem> {
        let rank: u32 = word.number("rank")?;
        match rank < self.ranks {
            true => Ok(rank),
            false => problem(
                word.at,
                format!(
                    "rank {rank} does not exist: there are ranks 0 to {}",
                    self.ranks - 1
                ),
            ),
        }
    }

    /// Communicators 0 and 1 are the world and the rank alone.
    fn new_comm(&mut self, at: usize, id: u32, members: Vec<u32>) -> Result<(), Problem> {
        let nth = self.creations.entry(members.clone()).or_default();
        *nth += 1;
        let number = match id {
            0 | 1 => id,
            _ => self.numbers.number(&members, *nth),
        };
        let Some(comm) = Comm::new(number, members, self.me) else {
            return problem(
                at,
                format!("rank {} is not a member of communicator {id}", self.me),
            );
        };
        self.comms.insert(id, comm);
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Result<(), Problem> {
        if let Some(id) = call.find("new") {
            let members = call.value("ranks")?.split(',');
            let members = members.map(|word| self.member(word));
            let members = members.collect::<Result<Vec<u32>, _>>()?;
            return self.new_comm(id.at, id.number("communicator")?, members);
        }
        let at = call.name.at;
        let fault = |text| (at, text);
        match call.name.text {
            // Recording begins here.
            "Pcontrol" => self.rank.forget_computing(),
            "Finalize" => {}
            "Send" | "Bsend" | "Ssend" | "Rsend" => {
                if let Some((to, bytes, tag)) = self.outgoing(call)? {
                    self.rank.send(to, bytes, tag).map_err(fault)?;
                }
            }
            "Isend" | "Ibsend" | "Issend" | "Irsend" => {
                let op = match self.outgoing(call)? {
                    Some((to, bytes, tag)) => Some(self.rank.isend(to, bytes, tag).map_err(fault)?),
                    None => None,
                };
                self.request(call, op)?;
            }
            "Recv" => {
                if let Some((from, bytes, tag)) = self.incoming(call)? {
                    self.rank.recv(from, bytes, tag).map_err(fault)?;
                }
            }
            "Irecv" => {
                let op = match self.incoming(call)? {
                    Some((from, bytes, tag)) => {
                        Some(self.rank.irecv(from, bytes, tag).map_err(fault)?)
                    }
                    None => None,
                };
                self.request(call, op)?;
            }
            "Sendrecv" | "Sendrecv_replace" => {
                // Partner, bytes and tag of each.
                let (outgoing, incoming) = (self.outgoing(call)?, self.incoming(call)?);
                let mut posted = Vec::new();
                if let Some((from, bytes, tag)) = incoming {
                    posted.push(self.rank.irecv(from, bytes, tag).map_err(fault)?);
                }
                if let Some((to, bytes, tag)) = outgoing {
                    posted.push(self.rank.isend(to, bytes, tag).map_err(fault)?);
                }
                posted.into_iter().for_each(|op| self.rank.wait(op));
            }
            "Wait" | "Waitany" | "Waitall" | "Waitsome" | "Test" | "Testany" | "Testall"
            | "Testsome" => {
                if let Some(completed) = call.find("Q") {
                    for request in completed.split(',') {
                        self.complete(request)?;
                    }
                }
            }
            _ => {
                let collective = self.collective(call)?;
                let comm = self.comm(call)?;
                let comm = self.comms.get_mut(&comm).expect("has been looked up");
                collective
                    .expand(comm, self.tags, &mut self.rank)
                    .map_err(fault)?;
            }
        }
        Ok(())
    }

    /// The communicator of a call, which exists.
    fn comm(&self, call: &Call) -> Result<u32, Problem> {
        let word = call.value("c")?;
        let id = word.number("communicator")?;
        match self.comms.contains_key(&id) {
            true => Ok(id),
            false => problem(word.at, format!("communicator {id} was not created")),
        }
    }

    fn tag(&mut self, call: &Call, key: &str) -> Result<u32, Problem> {
        let comm = self.comms[&self.comm(call)?].number;
        let word = call.value(key)?;
        self.tag_of(comm, word)
    }

    fn tag_of(&mut self, comm: u32, word: Word) -> Result<u32, Problem> {
        match word.text {
            "-1" => Ok(ANY_OF_USERS),
            _ => {
                let tag: i32 = word.number("tag")?;
                let tag = u32::try_from(tag)
                    .or_else(|_| problem(word.at, "a tag is -1 (any) or not negative"))?;
                Ok(self.tags.message(comm, tag))
            }
        }
    }

    /// To whom, bytes and tag; nothing to nobody.
    fn outgoing(&mut self, call: &Call) -> Result<Option<(u32, u64, u32)>, Problem> {
        let to = call.value("d")?;
        if to.number::<i64>("rank")? == NOBODY {
            return Ok(None);
        }
        let tag = self.tag(call, "t")?;
        if tag == ANY_OF_USERS {
            return problem(call.value("t")?.at, "a message has no tag -1");
        }
        Ok(Some((self.member(to)?, call.bytes()?, tag)))
    }

    /// From whom, bytes and tag; nothing from nobody.
    fn incoming(&mut self, call: &Call) -> Result<Option<(u32, u64, u32)>, Problem> {
        let from = call.value("s")?;
        let from = match from.number::<i64>("rank")? {
            NOBODY => return Ok(None),
            -1 => super::ANY,
            _ => self.member(from)?,
        };
        let bytes = call.value("rb")?.number("number of bytes")?;
        Ok(Some((from, bytes, self.tag(call, "st")?)))
    }

    fn request(&mut self, call: &Call, op: Option<u32>) -> Result<(), Problem> {
        let comm = self.comms[&self.comm(call)?].number;
        let word = call.value("q")?;
        let id = word.number("request")?;
        match self.requests.insert(id, (comm, op)) {
            Some(_) => problem(word.at, format!("request {id} is under way already")),
            None => Ok(()),
        }
    }

    /// `id` of a send, `id:source:tag:bytes` of a receive.
    fn complete(&mut self, request: Word) -> Result<(), Problem> {
        let fields: Vec<Word> = request.split(':').collect();
        let id: u64 = fields[0].number("request")?;
        let Some((comm, op)) = self.requests.remove(&id) else {
            return problem(request.at, format!("request {id} is not under way"));
        };
        let Some(op) = op else {
            return Ok(());
        };
        let receives = self.rank.is_receive(op);
        match (receives, &fields[1..]) {
            (false, []) => {}
            (true, &[source, tag, bytes]) => {
                let source = self.member(source)?;
                let tag = self.tag_of(comm, tag)?;
                let bytes = bytes.number("number of bytes")?;
                self.rank.received(op, source, bytes, tag);
            }
            _ => {
                return problem(
                    request.at,
                    format!(
                        "`{}`: a completed send is `id`, a completed receive \
                         `id:source:tag:bytes`",
                        request.text
                    ),
                )
            }
        }
        self.rank.complete(op).map_err(|text| (request.at, text))
    }

    fn collective(&self, call: &Call) -> Result<Collective, Problem> {
        let root = || {
            let word = call.value("root")?;
            let rank: u32 = word.number("rank")?;
            let members = &self.comms[&self.comm(call)?].members;
            let place = members.iter().position(|&member| member == rank);
            place.ok_or_else(|| {
                let text = format!("the root, rank {rank}, is not in the communicator");
                (word.at, text)
            })
        };
        let sizes = |key: &str| call.value(key)?.numbers("number of bytes");
        Ok(match call.name.text {
            "Barrier" => Collective::Barrier,
            "Bcast" => Collective::Broadcast {
                root: root()?,
                bytes: call.bytes()?,
            },
            "Reduce" => Collective::Reduce {
                root: root()?,
                bytes: call.bytes()?,
            },
            "Allreduce" => Collective::AllReduce {
                bytes: call.bytes()?,
                element: call.value("sc")?.number("size of an element")?,
            },
            "Scan" => Collective::Scan {
                bytes: call.bytes()?,
            },
            "Allgather" => Collective::AllGather {
                bytes: call.bytes()?,
            },
            "Allgatherv" => Collective::AllGatherV {
                blocks: sizes("rc")?.into(),
            },
            "Alltoall" => Collective::AllToAll {
                bytes: call.bytes()?,
            },
            "Alltoallv" => Collective::AllToAllV {
                to: sizes("sc")?,
                from: sizes("rc")?,
            },
            other => {
                return problem(
                    call.name.at,
                    format!("`{other}` is no call that this reader knows"),
                )
            }
        })
    }
}
