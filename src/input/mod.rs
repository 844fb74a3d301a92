//! The input files: configurations of a port, scenarios and sweeps, all of them TOML.
//!
//! The keys of each are data ([`Table`], [`Key`]): name, type, range, unit, default and a
//! sentence. From these come the checks of the one [`Reader`], the JSON Schemas
//! ([`schema::json`]) and the tables of keys in the documentation ([`schema::markdown`]).
//! The reader finds every fault of a text and says of each where it is, what is wrong, and
//! what would be right.

mod decimal;
mod error;
mod keys;
mod reader;
mod recognise;
pub mod schema;
mod similar;
mod unit;

#[cfg(test)]
mod tests;

pub use decimal::{Decimal, DecimalError};
pub use error::{Diagnostic, InputError};
pub use keys::{Key, Nearest, Table, Type};
pub use reader::{Reader, Section, Sections, Value, Written};
pub use recognise::Kind;
pub use unit::Unit;

pub(crate) use keys::{choice, integer, key, list, number, or, HOP_COUNTS, REQUIRED};
pub(crate) use similar::similar;

use std::path::Path;

use crate::files;

/// Reads the text of an input file.
///
/// # Errors
/// If the file cannot be read, or is no text: then says what it is, if it looks like a trace.
pub fn read_text(path: &Path) -> Result<String, InputError> {
    let bytes = files::read_bytes(path).map_err(InputError::File)?;
    let name = path.display().to_string();
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let good = String::from_utf8_lossy(&bytes[..offset]);
        let message = recognise::trace(bytes, &name).unwrap_or_else(|| {
            format!(
                "not UTF-8: byte 0x{:02x} at offset {offset}; an input file is a TOML text in \
                 UTF-8",
                bytes[offset]
            )
        });
        InputError::Invalid {
            diagnostics: vec![Diagnostic::at(&good, offset, message)],
            name,
        }
    })
}
