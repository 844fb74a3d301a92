//! Options of `linkdoze generate` for a part of a switch that chooses among ports.

use anyhow::{bail, Context};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::numbers::within_u32;
use crate::config::plan::{SelectionKind, SelectionPlan};
use crate::config::{Config, Decimal};
use crate::rtl::SwitchPart;

/// A part by its name on the command line, and the selection that it belongs to.
type Part = (&'static str, SwitchPart, SelectionKind);

/// The selection functions, and what they go by.
const PARTS: [Part; 6] = {
    use SelectionKind::{Alonso, FirstOn, Powar, RoundRobin};
    use SwitchPart::{PortChoice, SelectablePorts, TreeLinks};
    [
        ("round-robin", PortChoice, RoundRobin),
        ("first-on", PortChoice, FirstOn),
        ("powar", PortChoice, Powar),
        ("alonso", PortChoice, Alonso),
        ("selectable-ports", SelectablePorts, Powar),
        ("tree-links", TreeLinks, Alonso),
    ]
};

/// A part of a switch.
#[derive(clap::Args)]
pub(super) struct PartArgs {
    /// Emit a part of a switch that chooses among ports, in the place of a controller: a selection
    /// function (round-robin, first-on, powar, alonso), what says how many ports the load needs, or
    /// what turns the links of a fat tree's switch on and off.
    #[arg(
        long, value_name = "PART", conflicts_with_all = ["ports", "ethernet"],
        requires_all = ["ports_down", "ports_up"], value_parser = part()
    )]
    switch_part: Option<Part>,
    /// Ports of that switch that lead down.
    #[arg(long, value_name = "N", requires = "switch_part", value_parser = within_u32(1..=62))]
    ports_down: Option<u32>,
    /// Ports of that switch that it chooses among, in a fat tree those that lead up.
    #[arg(long, value_name = "N", requires = "switch_part", value_parser = within_u32(2..=63))]
    ports_up: Option<u32>,
    /// Utilisation above which packets take one port more.
    #[arg(
        long,
        value_name = "SHARE",
        requires = "switch_part",
        default_value = "0.5"
    )]
    select_on: Decimal,
    /// Utilisation below which they take one port less.
    #[arg(
        long,
        value_name = "SHARE",
        requires = "switch_part",
        default_value = "0.25"
    )]
    select_off: Decimal,
    /// How often the utilisation is looked at, in ns: whole clock cycles of the configuration.
    #[arg(
        long,
        value_name = "NS",
        requires = "switch_part",
        default_value = "10000"
    )]
    select_window_ns: Decimal,
}

/// Reads the name of a part.
fn part() -> impl TypedValueParser<Value = Part> {
    PossibleValuesParser::new(PARTS.map(|(name, ..)| name)).try_map(|name| {
        let found = PARTS.into_iter().find(|(it, ..)| *it == name);
        found.ok_or("no part has this name")
    })
}

impl PartArgs {
    /// The part that is asked for, and the selection that it belongs to.
    pub(super) fn asked(&self) -> Option<(SwitchPart, SelectionKind)> {
        self.switch_part.map(|(_, part, kind)| (part, kind))
    }

    /// What it is made for, in clock cycles of `config`.
    ///
    /// # Errors
    /// If a number has more digits than count, or the window is no whole number of clock cycles.
    pub(super) fn plan(
        &self,
        config: &Config,
        kind: SelectionKind,
    ) -> anyhow::Result<SelectionPlan> {
        let millionths = |option: &str, part: Decimal| {
            part.scaled_to_integer(1_000_000).with_context(|| {
                format!(
                    "--{option} {part}: must be a share of what the ports can carry, 0 to 1, with six \
                     digits behind the point at most"
                )
            })
        };
        let period = config.clock.period_ps;
        let window = self.select_window_ns.scaled_to_integer(1_000);
        let Some(window) = window.filter(|window| window.is_multiple_of(period)) else {
            bail!(
                "--select-window-ns {}: it is not a whole number of clock cycles, of {} ns each",
                self.select_window_ns,
                period as f64 / 1e3
            );
        };
        Ok(SelectionPlan {
            kind,
            ports_down: self.ports_down.unwrap_or_default(),
            ports_up: self.ports_up.unwrap_or_default(),
            window: window / period,
            on_millionths: millionths("select-on", self.select_on)?,
            off_millionths: millionths("select-off", self.select_off)?,
        })
    }

    /// The options as one writes them.
    pub(super) fn written(&self) -> String {
        let (Some((part, ..)), Some(down), Some(up)) =
            (self.switch_part, self.ports_down, self.ports_up)
        else {
            return String::new();
        };
        format!(
            " --switch-part {part} --ports-down {down} --ports-up {up} --select-on {} --select-off {} \
             --select-window-ns {}",
            self.select_on, self.select_off, self.select_window_ns
        )
    }
}
