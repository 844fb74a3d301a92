//! Registers in three copies, one of which an upset may have changed: `testbench/voting.v`.

use super::claims::{asserted, claims_in};
use super::task::ProofTask;
use super::tools::ToolError;
use crate::config::plan::PortPlan;
use crate::hdl::{ClaimText, Design};

/// The claims that are wanted for themselves: all of them.
pub(super) const PROPERTIES: [&str; 3] = ["two_outvote_one", "upset_told", "upset_gone"];

pub(super) const TEXT: &str = include_str!("../../testbench/voting.v");

/// What a register in three copies does with an upset, if the port of `plan` has any.
///
/// # Errors
/// If the module of such registers is not there.
pub(super) fn task(
    plan: &PortPlan,
    design: &Design,
    files: &[(String, String)],
) -> Result<Option<ProofTask>, ToolError> {
    if !plan.triple_redundancy {
        return Ok(None);
    }
    let prefix = design.top().strip_suffix("port").unwrap_or_default();
    let module = format!("{prefix}voted_register");
    let file = format!("{module}.v");
    let found = files.iter().find(|(name, _)| *name == file);
    let (name, text) = found.ok_or_else(|| {
        ToolError::Refused(format!(
            "there is no {file}, which keeps registers in copies"
        ))
    })?;
    let bench = TEXT.replace("voted_register #", &format!("{module} #"));
    Ok(Some(ProofTask {
        top: "voting".into(),
        says: "a register in three copies, one of which an upset has changed, in whatever bits"
            .into(),
        files: vec![(name.clone(), text.clone()), ("voting.v".into(), bench)],
        parameters: Vec::new(),
        // With two cycles the copies would be those that the first one stored.
        induction: 1,
        cuts: Vec::new(),
        assumed: Vec::new(),
        left_out: Vec::new(),
        claims: claims(),
        others_given: false,
    }))
}

/// The claims of [`TEXT`].
pub(super) fn claims() -> Vec<ClaimText> {
    claims_in(TEXT, &[("voting", "")], |line| asserted(line, &PROPERTIES))
}
