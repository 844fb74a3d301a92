//! `linkdoze init`

use std::path::PathBuf;

use anyhow::bail;
use clap::builder::StringValueParser;

use super::completions::suggested;
use super::{output, Outcome};
use crate::config::{Preset, PRESETS};
use crate::files;

#[derive(clap::Args)]
pub struct Args {
    /// The preset to start from (see `linkdoze presets`).
    #[arg(long, value_name = "NAME", hide_possible_values = true,
          value_parser = suggested(StringValueParser::new(), PRESETS.iter().map(|preset| preset.name)))]
    preset: String,
    /// The file to write; standard output if left out.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let preset = Preset::find(&args.preset)?;
    let Some(path) = &args.output else {
        output::print(preset.text)?;
        return Ok(Outcome::Done);
    };
    if path.is_dir() {
        bail!("{}: is a folder; name a file in it", path.display());
    }
    if path.symlink_metadata().is_ok() && !args.force {
        bail!(
            "{}: exists already; name another file, or replace it with --force",
            path.display()
        );
    }
    files::write_whole(path, preset.text.as_bytes())?;
    output::note(&format!("wrote {} ({})", path.display(), preset.summary));
    Ok(Outcome::Done)
}
