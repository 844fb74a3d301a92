//! From a block to a checked [`Design`].
//!
//! A probe collects the tree of scopes, and each block's `update` as the syntax tree
//! that rust_hdl's `#[hdl_gen]` makes of it. Names are resolved, every expression gets
//! its one width, constants are folded, what nobody reads is dropped; then the checks.

use rust_hdl_core::block::Block as RustBlock;

use super::error::{ElabError, Result};
use super::ir::{retain, Design};
use super::names;
use super::passes::{
    check_driven, check_loops, check_read_order, check_registers_are_own, dependencies, group,
    hoist_slices, mark_live, settle_constants,
};
use super::resolve::{connect_clock, Resolver};
use super::walk::{collect, Walk};

/// Elaborates a block and everything below it.
///
/// # Errors
/// The first thing found that is wrong with the description.
pub fn elaborate(top: &dyn RustBlock) -> Result<Design> {
    let mut walk = Walk::default();
    top.accept("top", &mut walk);
    let root = walk.root.ok_or_else(|| ElabError::Unsupported {
        block: "top".into(),
        what: "not a block: only what `block!` declares with an `about` can be the top".into(),
    })?;
    let mut design = Design {
        blocks: Vec::new(),
        nets: Vec::new(),
        registers: Vec::new(),
        memories: Vec::new(),
        prefix: String::new(),
    };
    let mut sources = Vec::new();
    collect(&mut design, &mut sources, root, None)?;
    for (block, source) in sources.iter().enumerate() {
        let (statements, clocks) = Resolver::new(&design, block, source)?.body(source)?;
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
