//! Hardware description with widths chosen at run time, on top of `rust_hdl`.
//!
//! A block is what [`block!`](crate::block) declares, with an `update` that carries
//! `#[hdl_gen]` as in rust_hdl; signals, registers, memories and constants are [`Signal`],
//! [`Reg`], [`Memory`] and [`Constant`] of this module, whose widths are values. From one
//! description come [`elaborate`] (a checked [`Design`] in which every expression has one
//! width), [`verilog`] (Verilog-2005), [`mod@census`] (every state bit), [`sim`] (rust_hdl's
//! own simulation semantics) and [`check`] (the two against each other).
//!
//! # Writing a block
//! - [`block!`](crate::block) declares its fields, each with its construction in one line:
//!   pins, registers, constants, children. A block with registers is declared with a clock and
//!   a reset, which are connected to all that is in it.
//! - `update` is the description. Statements are assignments, `if`, `match` on states, `for`
//!   over a range of numbers or of a `number` of the block (unrolled), and `comment!("why")`,
//!   which the Verilog carries. A long one is written in [pieces](crate::pieces).
//! - The index of a vector of signals or blocks is the variable of a `for`, a number, or a
//!   `number` of the block, or a sum or difference of two of these: `self.sums[self._count - 1]`.
//! - A register keeps its value in every cycle in which `update` assigns no other.
//!   `dff_setup!(self, clk, register, ...)` and `clock!(self, clk, memory, ...)` at the top
//!   of `update` are needed for another clock or another order in the Verilog only.
//! - A [`Table`] is a child that looks up a value; it is logic, not a memory.
//! - A signal is read after its last assignment: Rust's `val()` is the settled value
//!   wherever it stands, and so is Verilog's only then.
//! - `bit_cast(value, width)` extends with zeros or truncates; nothing else changes a
//!   width. The width is a number, or that of a signal or register: `&self.sum`.
//!   `bits(value, width)` is a literal with a width. `rust_hdl` evaluates both to
//!   learn the width, so they cannot use the variable of a `for`.
//! - rust_hdl's macros refuse fields called `config`, `input`, `output`, `wire`, `reg`,
//!   `module`, `edge`, `disable`; elaboration refuses every other reserved word of Verilog
//!   and SystemVerilog.
//!
//! # Bundles and sections
//! - [`bundle!`](crate::bundle) declares pins that several blocks have, once.
//!   `Pins::link(&mut self.pins, &mut self.child.pins)` connects them all.
//! - A `block!` without `about` is a section: a part of a block that is written, and can be
//!   read, by itself, and that a configuration may have or not. Its statements and signals are
//!   those of the block. Its inputs are other names of signals: the block tells of which by an
//!   assignment, `self.section.input.next = self.signal.val();`, outside of every condition.
//!   So are its outputs, told by `self.signal.next = self.section.output.val();`, and pins of
//!   both in one go by a bundle's `link`.
//!   The statements of a section stand where the first of them is assigned, and those of a
//!   section without inputs before the block's. The block reads
//!   what is in the section by its path: `self.section.register.q.val()`, and may assign it
//!   so: `self.section.register.d.next = ...`. What both assign, the block assigns first: in
//!   the simulation the statements of sections follow the block's. Clock and reset of a
//!   section's registers are those of the block, and a section is declared without.
//! - An `alias` is another name, or a bundle of other names, in the same sense.
//!
//! # Widths
//! Both operands of an operator, and both sides of an assignment, have the same width; an
//! integer takes the width of what it meets and must fit it. Arithmetic wraps. The printer
//! and the Rust values share this rule, so that they cannot disagree (the module
//! documentation of [`verilog`] says how it prints it).
//!
//! # Claims
//! [`Reg::property`] and [`Reg::invariant`] state what holds in every cycle without reset:
//! They are fields of a block, and `update` assigns their `d`. A claim may read the registers
//! of all blocks below (`self.fsm.cycles.q.val()`), and registers and locals that serve
//! claims alone may stand beside the hardware. The simulation checks claims at every clock
//! edge. In Verilog they are assertions of a checker ([`verilog::checkers`]), which also has what
//! serves them alone; the module itself knows nothing of them.
//!
//! # What elaboration leaves out
//! `if` and `match` on choices and constants are decided, and the branch not taken is not looked at.
//! What nothing reads is dropped, backwards from the outputs of the top: signals,
//! registers, memories, pins of children, whole children. A register that is never
//! assigned anything but itself becomes a constant of its reset value, and so does a local
//! that is assigned one number.

mod atoms;
mod block;
pub mod census;
pub mod check;
mod checker;
mod claims;
mod code;
mod elaborate;
mod error;
mod ir;
mod module;
pub mod mutants;
mod names;
mod outline;
mod part;
mod passes;
mod piece;
mod resolve;
pub mod sim;
mod table;
mod values;
pub mod verilog;
mod walk;

pub use atoms::{About, Claim, Constant, Memory, Reg, Signal};
pub use claims::ClaimText;
pub use code::Code;
pub use elaborate::elaborate;
pub use error::ElabError;
pub use ir::Design;
pub use names::CHECKER;
pub use outline::{described_pins, outline, Outline};
pub use part::{Optional, OptionalBlock, Part};
#[doc(hidden)]
pub use piece::in_order;
pub use piece::Piece;
pub use sim::PinDirection;
pub use table::Table;
pub use values::{
    bit_cast, bits, clog2, Bit, Bits, Castable, State, Type, Value, Width, MAX_WIDTH,
};

/// Everything that a block's description and rust_hdl's macros need.
pub mod prelude {
    pub use super::atoms::{About, Constant, Memory, Reg, Signal};
    pub use super::code::Code;
    pub use super::logic;
    pub use super::part::{Optional, OptionalBlock};
    pub use super::piece::Piece;
    pub use super::table::Table;
    pub use super::values::{bit_cast, bits, clog2, Bit, Bits, Castable, State, Value};
    pub use crate::{block, bundle, clock, comment, dff_setup, pieces, states};
    pub use rust_hdl_core::ast;
    pub use rust_hdl_core::block::Block;
    pub use rust_hdl_core::clock::Clock;
    pub use rust_hdl_core::direction::{In, Local, Out};
    pub use rust_hdl_core::logic::Logic;
    pub use rust_hdl_macros::hdl_gen;
}

/// What `#[hdl_gen]` calls to mark signals as connected. Elaboration finds by itself what
/// nothing drives.
pub mod logic {
    /// Does nothing.
    pub fn logic_connect_fn<T>(_: &mut T) {}

    /// Does nothing.
    pub fn logic_connect_link_fn<A, B>(_: &mut A, _: &mut B) {}

    /// Does nothing.
    pub fn logic_connect_join_fn<A, B>(_: &mut A, _: &mut B) {}
}

/// Connects registers to a clock and to the block's `rst`, and makes them hold their
/// values by default, in place of what `block!` does: `dff_setup!(self, clk, ticks, phase);`.
#[macro_export]
macro_rules! dff_setup {
    ($block:ident, $clock:ident, $($register:ident),+ $(,)?) => {
        $(
            $block.$register.clock.next = $block.$clock.val();
            $block.$register.reset.next = $block.rst.val();
            $block.$register.d.next = $block.$register.q.val();
        )+
    };
}

/// Connects memories to a clock: `clock!(self, clk, bins);`.
#[macro_export]
macro_rules! clock {
    ($block:ident, $clock:ident, $($memory:ident),+ $(,)?) => {
        $($block.$memory.clock.next = $block.$clock.val();)+
    };
}

/// A comment that the emitted Verilog carries at the same place.
#[macro_export]
macro_rules! comment {
    ($text:literal) => {};
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
