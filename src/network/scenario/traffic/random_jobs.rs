//! `[traffic] kind = "random-jobs"`: programs that are drawn, and run at the same time (Georgakoudis
//! IV.C).

use rand::seq::IndexedRandom;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::{cpu_speed, overheads, place, Job, Jobs, Network, Origin};
use crate::input::{Reader, Section};
use crate::network::scenario::keys::MOST_RANKS;
use crate::network::skeleton::program::Parameters;
use crate::network::skeleton::proxies::Proxy;
use crate::network::trace::TRACED_SPEED;

/// The ranks that a job may have (Georgakoudis Table VII).
const SIZES: [u32; 3] = [256, 512, 1024];

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
    let Some(&least) = sizes.first() else {
        reader.fault_at(
            section,
            "ranks",
            "must have a number of ranks, such as [256, 512]",
        );
        return None;
    };
    let room = (nodes as u64 * u64::from(ranks_per_node)).min(MOST_RANKS);
    if u64::from(least) > room {
        let wrong = format!(
            "the smallest job has {least} ranks, and the network has room for {room}; take smaller ones, \
             ranks_per_node = {} or a larger network",
            u64::from(least).div_ceil(nodes as u64)
        );
        reader.fault_at(section, "ranks", wrong);
        return None;
    }
    // Every job has nodes of its own: where nobody says how many ranks there are, as many as have room.
    let each = match section.has("total_ranks") {
        true => 1,
        false => ranks_per_node as usize,
    };
    let taken = |size: u32| (size as usize).next_multiple_of(each);
    let all_taken: Vec<usize> = sizes.iter().map(|&size| taken(size)).collect();
    let sums = sums(&all_taken, room as usize);
    let total = total(reader, section, &sums)?;

    let mut random = Pcg64Mcg::seed_from_u64(network.seed);
    let mut drawn: Vec<Parameters> = Vec::new();
    let mut left = total;
    while left > 0 {
        let fit = |size: &&u32| {
            left.checked_sub(taken(**size))
                .is_some_and(|rest| sums[rest])
        };
        let fitting: Vec<u32> = sizes.iter().filter(fit).copied().collect();
        let ranks = *fitting
            .choose(&mut random)
            .expect("the total is a sum of sizes");
        let program = programs.choose(&mut random).expect("there is a program");
        drawn.push(Parameters::new(program, ranks));
        left -= taken(ranks);
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

/// Which numbers up to `most` are sums of some of the sizes, each taken any number of times.
fn sums(sizes: &[usize], most: usize) -> Vec<bool> {
    let mut sums = vec![false; most + 1];
    sums[0] = true;
    for sum in 1..=most {
        sums[sum] = (sizes.iter())
            .filter_map(|&size| sum.checked_sub(size))
            .any(|rest| sums[rest]);
    }
    sums
}

/// The ranks of all jobs together: as many as there is room for, if nothing is said.
fn total(reader: &mut Reader, section: &Section, sums: &[bool]) -> Option<usize> {
    let largest = |below: usize| (1..=below).rev().find(|&sum| sums[sum]);
    let room = sums.len() - 1;
    let Some(written) = section.number("total_ranks") else {
        return largest(room);
    };
    // The range of the key keeps it within a `usize`.
    let total = written.value as usize;
    if sums.get(total) == Some(&true) {
        return Some(total);
    }
    let below = largest(total.min(room));
    let above = (total..=room).find(|&sum| sums[sum]);
    let nearest: Vec<String> = [below, above]
        .into_iter()
        .flatten()
        .map(|sum| sum.to_string())
        .collect();
    let problem = match total > room {
        true => format!("the network has room for {room}"),
        false => "is no sum of numbers in `ranks`".to_owned(),
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
            let sums = sums(sizes, most);
            (0..=most).filter(|&sum| sums[sum]).collect()
        };
        assert_eq!(of(&[4, 6], 15), [0, 4, 6, 8, 10, 12, 14]);
        assert_eq!(of(&[3, 5], 9), [0, 3, 5, 6, 8, 9]);
        assert_eq!(of(&[7], 6), [0]);
    }
}
