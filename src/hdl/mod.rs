//! Hardware description with widths chosen at run time, on top of `rust_hdl`.
//!
//! A block is a struct with `#[derive(LogicBlock)]` whose `update` carries `#[hdl_gen]`,
//! exactly as in rust_hdl; signals, registers, memories and constants are [`Signal`],
//! [`Reg`], [`Memory`] and [`Constant`] of this module, whose widths are values. From one
//! description come [`elaborate`] (a checked [`Design`] in which every expression has one
//! width), [`verilog`] (Verilog-2005), [`mod@census`] (every state bit), [`sim`] (rust_hdl's
//! own simulation semantics) and [`check`] (the two against each other).
//!
//! # Writing a block
//! - The first field is `about: About`, which names the module. Fields that begin with `_`
//!   are plain Rust. A block with registers has `rst: Signal<In, Bit>`.
//! - `update` begins with `dff_setup!(self, clk, register, ...)` and
//!   `clock!(self, clk, memory, ...)`. A child's pins, `clk` and `rst` among them, are
//!   assigned like any signal: `self.child.clk.next = self.clk.val();`.
//! - Statements are assignments, `if`, `match` on states, `for` over a range of numbers or
//!   of a `_field` (unrolled; vectors of signals and blocks take the index `i`, `i + 1`,
//!   `i - 1` or a number), and `comment!("why")`, which the Verilog carries.
//! - A [`Table`] is a child that looks up a value; it is logic, not a memory.
//! - A signal is read after its last assignment: Rust's `val()` is the settled value
//!   wherever it stands, and so is Verilog's only then.
//! - `bit_cast(value, width)` extends with zeros or truncates; nothing else changes a
//!   width. `bits(value, width)` is a literal with a width. `rust_hdl` evaluates both to
//!   learn the width, so they cannot use the variable of a `for`.
//! - rust_hdl's macros refuse fields called `config`, `input`, `output`, `wire`, `reg`,
//!   `module`, `edge`, `disable`; elaboration refuses every other reserved word of Verilog
//!   and SystemVerilog.
//!
//! # Widths
//! Both operands of an operator, and both sides of an assignment, have the same width; an
//! integer takes the width of what it meets and must fit it. Arithmetic wraps. The printer
//! and the Rust values share this rule, so that they cannot disagree (the module
//! documentation of [`verilog`] says how it prints it).
//!
//! # Claims
//! [`Reg::property`] and [`Reg::invariant`] state what holds in every cycle without reset:
//! `dff_setup!` names them and `update` assigns their `d`. A claim may read the registers
//! of all blocks below (`self.fsm.cycles.q.val()`), and registers and locals that serve
//! claims alone may stand beside the hardware. The simulation checks claims at every clock
//! edge; the Verilog has them, and what serves them alone, under `` `ifdef FORMAL ``.
//!
//! # What elaboration leaves out
//! `if` and `match` on constants are decided, and the branch not taken is not looked at.
//! What nothing reads is dropped, backwards from the outputs of the top: signals,
//! registers, memories, pins of children, whole children. A register that is never
//! assigned anything but itself becomes a constant of its reset value, and so does a local
//! that is assigned one number.

mod atoms;
pub mod census;
pub mod check;
mod elaborate;
mod ir;
mod names;
mod optional;
mod passes;
mod resolve;
pub mod sim;
mod table;
mod values;
pub mod verilog;
mod walk;

pub use atoms::{About, Claim, Constant, Memory, Reg, Signal};
pub use elaborate::{elaborate, ElabError};
pub use ir::{ClaimText, Design};
pub use optional::Optional;
pub use table::Table;
pub use values::{bit_cast, bits, clog2, Bit, Bits, Castable, State, Type, Value, MAX_WIDTH};

/// Everything that a block's description and rust_hdl's macros need.
pub mod prelude {
    pub use super::atoms::{About, Constant, Memory, Reg, Signal};
    pub use super::optional::Optional;
    pub use super::table::Table;
    pub use super::values::{bit_cast, bits, clog2, Bit, Bits, Castable, State, Value};
    pub use crate::{clock, comment, dff_setup, states};
    pub use rust_hdl_core::ast;
    pub use rust_hdl_core::block::{self, Block};
    pub use rust_hdl_core::clock::Clock;
    pub use rust_hdl_core::direction::{In, Local, Out};
    pub use rust_hdl_core::logic::{self, Logic};
    pub use rust_hdl_core::probe;
    pub use rust_hdl_macros::{hdl_gen, LogicBlock};
}

/// Connects registers to a clock and to the block's `rst`, and makes them hold their
/// values by default: `dff_setup!(self, clk, ticks, phase);`.
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
