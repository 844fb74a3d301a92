//! What somebody who misspelt a name probably meant.

/// The candidate that differs from `name` in the fewest letters, if it is one of these that was
/// probably meant: at most half of its letters differ.
pub(crate) fn similar<'b>(name: &str, candidates: &[&'b str]) -> Option<&'b str> {
    let edits = |candidate: &str| strsim::damerau_levenshtein(name, candidate);
    candidates
        .iter()
        .min_by_key(|candidate| edits(candidate))
        .filter(|candidate| 2 * edits(candidate) <= candidate.chars().count())
        .copied()
}
