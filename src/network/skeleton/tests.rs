use std::ops::ControlFlow;
use std::path::Path;

use super::program::*;
use super::*;
use crate::blocks::port::controller::AlwaysOn;
use crate::blocks::testing::{share, unless_all};
use crate::network::clocked::{simulate, NoSink, Settings};
use crate::network::event::{self, Load, Replacements};
use crate::network::event_queue::EventQueue;
use crate::network::parameters::Parameters as Switch;
use crate::network::replay::{Host, Message, Overheads, Replay, Source};
use crate::network::topology::{SingleSwitch, Topology};
use crate::network::trace::fit::{fit, Fit, Slot};
use crate::network::trace::{self, info::ideal_time, TRACED_SPEED};
use crate::network::RunSummary;

const OVERHEADS: Overheads = Overheads {
    send: 200_000,
    recv: 50_000,
};

/// Small vectors, so that rings of many ranks stay short.
fn parameters(program: &str, ranks: u32, steps: u32) -> Parameters {
    let mut parameters = Parameters::new(program, ranks);
    parameters.steps = steps;
    match &mut parameters.kind {
        Kind::AllreduceRing {
            gradients,
            gradient_bytes,
        }
        | Kind::AllreduceHierarchical {
            gradients,
            gradient_bytes,
            ..
        } => {
            *gradients = Gradients::Layers;
            *gradient_bytes /= 200;
        }
        Kind::Sweep3d { blocks, .. } => *blocks = 3,
        Kind::Patmos { calc_ns } => *calc_ns = 1_000_000,
        _ => {}
    }
    parameters
}

/// Processors of proxy applications are fast, so that the clocked engine comes to their end.
fn skeleton(parameters: Parameters) -> Skeleton {
    let speed = match parameters.kind {
        Kind::Proxy { .. } => 10_000 * TRACED_SPEED,
        _ => TRACED_SPEED,
    };
    Skeleton::new(parameters, speed, 1).unwrap()
}

/// Steps of hundreds of exchanges: a few will do.
fn has_long_steps(program: &str) -> bool {
    ["laghos", "amg", "miniamr"].contains(&program)
}

#[test]
fn every_program_runs_to_its_end_on_any_number_of_ranks() {
    for program in PROGRAMS {
        for &ranks in share(&[8, 1, 12, 2, 9, 3, 16, 5, 27, 4, 30, 6, 24, 7, 13], 2) {
            // Much of the same.
            if has_long_steps(program) && ranks > 9 {
                continue;
            }
            // Steps with neighbour lists and with output.
            let mut parameters = parameters(program, ranks, 2);
            if program == "examinimd" {
                parameters.steps = 21;
            }
            if let Kind::Lammps { output_every, .. } = &mut parameters.kind {
                (*output_every, parameters.steps) = (3, 22);
            }
            let what = format!("{program} on {ranks}");
            let made = skeleton(parameters);
            let recorded = made.program().unwrap();
            assert_eq!(recorded.ranks(), made.ranks(), "{what}");
            assert_eq!(recorded.ops().len(), made.operations(), "{what}");
            let sends = recorded.ops().iter().filter(|op| op.kind == OpKind::Send);
            assert_eq!(sends.map(|op| op.size).sum::<u64>(), made.bytes(), "{what}");
            trace::check_matching(&recorded).unwrap_or_else(|error| panic!("{what}: {error}"));
            // Made while it runs it is the same program; every message meets a receive of its
            // size.
            let (time, sizes_differ) = ideal_time(&made).unwrap();
            assert_eq!(
                (time, 0),
                (ideal_time(&recorded).unwrap().0, sizes_differ),
                "{what}"
            );
            // What is written is read as the same program.
            let mut text = Vec::new();
            made.write_goal(&mut text).unwrap();
            let read = trace::from_text(&String::from_utf8(text).unwrap()).unwrap();
            assert_eq!(read.ops(), recorded.ops(), "{what}");
            assert_eq!(read.needs(), recorded.needs(), "{what}");
            let successors = |of: &Program| -> Vec<_> {
                let all = (0..of.ops().len() as u32).map(|op| of.successors(op).to_vec());
                all.collect()
            };
            assert_eq!(successors(&read), successors(&recorded), "{what}");
        }
    }
}

#[test]
fn volumes_follow_from_the_sizes() {
    let bytes = |parameters: Parameters| skeleton(parameters).bytes();
    let doublings = |ranks: u64, bytes: u64| {
        // Members beyond the largest power of two hand over and get back.
        let power = 1 << ranks.ilog2();
        (power * u64::from(ranks.ilog2()) + 2 * (ranks - power)) * bytes
    };
    let of_gradient = |ranks: u64, bytes: u64| match bytes {
        0..RING_BYTES_OF_TESTS => doublings(ranks, bytes),
        _ => 2 * (ranks - 1) * bytes,
    };
    for ranks in [8, 24, 30] {
        let ring = |gradients| {
            let mut parameters = Parameters::new("allreduce-ring", ranks);
            let kind = Kind::AllreduceRing {
                gradients,
                gradient_bytes: GRADIENT_BYTES,
            };
            (parameters.kind, parameters.steps) = (kind, 2);
            bytes(parameters)
        };
        let all = |list: &[Gradient]| -> u64 {
            let one = list.iter().map(|one| of_gradient(ranks.into(), one.bytes));
            2 * one.sum::<u64>()
        };
        assert_eq!(ring(Gradients::Buckets), all(&BUCKETS));
        assert_eq!(ring(Gradients::Layers), all(&LAYERS));
    }
    // Within 4 groups of 6, between 6 groups of 4: each of the 24 hands on 5/6 of a vector twice
    // and 3/4 of its sixth twice.
    let mut parameters = Parameters::new("allreduce-hierarchical", 24);
    parameters.steps = 1;
    if let Kind::AllreduceHierarchical { group, .. } = &mut parameters.kind {
        *group = 6;
    }
    let large: u64 = BUCKETS
        .iter()
        .map(|one| one.bytes)
        .filter(|bytes| *bytes > 8)
        .sum();
    // The loss: up and down the trees of the groups, and twice between the four first ranks.
    let loss = 8 * (2 * 4 * 5 + 4 * 2);
    assert_eq!(bytes(parameters), 4 * 2 * 5 * large + 2 * 3 * large + loss);

    let lammps = |ranks, steps| bytes(parameters_of("lammps", ranks, steps));
    let step: u64 = LAMMPS_STEP.iter().map(|one| one.bytes).sum();
    assert_eq!(lammps(27, 7), 27 * 7 * step);
    let forth: u64 = LAMMPS_STEP[6..].iter().map(|one| one.bytes).sum();
    let rebuild: u64 = LAMMPS_REBUILD.iter().map(|one| one.bytes).sum();
    let output: u64 = LAMMPS_OUTPUT
        .iter()
        .map(|(_, bytes)| doublings(27, *bytes))
        .sum();
    assert_eq!(
        lammps(27, 100),
        27 * (100 * step + 5 * rebuild - 5 * forth) + 2 * output
    );
    // Flat in two dimensions: only the third has neighbours.
    let third = LAMMPS_STEP.iter().filter(|one| one.dimension == 2);
    let third: u64 = third.map(|one| one.bytes).sum();
    assert_eq!(lammps(7, 1), 7 * third);

    let halo = |neighbours| {
        let mut parameters = Parameters::new("halo3d", 60);
        parameters.steps = 3;
        if let Kind::Halo3d { neighbours: of, .. } = &mut parameters.kind {
            *of = neighbours;
        }
        bytes(parameters)
    };
    assert_eq!(halo(6), 60 * 3 * 6 * 22_512);
    // 53 cells of 8 bytes on a side.
    assert_eq!(halo(26), 60 * 3 * (6 * 22_512 + 12 * 53 * 8 + 8 * 8));

    let fft = bytes(parameters_of("fft", 30, 3));
    assert_eq!(fft, 3 * 4 * 30 * (4 + 5) * FFT_MESSAGE);

    let sweep = bytes(parameters_of("sweep3d", 30, 2));
    let borders = 4 * 6 + 5 * 5;
    assert_eq!(sweep, 2 * (8 * 10 * borders * 12_000 + doublings(30, 8)));

    let patmos = bytes(parameters_of("patmos", 30, 1));
    let trees = 29 * (PATMOS_BROADCAST + PATMOS_REDUCE[0] + PATMOS_REDUCE[1] + 8 + 8);
    assert_eq!(patmos, trees + doublings(30, 8) + doublings(30, 1));
}

/// From this size on vectors go round a ring (docs/reference/traces.md).
const RING_BYTES_OF_TESTS: u64 = 65_536;

fn parameters_of(program: &str, ranks: u32, steps: u32) -> Parameters {
    let mut parameters = Parameters::new(program, ranks);
    parameters.steps = steps;
    parameters
}

/// Messages take a microsecond.
struct Plain {
    now: u64,
    queue: EventQueue<Result<u32, Message>>,
}

impl Host for Plain {
    fn now(&self) -> u64 {
        self.now
    }

    fn after(&mut self, delay: u64, _: usize, cpu: u32) {
        self.queue.schedule(self.now + delay, Ok(cpu));
    }

    fn send(&mut self, message: Message) {
        self.queue.schedule(self.now + 1_000_000, Err(message));
    }
}

#[test]
fn memory_does_not_grow_with_the_steps() {
    let most_in_memory = |program: &str, steps| {
        let made = skeleton(parameters(program, 12, steps));
        let mut replay = Replay::new(&made, OVERHEADS);
        let mut host = Plain {
            now: 0,
            queue: EventQueue::default(),
        };
        replay.start(&mut host);
        let mut most = replay.operations_in_memory();
        while let Some((now, event)) = host.queue.pop() {
            host.now = now;
            match event {
                Ok(cpu) => replay.finish(cpu, &mut host),
                Err(message) => replay.deliver(message, &mut host),
            }
            most = most.max(replay.operations_in_memory());
        }
        assert!(replay.is_complete(), "{program}");
        assert_eq!(replay.operations_in_memory(), 0, "{program}");
        most
    };
    for program in PROGRAMS {
        let steps = if has_long_steps(program) { 2 } else { 21 };
        let few = most_in_memory(program, steps);
        let times = 12 / unless_all(3) as u32;
        let many = most_in_memory(program, times * steps);
        // 26 receives that are posted together, and a few operations around them.
        assert!(
            many <= few + 12,
            "{program}: {few} in {steps} steps, {many} in {times} times as many"
        );
        assert!(many <= 12 * 32, "{program}: {many}");
    }
}

#[test]
fn both_engines_run_it_as_if_it_were_recorded_with_any_number_of_threads() {
    let switch = Switch::default();
    let topology = SingleSwitch { nodes: 8 };
    let mut go_on = |_: &crate::network::Progress| ControlFlow::Continue(());
    for program in PROGRAMS {
        let mut parameters = parameters(program, 15, 1);
        // Ranks of a node finish at the same time: nothing may depend on which is first.
        parameters.jitter_millionths = 0;
        let made = skeleton(parameters);
        let recorded = made.program().unwrap();
        // Two ranks to a node.
        let nodes: Vec<u32> = (0..15).map(|rank| rank / 2).collect();
        let mut with = |source: Source, threads| -> RunSummary {
            let load = Load::Programs {
                programs: &[source],
                nodes: &nodes,
                overheads: OVERHEADS,
            };
            let settings = event::Settings {
                sample_ps: None,
                switch,
                power: event::Power {
                    clock_ps: 1000,
                    plans: &[],
                    metered: Some(event::link_idle::Sleeper::Link),
                },
                duration_ps: None,
                warm_up_ps: 0,
                threads,
            };
            event::run(&topology, load, &settings, Replacements::new(), &mut go_on).unwrap()
        };
        let expected = with((&recorded).into(), 1);
        assert_eq!(expected.operations, made.operations(), "{program}");
        assert_eq!((expected.cpus[0], expected.cpus[7]), (2, 1), "{program}");
        for threads in [1, 2] {
            assert_eq!(
                with((&made).into(), threads),
                expected,
                "{program}, {threads}"
            );
        }
        let clocked = |source: Source| {
            let settings = Settings {
                switch,
                overheads: OVERHEADS,
                clock_ps: 1000,
                duration_ps: None,
                warm_up_ps: 0,
                window_cycles: 1 << 40,
            };
            let controllers = (0..topology.ports())
                .map(|_| {
                    Box::new(AlwaysOn)
                        as Box<dyn crate::blocks::port::controller::PowerController + Send>
                })
                .collect();
            simulate(
                &topology,
                source,
                &nodes,
                &settings,
                controllers,
                &mut NoSink,
                &mut |_| ControlFlow::Continue(()),
            )
            .unwrap()
        };
        assert_eq!(
            clocked((&made).into()),
            clocked((&recorded).into()),
            "{program}"
        );
    }
}

#[test]
fn computing_times_are_drawn_from_the_seed() {
    let mut parameters = parameters("lammps", 8, 3);
    parameters.jitter_millionths = 100_000;
    let one = Skeleton::new(parameters, TRACED_SPEED, 1).unwrap();
    let other = Skeleton::new(parameters, TRACED_SPEED, 2).unwrap();
    assert_eq!(one.program().unwrap(), one.program().unwrap());
    assert_ne!(one.program().unwrap(), other.program().unwrap());
    let mut logs: Vec<f64> = (0..40_000)
        .map(|number| one.drawn(number as u32 % 40, number / 40, 1_000_000) as f64 / 1e6)
        .map(f64::ln)
        .collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / logs.len() as f64;
    assert!(mean.abs() < 0.002, "{mean}");
    assert!((variance.sqrt() / 0.1 - 1.0).abs() < 0.02, "{variance}");
    // Numbers of one rank that follow each other do not follow from each other.
    let lagged: f64 = logs.windows(41).map(|pair| pair[0] * pair[40]).sum();
    assert!((lagged / variance / logs.len() as f64).abs() < 0.02);
    logs.sort_by(f64::total_cmp);
    logs.dedup();
    // Times are whole nanoseconds: some of 40,000 are equal.
    assert!(logs.len() > 35_000);
    parameters.jitter_millionths = 0;
    let exact = skeleton(parameters);
    assert_eq!(exact.drawn(3, 4, 1_000), 1_000);
}

#[test]
fn what_is_too_long_is_refused_with_what_is_not() {
    let with_steps = |steps| Skeleton::new(parameters_of("lammps", 8, steps), TRACED_SPEED, 1);
    let error = with_steps(u32::MAX).unwrap_err();
    assert!(error.contains("operations of a rank"), "{error}");
    let (_, most) = error.split_once("these parameters are about ").unwrap();
    let most: u32 = most.parse().unwrap();
    with_steps(most - most / 1000).unwrap();
    with_steps(most + most / 1000).unwrap_err();
    let mut long = Parameters::new("patmos", 8);
    long.kind = Kind::Patmos {
        calc_ns: 10_000_000_000_000,
    };
    long.steps = 1000;
    let error = Skeleton::new(long, TRACED_SPEED, 1).unwrap_err();
    assert!(error.contains("ns of computing"), "{error}");
    assert!(error.contains("about 115"), "{error}");
}

fn traced(file: &str) -> Fit {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sim").join(file);
    fit(&trace::read(&path).unwrap())
}

/// The exchanges that some slots make up: receives and sends in turn.
fn exchanges(slots: &[Slot]) -> Vec<(u64, u64, u64)> {
    let pairs = slots.chunks(2).map(|pair| {
        assert_eq!((pair[0].what, pair[1].what), ("recv", "send"));
        let calc = |slot: &Slot| slot.calc_ns.median;
        (pair[1].bytes, calc(&pair[0]), calc(&pair[1]))
    });
    pairs.collect()
}

fn figures(exchanges: &[Exchange]) -> Vec<(u64, u64, u64)> {
    exchanges
        .iter()
        .map(|one| (one.bytes, one.before_recv_ns, one.before_send_ns))
        .collect()
}

/// What the trace `lammps-lj-r64-s100` repeats is what the skeleton does.
#[test]
fn lammps_has_the_figures_of_its_trace() {
    let fit = traced("lammps-lj-r64-s100.goal.zst");
    assert_eq!((fit.ranks, fit.ranks_alike, fit.period), (64, 64, 24));
    assert_eq!(exchanges(&fit.step), figures(&LAMMPS_STEP));
    assert_eq!((fit.jitter * 1e3).round() as u64 * 1000, LAMMPS_JITTER);
    let [rebuild, output] = &fit.between[..] else {
        panic!("{:?}", fit.between)
    };
    // The step in which lists are made anew goes back as others do.
    assert_eq!(exchanges(&rebuild.slots[12..]), figures(&LAMMPS_REBUILD));
    assert_eq!(rebuild.calc_after_ns, LAMMPS_BUILD_NS);
    let output: Vec<_> = output.slots[12..17]
        .iter()
        .inspect(|slot| assert_eq!(slot.what, "allreduce"))
        .map(|slot| (slot.calc_ns.median, slot.bytes))
        .collect();
    assert_eq!(output, LAMMPS_OUTPUT);
    // Every rank has six neighbours, two messages to each: one with places, one with forces.
    for rank in &fit.per_rank {
        let messages: Vec<usize> = rank.neighbours.iter().map(|to| to.messages).collect();
        assert_eq!(messages, [2; 6], "rank {}", rank.rank);
    }
}

/// The same of the traces of AlexNet.
#[test]
fn gradients_have_the_figures_of_their_traces() {
    let gradients = |fit: &Fit| -> Vec<Gradient> {
        let slots = fit.step.iter();
        slots
            .inspect(|slot| assert_eq!(slot.what, "allreduce"))
            .map(|slot| Gradient {
                calc_ns: slot.calc_ns.median,
                bytes: slot.bytes,
            })
            .collect()
    };
    let buckets = traced("alexnet-dp-bucket-r8-i3.goal.zst");
    assert_eq!(gradients(&buckets), BUCKETS);
    let layers = traced("alexnet-dp-layer-r8-i3.mpilog.tar.zst");
    assert_eq!(gradients(&layers), LAYERS);
    assert_eq!((layers.jitter * 1e3).round() as u64 * 1000, ALEXNET_JITTER);
    let sum = |of: &[Gradient]| of.iter().map(|one| one.bytes).sum::<u64>() - 8;
    assert_eq!(
        (sum(&BUCKETS), sum(&LAYERS)),
        (GRADIENT_BYTES, GRADIENT_BYTES)
    );
}

/// A step that a skeleton repeats is found again.
#[test]
fn the_step_of_a_skeleton_is_found() {
    let fitted = |program, ranks, steps| {
        let mut parameters = parameters_of(program, ranks, steps);
        parameters.jitter_millionths = 0;
        fit(&skeleton(parameters).program().unwrap())
    };
    let lammps = fitted("lammps", 27, 45);
    assert_eq!(exchanges(&lammps.step), figures(&LAMMPS_STEP));
    assert_eq!(lammps.jitter, 0.0);
    assert_eq!(lammps.between[0].steps_apart, Some(19));
    assert_eq!(lammps.between[0].calc_after_ns, LAMMPS_BUILD_NS);
}

#[test]
fn all_collectives_of_a_step_are_named() {
    let mut parameters = parameters_of("patmos", 12, 4);
    parameters.jitter_millionths = 0;
    let patmos = fit(&skeleton(parameters).program().unwrap());
    let step: Vec<_> = patmos
        .step
        .iter()
        .map(|slot| (slot.what, slot.bytes))
        .collect();
    // The longest computation is before the first reduce.
    let expected = [
        ("reduce", 15_680),
        ("reduce", 4),
        ("barrier", 0),
        ("reduce", 8),
        ("allreduce", 8),
        ("reduce", 8),
        ("broadcast", 186_368),
    ];
    assert_eq!(step, expected);
}
