//! `[traffic] kind = "skeleton"`.

use toml::de::DeValue;

use super::{
    cpu_speed, integer, overheads, place, problem, shown, unknown, Checked, Job, Jobs, Mapping,
    Origin, Section,
};
use crate::network::skeleton::divisors_near;
use crate::network::skeleton::program::{Gradients, Kind, Parameters, PROGRAMS};

/// The keys of all programs.
pub(super) const KEYS: [&str; 20] = [
    "kind",
    "program",
    "ranks",
    "ranks_per_node",
    "steps",
    "jitter",
    "mapping",
    "cpu_speed",
    "send_overhead_ns",
    "recv_overhead_ns",
    "grid",
    "atoms_per_rank",
    "output_every",
    "message_bytes",
    "calc_ns",
    "gradients",
    "gradient_bytes",
    "group",
    "neighbours",
    "blocks",
];

/// Those that only some programs have, and which.
const OF_PROGRAMS: [(&str, &[&str]); 10] = [
    ("grid", &["lammps", "fft", "halo3d", "sweep3d"]),
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

/// The largest message or vector, in bytes: 1 TiB.
const MOST_BYTES: u64 = 1 << 40;

/// The longest computation: 10,000 s.
const LONGEST_NS: u64 = 10_000_000_000_000;

/// Reads `[traffic]` for a network of `nodes` nodes.
pub(super) fn read(section: &Section, nodes: usize) -> Checked<Jobs> {
    let Some((program, at)) = section.string("program")? else {
        let text = format!(
            "`program` is missing in [traffic]: one of {}",
            PROGRAMS.join(", ")
        );
        return problem(section.at, text);
    };
    if !PROGRAMS.contains(&program) {
        return problem(at, unknown("program", program, "[traffic]", &PROGRAMS));
    }
    for (key, programs) in OF_PROGRAMS {
        if let (Some(value), false) = (section.value(key), programs.contains(&program)) {
            let text = format!(
                "program = {program:?} has no `{key}`; it belongs to {}",
                programs.join(", ")
            );
            return problem(value.span().start, text);
        }
    }
    let (mapping, ranks_per_node) = place(section, nodes)?;
    let most = match &mapping {
        Mapping::List(list) if list.is_empty() => {
            return problem(section.place("mapping"), "mapping is empty: name a node");
        }
        Mapping::List(list) => list.len() as u64,
        _ => nodes as u64 * u64::from(ranks_per_node),
    };
    let ranks = ranks(section, most, nodes, ranks_per_node)?;
    let mut parameters = Parameters::new(program, ranks);
    let steps = section.integer("steps", parameters.steps.into(), 1..=u32::MAX.into())?;
    parameters.steps = steps as u32;
    let spread = parameters.jitter_millionths;
    parameters.jitter_millionths = section.millionths("jitter", spread, 0..=1_000_000)?;
    let bytes = |key, default: u64| section.integer(key, default, 1..=MOST_BYTES);
    let calc = |default: u64| section.integer("calc_ns", default, 0..=LONGEST_NS);
    match &mut parameters.kind {
        Kind::Lammps {
            grid: sides,
            atoms_per_rank,
            output_every,
        } => {
            *sides = grid(section, *sides, ranks)?;
            let atoms = u64::from(*atoms_per_rank);
            *atoms_per_rank = section.integer("atoms_per_rank", atoms, 1..=1 << 30)? as u32;
            let every = u64::from(*output_every);
            *output_every = section.integer("output_every", every, 1..=u32::MAX.into())? as u32;
        }
        Kind::Fft {
            grid: sides,
            message_bytes,
            calc_ns,
        } => {
            *sides = grid(section, *sides, ranks)?;
            *message_bytes = bytes("message_bytes", *message_bytes)?;
            *calc_ns = calc(*calc_ns)?;
        }
        Kind::AllreduceRing {
            gradients: how,
            gradient_bytes,
        } => {
            *how = gradients(section)?;
            *gradient_bytes = bytes("gradient_bytes", *gradient_bytes)?;
        }
        Kind::AllreduceHierarchical {
            gradients: how,
            gradient_bytes,
            group: size,
        } => {
            *how = gradients(section)?;
            *gradient_bytes = bytes("gradient_bytes", *gradient_bytes)?;
            *size = group(section, ranks, ranks_per_node, *size)?;
        }
        Kind::Patmos { calc_ns } => *calc_ns = calc(*calc_ns)?,
        Kind::Halo3d {
            grid: sides,
            neighbours,
            message_bytes,
            calc_ns,
        } => {
            *sides = grid(section, *sides, ranks)?;
            *message_bytes = bytes("message_bytes", *message_bytes)?;
            *calc_ns = calc(*calc_ns)?;
            *neighbours = match section.integer("neighbours", 26, 6..=26)? as u32 {
                found @ (6 | 26) => found,
                other => {
                    let nearest = if other < 16 { 6 } else { 26 };
                    return problem(
                        section.place("neighbours"),
                        format!(
                            "neighbours is {other}: it must be 6 (over faces) or 26 (over edges \
                             and corners as well); the nearest is {nearest}"
                        ),
                    );
                }
            };
        }
        Kind::Sweep3d {
            grid: sides,
            blocks,
            message_bytes,
            calc_ns,
        } => {
            *sides = grid(section, *sides, ranks)?;
            *message_bytes = bytes("message_bytes", *message_bytes)?;
            *calc_ns = calc(*calc_ns)?;
            *blocks = section.integer("blocks", (*blocks).into(), 1..=10_000)? as u32;
        }
    }
    Ok(Jobs {
        jobs: vec![Job {
            origin: Origin::Skeleton(parameters),
            mapping,
            ranks_per_node,
            copies: 1,
            cpu_speed: cpu_speed(section)?,
        }],
        overheads: overheads(section)?,
    })
}

/// As many as fit, if nothing is said.
fn ranks(section: &Section, most: u64, nodes: usize, ranks_per_node: u32) -> Checked<u32> {
    let Some(value) = section.value("ranks") else {
        return Ok(most.min(u32::MAX.into()) as u32);
    };
    let ranks = integer(value, "ranks", 1..=u32::MAX.into())?;
    if ranks > most {
        let room = match section.value("mapping").map(|value| value.get_ref()) {
            Some(DeValue::Array(_)) => format!("the mapping places {most}"),
            _ => format!(
                "the network has {nodes} nodes with ranks_per_node = {ranks_per_node}; take \
                 ranks_per_node = {} or a larger network",
                ranks.div_ceil(nodes as u64)
            ),
        };
        let text = format!("ranks is {ranks}: {room}; the nearest number of ranks is {most}");
        return problem(value.span().start, text);
    }
    Ok(ranks as u32)
}

fn grid<const D: usize>(section: &Section, default: [u32; D], ranks: u32) -> Checked<[u32; D]> {
    let Some(value) = section.value("grid") else {
        return Ok(default);
    };
    let at = value.span().start;
    let list = match value.get_ref() {
        DeValue::Array(list) if list.len() == D => list,
        other => {
            let value = shown(other);
            let text = format!("grid is {value}: it must be a list of {D}, such as {default:?}");
            return problem(at, text);
        }
    };
    let mut sides = [0; D];
    for (side, value) in sides.iter_mut().zip(list) {
        *side = integer(value, "a side of grid", 1..=u32::MAX.into())? as u32;
    }
    let product = sides.iter().map(|side| u128::from(*side)).product::<u128>();
    match product == u128::from(ranks) {
        true => Ok(sides),
        false => problem(
            at,
            format!(
                "grid is {sides:?}, which makes {product} ranks, and there are {ranks}; the grid \
                 nearest to a {} is {default:?}",
                if D == 2 { "square" } else { "cube" }
            ),
        ),
    }
}

fn gradients(section: &Section) -> Checked<Gradients> {
    let names = Gradients::ALL.map(Gradients::name);
    let Some((name, at)) = section.string("gradients")? else {
        return Ok(Gradients::Buckets);
    };
    let found = Gradients::ALL.into_iter().find(|how| how.name() == name);
    match found {
        Some(how) => Ok(how),
        None => problem(at, unknown("value", name, "gradients", &names)),
    }
}

/// Ranks of a group: those of a node, if it has several and all have as many.
fn group(section: &Section, ranks: u32, ranks_per_node: u32, default: u32) -> Checked<u32> {
    let default = match ranks_per_node {
        2.. if ranks.is_multiple_of(ranks_per_node) => ranks_per_node,
        _ => default,
    };
    let Some(value) = section.value("group") else {
        return Ok(default);
    };
    let size = integer(value, "group", 1..=ranks.into())? as u32;
    match ranks % size {
        0 => Ok(size),
        _ => {
            let (below, above) = divisors_near(ranks, size);
            let text = format!(
                "group is {size}: {ranks} ranks cannot be cut into groups of {size}; the nearest \
                 sizes that can are {below} and {above}"
            );
            problem(value.span().start, text)
        }
    }
}
