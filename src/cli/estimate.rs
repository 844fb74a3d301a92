//! `linkdoze estimate`

use std::path::PathBuf;

use super::{output, Outcome};
use crate::config::Config;
use crate::estimate::Estimate;

#[derive(clap::Args)]
pub struct Args {
    /// The configuration file.
    config: PathBuf,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let config = Config::load(&args.config)?;
    let estimate = Estimate::new(&config, None);
    let text = if args.json {
        serde_json::to_string_pretty(&estimate)? + "\n"
    } else {
        estimate.to_string()
    };
    output::print(&text)?;
    Ok(Outcome::Done)
}
