//! What can be wrong with a sweep, its experiments, and its folder.

use std::path::PathBuf;

use super::layout::{DESCRIPTION, RESULTS};
use super::table::TableError;
use crate::experiment;
use crate::files::FileError;
use crate::input::InputError;
use crate::network;

/// A sweep cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The sweep file, or the scenario.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A result or the description is not what a sweep writes.
    #[error(
        "{path}: {source}; it is damaged, or no file of a sweep: remove it and run the \
             sweep again, which makes it anew, or name another folder"
    )]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The folder's results are of other inputs.
    #[error(
        "{folder}: its results were computed with {what}; name another folder with -o, or remove \
         this one to compute everything again", folder = folder.display()
    )]
    OtherInputs {
        /// The folder.
        folder: PathBuf,
        /// What is not the same.
        what: String,
    },
    /// A file is not of the sweep that the folder describes.
    #[error(
        "{0}: not the results of the sweep that {DESCRIPTION} beside it describes; go on with that one \
         (`linkdoze sweep`, into this folder), which writes them anew"
    )]
    OfAnotherSweep(PathBuf),
    /// The table of results cannot be read.
    #[error(transparent)]
    Rows(#[from] TableError),
    /// No run without power saving is done, so that there is nothing to compare with.
    #[error(
        "{0}: the sweep has not come to its first result, a run without power saving; go on with \
         it first"
    )]
    NothingDone(PathBuf),
    /// An experiment is not possible.
    #[error("{experiment}: {source}")]
    Experiment {
        /// Its name.
        experiment: String,
        /// Why.
        source: Box<ExperimentError>,
    },
    /// The traffic cannot be used.
    #[error(transparent)]
    Network(#[from] network::Error),
    /// The table cannot be made.
    #[error("{RESULTS}: {0}")]
    Table(#[from] parquet::errors::ParquetError),
}

/// Why an experiment is not possible.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The base does not go with the setting.
    #[error(transparent)]
    Config(#[from] InputError),
    /// The setting does not go with the base, whose own text is right.
    #[error("{0}")]
    Setting(String),
    /// It cannot be run.
    #[error(transparent)]
    Run(#[from] experiment::Error),
}

impl ExperimentError {
    pub(super) fn of(self, experiment: String) -> Error {
        Error::Experiment {
            experiment,
            source: Box::new(self),
        }
    }
}
