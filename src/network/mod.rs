//! The network model: traces, their replay, and the packets they send.

pub mod engine;
pub mod replay;
pub mod trace;
