//! What the shims add to a port of Ethernet: delays, waits, the rate (`docs/how/ethernet.md`).

use serde::Serialize;

use crate::blocks::ethernet_port::{lpi_latency, wait_bound, wake_latency};
use crate::blocks::mii::Mii;
use crate::blocks::{lpi_rx, lpi_tx};
use crate::config::plan::PortPlan;
use crate::config::Config;

/// The figures of a port of Ethernet beside those of its controller. Clock cycles are words. Where `t_s` and
/// `t_w_sys` are pins, they have the controller's times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EthernetPort {
    /// The interface between MAC and PHY, as `--ethernet` names it.
    pub interface: &'static str,
    /// Bits of data in a word.
    pub word_bits: u32,
    /// Its rate at the clock of the configuration, in Gb/s.
    pub rate_gbps: f64,
    /// For how many cycles after the fall of `mac_tx_enable` the MAC may still start a frame.
    pub mac_latency_cycles: u32,
    /// From a word of the MAC to the same word to the PHY.
    pub transmit_delay_cycles: u64,
    /// From a word of the PHY to the same word to the MAC.
    pub receive_delay_cycles: u64,
    /// From the rise of `lpi_request` to the first word of LPI to the PHY.
    pub lpi_begins_cycles: u64,
    /// From a frame that waits while the direction sleeps, of each sleep state that it goes to.
    pub wakes: Vec<Wake>,
    /// From a frame that waits to `mac_tx_enable`, at most: it comes as the direction goes to sleep.
    pub wait_cycles: u64,
    /// From that frame to its first word to the PHY, at most, if the MAC starts it `mac_latency_cycles`
    /// after it may.
    pub wait_to_wire_cycles: u64,
}

/// How a direction wakes from a sleep state with the times of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Wake {
    /// The sleep state.
    pub state: &'static str,
    /// From the first cycle in which a frame waits to the first in which `mac_tx_enable` is 1.
    pub mac_tx_enable_cycles: u64,
    /// From there to its first word to the PHY, if the MAC starts it at once.
    pub to_wire_cycles: u64,
    /// The same if the MAC starts it `mac_latency_cycles` after it may.
    pub to_wire_at_most_cycles: u64,
}

impl EthernetPort {
    pub(super) fn of(config: &Config, plan: &PortPlan, mii: Mii, mac_latency: u32) -> Self {
        let states = [
            (plan.uses_fast_wake(), "fast-wake", plan.link.fast_wake),
            (plan.uses_deep_sleep(), "deep-sleep", plan.link.deep_sleep),
        ];
        let used = states.into_iter().filter(|(used, ..)| *used);
        let wakes = used.map(|(_, state, times)| {
            let allowed = wake_latency(times);
            Wake {
                state,
                mac_tx_enable_cycles: allowed,
                to_wire_cycles: allowed + lpi_tx::DELAY,
                to_wire_at_most_cycles: allowed + u64::from(mac_latency) + lpi_tx::DELAY,
            }
        });
        let wait = wait_bound(plan, mac_latency);
        EthernetPort {
            interface: mii.name(),
            word_bits: mii.bits(),
            rate_gbps: mii.rate_gbps(config.clock.period_ps),
            mac_latency_cycles: mac_latency,
            transmit_delay_cycles: lpi_tx::DELAY,
            receive_delay_cycles: lpi_rx::DELAY,
            lpi_begins_cycles: lpi_latency(mac_latency),
            wakes: wakes.collect(),
            wait_cycles: wait,
            wait_to_wire_cycles: wait + u64::from(mac_latency) + lpi_tx::DELAY,
        }
    }
}

/// What the times of a port bring with them that is easily overlooked.
pub(super) fn note(plan: &PortPlan, mac_latency: u32) -> Option<String> {
    let states = plan.used_sleep_states();
    let shortest = states.iter().map(|times| times.t_s).min()?;
    (shortest <= u64::from(mac_latency)).then(|| {
        format!(
            "t_s = {shortest} clock cycles, and the MAC takes {mac_latency} to react: the controller may go to \
             sleep and wake again before LPI has begun. Its counters then say that the direction slept, and \
             the PHY saw no LPI. A t_s_ns of more than {mac_latency} cycles avoids that."
        )
    })
}
