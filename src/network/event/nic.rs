//! The NICs: messages become packets, and packets messages.

use super::devices::Sending;
use super::packets::Packet;
use super::partition::Partition;
use crate::network::parameters::AGE_PS;
use crate::network::traffic::Outgoing;

impl<const EXTENDED: bool> Partition<'_, EXTENDED> {
    /// The next packet of a NIC's first message.
    pub(super) fn cut_packet(&mut self, port: u32) -> u32 {
        let node = (port - self.switch_ports()) as usize;
        let parameters = &self.common.parameters;
        let nic = &mut self.nics[node];
        let sending = nic.first.as_mut().expect("looked at by the caller");
        let payload = sending.left.min(parameters.payload().into()) as u32;
        sending.left -= u64::from(payload);
        let last = sending.left == 0;
        let Sending {
            message, generated, ..
        } = *sending;
        let wire = parameters.wire(payload);
        let due = nic.due.max(generated + parameters.nic_ps);
        nic.due = due + parameters.link_time(wire);
        if last {
            nic.pop();
        }
        let source = self.numbering.nodes_of[self.number][node] as usize;
        let hops = self
            .common
            .topology
            .hops(source, message.destination as usize);
        let mut packet = Packet::new(message.destination, wire, payload, hops, generated);
        packet.message_bytes = message.bytes;
        packet.from = message.from;
        packet.to = message.to;
        packet.tag = message.tag;
        packet.ends_message = last;
        packet.set_age(due.0 / AGE_PS);
        self.packets.add(packet)
    }

    /// A packet has arrived at its node.
    pub(super) fn deliver(&mut self, packet: u32) {
        let packet = self.packets.remove(packet);
        let tally = &mut self.tally;
        tally.packet_hops += 1;
        tally.packets += 1;
        tally.bytes += u64::from(packet.payload);
        let latency = self.now - packet.generated;
        if let Some(samples) = &mut self.samples {
            samples.received(self.now, packet.payload, latency);
        }
        if packet.generated.0 >= self.common.warm_up_ps {
            tally.latency.record(latency).expect("it grows as needed");
            tally.latency_sum += u128::from(latency);
            tally.latency_max = tally.latency_max.max(latency);
        }
        let is_whole = match self.unfinished.as_mut() {
            Some(unfinished) => unfinished.arrives(&packet),
            // The last one that was cut is the last one to arrive.
            None => packet.ends_message,
        };
        if is_whole {
            let message = Outgoing {
                destination: packet.destination,
                bytes: packet.message_bytes,
                from: packet.from,
                to: packet.to,
                tag: packet.tag,
            };
            self.message_complete(message);
        }
    }

    /// A message has arrived completely at a node of this partition.
    pub(super) fn message_complete(&mut self, message: Outgoing) {
        self.tally.messages += 1;
        self.tally.last_ps = self.now.0;
        if let Some(mut traffic) = self.traffic.take() {
            traffic.arrived(message, self);
            self.complete = traffic.is_complete();
            self.traffic = Some(traffic);
        }
    }

    /// The traffic of a node asked to be called now.
    pub(super) fn call_traffic(&mut self, node: u32, value: u32) {
        self.calls -= 1;
        self.tally.last_ps = self.now.0;
        if let Some(mut traffic) = self.traffic.take() {
            traffic.act(node, value, self);
            self.complete = traffic.is_complete();
            self.traffic = Some(traffic);
        }
    }

    /// A message between ranks of one node arrives.
    pub(super) fn deliver_local(&mut self, node: u32) {
        if let Some(message) = self.nics[node as usize].local.pop_front() {
            self.message_complete(message);
        }
    }
}
