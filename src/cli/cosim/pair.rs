//! `--pair`: two ports joined by a cable, at every delay of a range.

use std::io::Write;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use anyhow::{bail, ensure, Result};
use rayon::prelude::*;
use serde_json::json;

use super::session::Session;
use super::{report, Args};
use crate::blocks::port::controller::PowerController;
use crate::cli::progress::{count, Step};
use crate::cli::{interrupted, numbers, Interrupted, Outcome};
use crate::cosim::pair::{self, Disturbance, Fault, Setup, Story};
use crate::cosim::scenario::{Bench, Results};
use crate::cosim::{Design, Mismatch, Tally};

/// Clock cycles of each end at each delay unless `--cycles` says otherwise.
const CYCLES: u64 = 400_000;

/// Most runs of one command, each of a delay and a seed.
const MOST_RUNS: u64 = 1_000_000;

/// One delay or several, both ends included, in clock cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delays {
    first: u64,
    last: u64,
}

impl FromStr for Delays {
    type Err = String;

    fn from_str(text: &str) -> Result<Delays, String> {
        let number = |part: &str| {
            numbers::whole(part.trim().trim_start_matches('=')).ok_or_else(|| {
                format!(
                    "`{part}` is not a delay: a whole number of clock cycles, or a range such as \
                     0..2000"
                )
            })
        };
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let delays = Delays {
            first: number(first)?,
            last: number(last)?,
        };
        if delays.last < delays.first {
            return Err(format!("the range {text} is empty: write {last}..{first}"));
        }
        Ok(delays)
    }
}

/// What happens to the link beside traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Peer {
    /// Nothing: both ends answer
    Answers,
    /// Neither end ever hears the other one
    Silent,
    /// Somewhere in the middle both ends stop hearing each other
    Stops,
    /// Now and then one end is reset
    Resets,
}

impl Peer {
    fn disturbance(self) -> Disturbance {
        match self {
            Peer::Answers => Disturbance::None,
            Peer::Silent => Disturbance::Silent,
            Peer::Stops => Disturbance::Cut,
            Peer::Resets => Disturbance::Resets,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Peer::Answers => "answers",
            Peer::Silent => "silent",
            Peer::Stops => "stops",
            Peer::Resets => "resets",
        }
    }
}

/// What became of one delay and seed.
struct Ran {
    seed: u64,
    setup: Setup,
    tally: Tally,
    story: Result<Story, Fault>,
    mismatch: Option<(usize, Mismatch)>,
}

impl Ran {
    fn failed(&self) -> bool {
        self.story.is_err() || self.mismatch.is_some()
    }
}

/// Runs two golden models against each other at every delay, and drives two instances of the
/// hardware with what their pins did.
///
/// # Errors
/// Bad input, a missing tool, or an engine that fails.
pub(super) fn run<D: Design + Sync>(args: &Args, design: &D, out: &mut dyn Write) -> Result<Outcome>
where
    D::Golden: PowerController,
{
    let plan = design.plan();
    let delays = args.delay.unwrap_or(Delays {
        first: 0,
        last: 2000,
    });
    let Some(sync) = plan.messages() else {
        let sync = if plan.per_direction() {
            "lpi"
        } else {
            "levels"
        };
        bail!(
            "{}: port.sync = \"{sync}\": --pair joins ports that exchange messages; write \
             sync = \"messages\"",
            args.config.display()
        );
    };
    ensure!(
        pair::fits(&sync, delays.last),
        "{}: port.sync_timeout_ns is {} clock cycles: an answer over a cable of {} takes {}; \
         give it a longer time-out, or --delay at most {}",
        args.config.display(),
        sync.timeout,
        delays.last,
        delays.last.saturating_mul(2).saturating_add(1),
        (sync.timeout - 1) / 2
    );
    ensure!(
        args.wave.is_none(),
        "--wave shows one port: it does not go with --pair"
    );
    let cycles = args.cycles.unwrap_or(CYCLES);
    let seeds = args.seed.map_or(1..=1, |seeds| seeds.first..=seeds.last);
    let setup = |seed: u64, delay: u64| Setup {
        delay,
        cycles,
        // Every delay sees other packets.
        seed: seed.wrapping_mul(1_000_003).wrapping_add(delay),
        disturbance: args.peer.disturbance(),
    };
    let runs = (delays.last - delays.first)
        .saturating_add(1)
        .saturating_mul(*seeds.end() - *seeds.start() + 1);
    ensure!(
        runs <= MOST_RUNS,
        "--delay and --seed make {runs} runs: at most {MOST_RUNS} are made at once; give fewer of either"
    );
    let setups: Vec<(u64, Setup)> = seeds
        .flat_map(|seed| (delays.first..=delays.last).map(move |delay| (seed, setup(seed, delay))))
        .collect();
    let session = Session::new(args, design)?;
    let total = (setups.len() as u64)
        .saturating_mul(2)
        .saturating_mul(cycles);
    let step = Arc::new(Step::cycles("two ports on a cable", Some(total)));
    let seen = Arc::new(AtomicU64::new(0));
    let failed = AtomicU64::new(u64::MAX);
    let ran = setups
        .par_iter()
        .enumerate()
        .filter(|_| !session.interrupted())
        // After a failure only what comes before it is of interest.
        .filter(|(number, _)| *number as u64 <= failed.load(Ordering::Relaxed))
        .map(|(number, &(seed, setup))| {
            let engines = vec![session.hardware.instance()?, session.hardware.instance()?];
            let (shown, all) = (Arc::clone(&step), Arc::clone(&seen));
            let mut told = 0;
            let watch = move |cycles: u64| {
                let more = cycles - told;
                told = cycles;
                shown.set_position(all.fetch_add(more, Ordering::Relaxed) + more);
                match interrupted() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            let mut bench = Bench::new(plan, engines, watch);
            let story = pair::run(plan, || design.golden(), setup, &mut bench);
            let Results {
                tallies, mismatch, ..
            } = bench.finish()?;
            let mut tally = Tally::default();
            for end in &tallies {
                tally.merge(end);
            }
            let ran = Ran {
                seed,
                setup,
                tally,
                story,
                mismatch,
            };
            if ran.failed() {
                failed.fetch_min(number as u64, Ordering::Relaxed);
            }
            Ok(ran)
        })
        .collect::<Result<Vec<Ran>>>()?;
    drop(step);
    // What was found is told, whatever came after it.
    if session.interrupted() && !ran.iter().any(Ran::failed) {
        bail!(Interrupted(format!(
            "interrupted after {} cycles of all ends in {} runs",
            seen.load(Ordering::Relaxed),
            setups.len()
        )));
    }
    conclude(&session, delays, &ran, out)
}

/// Prints what came out; exit status 1 after a mismatch or a broken promise.
fn conclude<D: Design + Sync>(
    session: &Session<D>,
    delays: Delays,
    ran: &[Ran],
    out: &mut dyn Write,
) -> Result<Outcome> {
    let (args, plan) = (session.args, session.design.plan());
    let seconds = session.started.elapsed().as_secs_f64();
    let mut story = Story::default();
    let mut tally = Tally::default();
    for one in ran {
        tally.merge(&one.tally);
        if let Ok(one) = &one.story {
            story.merge(one);
        }
    }
    let rate = tally.cycles as f64 / seconds.max(1e-9);
    let worst = ran.iter().find(|one| one.failed());
    let mismatch = worst.and_then(|one| Some((one, one.mismatch.as_ref()?)));
    let fault = worst.and_then(|one| Some((one, one.story.as_ref().err()?)));
    let again = worst.map(|one| {
        let activity = format!(
            "--pair --delay {} --peer {} --seed {}",
            one.setup.delay,
            args.peer.name(),
            one.seed
        );
        session.command(&activity, Some(one.setup.cycles))
    });
    if args.json {
        let mut value = json!({
            "engine": args.engine.name(),
            "activity": "pair",
            "peer": args.peer.name(),
            "delays": [delays.first, delays.last],
            "runs": ran.len(),
            "cycles": tally.cycles,
            "mismatches": u64::from(mismatch.is_some()),
            "broken_promises": u64::from(fault.is_some()),
            "elapsed_s": seconds,
            "cycles_per_second": rate,
            "packets": story.packets,
            "transitions_down": story.downs,
            "transitions_up": story.ups,
            "largest_skew_cycles": story.skew,
            "longest_wait_cycles": story.longest_wait,
            "wait_bound_cycles": story.wait_bound,
            "hits": tally.hits,
            "misses": tally.misses,
            "updates": tally.updates,
            "state_cycles": report::states_json(&tally),
            "notes": session.design.notes(),
        });
        if let Some((one, (end, found))) = mismatch {
            value["mismatch"] = report::mismatch_json(found, plan, Some(*end));
            value["mismatch"]["delay"] = json!(one.setup.delay);
        }
        if let Some((one, fault)) = fault {
            value["broken_promise"] = json!({
                "delay": one.setup.delay,
                "cycle": fault.cycle,
                "end": fault.end,
                "what": fault.what,
            });
        }
        if let Some(again) = again {
            value["command"] = json!(again);
        }
        writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
    } else {
        writeln!(
            out,
            "mismatches: {}, broken promises: {}",
            u64::from(mismatch.is_some()),
            u64::from(fault.is_some())
        )?;
        writeln!(
            out,
            "cycles: {} in {seconds:.2} s ({} per second)",
            tally.cycles,
            count(rate)
        )?;
        if let Some(again) = again {
            writeln!(out, "again: {again}")?;
        }
        writeln!(
            out,
            "pairs: {}, delays from {} to {} cycles, the other end {}",
            ran.len(),
            delays.first,
            delays.last,
            args.peer.name()
        )?;
        writeln!(
            out,
            "longest wait for the link: {} cycles, bound {}",
            story.longest_wait, story.wait_bound
        )?;
        writeln!(
            out,
            "packets: {}\ntransitions begun together: {} down, {} up, at most {} cycles apart",
            story.packets, story.downs, story.ups, story.skew
        )?;
        write!(out, "{}", report::tally(&tally))?;
        if let Some((one, fault)) = fault {
            writeln!(out, "\ndelay {}: {fault}", one.setup.delay)?;
        }
        if let Some((one, (end, found))) = mismatch {
            let text = report::mismatch(found, plan, Some(*end));
            write!(out, "\ndelay {}: {text}", one.setup.delay)?;
        }
        if args.all {
            let states = report::states(&tally, session.design.period_ps());
            write!(out, "\n{states}")?;
        }
    }
    Ok(match worst {
        Some(_) => Outcome::CheckFailed,
        None => Outcome::Done,
    })
}
