use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::Ordering;

use rand::{Rng, SeedableRng};

use super::idle::{bin, Count, IdlePeriods};
use super::link_idle::{Lengths, Sleeper};
use super::threads::tests::{ALWAYS_STARVED, STARVED};
use super::*;
use crate::blocks::port::controller::{AlwaysOn, PowerController};
use crate::blocks::port::golden::Port;
use crate::blocks::port::pins::{Inputs, Outputs};
use crate::config::plan::HistogramKind;
use crate::config::Config;
use crate::energy::limits::{AlwaysOn as Base, Limits, SleepStates};
use crate::energy::SystemPower;
use crate::network::clocked::ActivitySink;
use crate::network::replay::{Overheads, Source};
use crate::network::topology::SingleSwitch;
use crate::network::trace::{self, Program};
use crate::network::traffic::pattern::{Arrivals, Destinations, Pattern};
use crate::network::PortCycles;

pub(super) const OVERHEADS: Overheads = Overheads {
    send: 200_000,
    recv: 0,
};

/// Programs with the node of each of their ranks.
fn replay<'p>(programs: &'p [Source<'p>], nodes: &'p [u32]) -> Load<'p> {
    Load::Programs {
        programs,
        nodes,
        overheads: OVERHEADS,
    }
}

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
            metered: None,
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

/// Two ranks that each receive before they send wait for ever, and a program without operations has
/// nothing to wait for: neither is to last as long as ports that sleep refresh their links.
#[test]
fn ports_that_refresh_do_not_keep_a_run_alive() {
    let text =
        "[port]\nsleep = \"deep-sleep\"\n[states.deep-sleep]\nt_q_ns = 5000\nt_r_ns = 1000\n";
    let plan = Config::parse(text, "port.toml").unwrap().plan().unwrap();
    let topology = SingleSwitch { nodes: 4 };
    let plans = vec![plan; topology.classes().len()];
    let crossed = "num_ranks 2\nrank 0 {\nc: calc 90000\na: recv 1b from 1\na requires c\n\
                   b: send 1b to 1\nb requires a\n}\n\
                   rank 1 {\na: recv 1b from 0\nb: send 1b to 0\nb requires a\n}\n";
    for threads in [1, 2] {
        let ends = |text: &str, nodes: &[u32]| {
            let program = trace::from_text(text).unwrap();
            let programs = [(&program).into()];
            let settings = settings(&plans, None, threads);
            let load = replay(&programs, nodes);
            run(&topology, load, &settings, Replacements::new(), &mut go_on)
        };
        let deadlock = ends(crossed, &[0, 1]).unwrap_err().to_string();
        assert!(
            deadlock.contains("4 of 5 operations can never run"),
            "{deadlock}"
        );
        let empty = ends("num_ranks 1\nrank 0 {\n}\n", &[0]).unwrap();
        assert_eq!(
            (empty.ended, empty.packets),
            (crate::network::Ended::Complete, 0)
        );
    }
}

/// The engine that clocks every controller through every cycle in which anything happens, in
/// the order of scheduling, is a different program: what both simulate is the same.
#[test]
fn both_engines_simulate_the_same_events() {
    let program = lammps();
    let topology = SingleSwitch { nodes: 16 };
    let nodes: Vec<u32> = (0..16).collect();
    let programs = [(&program).into()];
    let load = replay(&programs, &nodes);
    let duration_ps = Some(1_500_000_000);
    let policies = ["always-on", "fixed", "perfbound", "perfbound-correct"];
    let with_sleep = policies
        .into_iter()
        .flat_map(|policy| ["fast-wake", "deep-sleep", "hybrid"].map(|sleep| (policy, sleep)));
    let both = with_sleep.flat_map(|(policy, sleep)| {
        ["messages", "lpi"].map(|sync| (policy, sleep, sync)) // always-on once more does no harm
    });
    for (policy, sleep, sync) in both {
        let text = format!(
            "[port]\npolicy = \"{policy}\"\nsleep = \"{sleep}\"\nsync = \"{sync}\"\n\
             t_pdt_ns = 5000\nt_pdt_init_ns = 20000\n"
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
            // What arrives divides no idle period of a direction that sleeps for itself.
            let least = if sync == "lpi" { 50 } else { 500 };
            assert!(
                hits > least && misses > 5 && transitions > 10,
                "{policy} {sleep} {sync}: {hits} {misses} {transitions}"
            );
        }
        // Both count their own events.
        let events = fabric.events;
        let expected = RunSummary { events, ..clocked };
        assert_eq!(fabric, expected, "{policy} {sleep} {sync}");
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
    let programs = [(&program).into()];
    let load = replay(&programs, &nodes);
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
    let programs = [(&program).into()];
    let load = replay(&programs, &nodes);
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

/// A network without extensions runs alike in the engine that could have them.
#[test]
fn the_engine_with_extensions_runs_networks_without_them_alike() {
    let program = lammps();
    let topology = SingleSwitch { nodes: 16 };
    let nodes: Vec<u32> = (0..16).collect();
    let programs = [(&program).into()];
    let load = replay(&programs, &nodes);
    let text = "[port]\npolicy = \"perfbound\"\n";
    let plan = Config::parse(text, "port.toml").unwrap().plan().unwrap();
    let plans = vec![plan; topology.classes().len()];
    for threads in [1, 2] {
        let settings = settings(&plans, Some(20_000_000_000), threads);
        let common = common(&topology, &settings).unwrap();
        let [with, without] = [run_engine::<true>, run_engine::<false>].map(|engine| {
            let (none, lazy) = (Replacements::new(), lazy::Common::new);
            engine(&common, load, &settings, &[], none, lazy, &mut go_on).unwrap()
        });
        assert!(with == without, "{threads} threads");
        assert!(with.packets > 1000, "{}", with.packets);
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
        settings.power.metered = Some(Sleeper::Link);
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
    let programs = [(&program).into()];
    let load = replay(&programs, &nodes);
    for kind in HistogramKind::ALL {
        for (policy, sync, burst) in [
            ("perfbound", "messages", 0),
            ("perfbound-correct", "messages", 0),
            ("perfbound", "lpi", 0),
            ("perfbound-correct", "lpi", 2),
        ] {
            let text = format!(
                "[port]\npolicy = \"{policy}\"\nsleep = \"fast-wake\"\nsync = \"{sync}\"\n\
                 t_pdt_init_ns = 20000\n[perfbound]\nbound = 0.05\n\
                 [histogram]\nkind = \"{}\"\nbin_ns = 256\nmax_value_ns = 65536\n\
                 [guard]\nburst = {burst}\n",
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

/// Two nodes, of which one sends 100 bytes to the other every 10 us, and directions that sleep for
/// themselves: all of it can be worked out by hand.
#[test]
fn directions_that_sleep_for_themselves_by_hand() {
    // 2 ns on a link, 0.82 ns across the switch, 15 ns on a cable; after 1 us idle a direction goes
    // down in 100 ns, and up in 300 ns when a packet waits.
    let text = "[port]\npolicy = \"fixed\"\nsync = \"lpi\"\nsleep = \"fast-wake\"\n\
                t_pdt_ns = 1000\n[states.fast-wake]\nt_s_ns = 100\nt_w_ns = 300\n";
    let config = Config::parse(text, "port.toml").unwrap();
    let plan = config.plan().unwrap();
    let topology = SingleSwitch { nodes: 2 };
    let program = trace::from_text(
        "num_ranks 2\nrank 0 {\nc0: calc 10000\ns0: send 100b to 1\ns0 requires c0\n\
         c1: calc 10000\nc1 requires s0\ns1: send 100b to 1\ns1 requires c1\n\
         c2: calc 10000\nc2 requires s1\ns2: send 100b to 1\ns2 requires c2\n}\n\
         rank 1 {\nr0: recv 100b from 0\nr1: recv 100b from 0\nr2: recv 100b from 0\n}\n",
    )
    .unwrap();
    let load = Load::Programs {
        programs: &[(&program).into()],
        nodes: &[0, 1],
        overheads: Overheads { send: 0, recv: 0 },
    };
    let plans = vec![plan; topology.classes().len()];
    let with = |plans, metered| {
        let mut settings = settings(plans, None, 1);
        settings.power.metered = metered;
        run(&topology, load, &settings, Replacements::new(), &mut go_on).unwrap()
    };
    let found = with(&plans, None);
    // The third packet, handed over at 30,000 ns, leaves the NIC at 30,301 ns and is in the output
    // of the switch at 30,318.82 ns. That sees it in cycle 30,319 and sends it at 30,620 ns. It
    // arrives at 30,637 ns; energy is counted for one cable longer.
    assert_eq!(found.time_ps, 30_637_000);
    assert_eq!(found.cycles, 30_652);
    // Awake in the cycles 0 to 1000 and, after each packet, for 2 that it lasts and 1001 idle ones;
    // the last time up to the end.
    let nic = PortCycles {
        states: [
            1001 + 2 * 1003 + (30_652 - 30_301),
            300,
            30_652 - 3358 - 1200,
            0,
            0,
            900,
        ],
        transitions: 6,
        wake_ups: 3,
        hits: 0,
        misses: 2,
    };
    let switch = PortCycles {
        states: [
            1001 + 2 * 1003 + (30_652 - 30_620),
            300,
            30_652 - 3039 - 1200,
            0,
            0,
            900,
        ],
        ..nic
    };
    // Nothing is sent: asleep since the first threshold, whatever arrives.
    let silent = PortCycles {
        states: [1001, 100, 30_652 - 1101, 0, 0, 0],
        transitions: 1,
        ..PortCycles::default()
    };
    let names = ["nic0", "switch0.port1", "nic1", "switch0.port0"];
    for (name, cycles) in names.into_iter().zip([nic, switch, silent, silent]) {
        let port = &found.ports[topology.port_named(name).unwrap()];
        assert_eq!(port.cycles, cycles, "{name}");
        let (waits, delay) = match cycles.wake_ups {
            // A packet waits for a cycle in which it is seen, and for t_w.
            3 => (3, 3 * 301_000),
            _ => (0, 0),
        };
        assert_eq!((port.sleep_waits, port.sleep_delay_ps), (waits, delay));
    }
    // Each direction draws half of a link: 24 W awake and in transitions, 9.6 W asleep.
    let power = SystemPower::default();
    let energy = power.energy(1, &found);
    let asleep = 26_094 + 26_413 + 2 * 29_551;
    let awake = 4 * 30_652 - asleep;
    let nanojoules = |awake: u128, asleep: u128| awake * 24 + asleep * 96 / 10;
    assert_eq!(energy.links.0 / 1_000_000_000, nanojoules(awake, asleep));
    let sum = energy.links_always_on.0 / 1_000_000_000;
    assert_eq!(sum, nanojoules(4 * 30_652, 0));

    // Always on, packets leave the NIC at 10,000, 20,000 and 30,000 ns, the switch at 10,018 ns
    // and so on: 17.82 ns and the next clock edge later.
    let awake = with(&[], Some(Sleeper::Direction));
    assert_eq!(awake.time_ps, 30_035_000);
    let of = |name: &str| &awake.ports[topology.port_named(name).unwrap()];
    for (name, from) in [("nic0", 10_000), ("switch0.port1", 10_018)] {
        let direction = of(name).link_idle.as_ref().unwrap();
        let mut lengths = Lengths::default();
        for ns in [from, 9998, 9998] {
            lengths.record(ns * 1000);
        }
        assert_eq!(direction.busy_ps, 6000);
        assert_eq!(direction.ended_by, [lengths, Lengths::default()], "{name}");
        assert_eq!(direction.after_ps, (30_050 - from - 20_002) * 1000);
        let port = of(name).idle.as_ref().unwrap();
        assert_eq!((port.before, port.busy), (from, 6));
        let idle = Count {
            periods: 2,
            cycles: 2 * 9998,
        };
        assert_eq!(port.idle(), idle);
    }
    for name in ["nic1", "switch0.port0"] {
        assert_eq!(of(name).link_idle.as_ref().unwrap().after_ps, 30_050_000);
        assert_eq!(of(name).idle.as_ref().unwrap().before, 30_050);
    }
    // Two directions sleep through two idle periods and the time before the first packet, each but
    // for 400 ns, and not in the few ns that are left; two through all of the run but for 100 ns.
    let baseline = power.energy(1, &awake);
    let base = Base::new(&awake, &baseline, Sleeper::Direction, &topology).unwrap();
    let states = SleepStates::of(&config, &power.link);
    let limits = Limits::new(&base, &states, &found, None, &topology);
    let slept = |from: u64| from - 400 + 2 * (9998 - 400);
    let slept = slept(10_000) + slept(10_018) + 2 * (30_050 - 100);
    let joules = |ns: u64| (24.0 - 9.6) * ns as f64 * 1e-9;
    let best = limits.at_own_wake_ups;
    assert_eq!(best.wake_ups, 6);
    assert!((best.saved_j - joules(slept)).abs() < 1e-12, "{best:?}");
    let saved = baseline.links.joules() - limits.ideal.energy_j.links;
    let idle = 4 * 30_050 - 2 * 6;
    assert!((saved - joules(idle)).abs() < 1e-12, "{saved} J");
}

/// Georgakoudis Figures 3 to 5 and Tables II to IV: what a packet waits for, and how long a link saved
/// power, by the time at which the packet comes. The link is awake for a hold, then in fast wake or on its
/// way to deep sleep, where it is quiet, with refreshes.
///
/// The paper wakes a link that is still on its way down in the time to wake alone. Here it goes down first
/// (SPEC 2), and the packet waits for what is left of that as well.
#[test]
fn packets_at_the_markers_of_georgakoudis() {
    // Table VI, with a hold of 4 T_s. The quiet and refresh intervals are short ones.
    let (hold, t_s, t_q, t_r) = (4_400, 1_100, 20_000, 2_000);
    let (t_w, t_w_fast, t_f) = (5_500, 340, 2);
    let topology = SingleSwitch { nodes: 2 };
    // Of the sender: what the packet waits for, and the cycles in fast wake, in quiet and in refresh.
    let found = |sleep: &str, at: u64| -> [u64; 4] {
        let text = format!(
            "[port]\npolicy = \"fixed\"\nsync = \"lpi\"\nsleep = \"{sleep}\"\nt_pdt_ns = {hold}\n\
             hybrid_hold_ns = {hold}\n[states.fast-wake]\nt_s_ns = {t_f}\nt_w_ns = {t_w_fast}\n\
             [states.deep-sleep]\nt_s_ns = {t_s}\nt_w_ns = {t_w}\nt_q_ns = {t_q}\nt_r_ns = {t_r}\n"
        );
        // The switch does not sleep in so short a time.
        let awake = text.replace(&format!("t_pdt_ns = {hold}"), "t_pdt_ns = 4000000");
        let plan = |text: &str| Config::parse(text, "port.toml").unwrap().plan().unwrap();
        let plans: Vec<_> = (topology.classes().iter())
            .map(|class| {
                plan(if class.starts_with("node") {
                    &text
                } else {
                    &awake
                })
            })
            .collect();
        let text = format!(
            "num_ranks 2\nrank 0 {{\nc0: calc {at}\ns0: send 100b to 1\ns0 requires c0\n}}\n\
             rank 1 {{\nr0: recv 100b from 0\n}}\n"
        );
        let program = trace::from_text(&text).unwrap();
        let load = Load::Programs {
            programs: &[(&program).into()],
            nodes: &[0, 1],
            overheads: Overheads { send: 0, recv: 0 },
        };
        let settings = settings(&plans, None, 1);
        let run = run(&topology, load, &settings, Replacements::new(), &mut go_on).unwrap();
        let port = &run.ports[topology.port_named("nic0").unwrap()];
        let [_, _, fast, deep, refresh, _] = port.cycles.states;
        [port.sleep_delay_ps / 1000, fast, deep, refresh]
    };
    // It is seen in the cycle after it comes.
    let seen = 1;
    for sleep in ["deep-sleep", "fast-wake", "hybrid"] {
        // Marker 2: in the hold.
        assert_eq!(found(sleep, 3_000), [0; 4], "{sleep}");
    }
    // Table III, marker 3: `T_w|FW`, and `t_3 - t_f` in fast wake, but for the 2 ns of going there.
    let fast_for = |at: u64| at - hold - t_f;
    for (sleep, at) in [
        ("fast-wake", 9_000),
        ("fast-wake", 90_000),
        ("hybrid", 7_000),
    ] {
        let expected = [seen + t_w_fast, fast_for(at), 0, 0];
        assert_eq!(found(sleep, at), expected, "{sleep}, {at}");
    }
    // Tables II and IV: in hybrid all of it follows the time in fast wake, which is `t_s - t_f`.
    for (sleep, fast) in [("deep-sleep", 0), ("hybrid", hold)] {
        // The hold, the time in fast wake with the way there, and the way to deep sleep.
        let before = hold + if fast > 0 { t_f + fast } else { 0 };
        let quiet = before + t_s;
        // Marker 3 (4 in hybrid): on its way down, with 600 ns left of it.
        let expected = [seen + 600 + t_w, fast, 0, 0];
        assert_eq!(found(sleep, quiet - 600), expected, "{sleep}");
        // Marker 4 (5): quiet.
        let expected = [seen + t_w, fast, 7_000, 0];
        assert_eq!(found(sleep, quiet + 7_000), expected, "{sleep}");
        // Marker 5 (6): in a refresh, which it does not wait for; the quiet time before it counts.
        let expected = [seen + t_w, fast, t_q, 500];
        assert_eq!(found(sleep, quiet + t_q + 500), expected, "{sleep}");
        // In the next quiet interval.
        let expected = [seen + t_w, fast, t_q + 3_000, t_r];
        assert_eq!(found(sleep, quiet + t_q + t_r + 3_000), expected, "{sleep}");
    }
}

#[test]
fn levels_and_a_mixture_are_refused() {
    let plan = |sync| {
        let text = format!("[port]\npolicy = \"fixed\"\nsync = \"{sync}\"\n");
        Config::parse(&text, "port.toml").unwrap().plan().unwrap()
    };
    let program = lammps();
    let topology = SingleSwitch { nodes: 16 };
    let nodes: Vec<u32> = (0..16).collect();
    let programs = [(&program).into()];
    let load = replay(&programs, &nodes);
    for (syncs, what) in [
        (
            ["levels", "levels"],
            "use port.sync = \"messages\" or \"lpi\"",
        ),
        (
            ["messages", "lpi"],
            "the two ends of a link must do the same",
        ),
    ] {
        let plans = syncs.map(plan);
        let settings = settings(&plans, Some(1000), 1);
        let error = run(&topology, load, &settings, Replacements::new(), &mut go_on);
        let error = error.unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

/// The idle periods of every port, from what each of its cycles was like; of the direction that it
/// sends on, what is received is nothing.
struct CycleByCycle {
    periods: Vec<(IdlePeriods, Option<u64>)>,
    receives: bool,
}

impl ActivitySink for CycleByCycle {
    fn run(&mut self, port: usize, cycles: u64, inputs: Inputs, _: Outputs) {
        let (periods, idle) = &mut self.periods[port];
        let receives = inputs.receiving && self.receives;
        if !(inputs.queue_nonempty || inputs.transmitting || receives) {
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
    let programs = [(&program).into()];
    let load = replay(&programs, &nodes);
    let duration_ps = Some(40_000_000_000);
    let with = |sleeper, threads| {
        let mut settings = settings(&[], duration_ps, threads);
        settings.power.metered = Some(sleeper);
        run(&topology, load, &settings, Replacements::new(), &mut go_on).unwrap()
    };
    let wire = Parameters::default().link_time(1);
    for sleeper in [Sleeper::Direction, Sleeper::Link] {
        let fabric = with(sleeper, 1);
        assert_eq!(fabric, with(sleeper, 2));
        let mut counted = CycleByCycle {
            periods: vec![Default::default(); topology.ports()],
            receives: sleeper == Sleeper::Link,
        };
        let always_on = |_| -> Box<dyn PowerController + Send> { Box::new(AlwaysOn) };
        let run = (&topology as &dyn Topology, &program, &nodes[..]);
        let clocked = clocked(run, duration_ps, always_on, &mut counted);
        assert_eq!(fabric.cycles, clocked.cycles);
        for (port, (mut expected, idle)) in fabric.ports.iter().zip(counted.periods) {
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
    }
    // Each direction is kept by the port that sends. To a clock cycle for each packet, its idle
    // periods are those of the port, with the time before the first packet.
    let fabric = with(Sleeper::Direction, 1);
    for port in &fabric.ports {
        let (direction, idle) = (
            port.link_idle.as_ref().unwrap(),
            port.idle.as_ref().unwrap(),
        );
        assert_eq!(direction.run_ps(), fabric.duration_ps(), "{}", port.name);
        assert_eq!(direction.ended_by[1], Lengths::default());
        let idle_ps = (idle.idle().cycles + idle.before) * 1000;
        let apart = direction.ended_by[0].ps().abs_diff(idle_ps);
        assert!(apart <= (port.packets_sent + 1) * 1000, "{}", port.name);
        assert!(direction.busy_ps >= port.bytes_sent * wire, "{}", port.name);
    }
    let fabric = with(Sleeper::Link, 1);
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
