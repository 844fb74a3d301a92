//! Lists of values in a sweep, each value once and with its place.

use crate::input::{Reader, Section, Value, Written};

/// The byte at which the file has a setting; none of a default.
pub(super) type Place = Option<usize>;

/// Most runs of a sweep: each has a file of its own, and takes a second or more.
pub(super) const MOST_RUNS: usize = 100_000;
/// Most values of a list: each is compared with each.
pub(super) const MOST_VALUES: usize = 10_000;

/// The values of an axis; where none is listed, that of the scenario.
pub(super) fn axis<T: Copy>(values: &[(T, Place)]) -> Vec<(Option<T>, Place)> {
    if values.is_empty() {
        return vec![(None, None)];
    }
    let listed = values.iter();
    listed.map(|(value, at)| (Some(*value), *at)).collect()
}

/// The one of `all` that a value names.
pub(super) fn known<T: Copy>(value: &Value, all: &[T], name: fn(T) -> &'static str) -> Option<T> {
    let written = value.name()?;
    all.iter().copied().find(|one| name(*one) == written)
}

/// Puts the values of a list, each once, into `values`, which stay where it is not written.
pub(super) fn listed<T: Copy + PartialEq>(
    reader: &mut Reader,
    section: &Section,
    key: &str,
    values: &mut Vec<(T, Place)>,
    of: impl Fn(&Value) -> Option<T>,
) {
    let Some(list) = section.list(key) else {
        return;
    };
    values.clear();
    if list.value.len() > MOST_VALUES {
        let length = list.value.len();
        let problem = format!("{length} values, and at most {MOST_VALUES} can be listed");
        reader.fault_of(&list.map(|_| ()), problem);
        return;
    }
    for written in &list.value {
        let Written { value, offset, .. } = written;
        let Some(value) = of(value) else { continue };
        if values.iter().any(|(there, _)| *there == value) {
            reader.fault_of(written, "is listed twice");
        }
        values.push((value, Some(*offset)));
    }
}
