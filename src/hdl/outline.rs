//! A design for readers: its blocks, what each is for, and what the pins of the top mean.

use super::ir::{BlockId, Design};
use super::sim::Pin;
use super::{names, verilog};

/// A block of a design, as part of an outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The path by instance names, the top first, as in a [`census`](super::census::Entry).
    pub path: String,
    /// The instance in the Verilog; of the top its module.
    pub instance: String,
    /// The module that is printed for it.
    pub module: String,
    /// What it is for, in sentences.
    pub text: String,
    /// How many blocks it is in.
    pub depth: usize,
}

/// The blocks of a design that are printed: each before those in it, these in their order.
pub fn outline(design: &Design) -> Vec<Outline> {
    fn visit(design: &Design, id: BlockId, depth: usize, found: &mut Vec<Outline>) {
        let block = &design.blocks[id];
        if !block.live {
            return;
        }
        found.push(Outline {
            path: block.path.clone(),
            instance: match depth {
                0 => block.module.clone(),
                _ => names::instance(block),
            },
            module: String::new(),
            text: block.text.split_whitespace().collect::<Vec<_>>().join(" "),
            depth,
        });
        for &child in &block.children {
            visit(design, child, depth + 1, found);
        }
    }
    let mut found = Vec::new();
    visit(design, 0, 0, &mut found);
    let modules = verilog::module_names(design);
    for (id, block) in design.blocks.iter().enumerate() {
        let here = found.iter_mut().find(|outline| outline.path == block.path);
        if let (Some(outline), Some(module)) = (here, modules.get(&id)) {
            outline.module.clone_from(module);
        }
    }
    found
}

/// The pins of the top in the order of declaration, the clock included, each with its meaning.
pub fn described_pins(design: &Design) -> Vec<(Pin, String)> {
    let docs = design.blocks[0].nets.iter().map(|&net| &design.nets[net]);
    let meaning = |pin: &Pin| {
        let net = docs.clone().find(|net| net.printed == pin.name);
        net.map_or_else(String::new, |net| net.doc.clone())
    };
    let pins = design.pins().into_iter();
    pins.map(|pin| {
        let doc = meaning(&pin);
        (pin, doc)
    })
    .collect()
}
