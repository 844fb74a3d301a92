//! `--scenario`: the ports of a switch under an application's traffic.

use std::fmt::Write as _;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use anyhow::{bail, ensure, Result};
use serde_json::json;

use super::session::{Found, Session, Summary, SwitchReport};
use super::Args;
use crate::cli::progress::Step;
use crate::cli::{interrupted, output, Interrupted, Outcome};
use crate::config::plan::PortPlan;
use crate::config::Config;
use crate::cosim::code_coverage::CodeCoverage;
use crate::cosim::port::PortDesign;
use crate::cosim::scenario::{Bench, OnePort, Results, Taps};
use crate::cosim::{ActivitySink, Design, Run, Tally};
use crate::energy::{check_conservation, LinkPower, SystemPower};
use crate::files;
use crate::network::scenario::{Power, Scenario};
use crate::network::{self, event, Ended, RunSummary, Workload};

/// Replays the scenario's trace through the switch with a golden model at both ends of
/// every link, and drives an instance of the hardware with what each switch port saw.
///
/// # Errors
/// Bad input, a missing tool, or an engine that fails.
pub(super) fn run(
    args: &Args,
    config: &Config,
    design: &PortDesign,
    path: &Path,
    out: &mut dyn Write,
) -> Result<Outcome> {
    let mut scenario = Scenario::load(path)?;
    if scenario.power != Power::AlwaysOn {
        output::note(&format!(
            "note: the ports obey {}, not the [power] of {}",
            args.config.display(),
            path.display()
        ));
    }
    let clock_ps = design.period_ps();
    if let Some(cycles) = args.cycles {
        let duration = cycles.saturating_mul(clock_ps);
        scenario.duration_ps = Some(scenario.duration_ps.unwrap_or(duration).min(duration));
    }
    // Every port is compared from its reset on.
    let waking = event::waking_cycles(&scenario.switch, design.plan(), clock_ps)?;
    let cycles = scenario
        .duration_ps
        .map(|ps| waking.saturating_add(ps.div_ceil(clock_ps)));
    let Some(workload) = Workload::of(&scenario)? else {
        bail!(
            "{}: [traffic] is a pattern; the ports are driven by an application here: kind = \
             \"goal\" or \"skeleton\" (`linkdoze simulate` runs patterns)",
            path.display()
        );
    };
    let ports = scenario.topology.switch_ports();
    let topology = &*scenario.topology;
    // The same controller at both ends of every link.
    let plans = vec![*design.plan(); topology.classes().len()];
    let replay = |plans: &[PortPlan], taps: &Taps, sink: &mut dyn FnMut() -> ControlFlow<()>| {
        // Where a time ends the run, the operations say nothing about what is left.
        let step = match scenario.duration_ps {
            None => Step::of("replaying the trace", workload.operations() as u64),
            Some(_) => Step::new("replaying the trace"),
        };
        let power = event::Power {
            clock_ps,
            plans,
            metered: None,
        };
        let cabled = (0..ports).filter(|&port| topology.peer(port).is_some());
        let tapped = match plans {
            [] => event::Replacements::new(),
            _ => taps.replacements(cabled, || design.golden()),
        };
        let mut go_on = |now: &network::Progress| {
            step.set_position(now.operations_finished as u64);
            if interrupted() {
                return ControlFlow::Break(());
            }
            sink()
        };
        let workload = Some(&workload);
        let summary = network::run(&scenario, workload, &power, 1, tapped, &mut go_on)?;
        check_conservation(&summary)?;
        anyhow::Ok(summary)
    };
    let feed = |sink: &mut dyn ActivitySink| {
        let taps = Taps::default();
        let summary = replay(&plans, &taps, &mut || taps.drain(sink))?;
        Ok(Some(match taps.drain(sink) {
            ControlFlow::Continue(()) => summary,
            ControlFlow::Break(()) => RunSummary {
                ended: Ended::Stopped,
                ..summary
            },
        }))
    };
    let link = LinkPower::of_states(&config.states)?;
    let power = SystemPower::new(link, &scenario.devices);
    let report = |summary: &RunSummary| {
        let always_on = replay(&[], &Taps::default(), &mut || ControlFlow::Continue(()))?;
        if interrupted() {
            bail!(Interrupted(
                "interrupted while the same network without power saving was simulated".into()
            ));
        }
        Ok(switch_report(summary, &always_on, &power, &workload.source))
    };
    compare(args, design, (ports, cycles), &feed, &report, out)
}

/// Runs a scenario with the golden models and tells the sink what their pins did, from
/// cycle 0; ends early, without an error, when the sink breaks.
type Feed<'a> = dyn Fn(&mut dyn ActivitySink) -> Result<Option<RunSummary>> + 'a;

/// Compares `ports` ports, and so many cycles of each if that is known before.
pub(super) fn compare<D: Design + Sync>(
    args: &Args,
    design: &D,
    (ports, cycles): (usize, Option<u64>),
    feed: &Feed,
    report: &dyn Fn(&RunSummary) -> Result<SwitchReport>,
    out: &mut dyn Write,
) -> Result<Outcome> {
    ensure!(
        args.wave_port < ports,
        "--wave-port {}: the scenario has ports 0 to {}",
        args.wave_port,
        ports.saturating_sub(1)
    );
    let path = args.scenario.clone().unwrap_or_default();
    let session = Session::new(args, design)?;
    let engines = (0..ports)
        .map(|_| session.hardware.instance())
        .collect::<Result<Vec<_>>>()?;
    let all = cycles.map(|cycles| cycles.saturating_mul(ports as u64));
    let step = Arc::new(Step::cycles("the ports of the scenario", all));
    let seen = Arc::new(AtomicU64::new(0));
    let watch = {
        let step = Arc::clone(&step);
        let seen = Arc::clone(&seen);
        move |cycles: u64| {
            step.set_position(cycles);
            seen.store(cycles, Ordering::Relaxed);
            if interrupted() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    };
    let mut bench = Bench::new(design.plan(), engines, watch);
    let summary = feed(&mut bench)?;
    let Results {
        tallies,
        coverage,
        mismatch,
    } = bench.finish()?;
    let elapsed = session.started.elapsed();
    drop(step);
    if mismatch.is_none() && session.interrupted() {
        bail!(Interrupted(format!(
            "interrupted after {} cycles of all ports, all of them equal; nothing was written",
            seen.load(Ordering::Relaxed)
        )));
    }
    let mut tally = Tally::default();
    for port in &tallies {
        tally.merge(port);
    }
    let argument = format!("--scenario {}", files::shell_word(&path));
    let (port, cycle) = mismatch
        .as_ref()
        .map_or((args.wave_port, None), |(port, found)| {
            (*port, Some(found.cycle))
        });
    let wave = session.record(cycle, |recorder| {
        let mut outcome = Ok(());
        let mut sink = OnePort::new(port, |run: &Run| {
            outcome = recorder.feed(&[*run]);
            if outcome.is_err() || recorder.is_complete() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        feed(&mut sink)?;
        ensure!(
            !interrupted(),
            "interrupted while the waveform was recorded"
        );
        outcome
    });
    let found = mismatch.map(|(port, mismatch)| Found {
        mismatch,
        port: Some(port),
        command: session.command(&argument, args.cycles),
    });
    session.conclude(
        &Summary {
            activity: format!("scenario {}", path.display()),
            tally,
            ports: tallies,
            coverage,
            code: CodeCoverage::default(),
            affordable: Box::new(|_| true),
            elapsed,
            mismatch: found,
            // After a mismatch the run was cut short: its figures mean nothing.
            scenario: summary
                .filter(|summary| summary.ended != Ended::Stopped)
                .map(|summary| report(&summary))
                .transpose()?,
            wave,
        },
        out,
    )
}

/// What the application and the links did, against the same with links always on.
pub(super) fn switch_report(
    run: &RunSummary,
    always_on: &RunSummary,
    power: &SystemPower,
    trace: &Path,
) -> SwitchReport {
    let joules = power.energy(1, run).joules();
    // Of a run of its own: sleeping may make the application take longer.
    let awake = power.energy(1, always_on).joules();
    let ends = run.ports.len();
    // Of a cut trace the slower run has done less; links without power have nothing to save.
    let whole = run.ended == Ended::Complete && always_on.ended == Ended::Complete;
    let saved = (whole && awake.links > 0.0).then(|| 100.0 * (1.0 - joules.links / awake.links));
    let ms = |ps: u64| ps as f64 / 1e9;
    let ns = |ps: u64| ps as f64 / 1e3;
    // Two windows of the same length say nothing about execution time.
    let overhead =
        whole.then(|| 100.0 * (run.time_ps as f64 / always_on.time_ps.max(1) as f64 - 1.0));
    let mut text = format!("{}: ", trace.display());
    // Writing to a string does not fail.
    let _ = match overhead {
        Some(overhead) => writeln!(
            text,
            "the whole trace, {:.3} ms; always on {:.3} ms: {overhead:+.3} %",
            ms(run.time_ps),
            ms(always_on.time_ps)
        ),
        None => writeln!(
            text,
            "the first {:.3} ms, {} of {} operations finished; always on {}",
            ms(run.time_ps),
            run.operations_finished,
            run.operations,
            always_on.operations_finished
        ),
    };
    let latency = |of: &RunSummary| {
        format!(
            "mean {:.0} ns, p50 {:.0}, p99 {:.0}, max {:.0}",
            of.latency.mean_ps / 1e3,
            ns(of.latency.p50_ps),
            ns(of.latency.p99_ps),
            ns(of.latency.max_ps)
        )
    };
    let _ = writeln!(
        text,
        "packets: {} of {} messages\nlatency: {}; always on {}",
        run.packets,
        run.messages,
        latency(run),
        latency(always_on)
    );
    let _ = writeln!(
        text,
        "link energy: {:.4} J at {ends} link ends (switch ports and NICs); always on {:.4} J{}",
        joules.links,
        awake.links,
        saved.map_or(String::new(), |saved| format!(": {saved:.2} % saved")),
    );
    let latency_ns = |of: &RunSummary| {
        json!({
            "mean": of.latency.mean_ps / 1e3,
            "p50": ns(of.latency.p50_ps),
            "p99": ns(of.latency.p99_ps),
            "max": ns(of.latency.max_ps),
        })
    };
    let json = json!({
        "trace": trace.display().to_string(),
        "whole_trace": run.ended == Ended::Complete,
        "time_ns": ns(run.time_ps),
        "packets": run.packets,
        "packet_hops": run.packet_hops,
        "delivered_bytes": run.delivered_bytes,
        "latency_ns": latency_ns(run),
        "link_ends": ends,
        "energy_j": joules,
        "links_saved_percent": saved,
        "always_on": {
            "energy_j": awake,
            "time_ns": ns(always_on.time_ps),
            "latency_ns": latency_ns(always_on),
        },
    });
    SwitchReport { text, json }
}
