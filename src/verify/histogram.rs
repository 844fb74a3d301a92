//! A small histogram with its counters, and the search: `testbench/histogram.v`.

use super::bound::insert;
use super::task::ProofTask;
use super::tools::ToolError;
use crate::blocks::histogram::Shape;
use crate::config::plan::{HistogramKind, PortPlan};
use crate::hdl::{Claim, ClaimText, Design};

/// Bits of all counters that a proof still knows one by one.
const MOST_BITS: u32 = 64;

/// The claims that are wanted for themselves; the others make them inductive.
pub(super) const PROPERTIES: [&str; 5] = [
    "counters_count",
    "sums_add_up",
    "no_wrap",
    "search_exact",
    "window_counted",
];

pub(super) const TEXT: &str = include_str!("../../testbench/histogram.v");

/// What the modules of [`TEXT`] are called in the port.
const INSTANCES: [(&str, &str); 2] = [
    ("counter_claims", "u_clearing.u_store.u_claims."),
    ("search_claims", "u_search_claims."),
];

/// The histogram and the search of a port of `plan`, if the histogram is a clearing one, so small
/// that all its counters can be part of the proof, and none of them stops counting.
///
/// # Errors
/// If the modules are not there.
pub(super) fn task(
    plan: &PortPlan,
    design: &Design,
    files: &[(String, String)],
) -> Result<Option<ProofTask>, ToolError> {
    let shape = Shape::of(plan);
    let stops = shape.saturates || shape.counts_enough || shape.sums_enough;
    let clears = plan.predicts() && plan.histogram.kind == HistogramKind::Clearing;
    let small = shape.index() < 6 && shape.counter << shape.index() <= MOST_BITS;
    if !clears || stops || !small || plan.registers.is_some() {
        return Ok(None);
    }
    let prefix = design.top().strip_suffix("port").unwrap_or_default();
    let mut all = files.to_vec();
    insert(
        &mut all,
        &format!("{prefix}counter_store"),
        &counters(plan, &shape),
    )?;
    insert(&mut all, design.top(), &search(plan, &shape))?;
    all.push(("histogram.v".into(), TEXT.into()));
    let ours = |checker: &str| {
        ["u_idle_meter", "u_clearing", "u_perfbound"]
            .contains(&checker.split('.').next().unwrap_or_default())
    };
    let checkers = || design.checkers().into_iter();
    Ok(Some(ProofTask {
        top: design.top().into(),
        says: "a small histogram with all its counters, and the search".into(),
        files: all,
        parameters: Vec::new(),
        cuts: design.instances_without_claims(ours),
        // They are proved of the prediction, whatever the rest does.
        assumed: checkers().filter(|it| ours(it)).collect(),
        left_out: checkers().filter(|it| !ours(it)).collect(),
        claims: claims(),
    }))
}

/// Bits of every number of samples in the claims: none of them wraps.
fn wide(plan: &PortPlan, shape: &Shape) -> u32 {
    (shape.counter + shape.index())
        .max(plan.budget.width)
        .max(shape.sum)
        + 1
}

/// What is put into the memory of counters.
fn counters(plan: &PortPlan, shape: &Shape) -> String {
    let bins = 1 << shape.index();
    let groups = 1 << shape.group;
    let joined = |memory: &str, words: u32| {
        let words = (0..words).rev().map(|word| format!("{memory}[{word}]"));
        words.collect::<Vec<_>>().join(", ")
    };
    format!(
        "  wire [{}:0] claims_recorded;\n  wire [{}:0] claims_samples;\n  \
         counter_claims #(.BINS({bins}), .GROUPS({groups}), .INDEX({}), .PLACE({}), .COUNT({}), \
         .SUM({}), .WIDE({})) u_claims (.clk(clk), .rst(rst), .counters({{{}}}), .groups({{{}}}), \
         .populated(populated_q), .at(at_q), .changing(changing_q), \
         .read_counter(counters_read_data), .read_word(groups_read_data), .here(here_q), \
         .writing(writing_q), .word(group_word_q), .count(count), .new_count(new_count), \
         .new_sum(new_sum), .last(last_q), .wrote(wrote_q), .last_word(last_word_q), \
         .last_count(last_count_q), .clearing(clearing_q), .recorded(claims_recorded), \
         .samples(claims_samples));\n",
        bins * shape.counter - 1,
        wide(plan, shape) - 1,
        shape.index(),
        shape.place,
        shape.counter,
        shape.sum,
        wide(plan, shape),
        joined("counters_mem", bins),
        joined("groups_mem", groups),
    )
}

/// What is put into the port: wires that Yosys joins with the registers of their names.
fn search(plan: &PortPlan, shape: &Shape) -> String {
    let (index, wide) = (shape.index(), wide(plan, shape));
    let bins = 1 << index;
    let budget = plan.budget.width;
    let samples = crate::hdl::clog2(u128::from(plan.histogram.max_samples) + 1);
    let seen = budget.max(shape.sum).max(shape.counter);
    let store = |name: &str| format!("u_clearing.u_store.{name}");
    let found = |name: &str| format!("u_perfbound.{name}");
    let pins = [
        ("state", found("state_q"), 3),
        ("pending", found("pending_q"), 1),
        ("reading", found("reading_q"), 1),
        ("reading_next", found("reading_d"), 1),
        ("arriving", found("arriving_q"), 1),
        ("looking", found("looking_q"), 1),
        ("exceeds", found("exceeds"), 1),
        ("group", found("group_q"), shape.group),
        ("place", found("place_q"), shape.place),
        ("bin", found("bin_q"), index),
        ("seen", found("samples_q"), seen),
        ("left", found("left_q"), budget),
        ("budget", found("budget_now_q"), budget),
        ("found", found("found_q"), index),
        ("above", found("above_q"), 1),
        ("arrived", store("here_q"), index),
        ("at", store("at_q"), index),
        ("changes", store("changes"), 1),
        ("changing", store("changing_q"), 1),
        ("writing", store("writing_q"), 1),
        ("wrote", store("wrote_q"), 1),
        ("clearing", store("clearing_q"), 1),
        ("recorded", store("claims_recorded"), bins * shape.counter),
        ("samples", store("claims_samples"), wide),
        (
            "window_samples",
            "u_clearing.u_window.samples_q".into(),
            samples,
        ),
    ];
    let wires = pins
        .iter()
        .map(|(_, path, width)| format!("  (* hierconn *) wire [{}:0] \\{path} ;\n", width - 1));
    let connections = pins
        .iter()
        .map(|(pin, path, _)| format!(", .{pin}(\\{path} )"));
    format!(
        "{}  search_claims #(.BINS({bins}), .TOP_GROUP({}), .INDEX({index}), .PLACE({}), \
         .COUNT({}), .WIDE({wide})) u_search_claims (.clk(clk), .rst(rst), \
         .cleared(clearing_cleared), .here(\\{} ){});\n",
        wires.collect::<String>(),
        shape.top_bin >> shape.place,
        shape.place,
        shape.counter,
        store("here_q"),
        connections.collect::<String>(),
    )
}

/// The claims of [`TEXT`], each with the comment above it.
pub(super) fn claims() -> Vec<ClaimText> {
    let mut claims = Vec::new();
    let mut instance = "";
    let mut comment: Vec<&str> = Vec::new();
    for line in TEXT.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("// ") {
            comment.push(text);
            continue;
        }
        if let Some(module) = line.strip_prefix("module ") {
            let known = INSTANCES.iter().find(|(it, _)| module.starts_with(it));
            instance = known.map_or("", |(_, instance)| instance);
        }
        let claim = line.strip_prefix("always @(*) if (!rst) ");
        if let Some((name, _)) = claim.and_then(|claim| claim.split_once(": assert")) {
            claims.push(ClaimText {
                name: format!("{instance}{name}"),
                says: comment.join(" "),
                kind: match PROPERTIES.contains(&name) {
                    true => Claim::Property,
                    false => Claim::Invariant,
                },
            });
        }
        comment.clear();
    }
    claims
}
