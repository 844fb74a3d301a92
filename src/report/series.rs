//! Power, throughput and latency of one run over time (SPEC 11): the Parquet file of its samples,
//! and what the figures drawn from it show.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Repetition, Type as Physical};
use parquet::data_type::{DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::record::Field;
use parquet::schema::types::Type;

use super::draw::{round_ticks, COLOURS};
use super::figure::{Figure, Lines, Mark, Marker, Panel, Plot, Table};
use crate::energy::series::{PowerSeries, Row};
use crate::sweep::Spread;

/// The samples of a run, in the folder of its results.
pub const SERIES: &str = "series.parquet";
/// Those of the run with links always on, where there is one beside.
pub const SERIES_ALWAYS_ON: &str = "series-always-on.parquet";

/// The key of the version in the file's metadata.
const VERSION: &str = "linkdoze";
/// The key of the scenario's name in it.
const SCENARIO: &str = "scenario";
/// The key of the names of the classes of link ends, separated by line ends, in the order of their
/// columns.
const CLASSES: &str = "classes";

/// The samples of a run as columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// The version of linkdoze that made the run.
    pub version: String,
    /// The scenario's file.
    pub scenario: String,
    /// The names of the classes of link ends.
    pub classes: Vec<String>,
    /// Each with a value for every sample.
    pub columns: Vec<Column>,
}

/// A figure of every sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name, with its unit.
    pub name: String,
    /// It counts something.
    pub whole: bool,
    /// One for each sample; `None` where there is none.
    pub values: Vec<Option<f64>>,
}

/// A file of samples cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SeriesError {
    /// The file cannot be opened.
    #[error("{path}: cannot read: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// It is no Parquet file.
    #[error("{path}: {source}")]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: ParquetError,
    },
    /// It holds something else.
    #[error(
        "{path}: not the samples of a run of this version (no {what}); `linkdoze simulate -o` \
         writes them where [run] has sample_ns"
    )]
    Columns {
        /// The file.
        path: PathBuf,
        /// What it lacks.
        what: String,
    },
}

/// A class of link ends in the name of a column.
fn in_name(class: &str) -> String {
    class.replace(' ', "_")
}

impl Columns {
    /// Of the samples of a run of a scenario.
    pub fn new(scenario: &Path, series: &PowerSeries) -> Self {
        let column = |name: &str, of: &dyn Fn(&Row) -> Option<f64>| Column {
            name: name.to_owned(),
            whole: false,
            values: series.rows.iter().map(of).collect(),
        };
        let mut columns = vec![
            column("time_ns", &|row| Some(row.time_ns)),
            column("duration_ns", &|row| Some(row.duration_ns)),
            column("throughput_bytes_per_s", &|row| Some(row.throughput)),
            column("accepted_load", &|row| Some(row.accepted_load)),
            Column {
                whole: true,
                ..column("packets", &|row| Some(row.packets as f64))
            },
            column("latency_mean_ns", &|row| row.latency_mean_ns),
            column("power_links_w", &|row| Some(row.links_w)),
            column("power_switches_w", &|row| Some(row.switches_w)),
            column("asleep_links", &|row| row.asleep),
        ];
        for (number, class) in series.classes.iter().enumerate() {
            let name = in_name(class);
            columns.extend([
                column(&format!("power_{name}_w"), &|row| {
                    Some(row.of_class[number].power_w)
                }),
                column(&format!("asleep_{name}"), &|row| {
                    row.of_class[number].asleep
                }),
            ]);
        }
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            scenario: scenario.display().to_string(),
            classes: series.classes.clone(),
            columns,
        }
    }

    /// Samples.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// There are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn column(&self, name: &str) -> Option<&[Option<f64>]> {
        let column = self.columns.iter().find(|column| column.name == name);
        column.map(|column| &*column.values)
    }

    /// As a Parquet file: a row for each sample.
    ///
    /// # Errors
    /// If the Parquet library fails.
    pub fn to_parquet(&self) -> Result<Vec<u8>, ParquetError> {
        let field = |column: &Column| {
            let physical = match column.whole {
                true => Physical::INT64,
                false => Physical::DOUBLE,
            };
            Type::primitive_type_builder(&column.name, physical)
                .with_repetition(Repetition::OPTIONAL)
                .build()
                .map(Arc::new)
        };
        let fields = self.columns.iter().map(field);
        let schema = Type::group_type_builder("series")
            .with_fields(fields.collect::<Result<Vec<_>, _>>()?)
            .build()?;
        let pair = |key: &str, value: String| KeyValue::new(key.into(), value);
        let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![
            pair(VERSION, self.version.clone()),
            pair(SCENARIO, self.scenario.clone()),
            pair(CLASSES, self.classes.join("\n")),
        ]));
        let mut file =
            SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build()))?;
        let mut group = file.next_row_group()?;
        for column in &self.columns {
            let Some(mut writer) = group.next_column()? else {
                unreachable!("the schema has as many columns");
            };
            match column.whole {
                true => write::<Int64Type>(&mut writer, column, |value| value as i64)?,
                false => write::<DoubleType>(&mut writer, column, |value| value)?,
            }
            writer.close()?;
        }
        group.close()?;
        file.into_inner()
    }

    /// Reads a file that [`Columns::to_parquet`] made.
    ///
    /// # Errors
    /// If it cannot be read, or holds something else.
    pub fn read(path: &Path) -> Result<Self, SeriesError> {
        let file = std::fs::File::open(path).map_err(|source| SeriesError::Open {
            path: path.into(),
            source,
        })?;
        let fault = |source| SeriesError::Parquet {
            path: path.into(),
            source,
        };
        let lacks = |what: &str| SeriesError::Columns {
            path: path.into(),
            what: what.into(),
        };
        let reader = SerializedFileReader::new(file).map_err(fault)?;
        let metadata = reader.metadata().file_metadata();
        let value = |key: &str| {
            let mut pairs = metadata.key_value_metadata().into_iter().flatten();
            let value = pairs.find(|pair| pair.key == key)?.value.clone();
            value.filter(|value| !value.is_empty())
        };
        let version = value(VERSION).ok_or_else(|| lacks(VERSION))?;
        let scenario = value(SCENARIO).ok_or_else(|| lacks(SCENARIO))?;
        let classes = value(CLASSES).ok_or_else(|| lacks(CLASSES))?;
        let columns = metadata.schema_descr().columns().iter();
        let mut found = Self {
            version,
            scenario,
            classes: classes.lines().map(str::to_owned).collect(),
            columns: columns
                .map(|column| Column {
                    name: column.name().to_owned(),
                    whole: column.physical_type() == Physical::INT64,
                    values: Vec::new(),
                })
                .collect(),
        };
        for record in reader.get_row_iter(None).map_err(fault)? {
            let record = record.map_err(fault)?;
            for (column, (_, field)) in found.columns.iter_mut().zip(record.get_column_iter()) {
                column.values.push(match field {
                    Field::Double(number) => Some(*number),
                    Field::Long(count) => Some(*count as f64),
                    _ => None,
                });
            }
        }
        for needed in found.needed() {
            if found.column(&needed).is_none() {
                return Err(lacks(&format!("column {needed}")));
            }
        }
        Ok(found)
    }

    /// The columns that the figures show.
    fn needed(&self) -> Vec<String> {
        let fixed = [
            "time_ns",
            "duration_ns",
            "accepted_load",
            "packets",
            "latency_mean_ns",
            "power_links_w",
        ];
        let classes = self.classes.iter().map(|class| in_name(class));
        fixed
            .map(str::to_owned)
            .into_iter()
            .chain(classes.flat_map(|it| [format!("power_{it}_w"), format!("asleep_{it}")]))
            .collect()
    }
}

fn write<T: DataType>(
    writer: &mut SerializedColumnWriter,
    column: &Column,
    value: impl Fn(f64) -> T::T,
) -> Result<(), ParquetError> {
    let present = column.values.iter().map(|cell| i16::from(cell.is_some()));
    let present: Vec<i16> = present.collect();
    let values: Vec<T::T> = column.values.iter().flatten().copied().map(value).collect();
    writer
        .typed::<T>()
        .write_batch(&values, Some(&present), None)
        .map(|_written| ())
}

/// A line of a figure stands for at most so many stretches of time; where there are more samples,
/// each stretch has the mean of several, and a thin line from the least to the greatest.
const STRETCHES: usize = 400;

/// A line of a figure: its name, the run it is of, and the column, with what a value is
/// multiplied by.
struct Line<'c> {
    label: String,
    of: &'c Columns,
    column: String,
    factor: f64,
    /// The mean goes by this column.
    weight: &'static str,
}

/// The figures of a run, beside that with links always on where there is one.
pub fn figures(run: &Columns, always_on: Option<&Columns>) -> Vec<Figure> {
    let runs = || {
        let names = ["power saving", "always on"];
        let runs = [Some(run), always_on].into_iter().flatten();
        names.into_iter().zip(runs)
    };
    let of_runs = |column: &str, factor, weight| -> Vec<Line> {
        let line = |(name, of): (&str, _)| Line {
            label: match always_on {
                Some(_) => name.into(),
                None => "the run".into(),
            },
            of,
            column: column.into(),
            factor,
            weight,
        };
        runs().map(line).collect()
    };
    let of_classes = |prefix: &str, suffix: &str, factor| -> Vec<Line> {
        let line = |class: &String| Line {
            label: class.clone(),
            of: run,
            column: format!("{prefix}_{}{suffix}", in_name(class)),
            factor,
            weight: "duration_ns",
        };
        run.classes.iter().map(line).collect()
    };
    let figure = |id: &str, title: &str, source, y_label: &str, lines: Vec<Line>| {
        over_time(id, title, source, y_label, &lines)
    };
    vec![
        figure(
            "series-power",
            "Power of all links over time",
            "Compare Alonso Figure 5",
            "power, W",
            of_runs("power_links_w", 1.0, "duration_ns"),
        ),
        figure(
            "series-classes",
            "Power over time by class of link ends",
            "Not in the papers",
            "power, W",
            of_classes("power", "_w", 1.0),
        ),
        figure(
            "series-asleep",
            "Part of the link ends that sleep, by class",
            "Not in the papers",
            "asleep, %",
            of_classes("asleep", "", 100.0),
        ),
        figure(
            "series-throughput",
            "Throughput over time, as a part of what the nodes' links carry",
            "Compare PerfBound Figures 6, 9, 12 and 15, Alonso Figure 5",
            "throughput, %",
            of_runs("accepted_load", 100.0, "duration_ns"),
        ),
        figure(
            "series-latency",
            "Mean latency of the packets that arrived, over time",
            "Compare Alonso Figure 5",
            "latency, ns",
            of_runs("latency_mean_ns", 1.0, "packets"),
        ),
    ]
}

fn over_time(id: &str, title: &str, source: &'static str, y_label: &str, lines: &[Line]) -> Figure {
    let end = lines.iter().map(Line::end).fold(0.0, f64::max);
    let (unit, name) = unit(end);
    let mut plot = Lines {
        title: String::new(),
        ticks: round_ticks(0.0, end / unit),
        x_label: format!("simulated time, {name}"),
        y_label: y_label.into(),
        series: Vec::new(),
    };
    let mut legend = Vec::new();
    let mut rows = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let mark = Mark {
            pale: number >= COLOURS.len(),
            ..Mark::series(number % COLOURS.len(), Marker::Line)
        };
        let strokes = line.strokes(unit);
        if strokes.is_empty() {
            continue;
        }
        legend.push((mark, line.label.clone()));
        plot.series
            .extend(strokes.into_iter().map(|points| (mark, points)));
        if let Some(Spread { mean, low, high }) = line.spread(0..line.of.len()) {
            let mut row = vec![line.label.clone()];
            row.extend([low, mean, high].map(|value| format!("{value:.3}")));
            rows.push(row);
        }
    }
    let header = ["", "least of a sample", "mean", "greatest"];
    Figure {
        id: id.into(),
        title: title.into(),
        source,
        plot: (!plot.series.is_empty()).then(|| Plot {
            legend,
            panels: vec![Panel::Lines(plot)],
        }),
        table: Table {
            names: 1,
            header: header.map(str::to_owned).into(),
            rows,
        },
    }
}

/// The largest unit of which a time in ns has two at least: its ns, and its name.
fn unit(ns: f64) -> (f64, &'static str) {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "\u{b5}s")];
    let fits = |(unit, _): &(f64, &str)| ns >= 2.0 * unit;
    units.into_iter().find(fits).unwrap_or((1.0, "ns"))
}

impl Line<'_> {
    fn values(&self, column: &str) -> &[Option<f64>] {
        self.of.column(column).unwrap_or_default()
    }

    /// When the last sample ends, in ns.
    fn end(&self) -> f64 {
        let last = |column| self.values(column).last().copied().flatten();
        last("time_ns").unwrap_or(0.0) + last("duration_ns").unwrap_or(0.0)
    }

    /// The weighted mean of samples, and the least and greatest; `None` if none has a value.
    fn spread(&self, samples: std::ops::Range<usize>) -> Option<Spread> {
        let values = &self.values(&self.column)[samples.clone()];
        let weights = &self.values(self.weight)[samples];
        let values = values.iter().zip(weights).filter_map(|(value, weight)| {
            let weight = weight.filter(|weight| *weight > 0.0)?;
            Some((self.factor * (*value)?, weight))
        });
        let values: Vec<(f64, f64)> = values.collect();
        let all: f64 = values.iter().map(|(_, weight)| weight).sum();
        let (&(first, _), _) = values.split_first()?;
        let over = values
            .iter()
            .map(|(value, weight)| (value - first) * weight);
        let each = || values.iter().map(|(value, _)| *value);
        Some(Spread {
            mean: first + over.sum::<f64>() / all,
            low: each().fold(first, f64::min),
            high: each().fold(first, f64::max),
        })
    }

    /// Steps of a stretch of time each, without a break where every stretch has a value.
    fn strokes(&self, unit: f64) -> Vec<Vec<(f64, Spread)>> {
        let samples = self.of.len();
        let together = samples.div_ceil(STRETCHES).max(1);
        let times = self.values("time_ns");
        let begin = |sample: usize| match times.get(sample).copied().flatten() {
            Some(time) => time / unit,
            None => self.end() / unit,
        };
        let mut strokes: Vec<Vec<(f64, Spread)>> = Vec::new();
        let mut goes_on = false;
        for first in (0..samples).step_by(together) {
            let after = (first + together).min(samples);
            let spread = self.spread(first..after);
            if let Some(spread) = spread {
                if !goes_on {
                    strokes.push(Vec::new());
                }
                let points = strokes.last_mut().expect("pushed above");
                points.push((begin(first), Spread::exactly(spread.mean)));
                points.push(((begin(first) + begin(after)) / 2.0, spread));
                points.push((begin(after), Spread::exactly(spread.mean)));
            }
            goes_on = spread.is_some();
        }
        strokes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::series::ClassRow;

    /// So many samples of 2 us with the power of a saw and packets in every other one.
    fn saw(samples: usize) -> PowerSeries {
        let row = |sample: usize| {
            let height = (sample % 10) as f64;
            let packets = (sample % 2) as u64;
            let class = |power_w| ClassRow {
                power_w,
                asleep: Some(height / 10.0),
            };
            Row {
                time_ns: 2000.0 * sample as f64,
                duration_ns: 2000.0,
                throughput: 1e9,
                accepted_load: 0.25,
                packets,
                latency_mean_ns: (packets > 0).then_some(700.0 + height),
                links_w: 20.0 - height,
                switches_w: 250.0,
                asleep: Some(height / 10.0),
                of_class: vec![class(12.0 - height), class(8.0)],
            }
        };
        PowerSeries {
            classes: vec!["node to leaf".into(), "between groups".into()],
            rows: (0..samples).map(row).collect(),
        }
    }

    #[test]
    fn a_file_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(SERIES);
        let columns = Columns::new(Path::new("a.toml"), &saw(37));
        std::fs::write(&path, columns.to_parquet().unwrap()).unwrap();
        let read = Columns::read(&path).unwrap();
        assert_eq!(read, columns);
        assert_eq!(read.len(), 37);
        let names: Vec<&str> = read.columns.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(
            names[9..11],
            ["power_node_to_leaf_w", "asleep_node_to_leaf"]
        );
        assert_eq!(
            read.column("latency_mean_ns").unwrap()[..2],
            [None, Some(701.0)]
        );
        std::fs::write(&path, "no table").unwrap();
        let error = Columns::read(&path).unwrap_err();
        assert!(matches!(error, SeriesError::Parquet { .. }), "{error}");
    }

    #[test]
    fn figures_show_means_and_what_they_hide() {
        // Ten samples to a stretch: a whole tooth of the saw.
        let columns = Columns::new(Path::new("a.toml"), &saw(10 * STRETCHES));
        let figures = figures(&columns, None);
        let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
        let named = ["power", "classes", "asleep", "throughput", "latency"];
        assert_eq!(ids, named.map(|name| format!("series-{name}")));
        let lines = |figure: &Figure| {
            let Some(Panel::Lines(lines)) = figure.plot.as_ref().map(|plot| &plot.panels[0]) else {
                panic!("lines");
            };
            lines
                .series
                .iter()
                .map(|(_, points)| points.clone())
                .collect::<Vec<_>>()
        };
        let power = lines(&figures[0]);
        assert_eq!((power.len(), power[0].len()), (1, 3 * STRETCHES));
        let spread = Spread {
            mean: 15.5,
            low: 11.0,
            high: 20.0,
        };
        // 4000 samples of 2 us: 8 ms, in ms.
        assert_eq!(power[0][1], (0.01, spread));
        assert_eq!(power[0].last().unwrap().0, 8.0);
        assert_eq!(
            figures[0].table.rows,
            [["the run", "11.000", "15.500", "20.000"]]
        );
        assert_eq!(lines(&figures[1]).len(), 2);
        assert_eq!(figures[2].table.rows[1][2], "45.000");
        assert_eq!(figures[3].table.rows[0][2], "25.000");
        // A latency only where packets arrived: the mean goes by packets.
        assert_eq!(
            figures[4].table.rows[0][1..],
            ["701.000", "705.000", "709.000"]
        );
        let few = Columns::new(Path::new("a.toml"), &saw(4));
        let latency = lines(&super::figures(&few, Some(&few))[4]);
        assert_eq!(latency.len(), 4, "two strokes of each run");
    }
}
