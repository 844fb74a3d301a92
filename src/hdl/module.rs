//! The text of one module: of a block, or of the checker beside it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use super::ir::{
    for_each_expr, Block, BlockId, Design, Expr, Group, NetId, Operator, Reduction, Register, Role,
    Statement,
};
use super::names::{self, instance, seen};
use super::values::{mask, Type};

/// The width that lines keep to where they can.
pub(super) const COLUMNS: usize = 100;

pub(super) fn push_comment(out: &mut String, indent: &str, line: &str) {
    out.push_str(indent);
    out.push_str("//");
    if !line.is_empty() {
        out.push(' ');
        // A backslash at the end would continue the comment into the next line.
        out.push_str(line.trim_end_matches(['\\', ' ']));
    }
    out.push('\n');
}

/// Breaks long lines between words.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.lines() {
        let mut current = String::new();
        for word in line.split_whitespace() {
            if !current.is_empty() && current.len() + 1 + word.len() > columns {
                out.push(std::mem::take(&mut current));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        out.push(current);
    }
    out
}

/// `[7:0]`, or nothing for one wire.
fn range(width: u32) -> String {
    match width {
        1 => String::new(),
        _ => format!("[{}:0]", width - 1),
    }
}

fn literal(value: u128, width: u32) -> String {
    if width == 1 {
        format!("1'b{value}")
    } else if value <= u128::from(u32::MAX) {
        format!("{width}'d{value}")
    } else {
        format!("{width}'h{value:x}")
    }
}

/// Declarations with their comments in columns.
#[derive(Default)]
struct Table {
    rows: Vec<(String, String)>,
}

impl Table {
    fn row(&mut self, code: String, doc: &str) {
        self.rows
            .push((code, doc.split_whitespace().collect::<Vec<_>>().join(" ")));
    }

    fn print(&self, out: &mut String, indent: &str) {
        let commented = self.rows.iter().filter(|(_, doc)| !doc.is_empty());
        let width = commented.map(|(code, _)| code.len()).max().unwrap_or(0);
        for (code, doc) in &self.rows {
            if doc.is_empty() {
                let _ = writeln!(out, "{indent}{code}");
            } else {
                let _ = writeln!(out, "{indent}{code:width$}  // {doc}");
            }
        }
    }
}

/// The connections of an instance, each a pin and what it is connected to.
pub(super) fn connect(out: &mut String, indent: &str, connections: &[(String, String)]) {
    let longest = connections.iter().map(|(pin, _)| pin.len()).max();
    let longest = longest.unwrap_or(0);
    for (at, (pin, value)) in connections.iter().enumerate() {
        let comma = if at + 1 < connections.len() { "," } else { "" };
        let _ = writeln!(out, "{indent}.{pin:longest$} ({value}){comma}");
    }
}

/// The printing of one block, or of its checker.
pub(super) struct Module<'a> {
    design: &'a Design,
    id: BlockId,
    block: &'a Block,
    /// Child inputs that are connected to an expression rather than to a wire.
    inlined: HashMap<NetId, &'a Expr>,
    /// Bits that something in the module reads.
    used: HashMap<NetId, u128>,
    /// It is the checker: what serves claims alone, instead of the hardware.
    formal: bool,
}

impl<'a> Module<'a> {
    /// The module of a block.
    pub(super) fn new(design: &'a Design, id: BlockId) -> Self {
        let mut module = Self::empty(design, id, false);
        module.used = module.read();
        module.inlined = module.inlined();
        for &child in &module.block.children {
            for &net in &design.blocks[child].nets {
                if design.nets[net].role == Role::Input && design.nets[net].live {
                    module.used.insert(net, u128::MAX);
                }
            }
        }
        module
    }

    /// The checker of a block.
    pub(super) fn checker(design: &'a Design, id: BlockId) -> Self {
        let mut checker = Self::empty(design, id, true);
        checker.used = checker.read();
        checker
    }

    fn empty(design: &'a Design, id: BlockId, formal: bool) -> Self {
        Self {
            design,
            id,
            block: &design.blocks[id],
            inlined: HashMap::new(),
            used: HashMap::new(),
            formal,
        }
    }

    /// The bits that are read, pins of children left out.
    fn read(&self) -> HashMap<NetId, u128> {
        let mut used = HashMap::new();
        for group in self
            .block
            .groups
            .iter()
            .filter(|it| it.formal == self.formal)
        {
            for_each_expr(&group.statements, &mut |expr| bits_read(expr, &mut used));
        }
        let mut whole = |net: NetId| {
            used.insert(net, u128::MAX);
        };
        for &register in &self.block.registers {
            let register = &self.design.registers[register];
            if self.is_register(register.q) {
                whole(register.d);
                register.clock.into_iter().for_each(&mut whole);
                register.reset.into_iter().for_each(&mut whole);
            }
        }
        for &memory in &self.block.memories {
            let memory = &self.design.memories[memory];
            if self.has(memory.read_data) {
                memory.clock.into_iter().for_each(&mut whole);
                memory.inputs().for_each(&mut whole);
            }
        }
        if self.formal {
            for claim in self.design.live_claims(self.id) {
                whole(claim.d);
                claim.clock.into_iter().for_each(&mut whole);
                claim.reset.into_iter().for_each(&mut whole);
            }
        }
        used
    }

    /// The inputs of children that need no wire: neither the module nor its checker reads them.
    fn inlined(&self) -> HashMap<NetId, &'a Expr> {
        let claimed = Self::checker(self.design, self.id).used;
        let mut inlined = HashMap::new();
        for group in self.block.groups.iter().filter(|group| !group.formal) {
            let target = group.targets[0];
            let is_pin = self.design.nets[target].block != self.id;
            let is_read = self.used.contains_key(&target) || claimed.contains_key(&target);
            if !is_pin || is_read || !group.is_plain() {
                continue;
            }
            if let Some(Statement::Assign { value, .. }) = group.statements.last() {
                if matches!(
                    value,
                    Expr::Net { .. } | Expr::Literal { .. } | Expr::State { .. }
                ) {
                    inlined.insert(target, value);
                }
            }
        }
        inlined
    }

    /// The nets of the block, those of its claims among them.
    fn own(&self) -> impl Iterator<Item = NetId> + '_ {
        let registers = self.block.registers.iter();
        let registers = registers.map(|&register| self.design.registers[register].q);
        let memories = self.block.memories.iter();
        let memories = memories.flat_map(|&memory| self.design.memories[memory].outputs());
        self.block
            .nets
            .iter()
            .copied()
            .chain(registers)
            .chain(memories)
    }

    /// Whether the net belongs to what is printed now.
    fn has(&self, net: NetId) -> bool {
        self.design.nets[net].live && self.design.nets[net].formal == self.formal
    }

    /// Whether `q` is of a register that was neither dropped nor made a constant.
    fn is_register(&self, q: NetId) -> bool {
        self.has(q) && self.design.nets[q].value.is_none()
    }

    /// What the net is called here. A checker has a port for a register of a block below.
    pub(super) fn name(&self, net: NetId) -> String {
        let declared = &self.design.nets[net];
        if matches!(declared.role, Role::RegisterQ(_)) && declared.block != self.id {
            let path = names::within(self.design, self.id, declared.block, &declared.printed);
            names::port(&path)
        } else {
            seen(self.design, self.id, net)
        }
    }

    /// `reg` if an `always` block assigns the net, else `wire`.
    fn storage(&self, net: NetId) -> &'static str {
        let in_process = self
            .block
            .groups
            .iter()
            .any(|group| group.targets.contains(&net) && !group.is_plain());
        if in_process {
            "reg "
        } else {
            "wire"
        }
    }

    /// The text from `default_nettype` to the end, but for what a design module and a checker do
    /// not share: `rest` prints it.
    pub(super) fn print(&self, name: &str, rest: impl Fn(&mut String)) -> String {
        let mut out = String::from("`default_nettype none\n\n");
        self.ports(&mut out, name);
        self.constants(&mut out);
        self.declarations(&mut out);
        self.logic(&mut out);
        rest(&mut out);
        out.push_str("\nendmodule\n\n`default_nettype wire\n");
        out
    }

    /// Those of the block; of a checker, what it reads.
    pub(super) fn pins(&self) -> Vec<NetId> {
        let nets = &self.design.nets;
        if !self.formal {
            let pins = self.block.nets.iter().copied();
            let is_pin = |role| matches!(role, Role::Input | Role::Output);
            return pins
                .filter(|&net| nets[net].live && is_pin(nets[net].role))
                .collect();
        }
        let is_own = |net: NetId| nets[net].formal && nets[net].block == self.id;
        let read = self.used.keys().copied();
        let mut pins: Vec<NetId> = read
            .filter(|&net| nets[net].value.is_none() && !is_own(net))
            .collect();
        pins.sort_unstable();
        pins
    }

    fn ports(&self, out: &mut String, name: &str) {
        let pins = self.pins();
        if pins.is_empty() {
            let _ = writeln!(out, "module {name};");
            return;
        }
        let _ = writeln!(out, "module {name} (");
        let ranges = pins
            .iter()
            .map(|&net| range(self.design.nets[net].width).len())
            .max()
            .unwrap_or(0);
        let mut table = Table::default();
        for (at, &net) in pins.iter().enumerate() {
            let pin = &self.design.nets[net];
            let direction = match pin.role {
                _ if self.formal => "input wire".to_string(),
                Role::Input => "input  wire".to_string(),
                _ => format!("output {}", self.storage(net)),
            };
            let mut code = format!("{direction} ");
            if ranges > 0 {
                let _ = write!(code, "{:>ranges$} ", range(pin.width));
            }
            code.push_str(&self.name(net));
            if at + 1 < pins.len() {
                code.push(',');
            }
            let doc = match pin.role {
                Role::RegisterQ(register) => self.design.registers[register].doc.clone(),
                Role::RegisterD(register) => {
                    let q = self.design.registers[register].q;
                    format!("next value of {}", self.name(q))
                }
                _ => pin.doc.clone(),
            };
            table.row(code, &doc);
        }
        table.print(out, "    ");
        out.push_str(");\n");
    }

    fn constants(&self, out: &mut String) {
        let used: Vec<(String, u128)> = names::used_states(self.design, self.id, self.formal);
        let mut types = BTreeMap::new();
        // Those of this block's own signals win over those of the blocks below.
        let nets = if used.is_empty() {
            &[][..]
        } else {
            &self.design.nets
        };
        for own in [false, true] {
            for net in nets {
                let below = self.design.blocks[net.block]
                    .path
                    .starts_with(&self.block.path);
                if let (Type::State { name, variants }, true) = (&net.kind, below) {
                    if !own || net.block == self.id {
                        types.insert(name.as_str(), (variants, net.width));
                    }
                }
            }
        }
        for (name, (variants, width)) in types {
            let is_used = |variant: &str| {
                used.iter()
                    .any(|(used, _)| *used == names::state(name, variant))
            };
            if !variants.iter().any(|(variant, _)| is_used(variant)) {
                continue;
            }
            let _ = writeln!(out, "\n  // States: {name}");
            let mut table = Table::default();
            for (value, (variant, doc)) in variants.iter().enumerate() {
                let label = names::state(name, variant);
                let value = literal(value as u128, width);
                if is_used(variant) {
                    let range = match width {
                        1 => String::new(),
                        _ => format!("[{}:0] ", width - 1),
                    };
                    table.row(format!("localparam {range}{label} = {value};"), doc);
                } else {
                    // Declared and not used, it would be a lint warning.
                    table.row(format!("// {label} = {value}: not named here"), doc);
                }
            }
            table.print(out, "  ");
        }
        let mut table = Table::default();
        let declared: BTreeSet<NetId> = match self.formal {
            true => self.used.keys().copied().collect(),
            false => self.own().filter(|&net| self.has(net)).collect(),
        };
        for id in declared {
            let net = &self.design.nets[id];
            if let Some(value) = net.value {
                let range = match net.width {
                    1 => String::new(),
                    width => format!("[{}:0] ", width - 1),
                };
                table.row(
                    format!(
                        "localparam {range}{} = {};",
                        self.name(id),
                        literal(value, net.width)
                    ),
                    &net.doc,
                );
            }
        }
        if !table.rows.is_empty() {
            out.push('\n');
            table.print(out, "  ");
        }
    }

    fn declaration<'s>(
        &self,
        storage: &'static str,
        net: NetId,
        name: String,
        doc: &'s str,
    ) -> (&'static str, String, String, &'s str) {
        let net = &self.design.nets[net];
        (storage, range(net.width), name, doc)
    }

    fn declarations(&self, out: &mut String) {
        let mut rows: Vec<(&str, String, String, &str)> = Vec::new();
        for &index in &self.block.registers {
            let register = &self.design.registers[index];
            if self.is_register(register.q) {
                rows.push(self.declaration(
                    if register.votes || self.in_copies(index) {
                        "wire"
                    } else {
                        "reg "
                    },
                    register.q,
                    self.name(register.q),
                    &register.doc,
                ));
                rows.push(self.declaration(
                    self.storage(register.d),
                    register.d,
                    self.name(register.d),
                    "",
                ));
            }
        }
        for claim in self.design.live_claims(self.id).filter(|it| self.has(it.d)) {
            rows.push(self.declaration(self.storage(claim.d), claim.d, self.name(claim.d), ""));
        }
        for &net in &self.block.nets {
            let local = &self.design.nets[net];
            if self.has(net) && local.role == Role::Local && local.value.is_none() {
                rows.push(self.declaration(
                    self.storage(net),
                    net,
                    local.printed.clone(),
                    &local.doc,
                ));
            }
        }
        for &memory in &self.block.memories {
            let memory = &self.design.memories[memory];
            if !self.has(memory.read_data) {
                continue;
            }
            for net in memory.outputs().chain(memory.inputs()) {
                let doc = &self.design.nets[net].doc;
                rows.push(self.declaration(self.storage(net), net, self.name(net), doc));
            }
        }
        for &child in &self.block.children {
            let child = &self.design.blocks[child];
            if !child.live {
                continue;
            }
            for &net in &child.nets {
                let pin = &self.design.nets[net];
                if !self.has(net) || self.inlined.contains_key(&net) {
                    continue;
                }
                match pin.role {
                    Role::Input => {
                        rows.push(self.declaration(
                            self.storage(net),
                            net,
                            self.name(net),
                            &pin.doc,
                        ));
                    }
                    Role::Output => {
                        rows.push(self.declaration("wire", net, self.name(net), &pin.doc))
                    }
                    _ => {}
                }
            }
        }
        if rows.is_empty() {
            return;
        }
        out.push('\n');
        let ranges = rows.iter().map(|row| row.1.len()).max().unwrap_or(0);
        let mut table = Table::default();
        for (storage, range, name, doc) in rows {
            let mut code = format!("{storage} ");
            if ranges > 0 {
                let _ = write!(code, "{range:>ranges$} ");
            }
            let _ = write!(code, "{name};");
            table.row(code, doc);
        }
        table.print(out, "  ");
    }

    fn logic(&self, out: &mut String) {
        let mut after_assign = false;
        for group in self
            .block
            .groups
            .iter()
            .filter(|it| it.formal == self.formal)
        {
            if group
                .targets
                .iter()
                .any(|net| self.inlined.contains_key(net))
            {
                continue;
            }
            if group.is_plain() {
                let comments = group.statements.len() > 1;
                if !after_assign || comments {
                    out.push('\n');
                }
                self.statements(out, &group.statements, 1, "assign ");
                after_assign = true;
            } else {
                after_assign = false;
                out.push('\n');
                self.process(out, group);
            }
        }
    }

    fn process(&self, out: &mut String, group: &Group) {
        // What leads up to the first statement explains the whole process.
        let lead = group
            .statements
            .iter()
            .take_while(|statement| matches!(statement, Statement::Comment(_)))
            .count();
        self.statements(out, &group.statements[..lead], 1, "");
        out.push_str("  always @(*) begin\n");
        self.statements(out, &group.statements[lead..], 2, "");
        out.push_str("  end\n");
    }

    fn statements(&self, out: &mut String, statements: &[Statement], depth: usize, assign: &str) {
        let indent = "  ".repeat(depth);
        for statement in statements {
            match statement {
                Statement::Comment(text) => {
                    for line in wrap(text, COLUMNS - indent.len() - 3) {
                        push_comment(out, &indent, &line);
                    }
                }
                Statement::Assign { target, value, .. } => {
                    let start = format!("{indent}{assign}{} = ", self.name(*target));
                    self.broken(out, &start, value, ";", &indent);
                }
                Statement::If {
                    test,
                    then,
                    otherwise,
                } => {
                    out.push_str(&indent);
                    self.conditional(out, test, then, otherwise, depth);
                }
                Statement::Case {
                    test,
                    arms,
                    default,
                    default_state,
                } => {
                    let _ = writeln!(out, "{indent}case ({})", self.expr(test));
                    for arm in arms {
                        if arm.body.is_empty() && default.is_empty() {
                            continue;
                        }
                        let _ = writeln!(out, "{indent}  {}: begin", arm.state);
                        self.statements(out, &arm.body, depth + 2, assign);
                        let _ = writeln!(out, "{indent}  end");
                    }
                    let label = match default_state {
                        Some(state) => format!("  // {state}, and what encodes no state"),
                        None => String::new(),
                    };
                    if default.is_empty() {
                        let _ = writeln!(out, "{indent}  default: ;{label}");
                    } else {
                        let _ = writeln!(out, "{indent}  default: begin{label}");
                        self.statements(out, default, depth + 2, assign);
                        let _ = writeln!(out, "{indent}  end");
                    }
                    let _ = writeln!(out, "{indent}endcase");
                }
            }
        }
    }

    /// From `if` on; the indent is already there.
    fn conditional(
        &self,
        out: &mut String,
        test: &Expr,
        then: &[Statement],
        otherwise: &[Statement],
        depth: usize,
    ) {
        let indent = "  ".repeat(depth);
        if then.is_empty() {
            let negated = match test {
                Expr::Not(inner) => (**inner).clone(),
                test => Expr::Not(Box::new(test.clone())),
            };
            return self.conditional(out, &negated, otherwise, &[], depth);
        }
        self.broken(out, "if (", test, ") begin", &indent);
        self.statements(out, then, depth + 1, "");
        match otherwise {
            [] => {
                let _ = writeln!(out, "{indent}end");
            }
            [Statement::If {
                test,
                then,
                otherwise,
            }] => {
                let _ = write!(out, "{indent}end else ");
                self.conditional(out, test, then, otherwise, depth);
            }
            otherwise => {
                let _ = writeln!(out, "{indent}end else begin");
                self.statements(out, otherwise, depth + 1, "");
                let _ = writeln!(out, "{indent}end");
            }
        }
    }

    /// An expression between two texts, on several lines if one does not hold it.
    fn broken(&self, out: &mut String, start: &str, value: &Expr, end: &str, indent: &str) {
        let text = self.expr(value);
        if start.len() + text.len() + end.len() + indent.len() <= COLUMNS {
            let _ = writeln!(out, "{start}{text}{end}");
            return;
        }
        let (op, parts) = match value {
            Expr::Binary { op, .. } if chains(*op) => {
                let mut parts = Vec::new();
                chain(value, *op, &mut parts);
                (*op, parts)
            }
            Expr::Binary { op, left, right } => (*op, vec![&**left, &**right]),
            _ => {
                let _ = writeln!(out, "{start}{text}{end}");
                return;
            }
        };
        for (at, part) in parts.iter().enumerate() {
            let part = self.operand(part, None);
            if at == 0 {
                let _ = write!(out, "{start}{part}");
            } else {
                let _ = write!(out, "\n{indent}    {} {part}", op.symbol());
            }
        }
        let _ = writeln!(out, "{end}");
    }

    /// An expression as text.
    pub(super) fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Literal { value, width } => literal(*value, *width),
            Expr::State { name, .. } => name.clone(),
            Expr::Net { net, .. } => self.name(*net),
            Expr::Not(of) => format!("~{}", self.operand(of, None)),
            Expr::Reduce(reduction, of) => {
                let symbol = match reduction {
                    Reduction::All => "&",
                    Reduction::Any => "|",
                    Reduction::Xor => "^",
                };
                // `^~` would be one operator.
                match &**of {
                    Expr::Not(_) => format!("{symbol}({})", self.expr(of)),
                    of => format!("{symbol}{}", self.operand(of, None)),
                }
            }
            Expr::Binary { op, left, right } => format!(
                "{} {} {}",
                self.operand(left, Some(*op)),
                op.symbol(),
                self.operand(right, None)
            ),
            Expr::Extend { of, width } => {
                let zeros = literal(0, width - of.width());
                match &**of {
                    Expr::Concat(parts) => format!("{{{zeros}, {}}}", self.list(parts)),
                    of => format!("{{{zeros}, {}}}", self.expr(of)),
                }
            }
            Expr::Slice { of, low, width } => match width {
                1 => format!("{}[{low}]", self.expr(of)),
                _ => format!("{}[{}:{low}]", self.expr(of), low + width - 1),
            },
            Expr::BitAt { net, index } => format!("{}[{}]", self.name(*net), self.expr(index)),
            Expr::Concat(parts) => format!("{{{}}}", self.list(parts)),
            Expr::Select { test, yes, no } => format!(
                "(({}) ? ({}) : ({}))",
                self.expr(test),
                self.expr(yes),
                self.expr(no)
            ),
        }
    }

    fn list(&self, parts: &[Expr]) -> String {
        parts
            .iter()
            .map(|part| self.expr(part))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// An operand in brackets, unless its shape needs none; `chained` is the operator to
    /// its right.
    fn operand(&self, expr: &Expr, chained: Option<Operator>) -> String {
        let text = self.expr(expr);
        match expr {
            Expr::Binary { op, .. } if chained == Some(*op) && chains(*op) => text,
            Expr::Binary { .. } | Expr::Reduce(..) => format!("({text})"),
            _ => text,
        }
    }

    pub(super) fn instances(&self, out: &mut String, module_of: &dyn Fn(BlockId) -> String) {
        for &id in &self.block.children {
            let child = &self.design.blocks[id];
            if !child.live {
                continue;
            }
            out.push('\n');
            for group in &self.block.groups {
                let pin = &self.design.nets[group.targets[0]];
                if pin.block == id && self.inlined.contains_key(&group.targets[0]) {
                    let comments = group.statements.len() - 1;
                    self.statements(out, &group.statements[..comments], 1, "");
                }
            }
            let _ = writeln!(out, "  {} {} (", module_of(id), instance(child));
            let pins = Self::empty(self.design, id, false).pins();
            let connections = pins.into_iter().map(|net| {
                let value = match self.inlined.get(&net) {
                    Some(value) => self.expr(value),
                    None => self.name(net),
                };
                (self.design.nets[net].printed.clone(), value)
            });
            connect(out, "      ", &connections.collect::<Vec<_>>());
            out.push_str("  );\n");
        }
    }

    /// Whether a register that is printed is kept in copies; those of claims are not.
    fn in_copies(&self, register: usize) -> bool {
        !self.formal && self.design.in_copies(register)
    }

    pub(super) fn registers(&self, out: &mut String) {
        if let Some(voter) = self.design.voter(self.id).filter(|_| !self.formal) {
            self.voted_registers(voter, out);
        }
        let mut groups: Vec<((NetId, NetId), Vec<usize>)> = Vec::new();
        for &index in &self.block.registers {
            let register = &self.design.registers[index];
            let (Some(clock), Some(reset)) = (register.clock, register.reset) else {
                continue;
            };
            if !self.is_register(register.q) || register.votes || self.in_copies(index) {
                continue;
            }
            match groups.iter_mut().find(|(key, _)| *key == (clock, reset)) {
                Some((_, list)) => list.push(index),
                None => groups.push(((clock, reset), vec![index])),
            }
        }
        for ((clock, reset), list) in groups {
            let _ = writeln!(out, "\n  always @(posedge {}) begin", self.name(clock));
            let _ = writeln!(out, "    if ({}) begin", self.name(reset));
            for &index in &list {
                let register = &self.design.registers[index];
                let q = &self.design.nets[register.q];
                let _ = writeln!(out, "      {} <= {};", q.printed, self.in_reset(register));
            }
            out.push_str("    end else begin\n");
            for &index in &list {
                let register = &self.design.registers[index];
                let _ = writeln!(
                    out,
                    "      {} <= {};",
                    self.name(register.q),
                    self.name(register.d)
                );
            }
            out.push_str("    end\n  end\n");
        }
    }

    /// The value of a register in reset.
    fn in_reset(&self, register: &Register) -> String {
        let q = &self.design.nets[register.q];
        let value = match &q.kind {
            Type::State { name, variants } => variants
                .get(register.reset_value as usize)
                .map(|(variant, _)| names::state(name, variant)),
            _ => None,
        };
        value.unwrap_or_else(|| literal(register.reset_value, q.width))
    }

    /// Every register that is kept in copies as an instance of the module that does.
    fn voted_registers(&self, voter: &Register, out: &mut String) {
        let module = names::voted_module(self.design);
        let registers = self.block.registers.iter();
        let registers = registers.filter(|&&index| self.design.in_copies(index));
        let registers = registers.map(|&index| &self.design.registers[index]);
        let kept = |register: &&Register| self.is_register(register.q);
        let mut upsets = Vec::new();
        for register in registers.filter(kept) {
            let (Some(clock), Some(reset)) = (register.clock, register.reset) else {
                continue;
            };
            let name = register.name.replace('$', "_");
            let upset = format!("{name}_upset");
            let text = |name: &str, value: String| (name.to_owned(), value);
            let width = self.design.nets[register.q].width;
            let _ = writeln!(out, "\n  wire [1:0] {upset};\n  {module} #(");
            let parameters = [
                text("WIDTH", width.to_string()),
                text("RESET", self.in_reset(register)),
            ];
            connect(out, "      ", &parameters);
            let _ = writeln!(out, "  ) u_{name} (");
            let pins = [
                text("clk", self.name(clock)),
                text("rst", self.name(reset)),
                text("inject", self.name(voter.d)),
                text("d", self.name(register.d)),
                text("q", self.name(register.q)),
                text("upset", upset.clone()),
            ];
            connect(out, "      ", &pins);
            out.push_str("  );\n");
            upsets.push(upset);
        }
        let _ = writeln!(
            out,
            "\n  assign {} =\n      {};",
            self.name(voter.q),
            upsets.join("\n      | ")
        );
    }

    pub(super) fn memories(&self, out: &mut String) {
        for &memory in &self.block.memories {
            let memory = &self.design.memories[memory];
            let (true, Some(clock)) = (self.has(memory.read_data), memory.clock) else {
                continue;
            };
            out.push('\n');
            push_comment(out, "  ", &format!("Memory: {}.", memory.doc));
            let address = self.design.nets[memory.read_address].width;
            let module = names::module_of(self.design, memory);
            let _ = writeln!(out, "  {module} #(");
            let number = |name: &str, value: u64| (name.to_owned(), value.to_string());
            let mut parameters = vec![
                number("WIDTH", memory.width.into()),
                number("DEPTH", memory.depth as u64),
                number("ADDRESS_WIDTH", address.into()),
            ];
            if memory.checks.is_some() {
                parameters.insert(1, number("CHECK", memory.check_bits().into()));
            }
            connect(out, "      ", &parameters);
            let _ = writeln!(out, "  ) {} (", names::memory(memory));
            let pin = |name: &str, net| (name.to_owned(), self.name(net));
            let mut pins = vec![
                pin("clk", clock),
                pin("write_enable", memory.write_enable),
                pin("write_address", memory.write_address),
                pin("write_data", memory.write_data),
                pin("read_address", memory.read_address),
                pin("read_data", memory.read_data),
            ];
            if let Some(checks) = memory.checks {
                pins.push(pin("read_valid", checks.read_valid));
                pins.push(pin("upset", checks.upset));
            }
            connect(out, "      ", &pins);
            out.push_str("  );\n");
        }
    }

    /// What nothing reads is read by a wire whose name says so, which lint tools accept.
    pub(super) fn unused(&self, out: &mut String) {
        let own = self.own().filter(|&net| {
            let declared = &self.design.nets[net];
            self.has(net)
                && match declared.role {
                    Role::Input | Role::MemoryOut(_) => true,
                    Role::Local | Role::RegisterQ(_) => declared.value.is_none(),
                    _ => false,
                }
        });
        let mut candidates: BTreeSet<NetId> = own.collect();
        if self.formal {
            candidates.extend(self.pins());
        } else {
            let children = self.block.children.iter();
            let pins = children.flat_map(|&child| &self.design.blocks[child].nets);
            candidates.extend(
                pins.filter(|&&net| self.has(net) && self.design.nets[net].role == Role::Output),
            );
        }
        let missing = candidates.into_iter().filter_map(|net| {
            let read = self.used.get(&net).copied().unwrap_or(0);
            let missing = mask(self.design.nets[net].width) & !read;
            (missing != 0).then_some((net, missing))
        });
        let missing: Vec<_> = missing.collect();
        if missing.is_empty() {
            return;
        }
        let taken = self.taken();
        out.push_str("\n  // What this configuration leaves unread.\n");
        for (net, missing) in missing {
            let declared = &self.design.nets[net];
            let name = self.name(net);
            let parts = ranges(missing, declared.width)
                .into_iter()
                .map(|(high, low)| {
                    if declared.width == 1 || (low == 0 && high + 1 == declared.width) {
                        name.clone()
                    } else if high == low {
                        format!("{name}[{low}]")
                    } else {
                        format!("{name}[{high}:{low}]")
                    }
                })
                .collect::<Vec<_>>()
                .join(", ");
            let mut free = format!("{UNUSED}{name}");
            while taken.contains(&free) {
                free.push_str("_bits");
            }
            let _ = writeln!(out, "  wire {free} = &{{1'b0, {parts}}};");
        }
    }

    /// What is called as a wire of [`Module::unused`] might be.
    fn taken(&self) -> HashSet<String> {
        let nets = self.design.nets.iter().enumerate();
        let alike = nets.filter(|(_, net)| {
            // A pin of a block below has its instance's name in front.
            let begins = |name: &str| name.starts_with(UNUSED.trim_end_matches('_'));
            net.live && (begins(&net.printed) || begins(&self.design.blocks[net.block].name))
        });
        alike.map(|(net, _)| self.name(net)).collect()
    }
}

/// How the names of wires begin that read what nothing else does.
const UNUSED: &str = "unused_";

/// Whether `a op b op c` means the same in both groupings and needs no brackets.
fn chains(op: Operator) -> bool {
    matches!(
        op,
        Operator::And
            | Operator::Or
            | Operator::Xor
            | Operator::Add
            | Operator::LogicalAnd
            | Operator::LogicalOr
    )
}

/// The operands of a chain of one operator.
fn chain<'e>(expr: &'e Expr, chained: Operator, out: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Binary { op, left, right } if *op == chained => {
            chain(left, chained, out);
            out.push(right);
        }
        expr => out.push(expr),
    }
}

/// The runs of ones, highest first, as (high, low).
fn ranges(bits: u128, width: u32) -> Vec<(u32, u32)> {
    let mut out: Vec<(u32, u32)> = Vec::new();
    for bit in (0..width).rev().filter(|bit| bits >> bit & 1 == 1) {
        match out.last_mut() {
            Some((_, low)) if *low == bit + 1 => *low = bit,
            _ => out.push((bit, bit)),
        }
    }
    out
}

fn bits_read(expr: &Expr, used: &mut HashMap<NetId, u128>) {
    match expr {
        Expr::Slice { of, low, width } => match &**of {
            Expr::Net { net, .. } => *used.entry(*net).or_default() |= mask(*width) << low,
            of => bits_read(of, used),
        },
        Expr::Net { net, .. } => *used.entry(*net).or_default() = u128::MAX,
        Expr::BitAt { net, index } => {
            *used.entry(*net).or_default() = u128::MAX;
            bits_read(index, used);
        }
        Expr::Literal { .. } | Expr::State { .. } => {}
        Expr::Not(of) | Expr::Reduce(_, of) | Expr::Extend { of, .. } => bits_read(of, used),
        Expr::Binary { left, right, .. } => {
            bits_read(left, used);
            bits_read(right, used);
        }
        Expr::Concat(parts) => parts.iter().for_each(|part| bits_read(part, used)),
        Expr::Select { test, yes, no } => {
            bits_read(test, used);
            bits_read(yes, used);
            bits_read(no, used);
        }
    }
}
