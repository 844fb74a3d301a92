//! Results as a table: a row for each experiment, and its Parquet file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::record::Field;
use parquet::schema::types::Type;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::matrix::Experiment;
use super::vary;
use crate::config::plan::Policy;
use crate::experiment::{Against, Measured, Potential};
use crate::network::scenario::{Keys, Variation};

/// What governs the ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The experiment's name.
    pub experiment: String,
    /// `always-on`, `fixed`, `perfbound` or `perfbound-correct`.
    pub policy: String,
    /// The sleep state; none of `always-on`.
    pub state: Option<String>,
    /// The histogram of the predicting policies.
    pub histogram: Option<String>,
    /// The admitted degradation of the predicting policies, as a fraction.
    pub bound: Option<f64>,
    /// The threshold of `fixed`, in ns.
    pub t_pdt_ns: Option<f64>,
    /// Thresholds are corrected (SPEC 8).
    pub correction: bool,
    /// The pattern's load; this and the next are none where the scenario's own was not varied.
    pub load: Option<f64>,
    /// The mapping of all jobs.
    pub mapping: Option<String>,
    /// The seed.
    pub seed: Option<u64>,
    /// The name of the workload; none where the sweep has none.
    pub workload: Option<String>,
    /// The name of the configuration; none where the sweep has none.
    pub configuration: Option<String>,
    /// The other keys that were varied, by their paths, as a JSON object; none where there are none.
    pub varied: Option<String>,
    /// The name of the run without power saving that this one is compared with; none of such a run,
    /// unless its configuration is based on another one.
    pub compared_with: Option<String>,
}

/// The result of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What governed the ports.
    #[serde(flatten)]
    pub setting: Setting,
    /// The degradation by which it is judged, as a fraction: that of a predicting policy, or of a
    /// fixed threshold whose guard enforces one.
    pub bound_configured: Option<f64>,
    /// The run took no longer than that admits; none without such a bound, or without execution
    /// times to compare.
    pub bound_kept: Option<bool>,
    /// What was measured.
    #[serde(flatten)]
    pub measured: Measured,
    /// What power saving changed.
    #[serde(flatten)]
    pub against: Against,
    /// What could have been saved.
    #[serde(flatten)]
    pub potential: Potential,
}

impl Setting {
    /// All that varies of the scenario but its load and its seed.
    pub fn scene(&self) -> [Option<&str>; 4] {
        let parts = [
            &self.workload,
            &self.configuration,
            &self.varied,
            &self.mapping,
        ];
        parts.map(|part| part.as_deref())
    }

    /// The experiment's name without its seed, which several runs have that differ in nothing else.
    pub fn without_seed(&self) -> &str {
        let end = self.seed.map(|seed| format!("_seed-{seed}"));
        let name = end.and_then(|end| self.experiment.strip_suffix(&end));
        name.unwrap_or(&self.experiment)
    }

    /// The keys that were varied, each with its value.
    pub fn varied_keys(&self) -> Vec<(String, Value)> {
        let text = self.varied.as_deref().unwrap_or("{}");
        match serde_json::from_str(text) {
            Ok(Value::Object(keys)) => keys.into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// [`scene`](Setting::scene) as parts of the name of a file, as that of the experiment has them.
    pub fn scene_in_name(&self) -> Vec<String> {
        let value = |(path, value)| Some((path, toml::Value::try_from(value).ok()?));
        let keys: Keys = self.varied_keys().into_iter().filter_map(value).collect();
        let named = self.workload.iter().chain(&self.configuration).cloned();
        let keys = vary::keys_in_name(&keys);
        named.chain(keys).chain(self.mapping.clone()).collect()
    }

    /// Of an experiment with a variation of the scenario, which is compared with the run without power
    /// saving of the variation `against`.
    pub fn new(experiment: &Experiment, variation: &Variation, against: &Variation) -> Self {
        let is_base = *experiment == Experiment::AlwaysOn && variation == against;
        let mut setting = Setting {
            experiment: experiment.name() + &vary::name(variation),
            policy: experiment.policy().name().into(),
            state: experiment.state().map(|state| state.name().into()),
            histogram: None,
            bound: None,
            t_pdt_ns: None,
            correction: experiment.policy() == Policy::PerfBoundCorrect,
            load: variation.load,
            mapping: variation.mapping.map(str::to_owned),
            seed: variation.seed,
            workload: variation.workload.as_ref().map(|(name, _)| name.clone()),
            configuration: variation
                .configuration
                .as_ref()
                .map(|(name, _)| name.clone()),
            varied: (!variation.keys.is_empty()).then(|| {
                let keys = variation.keys.iter();
                let keys = keys.map(|(path, value)| (path.clone(), serde_json::json!(value)));
                Value::Object(keys.collect()).to_string()
            }),
            compared_with: (!is_base).then(|| Experiment::AlwaysOn.name() + &vary::name(against)),
        };
        match experiment {
            Experiment::AlwaysOn => {}
            Experiment::Fixed { t_pdt_ns, .. } => setting.t_pdt_ns = Some(*t_pdt_ns),
            Experiment::Predicted {
                histogram, bound, ..
            } => {
                setting.histogram = Some(histogram.name().into());
                setting.bound = Some(*bound);
            }
        }
        setting
    }
}

/// The columns of the file: the fields of [`Row`]. Each may hold nulls.
const COLUMNS: [(&str, Kind); 87] = [
    ("experiment", Kind::Text),
    ("policy", Kind::Text),
    ("state", Kind::Text),
    ("histogram", Kind::Text),
    ("bound", Kind::Real),
    ("t_pdt_ns", Kind::Real),
    ("correction", Kind::Flag),
    ("load", Kind::Real),
    ("mapping", Kind::Text),
    ("seed", Kind::Count),
    ("workload", Kind::Text),
    ("configuration", Kind::Text),
    ("varied", Kind::Text),
    ("compared_with", Kind::Text),
    ("bound_configured", Kind::Real),
    ("bound_kept", Kind::Flag),
    ("ended", Kind::Text),
    ("time_ns", Kind::Real),
    ("job_time_mean_ns", Kind::Real),
    ("latency_packets", Kind::Count),
    ("latency_mean_ns", Kind::Real),
    ("latency_p50_ns", Kind::Real),
    ("latency_p99_ns", Kind::Real),
    ("latency_max_ns", Kind::Real),
    ("energy_links_j", Kind::Real),
    ("energy_switches_j", Kind::Real),
    ("energy_nodes_j", Kind::Real),
    ("energy_network_j", Kind::Real),
    ("energy_total_j", Kind::Real),
    ("powar_w_net_fraction", Kind::Real),
    ("powar_w_cluster_fraction", Kind::Real),
    ("powar_e_net_full_power_s", Kind::Real),
    ("powar_e_cluster_full_power_s", Kind::Real),
    ("georgakoudis_average_power_w", Kind::Real),
    ("georgakoudis_saving_table_vi_percent", Kind::Real),
    ("zahn_network_nj_per_bit", Kind::Real),
    ("hits", Kind::Count),
    ("misses", Kind::Count),
    ("transitions", Kind::Count),
    ("wake_ups", Kind::Count),
    ("sleep_waits", Kind::Count),
    ("sleep_delay_ns", Kind::Real),
    ("ports", Kind::Count),
    ("ports_over_budget", Kind::Count),
    ("worst_port_use", Kind::Real),
    ("worst_port", Kind::Text),
    ("pauses", Kind::Count),
    ("pauses_asleep", Kind::Count),
    ("part_wake", Kind::Real),
    ("part_going_down", Kind::Real),
    ("part_fast_wake", Kind::Real),
    ("part_deep_sleep", Kind::Real),
    ("part_refresh", Kind::Real),
    ("part_going_up", Kind::Real),
    ("offered_messages", Kind::Count),
    ("offered_bytes", Kind::Count),
    ("messages", Kind::Count),
    ("packets", Kind::Count),
    ("packet_hops", Kind::Count),
    ("link_utilisation", Kind::Real),
    ("delivered_bytes", Kind::Count),
    ("operations_finished", Kind::Count),
    ("operations", Kind::Count),
    ("events", Kind::Count),
    ("cpu_seconds", Kind::Real),
    ("time_overhead_percent", Kind::Real),
    ("job_time_mean_overhead_percent", Kind::Real),
    ("latency_mean_overhead_percent", Kind::Real),
    ("latency_p50_overhead_percent", Kind::Real),
    ("latency_p99_overhead_percent", Kind::Real),
    ("latency_max_overhead_percent", Kind::Real),
    ("energy_links_saved_percent", Kind::Real),
    ("energy_switches_saved_percent", Kind::Real),
    ("energy_nodes_saved_percent", Kind::Real),
    ("energy_network_saved_percent", Kind::Real),
    ("energy_total_saved_percent", Kind::Real),
    ("powar_e_net_saved_percent", Kind::Real),
    ("powar_e_cluster_saved_percent", Kind::Real),
    ("georgakoudis_average_power_saved_percent", Kind::Real),
    ("zahn_energy_per_data_saved_percent", Kind::Real),
    ("ideal_links_saved_percent", Kind::Real),
    ("ideal_network_saved_percent", Kind::Real),
    ("ideal_total_saved_percent", Kind::Real),
    ("optimum_at_bound_saved_percent", Kind::Real),
    ("optimum_at_own_wake_ups_saved_percent", Kind::Real),
    ("score_at_bound", Kind::Real),
    ("score_at_own_wake_ups", Kind::Real),
];

/// The key of the digest in the file's metadata.
const BELONGS_TO: &str = "sweep_sha256";

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Flag,
    Count,
    Real,
}

impl Kind {
    fn schema(self, name: &str) -> Result<Type, ParquetError> {
        let (physical, logical) = match self {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Flag => (Physical::BOOLEAN, None),
            Kind::Count => (Physical::INT64, None),
            Kind::Real => (Physical::DOUBLE, None),
        };
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
    }
}

/// A table file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file cannot be opened.
    #[error("{path}: cannot read: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is no Parquet file.
    #[error("{path}: {source}")]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: ParquetError,
    },
    /// The columns are not those of a sweep.
    #[error("{path}: not the results of a sweep of this version: {problem}")]
    Columns {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

/// The rows as a Parquet file, which carries the digest of the description that they belong to.
///
/// # Errors
/// If the Parquet library fails.
pub fn to_parquet(rows: &[Row], description: &str) -> Result<Vec<u8>, ParquetError> {
    let fields = COLUMNS.map(|(name, kind)| kind.schema(name).map(Arc::new));
    let fields = fields.into_iter().collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder("sweep")
        .with_fields(fields)
        .build()?;
    let version = KeyValue::new("linkdoze".into(), env!("CARGO_PKG_VERSION").to_owned());
    let description = KeyValue::new(BELONGS_TO.into(), description.to_owned());
    let properties =
        WriterProperties::builder().set_key_value_metadata(Some(vec![version, description]));
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build()))?;
    let records = rows
        .iter()
        .map(serde_json::to_value)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| ParquetError::External(error.into()))?;
    let mut group = file.next_row_group()?;
    for (name, kind) in COLUMNS {
        let cells: Vec<&Value> = records.iter().map(|record| &record[name]).collect();
        let Some(mut column) = group.next_column()? else {
            unreachable!("the schema has as many columns");
        };
        match kind {
            Kind::Text => write::<ByteArrayType>(&mut column, &cells, |cell| {
                cell.as_str().map(ByteArray::from)
            })?,
            Kind::Flag => write::<BoolType>(&mut column, &cells, Value::as_bool)?,
            // Counts of a run stay far below 2^63, and a scenario has no larger seeds.
            Kind::Count => write::<Int64Type>(&mut column, &cells, Value::as_i64)?,
            Kind::Real => write::<DoubleType>(&mut column, &cells, Value::as_f64)?,
        }
        column.close()?;
    }
    group.close()?;
    file.into_inner()
}

fn write<T: DataType>(
    column: &mut SerializedColumnWriter,
    cells: &[&Value],
    value: impl Fn(&Value) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let cells: Vec<Option<T::T>> = cells.iter().map(|cell| value(cell)).collect();
    let present: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    column
        .typed::<T>()
        .write_batch(&values, Some(&present), None)
        .map(|_written| ())
}

/// Reads the rows of a Parquet file that [`to_parquet`] made, and the digest that it carries.
///
/// # Errors
/// If it cannot be read, or has other columns.
pub fn from_parquet(path: &Path) -> Result<(Vec<Row>, String), TableError> {
    let file = std::fs::File::open(path).map_err(|source| TableError::Open {
        path: path.into(),
        source,
    })?;
    let fault = |source| TableError::Parquet {
        path: path.into(),
        source,
    };
    let reader = SerializedFileReader::new(file).map_err(fault)?;
    let metadata = reader.metadata().file_metadata().key_value_metadata();
    let mut pairs = metadata.into_iter().flatten();
    let description = pairs.find(|pair| pair.key == BELONGS_TO);
    let description = description.and_then(|pair| pair.value.clone());
    let mut rows = Vec::new();
    for record in reader.get_row_iter(None).map_err(fault)? {
        let record = record.map_err(fault)?;
        let cells = record
            .get_column_iter()
            .map(|(name, field)| (name.clone(), cell(field)));
        let row = serde_json::from_value(Value::Object(cells.collect()));
        rows.push(row.map_err(|error| TableError::Columns {
            path: path.into(),
            problem: error.to_string(),
        })?);
    }
    Ok((rows, description.unwrap_or_default()))
}

fn cell(field: &Field) -> Value {
    match field {
        Field::Bool(flag) => (*flag).into(),
        Field::Long(count) => (*count).into(),
        Field::Double(number) => (*number).into(),
        Field::Str(text) => text.clone().into(),
        _ => Value::Null,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::experiment::plausible;

    /// A row of plausible figures, some of which differ with `seed`.
    pub(crate) fn row(experiment: &Experiment, seed: f64) -> Row {
        let setting = Setting::new(experiment, &Variation::default(), &Variation::default());
        Row {
            bound_configured: setting.bound,
            setting,
            bound_kept: None,
            measured: plausible(seed),
            against: Against {
                time_overhead_percent: Some(seed),
                job_time_mean_overhead_percent: Some(seed / 2.0),
                latency_mean_overhead_percent: Some(10.0 * seed),
                energy_links_saved_percent: Some(50.0 - seed),
                energy_network_saved_percent: Some(25.0 - seed),
                energy_total_saved_percent: Some(0.0 - seed),
                ..Against::default()
            },
            potential: Potential {
                score_at_own_wake_ups: Some(0.75),
                ..Potential::default()
            },
        }
    }

    #[test]
    fn a_table_comes_back_as_it_was() {
        let sweep = super::super::Sweep::parse("scenario = \"a\"", Path::new("s.toml")).unwrap();
        let mut rows: Vec<Row> = sweep
            .experiments(0)
            .zip(0..)
            .map(|(experiment, number)| row(experiment, f64::from(number) / 7.0))
            .collect();
        rows[1].setting.load = Some(0.3);
        rows[2].setting.mapping = Some("random".into());
        rows[3].setting.seed = Some(i64::MAX as u64);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.parquet");
        std::fs::write(&path, to_parquet(&rows, "a digest").unwrap()).unwrap();
        let expected = (rows, "a digest".to_owned());
        assert_eq!(from_parquet(&path).unwrap(), expected);
    }

    #[test]
    fn every_figure_has_a_column() {
        let value = serde_json::to_value(row(&Experiment::AlwaysOn, 1.0)).unwrap();
        let names: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(names, COLUMNS.map(|(name, _)| name));
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.parquet");
        assert!(from_parquet(&path)
            .unwrap_err()
            .to_string()
            .contains("cannot read"));
        std::fs::write(&path, "no table").unwrap();
        let error = from_parquet(&path).unwrap_err();
        assert!(matches!(error, TableError::Parquet { .. }), "{error}");
    }
}
