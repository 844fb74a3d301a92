//! `[traffic] kind = "skeleton"`.

use super::{cpu_speed, overheads, place, tables, with_ranks_per_node, Job, Jobs, Mapping, Origin};
use crate::input::{Reader, Section};
use crate::network::skeleton::divisors_near;
use crate::network::skeleton::program::{Gradients, Kind, Parameters, PROGRAMS};
use crate::network::skeleton::proxies::Proxy;

/// Those that only some programs have, and which.
const OF_PROGRAMS: [(&str, &[&str]); 10] = [
    (
        "grid",
        &[
            "lammps",
            "fft",
            "halo3d",
            "sweep3d",
            "kripke",
            "laghos",
            "amg",
            "examinimd",
            "sw4lite",
            "minife",
            "miniamr",
        ],
    ),
    ("atoms_per_rank", &["lammps"]),
    ("output_every", &["lammps"]),
    ("message_bytes", &["fft", "halo3d", "sweep3d"]),
    ("calc_ns", &["fft", "patmos", "halo3d", "sweep3d"]),
    ("gradients", &["allreduce-ring", "allreduce-hierarchical"]),
    (
        "gradient_bytes",
        &["allreduce-ring", "allreduce-hierarchical"],
    ),
    ("group", &["allreduce-hierarchical"]),
    ("neighbours", &["halo3d"]),
    ("blocks", &["sweep3d"]),
];

/// Reads `[traffic]` for a network of `nodes` nodes; `None` if there are faults.
pub(super) fn read(reader: &mut Reader, section: &Section, nodes: Option<usize>) -> Option<Jobs> {
    let jobs = if section.has("jobs") {
        let beside = ["program", "ranks", "steps", "jitter"];
        let placed = ["mapping", "ranks_per_node", "cpu_speed"];
        let of_programs = OF_PROGRAMS.map(|(key, _)| key);
        let single = [&beside[..], &placed, &of_programs].concat();
        let all = tables(reader, section, &single)?;
        let mut jobs = Vec::new();
        for table in all {
            if !table.has("ranks") {
                // All that the network has room for would leave nothing to the next job.
                reader.missing(table, "ranks", "the ranks of the job, such as ranks = 64");
            } else {
                jobs.extend(job(reader, table, nodes));
            }
        }
        (jobs.len() == all.len()).then_some(jobs)?
    } else {
        vec![job(reader, section, nodes)?]
    };
    Some(Jobs {
        jobs,
        overheads: overheads(section),
        drawn: false,
    })
}

/// A job, in a table of its own or in `[traffic]`.
fn job(reader: &mut Reader, section: &Section, nodes: Option<usize>) -> Option<Job> {
    let programs = PROGRAMS.map(|program| (program, program));
    let program = section.choice("program", &programs).map(|it| it.value);
    if !section.has("program") {
        reader.missing(
            section,
            "program",
            format!("one of {}", PROGRAMS.join(", ")),
        );
    }
    for (key, programs) in OF_PROGRAMS {
        if let (true, Some(program)) = (section.has(key), program) {
            if !programs.contains(&program) {
                let wrong = format!(
                    "program = {program:?} has no `{key}`; it belongs to {}",
                    programs.join(", ")
                );
                reader.fault_at(section, key, wrong);
            }
        }
    }
    let (mapping, ranks_per_node) = place(reader, section, nodes)?;
    let (program, nodes) = (program?, nodes?);
    if section.is_faulty() {
        return None;
    }
    let most = match &mapping {
        Mapping::List(list) if list.is_empty() => {
            reader.fault_at(section, "mapping", "must name the node of a rank at least");
            return None;
        }
        Mapping::List(list) => list.len() as u64,
        _ => nodes as u64 * u64::from(ranks_per_node),
    };
    let ranks = ranks(reader, section, most, nodes, ranks_per_node)?;
    let mut parameters = Parameters::new(program, ranks);
    let number = |key, default| section.number(key).map_or(default, |it| it.value);
    // The ranges of the keys keep these within 32 bits.
    let small = |key, default: u32| number(key, default.into()) as u32;
    parameters.steps = small("steps", parameters.steps);
    parameters.jitter_millionths = number("jitter", parameters.jitter_millionths);
    match &mut parameters.kind {
        Kind::Lammps {
            grid: sides,
            atoms_per_rank,
            output_every,
        } => {
            *sides = grid(reader, section, *sides, ranks)?;
            *atoms_per_rank = small("atoms_per_rank", *atoms_per_rank);
            *output_every = small("output_every", *output_every);
        }
        Kind::Fft {
            grid: sides,
            message_bytes,
            calc_ns,
        } => {
            *sides = grid(reader, section, *sides, ranks)?;
            *message_bytes = number("message_bytes", *message_bytes);
            *calc_ns = number("calc_ns", *calc_ns);
        }
        Kind::AllreduceRing {
            gradients: how,
            gradient_bytes,
        } => {
            *how = gradients(section);
            *gradient_bytes = number("gradient_bytes", *gradient_bytes);
        }
        Kind::AllreduceHierarchical {
            gradients: how,
            gradient_bytes,
            group: size,
        } => {
            *how = gradients(section);
            *gradient_bytes = number("gradient_bytes", *gradient_bytes);
            *size = group(reader, section, ranks, ranks_per_node, *size)?;
        }
        Kind::Patmos { calc_ns } => *calc_ns = number("calc_ns", *calc_ns),
        Kind::Halo3d {
            grid: sides,
            neighbours,
            message_bytes,
            calc_ns,
        } => {
            *sides = grid(reader, section, *sides, ranks)?;
            *message_bytes = number("message_bytes", *message_bytes);
            *calc_ns = number("calc_ns", *calc_ns);
            *neighbours = small("neighbours", *neighbours);
            if !matches!(*neighbours, 6 | 26) {
                let nearest = if *neighbours < 16 { 6 } else { 26 };
                let wrong = format!(
                    "must be 6 (over faces) or 26 (over edges and corners as well); the nearest \
                     legal value is {nearest}"
                );
                reader.fault_at(section, "neighbours", wrong);
                return None;
            }
        }
        Kind::Sweep3d {
            grid: sides,
            blocks,
            message_bytes,
            calc_ns,
        } => {
            *sides = grid(reader, section, *sides, ranks)?;
            *message_bytes = number("message_bytes", *message_bytes);
            *calc_ns = number("calc_ns", *calc_ns);
            *blocks = small("blocks", *blocks);
        }
        Kind::Proxy { proxy, grid: sides } => {
            *sides = grid(reader, section, *sides, ranks)?;
            if *proxy == Proxy::Sw4lite && sides[2] != 1 {
                reader.fault_at(
                    section,
                    "grid",
                    "sw4lite divides two dimensions: the third must be 1",
                );
                return None;
            }
        }
    }
    Some(Job {
        origin: Origin::Skeleton(parameters),
        mapping,
        ranks_per_node,
        copies: 1,
        cpu_speed: cpu_speed(section),
    })
}

/// As many as fit, if nothing is said.
fn ranks(
    reader: &mut Reader,
    section: &Section,
    most: u64,
    nodes: usize,
    ranks_per_node: u32,
) -> Option<u32> {
    let Some(written) = section.number("ranks") else {
        return Some(most.min(u32::MAX.into()) as u32);
    };
    let ranks = written.value;
    if ranks > most {
        let room = match section.list("mapping") {
            Some(_) => format!("the mapping places {most}"),
            None => format!(
                "the network has {nodes} nodes with ranks_per_node = {ranks_per_node}; take \
                 {}a larger network",
                with_ranks_per_node(ranks.div_ceil(nodes as u64), "", " or ")
            ),
        };
        let wrong = format!("{room}; the nearest legal value is {most}");
        reader.fault_of(&written, wrong);
        return None;
    }
    Some(ranks as u32)
}

fn grid<const D: usize>(
    reader: &mut Reader,
    section: &Section,
    default: [u32; D],
    ranks: u32,
) -> Option<[u32; D]> {
    let Some(written) = section.list("grid") else {
        return Some(default);
    };
    let sides = written.value.iter().filter_map(|side| side.value.number());
    let sides: Vec<u32> = sides.map(|side| side as u32).collect();
    // Of the right number of sides it is far from overflowing.
    let product = sides
        .iter()
        .take(D)
        .map(|side| u128::from(*side))
        .product::<u128>();
    let shape = if D == 2 { "square" } else { "cube" };
    match <[u32; D]>::try_from(sides) {
        Ok(sides) if product == u128::from(ranks) => Some(sides),
        Ok(_) => {
            let wrong = format!(
                "makes {product} ranks, and there are {ranks}; the grid nearest to a {shape} is \
                 {default:?}"
            );
            reader.fault_of(&written, wrong);
            None
        }
        Err(_) => {
            let wrong = format!("must be a list of {D} numbers, such as {default:?}");
            reader.fault_of(&written, wrong);
            None
        }
    }
}

fn gradients(section: &Section) -> Gradients {
    let all = Gradients::ALL.map(|how| (how.name(), how));
    let written = section.choice("gradients", &all);
    written.map_or(Gradients::Buckets, |it| it.value)
}

/// Ranks of a group: those of a node, if it has several and all have as many.
fn group(
    reader: &mut Reader,
    section: &Section,
    ranks: u32,
    ranks_per_node: u32,
    default: u32,
) -> Option<u32> {
    let default = match ranks_per_node {
        2.. if ranks.is_multiple_of(ranks_per_node) => ranks_per_node,
        _ => default,
    };
    let Some(written) = section.number("group") else {
        return Some(default);
    };
    let size = (written.value as u32).min(ranks);
    if u64::from(size) == written.value && ranks.is_multiple_of(size) {
        return Some(size);
    }
    let nearest = match u64::from(size) < written.value {
        true => format!("the nearest legal value is {ranks}"),
        false => {
            let (below, above) = divisors_near(ranks, size);
            format!("the nearest sizes that can are {below} and {above}")
        }
    };
    let wrong = format!(
        "{ranks} ranks cannot be cut into groups of {}; {nearest}",
        written.value
    );
    reader.fault_of(&written, wrong);
    None
}
