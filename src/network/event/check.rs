//! What a run is refused for: load, settings and network that do not fit each other.

use super::series::MAX_SAMPLES;
use super::settings::{most_threads, Load, Settings, MOST_THREADS};
use crate::config::plan::{Policy, PortPlan, SyncPlan};
use crate::network::replay::Source;
use crate::network::run::RunError;
use crate::network::selection::Selection;
use crate::network::topology::Topology;
use crate::network::trace::info::check_times;

/// Whether a run can begin.
///
/// # Errors
/// If it cannot: why, and what to change.
pub(super) fn check(
    topology: &dyn Topology,
    load: Load,
    settings: &Settings,
) -> Result<(), RunError> {
    let unfit = |what: String| Err(RunError::Settings(what));
    settings.switch.validate()?;
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
    check_windows(settings)?;
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

/// Whether switches see in a window what their ports carry.
fn check_windows(settings: &Settings) -> Result<(), RunError> {
    let Some(thresholds) = settings.switch.selection.thresholds() else {
        return Ok(());
    };
    let packet = settings.switch.link_time(settings.switch.largest());
    if thresholds.window_ps < packet {
        return Err(RunError::Settings(format!(
            "select_window_ns = {} in [switch]: a packet of {} bytes alone lasts {} ns on a link, longer than \
             the load is measured for; make the window longer",
            thresholds.window_ps as f64 / 1e3,
            settings.switch.largest(),
            packet as f64 / 1e3
        )));
    }
    Ok(())
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
    if settings.switch.link_lanes.is_some() {
        return unfit(
            "selection = \"alonso\" in [switch]: the switches turn links on and off as a whole, by \
             force_wake of their ports, which a lane controller does not have; leave out link_lanes"
                .into(),
        );
    }
    for plan in settings.power.plans {
        let turns = plan.per_direction() && plan.control_pins && plan.policy == Policy::Fixed;
        let other = plan.t_pdt_init != 0 || plan.registers.is_some() || plan.guard.is_some();
        if !turns || other {
            return unfit(
                "selection = \"alonso\" in [switch]: the switches turn each direction of a link on and \
                 off, by force_wake of its port; give the ports policy = \"fixed\", t_pdt_ns = 0, \
                 sync = \"lpi\", control_pins = true, no registers and no guard"
                    .into(),
            );
        }
        let transition = plan.longest_transition() * settings.power.clock_ps;
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
pub(super) fn most_sampled(settings: &Settings) -> Option<u64> {
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
        let accounted = duration + settings.switch.cable_ps + settings.power.clock_ps;
        let nearest = accounted.div_ceil(MAX_SAMPLES);
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
            "the mapping places {} ranks, the program has {ranks}",
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
