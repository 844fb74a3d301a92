//! The programs that synthesise, place and time.

use std::path::Path;
use std::process::Command;

use super::SynthError;
use crate::tools::{self, command, last_lines, Program};

/// A program that starts.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    program: String,
    /// What it calls itself, e.g. `Yosys 0.23`.
    pub version: String,
}

/// Yosys, without which nothing is synthesised.
pub(super) fn yosys() -> Result<Tool, SynthError> {
    let found = Program::YOSYS.find();
    let (program, text) = found.map_err(|tried| SynthError::NoYosys { tried })?;
    Ok(Tool::new(program, Program::YOSYS, "Yosys ", &text))
}

/// ABC, without which nothing is compared.
pub(super) fn abc() -> Result<Tool, SynthError> {
    let found = Program::ABC.find();
    let (program, text) = found.map_err(|tried| SynthError::NoAbc { tried })?;
    Ok(Tool::new(program, Program::ABC, "ABC ", &text))
}

/// nextpnr for iCE40.
pub(super) fn nextpnr_ice40() -> Result<Option<Tool>, SynthError> {
    optional(Program::NEXTPNR_ICE40, "(Version ")
}

/// nextpnr for ECP5.
pub(super) fn nextpnr_ecp5() -> Result<Option<Tool>, SynthError> {
    optional(Program::NEXTPNR_ECP5, "(Version ")
}

/// OpenSTA.
pub(super) fn opensta() -> Result<Option<Tool>, SynthError> {
    optional(Program::OPENSTA, "OpenSTA ")
}

/// A program that need not be there: `None` unless a variable names one. Its version stands behind
/// `mark`.
fn optional(program: Program, mark: &str) -> Result<Option<Tool>, SynthError> {
    let is_named = |variable: &&str| std::env::var_os(variable).is_some_and(|it| !it.is_empty());
    match (program.find(), program.variable.filter(is_named)) {
        (Ok((found, text)), _) => Ok(Some(Tool::new(found, program, mark, &text))),
        (Err(tried), Some(variable)) => Err(SynthError::BadVariable { variable, tried }),
        (Err(_), None) => Ok(None),
    }
}

impl Tool {
    /// `found`, whose version stands behind `mark` in `text`, or begins it.
    fn new(found: String, program: Program, mark: &str, text: &str) -> Tool {
        let number = text
            .split_once(mark)
            .map_or(text, |(_, rest)| rest)
            .split([' ', ')', '\n'])
            .next()
            .unwrap_or_default()
            .trim_start_matches("nextpnr-");
        Tool {
            program: found,
            version: format!("{} {number}", program.name),
        }
    }

    /// Runs the tool in `folder` and returns what it prints.
    ///
    /// # Errors
    /// If it ends with an error.
    pub fn run(&self, folder: &Path, arguments: &[&str]) -> Result<String, SynthError> {
        self.call(folder, arguments, None).map(|(text, _)| text)
    }

    /// The same for a tool that may take so many seconds of processor time; with what it has printed,
    /// whether it came to its end.
    ///
    /// # Errors
    /// If it ends with an error.
    pub fn run_within(
        &self,
        folder: &Path,
        arguments: &[&str],
        seconds: u64,
    ) -> Result<(String, bool), SynthError> {
        self.call(folder, arguments, Some(seconds))
    }

    fn call(
        &self,
        folder: &Path,
        arguments: &[&str],
        seconds: Option<u64>,
    ) -> Result<(String, bool), SynthError> {
        let mut call: Command = command(&self.program);
        call.current_dir(folder).args(arguments);
        if let Some(seconds) = seconds {
            tools::limit_processor_time(&mut call, seconds);
        }
        let output = tools::output(&mut call).map_err(|source| SynthError::Io {
            path: self.program.clone().into(),
            source,
        })?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        let too_long = tools::took_too_long(output.status);
        if output.status.success() || (seconds.is_some() && too_long) {
            return Ok((text, !too_long));
        }
        Err(SynthError::Failed {
            program: self.program.clone(),
            output: last_lines(text.trim_end(), 20),
        })
    }

    /// A result that is not as expected.
    pub fn unreadable(&self, file: &str, problem: impl ToString) -> SynthError {
        SynthError::Unreadable {
            program: self.program.clone(),
            file: file.into(),
            problem: problem.to_string(),
        }
    }
}
