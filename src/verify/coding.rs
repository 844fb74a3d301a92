//! The code of memories: `testbench/coding.v`.

use super::claims::{asserted, claims_in};
use super::task::ProofTask;
use super::tools::ToolError;
use crate::blocks::memory_code;
use crate::config::plan::PortPlan;
use crate::hdl::census::{self, Storage};
use crate::hdl::{ClaimText, Code, Design};

/// The claims that are wanted for themselves: all of them.
pub(super) const PROPERTIES: [&str; 5] = [
    "whole_word_is_read",
    "wrong_bit_is_told",
    "two_wrong_bits_are_told",
    "zeros_are_told",
    "nothing_told_of_others",
];

pub(super) const TEXT: &str = include_str!("../../testbench/coding.v");

/// What comes out of the memories of the port of `plan`, whatever bits of a word are wrong, if they have
/// a code: words of every width that the design has.
///
/// # Errors
/// If the module of such memories is not there.
pub(super) fn task(
    plan: &PortPlan,
    design: &Design,
    files: &[(String, String)],
) -> Result<Option<ProofTask>, ToolError> {
    let Some(code) = memory_code(plan) else {
        return Ok(None);
    };
    let widths = widths(design);
    if widths.is_empty() {
        return Ok(None);
    }
    let prefix = design.top().strip_suffix("port").unwrap_or_default();
    let module = format!("{prefix}{}", code.module());
    let file = format!("{module}.v");
    let found = files.iter().find(|(name, _)| *name == file);
    let (name, text) = found.ok_or_else(|| {
        ToolError::Refused(format!("there is no {file}, which has the memories' code"))
    })?;
    let bench = TEXT
        .replace("coded_ram #", &format!("{module} #"))
        .replace("module ram_1r1w #", &format!("module {prefix}ram_1r1w #"));
    let corrects = code == Code::Secded;
    Ok(Some(ProofTask {
        top: "coding".into(),
        says: format!(
            "words of memories in which any bits may be wrong; of {} bits, as they are in this design",
            listed(&widths)
        ),
        files: vec![
            (name.clone(), text.clone()),
            ("coding.v".into(), bench + &top(&widths, corrects)),
        ],
        parameters: Vec::new(),
        induction: 1,
        cuts: Vec::new(),
        assumed: Vec::new(),
        left_out: Vec::new(),
        claims: claims(&widths),
        others_given: false,
    }))
}

/// The widths of the words of the memories, with the bits of their code, each once.
fn widths(design: &Design) -> Vec<(u32, u32)> {
    let entries = census::count(design).entries.into_iter();
    let memories = entries.filter(|it| it.storage == Storage::Memory && it.check_bits > 0);
    let mut widths: Vec<_> = memories
        .map(|it| (it.width - it.check_bits, it.check_bits))
        .collect();
    widths.sort_unstable();
    widths.dedup();
    widths
}

/// `4, 6 and 64`.
fn listed(widths: &[(u32, u32)]) -> String {
    let names: Vec<String> = widths.iter().map(|(width, _)| width.to_string()).collect();
    match &names[..] {
        [names @ .., last] if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        _ => names.concat(),
    }
}

/// The module at the top: a word of every width.
fn top(widths: &[(u32, u32)], corrects: bool) -> String {
    let mut pins = String::new();
    let mut words = String::new();
    for &(width, check) in widths {
        let (last, stored) = (width - 1, width + check - 1);
        pins += &format!(
            ",\n    input wire [{last}:0] data_{width},\n    input wire [{stored}:0] wrong_{width}"
        );
        words += &format!(
            "  coding_word #(.WIDTH({width}), .CHECK({check}), .CORRECTS({})) u_{width} (\n      \
             .clk(clk), .rst(rst), .read_valid(read_valid), .data(data_{width}), \
             .wrong_bits(wrong_{width})\n  );\n",
            u32::from(corrects)
        );
    }
    format!(
        "\nmodule coding (\n    input wire clk,\n    input wire rst,\n    input wire read_valid{pins}\n);\n\
         {words}endmodule\n"
    )
}

/// The claims of [`TEXT`] about words of these widths.
pub(super) fn claims(widths: &[(u32, u32)]) -> Vec<ClaimText> {
    let paths: Vec<String> = widths
        .iter()
        .map(|(width, _)| format!("u_{width}."))
        .collect();
    let instances: Vec<(&str, &str)> = paths.iter().map(|path| ("coding_word", &**path)).collect();
    claims_in(TEXT, &instances, |line| asserted(line, &PROPERTIES))
}
