//! Tests of the golden model alone: skipping must not change anything, and hand-made
//! traffic must come out as SPEC 2 to 7 say.

use proptest::prelude::*;

use super::controller::PowerController;
use super::golden::Port;
use super::model::Model;
use super::pins::{Inputs, Message, PowerState};
use crate::blocks::testing::{cases, share, Bench};
use crate::config::plan::*;
use crate::hdl::check;

/// A small controller whose corners are all within reach of short runs.
pub(crate) fn small_plan() -> PortPlan {
    PortPlan {
        time_width: 12,
        clocks_per_tick: 1,
        policy: Policy::PerfBound,
        sleep: Sleep::Hybrid,
        t_pdt_init: 40,
        t_backstop: Some(70),
        link: LinkPlan {
            fast_wake: SleepTimes { t_s: 3, t_w: 5 },
            deep_sleep: SleepTimes { t_s: 7, t_w: 11 },
            hybrid_hold: 9,
            refresh: Some(RefreshPlan { t_q: 6, t_r: 2 }),
        },
        sync: SyncPlan::Levels,
        control_pins: false,
        triple_redundancy: false,
        memory_code: MemoryCode::Plain,
        registers: None,
        histogram: HistogramPlan {
            kind: HistogramKind::Clearing,
            scale: BinScale::Linear,
            bins: 20,
            bin_shift: 2,
            counter_bits: 3,
            max_samples: 30,
            ttl: Some(1500),
            max_value: 70,
            map_entries: 8,
            window: CircularWindow::Held,
        },
        // l / t_w = 3/301; 2^11 ticks at most.
        budget: BudgetPlan {
            numerator: 3,
            denominator: 301,
            product: None,
            width: 5,
            step_ticks: 1,
            rate: None,
        },
        hop_window_log2: 12,
        correction: CorrectionPlan {
            history: 4,
            at_least_one: true,
            miss_unit: MissUnit::Fraction,
            fraction_bits: 12,
        },
        guard: None,
    }
}

fn histograms() -> impl Strategy<Value = (HistogramKind, BinScale)> {
    let scale = prop_oneof![
        Just(BinScale::Linear),
        Just(BinScale::Log { mantissa_bits: 2 })
    ];
    (prop::sample::select(&HistogramKind::ALL[..]), scale)
}

fn inputs() -> impl Strategy<Value = Inputs> {
    let messages = prop_oneof![3 => Just(0u8), 2 => 1u8..8];
    // Mostly at rest; ports without these pins take no notice.
    let controls = prop_oneof![8 => Just(3u8), 1 => 0u8..16];
    let parts = (
        0u32..64,
        prop::bool::weighted(0.02),
        0u8..64,
        messages,
        controls,
    );
    parts.prop_map(|(bits, rst, hops, message_in, controls)| Inputs {
        rst,
        queue_nonempty: bits & 3 == 3,
        transmitting: bits & 4 != 0 && bits & 1 != 0,
        receiving: bits & 24 == 24,
        sleep_permit: bits & 2 == 0,
        remote_down: bits == 32,
        remote_up: bits == 33,
        packet_valid: bits == 7,
        packet_hops: hops,
        initiator: bits & 8 == 0,
        message_in,
        enable: controls & 1 != 0,
        link_up: controls & 2 != 0,
        force_wake: controls & 4 != 0,
        clear_error: controls & 8 != 0,
        ..Inputs::default()
    })
}

fn sync() -> impl Strategy<Value = SyncPlan> {
    prop_oneof![
        Just(SyncPlan::Levels),
        (1u64..60).prop_map(|timeout| SyncPlan::Messages(MessagesPlan { timeout })),
        Just(SyncPlan::Lpi),
    ]
}

/// None, or one of few tokens.
fn guard() -> impl Strategy<Value = Option<GuardPlan>> {
    prop_oneof![
        Just(None),
        (1u32..4, 20u128..800).prop_map(|(burst, denominator)| Some(GuardPlan {
            burst,
            numerator: 1,
            denominator,
            adjustable: false,
            rate_bits: 1,
        })),
    ]
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn skipping_equals_stepping(
        runs in prop::collection::vec((inputs(), prop_oneof![1u64..4, 1u64..40, 1u64..3000]), 1..200),
        clocks_per_tick in prop_oneof![Just(1u64), Just(3)],
        policy in prop_oneof![Just(Policy::PerfBound), Just(Policy::PerfBoundCorrect), Just(Policy::Fixed), Just(Policy::AlwaysOn)],
        sleep in prop::sample::select(Sleep::ALL.to_vec()),
        sync in sync(),
        guard in guard(),
        control_pins in any::<bool>(),
    ) {
        let guard = guard.filter(|_| sync != SyncPlan::Levels && policy != Policy::AlwaysOn);
        let plan = PortPlan {
            clocks_per_tick, policy, sleep, sync, guard, control_pins, ..small_plan()
        };
        let mut skipping = Port::new(&plan);
        let mut stepping = Port::new(&plan);
        for (inputs, cycles) in runs {
            let mut left = cycles;
            while left > 0 {
                let before = skipping.outputs();
                let promised = skipping.quiet_cycles(&inputs);
                let clocked = skipping.advance(&inputs, left);
                prop_assert!(clocked >= promised.min(left), "quiet_cycles promised too much");
                for _ in 0..clocked {
                    prop_assert_eq!(stepping.outputs(), before);
                    stepping.clock(&inputs);
                }
                prop_assert_eq!(stepping.outputs(), skipping.outputs());
                left -= clocked;
            }
        }
    }

    /// Refreshes that are passed over leave a port as those do that are clocked: in all that it does
    /// from then on, too.
    #[test]
    fn passing_refreshes_equals_stepping(
        runs in prop::collection::vec((inputs(), 1u64..60), 1..20),
        asleep in 0u64..200,
        periods in 1u64..9,
        later in prop::collection::vec((inputs(), 1u64..200), 1..20),
        policy in prop_oneof![Just(Policy::PerfBound), Just(Policy::PerfBoundCorrect), Just(Policy::Fixed)],
        kind in prop::sample::select(HistogramKind::ALL.to_vec()),
        sync in sync(),
        guard in guard(),
        control_pins in any::<bool>(),
    ) {
        let guard = guard.filter(|_| sync != SyncPlan::Levels);
        let mut plan = PortPlan {
            policy, sleep: Sleep::DeepSleep, sync, guard, control_pins, ..small_plan()
        };
        plan.histogram.kind = kind;
        let mut passing = Port::new(&plan);
        for (inputs, cycles) in runs {
            for _ in 0..cycles {
                passing.clock(&inputs);
            }
        }
        let idle = Inputs::quiet();
        for _ in 0..300 + asleep {
            passing.clock(&idle);
        }
        let Some(refreshes) = passing.refreshes(&idle) else {
            return Ok(());
        };
        let periods = periods.min(refreshes.cycles / refreshes.period());
        let mut stepping = passing.clone();
        passing.pass_refreshes(&idle, periods);
        for _ in 0..periods * refreshes.period() {
            stepping.clock(&idle);
        }
        prop_assert_eq!(stepping.outputs(), passing.outputs());
        prop_assert_eq!(stepping.time_registers(), passing.time_registers());
        for (inputs, cycles) in later {
            for _ in 0..cycles {
                stepping.clock(&inputs);
                passing.clock(&inputs);
                prop_assert_eq!(stepping.outputs(), passing.outputs());
            }
        }
    }
}

/// With a threshold that does not change.
fn fixed(t_pdt_init: u64) -> PortPlan {
    small_plan().with(|plan| {
        plan.policy = Policy::Fixed;
        plan.t_pdt_init = t_pdt_init;
    })
}

/// Drives one idle period after `busy` cycles of transmission; returns whether the link
/// left `Wake` in it.
fn period(port: &mut Port, busy: u64, idle: u64) -> bool {
    for _ in 0..busy {
        port.clock(&Inputs::sending());
    }
    for _ in 0..idle {
        port.clock(&Inputs::quiet());
    }
    port.clock(&Inputs::sending());
    assert_ne!(port.outputs().hit, port.outputs().miss);
    port.outputs().miss
}

#[test]
fn a_period_is_a_miss_iff_it_is_longer_than_the_threshold() {
    // SPEC 3: miss iff t_inac > t_PDT; 0 powers down at once.
    for threshold in [0, 1, 5, 40] {
        for idle in 1..60 {
            let plan = fixed(threshold);
            assert_eq!(period(&mut Port::new(&plan), 30, idle), idle > threshold);
        }
    }
}

#[test]
fn the_largest_threshold_is_not_never() {
    // SPEC 3: the longest threshold that there is; 12 bits of ticks.
    let plan = fixed(4095);
    assert!(!period(&mut Port::new(&plan), 30, 4095));
    assert!(period(&mut Port::new(&plan), 30, 4096));
    // A port that was not permitted to sleep then is asked again with every tick.
    let mut port = Port::new(&plan);
    run_for(&mut port, &Inputs::default(), 5000);
    assert_eq!(port.outputs().power_state, PowerState::Wake);
    port.clock(&Inputs::quiet());
    assert_eq!(port.outputs().power_state, PowerState::GoingDown);
}

/// Clocks so many cycles.
fn run_for(port: &mut Port, inputs: &Inputs, cycles: u64) {
    let mut left = cycles;
    while left > 0 {
        left -= port.advance(inputs, left);
    }
}

/// Idle cycles until the port goes down, if it does within so many.
fn goes_down(port: &mut Port, most: u64) -> Option<u64> {
    (1..=most).find(|_| {
        port.clock(&Inputs::quiet());
        port.outputs().power_state == PowerState::GoingDown
    })
}

#[test]
fn a_port_that_only_received_waits_for_the_backstop() {
    // SPEC 3: max(t_PDT, t_backstop) if this end did not transmit in its last active cycle.
    for (t_backstop, t_pdt, expected) in [
        (Some(70), 0, Some(71)),
        (Some(70), 100, Some(101)),
        (Some(0), 0, Some(1)),
        (None, 0, None),
    ] {
        let plan = fixed(t_pdt).with(|plan| plan.t_backstop = t_backstop);
        let receiving = Inputs::quiet().with(|pins| pins.receiving = true);
        let mut port = Port::new(&plan);
        port.clock(&receiving);
        assert_eq!(goes_down(&mut port, 1000), expected);
        // Whoever transmits in the last active cycle goes by its threshold.
        let mut port = Port::new(&plan);
        let both = receiving.with(|pins| pins.transmitting = true);
        port.clock(&both);
        assert_eq!(goes_down(&mut port, 1000), Some(t_pdt + 1));
    }
}

#[test]
fn a_port_that_was_never_active_goes_down_and_counts_nothing() {
    // SPEC 3: armed from reset with t_pdt_init; the time before the first activity is no idle
    // period.
    for policy in [Policy::Fixed, Policy::PerfBound] {
        let plan = small_plan().with(|plan| plan.policy = policy);
        let mut port = Port::new(&plan);
        assert_eq!(goes_down(&mut port, 1000), Some(41));
        for _ in 0..40 {
            port.clock(&Inputs::waiting());
            assert!(!port.outputs().hit && !port.outputs().miss);
        }
        assert_eq!(port.outputs().power_state, PowerState::Wake);
    }
}

#[test]
fn a_packet_on_the_way_down_waits_for_the_way_up() {
    // SPEC 4: the transition down ends, then the port at once goes up. Hybrid: the first
    // sleep state is fast wake, 3 cycles down and 5 up.
    let plan = fixed(0);
    let mut port = Port::new(&plan);
    port.clock(&Inputs::sending());
    port.clock(&Inputs::quiet());
    let mut states = Vec::new();
    for _ in 0..9 {
        states.push(port.outputs().power_state);
        port.clock(&Inputs::waiting());
    }
    use PowerState::{GoingDown, GoingUp, Wake};
    assert_eq!(
        states,
        [GoingDown, GoingDown, GoingDown, GoingUp, GoingUp, GoingUp, GoingUp, GoingUp, Wake]
    );
}

/// A port with control pins and a fixed threshold of 40 ticks, in each way to agree, awake.
fn controlled() -> Vec<(PortPlan, Port)> {
    let all = [
        SyncPlan::Levels,
        SyncPlan::Messages(MessagesPlan { timeout: 9 }),
        SyncPlan::Lpi,
    ];
    let awake = all.map(|sync| {
        let plan = fixed(40).with(|plan| {
            plan.sync = sync;
            plan.control_pins = true;
        });
        let mut port = Port::new(&plan);
        start(&mut port);
        (plan, port)
    });
    awake.into()
}

/// Lets a port send for so long that it comes awake.
fn start(port: &mut Port) {
    for _ in 0..100 {
        let inputs = agreeing(port).with(|pins| {
            pins.queue_nonempty = true;
            pins.transmitting = true;
        });
        port.clock(&inputs);
    }
    assert!(port.outputs().tx_enable);
}

/// The inputs of an idle port whose other end agrees at once, by messages if it does so.
fn agreeing(port: &Port) -> Inputs {
    let answer = match port.outputs().message_out {
        Message::ReqDown | Message::ReqUp => Message::Ack,
        Message::Ack => Message::Sync,
        _ => Message::None,
    };
    Inputs::quiet().with(|pins| {
        pins.initiator = true;
        pins.message_in = answer as u8;
    })
}

/// Clocks an idle port whose other end agrees, until it is in a state; the cycles that takes.
fn until(port: &mut Port, change: impl Fn(&mut Inputs), state: PowerState, most: u64) -> u64 {
    for cycle in 0..most {
        if port.outputs().power_state == state {
            return cycle;
        }
        let inputs = agreeing(port).with(&change);
        port.clock(&inputs);
    }
    panic!("{state:?} is not reached in {most} cycles")
}

#[test]
fn a_disabled_port_stays_awake_and_sleeps_as_soon_as_it_may() {
    for (plan, mut port) in controlled() {
        for _ in 0..1000 {
            let inputs = agreeing(&port).with(|pins| {
                pins.enable = false;
                pins.remote_down = true;
            });
            port.clock(&inputs);
            assert!(port.outputs().tx_enable, "{:?}", plan.sync);
        }
        // With messages it asks once more within a time-out.
        let waited = until(&mut port, |_| {}, PowerState::GoingDown, 30);
        assert!(waited <= 20, "{:?}: {waited}", plan.sync);
        // A link that sleeps stays asleep.
        let disable = |pins: &mut Inputs| pins.enable = false;
        until(&mut port, disable, PowerState::DeepSleep, 100);
        run_for(&mut port, &Inputs::quiet().with(disable), 1000);
        let state = port.outputs().power_state;
        assert!(
            [PowerState::DeepSleep, PowerState::Refresh].contains(&state),
            "{:?}: {state:?}",
            plan.sync
        );
    }
}

#[test]
fn a_request_to_go_down_is_refused_while_the_port_is_disabled() {
    let (_, mut port) = controlled().remove(1);
    let asked = Inputs::quiet().with(|pins| {
        pins.message_in = Message::ReqDown as u8;
        pins.enable = false;
    });
    port.clock(&asked);
    assert_eq!(port.outputs().message_out, Message::Nack);
    port.clock(&asked.with(|pins| pins.enable = true));
    assert_eq!(port.outputs().message_out, Message::Ack);
    // A promise is kept.
    port.clock(&asked.with(|pins| pins.message_in = Message::Sync as u8));
    assert_eq!(port.outputs().power_state, PowerState::GoingDown);
}

#[test]
fn a_link_is_forced_awake_and_stays_so() {
    for (plan, mut port) in controlled() {
        let sync = plan.sync;
        until(&mut port, |_| {}, PowerState::FastWake, 100);
        let force = |pins: &mut Inputs| pins.force_wake = true;
        until(&mut port, force, PowerState::Wake, 20);
        for _ in 0..500 {
            let inputs = agreeing(&port).with(force);
            port.clock(&inputs);
            assert_eq!(port.outputs().power_state, PowerState::Wake, "{sync:?}");
            // It is no activity.
            assert!(!port.outputs().hit && !port.outputs().miss);
        }
        // The idle period ends with a packet, and the link had left `Wake` in it.
        port.clock(&Inputs::sending());
        assert!(port.outputs().miss, "{sync:?}");
    }
}

#[test]
fn a_link_that_is_forced_awake_takes_no_token() {
    for sync in [
        SyncPlan::Messages(MessagesPlan { timeout: 9 }),
        SyncPlan::Lpi,
    ] {
        let plan = fixed(0).with(|plan| {
            plan.sync = sync;
            plan.control_pins = true;
            plan.guard = Some(GuardPlan {
                burst: 1,
                numerator: 1,
                denominator: 1 << 40,
                adjustable: false,
                rate_bits: 1,
            });
        });
        let mut port = Port::new(&plan);
        start(&mut port);
        for _ in 0..3 {
            until(&mut port, |_| {}, PowerState::FastWake, 100);
            until(
                &mut port,
                |pins| pins.force_wake = true,
                PowerState::Wake,
                40,
            );
        }
        // Nor does a packet that waits for a link that was lost.
        let lost = Inputs::waiting().with(|pins| pins.link_up = false);
        run_for(&mut port, &lost, 10);
        start(&mut port);
        until(&mut port, |_| {}, PowerState::FastWake, 200);
        // One that waits for a link that sleeps does.
        until(
            &mut port,
            |pins| pins.queue_nonempty = true,
            PowerState::Wake,
            40,
        );
        for _ in 0..1000 {
            let inputs = agreeing(&port);
            port.clock(&inputs);
            assert_eq!(port.outputs().power_state, PowerState::Wake, "{sync:?}");
        }
    }
}

#[test]
fn nothing_is_sent_without_a_link() {
    for (plan, mut port) in controlled() {
        let sync = plan.sync;
        let threshold = port.outputs().t_pdt;
        run_for(&mut port, &Inputs::quiet(), 20);
        let lost = Inputs::waiting().with(|pins| pins.link_up = false);
        for cycles in [1, 10, 100_000] {
            run_for(&mut port, &lost, cycles);
            let outputs = port.outputs();
            assert_eq!(outputs.power_state, PowerState::GoingUp, "{sync:?}");
            assert!(!outputs.tx_enable && outputs.message_out == Message::None);
            // The period that was under way is no sample.
            assert!(!outputs.hit && !outputs.miss, "{sync:?}");
        }
        // The longest t_w is 11 cycles.
        for _ in 0..11 {
            assert_eq!(port.outputs().power_state, PowerState::GoingUp, "{sync:?}");
            port.clock(&Inputs::waiting());
        }
        assert_eq!(port.outputs().power_state, PowerState::Wake, "{sync:?}");
        assert_eq!(port.outputs().t_pdt, threshold);
        run_for(&mut port, &Inputs::waiting(), 100);
        assert!(port.outputs().tx_enable, "{sync:?}");
        // Idle time counts from then on.
        run_for(&mut port, &Inputs::quiet(), 10);
        port.clock(&Inputs::sending());
        assert!(port.outputs().hit, "{sync:?}");
    }
}

#[test]
fn a_port_without_a_link_does_not_come_out_of_reset_awake() {
    for (plan, _) in controlled() {
        let mut port = Port::new(&plan);
        let lost = Inputs::quiet().with(|pins| pins.link_up = false);
        for _ in 0..100 {
            assert!(!port.outputs().tx_enable, "{:?}", plan.sync);
            port.clock(&lost);
            assert_eq!(port.outputs().power_state, PowerState::GoingUp);
        }
        until(&mut port, |_| {}, PowerState::Wake, 12);
    }
}

#[test]
fn an_error_is_cleared_unless_it_rises_again() {
    let (_, mut port) = controlled().remove(1);
    // Nobody answers.
    let silent = Inputs::quiet();
    let clear = silent.with(|pins| pins.clear_error = true);
    run_for(&mut port, &silent, 200);
    assert!(port.outputs().sync_error);
    port.clock(&clear);
    assert!(!port.outputs().sync_error);
    // The end of START after a lost link, in the very cycle in which the error is cleared.
    port.clock(&silent.with(|pins| pins.link_up = false));
    let mut rose = false;
    for _ in 0..200 {
        port.clock(&clear);
        rose |= port.outputs().sync_error;
    }
    assert!(rose);
    assert!(!port.outputs().sync_error);
}

#[test]
fn the_first_threshold_lies_one_bin_above_the_first_sample() {
    // X is small, N = floor(X/100) = 0, so the lowest bin with an empty tail is the one
    // above the sample's: t_inac = 10 falls into bin 2 of 4 ticks, the middle of bin 3
    // is 14.
    let mut port = Port::new(&small_plan());
    period(&mut port, 30, 10);
    assert_eq!(port.outputs().t_pb, 40);
    period(&mut port, 60, 10);
    assert_eq!(port.outputs().t_pb, 14);
    assert_eq!(port.outputs().window, 40);
    assert_eq!(port.outputs().budget, 0);
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn description_and_golden_model_agree(
        runs in prop::collection::vec((inputs(), prop_oneof![3 => 1u64..4, 2 => 1u64..60, 1 => 1u64..900]), 1..150),
        clocks_per_tick in prop_oneof![Just(1u64), Just(3)],
        policy in prop_oneof![4 => Just(Policy::PerfBound), 4 => Just(Policy::PerfBoundCorrect), 1 => Just(Policy::Fixed), 1 => Just(Policy::AlwaysOn)],
        sleep in prop_oneof![Just(Sleep::Hybrid), Just(Sleep::FastWake), Just(Sleep::DeepSleep)],
        max_samples in 1u32..40,
        bins in 4u32..40,
        max_value in 3u64..300,
        ttl in prop_oneof![Just(None), (1u64..2000).prop_map(Some)],
        (kind, scale) in histograms(),
        sync in sync(),
        window in prop_oneof![Just(CircularWindow::Held), Just(CircularWindow::Elapsed)],
        miss_unit in prop_oneof![Just(MissUnit::Fraction), Just(MissUnit::Percent)],
        time_width in prop_oneof![Just(9u32), Just(12)],
        guard in guard(),
        control_pins in any::<bool>(),
    ) {
        let mut plan = PortPlan {
            time_width, clocks_per_tick, policy, sleep, sync, control_pins, ..small_plan()
        };
        plan.guard = guard.filter(|_| sync != SyncPlan::Levels && policy != Policy::AlwaysOn);
        plan.correction.miss_unit = miss_unit;
        let longest = plan.max_time();
        plan.histogram = HistogramPlan {
            kind, scale, max_samples, bins, max_value, window,
            counter_bits: if kind == HistogramKind::Circular { 6 } else { 3 },
            ttl: ttl.filter(|_| kind.ages()).map(|ttl: u64| ttl.min(longest)),
            ..plan.histogram
        };
        // The window may grow to the largest time, 4095 ticks: N up to 40.
        plan.budget.width = 6;
        if !plan.histogram.window_only_grows() {
            // Powers of two: the product is exact over any window.
            plan.budget.numerator = 1;
            plan.budget.denominator = 128;
            plan.budget.product = Some(Product { k: 256, s: 15 });
        }
        let mut golden = Port::new(&plan);
        let mut bench = Bench::new(super::Port::new(&plan));
        let mut cycle = 0;
        for (inputs, cycles) in runs {
            for _ in 0..cycles {
                bench.drive_port(&plan, &inputs);
                let wrong = bench.wrong_outputs(&plan, &golden.outputs());
                prop_assert!(wrong.is_empty(), "cycle {}: {:?}", cycle, wrong);
                bench.clock();
                golden.clock(&inputs);
                cycle += 1;
            }
        }
    }
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    let mut plans = Vec::new();
    for policy in Policy::ALL {
        for sleep in [Sleep::FastWake, Sleep::DeepSleep, Sleep::Hybrid] {
            for sync in [
                SyncPlan::Levels,
                SyncPlan::Messages(MessagesPlan { timeout: 9 }),
                SyncPlan::Lpi,
            ] {
                plans.push(small_plan().with(|plan| {
                    plan.policy = policy;
                    plan.sleep = sleep;
                    plan.sync = sync;
                    plan.control_pins = sleep == Sleep::Hybrid;
                }));
            }
        }
    }
    // One in four has every policy, and every sleep state with every way to agree.
    for plan in share(&plans, 4) {
        check::agrees_with_verilog(|| super::Port::new(plan), 4000, 7).unwrap();
    }
}
