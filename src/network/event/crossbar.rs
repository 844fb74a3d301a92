//! The crossbar of a switch: which packet crosses next.

use super::events::{event, EventKind};
use super::packets::{Age, List};
use super::partition::Partition;
use super::time::Time;
use crate::network::parameters::Aging;
use crate::network::selection::Request;

/// A packet that may cross.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) packet: u32,
    /// The packet before it in the list of its output.
    pub(super) before: Option<u32>,
    /// Number of its output in the partition.
    pub(super) output: u32,
    pub(super) age: Age,
}

impl Candidate {
    /// It is older than `other`.
    pub(super) fn is_older(&self, other: &Candidate) -> bool {
        self.age.is_before(other.age)
    }
}

impl<const EXTENDED: bool> Partition<'_, EXTENDED> {
    pub(super) fn packet_arrives(&mut self, port: u32, packet: u32) {
        self.tally.packet_hops += 1;
        let switch = port / self.by_radix;
        if self.selector.is_some() && !self.buffers.is_some() {
            self.select(switch, packet);
        }
        let crossbar = &mut self.crossbars[switch as usize];
        let header = &mut self.packets[packet];
        if self.common.parameters.aging == Aging::Switch {
            header.set_age(crossbar.arrivals);
        }
        crossbar.arrivals += 1;
        if self.buffers.is_some() {
            return self.arrives_in_queue(port, packet);
        }
        crossbar.wanted |= 1 << header.output;
        let output = switch * self.radix + u32::from(header.output);
        let lane = header.next_lane as usize;
        let output_port = &mut self.ends[output as usize].port;
        output_port.wanted_by[lane].push(&mut self.packets, packet);
        self.arbitrate_output(switch, output);
    }

    /// Has the selection function choose the port by which a packet leaves.
    #[cold]
    fn select(&mut self, switch: u32, packet: u32) {
        let Some(mut selector) = self.selector.take() else {
            return;
        };
        let number = self.numbering.switches_of[self.number][switch as usize] as usize;
        let choices = (self.common.topology).choices(number, self.packets[packet].output);
        let wire = self.packets[packet].wire;
        let on = self.ports_on(switch);
        if !choices.clone().any(|port| on >> port & 1 == 1) {
            self.has_no_way(switch, choices.start);
        }
        let request = Request {
            now: self.now.0,
            switch: switch as usize,
            #[cfg(test)]
            input: self.packets[packet].input,
            on,
            wire,
        };
        let output = selector.choose(request, choices, |port| self.is_awake(port));
        self.packets[packet].output = output;
        self.selector.put_back(selector);
    }

    /// Whether the link of a port lets packets leave.
    pub(super) fn is_awake(&mut self, port: usize) -> bool {
        let cycle = self.cycle(self.now);
        let awake = self.ends[port].controller.may_send(cycle);
        self.reschedule(port as u32);
        awake
    }

    /// Has a switch look at `time`, or earlier, what may cross.
    pub(super) fn arbitrate_at(&mut self, switch: u32, time: Time) {
        let crossbar = &mut self.crossbars[switch as usize];
        if time < crossbar.arbitrates_at {
            crossbar.arbitrates_at = time;
            self.wheel
                .schedule(event(time, EventKind::Arbitrate, switch, 0));
        }
    }

    /// Lets packets cross, the oldest first, until none can; and sees to it that the rest
    /// is looked at again when an input or an output gets free.
    pub(super) fn arbitrate(&mut self, switch: u32) {
        let first = switch * self.radix;
        loop {
            // The oldest packet of each output that may cross, and the oldest of these.
            let mut best: Option<Candidate> = None;
            let mut next = Time::NEVER;
            let mut wanted = self.crossbars[switch as usize].wanted;
            while wanted != 0 {
                let output = first + wanted.trailing_zeros();
                wanted &= wanted - 1;
                match self.oldest(switch, output) {
                    Ok(candidate) => {
                        if best.is_none_or(|best| candidate.is_older(&best)) {
                            best = Some(candidate);
                        }
                    }
                    Err(time) => next = next.min(time),
                }
            }
            let Some(best) = best else {
                if next != Time::NEVER {
                    self.arbitrate_at(switch, next);
                }
                return;
            };
            self.grant(switch, best);
            if self.crossbars[switch as usize].wanted == 0 {
                return;
            }
        }
    }

    /// A packet that wants to cross to `output` has arrived. Those for other outputs still wait
    /// for what they have waited for: until a time at which they are looked at, or for an older
    /// packet that does not fit, unless the input of that one gets busy now.
    pub(super) fn arbitrate_output(&mut self, switch: u32, output: u32) {
        if self.crossbars[switch as usize].arbitrates_at <= self.now {
            return self.arbitrate(switch);
        }
        let next = match self.oldest(switch, output) {
            Ok(candidate) => {
                self.grant(switch, candidate);
                if self.crossbars[switch as usize].held != 0 {
                    return self.arbitrate(switch);
                }
                let state = &self.ends[output as usize].port;
                match state.is_wanted() {
                    true => state.output_busy_until,
                    false => Time::NEVER,
                }
            }
            Err(time) => time,
        };
        if next != Time::NEVER {
            self.arbitrate_at(switch, next);
        }
    }

    /// The oldest packet that may cross to `output` now, or when to look again; [`Time::NEVER`]: when
    /// a packet has departed.
    #[inline]
    pub(super) fn oldest(&mut self, switch: u32, output: u32) -> Result<Candidate, Time> {
        if self.buffers.is_some() {
            return self.oldest_of_queues(switch, output);
        }
        let now = self.now;
        let state = &mut self.ends[output as usize].port;
        if state.output_busy_until > now {
            return Err(state.output_busy_until);
        }
        state.settle_output(now);
        let state = &self.ends[output as usize].port;
        let mut next = Time::NEVER;
        let mut best: Option<Candidate> = None;
        let mut held = false;
        for (list, used) in state.wanted_by.iter().zip(state.output_used) {
            let mut before = None;
            for mut packet in list.iter(&self.packets) {
                let at = &self.packets[packet];
                let input = switch * self.radix + u32::from(at.input);
                let input_busy_until = self.ends[input as usize].port.input_busy_until;
                if input_busy_until > now {
                    next = next.min(input_busy_until);
                    before = Some(packet);
                    continue;
                }
                // The list is in the order of arrival, which is that of age in this switch.
                if self.common.parameters.aging == Aging::Network {
                    let (first, free) = self.oldest_first((before, packet), list, switch);
                    (before, packet) = first;
                    next = next.min(free);
                }
                let at = &self.packets[packet];
                if used + at.wire > self.common.parameters.queue {
                    // Younger ones do not overtake it: the next departure makes room, and has
                    // the switch look again. Those for another lane do, or lanes would block
                    // each other.
                    if state.departing > 0 {
                        next = next.min(state.busy_until);
                    }
                    held = true;
                    break;
                }
                let candidate = Candidate {
                    packet,
                    before,
                    output,
                    age: at.age(),
                };
                if best.is_none_or(|best| candidate.is_older(&best)) {
                    best = Some(candidate);
                }
                break;
            }
        }
        self.notes_held(switch, output, held);
        best.ok_or(next)
    }

    /// Whether packets for an output wait behind one that does not fit.
    #[inline]
    pub(super) fn notes_held(&mut self, switch: u32, output: u32, held: bool) {
        let bit = 1 << (output - switch * self.radix);
        let crossbar = &mut self.crossbars[switch as usize];
        crossbar.held = match held {
            true => crossbar.held | bit,
            false => crossbar.held & !bit,
        };
    }

    /// Of the packets in the list of an output the oldest that is the first of its input and whose
    /// input is free, behind the one before it in the list; `oldest` is the first one with a free
    /// input. And the earliest time at which an input gets free that holds some of them.
    #[cold]
    #[inline(never)]
    pub(super) fn oldest_first(
        &self,
        mut oldest: (Option<u32>, u32),
        list: &List,
        switch: u32,
    ) -> ((Option<u32>, u32), Time) {
        let mut next = Time::NEVER;
        let mut before = None;
        // Inputs of which the list has had a packet.
        let mut had = 0u64;
        for packet in list.iter(&self.packets) {
            let at = &self.packets[packet];
            let behind = before.replace(packet);
            let input = switch * self.radix + u32::from(at.input);
            let busy_until = self.ends[input as usize].port.input_busy_until;
            if busy_until > self.now {
                next = next.min(busy_until);
                continue;
            }
            let first = had & (1 << at.input) == 0;
            had |= 1 << at.input;
            if first && at.age().is_before(self.packets[oldest.1].age()) {
                oldest = (behind, packet);
            }
        }
        (oldest, next)
    }

    /// Lets a packet cross.
    pub(super) fn grant(&mut self, switch: u32, candidate: Candidate) {
        let Candidate {
            packet,
            before,
            output,
            ..
        } = candidate;
        let now = self.now;
        let at = self.packets[packet];
        let until = now + self.common.parameters.crossbar_time(at.wire);
        let next_buffer = self.buffer_of(at.next_lane);
        let state = &mut self.ends[output as usize].port;
        state.wanted_by[next_buffer].take_after(&mut self.packets, before);
        if !state.is_wanted() {
            let bit = 1 << (output - switch * self.radix);
            self.crossbars[switch as usize].wanted &= !bit;
        }
        let input = switch * self.radix + u32::from(at.input);
        let buffer = self.buffer_of(at.lane) as u8;
        let state = &mut self.ends[input as usize].port;
        state.settle_input(now);
        state.input_busy_until = until;
        state.crossing = at.wire;
        state.crossing_lane = buffer;
        if state.stopped != 0 {
            self.wheel
                .schedule(event(until, EventKind::Release, input, 0));
        }
        self.settle_coming(output);
        let state = &mut self.ends[output as usize].port;
        state.output_busy_until = until;
        state.coming = packet;
        state.coming_queue = match self.buffers.is_some() {
            true => at.next_lane,
            false => at.next_lane * self.radix as u8 + at.input,
        };
        let used = &mut state.output_used[next_buffer];
        *used += at.wire;
        state.highest_output = state.highest_output.max(*used);
        if self.link_lanes().is_some() {
            self.tell_backlog(output);
        }
        if self.buffers.is_some() {
            self.crosses_from_queue(switch, packet, until);
        }
        let state = &self.ends[output as usize].port;
        if !state.waits || self.lanes > 1 || self.buffers.is_some() {
            let time = self.leaves_at(output);
            self.depart_at(output, time);
        }
    }
}
