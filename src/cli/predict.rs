//! `linkdoze predict`

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::ValueEnum;

use super::periods::Periods;
use super::{output, Outcome};
use crate::config::Config;
use crate::reference::{Parameters, Reference};

#[derive(clap::Args)]
pub struct Args {
    /// The configuration file.
    config: PathBuf,
    /// CSV with the header `busy,idle`: ticks of activity, then of the idle period after it.
    #[arg(long, value_name = "FILE.csv")]
    periods: PathBuf,
    /// The model that predicts.
    #[arg(long)]
    model: Model,
}

/// The models of SPEC 9 that predict from idle periods alone.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Model {
    /// The papers' mathematics in real numbers.
    Reference,
}

/// Anything that takes idle periods and answers with thresholds.
pub(super) trait Predictor {
    /// An active part of `busy` ticks, then an idle period of `idle` ticks.
    fn step(&mut self, busy: u64, idle: u64) -> anyhow::Result<Row>;
}

/// A line of the output; times are in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The idle period, at most `h_maxval`.
    pub t_inac: u64,
    pub miss: bool,
    /// `X` (SPEC 7.1).
    pub window: u64,
    /// `N` (SPEC 7.3).
    pub budget: u64,
    pub t_pb: u64,
    /// 1 if there is no correction.
    pub cf: f64,
    /// The threshold of the next period.
    pub t_pdt: Threshold,
}

/// A threshold in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Threshold {
    /// A count, as in hardware.
    Whole(u64),
    /// A corrected threshold of the reference model.
    Real(f64),
}

impl Threshold {
    /// A threshold of the reference model.
    fn from_real(ticks: f64) -> Threshold {
        // 2^53: every whole number below has an f64 of its own.
        if ticks.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&ticks) {
            Threshold::Whole(ticks as u64)
        } else {
            Threshold::Real(ticks)
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Whole(ticks) => ticks.fmt(f),
            // The shortest text that reads back as the same number.
            Threshold::Real(ticks) => ticks.fmt(f),
        }
    }
}

impl Predictor for Reference {
    fn step(&mut self, busy: u64, idle: u64) -> anyhow::Result<Row> {
        let step = Reference::step(self, busy, idle);
        Ok(Row {
            t_inac: step.t_inac,
            miss: step.miss,
            window: step.window,
            budget: step.budget,
            t_pb: step.t_pb,
            cf: step.cf,
            t_pdt: Threshold::from_real(step.t_pdt),
        })
    }
}

pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let config = Config::load(&args.config)?;
    let mut predictor: Box<dyn Predictor> = match args.model {
        Model::Reference => Box::new(Reference::new(Parameters::new(&config)?)),
    };
    // Where a tick is a clock cycle, no part of a period is shorter than one.
    let shortest = u64::from(config.clock.tick_ps == config.clock.period_ps);
    let periods = Periods::open(&args.periods, shortest)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mut write = |line: fmt::Arguments<'_>| match out.write_fmt(line) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        result => output::finish(result).map(|()| true),
    };
    if !write(format_args!(
        "period,t_inac,miss,window,budget,t_pb,cf,t_pdt\n"
    ))? {
        return Ok(Outcome::Done);
    }
    for (index, period) in periods.enumerate() {
        let period = period?;
        let row = predictor.step(period.busy, period.idle)?;
        if !write(format_args!(
            "{index},{},{},{},{},{},{},{}\n",
            row.t_inac,
            u8::from(row.miss),
            row.window,
            row.budget,
            row.t_pb,
            row.cf,
            row.t_pdt
        ))? {
            return Ok(Outcome::Done);
        }
    }
    output::finish(out.flush())?;
    Ok(Outcome::Done)
}
