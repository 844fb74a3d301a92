//! `linkdoze mutate`: what the co-simulation finds of faults put into the hardware on purpose.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::{bail, Result};
use rayon::prelude::*;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::numbers::{from_usize, within};
use super::output::{self, table, trimmed};
use super::progress::Step;
use super::{Interrupted, Orderly, Outcome};
use crate::files;
use crate::hdl::mutants::Kind;
use crate::mutate::{Campaign, Fate, Provers, Results, Tested, PART};
use crate::synth::netlist;
use crate::verify::{Solver, Tools};

/// The share of the faults that are none proved to be equivalent that has to show.
const WANTED: f64 = 0.99;

/// How many seconds of processor time the solver may think about one fault.
const TIMEOUT: u64 = 15;

/// So many surviving faults are listed without `--all`.
const LISTED: usize = 20;

/// Put single faults into the Verilog, and see whether the co-simulation finds them.
///
/// Every fault is run in lock step with the golden model, under the activity of `cosim --random`.
/// Of one that does not show, a solver is asked whether it is one: whether the port does on its pins
/// what it should, from every state that the claims of `linkdoze verify` allow; and then ABC, whether
/// it does in every state that comes about.
#[derive(clap::Args)]
#[command(after_help = "\
Exit status: 0 at least 99 % of the faults show that are not proved to be none; 1 fewer do,
or none is left; 2 bad input, or a tool is missing; 130 interrupted.")]
pub struct Args {
    /// The configuration file.
    config: PathBuf,
    /// Clocked cycles of each run.
    #[arg(long, value_name = "N", default_value = "20M", value_parser = within(1..=u64::MAX))]
    cycles: u64,
    /// The seed of the random activity.
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = within(0..=u64::MAX))]
    seed: u64,
    /// The faults of these modules alone, with commas between them.
    #[arg(long, value_name = "MODULES", value_delimiter = ',')]
    only: Vec<String>,
    /// One in so many faults.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = within(1..=1_000_000))]
    step: u64,
    /// Keep what is known in this file; the same command goes on from there.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Do not ask a solver whether a fault that does not show is one.
    #[arg(long)]
    no_equivalence: bool,
    /// The SMT solver [default: Z3 4.12 or newer, cvc5, CVC4: the first that is there].
    #[arg(long, value_enum)]
    solver: Option<Solver>,
    /// Write the Verilog with the fault of this number, as the results count them from 1, to
    /// the folder --to, and run nothing.
    #[arg(
        long,
        value_name = "N",
        requires = "to",
        value_parser = from_usize(1),
        conflicts_with_all = ["json", "all", "output", "solver", "no_equivalence"]
    )]
    emit: Option<usize>,
    /// Where --emit writes.
    #[arg(long, value_name = "DIR", requires = "emit")]
    to: Option<PathBuf>,
    /// List every fault that survives.
    #[arg(long, conflicts_with = "json")]
    all: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// If the configuration is bad or has no hardware, or a tool is missing or fails.
pub fn run(args: &Args) -> Result<Outcome> {
    let config = super::load(&args.config)?;
    let step = usize::try_from(args.step)?;
    let campaign = Campaign::new(&config, &args.only, step, args.cycles, args.seed)?;
    if let (Some(number), Some(folder)) = (args.emit, &args.to) {
        return emit(&campaign, number, folder);
    }
    let provers = match args.no_equivalence {
        true => None,
        false => Some(Provers {
            induction: Tools::find(args.solver, TIMEOUT)?,
            reachability: netlist::Prover::find()?,
        }),
    };
    if let Some(path) = &args.output {
        files::refuse_to_replace([path], [&args.config])?;
        files::refuse_unwritable(path)?;
    }
    let inputs = inputs(&campaign, &config.hash(), provers.as_ref())?;
    let results = match &args.output {
        Some(path) => Results::read(path, inputs)?,
        None => Results::new(inputs),
    };
    let results = test(args, &campaign, provers.as_ref(), results)?;
    let (killed, real) = results.killed_of();
    let text = if args.json {
        serde_json::to_string_pretty(&json!({
            "killed": killed,
            "faults": real,
            "equivalent": results.tested().count() - real,
            "share": share(killed, real),
            "cycles": args.cycles,
            "seed": args.seed,
            "solver": provers.map(|provers| provers.induction.solver_version),
            "mutants": results.tested().collect::<Vec<_>>(),
        }))? + "\n"
    } else {
        text(&results, args)
    };
    output::print(&text)?;
    Ok(match share(killed, real) {
        Some(share) if share >= WANTED => Outcome::Done,
        _ => Outcome::CheckFailed,
    })
}

/// The part of the faults that shows; nothing where there are none, which says nothing of the
/// co-simulation.
fn share(killed: usize, real: usize) -> Option<f64> {
    (real > 0).then(|| killed as f64 / real as f64)
}

/// What the results depend on: which faults there are, too.
fn inputs(campaign: &Campaign, config: &str, provers: Option<&Provers>) -> Result<String> {
    let mut hash = Sha256::new();
    hash.update(config);
    hash.update(env!("LINKDOZE_PROGRAM"));
    for (name, text) in campaign.intact() {
        hash.update(name);
        hash.update(text);
    }
    hash.update(serde_json::to_vec(&campaign.mutants)?);
    let tools = provers.map(|provers| {
        let tools = &provers.induction;
        let abc = provers.reachability.abc_version();
        (&tools.solver_version, &tools.yosys_version, abc)
    });
    let (cycles, seed) = (campaign.cycles, campaign.seed);
    hash.update(format!("{cycles} {seed} {tools:?}"));
    Ok(format!("{:x}", hash.finalize()))
}

fn emit(campaign: &Campaign, number: usize, folder: &std::path::Path) -> Result<Outcome> {
    let place = number.checked_sub(1);
    let Some(mutant) = place.and_then(|place| campaign.mutants.get(place)) else {
        bail!(
            "--emit {number}: there are the faults 1 to {}",
            campaign.mutants.len()
        );
    };
    files::make_folder(folder)?;
    let files = campaign.verilog(mutant);
    let paths: Vec<(PathBuf, &[u8])> = files
        .iter()
        .map(|(name, text)| (folder.join(name), text.as_bytes()))
        .collect();
    files::write_together(&paths)?;
    output::print(&format!("{}\n", mutant.text()))?;
    Ok(Outcome::Done)
}

/// Tries what has not been tried yet, part by part.
fn test(
    args: &Args,
    campaign: &Campaign,
    provers: Option<&Provers>,
    results: Results,
) -> Result<Results> {
    let orderly = Orderly::begin();
    let stop = || orderly.interrupted();
    let total = campaign.mutants.len();
    let step = Step::of("faults tried", total as u64);
    step.resume(total as u64, results.tested().count() as u64);
    let parts = (0..total).step_by(PART);
    let parts: Vec<usize> = parts
        .filter(|first| !results.parts.contains_key(first))
        .collect();
    let known = Mutex::new(results);
    let tested = parts.par_iter().map(|&first| -> Result<()> {
        if stop() {
            return Ok(());
        }
        let part = &campaign.mutants[first..total.min(first + PART)];
        let Some(fates) = campaign.run(part, provers, &stop, &|faults| step.inc(faults))? else {
            return Ok(());
        };
        let tested = part.iter().zip(fates).map(|(mutant, fate)| Tested {
            mutant: mutant.clone(),
            fate,
        });
        let mut results = known
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        results.parts.insert(first, tested.collect());
        if let Some(path) = &args.output {
            results.write(path)?;
        }
        Ok(())
    });
    tested.collect::<Result<()>>()?;
    drop(step);
    let results = known
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if results.tested().count() < total {
        let kept = match &args.output {
            Some(path) => format!("{} keeps them; the same command goes on", path.display()),
            None => "nothing was written: --output keeps what is known".into(),
        };
        bail!(Interrupted(format!(
            "interrupted after {} of {total} faults; {kept}",
            results.tested().count()
        )));
    }
    Ok(results)
}

/// The share that shows, module by module, and what does not.
fn text(results: &Results, args: &Args) -> String {
    let (killed, real) = results.killed_of();
    let none = results.tested().count() - real;
    let mut text = match share(killed, real) {
        Some(share) => format!(
            "{}: {killed} of {real} faults show ({:.2} %); {none} more are proved to be none\n",
            match share >= WANTED {
                true => "FOUND",
                false => "NOT ENOUGH FOUND",
            },
            100.0 * share,
        ),
        None => format!(
            "NOTHING TO FIND: all {none} that were tried are proved to be no faults; try more of them\n"
        ),
    };
    text += &format!(
        "activity: random, seed {}, {} clocked cycles\n\n",
        args.seed, args.cycles
    );
    let mut rows: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    let mut kinds: BTreeMap<Kind, [usize; 4]> = BTreeMap::new();
    for it in results.tested() {
        let column = match &it.fate {
            Fate::Killed { .. } | Fate::Fails { .. } => 1,
            Fate::Equivalent => 2,
            Fate::Survived => 3,
        };
        for row in [
            rows.entry(&it.mutant.module).or_default(),
            kinds.entry(it.mutant.kind).or_default(),
        ] {
            row[0] += 1;
            row[column] += 1;
        }
    }
    let kinds = kinds.into_iter().map(|(kind, row)| (kind.name(), row));
    for (title, rows) in [
        ("module", rows.into_iter().collect()),
        ("fault", kinds.collect::<Vec<_>>()),
    ] {
        let header = [title, "faults", "show", "equivalent", "survive"];
        let mut shown = table(&header, 1..5);
        for (name, row) in rows {
            let row = row.map(|number| number.to_string());
            shown.add_row(std::iter::once(name.to_owned()).chain(row));
        }
        text += &trimmed(&shown);
        text.push('\n');
    }
    let survivors: Vec<String> = (1..)
        .zip(results.tested())
        .filter(|(_, it)| it.fate == Fate::Survived)
        .map(|(number, it)| format!("{number}: {}\n", it.mutant.text()))
        .collect();
    let listed = match args.all {
        true => survivors.len(),
        false => survivors.len().min(LISTED),
    };
    text += &survivors[..listed].concat();
    if listed < survivors.len() {
        text += &format!("and {} more (--all)\n", survivors.len() - listed);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Faults that are all proved to be none say nothing of the co-simulation.
    #[test]
    fn nothing_found_of_nothing_is_no_success() {
        assert_eq!((share(0, 0), share(99, 100)), (None, Some(0.99)));
    }
}
