//! The result of a synthesis; as JSON, field by field.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Target;

/// What a synthesis found.
#[derive(Clone, Debug, Serialize)]
pub struct Synthesis {
    /// SHA-256 of the canonical configuration.
    pub configuration_sha256: String,
    /// The module at the top.
    pub top: String,
    /// Ports of the switch; absent for one controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<u32>,
    /// `ice40`, `ecp5`, `xilinx` or `liberty:FILE`.
    pub target: String,
    /// The device or the cells.
    pub device: String,
    /// What Yosys calls itself.
    pub yosys: String,
    /// The frequency that the configuration asks for, MHz.
    pub clock_mhz: f64,
    /// What gate equivalents are counted in; absent for FPGAs, and without such a cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// One result per way of mapping: one for FPGAs; for standard cells ABC's default, its
    /// script for speed, and that script with memories made of flip-flops.
    pub mappings: Vec<Mapping>,
}

/// The smallest cell of a library that is a NAND with two inputs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// Its name.
    pub cell: String,
    /// Its area, in the unit of the Liberty file.
    pub area: f64,
}

/// One way of mapping the controller.
#[derive(Clone, Debug, Serialize)]
pub struct Mapping {
    /// `default`, `speed`, or `memory`: for speed, with memories made of flip-flops.
    pub name: &'static str,
    /// Cells of the bare controller.
    pub resources: Resources,
    /// Largest clock frequency and the path that limits it.
    pub timing: Timing,
}

/// Cells of the bare controller. What a target has not is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Resources {
    /// Look-up tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub luts: Option<u64>,
    /// Flip-flops.
    pub flip_flops: u64,
    /// Carry cells: `SB_CARRY` (one bit), `CCU2C` (two bits with their LUTs), `CARRY4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carry: Option<u64>,
    /// Block memories: `SB_RAM40_4K` (4 kbit), `DP16KD` (18 kbit), RAMB18 (RAMB36 are two).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_blocks: Option<u64>,
    /// Memory cells made of LUTs: `TRELLIS_DPR16X4`, `RAM32M16` and the like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lut_memories: Option<u64>,
    /// All cells.
    pub cells: u64,
    /// Area of the standard cells in the unit of the Liberty file, µm² as a rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<f64>,
    /// `area` in gates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate_equivalents: Option<f64>,
    /// What enables flip-flops, the most of them first: candidates for a gated clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enables: Option<Vec<Enable>>,
    /// Bits of memory that are not in `cells` and `area`; nor are the registers of its outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bits_left_out: Option<u64>,
    /// Every type of cell and how often it is there.
    pub cell_types: BTreeMap<String, u64>,
}

impl Resources {
    /// Sorts the cells of a target.
    pub(super) fn of(target: &Target, cell_types: BTreeMap<String, u64>) -> Resources {
        let count = |is: &dyn Fn(&str) -> u64| -> u64 {
            cell_types
                .iter()
                .map(|(name, number)| number * is(name))
                .sum()
        };
        let any = |prefixes: &'static [&'static str]| {
            count(&|name| u64::from(prefixes.iter().any(|prefix| name.starts_with(prefix))))
        };
        let cells = cell_types.values().sum();
        let (luts, flip_flops, carry, blocks, lut_memories) = match target {
            Target::Ice40 => (
                any(&["SB_LUT4"]),
                any(&["SB_DFF"]),
                any(&["SB_CARRY"]),
                any(&["SB_RAM40_4K"]),
                None,
            ),
            Target::Ecp5 => (
                any(&["LUT4"]),
                any(&["TRELLIS_FF"]),
                any(&["CCU2C"]),
                any(&["DP16KD", "PDPW16KD"]),
                Some(any(&["TRELLIS_DPR16X4"])),
            ),
            Target::Xilinx => (
                any(&["LUT"]),
                any(&["FD"]),
                any(&["CARRY"]),
                count(&|name| match name {
                    _ if name.starts_with("RAMB36") => 2,
                    _ if name.starts_with("RAMB18") => 1,
                    _ => 0,
                }),
                Some(any(&[
                    "RAM16", "RAM32", "RAM64", "RAM128", "RAM256", "RAM512",
                ])),
            ),
            Target::Liberty(_) => {
                return Resources {
                    cells,
                    cell_types,
                    ..Resources::default()
                }
            }
        };
        Resources {
            luts: Some(luts),
            flip_flops,
            carry: Some(carry),
            memory_blocks: Some(blocks),
            lut_memories,
            cells,
            cell_types,
            ..Resources::default()
        }
    }
}

/// Flip-flops that one net enables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Enable {
    /// How many.
    pub flip_flops: u64,
    /// The registers that they belong to, as far as these have kept their names.
    pub registers: Vec<String>,
}

/// The largest clock frequency.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Timing {
    /// It was found.
    Found {
        /// What found it, with its version.
        tool: String,
        /// Of all seeds, MHz. Static timing without place and route has one value.
        fmax_mhz: Spread,
        /// One by one; empty without place and route.
        seeds: Vec<SeedResult>,
        /// The slowest path; that of the median seed.
        critical_path: Endpoints,
        /// What static timing says of it and of the paths of pins; absent after place and route.
        #[serde(skip_serializing_if = "Option::is_none")]
        paths: Option<Box<StaticPaths>>,
    },
    /// It was not.
    NotFound {
        /// Why: which tool is not installed, or that there is none.
        not_found: String,
    },
}

/// Median, least and largest value, MHz.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The middle one, or the mean of the two in the middle.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Of values in ascending order; `None` if there are none.
    pub(super) fn of(ascending: &[f64]) -> Option<Spread> {
        let (min, max) = (*ascending.first()?, *ascending.last()?);
        let upper = ascending[ascending.len() / 2];
        let lower = ascending[(ascending.len() - 1) / 2];
        Some(Spread {
            median: f64::midpoint(lower, upper),
            min,
            max,
        })
    }
}

/// Place and route with one seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SeedResult {
    /// The seed of nextpnr.
    pub seed: u32,
    /// Largest clock frequency, MHz.
    pub fmax_mhz: f64,
}

/// Where the slowest path begins and ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Endpoints {
    /// The register or memory it starts from.
    pub from: String,
    /// The register or memory it ends in.
    pub to: String,
}

/// The slowest paths under the emitted constraints, without the delay of wires.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StaticPaths {
    /// From register to register.
    pub registers: StaticPath,
    /// From a pin to a register; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<StaticPath>,
    /// From a register to a pin; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<StaticPath>,
    /// From a pin to a pin; absent if there is none, as of a port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<StaticPath>,
}

/// One path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StaticPath {
    /// How much earlier the data is there than it has to be, ns; negative: it is late.
    pub slack_ns: f64,
    /// When it is there after the edge of the clock, ns.
    pub arrival_ns: f64,
    /// When it has to be, ns: the period less the setup time, or less what is outside the pin.
    pub required_ns: f64,
    /// Gates between its ends.
    pub gates: u64,
    /// The register or pin it starts from.
    pub from: String,
    /// The register or pin it ends in.
    pub to: String,
}
