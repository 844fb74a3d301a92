//! What a legal configuration cannot do, although its settings suggest that it can.

use std::fmt;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;

use super::plan::{BinScale, MemoryCode};
use super::{mantissa_bits, ns, Config, PerfBound, Scale};

/// That no threshold of a configuration is near the break-even time, and what would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoarseBins {
    /// What is wrong.
    wrong: String,
    /// So many bins of the right width would reach far enough.
    bins: u128,
    /// What would help.
    mend: String,
}

impl CoarseBins {
    /// Whether the same is wrong, whatever would help.
    pub fn is_like(&self, other: &CoarseBins) -> bool {
        self.wrong == other.wrong
    }

    /// Of two that are alike the one whose advice helps against both.
    #[must_use]
    pub fn worse(self, other: CoarseBins) -> CoarseBins {
        match self.bins < other.bins {
            true => other,
            false => self,
        }
    }
}

impl fmt::Display for CoarseBins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.wrong, self.mend)
    }
}

impl Config {
    /// What every command that reads this configuration says of it, a line each (SPEC 6): that
    /// the bound cannot be kept, that the budget has no steps, that no memory has a code, or that no
    /// threshold is near the break-even time.
    pub fn notes(&self) -> Vec<String> {
        let coarse = self.coarse_bins().map(|coarse| coarse.to_string());
        self.other_notes().into_iter().chain(coarse).collect()
    }

    /// [`notes`](Config::notes) without that of [`coarse_bins`](Config::coarse_bins).
    pub fn other_notes(&self) -> Vec<String> {
        let notes = [
            self.why_bound_cannot_be_kept(),
            self.without_steps(),
            self.without_code(),
        ];
        notes.into_iter().flatten().collect()
    }

    /// That no threshold is near the break-even time; `None` if one is, or the policy does not predict.
    pub fn coarse_bins(&self) -> Option<CoarseBins> {
        match self.predicts() {
            true => self.too_coarse(),
            false => None,
        }
    }

    /// Why no run can be expected to keep the bound; `None` if nothing is known against it, or the
    /// policy does not predict.
    pub fn why_bound_cannot_be_kept(&self) -> Option<String> {
        match self.predicts() {
            true => self.too_short(),
            false => None,
        }
    }

    /// `t_w / l` in picoseconds, rounded up: a link that waits that long before it sleeps cannot
    /// miss more often than the bound allows. Of measured hop counts, that of a single hop, the
    /// shortest there can be.
    fn longest_needed_ps(&self) -> u128 {
        let factor = self.largest_degradation_factor();
        let needed = BigRational::from(BigInt::from(self.t_w_ps())) / factor;
        needed.ceil().to_integer().to_u128().unwrap_or(u128::MAX)
    }

    /// Where the bins end if the finest is `bin_ps` wide, in picoseconds.
    fn reach_ps(&self, bin_ps: u64) -> u128 {
        let histogram = &self.histogram;
        let scale = match histogram.scale {
            Scale::Linear => BinScale::Linear,
            Scale::Log => BinScale::Log {
                mantissa_bits: mantissa_bits(histogram.max_value_ps / bin_ps, histogram.bins),
            },
        };
        scale
            .first_unit(histogram.bins.into())
            .saturating_mul(bin_ps.into())
    }

    /// The budget is to be added up in steps, and is not added up.
    fn without_steps(&self) -> Option<String> {
        if self.budget_step_ticks == 1 {
            return None;
        }
        if !self.predicts() {
            return Some(format!(
                "perfbound.budget_step_ticks = {} has no effect: port.policy = \"{}\" has no budget",
                self.budget_step_ticks,
                self.port.policy.name()
            ));
        }
        let multiplies = self.plan().ok()?.budget.product.is_some();
        multiplies.then(|| {
            format!(
                "perfbound.budget_step_ticks = {} has no effect: this budget is not added up, but \
                 multiplied when a search begins. Added up is that of histogram.kind = \"clearing\" or \
                 \"map\", and of \"circular\" with perfbound.window = \"elapsed\", without \
                 port.registers and perfbound.hops = \"measured\"",
                self.budget_step_ticks
            )
        })
    }

    /// Memories are to have a code, and there are none.
    fn without_code(&self) -> Option<String> {
        let code = self.port.memory_code;
        let plan = self.plan().ok()?;
        (code != MemoryCode::Plain && !plan.codes_memories()).then(|| {
            format!(
                "port.memory_code = \"{}\" has no effect: this port keeps nothing in a memory; with \
                 port.registers, or a policy that predicts and another histogram.kind than \"map\", it does",
                code.name()
            )
        })
    }

    /// The bins, or the longest threshold, end before `t_w / l`.
    fn too_short(&self) -> Option<String> {
        let histogram = &self.histogram;
        let needed = self.longest_needed_ps();
        let (reach, max_value) = (
            self.reach_ps(histogram.bin_ps),
            u128::from(histogram.max_value_ps),
        );
        if reach.min(max_value) >= needed {
            return None;
        }
        let bound = match self.perfbound {
            PerfBound::Factor { bound: None, .. } => "perfbound.hop_factor",
            _ => "perfbound.bound",
        };
        let cannot = format!(
            "{bound} cannot be kept: misses become as rare as it asks only with thresholds of up \
             to t_w / l = {} ns",
            needed.div_ceil(1000)
        );
        // Wider bins take the longest threshold along, unless it is shorter by itself.
        let with_max_value = match max_value < needed {
            true => format!(
                ", with histogram.max_value_ns at least {}",
                needed.div_ceil(1000)
            ),
            false => String::new(),
        };
        if reach >= needed {
            return Some(format!(
                "{cannot}, and the longest is histogram.max_value_ns = {}",
                ns(max_value)
            ));
        }
        let tick = self.clock.tick_ps;
        let longest = u128::from(u64::MAX >> (64 - self.port.time_width)) * u128::from(tick);
        let widths = (0..63).map_while(|shift| tick.checked_mul(1 << shift));
        let wide_enough = widths
            .skip_while(|width| *width <= histogram.bin_ps)
            .take_while(|width| match histogram.scale {
                Scale::Linear => self.reach_ps(*width) <= longest + u128::from(tick),
                Scale::Log => u128::from(*width) <= longest / 2,
            })
            .find(|width| self.reach_ps(*width) >= needed);
        let mend = match wide_enough {
            Some(width) => format!(
                "; the smallest histogram.bin_ns that would do is {}{with_max_value}",
                ns(width)
            ),
            None => format!(
                "; with port.time_width = {} no histogram.bin_ns would do, more bins or longer \
                 ticks would",
                self.port.time_width
            ),
        };
        Some(format!(
            "{cannot}, and the {} bins of histogram.bin_ns = {} reach {} ns{mend}",
            histogram.bins,
            ns(histogram.bin_ps),
            ns(reach)
        ))
    }

    /// Half of the finest bin, the shortest threshold, is longer than `t_w`.
    fn too_coarse(&self) -> Option<CoarseBins> {
        let histogram = &self.histogram;
        let t_w = self.t_w_ps();
        let tick = self.clock.tick_ps;
        // Half a tick counts as 0.
        if histogram.bin_ps / 2 <= t_w || histogram.bin_ps == tick {
            return None;
        }
        let ticks = (2 * t_w / tick).max(1);
        let width = tick << ticks.ilog2();
        let bins = self.longest_needed_ps().div_ceil(width.into());
        let mend = match histogram.scale {
            Scale::Linear if bins <= u128::from(histogram.bins) => format!(
                "a bin_ns of {}, or bin_scale = \"log\", would have some",
                ns(width)
            ),
            Scale::Linear if bins <= 4096 => format!(
                "{bins} bins of {} ns, or bin_scale = \"log\", would have some",
                ns(width)
            ),
            Scale::Linear => "bin_scale = \"log\" would have some".into(),
            Scale::Log => format!("a bin_ns of {} would have some", ns(width)),
        };
        let wrong = format!(
            "no threshold is near the break-even time: the shortest is half of histogram.bin_ns = \
             {}, longer than t_w = {} ns",
            ns(histogram.bin_ps),
            ns(t_w)
        );
        Some(CoarseBins { wrong, bins, mend })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(text: &str) -> Vec<String> {
        Config::parse(text, "a").unwrap().notes()
    }

    #[test]
    fn a_budget_that_is_multiplied_has_no_steps() {
        let says = |rest: &str| {
            let all = notes(&format!("[perfbound]\nbudget_step_ticks = 16\n{rest}"));
            all.iter().any(|note| note.contains("16 has no effect"))
        };
        for rest in [
            "",
            "window = \"elapsed\"\n[histogram]\nkind = \"circular\"",
            "[histogram]\nkind = \"map\"",
        ] {
            assert!(!says(rest), "{rest}");
        }
        for rest in [
            "hops = \"measured\"",
            "[port]\nregisters = true",
            "[histogram]\nkind = \"circular\"",
            "[histogram]\nkind = \"decaying\"",
            "[port]\npolicy = \"fixed\"\nregisters = true",
        ] {
            assert!(says(rest), "{rest}");
        }
    }

    #[test]
    fn a_port_without_memories_has_no_code() {
        let says = |rest: &str| {
            let all = notes(&format!("[port]\nmemory_code = \"secded\"\n{rest}"));
            (all.iter()).any(|note| note.starts_with("port.memory_code = \"secded\" has no effect"))
        };
        for rest in [
            "policy = \"fixed\"",
            "policy = \"perfbound\"\n[histogram]\nkind = \"map\"",
        ] {
            assert!(says(rest), "{rest}");
        }
        for rest in [
            "",
            "policy = \"fixed\"\nregisters = true",
            "policy = \"perfbound-correct\"\n[histogram]\nkind = \"map\"",
        ] {
            assert!(!says(rest), "{rest}");
        }
    }

    /// SPEC 6: 128 bins of 1 ns, t_w = 4480 ns, 1 % of 5 links and less: t_w / l = 2.23 ms.
    #[test]
    fn bins_that_end_before_the_bound_can_be_kept() {
        let all = notes("[histogram]\nbins = 128\nbin_ns = 1\n");
        assert_eq!(all.len(), 1);
        // 128 bins of 16384 ns are 2.1 ms.
        assert_eq!(
            all[0],
            "perfbound.bound cannot be kept: misses become as rare as it asks only with \
             thresholds of up to t_w / l = 2226087 ns, and the 128 bins of histogram.bin_ns = 1 \
             reach 128 ns; the smallest histogram.bin_ns that would do is 32768, with \
             histogram.max_value_ns at least 2226087"
        );
        // That is right, and the next smaller one is not.
        let of = |width: u64| {
            let all = notes(&format!("[histogram]\nbins = 128\nbin_ns = {width}\n"));
            all.iter().any(|note| note.contains("cannot be kept"))
        };
        assert!(of(16_384) && !of(32_768));
        let factor = notes("[perfbound]\nhop_factor = 0.001\n[histogram]\nbin_scale = \"log\"\nmax_value_ns = 4000000\n");
        assert_eq!(factor.len(), 1, "{factor:?}");
        assert!(
            factor[0].starts_with("perfbound.hop_factor cannot")
                && factor[0]
                    .ends_with("= 4480000 ns, and the longest is histogram.max_value_ns = 4000000"),
            "{factor:?}"
        );
        // M = 0: 12 octaves of 1 ns reach 2 us; of 2048 ns 4.2 ms.
        let log = "[histogram]\nbin_scale = \"log\"\nbins = 12\nbin_ns = ";
        let few = notes(&format!("{log}1\n"));
        assert!(
            few[0].contains("reach 2048 ns; the smallest histogram.bin_ns that would do is 2048"),
            "{few:?}"
        );
        assert_eq!(notes(&format!("{log}2048\n")), [""; 0]);
        // 16 bits of 1 ns reach 65 us.
        let narrow = notes("[port]\ntime_width = 16\n");
        assert!(
            narrow[0].contains("no histogram.bin_ns would do"),
            "{narrow:?}"
        );
        // Whatever is measured, l is at most the bound: 448 us.
        let measured = |bins: u32| {
            notes(&format!(
                "[perfbound]\nhops = \"measured\"\n[histogram]\nbins = {bins}\nbin_ns = 8192\n"
            ))
        };
        assert_eq!(measured(64), [""; 0]);
        assert!(measured(32)[0].contains("448000 ns"));
        // Nothing is predicted.
        assert_eq!(
            notes("[port]\npolicy = \"fixed\"\n[histogram]\nbins = 128\nbin_ns = 1\n"),
            [""; 0]
        );
    }

    #[test]
    fn bins_wider_than_the_break_even_time() {
        let all = notes("[histogram]\nbin_ns = 16384\n");
        assert_eq!(
            all,
            [
                "no threshold is near the break-even time: the shortest is half of \
                 histogram.bin_ns = 16384, longer than t_w = 4480 ns; 272 bins of 8192 ns, or \
                 bin_scale = \"log\", would have some"
            ]
        );
        assert_eq!(notes("[histogram]\nbins = 272\nbin_ns = 8192\n"), [""; 0]);
        // As many bins as there are would do.
        let enough = notes("[perfbound]\nhop_factor = 0.5\n[histogram]\nbin_ns = 16384\n");
        assert!(
            enough[0].ends_with("; a bin_ns of 8192, or bin_scale = \"log\", would have some"),
            "{enough:?}"
        );
        assert_eq!(notes("[histogram]\nbin_scale = \"log\"\n"), [""; 0]);
        let log = notes("[histogram]\nbin_scale = \"log\"\nbin_ns = 16384\n");
        assert!(
            log[0].ends_with("a bin_ns of 8192 would have some"),
            "{log:?}"
        );
    }
}
