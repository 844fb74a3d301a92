//! The second step: defaults, and what the values mean together.

use num_rational::BigRational;
use num_traits::One;
use toml::de::DeTable;

use super::keys::{LONGEST_NS, TABLES};
use super::plan::{CircularWindow, HistogramKind, MemoryCode, MissUnit, Policy, Sleep};
use super::{
    ns, Clock, Config, Correction, CorrectionMode, Guard, Histogram, PerfBound, Port, Refresh,
    Scale, SleepState, States, Sync, Verilog,
};
use crate::input::{Decimal, InputError, Kind, Reader, Section, Value, Written};

/// Power of a link that is awake, in watts, unless it is written (PerfBound Table 8).
const WAKE_POWER_W: u64 = 24;
const PS_PER_NS: u64 = 1000;
const SECOND_PS: u64 = 1_000_000_000_000;

/// The unit that counts a time.
#[derive(Clone, Copy)]
struct Unit {
    ps: u64,
    name: &'static str,
}

/// How times are counted.
struct Times {
    ticks: Unit,
    cycles: Unit,
    /// Bits of a time in ticks.
    width: u32,
    /// The longest time in ticks that both the registers and this program hold.
    longest: u64,
}

impl Times {
    /// What a time is compared with that is too long.
    fn fits(&self) -> String {
        format!("the longest time of port.time_width = {}", self.width)
    }
}

/// A default in nanoseconds of a time that any number of clock periods may have.
fn short(default_ns: u64) -> (u64, u64, u64) {
    (default_ns * PS_PER_NS, 1, u64::MAX)
}

/// A sleep state as written.
struct WrittenState {
    power_w: Option<Written<Decimal>>,
    t_w: Option<Written<u64>>,
    t_s: Option<Written<u64>>,
}

/// Reads and validates a configuration text.
pub(super) fn config(text: &str, name: &str) -> Result<Config, InputError> {
    let mut reader = Reader::new(text, name);
    let document = reader.document(Kind::Port);
    let config = of_table(&mut reader, document);
    reader.finish(config)
}

/// The configuration in a table of a larger text; `None` if the reader has noted faults.
pub(super) fn of_table<'a>(reader: &mut Reader<'a>, table: DeTable<'a>) -> Option<Config> {
    let before = reader.fault_count();
    let config = resolve(reader, table, before)?;
    (reader.fault_count() == before).then_some(config)
}

/// `None` once there are faults, more than those `before`, that would make the rest guesswork.
fn resolve<'a>(reader: &mut Reader<'a>, table: DeTable<'a>, before: usize) -> Option<Config> {
    let known: Vec<_> = TABLES.iter().collect();
    let mut tables = reader.sections(table, &known, &TABLES);
    if reader.fault_count() > before {
        return None;
    }
    let written = tables.table("clock");
    let clock = clock(
        reader,
        written.number("period_ps"),
        written.number("tick_ns"),
    );
    if reader.fault_count() > before {
        return None;
    }
    let written_port = tables.table("port");
    let width = small(written_port.number("time_width"), 32);
    let times = Times {
        ticks: Unit {
            ps: clock.tick_ps,
            name: "ticks",
        },
        cycles: Unit {
            ps: clock.period_ps,
            name: "clock periods",
        },
        width,
        longest: (u64::MAX >> (64 - width)).min(LONGEST_NS * PS_PER_NS / clock.tick_ps),
    };
    let states = states(
        reader,
        &tables.table("states.wake"),
        &tables.table("states.fast-wake"),
        &tables.table("states.deep-sleep"),
        times.cycles,
    );
    let histogram = histogram(reader, &tables.table("histogram"), &times);
    let port = port(reader, &written_port, &times, histogram.max_value_ps);
    let written = tables.table("perfbound");
    let bound = written.fraction("bound");
    let hop_factor = written.fraction("hop_factor");
    let hops = written.get("hops").cloned();
    // Where to point if the budget cannot be exact.
    let budget_offset = [
        hop_factor.as_ref().map(|w| w.offset),
        hops.as_ref().map(|w| w.offset),
        bound.as_ref().map(|w| w.offset),
    ]
    .into_iter()
    .flatten()
    .next()
    .unwrap_or(0);
    let perfbound = perfbound(reader, bound, hops, hop_factor);
    let hop_window = power_of_two(reader, written.number("hop_window"), 4096);
    let budget_step_ticks = power_of_two(reader, written.number("budget_step_ticks"), 1);
    if reader.fault_count() > before {
        return None;
    }

    let windows = CircularWindow::ALL.map(|v| (v.name(), v));
    let window = written.choice("window", &windows);
    let burst = tables.table("guard").number("burst");
    let module_prefix = tables.table("verilog").text("module_prefix");
    let config = Config {
        clock,
        port,
        states,
        histogram,
        perfbound: perfbound?,
        hop_window,
        budget_step_ticks,
        window: window.map_or(CircularWindow::Held, |w| w.value),
        correction: correction(&tables.table("correction")),
        guard: Guard {
            burst: small(burst.clone(), 0),
        },
        verilog: Verilog {
            module_prefix: module_prefix.map_or_else(String::new, |w| w.value),
        },
    };
    if let (Some(burst), Some(problem)) = (&burst, guard_fault(&config)) {
        reader.fault_of(burst, problem);
    }
    let timing_range = written_port.number("timing_range");
    if let (Some(range), Some(problem)) = (&timing_range, timing_fault(&config)) {
        reader.fault_of(range, problem);
    }
    if let Err(error) = config.plan() {
        reader.fault(budget_offset, error.to_string());
    }
    Some(config)
}

/// The sleep states: what they draw, and how long the ways to them and back take.
fn states(
    reader: &mut Reader<'_>,
    wake: &Section,
    fast_wake: &Section,
    deep_sleep: &Section,
    cycles: Unit,
) -> States {
    let wake_power = power(wake);
    let (t_q, t_r) = (deep_sleep.number("t_q_ns"), deep_sleep.number("t_r_ns"));
    let (fast_wake, deep_sleep) = (state(fast_wake), state(deep_sleep));
    let sleep_state = |reader: &mut Reader<'_>, state: WrittenState, default: SleepState| {
        let (t_w, t_s) = (default.t_w_ps / PS_PER_NS, default.t_s_ps / PS_PER_NS);
        SleepState {
            power_w: state.power_w.map_or(default.power_w, |w| w.value),
            t_w_ps: whole(reader, state.t_w, cycles, short(t_w), ""),
            t_s_ps: whole(reader, state.t_s, cycles, short(t_s), ""),
        }
    };
    powers_fall(reader, &wake_power, &fast_wake.power_w, &deep_sleep.power_w);
    let wake_power_w = wake_power.map_or(Decimal::from(WAKE_POWER_W), |w| w.value);
    // PerfBound Table 8: fast wake saves 60 % of the power, deep sleep 90 %; in whole nanowatts.
    let share = |percent: u64| {
        // At most 1 MW: 10^15 nanowatts.
        let nanowatts = wake_power_w.scaled_floor(1_000_000_000).unwrap_or(0) * percent / 100;
        Decimal::new(nanowatts as i64, 9)
    };
    // What is left out keeps the order of the powers that are written.
    let value_of = |power: &Option<Written<Decimal>>| power.as_ref().map(|w| w.value);
    let fast_wake_default = share(40).max(value_of(&deep_sleep.power_w).unwrap_or(Decimal::ZERO));
    let deep_sleep_default = share(10).min(value_of(&fast_wake.power_w).unwrap_or(wake_power_w));
    States {
        wake_power_w,
        fast_wake: sleep_state(
            reader,
            fast_wake,
            SleepState {
                power_w: fast_wake_default,
                t_w_ps: 375_000,
                t_s_ps: 200_000,
            },
        ),
        deep_sleep: sleep_state(
            reader,
            deep_sleep,
            SleepState {
                power_w: deep_sleep_default,
                t_w_ps: 4_480_000,
                t_s_ps: 2_000_000,
            },
        ),
        refresh: refresh(reader, t_q, t_r, cycles),
    }
}

fn histogram(reader: &mut Reader<'_>, written: &Section, times: &Times) -> Histogram {
    let &Times { ticks, longest, .. } = times;
    let fits = times.fits();
    let kinds = HistogramKind::ALL.map(|v| (v.name(), v));
    let kind = written.choice("kind", &kinds);
    let scale = written.choice("bin_scale", &Scale::ALL.map(|v| (v.name(), v)));
    let (bins, bin) = (written.number("bins"), written.number("bin_ns"));
    let counter_bits = written.number("counter_bits");
    let max_samples = written.number("max_samples");
    let ttl = written.number("ttl_ns");
    let map_entries = written.number("map_entries");
    let max_value = written.number("max_value_ns");
    let kind = kind.map_or(HistogramKind::Clearing, |w| w.value);
    let scale = scale.map_or(Scale::Linear, |w| w.value);
    let (bins_value, bin_ps) = bins_and_width(reader, scale, bins, bin, ticks, times.width);
    let range_ps = match scale {
        Scale::Linear => bin_ps * u64::from(bins_value),
        // PerfBound 3.3 calls one second a sensible period.
        Scale::Log => SECOND_PS,
    }
    .min(longest * ticks.ps);
    let max_samples_value = small(max_samples.clone(), 250);
    let counter_bits_value = small(counter_bits.clone(), 8);
    counters_hold_samples(
        reader,
        kind,
        (max_samples, max_samples_value),
        (counter_bits, counter_bits_value),
    );
    let ttl_ps = match ttl {
        Some(ttl) if ttl.value == 0 => 0,
        // PerfBound 3.3: "a sensible period, like one second"; where the time width cannot
        // count it, the default is the longest time that it counts.
        None if longest < SECOND_PS.div_ceil(ticks.ps) => 0,
        ttl => whole(reader, ttl, ticks, (SECOND_PS, 1, longest), &fits),
    };
    if let Some(entries) = &map_entries {
        if kind == HistogramKind::Map && entries.value > u64::from(bins_value) {
            reader.fault_of(
                entries,
                format!(
                    "must be at most histogram.bins = {bins_value}: a map holds each bin \
                     once; the nearest legal value is {bins_value}"
                ),
            );
        }
    }
    Histogram {
        kind,
        scale,
        bins: bins_value,
        bin_ps,
        counter_bits: counter_bits_value,
        max_samples: max_samples_value,
        ttl_ps,
        map_entries: small(map_entries, 64.min(bins_value)),
        max_value_ps: whole(reader, max_value, ticks, (range_ps, 1, longest), &fits),
    }
}

/// The controller of a port, whose histogram records times up to `max_value_ps`.
fn port(reader: &mut Reader<'_>, written: &Section, times: &Times, max_value_ps: u64) -> Port {
    let &Times {
        ticks,
        cycles,
        longest,
        ..
    } = times;
    let fits = times.fits();
    let h_maxval = format!("histogram.max_value_ns = {}", ns(max_value_ps));
    let policy = written.choice("policy", &Policy::ALL.map(|v| (v.name(), v)));
    let sleep = written.choice("sleep", &Sleep::ALL.map(|v| (v.name(), v)));
    let t_pdt = written.number("t_pdt_ns");
    let t_pdt_init = written.number("t_pdt_init_ns");
    let t_backstop = written.number("t_backstop_ns");
    let backstop_off = written.choice("t_backstop_ns", &[("off", ())]).is_some();
    let hybrid_hold = written.number("hybrid_hold_ns");
    let sync = written.choice("sync", &Sync::ALL.map(|v| (v.name(), v)));
    let control_pins = written.switch("control_pins");
    let triple_redundancy = written.switch("triple_redundancy");
    let memory_code = written.choice("memory_code", &MemoryCode::ALL.map(|v| (v.name(), v)));
    let registers = written.switch("registers");
    let timing_range = written.number("timing_range");
    let sync_timeout = written.number("sync_timeout_ns");
    Port {
        time_width: times.width,
        policy: policy.map_or(Policy::PerfBound, |w| w.value),
        sleep: sleep.map_or(Sleep::DeepSleep, |w| w.value),
        t_pdt_ps: whole(reader, t_pdt, ticks, (100_000_000, 0, longest), &fits),
        t_pdt_init_ps: whole(
            reader,
            t_pdt_init,
            ticks,
            (max_value_ps, 0, max_value_ps / ticks.ps),
            &h_maxval,
        ),
        t_backstop_ps: (!backstop_off)
            .then(|| whole(reader, t_backstop, ticks, (max_value_ps, 0, longest), &fits)),
        hybrid_hold_ps: whole(reader, hybrid_hold, cycles, short(8000), ""),
        sync: sync.map_or(Sync::Messages, |w| w.value),
        control_pins: control_pins.is_some_and(|w| w.value),
        triple_redundancy: triple_redundancy.is_some_and(|w| w.value),
        memory_code: memory_code.map_or(MemoryCode::Plain, |w| w.value),
        registers: registers.is_some_and(|w| w.value),
        timing_range: small(timing_range, 1),
        sync_timeout_ps: whole(reader, sync_timeout, ticks, (10_000_000, 1, longest), &fits),
    }
}

fn correction(written: &Section) -> Correction {
    let history = written.number("history");
    let mode = written.choice("mode", &CorrectionMode::ALL.map(|v| (v.name(), v)));
    let miss_unit = written.choice("miss_unit", &MissUnit::ALL.map(|v| (v.name(), v)));
    let fraction_bits = written.number("fraction_bits");
    Correction {
        history: small(history, 16),
        mode: mode.map_or(CorrectionMode::AtLeastOne, |w| w.value),
        miss_unit: miss_unit.map_or(MissUnit::Fraction, |w| w.value),
        fraction_bits: small(fraction_bits, 10),
    }
}

/// Why software cannot set the times of the link, if the configuration asks for it.
fn timing_fault(config: &Config) -> Option<String> {
    let range = u64::from(config.port.timing_range);
    if range == 1 {
        return None;
    }
    if !config.port.registers {
        return Some(
            "there are no registers to set the times by: port.registers = true, or \
             port.timing_range = 1"
                .into(),
        );
    }
    let states = &config.states;
    let refresh = states.refresh.map_or(0, |it| it.t_q_ps.max(it.t_r_ps));
    let timeout = match config.port.sync {
        Sync::Messages => config.port.sync_timeout_ps,
        Sync::Levels | Sync::Lpi => 0,
    };
    let longest = [states.fast_wake, states.deep_sleep]
        .iter()
        .map(|state| state.t_s_ps.max(state.t_w_ps))
        .chain([config.port.hybrid_hold_ps, refresh, timeout])
        .fold(0, u64::max);
    let cycles = longest / config.clock.period_ps;
    let most = u64::from(u32::MAX) / cycles;
    (range > most).then(|| {
        format!(
            "the longest time of the link has {cycles} clock cycles, and a register has 32 bits: the \
             nearest legal value is {}",
            most.max(1)
        )
    })
}

/// Why a configuration can have no guard, if it asks for one.
fn guard_fault(config: &Config) -> Option<String> {
    if !config.guarded() {
        return None;
    }
    if config.port.sync == Sync::Levels {
        return Some(
            "port.sync = \"levels\": an end that follows the pin remote_down cannot refuse to \
             sleep; the guard needs port.sync = \"messages\" or \"lpi\", or burst = 0"
                .into(),
        );
    }
    if !config.predicts() && matches!(config.perfbound, PerfBound::Measured { .. }) {
        return Some(format!(
            "port.policy = \"{}\" measures no hop counts, which perfbound.hops = \"measured\" \
             asks for: give the hop counts or perfbound.hop_factor",
            config.port.policy.name()
        ));
    }
    let rate = config.budget_rate();
    if rate >= BigRational::one() {
        return Some(
            "l / t_w is at least one packet a tick: a bucket is refilled by less; choose a \
             shorter clock.tick_ns"
                .into(),
        );
    }
    (rate.denom().bits() > 100).then(|| {
        "l / t_w needs numbers of more than 100 bits to be exact: write perfbound.bound and the \
         hop counts with fewer digits"
            .into()
    })
}

/// A number that its range keeps within 32 bits.
fn small(written: Option<Written<u64>>, default: u32) -> u32 {
    written.map_or(default, |w| {
        u32::try_from(w.value).expect("the range of the key ends below 2^32")
    })
}

/// A power in watts, in whole nanowatts.
fn power(state: &Section) -> Option<Written<Decimal>> {
    let written = state.number("power_w")?;
    Some(written.map(|nanowatts| Decimal::scaled(nanowatts, 9)))
}

fn state(state: &Section) -> WrittenState {
    WrittenState {
        power_w: power(state),
        t_w: state.number("t_w_ns"),
        t_s: state.number("t_s_ns"),
    }
}

fn clock(
    reader: &mut Reader<'_>,
    period: Option<Written<u64>>,
    tick: Option<Written<u64>>,
) -> Clock {
    let period_ps = period.map_or(1000, |w| w.value);
    let unit = Unit {
        ps: period_ps,
        name: "clock periods",
    };
    // The default is the finest resolution of PerfBound Table 5 that the clock can count.
    let tick_ps = whole(reader, tick, unit, (PS_PER_NS, 1, u64::MAX), "");
    Clock { period_ps, tick_ps }
}

/// A time that must be a whole number of `unit`, from `low` to `high` of them. A default
/// that is not is rounded up to the next one, and kept in the range.
fn whole(
    reader: &mut Reader<'_>,
    written: Option<Written<u64>>,
    unit: Unit,
    (default_ps, low, high): (u64, u64, u64),
    limit: &str,
) -> u64 {
    let Some(written) = written else {
        return default_ps.div_ceil(unit.ps).clamp(low, high) * unit.ps;
    };
    let count = written.value / unit.ps;
    let in_ns = |count: u64| ns(u128::from(count) * u128::from(unit.ps));
    let of = format!("{} of {} ns", unit.name, ns(unit.ps));
    if count >= high && written.value > high.saturating_mul(unit.ps) {
        reader.fault_of(
            &written,
            format!(
                "must be at most {} ns, {limit} ({of}); the nearest legal value is {}",
                in_ns(high),
                in_ns(high)
            ),
        );
    } else if count < low {
        reader.fault_of(
            &written,
            format!(
                "must be a whole number, at least {low}, of {of}; the nearest legal value is {}",
                in_ns(low)
            ),
        );
    } else if written.value % unit.ps != 0 {
        // `count` is below `high` here.
        reader.fault_of(
            &written,
            format!(
                "must be a whole number of {of}; the nearest legal values are {} and {}",
                in_ns(count),
                in_ns(count + 1)
            ),
        );
    }
    written.value
}

/// Asleep, a link must not draw more than awake, nor deep sleep more than fast wake.
fn powers_fall(
    reader: &mut Reader<'_>,
    wake: &Option<Written<Decimal>>,
    fast_wake: &Option<Written<Decimal>>,
    deep_sleep: &Option<Written<Decimal>>,
) {
    let wake_value = wake
        .as_ref()
        .map_or(Decimal::from(WAKE_POWER_W), |w| w.value);
    let (above_deep_sleep, above_value) = match fast_wake {
        Some(fast_wake) if fast_wake.value < wake_value => ("fast-wake", fast_wake.value),
        _ => ("wake", wake_value),
    };
    let pairs = [
        (fast_wake, "wake", wake_value),
        (deep_sleep, above_deep_sleep, above_value),
    ];
    for (state, above, high) in pairs {
        if let Some(state) = state.as_ref().filter(|state| state.value > high) {
            reader.fault_of(
                state,
                format!(
                    "must be at most states.{above}.power_w = {high}: a deeper state that draws \
                     more saves nothing; the nearest legal value is {high}"
                ),
            );
        }
    }
}

fn refresh(
    reader: &mut Reader<'_>,
    t_q: Option<Written<u64>>,
    t_r: Option<Written<u64>>,
    cycles: Unit,
) -> Option<Refresh> {
    let value = |written: &Option<Written<u64>>| written.as_ref().map_or(0, |w| w.value);
    let (quiet, refresh) = (value(&t_q), value(&t_r));
    if quiet == 0 && refresh == 0 {
        return None;
    }
    if quiet == 0 || refresh == 0 {
        let (set, other) = match quiet {
            0 => (t_r, "t_q_ns"),
            _ => (t_q, "t_r_ns"),
        };
        if let Some(set) = set {
            reader.fault_of(
                &set,
                format!(
                    "states.deep-sleep.{other} is 0: the quiet interval t_q_ns and the refresh \
                     interval t_r_ns are both 0 (no refresh) or both above 0"
                ),
            );
        }
        return None;
    }
    let range = (0, 1, u64::MAX);
    Some(Refresh {
        t_q_ps: whole(reader, t_q, cycles, range, ""),
        t_r_ps: whole(reader, t_r, cycles, range, ""),
    })
}

/// The number of bins, and the width of one in picoseconds: a power of two ticks (a
/// shift in hardware), such that the whole range fits the time width.
fn bins_and_width(
    reader: &mut Reader<'_>,
    scale: Scale,
    bins: Option<Written<u64>>,
    bin: Option<Written<u64>>,
    tick: Unit,
    time_width: u32,
) -> (u32, u64) {
    let bins_value = small(bins.clone(), 256);
    // ceil(log2(bins)): bins << shift is at most 2^time_width for shifts up to the rest.
    let bins_log2 = bins_value.next_power_of_two().trailing_zeros();
    if bins_log2 > time_width {
        let legal = 1u64 << time_width;
        if let Some(bins) = &bins {
            reader.fault_of(
                bins,
                format!(
                    "port.time_width = {time_width} tells only {legal} times apart, fewer than \
                     there are bins; the nearest legal value is {legal}"
                ),
            );
        }
        return (bins_value, tick.ps);
    }
    let (reach_log2, reach) = match scale {
        Scale::Linear => (bins_log2, u64::from(bins_value)),
        // Only the finest bin is as wide as this.
        Scale::Log => (1, 1),
    };
    let longest_ticks = LONGEST_NS * PS_PER_NS / tick.ps / reach;
    let largest_shift = (time_width - reach_log2).min(63).min(longest_ticks.ilog2());
    let Some(bin) = bin else {
        let ticks = match scale {
            // 16384 ns reach the 2.2 ms that the deep-sleep preset needs with 256 bins.
            Scale::Linear => (16_384_000 / tick.ps).max(1),
            Scale::Log => 1,
        };
        return (bins_value, tick.ps << ticks.ilog2().min(largest_shift));
    };
    let ticks = bin.value / tick.ps;
    let largest = tick.ps << largest_shift;
    let of = format!("a power of two ticks of {} ns", ns(tick.ps));
    if bin.value > largest {
        reader.fault_of(
            &bin,
            format!(
                "histogram.bins = {bins_value}: {reach} bins of this width reach beyond the longest time \
                 of port.time_width = {time_width} bits; must be {of} and at most {} ns; the \
                 nearest legal value is {}",
                ns(largest),
                ns(largest)
            ),
        );
        return (bins_value, tick.ps);
    }
    if bin.value % tick.ps == 0 && ticks.is_power_of_two() {
        return (bins_value, bin.value);
    }
    let nearest = if ticks == 0 {
        format!("value is {}", ns(tick.ps))
    } else {
        let below = 1u64 << ticks.ilog2();
        format!(
            "values are {} and {}",
            ns(below * tick.ps),
            ns(below * 2 * tick.ps)
        )
    };
    reader.fault_of(
        &bin,
        format!("must be {of} (a shift in hardware); the nearest legal {nearest}"),
    );
    (bins_value, tick.ps)
}

/// A circular histogram takes evicted samples out again: a counter that has saturated
/// would lose count for good.
fn counters_hold_samples(
    reader: &mut Reader<'_>,
    kind: HistogramKind,
    (max_samples, samples): (Option<Written<u64>>, u32),
    (counter_bits, bits): (Option<Written<u64>>, u32),
) {
    let largest = u32::MAX >> (32 - bits);
    if kind != HistogramKind::Circular || samples <= largest {
        return;
    }
    let needed = 32 - samples.leading_zeros();
    let message = format!(
        "histogram.kind = \"circular\" with histogram.max_samples = {samples} and \
         histogram.counter_bits = {bits}: a counter must hold all samples, because evicted ones \
         are taken out again; the nearest legal values are max_samples = {largest} or \
         counter_bits = {needed}"
    );
    match max_samples.or(counter_bits) {
        Some(written) => reader.fault_of(&written, message),
        None => reader.fault(0, message),
    }
}

/// A number that has to be a power of two, or `default`.
fn power_of_two(reader: &mut Reader<'_>, number: Option<Written<u64>>, default: u32) -> u32 {
    let Some(number) = number else {
        return default;
    };
    if !number.value.is_power_of_two() {
        let below = 1u64 << number.value.max(1).ilog2();
        reader.fault_of(
            &number,
            format!(
                "must be a power of two; the nearest legal values are {below} and {}",
                2 * below
            ),
        );
    }
    small(Some(number), default)
}

fn perfbound(
    reader: &mut Reader<'_>,
    bound: Option<Written<Decimal>>,
    hops: Option<Written<Value>>,
    hop_factor: Option<Written<Decimal>>,
) -> Option<PerfBound> {
    if let Some(factor) = hop_factor {
        if hops.is_some() {
            reader.fault_of(
                &factor,
                "perfbound.hops is there too: hops gives the hop counts from which l is \
                 computed, hop_factor gives l itself; remove one of the two",
            );
            return None;
        }
        if let Some(bound) = bound.as_ref().filter(|bound| factor.value > bound.value) {
            reader.fault_of(
                &factor,
                format!(
                    "must be at most perfbound.bound = {}: hop_factor is l = bound * \
                     sum(p_i / h_i), and no packet travels less than one hop; the nearest legal \
                     value is {}",
                    bound.value, bound.value
                ),
            );
            return None;
        }
        return Some(PerfBound::Factor {
            factor: factor.value,
            bound: bound.map(|written| written.value),
        });
    }
    // PerfBound 2.4 and 4: the strictest of the three bounds that were evaluated.
    let bound = bound.map_or(Decimal::new(1, 2), |w| w.value);
    let Some(hops) = hops else {
        return Some(PerfBound::Hops {
            bound,
            groups: default_hops(),
        });
    };
    let Value::HopGroups(written) = &hops.value else {
        return Some(PerfBound::Measured { bound });
    };
    let mut groups: Vec<(u32, Decimal)> = Vec::new();
    let mut total = Decimal::ZERO;
    for group in written {
        let (count, share) = group.value;
        if groups.iter().any(|(other, _)| *other == count) {
            reader.fault_of(
                group,
                format!("hop count {count} is there twice: add the two proportions"),
            );
            return None;
        }
        groups.push((count, share));
        // At most 63 different hop counts, each with at most 1.
        total = total.checked_add(share)?;
    }
    let deviation = total
        .max(Decimal::ONE)
        .checked_sub(total.min(Decimal::ONE))?;
    if deviation > Decimal::new(1, 9) {
        let (last, share) = written.last()?.value;
        let rest = Decimal::ONE
            .checked_sub(total)
            .and_then(|rest| rest.checked_add(share))
            .filter(|rest| *rest > Decimal::ZERO);
        let nearest = match rest {
            Some(rest) => format!("; [{last}, {rest}] in the last place would make it 1"),
            None => String::new(),
        };
        reader.fault_of(
            &hops,
            format!("the proportions must add up to 1, not to {total}{nearest}"),
        );
        return None;
    }
    groups.sort_by_key(|(count, _)| *count);
    Some(PerfBound::Hops { bound, groups })
}

/// The Megafly of PerfBound 4.2 in three digits (see the preset bxiv3-deep-sleep).
fn default_hops() -> Vec<(u32, Decimal)> {
    vec![
        (2, Decimal::new(2, 3)),
        (4, Decimal::new(13, 3)),
        (5, Decimal::new(985, 3)),
    ]
}
