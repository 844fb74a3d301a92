//! Small blocks that exercise every construct, in both simulations and in the lint tools.

use super::census::{self, Storage};
use super::check::{self, agrees_with, agrees_with_verilog, lints, CheckError, VerilogSimulator};
use super::elaborate;
use super::prelude::*;
use super::sim::{SimError, Simulator};
use super::verilog::{self, Header};

fn files(block: &dyn Block) -> Vec<(String, String)> {
    let design = elaborate(block).unwrap_or_else(|error| panic!("{error}"));
    let header = Header::for_tests();
    let mut files = verilog::print(&design, &header);
    files.extend(verilog::checkers(&design, &header));
    files
}

/// The Verilog of all modules.
fn text(block: &dyn Block) -> String {
    files(block).into_iter().map(|(_, text)| text).collect()
}

/// Both simulations agree and the lint tools are silent.
fn check_block<B: Block + Send + 'static>(make: impl Fn() -> B, cycles: usize) {
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
    struct Timer(clk, rst);

    fn new() {}

    about("timer", "A block of the tests.")

    {
        in idle: Bit("nothing happens"),
        out expired: Bit("it took too long"),
        out spare: Bits(4, "the idle cycles so far"),
        reg elapsed: Bits(4, 0, "idle cycles so far"),
        constant limit: Bits(4, 5, "idle cycles until it expires"),
    }
}

impl Logic for Timer {
    #[hdl_gen]
    fn update(&mut self) {
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
    struct Meter(clk, rst);

    fn new() {}

    about("meter", "A block of the tests.")

    {
        in active: Bit("the port is active"),
        out sample: Bits(8, "half of the ticks"),
        out state: Bits(3, "the phase, for status"),
        out expired: Bit("idle for long"),
        local next_ticks: Bits(10, "one tick more"),
        reg ticks: Bits(10, 0, "ticks so far"),
        reg phase: Phase(Phase::Idle, "what the meter does"),
        constant last: Bits(10, 9, "the count stops here"),
        child timer: Timer(),
    }
}

impl Logic for Meter {
    #[hdl_gen]
    fn update(&mut self) {
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
        comment!("The timer counts while nothing is active.");
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

/// Emitted text is what stands in the file `name` of `expected/`; with `LINKDOZE_WRITE_EXPECTED` the file
/// is written anew.
fn is_as_expected(text: &str, name: &str) {
    let file = [env!("CARGO_MANIFEST_DIR"), "src/hdl/expected", name];
    let file: std::path::PathBuf = file.iter().collect();
    if std::env::var_os("LINKDOZE_WRITE_EXPECTED").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap();
    for (number, (line, wanted)) in text.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, wanted, "{name}:{}", number + 1);
    }
    assert_eq!(text, expected, "{name}");
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
    is_as_expected(&all, "meter.txt");
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
    struct Disagreements;

    fn new() {}

    about("disagreements", "A block of the tests.")

    {
        in a: Bits(4, "a"),
        in b: Bits(4, "b"),
        in p: Bit("p"),
        out grouping: Bit("`&` binds tighter than `==` in Rust"),
        out masked: Bit("the same on vectors"),
        out increment: Bit("wraps at 4 bits"),
        out decrement: Bit("wraps at 4 bits"),
        out inverted: Bit("inverts 4 bits"),
        out low_sum: Bits(8, "the sum without its carry"),
        out wide_sum: Bits(5, "the sum with its carry"),
        out wide_inverse: Bits(8, "the inverse does not reach up"),
        out halved: Bits(4, "the carry does not come back in"),
        out compared: Bit("a comparison of sums"),
    }
}

impl Logic for Disagreements {
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
    agrees_with(VerilogSimulator::Verilator, Disagreements::new, 5000, 7).unwrap();
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

block! {
    /// Every operator at one width.
    struct Operators;

    fn new(width: u32, amount: u32) {
    }

    about(
        "operators", "Every operator.",
    )

    {
        in a: Bits(width, "left"),
        in b: Bits(width, "right"),
        in amount: Bits(amount, "shift amount and bit index"),
        in p: Bit("a bit"),
        out sum: Bits(width, "sum"),
        out difference: Bits(width, "difference"),
        out product: Bits(width, "product"),
        out mixed: Bits(width, "and, or, exclusive or, inverse"),
        out up: Bits(width, "shift up"),
        out down: Bits(width, "shift down"),
        out up_by_two: Bits(width, "shift up by a constant"),
        out down_by_two: Bits(width, "shift down by a constant"),
        out relations: Bits(8, "every comparison"),
        out reductions: Bits(3, "all, any, odd"),
        out picked: Bit("a bit at a computed place"),
        out middle_of_sum: Bits(1, "a bit of a sum"),
        out middle_of_shift: Bits(1, "a bit of a shift"),
        out narrow: Bits(1, "the lowest bit of an expression"),
        out joined: Bits(width + 3, "two parts side by side"),
        out choice: Bits(width, "conditional"),
        number _width(width),
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
        struct Wide;

        fn new() {}

        about("wide", "A block of the tests.")

        {
            in a: Bits(128, "a"),
            in b: Bits(128, "b"),
            out sum: Bits(128, "sum"),
            out high: Bits(4, "top of the product"),
        }
    }

    impl Logic for Wide {
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
            struct $name(clk, rst);

            fn new() {}

            about(stringify!($name).to_lowercase(), "A block of the tests.")

            {
                in x: Bits(6, "in"),
                out y: Bits(6, "out"),
                reg first: Bits(6, 1, "before the child"),
                child inner: $inner(),
                reg last: Bits(6, 2, "behind the child"),
            }
        }

        impl Logic for $name {
            #[hdl_gen]
            fn update(&mut self) {
                self.first.d.next = self.x.val() + self.last.q.val();
                self.inner.x.next = self.first.q.val();
                self.last.d.next = self.inner.y.val() ^ self.first.q.val();
                self.y.next = self.last.q.val() + self.inner.y.val();
            }
        }
    };
}

block! {
    struct Innermost(clk, rst);

    fn new() {}

    about("innermost", "A block of the tests.")

    {
        in x: Bits(6, "in"),
        out y: Bits(6, "out"),
        reg kept: Bits(6, 3, "kept"),
    }
}

impl Logic for Innermost {
    #[hdl_gen]
    fn update(&mut self) {
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
    struct Store(clk, rst);

    fn new() {}

    about("store", "A block of the tests.")

    {
        in write: Bit("write"),
        in at: Bits(3, "where"),
        in from: Bits(3, "where to read"),
        in data: Bits(5, "what"),
        out out: Bits(5, "the word that was read, 0 if never written"),
        memory words: Memory(8, 5, None, "the words"),
        reg written: Bits(8, 0, "which words have been written"),
        reg valid: Bit(false, "the word that was read had been written, and was not just then"),
    }
}

impl Logic for Store {
    #[hdl_gen]
    fn update(&mut self) {
        self.words.read_address.next = self.from.val();
        self.words.write_enable.next = self.write.val() & !self.rst.val();
        self.words.write_address.next = self.at.val();
        self.words.write_data.next = self.data.val();
        if self.write.val() {
            self.written.d.next = self.written.q.val() | (bits(1, 8) << self.at.val());
        }
        self.valid.d.next = self.written.q.val().get_bit(self.from.val())
            & !(self.write.val() & (self.at.val() == self.from.val()));
        self.out.next = 0.into();
        if self.valid.q.val() {
            self.out.next = self.words.read_data.val();
        }
    }
}

#[test]
fn a_memory_reads_a_word_that_is_not_being_written() {
    check_block(Store::new, 3000);
    agrees_with(VerilogSimulator::Verilator, Store::new, 3000, 3).unwrap();
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
        struct Ram(clk, rst);

        fn new() {}

        about("ram", "A block of the tests.")

        {
            in write: Bit("write"),
            in at: Bits(8, "where"),
            in from: Bits(8, "where to read"),
            in data: Bits(16, "what"),
            out out: Bits(16, "the word that was read"),
            memory words: Memory(200, 16, None, "the words"),
        }
    }

    impl Logic for Ram {
        #[hdl_gen]
        fn update(&mut self) {
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
    for (name, text) in &files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let output = std::process::Command::new("yosys")
        .args([
            "-p",
            "read_verilog ram.v ram_1r1w.v; synth_ice40 -top ram; stat",
        ])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}");
    let (_, cells) = report.rsplit_once("Number of cells").unwrap();
    assert!(cells.contains("SB_RAM40_4K"), "{cells}");
}

block! {
    struct Leak(clk, rst);

    fn new() {}

    about("leak", "A block of the tests.")

    {
        in write: Bit("write"),
        in at: Bits(3, "where"),
        out out: Bits(5, "whatever was there"),
        memory words: Memory(8, 5, None, "the words"),
    }
}

impl Logic for Leak {
    #[hdl_gen]
    fn update(&mut self) {
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

block! {
    /// One description, several configurations.
    struct Variants(clk, rst);

    fn new(hybrid: bool) {}

    about(
        "variants", "Holds its input, or does not.",
    )

    {
        in x: Bits(4, "in"),
        in hold: Bit("hold"),
        out y: Bits(4, "out"),
        reg held: Bits(4, 3, "the value held"),
        reg fixed: Bits(4, 6, "never changes"),
        local nobody_reads: Bits(4, "nobody reads this"),
        choice hybrid(hybrid), // whether it holds
        constant never: Bits(4, 9, "never used"),
        child idle_child: Timer(),
    }
}

impl Logic for Variants {
    #[hdl_gen]
    fn update(&mut self) {
        self.idle_child.idle.next = self.hold.val();
        self.nobody_reads.next = self.x.val() & self.never.val();
        if self.hybrid {
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

block! {
    /// Adds `step`.
    struct Adder;

    fn new(step: u128) {}

    about(
        "adder", "Adds `STEP`.",
    )

    {
        in x: Bits(6, "in"),
        out y: Bits(6, "out"),
        constant step: Bits(6, step, "what is added"),
    }
}

impl Logic for Adder {
    #[hdl_gen]
    fn update(&mut self) {
        self.y.next = self.x.val() + self.step.val();
    }
}

block! {
    /// Adders in a row.
    struct Row;

    fn new(count: usize) {}

    about(
        "row", "Adders in a row.",
    )

    {
        in x: Bits(6, "in"),
        out y: Bits(6, "out"),
        out ones: Bits(6, "the ones of the input"),
        local counts[_ in 0..=6]: Bits(6, "ones so far"),
        child adders[_ in 0..count]: Adder(5),
        child last: Adder(7),
        number _count(count),
    }
}

impl Logic for Row {
    #[hdl_gen]
    fn update(&mut self) {
        self.adders[0].x.next = self.x.val();
        for i in 1..self._count {
            self.adders[i].x.next = self.adders[i - 1].y.val() + i;
        }
        self.last.x.next = self.adders[self._count - 1].y.val();
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

// ---------------------------------------------------------------------------- sections

block! {
    /// A section of a section: it counts what it is told to.
    struct Tally;

    fn new() {}

    {
        in counts: Bit("count"),
        reg count: Bits(4, 3, "counted so far"),
        reg hints: Bits(4, 0, "assigned by the block alone"),
    }
}

impl Logic for Tally {
    #[hdl_gen]
    fn update(&mut self) {
        if self.counts.val() {
            self.count.d.next = self.count.q.val() + 1;
        }
    }
}

block! {
    /// A section without inputs.
    struct Limits;

    fn new() {}

    {
        local half: Bits(4, "half of the steps"),
        constant steps: Bits(4, 15, "the steps"),
    }
}

impl Logic for Limits {
    #[hdl_gen]
    fn update(&mut self) {
        self.half.next = self.steps.val() >> 1;
    }
}

bundle! {
    /// Pins of a block that are pins of its section.
    struct Passing;

    fn new() {}

    {
        pub in addend: Bits(4, "any"),
        pub out sum: Bits(4, "the step and that"),
    }
}

block! {
    /// A section whose registers the block assigns, too.
    struct Steps;

    fn new() {}

    {
        in hurry: Bit("take two steps"),
        out top: Bit("on the last step"),
        flat passing: Passing(),
        reg step: Bits(4, 0, "the step"),
        reg both: Bits(4, 0, "assigned by the block and the section"),
        local is_late: Bit("after half of the steps"),
        child inner: Innermost(),
        section tally: Tally(),
        section absent: Tally() if false,
        section limits: Limits(),
    }
}

impl Logic for Steps {
    #[hdl_gen]
    fn update(&mut self) {
        self.is_late.next = self.step.q.val() > self.limits.half.val();
        if self.hurry.val() {
            self.both.d.next = self.step.q.val();
        }
        self.top.next = false;
        if self.step.q.val() == self.limits.steps.val() {
            self.top.next = true;
        }
        self.passing.sum.next = self.step.q.val() + self.passing.addend.val();
        self.tally.counts.next = self.hurry.val();
        self.inner.x.next = bit_cast(self.step.q.val(), 6);
    }
}

block! {
    /// A block that assigns what is in its sections.
    struct Stairs(clk, rst);

    fn new() {}

    about("stairs", "A block of the tests.")

    {
        in up: Bit("go up"),
        in hurry: Bit("take two steps"),
        in data: Bits(4, "any"),
        out step: Bits(4, "the step"),
        out late: Bit("after half of the steps"),
        out count: Bits(4, "counted so far"),
        out hints: Bits(4, "the hint before"),
        out both: Bits(4, "the step of the last hurry, or any"),
        out inner: Bits(6, "from the child"),
        flat passing: Passing(),
        out top: Bit("on the last step"),
        section steps: Steps(),
    }
}

impl Logic for Stairs {
    #[hdl_gen]
    fn update(&mut self) {
        self.steps.both.d.next = self.data.val();
        self.steps.hurry.next = self.hurry.val();
        self.top.next = self.steps.top.val();
        Passing::link(&mut self.passing, &mut self.steps.passing);
        if self.up.val() {
            self.steps.step.d.next = self.steps.step.q.val() + 1;
            if self.hurry.val() {
                self.steps.step.d.next = self.steps.step.q.val() + 2;
            }
        }
        if self.steps.is_late.val() {
            self.steps.tally.hints.d.next = self.data.val();
        }
        self.step.next = self.steps.step.q.val();
        self.late.next = self.steps.is_late.val();
        self.count.next = self.steps.tally.count.q.val();
        self.hints.next = self.steps.tally.hints.q.val();
        self.both.next = self.steps.both.q.val();
        self.inner.next = self.steps.inner.y.val();
    }
}

#[test]
fn a_block_assigns_the_registers_of_its_sections() {
    check_block(Stairs::new, 2000);
    let mut sim = Simulator::new(Stairs::new()).unwrap();
    let mut clock = |pins: [(&str, u128); 4]| {
        for (pin, value) in pins {
            sim.set(pin, value).unwrap();
        }
        sim.settle().unwrap();
        sim.rising_edge().unwrap();
        sim.settle().unwrap();
        ["step", "count", "both"].map(|pin| sim.get(pin).unwrap())
    };
    let inputs = |rst, up, hurry| [("rst", rst), ("up", up), ("hurry", hurry), ("data", 9)];
    assert_eq!(clock(inputs(1, 0, 0)), [0, 3, 0]);
    assert_eq!(clock(inputs(0, 1, 0)), [1, 3, 9]);
    assert_eq!(clock(inputs(0, 1, 1)), [3, 4, 1]);
    // A step is held in a cycle in which the block does not assign it.
    assert_eq!(clock(inputs(0, 0, 0)), [3, 4, 9]);
}

block! {
    struct Plus;

    fn new(amount: u32) {}

    {
        in x: Bits(4, "in"),
        constant amount: Bits(4, amount.into(), "what is added"),
        reg last: Bits(4, 0, "the sum before"),
        local sum: Bits(4, "the sum"),
    }
}

impl Logic for Plus {
    #[hdl_gen]
    fn update(&mut self) {
        self.sum.next = self.x.val() + self.amount.val();
        self.last.d.next = self.sum.val();
    }
}

block! {
    struct Sums(clk, rst);

    fn new() {}

    about("sums", "A block of the tests.")

    {
        in x: Bits(4, "in"),
        out y: Bits(4, "out"),
        named stages[at in 0..2]: Plus(at + 3),
        named more: Plus(7),
    }
}

impl Logic for Sums {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..2 {
            self.stages[i].x.next = self.x.val();
        }
        self.more.x.next = self.x.val();
        self.y.next =
            (self.stages[0].last.q.val() ^ self.stages[1].sum.val()) + self.more.last.q.val();
    }
}

#[test]
fn a_block_has_sections_of_one_type_by_their_names() {
    check_block(Sums::new, 300);
}

block! {
    struct Twice(clk, rst);

    fn new() {}

    about("twice", "A block of the tests.")

    {
        in x: Bits(4, "in"),
        out y: Bits(4, "out"),
        section one: Plus(1),
        section two: Plus(2),
    }
}

impl Logic for Twice {
    #[hdl_gen]
    fn update(&mut self) {
        self.one.x.next = self.x.val();
        self.two.x.next = self.x.val();
        self.y.next = self.one.sum.val() ^ self.two.sum.val();
    }
}

#[test]
fn sections_with_signals_of_one_name_are_refused() {
    let error = elaborate(&Twice::new()).unwrap_err().to_string();
    assert!(error.contains("rename one"), "{error}");
}

// ------------------------------------------------------- processes that seem to depend

block! {
    struct Through;

    fn new() {}

    about("through", "A block of the tests.")

    {
        in x: Bits(4, "in"),
        out y: Bits(4, "out"),
    }
}

impl Logic for Through {
    #[hdl_gen]
    fn update(&mut self) {
        self.y.next = self.x.val() + 1;
    }
}

block! {
    struct Circle;

    fn new() {}

    about("circle", "A block of the tests.")

    {
        in p: Bit("choice"),
        in x: Bits(4, "in"),
        out y: Bits(4, "out"),
        child through: Through(),
    }
}

impl Logic for Circle {
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
    ($test:ident, $name:ident { $($fields:tt)* } $pound:tt $attribute:tt $fn:tt $update:tt $arguments:tt { $($body:tt)* } => $($message:literal),+) => {
        #[test]
        fn $test() {
            block! {
                struct $name(clk, rst);

                fn new() {}

                about("bad", "A block of the tests.")

                {
                    in a: Bits(4, "a"),
                    in p: Bit("p"),
                    out y: Bits(4, "y"),
                    $($fields)*
                }
            }

            impl Logic for $name {
                $pound $attribute $fn $update $arguments { $($body)* }
            }

            let message = error($name::new());
            for part in [$($message),+] {
                assert!(message.contains(part), "{message}");
            }
        }
    };
}

wrong! { operands_of_two_widths, Bad {
    in b: Bits(5, "b"),
} #[hdl_gen] fn update(&mut self)
{ self.y.next = self.a.val() + bit_cast(self.b.val(), 6); }
=> "bad: ", "`a` and `bit_cast(b, 6)`", "4 bits and 6 bits", "bit_cast" }

wrong! { an_assignment_of_another_width, Bad {
    in b: Bits(5, "b"),
} #[hdl_gen] fn update(&mut self)
{ self.y.next = self.b.val(); }
=> "bad: `y` has 4 bits and is assigned 5 bits (`b`)" }

wrong! { a_literal_that_does_not_fit, Bad {} #[hdl_gen] fn update(&mut self)
{ self.y.next = self.a.val() + 16; }
=> "bad: the number 16 does not fit 4 bits: at least 5 are needed" }

wrong! { a_constant_that_does_not_fit, Bad {
    constant big: Bits(4, 17, "c"),
} #[hdl_gen] fn update(&mut self)
{ self.y.next = self.big.val(); }
=> "the constant `big` = 17 does not fit 4 bits" }

wrong! { a_reset_value_that_does_not_fit, Bad {
    reg r: Bits(4, 99, "r"),
} #[hdl_gen] fn update(&mut self)
{ self.y.next = self.r.q.val(); }
=> "the reset value of `r`, 99 does not fit 4 bits" }

wrong! { a_width_beyond_128, Bad {
    local b: Bits(129, "b"),
} #[hdl_gen] fn update(&mut self)
{ self.y.next = self.a.val(); }
=> "`b` is 129 bits wide: 1 to 128" }

wrong! { a_bit_that_is_not_there, Bad {} #[hdl_gen] fn update(&mut self)
{ self.y.next = bit_cast(self.a.val().get_bit(4), 4); }
=> "`a` has no bit 4: its bits are 0 to 3" }

wrong! { an_undriven_output, Bad {} #[hdl_gen] fn update(&mut self) {} => "bad: `y` is never driven" }

wrong! { an_undriven_local, Bad {
    local t: Bits(4, "t"),
} #[hdl_gen] fn update(&mut self)
{ self.y.next = self.t.val(); }
=> "bad: `t` is never driven" }

wrong! { an_undriven_child_input, Bad {
    child child: Through(),
} #[hdl_gen] fn update(&mut self)
{ self.y.next = self.child.y.val(); }
=> "bad: `child.x` is never driven", "of the parent" }

#[test]
fn registers_and_memories_without_a_clock() {
    block! {
        struct Kept;

        fn new() {}

        about("kept", "A block of the tests.")

        {
            in a: Bits(4, "a"),
            out y: Bits(4, "y"),
            reg r: Bits(4, 0, "r"),
        }
    }

    impl Logic for Kept {
        #[hdl_gen]
        fn update(&mut self) {
            self.r.d.next = self.a.val();
            self.y.next = self.r.q.val();
        }
    }

    block! {
        struct Stored;

        fn new() {}

        about("stored", "A block of the tests.")

        {
            in a: Bits(2, "a"),
            out y: Bits(4, "y"),
            memory m: Memory(4, 4, None, "m"),
        }
    }

    impl Logic for Stored {
        #[hdl_gen]
        fn update(&mut self) {
            self.m.read_address.next = self.a.val();
            self.m.write_enable.next = false;
            self.m.write_address.next = self.a.val();
            self.m.write_data.next = 0.into();
            self.y.next = self.m.read_data.val();
        }
    }

    for (message, signal) in [
        (error(Kept::new()), "kept: `r.clock` is never driven"),
        (error(Stored::new()), "stored: `m.clock` is never driven"),
    ] {
        assert!(message.contains(signal), "{message}");
        assert!(message.contains("declared with a clock"), "{message}");
    }
}

wrong! { a_memory_of_one_word, Bad {
    memory m: Memory(1, 4, None, "m"),
} #[hdl_gen] fn update(&mut self)
{ self.y.next = self.a.val(); }
=> "the memory `m` has a depth of 1" }

wrong! { an_input_driven_inside, Bad {} #[hdl_gen] fn update(&mut self)
{ self.a.next = 3.into(); self.y.next = self.a.val(); }
=> "bad: `a` is driven twice: it is an input of this block" }

wrong! { a_child_output_driven_by_the_parent, Bad {
    child child: Through(),
} #[hdl_gen] fn update(&mut self)
{
    self.child.x.next = self.a.val();
    self.child.y.next = self.a.val();
    self.y.next = self.child.y.val();
}
=> "bad: `child.y` is driven twice" }

wrong! { a_register_output_driven, Bad {
    reg r: Bits(4, 0, "r"),
} #[hdl_gen] fn update(&mut self)
{ self.r.q.next = self.a.val(); self.y.next = self.r.q.val(); }
=> "bad: `r.q` is driven twice", "assign the register's `d`" }

wrong! { a_latch, Bad {} #[hdl_gen] fn update(&mut self)
{ if self.p.val() { self.y.next = self.a.val(); } }
=> "bad: `y` keeps its value on some path", "default" }

wrong! { a_read_before_the_last_write, Bad {
    local t: Bits(4, "t"),
} #[hdl_gen] fn update(&mut self)
{
    self.t.next = 0.into();
    self.y.next = self.t.val();
    if self.p.val() { self.t.next = self.a.val(); }
}
=> "bad: `t` is read before it is assigned for the last time" }

wrong! { a_loop_through_a_child, Bad {
    child child: Through(),
    local sum: Bits(4, "sum"),
} #[hdl_gen] fn update(&mut self)
{
    self.child.x.next = self.a.val() & self.child.y.val();
    self.sum.next = self.child.y.val();
    self.y.next = self.sum.val();
}
=> "combinational loop: bad.child.x -> bad.child.y -> bad.child.x: break it with a register" }

wrong! { a_keyword_as_a_name, Bad {
    local output: Bits(4, "o"),
    local always: Bits(4, "o"),
} #[hdl_gen] fn update(&mut self)
{ self.always.next = self.a.val(); self.y.next = self.always.val(); }
=> "bad: `always` cannot be the name of `always`", "reserved word" }

wrong! { two_things_of_one_name, Bad {
    local r_q: Bits(4, "o"),
    reg r: Bits(4, 0, "r"),
} #[hdl_gen] fn update(&mut self)
{
    self.r_q.next = self.a.val();
    self.r.d.next = self.r_q.val();
    self.y.next = self.r.q.val();
}
=> "bad: ", "`r_q`", "`r.q`", "would both be called `r_q`" }

wrong! { what_is_inside_a_child, Bad {
    child child: Timer(),
} #[hdl_gen] fn update(&mut self)
{
    self.child.idle.next = self.p.val();
    self.y.next = self.child.elapsed.q.val();
}
=> "bad: `child.elapsed.q` is a register of another block, which claims alone may read" }

wrong! { a_clock_connected_twice, Bad {
    reg r: Bits(4, 0, "r"),
} #[hdl_gen] fn update(&mut self)
{
    dff_setup!(self, clk, r);
    dff_setup!(self, clk, r);
    self.r.d.next = self.a.val();
    self.y.next = self.r.q.val();
}
=> "bad: `r.clock` is driven twice" }

block! {
    struct Doubled;

    fn new() {}

    {
        in a: Bits(4, "a"),
        reg r: Bits(4, 0, "r"),
    }
}

impl Logic for Doubled {
    #[hdl_gen]
    fn update(&mut self) {
        self.r.d.next = self.a.val();
    }
}

wrong! { a_register_assigned_again_after_its_section, Bad {
    section doubled: Doubled(),
} #[hdl_gen] fn update(&mut self)
{
    self.doubled.a.next = self.a.val();
    if self.p.val() { self.doubled.r.d.next = 0.into(); }
    self.y.next = self.doubled.r.q.val();
}
=> "bad: `r.d` is assigned by a section, and after it by the block" }

block! {
    struct Driver;

    fn new() {}

    {
        in a: Bits(4, "a"),
        out b: Bits(4, "b"),
    }
}

impl Logic for Driver {
    #[hdl_gen]
    fn update(&mut self) {
        self.b.next = self.a.val();
    }
}

wrong! { a_signal_that_a_section_drives, Bad {
    section driver: Driver(),
} #[hdl_gen] fn update(&mut self)
{
    self.driver.a.next = self.a.val();
    self.y.next = 0.into();
    self.y.next = self.driver.b.val();
}
=> "bad: `y` is driven twice: an output of a section drives it" }

wrong! { a_register_that_a_section_drives, Bad {
    reg r: Bits(4, 0, "r"),
    section driver: Driver(),
} #[hdl_gen] fn update(&mut self)
{
    self.driver.a.next = self.a.val();
    self.r.d.next = self.driver.b.val();
    self.y.next = self.r.q.val();
}
=> "bad: `driver.b` is another name of what it is assigned to" }

block! {
    struct SetUp(clk, rst);

    fn new() {}

    {
        in a: Bits(4, "a"),
        reg r: Bits(4, 0, "r"),
    }
}

impl Logic for SetUp {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, r);
        self.r.d.next = self.a.val();
    }
}

wrong! { a_register_set_up_in_a_section, Bad {
    section set_up: SetUp(),
} #[hdl_gen] fn update(&mut self)
{
    self.set_up.a.next = self.a.val();
    self.y.next = self.set_up.r.q.val();
}
=> "bad: dff_setup! and clock! stand in the `update` of the block, not of a section" }

wrong! { a_number_without_a_width, Bad {} #[hdl_gen] fn update(&mut self) {
    self.y.next = self.a.val();
    if 1 == 2 { self.y.next = 0.into(); }
}
=> "bad: nothing gives `1` a width: write it as bits(value, width)" }

wrong! { a_register_set_up_under_a_condition, Bad {
    reg r: Bits(4, 0, "r"),
}
#[hdl_gen] fn update(&mut self) {
    if self.p.val() { dff_setup!(self, clk, r); }
    self.y.next = self.r.q.val();
}
=> "dff_setup! and clock! stand at the top of `update`" }

wrong! { a_register_used_as_a_memory, Bad {
    reg r: Bits(4, 0, "r"),
}
#[hdl_gen] fn update(&mut self) {
    self.r.clock.next = self.clk.val();
    self.y.next = self.r.q.val();
}
=> "bad: `r.clock` is connected with dff_setup!" }

#[test]
fn what_a_child_does_not_read_is_not_connected() {
    block! {
        struct Around(clk, rst);

        fn new() {}

        about("around", "A block of the tests.")

        {
            in x: Bits(4, "in"),
            out y: Bits(4, "out"),
            in one: Bits(1, "a vector of one"),
            out both: Bits(2, "two of them"),
            child inner: Variants(false),
        }
    }

    impl Logic for Around {
        #[hdl_gen]
        fn update(&mut self) {
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
        struct Compares;

        fn new() {}

        about("compares", "A block of the tests.")

        {
            in x: Bits(4, "in"),
            in y: Bits(4, "in"),
            out more: Bit("x is larger"),
        }
    }

    impl Logic for Compares {
        #[hdl_gen]
        fn update(&mut self) {
            self.more.next = self.x.val() > self.y.val();
        }
    }
    block! {
        struct Tied;

        fn new() {}

        about("tied", "A block of the tests.")

        {
            in x: Bits(4, "in"),
            choice hybrid(false), // with an offset
            local offset: Bits(4, "added where there is one"),
            out above: Bit("above the offset"),
            out less: Bit("below the offset"),
            out sum: Bits(4, "with the offset"),
            child child: Compares(),
        }
    }

    impl Logic for Tied {
        #[hdl_gen]
        fn update(&mut self) {
            self.offset.next = 0.into();
            if self.hybrid {
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
    block! {
        struct Nameless;

        fn new() {}

        {
            out y: Bit("y"),
        }
    }

    impl Logic for Nameless {
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = true;
        }
    }

    assert!(error(Nameless::new()).contains("with an `about`"));
}

#[test]
fn a_loop_in_a_description_does_not_hang_the_simulation() {
    block! {
        struct Oscillator;

        fn new() {}

        about("oscillator", "A block of the tests.")

        {
            out y: Bit("y"),
        }
    }

    impl Logic for Oscillator {
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = !self.y.val();
        }
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

block! {
    struct Watched(clk, rst);

    fn new() {}

    about("watched", "A block of the tests.")

    {
        in go: Bit("counts"),
        in limit: Bits(4, "counts up to here"),
        out steps: Bits(4, "counted so far"),
        reg count: Bits(4, 0, "counted so far"),
        reg again: Bits(4, 0, "counted once more, for the claims"),
        invariant twice("Both counts are the same."),
    }
}

impl Logic for Watched {
    #[hdl_gen]
    fn update(&mut self) {
        if self.go.val() & (self.count.q.val() < self.limit.val()) {
            self.count.d.next = self.count.q.val() + 1;
            self.again.d.next = self.again.q.val() + 1;
        }
        self.steps.next = self.count.q.val();
        self.twice.d.next = self.count.q.val() == self.again.q.val();
    }
}

block! {
    struct Watch(clk, rst);

    fn new() {}

    about("watch", "A block of the tests.")

    {
        in go: Bit("counts"),
        out steps: Bits(4, "counted so far"),
        reg phase: Phase(Phase::Idle, "what it does"),
        local seen: Bits(2, "half of the count, for the claims"),
        constant most: Bits(4, 9, "counts up to here"),
        child watched: Watched(),
        property bounded("What is counted has an end."),
        invariant as_inside("The claims read registers and pins of what is inside."),
    }
}

impl Logic for Watch {
    #[hdl_gen]
    fn update(&mut self) {
        self.watched.go.next = self.go.val();
        self.watched.limit.next = self.most.val();
        self.steps.next = self.watched.steps.val();
        if self.phase.q.val() == Phase::Idle {
            self.phase.d.next = Phase::Count;
            self.watched.go.next = false;
        }
        self.bounded.d.next = self.watched.steps.val() <= self.most.val();
        self.seen.next = bit_cast(self.watched.count.q.val() >> 2, 2);
        self.as_inside.d.next = (self.watched.count.q.val() == self.watched.again.q.val())
            & (self.watched.limit.val() == 9)
            & (self.seen.val() == bit_cast(self.watched.again.q.val() >> 2, 2))
            & !(self.phase.q.val() == Phase::Done);
    }
}

/// A net that claims alone read is still there; what serves claims alone is in the checkers.
#[test]
fn claims_are_in_checkers() {
    check_block(Watch::new, 200);
    agrees_with(VerilogSimulator::Verilator, Watch::new, 500, 1).unwrap();
    let header = Header::for_tests();
    let design = elaborate(&Watch::new()).unwrap();
    for (name, text) in verilog::print(&design, &header) {
        for word in ["assert", "again", "seen", "_holds"] {
            assert!(!text.contains(word), "{word} in {name}:\n{text}");
        }
    }
    let files = verilog::checkers(&design, &header);
    let all: String = files
        .iter()
        .map(|(name, text)| format!("==> {name}\n{text}"))
        .collect();
    is_as_expected(&all, "claims.txt");
}

/// What a bench prints is whole, and yet the claim is told that is broken at its last clock edge.
#[test]
fn a_claim_that_is_broken_at_the_last_edge_is_told() {
    let mut files = files(&Watch::new());
    let mut checkers = files.iter_mut();
    let checker = checkers.find(|(name, _)| name.ends_with("watch_checker.sv"));
    let (_, text) = checker.unwrap();
    assert_eq!(text.matches("MOST = 4'd9").count(), 1);
    *text = text.replace("MOST = 4'd9", "MOST = 4'd3");
    let pins = Simulator::new(Watch::new()).unwrap().pins().to_vec();
    let run = |cycles: usize| {
        let value = |name: &str, cycle: usize| u128::from(name != "rst" || cycle < 2);
        let cycles = (0..cycles).map(|cycle| pins.iter().map(move |pin| value(&pin.name, cycle)));
        let stimulus: Vec<Vec<u128>> = cycles.map(Iterator::collect).collect();
        let folder = tempfile::tempdir().unwrap();
        let verilator = VerilogSimulator::Verilator;
        check::run(verilator, folder.path(), &files, &pins, &stimulus)
    };
    // Two cycles of reset, one until it counts.
    assert_eq!(run(7).unwrap().last().unwrap(), "0011");
    match run(8) {
        Err(CheckError::Complaint { output, .. }) => {
            assert!(output.contains("bounded"), "{output}");
        }
        other => panic!("{other:?}"),
    }
}

wrong! { a_child_called_as_the_checker, Bad {
    child checker: Timer(),
} #[hdl_gen] fn update(&mut self)
{
    self.checker.idle.next = self.p.val();
    self.y.next = self.checker.spare.val();
}
=> "would both be called `u_checker`" }

#[test]
fn a_table_is_a_case() {
    let new = || Table::new(About::new("squares", "Squares."), vec![0, 1, 4, 9, 16], 5);
    check_block(new, 100);
    let text = text(&new());
    assert!(text.contains("3'd3"), "{text}");
    println!("{text}");
}
