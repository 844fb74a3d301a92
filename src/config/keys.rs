//! The keys of a configuration.

use std::sync::LazyLock;

use super::plan::{CircularWindow, HistogramKind, MemoryCode, MissUnit, Policy, Sleep};
use super::{CorrectionMode, Scale, Sync};
use crate::input::{choice, integer, key, number, or, schema, Kind, Table, Type, Unit};

/// Longest time that a key may hold: 10^16 ns, 115 days.
pub(super) const LONGEST_NS: u64 = 10_000_000_000_000_000;
/// Longest transition, hold or interval of a link: 1 s.
const LONGEST_TRANSITION_NS: u64 = 1_000_000_000;
/// Largest factor by which software may change the times of the link.
const LARGEST_TIMING_RANGE: u64 = 64;
const PS_PER_NS: u64 = 1000;
/// Longest `verilog.module_prefix`: names stay short enough for every tool.
const LONGEST_PREFIX: usize = 32;
/// Largest power of a link: 1 MW, in nW.
const LARGEST_POWER_NW: u64 = 1_000_000_000_000_000;

/// A time in ns, which is held in ps.
const fn time(low_ps: u64, high_ns: u64) -> Type {
    number(low_ps, high_ns * PS_PER_NS, 3, Unit::Nanoseconds)
}

fn is_prefix(text: &str) -> bool {
    let is_name = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.ends_with('_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && text.len() <= LONGEST_PREFIX;
    text.is_empty() || is_name
}

/// Every table of a configuration and its keys, in the order of [`Config::canonical`].
///
/// [`Config::canonical`]: super::Config::canonical
pub static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let transition = || time(1, LONGEST_TRANSITION_NS);
    let power = || number(0, LARGEST_POWER_NW, 9, Unit::Watts);
    let table = |path, about, keys| Table {
        path,
        kind: "",
        about,
        keys,
    };
    vec![
            table(
                "clock",
                "The clock of the controller and the resolution of times",
                vec![
                key(
                    "period_ps",
                    integer(1, 1_000_000_000, Unit::Picoseconds),
                    "`1000`",
                    "period of the one clock",
                ),
                key(
                    "tick_ns",
                    time(1, 1_000_000_000),
                    "`1`, or the next whole number of clock periods",
                    "resolution of idle times, a whole number of clock periods (PerfBound Table 5: 1, \
                     10, 100, 1000 ns)",
                ),
            ],
            ),
            table(
                "port",
                "The policy of the port, its thresholds, and how it agrees with the other end",
                vec![
                key(
                    "time_width",
                    integer(8, 64, Unit::Count("bits")),
                    "`32`",
                    "bits of every time counted in ticks; times saturate",
                ),
                key(
                    "policy",
                    choice(Policy::ALL.map(Policy::name)),
                    "`\"perfbound\"`",
                    "when the port powers down (SPEC 3, 7, 8)",
                ),
                key(
                    "sleep",
                    choice(Sleep::ALL.map(Sleep::name)),
                    "`\"deep-sleep\"`",
                    "where it goes (SPEC 4)",
                ),
                key(
                    "t_pdt_ns",
                    time(0, LONGEST_NS),
                    "100000, or the longest that `port.time_width` holds",
                    "threshold of the policy `fixed`, in whole ticks; 0 powers down at once",
                ),
                key(
                    "t_pdt_init_ns",
                    time(0, LONGEST_NS),
                    "that of `histogram.max_value_ns`",
                    "threshold of the other policies before the first sample, in whole ticks",
                ),
                key(
                    "t_backstop_ns",
                    or(time(0, LONGEST_NS), choice(["off"])),
                    "that of `histogram.max_value_ns`",
                    "an end that did not transmit last goes down after this time, or after its \
                     threshold if that is longer (SPEC 3); `\"off\"` leaves that to the other \
                     end, and there is no bound on the time to sleep",
                ),
                key(
                    "hybrid_hold_ns",
                    transition(),
                    "`8000`",
                    "time in fast wake before deep sleep, of `sleep = \"hybrid\"`, in whole cycles; the default is rounded up",
                ),
                key(
                    "sync",
                    choice(Sync::ALL.map(Sync::name)),
                    "`\"messages\"`",
                    "how the two ends agree: by messages over the link (SPEC 5), by pins that tell \
                     what the other end does, or not at all: with `\"lpi\"` each direction of the \
                     link sleeps for itself (SPEC 14), as low power idle of Ethernet does",
                ),
                key(
                    "sync_timeout_ns",
                    time(1, LONGEST_NS),
                    "10000, or the longest that `port.time_width` holds",
                    "after this time, in whole ticks, a peer that does not answer is given up",
                ),
                key(
                    "control_pins",
                    Type::Switch,
                    "`false`",
                    "pins `enable`, `force_wake` and `link_up`, and `clear_error` with messages: the \
                     switch or the PHY decides whether the link may sleep, and says whether there is \
                     one",
                ),
                key(
                    "triple_redundancy",
                    Type::Switch,
                    "`false`",
                    "the registers that decide whether the link is awake, those of `lpi_fsm` and \
                     `link_sync`, and the sleep state and times in force of `csr`, are kept in three \
                     copies, of which two outvote a third that an upset has changed; pins \
                     `inject_upset` and `upset`",
                ),
                key(
                    "memory_code",
                    choice(MemoryCode::ALL.map(MemoryCode::name)),
                    "`\"none\"`",
                    "the words of all memories have a bit of `parity`, by which a wrong bit is found, or \
                     the check bits of `secded`, by which a single wrong bit is put right and two \
                     are found; pin `memory_upset`",
                ),
                key(
                    "registers",
                    Type::Switch,
                    "`false`",
                    "run-time parameters and counters behind an AXI4-Lite port",
                ),
                key(
                    "timing_range",
                    integer(1, LARGEST_TIMING_RANGE, Unit::None),
                    "`1`",
                    "with registers, software may set the times of the link (`t_s`, `t_w`, `t_q`, \
                     `t_r`, the hold of `hybrid` and `sync_timeout`) to up to so many times the configuration's, and \
                     down to one part in so many; 1: they never change",
                ),
            ],
            ),
            table(
                "states.wake",
                "A link that is awake (PerfBound Table 8)",
                vec![key(
                    "power_w",
                    power(),
                    "`24`",
                    "power of one end of the link; transitions and refreshes draw it too",
                )],
            ),
            table(
                "states.fast-wake",
                "The sleep state that a link leaves soon",
                vec![
                    key(
                        "power_w",
                        power(),
                        "40 % of `states.wake.power_w`",
                        "power of one end of the link",
                    ),
                    key(
                        "t_w_ns",
                        transition(),
                        "`375`",
                        "time from sleep to wake, in whole cycles; the default is rounded up",
                    ),
                    key(
                        "t_s_ns",
                        transition(),
                        "`200`",
                        "time from wake to sleep, in whole cycles; the default is rounded up",
                    ),
                ],
            ),
            table(
                "states.deep-sleep",
                "The sleep state that saves most",
                vec![
                key(
                    "power_w",
                    power(),
                    "10 % of `states.wake.power_w`",
                    "power of one end of the link",
                ),
                key("t_w_ns", transition(), "`4480`", "time from sleep to wake, in whole cycles; the default is rounded up"),
                key("t_s_ns", transition(), "`2000`", "time from wake to sleep, in whole cycles; the default is rounded up"),
                key(
                    "t_q_ns",
                    time(0, LONGEST_TRANSITION_NS),
                    "`0`",
                    "quiet interval (Georgakoudis II.A), in whole cycles; it and `t_r_ns` are both 0 or \
                     both above 0",
                ),
                key(
                    "t_r_ns",
                    time(0, LONGEST_TRANSITION_NS),
                    "`0`",
                    "refresh interval, in whole cycles; 0 is no refresh",
                ),
            ],
            ),
            table(
                "histogram",
                "What the predicting policies record of idle times (PerfBound Table 4)",
                vec![
                key(
                    "kind",
                    choice(HistogramKind::ALL.map(HistogramKind::name)),
                    "`\"clearing\"`",
                    "how it forgets (SPEC 6)",
                ),
                key(
                    "bin_scale",
                    choice(Scale::ALL.map(Scale::name)),
                    "`\"linear\"`",
                    "bins of one width, or of a width that grows with the time",
                ),
                key("bins", integer(4, 4096, Unit::None), "`256`", "`n_bins`"),
                key(
                    "bin_ns",
                    time(1, LONGEST_NS),
                    "`16384`, or the largest that the times allow; on a logarithmic scale one tick",
                    "`r_bin`: the width of a bin, on a logarithmic scale of the finest; a power \
                     of two ticks",
                ),
                key(
                    "counter_bits",
                    integer(1, 32, Unit::Count("bits")),
                    "`8`",
                    "`w_counter`; counters saturate, those of `regular` halve",
                ),
                key(
                    "max_samples",
                    integer(1, u32::MAX as u64, Unit::None),
                    "`250`",
                    "`h_maxN`: samples that are kept",
                ),
                key(
                    "ttl_ns",
                    time(0, LONGEST_NS),
                    "`1000000000`, or `0` where `port.time_width` cannot count it",
                    "`TTL_hist`, in whole ticks; 0 is the longest that `port.time_width` counts",
                ),
                key(
                    "map_entries",
                    integer(1, 4096, Unit::None),
                    "`64`, or `bins` if that is less",
                    "entries of `map`; hardware can have 2 to 256",
                ),
                key(
                    "max_value_ns",
                    time(1, LONGEST_NS),
                    "`bins * bin_ns`; on a logarithmic scale 1 s",
                    "`h_maxval`: longest time recorded, longest threshold, in whole ticks",
                ),
            ],
            ),
            table(
                "perfbound",
                "The performance that may be lost (PerfBound 2.4)",
                vec![
                key("bound", Type::Fraction, "`0.01`", "degradation allowed; 0.01 is 1 %"),
                key(
                    "hops",
                    or(Type::HopGroups, choice(["measured"])),
                    "`[[2, 0.002], [4, 0.013], [5, 0.985]]`",
                    "how far the packets sent from this port travel; the proportions add up to \
                     1; or the hop monitor measures it",
                ),
                key(
                    "hop_factor",
                    Type::Fraction,
                    "computed from `bound` and `hops`",
                    "the factor `l` itself, instead of `hops`; at most `bound`, by which runs are \
                     judged where it is given",
                ),
                key(
                    "hop_window",
                    integer(2, 65_536, Unit::Count("packets")),
                    "`4096`",
                    "packets over which the hop monitor takes the mean; a power of two",
                ),
                key(
                    "budget_step_ticks",
                    integer(1, 64, Unit::Count("ticks")),
                    "`1`",
                    "the budget of a clearing or map histogram is added up so many ticks at a time, a power \
                     of two: with 16, fewer registers change in an idle port. No output depends on it",
                ),
                key(
                    "window",
                    choice(CircularWindow::ALL.map(CircularWindow::name)),
                    "`\"held\"`",
                    "`X` of a circular histogram: the sum of the lengths held, or the time since \
                     reset (SPEC 7)",
                ),
            ],
            ),
            table(
                "correction",
                "The correction of `perfbound-correct` (PerfBound 3.4)",
                vec![
                key(
                    "history",
                    integer(1, 1024, Unit::Count("idle periods")),
                    "`16`",
                    "`n_R`: idle periods remembered",
                ),
                key(
                    "mode",
                    choice(CorrectionMode::ALL.map(CorrectionMode::name)),
                    "`\"at-least-one\"`",
                    "whether the factor may lower the threshold (SPEC 8)",
                ),
                key(
                    "miss_unit",
                    choice(MissUnit::ALL.map(MissUnit::name)),
                    "`\"fraction\"`",
                    "whether a rate of misses of 1 in 4 counts as 0.25 or, as PerfBound Equation 2 is \
                     printed, 25",
                ),
                key(
                    "fraction_bits",
                    integer(4, 32, Unit::Count("bits")),
                    "`10`",
                    "fraction of a stored logarithm; `estimate` prints how near the corrected \
                     threshold comes",
                ),
            ],
            ),
            table(
                "guard",
                "The bound as a theorem (SPEC 12)",
                vec![key(
                "burst",
                integer(0, 65_535, Unit::Count("packets")),
                "`0`",
                "capacity of the token bucket; 0 is off; needs `sync = \"messages\"` or `\"lpi\"`, \
                 and `l / t_w` below one packet a tick",
            )],
            ),
            table(
                "verilog",
                "The names of what is emitted",
                vec![key(
                    "module_prefix",
                    Type::Text {
                        legal:
                            "a text of letters, digits and _ that begins with a letter and ends \
                            with _, such as \"north_\", at most 32 characters, or \"\"",
                        pattern: "^([A-Za-z][A-Za-z0-9_]{0,30}_)?$",
                        check: is_prefix,
                    },
                    "`\"\"`",
                    "what the name of every module and file begins with, so that the Verilog of \
                 several configurations can be in one chip",
                )],
            ),
        ]
});

/// The JSON Schema of a configuration.
pub fn json_schema() -> serde_json::Value {
    let about = "The controller of a port: its clock, its policy, and the link's sleep states";
    schema::json(Kind::Port.title(), about, &TABLES)
}
