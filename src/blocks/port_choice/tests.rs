//! Lock step of description and golden model.

use proptest::prelude::*;

use super::{golden, PortChoice};
use crate::blocks::selectable_ports::tests::{plan, plans};
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::{SelectionKind, SelectionPlan};
use crate::hdl::check;

const KINDS: [SelectionKind; 4] = [
    SelectionKind::RoundRobin,
    SelectionKind::FirstOn,
    SelectionKind::Powar,
    SelectionKind::Alonso,
];

fn any_plan() -> impl Strategy<Value = SelectionPlan> {
    prop::sample::select(&KINDS[..]).prop_flat_map(plans)
}

/// Sets of ports, with few, some, and all of them.
fn ports() -> impl Strategy<Value = u64> {
    (any::<u64>(), any::<u64>(), 0u32..5).prop_map(|(one, other, how)| match how {
        0 => 0,
        1 => one & other,
        2 => one | other,
        3 => one,
        _ => u64::MAX,
    })
}

fn inputs() -> impl Strategy<Value = golden::Inputs> {
    (any::<bool>(), ports(), ports(), ports(), ports()).prop_map(
        |(choose, choices, busy, awake, allowed)| golden::Inputs {
            choose,
            choices,
            busy,
            awake,
            allowed,
        },
    )
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn description_and_golden_model_agree(
        plan in any_plan(),
        cycles in prop::collection::vec(inputs(), 1..300),
    ) {
        let mut golden = golden::PortChoice::new(&plan);
        let mut bench = Bench::new(PortChoice::new(&plan));
        for (cycle, inputs) in cycles.iter().enumerate() {
            let ports = |ports: u64| ports & (u64::MAX >> (64 - plan.ports_up));
            bench.drive(&[
                ("choose", inputs.choose.into()),
                ("choices", ports(inputs.choices)),
                ("busy", ports(inputs.busy)),
            ]);
            if plan.kind != SelectionKind::RoundRobin {
                bench.drive(&[("awake", ports(inputs.awake))]);
            }
            if matches!(plan.kind, SelectionKind::Powar | SelectionKind::Alonso) {
                bench.drive(&[("allowed", ports(inputs.allowed))]);
            }
            let chosen = golden.chosen(inputs);
            bench.check(cycle as u64, &[
                ("chosen", chosen.map_or(0, |port| 1 << port)),
                ("found", chosen.is_some().into()),
            ])?;
            bench.clock();
            golden.clock(inputs);
        }
    }
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for kind in KINDS {
        for ports in [2, 3, 8] {
            let plan = plan(kind, ports, ports);
            check::agrees_with_verilog(|| PortChoice::new(&plan), 3000, 1).unwrap();
        }
    }
}
