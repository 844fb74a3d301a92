//! What a run measured, and what power saving changes.

use serde::{Deserialize, Serialize};

use crate::blocks::port::pins::PowerState;
use crate::energy::limits::Limits;
use crate::energy::{EnergyReport, Models};
use crate::network::budget::BudgetUse;
use crate::network::{Ended, RunSummary};

/// What a run measured. Counts are sums over all ports with a cable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// `complete`, or `duration` if the run was cut.
    pub ended: String,
    /// The last operation finished, or the run was cut, at this time.
    pub time_ns: f64,
    /// Mean of the jobs' own execution times; none if one has not ended.
    pub job_time_mean_ns: Option<f64>,
    /// Packets that count in the latency: those of after the warm-up.
    pub latency_packets: u64,
    /// Packet latency: the mean, in ns; none where no packet counts.
    pub latency_mean_ns: Option<f64>,
    /// The median.
    pub latency_p50_ns: Option<f64>,
    /// The 99th percentile.
    pub latency_p99_ns: Option<f64>,
    /// The longest.
    pub latency_max_ns: Option<f64>,
    /// Energy of all link ends, in J.
    pub energy_links_j: f64,
    /// Of all switches without their links.
    pub energy_switches_j: f64,
    /// Of all nodes.
    pub energy_nodes_j: f64,
    /// Of links and switches: the network of the PerfBound paper's abstract.
    pub energy_network_j: f64,
    /// Of everything.
    pub energy_total_j: f64,
    /// Power of the network, part of the maximum (POWAR Equation 3).
    pub powar_w_net_fraction: f64,
    /// Power of network and nodes, part of the maximum (POWAR Equation 5).
    pub powar_w_cluster_fraction: f64,
    /// Energy of the network, in seconds at full power (POWAR Equation 6).
    pub powar_e_net_full_power_s: f64,
    /// Energy of network and nodes, in seconds at full power (POWAR Equation 7).
    pub powar_e_cluster_full_power_s: f64,
    /// Average power of the links, in W (Georgakoudis IV.B).
    pub georgakoudis_average_power_w: f64,
    /// What that saves with the powers of Georgakoudis Table VI, in percent.
    pub georgakoudis_saving_table_vi_percent: Option<f64>,
    /// Energy of links and switches per bit that arrived, in nJ (Zahn IV).
    pub zahn_network_nj_per_bit: Option<f64>,
    /// Idle periods that ended awake; none of links that never sleep, whose idle periods are
    /// counted apart.
    pub hits: Option<u64>,
    /// Idle periods in which the port left `Wake`.
    pub misses: u64,
    /// Changes of the power state.
    pub transitions: u64,
    /// Of these, beginnings of going up.
    pub wake_ups: u64,
    /// How often a packet that could have left had to wait for its link; those behind it do not
    /// count.
    pub sleep_waits: u64,
    /// How long these waits were together, in ns.
    pub sleep_delay_ns: f64,
    /// Ports with a cable.
    pub ports: u64,
    /// Those where these waits are longer than `l X`, the port's budget in the run; none if no
    /// bound governs the ports.
    pub ports_over_budget: Option<u64>,
    /// The longest of them as a multiple of the budget.
    pub worst_port_use: Option<f64>,
    /// The first port that has it; none where no packet waited.
    pub worst_port: Option<String>,
    /// Pause frames that stopped a port.
    pub pauses: u64,
    /// Of these, those whose direction of the link was not awake: only where directions sleep for
    /// themselves (SPEC 14). A MAC would have to wake it first; here they pass.
    pub pauses_asleep: u64,
    /// The part of the ports' time awake.
    pub part_wake: f64,
    /// On the way to sleep.
    pub part_going_down: f64,
    /// In fast wake.
    pub part_fast_wake: f64,
    /// In deep sleep.
    pub part_deep_sleep: f64,
    /// Refreshing.
    pub part_refresh: f64,
    /// On the way to awake.
    pub part_going_up: f64,
    /// Messages that nodes sent.
    pub offered_messages: u64,
    /// Payload bytes of those for other nodes.
    pub offered_bytes: u64,
    /// Messages that arrived completely.
    pub messages: u64,
    /// Packets that arrived completely.
    pub packets: u64,
    /// Packets that crossed a link, summed over all links.
    pub packet_hops: u64,
    /// Mean part of the time for which ends of cables would have had to send, by all lanes.
    pub link_utilisation: f64,
    /// Payload bytes that arrived.
    pub delivered_bytes: u64,
    /// Operations of the program that have finished.
    pub operations_finished: u64,
    /// Operations of the program; 0 of a pattern, which never ends.
    pub operations: u64,
    /// Events of the engine.
    pub events: u64,
    /// CPU time that the run took, in s, where the system tells. All other figures are the
    /// same in every run.
    pub cpu_seconds: Option<f64>,
}

/// A run against the one without power saving, in percent. None where one of the two has no
/// such figure, or where the figure says nothing ([`Against::new`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// Execution time: how much longer. None if a run was cut.
    pub time_overhead_percent: Option<f64>,
    /// Mean of the jobs' own execution times: how much longer.
    pub job_time_mean_overhead_percent: Option<f64>,
    /// Mean packet latency: how much longer.
    pub latency_mean_overhead_percent: Option<f64>,
    /// Median of the latency: how much longer.
    pub latency_p50_overhead_percent: Option<f64>,
    /// 99th percentile of the latency: how much longer.
    pub latency_p99_overhead_percent: Option<f64>,
    /// Longest latency: how much longer.
    pub latency_max_overhead_percent: Option<f64>,
    /// Energy of the links: how much less.
    pub energy_links_saved_percent: Option<f64>,
    /// Energy of the switches without their links: how much less.
    pub energy_switches_saved_percent: Option<f64>,
    /// Energy of the nodes: how much less.
    pub energy_nodes_saved_percent: Option<f64>,
    /// Energy of links and switches, the network of the PerfBound paper's abstract: how much less.
    pub energy_network_saved_percent: Option<f64>,
    /// Energy of links, switches and nodes: how much less.
    pub energy_total_saved_percent: Option<f64>,
    /// Energy of the network (POWAR Equation 6): how much less.
    pub powar_e_net_saved_percent: Option<f64>,
    /// Energy of network and nodes (POWAR Equation 7): how much less.
    pub powar_e_cluster_saved_percent: Option<f64>,
    /// Average power of the links (Georgakoudis IV.B): how much less.
    pub georgakoudis_average_power_saved_percent: Option<f64>,
    /// Energy of links and switches per bit that arrived (Zahn IV): how much less.
    pub zahn_energy_per_data_saved_percent: Option<f64>,
}

/// What could have been saved, and how near the run came to it. None of the run without power
/// saving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Potential {
    /// Links that sleep whenever they are idle, for nothing: how much less energy of the links.
    pub ideal_links_saved_percent: Option<f64>,
    /// Of links and switches.
    pub ideal_network_saved_percent: Option<f64>,
    /// Of links, switches and nodes.
    pub ideal_total_saved_percent: Option<f64>,
    /// The best with the wake-ups that the bound admits (SPEC 13): how much less energy of the
    /// links. None without a bound.
    pub optimum_at_bound_saved_percent: Option<f64>,
    /// The best with the wake-ups that the links had in the run.
    pub optimum_at_own_wake_ups_saved_percent: Option<f64>,
    /// What the run saved of the energy of the links, divided by the best at the bound.
    pub score_at_bound: Option<f64>,
    /// The same by the best with the wake-ups that the links had.
    pub score_at_own_wake_ups: Option<f64>,
}

impl Potential {
    /// Of a run with these limits, compared with the one without power saving.
    pub fn new(limits: &Limits, against: &Against) -> Self {
        let ideal = limits.ideal.saved_percent;
        let at_bound = limits.at_bound.and_then(|optimum| optimum.saved_percent);
        let own = limits.at_own_wake_ups.saved_percent;
        let score = |best: Option<f64>| {
            let saved = against.energy_links_saved_percent?;
            best.filter(|best| *best > 0.0).map(|best| saved / best)
        };
        Self {
            ideal_links_saved_percent: ideal.links,
            ideal_network_saved_percent: ideal.network,
            ideal_total_saved_percent: ideal.total,
            optimum_at_bound_saved_percent: at_bound,
            optimum_at_own_wake_ups_saved_percent: own,
            score_at_bound: score(at_bound),
            score_at_own_wake_ups: score(own),
        }
    }
}

impl Measured {
    /// The figures of a run, in which links can sleep or not and send a byte in `byte_ps`, and ports
    /// used their budgets if they have any.
    pub fn new(
        run: &RunSummary,
        byte_ps: u64,
        can_sleep: bool,
        energy: &EnergyReport,
        models: &Models,
        budgets: Option<&BudgetUse>,
        cpu_seconds: Option<f64>,
    ) -> Self {
        let ns = |ps: u64| ps as f64 / 1e3;
        let latency = |ps: f64| (run.latency.packets > 0).then_some(ps / 1e3);
        let cabled = || run.ports.iter().filter(|port| port.cabled);
        let hits = cabled().map(|port| port.cycles.hits).sum();
        let all: u64 = cabled().flat_map(|port| port.cycles.states).sum();
        let part = |state: PowerState| {
            let cycles: u64 = cabled().map(|p| p.cycles.states[state as usize]).sum();
            cycles as f64 / all.max(1) as f64
        };
        let joules = energy.joules();
        Self {
            ended: match run.ended {
                Ended::Complete => "complete",
                Ended::Duration => "duration",
                Ended::Stopped => "stopped",
            }
            .into(),
            time_ns: ns(run.time_ps),
            job_time_mean_ns: run.job_mean_ps().map(|ps| ps / 1e3),
            latency_packets: run.latency.packets,
            latency_mean_ns: latency(run.latency.mean_ps),
            latency_p50_ns: latency(run.latency.p50_ps as f64),
            latency_p99_ns: latency(run.latency.p99_ps as f64),
            latency_max_ns: latency(run.latency.max_ps as f64),
            energy_links_j: joules.links,
            energy_switches_j: joules.switches,
            energy_nodes_j: joules.nodes,
            energy_network_j: joules.network,
            energy_total_j: joules.total,
            powar_w_net_fraction: models.powar.w_net_fraction,
            powar_w_cluster_fraction: models.powar.w_cluster_fraction,
            powar_e_net_full_power_s: models.powar.e_net_full_power_s,
            powar_e_cluster_full_power_s: models.powar.e_cluster_full_power_s,
            georgakoudis_average_power_w: models.georgakoudis.average_power_w,
            georgakoudis_saving_table_vi_percent: models.georgakoudis.saving_table_vi_percent,
            zahn_network_nj_per_bit: models.zahn.network_nj_per_bit,
            hits: can_sleep.then_some(hits),
            misses: cabled().map(|port| port.cycles.misses).sum(),
            transitions: cabled().map(|port| port.cycles.transitions).sum(),
            wake_ups: cabled().map(|port| port.cycles.wake_ups).sum(),
            sleep_waits: cabled().map(|port| port.sleep_waits).sum(),
            sleep_delay_ns: ns(cabled().map(|port| port.sleep_delay_ps).sum()),
            ports: cabled().count() as u64,
            ports_over_budget: budgets.map(|used| used.ports_over_budget),
            worst_port_use: budgets.map(|used| used.worst),
            worst_port: budgets
                .and_then(|used| used.worst_port)
                .map(|port| run.ports[port].name.clone()),
            pauses: cabled().map(|port| port.pauses).sum(),
            pauses_asleep: run.pauses_asleep,
            part_wake: part(PowerState::Wake),
            part_going_down: part(PowerState::GoingDown),
            part_fast_wake: part(PowerState::FastWake),
            part_deep_sleep: part(PowerState::DeepSleep),
            part_refresh: part(PowerState::Refresh),
            part_going_up: part(PowerState::GoingUp),
            offered_messages: run.offered_messages,
            offered_bytes: run.offered_bytes,
            messages: run.messages,
            packets: run.packets,
            packet_hops: run.packet_hops,
            link_utilisation: run.link_utilisation(byte_ps),
            delivered_bytes: run.delivered_bytes,
            operations_finished: run.operations_finished as u64,
            operations: run.operations as u64,
            events: run.events,
            cpu_seconds,
        }
    }
    /// The part of the ports' time in each state.
    pub fn parts(&self) -> [(PowerState, f64); 6] {
        [
            (PowerState::Wake, self.part_wake),
            (PowerState::GoingDown, self.part_going_down),
            (PowerState::FastWake, self.part_fast_wake),
            (PowerState::DeepSleep, self.part_deep_sleep),
            (PowerState::Refresh, self.part_refresh),
            (PowerState::GoingUp, self.part_going_up),
        ]
    }

    /// Messages that had not arrived at the end.
    pub fn backlog_messages(&self) -> u64 {
        self.offered_messages - self.messages
    }

    /// Their payload bytes that had not.
    pub fn backlog_bytes(&self) -> u64 {
        self.offered_bytes - self.delivered_bytes
    }

    /// A pattern of which more than 5 % had not arrived at the end: the network may be
    /// saturated, and then latencies grow with the length of the run.
    pub fn may_be_saturated(&self) -> bool {
        self.operations == 0 && self.backlog_bytes() * 20 > self.offered_bytes
    }

    /// Every operation has finished.
    fn is_complete(&self) -> bool {
        self.ended == "complete"
    }

    /// The run of a program that ended before the program did.
    fn is_cut_program(&self) -> bool {
        self.operations > 0 && !self.is_complete()
    }
}

impl Against {
    /// `run` against `base`, the run without power saving.
    ///
    /// Two windows of the same length say nothing about execution time. Where a program was
    /// cut, the slower run has done less of it, so energy and power of the two are for
    /// different work; only energy per data compares. Patterns offer the same in the same
    /// time.
    pub fn new(run: &Measured, base: &Measured) -> Self {
        let above = |run: f64, base: f64| (base > 0.0).then(|| 100.0 * (run - base) / base);
        let below = |run: f64, base: f64| above(run, base).map(|percent| 0.0 - percent);
        let same_work = !run.is_cut_program() && !base.is_cut_program();
        let spent = |of: fn(&Measured) -> f64| below(of(run), of(base)).filter(|_| same_work);
        let longer = |of: fn(&Measured) -> Option<f64>| {
            let pair = of(run).zip(of(base));
            pair.and_then(|(run, base)| above(run, base))
        };
        Self {
            time_overhead_percent: longer(|it| it.is_complete().then_some(it.time_ns)),
            job_time_mean_overhead_percent: longer(|it| it.job_time_mean_ns),
            latency_mean_overhead_percent: longer(|it| it.latency_mean_ns),
            latency_p50_overhead_percent: longer(|it| it.latency_p50_ns),
            latency_p99_overhead_percent: longer(|it| it.latency_p99_ns),
            latency_max_overhead_percent: longer(|it| it.latency_max_ns),
            energy_links_saved_percent: spent(|it| it.energy_links_j),
            energy_switches_saved_percent: spent(|it| it.energy_switches_j),
            energy_nodes_saved_percent: spent(|it| it.energy_nodes_j),
            energy_network_saved_percent: spent(|it| it.energy_network_j),
            energy_total_saved_percent: spent(|it| it.energy_total_j),
            powar_e_net_saved_percent: spent(|it| it.powar_e_net_full_power_s),
            powar_e_cluster_saved_percent: spent(|it| it.powar_e_cluster_full_power_s),
            georgakoudis_average_power_saved_percent: spent(|it| it.georgakoudis_average_power_w),
            zahn_energy_per_data_saved_percent: longer(|it| it.zahn_network_nj_per_bit)
                .map(|percent| 0.0 - percent),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::energy::limits::{Ideal, Optimum, Scope};

    /// Plausible figures, some of which differ with `seed`.
    pub(crate) fn plausible(seed: f64) -> Measured {
        Measured {
            ended: "complete".into(),
            time_ns: 1e9 + seed / 3.0,
            job_time_mean_ns: Some(5e8 + seed),
            latency_packets: 19,
            latency_mean_ns: Some(800.0 + seed),
            latency_p50_ns: Some(500.0),
            latency_p99_ns: Some(2000.1),
            latency_max_ns: Some(9000.0),
            energy_links_j: 1.0 / 3.0,
            energy_switches_j: 0.25,
            energy_nodes_j: 12.0,
            energy_network_j: 7.0 / 12.0,
            energy_total_j: 12.25 + 1.0 / 3.0,
            powar_w_net_fraction: 0.75,
            powar_w_cluster_fraction: 0.875,
            powar_e_net_full_power_s: 0.75,
            powar_e_cluster_full_power_s: 0.875,
            georgakoudis_average_power_w: 400.5,
            georgakoudis_saving_table_vi_percent: Some(31.25),
            zahn_network_nj_per_bit: Some(21.5),
            hits: Some(1 << 40),
            misses: 3,
            transitions: 4,
            wake_ups: 2,
            sleep_waits: 1,
            sleep_delay_ns: 4480.5,
            ports: 32,
            ports_over_budget: Some(1),
            worst_port_use: Some(1.5),
            worst_port: Some("nic3".into()),
            pauses: 0,
            pauses_asleep: 0,
            part_wake: 0.7,
            part_going_down: 0.0,
            part_fast_wake: 0.1,
            part_deep_sleep: 0.2,
            part_refresh: 0.0,
            part_going_up: 0.0,
            offered_messages: 11,
            offered_bytes: 4100,
            messages: 10,
            packets: 20,
            packet_hops: 40,
            link_utilisation: 0.0625,
            delivered_bytes: 4000,
            operations_finished: 30,
            operations: 30,
            events: 99,
            cpu_seconds: None,
        }
    }

    #[test]
    fn differences_are_signed() {
        let mut base = plausible(0.0);
        base.energy_links_j = 0.5;
        base.energy_network_j = 4.0;
        base.energy_total_j = 12.0;
        let mut run = base.clone();
        run.time_ns *= 1.5;
        run.job_time_mean_ns = base.job_time_mean_ns.map(|time| 1.25 * time);
        run.latency_max_ns = base.latency_max_ns.map(|latency| 2.0 * latency);
        run.energy_links_j *= 0.25;
        run.energy_nodes_j *= 1.5;
        run.energy_network_j *= 0.75;
        run.energy_total_j *= 2.0;
        let against = Against::new(&run, &base);
        assert_eq!(against.time_overhead_percent, Some(50.0));
        assert_eq!(against.job_time_mean_overhead_percent, Some(25.0));
        assert_eq!(against.energy_links_saved_percent, Some(75.0));
        assert_eq!(against.energy_switches_saved_percent, Some(0.0));
        assert_eq!(against.energy_nodes_saved_percent, Some(-50.0));
        assert_eq!(against.energy_network_saved_percent, Some(25.0));
        assert_eq!(against.energy_total_saved_percent, Some(-100.0));
        assert_eq!(against.latency_mean_overhead_percent, Some(0.0));
        assert_eq!(against.latency_max_overhead_percent, Some(100.0));
    }

    /// What was saved, divided by what could have been.
    #[test]
    fn a_score_is_a_part_of_the_best() {
        let optimum = |saved_percent| Optimum {
            saved_j: 0.0,
            saved_j_at_most: 0.0,
            saved_percent,
            wake_ups: 0,
        };
        fn scope<T>(links: T, network: T, total: T) -> Scope<T> {
            Scope {
                links,
                network,
                total,
            }
        }
        let limits = Limits {
            ideal: Ideal {
                energy_j: scope(0.0, 0.0, 0.0),
                saved_percent: scope(Some(90.0), Some(60.0), Some(9.0)),
            },
            at_bound: Some(optimum(Some(50.0))),
            at_own_wake_ups: optimum(Some(80.0)),
        };
        let against = Against {
            energy_links_saved_percent: Some(40.0),
            ..Against::default()
        };
        let potential = Potential::new(&limits, &against);
        let expected = Potential {
            ideal_links_saved_percent: Some(90.0),
            ideal_network_saved_percent: Some(60.0),
            ideal_total_saved_percent: Some(9.0),
            optimum_at_bound_saved_percent: Some(50.0),
            optimum_at_own_wake_ups_saved_percent: Some(80.0),
            score_at_bound: Some(0.8),
            score_at_own_wake_ups: Some(0.5),
        };
        assert_eq!(potential, expected);
        // Nothing to save, no bound, nothing to compare: no score.
        let nothing = Limits {
            at_bound: None,
            at_own_wake_ups: optimum(Some(0.0)),
            ..limits
        };
        let none = Potential::new(&nothing, &against);
        assert_eq!(
            (none.score_at_bound, none.score_at_own_wake_ups),
            (None, None)
        );
        let cut = Potential::new(&limits, &Against::default());
        assert_eq!(
            (cut.score_at_bound, cut.score_at_own_wake_ups),
            (None, None)
        );
    }

    /// Whichever of the two was cut; a pattern's window compares but for the time.
    #[test]
    fn runs_that_did_not_do_the_same_have_no_energies_to_compare() {
        let whole = plausible(0.0);
        let mut cut = whole.clone();
        cut.ended = "duration".into();
        cut.energy_links_j *= 0.5;
        for (run, base) in [(&cut, &whole), (&whole, &cut), (&cut, &cut)] {
            let against = Against::new(run, base);
            for none in [
                against.time_overhead_percent,
                against.energy_links_saved_percent,
                against.energy_switches_saved_percent,
                against.energy_nodes_saved_percent,
                against.energy_network_saved_percent,
                against.energy_total_saved_percent,
                against.powar_e_net_saved_percent,
                against.powar_e_cluster_saved_percent,
                against.georgakoudis_average_power_saved_percent,
            ] {
                assert_eq!(none, None);
            }
            assert_eq!(against.zahn_energy_per_data_saved_percent, Some(0.0));
        }
        let mut window = whole.clone();
        (window.operations, window.ended) = (0, "duration".into());
        window.energy_links_j = 0.5;
        let mut saving = window.clone();
        saving.energy_links_j *= 0.5;
        let against = Against::new(&saving, &window);
        assert_eq!(against.energy_links_saved_percent, Some(50.0));
        assert_eq!(against.time_overhead_percent, None);
    }
}
