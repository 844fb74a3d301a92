//! How long histogram, search and correction take until nothing of a sample is under way any more.
//!
//! Who simulates a port without clocking it (`network::event::lazy`) needs an upper bound: after
//! that many clock cycles the state is a function of the samples alone, whenever they came.

use crate::blocks::fixed_point::Arithmetic;
use crate::blocks::perfbound;
use crate::config::plan::PortPlan;

/// Clock cycles by which the search for a sample begins later if the sample comes while another one
/// is recorded: it takes up to two reads from the search under way, a clear delays the next search
/// by two cycles, and starting anew takes as long as starting (2), with the cycle of the strobe and
/// one in which the result is registered.
const SEARCH_OVERLAP: u64 = 2 + 2 + 2 + 2;

/// Clock cycles that a factor takes longer because another one is under way when the sample is
/// recorded: the handover from one to the next, rounded up. A test in this file compares the sum
/// with the longest settling that random activity finds.
const FACTOR_OVERLAP: u64 = 8;

/// Clock cycles that a product takes longer because it waits for the one under way: the same
/// handover, rounded up.
const PRODUCT_OVERLAP: u64 = 8;

/// Clock cycles from the first active cycle after an idle period to the first in which all is
/// settled, at most, if all was when the period ended and no further one ends.
pub fn settling_cycles(plan: &PortPlan) -> u64 {
    let search = perfbound::update_latency(plan);
    if plan.corrects() {
        let numbers = Arithmetic::new(plan);
        // The update of the product, and its strobe.
        search.max(numbers.factor_latency()) + numbers.multiplication_cycles() + 2
    } else {
        // The cycle in which `update` is high.
        search + 1
    }
}

/// The same, whatever was under way when the idle period ended.
pub fn longest_settling_cycles(plan: &PortPlan) -> u64 {
    // The search under way, and that for the sample.
    let search = 2 * perfbound::update_latency(plan) + SEARCH_OVERLAP;
    if plan.corrects() {
        let numbers = Arithmetic::new(plan);
        // A factor under way, and that of the sample.
        let factor = numbers.factor_latency() + numbers.factor_cycles() + FACTOR_OVERLAP;
        // A product under way, and that of the sample.
        search.max(factor) + 2 * numbers.multiplication_cycles() + PRODUCT_OVERLAP
    } else {
        search
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::blocks::perfbound::halving_delay;
    use crate::blocks::port::golden::Port;
    use crate::blocks::port::model::Model;
    use crate::blocks::port::pins::Inputs;
    use crate::blocks::port::tests::small_plan;
    use crate::config::plan::{HistogramKind, Policy};

    /// The most clock cycles after the last sample of a burst in which a threshold changed. Bursts have
    /// fewer than `samples` samples, with gaps of up to `longest` cycles.
    fn observed(plan: &PortPlan, samples: u64, longest: u64) -> u64 {
        let mut random = ChaCha8Rng::seed_from_u64(longest);
        let mut port = Port::new(plan);
        let busy = Inputs {
            queue_nonempty: true,
            transmitting: true,
            ..Inputs::default()
        };
        let idle = Inputs::default();
        let mut clock = |inputs: &Inputs, cycles: u64| {
            for _ in 0..cycles {
                port.advance(inputs, 1);
            }
            let outputs = port.outputs();
            (outputs.t_pb, outputs.t_pdt, outputs.update)
        };
        let mut most = 0;
        let settled = 3 * longest_settling_cycles(plan);
        for _ in 0..200 {
            for _ in 1..random.random_range(1..samples) {
                clock(&idle, random.random_range(1..=longest));
                clock(&busy, random.random_range(1..=longest));
            }
            clock(&idle, random.random_range(1..=longest));
            let mut before = clock(&busy, 0);
            for cycle in 0..settled {
                let now = clock(&busy, 1);
                if now != before {
                    most = most.max(cycle + 1);
                }
                before = now;
            }
        }
        most
    }

    /// A pipeline stage more in one of the blocks, and one of these fails; and a bound is at most
    /// twice what it has to be, or ten cycles more.
    #[test]
    fn a_longer_pipeline_is_not_missed() {
        for policy in [Policy::PerfBound, Policy::PerfBoundCorrect] {
            for kind in HistogramKind::ALL {
                let mut plan = small_plan();
                plan.policy = policy;
                plan.histogram.kind = kind;
                let extra = halving_delay(&plan);
                let bound = longest_settling_cycles(&plan) + extra;
                let mut most = 0;
                // From samples on each other's heels to those of a whole search apart.
                for longest in [2, 5, 20, bound] {
                    most = most.max(observed(&plan, 5, longest));
                }
                assert!(most <= bound, "{policy:?} {kind:?}: {most} > {bound}");
                assert!(
                    bound <= (2 * most).max(most + 10),
                    "{policy:?} {kind:?}: {most}, {bound}"
                );
                let alone = settling_cycles(&plan) + extra;
                let most = observed(&plan, 2, 50);
                assert!(most > 0, "{policy:?} {kind:?}");
                assert!(most <= alone, "{policy:?} {kind:?}: {most} > {alone}");
            }
        }
    }
}
