//! What comes of a run: the partitions together.

use super::numbering::Numbering;
use super::partition::Partition;
use super::series::{Series, MAX_SAMPLES};
use super::settings::{Load, Settings};
use super::tally::Tally;
use super::threads::Completed;
use crate::network::run::{Ended, Latency, PortSummary, RunError, RunSummary};
use crate::network::topology::Topology;
use crate::network::traffic::{Ranks, Traffic};

/// The results of a run that has ended.
///
/// # Errors
/// If it has come to no end of its own: ranks that wait for each other, or more samples than are kept.
pub(super) fn summary<const EXTENDED: bool>(
    topology: &dyn Topology,
    numbering: &Numbering,
    mut partitions: Vec<Partition<EXTENDED>>,
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
    let Programs {
        calc_ps,
        cpus,
        sizes_differ,
        jobs_ps,
    } = programs(topology.nodes(), &partitions, load, end_ps);
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

/// What programs did; nothing of other traffic.
struct Programs {
    /// Of every node: how long it has computed, and on how many processors.
    calc_ps: Vec<u64>,
    cpus: Vec<u32>,
    sizes_differ: u64,
    /// Of every job, when it was done, if it was.
    jobs_ps: Vec<Option<u64>>,
}

fn programs<const EXTENDED: bool>(
    node_count: usize,
    partitions: &[Partition<EXTENDED>],
    load: Load,
    end_ps: u64,
) -> Programs {
    let mut calc_ps = vec![0; node_count];
    let mut cpus = vec![0; node_count];
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
            for (rank, (time, count)) in ranks.calc_times_and_processors(end_ps).enumerate() {
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
    Programs {
        calc_ps,
        cpus,
        sizes_differ,
        jobs_ps,
    }
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
fn series<const EXTENDED: bool>(
    topology: &dyn Topology,
    partitions: &[Partition<EXTENDED>],
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

fn deadlock<const EXTENDED: bool>(
    topology: &dyn Topology,
    partitions: &[Partition<EXTENDED>],
) -> String {
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
