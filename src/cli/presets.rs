//! `linkdoze presets`

use serde_json::json;

use super::output::{self, figures};
use super::Outcome;
use crate::config::PRESETS;

#[derive(clap::Args)]
pub struct Args {
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    if args.json {
        let presets: Vec<_> = PRESETS
            .iter()
            .map(|preset| json!({ "name": preset.name, "summary": preset.summary }))
            .collect();
        output::print(&(serde_json::to_string_pretty(&presets)? + "\n"))?;
        return Ok(Outcome::Done);
    }
    let presets = PRESETS.iter();
    // Each fits a line: scripts take the first word.
    let text = figures(presets.map(|preset| (preset.name, preset.summary)));
    output::print(&text)?;
    Ok(Outcome::Done)
}
