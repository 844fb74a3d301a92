//! Trees whose bandwidth is the same at every level: k-ary n-trees (Alonso 2) and real-life
//! fat trees (RLFT; PerfBound 4.2, Zahavi 2011).

use std::ops::Range;

use super::parameters::Parameters;
use super::{Hop, ParameterError, Shape, Topology};

/// A tree of `levels` levels of switches with `k` ports down and `k` ports up. The top
/// switches of an RLFT use all their ports downwards, those of a k-ary n-tree have no cable
/// at the upper half.
///
/// Write a node as `levels` digits of base `k` (the highest one up to `top`), the lowest
/// first. A subtree of height `l` is the nodes that share all digits from `l` on; it has
/// `k^(l-1)` switches at its top. The parent of the `y`th of them at port `u` is the
/// `y + u * k^(l-1)`th of the next higher subtree. This is the labelling of Alonso 2.
///
/// Switches are numbered subtree by subtree, the switches at a subtree's top last. Ports:
/// `0..k` down (`0..2k` at the top of an RLFT), `k..2k` up.
///
/// A pruned RLFT has fewer subtrees below its top than a top switch has ports. Then one top switch
/// stands for `cables` of those that the whole tree would have, and has so many cables to each
/// subtree, to as many switches of it: the bandwidth is still the same at every level.
#[derive(Clone, Debug)]
pub(super) struct FatTree {
    k: usize,
    /// `k` to the power of 0 to `levels - 1`.
    powers: Vec<usize>,
    /// Subtrees below the top switches.
    top: usize,
    /// Cables of a top switch to each of them.
    cables: usize,
    /// By number of the switch.
    places: Vec<Place>,
}

/// Where a switch is.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// 0 at the leaves.
    level: u8,
    /// The first node of its subtree, and the one after the last.
    nodes: (u32, u32),
    /// Which of the top switches of its subtree it is.
    index: u32,
}

impl FatTree {
    /// The k-ary n-tree of Alonso 2.
    pub(super) fn k_ary_n_tree(parameters: &Parameters) -> Result<Self, ParameterError> {
        let (k, n) = (parameters.number("k"), parameters.number("n"));
        Self::new(k, n, (k, 1), ("k", "n"))
    }

    /// The RLFT of PerfBound Table 7, pruned if it has fewer subtrees than a switch has ports
    /// (Georgakoudis Table V).
    pub(super) fn rlft(parameters: &Parameters) -> Result<Self, ParameterError> {
        let k = parameters.half_radix()?;
        let levels = parameters.number("levels");
        let subtrees = parameters.given("subtrees").unwrap_or(2 * k);
        // The switches at the top of a subtree, each with `k` cables up.
        let tops = k.checked_pow(levels as u32 - 1);
        let possible = |&subtrees: &usize| {
            (2 * k).is_multiple_of(subtrees)
                && tops.is_none_or(|tops| tops.is_multiple_of(2 * k / subtrees))
        };
        if !possible(&subtrees) {
            let all: Vec<String> = (2..=2 * k)
                .filter(possible)
                .map(|subtrees| subtrees.to_string())
                .collect();
            return Err(ParameterError {
                key: "subtrees",
                problem: format!(
                    "subtrees is {subtrees}: a top switch divides its {} ports among the subtrees, as many \
                     to each; with this radix and levels = {levels} there can be {}",
                    2 * k,
                    all.join(", ")
                ),
            });
        }
        Self::new(k, levels, (subtrees, 2 * k / subtrees), ("radix", "levels"))
    }

    fn new(
        k: usize,
        levels: usize,
        (top, cables): (usize, usize),
        (width, height): (&'static str, &'static str),
    ) -> Result<Self, ParameterError> {
        super::fitting_radix(width, 2 * k)?;
        let nodes = |levels: usize| top.checked_mul(k.checked_pow(levels as u32 - 1)?);
        let fits = |levels: &usize| nodes(*levels).is_some_and(|nodes| nodes <= super::MAX_NODES);
        if !fits(&levels) {
            let most = (1..levels).rev().find(fits).unwrap_or(1);
            return Err(ParameterError {
                key: height,
                problem: format!(
                    "{height} is {levels}: the network would have more than {} nodes; with this \
                     {width} at most {most} levels stay below",
                    super::MAX_NODES
                ),
            });
        }
        let mut tree = Self {
            k,
            powers: (0..levels).map(|power| k.pow(power as u32)).collect(),
            top,
            cables,
            places: Vec::new(),
        };
        tree.plant(levels - 1, 0);
        Ok(tree)
    }

    /// Appends the switches of the subtree below and at `level` that begins at `first`.
    fn plant(&mut self, level: usize, first: usize) {
        let span = self.powers[level];
        let children = self.children(level);
        if level > 0 {
            for child in 0..children {
                self.plant(level - 1, first + child * span);
            }
        }
        self.places.extend((0..self.tops(level)).map(|index| Place {
            level: level as u8,
            nodes: (first as u32, (first + children * span) as u32),
            index: index as u32,
        }));
    }

    fn is_top(&self, level: usize) -> bool {
        level + 1 == self.powers.len()
    }

    /// Subtrees, or nodes, below each switch at `level`.
    fn children(&self, level: usize) -> usize {
        match self.is_top(level) {
            true => self.top,
            false => self.k,
        }
    }

    /// Cables from a switch at `level` to each of them.
    fn cables(&self, level: usize) -> usize {
        match self.is_top(level) {
            true => self.cables,
            false => 1,
        }
    }

    /// Ports down of a switch at `level`.
    fn ports_down(&self, level: usize) -> usize {
        self.children(level) * self.cables(level)
    }

    /// Switches at the top of a subtree whose top is at `level`.
    fn tops(&self, level: usize) -> usize {
        self.powers[level] / self.cables(level)
    }

    /// Switches of a subtree whose top is at `level`, below the top of the tree.
    fn subtree(&self, level: usize) -> usize {
        (level + 1) * self.powers[level]
    }

    /// Number of the `index`th of the switches at `level` above `node`.
    fn number(&self, level: usize, node: usize, index: usize) -> usize {
        let mut number = index;
        let mut node = node;
        for above in (level + 1..self.powers.len()).rev() {
            number += node / self.powers[above] * self.subtree(above - 1);
            node %= self.powers[above];
        }
        if level > 0 {
            number += self.children(level) * self.subtree(level - 1);
        }
        number
    }
}

impl Topology for FatTree {
    fn nodes(&self) -> usize {
        self.top * self.powers[self.powers.len() - 1]
    }

    fn switches(&self) -> usize {
        self.places.len()
    }

    fn group_size(&self) -> usize {
        let below = self.powers.len().checked_sub(2);
        below.map_or(1, |level| self.subtree(level))
    }

    fn radix(&self) -> usize {
        2 * self.k
    }

    fn shape(&self) -> Shape {
        Shape::FatTree
    }

    fn nodes_per_switch(&self) -> usize {
        self.children(0)
    }

    fn switch_of(&self, node: usize) -> usize {
        self.number(0, node, 0)
    }

    fn peer(&self, port: usize) -> Option<usize> {
        let radix = self.radix();
        if port >= self.switch_ports() {
            let node = port - self.switch_ports();
            let leaf = self.switch_of(node);
            return Some(leaf * radix + node - self.places[leaf].nodes.0 as usize);
        }
        let place = self.places[port / radix];
        let (level, index) = (usize::from(place.level), place.index as usize);
        let first = place.nodes.0 as usize;
        let port = port % radix;
        if port >= self.ports_down(level) {
            if self.is_top(level) {
                return None;
            }
            // The place of the parent in a tree that is not pruned.
            let place = index + (port - self.k) * self.powers[level];
            let cables = self.cables(level + 1);
            let parent = self.number(level + 1, first, place / cables);
            let child = (first - self.places[parent].nodes.0 as usize) / self.powers[level + 1];
            return Some(parent * radix + child * cables + place % cables);
        }
        let cables = self.cables(level);
        let node = first + port / cables * self.powers[level];
        if level == 0 {
            return Some(self.nic(node));
        }
        let place = index * cables + port % cables;
        let below = self.powers[level - 1];
        let child = self.number(level - 1, node, place % below);
        Some(child * radix + self.k + place / below)
    }

    /// D-mod-k (Zahavi 2011; PerfBound 4.2): upwards, the digit of the destination that belongs
    /// to the level chooses the port; downwards there is one way. DESTRO, which Zahn III.A
    /// names, chooses the same in a k-ary n-tree. From a switch with several cables to a subtree, the
    /// one that the tree that is not pruned would have taken. Up, then down: one lane.
    fn route(&self, switch: usize, _: usize, lane: u8, destination: usize) -> Hop {
        let Place { level, nodes, .. } = self.places[switch];
        let (first, end) = (nodes.0 as usize, nodes.1 as usize);
        let span = self.powers[usize::from(level)];
        let port = if (first..end).contains(&destination) {
            let cables = self.cables(usize::from(level));
            (destination - first) / span * cables + destination % span % cables
        } else {
            self.k + destination / span % self.k
        };
        Hop {
            port: port as u8,
            lane,
        }
    }

    /// Upwards all ports lead to common ancestors (Alonso 2, POWAR 3), and so do all cables from the top
    /// to a subtree.
    fn choices(&self, switch: usize, port: u8) -> Range<u8> {
        let level = usize::from(self.places[switch].level);
        if self.is_top(level) || usize::from(port) < self.k {
            let cables = self.cables(level) as u8;
            let first = port / cables * cables;
            return first..first + cables;
        }
        self.k as u8..self.radix() as u8
    }

    fn hops(&self, source: usize, destination: usize) -> u8 {
        if source == destination {
            return 0;
        }
        // As high as the lowest subtree that holds both.
        let levels = self.powers.len();
        let same =
            |level: &usize| source / self.powers[*level] == destination / self.powers[*level];
        2 * (1..levels).find(same).unwrap_or(levels) as u8
    }

    /// Of the first switch at the top of each subtree, all links down and the first one up; and the
    /// links of the nodes. A pruned tree has none: a switch at its top, whose links stay on all at once,
    /// has more of them than the least that connect all nodes.
    fn stays_on(&self, port: usize) -> Option<bool> {
        if self.cables > 1 {
            return None;
        }
        if port >= self.switch_ports() {
            return Some(true);
        }
        let place = self.places[port / self.radix()];
        let first_up = self.children(usize::from(place.level));
        Some(place.index == 0 && port % self.radix() <= first_up)
    }

    fn classes(&self) -> Vec<String> {
        let levels = self.powers.len();
        let mut classes = vec!["node to level 1".to_owned()];
        classes.extend((1..levels).map(|level| format!("level {level} to {}", level + 1)));
        classes.extend(
            (1..levels)
                .rev()
                .map(|level| format!("level {} to {level}", level + 1)),
        );
        classes.push("level 1 to node".into());
        classes
    }

    fn class(&self, port: usize) -> usize {
        if port >= self.switch_ports() {
            return 0;
        }
        let level = usize::from(self.places[port / self.radix()].level);
        if port % self.radix() < self.ports_down(level) {
            2 * self.powers.len() - 1 - level
        } else {
            level + 1
        }
    }
}
