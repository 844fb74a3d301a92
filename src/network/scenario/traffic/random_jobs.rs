//! `[traffic] kind = "random-jobs"`: programs that are drawn, and run at the same time (Georgakoudis
//! IV.C).

use rand::seq::IndexedRandom;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::{cpu_speed, overheads, place, with_ranks_per_node, Job, Jobs, Network, Origin};
use crate::input::{Reader, Section};
use crate::network::scenario::keys::MOST_RANKS;
use crate::network::skeleton::program::Parameters;
use crate::network::skeleton::proxies::Proxy;
use crate::network::trace::TRACED_SPEED;

/// The ranks that a job may have (Georgakoudis Table VII).
const SIZES: [u32; 3] = [256, 512, 1024];

/// Most sizes that jobs are drawn from: what fits together is worked out for each of them.
const MOST_SIZES: usize = 64;

/// Reads `[traffic]`; `None` if there are faults, here or in what it depends on.
pub(super) fn read(reader: &mut Reader, section: &Section, network: &Network) -> Option<Jobs> {
    let (mapping, ranks_per_node) = place(reader, section, network.nodes)?;
    let nodes = network.nodes?;
    if section.is_faulty() {
        return None;
    }
    let programs = match section.list("programs") {
        Some(list) => list
            .value
            .iter()
            .filter_map(|it| it.value.name().map(str::to_owned))
            .collect(),
        None => Proxy::ALL.map(|proxy| proxy.name().to_owned()).to_vec(),
    };
    if programs.is_empty() {
        reader.fault_at(
            section,
            "programs",
            "must name a program, such as [\"amg\"]",
        );
        return None;
    }
    let mut sizes: Vec<u32> = match section.list("ranks") {
        // The range of the key keeps these within 32 bits.
        Some(list) => (list.value.iter())
            .filter_map(|it| it.value.number().map(|ranks| ranks as u32))
            .collect(),
        None => SIZES.to_vec(),
    };
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.len() > MOST_SIZES {
        let problem = format!(
            "{} numbers of ranks; at most {MOST_SIZES} are drawn from",
            sizes.len()
        );
        reader.fault_at(section, "ranks", problem);
        return None;
    }
    let Some(&least) = sizes.first() else {
        reader.fault_at(
            section,
            "ranks",
            "must have a number of ranks, such as [256, 512]",
        );
        return None;
    };
    let room = (nodes as u64 * u64::from(ranks_per_node)).min(MOST_RANKS);
    // Every job has nodes of its own: where nobody says how many ranks there are, as many as have room.
    let each = match section.has("total_ranks") {
        true => 1,
        false => ranks_per_node as usize,
    };
    let taken = |size: u32| (size as usize).next_multiple_of(each);
    let nodes_of = |size: u32| size.div_ceil(ranks_per_node) as usize;
    if taken(least) as u64 > room || nodes_of(least) > nodes {
        let wrong = format!(
            "the smallest job has {least} ranks, and the network has room for {room}; take smaller ones, \
             {}a larger network",
            with_ranks_per_node(u64::from(least).div_ceil(nodes as u64), "", " or ")
        );
        reader.fault_at(section, "ranks", wrong);
        return None;
    }
    let costs: Vec<[usize; 2]> = sizes
        .iter()
        .map(|&size| [taken(size), nodes_of(size)])
        .collect();
    let least_nodes = least_nodes(&costs, room as usize);
    let total = total(reader, section, &least_nodes, nodes)?;

    let mut random = Pcg64Mcg::seed_from_u64(network.seed);
    let mut drawn: Vec<Parameters> = Vec::new();
    let (mut left, mut free) = (total, nodes);
    while left > 0 {
        let fit = |size: &&u32| {
            let rest = left.checked_sub(taken(**size));
            let free = free.checked_sub(nodes_of(**size));
            rest.zip(free)
                .is_some_and(|(rest, free)| least_nodes[rest] <= free)
        };
        let fitting: Vec<u32> = sizes.iter().filter(fit).copied().collect();
        let ranks = *fitting
            .choose(&mut random)
            .expect("the total is a sum of sizes");
        let program = programs.choose(&mut random).expect("there is a program");
        drawn.push(Parameters::new(program, ranks));
        left -= taken(ranks);
        free -= nodes_of(ranks);
    }

    let speed = cpu_speed(section);
    let step_ns = |of: &Parameters| of.step_ns() as f64 * TRACED_SPEED as f64 / speed as f64;
    // Short programs run again and again while the longest one does (Georgakoudis IV.C).
    let time_ns = match section.number("time_ns") {
        Some(written) => written.value as f64,
        None => drawn.iter().map(step_ns).fold(0.0, f64::max),
    };
    for parameters in &mut drawn {
        // A step of nothing but messages has no time of its own.
        let steps = (time_ns / step_ns(parameters).max(1.0)).round();
        parameters.steps = steps.clamp(1.0, u32::MAX.into()) as u32;
        if let Some(jitter) = section.number("jitter") {
            parameters.jitter_millionths = jitter.value;
        }
    }
    Some(Jobs {
        jobs: (drawn.into_iter())
            .map(|parameters| Job {
                origin: Origin::Skeleton(parameters),
                mapping: mapping.clone(),
                ranks_per_node,
                copies: 1,
                cpu_speed: speed,
            })
            .collect(),
        overheads: overheads(section),
        drawn: true,
    })
}

/// No jobs have this number of ranks.
const NO_JOBS: usize = usize::MAX;

/// For each number of ranks up to `most` how many nodes jobs take at least that have as many together;
/// [`NO_JOBS`] if none have. Each job has one of these sizes, given with the nodes that it takes.
fn least_nodes(sizes: &[[usize; 2]], most: usize) -> Vec<usize> {
    let mut least = vec![NO_JOBS; most + 1];
    least[0] = 0;
    for sum in 1..=most {
        least[sum] = (sizes.iter())
            .filter_map(|&[ranks, nodes]| Some((sum.checked_sub(ranks)?, nodes)))
            .map(|(rest, nodes)| least[rest].saturating_add(nodes))
            .min()
            .unwrap_or(NO_JOBS);
    }
    least
}

/// The ranks of all jobs together: as many as there is room for, if nothing is said.
fn total(
    reader: &mut Reader,
    section: &Section,
    least_nodes: &[usize],
    nodes: usize,
) -> Option<usize> {
    let fits = |&sum: &usize| least_nodes[sum] <= nodes;
    let largest = |below: usize| (1..=below).rev().find(fits);
    let room = least_nodes.len() - 1;
    let Some(written) = section.number("total_ranks") else {
        return largest(room);
    };
    // The range of the key keeps it within a `usize`.
    let total = written.value as usize;
    if total <= room && fits(&total) {
        return Some(total);
    }
    let below = largest(total.min(room));
    let above = (total..=room).find(fits);
    let nearest: Vec<String> = [below, above]
        .into_iter()
        .flatten()
        .map(|sum| sum.to_string())
        .collect();
    let problem = match least_nodes.get(total) {
        None => format!("the network has room for {room}"),
        Some(&NO_JOBS) => "is no sum of numbers in `ranks`".to_owned(),
        Some(least) => format!(
            "such jobs take {least} nodes at least, each its own, and the network has {nodes}"
        ),
    };
    reader.fault_of(
        &written,
        format!("{problem}; take {}", nearest.join(" or ")),
    );
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_sizes() {
        let of = |sizes: &[usize], most| -> Vec<usize> {
            let costs: Vec<[usize; 2]> = sizes.iter().map(|&size| [size, 1]).collect();
            let least = least_nodes(&costs, most);
            (0..=most).filter(|&sum| least[sum] != NO_JOBS).collect()
        };
        assert_eq!(of(&[4, 6], 15), [0, 4, 6, 8, 10, 12, 14]);
        assert_eq!(of(&[3, 5], 9), [0, 3, 5, 6, 8, 9]);
        assert_eq!(of(&[7], 6), [0]);
        // 8 ranks: twice 4, three nodes each, or 3 and 5, of two and three nodes.
        assert_eq!(least_nodes(&[[4, 3], [3, 2], [5, 3]], 8)[8], 5);
    }
}
