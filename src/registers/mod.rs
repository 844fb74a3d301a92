//! What software reads about the registers: SystemRDL, a C header, a page in Markdown. All
//! come from the register map that the RTL comes from ([`crate::blocks::csr::map`]).

mod header;
mod markdown;
mod rdl;
#[cfg(test)]
mod tests;

use crate::blocks::csr::map::{self, Map};
use crate::config::plan::{PortPlan, Sleep};
pub use markdown::rows;

/// The registers behind one AXI4-Lite port.
#[derive(Clone, Debug)]
pub struct Space {
    /// The page of a port.
    port: Map,
    /// How many pages of ports there are, and the page of all of them; `None`: a single port.
    all: Option<(u32, Map)>,
    /// For the conversion of times: tick and clock period in picoseconds.
    tick_ps: u64,
    clock_ps: u64,
    /// Of a direction that sleeps for itself and whose times are registers: the register of the `t_w` that
    /// two ends of Ethernet agree about.
    agreed: Option<&'static str>,
    /// SHA-256 of the configuration in hexadecimal.
    hash: String,
    /// What the names of modules begin with.
    prefix: String,
    /// The module that has the registers.
    module: String,
}

impl Space {
    /// The registers of the controller of `plan`, alone or `ports` of them.
    ///
    /// # Panics
    /// If the plan has no registers.
    pub fn new(plan: &PortPlan, ports: Option<u32>, tick_ps: u64, hash: String) -> Self {
        Space {
            port: map::port(plan),
            all: ports.map(|ports| (ports, map::all_ports(plan, ports))),
            tick_ps,
            clock_ps: tick_ps / plan.clocks_per_tick,
            agreed: match plan.sleep {
                _ if !plan.per_direction() || plan.adjustable_times().is_empty() => None,
                Sleep::FastWake => Some("T_W_FAST_WAKE"),
                Sleep::DeepSleep | Sleep::Hybrid => Some("T_W_DEEP_SLEEP"),
            },
            hash,
            prefix: String::new(),
            module: match ports {
                Some(_) => "switch_ports".into(),
                None => "port".into(),
            },
        }
    }

    /// The same where the names of modules begin with `prefix`.
    #[must_use]
    pub fn prefixed(mut self, prefix: &str) -> Self {
        self.module.insert_str(0, prefix);
        self.prefix = prefix.into();
        self
    }

    /// The files: name and text.
    pub fn files(&self) -> Vec<(String, String)> {
        vec![
            (format!("{}_registers.rdl", self.module), rdl::text(self)),
            (format!("{}_registers.h", self.module), header::text(self)),
            (
                format!("{}_registers.md", self.module),
                markdown::text(self),
            ),
        ]
    }

    /// Where the files come from, in two lines.
    fn origin(&self) -> [String; 2] {
        crate::files::origin(&self.hash)
    }
}
