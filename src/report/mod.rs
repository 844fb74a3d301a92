//! The results of a sweep as a page to read: the figures of p000 4.4 to 4.7, drawn from the
//! table of results, and PNG files of them.

mod draw;
mod figure;
mod page;

use std::path::{Path, PathBuf};

use crate::files::{self, FileError};
use crate::sweep::{self, from_parquet, TableError, RESULTS};

/// A report cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The table of results.
    #[error("{0}; `linkdoze sweep` writes it when all experiments are done")]
    Table(#[from] TableError),
    /// What the results depend on.
    #[error(transparent)]
    Description(#[from] sweep::Error),
    /// There is nothing to compare with.
    #[error("{0}: the table has no run without power saving")]
    NoBaseline(PathBuf),
    /// A figure cannot be drawn.
    #[error("figure {figure}: {problem}")]
    Draw {
        /// Its name.
        figure: &'static str,
        /// Why.
        problem: String,
    },
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Writes the report of a sweep's folder as `page`, an HTML file that needs no other, and a
/// PNG file of each figure beside it; returns the files.
///
/// # Errors
/// If the folder has no results, or a file cannot be written.
pub fn write(folder: &Path, page: &Path) -> Result<Vec<PathBuf>, Error> {
    let results = folder.join(RESULTS);
    let rows = from_parquet(&results)?;
    let description = sweep::read_description(folder)?;
    let Some(base) = rows.iter().find(|row| row.setting.policy == "always-on") else {
        return Err(Error::NoBaseline(results));
    };
    let stem = page.file_stem().unwrap_or_default().to_string_lossy();
    let mut files = Vec::new();
    let mut drawn = Vec::new();
    for figure in figure::figures(&rows) {
        let fault = |problem| Error::Draw {
            figure: figure.id,
            problem,
        };
        let svg = match &figure.plot {
            Some(plot) => {
                let png = draw::png(plot).map_err(fault)?;
                files.push((
                    page.with_file_name(format!("{stem}-{}.png", figure.id)),
                    png,
                ));
                Some(draw::svg(plot).map_err(fault)?)
            }
            None => None,
        };
        drawn.push((figure, svg));
    }
    let commands = [
        format!(
            "linkdoze sweep {} -o {}",
            description.sweep.display(),
            folder.display()
        ),
        format!("linkdoze report {} -o {}", folder.display(), page.display()),
    ];
    let html = page::html(&rows, base, &description, &drawn, &commands);
    files.insert(0, (page.to_owned(), html.into_bytes()));
    let contents: Vec<(PathBuf, &[u8])> = files
        .iter()
        .map(|(path, content)| (path.clone(), content.as_slice()))
        .collect();
    files::write_together(&contents)?;
    Ok(files.into_iter().map(|(path, _)| path).collect())
}
