//! Options for what stands in a switch beside the controllers of its ports, and may take their place in a
//! command: what chooses among them, and what turns lanes off and on.

use anyhow::{bail, ensure, Context};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::numbers::{decimal, within_u32};
use crate::blocks::mii::Mii;
use crate::config::plan::{LanePlan, SelectionKind, SelectionPlan};
use crate::config::{Config, Decimal};
use crate::hdl::Design;
use crate::network::parameters::Lanes;
use crate::network::selection::Thresholds;
use crate::rtl::{self, RtlError, SwitchPart};

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

/// A block in the place of a port's controller.
#[derive(clap::Args)]
pub(super) struct BlockArgs {
    #[command(flatten)]
    part: PartArgs,
    #[command(flatten)]
    lanes: LaneArgs,
    #[command(flatten)]
    port: EthernetArgs,
}

impl BlockArgs {
    /// The interface of the port of Ethernet that is asked for, if one is, and how long its MAC takes to
    /// react.
    pub(super) fn ethernet(&self) -> Option<(Mii, u32)> {
        self.port.asked()
    }

    /// The checked design of the block that is asked for, if one is, with the prefix of `config`.
    ///
    /// # Errors
    /// If the numbers are out of range, or no hardware is made for them.
    pub(super) fn design(&self, config: &Config) -> anyhow::Result<Option<Design>> {
        if let Some((mii, mac_latency)) = self.ethernet() {
            return Ok(Some(rtl::ethernet_port(config, mii, mac_latency)?));
        }
        let design = match (self.part.switch_part, self.lanes.asked()) {
            (Some((_, part, kind)), _) => {
                let plan = self.part.plan(config, part, kind)?;
                rtl::switch_part(&plan, part)
            }
            (None, Some(lanes)) => {
                let plan = self.lanes.plan(config, lanes);
                plan.and_then(|plan| rtl::lane_controller(&plan))
            }
            (None, None) => return Ok(None),
        };
        let design = design.with_context(|| self.written().trim_start().to_owned())?;
        Ok(Some(design.prefixed(&config.verilog.module_prefix)))
    }

    /// The options as one writes them, with a space before each.
    pub(super) fn written(&self) -> String {
        self.part.written() + &self.lanes.written() + &self.port.written()
    }
}

/// The options of a part of a switch, and of a lane controller. What excludes one excludes all: an
/// option that another one requires may stand alone where that one cannot be given.
const PART_OPTIONS: [&str; 6] = [
    "switch_part",
    "ports_down",
    "ports_up",
    "select_on",
    "select_off",
    "select_window_ns",
];
const LANE_OPTIONS: [&str; 4] = ["link_lanes", "low_lanes", "link_gbps", "queue_bytes"];
pub(super) const ETHERNET_OPTIONS: [&str; 2] = ["ethernet", "mac_latency"];

/// What a utilisation may be, a window, and a rate in Gb/s.
const SHARE: &str =
    "a share of what the ports can carry, 0 to 1, with six digits behind the point at most";
const WINDOW: &str = "a number of ns that is whole clock cycles of the configuration";
const RATE: &str = "above 0 to 8000, with three digits behind the point at most";

/// All options of blocks that stand alone in the place of a controller.
pub(super) fn lone_block_options() -> impl Iterator<Item = &'static str> {
    PART_OPTIONS.into_iter().chain(LANE_OPTIONS)
}

/// All options of blocks in the place of a controller, those of a port of Ethernet among them.
pub(super) fn block_options() -> impl Iterator<Item = &'static str> {
    lone_block_options().chain(ETHERNET_OPTIONS)
}

/// A port of Ethernet.
#[derive(clap::Args)]
pub(super) struct EthernetArgs {
    /// A port of Ethernet on this interface: the controller, and the shims for low power idle
    /// between its MAC and its PHY. It needs port.sync = "lpi".
    #[arg(long, value_name = "INTERFACE", value_parser = interface())]
    ethernet: Option<Mii>,
    /// Clock cycles that the MAC of a port of Ethernet takes to react: so many after it is told
    /// to hold frames back, it may still start one.
    #[arg(
        long, value_name = "N", requires = "ethernet", default_value = "16",
        value_parser = within_u32(0..=MAX_MAC_LATENCY)
    )]
    mac_latency: u32,
}

/// Longest reaction of a MAC, in clock cycles. **Ours**: more than the longest frame lasts.
const MAX_MAC_LATENCY: u32 = 65_535;

/// Reads the name of an interface.
fn interface() -> impl TypedValueParser<Value = Mii> {
    PossibleValuesParser::new(Mii::ALL.map(Mii::name))
        .try_map(|name| Mii::named(&name).ok_or("no interface has this name"))
}

impl EthernetArgs {
    /// The interface of the port that is asked for, if one is, and how long its MAC takes to react, in
    /// clock cycles.
    pub(super) fn asked(&self) -> Option<(Mii, u32)> {
        self.ethernet.map(|mii| (mii, self.mac_latency))
    }

    fn written(&self) -> String {
        let latency = self.mac_latency;
        self.ethernet.map_or(String::new(), |mii| {
            format!(" --ethernet {} --mac-latency {latency}", mii.name())
        })
    }
}

/// A part of a switch.
#[derive(clap::Args)]
#[group(conflicts_with_all = ETHERNET_OPTIONS)]
struct PartArgs {
    /// A part of a switch that chooses among ports, in the place of a controller: a selection
    /// function (round-robin, first-on, powar, alonso), what says how many ports the load needs, or
    /// what turns the links of a fat tree's switch on and off.
    #[arg(
        long, value_name = "PART", requires_all = ["ports_down", "ports_up"],
        conflicts_with_all = LANE_OPTIONS, value_parser = part()
    )]
    switch_part: Option<Part>,
    /// Ports of that switch that lead down.
    #[arg(long, value_name = "N", requires = "switch_part", value_parser = within_u32(1..=62))]
    ports_down: Option<u32>,
    /// Ports of that switch that it chooses among, in a fat tree those that lead up.
    #[arg(long, value_name = "N", requires = "switch_part", value_parser = within_u32(2..=63))]
    ports_up: Option<u32>,
    /// Utilisation above which packets take one port more, of what measures it: selectable-ports and
    /// tree-links. Default: 0.5.
    #[arg(
        long, value_name = "SHARE", requires = "switch_part", value_parser = decimal(SHARE)
    )]
    select_on: Option<Decimal>,
    /// Utilisation below which they take one port less. Default: 0.25.
    #[arg(
        long, value_name = "SHARE", requires = "switch_part", value_parser = decimal(SHARE)
    )]
    select_off: Option<Decimal>,
    /// How often the utilisation is looked at, in ns: whole clock cycles of the configuration.
    /// Default: 10000.
    #[arg(
        long, value_name = "NS", requires = "switch_part", value_parser = decimal(WINDOW)
    )]
    select_window_ns: Option<Decimal>,
}

/// Reads the name of a part.
fn part() -> impl TypedValueParser<Value = Part> {
    PossibleValuesParser::new(PARTS.map(|(name, ..)| name)).try_map(|name| {
        let found = PARTS.into_iter().find(|(it, ..)| *it == name);
        found.ok_or("no part has this name")
    })
}

impl PartArgs {
    /// What it is made for, in clock cycles of `config`.
    ///
    /// # Errors
    /// If a number has more digits than count, or the window is no whole number of clock cycles; if a
    /// part that measures no load is given a threshold, or one that turns links the window of a network
    /// that has not settled by then.
    fn plan(
        &self,
        config: &Config,
        part: SwitchPart,
        kind: SelectionKind,
    ) -> anyhow::Result<SelectionPlan> {
        if let (SwitchPart::PortChoice, Some((name, _))) = (part, self.given().next()) {
            bail!(
                "--select-{name}: a selection function measures no load, selectable-ports and tree-links \
                 do; leave it out"
            );
        }
        let millionths = |option: &str, given: Option<Decimal>, default| match given {
            None => Ok(default),
            Some(part) => part
                .scaled_to_integer(1_000_000)
                .with_context(|| format!("--{option} {part}: must be {SHARE}")),
        };
        let period = config.clock.period_ps;
        let default = Thresholds::DEFAULT;
        let window = match self.select_window_ns {
            None => Some(default.window_ps),
            Some(given) => given.scaled_to_integer(1_000),
        };
        let Some(window) = window.filter(|window| window.is_multiple_of(period)) else {
            bail!(
                "--select-window-ns {}: it is not a whole number of clock cycles, of {} ns each",
                self.window_ns(),
                period as f64 / 1e3
            );
        };
        if part == SwitchPart::TreeLinks {
            let transition = rtl::plan(config)?.longest_transition() * period;
            ensure!(
                window > transition,
                "--select-window-ns {}: the network is to settle between two looks at the load (Alonso \
                 4.3), and a link of this configuration takes {} ns to sleep or to wake; make the window \
                 longer",
                self.window_ns(),
                transition as f64 / 1e3
            );
        }
        Ok(SelectionPlan {
            kind,
            ports_down: self.ports_down.unwrap_or_default(),
            ports_up: self.ports_up.unwrap_or_default(),
            window: window / period,
            on_millionths: millionths("select-on", self.select_on, default.on_millionths)?,
            off_millionths: millionths("select-off", self.select_off, default.off_millionths)?,
        })
    }

    /// What is given of how the load is measured: the end of an option's name, and its value.
    fn given(&self) -> impl Iterator<Item = (&'static str, Decimal)> {
        let options = [
            ("on", self.select_on),
            ("off", self.select_off),
            ("window-ns", self.select_window_ns),
        ];
        let given = options.into_iter();
        given.filter_map(|(name, value)| Some((name, value?)))
    }

    /// The window, given or not, as one writes it.
    fn window_ns(&self) -> String {
        let default = Decimal::scaled(Thresholds::DEFAULT.window_ps, 3);
        self.select_window_ns.unwrap_or(default).plain()
    }

    fn written(&self) -> String {
        let (Some((part, ..)), Some(down), Some(up)) =
            (self.switch_part, self.ports_down, self.ports_up)
        else {
            return String::new();
        };
        let given = self.given();
        let given = given.map(|(name, value)| format!(" --select-{name} {}", value.plain()));
        let given: String = given.collect();
        format!(" --switch-part {part} --ports-down {down} --ports-up {up}{given}")
    }
}

/// A lane controller.
#[derive(clap::Args)]
#[group(conflicts_with_all = ETHERNET_OPTIONS)]
struct LaneArgs {
    /// A lane controller, in the place of a port controller: it keeps some of so many lanes of a
    /// link on while that is idle, and sends by them. Its times are those of fast wake, and its threshold
    /// is t_pdt_ns; it needs policy = "fixed", sleep = "fast-wake" and sync = "lpi".
    #[arg(
        long, value_name = "N", conflicts_with_all = PART_OPTIONS, value_parser = within_u32(2..=64)
    )]
    link_lanes: Option<u32>,
    /// Lanes that stay on.
    #[arg(
        long, value_name = "N", requires = "link_lanes", default_value = "1",
        value_parser = within_u32(1..=63)
    )]
    low_lanes: u32,
    /// Rate of the link by all lanes, in Gb/s.
    #[arg(
        long,
        value_name = "GBPS",
        requires = "link_lanes",
        default_value = "400",
        value_parser = decimal(RATE)
    )]
    link_gbps: Decimal,
    /// Bytes that can wait to be sent: the buffer of the port.
    #[arg(
        long, value_name = "BYTES", requires = "link_lanes", default_value = "49152",
        value_parser = within_u32(64..=1 << 30)
    )]
    queue_bytes: u32,
}

impl LaneArgs {
    /// The lanes that are asked for.
    fn asked(&self) -> Option<Lanes> {
        let low = self.low_lanes;
        self.link_lanes.map(|count| Lanes { count, low })
    }

    /// What it is made for, in clock cycles of `config`.
    ///
    /// # Errors
    /// If the configuration is not that of a port whose lanes can be turned off, or the rate is none.
    fn plan(&self, config: &Config, lanes: Lanes) -> Result<LanePlan, RtlError> {
        // In thousandths.
        let rate = self.link_gbps.scaled_to_integer(1000);
        let Some(rate) = rate.filter(|rate| (1..=8_000_000).contains(rate)) else {
            return Err(RtlError::Unsupported(format!(
                "a link of {} Gb/s: {RATE}",
                self.link_gbps
            )));
        };
        let port = rtl::plan(config)?;
        let clock_ps = config.clock.period_ps;
        // A byte takes 8,000 ps at 1 Gb/s.
        let level = |t_w: u64| {
            let change = t_w.saturating_mul(clock_ps).saturating_mul(rate);
            LanePlan::level(
                lanes.count,
                lanes.low.min(lanes.count - 1),
                8_000_000,
                change,
            )
        };
        let plan = lanes.plan_of(&port, self.queue_bytes, level);
        plan.map_err(RtlError::Unsupported)
    }

    fn written(&self) -> String {
        let Some(lanes) = self.link_lanes else {
            return String::new();
        };
        let Self {
            low_lanes,
            link_gbps,
            queue_bytes,
            ..
        } = self;
        format!(
            " --link-lanes {lanes} --low-lanes {low_lanes} --link-gbps {link_gbps} --queue-bytes {queue_bytes}"
        )
    }
}
