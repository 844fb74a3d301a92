use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::network::parameters::Parameters;
use crate::network::selection::Thresholds;
use crate::network::topology::{ConfiguredTopology, Value, Walker, KINDS};

fn shape(kind: &str, parameters: &[(&'static str, Value)]) -> ConfiguredTopology {
    let kind = KINDS.iter().find(|known| known.name == kind).unwrap();
    ConfiguredTopology::new(kind, parameters).unwrap()
}

fn n(number: usize) -> Value {
    Value::Number(number)
}

fn torus() -> ConfiguredTopology {
    let dims = ("dims", Value::List(vec![5, 4, 2]));
    shape("torus", &[dims, ("ports_per_link", n(1))])
}

fn tree() -> ConfiguredTopology {
    shape("k-ary-n-tree", &[("k", n(4)), ("n", n(3))])
}

fn dragonfly() -> ConfiguredTopology {
    shape(
        "dragonfly",
        &[
            ("groups", n(9)),
            ("switches_per_group", n(4)),
            ("nodes_per_switch", n(2)),
            ("global_ports", n(2)),
        ],
    )
}

/// A packet in a queue of an input of a switch: where it comes from and goes to, and its next port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    source: usize,
    destination: usize,
    output: usize,
}

/// By input of a switch, and queue: the packets from every node to every other one.
type Waiting = BTreeMap<(usize, u8), BTreeSet<Packet>>;

/// All of them. Every queue is one of the lane on which its packets come, so that queues depend on
/// each other as lanes do, and these are free of deadlock (`topology::deadlock_free`).
fn waiting(topology: &dyn Topology, scheme: Queueing) -> Waiting {
    let queues = Queues::new(topology, scheme).unwrap();
    let walker = Walker::new(topology);
    let mut all = Waiting::new();
    let nodes = topology.nodes();
    for (source, destination) in (0..nodes * nodes).map(|pair| (pair / nodes, pair % nodes)) {
        if source == destination {
            continue;
        }
        let mut queue = queues.first(source, destination);
        let way: Vec<(usize, u8)> = walker.way(source, destination).collect();
        for (link, &(port, lane)) in way.iter().enumerate() {
            assert!(usize::from(queue) < queues.count());
            assert_eq!(
                queues.lane(queue),
                lane,
                "{scheme:?} {source} {destination}"
            );
            let Some(&(output, lane)) = way.get(link + 1) else {
                continue;
            };
            let input = walker.peer(port).unwrap();
            all.entry((input, queue)).or_default().insert(Packet {
                source,
                destination,
                output,
            });
            let hop = Hop {
                port: (output % topology.radix()) as u8,
                lane,
            };
            queue = queues.next(queue, output / topology.radix(), hop, destination);
        }
    }
    all
}

/// How many different values packets of one queue have, at most.
fn values<T: Ord>(all: &Waiting, value: impl Fn(&Packet) -> T) -> usize {
    let of = |queue: &BTreeSet<Packet>| queue.iter().map(&value).collect::<BTreeSet<_>>().len();
    all.values().map(of).max().unwrap()
}

/// What Zahn III.C says of each scheme holds of every packet in every queue.
#[test]
fn packets_are_where_their_scheme_has_them() {
    for topology in [torus(), tree(), dragonfly()] {
        let topology: &dyn Topology = &*topology;
        let lanes = topology.lanes();
        // "1q, which means no congestion management": as many queues as lanes.
        let one = waiting(topology, Queueing::One);
        assert!(one.keys().all(|&(_, queue)| usize::from(queue) < lanes));
        assert!(values(&one, |it| it.output) > 2);
        // "Each input port has one virtual queue for every output port".
        let outputs = waiting(topology, Queueing::PerOutput);
        assert_eq!(values(&outputs, |it| it.output), 1);
        // "Packets with destination D are mapped to D modulo number of VOQs per port."
        let scheme = Queueing::ByDestination { queues: 4 };
        let all = waiting(topology, scheme);
        assert_eq!(values(&all, |it| it.destination % 4), 1);
        assert_eq!(Queues::new(topology, scheme).unwrap().count(), 4 * lanes);
        assert!(all.keys().any(|&(_, queue)| queue == 4 * lanes as u8 - 1));
    }
}

/// POWAR 3: "the routing function returns a set of adaptive ports/VCs and one escape link/VC"; "we will use
/// four VCs per physical channel: 2 deterministic VCs + 2 adaptive VCs".
#[test]
fn adaptive_channels_come_before_those_of_escape() {
    let topology = torus();
    let queues = Queues::new(&*topology, Queueing::Adaptive { queues: 2 }).unwrap();
    assert_eq!(queues.count(), 4);
    assert_eq!([0, 1, 2, 3].map(|queue| queues.lane(queue)), [0, 0, 1, 2]);
    let mut escapes = BTreeSet::new();
    for (switch, destination) in (0..topology.nodes()).flat_map(|node| [(0, node), (node, 3)]) {
        let Some(channels) = queues.channels(switch, destination) else {
            assert_eq!(switch, topology.switch_of(destination));
            continue;
        };
        assert_eq!(usize::from(channels.adaptive), destination % 2);
        assert_eq!(channels.nearer, topology.nearer(switch, destination));
        assert_eq!(channels.nearer >> channels.escape & 1, 1);
        escapes.insert(channels.escape_queue);
        assert_eq!(queues.first(switch, destination), channels.adaptive);
    }
    assert_eq!(escapes, BTreeSet::from([2, 3]));
    // Other schemes have no choice.
    let one = Queues::new(&*topology, Queueing::One).unwrap();
    assert_eq!(one.channels(0, 7), None);
}

/// "It assigns packets to VCs according to the dimension for the next hop" (Zahn III.C).
#[test]
fn packets_of_one_dimension_share_a_queue() {
    let topology = torus();
    let all = waiting(&*topology, Queueing::PerDimension);
    // Dimension, or class 1: to the node.
    assert_eq!(values(&all, |it| topology.class(it.output)), 1);
    // Two directions of a dimension share it.
    assert_eq!(values(&all, |it| it.output), 2);
    let queues = Queues::new(&*topology, Queueing::PerDimension).unwrap();
    assert_eq!(queues.count(), 2 * (3 + 1));
}

/// "[Flow2SL] maps flows that have the same source group and the same destination group to the same
/// queue (or VC), while flows that have the same source group but are addressed to different groups are
/// mapped to different queues" (Zahn III.C).
#[test]
fn flows_of_a_source_group_share_a_queue_by_their_destination_group() {
    let topology = tree();
    let all = waiting(&*topology, Queueing::ByGroups { queues: 4 });
    let group = |node: usize| node / 16;
    let mut queue_of = BTreeMap::new();
    for ((_, queue), packets) in &all {
        for packet in packets {
            let groups = (group(packet.source), group(packet.destination));
            let known = queue_of.entry(groups).or_insert(*queue);
            assert_eq!(known, queue, "one queue all the way");
        }
    }
    assert_eq!(queue_of.len(), 16);
    for source in 0..4 {
        let queues: BTreeSet<u8> = (0..4).map(|to| queue_of[&(source, to)]).collect();
        assert_eq!(queues.len(), 4);
    }
}

/// "It splits traffic flows up in a standard virtual network (SVN) and an escape virtual network (EVN).
/// [...] We selected six VCs for the SVN and two VCs for the EVN" (Zahn III.C).
#[test]
fn packets_escape_in_the_group_of_their_destination() {
    let topology = dragonfly();
    let scheme = Queueing::TwoLevels {
        queues: 6,
        escape_queues: 2,
    };
    assert_eq!(Queues::new(&*topology, scheme).unwrap().count(), 8);
    let all = waiting(&*topology, scheme);
    let nodes_of_group = 8;
    for (&(_, queue), packets) in &all {
        let count = if queue < 6 { 6 } else { 2 };
        for packet in packets {
            assert_eq!(usize::from(queue) % 6 % count, packet.destination % count);
            let [from, to] = [packet.source, packet.destination].map(|node| node / nodes_of_group);
            assert!(
                queue < 6 || from != to,
                "what stays in its group needs no escape"
            );
        }
    }
    assert!(all.keys().any(|&(_, queue)| queue == 7));
}

/// Of a queue for each node there are as many as nodes, where a buffer can have these.
#[test]
fn a_queue_for_each_node_fits_small_networks() {
    let small = shape("k-ary-n-tree", &[("k", n(2)), ("n", n(3))]);
    let all = waiting(&*small, Queueing::PerNode);
    assert_eq!(values(&all, |it| it.destination), 1);
    let large = shape("k-ary-n-tree", &[("k", n(4)), ("n", n(4))]);
    let error = Queues::new(&*large, Queueing::PerNode).unwrap_err();
    assert_eq!(error, "voqnet has 256 queues here; a buffer can have 64");
}

#[test]
fn schemes_are_for_the_networks_they_are_made_for() {
    let groups = Queueing::ByGroups { queues: 4 };
    let levels = Queueing::TwoLevels {
        queues: 6,
        escape_queues: 2,
    };
    let alone = shape("dragonfly", &[("groups", n(1))]);
    for (scheme, topology, networks) in [
        (Queueing::PerDimension, tree(), "(torus, hyperx)"),
        (groups, torus(), "(k-ary-n-tree, rlft)"),
        (levels, torus(), "(dragonfly, rc-dragonfly)"),
        (levels, alone, "(dragonfly, rc-dragonfly)"),
    ] {
        let error = Queues::new(&*topology, scheme).unwrap_err();
        let name = scheme.name();
        assert!(
            error.starts_with(name) && error.contains(networks),
            "{error}"
        );
    }
    let small = ("dims", Value::List(vec![4, 2]));
    let grid = shape("torus", &[small, ("ports_per_link", n(1))]);
    let nodes = grid.nodes();
    for (scheme, may) in [
        (
            Queueing::ByDestination {
                queues: nodes as u8,
            },
            true,
        ),
        (
            Queueing::ByDestination {
                queues: nodes as u8 + 1,
            },
            false,
        ),
    ] {
        let found = Queues::new(&*grid, scheme);
        assert_eq!(found.is_ok(), may);
        let problem = found.err().unwrap_or_default();
        let says = format!("dbbm has {} queues for {nodes} nodes", nodes + 1);
        assert!(may || problem.starts_with(&says), "{problem}");
    }
    let kinds = [
        "torus",
        "hyperx",
        "k-ary-n-tree",
        "rlft",
        "dragonfly",
        "rc-dragonfly",
    ];
    let schemes = [Queueing::PerDimension, groups, levels];
    for (kind, scheme) in kinds
        .into_iter()
        .zip(schemes.into_iter().flat_map(|it| [it, it]))
    {
        Queues::new(&*shape(kind, &[]), scheme).unwrap_or_else(|error| panic!("{kind}: {error}"));
    }
}

/// Each queue holds the largest packet, and packets go one way.
#[test]
fn queues_have_room_and_packets_one_way() {
    let topology = tree();
    let with = |switch: Parameters| Queues::of(&*topology, &switch).map(|it| it.is_some());
    assert_eq!(with(Parameters::default()), Ok(false));
    let queueing = Some(Queueing::ByDestination { queues: 5 });
    let switch = Parameters {
        queueing,
        ..Parameters::default()
    };
    assert_eq!(switch.validate(), Ok(()), "PFC limits do not matter");
    assert_eq!(with(switch), Ok(true));
    let error = with(Parameters {
        queue: 47_999,
        ..switch
    });
    let error = error.unwrap_err();
    assert_eq!(error.key, "queue_bytes");
    assert!(
        error
            .problem
            .contains("each of the 5 queues of dbbm would have 9599 bytes; at least 48000"),
        "{error}"
    );
    let error = with(Parameters {
        selection: Selection::Powar(Thresholds::DEFAULT),
        ..switch
    });
    let error = error.unwrap_err();
    assert_eq!(error.key, "queueing");
    assert!(
        error.problem.contains("give selection = \"fixed\""),
        "{error}"
    );
}
