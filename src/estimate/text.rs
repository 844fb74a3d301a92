//! The estimate as tables for a reader.

use std::fmt;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};

use super::{Estimate, Size};
use crate::hdl::census::Storage;

fn table<const N: usize>(header: [&str; N], right: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED).set_header(header);
    for index in right {
        if let Some(column) = table.column_mut(*index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Port controller {}", self.configuration_sha256)?;
        writeln!(
            f,
            "policy {}, sleep {}, histogram {}",
            self.policy, self.sleep, self.histogram_kind
        )?;
        if let Some(reason) = &self.no_hardware {
            writeln!(f, "No hardware: {reason}")?;
        }

        writeln!(
            f,
            "\nLongest time by register width and resolution (p000 Table 5)"
        )?;
        let mut times = table(["width", "1 ns", "10 ns", "100 ns", "1 μs"], &[1, 2, 3, 4]);
        for (width, cells) in &self.table5_printed.rows {
            let mut row = vec![format!("{width} bits")];
            row.extend(cells.iter().cloned());
            times.add_row(row);
        }
        writeln!(f, "{times}")?;
        writeln!(
            f,
            "This configuration: {} bits of {} ns hold {} s",
            self.max_time.width_bits, self.max_time.resolution_ns, self.max_time.exact_seconds
        )?;

        writeln!(f, "\nWidths")?;
        let mut widths = table(["register or value", "bits", "because of"], &[1]);
        for register in &self.registers {
            widths.add_row([
                register.name.to_string(),
                register.bits.to_string(),
                register.reason.clone(),
            ]);
        }
        writeln!(f, "{widths}")?;

        let memory = &self.memory;
        writeln!(
            f,
            "\nMemory of a port (p000 3.3) for w_counter = {} bits, n_bins = {}, \
             h_maxN = {}, s_elem = {} bits, n_R = {}",
            memory.w_counter_bits, memory.n_bins, memory.h_max_n, memory.s_elem_bits, memory.n_r
        )?;
        let mut sizes = table(["what", "formula", "bits", "bytes"], &[2, 3]);
        let mut add = |what: &str, formula: &str, size: Size| {
            let chosen = if what == self.histogram_kind {
                format!("{what} (chosen)")
            } else {
                what.to_string()
            };
            sizes.add_row([
                chosen,
                formula.into(),
                size.bits.to_string(),
                size.bytes.to_string(),
            ]);
        };
        add("regular", "w_counter * n_bins", memory.clearing);
        add("clearing", "w_counter * n_bins", memory.clearing);
        add(
            "populated bins",
            "w_counter * min(n_bins, h_maxN)",
            memory.populated_bins,
        );
        add("map", "(w_counter + index) * map_entries", memory.map);
        add(
            "circular",
            "w_counter * n_bins + s_elem * h_maxN",
            memory.circular,
        );
        add(
            "miss history",
            "n_R bits + n_R logarithms",
            memory.correction,
        );
        add(
            "circular, 20000 samples",
            "h_maxN * (w_counter + s_elem)",
            memory.circular_20000_samples,
        );
        writeln!(f, "{sizes}")?;

        if let Some(census) = &self.census {
            writeln!(f, "\nCensus of the elaborated hardware")?;
            let mut entries = table(
                ["block", "name", "holds", "words", "width", "bits"],
                &[3, 4, 5],
            );
            for entry in &census.entries {
                let holds = match entry.storage {
                    Storage::Register => "register",
                    Storage::Memory => "memory",
                    Storage::MemoryOutput => "memory output",
                };
                entries.add_row([
                    &entry.block,
                    &entry.name,
                    holds,
                    &entry.depth.to_string(),
                    &entry.width.to_string(),
                    &entry.bits.to_string(),
                ]);
            }
            writeln!(f, "{entries}")?;
            writeln!(
                f,
                "{} register bits, {} memory bits, {} bits in output registers of memories",
                census.register_bits, census.memory_bits, census.memory_output_bits
            )?;
            writeln!(
                f,
                "The memories hold more than w_counter * n_bins: each group of bins has a sum and\n\
                 a bit per bin that says whether its counter counts (docs/controller.md). A counter\n\
                 is as wide as w_counter, or as h_maxN needs if that is less."
            )?;
        }
        if let Some(latency) = &self.latency {
            writeln!(
                f,
                "\nA new threshold stands {} clock cycles after the end of an idle period at the\n\
                 latest; with an idle period every third cycle, a new one comes at least every {}.",
                latency.update_cycles, latency.update_interval_at_line_rate_cycles
            )?;
        }
        Ok(())
    }
}
