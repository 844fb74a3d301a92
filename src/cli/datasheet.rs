//! `linkdoze datasheet`: what an integrator wants to know of a configuration, on a page.

use std::path::PathBuf;

use anyhow::bail;

use super::block::{EthernetArgs, ETHERNET_OPTIONS};
use super::numbers::within_u32;
use super::{output, Outcome};
use crate::blocks::switch_ports::MAX_PORTS;
use crate::config::Config;
use crate::datasheet::Datasheet;
use crate::files;

#[derive(clap::Args)]
pub struct Args {
    /// The configuration file.
    config: PathBuf,
    /// The file to write, Markdown or HTML by the end of its name, `.md` or `.html`; if left out,
    /// Markdown to standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Describe the controllers of so many ports, behind one AXI4-Lite port for their registers.
    #[arg(
        long, value_name = "N", conflicts_with_all = ETHERNET_OPTIONS,
        value_parser = within_u32(1..=MAX_PORTS)
    )]
    ports: Option<u32>,
    #[command(flatten)]
    ethernet: EthernetArgs,
}

pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let end = args.output.as_ref().and_then(|path| path.extension());
    let html = match (&args.output, end.and_then(|end| end.to_str())) {
        (None, _) | (_, Some("md")) => false,
        (_, Some("html")) => true,
        (Some(path), _) => bail!(
            "{}: the end of the name tells neither Markdown nor HTML; end it with .md or .html",
            path.display()
        ),
    };
    // The notes stand in the data sheet.
    let config = Config::load(&args.config)?;
    let datasheet = match args.ethernet.asked() {
        Some((mii, mac_latency)) => Datasheet::of_ethernet(&config, mii, mac_latency)?,
        None => Datasheet::new(&config, args.ports)?,
    };
    let text = match html {
        true => datasheet.html(),
        false => datasheet.markdown(),
    };
    let Some(path) = &args.output else {
        output::print(&text)?;
        return Ok(Outcome::Done);
    };
    files::refuse_to_replace([path], [&args.config])?;
    files::write_whole(path, text.as_bytes())?;
    output::note(&format!("wrote {}", path.display()));
    Ok(Outcome::Done)
}
