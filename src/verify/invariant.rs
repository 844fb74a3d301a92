//! Invariants of a design and a version of it side by side, found by Houdini: from a set of
//! candidates those are taken out that a cycle can break, until none can.
//!
//! Candidates are guesses, and a solver shows that those which are left hold. So whatever takes
//! candidates out faster is welcome: every model of the solver is the beginning of random walks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::circuit::{Bits, Circuit, Values};
use super::layout::{Field, Layout, Role};
use super::tools::{Model, ToolError, Workspace};
use crate::hdl::mutants::SELECTOR_WIDTH;

/// The solver is asked so often about the facts of a design at most. They are looked for once.
const FACT_QUESTIONS: u32 = 64;

/// The solver is asked so often about one fault at most. The invariants that were found took 13 questions or
/// fewer; a fault that has none takes all of them (docs/evidence/mutation.md).
const FAULT_QUESTIONS: u32 = 16;

/// Registers of so many bits, at most, are flags: each of their bits may be what it depends on whether
/// another register matters, of the same part of the design or of one that its flags depend on.
const FLAG_BITS: u32 = 8;

/// Each value of registers of so many bits, at most, may be that, too.
const STATE_BITS: u32 = 3;

/// Facts are looked for among the bits of registers of so many bits, at most.
const FACT_BITS: u32 = 8;

/// Random walks after a reset, and how many cycles each takes.
const FIRST_WALKS: (u32, u32) = (4, 1024);

/// Random walks from a model of the solver.
const WALKS: (u32, u32) = (2, 1024);

/// Bits that have a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Literal {
    low: u32,
    width: u32,
    value: u128,
}

impl Literal {
    /// All values of each bit of a register.
    fn bits(field: &Field) -> impl Iterator<Item = Literal> {
        let bits = field.low..field.low + field.width;
        bits.flat_map(|low| {
            [0, 1].map(|value| Literal {
                low,
                width: 1,
                value,
            })
        })
    }

    fn holds(&self, state: &Bits) -> bool {
        state.get(self.low, self.width) == self.value
    }

    fn text(&self, state: &str) -> String {
        let part = extract(self.low, self.width, state);
        format!("(= {part} (_ bv{} {}))", self.value, self.width)
    }
}

/// Bits of a term.
fn extract(low: u32, width: u32, term: &str) -> String {
    format!("((_ extract {} {low}) {term})", low + width - 1)
}

/// One of some terms, or none.
fn any(terms: impl IntoIterator<Item = String>) -> String {
    let terms: Vec<String> = terms.into_iter().collect();
    format!("(or false {})", terms.join(" "))
}

/// A design with a choice of faults, as a solver and as this program read it.
#[derive(Clone, Copy)]
pub(super) struct Formulas<'a> {
    pub(super) run: &'a Workspace<'a>,
    pub(super) text: &'a str,
    pub(super) layout: &'a Layout,
    pub(super) circuit: &'a Circuit,
}

impl Formulas<'_> {
    /// A state and the next one, of the design.
    fn design(&self) -> String {
        let (top, selector) = (&self.layout.top, self.layout.selector);
        let mut text = format!("(set-logic QF_BV)\n{}\n", self.text);
        for state in ["s0", "s1"] {
            let none = extract(selector, SELECTOR_WIDTH, state);
            let _ = writeln!(
                text,
                "(declare-fun {state} () |{top}_s|)\n\
                 (assert (= {none} (_ bv0 {SELECTOR_WIDTH})))"
            );
        }
        let _ = writeln!(text, "(assert (|{top}_t| s0 s1))\n(assert (|{top}_u| s0))");
        text
    }

    /// The first state is any at all, and a reset comes in it; or it is one that the claims allow.
    fn beginning(&self, base: bool) -> String {
        let top = &self.layout.top;
        match base {
            true => format!("(assert (|{top}_n rst| s0))\n"),
            false => format!("(assert (|{top}_a| s0))\n"),
        }
    }

    fn models(&self, texts: &[String]) -> Option<Vec<Bits>> {
        let bits = self.layout.bits;
        texts.iter().map(|text| Bits::read(text, bits)).collect()
    }

    /// A state after a reset, with anything before it: one for each of these versions.
    fn after_reset(&self, versions: &[u64], random: &mut ChaCha8Rng) -> Vec<Bits> {
        let layout = self.layout;
        let mut before = Bits::zeros(layout.bits);
        for bit in 0..layout.bits {
            before.set(bit, 1, random.random_range(0..2));
        }
        before.set(layout.reset, 1, 1);
        let mut states = vec![before; versions.len()];
        for (state, &version) in states.iter_mut().zip(versions) {
            state.set(layout.selector, SELECTOR_WIDTH, version.into());
            let before = state.clone();
            self.circuit.values(&before).step(state);
        }
        states
    }

    /// The values of a cycle, if the claims allow this state of the design, the first of them.
    fn values(&self, states: &[Bits]) -> Option<Vec<Values<'_>>> {
        let design = self.circuit.values(states.first()?);
        let top = &self.layout.top;
        for kind in ["u", "a"] {
            if design.named(&format!("{top}_{kind}")) != Some(1) {
                return None;
            }
        }
        let others = states[1..].iter().map(|it| self.circuit.values(it));
        Some(std::iter::once(design).chain(others).collect())
    }

    /// Looks for what is wrong about `belief` at random, beginning with states of which it holds:
    /// again and again something in them is changed, if claims and belief still hold then, and a cycle
    /// passes. `false` if nothing can be believed.
    fn explore(
        &self,
        belief: &mut dyn Belief,
        mut states: Vec<Bits>,
        cycles: u32,
        random: &mut ChaCha8Rng,
    ) -> bool {
        // None of them is the first.
        for state in &mut states {
            state.set(self.layout.first, 1, 0);
        }
        // To evaluate a cycle takes longest: each state is evaluated once.
        let mut values = self.values(&states);
        for _ in 0..cycles {
            let mut changed = states.clone();
            self.change(&mut changed, random);
            if belief.allows(&changed) {
                if let Some(of_changed) = self.values(&changed) {
                    (states, values) = (changed, Some(of_changed));
                }
            }
            let Some(present) = &values else {
                return true;
            };
            let mut next = states.clone();
            for (state, values) in next.iter_mut().zip(present) {
                values.step(state);
            }
            if !belief.notice(present, &next) {
                return false;
            }
            if let Some(of_next) = self.values(&next) {
                (states, values) = (next, Some(of_next));
            }
        }
        true
    }

    /// Changes some inputs and a few registers.
    fn change(&self, states: &mut [Bits], random: &mut ChaCha8Rng) {
        let fields = &self.layout.fields;
        let share = 2.0 / fields.len() as f64;
        for field in fields {
            let rate = match field.role {
                Role::Input if field.low == self.layout.reset => 0.02,
                Role::Input => 0.2,
                Role::Free | Role::Register | Role::Word => share,
            };
            if !random.random_bool(rate) {
                continue;
            }
            let old = states[0].get(field.low, field.width);
            let value = match random.random_range(0..5) {
                0 if field.low == self.layout.reset => 1,
                _ if field.low == self.layout.reset => 0,
                0 => 0,
                1 => old.wrapping_add(1),
                2 => old.wrapping_sub(1),
                3 => old ^ 1 << random.random_range(0..field.width),
                _ => random.random(),
            };
            for state in states.iter_mut() {
                let is_old = state.get(field.low, field.width) == old;
                let value = if is_old { value } else { random.random() };
                state.set(field.low, field.width, value);
            }
        }
    }
}

/// What is believed of states, until a solver has shown it.
trait Belief {
    /// Whether it holds of these.
    fn allows(&self, states: &[Bits]) -> bool;

    /// Takes out what does not hold of states that come after a cycle; `false` if nothing can be
    /// believed.
    fn notice(&mut self, before: &[Values], after: &[Bits]) -> bool;
}

/// What holds of the design in every cycle after a reset, beside its claims: of two bits of one
/// instance one has a value, or the other has.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts(Vec<[Literal; 2]>);

/// The same, of bits by the name of their register and their place in it: translations of one design
/// with other faults to choose from have the registers in other places.
#[derive(Debug, Default)]
pub(super) struct NamedFacts(Vec<[(String, Literal); 2]>);

impl NamedFacts {
    /// Facts in this translation. Of a register that has no name of its own there, none is kept: every
    /// fact holds also without the others, once all are shown.
    pub(super) fn placed(&self, layout: &Layout) -> Facts {
        let registers = layout.by_name();
        let place = |(name, literal): &(String, Literal)| {
            let register = registers.get(name.as_str())?;
            (literal.low + literal.width <= register.width).then(|| Literal {
                low: register.low + literal.low,
                ..*literal
            })
        };
        let pairs = self.0.iter();
        let placed = pairs.filter_map(|[one, other]| Some([place(one)?, place(other)?]));
        Facts(placed.collect())
    }
}

impl Facts {
    /// Looks for them.
    ///
    /// # Errors
    /// If the solver does not start.
    pub(super) fn find(formulas: Formulas) -> Result<Facts, ToolError> {
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut facts = Facts::candidates(formulas.layout);
        for _ in 0..FIRST_WALKS.0 {
            let states = formulas.after_reset(&[0], &mut random);
            facts.retain(&states[0]);
            formulas.explore(&mut facts, states, FIRST_WALKS.1, &mut random);
        }
        let mut questions = 0;
        for base in [true, false] {
            loop {
                questions += 1;
                let text = facts.question(formulas, base);
                let model = formulas.run.model("facts", &text, &["s0", "s1"])?;
                let states = match model {
                    Model::Unsatisfiable => break,
                    Model::Unknown => return Ok(Facts::default()),
                    Model::Satisfiable(texts) => formulas.models(&texts),
                };
                let before = facts.0.len();
                if let Some([first, second]) = states.as_deref() {
                    facts.retain(second);
                    let from = if base { second } else { first };
                    for _ in 0..WALKS.0 {
                        let states = vec![from.clone()];
                        formulas.explore(&mut facts, states, WALKS.1, &mut random);
                    }
                }
                if facts.0.len() == before || questions == FACT_QUESTIONS {
                    return Ok(Facts::default());
                }
            }
        }
        Ok(facts)
    }

    /// The facts about registers that have a name of their own.
    pub(super) fn named(&self, layout: &Layout) -> NamedFacts {
        let registers: Vec<&Field> = layout.by_name().into_values().collect();
        let name = |literal: &Literal| {
            let mut holds = registers.iter();
            let within = |it: &&&Field| (it.low..it.low + it.width).contains(&literal.low);
            let register = holds.find(within)?;
            let low = literal.low - register.low;
            Some((register.name.clone(), Literal { low, ..*literal }))
        };
        let pairs = self.0.iter();
        NamedFacts(
            pairs
                .filter_map(|[one, other]| Some([name(one)?, name(other)?]))
                .collect(),
        )
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether a solver shows all of them.
    #[cfg(test)]
    pub(super) fn hold(&self, formulas: Formulas) -> bool {
        [true, false].into_iter().all(|base| {
            let text = self.question(formulas, base);
            let model = formulas.run.model("facts", &text, &["s0", "s1"]);
            matches!(model, Ok(Model::Unsatisfiable))
        })
    }

    fn candidates(layout: &Layout) -> Facts {
        let mut instances: BTreeMap<&str, Vec<Literal>> = BTreeMap::new();
        for field in &layout.fields {
            if field.role == Role::Register && field.width <= FACT_BITS {
                let literals = instances.entry(field.instance()).or_default();
                literals.extend(Literal::bits(field));
            }
        }
        let mut pairs = Vec::new();
        for literals in instances.values() {
            for (at, &one) in literals.iter().enumerate() {
                let others = literals[at..].iter().filter(|it| {
                    // Of one bit there is only the fact that it never changes.
                    it.low != one.low || it.value == one.value
                });
                pairs.extend(others.map(|&other| [one, other]));
            }
        }
        Facts(pairs)
    }

    /// Takes out what does not hold of a state.
    fn retain(&mut self, state: &Bits) {
        self.0
            .retain(|[one, other]| one.holds(state) || other.holds(state));
    }

    fn texts<'a>(&'a self, state: &'a str) -> impl Iterator<Item = String> + 'a {
        let pairs = self.0.iter();
        pairs.map(move |[one, other]| format!("(or {} {})", one.text(state), other.text(state)))
    }

    /// Satisfiable if a fact does not hold after a reset, or after a cycle before which all do.
    fn question(&self, formulas: Formulas, base: bool) -> String {
        let mut text = formulas.design() + &formulas.beginning(base);
        if !base {
            text += &self.assumed();
        }
        let broken = self.texts("s1").map(|it| format!("(not {it})"));
        let _ = writeln!(text, "(assert {})", any(broken));
        text
    }

    /// That they hold in the first state.
    fn assumed(&self) -> String {
        let facts = self.texts("s0");
        facts.map(|it| format!("(assert {it})\n")).collect()
    }
}

impl Belief for Facts {
    fn allows(&self, states: &[Bits]) -> bool {
        let holds = |it: &Literal| it.holds(&states[0]);
        self.0.iter().all(|[one, other]| holds(one) || holds(other))
    }

    fn notice(&mut self, _: &[Values], after: &[Bits]) -> bool {
        self.retain(&after[0]);
        true
    }
}

/// The design and one version of it, and what is still believed of the two.
pub(super) struct Pair<'a> {
    formulas: Formulas<'a>,
    facts: &'a Facts,
    number: u64,
    /// What may be a reason for a register to matter.
    literals: Vec<Literal>,
    /// Which of them may be that, for the registers of each part of the design.
    near: HashMap<&'a str, BTreeSet<usize>>,
    /// Fields that may differ, each with the literals that must not hold, in the design, when it
    /// does. All other registers and words of memories are equal.
    differs: BTreeMap<usize, BTreeSet<usize>>,
    /// The names of the functions of the outputs.
    outputs: Vec<String>,
}

impl<'a> Pair<'a> {
    pub(super) fn new(formulas: Formulas<'a>, facts: &'a Facts, number: u64) -> Pair<'a> {
        let layout = formulas.layout;
        let is_flag = |field: &Field| field.role == Role::Register && field.width <= FLAG_BITS;
        let mut literals = Vec::new();
        let mut by_flag: HashMap<u32, Vec<usize>> = HashMap::new();
        for field in layout.fields.iter().filter(|field| is_flag(field)) {
            let first = literals.len();
            literals.extend(Literal::bits(field));
            if (2..=STATE_BITS).contains(&field.width) {
                literals.extend((0..1 << field.width).map(|value| Literal {
                    low: field.low,
                    width: field.width,
                    value,
                }));
            }
            by_flag.insert(field.low, (first..literals.len()).collect());
        }
        let mut near: HashMap<&str, BTreeSet<usize>> = HashMap::new();
        for field in &layout.fields {
            let near = near.entry(field.part()).or_default();
            if is_flag(field) {
                let flags = formulas.circuit.support(field.low);
                let flags = flags.iter().chain([&field.low]);
                near.extend(flags.filter_map(|low| by_flag.get(low)).flatten());
            }
        }
        let name = |output: &String| format!("{}_n {output}", layout.top);
        Pair {
            formulas,
            facts,
            number,
            literals,
            near,
            differs: BTreeMap::new(),
            outputs: layout.outputs.iter().map(name).collect(),
        }
    }

    /// Whether there is an invariant that makes the two equal on their pins.
    ///
    /// # Errors
    /// If the solver does not start.
    pub(super) fn proves(mut self) -> Result<bool, ToolError> {
        let formulas = self.formulas;
        let mut random = ChaCha8Rng::seed_from_u64(0);
        for _ in 0..FIRST_WALKS.0 {
            let states = formulas.after_reset(&[0, self.number], &mut random);
            if !self.retain(&states[0], &states[1])
                || !formulas.explore(&mut self, states, FIRST_WALKS.1, &mut random)
            {
                return Ok(false);
            }
        }
        let name = format!("invariant{}", self.number);
        let mut questions = 0;
        for base in [true, false] {
            loop {
                questions += 1;
                let text = self.question(base);
                let terms = ["s0", "g0", "s1", "g1"];
                let texts = match formulas.run.model(&name, &text, &terms)? {
                    Model::Unsatisfiable => break,
                    Model::Unknown => return Ok(false),
                    Model::Satisfiable(texts) => texts,
                };
                let before = self.differs.clone();
                let Some([s0, g0, s1, mut g1]) = formulas
                    .models(&texts)
                    .and_then(|states| <[Bits; 4]>::try_from(states).ok())
                else {
                    return Ok(false);
                };
                g1.set(formulas.layout.selector, SELECTOR_WIDTH, self.number.into());
                if !self.retain(&s1, &g1) {
                    return Ok(false);
                }
                let from = if base { [s1, g1] } else { [s0, g0] };
                for _ in 0..WALKS.0 {
                    if !formulas.explore(&mut self, from.to_vec(), WALKS.1, &mut random) {
                        return Ok(false);
                    }
                }
                if self.differs == before || questions == FAULT_QUESTIONS {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Takes out what does not hold of a state of the two; `false` if nothing can be an invariant,
    /// because a memory differs.
    fn retain(&mut self, s: &Bits, g: &Bits) -> bool {
        for (at, field) in self.formulas.layout.fields.iter().enumerate() {
            let value = |state: &Bits| state.get(field.low, field.width);
            match field.role {
                Role::Register | Role::Word if value(s) == value(g) => {}
                Role::Register => {
                    let all = || self.near.get(field.part()).cloned().unwrap_or_default();
                    let reasons = self.differs.entry(at).or_insert_with(all);
                    reasons.retain(|&reason| !self.literals[reason].holds(s));
                }
                Role::Word => return false,
                Role::Free | Role::Input => {}
            }
        }
        true
    }

    /// The state of the version: it has some bits of that of the design, and others are anything.
    fn version(&self, base: bool) -> String {
        let layout = self.formulas.layout;
        let mut shared = vec![false; layout.bits as usize];
        for (at, field) in layout.fields.iter().enumerate() {
            let is_shared = match field.role {
                Role::Free => false,
                Role::Input => true,
                Role::Register | Role::Word => base || !self.differs.contains_key(&at),
            };
            let (low, high) = (field.low as usize, (field.low + field.width) as usize);
            shared[low..high].fill(is_shared);
        }
        let (selector, end) = (layout.selector, layout.selector + SELECTOR_WIDTH);
        let mut parts = Vec::new();
        let mut at = 0;
        while at < layout.bits {
            if at == selector {
                parts.push(format!("(_ bv{} {SELECTOR_WIDTH})", self.number));
                at = end;
                continue;
            }
            let is_shared = shared[at as usize];
            let from = at;
            while at < layout.bits && at != selector && shared[at as usize] == is_shared {
                at += 1;
            }
            let source = if is_shared { "s0" } else { "other" };
            parts.push(extract(from, at - from, source));
        }
        parts.reverse();
        format!("(concat {})", parts.join(" "))
    }

    /// Satisfiable if what is believed does not hold after a reset, which the two go into in one
    /// state; or if it does not hold after a cycle before which it does, or an output differs then.
    fn question(&self, base: bool) -> String {
        let Formulas { layout, .. } = self.formulas;
        let top = &layout.top;
        let mut text = self.formulas.design() + &self.formulas.beginning(base);
        let _ = writeln!(
            text,
            "(declare-fun other () |{top}_s|)\n(define-fun g0 () |{top}_s| {})\n\
             (declare-fun g1 () |{top}_s|)\n(assert (|{top}_t| g0 g1))",
            self.version(base)
        );
        let differs = |field: &Field, at: char| {
            let [s, g] = ["s", "g"].map(|it| extract(field.low, field.width, &format!("{it}{at}")));
            format!("(distinct {s} {g})")
        };
        let matters = |reasons: &BTreeSet<usize>, state: &str| {
            any(reasons.iter().map(|&at| self.literals[at].text(state)))
        };
        if !base {
            text += &self.facts.assumed();
            for (&at, reasons) in &self.differs {
                let _ = writeln!(
                    text,
                    "(assert (not (and {} {})))",
                    differs(&layout.fields[at], '0'),
                    matters(reasons, "s0")
                );
            }
        }
        let mut broken = Vec::new();
        for (at, field) in layout.fields.iter().enumerate() {
            if matches!(field.role, Role::Register | Role::Word) {
                let differs = differs(field, '1');
                broken.push(match self.differs.get(&at) {
                    None => differs,
                    Some(reasons) => format!("(and {differs} {})", matters(reasons, "s1")),
                });
            }
        }
        if !base {
            let outputs = layout.outputs.iter();
            broken.extend(
                outputs.map(|it| format!("(not (= (|{top}_n {it}| s0) (|{top}_n {it}| g0)))")),
            );
        }
        let _ = writeln!(text, "(assert {})", any(broken));
        text
    }
}

impl Belief for Pair<'_> {
    fn allows(&self, states: &[Bits]) -> bool {
        let [s, g] = states else { return false };
        let fields = self.formulas.layout.fields.iter().enumerate();
        for (at, field) in fields {
            let is_kept = matches!(field.role, Role::Register | Role::Word);
            if !is_kept || s.get(field.low, field.width) == g.get(field.low, field.width) {
                continue;
            }
            let Some(reasons) = self.differs.get(&at) else {
                return false;
            };
            if reasons.iter().any(|&reason| self.literals[reason].holds(s)) {
                return false;
            }
        }
        self.facts.allows(&states[..1])
    }

    fn notice(&mut self, before: &[Values], after: &[Bits]) -> bool {
        let ([s, g], [s1, g1]) = (before, after) else {
            return false;
        };
        let mut outputs = self.outputs.iter();
        outputs.all(|output| s.named(output) == g.named(output)) && self.retain(s1, g1)
    }
}
