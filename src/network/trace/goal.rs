//! GOAL text: the grammar of LogGOPSim's `txt2bin`, read strictly.
//!
//! ```text
//! file  = "num_ranks" INT { "rank" INT "{" { statement } "}" }
//! statement = [ label ":" ] operation EOL | label ("requires" | "irequires") label EOL
//! operation = "send" INT "b" "to" INT   ["tag" INT] ["cpu" INT] ["nic" INT]
//!           | "recv" INT "b" "from" INT ["tag" INT] ["cpu" INT] ["nic" INT]
//!           | "calc" INT ["cpu" INT]
//! ```
//! `calc` counts nanoseconds. `recv` takes `-1` for any source and any tag. Comments
//! (`//` and `/* */`) stand where a statement could start. Where `txt2bin` lets things
//! pass that are mistakes (a label defined twice, a message of 0 bytes), this reader
//! does not.

use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::path::Path;

use foldhash::fast::RandomState;

use super::{Builder, Cycle, Format, Op, OpKind, Program, TooLarge, TraceError, ANY, ANY_OF_USERS};

/// A statement takes some 100 characters; a file of another kind may have no line ends.
const LONGEST_LINE: u64 = 1 << 16;

/// What is wrong, and at which byte of the line.
struct Problem {
    at: usize,
    text: String,
}

fn problem<T>(at: usize, text: impl Into<String>) -> Result<T, Problem> {
    Err(Problem {
        at,
        text: text.into(),
    })
}

impl From<(usize, TooLarge)> for Problem {
    fn from((at, TooLarge): (usize, TooLarge)) -> Self {
        Self {
            at,
            text: "more than 2147483648 operations or 4294967295 dependencies: too large".into(),
        }
    }
}

/// Reads GOAL text.
///
/// # Errors
/// Names line and column of the first thing that the grammar does not allow.
pub fn parse(path: &Path, mut input: impl BufRead) -> Result<Program, TraceError> {
    let mut reader = Reader::new();
    let mut line = Vec::new();
    let mut number = 0;
    let at = |line: u64, column: usize, problem: String| TraceError::Text {
        path: path.into(),
        line,
        column,
        problem,
    };
    loop {
        line.clear();
        let read = input
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
            .map_err(|source| super::read_failure(path, source))?;
        if read == 0 {
            break;
        }
        number += 1;
        let text = match std::str::from_utf8(&line) {
            Ok(text) => text,
            Err(error) => {
                let good = String::from_utf8_lossy(&line[..error.valid_up_to()]);
                return Err(at(
                    number,
                    good.chars().count() + 1,
                    "not UTF-8: the file is damaged, or not GOAL text".into(),
                ));
            }
        };
        if read as u64 == LONGEST_LINE && !text.ends_with('\n') {
            return Err(at(
                number,
                1,
                format!("the line is longer than {LONGEST_LINE} bytes: this is not GOAL text"),
            ));
        }
        let cut = if text.ends_with('\n') {
            ""
        } else {
            " (the file ends with this line, without a line end: it may be truncated)"
        };
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        reader.number = number;
        reader
            .line(text)
            .map_err(|p| at(number, text[..p.at].chars().count() + 1, p.text + cut))?;
        if let Some((line, text)) = reader.cycle.take() {
            return Err(at(line, 1, text));
        }
    }
    reader.end().map_err(|text| at(number.max(1), 1, text))
}

enum Place {
    /// Before `num_ranks`.
    Start,
    /// Between two ranks.
    Outside,
    /// Inside a rank.
    Inside,
}

struct Reader {
    builder: Builder,
    place: Place,
    ranks: u32,
    /// Ranks that are complete.
    done: u32,
    /// Line under way, from 1.
    number: u64,
    /// Line on which the rank under way, or the open block comment, begins.
    rank_line: u64,
    comment: Option<u64>,
    labels: HashMap<String, u32, RandomState>,
    /// Line of each operation of the rank under way.
    lines: Vec<u64>,
    /// Set when a complete rank turned out to have a cycle: line and text.
    cycle: Option<(u64, String)>,
}

impl Reader {
    fn new() -> Self {
        Self {
            builder: Builder::new(Format::GoalText),
            place: Place::Start,
            ranks: 0,
            done: 0,
            number: 0,
            rank_line: 0,
            comment: None,
            labels: HashMap::default(),
            lines: Vec::new(),
            cycle: None,
        }
    }

    fn line(&mut self, text: &str) -> Result<(), Problem> {
        let mut cursor = Cursor { text, at: 0 };
        loop {
            if self.comment.is_some() {
                match cursor.rest().find("*/") {
                    Some(end) => {
                        cursor.at += end + 2;
                        self.comment = None;
                    }
                    None => return Ok(()),
                }
            }
            cursor.blanks();
            if cursor.rest().is_empty() || cursor.rest().starts_with("//") {
                return Ok(());
            }
            if cursor.take("/*") {
                self.comment = Some(self.number);
                continue;
            }
            match self.place {
                Place::Start => self.header(&mut cursor)?,
                Place::Outside => self.rank(&mut cursor)?,
                Place::Inside => self.statement(&mut cursor)?,
            }
            if self.cycle.is_some() {
                return Ok(());
            }
        }
    }

    fn header(&mut self, cursor: &mut Cursor) -> Result<(), Problem> {
        let at = cursor.at;
        if cursor.word() != "num_ranks" {
            return problem(
                at,
                format!(
                    "expected `num_ranks N`, found {}: a GOAL trace begins with its number of ranks",
                    cursor.found_from(at)
                ),
            );
        }
        cursor.blanks();
        let at = cursor.at;
        let ranks = cursor.number("the number of ranks", u64::from(ANY) - 1)?;
        if ranks == 0 {
            return problem(at, "`num_ranks 0`: a program has at least 1 rank");
        }
        self.ranks = ranks as u32;
        self.place = Place::Outside;
        Ok(())
    }

    fn rank(&mut self, cursor: &mut Cursor) -> Result<(), Problem> {
        let at = cursor.at;
        let word = cursor.word();
        if self.done == self.ranks {
            return problem(
                at,
                format!(
                    "found {} after the last rank: `num_ranks {}` announces ranks 0 to {}; \
                     nothing may follow them",
                    cursor.found_from(at),
                    self.ranks,
                    self.ranks - 1
                ),
            );
        }
        if word != "rank" {
            return problem(
                at,
                format!(
                    "expected `rank {} {{`, found {}",
                    self.done,
                    cursor.found_from(at)
                ),
            );
        }
        cursor.blanks();
        let at = cursor.at;
        let rank = cursor.number("the number of the rank", u64::from(ANY) - 1)?;
        if rank >= u64::from(self.ranks) {
            return problem(at, self.no_such_rank(rank));
        }
        if rank != u64::from(self.done) {
            return problem(
                at,
                format!(
                    "rank {rank} where rank {} is due: ranks come in order 0 to {}, none missing, \
                     none twice",
                    self.done,
                    self.ranks - 1
                ),
            );
        }
        cursor.blanks();
        if !cursor.take("{") {
            return problem(
                cursor.at,
                format!(
                    "expected `{{` after `rank {rank}`, found {}",
                    cursor.found()
                ),
            );
        }
        self.rank_line = self.number;
        self.place = Place::Inside;
        Ok(())
    }

    fn no_such_rank(&self, rank: u64) -> String {
        format!(
            "rank {rank} does not exist: `num_ranks {}` announces ranks 0 to {}",
            self.ranks,
            self.ranks - 1
        )
    }

    fn statement(&mut self, cursor: &mut Cursor) -> Result<(), Problem> {
        if cursor.take("}") {
            return self.end_rank();
        }
        let start = cursor.at;
        let word = cursor.word();
        if word.is_empty() {
            return problem(
                start,
                format!(
                    "expected an operation (`send`, `recv`, `calc`), a label or `}}`, found {}",
                    cursor.found()
                ),
            );
        }
        cursor.blanks();
        if cursor.take(":") {
            if let Some(&first) = self.labels.get(word) {
                return problem(
                    start,
                    format!(
                        "label `{word}` is defined twice in rank {}; first on line {}",
                        self.done, self.lines[first as usize]
                    ),
                );
            }
            cursor.blanks();
            let op = self.operation(cursor)?;
            self.labels.insert(word.to_owned(), op);
            return Ok(());
        }
        if matches!(word, "send" | "recv" | "calc") {
            cursor.at = start;
            self.operation(cursor)?;
            return Ok(());
        }
        if word == "rank" && cursor.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return problem(
                start,
                format!(
                    "a rank begins inside rank {} of line {}: the `}}` of that rank is missing",
                    self.done, self.rank_line
                ),
            );
        }
        let at = cursor.at;
        let on_start = match cursor.word() {
            "requires" => false,
            "irequires" => true,
            "" if !self.labels.contains_key(word) => {
                return problem(
                    start,
                    format!(
                        "`{word}` is neither an operation (`send`, `recv`, `calc`) nor a label \
                         defined above"
                    ),
                )
            }
            _ => {
                return problem(
                    at,
                    format!(
                        "expected `requires` or `irequires` after `{word}`, found {} (an \
                         operation is `send`, `recv` or `calc`, with a `:` after its label)",
                        cursor.found_from(at)
                    ),
                )
            }
        };
        let waits = self.label(word, start)?;
        cursor.blanks();
        let at = cursor.at;
        let other = cursor.word();
        if other.is_empty() {
            return problem(at, format!("expected a label, found {}", cursor.found()));
        }
        let for_op = self.label(other, at)?;
        if waits == for_op {
            return problem(
                start,
                format!("`{word}` waits for itself: a cyclic dependency, it could never start"),
            );
        }
        cursor.end_of_line("a dependency")?;
        self.builder
            .dependency(waits, for_op, on_start)
            .map_err(|error| Problem::from((start, error)))
    }

    fn label(&self, label: &str, at: usize) -> Result<u32, Problem> {
        match self.labels.get(label) {
            Some(&op) => Ok(op),
            None => problem(
                at,
                format!(
                    "label `{label}` is not defined above in rank {}; labels are local to a rank",
                    self.done
                ),
            ),
        }
    }

    fn operation(&mut self, cursor: &mut Cursor) -> Result<u32, Problem> {
        let start = cursor.at;
        let kind = match cursor.word() {
            "send" => OpKind::Send,
            "recv" => OpKind::Recv,
            "calc" => OpKind::Calc,
            _ => {
                return problem(
                    start,
                    format!(
                        "expected `send`, `recv` or `calc`, found {}",
                        cursor.found_from(start)
                    ),
                )
            }
        };
        let mut op = Op {
            size: 0,
            peer: 0,
            tag: 0,
            kind,
            cpu: 0,
            nic: 0,
        };
        cursor.blanks();
        let at = cursor.at;
        if kind == OpKind::Calc {
            op.size = cursor.number("a calc's time in nanoseconds", u64::MAX)?;
            cursor.no_time_unit(at, op.size)?;
        } else {
            op.size = cursor.number("a size in bytes", u64::MAX)?;
            cursor.byte_unit(at, op.size)?;
            if op.size == 0 {
                return problem(
                    at,
                    "a message of 0 bytes: a message has at least 1 byte (write `1b` for an \
                     empty one)",
                );
            }
            cursor.blanks();
            let at = cursor.at;
            let preposition = if kind == OpKind::Send { "to" } else { "from" };
            if cursor.word() != preposition {
                return problem(
                    at,
                    format!(
                        "expected `{preposition}` and a rank, found {}",
                        cursor.found_from(at)
                    ),
                );
            }
            cursor.blanks();
            let at = cursor.at;
            if kind == OpKind::Recv && cursor.take("-1") {
                op.peer = ANY;
            } else {
                let peer = cursor.number("a rank", u64::from(ANY) - 1)?;
                if peer >= u64::from(self.ranks) {
                    return problem(at, self.no_such_rank(peer));
                }
                op.peer = peer as u32;
            }
        }
        self.options(cursor, &mut op)?;
        let number = self
            .builder
            .op(op)
            .map_err(|error| Problem::from((start, error)))?;
        self.lines.push(self.number);
        Ok(number)
    }

    /// `tag`, `cpu`, `nic`: each at most once, in this order; a calc has `cpu` only.
    fn options(&self, cursor: &mut Cursor, op: &mut Op) -> Result<(), Problem> {
        const ORDER: [&str; 3] = ["tag", "cpu", "nic"];
        let mut next = 0;
        loop {
            cursor.blanks();
            let at = cursor.at;
            if cursor.rest().is_empty() {
                return Ok(());
            }
            let word = cursor.word();
            let Some(place) = ORDER.iter().position(|&name| name == word) else {
                cursor.at = at;
                return cursor.end_of_line("an operation");
            };
            if op.kind == OpKind::Calc && word != "cpu" {
                return problem(at, format!("a calc has no `{word}`; it takes only `cpu`"));
            }
            if place < next {
                return problem(
                    at,
                    format!("`{word}` is out of place: each at most once, in the order `tag`, `cpu`, `nic`"),
                );
            }
            next = place + 1;
            cursor.blanks();
            match word {
                "tag" if op.kind == OpKind::Recv && cursor.take("-1") => op.tag = ANY,
                "tag" => {
                    let at = cursor.at;
                    op.tag = cursor.number("a tag", u64::from(ANY) - 1)? as u32;
                    if op.tag == ANY_OF_USERS {
                        return problem(
                            at,
                            format!("the tag {ANY_OF_USERS} means something else here: take another one"),
                        );
                    }
                }
                "cpu" => op.cpu = cursor.number("a CPU", 255)? as u8,
                _ => op.nic = cursor.number("a NIC", 255)? as u8,
            }
        }
    }

    fn end_rank(&mut self) -> Result<(), Problem> {
        if let Err(Cycle(cycle)) = self.builder.end_rank() {
            let names: HashMap<u32, &str> = self
                .labels
                .iter()
                .map(|(name, &op)| (op, name.as_str()))
                .collect();
            const SHOWN: usize = 8;
            let mut path: Vec<&str> = cycle
                .iter()
                .take(SHOWN)
                .map(|op| names.get(op).copied().unwrap_or("?"))
                .collect();
            if cycle.len() > SHOWN {
                path.push("...");
            }
            path.push(path[0]);
            self.cycle = Some((
                self.lines[cycle[0] as usize],
                format!(
                    "cyclic dependency of {} operations in rank {}, none of which could ever \
                     start: {} (each waits for the next)",
                    cycle.len(),
                    self.done,
                    path.join(" -> ")
                ),
            ));
        }
        self.labels.clear();
        self.lines.clear();
        self.done += 1;
        self.place = Place::Outside;
        Ok(())
    }

    fn end(self) -> Result<Program, String> {
        if let Some(line) = self.comment {
            return Err(format!(
                "the file ends inside the comment that begins on line {line}: its `*/` is missing"
            ));
        }
        match self.place {
            Place::Start => {
                Err("the file holds no statement; a GOAL trace begins with `num_ranks N`".into())
            }
            Place::Inside => Err(format!(
                "the file ends inside rank {}, which begins on line {}: its `}}` is missing{}; \
                 the file is truncated",
                self.done,
                self.rank_line,
                match self.ranks - self.done - 1 {
                    0 => String::new(),
                    missing => format!(", and so are the {missing} ranks after it"),
                }
            )),
            Place::Outside if self.done < self.ranks => Err(format!(
                "the file ends after {} of {} ranks: rank {} and what follows are missing; \
                 the file is truncated, or `num_ranks` is wrong",
                self.done, self.ranks, self.done
            )),
            Place::Outside => Ok(self.builder.program),
        }
    }
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        let blanks = self.rest().bytes().take_while(|byte| b" \t".contains(byte));
        self.at += blanks.count();
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// A letter and the letters, digits and `_` after it; empty if there is none.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        if !rest.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) {
            return "";
        }
        let end = rest
            .bytes()
            .position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'))
            .unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// What stands here, for a message.
    fn found(&self) -> String {
        self.found_from(self.at)
    }

    fn found_from(&self, at: usize) -> String {
        let rest = &self.text[at..];
        let token = rest.split([' ', '\t']).find(|t| !t.is_empty());
        match token {
            None => "the end of the line".into(),
            Some(token) if token.chars().count() > 40 => {
                format!("`{}...`", token.chars().take(40).collect::<String>())
            }
            Some(token) => format!("`{token}`"),
        }
    }

    fn number(&mut self, what: &str, max: u64) -> Result<u64, Problem> {
        let at = self.at;
        let rest = self.rest();
        let end = rest
            .bytes()
            .position(|byte| !byte.is_ascii_digit())
            .unwrap_or(rest.len());
        if end == 0 {
            let hint = if rest.starts_with('-') {
                ", which is never negative"
            } else {
                ", a whole number"
            };
            return problem(at, format!("expected {what}{hint}, found {}", self.found()));
        }
        if rest[end..].starts_with('.') {
            return problem(at, format!("{} is not whole; {what} is", self.found()));
        }
        let value = rest[..end]
            .parse::<u64>()
            .ok()
            .filter(|&value| value <= max);
        match value {
            Some(value) => {
                self.at += end;
                Ok(value)
            }
            None => problem(
                at,
                format!("{} is too large for {what}: at most {max}", &rest[..end]),
            ),
        }
    }

    /// The `b` after a number of bytes.
    fn byte_unit(&mut self, number_at: usize, size: u64) -> Result<(), Problem> {
        self.blanks();
        let at = self.at;
        let unit = self.word();
        let factor = match unit {
            "b" => return Ok(()),
            "k" | "kb" | "kB" | "K" | "KB" => Some(1000),
            "Ki" | "KiB" | "kib" => Some(1 << 10),
            "M" | "MB" | "mb" => Some(1_000_000),
            "MiB" => Some(1 << 20),
            _ => None,
        };
        match factor.and_then(|factor| size.checked_mul(factor)) {
            Some(bytes) => problem(
                number_at,
                format!("unit `{unit}` is not known: sizes are in bytes; write `{bytes}b`"),
            ),
            None => problem(
                at,
                format!(
                    "expected `b` after the number of bytes, found {}; write `{size}b`",
                    self.found_from(at)
                ),
            ),
        }
    }

    /// A calc has no unit; one that is written anyway is more likely meant than junk.
    fn no_time_unit(&mut self, number_at: usize, time: u64) -> Result<(), Problem> {
        let back = self.at;
        self.blanks();
        let at = self.at;
        let unit = self.word();
        let factor = match unit {
            "" | "tag" | "cpu" | "nic" => {
                self.at = back;
                return Ok(());
            }
            "ns" => 1,
            "us" => 1000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            _ => {
                self.at = at;
                return self.end_of_line("an operation");
            }
        };
        let hint = match time.checked_mul(factor) {
            Some(time) => format!("; write `calc {time}`"),
            None => String::new(),
        };
        problem(
            number_at,
            format!(
                "unit `{unit}` is not allowed: a calc counts nanoseconds, without a unit{hint}"
            ),
        )
    }

    fn end_of_line(&mut self, what: &str) -> Result<(), Problem> {
        self.blanks();
        let rest = self.rest();
        if rest.is_empty() {
            return Ok(());
        }
        if rest.starts_with("//") || rest.starts_with("/*") {
            return problem(
                self.at,
                format!(
                    "a comment after {what}: comments stand only where a statement could start; \
                     move it to a line of its own"
                ),
            );
        }
        problem(
            self.at,
            format!(
                "found {} where {what} should end: one statement per line",
                self.found()
            ),
        )
    }
}
