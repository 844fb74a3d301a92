//! Power, throughput and latency over time: the figures of each sample of a run.

use super::{Energy, LinkPower, Power, SystemPower};
use crate::network::event::series::{LinkClass, Received, Series};
use crate::network::RunSummary;

/// The figures of a run's samples.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerSeries {
    /// The names of the classes of link ends.
    pub classes: Vec<String>,
    /// A row for each sample.
    pub rows: Vec<Row>,
}

/// The figures of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// When it begins, in ns.
    pub time_ns: f64,
    /// How long it lasts, in ns; the last one may be shorter than the others.
    pub duration_ns: f64,
    /// Payload that arrived, in bytes per second.
    pub throughput: f64,
    /// The same as a part of what the links of all nodes carry (PerfBound Figures 6, 9, 12 and 15:
    /// "normalized against the total network bandwidth").
    pub accepted_load: f64,
    /// Packets that arrived, those of the warm-up included.
    pub packets: u64,
    /// Their mean latency in ns; `None` if there are none.
    pub latency_mean_ns: Option<f64>,
    /// Mean power of all link ends, in W.
    pub links_w: f64,
    /// Of all switches, without their links.
    pub switches_w: f64,
    /// Part of the ends' time that they slept; refreshes count as awake. `None` without links.
    pub asleep: Option<f64>,
    /// The same for each class of link ends.
    pub of_class: Vec<ClassRow>,
}

/// The figures of a class of link ends in a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassRow {
    /// Mean power of all ends, in W.
    pub power_w: f64,
    /// Part of the ends' time that they slept; `None` if no end is of this class.
    pub asleep: Option<f64>,
}

impl PowerSeries {
    /// Of a run on so many switches, if it kept samples. A byte takes `byte_ps` on the link of a
    /// node.
    pub fn new(
        power: &SystemPower,
        switches: usize,
        byte_ps: u64,
        run: &RunSummary,
    ) -> Option<Self> {
        let series = run.series.as_ref()?;
        let nodes = run.calc_ps.len();
        let row = |(sample, received): (usize, &Received)| {
            let length = series.length_ps(sample);
            let seconds = length as f64 / 1e12;
            let ends: u64 = series.classes.iter().map(|class| class.ends).sum();
            let slept: u64 = series.classes.iter().map(|it| it.slept[sample].ps()).sum();
            let part = |slept: u64, ends: u64| {
                (ends > 0).then(|| slept as f64 / (ends as f64 * length as f64))
            };
            let of_class = series.classes.iter().map(|class| ClassRow {
                power_w: class_energy(&power.link, series, class, sample).joules() / seconds,
                asleep: part(class.slept[sample].ps(), class.ends),
            });
            let carried = nodes as f64 * length as f64 / byte_ps as f64;
            let latency = received.latency_ps as f64 / 1e3 / received.packets as f64;
            Row {
                time_ns: (sample as u64 * series.sample_ps) as f64 / 1e3,
                duration_ns: length as f64 / 1e3,
                throughput: received.bytes as f64 / seconds,
                accepted_load: received.bytes as f64 / carried,
                packets: received.packets,
                latency_mean_ns: (received.packets > 0).then_some(latency),
                links_w: links_energy(&power.link, series, sample).joules() / seconds,
                switches_w: power.switch.watts() * switches as f64,
                asleep: part(slept, ends),
                of_class: of_class.collect(),
            }
        };
        Some(Self {
            classes: series.classes.iter().map(|it| it.name.clone()).collect(),
            rows: series.received.iter().enumerate().map(row).collect(),
        })
    }
}

/// The energy of all link ends in a sample; those of all samples are that of the run, exactly.
pub fn links_energy(link: &LinkPower, series: &Series, sample: usize) -> Energy {
    let classes = series.classes.iter();
    classes
        .map(|class| class_energy(link, series, class, sample))
        .sum()
}

/// The energy of the ends of a class in a sample: what is not sleep draws full power.
fn class_energy(link: &LinkPower, series: &Series, class: &LinkClass, sample: usize) -> Energy {
    let slept = class.slept[sample];
    let all = u128::from(class.ends) * u128::from(series.length_ps(sample));
    let states = [
        (link.wake, all - u128::from(slept.ps())),
        (link.fast_wake, slept.fast_wake_ps.into()),
        (link.deep_sleep, slept.deep_sleep_ps.into()),
    ];
    let energy = |(Power(microwatts), ps): (Power, u128)| Energy(u128::from(microwatts) * ps);
    states.into_iter().map(energy).sum()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::network::event::{configs_of, Power as Governed, Replacements};
    use crate::network::scenario::Scenario;
    use crate::network::{self, Workload};

    /// Deep sleep with refreshes, so that all states take part; the scenario is cut within a
    /// sample.
    const TEXT: &str = "[topology]\nkind = \"megafly\"\nradix = 4\ngroups = 5\n\
                        [traffic]\nkind = \"on-off\"\nload = 0.6\nmessage_bytes = 9600\n\
                        on_ns = 20000\noff_ns = 60000\n";
    const RUN: &str = "[run]\nduration_ns = 100500\n";

    fn scenario(text: &str) -> (Scenario, Option<Workload>) {
        let scenario = Scenario::parse(text, Path::new("sim/s.toml")).unwrap();
        let workload = Workload::of(&scenario).unwrap();
        (scenario, workload)
    }

    fn run(text: &str, power: Option<&str>, threads: usize) -> RunSummary {
        let (scenario, workload) = scenario(text);
        let config = power.map(|text| crate::config::Config::parse(text, "port.toml").unwrap());
        let configs = config.map_or(Vec::new(), |config| {
            configs_of(&config, &*scenario.topology)
        });
        let plans: Vec<_> = configs
            .iter()
            .map(|config| config.plan().unwrap())
            .collect();
        let power = Governed {
            clock_ps: 1000,
            plans: &plans,
            metered: None,
        };
        let none = Replacements::new();
        let go_on = &mut |_: &network::Progress| std::ops::ControlFlow::Continue(());
        network::run(&scenario, workload.as_ref(), &power, threads, none, go_on).unwrap()
    }

    const POLICIES: [&str; 4] = [
        "[port]\npolicy = \"fixed\"\nsleep = \"fast-wake\"\nt_pdt_ns = 3000\n",
        "[port]\npolicy = \"fixed\"\nsleep = \"deep-sleep\"\nt_pdt_ns = 3000\n\
         [states.deep-sleep]\nt_q_ns = 7000\nt_r_ns = 500\n",
        "[port]\npolicy = \"fixed\"\nsleep = \"hybrid\"\nt_pdt_ns = 3000\nhybrid_hold_ns = 4000\n",
        // Measured hops: ports are clocked, not lazy.
        "[port]\npolicy = \"perfbound-correct\"\nsleep = \"fast-wake\"\nt_pdt_init_ns = 8000\n\
         [perfbound]\nbound = 0.05\nhops = \"measured\"\n[histogram]\nbin_ns = 256\n",
    ];

    /// Whatever the length of the samples, and on any number of threads: their energies are that of
    /// the run to the last attojoule, and what arrives in them is all that arrives.
    #[test]
    fn samples_add_up_to_the_run() {
        let system = SystemPower::default();
        for power in POLICIES.map(Some).into_iter().chain([None]) {
            let plain = run(&format!("{TEXT}{RUN}"), power, 1);
            for sample_ns in ["1000", "7333.333", "1000000"] {
                let text = format!("{TEXT}{RUN}sample_ns = {sample_ns}\n");
                let sampled = run(&text, power, 1);
                let series = sampled.series.as_ref().unwrap();
                let samples = series.received.len();
                let links = (0..samples).map(|it| links_energy(&system.link, series, it));
                assert_eq!(links.sum::<Energy>(), system.energy(20, &sampled).links);
                for (sum, of) in [
                    (sampled.packets, (|it| it.packets) as fn(&Received) -> u64),
                    (sampled.delivered_bytes, |it| it.bytes),
                ] {
                    assert_eq!(series.received.iter().map(of).sum::<u64>(), sum);
                }
                let latency: u128 = series.received.iter().map(|it| it.latency_ps).sum();
                let mean = latency as f64 / sampled.packets as f64;
                assert!((mean - sampled.latency.mean_ps).abs() < 1e-3);
                let asleep: u64 = sampled
                    .ports
                    .iter()
                    .map(|port| port.cycles.states[2] + port.cycles.states[3])
                    .sum();
                let slept = series.classes.iter().flat_map(|class| &class.slept);
                assert_eq!(slept.map(|it| it.ps()).sum::<u64>(), 1000 * asleep);
                assert_eq!(power.is_some(), asleep > 0);
                if sample_ns == "7333.333" {
                    assert_eq!(sampled, run(&text, power, 2));
                }
                // Nothing else changes.
                assert_eq!(
                    plain,
                    RunSummary {
                        series: None,
                        ..sampled
                    }
                );
            }
        }
    }

    /// By hand: nodes that never send sleep from a known time on.
    #[test]
    fn a_sample_in_which_links_go_to_sleep() {
        // One message of one packet from node 0 to node 1 of four, and nothing else.
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("a.goal");
        let goal = "num_ranks 2\nrank 0 {\nl: send 9600b to 1\n}\n\
                    rank 1 {\nl: recv 9600b from 0\nm: calc 100000\nm requires l\n}\n";
        std::fs::write(&trace, goal).unwrap();
        let text = format!(
            "[topology]\nnodes = 4\n[traffic]\nkind = \"goal\"\nfile = \"{}\"\n\
             [run]\nsample_ns = 1000\n",
            trace.display()
        );
        let sampled = run(&text, Some(POLICIES[0]), 1);
        let (scenario, _) = scenario(&text);
        let byte_ps = scenario.switch.byte_ps;
        let series = PowerSeries::new(&SystemPower::default(), 1, byte_ps, &sampled).unwrap();
        assert_eq!(series.classes, ["node to switch", "switch to node"]);
        // 200 ns of overhead, the packet, 100 us of computing, and a cable's delay.
        assert_eq!(series.rows.len(), 101);
        let first = &series.rows[0];
        assert_eq!((first.packets, first.asleep), (1, Some(0.0)));
        // 9600 bytes in 1 us; four links carry 50 bytes a ns each.
        assert_eq!(first.throughput, 9.6e9);
        assert_eq!(first.accepted_load, 9600.0 / (4.0 * 50_000.0));
        assert_eq!(first.latency_mean_ns, Some(sampled.latency.mean_ps / 1e3));
        assert_eq!((first.links_w, first.switches_w), (8.0 * 24.0, 250.0));
        // From the message's links at the latest, all that can sleep does: 9.6 W in fast wake.
        let last = &series.rows[99];
        assert_eq!((last.packets, last.latency_mean_ns), (0, None));
        let sleeping = sampled
            .ports
            .iter()
            .filter(|port| port.cycles.states[2] > 0);
        let sleeping = sleeping.count() as f64;
        assert!(sleeping >= 4.0, "{sleeping}");
        assert!((last.links_w - (192.0 - 14.4 * sleeping)).abs() < 1e-9);
        assert_eq!(last.asleep, Some(sleeping / 8.0));
        let classes = last.of_class.iter().map(|class| class.power_w);
        assert!((classes.sum::<f64>() - last.links_w).abs() < 1e-9);
    }

    #[test]
    fn more_samples_than_can_be_kept_are_refused() {
        let refused = |run: &str| {
            let text = format!("{TEXT}{run}");
            let parsed = Scenario::parse(&text, Path::new("s.toml"));
            parsed.unwrap_err().to_string()
        };
        let error = refused("[run]\nduration_ns = 2000000\nsample_ns = 0.5\n");
        for part in [
            "13:13",
            "samples in duration_ns and a cable's delay",
            // 2 ms, and a cable's delay and a clock cycle of 1 us and a little, in a million samples.
            "the nearest length that will do is 2.002",
        ] {
            assert!(error.contains(part), "{error}");
        }
    }
}
