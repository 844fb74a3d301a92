//! What `docs/papers.md` says of figures that the papers print and that no other test computes.

/// The line through the logarithms, by least squares: exponent, and the value at 1.
fn power_law(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let logarithms = points.iter().map(|(x, y)| (x.ln(), y.ln()));
    let (mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0);
    for (of_x, of_y) in logarithms {
        x += of_x;
        y += of_y;
        xx += of_x * of_x;
        xy += of_x * of_y;
    }
    let exponent = (count * xy - x * y) / (count * xx - x * x);
    (exponent, ((y - exponent * x) / count).exp())
}

/// PerfBound Table 2 has the times of Energy Efficient Ethernet at 100 Mb/s to 10 Gb/s, and Table 3
/// takes them to 400 Gb/s: `t_w` "with rate^-0.45", `t_s` with rate^-0.77. A fit gives the second
/// exponent and not the first, and no estimate of `t_s`.
#[test]
fn times_of_energy_efficient_ethernet() {
    let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 2e-3;
    let (exponent, at_one) = power_law(&[(0.1, 30.0), (1.0, 16.0), (10.0, 4.48)]);
    assert!(close(exponent, -0.4129), "{exponent}");
    for (gbps, us) in [(40.0, 2.814), (100.0, 1.928), (400.0, 1.087)] {
        assert!(close(at_one * f64::powf(gbps, exponent), us));
    }
    // What Table 3 prints: the value of 10GBASE-T, and its exponent.
    for (gbps, printed) in [(40.0, 2.4), (100.0, 1.6), (400.0, 0.8)] {
        let scaled = 4.48 * f64::powf(gbps / 10.0, -0.45);
        assert!((scaled - printed).abs() < 0.06, "{scaled}");
    }
    let (exponent, at_one) = power_law(&[(0.1, 100.0), (1.0, 182.0), (10.0, 2.88)]);
    assert!(close(exponent, -0.7703), "{exponent}");
    for (gbps, fitted, printed) in [(40.0, 2.183, 1.2), (100.0, 1.078, 0.7), (400.0, 0.37, 0.25)] {
        let found = at_one * f64::powf(gbps, exponent);
        assert!(close(found, fitted), "{found}");
        assert!(found > 1.4 * printed);
    }
}

/// PerfBound 4.5: what the network consumes while PATMOS runs, 345.28 kJ, does not go with the powers of
/// its Table 7, but with the 412.08 nJ for each bit that stand beside it.
#[test]
fn the_network_while_patmos_runs() {
    let network_w: f64 = 1040.0 * 250.0 + 20_800.0 * 24.0;
    assert_eq!(network_w, 759_200.0);
    assert!((network_w * 1290.64 / 1e6 - 979.9).abs() < 0.05);
    let bits: f64 = 7.334e9 / 8.75e-3;
    assert!((345.28e3 / bits * 1e9 - 412.08).abs() < 0.2);
}
