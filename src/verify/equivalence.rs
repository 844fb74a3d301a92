//! Whether a fault in the hardware is one: whether a version of it ([`crate::hdl::mutants`])
//! behaves, from every state that it can be in, as the design without the fault.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::circuit::Circuit;
use super::invariant::{Facts, Formulas, NamedFacts, Pair};
use super::layout::Layout;
use super::task::ProofTask;
use super::tools::{Answer, Scope, ToolError, Tools, Workspace};
use crate::config::plan::PortPlan;
use crate::hdl::{ClaimText, Design};

/// Within so many cycles, and one, a version has to be in the state that the design is in.
const STEPS: [u32; 3] = [0, 2, 5];

/// Claims that multiply. They say nothing about which states come about that others do not, and a
/// solver takes long over them.
const MULTIPLYING: [&str; 8] = [
    "window_allows",
    "packets_taken",
    "search_allows",
    "search_taken",
    "digit_added",
    "product_of_digits",
    "budget_is_product",
    "guard_kept",
];

/// A design with an input that chooses a fault, translated for the solver.
pub struct Versions<'a> {
    run: Workspace<'a>,
    /// The design as SMT-LIB.
    text: String,
    layout: Layout,
    circuit: Option<Circuit>,
    /// What holds of the design beside its claims, in this translation.
    facts: OnceLock<Facts>,
    known: Option<&'a Known>,
}

/// What is known to hold of a design beside its claims. It is looked for when it is needed first, which
/// takes minutes for a port with registers.
#[derive(Default)]
pub struct Known(Mutex<Option<NamedFacts>>);

/// Ready to be asked about: the Verilog in `files`, printed from `design` with faults to choose
/// from, and the checkers of `design`.
///
/// # Errors
/// If the checkers do not belong to the Verilog.
pub fn versions_task(
    plan: &PortPlan,
    design: &Design,
    files: &[(String, String)],
) -> Result<ProofTask, ToolError> {
    let mut tasks = super::proof_tasks(plan, design, files)?;
    // All claims are proved, in one task or another, so all of them tell which states come about.
    Ok(ProofTask {
        left_out: Vec::new(),
        ..tasks.swap_remove(0)
    })
}

impl<'a> Versions<'a> {
    /// Translates the design of [`versions_task`], whose claims are these, and of which this is known.
    /// Of a large design nothing can be: there is no look ahead either.
    ///
    /// # Errors
    /// If Yosys fails, or what it writes is not understood.
    pub fn new(
        tools: &'a Tools,
        task: &'a ProofTask,
        claims: &[ClaimText],
        known: Option<&'a Known>,
    ) -> Result<Versions<'a>, ToolError> {
        let run = Workspace::new(tools, task)?;
        let multiplies = |claim: &ClaimText| {
            let name = claim.name.rsplit('.').next();
            name.is_some_and(|name| MULTIPLYING.contains(&name))
        };
        let claims = claims.iter().filter(|claim| multiplies(claim));
        let dropped = claims.map(|claim| claim.name.clone()).collect();
        let text = run.translate(Scope::Whole, &dropped)?;
        let layout = Layout::read(&task.top, &text).ok_or_else(|| {
            ToolError::Refused("the formulas of Yosys are not understood".to_owned())
        })?;
        Ok(Versions {
            run,
            circuit: Circuit::read(&task.top, &text),
            text,
            layout,
            facts: OnceLock::new(),
            known,
        })
    }

    /// Whether the version of this number does on its pins what the design does, in every cycle:
    /// from every state that the claims of the design allow, it does so until it is in the same
    /// state again, which it is within some cycles.
    ///
    /// A fault of a reset (`of_reset`) acts in reset alone, whenever that comes. The two leave it in
    /// different states, and are in the same state within some cycles. Meanwhile they differ in
    /// registers alone that the next reset sets and in words read of memories, not in what memories
    /// hold. No pin and no write to a memory depends on the reset in the cycle that it comes in, so
    /// the next may come at any time.
    ///
    /// # Errors
    /// If the solver does not start.
    pub fn proves(&self, number: u64, of_reset: bool) -> Result<bool, ToolError> {
        let steps = match self.known {
            Some(_) => &STEPS[..],
            None => &STEPS[..1],
        };
        for &steps in steps {
            let question = self.layout.question(&self.text, number, steps, of_reset);
            match self.run.ask(&format!("version{number}"), question)? {
                Answer::Unsatisfiable => return Ok(true),
                Answer::Satisfiable => {}
                Answer::Unknown => break,
            }
        }
        self.has_invariant(number)
    }

    /// Whether an invariant of the two is found that makes them equal on their pins.
    ///
    /// They are in one state when the first reset comes, whatever that state is. The invariant holds
    /// after it, and after every cycle before which it holds, with a reset in it or without, and
    /// with the fault in all of them. It says that all memories and most registers are equal, and
    /// each of the others when certain bits of the design have certain values: a register that is
    /// loaded before it is used may hold anything until then. Of the design, its claims hold.
    ///
    /// # Errors
    /// If the solver does not start.
    fn has_invariant(&self, number: u64) -> Result<bool, ToolError> {
        let Some(formulas) = self.formulas() else {
            return Ok(false);
        };
        // Most need nothing else of the design.
        if Pair::new(formulas, &Facts::default(), number).proves()? {
            return Ok(true);
        }
        let Some(known) = self.known else {
            return Ok(false);
        };
        let facts = self.facts(formulas, known)?;
        Ok(!facts.is_empty() && Pair::new(formulas, facts, number).proves()?)
    }

    fn formulas(&self) -> Option<Formulas<'_>> {
        Some(Formulas {
            run: &self.run,
            text: &self.text,
            layout: &self.layout,
            circuit: self.circuit.as_ref()?,
        })
    }

    fn facts(&self, formulas: Formulas, known: &Known) -> Result<&Facts, ToolError> {
        if let Some(facts) = self.facts.get() {
            return Ok(facts);
        }
        let mut known = known.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            *known = Some(Facts::find(formulas)?.named(&self.layout));
        }
        let placed = known.as_ref().map(|it| it.placed(&self.layout));
        drop(known);
        Ok(self.facts.get_or_init(|| placed.unwrap_or_default()))
    }
}

#[cfg(test)]
impl Versions<'_> {
    /// How many facts there are in this translation, if a solver shows that all hold here.
    pub(crate) fn facts_that_hold(&self) -> Option<usize> {
        let formulas = self.formulas()?;
        let facts = self.facts(formulas, self.known?).ok()?;
        facts.hold(formulas).then(|| facts.count())
    }
}
