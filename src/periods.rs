//! Lists of idle periods: CSV with the header `busy,idle`, in ticks.

use std::io::Read;
use std::path::{Path, PathBuf};

use csv::{ErrorKind, Position, ReaderBuilder, StringRecord};

use crate::files::{self, FileError};

/// Longest line that is read, in bytes; a line of two numbers has some forty. A file without
/// line ends must not fill the memory.
const LONGEST_LINE: usize = 4096;

/// Passes bytes on until a line is too long.
struct Lines<R> {
    inner: R,
    /// Bytes since the last line end.
    length: usize,
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        for byte in &buffer[..count] {
            self.length = if *byte == b'\n' { 0 } else { self.length + 1 };
            if self.length > LONGEST_LINE {
                return Err(std::io::Error::new(
                    std::io::ErrorKind::InvalidData,
                    format!(
                        "a line is longer than {LONGEST_LINE} bytes: this is no list of periods"
                    ),
                ));
            }
        }
        Ok(count)
    }
}

/// An active part and the idle period that follows it, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Length of the active part in ticks.
    pub busy: u64,
    /// Length of the idle period in ticks.
    pub idle: u64,
}

/// A list of periods cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PeriodsError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The first line is not the header.
    #[error("{path}:1: the first line must be \"busy,idle\" (ticks), not \"{found}\"", path = path.display())]
    Header {
        /// The list's file.
        path: PathBuf,
        /// The line that stands there.
        found: String,
    },
    /// A line is not a period.
    #[error("{path}:{line}: {problem}; a line is two whole numbers of ticks, such as 120,4500", path = path.display())]
    Line {
        /// The list's file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// The periods up to a line last longer than clock cycles can be counted.
    #[error(
        "{path}:{line}: with this period the list lasts almost 2^64 clock cycles of {period_ps} ps \
         or more, which nothing counts: shorten it, or begin a second list here",
        path = path.display()
    )]
    TooLong {
        /// The list's file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Clock period in picoseconds.
        period_ps: u64,
    },
    /// Nothing follows the header.
    #[error("{path}: no periods after the header: the file is cut off, or empty", path = path.display())]
    Empty {
        /// The list's file.
        path: PathBuf,
    },
}

/// How long a list of periods is so far, in clock cycles.
pub struct Length {
    cycles: u64,
    clocks_per_tick: u64,
    period_ps: u64,
    reserve: u64,
}

impl Length {
    /// Of a list without periods, in ticks of `clocks_per_tick` cycles of `period_ps`; `reserve` cycles
    /// come after the last period.
    pub fn new(clocks_per_tick: u64, period_ps: u64, reserve: u64) -> Length {
        Length {
            cycles: 0,
            clocks_per_tick,
            period_ps,
            reserve,
        }
    }

    /// Adds the period that was read last from `periods`.
    ///
    /// # Errors
    /// If the list with this period and the reserve lasts more than 2^64 cycles.
    pub fn add(&mut self, period: Period, periods: &Periods) -> Result<(), PeriodsError> {
        let ticks = period.busy.checked_add(period.idle);
        let cycles = ticks.and_then(|ticks| ticks.checked_mul(self.clocks_per_tick));
        self.cycles = cycles
            .and_then(|cycles| cycles.checked_add(self.cycles))
            .filter(|cycles| cycles.checked_add(self.reserve).is_some())
            .ok_or_else(|| periods.too_long(self.period_ps))?;
        Ok(())
    }

    /// Cycles of all periods, without the reserve.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }
}

/// Reads a list of periods line by line.
pub struct Periods {
    path: PathBuf,
    reader: csv::Reader<Lines<Box<dyn Read>>>,
    record: StringRecord,
    any: bool,
}

impl Periods {
    /// Opens a list. Both parts of a period last at least a tick: what is shorter, a count
    /// of ticks cannot say.
    ///
    /// # Errors
    /// If the file cannot be read or does not begin with the header.
    pub fn open(path: &Path) -> Result<Periods, PeriodsError> {
        let read_error = |source| FileError::Read {
            path: path.into(),
            source,
        };
        let file = files::open(path).map_err(read_error)?;
        let mut periods = Periods {
            path: path.into(),
            reader: ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                // A quotation mark that is never closed would take the rest of the file.
                .quoting(false)
                .from_reader(Lines {
                    inner: file,
                    length: 0,
                }),
            record: StringRecord::new(),
            any: false,
        };
        let header = periods.read()?;
        if !header || !periods.record.iter().map(unquoted).eq(["busy", "idle"]) {
            let found: Vec<&str> = periods.record.iter().collect();
            return Err(PeriodsError::Header {
                path: path.into(),
                found: found.join(",").chars().take(60).collect(),
            });
        }
        Ok(periods)
    }

    fn read(&mut self) -> Result<bool, PeriodsError> {
        self.reader.read_record(&mut self.record).map_err(|error| {
            let position = error.position().map_or(1, Position::line);
            match error.into_kind() {
                ErrorKind::Io(source) => PeriodsError::File(FileError::Read {
                    path: self.path.clone(),
                    source,
                }),
                ErrorKind::Utf8 { .. } => self.fault(position, "not UTF-8".into()),
                other => self.fault(position, format!("not CSV: {other:?}")),
            }
        })
    }

    /// The fault of the line that was read last: with it the list lasts too long, at a clock
    /// period of `period_ps`.
    fn too_long(&self, period_ps: u64) -> PeriodsError {
        PeriodsError::TooLong {
            path: self.path.clone(),
            line: self.record.position().map_or(0, Position::line),
            period_ps,
        }
    }

    fn fault(&self, line: u64, problem: String) -> PeriodsError {
        PeriodsError::Line {
            path: self.path.clone(),
            line,
            problem,
        }
    }

    fn period(&self) -> Result<Period, PeriodsError> {
        let line = self.record.position().map_or(0, Position::line);
        if self.record.len() != 2 {
            let problem = format!("{} fields instead of 2", self.record.len());
            return Err(self.fault(line, problem));
        }
        let ticks = |name: &str, field: &str| {
            let shown: String = field.chars().take(40).collect();
            match unquoted(field).parse::<u64>() {
                Ok(ticks) if ticks >= 1 => Ok(ticks),
                _ => Err(self.fault(
                    line,
                    format!(
                        "{name} = \"{shown}\" must be a whole number from 1 to {}",
                        u64::MAX
                    ),
                )),
            }
        };
        Ok(Period {
            busy: ticks("busy", &self.record[0])?,
            idle: ticks("idle", &self.record[1])?,
        })
    }
}

/// A field without the quotation marks that some programs write around each.
fn unquoted(field: &str) -> &str {
    let inner = field.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inner.unwrap_or(field)
}

impl Iterator for Periods {
    type Item = Result<Period, PeriodsError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.read() {
            Err(error) => Some(Err(error)),
            Ok(true) => {
                self.any = true;
                Some(self.period())
            }
            Ok(false) if self.any => None,
            Ok(false) => {
                // Said once: a list that ends without a period.
                self.any = true;
                Some(Err(PeriodsError::Empty {
                    path: self.path.clone(),
                }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Vec<Period>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Periods::open(file.path())
            .and_then(|periods| periods.collect())
            .map_err(|error| {
                let path = file.path().display().to_string();
                error.to_string().replace(&path, "p.csv")
            })
    }

    #[test]
    fn reads_periods() {
        let period = |busy, idle| Period { busy, idle };
        assert_eq!(
            read(b"busy,idle\n3,4\r\n5,18446744073709551615\n").unwrap(),
            [period(3, 4), period(5, u64::MAX)]
        );
        assert_eq!(read(b"busy,idle\n1,2").unwrap(), [period(1, 2)]);
        let quoted = b"\"busy\",\"idle\"\n\"1\",2\n";
        assert_eq!(read(quoted).unwrap(), [period(1, 2)]);
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let message = |error: PeriodsError| error.to_string();
        let error = Periods::open(Path::new("/dev/zero")).map(drop);
        assert!(message(error.unwrap_err()).contains("longer than 4096 bytes"));
        let long = [b"busy,idle\n1,2\n3,".as_slice(), &[b'1'; 5000]].concat();
        assert!(read(&long).unwrap_err().contains("longer than 4096 bytes"));
    }

    #[test]
    fn faults_name_the_line() {
        let cases: [(&[u8], &str); 11] = [
            // What a quotation mark opens ends with the line.
            (
                b"busy,idle\n1,\"2\n3,4\n",
                "p.csv:2: idle = \"\"2\" must be a whole number",
            ),
            (b"", "p.csv:1: the first line must be \"busy,idle\""),
            (b"idle,busy\n1,2\n", "p.csv:1: the first line"),
            (b"busy, idle\n1,2\n", "p.csv:1: the first line"),
            (b"busy,idle\n", "p.csv: no periods"),
            (b"busy,idle\n1,2\n3\n", "p.csv:3: 1 fields instead of 2"),
            (b"busy,idle\n1,2,3\n", "p.csv:2: 3 fields"),
            (
                b"busy,idle\n1,-2\n",
                "p.csv:2: idle = \"-2\" must be a whole number from 1",
            ),
            (b"busy,idle\n1.5,2\n", "p.csv:2: busy = \"1.5\""),
            (b"busy,idle\n1,2\n4,0\n", "p.csv:3: idle = \"0\""),
            (b"busy,idle\n1,\xff\n", "p.csv:2: not UTF-8"),
        ];
        for (text, message) in cases {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
