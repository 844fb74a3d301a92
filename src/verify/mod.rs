//! Proofs about the emitted Verilog (`docs/evidence/proofs.md`): every claim that the blocks make
//! ([`Reg::property`](crate::hdl::Reg::property)), and every claim about two ports at the ends
//! of a link, by k-induction with Yosys and an SMT solver; claims about two ports with faults, by a
//! search of all reachable states with ABC ([`faults`]).

mod bound;
mod circuit;
mod claims;
mod coding;
pub mod equivalence;
pub mod faults;
mod histogram;
mod history;
mod invariant;
mod layout;
mod pair;
mod recovery;
mod task;
mod tools;
mod voting;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;

use bound::bound;
use claims::shown;
pub use pair::TOP as PAIR;
pub use task::ProofTask;
use tools::{asserted, Answer, Scope, Violation, Workspace};
pub use tools::{takes_z3, Solver, ToolError, Tools};

use crate::config::plan::PortPlan;
use crate::hdl::{Claim, Design};

/// Cycles that induction looks back, at most: claims that need more lack an invariant.
const INDUCTION: u32 = 2;

/// What came of one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// It holds in every reachable state.
    Proved {
        /// Cycles that the induction looked back; `None`: all reachable states were searched.
        #[serde(skip_serializing_if = "Option::is_none")]
        induction: Option<u32>,
    },
    /// A situation that has to be possible comes about.
    Reached {
        /// Cycles after power-up in which it does.
        cycle: u32,
    },
    /// It never does, so claims about it would say nothing.
    Unreachable,
    /// It does not hold.
    Failed {
        /// Cycles after power-up in which it is broken.
        cycle: u32,
    },
    /// Neither proved nor refuted: it holds for some cycles after power-up, but does not
    /// follow from the claims that were proved.
    Unknown {
        /// Cycles after power-up for which it holds; 0 where that was not found out either.
        cycles: u32,
    },
    /// The Verilog does not make this claim, so there was nothing to prove.
    Missing,
}

/// A claim and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Its name by instances from the top, that of its checker left out: `u_fsm.legal_state`.
    pub name: String,
    /// What it says.
    pub says: String,
    /// What it is there for.
    pub kind: Claim,
    /// What came of it.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// How long the solver thought about it.
    pub seconds: f64,
    /// A waveform (VCD) that ends in a violation: from power-up for a claim that failed, from
    /// a state that may not be reachable for an unknown one.
    #[serde(skip)]
    pub trace: Option<Vec<u8>>,
}

/// What came of a part.
#[derive(Debug, Serialize)]
pub struct TaskReport {
    /// The module at the top.
    pub top: String,
    /// What it is.
    pub says: String,
    /// The claims in the order of the design.
    pub findings: Vec<Finding>,
    /// How long it took, beside what else was proved.
    pub seconds: f64,
}

impl TaskReport {
    /// Whether every claim is proved.
    pub fn proved(&self) -> bool {
        self.findings.iter().all(Finding::proved)
    }
}

impl Finding {
    /// Whether the claim is proved, or the situation comes about that it speaks of.
    pub fn proved(&self) -> bool {
        matches!(
            self.verdict,
            Verdict::Proved { .. } | Verdict::Reached { .. }
        )
    }
}

/// What is proved apart from the rest of a port: what it is, and the instances that make its
/// claims.
struct Part {
    says: &'static str,
    instances: &'static [&'static str],
}

/// In each task the other parts compute anything.
const PARTS: &[Part] = &[
    Part {
        says: "the prediction of one port; what it does not compute itself is arbitrary",
        instances: &[
            "u_idle_meter",
            "u_regular",
            "u_clearing",
            "u_circular",
            "u_decaying",
            "u_map",
            "u_perfbound",
        ],
    },
    Part {
        says: "the AXI4-Lite pins of one port and its registers; what they count is arbitrary",
        instances: &["u_axi_lite", "u_csr"],
    },
];

/// Which of the parts makes the claims of this checker, if it is one of them.
fn part_of(checker: &str) -> Option<usize> {
    let instance = checker.split('.').next()?;
    PARTS
        .iter()
        .position(|part| part.instances.contains(&instance))
}

/// What there is to prove about the Verilog in `files` and its checkers among them, which are to be
/// those of `design`, made from `plan`.
///
/// # Errors
/// If the checkers do not belong to the Verilog.
pub fn proof_tasks(
    plan: &PortPlan,
    design: &Design,
    files: &[(String, String)],
) -> Result<Vec<ProofTask>, ToolError> {
    let files = bound(files, design.top())?;
    let task = |part: Option<usize>, says: &str| {
        let checkers = design.checkers().into_iter();
        let claims = design.claims().into_iter();
        ProofTask {
            top: design.top().into(),
            says: says.into(),
            files: files.clone(),
            parameters: Vec::new(),
            induction: INDUCTION,
            cuts: design.instances_without_claims(|checker| part_of(checker) == part),
            assumed: Vec::new(),
            left_out: checkers.filter(|it| part_of(it) != part).collect(),
            claims: claims.filter(|it| part_of(&it.name) == part).collect(),
            others_given: false,
        }
    };
    let port = "one port; its inputs, and with them the other end, do what they like";
    let parts = PARTS.iter().enumerate();
    let parts = parts.map(|(part, it)| task(Some(part), it.says));
    let tasks = std::iter::once(task(None, port)).chain(parts.filter(|it| !it.claims.is_empty()));
    let tasks = tasks.chain(histogram::task(plan, design, &files)?);
    let tasks = tasks.chain(history::task(plan, design, &files)?);
    let tasks = tasks.chain([recovery::task(plan, design, &files)?]);
    let tasks = tasks.chain(voting::task(plan, design, &files)?);
    let tasks = tasks.chain(coding::task(plan, design, &files)?);
    Ok(tasks.chain(pair::part(plan, design, &files)).collect())
}

/// What there is to prove about a design that is no port: all that the Verilog in `files` claims,
/// which is to be that of `design`, its checkers among the files.
///
/// # Errors
/// If the checkers do not belong to the Verilog.
pub fn block_task(
    design: &Design,
    files: &[(String, String)],
    says: &str,
) -> Result<ProofTask, ToolError> {
    Ok(ProofTask {
        top: design.top().into(),
        says: says.into(),
        files: bound(files, design.top())?,
        parameters: Vec::new(),
        induction: INDUCTION,
        cuts: Vec::new(),
        assumed: Vec::new(),
        left_out: Vec::new(),
        claims: design.claims(),
        others_given: false,
    })
}

/// How far an attempt to prove all claims has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Claims in all.
    pub all: u64,
    /// Claims whose induction step is decided.
    pub done: u64,
}

/// A proof under way.
struct Proof<'a> {
    run: Workspace<'a>,
    findings: Vec<Finding>,
    /// Claims that nothing may lean on.
    dropped: BTreeSet<String>,
    /// Cycles that induction looks back, at most.
    induction: u32,
    /// Cycles after power-up in which the claims that are left are known to hold.
    held: u32,
}

/// Proves what can be proved of a part: base case and induction step, each claim leaning on
/// all others. A claim that does not follow is searched for a violation in the first `depth`
/// cycles after power-up and taken out; the rest must hold without it.
///
/// `tell` hears how far an attempt has come: nobody knows how many it takes, most often one.
///
/// # Errors
/// If a tool does not do its work, or Yosys refuses the Verilog.
pub fn prove(
    part: &ProofTask,
    tools: &Tools,
    depth: u32,
    tell: &(dyn Fn(Attempt) + Sync),
) -> Result<TaskReport, ToolError> {
    let started = Instant::now();
    let run = Workspace::new(tools, part)?;
    let made = asserted(&run.translate(Scope::Cut, &BTreeSet::new())?);
    let finding = |name: &str, says: &str, kind| Finding {
        name: name.into(),
        says: says.into(),
        kind,
        verdict: match made.contains_key(name) {
            true => Verdict::Unknown { cycles: 0 },
            false => Verdict::Missing,
        },
        seconds: 0.0,
        trace: None,
    };
    let mut findings: Vec<Finding> = part
        .claims
        .iter()
        .map(|claim| finding(&claim.name, &claim.says, claim.kind))
        .collect();
    // Others lean on them, so they have to hold too.
    for name in made.keys() {
        if !part.others_given && !findings.iter().any(|known| known.name == *name) {
            findings.push(finding(
                name,
                "A claim beside those of this part.",
                Claim::Invariant,
            ));
        }
    }
    let mut proof = Proof {
        run,
        findings,
        dropped: BTreeSet::new(),
        induction: part.induction,
        held: 0,
    };
    let mut searched = false;
    loop {
        let failing = proof.attempt(tell)?;
        if failing.is_empty() {
            break;
        }
        if !searched {
            searched = true;
            if proof.search(depth)? {
                continue;
            }
        }
        for name in failing {
            let cycles = proof.held;
            proof.note(&name, Verdict::Unknown { cycles });
            proof.dropped.insert(name);
        }
    }
    for finding in &mut proof.findings {
        finding.name = shown(&finding.name);
    }
    Ok(TaskReport {
        top: part.top.clone(),
        says: part.says.clone(),
        findings: proof.findings,
        seconds: started.elapsed().as_secs_f64(),
    })
}

impl Proof<'_> {
    fn note(&mut self, name: &str, verdict: Verdict) -> Option<&mut Finding> {
        let mut findings = self.findings.iter_mut();
        let finding = findings.find(|finding| finding.name == name)?;
        finding.verdict = verdict;
        Some(finding)
    }

    /// Base case and step of the claims that are left; the names of those that do not follow.
    fn attempt(&mut self, tell: &(dyn Fn(Attempt) + Sync)) -> Result<Vec<String>, ToolError> {
        let design = self.run.translate(Scope::Cut, &self.dropped)?;
        let induction = self.induction;
        let mut claims = asserted(&design);
        // What is not to be found is given.
        claims.retain(|name, _| self.findings.iter().any(|it| it.name == *name));
        if claims.is_empty() {
            return Ok(Vec::new());
        }
        // The base case has to reach as far as the step looks back.
        let base = self.run.violated(&design, induction)?;
        if base.gave_up {
            return Ok(claims.into_keys().collect());
        }
        if !base.violations.is_empty() {
            let names = base.violations.into_iter().map(|violation| violation.name);
            return Ok(names.collect());
        }
        self.held = self.held.max(induction);
        let all = claims.len() as u64;
        let decided = AtomicU64::new(0);
        tell(Attempt { all, done: 0 });
        let answers: Vec<(String, Option<u32>, f64, bool)> = claims
            .par_iter()
            .map(|(name, &number)| {
                let started = Instant::now();
                let mut refuted = false;
                let mut proved = None;
                for depth in 1..=induction {
                    match self.run.step(&design, number, depth)? {
                        Answer::Unsatisfiable => proved = Some(depth),
                        Answer::Satisfiable => refuted = true,
                        Answer::Unknown => {}
                    }
                    if proved.is_some() {
                        break;
                    }
                }
                let done = decided.fetch_add(1, Ordering::Relaxed) + 1;
                tell(Attempt { all, done });
                Ok((
                    name.clone(),
                    proved,
                    started.elapsed().as_secs_f64(),
                    refuted,
                ))
            })
            .collect::<Result<_, ToolError>>()?;
        let mut failing = Vec::new();
        let mut refuted = false;
        for (name, proved, seconds, satisfiable) in answers {
            let verdict = match proved {
                Some(_) => Verdict::Proved { induction: proved },
                None => Verdict::Unknown { cycles: induction },
            };
            if let Some(finding) = self.note(&name, verdict) {
                finding.seconds = seconds;
            }
            if proved.is_none() {
                refuted |= satisfiable;
                failing.push(name);
            }
        }
        if refuted {
            // Shows the states from which the claims fail; some of them at least.
            for violation in self.run.counterexample(induction)?.violations {
                let verdict = Verdict::Unknown { cycles: induction };
                if let Some(finding) = self.note(&violation.name, verdict) {
                    finding.trace = violation.trace;
                    failing.push(violation.name);
                }
            }
            failing.sort();
            failing.dedup();
        }
        Ok(failing)
    }

    /// Searches the whole design for violations in its first `depth` cycles and takes out what
    /// it finds; whether it found something.
    fn search(&mut self, depth: u32) -> Result<bool, ToolError> {
        let design = self.run.translate(Scope::Whole, &self.dropped)?;
        let mut search = self.run.violated(&design, depth)?;
        let steps: BTreeSet<u32> = search.violations.iter().map(|found| found.step).collect();
        for step in steps {
            for shown in self.run.traces(step)?.violations {
                let mut violations = search.violations.iter_mut();
                if let Some(found) = violations.find(|found| found.name == shown.name) {
                    if found.step == step {
                        found.trace = shown.trace;
                    }
                }
            }
        }
        if !search.gave_up {
            self.held = self.held.max(depth);
        }
        let found = !search.violations.is_empty();
        for Violation { name, step, trace } in search.violations {
            if let Some(finding) = self.note(&name, Verdict::Failed { cycle: step }) {
                finding.trace = trace;
            }
            self.dropped.insert(name);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
