use super::hop_counts::{by_class, by_port, discover, hop_proportions, pairs, HopCounts};
use super::torus::Torus;
use super::*;

fn shape(name: &str, given: &[(&'static str, Value)]) -> ConfiguredTopology {
    try_shape(name, given).unwrap_or_else(|error| panic!("{name} {given:?}: {error}"))
}

fn try_shape(
    name: &str,
    given: &[(&'static str, Value)],
) -> Result<ConfiguredTopology, ParameterError> {
    let kind = KINDS.iter().find(|kind| kind.name == name).unwrap();
    ConfiguredTopology::new(kind, given)
}

fn n(number: usize) -> Value {
    Value::Number(number)
}

fn dims(list: &[usize]) -> (&'static str, Value) {
    ("dims", Value::List(list.to_vec()))
}

/// An RLFT with fewer subtrees than a top switch has ports.
fn pruned(radix: usize, levels: usize, subtrees: usize) -> ConfiguredTopology {
    shape(
        "rlft",
        &[
            ("radix", n(radix)),
            ("levels", n(levels)),
            ("subtrees", n(subtrees)),
        ],
    )
}

/// Small networks of every kind: with and without parallel cables, unused ports, ties.
fn small() -> Vec<ConfiguredTopology> {
    vec![
        shape("single-switch", &[("nodes", n(5))]),
        shape("megafly", &[("groups", n(5)), ("radix", n(4))]),
        shape("megafly", &[("groups", n(4)), ("radix", n(6))]),
        shape("megafly", &[("groups", n(3)), ("radix", n(4))]),
        shape("megafly", &[("groups", n(1)), ("radix", n(6))]),
        shape("rlft", &[("radix", n(4)), ("levels", n(2))]),
        shape("rlft", &[("radix", n(6)), ("levels", n(3))]),
        shape("rlft", &[("radix", n(4)), ("levels", n(4))]),
        pruned(6, 3, 2),
        pruned(8, 2, 4),
        pruned(4, 4, 2),
        shape("k-ary-n-tree", &[("k", n(2)), ("n", n(2))]),
        shape("k-ary-n-tree", &[("k", n(3)), ("n", n(3))]),
        shape("k-ary-n-tree", &[("k", n(2)), ("n", n(5))]),
        shape("torus", &[]),
        shape("torus", &[dims(&[5, 3]), ("ports_per_link", n(1))]),
        shape(
            "torus",
            &[
                dims(&[7]),
                ("ports_per_link", n(2)),
                ("nodes_per_switch", n(3)),
            ],
        ),
        shape(
            "torus",
            &[
                dims(&[2, 6]),
                ("ports_per_link", n(1)),
                ("nodes_per_switch", n(2)),
            ],
        ),
        shape(
            "torus",
            &[dims(&[3, 4, 2]), ("ports_per_link", n(3)), ("radix", n(20))],
        ),
        dragonfly(9, 4, 2, 2),
        dragonfly(5, 4, 2, 2),
        dragonfly(4, 3, 1, 2),
        dragonfly(1, 5, 2, 1),
        row_column(7, 2, 3, 2, 1, 1),
        row_column(3, 3, 2, 1, 2, 2),
        row_column(4, 2, 4, 3, 2, 1),
        shape(
            "hyperx",
            &[
                dims(&[3, 4]),
                ("nodes_per_switch", n(2)),
                ("ports_per_link", n(2)),
            ],
        ),
        shape(
            "hyperx",
            &[
                dims(&[2, 3, 4]),
                ("nodes_per_switch", n(3)),
                ("radix", n(9)),
            ],
        ),
    ]
}

fn dragonfly(groups: usize, switches: usize, nodes: usize, ports: usize) -> ConfiguredTopology {
    shape(
        "dragonfly",
        &[
            ("groups", n(groups)),
            ("switches_per_group", n(switches)),
            ("nodes_per_switch", n(nodes)),
            ("global_ports", n(ports)),
        ],
    )
}

fn row_column(
    groups: usize,
    rows: usize,
    columns: usize,
    column_ports: usize,
    nodes: usize,
    ports: usize,
) -> ConfiguredTopology {
    shape(
        "rc-dragonfly",
        &[
            ("groups", n(groups)),
            ("rows", n(rows)),
            ("columns", n(columns)),
            ("ports_per_column_link", n(column_ports)),
            ("nodes_per_switch", n(nodes)),
            ("global_ports", n(ports)),
        ],
    )
}

fn defaults() -> Vec<ConfiguredTopology> {
    KINDS
        .iter()
        .map(|kind| ConfiguredTopology::named(kind.name).unwrap())
        .collect()
}

fn switch_links(topology: &dyn Topology) -> usize {
    let switch_ports = topology.switch_ports();
    let between = (0..switch_ports).filter_map(|port| topology.peer(port));
    between.filter(|&peer| peer < switch_ports).count() / 2
}

/// Nodes, switches, radix, links as the PerfBound paper counts them, cables between switches.
fn counts(shape: &ConfiguredTopology) -> [usize; 5] {
    [
        shape.nodes(),
        shape.switches(),
        shape.radix(),
        shape.links(),
        switch_links(&**shape),
    ]
}

/// PerfBound 4.2 and Tables 6, 7: "65 groups of 64 nodes, each group employing 16 switches with a
/// radix of 16 (1040 switches in total)"; 4160 nodes, 20800 links.
#[test]
fn megafly_of_the_perfbound_paper() {
    let megafly = ConfiguredTopology::named("megafly").unwrap();
    let global = 65 * 64 / 2;
    assert_eq!(counts(&megafly), [4160, 1040, 16, 20800, 65 * 64 + global]);
    // One global link between every pair of groups.
    let mut seen = std::collections::BTreeSet::new();
    for port in 0..megafly.switch_ports() {
        let peer = megafly.peer(port).expect("every port has a cable");
        let group = |port| port / 16 / 16;
        if peer < megafly.switch_ports() && group(port) != group(peer) {
            assert!(seen.insert((group(port), group(peer))));
        }
    }
    assert_eq!(seen.len(), 65 * 64);
    // Same leaf 2, same group 4, other group 5 links: the hop counts of the presets.
    let nodes = 4160;
    let expected = [(2, nodes * 7), (4, nodes * 56), (5, nodes * 4096)];
    assert_eq!(pairs(&*megafly).iter().collect::<Vec<_>>(), expected);
    assert_eq!(megafly.lanes(), 1);
}

/// PerfBound Table 7: 845 switches, 4394 nodes, 26364 links.
#[test]
fn rlft_of_the_perfbound_paper() {
    let rlft = ConfiguredTopology::named("rlft").unwrap();
    assert_eq!(counts(&rlft), [4394, 845, 26, 26364, 2 * 4394]);
}

/// A node that is connected by as many cables as a neighbour needs 93 ports here; with one, 64.
#[test]
fn a_torus_has_as_many_ports_as_there_are() {
    let parameters = |cables| {
        [
            dims(&[2]),
            ("ports_per_link", n(cables)),
            ("nodes_per_switch", n(2)),
        ]
    };
    assert_eq!(shape("torus", &parameters(31)).radix(), 64);
    assert_eq!(shape("torus", &parameters(21)).radix(), 63);
    assert!(try_shape("torus", &parameters(32)).is_err());
}

/// PerfBound Table 7: 1000 switches, 4000 nodes, 28000 links; by its rule a radix of 24, and so
/// three cables per neighbour.
#[test]
fn torus_of_the_perfbound_paper() {
    let torus = shape(
        "torus",
        &[
            dims(&[10, 10, 10]),
            ("nodes_per_switch", n(4)),
            ("ports_per_link", n(3)),
            ("radix", n(24)),
        ],
    );
    assert_eq!(counts(&torus), [4000, 1000, 24, 28000, 9000]);
}

/// POWAR 4.1: 64 nodes, 64 switches with 28 ports: 6 aggregated links of 4 and one more of 4
/// to the node, of which a NIC with one port uses one.
#[test]
fn torus_of_powar() {
    let torus = ConfiguredTopology::named("torus").unwrap();
    assert_eq!(counts(&torus), [64, 64, 28, 64 * 28 + 64, 64 * 6 * 4 / 2]);
    let free = (0..64 * 28)
        .filter(|&port| torus.peer(port).is_none())
        .count();
    assert_eq!(free, 64 * 3);
}

/// POWAR 4.1: the 8-ary 2-tree, 16 switches with 16 ports, 64 nodes.
#[test]
fn tree_of_powar() {
    let tree = shape("k-ary-n-tree", &[("k", n(8)), ("n", n(2))]);
    assert_eq!(counts(&tree), [64, 16, 16, 16 * 16 + 64, 64]);
}

/// Georgakoudis Table V: 576 switches with 8 nodes, 6 x 16; 384 switches with 12 nodes, 8 x 8 x 6; a
/// fat tree of three levels with 24 nodes at each of 192 switches; radix 48, 4608 nodes all.
#[test]
fn networks_of_georgakoudis() {
    let dragonfly = ConfiguredTopology::named("rc-dragonfly").unwrap();
    let between = 576 * (15 + 15 + 10) / 2;
    assert_eq!(
        counts(&dragonfly),
        [4608, 576, 48, 576 * 48 + 4608, between]
    );
    let hyperx = ConfiguredTopology::named("hyperx").unwrap();
    let between = 384 * (7 + 7 + 5) / 2;
    assert_eq!(counts(&hyperx), [4608, 384, 48, 384 * 48 + 4608, between]);
    assert_eq!(pairs(&*hyperx).max(), 5);
    // 192 switches at the first level, as many at the second, half of that at the top: as many cables
    // between two levels as there are nodes.
    let tree = pruned(48, 3, 8);
    let switches = 192 + 192 + 96;
    assert_eq!(
        counts(&tree),
        [4608, switches, 48, switches * 48 + 4608, 2 * 4608]
    );
    assert_eq!(tree.nodes_per_switch(), 24);
    let leaves: std::collections::BTreeSet<_> =
        (0..4608).map(|node| tree.switch_of(node)).collect();
    assert_eq!(leaves.len(), 192);
    // No port is free.
    assert!((0..tree.ports()).all(|port| tree.peer(port).is_some()));
}

/// Zahn III.A: 1056 (12x11x8) nodes; 5 stages, radix 8, 1024 nodes; 33 groups, radix 15,
/// 1056 nodes.
#[test]
fn networks_of_zahn() {
    let torus = shape("torus", &[dims(&[12, 11, 8]), ("ports_per_link", n(1))]);
    assert_eq!(counts(&torus), [1056, 1056, 7, 1056 * 8, 1056 * 3]);
    assert_eq!(pairs(&*torus).max(), 6 + 5 + 4 + 2);
    assert_eq!(torus.lanes(), 2);
    let tree = shape("k-ary-n-tree", &[("k", n(4)), ("n", n(5))]);
    assert_eq!(counts(&tree), [1024, 1280, 8, 1280 * 8 + 1024, 4 * 1024]);
    let dragonfly = ConfiguredTopology::named("dragonfly").unwrap();
    let between = 33 * 28 + 33 * 32 / 2;
    assert_eq!(
        counts(&dragonfly),
        [1056, 264, 15, 264 * 15 + 1056, between]
    );
    assert_eq!(pairs(&*dragonfly).max(), 5);
}

/// Alonso 2: k^n nodes and n * k^(n-1) switches; 64 nodes in the 4-ary 3-tree. Its links are
/// unidirectional, 2 * k per switch.
#[test]
fn tree_of_alonso() {
    let tree = ConfiguredTopology::named("k-ary-n-tree").unwrap();
    assert_eq!(counts(&tree), [64, 48, 8, 48 * 8 + 64, 128]);
}

/// Alonso 3: of the minimal tree, `(k^n - 1) / (k - 1)` switches and `2 k` links of one direction for
/// each; 21 and 168 in the 4-ary 3-tree. Its links alone connect all nodes, in both directions.
#[test]
fn minimal_tree_of_alonso() {
    let trees = [(4usize, 3u32, 21, 168), (3, 3, 13, 78), (2, 5, 31, 124)];
    for (k, levels, switches, links) in trees {
        let tree = shape("k-ary-n-tree", &[("k", n(k)), ("n", n(levels as usize))]);
        assert_eq!(switches, (k.pow(levels) - 1) / (k - 1));
        let cabled = |port: &usize| tree.peer(*port).is_some();
        let kept = |port: &usize| tree.stays_on(*port) == Some(true);
        let minimal: Vec<usize> = (0..tree.ports()).filter(cabled).filter(kept).collect();
        assert_eq!(minimal.len(), links);
        let mut of: Vec<usize> = (minimal.iter().filter(|&&port| port < tree.switch_ports()))
            .map(|port| port / tree.radix())
            .collect();
        of.dedup();
        assert_eq!(of.len(), switches);
        // What is reached from a node over them.
        for node in 0..tree.nodes() {
            let mut nodes = vec![false; tree.nodes()];
            let mut reached = vec![false; tree.switches()];
            let mut next = vec![tree.nic(node)];
            while let Some(port) = next.pop() {
                let peer = tree.peer(port).unwrap();
                if peer >= tree.switch_ports() {
                    nodes[peer - tree.switch_ports()] = true;
                    continue;
                }
                let switch = peer / tree.radix();
                if !std::mem::replace(&mut reached[switch], true) {
                    let ports = switch * tree.radix()..(switch + 1) * tree.radix();
                    next.extend(ports.filter(cabled).filter(kept));
                }
            }
            assert!(nodes.iter().all(|reached| *reached), "from node {node}");
        }
    }
    // Of four cables between neighbours one stays on, one cable alone cannot be off.
    let torus = ConfiguredTopology::named("torus").unwrap();
    let on = (0..torus.ports()).filter(|&port| torus.peer(port).is_some());
    let on = on.filter(|&port| torus.stays_on(port) == Some(true));
    assert_eq!(on.count(), 64 + 64 + 64 * 6);
    let thin = shape("torus", &[("ports_per_link", n(1))]);
    assert_eq!(thin.stays_on(0), None);
}

/// Alonso 2: "any path starting from a level 0 switch and leading to a given node traverses the
/// same sequence of edge labels", the node's digits; and the ways up from a leaf lead to
/// every root, one each. The same holds for an RLFT.
#[test]
fn trees_are_labelled_as_in_alonso() {
    for (tree, k, levels, roots) in [
        (shape("k-ary-n-tree", &[("k", n(3)), ("n", n(3))]), 3, 3, 9),
        (shape("k-ary-n-tree", &[("k", n(2)), ("n", n(5))]), 2, 5, 16),
        (shape("rlft", &[("radix", n(6)), ("levels", n(3))]), 3, 3, 9),
    ] {
        let follow = |switch: usize, port: usize| {
            let peer = tree.peer(switch * tree.radix() + port);
            peer.expect("a cable")
        };
        // The roots have the highest numbers.
        for node in 0..tree.nodes() {
            for root in tree.switches() - roots..tree.switches() {
                let mut at = root * tree.radix();
                for level in (0..levels).rev() {
                    let span = usize::pow(k, level as u32);
                    // The highest digit of an RLFT goes up to 2k.
                    let top = level + 1 == levels;
                    let digit = if top { node / span } else { node / span % k };
                    at = follow(at / tree.radix(), digit);
                }
                assert_eq!(at, tree.nic(node));
            }
        }
        for leaf in (0..tree.nodes())
            .step_by(k)
            .map(|node| tree.switch_of(node))
        {
            let mut reached = vec![leaf];
            for _ in 1..levels {
                let up = |&switch: &usize| {
                    let ports = k..2 * k;
                    ports
                        .map(|port| follow(switch, port) / tree.radix())
                        .collect::<Vec<_>>()
                };
                reached = reached.iter().flat_map(up).collect();
            }
            reached.sort_unstable();
            assert!(reached
                .into_iter()
                .eq(tree.switches() - roots..tree.switches()));
        }
    }
}

#[test]
fn cables_have_two_ends() {
    for shape in small().iter().chain(&defaults()) {
        for port in 0..shape.ports() {
            if let Some(peer) = shape.peer(port) {
                assert_ne!(peer, port, "{shape:?}");
                assert_eq!(shape.peer(peer), Some(port), "{shape:?} port {port}");
                assert!(shape.class(port) < shape.classes().len());
            }
        }
        for node in 0..shape.nodes() {
            let port = shape.peer(shape.nic(node)).unwrap();
            assert_eq!(port / shape.radix(), shape.switch_of(node), "{shape:?}");
            let first = node - node % shape.nodes_per_switch();
            assert_eq!(shape.switch_of(first), shape.switch_of(node), "{shape:?}");
        }
    }
}

#[test]
fn hops_are_the_links_of_the_way() {
    for shape in &small() {
        let walker = Walker::new(&**shape);
        for source in 0..shape.nodes() {
            assert_eq!(shape.hops(source, source), 0);
            for destination in (0..shape.nodes()).filter(|&node| node != source) {
                let links = walker.way(source, destination).count();
                let hops = usize::from(shape.hops(source, destination));
                assert_eq!(hops, links, "{shape:?} from {source} to {destination}");
            }
        }
    }
}

/// Breadth first: there is no shorter way. In a Dragonfly there may be, by a third group or by
/// another cable to the group than the one that the destination chooses.
#[test]
fn ways_are_shortest() {
    for shape in small()
        .iter()
        .filter(|shape| !shape.kind().contains("dragonfly"))
    {
        let radix = shape.radix();
        for source in 0..shape.switches() {
            let mut distance = vec![u8::MAX; shape.switches()];
            distance[source] = 0;
            let mut queue = std::collections::VecDeque::from([source]);
            while let Some(switch) = queue.pop_front() {
                for port in switch * radix..(switch + 1) * radix {
                    let next = shape.peer(port).filter(|&peer| peer < shape.switch_ports());
                    if let Some(next) = next.map(|peer| peer / radix) {
                        if distance[next] == u8::MAX {
                            distance[next] = distance[switch] + 1;
                            queue.push_back(next);
                        }
                    }
                }
            }
            for from in (0..shape.nodes()).filter(|&node| shape.switch_of(node) == source) {
                for to in (0..shape.nodes()).filter(|&node| node != from) {
                    let shortest = distance[shape.switch_of(to)] + 2;
                    assert_eq!(shape.hops(from, to), shortest, "{shape:?} {from} {to}");
                }
            }
        }
    }
}

/// A Dragonfly's way has at most one cable between groups, and at most one per row and
/// column before and after it.
#[test]
fn dragonfly_ways_are_minimal() {
    for shape in small()
        .iter()
        .filter(|shape| shape.kind().contains("dragonfly"))
    {
        let walker = Walker::new(&**shape);
        let classes = shape.classes();
        let between = classes.len() - 1;
        for source in 0..shape.nodes() {
            for destination in (0..shape.nodes()).filter(|&node| node != source) {
                let ways: Vec<_> = walker.way(source, destination).collect();
                let classes: Vec<usize> = ways.iter().map(|&(port, _)| shape.class(port)).collect();
                let parts: Vec<_> = classes.split(|&class| class == between).collect();
                assert!(parts.len() <= 2, "{classes:?}");
                for part in parts {
                    let local: Vec<_> = part.iter().filter(|&&class| class > 1).collect();
                    assert!(
                        local.windows(2).all(|pair| pair[0] < pair[1]),
                        "{classes:?}"
                    );
                }
                let lanes: Vec<u8> = ways.iter().map(|&(_, lane)| lane).collect();
                let across = classes.iter().position(|&class| class == between);
                let expected = |link| u8::from(across.is_some_and(|across| link > across));
                assert!((0..lanes.len()).all(|link| lanes[link] == expected(link)));
            }
        }
    }
}

#[test]
fn from_which_of_its_nodes_a_switch_has_a_packet_makes_no_difference() {
    for shape in &small() {
        let walker = Walker::new(&**shape);
        for source in 0..shape.nodes() {
            let first = source - source % shape.nodes_per_switch();
            for destination in (0..shape.nodes()).filter(|&node| node != source) {
                assert!(
                    walker
                        .way(source, destination)
                        .skip(1)
                        .eq(walker.way(first, destination).skip(1)),
                    "{shape:?}"
                );
            }
        }
    }
}

#[test]
fn no_network_can_deadlock() {
    let free = |shape: &ConfiguredTopology| {
        for selects in [false, true] {
            let found = deadlock_free(&**shape, selects);
            found.unwrap_or_else(|cycle| panic!("{shape:?}, selects {selects}: {cycle}"));
        }
    };
    small().iter().chain(&defaults()).for_each(free);
    let larger = [
        shape("torus", &[dims(&[12, 11, 8]), ("ports_per_link", n(1))]),
        shape("torus", &[dims(&[7, 6]), ("ports_per_link", n(3))]),
        shape("k-ary-n-tree", &[("k", n(4)), ("n", n(5))]),
    ];
    larger.iter().for_each(free);
}

#[test]
fn a_torus_without_its_dateline_has_a_cycle() {
    for (sizes, cyclic) in [(5, true), (6, true), (4, false), (3, false), (2, false)] {
        let kind = KINDS.iter().find(|kind| kind.name == "torus").unwrap();
        let parameters = parameters::Parameters::of(
            kind.name,
            kind.parameters,
            &[dims(&[sizes, 2]), ("ports_per_link", n(1))],
        );
        let torus = Torus::new(&parameters.unwrap()).unwrap();
        assert_eq!(
            torus.lanes(),
            1 + usize::from(cyclic),
            "no more lanes than needed"
        );
        assert_eq!(deadlock_free(&torus, true), Ok(()));
        let found = deadlock_free(&torus.without_dateline(), false);
        assert_eq!(found.is_err(), cyclic, "{sizes} in a row");
        if let Err(cycle) = found {
            // Once around the ring, all on lane 0.
            let text = cycle.to_string();
            assert_eq!(text.matches(" -> ").count(), sizes - 1, "{text}");
            assert_eq!(text.matches(" lane 0").count(), sizes, "{text}");
        }
    }
}

fn is_grid(shape: &ConfiguredTopology) -> bool {
    matches!(shape.shape(), Shape::Grid { .. })
}

/// Whatever is chosen in the place of a port is a port of the switch; one without a cable has no other in
/// its place.
#[test]
fn choices_are_ports_of_the_switch() {
    let mut shapes = small();
    let wide = [
        dims(&[4, 4]),
        ("nodes_per_switch", n(1)),
        ("ports_per_link", n(3)),
        ("radix", n(64)),
    ];
    shapes.push(shape("hyperx", &wide));
    shapes.push(shape("torus", &[dims(&[4, 4]), ("radix", n(64))]));
    for shape in &shapes {
        let radix = shape.radix();
        for (switch, port) in (0..shape.switches()).flat_map(|it| (0..radix).map(move |p| (it, p)))
        {
            let choices = shape.choices(switch, port as u8);
            let has_cable = |port: u8| shape.peer(switch * radix + usize::from(port)).is_some();
            assert!(choices.contains(&(port as u8)) && usize::from(choices.end) <= radix);
            if choices.len() > 1 {
                assert!(choices.clone().all(has_cable), "{shape:?} {switch} {port}");
            }
        }
    }
}

/// POWAR 3: "all the VCs that bring the packet closer to its destination can be selected", and no other.
#[test]
fn adaptive_channels_are_those_that_lead_nearer() {
    for shape in &small() {
        let (radix, mut several) = (shape.radix(), false);
        for destination in (0..shape.nodes()).step_by(shape.nodes_per_switch()) {
            for switch in 0..shape.switches() {
                // Seen from the other switches, whose own nodes these are.
                let hops = |switch: usize| match switch == shape.switch_of(destination) {
                    true => 2,
                    false => shape.hops(switch * shape.nodes_per_switch(), destination),
                };
                let leads_nearer = |port: &usize| {
                    let far = shape.peer(switch * radix + port);
                    let far = far.filter(|&far| far < shape.switch_ports());
                    far.is_some_and(|far| hops(far / radix) < hops(switch))
                };
                let nearer = shape.nearer(switch, destination);
                let expected = match is_grid(shape) {
                    true => (0..radix).filter(leads_nearer).collect(),
                    false => Vec::new(),
                };
                let found: Vec<usize> = (0..radix).filter(|port| nearer >> port & 1 == 1).collect();
                assert_eq!(found, expected, "{shape:?} {switch} {destination}");
                several |= found.len() > 1;
            }
        }
        assert!(several || !is_grid(shape), "{shape:?}");
    }
}

/// Duato's protocol keeps grids of every size free of deadlock; without the second of its escape channels
/// there is a cycle where rings are so long that the routing function alone has one.
#[test]
fn adaptive_routes_cannot_deadlock() {
    let mut shapes: Vec<_> = small().into_iter().filter(is_grid).collect();
    shapes.push(shape("torus", &[dims(&[8, 7]), ("ports_per_link", n(1))]));
    shapes.push(shape(
        "torus",
        &[dims(&[5, 6, 4]), ("ports_per_link", n(1))],
    ));
    // Those of Georgakoudis and of Zahn.
    shapes.push(shape("hyperx", &[]));
    let zahn = [dims(&[12, 11, 8]), ("ports_per_link", n(1))];
    shapes.push(shape("torus", &zahn));
    assert!(shapes.iter().any(|it| it.kind() == "hyperx"));
    for shape in &shapes {
        let found = adaptive_deadlock_free(&**shape);
        found.unwrap_or_else(|cycle| panic!("{shape:?}: {cycle}"));
    }
    for (size, cyclic) in [(6, true), (5, true), (4, false), (3, false)] {
        let kind = KINDS.iter().find(|kind| kind.name == "torus").unwrap();
        let given = [dims(&[size, 2]), ("ports_per_link", n(1))];
        let parameters = parameters::Parameters::of(kind.name, kind.parameters, &given);
        let torus = Torus::new(&parameters.unwrap()).unwrap();
        let found = adaptive_deadlock_free(&torus.without_dateline());
        assert_eq!(found.is_err(), cyclic, "{size} in a row");
    }
}

/// An escape channel in the order of the dimensions for some packets, and in the other order for the rest,
/// has a cycle.
#[test]
fn escapes_that_turn_both_ways_have_a_cycle() {
    #[derive(Debug)]
    struct BothOrders(ConfiguredTopology);
    impl Topology for BothOrders {
        as_field_0!();

        fn route(&self, switch: usize, input: usize, lane: u8, destination: usize) -> Hop {
            self.0.route(switch, input, lane, destination)
        }

        fn nearer(&self, switch: usize, destination: usize) -> u64 {
            self.0.nearer(switch, destination)
        }

        fn escape(&self, switch: usize, destination: usize) -> Hop {
            let hop = self.0.escape(switch, destination);
            let last = 63 - self.nearer(switch, destination).leading_zeros() as u8;
            match destination % 2 {
                0 => hop,
                _ => Hop { port: last, ..hop },
            }
        }
    }
    let grid = shape("torus", &[dims(&[3, 3]), ("ports_per_link", n(1))]);
    assert_eq!(adaptive_deadlock_free(&*grid), Ok(()));
    let cycle = adaptive_deadlock_free(&BothOrders(grid)).unwrap_err();
    assert!(cycle.to_string().contains(" -> "), "{cycle}");
}

/// On one lane a Dragonfly has a cycle: its second lane is needed.
#[test]
fn a_dragonfly_with_one_lane_has_a_cycle() {
    #[derive(Debug)]
    struct OneLane(ConfiguredTopology);
    impl Topology for OneLane {
        as_field_0!();

        fn route(&self, switch: usize, input: usize, _: u8, destination: usize) -> Hop {
            let hop = self.0.route(switch, input, 0, destination);
            Hop { lane: 0, ..hop }
        }
    }
    deadlock_free(&OneLane(dragonfly(9, 4, 2, 2)), false).unwrap_err();
}

/// PerfBound 3.2 names two ways to the hop counts; both give the same, at every port.
#[test]
fn hop_counts_from_routing_and_from_discovery_are_equal() {
    for shape in &small() {
        let counted = by_port(&**shape);
        assert_eq!(counted, discover(&**shape), "{shape:?}");
        let packets: u64 = counted[shape.switch_ports()..]
            .iter()
            .map(HopCounts::packets)
            .sum();
        assert_eq!(packets, (shape.nodes() * (shape.nodes() - 1)) as u64);
        for (proportions, counts) in hop_proportions(&**shape).iter().zip(&counted) {
            assert_eq!(proportions.is_empty(), counts.packets() == 0);
            let sum: f64 = proportions.iter().map(|(_, share)| share).sum();
            assert!(proportions.is_empty() || (sum - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn the_representatives_stand_for_all() {
    for shape in &small() {
        let mut summed = vec![Vec::new(); shape.classes().len()];
        for (port, counts) in by_port(&**shape).iter().enumerate() {
            if shape.peer(port).is_some() {
                let class: &mut Vec<u64> = &mut summed[shape.class(port)];
                class.resize(64, 0);
                counts
                    .iter()
                    .for_each(|(hops, packets)| class[usize::from(hops)] += packets);
            }
        }
        let by_class = by_class(&**shape);
        assert_eq!(by_class.len(), summed.len());
        for (class, summed) in by_class.iter().zip(summed) {
            let expected = summed
                .iter()
                .enumerate()
                .filter(|(_, &packets)| packets > 0);
            let expected: Vec<_> = expected
                .map(|(hops, &packets)| (hops as u8, packets))
                .collect();
            assert_eq!(class.iter().collect::<Vec<_>>(), expected, "{shape:?}");
        }
        let mut all = vec![0; 64];
        for source in 0..shape.nodes() {
            for destination in (0..shape.nodes()).filter(|&node| node != source) {
                all[usize::from(shape.hops(source, destination))] += 1;
            }
        }
        for (hops, packets) in pairs(&**shape).iter() {
            assert_eq!(
                std::mem::take(&mut all[usize::from(hops)]),
                packets,
                "{shape:?}"
            );
        }
        assert!(all.iter().all(|&packets| packets == 0));
    }
}

/// The factor of a Megafly's NICs by hand: 7 nodes 2 links away, 56 at 4, 4096 at 5; what
/// crosses between groups goes 5 links, every packet of it.
#[test]
fn factors_of_the_megafly() {
    let megafly = ConfiguredTopology::named("megafly").unwrap();
    let classes = by_class(&*megafly);
    let expected = (7.0 / 2.0 + 56.0 / 4.0 + 4096.0 / 5.0) / 4159.0;
    assert!((classes[0].factor().unwrap() - expected).abs() < 1e-12);
    assert_eq!(classes[4].proportions(), [(5, 1.0)]);
    assert_eq!(classes[4].mean(), Some(5.0));
    assert_eq!(HopCounts::default().factor(), None);
}

#[test]
fn ports_have_names() {
    let tree = ConfiguredTopology::named("k-ary-n-tree").unwrap();
    assert_eq!(tree.port_name(3 * 8 + 5), "switch3.port5");
    assert_eq!(tree.port_name(48 * 8 + 7), "nic7");
    for port in 0..tree.ports() {
        assert_eq!(tree.port_named(&tree.port_name(port)), Some(port));
    }
    for name in [
        "nic64",
        "nic",
        "nic-1",
        "nic07",
        "nic+7",
        "switch48.port0",
        "switch0.port8",
        "switch0",
        "switch.port1",
        "switch00.port1",
        "port1",
        "Nic7",
        "nic7 ",
        "",
    ] {
        assert_eq!(tree.port_named(name), None, "{name}");
    }
}

#[test]
fn impossible_parameters_are_refused() {
    for (name, given, key, what) in [
        ("single-switch", vec![("nodes", n(65))], "nodes", "2 to 64"),
        (
            "megafly",
            vec![("groups", n(66))],
            "groups",
            "66 take radix = 18",
        ),
        (
            "megafly",
            vec![("groups", n(2000))],
            "groups",
            "radix = 90, and a switch can have at most 64 ports: take fewer groups",
        ),
        (
            "megafly",
            vec![("radix", n(15))],
            "radix",
            "the nearest are 14 and 16",
        ),
        ("megafly", vec![("groups", n(0))], "groups", "1 to"),
        ("rlft", vec![("levels", n(1))], "levels", "2 to 20"),
        (
            "rlft",
            vec![("radix", n(8)), ("levels", n(3)), ("subtrees", n(3))],
            "subtrees",
            "there can be 2, 4, 8",
        ),
        ("rlft", vec![("levels", n(6))], "levels", "at most 5 levels"),
        ("torus", vec![dims(&[4; 7])], "dims", "at most 6"),
        (
            "torus",
            vec![dims(&[64; 4]), ("ports_per_link", n(1))],
            "dims",
            "at most 2097152",
        ),
        (
            "torus",
            vec![("ports_per_link", n(11))],
            "ports_per_link",
            "would need 67 ports",
        ),
        (
            "torus",
            vec![("radix", n(24))],
            "radix",
            "the least that fits is 25",
        ),
        ("torus", vec![("dims", n(4))], "dims", "must be a list"),
        (
            "dragonfly",
            vec![("groups", n(34))],
            "groups",
            "34 take global_ports = 5",
        ),
        (
            "dragonfly",
            vec![("groups", n(1000))],
            "groups",
            "global_ports = 125, and a switch can have at most 64 ports: take fewer groups",
        ),
        (
            "dragonfly",
            vec![("global_ports", n(60))],
            "global_ports",
            "would need 71 ports",
        ),
        (
            "rc-dragonfly",
            vec![("groups", n(962))],
            "groups",
            "at most 961 groups",
        ),
        (
            "hyperx",
            vec![dims(&[60, 60])],
            "dims",
            "would need 130 ports",
        ),
        (
            "hyperx",
            vec![dims(&[20, 20])],
            "radix",
            "the least that fits is 50",
        ),
    ] {
        let error = try_shape(name, &given).unwrap_err();
        assert_eq!(error.key, key, "{name} {given:?}: {error}");
        assert!(error.problem.contains(what), "{name} {given:?}: {error}");
    }
}

/// Networks of 100,000 nodes: every class of port within the time of a test, and routes that
/// arrive. PerfBound 2.5 names that size.
#[test]
fn networks_of_100_000_nodes() {
    for shape in [
        shape("megafly", &[("groups", n(99)), ("radix", n(64))]),
        shape("rlft", &[("radix", n(32)), ("levels", n(4))]),
        dragonfly(400, 32, 8, 16),
        shape("torus", &[dims(&[46, 46, 48]), ("ports_per_link", n(1))]),
    ] {
        let nodes = shape.nodes() as u64;
        assert!(nodes > 100_000, "{nodes}");
        assert_eq!(pairs(&*shape).packets(), nodes * (nodes - 1));
        let classes = by_class(&*shape);
        // Every packet is sent by a NIC and by the switch at the end of its way.
        let nics = &classes[0];
        assert_eq!(nics, &pairs(&*shape));
        let links: u64 = classes.iter().map(HopCounts::packets).sum();
        let expected: u64 = nics
            .iter()
            .map(|(hops, count)| u64::from(hops) * count)
            .sum();
        assert_eq!(links, expected);
    }
}

/// The largest networks still have fewer nodes than the limit.
#[test]
fn the_largest_megafly_is_within_the_limit() {
    let megafly = shape("megafly", &[("groups", n(1025)), ("radix", n(64))]);
    assert_eq!(megafly.nodes(), 1025 * 1024);
    assert!(megafly.nodes() <= MAX_NODES);
}
/// Destinations spread evenly: under uniform traffic all ports of a class send as much. Two
/// exceptions: a turn of the torus, and the 8 destinations of a switch over 3 cables.
#[test]
fn uniform_traffic_loads_the_ports_of_a_class_alike() {
    for shape in defaults() {
        let counts = by_port(&*shape);
        for (class, name) in shape.classes().iter().enumerate() {
            let cabled = (0..shape.ports()).filter(|&port| shape.peer(port).is_some());
            let loads: Vec<u64> = cabled
                .filter(|&port| shape.class(port) == class)
                .map(|port| counts[port].packets())
                .collect();
            let least = *loads.iter().min().unwrap();
            let most = *loads.iter().max().unwrap();
            let expected = match (shape.kind(), name.as_str()) {
                ("torus", "dimension 3") => (6, 10),
                ("rc-dragonfly", "in a column") => (1536, 2304),
                _ => (most, most),
            };
            assert_eq!((least, most), expected, "{} {name}", shape.kind());
        }
    }
}
