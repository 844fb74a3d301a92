//! The selection functions as POWAR 3 has them, asked of the buffers as they are.

use std::collections::HashMap;
use std::ops::Range;

use super::Network;
use crate::network::selection::Selection;

/// Ports to choose from in a window.
struct Group {
    selectable: u8,
    window: u64,
    /// Packets that were leaving in this window, or later: bytes, and when.
    sent: Vec<(u32, u64, u64)>,
}

impl Group {
    /// Bytes that have left until then altogether, in ps.
    fn bytes_until(&self, time: u64) -> u64 {
        let bytes = |&(wire, from, until): &(u32, u64, u64)| {
            let part = (time.clamp(from, until) - from) as u128;
            (u128::from(wire) * part / u128::from(until - from)) as u64
        };
        self.sent.iter().map(bytes).sum()
    }
}

/// What the selection functions remember.
#[derive(Default)]
pub(super) struct Memory {
    /// By switch, and whether it is that of the cables of the escape channel.
    turns: HashMap<(usize, bool), u8>,
    /// By switch and the first port to choose from.
    groups: HashMap<(usize, u8), Group>,
}

impl Network<'_> {
    /// The port by which a packet leaves `switch` that the routing function sends to `port`.
    pub(super) fn select(&mut self, switch: usize, port: u8) -> u8 {
        let selection = self.settings.switch.selection;
        let all = self.topology.choices(switch, port);
        if selection == Selection::Fixed || all.len() == 1 {
            return port;
        }
        let choices = self.selectable(switch, all);
        let in_turn = self.links_on(switch, choices);
        let best = self.best(switch, in_turn, false);
        let (chosen, _) = best.expect("there are choices");
        self.memory.turns.insert((switch, false), chosen + 1);
        chosen
    }

    /// Chooses the channel of Duato's protocol for the first packet of a queue at an input.
    pub(super) fn choose_channel(&mut self, switch: usize, input: usize, queue: usize) {
        let Some(first) = self.first_in_queue(switch, input, queue) else {
            return;
        };
        let Some((channels, wire)) = self.channels_of(switch, first) else {
            return self.gives_channel(switch, input, queue, None);
        };
        // The paper's adaptive ports: they are near and selectable, and have room.
        let mut adaptive = Vec::new();
        for port in (0..64).filter(|port| channels.nearer >> port & 1 == 1) {
            let link = self.topology.choices(switch, port);
            let selectable = self.selectable(switch, link);
            let bytes = self.waiting(switch, port) + u64::from(wire);
            if self.links_on(switch, selectable).contains(&port)
                && self.room_for(switch, port, channels.adaptive) >= bytes
            {
                adaptive.push(port);
            }
        }
        let cables = self.topology.choices(switch, channels.escape);
        let cables = self.selectable(switch, cables);
        let escape = self.links_on(switch, cables);
        // That which is free goes first, and that of the adaptive channels before that of escape.
        let candidates = [
            (self.best(switch, adaptive, false), channels.adaptive),
            (self.best(switch, escape, true), channels.escape_queue),
        ];
        let candidates = candidates.iter();
        let found = candidates.filter_map(|&(best, queue)| Some((best?, queue)));
        let ((port, _), queue_there) = found
            .min_by_key(|&((_, backlog), _)| backlog)
            .expect("one cable is on");
        let escapes = queue_there == channels.escape_queue;
        self.memory.turns.insert((switch, escapes), port + 1);
        self.gives_channel(switch, input, queue, Some((port, queue_there)));
    }

    /// The best of these ports, and how long it is busy, in ps.
    fn best(&mut self, switch: usize, mut ports: Vec<u8>, escapes: bool) -> Option<(u8, u64)> {
        let selection = self.settings.switch.selection;
        let turn = self.memory.turns.get(&(switch, escapes)).copied();
        let turn = turn.unwrap_or(0);
        // From the port whose turn it is, going round.
        ports.sort_by_key(|&port| (port < turn, port));
        let mut best: Option<(bool, u64, u8)> = None;
        for port in ports {
            let backlog = self.backlog(switch, port);
            let prefers_awake = matches!(selection, Selection::FirstOn | Selection::Powar(_));
            let asleep = backlog == 0 && prefers_awake && {
                let number = (switch * self.topology.radix()) as u32 + u32::from(port);
                let mut awake = false;
                self.change(number, |link, end| awake = link.enabled(end));
                !awake
            };
            // Free and awake, free and asleep, busy; of the busy ones that which is free first.
            let rank = (backlog > 0, backlog.max(u64::from(asleep)), port);
            if best.is_none_or(|best| (rank.0, rank.1) < (best.0, best.1)) {
                best = Some(rank);
            }
        }
        let (_, _, chosen) = best?;
        Some((chosen, self.backlog(switch, chosen)))
    }

    /// How long it takes until a port has sent what is to leave by it, in ps.
    fn backlog(&self, switch: usize, port: u8) -> u64 {
        let number = switch * self.topology.radix() + usize::from(port);
        let waiting = self.waiting(switch, port) * self.settings.switch.byte_ps;
        waiting + self.ports[number].sent_at.saturating_sub(self.now)
    }

    /// Bytes that are to leave by a port and do not yet.
    fn waiting(&self, switch: usize, port: u8) -> u64 {
        let number = switch * self.topology.radix() + usize::from(port);
        let bytes = (self.bytes_in_queues(switch, port))
            .unwrap_or_else(|| self.switches[switch].bytes_for(&self.packets, port.into()));
        bytes - u64::from(self.ports[number].sending)
    }

    /// A packet leaves by a port.
    pub(super) fn counts_for_powar(&mut self, port: u32, wire: u32, until: u64) {
        let Some((switch, number)) = self.switch_port(port) else {
            return;
        };
        let all = self.topology.choices(switch, number as u8);
        if let Some(group) = self.memory.groups.get_mut(&(switch, all.start)) {
            group.sent.push((wire, self.now, until));
        }
    }

    /// Those of `all` that the selection function lets a packet take.
    fn selectable(&mut self, switch: usize, all: Range<u8>) -> Range<u8> {
        let Selection::Powar(thresholds) = self.settings.switch.selection else {
            return all;
        };
        let now = self.now / thresholds.window_ps;
        let first = Group {
            selectable: all.len() as u8,
            window: 0,
            sent: Vec::new(),
        };
        let group = self.memory.groups.entry((switch, all.start));
        let group = group.or_insert(first);
        while group.window < now {
            let room = thresholds.window_ps * u64::from(group.selectable);
            let [begin, end] = [0, 1].map(|later| (group.window + later) * thresholds.window_ps);
            let bytes = group.bytes_until(end) - group.bytes_until(begin);
            let used = (bytes * self.settings.switch.byte_ps) as f64 / room as f64;
            if used > thresholds.on_millionths as f64 / 1e6 && group.selectable < all.len() as u8 {
                group.selectable += 1;
            } else if used < thresholds.off_millionths as f64 / 1e6 && group.selectable > 1 {
                group.selectable -= 1;
            }
            group.window += 1;
            group.sent.retain(|&(_, _, until)| until > end);
        }
        all.start..all.start + group.selectable
    }
}
