//! [`block!`](crate::block) and [`bundle!`](crate::bundle): the fields of a block with what
//! they are made of, in one place.

/// Declares a block, or a section of one: its fields, each with its construction in one line.
///
/// ```text
/// block! {
///     /// What the block is for.
///     pub struct Meter(clk, rst);
///
///     /// The meter of `plan`.
///     pub fn new(plan: &Plan) {
///         let width = plan.width;
///     }
///
///     about("meter", "What the head of its module says.")
///
///     {
///         pub in active: Bit("the port is active"),
///         pub in permit: Bit("the other end agrees") if plan.asks,
///         pub out ticks: Bits(width, "ticks so far"),
///         reg count: Bits(width, 0, "ticks so far"),
///         reg phase: Phase(Phase::Idle, "what the meter does"),
///         constant last: Bits(width, plan.last.into(), "the count stops here"),
///         choice divides(plan.divider > 1), // a tick is longer than a clock
///         number _width(width),
///         child rows[row in 0..4]: Row(plan, row),
///     }
/// }
/// ```
///
/// - `(clk, rst)` after the name declares the clock and the reset of a block with registers.
///   Its registers, memories and children are connected to them, and a register keeps its
///   value where `update` assigns no other; what `update` does assign wins.
/// - The statements of the function come before the fields, which may use their variables.
/// - `about` names the module. Without it the struct is a *section*: fields and statements
///   of the block that has it, whose clock and reset its registers have (see the module
///   documentation of [`hdl`](crate::hdl)).
/// - Kinds: `in`, `out`, `local` (a [`Signal`](crate::hdl::Signal)), `reg`, `kept` (a `reg`
///   [in copies](crate::hdl::Reg::in_copies)), `voter`, `property`, `invariant` (a
///   [`Reg`](crate::hdl::Reg)), `constant`, `memory`, `choice` (a `bool`),
///   `number` (a `usize`), `child` (a block), `section`, and `named`, a section whose
///   names in the Verilog begin with the field's, so that a block may have several of one type,
///   or a vector; and bundles of signals: `pins`,
///   whose names begin with the field's, `flat`, whose names do not, and `alias`, which are
///   other names of signals. There is also an `alias x: Bits()` of a single one.
/// - The arguments are those of the constructor: `Signal::bits` of an `in x: Bits(...)`,
///   `Meter::new` of a `child x: Meter(...)`. A `constant x: Number(value, ...)` is as
///   wide as its value needs; it may also name a closure of the function in place of a type.
/// - `name[i in range]: ...` is a vector, `... if condition` a part that only some
///   configurations have ([`Optional`](crate::hdl::Optional), or
///   [`OptionalBlock`](crate::hdl::OptionalBlock) of a child), and `... for x in (option)` a
///   child or a section that is made of what an `Option` holds.
#[macro_export]
macro_rules! block {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(($clk:ident, $rst:ident))?;

        $(#[$new_meta:meta])*
        $new_vis:vis fn $new:ident($($arg:ident: $arg_type:ty),* $(,)?) { $($setup:tt)* }

        $(about($($about:tt)*))?

        {$(
            $field_vis:vis $kind:ident $(^ $flipped:ident)? $field:ident $([$index:pat in $range:expr])?
            $(: $type:ident $(:: $by:ident)?)? ($($value:tt)*)
            $(for $given:ident in $from:tt)? $(if $present:expr)?
        ),* $(,)?}
    ) => {
        $(#[$meta])*
        $vis struct $name {
            about: Option<$crate::hdl::About>,
            $(
                pub $clk: $crate::hdl::Signal<rust_hdl_core::direction::In, rust_hdl_core::clock::Clock>,
                pub $rst: $crate::hdl::Signal<rust_hdl_core::direction::In, $crate::hdl::Bit>,
            )?
            $(
                $field_vis $field: $crate::part!(
                    @type [$($index)?] [$(for $given in $from)? $($present)?] $kind $($flipped)? $($type $($by)?)?
                ),
            )*
        }

        impl $name {
            $(#[$new_meta])*
            $new_vis fn $new($($arg: $arg_type),*) -> Self {
                $($setup)*
                Self {
                    about: $crate::part!(@option $($crate::hdl::About::new($($about)*))?),
                    $(
                        $clk: $crate::hdl::Signal::clock("clock"),
                        $rst: $crate::hdl::Signal::bit("synchronous reset"),
                    )?
                    $(
                        $field: $crate::part!(
                            @new [$($index in $range)?] [$(for $given in $from)? $($present)?] $kind $($flipped)?
                            $($type $(:: $by)?)? ($($value)*)
                        ),
                    )*
                }
            }
        }

        impl rust_hdl_core::block::Block for $name {
            fn connect_all(&mut self) {
                $($crate::hdl::Part::connect_all(&mut self.$clk);)?
                $($crate::hdl::Part::connect_all(&mut self.$rst);)?
                $($crate::hdl::Part::connect_all(&mut self.$field);)*
            }

            fn update_all(&mut self) {
                let clocked: Option<(rust_hdl_core::clock::Clock, $crate::hdl::Bit)> =
                    $crate::part!(@option $((self.$clk.val(), self.$rst.val()))?);
                // What is in a section has been given the clock of the block that has it.
                if let (Some((_clk, _rst)), Some(_)) = (clocked, &self.about) {
                    $($crate::hdl::Part::clocked(&mut self.$field, _clk, _rst);)*
                }
                rust_hdl_core::logic::Logic::update(self);
                $($crate::hdl::Part::update_all(&mut self.$clk);)?
                $($crate::hdl::Part::update_all(&mut self.$rst);)?
                $($crate::hdl::Part::update_all(&mut self.$field);)*
            }

            fn has_changed(&self) -> bool {
                false
                    $(|| $crate::hdl::Part::has_changed(&self.$clk))?
                    $(|| $crate::hdl::Part::has_changed(&self.$rst))?
                    $(|| $crate::hdl::Part::has_changed(&self.$field))*
            }

            fn accept(&self, name: &str, probe: &mut dyn rust_hdl_core::probe::Probe) {
                match &self.about {
                    Some(about) => {
                        probe.visit_start_scope(name, self);
                        $crate::hdl::Part::accept(about, "about", probe);
                    }
                    None => probe.visit_start_namespace(name, self),
                }
                $($crate::hdl::Part::accept(&self.$clk, stringify!($clk), probe);)?
                $($crate::hdl::Part::accept(&self.$rst, stringify!($rst), probe);)?
                $($crate::hdl::Part::accept(
                    &self.$field, $crate::part!(@name $kind $field), probe
                );)*
                match &self.about {
                    Some(_) => probe.visit_end_scope(name, self),
                    None => probe.visit_end_namespace(name, self),
                }
            }
        }

        impl $crate::hdl::Part for $name {
            fn clocked(&mut self, _clk: rust_hdl_core::clock::Clock, _rst: $crate::hdl::Bit) {
                $(self.$clk.next = _clk;)?
                $(self.$rst.next = _rst;)?
                if self.about.is_none() {
                    $($crate::hdl::Part::clocked(&mut self.$field, _clk, _rst);)*
                }
            }
            $crate::walks!();
        }
    };
}

/// Declares a bundle of pins, once for all blocks that have them:
/// `bundle! { /// ... pub struct Pins; /// ... pub fn new(width: u32) {} { pub in a: ... } }`,
/// as [`block!`](crate::block) does.
///
/// `Pins::link(&mut self.outer, &mut self.child.inner)` connects the pins of a block to those
/// of a child. A bundle may have `local` signals, which a section finds in an `alias` bundle of
/// the same type. After `flips Others` there is a bundle `Others` with the directions exchanged,
/// and `Pins::join(&mut self.child.pins, &mut self.other.others)` connects two children.
#[macro_export]
macro_rules! bundle {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(flips $(#[$flipped_meta:meta])* $flipped:ident)?;

        $(#[$new_meta:meta])*
        $new_vis:vis fn $new:ident($($arg:ident: $arg_type:ty),* $(,)?) { $($setup:tt)* }

        {$(
            pub $kind:ident $field:ident: $type:ident ($($value:tt)*) $(if $present:expr)?
        ),* $(,)?}
    ) => {
        $crate::block! {
            $(#[$meta])*
            $vis struct $name;

            $(#[$new_meta])*
            $new_vis fn $new($($arg: $arg_type),*) { $($setup)* }

            {$(pub $kind $field: $type($($value)*) $(if $present)?),*}
        }

        impl rust_hdl_core::logic::Logic for $name {
            fn update(&mut self) {}
        }

        #[allow(dead_code)]
        impl $name {
            /// Connects these pins of a block to those of a child.
            pub fn link(&mut self, child: &mut Self) {
                $($crate::bundle!(@link $kind self.$field, child.$field);)*
            }

            #[doc(hidden)]
            pub fn link_hdl(_: &str, block: &str, child: &str) -> Vec<rust_hdl_core::ast::VerilogLink> {
                vec![$($crate::bundle!(@link_hdl $kind $field, block, child)),*]
            }
        }

        $crate::bundle! {
            @flip $name, $($(#[$flipped_meta])* $vis $flipped)?;
            $new_vis fn $new($($arg: $arg_type),*) { $($setup)* }
            {$($kind $field: $type($($value)*) $(if $present)?),*}
        }
    };

    (@flip $name:ident, ; $($rest:tt)*) => {};
    (
        @flip $name:ident, $(#[$meta:meta])* $vis:vis $flipped:ident;
        $new_vis:vis fn $new:ident($($arg:ident: $arg_type:ty),*) { $($setup:tt)* }
        {$($kind:ident $field:ident: $type:ident ($($value:tt)*) $(if $present:expr)?),*}
    ) => {
        $crate::block! {
            $(#[$meta])*
            $vis struct $flipped;

            /// As those of the other side.
            $new_vis fn $new($($arg: $arg_type),*) { $($setup)* }

            {$(pub $kind ^flipped $field: $type($($value)*) $(if $present)?),*}
        }

        impl rust_hdl_core::logic::Logic for $flipped {
            fn update(&mut self) {}
        }

        impl $name {
            /// Connects these pins of a child to those of another.
            pub fn join(&mut self, other: &mut $flipped) {
                $($crate::bundle!(@join $kind self.$field, other.$field);)*
            }

            #[doc(hidden)]
            pub fn join_hdl(_: &str, pins: &str, other: &str) -> Vec<rust_hdl_core::ast::VerilogLink> {
                vec![$($crate::bundle!(@join_hdl $kind $field, pins, other)),*]
            }
        }
    };

    (@link in $block:expr, $child:expr) => { $child.next = $block.val() };
    (@link local $block:expr, $child:expr) => { $child.next = $block.val() };
    (@link out $block:expr, $child:expr) => { $block.next = $child.val() };
    (@join in $pins:expr, $other:expr) => { $pins.next = $other.val() };
    (@join out $pins:expr, $other:expr) => { $other.next = $pins.val() };
    (@link_hdl in $($pin:tt)*) => { $crate::bundle!(@wire Forward $($pin)*) };
    (@link_hdl local $($pin:tt)*) => { $crate::bundle!(@wire Forward $($pin)*) };
    (@link_hdl out $($pin:tt)*) => { $crate::bundle!(@wire Backward $($pin)*) };
    (@join_hdl in $($pin:tt)*) => { $crate::bundle!(@wire Backward $($pin)*) };
    (@join_hdl out $($pin:tt)*) => { $crate::bundle!(@wire Forward $($pin)*) };
    (@wire $way:ident $field:ident, $owner:expr, $other:expr) => {
        rust_hdl_core::ast::VerilogLink::$way(rust_hdl_core::ast::VerilogLinkDetails {
            my_name: stringify!($field).into(),
            owner_name: $owner.into(),
            other_name: $other.into(),
        })
    };
}

/// Type, value and name of a field of [`block!`](crate::block).
#[doc(hidden)]
#[macro_export]
macro_rules! part {
    (@option) => { None };
    (@option $value:expr) => { Some($value) };

    (@type [$index:pat] $present:tt $($part:tt)*) => {
        Vec<$crate::part!(@type [] $present $($part)*)>
    };
    (@type [] [] $($part:tt)*) => { $crate::part!(@plain $($part)*) };
    (@type [] [for $given:ident in $from:tt] $($part:tt)*) => {
        $crate::hdl::OptionalBlock<$crate::part!(@plain $($part)*)>
    };
    (@type [] [$present:expr] child $($part:tt)*) => {
        $crate::hdl::OptionalBlock<$crate::part!(@plain child $($part)*)>
    };
    (@type [] [$present:expr] $($part:tt)*) => {
        $crate::hdl::Optional<$crate::part!(@plain $($part)*)>
    };
    (@plain in flipped $type:ident) => { $crate::part!(@plain out $type) };
    (@plain out flipped $type:ident) => { $crate::part!(@plain in $type) };
    (@plain in $type:ident) => {
        $crate::hdl::Signal<rust_hdl_core::direction::In, $type>
    };
    (@plain out $type:ident) => {
        $crate::hdl::Signal<rust_hdl_core::direction::Out, $type>
    };
    (@plain local $type:ident) => {
        $crate::hdl::Signal<rust_hdl_core::direction::Local, $type>
    };
    (@plain reg $type:ident) => { $crate::hdl::Reg<$type> };
    (@plain kept $type:ident) => { $crate::hdl::Reg<$type> };
    (@plain voter) => { $crate::hdl::Reg<$crate::hdl::Bits> };
    (@plain property) => { $crate::hdl::Reg<$crate::hdl::Bit> };
    (@plain invariant) => { $crate::hdl::Reg<$crate::hdl::Bit> };
    (@plain constant $type:ident) => { $crate::hdl::Constant<$crate::hdl::Bits> };
    (@plain memory $type:ident) => { $crate::hdl::Memory };
    (@plain alias Bit) => { $crate::part!(@plain local Bit) };
    (@plain alias Bits) => { $crate::part!(@plain local Bits) };
    (@plain choice) => { bool };
    (@plain number) => { usize };
    (@plain $kind:ident $type:ident $($by:ident)?) => { $type };

    (@new [$index:pat in $range:expr] $present:tt $($part:tt)*) => {
        ($range).map(|$index| $crate::part!(@new [] $present $($part)*)).collect()
    };
    (@new [] [] $($part:tt)*) => { $crate::part!(@value $($part)*) };
    (@new [] [for $given:ident in $from:tt] $($part:tt)*) => {
        $crate::hdl::OptionalBlock::from($from.map(|$given| $crate::part!(@value $($part)*)))
    };
    (@new [] [$present:expr] child $($part:tt)*) => {
        $crate::hdl::OptionalBlock::when($present, || $crate::part!(@value child $($part)*))
    };
    (@new [] [$present:expr] $($part:tt)*) => {
        $crate::hdl::Optional::when($present, $crate::part!(@value $($part)*))
    };
    (@value in flipped $($signal:tt)*) => { $crate::part!(@signal $($signal)*) };
    (@value out flipped $($signal:tt)*) => { $crate::part!(@signal $($signal)*) };
    (@value in $($signal:tt)*) => { $crate::part!(@signal $($signal)*) };
    (@value out $($signal:tt)*) => { $crate::part!(@signal $($signal)*) };
    (@value local $($signal:tt)*) => { $crate::part!(@signal $($signal)*) };
    (@signal Bit $args:tt) => { $crate::part!(@call $crate::hdl::Signal::bit, $args) };
    (@signal Bits $args:tt) => { $crate::part!(@call $crate::hdl::Signal::bits, $args) };
    (@signal $state:ident $args:tt) => { $crate::part!(@call $crate::hdl::Signal::state, $args) };
    (@value reg Bit $args:tt) => { $crate::part!(@call $crate::hdl::Reg::bit, $args) };
    (@value reg Bits $args:tt) => { $crate::part!(@call $crate::hdl::Reg::bits, $args) };
    (@value reg $state:ident $args:tt) => { $crate::part!(@call $crate::hdl::Reg::state, $args) };
    (@value kept $($register:tt)*) => { $crate::part!(@value reg $($register)*).in_copies() };
    (@value voter $args:tt) => { $crate::part!(@call $crate::hdl::Reg::voter, $args) };
    (@value property $args:tt) => { $crate::part!(@call $crate::hdl::Reg::property, $args) };
    (@value invariant $args:tt) => { $crate::part!(@call $crate::hdl::Reg::invariant, $args) };
    (@value constant Bits $args:tt) => { $crate::part!(@call $crate::hdl::Constant::bits, $args) };
    (@value constant Number $args:tt) => {
        $crate::part!(@call $crate::hdl::Constant::number, $args)
    };
    (@value constant $make:ident $args:tt) => { $crate::part!(@call $make, $args) };
    (@value memory Memory $args:tt) => { $crate::part!(@call $crate::hdl::Memory::new, $args) };
    (@value alias Bit ()) => { $crate::hdl::Signal::bit("") };
    (@value alias Bits ()) => { $crate::hdl::Signal::bits(1, "") };
    (@value choice ($value:expr)) => { $value };
    (@value number ($value:expr)) => { ($value) as usize };
    (@value $kind:ident $type:ident $args:tt) => { $crate::part!(@call $type::new, $args) };
    (@value $kind:ident $type:ident :: $by:ident $args:tt) => {
        $crate::part!(@call $type::$by, $args)
    };
    (@call $function:path, ($($arg:expr),* $(,)?)) => { $function($($arg),*) };

    (@name section $field:ident) => { concat!("~", stringify!($field)) };
    (@name flat $field:ident) => { concat!("~", stringify!($field)) };
    (@name alias $field:ident) => { concat!("=", stringify!($field)) };
    (@name $kind:ident $field:ident) => { stringify!($field) };
}

/// The walks of a [`Part`](crate::hdl::Part) that is a `Block` of rust_hdl's.
#[doc(hidden)]
#[macro_export]
macro_rules! walks {
    () => {
        fn connect_all(&mut self) {
            rust_hdl_core::block::Block::connect_all(self);
        }
        fn update_all(&mut self) {
            rust_hdl_core::block::Block::update_all(self);
        }
        fn has_changed(&self) -> bool {
            rust_hdl_core::block::Block::has_changed(self)
        }
        fn accept(&self, name: &str, probe: &mut dyn rust_hdl_core::probe::Probe) {
            rust_hdl_core::block::Block::accept(self, name, probe);
        }
    };
}
