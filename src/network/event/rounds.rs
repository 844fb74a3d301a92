//! Deadlines that most packets move: they are not looked at one by one, but many of them in a
//! round, some time before the first of them, when most have moved on.

use super::time::Cycle;

/// Clock cycles between rounds, as a power of two.
const SHIFT: u32 = 9;

/// So many rounds are kept: what comes later has no round.
const KEPT: usize = 64;

/// The ports that are looked at in each of the next rounds. A round begins with the first
/// clock cycle that it is for.
#[derive(Debug)]
pub struct Rounds {
    ports: [Vec<u32>; KEPT],
    /// An empty one, to be used again.
    spare: Vec<u32>,
}

impl Default for Rounds {
    fn default() -> Self {
        Self {
            ports: [const { Vec::new() }; KEPT],
            spare: Vec::new(),
        }
    }
}

/// The cycle of the round for what may happen in cycle `next`, seen from cycle `now`; `None` if
/// that round has begun, or is too far away.
#[inline]
pub fn before(now: Cycle, next: Cycle) -> Option<Cycle> {
    let (round, present) = (next.0 >> SHIFT, now.0 >> SHIFT);
    (round > present && round - present < KEPT as u64).then_some(Cycle(round << SHIFT))
}

impl Rounds {
    /// A port joins the round of a cycle; whether it is the first one.
    #[inline]
    pub fn join(&mut self, cycle: Cycle, port: u32) -> bool {
        let ports = self.of(cycle);
        ports.push(port);
        ports.len() == 1
    }

    /// The ports of the round of a cycle, that now begins; to be given [back](Rounds::recycle).
    pub fn leave(&mut self, cycle: Cycle) -> Vec<u32> {
        let spare = std::mem::take(&mut self.spare);
        std::mem::replace(self.of(cycle), spare)
    }

    /// Takes back what [`leave`](Rounds::leave) gave.
    pub fn recycle(&mut self, mut ports: Vec<u32>) {
        ports.clear();
        self.spare = ports;
    }

    fn of(&mut self, cycle: Cycle) -> &mut Vec<u32> {
        &mut self.ports[(cycle.0 >> SHIFT) as usize % KEPT]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: u64 = 1 << SHIFT;

    #[test]
    fn a_round_comes_after_now_and_not_after_what_it_is_for() {
        let kept = KEPT as u64 * WIDTH;
        for now in [0, 1, WIDTH - 1, WIDTH, 5 * WIDTH + 7, kept, 3 * kept + 1] {
            for ahead in [
                0,
                1,
                WIDTH - 1,
                WIDTH,
                WIDTH + 1,
                kept - WIDTH,
                kept - 1,
                kept,
            ] {
                let (now, next) = (Cycle(now), Cycle(now + ahead));
                match before(now, next) {
                    Some(round) => assert!(now < round && round <= next && next - round < WIDTH),
                    None => assert!(next.0 / WIDTH == now.0 / WIDTH || ahead > kept - WIDTH),
                }
            }
            assert_eq!(before(Cycle(now), Cycle::NEVER), None);
        }
    }

    /// No round takes the ports of another: all that have joined at any time leave with their own.
    #[test]
    fn ports_leave_with_the_round_that_they_have_joined() {
        let mut rounds = Rounds::default();
        let mut joined = 0;
        for present in 0..3 * KEPT as u64 {
            let now = present * WIDTH;
            let ports = rounds.leave(Cycle(now));
            let expected = match present {
                0 => vec![],
                // Two from each of the rounds before that reach so far.
                _ => {
                    let first = (present + 1).saturating_sub(KEPT as u64);
                    (first..present)
                        .flat_map(|from| [port(from, present), 7])
                        .collect()
                }
            };
            assert_eq!(ports, expected, "round {present}");
            rounds.recycle(ports);
            for ahead in 1..KEPT as u64 {
                let cycle = before(Cycle(now + 3), Cycle((present + ahead) * WIDTH + 5))
                    .expect("it is near");
                assert_eq!(cycle, Cycle((present + ahead) * WIDTH));
                let is_first = rounds.join(cycle, port(present, present + ahead));
                assert_eq!(is_first, present == 0 || ahead == KEPT as u64 - 1);
                assert!(!rounds.join(cycle, 7));
                joined += 2;
            }
        }
        assert_eq!(joined, 3 * KEPT * (KEPT - 1) * 2);
    }

    fn port(from: u64, to: u64) -> u32 {
        (1000 * from + to) as u32
    }
}
