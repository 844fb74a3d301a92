//! Traffic with chance in it: who sends how much to whom, and when.
//!
//! Every node draws from a generator of its own, seeded with the run's seed and the node's
//! number: what one node sends does not depend on what others do.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::host::{Host, Outgoing};
use super::inactivity::Application;

/// Who sends how much to whom, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// To whom.
    pub destinations: Destinations,
    /// When.
    pub arrivals: Arrivals,
    /// Bytes of a message.
    pub message_bytes: u64,
    /// Time that a message occupies the link, in ps.
    pub message_ps: u64,
    /// Seeds all generators.
    pub seed: u64,
}

/// To whom a node sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Destinations {
    /// To any other node, all alike.
    Uniform,
    /// Some nodes send to hot ones only, the rest to any other node (Zahn III).
    Hotspot {
        /// The hot nodes, each with the same share.
        nodes: Vec<u32>,
        /// The part of the nodes that send to them, in millionths, spread evenly over the network.
        senders_millionths: u64,
    },
}

/// When a node sends. Loads are parts of the link's rate; messages come independently of
/// each other at the load of the moment.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// Always at the same load.
    Steady {
        /// The load.
        load: f64,
    },
    /// A low load, a rise, a high load, a fall, and so on (Alonso 4). All nodes together.
    TwoLevel {
        /// The low load.
        low: f64,
        /// The high load.
        high: f64,
        /// Time at the low load, in ps.
        low_ps: u64,
        /// Time of the rise, and of the fall, in ps.
        ramp_ps: u64,
        /// Time at the high load, in ps.
        high_ps: u64,
    },
    /// Each node for itself is on and off for exponentially distributed times.
    OnOff {
        /// The load while it is on.
        load: f64,
        /// Mean time that it is on, in ps.
        on_ps: u64,
        /// Mean time that it is off, in ps.
        off_ps: u64,
    },
    /// Each node for itself sends, then idles as the ports of an application do (the PerfBound
    /// paper Figure 1).
    Inactivity {
        /// The application.
        shape: Application,
        /// What its idle times are multiplied with.
        scale: f64,
    },
}

impl Destinations {
    /// Whether this node is one of those that send to hot nodes, and another node is hot.
    pub fn sends_to_hot(&self, node: u32) -> bool {
        match self {
            Destinations::Uniform => false,
            Destinations::Hotspot {
                nodes: hot,
                senders_millionths,
            } => {
                // Node n of those that make up the part when all up to it are counted.
                let counted = |nodes: u32| u64::from(nodes) * senders_millionths / 1_000_000;
                counted(node + 1) > counted(node) && hot[..] != [node]
            }
        }
    }

    fn draw(&self, node: u32, nodes: u32, random: &mut Pcg64Mcg) -> u32 {
        match self {
            Destinations::Hotspot { nodes: hot, .. } if self.sends_to_hot(node) => {
                match hot.iter().position(|&it| it == node) {
                    None => hot[random.random_range(0..hot.len())],
                    // A hot node sends to the others.
                    Some(own) => {
                        let other = random.random_range(0..hot.len() - 1);
                        hot[other + usize::from(other >= own)]
                    }
                }
            }
            // All but the node itself.
            _ => {
                let other = random.random_range(0..nodes - 1);
                other + u32::from(other >= node)
            }
        }
    }
}

/// Exponentially distributed with this mean.
fn exponential(mean: f64, random: &mut Pcg64Mcg) -> f64 {
    let uniform: f64 = random.random();
    -mean * (1.0 - uniform).ln()
}

/// A node that sends.
#[derive(Debug)]
struct Source {
    /// Its number in the network.
    node: u32,
    random: Pcg64Mcg,
    /// When it is next off, in ps; for those that are on and off.
    on_until: f64,
}

impl Source {
    /// From `now` to the next message, in ps.
    fn wait(&mut self, pattern: &Pattern, now: u64) -> u64 {
        let random = &mut self.random;
        let mean = |load: f64| pattern.message_ps as f64 / load;
        let wait = match pattern.arrivals {
            Arrivals::Steady { load } => exponential(mean(load), random),
            Arrivals::Inactivity { shape, scale } => {
                // The run begins with a message that is just being sent.
                pattern.message_ps as f64 + 1000.0 * scale * shape.draw(random)
            }
            Arrivals::OnOff {
                load,
                on_ps,
                off_ps,
            } => {
                let now = now as f64;
                let mut at = now + exponential(mean(load), random);
                while at > self.on_until {
                    // What is left of the wait goes on when it is on again.
                    let off = exponential(off_ps as f64, random);
                    at += off;
                    self.on_until += off + exponential(on_ps as f64, random);
                }
                at - now
            }
            Arrivals::TwoLevel {
                low,
                high,
                low_ps,
                ramp_ps,
                high_ps,
            } => {
                // The time until the loads sum up to what a steady load of 1 would wait for.
                let levels = Levels {
                    low,
                    high,
                    quiet: low_ps as f64,
                    ramp: ramp_ps as f64,
                    busy: high_ps as f64,
                };
                levels.until(now, exponential(mean(1.0), random))
            }
        };
        // Beyond the end of any run.
        wait.min((1u64 << 62) as f64) as u64
    }
}

/// The course of [`Arrivals::TwoLevel`]: times in ps, loads as parts of the link's rate.
struct Levels {
    low: f64,
    high: f64,
    quiet: f64,
    ramp: f64,
    busy: f64,
}

impl Levels {
    /// From `now`, in ps, until the load, summed over time, has grown by `work` (in ps at a load
    /// of 1): with exponentially distributed `work` the arrivals of a Poisson process whose rate
    /// follows the load, one random number for each.
    fn until(&self, now: u64, mut work: f64) -> f64 {
        let stretches = [
            (self.quiet, self.low, self.low),
            (self.ramp, self.low, self.high),
            (self.busy, self.high, self.high),
            (self.ramp, self.high, self.low),
        ];
        let area = |(time, from, to): (f64, f64, f64)| time * (from + to) / 2.0;
        let period: f64 = stretches.iter().map(|stretch| stretch.0).sum();
        // Whole periods are alike, wherever they begin.
        let whole = stretches.map(area).iter().sum::<f64>();
        let periods = (work / whole).floor();
        work -= periods * whole;
        let mut waited = periods * period;
        // What of the course is over at `now`.
        let mut over = now as f64 % period;
        for (time, from, to) in stretches.into_iter().cycle() {
            let past = over.min(time);
            over -= past;
            let left = time - past;
            if left <= 0.0 {
                continue;
            }
            let slope = (to - from) / time;
            let begin = from + slope * past;
            let rest = area((left, begin, to));
            if work < rest {
                // The smaller root of begin x + slope x^2 / 2 = work, exact where the slope is 0.
                let root = (begin * begin + 2.0 * slope * work).max(0.0).sqrt();
                return waited + 2.0 * work / (begin + root);
            }
            work -= rest;
            waited += left;
        }
        unreachable!("loads are above 0: every period has some")
    }
}

/// The nodes of one part of a network, each with its generator.
#[derive(Debug)]
pub struct Sources<'p> {
    pattern: &'p Pattern,
    /// Nodes of the whole network.
    nodes: u32,
    /// The nodes of this part.
    sources: Vec<Source>,
}

impl<'p> Sources<'p> {
    /// The nodes `members` of a network with `nodes` nodes (>= 2).
    pub fn new(pattern: &'p Pattern, nodes: u32, members: &[u32]) -> Self {
        let source = |&node: &u32| {
            // The generator's own seeding spreads the bits of both.
            let seed = pattern.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(node);
            let mut random = Pcg64Mcg::seed_from_u64(seed);
            let on_until = match pattern.arrivals {
                // In the middle of an on or off time, as if it had gone on for ever.
                Arrivals::OnOff { on_ps, off_ps, .. } => {
                    let on = on_ps as f64 / (on_ps + off_ps) as f64;
                    match random.random_bool(on) {
                        true => exponential(on_ps as f64, &mut random),
                        false => 0.0,
                    }
                }
                _ => 0.0,
            };
            Source {
                node,
                random,
                on_until,
            }
        };
        Self {
            pattern,
            nodes,
            sources: members.iter().map(source).collect(),
        }
    }

    /// Where the generator of a node of this part lies.
    #[inline]
    pub(super) fn address(&self, node: usize) -> *const u8 {
        self.sources.as_ptr().wrapping_add(node).cast()
    }

    pub(super) fn start(&mut self, host: &mut impl Host) {
        for (place, source) in self.sources.iter_mut().enumerate() {
            let wait = source.wait(self.pattern, 0);
            host.call(wait, place as u32, 0);
        }
    }

    pub(super) fn act(&mut self, node: u32, host: &mut impl Host) {
        let pattern = self.pattern;
        let source = &mut self.sources[node as usize];
        let destinations = &pattern.destinations;
        let destination = destinations.draw(source.node, self.nodes, &mut source.random);
        let message = Outgoing {
            destination,
            bytes: pattern.message_bytes,
            from: source.node,
            to: destination,
            tag: 0,
        };
        let wait = source.wait(pattern, host.now());
        host.send(node, message);
        host.call(wait, node, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes down who sends when.
    #[derive(Default)]
    struct Log {
        now: u64,
        calls: Vec<(u64, u32)>,
        sent: Vec<(u64, u32, Outgoing)>,
    }

    impl Host for Log {
        fn now(&self) -> u64 {
            self.now
        }

        fn call(&mut self, delay: u64, node: u32, _: u32) {
            self.calls.push((self.now + delay, node));
        }

        fn send(&mut self, node: u32, message: Outgoing) {
            self.sent.push((self.now, node, message));
        }
    }

    fn sent(pattern: &Pattern, nodes: u32, until: u64) -> Vec<(u64, u32, Outgoing)> {
        let members: Vec<u32> = (0..nodes).collect();
        let mut sources = Sources::new(pattern, nodes, &members);
        let mut log = Log::default();
        sources.start(&mut log);
        let mut pending = std::collections::BTreeSet::new();
        loop {
            pending.extend(log.calls.drain(..));
            let Some((at, node)) = pending.pop_first().filter(|(at, _)| *at < until) else {
                return log.sent;
            };
            log.now = at;
            sources.act(node, &mut log);
        }
    }

    fn pattern(destinations: Destinations, arrivals: Arrivals) -> Pattern {
        Pattern {
            destinations,
            arrivals,
            message_bytes: 1000,
            message_ps: 20_000,
            seed: 7,
        }
    }

    /// The part of the time that messages of 20 ns fill.
    fn load(sent: usize, nodes: u32, time: u64) -> f64 {
        sent as f64 * 20_000.0 / (f64::from(nodes) * time as f64)
    }

    #[test]
    fn steady_load_is_what_was_asked_for_and_spread_evenly() {
        let pattern = pattern(Destinations::Uniform, Arrivals::Steady { load: 0.4 });
        let time = 100_000_000;
        let sent = sent(&pattern, 16, time);
        let found = load(sent.len(), 16, time);
        assert!((found - 0.4).abs() < 0.01, "{found}");
        for node in 0..16 {
            let to = sent
                .iter()
                .filter(|(_, _, message)| message.destination == node);
            let share = to.count() as f64 * 16.0 / sent.len() as f64;
            assert!((share - 1.0).abs() < 0.1, "node {node}: {share}");
        }
        assert!(sent
            .iter()
            .all(|(_, node, message)| message.destination != *node));
    }

    #[test]
    fn a_quarter_of_the_nodes_sends_to_the_hot_one() {
        let hot = Destinations::Hotspot {
            nodes: vec![5],
            senders_millionths: 250_000,
        };
        let sent = sent(
            &pattern(hot, Arrivals::Steady { load: 0.4 }),
            16,
            50_000_000,
        );
        let only_hot = (0..16).filter(|node| {
            let mut of_node = sent.iter().filter(|(_, from, _)| from == node);
            of_node.all(|(_, _, message)| message.destination == 5)
        });
        assert_eq!(only_hot.count(), 4);
    }

    /// Also of those that are hot themselves: each sends to the others that are.
    #[test]
    fn senders_to_hot_nodes_send_to_no_other() {
        let hot = Destinations::Hotspot {
            nodes: vec![0, 3, 4],
            senders_millionths: 1_000_000,
        };
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for node in 0..8 {
            let drawn = (0..60).map(|_| hot.draw(node, 8, &mut random));
            let drawn: std::collections::BTreeSet<u32> = drawn.collect();
            let others = [0, 3, 4].into_iter().filter(|&it| it != node);
            assert_eq!(drawn, others.collect(), "{node}");
        }
    }

    /// 0.29 * 100 is below 29 in binary.
    #[test]
    fn parts_of_the_nodes_are_exact() {
        let hot = Destinations::Hotspot {
            nodes: vec![0],
            senders_millionths: 290_000,
        };
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let mut all_to_hot = |node| (0..40).all(|_| hot.draw(node, 100, &mut random) == 0);
        assert_eq!((0..100).filter(|&node| all_to_hot(node)).count(), 29);
    }

    #[test]
    fn on_and_off_times_have_their_means() {
        let arrivals = Arrivals::OnOff {
            load: 0.5,
            on_ps: 2_000_000,
            off_ps: 6_000_000,
        };
        let time = 2_000_000_000;
        let sent = sent(&pattern(Destinations::Uniform, arrivals), 16, time);
        let found = load(sent.len(), 16, time);
        assert!((found - 0.125).abs() < 0.01, "{found}");
        // A pause of more than 1 us at a load of 0.5 means that the node was off.
        let mut times: Vec<u64> = sent
            .iter()
            .filter(|(_, node, _)| *node == 3)
            .map(|s| s.0)
            .collect();
        times.sort_unstable();
        let pauses = times
            .windows(2)
            .filter(|pair| pair[1] - pair[0] > 1_000_000)
            .count();
        let expected = time as f64 / 8e6;
        assert!(
            (pauses as f64 / expected - 0.85).abs() < 0.25,
            "{pauses} of {expected}"
        );
    }

    #[test]
    fn two_levels_are_met_in_turn() {
        let arrivals = Arrivals::TwoLevel {
            low: 0.1,
            high: 0.7,
            low_ps: 40_000_000,
            ramp_ps: 10_000_000,
            high_ps: 30_000_000,
        };
        let sent = sent(&pattern(Destinations::Uniform, arrivals), 16, 90_000_000);
        let within = |from: u64, to: u64| {
            let count = sent
                .iter()
                .filter(|(at, ..)| (from..to).contains(at))
                .count();
            load(count, 16, to - from)
        };
        for (from, to, expected) in [
            (0, 40_000_000, 0.1),
            (40_000_000, 50_000_000, 0.4),
            (50_000_000, 80_000_000, 0.7),
            (80_000_000, 90_000_000, 0.4),
        ] {
            let found = within(from, to);
            assert!((found - expected).abs() < 0.03, "{from}: {found}");
        }
    }

    /// The load of two levels at a time, in ps.
    fn load_at(levels: &Levels, at: f64) -> f64 {
        let (rise, top) = (
            levels.quiet + levels.ramp,
            levels.quiet + levels.ramp + levels.busy,
        );
        let at = at % (top + levels.ramp);
        let risen = match at {
            _ if at < levels.quiet => 0.0,
            _ if at < rise => (at - levels.quiet) / levels.ramp,
            _ if at < top => 1.0,
            _ => 1.0 - (at - top) / levels.ramp,
        };
        levels.low + (levels.high - levels.low) * risen
    }

    /// A wait ends where the load, summed in small steps, has reached its work: from any time,
    /// within a level or a ramp, over several of them and over whole periods.
    #[test]
    fn a_wait_lasts_as_long_as_its_work() {
        let levels = |quiet, ramp, busy| Levels {
            low: 0.001,
            high: 0.9,
            quiet,
            ramp,
            busy,
        };
        for levels in [
            levels(4000.0, 1000.0, 3000.0),
            levels(0.0, 500.0, 0.0),
            levels(700.0, 0.0, 300.0),
            levels(900.0, 0.0, 0.0),
        ] {
            for now in (0..12_000).step_by(375) {
                for work in [0.1, 3.0, 250.0, 900.0, 20_000.0] {
                    let wait = levels.until(now, work);
                    let steps = 100_000;
                    let step = wait / f64::from(steps);
                    let middles = (0..steps).map(|number| (f64::from(number) + 0.5) * step);
                    let loads = middles.map(|after| load_at(&levels, now as f64 + after));
                    let found = loads.sum::<f64>() * step;
                    // A step at the edge of a level is all of one or of the other.
                    let period = levels.quiet + 2.0 * levels.ramp + levels.busy;
                    let within = 1e-6 * work + (4.0 * wait / period + 4.0) * step;
                    assert!((found - work).abs() <= within, "{now} {work}: {found}");
                }
            }
        }
    }

    /// Tiny low load: as many messages in each part of the course as a Poisson process has, which
    /// is also what thinning a steady high load gives.
    #[test]
    fn a_hardly_loaded_level_has_its_few_messages() {
        let levels = Levels {
            low: 1e-5,
            high: 1.0,
            quiet: 900e6,
            ramp: 4e6,
            busy: 2e6,
        };
        let arrivals = Arrivals::TwoLevel {
            low: levels.low,
            high: levels.high,
            low_ps: 900_000_000,
            ramp_ps: 4_000_000,
            high_ps: 2_000_000,
        };
        let (nodes, periods, period) = (64, 100, 910_000_000);
        let uniform = Destinations::Uniform;
        let sent = sent(&pattern(uniform, arrivals), nodes, periods * period);
        // Ten parts of the low level, and ten of what is left of the period.
        let edges: Vec<u64> = (0..10)
            .map(|part| part * 90_000_000)
            .chain((0..=10).map(|part| 900_000_000 + part * 1_000_000))
            .collect();
        let mut squares = 0.0;
        for part in edges.windows(2) {
            let steps = 1000;
            let step = (part[1] - part[0]) as f64 / f64::from(steps);
            let at = |number| part[0] as f64 + (f64::from(number) + 0.5) * step;
            let work: f64 = (0..steps)
                .map(|number| load_at(&levels, at(number)) * step)
                .sum();
            let expected = f64::from(nodes) * periods as f64 * work / 20_000.0;
            assert!(expected > 100.0, "{expected}");
            let within = |at: u64| (part[0]..part[1]).contains(&(at % period));
            let found = sent.iter().filter(|(at, ..)| within(*at)).count() as f64;
            squares += (found - expected).powi(2) / expected;
        }
        // Chi-squared with 20 degrees of freedom: beyond 45.3 in 0.1 % of all seeds.
        assert!(squares < 45.3, "{squares}");
    }

    #[test]
    fn idle_times_between_messages_have_the_shape() {
        let shape = Application::Lammps;
        let arrivals = Arrivals::Inactivity { shape, scale: 0.5 };
        let pattern = pattern(Destinations::Uniform, arrivals);
        let sent = sent(&pattern, 4, 2_000_000_000_000);
        let mut idle = Vec::new();
        let mut last = [0; 4];
        for &(at, node, _) in &sent {
            let before = std::mem::replace(&mut last[node as usize], at);
            // A message lasts 20 ns.
            idle.push((at - before - 20_000) as f64 / 1000.0);
        }
        assert!(idle.len() > 100_000, "{}", idle.len());
        for (part, ns) in shape.quantiles() {
            let up_to = idle.iter().filter(|&&time| time <= ns * 0.5).count();
            let found = up_to as f64 / idle.len() as f64;
            assert!((found - part).abs() < 0.005, "{ns}: {found}, not {part}");
        }
        let time = 4.0 * 2_000_000_000_000.0;
        let load = sent.len() as f64 * 20_000.0 / time;
        let expected = 20_000.0 / (20_000.0 + 1000.0 * 0.5 * shape.mean());
        assert!((load / expected - 1.0).abs() < 0.05, "{load}: {expected}");
    }
}
