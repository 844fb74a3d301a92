//! `linkdoze schema`: the keys of an input file, as JSON Schema or as a table.

use super::{output, Outcome};
use crate::input::{schema, Kind, Table};
use crate::network::scenario;
use crate::{config, sweep};

#[derive(clap::Args)]
pub struct Args {
    /// The kind of file: the configuration of a port, a scenario, or a sweep.
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(Kind::ALL.map(Kind::name)))]
    kind: String,
    /// Print a table in Markdown instead.
    #[arg(long)]
    markdown: bool,
}

pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == args.kind);
    let (tables, schema): (&[Table], fn() -> serde_json::Value) = match kind {
        Some(Kind::Scenario) => (&scenario::TABLES, scenario::json_schema),
        Some(Kind::Sweep) => (&sweep::TABLES, sweep::json_schema),
        Some(Kind::Port) | None => (&config::TABLES, config::json_schema),
    };
    output::print(&match args.markdown {
        true => schema::markdown(tables),
        false => serde_json::to_string_pretty(&schema())? + "\n",
    })?;
    Ok(Outcome::Done)
}
