//! `linkdoze predict`

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;

use super::progress::Step;
use super::{output, Outcome};
use crate::blocks::port::pins::{Inputs, Outputs};
use crate::config::Config;
use crate::cosim::open_loop::{self, Golden, OpenLoop};
use crate::cosim::port::PortDesign;
use crate::cosim::verilator::Compiled;
use crate::cosim::{Design, EngineError};
use crate::periods::{Length, Period, Periods, PeriodsError};
use crate::reference::{Parameters, Reference};

/// Clock cycles that the Verilog is clocked between two looks at the progress: a tenth of a
/// second or so.
const CYCLES_AT_ONCE: u64 = 1 << 20;

#[derive(clap::Args)]
#[command(after_help = "\
--model rtl clocks every cycle, however long an idle period is. --model golden passes over the
cycles in which nothing changes and gives the same rows.")]
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
    fn step(&mut self, busy: u64, idle: u64) -> Result<Option<Row>>;

    /// The rows that are still missing at the end.
    fn finish(&mut self) -> Result<Option<Row>>;

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
    fn step(&mut self, busy: u64, idle: u64) -> Result<Option<Row>> {
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

    fn finish(&mut self) -> Result<Option<Row>> {
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
    fn step(&mut self, busy: u64, idle: u64) -> Result<Option<Row>> {
        Ok(self.period(busy, idle)?.map(Row::from))
    }

    fn finish(&mut self) -> Result<Option<Row>> {
        Ok(open_loop::Predictor::finish(self)?.map(Row::from))
    }

    fn short(&self) -> u64 {
        open_loop::Predictor::short(self)
    }
}

/// More clock cycles than the answer to a period takes with the largest histogram.
const ANSWER: u64 = 1 << 20;

/// A list of periods that has no fault.
struct Checked {
    /// The periods; of what can be read only once, such as a pipe, they were kept.
    periods: Box<dyn Iterator<Item = Result<Period, PeriodsError>>>,
    /// How many there are.
    count: u64,
    /// Clock cycles of them all.
    cycles: u64,
}

impl Checked {
    /// Reads a list to its end, so that no row is printed of one that has a fault.
    ///
    /// # Errors
    /// The first fault.
    fn read(path: &Path, config: &Config) -> Result<Checked, PeriodsError> {
        let mut list = Periods::open(path)?;
        let once = !path.is_file();
        let mut kept = Vec::new();
        let clock_ps = config.clock.period_ps;
        let mut length = Length::new(config.clock.tick_ps / clock_ps, clock_ps, ANSWER);
        let mut count = 0;
        while let Some(period) = list.next().transpose()? {
            length.add(period, &list)?;
            count += 1;
            if once {
                kept.push(period);
            }
        }
        Ok(Checked {
            periods: match once {
                true => Box::new(kept.into_iter().map(Ok)),
                false => Box::new(Periods::open(path)?),
            },
            count,
            cycles: length.cycles(),
        })
    }
}

/// An engine whose progress is told.
struct WithProgress<E> {
    engine: E,
    step: Option<Step>,
}

impl<E: OpenLoop> OpenLoop for WithProgress<E> {
    fn pass(&mut self, inputs: &Inputs, cycles: u64) -> Result<Outputs, EngineError> {
        let mut left = cycles;
        loop {
            let now = left.min(CYCLES_AT_ONCE);
            let outputs = self.engine.pass(inputs, now)?;
            if let Some(step) = &self.step {
                step.inc(now);
            }
            left -= now;
            if left == 0 {
                return Ok(outputs);
            }
        }
    }
}

pub fn run(args: &Args) -> Result<Outcome> {
    let config = super::load(&args.config)?;
    let step = Step::new("reading the periods");
    let mut list = Checked::read(&args.periods, &config)?;
    drop(step);
    // Where the rows go to the terminal they are progress enough.
    let piped = !io::stdout().is_terminal();
    let mut rows_step = None;
    let mut predictor: Box<dyn Predictor> = match args.model {
        Model::Reference => {
            rows_step = piped.then(|| Step::of("predicting", list.count));
            Box::new(Reference::new(Parameters::new(&config)))
        }
        Model::Golden => {
            rows_step = piped.then(|| Step::of("predicting", list.count));
            let design = PortDesign::open_loop(&config)?;
            let golden = Golden(design.golden());
            Box::new(open_loop::Predictor::new(design.plan(), golden))
        }
        Model::Rtl => {
            let design = PortDesign::open_loop(&config)?;
            let step = Step::new("compiling the Verilog with Verilator");
            let engine = Compiled::fast(&design.verilog()?, design.plan())?.engine()?;
            drop(step);
            let step = piped.then(|| Step::cycles("predicting", Some(list.cycles)));
            Box::new(open_loop::Predictor::new(
                design.plan(),
                WithProgress { engine, step },
            ))
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
        let row = match list.periods.next().transpose()? {
            Some(period) => {
                if let Some(step) = &rows_step {
                    step.inc(1);
                }
                predictor.step(period.busy, period.idle)?
            }
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
    let short = predictor.short();
    if short > 0 {
        output::note(&format!(
            "note: {short} of {rows} periods are followed by an active part too short for the \
             hardware to finish its update: their rows show the update before"
        ));
    }
    Ok(Outcome::Done)
}
