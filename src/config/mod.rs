//! The one TOML file: units, validation, defaults, presets.
//!
//! Read in two steps: what was written, key by key with its place in the text
//! ([`input`], with the keys of [`TABLES`]), then a [`Config`] in which every value
//! is legal and every default is filled in (`resolve`). [`Config::plan`] turns it into the units of the hardware.
//! Times are exact: picoseconds as integers, decimals as written.

mod budget;
mod keys;
mod notes;
pub mod plan;
mod presets;
mod resolve;

use std::path::Path;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive};
use sha2::{Digest, Sha256};
use toml::de::DeTable;

use crate::input::{self, Reader};
pub use crate::input::{Decimal, InputError};

use budget::Adjustable;
pub use budget::BudgetError;
pub use keys::{json_schema, TABLES};
pub use notes::CoarseBins;
pub use presets::{Preset, PRESETS};

use plan::{
    BinScale, BudgetPlan, CircularWindow, CorrectionPlan, GuardPlan, HistogramKind, HistogramPlan,
    LinkPlan, MemoryCode, MessagesPlan, MissUnit, Policy, PortPlan, RefreshPlan, RegistersPlan,
    Sleep, SleepTimes, SyncPlan, HOP_FACTOR_FRACTION, INITIAL_HOP_FACTOR,
};

/// A validated configuration in physical units. Every time is a whole number of the
/// unit that counts it: clock periods for transitions, ticks for everything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// `[clock]`: the controller's clock and the resolution of times.
    pub clock: Clock,
    /// `[port]`: the policy, its thresholds and the width of times.
    pub port: Port,
    /// `[states.*]`: powers and transition times.
    pub states: States,
    /// `[histogram]`: what the predicting policies record.
    pub histogram: Histogram,
    /// `[perfbound]`: the performance that may be lost.
    pub perfbound: PerfBound,
    /// `perfbound.hop_window`: packets over which the hop monitor takes the mean, a power of two.
    pub hop_window: u32,
    /// `perfbound.budget_step_ticks`: ticks by which a budget that is added up grows at a time, a power
    /// of two.
    pub budget_step_ticks: u32,
    /// `perfbound.window`: what the window of a circular histogram is (SPEC 7.1).
    pub window: CircularWindow,
    /// `[correction]`: the correction of SPEC 8.
    pub correction: Correction,
    /// `[guard]`: the bound on delayed packets as a theorem.
    pub guard: Guard,
    /// `[verilog]`: the names of what is emitted.
    pub verilog: Verilog,
}

/// `[guard]` (SPEC 12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// Packets that may be delayed beyond the rate `l / t_w`; 0: off.
    pub burst: u32,
}

/// `[verilog]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verilog {
    /// What the name of every module begins with, so that the Verilog of several configurations
    /// can be in one design; empty: nothing.
    pub module_prefix: String,
}

/// `[clock]` (SPEC 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Clock period in picoseconds.
    pub period_ps: u64,
    /// Time resolution in picoseconds: a whole number of clock periods.
    pub tick_ps: u64,
}

/// `[port]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Bits of every time, 8 to 64.
    pub time_width: u32,
    /// When the port powers down (SPEC 3, 7, 8).
    pub policy: Policy,
    /// Where the port goes when it powers down (SPEC 4).
    pub sleep: Sleep,
    /// The threshold of the fixed policy in picoseconds.
    pub t_pdt_ps: u64,
    /// The predicting policies' threshold before the first sample, in picoseconds.
    pub t_pdt_init_ps: u64,
    /// After this time without activity, in picoseconds, an end goes down that did not transmit
    /// last, unless its threshold is longer (SPEC 3); `None`: it leaves that to the other end.
    pub t_backstop_ps: Option<u64>,
    /// Time in fast wake before deep sleep (hybrid, Georgakoudis III.A.3), in picoseconds.
    pub hybrid_hold_ps: u64,
    /// How the two ends of a link agree.
    pub sync: Sync,
    /// When a controller gives up on a peer that never answers (SPEC 5), in picoseconds.
    pub sync_timeout_ps: u64,
    /// Pins that enable the port, keep its link awake, and tell whether the PHY has a link.
    pub control_pins: bool,
    /// The registers that decide whether the link is awake are kept in three copies.
    pub triple_redundancy: bool,
    /// The code of the words of all memories.
    pub memory_code: MemoryCode,
    /// Run-time parameters and counters behind an AXI4-Lite port.
    pub registers: bool,
    /// By which factor software may lengthen and shorten the times of the link; 1: not at all.
    pub timing_range: u32,
}

/// How the two ends of a link agree on sleeping and waking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// By messages over the link (SPEC 5).
    Messages,
    /// By pins that tell what the other end does, without delay.
    Levels,
    /// Not at all: each direction of the link sleeps for itself, as the low power idle of IEEE
    /// 802.3 does (SPEC 14).
    Lpi,
}

impl Sync {
    /// Every value, in the order in which messages list them.
    pub const ALL: [Sync; 3] = [Sync::Messages, Sync::Levels, Sync::Lpi];

    /// The value as a configuration writes it.
    pub fn name(self) -> &'static str {
        match self {
            Sync::Messages => "messages",
            Sync::Levels => "levels",
            Sync::Lpi => "lpi",
        }
    }
}

/// `[states.*]`: powers and transition times of a link (PerfBound Table 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States {
    /// Power of a link that is awake or in transition, in watts.
    pub wake_power_w: Decimal,
    /// Fast wake: a short `t_w`, a moderate saving.
    pub fast_wake: SleepState,
    /// Deep sleep: a long `t_w`, the largest saving.
    pub deep_sleep: SleepState,
    /// Quiet and refresh intervals of deep sleep (Georgakoudis II.A); `None` is off.
    pub refresh: Option<Refresh>,
}

/// A sleep state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepState {
    /// Power of a link in this state, in watts.
    pub power_w: Decimal,
    /// Sleep to wake, in picoseconds.
    pub t_w_ps: u64,
    /// Wake to sleep, in picoseconds.
    pub t_s_ps: u64,
}

/// Refresh within deep sleep (Georgakoudis II.A).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refresh {
    /// Quiet between two refreshes, in picoseconds.
    pub t_q_ps: u64,
    /// Refreshing at full power, in picoseconds.
    pub t_r_ps: u64,
}

/// `[histogram]` (SPEC 6, PerfBound Table 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// How the histogram forgets.
    pub kind: HistogramKind,
    /// How idle times are sorted into bins.
    pub scale: Scale,
    /// `n_bins`, 4 to 4096.
    pub bins: u32,
    /// `r_bin` in picoseconds: a power of two ticks. On a logarithmic scale the finest bin's.
    pub bin_ps: u64,
    /// `w_counter` in bits, 1 to 32.
    pub counter_bits: u32,
    /// `h_maxN`, at least 1.
    pub max_samples: u32,
    /// `TTL_hist` in picoseconds; 0 is for ever.
    pub ttl_ps: u64,
    /// Entries of a map histogram.
    pub map_entries: u32,
    /// `h_maxval` in picoseconds.
    pub max_value_ps: u64,
}

/// How idle times are sorted into bins (`docs/how/histograms.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Every bin is `r_bin` wide.
    Linear,
    /// A bin's width grows with its place.
    Log,
}

impl Scale {
    /// Every value, in the order in which messages list them.
    pub const ALL: [Scale; 2] = [Scale::Linear, Scale::Log];

    /// The value as a configuration writes it.
    pub fn name(self) -> &'static str {
        match self {
            Scale::Linear => "linear",
            Scale::Log => "log",
        }
    }
}

/// `[perfbound]` (SPEC 7.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PerfBound {
    /// `l = bound * sum(p_i / h_i)`; the groups are `(h_i, p_i)` by rising `h_i`.
    Hops {
        /// The admitted degradation as a fraction: 0.01 is 1 %.
        bound: Decimal,
        /// `(h_i, p_i)`: links on the path, and the fraction of the packets that take as many.
        groups: Vec<(u32, Decimal)>,
    },
    /// `l` itself.
    Factor {
        /// `l`, a fraction.
        factor: Decimal,
        /// The admitted degradation that it comes from, as a fraction, where that is said.
        bound: Option<Decimal>,
    },
    /// The hop counts come from the hop monitor while the port runs.
    Measured {
        /// The admitted degradation as a fraction.
        bound: Decimal,
    },
}

impl PerfBound {
    /// The admitted degradation as a fraction, where it is known.
    fn bound(&self) -> Option<Decimal> {
        match self {
            PerfBound::Hops { bound, .. } | PerfBound::Measured { bound } => Some(*bound),
            PerfBound::Factor { bound, .. } => *bound,
        }
    }
}

/// `[correction]` (SPEC 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Correction {
    /// `n_R`, 1 to 1024.
    pub history: u32,
    /// What becomes of a correction factor below 1.
    pub mode: CorrectionMode,
    /// What the factor counts misses in.
    pub miss_unit: MissUnit,
    /// Fraction bits of the logarithms, 4 to 32.
    pub fraction_bits: u32,
}

/// What a correction factor below 1 does (SPEC 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorrectionMode {
    /// Nothing.
    AtLeastOne,
    /// It shortens the threshold, as PerfBound Equation 2 has it.
    Raw,
}

impl CorrectionMode {
    /// Every value, in the order in which messages list them.
    pub const ALL: [CorrectionMode; 2] = [CorrectionMode::AtLeastOne, CorrectionMode::Raw];

    /// The value as a configuration writes it.
    pub fn name(self) -> &'static str {
        match self {
            CorrectionMode::AtLeastOne => "at-least-one",
            CorrectionMode::Raw => "raw",
        }
    }
}

/// A configuration is legal, but the requested model does not exist for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The packet budget has no exact constants.
    #[error(
        "perfbound: {error}; write bound, proportions or hop_factor with fewer digits, lower \
         port.time_width = {time_width}, or {}",
        match ttl_ps {
            Some(ttl) => format!("clear by time sooner (histogram.ttl_ns = {})", ns(*ttl)),
            None => "leave out the registers (port.registers, --ports), by which software may \
                     set any time to live"
                .to_owned(),
        }
    )]
    Budget {
        /// Why.
        error: BudgetError,
        /// `port.time_width`, in bits.
        time_width: u32,
        /// `histogram.ttl_ns` in ps; `None` if software sets it.
        ttl_ps: Option<u64>,
    },
}

impl Config {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// If the file cannot be read, or with everything that is wrong in it.
    pub fn load(path: &Path) -> Result<Config, InputError> {
        Config::parse(&input::read_text(path)?, &path.display().to_string())
    }

    /// Reads a configuration text; `name` stands for it in messages. An empty text is
    /// the configuration of defaults.
    ///
    /// # Errors
    /// With everything that is wrong in the text.
    pub fn parse(text: &str, name: &str) -> Result<Config, InputError> {
        resolve::config(text, name)
    }

    /// The configuration in a table of the text that `reader` reads; `None` if there are faults
    /// in it, which the reader has noted.
    pub(crate) fn of_table<'a>(reader: &mut Reader<'a>, table: DeTable<'a>) -> Option<Config> {
        resolve::of_table(reader, table)
    }

    /// The configuration in the units of the hardware.
    ///
    /// # Errors
    /// If the packet budget has no exact constants.
    pub fn plan(&self) -> Result<PortPlan, PlanError> {
        let cycles = |ps: u64| ps / self.clock.period_ps;
        let ticks = |ps: u64| ps / self.clock.tick_ps;
        let times = |state: &SleepState| SleepTimes {
            t_s: cycles(state.t_s_ps),
            t_w: cycles(state.t_w_ps),
        };
        let histogram = &self.histogram;
        let bin_shift = ticks(histogram.bin_ps).trailing_zeros();
        let max_value = ticks(histogram.max_value_ps);
        let budget = self.budget_plan()?;
        Ok(PortPlan {
            time_width: self.port.time_width,
            clocks_per_tick: cycles(self.clock.tick_ps),
            policy: self.port.policy,
            sleep: self.port.sleep,
            t_pdt_init: ticks(match self.port.policy {
                Policy::Fixed => self.port.t_pdt_ps,
                _ => self.port.t_pdt_init_ps,
            }),
            // Of a direction that sleeps for itself this end is the last transmitter, always.
            t_backstop: (self.port.t_backstop_ps.map(ticks))
                .filter(|_| self.port.sync != Sync::Lpi),
            link: LinkPlan {
                fast_wake: times(&self.states.fast_wake),
                deep_sleep: times(&self.states.deep_sleep),
                hybrid_hold: cycles(self.port.hybrid_hold_ps),
                refresh: self.states.refresh.map(|refresh| RefreshPlan {
                    t_q: cycles(refresh.t_q_ps),
                    t_r: cycles(refresh.t_r_ps),
                }),
            },
            sync: match self.port.sync {
                Sync::Messages => SyncPlan::Messages(MessagesPlan {
                    timeout: cycles(self.port.sync_timeout_ps),
                }),
                Sync::Levels => SyncPlan::Levels,
                Sync::Lpi => SyncPlan::Lpi,
            },
            control_pins: self.port.control_pins,
            triple_redundancy: self.port.triple_redundancy,
            memory_code: self.port.memory_code,
            registers: self.port.registers.then(|| RegistersPlan {
                config_hash: self.hash_word(),
                period_ps: self.clock.period_ps,
                t_pdt: ticks(self.port.t_pdt_ps),
                timing_range: self.port.timing_range,
            }),
            histogram: HistogramPlan {
                kind: histogram.kind,
                scale: match histogram.scale {
                    Scale::Linear => BinScale::Linear,
                    Scale::Log => BinScale::Log {
                        mantissa_bits: mantissa_bits(max_value >> bin_shift, histogram.bins),
                    },
                },
                bins: histogram.bins,
                bin_shift,
                counter_bits: histogram.counter_bits,
                max_samples: histogram.max_samples,
                ttl: self.time_to_live(),
                max_value,
                map_entries: histogram.map_entries,
                window: self.window,
            },
            hop_window_log2: self.hop_window.ilog2(),
            budget,
            guard: self.guard_plan(&budget),
            correction: CorrectionPlan {
                history: self.correction.history,
                at_least_one: self.correction.mode == CorrectionMode::AtLeastOne,
                miss_unit: self.correction.miss_unit,
                fraction_bits: self.correction.fraction_bits,
            },
        })
    }

    /// The guard's constants, if there is one; `budget` is the plan's.
    fn guard_plan(&self, budget: &BudgetPlan) -> Option<GuardPlan> {
        if !self.guarded() {
            return None;
        }
        let burst = self.guard.burst;
        if let (Some(rate), Some(product)) = (budget.rate, budget.product) {
            return Some(GuardPlan {
                burst,
                numerator: product.k.min(1 << product.s),
                denominator: 1 << product.s,
                adjustable: true,
                rate_bits: rate.width,
            });
        }
        // Nothing computes a rate for this policy. Where software chooses among sleep states and times,
        // the bound holds with each of them if it is that of the longest `t_w`.
        let rate = match self.port.registers {
            true => self.rate_of(self.longest_t_w_ps()),
            false => self.budget_rate(),
        };
        Some(GuardPlan {
            burst,
            numerator: rate.numer().to_u128()?,
            denominator: rate.denom().to_u128()?,
            adjustable: false,
            rate_bits: 1,
        })
    }

    fn budget_plan(&self) -> Result<BudgetPlan, PlanError> {
        self.budget_constants().map_err(|error| PlanError::Budget {
            error,
            time_width: self.port.time_width,
            ttl_ps: (!self.port.registers).then_some(self.histogram.ttl_ps),
        })
    }

    fn budget_constants(&self) -> Result<BudgetPlan, BudgetError> {
        if !self.predicts() {
            return Ok(BudgetPlan::UNUSED);
        }
        let rate = self.budget_rate();
        let kind = self.histogram.kind;
        let max_window = self.max_window();
        let largest_window = match (kind, self.time_to_live()) {
            // The sum of the stored lengths.
            (HistogramKind::Circular, _) if self.window == CircularWindow::Held => {
                (self.histogram.max_value_ps / self.clock.tick_ps)
                    .saturating_mul(self.histogram.max_samples.into())
            }
            // Software can set any time to live.
            _ if self.port.registers => max_window,
            // Generations of at most the time to live, each weighing half the one after it.
            (HistogramKind::Decaying, Some(ttl)) => ttl.saturating_mul(2),
            // A sample later than the time to live clears first: its window is 0.
            (_, Some(ttl)) => ttl,
            (_, None) => max_window,
        };
        let largest_window = largest_window.min(max_window);
        let measures = matches!(self.perfbound, PerfBound::Measured { .. });
        if self.port.registers || measures {
            let (bound, hop_factor) = self.bound_and_hop_factor();
            let cycles = |state: &SleepState| state.t_w_ps / self.clock.period_ps;
            let (fast, deep) = (
                cycles(&self.states.fast_wake),
                cycles(&self.states.deep_sleep),
            );
            let range = u64::from(self.port.timing_range);
            BudgetPlan::adjustable(
                &rate,
                largest_window,
                &Adjustable {
                    bound,
                    hop_factor,
                    measures,
                    clocks_per_tick: self.clock.tick_ps / self.clock.period_ps,
                    shortest_t_w: fast.min(deep).div_ceil(range),
                    longest_t_w: fast.max(deep).saturating_mul(range),
                },
            )
        } else {
            let multiplies = !plan::window_only_grows(kind, self.window);
            let plan = BudgetPlan::new(&rate, largest_window, multiplies)?;
            Ok(BudgetPlan {
                step_ticks: if multiplies {
                    1
                } else {
                    self.budget_step_ticks
                },
                ..plan
            })
        }
    }

    /// The largest window `X` of the histogram in ticks: where that of a regular histogram
    /// would pass it, counters and window are halved (SPEC 6); others saturate there.
    pub fn max_window(&self) -> u64 {
        plan::max_window(self.histogram.kind, self.port.time_width)
    }

    /// The first 32 bits of [`Config::hash`].
    fn hash_word(&self) -> u32 {
        let digest = Sha256::digest(self.canonical());
        digest[..4]
            .iter()
            .fold(0, |word, byte| word << 8 | u32::from(*byte))
    }

    /// `TTL_hist` in ticks where it has a meaning. 0 is the longest time that is counted: `X` would
    /// stop there, and must not while counters go on (SPEC 7).
    fn time_to_live(&self) -> Option<u64> {
        let ticks = match self.histogram.ttl_ps / self.clock.tick_ps {
            0 => self.max_window(),
            ticks => ticks,
        };
        self.histogram.kind.ages().then_some(ticks)
    }

    /// Whether the threshold comes from the histogram.
    pub fn predicts(&self) -> bool {
        matches!(
            self.port.policy,
            Policy::PerfBound | Policy::PerfBoundCorrect
        )
    }

    /// `t_w` of the configured sleep state in picoseconds: the delay of a packet that
    /// meets a sleeping link. Hybrid counts with deep sleep's, the longest.
    pub fn t_w_ps(&self) -> u64 {
        match self.port.sleep {
            Sleep::FastWake => self.states.fast_wake.t_w_ps,
            Sleep::DeepSleep | Sleep::Hybrid => self.states.deep_sleep.t_w_ps,
        }
    }

    /// The longest `t_w` that software can choose in hardware with registers, in picoseconds.
    pub fn longest_t_w_ps(&self) -> u64 {
        let states = &self.states;
        let longest = states.fast_wake.t_w_ps.max(states.deep_sleep.t_w_ps);
        longest.saturating_mul(self.port.timing_range.into())
    }

    /// The admitted degradation and `sum(p_i / h_i)` (SPEC 7.2), exactly. Measured hop
    /// counts begin with [`INITIAL_HOP_FACTOR`]; where `l` itself is given, it is the bound.
    fn bound_and_hop_factor(&self) -> (BigRational, BigRational) {
        match &self.perfbound {
            PerfBound::Hops { bound, groups } => {
                let inverse_hops = groups
                    .iter()
                    .map(|(hops, share)| share.to_ratio() / BigInt::from(*hops))
                    .sum();
                (bound.to_ratio(), inverse_hops)
            }
            PerfBound::Factor { factor, .. } => (factor.to_ratio(), BigRational::one()),
            PerfBound::Measured { bound } => {
                let one = BigInt::one() << HOP_FACTOR_FRACTION;
                (
                    bound.to_ratio(),
                    BigRational::new(INITIAL_HOP_FACTOR.into(), one),
                )
            }
        }
    }

    /// How much longer a run may take, as a fraction, if the policy or the guard goes by such a
    /// bound; none where `l` is given without the bound that it comes from.
    pub fn bound(&self) -> Option<Decimal> {
        self.perfbound.bound().filter(|_| self.is_bounded())
    }

    /// Whether `l` governs how often packets may find their link asleep: a policy that predicts
    /// goes by it, and a guard enforces it.
    pub fn is_bounded(&self) -> bool {
        self.predicts() || self.guarded()
    }

    /// Whether a guard limits how often packets find their link asleep: a port that is always on needs
    /// none.
    pub fn guarded(&self) -> bool {
        self.guard.burst > 0 && self.port.policy != Policy::AlwaysOn
    }

    /// Whether `l` is made of the bound and of hop counts that are given.
    pub fn computes_hop_factor(&self) -> bool {
        matches!(self.perfbound, PerfBound::Hops { .. })
    }

    /// The same configuration where the packets of the port have `sum(p_i / h_i)` (0 to 1) as
    /// given, to 12 decimals and at least one of the last, if `l` is made of hop counts.
    #[must_use]
    pub fn with_hop_factor(&self, hop_factor: f64) -> Config {
        let mut config = self.clone();
        if let PerfBound::Hops { bound, .. } = &self.perfbound {
            let parts = (hop_factor.clamp(0.0, 1.0) * bound.to_f64() * 1e12).round();
            let parts = parts.max(1.0) as i64;
            config.perfbound = PerfBound::Factor {
                factor: Decimal::new(parts, 12),
                bound: Some(*bound),
            };
        }
        config
    }

    /// `l` of SPEC 7.2 exactly; of measured hop counts, that before the first measurement.
    pub fn degradation_factor(&self) -> BigRational {
        let (bound, hop_factor) = self.bound_and_hop_factor();
        bound * hop_factor
    }

    /// The largest `l` that there can be: of measured hop counts, that of packets that cross one link.
    pub fn largest_degradation_factor(&self) -> BigRational {
        match &self.perfbound {
            PerfBound::Measured { bound } => bound.to_ratio(),
            _ => self.degradation_factor(),
        }
    }

    /// `l / t_w` in packets per tick, exactly.
    pub fn budget_rate(&self) -> BigRational {
        self.rate_of(self.t_w_ps())
    }

    fn rate_of(&self, t_w_ps: u64) -> BigRational {
        let tick = BigInt::from(self.clock.tick_ps);
        self.degradation_factor() * BigRational::new(tick, t_w_ps.into())
    }

    /// The whole configuration as TOML, every key with its value in a fixed order.
    ///
    /// The same bytes for the same meaning: what was left to a default is written out, and of `hops`
    /// and `hop_factor` the one in force. Beside `hop_factor`, `bound` is there if it was given.
    /// `[verilog]` says nothing of what the hardware does: it is there if it names something. So
    /// are control pins and times that software sets: hardware without them is that of a version
    /// that did not know them.
    pub fn canonical(&self) -> String {
        let mut tables = Vec::new();
        for table in TABLES.iter() {
            let values = table.keys.iter().filter_map(|key| {
                let value = self.value(table.path, key.name)?;
                Some(format!("{} = {value}\n", key.name))
            });
            let values: String = values.collect();
            if !values.is_empty() {
                tables.push(format!("[{}]\n{values}", table.path));
            }
        }
        tables.join("\n")
    }

    /// The value of a key as TOML; `None` where it says nothing of this configuration.
    fn value(&self, table: &str, key: &str) -> Option<String> {
        let Config {
            clock,
            port,
            states,
            histogram,
            perfbound,
            hop_window,
            budget_step_ticks,
            window,
            correction,
            guard,
            verilog,
        } = self;
        let name = |name: &str| format!("\"{name}\"");
        let refresh = states.refresh.unwrap_or(Refresh {
            t_q_ps: 0,
            t_r_ps: 0,
        });
        let state = match table {
            "states.fast-wake" => &states.fast_wake,
            _ => &states.deep_sleep,
        };
        Some(match (table, key) {
            ("clock", "period_ps") => clock.period_ps.to_string(),
            ("clock", "tick_ns") => ns(clock.tick_ps),
            ("port", "time_width") => port.time_width.to_string(),
            ("port", "policy") => name(port.policy.name()),
            ("port", "sleep") => name(port.sleep.name()),
            ("port", "t_pdt_ns") => ns(port.t_pdt_ps),
            ("port", "t_pdt_init_ns") => ns(port.t_pdt_init_ps),
            ("port", "t_backstop_ns") => port.t_backstop_ps.map_or_else(|| name("off"), ns),
            ("port", "hybrid_hold_ns") => ns(port.hybrid_hold_ps),
            ("port", "sync") => name(port.sync.name()),
            ("port", "sync_timeout_ns") => ns(port.sync_timeout_ps),
            ("port", "control_pins") => return port.control_pins.then(|| "true".into()),
            ("port", "triple_redundancy") => {
                return port.triple_redundancy.then(|| "true".into());
            }
            ("port", "memory_code") => {
                let code = port.memory_code;
                return (code != MemoryCode::Plain).then(|| name(code.name()));
            }
            ("port", "registers") => port.registers.to_string(),
            ("port", "timing_range") => {
                let range = port.timing_range;
                return (range > 1).then(|| range.to_string());
            }
            ("states.wake", "power_w") => states.wake_power_w.to_string(),
            ("states.deep-sleep", "t_q_ns") => ns(refresh.t_q_ps),
            ("states.deep-sleep", "t_r_ns") => ns(refresh.t_r_ps),
            (_, "power_w") => state.power_w.to_string(),
            (_, "t_w_ns") => ns(state.t_w_ps),
            (_, "t_s_ns") => ns(state.t_s_ps),
            ("histogram", "kind") => name(histogram.kind.name()),
            ("histogram", "bin_scale") => name(histogram.scale.name()),
            ("histogram", "bins") => histogram.bins.to_string(),
            ("histogram", "bin_ns") => ns(histogram.bin_ps),
            ("histogram", "counter_bits") => histogram.counter_bits.to_string(),
            ("histogram", "max_samples") => histogram.max_samples.to_string(),
            ("histogram", "ttl_ns") => ns(histogram.ttl_ps),
            ("histogram", "map_entries") => histogram.map_entries.to_string(),
            ("histogram", "max_value_ns") => ns(histogram.max_value_ps),
            ("perfbound", "bound") => perfbound.bound()?.to_string(),
            ("perfbound", "hops") => match perfbound {
                PerfBound::Hops { groups, .. } => {
                    let groups = groups
                        .iter()
                        .map(|(hops, share)| format!("[{hops}, {share}]"));
                    format!("[{}]", groups.collect::<Vec<_>>().join(", "))
                }
                PerfBound::Factor { .. } => return None,
                PerfBound::Measured { .. } => name("measured"),
            },
            ("perfbound", "hop_factor") => match perfbound {
                PerfBound::Factor { factor, .. } => factor.to_string(),
                _ => return None,
            },
            ("perfbound", "hop_window") => hop_window.to_string(),
            ("perfbound", "budget_step_ticks") => {
                return (*budget_step_ticks > 1).then(|| budget_step_ticks.to_string());
            }
            ("perfbound", "window") => name(window.name()),
            ("correction", "history") => correction.history.to_string(),
            ("correction", "mode") => name(correction.mode.name()),
            ("correction", "miss_unit") => name(correction.miss_unit.name()),
            ("correction", "fraction_bits") => correction.fraction_bits.to_string(),
            ("guard", "burst") => guard.burst.to_string(),
            ("verilog", "module_prefix") => match verilog.module_prefix.as_str() {
                "" => return None,
                prefix => name(prefix),
            },
            _ => unreachable!("{table}.{key} has no value"),
        })
    }

    /// SHA-256 of [`Config::canonical`] in hexadecimal.
    pub fn hash(&self) -> String {
        Sha256::digest(self.canonical())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// The most mantissa bits with which `bins` logarithmic bins reach up to `longest`, a time
/// in units of the finest bin (`docs/how/histograms.md`); 0 if none does.
fn mantissa_bits(longest: u64, bins: u32) -> u32 {
    let Some(top) = longest.checked_ilog2() else {
        return 0;
    };
    let reaches = |mantissa: u32| {
        let exponent = u64::from(top.saturating_sub(mantissa));
        (exponent << mantissa) + (longest >> exponent) < u64::from(bins)
    };
    (0..=bins.ilog2()).rev().find(|m| reaches(*m)).unwrap_or(0)
}

/// Picoseconds as the shortest text of nanoseconds.
pub(crate) fn ns(ps: impl Into<u128>) -> String {
    let ps = ps.into();
    let (whole, fraction) = (ps / 1000, ps % 1000);
    if fraction == 0 {
        return whole.to_string();
    }
    let fraction = format!("{fraction:03}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests;
