use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::Ordering;

use rand::{Rng, SeedableRng};

use super::idle::{bin, Count, IdlePeriods};
use super::threads::tests::{ALWAYS_STARVED, STARVED};
use super::*;
use crate::blocks::port::controller::{AlwaysOn, PowerController};
use crate::blocks::port::golden::Port;
use crate::blocks::port::pins::{Inputs, Outputs};
use crate::config::plan::HistogramKind;
use crate::config::Config;
use crate::network::clocked::ActivitySink;
use crate::network::topology::SingleSwitch;
use crate::network::trace::{self, Program};
use crate::network::traffic::pattern::{Arrivals, Destinations};

pub(super) const OVERHEADS: Overheads = Overheads {
    send: 200_000,
    recv: 0,
};

pub(super) fn lammps() -> Program {
    trace::read(Path::new("sim/lammps-lj-r16-s300.goal.zst")).unwrap()
}

/// With controllers clocked at 1 GHz, and the parameters of PerfBound Table 6.
pub(super) fn settings(
    plans: &[PortPlan],
    duration_ps: Option<u64>,
    threads: usize,
) -> Settings<'_> {
    Settings {
        switch: Parameters::default(),
        power: Power {
            clock_ps: 1000,
            plans,
            metered: false,
        },
        duration_ps,
        warm_up_ps: 0,
        sample_ps: None,
        threads,
    }
}

pub(super) fn go_on(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The run of the engine that clocks every controller, of a network, a program and its nodes.
fn clocked(
    network: (&dyn Topology, &Program, &[u32]),
    duration_ps: Option<u64>,
    controller: impl Fn(usize) -> Box<dyn PowerController + Send>,
    sink: &mut dyn ActivitySink,
) -> RunSummary {
    let switch = Parameters::default();
    clocked_with(switch, network, duration_ps, controller, sink)
}

/// [`clocked`] with such switches.
pub(super) fn clocked_with(
    switch: Parameters,
    (topology, program, nodes): (&dyn Topology, &Program, &[u32]),
    duration_ps: Option<u64>,
    controller: impl Fn(usize) -> Box<dyn PowerController + Send>,
    sink: &mut dyn ActivitySink,
) -> RunSummary {
    crate::network::clocked::simulate(
        topology,
        program,
        nodes,
        &crate::network::clocked::Settings {
            switch,
            overheads: OVERHEADS,
            clock_ps: 1000,
            duration_ps,
            warm_up_ps: 0,
            window_cycles: 1 << 16,
        },
        (0..topology.ports()).map(controller).collect(),
        sink,
        &mut go_on,
    )
    .unwrap()
}

/// The engine that clocks every controller through every cycle in which anything happens, in
/// the order of scheduling, is a different program: what both simulate is the same.
#[test]
fn both_engines_simulate_the_same_events() {
    let program = lammps();
    let topology = SingleSwitch { nodes: 16 };
    let nodes: Vec<u32> = (0..16).collect();
    let load = Load::Programs {
        programs: &[(&program).into()],
        nodes: &nodes,
        overheads: OVERHEADS,
    };
    let duration_ps = Some(1_500_000_000);
    let policies = ["always-on", "fixed", "perfbound", "perfbound-correct"];
    for (policy, sleep) in policies
        .into_iter()
        .flat_map(|policy| ["fast-wake", "deep-sleep", "hybrid"].map(|sleep| (policy, sleep)))
    {
        let text = format!(
            "[port]\npolicy = \"{policy}\"\nsleep = \"{sleep}\"\nt_pdt_ns = 5000\n\
             t_pdt_init_ns = 20000\n"
        );
        let plan = Config::parse(&text, "port.toml").unwrap().plan().unwrap();
        let plans = vec![plan; topology.classes().len()];
        let sleeps = policy != "always-on";
        let settings = settings(if sleeps { &plans } else { &[] }, duration_ps, 1);
        let fabric = run(&topology, load, &settings, Replacements::new(), &mut go_on).unwrap();

        let controller = |_| -> Box<dyn PowerController + Send> {
            match sleeps {
                true => Box::new(Port::new(&plan)),
                false => Box::new(AlwaysOn),
            }
        };
        let sink = &mut crate::network::clocked::NoSink;
        let clocked = clocked((&topology, &program, &nodes), duration_ps, controller, sink);
        let sum = |summary: &RunSummary| {
            let cycles = summary.ports.iter().map(|port| port.cycles);
            cycles.fold((0, 0, 0), |(hits, misses, changes), cycles| {
                (
                    hits + cycles.hits,
                    misses + cycles.misses,
                    changes + cycles.transitions,
                )
            })
        };
        let (hits, misses, transitions) = sum(&fabric);
        assert!(fabric.packets > 500, "{}", fabric.packets);
        if sleeps {
            assert!(
                hits > 500 && misses > 5 && transitions > 10,
                "{policy} {sleep}"
            );
        }
        // Both count their own events.
        let events = fabric.events;
        assert_eq!(fabric, RunSummary { events, ..clocked }, "{policy} {sleep}");
    }
}

/// Ranks that send messages of all sizes to each other, most of them to three.
pub(super) fn congested(count: usize) -> Program {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
    let mut ranks = vec![String::new(); count];
    for message in 0..2400 {
        let from = random.random_range(0..count);
        // Two of three go to the first three ranks.
        let among = if random.random_range(0..3) < 2 {
            3
        } else {
            count
        };
        let to = random.random_range(0..among);
        if to == from {
            continue;
        }
        // Sizes of all kinds: the engines may order packets that arrive at the same time as they
        // like.
        let bytes = random.random_range(64..9000);
        let _ = writeln!(
            ranks[from],
            "s{message}: send {bytes}b to {to} tag {message}"
        );
        let _ = writeln!(
            ranks[to],
            "r{message}: recv {bytes}b from {from} tag {message}"
        );
    }
    let mut text = format!("num_ranks {count}\n");
    for (rank, ops) in ranks.iter().enumerate() {
        let _ = writeln!(text, "rank {rank} {{\n{ops}}}");
    }
    trace::from_text(&text).unwrap()
}

/// Where packets of all sizes queue up for a few outputs, so that inputs, outputs and pauses hold
/// each other up, and what a packet waits for changes while it waits.
#[test]
fn both_engines_agree_under_congestion() {
    const RANKS: usize = 12;
    let program = congested(RANKS);
    let topology = SingleSwitch { nodes: RANKS };
    let nodes: Vec<u32> = (0..RANKS as u32).collect();
    let load = Load::Programs {
        programs: &[(&program).into()],
        nodes: &nodes,
        overheads: OVERHEADS,
    };
    // Most of what there is.
    let duration_ps = Some(45_000_000);
    let settings = settings(&[], duration_ps, 1);
    let fabric = run(&topology, load, &settings, Replacements::new(), &mut go_on).unwrap();
    let always_on = |_| -> Box<dyn PowerController + Send> { Box::new(AlwaysOn) };
    let network = (&topology as &dyn Topology, &program, &nodes[..]);
    let clocked = clocked(
        network,
        duration_ps,
        always_on,
        &mut crate::network::clocked::NoSink,
    );
    let pauses: u64 = fabric.ports.iter().map(|port| port.pauses).sum();
    assert!(
        pauses > 100 && fabric.messages > 2000,
        "{pauses} {}",
        fabric.messages
    );
    let events = fabric.events;
    assert_eq!(fabric, RunSummary { events, ..clocked });
}

#[test]
fn any_number_of_threads_gives_the_same_result() {
    let program = lammps();
    let topology = SingleSwitch { nodes: 16 };
    // Two ranks to a node: messages within nodes take part.
    let nodes: Vec<u32> = (0..16).map(|rank| rank / 2).collect();
    let load = Load::Programs {
        programs: &[(&program).into()],
        nodes: &nodes,
        overheads: OVERHEADS,
    };
    let plan = Config::parse("[port]\npolicy = \"fixed\"\nt_pdt_ns = 3000\n", "port.toml");
    let plan = plan.unwrap().plan().unwrap();
    let plans = vec![plan; topology.classes().len()];
    let with = |threads| {
        let settings = settings(&plans, Some(4_000_000_000), threads);
        run(&topology, load, &settings, Replacements::new(), &mut go_on).unwrap()
    };
    let one = with(1);
    assert!(one.packets > 1000, "{}", one.packets);
    for threads in [2, 3] {
        assert_eq!(one, with(threads), "{threads} threads");
    }
    // Threads that other processes starve leave their partitions to the first one.
    let before = STARVED.load(Ordering::Relaxed);
    ALWAYS_STARVED.store(true, Ordering::Relaxed);
    let starved = [2, 3].map(with);
    ALWAYS_STARVED.store(false, Ordering::Relaxed);
    assert!(STARVED.load(Ordering::Relaxed) > before);
    for run in starved {
        assert_eq!(one, run, "starved");
    }
}

#[test]
fn a_calc_under_way_at_the_end_counts_as_far_as_it_came() {
    let calcs = "num_ranks 2\nrank 0 {\nl1: calc 100 cpu 0\nl2: calc 300 cpu 1\n\
                 l3: calc 1000 cpu 0\nl3 requires l1\n}\nrank 1 {\nl1: calc 5000\n}\n";
    let program = trace::from_text(calcs).unwrap();
    let load = Load::Programs {
        programs: &[(&program).into()],
        nodes: &[0, 1],
        overheads: OVERHEADS,
    };
    for (duration, expected) in [(50, 100), (200, 400), (1099, 1399), (1101, 1400)] {
        let settings = settings(&[], Some(duration * 1000), 1);
        let topology = SingleSwitch { nodes: 2 };
        let run = run(&topology, load, &settings, Replacements::new(), &mut go_on).unwrap();
        let expected = [expected * 1000, duration * 1000];
        assert_eq!(run.calc_ps, expected, "{duration} ns");
    }
}

fn uniform(nodes: usize, threads: usize, progress: fn(&Progress) -> ControlFlow<()>) -> RunError {
    let pattern = Pattern {
        destinations: Destinations::Uniform,
        arrivals: Arrivals::Steady { load: 0.5 },
        message_bytes: 9600,
        message_ps: 192_000,
        seed: 1,
    };
    let settings = settings(&[], Some(1_000_000_000), threads);
    let load = Load::Pattern(&pattern);
    let topology = SingleSwitch { nodes };
    let mut progress = progress;
    run(
        &topology,
        load,
        &settings,
        Replacements::new(),
        &mut progress,
    )
    .unwrap_err()
}

#[test]
fn a_pattern_needs_two_nodes_and_threads_a_node_each() {
    for (nodes, threads, what) in [
        (1, 1, "the network has 1 node"),
        (4, 5, "5 threads: this network takes 1 to 4"),
        (4, 0, "0 threads: this network takes 1 to 4"),
        // Mail boxes for so many would not fit into any memory.
        (16, 1 << 40, "this network takes 1 to 16"),
        (1000, 65, "this network takes 1 to 64"),
    ] {
        let error = uniform(nodes, threads, go_on).to_string();
        assert!(error.contains(what), "{error}");
    }
}

/// The others would wait for a thread that has panicked.
#[test]
fn a_panic_of_one_thread_ends_the_run() {
    let (send, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let run = || uniform(4, 2, |_| panic!("on purpose"));
        let panic = std::panic::catch_unwind(run).expect_err("a panic");
        let message = panic.downcast_ref::<&str>().copied().unwrap_or_default();
        send.send(message.to_owned())
    });
    let message = ended.recv_timeout(std::time::Duration::from_secs(60));
    assert_eq!(message.as_deref(), Ok("on purpose"));
}

/// Jobs with a replay each are what one program with the ranks of all is; and each has its own end.
#[test]
fn jobs_that_share_a_program_run_as_if_joined() {
    let ping = |calc: u64| {
        let text = format!(
            "num_ranks 2\nrank 0 {{\nl0: calc {calc}\nl1: send 20000b to 1\nl2: recv 80b from 1\n\
             l1 requires l0\n}}\nrank 1 {{\nl0: recv 20000b from 0\nl1: send 80b to 0\n\
             l1 requires l0\n}}\n"
        );
        trace::from_text(&text).unwrap()
    };
    let (short, long) = (ping(1_000), ping(50_000));
    let programs = [&short, &long, &short];
    let joined = Program::join(&programs).unwrap();
    let topology = SingleSwitch { nodes: 6 };
    // Ranks of several jobs on node 1.
    let nodes = [0, 1, 2, 1, 5, 4];
    let with = |programs: &[&Program], threads| {
        let mut settings = settings(&[], None, threads);
        settings.power.metered = true;
        let programs: Vec<Source> = programs.iter().map(|&program| program.into()).collect();
        let load = Load::Programs {
            programs: &programs,
            nodes: &nodes,
            overheads: OVERHEADS,
        };
        run(&topology, load, &settings, Replacements::new(), &mut go_on).unwrap()
    };
    let apart = with(&programs, 1);
    let ends: Vec<u64> = apart.jobs_ps.iter().copied().map(Option::unwrap).collect();
    // Both short ones take the same time, the long one 49 us more.
    assert_eq!(ends[0], ends[2]);
    assert_eq!(ends[1], ends[0] + 49_000_000);
    assert_eq!(ends[1], apart.time_ps);
    let mean = apart.job_mean_ps().unwrap();
    assert!((mean - ends.iter().sum::<u64>() as f64 / 3.0).abs() < 1e-3);
    assert_eq!((apart.messages, apart.sizes_differ), (6, 0));
    let one = with(&[&joined], 1);
    assert_eq!(one.jobs_ps, [Some(one.time_ps)]);
    let jobs_ps = apart.jobs_ps.clone();
    assert_eq!(apart, RunSummary { jobs_ps, ..one });
    for threads in [2, 3] {
        assert_eq!(apart, with(&programs, threads), "{threads} threads");
    }
}

/// Lazy ports against golden models that are clocked through every update: the same run.
#[test]
fn lazy_ports_decide_as_clocked_ones() {
    let program = lammps();
    let topology = SingleSwitch { nodes: 16 };
    let nodes: Vec<u32> = (0..16).collect();
    let load = Load::Programs {
        programs: &[(&program).into()],
        nodes: &nodes,
        overheads: OVERHEADS,
    };
    for kind in HistogramKind::ALL {
        for policy in ["perfbound", "perfbound-correct"] {
            let text = format!(
                "[port]\npolicy = \"{policy}\"\nsleep = \"fast-wake\"\nt_pdt_init_ns = 20000\n\
                 [perfbound]\nbound = 0.05\n\
                 [histogram]\nkind = \"{}\"\nbin_ns = 256\nmax_value_ns = 65536\n",
                kind.name()
            );
            let plan = Config::parse(&text, "port.toml").unwrap().plan().unwrap();
            let plans = vec![plan; topology.classes().len()];
            let settings = settings(&plans, Some(3_000_000_000), 1);
            let with = |lazy| {
                let none = Replacements::new();
                run_governed(&topology, load, &settings, none, lazy, &mut go_on).unwrap()
            };
            let (lazy, clocked) = (with(lazy::Common::new), with(|_| None));
            let misses: u64 = lazy.ports.iter().map(|port| port.cycles.misses).sum();
            assert!(misses > 100, "{text}: {misses} misses");
            let events = clocked.events;
            assert_eq!(clocked, RunSummary { events, ..lazy }, "{text}");
        }
    }
}

/// The idle periods of every port, from what each of its cycles was like.
struct CycleByCycle(Vec<(IdlePeriods, Option<u64>)>);

impl ActivitySink for CycleByCycle {
    fn run(&mut self, port: usize, cycles: u64, inputs: Inputs, _: Outputs) {
        let (periods, idle) = &mut self.0[port];
        if !(inputs.queue_nonempty || inputs.transmitting || inputs.receiving) {
            match idle {
                Some(length) => *length += cycles,
                None => periods.before += cycles,
            }
            return;
        }
        periods.busy += cycles;
        if let Some(length) = idle.replace(0).filter(|length| *length > 0) {
            let bin = bin(length * 1000);
            periods
                .bins
                .resize(periods.bins.len().max(bin + 1), Count::default());
            periods.bins[bin].periods += 1;
            periods.bins[bin].cycles += length;
        }
    }
}

/// The engine that clocks every port tells its cycles to a sink: counting them one by one
/// gives the same idle periods, and busy and idle time together are the run.
#[test]
fn idle_periods_are_those_of_the_cycles() {
    let program = trace::read(Path::new("sim/lammps-lj-r8-s20.goal.zst")).unwrap();
    let topology = SingleSwitch { nodes: 8 };
    let nodes: Vec<u32> = (0..8).collect();
    let load = Load::Programs {
        programs: &[(&program).into()],
        nodes: &nodes,
        overheads: OVERHEADS,
    };
    let duration_ps = Some(40_000_000_000);
    let with = |threads| {
        let mut settings = settings(&[], duration_ps, threads);
        settings.power.metered = true;
        run(&topology, load, &settings, Replacements::new(), &mut go_on).unwrap()
    };
    let fabric = with(1);
    assert_eq!(fabric, with(2));
    let mut counted = CycleByCycle(vec![Default::default(); topology.ports()]);
    let always_on = |_| -> Box<dyn PowerController + Send> { Box::new(AlwaysOn) };
    let run = (&topology as &dyn Topology, &program, &nodes[..]);
    let clocked = clocked(run, duration_ps, always_on, &mut counted);
    assert_eq!(fabric.cycles, clocked.cycles);
    let wire = Parameters::default().link_time(1);
    for (port, (mut expected, idle)) in fabric.ports.iter().zip(counted.0) {
        let Some(found) = &port.idle else {
            assert!(!port.cabled);
            continue;
        };
        expected.after = idle.unwrap_or(0);
        assert_eq!(*found, expected, "{}", port.name);
        assert_eq!(found.cycles(), fabric.cycles, "{}", port.name);
        assert!(found.idle().periods > 100, "{}", port.name);
        assert!(found.busy * 1000 >= port.bytes_sent * wire, "{}", port.name);
    }
    // Links are kept at their first ends. An idle period of a link lies within one of each of its
    // ports, and the time before the first packet is one of them.
    for (number, port) in fabric.ports.iter().enumerate() {
        let peer = topology.peer(number).unwrap();
        assert_eq!(port.link_idle.is_some(), number < peer);
        let Some(link) = &port.link_idle else {
            continue;
        };
        assert_eq!(link.run_ps(), fabric.duration_ps(), "{}", port.name);
        let bins = link.ended_by.iter().flat_map(|lengths| lengths.bins());
        let periods: u64 = bins.map(|bin| u64::from(bin.periods)).sum();
        assert!(link
            .ended_by
            .iter()
            .all(|lengths| lengths.bins().len() > 10));
        for end in [port, &fabric.ports[peer]] {
            let idle = end.idle.as_ref().unwrap();
            assert!(periods <= idle.idle().periods + 1, "{}", end.name);
            assert!(link.busy_ps >= end.bytes_sent * wire, "{}", end.name);
            // To a clock cycle for each period.
            let cycles = idle.idle().cycles + idle.before + periods + 1;
            let idle_ps: u64 = link.ended_by.iter().map(|lengths| lengths.ps()).sum();
            assert!(idle_ps <= cycles * 1000, "{}", end.name);
        }
    }
}
