//! Words that messages have in common.

/// A number with its noun: `1 node`, `2 nodes`.
pub(crate) fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
