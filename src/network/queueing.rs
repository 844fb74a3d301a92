//! Queueing schemes: the buffers of a port divided into queues, and in which of them a packet waits
//! (Zahn II.B, III.C); and the virtual channels of Duato's protocol, which are such queues (POWAR 3).
//!
//! Packets of one queue leave it in the order in which they came, and one that cannot go on holds up
//! those behind it. A scheme is there so that these are few. Every lane of the topology has queues of its
//! own, so that what keeps lanes free of deadlock keeps queues free of it. With Duato's protocol lane 0
//! is that of the adaptive channels, and the lanes of the topology, which follow, are the escape channels.

use super::parameters::{ParameterError, Parameters, Queueing};
use super::selection::{Channels, Selection};
use super::topology::{Hop, Shape, Topology};

/// Most queues of a buffer: a set of them is a word.
pub const MAX_QUEUES: usize = 64;

/// Queues of a scheme that a lane has.
fn queues_of(scheme: Queueing, topology: &dyn Topology, lane: usize) -> usize {
    match scheme {
        Queueing::One => 1,
        Queueing::PerOutput => topology.radix(),
        Queueing::PerNode => topology.nodes(),
        Queueing::ByDestination { queues } | Queueing::ByGroups { queues } => queues.into(),
        Queueing::Adaptive { queues } if lane == 0 => queues.into(),
        Queueing::Adaptive { .. } => 1,
        Queueing::PerDimension => match topology.shape() {
            Shape::Grid { dimensions } => dimensions + 1,
            _ => 1,
        },
        Queueing::TwoLevels { queues, .. } if lane == 0 => queues.into(),
        Queueing::TwoLevels { escape_queues, .. } => escape_queues.into(),
    }
}

/// The queues of every buffer of a network. They are numbered through: those of lane 0, then those of
/// lane 1.
#[derive(Clone, Copy, Debug)]
pub struct Queues<'t> {
    topology: &'t dyn Topology,
    scheme: Queueing,
    /// Of lane 0, and of each lane after it.
    per_lane: [usize; 2],
    count: usize,
}

impl<'t> Queues<'t> {
    /// The queues of a network with such switches; `None` if no scheme divides their buffers.
    ///
    /// # Errors
    /// If the scheme does not fit the network, or a queue would not hold the largest packet.
    pub fn of(
        topology: &'t dyn Topology,
        switch: &Parameters,
    ) -> Result<Option<Self>, ParameterError> {
        let fail = |key, problem| Err(ParameterError { key, problem });
        let Some(scheme) = switch.queueing else {
            return Ok(None);
        };
        let is_adaptive = matches!(scheme, Queueing::Adaptive { .. });
        if is_adaptive == (switch.selection == Selection::Fixed) {
            let problem = match is_adaptive {
                true => {
                    "a selection function chooses among the ports that lead nearer to the \
                         destination; give selection = \"round-robin\", \"first-on\", \"powar\" or \"alonso\""
                }
                false => {
                    "a packet is put into the queue of the one way that it will go; give \
                          selection = \"fixed\""
                }
            };
            return fail("queueing", problem.into());
        }
        let queues = match Queues::new(topology, scheme) {
            Ok(queues) => queues,
            Err(problem) => return fail("queueing", problem),
        };
        let (bytes, largest) = (
            switch.queue as usize / queues.count,
            switch.largest() as usize,
        );
        if bytes < largest {
            let problem = format!(
                "each of the {} queues of {} would have {bytes} bytes; at least {} give each one room \
                 for the largest packet ({largest} bytes)",
                queues.count,
                scheme.name(),
                queues.count * largest
            );
            return fail("queue_bytes", problem);
        }
        Ok(Some(queues))
    }

    /// The queues of a scheme.
    ///
    /// # Errors
    /// If the scheme is made for other networks, has more queues than there are nodes, or would have more than
    /// [`MAX_QUEUES`].
    pub fn new(topology: &'t dyn Topology, scheme: Queueing) -> Result<Self, String> {
        let made_for = |networks: &str| {
            Err(format!(
                "{} is made for {networks}, which this network is not; 1q, voqsw and dbbm are for all",
                scheme.name()
            ))
        };
        match (scheme, topology.shape()) {
            (Queueing::PerDimension, Shape::Grid { .. }) => {}
            (Queueing::PerDimension, _) => {
                return made_for("networks with dimensions (torus, hyperx)")
            }
            (Queueing::Adaptive { .. }, Shape::Grid { .. }) => {}
            (Queueing::Adaptive { .. }, _) => {
                return Err(format!(
                    "{} is made for networks with dimensions (torus, hyperx), which this network is not; \
                     in a fat tree a selection function needs no virtual channels",
                    scheme.name()
                ))
            }
            (Queueing::ByGroups { .. }, Shape::FatTree) => {}
            (Queueing::ByGroups { .. }, _) => return made_for("fat trees (k-ary-n-tree, rlft)"),
            (Queueing::TwoLevels { .. }, Shape::Dragonfly) => {}
            (Queueing::TwoLevels { .. }, _) => {
                return made_for("Dragonflies of several groups (dragonfly, rc-dragonfly)")
            }
            _ => {}
        }
        let queues = match scheme {
            Queueing::ByDestination { queues }
            | Queueing::ByGroups { queues }
            | Queueing::Adaptive { queues } => queues,
            Queueing::TwoLevels {
                queues,
                escape_queues,
            } => queues.max(escape_queues),
            _ => 0,
        };
        // A queue for no destination stays empty, and takes the room of another.
        if usize::from(queues) > topology.nodes() {
            return Err(format!(
                "{} has {queues} queues for {} nodes; give as many or fewer",
                scheme.name(),
                topology.nodes()
            ));
        }
        let is_adaptive = matches!(scheme, Queueing::Adaptive { .. });
        let lanes = topology.lanes() + usize::from(is_adaptive);
        let per_lane = [0, 1].map(|lane| queues_of(scheme, topology, lane));
        let count = per_lane[0] + (lanes - 1) * per_lane[1];
        if count > MAX_QUEUES {
            return Err(format!(
                "{} has {count} queues here; a buffer can have {MAX_QUEUES}",
                scheme.name()
            ));
        }
        Ok(Self {
            topology,
            scheme,
            per_lane,
            count,
        })
    }

    /// Queues of a buffer.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The lane of a queue.
    pub fn lane(&self, queue: u8) -> u8 {
        match usize::from(queue).checked_sub(self.per_lane[0]) {
            None => 0,
            Some(later) => 1 + (later / self.per_lane[1]) as u8,
        }
    }

    /// The queue at the other end of its link for a packet that leaves the NIC of `source`.
    pub fn first(&self, source: usize, destination: usize) -> u8 {
        if let Queueing::ByGroups { queues } = self.scheme {
            let queues = usize::from(queues);
            let group = |node: usize| node * queues / self.topology.nodes();
            return ((group(destination) + queues - group(source)) % queues) as u8;
        }
        self.at_end(self.topology.nic(source), 0, destination)
    }

    /// The queue at the other end of its link for a packet that has come to `switch` in queue `before`
    /// and leaves it by `hop`.
    pub fn next(&self, before: u8, switch: usize, hop: Hop, destination: usize) -> u8 {
        if let Queueing::ByGroups { .. } = self.scheme {
            return before;
        }
        let port = switch * self.topology.radix() + usize::from(hop.port);
        self.at_end(port, hop.lane, destination)
    }

    /// What a packet in `switch` chooses from by Duato's protocol; `None` if there is nothing to choose:
    /// without that protocol, and at the switch of its destination.
    pub fn channels(&self, switch: usize, destination: usize) -> Option<Channels> {
        let Queueing::Adaptive { queues } = self.scheme else {
            return None;
        };
        let nearer = self.topology.nearer(switch, destination);
        let Hop { port, lane } = self.topology.escape(switch, destination);
        (nearer != 0).then_some(Channels {
            nearer,
            adaptive: (destination % usize::from(queues)) as u8,
            escape: port,
            escape_queue: queues + lane,
        })
    }

    /// The queue at the other end of the link that begins at `port`, on `lane`.
    fn at_end(&self, port: usize, lane: u8, destination: usize) -> u8 {
        let lane = usize::from(lane);
        let first = match lane {
            0 => 0,
            _ => self.per_lane[0] + (lane - 1) * self.per_lane[1],
        };
        let queues = self.per_lane[lane.min(1)];
        let queue = match self.scheme {
            Queueing::One | Queueing::ByGroups { .. } => 0,
            Queueing::PerNode
            | Queueing::ByDestination { .. }
            | Queueing::TwoLevels { .. }
            | Queueing::Adaptive { .. } => destination % queues,
            Queueing::PerOutput => self.output_at_end(port, lane, destination).unwrap_or(0),
            Queueing::PerDimension => match self.output_at_end(port, lane, destination) {
                // The classes of ports in a grid are the NICs, those to nodes, and the dimensions.
                Some(output) => {
                    let radix = self.topology.radix();
                    let switch = self.topology.peer(port).map_or(0, |end| end / radix);
                    let class = self.topology.class(switch * radix + output);
                    class.checked_sub(2).unwrap_or(queues - 1)
                }
                None => 0,
            },
        };
        (first + queue) as u8
    }

    /// The port by which a packet leaves the switch at the other end of a link; `None` at a node.
    fn output_at_end(&self, port: usize, lane: usize, destination: usize) -> Option<usize> {
        let end = self.topology.peer(port)?;
        let (switch, input) = (end / self.topology.radix(), end % self.topology.radix());
        let switch = Some(switch).filter(|_| end < self.topology.switch_ports())?;
        let hop = self.topology.route(switch, input, lane as u8, destination);
        Some(hop.port.into())
    }
}

#[cfg(test)]
mod tests;
