//! `--ports`: the controllers of a whole switch behind one AXI4-Lite port.

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{bail, ensure, Result};
use rayon::prelude::*;
use serde_json::json;

use super::session::{check_wave, command, compiled, record, tell_extra_outputs, WAVE_CYCLES};
use super::{report, Args, Engine, Seeds};
use crate::cli::output::{table, trimmed, wrapped};
use crate::cli::progress::{count, Step};
use crate::cli::{output, Interrupted, Orderly, Outcome};
use crate::cosim::switch::{Corners, SwitchDesign, SwitchEnded, SwitchLockStep};
use crate::cosim::verilator;
use crate::cosim::wave::{format_of, Recorder, Window};
use crate::cosim::{Mismatch, Tally};

/// Clock cycles of every port unless `--cycles` says otherwise.
const CYCLES: u64 = 1_000_000;

/// So many corners that were not reached are named in the summary.
const NAMES: usize = 6;

/// What became of one seed.
struct Ran {
    seed: u64,
    tallies: Vec<Tally>,
    corners: Corners,
    mismatch: Option<(usize, Mismatch)>,
    stopped: bool,
}

/// Runs the ports of a switch in lock step, once for every seed.
///
/// # Errors
/// Bad input, a missing tool, or an engine that fails.
pub(super) fn run(args: &Args, design: &SwitchDesign, out: &mut dyn Write) -> Result<Outcome> {
    ensure!(
        args.engine == Engine::Verilator,
        "--ports is of the emitted Verilog: use --engine verilator"
    );
    check_wave(args)?;
    let files = match &args.rtl {
        Some(folder) => verilator::read_folder(folder)?,
        None => design.verilog()?,
    };
    let model = compiled(|| design.compile(&files, None))?;
    tell_extra_outputs(&model);
    let traced = match &args.wave {
        Some(path) => {
            let format = format_of(path)?;
            Some(compiled(|| design.compile(&files, Some(format)))?)
        }
        None => None,
    };
    let cycles = args.cycles.unwrap_or(CYCLES);
    let seeds = args.seed.unwrap_or(Seeds { first: 1, last: 1 });
    let seeds: Vec<u64> = (seeds.first..=seeds.last).collect();
    let orderly = Orderly::begin();
    let started = Instant::now();
    let total = cycles.checked_mul(seeds.len() as u64);
    let step = Step::cycles(format!("{} ports", design.ports()), total);
    let seen = AtomicU64::new(0);
    // After a mismatch only what comes before it is of interest.
    let failed = AtomicUsize::new(usize::MAX);
    let stop = |number| orderly.interrupted() || failed.load(Ordering::Relaxed) < number;
    let ran = seeds
        .par_iter()
        .enumerate()
        .map(|(number, &seed)| -> Result<Ran> {
            let mut switch = SwitchLockStep::new(design, model.engine()?);
            let mut shown = 0;
            let ended = switch.drive(seed, cycles, |now| {
                step.set_position(seen.fetch_add(now - shown, Ordering::Relaxed) + now - shown);
                shown = now;
                match stop(number) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })?;
            let (mut mismatch, mut stopped) = (None, false);
            match ended {
                SwitchEnded::Mismatch(port, found) => {
                    failed.fetch_min(number, Ordering::Relaxed);
                    mismatch = Some((port, *found));
                }
                SwitchEnded::Stopped => stopped = true,
                SwitchEnded::Complete => {}
            }
            Ok(Ran {
                seed,
                tallies: switch.tallies().to_vec(),
                corners: switch.into_corners(),
                mismatch,
                stopped,
            })
        })
        .collect::<Result<Vec<Ran>>>()?;
    let seconds = started.elapsed().as_secs_f64();
    drop(step);

    let worst = ran.iter().position(|one| one.mismatch.is_some());
    if worst.is_none() && ran.iter().any(|one| one.stopped) {
        bail!(Interrupted(format!(
            "interrupted after {} cycles of every port, all of them equal; nothing was written",
            ran.iter().map(|one| one.tallies[0].cycles).sum::<u64>()
        )));
    }
    let shown = &ran[worst.unwrap_or(0)];
    let mismatch_cycle = (shown.mismatch.as_ref()).map(|(_, mismatch)| mismatch.cycle);
    let wave = record(args, mismatch_cycle, |path, window| {
        let model = match &traced {
            Some(model) => model.clone(),
            None => {
                let format = format_of(path)?;
                compiled(|| design.compile(&files, Some(format)))?
            }
        };
        let mut recorder = Recorder::verilator(&model, path, window, design.period_ps())?
            .of_switch(design.ports() as usize);
        let end = mismatch_cycle.map_or(WAVE_CYCLES, |cycle| Window::around(cycle).end);
        // The same cycles again: the activity must be told the same length.
        SwitchLockStep::new(design, &mut recorder).drive(shown.seed, cycles, |now| {
            match now >= end || orderly.interrupted() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        ensure!(
            !orderly.interrupted(),
            "interrupted while the waveform was recorded"
        );
        recorder.finish()
    });
    let wave = match wave {
        Some(Ok(path)) => Some(path.display().to_string()),
        Some(Err(error)) => {
            if args.wave.is_some() && worst.is_none() {
                bail!("the run has no mismatch, but there is no waveform: {error:#}");
            }
            output::note(&format!("note: no waveform: {error:#}"));
            None
        }
        None => None,
    };
    let again = shown.mismatch.as_ref().map(|_| {
        let activity = format!("--random --ports {} --seed {}", design.ports(), shown.seed);
        command(args, &activity, Some(cycles))
    });
    let mut tally = Tally::default();
    let mut corners = Corners::new(design.plan(), design.ports());
    for one in &ran {
        one.tallies.iter().for_each(|port| tally.merge(port));
        corners.merge(&one.corners);
    }
    let missed = args.all_corners && !corners.missed().is_empty();
    let outcome = match worst {
        None if !missed => Outcome::Done,
        _ => Outcome::CheckFailed,
    };
    let summary = Summary {
        seeds,
        version: model.version,
        tally,
        corners,
        mismatch: shown.mismatch.as_ref(),
        seconds,
        wave,
        again,
    };
    match args.json {
        true => summary.tell_json(design, out)?,
        false => summary.tell(args, design, out)?,
    }
    Ok(outcome)
}

/// What is reported at the end.
struct Summary<'a> {
    seeds: Vec<u64>,
    version: String,
    /// Of all ports and seeds together.
    tally: Tally,
    corners: Corners,
    mismatch: Option<&'a (usize, Mismatch)>,
    seconds: f64,
    wave: Option<String>,
    again: Option<String>,
}

impl Summary<'_> {
    /// Cycles of every port, of all seeds together.
    fn cycles(&self, design: &SwitchDesign) -> u64 {
        self.tally.cycles / u64::from(design.ports())
    }

    /// For people: first the verdict.
    fn tell(&self, args: &Args, design: &SwitchDesign, out: &mut dyn Write) -> Result<()> {
        let cycles = self.cycles(design);
        let pins = design.pins().outputs.len() as u64;
        writeln!(out, "mismatches: {}", u64::from(self.mismatch.is_some()))?;
        writeln!(
            out,
            "cycles: {cycles} of {} ports in {:.2} s ({} per second)",
            design.ports(),
            self.seconds,
            count(cycles as f64 / self.seconds.max(1e-9))
        )?;
        writeln!(
            out,
            "comparisons: {} ({pins} outputs in every cycle)",
            cycles.saturating_mul(pins)
        )?;
        if let Some(again) = &self.again {
            writeln!(out, "again: {again}")?;
        }
        if let Some(path) = &self.wave {
            writeln!(out, "waveform: {path}")?;
        }
        writeln!(out, "activity: random, {}", seeds_text(&self.seeds))?;
        writeln!(out, "engine: {}", self.version)?;
        write!(out, "{}", report::tally(&self.tally))?;
        if let Some((port, found)) = self.mismatch {
            let text = report::mismatch(found, design.plan(), Some(*port));
            write!(out, "\n{text}")?;
            return Ok(());
        }
        if args.all {
            let states = report::states(&self.tally, design.period_ps());
            write!(out, "\n{states}\n{}\n", self.corner_table())?;
        }
        write!(out, "{}", self.corner_line())?;
        Ok(())
    }

    fn corner_table(&self) -> String {
        let mut corners = table(&["corner", "port", "times", "what"], [1, 2]);
        for corner in self.corners.all() {
            corners.add_row([
                corner.name.to_owned(),
                corner.port.map_or("-".to_owned(), |port| port.to_string()),
                match corner.count {
                    0 => "-".to_owned(),
                    times => times.to_string(),
                },
                corner.what.to_owned(),
            ]);
        }
        trimmed(&corners)
    }

    fn corner_line(&self) -> String {
        let missed = self.corners.missed();
        let all = self.corners.all().len();
        let mut text = format!("corners: {} of {all} reached", all - missed.len());
        if !missed.is_empty() {
            let names = missed.iter().take(NAMES).map(|corner| match corner.port {
                Some(port) => format!("{} of port {port}", corner.name),
                None => corner.name.to_owned(),
            });
            text += &format!("; not: {}", names.collect::<Vec<_>>().join(", "));
            if missed.len() > NAMES {
                text += &format!(" and {} more", missed.len() - NAMES);
            }
        }
        wrapped(&text, 2)
    }

    /// For programs.
    fn tell_json(&self, design: &SwitchDesign, out: &mut dyn Write) -> Result<()> {
        let cycles = self.cycles(design);
        let pins = design.pins().outputs.len() as u64;
        let corners = self.corners.all().iter().map(
            |corner| json!({ "name": corner.name, "port": corner.port, "count": corner.count }),
        );
        let mut value = json!({
            "engine": "verilator",
            "verilator": self.version,
            "activity": format!("random, {}", seeds_text(&self.seeds)),
            "ports": design.ports(),
            "cycles": cycles,
            "mismatches": u64::from(self.mismatch.is_some()),
            "comparisons": cycles.saturating_mul(pins),
            "elapsed_s": self.seconds,
            "cycles_per_second": cycles as f64 / self.seconds.max(1e-9),
            "hits": self.tally.hits,
            "misses": self.tally.misses,
            "updates": self.tally.updates,
            "state_cycles": report::states_json(&self.tally),
            "corners": corners.collect::<Vec<_>>(),
            "wave": self.wave,
            "notes": design.notes(),
        });
        if let Some((port, found)) = self.mismatch {
            value["mismatch"] = report::mismatch_json(found, design.plan(), Some(*port));
            value["command"] = json!(self.again);
            let text = report::mismatch(found, design.plan(), Some(*port));
            output::message(text.trim_end());
        }
        writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
        Ok(())
    }
}

fn seeds_text(seeds: &[u64]) -> String {
    match (seeds.first(), seeds.last()) {
        (Some(first), Some(last)) if first != last => format!("seeds {first} to {last}"),
        (Some(first), _) => format!("seed {first}"),
        _ => "no seed".to_owned(),
    }
}
