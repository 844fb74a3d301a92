//! What the transmit shim lets pass.

use crate::hdl::prelude::*;

states! {
    /// What the shim lets pass.
    pub enum Tx {
        Open = "frames may pass",
        Asleep = "LPI is sent",
        Waking = "normal idle, until the other end is ready",
        Reset = "normal idle right after reset: LPI may have been sent before",
    }
}
