//! The port controller: one per switch port or NIC port.

pub mod golden;
pub mod pins;
#[cfg(test)]
pub(crate) mod tests;
