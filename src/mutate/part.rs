//! The faults of the module at the top of a design that is no bare controller: its cycles are given, and its
//! faults are tried one by one.

use anyhow::{ensure, Result};
use rayon::prelude::*;

use crate::hdl::check::{self, CheckError, Pins};
use crate::hdl::mutants::{mutants, single, Mutant};
use crate::hdl::verilog::{self, Header};
use crate::hdl::Design;
use crate::synth::netlist::{Memories, Prover, Verdict};

/// Most faults show within this share of the cycles.
const FIRST_SHARE: usize = 6;

/// Seconds of processor time in which ABC is to prove that a fault is none.
const ABC_TIMEOUT: u64 = 60;

/// What became of the faults of a module.
#[derive(Debug)]
pub struct PartFaults {
    /// Every fault that was tried.
    pub tried: usize,
    /// Those that show at no output and are none: ABC proved that the module does the same with them.
    pub equivalent: Vec<Mutant>,
    /// Those that show at no output and may be faults all the same.
    pub survived: Vec<Mutant>,
}

/// Tries every single fault of the module at the top of a design: whether an output differs, within these
/// cycles, from what is expected there, or a simulator warns; if not, whether the fault is proved to be none,
/// whatever the modules inside do. Each cycle has its inputs and the outputs of a golden model.
///
/// # Errors
/// If a tool is missing or fails, or the design has other outputs without a fault.
///
/// # Panics
/// If an output is missing in a cycle.
pub fn part_faults(design: &Design, cycles: &[(Pins, Pins)]) -> Result<PartFaults> {
    let prover = Prover::find()?;
    let pins = design.pins();
    let files = |design: &Design| verilog::print(design, &Header::for_tests());
    let intact = files(design);
    let differs = check::first_difference(&intact, &pins, cycles)?;
    ensure!(
        differs.is_none(),
        "{} without a fault differs in cycle {}",
        design.top(),
        differs.unwrap_or(0)
    );
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
    let mut all = mutants(design);
    all.retain(|mutant| mutant.module == design.top());
    let tried = all.len();
    let hidden: Vec<Option<(Mutant, Verdict)>> = all
        .into_par_iter()
        .map(|mutant| {
            let wrong = files(&single(design, &mutant));
            if shows(&wrong)? {
                return Ok(None);
            }
            let (top, memories) = (design.top(), Memories::Inside);
            let verdict =
                prover.same_module(design, top, &intact, &wrong, memories, ABC_TIMEOUT)?;
            Ok(Some((mutant, verdict)))
        })
        .collect::<Result<_>>()?;
    let (equivalent, survived): (Vec<_>, Vec<_>) = hidden
        .into_iter()
        .flatten()
        .partition(|(_, verdict)| *verdict == Verdict::Equal);
    let mutants = |of: Vec<(Mutant, Verdict)>| of.into_iter().map(|it| it.0).collect();
    Ok(PartFaults {
        tried,
        equivalent: mutants(equivalent),
        survived: mutants(survived),
    })
}

impl PartFaults {
    /// Every fault shows, or is none; and those that are none are few enough that the others say something.
    ///
    /// # Errors
    /// If one survived, or one in six or more is none.
    pub fn all_found(&self) -> Result<()> {
        let lines: Vec<String> = self.survived.iter().map(Mutant::text).collect();
        ensure!(lines.is_empty(), "not found:\n{}", lines.join("\n"));
        let none = self.equivalent.len();
        ensure!(
            none < self.tried / 6,
            "{none} of {} faults are none",
            self.tried
        );
        Ok(())
    }
}
