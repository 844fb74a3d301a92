//! Standard output and error that survive a reader who goes away; how much is told; tables.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::LazyLock;

use anyhow::Context;
use comfy_table::{presets, CellAlignment, ContentArrangement, Table};
use indicatif::MultiProgress;

/// Columns of a terminal that every table fits.
const COLUMNS: u16 = 100;

/// How much a command tells on standard error beside errors and failed checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Nothing.
    Quiet,
    /// Notes and progress.
    Usual,
    /// The programs that run, their versions and times, too.
    Verbose,
}

/// The bars that the terminal shows; what is written to standard error is written above them.
pub(super) static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

static LEVEL: AtomicU8 = AtomicU8::new(Level::Usual as u8);

/// Sets how much is told.
pub(super) fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
    // Where there is a logger already it stays.
    if log::set_logger(&Logged).is_ok() {
        log::set_max_level(match level {
            Level::Quiet => log::LevelFilter::Off,
            Level::Usual => log::LevelFilter::Warn,
            Level::Verbose => log::LevelFilter::Debug,
        });
    }
}

/// Writes what the library logs to standard error: warnings as notes, the programs that it runs as
/// details.
struct Logged;

impl log::Log for Logged {
    fn enabled(&self, metadata: &log::Metadata) -> bool {
        metadata.target().starts_with("linkdoze")
    }

    fn log(&self, record: &log::Record) {
        if self.enabled(record.metadata()) {
            let text = record.args().to_string();
            match record.level() <= log::Level::Warn {
                true => note(&format!("note: {text}")),
                false => detail(&text),
            }
        }
    }

    fn flush(&self) {}
}

/// How much is told.
pub(super) fn level() -> Level {
    match LEVEL.load(Ordering::Relaxed) {
        0 => Level::Quiet,
        1 => Level::Usual,
        _ => Level::Verbose,
    }
}

/// Writes `text` to standard output.
///
/// # Errors
/// If it cannot be written, unless the reader has closed the pipe: a reader that has seen
/// enough (`| head`) is no fault.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    finish(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Writes a message to standard error. Where nobody can read it there is nobody to tell.
pub(super) fn message(text: &str) {
    BARS.suspend(|| {
        let _lost = writeln!(io::stderr().lock(), "{text}");
    });
}

/// Writes what is worth knowing, but no error, to standard error, unless `--quiet` was given.
pub(super) fn note(text: &str) {
    if level() > Level::Quiet {
        message(text);
    }
}

/// Writes what only `--verbose` tells to standard error.
pub(super) fn detail(text: &str) {
    if level() == Level::Verbose {
        message(&format!("linkdoze: {text}"));
    }
}

/// What the end of writing to standard output means; see [`print`].
pub(super) fn finish(result: io::Result<()>) -> anyhow::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

/// An empty table, as every command prints them: without lines, within 100 columns, the columns
/// `right` aligned to the right; without a header if all its names are empty.
pub(super) fn table<S: AsRef<str>>(header: &[S], right: impl IntoIterator<Item = usize>) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(COLUMNS);
    // So that the columns are there.
    table.set_header(header.iter().map(AsRef::as_ref));
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
    }
    for column in right {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// The table without the blanks that fill its lines, and with a line end after each.
pub(super) fn trimmed(table: &Table) -> String {
    let text = table.to_string();
    let lines = text.lines().map(str::trim_end);
    // A header of empty names is no line.
    let lines = lines.skip_while(|line| line.is_empty());
    lines.map(|line| format!("{line}\n")).collect()
}

/// A table of names and values, without a header.
pub(super) fn figures<N: AsRef<str>, V: AsRef<str>>(
    rows: impl IntoIterator<Item = (N, V)>,
) -> String {
    let mut table = table(&["", ""], []);
    for (name, value) in rows {
        table.add_row([name.as_ref(), value.as_ref()]);
    }
    trimmed(&table)
}

/// `text` in lines within 100 columns, those after the first one indented by `indent` blanks, and
/// with a line end after each. A word that is longer stays whole.
pub(super) fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let length = line.chars().count() + 1 + word.chars().count();
        if !line.trim().is_empty() && length > usize::from(COLUMNS) {
            lines += &(std::mem::take(&mut line) + "\n");
            line = " ".repeat(indent) + word;
        } else if line.is_empty() {
            line = word.to_owned();
        } else {
            line = line + " " + word;
        }
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_table_is_wider_than_100_columns() {
        let mut table = table(&["what", "number", "why"], [1]);
        for number in [7, 12_345_678] {
            table.add_row([
                "a name".to_owned(),
                number.to_string(),
                "because of that ".repeat(20),
            ]);
        }
        let text = trimmed(&table);
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{text}"
        );
        assert!(text.starts_with("what    "), "{text}");
        let names: Vec<&str> = text.lines().filter(|line| line.contains("name")).collect();
        assert!(
            names[0].contains("        7  ") && names[1].contains(" 12345678  "),
            "{text}"
        );
        assert!(!text.contains(" \n"));
    }

    #[test]
    fn tables_without_a_header_begin_with_their_first_row() {
        assert_eq!(figures([("a", "1"), ("bc", "2")]), "a   1\nbc  2\n");
    }

    #[test]
    fn long_lines_are_wrapped_between_words() {
        let text = wrapped(&"word ".repeat(30), 2);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0], "word ".repeat(20).trim_end());
        assert_eq!(lines[1], "  ".to_owned() + "word ".repeat(10).trim_end());
        let long = "w".repeat(120);
        assert_eq!(
            wrapped(&format!("a {long} b"), 2),
            format!("a\n  {long}\n  b\n")
        );
        assert_eq!(wrapped("short", 2), "short\n");
    }
}
