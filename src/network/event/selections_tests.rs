//! The selection functions (POWAR 3 and 4.2): one engine against the other, and what they are for.

use std::fmt::Write;

use rand::{Rng, SeedableRng};

use super::tests::{clocked_with, congested, go_on, lammps, settings, OVERHEADS};
use super::*;
use crate::blocks::port::controller::{AlwaysOn, PowerController};
use crate::blocks::port::golden::Port;
use crate::blocks::testing::share;
use crate::config::Config;
use crate::network::clocked::NoSink;
use crate::network::parameters::Queueing;
use crate::network::selection::{Selection, Thresholds};
use crate::network::topology::{as_field_0, ConfiguredTopology, Hop, Value, KINDS};
use crate::network::trace::{self, Program};
use crate::network::PortSummary;

/// Windows so short that the load of every one differs.
const POWAR: Selection = Selection::Powar(Thresholds {
    window_ps: 3_000_000,
    ..Thresholds::DEFAULT
});

const ALL: [Selection; 4] = [
    Selection::Fixed,
    Selection::RoundRobin,
    Selection::FirstOn,
    POWAR,
];

pub(super) fn shape(kind: &str, parameters: &[(&str, Value)]) -> ConfiguredTopology {
    let kind = KINDS.iter().find(|known| known.name == kind).unwrap();
    ConfiguredTopology::new(kind, parameters).unwrap()
}

fn tree() -> ConfiguredTopology {
    shape(
        "k-ary-n-tree",
        &[("k", Value::Number(4)), ("n", Value::Number(2))],
    )
}

/// Ports of a fixed threshold, or none that sleep.
fn plan(t_pdt_ns: u64, sync: &str) -> PortPlan {
    let text = format!("[port]\npolicy = \"fixed\"\nsync = \"{sync}\"\nt_pdt_ns = {t_pdt_ns}\n");
    Config::parse(&text, "port.toml").unwrap().plan().unwrap()
}

/// A byte takes 21 ps, so that few packets arrive in a switch at the same time.
fn switch(selection: Selection) -> Parameters {
    Parameters {
        byte_ps: 21,
        selection,
        ..Parameters::default()
    }
}

/// A run of a program whose ranks have a node each, with such ports or with links that never sleep.
pub(super) fn run_program(
    topology: &dyn Topology,
    switch: Parameters,
    program: &Program,
    plan: Option<PortPlan>,
    duration: Option<u64>,
    threads: usize,
) -> RunSummary {
    let nodes: Vec<u32> = (0..program.ranks() as u32).collect();
    let load = Load::Programs {
        programs: &[program.into()],
        nodes: &nodes,
        overheads: OVERHEADS,
    };
    let plans = plan.map_or(Vec::new(), |plan| vec![plan; topology.classes().len()]);
    let settings = Settings {
        switch,
        ..settings(&plans, duration, threads)
    };
    run(topology, load, &settings, Replacements::new(), &mut go_on).unwrap()
}

fn with(
    topology: &dyn Topology,
    selection: Selection,
    program: &Program,
    plan: Option<PortPlan>,
    duration: Option<u64>,
    threads: usize,
) -> RunSummary {
    run_program(
        topology,
        switch(selection),
        program,
        plan,
        duration,
        threads,
    )
}

/// Both engines choose the same ports, under congestion and with links that sleep; so do several
/// threads.
#[test]
fn both_engines_choose_the_same_ports() {
    let topology = tree();
    let agree = |selection, program: &Program, plan: Option<PortPlan>, duration| {
        let nodes: Vec<u32> = (0..program.ranks() as u32).collect();
        let one = with(&*topology, selection, program, plan, duration, 1);
        let three = with(&*topology, selection, program, plan, duration, 3);
        assert!(one == three, "{selection:?}: one thread, three threads");
        let controller = |_| -> Box<dyn PowerController + Send> {
            match &plan {
                Some(plan) => Box::new(Port::new(plan)),
                None => Box::new(AlwaysOn),
            }
        };
        let network = (&*topology, program, &nodes[..]);
        let clocked = clocked_with(
            switch(selection),
            network,
            duration,
            controller,
            &mut NoSink,
        );
        let events = one.events;
        let sent = |run: &RunSummary| -> Vec<u64> {
            run.ports.iter().map(|port| port.packets_sent).collect()
        };
        assert_eq!(sent(&one), sent(&clocked), "{selection:?}");
        assert!(one == RunSummary { events, ..clocked }, "{selection:?}");
        // Whom it has given a packet at all.
        one.ports
            .iter()
            .filter(|port| port.packets_sent > 0)
            .count()
    };
    // Of 15 ranks: two of the packets of 16 would arrive in a switch in the same picosecond, which the
    // engines may order as they like.
    let congested = congested(15);
    let mut used = Vec::new();
    for selection in ALL {
        agree(selection, &congested, None, Some(30_000_000));
        for sync in ["messages", "lpi"] {
            let plan = plan(5_000, sync);
            used.push(agree(selection, &lammps(), Some(plan), Some(1_500_000_000)));
        }
    }
    // Each of 4 leaves has 4 ports up, and each of 4 tops as many down.
    let [.., first_on, _, powar, _] = used[..] else {
        panic!("{used:?}");
    };
    let [fixed, _, round_robin, ..] = used[..] else {
        panic!("{used:?}");
    };
    assert!(
        round_robin >= fixed && round_robin >= first_on && first_on >= powar,
        "{used:?}"
    );
    assert!(powar < round_robin, "{used:?}");
}

/// A short packet overtakes the long ones before it by another port: the message has arrived when they
/// have, in both engines.
#[test]
fn a_message_is_complete_with_its_last_packet_to_arrive() {
    let mut text = "num_ranks 16\n".to_owned();
    for rank in 0..16 {
        let op = match rank {
            0 => "s: send 30000b to 5\n",
            5 => "r: recv 30000b from 0\n",
            _ => "",
        };
        let _ = writeln!(text, "rank {rank} {{\n{op}}}");
    }
    let program = trace::from_text(&text).unwrap();
    let (topology, nodes) = (tree(), (0..16).collect::<Vec<u32>>());
    let network = (&*topology, &program, &nodes[..]);
    let always_on = |_| -> Box<dyn PowerController + Send> { Box::new(AlwaysOn) };
    for selection in [Selection::RoundRobin, POWAR] {
        let run = with(&*topology, selection, &program, None, None, 1);
        assert_eq!(run.delivered_bytes, 30_000, "{selection:?}");
        let clocked = clocked_with(switch(selection), network, None, always_on, &mut NoSink);
        assert_eq!(run.time_ps, clocked.time_ps, "{selection:?}");
    }
}

/// Ports whose links their switches turn on and off.
fn turned() -> PortPlan {
    let text = "[port]\npolicy = \"fixed\"\nsync = \"lpi\"\nt_pdt_ns = 0\ncontrol_pins = true\n";
    Config::parse(text, "port.toml").unwrap().plan().unwrap()
}

/// Each rank sends to two others for some 8 us again and again, and computes in between. Packets have all
/// sizes: of equal ones many arrive in a switch at the same time.
pub(super) fn bursts(ranks: usize) -> Program {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    let mut ops = vec![String::new(); ranks];
    for burst in 0..12 {
        for (rank, ops) in ops.iter_mut().enumerate() {
            let calc = random.random_range(60_000..66_000);
            let _ = writeln!(ops, "c{burst}: calc {calc}");
            if burst > 0 {
                let _ = writeln!(ops, "c{burst} requires r{}m0f{rank}", burst - 1);
            }
        }
        for rank in 0..ranks {
            for message in 0..80 {
                let to = (rank + [5, 2][message % 2]) % ranks;
                let bytes = random.random_range(64..9000);
                let name = format!("{burst}m{message}f");
                let tag = burst * 80 + message;
                let _ = writeln!(ops[rank], "s{name}: send {bytes}b to {to} tag {tag}");
                let _ = writeln!(ops[rank], "s{name} requires c{burst}");
                // The next burst waits for the first message of this one.
                let receiver = if message == 0 { to } else { rank };
                let _ = writeln!(
                    ops[to],
                    "r{name}{receiver}: recv {bytes}b from {rank} tag {tag}"
                );
            }
        }
    }
    let mut text = format!("num_ranks {ranks}\n");
    for (rank, ops) in ops.iter().enumerate() {
        let _ = writeln!(text, "rank {rank} {{\n{ops}}}");
    }
    trace::from_text(&text).unwrap()
}

/// Both engines turn the same links off and on, and no packet is without a way.
#[test]
fn both_engines_turn_the_same_links() {
    let tall = shape(
        "k-ary-n-tree",
        &[("k", Value::Number(2)), ("n", Value::Number(4))],
    );
    let rlft = shape(
        "rlft",
        &[("radix", Value::Number(4)), ("levels", Value::Number(3))],
    );
    let cables = ("ports_per_link", Value::Number(3));
    let torus = shape("torus", &[("dims", Value::List(vec![4, 4])), cables]);
    let plan = turned();
    let duato = Some(Queueing::Adaptive { queues: 2 });
    for (topology, window_ps, on_millionths, queueing) in [
        (tree(), 13_000_001, 500_000, None),
        (tall, 17_000_003, 500_000, None),
        (rlft, 15_000_007, 500_000, None),
        // A node can keep no more than half of a link's cables busy.
        (torus.clone(), 13_000_001, 200_000, None),
        (torus, 13_000_001, 200_000, duato),
    ] {
        let alonso = Selection::Alonso(Thresholds {
            window_ps,
            on_millionths,
            off_millionths: on_millionths / 2,
        });
        let program = bursts(topology.nodes());
        let duration = Some(700_000_000);
        let switch = Parameters {
            queueing,
            ..switch(alonso)
        };
        let run =
            |threads| run_program(&*topology, switch, &program, Some(plan), duration, threads);
        let (one, three) = (run(1), run(3));
        assert!(one == three, "one thread, three threads");
        let nodes: Vec<u32> = (0..program.ranks() as u32).collect();
        let controller = |_| -> Box<dyn PowerController + Send> { Box::new(Port::new(&plan)) };
        let network = (&*topology, &program, &nodes[..]);
        let mut clocked = clocked_with(switch, network, duration, controller, &mut NoSink);
        if queueing.is_some() {
            // How often a port waited for room the clocked engine does not count.
            for (port, other) in one.ports.iter().zip(&mut clocked.ports) {
                other.pauses = port.pauses;
            }
        }
        let sent = |run: &RunSummary| -> Vec<u64> {
            run.ports.iter().map(|port| port.packets_sent).collect()
        };
        assert_eq!(sent(&one), sent(&clocked));
        let events = one.events;
        assert!(one == RunSummary { events, ..clocked });
        // Links that do not stay on have slept, and have come up again.
        let (mut slept, mut woken) = (0, 0);
        for (number, port) in one.ports.iter().enumerate() {
            let Some(stays) = topology.stays_on(number).filter(|_| port.cabled) else {
                continue;
            };
            let sleeps = port.cycles.transitions > 0;
            assert!(!(stays && sleeps), "{}", port.name);
            slept += usize::from(sleeps);
            woken += usize::from(port.cycles.wake_ups > 0);
        }
        assert!(slept > 5 && woken > 2, "{slept} {woken}");
    }
}

/// A fat tree whose switches turn off links without which its routes do not get on: only the last port up
/// has others beside it.
#[derive(Debug)]
struct NoOtherWay(ConfiguredTopology);

impl Topology for NoOtherWay {
    as_field_0!();

    fn route(&self, switch: usize, input: usize, lane: u8, destination: usize) -> Hop {
        self.0.route(switch, input, lane, destination)
    }

    fn choices(&self, switch: usize, port: u8) -> std::ops::Range<u8> {
        match usize::from(port) + 1 == self.radix() {
            true => self.0.choices(switch, port),
            false => port..port + 1,
        }
    }

    fn stays_on(&self, port: usize) -> Option<bool> {
        self.0.stays_on(port)
    }
}

/// A packet whose link is off, and which has no other, ends the run: it is not left to wait.
#[test]
fn a_packet_without_a_way_is_seen() {
    let alonso = Selection::Alonso(Thresholds {
        window_ps: 13_000_001,
        ..Thresholds::DEFAULT
    });
    let (topology, program, plan) = (NoOtherWay(tree()), bursts(16), turned());
    let nodes: Vec<u32> = (0..16).collect();
    let load = Load::Programs {
        programs: &[(&program).into()],
        nodes: &nodes,
        overheads: OVERHEADS,
    };
    let plans = vec![plan; topology.classes().len()];
    let with = |selection| {
        let settings = Settings {
            switch: switch(selection),
            ..settings(&plans, Some(700_000_000), 1)
        };
        run(&topology, load, &settings, Replacements::new(), &mut go_on)
    };
    assert!(with(Selection::RoundRobin).is_ok());
    let error = with(alonso).unwrap_err();
    assert!(matches!(error, RunError::NoWay { .. }), "{error}");
    assert!(error.to_string().contains("switch"), "{error}");
}

/// Ports that their switches cannot turn off and on, and windows in which the network does not settle.
#[test]
fn what_switches_cannot_turn_is_refused() {
    let refused = |port: &str, topology: &dyn Topology, window_ps| {
        let text = format!("[port]\npolicy = \"fixed\"\n{port}\n");
        let plan = Config::parse(&text, "port.toml").unwrap().plan().unwrap();
        let plans = vec![plan; topology.classes().len()];
        let settings = Settings {
            switch: switch(Selection::Alonso(Thresholds {
                window_ps,
                ..Thresholds::DEFAULT
            })),
            ..settings(&plans, Some(1_000_000), 1)
        };
        let program = bursts(16);
        let nodes: Vec<u32> = (0..16).collect();
        let load = Load::Programs {
            programs: &[(&program).into()],
            nodes: &nodes,
            overheads: OVERHEADS,
        };
        match run(topology, load, &settings, Replacements::new(), &mut go_on) {
            Ok(_) => String::new(),
            Err(RunError::Settings(what)) => what,
            Err(other) => panic!("{other}"),
        }
    };
    let tree = tree();
    let turned = "sync = \"lpi\"\nt_pdt_ns = 0\ncontrol_pins = true";
    let window = Thresholds::DEFAULT.window_ps;
    assert_eq!(refused(turned, &*tree, window), "");
    for port in [
        "sync = \"messages\"\nt_pdt_ns = 0\ncontrol_pins = true",
        "sync = \"lpi\"\nt_pdt_ns = 1\ncontrol_pins = true",
        "sync = \"lpi\"\nt_pdt_ns = 0",
        "sync = \"lpi\"\nt_pdt_ns = 0\ncontrol_pins = true\nregisters = true",
    ] {
        let what = refused(port, &*tree, window);
        assert!(
            what.contains("control_pins = true, no registers and no guard"),
            "{port}: {what}"
        );
    }
    // 4.48 us to wake from deep sleep (PerfBound Table 2).
    let what = refused(turned, &*tree, 4_480_000);
    assert!(what.contains("4480 ns to sleep or to wake"), "{what}");
    assert_eq!(refused(turned, &*tree, 4_480_001), "");
    let cables = |number| {
        let dims = ("dims", Value::List(vec![4, 4]));
        shape("torus", &[dims, ("ports_per_link", Value::Number(number))])
    };
    assert_eq!(refused(turned, &*cables(2), window), "");
    // The least window is that of a packet, however short the link sleeps.
    let quick =
        "sync = \"lpi\"\nt_pdt_ns = 0\ncontrol_pins = true\n[states.deep-sleep]\nt_w_ns = 9\n\
                 t_s_ns = 9";
    let packet = switch(Selection::Fixed).link_time(Parameters::default().largest());
    let what = refused(quick, &*tree, packet - 1);
    assert!(
        what.contains("a packet of 9600 bytes alone lasts"),
        "{what}"
    );
    assert_eq!(refused(quick, &*tree, packet), "");
    let guarded = format!("{turned}\n[guard]\nburst = 1");
    let what = refused(&guarded, &*tree, window);
    assert!(what.contains("no registers and no guard"), "{what}");
    let what = refused(turned, &*cables(1), window);
    assert!(what.contains("no links that could be off"), "{what}");
}

/// POWAR 4.3: round-robin wakes every port in turn; First-On and POWAR gather packets on links that are
/// awake, and programs take no longer for it.
#[test]
fn links_sleep_longer_where_packets_are_gathered() {
    let torus = [
        ("dims", Value::List(vec![4, 4])),
        ("ports_per_link", Value::Number(4)),
        ("nodes_per_switch", Value::Number(1)),
    ];
    for topology in share(&[tree(), shape("torus", &torus)], 2) {
        let plan = plan(10_000, "lpi");
        let run = |selection| {
            let run = with(&**topology, selection, &lammps(), Some(plan), None, 2);
            let wake = |port: &PortSummary| port.cycles.states[0];
            let awake: u64 = run.ports.iter().map(wake).sum();
            (awake as f64 / run.cycles as f64, run.time_ps as f64)
        };
        let round_robin = run(Selection::RoundRobin);
        let first_on = run(Selection::FirstOn);
        let powar = run(Selection::Powar(Thresholds::DEFAULT));
        assert!(first_on.0 < round_robin.0, "{first_on:?} {round_robin:?}");
        assert!(powar.0 < first_on.0, "{powar:?} {first_on:?}");
        for run in [first_on, powar] {
            assert!(run.1 < 1.01 * round_robin.1, "{run:?} {round_robin:?}");
        }
    }
}
