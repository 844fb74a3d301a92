//! What is to happen at the ports of a switch, counted from its pins.

use crate::blocks::axi_lite::response::{DECERR, OKAY, SLVERR};
use crate::blocks::csr::map;
use crate::blocks::port::pins::{Pin, PowerState};
use crate::config::plan::{HistogramKind, Policy, PortPlan};
use crate::cosim::transfers::{ReadAnswer, Transfers, WriteAnswer};
use crate::cosim::Run;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corner {
    /// Which port, if it is of one.
    pub port: Option<u32>,
    /// Its short name.
    pub name: &'static str,
    /// What happens.
    pub what: &'static str,
    /// How often it happened.
    pub count: u64,
}

/// What is to happen at every port.
const AT_PORT: [(&str, &str); 8] = [
    ("sleeps", "the link of the port leaves WAKE"),
    ("wakes", "it is awake again"),
    ("page-read", "a register of its page is read, and is not 0"),
    ("page-written", "a register of its page is written"),
    ("applied", "software applies parameters to the port"),
    ("error-read", "its own page says that it has an error"),
    (
        "error-of-all",
        "the page of all ports says that it has an error",
    ),
    (
        "interrupt-of-all",
        "the page of all ports says that it raises its interrupt",
    ),
];

/// What is to happen once.
const AT_SWITCH: [(&str, &str); 8] = [
    ("all-read", "the page of all ports is read"),
    ("all-refused", "a write to the page of all ports is refused"),
    ("nowhere-read", "a read finds no register"),
    ("nowhere-written", "a write finds no register"),
    ("reset-asked", "a reset while an answer is outstanding"),
    ("interrupted", "the interrupt is raised"),
    ("interrupt-ended", "the interrupt ends, without a reset"),
    ("mixed", "one link is awake while another one sleeps"),
];

/// Counts of every corner.
pub struct Corners {
    corners: Vec<Corner>,
    ports: u32,
    transfers: Transfers,
    /// The links that were not awake in the step before.
    asleep: Vec<bool>,
    /// Addresses in words: of registers in a page, and of the page of all ports.
    errors: u32,
    command: u32,
    page_of_all: u32,
    errors_of_all: u32,
    interrupts_of_all: u32,
    /// The interrupt was raised.
    interrupted: bool,
}

impl Corners {
    /// Nothing has happened; the ports are just after reset.
    pub fn new(plan: &PortPlan, ports: u32) -> Corners {
        let word = |name: &str| map::port(plan).register(name).offset / 4;
        let all = map::all_ports(plan, ports);
        let sleeps = plan.policy != Policy::AlwaysOn;
        // What sets an error flag: a silent other end, a map that overflows, an upset.
        let errs = plan.messages().is_some()
            || plan.histogram.kind == HistogramKind::Map
            || plan.triple_redundancy;
        let has = |name: &str| match name {
            "sleeps" | "wakes" => sleeps,
            "error-read" | "error-of-all" => errs,
            "mixed" => sleeps && ports > 1,
            _ => true,
        };
        let at_port = (0..ports).flat_map(|port| AT_PORT.map(|it| (Some(port), it)));
        let at_switch = AT_SWITCH.map(|it| (None, it));
        let corners = at_port
            .chain(at_switch)
            .filter(|(_, (name, _))| has(name))
            .map(|(port, (name, what))| Corner {
                port,
                name,
                what,
                count: 0,
            });
        Corners {
            corners: corners.collect(),
            ports,
            transfers: Transfers::default(),
            asleep: vec![false; ports as usize],
            errors: word("errors"),
            command: word("command"),
            page_of_all: map::global_offset(ports) / map::STRIDE,
            errors_of_all: all.register("errors_low").offset / 4,
            interrupts_of_all: all.register("interrupts_low").offset / 4,
            interrupted: false,
        }
    }

    /// Every corner that this configuration has.
    pub fn all(&self) -> &[Corner] {
        &self.corners
    }

    /// Those that were not reached.
    pub fn missed(&self) -> Vec<&Corner> {
        let corners = self.corners.iter();
        corners.filter(|corner| corner.count == 0).collect()
    }

    /// Adds the counts of another run of the same ports.
    pub fn merge(&mut self, other: &Corners) {
        for (sum, other) in self.corners.iter_mut().zip(&other.corners) {
            sum.count += other.count;
        }
    }

    fn reach(&mut self, port: Option<u32>, name: &str) {
        let corner =
            (self.corners.iter_mut()).find(|corner| corner.port == port && corner.name == name);
        if let Some(corner) = corner {
            corner.count += 1;
        }
    }

    /// Takes in what all ports did next: a run of each.
    pub(super) fn observe(&mut self, step: &[Run]) {
        let (mut sleeping, mut changes) = (0, false);
        for (port, run) in (0..).zip(step) {
            let asleep = run.power_state() != PowerState::Wake;
            sleeping += u32::from(asleep);
            let before = std::mem::replace(&mut self.asleep[port as usize], asleep);
            match (before, asleep) {
                (false, true) => self.reach(Some(port), "sleeps"),
                (true, false) => self.reach(Some(port), "wakes"),
                _ => continue,
            }
            changes = true;
        }
        if changes && sleeping > 0 && sleeping < self.ports {
            self.reach(None, "mixed");
        }
        let (run, inputs) = (&step[0], step[0].inputs);
        if inputs.rst {
            if self.transfers.forget() {
                self.reach(None, "reset-asked");
            }
            self.interrupted = false;
            return;
        }
        let interrupts = run.expected(Pin::Irq) == 1;
        match (self.interrupted, interrupts) {
            (false, true) => self.reach(None, "interrupted"),
            (true, false) => self.reach(None, "interrupt-ended"),
            _ => {}
        }
        self.interrupted = interrupts;
        if let Some(write) = self.transfers.written(run, &inputs) {
            self.written(&write);
        }
        if let Some(read) = self.transfers.read(run, &inputs) {
            self.read(&read);
        }
        self.transfers.take(run, &inputs);
    }

    /// The page of a word, as a port's number if it is a port's, and the word in that page.
    fn place(&self, word: u32) -> (u32, Option<u32>, u32) {
        const WORDS: u32 = map::STRIDE / 4;
        let page = word / WORDS;
        (page, (page < self.ports).then_some(page), word % WORDS)
    }

    fn written(&mut self, write: &WriteAnswer) {
        let (page, port, word) = self.place(write.word);
        match write.response {
            OKAY => {
                self.reach(port, "page-written");
                if word == self.command && write.strobe & 1 == 1 && write.data & 1 == 1 {
                    self.reach(port, "applied");
                }
            }
            SLVERR if page == self.page_of_all => self.reach(None, "all-refused"),
            DECERR => self.reach(None, "nowhere-written"),
            _ => {}
        }
    }

    fn read(&mut self, read: &ReadAnswer) {
        let (page, port, word) = self.place(read.word);
        if read.response == DECERR {
            self.reach(None, "nowhere-read");
        }
        if read.response != OKAY {
            return;
        }
        if port.is_some() && read.data != 0 {
            self.reach(port, "page-read");
            if word == self.errors {
                self.reach(port, "error-read");
            }
        }
        if page == self.page_of_all {
            self.reach(None, "all-read");
            // The lower word has the ports from 0, the upper one those from 32.
            let pairs = [
                (self.errors_of_all, "error-of-all"),
                (self.interrupts_of_all, "interrupt-of-all"),
            ];
            for (pair, name) in pairs {
                if let Some(upper @ 0..=1) = word.checked_sub(pair) {
                    for bit in (0..32).filter(|bit| read.data >> bit & 1 == 1) {
                        self.reach(Some(32 * upper + bit), name);
                    }
                }
            }
        }
    }
}
