//! Yosys and the SMT solvers.

use std::collections::BTreeSet;
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
    /// Yices 2.
    Yices,
    /// Bitwuzla.
    Bitwuzla,
}

impl Solver {
    /// The name, which is also that of the program (Yices aside).
    pub fn name(self) -> &'static str {
        match self {
            Solver::Z3 => "z3",
            Solver::Cvc5 => "cvc5",
            Solver::Cvc4 => "cvc4",
            Solver::Yices => "yices",
            Solver::Bitwuzla => "bitwuzla",
        }
    }

    /// What the program calls itself, if it is there.
    fn version(self) -> Option<String> {
        let program = match self {
            Solver::Yices => "yices-smt2",
            solver => solver.name(),
        };
        let output = Command::new(program).arg("--version").output().ok()?;
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
    /// What the solver calls itself.
    pub solver_version: String,
    /// What Yosys calls itself.
    pub yosys_version: String,
}

impl Tools {
    /// Looks for Yosys, `yosys-smtbmc`, which comes with it, and `wanted` or else the first
    /// of Z3 (4.12 or newer), cvc5 and CVC4 that is there and known to `yosys-smtbmc`.
    ///
    /// # Errors
    /// Which of them is missing, and how to install it.
    pub fn find(wanted: Option<Solver>) -> Result<Tools, ToolError> {
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
            solver_version: found.1,
            yosys_version,
        })
    }
}

/// What `yosys-smtbmc` is to look for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Check {
    /// Violations in the first cycles after power-up.
    Bounded(u32),
    /// A violation after at most so many cycles without one, from any state at all.
    Induction(u32),
}

/// A claim that can be violated.
#[derive(Debug)]
pub(super) struct Violation {
    pub(super) name: String,
    /// The cycle of the violation.
    pub(super) step: u32,
    pub(super) trace: Option<Vec<u8>>,
}

/// What `yosys-smtbmc` found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) violations: Vec<Violation>,
    /// How far it went: cycles, or the depth at which induction succeeded.
    pub(super) steps: u32,
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

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Translates the design without the claims in `dropped`.
    fn translate(&self, dropped: &BTreeSet<String>) -> Result<(), ToolError> {
        let names = self.part.files.iter().map(|(name, _)| name.as_str());
        let sources: Vec<&str> = names.filter(|name| !name.ends_with(".f")).collect();
        let top = &self.part.top;
        let mut script = format!(
            "read_verilog -formal {}; prep -flatten -top {top};",
            sources.join(" ")
        );
        for name in dropped {
            let _ = write!(script, " delete {top}/{name};");
        }
        script.push_str(" write_smt2 -wires design.smt2");
        let output = Command::new("yosys")
            .args(["-q", "-p", &script])
            .current_dir(self.folder.path())
            .output()
            .map_err(|source| ToolError::NoYosys {
                program: "yosys",
                source,
            })?;
        if output.status.success() {
            Ok(())
        } else {
            Err(ToolError::Refused(last_lines(&output)))
        }
    }

    /// The claims that the Verilog makes.
    pub(super) fn asserted(&self) -> Result<BTreeSet<String>, ToolError> {
        self.translate(&BTreeSet::new())?;
        let text = std::fs::read_to_string(self.path("design.smt2"))?;
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("; yosys-smt2-assert "));
        Ok(lines
            .filter_map(|line| Some(line.split_whitespace().nth(1)?.to_owned()))
            .collect())
    }

    /// Looks for violations of the claims that are not in `dropped`.
    pub(super) fn check(
        &self,
        dropped: &BTreeSet<String>,
        check: Check,
    ) -> Result<Found, ToolError> {
        self.translate(dropped)?;
        let mut command = Command::new("yosys-smtbmc");
        command
            .args(["-s", self.tools.solver.name(), "--noprogress"])
            .current_dir(self.folder.path());
        match check {
            // --presat: an assumption that nothing satisfies would prove everything.
            Check::Bounded(cycles) => command.args([
                "--presat",
                "--keep-going",
                "-t",
                &cycles.to_string(),
                "--dump-vcd",
                "trace%.vcd",
            ]),
            Check::Induction(cycles) => {
                command.args(["-i", "-t", &cycles.to_string(), "--dump-vcd", "trace.vcd"])
            }
        };
        let output = command
            .arg("design.smt2")
            .output()
            .map_err(|source| ToolError::NoYosys {
                program: "yosys-smtbmc",
                source,
            })?;
        let found = read(
            &String::from_utf8_lossy(&output.stdout),
            check,
            self.folder.path(),
        );
        found.ok_or_else(|| ToolError::Broken {
            command: format!("{command:?}"),
            output: last_lines(&output),
        })
    }
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

/// What `yosys-smtbmc` printed; `None` if it did not come to its end.
fn read(text: &str, check: Check, folder: &Path) -> Option<Found> {
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
        let number = || line.rsplit(' ').next()?.trim_matches('.').parse().ok();
        if line.starts_with("Checking assertions in step") {
            step = number().unwrap_or(step);
        } else if line.starts_with("Trying induction in step") {
            // Counts down to the state without a predecessor.
            let left = number().unwrap_or(0);
            if let Check::Induction(cycles) = check {
                step = cycles.saturating_sub(left);
            }
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
    let complete = match status {
        "PASSED" | "passed" => violations.is_empty(),
        "FAILED" | "failed" => !violations.is_empty(),
        _ => false,
    };
    complete.then_some(Found {
        violations,
        steps: step,
    })
}
