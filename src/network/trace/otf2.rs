//! OTF2 archives of Score-P and others, as `otf2-print` of the OTF2 library shows them:
//!
//! ```text
//! ENTER          0  7397467382750926  Region: "MPI_Send" <193>
//! MPI_SEND       0  7397467382760060  Receiver: 1 ("Master thread" <1>), Communicator: "MPI_COMM_WORLD" <1>, Tag: 10, Length: 16384
//! LEAVE          0  7397467382788022  Region: "MPI_Send" <193>
//! ```
//! Computing is the time outside of regions called `MPI_`, without that in which the measurement
//! writes its buffer to disk or is turned off. What a region has sent and received without a
//! request is complete when it ends. Sizes of collectives are those that Score-P counts: of a
//! broadcast what each receives, of a reduce what each sends, of all-reduce, all-gather and
//! all-to-all as many times the buffer as there are members, or one time less in place
//! (`MPI_IN_PLACE`).

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use nix::sys::signal::Signal;

use super::collectives::{split, Collective};
use super::mpi::{Comm, Rank, Tags, MAX_RANKS};
use super::{Builder, Format, Program, TraceError};
use crate::tools;

/// The files of an archive: its anchor file, the global definitions, and all in the folder with
/// the definitions and events of each location.
pub(super) fn files(path: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let mut files = vec![path.to_owned()];
    let definitions = path.with_extension("def");
    if definitions.is_file() {
        files.push(definitions);
    }
    let locations = path.with_extension("");
    if locations.is_dir() {
        files.extend(super::files_in(&locations)?);
    }
    Ok(files)
}

/// The tool of the OTF2 library that shows an archive.
const TOOL: &str = "otf2-print";

/// A line of the tool's output, from 1, and what is wrong there.
type Problem = (u64, String);

fn problem<T>(line: u64, text: impl Into<String>) -> Result<T, Problem> {
    Err((line, text.into()))
}

/// Reads the archive whose anchor file is `path`.
///
/// # Errors
/// As [`super::read`]; also where the tool is missing.
pub(super) fn read(path: &Path) -> Result<Program, TraceError> {
    let whole = |problem: String| TraceError::Whole {
        path: path.into(),
        problem,
    };
    std::fs::File::open(path).map_err(|source| super::read_failure(path, source))?;
    let definitions = shown(path, &["-G"], definitions).map_err(whole)?;
    let events = shown(path, &[], |lines| events(lines, &definitions)).map_err(whole)?;
    program(&definitions, &events).map_err(|problem| whole(at_line(&[], problem)))
}

fn at_line(options: &[&str], (line, problem): Problem) -> String {
    let command: String = options.iter().map(|option| format!(" {option}")).collect();
    format!("line {line} of `{TOOL}{command}` for it: {problem}")
}

/// What `reader` makes of the lines that the tool prints.
fn shown<T>(
    path: &Path,
    options: &[&str],
    reader: impl FnOnce(&mut dyn BufRead) -> Result<T, Problem>,
) -> Result<T, String> {
    let mut command = Command::new(TOOL);
    command
        .args(options)
        .arg("--")
        .arg(path)
        .env("LC_ALL", "C")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let (mut child, _running) = tools::start(&mut command).map_err(|error| {
        format!(
            "OTF2 is read with `{TOOL}`, which cannot be run ({error}): install it (Debian and \
             Ubuntu: `apt-get install otf2-tools`; sources: the OTF2 library of Score-P)"
        )
    })?;
    let (output, mut errors) = (child.stdout.take(), child.stderr.take());
    let errors = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(errors) = &mut errors {
            // What the tool says is a hint only.
            let _ = errors.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let mut output = BufReader::with_capacity(1 << 16, output.expect("is piped"));
    let read = reader(&mut output);
    // Where the reader has stopped early the tool finds its pipe closed, and ends.
    drop(output);
    let status = child.wait().map_err(|error| format!("{TOOL}: {error}"))?;
    let errors = errors.join().unwrap_or_default();
    match read {
        Ok(read) if status.success() => Ok(read),
        // What it says beside a fault of ours is a warning: it ends because nobody reads on.
        Err(fault)
            if status.success()
                || status.signal() == Some(Signal::SIGPIPE as i32)
                || errors.trim().is_empty() =>
        {
            Err(at_line(options, fault))
        }
        _ => {
            let first = errors.lines().find(|line| !line.trim().is_empty());
            Err(format!(
                "{TOOL} cannot read it ({status}): {}",
                first.unwrap_or("it does not say why").trim()
            ))
        }
    }
}

/// Calls `each` with the number, the first word and the rest of each line below the headline.
fn lines(
    input: &mut dyn BufRead,
    mut each: impl FnMut(u64, &str, &str) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut bytes = Vec::new();
    let mut number = 0;
    let mut began = false;
    loop {
        bytes.clear();
        let read = input.read_until(b'\n', &mut bytes);
        if read.map_err(|error| (number + 1, error.to_string()))? == 0 {
            break;
        }
        number += 1;
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end();
        if !began {
            began = line.starts_with("-----");
        } else if !line.is_empty() && !line.starts_with([' ', '=']) {
            // A line that begins with a blank continues the one before with attributes.
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            each(number, word, rest.trim_start())?;
        }
    }
    match began {
        true => Ok(()),
        false => problem(number, "the output ends before its headline"),
    }
}

/// The digits at the beginning.
fn leading(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text[..end.unwrap_or(text.len())].parse().ok()
}

/// The number behind the last `key`.
fn after(text: &str, key: &str) -> Option<u64> {
    leading(&text[text.rfind(key)? + key.len()..])
}

/// The number N of the last reference, `"name" <N>`.
fn reference(text: &str) -> Option<u64> {
    let text = text.trim_end().strip_suffix('>')?;
    text[text.rfind('<')? + 1..].parse().ok()
}

/// What stands between the last `end` and the last `begin` before it.
fn between<'t>(text: &'t str, begin: &str, end: &str) -> Option<&'t str> {
    let text = &text[..text.rfind(end)?];
    Some(&text[text.rfind(begin)? + begin.len()..])
}

/// The communicators and what else the archive defines.
#[derive(Debug, Default)]
struct Definitions {
    ticks_per_second: u64,
    /// The ranks, by location.
    ranks: HashMap<u64, u32>,
    /// The members, as ranks in the world; nothing for each rank alone.
    comms: HashMap<u64, Option<Vec<u32>>>,
}

fn definitions(input: &mut dyn BufRead) -> Result<Definitions, Problem> {
    let mut found = Definitions::default();
    let mut locations: Vec<u64> = Vec::new();
    // Communicators and the groups of MPI.
    let mut comms: Vec<(u64, u64, u64)> = Vec::new();
    let mut groups: HashMap<u64, Option<Vec<u64>>> = HashMap::new();
    let mut last = 0;
    lines(input, |line, name, rest| {
        last = line;
        let odd = || (line, format!("`{name}` is not as expected"));
        match name {
            "CLOCK_PROPERTIES" => {
                found.ticks_per_second = after(rest, "Ticks per Seconds: ").ok_or_else(odd)?;
            }
            "COMM" => {
                let id = leading(rest).ok_or_else(odd)?;
                let group = between(rest, ", Group: ", ", Parent: ").and_then(reference);
                comms.push((line, id, group.ok_or_else(odd)?));
            }
            "GROUP" => {
                let id = leading(rest).ok_or_else(odd)?;
                let (_, rest) = rest.split_once(", Type: ").ok_or_else(odd)?;
                let (kind, rest) = rest.split_once(", Paradigm: ").ok_or_else(odd)?;
                if !rest.trim_start_matches('"').starts_with("MPI") {
                    return Ok(());
                }
                let (_, rest) = rest.split_once(", Flags: ").ok_or_else(odd)?;
                let (_, rest) = rest.split_once(", ").ok_or_else(odd)?;
                let count = leading(rest).ok_or_else(odd)?;
                let list = rest.split_once("Members: ").map_or("", |(_, list)| list);
                match kind {
                    "COMM_LOCATIONS" => locations = members(list, count, false).ok_or_else(odd)?,
                    "COMM_GROUP" => {
                        let members = members(list, count, true).ok_or_else(odd)?;
                        groups.insert(id, Some(members));
                    }
                    "COMM_SELF" => {
                        groups.insert(id, None);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    if found.ticks_per_second == 0 {
        return problem(last, "no CLOCK_PROPERTIES with ticks per second");
    }
    if locations.is_empty() || locations.len() > MAX_RANKS as usize {
        return problem(
            last,
            format!(
                "{} locations of MPI (a GROUP of type COMM_LOCATIONS): there must be 1 to {MAX_RANKS}",
                locations.len()
            ),
        );
    }
    for (rank, &location) in locations.iter().enumerate() {
        if found.ranks.insert(location, rank as u32).is_some() {
            return problem(last, format!("location {location} is two ranks"));
        }
    }
    for (line, id, group) in comms {
        let members = match groups.get(&group) {
            // Of another paradigm.
            None => continue,
            Some(None) => None,
            Some(Some(members)) => {
                let exists = |&member: &u64| member < locations.len() as u64;
                if members.is_empty() || !members.iter().all(exists) {
                    return problem(
                        line,
                        format!("its group {group} has ranks that do not exist"),
                    );
                }
                Some(members.iter().map(|&member| member as u32).collect())
            }
        };
        found.comms.insert(id, members);
    }
    Ok(found)
}

/// The numbers in a list of `3 ("name" <5>)` (3, as `ranks`) or `"name" <5>` (5).
fn members(list: &str, count: u64, ranks: bool) -> Option<Vec<u64>> {
    let mut members = Vec::new();
    let mut rest = list;
    for place in 0..count {
        if place > 0 {
            rest = rest.strip_prefix(", ")?;
        }
        let rank = leading(rest);
        let begin = rest.find("\" <")? + 3;
        let location = leading(&rest[begin..]);
        members.push(if ranks { rank? } else { location? });
        let end = begin + rest[begin..].find('>')? + 1;
        rest = &rest[end..];
        if ranks {
            rest = rest.strip_prefix(')')?;
        }
    }
    rest.is_empty().then_some(members)
}

/// A message as one side sees it; the partner is a place in the communicator.
#[derive(Clone, Copy, Debug)]
struct Envelope {
    partner: u64,
    comm: u64,
    tag: u64,
    bytes: u64,
}

#[derive(Clone, Debug)]
struct Contribution {
    operation: String,
    comm: u64,
    /// A place in the communicator.
    root: Option<u64>,
    sent: u64,
    received: u64,
}

#[derive(Clone, Debug)]
enum What {
    Enter,
    Leave,
    Send(Envelope),
    Recv(Envelope),
    Isend(Envelope, u64),
    Posted(u64),
    Received(Envelope, u64),
    Sent(u64),
    Collective(Contribution),
    /// From here to this time the measurement writes its buffer to disk.
    Flush(u64),
    /// The measurement is on, or off, from here on.
    Measures(bool),
    /// Begin or end of the program: nothing but a time.
    Time,
}

#[derive(Clone, Debug)]
struct Event {
    line: u64,
    ticks: u64,
    what: What,
}

/// The events of all ranks.
#[derive(Debug)]
struct Events {
    ranks: Vec<Vec<Event>>,
    left_out: BTreeMap<String, u64>,
}

fn events(input: &mut dyn BufRead, definitions: &Definitions) -> Result<Events, Problem> {
    let mut found = Events {
        ranks: vec![Vec::new(); definitions.ranks.len()],
        left_out: BTreeMap::new(),
    };
    lines(input, |line, name, rest| {
        let odd = || (line, format!("`{name}` is not as expected"));
        let mut words = rest.splitn(2, ' ');
        let location = words.next().and_then(leading).ok_or_else(odd)?;
        let rest = words.next().unwrap_or("").trim_start();
        let ticks = leading(rest).ok_or_else(odd)?;
        let rest = rest
            .split_once(' ')
            .map_or("", |(_, rest)| rest.trim_start());
        let Some(&rank) = definitions.ranks.get(&location) else {
            let what = "events of locations that are no ranks".to_owned();
            *found.left_out.entry(what).or_default() += 1;
            return Ok(());
        };
        let envelope = |partner: &str| {
            Some(Envelope {
                partner: leading(rest.strip_prefix(partner)?)?,
                comm: between(rest, ", Communicator: ", ", Tag: ").and_then(reference)?,
                tag: after(rest, ", Tag: ")?,
                bytes: after(rest, ", Length: ")?,
            })
        };
        let request = || after(rest, "Request: ").ok_or_else(odd);
        let of_mpi = rest.starts_with("Region: \"MPI_");
        let what = match name {
            "ENTER" if of_mpi => What::Enter,
            "LEAVE" if of_mpi => What::Leave,
            "PROGRAM_BEGIN" | "PROGRAM_END" | "THREAD_BEGIN" | "THREAD_END" => What::Time,
            "BUFFER_FLUSH" => What::Flush(after(rest, "Stop Time: ").ok_or_else(odd)?),
            "MEASUREMENT_ON_OFF" => match rest.split_whitespace().last() {
                Some("ON") => What::Measures(true),
                Some("OFF") => What::Measures(false),
                _ => return Err(odd()),
            },
            "MPI_SEND" => What::Send(envelope("Receiver: ").ok_or_else(odd)?),
            "MPI_RECV" => What::Recv(envelope("Sender: ").ok_or_else(odd)?),
            "MPI_ISEND" => What::Isend(envelope("Receiver: ").ok_or_else(odd)?, request()?),
            "MPI_IRECV_REQUEST" => What::Posted(request()?),
            "MPI_IRECV" => What::Received(envelope("Sender: ").ok_or_else(odd)?, request()?),
            "MPI_ISEND_COMPLETE" => What::Sent(request()?),
            "MPI_COLLECTIVE_END" => {
                let part = || {
                    let (operation, _) = rest.strip_prefix("Operation: ")?.split_once(',')?;
                    Some(Contribution {
                        operation: operation.into(),
                        comm: between(rest, ", Communicator: ", ", Root: ").and_then(reference)?,
                        root: after(rest, ", Root: "),
                        sent: after(rest, ", Sent: ")?,
                        received: after(rest, ", Received: ")?,
                    })
                };
                What::Collective(part().ok_or_else(odd)?)
            }
            // They tell nothing that others do not.
            "ENTER" | "LEAVE" | "MPI_COLLECTIVE_BEGIN" | "MPI_REQUEST_TEST" => return Ok(()),
            _ if name.starts_with("RMA_") || name.starts_with("NON_BLOCKING_COLLECTIVE_") => {
                return problem(
                    line,
                    format!(
                        "{name}: messages of one-sided and of non-blocking collective calls are \
                         not read; record the program without them"
                    ),
                )
            }
            _ => {
                *found.left_out.entry(format!("{name} events")).or_default() += 1;
                return Ok(());
            }
        };
        let events = &mut found.ranks[rank as usize];
        if events.last().is_some_and(|last| last.ticks > ticks) {
            return problem(line, format!("time goes backwards at location {location}"));
        }
        events.push(Event { line, ticks, what });
        Ok(())
    })?;
    Ok(found)
}

/// The collectives of each communicator by member, with their lines.
type Collectives<'e> = HashMap<u64, HashMap<u32, Vec<(u64, &'e Contribution)>>>;

fn program(definitions: &Definitions, events: &Events) -> Result<Program, Problem> {
    let mut collectives = Collectives::new();
    for (rank, events) in events.ranks.iter().enumerate() {
        for event in events {
            if let What::Collective(part) = &event.what {
                let by_rank = collectives.entry(part.comm).or_default();
                let parts = by_rank.entry(rank as u32).or_default();
                parts.push((event.line, part));
            }
        }
    }
    let mut builder = Builder::new(Format::Otf2);
    let mut tags = Tags::default();
    let mut left_out = events.left_out.clone();
    let mut agreed = HashMap::new();
    for (me, events) in events.ranks.iter().enumerate() {
        let mut writer = Writer {
            definitions,
            collectives: &collectives,
            me: me as u32,
            comms: HashMap::new(),
            done: HashMap::new(),
            agreed: &mut agreed,
            requests: HashMap::new(),
            open: 0,
            left: events.first().map_or(0, |event| event.ticks),
            measures: true,
            blocking: Vec::new(),
            rank: Rank::new(&mut builder),
            tags: &mut tags,
            left_out: &mut left_out,
        };
        let receives = writer.receives(events)?;
        for (place, event) in events.iter().enumerate() {
            writer
                .event(event, receives.get(&place).copied())
                .map_err(|problem| (event.line, problem))?;
        }
        let last = events.last().map_or(0, |event| event.line);
        if let Some(end) = events.last() {
            writer.pass(end.ticks);
        }
        writer.rank.end().map_err(|problem| (last, problem))?;
    }
    for (what, count) in left_out {
        builder.left_out(&what, count);
    }
    Ok(builder.program)
}

/// What [`read`] makes of these outputs of the tool.
///
/// # Errors
/// As [`super::of_otf2_print`].
pub(super) fn from_output(shown_definitions: &str, shown_events: &str) -> Result<Program, String> {
    let text = |(line, problem)| format!("{line}: {problem}");
    let definitions = definitions(&mut shown_definitions.as_bytes()).map_err(text)?;
    let events = events(&mut shown_events.as_bytes(), &definitions).map_err(text)?;
    program(&definitions, &events).map_err(text)
}

struct Writer<'a> {
    definitions: &'a Definitions,
    collectives: &'a Collectives<'a>,
    me: u32,
    comms: HashMap<u64, Comm>,
    /// How many collectives of each communicator are behind.
    done: HashMap<u64, usize>,
    /// Collectives that a rank before has met, by communicator and place.
    agreed: &'a mut HashMap<(u64, usize), Rc<Agreed>>,
    /// The operations of the requests under way; none of a receive that never completes.
    requests: HashMap<u64, Option<u32>>,
    /// How many regions of MPI are open.
    open: u32,
    /// When the last one ended, in ticks, or something else that is no computing.
    left: u64,
    /// The measurement is on.
    measures: bool,
    /// Messages of the open region that have no request, and whether they are received.
    blocking: Vec<(bool, Envelope)>,
    rank: Rank<&'a mut Builder>,
    tags: &'a mut Tags,
    left_out: &'a mut BTreeMap<String, u64>,
}

impl Writer<'_> {
    /// What each posted receive will have received, by the place of its posting.
    fn receives(&mut self, events: &[Event]) -> Result<HashMap<usize, Envelope>, Problem> {
        let mut posted = HashMap::new();
        let mut receives = HashMap::new();
        for (place, event) in events.iter().enumerate() {
            match event.what {
                What::Posted(request) => {
                    posted.insert(request, place);
                }
                What::Received(envelope, request) => match posted.remove(&request) {
                    Some(place) => {
                        receives.insert(place, envelope);
                    }
                    None => {
                        return problem(event.line, format!("request {request} was not posted"))
                    }
                },
                _ => {}
            }
        }
        if !posted.is_empty() {
            let what = "receives that were cancelled or never complete".to_owned();
            *self.left_out.entry(what).or_default() += posted.len() as u64;
        }
        Ok(receives)
    }

    /// One of these is not in the program as it was.
    fn leave_out(&mut self, what: &str) {
        *self.left_out.entry(what.into()).or_default() += 1;
    }

    /// Computes until `ticks`, unless a region of MPI is open or nothing is measured.
    fn pass(&mut self, ticks: u64) {
        if !self.measures {
            self.left = ticks;
        } else if self.open == 0 {
            let passed = u128::from(ticks.saturating_sub(self.left)) * 1_000_000_000;
            let ns = passed / u128::from(self.definitions.ticks_per_second);
            self.rank.compute(u64::try_from(ns).unwrap_or(u64::MAX));
            self.left = self.left.max(ticks);
        }
    }

    fn event(&mut self, event: &Event, receives: Option<Envelope>) -> Result<(), String> {
        self.pass(event.ticks);
        match &event.what {
            What::Enter => self.open += 1,
            What::Leave => {
                self.open = self
                    .open
                    .checked_sub(1)
                    .ok_or("a region is left that was not entered")?;
                self.left = event.ticks;
            }
            &What::Send(envelope) => self.blocking.push((false, envelope)),
            &What::Recv(envelope) => self.blocking.push((true, envelope)),
            &What::Isend(envelope, request) => {
                let op = self.post(false, envelope)?;
                self.requests.insert(request, Some(op));
            }
            &What::Posted(request) => {
                let op = receives.map(|envelope| self.post(true, envelope));
                self.requests.insert(request, op.transpose()?);
            }
            &What::Received(_, request) | &What::Sent(request) => {
                match self.requests.remove(&request) {
                    Some(Some(op)) => self.rank.complete(op)?,
                    _ => return Err(format!("request {request} is not under way")),
                }
            }
            What::Collective(part) => self.collective(part)?,
            &What::Flush(end) => {
                self.left = self.left.max(end);
                self.leave_out("times in which the measurement wrote its buffer to disk");
            }
            &What::Measures(on) => {
                self.measures = on;
                if !on {
                    self.leave_out(
                        "times in which the measurement was off: what was sent then is missing",
                    );
                }
            }
            What::Time => {}
        }
        if self.open == 0 {
            self.complete()?;
        }
        Ok(())
    }

    /// Posts the messages without requests, receives first, and waits for them.
    fn complete(&mut self) -> Result<(), String> {
        let mut messages = std::mem::take(&mut self.blocking);
        messages.sort_by_key(|&(receives, _)| !receives);
        let mut posted = Vec::with_capacity(messages.len());
        for (receives, envelope) in messages {
            posted.push(self.post(receives, envelope)?);
        }
        posted.into_iter().for_each(|op| self.rank.wait(op));
        Ok(())
    }

    fn post(&mut self, receives: bool, envelope: Envelope) -> Result<u32, String> {
        let comm = self.comm(envelope.comm)?;
        let place = usize::try_from(envelope.partner).ok();
        let partner = place.and_then(|place| comm.members.get(place).copied());
        let Some(partner) = partner else {
            return Err(format!(
                "rank {} of communicator {}, which has {}",
                envelope.partner,
                envelope.comm,
                comm.members.len()
            ));
        };
        let number = comm.number;
        let tag = i32::try_from(envelope.tag);
        let tag = tag.map_err(|_| format!("tag {} is too large", envelope.tag))?;
        let tag = self.tags.message(number, tag as u32);
        match receives {
            true => self.rank.irecv(partner, envelope.bytes, tag),
            false => self.rank.isend(partner, envelope.bytes, tag),
        }
    }

    fn comm(&mut self, id: u64) -> Result<&mut Comm, String> {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.comms.entry(id) {
            let Some(members) = self.definitions.comms.get(&id) else {
                return Err(format!("communicator {id} of MPI is not defined"));
            };
            let members = members.clone().unwrap_or_else(|| vec![self.me]);
            let number =
                u32::try_from(id).map_err(|_| format!("communicator {id} is too large"))?;
            let comm = Comm::new(number, members, self.me);
            entry.insert(
                comm.ok_or_else(|| {
                    format!("rank {} is not a member of communicator {id}", self.me)
                })?,
            );
        }
        Ok(self.comms.get_mut(&id).expect("was inserted"))
    }

    fn collective(&mut self, part: &Contribution) -> Result<(), String> {
        let members = self.comm(part.comm)?.members.clone();
        let done = self.done.entry(part.comm).or_default();
        let place = *done;
        *done += 1;
        if members.len() == 1 {
            return Ok(());
        }
        let agreed = match self.agreed.get(&(part.comm, place)) {
            Some(agreed) => agreed.clone(),
            None => {
                let agreed = Rc::new(self.agree(part, &members, place)?);
                self.agreed.insert((part.comm, place), agreed.clone());
                agreed
            }
        };
        let comm = self.comms.get_mut(&part.comm).expect("was looked up");
        match collective(part, &agreed, comm.me)? {
            Some(collective) => {
                collective.expand(comm, self.tags, &mut self.rank)?;
                if let Some(guess) = agreed.guess {
                    self.leave_out(guess);
                }
            }
            None => self.leave_out("creations of communicators, windows and files"),
        }
        Ok(())
    }

    /// What all `members` do in the collective at this place of their communicator, of which one does
    /// `part`.
    fn agree(&self, part: &Contribution, members: &[u32], place: usize) -> Result<Agreed, String> {
        let parts = &self.collectives[&part.comm];
        let parts = members.iter().map(|member| {
            let own = parts.get(member).and_then(|parts| parts.get(place));
            let &(line, own) = own.ok_or_else(|| {
                format!(
                    "rank {member} takes no part in this, collective {place} of its communicator"
                )
            })?;
            match (&own.operation, own.root) == (&part.operation, part.root) {
                true => Ok((own.sent, own.received)),
                false => Err(format!(
                    "this, collective {place} of its communicator, is {}, but rank {member} has {} \
                     (line {line})",
                    part.operation, own.operation
                )),
            }
        });
        Agreed::new(&part.operation, parts.collect::<Result<_, String>>()?)
    }
}

/// A collective in which all members agree.
struct Agreed {
    /// What each sends and receives.
    parts: Vec<(u64, u64)>,
    /// The most that one of them does.
    most: (u64, u64),
    /// How often a buffer is counted that Score-P counts for each member.
    copies: u64,
    /// What of it the archive does not tell.
    guess: Option<&'static str>,
}

impl Agreed {
    fn new(operation: &str, parts: Vec<(u64, u64)>) -> Result<Agreed, String> {
        let most = parts.iter().fold((0, 0), |most, part| {
            (most.0.max(part.0), most.1.max(part.1))
        });
        let mut agreed = Agreed {
            parts,
            most,
            copies: 1,
            guess: None,
        };
        match operation {
            "ALLREDUCE" | "ALLGATHER" | "ALLGATHERV" | "ALLTOALL" => {
                agreed.count_copies(operation, |&(sent, _)| sent)?;
            }
            "REDUCE_SCATTER" | "REDUCE_SCATTER_BLOCK" => {
                agreed.count_copies(operation, |&(_, received)| received)?;
            }
            "ALLTOALLV" | "ALLTOALLW" => {
                agreed.guess = Some("all-to-alls split evenly: their parts are not told");
            }
            _ => {}
        }
        Ok(agreed)
    }

    /// Finds out how often the buffer is in these `bytes`: once for each member, or once less in place.
    fn count_copies(
        &mut self,
        operation: &str,
        bytes: impl Fn(&(u64, u64)) -> u64,
    ) -> Result<(), String> {
        let members = self.parts.len() as u64;
        // A member alone has no collective.
        let others = (members - 1).max(1);
        let odd = |copies: u64| {
            let mut all = self.parts.iter().map(&bytes);
            all.find(|bytes| bytes % copies != 0)
        };
        self.copies = match (odd(members), odd(others)) {
            (None, _) => members,
            (_, None) => others,
            (Some(bytes), Some(_)) => {
                return Err(format!(
                    "{operation} of {bytes} bytes in a communicator of {members}: Score-P counts \
                     the buffer once for each member, or for each other one in place (MPI_IN_PLACE)"
                ))
            }
        };
        let none = self.parts.iter().all(|part| bytes(part) == 0);
        if self.copies == members && odd(others).is_none() && !none {
            self.guess = Some(
                "collectives that may have been in place (MPI_IN_PLACE), and larger by one part in \
                 so many as there are other members",
            );
        }
        Ok(())
    }
}

/// The collective in which the members send and receive so much, as member `me` has it;
/// nothing where there are no messages of users.
fn collective(
    part: &Contribution,
    agreed: &Agreed,
    me: usize,
) -> Result<Option<Collective>, String> {
    let parts = &agreed.parts;
    let name = part.operation.as_str();
    let root = || {
        let root = part.root.and_then(|root| usize::try_from(root).ok());
        root.ok_or_else(|| format!("{name} without a root"))
    };
    let buffer = |bytes: u64| bytes / agreed.copies;
    let sent = || parts.iter().map(|&(sent, _)| sent);
    let received = || parts.iter().map(|&(_, received)| received);
    Ok(Some(match name {
        "BARRIER" => Collective::Barrier,
        "BCAST" => Collective::Broadcast {
            root: root()?,
            bytes: agreed.most.1,
        },
        "REDUCE" => Collective::Reduce {
            root: root()?,
            bytes: agreed.most.0,
        },
        "GATHER" | "GATHERV" => Collective::Gather {
            root: root()?,
            blocks: sent().collect(),
        },
        "SCATTER" | "SCATTERV" => Collective::Scatter {
            root: root()?,
            blocks: received().collect(),
        },
        "ALLREDUCE" => Collective::AllReduce {
            bytes: buffer(part.sent),
            element: 1,
        },
        "ALLGATHER" | "ALLGATHERV" => {
            let blocks: Vec<u64> = sent().map(buffer).collect();
            match blocks.iter().all(|block| *block == blocks[0]) {
                true => Collective::AllGather { bytes: blocks[0] },
                false => Collective::AllGatherV {
                    blocks: blocks.into(),
                },
            }
        }
        "ALLTOALL" => Collective::AllToAll {
            bytes: buffer(part.sent),
        },
        "ALLTOALLV" | "ALLTOALLW" => Collective::AllToAllV {
            to: split(part.sent, parts.len()),
            from: sent().map(|sent| split(sent, parts.len())[me]).collect(),
        },
        "REDUCE_SCATTER" | "REDUCE_SCATTER_BLOCK" => {
            let blocks: Vec<u64> = received().map(buffer).collect();
            let whole = blocks
                .iter()
                .fold(0u64, |sum, &block| sum.saturating_add(block));
            if whole != part.sent {
                return Err(format!(
                    "{name} that sends {} bytes: the parts that the members receive must add up \
                     to it",
                    part.sent
                ));
            }
            Collective::ReduceScatter {
                blocks: blocks.into(),
            }
        }
        "CREATE_HANDLE"
        | "DESTROY_HANDLE"
        | "ALLOCATE"
        | "DEALLOCATE"
        | "CREATE_HANDLE_AND_ALLOCATE"
        | "DESTROY_HANDLE_AND_DEALLOCATE" => return Ok(None),
        _ => {
            return Err(format!(
                "{name} is no collective that this reader knows: the sizes of its messages are not \
                 told"
            ))
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Score-P's sources (`scorep_mpi_coll_bytes_*`): all-reduce sends the buffer to each member, and in
    /// place to each other one.
    #[test]
    fn calls_in_place_have_their_whole_size() {
        let parts = |members: usize, bytes: u64| vec![(bytes, bytes); members];
        let copies = |members: usize, bytes: u64| {
            let agreed = Agreed::new("ALLREDUCE", parts(members, bytes)).unwrap();
            (agreed.copies, agreed.guess.is_some())
        };
        // 8 bytes among 4 and 3 members, not in place and in place.
        assert_eq!(copies(4, 32), (4, false));
        assert_eq!(copies(3, 24), (3, true));
        assert_eq!(copies(3, 16), (2, false));
        // 24 bytes are 6 for each of four, or 8 for each of the three others.
        assert_eq!(copies(4, 24), (4, true));
        assert_eq!(copies(2, 15), (1, false));
        assert_eq!(copies(4, 0), (4, false));
        let mut uneven = parts(4, 32);
        uneven[2].0 = 33;
        for (parts, bytes) in [(parts(4, 22), 22), (uneven, 33)] {
            let found = Agreed::new("ALLGATHERV", parts).err().unwrap();
            let begins =
                format!("ALLGATHERV of {bytes} bytes in a communicator of 4: Score-P counts");
            assert!(
                found.starts_with(&begins) && found.contains("MPI_IN_PLACE"),
                "{found}"
            );
        }
    }
}
