//! The history of misses: `testbench/history.v`.

use super::bound::insert;
use super::claims::claims_in;
use super::task::ProofTask;
use super::tools::ToolError;
use crate::blocks::fixed_point::Arithmetic;
use crate::blocks::miss_history::STAGES;
use crate::config::plan::PortPlan;
use crate::hdl::{clog2, ClaimText, Design};

/// Most bits of all ratios that a proof still knows one by one.
const MOST_BITS: u32 = 300;

/// The claims that are wanted for themselves; the others make them inductive.
pub(super) const PROPERTIES: [&str; 3] = ["misses_counted", "queue_follows", "ratios_summed"];

pub(super) const TEXT: &str = include_str!("../../testbench/history.v");

/// The history of misses of a port of `plan`, if it corrects, and the history is so short that all
/// its ratios can be part of the proof.
///
/// # Errors
/// If the module is not there.
pub(super) fn task(
    plan: &PortPlan,
    design: &Design,
    files: &[(String, String)],
) -> Result<Option<ProofTask>, ToolError> {
    if !plan.corrects() {
        return Ok(None);
    }
    let numbers = Arithmetic::new(plan);
    let places = numbers.history.max(2);
    if places.saturating_mul(numbers.ratio_bits()) > MOST_BITS {
        return Ok(None);
    }
    let prefix = design.top().strip_suffix("port").unwrap_or_default();
    let module = format!("{prefix}miss_history");
    let words = (0..places)
        .rev()
        .map(|place| format!("ratios_mem[{place}]"));
    let inside = format!(
        "  history_claims #(.HISTORY({}), .STAGES({STAGES}), .WORDS({places}), .RATIO({}), .AT({}), \
         .COUNT({}), .SUM({})) u_claims (.clk(clk), .rst(rst), .ended(ended), .samples(samples_q), \
         .missed(missed_q), .outcomes(outcomes_q), .head(head_q), .tail(tail_q), \
         .misses(misses_now_q), .sum(sum_now_q), .ratio(ratio_q), .ratios({{{}}}), \
         .read_data(ratios_read_data));\n",
        numbers.history,
        numbers.ratio_bits(),
        clog2(places.into()),
        numbers.count_bits(),
        numbers.sum_bits(),
        words.collect::<Vec<_>>().join(", "),
    );
    let mut all = files.to_vec();
    insert(&mut all, &module, &inside)?;
    all.push(("history.v".into(), TEXT.into()));
    let ours = |checker: &str| checker.starts_with("u_idle_meter");
    let mut cuts = design.instances_without_claims(ours);
    cuts.retain(|instance| !instance.ends_with("/u_miss_history"));
    // Ratios may be anything.
    cuts.push(format!("{module}/u_logarithm"));
    let checkers = || design.checkers().into_iter();
    Ok(Some(ProofTask {
        top: design.top().into(),
        says: "the history of misses; their ratios are arbitrary".into(),
        files: all,
        parameters: Vec::new(),
        cuts,
        assumed: checkers().filter(|it| ours(it)).collect(),
        left_out: checkers().filter(|it| !ours(it)).collect(),
        claims: claims(),
    }))
}

/// The claims of [`TEXT`].
pub(super) fn claims() -> Vec<ClaimText> {
    let instances = [("history_claims", "u_miss_history.u_claims.")];
    claims_in(TEXT, &instances, &PROPERTIES)
}
