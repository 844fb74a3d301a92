//! What `docs/papers.md` says of figures that the papers print, computed: each sentence of the page that is
//! built here must stand in it.

use linkdoze::energy::SystemPower;
use linkdoze::network::topology::ConfiguredTopology;

/// The page says this, wherever its lines break.
fn says(sentence: &str) {
    let page = include_str!("../docs/papers.md");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(page).contains(sentence), "{sentence}");
}

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

/// PerfBound Table 2 has the times of Energy Efficient Ethernet in us at 0.1, 1 and 10 Gb/s; Table 3 takes
/// them to 40, 100 and 400 Gb/s.
#[test]
fn times_of_energy_efficient_ethernet() {
    let rates = [40.0, 100.0, 400.0];
    // In us at 1 Gb/s, and at each rate.
    let fitted = |exponent: f64, at_one: f64| {
        let [a, b, c] = rates.map(|gbps| at_one * f64::powf(gbps, exponent));
        format!(
            "{at_one:.3} us at 1 Gb/s, and {a:.3}, {b:.3} and {c:.3} us at 40, 100 and 400 Gb/s."
        )
    };
    let (exponent, at_one) = power_law(&[(0.1, 30.0), (1.0, 16.0), (10.0, 4.48)]);
    says(&format!(
        "A least-squares fit of Table 2 gives {exponent:.3}."
    ));
    says(&format!(
        "The fit for `t_w` has {}",
        fitted(exponent, at_one)
    ));
    // The value of 10GBASE-T with the paper's exponent is what Table 3 prints, to its digit.
    for (gbps, printed) in rates.into_iter().zip([2.4, 1.6, 0.8]) {
        let scaled = 4.48 * f64::powf(gbps / 10.0, -0.45);
        assert!((scaled - printed).abs() < 0.06, "{scaled}");
    }
    says("The times printed for `t_w` are that of 10GBASE-T with the exponent -0.45;");
    let (exponent, at_one) = power_law(&[(0.1, 100.0), (1.0, 182.0), (10.0, 2.88)]);
    let longer = rates.into_iter().zip([1.2, 0.7, 0.25]);
    let longer = longer.map(|(gbps, printed)| at_one * f64::powf(gbps, exponent) / printed);
    let (least, most) = longer.fold((f64::MAX, 0.0), |(least, most), it| {
        (f64::min(least, it), f64::max(most, it))
    });
    says(&format!(
        "follow neither {exponent:.2}, which is what a fit gives, nor the fit's times, which are \
         {least:.1} to {most:.1} times as long."
    ));
    says(&format!(
        "The fit for `t_s` has {}",
        fitted(exponent, at_one)
    ));
}

/// PerfBound 4.5: what the network consumes while PATMOS runs does not go with the powers of its Table 7.
#[test]
fn the_network_while_patmos_runs() {
    let megafly = ConfiguredTopology::named("megafly").unwrap();
    let power = SystemPower::default();
    let links = megafly.links() as f64 * power.link.wake.watts();
    let watts = megafly.switches() as f64 * power.switch.watts() + links;
    says(&format!(
        "Switches and links draw {:.1} kW (Table 7), which is {:.1} MJ in 1290.64 s.",
        watts / 1e3,
        watts * 1290.64 / 1e6
    ));
    // 345.28 kJ, divided by the bits for which 7.334 GJ are 8.75 mJ each.
    let nj_per_bit = 345.28e3 / (7.334e9 / 8.75e-3) * 1e9;
    assert!((nj_per_bit - 412.08_f64).abs() < 0.2, "{nj_per_bit}");
    says("The 412.08 nJ/bit beside it go with the 345.28 kJ: that is the number of bits for which 7.334 GJ are 8.75 mJ/bit.");
}
