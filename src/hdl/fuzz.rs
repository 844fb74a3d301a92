//! Random expressions: what the builder folds and moves, and what the printer prints,
//! against plain arithmetic.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::check::{lints, run, VerilogSimulator};
use super::elaborate::finish;
use super::ir::{Arm, Block, Builder, Design, Expr, Net, Operator, Reduction, Role, Statement};
use super::passes::fold;
use super::sim::{Pin, PinDirection};
use super::values::{mask, Type};
use super::verilog::{self, Header};

/// How many random inputs every random design gets.
const CYCLES: usize = 100;

/// The expression as it was drawn, without any folding.
enum Drawn {
    Net(usize),
    Literal(u128, u32),
    Not(Box<Drawn>),
    Reduce(Reduction, Box<Drawn>),
    Binary(Operator, Box<Drawn>, Box<Drawn>),
    Cast(Box<Drawn>, u32),
    Bit(Box<Drawn>, Box<Drawn>),
}

impl Drawn {
    fn width(&self, nets: &[Net]) -> u32 {
        match self {
            Drawn::Net(net) => nets[*net].width,
            Drawn::Literal(_, width) | Drawn::Cast(_, width) => *width,
            Drawn::Not(of) => of.width(nets),
            Drawn::Reduce(..) | Drawn::Bit(..) => 1,
            Drawn::Binary(op, left, _) => {
                if op.is_comparison() {
                    1
                } else {
                    left.width(nets)
                }
            }
        }
    }

    /// Plain arithmetic, as in `Bits`.
    fn value(&self, nets: &[Net], values: &[u128]) -> u128 {
        let width = self.width(nets);
        let value = match self {
            Drawn::Net(net) => values[*net],
            Drawn::Literal(value, _) => *value,
            Drawn::Not(of) => !of.value(nets, values),
            Drawn::Cast(of, _) => of.value(nets, values),
            Drawn::Reduce(reduction, of) => {
                let value = of.value(nets, values);
                u128::from(match reduction {
                    Reduction::All => value == mask(of.width(nets)),
                    Reduction::Any => value != 0,
                    Reduction::Xor => value.count_ones() % 2 == 1,
                })
            }
            Drawn::Bit(of, index) => {
                let index = index.value(nets, values);
                if index < 128 {
                    of.value(nets, values) >> index & 1
                } else {
                    0
                }
            }
            Drawn::Binary(op, left, right) => {
                let (a, b) = (left.value(nets, values), right.value(nets, values));
                match op {
                    Operator::Add => a.wrapping_add(b),
                    Operator::Sub => a.wrapping_sub(b),
                    Operator::Mul => a.wrapping_mul(b),
                    Operator::And | Operator::LogicalAnd => a & b,
                    Operator::Or | Operator::LogicalOr => a | b,
                    Operator::Xor => a ^ b,
                    Operator::Shl => a.checked_shl(b.min(200) as u32).unwrap_or(0),
                    Operator::Shr => a.checked_shr(b.min(200) as u32).unwrap_or(0),
                    Operator::Eq => u128::from(a == b),
                    Operator::Ne => u128::from(a != b),
                    Operator::Lt => u128::from(a < b),
                    Operator::Le => u128::from(a <= b),
                    Operator::Gt => u128::from(a > b),
                    Operator::Ge => u128::from(a >= b),
                }
            }
        };
        value & mask(width)
    }

    fn build(&self, builder: &Builder) -> Expr {
        match self {
            Drawn::Net(net) => builder.net(*net),
            Drawn::Literal(value, width) => Expr::Literal {
                value: *value,
                width: *width,
            },
            Drawn::Not(of) => builder.not(of.build(builder)),
            Drawn::Reduce(reduction, of) => builder.reduce(*reduction, of.build(builder)),
            Drawn::Binary(op, left, right) => {
                builder.binary(*op, left.build(builder), right.build(builder))
            }
            Drawn::Cast(of, width) => builder.cast(of.build(builder), *width),
            Drawn::Bit(of, index) => builder.bit_at(of.build(builder), index.build(builder)),
        }
    }
}

/// Draws an expression of the given width.
fn draw(rng: &mut ChaCha8Rng, nets: &[Net], inputs: usize, width: u32, depth: u32) -> Drawn {
    let any_width = |rng: &mut ChaCha8Rng| rng.random_range(1..=12);
    if depth == 0 {
        let net = rng.random_range(0..inputs);
        let leaf = if rng.random_ratio(1, 4) {
            let top = mask(width);
            let value = match rng.random_range(0..3) {
                0 => 0,
                1 => top,
                _ => rng.random_range(0..=top),
            };
            return Drawn::Literal(value, width);
        } else {
            Drawn::Net(net)
        };
        return if nets[net].width == width {
            leaf
        } else {
            Drawn::Cast(Box::new(leaf), width)
        };
    }
    let next = depth - 1;
    let sub = |rng: &mut ChaCha8Rng, width| Box::new(draw(rng, nets, inputs, width, next));
    match rng.random_range(0..14) {
        0 => Drawn::Not(sub(rng, width)),
        1..=3 => {
            let from = any_width(rng);
            Drawn::Cast(sub(rng, from), width)
        }
        4 | 5 => {
            let op = [Operator::Shl, Operator::Shr][rng.random_range(0..2)];
            let amount = if rng.random_bool(0.7) {
                Box::new(Drawn::Literal(rng.random_range(0..15), 4))
            } else {
                sub(rng, 4)
            };
            Drawn::Binary(op, sub(rng, width), amount)
        }
        6 if width == 1 => {
            let of = any_width(rng);
            let reduction =
                [Reduction::All, Reduction::Any, Reduction::Xor][rng.random_range(0..3)];
            Drawn::Reduce(reduction, sub(rng, of))
        }
        7 if width == 1 => {
            let (of, index) = (any_width(rng), rng.random_range(1..=4));
            Drawn::Bit(sub(rng, of), sub(rng, index))
        }
        8 | 9 if width == 1 => {
            let of = any_width(rng);
            let op = [
                Operator::Eq,
                Operator::Ne,
                Operator::Lt,
                Operator::Le,
                Operator::Gt,
                Operator::Ge,
            ][rng.random_range(0..6)];
            Drawn::Binary(op, sub(rng, of), sub(rng, of))
        }
        6..=9 => {
            // Two parts side by side, as descriptions write them.
            let low = rng.random_range(1..width);
            let high = Drawn::Cast(sub(rng, width - low), width);
            Drawn::Binary(
                Operator::Or,
                Box::new(Drawn::Binary(
                    Operator::Shl,
                    Box::new(high),
                    Box::new(Drawn::Literal(low.into(), 4)),
                )),
                Box::new(Drawn::Cast(sub(rng, low), width)),
            )
        }
        _ => {
            let op = [
                Operator::Add,
                Operator::Sub,
                Operator::Mul,
                Operator::And,
                Operator::Or,
                Operator::Xor,
            ][rng.random_range(0..6)];
            Drawn::Binary(op, sub(rng, width), sub(rng, width))
        }
    }
}

fn net(name: String, role: Role, width: u32, value: Option<u128>) -> Net {
    Net {
        block: 0,
        name,
        printed: String::new(),
        role,
        width,
        kind: Type::Bits,
        doc: String::new(),
        value,
        live: false,
        formal: false,
    }
}

/// Inputs `i0`.. and one constant; the constant is the last.
fn sources(rng: &mut ChaCha8Rng) -> Vec<Net> {
    let mut nets: Vec<Net> = (0..5)
        .map(|at| {
            let width = [1, 3, 4, 7, 12][at];
            net(format!("i{at}"), Role::Input, width, None)
        })
        .collect();
    let value = rng.random_range(0..32);
    nets.push(net("c".into(), Role::Constant, 5, Some(value)));
    nets
}

fn random_values(rng: &mut ChaCha8Rng, nets: &[Net]) -> Vec<u128> {
    nets.iter()
        .map(|net| {
            let top = mask(net.width);
            match (net.value, rng.random_range(0..4)) {
                (Some(value), _) => value,
                (None, 0) => 0,
                (None, 1) => top,
                _ => rng.random_range(0..=top),
            }
        })
        .collect()
}

#[test]
fn folding_keeps_the_value() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for round in 0..20_000 {
        let nets = sources(&mut rng);
        let width = rng.random_range(1..=12);
        let depth = rng.random_range(0..6);
        let drawn = draw(&mut rng, &nets, nets.len(), width, depth);
        let built = drawn.build(&Builder { nets: &nets });
        assert_eq!(built.width(), width, "round {round}: {built:?}");
        for _ in 0..10 {
            let values = random_values(&mut rng, &nets);
            let mut known = nets.clone();
            for (net, &value) in known.iter_mut().zip(&values) {
                net.value = Some(value);
            }
            assert_eq!(
                built.constant(&known),
                Some(drawn.value(&nets, &values)),
                "round {round}, {values:?}: {built:?}"
            );
        }
    }
}

#[test]
fn the_printed_expression_keeps_the_value() {
    const OUTPUTS: usize = 40;
    for seed in 0..10 {
        let mut rng = ChaCha8Rng::seed_from_u64(100 + seed);
        let mut nets = sources(&mut rng);
        let count = nets.len();
        let mut expressions = Vec::new();
        let mut statements = Vec::new();
        for at in 0..OUTPUTS {
            let width = rng.random_range(1..=12);
            let depth = rng.random_range(1..6);
            let drawn = draw(&mut rng, &nets, count, width, depth);
            let value = drawn.build(&Builder { nets: &nets });
            nets.push(net(format!("o{at}"), Role::Output, width, None));
            statements.push(Statement::Assign {
                target: nets.len() - 1,
                value,
                hold: false,
            });
            expressions.push(drawn);
        }
        let (stimulus, lines, text) = simulate(&mut rng, &nets, statements, seed);
        for (cycle, inputs) in stimulus.iter().enumerate() {
            let values = inputs.clone();
            let expected: String = expressions
                .iter()
                .map(|drawn| {
                    let width = drawn.width(&nets) as usize;
                    format!("{:0width$b}", drawn.value(&nets, &values))
                })
                .collect();
            assert_eq!(lines[cycle], expected, "seed {seed}, {inputs:?}\n{text}");
        }
    }
}

/// Elaborates, lints and simulates one block; the values of all nets in each cycle (those
/// of outputs mean nothing), the outputs in binary, and the text.
fn simulate(
    rng: &mut ChaCha8Rng,
    nets: &[Net],
    statements: Vec<Statement>,
    seed: u64,
) -> (Vec<Vec<u128>>, Vec<String>, String) {
    let is_pin = |net: &Net| matches!(net.role, Role::Input | Role::Output);
    let pins: Vec<Pin> = nets
        .iter()
        .filter(|net| is_pin(net))
        .map(|net| Pin {
            name: net.name.clone(),
            width: net.width,
            direction: match net.role {
                Role::Input => PinDirection::Input,
                _ => PinDirection::Output,
            },
            kind: Type::Bits,
        })
        .collect();
    let values: Vec<Vec<u128>> = (0..CYCLES).map(|_| random_values(rng, nets)).collect();
    let stimulus: Vec<Vec<u128>> = values
        .iter()
        .map(|values| {
            let all = values.iter().zip(nets);
            all.filter(|(_, net)| is_pin(net))
                .map(|(&value, _)| value)
                .collect()
        })
        .collect();
    let mut design = Design {
        blocks: vec![Block {
            path: "fuzz".into(),
            name: "fuzz".into(),
            module: "fuzz".into(),
            text: "Random expressions.".into(),
            parent: None,
            children: Vec::new(),
            nets: (0..nets.len()).collect(),
            registers: Vec::new(),
            memories: Vec::new(),
            statements,
            groups: Vec::new(),
            live: false,
        }],
        nets: nets.to_vec(),
        registers: Vec::new(),
        memories: Vec::new(),
        prefix: String::new(),
    };
    finish(&mut design).unwrap_or_else(|error| panic!("{error}"));
    let files = verilog::print(&design, &Header::for_tests());
    let text = &files[0].1;
    lints(&files).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    let folder = tempfile::tempdir().unwrap();
    let lines = run(
        VerilogSimulator::Icarus,
        folder.path(),
        &files,
        &pins,
        &stimulus,
    )
    .unwrap_or_else(|error| panic!("{error}\n{text}"));
    (values, lines, text.clone())
}

/// A statement as it was drawn.
enum Step {
    Assign(usize, Drawn),
    If(Drawn, Vec<Step>, Vec<Step>),
    /// One body per value, the last for the rest.
    Case(Drawn, Vec<Vec<Step>>),
}

fn execute(steps: &[Step], nets: &[Net], values: &mut [u128]) {
    for step in steps {
        match step {
            Step::Assign(target, value) => values[*target] = value.value(nets, values),
            Step::If(test, then, otherwise) => {
                if test.value(nets, values) == 1 {
                    execute(then, nets, values);
                } else {
                    execute(otherwise, nets, values);
                }
            }
            Step::Case(test, bodies) => {
                let at = test.value(nets, values) as usize;
                execute(&bodies[at.min(bodies.len() - 1)], nets, values);
            }
        }
    }
}

fn statements(steps: &[Step], nets: &[Net]) -> Vec<Statement> {
    let builder = Builder { nets };
    steps
        .iter()
        .map(|step| match step {
            Step::Assign(target, value) => Statement::Assign {
                target: *target,
                value: value.build(&builder),
                hold: false,
            },
            Step::If(test, then, otherwise) => Statement::If {
                test: test.build(&builder),
                then: statements(then, nets),
                otherwise: statements(otherwise, nets),
            },
            Step::Case(test, bodies) => {
                let (last, arms) = bodies.split_last().unwrap();
                Statement::Case {
                    test: test.build(&builder),
                    arms: arms
                        .iter()
                        .enumerate()
                        .map(|(value, body)| Arm {
                            state: format!("{}'d{value}", test.width(nets)),
                            value: value as u128,
                            body: statements(body, nets),
                        })
                        .collect(),
                    default: statements(last, nets),
                    default_state: None,
                }
            }
        })
        .collect()
}

/// Draws statements that assign `targets` and read the first `readable` nets.
fn steps(
    rng: &mut ChaCha8Rng,
    nets: &[Net],
    readable: usize,
    targets: &[usize],
    depth: u32,
) -> Vec<Step> {
    let count = rng.random_range(1..4);
    (0..count)
        .map(|_| match rng.random_range(0..4) {
            0 if depth > 0 => Step::If(
                draw(rng, nets, readable, 1, 2),
                steps(rng, nets, readable, targets, depth - 1),
                if rng.random_bool(0.5) {
                    steps(rng, nets, readable, targets, depth - 1)
                } else {
                    Vec::new()
                },
            ),
            1 if depth > 0 => Step::Case(
                draw(rng, nets, readable, 2, 1),
                (0..3)
                    .map(|_| steps(rng, nets, readable, targets, depth - 1))
                    .collect(),
            ),
            _ => {
                let target = targets[rng.random_range(0..targets.len())];
                Step::Assign(target, draw(rng, nets, readable, nets[target].width, 2))
            }
        })
        .collect()
}

#[test]
fn the_printed_statements_keep_the_values() {
    for seed in 0..10 {
        let mut rng = ChaCha8Rng::seed_from_u64(500 + seed);
        let mut nets = sources(&mut rng);
        let mut program = Vec::new();
        // Locals in groups of three that are assigned together and read later.
        for group in 0..6 {
            let readable = nets.len();
            let targets: Vec<usize> = (readable..readable + 3).collect();
            for at in 0..3 {
                let width = rng.random_range(1..=8);
                nets.push(net(format!("l{group}_{at}"), Role::Local, width, None));
            }
            for &target in &targets {
                let width = nets[target].width;
                program.push(Step::Assign(
                    target,
                    draw(&mut rng, &nets, readable, width, 1),
                ));
            }
            program.extend(steps(&mut rng, &nets, readable, &targets, 3));
        }
        let locals: Vec<usize> = (0..nets.len())
            .filter(|&at| nets[at].role == Role::Local)
            .collect();
        let mut outputs = Vec::new();
        for local in locals {
            // Some locals are read by nothing: they and what serves only them must go.
            if rng.random_ratio(1, 4) {
                continue;
            }
            let width = nets[local].width;
            nets.push(net(format!("o{local}"), Role::Output, width, None));
            outputs.push(nets.len() - 1);
            program.push(Step::Assign(nets.len() - 1, Drawn::Net(local)));
        }
        let built = fold(&nets, statements(&program, &nets));
        let (values, lines, text) = simulate(&mut rng, &nets, built, seed);
        for (cycle, inputs) in values.iter().enumerate() {
            let mut values = inputs.clone();
            execute(&program, &nets, &mut values);
            let expected: String = outputs
                .iter()
                .map(|&net| format!("{:0width$b}", values[net], width = nets[net].width as usize))
                .collect();
            assert_eq!(lines[cycle], expected, "seed {seed}, {inputs:?}\n{text}");
        }
    }
}
