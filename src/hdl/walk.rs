//! The tree of blocks, as a probe of rust_hdl's traits finds it.

use std::collections::HashMap;

use rust_hdl_core::ast::{Verilog, VerilogBlock, VerilogLiteral};
use rust_hdl_core::atom::{Atom, AtomKind};
use rust_hdl_core::block::Block as RustBlock;
use rust_hdl_core::probe::Probe;

use super::atoms::Meta;
use super::error::{ElabError, Result};
use super::ir::{Block, BlockId, Checks, Design, MemoryBlock, Net, NetId, Register, Role};
use super::part::Space;
use super::values::{mask, Type, MAX_WIDTH};

#[derive(Default)]
pub(super) struct Scope {
    /// As the Verilog has it.
    name: String,
    /// As the description calls it.
    key: String,
    body: Option<Verilog>,
    marker: Option<(Meta, u32, u128)>,
    atoms: Vec<RawAtom>,
    /// By the names that the description calls them.
    numbers: HashMap<String, u128>,
    children: Vec<Scope>,
    /// The bundles and sections that the walk is in.
    spaces: Vec<Space>,
    sections: Vec<Section>,
    aliases: Vec<Alias>,
}

/// Another name of a net.
pub(super) struct Alias {
    /// As the description calls it.
    pub(super) key: String,
    /// A section assigns it.
    pub(super) is_output: bool,
}

/// The statements of a section.
pub(super) struct Section {
    /// What precedes the names of its fields in the description.
    pub(super) key: String,
    pub(super) body: VerilogBlock,
}

struct RawAtom {
    name: String,
    key: String,
    kind: AtomKind,
    width: u32,
    doc: String,
    ty: Type,
    value: u128,
}

#[derive(Default)]
pub(super) struct Walk {
    stack: Vec<Scope>,
    pub(super) root: Option<Scope>,
}

impl Walk {
    /// The innermost bundle or section that the walk is in.
    fn space(&self) -> Space {
        let scope = self.stack.last();
        let space = scope.and_then(|scope| scope.spaces.last());
        space.cloned().unwrap_or_default()
    }
}

impl Probe for Walk {
    fn visit_start_scope(&mut self, name: &str, node: &dyn RustBlock) {
        let space = self.space();
        self.stack.push(Scope {
            name: format!("{}{name}", space.printed),
            key: format!("{}{name}", space.key),
            body: Some(node.hdl()),
            ..Scope::default()
        });
    }

    fn visit_start_namespace(&mut self, name: &str, node: &dyn RustBlock) {
        let space = self.space().enter(name, node);
        let Some(scope) = self.stack.last_mut() else {
            return;
        };
        if let Verilog::Combinatorial(body) = node.hdl() {
            scope.sections.push(Section {
                key: space.key.clone(),
                body,
            });
        }
        scope.spaces.push(space);
    }

    fn visit_end_namespace(&mut self, _: &str, _: &dyn RustBlock) {
        if let Some(scope) = self.stack.last_mut() {
            scope.spaces.pop();
        }
    }

    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        let space = self.space();
        let Some(scope) = self.stack.last_mut() else {
            return;
        };
        let plain = name.trim_start_matches('=');
        let key = format!("{}{plain}", space.key);
        if space.renames(atom.kind()) || plain != name {
            let is_output = plain == name && space.is_output(atom.kind());
            scope.aliases.push(Alias { key, is_output });
            return;
        }
        let value = literal(&atom.verilog()).0;
        let width = u32::try_from(atom.bits()).unwrap_or(u32::MAX);
        match serde_json::from_str(&atom.descriptor().name) {
            Ok(Meta::Net { doc, kind }) => scope.atoms.push(RawAtom {
                name: format!("{}{name}", space.printed),
                key,
                kind: atom.kind(),
                width,
                doc,
                ty: kind,
                value,
            }),
            Ok(Meta::Number) => {
                scope.numbers.insert(key, value);
            }
            Ok(meta) => scope.marker = Some((meta, width, value)),
            // One of rust_hdl's own atoms: the resolver will not know its name.
            Err(_) => {}
        }
    }

    fn visit_end_scope(&mut self, _: &str, _: &dyn RustBlock) {
        if let Some(scope) = self.stack.pop() {
            match self.stack.last_mut() {
                Some(parent) => parent.children.push(scope),
                None => self.root = Some(scope),
            }
        }
    }
}

/// Value and width of one of rust_hdl's literals, which shows them in text alone.
pub(super) fn literal(literal: &VerilogLiteral) -> (u128, u32) {
    let text = format!("{literal:x}");
    let (width, digits) = text.split_once("'h").unwrap_or(("0", "0"));
    (
        u128::from_str_radix(digits, 16).unwrap_or(u128::MAX),
        width.parse().unwrap_or(0),
    )
}

/// What is left to resolve of a block.
#[derive(Default)]
pub(super) struct Source {
    pub(super) body: VerilogBlock,
    pub(super) env: HashMap<String, NetId>,
    pub(super) numbers: HashMap<String, u128>,
    pub(super) sections: Vec<Section>,
    /// What are other names of nets; `update` tells of which.
    pub(super) aliases: Vec<Alias>,
}

pub(super) fn collect(
    design: &mut Design,
    sources: &mut Vec<Source>,
    scope: Scope,
    parent: Option<BlockId>,
) -> Result<BlockId> {
    let marker = scope.marker;
    let name = scope.name.replace('$', "_");
    let Some((Meta::About { module, text }, ..)) = marker else {
        let block = match parent {
            Some(parent) => format!("{}.{name}", design.blocks[parent].path),
            None => name,
        };
        return Err(ElabError::Unsupported {
            block,
            what: "the block has no `about`: every block names its module there".into(),
        });
    };
    // The top is called by its module, as in the Verilog.
    let path = match parent {
        Some(parent) => format!("{}.{name}", design.blocks[parent].path),
        None => module.clone(),
    };
    let id = design.blocks.len();
    design.blocks.push(Block {
        path: path.clone(),
        name,
        module,
        text,
        parent,
        children: Vec::new(),
        nets: Vec::new(),
        registers: Vec::new(),
        memories: Vec::new(),
        statements: Vec::new(),
        groups: Vec::new(),
        live: false,
    });
    sources.push(Source::default());
    let mut env = HashMap::new();
    for atom in scope.atoms {
        let net = add_signal(design, id, &atom)?;
        env.insert(atom.key, net);
    }
    for mut child in scope.children {
        let (name, key) = (child.name.clone(), child.key.clone());
        match child.marker.take() {
            Some((
                Meta::Register {
                    doc,
                    claim,
                    votes,
                    chosen,
                },
                width,
                value,
            )) => {
                let index = design.registers.len();
                let role = |side: &str| match side {
                    "clock" => Role::RegisterClock(index),
                    "reset" => Role::RegisterReset(index),
                    "d" => Role::RegisterD(index),
                    _ => Role::RegisterQ(index),
                };
                let sides = add_sides(design, id, child, Some(&doc), role, &mut env)?;
                check_fits(
                    &path,
                    &format!("the reset value of `{name}`,"),
                    value,
                    width,
                )?;
                if claim.is_some() {
                    design.nets[sides["q"]].value = Some(value);
                }
                design.registers.push(Register {
                    name,
                    block: id,
                    d: sides["d"],
                    q: sides["q"],
                    reset_value: value,
                    clock: None,
                    reset: None,
                    doc,
                    claim,
                    votes,
                    chosen,
                });
                design.blocks[id].registers.push(index);
            }
            Some((Meta::Memory { doc, depth, code }, width, _)) => {
                if depth < 2 {
                    return Err(ElabError::Unsupported {
                        block: path,
                        what: format!(
                            "the memory `{name}` has a depth of {depth}: at least 2 words are needed"
                        ),
                    });
                }
                let index = design.memories.len();
                let role = |side: &str| match side {
                    "clock" => Role::MemoryClock(index),
                    "read_data" | "upset" => Role::MemoryOut(index),
                    _ => Role::MemoryIn(index),
                };
                let sides = add_sides(design, id, child, None, role, &mut env)?;
                design.memories.push(MemoryBlock {
                    name,
                    block: id,
                    depth,
                    width,
                    clock: None,
                    read_address: sides["read_address"],
                    read_data: sides["read_data"],
                    write_enable: sides["write_enable"],
                    write_address: sides["write_address"],
                    write_data: sides["write_data"],
                    checks: code.map(|code| Checks {
                        code,
                        read_valid: sides["read_valid"],
                        upset: sides["upset"],
                    }),
                    doc,
                });
                design.blocks[id].memories.push(index);
            }
            marker => {
                let child = Scope { marker, ..child };
                let child = collect(design, sources, child, Some(id))?;
                design.blocks[id].children.push(child);
                // Its pins, and the registers of all blocks below, which claims may read.
                let seen = sources[child].env.iter().filter(|&(_, &net)| {
                    let declared = &design.nets[net];
                    let is_pin = matches!(declared.role, Role::Input | Role::Output);
                    matches!(declared.role, Role::RegisterQ(_)) || is_pin && declared.block == child
                });
                env.extend(seen.map(|(below, &net)| (format!("{key}${below}"), net)));
            }
        }
    }
    let body = match scope.body {
        Some(Verilog::Combinatorial(body)) => body,
        Some(Verilog::Empty) | None => Vec::new(),
        Some(_) => return Err(ElabError::Unsupported {
            block: path,
            what:
                "the block carries Verilog text of its own: describe it in `update` with #[hdl_gen]"
                    .into(),
        }),
    };
    sources[id] = Source {
        body,
        env,
        numbers: scope.numbers,
        sections: scope.sections,
        aliases: scope.aliases,
    };
    Ok(id)
}

/// Adds a signal or a constant of a block.
fn add_signal(design: &mut Design, block: BlockId, atom: &RawAtom) -> Result<NetId> {
    let role = match atom.kind {
        AtomKind::InputParameter => Role::Input,
        AtomKind::OutputParameter => Role::Output,
        AtomKind::LocalSignal => Role::Local,
        AtomKind::Constant => Role::Constant,
        _ => {
            return Err(ElabError::Unsupported {
                block: design.blocks[block].path.clone(),
                what: format!(
                    "`{}` is neither In, Out nor Local: other directions have no place here",
                    atom.name
                ),
            })
        }
    };
    let net = add_net(design, block, &atom.name, role, atom)?;
    if role == Role::Constant {
        check_fits(
            &design.blocks[block].path,
            &format!("the constant `{}` =", atom.name),
            atom.value,
            atom.width,
        )?;
        design.nets[net].value = Some(atom.value);
    }
    design.blocks[block].nets.push(net);
    Ok(net)
}

/// Adds the pins of a register or a memory, and what the block calls them. `doc` takes the place of what
/// they say of themselves.
fn add_sides(
    design: &mut Design,
    block: BlockId,
    of: Scope,
    doc: Option<&str>,
    role: impl Fn(&str) -> Role,
    env: &mut HashMap<String, NetId>,
) -> Result<HashMap<String, NetId>> {
    let mut sides = HashMap::new();
    for mut atom in of.atoms {
        if let Some(doc) = doc {
            atom.doc = doc.into();
        }
        let name = format!("{}${}", of.name, atom.name);
        let net = add_net(design, block, &name, role(&atom.name), &atom)?;
        env.insert(format!("{}${}", of.key, atom.name), net);
        sides.insert(atom.name, net);
    }
    Ok(sides)
}

fn add_net(
    design: &mut Design,
    block: BlockId,
    name: &str,
    role: Role,
    atom: &RawAtom,
) -> Result<NetId> {
    let name = name.replace('$', ".");
    if atom.width == 0 || atom.width > MAX_WIDTH {
        return Err(ElabError::BadWidth {
            block: design.blocks[block].path.clone(),
            signal: name,
            width: atom.width,
        });
    }
    design.nets.push(Net {
        block,
        name,
        printed: String::new(),
        role,
        width: atom.width,
        kind: atom.ty.clone(),
        doc: atom.doc.clone(),
        value: None,
        live: false,
        formal: false,
    });
    Ok(design.nets.len() - 1)
}

pub(super) fn needed(value: u128) -> u32 {
    (128 - value.leading_zeros()).max(1)
}

pub(super) fn check_fits(block: &str, what: &str, value: u128, width: u32) -> Result<()> {
    if value > mask(width) {
        return Err(ElabError::DoesNotFit {
            block: block.into(),
            what: what.into(),
            value,
            width,
            needed: needed(value),
        });
    }
    Ok(())
}
