//! Parts of a block that only some configurations have.

use std::ops::{Deref, DerefMut};

use rust_hdl_core::block::Block;
use rust_hdl_core::logic::Logic;
use rust_hdl_core::probe::Probe;

/// A pin or a child block that exists only in some configurations. A description may name
/// it only under an `if` on a constant that says whether it is there; elaboration and
/// simulation see nothing of an absent one.
#[derive(Clone, Debug)]
pub struct Optional<T> {
    part: T,
    present: bool,
}

impl<T> Optional<T> {
    /// The part, there if `present`.
    pub fn when(present: bool, part: T) -> Self {
        Optional { part, present }
    }
}

impl<T> Deref for Optional<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.part
    }
}

impl<T> DerefMut for Optional<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.part
    }
}

impl<T: Block> Logic for Optional<T> {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.part.connect();
    }
}

impl<T: Block> Block for Optional<T> {
    fn connect_all(&mut self) {
        if self.present {
            self.part.connect_all();
        }
    }

    fn update_all(&mut self) {
        if self.present {
            self.part.update_all();
        }
    }

    fn has_changed(&self) -> bool {
        self.present && self.part.has_changed()
    }

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        if self.present {
            self.part.accept(name, probe);
        }
    }
}
