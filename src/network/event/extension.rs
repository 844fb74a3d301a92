//! What some networks have beside the packet model of SPEC 15: selection functions, queueing schemes,
//! switches that turn links on and off, lanes.
//!
//! The engine is compiled twice, with `EXTENDED` and without, so that networks without any of these
//! do not pay for them: asking for each with every packet took 4 to 5 % more instructions
//! (docs/evidence/benchmarks.md).

/// An extension of a partition, if its network has it: never, where `EXTENDED` is false.
#[derive(Debug)]
pub(super) struct Extension<T, const EXTENDED: bool>(Option<Box<T>>);

impl<T, const EXTENDED: bool> Extension<T, EXTENDED> {
    /// An extension that the network has, or none.
    ///
    /// # Panics
    /// If there is one in an engine without.
    pub(super) fn new(extension: Option<T>) -> Self {
        assert!(EXTENDED || extension.is_none(), "an engine without");
        Self(extension.map(Box::new))
    }

    /// The network has it.
    #[inline(always)]
    pub(super) fn is_some(&self) -> bool {
        EXTENDED && self.0.is_some()
    }

    #[inline(always)]
    pub(super) fn as_ref(&self) -> Option<&T> {
        match EXTENDED {
            true => self.0.as_deref(),
            false => None,
        }
    }

    #[inline(always)]
    pub(super) fn as_mut(&mut self) -> Option<&mut T> {
        match EXTENDED {
            true => self.0.as_deref_mut(),
            false => None,
        }
    }

    /// Takes it out for a while; [`Extension::put_back`] ends that.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<Box<T>> {
        match EXTENDED {
            true => self.0.take(),
            false => None,
        }
    }

    #[inline(always)]
    pub(super) fn put_back(&mut self, extension: Box<T>) {
        self.0 = Some(extension);
    }
}
