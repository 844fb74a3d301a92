//! What the results of a sweep depend on.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::network::scenario::Variation;

/// What all results of a folder depend on, by digest (SHA-256); kept beside them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The version that computes them.
    pub linkdoze: String,
    /// Its code that can change a result (`build.rs`); empty of results from before it counted.
    #[serde(default)]
    pub sources_sha256: String,
    /// The sweep file as it was named.
    pub sweep: PathBuf,
    /// The scenario's file.
    pub scenario: PathBuf,
    /// The text of the scenario.
    pub scenario_sha256: String,
    /// The network in a few words.
    pub network: String,
    /// The experiments, by name.
    #[serde(default)]
    pub experiments: Vec<String>,
    /// The run that each of them is compared with, by name (`Setting::compared_with`).
    #[serde(default)]
    pub compared_with: Vec<Option<String>>,
    /// Each trace's file and the program that was read from it.
    pub traces: Vec<(PathBuf, String)>,
    /// Each skeleton in a few words.
    #[serde(default)]
    pub skeletons: Vec<String>,
    /// Each trace's file or folder, and the bytes of all files that were read for it
    /// ([`trace::sha256`]); a trace that is a pipe is not there.
    #[serde(default)]
    pub trace_files_sha256: Vec<(PathBuf, String)>,
    /// The base of the port's configuration, by sleep state.
    pub ports_sha256: BTreeMap<String, String>,
}

impl Description {
    /// What differs from `other`, for a message; names of files do not count.
    pub(super) fn difference(&self, other: &Description) -> Option<String> {
        let contents = |of: &Description| -> Vec<String> {
            of.traces.iter().map(|(_, digest)| digest.clone()).collect()
        };
        if self.linkdoze != other.linkdoze {
            return Some(format!(
                "version {} (this is {})",
                self.linkdoze, other.linkdoze
            ));
        }
        if self.sources_sha256 != other.sources_sha256 {
            return Some(format!(
                "other code of version {} that results depend on",
                self.linkdoze
            ));
        }
        if self.scenario_sha256 != other.scenario_sha256 {
            return Some(format!(
                "another text of the scenario {}",
                other.scenario.display()
            ));
        }
        if contents(self) != contents(other) {
            return Some("other traces".into());
        }
        // States may be added and left out.
        let same = |(state, digest): (&String, &String)| {
            other.ports_sha256.get(state).is_none_or(|of| of == digest)
        };
        let changed = !self.ports_sha256.iter().all(same);
        changed.then(|| "another port configuration".into())
    }

    /// The digest of all inputs of a run: the scenario with these values, and ports of this
    /// configuration.
    pub(super) fn digest(&self, variation: &Variation, config: &Config) -> String {
        let mut all = Sha256::new();
        let traces = self.traces.iter().map(|(_, digest)| digest);
        let program = [&self.linkdoze, &self.sources_sha256, &self.scenario_sha256];
        for part in program.into_iter().chain(traces) {
            all.update(part);
            all.update("\n");
        }
        // A name may leave out what makes no file name.
        all.update(format!("{variation:?}\n"));
        all.update(config.canonical());
        hex(&all.finalize())
    }
}

/// A digest as it is written.
pub(super) fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let one = Description {
            linkdoze: "1".into(),
            sources_sha256: "v".into(),
            sweep: "a".into(),
            scenario: "s".into(),
            scenario_sha256: "x".into(),
            network: String::new(),
            experiments: Vec::new(),
            compared_with: Vec::new(),
            trace_files_sha256: Vec::new(),
            traces: vec![("t".into(), "y".into())],
            skeletons: Vec::new(),
            ports_sha256: [("fast-wake".to_owned(), "z".to_owned())].into(),
        };
        let against = |change: &dyn Fn(&mut Description)| {
            let mut other = one.clone();
            change(&mut other);
            one.difference(&other).unwrap_or_default()
        };
        assert!(against(&|other| other.linkdoze = "2".into()).contains("version 1"));
        let build = against(&|other| other.sources_sha256.clear());
        assert_eq!(build, "other code of version 1 that results depend on");
        assert!(against(&|other| other.scenario_sha256.clear()).contains("text of the scenario"));
        assert!(against(&|other| other.traces[0].1.clear()).contains("traces"));
        let port = against(&|other| {
            other.ports_sha256.insert("fast-wake".into(), "w".into());
        });
        assert!(port.contains("port configuration"), "{port}");
        let free = against(&|other| {
            other.traces[0].0 = "elsewhere".into();
            other.scenario = "elsewhere".into();
            other.ports_sha256.clear();
        });
        assert_eq!(free, "");
    }
}
