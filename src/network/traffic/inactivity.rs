//! How long a port has nothing to send, application by application (PerfBound Figure 1).
//!
//! The PerfBound paper shows the four distributions without their numbers. What its text states is
//! met; what it leaves open is taken from traces of such applications, or chosen. Between the
//! stated quantiles the logarithm of the time is uniform.

use rand::Rng;
use rand_pcg::Pcg64Mcg;

/// An application whose idle times a port sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Application {
    /// Molecular dynamics: "100 us surpasses the length for most of the inactivity periods"
    /// (PerfBound 4.4.1). Quantiles measured: see [`Application::quantiles`].
    Lammps,
    /// Monte Carlo neutron transport: the network is used at the begin and the end of a run of
    /// 1290.64 s only, and ports are on for 0.02 % of it (PerfBound 4.5).
    Patmos,
    /// Weather forecast training: waiting 1 us before sleep halves the overhead, another three
    /// orders of magnitude bring it to a third, and 99 % of the periods are within the
    /// millisecond range (PerfBound 4.6.1).
    Mlwf,
    /// AlexNet training: 90 % of the periods are within the nanosecond range (PerfBound 4.7.1); the
    /// network mostly idles between the bursts of the back-propagation (PerfBound 4.7).
    AlexNet,
}

/// Part of the idle times that are no longer than so many ns.
pub type Quantile = (f64, f64);

/// All of PATMOS's idle times but one in a run; the run has so many. Their sum is 0.02 % of
/// 1290.64 s at a mean of 9.9 us / ln 100.
const PATMOS_PERIODS: f64 = 120_074.0;

impl Application {
    /// All, in the order of the PerfBound paper's figure.
    pub const ALL: [Application; 4] = [
        Application::Lammps,
        Application::Patmos,
        Application::Mlwf,
        Application::AlexNet,
    ];

    /// The name in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Application::Lammps => "lammps",
            Application::Patmos => "patmos",
            Application::Mlwf => "mlwf",
            Application::AlexNet => "alexnet",
        }
    }

    /// The distribution, from the part 0 to the part 1.
    pub fn quantiles(self) -> &'static [Quantile] {
        match self {
            // Idle periods of the 16 NICs under the LAMMPS trace lammps-lj-r16-s300, on one
            // switch, by a sweep over fixed thresholds.
            Application::Lammps => &[
                (0.0, 10.0),
                (0.0537, 50.0),
                (0.1298, 200.0),
                (0.2061, 500.0),
                (0.2717, 1e3),
                (0.3922, 2e3),
                (0.6771, 5e3),
                (0.7967, 1e4),
                (0.8620, 2e4),
                (0.9379, 5e4),
                (0.9581, 1e5),
                (0.9695, 5e5),
                (0.9981, 1e6),
                (1.0, 5e6),
            ],
            // The range of the short ones is chosen.
            Application::Patmos => {
                const SHORT: f64 = 1.0 - 1.0 / PATMOS_PERIODS;
                const LONG: f64 = 1290.64e9 * (1.0 - 0.0002);
                &[(0.0, 100.0), (SHORT, 1e4), (SHORT, LONG), (1.0, LONG)]
            }
            // An overhead in proportion to the periods that are slept through; the shortest
            // and the longest are chosen.
            Application::Mlwf => &[
                (0.0, 10.0),
                (0.5, 1e3),
                (2.0 / 3.0, 1e6),
                (0.99, 1e7),
                (1.0, 1e8),
            ],
            // Within the 90 % below 1 us, and within the rest, as measured at the 8 NICs under
            // the trace alexnet-dp-layer-r8-i3 in the same way.
            Application::AlexNet => &[
                (0.0, 10.0),
                (0.0556, 50.0),
                (0.2699, 100.0),
                (0.7898, 200.0),
                (0.8298, 500.0),
                (0.9, 1e3),
                (0.9070, 2e3),
                (0.9183, 5e3),
                (0.9261, 1e4),
                (0.9447, 2e4),
                (0.9586, 5e4),
                (0.9638, 1e5),
                (0.9697, 2e5),
                (0.9776, 5e5),
                (0.9811, 1e6),
                (0.9831, 2e6),
                (0.9841, 5e6),
                (0.9865, 1e7),
                (0.9920, 2e7),
                (0.9989, 5e7),
                (1.0, 1e8),
            ],
        }
    }

    /// The time of which the part `part`, from 0 to 1, is no longer, in ns.
    fn at(self, part: f64) -> f64 {
        let quantiles = self.quantiles();
        let above = quantiles.partition_point(|&(quantile, _)| quantile <= part);
        let above = above.clamp(1, quantiles.len() - 1);
        let ((from, short), (to, long)) = (quantiles[above - 1], quantiles[above]);
        let way = ((part - from) / (to - from)).clamp(0.0, 1.0);
        short * (long / short).powf(way)
    }

    /// Draws an idle time, in ns.
    pub fn draw(self, random: &mut Pcg64Mcg) -> f64 {
        self.at(random.random())
    }

    /// Mean of the idle times, in ns.
    pub fn mean(self) -> f64 {
        let pieces = self.quantiles().windows(2);
        let mean = |piece: &[Quantile]| {
            let ((from, short), (to, long)) = (piece[0], piece[1]);
            let mean = match long > short {
                true => (long - short) / (long / short).ln(),
                false => short,
            };
            (to - from) * mean
        };
        pieces.map(mean).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    const DRAWS: usize = 400_000;

    fn drawn(shape: Application) -> Vec<f64> {
        let mut random = Pcg64Mcg::seed_from_u64(11);
        (0..DRAWS).map(|_| shape.draw(&mut random)).collect()
    }

    /// The part of the drawn times up to `ns`.
    fn part(drawn: &[f64], ns: f64) -> f64 {
        drawn.iter().filter(|&&time| time <= ns).count() as f64 / drawn.len() as f64
    }

    #[test]
    fn every_quantile_is_met() {
        for shape in Application::ALL {
            let drawn = drawn(shape);
            for &(quantile, ns) in shape.quantiles() {
                // Four standard deviations of a count, and the ends exactly.
                let within = 4.0 * (quantile * (1.0 - quantile) / DRAWS as f64).sqrt() + 1e-5;
                let found = part(&drawn, ns);
                assert!(
                    (found - quantile).abs() <= within,
                    "{}: {found} up to {ns} ns, not {quantile}",
                    shape.name()
                );
            }
        }
    }

    #[test]
    fn what_perfbound_paper_states_is_met() {
        assert!(part(&drawn(Application::Lammps), 100e3) > 0.9);
        assert!((part(&drawn(Application::AlexNet), 1e3) - 0.9).abs() < 0.003);
        let mlwf = drawn(Application::Mlwf);
        assert!((part(&mlwf, 1e3) - 0.5).abs() < 0.004);
        assert!((part(&mlwf, 1e6) - 0.667).abs() < 0.004);
        assert!((part(&mlwf, 1e7) - 0.99).abs() < 0.001);
    }

    #[test]
    fn patmos_is_at_work_for_a_fiftieth_of_a_percent() {
        let periods = PATMOS_PERIODS;
        let run = 1290.64e9;
        let total = Application::Patmos.mean() * periods;
        assert!((total / run - 1.0).abs() < 1e-6, "{total}");
        let long = Application::Patmos.at(1.0);
        let busy = (total - long) / total;
        assert!((busy - 0.0002).abs() < 2e-6, "{busy}");
        assert!(Application::Patmos.at(1.0 - 2.0 / periods) < 1e4);
    }

    #[test]
    fn drawn_times_have_the_mean() {
        for shape in [Application::Lammps, Application::Mlwf, Application::AlexNet] {
            let drawn = drawn(shape);
            let mean = drawn.iter().sum::<f64>() / DRAWS as f64;
            let ratio = mean / shape.mean();
            assert!((ratio - 1.0).abs() < 0.05, "{}: {ratio}", shape.name());
        }
    }
}
