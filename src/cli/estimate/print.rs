//! The estimate for people: the answers first, tables behind `--all`.

use std::fmt;

use comfy_table::Table;

use crate::cli::output::{figures, table, trimmed, wrapped};
use crate::config::Config;
use crate::estimate::summary::rows;
use crate::estimate::{Account, Difference, Estimate, Size};
use crate::hdl::census::Storage;

/// What a reader wants to know first, in a few lines.
pub(super) fn summary(config: &Config, estimate: &Estimate) -> String {
    let mut text = figures(rows(config, estimate));
    for note in &estimate.notes {
        text += &wrapped(&format!("note: {note}"), 2);
    }
    text
}

fn hardware_bits(account: &Account) -> String {
    match account.hardware_bits {
        Some(bits) => bits.to_string(),
        None => "none yet".into(),
    }
}

/// Accounts of one kind side by side, a row for everything that any of them has.
fn comparison(accounts: &[&Account], header: &[String]) -> Table {
    let mut table = table(header, 1..=accounts.len());
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
    // The last account that has it says why: the configuration's own before the PerfBound paper's.
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

/// Every table, and what the summary has no room for.
pub(super) struct Details<'a>(pub(super) &'a Estimate);

impl fmt::Display for Details<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let estimate = self.0;
        writeln!(f, "Configuration {}", estimate.configuration_sha256)?;
        self.times(f)?;
        self.widths(f)?;
        self.memory(f)?;
        self.census(f)?;
        self.histograms(f)?;
        self.latency(f)?;
        self.waits(f)?;
        self.guard(f)
    }
}

impl Details<'_> {
    /// Longest times by width.
    fn times(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let estimate = self.0;
        writeln!(
            f,
            "\nLongest time by register width and resolution (PerfBound Table 5)"
        )?;
        let mut times = table(&["width", "1 ns", "10 ns", "100 ns", "1 μs"], 1..5);
        for (width, cells) in &estimate.table5_printed.rows {
            let mut row = vec![format!("{width} bits")];
            row.extend(cells.iter().cloned());
            times.add_row(row);
        }
        write!(f, "{}", trimmed(&times))?;
        writeln!(
            f,
            "This configuration: {} bits of {} ns hold {} s",
            estimate.max_time.width_bits,
            estimate.max_time.resolution_ns,
            estimate.max_time.exact_seconds
        )?;
        Ok(())
    }

    /// Widths of registers, and why.
    fn widths(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let estimate = self.0;
        writeln!(f, "\nWidths")?;
        let mut widths = table(&["register or value", "bits", "because of"], [1]);
        for register in &estimate.registers {
            widths.add_row([
                register.name.to_string(),
                register.bits.to_string(),
                register.reason.clone(),
            ]);
        }
        write!(f, "{}", trimmed(&widths))?;
        Ok(())
    }

    /// Memory of a port by the formulas of the PerfBound paper.
    fn memory(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let estimate = self.0;
        let memory = &estimate.memory;
        writeln!(
            f,
            "\nMemory of a port (PerfBound 3.3) for w_counter = {} bits, n_bins = {}, \
             h_maxN = {},\ns_elem = {} bits, n_R = {}",
            memory.w_counter_bits, memory.n_bins, memory.h_max_n, memory.s_elem_bits, memory.n_r
        )?;
        let mut sizes = table(&["what", "formula", "bits", "bytes"], 2..4);
        let mut add = |what: &str, formula: &str, size: Size| {
            let chosen = if what == estimate.histogram_kind && estimate.histogram.is_some() {
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
            "decaying",
            "4 generations * w_counter * n_bins",
            memory.decaying,
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
        write!(f, "{}", trimmed(&sizes))?;
        Ok(())
    }

    /// Registers and memories of the hardware.
    fn census(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let estimate = self.0;
        if let Some(census) = &estimate.census {
            writeln!(f, "\nCensus of the elaborated hardware")?;
            let mut entries = table(&["block", "name", "holds", "words", "width", "bits"], 3..6);
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
            write!(f, "{}", trimmed(&entries))?;
            writeln!(
                f,
                "{} register bits, {} memory bits, {} bits in output registers of memories",
                census.register_bits, census.memory_bits, census.memory_output_bits
            )?;
        }
        Ok(())
    }

    /// Histograms of the PerfBound paper, and the one of the configuration.
    fn histograms(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let estimate = self.0;
        writeln!(
            f,
            "\nHistograms with the settings of the PerfBound paper: 200 bins (Figure 1), times of 32 bits of 1 ns\n\
             (3.3), h_maxN = 250 (4.5.2) or 20000 (3.3); w_counter is as many bytes as h_maxN needs"
        )?;
        let mut sizes = table(
            &["kind", "h_maxN", "formula", "bits", "hardware bits"],
            [1, 3, 4],
        );
        for account in &estimate.perfbound_paper_histograms {
            sizes.add_row([
                account.kind.to_string(),
                account.h_max_n.to_string(),
                account.formula.clone(),
                account.formula_bits.to_string(),
                hardware_bits(account),
            ]);
        }
        write!(f, "{}", trimmed(&sizes))?;

        if let Some(account) = &estimate.histogram {
            let of_the_perfbound_paper = estimate.perfbound_paper_histograms.iter();
            let accounts: Vec<&Account> = of_the_perfbound_paper
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
                    .map(|paper| format!("the PerfBound paper, {} samples", paper.h_max_n)),
            );
            columns.extend(["this configuration".into(), "because".into()]);
            write!(f, "{}", trimmed(&comparison(&accounts, &columns)))?;
        }
        Ok(())
    }

    /// How soon there is a new threshold, and how near it comes.
    fn latency(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let estimate = self.0;
        if let Some(latency) = &estimate.latency {
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
        if let Some(accuracy) = &estimate.accuracy {
            writeln!(
                f,
                "A corrected threshold is within {:.2e} (2^{:.2}) in proportion, and {} tick, of the\n\
                 real-number result of the same misses and thresholds.",
                accuracy.relative,
                accuracy.relative.log2(),
                accuracy.ticks
            )?;
        }
        Ok(())
    }

    /// How long packets wait for the link, and the link for its sleep.
    fn waits(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let estimate = self.0;
        if let Some(wait) = &estimate.wait {
            writeln!(
                f,
                "\nA packet waits for its link for at most {} clock cycles if the other end answers\n\
                 at once{}, for at most {} whatever the other\n\
                 end does; after reset, for {}.\n\
                 The time-out allows a delay of {} cycles one way, PHYs included; that is a cable of\n\
                 {:.1} m (5 ns/m) if there is nothing else.",
                wait.answered_cycles,
                wait.round_trip_100_cycles
                    .map_or(String::new(), |cycles| format!(
                        " ({cycles} over a round trip of 100 cycles)"
                    )),
                wait.unanswered_cycles,
                wait.start_cycles,
                wait.longest_delay_cycles,
                wait.longest_cable_m
            )?;
        }
        if let Some(cycles) = estimate.wait_with_levels_cycles {
            writeln!(
                f,
                "\nA packet waits for its link for at most {cycles} clock cycles, one transition down\n\
                 and one up, unless the pin remote_down takes the link down again."
            )?;
        }
        if let Some(port) = &estimate.ethernet {
            writeln!(
                f,
                "\nA frame waits for mac_tx_enable for at most {} clock cycles: LPI begins up to {} after\n\
                 it is asked for; one transition down and one up take {}. Its first word is sent {}\n\
                 after it came, at most, if the MAC starts it within {} of mac_tx_enable.",
                port.wait_cycles,
                port.mac_latency_cycles,
                port.wait_cycles - u64::from(port.mac_latency_cycles),
                port.wait_to_wire_cycles,
                port.mac_latency_cycles
            )?;
            for wake in &port.wakes {
                writeln!(
                    f,
                    "In {} it waits for mac_tx_enable for {} clock cycles, and until its first\n\
                     word is sent for {} to {}, by how soon the MAC starts it.",
                    wake.state,
                    wake.mac_tx_enable_cycles,
                    wake.to_wire_cycles,
                    wake.to_wire_at_most_cycles
                )?;
            }
            writeln!(
                f,
                "The first word of LPI is sent {} clock cycles after lpi_request rises. Each shim delays\n\
                 every word: by {} to the PHY, by {} to the MAC.",
                port.lpi_begins_cycles, port.transmit_delay_cycles, port.receive_delay_cycles
            )?;
        } else if let Some(cycles) = estimate.wait_with_lpi_cycles {
            writeln!(
                f,
                "\nA packet waits for its direction of the link for at most {cycles} clock cycles, one\n\
                 transition down and one up."
            )?;
        }
        if let Some((sleep, _)) =
            (estimate.time_to_sleep.as_ref()).zip(estimate.wait_with_lpi_cycles)
        {
            writeln!(
                f,
                "\nA direction that stays idle leaves WAKE within {} clock cycles; the longest timer has\n\
                 {} of them.",
                sleep.end_cycles, sleep.timer_cycles
            )?;
        } else if let Some(sleep) = &estimate.time_to_sleep {
            writeln!(
                f,
                "\nA link whose two ends stay idle leaves WAKE within {} clock cycles; the longest\n\
                 timer has {} of them. One end alone leaves it, or knows that the other end is\n\
                 silent, within {}.",
                sleep.link_cycles, sleep.timer_cycles, sleep.end_cycles
            )?;
        }
        Ok(())
    }

    /// What the guard promises.
    fn guard(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let estimate = self.0;
        if let Some(guard) = &estimate.guard {
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
            if guard.adjustable {
                writeln!(
                    f,
                    "Software that changes the bound, the hop factor or t_w changes these figures."
                )?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::mii::Mii;
    use crate::config::PRESETS;
    use crate::hdl::census;
    use crate::rtl;

    fn estimate(text: &str) -> (Config, Estimate) {
        let config = Config::parse(text, "test").unwrap();
        let census = rtl::design(&config)
            .ok()
            .map(|design| census::count(&design));
        let estimate = Estimate::new(&config, census);
        (config, estimate)
    }

    fn summary_of(text: &str) -> String {
        let (config, estimate) = estimate(text);
        summary(&config, &estimate)
    }

    fn details_of(text: &str) -> String {
        Details(&estimate(text).1).to_string()
    }

    #[test]
    fn the_answers_come_first_and_fit_15_lines_of_100_columns() {
        for preset in PRESETS {
            let text = summary_of(preset.text);
            assert!(text.lines().count() <= 15, "{}:\n{text}", preset.name);
            for answer in [
                "registers",
                "memory",
                "new threshold",
                "cycles = ",
                "wait for the link",
                "bound",
            ] {
                assert!(
                    text.contains(answer),
                    "{}: no {answer}:\n{text}",
                    preset.name
                );
            }
            for text in [text, details_of(preset.text)] {
                let wide = text.lines().find(|line| line.chars().count() > 100);
                assert_eq!(wide, None, "{}", preset.name);
            }
        }
    }

    /// So of a port of Ethernet, whose waits are those until its MAC may send.
    #[test]
    fn a_port_of_ethernet_is_told_in_as_many_lines() {
        let mut told = 0;
        for preset in PRESETS {
            let config = Config::parse(preset.text, "test").unwrap();
            if !config.plan().unwrap().per_direction() {
                continue;
            }
            let ethernet = (Mii::Xgmii64, 65_535);
            let (plan, design) = rtl::elaborated_ethernet(&config, ethernet.0, ethernet.1).unwrap();
            let census = census::count(&design);
            let estimate = Estimate::of_ethernet(&config, &plan, census, ethernet);
            let text = summary(&config, &estimate);
            let lines = text.lines().take_while(|line| !line.starts_with("note: "));
            assert!(lines.count() <= 15, "{}:\n{text}", preset.name);
            let port = estimate.ethernet.as_ref().unwrap();
            for answer in [
                "delay of the shims",
                &format!("{} Gb/s; ", port.rate_gbps),
                &format!("at most {} cycles = ", port.wait_cycles),
                &format!("at most {} cycles = ", port.wait_to_wire_cycles),
            ] {
                assert!(text.contains(answer), "{answer}:\n{text}");
            }
            let details = Details(&estimate).to_string();
            assert!(
                details.contains("A frame waits for mac_tx_enable"),
                "{details}"
            );
            assert!(!details.contains("A packet waits for"), "{details}");
            for text in [text, details] {
                let wide = text.lines().find(|line| line.chars().count() > 100);
                assert_eq!(wide, None, "{}", preset.name);
            }
            told += 1;
        }
        assert!(told > 1);
    }

    #[test]
    fn latencies_are_told_in_cycles_and_in_time() {
        let text =
            summary_of("[clock]\nperiod_ps = 1250\ntick_ns = 1.25\n[histogram]\nbin_ns = 1280\n");
        assert!(
            text.contains("at most 40 cycles = 50 ns after an idle period"),
            "{text}"
        );
        assert!(
            text.contains("clock              1.25 ns, tick 1.25 ns"),
            "{text}"
        );
    }

    #[test]
    fn a_bound_that_cannot_be_kept_is_told_in_the_summary() {
        let kept = summary_of("[histogram]\nbin_ns = 32768\nmax_value_ns = 4194304\n");
        assert!(
            kept.contains("1 %: thresholds can be long enough to keep it"),
            "{kept}"
        );
        let short = summary_of("[histogram]\nbins = 128\nbin_ns = 1\nmax_value_ns = 4194304\n");
        assert!(
            short.contains("1 %: CANNOT BE KEPT, see the notes"),
            "{short}"
        );
        assert!(
            short.contains("\nnote: perfbound.bound cannot be kept"),
            "{short}"
        );
        // Without a histogram there is no such bound.
        let fixed = summary_of("[port]\npolicy = \"fixed\"\n");
        assert!(!fixed.contains("bound "), "{fixed}");
        let factor = summary_of("[perfbound]\nhop_factor = 0.5\n");
        assert!(factor.contains("l = 0.5: "), "{factor}");
    }

    #[test]
    fn why_there_is_no_hardware_is_told_in_the_summary() {
        let text = summary_of("[histogram]\nkind = \"map\"\nmap_entries = 1\n");
        assert!(
            text.contains("none: ") && text.contains("2 to 256 entries"),
            "{text}"
        );
        assert!(!text.contains("registers"), "{text}");
    }

    #[test]
    fn waits_and_guards_are_told() {
        let text = summary_of("[port]\nsync = \"levels\"\n");
        assert!(
            text.contains("at most 6480 cycles = 6.48 us unless remote_down ends it"),
            "{text}"
        );
        let text = summary_of("[guard]\nburst = 3\n[perfbound]\nbound = 0.01\nhops = [[2, 1.0]]\n");
        assert!(
            text.contains("at most 3 wake-ups and one more for each 896000 ns"),
            "{text}"
        );
    }

    #[test]
    fn the_details_hold_what_the_summary_has_no_room_for() {
        let text = details_of("");
        for part in [
            "28×10^6 s",
            "From the formula to the hardware",
            "whose two ends stay idle leaves WAKE within",
            "register bits, 2432 memory bits",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let fixed = details_of("[port]\npolicy = \"fixed\"\n");
        assert!(!fixed.contains("From the formula"), "{fixed}");
        let corrected = details_of("[port]\npolicy = \"perfbound-correct\"\n");
        assert!(corrected.contains("(2^-10."), "{corrected}");
        let short = details_of("[port]\nsync_timeout_ns = 2001\n");
        assert!(
            short.contains("delay of 1000 cycles") && short.contains("200.0 m"),
            "{short}"
        );
        let levels = details_of("[port]\nsync = \"levels\"\n");
        assert!(levels.contains("unless the pin remote_down"), "{levels}");
    }
}
