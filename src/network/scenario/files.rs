//! The files that a scenario names, and times in messages.

use std::path::{Path, PathBuf};

use crate::files::STANDARD_INPUT;
use crate::input::{Decimal, Reader, Section};

/// The files that a scenario names.
pub(super) struct Files<'a> {
    /// What their names are relative to.
    pub folder: &'a Path,
    /// Whether they must be there.
    pub look: bool,
}

impl Files<'_> {
    /// The trace that a table names with `file`.
    pub fn trace(&self, reader: &mut Reader, section: &Section) -> Option<PathBuf> {
        let written = section.text("file")?;
        let file = self.folder.join(&written.value);
        if self.look && file != Path::new(STANDARD_INPUT) {
            if let Err(error) = std::fs::metadata(&file) {
                let file = file.display();
                reader.fault_of(
                    &written,
                    format!("the trace {file} cannot be read: {error}"),
                );
            }
        }
        Some(file)
    }
}

/// A time in ps as ns.
pub(super) fn ns(ps: u64) -> String {
    Decimal::scaled(ps, 3).plain()
}
