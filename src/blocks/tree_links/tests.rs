//! Lock step of description and golden model.

use proptest::prelude::*;

use super::{golden, TreeLinks};
use crate::blocks::selectable_ports::tests::{plan, plans};
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::SelectionKind;
use crate::hdl::check;

fn inputs() -> impl Strategy<Value = golden::Inputs> {
    let ports = || {
        (any::<u64>(), any::<u64>(), 0u32..5).prop_map(|(one, other, how)| match how {
            0 | 1 => 0,
            2 => one & other,
            3 => one,
            _ => u64::MAX,
        })
    };
    (any::<bool>(), ports(), ports(), ports(), ports(), ports()).prop_map(
        |(minimal, cabled, link_on_in, unrouted, waiting, transmitting)| golden::Inputs {
            minimal,
            cabled,
            link_on_in,
            unrouted,
            waiting,
            transmitting,
        },
    )
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn description_and_golden_model_agree(
        plan in plans(SelectionKind::Alonso),
        cycles in prop::collection::vec((inputs(), 1u64..40), 1..30),
    ) {
        let mut golden = golden::TreeLinks::new(&plan);
        let mut bench = Bench::new(TreeLinks::new(&plan));
        let cycles = cycles.iter().flat_map(|(inputs, cycles)| (0..*cycles).map(move |_| inputs));
        for (cycle, inputs) in cycles.enumerate() {
            let ports = |ports: u64| ports & (u64::MAX >> (64 - plan.ports_down - plan.ports_up));
            let inputs = golden::Inputs {
                minimal: inputs.minimal,
                cabled: ports(inputs.cabled),
                link_on_in: ports(inputs.link_on_in),
                unrouted: ports(inputs.unrouted),
                waiting: ports(inputs.waiting),
                transmitting: ports(inputs.transmitting),
            };
            bench.drive(&inputs.pins());
            bench.check(cycle as u64, &[
                ("on", golden.on(&inputs)),
                ("link_on", golden.link_on(&inputs)),
            ])?;
            bench.clock();
            golden.clock(&inputs);
        }
    }
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for (down, up) in [(4, 4), (3, 2), (2, 3), (16, 16)] {
        let plan = plan(SelectionKind::Alonso, down, up);
        check::agrees_with_verilog(|| TreeLinks::new(&plan), 4000, 1).unwrap();
    }
}
