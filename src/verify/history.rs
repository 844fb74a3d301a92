//! The history of misses: `testbench/history.v`.

use super::bound::{insert, insert_with_words};
use super::claims::{asserted, claims_in};
use super::task::ProofTask;
use super::tools::ToolError;
use crate::blocks::fixed_point::Arithmetic;
use crate::blocks::miss_history::{LONGEST_REGISTER, STAGES};
use crate::config::plan::PortPlan;
use crate::hdl::{clog2, ClaimText, Design};

/// Most bits of all ratios that a proof still knows one by one.
const MOST_BITS: u32 = 48;

/// The claims that are wanted for themselves; the others make them inductive.
pub(super) const PROPERTIES: [&str; 3] = ["misses_counted", "queue_follows", "ratios_summed"];

pub(super) const TEXT: &str = include_str!("../../testbench/history.v");

/// The history of misses of a port of `plan`, if it corrects, and the outcomes are a register; with
/// the sum of the ratios if they are few.
///
/// # Errors
/// If the module is not there.
pub(super) fn task(
    plan: &PortPlan,
    design: &Design,
    files: &[(String, String)],
) -> Result<Option<ProofTask>, ToolError> {
    if !plan.corrects() || plan.correction.history > LONGEST_REGISTER {
        return Ok(None);
    }
    let numbers = Arithmetic::new(plan);
    let prefix = design.top().strip_suffix("port").unwrap_or_default();
    let module = format!("{prefix}miss_history");
    let mut all = files.to_vec();
    insert(&mut all, &module, &outcomes(&numbers))?;
    // That a memory with a code is a memory is proved by itself (`coding.v`).
    let few =
        !plan.codes_memories() && words(&numbers).saturating_mul(numbers.ratio_bits()) <= MOST_BITS;
    if few {
        let memory = ("ratios", words(&numbers), numbers.ratio_bits());
        let text = ratios(&numbers);
        insert_with_words(&mut all, prefix, "miss_history", &[memory], &text)?;
    }
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
        induction: super::INDUCTION,
        cuts,
        assumed: checkers().filter(|it| ours(it)).collect(),
        left_out: checkers().filter(|it| !ours(it)).collect(),
        claims: claims(few),
        others_given: false,
    }))
}

/// Words of the memory of ratios.
fn words(numbers: &Arithmetic) -> u32 {
    numbers.history.max(2)
}

/// What is put into the module, of every history.
fn outcomes(numbers: &Arithmetic) -> String {
    format!(
        "  history_claims #(.HISTORY({}), .STAGES({STAGES}), .AT({}), .COUNT({})) u_history_claims \
         (.clk(clk), .rst(rst), .ended(ended), .samples(samples_q), .missed(missed_q), \
         .outcomes(outcomes_q), .head(head_q), .tail(tail_q), .misses(misses_now_q));\n",
        numbers.history,
        clog2(words(numbers).into()),
        numbers.count_bits(),
    )
}

/// What is put into it besides, of a short one.
fn ratios(numbers: &Arithmetic) -> String {
    format!(
        "  ratio_claims #(.HISTORY({}), .STAGES({STAGES}), .WORDS({}), .RATIO({}), .AT({}), \
         .COUNT({}), .SUM({})) u_ratio_claims (.clk(clk), .rst(rst), .samples(samples_q), \
         .missed(missed_q), .head(head_q), .tail(tail_q), .misses(misses_now_q), .sum(sum_now_q), \
         .ratio(ratio_q), .ratios(\\u_ratios.claims_words ), .read_data(ratios_read_data));\n",
        numbers.history,
        words(numbers),
        numbers.ratio_bits(),
        clog2(words(numbers).into()),
        numbers.count_bits(),
        numbers.sum_bits(),
    )
}

/// The claims of [`TEXT`], with those of the ratios if there are `few`.
pub(super) fn claims(few: bool) -> Vec<ClaimText> {
    let mut instances = vec![("history_claims", "u_miss_history.u_history_claims.")];
    instances.extend(few.then_some(("ratio_claims", "u_miss_history.u_ratio_claims.")));
    claims_in(TEXT, &instances, |line| asserted(line, &PROPERTIES))
}
