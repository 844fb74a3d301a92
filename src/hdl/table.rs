//! Tables of constants.

use rust_hdl_core::ast::{
    Verilog, VerilogCase, VerilogExpression, VerilogLiteral, VerilogMatch, VerilogStatement,
};
use rust_hdl_core::block::Block;
use rust_hdl_core::direction::{In, Out};
use rust_hdl_core::logic::Logic;
use rust_hdl_core::probe::Probe;

use super::atoms::{About, Signal};
use super::values::{clog2, Bits};

/// A block that looks a value up: combinational, a `case` in Verilog. Beyond the last
/// entry it gives the last value.
#[derive(Debug)]
pub struct Table {
    about: About,
    /// Which entry: `ceil(log2(entries))` bits, at least 1.
    pub index: Signal<In, Bits>,
    /// What the entry holds.
    pub value: Signal<Out, Bits>,
    words: Vec<u128>,
    width: u32,
}

impl Table {
    /// A table of `words` (at least 1), each of `width` bits.
    pub fn new(about: About, words: Vec<u128>, width: u32) -> Self {
        Table {
            about,
            index: Signal::bits(clog2(words.len() as u128), "entry"),
            value: Signal::bits(width, "what it holds"),
            words,
            width,
        }
    }
}

impl Logic for Table {
    fn update(&mut self) {
        let index = usize::try_from(self.index.val().value()).unwrap_or(usize::MAX);
        let word = self.words.get(index).or(self.words.last());
        self.value.next = Bits::new(word.copied().unwrap_or(0), self.width);
    }

    fn connect(&mut self) {
        self.value.connect();
    }

    fn hdl(&self) -> Verilog {
        let last = self.words.len().saturating_sub(1);
        let cases = self.words.iter().enumerate().map(|(index, &word)| {
            let value = VerilogExpression::Signal("value$next".into());
            let word = VerilogExpression::Literal(VerilogLiteral::from(word));
            VerilogCase {
                condition: match index {
                    index if index == last => "default".into(),
                    index => index.to_string(),
                },
                block: vec![VerilogStatement::Assignment(value, word)],
            }
        });
        Verilog::Combinatorial(vec![VerilogStatement::Match(VerilogMatch {
            test: VerilogExpression::Signal("index".into()),
            cases: cases.collect(),
        })])
    }
}

impl Block for Table {
    fn connect_all(&mut self) {
        self.connect();
        self.index.connect_all();
        self.value.connect_all();
    }

    fn update_all(&mut self) {
        self.update();
        self.index.update_all();
        self.value.update_all();
    }

    fn has_changed(&self) -> bool {
        self.index.has_changed() || self.value.has_changed()
    }

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        self.about.accept("about", probe);
        self.index.accept("index", probe);
        self.value.accept("value", probe);
        probe.visit_end_scope(name, self);
    }
}
