//! `linkdoze presets`

use comfy_table::presets::NOTHING;
use comfy_table::Table;
use serde_json::json;

use super::{output, Outcome};
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
    let mut table = Table::new();
    table.load_preset(NOTHING);
    for preset in PRESETS {
        table.add_row([preset.name, preset.summary]);
    }
    if let Some(column) = table.column_mut(0) {
        column.set_padding((0, 1));
    }
    output::print(&format!("{}\n", table.trim_fmt()))?;
    Ok(Outcome::Done)
}
