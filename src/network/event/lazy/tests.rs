use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::blocks::port::model::Model;
use crate::blocks::port::pins::{Inputs, Outputs};
use crate::config::plan::{
    BinScale, BudgetPlan, CircularWindow, CorrectionPlan, GuardPlan, HistogramKind, HistogramPlan,
    LinkPlan, MemoryCode, MessagesPlan, MissUnit, Product, RefreshPlan, Sleep, SleepTimes,
    SyncPlan,
};
use crate::network::event::controller::{awake_pair, Controller};
use crate::network::event::time::Cycle;

/// Cycles that messages and packets are on the cable.
const DELAY: u64 = 7;

/// Thresholds of some ten cycles, histograms that are cleared after some ten samples.
fn plan() -> PortPlan {
    PortPlan {
        time_width: 16,
        clocks_per_tick: 1,
        policy: Policy::PerfBound,
        sleep: Sleep::Hybrid,
        t_pdt_init: 40,
        t_backstop: Some(150),
        link: LinkPlan {
            fast_wake: SleepTimes { t_s: 3, t_w: 5 },
            deep_sleep: SleepTimes { t_s: 7, t_w: 11 },
            hybrid_hold: 9,
            refresh: Some(RefreshPlan { t_q: 60, t_r: 20 }),
        },
        sync: SyncPlan::Messages(MessagesPlan { timeout: 60 }),
        control_pins: false,
        triple_redundancy: false,
        memory_code: MemoryCode::Plain,
        registers: None,
        histogram: HistogramPlan {
            kind: HistogramKind::Clearing,
            scale: BinScale::Linear,
            bins: 20,
            bin_shift: 3,
            counter_bits: 6,
            max_samples: 40,
            ttl: Some(9000),
            max_value: 150,
            map_entries: 8,
            window: CircularWindow::Held,
        },
        budget: BudgetPlan {
            numerator: 3,
            denominator: 301,
            product: None,
            width: 32,
            step_ticks: 1,
            rate: None,
        },
        hop_window_log2: 12,
        correction: CorrectionPlan {
            history: 8,
            at_least_one: true,
            miss_unit: MissUnit::Fraction,
            fraction_bits: 12,
        },
        guard: None,
    }
}

/// A histogram of this kind.
fn with_kind(plan: PortPlan, kind: HistogramKind, scale: BinScale) -> PortPlan {
    let histogram = HistogramPlan {
        kind,
        scale,
        ttl: plan.histogram.ttl.filter(|_| kind.ages()),
        ..plan.histogram
    };
    let multiplies = !histogram.window_only_grows();
    PortPlan {
        histogram,
        budget: BudgetPlan {
            product: multiplies.then_some(Product { k: 1, s: 1 }),
            ..plan.budget
        },
        ..plan
    }
}

/// What happened to a pair.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    cycles: u64,
    hits: u64,
    misses: u64,
    transitions: u64,
    messages: u64,
    /// Golden models clocked, logs shortened, generations ended.
    happened: [u64; 3],
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Self) {
        self.cycles += other.cycles;
        self.hits += other.hits;
        self.misses += other.misses;
        self.transitions += other.transitions;
        self.messages += other.messages;
        for (sum, more) in self.happened.iter_mut().zip(other.happened) {
            *sum += more;
        }
    }
}

/// One end of a link: a lazy port, and the golden model that is clocked every cycle.
struct End {
    lazy: LazyPort,
    golden: golden::Port,
    /// Lengths of the packets that wait, in cycles.
    queue: VecDeque<u64>,
    arrives_at: u64,
    paused_until: u64,
    waiting: bool,
    force_wake: bool,
    transmits_until: u64,
    receives_until: u64,
    /// Packets on the way to this end: when they begin to arrive, and how long they are.
    packets: VecDeque<(u64, u64)>,
    messages: VecDeque<(u64, Message)>,
    count: PortCycles,
}

impl End {
    /// Makes an deadline, as the network does.
    fn attend(&mut self) {
        let next = self.lazy.next();
        let deadline = &mut self.lazy.deadline;
        *deadline = next.min(*deadline);
    }
}

/// Random packets between two ends for so many cycles; everything that can be noticed is the
/// same in every one of them.
fn run_pair(plan: &PortPlan, cycles: u64, seed: u64) -> Seen {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let common = Arc::new(Common::new(plan).unwrap());
    let mut initiator = false;
    let mut ends = awake_pair(plan, DELAY).unwrap().ends.map(|golden| {
        initiator = !initiator;
        End {
            lazy: LazyPort::new(&common, &golden, initiator),
            golden,
            queue: VecDeque::new(),
            arrives_at: 5,
            paused_until: 0,
            waiting: false,
            force_wake: false,
            transmits_until: 0,
            receives_until: 0,
            packets: VecDeque::new(),
            messages: VecDeque::new(),
            count: PortCycles::default(),
        }
    });
    ends.iter_mut().for_each(End::attend);
    let mut seen = Seen::default();
    // Of each end: lengths of packets, cycles between them, how many come at once.
    let mut traffic = [(2, 3, 3, 1); 2];
    let mut before = ends.each_ref().map(|end| end.golden.outputs());
    for cycle in 0..cycles {
        if random.random_ratio(1, 1500) {
            traffic = std::array::from_fn(|_| {
                let lengths = [(1, 1), (2, 2), (2, 8), (41, 42)];
                let (shortest, longest) = lengths[random.random_range(0..lengths.len())];
                let gaps = [1, 2, 3, 10, 25, 45, 60, 100, 400, 5000];
                let gap = gaps[random.random_range(0..gaps.len())];
                (shortest, longest, gap, random.random_range(1..3))
            });
        }
        let outputs = ends.each_ref().map(|end| end.golden.outputs());
        for side in 0..2 {
            let at = format!("seed {seed}, end {side}, cycle {cycle}");
            let [first, second] = &mut ends;
            let (end, other) = match side {
                0 => (first, second),
                _ => (second, first),
            };
            let now = &outputs[side];
            count(&mut end.count, &before[side], now);
            if end.lazy.deadline == Cycle(cycle) {
                end.lazy.deadline = Cycle::NEVER;
                end.lazy.advance(Cycle(cycle));
                end.attend();
            } else if random.random_ratio(1, 50) {
                end.lazy.advance(Cycle(cycle));
                end.attend();
            }
            assert!(end.lazy.next() > Cycle(cycle), "{at}: it stands still");
            let sent = end.lazy.take_message();
            assert_eq!(sent.unwrap_or_default(), now.message_out, "{at}");
            assert_eq!(end.lazy.tx_enable(), now.tx_enable, "{at}");
            assert_eq!(end.lazy.power_state(), now.power_state, "{at}");
            assert_eq!(end.lazy.fault(), None, "{at}");
            if let Some(message) = sent {
                seen.messages += 1;
                other.messages.push_back((cycle + DELAY, message));
            }

            if plan.control_pins && random.random_ratio(1, 150) {
                end.force_wake ^= true;
                end.lazy.force_wake(Cycle(cycle), end.force_wake);
                end.attend();
            }
            let mut message_in = Message::None;
            if let Some((_, message)) = end.messages.pop_front_if(|(due, _)| *due == cycle) {
                message_in = message;
                end.lazy.receive_message(Cycle(cycle), message);
                end.attend();
            }
            if let Some((_, length)) = end.packets.pop_front_if(|(due, _)| *due == cycle) {
                end.receives_until = cycle + length;
                if end.lazy.receive(Cycle(cycle), Cycle(cycle + length)) {
                    end.attend();
                }
                assert!(end.lazy.next() >= end.lazy.deadline, "{at}");
            }
            if cycle >= end.arrives_at {
                let (shortest, longest, gap, most) = traffic[side];
                for _ in 0..random.random_range(1..=most) {
                    end.queue.push_back(random.random_range(shortest..=longest));
                }
                end.arrives_at = cycle + longest + random.random_range(1..=2 * gap);
                if random.random_ratio(1, 300) {
                    end.arrives_at += 500;
                    end.paused_until = cycle + random.random_range(0..200);
                }
            }
            if !end.queue.is_empty() && cycle >= end.transmits_until {
                let may_send = end.lazy.may_send(Cycle(cycle));
                assert_eq!(may_send, now.tx_enable, "{at}");
                if may_send && cycle >= end.paused_until {
                    let length = end.queue.pop_front().unwrap();
                    end.waiting = false;
                    end.transmits_until = cycle + length;
                    if end.lazy.transmit(Cycle(cycle), Cycle(cycle + length)) {
                        end.attend();
                    }
                    assert!(end.lazy.next() >= end.lazy.deadline, "{at}");
                    other.packets.push_back((cycle + DELAY, length));
                } else if !end.waiting {
                    end.waiting = true;
                    end.lazy.wait(Cycle(cycle));
                    end.attend();
                }
            }
            let transmitting = cycle < end.transmits_until;
            end.golden.clock(&Inputs {
                queue_nonempty: end.waiting || transmitting,
                transmitting,
                receiving: cycle < end.receives_until,
                initiator: side == 0,
                force_wake: end.force_wake,
                message_in: message_in as u8,
                ..Inputs::default()
            });
        }
        before = outputs;
        if cycle % 997 == 0 {
            // It has not counted the present cycle, the golden model has.
            for (end, outputs) in ends.iter_mut().zip(&outputs) {
                let mut count = end.lazy.account(cycle);
                count.states[outputs.power_state as usize] += 1;
                count.hits += u64::from(outputs.hit);
                count.misses += u64::from(outputs.miss);
                assert_eq!(count, end.count, "seed {seed}, cycle {cycle}");
            }
        }
    }
    seen.cycles = cycles;
    for end in &mut ends {
        seen.hits += end.count.hits;
        seen.misses += end.count.misses;
        seen.transitions += end.count.transitions;
        for (sum, more) in seen.happened.iter_mut().zip(end.lazy.happened()) {
            *sum += more;
        }
    }
    seen
}

/// Counts a cycle as `controller::Clocked` does.
fn count(count: &mut PortCycles, before: &Outputs, now: &Outputs) {
    count.states[now.power_state as usize] += 1;
    count.hits += u64::from(now.hit);
    count.misses += u64::from(now.miss);
    let begins = matches!(now.power_state, PowerState::GoingDown | PowerState::GoingUp);
    let changes = now.power_state != before.power_state;
    count.transitions += u64::from(begins && changes);
    count.wake_ups += u64::from(changes && now.power_state == PowerState::GoingUp);
}

#[test]
fn a_fixed_threshold_is_the_golden_one() {
    let mut sum = Seen::default();
    for (number, sleep) in Sleep::ALL.into_iter().enumerate() {
        for (t_pdt_init, clocks_per_tick) in [(0, 1), (5, 1), (60, 1), (9, 3), (65535, 1)] {
            let plan = PortPlan {
                policy: Policy::Fixed,
                sleep,
                t_pdt_init,
                clocks_per_tick,
                ..plan()
            };
            let seen = run_pair(&plan, 30_000, number as u64);
            assert_eq!(seen.misses == 0, t_pdt_init == 65535, "{plan:?}");
            sum += seen;
        }
    }
    assert!(
        sum.hits > 5000 && sum.misses > 1000 && sum.transitions > 2000,
        "{sum:?}"
    );
}

/// A guard of few tokens that come slowly refuses again and again, in every sleep state.
#[test]
fn a_guarded_port_is_the_golden_one() {
    let (mut sum, mut without) = (Seen::default(), Seen::default());
    for (number, sleep) in Sleep::ALL.into_iter().enumerate() {
        for (policy, t_pdt_init, clocks_per_tick) in [
            (Policy::Fixed, 0, 1),
            (Policy::Fixed, 9, 3),
            (Policy::PerfBound, 40, 1),
            (Policy::PerfBoundCorrect, 40, 3),
        ] {
            for burst in [1, 3] {
                let plan = PortPlan {
                    policy,
                    sleep,
                    t_pdt_init,
                    clocks_per_tick,
                    t_backstop: (burst == 1).then_some(30),
                    guard: Some(GuardPlan {
                        burst,
                        numerator: 1,
                        denominator: 500,
                        adjustable: false,
                        rate_bits: 1,
                    }),
                    ..plan()
                };
                sum += run_pair(&plan, 40_000, number as u64);
                let unguarded = PortPlan {
                    guard: None,
                    ..plan
                };
                without += run_pair(&unguarded, 40_000, number as u64);
            }
        }
    }
    assert!(sum.hits > 5000 && sum.misses > 500, "{sum:?}");
    assert!(
        sum.transitions > 1000 && sum.transitions < without.transitions / 2,
        "{sum:?} {without:?}"
    );
}

/// The same plan where each direction of the link sleeps for itself (SPEC 14).
fn per_direction(plan: PortPlan) -> PortPlan {
    PortPlan {
        sync: SyncPlan::Lpi,
        t_backstop: None,
        ..plan
    }
}

#[test]
fn a_direction_that_sleeps_for_itself_is_the_golden_one() {
    let mut sum = Seen::default();
    for (number, sleep) in Sleep::ALL.into_iter().enumerate() {
        for (t_pdt_init, clocks_per_tick) in [(0, 1), (5, 1), (60, 1), (9, 3), (65535, 1)] {
            let plan = per_direction(PortPlan {
                policy: Policy::Fixed,
                sleep,
                t_pdt_init,
                clocks_per_tick,
                ..plan()
            });
            let seen = run_pair(&plan, 30_000, number as u64);
            assert_eq!(seen.misses == 0, t_pdt_init == 65535, "{plan:?}");
            sum += seen;
        }
        for (seed, kind) in (10..).zip(HistogramKind::ALL) {
            for policy in [Policy::PerfBound, Policy::PerfBoundCorrect] {
                let mut plan = with_kind(plan(), kind, BinScale::Linear);
                plan.policy = policy;
                plan.sleep = sleep;
                plan.budget.denominator = [301, 1501][seed as usize % 2];
                sum += run_pair(&per_direction(plan), 30_000, seed);
            }
        }
    }
    assert_eq!(sum.messages, 0);
    assert!(
        sum.hits > 20_000 && sum.misses > 3000 && sum.transitions > 6000,
        "{sum:?}"
    );
}

/// Its switch keeps it awake at times, whatever governs it otherwise.
#[test]
fn a_direction_that_is_kept_awake_is_the_golden_one() {
    let mut sum = Seen::default();
    for (number, sleep) in Sleep::ALL.into_iter().enumerate() {
        for (policy, t_pdt_init, clocks_per_tick) in [
            (Policy::Fixed, 0, 1),
            (Policy::Fixed, 9, 3),
            (Policy::Fixed, 60, 1),
            (Policy::PerfBound, 40, 1),
            (Policy::PerfBoundCorrect, 40, 3),
        ] {
            for guard in [None, Some((2, 7))] {
                let plan = per_direction(PortPlan {
                    policy,
                    sleep,
                    t_pdt_init,
                    clocks_per_tick,
                    control_pins: true,
                    guard: guard.map(|(burst, numerator)| GuardPlan {
                        burst,
                        numerator,
                        denominator: 500,
                        adjustable: false,
                        rate_bits: 1,
                    }),
                    ..plan()
                });
                sum += run_pair(&plan, 40_000, number as u64);
            }
        }
    }
    assert!(
        sum.hits > 5000 && sum.misses > 1000 && sum.transitions > 2000,
        "{sum:?}"
    );
}

/// A guard that refuses lets a direction sleep as soon as there is a token: nobody asks again.
#[test]
fn a_guarded_direction_is_the_golden_one() {
    let (mut sum, mut without) = (Seen::default(), Seen::default());
    for (number, sleep) in Sleep::ALL.into_iter().enumerate() {
        for (policy, t_pdt_init, clocks_per_tick) in [
            (Policy::Fixed, 0, 1),
            (Policy::Fixed, 9, 3),
            (Policy::PerfBound, 40, 1),
            (Policy::PerfBoundCorrect, 40, 3),
        ] {
            // The last one refills nothing: what it has spent is gone.
            for (burst, numerator) in [(1, 1), (3, 1), (2, 7), (5, 0)] {
                let plan = per_direction(PortPlan {
                    policy,
                    sleep,
                    t_pdt_init,
                    clocks_per_tick,
                    guard: Some(GuardPlan {
                        burst,
                        numerator,
                        denominator: 500,
                        adjustable: false,
                        rate_bits: 1,
                    }),
                    ..plan()
                });
                sum += run_pair(&plan, 30_000, number as u64);
                let unguarded = PortPlan {
                    guard: None,
                    ..plan
                };
                without += run_pair(&unguarded, 30_000, number as u64);
            }
        }
    }
    assert!(sum.hits > 5000 && sum.misses > 500, "{sum:?}");
    assert!(
        sum.transitions > 1000 && sum.transitions < without.transitions / 2,
        "{sum:?} {without:?}"
    );
}

#[test]
fn predicted_thresholds_are_the_golden_ones() {
    let mut seed = 0;
    for kind in HistogramKind::ALL {
        let mut sum = Seen::default();
        for scale in [BinScale::Linear, BinScale::Log { mantissa_bits: 2 }] {
            for policy in [Policy::PerfBound, Policy::PerfBoundCorrect] {
                for sleep in Sleep::ALL {
                    for at_least_one in [true, false] {
                        seed += 1;
                        let mut plan = with_kind(plan(), kind, scale);
                        plan.policy = policy;
                        plan.sleep = sleep;
                        plan.correction.at_least_one = at_least_one;
                        plan.time_width = if seed % 2 == 0 { 16 } else { 32 };
                        plan.histogram.counter_bits = if seed % 7 < 4 { 6 } else { 12 };
                        plan.clocks_per_tick = if seed % 5 == 0 { 3 } else { 1 };
                        plan.budget.denominator = [301, 1501, 30_001, 3_000_001][seed as usize % 4];
                        if seed % 3 == 0 {
                            plan.correction.miss_unit = MissUnit::Percent;
                        }
                        // Windows that are over again and again, and counters that fill.
                        if kind == HistogramKind::Regular {
                            plan.time_width = [11, 13, 16, 32][seed as usize / 2 % 4];
                            plan.histogram.counter_bits = [3, 5, 6, 12][seed as usize / 8 % 4];
                        }
                        sum += run_pair(&plan, 40_000, seed);
                        if kind == HistogramKind::Circular {
                            plan.histogram.window = CircularWindow::Elapsed;
                            plan.budget.product = None;
                            plan.time_width = [12, 14, 16, 32][seed as usize / 2 % 4];
                            sum += run_pair(&plan, 40_000, seed);
                            // A counter may hold all samples, and is full then.
                            plan.histogram.window = CircularWindow::Held;
                            let bits = [1, 2, 3][seed as usize % 3];
                            plan.histogram.counter_bits = bits;
                            plan.histogram.max_samples = (1 << bits) - 1;
                            plan.budget.product = Some(Product { k: 1, s: 1 });
                            plan.time_width = 32;
                            sum += run_pair(&plan, 40_000, seed);
                        }
                    }
                }
            }
        }
        println!("{}: {sum:?}", kind.name());
        let [emulated, shortened, renewed] = sum.happened;
        assert!(sum.hits > 20_000 && sum.misses > 1000, "{kind:?} {sum:?}");
        assert!(emulated > 500 && shortened > 5, "{kind:?} {sum:?}");
        let renews = kind.ages() || kind == HistogramKind::Regular;
        assert_eq!(renewed > 200, renews, "{kind:?} {sum:?}");
    }
}

/// The floor of a threshold is kept in 32 bits of clock cycles; one that is longer still goes off
/// when it should.
#[test]
fn a_threshold_of_more_than_32_bits() {
    let plan = PortPlan {
        policy: Policy::Fixed,
        time_width: 48,
        t_pdt_init: 3 << 32,
        ..plan()
    };
    let common = Arc::new(Common::new(&plan).unwrap());
    let [mut golden, _] = awake_pair(&plan, DELAY).unwrap().ends;
    let mut lazy = LazyPort::new(&common, &golden, true);
    lazy.transmit(Cycle(0), Cycle(10));
    let mut asks = 0;
    let lazily = loop {
        let cycle = lazy.next();
        lazy.advance(cycle);
        asks += 1;
        if let Some(message) = lazy.take_message() {
            break (cycle, message);
        }
    };
    let mut cycle = 0;
    let mut inputs = Inputs {
        initiator: true,
        queue_nonempty: true,
        transmitting: true,
        ..Inputs::default()
    };
    while cycle < 10 {
        cycle += golden.advance(&inputs, 10 - cycle);
    }
    (inputs.queue_nonempty, inputs.transmitting) = (false, false);
    while golden.outputs().message_out == Message::None {
        cycle += golden.advance(&inputs, u64::MAX >> 1);
    }
    assert_eq!(lazily, (Cycle(cycle), golden.outputs().message_out));
    assert_eq!(lazily.1, Message::ReqDown);
    assert!(lazily.0 > Cycle(3 << 32) && asks < 10, "{lazily:?} {asks}");
}

/// The two ends of a link clocked through every cycle since reset, until both may send.
fn clocked_pair(plan: &PortPlan, delay: u64) -> [golden::Port; 2] {
    let mut ends = [golden::Port::new(plan), golden::Port::new(plan)];
    let mut messages: [VecDeque<(u64, Message)>; 2] = Default::default();
    for cycle in 0.. {
        let outputs = ends.each_ref().map(golden::Port::outputs);
        if outputs.iter().all(|outputs| outputs.tx_enable) {
            break;
        }
        for side in 0..2 {
            if outputs[side].message_out != Message::None {
                messages[1 - side].push_back((cycle + delay, outputs[side].message_out));
            }
            let message = messages[side].pop_front_if(|(due, _)| *due == cycle);
            ends[side].clock(&Inputs {
                initiator: side == 0,
                message_in: message.map_or(0, |(_, message)| message as u8),
                ..Inputs::default()
            });
        }
    }
    ends
}

#[test]
fn a_link_comes_up_as_if_clocked_through_every_cycle() {
    for policy in [Policy::Fixed, Policy::PerfBound, Policy::PerfBoundCorrect] {
        for delay in [1, DELAY, 25] {
            let plan = PortPlan { policy, ..plan() };
            let pair = awake_pair(&plan, delay).unwrap();
            let clocked = clocked_pair(&plan, delay);
            for (side, (end, clocked)) in pair.ends.iter().zip(&clocked).enumerate() {
                assert_eq!(format!("{end:?}"), format!("{clocked:?}"), "end {side}");
                let mut replayed = golden::Port::new(&plan);
                pair.wake(&mut replayed, side == 0);
                assert_eq!(
                    format!("{replayed:?}"),
                    format!("{clocked:?}"),
                    "end {side}"
                );
            }
        }
    }
}

#[test]
fn a_governor_has_one_line_beside_the_hits() {
    assert_eq!(std::mem::offset_of!(LazyPort, hits), 64);
    assert_eq!(std::mem::size_of::<Controller>(), 192);
}
