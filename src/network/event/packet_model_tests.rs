//! The packet model (SPEC 15) against what theory says of it, and one engine against the other.

use super::tests::{clocked_with, congested, go_on, lammps, settings, OVERHEADS};
use super::*;
use crate::blocks::port::controller::{AlwaysOn, PowerController};
use crate::blocks::port::golden::Port;
use crate::config::Config;
use crate::network::clocked::NoSink;
use crate::network::parameters::Aging;
use crate::network::topology::{ConfiguredTopology, SingleSwitch, Value, KINDS};
use crate::network::trace::{self, Program};

fn shape(kind: &str, parameters: &[(&str, Value)]) -> ConfiguredTopology {
    let kind = KINDS.iter().find(|known| known.name == kind).unwrap();
    ConfiguredTopology::new(kind, parameters).unwrap()
}

/// Switches and NICs that take their time, and a crossbar that is fair over the network.
fn slow() -> Parameters {
    Parameters {
        switch_ps: 50_000,
        nic_ps: 130_300,
        aging: Aging::Network,
        ..Parameters::default()
    }
}

/// A packet alone in the network takes `h (s + cable) + (h - 1) (s / speedup + switch_ns) + 2
/// nic_ns` over `h` links, where `s` is its time on a link: the closed form, and at each of the `h`
/// ports that send it less than a clock period until the next edge.
#[test]
fn zero_load_latency_is_that_of_the_closed_form() {
    let number = Value::Number;
    let torus = [
        ("dims", Value::List(vec![8, 8])),
        ("ports_per_link", number(1)),
    ];
    let mut seen = [0; 11];
    for (kind, parameters, pairs) in [
        ("single-switch", &[][..], &[(0, 1)][..]),
        ("megafly", &[][..], &[(0, 1), (0, 8), (0, 4000)][..]),
        ("dragonfly", &[][..], &[(0, 1), (0, 30), (0, 1000)][..]),
        (
            "k-ary-n-tree",
            &[("k", number(4)), ("n", number(3))][..],
            &[(0, 63)][..],
        ),
        ("torus", &torus[..], &[(0, 63), (0, 36)][..]),
    ] {
        let topology = shape(kind, parameters);
        for &(from, to) in pairs {
            for bytes in [64, 9600] {
                for switch in [Parameters::default(), slow()] {
                    let text = format!(
                        "num_ranks 2\nrank 0 {{\nl: send {bytes}b to 1\n}}\n\
                         rank 1 {{\nl: recv {bytes}b from 0\n}}\n"
                    );
                    let program = trace::from_text(&text).unwrap();
                    let load = Load::Programs {
                        programs: &[(&program).into()],
                        nodes: &[from, to],
                        overheads: OVERHEADS,
                    };
                    let settings = Settings {
                        switch,
                        ..settings(&[], None, 1)
                    };
                    let none = Replacements::new();
                    let run = run(&*topology, load, &settings, none, &mut go_on).unwrap();
                    let hops = u64::from(topology.hops(from as usize, to as usize));
                    assert_eq!(run.packet_hops, hops);
                    let closed = hops * (switch.link_time(bytes) + switch.cable_ps)
                        + (hops - 1) * (switch.crossbar_time(bytes) + switch.switch_ps)
                        + 2 * switch.nic_ps;
                    let latency = run.latency.max_ps;
                    let edges = closed..closed + hops * settings.power.clock_ps;
                    assert!(
                        edges.contains(&latency),
                        "{kind} {bytes} bytes {hops} links: {latency} ps, {closed}"
                    );
                    seen[hops as usize] += 1;
                }
            }
        }
    }
    // Ways of 2 to 6 links and the longest of the torus.
    assert!(
        [2, 4, 5, 6, 10].iter().all(|&hops| seen[hops] > 0),
        "{seen:?}"
    );
}

/// Packets follow each other through the pipelines of switches and NICs as fast as without them:
/// a long message takes longer by what one packet does.
#[test]
fn pipelines_delay_packets_and_do_not_slow_them() {
    let topology = SingleSwitch { nodes: 2 };
    let text = "num_ranks 2\nrank 0 {\nl: send 960000b to 1\n}\n\
                rank 1 {\nl: recv 960000b from 0\n}\n";
    let program = trace::from_text(text).unwrap();
    let with = |switch: Parameters| {
        let load = Load::Programs {
            programs: &[(&program).into()],
            nodes: &[0, 1],
            overheads: OVERHEADS,
        };
        let settings = Settings {
            switch,
            ..settings(&[], None, 1)
        };
        run(&topology, load, &settings, Replacements::new(), &mut go_on).unwrap()
    };
    let (fast, slow) = (with(Parameters::default()), with(slow()));
    // Whole packets follow each other: a clock edge may come in between where the first one
    // finds its port idle.
    let longer = slow.time_ps - fast.time_ps;
    let expected = 50_000 + 2 * 130_300;
    assert!(
        (expected - 2000..expected + 2000).contains(&longer),
        "{longer} ps"
    );
    assert_eq!(fast.packets, 100);
    // A packet stays in its input buffer while it is in the pipeline: of the next one, 50 ns more
    // have arrived when it leaves.
    let input = |run: &RunSummary| run.ports[0].highest_input;
    assert!(
        input(&slow) >= input(&fast),
        "{} {}",
        input(&slow),
        input(&fast)
    );
    assert!(u64::from(input(&slow)) <= Parameters::default().input_bound());
}

/// The headroom of PFC does not depend on how long packets stay in a switch: many senders to one
/// receiver, with a pipeline as long as the buffer is in time, lose no packet.
#[test]
fn the_headroom_of_pauses_holds_with_a_long_pipeline() {
    let program = congested(12);
    let nodes: Vec<u32> = (0..12).collect();
    let topology = SingleSwitch { nodes: 12 };
    let load = Load::Programs {
        programs: &[(&program).into()],
        nodes: &nodes,
        overheads: OVERHEADS,
    };
    let switch = Parameters {
        switch_ps: 1_000_000,
        ..slow()
    };
    let settings = Settings {
        switch,
        ..settings(&[], Some(100_000_000), 1)
    };
    let run = run(&topology, load, &settings, Replacements::new(), &mut go_on).unwrap();
    let pauses: u64 = run.ports.iter().map(|port| port.pauses).sum();
    let highest = run
        .ports
        .iter()
        .map(|port| port.highest_input)
        .max()
        .unwrap();
    assert!(pauses > 100, "{pauses}");
    assert!(u64::from(highest) <= switch.input_bound(), "{highest}");
    assert!(highest >= switch.pfc_stop, "{highest}");
}

/// Both engines with every delay and either order, under congestion and with controllers.
#[test]
fn both_engines_agree_with_delays() {
    let agree = |switch: Parameters, program: &Program, plan: Option<PortPlan>, duration: u64| {
        let ranks = program.ranks();
        let topology = SingleSwitch { nodes: ranks };
        let nodes: Vec<u32> = (0..ranks as u32).collect();
        let load = Load::Programs {
            programs: &[program.into()],
            nodes: &nodes,
            overheads: OVERHEADS,
        };
        let plans = plan.map_or(Vec::new(), |plan| vec![plan; topology.classes().len()]);
        let with = |threads| {
            let settings = Settings {
                switch,
                ..settings(&plans, Some(duration), threads)
            };
            run(&topology, load, &settings, Replacements::new(), &mut go_on).unwrap()
        };
        let controller = |_| -> Box<dyn PowerController + Send> {
            match &plan {
                Some(plan) => Box::new(Port::new(plan)),
                None => Box::new(AlwaysOn),
            }
        };
        let network = (&topology as &dyn Topology, program, &nodes[..]);
        let clocked = clocked_with(switch, network, Some(duration), controller, &mut NoSink);
        let fabric = with(1);
        assert_eq!(fabric, with(2));
        let events = fabric.events;
        assert_eq!(fabric, RunSummary { events, ..clocked }, "{switch:?}");
        fabric
    };
    let all = slow();
    let congested = congested(12);
    let mut runs = Vec::new();
    for switch in [
        Parameters {
            switch_ps: 50_000,
            ..Parameters::default()
        },
        Parameters {
            nic_ps: 130_300,
            ..Parameters::default()
        },
        Parameters {
            aging: Aging::Network,
            ..Parameters::default()
        },
        all,
    ] {
        let run = agree(switch, &congested, None, 45_000_000);
        let pauses: u64 = run.ports.iter().map(|port| port.pauses).sum();
        assert!(
            pauses > 50 && run.messages > 1500,
            "{pauses} {}",
            run.messages
        );
        runs.push(run.latency.mean_ps);
    }
    runs.sort_by(f64::total_cmp);
    runs.dedup();
    assert_eq!(runs.len(), 4, "each setting has its own latency");
    for (policy, sync) in [
        ("fixed", "messages"),
        ("perfbound-correct", "messages"),
        ("perfbound-correct", "lpi"),
    ] {
        let text = format!(
            "[port]\npolicy = \"{policy}\"\nsync = \"{sync}\"\nt_pdt_ns = 5000\n\
             t_pdt_init_ns = 20000\n"
        );
        let plan = Config::parse(&text, "port.toml").unwrap().plan().unwrap();
        let run = agree(all, &lammps(), Some(plan), 1_500_000_000);
        let misses: u64 = run.ports.iter().map(|port| port.cycles.misses).sum();
        assert!(run.packets > 500 && misses > 5, "{} {misses}", run.packets);
        assert_eq!(run.pauses_asleep, 0);
    }
    // Directions that go to sleep between packets, while inputs fill up.
    let text = "[port]\npolicy = \"fixed\"\nsync = \"lpi\"\nsleep = \"fast-wake\"\nt_pdt_ns = 10\n";
    let plan = Config::parse(text, "port.toml").unwrap().plan().unwrap();
    for switch in [Parameters::default(), all] {
        let run = agree(switch, &congested, Some(plan), 45_000_000);
        let pauses: u64 = run.ports.iter().map(|port| port.pauses).sum();
        let misses: u64 = run.ports.iter().map(|port| port.cycles.misses).sum();
        assert!(
            run.pauses_asleep > 0 && run.pauses_asleep < pauses && misses > 100,
            "{} {pauses} {misses}",
            run.pauses_asleep
        );
    }
}

/// The parking lot: nodes at 1, 2, 3 and 4 switches of a ring send the same volume over the same
/// link to switch 0. With the age in this switch each switch gives half of its output to the node
/// that is there, so the shares are 1/2, 1/4, 1/8, 1/8; with the age in the network all flows
/// have a quarter, whether they are one long message or many short ones.
#[test]
fn aging_over_the_network_is_fair_over_several_hops() {
    const BYTES: u64 = 3_840_000;
    let topology = shape(
        "torus",
        &[
            ("dims", Value::List(vec![9])),
            ("ports_per_link", Value::Number(1)),
            ("nodes_per_switch", Value::Number(1)),
        ],
    );
    let program = |messages: u64| {
        let bytes = BYTES / messages;
        let all = |what: &str| -> String {
            let ops = (0..messages).map(|number| format!("l{number}: {what}\n"));
            ops.collect()
        };
        let (send, recv) = (
            format!("send {bytes}b to 1"),
            format!("recv {bytes}b from 0"),
        );
        let text = format!(
            "num_ranks 2\nrank 0 {{\n{}}}\nrank 1 {{\n{}}}\n",
            all(&send),
            all(&recv)
        );
        trace::from_text(&text).unwrap()
    };
    let (long, short) = (program(1), program(400));
    let nodes = [1, 0, 2, 0, 3, 0, 4, 0];
    let ends = |aging, program: &Program, threads| -> Vec<f64> {
        let load = Load::Programs {
            programs: &[program.into(); 4],
            nodes: &nodes,
            overheads: OVERHEADS,
        };
        let settings = Settings {
            switch: Parameters {
                aging,
                ..Parameters::default()
            },
            ..settings(&[], None, threads)
        };
        let run = run(&*topology, load, &settings, Replacements::new(), &mut go_on).unwrap();
        let ends = run.jobs_ps.iter().map(|end| end.unwrap() as f64 / 1e6);
        ends.collect()
    };
    for (aging, expected, within) in [
        (Aging::Switch, [154.0, 230.8, 307.6, 308.0], 1.0),
        (Aging::Network, [307.6; 4], 4.0),
    ] {
        let found = ends(aging, &long, 1);
        for (end, expected) in found.iter().zip(expected) {
            assert!((end - expected).abs() < within, "{aging:?}: {found:?} us");
        }
        assert_eq!(found, ends(aging, &long, 3), "{aging:?}");
    }
    let found = ends(Aging::Network, &short, 1);
    assert!(
        found.iter().all(|end| (end - 307.6).abs() < 4.0),
        "{found:?} us"
    );
}
