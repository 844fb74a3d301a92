//! Standard output and error that survive a reader who goes away; tables.

use std::io::{self, ErrorKind, Write};

use anyhow::Context;
use comfy_table::{presets, Table};

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
    let _lost = writeln!(io::stderr().lock(), "{text}");
}

/// What the end of writing to standard output means; see [`print`].
pub(super) fn finish(result: io::Result<()>) -> anyhow::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

/// An empty table without lines; without a header if all its names are empty.
pub(super) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    if header.iter().any(|name| !name.is_empty()) {
        table.set_header(header);
    }
    table
}

/// The table without the blanks that fill its lines.
pub(super) fn trimmed(table: &Table) -> String {
    table
        .to_string()
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
}
