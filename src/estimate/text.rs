//! The estimate as tables for a reader.

use std::fmt;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};

use super::{CensusKind, Estimate, Size};

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
            let mut entries = table(["block", "name", "kind", "bits"], &[3]);
            for entry in census {
                let kind = match entry.kind {
                    CensusKind::Register => "register",
                    CensusKind::Memory => "memory",
                };
                entries.add_row([&entry.block, &entry.name, kind, &entry.bits.to_string()]);
            }
            writeln!(f, "{entries}")?;
            let total = |kind| -> u64 {
                let of_kind = census.iter().filter(|entry| entry.kind == kind);
                of_kind.map(|entry| entry.bits).sum()
            };
            writeln!(
                f,
                "{} register bits, {} memory bits",
                total(CensusKind::Register),
                total(CensusKind::Memory)
            )?;
        }
        Ok(())
    }
}
