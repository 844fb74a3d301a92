//! What blocks are made of: fields, bundles of pins, sections, parts that may be absent.

use std::ops::{Deref, DerefMut};

use rust_hdl_core::ast::Verilog;
use rust_hdl_core::atom::AtomKind;
use rust_hdl_core::block::Block;
use rust_hdl_core::clock::Clock;
use rust_hdl_core::direction::Direction;
use rust_hdl_core::probe::Probe;

use super::atoms::{accept_number, About, Constant, Memory, Reg, Signal};
use super::table::Table;
use super::values::{Bit, Value, Width};

/// A field of a [`block!`](crate::block), as rust_hdl's walks find it.
pub trait Part {
    /// Is given the clock and the reset of the block that it is part of, before the block's
    /// `update`. A register's next value is its present one until `update`, or that of its
    /// section, assigns another. A section hands them on, a child block takes them as its own.
    fn clocked(&mut self, clk: Clock, rst: Bit) {
        let _ = (clk, rst);
    }

    /// As [`Block::connect_all`].
    fn connect_all(&mut self) {}

    /// As [`Block::update_all`].
    fn update_all(&mut self) {}

    /// As [`Block::has_changed`].
    fn has_changed(&self) -> bool {
        false
    }

    /// As [`Block::accept`].
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        let _ = (name, probe);
    }
}

impl<D: Direction, T: Value> Part for Signal<D, T> {
    crate::walks!();
}

impl<T: Value> Part for Constant<T> {
    crate::walks!();
}

impl<T: Value> Part for Reg<T> {
    fn clocked(&mut self, clk: Clock, rst: Bit) {
        self.clock.next = clk;
        self.reset.next = rst;
        self.d.next = self.q.val();
    }
    crate::walks!();
}

impl Part for Memory {
    fn clocked(&mut self, clk: Clock, _: Bit) {
        self.clock.next = clk;
    }
    crate::walks!();
}

impl Part for About {
    crate::walks!();
}

impl Part for Table {
    crate::walks!();
}

/// A choice made at elaboration: `if` on it is decided there, and the other branch is not
/// part of the hardware.
impl Part for Bit {
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        Block::accept(&Constant::bit(*self, ""), name, probe);
    }
}

/// A width, an index or the end of a `for` loop: plain Rust.
impl Part for usize {
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        accept_number(*self, name, probe);
    }
}

impl<T: Part> Part for Vec<T> {
    fn clocked(&mut self, clk: Clock, rst: Bit) {
        self.iter_mut().for_each(|part| part.clocked(clk, rst));
    }
    fn connect_all(&mut self) {
        self.iter_mut().for_each(T::connect_all);
    }
    fn update_all(&mut self) {
        self.iter_mut().for_each(T::update_all);
    }
    fn has_changed(&self) -> bool {
        self.iter().any(T::has_changed)
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        for (index, part) in self.iter().enumerate() {
            part.accept(&format!("{name}${index}"), probe);
        }
    }
}

/// A pin, signal, register or section that exists only in some configurations. A description
/// may name it only under an `if` on a choice that says whether it is there; elaboration and
/// simulation see nothing of an absent one.
#[derive(Clone, Debug)]
pub struct Optional<T> {
    part: T,
    present: bool,
}

impl<T> Optional<T> {
    /// The part, there if `present`.
    pub fn when(present: bool, part: T) -> Self {
        Optional { part, present }
    }
}

impl<T> Deref for Optional<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.part
    }
}

impl<T> DerefMut for Optional<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.part
    }
}

impl<'a, T> Width for &'a Optional<T>
where
    &'a T: Width,
{
    fn bits(self) -> usize {
        Width::bits(&self.part)
    }
}

impl<T: Part> Part for Optional<T> {
    fn clocked(&mut self, clk: Clock, rst: Bit) {
        if self.present {
            self.part.clocked(clk, rst);
        }
    }
    fn connect_all(&mut self) {
        if self.present {
            self.part.connect_all();
        }
    }
    fn update_all(&mut self) {
        if self.present {
            self.part.update_all();
        }
    }
    fn has_changed(&self) -> bool {
        self.present && self.part.has_changed()
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        if self.present {
            self.part.accept(name, probe);
        }
    }
}

/// A child block, or a section made of what an `Option` holds, that exists only in some
/// configurations; an absent one is not even made. Beyond what holds for [`Optional`], no `bit_cast`
/// or `bits` may name what is in it, for rust_hdl evaluates both in branches that are not taken, too.
///
/// It is boxed: a description is moved while it is made, and with all its blocks in one value a port
/// inside another block is too large for the stack of a thread.
#[derive(Clone, Debug)]
pub struct OptionalBlock<T>(Option<Box<T>>);

impl<T> OptionalBlock<T> {
    /// The block, made if `present`.
    pub fn when(present: bool, make: impl FnOnce() -> T) -> Self {
        OptionalBlock(present.then(|| Box::new(make())))
    }
}

impl<T> From<Option<T>> for OptionalBlock<T> {
    fn from(block: Option<T>) -> Self {
        OptionalBlock(block.map(Box::new))
    }
}

const ABSENT: &str = "a description names a block that its configuration does not have";

impl<T> Deref for OptionalBlock<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect(ABSENT)
    }
}

impl<T> DerefMut for OptionalBlock<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect(ABSENT)
    }
}

impl<T: Part> Part for OptionalBlock<T> {
    fn clocked(&mut self, clk: Clock, rst: Bit) {
        if let Some(part) = &mut self.0 {
            part.clocked(clk, rst);
        }
    }
    fn connect_all(&mut self) {
        if let Some(part) = &mut self.0 {
            part.connect_all();
        }
    }
    fn update_all(&mut self) {
        if let Some(part) = &mut self.0 {
            part.update_all();
        }
    }
    fn has_changed(&self) -> bool {
        self.0.as_ref().is_some_and(|part| part.has_changed())
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        if let Some(part) = &self.0 {
            part.accept(name, probe);
        }
    }
}

/// A part of a block whose fields are fields of the block.
#[derive(Clone, Debug, Default)]
pub(super) struct Space {
    /// What precedes the names of its fields in the Verilog, and in the description.
    pub(super) printed: String,
    pub(super) key: String,
    /// Its fields are other names of nets.
    is_alias: bool,
    /// It is a section or in one: its pins are other names of nets.
    is_section: bool,
}

impl Space {
    /// The space of that name in this one; `block!` marks it as an alias or as flat.
    pub(super) fn enter(&self, name: &str, node: &dyn Block) -> Space {
        let plain = name.trim_start_matches(['~', '=']);
        let printed = if name.starts_with('~') {
            String::new()
        } else {
            format!("{plain}$")
        };
        Space {
            printed: self.printed.clone() + &printed,
            key: format!("{}{plain}$", self.key),
            is_alias: name.starts_with('='),
            is_section: self.is_section || matches!(node.hdl(), Verilog::Combinatorial(_)),
        }
    }

    /// Whether an atom of that kind is what a section assigns.
    pub(super) fn is_output(&self, kind: AtomKind) -> bool {
        self.is_section && !self.is_alias && kind == AtomKind::OutputParameter
    }

    /// Whether an atom of that kind is another name of a net.
    pub(super) fn renames(&self, kind: AtomKind) -> bool {
        let is_pin = matches!(kind, AtomKind::InputParameter | AtomKind::OutputParameter);
        self.is_alias || self.is_section && is_pin
    }
}
