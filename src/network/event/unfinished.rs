//! Messages of which some packets have arrived, where packets may overtake each other.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::packets::Packet;

/// What tells a message from others: its ranks and tag, when it was handed to the NIC in ps, its bytes.
/// Two messages that have all of these in common cannot be told apart by anyone.
type Key = (u32, u32, u32, u64, u64);

/// Bytes that have arrived of messages that have not arrived completely.
#[derive(Debug, Default)]
pub(super) struct Unfinished(HashMap<Key, u64, RandomState>);

impl Unfinished {
    /// A packet has arrived: whether its message has arrived completely with it.
    pub(super) fn arrives(&mut self, packet: &Packet) -> bool {
        let all = packet.message_bytes;
        if u64::from(packet.payload) == all {
            return true;
        }
        let key = (packet.from, packet.to, packet.tag, packet.generated.0, all);
        let arrived = self.0.entry(key).or_insert(0);
        *arrived += u64::from(packet.payload);
        if *arrived < all {
            return false;
        }
        *arrived -= all;
        if *arrived == 0 {
            self.0.remove(&key);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::time::Time;
    use super::*;

    fn packet(tag: u32, payload: u32, message_bytes: u64, ends_message: bool) -> Packet {
        let mut packet = Packet::new(1, payload + 64, payload, 2, Time(5));
        packet.message_bytes = message_bytes;
        packet.tag = tag;
        packet.ends_message = ends_message;
        packet
    }

    /// The last packet of a message may arrive before others of it.
    #[test]
    fn a_message_is_complete_when_all_of_its_packets_are_there() {
        let mut unfinished = Unfinished::default();
        assert!(!unfinished.arrives(&packet(1, 100, 2100, true)));
        assert!(!unfinished.arrives(&packet(1, 1000, 2100, false)));
        // Another message, of one packet, and one without bytes.
        assert!(unfinished.arrives(&packet(2, 8, 8, true)));
        assert!(unfinished.arrives(&packet(1, 0, 0, true)));
        assert!(unfinished.arrives(&packet(1, 1000, 2100, false)));
        assert!(unfinished.0.is_empty());
    }

    /// Of two that are alike, the first one is complete when as many bytes are there.
    #[test]
    fn messages_that_are_alike_do_not_wait_for_each_other() {
        let mut unfinished = Unfinished::default();
        let whole: Vec<bool> = (0..4)
            .map(|_| unfinished.arrives(&packet(1, 50, 100, false)))
            .collect();
        assert_eq!(whole, [false, true, false, true]);
        assert!(unfinished.0.is_empty());
    }
}
