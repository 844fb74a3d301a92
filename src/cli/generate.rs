//! `linkdoze generate`: the Verilog and the timing constraints of a configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;

use super::block::{block_options, lone_block_options, BlockArgs};
use super::numbers::within_u32;
use super::{output, Outcome};
use crate::blocks::switch_ports::MAX_PORTS;
use crate::files::{self, FileError, FolderLock};
use crate::handover::TESTBENCH;
use crate::hdl::verilog::CHECKERS;
use crate::rtl;
use crate::wrapper::Feature;

/// Emit the Verilog of a configuration: one file per module, and a file list; beside it the
/// checkers of what it claims, with a file list of their own; a smoke test, and a core for FuseSoC
/// that lists all of them; its timing constraints as SDC, XDC and LPF. With registers also their
/// description: SystemRDL, a C header, Markdown.
///
/// Both folders are for one configuration: what was emitted there for another is removed. Files
/// without linkdoze's header stay.
#[derive(clap::Args)]
pub struct Args {
    /// The configuration file.
    config: PathBuf,
    /// The folder to write to.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Write the timing constraints to another folder.
    #[arg(long, value_name = "DIR")]
    constraints: Option<PathBuf>,
    /// Emit the controllers of so many ports, behind one AXI4-Lite port for their registers.
    #[arg(
        long, value_name = "N", conflicts_with_all = block_options(),
        value_parser = within_u32(1..=MAX_PORTS)
    )]
    ports: Option<u32>,
    /// Emit a module around the top, which has other pins: a clock of its own for AXI4-Lite, a reset
    /// that is active low, vectors in the place of a switch's numbered pins. Several with commas.
    #[arg(
        long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = lone_block_options()
    )]
    wrapper: Vec<Feature>,
    #[command(flatten)]
    block: BlockArgs,
    /// Only compare with what lies in the folders: exit status 1 if something is stale, missing,
    /// or of another configuration.
    #[arg(long)]
    check: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// If the configuration is bad, has no hardware yet, or a file cannot be written.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let config = super::load(&args.config)?;
    let ethernet = args.block.ethernet();
    let emitted = match ethernet {
        Some((mii, mac_latency)) => rtl::emit_ethernet(&config, mii, mac_latency, &args.wrapper)?,
        None => match args.block.design(&config)? {
            Some(block) => rtl::emit_block(&config, &block),
            None => rtl::emit_all(&config, args.ports, &args.wrapper)?,
        },
    };
    let beside = args.constraints.as_ref().unwrap_or(&args.output);
    if let Some((mii, _)) = ethernet {
        let period = config.clock.period_ps;
        output::note(&format!(
            "note: {} carries {} bits in a clock cycle of {} ns, {} Gb/s",
            mii.name(),
            mii.bits(),
            period as f64 / 1e3,
            mii.rate_gbps(period)
        ));
    }
    let core = emitted.core(resolved(beside) == resolved(&args.output));
    let sources = emitted.sources.iter().chain(&emitted.checkers);
    let sources = sources.chain(emitted.smoke.iter().chain(&core));
    let sources = sources.map(|file| (&args.output, file));
    let constraints = emitted.constraints.iter().map(|file| (beside, file));
    let files: Vec<(PathBuf, &[u8])> = sources
        .chain(constraints)
        .map(|(folder, (name, text))| (folder.join(name), text.as_bytes()))
        .collect();
    if args.check {
        let stale: Vec<String> = files
            .iter()
            .filter(|(path, text)| std::fs::read(path).ok().as_deref() != Some(text))
            .map(|(path, _)| path.display().to_string())
            .collect();
        let left = left_over(args, &files)?;
        if stale.is_empty() && left.is_empty() {
            return Ok(Outcome::Done);
        }
        let mut again = format!("linkdoze generate {}", files::shell_word(&args.config));
        if let Some(ports) = args.ports {
            again += &format!(" --ports {ports}");
        }
        if !args.wrapper.is_empty() {
            let features = args.wrapper.iter().filter_map(Feature::to_possible_value);
            let names: Vec<String> = features.map(|it| it.get_name().to_owned()).collect();
            again += &format!(" --wrapper {}", names.join(","));
        }
        again += &args.block.written();
        again += &format!(" -o {}", files::shell_word(&args.output));
        if let Some(folder) = &args.constraints {
            again += &format!(" --constraints {}", files::shell_word(folder));
        }
        let mut message = String::new();
        if !stale.is_empty() {
            message += &format!("stale or missing: {}\n", stale.join(", "));
        }
        if !left.is_empty() {
            message += &format!("of another configuration: {}\n", files::listed(&left));
        }
        output::message(&format!("{message}regenerate with: {again}"));
        return Ok(Outcome::CheckFailed);
    }
    files::refuse_to_replace(files.iter().map(|(path, _)| path), [&args.config])?;
    // A folder that is not there and stays empty is not made.
    let mut folders = folders(args).to_vec();
    let gets_files = |folder: &Path| files.iter().any(|(path, _)| path.parent() == Some(folder));
    folders.retain(|folder| folder.is_dir() || gets_files(folder));
    let _locks = lock(&folders)?;
    files::write_together(&files)?;
    let left = left_over(args, &files)?;
    for path in &left {
        files::remove(path)?;
    }
    if !left.is_empty() {
        output::note(&format!(
            "removed, of another configuration: {}",
            files::listed(&left)
        ));
    }
    let list: String = files
        .iter()
        .map(|(path, _)| format!("{}\n", path.display()))
        .collect();
    output::print(&list)?;
    Ok(Outcome::Done)
}

/// What tells a folder from others, however it is named, as far as it is there.
fn resolved(folder: &Path) -> Option<PathBuf> {
    let there = folder.canonicalize();
    there.or_else(|_| std::path::absolute(folder)).ok()
}

/// The folders that are written to; the last may be one of the others.
fn folders(args: &Args) -> [PathBuf; 4] {
    let output = args.output.clone();
    let constraints = args.constraints.clone();
    let beside = constraints.unwrap_or_else(|| output.clone());
    [
        output.clone(),
        output.join(CHECKERS),
        output.join(TESTBENCH),
        beside,
    ]
}

/// Keeps other processes out of the folders.
fn lock(folders: &[PathBuf]) -> Result<Vec<FolderLock>, FileError> {
    let mut locks = Vec::new();
    let mut taken = BTreeSet::new();
    for folder in folders {
        if folder
            .canonicalize()
            .is_ok_and(|place| taken.contains(&place))
        {
            continue;
        }
        locks.push(FolderLock::new(folder)?);
        taken.extend(folder.canonicalize());
    }
    Ok(locks)
}

/// What `generate` wrote to the folders for another configuration: none of `files`.
fn left_over(args: &Args, files: &[(PathBuf, &[u8])]) -> anyhow::Result<Vec<PathBuf>> {
    // The same folder may be given in two ways.
    let place = |path: &Path| {
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        (folder, path.file_name().map(ToOwned::to_owned))
    };
    let own: BTreeSet<_> = files.iter().map(|(path, _)| place(path)).collect();
    let mut left = BTreeMap::new();
    for folder in folders(args) {
        for path in files::emitted_in(&folder)? {
            let place = place(&path);
            if !own.contains(&place) {
                left.entry(place).or_insert(path);
            }
        }
    }
    Ok(left.into_values().collect())
}
