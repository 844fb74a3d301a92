//! Ranks in a grid, as MPI_Cart_create numbers them: the last dimension runs fastest.

/// The grid of two dimensions for so many ranks that is nearest to a square; the first
/// dimension is the shorter one.
pub fn square(ranks: u32) -> [u32; 2] {
    let short = divisors(ranks)
        .filter(|&side| u64::from(side) * u64::from(side) <= u64::from(ranks))
        .last()
        .unwrap_or(1);
    [short, ranks / short]
}

/// The grid of three dimensions for so many ranks whose blocks have the least surface, as LAMMPS
/// chooses it for a cube; of equal ones that whose first dimensions are shortest.
pub fn cube(ranks: u32) -> [u32; 3] {
    let grids =
        divisors(ranks).flat_map(|a| divisors(ranks / a).map(move |b| [a, b, ranks / a / b]));
    let sorted = grids.filter(|[a, b, c]| a <= b && b <= c);
    let surface = |[a, b, c]: &[u32; 3]| {
        let [a, b, c] = [a, b, c].map(|side| u64::from(*side));
        a * b + b * c + a * c
    };
    sorted.min_by_key(surface).unwrap_or([1, 1, ranks])
}

/// In rising order.
fn divisors(number: u32) -> impl Iterator<Item = u32> {
    (1..=number).filter(move |side| number.is_multiple_of(*side))
}

/// The largest divisor of `ranks` of at most `most`, and the least of at least that.
pub fn divisors_near(ranks: u32, most: u32) -> (u32, u32) {
    let below = divisors(ranks).take_while(|&side| side <= most).last();
    let above = divisors(ranks).find(|&side| side >= most);
    (below.unwrap_or(1), above.unwrap_or(ranks))
}

/// The coordinates of a rank.
pub fn coordinates<const D: usize>(rank: u32, sides: [u32; D]) -> [u32; D] {
    let mut rest = rank;
    let mut at = [0; D];
    for (at, side) in at.iter_mut().zip(sides).rev() {
        *at = rest % side;
        rest /= side;
    }
    at
}

/// The rank at some coordinates.
pub fn rank<const D: usize>(at: [u32; D], sides: [u32; D]) -> u32 {
    at.into_iter()
        .zip(sides)
        .fold(0, |rank, (at, side)| rank * side + at)
}

/// The rank so many places from another one, where each dimension closes to a ring.
pub fn neighbour<const D: usize>(of: u32, by: [i32; D], sides: [u32; D]) -> u32 {
    let mut at = coordinates(of, sides);
    for ((at, by), side) in at.iter_mut().zip(by).zip(sides) {
        let moved = i64::from(*at) + i64::from(by);
        *at = moved.rem_euclid(i64::from(side)) as u32;
    }
    rank(at, sides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_all_ranks_and_little_surface() {
        for ranks in 1..300 {
            assert_eq!(square(ranks).iter().product::<u32>(), ranks);
            assert_eq!(cube(ranks).iter().product::<u32>(), ranks);
        }
        // The grids of the recorded runs of LAMMPS (their logs name them).
        assert_eq!(
            (cube(8), cube(16), cube(64)),
            ([2, 2, 2], [2, 2, 4], [4, 4, 4])
        );
        assert_eq!((cube(4160), square(4160)), ([13, 16, 20], [64, 65]));
        assert_eq!((cube(7), square(7)), ([1, 1, 7], [1, 7]));
        assert_eq!(divisors_near(24, 5), (4, 6));
    }

    #[test]
    fn neighbours_of_neighbours_are_the_rank_itself() {
        let sides = [2, 3, 5];
        for of in 0..30 {
            assert_eq!(rank(coordinates(of, sides), sides), of);
            for by in [[1, 0, 0], [0, -1, 0], [0, 0, 1], [1, -1, 1]] {
                let there = neighbour(of, by, sides);
                assert_eq!(neighbour(there, by.map(|by: i32| -by), sides), of);
            }
        }
        // As in the logs of LAMMPS on 4 x 4 x 4 ranks: rank 21 talks with 5, 37, 17, 25, 20, 22.
        let near = |by| neighbour(21, by, [4, 4, 4]);
        assert_eq!(
            (near([-1, 0, 0]), near([0, 1, 0]), near([0, 0, 1])),
            (5, 25, 22)
        );
    }
}
