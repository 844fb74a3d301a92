//! The port controller: one per switch port or NIC port.

pub mod pins;
