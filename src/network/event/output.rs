//! The output ports of a switch: packets that have crossed wait here for their link.

use super::packets::NONE;
use super::partition::Partition;
use super::time::Time;

impl<const EXTENDED: bool> Partition<'_, EXTENDED> {
    /// Puts the packet that has crossed to an output into its queue.
    pub(super) fn settle_coming(&mut self, output: u32) {
        let count = self.queues();
        let state = &mut self.ends[output as usize].port;
        if state.coming == NONE || state.output_busy_until > self.now {
            return;
        }
        let packet = std::mem::replace(&mut state.coming, NONE);
        let queue = state.coming_queue;
        state.crossed.push(&mut self.packets, packet, queue, count);
    }

    /// Queues of an output.
    pub(super) fn queues(&self) -> u8 {
        match self.buffers.as_ref() {
            Some(buffers) => buffers.count(),
            None => (self.lanes * self.radix) as u8,
        }
    }

    /// Gives the room of a packet free that has left an output.
    #[inline]
    pub(super) fn free_output(&mut self, output: u32) {
        let bytes = self.ends[output as usize].port.settle_output(self.now);
        if let Some(buffers) = self.buffers.as_mut().filter(|_| bytes > 0) {
            buffers.has_departed(output, bytes);
        }
    }

    /// Brings the buffer of an output up to date; whether it holds a packet.
    pub(super) fn settle_output(&mut self, output: u32) -> bool {
        self.free_output(output);
        self.settle_coming(output);
        let state = &self.ends[output as usize].port;
        if state.crossed.is_empty() && state.coming != NONE {
            let time = self.leaves_at(output);
            self.depart_at(output, time);
        }
        !self.ends[output as usize].port.crossed.is_empty()
    }

    /// Takes the packet that is next, to send it.
    pub(super) fn take(&mut self, output: u32, packet: u32) {
        let count = self.queues();
        let state = &mut self.ends[output as usize].port;
        if packet == state.coming {
            state.coming = NONE;
            state.crossed.pass(state.coming_queue, count);
        } else {
            state.crossed.take(&mut self.packets, packet, count);
        }
        let at = &mut self.packets[packet];
        at.lane = at.next_lane;
        state.departing = at.wire;
        state.departing_lane = at.lane;
        if let Some(buffers) = self.buffers.as_mut() {
            state.departing_lane = 0;
            buffers.begins_to_depart(output, at.lane);
        }
    }

    /// The packet that has just crossed to an output is alone there and may depart: it need
    /// not be put into its queue.
    #[inline]
    pub(super) fn comes_directly(&mut self, output: u32) -> bool {
        let state = &mut self.ends[output as usize].port;
        if self.buffers.is_some() {
            return false;
        }
        state.settle_output(self.now);
        let lane = u32::from(state.coming_queue) / self.by_radix;
        state.crossed.is_empty()
            && state.coming != NONE
            && state.output_busy_until <= self.now
            && state.paused & (1 << lane) == 0
    }

    /// When the packet that crosses to an output can leave by it: right behind the one
    /// before it, or with a clock edge.
    pub(super) fn leaves_at(&self, port: u32) -> Time {
        let state = &self.ends[port as usize].port;
        if state.output_busy_until <= state.busy_until {
            state.busy_until
        } else {
            self.edge(state.output_busy_until)
        }
    }
}
