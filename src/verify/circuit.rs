//! The formulas that Yosys writes of a design, worked out for states that are given.

use std::collections::{HashMap, HashSet};

/// The bits of a state, and of the inputs of its cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// So many bits, all 0.
    pub(super) fn zeros(bits: u32) -> Bits {
        Bits(vec![0; bits.div_ceil(64) as usize])
    }

    /// What a solver writes of a bit vector: `#b` and binary digits, or `#x` and hexadecimal ones.
    pub(super) fn read(text: &str, bits: u32) -> Option<Bits> {
        let (digits, each) = match text.split_at_checked(2)? {
            ("#b", digits) => (digits, 1),
            ("#x", digits) => (digits, 4),
            _ => return None,
        };
        if digits.len() as u32 * each != bits {
            return None;
        }
        let mut read = Bits::zeros(bits);
        for (at, digit) in (0..).zip(digits.chars().rev()) {
            read.set(at * each, each, digit.to_digit(1 << each)?.into());
        }
        Some(read)
    }

    /// `width` bits from `low` on, at most 128.
    pub(super) fn get(&self, low: u32, width: u32) -> u128 {
        let (word, shift) = ((low / 64) as usize, low % 64);
        let part = |at: usize| u128::from(self.0.get(at).copied().unwrap_or(0));
        let mut value = (part(word) | part(word + 1) << 64) >> shift;
        if shift > 0 && width + shift > 128 {
            value |= part(word + 2) << (128 - shift);
        }
        value & ones(width)
    }

    /// Puts `value` into these bits.
    pub(super) fn set(&mut self, low: u32, width: u32, value: u128) {
        for bit in 0..width {
            let (word, shift) = (((low + bit) / 64) as usize, (low + bit) % 64);
            self.0[word] &= !(1 << shift);
            self.0[word] |= ((value >> bit & 1) as u64) << shift;
        }
    }
}

/// So many 1s.
fn ones(width: u32) -> u128 {
    match width {
        0 => 0,
        width => u128::MAX >> (128 - width),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Op {
    /// Bits of the state, from here on.
    State(u32),
    Constant(u128),
    Not,
    And,
    Or,
    Xor,
    Add,
    Sub,
    Mul,
    Shl,
    Shr,
    Equal,
    Less,
    LessOrEqual,
    Choose,
    Concat,
    /// Bits of the operand, from here on.
    Extract(u32),
}

struct Node {
    op: Op,
    of: [usize; 3],
    width: u32,
}

/// What the formulas of a design say: values in a cycle, and the state after it.
pub(super) struct Circuit {
    nodes: Vec<Node>,
    /// By the names of the functions.
    named: HashMap<String, usize>,
    /// Lowest bit and value of what the next state has.
    next: Vec<(u32, usize)>,
}

/// The values of all formulas in one cycle.
pub(super) struct Values<'a> {
    circuit: &'a Circuit,
    of: Vec<u128>,
}

impl Values<'_> {
    /// The value of the function of this name, if there is one.
    pub(super) fn named(&self, name: &str) -> Option<u128> {
        self.circuit.named.get(name).map(|&node| self.of[node])
    }

    /// Sets the registers of `state` to what they are in the next cycle.
    pub(super) fn step(&self, state: &mut Bits) {
        for &(low, node) in &self.circuit.next {
            state.set(low, self.circuit.nodes[node].width, self.of[node]);
        }
    }
}

impl Circuit {
    /// The design with this top. `None` if it has something that is not understood, or that is wider
    /// than 128 bits.
    pub(super) fn read(top: &str, text: &str) -> Option<Circuit> {
        let mut circuit = Circuit {
            nodes: Vec::new(),
            named: HashMap::new(),
            next: Vec::new(),
        };
        for form in Form::read_all(text)? {
            let Form::List(parts) = form else {
                return None;
            };
            let [Form::Word("define-fun"), Form::Word(name), Form::List(arguments), _, body] =
                &parts[..]
            else {
                continue;
            };
            match arguments.len() {
                1 => {
                    let node = circuit.term(body)?;
                    circuit.named.insert(bare(name).to_owned(), node);
                }
                _ if bare(name) == format!("{top}_t") => circuit.transition(body)?,
                _ => return None,
            }
        }
        Some(circuit)
    }

    /// All values in a cycle.
    pub(super) fn values(&self, state: &Bits) -> Values<'_> {
        let mut of: Vec<u128> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let [a, b, c] = node.of;
            let raw = match node.op {
                Op::State(low) => state.get(low, node.width),
                Op::Constant(value) => value,
                Op::Not => !of[a],
                Op::And => of[a] & of[b],
                Op::Or => of[a] | of[b],
                Op::Xor => of[a] ^ of[b],
                Op::Add => of[a].wrapping_add(of[b]),
                Op::Sub => of[a].wrapping_sub(of[b]),
                Op::Mul => of[a].wrapping_mul(of[b]),
                Op::Shl | Op::Shr => {
                    let by = u32::try_from(of[b]).unwrap_or(u32::MAX);
                    match node.op {
                        Op::Shl => of[a].checked_shl(by).unwrap_or(0),
                        _ => of[a].checked_shr(by).unwrap_or(0),
                    }
                }
                Op::Equal => u128::from(of[a] == of[b]),
                Op::Less => u128::from(of[a] < of[b]),
                Op::LessOrEqual => u128::from(of[a] <= of[b]),
                Op::Choose => match of[a] {
                    0 => of[c],
                    _ => of[b],
                },
                Op::Concat => of[a] << self.nodes[b].width | of[b],
                Op::Extract(low) => of[a] >> low,
            };
            of.push(raw & ones(node.width));
        }
        Values { circuit: self, of }
    }

    /// The lowest bits of all parts of the state that the next value of the register at `low` depends
    /// on.
    pub(super) fn support(&self, low: u32) -> HashSet<u32> {
        let next = self.next.iter().filter(|(register, _)| *register == low);
        let mut open: Vec<usize> = next.map(|&(_, node)| node).collect();
        let mut seen: HashSet<usize> = open.iter().copied().collect();
        let mut support = HashSet::new();
        while let Some(at) = open.pop() {
            let node = &self.nodes[at];
            match node.op {
                Op::State(low) => {
                    support.insert(low);
                }
                Op::Constant(_) => {}
                _ => open.extend(node.of.iter().filter(|&&of| seen.insert(of))),
            }
        }
        support
    }

    fn push(&mut self, op: Op, of: [usize; 3], width: u32) -> Option<usize> {
        let fits = (1..=128).contains(&width);
        fits.then(|| {
            self.nodes.push(Node { op, of, width });
            self.nodes.len() - 1
        })
    }

    /// `(and (= value (register next_state)) ...)`, or one of these alone.
    fn transition(&mut self, body: &Form) -> Option<()> {
        match body {
            Form::Word("true") => Some(()),
            Form::List(parts) => match &parts[..] {
                [Form::Word("and"), all @ ..] => all.iter().try_for_each(|it| self.transition(it)),
                [Form::Word("="), value, Form::List(register)] => {
                    let [Form::Word(name), Form::Word("next_state")] = &register[..] else {
                        return None;
                    };
                    let low = self.place(*self.named.get(bare(name))?)?;
                    let node = self.term(value)?;
                    self.next.push((low, node));
                    Some(())
                }
                _ => None,
            },
            Form::Word(_) => None,
        }
    }

    /// Where a register lies that this formula is: bits of the state, as they are or as a truth
    /// value.
    fn place(&self, node: usize) -> Option<u32> {
        let Node { op, of, .. } = &self.nodes[node];
        match *op {
            Op::State(low) => Some(low),
            Op::Equal => match (self.nodes[of[0]].op, self.nodes[of[1]].op) {
                (Op::State(low), Op::Constant(1)) => Some(low),
                _ => None,
            },
            _ => None,
        }
    }

    fn term(&mut self, form: &Form) -> Option<usize> {
        let parts = match form {
            Form::Word("true") => return self.push(Op::Constant(1), [0; 3], 1),
            Form::Word("false") => return self.push(Op::Constant(0), [0; 3], 1),
            Form::Word(word) => {
                let digits = word.strip_prefix("#b")?;
                let width = u32::try_from(digits.len()).ok()?;
                let value = u128::from_str_radix(digits, 2).ok()?;
                return self.push(Op::Constant(value), [0; 3], width);
            }
            Form::List(parts) => parts,
        };
        let name = match &parts[..] {
            [Form::List(extract), of] => {
                let [Form::Word("_"), Form::Word("extract"), Form::Word(high), Form::Word(low)] =
                    extract[..]
                else {
                    return None;
                };
                let (high, low): (u32, u32) = (high.parse().ok()?, low.parse().ok()?);
                let width = (high + 1).checked_sub(low)?;
                return match of {
                    Form::Word("state") => self.push(Op::State(low), [0; 3], width),
                    of => {
                        let of = self.term(of)?;
                        self.push(Op::Extract(low), [of; 3], width)
                    }
                };
            }
            [Form::Word(name), Form::Word("state")] => return self.named.get(bare(name)).copied(),
            [Form::Word(name), ..] => *name,
            _ => return None,
        };
        let of: Vec<usize> = parts[1..]
            .iter()
            .map(|part| self.term(part))
            .collect::<Option<_>>()?;
        let op = match name {
            "not" | "bvnot" => Op::Not,
            "and" | "bvand" => Op::And,
            "or" | "bvor" => Op::Or,
            "xor" | "bvxor" => Op::Xor,
            "bvadd" => Op::Add,
            "bvsub" => Op::Sub,
            "bvmul" => Op::Mul,
            "bvshl" => Op::Shl,
            "bvlshr" => Op::Shr,
            "=" | "distinct" => Op::Equal,
            "bvult" | "bvugt" => Op::Less,
            "bvule" | "bvuge" => Op::LessOrEqual,
            "ite" => Op::Choose,
            "concat" => Op::Concat,
            _ => return None,
        };
        let width = |node: usize| self.nodes[node].width;
        match (name, &of[..]) {
            (_, &[a]) if op == Op::Not => self.push(op, [a; 3], width(a)),
            ("ite", &[test, yes, no]) => self.push(op, [test, yes, no], width(yes)),
            ("=", &[a, b]) | ("bvult" | "bvule", &[a, b]) | ("bvugt" | "bvuge", &[b, a]) => {
                self.push(op, [a, b, a], 1)
            }
            ("distinct", &[a, b]) => {
                let equal = self.push(op, [a, b, a], 1)?;
                self.push(Op::Not, [equal; 3], 1)
            }
            ("bvsub" | "bvshl" | "bvlshr", &[a, b]) => self.push(op, [a, b, a], width(a)),
            ("concat", &[first, ref others @ ..]) => others.iter().try_fold(first, |high, &low| {
                let width = self.nodes[high].width + self.nodes[low].width;
                self.push(op, [high, low, low], width)
            }),
            (
                "and" | "or" | "xor" | "bvand" | "bvor" | "bvxor" | "bvadd" | "bvmul",
                &[first, ref others @ ..],
            ) => {
                let width = width(first);
                others
                    .iter()
                    .try_fold(first, |all, &one| self.push(op, [all, one, one], width))
            }
            _ => None,
        }
    }
}

/// A name without the bars around it.
fn bare(name: &str) -> &str {
    name.trim_matches('|')
}

/// An expression in brackets.
enum Form<'a> {
    Word(&'a str),
    List(Vec<Form<'a>>),
}

impl<'a> Form<'a> {
    /// All expressions of a text, comments left out.
    fn read_all(text: &'a str) -> Option<Vec<Form<'a>>> {
        let mut open: Vec<Vec<Form>> = vec![Vec::new()];
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = match first {
                ';' => rest.find('\n').unwrap_or(rest.len()),
                '(' => {
                    open.push(Vec::new());
                    1
                }
                ')' => {
                    let list = Form::List(open.pop()?);
                    open.last_mut()?.push(list);
                    1
                }
                space if space.is_whitespace() => space.len_utf8(),
                _ => {
                    let length = match first {
                        '|' => rest[1..].find('|')? + 2,
                        _ => rest
                            .find(|it: char| it.is_whitespace() || "();|".contains(it))
                            .unwrap_or(rest.len()),
                    };
                    open.last_mut()?.push(Form::Word(&rest[..length]));
                    length
                }
            };
            rest = &rest[length..];
        }
        let all = open.pop()?;
        open.is_empty().then_some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bits, Circuit};

    #[test]
    fn bits_across_words() {
        let mut bits = Bits::zeros(200);
        bits.set(60, 70, 0x2a_5555_3333_0f0f_1234);
        assert_eq!(bits.get(60, 70), 0x2a_5555_3333_0f0f_1234);
        assert_eq!(bits.get(59, 128), 0x2a_5555_3333_0f0f_1234 << 1);
        bits.set(64, 8, 0);
        assert_eq!(bits.get(60, 12), 4);
        assert_eq!(Bits::read("#b0101", 4), Bits::read("#x5", 4));
        assert_eq!(Bits::read("#b0101", 5), None);
        assert_eq!(Bits::read("5", 1), None);
    }

    /// A counter that stops at 12, and a flag that is a truth value.
    #[test]
    fn a_design_in_steps() {
        let text = "; yosys-smt2-module top
(define-sort |top_s| () (_ BitVec 6))
(define-fun |top#0| ((state |top_s|)) (_ BitVec 4) ((_ extract 3 0) state)) ; \\count_q
(define-fun |top#1| ((state |top_s|)) Bool (= ((_ extract 4 4) state) #b1)) ; \\flag_q
(define-fun |top_n in| ((state |top_s|)) Bool (= ((_ extract 5 5) state) #b1)) ; \\in
(define-fun |top#2| ((state |top_s|)) Bool (bvuge (|top#0| state) #b1100)) ; (a comment
(define-fun |top#3| ((state |top_s|)) (_ BitVec 4) (ite (|top#2| state) (|top#0| state) \
(bvadd (|top#0| state) #b0001)))
(define-fun |top#4| ((state |top_s|)) Bool (and (|top_n in| state) (not (|top#2| state))))
(define-fun |top_t| ((state |top_s|) (next_state |top_s|)) Bool (and
  (= (|top#3| state) (|top#0| next_state)) ; $procdff$1 \\count_q
  (= (|top#4| state) (|top#1| next_state)) ; $procdff$2 \\flag_q
)) ; end of module top
";
        let circuit = Circuit::read("top", text).unwrap();
        let mut state = Bits::zeros(6);
        state.set(0, 6, 0b10_1010);
        let mut seen = Vec::new();
        for _ in 0..4 {
            let values = circuit.values(&state);
            assert_eq!(values.named("top_n in"), Some(1));
            assert_eq!(values.named("top#7"), None);
            values.step(&mut state);
            seen.push((state.get(0, 4), state.get(4, 1)));
        }
        assert_eq!(seen, [(11, 1), (12, 1), (12, 0), (12, 0)]);
        assert!(Circuit::read("top", "(define-fun |f| ((state s)) Bool (bvsmod state))").is_none());
        assert!(Circuit::read("top", "(define-fun").is_none());
    }
}
