//! Two ports joined by a link: `testbench/pair.v`.

use super::claims::{asserted, claims_in};
use super::task::ProofTask;
use crate::blocks::csr::timing::staged_width;
use crate::blocks::link_sync;
use crate::blocks::port::SleepBound;
use crate::config::plan::{PortPlan, Sleep};
use crate::hdl::{ClaimText, Design};

/// The longest delay of a link that is of interest, one way, in clock cycles: 400 m at 1 GHz.
const LONGEST_DELAY: u64 = 2000;

/// The claims of `pair.v` that are wanted for themselves; the others make them inductive.
pub(super) const PROPERTIES: [&str; 5] = [
    "same_state",
    "sleeps_in_time",
    "data_meets_awake",
    "no_error",
    "wait_bounded",
];

pub(super) const TEXT: &str = include_str!("../../testbench/pair.v");

/// The module at the top of [`part`].
pub const TOP: &str = "pair";

/// The two ends of a link with ports of `plan`, if the ends exchange messages.
pub(super) fn part(
    plan: &PortPlan,
    design: &Design,
    files: &[(String, String)],
) -> Option<ProofTask> {
    let sync = plan.messages()?;
    let bound = SleepBound::of(plan);
    let times = plan.adjustable_times();
    let width = |register: &str| design.register_width(register).map(u64::from);
    let (longest_down, longest_up) = link_sync::longest_transitions(plan);
    let start = link_sync::start_cycles(plan, &sync);
    let longest_delay = LONGEST_DELAY.min(link_sync::longest_delay(plan, &sync));
    let control = |checker: &str| super::part_of(checker).is_none();
    let checkers = design.checkers().into_iter();
    let left_out: Vec<String> = checkers
        .filter(|checker| !control(checker))
        .flat_map(|checker| ["u_a", "u_b"].map(|end| format!("{end}.{checker}")))
        .collect();
    let mut all = files.to_vec();
    // The two controllers go by the name of their module.
    let text = TEXT.replace("\n  port u_", &format!("\n  {} u_", design.top()));
    let text = tie_control_pins(plan, &text);
    all.push(("pair.v".into(), text));
    Some(ProofTask {
        top: TOP.into(),
        says: format!(
            "two ports on a link with the same delay both ways, any from 0 to {longest_delay} \
             clock cycles; packets come when they like{}",
            match plan.registers {
                Some(_) => "; software gives both ends the same sleep state and times",
                None => "",
            }
        ),
        files: all,
        induction: super::INDUCTION,
        parameters: vec![
            ("LONGEST_DELAY", longest_delay),
            ("START", start),
            ("LONGEST_DOWN", longest_down),
            ("LONGEST_UP", longest_up),
            (
                "HYBRID",
                u64::from(plan.sleep == Sleep::Hybrid || plan.registers.is_some()),
            ),
            ("REGISTERS", u64::from(plan.registers.is_some())),
            ("TIMED", u64::from(!times.is_empty())),
            ("TIMEOUT_BITS", staged_width(&times).into()),
            ("COUNT_BITS", width("link_sync.count")?),
            ("CYCLES_BITS", width("lpi_fsm.cycles")?),
            ("WAIT_BITS", width("waiting")?),
            ("BOUNDED", u64::from(bound.is_some())),
            ("TIMER", bound.map_or(0, |bound| bound.timer)),
            ("TIMEOUT", link_sync::longest_timeout(plan, &sync)),
            ("GUARD", bound.map_or(0, |bound| bound.guard)),
            ("REST_BITS", width("idle_cycles").unwrap_or(1)),
        ],
        assumed: vec!["u_a".into(), "u_b".into()],
        cuts: design.instances_without_claims(control),
        left_out,
        claims: claims(),
        others_given: false,
    })
}

/// A test bench of two ports whose control pins, if they have any, say that there is a link, which
/// may sleep.
pub(super) fn tie_control_pins(plan: &PortPlan, text: &str) -> String {
    let controls = match plan.control_pins {
        true => ".enable(1'b1), .force_wake(1'b0), .link_up(1'b1), .clear_error(1'b0), ",
        false => "",
    };
    let upsets = match plan.triple_redundancy {
        true => ".inject_upset(2'd0), ",
        false => "",
    };
    text.replace(".initiator(", &format!("{controls}{upsets}.initiator("))
}

/// The claims of `pair.v`.
pub(super) fn claims() -> Vec<ClaimText> {
    let instances = [
        ("pair", ""),
        ("pair_end", "u_end_a."),
        ("pair_end", "u_end_b."),
    ];
    claims_in(TEXT, &instances, |line| asserted(line, &PROPERTIES))
}
