//! The estimate as tables for a reader.

use std::fmt;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use super::{Account, Difference, Estimate, Size};
use crate::hdl::census::Storage;

/// Width of the table whose last column is prose.
const COMPARISON_COLUMNS: u16 = 120;

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

fn hardware_bits(account: &Account) -> String {
    match account.hardware_bits {
        Some(bits) => bits.to_string(),
        None => "none yet".into(),
    }
}

/// Accounts of one kind side by side, a row for everything that any of them has.
fn comparison(accounts: &[&Account], header: Vec<String>) -> Table {
    let mut table = Table::new();
    table
        .load_preset(UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(COMPARISON_COLUMNS)
        .set_header(header);
    for index in 1..=accounts.len() {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let row = |what: &str, bits: &dyn Fn(&Account) -> String, because: &str| {
        let mut row = vec![what.to_string()];
        row.extend(accounts.iter().map(|account| bits(account)));
        row.push(because.into());
        row
    };
    let formula = &accounts[accounts.len() - 1].formula;
    table.add_row(row(
        "formula",
        &|account| account.formula_bits.to_string(),
        formula,
    ));
    // The last account that has it says why: the configuration's own before p000's.
    let mut names: Vec<&Difference> = Vec::new();
    for difference in accounts.iter().rev().flat_map(|a| &a.differences) {
        if names.iter().all(|known| known.name != difference.name) {
            names.push(difference);
        }
    }
    for difference in names {
        let bits = |account: &Account| {
            let mut own = account.differences.iter();
            match own.find(|own| own.name == difference.name) {
                Some(own) => format!("{:+}", own.bits),
                None => String::new(),
            }
        };
        table.add_row(row(&difference.name, &bits, &difference.because));
    }
    table.add_row(row("hardware", &hardware_bits, ""));
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
        }

        writeln!(
            f,
            "\nHistograms with the settings of p000: 200 bins (Figure 1), times of 32 bits of 1 ns\n\
             (3.3), h_maxN = 250 (4.5.2) or 20000 (3.3); w_counter is as many bytes as h_maxN needs"
        )?;
        let mut sizes = table(
            ["kind", "h_maxN", "formula", "bits", "hardware bits"],
            &[1, 3, 4],
        );
        for account in &self.p000_histograms {
            sizes.add_row([
                account.kind.to_string(),
                account.h_max_n.to_string(),
                account.formula.clone(),
                account.formula_bits.to_string(),
                hardware_bits(account),
            ]);
        }
        writeln!(f, "{sizes}")?;

        if let Some(account) = &self.histogram {
            let of_p000 = self.p000_histograms.iter();
            let accounts: Vec<&Account> = of_p000
                .filter(|other| other.kind == account.kind)
                .chain([account])
                .collect();
            writeln!(
                f,
                "\nFrom the formula to the hardware, in bits: histogram {}",
                account.kind
            )?;
            let mut columns = vec!["what".to_string()];
            columns.extend(
                accounts[..accounts.len() - 1]
                    .iter()
                    .map(|p000| format!("p000, {} samples", p000.h_max_n)),
            );
            columns.extend(["this configuration".into(), "because".into()]);
            writeln!(f, "{}", comparison(&accounts, columns))?;
        }
        if let Some(latency) = &self.latency {
            writeln!(
                f,
                "\nA new threshold stands {} clock cycles after the end of an idle period at the\n\
                 latest; with an idle period every third cycle, a new one comes at least every {}.",
                latency.update_cycles, latency.update_interval_at_line_rate_cycles
            )?;
            if latency.halving_delay_cycles > 0 {
                writeln!(
                    f,
                    "One before which the counters are halved takes up to {} clock cycles more.",
                    latency.halving_delay_cycles
                )?;
            }
        }
        if let Some(accuracy) = &self.accuracy {
            writeln!(
                f,
                "A corrected threshold is within {:.2e} (2^{:.2}) in proportion, and {} tick, of the\n\
                 real-number result of the same misses and thresholds.",
                accuracy.relative,
                accuracy.relative.log2(),
                accuracy.ticks
            )?;
        }
        if let Some(wait) = &self.wait {
            writeln!(
                f,
                "\nA packet waits for its link for at most {} clock cycles if the other end answers\n\
                 at once ({} over a round trip of 100 cycles), for at most {} whatever the other\n\
                 end does; after reset, for {}.\n\
                 The time-out allows a delay of {} cycles one way, PHYs included; that is a cable of\n\
                 {:.1} m (5 ns/m) if there is nothing else.",
                wait.answered_cycles,
                wait.round_trip_100_cycles,
                wait.unanswered_cycles,
                wait.start_cycles,
                wait.longest_delay_cycles,
                wait.longest_cable_m
            )?;
        }
        if let Some(cycles) = self.wait_with_levels_cycles {
            writeln!(
                f,
                "\nA packet waits for its link for at most {cycles} clock cycles, one transition down\n\
                 and one up, unless the pin remote_down takes the link down again."
            )?;
        }
        if let Some(sleep) = &self.time_to_sleep {
            writeln!(
                f,
                "\nA link whose two ends stay idle leaves WAKE within {} clock cycles; the longest\n\
                 timer has {} of them. One end alone leaves it, or knows that the other end is\n\
                 silent, within {}.",
                sleep.link_cycles, sleep.timer_cycles, sleep.end_cycles
            )?;
        }
        if let Some(guard) = &self.guard {
            writeln!(
                f,
                "\nIn any time T packets of this end wait for at most {} wake-ups and one more for each\n\
                 {:.0} ns of T (guard): of {} ns each, together {} ns and {:.4} % of T.",
                guard.burst,
                guard.token_ns,
                guard.t_w_ns,
                guard.burst_wait_ns,
                guard.share * 100.0
            )?;
        }
        if !self.notes.is_empty() {
            writeln!(f, "\nNotes")?;
        }
        for note in &self.notes {
            writeln!(f, "- {note}")?;
        }
        Ok(())
    }
}
