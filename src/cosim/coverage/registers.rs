//! Which corners of the register accesses a run has reached.

use std::collections::VecDeque;

use super::corner::Corner;
use crate::blocks::axi_lite::response::{DECERR, OKAY, SLVERR};
use crate::blocks::csr::map;
use crate::blocks::port::pins::{Inputs, Pin};
use crate::config::plan::PortPlan;
use crate::cosim::Run;

/// Follows the transfers of the AXI4-Lite port, as its pins tell.
pub(super) struct Registers {
    /// Addresses in words.
    command: u32,
    bin_count: u32,
    hop_count: u32,
    errors: u32,
    /// The event counters, lower words.
    counters: Vec<u32>,
    /// Transfers that are taken and not answered.
    write_addresses: VecDeque<u32>,
    write_data: VecDeque<(u32, u8)>,
    read_addresses: VecDeque<u32>,
    configured: bool,
}

impl Registers {
    /// Nothing has been asked yet; `None` if there are no registers.
    pub fn new(plan: &PortPlan) -> Option<Registers> {
        plan.registers?;
        let page = map::port(plan);
        let at = |name: &str| page.register(name).offset / 4;
        let counters = at("periods_low")..=at("waits_low");
        Some(Registers {
            command: at("command"),
            bin_count: at("bin_count"),
            hop_count: at("hop_count"),
            errors: at("errors"),
            counters: counters.step_by(2).collect(),
            write_addresses: VecDeque::new(),
            write_data: VecDeque::new(),
            read_addresses: VecDeque::new(),
            configured: false,
        })
    }

    /// Software has applied parameters since the last reset: the port is no longer the one of
    /// the configuration.
    pub fn configured(&self) -> bool {
        self.configured
    }

    /// Takes in what happened next, and calls `reach` with the corners that it is.
    pub fn observe(&mut self, run: &Run, inputs: &Inputs, mut reach: impl FnMut(Corner)) {
        if inputs.rst {
            let open = [self.write_addresses.len(), self.read_addresses.len()];
            if open.iter().sum::<usize>() > 0 {
                reach(Corner::ResetAsked);
            }
            self.write_addresses.clear();
            self.write_data.clear();
            self.read_addresses.clear();
            self.configured = false;
            return;
        }
        let is = |pin: Pin| run.expected(pin) == 1;
        if is(Pin::BValid) {
            if inputs.s_axi_bready {
                self.write_answered(run, inputs, &mut reach);
            } else {
                reach(Corner::WriteStalls);
            }
        }
        if is(Pin::RValid) {
            if inputs.s_axi_rready {
                self.read_answered(run, &mut reach);
            } else {
                reach(Corner::ReadStalls);
            }
        }
        let (addresses, data) = (self.write_addresses.len(), self.write_data.len());
        if inputs.s_axi_awvalid && is(Pin::AwReady) {
            if data > addresses {
                reach(Corner::DataFirst);
            }
            if !inputs.s_axi_awaddr.is_multiple_of(4) {
                reach(Corner::Unaligned);
            }
            self.write_addresses.push_back(inputs.s_axi_awaddr / 4);
        }
        if inputs.s_axi_wvalid && is(Pin::WReady) {
            if addresses > data {
                reach(Corner::AddressFirst);
            }
            self.write_data
                .push_back((inputs.s_axi_wdata, inputs.s_axi_wstrb));
        }
        if inputs.s_axi_arvalid && is(Pin::ArReady) {
            self.read_addresses.push_back(inputs.s_axi_araddr / 4);
        }
        if addresses.min(data) > 0 && !self.read_addresses.is_empty() {
            reach(Corner::ReadAndWrite);
        }
    }

    fn write_answered(&mut self, run: &Run, inputs: &Inputs, reach: &mut impl FnMut(Corner)) {
        let (Some(word), Some((data, strobe))) = (
            self.write_addresses.pop_front(),
            self.write_data.pop_front(),
        ) else {
            return;
        };
        match run.expected(Pin::BResp) as u8 {
            OKAY => {
                reach(Corner::Written);
                match strobe {
                    0 => reach(Corner::NoByteWritten),
                    15 => {}
                    _ => reach(Corner::BytesWritten),
                }
                let bits = if strobe & 1 == 1 { data } else { 0 };
                if word == self.command && bits & 1 == 1 {
                    self.configured = true;
                    reach(if inputs.active() {
                        Corner::AppliedActive
                    } else {
                        Corner::AppliedIdle
                    });
                }
                if word == self.command && bits & 2 == 2 {
                    reach(Corner::CountersCleared);
                }
            }
            SLVERR => reach(Corner::WriteRefused),
            DECERR => reach(Corner::WriteNowhere),
            _ => {}
        }
    }

    fn read_answered(&mut self, run: &Run, reach: &mut impl FnMut(Corner)) {
        let Some(word) = self.read_addresses.pop_front() else {
            return;
        };
        match run.expected(Pin::RResp) as u8 {
            OKAY => reach(Corner::Read),
            DECERR => reach(Corner::ReadNowhere),
            _ => {}
        }
        if run.expected(Pin::RData) == 0 {
            return;
        }
        if word == self.bin_count {
            reach(Corner::BinRead);
        } else if word == self.hop_count {
            reach(Corner::HopsRead);
        } else if word == self.errors {
            reach(Corner::ErrorRead);
        } else if self.counters.contains(&word) {
            reach(Corner::CounterRead);
        }
    }
}
