//! `linkdoze topology`: the elements of a network and how far its packets go.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{anyhow, Result};
use clap::builder::StringValueParser;
use serde::Serialize;

use super::completions::suggested;
use super::output::{self, figures, table, trimmed};
use super::Outcome;
use crate::files;
use crate::network::scenario::Scenario;
use crate::network::topology::hop_counts::{self, HopCounts};
use crate::network::topology::{nearest_kinds, ConfiguredTopology, Topology, Value, KINDS};

/// Print the elements of a network and how far its packets go.
#[derive(clap::Args)]
pub struct Args {
    /// A scenario file, of which only [topology] must be there; or the name of a kind of
    /// network, with the parameters of the papers.
    #[arg(value_name = "FILE|NAME", hide_possible_values = true,
          value_parser = suggested(StringValueParser::new(), KINDS.iter().map(|kind| kind.name)))]
    network: String,
    /// Also print the links that stay on where switches turn links on and off: the minimal tree of a
    /// fat tree (Alonso 3), or one of several cables between the neighbours of a torus or HyperX.
    #[arg(long)]
    minimal: bool,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// If the file cannot be used, or standard output not be written.
pub fn run(args: &Args) -> Result<Outcome> {
    let shape = match ConfiguredTopology::named(&args.network) {
        Some(shape) => shape,
        None if is_file(&args.network) => Scenario::load_topology(Path::new(&args.network))?,
        None => {
            let kinds = KINDS.each_ref().map(|kind| kind.name).join(", ");
            let nearest = match &*nearest_kinds(&args.network) {
                [] => String::new(),
                nearest => format!("; the nearest is {}", nearest.join(" and ")),
            };
            return Err(anyhow!(
                "{}: neither a file nor a kind of network{nearest}; the kinds are {kinds}",
                args.network
            ));
        }
    };
    let mut description = Description::new(&shape);
    if args.minimal {
        let minimal = Minimal::new(&*shape).ok_or_else(|| {
            anyhow!(
                "{}: in this {} no link could be off; a k-ary-n-tree and an rlft with all its subtrees have \
                 a minimal tree (Alonso 3), and a torus and a hyperx with ports_per_link above 1 more \
                 cables than one between neighbours",
                args.network,
                shape.kind()
            )
        })?;
        description.minimal = Some(minimal);
    }
    let text = if args.json {
        serde_json::to_string_pretty(&description)? + "\n"
    } else {
        description.tables()
    };
    output::print(&text)?;
    Ok(Outcome::Done)
}

/// Whether the name is not meant to be that of a kind.
fn is_file(name: &str) -> bool {
    name == files::STANDARD_INPUT || Path::new(name).exists()
}

/// What there is to say about a network.
#[derive(Serialize)]
struct Description {
    kind: &'static str,
    parameters: serde_json::Map<String, serde_json::Value>,
    nodes: usize,
    switches: usize,
    radix: usize,
    /// Virtual channels that keep it free of deadlock.
    lanes: usize,
    /// As PerfBound 4.2 counts them.
    links: usize,
    /// Cables between switches.
    switch_links: usize,
    /// Switch ports without a cable.
    free_ports: usize,
    #[serde(flatten)]
    minimal: Option<Minimal>,
    /// Most links between two nodes, those of the NICs included.
    diameter: u8,
    mean_hops: f64,
    /// Ordered pairs of different nodes by hop count.
    hops: BTreeMap<u8, u64>,
    classes: Vec<Class>,
}

/// What stays on where switches turn links on and off (Alonso 3).
#[derive(Serialize)]
struct Minimal {
    minimal_switches: usize,
    /// Of one direction each.
    minimal_links: usize,
    /// Its share of the links of one direction: the least power of the links.
    p_min: f64,
}

impl Minimal {
    /// `None` in a network that has none.
    fn new(topology: &dyn Topology) -> Option<Self> {
        let (mut links, mut all) = (0, 0);
        let mut switches = BTreeSet::new();
        for port in (0..topology.ports()).filter(|&port| topology.peer(port).is_some()) {
            all += 1;
            if topology.stays_on(port)? {
                links += 1;
                if port < topology.switch_ports() {
                    switches.insert(port / topology.radix());
                }
            }
        }
        Some(Self {
            minimal_switches: switches.len(),
            minimal_links: links,
            p_min: links as f64 / all as f64,
        })
    }
}

/// Ports that are alike, under uniform traffic.
#[derive(Serialize)]
struct Class {
    name: String,
    ports: u64,
    /// Packets that they send together, if each node sends one to each other.
    packets: u64,
    /// Hop counts and the proportions of the packets that have them, as `hops` in
    /// `[perfbound]`; `None`, as the mean and the factor, if they send none.
    hops: Option<Vec<(u8, f64)>>,
    mean_hops: Option<f64>,
    /// `sum(p_i / h_i)`.
    hop_factor: Option<f64>,
}

impl Description {
    fn new(shape: &ConfiguredTopology) -> Self {
        let topology: &dyn Topology = &**shape;
        let mut ports = vec![0; topology.classes().len()];
        let (mut switch_ends, mut free_ports) = (0, 0);
        for port in 0..topology.ports() {
            let Some(peer) = topology.peer(port) else {
                free_ports += 1;
                continue;
            };
            ports[topology.class(port)] += 1;
            let between_switches = port.max(peer) < topology.switch_ports();
            switch_ends += usize::from(between_switches);
        }
        let pairs = hop_counts::pairs(topology);
        let parameters = shape.parameters().iter().map(|(key, value)| {
            let value = match value {
                Value::Number(number) => (*number).into(),
                Value::List(list) => list.clone().into(),
            };
            ((*key).to_owned(), value)
        });
        Self {
            kind: shape.kind(),
            parameters: parameters.collect(),
            nodes: topology.nodes(),
            switches: topology.switches(),
            radix: topology.radix(),
            lanes: topology.lanes(),
            links: topology.links(),
            switch_links: switch_ends / 2,
            free_ports,
            minimal: None,
            diameter: pairs.max(),
            mean_hops: pairs.mean().unwrap_or(0.0),
            hops: pairs.iter().collect(),
            classes: topology
                .classes()
                .into_iter()
                .zip(ports)
                .zip(hop_counts::by_class(topology))
                .map(|((name, ports), counts)| Class::new(name, ports, &counts))
                .collect(),
        }
    }

    fn tables(&self) -> String {
        let mut elements = Vec::new();
        let mut row = |name: &str, value: String| {
            elements.push((name.to_owned(), value));
        };
        // That of a switch alone is also what comes of it.
        for (key, value) in self.parameters.iter().filter(|(key, _)| *key != "nodes") {
            row(key, value.to_string().replace(',', ", "));
        }
        row("nodes", self.nodes.to_string());
        row("switches", self.switches.to_string());
        row("ports of a switch", self.radix.to_string());
        row("lanes", self.lanes.to_string());
        row(
            "link ends (switches * radix + NICs)",
            self.links.to_string(),
        );
        row("cables between switches", self.switch_links.to_string());
        row("ports without a cable", self.free_ports.to_string());
        if let Some(minimal) = &self.minimal {
            row(
                "switches with links that stay on",
                minimal.minimal_switches.to_string(),
            );
            let links = format!("{} of one direction each", minimal.minimal_links);
            row("links that stay on", links);
            row(
                "least power of the links",
                format!("{:.4} of all", minimal.p_min),
            );
        }
        row("longest way", format!("{} links", self.diameter));
        row("mean way", format!("{:.4} links", self.mean_hops));

        let mut pairs = table(&["links", "ordered pairs of nodes", "share"], 0..3);
        let all: u64 = self.hops.values().sum();
        for (hops, count) in &self.hops {
            let share = *count as f64 / all as f64;
            pairs.add_row([
                hops.to_string(),
                count.to_string(),
                format!("{:.3} %", share * 100.0),
            ]);
        }

        let header = ["ports", "number", "packets", "mean way", "hop factor"];
        let mut classes = table(&header, 1..5);
        for class in &self.classes {
            let figure =
                |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.6}"));
            classes.add_row([
                class.name.clone(),
                class.ports.to_string(),
                class.packets.to_string(),
                figure(class.mean_hops),
                figure(class.hop_factor),
            ]);
        }
        format!(
            "{}\n{}\n{}\nPackets, if each node sends one to each other node; the hop factor is \
             the mean of 1 / links.\n\n{}",
            self.kind,
            figures(elements),
            trimmed(&pairs),
            trimmed(&classes)
        )
    }
}

impl Class {
    fn new(name: String, ports: u64, counts: &HopCounts) -> Self {
        let packets = counts.packets();
        Self {
            name,
            ports,
            packets,
            hops: (packets > 0).then(|| counts.proportions()),
            mean_hops: counts.mean(),
            hop_factor: counts.factor(),
        }
    }
}
