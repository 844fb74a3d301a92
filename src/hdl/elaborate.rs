//! From a block to a checked [`Design`].
//!
//! A probe collects the tree of scopes, and each block's `update` as the syntax tree
//! that rust_hdl's `#[hdl_gen]` makes of it. Names are resolved, every expression gets
//! its one width, constants are folded, what nobody reads is dropped; then the checks.

use rust_hdl_core::block::Block as RustBlock;

use super::ir::{retain, Design};
use super::names;
use super::passes::{
    check_driven, check_loops, check_read_order, check_registers_are_own, dependencies, group,
    hoist_slices, mark_live, settle_constants,
};
use super::resolve::{connect_clock, Resolver};
use super::values::MAX_WIDTH;
use super::walk::{collect, Walk};

/// A description that cannot become hardware. Every variant names the block by its path
/// from the top.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElabError {
    /// Two operands, or a condition and what it is compared with, differ in width.
    #[error(
        "{block}: {what} has {left} bits and {right} bits: bring both to one width with bit_cast"
    )]
    WidthMismatch {
        /// Path of the block.
        block: String,
        /// The two sides, as the description writes them.
        what: String,
        /// Bits of the first.
        left: u32,
        /// Bits of the second.
        right: u32,
    },
    /// A value is wider or narrower than the signal that takes it.
    #[error("{block}: `{signal}` has {target} bits and is assigned {value} bits (`{expression}`): bring the value to {target} bits with bit_cast")]
    AssignmentWidth {
        /// Path of the block.
        block: String,
        /// The assigned signal.
        signal: String,
        /// The value, as the description writes it.
        expression: String,
        /// Bits of the signal.
        target: u32,
        /// Bits of the value.
        value: u32,
    },
    /// A number is too large for its place.
    #[error("{block}: {what} {value} does not fit {width} bits: at least {needed} are needed")]
    DoesNotFit {
        /// Path of the block.
        block: String,
        /// What the number is.
        what: String,
        /// The number.
        value: u128,
        /// Bits that there are.
        width: u32,
        /// Bits that the number takes.
        needed: u32,
    },
    /// A number that meets nothing with a width.
    #[error("{block}: nothing gives `{expression}` a width: write it as bits(value, width)")]
    NoWidth {
        /// Path of the block.
        block: String,
        /// The expression, as the description writes it.
        expression: String,
    },
    /// A signal of 0 bits, or of more than [`MAX_WIDTH`].
    #[error("{block}: `{signal}` is {width} bits wide: 1 to {MAX_WIDTH} are possible")]
    BadWidth {
        /// Path of the block.
        block: String,
        /// The signal.
        signal: String,
        /// Its width in bits.
        width: u32,
    },
    /// Something that descriptions do not have.
    #[error("{block}: {what}")]
    Unsupported {
        /// Path of the block.
        block: String,
        /// What it is, and what to write instead.
        what: String,
    },
    /// A name that is not declared.
    #[error("{block}: `{name}` is neither a signal, register, memory or constant of this block nor a pin of one of its children")]
    UnknownName {
        /// Path of the block.
        block: String,
        /// The name, as the description writes it.
        name: String,
    },
    /// A signal that is read, but that nothing assigns.
    #[error("{block}: `{signal}` is never driven: assign it in `update`{hint}")]
    Undriven {
        /// Path of the block whose `update` has to drive it.
        block: String,
        /// The signal.
        signal: String,
        /// How to drive it, beyond an assignment; may be empty.
        hint: String,
    },
    /// A signal with a second driver.
    #[error("{block}: `{signal}` is driven twice: {by}")]
    DoublyDriven {
        /// Path of the block.
        block: String,
        /// The signal.
        signal: String,
        /// What drives it, and why that is one driver too many.
        by: String,
    },
    /// A signal that some path through `update` does not assign.
    #[error("{block}: `{signal}` keeps its value on some path through `update` (a latch): assign it a default before the conditions")]
    Latch {
        /// Path of the block.
        block: String,
        /// The signal.
        signal: String,
    },
    /// A read that Rust and Verilog would understand differently.
    #[error("{block}: `{signal}` is read before it is assigned for the last time: move the reading statement below, or use a Local signal for the earlier value")]
    ReadBeforeWrite {
        /// Path of the block.
        block: String,
        /// The signal.
        signal: String,
    },
    /// A signal that depends on itself without a register between.
    #[error("combinational loop: {cycle}: break it with a register")]
    Loop {
        /// The signals in a circle, joined by `->`; the first comes last again.
        cycle: String,
    },
    /// A name that Verilog cannot take.
    #[error("{block}: `{name}` cannot be the name of {what}: {why}")]
    BadName {
        /// Path of the block.
        block: String,
        /// The name.
        name: String,
        /// What bears it.
        what: String,
        /// The rule that it breaks.
        why: String,
    },
    /// One name for two things in the scope of a module.
    #[error(
        "{block}: {first} and {second} would both be called `{name}` in the Verilog: rename one"
    )]
    NameCollision {
        /// Path of the block.
        block: String,
        /// The name in the Verilog.
        name: String,
        /// What bears it already.
        first: String,
        /// What would bear it too.
        second: String,
    },
}

pub(crate) type Result<T> = std::result::Result<T, ElabError>;

/// Elaborates a block and everything below it.
///
/// # Errors
/// The first thing found that is wrong with the description.
pub fn elaborate(top: &impl RustBlock) -> Result<Design> {
    let mut walk = Walk::default();
    top.accept("top", &mut walk);
    let root = walk.root.ok_or_else(|| ElabError::Unsupported {
        block: "top".into(),
        what: "not a block: only a struct with #[derive(LogicBlock)] can be the top".into(),
    })?;
    let mut design = Design {
        blocks: Vec::new(),
        nets: Vec::new(),
        registers: Vec::new(),
        memories: Vec::new(),
    };
    let mut sources = Vec::new();
    collect(&mut design, &mut sources, root, None)?;
    for (block, source) in sources.iter().enumerate() {
        let (statements, clocks) =
            Resolver::new(&design, block, &source.env)?.body(&source.body)?;
        design.blocks[block].statements = statements;
        for (net, clock) in clocks {
            connect_clock(&mut design, net, clock);
        }
    }
    finish(&mut design)?;
    Ok(design)
}

/// Everything that follows once names are resolved.
pub(crate) fn finish(design: &mut Design) -> Result<()> {
    for block in 0..design.blocks.len() {
        check_read_order(design, block)?;
    }
    settle_constants(design);
    for block in 0..design.blocks.len() {
        hoist_slices(design, block);
    }
    let reads = dependencies(design);
    mark_live(design, &reads)?;
    for block in &mut design.blocks {
        let nets = &design.nets;
        block.statements = retain(&block.statements, &|net| nets[net].live);
    }
    check_driven(design)?;
    check_loops(design, &reads)?;
    group(design);
    check_registers_are_own(design)?;
    names::assign(design)
}
