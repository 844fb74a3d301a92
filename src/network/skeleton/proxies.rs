//! The proxy applications of Georgakoudis Table VIII: what each rank sends, receives and computes.
//!
//! The paper gives the inputs for 256 ranks and how long one iteration of the main loop takes. The
//! messages below follow from the applications' public sources with these inputs; computing times are
//! the paper's, divided among the parts by their work. What neither says is **ours**, and marked so.
//! `docs/how/traffic.md` has the figures in tables.

use super::super::trace::collectives::Collective;
use super::action::{collective, Action, Group};
use super::grid;
use super::layout::{Layout, Order};

/// A proxy application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// Discrete ordinates transport: a sweep from all eight corners at once.
    Kripke,
    /// Compressible gas with elements of high order: conjugate gradients in every stage of a step.
    Laghos,
    /// Algebraic multigrid: set-up, and GMRES with a V-cycle as preconditioner.
    Amg,
    /// Molecular dynamics.
    ExaMiniMd,
    /// Seismic waves, with topography.
    Sw4lite,
    /// Finite elements: conjugate gradients.
    MiniFe,
    /// A stencil on blocks, with checksums.
    MiniAmr,
}

/// Time of the traced iteration with 256 ranks (Georgakoudis Table VIII), in ns.
const KRIPKE_NS: u64 = 5_540_000_000;
const LAGHOS_NS: u64 = 6_350_000_000;
const AMG_NS: u64 = 1_200_000_000;
const EXAMINIMD_NS: u64 = 1_830_000_000;
const SW4LITE_NS: u64 = 620_000_000;
const MINIFE_NS: u64 = 2_030_000_000;
const MINIAMR_NS: u64 = 32_000_000;
/// Ranks of that iteration.
const TRACED_RANKS: u32 = 256;

impl Proxy {
    /// All, in the paper's order.
    pub const ALL: [Proxy; 7] = [
        Proxy::Kripke,
        Proxy::Laghos,
        Proxy::Amg,
        Proxy::ExaMiniMd,
        Proxy::Sw4lite,
        Proxy::MiniFe,
        Proxy::MiniAmr,
    ];

    /// The name in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Proxy::Kripke => "kripke",
            Proxy::Laghos => "laghos",
            Proxy::Amg => "amg",
            Proxy::ExaMiniMd => "examinimd",
            Proxy::Sw4lite => "sw4lite",
            Proxy::MiniFe => "minife",
            Proxy::MiniAmr => "miniamr",
        }
    }

    /// How long the iteration that the paper traced takes with 256 ranks (Table VIII), in ns.
    pub fn traced_ns(self) -> u64 {
        match self {
            Proxy::Kripke => KRIPKE_NS,
            Proxy::Laghos => LAGHOS_NS,
            Proxy::Amg => AMG_NS,
            Proxy::ExaMiniMd => EXAMINIMD_NS,
            Proxy::Sw4lite => SW4LITE_NS,
            Proxy::MiniFe => MINIFE_NS,
            Proxy::MiniAmr => MINIAMR_NS,
        }
    }

    /// Steps of that iteration. The times of the paper fit so many; **ours** but where it is one.
    pub(super) fn steps(self) -> u32 {
        match self {
            Proxy::Kripke | Proxy::Laghos | Proxy::Amg | Proxy::Sw4lite => 1,
            Proxy::ExaMiniMd => 100,
            Proxy::MiniFe => 200,
            Proxy::MiniAmr => 5,
        }
    }

    /// The ranks in each dimension that the application takes, or that Table VIII gives it.
    pub(super) fn grid(self, ranks: u32) -> [u32; 3] {
        match self {
            // Georgakoudis Table VIII: 8, 8, 4 of 256.
            Proxy::Kripke | Proxy::Laghos | Proxy::Amg | Proxy::MiniAmr => {
                let [short, middle, long] = grid::cube(ranks);
                [long, middle, short]
            }
            // Least surface; the first of equal ones.
            Proxy::ExaMiniMd => grid::cube(ranks),
            Proxy::Sw4lite => {
                let [short, long] = grid::square(ranks);
                [short, long, 1]
            }
            // Cut into halves along z, y and x in turn.
            Proxy::MiniFe => {
                let mut sides = [1; 3];
                let mut left = ranks;
                for dimension in [2, 1, 0].into_iter().cycle() {
                    let parts = super::layout::largest_prime_factor(left);
                    if parts == 1 {
                        break;
                    }
                    sides[dimension] *= parts;
                    left /= parts;
                }
                sides
            }
        }
    }

    fn layout(self, sides: [u32; 3]) -> Layout {
        let order = match self {
            Proxy::Kripke | Proxy::Sw4lite => Order::LastFastest,
            Proxy::Laghos | Proxy::Amg | Proxy::ExaMiniMd => Order::FirstFastest,
            Proxy::MiniFe => Order::CutInTurn,
            Proxy::MiniAmr => Order::CutLongest,
        };
        Layout {
            sides,
            order,
            periodic: self == Proxy::ExaMiniMd,
        }
    }

    /// After so many steps the same units follow again.
    fn period(self) -> u32 {
        match self {
            Proxy::ExaMiniMd => MD_REBUILD_EVERY,
            Proxy::MiniAmr => AMR_REFINE_EVERY,
            _ => 1,
        }
    }

    /// Parts of a step that are made one after the other.
    pub(super) fn units_per_step(self) -> u32 {
        match self {
            // Before the sweep, its tasks, after it.
            Proxy::Kripke => SWEEP_TASKS + 2,
            Proxy::Laghos => LAGHOS_STAGES * (LAGHOS_CG + 1) + 1,
            // The set-up, and of each solve its beginning, its iterations and its end.
            Proxy::Amg => 1 + GMRES.iter().map(|iterations| iterations + 2).sum::<u32>(),
            // The atoms, and the output.
            Proxy::ExaMiniMd => 2,
            Proxy::Sw4lite | Proxy::MiniFe => 1,
            // The stages, and the refinement.
            Proxy::MiniAmr => AMR_STAGES + 1,
        }
    }

    /// What a part of a step is: parts of one number have the same operations.
    pub(super) fn unit(self, step: u32, part: u32) -> u32 {
        match self {
            Proxy::Kripke | Proxy::Sw4lite | Proxy::MiniFe => part,
            Proxy::Laghos => match (part / (LAGHOS_CG + 1), part % (LAGHOS_CG + 1)) {
                (LAGHOS_STAGES, _) => LAGHOS_ESTIMATE,
                (_, 0) => LAGHOS_BEGIN,
                (_, LAGHOS_CG) => LAGHOS_END,
                _ => LAGHOS_ITERATION,
            },
            Proxy::Amg => {
                let Some(mut part) = part.checked_sub(1) else {
                    return AMG_SETUP;
                };
                for iterations in GMRES {
                    if part < iterations + 2 {
                        return match part {
                            0 => AMG_BEGIN,
                            part if part > iterations => AMG_END,
                            // As many dot products as there are directions so far.
                            part => part,
                        };
                    }
                    part -= iterations + 2;
                }
                unreachable!("a step has no such part")
            }
            Proxy::ExaMiniMd => match part {
                0 if (step + 1).is_multiple_of(MD_REBUILD_EVERY) => MD_REBUILD,
                0 => MD_STEP,
                _ if (step + 1).is_multiple_of(MD_OUTPUT_EVERY) => MD_OUTPUT,
                _ => MD_NOTHING,
            },
            Proxy::MiniAmr => match part {
                AMR_STAGES if (step + 1).is_multiple_of(AMR_REFINE_EVERY) => AMR_REFINE,
                AMR_STAGES => AMR_NOTHING,
                stage if stage % AMR_CHECKSUM_EVERY == 0 => AMR_CHECKED,
                _ => AMR_STAGE,
            },
        }
    }

    /// One unit of each kind, and how many there are of it in so many steps.
    pub(super) fn unit_kinds(self, steps: u32) -> Vec<(u32, u64)> {
        let mut counts = std::collections::BTreeMap::new();
        for step in 0..self.period().min(steps) {
            let alike = u64::from((steps - 1 - step) / self.period()) + 1;
            for part in 0..self.units_per_step() {
                *counts.entry(self.unit(step, part)).or_insert(0) += alike;
            }
        }
        counts.into_iter().collect()
    }

    /// What a rank does in a unit.
    pub(super) fn actions(self, rank: u32, sides: [u32; 3], unit: u32, actions: &mut Vec<Action>) {
        let layout = self.layout(sides);
        let mut script = Script {
            layout,
            rank,
            at: layout.at(rank),
            actions,
        };
        match self {
            Proxy::Kripke => kripke(&mut script, unit),
            Proxy::Laghos => laghos(&mut script, unit),
            Proxy::Amg => amg(&mut script, unit),
            Proxy::ExaMiniMd => examinimd(&mut script, unit),
            Proxy::Sw4lite => sw4lite(&mut script),
            Proxy::MiniFe => minife(&mut script),
            Proxy::MiniAmr => miniamr(&mut script, unit),
        }
    }

    /// Ranks that may have to compute one after the other in one step.
    pub(super) fn longest_chain(self, sides: [u32; 3]) -> u32 {
        match self {
            Proxy::Kripke => sides.iter().sum(),
            _ => 1,
        }
    }
}

/// Writes down what a rank does.
struct Script<'a> {
    layout: Layout,
    rank: u32,
    /// Its coordinates.
    at: [u32; 3],
    actions: &'a mut Vec<Action>,
}

impl Script<'_> {
    fn ranks(&self) -> u32 {
        self.layout.sides.iter().product()
    }

    fn calc(&mut self, ns: u64) {
        self.actions.push(Action::Calc(ns));
    }

    /// Adds up, or takes the least or the greatest, over all ranks.
    fn all_reduce(&mut self, bytes: u64) {
        let element = if bytes.is_multiple_of(8) { 8 } else { 4 };
        let world = Group::world(self.ranks());
        self.actions
            .push(collective(Collective::AllReduce { bytes, element }, world));
    }

    /// Posts receives from all `from`, sends to all `to`, and waits: places relative to the rank, and
    /// bytes.
    fn exchange(
        &mut self,
        from: impl Iterator<Item = ([i32; 3], u64)>,
        to: impl Iterator<Item = ([i32; 3], u64)>,
    ) {
        for (by, bytes) in from {
            if let Some(from) = self.layout.neighbour(self.rank, by) {
                let tag = tag(by.map(|by| -by));
                self.actions.push(Action::Irecv { from, bytes, tag });
            }
        }
        for (by, bytes) in to {
            if let Some(to) = self.layout.neighbour(self.rank, by) {
                let tag = tag(by);
                self.actions.push(Action::Send { to, bytes, tag });
            }
        }
        self.actions.push(Action::WaitAll);
    }

    /// The same both ways with all places whose `bytes` are not 0, of up to `reach` in each dimension.
    fn halo(&mut self, reach: i32, bytes: impl Fn([i32; 3]) -> u64) {
        let width = 2 * reach + 1;
        let places = (0..width.pow(3)).map(|k| {
            [
                k % width - reach,
                k / width % width - reach,
                k / width / width - reach,
            ]
        });
        let all: Vec<_> = (places.map(|by| (by, bytes(by))))
            .filter(|&(by, bytes)| by != [0; 3] && bytes > 0)
            .collect();
        self.exchange(all.iter().copied(), all.iter().copied());
    }

    /// Both neighbours in a dimension.
    fn axis(&mut self, dimension: usize, bytes: u64) {
        let both = [-1, 1].map(|side| (along(dimension, side), bytes));
        self.exchange(both.into_iter(), both.into_iter());
    }

    /// Sends to one side of a dimension, and receives from the other.
    fn shift(&mut self, dimension: usize, to: i32, bytes: u64) {
        let from = along(dimension, -to);
        let to = along(dimension, to);
        self.exchange([(from, bytes)].into_iter(), [(to, bytes)].into_iter());
    }
}

fn along(dimension: usize, by: i32) -> [i32; 3] {
    let mut place = [0; 3];
    place[dimension] = by;
    place
}

/// Of a message to the rank at this place from the sender, which may be some ranks away.
fn tag(by: [i32; 3]) -> u32 {
    let digit = |by: i32| (by + 16) as u32;
    (digit(by[0]) * 32 + digit(by[1])) * 32 + digit(by[2])
}

/// A share of a time.
fn share(ns: u64, part: f64) -> u64 {
    (ns as f64 * part).round() as u64
}

// Kripke: `-procs 8,8,4 -zones 256,256,128 -quad 16 -niter 1`: 32^3 zones a rank. Defaults: 32 groups in
// two sets, 16 directions in eight sets, one of each octant.

/// Two sets of groups times eight of directions.
const SWEEP_TASKS: u32 = 16;
/// A face of 32 x 32 zones, two directions, 16 groups, 8 bytes.
const KRIPKE_FACE: u64 = 32 * 32 * 2 * 16 * 8;
/// What a rank computes in an iteration; the rest of the paper's time it waits for other ranks in the
/// sweep. Shares by floating point operations: **ours**.
const KRIPKE_CALC_NS: u64 = 4_750_000_000;
const KRIPKE_BEFORE: f64 = 0.79;
const KRIPKE_SWEEP: f64 = 0.19;
const KRIPKE_AFTER: f64 = 0.02;

fn kripke(script: &mut Script, unit: u32) {
    const AFTER: u32 = SWEEP_TASKS + 1;
    match unit {
        0 => script.calc(share(KRIPKE_CALC_NS, KRIPKE_BEFORE)),
        AFTER => {
            script.calc(share(KRIPKE_CALC_NS, KRIPKE_AFTER));
            script.all_reduce(8);
        }
        task => {
            let (_, groups, octant) =
                sweep_order(script.at, script.layout.sides)[task as usize - 1];
            let upwind = |dimension: usize| if octant >> dimension & 1 == 1 { -1 } else { 1 };
            let tag = 8 * groups + octant;
            let near = |script: &Script, dimension: usize, towards: i32| {
                let by = along(dimension, towards * upwind(dimension));
                script.layout.neighbour(script.rank, by)
            };
            let bytes = KRIPKE_FACE;
            for dimension in 0..3 {
                if let Some(from) = near(script, dimension, 1) {
                    script.actions.push(Action::Recv { from, bytes, tag });
                }
            }
            script.calc(share(KRIPKE_CALC_NS, KRIPKE_SWEEP / f64::from(SWEEP_TASKS)));
            for dimension in 0..3 {
                if let Some(to) = near(script, dimension, -1) {
                    script.actions.push(Action::Send { to, bytes, tag });
                }
            }
        }
    }
}

/// The tasks of a rank: the time, the set of groups and the octant of each. Kripke computes what is ready. Here
/// a rank takes its tasks in the order in which they would be ready if all took one unit of time and none
/// had to wait for another of the same rank: **ours**. No ranks can wait for each other in a ring, as
/// what a task waits for has an earlier time.
fn sweep_order(at: [u32; 3], sides: [u32; 3]) -> Vec<(u32, u32, u32)> {
    let mut tasks: Vec<_> = (0..SWEEP_TASKS)
        .map(|task| {
            let (groups, octant) = (task / 8, task % 8);
            let from_corner: u32 = (0..3)
                .map(|dimension| match octant >> dimension & 1 {
                    1 => at[dimension],
                    _ => sides[dimension] - 1 - at[dimension],
                })
                .sum();
            (from_corner + groups, groups, octant)
        })
        .collect();
    tasks.sort_unstable();
    tasks
}

// Laghos: `-pt 221 -pa -p 1 -tf 0.6 -no-vis -m cube01_hex.mesh -cg-max-steps 50 -max steps 4 -ok 2 -ot 1 -rs 3
// -rp 2`: 64^3 zones for 256 ranks with elements of second order. A time step has four Runge-Kutta stages; each
// solves for the velocities. The input has four steps, the trace "a single iteration of the main computational
// loop" (IV.C), whose time is taken to be that of Table VIII.

const LAGHOS_STAGES: u32 = 4;
/// Iterations of a solve. **Ours**: the tolerance of 1e-8 takes 24 to 29 with such a matrix, 50 is the
/// most.
const LAGHOS_CG: u32 = 30;
const LAGHOS_BEGIN: u32 = 0;
const LAGHOS_ITERATION: u32 = 1;
const LAGHOS_END: u32 = 2;
const LAGHOS_ESTIMATE: u32 = 3;
/// Zones of each dimension with 256 ranks.
const LAGHOS_ZONES: u32 = 64;
/// Three components of 8 bytes.
const LAGHOS_NODE: u64 = 24;
/// Shares of a step by the rates that Laghos reports: matrices times vectors in the solves, their vectors,
/// quadrature data, forces and energies. **Ours.**
const LAGHOS_OPERATORS: f64 = 0.45;
const LAGHOS_VECTORS: f64 = 0.05;
const LAGHOS_QUADRATURE: f64 = 0.43;
const LAGHOS_FORCES: f64 = 0.07;

/// Zones of each dimension: the mesh is refined for every eightfold number of ranks ("mixed" scaling,
/// Georgakoudis Table VIII; how it is mixed is **ours**).
fn laghos_zones(ranks: u32) -> u32 {
    let mut zones = LAGHOS_ZONES;
    let mut most = TRACED_RANKS;
    while ranks > most && zones < 1 << 20 {
        (zones, most) = (2 * zones, most.saturating_mul(8));
    }
    while ranks <= most / 8 && zones > 1 {
        (zones, most) = (zones / 2, most / 8);
    }
    zones
}

fn laghos(script: &mut Script, unit: u32) {
    let ranks = script.ranks();
    let zones = laghos_zones(ranks);
    // Zones of a rank compared with those of 256 ranks.
    let size = (f64::from(zones) / f64::from(LAGHOS_ZONES)).powi(3) * f64::from(TRACED_RANKS)
        / f64::from(ranks);
    let work = |part: f64, times: u32| share(LAGHOS_NS, part * size / f64::from(times));
    let operators = LAGHOS_STAGES * (LAGHOS_CG + 2);
    let operator = work(LAGHOS_OPERATORS, operators);
    let vectors = work(LAGHOS_VECTORS, LAGHOS_STAGES * LAGHOS_CG);
    // The nodes of the second order that a rank owns: those that it shares belong to the lowest rank.
    let own: [u64; 3] = std::array::from_fn(|dimension| {
        let nodes = 2 * u64::from(zones);
        let (at, side) = (
            u64::from(script.at[dimension]),
            u64::from(script.layout.sides[dimension]),
        );
        let before = |place: u64| nodes * place / side;
        before(at + 1) - before(at) + u64::from(at == 0)
    });
    let shared = |by: [i32; 3]| {
        let nodes = (0..3).filter(|&dimension| by[dimension] == 0);
        LAGHOS_NODE
            * nodes
                .map(|dimension| own[dimension].max(1))
                .product::<u64>()
    };
    let above = (1..8).map(|k: i32| [k & 1, k >> 1 & 1, k >> 2 & 1]);
    let up = above.map(|by| (by, shared(by)));
    let down = up.clone().map(|(by, bytes)| (by.map(|by| -by), bytes));
    // From the owners to those that share, and back.
    let hand_out = |script: &mut Script| script.exchange(down.clone(), up.clone());
    let add_up = |script: &mut Script| script.exchange(up.clone(), down.clone());
    let multiply = |script: &mut Script| {
        hand_out(script);
        script.calc(operator);
        add_up(script);
    };
    match unit {
        LAGHOS_BEGIN => {
            script.calc(work(LAGHOS_QUADRATURE, LAGHOS_STAGES));
            script.calc(work(LAGHOS_FORCES / 2.0, LAGHOS_STAGES));
            add_up(script);
            multiply(script);
            multiply(script);
            script.all_reduce(8);
            multiply(script);
            script.all_reduce(8);
        }
        LAGHOS_ITERATION => {
            script.calc(vectors);
            script.all_reduce(8);
            multiply(script);
            script.all_reduce(8);
        }
        LAGHOS_END => {
            script.calc(vectors);
            script.all_reduce(8);
            hand_out(script);
            script.calc(work(LAGHOS_FORCES / 2.0, LAGHOS_STAGES));
        }
        _ => script.all_reduce(8),
    }
}

// AMG: `-problem 2 -n 32 32 32 -P 8 8 4`: a stencil of 27 points on 32^3 rows a rank. The iteration of the
// main loop sets the solver up and solves five times with GMRES and a V-cycle of BoomerAMG.

/// Iterations of each solve. The first is the mean of published runs, the others are fixed in the source.
const GMRES: [u32; 5] = [18, 6, 5, 4, 3];
const AMG_BEGIN: u32 = 0;
const AMG_SETUP: u32 = 100;
const AMG_END: u32 = 101;
/// A level of the V-cycle. Sizes from the second on are extrapolated from the table in AMG's
/// documentation: **ours**.
struct Level {
    /// Cells of the first level that a row of this one reaches.
    radius: f64,
    /// Bytes to a rank beyond a face, an edge and a corner, and to one that is further away.
    bytes: [u64; 4],
    /// Time of a multiplication compared with the first level.
    work: f64,
}
const LEVELS: [Level; 5] = [
    Level {
        radius: 1.0,
        bytes: [8192, 256, 8, 0],
        work: 1.0,
    },
    Level {
        radius: 7.5,
        bytes: [700, 130, 24, 0],
        work: 0.013,
    },
    Level {
        radius: 22.0,
        bytes: [370, 210, 120, 0],
        work: 0.008,
    },
    Level {
        radius: 52.0,
        bytes: [88, 88, 88, 48],
        work: 0.0006,
    },
    Level {
        radius: 124.0,
        bytes: [8, 8, 8, 8],
        work: 0.0006,
    },
];
/// Rows of a rank on one side.
const AMG_SIDE: f64 = 32.0;
/// The set-up's share of the time: **ours**.
const AMG_SETTING_UP: f64 = 0.18;
/// Rounds of the set-up of a level, each with three exchanges of integers and a reduction: **ours**.
const AMG_ROUNDS: u32 = 9;
/// A row of a matrix: 25 entries with their columns, for each value of 8 bytes.
const AMG_ROW: f64 = 25.0 * 12.0 / 8.0;
/// A dot product, and an addition of two vectors, compared with a multiplication on the first level.
const AMG_VECTOR: f64 = 0.06;
/// An interpolation or a restriction, compared with a multiplication on the finer level.
const AMG_BETWEEN: f64 = 0.35;

/// An exchange on a level with `part` of its bytes. Ranks have neighbours where rows reach them.
fn amg_exchange(script: &mut Script, level: &Level, radius: f64, part: f64) {
    // Rows of ranks beside each other touch.
    let reach = 1 + (radius / AMG_SIDE) as i32;
    script.halo(reach, |by| {
        let apart = by.map(|by| AMG_SIDE * f64::from((by.abs() - 1).max(0)));
        let distance = apart.iter().map(|it| it * it).sum::<f64>().sqrt();
        let beside = by.iter().all(|by| by.abs() <= 1);
        let bytes = match beside {
            true => level.bytes[by.iter().filter(|by| **by != 0).count().max(1) - 1],
            false if distance < radius => level.bytes[3],
            false => 0,
        };
        (bytes as f64 * part).ceil() as u64
    });
}

/// From a level to the next coarser one, or back.
fn amg_between(script: &mut Script, level: usize) {
    let coarser = &LEVELS[level + 1];
    let (radius, part) = match level {
        0 => (1.0, 0.8),
        1 | 2 => (1.0, 0.6),
        _ => (coarser.radius / 2.0, 1.0),
    };
    amg_exchange(script, coarser, radius, part);
}

fn amg(script: &mut Script, unit: u32) {
    // Multiplications on the first level that all of a step takes, set-up aside.
    let iterations: u32 = GMRES.iter().sum();
    let solves = GMRES.len() as u32;
    let cycles = f64::from(iterations + solves);
    let of_cycle: f64 = LEVELS
        .iter()
        .enumerate()
        .map(|(place, level)| match place + 1 == LEVELS.len() {
            true => level.work,
            false => (5.0 + 2.0 * AMG_BETWEEN) * level.work,
        })
        .sum();
    let vectors: u32 = GMRES.iter().map(|n| n * (n + 3) / 2 + 2).sum();
    let all = cycles * (of_cycle + 1.0) + 2.0 * AMG_VECTOR * f64::from(vectors);
    let one = AMG_NS as f64 * (1.0 - AMG_SETTING_UP) / all;
    let times = |work: f64| (one * work).round() as u64;

    let multiply = |script: &mut Script, level: usize| {
        amg_exchange(script, &LEVELS[level], LEVELS[level].radius, 1.0);
        script.calc(times(LEVELS[level].work));
    };
    let coarsest = LEVELS.len() - 1;
    let cycle = |script: &mut Script| {
        for (level, of) in LEVELS[..coarsest].iter().enumerate() {
            // Two sweeps, and the residual.
            (0..3).for_each(|_| multiply(script, level));
            amg_between(script, level);
            script.calc(times(AMG_BETWEEN * of.work));
        }
        multiply(script, coarsest);
        for (level, of) in LEVELS[..coarsest].iter().enumerate().rev() {
            amg_between(script, level);
            script.calc(times(AMG_BETWEEN * of.work));
            (0..2).for_each(|_| multiply(script, level));
        }
    };
    let dot_products = |script: &mut Script, count: u32| {
        for _ in 0..count {
            script.calc(times(2.0 * AMG_VECTOR));
            script.all_reduce(8);
        }
    };
    match unit {
        AMG_SETUP => {
            let exchanges = LEVELS.len() as u32 * AMG_ROUNDS;
            for level in &LEVELS {
                for _ in 0..AMG_ROUNDS {
                    script.calc(share(AMG_NS, AMG_SETTING_UP / f64::from(exchanges)));
                    for _ in 0..3 {
                        amg_exchange(script, level, level.radius, 0.5);
                    }
                    script.all_reduce(4);
                }
                amg_exchange(script, level, level.radius, AMG_ROW);
            }
        }
        AMG_BEGIN => {
            multiply(script, 0);
            dot_products(script, 2);
        }
        AMG_END => cycle(script),
        directions => {
            cycle(script);
            multiply(script, 0);
            dot_products(script, directions + 1);
        }
    }
}

// ExaMiniMD: 100^3 cells of four atoms, the Lennard-Jones input that it comes with: cutoff 2.5 and skin 0.3,
// neighbour lists every 20 steps, output every 10.

const MD_STEP: u32 = 0;
const MD_REBUILD: u32 = 1;
const MD_OUTPUT: u32 = 2;
const MD_NOTHING: u32 = 3;
const MD_REBUILD_EVERY: u32 = 20;
const MD_OUTPUT_EVERY: u32 = 10;
/// Atoms in a unit of volume, and the length of a side.
const MD_DENSITY: f64 = 0.8442;
const MD_SIDE: f64 = 167.96;
/// As far as atoms see each other.
const MD_REACH: f64 = 2.8;
/// A place, and an atom as a whole.
const MD_PLACE: f64 = 24.0;
const MD_ATOM: f64 = 72.0;
/// Thickness of the layer that atoms leave a rank from in 20 steps: **ours**, from their speed.
const MD_LEAVING: f64 = 0.028;
/// Shares of 100 steps by their work: **ours**. Forces and motion in each, neighbour lists in every
/// 20th, energies in every 10th.
const MD_FORCES: f64 = 0.0082;
const MD_MOTION: f64 = 0.0003;
const MD_LISTS: f64 = 0.0186;
const MD_ENERGIES: f64 = 0.0057;

fn examinimd(script: &mut Script, unit: u32) {
    let size = f64::from(TRACED_RANKS) / f64::from(script.ranks());
    let work = |part: f64| share(EXAMINIMD_NS, part * size);
    // Atoms beyond a face: those of the dimensions before have come with their neighbours.
    let length = script.layout.sides.map(|side| MD_SIDE / f64::from(side));
    let width = |dimension: usize, before: bool| {
        length[dimension] + if before { 2.0 * MD_REACH } else { 0.0 }
    };
    let areas = [
        width(1, false) * width(2, false),
        width(0, true) * width(2, false),
        width(0, true) * width(1, true),
    ];
    let atoms = |dimension: usize, depth: f64| MD_DENSITY * depth * areas[dimension];
    let bytes = |atoms: f64, each: f64| ((atoms.round() * each) as u64).max(1);
    let sides = (0..3).flat_map(|dimension| [(dimension, 1), (dimension, -1)]);
    match unit {
        MD_STEP => {
            script.calc(work(MD_MOTION / 2.0));
            for (dimension, to) in sides {
                script.shift(dimension, to, bytes(atoms(dimension, MD_REACH), MD_PLACE));
            }
            script.calc(work(MD_FORCES + MD_MOTION / 2.0));
        }
        MD_REBUILD => {
            script.calc(work(MD_MOTION / 2.0));
            for depth in [MD_LEAVING, MD_REACH] {
                for (dimension, to) in sides.clone() {
                    // Their number first.
                    script.shift(dimension, to, 4);
                    script.shift(dimension, to, bytes(atoms(dimension, depth), MD_ATOM));
                }
            }
            script.calc(work(MD_LISTS + MD_FORCES + MD_MOTION / 2.0));
        }
        MD_OUTPUT => {
            script.all_reduce(8);
            script.calc(work(MD_ENERGIES));
            script.all_reduce(8);
            script.all_reduce(8);
        }
        _ => {}
    }
}

// SW4lite: x = 1, y = 1, z = 1.5, h = 0.00226: the topography example, which has two grids one above the
// other. Ranks divide x and y, each has all of z.

const SW4_SPACING: f64 = 0.00226;
/// Thickness of the border between two ranks, on either side.
const SW4_GHOSTS: u64 = 2;
/// Shares by the work of predictor and corrector: **ours**.
const SW4_PREDICTOR: f64 = 0.45;
const SW4_CORRECTOR: f64 = 0.53;
const SW4_REST: f64 = 0.02;

fn sw4lite(script: &mut Script) {
    // As many points for each rank (weak scaling).
    let spacing = SW4_SPACING * (f64::from(TRACED_RANKS) / f64::from(script.ranks())).cbrt();
    let points = |length: f64| (length / spacing).round() as u64 + 1;
    // Where the spacing does not divide the length there is one point more.
    let (across, deep) = (points(1.0) + 1, points(1.5) + 1);
    // The grid that is curved to the ground begins in a depth of 1, and is 1.05 deep on the mean.
    let flat = ((deep - 1) as f64 * spacing - 1.0).max(0.0);
    let depths = [points(flat), points(1.05)].map(|points| points + 2 * SW4_GHOSTS);
    let own = |dimension: usize| {
        let side = u64::from(script.layout.sides[dimension]);
        let at = u64::from(script.at[dimension]);
        let all = across + 2 * SW4_GHOSTS + (side - 1) * 2 * SW4_GHOSTS;
        all / side + u64::from(at < all % side)
    };
    let face = [own(1), own(0)].map(|points| 3 * 8 * SW4_GHOSTS * points);
    for part in [SW4_PREDICTOR, SW4_CORRECTOR] {
        script.calc(share(SW4LITE_NS, part));
        for depth in depths {
            for (dimension, bytes) in face.into_iter().enumerate() {
                script.shift(dimension, 1, bytes * depth);
                script.shift(dimension, -1, bytes * depth);
            }
        }
    }
    script.calc(share(SW4LITE_NS, SW4_REST));
    script.all_reduce(8);
}

// miniFE: `-nx 512 -ny 512 -nz 256`: 200 iterations of conjugate gradients. A step here is one of them.

/// Elements of a rank in each dimension.
const FE_ELEMENTS: [u64; 3] = [128, 64, 32];
/// Shares of an iteration by the memory that each part reads: **ours**.
const FE_DOT: f64 = 0.03;
const FE_DIRECTION: f64 = 0.04;
const FE_PACKING: f64 = 0.01;
const FE_MATRIX: f64 = 0.80;
const FE_UPDATE: f64 = 0.09;

fn minife(script: &mut Script) {
    let work = |part: f64| share(MINIFE_NS, part / f64::from(Proxy::MiniFe.steps()));
    let (at, sides) = (script.at, script.layout.sides);
    // The last rank of a row has the nodes at the border, too.
    let own: [u64; 3] = std::array::from_fn(|dimension| {
        FE_ELEMENTS[dimension] + u64::from(at[dimension] + 1 == sides[dimension])
    });
    script.calc(work(FE_DOT));
    script.all_reduce(8);
    script.calc(work(FE_DIRECTION + FE_PACKING));
    script.halo(1, |by| {
        let nodes = (0..3).filter(|&dimension| by[dimension] == 0);
        8 * nodes.map(|dimension| own[dimension]).product::<u64>()
    });
    script.calc(work(FE_MATRIX + FE_DOT));
    script.all_reduce(8);
    script.calc(work(FE_UPDATE));
}

// miniAMR: `-npx 8 -npy 8 -npz 4 -nx 8 -ny 8 -nz 8`: a block of 8^3 cells with 40 variables a rank, 20 stages in
// a time step. There is no object, so that nothing is ever refined.

const AMR_STAGES: u32 = 20;
const AMR_CHECKSUM_EVERY: u32 = 5;
const AMR_REFINE_EVERY: u32 = 5;
const AMR_VARIABLES: u32 = 40;
const AMR_STAGE: u32 = 0;
const AMR_CHECKED: u32 = 1;
const AMR_REFINE: u32 = 2;
const AMR_NOTHING: u32 = 3;
/// A face of 8 x 8 cells, 40 variables of 8 bytes.
const AMR_FACE: u64 = 8 * 8 * 40 * 8;
/// Packing and unpacking of each dimension: **ours**.
const AMR_PACKING: f64 = 0.05;
const AMR_STENCIL: f64 = 0.85;
/// The reductions of a refinement that finds nothing to refine: how many, and bytes; 0 stands for four of
/// each rank.
const AMR_REDUCTIONS: [(u32, u64); 4] = [(30, 4), (10, 0), (6, 48), (3, 20)];
/// Exchanges of the wanted refinement with all neighbours.
const AMR_REFINEMENTS: u32 = 10;

fn miniamr(script: &mut Script, unit: u32) {
    let stages = AMR_STAGES * Proxy::MiniAmr.steps();
    let work = |part: f64| share(MINIAMR_NS, part / f64::from(stages));
    match unit {
        AMR_STAGE | AMR_CHECKED => {
            for dimension in 0..3 {
                script.calc(work(AMR_PACKING));
                script.axis(dimension, AMR_FACE);
            }
            if unit == AMR_STAGE {
                script.calc(work(AMR_STENCIL));
                return;
            }
            // Each variable is added up when it is done.
            for _ in 0..AMR_VARIABLES {
                script.calc(work(AMR_STENCIL / f64::from(AMR_VARIABLES)));
                script.all_reduce(8);
            }
        }
        AMR_REFINE => {
            for _ in 0..AMR_REFINEMENTS {
                (0..3).for_each(|dimension| script.axis(dimension, 4));
            }
            for (times, bytes) in AMR_REDUCTIONS {
                let bytes = match bytes {
                    0 => 4 * u64::from(script.ranks()),
                    bytes => bytes,
                };
                (0..times).for_each(|_| script.all_reduce(bytes));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
