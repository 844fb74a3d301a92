//! What happens to a design once its names are resolved: folding, dropping, checking,
//! grouping.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::error::{ElabError, Result};
use super::ir::{
    for_each_expr, for_each_target, retain, Arm, BlockId, Builder, Design, Expr, Group, Net, NetId,
    Role, Statement,
};
use super::values::Type;

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
pub(super) fn check_read_order(design: &Design, block: BlockId) -> Result<()> {
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

/// Makes constants of the registers that only ever hold their reset value and of the locals
/// that are assigned one number, and folds what becomes known with them, until nothing
/// changes.
pub(super) fn settle_constants(design: &mut Design) {
    loop {
        let mut known = Vec::new();
        let mut written = BTreeSet::new();
        for block in 0..design.blocks.len() {
            drop_overridden(design, block);
            let statements = &design.blocks[block].statements;
            mark_written(statements, &mut written);
            known.extend(fixed_locals(design, statements));
        }
        for register in &design.registers {
            if register.clock.is_some() && !written.contains(&register.d) {
                known.push((register.q, register.reset_value));
            }
        }
        known.retain(|&(net, _)| design.nets[net].value.is_none());
        if known.is_empty() {
            return;
        }
        for (net, value) in known {
            design.nets[net].value = Some(value);
        }
        for block in 0..design.blocks.len() {
            let statements = std::mem::take(&mut design.blocks[block].statements);
            let nets = &design.nets;
            let statements = retain(&statements, &|net| nets[net].value.is_none());
            design.blocks[block].statements = fold(nets, statements);
        }
    }
}

/// The locals whose one assignment is an unconditional number.
fn fixed_locals(design: &Design, statements: &[Statement]) -> Vec<(NetId, u128)> {
    let mut assignments: HashMap<NetId, usize> = HashMap::new();
    for_each_target(statements, &mut |net| {
        *assignments.entry(net).or_default() += 1
    });
    let mut fixed = Vec::new();
    for statement in statements {
        if let Statement::Assign { target, value, .. } = statement {
            if let (Role::Local, 1, Some(value)) = (
                design.nets[*target].role,
                assignments[target],
                value.constant(&design.nets),
            ) {
                fixed.push((*target, value));
            }
        }
    }
    fixed
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
pub(super) fn hoist_slices(design: &mut Design, block: BlockId) {
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

/// A block of which parts of expressions get names.
struct Hoist<'a> {
    design: &'a mut Design,
    block: BlockId,
    /// What gives them, for the statement under way.
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
            Expr::Select { test, yes, no } => {
                self.expr(test, near);
                self.expr(yes, near);
                self.expr(no, near);
            }
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

    /// A new signal, called after what it is `near`.
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
            formal: false,
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

/// For every net that statements assign: the nets that decide its value.
pub(super) fn dependencies(design: &Design) -> BTreeMap<NetId, BTreeSet<NetId>> {
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

impl Design {
    /// Whether an output of the top depends on an input, the clock aside, within a clock cycle.
    pub fn leads_through(&self) -> bool {
        let reads = dependencies(self);
        let top = &self.blocks[0].nets;
        let of_role = |role: Role| top.iter().filter(move |&&net| self.nets[net].role == role);
        let mut open: Vec<NetId> = of_role(Role::Output).copied().collect();
        let mut seen: BTreeSet<NetId> = open.iter().copied().collect();
        while let Some(net) = open.pop() {
            let next = reads.get(&net).into_iter().flatten();
            open.extend(next.filter(|&&net| seen.insert(net)));
        }
        of_role(Role::Input).any(|net| seen.contains(net) && self.nets[*net].kind != Type::Clock)
    }
}

/// Marks what the outputs of the top depend on, and then what the claims of the blocks
/// that are left depend on besides.
pub(super) fn mark_live(
    design: &mut Design,
    reads: &BTreeMap<NetId, BTreeSet<NetId>>,
) -> Result<()> {
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
    follow(design, reads, work, &mut seen);
    for block in 0..design.blocks.len() {
        design.blocks[block].live = block == 0
            || design.blocks[block]
                .nets
                .iter()
                .any(|&net| design.nets[net].role == Role::Output && design.nets[net].live);
    }
    let hardware: Vec<bool> = design.nets.iter().map(|net| net.live).collect();
    let mut work = Vec::new();
    for claim in design.registers.iter().filter(|it| it.claim.is_some()) {
        if design.blocks[claim.block].live && claim.clock.is_some() {
            work.push(claim.d);
            work.extend(claim.clock);
            work.extend(claim.reset);
        }
    }
    follow(design, reads, work, &mut seen);
    for (id, &was_live) in hardware.iter().enumerate() {
        let net = &mut design.nets[id];
        net.formal = net.live && !was_live;
        let below = design.blocks[net.block].parent.is_some() && net.role == Role::Output;
        if net.formal && (below || matches!(net.role, Role::Input | Role::MemoryOut(_))) {
            return Err(ElabError::Unsupported {
                block: design.blocks[net.block].path.clone(),
                what: format!(
                    "claims alone depend on `{}`: they may read what the hardware has, and \
                     registers and locals of their own",
                    net.name
                ),
            });
        }
    }
    Ok(())
}

/// Marks `work` and all that it depends on.
fn follow(
    design: &mut Design,
    reads: &BTreeMap<NetId, BTreeSet<NetId>>,
    mut work: Vec<NetId>,
    seen: &mut [bool],
) {
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
                work.extend(memory.inputs());
                // A memory has all of its pins.
                work.extend(memory.outputs());
                work.extend(memory.clock);
            }
            _ => {}
        }
    }
}

/// Hardware is connected through pins: the registers of other blocks are for claims alone.
pub(super) fn check_registers_are_own(design: &Design) -> Result<()> {
    for (id, block) in design.blocks.iter().enumerate() {
        let mut foreign = None;
        for group in block.groups.iter().filter(|group| !group.formal) {
            for_each_expr(&group.statements, &mut |expr| {
                expr.reads(&mut |net| {
                    let read = &design.nets[net];
                    if matches!(read.role, Role::RegisterQ(_)) && read.block != id {
                        foreign = Some(net);
                    }
                });
            });
        }
        if let Some(net) = foreign {
            return Err(ElabError::Unsupported {
                block: block.path.clone(),
                what: format!(
                    "`{}` is a register of another block, which claims alone may read: give \
                     that block an output",
                    seen_from(design, id, net)
                ),
            });
        }
    }
    Ok(())
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

pub(super) fn check_driven(design: &Design) -> Result<()> {
    for (id, net) in design.nets.iter().enumerate() {
        if !net.live || net.value.is_some() && net.role == Role::Local {
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
            Role::RegisterD(_) => (
                net.block,
                ": a block with registers is declared with a clock, `struct Name(clk, rst)`",
            ),
            Role::RegisterQ(register) => {
                let register = &design.registers[register];
                if register.clock.is_none() {
                    return Err(undriven(
                        net.block,
                        format!("{}.clock", register.name),
                        ": a block with registers is declared with a clock, `struct Name(clk, rst)`",
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
                        ": a block with memories is declared with a clock, `struct Name(clk, rst)`",
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

pub(super) fn check_loops(design: &Design, reads: &BTreeMap<NetId, BTreeSet<NetId>>) -> Result<()> {
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

/// Groups the statements of every block by shared targets. A group is one process to a
/// simulator, so groups that would depend on each other in a circle, though no signal
/// does, are taken apart into one per target.
pub(super) fn group(design: &mut Design) {
    let mut groups: Vec<(BlockId, Group)> = Vec::new();
    for (block, declared) in design.blocks.iter().enumerate() {
        if !declared.live {
            continue;
        }
        for formal in [false, true] {
            let nets = &design.nets;
            let statements = retain(&declared.statements, &|net| nets[net].formal == formal);
            groups.extend(
                connected(&statements, formal)
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
                formal: group.formal,
            });
        }
    }
}

/// Top-level statements joined where they share a target, in their order.
fn connected(statements: &[Statement], formal: bool) -> Vec<Group> {
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
                formal,
            }
        })
        .collect()
}
