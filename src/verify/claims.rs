//! The claims of a test bench that is written by hand.

use crate::hdl::{Claim, ClaimText};

/// The claims of the modules that are named, each with the comment above it: `instances` are the
/// modules and their paths below the top, `properties` the claims that are wanted for themselves.
pub(super) fn claims_in(
    text: &str,
    instances: &[(&str, &str)],
    properties: &[&str],
) -> Vec<ClaimText> {
    let mut claims = Vec::new();
    let mut instance = None;
    let mut comment: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("// ") {
            comment.push(text);
            continue;
        }
        if let Some(module) = line.strip_prefix("module ") {
            let name = module.split(' ').next().unwrap_or_default();
            let known = instances.iter().find(|(module, _)| *module == name);
            instance = known.map(|(_, instance)| *instance);
        }
        let claim = line.strip_prefix("always @(*) if (!rst) ");
        let claim = claim.and_then(|claim| claim.split_once(": assert"));
        if let (Some((name, _)), Some(instance)) = (claim, instance) {
            claims.push(ClaimText {
                name: format!("{instance}{name}"),
                says: comment.join(" "),
                kind: match properties.contains(&name) {
                    true => Claim::Property,
                    false => Claim::Invariant,
                },
            });
        }
        comment.clear();
    }
    claims
}
