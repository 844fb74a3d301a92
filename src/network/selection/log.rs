//! What selection functions were asked and answered in a run with one thread, for tests that decide the same
//! by other means.

use std::cell::RefCell;

use super::Request;

/// A packet that chose a port, and what it found.
#[derive(Clone, Debug, Default)]
pub(in crate::network) struct Ask {
    /// Always there.
    pub request: Option<Request>,
    /// Ports of the adaptive channels, or all there are to choose from, as a set.
    pub adaptive: u64,
    /// Ports of the escape channel, as a set.
    pub escape: u64,
    /// With Duato's protocol the bytes that are free for an adaptive channel at the other end of a port.
    pub credits: Vec<(u8, u32)>,
    /// Of all these ports those whose links are awake, as a set.
    pub awake: u64,
    /// Those that the load needs, as a set.
    pub selectable: u64,
    /// The port that the packet has got.
    pub chosen: u8,
    /// It has got the escape channel.
    pub by_escape: bool,
}

/// What happens, in the order in which it does; ports are numbered through all switches.
#[derive(Clone, Debug)]
pub(in crate::network) enum Event {
    Asked(Ask),
    /// A packet waits for a port, with so many bytes on the wire.
    Waits {
        port: usize,
        wire: u32,
    },
    /// A packet leaves by a port, in ps.
    Leaves {
        port: usize,
        from: u64,
        until: u64,
    },
    /// A window with a load has ended: bytes that left in it by the ports from `group` on, and how many of
    /// these are selectable then.
    Window {
        group: usize,
        end: u64,
        bytes: u64,
        selectable: u8,
    },
}

thread_local! {
    static LOG: RefCell<Option<Vec<Event>>> = const { RefCell::new(None) };
}

/// What happens while `run` runs, in this thread.
pub(in crate::network) fn of<T>(run: impl FnOnce() -> T) -> (T, Vec<Event>) {
    LOG.with_borrow_mut(|log| *log = Some(Vec::new()));
    let result = run();
    let log = LOG.with_borrow_mut(Option::take);
    (result, log.unwrap_or_default())
}

/// A log is kept in this thread.
pub(super) fn is_kept() -> bool {
    LOG.with_borrow(Option::is_some)
}

impl Event {
    pub(super) fn note(self) {
        LOG.with_borrow_mut(|log| {
            if let Some(log) = log {
                log.push(self);
            }
        });
    }
}

impl Ask {
    pub(super) fn note(self) {
        Event::Asked(self).note();
    }
}
