//! The validated plan that the rest of the program trusts: a configuration in the units
//! of the hardware (ticks, clock cycles, bits).

use crate::input::HOP_COUNTS;

/// When the port decides to power down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Never.
    AlwaysOn,
    /// After a fixed `t_pdt`.
    Fixed,
    /// After the threshold that PerfBound finds (SPEC 7).
    PerfBound,
    /// After PerfBound's threshold times a correction (SPEC 8).
    PerfBoundCorrect,
}

impl Policy {
    /// Every value, in the order in which messages list them.
    pub const ALL: [Policy; 4] = [
        Policy::AlwaysOn,
        Policy::Fixed,
        Policy::PerfBound,
        Policy::PerfBoundCorrect,
    ];

    /// The value as a configuration writes it.
    pub fn name(self) -> &'static str {
        match self {
            Policy::AlwaysOn => "always-on",
            Policy::Fixed => "fixed",
            Policy::PerfBound => "perfbound",
            Policy::PerfBoundCorrect => "perfbound-correct",
        }
    }
}

/// Which sleep state the port goes to (SPEC 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// `FAST_WAKE` only.
    FastWake,
    /// `DEEP_SLEEP` only.
    DeepSleep,
    /// `FAST_WAKE` first and, after a hold, `DEEP_SLEEP` (Georgakoudis III.A.3).
    Hybrid,
}

impl Sleep {
    /// Every value, in the order in which messages list them.
    pub const ALL: [Sleep; 3] = [Sleep::FastWake, Sleep::DeepSleep, Sleep::Hybrid];

    /// The value as a configuration writes it.
    pub fn name(self) -> &'static str {
        match self {
            Sleep::FastWake => "fast-wake",
            Sleep::DeepSleep => "deep-sleep",
            Sleep::Hybrid => "hybrid",
        }
    }
}

/// How the histogram forgets (SPEC 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistogramKind {
    /// Never cleared: counters and window halve where they would pass their largest values.
    Regular,
    /// Cleared after `h_maxN` samples or `TTL_hist`.
    Clearing,
    /// The last `h_maxN` samples; the oldest gives way.
    Circular,
    /// Counters for populated bins only; cleared like `clearing`, and when its entries run out.
    Map,
    /// All counters halve where `clearing` would clear.
    Decaying,
}

impl HistogramKind {
    /// Every value, in the order in which messages list them.
    pub const ALL: [HistogramKind; 5] = [
        HistogramKind::Regular,
        HistogramKind::Clearing,
        HistogramKind::Circular,
        HistogramKind::Map,
        HistogramKind::Decaying,
    ];

    /// The value as a configuration writes it.
    pub fn name(self) -> &'static str {
        match self {
            HistogramKind::Regular => "regular",
            HistogramKind::Clearing => "clearing",
            HistogramKind::Circular => "circular",
            HistogramKind::Map => "map",
            HistogramKind::Decaying => "decaying",
        }
    }

    /// Whether the histogram is cleared from time to time.
    pub fn clears(self) -> bool {
        matches!(self, HistogramKind::Clearing | HistogramKind::Map)
    }

    /// Whether `max_samples` and the time to live bound the histogram's present window.
    #[inline]
    pub fn ages(self) -> bool {
        match self {
            HistogramKind::Clearing | HistogramKind::Map | HistogramKind::Decaying => true,
            HistogramKind::Regular | HistogramKind::Circular => false,
        }
    }
}

/// The code of the words of all memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryCode {
    /// None.
    Plain,
    /// One bit: a wrong bit is told.
    Parity,
    /// An extended Hamming code: a single wrong bit is put right, two are told.
    Secded,
}

impl MemoryCode {
    /// Every value, in the order in which messages list them.
    pub const ALL: [MemoryCode; 3] = [MemoryCode::Plain, MemoryCode::Parity, MemoryCode::Secded];

    /// The value as a configuration writes it.
    pub fn name(self) -> &'static str {
        match self {
            MemoryCode::Plain => "none",
            MemoryCode::Parity => "parity",
            MemoryCode::Secded => "secded",
        }
    }
}

/// What the window `X` of a circular histogram is (SPEC 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircularWindow {
    /// The sum of the idle periods held: the buffer stores lengths, not dates.
    Held,
    /// The time since reset, as the PerfBound paper's results suggest.
    Elapsed,
}

impl CircularWindow {
    /// Every value, in the order in which messages list them.
    pub const ALL: [CircularWindow; 2] = [CircularWindow::Held, CircularWindow::Elapsed];

    /// The value as a configuration writes it.
    pub fn name(self) -> &'static str {
        match self {
            CircularWindow::Held => "held",
            CircularWindow::Elapsed => "elapsed",
        }
    }
}

/// What the correction counts misses in (SPEC 8, PerfBound Equation 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissUnit {
    /// `m / n_R`, 0 to 1.
    Fraction,
    /// `100 m / n_R`, 0 to 100: the PerfBound paper's "miss%" as it is printed.
    Percent,
}

impl MissUnit {
    /// Every value, in the order in which messages list them.
    pub const ALL: [MissUnit; 2] = [MissUnit::Fraction, MissUnit::Percent];

    /// The value as a configuration writes it.
    pub fn name(self) -> &'static str {
        match self {
            MissUnit::Fraction => "fraction",
            MissUnit::Percent => "percent",
        }
    }

    /// The rate of misses if all are misses.
    pub fn whole(self) -> u32 {
        match self {
            MissUnit::Fraction => 1,
            MissUnit::Percent => 100,
        }
    }
}

/// Generations of samples that a decaying histogram tells apart: a sample weighs 1, 1/2,
/// 1/4, 1/8, then nothing.
pub const GENERATIONS: u32 = 4;

/// Bits of the largest window of a regular histogram: three days of 1-ns ticks, after which
/// half of it is forgotten. Its budget is multiplied, in at most 128 bits.
const REGULAR_WINDOW_BITS: u32 = 48;

/// Entries of a map in hardware: registers and a comparison each (`docs/how/histograms.md`).
pub const MAP_ENTRIES: std::ops::RangeInclusive<u32> = 2..=256;

/// How idle times are sorted into bins (`docs/how/histograms.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinScale {
    /// Every bin is as wide as the first.
    Linear,
    /// Bins as wide as their place: an exponent and so many mantissa bits.
    Log {
        /// Bins per octave are 2 to this power.
        mantissa_bits: u32,
    },
}

impl BinScale {
    /// Where a bin begins, in units of the first bin's width (`docs/how/histograms.md`).
    pub fn first_unit(self, bin: u64) -> u128 {
        match self {
            BinScale::Linear => u128::from(bin),
            BinScale::Log { mantissa_bits } => {
                let octave = 1u64 << mantissa_bits;
                match (bin >> mantissa_bits).checked_sub(1) {
                    None => u128::from(bin),
                    // 2^127 is beyond every time.
                    Some(exponent) if exponent >= 64 => 1 << 127,
                    Some(exponent) => u128::from(octave + bin % octave) << exponent,
                }
            }
        }
    }
}

/// What a port has to do with the other end of the link before it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncPlan {
    /// Both directions sleep together, agreed by messages over the link (SPEC 5).
    Messages(MessagesPlan),
    /// Both directions sleep together: the pins `sleep_permit`, `remote_down` and `remote_up` tell
    /// what the other end does.
    Levels,
    /// Nothing: the direction that this port sends on sleeps for itself (SPEC 14).
    Lpi,
}

/// The exchange of messages with the other end of the link (SPEC 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessagesPlan {
    /// Clock cycles after which a peer that does not answer is given up, at least 1.
    pub timeout: u64,
}

/// Transition times of one sleep state, in clock cycles (at least 1 each).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepTimes {
    /// Wake to sleep.
    pub t_s: u64,
    /// Sleep to wake.
    pub t_w: u64,
}

/// The link's timing, in clock cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkPlan {
    /// The transitions into and out of `FAST_WAKE`.
    pub fast_wake: SleepTimes,
    /// The transitions into and out of `DEEP_SLEEP`.
    pub deep_sleep: SleepTimes,
    /// Cycles in `FAST_WAKE` before `DEEP_SLEEP`, hybrid only; at least 1.
    pub hybrid_hold: u64,
    /// Quiet and refresh intervals of deep sleep; `None` is off.
    pub refresh: Option<RefreshPlan>,
}

/// Refresh within deep sleep (Georgakoudis II.A), in clock cycles (at least 1 each).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshPlan {
    /// Asleep between two refreshes.
    pub t_q: u64,
    /// Refreshing, at full power.
    pub t_r: u64,
}

/// The histogram of idle periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistogramPlan {
    /// How the histogram forgets.
    pub kind: HistogramKind,
    /// Number of bins, 4 to 4096.
    pub bins: u32,
    /// How idle times are sorted into bins.
    pub scale: BinScale,
    /// The first bin spans `2^bin_shift` ticks; on a linear scale every bin does.
    pub bin_shift: u32,
    /// Width of a bin's counter in bits, 1 to 32; where it would count further all counters of
    /// a regular histogram halve, others saturate.
    pub counter_bits: u32,
    /// `h_maxN`: samples before the histogram is cleared, at least 1.
    pub max_samples: u32,
    /// `TTL_hist` in ticks; `None` for a histogram that does not age.
    pub ttl: Option<u64>,
    /// `h_maxval` in ticks: longest value recorded and longest threshold.
    pub max_value: u64,
    /// Entries of a `map` histogram.
    pub map_entries: u32,
    /// What `X` of a `circular` histogram is.
    pub window: CircularWindow,
}

impl HistogramPlan {
    /// Whether `X` grows tick by tick from 0: its budget is then accumulated, otherwise
    /// multiplied (`docs/how/controller.md`).
    pub fn window_only_grows(&self) -> bool {
        window_only_grows(self.kind, self.window)
    }

    /// Whether `X` is the sum of the idle periods held (SPEC 7.1).
    #[inline]
    pub fn sums_lengths(&self) -> bool {
        self.kind == HistogramKind::Circular && self.window == CircularWindow::Held
    }
}

/// See [`HistogramPlan::window_only_grows`].
pub(super) fn window_only_grows(kind: HistogramKind, window: CircularWindow) -> bool {
    match kind {
        HistogramKind::Clearing | HistogramKind::Map => true,
        HistogramKind::Circular => window == CircularWindow::Elapsed,
        HistogramKind::Regular | HistogramKind::Decaying => false,
    }
}

/// A time of the link: a transition, the hold of the hybrid sleep, quiet or refresh, the time-out of
/// messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTime {
    /// `t_s` of fast wake.
    SleepFastWake,
    /// `t_w` of fast wake.
    WakeFastWake,
    /// `t_s` of deep sleep.
    SleepDeepSleep,
    /// `t_w` of deep sleep.
    WakeDeepSleep,
    /// In fast wake before deep sleep.
    HybridHold,
    /// `t_q` between two refreshes.
    Quiet,
    /// `t_r` of a refresh.
    Refresh,
    /// The longest wait for a message of the other end.
    SyncTimeout,
}

/// A value for each of [`LinkTime::ALL`], in clock cycles.
pub type LinkTimes = [u64; LinkTime::ALL.len()];

impl LinkTime {
    /// All of them, in the order of their registers.
    pub const ALL: [LinkTime; 8] = [
        LinkTime::SleepFastWake,
        LinkTime::WakeFastWake,
        LinkTime::SleepDeepSleep,
        LinkTime::WakeDeepSleep,
        LinkTime::HybridHold,
        LinkTime::Quiet,
        LinkTime::Refresh,
        LinkTime::SyncTimeout,
    ];

    /// The name of its register.
    pub fn name(self) -> &'static str {
        match self {
            LinkTime::SleepFastWake => "t_s_fast_wake",
            LinkTime::WakeFastWake => "t_w_fast_wake",
            LinkTime::SleepDeepSleep => "t_s_deep_sleep",
            LinkTime::WakeDeepSleep => "t_w_deep_sleep",
            LinkTime::HybridHold => "hybrid_hold",
            LinkTime::Quiet => "t_q",
            LinkTime::Refresh => "t_r",
            LinkTime::SyncTimeout => "sync_timeout",
        }
    }

    /// What it is, for people.
    pub fn doc(self) -> &'static str {
        match self {
            LinkTime::SleepFastWake => "t_s: down to fast wake",
            LinkTime::WakeFastWake => "t_w: up from fast wake",
            LinkTime::SleepDeepSleep => "t_s: down to deep sleep",
            LinkTime::WakeDeepSleep => "t_w: up from deep sleep",
            LinkTime::HybridHold => "in fast wake before deep sleep, of the sleep hybrid",
            LinkTime::Quiet => "quiet between two refreshes",
            LinkTime::Refresh => "one refresh",
            LinkTime::SyncTimeout => {
                "longest wait for a message, longer than the way there and back"
            }
        }
    }
}

/// A time of the link that software sets, in clock cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdjustableTime {
    /// Which.
    pub time: LinkTime,
    /// The configuration's: in force from reset on.
    pub reset: u64,
    /// The least that software may set, at least 1.
    pub least: u64,
    /// The most.
    pub most: u64,
}

impl LinkPlan {
    /// The same link with these times; the time-out of messages is not its own.
    #[must_use]
    pub fn with_times(&self, times: LinkTimes) -> LinkPlan {
        let [fast_t_s, fast_t_w, deep_t_s, deep_t_w, hybrid_hold, t_q, t_r, _] = times;
        LinkPlan {
            fast_wake: SleepTimes {
                t_s: fast_t_s,
                t_w: fast_t_w,
            },
            deep_sleep: SleepTimes {
                t_s: deep_t_s,
                t_w: deep_t_w,
            },
            hybrid_hold,
            refresh: self.refresh.map(|_| RefreshPlan { t_q, t_r }),
        }
    }
}

/// The packet budget `N = floor(l * X / t_w)` (SPEC 7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetPlan {
    /// `l / t_w` in packets per tick is `numerator / denominator` in lowest terms.
    pub numerator: u128,
    /// See `numerator`; below `2^127`.
    pub denominator: u128,
    /// The constants of the multiplication, for windows that do not merely grow.
    pub product: Option<Product>,
    /// Bits that the largest `N` needs, 1 to 64.
    pub width: u32,
    /// Ticks by which a budget that is added up grows at a time, a power of two.
    pub step_ticks: u32,
    /// How `k` is computed anew while the controller runs; `None`: it never changes.
    pub rate: Option<RatePlan>,
}

/// The rate of the budget at run time:
/// `k = ceil(bound * hop_factor * scale * 2^exponent / t_w)`, `t_w` in clock cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RatePlan {
    /// The bound after reset, in units of `2^-32`.
    pub bound: u32,
    /// The hop factor after reset, in units of `2^-31`; at most 1.
    pub hop_factor: u32,
    /// The hop monitor measures the hop factor, from reset on.
    pub measures: bool,
    /// What is left of the clock cycles in a tick when they are halved as often as they can be: odd.
    pub scale: u64,
    /// `s`, less the 63 fraction bits of bound and hop factor, and how often they were halved.
    pub exponent: i32,
    /// Bits of the longest `t_w` in clock cycles, less one.
    pub t_w_bits: u32,
    /// Bits that the largest `k` needs.
    pub width: u32,
}

impl RatePlan {
    /// Bits of `bound * hop_factor * scale`, at most, and two to round: at least 66.
    pub fn product_bits(&self) -> u32 {
        64 + self.scale.ilog2() + 2
    }

    /// Bits of the product, one after the other, by which the division goes on: with fraction bits
    /// of 0, or without the last ones, which decide only whether to round up.
    pub fn quotient_steps(&self) -> u32 {
        self.product_bits().saturating_add_signed(self.exponent)
    }
}

/// Fraction bits of the hop factor that the hop monitor measures.
pub const HOP_FACTOR_FRACTION: u32 = 16;

/// The longest path that a port can tell of, in links.
pub const MAX_HOPS: u32 = HOP_COUNTS.1 as u32;

/// The measured hop factor before the first full window, in units of
/// `2^-HOP_FACTOR_FRACTION`: the smallest possible, as if every packet took [`MAX_HOPS`]
/// links. It makes the smallest budget, so that no bound is exceeded before there is a
/// measurement.
pub const INITIAL_HOP_FACTOR: u64 = (1 << HOP_FACTOR_FRACTION) / MAX_HOPS as u64;

/// Width in bits of a counter of packets per hop count; it saturates.
pub const HOP_COUNTER_WIDTH: u32 = 32;

/// Width in bits of `packet_hops`: hop counts 0 to 63.
pub const HOPS_WIDTH: u32 = 6;

/// The registers behind the AXI4-Lite port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegistersPlan {
    /// The first 32 bits of the configuration's SHA-256.
    pub config_hash: u32,
    /// Clock period in picoseconds.
    pub period_ps: u64,
    /// Threshold of the policy `fixed` after reset, in ticks.
    pub t_pdt: u64,
    /// By which factor software may lengthen and shorten the times of the link; 1: not at all.
    pub timing_range: u32,
}

/// `N = (X * k) >> s` (SPEC 7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// `round(l / t_w * 2^s)`, `t_w` in ticks; rounded up for this `s`, so that the
    /// floor is exact over the whole range of `X`.
    pub k: u128,
    /// The right shift in bits.
    pub s: u32,
}

/// The correction of SPEC 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorrectionPlan {
    /// `n_R`: idle periods remembered.
    pub history: u32,
    /// `cf` is never below 1.
    pub at_least_one: bool,
    /// What `cf` counts misses in.
    pub miss_unit: MissUnit,
    /// Fraction bits of the logarithms.
    pub fraction_bits: u32,
}

/// How a port turns lanes of its link off and on (Zahn II.A). Times in clock cycles, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanePlan {
    /// Lanes of the link, 2 to 64.
    pub lanes: u32,
    /// Lanes that always stay on: at least 1, and fewer than all.
    pub low: u32,
    /// So long a port is idle before it turns lanes off.
    pub t_down: u64,
    /// What turning them off takes.
    pub t_narrow: u64,
    /// What turning them on takes.
    pub t_widen: u64,
    /// When more bytes than this wait, all lanes are turned on ([`LanePlan::level`]).
    pub level: u64,
    /// The most bytes that can wait: the buffer of the port.
    pub most_backlog: u64,
}

impl LanePlan {
    /// The most bytes that leave no later by `low` of `lanes` lanes than by all of them after a change
    /// that takes `change`, where a byte takes `byte` by all of them, both in the same unit: "a certain
    /// level at which it is faster to wait the transition time and send at the highest speed" (Zahn
    /// II.A).
    pub fn level(lanes: u32, low: u32, byte: u64, change: u64) -> u64 {
        // b byte lanes / low <= change + b byte
        let saved = u128::from(byte) * u128::from(lanes - low);
        let bytes = u128::from(change) * u128::from(low) / saved.max(1);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// The most clock cycles that a packet waits for lanes: both changes, and the cycle between them.
    pub fn wait_bound(&self) -> u64 {
        self.t_narrow.saturating_add(self.t_widen).saturating_add(1)
    }

    /// Why there is no hardware for it, if there is none.
    pub fn unsupported_in_hardware(&self) -> Option<String> {
        let (lanes, low) = (self.lanes, self.low);
        if !(2..=64).contains(&lanes) || low == 0 || low >= lanes {
            return Some(format!(
                "{low} of {lanes} lanes: a link has 2 to 64, of which one at least stays on, and not all"
            ));
        }
        let times = [self.t_down, self.t_narrow, self.t_widen];
        if let Some(time) = times.iter().find(|time| !(1..=1 << 48).contains(*time)) {
            return Some(format!(
                "a time of {time} clock cycles: lanes can be turned off and on in 1 to 2^48"
            ));
        }
        if self.level >= self.most_backlog {
            return Some(format!(
                "all lanes are turned on when more than {} bytes wait, and the buffer holds {} at most: \
                 lanes that are off would never be turned on; a shorter change, fewer lanes that stay \
                 on, a slower link, or a larger buffer would do",
                self.level, self.most_backlog
            ));
        }
        None
    }
}

/// How a switch chooses among ports that lead as near to a packet's destination (POWAR 3, Alonso 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectionPlan {
    /// What it goes by.
    pub kind: SelectionKind,
    /// Ports that lead down, which it does not choose among: 1 to 64, with those up.
    pub ports_down: u32,
    /// Ports that it chooses among, those that lead up in a fat tree: 2 at least.
    pub ports_up: u32,
    /// How often their load is looked at, in clock cycles: 2 at least.
    pub window: u64,
    /// Utilisation above which there is one port more, in millionths: twice `off_millionths` at least.
    pub on_millionths: u64,
    /// Utilisation below which there is one less, in millionths.
    pub off_millionths: u64,
}

impl SelectionPlan {
    /// Why there is no hardware for it, if there is none.
    pub fn unsupported_in_hardware(&self) -> Option<String> {
        let (down, up) = (self.ports_down, self.ports_up);
        if up < 2 {
            return Some(format!(
                "{up} ports up: to choose among there are two at least"
            ));
        }
        if down == 0 || down.saturating_add(up) > 64 {
            return Some(format!(
                "{down} ports down and {up} up: a switch has one down at least, and 64 in all at most"
            ));
        }
        if !(2..=1 << 48).contains(&self.window) {
            let window = self.window;
            return Some(format!(
                "a window of {window} clock cycles: their load can be measured in 2 to 2^48"
            ));
        }
        if self.off_millionths == 0 || self.on_millionths >= 1_000_000 {
            return Some(
                "thresholds of 0 or 1: --select-off has to be above 0, and --select-on below 1"
                    .into(),
            );
        }
        if self.on_millionths < 2 * self.off_millionths {
            let share = |millionths: u64| millionths as f64 / 1e6;
            return Some(format!(
                "--select-on {} is below twice --select-off {}, so that ports would come and go (POWAR 3, \
                 Alonso 3); --select-on {} would do, or --select-off {}",
                share(self.on_millionths),
                share(self.off_millionths),
                share(2 * self.off_millionths),
                share(self.on_millionths / 2)
            ));
        }
        None
    }
}

/// Which of several ports a packet takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionKind {
    /// The next one that is free (POWAR 4.2).
    RoundRobin,
    /// The next one that is free and awake, if there is any (POWAR 4.2).
    FirstOn,
    /// The same among as many ports as the load needs (POWAR 3).
    Powar,
    /// The next one that is free, of the links that are on (Alonso 3).
    Alonso,
}

/// The token bucket of SPEC 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardPlan {
    /// What a full bucket holds, in tokens: 1 to 2^16 - 1.
    pub burst: u32,
    /// A tick refills `numerator / denominator` of a token, less than one.
    pub numerator: u128,
    /// See `numerator`; below `2^100`.
    pub denominator: u128,
    /// The numerator is the rate of the budget and changes at run time.
    pub adjustable: bool,
    /// Width of that rate in bits.
    pub rate_bits: u32,
}

impl GuardPlan {
    /// Ticks after which an empty bucket holds a token, if none is taken out; `None` if that
    /// depends on what software sets or packets tell.
    pub fn ticks_to_token(&self) -> Option<u64> {
        match self.adjustable || self.numerator == 0 {
            true => None,
            false => u64::try_from(self.denominator.div_ceil(self.numerator)).ok(),
        }
    }
}

/// The largest window of a histogram with times of `time_width` bits, in ticks.
pub(super) fn max_window(kind: HistogramKind, time_width: u32) -> u64 {
    let bits = match kind {
        HistogramKind::Regular => time_width.min(REGULAR_WINDOW_BITS),
        _ => time_width,
    };
    u64::MAX >> (64 - bits)
}

/// Everything that a port controller's hardware depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortPlan {
    /// Width of every time in bits, 8 to 64.
    pub time_width: u32,
    /// Clock cycles in a tick, at least 1.
    pub clocks_per_tick: u64,
    /// When the port powers down.
    pub policy: Policy,
    /// Where the port goes when it powers down.
    pub sleep: Sleep,
    /// The fixed threshold, or the one before the first sample, in ticks.
    pub t_pdt_init: u64,
    /// An end that did not transmit last powers down after this many ticks, or after its threshold
    /// if that is longer (SPEC 3); `None`: it leaves that to the other end.
    pub t_backstop: Option<u64>,
    /// Transition, hold and refresh times in clock cycles.
    pub link: LinkPlan,
    /// How the ends of the link go to sleep and wake.
    pub sync: SyncPlan,
    /// Pins that enable it, keep the link awake, and tell whether the PHY has a link.
    pub control_pins: bool,
    /// The registers that decide whether the link is awake are kept in three copies.
    pub triple_redundancy: bool,
    /// The code of the words of its memories.
    pub memory_code: MemoryCode,
    /// Run-time parameters and counters behind an AXI4-Lite port.
    pub registers: Option<RegistersPlan>,
    /// The histogram of idle periods, for the predicting policies.
    pub histogram: HistogramPlan,
    /// log2 of the packets over which the hop monitor takes the mean.
    pub hop_window_log2: u32,
    /// The packet budget; [`BudgetPlan::UNUSED`] if the policy does not predict.
    pub budget: BudgetPlan,
    /// The correction, for `perfbound-correct`.
    pub correction: CorrectionPlan,
    /// The guard (SPEC 12); `None`: off, or the port never sleeps.
    pub guard: Option<GuardPlan>,
}

impl PortPlan {
    /// The largest time the hardware can hold, in ticks; times saturate there.
    pub fn max_time(&self) -> u64 {
        u64::MAX >> (64 - self.time_width)
    }

    /// Whether every register that counts time, or parts of packets with it, has at most 64 bits.
    pub fn time_fits_words(&self) -> bool {
        let guard = self.guard.map_or(1, |guard| guard.denominator);
        let budget = match self.budget.product {
            Some(_) => 1,
            None => self.budget.denominator,
        };
        guard.max(budget) < 1 << 63
    }

    /// The longest threshold that there can be, in ticks, without the backstop.
    pub fn longest_threshold(&self) -> u64 {
        match self.policy {
            _ if self.registers.is_some() => self.max_time(),
            Policy::AlwaysOn | Policy::Fixed => self.t_pdt_init,
            Policy::PerfBound | Policy::PerfBoundCorrect => {
                self.histogram.max_value.max(self.t_pdt_init)
            }
        }
    }

    /// The largest window of the histogram, in ticks: where that of a regular one would pass
    /// it, counters and window halve (SPEC 6); others saturate there.
    pub fn max_window(&self) -> u64 {
        max_window(self.histogram.kind, self.time_width)
    }

    /// Whether counters and window halve where they would pass their largest values (SPEC 6).
    pub fn halves(&self) -> bool {
        self.predicts() && self.histogram.kind == HistogramKind::Regular
    }

    /// Whether the thresholds come from a map, which can run out of entries.
    pub fn maps(&self) -> bool {
        self.predicts() && self.histogram.kind == HistogramKind::Map
    }

    /// Whether the link can go to fast wake; software, where there is any, can choose either state.
    pub fn uses_fast_wake(&self) -> bool {
        self.registers.is_some() || self.sleep != Sleep::DeepSleep
    }

    /// Whether the link can go to deep sleep.
    pub fn uses_deep_sleep(&self) -> bool {
        self.registers.is_some() || self.sleep != Sleep::FastWake
    }

    /// The transition times of the sleep states that the port goes to, at least one.
    pub fn used_sleep_states(&self) -> Vec<SleepTimes> {
        let states = [
            (self.uses_fast_wake(), self.link.fast_wake),
            (self.uses_deep_sleep(), self.link.deep_sleep),
        ];
        let used = states.into_iter().filter(|(used, _)| *used);
        used.map(|(_, times)| times).collect()
    }

    /// The times of the link, 1 for those that mean nothing.
    pub fn times(&self) -> LinkTimes {
        let link = &self.link;
        let refresh = link.refresh.map(|refresh| (refresh.t_q, refresh.t_r));
        let (t_q, t_r) = refresh.unwrap_or((1, 1));
        [
            link.fast_wake.t_s,
            link.fast_wake.t_w,
            link.deep_sleep.t_s,
            link.deep_sleep.t_w,
            link.hybrid_hold,
            t_q,
            t_r,
            self.messages().map_or(1, |messages| messages.timeout),
        ]
    }

    /// The times of the link that software sets; none if they never change.
    pub fn adjustable_times(&self) -> Vec<AdjustableTime> {
        let range = self.registers.map_or(1, |built| built.timing_range);
        if range == 1 {
            return Vec::new();
        }
        let times = self.times();
        let there = |time: &LinkTime| match time {
            LinkTime::Quiet | LinkTime::Refresh => self.link.refresh.is_some(),
            LinkTime::SyncTimeout => self.messages().is_some(),
            _ => true,
        };
        LinkTime::ALL
            .into_iter()
            .filter(there)
            .map(|time| AdjustableTime {
                time,
                reset: times[time as usize],
                least: times[time as usize].div_ceil(range.into()),
                most: times[time as usize].saturating_mul(range.into()),
            })
            .collect()
    }

    /// The same controller with every time of the link as long as software can make it.
    #[must_use]
    pub fn slowest(&self) -> PortPlan {
        let mut times = self.times();
        for time in self.adjustable_times() {
            times[time.time as usize] = time.most;
        }
        let sync = match self.sync {
            SyncPlan::Messages(_) => SyncPlan::Messages(MessagesPlan {
                timeout: times[LinkTime::SyncTimeout as usize],
            }),
            other => other,
        };
        PortPlan {
            link: self.link.with_times(times),
            sync,
            ..*self
        }
    }

    /// `t_w` of the configured sleep state, that of deep sleep for both, in clock cycles.
    pub fn t_w(&self) -> u64 {
        match self.sleep {
            Sleep::FastWake => self.link.fast_wake.t_w,
            Sleep::DeepSleep | Sleep::Hybrid => self.link.deep_sleep.t_w,
        }
    }

    /// Whether the samples and the age of a histogram decide when it forgets.
    pub fn ages(&self) -> bool {
        self.predicts() && self.histogram.kind.ages()
    }

    /// Whether the histogram has a counter for every bin, which can be read.
    pub fn reads_bins(&self) -> bool {
        self.predicts() && self.histogram.kind != HistogramKind::Map
    }

    /// Whether the hop monitor decides about the budget from reset on.
    pub fn measures(&self) -> bool {
        self.predicts() && self.budget.rate.is_some_and(|rate| rate.measures)
    }

    /// The exchange of messages with the other end, if there is one.
    pub fn messages(&self) -> Option<MessagesPlan> {
        match self.sync {
            SyncPlan::Messages(messages) => Some(messages),
            SyncPlan::Levels | SyncPlan::Lpi => None,
        }
    }

    /// Whether the direction that the port sends on sleeps for itself: receiving is no activity
    /// (SPEC 14).
    pub fn per_direction(&self) -> bool {
        self.sync == SyncPlan::Lpi
    }

    /// Whether software reads what the shims say of low power idle. Where both directions of a link
    /// sleep together, what is received is what is sent.
    pub fn counts_lpi(&self) -> bool {
        self.registers.is_some() && self.per_direction()
    }

    /// Whether a port begins with a way up. With control pins it does not know after reset whether
    /// there is a link; one that exchanges messages sends nothing for a while after reset anyway, and
    /// the other end counts on it to be awake. In a port of Ethernet the shim holds frames back after
    /// reset ([`LpiTx`](crate::blocks::lpi_tx::LpiTx)).
    pub fn starts_going_up(&self) -> bool {
        self.control_pins && self.messages().is_none()
    }

    /// The longest time in clock cycles that the link takes to sleep or to wake.
    pub fn longest_transition(&self) -> u64 {
        let LinkPlan {
            fast_wake,
            deep_sleep,
            ..
        } = self.link;
        let longest = |times: SleepTimes| times.t_s.max(times.t_w);
        match self.sleep {
            Sleep::FastWake => longest(fast_wake),
            Sleep::DeepSleep => longest(deep_sleep),
            Sleep::Hybrid => longest(fast_wake).max(longest(deep_sleep)),
        }
    }

    /// Whether the threshold comes from the histogram.
    pub fn predicts(&self) -> bool {
        matches!(self.policy, Policy::PerfBound | Policy::PerfBoundCorrect)
    }

    /// Whether the threshold that the histogram gives is corrected (SPEC 8).
    pub fn corrects(&self) -> bool {
        self.policy == Policy::PerfBoundCorrect
    }

    /// Whether memories have a code: there is one, and there are memories whose words matter.
    pub fn codes_memories(&self) -> bool {
        let keeps_words = self.predicts() && self.histogram.kind != HistogramKind::Map;
        self.memory_code != MemoryCode::Plain
            && (keeps_words || self.corrects() || self.registers.is_some())
    }

    /// The same controller with a link that goes down and up in a clock cycle each, and
    /// whose other end always agrees: its state never hides that an idle period was longer
    /// than the threshold.
    #[must_use]
    pub fn open_loop(self) -> PortPlan {
        let at_once = SleepTimes { t_s: 1, t_w: 1 };
        PortPlan {
            link: LinkPlan {
                fast_wake: at_once,
                deep_sleep: at_once,
                hybrid_hold: 1,
                refresh: None,
            },
            sync: SyncPlan::Levels,
            guard: None,
            ..self
        }
    }

    /// Why no hardware and no golden model exists for this plan, as a sentence that
    /// names the key and the values that have them; `None` if both exist.
    pub fn unsupported_in_hardware(&self) -> Option<String> {
        let entries = self.histogram.map_entries;
        if self.predicts()
            && self.histogram.kind == HistogramKind::Map
            && !MAP_ENTRIES.contains(&entries)
        {
            let (least, most) = MAP_ENTRIES.into_inner();
            return Some(format!(
                "histogram.map_entries = {entries}: the hardware of a map has {least} to {most} \
                 entries, each of which sees every sample; the nearest legal value is {}",
                entries.clamp(least, most)
            ));
        }
        None
    }
}
