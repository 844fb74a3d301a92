//! The values that signals carry: bits of a width chosen at run time, and named states.

use std::fmt;
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Shl, Shr, Sub};

use rust_hdl_core::clock::Clock;
use serde::{Deserialize, Serialize};

/// One wire. In descriptions a bit is a Rust `bool`.
pub type Bit = bool;

/// The widest vector that can be described, in bits.
pub const MAX_WIDTH: u32 = 128;

/// All ones in the lowest `width` bits.
pub(crate) fn mask(width: u32) -> u128 {
    match width {
        0 => 0,
        1..=127 => (1 << width) - 1,
        _ => u128::MAX,
    }
}

/// The bits that count `count` different values need: `ceil(log2(count))`, at least 1.
pub fn clog2(count: u128) -> u32 {
    (u128::BITS - count.saturating_sub(1).leading_zeros()).max(1)
}

/// An unsigned vector whose width is a value, 1 to 128 bits.
///
/// Arithmetic wraps at the width. Both operands of an operator have the same width, or
/// one of them is an integer, which takes the width of the other; elaboration reports
/// anything else. An integer that has not met a width yet (`0.into()`) has width 0 and
/// takes the width of the signal that it is assigned to.
#[derive(Clone, Copy, Default)]
pub struct Bits {
    value: u128,
    width: u32,
}

impl Bits {
    /// The lowest `width` bits of `value`.
    pub fn new(value: u128, width: u32) -> Self {
        Self {
            value: value & mask(width),
            width,
        }
    }

    /// The value as an integer.
    pub fn value(self) -> u128 {
        self.value
    }

    /// The width in bits (the name is the one that rust_hdl's macros call).
    pub fn bits(self) -> usize {
        self.width as usize
    }

    /// Bit `index`, counted from the lowest; `false` beyond the width.
    pub fn get_bit(self, index: impl Into<Bits>) -> Bit {
        let index = index.into().value;
        index < 128 && self.value >> index & 1 == 1
    }

    /// Whether any bit is set (`|x` in Verilog).
    pub fn any(self) -> Bit {
        self.value != 0
    }

    /// Whether all bits are set (`&x` in Verilog).
    pub fn all(self) -> Bit {
        self.value == mask(self.width)
    }

    /// Whether an odd number of bits is set (`^x` in Verilog).
    pub fn xor(self) -> Bit {
        self.value.count_ones() % 2 == 1
    }

    /// `value` at the common width of the two operands.
    fn joined(self, other: Bits, value: u128) -> Bits {
        let width = self.width.max(other.width);
        Bits {
            value: if width == 0 {
                value
            } else {
                value & mask(width)
            },
            width,
        }
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}'d{}", self.width, self.value)
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.value, f)
    }
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Bits {
            fn from(value: $integer) -> Bits {
                Bits { value: value as u128, width: 0 }
            }
        }
    )*};
}
integers!(i32, u8, u16, u32, u64, u128, usize);

macro_rules! operator {
    ($($name:ident $method:ident $compute:expr;)*) => {$(
        impl<T: Into<Bits>> $name<T> for Bits {
            type Output = Bits;
            fn $method(self, other: T) -> Bits {
                let other = other.into();
                let compute: fn(u128, u128) -> u128 = $compute;
                self.joined(other, compute(self.value, other.value))
            }
        }
    )*};
}
operator! {
    Add add u128::wrapping_add;
    Sub sub u128::wrapping_sub;
    Mul mul u128::wrapping_mul;
    BitAnd bitand |a, b| a & b;
    BitOr bitor |a, b| a | b;
    BitXor bitxor |a, b| a ^ b;
}

impl<T: Into<Bits>> Shl<T> for Bits {
    type Output = Bits;
    fn shl(self, amount: T) -> Bits {
        let amount = amount.into().value;
        let value = if amount < 128 {
            self.value << amount
        } else {
            0
        };
        Bits::new(value, self.width)
    }
}

impl<T: Into<Bits>> Shr<T> for Bits {
    type Output = Bits;
    fn shr(self, amount: T) -> Bits {
        let amount = amount.into().value;
        let value = if amount < 128 {
            self.value >> amount
        } else {
            0
        };
        Bits::new(value, self.width)
    }
}

impl Not for Bits {
    type Output = Bits;
    fn not(self) -> Bits {
        Bits::new(!self.value, self.width)
    }
}

impl<T: Into<Bits> + Copy> PartialEq<T> for Bits {
    fn eq(&self, other: &T) -> bool {
        self.value == (*other).into().value
    }
}

impl<T: Into<Bits> + Copy> PartialOrd<T> for Bits {
    fn partial_cmp(&self, other: &T) -> Option<std::cmp::Ordering> {
        self.value.partial_cmp(&(*other).into().value)
    }
}

/// What [`bit_cast`] takes: a bit, a vector, a state.
pub trait Castable {
    /// The value as a vector of its own width.
    fn to_vector(self) -> Bits;
}

impl Castable for Bits {
    fn to_vector(self) -> Bits {
        self
    }
}

impl Castable for Bit {
    fn to_vector(self) -> Bits {
        Bits::new(self.into(), 1)
    }
}

impl<S: State> Castable for S {
    fn to_vector(self) -> Bits {
        Bits::new(self.index() as u128, S::width())
    }
}

/// What tells [`bit_cast`] and [`bits()`] a width in bits: a number, or the signal, register or constant that
/// is so wide.
pub trait Width {
    /// The width.
    fn bits(self) -> usize;
}

impl Width for usize {
    fn bits(self) -> usize {
        self
    }
}

/// Zero-extends or truncates to `width` bits, or to the width of a signal.
pub fn bit_cast(value: impl Castable, width: impl Width) -> Bits {
    Bits::new(value.to_vector().value, width.bits() as u32)
}

/// A literal of `width` bits, for places where no other operand gives a width.
pub fn bits(value: impl Into<Bits>, width: impl Width) -> Bits {
    Bits::new(value.into().value, width.bits() as u32)
}

/// An enumerated type of [`states!`](crate::states): binary encoding in the order of
/// declaration.
pub trait State: Copy + PartialEq + fmt::Debug + Default + Send + 'static {
    /// The type's name as written in Rust, `Phase`.
    const NAME: &'static str;
    /// Every state's name and what it means, in the order of the encoding.
    const VARIANTS: &'static [(&'static str, &'static str)];
    /// The place in the encoding.
    fn index(self) -> usize;
    /// The state with that encoding.
    fn from_index(index: usize) -> Option<Self>;
    /// The width of the encoding in bits, at least 1.
    fn width() -> u32 {
        clog2(Self::VARIANTS.len() as u128)
    }
}

/// The type of a signal, as elaboration sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Type {
    /// A clock.
    Clock,
    /// One wire.
    Bit,
    /// A vector.
    Bits,
    /// An enumerated state.
    State {
        /// The Rust name of the type.
        name: String,
        /// Names and meanings in the order of the encoding.
        variants: Vec<(String, String)>,
    },
}

/// What a signal can carry.
pub trait Value: Copy + PartialEq + fmt::Debug + Default + Send + 'static {
    /// The type.
    fn kind() -> Type;
    /// The value as an integer.
    fn raw(self) -> u128;
    /// The value of that integer at the width of `self`; `None` if no state has it.
    fn with_raw(self, raw: u128) -> Option<Self>;
    /// `self` at the width of `other`, if `self` is an integer without a width.
    fn sized_like(self, _other: Self) -> Self {
        self
    }
}

impl Value for Bit {
    fn kind() -> Type {
        Type::Bit
    }
    fn raw(self) -> u128 {
        self.into()
    }
    fn with_raw(self, raw: u128) -> Option<Self> {
        Some(raw & 1 == 1)
    }
}

impl Value for Clock {
    fn kind() -> Type {
        Type::Clock
    }
    fn raw(self) -> u128 {
        self.clk.into()
    }
    fn with_raw(self, raw: u128) -> Option<Self> {
        Some(Clock { clk: raw & 1 == 1 })
    }
}

impl Value for Bits {
    fn kind() -> Type {
        Type::Bits
    }
    fn raw(self) -> u128 {
        self.value
    }
    fn with_raw(self, raw: u128) -> Option<Self> {
        Some(Bits::new(raw, self.width))
    }
    fn sized_like(self, other: Self) -> Self {
        if self.width == 0 {
            Bits::new(self.value, other.width)
        } else {
            self
        }
    }
}

impl<S: State> Value for S {
    fn kind() -> Type {
        Type::State {
            name: S::NAME.into(),
            variants: S::VARIANTS
                .iter()
                .map(|(name, doc)| ((*name).into(), (*doc).into()))
                .collect(),
        }
    }
    fn raw(self) -> u128 {
        self.index() as u128
    }
    fn with_raw(self, raw: u128) -> Option<Self> {
        usize::try_from(raw).ok().and_then(S::from_index)
    }
}

/// Declares an enumerated state, each name with its meaning:
/// `states! { /// What for. pub enum Phase { Idle = "waiting for a sample", Scan = "..." } }`.
///
/// The encoding is binary in the order of declaration; the first state is the default.
#[macro_export]
macro_rules! states {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($variant:ident = $doc:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $name {
            $(#[doc = $doc] $variant),+
        }

        impl $crate::hdl::State for $name {
            const NAME: &'static str = stringify!($name);
            const VARIANTS: &'static [(&'static str, &'static str)] =
                &[$((stringify!($variant), $doc)),+];
            fn index(self) -> usize {
                self as usize
            }
            fn from_index(index: usize) -> Option<Self> {
                [$(Self::$variant),+].get(index).copied()
            }
        }

        impl Default for $name {
            fn default() -> Self {
                [$(Self::$variant),+][0]
            }
        }
    };
}
