//! Whether a fault in the hardware is one: whether a version of it ([`crate::hdl::mutants`])
//! behaves, from every state that it can be in, as the design without the fault.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::task::ProofTask;
use super::tools::{Answer, Scope, ToolError, Tools, Workspace};
use crate::config::plan::PortPlan;
use crate::hdl::mutants::{SELECTOR, SELECTOR_WIDTH};
use crate::hdl::{ClaimText, Design, CHECKER};

/// Within so many cycles, and one, a version has to be in the state that the design is in.
const STEPS: [u32; 3] = [0, 2, 5];

/// Claims that multiply. They say nothing about which states come about that others do not, and a
/// solver takes long over them.
const MULTIPLYING: [&str; 7] = [
    "window_allows",
    "packets_taken",
    "search_allows",
    "search_taken",
    "product_of_digits",
    "budget_is_product",
    "guard_kept",
];

/// What the names of registers end in; a reset sets all of them.
const REGISTER: &str = "_q";

/// What the names of the words read of memories end in ([`crate::hdl::Memory`]).
const READ_DATA: &str = "_read_data";

/// A design with an input that chooses a fault, translated for the solver.
pub struct Versions<'a> {
    run: Workspace<'a>,
    /// The design as SMT-LIB.
    text: String,
    layout: Layout,
}

/// Where things are in the bit vector that holds the state and the inputs of a cycle.
struct Layout {
    top: String,
    bits: u32,
    /// The lowest bit of the input that chooses.
    selector: u32,
    /// Bits, lowest and width, that are no part of what is compared: the registers of checkers, and
    /// what a memory gives that is asked for a word it does not have, anything in any cycle.
    beside: Vec<(u32, u32)>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    /// Registers by their hierarchical names below the top: lowest bit and width.
    registers: HashMap<String, (u32, u32)>,
}

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
    /// Translates the design of [`versions_task`], whose claims are these.
    ///
    /// # Errors
    /// If Yosys fails, or what it writes is not understood.
    pub fn new(
        tools: &'a Tools,
        task: &'a ProofTask,
        claims: &[ClaimText],
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
        Ok(Versions { run, text, layout })
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
        for steps in STEPS {
            let question = self.layout.question(&self.text, number, steps, of_reset);
            match self.run.ask(&format!("version{number}"), question)? {
                Answer::Unsatisfiable => return Ok(true),
                Answer::Satisfiable => {}
                Answer::Unknown => return Ok(false),
            }
        }
        Ok(false)
    }
}

impl Layout {
    fn read(top: &str, text: &str) -> Option<Layout> {
        let mut layout = Layout {
            top: top.to_owned(),
            bits: 0,
            selector: 0,
            beside: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            registers: HashMap::new(),
        };
        let mut has_selector = false;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("(define-sort ") {
                let bits = rest.split("(_ BitVec ").nth(1)?;
                layout.bits = bits.trim_end_matches(')').parse().ok()?;
            } else if let Some(rest) = line.strip_prefix("; yosys-smt2-input ") {
                let name = rest.split(' ').next()?;
                if name != SELECTOR {
                    layout.inputs.push(name.to_owned());
                }
            } else if let Some(rest) = line.strip_prefix("; yosys-smt2-output ") {
                layout.outputs.push(rest.split(' ').next()?.to_owned());
            } else if let Some((code, names)) = line.split_once(" state)) ; ") {
                let Some((_, extract)) = code.split_once("((_ extract ") else {
                    continue;
                };
                let (high, low) = extract.trim_end_matches(')').split_once(' ')?;
                let (high, low): (u32, u32) = (high.parse().ok()?, low.parse().ok()?);
                let names: Vec<&str> = names.split_whitespace().collect();
                if names.contains(&format!("\\{SELECTOR}").as_str()) {
                    layout.selector = low;
                    has_selector = true;
                }
                for name in &names {
                    let name = name.trim_start_matches('\\').to_owned();
                    layout.registers.insert(name, (low, high + 1 - low));
                }
                let is_beside = |name: &&str| {
                    name.contains(&format!("{CHECKER}.")) || name.starts_with("$memory")
                };
                if !names.is_empty() && names.iter().all(is_beside) {
                    layout.beside.push((low, high + 1 - low));
                }
            }
        }
        (has_selector && layout.bits > 0).then_some(layout)
    }

    /// The registers that a reset sets, and those that hold words read of memories.
    fn beside_memories(&self) -> Vec<(u32, u32)> {
        let registers = self.registers.iter();
        let named = registers.filter(|(name, _)| {
            let ends = |ending: &&str| name.ends_with(*ending);
            [REGISTER, READ_DATA].iter().any(ends)
        });
        named.map(|(_, &place)| place).collect()
    }

    /// `base`, a term, with this version chosen.
    fn choosing(&self, base: &str, number: u64) -> String {
        let (low, high) = (self.selector, self.selector + SELECTOR_WIDTH);
        let mut parts = Vec::new();
        if high < self.bits {
            parts.push(format!("((_ extract {} {high}) {base})", self.bits - 1));
        }
        parts.push(format!("(_ bv{number} {SELECTOR_WIDTH})"));
        if low > 0 {
            parts.push(format!("((_ extract {} 0) {base})", low - 1));
        }
        match &parts[..] {
            [one] => one.clone(),
            parts => format!("(concat {})", parts.join(" ")),
        }
    }

    /// The bits that are compared, of a term: all others, and those `but`, are 1.
    fn compared(&self, term: &str, but: &[(u32, u32)]) -> String {
        let mut ones = vec!['0'; self.bits as usize];
        let selector = [(self.selector, SELECTOR_WIDTH)];
        for &(low, width) in self.beside.iter().chain(but).chain(&selector) {
            for bit in low..low + width {
                ones[(self.bits - 1 - bit) as usize] = '1';
            }
        }
        let ones: String = ones.into_iter().collect();
        format!("(bvor {term} #b{ones})")
    }

    /// A formula that is satisfiable if the version can be told from the design on its pins within
    /// `steps` cycles, or is in another state up to the end of them. `of_reset`: before them comes a cycle of
    /// reset, and the fault is in it.
    fn question(&self, design: &str, number: u64, steps: u32, of_reset: bool) -> String {
        let top = &self.top;
        let mut text = format!("(set-logic QF_BV)\n{design}\n");
        let first = u32::from(of_reset);
        let last = first + steps + 1;
        for at in 0..=last {
            for (name, number) in [("s", 0), ("g", number)] {
                // Both begin in one state, and have the same inputs.
                let is_one = at == 0 && !of_reset;
                let base = match is_one {
                    true => "b0".to_owned(),
                    false => format!("{name}b{at}"),
                };
                if !is_one || name == "s" {
                    let _ = writeln!(text, "(declare-fun {base} () |{top}_s|)");
                }
                let _ = writeln!(
                    text,
                    "(define-fun {name}{at} () |{top}_s| {})",
                    self.choosing(&base, number)
                );
                if at > 0 {
                    let before = at - 1;
                    let _ = writeln!(
                        text,
                        "(assert (|{top}_t| {name}{before} {name}{at}))\n\
                         (assert (not (|{top}_is| {name}{at})))"
                    );
                }
            }
            if at > 0 || of_reset {
                for input in &self.inputs {
                    let _ = writeln!(
                        text,
                        "(assert (= (|{top}_n {input}| s{at}) (|{top}_n {input}| g{at})))"
                    );
                }
            }
            // What is proved of the design holds of it in every cycle.
            let _ = writeln!(
                text,
                "(assert (|{top}_u| s{at}))\n(assert (|{top}_a| s{at}))"
            );
        }
        let differs_in = |at: u32, but: &[(u32, u32)]| {
            let [s, g] = ["s", "g"].map(|name| self.compared(&format!("{name}{at}"), but));
            format!("(not (= {s} {g}))")
        };
        let always = (first + 1..=last).map(|at| differs_in(at, &[]));
        let mut differs = vec![format!("(and {})", always.collect::<Vec<_>>().join(" "))];
        if of_reset {
            let but = self.beside_memories();
            let _ = writeln!(text, "(assert (|{top}_n rst| s0))");
            // Memories are written alike up to then: the cycles before the reset say so.
            for at in 0..=first {
                let _ = writeln!(text, "(assert (not {}))", differs_in(at, &but));
            }
            for at in first..last {
                let _ = writeln!(text, "(assert (not (|{top}_n rst| s{at})))");
                differs.push(differs_in(at + 1, &but));
            }
        }
        for at in first..last {
            for output in &self.outputs {
                differs.push(format!(
                    "(not (= (|{top}_n {output}| s{at}) (|{top}_n {output}| g{at})))"
                ));
            }
        }
        let _ = writeln!(text, "(assert (or {}))", differs.join(" "));
        text
    }
}
