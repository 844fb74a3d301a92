//! What makes batches, and what takes them, each in a thread of its own.

use std::ops::ControlFlow;
use std::panic;
use std::sync::mpsc;
use std::thread;

/// So many batches may wait to be taken.
const AHEAD: usize = 8;

/// Calls `make` in a new thread, and `take` in this one with every batch that `make` gives, in their
/// order. `take` leaves a batch empty, for `make` to fill again, or breaks; `make` is then told to end
/// with its next batch. If `take` never breaks, the result is that of `make`.
pub(super) fn on_two_threads<T: Default + Send, P: Send, V>(
    make: impl FnOnce(&mut dyn FnMut(&mut T) -> ControlFlow<()>) -> P + Send,
    mut take: impl FnMut(&mut T) -> ControlFlow<V>,
) -> ControlFlow<V, P> {
    let (give, given) = mpsc::sync_channel(AHEAD);
    let (give_back, used) = mpsc::channel();
    thread::scope(|scope| {
        let making = scope.spawn(move || {
            make(&mut |batch| {
                let empty = used.try_recv().unwrap_or_default();
                // Nobody takes it any more once `take` has broken.
                match give.send(std::mem::replace(batch, empty)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            })
        });
        let verdict = loop {
            let Ok(mut batch) = given.recv() else {
                break None;
            };
            if let ControlFlow::Break(verdict) = take(&mut batch) {
                break Some(verdict);
            }
            // Nobody needs the last ones again.
            let _ = give_back.send(batch);
        };
        drop(given);
        match (verdict, making.join()) {
            // Whatever comes of what was made ahead.
            (Some(verdict), _) => ControlFlow::Break(verdict),
            (None, Ok(made)) => ControlFlow::Continue(made),
            (None, Err(message)) => panic::resume_unwind(message),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives the numbers below `end`, three at a time, and how many it gave.
    fn numbers(end: u32, give: &mut dyn FnMut(&mut Vec<u32>) -> ControlFlow<()>) -> u32 {
        let mut batch = Vec::new();
        for number in 0..end {
            batch.push(number);
            if batch.len() == 3 && give(&mut batch).is_break() {
                return number;
            }
            assert!(batch.len() < 3);
        }
        let _ = give(&mut batch);
        end
    }

    #[test]
    fn all_is_taken_in_order() {
        let mut taken = Vec::new();
        let made = on_two_threads(
            |give| numbers(1000, give),
            |batch: &mut Vec<u32>| {
                taken.append(batch);
                ControlFlow::<()>::Continue(())
            },
        );
        assert_eq!(made, ControlFlow::Continue(1000));
        assert!(taken.into_iter().eq(0..1000));
    }

    #[test]
    fn a_break_ends_both() {
        let verdict = on_two_threads(
            |give| numbers(u32::MAX, give),
            |batch: &mut Vec<u32>| match batch.contains(&100) {
                true => ControlFlow::Break("found"),
                false => {
                    batch.clear();
                    ControlFlow::Continue(())
                }
            },
        );
        assert_eq!(verdict, ControlFlow::Break("found"));
    }

    #[test]
    fn a_verdict_counts_whatever_was_made_ahead() {
        let verdict = on_two_threads(
            |give| {
                let _ = give(&mut vec![7]);
                panic!("ahead of the verdict");
            },
            |batch: &mut Vec<u32>| -> ControlFlow<u32, ()> { ControlFlow::Break(batch[0]) },
        );
        assert_eq!(verdict, ControlFlow::<u32, ()>::Break(7));
    }

    #[test]
    #[should_panic(expected = "in the other thread")]
    fn a_panic_comes_through() {
        let make = |_: &mut dyn FnMut(&mut Vec<u32>) -> ControlFlow<()>| -> u32 {
            panic!("in the other thread")
        };
        let _ = on_two_threads(make, |_| ControlFlow::<()>::Continue(()));
    }
}
