//! Small blocks that exercise every construct, in both simulations and in the lint tools.

use super::census::{self, Storage};
use super::check::{agrees_with, agrees_with_verilog, lints, CheckError, Engine};
use super::elaborate;
use super::prelude::*;
use super::sim::{SimError, Simulator};
use super::verilog::{self, Header};

/// A block with its constructor, in one place.
macro_rules! block {
    ($name:ident { $($field:ident: $type:ty = $value:expr,)* }
     $($update:tt)*) => {
        #[derive(LogicBlock)]
        struct $name {
            about: About,
            $($field: $type,)*
        }
        impl $name {
            fn new() -> Self {
                Self {
                    about: About::new(stringify!($name).to_lowercase(), "A block of the tests."),
                    $($field: $value,)*
                }
            }
        }
        impl Logic for $name {
            $($update)*
        }
    };
}

fn files<B: Block>(block: &B) -> Vec<(String, String)> {
    let design = elaborate(block).unwrap_or_else(|error| panic!("{error}"));
    verilog::print(&design, &Header::for_tests())
}

/// The Verilog of all modules.
fn text<B: Block>(block: &B) -> String {
    files(block).into_iter().map(|(_, text)| text).collect()
}

/// Both simulations agree and the lint tools are silent.
fn check_block<B: Block>(make: impl Fn() -> B, cycles: usize) {
    let files = files(&make());
    let all: String = files.iter().map(|(_, text)| text.as_str()).collect();
    lints(&files).unwrap_or_else(|error| panic!("{error}\n{all}"));
    for seed in 0..2 {
        agrees_with_verilog(&make, cycles, seed).unwrap_or_else(|error| panic!("{error}\n{all}"));
    }
}

fn error<B: Block>(block: B) -> String {
    match elaborate(&block) {
        Ok(design) => panic!("elaborates: {design:?}"),
        Err(error) => error.to_string(),
    }
}

states! {
    /// What the meter is doing.
    pub enum Phase {
        Idle = "waiting for activity",
        Count = "counting",
        Done = "the count is at its end",
    }
}

block! {
    Timer {
        clk: Signal<In, Clock> = Signal::clock("clock"),
        rst: Signal<In, Bit> = Signal::bit("synchronous reset"),
        idle: Signal<In, Bit> = Signal::bit("nothing happens"),
        expired: Signal<Out, Bit> = Signal::bit("it took too long"),
        spare: Signal<Out, Bits> = Signal::bits(4, "the idle cycles so far"),
        elapsed: Reg<Bits> = Reg::bits(4, 0, "idle cycles so far"),
        limit: Constant<Bits> = Constant::bits(4, 5, "idle cycles until it expires"),
    }
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, elapsed);
        if !self.idle.val() {
            self.elapsed.d.next = 0.into();
        } else if self.elapsed.q.val() < self.limit.val() {
            self.elapsed.d.next = self.elapsed.q.val() + 1;
        }
        self.expired.next = self.elapsed.q.val() == self.limit.val();
        self.spare.next = self.elapsed.q.val();
    }
}

block! {
    Meter {
        clk: Signal<In, Clock> = Signal::clock("clock"),
        rst: Signal<In, Bit> = Signal::bit("synchronous reset, active high"),
        active: Signal<In, Bit> = Signal::bit("the port is active"),
        sample: Signal<Out, Bits> = Signal::bits(8, "half of the ticks"),
        state: Signal<Out, Bits> = Signal::bits(3, "the phase, for status"),
        expired: Signal<Out, Bit> = Signal::bit("idle for long"),
        next_ticks: Signal<Local, Bits> = Signal::bits(10, "one tick more"),
        ticks: Reg<Bits> = Reg::bits(10, 0, "ticks so far"),
        phase: Reg<Phase> = Reg::state(Phase::Idle, "what the meter does"),
        last: Constant<Bits> = Constant::bits(10, 9, "the count stops here"),
        timer: Timer = Timer::new(),
    }
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, ticks, phase);
        comment!("One adder serves every phase (SPEC 2).");
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
            Phase::Done => {
                self.phase.d.next = Phase::Idle;
            }
        }
        comment!("Clock and reset are shared.");
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
    let mut sim = Simulator::new(Meter::new()).unwrap();
    sim.set("rst", 1).unwrap();
    sim.settle().unwrap();
    sim.rising_edge().unwrap();
    sim.set("rst", 0).unwrap();
    sim.set("active", 1).unwrap();
    let mut seen = Vec::new();
    for _ in 0..14 {
        sim.settle().unwrap();
        seen.push((sim.get("state").unwrap(), sim.get("sample").unwrap()));
        sim.rising_edge().unwrap();
    }
    let states: Vec<u128> = seen.iter().map(|&(state, _)| state).collect();
    let samples: Vec<u128> = seen.iter().map(|&(_, sample)| sample).collect();
    assert_eq!(states, [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 0, 1]);
    assert_eq!(samples, [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 0]);
}

#[test]
fn states_children_and_comments_agree_with_their_verilog() {
    check_block(Meter::new, 2000);
}

#[test]
fn the_emitted_text_is_what_an_engineer_would_write() {
    let header = Header {
        config_text: "[port]\ntime_width = 10\n".into(),
        hash: "0123456789abcdef".into(),
    };
    let print = || verilog::print(&elaborate(&Meter::new()).unwrap(), &header);
    assert_eq!(print(), print());
    let all: String = print()
        .into_iter()
        .map(|(name, text)| format!("==> {name}\n{text}"))
        .collect();
    insta::assert_snapshot!(all);
}

#[test]
fn a_census_lists_what_is_left() {
    let census = census::count(&elaborate(&Meter::new()).unwrap());
    let names: Vec<(String, u64)> = census
        .entries
        .iter()
        .map(|entry| (format!("{}.{}", entry.block, entry.name), entry.bits))
        .collect();
    assert_eq!(
        names,
        [
            ("meter.ticks".to_string(), 10),
            ("meter.phase".to_string(), 2),
            ("meter.timer.elapsed".to_string(), 4),
        ]
    );
    assert_eq!((census.register_bits, census.memory_bits), (16, 0));
}

// --------------------------- where rust_hdl's own simulation and Verilog would disagree

block! {
    Disagreements {
        a: Signal<In, Bits> = Signal::bits(4, "a"),
        b: Signal<In, Bits> = Signal::bits(4, "b"),
        p: Signal<In, Bit> = Signal::bit("p"),
        grouping: Signal<Out, Bit> = Signal::bit("`&` binds tighter than `==` in Rust"),
        masked: Signal<Out, Bit> = Signal::bit("the same on vectors"),
        increment: Signal<Out, Bit> = Signal::bit("wraps at 4 bits"),
        decrement: Signal<Out, Bit> = Signal::bit("wraps at 4 bits"),
        inverted: Signal<Out, Bit> = Signal::bit("inverts 4 bits"),
        low_sum: Signal<Out, Bits> = Signal::bits(8, "the sum without its carry"),
        wide_sum: Signal<Out, Bits> = Signal::bits(5, "the sum with its carry"),
        wide_inverse: Signal<Out, Bits> = Signal::bits(8, "the inverse does not reach up"),
        halved: Signal<Out, Bits> = Signal::bits(4, "the carry does not come back in"),
        compared: Signal<Out, Bit> = Signal::bit("a comparison of sums"),
    }
    #[hdl_gen]
    fn update(&mut self) {
        self.grouping.next = self.p.val() & (self.a.val() == self.b.val());
        self.masked.next = self.a.val() & self.b.val() == self.b.val();
        self.increment.next = (self.a.val() + 1) == 0;
        self.decrement.next = (self.a.val() - 1) == 0xf;
        self.inverted.next = (!self.a.val()) == 0xe;
        self.low_sum.next = bit_cast(self.a.val() + self.b.val(), 8);
        self.wide_sum.next = bit_cast(self.a.val(), 5) + bit_cast(self.b.val(), 5);
        self.wide_inverse.next = bit_cast(!self.a.val(), 8);
        self.halved.next = (self.a.val() + self.b.val()) >> 1;
        self.compared.next = self.a.val() + self.b.val() < self.b.val() + 1;
    }
}

#[test]
fn the_five_disagreements_are_settled() {
    check_block(Disagreements::new, 5000);
    agrees_with(Engine::Verilator, Disagreements::new, 5000, 7).unwrap();
    // Exhaustively in Rust, against arithmetic by hand.
    let mut sim = Simulator::new(Disagreements::new()).unwrap();
    for a in 0..16u128 {
        for b in 0..16u128 {
            sim.set("a", a).unwrap();
            sim.set("b", b).unwrap();
            sim.set("p", 1).unwrap();
            sim.settle().unwrap();
            let sum = (a + b) % 16;
            let expected = [
                ("grouping", u128::from(a == b)),
                ("masked", u128::from(a & b == b)),
                ("increment", u128::from(a == 15)),
                ("decrement", u128::from(a == 0)),
                ("inverted", u128::from(a == 1)),
                ("low_sum", sum),
                ("wide_sum", a + b),
                ("wide_inverse", 15 - a),
                ("halved", sum / 2),
                ("compared", u128::from(sum < (b + 1) % 16)),
            ];
            for (pin, value) in expected {
                assert_eq!(sim.get(pin).unwrap(), value, "{pin} of {a} and {b}");
            }
        }
    }
}

// ------------------------------------------------------------ every operator and width

/// Every operator at one width.
#[derive(LogicBlock)]
struct Operators {
    about: About,
    a: Signal<In, Bits>,
    b: Signal<In, Bits>,
    amount: Signal<In, Bits>,
    p: Signal<In, Bit>,
    sum: Signal<Out, Bits>,
    difference: Signal<Out, Bits>,
    product: Signal<Out, Bits>,
    mixed: Signal<Out, Bits>,
    up: Signal<Out, Bits>,
    down: Signal<Out, Bits>,
    up_by_two: Signal<Out, Bits>,
    down_by_two: Signal<Out, Bits>,
    relations: Signal<Out, Bits>,
    reductions: Signal<Out, Bits>,
    picked: Signal<Out, Bit>,
    middle_of_sum: Signal<Out, Bits>,
    middle_of_shift: Signal<Out, Bits>,
    narrow: Signal<Out, Bits>,
    joined: Signal<Out, Bits>,
    choice: Signal<Out, Bits>,
    _width: usize,
}

impl Operators {
    fn new(width: u32, amount: u32) -> Self {
        let bits = |doc: &str| Signal::bits(width, doc);
        Self {
            about: About::new("operators", "Every operator."),
            a: Signal::bits(width, "left"),
            b: Signal::bits(width, "right"),
            amount: Signal::bits(amount, "shift amount and bit index"),
            p: Signal::bit("a bit"),
            sum: bits("sum"),
            difference: bits("difference"),
            product: bits("product"),
            mixed: bits("and, or, exclusive or, inverse"),
            up: bits("shift up"),
            down: bits("shift down"),
            up_by_two: bits("shift up by a constant"),
            down_by_two: bits("shift down by a constant"),
            relations: Signal::bits(8, "every comparison"),
            reductions: Signal::bits(3, "all, any, odd"),
            picked: Signal::bit("a bit at a computed place"),
            middle_of_sum: Signal::bits(1, "a bit of a sum"),
            middle_of_shift: Signal::bits(1, "a bit of a shift"),
            narrow: Signal::bits(1, "the lowest bit of an expression"),
            joined: Signal::bits(width + 3, "two parts side by side"),
            choice: bits("conditional"),
            _width: width as usize,
        }
    }
}

impl Logic for Operators {
    #[hdl_gen]
    fn update(&mut self) {
        self.sum.next = self.a.val() + self.b.val();
        self.difference.next = self.a.val() - self.b.val() - 1;
        self.product.next = self.a.val() * self.b.val();
        self.mixed.next = (self.a.val() & self.b.val())
            ^ (self.a.val() | !self.b.val())
            ^ (self.b.val() - (self.a.val() - 1));
        self.up.next = self.a.val() << self.amount.val();
        self.down.next = (self.a.val() + self.b.val()) >> self.amount.val();
        self.up_by_two.next = self.a.val() << 2;
        self.down_by_two.next = (self.a.val() - self.b.val()) >> 2;
        self.relations.next = bit_cast(self.a.val() == self.b.val(), 8)
            | (bit_cast(self.a.val() != self.b.val(), 8) << 1)
            | (bit_cast(self.a.val() < self.b.val(), 8) << 2)
            | (bit_cast(self.a.val() <= self.b.val(), 8) << 3)
            | (bit_cast(self.a.val() > self.b.val(), 8) << 4)
            | (bit_cast(self.a.val() >= self.b.val(), 8) << 5)
            | (bit_cast(self.a.val() >= 0, 8) << 6)
            | (bit_cast(self.a.val() < 1, 8) << 7);
        self.reductions.next = bit_cast(self.a.val().all(), 3)
            | (bit_cast((self.a.val() & self.b.val()).any(), 3) << 1)
            | (bit_cast((self.a.val() ^ self.b.val()).xor(), 3) << 2);
        self.picked.next = self.a.val().get_bit(self.amount.val());
        self.middle_of_sum.next = bit_cast((self.a.val() + self.b.val()) >> 1, 1);
        self.middle_of_shift.next = bit_cast(self.a.val() >> self.amount.val(), 1);
        self.narrow.next = bit_cast(!(self.a.val() * 3 - self.b.val()), 1);
        self.joined.next = (bit_cast(self.a.val(), self._width + 3) << 3)
            | bit_cast(self.amount.val(), self._width + 3) >> 1;
        if self.p.val() && (self.a.val() < self.b.val() || self.amount.val().any()) {
            self.choice.next = self.a.val();
        } else if !self.p.val() {
            self.choice.next = self.b.val() & !1;
        } else {
            self.choice.next = 1.into();
        }
    }
}

#[test]
fn every_operator_agrees_at_every_kind_of_width() {
    for (width, amount) in [(2, 1), (4, 2), (7, 3), (8, 4), (33, 6), (64, 3), (125, 8)] {
        let make = || Operators::new(width, amount);
        let files = files(&make());
        lints(&files).unwrap_or_else(|error| panic!("{width}: {error}\n{}", files[0].1));
        agrees_with_verilog(make, 1500, width.into())
            .unwrap_or_else(|error| panic!("{width}: {error}\n{}", files[0].1));
    }
}

#[test]
fn the_widest_vectors_work() {
    block! {
        Wide {
            a: Signal<In, Bits> = Signal::bits(128, "a"),
            b: Signal<In, Bits> = Signal::bits(128, "b"),
            sum: Signal<Out, Bits> = Signal::bits(128, "sum"),
            high: Signal<Out, Bits> = Signal::bits(4, "top of the product"),
        }
        #[hdl_gen]
        fn update(&mut self) {
            self.sum.next = self.a.val() + self.b.val();
            self.high.next = bit_cast((self.a.val() * self.b.val()) >> 124, 4);
        }
    }
    check_block(Wide::new, 1000);
}

// --------------------------------------------------------------------------- hierarchy

macro_rules! stage {
    ($name:ident, $inner:ident) => {
        block! {
            $name {
                clk: Signal<In, Clock> = Signal::clock("clock"),
                rst: Signal<In, Bit> = Signal::bit("reset"),
                x: Signal<In, Bits> = Signal::bits(6, "in"),
                y: Signal<Out, Bits> = Signal::bits(6, "out"),
                first: Reg<Bits> = Reg::bits(6, 1, "before the child"),
                inner: $inner = $inner::new(),
                last: Reg<Bits> = Reg::bits(6, 2, "behind the child"),
            }
            #[hdl_gen]
            fn update(&mut self) {
                dff_setup!(self, clk, first, last);
                self.inner.clk.next = self.clk.val();
                self.inner.rst.next = self.rst.val();
                self.first.d.next = self.x.val() + self.last.q.val();
                self.inner.x.next = self.first.q.val();
                self.last.d.next = self.inner.y.val() ^ self.first.q.val();
                self.y.next = self.last.q.val() + self.inner.y.val();
            }
        }
    };
}

block! {
    Innermost {
        clk: Signal<In, Clock> = Signal::clock("clock"),
        rst: Signal<In, Bit> = Signal::bit("reset"),
        x: Signal<In, Bits> = Signal::bits(6, "in"),
        y: Signal<Out, Bits> = Signal::bits(6, "out"),
        kept: Reg<Bits> = Reg::bits(6, 3, "kept"),
    }
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, kept);
        self.kept.d.next = self.x.val();
        self.y.next = self.kept.q.val();
    }
}
stage!(Third, Innermost);
stage!(Second, Third);
stage!(First, Second);

/// Registers at different depths of the hierarchy see the same clock edge.
#[test]
fn no_register_overtakes_another() {
    check_block(First::new, 1000);
}

// ------------------------------------------------------------------------------ memory

block! {
    Store {
        clk: Signal<In, Clock> = Signal::clock("clock"),
        rst: Signal<In, Bit> = Signal::bit("reset"),
        write: Signal<In, Bit> = Signal::bit("write"),
        at: Signal<In, Bits> = Signal::bits(3, "where"),
        from: Signal<In, Bits> = Signal::bits(3, "where to read"),
        data: Signal<In, Bits> = Signal::bits(5, "what"),
        out: Signal<Out, Bits> = Signal::bits(5, "the word that was read, 0 if never written"),
        words: Memory = Memory::new(8, 5, "the words"),
        written: Reg<Bits> = Reg::bits(8, 0, "which words have been written"),
        valid: Reg<Bit> = Reg::bit(false, "the word that was read had been written"),
    }
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, written, valid);
        clock!(self, clk, words);
        self.words.read_address.next = self.from.val();
        self.words.write_enable.next = self.write.val() & !self.rst.val();
        self.words.write_address.next = self.at.val();
        self.words.write_data.next = self.data.val();
        if self.write.val() {
            self.written.d.next = self.written.q.val() | (bits(1, 8) << self.at.val());
        }
        self.valid.d.next = self.written.q.val().get_bit(self.from.val());
        self.out.next = 0.into();
        if self.valid.q.val() {
            self.out.next = self.words.read_data.val();
        }
    }
}

#[test]
fn a_memory_reads_the_old_word() {
    check_block(Store::new, 3000);
    agrees_with(Engine::Verilator, Store::new, 3000, 3).unwrap();
    let census = census::count(&elaborate(&Store::new()).unwrap());
    assert_eq!(census.memory_bits, 40);
    assert_eq!(census.memory_output_bits, 5);
    assert_eq!(census.register_bits, 9);
    let memory = census
        .entries
        .iter()
        .find(|entry| entry.storage == Storage::Memory);
    assert_eq!(memory.map(|entry| (entry.depth, entry.width)), Some((8, 5)));
    let json = serde_json::to_string(&census).unwrap();
    assert!(json.contains(r#""storage":"memory-output""#), "{json}");
}

#[test]
fn synthesis_finds_block_ram() {
    block! {
        Ram {
            clk: Signal<In, Clock> = Signal::clock("clock"),
            write: Signal<In, Bit> = Signal::bit("write"),
            at: Signal<In, Bits> = Signal::bits(8, "where"),
            from: Signal<In, Bits> = Signal::bits(8, "where to read"),
            data: Signal<In, Bits> = Signal::bits(16, "what"),
            out: Signal<Out, Bits> = Signal::bits(16, "the word that was read"),
            words: Memory = Memory::new(200, 16, "the words"),
        }
        #[hdl_gen]
        fn update(&mut self) {
            clock!(self, clk, words);
            self.words.read_address.next = self.from.val();
            self.words.write_enable.next = self.write.val();
            self.words.write_address.next = self.at.val();
            self.words.write_data.next = self.data.val();
            self.out.next = self.words.read_data.val();
        }
    }
    let files = files(&Ram::new());
    lints(&files).unwrap_or_else(|error| panic!("{error}\n{}", files[0].1));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ram.v"), &files[0].1).unwrap();
    let output = std::process::Command::new("yosys")
        .args(["-p", "read_verilog ram.v; synth_ice40 -top ram; stat"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    let cells = report.rsplit("Number of cells").next().unwrap_or_default();
    assert!(cells.contains("SB_RAM40_4K"), "{cells}");
}

block! {
    Leak {
        clk: Signal<In, Clock> = Signal::clock("clock"),
        rst: Signal<In, Bit> = Signal::bit("reset"),
        write: Signal<In, Bit> = Signal::bit("write"),
        at: Signal<In, Bits> = Signal::bits(3, "where"),
        out: Signal<Out, Bits> = Signal::bits(5, "whatever was there"),
        words: Memory = Memory::new(8, 5, "the words"),
    }
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clk, words);
        self.words.read_address.next = self.at.val();
        self.words.write_enable.next = self.write.val() & !self.rst.val();
        self.words.write_address.next = self.at.val();
        self.words.write_data.next = bits(9, 5);
        self.out.next = self.words.read_data.val();
    }
}

#[test]
fn a_word_that_was_never_written_shows() {
    let error = agrees_with_verilog(Leak::new, 100, 1).unwrap_err();
    assert!(matches!(error, CheckError::Difference { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("output `out`"), "{text}");
    assert!(text.contains("never written"), "{text}");
    assert!(text.contains("cycle 1: rst=1"), "{text}");
}

// ------------------------------------------------------------------ folding, dropping

/// One description, several configurations.
#[derive(LogicBlock)]
struct Variants {
    about: About,
    clk: Signal<In, Clock>,
    rst: Signal<In, Bit>,
    x: Signal<In, Bits>,
    hold: Signal<In, Bit>,
    y: Signal<Out, Bits>,
    held: Reg<Bits>,
    fixed: Reg<Bits>,
    nobody_reads: Signal<Local, Bits>,
    hybrid: Constant<Bit>,
    never: Constant<Bits>,
    idle_child: Timer,
}

impl Variants {
    fn new(hybrid: bool) -> Self {
        Self {
            about: About::new("variants", "Holds its input, or does not."),
            clk: Signal::clock("clock"),
            rst: Signal::bit("reset"),
            x: Signal::bits(4, "in"),
            hold: Signal::bit("hold"),
            y: Signal::bits(4, "out"),
            held: Reg::bits(4, 3, "the value held"),
            fixed: Reg::bits(4, 6, "never changes"),
            nobody_reads: Signal::bits(4, "nobody reads this"),
            hybrid: Constant::bit(hybrid, "whether it holds"),
            never: Constant::bits(4, 9, "never used"),
            idle_child: Timer::new(),
        }
    }
}

impl Logic for Variants {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, held, fixed);
        self.idle_child.clk.next = self.clk.val();
        self.idle_child.rst.next = self.rst.val();
        self.idle_child.idle.next = self.hold.val();
        self.nobody_reads.next = self.x.val() & self.never.val();
        if self.hybrid.val() {
            comment!("Only one variant holds.");
            if !self.hold.val() {
                self.held.d.next = self.x.val();
            }
            self.y.next = self.held.q.val() + self.fixed.q.val();
        } else {
            self.y.next = self.x.val();
        }
    }
}

#[test]
fn choices_are_made_at_elaboration() {
    check_block(|| Variants::new(true), 300);
    check_block(|| Variants::new(false), 300);
    let with = text(&Variants::new(true));
    assert!(with.contains("held_q <= 4'd3;"), "{with}");
    assert!(
        with.contains("localparam [3:0] FIXED = 4'd6;  // never changes"),
        "{with}"
    );
    assert!(with.contains("assign y = held_q + FIXED;"), "{with}");
    assert!(with.contains("// Only one variant holds."), "{with}");
    for gone in ["nobody", "NEVER", "HYBRID", "timer", "fixed_q"] {
        assert!(!with.contains(gone), "{gone}: {with}");
    }
    let without = text(&Variants::new(false));
    assert!(without.contains("assign y = x;"), "{without}");
    for unused in ["clk", "rst", "hold"] {
        let wire = format!("wire unused_{unused} = &{{1'b0, {unused}}};");
        assert!(without.contains(&wire), "{without}");
    }
    for gone in ["held", "always", "variant holds"] {
        assert!(!without.contains(gone), "{gone}: {without}");
    }
    let bits = |hybrid| census::count(&elaborate(&Variants::new(hybrid)).unwrap()).register_bits;
    assert_eq!((bits(true), bits(false)), (4, 0));
}

// ------------------------------------------------------------- loops, copies, variants

/// Adds `step`.
#[derive(LogicBlock)]
struct Adder {
    about: About,
    x: Signal<In, Bits>,
    y: Signal<Out, Bits>,
    step: Constant<Bits>,
}

impl Adder {
    fn new(step: u128) -> Self {
        Self {
            about: About::new("adder", "Adds `STEP`."),
            x: Signal::bits(6, "in"),
            y: Signal::bits(6, "out"),
            step: Constant::bits(6, step, "what is added"),
        }
    }
}

impl Logic for Adder {
    #[hdl_gen]
    fn update(&mut self) {
        self.y.next = self.x.val() + self.step.val();
    }
}

/// Adders in a row.
#[derive(LogicBlock)]
struct Row {
    about: About,
    x: Signal<In, Bits>,
    y: Signal<Out, Bits>,
    ones: Signal<Out, Bits>,
    counts: Vec<Signal<Local, Bits>>,
    adders: Vec<Adder>,
    last: Adder,
    _count: usize,
}

impl Row {
    fn new(count: usize) -> Self {
        Self {
            about: About::new("row", "Adders in a row."),
            x: Signal::bits(6, "in"),
            y: Signal::bits(6, "out"),
            ones: Signal::bits(6, "the ones of the input"),
            counts: (0..=6).map(|_| Signal::bits(6, "ones so far")).collect(),
            adders: (0..count).map(|_| Adder::new(5)).collect(),
            last: Adder::new(7),
            _count: count,
        }
    }
}

impl Logic for Row {
    #[hdl_gen]
    fn update(&mut self) {
        self.adders[0].x.next = self.x.val();
        for i in 1..self._count {
            self.adders[i].x.next = self.adders[i - 1].y.val() + i;
        }
        self.last.x.next = self.adders[2].y.val();
        self.y.next = self.last.y.val();
        self.counts[0].next = 0.into();
        for i in 0..6 {
            if self.x.val().get_bit(i) {
                self.counts[i + 1].next = self.counts[i].val() + 1;
            } else {
                self.counts[i + 1].next = self.counts[i].val();
            }
        }
        self.ones.next = self.counts[6].val();
    }
}

#[test]
fn loops_unroll_and_copies_share_a_module() {
    check_block(|| Row::new(3), 300);
    let names: Vec<String> = files(&Row::new(3))
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["row.v", "adder.v", "adder_last.v", "row.f"]);
    let text = text(&Row::new(3));
    assert!(
        text.contains("// Instances: row.adders_0, row.adders_1, row.adders_2\n"),
        "{text}"
    );
    assert!(text.contains("  adder_last u_last ("), "{text}");
}

// ------------------------------------------------------- processes that seem to depend

block! {
    Through {
        x: Signal<In, Bits> = Signal::bits(4, "in"),
        y: Signal<Out, Bits> = Signal::bits(4, "out"),
    }
    #[hdl_gen]
    fn update(&mut self) {
        self.y.next = self.x.val() + 1;
    }
}

block! {
    Circle {
        p: Signal<In, Bit> = Signal::bit("choice"),
        x: Signal<In, Bits> = Signal::bits(4, "in"),
        y: Signal<Out, Bits> = Signal::bits(4, "out"),
        through: Through = Through::new(),
    }
    #[hdl_gen]
    fn update(&mut self) {
        self.through.x.next = self.x.val();
        self.y.next = 0.into();
        if self.p.val() {
            self.through.x.next = self.x.val() ^ 5;
            self.y.next = self.through.y.val();
        }
    }
}

#[test]
fn no_process_depends_on_itself_through_another() {
    check_block(Circle::new, 300);
}

// ------------------------------------------------------------------------------ errors

macro_rules! wrong {
    ($test:ident, $name:ident { $($fields:tt)* } $attribute:tt $hdl:tt $fn:tt $update:tt $arguments:tt { $($body:tt)* } => $($message:literal),+) => {
        #[test]
        fn $test() {
            block! {
                $name {
                    clk: Signal<In, Clock> = Signal::clock("clock"),
                    rst: Signal<In, Bit> = Signal::bit("reset"),
                    a: Signal<In, Bits> = Signal::bits(4, "a"),
                    p: Signal<In, Bit> = Signal::bit("p"),
                    y: Signal<Out, Bits> = Signal::bits(4, "y"),
                    $($fields)*
                }
                $attribute $hdl $fn $update $arguments { $($body)* }
            }
            let message = error($name::new());
            for part in [$($message),+] {
                assert!(message.contains(part), "{message}");
            }
        }
    };
}

wrong! { operands_of_two_widths, Bad { b: Signal<In, Bits> = Signal::bits(5, "b"), } #[hdl_gen] fn update(&mut self)
{ self.y.next = self.a.val() + bit_cast(self.b.val(), 6); }
=> "bad: ", "`a` and `bit_cast(b, 6)`", "4 bits and 6 bits", "bit_cast" }

wrong! { an_assignment_of_another_width, Bad { b: Signal<In, Bits> = Signal::bits(5, "b"), } #[hdl_gen] fn update(&mut self)
{ self.y.next = self.b.val(); }
=> "bad: `y` has 4 bits and is assigned 5 bits (`b`)" }

wrong! { a_literal_that_does_not_fit, Bad {} #[hdl_gen] fn update(&mut self)
{ self.y.next = self.a.val() + 16; }
=> "bad: the number 16 does not fit 4 bits: at least 5 are needed" }

wrong! { a_constant_that_does_not_fit, Bad { big: Constant<Bits> = Constant::bits(4, 17, "c"), } #[hdl_gen] fn update(&mut self)
{ self.y.next = self.big.val(); }
=> "the constant `big` = 17 does not fit 4 bits" }

wrong! { a_reset_value_that_does_not_fit, Bad { r: Reg<Bits> = Reg::bits(4, 99, "r"), } #[hdl_gen] fn update(&mut self)
{ dff_setup!(self, clk, r); self.y.next = self.r.q.val(); }
=> "the reset value of `r`, 99 does not fit 4 bits" }

wrong! { a_width_beyond_128, Bad { b: Signal<Local, Bits> = Signal::bits(129, "b"), } #[hdl_gen] fn update(&mut self)
{ self.y.next = self.a.val(); }
=> "`b` is 129 bits wide: 1 to 128" }

wrong! { a_bit_that_is_not_there, Bad {} #[hdl_gen] fn update(&mut self)
{ self.y.next = bit_cast(self.a.val().get_bit(4), 4); }
=> "`a` has no bit 4: its bits are 0 to 3" }

wrong! { an_undriven_output, Bad {} #[hdl_gen] fn update(&mut self) {} => "bad: `y` is never driven" }

wrong! { an_undriven_local, Bad { t: Signal<Local, Bits> = Signal::bits(4, "t"), } #[hdl_gen] fn update(&mut self)
{ self.y.next = self.t.val(); }
=> "bad: `t` is never driven" }

wrong! { an_undriven_child_input, Bad { child: Through = Through::new(), } #[hdl_gen] fn update(&mut self)
{ self.y.next = self.child.y.val(); }
=> "bad: `child.x` is never driven", "of the parent" }

wrong! { a_register_without_clock, Bad { r: Reg<Bits> = Reg::bits(4, 0, "r"), } #[hdl_gen] fn update(&mut self)
{ self.r.d.next = self.a.val(); self.y.next = self.r.q.val(); }
=> "bad: `r.clock` is never driven", "dff_setup!" }

wrong! { a_memory_without_clock, Bad { m: Memory = Memory::new(4, 4, "m"), } #[hdl_gen] fn update(&mut self)
{
    self.m.read_address.next = bit_cast(self.a.val(), 2);
    self.y.next = self.m.read_data.val();
}
=> "bad: `m.", "is never driven" }

wrong! { a_memory_of_one_word, Bad { m: Memory = Memory::new(1, 4, "m"), } #[hdl_gen] fn update(&mut self)
{ self.y.next = self.a.val(); }
=> "the memory `m` has a depth of 1" }

wrong! { an_input_driven_inside, Bad {} #[hdl_gen] fn update(&mut self)
{ self.a.next = 3.into(); self.y.next = self.a.val(); }
=> "bad: `a` is driven twice: it is an input of this block" }

wrong! { a_child_output_driven_by_the_parent, Bad { child: Through = Through::new(), } #[hdl_gen] fn update(&mut self)
{
    self.child.x.next = self.a.val();
    self.child.y.next = self.a.val();
    self.y.next = self.child.y.val();
}
=> "bad: `child.y` is driven twice" }

wrong! { a_register_output_driven, Bad { r: Reg<Bits> = Reg::bits(4, 0, "r"), } #[hdl_gen] fn update(&mut self)
{ dff_setup!(self, clk, r); self.r.q.next = self.a.val(); self.y.next = self.r.q.val(); }
=> "bad: `r.q` is driven twice", "assign the register's `d`" }

wrong! { a_latch, Bad {} #[hdl_gen] fn update(&mut self)
{ if self.p.val() { self.y.next = self.a.val(); } }
=> "bad: `y` keeps its value on some path", "default" }

wrong! { a_read_before_the_last_write, Bad { t: Signal<Local, Bits> = Signal::bits(4, "t"), } #[hdl_gen] fn update(&mut self)
{
    self.t.next = 0.into();
    self.y.next = self.t.val();
    if self.p.val() { self.t.next = self.a.val(); }
}
=> "bad: `t` is read before it is assigned for the last time" }

wrong! { a_loop_through_a_child, Bad {
    child: Through = Through::new(),
    sum: Signal<Local, Bits> = Signal::bits(4, "sum"),
} #[hdl_gen] fn update(&mut self)
{
    self.child.x.next = self.a.val() & self.child.y.val();
    self.sum.next = self.child.y.val();
    self.y.next = self.sum.val();
}
=> "combinational loop: bad.child.x -> bad.child.y -> bad.child.x: break it with a register" }

wrong! { a_keyword_as_a_name, Bad { output: Signal<Local, Bits> = Signal::bits(4, "o"), always: Signal<Local, Bits> = Signal::bits(4, "o"), } #[hdl_gen] fn update(&mut self)
{ self.always.next = self.a.val(); self.y.next = self.always.val(); }
=> "bad: `always` cannot be the name of `always`", "reserved word" }

wrong! { two_things_of_one_name, Bad {
    r_q: Signal<Local, Bits> = Signal::bits(4, "o"),
    r: Reg<Bits> = Reg::bits(4, 0, "r"),
} #[hdl_gen] fn update(&mut self)
{
    dff_setup!(self, clk, r);
    self.r_q.next = self.a.val();
    self.r.d.next = self.r_q.val();
    self.y.next = self.r.q.val();
}
=> "bad: ", "`r_q`", "`r.q`", "would both be called `r_q`" }

wrong! { what_is_inside_a_child, Bad { child: Timer = Timer::new(), } #[hdl_gen] fn update(&mut self)
{
    self.child.clk.next = self.clk.val();
    self.child.rst.next = self.rst.val();
    self.child.idle.next = self.p.val();
    self.y.next = self.child.elapsed.q.val();
}
=> "bad: `child.elapsed.q` is a register of another block, which claims alone may read" }

wrong! { a_clock_connected_twice, Bad { r: Reg<Bits> = Reg::bits(4, 0, "r"), } #[hdl_gen] fn update(&mut self)
{
    dff_setup!(self, clk, r);
    dff_setup!(self, clk, r);
    self.r.d.next = self.a.val();
    self.y.next = self.r.q.val();
}
=> "bad: `r.clock` is driven twice" }

wrong! { a_number_without_a_width, Bad {} #[hdl_gen] fn update(&mut self) {
    self.y.next = self.a.val();
    if 1 == 2 { self.y.next = 0.into(); }
}
=> "bad: nothing gives `1` a width: write it as bits(value, width)" }

wrong! { a_register_set_up_under_a_condition, Bad { r: Reg<Bits> = Reg::bits(4, 0, "r"), }
#[hdl_gen] fn update(&mut self) {
    if self.p.val() { dff_setup!(self, clk, r); }
    self.y.next = self.r.q.val();
}
=> "dff_setup! and clock! stand at the top of `update`" }

wrong! { a_register_used_as_a_memory, Bad { r: Reg<Bits> = Reg::bits(4, 0, "r"), }
#[hdl_gen] fn update(&mut self) {
    self.r.clock.next = self.clk.val();
    self.y.next = self.r.q.val();
}
=> "bad: `r.clock` is connected with dff_setup!" }

#[test]
fn what_a_child_does_not_read_is_not_connected() {
    block! {
        Around {
            clk: Signal<In, Clock> = Signal::clock("clock"),
            rst: Signal<In, Bit> = Signal::bit("reset"),
            x: Signal<In, Bits> = Signal::bits(4, "in"),
            y: Signal<Out, Bits> = Signal::bits(4, "out"),
            one: Signal<In, Bits> = Signal::bits(1, "a vector of one"),
            both: Signal<Out, Bits> = Signal::bits(2, "two of them"),
            inner: Variants = Variants::new(false),
        }
        #[hdl_gen]
        fn update(&mut self) {
            self.inner.clk.next = self.clk.val();
            self.inner.rst.next = self.rst.val();
            self.inner.x.next = self.x.val();
            self.inner.hold.next = self.x.val().any();
            match self.one.val().any() {
                true => {
                    self.y.next = self.inner.y.val();
                }
                false => {
                    self.y.next = 9.into();
                }
            }
            self.both.next = (bit_cast(self.one.val() + 1, 2) << 1)
                | bit_cast(self.one.val().get_bit(self.one.val()), 2);
        }
    }
    check_block(Around::new, 200);
    let text = text(&Around::new());
    assert!(!text.contains("hold"), "{text}");
    assert!(text.contains(".x (x)"), "{text}");
}

#[test]
fn what_is_tied_to_a_number_stays_clean() {
    block! {
        Compares {
            x: Signal<In, Bits> = Signal::bits(4, "in"),
            y: Signal<In, Bits> = Signal::bits(4, "in"),
            more: Signal<Out, Bit> = Signal::bit("x is larger"),
        }
        #[hdl_gen]
        fn update(&mut self) {
            self.more.next = self.x.val() > self.y.val();
        }
    }
    block! {
        Tied {
            x: Signal<In, Bits> = Signal::bits(4, "in"),
            hybrid: Constant<Bit> = Constant::bit(false, "with an offset"),
            offset: Signal<Local, Bits> = Signal::bits(4, "added where there is one"),
            above: Signal<Out, Bit> = Signal::bit("above the offset"),
            less: Signal<Out, Bit> = Signal::bit("below the offset"),
            sum: Signal<Out, Bits> = Signal::bits(4, "with the offset"),
            child: Compares = Compares::new(),
        }
        #[hdl_gen]
        fn update(&mut self) {
            self.offset.next = 0.into();
            if self.hybrid.val() {
                self.offset.next = self.x.val();
            }
            self.sum.next = self.x.val() ^ self.offset.val();
            self.less.next = self.x.val() < self.offset.val();
            self.child.x.next = 0.into();
            self.child.y.next = self.x.val();
            self.above.next = self.child.more.val();
        }
    }
    check_block(Tied::new, 100);
    let text = text(&Tied::new());
    assert!(text.contains("localparam [3:0] OFFSET = 4'd0;"), "{text}");
    assert!(text.contains("assign less = 1'b0;"), "{text}");
    assert!(text.contains(".x    (4'd0),"), "{text}");
}

#[test]
fn a_simulator_can_move_between_threads() {
    fn is_send<T: Send>(_: &T) {}
    is_send(&Simulator::new(Meter::new()).unwrap());
}

#[test]
fn a_block_without_a_module_is_refused() {
    #[derive(LogicBlock)]
    struct Nameless {
        y: Signal<Out, Bit>,
    }
    impl Logic for Nameless {
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = true;
        }
    }
    let block = Nameless {
        y: Signal::bit("y"),
    };
    assert!(error(block).contains("about: About"));
}

#[test]
fn a_loop_in_a_description_does_not_hang_the_simulation() {
    block! {
        Oscillator { y: Signal<Out, Bit> = Signal::bit("y"), }
        #[hdl_gen]
        fn update(&mut self) { self.y.next = !self.y.val(); }
    }
    assert!(matches!(
        Simulator::new(Oscillator::new()),
        Err(SimError::NoConvergence { .. })
    ));
    assert!(error(Oscillator::new()).contains("`y` is read before"));
}

#[test]
fn pins_are_reached_by_name() {
    let mut sim = Simulator::new(Meter::new()).unwrap();
    let names: Vec<(&str, u32)> = sim
        .pins()
        .iter()
        .map(|pin| (pin.name.as_str(), pin.width))
        .collect();
    assert_eq!(
        names,
        [
            ("clk", 1),
            ("rst", 1),
            ("active", 1),
            ("sample", 8),
            ("state", 3),
            ("expired", 1)
        ]
    );
    let design = elaborate(&Meter::new()).unwrap();
    assert_eq!(design.pins(), sim.pins());
    assert_eq!(design.top(), "meter");
    let unknown = sim.set("activ", 1).unwrap_err().to_string();
    assert!(
        unknown.contains("`activ`") && unknown.contains("active"),
        "{unknown}"
    );
    let large = sim.set("active", 2).unwrap_err().to_string();
    assert_eq!(large, "pin `active` takes 0 to 1, not 2");
    assert!(sim
        .set("sample", 1)
        .unwrap_err()
        .to_string()
        .contains("output"));
}

#[test]
fn a_table_is_a_case() {
    let new = || Table::new(About::new("squares", "Squares."), vec![0, 1, 4, 9, 16], 5);
    check_block(new, 100);
    let text = text(&new());
    assert!(text.contains("3'd3"), "{text}");
    println!("{text}");
}
