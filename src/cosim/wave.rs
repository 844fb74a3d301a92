//! Waveforms of a window of a run: the hardware's signals with the golden model's outputs
//! beside them (`golden_*`), the number of the cycle, and where they differ.
//!
//! A run is too long to be traced whole, so the recorder clocks an instance of its own
//! from the start and writes only the window. The file appears under its name when it is
//! complete.

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use super::native::ByName;
use super::verilator::{Compiled, Tracer, WaveFormat};
use super::{Difference, EngineError, Leap, LeapDifference, Rtl, Run};
use crate::blocks::port::pins::Pins;
use crate::config::plan::PortPlan;
use crate::files::Staged;

/// Cycles shown before a mismatch.
pub const BEFORE: u64 = 200;
/// Cycles shown from a mismatch on.
pub const AFTER: u64 = 50;

/// The cycles of a run that a waveform shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first cycle shown.
    pub first: u64,
    /// The first cycle no longer shown.
    pub end: u64,
    /// Idle time that is leapt over inside it makes it longer.
    pub counts_clocked: bool,
}

impl Window {
    /// The window around a mismatch in `cycle`.
    pub fn around(cycle: u64) -> Window {
        Window {
            first: cycle.saturating_sub(BEFORE),
            end: cycle.saturating_add(AFTER),
            counts_clocked: false,
        }
    }

    /// The first cycles of a run, those that are clocked counted.
    pub fn beginning(cycles: u64) -> Window {
        Window {
            first: 0,
            end: cycles,
            counts_clocked: true,
        }
    }
}

/// The format that the name of a waveform asks for.
///
/// # Errors
/// If it ends in neither `.fst` nor `.vcd`.
pub fn format_of(path: &Path) -> anyhow::Result<WaveFormat> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("fst") => Ok(WaveFormat::Fst),
        Some("vcd") => Ok(WaveFormat::Vcd),
        _ => anyhow::bail!(
            "{}: the name of a waveform ends in .fst or .vcd",
            path.display()
        ),
    }
}

/// Why a recording failed.
fn message(error: impl Into<anyhow::Error>) -> String {
    let error = error.into();
    match error.downcast_ref::<EngineError>() {
        Some(error) => error.message.clone(),
        None => format!("the waveform cannot be written: {error:#}"),
    }
}

fn left_nothing(path: &Path, problem: &str) -> anyhow::Error {
    anyhow::anyhow!("{}: {problem}; nothing was left behind", path.display())
}

enum Sink {
    Verilator(Tracer),
    Native(Box<NativeTrace>),
}

/// Records a window of a run.
pub struct Recorder {
    sink: Sink,
    window: Window,
    period_ps: u64,
    /// So many runs, one for each port, belong together.
    ports: usize,
    cycle: u64,
    opened: bool,
    file: Staged,
    path: PathBuf,
}

/// A recorder in the place of an engine: it agrees with everything.
impl Rtl for Recorder {
    fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError> {
        self.feed(runs)
            .map(|()| None)
            .map_err(|error| EngineError::new("waveform", format!("{error:#}")))
    }

    fn leaps(&self) -> bool {
        match &self.sink {
            Sink::Verilator(tracer) => tracer.leaps(),
            Sink::Native(_) => false,
        }
    }

    fn leap(&mut self, leap: &Leap) -> Result<Option<LeapDifference>, EngineError> {
        if self.is_complete() {
            return Ok(None);
        }
        if let Sink::Verilator(tracer) = &mut self.sink {
            tracer.leap(leap)?;
            self.cycle += leap.run.cycles;
            if self.window.counts_clocked {
                self.window.end = self.window.end.saturating_add(leap.run.cycles);
            }
        }
        Ok(None)
    }
}

impl Rtl for &mut Recorder {
    fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError> {
        (**self).run(runs)
    }

    fn leaps(&self) -> bool {
        (**self).leaps()
    }

    fn leap(&mut self, leap: &Leap) -> Result<Option<LeapDifference>, EngineError> {
        (**self).leap(leap)
    }
}

impl Recorder {
    fn new(sink: Sink, path: &Path, window: Window, period_ps: u64) -> anyhow::Result<Recorder> {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let file = Staged::new(path, &format!(".{extension}"))?;
        Ok(Recorder {
            sink,
            window,
            period_ps,
            ports: 1,
            cycle: 0,
            opened: false,
            file,
            path: path.into(),
        })
    }

    /// Records with Verilator: every signal of the design.
    ///
    /// # Errors
    /// If the model was built without waveforms, the design fails in reset, or the folder
    /// of `path` cannot be written.
    pub fn verilator(
        model: &Compiled,
        path: &Path,
        window: Window,
        period_ps: u64,
    ) -> anyhow::Result<Recorder> {
        let tracer = model
            .tracer()?
            .ok_or_else(|| anyhow::anyhow!("this model was built without waveforms"))?;
        Recorder::new(Sink::Verilator(tracer), path, window, period_ps)
    }

    /// Records the pins of a native simulation that was just built, as VCD.
    ///
    /// # Errors
    /// If `path` does not end in `.vcd`, its folder cannot be written, or the simulation
    /// lacks a pin.
    pub fn native(
        simulation: Box<dyn ByName + Send>,
        plan: &PortPlan,
        path: &Path,
        window: Window,
        period_ps: u64,
    ) -> anyhow::Result<Recorder> {
        anyhow::ensure!(
            format_of(path)? == WaveFormat::Vcd,
            "{}: the native engine writes VCD only: give a name that ends in .vcd",
            path.display()
        );
        let trace = NativeTrace::new(simulation, plan)?;
        Recorder::new(Sink::Native(Box::new(trace)), path, window, period_ps)
    }

    /// The same of a model whose runs come in groups, one for each of so many ports.
    #[must_use]
    pub fn of_switch(mut self, ports: usize) -> Recorder {
        self.ports = ports;
        self
    }

    /// Whether the window is complete: further runs are not looked at.
    pub fn is_complete(&self) -> bool {
        self.cycle >= self.window.end
    }

    /// Clocks the runs that follow.
    ///
    /// # Errors
    /// If the design or the file fails.
    pub fn feed(&mut self, runs: &[Run]) -> anyhow::Result<()> {
        for group in runs.chunks(self.ports) {
            let mut rest = group[0].cycles;
            while rest > 0 && !self.is_complete() {
                let border = if self.cycle < self.window.first {
                    self.window.first
                } else {
                    if !self.opened {
                        self.open()?;
                    }
                    self.window.end
                };
                let part = rest.min(border - self.cycle);
                let pieces: Vec<Run> = group.iter().map(|run| run.with_cycles(part)).collect();
                let run = match &mut self.sink {
                    Sink::Verilator(tracer) => tracer.run(&pieces).map_err(message),
                    Sink::Native(trace) => {
                        let run = trace.run(&pieces[0], self.cycle, self.period_ps);
                        run.map_err(message)
                    }
                };
                run.map_err(|problem| left_nothing(&self.path, &problem))?;
                self.cycle += part;
                rest -= part;
            }
        }
        Ok(())
    }

    fn open(&mut self) -> anyhow::Result<()> {
        let file = self.file.temporary();
        let opened = match &mut self.sink {
            Sink::Verilator(tracer) => tracer.open(file, self.period_ps).map_err(message),
            Sink::Native(trace) => trace.open(file).map_err(message),
        };
        opened.map_err(|problem| left_nothing(&self.path, &problem))?;
        self.opened = true;
        Ok(())
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// If the run ended before the window began, or the file cannot be written.
    pub fn finish(mut self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.opened,
            "the run ended after {} cycles, before the window of the waveform (from cycle {})",
            self.cycle,
            self.window.first
        );
        let closed = match &mut self.sink {
            Sink::Verilator(tracer) => tracer.close().map_err(message),
            Sink::Native(trace) => trace.close(self.cycle, self.period_ps).map_err(message),
        };
        closed.map_err(|problem| left_nothing(&self.path, &problem))?;
        // The file may be another one of the same name by now.
        self.file.opened_anew()?;
        Ok(self.file.take_place()?)
    }
}

/// One traced signal and the value last written.
struct Signal {
    id: vcd::IdCode,
    width: u32,
    last: Option<u64>,
}

/// A native simulation and the VCD of its pins.
struct NativeTrace {
    simulation: Box<dyn ByName + Send>,
    pins: Pins,
    writer: Option<vcd::Writer<BufWriter<std::fs::File>>>,
    signals: Vec<Signal>,
}

impl NativeTrace {
    fn new(mut simulation: Box<dyn ByName + Send>, plan: &PortPlan) -> anyhow::Result<NativeTrace> {
        let pins = Pins::of(plan);
        for pin in &pins.inputs {
            simulation.set(pin.name, u128::from(pin.name == "rst"))?;
        }
        simulation.clock()?;
        simulation.clock()?;
        Ok(NativeTrace {
            simulation,
            pins,
            writer: None,
            signals: Vec::new(),
        })
    }

    fn open(&mut self, path: &Path) -> anyhow::Result<()> {
        let mut writer = vcd::Writer::new(BufWriter::new(std::fs::File::create(path)?));
        writer.timescale(1, vcd::TimescaleUnit::PS)?;
        writer.add_module("port")?;
        let own = [("clk", 1), ("cycle", 64), ("mismatch", 1)].map(|pin| (pin.0.to_owned(), pin.1));
        let inputs = self.pins.inputs.iter();
        let outputs = self.pins.outputs.iter();
        let names = own
            .into_iter()
            .chain(inputs.map(|pin| (pin.name.to_owned(), pin.width)))
            .chain(outputs.clone().map(|pin| (pin.name.to_owned(), pin.width)))
            .chain(outputs.map(|pin| (format!("golden_{}", pin.name), pin.width)));
        for (name, width) in names {
            self.signals.push(Signal {
                id: writer.add_wire(width, &name)?,
                width,
                last: None,
            });
        }
        writer.upscope()?;
        writer.enddefinitions()?;
        self.writer = Some(writer);
        Ok(())
    }

    fn run(&mut self, run: &Run, first_cycle: u64, period_ps: u64) -> anyhow::Result<()> {
        for pin in &self.pins.inputs {
            self.simulation
                .set(pin.name, run.inputs.value(pin).into())?;
        }
        for cycle in first_cycle..first_cycle + run.cycles {
            if let Some(writer) = &mut self.writer {
                let mut values = vec![1, cycle, 0];
                values.extend(self.pins.inputs.iter().map(|pin| run.inputs.value(pin)));
                let mut differs = false;
                for pin in &self.pins.outputs {
                    let value = u64::try_from(self.simulation.get(pin.name)?)?;
                    differs |= value != run.expected(pin.pin);
                    values.push(value);
                }
                values[2] = u64::from(differs);
                values.extend(self.pins.outputs.iter().map(|pin| run.expected(pin.pin)));
                writer.timestamp(cycle * period_ps)?;
                for (signal, value) in self.signals.iter_mut().zip(values) {
                    change(writer, signal, value)?;
                }
                writer.timestamp(cycle * period_ps + period_ps / 2)?;
                change(writer, &mut self.signals[0], 0)?;
            }
            self.simulation.clock()?;
        }
        Ok(())
    }

    fn close(&mut self, cycle: u64, period_ps: u64) -> anyhow::Result<()> {
        if let Some(mut writer) = self.writer.take() {
            writer.timestamp(cycle * period_ps)?;
            writer.flush()?;
        }
        Ok(())
    }
}

fn change(
    writer: &mut vcd::Writer<BufWriter<std::fs::File>>,
    signal: &mut Signal,
    value: u64,
) -> anyhow::Result<()> {
    if signal.last == Some(value) {
        return Ok(());
    }
    signal.last = Some(value);
    let bits = (0..signal.width)
        .rev()
        .map(|bit| vcd::Value::from(value >> bit & 1 == 1));
    if signal.width == 1 {
        writer.change_scalar(signal.id, value & 1 == 1)?;
    } else {
        writer.change_vector(signal.id, bits)?;
    }
    Ok(())
}
