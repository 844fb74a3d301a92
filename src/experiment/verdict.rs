//! Whether a run kept its bound (SPEC 11), in figures and in a sentence: the one place for
//! `simulate`, `sweep` and `report`.

use serde::Serialize;

use super::measured::{Against, Measured};

/// What became of the bound of a run.
///
/// The bound is one on execution time (PerfBound 2.4), so the execution time decides whether it was
/// kept. The budgets of the ports are what PerfBound spends to keep it: ports beyond theirs explain
/// a bound that was not kept, and warn of one that was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// How much longer the run may take, as a fraction; none if no bound governs the ports.
    pub configured: Option<f64>,
    /// How much longer than with links that never sleep it took, as a fraction; none where there is
    /// no execution time to compare.
    pub time_overhead: Option<f64>,
    /// The run took no longer than it may; none without a bound or without `time_overhead`.
    pub kept: Option<bool>,
    /// Ports with a cable.
    pub ports: u64,
    /// Those whose packets waited longer for their link than `l X`, `X` being the run; none if
    /// ports have no budget.
    pub ports_over_budget: Option<u64>,
    /// The longest such wait of a port as a multiple of its `l X`.
    pub worst_port_use: Option<f64>,
    /// The name of that port; none where no packet waited.
    pub worst_port: Option<String>,
}

impl Verdict {
    /// Of a run with a bound, or without one, against the run with links that never sleep, if there
    /// was one.
    pub fn new(configured: Option<f64>, run: &Measured, against: &Against) -> Self {
        let time_overhead = against.time_overhead_percent.map(|percent| percent / 100.0);
        let pair = configured.zip(time_overhead);
        Self {
            configured,
            time_overhead,
            kept: pair.map(|(bound, overhead)| overhead <= bound),
            ports: run.ports,
            ports_over_budget: run.ports_over_budget,
            worst_port_use: run.worst_port_use,
            worst_port: run.worst_port.clone(),
        }
    }

    /// The verdict as a sentence.
    pub fn sentence(&self) -> String {
        let overhead = self.time_overhead.map(|part| 100.0 * part + 0.0);
        let ports = self.ports_sentence();
        let ports = ports.map_or(String::new(), |ports| format!("; {ports}"));
        match (self.configured, overhead, self.kept) {
            (Some(bound), Some(overhead), Some(kept)) => {
                let verdict = if kept { "Bound kept" } else { "BOUND NOT KEPT" };
                let allowed = percent(bound);
                format!("{verdict}: {overhead:+.3} % execution time of {allowed} allowed{ports}.")
            }
            (Some(bound), ..) => format!(
                "Bound of {} not judged: there is no execution time to compare{ports}.",
                percent(bound)
            ),
            (None, Some(overhead), _) => {
                format!("No bound is configured: {overhead:+.3} % execution time{ports}.")
            }
            (None, None, _) => {
                format!("No bound is configured, and there is no execution time to compare{ports}.")
            }
        }
    }

    /// What ports did with their budgets.
    fn ports_sentence(&self) -> Option<String> {
        let (over, worst) = self.ports_over_budget.zip(self.worst_port_use)?;
        let all = grouped(self.ports);
        let name = self.worst_port.as_deref();
        let name = name.map_or(String::new(), |name| format!(" ({name})"));
        Some(match over {
            _ if worst == 0.0 => format!("at none of {all} ports a packet waited for its link"),
            0 => format!(
                "none of {all} ports used more than its budget, the worst{name} {worst:.2} times"
            ),
            _ => format!(
                "{} of {all} ports used more than {} budget, the worst{name} {} times",
                grouped(over),
                if over == 1 { "its" } else { "their" },
                match worst {
                    f64::MAX => "infinitely many".into(),
                    worst => format!("{worst:.2}"),
                }
            ),
        })
    }
}

/// A fraction in percent, as a person would write it.
fn percent(part: f64) -> String {
    // 0.07 * 100 is 7.000000000000001.
    format!("{} %", (part * 1e8).round() / 1e6)
}

/// A number with a comma before every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What many runs did with their bounds, in a sentence; each with its name. None if none has a
/// bound.
pub fn summary<'n>(
    verdicts: impl Iterator<Item = (&'n str, Option<f64>, Option<bool>)>,
) -> Option<String> {
    let bounded: Vec<_> = verdicts.filter(|(_, bound, _)| bound.is_some()).collect();
    let judged = bounded.iter().filter(|(.., kept)| kept.is_some()).count();
    let missed: Vec<&str> = bounded
        .iter()
        .filter(|(.., kept)| *kept == Some(false))
        .map(|(name, ..)| *name)
        .collect();
    let all = bounded.len();
    if all == 0 {
        return None;
    }
    let runs = |count: usize| match count {
        1 => "1 experiment".to_owned(),
        count => format!("{} experiments", grouped(count as u64)),
    };
    let that_have_one = |count: usize| match count {
        1 => " that has one",
        _ => " that have one",
    };
    let mut text = match (judged, missed.len()) {
        (0, _) => format!(
            "Bound not judged in {}: there is no execution time to compare.",
            runs(all)
        ),
        (_, 0) => format!(
            "Bound kept in {judged} of {}.",
            runs(judged) + that_have_one(judged)
        ),
        (_, count) => format!(
            "BOUND NOT KEPT in {count} of {}: {}.",
            runs(judged) + that_have_one(judged),
            missed.join(", ")
        ),
    };
    if judged > 0 && judged < all {
        text += &format!(" Not judged in {} more.", all - judged);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::measured::tests::plausible;

    /// Of a run that took so many percent longer, with 20,800 ports.
    fn verdict(
        bound: Option<f64>,
        overhead: Option<f64>,
        ports: Option<(u64, f64, Option<&str>)>,
    ) -> Verdict {
        let mut run = plausible(0.0);
        run.ports = 20_800;
        run.ports_over_budget = ports.map(|(over, ..)| over);
        run.worst_port_use = ports.map(|(_, worst, _)| worst);
        run.worst_port = ports.and_then(|(.., name)| name.map(str::to_owned));
        let against = Against {
            time_overhead_percent: overhead,
            ..Against::default()
        };
        Verdict::new(bound, &run, &against)
    }

    #[test]
    fn the_execution_time_decides() {
        let port = Some("switch3.port5");
        let some = verdict(Some(0.01), Some(0.91), Some((3, 1.42, port)));
        assert_eq!(some.kept, Some(true));
        assert_eq!(
            some.sentence(),
            "Bound kept: +0.910 % execution time of 1 % allowed; 3 of 20,800 ports used more than \
             their budget, the worst (switch3.port5) 1.42 times."
        );
        let missed = verdict(Some(0.01), Some(9.3), Some((0, 0.5, port)));
        assert_eq!(missed.kept, Some(false));
        assert_eq!(
            missed.sentence(),
            "BOUND NOT KEPT: +9.300 % execution time of 1 % allowed; none of 20,800 ports used more \
             than its budget, the worst (switch3.port5) 0.50 times."
        );
        // What is allowed is allowed in full.
        assert_eq!(verdict(Some(0.01), Some(1.0), None).kept, Some(true));
        assert_eq!(verdict(Some(0.01), Some(1.000_001), None).kept, Some(false));
        let faster = verdict(Some(0.05), Some(-0.1), Some((0, 0.0, None)));
        assert_eq!(
            faster.sentence(),
            "Bound kept: -0.100 % execution time of 5 % allowed; at none of 20,800 ports a packet \
             waited for its link."
        );
        let none = verdict(Some(0.0), Some(0.5), Some((1, f64::MAX, port)));
        assert!(none
            .sentence()
            .contains("; 1 of 20,800 ports used more than its budget"));
        assert!(none
            .sentence()
            .ends_with("(switch3.port5) infinitely many times."));
    }

    #[test]
    fn what_cannot_be_judged_is_not() {
        let cut = verdict(Some(0.01), None, Some((1204, 2.0, Some("nic7"))));
        assert_eq!(cut.kept, None);
        assert_eq!(
            cut.sentence(),
            "Bound of 1 % not judged: there is no execution time to compare; 1,204 of 20,800 ports \
             used more than their budget, the worst (nic7) 2.00 times."
        );
        let fixed = verdict(None, Some(3.0), None);
        assert_eq!(fixed.kept, None);
        assert_eq!(
            fixed.sentence(),
            "No bound is configured: +3.000 % execution time."
        );
        let neither = verdict(None, None, None).sentence();
        assert!(neither.starts_with("No bound is configured, and there is no execution time"));
    }

    #[test]
    fn many_runs_in_a_sentence() {
        let of = |kept: &[(&str, Option<f64>, Option<bool>)]| summary(kept.iter().copied());
        let bound = Some(0.01);
        assert_eq!(of(&[("a", None, None)]), None);
        assert_eq!(
            of(&[
                ("a", bound, Some(true)),
                ("b", bound, Some(true)),
                ("c", None, None)
            ])
            .unwrap(),
            "Bound kept in 2 of 2 experiments that have one."
        );
        assert_eq!(
            of(&[
                ("a", bound, Some(false)),
                ("b", bound, Some(true)),
                ("c", bound, None)
            ])
            .unwrap(),
            "BOUND NOT KEPT in 1 of 2 experiments that have one: a. Not judged in 1 more."
        );
        assert_eq!(
            of(&[("a", bound, None)]).unwrap(),
            "Bound not judged in 1 experiment: there is no execution time to compare."
        );
        assert_eq!(
            (grouped(7), grouped(1_000_000)),
            ("7".into(), "1,000,000".into())
        );
    }
}
