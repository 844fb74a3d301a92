//! The programs: what each rank does, and which trace says so.
//!
//! "LJ r64" is `lammps-lj-r64-s100` (LAMMPS, Lennard-Jones melt, 64 ranks with 4000 atoms each),
//! "peptide r64" is `lammps-peptide-r64-s20` (LAMMPS, solvated peptide with PPPM), "AlexNet
//! bucket" and "AlexNet layer" are `alexnet-dp-bucket-r8-i3` and `alexnet-dp-layer-r8-i3`
//! (data-parallel training on 8 ranks), "sphot" is LogGOPSim2's `sphot` (a Monte Carlo transport
//! code on 4 ranks). The applications of [`proxies`](super::proxies) are no traces. `linkdoze trace fit` prints the figures from the files; `docs/how/traffic.md`
//! lists them. Computing times are medians.

use super::super::trace::collectives::{Blocks, Collective, RING_BYTES};
use super::action::{collective, Action, Group};
use super::grid;
use super::proxies::Proxy;

/// A part of a program; parts with the same number have the same operations on a rank, but for
/// how long it computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::network) struct Unit(u32);

/// What tells one program from another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Molecular dynamics: six exchanges with neighbours forth and six back in each step.
    Lammps {
        /// Ranks in each dimension.
        grid: [u32; 3],
        /// Atoms of each rank: times grow with it, messages with its power of 2/3.
        atoms_per_rank: u32,
        /// Steps from one output, which adds up over all ranks, to the next.
        output_every: u32,
    },
    /// A Fourier transform in three dimensions: transposes in rows and in columns of a grid.
    Fft {
        /// Columns and rows.
        grid: [u32; 2],
        /// Of each message of a transpose.
        message_bytes: u64,
        /// Computing of a step beside the transforms.
        calc_ns: u64,
    },
    /// Data-parallel training: the gradients are added up over all ranks.
    AllreduceRing {
        /// How they are handed over.
        gradients: Gradients,
        /// All of them together.
        gradient_bytes: u64,
    },
    /// The same within groups, then between them.
    AllreduceHierarchical {
        /// How they are handed over.
        gradients: Gradients,
        /// All of them together.
        gradient_bytes: u64,
        /// Ranks of a group.
        group: u32,
    },
    /// Monte Carlo transport: all get the data, compute for long, and add up what they found.
    Patmos {
        /// How long.
        calc_ns: u64,
    },
    /// A stencil: exchanges with all neighbours at once.
    Halo3d {
        /// Ranks in each dimension.
        grid: [u32; 3],
        /// 6 (faces) or 26 (edges and corners as well).
        neighbours: u32,
        /// Of a message over a face.
        message_bytes: u64,
        /// Computing of a step.
        calc_ns: u64,
    },
    /// Discrete ordinates transport: wavefronts from each corner of a grid.
    Sweep3d {
        /// Columns and rows.
        grid: [u32; 2],
        /// Blocks that a rank computes one after the other in each of the eight sweeps.
        blocks: u32,
        /// What a block hands on to each of two neighbours.
        message_bytes: u64,
        /// Computing of a block.
        calc_ns: u64,
    },
    /// An application of Georgakoudis Table VIII.
    Proxy {
        /// Which one.
        proxy: Proxy,
        /// Ranks in each dimension.
        grid: [u32; 3],
    },
}

/// How gradients are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gradients {
    /// In three buckets.
    Buckets,
    /// Weights and bias of each layer by themselves.
    Layers,
}

impl Gradients {
    /// All, in the order of their names.
    pub const ALL: [Gradients; 2] = [Gradients::Buckets, Gradients::Layers];

    /// The name in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Gradients::Buckets => "buckets",
            Gradients::Layers => "layers",
        }
    }

    /// Each with the computing before it.
    fn list(self) -> &'static [Gradient] {
        match self {
            Gradients::Buckets => &BUCKETS,
            Gradients::Layers => &LAYERS,
        }
    }
}

/// The names of the programs in a scenario.
pub const PROGRAMS: [&str; 14] = [
    "lammps",
    "fft",
    "allreduce-ring",
    "allreduce-hierarchical",
    "patmos",
    "halo3d",
    "sweep3d",
    "kripke",
    "laghos",
    "amg",
    "examinimd",
    "sw4lite",
    "minife",
    "miniamr",
];

/// A program for some ranks and steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Which one.
    pub kind: Kind,
    /// At least 1; of programs with a grid as many as the grid has.
    pub ranks: u32,
    /// At least 1.
    pub steps: u32,
    /// Spread of the logarithm of computing times, in millionths; 0: none.
    pub jitter_millionths: u64,
}

/// Two messages: one from the neighbour on one side, one of the same size to that on the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::network) struct Exchange {
    /// Dimension of the grid.
    pub(in crate::network) dimension: usize,
    /// Which side is sent to.
    pub(in crate::network) to: i32,
    pub(in crate::network) bytes: u64,
    /// Computing before the receive is posted, and before the message is sent.
    pub(in crate::network) before_recv_ns: u64,
    pub(in crate::network) before_send_ns: u64,
}

const fn exchange(
    dimension: usize,
    to: i32,
    bytes: u64,
    before_recv_ns: u64,
    before_send_ns: u64,
) -> Exchange {
    Exchange {
        dimension,
        to,
        bytes,
        before_recv_ns,
        before_send_ns,
    }
}

/// Atoms of each rank in LJ r64.
pub(in crate::network) const LAMMPS_ATOMS: u32 = 4000;
/// LJ r64: a step computes the forces, hands those on ghost atoms back, moves the atoms, and hands
/// their places on. The first time is that of the forces.
pub(in crate::network) const LAMMPS_STEP: [Exchange; 12] = [
    exchange(2, -1, 30_264, 1_097_218, 311),
    exchange(2, 1, 30_432, 12_329, 291),
    exchange(1, -1, 22_512, 10_636, 281),
    exchange(1, 1, 22_560, 11_118, 261),
    exchange(0, -1, 16_632, 9_084, 231),
    exchange(0, 1, 16_776, 8_062, 231),
    exchange(0, -1, 16_776, 38_888, 2_113),
    exchange(0, 1, 16_632, 1_143, 6_180),
    exchange(1, -1, 22_560, 964, 6_741),
    exchange(1, 1, 22_512, 1_012, 7_302),
    exchange(2, -1, 30_432, 910, 6_090),
    exchange(2, 1, 30_264, 1_573, 8_273),
];
/// LJ r64: the steps from one rebuild of the neighbour lists to the next.
pub(in crate::network) const LAMMPS_REBUILD_EVERY: u32 = 20;
/// LJ r64: instead of handing places on, atoms that have left their block move to the neighbours,
/// and the ghost atoms are chosen anew; each with the number of atoms before.
pub(in crate::network) const LAMMPS_REBUILD: [Exchange; 24] = [
    exchange(0, -1, 4, 57_287, 0),
    exchange(0, 1, 4, 231, 0),
    exchange(0, -1, 3_344, 541, 211),
    exchange(0, 1, 3_344, 893, 181),
    exchange(1, -1, 4, 14_402, 0),
    exchange(1, 1, 4, 211, 0),
    exchange(1, -1, 3_432, 491, 201),
    exchange(1, 1, 3_432, 762, 171),
    exchange(2, -1, 4, 13_601, 0),
    exchange(2, 1, 4, 221, 0),
    exchange(2, -1, 3_432, 431, 191),
    exchange(2, 1, 3_432, 652, 141),
    exchange(0, -1, 4, 16_316, 0),
    exchange(0, -1, 33_456, 371, 181),
    exchange(0, 1, 4, 15_165, 0),
    exchange(0, 1, 33_360, 401, 201),
    exchange(1, -1, 4, 18_639, 0),
    exchange(1, -1, 44_976, 382, 221),
    exchange(1, 1, 4, 19_649, 0),
    exchange(1, 1, 45_120, 432, 231),
    exchange(2, -1, 4, 22_665, 0),
    exchange(2, -1, 60_768, 531, 271),
    exchange(2, 1, 4, 27_142, 0),
    exchange(2, 1, 60_672, 622, 321),
];
/// LJ r64: building the neighbour lists and computing the forces.
pub(in crate::network) const LAMMPS_BUILD_NS: u64 = 5_161_911;
/// LJ r64: an output adds up temperature, energies and pressure: computing in ns and bytes.
pub(in crate::network) const LAMMPS_OUTPUT: [(u64, u64); 5] = [
    (25_650, 16),
    (14_412, 8),
    (2_034, 8),
    (2_344, 24),
    (8_814, 8),
];
/// LJ r64: the steps from one output to the next.
pub(in crate::network) const LAMMPS_OUTPUT_EVERY: u32 = 50;
/// LJ r64: the spread of the logarithm of the time that the forces take, in millionths.
pub(in crate::network) const LAMMPS_JITTER: u64 = 77_000;

/// A vector that is added up over all ranks, and the computing before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::network) struct Gradient {
    pub(in crate::network) calc_ns: u64,
    pub(in crate::network) bytes: u64,
}

const fn gradient(calc_ns: u64, bytes: u64) -> Gradient {
    Gradient { calc_ns, bytes }
}

/// AlexNet bucket: gradients of the last bucket, which the first layers fill; the loss; then forward
/// and backward down to each other bucket's last layer.
pub(in crate::network) const BUCKETS: [Gradient; 4] = [
    gradient(92_216_288, 9_878_784),
    gradient(19_273_417, 8),
    gradient(84_128_503, 83_513_248),
    gradient(28_103_477, 151_011_328),
];
/// AlexNet layer: the same, by layer from the last to the first, weights and bias.
pub(in crate::network) const LAYERS: [Gradient; 17] = [
    gradient(73_681_907, 16_384_000),
    gradient(20_842, 4_000),
    gradient(12_308_900, 67_108_864),
    gradient(22_724, 16_384),
    gradient(28_930_043, 150_994_944),
    gradient(32_750, 16_384),
    gradient(14_709_601, 2_359_296),
    gradient(19_399, 1_024),
    gradient(21_749_472, 3_538_944),
    gradient(19_210, 1_024),
    gradient(15_126_593, 2_654_208),
    gradient(19_349, 1_536),
    gradient(43_072_173, 1_228_800),
    gradient(18_338, 768),
    gradient(5_685_261, 92_928),
    gradient(15_474, 256),
    gradient(21_826_027, 8),
];
/// AlexNet: its 61,100,840 parameters of 4 bytes.
pub(in crate::network) const GRADIENT_BYTES: u64 = 244_403_360;
/// AlexNet layer: the spread of the logarithm of the longest time of a step, in millionths.
pub(in crate::network) const ALEXNET_JITTER: u64 = 14_000;

/// Peptide r64: four transforms in a step of PPPM: one forth, three back, one for each dimension
/// of the field.
const FFT_TRANSFORMS: u32 = 4;
/// Peptide r64: computing before the first receive of a transpose is posted, and before each
/// message is sent.
pub(in crate::network) const FFT_BEFORE_NS: u64 = 8_797;
pub(in crate::network) const FFT_PACK_NS: u64 = 541;
/// Peptide r64: 3 x 3 x 4 points of 16 bytes.
pub(in crate::network) const FFT_MESSAGE: u64 = 576;
/// Peptide r64: the median of computations that are longer than 0.3 ms: forces.
pub(in crate::network) const FFT_CALC_NS: u64 = 901_135;

/// sphot: rank 0 hands its data on to all.
pub(in crate::network) const PATMOS_BROADCAST: u64 = 186_368;
/// PerfBound 4.5: PATMOS runs for 1290.64 s, and uses the network at the begin and the end only.
const PATMOS_CALC_NS: u64 = 1_290_640_000_000;
/// sphot: what is found is added up at rank 0 in two vectors.
pub(in crate::network) const PATMOS_REDUCE: [u64; 2] = [15_680, 4];

/// LJ r64: the middle one of its three sizes of messages.
const HALO_MESSAGE: u64 = LAMMPS_STEP[2].bytes;
/// LJ r64: the forces.
const HALO_CALC_NS: u64 = LAMMPS_STEP[0].before_recv_ns;

/// No trace: 50 cells by 10 planes by 3 angles of 8 bytes.
const SWEEP_MESSAGE: u64 = 12_000;
/// No trace: five blocks of ten planes, for each of two groups of angles.
const SWEEP_BLOCKS: u32 = 10;
/// No trace: 75,000 cells and angles in about 13 ns each.
const SWEEP_CALC_NS: u64 = 1_000_000;

impl Parameters {
    /// A program with the sizes of the traces.
    ///
    /// # Panics
    /// If `ranks` is 0, or there is no program of that name.
    pub fn new(program: &str, ranks: u32) -> Self {
        assert!(ranks > 0, "a program without ranks");
        let (kind, steps, jitter_millionths) = match program {
            "lammps" => (
                Kind::Lammps {
                    grid: grid::cube(ranks),
                    atoms_per_rank: LAMMPS_ATOMS,
                    output_every: LAMMPS_OUTPUT_EVERY,
                },
                100,
                LAMMPS_JITTER,
            ),
            "fft" => (
                Kind::Fft {
                    grid: grid::square(ranks),
                    message_bytes: FFT_MESSAGE,
                    calc_ns: FFT_CALC_NS,
                },
                20,
                LAMMPS_JITTER,
            ),
            "allreduce-ring" => (
                Kind::AllreduceRing {
                    gradients: Gradients::Buckets,
                    gradient_bytes: GRADIENT_BYTES,
                },
                3,
                ALEXNET_JITTER,
            ),
            "allreduce-hierarchical" => (
                Kind::AllreduceHierarchical {
                    gradients: Gradients::Buckets,
                    gradient_bytes: GRADIENT_BYTES,
                    group: grid::square(ranks)[0],
                },
                3,
                ALEXNET_JITTER,
            ),
            "patmos" => (
                Kind::Patmos {
                    calc_ns: PATMOS_CALC_NS,
                },
                1,
                0,
            ),
            "halo3d" => (
                Kind::Halo3d {
                    grid: grid::cube(ranks),
                    neighbours: 26,
                    message_bytes: HALO_MESSAGE,
                    calc_ns: HALO_CALC_NS,
                },
                100,
                LAMMPS_JITTER,
            ),
            "sweep3d" => (
                Kind::Sweep3d {
                    grid: grid::square(ranks),
                    blocks: SWEEP_BLOCKS,
                    message_bytes: SWEEP_MESSAGE,
                    calc_ns: SWEEP_CALC_NS,
                },
                10,
                LAMMPS_JITTER,
            ),
            _ => {
                let found = Proxy::ALL.into_iter().find(|proxy| proxy.name() == program);
                let proxy = found.unwrap_or_else(|| panic!("no program {program:?}"));
                let grid = proxy.grid(ranks);
                // Georgakoudis names no spread; a real one of much computing and little else.
                (Kind::Proxy { proxy, grid }, proxy.steps(), ALEXNET_JITTER)
            }
        };
        Self {
            kind,
            ranks,
            steps,
            jitter_millionths,
        }
    }

    /// The name in a scenario.
    pub fn name(&self) -> &'static str {
        let place = match self.kind {
            Kind::Lammps { .. } => 0,
            Kind::Fft { .. } => 1,
            Kind::AllreduceRing { .. } => 2,
            Kind::AllreduceHierarchical { .. } => 3,
            Kind::Patmos { .. } => 4,
            Kind::Halo3d { .. } => 5,
            Kind::Sweep3d { .. } => 6,
            Kind::Proxy { proxy, .. } => return proxy.name(),
        };
        PROGRAMS[place]
    }

    /// Spread of the logarithm of computing times.
    pub fn jitter(&self) -> f64 {
        self.jitter_millionths as f64 / 1e6
    }

    /// Units of each step.
    fn units_per_step(&self) -> u32 {
        match self.kind {
            // Back, the output, which few have, and forth.
            Kind::Lammps { .. } => 3,
            // The transposes, and the rest.
            Kind::Fft { .. } => 2 * FFT_TRANSFORMS + 1,
            Kind::AllreduceRing { gradients, .. }
            | Kind::AllreduceHierarchical { gradients, .. } => gradients.list().len() as u32,
            Kind::Patmos { .. } | Kind::Halo3d { .. } => 1,
            // The blocks, and the end of a step.
            Kind::Sweep3d { blocks, .. } => 8 * blocks + 1,
            Kind::Proxy { proxy, .. } => proxy.units_per_step(),
        }
    }

    /// Units of the whole program.
    pub(super) fn units(&self) -> u64 {
        u64::from(self.units_per_step()) * u64::from(self.steps)
    }

    /// What the unit of this number is.
    pub(super) fn unit(&self, number: u64) -> Unit {
        let each = u64::from(self.units_per_step());
        let (step, part) = ((number / each) as u32, (number % each) as u32);
        Unit(match self.kind {
            Kind::Lammps { output_every, .. } => match part {
                0 if step > 0 && step % LAMMPS_REBUILD_EVERY == 0 => LAMMPS_BUILD,
                0 => LAMMPS_BACK,
                1 if (step + 1) % output_every == 0 => LAMMPS_OUTPUTS,
                1 => LAMMPS_NOTHING,
                _ if (step + 1) % LAMMPS_REBUILD_EVERY == 0 => LAMMPS_REBUILDS,
                _ => LAMMPS_FORTH,
            },
            Kind::Proxy { proxy, .. } => proxy.unit(step, part),
            _ => part,
        })
    }

    /// One unit of each kind, and how many there are of it.
    pub(super) fn unit_kinds(&self) -> Vec<(Unit, u64)> {
        let steps = u64::from(self.steps);
        match self.kind {
            Kind::Lammps { output_every, .. } => {
                let rebuilds = u64::from(self.steps / LAMMPS_REBUILD_EVERY);
                let builds = u64::from((self.steps - 1) / LAMMPS_REBUILD_EVERY);
                vec![
                    (Unit(LAMMPS_BACK), steps - builds),
                    (Unit(LAMMPS_BUILD), builds),
                    (Unit(LAMMPS_OUTPUTS), u64::from(self.steps / output_every)),
                    (Unit(LAMMPS_FORTH), steps - rebuilds),
                    (Unit(LAMMPS_REBUILDS), rebuilds),
                ]
            }
            Kind::Proxy { proxy, .. } => {
                let kinds = proxy.unit_kinds(self.steps).into_iter();
                kinds.map(|(unit, count)| (Unit(unit), count)).collect()
            }
            _ => (0..self.units_per_step())
                .map(|part| (Unit(part), steps))
                .collect(),
        }
    }

    /// Ranks that may have to compute one after the other in one step.
    pub(super) fn longest_chain(&self) -> u32 {
        match self.kind {
            Kind::Sweep3d { grid: [a, b], .. } => a + b,
            Kind::Proxy { proxy, grid } => proxy.longest_chain(grid),
            _ => 1,
        }
    }

    /// What the first rank computes in a step on the mean, with the speed of the traces, in ns.
    pub fn step_ns(&self) -> u64 {
        let mut actions = Vec::new();
        let mut sum = 0;
        for (unit, count) in self.unit_kinds() {
            actions.clear();
            self.actions(0, unit, &mut actions);
            let of_unit: u64 = (actions.iter())
                .map(|action| match action {
                    Action::Calc(ns) => *ns,
                    _ => 0,
                })
                .sum();
            sum += count * of_unit;
        }
        sum / u64::from(self.steps)
    }

    /// What a rank does in a unit.
    pub(super) fn actions(&self, rank: u32, unit: Unit, actions: &mut Vec<Action>) {
        let world = Group::world(self.ranks);
        let Unit(part) = unit;
        match self.kind {
            Kind::Lammps {
                grid,
                atoms_per_rank,
                ..
            } => lammps(rank, grid, atoms_per_rank, part, world, actions),
            Kind::Fft {
                grid: [_, columns],
                message_bytes,
                calc_ns,
            } => {
                if part == 2 * FFT_TRANSFORMS {
                    actions.push(Action::Calc(calc_ns));
                    return;
                }
                // Within a row of the grid, then within a column.
                let group = match part % 2 {
                    0 => Group::near(rank, columns),
                    _ => Group::far(rank, columns, self.ranks),
                };
                transpose(rank, group, message_bytes, part, actions);
            }
            Kind::AllreduceRing {
                gradients,
                gradient_bytes,
            } => {
                let (calc_ns, elements) = scaled(gradients, gradient_bytes, part);
                actions.push(Action::Calc(calc_ns));
                actions.push(collective(added_up(elements), world));
            }
            Kind::AllreduceHierarchical {
                gradients,
                gradient_bytes,
                group,
            } => {
                let (calc_ns, elements) = scaled(gradients, gradient_bytes, part);
                actions.push(Action::Calc(calc_ns));
                let near = Group::near(rank, group);
                let far = Group::far(rank, group, self.ranks);
                hierarchical(rank, near, far, elements, actions);
            }
            Kind::Patmos { calc_ns } => {
                let root = 0;
                actions.push(collective(
                    Collective::Broadcast {
                        root,
                        bytes: PATMOS_BROADCAST,
                    },
                    world,
                ));
                actions.push(Action::Calc(calc_ns));
                let [found, count] = PATMOS_REDUCE;
                let reduce = |bytes| Collective::Reduce { root, bytes };
                let ends = [
                    reduce(found),
                    reduce(count),
                    Collective::Barrier,
                    reduce(8),
                    Collective::AllReduce {
                        bytes: 8,
                        element: 8,
                    },
                    reduce(8),
                ];
                actions.extend(ends.map(|end| collective(end, world)));
            }
            Kind::Halo3d {
                grid,
                neighbours,
                message_bytes,
                calc_ns,
            } => {
                actions.push(Action::Calc(calc_ns));
                halo(rank, grid, neighbours, message_bytes, actions);
            }
            Kind::Sweep3d {
                grid,
                blocks,
                message_bytes,
                calc_ns,
            } => match part / blocks {
                8 => {
                    let bytes = 8;
                    let element = 8;
                    actions.push(collective(Collective::AllReduce { bytes, element }, world));
                }
                octant => wavefront(rank, grid, octant, (message_bytes, calc_ns), actions),
            },
            Kind::Proxy { proxy, grid } => proxy.actions(rank, grid, part, actions),
        }
    }
}

// The kinds of units of LAMMPS.
/// Forces, and those on ghost atoms back.
const LAMMPS_BACK: u32 = 0;
/// The same with new neighbour lists.
const LAMMPS_BUILD: u32 = 1;
const LAMMPS_OUTPUTS: u32 = 2;
const LAMMPS_NOTHING: u32 = 3;
/// Places on.
const LAMMPS_FORTH: u32 = 4;
/// Instead of that.
const LAMMPS_REBUILDS: u32 = 5;

fn lammps(
    rank: u32,
    sides: [u32; 3],
    atoms: u32,
    part: u32,
    world: Group,
    actions: &mut Vec<Action>,
) {
    let volume = f64::from(atoms) / f64::from(LAMMPS_ATOMS);
    // Exact where nothing is to be scaled.
    let by_volume = |value: u64| (value as f64 * volume).round() as u64;
    let by_surface = |value: u64| (value as f64 * volume.powf(2.0 / 3.0)).round() as u64;
    if part == LAMMPS_NOTHING {
        return;
    }
    if part == LAMMPS_OUTPUTS {
        for (calc_ns, bytes) in LAMMPS_OUTPUT {
            actions.push(Action::Calc(by_volume(calc_ns)));
            let element = 8;
            actions.push(collective(Collective::AllReduce { bytes, element }, world));
        }
        return;
    }
    let (back, forth) = LAMMPS_STEP.split_at(6);
    let exchanges = match part {
        LAMMPS_FORTH => forth,
        LAMMPS_REBUILDS => &LAMMPS_REBUILD[..],
        _ => back,
    };
    for (place, one) in exchanges.iter().enumerate() {
        let before_recv_ns = match (place, part) {
            (0, LAMMPS_BACK) => by_volume(one.before_recv_ns),
            (0, LAMMPS_BUILD) => by_volume(LAMMPS_BUILD_NS),
            _ => by_surface(one.before_recv_ns),
        };
        let bytes = match one.bytes {
            // A number of atoms, however many they are.
            4 => 4,
            bytes => by_surface(bytes).max(1),
        };
        let mut by = [0; 3];
        by[one.dimension] = one.to;
        let to = grid::neighbour(rank, by, sides);
        let from = grid::neighbour(rank, by.map(|by| -by), sides);
        actions.push(Action::Calc(before_recv_ns));
        // A rank that is its own neighbour copies.
        if to == rank {
            actions.push(Action::Calc(by_surface(one.before_send_ns)));
            continue;
        }
        let tag = 2 * one.dimension as u32 + u32::from(one.to > 0);
        actions.push(Action::Irecv { from, bytes, tag });
        actions.push(Action::Calc(by_surface(one.before_send_ns)));
        actions.push(Action::Send { to, bytes, tag });
        actions.push(Action::WaitAll);
    }
}

/// Each rank of a group sends a part to each other: all receives are posted, then all messages
/// sent in turn.
fn transpose(rank: u32, group: Group, bytes: u64, part: u32, actions: &mut Vec<Action>) {
    actions.push(Action::Calc(FFT_BEFORE_NS));
    let me = group.place(rank);
    let size = group.size as usize;
    let others = |k: usize| group.rank((me + k) % size);
    let tag = part;
    for from in (1..size).map(others) {
        actions.push(Action::Irecv { from, bytes, tag });
    }
    for to in (1..size).map(others) {
        actions.push(Action::Calc(FFT_PACK_NS));
        actions.push(Action::Send { to, bytes, tag });
    }
    actions.push(Action::WaitAll);
}

/// Bytes of an element of a gradient.
const ELEMENT: u64 = 4;

/// Computing before a gradient, and its elements, where all together have so many bytes.
fn scaled(gradients: Gradients, gradient_bytes: u64, part: u32) -> (u64, u64) {
    let Gradient { calc_ns, bytes } = gradients.list()[part as usize];
    let bytes = match gradient_bytes {
        GRADIENT_BYTES => bytes,
        // Not the loss.
        _ if bytes == 8 => bytes,
        _ => {
            let bytes = u128::from(bytes) * u128::from(gradient_bytes);
            (bytes / u128::from(GRADIENT_BYTES)) as u64
        }
    };
    (calc_ns, bytes.div_ceil(ELEMENT).max(1))
}

fn added_up(elements: u64) -> Collective {
    Collective::AllReduce {
        bytes: elements * ELEMENT,
        element: ELEMENT,
    }
}

/// Adds up within groups, each rank a part; adds up the parts between groups; and hands them on
/// within groups. Small vectors take no such way: they are added up within groups, between their
/// first ranks, and handed on.
fn hierarchical(rank: u32, near: Group, far: Group, elements: u64, actions: &mut Vec<Action>) {
    let bytes = elements * ELEMENT;
    let mut add = |what, group: Group| {
        if group.size > 1 {
            actions.push(collective(what, group));
        }
    };
    if bytes < RING_BYTES || elements < u64::from(near.size) {
        let root = 0;
        add(Collective::Reduce { root, bytes }, near);
        if near.place(rank) == 0 {
            add(added_up(elements), far);
        }
        add(Collective::Broadcast { root, bytes }, near);
        return;
    }
    let blocks = || Blocks::Equal {
        elements,
        element: ELEMENT,
    };
    let size = u64::from(near.size);
    let own = elements / size + u64::from((near.place(rank) as u64) < elements % size);
    add(Collective::ReduceScatter { blocks: blocks() }, near);
    add(added_up(own), far);
    add(Collective::AllGatherV { blocks: blocks() }, near);
}

/// Exchanges with all neighbours at once. A message over a face has `face` bytes, 8 for each cell;
/// over an edge as many as a side of the face has, over a corner those of a cell.
fn halo(rank: u32, sides: [u32; 3], neighbours: u32, face: u64, actions: &mut Vec<Action>) {
    let cell = 8;
    let side = ((face as f64 / cell as f64).sqrt().round() as u64).max(1) * cell;
    let directions = (0..27).map(|k: i32| [k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1]);
    let bytes_of = |by: [i32; 3]| match by.iter().filter(|by| **by != 0).count() {
        1 => Some(face),
        2 if neighbours == 26 => Some(side),
        3 if neighbours == 26 => Some(cell),
        _ => None,
    };
    let messages = directions.filter_map(|by| Some((by, bytes_of(by)?)));
    let number = |by: [i32; 3]| (9 * (by[0] + 1) + 3 * (by[1] + 1) + by[2] + 1) as u32;
    for (by, bytes) in messages.clone() {
        let from = grid::neighbour(rank, by.map(|by| -by), sides);
        if from != rank {
            let tag = number(by);
            actions.push(Action::Irecv { from, bytes, tag });
        }
    }
    for (by, bytes) in messages {
        let to = grid::neighbour(rank, by, sides);
        if to != rank {
            let tag = number(by);
            actions.push(Action::Send { to, bytes, tag });
        }
    }
    actions.push(Action::WaitAll);
}

/// A block of the sweep from one of the eight corners: takes what the neighbours before have
/// found, computes, hands on to those behind. Two sweeps start from each corner of the grid.
fn wavefront(
    rank: u32,
    sides: [u32; 2],
    octant: u32,
    (bytes, calc_ns): (u64, u64),
    actions: &mut Vec<Action>,
) {
    let at = grid::coordinates(rank, sides);
    let corner = [octant & 2, octant & 4].map(|bit| bit > 0);
    let neighbour = |dimension: usize, towards: bool| {
        let mut there = at;
        there[dimension] = match (towards, at[dimension]) {
            (true, place) if place + 1 < sides[dimension] => place + 1,
            (false, place) if place > 0 => place - 1,
            _ => return None,
        };
        Some(grid::rank(there, sides))
    };
    let tag = octant;
    for (dimension, from_high) in corner.into_iter().enumerate() {
        if let Some(from) = neighbour(dimension, from_high) {
            actions.push(Action::Recv { from, bytes, tag });
        }
    }
    actions.push(Action::Calc(calc_ns));
    for (dimension, from_high) in corner.into_iter().enumerate() {
        if let Some(to) = neighbour(dimension, !from_high) {
            actions.push(Action::Send { to, bytes, tag });
        }
    }
}
