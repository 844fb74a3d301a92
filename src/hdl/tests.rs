//! Small blocks that exercise every construct.

use super::check::{agrees_with_verilog, lints};
use super::elaborate;
use super::prelude::*;
use super::sim::Simulator;
use super::verilog::{self, Header};

states! {
    /// What the meter is doing.
    pub enum Phase {
        Idle = "waiting for activity",
        Count = "counting",
        Done = "the count is at its end",
    }
}

/// Counts, with a child.
#[derive(LogicBlock)]
pub struct Timer {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub idle: Signal<In, Bit>,
    pub expired: Signal<Out, Bit>,
    elapsed: Reg<Bits>,
    limit: Constant<Bits>,
}

impl Timer {
    pub fn new(width: u32, limit: u128) -> Self {
        Self {
            about: About::new("timer", "Expires after `LIMIT` idle cycles."),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            idle: Signal::bit("nothing happens"),
            expired: Signal::bit("it took too long"),
            elapsed: Reg::bits(width, 0, "idle cycles so far"),
            limit: Constant::bits(width, limit, "idle cycles until it expires"),
        }
    }
}

impl Logic for Timer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, elapsed);
        if !self.idle.val() {
            self.elapsed.d.next = 0.into();
        } else if self.elapsed.q.val() < self.limit.val() {
            self.elapsed.d.next = self.elapsed.q.val() + 1;
        }
        self.expired.next = self.elapsed.q.val() == self.limit.val();
    }
}

#[derive(LogicBlock)]
pub struct Meter {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub active: Signal<In, Bit>,
    pub sample: Signal<Out, Bits>,
    pub state: Signal<Out, Bits>,
    pub expired: Signal<Out, Bit>,
    next_ticks: Signal<Local, Bits>,
    ticks: Reg<Bits>,
    phase: Reg<Phase>,
    last: Constant<Bits>,
    timer: Timer,
}

impl Meter {
    pub fn new(width: u32) -> Self {
        Self {
            about: About::new("meter", "Measures how long nothing happens."),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset, active high"),
            active: Signal::bit("the port is active"),
            sample: Signal::bits(8, "an eighth of the ticks"),
            state: Signal::bits(3, "the phase, for status"),
            expired: Signal::bit("idle for long"),
            next_ticks: Signal::bits(width, "one tick more"),
            ticks: Reg::bits(width, 0, "ticks so far"),
            phase: Reg::state(Phase::Idle, "what the meter does"),
            last: Constant::bits(width, 9, "the count stops here"),
            timer: Timer::new(4, 5),
        }
    }
}

impl Logic for Meter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, ticks, phase);
        comment!("One adder serves every phase.");
        self.next_ticks.next = self.ticks.q.val() + 1;
        match self.phase.q.val() {
            Phase::Idle => {
                if self.active.val() {
                    self.phase.d.next = Phase::Count;
                    self.ticks.d.next = 0.into();
                }
            }
            Phase::Count => {
                if !(self.ticks.q.val() == self.last.val()) {
                    self.ticks.d.next = self.next_ticks.val();
                } else {
                    comment!("The sample is complete.");
                    self.phase.d.next = Phase::Done;
                }
            }
            _ => {
                self.phase.d.next = Phase::Idle;
            }
        }
        self.timer.clk.next = self.clk.val();
        self.timer.rst.next = self.rst.val();
        self.timer.idle.next = !self.active.val();
        self.expired.next = self.timer.expired.val() & self.active.val();
        self.state.next = bit_cast(self.phase.q.val(), 3);
        self.sample.next = bit_cast(self.ticks.q.val() >> 1, 8);
    }
}

#[test]
fn a_block_simulates_natively() {
    let mut sim = Simulator::new(Meter::new(10)).unwrap();
    sim.set("rst", 1).unwrap();
    sim.settle().unwrap();
    sim.rising_edge().unwrap();
    sim.set("rst", 0).unwrap();
    sim.set("active", 1).unwrap();
    let mut states = Vec::new();
    for _ in 0..14 {
        sim.settle().unwrap();
        states.push((sim.get("state").unwrap(), sim.get("sample").unwrap()));
        sim.rising_edge().unwrap();
    }
    let expected = [
        (0, 0),
        (1, 0),
        (1, 0),
        (1, 1),
        (1, 1),
        (1, 2),
        (1, 2),
        (1, 3),
        (1, 3),
        (1, 4),
        (1, 4),
        (2, 4),
        (0, 4),
        (1, 0),
    ];
    assert_eq!(states, expected);
}

#[test]
fn the_meter_agrees_with_its_verilog() {
    check_block(|| Meter::new(10), 2000);
}

/// Both simulations agree and the lint tools are silent.
fn check_block<B: Block>(make: impl Fn() -> B, cycles: usize) {
    let design = elaborate(&make()).unwrap_or_else(|error| panic!("{error}"));
    let files = verilog::print(&design, &Header::for_tests());
    lints(&files).unwrap_or_else(|error| panic!("{error}\n{}", files[0].1));
    for seed in 0..2 {
        agrees_with_verilog(&make, cycles, seed)
            .unwrap_or_else(|error| panic!("{error}\n{}", files[0].1));
    }
}
