//! What the figures of a report show, and the tables with their values.

use crate::config::plan::{HistogramKind, Sleep};
use crate::network::fabric::idle::{IdleBin, IdleTable};
use crate::sweep::{Against, Row};

/// A figure: a plot, its values, and where the like of it stands in p000.
pub struct Figure {
    /// The name of its PNG file and of its place in the page.
    pub id: &'static str,
    pub title: &'static str,
    /// The paper's figure, or that there is none.
    pub source: &'static str,
    /// None without values.
    pub plot: Option<Plot>,
    pub table: Table,
}

/// A table; all columns but the first `names` hold numbers.
pub struct Table {
    pub names: usize,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// Panels side by side, and what their colours and shapes mean.
pub struct Plot {
    pub legend: Vec<(Mark, String)>,
    pub panels: Vec<Panel>,
}

pub enum Panel {
    Lines(Lines),
    Counts(Counts),
    Bars(Bars),
    Trades(Trades),
}

/// A tick of an axis.
#[derive(Clone)]
pub struct Tick {
    pub at: f64,
    pub label: String,
}

/// Values over thresholds; `x` is the place on the axis that has the `ticks`.
pub struct Lines {
    pub ticks: Vec<Tick>,
    pub x_label: String,
    pub y_label: String,
    pub series: Vec<Vec<(f64, f64)>>,
}

/// A bar from one place of the axis to another: where from, where to, how high.
pub struct Counts {
    pub ticks: Vec<Tick>,
    pub x_label: String,
    pub y_label: String,
    pub bars: Vec<(f64, f64, f64)>,
}

/// Groups of bars, each with a bar for every one of `series`.
pub struct Bars {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    pub series: Vec<Mark>,
    pub groups: Vec<(String, Vec<Option<f64>>)>,
}

/// What the correction gains in one figure and loses in another.
pub struct Trades {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    pub pairs: Vec<Pair>,
}

/// A setting with PerfBound and with PerfBoundCorrect.
pub struct Pair {
    pub mark: Mark,
    pub plain: (f64, f64),
    pub corrected: (f64, f64),
}

#[derive(Clone, Copy, PartialEq)]
pub enum Shape {
    Swatch,
    Circle,
    Triangle,
    Square,
}

impl Shape {
    /// The shape of a series by its number.
    pub fn of(number: usize) -> Self {
        [Shape::Circle, Shape::Triangle, Shape::Square][number % 3]
    }
}

/// How a value is drawn.
#[derive(Clone, Copy)]
pub struct Mark {
    /// The number of a colour; none is that of text.
    pub colour: Option<usize>,
    pub shape: Shape,
    /// A pale swatch, or the outline of a shape.
    pub pale: bool,
}

impl Mark {
    pub fn series(number: usize, shape: Shape) -> Self {
        Mark {
            colour: Some(number),
            shape,
            pale: false,
        }
    }
}

/// A figure of merit, in percent against the run without power saving.
#[derive(Clone, Copy)]
struct Merit {
    label: &'static str,
    of: fn(&Against) -> Option<f64>,
}

const TIME: Merit = Merit {
    label: "execution time overhead, %",
    of: |against| against.time_overhead_percent,
};
const LATENCY: Merit = Merit {
    label: "mean packet latency overhead, %",
    of: |against| against.latency_mean_overhead_percent,
};
const LINKS: Merit = Merit {
    label: "energy of links saved, %",
    of: |against| against.energy_links_saved_percent,
};
const SYSTEM: Merit = Merit {
    label: "energy of the system saved, %",
    of: |against| against.energy_total_saved_percent,
};

const THRESHOLD: &str = "threshold t_PDT (logarithmic; 0 at the left end)";
const BOUND: &str = "bound: admitted degradation";

/// Every figure, in the order of the page.
pub fn figures(rows: &[Row], idle: &IdleTable) -> Vec<Figure> {
    let fixed = |id, title, source, merit| Figure {
        id,
        title,
        source,
        plot: fixed_plot(rows, merit),
        table: fixed_table(rows, merit),
    };
    let predicted = |id, title, source, merit| Figure {
        id,
        title,
        source,
        plot: predicted_plot(rows, merit),
        table: predicted_table(rows, merit),
    };
    vec![
        idle_periods(idle),
        fixed(
            "fixed-time",
            "Execution time with fixed thresholds",
            "Compare p000 Figures 7a, 13a and 16a",
            TIME,
        ),
        fixed(
            "fixed-system",
            "Energy of the system saved with fixed thresholds",
            "Compare p000 Figures 7b, 10b, 13c and 16c",
            SYSTEM,
        ),
        fixed(
            "fixed-links",
            "Energy of the links saved with fixed thresholds",
            "Not in the papers",
            LINKS,
        ),
        fixed(
            "fixed-latency",
            "Packet latency with fixed thresholds",
            "Compare p000 Figures 7c, 10a, 13b and 16b",
            LATENCY,
        ),
        predicted(
            "predicted-time",
            "Execution time with PerfBound and PerfBoundCorrect",
            "Compare p000 Figures 8a, 14a and 17a",
            TIME,
        ),
        predicted(
            "predicted-system",
            "Energy of the system saved with PerfBound and PerfBoundCorrect",
            "Compare p000 Figures 8b, 11b, 14b and 17b",
            SYSTEM,
        ),
        predicted(
            "predicted-links",
            "Energy of the links saved with PerfBound and PerfBoundCorrect",
            "Not in the papers",
            LINKS,
        ),
        predicted(
            "predicted-latency",
            "Packet latency with PerfBound and PerfBoundCorrect",
            "Compare p000 Figures 8c, 11a, 14c and 17c",
            LATENCY,
        ),
        correction(rows),
    ]
}

/// How long ports are idle when links never sleep (p000 Figure 1): how many periods of each
/// length there are, and which part of the periods and of their time is no longer.
fn idle_periods(idle: &IdleTable) -> Figure {
    let percent = |part: f64, all: f64| 100.0 * part / if all > 0.0 { all } else { 1.0 };
    let (mut periods, mut time) = (0.0, 0.0);
    let shares: Vec<[f64; 4]> = idle
        .bins
        .iter()
        .map(|bin| {
            periods += bin.periods as f64;
            time += bin.idle_ns;
            [
                percent(bin.periods as f64, idle.periods as f64),
                percent(periods, idle.periods as f64),
                percent(bin.idle_ns, idle.idle_ns),
                percent(time, idle.idle_ns),
            ]
        })
        .collect();
    let row = |(bin, shares): (&IdleBin, &[f64; 4])| {
        let mut cells = vec![
            format!("{} to {}", time_label(bin.from_ns), time_label(bin.to_ns)),
            bin.periods.to_string(),
        ];
        cells.extend(shares.map(|share| number_cell(Some(share))));
        cells
    };
    let header = [
        "length",
        "periods",
        "periods, %",
        "summed, %",
        "idle time, %",
        "summed, %",
    ];
    Figure {
        id: "idle-periods",
        title: "Idle periods of ports whose links never sleep",
        source: "Compare p000 Figure 1, which has one port and bins of the same width; here all \
                 ports. Not counted: before the first and after the last activity of a port",
        plot: (idle.periods > 0).then(|| idle_plot(idle, &shares)),
        table: Table {
            names: 1,
            header: header.map(str::to_owned).into(),
            rows: idle.bins.iter().zip(&shares).map(row).collect(),
        },
    }
}

fn idle_plot(idle: &IdleTable, shares: &[[f64; 4]]) -> Plot {
    // What is shorter than 1 ns has no place on the axis but the decade before.
    let place = |ns: f64| if ns > 0.0 { ns.log10() } else { -1.0 };
    let from = idle.bins.first().map_or(0.0, |bin| place(bin.from_ns));
    let to = idle.bins.last().map_or(1.0, |bin| place(bin.to_ns));
    let (first, last) = (from.floor() as i32, to.ceil() as i32);
    let ticks: Vec<Tick> = (first..=last)
        .map(|power| Tick {
            at: f64::from(power),
            label: match power {
                ..0 => "0".into(),
                // Labels need some 50 units of a panel 380 wide.
                _ if last - first > 7 && power % 3 != 0 => String::new(),
                _ => time_label(10_f64.powi(power)),
            },
        })
        .collect();
    let bar = |bin: &IdleBin| (place(bin.from_ns), place(bin.to_ns), bin.periods as f64);
    let cumulative = |share: usize| {
        let ends = idle.bins.iter().zip(shares);
        let points = ends.map(|(bin, shares)| (place(bin.to_ns), shares[share]));
        std::iter::once((from, 0.0)).chain(points).collect()
    };
    Plot {
        legend: vec![
            (Mark::series(0, Shape::of(0)), "periods".into()),
            (Mark::series(1, Shape::of(1)), "their time".into()),
        ],
        panels: vec![
            Panel::Counts(Counts {
                ticks: ticks.clone(),
                x_label: "length of an idle period".into(),
                y_label: "idle periods".into(),
                bars: idle.bins.iter().map(bar).collect(),
            }),
            Panel::Lines(Lines {
                ticks,
                x_label: "length".into(),
                y_label: "shorter than a length, %".into(),
                series: vec![cumulative(1), cumulative(3)],
            }),
        ],
    }
}

/// The names that occur, in their usual order.
fn occurring<'n>(
    rows: &[Row],
    names: impl Iterator<Item = &'n str>,
    of: fn(&Row) -> Option<&str>,
) -> Vec<&'n str> {
    names
        .filter(|name| rows.iter().any(|row| of(row) == Some(name)))
        .collect()
}

fn states(rows: &[Row], policy: fn(&Row) -> bool) -> Vec<&'static str> {
    let rows: Vec<Row> = rows.iter().filter(|row| policy(row)).cloned().collect();
    occurring(&rows, Sleep::ALL.iter().map(|state| state.name()), |row| {
        row.setting.state.as_deref()
    })
}

fn histograms(rows: &[Row]) -> Vec<&'static str> {
    occurring(
        rows,
        HistogramKind::ALL.iter().map(|kind| kind.name()),
        |row| row.setting.histogram.as_deref(),
    )
}

/// The numbers that occur, rising.
fn numbers(rows: &[Row], of: fn(&Row) -> Option<f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = rows.iter().filter_map(of).collect();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    numbers
}

fn thresholds(rows: &[Row]) -> Vec<f64> {
    numbers(rows, |row| row.setting.t_pdt_ns)
}

fn bounds(rows: &[Row]) -> Vec<f64> {
    numbers(rows, |row| row.setting.bound)
}

fn is_fixed(row: &Row) -> bool {
    row.setting.t_pdt_ns.is_some()
}

fn is_predicted(row: &Row) -> bool {
    row.setting.bound.is_some()
}

fn fixed_value(rows: &[Row], state: &str, t_pdt_ns: f64, merit: Merit) -> Option<f64> {
    let row = rows.iter().find(|row| {
        row.setting.state.as_deref() == Some(state) && row.setting.t_pdt_ns == Some(t_pdt_ns)
    })?;
    (merit.of)(&row.against)
}

fn predicted_row<'r>(
    rows: &'r [Row],
    correction: bool,
    (state, histogram, bound): (&str, &str, f64),
) -> Option<&'r Row> {
    rows.iter().find(|row| {
        let setting = &row.setting;
        setting.correction == correction
            && setting.state.as_deref() == Some(state)
            && setting.histogram.as_deref() == Some(histogram)
            && setting.bound == Some(bound)
    })
}

/// A threshold with its unit.
pub fn time_label(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "\u{b5}s"), (0.0, "ns")];
    match units.into_iter().find(|(unit, _)| ns >= *unit && ns > 0.0) {
        Some((unit, name)) => format!("{} {name}", ns / f64::max(unit, 1.0)),
        None => "0".into(),
    }
}

pub fn percent_label(part: f64) -> String {
    // 0.07 * 100 is 7.000000000000001.
    format!("{} %", (part * 1e8).round() / 1e6)
}

fn fixed_plot(rows: &[Row], merit: Merit) -> Option<Plot> {
    let (states, thresholds) = (states(rows, is_fixed), thresholds(rows));
    // 0 has no logarithm: it stands a decade before the shortest.
    let lowest = thresholds.iter().copied().find(|&ns| ns > 0.0);
    let first = lowest.unwrap_or(1.0).log10().floor();
    let last = thresholds.last().copied().unwrap_or(1.0).max(1.0);
    let last = last.log10().ceil().max(first);
    let place = |ns: f64| match ns > 0.0 {
        true => ns.log10(),
        false => first - 1.0,
    };
    let mut ticks: Vec<Tick> = (first as i32..=last as i32)
        .map(|power| Tick {
            at: f64::from(power),
            label: time_label(10_f64.powi(power)),
        })
        .collect();
    if thresholds.first() == Some(&0.0) {
        ticks.insert(
            0,
            Tick {
                at: first - 1.0,
                label: "0".into(),
            },
        );
    }
    let points = |state: &&str| -> Vec<(f64, f64)> {
        let value = |&ns: &f64| Some((place(ns), fixed_value(rows, state, ns, merit)?));
        thresholds.iter().filter_map(value).collect()
    };
    let series: Vec<Vec<(f64, f64)>> = states.iter().map(points).collect();
    if series.iter().all(Vec::is_empty) {
        return None;
    }
    let legend = states.iter().enumerate().map(|(number, state)| {
        let mark = Mark::series(number, Shape::of(number));
        (mark, (*state).to_owned())
    });
    Some(Plot {
        legend: legend.collect(),
        panels: vec![Panel::Lines(Lines {
            ticks,
            x_label: THRESHOLD.into(),
            y_label: merit.label.into(),
            series,
        })],
    })
}

fn number_cell(value: Option<f64>) -> String {
    value.map_or("\u{2013}".into(), |value| {
        // Not -0.000.
        let rounded = (value * 1e3).round() / 1e3 + 0.0;
        format!("{rounded:.3}").replace('-', "\u{2212}")
    })
}

fn fixed_table(rows: &[Row], merit: Merit) -> Table {
    let states = states(rows, is_fixed);
    let row = |&ns: &f64| {
        let values = states
            .iter()
            .map(|state| fixed_value(rows, state, ns, merit));
        let cells = values.map(number_cell);
        std::iter::once(time_label(ns)).chain(cells).collect()
    };
    let header = states.iter().map(|state| format!("{state}, %"));
    Table {
        names: 1,
        header: std::iter::once("t_PDT".into()).chain(header).collect(),
        rows: thresholds(rows).iter().map(row).collect(),
    }
}

const PREDICTIONS: [(bool, &str); 2] = [(false, "perfbound"), (true, "perfbound-correct")];

fn predicted_plot(rows: &[Row], merit: Merit) -> Option<Plot> {
    let (histograms, bounds) = (histograms(rows), bounds(rows));
    let occurs = |correction| {
        let with = |row: &Row| is_predicted(row) && row.setting.correction == correction;
        rows.iter().any(with)
    };
    let policies = PREDICTIONS
        .iter()
        .filter(|(correction, _)| occurs(*correction));
    let policies: Vec<&(bool, &str)> = policies.collect();
    let mut series = Vec::new();
    let mut legend = Vec::new();
    for (number, histogram) in histograms.iter().enumerate() {
        let mark = Mark::series(number, Shape::Swatch);
        legend.push((mark, (*histogram).to_owned()));
        for (correction, _) in &policies {
            let pale = !correction;
            series.push((Mark { pale, ..mark }, *histogram, *correction));
        }
    }
    for (correction, policy) in &policies {
        let mark = Mark {
            colour: None,
            shape: Shape::Swatch,
            pale: !correction,
        };
        legend.push((mark, (*policy).to_owned()));
    }
    let panel = |state: &&str| {
        let group = |&bound: &f64| {
            let value = |&(_, histogram, correction): &(Mark, &str, bool)| {
                let row = predicted_row(rows, correction, (state, histogram, bound))?;
                (merit.of)(&row.against)
            };
            (percent_label(bound), series.iter().map(value).collect())
        };
        Bars {
            title: (*state).into(),
            x_label: BOUND.into(),
            y_label: merit.label.into(),
            series: series.iter().map(|(mark, ..)| *mark).collect(),
            groups: bounds.iter().map(group).collect(),
        }
    };
    let panels: Vec<Bars> = states(rows, is_predicted).iter().map(panel).collect();
    let mut values = panels.iter().flat_map(|panel| &panel.groups);
    values
        .any(|(_, values)| values.iter().any(Option::is_some))
        .then(|| Plot {
            legend,
            panels: panels.into_iter().map(Panel::Bars).collect(),
        })
}

/// Every setting of the predicting policies.
fn settings(rows: &[Row]) -> Vec<(&'static str, &'static str, f64)> {
    let (histograms, bounds) = (histograms(rows), bounds(rows));
    let mut settings = Vec::new();
    for state in states(rows, is_predicted) {
        for &bound in &bounds {
            settings.extend(
                histograms
                    .iter()
                    .map(|histogram| (state, *histogram, bound)),
            );
        }
    }
    settings
}

fn predicted_table(rows: &[Row], merit: Merit) -> Table {
    let row = |&setting: &(&str, &str, f64)| {
        let [plain, corrected] = PREDICTIONS.map(|(correction, _)| {
            predicted_row(rows, correction, setting).and_then(|row| (merit.of)(&row.against))
        });
        let difference = plain
            .zip(corrected)
            .map(|(plain, corrected)| corrected - plain);
        vec![
            setting.0.into(),
            percent_label(setting.2),
            setting.1.into(),
            number_cell(plain),
            number_cell(corrected),
            number_cell(difference),
        ]
    };
    Table {
        names: 3,
        header: [
            "state",
            "bound",
            "histogram",
            "perfbound, %",
            "perfbound-correct, %",
            "difference, points",
        ]
        .map(str::to_owned)
        .into(),
        rows: settings(rows).iter().map(row).collect(),
    }
}

/// What the correction costs and brings: from PerfBound to PerfBoundCorrect.
fn correction(rows: &[Row]) -> Figure {
    // A run that was cut has no execution time.
    let timed = rows.iter().any(|row| (TIME.of)(&row.against).is_some());
    let cost = if timed { TIME } else { LATENCY };
    let (histograms, bounds) = (histograms(rows), bounds(rows));
    let place = |setting: (&str, &str, f64), correction| {
        let row = predicted_row(rows, correction, setting)?;
        (cost.of)(&row.against).zip((LINKS.of)(&row.against))
    };
    let panel = |state: &&str| {
        let settings = settings(rows);
        let settings = settings.iter().filter(|setting| setting.0 == *state);
        let pairs = settings.filter_map(|&setting| {
            let mark = Mark::series(
                histograms.iter().position(|name| *name == setting.1)?,
                Shape::of(bounds.iter().position(|bound| *bound == setting.2)?),
            );
            Some(Pair {
                mark,
                plain: place(setting, false)?,
                corrected: place(setting, true)?,
            })
        });
        Trades {
            title: (*state).into(),
            x_label: cost.label.into(),
            y_label: LINKS.label.into(),
            pairs: pairs.collect(),
        }
    };
    let panels: Vec<Trades> = states(rows, is_predicted).iter().map(panel).collect();
    let mut legend: Vec<(Mark, String)> = Vec::new();
    for (number, name) in histograms.iter().enumerate() {
        legend.push((Mark::series(number, Shape::Swatch), (*name).to_owned()));
    }
    for (number, bound) in bounds.iter().enumerate() {
        let mark = Mark {
            colour: None,
            shape: Shape::of(number),
            pale: false,
        };
        legend.push((mark, percent_label(*bound)));
    }
    for (correction, policy) in PREDICTIONS {
        let mark = Mark {
            colour: None,
            shape: Shape::Circle,
            pale: !correction,
        };
        legend.push((mark, policy.into()));
    }
    let mut header: Vec<String> = ["state", "bound", "histogram"].map(str::to_owned).into();
    for merit in [cost, LINKS] {
        for (_, policy) in PREDICTIONS {
            header.push(format!("{}: {policy}", merit.label));
        }
    }
    let row = |&setting: &(&str, &str, f64)| {
        let mut cells = vec![setting.0.into(), percent_label(setting.2), setting.1.into()];
        for merit in [cost, LINKS] {
            for (correction, _) in PREDICTIONS {
                let row = predicted_row(rows, correction, setting);
                cells.push(number_cell(row.and_then(|row| (merit.of)(&row.against))));
            }
        }
        cells
    };
    Figure {
        id: "correction",
        title: "PerfBound against PerfBoundCorrect",
        source: "Cost and gain together; p000 4.4.2 compares the two in Figure 8",
        plot: panels
            .iter()
            .any(|panel| !panel.pairs.is_empty())
            .then(|| Plot {
                legend,
                panels: panels.into_iter().map(Panel::Trades).collect(),
            }),
        table: Table {
            names: 3,
            header,
            rows: settings(rows).iter().map(row).collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        let labels = [0.0, 6.4, 100.0, 1e3, 2.5e4, 1e6, 1e9].map(time_label);
        let expected = ["0", "6.4 ns", "100 ns", "1 µs", "25 µs", "1 ms", "1 s"];
        assert_eq!(labels, expected);
        assert_eq!(number_cell(Some(-0.0004)), "0.000");
        assert_eq!(number_cell(Some(-0.0006)), "\u{2212}0.001");
        assert_eq!(percent_label(0.07), "7 %");
        assert_eq!(percent_label(0.005), "0.5 %");
    }
}
