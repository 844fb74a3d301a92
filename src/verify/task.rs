//! What is proved in one go.

use crate::hdl::ClaimText;

/// What is proved in one go: a design with its claims.
#[derive(Debug)]
pub struct ProofTask {
    /// The module at the top.
    pub top: String,
    /// What it is, for people.
    pub says: String,
    /// The Verilog, checkers in their places: names and texts.
    pub files: Vec<(String, String)>,
    /// Parameters of the top and their values.
    pub parameters: Vec<(&'static str, u64)>,
    /// Instances that no claim says anything about, as Yosys selects them.
    pub cuts: Vec<String>,
    /// Instances whose claims are proved in another part, whatever their pins do, and assumed
    /// here.
    pub assumed: Vec<String>,
    /// Cycles that induction looks back, at most.
    pub induction: u32,
    /// Checkers, by instances from the top, whose claims are part of another task and say nothing
    /// here.
    pub left_out: Vec<String>,
    /// What has to be proved.
    pub claims: Vec<ClaimText>,
}
