//! The keys of a scenario.

use std::sync::LazyLock;

use crate::input::{choice, integer, key, list, number, or, schema, Key, Kind, Table, Type, Unit};
use crate::network::parameters::{Aging, Queueing};
use crate::network::selection::Selection;
use crate::network::skeleton::program::{Gradients, PROGRAMS};
use crate::network::skeleton::proxies::Proxy;
use crate::network::topology::{self, Initial, MAX_NODES};
use crate::network::trace::limits::MAX_CALC_NS;
use crate::network::traffic::inactivity::Application;

/// Longest time in a pattern, and of a message of one on its link: 1000 s.
pub(super) const LONGEST_PS: u64 = 1_000_000_000_000_000;
/// The longest computation: 10,000 s.
const LONGEST_NS: u64 = 10_000_000_000_000;
/// The largest message or vector: 1 TiB.
const MOST_BYTES: u64 = 1 << 40;
/// The most ranks of a node: more processors hardly share a NIC.
pub(super) const MOST_RANKS_PER_NODE: u64 = 1024;
/// The most ranks of all jobs that are drawn.
pub(super) const MOST_RANKS: u64 = 1 << 22;
/// Largest power of a device: 1 MW, in uW.
const LARGEST_POWER_UW: u64 = 1_000_000_000_000;
/// Longest delay of a cable, a switch or a NIC: 1 ms, in ps.
const LONGEST_DELAY_PS: u64 = 1_000_000_000;
/// Longest CPU time of a send or a receive: 1 s, in ps.
const LONGEST_OVERHEAD_PS: u64 = 1_000_000_000_000;

/// A time in ns, which is held in ps.
const fn time(low_ps: u64, high_ps: u64) -> Type {
    number(low_ps, high_ps, 3, Unit::Nanoseconds)
}

/// A part of 1, in millionths.
const fn part(low: u64) -> Type {
    number(low, 1_000_000, 6, Unit::Fraction)
}

const fn bytes(low: u64, high: u64) -> Type {
    integer(low, high, Unit::Bytes)
}

fn file() -> Type {
    Type::Text {
        legal: "the name of a file",
        pattern: "^.+$",
        check: |text| !text.is_empty(),
    }
}

/// What the parameters of networks mean.
fn meaning(parameter: &str) -> &'static str {
    match parameter {
        "nodes" => "nodes, one at each port of the switch",
        "groups" => "groups of switches",
        "radix" => "ports of a switch",
        "levels" => "levels of switches",
        "dims" => "switches in each dimension",
        "ports_per_link" => "cables between two neighbours",
        "nodes_per_switch" => "nodes at each switch that has any",
        "k" => "ports of a switch in each direction",
        "n" => "levels of switches",
        "subtrees" => "subtrees below the top switches, a divisor of `radix`; fewer prune the tree",
        "switches_per_group" => "switches of a group",
        "global_ports" => "ports of a switch that lead to other groups",
        "rows" => "rows of switches in a group",
        "columns" => "columns of switches in a group",
        "ports_per_column_link" => "cables between two switches of a column",
        _ => "",
    }
}

/// What the kinds of networks are.
fn network(kind: &str) -> &'static str {
    match kind {
        "single-switch" => "The network: one switch",
        "megafly" => "The network: groups that are trees of two levels (PerfBound 4.2)",
        "rlft" => "The network: a fat tree of switches with one radix, whole or pruned",
        "torus" => "The network: a grid whose rows are rings (POWAR 4.1)",
        "k-ary-n-tree" => "The network: a fat tree of 2 k ports a switch (Alonso 2)",
        "dragonfly" => "The network: groups whose switches all have cables to each other (Zahn)",
        "rc-dragonfly" => "The network: groups that are grids of switches (Georgakoudis Table V)",
        "hyperx" => {
            "The network: all switches of a row have cables to each other (Georgakoudis Table V)"
        }
        _ => "The network",
    }
}

fn topologies() -> Vec<Table> {
    let names = topology::KINDS.each_ref().map(|kind| kind.name);
    let of = |kind: &topology::Kind| {
        let mut keys = vec![key(
            "kind",
            Type::Choice {
                names: names.to_vec(),
                nearest: |name, _| topology::nearest_kinds(name),
            },
            format!("`\"{}\"`", names[0]),
            "the kind of network",
        )];
        keys.extend(kind.parameters.iter().map(|parameter| {
            let element = integer(*parameter.range.start(), *parameter.range.end(), Unit::None);
            let (value, default) = match parameter.initial {
                Initial::Number(number) => (element, format!("`{number}`")),
                Initial::List(numbers) => (list(element), format!("`{numbers:?}`")),
                Initial::Computed(how) => (element, how.into()),
            };
            key(parameter.key, value, default, meaning(parameter.key))
        }));
        Table {
            path: "topology",
            kind: kind.name,
            about: network(kind.name),
            keys,
        }
    };
    topology::KINDS.iter().map(of).collect()
}

/// Where the ranks of a job run.
fn placement() -> Vec<Key> {
    let node = integer(0, MAX_NODES as u64 - 1, Unit::None);
    vec![
        key(
            "mapping",
            or(choice(["linear", "random"]), list(node)),
            "`\"linear\"`",
            "rank r on node r, on nodes that are drawn, or the node of each rank as a list",
        ),
        key(
            "ranks_per_node",
            integer(1, MOST_RANKS_PER_NODE, Unit::None),
            "`1`",
            "ranks, one after the other, on one node; not with a list",
        ),
        key(
            "cpu_speed",
            // Beyond these a unit is more likely mistaken.
            number(1_000, 1_000_000_000, 6, Unit::None),
            "`1`",
            "how many times as fast as in the trace nodes compute",
        ),
    ]
}

fn overheads() -> Vec<Key> {
    vec![
        key(
            "send_overhead_ns",
            time(0, LONGEST_OVERHEAD_PS),
            "`200`",
            "CPU time of a send",
        ),
        key(
            "recv_overhead_ns",
            time(0, LONGEST_OVERHEAD_PS),
            "`0`",
            "CPU time of a receive whose message has arrived",
        ),
    ]
}

fn goal() -> Vec<Key> {
    let mut job = vec![key(
        "file",
        file(),
        crate::input::REQUIRED,
        "the trace, relative to the scenario",
    )];
    job.extend(placement());
    job.push(key(
        "copies",
        integer(1, MAX_NODES as u64, Unit::None),
        "`1`",
        "how many of this job run at the same time; one, if the mapping is a list",
    ));
    let mut keys = vec![key(
        "file",
        file(),
        "none: it or `jobs` must be given",
        "the trace, relative to the scenario",
    )];
    keys.extend(placement());
    keys.push(key(
        "jobs",
        Type::Tables(job),
        "none",
        "several traces at the same time, in place of `file`, `mapping`, `ranks_per_node` and \
         `cpu_speed`",
    ));
    keys.extend(overheads());
    keys
}

/// A program that is made up; `program` and `ranks` with these defaults.
fn made_up(program: &'static str, ranks: &'static str) -> Vec<Key> {
    let mut keys = vec![
        key(
            "program",
            choice(PROGRAMS),
            program,
            "the program that is made up",
        ),
        key(
            "ranks",
            integer(1, u32::MAX.into(), Unit::None),
            ranks,
            "ranks of the program",
        ),
        key(
            "steps",
            integer(1, u32::MAX.into(), Unit::None),
            "by program",
            "steps of the program",
        ),
        key(
            "jitter",
            number(0, 1_000_000, 6, Unit::None),
            "by program",
            "spread of the logarithm of computing times",
        ),
    ];
    keys.extend(placement());
    keys.extend([
        key(
            "grid",
            list(integer(1, u32::MAX.into(), Unit::None)),
            "nearest to a square or a cube",
            "ranks in each dimension; not of `allreduce` programs and `patmos`",
        ),
        key(
            "atoms_per_rank",
            integer(1, 1 << 30, Unit::None),
            "`4000`",
            "atoms of a rank of `lammps`",
        ),
        key(
            "output_every",
            integer(1, u32::MAX.into(), Unit::None),
            "`50`",
            "steps of `lammps` from one output to the next",
        ),
        key(
            "message_bytes",
            bytes(1, MOST_BYTES),
            "by program",
            "size of a message of `fft`, `halo3d` (a face) and `sweep3d`",
        ),
        key(
            "calc_ns",
            integer(0, LONGEST_NS, Unit::Nanoseconds),
            "by program",
            "computing of a step of `fft`, `patmos` and `halo3d`, of a block of `sweep3d`",
        ),
        key(
            "gradients",
            choice(Gradients::ALL.map(Gradients::name)),
            "`\"buckets\"`",
            "how the `allreduce` programs hand over gradients: in three buckets, or by layer",
        ),
        key(
            "gradient_bytes",
            bytes(1, MOST_BYTES),
            "`244403360`",
            "all gradients of the `allreduce` programs together",
        ),
        key(
            "group",
            integer(1, u32::MAX.into(), Unit::None),
            "the ranks of a node, or a square's side",
            "ranks of a group of `allreduce-hierarchical`",
        ),
        key(
            "neighbours",
            integer(6, 26, Unit::None),
            "`26`",
            "of `halo3d`: 6 (over faces) or 26 (over edges and corners as well)",
        ),
        key(
            "blocks",
            integer(1, 10_000, Unit::None),
            "`10`",
            "blocks of each sweep of `sweep3d`",
        ),
    ]);
    keys
}

fn skeleton() -> Vec<Key> {
    let mut keys = made_up(
        "none: it or `jobs` must be given",
        "as many as the network has room for",
    );
    keys.push(key(
        "jobs",
        Type::Tables(made_up(crate::input::REQUIRED, crate::input::REQUIRED)),
        "none",
        "several programs at the same time, in place of all keys but the overheads",
    ));
    keys.extend(overheads());
    keys
}

fn random_jobs() -> Vec<Key> {
    let mut keys = vec![
        key(
            "programs",
            list(choice(PROGRAMS)),
            format!("`{:?}`", Proxy::ALL.map(Proxy::name)),
            "the programs that are drawn from, each time anew",
        ),
        key(
            "ranks",
            list(integer(1, u32::MAX.into(), Unit::None)),
            "`[256, 512, 1024]`",
            "the ranks that a job may have",
        ),
        key(
            "total_ranks",
            integer(1, MOST_RANKS, Unit::None),
            "the most that the network has room for",
            "the ranks of all jobs together, a sum of some of `ranks`",
        ),
        key(
            "time_ns",
            integer(1, LONGEST_NS, Unit::Nanoseconds),
            "the longest step of a job that is drawn",
            "the computing that every job repeats its steps for, at least one",
        ),
        key(
            "jitter",
            number(0, 1_000_000, 6, Unit::None),
            "by program",
            "spread of the logarithm of computing times",
        ),
    ];
    // A list would have to fit jobs that are not known.
    keys.extend(placement().into_iter().map(|it| match it.name {
        "mapping" => key(
            "mapping",
            choice(["linear", "random"]),
            "`\"linear\"`",
            "the jobs one after the other on the nodes, or each on nodes that are drawn",
        ),
        _ => it,
    }));
    keys.extend(overheads());
    keys
}

fn message() -> Key {
    key(
        "message_bytes",
        bytes(1, MOST_BYTES),
        "the payload of a full packet",
        "payload of a message",
    )
}

fn load(about: &'static str) -> Key {
    key("load", part(1), "`0.1`", about)
}

/// The kinds of traffic; the first is the default.
fn kinds() -> [(&'static str, &'static str, Vec<Key>); 8] {
    let rate = "part of the link's rate that a node sends";
    [
        ("goal", "What the nodes send: recorded applications", goal()),
        (
            "skeleton",
            "What the nodes send: applications that are made up",
            skeleton(),
        ),
        (
            "random-jobs",
            "What the nodes send: applications that are drawn (Georgakoudis IV.C)",
            random_jobs(),
        ),
        (
            "uniform",
            "What the nodes send: messages to nodes that are drawn",
            vec![load(rate), message()],
        ),
        (
            "hotspot",
            "What the nodes send: some of them to few nodes only (Zahn III)",
            vec![
                load(rate),
                message(),
                key(
                    "hot_nodes",
                    list(integer(0, MAX_NODES as u64 - 1, Unit::None)),
                    "`[0]`",
                    "where some nodes send all messages",
                ),
                key(
                    "hot_senders",
                    part(1),
                    "`0.25`",
                    "the part of the nodes that does",
                ),
            ],
        ),
        (
            "two-level",
            "What the nodes send: a low load and a high one in turn (Alonso 4)",
            vec![
                load("the low load: part of the link's rate that a node sends"),
                message(),
                key(
                    "high_load",
                    part(1),
                    "7 x `load`",
                    "the high load, at least `load`; where 7 x `load` is above 1 it must be given",
                ),
                key(
                    "low_ns",
                    time(0, LONGEST_PS),
                    "`100000`",
                    "how long the load is low",
                ),
                key(
                    "ramp_ns",
                    time(0, LONGEST_PS),
                    "`20000`",
                    "how long it rises, and how long it falls",
                ),
                key(
                    "high_ns",
                    time(0, LONGEST_PS),
                    "`60000`",
                    "how long it is high",
                ),
            ],
        ),
        (
            "on-off",
            "What the nodes send: at times nothing",
            vec![
                load("part of the link's rate that a node sends while it is on"),
                message(),
                key(
                    "on_ns",
                    time(1, LONGEST_PS),
                    "`10000`",
                    "mean time on; at least a thousandth of a message's time on the link / `load`",
                ),
                key("off_ns", time(1, LONGEST_PS), "`90000`", "mean time off"),
            ],
        ),
        (
            "inactivity",
            "What the nodes send: messages with the idle times of an application between them",
            vec![
                key(
                    "shape",
                    choice(Application::ALL.map(Application::name)),
                    crate::input::REQUIRED,
                    "whose idle times",
                ),
                key(
                    "idle_scale",
                    part(1),
                    "`1`",
                    "what these are multiplied with",
                ),
                message(),
            ],
        ),
    ]
}

fn traffic() -> Vec<Table> {
    let kinds = kinds();
    let names = kinds.each_ref().map(|(name, ..)| *name);
    let of = |(kind, about, keys): (&'static str, &'static str, Vec<Key>)| {
        let mut all = vec![key(
            "kind",
            choice(names),
            format!("`\"{}\"`", names[0]),
            "the kind of traffic",
        )];
        all.extend(keys);
        Table {
            path: "traffic",
            kind,
            about,
            keys: all,
        }
    };
    kinds.into_iter().map(of).collect()
}

fn switch() -> Vec<Key> {
    let bytes = bytes(0, 1 << 30);
    let delay = || time(0, LONGEST_DELAY_PS);
    let select = part(0);
    vec![
        key(
            "link_gbps",
            integer(1, 8000, Unit::GigabitsPerSecond),
            "`400`",
            "rate of a link; 8000 / `link_gbps` is whole",
        ),
        key(
            "mtu_bytes",
            bytes.clone(),
            "`9600`",
            "longest packet, 1 to 2^24",
        ),
        key(
            "min_packet_bytes",
            bytes.clone(),
            "`64`",
            "shortest packet, 1 to `mtu_bytes`",
        ),
        key(
            "header_bytes",
            bytes.clone(),
            "`0`",
            "what of a packet is no payload; below `mtu_bytes`",
        ),
        key(
            "queue_bytes",
            bytes.clone(),
            "`49152`",
            "buffer of an input, large enough that no packet is lost",
        ),
        key(
            "pfc_stop_bytes",
            bytes.clone(),
            "`37900`",
            "fill of the buffer at which it stops the sender",
        ),
        key(
            "pfc_go_bytes",
            bytes.clone(),
            "`3200`",
            "fill of the buffer at which it lets the sender go on; below `pfc_stop_bytes`",
        ),
        key(
            "control_bytes",
            bytes,
            "`64`",
            "a pause frame, or a message of a controller; 1 to `mtu_bytes`",
        ),
        key(
            "speedup",
            number(1000, 1_000_000, 3, Unit::None),
            "`2.44`",
            "rate of the crossbar by that of a link",
        ),
        key("cable_ns", delay(), "`15`", "delay of a cable"),
        key(
            "switch_ns",
            delay(),
            "`0`",
            "from a packet's arrival in a switch until it may cross it",
        ),
        key(
            "nic_ns",
            delay(),
            "`0`",
            "time in a NIC of a packet that is sent, and of one that is received",
        ),
        key(
            "aging",
            choice(Aging::ALL.map(Aging::name)),
            "`\"switch\"`",
            "since when the age of a packet counts: since it arrived in the switch, or since it \
             was due to leave its NIC",
        ),
        key(
            "selection",
            choice(Selection::NAMES),
            "`\"fixed\"`",
            "which of several equally short ways a packet takes (up in a fat tree, parallel cables \
             of a torus, with `duato` every dimension): always the same one to a node, by a selection \
             function of POWAR, or one of those that Alonso's switches have on",
        ),
        key(
            "select_on",
            select.clone(),
            "`0.5`",
            "`powar` and `alonso` have one more port in use above this utilisation of those that are",
        ),
        key(
            "select_off",
            select,
            "`0.25`",
            "`powar` and `alonso` have one less in use below this one; at most half of `select_on`",
        ),
        key(
            "select_window_ns",
            time(1000, LONGEST_DELAY_PS),
            "`10000`",
            "`powar` and `alonso` look at the utilisation so often",
        ),
        key(
            "queueing",
            choice(Queueing::NAMES),
            "`\"voq\"`",
            "what a buffer is divided into: virtual output queues in one memory, with PFC; or the queues \
             of a scheme, of equal size, with credits (Zahn III.C), or the virtual channels of Duato's \
             protocol (POWAR 3)",
        ),
        key(
            "queues",
            integer(1, 64, Unit::None),
            "4, of h2lq 6, of duato 2",
            "queues of `dbbm`, `flow2sl` and `h2lq`; adaptive channels of `duato`",
        ),
        key(
            "escape_queues",
            integer(1, 64, Unit::None),
            "`2`",
            "queues of `h2lq` in the group of the destination",
        ),
        key(
            "link_lanes",
            integer(2, 64, Unit::None),
            "none",
            "lanes of a link, of which only some stay on in fast wake (Zahn II.A)",
        ),
        key(
            "low_lanes",
            integer(1, 63, Unit::None),
            "`1`",
            "lanes that stay on, by which packets are sent until so many bytes wait that it is quicker \
             to turn all on",
        ),
    ]
}

/// Every table of a scenario and its keys; those of `[power]` may also be the tables of a
/// configuration.
pub static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let watts = || number(0, LARGEST_POWER_UW, 6, Unit::Watts);
    let longest = MAX_CALC_NS * 1000;
    let table = |path, about, keys| Table {
        path,
        kind: "",
        about,
        keys,
    };
    let mut tables = topologies();
    tables.extend(traffic());
    tables.extend([
        table(
            "switch",
            "Rates, delays and buffers (PerfBound Table 6)",
            switch(),
        ),
        table(
            "power",
            "Whether and how ports sleep; without it links never do",
            vec![key(
                "controller",
                file(),
                "none",
                "the configuration of all ports, relative to the scenario; or its tables stand \
                 here: `[power.port]`, ...",
            )],
        ),
        table(
            "energy",
            "Power of the devices beside the links (PerfBound Table 7)",
            vec![
                key(
                    "switch_w",
                    watts(),
                    "`250`",
                    "power of a switch without its links",
                ),
                key(
                    "node_min_w",
                    watts(),
                    "`800`",
                    "power of a node that computes nothing",
                ),
                key(
                    "node_max_w",
                    watts(),
                    "`1200`",
                    "power of a node that computes all the time; at least `node_min_w`",
                ),
            ],
        ),
        table(
            "run",
            "How long to run, and what to keep",
            vec![
                key(
                    "duration_ns",
                    time(0, longest),
                    "`0`",
                    "cut the run after this time; 0 runs a program to its end, a pattern needs one",
                ),
                key(
                    "warm_up_ns",
                    time(0, longest),
                    "`0`",
                    "packets handed over earlier do not count in the latency; below `duration_ns`",
                ),
                key(
                    "sample_ns",
                    time(0, longest),
                    "`0`",
                    "length of a sample of power, throughput and latency over time; 0 is none",
                ),
                key(
                    "seed",
                    integer(0, i64::MAX as u64, Unit::None),
                    "`1`",
                    "for what is drawn: patterns, skeletons with jitter, random jobs and random mappings",
                ),
            ],
        ),
    ]);
    tables
});

/// The JSON Schema of a scenario.
pub fn json_schema() -> serde_json::Value {
    let mut schema = schema::json(
        Kind::Scenario.title(),
        "A network, its traffic, its switches and how long to run it",
        &TABLES,
    );
    let power = &mut schema["properties"]["power"];
    let inline = schema::inner("The configuration of all ports", &crate::config::TABLES);
    *power = serde_json::json!({"anyOf": [power.take(), inline]});
    schema
}
