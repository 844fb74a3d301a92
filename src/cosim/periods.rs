//! Activity from a file of busy and idle periods.

use std::path::Path;

use super::{Activity, Stretch};
use crate::blocks::port::pins::{Inputs, PackedOutputs};
use crate::periods::{self, Length, PeriodsError};

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
    /// Reads a list of periods in ticks of `clocks_per_tick` clock cycles of `period_ps`.
    ///
    /// # Errors
    /// If the file cannot be read, is no such list, or lasts more than 2^64 clock cycles.
    pub fn read(
        path: &Path,
        clocks_per_tick: u64,
        period_ps: u64,
    ) -> Result<Periods, PeriodsError> {
        let mut list = periods::Periods::open(path)?;
        // The cycle that ends the last idle period.
        let mut length = Length::new(clocks_per_tick, period_ps, 1);
        let mut periods = Vec::new();
        while let Some(period) = list.next().transpose()? {
            length.add(period, &list)?;
            periods.push((period.busy * clocks_per_tick, period.idle * clocks_per_tick));
        }
        Ok(Periods {
            periods,
            next: 0,
            part: Part::First,
        })
    }

    /// Cycles of the whole file, the one that ends the last idle period included.
    pub fn cycles(&self) -> u64 {
        self.periods
            .iter()
            .fold(1, |sum, (busy, idle)| sum + busy + idle)
    }
}

impl Activity for Periods {
    fn next(&mut self, _outputs: &PackedOutputs) -> Option<Stretch> {
        let busy = |first: bool| Inputs {
            packet_valid: first,
            packet_hops: if first { 2 } else { 0 },
            ..Inputs::sending()
        };
        let stretch = |inputs, cycles| Some(Stretch::hold(inputs, cycles));
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
                    return stretch(Inputs::quiet(), idle_cycles);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::port::pins::Outputs;

    fn read(text: &[u8], clocks_per_tick: u64) -> Result<Periods, PeriodsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("periods.csv");
        std::fs::write(&path, text).unwrap();
        Periods::read(&path, clocks_per_tick, 1000)
    }

    #[test]
    fn periods_become_stretches() {
        let mut periods = read(b"busy,idle\n1,3\n2,5\n", 10).unwrap();
        assert_eq!(periods.cycles(), 111);
        let mut seen = Vec::new();
        while let Some(stretch) = periods.next(&Outputs::default().pack()) {
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
    fn more_cycles_than_can_be_counted_are_refused() {
        let text = b"busy,idle\n1,2\n1,9000000000000000000\n1,9000000000000000000\n";
        assert!(read(text, 1).is_ok());
        for clocks_per_tick in [2, 10] {
            let error = read(text, clocks_per_tick).err().expect("an error");
            let line = if clocks_per_tick == 2 { 4 } else { 3 };
            let line = format!("periods.csv:{line}: with this period");
            assert!(error.to_string().contains(&line), "{error}");
        }
    }
}
