//! The files in the folder of a sweep.

use std::path::{Path, PathBuf};

/// The table of all results.
pub const RESULTS: &str = "results.parquet";
/// What the results depend on.
pub const DESCRIPTION: &str = "sweep.json";
/// The idle periods of links that never sleep, by length (`network::event::idle::IdleTable`).
pub const IDLE_PERIODS: &str = "idle-periods.json";
/// A result each.
pub(super) const EXPERIMENTS: &str = "experiments";

/// Where the result of the experiment of this name lies.
pub(super) fn result_path(folder: &Path, experiment: &str) -> PathBuf {
    folder.join(EXPERIMENTS).join(format!("{experiment}.json"))
}
