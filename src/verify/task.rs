//! What is proved in one go.

use super::claims::shown;
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
    /// The other claims of these files are taken as given, and not proved.
    pub others_given: bool,
}

impl ProofTask {
    /// The names of the claims, as reports print them.
    pub fn names(&self) -> Vec<String> {
        self.claims.iter().map(|claim| shown(&claim.name)).collect()
    }

    /// Keeps the claims of these names, as reports print them, and takes the others as given.
    pub fn narrow(&mut self, names: &[String]) {
        let all = self.claims.len();
        self.claims
            .retain(|claim| names.contains(&shown(&claim.name)));
        self.others_given |= self.claims.len() < all;
    }
}
