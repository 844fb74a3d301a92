//! Native simulation: rust_hdl's `update_all` semantics on one block, pins by name.
//!
//! It takes the description as it is and checks nothing: [`elaborate`](super::elaborate)
//! the block first. Clock and data travel one level of the hierarchy per round, the clock
//! first, so that every register sees the values from before the edge.

use std::collections::HashMap;
use std::sync::Arc;

use rust_hdl_core::atom::{Atom, AtomKind};
use rust_hdl_core::block::Block;
use rust_hdl_core::probe::Probe;

use super::atoms::{connect_with_pins, take_violations, Meta, PinCell};
use super::part::Space;
use super::values::{mask, Type};

/// How many rounds of `update_all` may pass before a block counts as oscillating.
/// Elaboration excludes combinational loops, so the longest path bounds it.
const MAX_ROUNDS: usize = 10_000;

/// The simulation could not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// The block has no pin of this name.
    #[error("there is no pin `{name}`; the pins are {known}")]
    UnknownPin {
        /// The name that was asked for.
        name: String,
        /// Every pin's name, separated by commas.
        known: String,
    },
    /// An output was to be set.
    #[error("pin `{name}` is an output: only inputs can be set")]
    NotAnInput {
        /// The output.
        name: String,
    },
    /// An input was to hold more than it can.
    #[error("pin `{name}` takes {legal}, not {value}")]
    OutOfRange {
        /// The input.
        name: String,
        /// The refused value.
        value: u128,
        /// The range that it takes.
        legal: String,
    },
    /// The values keep changing without a change of the inputs.
    #[error("the block does not settle within {rounds} rounds: it oscillates")]
    NoConvergence {
        /// Rounds of `update_all` that were tried.
        rounds: usize,
    },
    /// A claim of the block does not hold in the cycle that the clock edge ended.
    #[error("the block breaks its own promise: {claim}")]
    Violated {
        /// What it says.
        claim: String,
    },
    /// The block has no input `clk` to step.
    #[error(
        "there is no clock input `clk`: give the top block `pub clk: Signal<In, Clock>` to step it"
    )]
    NoClock,
}

/// The direction of a pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinDirection {
    /// Driven from outside.
    Input,
    /// Driven by the block.
    Output,
}

/// A pin of the simulated block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The name, as in the emitted Verilog.
    pub name: String,
    /// The width in bits.
    pub width: u32,
    /// Input or output.
    pub direction: PinDirection,
    /// The type of its value.
    pub kind: Type,
}

/// A pin found once by name, for access without a search
/// ([`Simulator::set_at`], [`Simulator::get_at`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PinIndex(usize);

/// A block under simulation.
///
/// The clock is the input `clk`. One cycle: set inputs, [`settle`](Self::settle), read
/// the outputs, [`rising_edge`](Self::rising_edge).
pub struct Simulator {
    block: Box<dyn Block + Send>,
    pins: Vec<Pin>,
    cells: Vec<Arc<PinCell>>,
    by_name: HashMap<String, usize>,
    clock: Option<usize>,
}

/// Collects the pins of the outermost scope.
#[derive(Default)]
struct TopPins {
    depth: usize,
    spaces: Vec<Space>,
    pins: Vec<(Pin, usize)>,
}

impl Probe for TopPins {
    fn visit_start_scope(&mut self, _: &str, _: &dyn Block) {
        self.depth += 1;
    }
    fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {
        self.depth -= 1;
    }
    fn visit_start_namespace(&mut self, name: &str, node: &dyn Block) {
        let outer = self.spaces.last().cloned().unwrap_or_default();
        self.spaces.push(outer.enter(name, node));
    }
    fn visit_end_namespace(&mut self, _: &str, _: &dyn Block) {
        self.spaces.pop();
    }
    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        let direction = match atom.kind() {
            AtomKind::InputParameter => PinDirection::Input,
            AtomKind::OutputParameter => PinDirection::Output,
            _ => return,
        };
        let space = self.spaces.last().cloned().unwrap_or_default();
        if self.depth != 1 || space.renames(atom.kind()) {
            return;
        }
        if let Ok(Meta::Net { kind, .. }) = serde_json::from_str(&atom.descriptor().name) {
            let pin = Pin {
                name: format!("{}{name}", space.printed).replace('$', "_"),
                width: atom.bits() as u32,
                direction,
                kind,
            };
            self.pins.push((pin, atom.id()));
        }
    }
}

impl Simulator {
    /// Takes a block over and settles it with all inputs 0.
    ///
    /// # Errors
    /// If it does not settle.
    pub fn new(block: impl Block + Send + 'static) -> Result<Self, SimError> {
        Self::of(Box::new(block))
    }

    fn of(mut block: Box<dyn Block + Send>) -> Result<Self, SimError> {
        let mut probe = TopPins::default();
        block.accept("top", &mut probe);
        let mut cells = Vec::new();
        let mut attached = HashMap::new();
        let mut by_name = HashMap::new();
        let mut pins = Vec::new();
        for (index, (pin, id)) in probe.pins.into_iter().enumerate() {
            let cell = Arc::new(PinCell::default());
            attached.insert(id, cell.clone());
            cells.push(cell);
            by_name.insert(pin.name.clone(), index);
            pins.push(pin);
        }
        connect_with_pins(&mut *block, attached);
        let clock = by_name
            .get("clk")
            .copied()
            .filter(|&index| pins[index].kind == Type::Clock);
        let mut simulator = Self {
            block,
            pins,
            cells,
            by_name,
            clock,
        };
        simulator.settle()?;
        Ok(simulator)
    }

    /// Every pin in the order of declaration, the clock included.
    pub fn pins(&self) -> &[Pin] {
        &self.pins
    }

    /// Finds a pin.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn pin(&self, name: &str) -> Result<PinIndex, SimError> {
        self.by_name
            .get(name)
            .map(|&index| PinIndex(index))
            .ok_or_else(|| SimError::UnknownPin {
                name: name.into(),
                known: self
                    .pins
                    .iter()
                    .map(|pin| pin.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }

    /// Sets an input; it takes effect with the next [`settle`](Self::settle).
    ///
    /// # Errors
    /// If there is no such input or the value does not fit it.
    pub fn set(&mut self, name: &str, value: u128) -> Result<(), SimError> {
        let index = self.pin(name)?;
        self.set_at(index, value)
    }

    /// [`set`](Self::set) by index.
    ///
    /// # Errors
    /// If the pin is an output or the value does not fit it.
    pub fn set_at(&mut self, PinIndex(index): PinIndex, value: u128) -> Result<(), SimError> {
        let pin = &self.pins[index];
        if pin.direction != PinDirection::Input {
            return Err(SimError::NotAnInput {
                name: pin.name.clone(),
            });
        }
        let largest = match &pin.kind {
            Type::State { variants, .. } => variants.len() as u128 - 1,
            _ => mask(pin.width),
        };
        if value > largest {
            return Err(SimError::OutOfRange {
                name: pin.name.clone(),
                value,
                legal: format!("0 to {largest}"),
            });
        }
        self.cells[index].store(value);
        Ok(())
    }

    /// Reads a pin.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn get(&self, name: &str) -> Result<u128, SimError> {
        Ok(self.get_at(self.pin(name)?))
    }

    /// [`get`](Self::get) by index.
    pub fn get_at(&self, PinIndex(index): PinIndex) -> u128 {
        self.cells[index].load()
    }

    /// Lets the combinational logic follow the inputs.
    ///
    /// # Errors
    /// If it oscillates.
    pub fn settle(&mut self) -> Result<(), SimError> {
        for _ in 0..MAX_ROUNDS {
            self.block.update_all();
            if !self.block.has_changed() {
                return Ok(());
            }
        }
        Err(SimError::NoConvergence { rounds: MAX_ROUNDS })
    }

    /// One rising edge of `clk` on settled inputs; afterwards the clock is low again and
    /// the outputs have settled.
    ///
    /// # Errors
    /// If the block has no clock, oscillates, or breaks a claim of its own.
    pub fn rising_edge(&mut self) -> Result<(), SimError> {
        self.rising_edge_but(&[])
    }

    /// [`Simulator::rising_edge`], at which the claims that say this may be broken.
    ///
    /// # Errors
    /// As there.
    pub fn rising_edge_but(&mut self, broken: &[&str]) -> Result<(), SimError> {
        let clock = self.clock.ok_or(SimError::NoClock)?;
        self.cells[clock].store(1);
        self.settle()?;
        // The falling edge travels through the clock tree together with the next change
        // of the inputs.
        self.cells[clock].store(0);
        let mut violations = take_violations().into_iter();
        match violations.find(|claim| !broken.contains(&claim.as_str())) {
            Some(claim) => Err(SimError::Violated { claim }),
            None => Ok(()),
        }
    }
}
