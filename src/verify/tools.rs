//! Yosys and the SMT solvers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::Part;
use crate::files::Unfinished;

/// The oldest Z3 that is used of its own accord: 4.8, which Debian 12 has, does not come to
/// an end on the whole controller.
const Z3: (u32, u32) = (4, 12);

/// A tool is missing, or does not do its work.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// A program does not start.
    #[error("`{program}` cannot be started ({source}): install it (Debian, Ubuntu: `apt-get install yosys`)")]
    NoYosys {
        /// The program.
        program: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// No solver is there.
    #[error(
        "no SMT solver was found: install one (Debian, Ubuntu: `apt-get install cvc4`; \
         anywhere: `pip install z3-solver`, version 4.12 or newer)"
    )]
    NoSolver,
    /// The solver that was asked for is not there.
    #[error("the solver `{0}` was not found: install it, or leave --solver out")]
    NoSuchSolver(&'static str),
    /// Yosys does not accept the Verilog.
    #[error("Yosys refuses the design:\n{0}")]
    Refused(String),
    /// The proof came to no end.
    #[error("`{command}` came to no end it should come to; its last lines:\n{output}")]
    Broken {
        /// The command line.
        command: String,
        /// What it printed last.
        output: String,
    },
    /// The files of the proof cannot be written or read.
    #[error("the files of the proof: {0}")]
    Io(#[from] std::io::Error),
}

/// An SMT solver that `yosys-smtbmc` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Solver {
    /// Z3, the fastest here.
    Z3,
    /// cvc5.
    Cvc5,
    /// CVC4, which Debian 12 has.
    Cvc4,
}

impl Solver {
    /// The name, which is also that of the program.
    pub fn name(self) -> &'static str {
        match self {
            Solver::Z3 => "z3",
            Solver::Cvc5 => "cvc5",
            Solver::Cvc4 => "cvc4",
        }
    }

    /// The program on a file of SMT-LIB, which is the argument that is still missing, for at
    /// most `seconds`.
    fn command(self, seconds: u64) -> Command {
        let mut command = Command::new(self.name());
        command.arg(match self {
            Solver::Z3 => format!("-T:{seconds}"),
            Solver::Cvc5 | Solver::Cvc4 => format!("--tlimit={}", seconds * 1000),
        });
        command
    }

    /// What the program calls itself, if it is there.
    fn version(self) -> Option<String> {
        let output = Command::new(self.name()).arg("--version").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        Some(text.lines().next().unwrap_or_default().trim().to_owned())
    }
}

/// The version number in what Z3 prints: `Z3 version 4.13.0 - 64 bit`.
fn z3_version(text: &str) -> Option<(u32, u32)> {
    let number = text.split_whitespace().nth(2)?;
    let mut parts = number.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// The tools of a proof, found to be there.
#[derive(Clone, Debug)]
pub struct Tools {
    solver: Solver,
    timeout: u64,
    /// What the solver calls itself.
    pub solver_version: String,
    /// What Yosys calls itself.
    pub yosys_version: String,
}

impl Tools {
    /// Looks for Yosys, `yosys-smtbmc`, which comes with it, and `wanted` or else the first
    /// of Z3 (4.12 or newer), cvc5 and CVC4 that is there and known to `yosys-smtbmc`. It may
    /// think about one claim for `timeout` seconds.
    ///
    /// # Errors
    /// Which of them is missing, and how to install it.
    pub fn find(wanted: Option<Solver>, timeout: u64) -> Result<Tools, ToolError> {
        let text = |program, argument| {
            let output = Command::new(program).arg(argument).output();
            output
                .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
                .map_err(|source| ToolError::NoYosys { program, source })
        };
        let yosys_version = text("yosys", "-V")?.trim().to_owned();
        let help = text("yosys-smtbmc", "--help")?;
        let usable = |solver: Solver| -> Option<(Solver, String)> {
            let version = solver.version()?;
            help.contains(solver.name()).then_some((solver, version))
        };
        let found = match wanted {
            Some(solver) => usable(solver).ok_or(ToolError::NoSuchSolver(solver.name()))?,
            None => usable(Solver::Z3)
                .filter(|(_, version)| z3_version(version) >= Some(Z3))
                .or_else(|| usable(Solver::Cvc5))
                .or_else(|| usable(Solver::Cvc4))
                .ok_or(ToolError::NoSolver)?,
        };
        Ok(Tools {
            solver: found.0,
            timeout,
            solver_version: found.1,
            yosys_version,
        })
    }
}

/// A claim that can be violated.
#[derive(Debug)]
pub(super) struct Violation {
    pub(super) name: String,
    /// The cycle of the violation.
    pub(super) step: u32,
    /// The waveform that leads to it.
    pub(super) trace: Option<Vec<u8>>,
}

/// What a solver says of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Satisfiable,
    Unsatisfiable,
    /// It gave up, or its time was over.
    Unknown,
}

/// Which design is translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All of it.
    Whole,
    /// Blocks that claims say nothing about are cut: their outputs are arbitrary, so that what
    /// holds here holds in the whole design.
    Cut,
}

/// A part on its way to the solver.
pub(super) struct Run<'a> {
    tools: &'a Tools,
    part: &'a Part,
    folder: TempDir,
    _unfinished: Unfinished,
}

impl<'a> Run<'a> {
    pub(super) fn new(tools: &'a Tools, part: &'a Part) -> Result<Run<'a>, ToolError> {
        let folder = tempfile::Builder::new()
            .prefix("linkdoze-verify")
            .tempdir()?;
        let unfinished = Unfinished::new(folder.path());
        for (name, text) in &part.files {
            std::fs::write(folder.path().join(name), text)?;
        }
        Ok(Run {
            tools,
            part,
            folder,
            _unfinished: unfinished,
        })
    }

    /// The design without the claims in `dropped`, as SMT-LIB; it lies in `design.smt2` too.
    pub(super) fn translate(
        &self,
        scope: Scope,
        dropped: &BTreeSet<String>,
    ) -> Result<String, ToolError> {
        let names = self.part.files.iter().map(|(name, _)| name.as_str());
        let sources: Vec<&str> = names.filter(|name| !name.ends_with(".f")).collect();
        let top = &self.part.top;
        let mut script = format!("read_verilog -formal {};", sources.join(" "));
        if scope == Scope::Cut {
            for cell in &self.part.cuts {
                let _ = write!(script, " cutpoint {cell};");
            }
        }
        for (name, value) in &self.part.parameters {
            let _ = write!(script, " chparam -set {name} {value} {top};");
        }
        // Kept: two claims that come to the same thing are not to become one.
        let _ = write!(
            script,
            " hierarchy -check -top {top}; proc; setattr -set keep 1 t:$assert; prep -flatten;"
        );
        for name in dropped {
            let _ = write!(script, " delete {top}/{name};");
        }
        // One bit vector holds the state, which leaves nothing but bit vectors to the solver;
        // memories need arrays.
        script.push_str(match scope {
            Scope::Whole => " write_smt2 -wires design.smt2",
            Scope::Cut => " opt_clean; write_smt2 -wires -stbv design.smt2",
        });
        let output = Command::new("yosys")
            .args(["-q", "-p", &script])
            .current_dir(self.folder.path())
            .output()
            .map_err(|source| ToolError::NoYosys {
                program: "yosys",
                source,
            })?;
        if !output.status.success() {
            return Err(ToolError::Refused(last_lines(&output)));
        }
        Ok(std::fs::read_to_string(
            self.folder.path().join("design.smt2"),
        )?)
    }

    /// Whether the claim with this number can be violated `depth` cycles after some state, while
    /// every claim held before.
    pub(super) fn step(
        &self,
        design: &str,
        number: usize,
        depth: u32,
    ) -> Result<Answer, ToolError> {
        let top = &self.part.top;
        let mut text = format!("(set-logic QF_BV)\n{design}\n");
        for at in 0..=depth {
            let _ = writeln!(
                text,
                "(declare-fun s{at} () |{top}_s|)\n(assert (|{top}_h| s{at}))\n\
                 (assert (|{top}_u| s{at}))"
            );
        }
        for at in 0..depth {
            let next = at + 1;
            let _ = writeln!(
                text,
                "(assert (|{top}_a| s{at}))\n(assert (|{top}_t| s{at} s{next}))"
            );
        }
        let _ = writeln!(
            text,
            "(assert (not (|{top}_a {number}| s{depth})))\n(check-sat)"
        );
        let file = self.folder.path().join(format!("step{number}.smt2"));
        std::fs::write(&file, text)?;
        let mut command = self.tools.solver.command(self.tools.timeout);
        let output = command.arg(&file).output()?;
        let answer = String::from_utf8_lossy(&output.stdout);
        match answer.lines().map(str::trim).find(|line| !line.is_empty()) {
            Some("sat") => Ok(Answer::Satisfiable),
            Some("unsat") => Ok(Answer::Unsatisfiable),
            Some(line) if line.contains("error") => Err(ToolError::Broken {
                command: format!("{command:?}"),
                output: last_lines(&output),
            }),
            _ => Ok(Answer::Unknown),
        }
    }

    /// The claims that are violated in the first `cycles` cycles after power-up.
    pub(super) fn violations(&self, cycles: u32) -> Result<Vec<Violation>, ToolError> {
        // --presat: an assumption that nothing satisfies would prove everything.
        self.smtbmc(&[
            "--presat",
            "--keep-going",
            "-t",
            &cycles.to_string(),
            "--dump-vcd",
            "trace%.vcd",
        ])
    }

    /// A violation after `depth` cycles without one, from any state at all.
    pub(super) fn counterexample(&self, depth: u32) -> Result<Vec<Violation>, ToolError> {
        self.smtbmc(&["-i", "-t", &depth.to_string(), "--dump-vcd", "trace.vcd"])
    }

    fn smtbmc(&self, arguments: &[&str]) -> Result<Vec<Violation>, ToolError> {
        let mut command = Command::new("yosys-smtbmc");
        command
            .args(["-s", self.tools.solver.name(), "--noprogress"])
            .args(arguments)
            .arg("design.smt2")
            .current_dir(self.folder.path());
        let output = command.output().map_err(|source| ToolError::NoYosys {
            program: "yosys-smtbmc",
            source,
        })?;
        let text = String::from_utf8_lossy(&output.stdout);
        read(&text, self.folder.path()).ok_or_else(|| ToolError::Broken {
            command: format!("{command:?}"),
            output: last_lines(&output),
        })
    }
}

/// The claims that a translated design makes: their names and numbers.
pub(super) fn asserted(design: &str) -> BTreeMap<String, usize> {
    let lines = design
        .lines()
        .filter_map(|line| line.strip_prefix("; yosys-smt2-assert "));
    lines
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let number = words.next()?.parse().ok()?;
            Some((words.next()?.to_owned(), number))
        })
        .collect()
}

fn last_lines(output: &std::process::Output) -> String {
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

/// The violations that `yosys-smtbmc` printed; `None` if it did not come to its end.
fn read(text: &str, folder: &Path) -> Option<Vec<Violation>> {
    let mut violations: Vec<Violation> = Vec::new();
    let mut step = 0;
    let mut without_trace = 0;
    let mut status = "";
    for line in text.lines() {
        // "##   0:00:01  text"
        let line = line.trim_start_matches("##").trim_start();
        let line = line
            .split_once(char::is_whitespace)
            .map_or("", |(_, text)| text.trim_start());
        if let Some(number) = line.strip_prefix("Checking assertions in step ") {
            step = number.trim_matches('.').parse().unwrap_or(step);
        } else if let Some(found) = line.strip_prefix("Assert failed in ") {
            let name = found.split_whitespace().nth(1)?;
            violations.push(Violation {
                name: name.to_owned(),
                step,
                trace: None,
            });
        } else if let Some(file) = line.strip_prefix("Writing trace to VCD file: ") {
            let trace = std::fs::read(folder.join(file.trim())).ok();
            for violation in &mut violations[without_trace..] {
                violation.trace.clone_from(&trace);
            }
            without_trace = violations.len();
        } else if let Some(found) = line.strip_prefix("Status: ") {
            status = found.trim();
        }
    }
    let complete = match status.to_ascii_uppercase().as_str() {
        "PASSED" => violations.is_empty(),
        "FAILED" => !violations.is_empty(),
        _ => false,
    };
    complete.then_some(violations)
}
