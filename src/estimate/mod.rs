//! What a controller costs on paper: register widths, the longest time they hold
//! (PerfBound Table 5), histogram and history memory (PerfBound 3.3), and beside the formulas the
//! census of what was elaborated.

mod account;
mod ethernet;
mod notes;
pub mod summary;
mod table5;

use num_traits::ToPrimitive;
use serde::Serialize;

use crate::blocks::fixed_point::Arithmetic;
use crate::blocks::histogram::Shape;
use crate::blocks::link_sync::{longest_delay, start_cycles, wait_bound};
use crate::blocks::lpi_fsm::{self, wake_bound};
use crate::blocks::mii::Mii;
use crate::blocks::perfbound::halving_delay;
use crate::blocks::port::{update_interval_at_line_rate, update_latency, SleepBound};
use crate::config::plan::{HistogramKind, Policy, PortPlan, Product, SyncPlan, GENERATIONS};
use crate::config::{Config, PlanError};
use crate::hdl::census::Census;
use crate::rtl;

pub use account::{Account, Difference};
pub use ethernet::{EthernetPort, Wake};
pub use table5::{longest_time, LongestTime, Table5, TABLE5_RESOLUTIONS_NS, TABLE5_WIDTHS};

/// `h_maxN` that PerfBound 3.3 names as an example: "20k elements".
const PAPER_EXAMPLE_SAMPLES: u64 = 20_000;

/// The estimate of one port controller, or of a port of Ethernet; as JSON, field by field.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// SHA-256 of the canonical configuration.
    pub configuration_sha256: String,
    /// `clock.period_ps`: the length of all cycles here.
    pub clock_period_ps: u64,
    /// `port.policy` as the configuration writes it.
    pub policy: &'static str,
    /// `port.sleep` as the configuration writes it.
    pub sleep: &'static str,
    /// `histogram.kind` as the configuration writes it.
    pub histogram_kind: &'static str,
    /// Why there is no hardware for this configuration; `None` if there is.
    pub no_hardware: Option<String>,
    /// PerfBound Table 5 in seconds.
    #[serde(rename = "table5_max_time_s")]
    pub table5_seconds: Table5<f64>,
    /// PerfBound Table 5 rounded as the paper prints it.
    #[serde(rename = "table5_printed")]
    pub table5_printed: Table5<String>,
    /// The same for the configuration's own width and resolution.
    pub max_time: LongestTime,
    /// Widths that the configuration implies.
    pub registers: Vec<Register>,
    /// The formulas of PerfBound 3.3.
    pub memory: Memory,
    /// Why the configuration's histogram takes other bits than its formula; `None` if the
    /// policy needs none.
    pub histogram: Option<Account>,
    /// The same for every kind of histogram with the settings of the PerfBound paper.
    pub perfbound_paper_histograms: Vec<Account>,
    /// Registers and memories of the elaborated hardware; `None` if it was not elaborated.
    pub census: Option<Census>,
    /// How fast that hardware answers; `None` if it does not predict.
    pub latency: Option<Latency>,
    /// How exact its correction is; `None` if it does not correct.
    pub accuracy: Option<Accuracy>,
    /// How long a packet can wait for its link; `None` if the ends exchange no messages.
    pub wait: Option<Wait>,
    /// The same in clock cycles where pins tell what the other end does, else `None`.
    pub wait_with_levels_cycles: Option<u64>,
    /// The same where each direction of the link sleeps for itself, else `None`.
    pub wait_with_lpi_cycles: Option<u64>,
    /// How long a link can stay awake whose ends stay idle; `None` if there is no bound: the port
    /// never sleeps by itself, or `port.t_backstop_ns` is off.
    pub time_to_sleep: Option<TimeToSleep>,
    /// What the guard promises; `None` without one.
    pub guard: Option<GuardPromise>,
    /// What the shims add; `None` unless it is the estimate of a port of Ethernet.
    pub ethernet: Option<EthernetPort>,
    /// What the settings of the histogram bring with them that is easily overlooked.
    pub notes: Vec<String>,
}

/// Width of a register or an arithmetic value that the configuration implies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Register {
    /// What the papers or SPEC call it.
    pub name: &'static str,
    /// Its width in bits.
    pub bits: u32,
    /// Where the width comes from.
    pub reason: String,
}

/// A number of bits, and of bytes rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    /// The number of bits.
    pub bits: u64,
    /// The same in bytes, rounded up.
    pub bytes: u64,
}

impl Size {
    fn of(bits: u64) -> Size {
        Size {
            bits,
            bytes: bits.div_ceil(8),
        }
    }
}

/// Memory of one port by the formulas of PerfBound 3.3, for the configuration's widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// `w_counter` in bits.
    pub w_counter_bits: u32,
    /// `s_elem` in bits: a stored idle length.
    pub s_elem_bits: u32,
    /// Number of bins.
    pub n_bins: u32,
    /// `h_maxN`: samples that the histogram holds.
    #[serde(rename = "h_maxN")]
    pub h_max_n: u32,
    /// The configured kind of histogram.
    pub histogram: Size,
    /// `w_counter * n_bins`: a counter for every bin (regular, clearing).
    pub clearing: Size,
    /// `w_counter * min(n_bins, h_maxN)`: at most `h_maxN` bins are ever populated.
    pub populated_bins: Size,
    /// `(w_counter + index) * map_entries`: the formula's counters, and the bin indices
    /// that a map in hardware must store beside them.
    pub map: Size,
    /// `w_counter * n_bins + s_elem * h_maxN`.
    pub circular: Size,
    /// `4 generations * w_counter * n_bins`.
    pub decaying: Size,
    /// PerfBoundCorrect: `n_R` bits and `n_R` ratios.
    pub correction: Size,
    /// `n_R`.
    pub n_r: u32,
    /// A ratio is stored as its logarithm: sign, integer and fraction bits.
    pub ratio_bits: u32,
    /// `h_maxN * (w_counter + s_elem)` for the PerfBound paper's example of 20 000 samples with as
    /// many bins.
    pub circular_20000_samples: Size,
}

/// How fast the elaborated hardware answers, in clock cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// From the end of an idle period to the new threshold, at most, if no further idle
    /// period ends before.
    pub update_cycles: u64,
    /// Between two new thresholds, at most, when an idle period ends every third cycle.
    pub update_interval_at_line_rate_cycles: u64,
    /// By how much the first is exceeded, at most, by a threshold before which counters and
    /// window are halved (SPEC 6); 0 if they never are.
    pub halving_delay_cycles: u64,
}

/// How long a packet can wait for its link to wake, in clock cycles, at most
/// (`docs/how/link-sync.md`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Wait {
    /// If the other end answers over a cable without delay.
    pub answered_cycles: u64,
    /// The same over a cable of a round trip of 100 cycles.
    pub round_trip_100_cycles: Option<u64>,
    /// If the other end never answers, or sends anything at any time.
    pub unanswered_cycles: u64,
    /// After reset, in which a port sends nothing.
    pub start_cycles: u64,
    /// The longest delay of the link one way, PHYs and cable, that the time-out allows.
    pub longest_delay_cycles: u64,
    /// A cable of that delay alone, in metres.
    pub longest_cable_m: f64,
}

/// How long an awake link can take to go to sleep whose ends stay idle, in clock cycles, at most
/// (SPEC 3). The longest timer runs from the last activity, or from reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TimeToSleep {
    /// The longest timer: the longest threshold, or the backstop.
    pub timer_cycles: u64,
    /// Until an idle end leaves `Wake`, or knows that the other end is silent.
    pub end_cycles: u64,
    /// Until the link leaves `Wake`, over the longest cable that the time-out allows.
    pub link_cycles: u64,
}

impl TimeToSleep {
    fn of(plan: &PortPlan) -> Option<TimeToSleep> {
        let bound = SleepBound::of(plan)?;
        let delay = plan.messages().map_or(0, |sync| longest_delay(plan, &sync));
        Some(TimeToSleep {
            timer_cycles: bound.timer,
            end_cycles: bound.total,
            link_cycles: SleepBound::of_link(plan, delay)?,
        })
    }
}

/// The guard's promise (SPEC 12): in every interval of `T` ticks the packets of an end wait for at
/// most `B + T l / t_w` wake-ups, each of which takes `t_w`. Of measured hop counts `l` is that of packets
/// that cross one link, the largest that can be measured. Software that sets the bound, the hop factor or
/// `t_w` changes the promise: here they are those of the configuration. With registers and a policy that
/// does not predict, `t_w` is the longest that software can choose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GuardPromise {
    /// `B`: wake-ups that may follow each other at once.
    pub burst: u32,
    /// The time after which there may be another one, `t_w / l`.
    pub token_ns: f64,
    /// `t_w` of the configured sleep state, or the longest that software can choose.
    pub t_w_ns: f64,
    /// What `B` wake-ups take together.
    pub burst_wait_ns: f64,
    /// `l`: the part of any longer time that the others take.
    pub share: f64,
    /// Software can change `l` and `t_w`, and with them all of this.
    pub adjustable: bool,
}

impl GuardPromise {
    fn of(config: &Config, plan: &PortPlan) -> Option<GuardPromise> {
        let guard = plan.guard?;
        let share = config.largest_degradation_factor().to_f64()?;
        let t_w_ps = match plan.registers.is_some() && !guard.adjustable {
            true => config.longest_t_w_ps(),
            false => config.t_w_ps(),
        };
        let t_w_ns = t_w_ps as f64 / 1e3;
        Some(GuardPromise {
            burst: guard.burst,
            token_ns: t_w_ns / share,
            t_w_ns,
            burst_wait_ns: f64::from(guard.burst) * t_w_ns,
            share,
            adjustable: plan.registers.is_some() && guard.adjustable,
        })
    }
}

/// Delay of a cable, copper or fibre, in ps per metre: two thirds of the speed of light.
const CABLE_PS_PER_M: f64 = 5000.0;

impl Wait {
    fn of(plan: &PortPlan, period_ps: u64) -> Option<Wait> {
        let longest = longest_delay(plan, &plan.messages()?);
        Some(Wait {
            answered_cycles: wait_bound(plan, Some(0))?,
            round_trip_100_cycles: (2 * longest >= 100)
                .then(|| wait_bound(plan, Some(100)))
                .flatten(),
            unanswered_cycles: wait_bound(plan, None)?,
            start_cycles: start_cycles(plan, &plan.messages()?),
            longest_delay_cycles: longest,
            longest_cable_m: longest as f64 * period_ps as f64 / CABLE_PS_PER_M,
        })
    }
}

/// How far a corrected threshold can be from the real-number result (SPEC 8): the sum of
/// the two.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Accuracy {
    /// In proportion to the threshold.
    pub relative: f64,
    /// In ticks: the rounding to whole ones.
    pub ticks: f64,
}

impl Estimate {
    /// The estimate of a configuration, beside the census of its hardware where there is
    /// one.
    pub fn new(config: &Config, census: Option<Census>) -> Estimate {
        let plan = config.plan();
        Estimate {
            configuration_sha256: config.hash(),
            clock_period_ps: config.clock.period_ps,
            policy: config.port.policy.name(),
            sleep: config.port.sleep.name(),
            histogram_kind: config.histogram.kind.name(),
            no_hardware: rtl::plan(config).err().map(|error| error.to_string()),
            table5_seconds: Table5::new(|time| time.seconds),
            table5_printed: Table5::new(|time| time.printed.unwrap_or(time.exact_seconds)),
            max_time: longest_time(config.port.time_width, config.clock.tick_ps),
            registers: registers(config, &plan),
            memory: memory(config),
            histogram: config
                .predicts()
                .then(|| Account::new(config, census.as_ref())),
            perfbound_paper_histograms: Account::of_the_perfbound_paper(),
            latency: match (&plan, &census) {
                (Ok(plan), Some(_)) if plan.predicts() => Some(Latency {
                    update_cycles: update_latency(plan),
                    update_interval_at_line_rate_cycles: update_interval_at_line_rate(plan),
                    halving_delay_cycles: halving_delay(plan),
                }),
                _ => None,
            },
            accuracy: match (&plan, &census) {
                (Ok(plan), Some(_)) if plan.corrects() => Some(Accuracy {
                    relative: Arithmetic::new(plan).relative_error(),
                    ticks: 0.5,
                }),
                _ => None,
            },
            wait: plan
                .as_ref()
                .ok()
                .and_then(|plan| Wait::of(plan, config.clock.period_ps)),
            time_to_sleep: plan.as_ref().ok().and_then(TimeToSleep::of),
            wait_with_levels_cycles: match &plan {
                Ok(plan) if plan.sync == SyncPlan::Levels => Some(wake_bound(plan)),
                _ => None,
            },
            wait_with_lpi_cycles: match &plan {
                Ok(plan) if plan.per_direction() => Some(wake_bound(plan)),
                _ => None,
            },
            guard: plan
                .as_ref()
                .ok()
                .and_then(|plan| GuardPromise::of(config, plan)),
            ethernet: None,
            notes: match &plan {
                Ok(plan) if plan.predicts() => notes::of(config, plan),
                _ => Vec::new(),
            },
            census,
        }
    }

    /// The estimate of the port of Ethernet of a configuration: the controller and its shims, whose MAC
    /// takes `mac_latency` clock cycles to react. The `plan` is that of the configuration.
    pub fn of_ethernet(
        config: &Config,
        plan: &PortPlan,
        census: Census,
        (mii, mac_latency): (Mii, u32),
    ) -> Estimate {
        let mut estimate = Estimate::new(config, Some(census));
        estimate.ethernet = Some(EthernetPort::of(config, plan, mii, mac_latency));
        estimate.notes.extend(ethernet::note(plan, mac_latency));
        estimate
    }
}

/// Bits that hold every number from 0 to `largest`, at least 1.
fn bits_for_wide(largest: u128) -> u32 {
    (128 - largest.leading_zeros()).max(1)
}

/// The same of a number of 64 bits.
fn bits_for(largest: u64) -> u32 {
    (64 - largest.leading_zeros()).max(1)
}

fn registers(config: &Config, plan: &Result<PortPlan, PlanError>) -> Vec<Register> {
    let time_width = config.port.time_width;
    let mut registers = Vec::new();
    let mut add = |name, bits, reason: String| {
        registers.push(Register { name, bits, reason });
    };
    let clocks_per_tick = config.clock.tick_ps / config.clock.period_ps;
    if clocks_per_tick > 1 {
        add(
            "tick prescaler",
            bits_for(clocks_per_tick - 1),
            format!("{clocks_per_tick} clock cycles in a tick"),
        );
    }
    let time = || "port.time_width".to_string();
    add("t_PDT", time_width, time());
    add("idle meter, the PDT timer", time_width, time());
    if let Ok(plan) = plan {
        let longest = lpi_fsm::longest_time(plan);
        add(
            "transition timer",
            lpi_fsm::time_width(plan),
            format!("longest transition, hold or interval: {longest} clock cycles"),
        );
    }
    if !config.predicts() {
        return registers;
    }
    match config.histogram.kind {
        // It may be passed by a tick or more before the next sample halves it.
        HistogramKind::Regular => add(
            "window X",
            bits_for(2 * config.max_window() + 1),
            "twice the window that is halved".into(),
        ),
        _ => add("window X", time_width, time()),
    }
    if let Ok(plan) = plan {
        add(
            "histogram counter",
            Shape::of(plan).counter,
            match config.histogram.kind {
                HistogramKind::Regular => {
                    "histogram.counter_bits, and what comes until it is halved"
                }
                _ => "histogram.counter_bits, or what is needed if that is less",
            }
            .into(),
        );
    }
    if config.histogram.kind.ages() {
        add(
            "sample count",
            bits_for(config.histogram.max_samples.into()),
            format!("histogram.max_samples = {}", config.histogram.max_samples),
        );
    }
    if let Ok(plan) = plan {
        let budget = plan.budget;
        match budget.product {
            Some(Product { k, s }) if budget.rate.is_some() => add(
                "budget rate K",
                budget.rate.map_or(0, |rate| rate.width),
                format!("changes at run time, K = {k} at first, N = (X * K) >> {s}"),
            ),
            Some(Product { k, s }) => add(
                "budget constant K",
                128 - k.leading_zeros(),
                format!("K = {k}, N = (X * K) >> {s}"),
            ),
            None => add(
                "budget accumulator",
                // The sign of the fraction: negative until a tick makes a whole packet.
                budget.width + bits_for_wide(budget.denominator - 1) + 1,
                format!(
                    "N, a fraction and its sign, {}/{} more every tick",
                    budget.numerator, budget.denominator
                ),
            ),
        }
        add(
            "budget N",
            budget.width,
            "largest window times l / t_w".into(),
        );
    }
    if config.port.policy == Policy::PerfBoundCorrect {
        add(
            "logarithm of a ratio",
            ratio_bits(config),
            format!(
                "log2 of up to {time_width} bits with {} fraction bits",
                config.correction.fraction_bits
            ),
        );
    }
    registers
}

/// `log2` of a ratio of times is within `±time_width`: its sign, integer bits and fraction.
fn ratio_bits(config: &Config) -> u32 {
    1 + bits_for(u64::from(config.port.time_width) - 1) + config.correction.fraction_bits
}

fn memory(config: &Config) -> Memory {
    let histogram = &config.histogram;
    let w_counter = u64::from(histogram.counter_bits);
    let s_elem = u64::from(config.port.time_width);
    let (bins, samples) = (u64::from(histogram.bins), u64::from(histogram.max_samples));
    let history = u64::from(config.correction.history);
    let ratio_bits = ratio_bits(config);
    let clearing = Size::of(w_counter * bins);
    let index = u64::from(bits_for(bins - 1));
    let map = Size::of((w_counter + index) * u64::from(histogram.map_entries));
    let circular = Size::of(w_counter * bins + s_elem * samples);
    let decaying = Size::of(u64::from(GENERATIONS) * w_counter * bins);
    Memory {
        w_counter_bits: histogram.counter_bits,
        s_elem_bits: config.port.time_width,
        n_bins: histogram.bins,
        h_max_n: histogram.max_samples,
        histogram: match histogram.kind {
            HistogramKind::Regular | HistogramKind::Clearing => clearing,
            HistogramKind::Circular => circular,
            HistogramKind::Map => map,
            HistogramKind::Decaying => decaying,
        },
        clearing,
        populated_bins: Size::of(w_counter * bins.min(samples)),
        map,
        circular,
        decaying,
        correction: Size::of(history + history * u64::from(ratio_bits)),
        n_r: config.correction.history,
        ratio_bits,
        circular_20000_samples: Size::of(PAPER_EXAMPLE_SAMPLES * (w_counter + s_elem)),
    }
}

#[cfg(test)]
mod tests;
