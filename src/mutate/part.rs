//! The faults of a design that is no bare controller: its cycles are given, and its faults are tried one by one.

use anyhow::{bail, ensure, Result};
use rayon::prelude::*;

use crate::hdl::check::{self, CheckError, Pins};
use crate::hdl::mutants::{single, Mutant};
use crate::hdl::verilog::{self, Header};
use crate::hdl::Design;
use crate::synth::netlist::{Memories, Prover, Verdict};

/// Most faults show within this share of the cycles.
const FIRST_SHARE: usize = 6;

/// Seconds of processor time in which ABC is to prove that a fault is none.
const ABC_TIMEOUT: u64 = 60;

/// What became of the faults of a design.
#[derive(Debug, Default)]
pub struct PartFaults {
    /// How many were tried.
    pub tried: usize,
    /// Those that show at no output and are none: ABC proved that the design does the same with them.
    pub equivalent: Vec<Mutant>,
    /// Those that show at no output and may be faults all the same.
    pub survived: Vec<Mutant>,
}

/// Tries single faults of a design: whether an output differs, within these cycles, from what is expected there,
/// or a simulator warns; if not, whether the fault is proved to be none. Each cycle has its inputs and the outputs
/// of a golden model.
///
/// # Errors
/// If a tool is missing or fails, or the design has other outputs without a fault.
///
/// # Panics
/// If an output is missing in a cycle.
pub fn part_faults(
    design: &Design,
    faults: Vec<Mutant>,
    cycles: &[(Pins, Pins)],
) -> Result<PartFaults> {
    let prover = Prover::find()?;
    let pins = design.pins();
    let files = |design: &Design| verilog::print(design, &Header::for_tests());
    let intact = files(design);
    if let Some(cycle) = check::first_difference(&intact, &pins, cycles)? {
        bail!("{} without a fault differs in cycle {cycle}", design.top());
    }
    let shows = |wrong: &[(String, String)]| -> Result<bool> {
        for cycles in [&cycles[..cycles.len() / FIRST_SHARE], cycles] {
            match check::first_difference(wrong, &pins, cycles) {
                Ok(None) => {}
                Ok(Some(_)) | Err(CheckError::Complaint { .. }) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    };
    // In its module alone, whatever the modules inside do, a fault is soon proved to be none.
    let is_none =
        |module: &str, wrong: &[(String, String)]| -> Result<bool> {
            let (memories, limit) = (Memories::Inside, ABC_TIMEOUT);
            let alone = prover.same_module(design, module, &intact, wrong, memories, limit)?;
            Ok(alone == Verdict::Equal
                || prover.same(design, &intact, wrong, limit)? == Verdict::Equal)
        };
    let tried = faults.len();
    let hidden: Vec<Option<(Mutant, bool)>> = faults
        .into_par_iter()
        .map(|fault| {
            let wrong = files(&single(design, &fault));
            if shows(&wrong)? {
                return Ok(None);
            }
            let is_none = is_none(&fault.module, &wrong)?;
            Ok(Some((fault, is_none)))
        })
        .collect::<Result<_>>()?;
    let mut found = PartFaults {
        tried,
        ..PartFaults::default()
    };
    for (fault, is_none) in hidden.into_iter().flatten() {
        match is_none {
            true => found.equivalent.push(fault),
            false => found.survived.push(fault),
        }
    }
    Ok(found)
}

impl PartFaults {
    /// That no fault survived, and fewer than one in eight are none: so the others say something.
    ///
    /// # Errors
    /// If it is not so.
    pub fn all_found(&self) -> Result<()> {
        let lines: Vec<String> = self.survived.iter().map(Mutant::text).collect();
        ensure!(lines.is_empty(), "not found:\n{}", lines.join("\n"));
        let (none, tried) = (self.equivalent.len(), self.tried);
        ensure!(8 * none < tried, "{none} of {tried} faults are none");
        Ok(())
    }

    /// Both together.
    pub fn and(mut self, other: PartFaults) -> PartFaults {
        self.tried += other.tried;
        self.equivalent.extend(other.equivalent);
        self.survived.extend(other.survived);
        self
    }
}
