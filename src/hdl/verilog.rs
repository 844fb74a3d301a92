//! The Verilog-2005 text of a design: one module per block, plain names, every literal
//! and every operand at its exact width.
//!
//! Verilog widens the operands of an expression to the widest of them and to the target
//! of the assignment. The design has no operands of different widths, and what is
//! extended stands inside a concatenation, whose parts Verilog evaluates at their own
//! width; so nothing is ever widened.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use super::ir::{
    for_each_expr, Block, BlockId, Design, Expr, Group, NetId, Operator, Reduction, Register, Role,
    Statement,
};
use super::names::{self, instance, seen};
use super::values::{mask, Type};
use crate::files::origin;

/// The width that lines keep to where they can.
const COLUMNS: usize = 100;

/// What the header comments say of where the files came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The configuration in its canonical form, printed into the top's file.
    pub config_text: String,
    /// Its SHA-256 in hexadecimal, printed into every file.
    pub hash: String,
}

impl Header {
    /// For files that only a check reads.
    pub(crate) fn for_tests() -> Self {
        Self {
            config_text: String::new(),
            hash: "none".into(),
        }
    }
}

/// The files of a design: one per module, named after it, and `<top>.f`, which lists
/// them. The same design and header give the same bytes.
///
/// Blocks with the same text become one module. Where blocks of one module name differ
/// (because their surroundings read other outputs, or they were given other widths), the
/// first keeps the name and the others get that of their instance appended.
pub fn print(design: &Design, header: &Header) -> Vec<(String, String)> {
    let modules = modules(design);
    let mut instances: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut order = Vec::new();
    for (id, block) in design.blocks.iter().enumerate().filter(|(_, b)| b.live) {
        let paths = instances.entry(&modules[&id]).or_default();
        if paths.is_empty() {
            order.push(id);
        }
        paths.push(&block.path);
    }
    let mut files: Vec<(String, String)> = Vec::new();
    for &id in &order {
        let name = &modules[&id];
        let mut text = head(design, id, name, &instances[name.as_str()], header);
        text.push_str(&Module::new(design, id).print(name, &|child| modules[&child].clone()));
        files.push((format!("{name}.v"), text));
    }
    let list: String = files.iter().map(|(name, _)| format!("{name}\n")).collect();
    files.push((format!("{}.f", modules[&0]), list));
    files
}

/// The name of every live block's module.
fn modules(design: &Design) -> HashMap<BlockId, String> {
    // Children come after their parents, so that backwards every child has its class
    // before its parent needs it.
    let mut classes: HashMap<(String, String), usize> = HashMap::new();
    let mut class_of: HashMap<BlockId, usize> = HashMap::new();
    for (id, block) in design.blocks.iter().enumerate().rev() {
        if !block.live {
            continue;
        }
        let body = Module::new(design, id).print("module", &|child| class_of[&child].to_string());
        let next = classes.len();
        let class = *classes
            .entry((format!("{}\n{}", block.module, block.text), body))
            .or_insert(next);
        class_of.insert(id, class);
    }
    let mut names: HashMap<usize, String> = HashMap::new();
    let mut taken = HashSet::new();
    let mut out = HashMap::new();
    for (id, block) in design.blocks.iter().enumerate().filter(|(_, b)| b.live) {
        let name = names.entry(class_of[&id]).or_insert_with(|| {
            let mut name = block.module.clone();
            if taken.contains(&name) {
                name = format!("{}_{}", block.module, block.name);
            }
            while taken.contains(&name) {
                name = format!("{name}_{}", block.path.replace('.', "_"));
            }
            taken.insert(name.clone());
            name
        });
        out.insert(id, name.clone());
    }
    out
}

/// The paths of instances; of an array with four or more, the first and the last.
fn listed(paths: &[&str]) -> String {
    let place = |path: &str| -> Option<(String, u32)> {
        let (array, place) = path.rsplit_once('_')?;
        Some((array.into(), place.parse().ok()?))
    };
    let follows = |path: &str, before: &str| match (place(path), place(before)) {
        (Some((array, place)), Some((same, last))) => array == same && place == last + 1,
        _ => false,
    };
    let mut runs: Vec<Vec<&str>> = Vec::new();
    for &path in paths {
        match runs.last_mut() {
            Some(run) if follows(path, run[run.len() - 1]) => run.push(path),
            _ => runs.push(vec![path]),
        }
    }
    let texts: Vec<String> = runs
        .iter()
        .map(|run| match run[..] {
            [first, _, _, .., last] => format!("{first} to {last}"),
            _ => run.join(", "),
        })
        .collect();
    texts.join(", ")
}

fn head(design: &Design, id: BlockId, name: &str, paths: &[&str], header: &Header) -> String {
    let mut text = format!("// {name}\n//\n");
    for line in wrap(&design.blocks[id].text, COLUMNS - 3) {
        push_comment(&mut text, "", &line);
    }
    text.push_str("//\n");
    let label = if id == 0 { "Block" } else { "Instances" };
    for line in wrap(&format!("{label}: {}", listed(paths)), COLUMNS - 3) {
        push_comment(&mut text, "", &line);
    }
    for line in origin(&header.hash) {
        push_comment(&mut text, "", &line);
    }
    if id == 0 && !header.config_text.trim().is_empty() {
        text.push_str("//\n// The configuration:\n");
        for line in header.config_text.trim_end().lines() {
            push_comment(
                &mut text,
                "",
                &if line.is_empty() {
                    String::new()
                } else {
                    format!("  {line}")
                },
            );
        }
    }
    text.push('\n');
    text
}

fn push_comment(out: &mut String, indent: &str, line: &str) {
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
fn wrap(text: &str, columns: usize) -> Vec<String> {
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

/// The printing of one block.
struct Module<'a> {
    design: &'a Design,
    id: BlockId,
    block: &'a Block,
    /// Child inputs that are connected to an expression rather than to a wire.
    inlined: HashMap<NetId, &'a Expr>,
    /// Bits that something in the module reads.
    used: HashMap<NetId, u128>,
    /// Prints what serves claims alone, instead of the hardware.
    formal: bool,
}

impl<'a> Module<'a> {
    fn new(design: &'a Design, id: BlockId) -> Self {
        let block = &design.blocks[id];
        let mut module = Self {
            design,
            id,
            block,
            inlined: HashMap::new(),
            used: HashMap::new(),
            formal: false,
        };
        module.collect();
        module
    }

    fn collect(&mut self) {
        let design = self.design;
        let mut used = HashMap::new();
        let hardware = || self.block.groups.iter().filter(|group| !group.formal);
        for group in hardware() {
            for_each_expr(&group.statements, &mut |expr| bits_read(expr, &mut used));
        }
        for group in hardware() {
            let target = group.targets[0];
            let is_pin = design.nets[target].block != self.id;
            if !is_pin || used.contains_key(&target) || !group.is_plain() {
                continue;
            }
            if let Some(Statement::Assign { value, .. }) = group.statements.last() {
                if matches!(
                    value,
                    Expr::Net { .. } | Expr::Literal { .. } | Expr::State { .. }
                ) {
                    self.inlined.insert(target, value);
                }
            }
        }
        let mut whole = |net: NetId| {
            used.insert(net, u128::MAX);
        };
        for &child in &self.block.children {
            for &net in &design.blocks[child].nets {
                if design.nets[net].role == Role::Input && design.nets[net].live {
                    whole(net);
                }
            }
        }
        for &register in &self.block.registers {
            let register = &design.registers[register];
            if self.is_register(register.q) {
                whole(register.d);
                register.clock.into_iter().for_each(&mut whole);
                register.reset.into_iter().for_each(&mut whole);
            }
        }
        for &memory in &self.block.memories {
            let memory = &design.memories[memory];
            if design.nets[memory.read_data].live {
                memory.clock.into_iter().for_each(&mut whole);
                whole(memory.read_address);
                whole(memory.write_enable);
                whole(memory.write_address);
                whole(memory.write_data);
            }
        }
        self.used = used;
    }

    /// Whether the net belongs to what is printed now.
    fn has(&self, net: NetId) -> bool {
        self.design.nets[net].live && self.design.nets[net].formal == self.formal
    }

    /// Whether `q` is of a register that was neither dropped nor made a constant.
    fn is_register(&self, q: NetId) -> bool {
        self.has(q) && self.design.nets[q].value.is_none()
    }

    fn name(&self, net: NetId) -> String {
        let declared = &self.design.nets[net];
        if matches!(declared.role, Role::RegisterQ(_)) && declared.block != self.id {
            names::within(self.design, self.id, declared.block, &declared.printed)
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

    fn print(&self, name: &str, module_of: &dyn Fn(BlockId) -> String) -> String {
        let mut out = String::from("`default_nettype none\n\n");
        self.ports(&mut out, name);
        self.constants(&mut out);
        self.declarations(&mut out);
        self.logic(&mut out);
        self.instances(&mut out, module_of);
        self.registers(&mut out);
        self.memories(&mut out);
        self.unused(&mut out);
        self.claims(&mut out);
        out.push_str("\nendmodule\n\n`default_nettype wire\n");
        out
    }

    fn ports(&self, out: &mut String, name: &str) {
        let pins: Vec<NetId> = self
            .block
            .nets
            .iter()
            .copied()
            .filter(|&net| {
                let pin = &self.design.nets[net];
                pin.live && matches!(pin.role, Role::Input | Role::Output)
            })
            .collect();
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
                Role::Input => "input  wire".to_string(),
                _ => format!("output {}", self.storage(net)),
            };
            let mut code = format!("{direction} ");
            if ranges > 0 {
                let _ = write!(code, "{:>ranges$} ", range(pin.width));
            }
            code.push_str(&pin.printed);
            if at + 1 < pins.len() {
                code.push(',');
            }
            table.row(code, &pin.doc);
        }
        table.print(out, "    ");
        out.push_str(");\n");
    }

    fn constants(&self, out: &mut String) {
        let used: Vec<(String, u128)> = names::used_states(self.design, self.id, self.formal);
        let mut types = BTreeMap::new();
        // Those of this block's own signals win over those of the blocks below.
        for own in [false, true] {
            for net in &self.design.nets {
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
                } else if !self.formal {
                    // Declared and not used, it would be a lint warning.
                    table.row(format!("// {label} = {value}: not named here"), doc);
                }
            }
            table.print(out, "  ");
        }
        let mut table = Table::default();
        for (id, net) in self.design.nets.iter().enumerate() {
            if let (true, true, Some(value)) = (net.block == self.id, self.has(id), net.value) {
                let range = match net.width {
                    1 => String::new(),
                    width => format!("[{}:0] ", width - 1),
                };
                table.row(
                    format!(
                        "localparam {range}{} = {};",
                        net.printed,
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
        for &register in &self.block.registers {
            let register = &self.design.registers[register];
            if self.is_register(register.q) {
                rows.push(self.declaration(
                    "reg ",
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
        for claim in names::live_claims(self.design, self.id).filter(|it| self.has(it.d)) {
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
            let array = format!("{} [0:{}]", names::array(memory), memory.depth - 1);
            rows.push(self.declaration("reg ", memory.read_data, array, &memory.doc));
            let data = memory.read_data;
            rows.push(self.declaration("reg ", data, self.name(data), &self.design.nets[data].doc));
            for net in [
                memory.read_address,
                memory.write_enable,
                memory.write_address,
                memory.write_data,
            ] {
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

    fn expr(&self, expr: &Expr) -> String {
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

    fn instances(&self, out: &mut String, module_of: &dyn Fn(BlockId) -> String) {
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
            let pins: Vec<NetId> = child
                .nets
                .iter()
                .copied()
                .filter(|&net| {
                    let pin = &self.design.nets[net];
                    pin.live && matches!(pin.role, Role::Input | Role::Output)
                })
                .collect();
            let longest = pins
                .iter()
                .map(|&net| self.design.nets[net].printed.len())
                .max()
                .unwrap_or(0);
            for (at, &net) in pins.iter().enumerate() {
                let value = match self.inlined.get(&net) {
                    Some(value) => self.expr(value),
                    None => self.name(net),
                };
                let comma = if at + 1 < pins.len() { "," } else { "" };
                let pin = &self.design.nets[net].printed;
                let _ = writeln!(out, "      .{pin:longest$} ({value}){comma}");
            }
            out.push_str("  );\n");
        }
    }

    fn registers(&self, out: &mut String) {
        let mut groups: Vec<((NetId, NetId), Vec<usize>)> = Vec::new();
        for &index in &self.block.registers {
            let register = &self.design.registers[index];
            let (Some(clock), Some(reset)) = (register.clock, register.reset) else {
                continue;
            };
            if !self.is_register(register.q) {
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
                let value = match &q.kind {
                    Type::State { name, variants } => variants
                        .get(register.reset_value as usize)
                        .map(|(variant, _)| names::state(name, variant)),
                    _ => None,
                };
                let value = value.unwrap_or_else(|| literal(register.reset_value, q.width));
                let _ = writeln!(out, "      {} <= {value};", q.printed);
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

    fn memories(&self, out: &mut String) {
        for &memory in &self.block.memories {
            let memory = &self.design.memories[memory];
            let (true, Some(clock)) = (self.has(memory.read_data), memory.clock) else {
                continue;
            };
            let array = names::array(memory);
            let name = |net| self.name(net);
            let (enable, written) = (name(memory.write_enable), name(memory.write_address));
            let (data, address) = (name(memory.read_data), name(memory.read_address));
            let (comment, read) = if memory.collisions {
                (
                    "A read at the same address as a write gives the word before the write.",
                    format!("    {data} <= {array}[{address}];"),
                )
            } else {
                (
                    "A read at the same address as a write gives anything: nobody uses it.",
                    format!(
                        "    if ({enable} & ({written} == {address})) begin\
                         \n      {data} <= {{{}{{1'bx}}}};\
                         \n    end else begin\
                         \n      {data} <= {array}[{address}];\
                         \n    end",
                        memory.width
                    ),
                )
            };
            let _ = writeln!(
                out,
                "\n  // {comment}\
                 \n  always @(posedge {}) begin\
                 \n    if ({enable}) begin\
                 \n      {array}[{written}] <= {};\
                 \n    end\
                 \n{read}\
                 \n  end",
                name(clock),
                name(memory.write_data),
            );
        }
    }

    /// The claims and what they alone need, for tools that define FORMAL.
    fn claims(&self, out: &mut String) {
        let claims: Vec<&Register> = names::live_claims(self.design, self.id).collect();
        if claims.is_empty() {
            return;
        }
        let formal = Self {
            formal: true,
            inlined: HashMap::new(),
            used: HashMap::new(),
            ..*self
        };
        out.push_str("\n`ifdef FORMAL\n  // For proofs; no hardware.\n");
        formal.foreign(out);
        formal.constants(out);
        formal.declarations(out);
        formal.logic(out);
        formal.registers(out);
        let resets: BTreeSet<NetId> = claims.iter().filter_map(|claim| claim.reset).collect();
        for &reset in &resets {
            let _ = writeln!(out, "\n  initial assume ({});", self.name(reset));
        }
        for claim in claims {
            let guard = match claim.reset {
                Some(reset) => format!("if (!{}) ", self.name(reset)),
                None => String::new(),
            };
            out.push('\n');
            for line in wrap(&claim.doc, COLUMNS - 5) {
                push_comment(out, "  ", &line);
            }
            let _ = writeln!(
                out,
                "  always @(*) {guard}{}: assert ({});",
                claim.name,
                self.name(claim.d)
            );
        }
        out.push_str("`endif\n");
    }

    /// The registers of blocks below, for Yosys, which joins such wires with them.
    fn foreign(&self, out: &mut String) {
        let mut foreign = BTreeSet::new();
        for group in self.block.groups.iter().filter(|group| group.formal) {
            for_each_expr(&group.statements, &mut |expr| {
                expr.reads(&mut |net| {
                    let read = &self.design.nets[net];
                    if matches!(read.role, Role::RegisterQ(_)) && read.block != self.id {
                        foreign.insert(net);
                    }
                });
            });
        }
        let mut table = Table::default();
        for net in foreign {
            let range = match self.design.nets[net].width {
                1 => String::new(),
                width => range(width) + " ",
            };
            let name = self.name(net);
            table.row(format!("(* hierconn *) wire {range}\\{name} ;"), "");
        }
        if !table.rows.is_empty() {
            out.push('\n');
            table.print(out, "  ");
        }
    }

    /// What nothing reads is read by a wire whose name says so, which lint tools accept.
    fn unused(&self, out: &mut String) {
        let mut candidates: Vec<NetId> = Vec::new();
        for (net, declared) in self.design.nets.iter().enumerate() {
            let own = declared.block == self.id
                && match declared.role {
                    Role::Input | Role::MemoryOut(_) => true,
                    Role::Local | Role::RegisterQ(_) => declared.value.is_none(),
                    _ => false,
                };
            let of_child = self.design.blocks[declared.block].parent == Some(self.id)
                && declared.role == Role::Output;
            if self.has(net) && (own || of_child) {
                candidates.push(net);
            }
        }
        let mut lines = Vec::new();
        for net in candidates {
            let declared = &self.design.nets[net];
            let missing = mask(declared.width) & !self.used.get(&net).copied().unwrap_or(0);
            if missing == 0 {
                continue;
            }
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
            lines.push(format!("  wire {} = &{{1'b0, {parts}}};", self.free(&name)));
        }
        if !lines.is_empty() {
            out.push_str("\n  // What this configuration leaves unread.\n");
            for line in lines {
                out.push_str(&line);
                out.push('\n');
            }
        }
    }

    /// `unused_<name>`, made longer while something else is called so.
    fn free(&self, name: &str) -> String {
        let mut free = format!("unused_{name}");
        while self
            .design
            .nets
            .iter()
            .enumerate()
            .any(|(net, declared)| declared.live && self.name(net) == free)
        {
            free.push_str("_bits");
        }
        free
    }
}

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
    }
}
