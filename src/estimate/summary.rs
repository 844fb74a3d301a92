//! The answers of an estimate in a few lines.

use num_traits::ToPrimitive;

use super::{Estimate, EthernetPort};
use crate::config::Config;

/// What a reader wants to know first: names and values. A row without a name says more of the one
/// before.
pub fn rows(config: &Config, estimate: &Estimate) -> Vec<(&'static str, String)> {
    let period = u128::from(config.clock.period_ps);
    let timed = |cycles: u64| {
        let time = time(u128::from(cycles) * period);
        let plural = if cycles == 1 { "" } else { "s" };
        format!("{cycles} cycle{plural} = {time}")
    };
    let mut rows = Vec::new();
    let mut row = |name: &'static str, value: String| rows.push((name, value));
    let histogram = match estimate.histogram {
        Some(_) => format!(
            ", {} histogram of {} bins",
            estimate.histogram_kind, config.histogram.bins
        ),
        None => String::new(),
    };
    row(
        "controller",
        format!("{}, {}{histogram}", estimate.policy, estimate.sleep),
    );
    let tick = time(config.clock.tick_ps.into());
    row("clock", format!("{}, tick {tick}", time(period)));
    if let Some(port) = &estimate.ethernet {
        let EthernetPort {
            interface,
            word_bits,
            rate_gbps,
            mac_latency_cycles,
            ..
        } = port;
        row(
            "interface",
            format!(
                "{interface}, {word_bits} bits a clock cycle, {rate_gbps} Gb/s; mac_latency {}",
                timed((*mac_latency_cycles).into())
            ),
        );
        row(
            "delay of the shims",
            format!(
                "{} to the PHY, {} to the MAC",
                timed(port.transmit_delay_cycles),
                timed(port.receive_delay_cycles)
            ),
        );
        for wake in &port.wakes {
            row(
                match wake.state {
                    "fast-wake" => "from fast wake",
                    _ => "from deep sleep",
                },
                format!(
                    "at most {} until the first word of a frame is sent",
                    timed(wake.to_wire_at_most_cycles)
                ),
            );
        }
    }
    if let Some(reason) = &estimate.no_hardware {
        row("hardware", format!("none: {reason}"));
    }
    if let Some(census) = &estimate.census {
        row("registers", format!("{} bits", census.register_bits));
        row(
            "memory",
            format!(
                "{} bits, and {} bits in its output registers",
                census.memory_bits, census.memory_output_bits
            ),
        );
    }
    if let Some(latency) = &estimate.latency {
        row(
            "new threshold",
            format!(
                "at most {} after an idle period{}",
                timed(latency.update_cycles),
                match latency.halving_delay_cycles {
                    0 => String::new(),
                    more => format!(
                        ", and {} more where counters are halved before",
                        timed(more)
                    ),
                }
            ),
        );
        row(
            "at line rate",
            format!(
                "a new one at least every {}",
                timed(latency.update_interval_at_line_rate_cycles)
            ),
        );
    }
    if let Some(wait) = &estimate.wait {
        row(
            "wait for the link",
            format!(
                "at most {} if the other end answers at once",
                timed(wait.answered_cycles)
            ),
        );
        row(
            "",
            format!("at most {} in any case", timed(wait.unanswered_cycles)),
        );
    }
    if let Some(cycles) = estimate.wait_with_levels_cycles {
        row(
            "wait for the link",
            format!("at most {} unless remote_down ends it", timed(cycles)),
        );
    }
    if let Some(port) = &estimate.ethernet {
        row(
            "wait for the link",
            format!(
                "at most {} until mac_tx_enable is 1",
                timed(port.wait_cycles)
            ),
        );
        row(
            "",
            format!(
                "at most {} until the first word is sent",
                timed(port.wait_to_wire_cycles)
            ),
        );
    } else if let Some(cycles) = estimate.wait_with_lpi_cycles {
        row(
            "wait for the link",
            format!("at most {}: one transition down, one up", timed(cycles)),
        );
    }
    if let Some(sleep) = &estimate.time_to_sleep {
        row(
            "leaves WAKE",
            match estimate.wait_with_lpi_cycles {
                Some(_) => format!("within {} without traffic", timed(sleep.end_cycles)),
                None => format!("within {} of idle ends", timed(sleep.link_cycles)),
            },
        );
    }
    if let Some(guard) = &estimate.guard {
        row(
            "guard",
            format!(
                "in any time T at most {} wake-ups and one more for each {:.0} ns{}",
                guard.burst,
                guard.token_ns,
                match guard.adjustable {
                    true => ", until software changes the parameters",
                    false => "",
                }
            ),
        );
    }
    if config.predicts() {
        let bound = match config.bound() {
            // 0.07 * 100 is 7.000000000000001.
            Some(bound) => format!("{} %", (bound.to_f64() * 1e8).round() / 1e6),
            None => format!(
                "l = {}",
                config.degradation_factor().to_f64().unwrap_or(f64::NAN)
            ),
        };
        row(
            "bound",
            match config.why_bound_cannot_be_kept() {
                None => format!("{bound}: thresholds can be long enough to keep it"),
                Some(_) => format!("{bound}: CANNOT BE KEPT, see the notes"),
            },
        );
    }
    rows
}

/// A time to four digits.
pub fn time(ps: u128) -> String {
    let (unit, per) = match ps {
        0..1_000_000 => ("ns", 1e3),
        1_000_000..1_000_000_000 => ("us", 1e6),
        1_000_000_000..1_000_000_000_000 => ("ms", 1e9),
        _ => ("s", 1e12),
    };
    let value = ps as f64 / per;
    let whole = (value.log10().floor() as i32).max(0);
    let digits = usize::try_from(3 - whole).unwrap_or(0);
    let text = format!("{value:.digits$}");
    let short = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{short} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_four_digits() {
        for (ps, text) in [
            (0, "0 ns"),
            (1250, "1.25 ns"),
            (300, "0.3 ns"),
            (6_480_000, "6.48 us"),
            (4_210_788_123, "4.211 ms"),
            (123_456_789_000_000, "123.5 s"),
            (54_321_000_000_000_000, "54321 s"),
        ] {
            assert_eq!(time(ps), text);
        }
    }
}
