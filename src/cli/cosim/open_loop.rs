//! `--random`, `--line-rate` and `--periods`: one port, whose inputs wait for nobody.

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{bail, ensure, Result};
use rayon::prelude::*;

use super::session::{Found, Session, Summary, WAVE_CYCLES};
use super::{Args, Engine, Seeds};
use crate::cli::progress::Step;
use crate::cli::{Interrupted, Outcome};
use crate::config::plan::PortPlan;
use crate::cosim::code_coverage::CodeCoverage;
use crate::cosim::coverage::{Corner, Coverage};
use crate::cosim::line_rate::LineRate;
use crate::cosim::peer::WithPeer;
use crate::cosim::periods::Periods;
use crate::cosim::random::{affords, Random};
use crate::cosim::wave::Window;
use crate::cosim::{Activity, Design, Ended, LockStep, Mismatch, Run, Tally};
use crate::files;

/// Cycles of `--random` and `--line-rate` unless `--cycles` says otherwise.
const RANDOM_CYCLES: u64 = 1_000_000;
/// The same for the native engine, which is some hundred times slower.
const NATIVE_CYCLES: u64 = 50_000;
/// One activity of an open-loop run, for an engine that leaps over idle time or one that does not.
type MakeActivity<'a> = Box<dyn Fn(bool) -> Box<dyn Activity + Send> + Sync + 'a>;

struct Job<'a> {
    make: MakeActivity<'a>,
    /// What drives it, as arguments.
    argument: String,
}

/// What is to be driven.
struct Jobs<'a> {
    jobs: Vec<Job<'a>>,
    /// Clock cycles of each, at most.
    cycles: u64,
    /// The same, as the command that repeats one names it.
    named_cycles: Option<u64>,
    /// What drives them all, for people.
    activity: String,
}

impl<'a> Jobs<'a> {
    /// Those that `args` ask for.
    ///
    /// # Errors
    /// If the file of `--periods` cannot be read.
    fn new(args: &Args, plan: &'a PortPlan, period_ps: u64) -> Result<Self> {
        if let Some(path) = &args.periods {
            let whole = Periods::read(path, plan.clocks_per_tick, period_ps)?;
            return Ok(Jobs {
                cycles: args.cycles.unwrap_or(u64::MAX).min(whole.cycles()),
                named_cycles: args.cycles,
                activity: format!("periods of {}", path.display()),
                jobs: vec![Job {
                    make: Box::new(move |_| Box::new(WithPeer::prompt(whole.clone(), plan))),
                    argument: format!("--periods {}", files::shell_word(path)),
                }],
            });
        }
        let usual = match args.engine {
            Engine::Verilator => RANDOM_CYCLES,
            Engine::Native => NATIVE_CYCLES,
        };
        let cycles = args.cycles.unwrap_or(usual);
        let seeds = args.seed.unwrap_or(Seeds { first: 1, last: 1 });
        let line_rate = args.line_rate;
        let (name, option) = match line_rate {
            true => ("line rate", "--line-rate"),
            false => ("random", "--random"),
        };
        let job = |seed| Job {
            make: Box::new(move |leaps| match line_rate {
                true => Box::new(WithPeer::prompt(LineRate::new(seed), plan)),
                false => Box::new(Random::new(plan, seed, cycles, leaps)),
            }),
            argument: format!("{option} --seed {seed}"),
        };
        Ok(Jobs {
            jobs: (seeds.first..=seeds.last).map(job).collect(),
            cycles,
            named_cycles: Some(cycles),
            activity: if seeds.first == seeds.last {
                format!("{name}, seed {}", seeds.first)
            } else {
                format!("{name}, seeds {} to {}", seeds.first, seeds.last)
            },
        })
    }
}

/// What became of one activity.
struct JobDone {
    tally: Tally,
    coverage: Coverage,
    code: CodeCoverage,
    mismatch: Option<Mismatch>,
    stopped: bool,
}

/// Drives one port with `--random`, `--line-rate` or `--periods`.
///
/// # Errors
/// Bad input, a missing tool, or an engine that fails.
pub(super) fn run<D: Design + Sync>(
    args: &Args,
    design: &D,
    out: &mut dyn Write,
) -> Result<Outcome> {
    let plan = design.plan();
    let Jobs {
        jobs,
        cycles,
        named_cycles,
        activity,
    } = Jobs::new(args, plan, design.period_ps())?;

    let session = Session::new(args, design)?;
    let leaps = args.random && session.hardware.leaps();
    let affordable: Box<dyn Fn(Corner) -> bool> = match (args.random, args.line_rate) {
        (true, _) => {
            let plan = *plan;
            Box::new(move |corner| affords(&plan, cycles, leaps, corner))
        }
        _ => Box::new(|_| true),
    };
    let all = cycles.checked_mul(jobs.len() as u64);
    let step = Step::cycles(&activity, all);
    // A tenth of a second or so: telling the progress costs more than a batch.
    let told_at_once = match args.engine {
        Engine::Verilator => 500_000,
        Engine::Native => 1_000,
    };
    // After a mismatch only what comes before it is of interest.
    let failed = AtomicUsize::new(usize::MAX);
    let stop = |number| session.interrupted() || failed.load(Ordering::Relaxed) < number;
    // Where idle time is leapt over, a second thread brings 6 % and takes a third more processor time
    // (docs/evidence/benchmarks.md).
    let two_threads = !leaps && 2 * jobs.len() <= rayon::current_num_threads();
    let done: Vec<JobDone> = jobs
        .par_iter()
        .enumerate()
        .map(|(number, job)| -> Result<JobDone> {
            let mut coverage = Coverage::new(plan);
            let mut pair = LockStep::new(design.golden(), session.hardware.instance()?);
            if leaps {
                pair = pair.leaping();
            }
            let mut activity = (job.make)(leaps);
            let mut shown = 0;
            let observe = |tally: &Tally, runs: &[Run]| {
                coverage.observe(runs);
                if tally.cycles - shown >= told_at_once {
                    step.inc(tally.cycles - shown);
                    shown = tally.cycles;
                }
                if stop(number) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            let ended = match two_threads {
                true => pair.drive_on_two_threads(activity.as_mut(), cycles, observe)?,
                false => pair.drive(activity.as_mut(), cycles, observe)?,
            };
            step.inc(pair.tally().cycles - shown);
            let mut mismatch = None;
            let mut stopped = false;
            match ended {
                Ended::Mismatch(found) => {
                    failed.fetch_min(number, Ordering::Relaxed);
                    mismatch = Some(*found);
                }
                Ended::Stopped => stopped = true,
                Ended::Complete | Ended::ActivityOver => {}
            }
            Ok(JobDone {
                tally: *pair.tally(),
                coverage,
                code: pair.code_coverage()?,
                mismatch,
                stopped,
            })
        })
        .collect::<Result<_>>()?;
    let elapsed = session.started.elapsed();
    drop(step);

    let mut tally = Tally::default();
    let mut coverage = Coverage::new(plan);
    let mut code = CodeCoverage::default();
    for one in &done {
        tally.merge(&one.tally);
        coverage.merge(&one.coverage);
        code.merge(&one.code);
    }
    let at = done.iter().position(|one| one.mismatch.is_some());
    let found = at.and_then(|at| {
        Some(Found {
            mismatch: done[at].mismatch.clone()?,
            port: None,
            command: session.command(&jobs[at].argument, named_cycles),
        })
    });
    if found.is_none() && done.iter().any(|one| one.stopped) {
        bail!(Interrupted(format!(
            "interrupted after {} cycles, all of them equal; nothing was written",
            tally.cycles
        )));
    }
    let mismatch_cycle = found.as_ref().map(|found| found.mismatch.cycle);
    let job = &jobs[at.unwrap_or(0)];
    let wave = session.record(mismatch_cycle, |recorder| {
        let mut pair = LockStep::new(design.golden(), &mut *recorder);
        if leaps {
            pair = pair.leaping();
        }
        ensure!(
            pair.leaps() == leaps,
            "the model that writes waveforms cannot leap over idle time as the run did"
        );
        let mut activity = (job.make)(leaps);
        let complete = |tally: &Tally| match mismatch_cycle {
            Some(cycle) => tally.passed() >= Window::around(cycle).end,
            None => tally.cycles >= WAVE_CYCLES,
        };
        let limit = mismatch_cycle.map_or(WAVE_CYCLES, |cycle| Window::around(cycle).end);
        // The same cycles again: the activity must be told the same length.
        pair.drive(activity.as_mut(), cycles.min(limit), |tally, _| {
            if complete(tally) || session.interrupted() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        ensure!(
            !session.interrupted(),
            "interrupted while the waveform was recorded"
        );
        Ok(())
    });
    session.conclude(
        &Summary {
            activity,
            tally,
            ports: Vec::new(),
            coverage,
            code,
            affordable,
            elapsed,
            mismatch: found,
            wave,
            scenario: None,
        },
        out,
    )
}
