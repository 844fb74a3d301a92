//! Points in time. Lengths of time are plain numbers, with their unit in the name or the comment.

use std::ops::{Add, AddAssign, Sub};

/// A kind of points in time: they differ by numbers of its unit.
macro_rules! instant {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// Later than all others.
            pub const NEVER: Self = Self(u64::MAX);

            /// So much later; [`NEVER`](Self::NEVER) if that is too late for a number.
            #[inline]
            pub fn saturating_add(self, length: u64) -> Self {
                Self(self.0.saturating_add(length))
            }

            /// So much earlier; 0 if that is before all others.
            #[inline]
            pub fn saturating_sub(self, length: u64) -> Self {
                Self(self.0.saturating_sub(length))
            }

            /// How much later it is; 0 if it is earlier.
            #[inline]
            pub fn since(self, earlier: Self) -> u64 {
                self.0.saturating_sub(earlier.0)
            }
        }

        impl Add<u64> for $name {
            type Output = Self;

            #[inline]
            fn add(self, length: u64) -> Self {
                Self(self.0 + length)
            }
        }

        impl AddAssign<u64> for $name {
            #[inline]
            fn add_assign(&mut self, length: u64) {
                self.0 += length;
            }
        }

        impl Sub<u64> for $name {
            type Output = Self;

            #[inline]
            fn sub(self, length: u64) -> Self {
                Self(self.0 - length)
            }
        }

        impl Sub for $name {
            type Output = u64;

            #[inline]
            fn sub(self, earlier: Self) -> u64 {
                self.0 - earlier.0
            }
        }
    };
}

instant! {
    /// A time in ps since the simulation began.
    Time
}

instant! {
    /// A clock cycle of the port controllers, from 0 when the simulation began.
    Cycle
}

instant! {
    /// A clock cycle of one port controller, from 0 at its reset, which is before the simulation
    /// begins.
    PortCycle
}

impl Cycle {
    /// When it begins, with a clock period in ps.
    #[inline]
    pub fn begin(self, clock_ps: u64) -> Time {
        Time(self.0 * clock_ps)
    }
}
