//! Lock step of description and golden model; POWAR's Algorithm 2 by hand.

use proptest::prelude::*;

use super::{golden, SelectablePorts};
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::{SelectionKind, SelectionPlan};
use crate::hdl::check;

/// A switch of so many ports down and up with short windows, `T_on` 0.5 and `T_off` 0.25.
pub(crate) fn plan(kind: SelectionKind, ports_down: u32, ports_up: u32) -> SelectionPlan {
    SelectionPlan {
        kind,
        ports_down,
        ports_up,
        window: 8,
        on_millionths: 500_000,
        off_millionths: 250_000,
    }
}

/// Plans of all sizes, and thresholds at their limits.
pub(crate) fn plans(kind: SelectionKind) -> impl Strategy<Value = SelectionPlan> {
    (1u32..20, 2u32..20, 2u64..40, 1u64..500_000).prop_map(move |(down, up, window, off)| {
        SelectionPlan {
            window,
            on_millionths: (2 * off).max(500_000),
            off_millionths: off,
            ..plan(kind, down, up)
        }
    })
}

/// Ports that are sending for some cycles: a share of them, so that every load comes.
pub(crate) fn loads() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let word = (any::<u64>(), any::<u64>(), 0u32..4).prop_map(|(one, other, how)| match how {
        0 => 0,
        1 => one & other,
        2 => one | other,
        _ => u64::MAX,
    });
    prop::collection::vec((word, 1u64..60), 1..30)
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn description_and_golden_model_agree(plan in plans(SelectionKind::Powar), loads in loads()) {
        let mut golden = golden::SelectablePorts::new(&plan);
        let mut bench = Bench::new(SelectablePorts::new(&plan));
        let cycles = loads.iter().flat_map(|&(ports, cycles)| (0..cycles).map(move |_| ports));
        for (cycle, ports) in cycles.enumerate() {
            let sending = (ports.rotate_left(cycle as u32)) & (u64::MAX >> (64 - plan.ports_up));
            bench.drive(&[("transmitting", sending)]);
            bench.check(cycle as u64, &[("selectable", golden.selectable())])?;
            bench.clock();
            golden.clock(sending);
        }
    }
}

/// POWAR Algorithm 2 with `T_on` 0.5 and `T_off` 0.25, four ports and windows of 8 cycles. A window's
/// load is that of the cycles before its last one, and counts in the second cycle after it.
#[test]
fn as_many_ports_are_selectable_as_the_load_needs() {
    let plan = plan(SelectionKind::Powar, 4, 4);
    let mut bench = Bench::new(SelectablePorts::new(&plan));
    // What is selectable after each of two windows; nothing is sent in the second.
    let mut windows = |sending: [u64; 8]| {
        let mut selectable = 0;
        for cycle in 0..16 {
            bench.drive(&[("transmitting", sending.get(cycle).copied().unwrap_or(0))]);
            bench.clock();
            if cycle == 8 {
                bench.drive(&[]);
                selectable = bench.get("selectable");
            }
        }
        selectable
    };
    // 8 of 32 are a quarter: not below it.
    assert_eq!(windows([1, 1, 1, 1, 1, 1, 3, 0]), 0b1111);
    // The idle one took a port away; of three, 5 of 24 are less than a quarter.
    assert_eq!(windows([1, 1, 1, 1, 1, 0, 0, 0]), 0b0011);
    // An idle one took the last but one away. Half of one port is not above T_on.
    assert_eq!(windows([1, 1, 1, 1, 0, 0, 0, 0]), 0b0001);
    assert_eq!(windows([1, 1, 1, 1, 1, 0, 0, 0]), 0b0011);
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for ports in [2, 3, 4, 16] {
        let plan = plan(SelectionKind::Powar, ports, ports);
        check::agrees_with_verilog(|| SelectablePorts::new(&plan), 4000, 1).unwrap();
    }
}
