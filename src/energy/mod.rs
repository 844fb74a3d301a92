//! Energy from the time that ports spend in each power state (PerfBound 3.1, 4.2, Tables 7, 8), the
//! models of other papers ([`powar`], [`georgakoudis`], [`zahn`]), and what could be saved at all
//! ([`limits`]).
//!
//! Powers are whole microwatts and times whole picoseconds, so energies are whole
//! attojoules: sums are exact, and turn into joules only where they are printed.
//!
//! The PerfBound paper counts links as switches * radix + NICs, that is, every port counts as one
//! link with the power of a link. Transitions and refreshes draw the power of `Wake`.
//!
//! Where each direction of a link sleeps for itself (SPEC 14), a port's states are those of the
//! direction that it sends on. That direction draws half of what the link does: as much as one of
//! its two ends. So the sums are the same, port by port.

pub mod georgakoudis;
pub mod limits;
pub mod powar;
pub mod series;
pub mod zahn;

use serde::Serialize;

use crate::blocks::port::pins::PowerState;
use crate::config::{Decimal, States};
use crate::network::scenario::Devices;
use crate::network::RunSummary;

/// Power in microwatts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Power(pub u64);

impl Power {
    /// From watts, rounded to the nearest microwatt; `None` if negative, not a number or
    /// beyond 10^12 W.
    pub fn from_watts(watts: f64) -> Option<Self> {
        let microwatts = (watts * 1e6).round();
        (0.0..=1e18)
            .contains(&microwatts)
            .then_some(Self(microwatts as u64))
    }

    /// In watts.
    pub fn watts(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Energy over `time` ps.
    pub fn over(self, time: u64) -> Energy {
        Energy(u128::from(self.0) * u128::from(time))
    }
}

/// Energy in attojoules (10^-18 J).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Energy(pub u128);

impl Energy {
    /// In joules.
    pub fn joules(self) -> f64 {
        self.0 as f64 / 1e18
    }
}

impl std::ops::Add for Energy {
    type Output = Energy;

    fn add(self, other: Energy) -> Energy {
        Energy(self.0 + other.0)
    }
}

impl std::iter::Sum for Energy {
    fn sum<I: Iterator<Item = Energy>>(energies: I) -> Energy {
        energies.fold(Energy::default(), |sum, energy| sum + energy)
    }
}

/// A power of a configuration that no energy can be computed from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {watts} is not between 0 and 10^12 W")]
pub struct PowerRange {
    /// The key of the configuration.
    pub key: &'static str,
    /// Its value, in watts.
    pub watts: Decimal,
}

/// Power of one link end by state (PerfBound Table 8): half of what the link draws, and so that of
/// one direction where directions sleep for themselves (SPEC 14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkPower {
    /// `Wake`, transitions and refreshes.
    pub wake: Power,
    /// `FAST_WAKE`.
    pub fast_wake: Power,
    /// `DEEP_SLEEP` outside of refreshes.
    pub deep_sleep: Power,
}

impl Default for LinkPower {
    /// 24 W, 9.6 W, 2.4 W.
    fn default() -> Self {
        Self {
            wake: Power(24_000_000),
            fast_wake: Power(9_600_000),
            deep_sleep: Power(2_400_000),
        }
    }
}

impl LinkPower {
    /// The powers of a configuration, to the microwatt.
    ///
    /// # Errors
    /// If a power is beyond what [`Power::from_watts`] takes.
    pub fn of_states(states: &States) -> Result<Self, PowerRange> {
        let power = |key, watts: Decimal| {
            Power::from_watts(watts.to_f64()).ok_or(PowerRange { key, watts })
        };
        Ok(Self {
            wake: power("states.wake.power_w", states.wake_power_w)?,
            fast_wake: power("states.fast-wake.power_w", states.fast_wake.power_w)?,
            deep_sleep: power("states.deep-sleep.power_w", states.deep_sleep.power_w)?,
        })
    }

    /// The power drawn in a state.
    pub fn of(&self, state: PowerState) -> Power {
        match state {
            PowerState::FastWake => self.fast_wake,
            PowerState::DeepSleep => self.deep_sleep,
            PowerState::Wake
            | PowerState::GoingDown
            | PowerState::GoingUp
            | PowerState::Refresh => self.wake,
        }
    }

    /// Energy of a link end that spent `cycles` clock cycles of `clock_ps` in each state, in
    /// the order of [`PowerState::ALL`].
    pub fn energy(&self, cycles: &[u64; 6], clock_ps: u64) -> Energy {
        PowerState::ALL
            .iter()
            .zip(cycles)
            .map(|(&state, &cycles)| {
                Energy(u128::from(self.of(state).0) * u128::from(cycles) * u128::from(clock_ps))
            })
            .sum()
    }
}

/// Power of the devices beside the links (PerfBound Table 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemPower {
    /// One end of a link, by state.
    pub link: LinkPower,
    /// A switch without links.
    pub switch: Power,
    /// A node that computes nothing.
    pub node_min: Power,
    /// A node that computes all the time.
    pub node_max: Power,
}

impl Default for SystemPower {
    /// Links of PerfBound Table 8; switches and nodes of PerfBound Table 7.
    fn default() -> Self {
        Self::new(LinkPower::default(), &Devices::default())
    }
}

impl SystemPower {
    /// Of links that draw this, and such devices.
    pub fn new(link: LinkPower, devices: &Devices) -> Self {
        Self {
            link,
            switch: Power(devices.switch_uw),
            node_min: Power(devices.node_min_uw),
            node_max: Power(devices.node_max_uw),
        }
    }

    /// The energy of a run, against the same time with all links awake.
    pub fn energy(&self, switches: usize, run: &RunSummary) -> EnergyReport {
        let duration = run.duration_ps();
        let ports: Vec<Energy> = run
            .ports
            .iter()
            .map(|port| self.link.energy(&port.cycles.states, run.clock_ps))
            .collect();
        let links: Energy = ports.iter().copied().sum();
        let cabled = run.ports.iter().filter(|port| port.cabled).count();
        let always_on = self.link.wake.over(duration).0 * cabled as u128;
        let nodes = run
            .calc_ps
            .iter()
            .zip(&run.cpus)
            .map(|(&calc, &cpus)| self.node_energy(calc, cpus, duration))
            .sum();
        EnergyReport {
            ports,
            links,
            links_always_on: Energy(always_on),
            switches: Energy(self.switch.over(duration).0 * switches as u128),
            nodes,
        }
    }

    /// `P_min + (P_max - P_min) * utilisation` over `duration` ps (PerfBound 4.1), where the
    /// utilisation of a node is the part of the time that its CPUs compute: all of it, where a trace
    /// has several computations of a CPU at a time.
    fn node_energy(&self, calc: u64, cpus: u32, duration: u64) -> Energy {
        let idle = self.node_min.over(duration);
        let calc = calc.min(duration.saturating_mul(cpus.into()));
        let above = Power(self.node_max.0.saturating_sub(self.node_min.0)).over(calc);
        idle + Energy(above.0 / u128::from(cpus.max(1)))
    }
}

/// The energy of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnergyReport {
    /// Of each port's end of its link, numbered as the run's ports.
    pub ports: Vec<Energy>,
    /// Of all link ends.
    pub links: Energy,
    /// Of all link ends, had they been awake for the same time.
    pub links_always_on: Energy,
    /// Of all switches, without their links.
    pub switches: Energy,
    /// Of all nodes.
    pub nodes: Energy,
}

/// An [`EnergyReport`] in joules, for JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Joules {
    /// All link ends, in J.
    pub links: f64,
    /// All switches without their links, in J.
    pub switches: f64,
    /// All nodes, in J.
    pub nodes: f64,
    /// Links and switches together, in J: what the PerfBound paper's abstract calls the network.
    pub network: f64,
    /// Links, switches and nodes together, in J.
    pub total: f64,
}

impl EnergyReport {
    /// Links, switches and nodes.
    pub fn total(&self) -> Energy {
        self.links + self.switches + self.nodes
    }

    /// In joules.
    pub fn joules(&self) -> Joules {
        Joules {
            links: self.links.joules(),
            switches: self.switches.joules(),
            nodes: self.nodes.joules(),
            network: (self.links + self.switches).joules(),
            total: self.total().joules(),
        }
    }
}

/// What the other papers' models say of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Models {
    /// Power of network and cluster as parts of their maximum.
    pub powar: powar::Cluster,
    /// Average power of the links.
    pub georgakoudis: georgakoudis::AveragePower,
    /// Energy per data.
    pub zahn: zahn::EnergyPerData,
}

impl Models {
    /// Of a run on so many switches, whose energy is that.
    pub fn new(link: &LinkPower, switches: usize, run: &RunSummary, energy: &EnergyReport) -> Self {
        Self {
            powar: powar::Cluster::of(switches, run),
            georgakoudis: georgakoudis::AveragePower::of(link, run),
            zahn: zahn::EnergyPerData::of(run, energy),
        }
    }
}

/// A port whose times do not add up to the run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{port}: its {what} last {found} {unit} together, the run {run}")]
pub struct NotConserved {
    /// The port's name.
    pub port: String,
    /// Power states, or idle periods and activity of the port, or of its link.
    pub what: &'static str,
    /// All of them together.
    pub found: u64,
    /// Clock cycles, or ps.
    pub unit: &'static str,
    /// The run.
    pub run: u64,
}

/// Checks that the times per state of every port with a cable add up to the duration of the
/// run, and its idle and busy times and those of its link too if they were kept.
///
/// # Errors
/// Names the first port for which they do not.
pub fn check_conservation(run: &RunSummary) -> Result<(), NotConserved> {
    for port in run.ports.iter().filter(|port| port.cabled) {
        let cycles = ("clock cycles", run.cycles);
        let states = ("power states", port.cycles.states.iter().sum(), cycles);
        let idle = port.idle.as_ref();
        let idle = idle.map(|idle| ("idle periods and activity", idle.cycles(), cycles));
        let link = port.link_idle.as_ref().map(|link| {
            let what = "link's idle periods and activity";
            (what, link.run_ps(), ("ps", run.duration_ps()))
        });
        for (what, found, (unit, run)) in std::iter::once(states).chain(idle).chain(link) {
            if found != run {
                return Err(NotConserved {
                    port: port.name.clone(),
                    what,
                    found,
                    unit,
                    run,
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::network::event::idle::IdlePeriods;
    use crate::network::event::link_idle::LinkIdle;
    use crate::network::{Ended, Latency, PortCycles, PortSummary};

    /// Switches, radix and nodes of a network of PerfBound Table 7.
    type Network = [usize; 3];

    const MEGAFLY: Network = [1040, 16, 4160];
    /// 28000 links of a torus of 1000 switches with 4000 NICs: radix 24.
    const TORUS: Network = [1000, 24, 4000];
    const RLFT: Network = [845, 26, 4394];

    /// One second, in joules and so in watts, of a system whose links are all in one state and whose
    /// nodes compute so much of the time. The PerfBound paper counts links so (4.2): switches times
    /// radix, and NICs.
    fn second_of([switches, radix, nodes]: Network, state: PowerState, computing: f64) -> Joules {
        let second = 1_000_000_000;
        let mut states = [0; 6];
        states[state as usize] = second;
        let mut run = run(&vec![states; switches * radix + nodes], second);
        run.calc_ps = vec![(computing * 1e12).round() as u64; nodes];
        run.cpus = vec![1; nodes];
        SystemPower::default().energy(switches, &run).joules()
    }

    /// That is what a paper prints with so many decimals, in percent.
    fn prints(part: f64, of: f64, decimals: i32, printed: f64) {
        let percent = 100.0 * part / of;
        let within = 0.5 * 0.1_f64.powi(decimals) + 1e-9;
        assert!((percent - printed).abs() <= within, "{percent} {printed}");
    }

    #[test]
    fn table_7_of_the_perfbound_paper() {
        // Switches and links in kW; then of idle and of busy nodes the total in MW, and the percentages
        // of switches, nodes and links.
        let table = [
            (
                (MEGAFLY, 260.0, 499.2),
                (4.087, [6.36, 81.42, 12.21]),
                (5.751, [4.52, 86.80, 8.68]),
            ),
            (
                (TORUS, 250.0, 672.0),
                (4.122, [6.07, 77.63, 16.30]),
                (5.722, [4.37, 83.89, 11.74]),
            ),
            (
                (RLFT, 211.25, 632.736),
                (4.359, [4.85, 80.64, 14.52]),
                (6.117, [3.45, 86.20, 10.34]),
            ),
        ];
        for ((network, switch_kw, link_kw), idle, busy) in table {
            for (computing, (total_mw, shares)) in [(0.0, idle), (1.0, busy)] {
                let found = second_of(network, PowerState::Wake, computing);
                assert!((found.switches - switch_kw * 1e3).abs() < 1e-6);
                assert!((found.links - link_kw * 1e3).abs() < 1e-6);
                // Three decimals are printed.
                assert!((found.total / 1e6 - total_mw).abs() < 5e-4);
                let parts = [found.switches, found.nodes, found.links];
                for (part, printed) in parts.into_iter().zip(shares) {
                    prints(part, found.total, 2, printed);
                }
            }
        }
    }

    /// PerfBound Table 8: what links, and links and switches, draw of the Megafly's system, with idle and
    /// with busy nodes. The percentages of sleeping links have two denominators there, those of the network
    /// a third one; each is computed here as printed, and with its own total (`docs/papers.md`).
    #[test]
    fn table_8_of_the_perfbound_paper() {
        let of = |state| [0.0, 1.0].map(|computing| second_of(MEGAFLY, state, computing));
        let wake = of(PowerState::Wake);
        let fast = of(PowerState::FastWake);
        let deep = of(PowerState::DeepSleep);
        let both = |part: [f64; 2], of: &[Joules; 2], printed: [f64; 2]| {
            for ((part, of), printed) in part.into_iter().zip(of).zip(printed) {
                prints(part, of.total, 2, printed);
            }
        };
        let links = |it: &[Joules; 2]| [it[0].links, it[1].links];
        let network = |it: &[Joules; 2]| [it[0].network, it[1].network];
        both(links(&wake), &wake, [12.21, 8.68]);
        // The 18.57 % of the text of 4.2 are these 18.575 %, cut off.
        both(network(&wake), &wake, [18.58, 13.20]);

        // Printed: of the total with links awake where nodes idle, 4.89 and 1.22; where they are busy, 3.66
        // and 0.92, of the total with links in fast wake.
        prints(fast[0].links, wake[0].total, 2, 4.89);
        prints(fast[1].links, fast[1].total, 2, 3.66);
        prints(deep[0].links, wake[0].total, 2, 1.22);
        prints(deep[1].links, fast[1].total, 2, 0.92);
        // With one denominator: the total with links awake, or their own.
        both(links(&fast), &wake, [4.89, 3.47]);
        both(links(&fast), &fast, [5.27, 3.66]);
        both(links(&deep), &wake, [1.22, 0.87]);
        both(links(&deep), &deep, [1.37, 0.94]);

        // Printed: the network with links awake, of the total with links asleep.
        both(network(&wake), &fast, [20.04, 13.93]);
        both(network(&wake), &deep, [20.87, 14.32]);
        // Its own power, of its own total.
        both(network(&fast), &fast, [12.14, 8.43]);
        both(network(&deep), &deep, [8.52, 5.85]);
    }

    /// What links save at most, were they asleep all the time: computed from PerfBound Tables 7 and 8 for
    /// `docs/evidence/fidelity.md`; the paper prints none of it. On LAMMPS nodes are 47 % busy, by
    /// the paper's energies (4.4).
    #[test]
    fn links_that_always_sleep() {
        for (computing, state, system, network) in [
            (0.47, PowerState::FastWake, 6.2, 39.5),
            (0.47, PowerState::DeepSleep, 9.2, 59.2),
            (0.0, PowerState::DeepSleep, 11.0, 59.2),
        ] {
            let wake = second_of(MEGAFLY, PowerState::Wake, computing);
            let asleep = second_of(MEGAFLY, state, computing);
            prints(wake.total - asleep.total, wake.total, 1, system);
            prints(wake.network - asleep.network, wake.network, 1, network);
        }
    }

    /// A run in which the first of two nodes computed half of the time.
    pub(crate) fn run(ports: &[[u64; 6]], cycles: u64) -> RunSummary {
        RunSummary {
            ended: Ended::Complete,
            time_ps: cycles * 1000,
            cycles,
            clock_ps: 1000,
            offered_messages: 0,
            offered_bytes: 0,
            messages: 0,
            packets: 0,
            delivered_bytes: 0,
            packet_hops: 0,
            pauses_asleep: 0,
            packets_in_flight: 0,
            latency: Latency::default(),
            sizes_differ: 0,
            operations_finished: 0,
            operations: 0,
            jobs_ps: Vec::new(),
            calc_ps: vec![cycles * 500, 0],
            cpus: vec![1, 0],
            ports: ports
                .iter()
                .map(|&states| PortSummary {
                    name: "switch0.port0".into(),
                    cabled: true,
                    cycles: PortCycles {
                        states,
                        ..Default::default()
                    },
                    packets_sent: 0,
                    bytes_sent: 0,
                    pauses: 0,
                    highest_input: 0,
                    highest_output: 0,
                    sleep_waits: 0,
                    sleep_delay_ps: 0,
                    idle: None,
                    link_idle: None,
                })
                .collect(),
            series: None,
            events: 0,
        }
    }

    #[test]
    fn a_run_of_one_second() {
        // 10^9 cycles of 1 ns. Port 0: half asleep in fast wake; port 1: 0.9 s in deep
        // sleep, the rest in transitions and refreshes, which draw the power of wake.
        let second = 1_000_000_000;
        let run = run(
            &[
                [second / 2, 0, second / 2, 0, 0, 0],
                [
                    0,
                    second / 20,
                    0,
                    second / 10 * 9,
                    second / 50,
                    second / 100 * 3,
                ],
            ],
            second,
        );
        check_conservation(&run).unwrap();
        let energy = SystemPower::default().energy(1, &run);
        assert_eq!(energy.ports[0].joules(), 12.0 + 4.8);
        assert_eq!(energy.ports[1].0, 4_560_000_000_000_000_000);
        assert_eq!(energy.links.0, 21_360_000_000_000_000_000);
        assert_eq!(energy.links_always_on.joules(), 48.0);
        let ratio = energy.links.joules() / energy.links_always_on.joules();
        assert!((ratio - 21.36 / 48.0).abs() < 1e-12);
        assert_eq!(energy.switches.joules(), 250.0);
        // One node computes half of the time: 1000 J; the other idles: 800 J.
        assert_eq!(energy.nodes.joules(), 1800.0);
        assert_eq!(energy.joules().network, 271.36);
        assert_eq!(energy.joules().total, 2071.36);
    }

    #[test]
    fn lost_time_is_found() {
        let mut run = run(&[[10, 0, 0, 0, 0, 0]], 10);
        check_conservation(&run).unwrap();
        run.cycles = 11;
        let error = check_conservation(&run).unwrap_err();
        assert_eq!((error.what, error.found), ("power states", 10));
        run.cycles = 10;
        let kept = IdlePeriods {
            busy: 4,
            after: 6,
            ..IdlePeriods::default()
        };
        run.ports[0].idle = Some(kept.clone());
        check_conservation(&run).unwrap();
        run.ports[0].idle = Some(IdlePeriods { before: 2, ..kept });
        let error = check_conservation(&run).unwrap_err();
        assert_eq!(
            error.to_string(),
            "switch0.port0: its idle periods and activity last 12 clock cycles together, the run 10"
        );
        run.ports[0].idle = None;
        let link = LinkIdle {
            busy_ps: 4000,
            after_ps: 6000,
            ..LinkIdle::default()
        };
        run.ports[0].link_idle = Some(link.clone());
        check_conservation(&run).unwrap();
        let after_ps = 5999;
        run.ports[0].link_idle = Some(LinkIdle { after_ps, ..link });
        let error = check_conservation(&run).unwrap_err();
        assert_eq!(
            error.to_string(),
            "switch0.port0: its link's idle periods and activity last 9999 ps together, the run 10000"
        );
    }

    #[test]
    fn watts_that_no_link_draws_are_refused() {
        assert_eq!(Power::from_watts(9.6), Some(Power(9_600_000)));
        for wrong in [-1.0, f64::NAN, f64::INFINITY, 1e13] {
            assert_eq!(Power::from_watts(wrong), None);
        }
    }
}
