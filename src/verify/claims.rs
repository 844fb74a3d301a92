//! The claims of a test bench that is written by hand.

use crate::hdl::{Claim, ClaimText, CHECKER};

/// What the name of a wire of `pair_faults.v` begins with that is 1 where a claim does not hold.
pub(super) const BROKEN: &str = "broken_";

/// The name of a claim as reports print it: without the instance of its checker, and without
/// [`BROKEN`].
pub(super) fn shown(name: &str) -> String {
    let path = name.split('.').filter(|&part| part != CHECKER);
    path.collect::<Vec<_>>().join(".").replacen(BROKEN, "", 1)
}

/// The claims of the modules that are named, each with the comment above it: `instances` are the
/// modules and their paths below the top, and `claimed` says what a line claims, if it does.
pub(super) fn claims_in<'a>(
    text: &'a str,
    instances: &[(&str, &str)],
    claimed: impl Fn(&'a str) -> Option<(&'a str, Claim)>,
) -> Vec<ClaimText> {
    let mut claims = Vec::new();
    let mut paths: Vec<&str> = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("// ") {
            comment.push(text);
            continue;
        }
        if let Some(module) = line.strip_prefix("module ") {
            let name = module.split(' ').next().unwrap_or_default();
            let known = instances.iter().filter(|(module, _)| *module == name);
            paths = known.map(|(_, path)| *path).collect();
        }
        if let Some((name, kind)) = claimed(line) {
            claims.extend(paths.iter().map(|path| ClaimText {
                name: format!("{path}{name}"),
                says: comment.join(" "),
                kind,
            }));
        }
        comment.clear();
    }
    claims
}

/// The assertion of a line; `properties` are those that are wanted for themselves.
pub(super) fn asserted<'a>(line: &'a str, properties: &[&str]) -> Option<(&'a str, Claim)> {
    let claim = line.strip_prefix("always @(*) if (!rst) ")?;
    let (name, _) = claim.split_once(": assert")?;
    let kind = match properties.contains(&name) {
        true => Claim::Property,
        false => Claim::Invariant,
    };
    Some((name, kind))
}
