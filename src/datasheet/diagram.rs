//! The block diagram: the top with its pins, and the blocks in it.

use std::fmt::Write as _;

use super::{first_sentence, Block, PinGroup};
use crate::hdl::{Outline, PinDirection};
use crate::words::escaped;

/// Sizes in the drawing: a line of pins, a block, how far one stands in another, the frame.
const PIN: usize = 19;
const BOX: usize = 40;
const INDENT: usize = 22;
const LEFT: usize = 190;
const RIGHT: usize = 780;
const TOP: usize = 40;

/// Letters that fit into a block, at the size of its text.
const LETTERS: usize = 92;

/// How many blocks one is in, at most, to be shown; one more where the controllers are parts of the top.
const DEEPEST: usize = 2;

/// Blocks of one module that stand next to each other, as one.
pub(super) struct Part<'a> {
    /// The first of them.
    pub outline: &'a Outline,
    /// The instance, or the first and the last.
    pub instances: String,
}

/// The blocks of an outline; of ports of a switch the first stands for all.
pub(super) fn parts(outline: &[Outline]) -> Vec<Part<'_>> {
    let mut parts: Vec<Part> = Vec::new();
    // What is in a port that another one stands for.
    let mut hidden: Option<usize> = None;
    for block in outline {
        if hidden.is_some_and(|depth| block.depth > depth) {
            continue;
        }
        hidden = None;
        let numbered = |name: &str| {
            let (array, place) = name.rsplit_once('_')?;
            place.parse::<u32>().ok().map(|_| array.to_owned())
        };
        let twin = parts.iter_mut().find(|part| {
            part.outline.depth == block.depth
                && part.outline.module == block.module
                && numbered(&block.instance).is_some()
                && numbered(&part.outline.instance) == numbered(&block.instance)
        });
        match twin {
            Some(part) => {
                part.instances = format!("{} to {}", part.outline.instance, block.instance);
                hidden = Some(block.depth);
            }
            None => parts.push(Part {
                outline: block,
                instances: block.instance.clone(),
            }),
        }
    }
    parts
}

/// The figure; `nested`: the controllers are parts of the top.
pub(super) fn figure(outline: &[Outline], pins: &[PinGroup], nested: bool) -> Block {
    let parts = parts(outline);
    // The blocks that compute a logarithm, and the like, are of no interest to who connects pins.
    let deepest = DEEPEST + usize::from(nested);
    let shown = parts.into_iter();
    let parts: Vec<Part> = shown.filter(|part| part.outline.depth <= deepest).collect();
    Block::Figure {
        svg: svg(&parts, pins),
        kind: "text",
        text: text(&parts),
        summary: "The same as text".into(),
    }
}

fn text(parts: &[Part]) -> String {
    let names: Vec<String> = parts
        .iter()
        .map(|part| {
            let indent = "    ".repeat(part.outline.depth);
            match part.outline.depth {
                0 => part.instances.clone(),
                _ => format!("{indent}{} ({})", part.instances, part.outline.module),
            }
        })
        .collect();
    let width = names.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0) + 2;
    let lines = names.iter().zip(parts).map(|(name, part)| {
        let says = first_sentence(&part.outline.text);
        format!("{name:width$}{says}\n")
    });
    lines.collect()
}

/// The pins of one side: names of those that belong together, and widths.
fn side(pins: &[PinGroup], direction: PinDirection) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for pin in pins.iter().filter(|pin| pin.direction == direction) {
        let name = match pin.name.split_once("s_axi_") {
            Some(_) => "s_axi_* (AXI4-Lite)".to_owned(),
            None => match (pin.width, pin.last) {
                (1, None) => pin.name.clone(),
                (width, None) => format!("{}[{}:0]", pin.name, width - 1),
                (1, Some(last)) => format!("{}_0 .. {last}", pin.base()),
                (width, Some(last)) => format!("{}_0 .. {last} [{}:0]", pin.base(), width - 1),
            },
        };
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    names
}

fn svg(parts: &[Part], pins: &[PinGroup]) -> String {
    let inputs = side(pins, PinDirection::Input);
    let outputs = side(pins, PinDirection::Output);
    let rows = inputs.len().max(outputs.len()) * PIN;
    let boxes = parts.len().saturating_sub(1) * BOX;
    let bottom = TOP + rows.max(boxes) + 16;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" role=\"img\">\n\
         <title>Block diagram</title>\n",
        RIGHT + LEFT,
        bottom + 6
    );
    let mut put = |text: std::fmt::Arguments| {
        // Writing to a string does not fail.
        let _ = writeln!(svg, "{text}");
    };
    put(format_args!(
        "<rect class=\"frame\" x=\"{LEFT}\" y=\"6\" width=\"{}\" height=\"{}\"/>",
        RIGHT - LEFT,
        bottom - 6
    ));
    for (place, part) in parts.iter().enumerate() {
        let says = first_sentence(&part.outline.text);
        let Some(place) = place.checked_sub(1) else {
            put(format_args!(
                "<text x=\"{}\" y=\"26\" font-weight=\"600\">{}</text>",
                LEFT + 12,
                escaped(&part.instances)
            ));
            continue;
        };
        let x = LEFT + 12 + (part.outline.depth - 1) * INDENT;
        let y = TOP + place * BOX;
        let room = LETTERS - part.outline.depth * 4;
        let short: String = match says.chars().count() > room {
            true => says.chars().take(room - 1).chain(['\u{2026}']).collect(),
            false => says,
        };
        put(format_args!(
            "<rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"3\"/>\n\
             <text x=\"{}\" y=\"{}\">{}</text>\n\
             <text x=\"{}\" y=\"{}\" class=\"pale\" font-size=\"11\">{}</text>",
            RIGHT - 12 - x,
            BOX - 5,
            x + 8,
            y + 15,
            escaped(&format!("{} ({})", part.instances, part.outline.module)),
            x + 8,
            y + 29,
            escaped(&short)
        ));
    }
    for (row, name) in inputs.iter().enumerate() {
        let y = TOP + row * PIN + 6;
        put(format_args!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n\
             <path class=\"wave\" d=\"M{} {y} H{LEFT} m-6 -4 l6 4 l-6 4\"/>",
            LEFT - 24,
            y + 4,
            escaped(name),
            LEFT - 20
        ));
    }
    for (row, name) in outputs.iter().enumerate() {
        let y = TOP + row * PIN + 6;
        put(format_args!(
            "<text x=\"{}\" y=\"{}\">{}</text>\n\
             <path class=\"wave\" d=\"M{RIGHT} {y} h20 m-6 -4 l6 4 l-6 4\"/>",
            RIGHT + 24,
            y + 4,
            escaped(name)
        ));
    }
    svg + "</svg>\n"
}
