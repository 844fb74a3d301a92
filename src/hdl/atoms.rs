//! What blocks are made of: signals, constants, registers, memories.
//!
//! They stand in the place of rust_hdl's own types of the same names and implement its
//! traits, so that its derive and attribute macros apply; their widths are values.

use std::cell::RefCell;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use rust_hdl_core::ast::VerilogLiteral;
use rust_hdl_core::atom::{Atom, AtomKind};
use rust_hdl_core::block::Block;
use rust_hdl_core::clock::Clock;
use rust_hdl_core::constraint::PinConstraint;
use rust_hdl_core::direction::{Direction, In, Out};
use rust_hdl_core::logic::Logic;
use rust_hdl_core::probe::Probe;
use rust_hdl_core::signal::get_signal_id;
use rust_hdl_core::synth::VCDValue;
use rust_hdl_core::type_descriptor::{TypeDescriptor, TypeKind};
use serde::{Deserialize, Serialize};

use super::code::Code;
use super::values::{clog2, mask, Bit, Bits, State, Type, Value, Width};

/// What an atom tells elaboration beyond rust_hdl's `Atom` trait. It travels as JSON in
/// the name of the atom's type descriptor, the one free text that the trait has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Meta {
    /// A signal or a constant.
    Net { doc: String, kind: Type },
    /// A number of the description, which may be an index.
    Number,
    /// The surrounding scope is a block, and this is its module.
    About { module: String, text: String },
    /// The surrounding scope is a register; the atom's value is the reset value.
    Register {
        doc: String,
        claim: Option<Claim>,
        votes: bool,
        chosen: bool,
    },
    /// The surrounding scope is a memory of `depth` words.
    Memory {
        doc: String,
        depth: usize,
        code: Option<Code>,
    },
}

/// What a claim about a block is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Claim {
    /// Wanted for itself.
    Property,
    /// Holds too, and makes the properties inductive.
    Invariant,
}

impl Meta {
    fn descriptor(&self, width: u32) -> TypeDescriptor {
        TypeDescriptor {
            // A Meta holds strings and numbers: it always has a JSON form.
            name: serde_json::to_string(self).unwrap_or_default(),
            kind: TypeKind::Bits(width as usize),
        }
    }
}

/// A top pin that a simulator reaches by name: the signal behind it copies this cell.
#[derive(Debug, Default)]
pub(crate) struct PinCell {
    low: AtomicU64,
    high: AtomicU64,
}

impl PinCell {
    pub(crate) fn load(&self) -> u128 {
        u128::from(self.high.load(Ordering::Relaxed)) << 64
            | u128::from(self.low.load(Ordering::Relaxed))
    }

    pub(crate) fn store(&self, value: u128) {
        self.low.store(value as u64, Ordering::Relaxed);
        self.high.store((value >> 64) as u64, Ordering::Relaxed);
    }
}

thread_local! {
    /// The cells that `connect_all` hands to the signals with these ids, set for the
    /// duration of [`connect_with_pins`]: the only mutable walk of rust_hdl's traits.
    static PINS: RefCell<HashMap<usize, Arc<PinCell>>> = RefCell::new(HashMap::new());

    /// What the claims that did not hold at a clock edge say, until [`take_violations`].
    static VIOLATIONS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// The texts of the claims that have not held since the last call.
pub(crate) fn take_violations() -> Vec<String> {
    VIOLATIONS.with(RefCell::take)
}

/// Runs `block.connect_all()` and ties the signals with these ids to their cells.
pub(crate) fn connect_with_pins(block: &mut dyn Block, pins: HashMap<usize, Arc<PinCell>>) {
    PINS.with(|cell| cell.replace(pins));
    block.connect_all();
    PINS.with(|cell| cell.take());
}

/// A wire or vector of wires: an input or output of a block, or local to it.
///
/// Descriptions assign `next` and read `val()`.
#[derive(Debug)]
pub struct Signal<D: Direction, T: Value> {
    /// The value that the description assigns.
    pub next: T,
    val: T,
    prev: T,
    changed: bool,
    claimed: bool,
    id: usize,
    width: u32,
    doc: String,
    pin: Option<Arc<PinCell>>,
    direction: PhantomData<D>,
}

impl<D: Direction, T: Value> Signal<D, T> {
    fn with(initial: T, width: u32, doc: impl Into<String>) -> Self {
        Self {
            next: initial,
            val: initial,
            prev: initial,
            changed: false,
            claimed: false,
            id: get_signal_id(),
            width,
            doc: doc.into(),
            pin: None,
            direction: PhantomData,
        }
    }

    /// The settled value.
    #[inline]
    pub fn val(&self) -> T {
        self.val
    }
}

impl<D: Direction, T: Value> Width for &Signal<D, T> {
    fn bits(self) -> usize {
        self.width as usize
    }
}

impl<D: Direction> Signal<D, Bit> {
    /// One wire; `doc` is printed beside its declaration.
    pub fn bit(doc: impl Into<String>) -> Self {
        Self::with(false, 1, doc)
    }
}

impl<D: Direction> Signal<D, Clock> {
    /// A clock; `doc` is printed beside its declaration.
    pub fn clock(doc: impl Into<String>) -> Self {
        Self::with(Clock::default(), 1, doc)
    }
}

impl<D: Direction> Signal<D, Bits> {
    /// A vector of `width` wires (1 to 128); `doc` is printed beside its declaration.
    pub fn bits(width: u32, doc: impl Into<String>) -> Self {
        Self::with(Bits::new(0, width), width, doc)
    }
}

impl<D: Direction, S: State> Signal<D, S> {
    /// A state; `doc` is printed beside its declaration.
    pub fn state(doc: impl Into<String>) -> Self {
        Self::with(S::default(), S::width(), doc)
    }
}

impl<D: Direction> Signal<D, Clock> {
    #[inline]
    fn rises(&self) -> bool {
        self.changed && self.val.clk && !self.prev.clk
    }
}

impl<D: Direction, T: Value> Atom for Signal<D, T> {
    fn bits(&self) -> usize {
        self.width as usize
    }
    fn connected(&self) -> bool {
        self.claimed
    }
    fn changed(&self) -> bool {
        self.changed
    }
    fn kind(&self) -> AtomKind {
        D::KIND
    }
    fn descriptor(&self) -> TypeDescriptor {
        Meta::Net {
            doc: self.doc.clone(),
            kind: T::kind(),
        }
        .descriptor(self.width)
    }
    fn vcd(&self) -> VCDValue {
        vcd_value(self.val.raw(), self.width)
    }
    fn id(&self) -> usize {
        self.id
    }
    fn verilog(&self) -> VerilogLiteral {
        self.val.raw().into()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        vec![]
    }
}

fn vcd_value(raw: u128, width: u32) -> VCDValue {
    VCDValue::Vector(
        (0..width.min(128))
            .rev()
            .map(|bit| (raw >> bit & 1 == 1).into())
            .collect(),
    )
}

impl<D: Direction, T: Value> Logic for Signal<D, T> {
    fn update(&mut self) {}
    fn connect(&mut self) {
        self.claimed = true;
    }
}

impl<D: Direction, T: Value> Block for Signal<D, T> {
    fn connect_all(&mut self) {
        if let Some(pin) = PINS.with(|pins| pins.borrow().get(&self.id).cloned()) {
            pin.store(self.val.raw());
            self.pin = Some(pin);
        }
    }

    #[inline]
    fn update_all(&mut self) {
        if let Some(pin) = &self.pin {
            if D::KIND == AtomKind::InputParameter {
                // A state pin keeps its value when no state has the encoding; the
                // simulator has refused it before it came here.
                self.next = self.val.with_raw(pin.load()).unwrap_or(self.val);
            }
        }
        let next = self.next.sized_like(self.val);
        self.changed = next != self.val;
        if self.changed {
            self.prev = self.val;
            self.val = next;
            if let Some(pin) = &self.pin {
                pin.store(next.raw());
            }
        }
    }

    fn has_changed(&self) -> bool {
        self.changed
    }

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_atom(name, self);
    }
}

/// A value fixed at elaboration, printed as a `localparam`.
///
/// A constant [`Bit`], a `choice` of [`block!`](crate::block), selects between variants of a
/// description: `if` on it is decided at elaboration, and the other branch is not part of the
/// hardware.
#[derive(Debug)]
pub struct Constant<T: Value> {
    val: T,
    raw: u128,
    width: u32,
    id: usize,
    doc: String,
}

impl<T: Value> Constant<T> {
    /// The value.
    #[inline]
    pub fn val(&self) -> T {
        self.val
    }
}

impl<T: Value> Width for &Constant<T> {
    fn bits(self) -> usize {
        self.width as usize
    }
}

impl Constant<Bit> {
    /// A choice made at elaboration; `doc` is printed where the constant is.
    pub fn bit(value: bool, doc: impl Into<String>) -> Self {
        Self {
            val: value,
            raw: value.into(),
            width: 1,
            id: get_signal_id(),
            doc: doc.into(),
        }
    }
}

impl Constant<Bits> {
    /// A constant of `width` bits (1 to 128); elaboration refuses a value that does not
    /// fit.
    pub fn bits(width: u32, value: u128, doc: impl Into<String>) -> Self {
        Self {
            val: Bits::new(value, width),
            raw: value,
            width,
            id: get_signal_id(),
            doc: doc.into(),
        }
    }
}

impl Constant<Bits> {
    /// A constant as wide as its value needs.
    pub fn number(value: u32, doc: impl Into<String>) -> Self {
        Self::bits(clog2(u128::from(value) + 1), value.into(), doc)
    }
}

impl<T: Value> Atom for Constant<T> {
    fn bits(&self) -> usize {
        self.width as usize
    }
    fn connected(&self) -> bool {
        true
    }
    fn changed(&self) -> bool {
        false
    }
    fn kind(&self) -> AtomKind {
        AtomKind::Constant
    }
    fn descriptor(&self) -> TypeDescriptor {
        Meta::Net {
            doc: self.doc.clone(),
            kind: T::kind(),
        }
        .descriptor(self.width)
    }
    fn vcd(&self) -> VCDValue {
        vcd_value(self.raw, self.width)
    }
    fn id(&self) -> usize {
        self.id
    }
    fn verilog(&self) -> VerilogLiteral {
        self.raw.into()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        vec![]
    }
}

impl<T: Value> Logic for Constant<T> {
    fn update(&mut self) {}
}

impl<T: Value> Block for Constant<T> {
    fn connect_all(&mut self) {}
    fn update_all(&mut self) {}
    fn has_changed(&self) -> bool {
        false
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_atom(name, self);
    }
}

/// An atom that only describes the scope it stands in.
struct Marker {
    meta: Meta,
    width: u32,
    value: u128,
}

impl Atom for Marker {
    fn bits(&self) -> usize {
        self.width as usize
    }
    fn connected(&self) -> bool {
        true
    }
    fn changed(&self) -> bool {
        false
    }
    fn kind(&self) -> AtomKind {
        AtomKind::Constant
    }
    fn descriptor(&self) -> TypeDescriptor {
        self.meta.descriptor(self.width)
    }
    fn vcd(&self) -> VCDValue {
        vcd_value(self.value, self.width)
    }
    fn id(&self) -> usize {
        0
    }
    fn verilog(&self) -> VerilogLiteral {
        self.value.into()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        vec![]
    }
}

/// Tells elaboration the value of a number of the description.
pub(super) fn accept_number(value: usize, name: &str, probe: &mut dyn Probe) {
    let number = Marker {
        meta: Meta::Number,
        width: usize::BITS,
        value: value as u128,
    };
    probe.visit_atom(name, &number);
}

/// The module that a block becomes: every block has one, in a field `about`.
#[derive(Clone, Debug)]
pub struct About {
    module: String,
    text: String,
}

impl About {
    /// The module's name, and what it does: one or more lines for its header comment.
    pub fn new(module: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            module: module.into(),
            text: text.into(),
        }
    }
}

impl Logic for About {
    fn update(&mut self) {}
}

impl Block for About {
    fn connect_all(&mut self) {}
    fn update_all(&mut self) {}
    fn has_changed(&self) -> bool {
        false
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_atom(
            name,
            &Marker {
                meta: Meta::About {
                    module: self.module.clone(),
                    text: self.text.clone(),
                },
                width: 0,
                value: 0,
            },
        );
    }
}

/// A register: at the rising edge of its clock `q` becomes the reset value while the
/// block's `rst` is 1, and `d` otherwise.
///
/// Clock and reset are those of its block, and it holds its value by default. A register
/// that is never assigned another one becomes a constant of its reset value.
#[derive(Debug)]
pub struct Reg<T: Value> {
    /// The clock.
    pub clock: Signal<In, Clock>,
    /// The reset: the block's `rst`.
    pub reset: Signal<In, Bit>,
    /// The next value.
    pub d: Signal<In, T>,
    /// The present value.
    pub q: Signal<Out, T>,
    initial: T,
    raw: u128,
    doc: String,
    claim: Option<Claim>,
    votes: bool,
    chosen: bool,
}

impl<T: Value> Reg<T> {
    /// Where the block has a [`voter`](Reg::voter): it keeps copies of this register, and of no other that
    /// is not marked like this.
    #[must_use]
    pub fn in_copies(self) -> Self {
        Reg {
            chosen: true,
            ..self
        }
    }

    fn with(initial: T, raw: u128, width: u32, doc: impl Into<String>) -> Self {
        Self {
            clock: Signal::clock(""),
            reset: Signal::bit(""),
            d: Signal::with(initial, width, ""),
            q: Signal::with(initial, width, ""),
            initial,
            raw,
            doc: doc.into(),
            claim: None,
            votes: false,
            chosen: false,
        }
    }
}

impl<T: Value> Width for &Reg<T> {
    fn bits(self) -> usize {
        self.q.width as usize
    }
}

impl Reg<Bit> {
    /// One flip-flop and its reset value; `doc` is printed beside its declaration.
    pub fn bit(reset: bool, doc: impl Into<String>) -> Self {
        Self::with(reset, reset.into(), 1, doc)
    }

    /// A claim that `d` is 1 in every cycle without reset: what the block promises, as
    /// `doc` says. It is no hardware (module documentation, "Claims").
    pub fn property(doc: impl Into<String>) -> Self {
        Reg {
            claim: Some(Claim::Property),
            ..Self::bit(true, doc)
        }
    }

    /// A claim like [`property`](Self::property) that is there because the properties
    /// follow from it by induction.
    pub fn invariant(doc: impl Into<String>) -> Self {
        Reg {
            claim: Some(Claim::Invariant),
            ..Self::bit(true, doc)
        }
    }
}

impl Reg<Bits> {
    /// A register of `width` bits (1 to 128) and its reset value; elaboration refuses a
    /// value that does not fit. `doc` is printed beside its declaration.
    pub fn bits(width: u32, reset: u128, doc: impl Into<String>) -> Self {
        Self::with(Bits::new(reset, width), reset, width, doc)
    }
}

impl Reg<Bits> {
    /// Makes the block keep its registers in three copies, of which two outvote a third that an upset has
    /// changed: in the Verilog each becomes an instance of `voted_register`. If some of its registers are
    /// [chosen](Reg::in_copies), only those. `d`, of
    /// two bits, says which copy is stored wrong at the clock edge, as a test: 1 to 3, or 0 for none.
    /// `q` says a cycle later which copy of any register differs from the others.
    pub fn voter(doc: impl Into<String>) -> Self {
        Reg {
            votes: true,
            ..Self::bits(2, 0, doc)
        }
    }
}

impl<S: State> Reg<S> {
    /// A state register and its reset state; `doc` is printed beside its declaration.
    pub fn state(reset: S, doc: impl Into<String>) -> Self {
        Self::with(reset, reset.index() as u128, S::width(), doc)
    }
}

impl<T: Value> Logic for Reg<T> {
    fn update(&mut self) {
        if !self.clock.rises() {
            return;
        }
        if self.claim.is_some() {
            if !self.reset.val() && self.d.val() != self.initial {
                VIOLATIONS.with(|texts| texts.borrow_mut().push(self.doc.clone()));
            }
        } else if self.reset.val() {
            self.q.next = self.initial;
        } else {
            self.q.next = self.d.val();
        }
    }
}

impl<T: Value> Block for Reg<T> {
    fn connect_all(&mut self) {
        self.q.connect();
    }
    #[inline]
    fn update_all(&mut self) {
        self.update();
        self.clock.update_all();
        self.reset.update_all();
        self.d.update_all();
        self.q.update_all();
    }
    fn has_changed(&self) -> bool {
        self.clock.changed || self.reset.changed || self.d.changed || self.q.changed
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        probe.visit_atom(
            "register",
            &Marker {
                meta: Meta::Register {
                    doc: self.doc.clone(),
                    claim: self.claim,
                    votes: self.votes,
                    chosen: self.chosen,
                },
                width: self.q.width,
                value: self.raw,
            },
        );
        self.clock.accept("clock", probe);
        self.reset.accept("reset", probe);
        self.d.accept("d", probe);
        self.q.accept("q", probe);
        probe.visit_end_scope(name, self);
    }
}

/// A memory with one synchronous write port and one synchronous read port, in the shape
/// that synthesis turns into block RAM.
///
/// At the rising edge `read_data` becomes the word at `read_address` as it was before the
/// edge, and the word at `write_address` becomes `write_data` if `write_enable` is 1. A word
/// that is read while it is written may come as anything, as from block RAM of most makes: a
/// description must not let it matter. Nor may it let a word matter that it has not written,
/// or an address at or above `depth`: there is no reset, and there are no initial contents. In
/// Verilog such words are unknown. The native simulation returns the complement of the old
/// word where a read meets a write; it starts with zeros, and reads zeros beyond the depth.
///
/// With a code the words have check bits besides, and there are two more signals. The description says
/// in which cycles `read_data` is a word that it has written (`read_valid`), and is told of wrong bits
/// in those (`upset`). In the native simulation no bit is ever wrong.
#[derive(Debug)]
pub struct Memory {
    /// The clock, connected by `clock!`.
    pub clock: Signal<In, Clock>,
    /// `ceil(log2(depth))` bits, at least 1.
    pub read_address: Signal<In, Bits>,
    /// The word that was read at the last rising edge.
    pub read_data: Signal<Out, Bits>,
    /// 1 to write at the next rising edge.
    pub write_enable: Signal<In, Bit>,
    /// As wide as `read_address`.
    pub write_address: Signal<In, Bits>,
    /// The word to write.
    pub write_data: Signal<In, Bits>,
    /// Of a memory with a code: 1 in a cycle in which `read_data` is a word that was written, and not
    /// while it was read. Wherever the word is used, it must be 1.
    pub read_valid: Signal<In, Bit>,
    /// Of a memory with a code, two bits, in a cycle with `read_valid`: 1, a wrong bit of the word was put
    /// right; 2, what is wrong could not be put right.
    pub upset: Signal<Out, Bits>,
    words: Vec<u128>,
    depth: usize,
    width: u32,
    code: Option<Code>,
    doc: String,
}

impl Memory {
    /// `depth` words (at least 2) of `width` bits (1 to 128), with a code or without; `doc` is
    /// printed beside its declaration.
    pub fn new(depth: usize, width: u32, code: Option<Code>, doc: impl Into<String>) -> Self {
        let address = clog2(depth as u128);
        Self {
            clock: Signal::clock(""),
            read_address: Signal::bits(address, "word to read"),
            read_data: Signal::bits(width, "the word read at the last clock edge"),
            write_enable: Signal::bit("write at the next clock edge"),
            write_address: Signal::bits(address, "word to write"),
            write_data: Signal::bits(width, "what to write"),
            read_valid: Signal::bit("the word read is one that was written"),
            upset: Signal::bits(2, "1: a wrong bit of it was put right; 2: it is wrong"),
            words: Vec::new(),
            depth,
            width,
            code,
            doc: doc.into(),
        }
    }

    fn index(address: &Signal<In, Bits>) -> usize {
        usize::try_from(address.val().value()).unwrap_or(usize::MAX)
    }
}

impl Logic for Memory {
    fn update(&mut self) {
        if self.clock.rises() {
            let word = self.words.get(Self::index(&self.read_address));
            let mut word = word.copied().unwrap_or(0);
            let collides =
                self.write_enable.val() && self.write_address.val() == self.read_address.val();
            if collides {
                word = !word & mask(self.width);
            }
            self.read_data.next = Bits::new(word, self.width);
            if self.write_enable.val() {
                // Made at the first write, so that a description that is only elaborated
                // costs no memory.
                if self.words.is_empty() {
                    self.words = vec![0; self.depth];
                }
                let word = self.words.get_mut(Self::index(&self.write_address));
                if let Some(word) = word {
                    *word = self.write_data.val().value() & mask(self.width);
                }
            }
        }
    }
}

impl Block for Memory {
    fn connect_all(&mut self) {
        self.read_data.connect();
        self.upset.connect();
    }
    fn update_all(&mut self) {
        self.update();
        self.clock.update_all();
        self.read_address.update_all();
        self.read_data.update_all();
        self.write_enable.update_all();
        self.write_address.update_all();
        self.write_data.update_all();
        self.read_valid.update_all();
        self.upset.update_all();
    }
    fn has_changed(&self) -> bool {
        self.clock.changed
            || self.read_address.changed
            || self.read_data.changed
            || self.write_enable.changed
            || self.write_address.changed
            || self.write_data.changed
            || self.read_valid.changed
            || self.upset.changed
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        probe.visit_atom(
            "memory",
            &Marker {
                meta: Meta::Memory {
                    doc: self.doc.clone(),
                    depth: self.depth,
                    code: self.code,
                },
                width: self.width,
                value: 0,
            },
        );
        self.clock.accept("clock", probe);
        self.read_address.accept("read_address", probe);
        self.read_data.accept("read_data", probe);
        self.write_enable.accept("write_enable", probe);
        self.write_address.accept("write_address", probe);
        self.write_data.accept("write_data", probe);
        if self.code.is_some() {
            self.read_valid.accept("read_valid", probe);
            self.upset.accept("upset", probe);
        }
        probe.visit_end_scope(name, self);
    }
}
