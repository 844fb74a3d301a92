//! Proofs about the emitted Verilog: every claim that the blocks make
//! ([`Reg::property`](crate::hdl::Reg::property)) by k-induction, with Yosys and an SMT
//! solver (`docs/proofs.md`).

mod tools;

use std::collections::BTreeSet;
use std::time::Instant;

use serde::Serialize;

use tools::{Check, Run};
pub use tools::{Solver, ToolError, Tools};

use crate::hdl::{Claim, ClaimText, Design};

/// Cycles that induction looks back, at most: invariants that need more are written too
/// weakly.
const INDUCTION: u32 = 4;

/// What is proved in one go: a design with its claims.
#[derive(Debug)]
pub struct Part {
    /// The module at the top.
    pub top: String,
    /// The Verilog: names and texts.
    pub files: Vec<(String, String)>,
    /// What has to be proved.
    pub claims: Vec<ClaimText>,
}

/// What came of one claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// It holds in every reachable state.
    Proved {
        /// Cycles that the induction looked back.
        induction: u32,
    },
    /// It does not hold.
    Failed {
        /// Cycles after power-up in which it is broken.
        cycle: u32,
    },
    /// Neither proved nor refuted: it holds for some cycles after power-up, but does not
    /// follow from the claims that were proved.
    Unknown {
        /// Cycles after power-up for which it holds.
        cycles: u32,
    },
    /// The Verilog does not make this claim, so there was nothing to prove.
    Missing,
}

/// A claim and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Its name by instances from the top, as in the Verilog.
    pub name: String,
    /// What it says.
    pub says: String,
    /// What it is there for.
    pub kind: Claim,
    /// What came of it.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// A waveform (VCD) that ends in a violation: from power-up for a claim that failed, from
    /// some unreachable state for an unknown one.
    #[serde(skip)]
    pub trace: Option<Vec<u8>>,
}

/// What came of a part.
#[derive(Debug, Serialize)]
pub struct PartReport {
    /// The module at the top.
    pub top: String,
    /// The claims in the order of the design.
    pub findings: Vec<Finding>,
    /// How long it took.
    pub seconds: f64,
}

impl PartReport {
    /// Whether every claim is proved.
    pub fn proved(&self) -> bool {
        let proved = |finding: &Finding| matches!(finding.verdict, Verdict::Proved { .. });
        self.findings.iter().all(proved)
    }
}

/// Proves what can be proved of a part. All claims are proved together, each leaning on the
/// others; a claim that does not follow is taken out, and the rest must hold without it.
/// Claims are checked from power-up for `depth` cycles when induction does not prove them.
///
/// # Errors
/// If a tool does not do its work, or Yosys refuses the Verilog.
pub fn prove(part: &Part, tools: &Tools, depth: u32) -> Result<PartReport, ToolError> {
    let started = Instant::now();
    let run = Run::new(tools, part)?;
    let asserted = run.asserted()?;
    let mut findings: Vec<Finding> = part
        .claims
        .iter()
        .map(|claim| Finding {
            name: claim.name.clone(),
            says: claim.says.clone(),
            kind: claim.kind,
            verdict: match asserted.contains(&claim.name) {
                true => Verdict::Proved { induction: 0 },
                false => Verdict::Missing,
            },
            trace: None,
        })
        .collect();
    let mut dropped = BTreeSet::new();
    let mut base = INDUCTION + 1;
    refute(&run, base, &mut dropped, &mut findings)?;
    loop {
        if asserted.is_subset(&dropped) {
            break;
        }
        match run.check(&dropped, Check::Induction(INDUCTION))? {
            found if found.violations.is_empty() => {
                for finding in &mut findings {
                    if let Verdict::Proved { induction } = &mut finding.verdict {
                        *induction = found.steps;
                    }
                }
                break;
            }
            _ if base < depth => {
                base = depth;
                refute(&run, base, &mut dropped, &mut findings)?;
            }
            found => {
                for violation in found.violations {
                    let verdict = Verdict::Unknown { cycles: base };
                    note(&mut findings, &violation.name, verdict, violation.trace);
                    dropped.insert(violation.name);
                }
            }
        }
    }
    Ok(PartReport {
        top: part.top.clone(),
        findings,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Looks for violations in the first `cycles` cycles and takes out what it finds.
fn refute(
    run: &Run,
    cycles: u32,
    dropped: &mut BTreeSet<String>,
    findings: &mut [Finding],
) -> Result<(), ToolError> {
    for violation in run.check(dropped, Check::Bounded(cycles))?.violations {
        let verdict = Verdict::Failed {
            cycle: violation.step,
        };
        note(findings, &violation.name, verdict, violation.trace);
        dropped.insert(violation.name);
    }
    Ok(())
}

fn note(findings: &mut [Finding], name: &str, verdict: Verdict, trace: Option<Vec<u8>>) {
    if let Some(finding) = findings.iter_mut().find(|finding| finding.name == name) {
        finding.verdict = verdict;
        finding.trace = trace;
    }
}

/// What there is to prove about the Verilog in `files`, which is to be that of `design`.
pub fn parts(design: &Design, files: Vec<(String, String)>) -> Vec<Part> {
    vec![Part {
        top: design.top().into(),
        files,
        claims: design.claims(),
    }]
}

#[cfg(test)]
mod tests;
