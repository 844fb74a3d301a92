//! Where the ranks of a proxy application are in its grid.

/// How ranks are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The first dimension runs fastest.
    FirstFastest,
    /// The last dimension runs fastest, as MPI_Cart_create does it.
    LastFastest,
    /// The grid is cut into parts along its longest side, and each part again.
    CutLongest,
    /// The grid is cut into parts along its last dimension, each of these along the one before, and so on
    /// in turn.
    CutInTurn,
}

/// Ranks in a grid of three dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) sides: [u32; 3],
    pub(super) order: Order,
    /// Whether the last rank of a row is a neighbour of the first.
    pub(super) periodic: bool,
}

impl Layout {
    /// The coordinates of a rank.
    pub(super) fn at(&self, rank: u32) -> [u32; 3] {
        let mut at = [0; 3];
        let mut rest = rank;
        match self.order {
            Order::FirstFastest => {
                for (at, side) in at.iter_mut().zip(self.sides) {
                    *at = rest % side;
                    rest /= side;
                }
            }
            Order::LastFastest => {
                for (at, side) in at.iter_mut().zip(self.sides).rev() {
                    *at = rest % side;
                    rest /= side;
                }
            }
            Order::CutLongest | Order::CutInTurn => {
                let mut part: u32 = self.sides.iter().product();
                for (dimension, parts) in self.cuts() {
                    part /= parts;
                    at[dimension] = at[dimension] * parts + rest / part;
                    rest %= part;
                }
            }
        }
        at
    }

    /// The rank at some coordinates.
    pub(super) fn rank(&self, at: [u32; 3]) -> u32 {
        let along = |dimensions: [usize; 3]| {
            (dimensions.iter()).fold(0, |rank, &dimension| {
                rank * self.sides[dimension] + at[dimension]
            })
        };
        match self.order {
            Order::FirstFastest => along([2, 1, 0]),
            Order::LastFastest => along([0, 1, 2]),
            Order::CutLongest | Order::CutInTurn => {
                let mut sides = self.sides;
                let mut rest = at;
                let mut rank = 0;
                for (dimension, parts) in self.cuts() {
                    sides[dimension] /= parts;
                    rank = rank * parts + rest[dimension] / sides[dimension];
                    rest[dimension] %= sides[dimension];
                }
                rank
            }
        }
    }

    /// The cuts: the dimension, and into how many parts. Along the longest side the largest prime
    /// factors come first; each cuts the dimension with most ranks left, the first of equal ones.
    fn cuts(&self) -> Vec<(usize, u32)> {
        let mut left = self.sides;
        let mut in_turn = [2, 1, 0].into_iter().cycle();
        let mut cuts = Vec::new();
        while left != [1; 3] {
            let (dimension, parts) = match self.order {
                Order::CutInTurn => {
                    let next = in_turn.find(|&dimension| left[dimension] > 1);
                    let dimension = next.expect("a side is left");
                    (dimension, largest_prime_factor(left[dimension]))
                }
                _ => {
                    let factors = left.map(largest_prime_factor);
                    let parts = factors.into_iter().max().expect("there are three");
                    let able = (0..3).filter(|&dimension| left[dimension].is_multiple_of(parts));
                    let longest = able.rev().max_by_key(|&dimension| left[dimension]);
                    (longest.expect("a factor is one of a side's"), parts)
                }
            };
            left[dimension] /= parts;
            cuts.push((dimension, parts));
        }
        cuts
    }

    /// The rank so many places from another one; none beyond the border, and none if it is the rank
    /// itself.
    pub(super) fn neighbour(&self, rank: u32, by: [i32; 3]) -> Option<u32> {
        let mut at = self.at(rank);
        for ((at, by), side) in at.iter_mut().zip(by).zip(self.sides) {
            let moved = i64::from(*at) + i64::from(by);
            let inside = moved.rem_euclid(i64::from(side));
            if inside != moved && !self.periodic {
                return None;
            }
            *at = inside as u32;
        }
        Some(self.rank(at)).filter(|&other| other != rank)
    }
}

/// 1 of 1.
pub(super) fn largest_prime_factor(number: u32) -> u32 {
    let mut rest = number;
    let mut factor = 2;
    let mut largest = 1;
    while factor * factor <= rest {
        if rest.is_multiple_of(factor) {
            (rest, largest) = (rest / factor, factor);
        } else {
            factor += 1;
        }
    }
    largest.max(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_has_a_place_of_its_own() {
        let orders = [
            Order::FirstFastest,
            Order::LastFastest,
            Order::CutLongest,
            Order::CutInTurn,
        ];
        for order in orders {
            for sides in [[8, 8, 4], [3, 5, 2], [7, 1, 1], [1, 6, 9], [1, 1, 1]] {
                let layout = Layout {
                    sides,
                    order,
                    periodic: false,
                };
                let ranks: u32 = sides.iter().product();
                let mut seen = std::collections::BTreeSet::new();
                for rank in 0..ranks {
                    let at = layout.at(rank);
                    assert!(at.iter().zip(sides).all(|(at, side)| *at < side));
                    assert!(seen.insert(at));
                    assert_eq!(layout.rank(at), rank, "{order:?}, {sides:?}");
                }
            }
        }
    }

    #[test]
    fn ranks_are_numbered_as_said() {
        let layout = |order| Layout {
            sides: [8, 8, 4],
            order,
            periodic: false,
        };
        assert_eq!(layout(Order::FirstFastest).at(1), [1, 0, 0]);
        assert_eq!(layout(Order::LastFastest).at(1), [0, 0, 1]);
        // The bits of a rank, the highest first: x y x y z x y z.
        let cut = layout(Order::CutLongest);
        assert_eq!(cut.at(0b1010_0100), [0b111, 0, 0]);
        assert_eq!(cut.at(0b0101_0010), [0, 0b111, 0]);
        assert_eq!(cut.at(0b0000_1001), [0, 0, 0b11]);
        // z y x z y x z y.
        let cut = Layout {
            sides: [4, 8, 8],
            ..layout(Order::CutInTurn)
        };
        assert_eq!(cut.at(0b0010_0100), [0b11, 0, 0]);
        assert_eq!(cut.at(0b0100_1001), [0, 0b111, 0]);
        assert_eq!(cut.at(0b1001_0010), [0, 0, 0b111]);
    }

    #[test]
    fn only_rings_have_neighbours_beyond_the_border() {
        let layout = |periodic| Layout {
            sides: [4, 2, 1],
            order: Order::FirstFastest,
            periodic,
        };
        let (open, ring) = (layout(false), layout(true));
        assert_eq!(open.neighbour(0, [-1, 0, 0]), None);
        assert_eq!(ring.neighbour(0, [-1, 0, 0]), Some(3));
        assert_eq!(open.neighbour(0, [1, 1, 0]), Some(5));
        // A row of one rank has none.
        assert_eq!(ring.neighbour(5, [0, 0, 1]), None);
        assert_eq!(
            [2, 3, 9, 12, 35, 1].map(largest_prime_factor),
            [2, 3, 3, 3, 7, 1]
        );
    }
}
