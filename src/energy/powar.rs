//! Power of network and cluster as parts of their maximum (POWAR 2.3, Equations 1 to 7).
//!
//! A port that is on draws all of its power, also in transitions; asleep it draws
//! `w_sleep_port` of it. With the part `U` of the time that a port is on:
//!
//! 1. `W_ports = w_sleep_port + (1 - w_sleep_port) * mean(U)` over the ports of a switch
//! 2. `W_sw = (1 - w_ports) + w_ports * W_ports`
//! 3. `W_net = mean(W_sw)` over the switches
//! 4. `W_nodes = w_sleep_nodes + (1 - w_sleep_nodes) * mean(U_cpu)` over the nodes
//! 5. `W_cluster = w_net * W_net + (1 - w_net) * W_nodes`
//! 6. `E_net = W_net * RunTime`
//! 7. `E_cluster = W_cluster * RunTime`
//!
//! The weights are those of Table 2. The paper knows one sleep state: fast wake and deep sleep
//! count as asleep alike, a refresh as on. Ports without a cable do not count; the ports of
//! NICs belong to the nodes. `RunTime` is the time over which the ports were accounted, which
//! for a program is one cable delay longer than its execution.

use serde::Serialize;

use crate::blocks::port::pins::PowerState;
use crate::network::{PortSummary, RunSummary};

/// The weights of POWAR Table 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// What a sleeping port draws, as a part of a port that is on.
    pub sleep_port: f64,
    /// What ports draw, as a part of their switch.
    pub ports: f64,
    /// What the network draws, as a part of the system.
    pub net: f64,
    /// What an idle node draws, as a part of a busy one.
    pub sleep_nodes: f64,
}

/// POWAR Table 2.
pub const TABLE_2: Weights = Weights {
    sleep_port: 0.1,
    ports: 0.65,
    net: 0.15,
    sleep_nodes: 0.5,
};

impl Weights {
    /// Equation 1, from the mean part of the time that a switch's ports are on.
    pub fn w_ports(&self, u_port: f64) -> f64 {
        self.sleep_port + (1.0 - self.sleep_port) * u_port
    }

    /// Equation 2.
    pub fn w_switch(&self, w_ports: f64) -> f64 {
        (1.0 - self.ports) + self.ports * w_ports
    }

    /// Equation 4, from the mean part of the time that CPUs compute.
    pub fn w_nodes(&self, u_cpu: f64) -> f64 {
        self.sleep_nodes + (1.0 - self.sleep_nodes) * u_cpu
    }

    /// Equation 5.
    pub fn w_cluster(&self, w_net: f64, w_nodes: f64) -> f64 {
        self.net * w_net + (1.0 - self.net) * w_nodes
    }
}

/// The variables that the model computes (POWAR Table 1). Energies are seconds at full power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cluster {
    /// `W_net`, Equation 3: power of the switches and their ports, part of the maximum.
    pub w_net_fraction: f64,
    /// `W_nodes`, Equation 4.
    pub w_nodes_fraction: f64,
    /// `W_cluster`, Equation 5.
    pub w_cluster_fraction: f64,
    /// `RunTime`, in ns.
    pub run_time_ns: f64,
    /// `E_net`, Equation 6: seconds for which a network at full power would take that energy.
    pub e_net_full_power_s: f64,
    /// `E_cluster`, Equation 7: the same of the cluster.
    pub e_cluster_full_power_s: f64,
}

impl Cluster {
    /// Equations 3 to 7, from `W_ports` of each switch, the mean `U_cpu` and the run time.
    pub fn new(weights: &Weights, w_ports: &[f64], u_cpu: f64, run_time_ns: f64) -> Self {
        let switches: Vec<f64> = w_ports.iter().map(|w| weights.w_switch(*w)).collect();
        let w_net = mean(&switches);
        let w_nodes = weights.w_nodes(u_cpu);
        let w_cluster = weights.w_cluster(w_net, w_nodes);
        Self {
            w_net_fraction: w_net,
            w_nodes_fraction: w_nodes,
            w_cluster_fraction: w_cluster,
            run_time_ns,
            e_net_full_power_s: w_net * run_time_ns / 1e9,
            e_cluster_full_power_s: w_cluster * run_time_ns / 1e9,
        }
    }

    /// Of a run on so many switches, with the weights of Table 2.
    pub fn of(switches: usize, run: &RunSummary) -> Self {
        let nodes = run.calc_ps.len();
        let ports = &run.ports[..run.ports.len() - nodes];
        let w_ports: Vec<f64> = ports
            .chunks((ports.len() / switches.max(1)).max(1))
            .map(|ports| {
                let cabled = ports.iter().filter(|port| port.cabled);
                let on: Vec<f64> = cabled.map(|port| on(port, run.cycles)).collect();
                TABLE_2.w_ports(mean(&on))
            })
            .collect();
        let duration = run.duration_ps().max(1) as f64;
        let u_cpu: Vec<f64> = run
            .calc_ps
            .iter()
            .zip(&run.cpus)
            .map(|(&calc, &cpus)| (calc as f64 / (duration * f64::from(cpus.max(1)))).min(1.0))
            .collect();
        Self::new(&TABLE_2, &w_ports, mean(&u_cpu), duration / 1e3)
    }
}

/// `U_port`: the part of the time that a port is on.
fn on(port: &PortSummary, cycles: u64) -> f64 {
    let states = &port.cycles.states;
    let asleep = [PowerState::FastWake, PowerState::DeepSleep].map(|state| states[state as usize]);
    1.0 - asleep.iter().sum::<u64>() as f64 / cycles.max(1) as f64
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, within: f64) {
        assert!((found - expected).abs() <= within, "{found} {expected}");
    }

    /// POWAR 2.3.4, Table 3: its printed figures. The example takes the ports' time on as
    /// `W_ports`, without Equation 1.
    #[test]
    fn the_worked_example() {
        let reference = Cluster::new(&TABLE_2, &[1.0, 1.0], 0.8, 650_000.0);
        close(reference.w_net_fraction, 1.0, 1e-12);
        close(reference.w_nodes_fraction, 0.9, 1e-12);
        close(reference.w_cluster_fraction, 0.915, 1e-12);
        let saving = Cluster::new(&TABLE_2, &[0.7, 0.8], 0.75, 685_000.0);
        close(saving.w_net_fraction, 0.8375, 1e-12);
        close(saving.w_nodes_fraction, 0.875, 1e-12);
        close(saving.w_cluster_fraction, 0.869375, 1e-12);
        let normalized = |of: fn(&Cluster) -> f64| of(&saving) / of(&reference);
        close(normalized(|it| it.run_time_ns), 1.054, 5e-4);
        close(normalized(|it| it.e_net_full_power_s), 0.8826, 5e-5);
        close(normalized(|it| it.e_cluster_full_power_s), 1.0013, 5e-5);
    }

    /// What ports that sleep all the time save by Equations 1 to 5 with the weights of Table 2, if nothing takes
    /// longer: of `E_net` 58.5 %. POWAR 5 prints 55 to 65 % at network level, and 9 to 10 % at system level.
    #[test]
    fn ports_that_always_sleep() {
        let of =
            |u_port, u_cpu| Cluster::new(&TABLE_2, &[TABLE_2.w_ports(u_port)], u_cpu, 650_000.0);
        for (u_cpu, of_cluster) in [(1.0, 0.08775), (0.0, 0.1526)] {
            let (awake, asleep) = (of(1.0, u_cpu), of(0.0, u_cpu));
            let saved = |energy: fn(&Cluster) -> f64| 1.0 - energy(&asleep) / energy(&awake);
            close(saved(|it| it.e_net_full_power_s), 0.585, 1e-12);
            close(saved(|it| it.e_cluster_full_power_s), of_cluster, 5e-5);
        }
    }

    /// Two switches of two ports and two nodes, 1 ms.
    #[test]
    fn a_run() {
        let ms = 1_000_000;
        let mut run = crate::energy::tests::run(
            &[
                // 0.8 on: transitions and refreshes are on.
                [ms / 2, ms / 10, ms / 10, ms / 10, ms / 10, ms / 10],
                // 0.4 on.
                [ms / 10 * 4, 0, ms / 10 * 6, 0, 0, 0],
                // 0.2 on; the other port has no cable.
                [ms / 10 * 2, 0, 0, ms / 10 * 8, 0, 0],
                [0; 6],
                // NICs do not count.
                [0, 0, ms, 0, 0, 0],
                [0, 0, ms, 0, 0, 0],
            ],
            ms,
        );
        run.ports[3].cabled = false;
        let found = Cluster::of(2, &run);
        // Equation 1: 0.1 + 0.9 * 0.6 = 0.64 and 0.1 + 0.9 * 0.2 = 0.28; Equation 3:
        // 0.35 + 0.65 * 0.46.
        close(found.w_net_fraction, 0.649, 1e-12);
        // One of two nodes computes half of the time.
        close(found.w_nodes_fraction, 0.5 + 0.5 * 0.25, 1e-12);
        close(found.w_cluster_fraction, 0.15 * 0.649 + 0.85 * 0.625, 1e-12);
        assert_eq!(found.run_time_ns, 1e6);
        close(found.e_net_full_power_s, 0.649e-3, 1e-15);
        close(found.e_cluster_full_power_s, 0.628_6e-3, 1e-15);
    }
}
