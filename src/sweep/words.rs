//! Settings in words, for tables and figures.

use super::table::Setting;

/// A time with its unit.
pub fn time_label(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "\u{b5}s"), (0.0, "ns")];
    match units.into_iter().find(|(unit, _)| ns >= *unit && ns > 0.0) {
        Some((unit, name)) => format!("{} {name}", ns / f64::max(unit, 1.0)),
        None => "0".into(),
    }
}

/// A fraction in per cent.
pub fn percent_label(part: f64) -> String {
    // 0.07 * 100 is 7.000000000000001.
    format!("{} %", (part * 1e8).round() / 1e6)
}

impl Setting {
    /// What governs the ports: policy, state, histogram, bound or threshold.
    pub fn in_words(&self) -> String {
        let mut words = vec![self.policy.clone()];
        words.extend(self.state.clone());
        words.extend(self.histogram.clone());
        words.extend(self.bound.map(percent_label));
        words.extend(self.t_pdt_ns.map(time_label));
        words.join(", ")
    }

    /// The values that are not the scenario's own.
    pub fn variation(&self) -> String {
        let seed = self.seed.map(|seed| format!("seed {seed}"));
        words([self.variation_without_seed()].into_iter().chain(seed))
    }

    /// The values that are not the scenario's own, but for the seed.
    pub fn variation_without_seed(&self) -> String {
        let load = self.load.map(|load| format!("load {load}"));
        let mapping = self.mapping.as_ref();
        let mapping = mapping.map(|mapping| format!("{mapping} mapping"));
        words(
            [self.keys_in_words()]
                .into_iter()
                .chain(load)
                .chain(mapping),
        )
    }

    /// The values that are not the scenario's own, but for load and seed ([`Setting::scene`]).
    pub fn scene_in_words(&self) -> String {
        let mapping = self.mapping.as_ref();
        let mapping = mapping.map(|mapping| format!("{mapping} mapping"));
        words([self.keys_in_words()].into_iter().chain(mapping))
    }

    /// Workload, configuration, and the other keys by their paths.
    fn keys_in_words(&self) -> String {
        let named = self.workload.iter().chain(&self.configuration).cloned();
        let keys = self.varied_keys().into_iter();
        words(named.chain(keys.map(|(path, value)| format!("{path} = {value}"))))
    }
}

/// What is not empty, in a row.
fn words(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.filter(|it| !it.is_empty()).collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        let labels = [0.0, 6.4, 100.0, 1e3, 2.5e4, 1e6, 1e9].map(time_label);
        let expected = ["0", "6.4 ns", "100 ns", "1 µs", "25 µs", "1 ms", "1 s"];
        assert_eq!(labels, expected);
        assert_eq!(percent_label(0.07), "7 %");
        assert_eq!(percent_label(0.005), "0.5 %");
    }
}
