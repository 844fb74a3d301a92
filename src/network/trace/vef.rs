//! VEF, the trace format of UCLM's VEF-TraceLIB, as the comment of its `TraceManager.h` has it.
//!
//! ```text
//! VEF tasks messages communicators global_collectives local_collectives onlySendFlag
//! Cn task task ...
//! ID src dst bytes Dep time IDdep
//! Gid comm op task send_size recv_size Dep time IDdep
//! ```
//! A record begins `time` ns after one event (Dep 1: the message IDdep was sent; 2: it was
//! received; 3: this task has finished its part in the collective IDdep) or at that time (0).
//!
//! Records wait for events, not for a CPU: a task's operations are on CPU 0, and the delays
//! after its n-th event with some follow one another, in rising order of their ends, on CPU
//! `1 + n mod 255`. A message has its ID as tag. The file does not say which messages a
//! collective is made of; they are those of [`collectives`](super::collectives).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, Read};
use std::path::Path;

use super::collectives::{part, Collective};
use super::mpi::{Comm, Rank, Tags, MAX_RANKS};
use super::{read_failure, Builder, Format, Op, OpKind, Program, TraceError};

/// From here on tags belong to collectives.
const MAX_MESSAGES: u32 = 1 << 30;

/// A line with all tasks of a communicator is longest, and has some 8 MiB; a file of another kind may have
/// no line ends.
const LONGEST_LINE: u64 = 1 << 24;

/// Where in a line, in bytes from 0, and what.
type Problem = (usize, String);

fn problem<T>(at: usize, text: impl Into<String>) -> Result<T, Problem> {
    Err((at, text.into()))
}

/// What a record of a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Event {
    /// The begin of the run.
    Begin,
    Sent(u32),
    Received(u32),
    Finished(u32),
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Send {
        id: u32,
        to: u32,
        bytes: u64,
    },
    Collective {
        id: u32,
        comm: u32,
        op: u8,
        sent: u64,
        received: u64,
    },
}

/// A task's part in something.
#[derive(Clone, Copy, Debug)]
struct Record {
    line: u64,
    action: Action,
    after: Event,
    delay_ns: u64,
}

/// A task: what it does, and what it is sent, as (message, from, bytes).
#[derive(Clone, Debug, Default)]
struct Task {
    records: Vec<Record>,
    incoming: Vec<(u32, u32, u64)>,
}

/// Reads VEF.
///
/// # Errors
/// As [`super::read`].
pub(super) fn parse(path: &Path, mut input: impl BufRead) -> Result<Program, TraceError> {
    let mut file = File::default();
    let mut last = 0;
    let mut line = String::new();
    loop {
        line.clear();
        let read = input.by_ref().take(LONGEST_LINE).read_line(&mut line);
        let read = read.map_err(|source| read_failure(path, source))?;
        if read == 0 {
            break;
        }
        last += 1;
        if read as u64 == LONGEST_LINE && !line.ends_with('\n') {
            let problem = format!("the line is longer than {LONGEST_LINE} bytes: this is no VEF");
            return Err(text(path, last, 1, problem));
        }
        let line = line.strip_suffix('\n').unwrap_or(&line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        file.line(last, line)
            .map_err(|(column, problem)| text(path, last, column + 1, problem))?;
    }
    let missing = file
        .announced
        .iter()
        .find(|(_, announced, found)| announced != found);
    if let Some((what, announced, found)) = missing {
        let problem =
            format!("the file ends after {found} {what}; its first line says {announced}");
        return Err(text(path, last, 1, problem));
    }
    file.program(path)
}

fn text(path: &Path, line: u64, column: usize, problem: String) -> TraceError {
    TraceError::Text {
        path: path.into(),
        line,
        column,
        problem,
    }
}

/// The tasks of a communicator.
struct Members {
    /// In the order of the file.
    listed: Vec<u32>,
    all: HashSet<u32>,
}

/// A collective: what its parts have in common, and what each task sends and receives.
struct Parts {
    comm: u32,
    op: u8,
    sizes: HashMap<u32, (u64, u64)>,
}

#[derive(Default)]
struct File {
    tasks: Vec<Task>,
    comms: Vec<Members>,
    /// What the first line says and what was found.
    announced: [(&'static str, u64, u64); 3],
    /// The line of each message.
    messages: HashMap<u32, u64>,
}

const COMMS: usize = 0;
const MESSAGES: usize = 1;
const PARTS: usize = 2;

/// The words of a line, one after the other.
struct Words<'t> {
    line: &'t str,
    at: usize,
}

impl<'t> Words<'t> {
    fn next(&mut self) -> Option<(usize, &'t str)> {
        let rest = &self.line[self.at..];
        let start = self.at + rest.find(|c: char| !c.is_ascii_whitespace())?;
        let word = self.line[start..].split_ascii_whitespace().next()?;
        self.at = start + word.len();
        Some((start, word))
    }

    fn word(&mut self, what: &str) -> Result<(usize, &'t str), Problem> {
        let end = self.line.len();
        self.next()
            .ok_or_else(|| (end, format!("the line ends where {what} should stand")))
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<(usize, T), Problem> {
        let (at, word) = self.word(what)?;
        match word.parse() {
            Ok(number) => Ok((at, number)),
            Err(_) => problem(at, format!("`{word}` is not {what}: a whole number")),
        }
    }

    fn end(&mut self) -> Result<(), Problem> {
        match self.next() {
            Some((at, word)) => problem(at, format!("`{word}` after the end of the record")),
            None => Ok(()),
        }
    }
}

impl File {
    fn line(&mut self, number: u64, line: &str) -> Result<(), Problem> {
        let mut words = Words { line, at: 0 };
        let Some((at, first)) = words.next() else {
            return Ok(());
        };
        if self.tasks.is_empty() {
            return match first {
                "VEF" => self.header(&mut words),
                _ => problem(at, "the first line must begin with `VEF`"),
            };
        }
        if let Some(comm) = first.strip_prefix('C') {
            return self.comm(at, comm, &mut words);
        }
        if self.announced[COMMS].1 != self.announced[COMMS].2 {
            return problem(at, format!("expected communicator C{}", self.comms.len()));
        }
        match first.strip_prefix('G') {
            Some(id) => self.collective(number, at, id, &mut words),
            None => self.message(number, at, first, &mut words),
        }
    }

    fn header(&mut self, words: &mut Words) -> Result<(), Problem> {
        let (at, tasks): (_, u32) = words.number("the number of tasks")?;
        if !(1..=MAX_RANKS).contains(&tasks) {
            return problem(at, format!("{tasks} tasks: there are 1 to {MAX_RANKS}"));
        }
        let (at, messages) = words.number("the number of messages")?;
        if messages > u64::from(MAX_MESSAGES) {
            return problem(at, format!("{messages} messages: at most {MAX_MESSAGES}"));
        }
        let (_, comms) = words.number("the number of communicators")?;
        words.number::<u64>("the number of global collectives")?;
        let (_, parts) = words.number("the number of local collectives")?;
        let (at, flag) = words.word("TRUE or FALSE")?;
        if !matches!(flag, "TRUE" | "FALSE") {
            return problem(at, format!("`{flag}` is neither TRUE nor FALSE"));
        }
        words.end()?;
        self.tasks = vec![Task::default(); tasks as usize];
        self.announced = [
            ("communicators", comms, 0),
            ("messages", messages, 0),
            ("parts of collectives", parts, 0),
        ];
        Ok(())
    }

    /// One more of what the first line has announced.
    fn count(&mut self, at: usize, what: usize) -> Result<(), Problem> {
        let (name, announced, found) = &mut self.announced[what];
        *found += 1;
        match found > announced {
            true => problem(at, format!("the first line says {announced} {name}")),
            false => Ok(()),
        }
    }

    fn task(&self, words: &mut Words, what: &str) -> Result<u32, Problem> {
        let (at, task): (_, u32) = words.number(what)?;
        match (task as usize) < self.tasks.len() {
            true => Ok(task),
            false => problem(
                at,
                format!(
                    "task {task} does not exist: there are 0 to {}",
                    self.tasks.len() - 1
                ),
            ),
        }
    }

    fn comm(&mut self, at: usize, id: &str, words: &mut Words) -> Result<(), Problem> {
        self.count(at, COMMS)?;
        if id.parse() != Ok(self.comms.len()) {
            return problem(at, format!("expected communicator C{}", self.comms.len()));
        }
        let mut listed = Vec::new();
        let mut all = HashSet::new();
        while !words.line[words.at..].trim().is_empty() {
            let member = self.task(words, "a task")?;
            if !all.insert(member) {
                return problem(words.at, format!("task {member} stands here twice"));
            }
            listed.push(member);
        }
        if listed.is_empty() {
            return problem(words.at, "a communicator without tasks");
        }
        self.comms.push(Members { listed, all });
        Ok(())
    }

    fn dependency(&self, words: &mut Words) -> Result<(Event, u64), Problem> {
        let (at, kind): (_, u8) = words.number("the kind of dependency")?;
        let (_, time) = words.number("a time in ns")?;
        let (id_at, id) = words.word("what it depends on")?;
        words.end()?;
        let fault = || (id_at, format!("`{id}` is no event of dependency {kind}"));
        let message = || id.parse().map_err(|_| fault());
        let event = match kind {
            0 if id == "-1" => Event::Begin,
            0 => return Err(fault()),
            1 => Event::Sent(message()?),
            2 => Event::Received(message()?),
            3 => {
                let id = id.strip_prefix('G').and_then(|id| id.parse().ok());
                Event::Finished(id.ok_or_else(fault)?)
            }
            _ => return problem(at, format!("dependency {kind}: it is 0, 1, 2 or 3")),
        };
        Ok((event, time))
    }

    fn message(
        &mut self,
        line: u64,
        at: usize,
        id: &str,
        words: &mut Words,
    ) -> Result<(), Problem> {
        self.count(at, MESSAGES)?;
        let id = match id.parse() {
            Ok(id) if id < MAX_MESSAGES => id,
            _ => {
                return problem(
                    at,
                    format!("`{id}` is no number of a message or collective"),
                )
            }
        };
        if let Some(first) = self.messages.insert(id, line) {
            return problem(at, format!("message {id} stands on line {first} too"));
        }
        let from = self.task(words, "the sending task")?;
        let to = self.task(words, "the receiving task")?;
        let (_, bytes) = words.number("a number of bytes")?;
        let (after, delay_ns) = self.dependency(words)?;
        self.tasks[from as usize].records.push(Record {
            line,
            action: Action::Send { id, to, bytes },
            after,
            delay_ns,
        });
        self.tasks[to as usize].incoming.push((id, from, bytes));
        Ok(())
    }

    fn collective(
        &mut self,
        line: u64,
        at: usize,
        id: &str,
        words: &mut Words,
    ) -> Result<(), Problem> {
        self.count(at, PARTS)?;
        let Ok(id) = id.parse() else {
            return problem(at, format!("`G{id}` is no number of a collective"));
        };
        let (comm_at, comm): (_, u32) = words.number("a communicator")?;
        let Some(members) = self.comms.get(comm as usize) else {
            return problem(comm_at, format!("communicator C{comm} does not exist"));
        };
        let (op_at, op) = words.number("a kind of collective")?;
        if op > 7 {
            return problem(op_at, format!("collective {op}: it is 0 to 7"));
        }
        let task = self.task(words, "a task")?;
        if !members.all.contains(&task) {
            return problem(
                comm_at,
                format!("task {task} is not in communicator C{comm}"),
            );
        }
        let (_, sent) = words.number("a number of bytes")?;
        let (_, received) = words.number("a number of bytes")?;
        let (after, delay_ns) = self.dependency(words)?;
        self.tasks[task as usize].records.push(Record {
            line,
            action: Action::Collective {
                id,
                comm,
                op,
                sent,
                received,
            },
            after,
            delay_ns,
        });
        Ok(())
    }

    fn program(self, path: &Path) -> Result<Program, TraceError> {
        let mut collectives: HashMap<u32, Parts> = HashMap::new();
        let mut order: BTreeMap<u32, u32> = BTreeMap::new();
        for (me, task) in self.tasks.iter().enumerate() {
            for record in &task.records {
                if let Action::Collective {
                    id,
                    comm,
                    op,
                    sent,
                    received,
                } = record.action
                {
                    let fail = |problem: String| Err(text(path, record.line, 1, problem));
                    let parts = collectives.entry(id).or_insert_with(|| Parts {
                        comm,
                        op,
                        sizes: HashMap::new(),
                    });
                    if (parts.comm, parts.op) != (comm, op) {
                        return fail(format!(
                            "collective G{id} is of kind {op} on C{comm} here, and of kind {} on C{} \
                             for another task",
                            parts.op, parts.comm
                        ));
                    }
                    if parts.sizes.insert(me as u32, (sent, received)).is_some() {
                        return fail(format!("task {me} takes part in collective G{id} twice"));
                    }
                    order.insert(id, 0);
                }
            }
        }
        // Tags in the order of the IDs, alike on all tasks.
        for (place, number) in order.values_mut().enumerate() {
            *number = place as u32;
        }
        let mut builder = Builder::new(Format::Vef);
        let mut tags = Tags::default();
        for (me, task) in self.tasks.iter().enumerate() {
            let mut writer = Writer {
                file: &self,
                collectives: &collectives,
                order: &order,
                me: me as u32,
                rank: Rank::new(&mut builder),
                tags: &mut tags,
                events: HashMap::from([(Event::Begin, Vec::new())]),
            };
            writer
                .task(task)
                .map_err(|(line, problem)| text(path, line, 1, problem))?;
            let end = writer.rank.end();
            end.map_err(|problem| text(path, 1, 1, problem))?;
        }
        Ok(builder.program)
    }
}

/// Writes the operations of a task.
struct Writer<'a> {
    file: &'a File,
    collectives: &'a HashMap<u32, Parts>,
    /// The place of each collective among all.
    order: &'a BTreeMap<u32, u32>,
    me: u32,
    rank: Rank<&'a mut Builder>,
    tags: &'a mut Tags,
    /// The operations whose ends, or starts, make up an event.
    events: HashMap<Event, Vec<(u32, bool)>>,
}

impl Writer<'_> {
    fn task(&mut self, task: &Task) -> Result<(), (u64, String)> {
        for &(id, from, bytes) in &task.incoming {
            self.rank.set_after(Vec::new());
            let op = self.rank.irecv(from, bytes, id);
            let op = op.map_err(|problem| (self.file.messages[&id], problem))?;
            self.events.insert(Event::Received(id), vec![(op, false)]);
        }
        let mut waiting: BTreeMap<Event, Vec<&Record>> = BTreeMap::new();
        for record in &task.records {
            waiting.entry(record.after).or_default().push(record);
        }
        // Events whose records are due, in the order in which they were reached.
        let mut reached: Vec<Event> = self.events.keys().copied().collect();
        reached.sort_unstable();
        let mut place = 0;
        let mut delayed = 0;
        while let Some(&event) = reached.get(place) {
            place += 1;
            let Some(mut records) = waiting.remove(&event) else {
                continue;
            };
            records.sort_by_key(|record| record.delay_ns);
            let cpu = 1 + (delayed % 255) as u8;
            delayed += usize::from(records.last().is_some_and(|last| last.delay_ns > 0));
            let mut passed = 0;
            let mut after = self.events[&event].clone();
            for record in records {
                let fault = |problem| (record.line, problem);
                self.rank.set_after(after.clone());
                if record.delay_ns > passed {
                    let calc = Op {
                        size: record.delay_ns - passed,
                        peer: 0,
                        tag: 0,
                        kind: OpKind::Calc,
                        cpu,
                        nic: 0,
                    };
                    let op = self.rank.add(calc).map_err(fault)?;
                    passed = record.delay_ns;
                    after = vec![(op, false)];
                    self.rank.set_after(after.clone());
                }
                let next = self.record(record).map_err(fault)?;
                self.events.insert(next, self.rank.after().to_vec());
                reached.push(next);
            }
        }
        match waiting.values().flatten().map(|record| record.line).min() {
            Some(line) => Err((
                line,
                format!(
                    "task {} never comes to what this record waits for, directly or through \
                     other records",
                    self.me
                ),
            )),
            None => Ok(()),
        }
    }

    /// Carries out a record; what comes next waits for its end.
    fn record(&mut self, record: &Record) -> Result<Event, String> {
        match record.action {
            Action::Send { id, to, bytes } => {
                self.rank.send(to, bytes, id)?;
                Ok(Event::Sent(id))
            }
            Action::Collective {
                id,
                comm,
                op,
                sent,
                received,
            } => {
                let members = &self.file.comms[comm as usize].listed;
                let parts = &self.collectives[&id].sizes;
                // Only members take part, each once.
                if parts.len() < members.len() {
                    let missing = members.iter().find(|task| !parts.contains_key(task));
                    let missing = missing.expect("one more than take part");
                    return Err(format!("task {missing} has no part in collective G{id}"));
                }
                let collective = collective(op, members, self.me, parts, sent, received)?;
                let number = self.order[&id];
                let comm = Comm::new(0, members.clone(), self.me);
                let mut comm = comm.ok_or("not a member")?.after(number);
                collective.expand(&mut comm, self.tags, &mut self.rank)?;
                Ok(Event::Finished(id))
            }
        }
    }
}

/// The collective `op` between `members` with these sizes, as `me`, one of them, sees it.
fn collective(
    op: u8,
    members: &[u32],
    me: u32,
    parts: &HashMap<u32, (u64, u64)>,
    sent: u64,
    received: u64,
) -> Result<Collective, String> {
    let sizes = |task: &u32| parts[task];
    // The root is the member whose sizes have another form than those of all others.
    let root = |is_root: fn((u64, u64)) -> bool| {
        let place = members.iter().position(|task| is_root(sizes(task)));
        // Without bytes any member is as good.
        let empty = || {
            members
                .iter()
                .all(|task| sizes(task) == (0, 0))
                .then_some(0)
        };
        place
            .or_else(empty)
            .ok_or("no task has the sizes of a root")
    };
    Ok(match op {
        0 => Collective::Broadcast {
            root: root(|(sent, received)| sent > 0 && received == 0)?,
            bytes: sent.max(received),
        },
        1 => Collective::Reduce {
            root: root(|(sent, received)| sent == 0 && received > 0)?,
            bytes: sent.max(received),
        },
        2 => Collective::AllReduce {
            bytes: sent,
            element: 1,
        },
        3 => Collective::Gather {
            root: root(|(_, received)| received > 0)?,
            blocks: members.iter().map(|task| sizes(task).0).collect(),
        },
        4 => Collective::Scatter {
            root: root(|(sent, _)| sent > 0)?,
            blocks: members.iter().map(|task| sizes(task).1).collect(),
        },
        5 => {
            let blocks: Vec<u64> = members.iter().map(|task| sizes(task).0).collect();
            match blocks.iter().all(|&block| block == sent) {
                true => Collective::AllGather { bytes: sent },
                false => Collective::AllGatherV {
                    blocks: blocks.into(),
                },
            }
        }
        6 => Collective::Barrier,
        // The total is split evenly: the file does not tell the parts.
        _ => {
            let size = members.len();
            let sent_to = |(sent, flag): (u64, u64), place: usize| match flag {
                0 => sent,
                _ => part(sent, size, place),
            };
            let mine = members.iter().position(|&task| task == me);
            let mine = mine.ok_or("not a member")?;
            let from = members.iter().map(|task| sent_to(sizes(task), mine));
            let to = (0..size).map(|place| sent_to((sent, received), place));
            Collective::AllToAllV {
                to: to.collect(),
                from: from.collect(),
            }
        }
    })
}
