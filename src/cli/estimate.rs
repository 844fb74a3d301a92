//! `linkdoze estimate`

mod print;

use std::path::PathBuf;

use super::block::EthernetArgs;
use super::{output, Outcome};
use crate::config::Config;
use crate::estimate::Estimate;
use crate::hdl::census;
use crate::rtl::{self, RtlError};

#[derive(clap::Args)]
pub struct Args {
    /// The configuration file.
    config: PathBuf,
    /// Print also every table: widths, memory by the formulas of the PerfBound paper, every
    /// register.
    #[arg(long, conflicts_with = "json")]
    all: bool,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    ethernet: EthernetArgs,
}

pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    // As text the notes stand in what is printed.
    let config = match args.json {
        true => super::load(&args.config)?,
        false => Config::load(&args.config)?,
    };
    let estimate = match args.ethernet.asked() {
        Some((mii, mac_latency)) => {
            let (plan, design) = rtl::elaborated_ethernet(&config, mii, mac_latency)?;
            Estimate::of_ethernet(&config, &plan, census::count(&design), (mii, mac_latency))
        }
        None => match rtl::design(&config) {
            Ok(design) => Estimate::new(&config, Some(census::count(&design))),
            // The estimate says why there is none.
            Err(RtlError::Plan(_) | RtlError::Unsupported(_)) => Estimate::new(&config, None),
            Err(error) => return Err(error.into()),
        },
    };
    let mut text = match args.json {
        true => serde_json::to_string_pretty(&estimate)? + "\n",
        false => print::summary(&config, &estimate),
    };
    if args.all {
        text += &format!("\n{}", print::Details(&estimate));
    }
    output::print(&text)?;
    Ok(Outcome::Done)
}
