//! Signals that end the process: Ctrl-C (SIGINT), SIGTERM as batch systems and `timeout` send it,
//! and SIGHUP of a terminal that is closed. They are treated alike.

use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::{signal, SigHandler, Signal};

use super::{output, progress};
use crate::{files, tools};

/// Exit status after such a signal: that of a program which Ctrl-C has ended, as shells tell it.
pub(super) const STATUS: u8 = 130;

/// A run that a signal has ended: how far it came.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Interrupted(pub(super) String);

/// Something is under way that looks at [`Orderly::interrupted`] and ends by itself.
static ORDERLY: AtomicBool = AtomicBool::new(false);
/// A signal came in the meantime.
static NOTICED: AtomicBool = AtomicBool::new(false);

/// While it lives the first signal does not end the process: it is only noticed. It does end the
/// process while programs of others run, which nobody waits for.
pub(super) struct Orderly;

impl Orderly {
    pub(super) fn begin() -> Self {
        ORDERLY.store(true, Ordering::SeqCst);
        Self
    }

    /// A signal came: say how far it went and end, with [`Interrupted`].
    pub(super) fn interrupted(&self) -> bool {
        interrupted()
    }
}

/// A signal came while an [`Orderly`] lived.
pub(super) fn interrupted() -> bool {
    NOTICED.load(Ordering::SeqCst)
}

impl Drop for Orderly {
    fn drop(&mut self) {
        ORDERLY.store(false, Ordering::SeqCst);
    }
}

/// From now on signals end the process in order.
///
/// # Errors
/// If the system does not allow it.
pub(super) fn listen() -> Result<(), ctrlc::Error> {
    // `nohup` starts programs with SIGHUP ignored, and means it.
    let ignore_hangup = || {
        // SAFETY: no function of this program is installed.
        unsafe { signal(Signal::SIGHUP, SigHandler::SigIgn) }
    };
    let ignored = matches!(ignore_hangup(), Ok(SigHandler::SigIgn));
    ctrlc::set_handler(on_signal)?;
    if ignored {
        let _handler = ignore_hangup();
    }
    Ok(())
}

fn on_signal() {
    let noticed = ORDERLY.load(Ordering::SeqCst) && !NOTICED.swap(true, Ordering::SeqCst);
    if !noticed || tools::are_running() {
        end();
    }
}

/// Ends the process; no program that it has started and no temporary file stays.
fn end() {
    tools::end_all();
    files::abandon_unfinished();
    progress::clear();
    output::message("error: interrupted; nothing half-written was left behind");
    std::process::exit(STATUS.into());
}
