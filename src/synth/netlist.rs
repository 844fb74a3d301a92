//! Whether what Yosys synthesises is the Verilog: every block's netlist is compared with the block,
//! for all inputs and all times, by the sequential equivalence checking of ABC.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::str::FromStr;
use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;

use super::flow::{read, write};
use super::tools::{self, Tool};
use super::SynthError;
use crate::files::TemporaryFolder;
use crate::hdl::verilog::{modules, ModulePins};
use crate::hdl::{Design, PinDirection};

/// What a netlist is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cells {
    /// Gates and flip-flops as Yosys names them, memories made of them.
    Generic,
    /// Lattice iCE40.
    Ice40,
    /// Lattice ECP5.
    Ecp5,
}

impl Cells {
    /// All of them, with the names that the command line takes.
    pub const ALL: [(&'static str, Cells); 3] = [
        ("generic", Cells::Generic),
        ("ice40", Cells::Ice40),
        ("ecp5", Cells::Ecp5),
    ];

    /// Yosys' command, and how it reads what the cells do.
    fn commands(self) -> (&'static str, &'static str) {
        // Read only as far as the netlist needs it: a large memory among them takes a minute.
        match self {
            Cells::Generic => ("synth -flatten", ""),
            Cells::Ice40 => (
                "synth_ice40",
                "read_verilog -defer -D ICE40_HX +/ice40/cells_sim.v;",
            ),
            Cells::Ecp5 => ("synth_ecp5", "read_verilog -defer +/ecp5/cells_sim.v;"),
        }
    }
}

impl FromStr for Cells {
    type Err = String;

    fn from_str(text: &str) -> Result<Cells, String> {
        let mut all = Cells::ALL.into_iter();
        let found = all.find(|(name, _)| *name == text);
        found
            .map(|(_, cells)| cells)
            .ok_or_else(|| "generic, ice40 or ecp5".to_owned())
    }
}

impl std::fmt::Display for Cells {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = Cells::ALL.iter().find(|(_, cells)| cells == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

/// Whether a netlist does what its block does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No input, at no time, makes an output differ.
    Equal,
    /// Some inputs do.
    Different,
    /// ABC does not decide it in time.
    Unknown,
}

/// What came of one block.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The module.
    pub block: String,
    /// Registers and bits of memory of block and netlist together.
    pub state_bits: u64,
    /// Gates with two inputs of both together.
    pub gates: u64,
    /// What ABC says.
    pub verdict: Verdict,
    /// How long synthesis and proof took.
    pub seconds: f64,
}

/// What came of a controller.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What the netlist is made of.
    pub target: Cells,
    /// What Yosys calls itself.
    pub yosys: String,
    /// Every block, in the order of the design.
    pub blocks: Vec<Comparison>,
}

impl Report {
    /// Every netlist does what its block does.
    pub fn equal(&self) -> bool {
        let mut blocks = self.blocks.iter();
        blocks.all(|block| block.verdict == Verdict::Equal)
    }
}

/// How many blocks [`compare`] compares.
pub fn blocks(design: &Design) -> u64 {
    modules(design).len() as u64
}

/// Compares every block of `design`, whose Verilog is `files`, with its netlist, made from the
/// Verilog in `sources`. A block inside another one is compared by itself: in the other one its
/// outputs may be anything. ABC may think for `timeout` seconds about each. `done` is called with
/// every block.
///
/// # Errors
/// If a tool is missing or fails.
pub fn compare(
    design: &Design,
    files: &[(String, String)],
    sources: &[(String, String)],
    target: Cells,
    timeout: u64,
    done: &(dyn Fn(&str) + Sync),
) -> Result<Report, SynthError> {
    let prover = Prover::find()?;
    let blocks = modules(design);
    let compared = blocks.par_iter().map(|block| {
        let comparison = prover.block(block, files, sources, target, timeout)?;
        done(&block.module);
        Ok(comparison)
    });
    Ok(Report {
        target,
        blocks: compared.collect::<Result<_, SynthError>>()?,
        yosys: prover.yosys.version.clone(),
    })
}

/// The netlist of the whole controller, made from the Verilog `files`, as Verilog: every cell is
/// replaced by what it does, so that a simulator needs no library.
///
/// # Errors
/// If Yosys is missing or fails.
pub fn netlist(top: &str, files: &[(String, String)], target: Cells) -> Result<String, SynthError> {
    let yosys = tools::yosys()?;
    let folder = work_folder()?;
    let names = write_all(folder.path(), "rtl", files)?;
    let (synthesise, cells) = target.commands();
    let run = |script: String| yosys.run(folder.path(), &["-q", "-p", &script]);
    run(format!(
        "read_verilog {names}; {synthesise} -top {top}; write_verilog -noattr cells.v"
    ))?;
    run(format!(
        "read_verilog cells.v; {cells} hierarchy -top {top}; proc; flatten; opt_clean; \
         write_verilog -noattr netlist.v"
    ))?;
    read(folder.path(), "netlist.v")
}

fn work_folder() -> Result<TemporaryFolder, SynthError> {
    let parent = std::env::temp_dir();
    TemporaryFolder::new(&parent, "linkdoze-netlist-").map_err(|source| SynthError::Io {
        path: parent,
        source,
    })
}

/// Writes files with `prefix` before their names, and returns the names for Yosys.
fn write_all(
    folder: &Path,
    prefix: &str,
    files: &[(String, String)],
) -> Result<String, SynthError> {
    let mut names = Vec::new();
    for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".v")) {
        let name = format!("{prefix}-{name}");
        write(folder, &name, text)?;
        names.push(name);
    }
    Ok(names.join(" "))
}

/// Yosys and ABC, found to be there.
#[derive(Clone, Debug)]
pub struct Prover {
    yosys: Tool,
    abc: Tool,
}

impl Prover {
    /// Looks for both.
    ///
    /// # Errors
    /// If one is missing.
    pub fn find() -> Result<Prover, SynthError> {
        Ok(Prover {
            yosys: tools::yosys()?,
            abc: tools::abc()?,
        })
    }

    /// What ABC calls itself.
    pub fn abc_version(&self) -> &str {
        &self.abc.version
    }

    /// Compares one block with its netlist.
    fn block(
        &self,
        block: &ModulePins,
        files: &[(String, String)],
        sources: &[(String, String)],
        target: Cells,
        timeout: u64,
    ) -> Result<Comparison, SynthError> {
        let started = Instant::now();
        let work = Work::new(self)?;
        let module = &block.module;
        let (synthesise, cells) = target.commands();
        let (hide, show) = alone(block);
        work.version(
            "netlist",
            sources,
            module,
            &format!("{hide} {synthesise} -top {module}; {show}"),
        )?;
        work.version(
            "golden",
            files,
            module,
            &format!("{hide} proc; flatten; opt_clean; {show}"),
        )?;
        let outcome = work.compare(block, cells, timeout)?;
        Ok(Comparison {
            block: module.clone(),
            state_bits: outcome.state_bits,
            gates: outcome.gates,
            verdict: outcome.verdict,
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    /// Whether the module `name` of the Verilog `other` does on its pins what it does in `files`, the
    /// Verilog of `design`: then no controller can tell them apart. What is inside may do anything,
    /// and so may its memories if they are `apart`: a yes comes soon and a no says little. ABC may think
    /// about it for `timeout` seconds.
    ///
    /// # Errors
    /// If a tool fails.
    pub fn same_module(
        &self,
        design: &Design,
        name: &str,
        files: &[(String, String)],
        other: &[(String, String)],
        memories: Memories,
        timeout: u64,
    ) -> Result<Verdict, SynthError> {
        let mut blocks = modules(design).into_iter();
        let Some(mut block) = blocks.find(|block| block.module == name) else {
            return Ok(Verdict::Unknown);
        };
        let work = Work::new(self)?;
        let (hide, show) = alone(&block);
        let mut set_apart = [String::new(), String::new()];
        if let (Memories::Apart, Some((_, module, _))) = (memories, block.memories.first()) {
            // Yosys makes a module of each of their shapes, with the name of theirs in its name.
            set_apart = [
                format!("blackbox *{module}*;"),
                format!("expose -evert t:*{module}*; opt_clean;"),
            ];
            block.inside.append(&mut block.memories);
        }
        let [apart, shown] = set_apart;
        for (version, files) in [("golden", files), ("netlist", other)] {
            // What is inside what is inside is not there any more.
            let commands = format!(
                "{hide} hierarchy -top {name}; {apart} proc; flatten; opt_clean; {show} {shown}"
            );
            work.version(version, files, name, &commands)?;
        }
        Ok(work.compare(&block, "", timeout)?.verdict)
    }

    /// Whether the Verilog `other` does on the pins of the controller what `files` does, the
    /// Verilog of `design`. ABC may think about it for `timeout` seconds.
    ///
    /// # Errors
    /// If a tool fails.
    pub fn same(
        &self,
        design: &Design,
        files: &[(String, String)],
        other: &[(String, String)],
        timeout: u64,
    ) -> Result<Verdict, SynthError> {
        let Some(mut top) = modules(design).into_iter().next() else {
            return Ok(Verdict::Unknown);
        };
        top.inside.clear();
        let work = Work::new(self)?;
        for (name, files) in [("golden", files), ("netlist", other)] {
            work.version(name, files, &top.module, "proc; flatten; opt_clean;")?;
        }
        Ok(work.compare(&top, "", timeout)?.verdict)
    }
}

/// Yosys' commands, before and after others, that turn what is inside a block into pins of it.
fn alone(block: &ModulePins) -> (String, String) {
    let inside: BTreeSet<&str> = (block.inside.iter())
        .map(|(_, module, _)| module.as_str())
        .collect();
    let inside: Vec<&str> = inside.into_iter().collect();
    match inside[..] {
        [] => (String::new(), String::new()),
        _ => (
            format!("blackbox {};", inside.join(" ")),
            // By their modules: by their names, `u_*`, they are not told from the registers that
            // Yosys names after the pins that they drive.
            format!("expose -evert t:{}; opt_clean;", inside.join(" t:")),
        ),
    }
}

/// What is asked of the memories of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memories {
    /// They are part of it.
    Inside,
    /// What is read of them may be anything, and what is written to them has to be the same.
    Apart,
}

/// What ABC says of two circuits.
struct Outcome {
    state_bits: u64,
    gates: u64,
    verdict: Verdict,
}

/// The folder in which two versions of a module are compared.
struct Work<'a> {
    prover: &'a Prover,
    folder: TemporaryFolder,
}

impl<'a> Work<'a> {
    fn new(prover: &'a Prover) -> Result<Self, SynthError> {
        Ok(Work {
            prover,
            folder: work_folder()?,
        })
    }

    fn run(&self, script: &str) -> Result<(), SynthError> {
        let yosys = &self.prover.yosys;
        yosys
            .run(self.folder.path(), &["-q", "-p", script])
            .map(|_| ())
    }

    /// Makes the version called `name` of `module` in `files`.
    fn version(
        &self,
        name: &str,
        files: &[(String, String)],
        module: &str,
        commands: &str,
    ) -> Result<(), SynthError> {
        let sources = write_all(self.folder.path(), name, files)?;
        self.run(&format!(
            "read_verilog {sources}; hierarchy -top {module}; {commands} rename {module} {name}; \
             write_verilog -noattr {name}.v"
        ))
    }

    /// Asks ABC whether `golden` and `netlist`, made of `cells`, differ on `pins`.
    fn compare(&self, pins: &ModulePins, cells: &str, timeout: u64) -> Result<Outcome, SynthError> {
        let folder = self.folder.path();
        write(folder, "check.v", &check_module(pins))?;
        // Memories begin with the same contents, 0; all registers are reset in the first cycle.
        self.run(&format!(
            "read_verilog golden.v netlist.v check.v; {cells} hierarchy -top check; proc; flatten; \
             opt -full; memory_map; opt -full; async2sync; techmap; dffunmap; \
             setundef -undriven -zero; setundef -init -zero; abc -g AND -fast; opt_clean; \
             write_aiger -zinit check.aig"
        ))?;
        let abc = &self.prover.abc;
        // The cycle of the reset is left behind first: before it the registers of the two need not
        // agree, as synthesis codes states anew. What the two share, which is nearly all, is found by
        // induction over pairs of signals; what is left is decided by property directed reachability.
        // ABC's own limit is in the time that passes, and would depend on what else runs.
        let shared = "read check.aig; print_stats; strash; cycle -F 1; scorr; write_aiger rest.aig";
        let (text, in_time) = abc.run_within(folder, &["-c", shared], 30 + 5 * timeout)?;
        let unreadable = |line| abc.unreadable("its report", format!("there is no line `{line}`"));
        let (state_bits, gates) =
            sizes(&text).ok_or_else(|| unreadable("i/o = ... lat = ... and = ..."))?;
        let verdict = match in_time {
            false => Verdict::Unknown,
            true => {
                let rest = "read rest.aig; pdr; print_status";
                let (text, in_time) = abc.run_within(folder, &["-c", rest], timeout)?;
                match status(&text) {
                    Some(1) => Verdict::Equal,
                    Some(0) => Verdict::Different,
                    Some(_) => Verdict::Unknown,
                    None if !in_time => Verdict::Unknown,
                    None => return Err(unreadable("Status = ...")),
                }
            }
        };
        Ok(Outcome {
            state_bits,
            gates,
            verdict,
        })
    }
}

/// The number behind `mark` in ABC's report.
fn number(text: &str, mark: &str) -> Option<i64> {
    let (_, rest) = text.split_once(mark)?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Latches and gates in what `print_stats` writes.
fn sizes(text: &str) -> Option<(u64, u64)> {
    let of = |mark| u64::try_from(number(text, mark)?).ok();
    Some((of("lat =")?, of("and =")?))
}

/// What `print_status` writes: 1 proved, 0 refuted, -1 neither.
fn status(text: &str) -> Option<i64> {
    number(text, "Status =")
}

/// A module whose output `wrong` is 1 where an output of `netlist` is not that of `golden`. Both
/// are reset in the first cycle, which is not compared.
fn check_module(block: &ModulePins) -> String {
    let mut pins = String::new();
    let mut wires = String::new();
    let (mut golden, mut netlist, mut different) = (Vec::new(), Vec::new(), Vec::new());
    let inside = block.inside.iter().flat_map(|(instance, _, pins)| {
        // The clock is not a signal of the circuit that is compared.
        let pins = pins.iter().filter(|(name, _, _)| name != "clk");
        pins.map(move |(name, width, direction)| {
            let turned = match direction {
                PinDirection::Input => PinDirection::Output,
                PinDirection::Output => PinDirection::Input,
            };
            (format!("\\{instance}.{name} "), *width, turned)
        })
    });
    for (index, (name, width, direction)) in block.pins.iter().cloned().chain(inside).enumerate() {
        match direction {
            _ if name == "clk" => {
                golden.push(".clk(clk)".to_owned());
                netlist.push(".clk(clk)".to_owned());
            }
            PinDirection::Input => {
                let _ = writeln!(pins, "  input [{}:0] in{index},", width - 1);
                let value = match name.as_str() {
                    "rst" => format!("in{index} | !started"),
                    _ => format!("in{index}"),
                };
                golden.push(format!(".{name}({value})"));
                netlist.push(format!(".{name}({value})"));
            }
            PinDirection::Output => {
                let range = width - 1;
                let _ = writeln!(wires, "  wire [{range}:0] golden{index}, netlist{index};");
                golden.push(format!(".{name}(golden{index})"));
                netlist.push(format!(".{name}(netlist{index})"));
                different.push(format!("golden{index} != netlist{index}"));
            }
        }
    }
    let clocked = "  reg started = 0;\n  always @(posedge clk) started <= 1;\n";
    format!(
        "module check(\n  input clk,\n{pins}  output wrong\n);\n{clocked}{wires}  \
         golden golden(\n    {}\n  );\n  netlist netlist(\n    {}\n  );\n  \
         assign wrong = started & (\n    {}\n  );\nendmodule\n",
        golden.join(",\n    "),
        netlist.join(",\n    "),
        different.join(" |\n    ")
    )
}
