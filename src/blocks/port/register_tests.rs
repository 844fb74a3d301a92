//! Lock step of a controller with registers, under random activity, random packets and a
//! manager that asks at random and stalls at random.

use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::golden::Port;
use super::model::Model;
use super::pins::Inputs;
use crate::blocks::csr::map;
use crate::blocks::csr::tests::{
    guarded_plan, plan as register_plan, request, timed_guarded_plan, timed_plan,
};
use crate::blocks::testing::{cases, cycles, Bench, Manager};
use crate::config::plan::*;
use crate::hdl::check;

fn inputs() -> impl Strategy<Value = Inputs> {
    (0u32..64, 0u8..64, 0u8..8).prop_map(|(bits, hops, message)| Inputs {
        rst: false,
        queue_nonempty: bits & 3 == 3,
        transmitting: bits & 5 == 5,
        receiving: bits & 24 == 24,
        packet_valid: bits & 12 == 12,
        packet_hops: hops,
        sleep_permit: bits & 2 == 0,
        remote_down: bits == 32,
        remote_up: bits == 33,
        initiator: bits & 1 == 1,
        message_in: if bits & 48 == 16 { message } else { 0 },
        ..Inputs::default()
    })
}

fn configuration() -> impl Strategy<Value = PortPlan> {
    (
        prop::sample::select(Policy::ALL.to_vec()),
        prop::sample::select(HistogramKind::ALL.to_vec()),
        prop_oneof![
            Just(SyncPlan::Levels),
            Just(SyncPlan::Messages(MessagesPlan { timeout: 40 })),
            Just(SyncPlan::Lpi),
        ],
        any::<bool>(),
        prop_oneof![Just(None), (0u64..300).prop_map(Some)],
        1u64..4,
        prop::sample::select(Sleep::ALL.to_vec()),
        any::<bool>(),
    )
        .prop_map(
            |(policy, kind, sync, guarded, t_backstop, clocks_per_tick, sleep, measures)| {
                let build = match (sync, guarded, measures) {
                    (SyncPlan::Levels, true, _) => timed_plan,
                    (_, true, true) => timed_guarded_plan,
                    (_, true, false) => guarded_plan,
                    (_, false, _) => register_plan,
                };
                let mut plan = build(policy, 24);
                plan.t_backstop = t_backstop;
                plan.histogram.kind = kind;
                plan.histogram.ttl = plan.histogram.ttl.filter(|_| kind.ages());
                plan.clocks_per_tick = clocks_per_tick;
                plan.sleep = sleep;
                plan.sync = sync;
                if let Some(rate) = &mut plan.budget.rate {
                    rate.measures = measures;
                }
                plan
            },
        )
}

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn description_and_golden_model_agree(
        (plan, requests) in configuration().prop_flat_map(|plan| {
            let requests = prop::collection::vec(request(&map::port(&plan)), 200);
            (Just(plan), requests)
        }),
        runs in prop::collection::vec((inputs(), prop_oneof![3 => 1u64..4, 2 => 1u64..60, 1 => 1u64..500]), 1..120),
        seed in any::<u64>(),
        eagerness in 1u32..8,
    ) {
        let mut golden = Port::new(&plan);
        let mut bench = Bench::new(super::Port::new(&plan));
        let requests = requests.into_iter().flatten().collect();
        let mut manager = Manager::new(requests, seed, eagerness);
        let mut cycle = 0;
        for (inputs, cycles) in runs {
            for _ in 0..cycles {
                let inputs = inputs.with_axi_of(&manager.drive());
                bench.drive_port(&plan, &inputs);
                let outputs = golden.outputs();
                let wrong = bench.wrong_outputs(&plan, &outputs);
                prop_assert!(wrong.is_empty(), "cycle {}: {:?}", cycle, wrong);
                manager.clock(&outputs);
                bench.clock();
                golden.clock(&inputs);
                cycle += 1;
            }
        }
    }

    /// With nobody asking, skipping cycles changes nothing, neither outputs nor counters.
    #[test]
    fn skipping_equals_stepping(
        plan in configuration(),
        runs in prop::collection::vec((inputs(), prop_oneof![1u64..4, 1u64..40, 1u64..3000]), 1..60),
    ) {
        let mut skipping = Port::new(&plan);
        let mut stepping = Port::new(&plan);
        for (inputs, cycles) in runs {
            let mut left = cycles;
            while left > 0 {
                let clocked = skipping.advance(&inputs, left);
                for _ in 0..clocked {
                    stepping.clock(&inputs);
                }
                prop_assert_eq!(stepping.outputs(), skipping.outputs());
                left -= clocked;
            }
        }
        // Read every register of both.
        for register in map::port(&plan).registers {
            let wait = Inputs::default();
            let read = wait.with(|pins| {
                pins.s_axi_arvalid = true;
                pins.s_axi_araddr = register.offset;
                pins.s_axi_rready = true;
            });
            let answer = |port: &mut Port| {
                port.clock(&read);
                while !port.outputs().s_axi_rvalid {
                    port.clock(&wait);
                }
                let outputs = port.outputs();
                port.clock(&wait.with(|pins| pins.s_axi_rready = true));
                (outputs.s_axi_rdata, outputs.s_axi_rresp)
            };
            prop_assert_eq!(answer(&mut skipping), answer(&mut stepping), "{}", register.name);
        }
    }
}

/// What software reads of a register.
fn read(port: &mut Port, link: &Inputs, offset: u32) -> u32 {
    let asks = link.with(|pins| {
        pins.s_axi_arvalid = true;
        pins.s_axi_araddr = offset;
    });
    port.clock(&asks);
    while !port.outputs().s_axi_rvalid {
        port.clock(link);
    }
    let data = port.outputs().s_axi_rdata;
    port.clock(&link.with(|pins| pins.s_axi_rready = true));
    data
}

/// SPEC 5 and `docs/reference/registers.md`: `link_lost` is about a link that had been awake. One that was
/// never there since reset is not lost; and after reset `status` reads as the register map says.
#[test]
fn a_link_is_lost_only_after_it_was_awake() {
    for sync in [
        SyncPlan::Levels,
        SyncPlan::Messages(MessagesPlan { timeout: 9 }),
        SyncPlan::Lpi,
    ] {
        let mut plan = register_plan(Policy::Fixed, 24);
        plan.sync = sync;
        plan.control_pins = true;
        let page = map::port(&plan);
        let [events, status] = ["events", "status"].map(|name| page.register(name).offset);
        let lost = 1 << page.find("events", "link_lost").unwrap().low;
        let absent = Inputs::quiet().with(|pins| {
            pins.link_up = false;
            pins.queue_nonempty = true;
        });
        let linked = absent.with(|pins| pins.link_up = true);

        let mut port = Port::new(&plan);
        let after_reset = page.reset_of("status", "power_state");
        assert_eq!(
            read(&mut port, &linked, status) & 7,
            after_reset,
            "{sync:?}"
        );

        let mut port = Port::new(&plan);
        for _ in 0..50 {
            port.clock(&absent);
        }
        assert_eq!(read(&mut port, &absent, events) & lost, 0, "{sync:?}");
        for _ in 0..500 {
            port.clock(&linked);
        }
        assert!(port.outputs().tx_enable, "{sync:?}");
        assert_eq!(read(&mut port, &linked, events) & lost, 0, "{sync:?}");
        port.clock(&absent);
        assert_eq!(read(&mut port, &absent, events) & lost, lost, "{sync:?}");
    }
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for kind in HistogramKind::ALL {
        let mut plan = register_plan(Policy::PerfBound, 24);
        plan.histogram.kind = kind;
        plan.histogram.ttl = plan.histogram.ttl.filter(|_| kind.ages());
        check::agrees_with_verilog(|| super::Port::new(&plan), cycles(3000), 7).unwrap();
    }
    let guarded = guarded_plan(Policy::PerfBoundCorrect, 24);
    check::agrees_with_verilog(|| super::Port::new(&guarded), cycles(3000), 7).unwrap();
    let mut plan = register_plan(Policy::PerfBound, 24);
    plan.registers = None;
    if let Some(rate) = &mut plan.budget.rate {
        rate.measures = true;
    }
    check::agrees_with_verilog(|| super::Port::new(&plan), cycles(3000), 7).unwrap();
}

/// Measured hop counts without registers: the golden model follows in every cycle.
#[test]
fn a_measuring_port_agrees_with_its_golden_model() {
    let mut plan = register_plan(Policy::PerfBound, 24);
    plan.registers = None;
    if let Some(rate) = &mut plan.budget.rate {
        rate.measures = true;
    }
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut golden = Port::new(&plan);
    let mut bench = Bench::new(super::Port::new(&plan));
    let mut budgets = std::collections::BTreeSet::new();
    // Two windows of 4096 packets, and more.
    for _ in 0..20_000 {
        let sends = random.random_ratio(1, 3);
        let inputs = Inputs {
            queue_nonempty: sends,
            transmitting: sends,
            packet_valid: random.random_ratio(2, 3),
            packet_hops: random.random_range(0..4),
            sleep_permit: true,
            ..Inputs::default()
        };
        bench.drive_port(&plan, &inputs);
        let outputs = golden.outputs();
        assert_eq!(bench.wrong_outputs(&plan, &outputs), []);
        budgets.insert(outputs.budget);
        bench.clock();
        golden.clock(&inputs);
    }
    assert!(budgets.len() > 1, "the rate never mattered");
}
