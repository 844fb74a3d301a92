//! The counters against plain 64-bit numbers; the memory's turns at their worst.

use proptest::prelude::*;

use super::{EventCounters, PLACES};
use crate::blocks::testing::{cases, cycles, Bench};
use crate::hdl::check;

/// Counters at these places.
fn counters(places: &[u32]) -> Vec<(u32, String)> {
    let named = places
        .iter()
        .map(|place| (*place, format!("event {place}")));
    named.collect()
}

/// Places as the registers have them: from the first beyond the last of the memory, with gaps.
const SPREAD: [u32; 9] = [24, 25, 28, 31, 0, 1, 4, 10, 11];

/// What the counters hold and held a cycle ago, and what was asked for one and two cycles ago.
#[derive(Default)]
struct Golden {
    counts: Vec<u64>,
    before: Vec<u64>,
    asked: [Option<usize>; 2],
}

impl Golden {
    /// The count that is answered in this cycle.
    fn answer(&self) -> Option<u64> {
        self.asked[1].map(|counter| self.before[counter])
    }

    fn clock(&mut self, happens: u32, ask: Option<usize>, clear: bool) {
        let counts = self.counts.iter_mut().zip(&mut self.before);
        for (at, (count, before)) in counts.enumerate() {
            *before = *count;
            *count = match clear {
                true => 0,
                false => *count + u64::from(happens >> at & 1),
            };
        }
        let heard = ask.filter(|_| self.asked[0].is_none());
        self.asked = [heard, self.asked[0]];
    }
}

fn agree(
    places: &[u32],
    cycles: impl IntoIterator<Item = (u32, Option<usize>, bool)>,
) -> Result<(), TestCaseError> {
    let mut bench = Bench::new(EventCounters::new(&counters(places), None));
    let mut golden = Golden {
        counts: vec![0; places.len()],
        before: vec![0; places.len()],
        ..Golden::default()
    };
    let names: Vec<String> = (0..places.len())
        .map(|at| format!("happens_{at}"))
        .collect();
    for (cycle, (happens, ask, clear)) in cycles.into_iter().enumerate() {
        let ask = ask.filter(|counter| *counter < places.len());
        for (at, name) in names.iter().enumerate() {
            bench.drive(&[(name.as_str(), u64::from(happens >> at & 1))]);
        }
        bench.drive(&[
            ("ask", ask.is_some().into()),
            (
                "place",
                ask.map_or(u64::from(happens % PLACES), |it| places[it].into()),
            ),
            ("clear", clear.into()),
        ]);
        if let Some(count) = golden.answer() {
            bench.check(cycle as u64, &[("count", count)])?;
        }
        bench.clock();
        golden.clock(happens, ask, clear);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn description_and_golden_model_agree(
        cycles in prop::collection::vec(
            (any::<u32>(), prop::option::weighted(0.3, 0usize..9), prop::bool::weighted(0.005)),
            1..600,
        ),
    ) {
        agree(&SPREAD, cycles)?;
    }

    /// All count in every cycle, and software asks for the same one as often as it can: no carry is
    /// lost with as many places as there may be.
    #[test]
    fn no_carry_is_lost_however_often_software_asks(asked in 0usize..30, every in 1usize..5) {
        let places: Vec<u32> = (0..super::MOST_VISITED).collect();
        let ask = |cycle: usize| cycle.is_multiple_of(every).then_some(asked);
        let last = (0..30).flat_map(|counter| [(u32::MAX, Some(counter), false), (0, None, false)]);
        agree(&places, (0..cycles(2000)).map(|cycle| (u32::MAX, ask(cycle), false)).chain(last))?;
    }
}

#[test]
#[should_panic = "31 places to visit"]
fn more_places_are_refused() {
    EventCounters::new(&counters(&(0..31).collect::<Vec<_>>()), None);
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    check::agrees_with_verilog(|| EventCounters::new(&counters(&SPREAD), None), 4000, 1).unwrap();
}

#[test]
fn emitted_verilog_is_lint_clean() {
    check::lint_block(&EventCounters::new(&counters(&SPREAD), None)).unwrap();
}
