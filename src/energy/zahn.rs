//! Energy per data (Zahn IV): what the network draws for the data that it carries in the time.
//!
//! The network is the cores of the switches, which draw the same all the time, and the links
//! (Zahn III.A); nodes do not count. Data are the payload bytes that have arrived. The unit
//! is that of Zahn V, which compares with 42.7 nJ/bit of its hardware at full load.

use serde::Serialize;

use super::{Energy, EnergyReport};
use crate::network::RunSummary;

/// The energy of a run's network per bit; `None` if nothing has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EnergyPerData {
    /// Links and switches, in nJ/bit.
    pub network_nj_per_bit: Option<f64>,
    /// Links alone, in nJ/bit.
    pub links_nj_per_bit: Option<f64>,
}

impl EnergyPerData {
    /// Of a run and its energy.
    pub fn of(run: &RunSummary, energy: &EnergyReport) -> Self {
        let bits = 8.0 * run.delivered_bytes as f64;
        let per_bit = |energy: Energy| (bits > 0.0).then(|| energy.joules() * 1e9 / bits);
        Self {
            network_nj_per_bit: per_bit(energy.links + energy.switches),
            links_nj_per_bit: per_bit(energy.links),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::{tests::run, SystemPower};

    #[test]
    fn joules_over_bits() {
        // Two link ends for 1 s, one half of it in fast wake: 24 + 12 + 4.8 = 40.8 J; a
        // switch: 250 J. Nodes draw 1.8 kJ, which does not count.
        let second = 1_000_000_000;
        let awake = [second, 0, 0, 0, 0, 0];
        let mut run = run(&[awake, [second / 2, 0, second / 2, 0, 0, 0]], second);
        let of = |run: &RunSummary| EnergyPerData::of(run, &SystemPower::default().energy(1, run));
        assert_eq!(of(&run).network_nj_per_bit, None);
        run.delivered_bytes = 1_000_000;
        let found = of(&run);
        assert!((found.network_nj_per_bit.unwrap() - 290.8e9 / 8e6).abs() < 1e-9);
        assert!((found.links_nj_per_bit.unwrap() - 40.8e9 / 8e6).abs() < 1e-9);
    }
}
