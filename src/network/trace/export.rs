//! Programs as GOAL text ([`super::goal`] has the grammar).

use std::io::Write;

use super::mpi::Sink;
use super::{Op, OpKind, Program, TooLarge, ANY_OF_USERS};

/// Writes the line before the first rank.
///
/// # Errors
/// If `out` cannot be written.
pub(in crate::network) fn write_head(out: &mut dyn Write, ranks: usize) -> std::io::Result<()> {
    writeln!(out, "num_ranks {ranks}")
}

/// Writes the operations of a rank as they come.
pub(in crate::network) struct Writer<'w> {
    out: &'w mut dyn Write,
    operations: u32,
    /// Of what was written so far.
    result: std::io::Result<()>,
}

impl<'w> Writer<'w> {
    /// Begins a rank.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub(in crate::network) fn new(out: &'w mut dyn Write, rank: u32) -> std::io::Result<Self> {
        writeln!(out, "rank {rank} {{")?;
        Ok(Self {
            out,
            operations: 0,
            result: Ok(()),
        })
    }

    /// Ends the rank.
    ///
    /// # Errors
    /// If anything of it could not be written.
    pub(in crate::network) fn end(&mut self) -> std::io::Result<()> {
        std::mem::replace(&mut self.result, Ok(()))?;
        writeln!(self.out, "}}")
    }

    fn write(&mut self, line: std::fmt::Arguments) {
        if self.result.is_ok() {
            self.result = self.out.write_fmt(line);
        }
    }
}

impl Sink for Writer<'_> {
    fn op(&mut self, op: Op) -> Result<u32, TooLarge> {
        let number = self.operations;
        self.operations = number.checked_add(1).ok_or(TooLarge)?;
        let name = |what, value: u8| match value {
            0 => String::new(),
            _ => format!(" {what} {value}"),
        };
        let (cpu, nic) = (name("cpu", op.cpu), name("nic", op.nic));
        self.write(format_args!("l{number}: {op}{cpu}{nic}\n"));
        Ok(number)
    }

    fn dependency(&mut self, waits: u32, for_op: u32, on_start: bool) -> Result<(), TooLarge> {
        let what = match on_start {
            true => "irequires",
            false => "requires",
        };
        self.write(format_args!("l{waits} {what} l{for_op}\n"));
        Ok(())
    }
}

/// The first operation that GOAL text cannot say: a receive of any tag but those of collectives.
pub fn not_writable(program: &Program) -> Option<Op> {
    let receives = program.ops().iter().filter(|op| op.kind == OpKind::Recv);
    receives.copied().find(|op| op.tag == ANY_OF_USERS)
}

/// Writes a program as GOAL text; [`not_writable`] says what cannot be written.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(program: &Program, out: &mut dyn Write) -> std::io::Result<()> {
    write_head(out, program.ranks())?;
    let large = |TooLarge| std::io::Error::other("too many operations");
    for rank in 0..program.ranks() {
        let mut writer = Writer::new(out, rank as u32)?;
        let ops = program.rank_ops(rank);
        for op in ops.clone() {
            writer.op(program.ops()[op as usize]).map_err(large)?;
        }
        for op in ops.clone() {
            for next in program.successors(op) {
                let (waits, op) = (next.op() - ops.start, op - ops.start);
                writer
                    .dependency(waits, op, next.on_start())
                    .map_err(large)?;
            }
        }
        writer.end()?;
    }
    Ok(())
}
