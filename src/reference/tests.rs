use super::*;
use crate::config::plan::{CircularWindow, HistogramKind};
use crate::config::{Preset, Scale};

/// Four bins of 8 ticks (h_maxval 32), l / t_w = 1/10 packet per tick, at most 3 samples.
pub(super) fn parameters(kind: HistogramKind) -> Parameters {
    Parameters {
        policy: Policy::PerfBound,
        max_time: 1000,
        t_pdt_init: 32,
        budget_rate: BigRational::new(1.into(), 10.into()),
        histogram: HistogramParameters {
            kind,
            scale: Scale::Linear,
            bins: 4,
            bin: 8,
            max_count: 15,
            max_samples: 3,
            ttl: None,
            max_value: 32,
            map_entries: 2,
            max_window: 1000,
            window: CircularWindow::Held,
        },
        history: 4,
        correction_mode: CorrectionMode::AtLeastOne,
        miss_unit: MissUnit::Fraction,
    }
}

fn run(parameters: Parameters, periods: &[(u64, u64)]) -> Vec<Step> {
    let mut reference = Reference::new(parameters);
    periods
        .iter()
        .map(|(busy, idle)| reference.step(*busy, *idle))
        .collect()
}

/// `(t_inac, miss, window, budget, t_pb)` of each step.
fn columns(steps: &[Step]) -> Vec<(u64, bool, u64, u64, u64)> {
    steps
        .iter()
        .map(|s| (s.t_inac, s.miss, s.window, s.budget, s.t_pb))
        .collect()
}

/// SPEC 7.1: `elapsed` counts on since reset: X = 7, 30, 35, 80, 101, 108.
#[test]
fn the_window_of_a_circular_histogram() {
    let periods = [(2, 5), (3, 20), (1, 4), (5, 40), (6, 15), (1, 6)];
    for (window, expected) in [
        // Three lengths of at most 32.
        (CircularWindow::Held, [5, 25, 29, 56, 51, 53]),
        (CircularWindow::Elapsed, [7, 30, 35, 80, 101, 108]),
    ] {
        let mut parameters = parameters(HistogramKind::Circular);
        parameters.histogram.window = window;
        let steps = run(parameters, &periods);
        let windows: Vec<u64> = steps.iter().map(|s| s.window).collect();
        assert_eq!(windows, expected, "{window:?}");
    }
}

/// By hand, bins [0,8) [8,16) [16,24) [24,..):
/// 1: X = 2+5 = 7, N = 0, counts 1 0 0 0: bin 1 is the lowest with an empty tail: 8+4 = 12.
/// 2: X = 7+3+20 = 30, N = 3, counts 1 0 1 0: all tails within 3: bin 0: 4. 20 > 12: miss.
/// 3: X = 30+1+4 = 35, N = 3, counts 2 0 1 0: all 3 within 3: 4. 4 > 4 is no miss.
/// 4: full: cleared first, so X = 0, N = 0, counts 0 0 0 1: the last bin exceeds: 32.
/// 5: X = 6+15 = 21, N = 2, counts 0 1 0 1: both within 2: 4. 15 > 32 is no miss.
/// 6: X = 21+1+6 = 28, N = 2, counts 1 1 0 1: 2 within 2 from bin 1 up: 12. 6 > 4: miss.
#[test]
fn clearing_by_hand() {
    let periods = [(2, 5), (3, 20), (1, 4), (5, 40), (6, 15), (1, 6)];
    let steps = run(parameters(HistogramKind::Clearing), &periods);
    assert_eq!(
        columns(&steps),
        [
            (5, false, 7, 0, 12),
            (20, true, 30, 3, 4),
            (4, false, 35, 3, 4),
            (32, true, 0, 0, 32),
            (15, false, 21, 2, 4),
            (6, true, 28, 2, 12),
        ]
    );
    assert!(steps
        .iter()
        .all(|s| s.cf == 1.0 && s.t_pdt == s.t_pb as f64));
}

/// The same periods, never cleared: the fourth has X = 35+5+40 = 80, N = 8; four samples
/// are within: 4. In the fifth X = 80+21 = 101, N = 10: 4 again.
#[test]
fn regular_by_hand() {
    let periods = [(2, 5), (3, 20), (1, 4), (5, 40), (6, 15)];
    let steps = run(parameters(HistogramKind::Regular), &periods);
    assert_eq!(
        columns(&steps)[3..],
        [(32, true, 80, 8, 4), (15, true, 101, 10, 4)]
    );
}

/// X is the sum of the last three lengths: 5; 25; 29; 20+4+32 = 56 (5 evicted, 40 stored
/// as 32); 4+32+15 = 51 (20 evicted).
#[test]
fn circular_by_hand() {
    let periods = [(2, 5), (3, 20), (1, 4), (5, 40), (6, 15), (9, 1)];
    let steps = run(parameters(HistogramKind::Circular), &periods);
    let windows: Vec<u64> = steps.iter().map(|s| s.window).collect();
    assert_eq!(windows, [5, 25, 29, 56, 51, 48]);
    // Second: N = 2, counts 1 0 1 0: 4. Last: N = 4, three samples: 4.
    assert_eq!(steps[1].t_pb, 4);
    // First: N = 0, bin 1 up is empty: 12.
    assert_eq!(steps[0].t_pb, 12);
}

/// Two entries: the third different bin clears the map first and is counted.
#[test]
fn map_overflows_by_hand() {
    let mut parameters = parameters(HistogramKind::Map);
    parameters.histogram.max_samples = 100;
    let mut reference = Reference::new(parameters);
    assert_eq!(reference.step(1, 5).window, 6);
    assert_eq!(reference.step(1, 10).window, 17);
    assert_eq!(reference.step(1, 6).window, 24); // bin 0 is there already
    assert_eq!(reference.overflows(), 0);
    let step = reference.step(1, 17); // bin 2: full
    assert_eq!((step.window, step.budget), (0, 0));
    assert_eq!(step.t_pb, 24 + 4); // bin 3 is the lowest above the only sample
    assert_eq!(reference.overflows(), 1);
    assert_eq!(reference.step(1, 5).window, 6);
}

/// Generations of three samples, one period of 30 ticks in bin 3, then 10 ticks each in bin 0.
/// `d` counts ticks by generation, the present one first; X = (8 d_0 + 4 d_1 + 2 d_2 + d_3) / 8.
/// 1 to 3: d = 30, 40, 50.
/// 4: a new generation: d = 0 60, X = 30. 5: 10 60, X = 40.  7: 0 30 60, X = 15 + 15.
/// 10: 0 30 30 60, X = 15 + 7.5 + 7.5. 13: 0 30 30 30, X = 15 + 7.5 + 3.75.
/// Without a budget the sample in bin 3 rules (32) until it weighs nothing, in the 13th.
#[test]
fn decaying_by_hand() {
    let mut parameters = parameters(HistogramKind::Decaying);
    parameters.budget_rate = BigRational::new(1.into(), 1000.into());
    let mut periods = vec![(5, 5); 13];
    periods[0] = (6, 24);
    let steps = run(parameters, &periods);
    let windows: Vec<u64> = steps.iter().map(|s| s.window).collect();
    assert_eq!(windows[..7], [30, 40, 50, 30, 40, 50, 30]);
    assert_eq!((windows[9], windows[12]), (30, 26));
    let thresholds: Vec<u64> = steps.iter().map(|s| s.t_pb).collect();
    assert_eq!(thresholds[..12], [32; 12]);
    assert_eq!(thresholds[12], 12);
}

/// l / t_w = 1/40. Two of three in bin 3: 4: d_1 = 30 + 30 + 10 + 10, X = 40, N = 1; both
/// weigh half: 1 <= 1 fits, bin 0 does not: 12. Three in bin 3: X = 50, N = 1, 3/2 > 1: 32.
#[test]
fn decayed_samples_count_in_fractions() {
    let mut parameters = parameters(HistogramKind::Decaying);
    parameters.budget_rate = BigRational::new(1.into(), 40.into());
    let two = run(parameters.clone(), &[(6, 24), (6, 24), (5, 5), (5, 5)]);
    assert_eq!((two[3].window, two[3].budget, two[3].t_pb), (40, 1, 12));
    let three = run(parameters, &[(6, 24), (6, 24), (6, 24), (5, 5)]);
    assert_eq!(
        (three[3].window, three[3].budget, three[3].t_pb),
        (50, 1, 32)
    );
}

/// TTL 20: d = 6; 21 is beyond: 0 20, X = 10; 19 20, X = 19 + 10; 20: 0 20 20, X = 10 + 5.
/// Without, and a generation of one sample each: the largest time is 1000.
#[test]
fn generations_end_by_age() {
    let mut parameters = parameters(HistogramKind::Decaying);
    parameters.histogram.ttl = Some(20);
    parameters.histogram.max_samples = 100;
    let steps = run(parameters.clone(), &[(1, 5), (5, 10), (1, 18), (0, 1)]);
    let windows: Vec<u64> = steps.iter().map(|s| s.window).collect();
    assert_eq!(windows, [6, 10, 29, 15]);
    parameters.histogram.ttl = None;
    parameters.histogram.max_samples = 1;
    let steps = run(parameters, &[(1, 5), (u64::MAX, 5), (u64::MAX, 5)]);
    let windows: Vec<u64> = steps.iter().map(|s| s.window).collect();
    // 0 1000, X = 500; 0 1000 1000, X = 750.
    assert_eq!(windows, [6, 500, 750]);
}

/// Counters of one bit in each generation: in bin 0 1 + 1/2 after the second clear, not
/// 2 + 2/2.
#[test]
fn counters_saturate_by_generation() {
    let mut parameters = parameters(HistogramKind::Decaying);
    parameters.histogram.max_count = 1;
    parameters.histogram.max_samples = 2;
    // d = 0 30 after the third, 10 30 after the fourth: X = 25; N = 1 at l / t_w = 1/25.
    parameters.budget_rate = BigRational::new(1.into(), 25.into());
    let steps = run(parameters.clone(), &[(5, 5); 4]);
    assert_eq!(
        (steps[3].window, steps[3].budget, steps[3].t_pb),
        (25, 1, 12)
    );
    // N = 2 at 1/12: 3/2 fits.
    parameters.budget_rate = BigRational::new(1.into(), 12.into());
    let steps = run(parameters, &[(5, 5); 4]);
    assert_eq!((steps[3].budget, steps[3].t_pb), (2, 4));
}

/// Eight bins up to 15 ticks: M = 1 (M = 2 would need 12 bins). Bins of two to an octave:
/// 0, 1, 2, 3, 4-5, 6-7, 8-11, 12-15; middles (whole ticks) 0 1 2 3 5 7 10 14.
#[test]
fn logarithmic_bins_by_hand() {
    let mut parameters = parameters(HistogramKind::Regular);
    parameters.histogram.scale = Scale::Log;
    parameters.histogram.bins = 8;
    parameters.histogram.bin = 1;
    parameters.histogram.max_value = 15;
    // No budget: the bin above the sample's.
    parameters.budget_rate = BigRational::from_integer(0.into());
    let above: Vec<u64> = (0..=16)
        .map(|idle| run(parameters.clone(), &[(1, idle)])[0].t_pb)
        .collect();
    assert_eq!(
        above,
        [1, 2, 3, 5, 7, 7, 10, 10, 14, 14, 14, 14, 15, 15, 15, 15, 15]
    );
    // Everything fits: the lowest bin. Its middle is a whole number of ticks.
    parameters.budget_rate = BigRational::from_integer(1.into());
    assert_eq!(run(parameters.clone(), &[(1, 7)])[0].t_pb, 0);
    // r_bin = 4: lengths and middles are four times as long, but for the half bins:
    // bin 1 is 4 to 7.
    parameters.histogram.bin = 4;
    parameters.histogram.max_value = 63;
    parameters.budget_rate = BigRational::from_integer(0.into());
    let above: Vec<u64> = [0, 4, 8, 12, 16, 24, 32, 48]
        .map(|idle| run(parameters.clone(), &[(1, idle)])[0].t_pb)
        .into();
    assert_eq!(above, [6, 10, 14, 20, 28, 40, 56, 63]);
}

/// M = 0, for four bins cannot hold 2^20 with more: 0, 1, 2-3, and all the rest from 4 on,
/// with the middle of 4 to 7.
#[test]
fn logarithmic_bins_that_are_too_few() {
    let mut parameters = parameters(HistogramKind::Regular);
    parameters.histogram.scale = Scale::Log;
    parameters.histogram.bin = 1;
    parameters.histogram.max_value = 1 << 20;
    parameters.histogram.max_window = u64::MAX;
    parameters.max_time = u64::MAX;
    parameters.budget_rate = BigRational::from_integer(0.into());
    let above: Vec<u64> = [0, 1, 2, 3, 4, 5, 1 << 20]
        .map(|idle| run(parameters.clone(), &[(1, idle)])[0].t_pb)
        .into();
    assert_eq!(above, [1, 3, 6, 6, 1 << 20, 1 << 20, 1 << 20]);
}

/// TTL 20: X = 6, 6+15 = 21 >= 20 clears, then 1+18 = 19 does not, then 19+1 = 20 does.
#[test]
fn time_to_live_by_hand() {
    let mut parameters = parameters(HistogramKind::Clearing);
    parameters.histogram.ttl = Some(20);
    parameters.histogram.max_samples = 100;
    let steps = run(parameters, &[(1, 5), (5, 10), (1, 18), (0, 1)]);
    let windows: Vec<u64> = steps.iter().map(|s| s.window).collect();
    assert_eq!(windows, [6, 0, 19, 0]);
}

/// Bins of one tick have their middle at half a tick: no whole tick.
#[test]
fn middle_of_a_bin_of_one_tick() {
    let mut parameters = parameters(HistogramKind::Regular);
    parameters.histogram.bin = 1;
    parameters.histogram.max_value = 4;
    // X = 102, N = 10: everything within: bin 0.
    assert_eq!(run(parameters.clone(), &[(100, 2)])[0].t_pb, 0);
    // X = 3, N = 0: the sample in bin 2 is too much: bin 3.
    assert_eq!(run(parameters, &[(1, 2)])[0].t_pb, 3);
}

#[test]
fn counters_saturate() {
    let mut parameters = parameters(HistogramKind::Clearing);
    parameters.histogram.max_samples = 100;
    parameters.histogram.max_count = 1;
    // l = 1/900: N = 1 with a window of 905 and of 990 ticks.
    parameters.budget_rate = BigRational::new(1.into(), 900.into());
    let steps = run(parameters, &[(900, 5), (80, 5)]);
    let windows: Vec<u64> = steps.iter().map(|s| s.window).collect();
    assert_eq!(windows, [905, 990]);
    // Two samples in bin 0 count as 1: within N = 1.
    assert_eq!(steps[1].t_pb, 4);
}

/// SPEC 7: `X` never stops while counters go on. Without a time to live the histogram begins anew at the
/// longest window there is, here of 1000 ticks.
#[test]
fn no_window_is_longer_than_is_counted() {
    let mut parameters = parameters(HistogramKind::Clearing);
    parameters.histogram.max_samples = 100;
    parameters.histogram.ttl = None;
    let steps = run(parameters, &[(900, 5), (93, 1), (0, 1), (0, u64::MAX)]);
    let windows: Vec<u64> = steps.iter().map(|s| s.window).collect();
    // 905, 905 + 94 = 999, 999 + 1 is too long, and so is what has no end.
    assert_eq!(windows, [905, 999, 0, 0]);
    // Alone, with N = 0, each makes the threshold the middle of the bin above it, or the longest.
    assert_eq!((steps[2].t_pb, steps[3].t_pb), (12, 32));
}

/// SPEC 6: counters up to 3, windows up to 100.
#[test]
fn a_regular_histogram_is_halved_by_hand() {
    let mut parameters = parameters(HistogramKind::Regular);
    parameters.histogram.max_count = 3;
    parameters.histogram.max_window = 100;
    let periods = [
        (5, 5),
        (5, 5),
        (5, 5),
        (0, 10),
        (1, 19),
        (0, 10),
        (7, 3),
        (60, 10),
        (0, 2),
        (500, 40),
    ];
    parameters.histogram.bin = 4;
    parameters.histogram.max_value = 16;
    // Bins [0,4) [4,8) [8,12) [12,..): the samples are in bins 1 1 1 2 3 2 0 2 0 3.
    let mut histogram = Histogram::new(parameters.histogram.clone());
    let seen: Vec<(u64, Vec<u32>)> = periods
        .iter()
        .map(|&(busy, idle)| {
            (
                histogram.record(busy, idle.min(16), idle),
                histogram.counts(),
            )
        })
        .collect();
    let expected: [(u64, [u32; 4]); 10] = [
        (10, [0, 1, 0, 0]),
        (20, [0, 2, 0, 0]),
        // The counter is full: all halve before the next sample.
        (30, [0, 3, 0, 0]),
        // Odd bins are rounded up the first time: 2, then the sample.
        (20, [0, 2, 1, 0]),
        (40, [0, 2, 1, 1]),
        (50, [0, 2, 2, 1]),
        (60, [1, 2, 2, 1]),
        // 60 + 70 = 130 passes 100; now even ones are: 1 1 1 0, then the sample.
        (65, [1, 1, 2, 0]),
        (67, [2, 1, 2, 0]),
        // 67 + 540 is more than twice the largest: 201 / 2.
        (100, [1, 1, 1, 1]),
    ];
    for (step, (seen, (window, counts))) in seen.iter().zip(expected).enumerate() {
        assert_eq!((seen.0, &seen.1[..]), (window, &counts[..]), "step {step}");
    }
}

/// SPEC 6: a threshold under stationary traffic does not drift. Windows of 2^16 ticks are over
/// after some 190 periods, counters of 7 bits after some 400 with 40 % of them in one bin.
#[test]
fn a_regular_histogram_does_not_drift() {
    for max_count in [127, u32::MAX] {
        let mut parameters = parameters(HistogramKind::Regular);
        parameters.histogram.bins = 256;
        parameters.histogram.max_value = 2048;
        parameters.histogram.max_count = max_count;
        parameters.histogram.max_window = 65_535;
        parameters.max_time = 65_535;
        // A fifth of the periods may be longer than the threshold: 1/5 of one per 340 ticks.
        parameters.budget_rate = BigRational::new(1.into(), 1700.into());
        let mut reference = Reference::new(parameters);
        let thresholds: Vec<f64> = (0..20_000u64)
            .map(|i| reference.step(10, (i * 271) % 661).t_pdt)
            .collect();
        // Four fifths of 661.
        for (i, threshold) in thresholds.iter().enumerate().skip(150) {
            assert!(
                (510.0..560.0).contains(threshold),
                "{max_count}, {i}: {threshold}"
            );
        }
    }
}

/// 0.01 * 1 / 7 in f64 falls below 1/700 or above: the exact floor is 1 at X = 700.
#[test]
fn whole_budgets_are_not_rounded_away() {
    for denominator in [3u64, 7, 10, 49, 700, 448_000, 1_792_000] {
        let mut parameters = parameters(HistogramKind::Regular);
        parameters.max_time = u64::MAX;
        parameters.histogram.max_window = u64::MAX;
        parameters.budget_rate = BigRational::new(1.into(), denominator.into());
        for packets in [1u64, 3, 1000, 123_457] {
            let x = denominator * packets;
            let mut reference = Reference::new(parameters.clone());
            assert_eq!(reference.step(x - 2, 1).budget, packets - 1);
            let mut reference = Reference::new(parameters.clone());
            assert_eq!(reference.step(x - 1, 1).budget, packets);
        }
    }
}

/// n_R = 4; periods whose budget covers every sample, so that t_PB = 4 throughout.
/// 1: 16 > 32 no: cf = 1 (no misses), t = 4.
/// 2: 16 > 4: r = 4; cf = 1/4 * 4 = 1: t = 4.
/// 3: 64 > 4: r = 16; cf = 2/4 * sqrt(4 * 16) = 4: t = 16.
/// 4: 32 > 16: r = 2; cf = 3/4 * (4*16*2)^(1/3) = 0.75 * 128^(1/3): t = 4 cf.
/// 5: 1: the first outcome (no miss) leaves: m = 3 of 4 still: same cf.
/// 6: 1: the miss with r = 4 leaves: cf = 2/4 * sqrt(32).
#[test]
fn correction_by_hand() {
    let mut parameters = parameters(HistogramKind::Regular);
    parameters.policy = Policy::PerfBoundCorrect;
    let periods = [(300, 16), (1, 16), (1, 64), (1, 32), (1, 1), (1, 1)];
    let steps = run(parameters, &periods);
    let misses: Vec<bool> = steps.iter().map(|s| s.miss).collect();
    assert_eq!(misses, [false, true, true, true, false, false]);
    let third = 0.75 * 128f64.cbrt();
    let expected = [1.0, 1.0, 4.0, third, third, 0.5 * 32f64.sqrt()];
    for (step, cf) in steps.iter().zip(expected) {
        assert_eq!(step.t_pb, 4);
        assert!((step.cf - cf).abs() < 1e-12, "{step:?} {cf}");
        assert!((step.t_pdt - 4.0 * cf).abs() < 1e-11, "{step:?} {cf}");
    }
    // The whole period counts in the ratio; the histogram records 32.
    assert_eq!(steps[2].t_inac, 32);
}

/// SPEC 8: the same in per cent, whose factors are a hundred times as large: t = min(400, 32).
#[test]
fn misses_in_percent_by_hand() {
    let mut parameters = parameters(HistogramKind::Regular);
    parameters.policy = Policy::PerfBoundCorrect;
    parameters.miss_unit = MissUnit::Percent;
    let steps = run(parameters, &[(300, 16), (1, 16), (1, 64)]);
    let seen: Vec<(f64, f64)> = steps.iter().map(|s| (s.cf, s.t_pdt)).collect();
    // One of four, 25 per cent, with r = 4; then r = 64/32 = 2 too: 50 * sqrt(8).
    assert_eq!(seen[..2], [(1.0, 4.0), (100.0, 32.0)]);
    assert!((seen[2].0 - 50.0 * 8f64.sqrt()).abs() < 1e-11 && seen[2].1 == 32.0);
}

/// A factor below 1: r = 8/4 = 2 in one of four: cf = 0.5.
#[test]
fn factors_below_one_by_mode() {
    for (mode, t_pdt) in [
        (CorrectionMode::AtLeastOne, 4.0),
        (CorrectionMode::Raw, 2.0),
    ] {
        let mut parameters = parameters(HistogramKind::Regular);
        parameters.policy = Policy::PerfBoundCorrect;
        parameters.correction_mode = mode;
        let steps = run(parameters, &[(300, 1), (1, 8)]);
        assert_eq!((steps[1].cf, steps[1].t_pdt), (0.5, t_pdt));
    }
}

/// A threshold of 0 counts as one tick in the ratio, and h_maxval is the longest.
#[test]
fn corrected_thresholds_stay_in_range() {
    let mut parameters = parameters(HistogramKind::Regular);
    parameters.policy = Policy::PerfBoundCorrect;
    parameters.t_pdt_init = 0;
    parameters.history = 1;
    let steps = run(parameters, &[(500, 100), (1, 1000)]);
    for (step, cf) in steps.iter().zip([100.0, 1000.0 / 32.0]) {
        assert!((step.cf / cf - 1.0).abs() < 1e-14, "{step:?} {cf}");
        assert_eq!(step.t_pdt, 32.0);
    }
}

/// 1024 ratios of 2^60 each: their product is far beyond the range of an `f64`.
#[test]
fn many_large_ratios_do_not_overflow() {
    let mut history = MissHistory::new(1024, MissUnit::Fraction);
    for _ in 0..1024 {
        history.record(Some(2f64.powi(60)));
    }
    let factor = history.correction_factor();
    assert!((factor / 2f64.powi(60) - 1.0).abs() < 1e-12, "{factor}");
}

#[test]
fn policies_that_do_not_predict() {
    let mut parameters = parameters(HistogramKind::Clearing);
    parameters.policy = Policy::Fixed;
    parameters.t_pdt_init = 10;
    let steps = run(parameters.clone(), &[(1, 10), (1, 11), (1, 500)]);
    let misses: Vec<bool> = steps.iter().map(|s| s.miss).collect();
    assert_eq!(misses, [false, true, true]);
    assert!(steps
        .iter()
        .all(|s| s.t_pdt == 10.0 && s.window == 0 && s.budget == 0));
    parameters.policy = Policy::AlwaysOn;
    assert!(run(parameters, &[(1, 999), (1, 1)]).iter().all(|s| !s.miss));
}

/// PerfBound Equation 1: l = 0.7 * 0.01/4 + 0.3 * 0.01/6 = 0.00225, printed as 0.0023
/// (the right-hand side of the equation, with 0.6 and 0.4, would give 0.0022).
#[test]
fn equation_1() {
    let text = "[perfbound]\nbound = 0.01\nhops = [[4, 0.7], [6, 0.3]]";
    let config = Config::parse(text, "a").unwrap();
    let l = config.degradation_factor();
    assert_eq!(l, BigRational::new(9.into(), 4000.into()));
    assert_eq!(format!("{:.4}", l.to_f64().unwrap() + 1e-12), "0.0023");
    // t_w = 4480 ticks: N = floor(0.00225 * 10^7 / 4480) = floor(5.02) = 5.
    let mut reference = Reference::new(Parameters::new(&config));
    assert_eq!(reference.step(9_000_000, 1_000_000).budget, 5);
}

/// The first threshold is the configured one.
#[test]
fn presets_run() {
    for preset in crate::config::PRESETS {
        let preset = Preset::find(preset.name).unwrap();
        let config = Config::parse(preset.text, preset.name).unwrap();
        let first = config.port.t_pdt_init_ps / config.clock.tick_ps;
        let mut reference = Reference::new(Parameters::new(&config));
        assert!(!reference.step(100, first).miss);
        let mut reference = Reference::new(Parameters::new(&config));
        assert!(reference.step(100, first + 1).miss);
    }
}

/// Idle periods tell no hop counts: the factor stays where it begins, as if every packet took
/// 63 links, 1040/65536.
#[test]
fn measured_hops_begin_with_the_longest_path() {
    let text = |hops: &str| format!("[perfbound]\nbound = 0.5\n{hops}");
    let measured = Config::parse(&text("hops = \"measured\""), "a").unwrap();
    assert_eq!(
        measured.degradation_factor(),
        BigRational::new(1040.into(), 131_072.into())
    );
    Reference::new(Parameters::new(&measured)).step(100, 5);
}
