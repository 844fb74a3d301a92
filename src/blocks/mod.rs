//! The hardware blocks: each folder holds a block's description and its golden model.

// In a description an `if` on a constant stands alone around what only some configurations
// have.
#![allow(clippy::collapsible_if)]

pub mod axi_lite;
pub mod budget_rate;
pub mod corrector;
pub mod csr;
pub mod digit_step;
pub mod ethernet_port;
pub mod event_counters;
pub mod fixed_point;
pub mod guard;
pub mod histogram;
pub mod hop_monitor;
pub mod idle_meter;
pub mod lane_controller;
pub mod link_sync;
pub mod logarithm;
pub mod lpi_fsm;
pub mod lpi_hold_off;
pub mod lpi_rx;
pub mod lpi_tx;
pub mod mii;
pub mod miss_history;
pub mod pdt_timer;
pub mod perfbound;
pub mod port;
pub mod port_choice;
pub mod queue;
pub mod selectable_ports;
pub mod switch_ports;
#[cfg(test)]
pub(crate) mod testing;
pub mod tree_links;

use crate::config::plan::{MemoryCode, PortPlan};
use crate::hdl::Code;

/// The code of the memories of a port of `plan`.
pub(crate) fn memory_code(plan: &PortPlan) -> Option<Code> {
    match plan.memory_code {
        MemoryCode::Plain => None,
        MemoryCode::Parity => Some(Code::Parity),
        MemoryCode::Secded => Some(Code::Secded),
    }
}
