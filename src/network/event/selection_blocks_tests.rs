//! The blocks of a switch that choose ports (`blocks/port_choice`, `blocks/selectable_ports`), asked what the
//! engine asked its selection functions in runs under load: they decide the same.

use std::collections::BTreeMap;
use std::fmt::Write;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::selections_tests::{run_program, shape};
use super::*;
use crate::blocks::port_choice::golden::{Inputs, PortChoice};
use crate::blocks::selectable_ports::golden::SelectablePorts;
use crate::config::plan::{SelectionKind, SelectionPlan};
use crate::network::parameters::Queueing;
use crate::network::port_set::ports;
use crate::network::selection::log::{self, Event};
use crate::network::selection::{Request, Selection, Thresholds};
use crate::network::topology::{ConfiguredTopology, Value};
use crate::network::trace::{self, Program};

/// A clock cycle of the circuits: they count the cycles in which ports are sending, a byte each.
const CYCLE: u64 = 250;

/// Cycles of a window: four of the largest packets, so that most windows end while some are leaving.
const WINDOW: u64 = 4_003;

/// How often something happened in a run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Packets that had a choice.
    choices: u32,
    /// Of these, that got a port which was free; that got one by the escape channel; and those for which no
    /// port was free, to which the circuit gives none.
    free: u32,
    escapes: u32,
    none_free: u32,
    /// Of those with a free port, that would have got another one had each input a turn of its own, and of
    /// all, that came in the two cycles in which the circuit has not looked at a window yet and finds other
    /// ports selectable.
    other_turn: u32,
    not_looked_yet: u32,
    /// Windows with a load, and those that asked for one port more, and one less.
    windows: u32,
    more: u32,
    less: u32,
}

/// What is known of a port from the events before.
#[derive(Clone, Copy, Default)]
struct State {
    /// Bytes of packets that wait for it.
    waiting: u64,
    busy_until: u64,
}

impl State {
    /// How long it takes to send what waits.
    fn backlog(&self, now: u64) -> u64 {
        self.waiting * CYCLE + self.busy_until.saturating_sub(now)
    }
}

/// A circuit of a switch that chooses among all its ports.
fn circuit(kind: SelectionKind, radix: usize) -> PortChoice {
    PortChoice::new(&plan(kind, radix as u32, Thresholds::DEFAULT))
}

fn plan(kind: SelectionKind, ports: u32, thresholds: Thresholds) -> SelectionPlan {
    SelectionPlan {
        kind,
        ports_down: 1,
        ports_up: ports,
        window: WINDOW,
        on_millionths: thresholds.on_millionths,
        off_millionths: thresholds.off_millionths,
    }
}

/// The port that a circuit gives a packet, which takes it.
fn takes(circuit: &mut PortChoice, inputs: &Inputs) -> Option<u8> {
    let chosen = circuit.chosen(inputs);
    circuit.clock(inputs);
    chosen.map(|port| port as u8)
}

/// Asks the circuits what the engine asked. A switch has one `port_choice` for adaptive ports and one for the
/// cables of the escape channel, as it has in the engine; and one for each input, to see what that changes.
fn same_choices(topology: &dyn Topology, kind: SelectionKind, log: &[Event], counts: &mut Counts) {
    let radix = topology.radix();
    let mut states = vec![State::default(); topology.switch_ports()];
    let mut adaptive = vec![circuit(kind, radix); topology.switches()];
    let mut escape = adaptive.clone();
    let mut by_input = vec![circuit(kind, radix); topology.switch_ports()];
    for event in log {
        let ask = match *event {
            Event::Asked(ref ask) => ask,
            Event::Waits { port, wire } => {
                states[port].waiting += u64::from(wire);
                continue;
            }
            Event::Leaves { port, from, until } => {
                states[port].waiting -= (until - from) / CYCLE;
                states[port].busy_until = until;
                continue;
            }
            Event::Window { .. } => continue,
        };
        let request: Request = ask.request.unwrap();
        let (now, first) = (request.now, request.switch * radix);
        let state = |port: u8| &states[first + usize::from(port)];
        let is_busy = |port: &u8| state(*port).backlog(now) > 0;
        let busy: u64 = (ports(ask.adaptive | ask.escape).filter(is_busy))
            .map(|port| 1 << port)
            .sum();
        // A port whose channel has no room for all that would wait for it can take no packet, either.
        let full = ask.credits.iter().filter(|&&(port, credits)| {
            u64::from(credits) < state(port).waiting + u64::from(request.wire)
        });
        let full: u64 = full.map(|&(port, _)| 1 << port).sum();
        let inputs = Inputs {
            choose: true,
            choices: ask.adaptive,
            busy: busy | full,
            awake: ask.awake,
            allowed: ask.selectable & request.on,
        };
        let escapes = Inputs {
            choices: ask.escape,
            busy,
            ..inputs
        };
        counts.choices += 1;
        let circuits = &mut [&mut adaptive[request.switch], &mut escape[request.switch]];
        let found = takes(circuits[0], &inputs).map(|port| (port, false));
        let found = found.or_else(|| takes(circuits[1], &escapes).map(|port| (port, true)));
        let chosen = (ask.chosen, ask.by_escape);
        if let Some(found) = found {
            assert_eq!(
                chosen, found,
                "{kind:?}: {ask:?}, busy {busy:b}, full {full:b}"
            );
            counts.free += 1;
            counts.escapes += u32::from(found.1);
            let own = takes(&mut by_input[first + usize::from(request.input)], &inputs);
            counts.other_turn += u32::from(!found.1 && own != Some(found.0));
            continue;
        }
        // The packet has the port that will be free first. The circuit gives it that once it is.
        counts.none_free += 1;
        let candidates = ask.adaptive & !full & inputs.allowed | ask.escape & inputs.allowed;
        let soonest = ports(candidates).map(|port| state(port).backlog(now)).min();
        assert_eq!(Some(state(ask.chosen).backlog(now)), soonest, "{ask:?}");
        let later = |inputs: &Inputs| Inputs {
            busy: !(1 << ask.chosen),
            ..*inputs
        };
        let taken = match ask.by_escape {
            false => takes(circuits[0], &later(&inputs)),
            true => takes(circuits[1], &later(&escapes)),
        };
        assert_eq!(taken, Some(ask.chosen), "{ask:?}");
    }
}

/// What a circuit has selectable after each window, and how many cycles of sending it counts in it.
struct Managed {
    selectable: Vec<u32>,
    cycles: Vec<u64>,
}

/// Has `selectable_ports` count the cycles in which these ports are sending.
fn managed(
    plan: &SelectionPlan,
    sent: &[(usize, u64, u64)],
    first: usize,
    windows: u64,
) -> Managed {
    let cycles = (windows * WINDOW) as usize;
    let mut sending = vec![0u8; cycles + 1];
    for &(port, from, until) in sent {
        // A cycle shows what happens at its beginning.
        for cycle in from.div_ceil(CYCLE)..until.div_ceil(CYCLE).min(cycles as u64) {
            sending[cycle as usize] |= 1 << (port - first);
        }
    }
    let mut circuit = SelectablePorts::new(plan);
    let mut managed = Managed {
        selectable: vec![plan.ports_up],
        cycles: Vec::new(),
    };
    // What comes in a window's last cycle the circuit counts in the next one: it is shown all a cycle early.
    assert_eq!(sending[0], 0);
    for (cycle, &ports) in sending[1..].iter().enumerate() {
        circuit.clock(ports.into());
        if cycle > 0 && (cycle as u64).is_multiple_of(WINDOW) {
            managed.selectable.push(circuit.selectable().count_ones());
        }
    }
    // The last window's end is a cycle later.
    circuit.clock(0);
    managed.selectable.push(circuit.selectable().count_ones());
    for window in sending[..cycles].chunks(WINDOW as usize) {
        let ports = window.iter().map(|ports| u64::from(ports.count_ones()));
        managed.cycles.push(ports.sum());
    }
    managed
}

/// Asks a `selectable_ports` for each group of ports what the engine decided at the end of each window, and
/// what it let packets choose among.
fn same_windows(
    topology: &dyn Topology,
    thresholds: Thresholds,
    log: &[Event],
    counts: &mut Counts,
) {
    let radix = topology.radix();
    // By the first port of a group, numbered through all switches.
    let group = |port: usize| {
        let ports = topology.choices(port / radix, (port % radix) as u8);
        (port / radix * radix + usize::from(ports.start), ports)
    };
    let mut sent: BTreeMap<usize, Vec<(usize, u64, u64)>> = BTreeMap::new();
    let mut last = 0;
    for event in log {
        match event {
            &Event::Leaves { port, from, until } => {
                let sent = sent.entry(group(port).0).or_default();
                sent.push((port, from, until));
                last = last.max(until);
            }
            Event::Asked(ask) => last = last.max(ask.request.unwrap().now),
            Event::Waits { .. } | Event::Window { .. } => {}
        }
    }
    let windows = last / (WINDOW * CYCLE) + 1;
    let mut circuits = BTreeMap::new();
    for event in log {
        let Event::Asked(ask) = event else {
            continue;
        };
        let request = ask.request.unwrap();
        for port in ports(ask.adaptive | ask.escape) {
            let (first, choices) = group(request.switch * radix + usize::from(port));
            circuits.entry(first).or_insert_with(|| {
                let plan = plan(SelectionKind::Powar, choices.len() as u32, thresholds);
                let sent = sent.get(&first).map_or(&[][..], Vec::as_slice);
                managed(&plan, sent, first, windows)
            });
        }
    }
    // By group: the window whose end the engine has looked at.
    let mut looked_at: BTreeMap<usize, u64> = BTreeMap::new();
    for event in log {
        match event {
            Event::Asked(ask) => {
                let Request { now, switch, .. } = ask.request.unwrap();
                let window = (now / CYCLE / WINDOW) as usize;
                let (mut seen, mut earlier) = (0, 0);
                for port in ports(ask.adaptive | ask.escape) {
                    let (first, choices) = group(switch * radix + usize::from(port));
                    let managed = &circuits[&first];
                    let place = u32::from(port - choices.start);
                    let is = |window: usize| u64::from(place < managed.selectable[window]) << port;
                    seen |= is(window);
                    earlier |= is(window.saturating_sub(1));
                }
                let among = ask.selectable & (ask.adaptive | ask.escape);
                assert_eq!(among, seen, "window {window}: {ask:?}");
                let is_early = now < window as u64 * WINDOW * CYCLE + 2 * CYCLE;
                counts.not_looked_yet += u32::from(is_early && earlier != seen);
            }
            &Event::Window {
                group,
                end,
                bytes,
                selectable,
            } => {
                let window = (end / CYCLE / WINDOW) as usize;
                let managed = &circuits[&group];
                // Windows that were left out had no load.
                let before = looked_at.insert(group, window as u64).unwrap_or(0) as usize;
                assert!(managed.cycles[before..window - 1]
                    .iter()
                    .all(|&cycles| cycles == 0));
                let (found, had) = (managed.selectable[window], managed.selectable[window - 1]);
                let what = format!("ports from {group}, window {window}");
                assert_eq!(bytes, managed.cycles[window - 1], "{what}");
                assert_eq!(u32::from(selectable), found, "{what}, {bytes} bytes");
                counts.windows += 1;
                counts.more += u32::from(found > had);
                counts.less += u32::from(found < had);
            }
            Event::Waits { .. } | Event::Leaves { .. } => {}
        }
    }
}

/// Each rank computes for up to 20 us, and sends up to thirteen messages to any others; again and again. So ports
/// are idle, sleep, wake and are overloaded.
fn waves(ranks: usize) -> Program {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut ops = vec![String::new(); ranks];
    let mut tag = 0;
    for wave in 0..40 {
        for from in 0..ranks {
            let calc = random.random_range(1_000..20_000);
            let _ = writeln!(ops[from], "c{wave}: calc {calc}");
            if wave > 0 {
                let _ = writeln!(ops[from], "c{wave} requires c{}", wave - 1);
            }
            for _ in 0..random.random_range(0..14) {
                let to = (from + random.random_range(1..ranks)) % ranks;
                let bytes = random.random_range(64..6_000);
                let _ = writeln!(ops[from], "s{tag}: send {bytes}b to {to} tag {tag}");
                let _ = writeln!(ops[from], "s{tag} requires c{wave}");
                let _ = writeln!(ops[to], "r{tag}: recv {bytes}b from {from} tag {tag}");
                tag += 1;
            }
        }
    }
    let mut text = format!("num_ranks {ranks}\n");
    for (rank, ops) in ops.iter().enumerate() {
        let _ = writeln!(text, "rank {rank} {{\n{ops}}}");
    }
    trace::from_text(&text).unwrap()
}

/// Runs a network under load, and asks the circuits the same.
fn compare(name: &str, topology: &ConfiguredTopology, kind: SelectionKind, duato: bool) -> Counts {
    let thresholds = Thresholds {
        window_ps: WINDOW * CYCLE,
        // A node can keep no more than a third of a link's cables busy in the torus.
        on_millionths: if name == "tree" { 500_000 } else { 200_000 },
        off_millionths: if name == "tree" { 250_000 } else { 100_000 },
    };
    let selection = match kind {
        SelectionKind::RoundRobin => Selection::RoundRobin,
        SelectionKind::FirstOn => Selection::FirstOn,
        SelectionKind::Powar => Selection::Powar(thresholds),
        SelectionKind::Alonso => unreachable!("its links are compared in on_off_links"),
    };
    let switch = Parameters {
        byte_ps: CYCLE,
        mtu: 1024,
        selection,
        // With Duato's protocol a channel holds two packets, so that some find none with room.
        queue: if duato { 6 * 1024 } else { 49_152 },
        queueing: duato.then_some(Queueing::Adaptive { queues: 2 }),
        ..Parameters::default()
    };
    let text = "[port]\npolicy = \"fixed\"\nsync = \"lpi\"\nt_pdt_ns = 1000\n";
    let ports = Config::parse(text, "port.toml").unwrap().plan().unwrap();
    let program = waves(topology.nodes());
    let run = || {
        let duration = Some(400_000_000);
        run_program(&**topology, switch, &program, Some(ports), duration, 1)
    };
    let (logged, log) = log::of(run);
    // The log asks of more ports whether they are awake, which changes nothing.
    let plain = run();
    let events = plain.events;
    assert!(RunSummary { events, ..logged } == plain, "{name}, {kind:?}");
    let mut counts = Counts::default();
    same_choices(&**topology, kind, &log, &mut counts);
    if kind == SelectionKind::Powar {
        same_windows(&**topology, thresholds, &log, &mut counts);
    }
    println!("{name}, {kind:?}: {counts:?}");
    counts
}

fn tree() -> ConfiguredTopology {
    let parameters = [("k", Value::Number(4)), ("n", Value::Number(2))];
    shape("k-ary-n-tree", &parameters)
}

fn torus() -> ConfiguredTopology {
    let cables = ("ports_per_link", Value::Number(3));
    shape("torus", &[("dims", Value::List(vec![4, 4])), cables])
}

/// POWAR Algorithm 1, and Round-Robin and First-On of POWAR 4.2: wherever a port is free the circuits choose
/// the port that the engine has chosen. POWAR Algorithms 2 and 3: after each window they have as many ports
/// selectable. On a tree, a torus in the order of its dimensions, and one by Duato's protocol.
#[test]
fn the_circuits_choose_what_the_engine_chooses_under_load() {
    for kind in [
        SelectionKind::RoundRobin,
        SelectionKind::FirstOn,
        SelectionKind::Powar,
    ] {
        for (name, topology, duato) in [
            ("tree", tree(), false),
            ("torus", torus(), false),
            ("adaptive torus", torus(), true),
        ] {
            let counts = compare(name, &topology, kind, duato);
            // There was something to decide.
            assert!(counts.free > 1_000 && counts.none_free > 100, "{counts:?}");
            assert_eq!(counts.escapes > 0, duato, "{counts:?}");
            if kind == SelectionKind::Powar {
                assert!(counts.more > 20 && counts.less > 20, "{counts:?}");
            }
        }
    }
}
