//! `linkdoze report`: the figures of a sweep, or of a run over time.

use std::path::PathBuf;

use anyhow::{ensure, Result};

use super::output;
use super::progress::Step;
use super::Outcome;
use crate::{files, report};

#[derive(clap::Args)]
pub struct Args {
    /// The folder of a sweep, or of `simulate -o` of a scenario with sample_ns in [run].
    folder: PathBuf,
    /// The page, whose name ends in `.html` or `.htm`. Default: report.html in the folder.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
/// If the folder has no results, or a file cannot be written.
pub fn run(args: &Args) -> Result<Outcome> {
    let page = args
        .out
        .clone()
        .unwrap_or_else(|| args.folder.join("report.html"));
    let end = page.extension().and_then(|end| end.to_str());
    ensure!(
        matches!(end, Some("html" | "htm")),
        "{}: the page is HTML, and this is not the name of such a file; end it with .html",
        page.display()
    );
    let step = Step::new("drawing");
    let written = report::write(&args.folder, &page)?;
    drop(step);
    let names = written.files.iter().map(|file| file.display().to_string());
    let lines: Vec<String> = written.unfinished.into_iter().chain(names).collect();
    output::print(&(lines.join("\n") + "\n"))?;
    if !written.left.is_empty() {
        output::note(&format!(
            "note: figures of an earlier report, which this one does not have: {}",
            files::listed(&written.left)
        ));
    }
    Ok(Outcome::Done)
}
