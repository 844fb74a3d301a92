//! Wrong versions of a design, each with one fault: what a check of the hardware has to find.
//!
//! A fault is made in the netlist, where every expression has a width, so that each version is
//! Verilog that tools accept. It is made in a module: all its instances have it. Several
//! versions can be printed as one design with an input that chooses between them, which is
//! compiled once ([`choosable`]); one version alone is [`single`].

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::ir::{
    Arm, BlockId, Design, Expr, Group, Net, NetId, Operator, Reduction, Role, Statement,
};
use super::module::Module;
use super::passes::{check_loops, dependencies};
use super::values::{mask, Type};
use super::verilog::module_names;

/// The input that chooses a version; 0 is the design as it is.
pub const SELECTOR: &str = "mutant";

/// Bits of [`SELECTOR`].
pub const SELECTOR_WIDTH: u32 = 16;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Another operator, or one too many or too few.
    Operator,
    /// One of two operands alone.
    Operand,
    /// A number, or a state, that is another.
    Constant,
    /// Neighbouring bits.
    Slice,
    /// A condition that always holds, never, or when it should not.
    Condition,
    /// A signal that is always 0 or always 1.
    Stuck,
    /// An assignment that is missing.
    Statement,
    /// A register that reset makes something else, or leaves as it is.
    Reset,
    /// Two operands, or two inputs of an instance, in each other's place.
    Swap,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 9] = [
        Kind::Operator,
        Kind::Operand,
        Kind::Constant,
        Kind::Slice,
        Kind::Condition,
        Kind::Stuck,
        Kind::Statement,
        Kind::Reset,
        Kind::Swap,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Operator => "operator",
            Kind::Operand => "operand",
            Kind::Constant => "constant",
            Kind::Slice => "slice",
            Kind::Condition => "condition",
            Kind::Stuck => "stuck",
            Kind::Statement => "statement",
            Kind::Reset => "reset",
            Kind::Swap => "swap",
        }
    }
}

/// One version of the design with one fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mutant {
    /// The module that has the fault, without the prefix of the configuration.
    pub module: String,
    /// What is wrong.
    pub kind: Kind,
    /// The signal, register or instance that is made of it.
    pub place: String,
    /// What the Verilog says there.
    pub from: String,
    /// What it says instead.
    pub to: String,
    /// Where in the module, counted in a fixed order, and which of the faults there.
    site: usize,
    variant: usize,
}

impl Mutant {
    /// In a line.
    pub fn text(&self) -> String {
        format!(
            "{}.v, {}: {} -> {}",
            self.module, self.place, self.from, self.to
        )
    }
}

/// Every version of `design` with one fault, module by module.
pub fn mutants(design: &Design) -> Vec<Mutant> {
    let mut found = Vec::new();
    for (name, blocks) in modules(design) {
        let mut list = List {
            module: name,
            mutants: Vec::new(),
        };
        rewrite(&mut design.clone(), blocks[0], &mut list);
        found.append(&mut list.mutants);
    }
    // Signals that are exchanged may close a circle: no such design is emitted.
    found.retain(|mutant| {
        mutant.kind != Kind::Swap || {
            let wrong = single(design, mutant);
            check_loops(&wrong, &dependencies(&wrong)).is_ok()
        }
    });
    found
}

/// The design with an input [`SELECTOR`] at its top: with `n` there it has the fault of
/// `chosen[n - 1]`, with 0 none.
///
/// # Panics
/// If there are more than the selector can tell.
pub fn choosable(design: &Design, chosen: &[Mutant]) -> Design {
    assert!(chosen.len() < 1 << SELECTOR_WIDTH, "too many faults");
    let mut wrong = design.clone();
    let selectors = add_selectors(&mut wrong);
    for (name, blocks) in modules(design) {
        let mut faults = Faults::default();
        for (at, mutant) in chosen.iter().enumerate() {
            if mutant.module == name {
                faults.add(mutant, at as u128 + 1);
            }
        }
        for block in blocks {
            let mut pick = Pick {
                faults: &faults,
                selector: Some(selectors[&block]),
            };
            rewrite(&mut wrong, block, &mut pick);
        }
    }
    wrong
}

/// The design with this fault.
pub fn single(design: &Design, mutant: &Mutant) -> Design {
    let mut wrong = design.clone();
    let mut faults = Faults::default();
    faults.add(mutant, 0);
    for (name, blocks) in modules(design) {
        for block in blocks.into_iter().filter(|_| mutant.module == name) {
            let mut pick = Pick {
                faults: &faults,
                selector: None,
            };
            rewrite(&mut wrong, block, &mut pick);
        }
    }
    wrong
}

/// The modules by name, each with the blocks that are instances of it.
fn modules(design: &Design) -> BTreeMap<String, Vec<BlockId>> {
    let mut modules: BTreeMap<String, Vec<BlockId>> = BTreeMap::new();
    for (block, name) in module_names(design) {
        modules.entry(name).or_default().push(block);
    }
    for blocks in modules.values_mut() {
        blocks.sort_unstable();
    }
    modules
}

/// Gives every block the input [`SELECTOR`], connected through from the top.
fn add_selectors(design: &mut Design) -> HashMap<BlockId, NetId> {
    let mut selectors = HashMap::new();
    for block in 0..design.blocks.len() {
        if !design.blocks[block].live {
            continue;
        }
        let net = add_net(
            design,
            block,
            SELECTOR,
            Role::Input,
            SELECTOR_WIDTH,
            "which fault the design has; 0: none",
        );
        selectors.insert(block, net);
        if let Some(parent) = design.blocks[block].parent {
            let value = net_of(design, selectors[&parent]);
            push_assign(design, parent, net, value);
        }
    }
    selectors
}

fn add_net(
    design: &mut Design,
    block: BlockId,
    name: &str,
    role: Role,
    width: u32,
    doc: &str,
) -> NetId {
    let net = design.nets.len();
    design.nets.push(Net {
        block,
        name: name.into(),
        printed: name.into(),
        role,
        width,
        kind: Type::Bits,
        doc: doc.into(),
        value: None,
        live: true,
        formal: false,
    });
    design.blocks[block].nets.push(net);
    net
}

fn net_of(design: &Design, net: NetId) -> Expr {
    Expr::Net {
        net,
        width: design.nets[net].width,
    }
}

fn push_assign(design: &mut Design, block: BlockId, target: NetId, value: Expr) {
    design.blocks[block].groups.push(Group {
        targets: vec![target],
        statements: vec![Statement::Assign {
            target,
            value,
            hold: false,
        }],
        formal: false,
    });
}

fn literal(value: u128, width: u32) -> Expr {
    Expr::Literal {
        value: value & mask(width),
        width,
    }
}

/// The faults of one module: which of them at a site, by the number that chooses each.
#[derive(Default)]
struct Faults(HashMap<usize, Vec<(usize, u128)>>);

impl Faults {
    fn add(&mut self, mutant: &Mutant, number: u128) {
        let at = self.0.entry(mutant.site).or_default();
        at.push((mutant.variant, number));
    }
}

/// What is told of a fault when all are listed.
struct Offer {
    kind: Kind,
    place: String,
    from: String,
    to: String,
}

/// What happens at a site.
trait Sites {
    /// The faults that a site can have; `offers` tells of them.
    fn offer(&mut self, site: usize, offers: &mut dyn FnMut() -> Vec<Offer>);

    /// Those that it is to have: the variant, and the condition under which; `None` is always.
    fn at(&self, design: &Design, site: usize) -> Vec<(usize, Option<Expr>)>;
}

/// Lists all faults.
struct List {
    module: String,
    mutants: Vec<Mutant>,
}

impl Sites for List {
    fn offer(&mut self, site: usize, offers: &mut dyn FnMut() -> Vec<Offer>) {
        for (variant, offer) in offers().into_iter().enumerate() {
            self.mutants.push(Mutant {
                module: self.module.clone(),
                kind: offer.kind,
                place: offer.place,
                from: offer.from,
                to: offer.to,
                site,
                variant,
            });
        }
    }

    fn at(&self, _: &Design, _: usize) -> Vec<(usize, Option<Expr>)> {
        Vec::new()
    }
}

/// Makes some of them.
struct Pick<'a> {
    faults: &'a Faults,
    selector: Option<NetId>,
}

impl Sites for Pick<'_> {
    fn offer(&mut self, _: usize, _: &mut dyn FnMut() -> Vec<Offer>) {}

    fn at(&self, design: &Design, site: usize) -> Vec<(usize, Option<Expr>)> {
        let faults = self.faults.0.get(&site).into_iter().flatten();
        let condition = |number: u128| {
            self.selector.map(|net| Expr::Binary {
                op: Operator::Eq,
                left: Box::new(net_of(design, net)),
                right: Box::new(literal(number, SELECTOR_WIDTH)),
            })
        };
        faults
            .map(|&(variant, number)| (variant, condition(number)))
            .collect()
    }
}

/// `yes` where `condition` holds, or always.
fn choose(condition: Option<Expr>, yes: Expr, no: Expr) -> Expr {
    match condition {
        None => yes,
        Some(test) => Expr::Select {
            test: Box::new(test),
            yes: Box::new(yes),
            no: Box::new(no),
        },
    }
}

/// Goes through the sites of a block, always in the same order, and makes the faults.
fn rewrite(design: &mut Design, block: BlockId, sites: &mut dyn Sites) {
    let original = design.clone();
    let mut walk = Walk {
        design: &original,
        printer: Module::new(&original, block),
        sites,
        site: 0,
        place: String::new(),
        defaults: HashSet::new(),
    };
    let mut groups = Vec::new();
    for group in &original.blocks[block].groups {
        if group.formal || is_selector(&original, group) {
            groups.push(group.clone());
            continue;
        }
        walk.defaults.clear();
        let statements = walk.statements(&group.statements, true);
        groups.push(Group {
            statements,
            ..group.clone()
        });
    }
    let mut site = walk.site;
    let swaps = swaps(&original, block);
    let swapped: Vec<_> = swaps
        .iter()
        .map(|&(first, second)| {
            let (a, b) = (
                driver(&original, block, first),
                driver(&original, block, second),
            );
            sites.offer(site, &mut || {
                let printer = Module::new(&original, block);
                let text = |of: Option<&Expr>| of.map_or(String::new(), |of| printer.expr(of));
                let pin = |net: NetId| format!(".{}", original.nets[net].printed);
                vec![Offer {
                    kind: Kind::Swap,
                    place: original.blocks[original.nets[first].block].name.clone(),
                    from: format!("{}({}), {}({})", pin(first), text(a), pin(second), text(b)),
                    to: format!("{}({}), {}({})", pin(first), text(b), pin(second), text(a)),
                }]
            });
            let chosen = sites.at(&original, site);
            site += 1;
            (first, second, a.cloned(), b.cloned(), chosen)
        })
        .collect();
    for (first, second, a, b, chosen) in swapped {
        let (Some(a), Some(b)) = (a, b) else { continue };
        for (_, condition) in chosen {
            for (target, other) in [(first, &b), (second, &a)] {
                for group in groups.iter_mut().filter(|it| it.targets == [target]) {
                    if let Some(Statement::Assign { value, .. }) = group.statements.last_mut() {
                        *value = choose(condition.clone(), other.clone(), value.clone());
                    }
                }
            }
        }
    }
    design.blocks[block].groups = groups;
    for &register in &original.blocks[block].registers {
        reset_faults(design, &original, block, register, &mut site, sites);
    }
}

/// The connection of a [`SELECTOR`].
fn is_selector(design: &Design, group: &Group) -> bool {
    design.nets[group.targets[0]].name == SELECTOR
}

/// What a pin of a child is connected to, if that is one unconditional assignment.
fn driver(design: &Design, block: BlockId, pin: NetId) -> Option<&Expr> {
    let mut groups = design.blocks[block].groups.iter();
    let group = groups.find(|group| group.targets == [pin] && group.is_plain())?;
    match group.statements.last() {
        Some(Statement::Assign { value, .. }) => Some(value),
        _ => None,
    }
}

/// Neighbouring inputs of the children that have the same width and are connected differently.
fn swaps(design: &Design, block: BlockId) -> Vec<(NetId, NetId)> {
    let mut pairs = Vec::new();
    for &child in &design.blocks[block].children {
        let mut by_width: HashMap<u32, NetId> = HashMap::new();
        for &net in &design.blocks[child].nets {
            let pin = &design.nets[net];
            let is_common = ["clk", "rst", SELECTOR].contains(&pin.name.as_str());
            if pin.role != Role::Input || !pin.live || is_common {
                continue;
            }
            let Some(value) = driver(design, block, net) else {
                continue;
            };
            if let Some(before) = by_width.insert(pin.width, net) {
                if driver(design, block, before) != Some(value) {
                    pairs.push((before, net));
                }
            }
        }
    }
    pairs
}

/// The faults of a register's reset: another value, and none.
fn reset_faults(
    design: &mut Design,
    original: &Design,
    block: BlockId,
    register: usize,
    site: &mut usize,
    sites: &mut dyn Sites,
) {
    let declared = &original.registers[register];
    if declared.votes {
        return;
    }
    let q = &original.nets[declared.q];
    let (Some(reset), true) = (declared.reset, q.live && !q.formal && q.value.is_none()) else {
        return;
    };
    let wrong = (declared.reset_value ^ 1) & mask(q.width);
    let name = q.printed.clone();
    sites.offer(*site, &mut || {
        let offer = |from: String, to: String| Offer {
            kind: Kind::Reset,
            place: name.clone(),
            from,
            to,
        };
        vec![
            offer(
                format!("reset to {}", declared.reset_value),
                format!("reset to {wrong}"),
            ),
            offer("reset".into(), "not reset".into()),
        ]
    });
    let chosen = sites.at(original, *site);
    *site += 1;
    if chosen.is_empty() {
        return;
    }
    // The register has a reset of its own, and what it should hold then is among what it takes.
    let own = add_net(
        design,
        block,
        &format!("rst_of_{name}"),
        Role::Local,
        1,
        "the reset of a register, or not",
    );
    let mut value = net_of(original, reset);
    for (variant, condition) in chosen {
        if variant == 0 {
            let in_reset = net_of(original, reset);
            let test = match &condition {
                None => in_reset,
                Some(condition) => Expr::Binary {
                    op: Operator::And,
                    left: Box::new(condition.clone()),
                    right: Box::new(in_reset),
                },
            };
            let statement = Statement::If {
                test,
                then: vec![Statement::Assign {
                    target: declared.d,
                    value: literal(wrong, q.width),
                    hold: false,
                }],
                otherwise: Vec::new(),
            };
            let groups = design.blocks[block].groups.iter_mut();
            for group in groups.filter(|group| group.targets.contains(&declared.d)) {
                group.statements.push(statement.clone());
            }
        }
        value = choose(condition, Expr::bit(false), value);
    }
    push_assign(design, block, own, value);
    design.registers[register].reset = Some(own);
}

/// A walk through the statements of a block.
struct Walk<'a> {
    design: &'a Design,
    printer: Module<'a>,
    sites: &'a mut dyn Sites,
    site: usize,
    /// What is assigned.
    place: String,
    /// Signals that have a value already, whatever follows.
    defaults: HashSet<NetId>,
}

impl Walk<'_> {
    fn statements(&mut self, statements: &[Statement], top: bool) -> Vec<Statement> {
        let mut out = Vec::new();
        for statement in statements {
            match statement {
                Statement::Comment(_) => out.push(statement.clone()),
                Statement::Assign {
                    target,
                    value,
                    hold,
                } => {
                    if !hold {
                        out.extend(self.assignment(*target, value));
                    } else {
                        out.push(statement.clone());
                    }
                    if top {
                        self.defaults.insert(*target);
                    }
                }
                Statement::If {
                    test,
                    then,
                    otherwise,
                } => {
                    self.place = "if".into();
                    let test = self.expr(test, true);
                    let then = self.statements(then, false);
                    let otherwise = self.statements(otherwise, false);
                    if !then.is_empty() || !otherwise.is_empty() {
                        out.push(Statement::If {
                            test,
                            then,
                            otherwise,
                        });
                    }
                }
                Statement::Case {
                    test,
                    arms,
                    default,
                    default_state,
                } => {
                    self.place = "case".into();
                    let test = self.expr(test, false);
                    let arms = arms
                        .iter()
                        .map(|arm| Arm {
                            body: self.statements(&arm.body, false),
                            ..arm.clone()
                        })
                        .collect();
                    out.push(Statement::Case {
                        test,
                        arms,
                        default: self.statements(default, false),
                        default_state: default_state.clone(),
                    });
                }
            }
        }
        out
    }

    fn assignment(&mut self, target: NetId, value: &Expr) -> Vec<Statement> {
        let name = self.printer.name(target);
        let site = self.next_site();
        let can_be_missing = self.defaults.contains(&target);
        self.place.clone_from(&name);
        let printer = &self.printer;
        self.sites.offer(site, &mut || {
            let missing = Offer {
                kind: Kind::Statement,
                place: name.clone(),
                from: format!("{name} = {}", printer.expr(value)),
                to: "nothing".into(),
            };
            if can_be_missing {
                vec![missing]
            } else {
                Vec::new()
            }
        });
        let chosen = self.sites.at(self.design, site);
        let assign = Statement::Assign {
            target,
            value: self.expr(value, value.width() == 1),
            hold: false,
        };
        let mut out = vec![assign];
        for (_, condition) in chosen {
            match condition {
                None => out.clear(),
                Some(test) => {
                    out = vec![Statement::If {
                        test: Expr::Not(Box::new(test)),
                        then: out,
                        otherwise: Vec::new(),
                    }];
                }
            }
        }
        out
    }

    fn next_site(&mut self) -> usize {
        self.site += 1;
        self.site - 1
    }

    /// An expression, which decides something if it is `decisive`: a condition, or all that one
    /// bit is.
    fn expr(&mut self, expr: &Expr, decisive: bool) -> Expr {
        let site = self.next_site();
        let wrong = wrong_versions(self.design, expr, decisive, &self.place);
        let (printer, place) = (&self.printer, &self.place);
        self.sites.offer(site, &mut || {
            let from = printer.expr(expr);
            wrong
                .iter()
                .map(|(kind, wrong)| Offer {
                    kind: *kind,
                    place: place.clone(),
                    from: from.clone(),
                    to: printer.expr(wrong),
                })
                .collect()
        });
        let chosen = self.sites.at(self.design, site);
        let mut out = self.inside(expr);
        for (variant, condition) in chosen {
            out = choose(condition, wrong[variant].1.clone(), out);
        }
        out
    }

    /// The expression with the faults of its operands. What Verilog takes of a signal alone, a
    /// part of it, stays as it is.
    fn inside(&mut self, expr: &Expr) -> Expr {
        match expr {
            Expr::Literal { .. }
            | Expr::State { .. }
            | Expr::Net { .. }
            | Expr::Slice { .. }
            | Expr::Select { .. } => expr.clone(),
            Expr::Not(of) => Expr::Not(Box::new(self.expr(of, false))),
            Expr::Reduce(reduction, of) => Expr::Reduce(*reduction, Box::new(self.expr(of, false))),
            Expr::Binary { op, left, right } => Expr::Binary {
                op: *op,
                left: Box::new(self.expr(left, false)),
                right: Box::new(self.expr(right, false)),
            },
            Expr::Extend { of, width } => Expr::Extend {
                of: Box::new(self.expr(of, false)),
                width: *width,
            },
            Expr::BitAt { net, index } => Expr::BitAt {
                net: *net,
                index: Box::new(self.expr(index, false)),
            },
            Expr::Concat(parts) => {
                Expr::Concat(parts.iter().map(|part| self.expr(part, false)).collect())
            }
        }
    }
}

/// What may stand in place of an expression, of the same width.
fn wrong_versions(design: &Design, expr: &Expr, decisive: bool, place: &str) -> Vec<(Kind, Expr)> {
    let width = expr.width();
    let mut wrong = Vec::new();
    if decisive && !matches!(expr, Expr::Literal { .. }) {
        let kind = match place {
            "if" => Kind::Condition,
            _ => Kind::Stuck,
        };
        wrong.push((kind, Expr::bit(false)));
        wrong.push((kind, Expr::bit(true)));
    }
    let number = |value: u128| {
        let near = [value.wrapping_add(1), value.wrapping_sub(1)].map(|near| near & mask(width));
        let near = if near[0] == near[1] {
            &near[..1]
        } else {
            &near
        };
        near.iter()
            .map(|&near| (Kind::Constant, literal(near, width)))
            .collect::<Vec<_>>()
    };
    match expr {
        Expr::Literal { value, .. } => wrong.extend(number(*value)),
        Expr::State { value, .. } => wrong.extend(number(*value).into_iter().take(1)),
        Expr::Net { net, .. } => match design.nets[*net].value {
            Some(value) => wrong.extend(number(value)),
            None if width == 1 => wrong.push((Kind::Operator, Expr::Not(Box::new(expr.clone())))),
            None => {}
        },
        Expr::Not(of) => wrong.push((Kind::Operator, (**of).clone())),
        Expr::Reduce(reduction, of) => {
            let other = match reduction {
                Reduction::All | Reduction::Xor => Reduction::Any,
                Reduction::Any => Reduction::All,
            };
            wrong.push((Kind::Operator, Expr::Reduce(other, of.clone())));
        }
        Expr::Binary { op, left, right } => {
            for &other in others(*op) {
                wrong.push((
                    Kind::Operator,
                    Expr::Binary {
                        op: other,
                        left: left.clone(),
                        right: right.clone(),
                    },
                ));
            }
            if !op.is_comparison() {
                wrong.push((Kind::Operand, (**left).clone()));
            }
            if !op.is_comparison() && !op.is_shift() {
                wrong.push((Kind::Operand, (**right).clone()));
            }
            if *op == Operator::Sub && left != right {
                wrong.push((
                    Kind::Swap,
                    Expr::Binary {
                        op: *op,
                        left: right.clone(),
                        right: left.clone(),
                    },
                ));
            }
        }
        Expr::Slice { of, low, width } => {
            let slice = |low: u32| {
                let of = of.clone();
                (
                    Kind::Slice,
                    Expr::Slice {
                        of,
                        low,
                        width: *width,
                    },
                )
            };
            if low + width < of.width() {
                wrong.push(slice(low + 1));
            }
            if *low > 0 {
                wrong.push(slice(low - 1));
            }
        }
        Expr::Concat(parts) => {
            for (at, pair) in parts.windows(2).enumerate() {
                if pair[0].width() == pair[1].width() && pair[0] != pair[1] {
                    let mut parts = parts.clone();
                    parts.swap(at, at + 1);
                    wrong.push((Kind::Swap, Expr::Concat(parts)));
                }
            }
        }
        Expr::Extend { .. } | Expr::BitAt { .. } | Expr::Select { .. } => {}
    }
    wrong
}

/// The operators that are mistaken for this one.
fn others(op: Operator) -> &'static [Operator] {
    match op {
        Operator::Add | Operator::Mul => &[Operator::Sub],
        Operator::Sub => &[Operator::Add],
        Operator::And => &[Operator::Or],
        Operator::Or => &[Operator::And, Operator::Xor],
        Operator::Xor => &[Operator::Or],
        Operator::LogicalAnd => &[Operator::LogicalOr],
        Operator::LogicalOr => &[Operator::LogicalAnd],
        Operator::Shl => &[Operator::Shr],
        Operator::Shr => &[Operator::Shl],
        Operator::Eq => &[Operator::Ne, Operator::Ge],
        Operator::Ne => &[Operator::Eq],
        Operator::Lt => &[Operator::Le, Operator::Ge],
        Operator::Le => &[Operator::Lt, Operator::Gt],
        Operator::Gt => &[Operator::Ge, Operator::Le],
        Operator::Ge => &[Operator::Gt, Operator::Lt],
    }
}
