//! From a block to a checked [`Design`].
//!
//! A probe collects the tree of scopes, and each block's `update` as the syntax tree
//! that rust_hdl's `#[hdl_gen]` makes of it. Names are resolved, every expression gets
//! its one width, constants are folded, what nobody reads is dropped; then the checks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rust_hdl_core::ast::{
    Verilog, VerilogBlock, VerilogBlockOrConditional, VerilogConditional, VerilogExpression,
    VerilogLiteral, VerilogMatch, VerilogOp, VerilogOpUnary, VerilogStatement,
};
use rust_hdl_core::atom::{Atom, AtomKind};
use rust_hdl_core::block::Block as RustBlock;
use rust_hdl_core::probe::Probe;

use super::atoms::Meta;
use super::ir::{
    for_each_expr, for_each_target, retain, Arm, Block, BlockId, Builder, Design, Expr, Group,
    MemoryBlock, Net, NetId, Operator, Reduction, Register, Role, Statement,
};
use super::names;
use super::values::{mask, Type, MAX_WIDTH};

/// How often a `for` loop may run at elaboration.
const MAX_LOOP: u128 = 65_536;

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

type Result<T> = std::result::Result<T, ElabError>;

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
        drop_overridden(design, block);
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

// ---------------------------------------------------------------- collecting the tree

#[derive(Default)]
struct Scope {
    name: String,
    body: Option<Verilog>,
    marker: Option<(Meta, u32, u128)>,
    atoms: Vec<RawAtom>,
    children: Vec<Scope>,
}

struct RawAtom {
    name: String,
    kind: AtomKind,
    width: u32,
    doc: String,
    ty: Type,
    value: u128,
}

#[derive(Default)]
struct Walk {
    stack: Vec<Scope>,
    root: Option<Scope>,
}

impl Probe for Walk {
    fn visit_start_scope(&mut self, name: &str, node: &dyn RustBlock) {
        self.stack.push(Scope {
            name: name.into(),
            body: Some(node.hdl()),
            ..Scope::default()
        });
    }

    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        let Some(scope) = self.stack.last_mut() else {
            return;
        };
        let value = literal(&atom.verilog()).0;
        let width = u32::try_from(atom.bits()).unwrap_or(u32::MAX);
        match serde_json::from_str(&atom.descriptor().name) {
            Ok(Meta::Net { doc, kind }) => scope.atoms.push(RawAtom {
                name: name.into(),
                kind: atom.kind(),
                width,
                doc,
                ty: kind,
                value,
            }),
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
fn literal(literal: &VerilogLiteral) -> (u128, u32) {
    let text = format!("{literal:x}");
    let (width, digits) = text.split_once("'h").unwrap_or(("0", "0"));
    (
        u128::from_str_radix(digits, 16).unwrap_or(u128::MAX),
        width.parse().unwrap_or(0),
    )
}

/// What is left to resolve of a block.
#[derive(Default)]
struct Source {
    body: VerilogBlock,
    env: HashMap<String, NetId>,
}

fn collect(
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
            what: "the block has no field `about: About`: every block names its module there"
                .into(),
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
        let role = match atom.kind {
            AtomKind::InputParameter => Role::Input,
            AtomKind::OutputParameter => Role::Output,
            AtomKind::LocalSignal => Role::Local,
            AtomKind::Constant => Role::Constant,
            _ => {
                return Err(ElabError::Unsupported {
                    block: path,
                    what: format!(
                        "`{}` is neither In, Out nor Local: other directions have no place here",
                        atom.name
                    ),
                })
            }
        };
        let net = add_net(design, id, &atom.name, role, &atom)?;
        if role == Role::Constant {
            check_fits(
                &path,
                &format!("the constant `{}` =", atom.name),
                atom.value,
                atom.width,
            )?;
            design.nets[net].value = Some(atom.value);
        }
        design.blocks[id].nets.push(net);
        env.insert(atom.name, net);
    }
    for child in scope.children {
        let name = child.name.clone();
        match child.marker {
            Some((Meta::Register { doc, kind }, width, value)) => {
                let what = format!("the reset value of `{name}`,");
                let index = design.registers.len();
                let mut sides = HashMap::new();
                for mut atom in child.atoms {
                    let role = match atom.name.as_str() {
                        "clock" => Role::RegisterClock(index),
                        "reset" => Role::RegisterReset(index),
                        "d" => Role::RegisterD(index),
                        _ => Role::RegisterQ(index),
                    };
                    atom.doc = doc.clone();
                    let net = add_net(design, id, &format!("{name}${}", atom.name), role, &atom)?;
                    env.insert(format!("{name}${}", atom.name), net);
                    sides.insert(atom.name, net);
                }
                check_fits(&path, &what, value, width)?;
                debug_assert!(sides.len() == 4, "{kind:?}");
                design.registers.push(Register {
                    name,
                    block: id,
                    d: sides["d"],
                    q: sides["q"],
                    reset_value: value,
                    clock: None,
                    reset: None,
                    doc,
                });
                design.blocks[id].registers.push(index);
            }
            Some((Meta::Memory { doc, depth }, width, _)) => {
                if depth < 2 {
                    return Err(ElabError::Unsupported {
                        block: path,
                        what: format!(
                            "the memory `{name}` has a depth of {depth}: at least 2 words are needed"
                        ),
                    });
                }
                let index = design.memories.len();
                let mut sides = HashMap::new();
                for atom in child.atoms {
                    let role = match atom.name.as_str() {
                        "clock" => Role::MemoryClock(index),
                        "read_data" => Role::MemoryOut(index),
                        _ => Role::MemoryIn(index),
                    };
                    let net = add_net(design, id, &format!("{name}${}", atom.name), role, &atom)?;
                    env.insert(format!("{name}${}", atom.name), net);
                    sides.insert(atom.name, net);
                }
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
                    doc,
                });
                design.blocks[id].memories.push(index);
            }
            _ => {
                let child = collect(design, sources, child, Some(id))?;
                design.blocks[id].children.push(child);
                for &net in &design.blocks[child].nets {
                    let pin = &design.nets[net];
                    if matches!(pin.role, Role::Input | Role::Output) {
                        env.insert(format!("{name}${}", pin.name.replace('.', "$")), net);
                    }
                }
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
    sources[id] = Source { body, env };
    Ok(id)
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
    });
    Ok(design.nets.len() - 1)
}

fn needed(value: u128) -> u32 {
    (128 - value.leading_zeros()).max(1)
}

fn check_fits(block: &str, what: &str, value: u128, width: u32) -> Result<()> {
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

// --------------------------------------------------------------------- resolving names

/// Clock pins of registers and memories, and the clocks they are connected to.
type Clocks = Vec<(NetId, NetId)>;

/// Turns one block's syntax tree into statements.
struct Resolver<'a> {
    design: &'a Design,
    block: BlockId,
    env: &'a HashMap<String, NetId>,
    /// `Phase$Idle` to printed name, value, width.
    states: HashMap<String, (String, u128, u32)>,
    loops: HashMap<String, u128>,
    clocks: Clocks,
    depth: usize,
}

impl<'a> Resolver<'a> {
    fn new(design: &'a Design, block: BlockId, env: &'a HashMap<String, NetId>) -> Result<Self> {
        let mut types: BTreeMap<&str, &[(String, String)]> = BTreeMap::new();
        let mut states = HashMap::new();
        let path = &design.blocks[block].path;
        for &net in env.values() {
            let Type::State { name, variants } = &design.nets[net].kind else {
                continue;
            };
            if let Some(known) = types.insert(name, variants) {
                if known != variants.as_slice() {
                    return Err(ElabError::NameCollision {
                        block: path.clone(),
                        name: name.clone(),
                        first: "one set of states".into(),
                        second: "another".into(),
                    });
                }
                continue;
            }
            let width = design.nets[net].width;
            for (value, (variant, _)) in variants.iter().enumerate() {
                states.insert(
                    format!("{name}${variant}"),
                    (names::state(name, variant), value as u128, width),
                );
            }
        }
        Ok(Self {
            design,
            block,
            env,
            states,
            loops: HashMap::new(),
            clocks: Vec::new(),
            depth: 0,
        })
    }

    fn path(&self) -> String {
        self.design.blocks[self.block].path.clone()
    }

    fn builder(&self) -> Builder<'a> {
        Builder {
            nets: &self.design.nets,
        }
    }

    fn unsupported<T>(&self, what: impl Into<String>) -> Result<T> {
        Err(ElabError::Unsupported {
            block: self.path(),
            what: what.into(),
        })
    }

    fn body(mut self, body: &VerilogBlock) -> Result<(Vec<Statement>, Clocks)> {
        let statements = self.statements(body)?;
        Ok((statements, self.clocks))
    }

    fn statements(&mut self, body: &[VerilogStatement]) -> Result<Vec<Statement>> {
        let mut out = Vec::new();
        for statement in body {
            self.statement(statement, &mut out)?;
        }
        Ok(out)
    }

    fn nested(&mut self, body: &[VerilogStatement]) -> Result<Vec<Statement>> {
        self.depth += 1;
        let statements = self.statements(body);
        self.depth -= 1;
        statements
    }

    fn statement(&mut self, statement: &VerilogStatement, out: &mut Vec<Statement>) -> Result<()> {
        match statement {
            VerilogStatement::Comment(text) => out.push(Statement::Comment(comment_text(text))),
            VerilogStatement::Assignment(target, value) => {
                out.push(self.assignment(target, value)?)
            }
            VerilogStatement::If(conditional) => self.conditional(conditional, out)?,
            VerilogStatement::Match(choice) => self.choice(choice, out)?,
            VerilogStatement::Macro(body) => self.setup(body, out)?,
            VerilogStatement::Loop(repeat) => {
                let (from, to) = (literal(&repeat.from).0, literal(&repeat.to).0);
                if to.saturating_sub(from) > MAX_LOOP {
                    return self.unsupported(format!(
                        "a `for` loop from {from} to {to} is too long to unroll: at most {MAX_LOOP} rounds"
                    ));
                }
                let outer = self.loops.get(&repeat.index).copied();
                for index in from..to {
                    self.loops.insert(repeat.index.clone(), index);
                    for statement in &repeat.block {
                        self.statement(statement, out)?;
                    }
                }
                match outer {
                    Some(value) => self.loops.insert(repeat.index.clone(), value),
                    None => self.loops.remove(&repeat.index),
                };
            }
            VerilogStatement::SliceAssignment { base, .. } => {
                return self.unsupported(format!(
                    "`{}` is assigned in part: assign all of it",
                    describe(base)
                ))
            }
            VerilogStatement::Link(_) => {
                return self.unsupported("join and link have no place here: assign pin by pin")
            }
        }
        Ok(())
    }

    /// `name[i]$pin` with loop indices put in: `name$2$pin`.
    fn name(&self, text: &str) -> Result<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(open) = rest.find('[') {
            let Some(length) = rest[open..].find(']') else {
                break;
            };
            let index = &rest[open + 1..open + length];
            let number = |text: &str| -> Option<u128> {
                match self.loops.get(text) {
                    Some(&value) => Some(value),
                    None => text.trim_end_matches("usize").parse().ok(),
                }
            };
            let place = match (index.split_once('+'), index.split_once('-')) {
                (Some((base, more)), None) => number(base)
                    .zip(number(more))
                    .and_then(|(base, more)| base.checked_add(more)),
                (None, Some((base, less))) => number(base)
                    .zip(number(less))
                    .and_then(|(base, less)| base.checked_sub(less)),
                _ => number(index),
            };
            let Some(place) = place else {
                return self.unsupported(format!(
                    "the index of `{}` must be a number, a loop variable, or their sum or difference",
                    text.replace('$', ".")
                ));
            };
            out.push_str(&rest[..open]);
            out.push_str(&format!("${place}"));
            rest = &rest[open + length + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }

    fn lookup(&self, name: &str) -> Result<NetId> {
        let name = self.name(name)?;
        self.env
            .get(&name)
            .copied()
            .ok_or_else(|| ElabError::UnknownName {
                block: self.path(),
                name: name.replace('$', "."),
            })
    }

    /// The statements of `dff_setup!` and `clock!`: clock pins, then `d = q`.
    fn setup(&mut self, body: &[VerilogStatement], out: &mut Vec<Statement>) -> Result<()> {
        if self.depth > 0 {
            return self.unsupported(
                "dff_setup! and clock! stand at the top of `update`, outside of every condition",
            );
        }
        for statement in body {
            let VerilogStatement::Assignment(
                VerilogExpression::Signal(target),
                VerilogExpression::Signal(value),
            ) = statement
            else {
                return self.unsupported("dff_setup! and clock! take names of fields");
            };
            let target = self.lookup(target.trim_end_matches("$next"))?;
            let source = self.lookup(value)?;
            let builder = self.builder();
            match self.design.nets[target].role {
                Role::RegisterClock(_) | Role::MemoryClock(_) => {
                    if self.design.nets[source].kind != Type::Clock {
                        return self.unsupported(format!(
                            "`{value}` is not a clock: dff_setup! and clock! take one"
                        ));
                    }
                    if self.clocks.iter().any(|&(net, _)| net == target) {
                        return Err(ElabError::DoublyDriven {
                            block: self.path(),
                            signal: self.design.nets[target].name.clone(),
                            by: "it stands in two dff_setup! or clock!".into(),
                        });
                    }
                    self.clocks.push((target, source));
                }
                _ => out.push(Statement::Assign {
                    target,
                    value: builder.net(source),
                    hold: true,
                }),
            }
        }
        Ok(())
    }

    fn assignment(
        &mut self,
        target: &VerilogExpression,
        value: &VerilogExpression,
    ) -> Result<Statement> {
        let VerilogExpression::Signal(name) = target else {
            return self.unsupported(format!("`{}` cannot be assigned", describe(target)));
        };
        let target = self.lookup(name.trim_end_matches("$next"))?;
        let net = &self.design.nets[target];
        let mut signal = net.name.clone();
        if net.block != self.block {
            signal = format!("{}.{signal}", self.design.blocks[net.block].name);
        }
        let doubly = |by: &str| ElabError::DoublyDriven {
            block: self.path(),
            signal: signal.clone(),
            by: by.into(),
        };
        match net.role {
            Role::Input if net.block == self.block => {
                return Err(doubly(
                    "it is an input of this block, which its surroundings drive, and `update` assigns it",
                ))
            }
            Role::Output if net.block != self.block => {
                return Err(doubly(
                    "it is an output of the child, which drives it, and the parent's `update` assigns it",
                ))
            }
            Role::RegisterQ(_) | Role::MemoryOut(_) => {
                return Err(doubly(
                    "it changes with the clock, and `update` assigns it: assign the register's `d`",
                ))
            }
            Role::RegisterClock(_) | Role::RegisterReset(_) => {
                return self.unsupported(format!("`{signal}` is connected with dff_setup!"))
            }
            Role::MemoryClock(_) => {
                return self.unsupported(format!("`{signal}` is connected with clock!"))
            }
            Role::Constant => return Err(doubly("it is a constant")),
            _ => {}
        }
        let resolved = self.expr(value, Some(net.width))?;
        if resolved.width() != net.width {
            return Err(ElabError::AssignmentWidth {
                block: self.path(),
                signal,
                expression: describe(value),
                target: net.width,
                value: resolved.width(),
            });
        }
        Ok(Statement::Assign {
            target,
            value: resolved,
            hold: false,
        })
    }

    fn conditional(
        &mut self,
        conditional: &VerilogConditional,
        out: &mut Vec<Statement>,
    ) -> Result<()> {
        let test = self.condition(&conditional.test)?;
        match test.constant(&self.design.nets) {
            // Decided at elaboration: the other branch is not looked at.
            Some(0) => self.otherwise(&conditional.otherwise, out),
            Some(_) => {
                for statement in &conditional.then {
                    self.statement(statement, out)?;
                }
                Ok(())
            }
            None => {
                let then = self.nested(&conditional.then)?;
                let mut otherwise = Vec::new();
                self.depth += 1;
                let result = self.otherwise(&conditional.otherwise, &mut otherwise);
                self.depth -= 1;
                result?;
                out.push(Statement::If {
                    test,
                    then,
                    otherwise,
                });
                Ok(())
            }
        }
    }

    fn otherwise(
        &mut self,
        otherwise: &VerilogBlockOrConditional,
        out: &mut Vec<Statement>,
    ) -> Result<()> {
        match otherwise {
            VerilogBlockOrConditional::None => Ok(()),
            VerilogBlockOrConditional::Block(body) => {
                for statement in body {
                    self.statement(statement, out)?;
                }
                Ok(())
            }
            VerilogBlockOrConditional::Conditional(statement) => self.statement(statement, out),
        }
    }

    fn condition(&self, test: &VerilogExpression) -> Result<Expr> {
        let expr = self.expr(test, Some(1))?;
        if expr.width() != 1 {
            return Err(ElabError::WidthMismatch {
                block: self.path(),
                what: format!("a condition and `{}`", describe(test)),
                left: 1,
                right: expr.width(),
            });
        }
        Ok(expr)
    }

    fn choice(&mut self, choice: &VerilogMatch, out: &mut Vec<Statement>) -> Result<()> {
        let test = self.expr(&choice.test, None)?;
        let known = test.constant(&self.design.nets);
        let width = test.width();
        let mut arms: Vec<Arm> = Vec::new();
        let mut default = None;
        for case in &choice.cases {
            if case.condition == "default" {
                if known.is_some_and(|known| arms.iter().any(|arm| arm.value == known)) {
                    continue;
                }
                default = Some(if known.is_some() {
                    let mut body = Vec::new();
                    for statement in &case.block {
                        self.statement(statement, &mut body)?;
                    }
                    body
                } else {
                    self.nested(&case.block)?
                });
                // What follows a wildcard is never reached.
                break;
            }
            let (state, value) = match case.condition.as_str() {
                "true" => ("1'b1".to_string(), 1),
                "false" => ("1'b0".to_string(), 0),
                pattern => {
                    let (name, value, state_width) =
                        self.state(pattern).ok_or_else(|| ElabError::UnknownName {
                            block: self.path(),
                            name: pattern.replace('$', "::"),
                        })?;
                    if state_width != width {
                        return Err(ElabError::WidthMismatch {
                            block: self.path(),
                            what: format!("`{}` and `{name}`", describe(&choice.test)),
                            left: width,
                            right: state_width,
                        });
                    }
                    (name, value)
                }
            };
            if arms.iter().any(|arm| arm.value == value) {
                continue;
            }
            let body = match known {
                Some(known) if known != value => Vec::new(),
                Some(_) => {
                    let mut body = Vec::new();
                    for statement in &case.block {
                        self.statement(statement, &mut body)?;
                    }
                    body
                }
                None => self.nested(&case.block)?,
            };
            arms.push(Arm { state, value, body });
        }
        if let Some(known) = known {
            match arms.into_iter().find(|arm| arm.value == known) {
                Some(arm) => out.extend(arm.body),
                None => out.extend(default.unwrap_or_default()),
            }
            return Ok(());
        }
        // Rust has seen to it that every state has an arm. The first state's arm serves
        // for the encodings that no state has as well: it is the one after reset.
        let (default, default_state) = match default {
            Some(body) => (body, None),
            None => match arms.iter().position(|arm| arm.value == 0) {
                Some(first) => {
                    let arm = arms.remove(first);
                    (arm.body, Some(arm.state))
                }
                None => (Vec::new(), None),
            },
        };
        out.push(Statement::Case {
            test,
            arms,
            default,
            default_state,
        });
        Ok(())
    }

    /// A state written with any path before it.
    fn state(&self, path: &str) -> Option<(String, u128, u32)> {
        let parts: Vec<&str> = path.split('$').collect();
        let tail = parts.len().checked_sub(2)?;
        self.states.get(&parts[tail..].join("$")).cloned()
    }

    /// Whether the expression is made of integers alone, which take a width from where
    /// they stand.
    fn is_unsized(&self, expr: &VerilogExpression) -> bool {
        match expr {
            VerilogExpression::Literal(value) => literal(value).1 != 1,
            VerilogExpression::Signal(name) => self.loops.contains_key(name),
            VerilogExpression::Paren(inner) => self.is_unsized(inner),
            VerilogExpression::Unary(VerilogOpUnary::Neg | VerilogOpUnary::Not, inner) => {
                self.is_unsized(inner)
            }
            VerilogExpression::Binary(left, op, right) => {
                operator(op).is_some_and(|op| !op.is_comparison())
                    && self.is_unsized(left)
                    && self.is_unsized(right)
            }
            _ => false,
        }
    }

    fn expr(&self, expr: &VerilogExpression, wanted: Option<u32>) -> Result<Expr> {
        let builder = self.builder();
        match expr {
            VerilogExpression::Paren(inner) => self.expr(inner, wanted),
            VerilogExpression::Literal(value) => {
                let (value, width) = literal(value);
                let width = if width == 1 { Some(1) } else { wanted };
                self.number(expr, value, width)
            }
            VerilogExpression::Signal(name) => {
                if let Some(&value) = self.loops.get(name) {
                    return self.number(expr, value, wanted);
                }
                let resolved = self.name(name)?;
                if let (None, Some((name, value, width))) =
                    (self.env.get(&resolved), self.state(name))
                {
                    return Ok(Expr::State { name, value, width });
                }
                let net = self.lookup(name)?;
                match self.design.nets[net].role {
                    Role::RegisterClock(_) | Role::RegisterReset(_) | Role::MemoryClock(_) => self
                        .unsupported(format!(
                            "`{}` cannot be read: read the block's own clock or reset",
                            name.replace('$', ".")
                        )),
                    _ => Ok(builder.net(net)),
                }
            }
            VerilogExpression::Cast(inner, width) => {
                let width = u32::try_from(*width).unwrap_or(u32::MAX);
                if width == 0 || width > MAX_WIDTH {
                    return Err(ElabError::BadWidth {
                        block: self.path(),
                        signal: describe(expr),
                        width,
                    });
                }
                if self.is_unsized(inner) {
                    return self.expr(inner, Some(width));
                }
                Ok(builder.cast(self.expr(inner, None)?, width))
            }
            VerilogExpression::Unary(op, inner) => {
                let reduction = match op {
                    VerilogOpUnary::Not => {
                        return Ok(builder.not(self.expr(inner, wanted)?));
                    }
                    VerilogOpUnary::Neg => {
                        return self.unsupported(format!(
                            "`{}` is negative: vectors are unsigned",
                            describe(expr)
                        ))
                    }
                    VerilogOpUnary::All => Reduction::All,
                    VerilogOpUnary::Any => Reduction::Any,
                    VerilogOpUnary::Xor => Reduction::Xor,
                };
                Ok(builder.reduce(reduction, self.expr(inner, None)?))
            }
            VerilogExpression::Index(inner, index) => {
                let of = self.expr(inner, None)?;
                let index = self.self_sized(index)?;
                if let Expr::Literal { value, .. } = index {
                    if value >= u128::from(of.width()) {
                        return self.unsupported(format!(
                            "`{}` has no bit {value}: its bits are 0 to {}",
                            describe(inner),
                            of.width() - 1
                        ));
                    }
                }
                Ok(builder.bit_at(of, index))
            }
            VerilogExpression::Binary(left, op, right) => self.operation(expr, left, op, right, wanted),
            VerilogExpression::Signed(_)
            | VerilogExpression::Unsigned(_)
            | VerilogExpression::Slice(..)
            | VerilogExpression::IndexReplace(..) => self.unsupported(format!(
                "`{}`: signed values, get_bits and replace_bit have no place here; use bit_cast, shifts and masks",
                describe(expr)
            )),
        }
    }

    /// A shift amount or bit index, whose width is its own affair.
    fn self_sized(&self, expr: &VerilogExpression) -> Result<Expr> {
        if !self.is_unsized(expr) {
            return self.expr(expr, None);
        }
        let wide = self.expr(expr, Some(MAX_WIDTH))?;
        let value = wide.constant(&self.design.nets).unwrap_or(0);
        Ok(Expr::Literal {
            value,
            width: needed(value),
        })
    }

    fn number(&self, expr: &VerilogExpression, value: u128, width: Option<u32>) -> Result<Expr> {
        let Some(width) = width else {
            return Err(ElabError::NoWidth {
                block: self.path(),
                expression: describe(expr),
            });
        };
        check_fits(&self.path(), "the number", value, width)?;
        Ok(Expr::Literal { value, width })
    }

    fn operation(
        &self,
        whole: &VerilogExpression,
        left: &VerilogExpression,
        op: &VerilogOp,
        right: &VerilogExpression,
        wanted: Option<u32>,
    ) -> Result<Expr> {
        let builder = self.builder();
        let Some(op) = operator(op) else {
            return self.unsupported(format!("`{}`: unknown operator", describe(whole)));
        };
        if op.is_shift() {
            let left = self.expr(left, wanted)?;
            return Ok(builder.binary(op, left, self.self_sized(right)?));
        }
        let logical = matches!(op, Operator::LogicalAnd | Operator::LogicalOr);
        let wanted = if logical {
            Some(1)
        } else if op.is_comparison() {
            None
        } else {
            wanted
        };
        let (a, b) = if self.is_unsized(left) && !self.is_unsized(right) {
            let b = self.expr(right, wanted)?;
            (self.expr(left, Some(b.width()))?, b)
        } else {
            let a = self.expr(left, wanted)?;
            let width = if self.is_unsized(right) {
                Some(a.width())
            } else {
                wanted
            };
            let b = self.expr(right, width)?;
            (a, b)
        };
        if a.width() != b.width() {
            return Err(ElabError::WidthMismatch {
                block: self.path(),
                what: format!(
                    "`{}`: `{}` {} `{}`",
                    op.symbol(),
                    describe(left),
                    "and",
                    describe(right)
                ),
                left: a.width(),
                right: b.width(),
            });
        }
        Ok(builder.binary(op, a, b))
    }
}

fn operator(op: &VerilogOp) -> Option<Operator> {
    Some(match op {
        VerilogOp::Add => Operator::Add,
        VerilogOp::Sub => Operator::Sub,
        VerilogOp::Mul => Operator::Mul,
        VerilogOp::LogicalAnd => Operator::LogicalAnd,
        VerilogOp::LogicalOr => Operator::LogicalOr,
        VerilogOp::BitXor => Operator::Xor,
        VerilogOp::BitAnd => Operator::And,
        VerilogOp::BitOr => Operator::Or,
        VerilogOp::Shl => Operator::Shl,
        VerilogOp::Shr => Operator::Shr,
        VerilogOp::Eq => Operator::Eq,
        VerilogOp::Lt => Operator::Lt,
        VerilogOp::Le => Operator::Le,
        VerilogOp::Ne => Operator::Ne,
        VerilogOp::Ge => Operator::Ge,
        VerilogOp::Gt => Operator::Gt,
    })
}

/// An expression for a message, close to how it was written.
fn describe(expr: &VerilogExpression) -> String {
    match expr {
        VerilogExpression::Signal(name) => name.replace("$next", "").replace('$', "."),
        VerilogExpression::Literal(value) => literal(value).0.to_string(),
        VerilogExpression::Cast(inner, width) => {
            format!("bit_cast({}, {width})", describe(inner))
        }
        VerilogExpression::Paren(inner) => format!("({})", describe(inner)),
        VerilogExpression::Binary(left, op, right) => format!(
            "{} {} {}",
            describe(left),
            operator(op).map_or("?", Operator::symbol),
            describe(right)
        ),
        VerilogExpression::Unary(op, inner) => match op {
            VerilogOpUnary::Not => format!("!{}", describe(inner)),
            VerilogOpUnary::Neg => format!("-{}", describe(inner)),
            VerilogOpUnary::All => format!("{}.all()", describe(inner)),
            VerilogOpUnary::Any => format!("{}.any()", describe(inner)),
            VerilogOpUnary::Xor => format!("{}.xor()", describe(inner)),
        },
        VerilogExpression::Index(inner, index) | VerilogExpression::Slice(inner, _, index) => {
            format!("{}[{}]", describe(inner), describe(index))
        }
        VerilogExpression::Signed(inner) | VerilogExpression::Unsigned(inner) => describe(inner),
        VerilogExpression::IndexReplace(inner, index, _) => {
            format!("{}[{}]", describe(inner), describe(index))
        }
    }
}

/// The text of a `comment!`, which arrives as the macro call's tokens without the closing
/// quote and bracket.
fn comment_text(call: &str) -> String {
    let text = match call.split_once('"') {
        Some((name, text)) if name.starts_with("comment") => text,
        _ => call,
    };
    // A line that ends in a backslash continues without the indent of the next.
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            ('\\', Some('n')) => {
                chars.next();
                out.push('\n');
            }
            ('\\', Some('\n')) => {
                while chars.peek().is_some_and(|next| next.is_whitespace()) {
                    chars.next();
                }
            }
            ('\\', Some(_)) => out.extend(chars.next()),
            (char, _) => out.push(char),
        }
    }
    out
}

fn connect_clock(design: &mut Design, pin: NetId, clock: NetId) {
    let block = design.nets[pin].block;
    match design.nets[pin].role {
        Role::RegisterClock(register) => {
            let reset = design.blocks[block]
                .nets
                .iter()
                .copied()
                .find(|&net| design.nets[net].name == "rst");
            design.registers[register].clock = Some(clock);
            design.registers[register].reset = reset;
        }
        Role::MemoryClock(memory) => design.memories[memory].clock = Some(clock),
        _ => {}
    }
}

// ------------------------------------------------------------------------------ checks

/// A net as an error names it from within a block.
fn seen_from(design: &Design, block: BlockId, net: NetId) -> String {
    let declared = &design.nets[net];
    if declared.block == block {
        declared.name.clone()
    } else {
        format!("{}.{}", design.blocks[declared.block].name, declared.name)
    }
}

/// In Rust `val()` gives the settled value wherever it stands, in Verilog the value so
/// far: they agree when every read comes after the last assignment.
fn check_read_order(design: &Design, block: BlockId) -> Result<()> {
    /// Numbers the statements; reads come before the write of the same statement.
    fn walk(
        statements: &[Statement],
        time: &mut usize,
        on_read: &mut dyn FnMut(NetId, usize),
        on_write: &mut dyn FnMut(NetId, usize),
    ) {
        for statement in statements {
            *time += 1;
            match statement {
                Statement::Assign { target, value, .. } => {
                    value.reads(&mut |net| on_read(net, *time));
                    *time += 1;
                    on_write(*target, *time);
                }
                Statement::If {
                    test,
                    then,
                    otherwise,
                } => {
                    test.reads(&mut |net| on_read(net, *time));
                    walk(then, time, on_read, on_write);
                    walk(otherwise, time, on_read, on_write);
                }
                Statement::Case {
                    test,
                    arms,
                    default,
                    ..
                } => {
                    test.reads(&mut |net| on_read(net, *time));
                    for arm in arms {
                        walk(&arm.body, time, on_read, on_write);
                    }
                    walk(default, time, on_read, on_write);
                }
                Statement::Comment(_) => {}
            }
        }
    }
    let statements = &design.blocks[block].statements;
    let mut last_write = HashMap::new();
    walk(statements, &mut 0, &mut |_, _| {}, &mut |net, time| {
        last_write.insert(net, time);
    });
    let mut early = None;
    let mut check = |net: NetId, time: usize| {
        if early.is_none() && last_write.get(&net).is_some_and(|&write| write > time) {
            early = Some(net);
        }
    };
    walk(statements, &mut 0, &mut check, &mut |_, _| {});
    match early {
        Some(net) => Err(ElabError::ReadBeforeWrite {
            block: design.blocks[block].path.clone(),
            signal: seen_from(design, block, net),
        }),
        None => Ok(()),
    }
}

/// Makes constants of the registers that only ever hold their reset value, and folds what
/// becomes known with them, until nothing changes.
fn settle_constants(design: &mut Design) {
    loop {
        let mut written = BTreeSet::new();
        for block in &design.blocks {
            mark_written(&block.statements, &mut written);
        }
        let mut changed = false;
        for register in &design.registers {
            let q = register.q;
            if register.clock.is_some()
                && !written.contains(&register.d)
                && design.nets[q].value.is_none()
            {
                design.nets[q].value = Some(register.reset_value);
                changed = true;
            }
        }
        if !changed {
            return;
        }
        for block in 0..design.blocks.len() {
            let statements = std::mem::take(&mut design.blocks[block].statements);
            design.blocks[block].statements = fold(&design.nets, statements);
        }
    }
}

fn mark_written(statements: &[Statement], written: &mut BTreeSet<NetId>) {
    for statement in statements {
        match statement {
            Statement::Assign { target, hold, .. } => {
                if !hold {
                    written.insert(*target);
                }
            }
            Statement::If {
                then, otherwise, ..
            } => {
                mark_written(then, written);
                mark_written(otherwise, written);
            }
            Statement::Case { arms, default, .. } => {
                arms.iter().for_each(|arm| mark_written(&arm.body, written));
                mark_written(default, written);
            }
            Statement::Comment(_) => {}
        }
    }
}

/// Builds statements again after constants have become known; conditions that are decided
/// by them go.
pub(crate) fn fold(nets: &[Net], statements: Vec<Statement>) -> Vec<Statement> {
    let builder = Builder { nets };
    let mut out = Vec::new();
    for statement in statements {
        match statement {
            Statement::Comment(_) => out.push(statement),
            Statement::Assign {
                target,
                value,
                hold,
            } => out.push(Statement::Assign {
                target,
                value: if hold { value } else { builder.rebuild(&value) },
                hold,
            }),
            Statement::If {
                test,
                then,
                otherwise,
            } => {
                let test = builder.rebuild(&test);
                match test.constant(nets) {
                    Some(0) => out.extend(fold(nets, otherwise)),
                    Some(_) => out.extend(fold(nets, then)),
                    None => out.push(Statement::If {
                        test,
                        then: fold(nets, then),
                        otherwise: fold(nets, otherwise),
                    }),
                }
            }
            Statement::Case {
                test,
                arms,
                default,
                default_state,
            } => {
                let test = builder.rebuild(&test);
                match test.constant(nets) {
                    Some(known) => match arms.into_iter().find(|arm| arm.value == known) {
                        Some(arm) => out.extend(fold(nets, arm.body)),
                        None => out.extend(fold(nets, default)),
                    },
                    None => out.push(Statement::Case {
                        test,
                        arms: arms
                            .into_iter()
                            .map(|arm| Arm {
                                body: fold(nets, arm.body),
                                ..arm
                            })
                            .collect(),
                        default: fold(nets, default),
                        default_state,
                    }),
                }
            }
        }
    }
    out
}

/// Drops assignments before the last unconditional one to the same net: nothing has read
/// them.
fn drop_overridden(design: &mut Design, block: BlockId) {
    let statements = std::mem::take(&mut design.blocks[block].statements);
    let mut last = HashMap::new();
    for (index, statement) in statements.iter().enumerate() {
        if let Statement::Assign { target, .. } = statement {
            last.insert(*target, index);
        }
    }
    let mut kept = Vec::new();
    let mut comments = Vec::new();
    for (index, statement) in statements.into_iter().enumerate() {
        if matches!(statement, Statement::Comment(_)) {
            comments.push(statement);
            continue;
        }
        let rest = retain(&[statement], &|net| {
            last.get(&net).is_none_or(|&last| index >= last)
        });
        if !rest.is_empty() {
            kept.append(&mut comments);
            kept.extend(rest);
        }
        comments.clear();
    }
    design.blocks[block].statements = kept;
}

/// Gives every part of an expression that is no signal a name of its own, because
/// Verilog takes parts of signals alone.
fn hoist_slices(design: &mut Design, block: BlockId) {
    struct Hoist<'a> {
        design: &'a mut Design,
        block: BlockId,
        pending: Vec<Statement>,
    }
    impl Hoist<'_> {
        fn expr(&mut self, expr: &mut Expr, near: &str) {
            match expr {
                Expr::Literal { .. } | Expr::State { .. } | Expr::Net { .. } => {}
                Expr::Not(of) | Expr::Reduce(_, of) | Expr::Extend { of, .. } => {
                    self.expr(of, near);
                }
                Expr::Binary { left, right, .. } => {
                    self.expr(left, near);
                    self.expr(right, near);
                }
                Expr::BitAt { index, .. } => self.expr(index, near),
                Expr::Concat(parts) => parts.iter_mut().for_each(|part| self.expr(part, near)),
                Expr::Slice { of, .. } => {
                    self.expr(of, near);
                    if matches!(**of, Expr::Net { .. }) {
                        return;
                    }
                    let net = self.local(of.width(), near);
                    let whole = Expr::Net {
                        net,
                        width: of.width(),
                    };
                    let value = std::mem::replace(&mut **of, whole);
                    self.pending.push(Statement::Assign {
                        target: net,
                        value,
                        hold: false,
                    });
                }
            }
        }

        fn local(&mut self, width: u32, near: &str) -> NetId {
            let taken = |name: &str| {
                self.design.blocks[self.block]
                    .nets
                    .iter()
                    .any(|&net| self.design.nets[net].name == name)
            };
            let base = format!("{}_full", near.replace('.', "_"));
            let mut name = base.clone();
            let mut count = 1;
            while taken(&name) {
                count += 1;
                name = format!("{base}_{count}");
            }
            self.design.nets.push(Net {
                block: self.block,
                name,
                printed: String::new(),
                role: Role::Local,
                width,
                kind: Type::Bits,
                doc: String::new(),
                value: None,
                live: false,
            });
            let net = self.design.nets.len() - 1;
            self.design.blocks[self.block].nets.push(net);
            net
        }

        fn statements(&mut self, statements: &mut [Statement]) {
            for statement in statements {
                match statement {
                    Statement::Assign { target, value, .. } => {
                        let near = seen_from(self.design, self.block, *target);
                        self.expr(value, near.trim_end_matches(".d"));
                    }
                    Statement::If {
                        test,
                        then,
                        otherwise,
                    } => {
                        self.expr(test, "condition");
                        self.statements(then);
                        self.statements(otherwise);
                    }
                    Statement::Case {
                        test,
                        arms,
                        default,
                        ..
                    } => {
                        self.expr(test, "condition");
                        arms.iter_mut()
                            .for_each(|arm| self.statements(&mut arm.body));
                        self.statements(default);
                    }
                    Statement::Comment(_) => {}
                }
            }
        }
    }
    let statements = std::mem::take(&mut design.blocks[block].statements);
    let mut hoist = Hoist {
        design,
        block,
        pending: Vec::new(),
    };
    let mut out = Vec::new();
    // A comment stays in front of the statement that it was written for.
    let mut comments = Vec::new();
    for statement in statements {
        if matches!(statement, Statement::Comment(_)) {
            comments.push(statement);
            continue;
        }
        let mut statement = [statement];
        hoist.statements(&mut statement);
        out.append(&mut hoist.pending);
        out.append(&mut comments);
        out.extend(statement);
    }
    design.blocks[block].statements = out;
}

/// For every net that statements assign: the nets that decide its value.
fn dependencies(design: &Design) -> BTreeMap<NetId, BTreeSet<NetId>> {
    fn walk(
        statements: &[Statement],
        conditions: &mut Vec<NetId>,
        reads: &mut BTreeMap<NetId, BTreeSet<NetId>>,
    ) {
        for statement in statements {
            let before = conditions.len();
            match statement {
                Statement::Assign { target, value, .. } => {
                    let set = reads.entry(*target).or_default();
                    set.extend(conditions.iter().copied());
                    value.reads(&mut |net| {
                        set.insert(net);
                    });
                }
                Statement::If {
                    test,
                    then,
                    otherwise,
                } => {
                    test.reads(&mut |net| conditions.push(net));
                    walk(then, conditions, reads);
                    walk(otherwise, conditions, reads);
                }
                Statement::Case {
                    test,
                    arms,
                    default,
                    ..
                } => {
                    test.reads(&mut |net| conditions.push(net));
                    for arm in arms {
                        walk(&arm.body, conditions, reads);
                    }
                    walk(default, conditions, reads);
                }
                Statement::Comment(_) => {}
            }
            conditions.truncate(before);
        }
    }
    let mut reads = BTreeMap::new();
    for block in &design.blocks {
        walk(&block.statements, &mut Vec::new(), &mut reads);
    }
    reads
}

fn mark_live(design: &mut Design, reads: &BTreeMap<NetId, BTreeSet<NetId>>) {
    let mut work = Vec::new();
    for &net in &design.blocks[0].nets {
        match design.nets[net].role {
            Role::Output => work.push(net),
            // A pin of the top stays, but keeps nothing else alive.
            Role::Input => design.nets[net].live = true,
            _ => {}
        }
    }
    let mut seen = vec![false; design.nets.len()];
    while let Some(net) = work.pop() {
        if std::mem::replace(&mut seen[net], true) {
            continue;
        }
        design.nets[net].live = true;
        if design.nets[net].value.is_some() {
            continue;
        }
        if let Some(reads) = reads.get(&net) {
            work.extend(reads.iter().copied());
        }
        match design.nets[net].role {
            Role::RegisterQ(register) => {
                let register = &design.registers[register];
                work.push(register.d);
                work.extend(register.clock);
                work.extend(register.reset);
            }
            Role::MemoryOut(memory) => {
                let memory = &design.memories[memory];
                work.extend([
                    memory.read_address,
                    memory.write_enable,
                    memory.write_address,
                    memory.write_data,
                ]);
                work.extend(memory.clock);
            }
            _ => {}
        }
    }
    for block in 0..design.blocks.len() {
        design.blocks[block].live = block == 0
            || design.blocks[block]
                .nets
                .iter()
                .any(|&net| design.nets[net].role == Role::Output && design.nets[net].live);
    }
}

/// Whether the statements assign `net` on every path.
fn always_assigns(statements: &[Statement], net: NetId) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Assign { target, .. } => *target == net,
        Statement::If {
            then, otherwise, ..
        } => always_assigns(then, net) && always_assigns(otherwise, net),
        Statement::Case { arms, default, .. } => {
            arms.iter().all(|arm| always_assigns(&arm.body, net)) && always_assigns(default, net)
        }
        Statement::Comment(_) => false,
    })
}

fn check_driven(design: &Design) -> Result<()> {
    for (id, net) in design.nets.iter().enumerate() {
        if !net.live {
            continue;
        }
        let undriven = |block: BlockId, signal: String, hint: &str| ElabError::Undriven {
            block: design.blocks[block].path.clone(),
            signal,
            hint: hint.into(),
        };
        // Whose `update` has to assign it.
        let (driver, hint) = match net.role {
            Role::Input => match design.blocks[net.block].parent {
                Some(parent) => (parent, " of the parent: it is an input of a child block"),
                None => continue,
            },
            Role::Output | Role::Local | Role::MemoryIn(_) => (net.block, ""),
            Role::RegisterD(_) => (net.block, " or list the register in dff_setup!"),
            Role::RegisterQ(register) => {
                let register = &design.registers[register];
                if register.clock.is_none() {
                    return Err(undriven(
                        net.block,
                        format!("{}.clock", register.name),
                        ": list the register in dff_setup!(self, clk, ...)",
                    ));
                }
                continue;
            }
            Role::MemoryOut(memory) => {
                let memory = &design.memories[memory];
                if memory.clock.is_none() {
                    return Err(undriven(
                        net.block,
                        format!("{}.clock", memory.name),
                        ": list the memory in clock!(self, clk, ...)",
                    ));
                }
                continue;
            }
            Role::Constant
            | Role::RegisterClock(_)
            | Role::RegisterReset(_)
            | Role::MemoryClock(_) => continue,
        };
        let statements = &design.blocks[driver].statements;
        if always_assigns(statements, id) {
            continue;
        }
        let mut assigned = false;
        for_each_target(statements, &mut |target| assigned |= target == id);
        let signal = seen_from(design, driver, id);
        return Err(if assigned {
            ElabError::Latch {
                block: design.blocks[driver].path.clone(),
                signal,
            }
        } else {
            undriven(driver, signal, hint)
        });
    }
    Ok(())
}

fn check_loops(design: &Design, reads: &BTreeMap<NetId, BTreeSet<NetId>>) -> Result<()> {
    let mut graph = DiGraph::<NetId, ()>::new();
    let nodes: Vec<NodeIndex> = (0..design.nets.len())
        .map(|net| graph.add_node(net))
        .collect();
    for (&target, sources) in reads {
        if !design.nets[target].live {
            continue;
        }
        for &source in sources {
            graph.add_edge(nodes[source], nodes[target], ());
        }
    }
    for component in tarjan_scc(&graph) {
        let start = component[0];
        if component.len() == 1 && !graph.contains_edge(start, start) {
            continue;
        }
        let cycle = cycle_through(&graph, &component);
        let mut names: Vec<String> = cycle
            .into_iter()
            .map(|node| {
                let net = &design.nets[graph[node]];
                format!("{}.{}", design.blocks[net.block].path, net.name)
            })
            .collect();
        // Starts at the name that sorts first, so that the message is always the same.
        let first = (0..names.len()).min_by_key(|&at| &names[at]).unwrap_or(0);
        names.rotate_left(first);
        names.push(names[0].clone());
        return Err(ElabError::Loop {
            cycle: names.join(" -> "),
        });
    }
    Ok(())
}

/// A shortest cycle through the first node of a strongly connected component.
fn cycle_through(graph: &DiGraph<NetId, ()>, component: &[NodeIndex]) -> Vec<NodeIndex> {
    let start = component[0];
    let mut from: HashMap<NodeIndex, NodeIndex> = HashMap::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for next in graph.neighbors(node) {
            if next == start {
                let mut cycle = vec![node];
                let mut at = node;
                while at != start {
                    at = from[&at];
                    cycle.push(at);
                }
                cycle.reverse();
                return cycle;
            }
            if component.contains(&next) && !from.contains_key(&next) {
                from.insert(next, node);
                queue.push_back(next);
            }
        }
    }
    vec![start]
}

// ---------------------------------------------------------------------------- grouping

/// Groups the statements of every block by shared targets. A group is one process to a
/// simulator, so groups that would depend on each other in a circle, though no signal
/// does, are taken apart into one per target.
fn group(design: &mut Design) {
    let mut groups: Vec<(BlockId, Group)> = Vec::new();
    for (block, declared) in design.blocks.iter().enumerate() {
        if declared.live {
            groups.extend(
                connected(&declared.statements)
                    .into_iter()
                    .map(|group| (block, group)),
            );
        }
    }
    let mut writer = HashMap::new();
    for (index, (_, group)) in groups.iter().enumerate() {
        for &target in &group.targets {
            writer.insert(target, index);
        }
    }
    let mut graph = DiGraph::<usize, ()>::new();
    let nodes: Vec<NodeIndex> = (0..groups.len()).map(|at| graph.add_node(at)).collect();
    for (index, (_, group)) in groups.iter().enumerate() {
        for_each_expr(&group.statements, &mut |expr| {
            expr.reads(&mut |net| {
                if let Some(&source) = writer.get(&net) {
                    if source != index {
                        graph.update_edge(nodes[source], nodes[index], ());
                    }
                }
            });
        });
    }
    let mut apart = vec![false; groups.len()];
    for component in tarjan_scc(&graph) {
        if component.len() > 1 {
            for node in component {
                apart[graph[node]] = true;
            }
        }
    }
    for (index, (block, group)) in groups.into_iter().enumerate() {
        if !apart[index] || group.targets.len() == 1 {
            design.blocks[block].groups.push(group);
            continue;
        }
        for target in group.targets {
            let statements = retain(&group.statements, &|net| net == target);
            design.blocks[block].groups.push(Group {
                targets: vec![target],
                statements,
            });
        }
    }
}

/// Top-level statements joined where they share a target, in their order.
fn connected(statements: &[Statement]) -> Vec<Group> {
    struct Joined {
        targets: Vec<NetId>,
        places: Vec<usize>,
    }
    let mut groups: Vec<Joined> = Vec::new();
    for (place, statement) in statements.iter().enumerate() {
        let mut joined = Joined {
            targets: Vec::new(),
            places: vec![place],
        };
        for_each_target(std::slice::from_ref(statement), &mut |net| {
            if !joined.targets.contains(&net) {
                joined.targets.push(net);
            }
        });
        if joined.targets.is_empty() {
            continue;
        }
        let (shared, apart): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| group.targets.iter().any(|net| joined.targets.contains(net)));
        groups = apart;
        for group in shared {
            joined.places.extend(group.places);
            for net in group.targets {
                if !joined.targets.contains(&net) {
                    joined.targets.push(net);
                }
            }
        }
        joined.places.sort_unstable();
        groups.push(joined);
    }
    // The defaults of dff_setup! stand first, whatever comes of them.
    groups.sort_by_key(|group| {
        let is_written =
            |&&place: &&usize| !matches!(statements[place], Statement::Assign { hold: true, .. });
        group.places.iter().find(is_written).copied()
    });
    groups
        .into_iter()
        .map(|group| {
            let mut out = Vec::new();
            for place in group.places {
                // The comments above a statement go with it.
                let first = statements[..place]
                    .iter()
                    .rposition(|above| !matches!(above, Statement::Comment(_)))
                    .map_or(0, |above| above + 1);
                out.extend_from_slice(&statements[first..=place]);
            }
            let mut targets = group.targets;
            targets.sort_unstable();
            Group {
                targets,
                statements: out,
            }
        })
        .collect()
}
