//! The results in the folder of a sweep: a file for each experiment, and the tables made of them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::description::{hex, Description};
use super::error::Error;
use super::layout::{result_path, DESCRIPTION, EXPERIMENTS, IDLE_PERIODS, RESULTS};
use super::table::{from_parquet, Row, Setting};
use crate::config::plan::Policy;
use crate::experiment::{Against, Measured, Potential, Verdict};
use crate::files::{self, FileError, FolderLock};
use crate::network::event::idle::IdleTable;

/// The idle periods as they lie in the folder.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredIdle {
    /// Digest of the description that they belong to.
    #[serde(default)]
    pub(super) sweep_sha256: String,
    /// The experiment that they are of.
    #[serde(default)]
    pub(super) experiment: String,
    #[serde(flatten)]
    pub(super) table: IdleTable,
}

/// A result as it lies in the folder.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    /// Digest of what it depends on.
    pub(super) inputs_sha256: String,
    pub(super) setting: Setting,
    pub(super) measured: Measured,
    /// The degradation by which it is judged (`Config::bound`).
    #[serde(default)]
    pub(super) bound_configured: Option<f64>,
    /// What could have been saved.
    pub(super) potential: Potential,
    /// Of the run without power saving.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) idle_periods: Option<IdleTable>,
}

/// What a sweep leaves in its folder.
pub struct Results {
    /// What the results depend on.
    pub description: Description,
    /// A row for each experiment that is done.
    pub rows: Vec<Row>,
    /// The idle periods of links that never sleep, in the first experiment.
    pub idle: IdleTable,
}

impl Results {
    /// Reads a folder; of a sweep that has not ended, what is done.
    ///
    /// # Errors
    /// If it is not the folder of a sweep, its files are of several sweeps, or no run without
    /// power saving is done.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let (results, idle) = (folder.join(RESULTS), folder.join(IDLE_PERIODS));
        if !results.exists() && folder.join(DESCRIPTION).exists() {
            return Self::read_unfinished(folder);
        }
        let (rows, of_rows) = from_parquet(&results)?;
        let stored: StoredIdle = read_json(&idle)?;
        let path = folder.join(DESCRIPTION);
        let description = read_json(&path)?;
        let digest = hex(&Sha256::digest(files::read_bytes(&path)?));
        for (path, of) in [(results, of_rows), (idle, stored.sweep_sha256)] {
            if of != digest {
                return Err(Error::OfAnotherSweep(path));
            }
        }
        Ok(Self {
            description,
            rows,
            idle: stored.table,
        })
    }

    /// The results that are there, of a sweep that has not ended.
    fn read_unfinished(folder: &Path) -> Result<Self, Error> {
        let description: Description = read_json(&folder.join(DESCRIPTION))?;
        let mut all: Vec<Stored> = Vec::new();
        for (place, experiment) in description.experiments.iter().enumerate() {
            let path = result_path(folder, experiment);
            if path.exists() {
                let mut stored: Stored = read_json(&path)?;
                // What a run is compared with may have changed since it was made.
                if let Some(against) = description.compared_with.get(place) {
                    stored.setting.compared_with.clone_from(against);
                }
                all.push(stored);
            }
        }
        let idle = all.iter().find_map(|stored| stored.idle_periods.clone());
        let idle = idle.ok_or_else(|| Error::NothingDone(folder.into()))?;
        let bases = Bases::of(all.iter().map(|stored| (stored.setting.clone(), stored)));
        let rows = all.iter().map(|stored| {
            let against = bases.against(&stored.setting, stored);
            stored.row(stored.setting.clone(), against)
        });
        Ok(Self {
            rows: rows.collect(),
            description,
            idle,
        })
    }

    /// How many experiments of the sweep are not done.
    pub fn missing(&self) -> usize {
        // Descriptions of earlier versions do not list them.
        let all = self.description.experiments.len();
        all.saturating_sub(self.rows.len())
    }
}

/// The runs without power saving that are done, by name.
pub(super) struct Bases<'s>(BTreeMap<String, &'s Stored>);

impl<'s> Bases<'s> {
    /// Those among results.
    pub(super) fn of(results: impl Iterator<Item = (Setting, &'s Stored)>) -> Self {
        let bases = results.filter(|(setting, _)| setting.policy == Policy::AlwaysOn.name());
        Bases(
            bases
                .map(|(setting, stored)| (setting.experiment, stored))
                .collect(),
        )
    }

    /// What a run with this setting changed.
    pub(super) fn against(&self, setting: &Setting, run: &Stored) -> Against {
        let base = setting.compared_with.as_ref();
        let base = base.and_then(|name| self.0.get(name));
        base.map_or_else(Against::default, |base| {
            Against::new(&run.measured, &base.measured)
        })
    }
}

impl Stored {
    /// As a row of the table.
    pub(super) fn row(&self, setting: Setting, against: Against) -> Row {
        Row {
            bound_configured: self.bound_configured,
            bound_kept: Verdict::new(self.bound_configured, &self.measured, &against).kept,
            setting,
            measured: self.measured.clone(),
            against,
            potential: self.potential,
        }
    }
}

/// Reads a file of the folder.
pub(super) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let text = files::read_text(path)?;
    serde_json::from_str(&text).map_err(|source| Error::Content {
        path: path.into(),
        source,
    })
}

/// A file of the folder.
pub(super) fn json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("figures have a JSON form");
    text.push(b'\n');
    text
}

/// Takes the folder for this process, and removes what a process that was killed has left
/// half-written.
pub(super) fn lock(folder: &Path) -> Result<FolderLock, FileError> {
    let lock = FolderLock::new(folder)?;
    files::remove_left_files(&folder.join(EXPERIMENTS));
    Ok(lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_one_process_s() {
        let folder = tempfile::tempdir().unwrap();
        let held = lock(folder.path()).unwrap();
        std::fs::create_dir(folder.path().join(EXPERIMENTS)).unwrap();
        let left = folder.path().join(EXPERIMENTS).join(".linkdoze-half00");
        std::fs::write(&left, "{").unwrap();
        assert!(matches!(lock(folder.path()), Err(FileError::Busy { .. })));
        assert!(left.exists());
        drop(held);
        lock(folder.path()).unwrap();
        assert!(!left.exists());
    }
}
