//! The text of checkers: the claims of a module in a module of their own, and the `bind` that puts
//! it into every instance of the other.
//!
//! A checker has an input for everything that its claims read. Registers of blocks below are
//! named in the `bind` by their paths. Each claim is an immediate assertion at the rising edge of
//! the clock, out of reset: there it sees what registers see, so that no simulator reports a
//! value that has not settled. Yosys makes an assertion one clock later of it, and
//! `chformal -early` takes that register away again, which keeps inductions as short as they are
//! for `always @(*)`.

use std::fmt::Write;

use super::ir::{BlockId, Design, NetId, Role};
use super::module::{connect, push_comment, wrap, Module, COLUMNS};
use super::names::{self, seen, CHECKER};

/// The name of a module's checker.
pub(super) fn name(module: &str) -> String {
    format!("{module}_checker")
}

/// The checker of a block whose module is called `module`; `None` if it claims nothing.
pub(super) fn text(design: &Design, id: BlockId, module: &str) -> Option<String> {
    design.live_claims(id).next()?;
    let checker = Module::checker(design, id);
    let text = checker.print(&name(module), |out| {
        checker.registers(out);
        checker.unused(out);
        for claim in design.live_claims(id) {
            let Some(clock) = claim.clock else { continue };
            out.push('\n');
            for line in wrap(&claim.doc, COLUMNS - 5) {
                push_comment(out, "  ", &line);
            }
            let _ = write!(out, "  always @(posedge {}) ", checker.name(clock));
            if let Some(reset) = claim.reset {
                let _ = write!(out, "if (!{}) ", checker.name(reset));
            }
            let _ = writeln!(out, "{}: assert ({});", claim.name, checker.name(claim.d));
        }
    });
    Some(text)
}

/// What puts the checker into the module.
pub(super) fn bind(design: &Design, id: BlockId, module: &str) -> String {
    let checker = Module::checker(design, id);
    let pins = checker.pins().into_iter();
    let connections: Vec<(String, String)> = pins
        .map(|net| (checker.name(net), path(design, id, net)))
        .collect();
    let mut out = format!("\nbind {module} {} {CHECKER} (\n", name(module));
    connect(&mut out, "    ", &connections);
    out.push_str(");\n");
    out
}

/// How the module calls what its checker reads.
fn path(design: &Design, id: BlockId, net: NetId) -> String {
    let read = &design.nets[net];
    match read.role {
        // The register of another checker.
        Role::RegisterQ(_) if read.formal => {
            let name = format!("{CHECKER}.{}", read.printed);
            names::within(design, id, read.block, &name)
        }
        Role::RegisterQ(_) => names::within(design, id, read.block, &read.printed),
        _ => seen(design, id, net),
    }
}
