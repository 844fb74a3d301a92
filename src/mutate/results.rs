//! What became of the faults, and the file that keeps it.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{bail, Context, Result};
use serde::{Deserialize, Serialize};

use crate::files;
use crate::hdl::mutants::Mutant;

/// What became of a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "fate")]
pub enum Fate {
    /// Hardware and golden model differ.
    Killed {
        /// The first cycle in which they do, from 0, idle cycles that were not clocked among them.
        cycle: u64,
    },
    /// The hardware does not run: why.
    Fails {
        /// What the engine says.
        why: String,
    },
    /// ABC or an SMT solver proves that it is none.
    Equivalent,
    /// It has not shown.
    Survived,
}

/// A fault and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// The fault.
    #[serde(flatten)]
    pub mutant: Mutant,
    /// What became of it.
    #[serde(flatten)]
    pub fate: Fate,
}

/// All that is known of a campaign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// What they depend on: the configuration, the faults, the run, the sources of the program, and the
    /// versions of the provers.
    pub inputs: String,
    /// The faults that were tried so far, part by part, each under the number of its first fault,
    /// from 0.
    pub parts: BTreeMap<usize, Vec<Tested>>,
}

impl Results {
    /// Nothing has been tried yet.
    pub fn new(inputs: String) -> Results {
        Results {
            inputs,
            parts: BTreeMap::new(),
        }
    }

    /// The faults that were tried so far, in their order.
    pub fn tested(&self) -> impl Iterator<Item = &Tested> + Clone {
        self.parts.values().flatten()
    }

    /// Those in a file; none yet if there is no such file.
    ///
    /// # Errors
    /// If the file cannot be read, is something else, or has other inputs.
    pub fn read(path: &Path, inputs: String) -> Result<Results> {
        if !path.exists() {
            return Ok(Results::new(inputs));
        }
        let found: Results = serde_json::from_str(&files::read_text(path)?)
            .with_context(|| format!("{}: these are no results of mutate", path.display()))?;
        if found.inputs != inputs {
            bail!(
                "{}: these are results of another configuration, run or version of linkdoze: name \
                 another file, or delete this one",
                path.display()
            );
        }
        Ok(found)
    }

    /// Writes them.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        Ok(files::write_whole(path, text.as_bytes())?)
    }

    /// How many have this fate.
    pub fn count(&self, is: impl Fn(&Fate) -> bool) -> usize {
        self.tested().filter(|it| is(&it.fate)).count()
    }

    /// Faults that show, and all that are not proved to be none.
    pub fn killed_of(&self) -> (usize, usize) {
        let equivalent = self.count(|fate| *fate == Fate::Equivalent);
        let survived = self.count(|fate| *fate == Fate::Survived);
        let real = self.tested().count() - equivalent;
        (real - survived, real)
    }
}
