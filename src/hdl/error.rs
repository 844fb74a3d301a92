//! What can be wrong with a description.

use super::values::MAX_WIDTH;

/// A description that cannot become hardware. Every variant names the block by its path
/// from the top.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElabError {
    /// Two operands, or a condition and what it is compared with, differ in width.
    #[error(
        "{block}: {what} has {left} bits and {right} bits: bring both to one width with bit_cast"
    )]
    WidthMismatch {
        /// Path of the block.
        block: String,
        /// The two sides, as the description writes them.
        what: String,
        /// Bits of the first.
        left: u32,
        /// Bits of the second.
        right: u32,
    },
    /// A value is wider or narrower than the signal that takes it.
    #[error("{block}: `{signal}` has {target} bits and is assigned {value} bits (`{expression}`): bring the value to {target} bits with bit_cast")]
    AssignmentWidth {
        /// Path of the block.
        block: String,
        /// The assigned signal.
        signal: String,
        /// The value, as the description writes it.
        expression: String,
        /// Bits of the signal.
        target: u32,
        /// Bits of the value.
        value: u32,
    },
    /// A number is too large for its place.
    #[error("{block}: {what} {value} does not fit {width} bits: at least {needed} are needed")]
    DoesNotFit {
        /// Path of the block.
        block: String,
        /// What the number is.
        what: String,
        /// The number.
        value: u128,
        /// Bits that there are.
        width: u32,
        /// Bits that the number takes.
        needed: u32,
    },
    /// A number that meets nothing with a width.
    #[error("{block}: nothing gives `{expression}` a width: write it as bits(value, width)")]
    NoWidth {
        /// Path of the block.
        block: String,
        /// The expression, as the description writes it.
        expression: String,
    },
    /// A signal of 0 bits, or of more than [`MAX_WIDTH`].
    #[error("{block}: `{signal}` is {width} bits wide: 1 to {MAX_WIDTH} are possible")]
    BadWidth {
        /// Path of the block.
        block: String,
        /// The signal.
        signal: String,
        /// Its width in bits.
        width: u32,
    },
    /// Something that descriptions do not have.
    #[error("{block}: {what}")]
    Unsupported {
        /// Path of the block.
        block: String,
        /// What it is, and what to write instead.
        what: String,
    },
    /// A name that is not declared.
    #[error("{block}: `{name}` is neither a signal, register, memory or constant of this block nor a pin of one of its children")]
    UnknownName {
        /// Path of the block.
        block: String,
        /// The name, as the description writes it.
        name: String,
    },
    /// A signal that is read, but that nothing assigns.
    #[error("{block}: `{signal}` is never driven: assign it in `update`{hint}")]
    Undriven {
        /// Path of the block whose `update` has to drive it.
        block: String,
        /// The signal.
        signal: String,
        /// How to drive it, beyond an assignment; may be empty.
        hint: String,
    },
    /// A signal with a second driver.
    #[error("{block}: `{signal}` is driven twice: {by}")]
    DoublyDriven {
        /// Path of the block.
        block: String,
        /// The signal.
        signal: String,
        /// What drives it, and why that is one driver too many.
        by: String,
    },
    /// A signal that some path through `update` does not assign.
    #[error("{block}: `{signal}` keeps its value on some path through `update` (a latch): assign it a default before the conditions")]
    Latch {
        /// Path of the block.
        block: String,
        /// The signal.
        signal: String,
    },
    /// A read that Rust and Verilog would understand differently.
    #[error("{block}: `{signal}` is read before it is assigned for the last time: move the reading statement below, or use a Local signal for the earlier value")]
    ReadBeforeWrite {
        /// Path of the block.
        block: String,
        /// The signal.
        signal: String,
    },
    /// A signal that depends on itself without a register between.
    #[error("combinational loop: {cycle}: break it with a register")]
    Loop {
        /// The signals in a circle, joined by `->`; the first comes last again.
        cycle: String,
    },
    /// A name that Verilog cannot take.
    #[error("{block}: `{name}` cannot be the name of {what}: {why}")]
    BadName {
        /// Path of the block.
        block: String,
        /// The name.
        name: String,
        /// What bears it.
        what: String,
        /// The rule that it breaks.
        why: String,
    },
    /// One name for two things in the scope of a module.
    #[error(
        "{block}: {first} and {second} would both be called `{name}` in the Verilog: rename one"
    )]
    NameCollision {
        /// Path of the block.
        block: String,
        /// The name in the Verilog.
        name: String,
        /// What bears it already.
        first: String,
        /// What would bear it too.
        second: String,
    },
}

pub(crate) type Result<T> = std::result::Result<T, ElabError>;
