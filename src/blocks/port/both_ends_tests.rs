//! Two ends of a link whose software changes sleep state and times while packets come, in the steps of
//! docs/reference/registers.md.

use std::collections::VecDeque;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::golden::Port;
use super::model::Model;
use super::pins::{Inputs, PowerState};
use crate::blocks::csr::map::{self, Map};
use crate::blocks::csr::tests::timed_message_plan;
use crate::config::plan::*;

/// Delay of the link one way, in clock cycles. The least time-out of the plan is 14.
const DELAY: usize = 6;

/// What software does next.
#[derive(Clone, Copy, Debug)]
enum Step {
    Write(usize, u32, u32),
    /// `control` as it is, with `enable` 0.
    Disable(usize),
    /// Reads until these bits of a register are 0.
    Until(usize, u32, u32),
    Wait(u64),
}

/// One end and what is under way to it, oldest first.
struct End {
    port: Port,
    queued: u64,
    /// Cycles that the packet that is leaving still takes.
    leaving: u64,
    coming: VecDeque<(u8, bool)>,
}

/// What a run has seen.
#[derive(Debug, Default)]
struct Seen {
    /// Data arrived at an end that is not awake, or the ends were in different states.
    broken: u64,
    sleeps: u64,
    rounds: u64,
}

/// The writes that give both ends a sleep state and times, all of them legal.
fn parameters(plan: &PortPlan, page: &Map, random: &mut ChaCha8Rng) -> Vec<Step> {
    let control = page.register("control").reset() & !page.field("control", "sleep").mask();
    let sleep = random.random_range(0..3) << page.field("control", "sleep").low;
    let mut writes = vec![("control", control | sleep)];
    for limits in plan.adjustable_times() {
        let cycles = *[
            limits.least,
            limits.most,
            random.random_range(limits.least..=limits.most),
        ]
        .choose(random)
        .unwrap();
        writes.push((limits.time.name(), cycles as u32));
    }
    let mut steps = Vec::new();
    for end in 0..2 {
        let write =
            |&(name, value): &(&str, u32)| Step::Write(end, page.register(name).offset, value);
        steps.extend(writes.iter().map(write));
    }
    steps
}

/// One change of all parameters, with a link that is kept awake meanwhile or not.
fn round(plan: &PortPlan, page: &Map, keeps_awake: bool, random: &mut ChaCha8Rng) -> Vec<Step> {
    let at = |name: &str| page.register(name).offset;
    let mut steps = Vec::new();
    let apply = |steps: &mut Vec<Step>| {
        for end in 0..2 {
            steps.push(Step::Write(end, at("command"), 1));
        }
        for end in 0..2 {
            steps.push(Step::Until(end, at("command"), 1));
        }
    };
    let changes = parameters(plan, page, random);
    let enables: Vec<Step> = changes
        .iter()
        .copied()
        .filter(|step| matches!(step, Step::Write(_, address, _) if *address == at("control")))
        .collect();
    let disabled = |step: &Step| match *step {
        Step::Write(end, address, value) if address == at("control") => Step::Write(
            end,
            address,
            value & !page.field("control", "enable").mask(),
        ),
        other => other,
    };
    if keeps_awake {
        // The sleep state is still the old one.
        steps.extend([Step::Disable(0), Step::Disable(1)]);
        apply(&mut steps);
        steps.push(Step::Wait(plan.slowest().messages().unwrap().timeout));
        for end in 0..2 {
            let state = page.field("status", "power_state").mask();
            steps.push(Step::Until(end, at("status"), state));
        }
        steps.extend(changes.iter().map(disabled));
        apply(&mut steps);
        steps.extend(enables);
    } else {
        steps.extend(changes);
    }
    apply(&mut steps);
    steps.push(Step::Wait(random.random_range(100..1500)));
    steps
}

/// Runs a link for 60 rounds.
fn run(keeps_awake: bool, seed: u64) -> Seen {
    let plan = timed_message_plan(Policy::Fixed, 24).with(|plan| {
        if let Some(registers) = &mut plan.registers {
            registers.t_pdt = 12;
        }
    });
    let page = map::port(&plan);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let end = || End {
        port: Port::new(&plan),
        queued: 0,
        leaving: 0,
        coming: VecDeque::from(vec![(0, false); DELAY]),
    };
    let mut ends = [end(), end()];
    let mut control = [page.register("control").reset(); 2];
    let mut steps: VecDeque<Step> = VecDeque::new();
    let mut seen = Seen::default();
    let mut asleep = false;
    // Whether the step under way has been taken by its port.
    let mut taken = false;
    while seen.rounds < 60 {
        if steps.is_empty() {
            steps.extend(round(&plan, &page, keeps_awake, &mut random));
            seen.rounds += 1;
        }
        let outputs = [0, 1].map(|end| ends[end].port.outputs());
        let states = [0, 1].map(|end| PowerState::ALL[outputs[end].power_state as usize]);
        let sleeps = matches!(states[0], PowerState::FastWake | PowerState::DeepSleep);
        seen.sleeps += u64::from(sleeps && !asleep);
        asleep = sleeps;
        seen.broken += u64::from(states[0] != states[1]);
        let mut inputs = [0, 1].map(|end| {
            let it = &mut ends[end];
            if it.queued < 4 && random.random_ratio(1, 90) {
                it.queued += 1;
            }
            if it.leaving == 0 && it.queued > 0 && outputs[end].tx_enable {
                it.leaving = random.random_range(1..20);
                it.queued -= 1;
            }
            let (message_in, receiving) = it.coming.pop_front().unwrap();
            seen.broken += u64::from(receiving && states[end] != PowerState::Wake);
            let transmitting = it.leaving > 0;
            it.leaving = it.leaving.saturating_sub(1);
            Inputs {
                queue_nonempty: it.queued > 0,
                transmitting,
                receiving,
                message_in,
                initiator: end == 0,
                s_axi_bready: true,
                s_axi_rready: true,
                ..Inputs::default()
            }
        });
        for end in 0..2 {
            let sent = (outputs[end].message_out as u8, inputs[end].transmitting);
            ends[1 - end].coming.push_back(sent);
        }
        match steps.front_mut() {
            Some(Step::Wait(0)) | None => drop(steps.pop_front()),
            Some(Step::Wait(cycles)) => *cycles -= 1,
            Some(step @ &mut Step::Disable(end)) => {
                let enable = page.field("control", "enable").mask();
                let at = page.register("control").offset;
                *step = Step::Write(end, at, control[end] & !enable);
            }
            Some(&mut Step::Write(end, address, value)) => {
                let pins = &mut inputs[end];
                if !taken {
                    pins.s_axi_awvalid = true;
                    pins.s_axi_awaddr = address;
                    pins.s_axi_wvalid = true;
                    pins.s_axi_wdata = value;
                    pins.s_axi_wstrb = 15;
                    taken = outputs[end].s_axi_awready && outputs[end].s_axi_wready;
                } else if outputs[end].s_axi_bvalid {
                    assert_eq!(outputs[end].s_axi_bresp, 0, "{address:#x} = {value:#x}");
                    if address == page.register("control").offset {
                        control[end] = value;
                    }
                    taken = false;
                    steps.pop_front();
                }
            }
            Some(&mut Step::Until(end, address, mask)) => {
                let pins = &mut inputs[end];
                if !taken {
                    pins.s_axi_arvalid = true;
                    pins.s_axi_araddr = address;
                    taken = outputs[end].s_axi_arready;
                } else if outputs[end].s_axi_rvalid {
                    taken = false;
                    if outputs[end].s_axi_rdata & mask == 0 {
                        steps.pop_front();
                    }
                }
            }
        }
        for end in 0..2 {
            ends[end].port.clock(&inputs[end]);
        }
    }
    seen
}

/// With the link kept awake meanwhile the ends never differ, whatever they are set to.
#[test]
fn parameters_change_at_both_ends_without_a_broken_link() {
    for seed in 0..6 {
        let seen = run(true, seed);
        assert_eq!(seen.broken, 0, "seed {seed}: {seen:?}");
        assert!(seen.sleeps > 100, "seed {seed}: {seen:?}");
    }
}

/// A check that can fail: without these steps the link sleeps between the changes at its two ends.
#[test]
fn parameters_that_change_while_the_link_may_sleep_break_it() {
    assert!((0..6).any(|seed| run(false, seed).broken > 0));
}
