//! `linkdoze estimate`

use std::path::PathBuf;

use super::{output, Outcome};
use crate::estimate::Estimate;
use crate::hdl::census;
use crate::rtl::{self, RtlError};

#[derive(clap::Args)]
pub struct Args {
    /// The configuration file.
    config: PathBuf,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let config = super::load(&args.config)?;
    let census = match rtl::design(&config) {
        Ok(design) => Some(census::count(&design)),
        // The estimate says why there is none.
        Err(RtlError::Plan(_) | RtlError::Unsupported(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let estimate = Estimate::new(&config, census);
    let text = if args.json {
        serde_json::to_string_pretty(&estimate)? + "\n"
    } else {
        estimate.to_string()
    };
    output::print(&text)?;
    Ok(Outcome::Done)
}
