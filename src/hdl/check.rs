//! Checks on descriptions: the native simulation against the emitted Verilog in another
//! simulator, and the lint tools.
//!
//! Used by the tests of every block. The tools are Icarus Verilog, Verilator and Yosys.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl_core::block::Block;

use super::ir::Design;
use super::sim::{Pin, PinDirection, SimError, Simulator};
use super::values::{mask, Type};
use super::verilog::{self, Header};
use super::{elaborate, ElabError};

/// How many cycles before a difference its report shows.
const HISTORY: usize = 6;

/// A check did not pass, or could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The description is wrong.
    #[error(transparent)]
    Elaboration(#[from] ElabError),
    /// The native simulation could not go on.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// A tool cannot be started.
    #[error(
        "`{tool}` cannot be started ({source}): install it (Debian: apt-get install {package})"
    )]
    ToolMissing {
        /// The program.
        tool: &'static str,
        /// The Debian package that has it.
        package: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// A tool that has to be silent printed something, or failed.
    #[error("`{command}` has something to say:\n{output}")]
    Complaint {
        /// The command line.
        command: String,
        /// All that it printed.
        output: String,
    },
    /// The simulator printed another number of cycles than it was to run.
    #[error("`{command}` stopped after {lines} of {cycles} cycles:\n{output}")]
    Stopped {
        /// The command line.
        command: String,
        /// Cycles that it printed.
        lines: usize,
        /// Cycles that it was to run.
        cycles: usize,
        /// All that it printed.
        output: String,
    },
    /// The two simulations differ.
    #[error(
        "cycle {cycle}, output `{signal}`: the native simulation has {native}, {simulator} has {verilog}{hint}\n{history}"
    )]
    Difference {
        /// The clock cycle, from 0.
        cycle: usize,
        /// The output pin.
        signal: String,
        /// Its value in the native simulation, in decimal and binary.
        native: String,
        /// What simulated the Verilog.
        simulator: VerilogSimulator,
        /// The pin's value there, in binary, and in decimal unless bits are unknown.
        verilog: String,
        /// Where unknown bits come from; empty if there are none.
        hint: &'static str,
        /// The inputs of the last cycles, one cycle to a line.
        history: String,
    },
    /// The files of the comparison cannot be written or read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

/// What simulates the emitted Verilog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerilogSimulator {
    /// Icarus Verilog, with unknown values.
    Icarus,
    /// Verilator, with two-valued logic.
    Verilator,
}

impl std::fmt::Display for VerilogSimulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            VerilogSimulator::Icarus => "Icarus Verilog",
            VerilogSimulator::Verilator => "Verilator",
        })
    }
}

/// Compares the native simulation of a block with its emitted Verilog in Icarus Verilog:
/// every output in every one of `cycles` cycles, under random inputs from `seed`. Verilator checks
/// the block's claims as well.
///
/// If the block has an input `rst`, it is 1 for the first two cycles and now and then
/// later. An unknown value (`x`) in an output after that counts as a difference: the
/// block lets something matter that was neither reset nor written.
///
/// # Errors
/// The first difference with the cycles that led to it, or what kept the comparison from
/// being made.
pub fn agrees_with_verilog<B: Block + Send + 'static>(
    make_block: impl Fn() -> B,
    cycles: usize,
    seed: u64,
) -> Result<(), CheckError> {
    agrees_with(VerilogSimulator::Icarus, make_block, cycles, seed)
}

/// [`agrees_with_verilog`] with a choice of simulator.
///
/// # Errors
/// As there.
pub fn agrees_with<B: Block + Send + 'static>(
    engine: VerilogSimulator,
    make_block: impl Fn() -> B,
    cycles: usize,
    seed: u64,
) -> Result<(), CheckError> {
    compare(engine, make_block(), cycles, seed, Claims::Checked(&[]))
}

/// [`agrees_with`] for a block whose claims rest on what surrounds it in a port, to which random
/// inputs do not keep: its outputs alone are compared.
///
/// # Errors
/// As there.
pub fn outputs_agree<B: Block + Send + 'static>(
    engine: VerilogSimulator,
    make_block: impl Fn() -> B,
    cycles: usize,
    seed: u64,
) -> Result<(), CheckError> {
    compare(engine, make_block(), cycles, seed, Claims::Ignored)
}

/// [`agrees_with_verilog`] for a block of whose claims those that say this rest on what surrounds it;
/// random inputs keep to all others.
///
/// # Errors
/// As there.
pub fn agrees_but<B: Block + Send + 'static>(
    broken: &'static [&'static str],
    make_block: impl Fn() -> B,
    cycles: usize,
    seed: u64,
) -> Result<(), CheckError> {
    let claims = Claims::Checked(broken);
    compare(VerilogSimulator::Icarus, make_block(), cycles, seed, claims)
}

/// Whether the claims of a block are to hold under random inputs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claims {
    /// All but those that say this.
    Checked(&'static [&'static str]),
    Ignored,
}

fn compare(
    engine: VerilogSimulator,
    block: impl Block + Send + 'static,
    cycles: usize,
    seed: u64,
    claims: Claims,
) -> Result<(), CheckError> {
    let design = elaborate(&block)?;
    compare_with(
        engine,
        &design,
        Simulator::new(block)?,
        cycles,
        seed,
        claims,
    )
}

fn compare_with(
    engine: VerilogSimulator,
    design: &Design,
    mut simulator: Simulator,
    cycles: usize,
    seed: u64,
    claims: Claims,
) -> Result<(), CheckError> {
    let header = Header::for_tests();
    let mut files = verilog::print(design, &header);
    if claims == Claims::Checked(&[]) {
        files.extend(verilog::checkers(design, &header));
    }
    let pins = simulator.pins().to_vec();
    let stimulus = stimulus(&pins, cycles, seed);
    let mut native = Vec::with_capacity(cycles);
    let has_clock = pins.iter().any(|pin| pin.kind == Type::Clock);
    for values in &stimulus {
        for (pin, &value) in pins.iter().zip(values) {
            if pin.direction == PinDirection::Input && pin.kind != Type::Clock {
                simulator.set(&pin.name, value)?;
            }
        }
        simulator.settle()?;
        let mut outputs = Vec::new();
        for pin in pins
            .iter()
            .filter(|pin| pin.direction == PinDirection::Output)
        {
            outputs.push(simulator.get(&pin.name)?);
        }
        native.push(outputs);
        if has_clock {
            match claims {
                Claims::Checked(broken) => simulator.rising_edge_but(broken)?,
                Claims::Ignored => match simulator.rising_edge() {
                    Err(SimError::Violated { .. }) => {}
                    edge => edge?,
                },
            }
        }
    }
    let folder = tempfile::tempdir()?;
    let lines = run(engine, folder.path(), &files, &pins, &stimulus)?;
    let outputs: Vec<&Pin> = pins
        .iter()
        .filter(|pin| pin.direction == PinDirection::Output)
        .collect();
    // In the first cycle reset has not had a clock edge yet.
    let first = usize::from(pins.iter().any(|pin| pin.name == "rst"));
    for cycle in first..cycles {
        let mut line = lines[cycle].as_str();
        for (at, pin) in outputs.iter().enumerate() {
            let (text, rest) = line.split_at(pin.width as usize);
            line = rest;
            let expected = format!("{:0width$b}", native[cycle][at], width = pin.width as usize);
            if text == expected {
                continue;
            }
            let unknown = text.contains(['x', 'z']);
            return Err(CheckError::Difference {
                cycle,
                signal: pin.name.clone(),
                native: format!("{} (binary {expected})", native[cycle][at]),
                simulator: engine,
                verilog: match u128::from_str_radix(text, 2) {
                    Ok(value) => format!("{value} (binary {text})"),
                    Err(_) => format!("binary {text}"),
                },
                hint: if unknown {
                    ": it depends on a register before reset or on a word of a memory that was never written"
                } else {
                    ""
                },
                history: history(&pins, &stimulus, cycle),
            });
        }
    }
    Ok(())
}

fn history(pins: &[Pin], stimulus: &[Vec<u128>], cycle: usize) -> String {
    let mut text = String::from("inputs of the last cycles:");
    for (at, values) in stimulus
        .iter()
        .enumerate()
        .take(cycle + 1)
        .skip((cycle + 1).saturating_sub(HISTORY))
    {
        let _ = write!(text, "\n  cycle {at}:");
        for (pin, value) in pins.iter().zip(values) {
            if pin.direction == PinDirection::Input && pin.kind != Type::Clock {
                let _ = write!(text, " {}={value}", pin.name);
            }
        }
    }
    text
}

/// One value per pin and cycle; those of outputs and clocks are not used.
pub(crate) fn stimulus(pins: &[Pin], cycles: usize, seed: u64) -> Vec<Vec<u128>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut present = vec![0; pins.len()];
    let mut out = Vec::with_capacity(cycles);
    for cycle in 0..cycles {
        for (pin, value) in pins.iter().zip(&mut present) {
            if pin.name == "rst" {
                *value = u128::from(cycle < 2 || rng.random_ratio(1, 100));
                continue;
            }
            // Values stay for a while, so that counters get somewhere.
            if rng.random_bool(0.5) {
                continue;
            }
            let top = match &pin.kind {
                Type::State { variants, .. } => variants.len() as u128 - 1,
                _ => mask(pin.width),
            };
            *value = match rng.random_range(0..4) {
                0 => rng.random_range(0..=top.min(3)),
                1 => top - rng.random_range(0..=top.min(3)),
                _ => rng.random_range(0..=top),
            };
        }
        out.push(present.clone());
    }
    out
}

/// Pins of a cycle by their names, and their values.
pub type Pins = Vec<(&'static str, u128)>;

/// The first cycle in which Icarus Verilog has an output of the `files`, with the `pins` of their top, that
/// is not as expected; `None`: there is none. Each cycle has its inputs, 0 where they are not named, and all
/// outputs. Two cycles of reset come first.
///
/// # Errors
/// If the simulator is missing or refuses the Verilog, or files cannot be written.
///
/// # Panics
/// If an output is missing in a cycle.
pub fn first_difference(
    files: &[(String, String)],
    pins: &[Pin],
    cycles: &[(Pins, Pins)],
) -> Result<Option<usize>, CheckError> {
    let value = |of: &Pins, name: &str| Some(of.iter().find(|it| it.0 == name)?.1);
    let reset = cycles.iter().take(2).map(|cycle| (true, cycle));
    let rows = reset.chain(cycles.iter().map(|cycle| (false, cycle)));
    let rows: Vec<Vec<u128>> = rows
        .map(|(resets, (inputs, _))| {
            let driven = pins.iter().map(|pin| match pin.name.as_str() {
                "rst" if resets => 1,
                name => value(inputs, name).unwrap_or(0),
            });
            driven.collect()
        })
        .collect();
    let folder = tempfile::tempdir()?;
    let lines = run(VerilogSimulator::Icarus, folder.path(), files, pins, &rows)?;
    let expected = cycles.iter().map(|(_, expected)| {
        let outputs = pins.iter();
        let outputs = outputs.filter(|pin| pin.direction == PinDirection::Output);
        let bits = outputs.map(|pin| {
            let value = value(expected, &pin.name).expect("every output is expected");
            format!("{value:0width$b}", width = pin.width as usize)
        });
        bits.collect::<String>()
    });
    let mut both = expected.zip(lines.iter().skip(2));
    Ok(both.position(|(expected, found)| expected != *found))
}

/// Simulates the files under the stimulus; one line per cycle, the outputs in binary, one
/// behind the other. Verilator stops where a claim of a checker among the files is broken.
pub(crate) fn run(
    engine: VerilogSimulator,
    folder: &Path,
    files: &[(String, String)],
    pins: &[Pin],
    stimulus: &[Vec<u128>],
) -> Result<Vec<String>, CheckError> {
    let (modules, top) = write_files(folder, files)?;
    let mut vectors = String::new();
    let inputs: Vec<usize> = (0..pins.len())
        .filter(|&at| pins[at].direction == PinDirection::Input && pins[at].kind != Type::Clock)
        .collect();
    let width: u32 = inputs.iter().map(|&at| pins[at].width).sum::<u32>().max(1);
    for values in stimulus {
        let mut bits = String::new();
        for &at in &inputs {
            let _ = write!(
                bits,
                "{:0width$b}",
                values[at],
                width = pins[at].width as usize
            );
        }
        if bits.is_empty() {
            bits.push('0');
        }
        vectors.push_str(&bits);
        vectors.push('\n');
    }
    std::fs::write(folder.join("vectors.txt"), vectors)?;
    std::fs::write(
        folder.join("linkdoze_bench.v"),
        bench(&top, pins, &inputs, width, stimulus.len()),
    )?;
    let mut sources = vec!["linkdoze_bench.v".to_string()];
    sources.extend(modules);
    let program = match engine {
        VerilogSimulator::Icarus => {
            // It has no `bind`.
            sources.retain(|name| name.ends_with(".v"));
            let mut compile = Command::new("iverilog");
            compile.args(["-g2005", "-o", "bench.vvp", "-s", "linkdoze_bench"]);
            silent(
                compile.args(&sources).current_dir(folder),
                "iverilog",
                "iverilog",
            )?;
            let mut command = Command::new("vvp");
            command.args(["-n", "bench.vvp"]);
            command
        }
        VerilogSimulator::Verilator => {
            let mut compile = Command::new("verilator");
            compile.args(["--binary", "--timing", "-Wno-fatal", "-Wno-lint", "-j", "1"]);
            compile.args([
                "--assert",
                // A bench runs for less time than optimising it takes.
                "-MAKEFLAGS",
                "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0",
                "--top-module",
                "linkdoze_bench",
                "-o",
                "bench",
            ]);
            let command = text_of(&compile);
            let output = start(
                compile.args(&sources).current_dir(folder),
                "verilator",
                "verilator",
            )?;
            if !output.status.success() {
                return Err(CheckError::Complaint {
                    command,
                    output: both(&output),
                });
            }
            Command::new(folder.join("obj_dir/bench"))
        }
    };
    let mut program = program;
    let output = start(program.current_dir(folder), "vvp", "iverilog")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let total: u32 = pins
        .iter()
        .filter(|pin| pin.direction == PinDirection::Output)
        .map(|pin| pin.width)
        .sum();
    let lines: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("outputs "))
        .filter(|line| line.len() == total as usize)
        .map(str::to_string)
        .collect();
    if lines.len() != stimulus.len() {
        return Err(CheckError::Stopped {
            command: text_of(&program),
            lines: lines.len(),
            cycles: stimulus.len(),
            output: both(&output),
        });
    }
    // A claim may be broken at the last clock edge, after all that is compared.
    if !output.status.success() {
        return Err(CheckError::Complaint {
            command: text_of(&program),
            output: both(&output),
        });
    }
    Ok(lines)
}

fn bench(top: &str, pins: &[Pin], inputs: &[usize], width: u32, cycles: usize) -> String {
    let mut text = format!(
        "`timescale 1ns/1ns\nmodule linkdoze_bench;\n  reg [{}:0] vectors [0:{}];\n  integer cycle;\n",
        width - 1,
        cycles.max(1) - 1
    );
    for pin in pins {
        let storage = match pin.direction {
            PinDirection::Input => "reg",
            PinDirection::Output => "wire",
        };
        let _ = writeln!(text, "  {storage} [{}:0] {};", pin.width - 1, pin.name);
    }
    let _ = writeln!(text, "  {top} dut (");
    let connections: Vec<String> = pins
        .iter()
        .map(|pin| format!("    .{0}({0})", pin.name))
        .collect();
    let _ = writeln!(text, "{}\n  );", connections.join(",\n"));
    text.push_str("  initial begin\n    $readmemb(\"vectors.txt\", vectors);\n");
    for pin in pins.iter().filter(|pin| pin.kind == Type::Clock) {
        let _ = writeln!(text, "    {} = 1'b0;", pin.name);
    }
    let _ = writeln!(
        text,
        "    for (cycle = 0; cycle < {cycles}; cycle = cycle + 1) begin"
    );
    if !inputs.is_empty() {
        let names: Vec<&str> = inputs.iter().map(|&at| pins[at].name.as_str()).collect();
        let _ = writeln!(text, "      {{{}}} = vectors[cycle];", names.join(", "));
    }
    let outputs: Vec<&str> = pins
        .iter()
        .filter(|pin| pin.direction == PinDirection::Output)
        .map(|pin| pin.name.as_str())
        .collect();
    let _ = writeln!(
        text,
        "      #1;\n      $display(\"outputs %b\", {{{}}});",
        outputs.join(", ")
    );
    for pin in pins.iter().filter(|pin| pin.kind == Type::Clock) {
        let _ = writeln!(
            text,
            "      {0} = 1'b1;\n      #1;\n      {0} = 1'b0;",
            pin.name
        );
    }
    text.push_str("      #1;\n    end\n    $finish;\n  end\nendmodule\n");
    text
}

/// Writes the files of [`verilog::print`] and [`verilog::checkers`]; the names of those that no
/// list is in, and the top.
fn write_files(
    folder: &Path,
    files: &[(String, String)],
) -> Result<(Vec<String>, String), CheckError> {
    let mut modules = Vec::new();
    let mut top = String::new();
    std::fs::create_dir_all(folder.join(verilog::CHECKERS))?;
    for (name, text) in files {
        std::fs::write(folder.join(name), text)?;
        match name.strip_suffix(".f") {
            Some(stem) if top.is_empty() => top = stem.to_string(),
            Some(_) => {}
            None => modules.push(name.clone()),
        }
    }
    Ok((modules, top))
}

/// Elaborates a block and runs the lint tools on its Verilog, as [`lints`] does.
///
/// # Errors
/// What is wrong with the block or with its Verilog.
#[cfg(test)]
pub(crate) fn lint_block(block: &impl Block) -> Result<(), CheckError> {
    let design = elaborate(block)?;
    let header = Header::for_tests();
    let mut files = verilog::print(&design, &header);
    files.extend(verilog::checkers(&design, &header));
    lints(&files)
}

/// Runs the lint tools on the files of [`verilog::print`] without any waiver:
/// `verilator --lint-only -Wall` and `iverilog -g2005 -Wall` must be silent, and Yosys
/// must read, elaborate and check the design and find no latch in it. With the files of
/// [`verilog::checkers`] behind them, `verilator --lint-only --assert -Wall` must be silent, too.
///
/// # Errors
/// What the first tool said that said something, or which tool is missing.
pub fn lints(files: &[(String, String)]) -> Result<(), CheckError> {
    let folder = tempfile::tempdir()?;
    let (all, top) = write_files(folder.path(), files)?;
    let (modules, checkers): (Vec<_>, Vec<_>) =
        all.iter().cloned().partition(|name| name.ends_with(".v"));
    let lint = |sources: &[String], more: &[&str]| {
        let mut verilator = Command::new("verilator");
        verilator.args(["--lint-only", "-Wall", "--top-module", &top]);
        verilator.args(more).args(sources);
        silent(
            verilator.current_dir(folder.path()),
            "verilator",
            "verilator",
        )
    };
    lint(&modules, &[])?;
    if !checkers.is_empty() {
        lint(&all, &["--assert"])?;
    }
    let mut icarus = Command::new("iverilog");
    icarus.args(["-g2005", "-Wall", "-o", "lint.vvp", "-s", &top]);
    silent(
        icarus.args(&modules).current_dir(folder.path()),
        "iverilog",
        "iverilog",
    )?;
    let mut yosys = Command::new("yosys");
    let script = format!(
        "read_verilog {}; hierarchy -check -top {top}; proc; check -assert; \
         select -assert-none t:$dlatch t:$adlatch t:$dlatchsr",
        modules.join(" ")
    );
    silent(
        yosys.args(["-q", "-p", &script]).current_dir(folder.path()),
        "yosys",
        "yosys",
    )
}

fn start(
    command: &mut Command,
    tool: &'static str,
    package: &'static str,
) -> Result<std::process::Output, CheckError> {
    command.output().map_err(|source| CheckError::ToolMissing {
        tool,
        package,
        source,
    })
}

/// Runs a tool that must succeed without a word.
fn silent(
    command: &mut Command,
    tool: &'static str,
    package: &'static str,
) -> Result<(), CheckError> {
    let output = start(command, tool, package)?;
    let text = both(&output);
    if output.status.success() && text.trim().is_empty() {
        Ok(())
    } else {
        Err(CheckError::Complaint {
            command: text_of(command),
            output: text,
        })
    }
}

fn both(output: &std::process::Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn text_of(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        let _ = write!(text, " {}", argument.to_string_lossy());
    }
    text
}
