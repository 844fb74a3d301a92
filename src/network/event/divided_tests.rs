//! Buffers that a scheme divides into queues: one engine against the other, and what schemes are for.

use super::selections_tests::{bursts, run_program, shape};
use super::tests::{clocked_with, congested, go_on, lammps, settings, OVERHEADS};
use super::*;
use crate::blocks::port::controller::{AlwaysOn, PowerController};
use crate::blocks::port::golden::Port;
use crate::blocks::testing::share;
use crate::network::clocked::NoSink;
use crate::network::parameters::{Aging, Lanes, Queueing};
use crate::network::selection::{Selection, Thresholds};
use crate::network::topology::{ConfiguredTopology, SingleSwitch, Value};
use crate::network::trace::{self, Program};

const SMALL: Queueing = Queueing::ByDestination { queues: 2 };

fn n(number: usize) -> Value {
    Value::Number(number)
}

/// Networks of 16 nodes or more, with one lane and with two.
fn tree() -> ConfiguredTopology {
    shape("k-ary-n-tree", &[("k", n(4)), ("n", n(2))])
}

fn torus() -> ConfiguredTopology {
    let dims = ("dims", Value::List(vec![5, 4]));
    shape("torus", &[dims, ("ports_per_link", n(1))])
}

fn dragonfly() -> ConfiguredTopology {
    let parameters = [
        ("groups", n(5)),
        ("switches_per_group", n(2)),
        ("nodes_per_switch", n(2)),
        ("global_ports", n(2)),
    ];
    shape("dragonfly", &parameters)
}

/// A byte takes 21 ps, so that few packets arrive in a switch at the same time.
fn switch(queueing: Queueing, queue: u32) -> Parameters {
    Parameters {
        byte_ps: 21,
        queue,
        queueing: Some(queueing),
        ..Parameters::default()
    }
}

/// Runs a program in both engines, with one thread and with three, and holds their summaries against each other,
/// port by port. How often packets waited for a link that slept, and for room at the other end; the latter
/// only the event engine counts.
fn waits_of_both(
    topology: &dyn Topology,
    switch: Parameters,
    program: &Program,
    plan: Option<PortPlan>,
    duration: Option<u64>,
) -> (u64, u64) {
    let one = run_program(topology, switch, program, plan, duration, 1);
    let three = run_program(topology, switch, program, plan, duration, 3);
    let asleep = plan.is_some();
    let what = format!("radix {}, asleep {asleep}, {switch:?}", topology.radix());
    assert!(one == three, "{what}: one thread, three threads");
    let nodes: Vec<u32> = (0..program.ranks() as u32).collect();
    let controller = |_| -> Box<dyn PowerController + Send> {
        match plan {
            Some(plan) => Box::new(Port::new(&plan)),
            None => Box::new(AlwaysOn),
        }
    };
    let network = (topology, program, &nodes[..]);
    let mut clocked = clocked_with(switch, network, duration, controller, &mut NoSink);
    let (mut waits, mut stops) = (0, 0);
    for (port, other) in one.ports.iter().zip(&mut clocked.ports) {
        waits += port.sleep_waits;
        stops += port.pauses;
        other.pauses = port.pauses;
        assert_eq!(port, other, "{what}");
    }
    let events = one.events;
    assert!(one == RunSummary { events, ..clocked }, "{what}");
    (waits, stops)
}

/// The engine that looks every packet up in plain queues simulates the same, with links that sleep and
/// with links that do not; so do several threads. How often a port had to wait for room only the first
/// one counts.
#[test]
fn both_engines_divide_buffers_alike() {
    let text = "[port]\npolicy = \"fixed\"\nsync = \"messages\"\nt_pdt_ns = 2000\n";
    let plan = Config::parse(text, "port.toml").unwrap().plan().unwrap();
    let groups = Queueing::ByGroups { queues: 3 };
    let levels = Queueing::TwoLevels {
        queues: 3,
        escape_queues: 2,
    };
    let (tree, torus, dragonfly) = (tree(), torus(), dragonfly());
    let (mut waits, mut stops) = (0, 0);
    let mut runs = Vec::new();
    for (topology, scheme, kilobytes) in [
        (&tree, Queueing::One, 12),
        (&tree, Queueing::PerOutput, 80),
        (&tree, Queueing::PerNode, 160),
        (&tree, groups, 44),
        (&torus, Queueing::One, 20),
        (&torus, SMALL, 60),
        (&torus, Queueing::PerDimension, 60),
        (&dragonfly, Queueing::PerOutput, 120),
        (&dragonfly, levels, 50),
    ] {
        for (aging, program, sleeps, duration) in [
            (Aging::Switch, congested(15), false, Some(45_000_000)),
            (Aging::Network, congested(15), true, Some(45_000_000)),
            (Aging::Switch, bursts(16), true, Some(600_000_000)),
            (Aging::Switch, lammps(), true, Some(900_000_000)),
        ] {
            let switch = Parameters {
                aging,
                ..switch(scheme, 1000 * kilobytes)
            };
            runs.push((topology, switch, program, sleeps.then_some(plan), duration));
        }
    }
    // Every third is of another program.
    for (topology, switch, program, plan, duration) in share(&runs, 3) {
        let found = waits_of_both(&***topology, *switch, program, *plan, *duration);
        (waits, stops) = (waits + found.0, stops + found.1);
    }
    assert!(waits > 1000 && stops > 1000, "{waits} {stops}");
}

/// Both engines choose the same channels of Duato's protocol, adaptive ones and those of escape, in networks
/// with and without a dateline, with one and with several cables between neighbours.
#[test]
fn both_engines_choose_the_same_channels() {
    let text = "[port]\npolicy = \"fixed\"\nsync = \"lpi\"\nt_pdt_ns = 2000\n";
    let plan = Config::parse(text, "port.toml").unwrap().plan().unwrap();
    let powar = Selection::Powar(Thresholds {
        window_ps: 3_000_000,
        ..Thresholds::DEFAULT
    });
    let cables = ("ports_per_link", n(2));
    let small = ("dims", Value::List(vec![4, 2, 2]));
    let grid = [
        ("dims", Value::List(vec![4, 4])),
        ("nodes_per_switch", n(1)),
        ("radix", n(8)),
    ];
    let (torus, several) = (torus(), shape("torus", &[small, cables]));
    let hyperx = shape("hyperx", &grid);
    let (mut waits, mut escaped) = (0, 0);
    let mut runs = Vec::new();
    for (topology, queues, kilobytes) in [
        (&torus, 1, 40),
        (&torus, 2, 50),
        (&several, 2, 40),
        (&hyperx, 2, 40),
    ] {
        for (selection, program, sleeps, duration) in [
            (
                Selection::RoundRobin,
                congested(15),
                false,
                Some(45_000_000),
            ),
            (powar, congested(15), true, Some(45_000_000)),
            (Selection::FirstOn, bursts(16), true, Some(790_000_000)),
            (powar, lammps(), true, Some(900_000_000)),
        ] {
            let switch = Parameters {
                selection,
                ..switch(Queueing::Adaptive { queues }, 1000 * kilobytes)
            };
            runs.push((topology, switch, program, sleeps.then_some(plan), duration));
        }
    }
    for (topology, switch, program, plan, duration) in share(&runs, 3) {
        let found = waits_of_both(&***topology, *switch, program, *plan, *duration);
        (waits, escaped) = (waits + found.0, escaped + found.1);
    }
    assert!(waits > 1000 && escaped > 100, "{waits} {escaped}");
}

/// Two messages need the same cable where packets go in the order of the dimensions. By Duato's protocol
/// one of them takes the other dimension first, and both arrive as if they were alone.
#[test]
fn adaptive_routes_go_round_each_other() {
    // Switch x + 5 y: from (0, 0) to (2, 0), and from (1, 0) to (2, 1).
    let mut text = "num_ranks 20\n".to_owned();
    for rank in 0..20 {
        let does = match rank {
            0 => "l: send 480000b to 2\n",
            1 => "l: send 480000b to 7\n",
            2 => "l: recv 480000b from 0\n",
            7 => "l: recv 480000b from 1\n",
            _ => "",
        };
        text += &format!("rank {rank} {{\n{does}}}\n");
    }
    let program = trace::from_text(&text).unwrap();
    let topology = torus();
    let time = |queueing, selection| {
        let switch = Parameters {
            mtu: 4800,
            selection,
            ..switch(queueing, 60_000)
        };
        run_program(&*topology, switch, &program, None, None, 1).time_ps
    };
    let alone = 480_000 * 21 + OVERHEADS.send;
    let ordered = time(Queueing::One, Selection::Fixed);
    assert!(ordered > 2 * 480_000 * 21, "{ordered} ps");
    for selection in [Selection::RoundRobin, Selection::FirstOn] {
        let adaptive = time(Queueing::Adaptive { queues: 2 }, selection);
        assert!(
            (alone..alone * 11 / 10).contains(&adaptive),
            "{adaptive} ps"
        );
    }
}

/// Two nodes send 40 packets each to a third, and one of them then one packet to a fourth. In one
/// queue for all that packet waits for those before it, in a queue of its own for none: "a packet,
/// which requests a busy port is blocked. This prevents other packets stored behind it in the same
/// buffer from advancing, even if these packets are requesting free ports" (Zahn II.B).
#[test]
fn a_blocked_packet_holds_up_those_of_its_queue() {
    let text = "num_ranks 4\n\
                rank 0 {\ns1: send 192000b to 2 tag 1\ns2: send 4800b to 3 tag 2\n}\n\
                rank 1 {\ns1: send 192000b to 2 tag 3\n}\n\
                rank 2 {\nr1: recv 192000b from 0 tag 1\nr3: recv 192000b from 1 tag 3\n}\n\
                rank 3 {\nr2: recv 4800b from 0 tag 2\nc: calc 1\nc requires r2\n}\n";
    let program = trace::from_text(text).unwrap();
    let topology = SingleSwitch { nodes: 4 };
    let arrives = |scheme| {
        let switch = Parameters {
            mtu: 4800,
            ..switch(scheme, 38_400)
        };
        let nodes = [0, 1, 2, 3];
        let load = Load::Programs {
            programs: &[(&program).into()],
            nodes: &nodes,
            overheads: OVERHEADS,
        };
        // When rank 3 has its message, between two ends of the run, of which one is too early.
        let (mut low, mut high) = (0, 20_000_000);
        while high - low > 1000 {
            let middle = (low + high) / 2;
            let settings = Settings {
                switch,
                ..settings(&[], Some(middle), 1)
            };
            let none = Replacements::new();
            let run = run(&topology, load, &settings, none, &mut go_on).unwrap();
            // What rank 3 computes begins when its message is there.
            match run.calc_ps[3] {
                0 => low = middle,
                _ => high = middle,
            }
        }
        high
    };
    let packet = 4800 * 21;
    let own = arrives(Queueing::PerOutput);
    let one = arrives(Queueing::One);
    // 2 x 40 packets leave by the hot port, 8 of them are in its buffer behind the packet that is next.
    assert!(one > 70 * packet, "{one} ps");
    // The CPU's two sends, two links, the crossbar, and at most a packet of the same NIC in its way
    // on each.
    assert!(own < 2 * OVERHEADS.send + 6 * packet, "{own} ps");
}

/// A sender with room for one packet at the other end sends the next one when that has crossed: a
/// packet each time that it takes to get there, to cross, and the credits to come back.
#[test]
fn credits_take_the_way_back() {
    let text = "num_ranks 2\nrank 0 {\nl: send 480000b to 1\n}\n\
                rank 1 {\nl: recv 480000b from 0\n}\n";
    let program = trace::from_text(text).unwrap();
    let topology = SingleSwitch { nodes: 2 };
    let time = |queue: u32| {
        let switch = Parameters {
            mtu: 4800,
            ..switch(Queueing::One, queue)
        };
        let run = run_program(&topology, switch, &program, None, None, 1);
        // Two of the four ends of the two cables send all bytes once.
        let sent = run.link_utilisation(21) * 4.0 * run.duration_ps() as f64;
        assert!((sent - 2.0 * 480_000.0 * 21.0).abs() < 1.0, "{sent}");
        (run.time_ps, run.ports[0].highest_input, switch)
    };
    let (slow, most, switch) = time(4800);
    assert_eq!(most, 4800);
    let packet = switch.link_time(4800);
    let round = packet + switch.cable_ps + switch.crossbar_time(4800) + switch.pause_delay();
    // 100 packets, each of which waits for a clock edge; then the last one goes on.
    let rest = OVERHEADS.send + packet + switch.cable_ps;
    let expected = 99 * round + (round - switch.pause_delay()) + rest;
    assert!(
        (expected..expected + 102_000).contains(&slow),
        "{slow} ps, {expected}"
    );
    // Room for two lets packets follow each other.
    let (fast, most, _) = time(9600);
    assert_eq!(most, 9600);
    let expected = 100 * packet + (round - switch.pause_delay() - packet) + rest;
    assert!(
        (expected..expected + 102_000).contains(&fast),
        "{fast} ps, {expected}"
    );
}

/// Links of lanes and queueing schemes go together (Zahn III), and both engines agree.
#[test]
fn lanes_and_queues_go_together() {
    let text = "[port]\npolicy = \"fixed\"\nsync = \"lpi\"\nsleep = \"fast-wake\"\n\
                t_pdt_ns = 2000\n[states.fast-wake]\nt_s_ns = 1000\nt_w_ns = 1000\n";
    let plan = Config::parse(text, "port.toml").unwrap().plan().unwrap();
    let switch = Parameters {
        link_lanes: Some(Lanes { count: 4, low: 1 }),
        ..switch(SMALL, 120_000)
    };
    let topology = torus();
    let queues = Queues::of(&*topology, &switch).unwrap().unwrap().count();
    let lanes = switch.link_lanes.unwrap();
    let lanes = lanes.plan(&plan, &switch, queues, 1000).unwrap();
    let program = bursts(16);
    let duration = Some(300_000_000);
    let one = run_program(&*topology, switch, &program, Some(plan), duration, 1);
    let nodes: Vec<u32> = (0..16).collect();
    let network = (&*topology as &dyn Topology, &program, &nodes[..]);
    let controller = |_| -> Box<dyn PowerController + Send> { Box::new(LanePort::new(&lanes)) };
    let mut clocked = clocked_with(switch, network, duration, controller, &mut NoSink);
    for (port, other) in one.ports.iter().zip(&mut clocked.ports) {
        other.pauses = port.pauses;
        assert_eq!(port, other);
    }
    let events = one.events;
    assert!(one == RunSummary { events, ..clocked });
    assert!(one.packets > 500, "{}", one.packets);
    // The torus has two lanes of two queues each, and each holds three packets for that.
    let small = Parameters {
        queue: 115_199,
        ..switch
    };
    let plans = vec![plan; topology.classes().len()];
    let load = Load::Programs {
        programs: &[(&program).into()],
        nodes: &nodes,
        overheads: OVERHEADS,
    };
    let settings = Settings {
        switch: small,
        ..settings(&plans, duration, 1)
    };
    let error = run(&*topology, load, &settings, Replacements::new(), &mut go_on).unwrap_err();
    assert!(
        error.to_string().contains("queue_bytes = 115200 would do"),
        "{error}"
    );
}
