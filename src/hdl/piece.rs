//! An `update` in pieces, each with a name of its own.

use rust_hdl_core::ast::Verilog;

/// A piece of the `update` of a block. `Name` is a type that is there for its name alone.
///
/// [`pieces!`](crate::pieces) declares the names and says in which order the pieces run. The Verilog
/// is that of one `update` with the statements of all pieces in this order.
pub trait Piece<Name> {
    /// The statements of the piece, which `#[hdl_gen]` reads as those of an `update`.
    fn update(&mut self);

    /// `#[hdl_gen]` writes it as well; nothing calls it.
    fn connect(&mut self);

    /// The syntax tree of the statements.
    fn hdl(&self) -> Verilog;
}

/// Declares the names of the pieces that the `update` of a block is made of, in their order:
///
/// ```text
/// pieces! {
///     impl Logic for Meter {
///         Counting,
///         Answer,
///     }
/// }
///
/// /// Counts idle cycles.
/// impl Piece<Counting> for Meter {
///     #[hdl_gen]
///     fn update(&mut self) { ... }
/// }
/// ```
#[macro_export]
macro_rules! pieces {
    (impl Logic for $block:ident { $($piece:ident),+ $(,)? }) => {
        $(enum $piece {})+

        impl Logic for $block {
            fn update(&mut self) {
                $(Piece::<$piece>::update(self);)+
            }

            fn hdl(&self) -> ast::Verilog {
                $crate::hdl::in_order([$(Piece::<$piece>::hdl(self)),+])
            }
        }
    };
}

/// The syntax tree of an `update` of these pieces.
#[doc(hidden)]
pub fn in_order<const PIECES: usize>(pieces: [Verilog; PIECES]) -> Verilog {
    let statements = pieces.into_iter().flat_map(|piece| match piece {
        Verilog::Combinatorial(statements) => statements,
        _ => Vec::new(),
    });
    Verilog::Combinatorial(statements.collect())
}
