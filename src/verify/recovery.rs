//! The states of a link, begun in any state at all: `testbench/recovery.v`.

use super::bound::insert;
use super::claims::{asserted, claims_in};
use super::task::ProofTask;
use super::tools::ToolError;
use crate::config::plan::PortPlan;
use crate::hdl::{ClaimText, Design};

/// The claims that are wanted for themselves: all of them.
pub(super) const PROPERTIES: [&str; 5] = [
    "recovery_sends_awake_only",
    "recovery_wakes_by_going_up",
    "recovery_takes_t_w",
    "recovery_completes",
    "recovery_goes_up",
];

pub(super) const TEXT: &str = include_str!("../../testbench/recovery.v");

/// What the states of a link of `plan` do from any state, legal or not. The claims of the checkers
/// are left out: they say in which states a port can be.
///
/// # Errors
/// If the module is not there.
pub(super) fn task(
    plan: &PortPlan,
    design: &Design,
    files: &[(String, String)],
) -> Result<ProofTask, ToolError> {
    let prefix = design.top().strip_suffix("port").unwrap_or_default();
    let mut all = files.to_vec();
    insert(
        &mut all,
        &format!("{prefix}lpi_fsm"),
        &inside(plan, design)?,
    )?;
    all.push(("recovery.v".into(), TEXT.into()));
    let mut cuts = design.instances_without_claims(|_| false);
    cuts.retain(|instance| !instance.ends_with("/u_lpi_fsm"));
    Ok(ProofTask {
        top: design.top().into(),
        says: "the states of the link from any state at all, legal or not".into(),
        files: all,
        parameters: Vec::new(),
        // With two cycles the state before would be one that some state leads to.
        induction: 1,
        cuts,
        assumed: Vec::new(),
        left_out: design.checkers().into_iter().collect(),
        claims: claims(),
        others_given: false,
    })
}

/// What is put into the module.
fn inside(plan: &PortPlan, design: &Design) -> Result<String, ToolError> {
    let (uses_fast_wake, uses_deep_sleep) = (plan.uses_fast_wake(), plan.uses_deep_sleep());
    let (fast_wake, deep_sleep) = (plan.link.fast_wake, plan.link.deep_sleep);
    let refresh = plan.link.refresh.filter(|_| uses_deep_sleep);
    let cycles = design
        .register_width("lpi_fsm.cycles")
        .ok_or(ToolError::Refused(
            "the states of the link count no cycles".into(),
        ))?;
    let adjusts = !plan.adjustable_times().is_empty();
    let t_w = |pin: &str, used: bool, t_w: u64| match adjusts {
        true => pin.to_owned(),
        false => format!("{cycles}'d{}", if used { t_w - 1 } else { 0 }),
    };
    Ok(format!(
        "  recovery_claims #(.CYCLES({cycles}), .USES_FAST_WAKE({}), .USES_DEEP_SLEEP({}), \
         .USES_REFRESH({})) u_recovery_claims (.clk(clk), .rst(rst), .state(state_q), \
         .cycles(cycles_q), .fast_wake({}), .deep_sleep({}), .link_up({}), .deep({}), \
         .tx_enable(tx_enable));\n",
        u32::from(uses_fast_wake),
        u32::from(uses_deep_sleep),
        u32::from(refresh.is_some()),
        t_w("t_w_fast_wake", uses_fast_wake, fast_wake.t_w),
        t_w("t_w_deep_sleep", uses_deep_sleep, deep_sleep.t_w),
        if plan.control_pins { "link_up" } else { "1'b1" },
        match (uses_fast_wake, uses_deep_sleep) {
            (true, true) => "deep_q",
            (_, true) => "1'b1",
            _ => "1'b0",
        },
    ))
}

/// The claims of [`TEXT`].
pub(super) fn claims() -> Vec<ClaimText> {
    let instances = [("recovery_claims", "u_lpi_fsm.u_recovery_claims.")];
    claims_in(TEXT, &instances, |line| asserted(line, &PROPERTIES))
}
