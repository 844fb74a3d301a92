//! The files of a design: Verilog-2005, one module per block, plain names, every literal and every
//! operand at its exact width; and beside them the checkers, SystemVerilog.
//!
//! Verilog widens the operands of an expression to the widest of them and to the target
//! of the assignment. The design has no operands of different widths, and what is
//! extended stands inside a concatenation, whose parts Verilog evaluates at their own
//! width; so nothing is ever widened.

use std::collections::{HashMap, HashSet};

use super::checker;
use super::code::Code;
use super::ir::{BlockId, Design, MemoryBlock, Role};
use super::module::{push_comment, wrap, Module, COLUMNS};
use super::names;
use super::sim::PinDirection;
use crate::files::origin;

/// The folder of the checkers, beside the design's files.
pub const CHECKERS: &str = "checkers";

/// The file there that binds them.
pub const BIND: &str = "bind.sv";

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

/// The module of all memories, as it is printed; the same for every design.
const RAM: &str = include_str!("ram_1r1w.v");

/// What the module of all memories promises, and what it does not.
const RAM_SAYS: &str = "A memory with one write port and one read port, both synchronous: every \
    memory of the design is an instance of this module. To use memories of another make, put \
    a module of this name, with these parameters and pins, in the place of this file.\n\
    \n\
    A word that is read while it is written may come as anything, here as x: no one uses it. \
    There is no reset, and the first contents may be anything. No one uses a word that was not \
    written before, nor an address of DEPTH or more.";

/// The modules of memories with a code, as they are printed; the same for every design.
const PARITY_RAM: &str = include_str!("parity_ram_1r1w.v");
const SECDED_RAM: &str = include_str!("secded_ram_1r1w.v");

/// What the module of memories with parity promises.
const PARITY_SAYS: &str =
    "A memory whose words have a bit of parity: if an odd number of bits of a word \
    is wrong when it is used, upset tells. The word is given out as it is.";

/// What the module of memories with an extended Hamming code promises.
const SECDED_SAYS: &str = "A memory whose words have an extended Hamming code: a single wrong bit is put \
    right, two are told. Of three and more some are told, and others are taken for a single one. What \
    is put right is right where it comes out; the memory has the right word again when it is next \
    written.";

/// The module of all registers that are kept in copies, as it is printed; the same for every design.
const VOTED: &str = include_str!("voted_register.v");

/// What the module of all registers that are kept in copies promises.
const VOTED_SAYS: &str = "A register in three copies: what two of them say holds. An upset that changes \
    one of them, in whatever bits, is outvoted, told, and gone with the next clock edge. The copies \
    differ in what inject does to them, so that no synthesis joins them as long as inject is not tied \
    to a constant; whoever ties it has to forbid that the copies are joined.";

/// The files of a design: one per module, named after it, those of the memories and of registers in
/// copies if it has any, and `<top>.f`, which lists them. The same design and header give the same bytes.
///
/// Blocks with the same text become one module. Where blocks of one module name differ
/// (because their surroundings read other outputs, or they were given other widths), the
/// first keeps the name and the others get that of their instance appended.
pub fn print(design: &Design, header: &Header) -> Vec<(String, String)> {
    let modules = module_names(design);
    let mut files: Vec<(String, String)> = Vec::new();
    for (id, name, paths) in distinct(design, &modules) {
        let label = if id == 0 { "Block" } else { "Instances" };
        let label = format!("{label}: {}", listed(&paths));
        let mut text = head(name, &[&design.blocks[id].text, "", &label], header);
        if id == 0 && !header.config_text.trim().is_empty() {
            text.push_str("//\n// The configuration:\n");
            for line in header.config_text.trim_end().lines() {
                let indented = format!("  {line}");
                push_comment(
                    &mut text,
                    "",
                    if line.is_empty() { line } else { &indented },
                );
            }
        }
        text.push('\n');
        text.push_str(&body(design, id, name, &|child| modules[&child].clone()));
        files.push((format!("{name}.v"), text));
    }
    if live_memories(design).next().is_some() {
        let name = names::memory_module(design);
        let body = RAM.replace("module ram_1r1w ", &format!("module {name} "));
        let text = head(&name, &[RAM_SAYS, ""], header) + "\n" + &body;
        files.push((format!("{name}.v"), text));
    }
    for code in codes(design) {
        let (text, says) = match code {
            Code::Parity => (PARITY_RAM, PARITY_SAYS),
            Code::Secded => (SECDED_RAM, SECDED_SAYS),
        };
        let name = names::coded_module(design, code);
        let inside = names::memory_module(design);
        let body = text
            .replace("\n  ram_1r1w #", &format!("\n  {inside} #"))
            .replace(
                &format!("module {} ", code.module()),
                &format!("module {name} "),
            );
        let text = head(&name, &[says, ""], header) + "\n" + &body;
        files.push((format!("{name}.v"), text));
    }
    if has_copies(design) {
        let name = names::voted_module(design);
        let body = VOTED.replace("module voted_register ", &format!("module {name} "));
        let text = head(&name, &[VOTED_SAYS, ""], header) + "\n" + &body;
        files.push((format!("{name}.v"), text));
    }
    files.push((format!("{}.f", modules[&0]), list(&files)));
    files
}

/// A block of the design keeps its registers in copies.
fn has_copies(design: &Design) -> bool {
    let live = (0..design.blocks.len()).filter(|&block| design.blocks[block].live);
    live.into_iter().any(|block| design.voter(block).is_some())
}

/// The memories of the design that something reads.
fn live_memories(design: &Design) -> impl Iterator<Item = &MemoryBlock> {
    let memories = design.memories.iter();
    memories.filter(|memory| design.nets[memory.read_data].live)
}

/// The codes that memories of the design have, each once.
fn codes(design: &Design) -> Vec<Code> {
    let mut codes = Vec::new();
    for checks in live_memories(design).filter_map(|memory| memory.checks) {
        if !codes.contains(&checks.code) {
            codes.push(checks.code);
        }
    }
    codes
}

/// The checkers of a design, which are no hardware: in [`CHECKERS`] one file per module that
/// makes claims and [`BIND`], which binds them; and `<top>_checkers.f`, which lists them. None if
/// nothing is claimed.
pub fn checkers(design: &Design, header: &Header) -> Vec<(String, String)> {
    let modules = module_names(design);
    let mut files: Vec<(String, String)> = Vec::new();
    let mut binds = String::new();
    for (id, module, _) in distinct(design, &modules) {
        let Some(checker) = checker::text(design, id, module) else {
            continue;
        };
        let name = checker::name(module);
        let says = format!(
            "What {module} claims about itself: assertions for simulation and proof, no hardware. \
             They are checked at the rising edge of the clock, unless it is reset then."
        );
        let text = head(&name, &[&says, ""], header) + "\n" + &checker;
        files.push((format!("{CHECKERS}/{name}.sv"), text));
        binds += &checker::bind(design, id, module);
    }
    if files.is_empty() {
        return files;
    }
    let says = "Puts a checker into every instance of the modules that make claims.";
    let head = head("bind", &[says, ""], header);
    let text = format!("{head}\n`default_nettype none\n{binds}\n`default_nettype wire\n");
    files.push((format!("{CHECKERS}/{BIND}"), text));
    files.push((format!("{}_checkers.f", modules[&0]), list(&files)));
    files
}

/// The text of a file list.
fn list(files: &[(String, String)]) -> String {
    files.iter().map(|(name, _)| format!("{name}\n")).collect()
}

/// The modules that are printed: the first block of each, its name, and the paths of all.
fn distinct<'a>(
    design: &'a Design,
    modules: &'a HashMap<BlockId, String>,
) -> Vec<(BlockId, &'a str, Vec<&'a str>)> {
    let mut distinct: Vec<(BlockId, &str, Vec<&str>)> = Vec::new();
    for (id, block) in design.blocks.iter().enumerate().filter(|(_, b)| b.live) {
        let name = modules[&id].as_str();
        match distinct.iter_mut().find(|(_, known, _)| *known == name) {
            Some((_, _, paths)) => paths.push(&block.path),
            None => distinct.push((id, name, vec![&block.path])),
        }
    }
    distinct
}

/// A pin of a module: its name, its width in bits, its direction.
pub type ModulePin = (String, u32, PinDirection);

/// A module that is emitted, as other tools see it.
#[derive(Debug)]
pub struct ModulePins {
    /// Its name.
    pub module: String,
    /// Its pins, the clock included.
    pub pins: Vec<ModulePin>,
    /// The instances in it: their names, modules and pins.
    pub inside: Vec<(String, String, Vec<ModulePin>)>,
    /// The memories in it: the names of their instances, their module and pins.
    pub memories: Vec<(String, String, Vec<ModulePin>)>,
}

/// Every module that is emitted, the top first.
pub fn modules(design: &Design) -> Vec<ModulePins> {
    let modules = module_names(design);
    let pins = |id: BlockId| {
        let pins = Module::new(design, id).pins().into_iter();
        pins.map(|net| {
            let pin = &design.nets[net];
            let direction = match pin.role {
                Role::Input => PinDirection::Input,
                _ => PinDirection::Output,
            };
            (pin.printed.clone(), pin.width, direction)
        })
        .collect()
    };
    let memories = |id: BlockId| {
        let memories = design.blocks[id].memories.iter();
        let memories = memories.map(|&memory| &design.memories[memory]);
        let live = memories.filter(|memory| design.nets[memory.read_data].live);
        let pins = |memory: &MemoryBlock| {
            let address = design.nets[memory.read_address].width;
            let mut pins = vec![
                ("clk".to_owned(), 1, PinDirection::Input),
                ("write_enable".to_owned(), 1, PinDirection::Input),
                ("write_address".to_owned(), address, PinDirection::Input),
                ("write_data".to_owned(), memory.width, PinDirection::Input),
                ("read_address".to_owned(), address, PinDirection::Input),
                ("read_data".to_owned(), memory.width, PinDirection::Output),
            ];
            if memory.checks.is_some() {
                pins.push(("read_valid".to_owned(), 1, PinDirection::Input));
                pins.push(("upset".to_owned(), 2, PinDirection::Output));
            }
            pins
        };
        live.map(|memory| {
            let module = names::module_of(design, memory);
            (names::memory(memory), module, pins(memory))
        })
        .collect()
    };
    let distinct = distinct(design, &modules).into_iter();
    distinct
        .map(|(id, module, _)| ModulePins {
            memories: memories(id),
            module: module.to_owned(),
            pins: pins(id),
            inside: (design.blocks[id].children.iter())
                .map(|&child| (child, &design.blocks[child]))
                .filter(|(_, block)| block.live)
                .map(|(child, block)| {
                    (names::instance(block), modules[&child].clone(), pins(child))
                })
                .collect(),
        })
        .collect()
}

/// The module of a block; `module_of` names those of its children.
fn body(design: &Design, id: BlockId, name: &str, module_of: &dyn Fn(BlockId) -> String) -> String {
    let module = Module::new(design, id);
    module.print(name, |out| {
        module.instances(out, module_of);
        module.registers(out);
        module.memories(out);
        module.unused(out);
    })
}

/// The name of every live block's module.
pub(super) fn module_names(design: &Design) -> HashMap<BlockId, String> {
    // Children come after their parents, so that backwards every child has its class
    // before its parent needs it.
    let mut classes: HashMap<(String, String), usize> = HashMap::new();
    let mut class_of: HashMap<BlockId, usize> = HashMap::new();
    for (id, block) in design.blocks.iter().enumerate().rev() {
        if !block.live {
            continue;
        }
        // What differs in its claims alone has a checker of its own, and so a name of its own.
        let text = body(design, id, "", &|child| class_of[&child].to_string())
            + &checker::text(design, id, "").unwrap_or_default();
        let next = classes.len();
        let class = *classes
            .entry((format!("{}\n{}", block.module, block.text), text))
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

/// The comments at the head of a file: its name, what it says in paragraphs, and where it comes
/// from.
pub(crate) fn head(name: &str, says: &[&str], header: &Header) -> String {
    let mut text = format!("// {name}\n//\n");
    for part in says {
        match wrap(part, COLUMNS - 3) {
            lines if lines.is_empty() => push_comment(&mut text, "", ""),
            lines => lines
                .iter()
                .for_each(|line| push_comment(&mut text, "", line)),
        }
    }
    for line in origin(&header.hash) {
        push_comment(&mut text, "", &line);
    }
    text
}
