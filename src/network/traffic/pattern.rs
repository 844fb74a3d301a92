//! Traffic with chance in it: who sends how much to whom, and when.
//!
//! Every node draws from a generator of its own, seeded with the run's seed and the node's
//! number: what one node sends does not depend on what others do.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::inactivity::Shape;
use super::{Host, Outgoing};

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
    /// Some nodes send to hot ones only, the rest to any other node (p003 III).
    Hotspot {
        /// The hot nodes, each with the same share.
        nodes: Vec<u32>,
        /// The part of the nodes that send to them, spread evenly over the network.
        senders: f64,
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
    /// A low load, a rise, a high load, a fall, and so on (p004 4). All nodes together.
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
    /// Each node for itself sends, then idles as the ports of an application do (p000
    /// Figure 1).
    Inactivity {
        /// The application.
        shape: Shape,
        /// What its idle times are multiplied with.
        scale: f64,
    },
}

impl Destinations {
    fn draw(&self, node: u32, nodes: u32, random: &mut Pcg64Mcg) -> u32 {
        if let Destinations::Hotspot {
            nodes: hot,
            senders,
        } = self
        {
            // Node n of those that make up the part when all up to it are counted.
            let counted = |nodes: u32| (f64::from(nodes) * senders).floor();
            if counted(node + 1) > counted(node) {
                let chosen = hot[random.random_range(0..hot.len())];
                if chosen != node {
                    return chosen;
                }
            }
        }
        // All but the node itself.
        let other = random.random_range(0..nodes - 1);
        other + u32::from(other >= node)
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
            Arrivals::TwoLevel { high, .. } => {
                // Thinned out from a steady high load.
                let mut at = now as f64;
                loop {
                    at += exponential(mean(high), random);
                    if random.random::<f64>() * high
                        <= pattern.arrivals.load_at(at, pattern.message_ps)
                    {
                        break at - now as f64;
                    }
                }
            }
        };
        // Beyond the end of any run.
        wait.min((1u64 << 62) as f64) as u64
    }
}

impl Arrivals {
    /// The load that all nodes offer at `at` ps, on the mean.
    fn load_at(&self, at: f64, message_ps: u64) -> f64 {
        match *self {
            Arrivals::Steady { load } => load,
            Arrivals::OnOff {
                load,
                on_ps,
                off_ps,
            } => load * on_ps as f64 / (on_ps + off_ps) as f64,
            Arrivals::Inactivity { shape, scale } => {
                let message = message_ps as f64;
                message / (message + 1000.0 * scale * shape.mean())
            }
            Arrivals::TwoLevel {
                low,
                high,
                low_ps,
                ramp_ps,
                high_ps,
            } => {
                let (quiet, ramp, busy) = (low_ps as f64, ramp_ps as f64, high_ps as f64);
                let at = at % (quiet + ramp + busy + ramp).max(1.0);
                let risen = if at < quiet {
                    0.0
                } else if at < quiet + ramp {
                    (at - quiet) / ramp
                } else if at < quiet + ramp + busy {
                    1.0
                } else {
                    1.0 - (at - quiet - ramp - busy) / ramp.max(1.0)
                };
                low + (high - low) * risen
            }
        }
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
            senders: 0.25,
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

    #[test]
    fn idle_times_between_messages_have_the_shape() {
        let shape = Shape::Lammps;
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
        let expected = pattern.arrivals.load_at(0.0, pattern.message_ps);
        assert!((load / expected - 1.0).abs() < 0.05, "{load}: {expected}");
    }
}
