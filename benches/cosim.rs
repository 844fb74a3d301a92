//! What checking costs: cycles per second of a checked co-simulation (hardware and golden
//! model, every output compared in every cycle, on one thread, and on two as `cosim` runs one seed of
//! which it clocks every cycle) against the same hardware, compiled with the same flags, in a plain C++ loop that checks nothing
//! (`testbench/plain_loop.cpp`). The plain loop calls the model's `eval()` twice a cycle, as
//! everyone does; the harness runs the model's regions itself, so the ratio can exceed 1.
//! Both run alternately in one process; medians.
//!
//! `cargo bench --bench cosim`; `LINKDOZE_BENCH_CYCLES` sets the cycles of a repetition. With
//! `-- third` only the activities with that in their names are measured.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::{ensure, Context, Result};
use comfy_table::{presets::UTF8_HORIZONTAL_ONLY, CellAlignment, Table};
use libloading::Library;
use linkdoze::blocks::port::pins::{Inputs, PackedOutputs, Pins};
use linkdoze::config::plan::PortPlan;
use linkdoze::config::{Config, Sync, PRESETS};
use linkdoze::cosim::coverage::Coverage;
use linkdoze::cosim::line_rate::LineRate;
use linkdoze::cosim::port::PortDesign;
use linkdoze::cosim::random::Random;
use linkdoze::cosim::verilator::{Compiled, Toolchain, COMPILER_FLAGS};
use linkdoze::cosim::{
    Activity, Design, Difference, Ended, EngineError, LockStep, Rtl, Run, Stretch, Tally,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Columns of the table.
const COLUMNS: usize = 9;
/// Repetitions of each, alternating.
const REPETITIONS: usize = 7;
const CYCLES: u64 = 4_000_000;

/// The preset that is measured.
const PRESET: &str = "bxiv3-deep-sleep";

/// The controller that is measured, with registers or without.
fn design(registers: bool) -> Result<PortDesign> {
    let preset = PRESETS
        .iter()
        .find(|preset| preset.name == PRESET)
        .with_context(|| format!("no preset {PRESET}"))?;
    let mut config = Config::parse(preset.text, preset.name)?;
    // The activities below have no other end that answers messages.
    config.port.sync = Sync::Levels;
    config.port.registers = registers;
    Ok(PortDesign::new(&config)?)
}

/// What a port under an application such as LAMMPS sees: exchanges of a few packets, and
/// long silence while the application computes.
struct ApplicationLike {
    random: ChaCha8Rng,
    steps: VecDeque<(Inputs, u64)>,
}

impl ApplicationLike {
    fn new(seed: u64) -> ApplicationLike {
        ApplicationLike {
            random: ChaCha8Rng::seed_from_u64(seed),
            steps: VecDeque::new(),
        }
    }
}

impl Activity for ApplicationLike {
    fn next(&mut self, outputs: &PackedOutputs) -> Option<Stretch> {
        if self.steps.is_empty() {
            let waiting = Inputs {
                queue_nonempty: true,
                ..Inputs::default()
            };
            if !outputs.unpack().tx_enable {
                return Some(Stretch::until_change(waiting, 10_000));
            }
            let idle = Inputs::quiet();
            for _ in 0..self.random.random_range(1..8) {
                let sending = Inputs {
                    queue_nonempty: true,
                    transmitting: true,
                    receiving: self.random.random_bool(0.5),
                    ..Inputs::default()
                };
                let first = Inputs {
                    packet_valid: true,
                    packet_hops: 2,
                    ..sending
                };
                // 64 to 9600 bytes at 400 Gb/s.
                self.steps.push_back((first, 1));
                self.steps
                    .push_back((sending, self.random.random_range(1..192)));
                self.steps
                    .push_back((idle, self.random.random_range(1..2_000)));
            }
            self.steps
                .push_back((idle, self.random.random_range(5_000..100_000)));
        }
        let (inputs, cycles) = self.steps.pop_front()?;
        Some(Stretch::hold(inputs, cycles))
    }
}

/// Writes the inputs of every cycle down, so many words of each.
struct Record {
    words: usize,
    inputs: Vec<u64>,
}

impl Rtl for &mut Record {
    fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError> {
        for run in runs {
            let packed = run.inputs.pack();
            for _ in 0..run.cycles {
                self.inputs.extend_from_slice(&packed[..self.words]);
            }
        }
        Ok(None)
    }
}

/// An engine that compares nothing: what remains is the golden model and the driver.
struct Nothing;

impl Rtl for Nothing {
    fn run(&mut self, _: &[Run]) -> Result<Option<Difference>, EngineError> {
        Ok(None)
    }
}

type PlainLoop = unsafe extern "C" fn(*const u64, u64) -> u64;

/// Words of the packed inputs that hold pins of the design.
fn input_words(pins: &Pins) -> usize {
    pins.inputs
        .iter()
        .map(|pin| pin.word + 1)
        .max()
        .unwrap_or(1)
}

/// `plain_pins.h`: how the plain loop drives and reads the pins.
fn plain_pins(pins: &Pins) -> String {
    let drive: String = (pins.inputs.iter())
        .map(|pin| {
            let (name, word, low, mask) = (pin.name, pin.word, pin.low, pin.mask());
            format!("    top.{name} = inputs[{word}] >> {low} & {mask:#x}u;\n")
        })
        .collect();
    let read: String = (pins.outputs.iter())
        .map(|pin| format!(" ^ top.{}", pin.name))
        .collect();
    format!(
        "enum {{ WORDS = {} }};\n\n\
         static inline void drive(Vport& top, const uint64_t* inputs) {{\n{drive}}}\n\n\
         static inline uint64_t read(const Vport& top) {{\n    return 0{read};\n}}\n",
        input_words(pins)
    )
}

/// Compiles `testbench/plain_loop.cpp` with the design.
fn plain_loop(design: &impl Design, folder: &std::path::Path) -> Result<Library> {
    let tools = Toolchain::find()?;
    let mut names = Vec::new();
    for (name, text) in design.verilog()? {
        std::fs::write(folder.join(&name), text)?;
        names.push(name);
    }
    tools.verilate(folder, &names, "port", &[])?;
    let (own, library) = tools.sources(&folder.join("model"))?;
    std::fs::write(
        folder.join("plain_pins.h"),
        plain_pins(&Pins::of(design.plan())),
    )?;
    // One translation unit, as the checked model is.
    let mut unity = include_str!("../testbench/plain_loop.cpp").to_owned();
    for path in own {
        unity += &format!("#include \"{}\"\n", path.display());
    }
    std::fs::write(folder.join("plain.cpp"), unity)?;
    let output = tools
        .compiler()
        .current_dir(folder)
        .args(COMPILER_FLAGS)
        .args(["-shared", "-I.", "-Imodel", "-I"])
        .arg(tools.include())
        .args(["-DVM_TRACE=0", "-DVM_COVERAGE=0", "-DVM_SC=0"])
        .args([
            "-fno-gnu-unique",
            "-Wl,-Bsymbolic",
            "-o",
            "plain.so",
            "plain.cpp",
        ])
        .args(library)
        .output()?;
    ensure!(
        output.status.success(),
        "the plain loop does not compile:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // SAFETY: built just now from the sources above; initialisers are those of the C++
    // runtime and Verilator's library.
    Ok(unsafe { Library::new(folder.join("plain.so")) }?)
}

/// Seconds of each way to clock the same cycles.
struct Times {
    plain: f64,
    checked: f64,
    on_two: f64,
    counted: f64,
    counted_on_two: f64,
    golden: f64,
}

/// Seconds that it takes, and what it gives.
fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    let start = Instant::now();
    let given = work()?;
    Ok((start.elapsed().as_secs_f64(), given))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A controller in both forms.
struct Measured {
    design: PortDesign,
    plain: Library,
    model: Compiled,
}

impl Measured {
    /// Compiles the controller with registers or without.
    fn new(registers: bool) -> Result<Measured> {
        let design = design(registers)?;
        let folder = tempfile::tempdir()?;
        Ok(Measured {
            plain: plain_loop(&design, folder.path())?,
            model: Compiled::fast(&design.verilog()?, design.plan())?,
            design,
        })
    }

    /// A row of the table: so many cycles of an activity.
    fn row(&self, name: &str, cycles: u64, make: Make) -> Result<[String; COLUMNS]> {
        let Measured { design, model, .. } = self;
        let plan = design.plan();
        let make = || make(plan, cycles);
        // SAFETY: the type is that of `plain_loop` in the source that was compiled.
        let plain: PlainLoop = unsafe { *self.plain.get(b"plain_loop\0")? };
        let mut record = Record {
            words: input_words(&Pins::of(plan)),
            inputs: Vec::new(),
        };
        let mut runs = 0;
        LockStep::new(design.golden(), &mut record).drive(
            make().as_mut(),
            cycles,
            |_, batch| {
                runs += batch.len();
                ControlFlow::Continue(())
            },
        )?;
        let go_on = |_: &Tally, _: &[Run]| ControlFlow::Continue(());
        let mut times: Vec<Times> = Vec::new();
        for _ in 0..REPETITIONS {
            // SAFETY: the array holds the words of `cycles` cycles.
            let (plain, sum) = timed(|| Ok(unsafe { plain(record.inputs.as_ptr(), cycles) }))?;
            std::hint::black_box(sum);

            let mut pair = LockStep::new(design.golden(), model.engine()?);
            let (checked, ended) = timed(|| Ok(pair.drive(make().as_mut(), cycles, go_on)?))?;
            ensure!(ended == Ended::Complete, "a mismatch: {ended:?}");

            let mut pair = LockStep::new(design.golden(), model.engine()?);
            let (on_two, ended) =
                timed(|| Ok(pair.drive_on_two_threads(make().as_mut(), cycles, go_on)?))?;
            ensure!(ended == Ended::Complete, "a mismatch: {ended:?}");

            // Every run counts corners from the beginning.
            let counting = || {
                let mut coverage = Coverage::new(plan);
                move |_: &Tally, batch: &[Run]| {
                    coverage.observe(batch);
                    ControlFlow::Continue(())
                }
            };
            let mut pair = LockStep::new(design.golden(), model.engine()?);
            let (counted, _) = timed(|| Ok(pair.drive(make().as_mut(), cycles, counting())?))?;

            let mut pair = LockStep::new(design.golden(), model.engine()?);
            let (counted_on_two, _) =
                timed(|| Ok(pair.drive_on_two_threads(make().as_mut(), cycles, counting())?))?;

            let mut pair = LockStep::new(design.golden(), Nothing);
            let (golden, _) = timed(|| Ok(pair.drive(make().as_mut(), cycles, go_on)?))?;
            times.push(Times {
                plain,
                checked,
                on_two,
                counted,
                counted_on_two,
                golden,
            });
        }
        let of = |part: fn(&Times) -> f64| median(times.iter().map(part).collect());
        let rate = |seconds: f64| format!("{:.1} M/s", cycles as f64 / seconds / 1e6);
        Ok([
            name.to_owned(),
            rate(of(|it| it.plain)),
            rate(of(|it| it.checked)),
            format!("{:.2}", of(|it| it.plain / it.checked)),
            format!("{:.2}", of(|it| it.plain / it.on_two)),
            rate(of(|it| it.counted)),
            rate(of(|it| it.counted_on_two)),
            rate(of(|it| it.golden)),
            format!("1 per {:.1} cycles", cycles as f64 / runs as f64),
        ])
    }
}

/// Makes an activity of so many cycles.
type Make = fn(&PortPlan, u64) -> Box<dyn Activity + Send>;

/// What is measured of a controller without registers and of one with them.
const ACTIVITIES: [(bool, &[(&str, Make)]); 2] = [
    (
        false,
        &[
            ("random", random),
            ("every third cycle", |_, _| Box::new(LineRate::new(1))),
            ("application-like", |_, _| Box::new(ApplicationLike::new(1))),
        ],
    ),
    (true, &[("random with registers", random)]),
];

/// Random activity, with software that asks the registers where there are any.
fn random(plan: &PortPlan, cycles: u64) -> Box<dyn Activity + Send> {
    Box::new(Random::new(plan, 1, cycles, false))
}

fn main() -> Result<()> {
    let cycles = match std::env::var("LINKDOZE_BENCH_CYCLES") {
        Ok(text) => text
            .parse()
            .context("LINKDOZE_BENCH_CYCLES is not a number")?,
        Err(_) => CYCLES,
    };
    // An argument that is no option is a part of the names of what is to be measured.
    let mut arguments = std::env::args().skip(1);
    let part = arguments.find(|argument| !argument.starts_with('-'));
    let wanted = |name: &str| part.as_ref().is_none_or(|part| name.contains(part));

    let mut table = Table::new();
    table.load_preset(UTF8_HORIZONTAL_ONLY).set_header([
        "activity",
        "plain C++ loop",
        "checked",
        "ratio",
        "ratio on two threads",
        "corners counted",
        "on two threads",
        "golden alone",
        "runs",
    ]);
    let mut made_with = None;
    for (registers, activities) in ACTIVITIES {
        if !activities.iter().any(|(name, _)| wanted(name)) {
            continue;
        }
        let measured = Measured::new(registers)?;
        for (name, make) in activities.iter().filter(|(name, _)| wanted(name)) {
            table.add_row(measured.row(name, cycles, *make)?);
        }
        let Compiled {
            version, clocking, ..
        } = measured.model;
        made_with = Some(format!("{version}, clocked by {clocking}"));
    }
    for column in 1..COLUMNS {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    println!(
        "{PRESET}, {}; {cycles} cycles, {REPETITIONS} repetitions, medians, one thread if not said otherwise\n{table}",
        made_with.context("no activity has this name")?
    );
    Ok(())
}
