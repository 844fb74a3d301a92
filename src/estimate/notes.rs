//! What the settings of a histogram bring with them that is easily overlooked.

use crate::config::plan::{HistogramKind, HistogramPlan, PortPlan, GENERATIONS};
use crate::config::{ns, Config};

/// The notes on a controller that predicts: first what every command says of it.
pub(super) fn of(config: &Config, plan: &PortPlan) -> Vec<String> {
    let here = [saturation(plan), reach(config, plan)];
    let mut notes = config.notes();
    notes.extend(here.into_iter().flatten());
    notes
}

/// Counters that stop before the histogram forgets.
fn saturation(plan: &PortPlan) -> Option<String> {
    let histogram = &plan.histogram;
    let bits = histogram.counter_bits;
    let largest = u32::MAX >> (32 - bits);
    // The counters of a regular histogram are halved instead.
    if histogram.kind == HistogramKind::Regular || largest >= histogram.max_samples {
        return None;
    }
    let most = histogram.max_samples;
    // The oldest generation of a decaying histogram weighs an eighth.
    let fraction = match histogram.kind {
        HistogramKind::Decaying => GENERATIONS - 1,
        _ => 0,
    };
    let effect = if bits > plan.budget.width + fraction {
        "More than that no budget has, so that no threshold changes.".into()
    } else {
        let needed = 32 - most.leading_zeros();
        format!(
            "Budgets can be larger (their width is {} bits): the threshold can then come out \
             shorter than PerfBound's, and cost more than perfbound.bound admits; {} bits are \
             enough.",
            plan.budget.width,
            needed.min(plan.budget.width + fraction + 1)
        )
    };
    Some(format!(
        "histogram.counter_bits = {bits}: a bin counts {largest} of up to histogram.max_samples = \
         {most} samples. {effect}"
    ))
}

/// Bins that end before the longest time that is recorded.
fn reach(config: &Config, plan: &PortPlan) -> Option<String> {
    let histogram = &plan.histogram;
    let last = u64::from(histogram.bins) - 1;
    let end = first_tick(histogram, last + 1);
    if u128::from(histogram.max_value) <= end {
        return None;
    }
    let time = |ticks: u128| ns(ticks * u128::from(config.clock.tick_ps));
    Some(format!(
        "histogram.max_value_ns = {}: the bins reach {} ns. The highest one, from {} ns, takes all \
         longer idle times, too; a threshold above it is max_value_ns. More or wider bins \
         (histogram.bins, histogram.bin_ns) tell them apart.",
        ns(config.histogram.max_value_ps),
        time(end),
        time(first_tick(histogram, last)),
    ))
}

/// Where a bin begins, in ticks (`docs/how/histograms.md`).
fn first_tick(histogram: &HistogramPlan, bin: u64) -> u128 {
    let units = histogram.scale.first_unit(bin);
    units.saturating_mul(1 << histogram.bin_shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The notes that only the estimate has.
    fn notes(text: &str) -> Vec<String> {
        let config = Config::parse(text, "a").unwrap();
        let mut notes = of(&config, &config.plan().unwrap());
        notes.split_off(config.notes().len())
    }

    #[test]
    fn usual_settings_have_none() {
        for kind in ["clearing", "circular", "map", "decaying"] {
            let of = |settings: &str| notes(&format!("[histogram]\nkind = \"{kind}\"\n{settings}"));
            assert_eq!(of(""), [""; 0]);
            assert_eq!(of("bin_scale = \"log\""), [""; 0]);
        }
        for preset in crate::config::PRESETS {
            assert_eq!(notes(preset.text), [""; 0], "{}", preset.name);
        }
    }

    /// N is at most 449 by default, 9 bits: counters of 9 bits can be too narrow by one, those of
    /// 10 bits cannot.
    #[test]
    fn counters_that_stop_before_the_histogram_forgets() {
        let of = |kind: &str, samples: u32, bits: u32| {
            notes(&format!(
                "[histogram]\nkind = \"{kind}\"\nmax_samples = {samples}\ncounter_bits = {bits}\n"
            ))
        };
        assert_eq!(of("clearing", 255, 8), [""; 0]);
        let narrow = of("clearing", 256, 8);
        assert!(
            narrow[0].starts_with("histogram.counter_bits = 8: a bin counts 255 of up to")
                && narrow[0].contains("max_samples = 256")
                && narrow[0].ends_with("9 bits are enough."),
            "{narrow:?}"
        );
        let narrow = of("map", 20_000, 9);
        assert!(narrow[0].ends_with("10 bits are enough."), "{narrow:?}");
        let harmless = of("clearing", 20_000, 10);
        assert!(
            harmless[0].ends_with("no threshold changes."),
            "{harmless:?}"
        );
        assert_eq!(of("regular", 1, 8), [""; 0]);
        // Its samples weigh eighths.
        let harmless = |bits| of("decaying", 200_000, bits)[0].ends_with("no threshold changes.");
        assert!(!harmless(12));
        assert!(harmless(14));
    }

    #[test]
    fn bins_that_end_before_the_longest_time() {
        let of = |scale: &str, max_value: u64| {
            notes(&format!(
                "[clock]\ntick_ns = 2\n[histogram]\nbin_scale = \"{scale}\"\nbins = 8\nbin_ns = 4\n\
                 max_value_ns = {max_value}\n"
            ))
        };
        assert_eq!(of("linear", 32), [""; 0]);
        let short = of("linear", 34);
        assert!(
            short[0].starts_with("histogram.max_value_ns = 34: the bins reach 32 ns.")
                && short[0].contains("from 28 ns"),
            "{short:?}"
        );
        // M = 0: bins 0, 1, 2-3, 4-7, ..., 64-127 units of 4 ns.
        assert_eq!(of("log", 512), [""; 0]);
        let short = of("log", 514);
        assert!(
            short[0].contains("reach 512 ns") && short[0].contains("from 256 ns"),
            "{short:?}"
        );
    }
}
