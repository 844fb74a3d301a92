//! How long the search takes.

use crate::blocks::histogram::regular::halving_cycles;
use crate::blocks::histogram::Shape;
use crate::config::plan::{HistogramKind, PortPlan};

/// Clock cycles that the budget is looked up in the histogram, at most, if a
/// number of reads takes `cycles_of` it: every group is read, and of one group every bin but
/// the lowest, and the last read of each level has to be looked at. A map needs two cycles.
fn search_cycles(plan: &PortPlan, cycles_of: impl Fn(u64) -> u64) -> u64 {
    if plan.histogram.kind == HistogramKind::Map {
        return 2;
    }
    let shape = Shape::of(plan);
    let groups = (shape.top_bin >> shape.place) + 1;
    let bins = u64::from(shape.group_size()) - 1;
    (cycles_of(groups) + 3) + (cycles_of(bins) + 3)
}

/// Digits of the window, of two bits each, by which the budget is multiplied. The highest is not above 1:
/// it leaves no carry.
pub(super) fn window_digits(plan: &PortPlan) -> u32 {
    plan.time_width / 2 + 1
}

/// Clock cycles that the budget takes if it is multiplied: one for each digit of the window, and
/// one to take the product.
fn multiply_cycles(plan: &PortPlan) -> u64 {
    match plan.budget.product {
        Some(_) => u64::from(window_digits(plan)) + 1,
        None => 0,
    }
}

/// Clock cycles from the first active cycle after an idle period to the cycle in which
/// `update` is high, at most, if no further sample comes before (`docs/how/controller.md`):
/// two to record and start, those of the multiplication and of the search, one to turn the
/// bin into a time.
pub fn update_latency(plan: &PortPlan) -> u64 {
    2 + multiply_cycles(plan) + search_cycles(plan, |reads| reads) + 1
}

/// Clock cycles between two updates, at most, under the hardest traffic (SPEC 10), in which
/// a sample comes every third cycle. Of every three cycles it takes one, and another if the
/// oldest sample is taken out. Otherwise as
/// [`update_latency`]; a sample that clears the histogram answers at once, the search for the
/// next sample begins two cycles later than after a search, and another clear in its last
/// cycle answers one cycle later than it would have.
///
/// A halving of all counters begins the search anew, at worst in its last cycle, and takes two
/// of three cycles like a search.
pub fn update_interval_at_line_rate(plan: &PortPlan) -> u64 {
    let slowed = |reads: u64| match plan.histogram.kind {
        HistogramKind::Circular => 3 * reads,
        _ => (3 * reads).div_ceil(2),
    };
    let search = multiply_cycles(plan) + search_cycles(plan, slowed);
    let interval = 1 + search + 1 + 2 + 1;
    if plan.halves() {
        interval + search + 2 + slowed(halving_cycles(plan))
    } else {
        interval
    }
}

/// Clock cycles by which an update comes later than [`update_latency`] says if its sample is
/// one before which all counters are halved: the search waits until they are. 0 if they never
/// are.
pub fn halving_delay(plan: &PortPlan) -> u64 {
    if plan.halves() {
        // Meanwhile the budget is multiplied.
        halving_cycles(plan).saturating_sub(1 + multiply_cycles(plan))
    } else {
        0
    }
}
