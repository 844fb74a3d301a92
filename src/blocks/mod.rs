//! The hardware blocks: each folder holds a block's description and its golden model.

pub mod port;
