//! What the figures of a report show, and the tables with their values.

use std::collections::BTreeSet;

use crate::config::plan::{HistogramKind, Sleep};
use crate::network::event::idle::{IdleBin, IdleTable};
use crate::sweep::{contests, percent_label, time_label, trades, Contest, Row, Spread, Trade};

/// A figure: a plot, its values, and where the like of it stands in the PerfBound paper.
pub struct Figure {
    /// The name of its PNG file and of its place in the page.
    pub id: String,
    pub title: String,
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
    Front(Front),
}

/// A tick of an axis.
#[derive(Clone)]
pub struct Tick {
    pub at: f64,
    pub label: String,
}

/// Values over thresholds or loads; `x` is the place on the axis that has the `ticks`.
pub struct Lines {
    pub title: String,
    pub ticks: Vec<Tick>,
    pub x_label: String,
    pub y_label: String,
    pub series: Vec<(Mark, Vec<(f64, Spread)>)>,
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
    pub groups: Vec<(String, Vec<Option<Spread>>)>,
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

/// What settings cost and gain, and those of them, rising, that no other one beats in both: the
/// Pareto front.
pub struct Front {
    pub x_label: String,
    pub y_label: String,
    pub points: Vec<(Mark, (f64, f64))>,
    pub front: Vec<(f64, f64)>,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Marker {
    Swatch,
    /// A line of so many points that they have no marks.
    Line,
    Circle,
    Triangle,
    Square,
    Diamond,
    TriangleDown,
}

impl Marker {
    /// The shapes of series, in their order.
    const OF_SERIES: [Marker; 5] = [
        Marker::Circle,
        Marker::Triangle,
        Marker::Square,
        Marker::Diamond,
        Marker::TriangleDown,
    ];

    /// The shape of a series by its number; after the fifth they begin again.
    pub fn of(number: usize) -> Self {
        Marker::OF_SERIES[number % Marker::OF_SERIES.len()]
    }
}

/// How a value is drawn.
#[derive(Clone, Copy)]
pub struct Mark {
    /// The number of a colour; none is that of text.
    pub colour: Option<usize>,
    pub shape: Marker,
    /// A pale swatch, or the outline of a shape.
    pub pale: bool,
}

impl Mark {
    pub fn series(number: usize, shape: Marker) -> Self {
        Mark {
            colour: Some(number),
            shape,
            pale: false,
        }
    }
}

/// A figure of merit; in percent against the run without power saving, but for the latency
/// itself.
#[derive(Clone, Copy)]
struct Merit {
    label: &'static str,
    /// Of a number in a table.
    decimals: usize,
    of: fn(&Row) -> Option<f64>,
}

impl Merit {
    fn cell(self, value: Option<Spread>) -> String {
        cell(value, self.decimals)
    }

    /// Over the rows, which differ in their seeds only.
    fn spread<'r>(self, rows: impl Iterator<Item = &'r Row>) -> Option<Spread> {
        Spread::of(rows.map(self.of))
    }
}

const TIME: Merit = Merit {
    label: "execution time overhead, %",
    decimals: 3,
    of: |row| row.against.time_overhead_percent,
};
const LATENCY: Merit = Merit {
    label: "mean packet latency overhead, %",
    decimals: 3,
    of: |row| row.against.latency_mean_overhead_percent,
};
const LATENCY_NS: Merit = Merit {
    label: "mean packet latency, ns",
    decimals: 1,
    of: |row| row.measured.latency_mean_ns,
};
const LINKS: Merit = Merit {
    label: "energy of links saved, %",
    decimals: 3,
    of: |row| row.against.energy_links_saved_percent,
};
const NETWORK: Merit = Merit {
    label: "energy of the network saved, %",
    decimals: 3,
    of: |row| row.against.energy_network_saved_percent,
};
const SYSTEM: Merit = Merit {
    label: "energy of the system saved, %",
    decimals: 3,
    of: |row| row.against.energy_total_saved_percent,
};

const THRESHOLD: &str = "threshold t_PDT (logarithmic; 0 at the left end)";
const BOUND: &str = "bound: admitted degradation";

/// Every figure, in the order of the page. Where several loads were run, values stand over the
/// load, and else over thresholds and bounds; for whatever else varies of the scenario apart. Seeds
/// are summed up. Configurations that are compared with each other have one figure together.
pub fn figures(rows: &[Row], idle: &IdleTable) -> Vec<Figure> {
    let mut figures = vec![idle_periods(idle, rows)];
    let contests = contests(rows);
    figures.extend(contests.iter().map(contest));
    let of_contests: Vec<_> = contests
        .iter()
        .flat_map(|of| of.rows.iter().map(|row| row.setting.scene()))
        .collect();
    let rows: Vec<Row> = rows
        .iter()
        .filter(|row| !of_contests.contains(&row.setting.scene()))
        .cloned()
        .collect();
    let rows = &rows;
    if scenes(rows).len() > 1 {
        figures.push(trade(
            rows,
            "all-trade",
            "Cost and gain of all runs together",
            true,
        ));
    }
    for scene in scenes(rows) {
        let of_scene = |row: &&Row| row.setting.scene() == scene;
        let rows: Vec<Row> = rows.iter().filter(of_scene).cloned().collect();
        let of = match loads(&rows).len() > 1 {
            true => over_loads(&rows),
            false => of_matrix(&rows),
        };
        let prefix = rows.first().map(|row| row.setting.scene_in_name());
        let prefix = prefix.unwrap_or_default();
        figures.extend(of.into_iter().map(|figure| match rows.first() {
            Some(row) if !prefix.is_empty() => Figure {
                // As experiments are named, no two of which are alike.
                id: format!("{}_{}", prefix.join("_"), figure.id),
                title: format!("{}: {}", figure.title, row.setting.scene_in_words()),
                ..figure
            },
            _ => figure,
        }));
    }
    figures
}

/// All settings of configurations that are compared with each other.
fn contest(of: &Contest) -> Figure {
    // What routes alone do to links that never sleep stands in the table of all experiments.
    let sleeping = of
        .rows
        .iter()
        .filter(|row| row.setting.policy != "always-on");
    let rows: Vec<Row> = sleeping.map(|&row| row.clone()).collect();
    let base = of.base.setting.without_seed();
    let name = base.strip_prefix("always-on_").unwrap_or(base);
    let title = format!(
        "Cost and gain of every setting: {}",
        of.base.setting.scene_in_words()
    );
    trade(&rows, &format!("{name}-contest"), &title, true)
}

/// The figures of the PerfBound paper's matrix.
fn of_matrix(rows: &[Row]) -> Vec<Figure> {
    let fixed = |id: &str, title: &str, source, merit| Figure {
        id: id.into(),
        title: title.into(),
        source,
        plot: fixed_plot(rows, merit),
        table: fixed_table(rows, merit),
    };
    let predicted = |id: &str, title: &str, source, merit| Figure {
        id: id.into(),
        title: title.into(),
        source,
        plot: predicted_plot(rows, merit),
        table: predicted_table(rows, merit),
    };
    vec![
        trade(rows, "trade", "Cost and gain of every setting", false),
        fixed(
            "fixed-time",
            "Execution time with fixed thresholds",
            "Compare PerfBound Figures 7a, 13a and 16a",
            TIME,
        ),
        fixed(
            "fixed-system",
            "Energy of the system saved with fixed thresholds",
            "Compare PerfBound Figures 7b, 10b, 13c and 16c",
            SYSTEM,
        ),
        fixed(
            "fixed-links",
            "Energy of the links saved with fixed thresholds",
            "Not in the papers",
            LINKS,
        ),
        fixed(
            "fixed-network",
            "Energy of links and switches saved with fixed thresholds",
            "The network of the PerfBound paper's abstract, which has no such figure",
            NETWORK,
        ),
        fixed(
            "fixed-latency",
            "Packet latency with fixed thresholds",
            "Compare PerfBound Figures 7c, 10a, 13b and 16b",
            LATENCY,
        ),
        predicted(
            "predicted-time",
            "Execution time with PerfBound and PerfBoundCorrect",
            "Compare PerfBound Figures 8a, 14a and 17a",
            TIME,
        ),
        predicted(
            "predicted-system",
            "Energy of the system saved with PerfBound and PerfBoundCorrect",
            "Compare PerfBound Figures 8b, 11b, 14b and 17b",
            SYSTEM,
        ),
        predicted(
            "predicted-links",
            "Energy of the links saved with PerfBound and PerfBoundCorrect",
            "Not in the papers",
            LINKS,
        ),
        predicted(
            "predicted-network",
            "Energy of links and switches saved with PerfBound and PerfBoundCorrect",
            "The network of the PerfBound paper's abstract, which has no such figure",
            NETWORK,
        ),
        predicted(
            "predicted-latency",
            "Packet latency with PerfBound and PerfBoundCorrect",
            "Compare PerfBound Figures 8c, 11a, 14c and 17c",
            LATENCY,
        ),
        correction(rows),
    ]
}

/// How long ports are idle when links never sleep (PerfBound Figure 1): how many periods of each
/// length there are, and which part of the periods and of their time is no longer.
fn idle_periods(idle: &IdleTable, rows: &[Row]) -> Figure {
    // Those of the first run lie in the table.
    let varied = rows.first().map(|row| row.setting.variation());
    let varied = varied.unwrap_or_default();
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
        cells.extend(shares.map(|share| cell(Some(Spread::exactly(share)), 3)));
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
        id: "idle-periods".into(),
        title: match &*varied {
            "" => "Idle periods of ports whose links never sleep".into(),
            varied => format!("Idle periods of ports whose links never sleep: {varied}"),
        },
        source:
            "Compare PerfBound Figure 1, which has one port and bins of the same width; here all \
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
        let points = std::iter::once((from, 0.0)).chain(points);
        points
            .map(|(at, share)| (at, Spread::exactly(share)))
            .collect()
    };
    let marks = [0, 1].map(|number| Mark::series(number, Marker::of(number)));
    Plot {
        legend: vec![
            (marks[0], "periods".into()),
            (marks[1], "their time".into()),
        ],
        panels: vec![
            Panel::Counts(Counts {
                ticks: ticks.clone(),
                x_label: "length of an idle period".into(),
                y_label: "idle periods".into(),
                bars: idle.bins.iter().map(bar).collect(),
            }),
            Panel::Lines(Lines {
                title: String::new(),
                ticks,
                x_label: "length".into(),
                y_label: "shorter than a length, %".into(),
                series: vec![(marks[0], cumulative(1)), (marks[1], cumulative(3))],
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

fn fixed_value(rows: &[Row], state: &str, t_pdt_ns: f64, merit: Merit) -> Option<Spread> {
    merit.spread(rows.iter().filter(|row| {
        row.setting.state.as_deref() == Some(state) && row.setting.t_pdt_ns == Some(t_pdt_ns)
    }))
}

fn predicted_value(
    rows: &[Row],
    correction: bool,
    (state, histogram, bound): (&str, &str, f64),
    merit: Merit,
) -> Option<Spread> {
    merit.spread(rows.iter().filter(|row| {
        let setting = &row.setting;
        setting.correction == correction
            && setting.state.as_deref() == Some(state)
            && setting.histogram.as_deref() == Some(histogram)
            && setting.bound == Some(bound)
    }))
}

/// The loads that were run, rising.
fn loads(rows: &[Row]) -> Vec<f64> {
    numbers(rows, |row| row.setting.load)
}

/// What was run of all that varies of the scenario, load and seed left out.
fn scenes(rows: &[Row]) -> Vec<[Option<&str>; 4]> {
    let mut scenes = Vec::new();
    for row in rows {
        let scene = row.setting.scene();
        if !scenes.contains(&scene) {
            scenes.push(scene);
        }
    }
    scenes
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
    let mut series = Vec::new();
    let mut legend = Vec::new();
    for (number, state) in states.iter().enumerate() {
        let mark = Mark::series(number, Marker::of(number));
        let value = |&ns: &f64| Some((place(ns), fixed_value(rows, state, ns, merit)?));
        series.push((mark, thresholds.iter().filter_map(value).collect()));
        legend.push((mark, (*state).to_owned()));
    }
    if series
        .iter()
        .all(|(_, points): &(_, Vec<_>)| points.is_empty())
    {
        return None;
    }
    Some(Plot {
        legend,
        panels: vec![Panel::Lines(Lines {
            title: String::new(),
            ticks,
            x_label: THRESHOLD.into(),
            y_label: merit.label.into(),
            series,
        })],
    })
}

/// A number of a table; of several seeds with its least and greatest value below.
pub fn cell(value: Option<Spread>, decimals: usize) -> String {
    let Some(value) = value else {
        return "\u{2013}".into();
    };
    let text = |value: f64| {
        let unit = 10_f64.powi(decimals as i32);
        // Not -0.000.
        let rounded = (value * unit).round() / unit + 0.0;
        format!("{rounded:.decimals$}").replace('-', "\u{2212}")
    };
    let [mean, low, high] = [value.mean, value.low, value.high].map(text);
    match low == high {
        true => mean,
        false => format!("{mean}\n{low} to {high}"),
    }
}

fn fixed_table(rows: &[Row], merit: Merit) -> Table {
    let states = states(rows, is_fixed);
    let row = |&ns: &f64| {
        let values = states
            .iter()
            .map(|state| fixed_value(rows, state, ns, merit));
        let cells = values.map(|value| merit.cell(value));
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
        let mark = Mark::series(number, Marker::Swatch);
        legend.push((mark, (*histogram).to_owned()));
        for (correction, _) in &policies {
            let pale = !correction;
            series.push((Mark { pale, ..mark }, *histogram, *correction));
        }
    }
    for (correction, policy) in &policies {
        let mark = uncoloured(Marker::Swatch, !correction);
        legend.push((mark, (*policy).to_owned()));
    }
    let panel = |state: &&str| {
        let group = |&bound: &f64| {
            let value = |&(_, histogram, correction): &(Mark, &str, bool)| {
                predicted_value(rows, correction, (state, histogram, bound), merit)
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
        let [plain, corrected] =
            PREDICTIONS.map(|(correction, _)| predicted_value(rows, correction, setting, merit));
        let difference = plain
            .zip(corrected)
            .map(|(plain, corrected)| Spread::exactly(corrected.mean - plain.mean));
        vec![
            setting.0.into(),
            percent_label(setting.2),
            setting.1.into(),
            merit.cell(plain),
            merit.cell(corrected),
            merit.cell(difference),
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

/// In a legend, what has no colour of its own.
fn uncoloured(shape: Marker, pale: bool) -> Mark {
    Mark {
        colour: None,
        shape,
        pale,
    }
}

/// A setting of the ports that has a line over the loads.
type Ports = (Mark, String, Box<dyn Fn(&Row) -> bool>);

/// Values over the load, with a line for every setting of the ports; a panel for each state.
fn over_loads(rows: &[Row]) -> Vec<Figure> {
    let fixed: Vec<Ports> = thresholds(rows)
        .into_iter()
        .enumerate()
        .map(|(number, ns)| -> Ports {
            let mark = Mark::series(number, Marker::of(number));
            let is = move |row: &Row| row.setting.t_pdt_ns == Some(ns);
            (mark, time_label(ns), Box::new(is))
        })
        .collect();
    let mut predicted: Vec<Ports> = Vec::new();
    for (number, histogram) in histograms(rows).into_iter().enumerate() {
        for (place, bound) in bounds(rows).into_iter().enumerate() {
            for (correction, policy) in PREDICTIONS {
                let mark = Mark {
                    pale: !correction,
                    ..Mark::series(number, Marker::of(place))
                };
                let is = move |row: &Row| {
                    let setting = &row.setting;
                    setting.correction == correction
                        && setting.histogram.as_deref() == Some(histogram)
                        && setting.bound == Some(bound)
                };
                if rows.iter().any(is) {
                    let name = format!("{policy}, {histogram}, {}", percent_label(bound));
                    predicted.push((mark, name, Box::new(is)));
                }
            }
        }
    }
    let mut of_thresholds: Vec<(Mark, String)> = Vec::new();
    of_thresholds.extend(fixed.iter().map(|(mark, name, _)| (*mark, name.clone())));
    let mut of_predictions: Vec<(Mark, String)> = Vec::new();
    for (number, name) in histograms(rows).into_iter().enumerate() {
        of_predictions.push((Mark::series(number, Marker::Swatch), name.to_owned()));
    }
    for (number, bound) in bounds(rows).into_iter().enumerate() {
        of_predictions.push((uncoloured(Marker::of(number), false), percent_label(bound)));
    }
    for (correction, policy) in PREDICTIONS {
        let with = |row: &Row| is_predicted(row) && row.setting.correction == correction;
        if rows.iter().any(with) {
            of_predictions.push((uncoloured(Marker::Circle, !correction), policy.into()));
        }
    }
    if let [(mark, name, _)] = &*predicted {
        of_predictions = vec![(*mark, name.clone())];
    }
    let kinds = [
        ("fixed", "fixed thresholds", fixed, of_thresholds),
        (
            "predicted",
            "PerfBound and PerfBoundCorrect",
            predicted,
            of_predictions,
        ),
    ];
    let merits = [
        ("latency", "Packet latency", LATENCY_NS),
        ("overhead", "Packet latency, overhead", LATENCY),
        ("links", "Energy of the links saved", LINKS),
        ("network", "Energy of links and switches saved", NETWORK),
        ("system", "Energy of the system saved", SYSTEM),
    ];
    let mut figures = Vec::new();
    for (id, with, ports, legend) in &kinds {
        for (what, title, merit) in merits {
            figures.push(Figure {
                id: format!("load-{id}-{what}"),
                title: format!("{title} over the load, with {with}"),
                source: "the PerfBound paper has applications, whose load is what it is, and no such figure",
                plot: load_plot(rows, ports, legend, merit),
                table: load_table(rows, ports, merit),
            });
        }
    }
    figures
}

/// A figure of merit at a load with links that never sleep (`None`) or with a setting of the
/// ports and a state.
fn load_value(
    rows: &[Row],
    load: f64,
    ports: Option<(&Ports, &str)>,
    merit: Merit,
) -> Option<Spread> {
    merit.spread(rows.iter().filter(|row| {
        row.setting.load == Some(load)
            && match ports {
                None => row.setting.state.is_none(),
                Some(((_, _, is), state)) => is(row) && row.setting.state.as_deref() == Some(state),
            }
    }))
}

/// The states that rows with one of these settings have.
fn states_of(rows: &[Row], ports: &[Ports]) -> Vec<&'static str> {
    let rows = rows
        .iter()
        .filter(|row| ports.iter().any(|(_, _, is)| is(row)));
    let rows: Vec<Row> = rows.cloned().collect();
    states(&rows, |_| true)
}

fn load_plot(
    rows: &[Row],
    ports: &[Ports],
    legend: &[(Mark, String)],
    merit: Merit,
) -> Option<Plot> {
    let loads = loads(rows);
    let line = |ports: Option<(&Ports, &str)>| -> Vec<(f64, Spread)> {
        let value = |&load: &f64| Some((load, load_value(rows, load, ports, merit)?));
        loads.iter().filter_map(value).collect()
    };
    let always_on = line(None);
    let mark = uncoloured(Marker::Square, true);
    let mut legend = legend.to_vec();
    if !always_on.is_empty() {
        legend.push((mark, "always-on".into()));
    }
    let panel = |state: &&str| {
        let of_ports = |ports: &Ports| (ports.0, line(Some((ports, *state))));
        // What is drawn first lies below.
        let mut series = vec![(mark, always_on.clone())];
        series.extend(ports.iter().map(of_ports));
        Lines {
            title: (*state).into(),
            ticks: load_ticks(&loads),
            x_label: "load, part of the link's rate".into(),
            y_label: merit.label.into(),
            series,
        }
    };
    let panels: Vec<Lines> = states_of(rows, ports).iter().map(panel).collect();
    let mut lines = panels.iter().flat_map(|panel| &panel.series);
    lines.any(|(_, points)| !points.is_empty()).then(|| Plot {
        legend,
        panels: panels.into_iter().map(Panel::Lines).collect(),
    })
}

/// A factor of 1, 2, 5 or 10 and a power of ten whose product is `least` or the next above it.
pub fn round_step(least: f64) -> (f64, i32) {
    let power = least.log10().floor() as i32;
    let unit = 10_f64.powi(power);
    let mut factors = [1.0, 2.0, 5.0].into_iter();
    let factor = factors.find(|factor| factor * unit >= least);
    (factor.unwrap_or(10.0), power)
}

/// Ticks of round loads around those that were run.
fn load_ticks(loads: &[f64]) -> Vec<Tick> {
    let least = loads.first().copied().unwrap_or(0.0);
    let most = loads.last().copied().unwrap_or(1.0);
    let span = if most > least { most - least } else { most };
    // Six steps of 0.1 are not to be less than 0.6.
    let (factor, power) = round_step(span / 6.0 * (1.0 - 1e-9));
    // A division, as 3 * 0.1 is 0.30000000000000004.
    let unit = |number: f64| match power {
        0.. => number * 10_f64.powi(power),
        _ => number / 10_f64.powi(-power),
    };
    let (first, last) = (
        (least / unit(factor)).floor(),
        (most / unit(factor) - 1e-9).ceil(),
    );
    (first as u32..=last as u32)
        .map(|number| {
            let at = unit(f64::from(number) * factor);
            Tick {
                at,
                label: at.to_string(),
            }
        })
        .collect()
}

fn load_table(rows: &[Row], ports: &[Ports], merit: Merit) -> Table {
    let loads = loads(rows);
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut line = |state: &str, name: &str, ports| {
        let values = loads
            .iter()
            .map(|&load| load_value(rows, load, ports, merit));
        let values: Vec<Option<Spread>> = values.collect();
        if values.iter().any(Option::is_some) {
            let cells = values.into_iter().map(|value| merit.cell(value));
            let names = [state.to_owned(), name.to_owned()];
            lines.push(names.into_iter().chain(cells).collect());
        }
    };
    if !ports.is_empty() {
        line("", "always-on", None);
    }
    for state in states_of(rows, ports) {
        for ports in ports {
            line(state, &ports.1, Some((ports, state)));
        }
    }
    let header = loads.iter().map(|load| format!("load {load}"));
    let names = ["state", "ports"].map(str::to_owned);
    Table {
        names: 2,
        header: names.into_iter().chain(header).collect(),
        rows: lines,
    }
}

/// What the correction costs and brings: from PerfBound to PerfBoundCorrect.
fn correction(rows: &[Row]) -> Figure {
    // A run that was cut has no execution time.
    let timed = rows.iter().any(|row| (TIME.of)(row).is_some());
    let cost = if timed { TIME } else { LATENCY };
    let (histograms, bounds) = (histograms(rows), bounds(rows));
    let place = |setting: (&str, &str, f64), correction| {
        let cost = predicted_value(rows, correction, setting, cost)?;
        let gain = predicted_value(rows, correction, setting, LINKS)?;
        Some((cost.mean, gain.mean))
    };
    let panel = |state: &&str| {
        let settings = settings(rows);
        let settings = settings.iter().filter(|setting| setting.0 == *state);
        let pairs = settings.filter_map(|&setting| {
            let mark = Mark::series(
                histograms.iter().position(|name| *name == setting.1)?,
                Marker::of(bounds.iter().position(|bound| *bound == setting.2)?),
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
        legend.push((Mark::series(number, Marker::Swatch), (*name).to_owned()));
    }
    for (number, bound) in bounds.iter().enumerate() {
        legend.push((uncoloured(Marker::of(number), false), percent_label(*bound)));
    }
    for (correction, policy) in PREDICTIONS {
        legend.push((uncoloured(Marker::Circle, !correction), policy.into()));
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
                cells.push(merit.cell(predicted_value(rows, correction, setting, merit)));
            }
        }
        cells
    };
    Figure {
        id: "correction".into(),
        title: "PerfBound against PerfBoundCorrect".into(),
        source: "Cost and gain together; PerfBound 4.4.2 compares the two in Figure 8",
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

/// Series that are told apart by their colours.
pub const MOST_COLOURS: usize = 5;

/// The policies, in the order of their colours or shapes.
const POLICIES: [&str; 3] = ["fixed", "perfbound", "perfbound-correct"];

/// Every setting by what it costs and what it gains. Colours tell the policies, and shapes the sleep
/// states; where a few scenes stand together (`by_scene`), colours tell these, and shapes the policies.
fn trade(rows: &[Row], id: &str, title: &str, by_scene: bool) -> Figure {
    let timed = rows.iter().any(|row| (TIME.of)(row).is_some());
    let cost = if timed { TIME } else { LATENCY };
    let trades = trades(rows, cost.of, NETWORK.of);
    let (scenes, states) = (scenes(rows), states(rows, |_| true));
    let by_scene = by_scene && scenes.len() <= MOST_COLOURS;
    let place = |names: &[&str], name: &str| names.iter().position(|it| *it == name).unwrap_or(0);
    let mark = |trade: &Trade| {
        let setting = &trade.row().setting;
        let policy = place(&POLICIES, &setting.policy);
        let state = place(&states, setting.state.as_deref().unwrap_or(""));
        let scene = scenes.iter().position(|scene| *scene == setting.scene());
        let (colour, shape) = match by_scene {
            true => (scene.unwrap_or(0), policy),
            false => (policy, state),
        };
        Mark {
            pale: !trade.is_best,
            ..Mark::series(colour, Marker::of(shape))
        }
    };
    let mut legend: Vec<(Mark, String)> = Vec::new();
    // What all have need not be said.
    let workloads: BTreeSet<_> = rows.iter().map(|row| &row.setting.workload).collect();
    let name = |row: &Row| {
        let mut setting = row.setting.clone();
        if workloads.len() == 1 {
            setting.workload = None;
        }
        setting.scene_in_words()
    };
    let colour = |number| Mark::series(number, Marker::Swatch);
    let shape = |number| uncoloured(Marker::of(number), false);
    let occurs = |policy: &&str| rows.iter().any(|row| row.setting.policy == *policy);
    let policies = (0..).zip(POLICIES).filter(|(_, policy)| occurs(policy));
    match by_scene {
        true => {
            for (number, scene) in scenes.iter().enumerate() {
                let first = rows.iter().find(|row| row.setting.scene() == *scene);
                legend.extend(first.map(|row| (colour(number), name(row))));
            }
            legend.extend(policies.map(|(number, name)| (shape(number), name.to_owned())));
        }
        false => {
            legend.extend(policies.map(|(number, name)| (colour(number), name.to_owned())));
            let states = states.iter().enumerate();
            legend.extend(states.map(|(number, name)| (shape(number), (*name).to_owned())));
        }
    }
    let at = |trade: &Trade| (trade.cost.mean, trade.gain.mean);
    let best = trades.iter().filter(|trade| trade.is_best);
    let varies = rows.iter().any(|row| !row.setting.variation().is_empty());
    let header = ["setting", "scenario", "front", cost.label, NETWORK.label];
    let header = header
        .into_iter()
        .filter(|name| varies || *name != "scenario");
    let line = |trade: &Trade| {
        let setting = &trade.row().setting;
        let mut cells = vec![setting.in_words()];
        cells.extend(varies.then(|| setting.variation_without_seed()));
        cells.push(if trade.is_best { "yes" } else { "" }.into());
        cells.extend([cost.cell(Some(trade.cost)), NETWORK.cell(Some(trade.gain))]);
        cells
    };
    Figure {
        id: id.into(),
        title: title.into(),
        source: "Filled marks, which a line joins: no other setting costs no more and saves more",
        plot: (!trades.is_empty()).then(|| Plot {
            legend,
            panels: vec![Panel::Front(Front {
                x_label: cost.label.into(),
                y_label: NETWORK.label.into(),
                points: trades
                    .iter()
                    .map(|trade| (mark(trade), at(trade)))
                    .collect(),
                front: best.map(at).collect(),
            })],
        }),
        table: Table {
            names: if varies { 3 } else { 2 },
            header: header.map(str::to_owned).collect(),
            rows: trades.iter().map(line).collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::scenario::Variation;

    #[test]
    fn cells() {
        let one = |value| cell(Some(Spread::exactly(value)), 3);
        assert_eq!(one(-0.0004), "0.000");
        assert_eq!(one(-0.0006), "\u{2212}0.001");
        let seeds = [0.1, -0.2, 0.4].map(Some);
        let spread = Spread::of(seeds.into_iter());
        assert_eq!(cell(spread, 3), "0.100\n\u{2212}0.200 to 0.400");
        assert_eq!(cell(spread, 0), "0");
        assert_eq!(cell(None, 0), "\u{2013}");
        assert_eq!(Spread::of([Some(1.0), None].into_iter()), None);
        assert_eq!(
            Spread::of([Some(0.3)].into_iter()),
            Some(Spread::exactly(0.3))
        );
    }

    /// Five bounds beside each other have five shapes.
    #[test]
    fn series_can_be_told_by_their_shapes() {
        let shapes = [0, 1, 2, 3, 4].map(Marker::of);
        for (number, shape) in shapes.iter().enumerate() {
            assert!(!shapes[..number].contains(shape), "{number}");
        }
    }

    #[test]
    fn loads_have_round_ticks() {
        let labels = |loads: &[f64]| {
            let ticks = load_ticks(loads);
            ticks.into_iter().map(|tick| tick.label).collect::<Vec<_>>()
        };
        let tenths = ["0", "0.2", "0.4", "0.6", "0.8", "1"];
        assert_eq!(labels(&[0.05, 0.5, 1.0]), tenths);
        assert_eq!(labels(&[0.1, 0.3]), ["0.1", "0.15", "0.2", "0.25", "0.3"]);
        assert_eq!(labels(&[0.4]), ["0.4"]);
        let small = [
            "0", "0.000002", "0.000004", "0.000006", "0.000008", "0.00001",
        ];
        assert_eq!(labels(&[0.000_001, 0.000_01]), small);
    }

    /// Settings that another one beats, or equals at a lower cost, are not on the front.
    #[test]
    fn the_front_is_what_no_other_setting_beats() {
        let experiment = |t_pdt_ns| crate::sweep::Experiment::Fixed {
            state: Sleep::FastWake,
            t_pdt_ns,
        };
        let points = [
            (3.0, 30.0),
            (1.0, 10.0),
            (1.0, 12.0),
            (2.0, 12.0),
            (4.0, 29.0),
            (0.5, 1.0),
        ];
        let rows: Vec<Row> = points
            .iter()
            .flat_map(|&(cost, gain)| {
                let experiment = experiment(100.0 * cost + gain);
                // Two seeds, of which the mean counts.
                [1, 2].map(|seed| {
                    let mut row = crate::sweep::plausible_row(&experiment, 1.0);
                    let variation = Variation {
                        seed: Some(seed),
                        ..Variation::default()
                    };
                    row.setting = crate::sweep::Setting::new(&experiment, &variation, &variation);
                    let off = if seed == 1 { 0.25 } else { -0.25 };
                    row.against.time_overhead_percent = Some(cost + off);
                    row.against.energy_network_saved_percent = Some(gain - off);
                    row
                })
            })
            .collect();
        let best: Vec<(f64, f64)> = trades(&rows, TIME.of, NETWORK.of)
            .iter()
            .filter(|trade| trade.is_best)
            .map(|trade| (trade.cost.mean, trade.gain.mean))
            .collect();
        assert_eq!(best, [(0.5, 1.0), (1.0, 12.0), (3.0, 30.0)]);
        let figure = trade(&rows, "trade", "", false);
        let column = |at: usize| figure.table.rows.iter().map(move |row| row[at].as_str());
        // Columns: setting, scenario (the seeds vary), front, cost and gain.
        assert!(column(2).eq(["yes", "yes", "", "", "yes", ""]));
        let costs = ["0.500", "1.000", "1.000", "2.000", "3.000", "4.000"];
        assert!(column(3).map(|cell| cell.lines().next().unwrap()).eq(costs));
    }
}
