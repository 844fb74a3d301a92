//! Configurations side by side: which of them, and which setting of the ports, saves most for what it
//! costs.

use std::collections::BTreeMap;

use super::table::Row;

/// The mean over seeds, and the least and the greatest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
}

impl Spread {
    /// Of values, unless one is missing or there are none.
    pub fn of(values: impl Iterator<Item = Option<f64>>) -> Option<Self> {
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        let (&first, others) = values.split_first()?;
        Some(Self {
            // One value is its own mean, to the last bit.
            mean: first
                + others.iter().map(|value| value - first).sum::<f64>() / values.len() as f64,
            low: values.iter().copied().fold(first, f64::min),
            high: values.iter().copied().fold(first, f64::max),
        })
    }

    /// Of one value.
    pub fn exactly(value: f64) -> Self {
        Self {
            mean: value,
            low: value,
            high: value,
        }
    }
}

/// A figure of a row, if it has it.
pub type Figure = fn(&Row) -> Option<f64>;

/// Of a run, by how many per cent it took longer.
const TIME: Figure = |row| row.against.time_overhead_percent;
/// How many per cent of the energy of links and switches it saved.
const NETWORK: Figure = |row| row.against.energy_network_saved_percent;

/// A setting of the ports, with whatever varies but the seed: what it costs and gains.
pub struct Trade<'r> {
    /// The runs, which differ in their seeds alone.
    pub rows: Vec<&'r Row>,
    /// What it costs.
    pub cost: Spread,
    /// What it gains.
    pub gain: Spread,
    /// No other setting costs less and gains as much, or costs as much and gains more.
    pub is_best: bool,
}

impl Trade<'_> {
    /// One of the runs.
    pub fn row(&self) -> &Row {
        self.rows[0]
    }

    /// The part of what could have been saved with as many wake-ups (SPEC 13), as a mean.
    pub fn score(&self) -> Option<f64> {
        let scores = self
            .rows
            .iter()
            .map(|row| row.potential.score_at_own_wake_ups);
        Spread::of(scores).map(|spread| spread.mean)
    }
}

/// All settings of runs that are compared with another one, those that cost least first.
pub fn trades<'r>(
    rows: impl IntoIterator<Item = &'r Row>,
    cost: Figure,
    gain: Figure,
) -> Vec<Trade<'r>> {
    let mut groups: BTreeMap<&str, Vec<&'r Row>> = BTreeMap::new();
    let compared = |row: &&Row| row.setting.compared_with.is_some();
    for row in rows.into_iter().filter(compared) {
        let group = groups.entry(row.setting.without_seed());
        group.or_default().push(row);
    }
    let mut trades: Vec<Trade> = Vec::new();
    for rows in groups.into_values() {
        let spread = |figure: Figure| Spread::of(rows.iter().map(|row| figure(row)));
        if let (Some(cost), Some(gain)) = (spread(cost), spread(gain)) {
            let is_best = false;
            trades.push(Trade {
                rows,
                cost,
                gain,
                is_best,
            });
        }
    }
    let place = |trade: &Trade| (trade.cost.mean, trade.gain.mean);
    trades.sort_by(|one, other| {
        let ((x, y), (other_x, other_y)) = (place(one), place(other));
        x.total_cmp(&other_x).then(other_y.total_cmp(&y))
    });
    let mut most = f64::NEG_INFINITY;
    for trade in &mut trades {
        trade.is_best = trade.gain.mean > most;
        most = most.max(trade.gain.mean);
    }
    trades
}

/// How much longer a run may take, in per cent, where the best setting is asked for.
pub const LIMITS: [f64; 3] = [0.1, 1.0, 5.0];

/// The runs of several configurations that are compared with one run without power saving, or with one
/// for each seed.
pub struct Contest<'r> {
    /// The run that they are compared with, or one of them.
    pub base: &'r Row,
    /// The runs, without those that they are compared with.
    pub rows: Vec<&'r Row>,
}

impl Contest<'_> {
    /// What saves most of the energy of links and switches in at most `limit` per cent more time; none
    /// where there are no execution times to compare, or nothing within the limit saves any.
    pub fn best(&self, limit: f64) -> Option<Trade<'_>> {
        let trades = trades(self.rows.iter().copied(), TIME, NETWORK);
        let saves = |it: &Trade| it.cost.mean <= limit && it.gain.mean > 0.0;
        let mut within = trades.into_iter().filter(saves);
        // Of two that save as much, the one that costs less comes first.
        within.rfind(|it| it.is_best)
    }
}

/// The contests of a sweep, in its order: where configurations are based on others.
pub fn contests(rows: &[Row]) -> Vec<Contest<'_>> {
    let bases = rows
        .iter()
        .filter(|row| row.setting.compared_with.is_none());
    let mut place: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found: Vec<Contest> = Vec::new();
    let mut of_name: BTreeMap<&str, usize> = BTreeMap::new();
    for base in bases {
        let at = *place.entry(base.setting.without_seed()).or_insert_with(|| {
            let rows = Vec::new();
            found.push(Contest { base, rows });
            found.len() - 1
        });
        of_name.insert(&base.setting.experiment, at);
    }
    for row in rows {
        let of = row.setting.compared_with.as_deref();
        if let Some(&at) = of.and_then(|name| of_name.get(name)) {
            found[at].rows.push(row);
        }
    }
    let configuration = |row: &Row| row.setting.configuration.clone();
    found.retain(|of| {
        let own = configuration(of.base);
        of.rows.iter().any(|row| configuration(row) != own)
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::plan::Sleep;
    use crate::network::scenario::Variation;
    use crate::sweep::{plausible_row, Experiment, Setting};

    /// A run of a configuration with this seed, compared with `base`: its cost and its gain.
    fn run(configuration: &str, base: &str, seed: u64, setting: Option<(f64, f64)>) -> Row {
        let experiment = match setting {
            None => Experiment::AlwaysOn,
            Some((cost, _)) => Experiment::Fixed {
                state: Sleep::FastWake,
                t_pdt_ns: 1000.0 * cost,
            },
        };
        let of = |name: &str| Variation {
            workload: Some(("w".into(), Vec::new())),
            configuration: Some((name.into(), Vec::new())),
            seed: Some(seed),
            ..Variation::default()
        };
        let mut row = plausible_row(&experiment, 1.0);
        row.setting = Setting::new(&experiment, &of(configuration), &of(base));
        let (cost, gain) = setting.unwrap_or((0.0, 0.0));
        // The mean over the seeds 1 and 2 is what counts.
        let off = if seed == 1 { 0.25 } else { -0.25 };
        row.against.time_overhead_percent = Some(cost + off);
        row.against.energy_network_saved_percent = Some(gain - off);
        row
    }

    #[test]
    fn configurations_are_compared_with_the_one_they_are_based_on() {
        let mut rows = Vec::new();
        for seed in [1, 2] {
            rows.push(run("plain", "plain", seed, None));
            rows.push(run("plain", "plain", seed, Some((1.0, 10.0))));
            rows.push(run("plain", "plain", seed, Some((4.0, 30.0))));
            rows.push(run("other", "plain", seed, None));
            rows.push(run("other", "plain", seed, Some((0.875, 12.0))));
            rows.push(run("alone", "alone", seed, None));
            rows.push(run("alone", "alone", seed, Some((0.5, 40.0))));
        }
        let found = contests(&rows);
        // "alone" stands beside nothing.
        assert_eq!(found.len(), 1);
        let contest = &found[0];
        assert_eq!(contest.base.setting.experiment, "always-on_w_plain_seed-1");
        assert_eq!(contest.rows.len(), 8);
        let best = LIMITS.map(|limit| {
            let best = contest.best(limit)?;
            Some((best.row().setting.without_seed().to_owned(), best.cost.mean))
        });
        let named = |name: &str, cost| Some((name.to_owned(), cost));
        let other = named("fixed-fast-wake-875ns_w_other", 0.875);
        let plain = named("fixed-fast-wake-4000ns_w_plain", 4.0);
        // Links that never sleep cost nothing, and save nothing.
        assert_eq!(best, [None, other, plain]);
        assert!(contest.best(-1.0).is_none());
    }
}
