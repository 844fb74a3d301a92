//! Which kind of file a text is, and the command that it is for.

use crate::files::{GZIP, ZSTD};

/// The kinds of input files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The configuration of a port.
    Port,
    /// A scenario.
    Scenario,
    /// A sweep.
    Sweep,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Port, Kind::Scenario, Kind::Sweep];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Port => "port",
            Kind::Scenario => "scenario",
            Kind::Sweep => "sweep",
        }
    }

    /// What it is, in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Kind::Port => "Configuration of a port",
            Kind::Scenario => "Scenario",
            Kind::Sweep => "Sweep",
        }
    }

    /// What stands at the top of such a file: tables, and keys before all tables.
    pub(crate) fn names(self) -> &'static [&'static str] {
        match self {
            Kind::Port => &[
                "clock",
                "port",
                "states",
                "histogram",
                "perfbound",
                "correction",
                "guard",
                "verilog",
            ],
            Kind::Scenario => &["topology", "traffic", "switch", "power", "energy", "run"],
            Kind::Sweep => &[
                "scenario",
                "states",
                "fixed",
                "perfbound",
                "vary",
                "workloads",
                "configurations",
            ],
        }
    }

    /// What the file is and where it belongs, if a text with these names at its top is of another
    /// kind than this.
    pub(super) fn mistaken(self, names: &[&str], file: &str) -> Option<String> {
        let fits = |kind: &Kind| {
            let own = kind.names();
            names.iter().filter(|name| own.contains(*name)).count()
        };
        // Sweeps have names of configurations as well: what decides is which has more.
        let likely = |kind: &&Kind| (fits(kind), **kind == self, **kind == Kind::Port);
        let most = Kind::ALL.iter().max_by_key(likely)?;
        if *most == self || fits(&self) > 0 && fits(most) < names.len() {
            return None;
        }
        let (what, command) = match most {
            Kind::Port => (
                "the configuration of a port",
                format!("linkdoze estimate {file}"),
            ),
            Kind::Scenario => ("a scenario", format!("linkdoze simulate {file}")),
            Kind::Sweep => ("a sweep", format!("linkdoze sweep {file} -o DIR")),
        };
        let link = match (self, most) {
            (Kind::Port, Kind::Scenario) => {
                "; the configuration of its ports stands in [power], or in the file that \
                 `controller` there names"
            }
            (Kind::Scenario, Kind::Port) => "; a scenario names it with `controller` in [power]",
            (Kind::Scenario, Kind::Sweep) => "; it names its scenario with `scenario`",
            (Kind::Sweep, Kind::Scenario) => "; a sweep names it with `scenario`",
            _ => "",
        };
        Some(format!("this is {what}: run `{command}`{link}"))
    }
}

/// How files begin that hold traces: the bytes, and what they are.
const TRACES: [(&[u8], &str); 4] = [
    (ZSTD, "a file compressed with zstd"),
    (GZIP, "a file compressed with gzip"),
    (b"OTF2", "an OTF2 trace"),
    (b"num_ranks", "a trace in the format GOAL"),
];

/// Where the magic of a tar archive is.
const TAR: usize = 257;

/// What a file is that looks like a trace.
pub(super) fn trace(bytes: &[u8], file: &str) -> Option<String> {
    let known = TRACES.iter().find(|(magic, _)| bytes.starts_with(magic));
    let tar = bytes
        .get(TAR..)
        .is_some_and(|rest| rest.starts_with(b"ustar"));
    let what = known
        .map(|(_, what)| *what)
        .or(tar.then_some("a tar archive"))?;
    Some(format!(
        "this is {what}, not a TOML text; if it is a trace: `linkdoze trace info {file}`; a \
         scenario names it with `file` in [traffic]"
    ))
}
