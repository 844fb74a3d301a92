//! Dragonflies: Kim et al. 2008 (Zahn III.A), and the row-column Dragonfly (Georgakoudis Table V)
//! whose groups are grids.

use super::global_links::GlobalLinks;
use super::parameters::Parameters;
use super::{Hop, ParameterError, Shape, Topology};

/// Groups of `rows` times `columns` switches. A switch has a cable to every other switch of
/// its row, `column_cables` to every other switch of its column, and `global_ports` to
/// other groups. One row is the Dragonfly of Kim et al.
///
/// In a group the switches are numbered row by row. Ports: nodes, row, column, groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dragonfly {
    groups: usize,
    rows: usize,
    columns: usize,
    column_cables: usize,
    nodes_per_switch: usize,
    global_ports: usize,
    global: GlobalLinks,
}

impl Dragonfly {
    pub(super) fn new(parameters: &Parameters) -> Result<Self, ParameterError> {
        Self::of(parameters, 1, parameters.number("switches_per_group"), 1)
    }

    pub(super) fn row_column(parameters: &Parameters) -> Result<Self, ParameterError> {
        Self::of(
            parameters,
            parameters.number("rows"),
            parameters.number("columns"),
            parameters.number("ports_per_column_link"),
        )
    }

    fn of(
        parameters: &Parameters,
        rows: usize,
        columns: usize,
        column_cables: usize,
    ) -> Result<Self, ParameterError> {
        let groups = parameters.number("groups");
        let nodes_per_switch = parameters.number("nodes_per_switch");
        let global_ports = parameters.number("global_ports");
        let switches = rows * columns;
        let Some(global) = GlobalLinks::new(groups, switches, global_ports) else {
            let remedy = super::remedy("global_ports", (groups - 1).div_ceil(switches));
            return Err(ParameterError {
                key: "groups",
                problem: format!(
                    "groups is {groups}: a group of {switches} switches with {global_ports} \
                     global ports each has cables for at most {} groups; {groups} take {remedy}",
                    switches * global_ports + 1
                ),
            });
        };
        let dragonfly = Self {
            groups,
            rows,
            columns,
            column_cables,
            nodes_per_switch,
            global_ports,
            global,
        };
        super::fitting_radix("global_ports", dragonfly.radix())?;
        parameters.node_limit("groups", groups * switches, nodes_per_switch)?;
        Ok(dragonfly)
    }

    fn column_port(&self) -> usize {
        self.nodes_per_switch + self.columns - 1
    }

    fn global_port(&self) -> usize {
        self.column_port() + (self.rows - 1) * self.column_cables
    }

    /// The next switch of a group on the way to another one: along the row, then along the
    /// column.
    fn step(&self, from: usize, to: usize) -> usize {
        if from % self.columns == to % self.columns {
            to
        } else {
            from - from % self.columns + to % self.columns
        }
    }

    /// The port to another switch in the same row or column; `destination` chooses among
    /// several cables.
    fn local_port(&self, from: usize, to: usize, destination: usize) -> usize {
        let index = |from: usize, to: usize| to - usize::from(to > from);
        let (row, column) = (from / self.columns, from % self.columns);
        if to / self.columns == row {
            self.nodes_per_switch + index(column, to % self.columns)
        } else {
            self.column_port()
                + index(row, to / self.columns) * self.column_cables
                + destination % self.column_cables
        }
    }

    /// Cables between two switches of a group.
    fn local_hops(&self, from: usize, to: usize) -> u8 {
        u8::from(from % self.columns != to % self.columns)
            + u8::from(from / self.columns != to / self.columns)
    }

    /// Group, and number in it, of the switch of a node, and the node's number in the group.
    fn place(&self, node: usize) -> (usize, usize, usize) {
        let nodes = self.group_size() * self.nodes_per_switch;
        let local = node % nodes;
        (node / nodes, local / self.nodes_per_switch, local)
    }
}

impl Topology for Dragonfly {
    fn nodes(&self) -> usize {
        self.switches() * self.nodes_per_switch
    }

    fn switches(&self) -> usize {
        self.groups * self.group_size()
    }

    fn radix(&self) -> usize {
        self.global_port() + self.global_ports
    }

    fn lanes(&self) -> usize {
        if self.groups > 1 {
            2
        } else {
            1
        }
    }

    fn shape(&self) -> Shape {
        match self.groups {
            1 => Shape::Other,
            _ => Shape::Dragonfly,
        }
    }

    fn nodes_per_switch(&self) -> usize {
        self.nodes_per_switch
    }

    fn switch_of(&self, node: usize) -> usize {
        node / self.nodes_per_switch
    }

    fn peer(&self, port: usize) -> Option<usize> {
        let radix = self.radix();
        if port >= self.switch_ports() {
            let node = port - self.switch_ports();
            return Some(self.switch_of(node) * radix + node % self.nodes_per_switch);
        }
        let (switch, port) = (port / radix, port % radix);
        let (group, here) = (switch / self.group_size(), switch % self.group_size());
        let other = |at: usize, index: usize| index + usize::from(index >= at);
        if port < self.nodes_per_switch {
            return Some(self.nic(switch * self.nodes_per_switch + port));
        }
        if let Some(port) = port.checked_sub(self.global_port()) {
            let (group, back) = self.global.peer(group, here * self.global_ports + port)?;
            let switch = group * self.group_size() + back / self.global_ports;
            return Some(switch * radix + self.global_port() + back % self.global_ports);
        }
        let (row, column) = (here / self.columns, here % self.columns);
        let (there, cable) = match port.checked_sub(self.column_port()) {
            Some(port) => (
                other(row, port / self.column_cables) * self.columns + column,
                port % self.column_cables,
            ),
            None => (
                row * self.columns + other(column, port - self.nodes_per_switch),
                0,
            ),
        };
        let back = self.local_port(there, here, cable);
        Some((group * self.group_size() + there) * radix + back)
    }

    /// Minimal (Zahn III.A, after Kim et al.): to the switch whose cable leads to the
    /// destination's group, across, to the destination's switch; at most one way across. In
    /// a group, along the row, then along the column. A switch that has a cable to the
    /// destination's group uses it. Lane 0 up to the cable between the groups, lane 1 after.
    fn route(&self, switch: usize, input: usize, lane: u8, destination: usize) -> Hop {
        let (group, here) = (switch / self.group_size(), switch % self.group_size());
        let (target, there, local) = self.place(destination);
        let (port, lane) = if group == target {
            let lane = if input >= self.global_port() { 1 } else { lane };
            if here == there {
                (local % self.nodes_per_switch, lane)
            } else {
                (self.local_port(here, self.step(here, there), local), lane)
            }
        } else {
            let distance = self.global.distance(group, target);
            let port = match self.global.own_port(here, distance, local) {
                Some(port) => self.global_port() + port % self.global_ports,
                None => {
                    let gateway = self.global.port(distance, local) / self.global_ports;
                    self.local_port(here, self.step(here, gateway), local)
                }
            };
            (port, lane)
        };
        Hop {
            port: port as u8,
            lane,
        }
    }

    fn hops(&self, source: usize, destination: usize) -> u8 {
        if source == destination {
            return 0;
        }
        let (group, mut here, _) = self.place(source);
        let (target, there, local) = self.place(destination);
        if group == target {
            return 2 + self.local_hops(here, there);
        }
        let distance = self.global.distance(group, target);
        let gateway = self.global.port(distance, local);
        let mut hops = 3;
        let port = loop {
            if let Some(port) = self.global.own_port(here, distance, local) {
                break port;
            }
            here = self.step(here, gateway / self.global_ports);
            hops += 1;
        };
        let (_, arrival) = self
            .global
            .peer(group, port)
            .expect("a packet leaves through a port with a cable");
        hops + self.local_hops(arrival / self.global_ports, there)
    }

    fn group_size(&self) -> usize {
        self.rows * self.columns
    }

    /// A group: all are wired alike, but its switches are not.
    fn representatives(&self) -> usize {
        self.group_size() * self.nodes_per_switch
    }

    fn classes(&self) -> Vec<String> {
        let mut classes = vec!["node to switch", "switch to node", "in a row"];
        if self.rows == 1 {
            classes[2] = "in a group";
        } else {
            classes.push("in a column");
        }
        classes.push("between groups");
        classes.into_iter().map(String::from).collect()
    }

    fn class(&self, port: usize) -> usize {
        if port >= self.switch_ports() {
            return 0;
        }
        let port = port % self.radix();
        [
            self.nodes_per_switch,
            self.column_port(),
            self.global_port(),
        ]
        .iter()
        .filter(|&&first| port >= first)
        .count()
            + 1
            - usize::from(self.rows == 1 && port >= self.global_port())
    }
}
