//! From the syntax tree that `#[hdl_gen]` makes of `update` to statements on nets, with
//! one width for every expression.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rust_hdl_core::ast::{
    VerilogBlockOrConditional, VerilogConditional, VerilogExpression, VerilogLink, VerilogMatch,
    VerilogOp, VerilogOpUnary, VerilogStatement,
};

use super::error::{ElabError, Result};
use super::ir::{
    for_each_target, Arm, BlockId, Builder, Design, Expr, NetId, Operator, Reduction, Role,
    Statement,
};
use super::names;
use super::values::{Type, MAX_WIDTH};
use super::walk::{check_fits, literal, needed, Section, Source};

/// What stands for the statements of a section until they are resolved.
fn placeholder(section: usize) -> Statement {
    Statement::Comment(format!("\0{section}"))
}

/// How often a `for` loop may run at elaboration.
const MAX_LOOP: u128 = 65_536;

/// Clock pins of registers and memories, and the clocks they are connected to.
pub(super) type Clocks = Vec<(NetId, NetId)>;

/// Turns one block's syntax tree into statements.
pub(super) struct Resolver<'a> {
    design: &'a Design,
    block: BlockId,
    env: &'a HashMap<String, NetId>,
    numbers: &'a HashMap<String, u128>,
    /// Names and meanings by type.
    types: BTreeMap<&'a str, &'a [(String, String)]>,
    /// `Phase$Idle` to printed name, value, width.
    states: HashMap<String, (String, u128, u32)>,
    loops: HashMap<String, u128>,
    clocks: Clocks,
    depth: usize,
    /// Other names of nets, and of which, once `update` has told.
    aliases: HashMap<&'a str, Option<NetId>>,
    /// Those of them that a section assigns.
    outputs: BTreeSet<&'a str>,
    /// The nets that are told of to be such, in the statements under way.
    driven: BTreeSet<NetId>,
    sections: Vec<Placed<'a>>,
    /// What precedes the names that the present section writes.
    prefix: &'a str,
}

/// A section, and whether its place among the statements is known.
struct Placed<'a> {
    section: &'a Section,
    placed: bool,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(design: &'a Design, block: BlockId, source: &'a Source) -> Result<Self> {
        let env = &source.env;
        let mut types: BTreeMap<&str, &[(String, String)]> = BTreeMap::new();
        let mut states = HashMap::new();
        let is_foreign = |net: NetId| {
            let net = &design.nets[net];
            net.block != block && matches!(net.role, Role::RegisterQ(_))
        };
        let mut nets: Vec<NetId> = env.values().copied().collect();
        nets.sort_by_key(|&net| (is_foreign(net), net));
        for net in nets {
            let Type::State { name, variants } = &design.nets[net].kind else {
                continue;
            };
            match types.get(name.as_str()) {
                // Registers of blocks below are looked at when a claim reads them.
                Some(&known) if known != variants.as_slice() && !is_foreign(net) => {
                    return Err(two_sets(design, block, name));
                }
                Some(_) => continue,
                None => types.insert(name, variants),
            };
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
            numbers: &source.numbers,
            types,
            states,
            loops: HashMap::new(),
            clocks: Vec::new(),
            depth: 0,
            aliases: source
                .aliases
                .iter()
                .map(|alias| (alias.key.as_str(), None))
                .collect(),
            outputs: source
                .aliases
                .iter()
                .filter(|alias| alias.is_output)
                .map(|alias| alias.key.as_str())
                .collect(),
            driven: BTreeSet::new(),
            sections: source
                .sections
                .iter()
                .map(|section| Placed {
                    section,
                    placed: false,
                })
                .collect(),
            prefix: "",
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

    pub(super) fn body(mut self, source: &'a Source) -> Result<(Vec<Statement>, Clocks)> {
        let mut statements = self.whole(&source.body)?;
        // Behind the sections that no signal is told of, which stand first.
        let mut first = 0;
        for index in 0..self.sections.len() {
            let Section { key, body } = self.sections[index].section;
            self.prefix = key;
            let body = self.whole(body)?;
            let place = statements.iter().position(|it| *it == placeholder(index));
            let place = place.map_or(first..first, |place| place..place + 1);
            self.check_last(&body, &statements[place.end..])?;
            if place.start < first || place.is_empty() {
                first = first + body.len() - place.len();
            }
            statements.splice(place, body);
        }
        let is_hold = |it: &Statement| matches!(it, Statement::Assign { hold: true, .. });
        let (mut out, rest): (Vec<_>, Vec<_>) = statements.into_iter().partition(is_hold);
        out.extend(self.clocked(&rest));
        out.extend(rest);
        Ok((out, self.clocks))
    }

    /// In the simulation a section's statements run after those of the block, so that none of
    /// the block's may follow that assigns the same.
    fn check_last(&self, section: &[Statement], rest: &[Statement]) -> Result<()> {
        let mut assigned = BTreeSet::new();
        for_each_target(section, &mut |net| {
            assigned.insert(net);
        });
        let mut again = None;
        for_each_target(rest, &mut |net| again = again.or(assigned.get(&net)));
        match again {
            Some(&net) => self.unsupported(format!(
                "`{}` is assigned by a section, and after it by the block that has the section: \
                 assign it before",
                self.design.nets[net].name
            )),
            None => Ok(()),
        }
    }

    /// Connects registers, memories and children to the block's own clock and reset, and
    /// makes registers hold their values, but for what `update` has connected itself.
    fn clocked(&mut self, statements: &[Statement]) -> Vec<Statement> {
        let declared = &self.design.blocks[self.block];
        let own = |name: &str| {
            let mut nets = declared.nets.iter().copied();
            nets.find(|&net| self.design.nets[net].name == name)
        };
        let builder = self.builder();
        let mut out = Vec::new();
        let clk = own("clk").filter(|&net| self.design.nets[net].kind == Type::Clock);
        if let Some(clk) = clk {
            for (net, pin) in self.design.nets.iter().enumerate() {
                let known = self.clocks.iter().any(|&(known, _)| known == net);
                let takes_clock = matches!(pin.role, Role::RegisterClock(_) | Role::MemoryClock(_));
                if pin.block != self.block || !takes_clock || known {
                    continue;
                }
                self.clocks.push((net, clk));
                if let Role::RegisterClock(register) = pin.role {
                    let register = &self.design.registers[register];
                    out.push(Statement::Assign {
                        target: register.d,
                        value: builder.net(register.q),
                        hold: true,
                    });
                }
            }
        }
        let mut assigned = BTreeSet::new();
        for_each_target(statements, &mut |net| {
            assigned.insert(net);
        });
        for &child in &declared.children {
            for &pin in &self.design.blocks[child].nets {
                let name = self.design.nets[pin].name.as_str();
                if let (Some(source), false) = (
                    own(name).filter(|_| name == "clk" || name == "rst"),
                    assigned.contains(&pin),
                ) {
                    out.push(Statement::Assign {
                        target: pin,
                        value: builder.net(source),
                        hold: false,
                    });
                }
            }
        }
        out
    }

    /// Notes of which net a name is another one. The first such name of a section is the
    /// place of its statements.
    fn alias(
        &mut self,
        name: &str,
        value: &VerilogExpression,
        out: &mut Vec<Statement>,
    ) -> Result<()> {
        let written = name.replace('$', ".");
        if self.depth > 0 {
            return self.unsupported(format!(
                "`{written}` is another name of a signal: assign it outside of every condition"
            ));
        }
        let VerilogExpression::Signal(source) = value else {
            return self.unsupported(format!(
                "`{written}` is another name of a signal: assign it one, not `{}`",
                describe(value)
            ));
        };
        let net = self.lookup(source)?;
        self.tell(name, net, out)
    }

    /// Notes which net an output of a section is another name of.
    fn output(&mut self, name: &str, target: &str, out: &mut Vec<Statement>) -> Result<()> {
        let written = name.replace('$', ".");
        let net = self.net(target)?;
        let is_register = matches!(self.design.nets[net].role, Role::RegisterD(_));
        if self.depth > 0 || is_register {
            return self.unsupported(format!(
                "`{written}` is another name of what it is assigned to: assign it to a signal, \
                 outside of every condition"
            ));
        }
        self.driven.insert(net);
        self.tell(name, net, out)
    }

    fn tell(&mut self, name: &str, net: NetId, out: &mut Vec<Statement>) -> Result<()> {
        for index in 0..self.sections.len() {
            let place = &mut self.sections[index];
            if !place.placed && name.starts_with(&place.section.key) {
                place.placed = true;
                out.push(placeholder(index));
            }
        }
        match self.aliases.get_mut(name) {
            Some(known @ None) => *known = Some(net),
            _ => {
                return Err(ElabError::DoublyDriven {
                    block: self.path(),
                    signal: name.replace('$', "."),
                    by: "it is another name of two signals".into(),
                })
            }
        }
        Ok(())
    }

    /// The statements of a block or of a section.
    fn whole(&mut self, body: &[VerilogStatement]) -> Result<Vec<Statement>> {
        self.driven.clear();
        let statements = self.statements(body)?;
        let mut doubly = None;
        for_each_target(&statements, &mut |net| {
            doubly = doubly.or(self.driven.get(&net).copied());
        });
        match doubly {
            Some(net) => Err(ElabError::DoublyDriven {
                block: self.path(),
                signal: self.design.nets[net].name.clone(),
                by: "an output of a section drives it, and `update` assigns it".into(),
            }),
            None => Ok(statements),
        }
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
            VerilogStatement::Assignment(target, value) => self.assign(target, value, out)?,
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
            VerilogStatement::Link(links) => {
                for link in links {
                    let (target, source) = match link {
                        VerilogLink::Forward(link) => (&link.other_name, &link.owner_name),
                        VerilogLink::Backward(link) | VerilogLink::Bidirectional(link) => {
                            (&link.owner_name, &link.other_name)
                        }
                    };
                    let (VerilogLink::Forward(pin)
                    | VerilogLink::Backward(pin)
                    | VerilogLink::Bidirectional(pin)) = link;
                    let signal = |of: &str, side: &str| {
                        VerilogExpression::Signal(format!("{of}${}{side}", pin.my_name))
                    };
                    self.assign(&signal(target, "$next"), &signal(source, ""), out)?;
                }
            }
        }
        Ok(())
    }

    /// `name[i]$pin` with the value of the index put in: `name$2$pin`.
    fn name(&self, text: &str) -> Result<String> {
        let mut out = self.prefix.to_string();
        let mut rest = text;
        while let Some(open) = rest.find('[') {
            let Some(length) = rest[open..].find(']') else {
                break;
            };
            let index = &rest[open + 1..open + length];
            let number = |text: &str| -> Option<u128> {
                let named = self.loops.get(text);
                let named = named.or_else(|| self.numbers.get(&format!("{}{text}", self.prefix)));
                match named {
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
                    "the index of `{}` must be a number, one of the block's, a loop variable, or their sum or difference",
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
        self.net(&self.name(name)?)
    }

    /// The net that the block calls by that name.
    fn net(&self, name: &str) -> Result<NetId> {
        if let Some(Some(net)) = self.aliases.get(name) {
            return Ok(*net);
        }
        self.env
            .get(name)
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
        if !self.prefix.is_empty() {
            return self.unsupported(
                "dff_setup! and clock! stand in the `update` of the block, not of a section",
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

    fn assign(
        &mut self,
        target: &VerilogExpression,
        value: &VerilogExpression,
        out: &mut Vec<Statement>,
    ) -> Result<()> {
        if let VerilogExpression::Signal(name) = target {
            let name = self.name(name.trim_end_matches("$next"))?;
            let is_output = self.outputs.contains(name.as_str());
            if self.aliases.contains_key(name.as_str()) && !is_output {
                return self.alias(&name, value, out);
            }
            if let VerilogExpression::Signal(source) = value {
                let source = self.name(source)?;
                let is_open = self.aliases.get(source.as_str()) == Some(&None);
                if is_open && self.outputs.contains(source.as_str()) {
                    return self.output(&source, &name, out);
                }
            }
        }
        out.push(self.assignment(target, value)?);
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
                number if number.parse::<u128>().is_ok() => {
                    let value = number.parse().unwrap_or(u128::MAX);
                    check_fits(&self.path(), "the case", value, width)?;
                    (format!("{width}'d{value}"), value)
                }
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
                if let Type::State { name, variants } = &self.design.nets[net].kind {
                    if self.types.get(name.as_str()) != Some(&variants.as_slice()) {
                        return Err(two_sets(self.design, self.block, name));
                    }
                }
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
                    "`{}`: `{}` and `{}`",
                    op.symbol(),
                    describe(left),
                    describe(right)
                ),
                left: a.width(),
                right: b.width(),
            });
        }
        Ok(builder.binary(op, a, b))
    }
}

fn two_sets(design: &Design, block: BlockId, name: &str) -> ElabError {
    ElabError::NameCollision {
        block: design.blocks[block].path.clone(),
        name: name.into(),
        first: "one set of states".into(),
        second: "another".into(),
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

pub(super) fn connect_clock(design: &mut Design, pin: NetId, clock: NetId) {
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
