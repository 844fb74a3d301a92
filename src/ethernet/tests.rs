//! The bytes of the TLV, and what two ends agree about.

use std::collections::{HashSet, VecDeque};

use proptest::prelude::*;

use super::eee_tlv::{EeeTlv, TlvError};
use super::negotiation::{End, ReceiveNeeds, TransmitNeeds};
use super::words;

const TLV: EeeTlv = EeeTlv {
    transmit: 0x0102,
    receive: 0x0304,
    fallback_receive: 0x0506,
    echo_transmit: 0x0708,
    echo_receive: 0x090a,
};

/// 79.3.5: type 127, 14 bytes, 00-12-0F, subtype 5, then five fields of two bytes.
const BYTES: [u8; 16] = [0xfe, 14, 0x00, 0x12, 0x0f, 5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

#[test]
fn the_bytes_of_a_tlv() {
    assert_eq!(TLV.encode(), BYTES);
    assert_eq!(EeeTlv::decode(&BYTES), Ok(TLV));
}

#[test]
fn what_is_no_eee_tlv_is_refused() {
    let with = |at: usize, byte: u8| {
        let mut bytes = BYTES;
        bytes[at] = byte;
        EeeTlv::decode(&bytes).unwrap_err()
    };
    assert_eq!(with(0, 0xfc), TlvError::Type(126));
    assert_eq!(with(0, 0xff), TlvError::Length(256 + 14));
    assert_eq!(with(1, 13), TlvError::Length(13));
    assert_eq!(with(2, 1), TlvError::Organization([1, 0x12, 0x0f]));
    assert_eq!(with(5, 6), TlvError::Subtype(6));
    assert_eq!(EeeTlv::decode(&[]), Err(TlvError::NoHeader(0)));
    assert_eq!(EeeTlv::decode(&BYTES[..1]), Err(TlvError::NoHeader(1)));
    assert_eq!(EeeTlv::decode(&BYTES[..15]), Err(TlvError::Cut(13)));
    let longer = [&BYTES[..], &[0]].concat();
    assert_eq!(EeeTlv::decode(&longer), Err(TlvError::Cut(15)));
    let says = with(3, 0x13).to_string();
    assert_eq!(says, "OUI 00-13-0F is not 00-12-0F, IEEE 802.3");
}

#[test]
fn microseconds_in_words() {
    // XGMII: 32 bits at 312.5 million words per second, 64 bits at half of that.
    assert_eq!(words(15, 3_200), 4_688);
    assert_eq!(words(15, 6_400), 2_344);
    assert_eq!(words(0, 6_400), 0);
    assert_eq!(words(u16::MAX, 1), 65_535_000_000);
}

/// What both ends of a link need.
#[derive(Clone, Copy, Debug)]
struct Needs {
    transmit: TransmitNeeds,
    receive: ReceiveNeeds,
}

/// Small times, so that they meet, and any times.
fn time() -> impl Strategy<Value = u16> {
    prop_oneof![4 => 0u16..12, 1 => any::<u16>()]
}

fn needs() -> impl Strategy<Value = Needs> {
    (time(), time(), time(), time()).prop_map(|(own, most, wish, fallback)| Needs {
        transmit: TransmitNeeds { own, most },
        receive: ReceiveNeeds { wish, fallback },
    })
}

/// Both ends send and hear a few times.
fn settle(ends: &mut [End; 2], needs: &[Needs; 2]) {
    for _ in 0..12 {
        for at in [0, 1] {
            let tlv = ends[1 - at].tlv();
            ends[at].step(&needs[at].transmit, &needs[at].receive, Some(&tlv));
        }
    }
}

/// That a settled link has agreed as it should: `from` sends, `to` receives.
fn check_settled(from: &End, to: &End, phy: u16, transmit: TransmitNeeds, receive: ReceiveNeeds) {
    let own = transmit.own.max(phy);
    let most = transmit.most.max(own);
    let wish = receive.wish.max(phy);
    let fallback = receive.fallback.clamp(phy, wish);
    assert!(from.transmitter.in_sync() && to.receiver.in_sync());
    // The transmitter waits as long as both need, or as it can.
    let (wait, may_take) = if wish <= most {
        (own.max(wish), wish)
    } else if fallback <= most {
        (own.max(fallback), fallback)
    } else {
        (own, phy)
    };
    assert_eq!(to.receiver.may_take(), may_take);
    assert_eq!(from.tlv().transmit, wait);
    assert_eq!(to.tlv().fallback_receive, fallback);
    assert!(from.transmitter.wait() >= wait);
}

proptest! {
    #[test]
    fn bytes_and_back(fields in any::<[u16; 5]>()) {
        let [transmit, receive, fallback_receive, echo_transmit, echo_receive] = fields;
        let tlv = EeeTlv { transmit, receive, fallback_receive, echo_transmit, echo_receive };
        prop_assert_eq!(EeeTlv::decode(&tlv.encode()), Ok(tlv));
    }

    /// Any bytes are a TLV that encodes to the same bytes, or an error.
    #[test]
    fn hostile_bytes(bytes in prop::collection::vec(any::<u8>(), 0..40), kept in 0usize..17) {
        let mut begun = BYTES[..kept.min(16)].to_vec();
        begun.extend(&bytes);
        for bytes in [bytes, begun] {
            if let Ok(tlv) = EeeTlv::decode(&bytes) {
                prop_assert_eq!(&tlv.encode()[..], &bytes[..]);
            }
        }
    }

    /// Whatever was agreed before, two ends that hear of each other agree about what they need. A
    /// receiver whose needs are those of before does not ask again for what it did not get.
    #[test]
    fn two_ends_converge(phy in 0u16..6, before in [needs(), needs()], now in [needs(), needs()]) {
        prop_assume!((0..2).all(|at| before[at].receive != now[at].receive));
        let mut ends = [End::new(phy), End::new(phy)];
        settle(&mut ends, &before);
        settle(&mut ends, &now);
        for at in [0, 1] {
            let (transmit, receive) = (now[at].transmit, now[1 - at].receive);
            check_settled(&ends[at], &ends[1 - at], phy, transmit, receive);
        }
        let settled = ends.clone();
        settle(&mut ends, &now);
        prop_assert_eq!(settled, ends);
    }

    /// TLVs that are late or lost, needs that change at any time: a transmitter always waits as
    /// long as the receiver may take, and no less than the PHY. Hostile TLVs do not change the
    /// latter.
    #[test]
    fn lost_updates_do_no_harm(
        phy in 0u16..6,
        steps in prop::collection::vec((0usize..2, needs(), prop::bool::weighted(0.3), 0u8..4), 1..200),
        hostile in any::<[u16; 5]>(),
    ) {
        let mut ends = [End::new(phy), End::new(phy)];
        let mut under_way = [VecDeque::new(), VecDeque::new()];
        let mut needs = [steps[0].1; 2];
        for (at, new, changes, what) in steps {
            if changes {
                needs[at] = new;
            }
            let heard = match what {
                0 => None,
                1 => {
                    under_way[at].pop_front();
                    None
                }
                _ => under_way[at].pop_front(),
            };
            ends[at].step(&needs[at].transmit, &needs[at].receive, heard.as_ref());
            under_way[1 - at].push_back(ends[at].tlv());
            for at in [0, 1] {
                let (wait, takes) = (ends[at].transmitter.wait(), ends[1 - at].receiver.may_take());
                prop_assert!(wait >= takes, "{} < {}: {:?}", wait, takes, ends);
                prop_assert!(wait >= phy && takes >= phy);
                prop_assert!(ends[at].tlv().transmit >= phy && ends[at].tlv().receive >= phy);
            }
        }
        let [transmit, receive, fallback_receive, echo_transmit, echo_receive] = hostile;
        let tlv = EeeTlv { transmit, receive, fallback_receive, echo_transmit, echo_receive };
        ends[0].step(&needs[0].transmit, &needs[0].receive, Some(&tlv));
        prop_assert!(ends[0].transmitter.wait() >= phy);
    }
}

/// The transmitter can no longer grant the wish when the fallback has changed, and answers with the one
/// it has heard of. The receiver asks for its own.
#[test]
fn a_fallback_that_the_transmitter_has_not_heard_of_is_asked_for() {
    let needs = |most, wish, fallback| Needs {
        transmit: TransmitNeeds { own: 0, most },
        receive: ReceiveNeeds { wish, fallback },
    };
    let mut ends = [End::new(0), End::new(0)];
    settle(&mut ends, &[needs(10, 0, 0), needs(0, 10, 0)]);
    assert_eq!(ends[1].receiver.may_take(), 10);
    settle(&mut ends, &[needs(6, 0, 1), needs(0, 10, 1)]);
    assert_eq!(ends[1].receiver.may_take(), 1);
    assert_eq!(ends[0].tlv().transmit, 1);
    // More than it can wait for is refused, too.
    settle(&mut ends, &[needs(6, 0, 2), needs(0, 10, 8)]);
    assert_eq!(ends[1].receiver.may_take(), 0);
}

/// One direction, every order of steps: no state comes about in which the transmitter waits less
/// than the receiver may take. Needs have a few values, and one TLV at most is under way each way;
/// it is lost, or overtaken by none.
#[test]
fn no_order_of_updates_does_harm() {
    const TRANSMIT: [(u16, u16); 2] = [(0, 2), (3, 4)];
    const RECEIVE: [(u16, u16); 2] = [(1, 1), (4, 2)];
    type State = (End, End, Option<EeeTlv>, Option<EeeTlv>);
    let idle_transmit = TransmitNeeds { own: 0, most: 9 };
    let idle_receive = ReceiveNeeds {
        wish: 0,
        fallback: 0,
    };
    let start: State = (End::new(1), End::new(1), None, None);
    let mut seen = HashSet::from([start.clone()]);
    let mut next = vec![start];
    while let Some(state) = next.pop() {
        let (from, to, back, forth) = (&state.0, &state.1, state.2, state.3);
        let (wait, takes) = (from.transmitter.wait(), to.receiver.may_take());
        assert!(wait >= takes, "{wait} < {takes}: {state:?}");
        // A TLV is lost.
        let mut reached: Vec<State> = vec![
            (from.clone(), to.clone(), None, forth),
            (from.clone(), to.clone(), back, None),
        ];
        for (own, most) in TRANSMIT {
            for heard in [None, back.as_ref()] {
                let mut from = from.clone();
                from.step(&TransmitNeeds { own, most }, &idle_receive, heard);
                let back = back.filter(|_| heard.is_none());
                let tlv = Some(from.tlv());
                if forth.is_none() {
                    reached.push((from.clone(), to.clone(), back, tlv));
                }
                reached.push((from, to.clone(), back, forth));
            }
        }
        for (wish, fallback) in RECEIVE {
            for heard in [None, forth.as_ref()] {
                let mut to = to.clone();
                to.step(&idle_transmit, &ReceiveNeeds { wish, fallback }, heard);
                let forth = forth.filter(|_| heard.is_none());
                let tlv = Some(to.tlv());
                if back.is_none() {
                    reached.push((from.clone(), to.clone(), tlv, forth));
                }
                reached.push((from.clone(), to, back, forth));
            }
        }
        for state in reached {
            if seen.insert(state.clone()) {
                next.push(state);
            }
        }
    }
    println!("{} states", seen.len());
    assert!(seen.len() > 1000);
}

/// What the diagrams say by themselves is not enough: a receiver resolves more than the
/// transmitter waits when a request for more and a step down cross.
#[test]
fn the_diagrams_alone_leave_a_race() {
    let transmit = |own| TransmitNeeds { own, most: 30 };
    let receive = |wish| ReceiveNeeds { wish, fallback: 0 };
    let mut ends = [End::new(5), End::new(5)];
    let needs = [(transmit(30), receive(5)), (transmit(5), receive(10))];
    for _ in 0..6 {
        for at in [0, 1] {
            let tlv = ends[1 - at].tlv();
            ends[at].step(&needs[at].0, &needs[at].1, Some(&tlv));
        }
    }
    assert_eq!(ends[0].transmitter.wait(), 30);
    assert_eq!(ends[1].receiver.may_take(), 10);
    // Both change their minds at once.
    ends[0].step(&transmit(5), &receive(5), None);
    ends[1].step(&transmit(5), &receive(20), None);
    assert_eq!(ends[0].transmitter.wait(), 10);
    assert_eq!(ends[1].receiver.resolved(), 20);
    assert_eq!(ends[1].receiver.may_take(), 10);
}

/// A transmitter that is out of sync does not answer a request, and answers it when it is in sync
/// again, although LOCAL CHANGE has seen it in the meantime.
#[test]
fn a_request_waits_for_sync_and_is_not_forgotten() {
    let mut end = End::new(5);
    let mut step = |own, tlv: Option<&EeeTlv>| {
        let receive = ReceiveNeeds {
            wish: 0,
            fallback: 0,
        };
        end.step(&TransmitNeeds { own, most: 20 }, &receive, tlv);
        (end.tlv().transmit, end.tlv().echo_receive)
    };
    assert_eq!(step(10, None), (10, 5));
    let request = EeeTlv {
        transmit: 5,
        receive: 7,
        fallback_receive: 7,
        echo_transmit: 5,
        echo_receive: 5,
    };
    assert_eq!(step(10, Some(&request)), (10, 5));
    assert_eq!(step(12, None), (10, 5));
    assert_eq!(step(10, None), (10, 5));
    let in_sync = EeeTlv {
        echo_transmit: 10,
        ..request
    };
    assert_eq!(step(10, Some(&in_sync)), (10, 7));
}
