//! From a block to a checked [`Design`].
//!
//! A probe collects the tree of scopes, and each block's `update` as the syntax tree
//! that rust_hdl's `#[hdl_gen]` makes of it. Names are resolved, every expression gets
//! its one width, constants are folded, what nobody reads is dropped; then the checks.

use rust_hdl_core::block::Block as RustBlock;

use super::ir::{retain, Design};
use super::names;
use super::passes::{
    check_driven, check_loops, check_read_order, dependencies, group, hoist_slices, mark_live,
    settle_constants,
};
use super::resolve::{connect_clock, Resolver};
use super::values::MAX_WIDTH;
use super::walk::{collect, Walk};

/// A description that cannot become hardware. Every variant names the block by its path
/// from the top.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElabError {
    #[error(
        "{block}: {what} has {left} bits and {right} bits: bring both to one width with bit_cast"
    )]
    WidthMismatch {
        block: String,
        what: String,
        left: u32,
        right: u32,
    },
    #[error("{block}: `{signal}` has {target} bits and is assigned {value} bits (`{expression}`): bring the value to {target} bits with bit_cast")]
    AssignmentWidth {
        block: String,
        signal: String,
        expression: String,
        target: u32,
        value: u32,
    },
    #[error("{block}: {what} {value} does not fit {width} bits: at least {needed} are needed")]
    DoesNotFit {
        block: String,
        what: String,
        value: u128,
        width: u32,
        needed: u32,
    },
    #[error("{block}: nothing gives `{expression}` a width: write it as bits(value, width)")]
    NoWidth { block: String, expression: String },
    #[error("{block}: `{signal}` is {width} bits wide: 1 to {MAX_WIDTH} are possible")]
    BadWidth {
        block: String,
        signal: String,
        width: u32,
    },
    #[error("{block}: {what}")]
    Unsupported { block: String, what: String },
    #[error("{block}: `{name}` is neither a signal, register, memory or constant of this block nor a pin of one of its children")]
    UnknownName { block: String, name: String },
    #[error("{block}: `{signal}` is never driven: assign it in `update`{hint}")]
    Undriven {
        block: String,
        signal: String,
        hint: String,
    },
    #[error("{block}: `{signal}` is driven twice: {by}")]
    DoublyDriven {
        block: String,
        signal: String,
        by: String,
    },
    #[error("{block}: `{signal}` keeps its value on some path through `update` (a latch): assign it a default before the conditions")]
    Latch { block: String, signal: String },
    #[error("{block}: `{signal}` is read before it is assigned for the last time: move the reading statement below, or use a Local signal for the earlier value")]
    ReadBeforeWrite { block: String, signal: String },
    #[error("combinational loop: {cycle}: break it with a register")]
    Loop { cycle: String },
    #[error("{block}: `{name}` cannot be the name of {what}: {why}")]
    BadName {
        block: String,
        name: String,
        what: String,
        why: String,
    },
    #[error(
        "{block}: {first} and {second} would both be called `{name}` in the Verilog: rename one"
    )]
    NameCollision {
        block: String,
        name: String,
        first: String,
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
    mark_live(design, &reads);
    for block in &mut design.blocks {
        let nets = &design.nets;
        block.statements = retain(&block.statements, &|net| nets[net].live);
    }
    check_driven(design)?;
    check_loops(design, &reads)?;
    group(design);
    names::assign(design)
}
