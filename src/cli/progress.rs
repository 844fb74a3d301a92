//! How far a command has come: bars on a terminal; elsewhere a line on standard error, the first
//! after ten seconds, then one every thirty. `--quiet` shows neither.

use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::output::{self, Level, BARS};

/// When the first line comes, where there is no terminal.
const FIRST: Duration = Duration::from_secs(10);
/// When the next ones come.
const NEXT: Duration = Duration::from_secs(30);
/// An environment variable: the seconds before the first line and between two lines.
const VARIABLE: &str = "LINKDOZE_PROGRESS";

/// What is under way; the innermost step is the last.
static STEPS: Mutex<Vec<Arc<State>>> = Mutex::new(Vec::new());

fn steps() -> MutexGuard<'static, Vec<Arc<State>>> {
    STEPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to tell how far `command` has come.
///
/// # Errors
/// If the environment variable does not hold a number of seconds.
pub(super) fn begin(command: String) -> Result<()> {
    let (first, next) = match std::env::var(VARIABLE) {
        Err(_) => (FIRST, NEXT),
        Ok(text) => {
            let seconds = text.parse().ok();
            let wait = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            match wait.filter(|wait| !wait.is_zero()) {
                Some(wait) => (wait, wait),
                None => bail!(
                    "the environment variable {VARIABLE} is \"{text}\": it must be the seconds \
                     between two lines of progress, such as 60"
                ),
            }
        }
    };
    if output::level() == Level::Quiet {
        BARS.set_draw_target(ProgressDrawTarget::hidden());
        return Ok(());
    }
    if io::stderr().is_terminal() {
        return Ok(());
    }
    let started = Instant::now();
    let print = move || {
        std::thread::sleep(first);
        loop {
            let step = steps().last().cloned();
            let line = match step {
                Some(step) => step.line(),
                None => format!("{} so far", duration(started.elapsed())),
            };
            output::message(&format!("{command}: {line}"));
            std::thread::sleep(next);
        }
    };
    std::thread::Builder::new()
        .name("progress".into())
        .spawn(print)
        .context("cannot start the thread that tells the progress")?;
    Ok(())
}

/// Takes the bars from the terminal: the process ends.
pub(super) fn clear() {
    // Nobody can read it where it cannot be written.
    let _lost = BARS.clear();
}

/// What a step counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// Anything of which only the share is of interest.
    Share,
    /// Clock cycles.
    Cycles,
}

/// A part of a command that can take long. It is over when it is dropped.
pub(super) struct Step(Arc<State>);

struct State {
    what: String,
    bar: ProgressBar,
    unit: Unit,
    started: Instant,
    /// What the time that is left is judged by: when it began, and how much was done by then.
    from: Mutex<(Instant, u64)>,
}

impl Step {
    /// A step of which nobody knows how long it takes.
    pub(super) fn new(what: impl Into<String>) -> Step {
        Step::begin(what.into(), None, Unit::Share)
    }

    /// A step that has `total` parts.
    pub(super) fn of(what: impl Into<String>, total: u64) -> Step {
        Step::begin(what.into(), Some(total), Unit::Share)
    }

    /// A step that clocks a model, for so many cycles if that is known.
    pub(super) fn cycles(what: impl Into<String>, total: Option<u64>) -> Step {
        Step::begin(what.into(), total, Unit::Cycles)
    }

    fn begin(what: String, total: Option<u64>, unit: Unit) -> Step {
        let started = Instant::now();
        let bar = BARS.add(match total {
            Some(total) => ProgressBar::new(total),
            None => ProgressBar::no_length(),
        });
        let state = Arc::new(State {
            what,
            bar,
            unit,
            started,
            from: Mutex::new((started, 0)),
        });
        state.bar.set_style(style(total.is_some(), unit));
        state.bar.set_prefix(state.what.clone());
        if !BARS.is_hidden() {
            state.bar.enable_steady_tick(Duration::from_millis(250));
        }
        steps().push(Arc::clone(&state));
        Step(state)
    }

    /// So many parts more are done.
    pub(super) fn inc(&self, parts: u64) {
        self.0.bar.inc(parts);
    }

    /// So many parts are done in all.
    pub(super) fn set_position(&self, done: u64) {
        self.0.bar.set_position(done);
    }

    /// It has `total` parts, and `done` of them were done before: they say nothing about the time
    /// that is left.
    pub(super) fn resume(&self, total: u64, done: u64) {
        self.0.bar.set_style(style(true, self.0.unit));
        self.0.bar.set_length(total);
        self.0.bar.set_position(done);
        self.0.bar.reset_eta();
        *self.0.from() = (Instant::now(), done);
    }

    /// What it does at present.
    pub(super) fn set_message(&self, text: impl Into<String>) {
        self.0.bar.set_message(text.into());
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        steps().retain(|step| !Arc::ptr_eq(step, &self.0));
        self.0.bar.finish_and_clear();
        BARS.remove(&self.0.bar);
        let State { what, started, .. } = &*self.0;
        output::detail(&format!("{what}: {:.2} s", started.elapsed().as_secs_f64()));
    }
}

impl State {
    fn from(&self) -> MutexGuard<'_, (Instant, u64)> {
        self.from.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far it has come, as a line.
    fn line(&self) -> String {
        let (since, before) = *self.from();
        let mut what = self.what.clone();
        match self.bar.message() {
            message if message.is_empty() => {}
            message => what += &format!(", {message}"),
        }
        let so_far = SoFar {
            unit: self.unit,
            before,
            done: self.bar.position(),
            total: self.bar.length(),
            spent: self.started.elapsed(),
            measured: since.elapsed(),
        };
        format!("{what}: {so_far}")
    }
}

/// How far a step has come.
struct SoFar {
    unit: Unit,
    /// Parts that were done when measuring began.
    before: u64,
    /// Parts that are done.
    done: u64,
    /// All parts, if they can be counted.
    total: Option<u64>,
    /// Since the step began.
    spent: Duration,
    /// Since measuring began.
    measured: Duration,
}

impl std::fmt::Display for SoFar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let spent = duration(self.spent);
        let total = self.total.filter(|&total| total > 0);
        match total {
            Some(total) => {
                // Just before the end it is not done.
                let share = (100.0 * self.done as f64 / total as f64).min(100.0);
                write!(f, "{share:.0} % done after {spent}")?;
            }
            None => write!(f, "{spent} so far")?,
        }
        if self.unit == Unit::Cycles {
            write!(f, ", {} cycles", count(self.done as f64))?;
        }
        let fresh = self.done.saturating_sub(self.before) as f64;
        if let (Some(total), true) = (total, fresh > 0.0) {
            let left = total.saturating_sub(self.done) as f64;
            let seconds = self.measured.as_secs_f64() * left / fresh;
            if let Ok(left) = Duration::try_from_secs_f64(seconds) {
                write!(f, ", {} left", duration(left))?;
            }
        }
        Ok(())
    }
}

/// How a bar looks.
fn style(counted: bool, unit: Unit) -> ProgressStyle {
    let template = match (counted, unit) {
        (true, Unit::Share) => "{prefix}  {msg}  {wide_bar} {percent:>3} %  {left} left",
        (true, Unit::Cycles) => "{prefix}  {wide_bar} {percent:>3} %  {speed}  {left} left",
        (false, Unit::Share) => "{spinner} {prefix}  {msg}",
        (false, Unit::Cycles) => "{spinner} {prefix}  {speed}",
    };
    let speed = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _lost = write!(out, "{} cycles/s", count(state.per_sec()));
    };
    let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _lost = write!(out, "{}", duration(state.eta()));
    };
    ProgressStyle::with_template(template)
        .expect("the templates are right")
        .with_key("speed", speed)
        .with_key("left", left)
}

/// A time as people say it: its two largest units.
pub(super) fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// A count to three digits.
pub(super) fn count(number: f64) -> String {
    let (value, unit) = match number {
        number if number < 999.5 => return format!("{number:.0}"),
        number if number < 999.5e3 => (number / 1e3, " thousand"),
        number if number < 999.5e6 => (number / 1e6, " million"),
        number => (number / 1e9, " billion"),
    };
    let digits = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_rounded_for_people() {
        for (number, text) in [
            (0.0, "0"),
            (999.4, "999"),
            (999.6, "1.00 thousand"),
            (1_436_610.5, "1.44 million"),
            (99_960_000.0, "100 million"),
            (20_000_000.0, "20.0 million"),
            (5e9, "5.00 billion"),
        ] {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn times_have_two_units() {
        for (seconds, text) in [
            (0.4, "0 s"),
            (59.4, "59 s"),
            (59.6, "1 min 0 s"),
            (3661.0, "1 h 1 min"),
            (90_000.0, "1 d 1 h"),
        ] {
            assert_eq!(duration(Duration::from_secs_f64(seconds)), text);
        }
    }

    #[test]
    fn the_time_left_is_judged_by_what_was_done_since() {
        let so_far = |before, done, total, unit| {
            let spent = Duration::from_secs(40);
            let measured = Duration::from_secs(20);
            SoFar {
                unit,
                before,
                done,
                total,
                spent,
                measured,
            }
            .to_string()
        };
        // 20 parts in 20 s; the 30 before were there.
        assert_eq!(
            so_far(30, 50, Some(200), Unit::Share),
            "25 % done after 40 s, 2 min 30 s left"
        );
        assert_eq!(
            so_far(0, 2_000_000, Some(20_000_000), Unit::Cycles),
            "10 % done after 40 s, 2.00 million cycles, 3 min 0 s left"
        );
        assert_eq!(so_far(0, 0, Some(200), Unit::Share), "0 % done after 40 s");
        assert_eq!(so_far(0, 0, None, Unit::Share), "40 s so far");
        assert_eq!(
            so_far(0, 5000, None, Unit::Cycles),
            "40 s so far, 5.00 thousand cycles"
        );
        assert_eq!(so_far(0, 0, Some(0), Unit::Share), "40 s so far");
    }

    #[test]
    fn steps_end_where_they_are_dropped() {
        let outer = Step::of("outer", 10);
        outer.set_position(5);
        {
            let inner = Step::new("inner");
            inner.set_message("a part");
            let line = inner.0.line();
            assert!(line.starts_with("inner, a part: 0 s so far"), "{line}");
        }
        assert!(steps().iter().all(|step| step.what != "inner"));
        let line = outer.0.line();
        assert!(line.starts_with("outer: 50 % done after 0 s"), "{line}");
        outer.resume(20, 10);
        assert!(outer.0.line().starts_with("outer: 50 % done"));
    }
}
