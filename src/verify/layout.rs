//! Where things are in the formulas that Yosys writes of a design, and the questions about two
//! versions of it that follow from that.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use crate::hdl::mutants::{SELECTOR, SELECTOR_WIDTH};
use crate::hdl::CHECKER;

/// What the names of registers end in; a reset sets all of them.
const REGISTER: &str = "_q";

/// The pin of a memory that gives the word read of it, a register in it ([`crate::hdl::Memory`]).
const READ_DATA: &str = ".read_data";

/// What a part of the bit vector is that holds the state and the inputs of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Anything in any cycle, or nothing that the design depends on.
    Free,
    Input,
    Register,
    /// A word of a memory, or whatever else has a state.
    Word,
}

/// A part of that bit vector.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) low: u32,
    pub(super) width: u32,
    pub(super) role: Role,
    /// Its name by instances from the top; empty for what has none.
    pub(super) name: String,
}

impl Field {
    /// The instance that it is in; empty for the top.
    pub(super) fn instance(&self) -> &str {
        let name = self.name.rsplit_once('.');
        name.map_or("", |(instance, _)| instance)
    }

    /// The instance in the top that it is in, itself or inside.
    pub(super) fn part(&self) -> &str {
        self.instance().split('.').next().unwrap_or_default()
    }
}

/// Where things are in that bit vector.
pub(super) struct Layout {
    pub(super) top: String,
    pub(super) bits: u32,
    /// The lowest bit of the input that chooses.
    pub(super) selector: u32,
    /// The bit of the reset.
    pub(super) reset: u32,
    /// The bit that tells the first state.
    pub(super) first: u32,
    /// All but that input.
    pub(super) fields: Vec<Field>,
    /// Bits, lowest and width, that are no part of what is compared: the registers of checkers, and
    /// what is anything in any cycle. That is what a memory gives that is asked for a word it does
    /// not have, and bits of signals that nothing drives because nothing reads them.
    beside: Vec<(u32, u32)>,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    /// Registers by their hierarchical names below the top: lowest bit and width.
    registers: HashMap<String, (u32, u32)>,
}

impl Layout {
    pub(super) fn read(top: &str, text: &str) -> Option<Layout> {
        let mut layout = Layout {
            top: top.to_owned(),
            bits: 0,
            selector: 0,
            reset: 0,
            first: 0,
            fields: Vec::new(),
            beside: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            registers: HashMap::new(),
        };
        // What has a next state, by the names of functions.
        let mut kept: HashSet<&str> = HashSet::new();
        let mut places = Vec::new();
        let first = format!("(define-fun |{top}_is| ");
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("(define-sort ") {
                let bits = rest.split("(_ BitVec ").nth(1)?;
                layout.bits = bits.trim_end_matches(')').parse().ok()?;
            } else if let Some(rest) = line.strip_prefix("; yosys-smt2-input ") {
                let name = rest.split(' ').next()?;
                if name != SELECTOR {
                    layout.inputs.push(name.to_owned());
                }
            } else if let Some(rest) = line.strip_prefix("; yosys-smt2-output ") {
                layout.outputs.push(rest.split(' ').next()?.to_owned());
            } else if let Some((value, _)) = line.split_once("| next_state)") {
                kept.insert(value.rsplit('|').next()?);
            } else if let Some(rest) = line.strip_prefix(&first) {
                let (_, extract) = rest.split_once("((_ extract ")?;
                layout.first = extract.split(' ').next()?.parse().ok()?;
            } else if let Some(place) = Place::read(line) {
                places.push(place);
            }
        }
        let mut selector = None;
        let mut reset = None;
        for place in places {
            let Place { low, width, .. } = place;
            if place.is(SELECTOR) {
                selector = Some(low);
                continue;
            }
            if place.is("rst") {
                reset = Some(low);
            }
            for name in &place.names {
                layout.registers.insert((*name).to_owned(), (low, width));
            }
            let names = || place.names.iter();
            let is_beside =
                |name: &&str| name.contains(&format!("{CHECKER}.")) || name.starts_with("$memory");
            let is_beside = !place.names.is_empty() && names().all(is_beside);
            let is_register =
                |name: &&str| [REGISTER, READ_DATA].iter().any(|it| name.ends_with(it));
            let role = match () {
                () if layout.inputs.iter().any(|input| place.is(input)) => Role::Input,
                () if is_beside || !kept.contains(place.function) => Role::Free,
                () if names().any(is_register) => Role::Register,
                () => Role::Word,
            };
            if role == Role::Free {
                layout.beside.push((low, width));
            }
            layout.fields.push(Field {
                low,
                width,
                role,
                name: names().next().copied().unwrap_or_default().to_owned(),
            });
        }
        (layout.selector, layout.reset) = (selector?, reset?);
        (layout.bits > 0).then_some(layout)
    }

    /// The registers whose names nothing else has.
    pub(super) fn by_name(&self) -> HashMap<&str, &Field> {
        let mut named: HashMap<&str, Option<&Field>> = HashMap::new();
        for field in &self.fields {
            let entry = named.entry(&field.name);
            entry.and_modify(|it| *it = None).or_insert(Some(field));
        }
        let registers = named.into_iter().filter_map(|(name, it)| Some((name, it?)));
        registers
            .filter(|(name, it)| !name.is_empty() && it.role == Role::Register)
            .collect()
    }

    /// The registers that a reset sets, and those that hold words read of memories.
    fn beside_memories(&self) -> Vec<(u32, u32)> {
        let registers = self.registers.iter();
        let named = registers.filter(|(name, _)| {
            let ends = |ending: &&str| name.ends_with(*ending);
            [REGISTER, READ_DATA].iter().any(ends)
        });
        named.map(|(_, &place)| place).collect()
    }

    /// `base`, a term, with this version chosen.
    fn choosing(&self, base: &str, number: u64) -> String {
        let (low, high) = (self.selector, self.selector + SELECTOR_WIDTH);
        let mut parts = Vec::new();
        if high < self.bits {
            parts.push(format!("((_ extract {} {high}) {base})", self.bits - 1));
        }
        parts.push(format!("(_ bv{number} {SELECTOR_WIDTH})"));
        if low > 0 {
            parts.push(format!("((_ extract {} 0) {base})", low - 1));
        }
        match &parts[..] {
            [one] => one.clone(),
            parts => format!("(concat {})", parts.join(" ")),
        }
    }

    /// The bits that are compared, of a term: all others, and those `but`, are 1.
    fn compared(&self, term: &str, but: &[(u32, u32)]) -> String {
        let mut ones = vec!['0'; self.bits as usize];
        let selector = [(self.selector, SELECTOR_WIDTH)];
        for &(low, width) in self.beside.iter().chain(but).chain(&selector) {
            for bit in low..low + width {
                ones[(self.bits - 1 - bit) as usize] = '1';
            }
        }
        let ones: String = ones.into_iter().collect();
        format!("(bvor {term} #b{ones})")
    }

    /// A formula that is satisfiable if the version can be told from the design on its pins within
    /// `steps` cycles, or is in another state up to the end of them. `of_reset`: before them comes a cycle of
    /// reset, and the fault is in it.
    pub(super) fn question(&self, design: &str, number: u64, steps: u32, of_reset: bool) -> String {
        let top = &self.top;
        let mut text = format!("(set-logic QF_BV)\n{design}\n");
        let first = u32::from(of_reset);
        let last = first + steps + 1;
        for at in 0..=last {
            for (name, number) in [("s", 0), ("g", number)] {
                // Both begin in one state, and have the same inputs.
                let is_one = at == 0 && !of_reset;
                let base = match is_one {
                    true => "b0".to_owned(),
                    false => format!("{name}b{at}"),
                };
                if !is_one || name == "s" {
                    let _ = writeln!(text, "(declare-fun {base} () |{top}_s|)");
                }
                let _ = writeln!(
                    text,
                    "(define-fun {name}{at} () |{top}_s| {})",
                    self.choosing(&base, number)
                );
                if at > 0 {
                    let before = at - 1;
                    let _ = writeln!(
                        text,
                        "(assert (|{top}_t| {name}{before} {name}{at}))\n\
                         (assert (not (|{top}_is| {name}{at})))"
                    );
                }
            }
            if at > 0 || of_reset {
                for input in &self.inputs {
                    let _ = writeln!(
                        text,
                        "(assert (= (|{top}_n {input}| s{at}) (|{top}_n {input}| g{at})))"
                    );
                }
            }
            // What is proved of the design holds of it in every cycle.
            let _ = writeln!(
                text,
                "(assert (|{top}_u| s{at}))\n(assert (|{top}_a| s{at}))"
            );
        }
        let differs_in = |at: u32, but: &[(u32, u32)]| {
            let [s, g] = ["s", "g"].map(|name| self.compared(&format!("{name}{at}"), but));
            format!("(not (= {s} {g}))")
        };
        let always = (first + 1..=last).map(|at| differs_in(at, &[]));
        let mut differs = vec![format!("(and {})", always.collect::<Vec<_>>().join(" "))];
        if of_reset {
            let but = self.beside_memories();
            let _ = writeln!(text, "(assert (|{top}_n rst| s0))");
            // Memories are written alike up to then: the cycles before the reset say so.
            for at in 0..=first {
                let _ = writeln!(text, "(assert (not {}))", differs_in(at, &but));
            }
            for at in first..last {
                let _ = writeln!(text, "(assert (not (|{top}_n rst| s{at})))");
                differs.push(differs_in(at + 1, &but));
            }
        }
        for at in first..last {
            for output in &self.outputs {
                differs.push(format!(
                    "(not (= (|{top}_n {output}| s{at}) (|{top}_n {output}| g{at})))"
                ));
            }
        }
        let _ = writeln!(text, "(assert (or {}))", differs.join(" "));
        text
    }
}

/// A line of Yosys that gives a part of the bit vector a name.
struct Place<'a> {
    /// The function that is this part.
    function: &'a str,
    low: u32,
    width: u32,
    names: Vec<&'a str>,
}

impl<'a> Place<'a> {
    /// `(define-fun |top#1| (...) (_ BitVec 2) ((_ extract 4 3) state)) ; \\name`, or, with a truth
    /// value, `(define-fun |top#1| (...) Bool (= ((_ extract 3 3) state) #b1)) ; \\name`.
    fn read(line: &'a str) -> Option<Place<'a>> {
        let (code, names) = line.split_once(") ; ")?;
        let (function, _) = code.strip_prefix("(define-fun |")?.split_once('|')?;
        let code = code.strip_suffix(" #b1)").unwrap_or(code);
        let (_, extract) = code.strip_suffix(") state)")?.rsplit_once("((_ extract ")?;
        let (high, low) = extract.split_once(' ')?;
        let (high, low): (u32, u32) = (high.parse().ok()?, low.parse().ok()?);
        let names = names.split_whitespace();
        Some(Place {
            function,
            low,
            width: (high + 1).checked_sub(low)?,
            names: names.map(|name| name.trim_start_matches('\\')).collect(),
        })
    }

    fn is(&self, name: &str) -> bool {
        self.names.contains(&name)
    }
}
