//! The network engine: switches, links and NICs of any topology, on one thread or several.
//!
//! The network is split into partitions (`partition`), one for each thread (`threads`). What
//! happens at the same time at different switches has no
//! order that matters, and at one switch or node the order is a fixed one (`wheel`), so
//! the results are the same bytes for any number of threads.

mod buffers;
mod cache;
mod check;
pub mod controller;
mod crossbar;
mod deadlines;
mod devices;
mod events;
mod extension;
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
mod settings;
mod summary;
mod tally;
mod threads;
mod time;
mod unfinished;
mod wheel;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use rayon::prelude::*;

use super::topology::hop_counts::{by_class, HopCounts};
use super::topology::Topology;
use super::traffic::pattern::Sources;
use super::traffic::{Ranks, Traffic};
use super::{Progress, RunError, RunSummary};
use crate::blocks::port::controller::PowerController;
use crate::config::plan::{LanePlan, PortPlan};
use crate::config::Config;
use crate::network::lanes::LanePort;
use crate::network::parameters::Parameters;
use crate::network::queueing::Queues;
use crate::network::selection::Selection;
use check::{check, most_sampled};
use controller::{awake_pair, message_delay, AwakePair, Controller, Meters};
use lazy::LazyPort;
use numbering::Numbering;
use partition::{Common, Partition};
use series::Samples;
pub use settings::{most_threads, Load, Power, Settings, MOST_THREADS};
use summary::summary;
use threads::Threads;

/// The configuration of each class of ports of a network: the one given with the hop counts
/// of the packets that such ports send under uniform traffic (SPEC 7.2), in index of `hops`
/// of its `[perfbound]`; `hop_factor` and `hops = "measured"` stay as they are.
pub fn configs_of(config: &Config, topology: &dyn Topology) -> Vec<Config> {
    if !(config.is_bounded() && config.computes_hop_factor()) {
        return vec![config.clone(); topology.classes().len()];
    }
    with_factors(config, &factors_of(topology))
}

/// `sum(p_i / h_i)` of the packets that ports of each class send under uniform traffic; none of a class
/// that sends none.
pub fn factors_of(topology: &dyn Topology) -> Vec<Option<f64>> {
    by_class(topology).iter().map(HopCounts::factor).collect()
}

/// The configuration with each of these factors.
pub fn with_factors(config: &Config, factors: &[Option<f64>]) -> Vec<Config> {
    let factors = factors.iter();
    factors
        .map(|factor| match factor {
            Some(factor) => config.with_hop_factor(*factor),
            None => config.clone(),
        })
        .collect()
}

/// Controllers just after reset that take the places of golden models, by the numbers of
/// their ports.
pub type Replacements = BTreeMap<usize, Box<dyn PowerController + Send>>;

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
    let common = common(topology, settings)?;
    let lanes = lane_plans(topology, settings)?;
    if !(lanes.is_empty() || replacements.is_empty()) {
        let problem =
            "link_lanes in [switch]: in the places of lane controllers there can be no Verilog of \
                       port controllers";
        return Err(RunError::Settings(problem.into()));
    }
    let Parameters {
        selection,
        link_lanes,
        ..
    } = settings.switch;
    let extended = common.queues.is_some() || link_lanes.is_some() || selection != Selection::Fixed;
    let run = match extended {
        true => run_engine::<true>,
        false => run_engine::<false>,
    };
    run(
        &common,
        load,
        settings,
        &lanes,
        replacements,
        lazy,
        progress,
    )
}

/// Clock cycles from the reset of the two controllers of a link to the beginning of simulated time:
/// by then they have exchanged their first messages, if they do that, and are awake.
///
/// # Errors
/// If they never let a packet pass.
pub fn waking_cycles(switch: &Parameters, plan: &PortPlan, clock_ps: u64) -> Result<u64, RunError> {
    let message_ps = switch.link_time(switch.control);
    let pair = awake_pair(plan, message_delay(message_ps, switch.cable_ps, clock_ps));
    pair.map(|pair| pair.cycles())
        .map_err(|fault| RunError::Settings(fault.what))
}

/// What the partitions of a run have in common.
fn common<'t>(topology: &'t dyn Topology, settings: &Settings) -> Result<Common<'t>, RunError> {
    let parameters = settings.switch;
    let Power {
        plans, clock_ps, ..
    } = settings.power;
    let message_ps = parameters.link_time(parameters.control);
    Ok(Common {
        topology,
        parameters,
        clock_ps,
        message_cycles: message_delay(message_ps, parameters.cable_ps, clock_ps),
        per_direction: plans.iter().any(PortPlan::per_direction),
        queues: Queues::of(topology, &parameters)?,
        turns_links: match parameters.selection {
            Selection::Alonso(thresholds) if !plans.is_empty() => Some(thresholds),
            _ => None,
        },
        warm_up_ps: settings.warm_up_ps,
    })
}

/// The run of a load that fits its settings and its network, with the engine that has
/// [extensions](extension), or the one that has none.
fn run_engine<const EXTENDED: bool>(
    common: &Common,
    load: Load,
    settings: &Settings,
    lanes: &[LanePlan],
    replacements: Replacements,
    lazy: fn(&PortPlan) -> Option<lazy::Common>,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<RunSummary, RunError> {
    let topology = common.topology;
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
            common,
            &numbering,
            partition,
            settings.power,
            &ends,
            lanes,
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
        Partition::<EXTENDED>::new(common, &numbering, partition, controllers, traffic, samples)
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
    let threads = Threads::new(settings.threads, duration_ps, settings.switch.cable_ps);
    let (partitions, completed) = threads.run(partitions, load.operations(), progress)?;
    summary(topology, &numbering, partitions, settings, load, completed)
}

/// The lane controller of every port, by its class; none where links have no lanes to turn off.
fn lane_plans(topology: &dyn Topology, settings: &Settings) -> Result<Vec<LanePlan>, RunError> {
    let Some(lanes) = settings.switch.link_lanes else {
        return Ok(Vec::new());
    };
    let queues = Queues::of(topology, &settings.switch)?.map_or(1, |queues| queues.count());
    let Power {
        plans, clock_ps, ..
    } = settings.power;
    let plans = plans.iter();
    let plans = plans.map(|plan| lanes.plan(plan, &settings.switch, queues, clock_ps));
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

#[cfg(test)]
mod divided_tests;
#[cfg(test)]
mod low_lanes_tests;
#[cfg(test)]
mod packet_model_tests;
#[cfg(test)]
mod selection_blocks_tests;
#[cfg(test)]
mod selections_tests;
#[cfg(test)]
mod tests;
