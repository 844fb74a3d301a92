//! What `linkdoze simulate` prints.

use std::path::Path;

use super::{accepted, ns, offered, Found, Loops, Report};
use crate::cli::output::{table, trimmed, wrapped};
use crate::energy::limits::{Limits, Optimum};
use crate::experiment::Potential;
use crate::files;
use crate::network::event::idle::IdleTable;
use crate::network::event::link_idle::Sleeper;
use crate::network::topology::Topology;
use crate::network::Ended;
use crate::report::series::SERIES;
use crate::usage;
use crate::words::counted;

impl Loops {
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "Verilog in the loop at {} ports: {} clock cycles, every output compared, {} \
             mismatches; the run came out {}\n",
            self.ports.len(),
            self.cycles(),
            self.mismatches(),
            if self.same_run {
                "the same"
            } else {
                "DIFFERENT"
            }
        );
        for (name, found) in &self.ports {
            if let Some(cycle) = found.mismatch {
                text += &format!("{name}: first mismatch in cycle {cycle} after reset\n");
            }
        }
        if let Some(failure) = &self.failure {
            text += &format!("the run ended early: {failure}\n");
        }
        text
    }
}

impl Report<'_> {
    /// The answers; `all`: then everything else. `out` is the folder of its files, if it has any.
    pub(super) fn text(&self, all: bool, out: Option<&Path>) -> String {
        let more = match out {
            Some(folder) => format!("those of every port are in {}", folder.display()),
            None => "-o DIR keeps those of every port".to_owned(),
        };
        match all {
            true => format!("{}\n{}", self.summary(out), self.details()),
            false => self.summary(out) + &format!("--all prints all figures; {more}\n"),
        }
    }

    fn summary(&self, out: Option<&Path>) -> String {
        let topology: &dyn Topology = &*self.scenario.topology;
        let run = &self.found.run.summary;
        let mut text = String::new();
        if let Some(verdict) = &self.verdict {
            text += &wrapped(&verdict.sentence(), 2);
        }
        let ended = match run.ended {
            Ended::Complete => "; the program has run to its end".to_owned(),
            _ if run.operations > 0 => format!(
                "; the run was CUT: {} of {} operations have finished",
                run.operations_finished, run.operations
            ),
            _ => String::new(),
        };
        text += &wrapped(
            &format!(
                "{}: {}, {}, {}{ended}",
                self.scenario.path.display(),
                counted(topology.nodes(), "node", "nodes"),
                counted(topology.switches(), "switch", "switches"),
                counted(topology.links(), "link end", "link ends")
            ),
            2,
        );
        let mut names = vec!["time, ms", "latency, mean, ns", "latency, p99, ns"];
        if self.workload.is_none() {
            names.push("accepted load");
        }
        names.extend([
            "energy of links, J",
            "energy of network, J",
            "energy of the system, J",
        ]);
        text += &self.table(|name| names.contains(&name));
        let whose = match self.sleeper {
            Sleeper::Link => "link ends",
            Sleeper::Direction => "directions of links, each half a link",
        };
        text += &wrapped(&format!("time of the {whose}: {}", self.parts()), 2);
        if let Some(limits) = &self.limits {
            text += &self.limits_sentence(limits);
        }
        if run.sizes_differ > 0 {
            text += &format!(
                "{} had another size than the receive\n",
                counted(run.sizes_differ as usize, "message", "messages")
            );
        }
        if let Some((series, ps)) = self.found.series.as_ref().zip(self.scenario.sample_ps) {
            text += &wrapped(
                &format!(
                    "over time: {} of {} ns{}",
                    counted(series.len(), "sample", "samples"),
                    ns(ps),
                    match out {
                        Some(folder) => format!(
                            " in {}; `linkdoze report {}` draws them",
                            folder.join(SERIES).display(),
                            files::shell_word(folder)
                        ),
                        None => format!(
                            "; `-o DIR` keeps them in {SERIES}, and `linkdoze report DIR` draws them"
                        ),
                    }
                ),
                2,
            );
        }
        if let Some(loops) = &self.loops {
            text += &loops.text();
        }
        text
    }

    fn details(&self) -> String {
        let mut text = self.table(|_| true);
        if let Some(limits) = &self.limits {
            text += &format!("\n{}", self.limits_text(limits));
        }
        if !self.factors.is_empty() {
            let factors = self.factors.iter();
            let factors = factors.map(|(class, factor)| format!("{class} {factor:.6}"));
            let factors: Vec<String> = factors.collect();
            text += &wrapped(
                &format!(
                    "factor l, by the hop counts of the routing instead of hops of [perfbound]: {}",
                    factors.join(", ")
                ),
                2,
            );
        }
        if let Some(idle) = &self.idle {
            text += &format!("\n{}", idle_text(idle, self.sleeper));
        }
        if let Some(bytes) = usage::peak_bytes() {
            text += &format!(
                "memory: {:.1} MiB at most, {}\n",
                bytes as f64 / f64::from(1 << 20),
                counted(self.threads, "thread", "threads")
            );
        }
        text
    }

    /// The parts of the time that link ends spent in each state.
    fn parts(&self) -> String {
        let parts: Vec<String> = self
            .found
            .measured
            .parts()
            .into_iter()
            .filter(|(_, part)| *part > 0.0)
            .map(|(state, part)| format!("{} {:.2} %", state.name(), 100.0 * part))
            .collect();
        parts.join(", ")
    }

    /// The rows of these names, of the run and, if there was one, of that with links that never
    /// sleep.
    fn table(&self, shown: impl Fn(&str) -> bool) -> String {
        let mut figures = match self.baseline {
            Some(_) => table(&["", "power saving", "always on", "difference"], 1..4),
            None => table(&["", ""], [1]),
        };
        let runs: Vec<&Found> = std::iter::once(&self.found).chain(&self.baseline).collect();
        let differences = self.differences();
        let mut row = |name: &str, key: &str, of: &dyn Fn(&Found) -> String| {
            if !shown(name) {
                return;
            }
            let mut cells = vec![name.to_owned()];
            cells.extend(runs.iter().map(|found| of(found)));
            let found = differences.iter().find(|(found, _)| *found == key);
            if let Some((_, Some(percent))) = found {
                cells.push(format!("{percent:+.3} %"));
            }
            figures.add_row(cells);
        };
        row("time, ms", "time", &|it| {
            format!("{:.6}", it.run.summary.time_ps as f64 / 1e9)
        });
        if self.found.run.summary.jobs_ps.len() > 1 {
            row("of a job, mean, ms", "job_time_mean", &|it| {
                let mean = it.run.summary.job_mean_ps();
                mean.map_or("-".into(), |ps| format!("{:.6}", ps / 1e9))
            });
        }
        row("packets", "", &|it| it.run.summary.packets.to_string());
        row("link hops", "", &|it| {
            it.run.summary.packet_hops.to_string()
        });
        row("offered load", "", &|it| {
            format!("{:.4}", self.load(it, offered))
        });
        row("accepted load", "", &|it| {
            format!("{:.4}", self.load(it, accepted))
        });
        row("bytes sent", "", &|it| {
            it.measured.offered_bytes.to_string()
        });
        row("bytes delivered", "", &|it| {
            it.run.summary.delivered_bytes.to_string()
        });
        row("bytes not arrived at the end", "", &|it| {
            it.measured.backlog_bytes().to_string()
        });
        row("packets that count in latency", "", &|it| {
            it.measured.latency_packets.to_string()
        });
        row("latency, mean, ns", "latency_mean", &|it| {
            real(it.measured.latency_mean_ns)
        });
        row("latency, median, ns", "latency_p50", &|it| {
            real(it.measured.latency_p50_ns)
        });
        row("latency, p99, ns", "latency_p99", &|it| {
            real(it.measured.latency_p99_ns)
        });
        row("latency, longest, ns", "latency_max", &|it| {
            real(it.measured.latency_max_ns)
        });
        row("energy of links, J", "energy_links", &|it| {
            format!("{:.4}", it.energy.joules().links)
        });
        row("energy of switches, J", "energy_switches", &|it| {
            format!("{:.4}", it.energy.joules().switches)
        });
        row("energy of nodes, J", "energy_nodes", &|it| {
            format!("{:.4}", it.energy.joules().nodes)
        });
        row("energy of network, J", "energy_network", &|it| {
            format!("{:.4}", it.energy.joules().network)
        });
        row("energy of the system, J", "energy_total", &|it| {
            format!("{:.4}", it.energy.joules().total)
        });
        row("powar: power of network, part", "", &|it| {
            format!("{:.6}", it.models.powar.w_net_fraction)
        });
        row("powar: power of cluster, part", "", &|it| {
            format!("{:.6}", it.models.powar.w_cluster_fraction)
        });
        row("powar: E_net, s at full power", "powar_e_net", &|it| {
            format!("{:.9}", it.models.powar.e_net_full_power_s)
        });
        row(
            "powar: E_cluster, s at full power",
            "powar_e_cluster",
            &|it| format!("{:.9}", it.models.powar.e_cluster_full_power_s),
        );
        row(
            "georgakoudis: power of links, W",
            "georgakoudis_average_power",
            &|it| format!("{:.4}", it.models.georgakoudis.average_power_w),
        );
        row("zahn: energy/data, nJ/bit", "zahn_energy_per_data", &|it| {
            let per_bit = it.models.zahn.network_nj_per_bit;
            per_bit.map_or("-".into(), |nj| format!("{nj:.4}"))
        });
        row("idle periods awake (hits)", "", &|it| {
            it.measured.hits.map_or("-".into(), |hits| hits.to_string())
        });
        row("idle periods asleep (misses)", "", &|it| {
            it.measured.misses.to_string()
        });
        row("transitions", "", &|it| it.measured.transitions.to_string());
        row("wake-ups", "", &|it| it.measured.wake_ups.to_string());
        row("waits for a sleeping link", "", &|it| {
            it.measured.sleep_waits.to_string()
        });
        row("time of these waits, ms", "", &|it| {
            format!("{:.6}", it.measured.sleep_delay_ns / 1e6)
        });
        row("pauses", "", &|it| it.measured.pauses.to_string());
        if self.sleeper == Sleeper::Direction {
            row("pauses over directions asleep", "", &|it| {
                it.measured.pauses_asleep.to_string()
            });
        }
        row("utilisation of links, part", "", &|it| {
            format!("{:.6}", it.measured.link_utilisation)
        });
        row("CPU time, s", "", &|it| {
            it.run.cpu_seconds.map_or("-".into(), |s| format!("{s:.2}"))
        });
        trimmed(&figures)
    }

    /// What the links saved, and what they could have saved, in a sentence.
    fn limits_sentence(&self, limits: &Limits) -> String {
        let Some(saved) = self.against.energy_links_saved_percent else {
            return String::new();
        };
        let mut text = format!("links saved {saved:.2} % of their energy");
        let best = limits
            .at_bound
            .as_ref()
            .map(|best| ("within the bound", best));
        let (how, best) = best.unwrap_or(("with as many wake-ups", &limits.at_own_wake_ups));
        if let Some(most) = best.saved_percent {
            text += &format!("; at most {most:.2} % {how}");
        }
        if let Some(ideal) = limits.ideal.saved_percent.links {
            text += &format!("; {ideal:.2} % if sleeping cost nothing");
        }
        wrapped(&text, 2)
    }

    /// What the links saved, and what they could have saved.
    fn limits_text(&self, limits: &Limits) -> String {
        let header = [
            "energy of links saved",
            "J",
            "part",
            "wake-ups",
            "score of this run",
        ];
        let mut figures = table(&header, 1..5);
        let links = |found: &Option<Found>| found.as_ref().map(|it| it.energy.links.joules());
        let base = links(&self.baseline).unwrap_or(0.0);
        let percent = |percent: Option<f64>| percent.map_or("-".into(), |it| format!("{it:.3} %"));
        let score = Potential::new(limits, &self.against);
        let parts = |score: Option<f64>| score.map_or("-".into(), |it| format!("{it:.3}"));
        // Of ports: both ends of a link that sleeps as a whole wake up.
        let wake_ups = self.found.measured.wake_ups / self.sleeper.ends();
        let saved = self.against.energy_links_saved_percent;
        figures.add_row([
            "by this run".to_owned(),
            saved.map_or("-".into(), |it| format!("{:.4}", base * it / 100.0)),
            percent(saved),
            wake_ups.to_string(),
            String::new(),
        ]);
        let mut row = |name: &str, best: &Optimum, score: Option<f64>| {
            figures.add_row([
                name.to_owned(),
                format!("{:.4}", best.saved_j),
                percent(best.saved_percent),
                best.wake_ups.to_string(),
                parts(score),
            ]);
        };
        let own = &limits.at_own_wake_ups;
        row("at most, with as many", own, score.score_at_own_wake_ups);
        if let Some(best) = &limits.at_bound {
            row("at most, within the bound", best, score.score_at_bound);
        }
        let ideal = limits.ideal;
        figures.add_row([
            "ideal, for nothing".to_owned(),
            format!("{:.4}", base - ideal.energy_j.links),
            percent(ideal.saved_percent.links),
            String::new(),
            String::new(),
        ]);
        trimmed(&figures)
    }
}

/// How many idle periods are shorter than each power of ten, and how much of the time.
fn idle_text(idle: &IdleTable, sleeper: Sleeper) -> String {
    let whose = match sleeper {
        Sleeper::Link => "ports whose links",
        Sleeper::Direction => "directions of links that",
    };
    let text = format!("idle periods of {whose} never sleep: {}\n", idle.periods);
    let (Some(first), Some(last)) = (idle.bins.first(), idle.bins.last()) else {
        return text;
    };
    let mut lengths = table(&["shorter than", "periods, %", "idle time, %"], 0..3);
    let units = ["ns", "us", "ms", "s"];
    let from = first.to_ns.log10().ceil() as usize;
    for power in from..=last.to_ns.log10().ceil() as usize {
        let end = 10_f64.powi(power as i32);
        let within = idle.bins.iter().filter(|bin| bin.to_ns <= end);
        let (periods, time) = within.fold((0, 0.0), |(periods, time), bin| {
            (periods + bin.periods, time + bin.idle_ns)
        });
        let unit = (power / 3).min(3);
        lengths.add_row([
            format!("{} {}", 10_u64.pow((power - 3 * unit) as u32), units[unit]),
            format!("{:.3}", 100.0 * periods as f64 / idle.periods as f64),
            format!("{:.3}", 100.0 * time / idle.idle_ns),
        ]);
    }
    text + &trimmed(&lengths)
}

fn real(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.1}"))
}
