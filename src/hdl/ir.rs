//! The elaborated design: every expression has one width, every name is resolved.

use super::atoms::Claim;
use super::code::Code;
use super::sim::{Pin, PinDirection};
use super::values::{mask, Type};

/// Index into [`Design::blocks`]; 0 is the top.
pub(crate) type BlockId = usize;
/// Index into [`Design::nets`].
pub(crate) type NetId = usize;

/// A checked design, ready to be printed, counted or analysed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    pub(crate) blocks: Vec<Block>,
    pub(crate) nets: Vec<Net>,
    pub(crate) registers: Vec<Register>,
    pub(crate) memories: Vec<MemoryBlock>,
    /// What the names of all modules begin with.
    pub(crate) prefix: String,
}

impl Design {
    /// The name of the top module, which is also that of its file.
    pub fn top(&self) -> &str {
        &self.blocks[0].module
    }

    /// Begins the name of every module with `prefix`, which ends with `_`: of letters, digits and
    /// `_`, a letter first.
    #[must_use]
    pub fn prefixed(mut self, prefix: &str) -> Design {
        for block in &mut self.blocks {
            block.module.insert_str(0, prefix);
        }
        self.prefix.insert_str(0, prefix);
        self
    }

    /// The pins of the top in the order of declaration, the clock included.
    pub fn pins(&self) -> Vec<Pin> {
        let pins = self.blocks[0].nets.iter().map(|&net| &self.nets[net]);
        pins.filter_map(|net| {
            Some(Pin {
                name: net.printed.clone(),
                width: net.width,
                direction: match net.role {
                    Role::Input => PinDirection::Input,
                    Role::Output => PinDirection::Output,
                    _ => return None,
                },
                kind: net.kind.clone(),
            })
        })
        .collect()
    }

    /// The claims of a block that is part of the hardware.
    pub(crate) fn live_claims(&self, block: BlockId) -> impl Iterator<Item = &Register> {
        let registers = self.blocks[block].registers.iter();
        registers
            .map(|&register| &self.registers[register])
            .filter(|it| it.claim.is_some() && self.nets[it.d].live)
    }

    /// What the copies of the registers of a block say, if it keeps copies.
    pub(crate) fn voter(&self, block: BlockId) -> Option<&Register> {
        let registers = self.blocks[block].registers.iter();
        let mut registers = registers.map(|&register| &self.registers[register]);
        registers.find(|register| register.votes)
    }

    /// Whether a register, by its index, is kept in copies.
    pub(crate) fn in_copies(&self, register: usize) -> bool {
        let Register {
            block,
            claim,
            votes,
            chosen,
            ..
        } = &self.registers[register];
        let mut others = self.blocks[*block].registers.iter();
        let counts = *chosen || !others.any(|&other| self.registers[other].chosen);
        claim.is_none() && !votes && counts && self.voter(*block).is_some()
    }

    /// The width in bits of a register, by its name from the top: `fsm.state`.
    pub fn register_width(&self, name: &str) -> Option<u32> {
        let top = &self.blocks[0].path;
        let mut registers = self.registers.iter();
        let register = registers.find(|register| {
            format!("{}.{}", self.blocks[register.block].path, register.name)
                == format!("{top}.{name}")
        })?;
        Some(self.nets[register.q].width)
    }
}

/// One block instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// Path from the top by instance names, `port.histogram`.
    pub path: String,
    /// Name within the parent.
    pub name: String,
    pub module: String,
    pub text: String,
    pub parent: Option<BlockId>,
    pub children: Vec<BlockId>,
    /// Own pins, locals and constants in the order of declaration.
    pub nets: Vec<NetId>,
    pub registers: Vec<usize>,
    pub memories: Vec<usize>,
    pub statements: Vec<Statement>,
    /// The statements by the hardware that they become, in the order of the first.
    pub groups: Vec<Group>,
    /// Something reads an output of this block, or it is the top.
    pub live: bool,
}

/// Statements that together define a set of signals: one `assign` or one `always @(*)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub targets: Vec<NetId>,
    pub statements: Vec<Statement>,
    /// The targets serve claims alone.
    pub formal: bool,
}

impl Group {
    /// Whether it is one unconditional assignment.
    pub fn is_plain(&self) -> bool {
        let mut assignments = self
            .statements
            .iter()
            .filter(|statement| !matches!(statement, Statement::Comment(_)));
        matches!(assignments.next(), Some(Statement::Assign { .. })) && assignments.next().is_none()
    }
}

/// What a net is to the block that declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Input,
    Output,
    Local,
    Constant,
    RegisterD(usize),
    RegisterQ(usize),
    RegisterClock(usize),
    RegisterReset(usize),
    MemoryClock(usize),
    MemoryIn(usize),
    MemoryOut(usize),
}

/// A signal, a constant, or a side of a register or memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Net {
    pub block: BlockId,
    /// As written in Rust within the block: `ticks.q`.
    pub name: String,
    /// As printed within the block: `ticks_q`.
    pub printed: String,
    pub role: Role,
    pub width: u32,
    pub kind: Type,
    pub doc: String,
    /// The value of a constant.
    pub value: Option<u128>,
    /// Something reads it, or it is a pin of the top.
    pub live: bool,
    /// Claims alone read it: it is in the checker, and no hardware.
    pub formal: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Register {
    pub name: String,
    pub block: BlockId,
    pub d: NetId,
    pub q: NetId,
    pub reset_value: u128,
    pub clock: Option<NetId>,
    pub reset: Option<NetId>,
    pub doc: String,
    /// No register, but a claim that `d` is 1.
    pub claim: Option<Claim>,
    /// No register, but what the copies of the block's registers say ([`Reg::voter`](super::Reg::voter)).
    pub votes: bool,
    /// Of this one, and others like it, a block that keeps copies keeps them ([`Reg::in_copies`](super::Reg::in_copies)).
    pub chosen: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemoryBlock {
    pub name: String,
    pub block: BlockId,
    pub depth: usize,
    pub width: u32,
    pub clock: Option<NetId>,
    pub read_address: NetId,
    pub read_data: NetId,
    pub write_enable: NetId,
    pub write_address: NetId,
    pub write_data: NetId,
    pub checks: Option<Checks>,
    pub doc: String,
}

/// What a memory with a code has besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checks {
    pub code: Code,
    pub read_valid: NetId,
    pub upset: NetId,
}

impl MemoryBlock {
    /// What comes out of it.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = NetId> {
        let upset = self.checks.map(|checks| checks.upset);
        std::iter::once(self.read_data).chain(upset)
    }

    /// What goes into it, but for the clock.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = NetId> {
        let used = self.checks.map(|checks| checks.read_valid);
        let always = [
            self.read_address,
            self.write_enable,
            self.write_address,
            self.write_data,
        ];
        always.into_iter().chain(used)
    }

    /// Bits of a word besides its data.
    pub(crate) fn check_bits(&self) -> u32 {
        let bits = |checks: Checks| checks.code.check_bits(self.width);
        self.checks.map_or(0, bits)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Statement {
    Assign {
        target: NetId,
        value: Expr,
        /// The default `d = q` of `dff_setup!`.
        hold: bool,
    },
    If {
        test: Expr,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    Case {
        test: Expr,
        arms: Vec<Arm>,
        default: Vec<Statement>,
        /// The state whose arm serves as the default too.
        default_state: Option<String>,
    },
    Comment(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arm {
    /// The printed name of the state.
    pub state: String,
    pub value: u128,
    pub body: Vec<Statement>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    LogicalAnd,
    LogicalOr,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Operator {
    pub fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Sub => "-",
            Operator::Mul => "*",
            Operator::And => "&",
            Operator::Or => "|",
            Operator::Xor => "^",
            Operator::LogicalAnd => "&&",
            Operator::LogicalOr => "||",
            Operator::Shl => "<<",
            Operator::Shr => ">>",
            Operator::Eq => "==",
            Operator::Ne => "!=",
            Operator::Lt => "<",
            Operator::Le => "<=",
            Operator::Gt => ">",
            Operator::Ge => ">=",
        }
    }

    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Operator::Eq | Operator::Ne | Operator::Lt | Operator::Le | Operator::Gt | Operator::Ge
        )
    }

    pub fn is_shift(self) -> bool {
        matches!(self, Operator::Shl | Operator::Shr)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reduction {
    All,
    Any,
    Xor,
}

/// An expression; every node has one width, which is also the width at which Verilog
/// evaluates it, because operands are never of different widths and extensions are
/// concatenations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expr {
    Literal {
        value: u128,
        width: u32,
    },
    /// A state by its printed name.
    State {
        name: String,
        value: u128,
        width: u32,
    },
    Net {
        net: NetId,
        width: u32,
    },
    Not(Box<Expr>),
    Reduce(Reduction, Box<Expr>),
    Binary {
        op: Operator,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// Zero-extended to `width`, which is larger than the operand's.
    Extend {
        of: Box<Expr>,
        width: u32,
    },
    /// `width` bits from bit `low` up; fewer than the operand has.
    Slice {
        of: Box<Expr>,
        low: u32,
        width: u32,
    },
    /// A bit at a computed place that is always within the net.
    BitAt {
        net: NetId,
        index: Box<Expr>,
    },
    /// Highest part first.
    Concat(Vec<Expr>),
    /// One of two values of the same width. No description has it: only wrong versions of a
    /// design that are to be chosen between ([`super::mutants`]).
    Select {
        test: Box<Expr>,
        yes: Box<Expr>,
        no: Box<Expr>,
    },
}

impl Expr {
    pub fn bit(value: bool) -> Expr {
        Expr::Literal {
            value: value.into(),
            width: 1,
        }
    }

    pub fn width(&self) -> u32 {
        match self {
            Expr::Literal { width, .. }
            | Expr::State { width, .. }
            | Expr::Net { width, .. }
            | Expr::Extend { width, .. }
            | Expr::Slice { width, .. } => *width,
            Expr::Not(of) => of.width(),
            Expr::Select { yes, .. } => yes.width(),
            Expr::Reduce(..) | Expr::BitAt { .. } => 1,
            Expr::Binary { op, left, .. } => match op {
                Operator::LogicalAnd | Operator::LogicalOr => 1,
                op if op.is_comparison() => 1,
                _ => left.width(),
            },
            Expr::Concat(parts) => parts.iter().map(Expr::width).sum(),
        }
    }

    /// Calls `visit` for every net read.
    pub fn reads(&self, visit: &mut impl FnMut(NetId)) {
        match self {
            Expr::Literal { .. } | Expr::State { .. } => {}
            Expr::Net { net, .. } => visit(*net),
            Expr::Not(of) | Expr::Reduce(_, of) => of.reads(visit),
            Expr::Extend { of, .. } | Expr::Slice { of, .. } => of.reads(visit),
            Expr::Binary { left, right, .. } => {
                left.reads(visit);
                right.reads(visit);
            }
            Expr::BitAt { net, index } => {
                visit(*net);
                index.reads(visit);
            }
            Expr::Concat(parts) => parts.iter().for_each(|part| part.reads(visit)),
            Expr::Select { test, yes, no } => {
                test.reads(visit);
                yes.reads(visit);
                no.reads(visit);
            }
        }
    }

    /// The value, if it depends on constants alone.
    pub fn constant(&self, nets: &[Net]) -> Option<u128> {
        let width = self.width();
        let value = match self {
            Expr::Literal { value, .. } | Expr::State { value, .. } => *value,
            Expr::Net { net, .. } => nets[*net].value?,
            Expr::Not(of) => !of.constant(nets)?,
            Expr::Reduce(reduction, of) => {
                let value = of.constant(nets)?;
                u128::from(match reduction {
                    Reduction::All => value == mask(of.width()),
                    Reduction::Any => value != 0,
                    Reduction::Xor => value.count_ones() % 2 == 1,
                })
            }
            Expr::Binary { op, left, right } => {
                let (a, b) = (left.constant(nets)?, right.constant(nets)?);
                match op {
                    Operator::Add => a.wrapping_add(b),
                    Operator::Sub => a.wrapping_sub(b),
                    Operator::Mul => a.wrapping_mul(b),
                    Operator::And | Operator::LogicalAnd => a & b,
                    Operator::Or | Operator::LogicalOr => a | b,
                    Operator::Xor => a ^ b,
                    Operator::Shl if b < 128 => a << b,
                    Operator::Shr if b < 128 => a >> b,
                    Operator::Shl | Operator::Shr => 0,
                    Operator::Eq => u128::from(a == b),
                    Operator::Ne => u128::from(a != b),
                    Operator::Lt => u128::from(a < b),
                    Operator::Le => u128::from(a <= b),
                    Operator::Gt => u128::from(a > b),
                    Operator::Ge => u128::from(a >= b),
                }
            }
            Expr::Extend { of, .. } => of.constant(nets)?,
            Expr::Slice { of, low, .. } => of.constant(nets)? >> low,
            Expr::BitAt { net, index } => {
                let index = index.constant(nets)?;
                if index < 128 {
                    nets[*net].value? >> index
                } else {
                    0
                }
            }
            Expr::Select { test, yes, no } => match test.constant(nets)? {
                0 => no.constant(nets)?,
                _ => yes.constant(nets)?,
            },
            Expr::Concat(parts) => {
                let mut value = 0;
                for part in parts {
                    // A part that fills all 128 bits stands alone.
                    value = if part.width() < 128 {
                        value << part.width()
                    } else {
                        0
                    };
                    value |= part.constant(nets)?;
                }
                value
            }
        };
        Some(value & mask(width))
    }
}

/// Builds expressions: folds what is known at elaboration, and moves slices to where
/// they cost nothing.
pub(crate) struct Builder<'a> {
    pub nets: &'a [Net],
}

impl Builder<'_> {
    pub fn net(&self, net: NetId) -> Expr {
        let declared = &self.nets[net];
        match (declared.value, &declared.kind) {
            // A constant bit is a choice between variants: it is not part of the hardware.
            (Some(value), Type::Bit) => Expr::Literal { value, width: 1 },
            _ => Expr::Net {
                net,
                width: declared.width,
            },
        }
    }

    pub fn not(&self, of: Expr) -> Expr {
        match of {
            Expr::Literal { value, width } => Expr::Literal {
                value: !value & mask(width),
                width,
            },
            Expr::Not(inner) => *inner,
            Expr::Binary {
                op: op @ (Operator::Eq | Operator::Ne),
                left,
                right,
            } => Expr::Binary {
                op: match op {
                    Operator::Eq => Operator::Ne,
                    _ => Operator::Eq,
                },
                left,
                right,
            },
            of => Expr::Not(Box::new(of)),
        }
    }

    pub fn reduce(&self, reduction: Reduction, of: Expr) -> Expr {
        if of.width() == 1 {
            return of;
        }
        let node = Expr::Reduce(reduction, Box::new(of));
        match node.constant(self.nets) {
            Some(value) => Expr::Literal { value, width: 1 },
            None => node,
        }
    }

    pub fn binary(&self, op: Operator, left: Expr, right: Expr) -> Expr {
        let width = left.width();
        let known = |expr: &Expr| match expr {
            Expr::Literal { value, .. } => Some(*value),
            _ => None,
        };
        // Operands that change nothing, or decide everything.
        let ones = mask(width);
        match (op, known(&left), known(&right)) {
            (Operator::And | Operator::Mul | Operator::Shl | Operator::Shr, Some(0), _) => {
                return left
            }
            (Operator::And | Operator::Mul, _, Some(0)) => return right,
            (Operator::Add | Operator::Or | Operator::Xor, Some(0), _) => return right,
            (Operator::Add | Operator::Sub | Operator::Or | Operator::Xor, _, Some(0)) => {
                return left
            }
            (Operator::Mul, Some(1), _) => return right,
            (Operator::Mul, _, Some(1)) => return left,
            (Operator::And, Some(value), _) if value == ones => return right,
            (Operator::And, _, Some(value)) if value == ones => return left,
            (Operator::Or, Some(value), _) if value == ones => return left,
            (Operator::Or, _, Some(value)) if value == ones => return right,
            _ => {}
        }
        match op {
            Operator::And | Operator::LogicalAnd if width == 1 => {
                match (known(&left), known(&right)) {
                    (Some(0), _) | (_, Some(0)) => return Expr::bit(false),
                    (Some(_), _) => return right,
                    (_, Some(_)) => return left,
                    _ => {}
                }
            }
            Operator::Or | Operator::LogicalOr if width == 1 => {
                match (known(&left), known(&right)) {
                    (Some(0), _) => return right,
                    (_, Some(0)) => return left,
                    (Some(_), _) | (_, Some(_)) => return Expr::bit(true),
                    _ => {}
                }
            }
            Operator::Or => {
                if let Some(joined) = self.join(&left, &right) {
                    return joined;
                }
                if let Some(joined) = self.join(&right, &left) {
                    return joined;
                }
            }
            Operator::Shl | Operator::Shr => {
                if let Some(amount) = right.constant(self.nets) {
                    return self.shift(op, left, amount, right);
                }
            }
            op if op.is_comparison() => {
                // Comparisons that the range of the operands decides.
                let (a, b) = (left.constant(self.nets), right.constant(self.nets));
                let most = |expr: &Expr, known: Option<u128>| match expr {
                    Expr::Extend { of, .. } => mask(of.width()),
                    _ => known.unwrap_or(mask(width)),
                };
                let (most_a, most_b) = (most(&left, a), most(&right, b));
                let decided = match (op, a, b) {
                    (Operator::Lt, _, Some(b)) if b == 0 || b > most_a => Some(b != 0),
                    (Operator::Ge, _, Some(b)) if b == 0 || b > most_a => Some(b == 0),
                    (Operator::Gt, _, Some(b)) if b >= most_a => Some(false),
                    (Operator::Le, _, Some(b)) if b >= most_a => Some(true),
                    (Operator::Eq, _, Some(b)) if b > most_a => Some(false),
                    (Operator::Ne, _, Some(b)) if b > most_a => Some(true),
                    (Operator::Gt, Some(a), _) if a == 0 || a > most_b => Some(a != 0),
                    (Operator::Le, Some(a), _) if a == 0 || a > most_b => Some(a == 0),
                    (Operator::Lt, Some(a), _) if a >= most_b => Some(false),
                    (Operator::Ge, Some(a), _) if a >= most_b => Some(true),
                    (Operator::Eq, Some(a), _) if a > most_b => Some(false),
                    (Operator::Ne, Some(a), _) if a > most_b => Some(true),
                    _ => None,
                };
                if let Some(value) = decided {
                    return Expr::bit(value);
                }
            }
            _ => {}
        }
        let fold = known(&left).is_some() && known(&right).is_some() || op.is_comparison();
        let node = Expr::Binary {
            op,
            left: Box::new(left),
            right: Box::new(right),
        };
        match node.constant(self.nets) {
            Some(value) if fold => Expr::Literal {
                value,
                width: node.width(),
            },
            _ => node,
        }
    }

    fn shift(&self, op: Operator, left: Expr, amount: u128, written: Expr) -> Expr {
        let width = left.width();
        if amount == 0 {
            return left;
        }
        if amount >= u128::from(width) {
            return Expr::Literal { value: 0, width };
        }
        let amount = amount as u32;
        if let Expr::Literal { value, .. } = left {
            let value = match op {
                Operator::Shl => value << amount,
                _ => value >> amount,
            };
            return Expr::Literal {
                value: value & mask(width),
                width,
            };
        }
        // The bits that remain are all zeros.
        let most = match &left {
            Expr::Extend { of, .. } => of.width(),
            _ => width,
        };
        if op == Operator::Shr && amount >= most {
            return Expr::Literal { value: 0, width };
        }
        if let (Operator::Shl, Expr::Extend { of, .. }) = (op, &left) {
            if of.width() + amount <= width {
                let parts = vec![
                    (**of).clone(),
                    Expr::Literal {
                        value: 0,
                        width: amount,
                    },
                ];
                return self.extend(self.concat(parts), width);
            }
        }
        Expr::Binary {
            op,
            left: Box::new(left),
            right: Box::new(written),
        }
    }

    /// `high | low` as a concatenation, if `high` ends in at least as many zeros as `low`
    /// has bits.
    fn join(&self, high: &Expr, low: &Expr) -> Option<Expr> {
        let width = high.width();
        let Expr::Extend { of: low, .. } = low else {
            return None;
        };
        let parts = match high {
            Expr::Concat(parts) => parts,
            Expr::Extend { of, .. } => match &**of {
                Expr::Concat(parts) => parts,
                _ => return None,
            },
            _ => return None,
        };
        let (last, rest) = parts.split_last()?;
        let Expr::Literal {
            value: 0,
            width: zeros,
        } = last
        else {
            return None;
        };
        let gap = zeros.checked_sub(low.width())?;
        let mut parts = rest.to_vec();
        if gap > 0 {
            parts.push(Expr::Literal {
                value: 0,
                width: gap,
            });
        }
        parts.push((**low).clone());
        Some(self.extend(self.concat(parts), width))
    }

    pub fn concat(&self, parts: Vec<Expr>) -> Expr {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Expr::Concat(inner) => flat.extend(inner),
                part => flat.push(part),
            }
        }
        if flat.len() == 1 {
            flat.remove(0)
        } else {
            Expr::Concat(flat)
        }
    }

    pub fn extend(&self, of: Expr, width: u32) -> Expr {
        if of.width() == width {
            return of;
        }
        match of {
            Expr::Literal { value, .. } => Expr::Literal { value, width },
            Expr::Extend { of, .. } => Expr::Extend { of, width },
            of => Expr::Extend {
                of: Box::new(of),
                width,
            },
        }
    }

    /// Zero-extends or truncates.
    pub fn cast(&self, of: Expr, width: u32) -> Expr {
        if width >= of.width() {
            self.extend(of, width)
        } else {
            self.slice(of, 0, width)
        }
    }

    /// `width` bits from bit `low` up. `low + width` is at most the operand's width.
    pub fn slice(&self, of: Expr, low: u32, width: u32) -> Expr {
        let full = of.width();
        if low == 0 && width == full {
            return of;
        }
        if let Some(value) = of.constant(self.nets) {
            return Expr::Literal {
                value: (value >> low) & mask(width),
                width,
            };
        }
        let zeros = |width| Expr::Literal { value: 0, width };
        match of {
            Expr::Not(inner) => self.not(self.slice(*inner, low, width)),
            Expr::Binary { op, left, right }
                if matches!(op, Operator::And | Operator::Or | Operator::Xor)
                    || low == 0 && matches!(op, Operator::Add | Operator::Sub | Operator::Mul) =>
            {
                self.binary(
                    op,
                    self.slice(*left, low, width),
                    self.slice(*right, low, width),
                )
            }
            // The low bits of a sum depend on the low bits of its operands alone.
            Expr::Binary { op, left, right }
                if matches!(op, Operator::Add | Operator::Sub | Operator::Mul)
                    && low + width < full =>
            {
                let sum = self.binary(
                    op,
                    self.slice(*left, 0, low + width),
                    self.slice(*right, 0, low + width),
                );
                Expr::Slice {
                    of: Box::new(sum),
                    low,
                    width,
                }
            }
            Expr::Binary {
                op: Operator::Shl,
                left,
                right,
            } if low == 0 => self.binary(Operator::Shl, self.slice(*left, 0, width), *right),
            Expr::Binary {
                op: Operator::Shr,
                left,
                right,
            } if right.constant(self.nets).is_some() => {
                // Folding has left amounts between 1 and the width less one.
                let amount = right.constant(self.nets).unwrap_or(0) as u32;
                let first = low + amount;
                if first >= full {
                    zeros(width)
                } else {
                    let present = width.min(full - first);
                    self.extend(self.slice(*left, first, present), width)
                }
            }
            Expr::Extend { of, .. } => {
                let inner = of.width();
                if low >= inner {
                    zeros(width)
                } else {
                    let present = width.min(inner - low);
                    self.extend(self.slice(*of, low, present), width)
                }
            }
            Expr::Slice { of, low: below, .. } => self.slice(*of, below + low, width),
            Expr::Concat(parts) => {
                let mut kept = Vec::new();
                let mut base = full;
                for part in parts {
                    base -= part.width();
                    let top = base + part.width();
                    let (from, to) = (low.max(base), (low + width).min(top));
                    if from < to {
                        kept.push(self.slice(part, from - base, to - from));
                    }
                }
                self.concat(kept)
            }
            of => Expr::Slice {
                of: Box::new(of),
                low,
                width,
            },
        }
    }

    /// Bit `index` of `of`, 0 beyond its width.
    pub fn bit_at(&self, of: Expr, index: Expr) -> Expr {
        let width = of.width();
        if let Some(index) = index.constant(self.nets) {
            return if index < u128::from(width) {
                self.slice(of, index as u32, 1)
            } else {
                Expr::bit(false)
            };
        }
        if let Expr::Net { net, .. } = of {
            let fits = index.width() < 32 && 1u64 << index.width() <= u64::from(width);
            if fits && self.nets[net].value.is_none() {
                let places = super::values::clog2(width.into());
                return Expr::BitAt {
                    net,
                    index: Box::new(self.extend(index, places)),
                };
            }
        }
        let one = Expr::Literal { value: 1, width };
        let selected = self.binary(Operator::Shl, one, index);
        self.reduce(Reduction::Any, self.binary(Operator::And, of, selected))
    }

    /// Builds the expression again after constants have become known.
    pub fn rebuild(&self, expr: &Expr) -> Expr {
        match expr {
            Expr::Literal { .. } | Expr::State { .. } => expr.clone(),
            Expr::Net { net, .. } => self.net(*net),
            Expr::Not(of) => self.not(self.rebuild(of)),
            Expr::Reduce(reduction, of) => self.reduce(*reduction, self.rebuild(of)),
            Expr::Binary { op, left, right } => {
                self.binary(*op, self.rebuild(left), self.rebuild(right))
            }
            Expr::Extend { of, width } => self.extend(self.rebuild(of), *width),
            Expr::Slice { of, low, width } => self.slice(self.rebuild(of), *low, *width),
            Expr::BitAt { net, index } => self.bit_at(self.net(*net), self.rebuild(index)),
            Expr::Concat(parts) => {
                self.concat(parts.iter().map(|part| self.rebuild(part)).collect())
            }
            Expr::Select { test, yes, no } => Expr::Select {
                test: Box::new(self.rebuild(test)),
                yes: Box::new(self.rebuild(yes)),
                no: Box::new(self.rebuild(no)),
            },
        }
    }
}

/// Calls `visit` for every expression of the statements.
pub(crate) fn for_each_expr(statements: &[Statement], visit: &mut impl FnMut(&Expr)) {
    for statement in statements {
        match statement {
            Statement::Assign { value, .. } => visit(value),
            Statement::If {
                test,
                then,
                otherwise,
            } => {
                visit(test);
                for_each_expr(then, visit);
                for_each_expr(otherwise, visit);
            }
            Statement::Case {
                test,
                arms,
                default,
                ..
            } => {
                visit(test);
                for arm in arms {
                    for_each_expr(&arm.body, visit);
                }
                for_each_expr(default, visit);
            }
            Statement::Comment(_) => {}
        }
    }
}

/// Calls `visit` for every assigned net.
pub(crate) fn for_each_target(statements: &[Statement], visit: &mut impl FnMut(NetId)) {
    for statement in statements {
        match statement {
            Statement::Assign { target, .. } => visit(*target),
            Statement::If {
                then, otherwise, ..
            } => {
                for_each_target(then, visit);
                for_each_target(otherwise, visit);
            }
            Statement::Case { arms, default, .. } => {
                for arm in arms {
                    for_each_target(&arm.body, visit);
                }
                for_each_target(default, visit);
            }
            Statement::Comment(_) => {}
        }
    }
}

/// The statements with the assignments to nets that `keep` refuses left out, and with
/// them the conditions and comments that served nothing else.
pub(crate) fn retain(statements: &[Statement], keep: &impl Fn(NetId) -> bool) -> Vec<Statement> {
    let mut kept: Vec<Statement> = Vec::new();
    let mut comments: Vec<Statement> = Vec::new();
    for statement in statements {
        let statement = match statement {
            Statement::Comment(_) => {
                comments.push(statement.clone());
                continue;
            }
            Statement::Assign { target, .. } => keep(*target).then(|| statement.clone()),
            Statement::If {
                test,
                then,
                otherwise,
            } => {
                let then = retain(then, keep);
                let otherwise = retain(otherwise, keep);
                (!then.is_empty() || !otherwise.is_empty()).then(|| Statement::If {
                    test: test.clone(),
                    then,
                    otherwise,
                })
            }
            Statement::Case {
                test,
                arms,
                default,
                default_state,
            } => {
                let arms: Vec<Arm> = arms
                    .iter()
                    .map(|arm| Arm {
                        body: retain(&arm.body, keep),
                        ..arm.clone()
                    })
                    .collect();
                let default = retain(default, keep);
                let used = !default.is_empty() || arms.iter().any(|arm| !arm.body.is_empty());
                used.then(|| Statement::Case {
                    test: test.clone(),
                    arms,
                    default,
                    default_state: default_state.clone(),
                })
            }
        };
        if let Some(statement) = statement {
            kept.append(&mut comments);
            kept.push(statement);
        }
        comments.clear();
    }
    kept
}
