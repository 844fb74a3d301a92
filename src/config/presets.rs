//! Complete configurations from the papers.

use crate::input::similar;

/// A configuration that comes with the tool.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name on the command line.
    pub name: &'static str,
    /// What it is and where its numbers come from, in one line.
    pub summary: &'static str,
    /// The configuration file, commented.
    pub text: &'static str,
}

/// Every preset.
pub const PRESETS: [Preset; 7] = [
    Preset {
        name: "bxiv3-deep-sleep",
        summary: "400 Gb/s BXIv3 port, PerfBound into deep sleep (PerfBound Table 8)",
        text: include_str!("presets/bxiv3-deep-sleep.toml"),
    },
    Preset {
        name: "bxiv3-fast-wake",
        summary: "400 Gb/s BXIv3 port, PerfBound into fast wake (PerfBound Table 8)",
        text: include_str!("presets/bxiv3-fast-wake.toml"),
    },
    Preset {
        name: "bxiv3-hybrid",
        summary: "400 Gb/s BXIv3 port, fast wake, then deep sleep (Georgakoudis III.A.3)",
        text: include_str!("presets/bxiv3-hybrid.toml"),
    },
    Preset {
        name: "10gbase-t",
        summary: "10GBASE-T port with low power idle (IEEE 802.3 clause 78)",
        text: include_str!("presets/10gbase-t.toml"),
    },
    Preset {
        name: "25gbase-r",
        summary: "25GBASE-KR or CR port with low power idle (IEEE 802.3 clause 78)",
        text: include_str!("presets/25gbase-r.toml"),
    },
    Preset {
        name: "100gbase-r",
        summary: "100GBASE-KR4 or CR4 port with low power idle (IEEE 802.3 clause 78)",
        text: include_str!("presets/100gbase-r.toml"),
    },
    Preset {
        name: "400gbase-r",
        summary: "400GBASE-R port with low power idle in fast wake (IEEE 802.3 clause 78)",
        text: include_str!("presets/400gbase-r.toml"),
    },
];

impl Preset {
    /// The preset of that name.
    ///
    /// # Errors
    /// With the nearest name that there is.
    pub fn find(name: &str) -> Result<&'static Preset, UnknownPreset> {
        PRESETS
            .iter()
            .find(|preset| preset.name == name)
            .ok_or_else(|| UnknownPreset {
                name: name.into(),
                nearest: similar(name, &PRESETS.map(|preset| preset.name)),
            })
    }
}

/// There is no preset of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown preset \"{name}\"{} (known: {})",
    nearest.map_or(String::new(), |nearest| format!(": the nearest is \"{nearest}\"")),
    PRESETS.map(|preset| preset.name).join(", ")
)]
pub struct UnknownPreset {
    pub name: String,
    pub nearest: Option<&'static str>,
}
