//! `linkdoze predict`

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::ValueEnum;

use super::{output, Outcome};
use crate::config::Config;
use crate::cosim::open_loop::{self, Golden, OpenLoop};
use crate::cosim::port::PortDesign;
use crate::cosim::verilator::Compiled;
use crate::cosim::Design;
use crate::periods::Periods;
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

/// The models of SPEC 9.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Model {
    /// The papers' mathematics in real numbers
    Reference,
    /// Integers, cycle by cycle
    Golden,
    /// The emitted Verilog, compiled by Verilator
    Rtl,
}

/// Anything that takes idle periods and answers with thresholds.
trait Predictor {
    /// An active part of `busy` ticks, then an idle period of `idle` ticks. Returns the
    /// next row, if one is known: hardware answers for a period during the next active part.
    fn step(&mut self, busy: u64, idle: u64) -> anyhow::Result<Option<Row>>;

    /// The rows that are still missing at the end.
    fn finish(&mut self) -> anyhow::Result<Option<Row>>;

    /// Active parts that were too short for the update of the period before them.
    fn short(&self) -> u64 {
        0
    }
}

/// A line of the output; times are in ticks.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The idle period, at most `h_maxval`.
    t_inac: u64,
    miss: bool,
    /// `X` (SPEC 7.1).
    window: u64,
    /// `N` (SPEC 7.3).
    budget: u64,
    t_pb: u64,
    /// 1 if there is no correction.
    cf: f64,
    /// The threshold of the next period.
    t_pdt: Threshold,
}

/// A threshold in ticks.
#[derive(Clone, Copy, Debug)]
enum Threshold {
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
    fn step(&mut self, busy: u64, idle: u64) -> anyhow::Result<Option<Row>> {
        let step = Reference::step(self, busy, idle);
        Ok(Some(Row {
            t_inac: step.t_inac,
            miss: step.miss,
            window: step.window,
            budget: step.budget,
            t_pb: step.t_pb,
            cf: step.cf,
            t_pdt: Threshold::from_real(step.t_pdt),
        }))
    }

    fn finish(&mut self) -> anyhow::Result<Option<Row>> {
        Ok(None)
    }
}

impl From<open_loop::Step> for Row {
    fn from(step: open_loop::Step) -> Row {
        Row {
            t_inac: step.t_inac,
            miss: step.miss,
            window: step.window,
            budget: step.budget,
            t_pb: step.t_pb,
            cf: step.cf,
            t_pdt: Threshold::Whole(step.t_pdt),
        }
    }
}

impl<E: OpenLoop> Predictor for open_loop::Predictor<E> {
    fn step(&mut self, busy: u64, idle: u64) -> anyhow::Result<Option<Row>> {
        Ok(self.period(busy, idle)?.map(Row::from))
    }

    fn finish(&mut self) -> anyhow::Result<Option<Row>> {
        Ok(open_loop::Predictor::finish(self)?.map(Row::from))
    }

    fn short(&self) -> u64 {
        open_loop::Predictor::short(self)
    }
}

pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let config = Config::load(&args.config)?;
    let mut periods = Periods::open(&args.periods)?;
    let mut predictor: Box<dyn Predictor> = match args.model {
        Model::Reference => Box::new(Reference::new(Parameters::new(&config))),
        Model::Golden => {
            let design = PortDesign::open_loop(&config)?;
            let golden = Golden(design.golden());
            Box::new(open_loop::Predictor::new(design.plan(), golden))
        }
        Model::Rtl => {
            let design = PortDesign::open_loop(&config)?;
            let compiled = Compiled::fast(&design.verilog()?, design.plan())?;
            Box::new(open_loop::Predictor::new(design.plan(), compiled.engine()?))
        }
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let mut write = |line: fmt::Arguments<'_>| match out.write_fmt(line) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        result => output::finish(result).map(|()| true),
    };
    let mut go_on = write(format_args!(
        "period,t_inac,miss,window,budget,t_pb,cf,t_pdt\n"
    ))?;
    let mut rows = 0u64;
    let mut over = false;
    while go_on && !over {
        let row = match periods.next().transpose()? {
            Some(period) => predictor.step(period.busy, period.idle)?,
            None => {
                over = true;
                predictor.finish()?
            }
        };
        if let Some(row) = row {
            go_on = write(format_args!(
                "{rows},{},{},{},{},{},{},{}\n",
                row.t_inac,
                u8::from(row.miss),
                row.window,
                row.budget,
                row.t_pb,
                row.cf,
                row.t_pdt
            ))?;
            rows += 1;
        }
    }
    output::finish(out.flush())?;
    if predictor.short() > 0 {
        output::message(&format!(
            "note: {} of {rows} periods are followed by an active part too short for the \
             hardware to finish its update: their rows show the update before",
            predictor.short()
        ));
    }
    Ok(Outcome::Done)
}
