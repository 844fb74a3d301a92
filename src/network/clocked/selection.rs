//! The selection functions as POWAR 3 has them, asked of the buffers as they are.

use std::collections::HashMap;
use std::ops::Range;

use super::Network;
use crate::network::selection::{Selection, Thresholds};

/// Ports to choose from in a window.
struct Group {
    selectable: u8,
    bytes: u64,
    window: u64,
}

/// What the selection functions remember.
#[derive(Default)]
pub(super) struct Memory {
    /// By switch.
    turns: HashMap<usize, u8>,
    /// By switch and the first port to choose from.
    groups: HashMap<(usize, u8), Group>,
}

impl Network<'_> {
    /// The port by which a packet leaves `switch` that the routing function sends to `port`.
    pub(super) fn select(&mut self, switch: usize, port: u8, wire: u32) -> u8 {
        let selection = self.settings.switch.selection;
        let all = self.topology.choices(switch, port);
        if selection == Selection::Fixed || all.len() == 1 {
            return port;
        }
        let choices = match selection {
            Selection::Powar(thresholds) => self.selectable(thresholds, switch, all, wire),
            _ => all,
        };
        let turn = self.memory.turns.get(&switch).copied().unwrap_or(0);
        // From the port whose turn it is, going round.
        let mut in_turn: Vec<u8> = self.links_on(switch, choices);
        in_turn.sort_by_key(|&port| (port < turn, port));
        let mut best: Option<(bool, u64, u8)> = None;
        for port in in_turn {
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
        let (_, _, chosen) = best.expect("there are choices");
        self.memory.turns.insert(switch, chosen + 1);
        chosen
    }

    /// How long it takes until a port has sent what is to leave by it, in ps.
    fn backlog(&self, switch: usize, port: u8) -> u64 {
        let number = switch * self.topology.radix() + usize::from(port);
        let state = &self.ports[number];
        let bytes = self.switches[switch].bytes_for(&self.packets, port.into());
        let parameters = &self.settings.switch;
        let waiting = (bytes - u64::from(state.sending)) * parameters.byte_ps;
        waiting + state.sent_at.saturating_sub(self.now)
    }

    /// The ports that POWAR lets a packet take, after it is counted.
    fn selectable(
        &mut self,
        thresholds: Thresholds,
        switch: usize,
        all: Range<u8>,
        wire: u32,
    ) -> Range<u8> {
        let now = self.now / thresholds.window_ps;
        let first = Group {
            selectable: all.len() as u8,
            bytes: 0,
            window: now,
        };
        let group = self.memory.groups.entry((switch, all.start));
        let group = group.or_insert(first);
        while group.window < now {
            let room = thresholds.window_ps * u64::from(group.selectable);
            let used = (group.bytes * self.settings.switch.byte_ps) as f64 / room as f64;
            if used > thresholds.on_millionths as f64 / 1e6 && group.selectable < all.len() as u8 {
                group.selectable += 1;
            } else if used < thresholds.off_millionths as f64 / 1e6 && group.selectable > 1 {
                group.selectable -= 1;
            }
            group.window += 1;
            group.bytes = 0;
        }
        group.bytes += u64::from(wire);
        all.start..all.start + group.selectable
    }
}
