//! Hardware description with widths chosen at run time, on top of `rust_hdl`.
//!
//! A block is a struct with `#[derive(LogicBlock)]` whose `update` carries
//! `#[hdl_gen]`, exactly as in rust_hdl; signals, registers, memories and constants are
//! [`Signal`], [`Reg`], [`Memory`] and [`Constant`] of this module, whose widths are
//! values. From one description come [`elaborate`] (a checked [`Design`] in which every
//! expression has one width), [`verilog`] (Verilog-2005), [`census`] (every state bit)
//! and [`sim`] (rust_hdl's own simulation semantics).

mod atoms;
pub mod census;
pub mod check;
mod elaborate;
mod ir;
mod names;
mod optional;
pub mod sim;
mod values;
pub mod verilog;

pub use atoms::{About, Constant, Memory, Reg, Signal};
pub use elaborate::{elaborate, ElabError};
pub use ir::Design;
pub use optional::Optional;
pub use values::{bit_cast, bits, clog2, Bit, Bits, Castable, State, Type, Value, MAX_WIDTH};

/// Everything that a block's description and rust_hdl's macros need.
pub mod prelude {
    pub use super::atoms::{About, Constant, Memory, Reg, Signal};
    pub use super::optional::Optional;
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
