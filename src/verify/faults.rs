//! Two ports joined by a link that loses messages, each end with a reset of its own:
//! `testbench/pair_faults.v`. The times are short, so that ABC can search all reachable states.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::claims::{claims_in, shown, BROKEN};
use super::task::ProofTask;
use super::tools::{Abc, ToolError, Tools, Workspace};
use super::{Attempt, Finding, TaskReport, Verdict};
use crate::blocks::link_sync;
use crate::blocks::port::pins::PowerState;
use crate::blocks::port::Port;
use crate::config::plan::{
    LinkPlan, MemoryCode, MessagesPlan, Policy, PortPlan, RefreshPlan, Sleep, SleepTimes, SyncPlan,
};
use crate::hdl::verilog::{self, Header};
use crate::hdl::{self, Claim, ClaimText};

pub(super) const TEXT: &str = include_str!("../../testbench/pair_faults.v");

/// The module at the top of [`task`].
pub const TOP: &str = "pair_faults";

/// What the name of a wire begins with that is 1 where a situation has come about.
const REACHED: &str = "reached_";

/// Clock cycles after which a silent end is given up: an answer takes three over a link with a
/// delay of one.
const TIMEOUT: u64 = 3;

/// The same port with times of a few cycles. Which comes first, the end of a transition or that of
/// an exchange, depends on the delay, as it does with real times.
fn with_short_times(plan: &PortPlan) -> PortPlan {
    PortPlan {
        clocks_per_tick: 1,
        // The timer and the guard are cut out: every threshold and every rate is covered.
        policy: Policy::Fixed,
        t_pdt_init: 1,
        t_backstop: Some(1),
        link: LinkPlan {
            fast_wake: SleepTimes { t_s: 2, t_w: 3 },
            deep_sleep: SleepTimes { t_s: 4, t_w: 5 },
            hybrid_hold: 2,
            refresh: plan.link.refresh.map(|_| RefreshPlan { t_q: 3, t_r: 1 }),
        },
        sync: SyncPlan::Messages(MessagesPlan { timeout: TIMEOUT }),
        registers: None,
        // Copies of a register are one register (`voting.v`).
        triple_redundancy: false,
        // There is no memory.
        memory_code: MemoryCode::Plain,
        guard: plan.guard.map(|mut guard| {
            guard.adjustable = false;
            guard
        }),
        ..*plan
    }
}

/// What is to be proved of two ports of `plan` with faults, and what has to be possible there; if
/// their ends exchange messages and go to sleep.
///
/// # Errors
/// If there is no Verilog of such ports, which is a defect.
pub fn task(plan: &PortPlan) -> Result<Option<ProofTask>, ToolError> {
    if plan.messages().is_none() || plan.policy == Policy::AlwaysOn {
        return Ok(None);
    }
    let plan = with_short_times(plan);
    let sync = MessagesPlan { timeout: TIMEOUT };
    let refused = |error: hdl::ElabError| ToolError::Refused(error.to_string());
    let design = hdl::elaborate(&Port::new(&plan)).map_err(refused)?;
    let longest_delay = link_sync::longest_delay(&plan, &sync);
    let mut files = verilog::print(&design, &Header::for_tests());
    files.retain(|(name, _)| name.ends_with(".v"));
    let text = super::pair::tie_control_pins(&plan, TEXT);
    files.push((format!("{TOP}.v"), text));
    let mut cuts = vec!["u_idle_meter", "u_pdt_timer"];
    cuts.extend(plan.guard.map(|_| "u_guard"));
    let asleep = match plan.sleep {
        Sleep::FastWake => PowerState::FastWake,
        Sleep::DeepSleep | Sleep::Hybrid => PowerState::DeepSleep,
    };
    Ok(Some(ProofTask {
        top: TOP.into(),
        says: format!(
            "two ports with short times (t_s, t_w of a few cycles, a time-out of {TIMEOUT}) on a \
             link of 0 to {longest_delay} cycles that may lose every message; each end is reset \
             when it likes; all reachable states are searched"
        ),
        files,
        induction: super::INDUCTION,
        parameters: vec![
            ("LONGEST_DELAY", longest_delay),
            ("TIMEOUT", TIMEOUT),
            ("RESET", TIMEOUT),
            ("START", link_sync::start_cycles(&plan, &sync)),
            (
                "LONGEST_WAIT",
                link_sync::wake_bound(&plan, None).unwrap_or_default(),
            ),
            ("SLEEP", asleep as u64),
        ],
        cuts: cuts
            .iter()
            .map(|cut| format!("{}/{cut}", design.top()))
            .collect(),
        assumed: Vec::new(),
        left_out: Vec::new(),
        claims: claims(),
        others_given: false,
    }))
}

/// The claims of `pair_faults.v`, and the situations that have to be possible: the names of their
/// wires.
pub(super) fn claims() -> Vec<ClaimText> {
    let instances = [
        (TOP, ""),
        ("fault_end", "u_end_a."),
        ("fault_end", "u_end_b."),
    ];
    claims_in(TEXT, &instances, |line| {
        let (name, _) = line.strip_prefix("wire ")?.split_once(" =")?;
        is_claim(name).then_some((name, Claim::Property))
    })
}

fn is_claim(name: &str) -> bool {
    name.starts_with(BROKEN) || name.starts_with(REACHED)
}

/// Decides every claim of [`task`], and whether every situation comes about. `tell` is as for
/// [`super::prove`].
///
/// # Errors
/// If a tool is missing, or does not do its work.
pub fn prove(
    task: &ProofTask,
    tools: &Tools,
    tell: &(dyn Fn(Attempt) + Sync),
) -> Result<TaskReport, ToolError> {
    let started = Instant::now();
    let abc = Abc::find()?;
    let run = Workspace::new(tools, task)?;
    let outputs = outputs(&run.circuit(&format!("w:*{BROKEN}* w:*{REACHED}*"))?);
    let all = task.claims.len() as u64;
    let decided = AtomicU64::new(0);
    tell(Attempt { all, done: 0 });
    let findings = task.claims.par_iter().map(|claim| {
        let started = Instant::now();
        let verdict = match outputs.get(&claim.name) {
            None => Verdict::Missing,
            Some(&output) => match run.search(&abc, output)? {
                None => Verdict::Unknown { cycles: 0 },
                Some(text) => verdict(&claim.name, &text).ok_or_else(|| ToolError::Broken {
                    command: format!("pdr of {}", claim.name),
                    output: "no status".into(),
                })?,
            },
        };
        let done = decided.fetch_add(1, Ordering::Relaxed) + 1;
        tell(Attempt { all, done });
        Ok(Finding {
            name: shown(&claim.name),
            says: claim.says.clone(),
            kind: claim.kind,
            verdict,
            seconds: started.elapsed().as_secs_f64(),
            trace: None,
        })
    });
    Ok(TaskReport {
        top: task.top.clone(),
        says: task.says.clone(),
        findings: findings.collect::<Result<_, ToolError>>()?,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// The outputs of a circuit by their names, in the map that Yosys writes.
fn outputs(map: &str) -> BTreeMap<String, usize> {
    let lines = map.lines().filter_map(|line| line.strip_prefix("output "));
    lines
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let number = words.next()?.parse().ok()?;
            Some((words.nth(1)?.to_owned(), number))
        })
        .collect()
}

/// What ABC says of the wire called `name`: whether it can be 1, and in which cycle first.
pub(super) fn verdict(name: &str, text: &str) -> Option<Verdict> {
    let after = |mark: &str| -> Option<i64> {
        let (_, rest) = text.split_once(mark)?;
        let end = rest
            .trim_start()
            .split(|it: char| !it.is_ascii_digit() && it != '-');
        end.into_iter().next()?.parse().ok()
    };
    let situation = name.split('.').any(|part| part.starts_with(REACHED));
    let cycle = || u32::try_from(after("asserted in frame")?).ok();
    Some(match (after("Status =")?, situation) {
        (1, false) => Verdict::Proved { induction: None },
        (1, true) => Verdict::Unreachable,
        (0, false) => Verdict::Failed { cycle: cycle()? },
        (0, true) => Verdict::Reached { cycle: cycle()? },
        _ => Verdict::Unknown {
            cycles: u32::try_from(after("Frames =")?).ok()?,
        },
    })
}
