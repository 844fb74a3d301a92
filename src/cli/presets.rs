//! `linkdoze presets`

use comfy_table::presets::NOTHING;
use comfy_table::Table;

use super::{output, Outcome};
use crate::config::PRESETS;

#[derive(clap::Args)]
pub struct Args {}

pub fn run(_: &Args) -> anyhow::Result<Outcome> {
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
