//! Activity from a file of busy and idle periods.

use std::path::Path;

use super::{Activity, Stretch};
use crate::blocks::port::pins::{Inputs, Outputs};

/// A file of periods is not what it should be.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct PeriodsError {
    pub file: String,
    /// From 1, the header is line 1.
    pub line: u64,
    pub problem: String,
}

/// Busy and idle periods, one after the other, driven open loop: the port is said to hold
/// and to send packets for the whole of a busy period, whatever its link does, and its
/// remote end always permits to sleep. One packet of 2 hops per busy period.
#[derive(Clone)]
pub struct Periods {
    /// Busy and idle cycles.
    periods: Vec<(u64, u64)>,
    next: usize,
    part: Part,
}

#[derive(Clone, Copy)]
enum Part {
    First,
    Busy,
    Idle,
}

impl Periods {
    /// Reads a CSV with the header `busy,idle`; both in ticks of `clocks_per_tick` clock
    /// cycles, each at least 1.
    ///
    /// # Errors
    /// If the file cannot be read or a line is not two such numbers.
    pub fn read(path: &Path, clocks_per_tick: u64) -> Result<Periods, PeriodsError> {
        let failed = |line: u64, problem: String| PeriodsError {
            file: path.display().to_string(),
            line,
            problem,
        };
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(true)
            .flexible(true)
            .from_path(path)
            .map_err(|error| failed(1, format!("cannot read: {error}")))?;
        let csv_failed = |error: csv::Error| {
            let line = error.position().map_or(1, csv::Position::line);
            failed(line, error.to_string())
        };
        let header = reader.headers().map_err(csv_failed)?;
        if header.iter().ne(["busy", "idle"]) {
            let found: Vec<&str> = header.iter().collect();
            return Err(failed(
                1,
                format!("the header is `{}` instead of `busy,idle`", found.join(",")),
            ));
        }
        let mut periods = Vec::new();
        for record in reader.records() {
            let record = record.map_err(csv_failed)?;
            let line = record.position().map_or(1, csv::Position::line);
            if record.len() != 2 {
                let problem = format!("{} fields instead of 2 (busy,idle)", record.len());
                return Err(failed(line, problem));
            }
            let mut cycles = [0; 2];
            for (cycles, (name, field)) in cycles
                .iter_mut()
                .zip(["busy", "idle"].iter().zip(record.iter()))
            {
                let most = u64::MAX / clocks_per_tick / 4;
                *cycles = match field.trim().parse::<u64>() {
                    Ok(ticks) if (1..=most).contains(&ticks) => ticks * clocks_per_tick,
                    _ => {
                        return Err(failed(
                            line,
                            format!("{name} is `{field}` instead of a whole number of ticks from 1 to {most}"),
                        ))
                    }
                };
            }
            periods.push((cycles[0], cycles[1]));
        }
        if periods.is_empty() {
            return Err(failed(1, "no periods follow the header".to_owned()));
        }
        Ok(Periods {
            periods,
            next: 0,
            part: Part::First,
        })
    }

    /// Cycles of the whole file, the one that ends the last idle period included;
    /// saturates.
    pub fn cycles(&self) -> u64 {
        self.periods
            .iter()
            .fold(1, |sum: u64, (busy, idle)| sum.saturating_add(busy + idle))
    }
}

impl Activity for Periods {
    fn next(&mut self, _outputs: &Outputs) -> Option<Stretch> {
        let busy = |first: bool| Inputs {
            queue_nonempty: true,
            transmitting: true,
            sleep_permit: true,
            packet_valid: first,
            packet_hops: if first { 2 } else { 0 },
            ..Inputs::default()
        };
        let stretch = |inputs, cycles| {
            Some(Stretch {
                inputs,
                cycles,
                until_change: false,
            })
        };
        loop {
            let Some(&(busy_cycles, idle_cycles)) = self.periods.get(self.next) else {
                // The cycle that ends the last idle period, so that it is recorded.
                let last = self.next == self.periods.len();
                self.next = self.periods.len() + 1;
                return if last { stretch(busy(true), 1) } else { None };
            };
            match self.part {
                Part::First => {
                    self.part = Part::Busy;
                    return stretch(busy(true), 1);
                }
                Part::Busy => {
                    self.part = Part::Idle;
                    if busy_cycles > 1 {
                        return stretch(busy(false), busy_cycles - 1);
                    }
                }
                Part::Idle => {
                    self.part = Part::First;
                    self.next += 1;
                    let idle = Inputs {
                        sleep_permit: true,
                        ..Inputs::default()
                    };
                    return stretch(idle, idle_cycles);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], clocks_per_tick: u64) -> Result<Periods, PeriodsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("periods.csv");
        std::fs::write(&path, text).unwrap();
        Periods::read(&path, clocks_per_tick)
    }

    #[test]
    fn periods_become_stretches() {
        let mut periods = read(b"busy,idle\n1,3\n2,5\n", 10).unwrap();
        assert_eq!(periods.cycles(), 111);
        let mut seen = Vec::new();
        while let Some(stretch) = periods.next(&Outputs::default()) {
            seen.push((
                stretch.inputs.active(),
                stretch.inputs.packet_valid,
                stretch.cycles,
            ));
        }
        assert_eq!(
            seen,
            [
                (true, true, 1),
                (true, false, 9),
                (false, false, 30),
                (true, true, 1),
                (true, false, 19),
                (false, false, 50),
                (true, true, 1)
            ]
        );
    }

    #[test]
    fn broken_files_are_refused_with_their_line() {
        for (text, line, part) in [
            (&b"idle,busy\n1,2\n"[..], 1, "instead of `busy,idle`"),
            (b"", 1, "instead of `busy,idle`"),
            (b"busy,idle\n", 1, "no periods"),
            (b"busy,idle\n1,2\n1,-3\n", 3, "idle is `-3`"),
            (b"busy,idle\n0,2\n", 2, "busy is `0`"),
            (b"busy,idle\n1,2,3\n", 2, "3 fields"),
            (b"busy,idle\n1,2\n5\n", 3, "1 fields"),
            (b"busy,idle\n1,2us\n", 2, "`2us`"),
            (b"busy,idle\n1,\xff\n", 2, "UTF-8"),
            (
                b"busy,idle\n1,99999999999999999999\n",
                2,
                "instead of a whole number",
            ),
        ] {
            let error = read(text, 1).err().expect("an error");
            assert_eq!(error.line, line, "{error}");
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
