//! The network engine: switches, links and NICs of any topology, on one thread or several.
//!
//! The network is split into partitions (`partition`), one for each thread (`threads`). What
//! happens at the same time at different switches has no
//! order that matters, and at one switch or node the order is a fixed one (`wheel`), so
//! the results are the same bytes for any number of threads.

mod buffers;
mod cache;
pub mod controller;
mod crossbar;
mod deadlines;
mod devices;
mod events;
pub mod idle;
pub mod lazy;
mod link;
pub mod link_idle;
mod nic;
mod numbering;
mod on_off_links;
mod output;
mod packets;
mod partition;
mod port;
mod prefetch;
mod queues;
mod rounds;
pub mod series;
mod tally;
mod threads;
mod time;
mod wheel;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use rayon::prelude::*;

use super::replay::{Overheads, Source};
use super::topology::hop_counts::by_class;
use super::topology::Topology;
use super::trace::info::check_times;
use super::traffic::pattern::{Pattern, Sources};
use super::traffic::{Ranks, Traffic};
use super::{Ended, Latency, PortSummary, Progress, RunError, RunSummary};
use crate::blocks::port::controller::PowerController;
use crate::config::plan::{LanePlan, Policy, PortPlan, Sleep, SyncPlan};
use crate::config::Config;
use crate::network::lanes::LanePort;
use crate::network::parameters::Parameters;
use crate::network::queueing::Queues;
use crate::network::selection::Selection;
use controller::{awake_pair, message_delay, AwakePair, Controller, Meters};
use lazy::LazyPort;
use link_idle::Sleeper;
use numbering::Numbering;
use partition::{Common, Partition};
use series::{Samples, Series, MAX_SAMPLES};
use tally::Tally;
use threads::{Completed, Threads};

/// What the nodes send.
#[derive(Clone, Copy, Debug)]
pub enum Load<'p> {
    /// Programs that run at the same time and do not meet, with the node of each rank and what
    /// sends and receives cost their CPU.
    Programs {
        /// The programs; one may be there several times.
        programs: &'p [Source<'p>],
        /// The node of each rank, program by program.
        nodes: &'p [u32],
        /// CPU time of sends and receives.
        overheads: Overheads,
    },
    /// A pattern, which never ends.
    Pattern(&'p Pattern),
}

impl Load<'_> {
    /// Operations of all programs.
    fn operations(&self) -> usize {
        match self {
            Load::Programs { programs, .. } => {
                programs.iter().map(|program| program.operations()).sum()
            }
            Load::Pattern(_) => 0,
        }
    }
}

/// What governs the ports.
#[derive(Clone, Copy, Debug)]
pub struct Power<'p> {
    /// Clock period of the port controllers, in ps; at most the time of the shortest packet.
    pub clock_ps: u64,
    /// The controller of every port, by its class in the topology; empty: links never sleep.
    pub plans: &'p [PortPlan],
    /// Links that never sleep keep their idle periods and those of their ports, as what would sleep
    /// as a whole has them; `None`: they keep none.
    pub metered: Option<Sleeper>,
}

/// The configuration of each class of ports of a network: the one given with the hop counts
/// of the packets that such ports send under uniform traffic (SPEC 7.2), in index of `hops`
/// of its `[perfbound]`; `hop_factor` and `hops = "measured"` stay as they are.
pub fn configs_of(config: &Config, topology: &dyn Topology) -> Vec<Config> {
    if !(config.is_bounded() && config.computes_hop_factor()) {
        return vec![config.clone(); topology.classes().len()];
    }
    by_class(topology)
        .iter()
        .map(|counts| match counts.factor() {
            Some(factor) => config.with_hop_factor(factor),
            None => config.clone(),
        })
        .collect()
}

/// What a run depends on, beside the topology and the load.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'p> {
    /// Rates, latencies and buffers of switches and links.
    pub switch: Parameters,
    /// What governs the ports.
    pub power: Power<'p>,
    /// End of the run in ps; `None` runs a program to its end.
    pub duration_ps: Option<u64>,
    /// Packets handed to a NIC before this time, in ps, do not count in the latency.
    pub warm_up_ps: u64,
    /// Length in ps of the samples of a [`Series`]; `None`: the run keeps none. At most
    /// [`MAX_SAMPLES`] are kept: a run that takes more fails.
    pub sample_ps: Option<u64>,
    /// Threads, 1 to [`most_threads`]; more than 1 need cables with a delay.
    pub threads: usize,
}

/// Controllers just after reset that take the numbering of golden models, by the numbers of
/// their ports.
pub type Replacements = BTreeMap<usize, Box<dyn PowerController + Send>>;

/// Threads that a run can have at most, whatever the network: what they hand to each other
/// grows with their number squared, and each hears of all others in every step.
pub const MOST_THREADS: usize = 64;

/// Threads that a run on a network can have: there must be a node for each, or some would have
/// nothing to do but to wait.
pub fn most_threads(topology: &dyn Topology) -> usize {
    topology.nodes().clamp(1, MOST_THREADS)
}

/// Runs a load on a network. `progress` is called now and then and may stop the run.
///
/// # Errors
/// If load, settings and network do not fit each other; if the ranks wait for each other for
/// ever; if a controller breaks the rules; if a packet would be lost.
pub fn run(
    topology: &dyn Topology,
    load: Load,
    settings: &Settings,
    replacements: Replacements,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<RunSummary, RunError> {
    let lazy = lazy::Common::new;
    run_governed(topology, load, settings, replacements, lazy, progress)
}

/// [`run`], with lazy ports for plans for which `lazy` says what they have in common, and
/// clocked ones for others.
fn run_governed(
    topology: &dyn Topology,
    load: Load,
    settings: &Settings,
    replacements: Replacements,
    lazy: fn(&PortPlan) -> Option<lazy::Common>,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<RunSummary, RunError> {
    check(topology, load, settings)?;
    let parameters = settings.switch;
    let message_ps = parameters.link_time(parameters.control);
    let common = Common {
        topology,
        parameters,
        clock_ps: settings.power.clock_ps,
        message_cycles: message_delay(message_ps, parameters.cable_ps, settings.power.clock_ps),
        per_direction: settings.power.plans.iter().any(PortPlan::per_direction),
        queues: queues(topology, &parameters)?,
        turns_links: match parameters.selection {
            Selection::Alonso(thresholds) if !settings.power.plans.is_empty() => Some(thresholds),
            _ => None,
        },
        warm_up_ps: settings.warm_up_ps,
    };
    let lanes = lane_plans(settings)?;
    if !(lanes.is_empty() || replacements.is_empty()) {
        let problem =
            "link_lanes in [switch]: in the places of lane controllers there can be no Verilog of \
                       port controllers";
        return Err(RunError::Settings(problem.into()));
    }
    let ends = settings
        .power
        .plans
        .iter()
        .map(|plan| {
            let pair = awake_pair(plan, common.message_cycles);
            pair.map(|pair| (pair, lazy(plan).map(Arc::new)))
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(|fault| RunError::Settings(fault.what))?;
    let numbering = Numbering::new(topology, settings.threads);
    let build = |partition, replacements| {
        let classes = topology.classes().len();
        let samples = settings.sample_ps.map(|ps| Samples::new(ps, classes));
        let mut controllers = controllers(
            &common,
            &numbering,
            partition,
            settings.power,
            &ends,
            &lanes,
            replacements,
        );
        if let Some(samples) = &samples {
            for (index, controller) in controllers.iter_mut().enumerate() {
                let port = numbering.number(partition, index);
                if topology.peer(port).is_some() {
                    controller.watch(samples.sampler(topology.class(port), common.clock_ps));
                }
            }
        }
        let traffic = match load {
            Load::Programs {
                programs,
                nodes,
                overheads,
            } => Traffic::Programs(Ranks::new(
                programs,
                overheads,
                nodes,
                &numbering.nodes,
                partition as u16,
            )),
            Load::Pattern(pattern) => Traffic::Pattern(Sources::new(
                pattern,
                topology.nodes() as u32,
                &numbering.nodes_of[partition],
            )),
        };
        Partition::new(
            &common,
            &numbering,
            partition,
            controllers,
            traffic,
            samples,
        )
    };
    let mut replacements_of: Vec<Replacements> = Vec::new();
    replacements_of.resize_with(settings.threads, Replacements::new);
    for (port, controller) in replacements {
        let (partition, _) = numbering.port(port);
        replacements_of[partition as usize].insert(port, controller);
    }
    let partitions = replacements_of
        .into_par_iter()
        .enumerate()
        .map(|(partition, replacements)| build(partition, replacements))
        .collect();
    // Without an end of its own a run ends when no more samples can be kept.
    let duration_ps = settings.duration_ps.or(most_sampled(settings));
    let threads = Threads::new(settings.threads, duration_ps, parameters.cable_ps);
    let (partitions, completed) = threads.run(partitions, load.operations(), progress)?;
    summary(topology, &numbering, partitions, settings, load, completed)
}

/// The queues of buffers; none if no scheme divides them.
fn queues<'t>(
    topology: &'t dyn Topology,
    switch: &Parameters,
) -> Result<Option<Queues<'t>>, RunError> {
    let queues = Queues::of(topology, switch);
    queues.map_err(|error| RunError::Settings(format!("{}: {error}", error.key)))
}

/// The lane controller of every port, by its class; none where links have no lanes to turn off.
fn lane_plans(settings: &Settings) -> Result<Vec<LanePlan>, RunError> {
    let Some(lanes) = settings.switch.link_lanes else {
        return Ok(Vec::new());
    };
    let Power {
        plans, clock_ps, ..
    } = settings.power;
    let plans = plans.iter();
    let plans = plans.map(|plan| lanes.plan(plan, &settings.switch, clock_ps));
    plans.collect::<Result<_, _>>().map_err(RunError::Settings)
}

fn controllers(
    common: &Common,
    numbering: &Numbering,
    partition: usize,
    power: Power,
    pairs: &[(AwakePair, Option<Arc<lazy::Common>>)],
    lanes: &[LanePlan],
    mut replacements: Replacements,
) -> Vec<Controller> {
    let topology = common.topology;
    let ports = numbering.switches_of[partition].len() * topology.radix()
        + numbering.nodes_of[partition].len();
    (0..ports)
        .map(|index| {
            let port = numbering.number(partition, index);
            let Some(peer) = topology.peer(port) else {
                return Controller::AlwaysOn;
            };
            if pairs.is_empty() {
                let cable_ps = common.parameters.cable_ps;
                return match power.metered {
                    Some(sleeper) => Controller::Metered(Meters::new(
                        power.clock_ps,
                        cable_ps,
                        sleeper,
                        port < peer,
                    )),
                    None => Controller::AlwaysOn,
                };
            }
            let (pair, lazy) = &pairs[topology.class(port)];
            let initiator = port < peer;
            if let Some(plan) = lanes.get(topology.class(port)) {
                let model: Box<dyn PowerController + Send> = Box::new(LanePort::new(plan));
                return Controller::from((model, initiator));
            }
            let golden = &pair.ends[usize::from(!initiator)];
            let controller: Box<dyn PowerController + Send> =
                match (replacements.remove(&port), lazy) {
                    (Some(mut controller), _) => {
                        pair.wake(&mut *controller, initiator);
                        controller
                    }
                    (None, Some(common)) => {
                        return Controller::Lazy(LazyPort::new(common, golden, initiator))
                    }
                    (None, None) => Box::new(golden.clone()),
                };
            Controller::from((controller, initiator))
        })
        .collect()
}

fn check(topology: &dyn Topology, load: Load, settings: &Settings) -> Result<(), RunError> {
    let unfit = |what: String| Err(RunError::Settings(what));
    if let Err(error) = settings.switch.validate() {
        return unfit(format!("{}: {error}", error.key));
    }
    let shortest = settings.switch.link_time(settings.switch.min_packet);
    if settings.power.clock_ps == 0 || settings.power.clock_ps > shortest {
        return unfit(format!(
            "a clock period of {} ps (clock.period_ps): it must be at least 1 ps and at most \
             {shortest} ps, the time of the shortest packet ({} bytes) on the link, so that the \
             controllers see every packet",
            settings.power.clock_ps, settings.switch.min_packet
        ));
    }
    let most = most_threads(topology);
    if !(1..=most).contains(&settings.threads) {
        return unfit(format!(
            "{} threads: this network takes 1 to {most}, at most one for each node and \
             {MOST_THREADS} together",
            settings.threads
        ));
    }
    if settings.threads > 1 && settings.switch.cable_ps == 0 {
        return unfit(
            "cable_ns = 0 runs on one thread only: several need the delay of the cables to \
             work independently of each other"
                .into(),
        );
    }
    check_samples(topology, settings)?;
    let plans = settings.power.plans;
    if plans.iter().any(|plan| plan.sync == SyncPlan::Levels) {
        return unfit(
            "the ends of a link agree by levels here (port.sync = \"levels\"), which a network \
             cannot carry; use port.sync = \"messages\" or \"lpi\""
                .into(),
        );
    }
    if plans.iter().any(PortPlan::per_direction) && plans.iter().any(|plan| !plan.per_direction()) {
        return unfit(
            "some ports exchange messages (port.sync = \"messages\"), others do not (\"lpi\"): the \
             two ends of a link must do the same"
                .into(),
        );
    }
    check_turned_links(topology, settings)?;
    match load {
        Load::Pattern(_) if settings.duration_ps.is_none() => unfit(
            "traffic that never ends needs an end of the run: give duration_ns in [run]".into(),
        ),
        Load::Pattern(_) if topology.nodes() < 2 => unfit(
            "a pattern has messages from node to node, and the network has 1 node: make it \
             larger in [topology]"
                .into(),
        ),
        Load::Pattern(_) => Ok(()),
        Load::Programs {
            programs, nodes, ..
        } => check_programs(topology, programs, nodes),
    }
}

/// Whether switches can turn links on and off, if they are to.
fn check_turned_links(topology: &dyn Topology, settings: &Settings) -> Result<(), RunError> {
    let unfit = |what: String| Err(RunError::Settings(what));
    let Selection::Alonso(thresholds) = settings.switch.selection else {
        return Ok(());
    };
    if topology.stays_on(0).is_none() {
        return unfit(
            "selection = \"alonso\" in [switch]: this network has no links that could be off: a k-ary-n-tree \
             and an rlft with all its subtrees have those beside the minimal tree (Alonso 3), and a torus and a \
             hyperx with several cables between neighbours those beside the first"
                .into(),
        );
    }
    for plan in settings.power.plans {
        let turns = plan.per_direction() && plan.control_pins && plan.policy == Policy::Fixed;
        if !turns || plan.t_pdt_init != 0 || plan.registers.is_some() {
            return unfit(
                "selection = \"alonso\" in [switch]: the switches turn each direction of a link on and \
                 off, by force_wake of its port; give the ports policy = \"fixed\", t_pdt_ns = 0, \
                 sync = \"lpi\", control_pins = true, and no registers"
                    .into(),
            );
        }
        let times = match plan.sleep {
            Sleep::FastWake => vec![plan.link.fast_wake],
            Sleep::DeepSleep => vec![plan.link.deep_sleep],
            Sleep::Hybrid => vec![plan.link.fast_wake, plan.link.deep_sleep],
        };
        let longest = times.iter().map(|times| times.t_s.max(times.t_w)).max();
        let transition = longest.unwrap_or(0) * settings.power.clock_ps;
        if thresholds.window_ps <= transition {
            return unfit(format!(
                "select_window_ns = {} in [switch]: the network is to settle between two looks at the \
                 load (Alonso 4.3), and a link takes {} ns to sleep or to wake; make the window longer",
                thresholds.window_ps as f64 / 1e3,
                transition as f64 / 1e3
            ));
        }
    }
    Ok(())
}

/// How long a run can be whose samples are all kept, in ps.
fn most_sampled(settings: &Settings) -> Option<u64> {
    let most = settings.sample_ps?.saturating_mul(MAX_SAMPLES);
    // What is accounted reaches a cable's delay and a clock cycle further.
    Some(most.saturating_sub(settings.switch.cable_ps + settings.power.clock_ps))
}

fn check_samples(topology: &dyn Topology, settings: &Settings) -> Result<(), RunError> {
    let unfit = |what: String| Err(RunError::Settings(what));
    let Some(sample_ps) = settings.sample_ps else {
        return Ok(());
    };
    let ns = |ps: u64| ps as f64 / 1e3;
    // Of all ends together.
    let longest = i64::MAX as u64 / topology.ports().max(1) as u64;
    if sample_ps == 0 || sample_ps > longest {
        return unfit(format!(
            "sample_ns = {} in [run]: it must be above 0 and, for {} ports, at most {}",
            ns(sample_ps),
            topology.ports(),
            ns(longest)
        ));
    }
    let (duration, most) = (settings.duration_ps, most_sampled(settings));
    if let Some((duration, _)) = duration.zip(most).filter(|(ps, most)| ps > most) {
        // Room for what most_sampled leaves out.
        let nearest = (duration + settings.switch.cable_ps + settings.power.clock_ps)
            .div_ceil(MAX_SAMPLES)
            .next_multiple_of(1000);
        return unfit(format!(
            "sample_ns = {} in [run]: {} ns would have more than {MAX_SAMPLES} samples; the nearest \
             that will do is {}",
            ns(sample_ps),
            ns(duration),
            ns(nearest)
        ));
    }
    Ok(())
}

fn check_programs<'a>(
    topology: &dyn Topology,
    programs: &[Source<'a>],
    nodes: &[u32],
) -> Result<(), RunError> {
    let unfit = |what: String| Err(RunError::Unfit(what));
    let ranks: usize = programs.iter().map(|program| program.ranks()).sum();
    if nodes.len() != ranks {
        return unfit(format!(
            "the mapping numbering {} ranks, the program has {ranks}",
            nodes.len()
        ));
    }
    if let Some(node) = nodes
        .iter()
        .find(|&&node| node as usize >= topology.nodes())
    {
        return unfit(format!(
            "the mapping names node {node}; the network has nodes 0 to {}",
            topology.nodes() - 1
        ));
    }
    // What a skeleton makes was checked when it was made.
    let recorded = |source: &Source<'a>| match *source {
        Source::Recorded(program) => Some(program),
        Source::Skeleton(_) => None,
    };
    let programs: Vec<_> = programs.iter().filter_map(recorded).collect();
    if let Err(problem) = check_times(&programs) {
        return unfit(problem);
    }
    // Copies of a program stand beside each other.
    for program in programs.chunk_by(|a, b| std::ptr::eq(*a, *b)) {
        let ops = program[0].ops();
        if let Some(number) = ops.iter().position(|op| op.nic > 0) {
            let op = ops[number];
            return unfit(format!(
                "rank {}: `{op}` names nic {}: a node has one NIC, number 0",
                program[0].rank_of(number as u32),
                op.nic
            ));
        }
    }
    Ok(())
}

fn summary(
    topology: &dyn Topology,
    numbering: &Numbering,
    mut partitions: Vec<Partition>,
    settings: &Settings,
    load: Load,
    completed: Completed,
) -> Result<RunSummary, RunError> {
    let operations_finished = partitions.iter().map(Partition::operations_finished).sum();
    let operations = load.operations();
    let last_ps = partitions
        .iter()
        .map(|partition| partition.tally.last_ps)
        .max();
    let last_ps = last_ps.unwrap_or(0);
    let (ended, end_ps) = match completed {
        Completed::Program => (Ended::Complete, last_ps),
        // An empty program.
        Completed::Nothing if operations == 0 => (Ended::Complete, last_ps),
        Completed::Nothing => {
            return Err(RunError::Deadlock {
                time_ps: last_ps,
                what: deadlock(topology, &partitions),
            })
        }
        Completed::Duration => match settings.duration_ps {
            Some(duration) => (Ended::Duration, duration),
            None => return Err(too_many_samples(settings)),
        },
        Completed::Stopped(time) => (
            Ended::Stopped,
            time.min(settings.duration_ps.unwrap_or(time)),
        ),
    };
    // Controllers have gone on to the last event of their link.
    let accounted = match ended {
        Ended::Complete => end_ps + settings.switch.cable_ps,
        _ => end_ps,
    };
    let cycles = accounted.div_ceil(settings.power.clock_ps).max(1);
    let mut ports: Vec<PortSummary> = Vec::with_capacity(topology.ports());
    for number in 0..topology.ports() {
        let (partition, index) = numbering.port(number);
        let (name, cabled) = (topology.port_name(number), topology.peer(number).is_some());
        ports.push(partitions[partition as usize].port_summary(
            index as usize,
            name,
            cabled,
            cycles,
        ));
    }
    let series = settings.sample_ps.map(|sample_ps| {
        // Ports have told all of their sleep.
        series(
            topology,
            &partitions,
            sample_ps,
            cycles * settings.power.clock_ps,
        )
    });
    let mut calc_ps = vec![0; topology.nodes()];
    let mut cpus = vec![0; topology.nodes()];
    let mut sizes_differ = 0;
    let mut jobs_ps = Vec::new();
    if let Load::Programs {
        programs, nodes, ..
    } = load
    {
        let ranks: Vec<&Ranks> = partitions
            .iter()
            .filter_map(|partition| match partition.traffic.as_deref() {
                Some(Traffic::Programs(ranks)) => Some(ranks),
                _ => None,
            })
            .collect();
        for ranks in &ranks {
            sizes_differ += ranks.sizes_differ();
            for (rank, (time, count)) in ranks.calc_times_and_cpus(end_ps).enumerate() {
                if ranks.owns(rank) {
                    calc_ps[nodes[rank] as usize] += time;
                    cpus[nodes[rank] as usize] += count;
                }
            }
        }
        jobs_ps = (0..programs.len())
            .map(|job| {
                let done = ranks.iter().map(|ranks| ranks.job(job));
                let (finished, last) = done.fold((0, 0), |sum, (finished, last)| {
                    (sum.0 + finished, last.max(sum.1))
                });
                (finished == programs[job].operations()).then_some(last)
            })
            .collect();
    }
    let in_flight: usize = partitions
        .iter()
        .map(|partition| partition.packets.len())
        .sum();
    let in_post: usize = partitions
        .iter()
        .flat_map(|partition| &partition.outbox)
        .map(Vec::len)
        .sum();
    let mut partitions = partitions.into_iter();
    let mut tally = partitions
        .next()
        .expect("a partition for each thread")
        .tally;
    for partition in partitions {
        add(&mut tally, &partition.tally);
    }
    let count = tally.latency.len();
    Ok(RunSummary {
        ended,
        time_ps: end_ps,
        cycles,
        clock_ps: settings.power.clock_ps,
        offered_messages: tally.offered_messages,
        offered_bytes: tally.offered_bytes,
        messages: tally.messages,
        packets: tally.packets,
        delivered_bytes: tally.bytes,
        packet_hops: tally.packet_hops,
        pauses_asleep: tally.pauses_asleep,
        packets_in_flight: in_flight + in_post,
        latency: Latency {
            packets: count,
            mean_ps: match count {
                0 => 0.0,
                _ => tally.latency_sum as f64 / count as f64,
            },
            p50_ps: tally.latency.value_at_quantile(0.50).min(tally.latency_max),
            p99_ps: tally.latency.value_at_quantile(0.99).min(tally.latency_max),
            max_ps: tally.latency_max,
        },
        sizes_differ,
        operations_finished,
        operations,
        jobs_ps,
        calc_ps,
        cpus,
        ports,
        series,
        events: tally.events,
    })
}

fn too_many_samples(settings: &Settings) -> RunError {
    let sample_ps = settings.sample_ps.unwrap_or_default();
    RunError::Settings(format!(
        "sample_ns = {} in [run]: the run has come to {MAX_SAMPLES} samples, the most there can be, \
         and not to its end; make them longer, or cut the run with duration_ns",
        sample_ps as f64 / 1e3
    ))
}

/// What the partitions have sampled, of a run that is accounted until `end_ps`.
fn series(
    topology: &dyn Topology,
    partitions: &[Partition],
    sample_ps: u64,
    end_ps: u64,
) -> Series {
    let mut classes: Vec<(String, u64)> = topology
        .classes()
        .into_iter()
        .map(|name| (name, 0))
        .collect();
    for port in (0..topology.ports()).filter(|&port| topology.peer(port).is_some()) {
        classes[topology.class(port)].1 += 1;
    }
    let samples = partitions
        .iter()
        .filter_map(|partition| partition.samples.as_ref());
    Series::new(sample_ps, end_ps, classes, samples)
}

fn add(sum: &mut Tally, partition: &Tally) {
    sum.offered_messages += partition.offered_messages;
    sum.offered_bytes += partition.offered_bytes;
    sum.messages += partition.messages;
    sum.packets += partition.packets;
    sum.bytes += partition.bytes;
    sum.packet_hops += partition.packet_hops;
    sum.pauses_asleep += partition.pauses_asleep;
    sum.latency
        .add(&partition.latency)
        .expect("the same precision");
    sum.latency_sum += partition.latency_sum;
    sum.latency_max = sum.latency_max.max(partition.latency_max);
    sum.events += partition.events;
}

fn deadlock(topology: &dyn Topology, partitions: &[Partition]) -> String {
    if let Some(port) = partitions.iter().find_map(Partition::stuck) {
        return format!(
            "{} has a packet to send, but its link sleeps and no controller will ever wake it",
            topology.port_name(port)
        );
    }
    let packets: usize = partitions
        .iter()
        .map(|partition| partition.packets.len())
        .sum();
    let mut what: Vec<String> = Vec::new();
    if packets > 0 {
        what.push(format!("{packets} packets are stuck in the network"));
    }
    for partition in partitions {
        if let Some(Traffic::Programs(ranks)) = partition.traffic.as_deref() {
            what.extend(ranks.deadlock());
        }
    }
    what.join("; ")
}

#[cfg(test)]
mod divided;
#[cfg(test)]
mod low_lanes;
#[cfg(test)]
mod packet_model;
#[cfg(test)]
mod selections;
#[cfg(test)]
mod tests;
