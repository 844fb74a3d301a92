//! The transfers of an AXI4-Lite port, as its pins tell: what was asked, and what the answer was.

use std::collections::VecDeque;

use crate::blocks::port::pins::{Inputs, Pin};
use crate::cosim::Run;

/// A write that was answered.
pub(super) struct WriteAnswer {
    /// Address in words.
    pub word: u32,
    pub data: u32,
    /// Which of its bytes.
    pub strobe: u8,
    /// As AXI encodes it.
    pub response: u8,
}

/// A read that was answered.
pub(super) struct ReadAnswer {
    /// Address in words.
    pub word: u32,
    pub data: u32,
    /// As AXI encodes it.
    pub response: u8,
}

/// What was taken and is not answered.
#[derive(Default)]
pub(super) struct Transfers {
    write_addresses: VecDeque<u32>,
    write_data: VecDeque<(u32, u8)>,
    read_addresses: VecDeque<u32>,
}

impl Transfers {
    /// Addresses to write to, data to write, and addresses to read that wait.
    pub fn waiting(&self) -> [usize; 3] {
        [
            self.write_addresses.len(),
            self.write_data.len(),
            self.read_addresses.len(),
        ]
    }

    /// A reset: nothing will be answered. Whether something was asked.
    pub fn forget(&mut self) -> bool {
        let asked = !(self.write_addresses.is_empty() && self.read_addresses.is_empty());
        *self = Transfers::default();
        asked
    }

    /// The write whose answer is taken in this cycle.
    pub fn written(&mut self, run: &Run, inputs: &Inputs) -> Option<WriteAnswer> {
        if run.expected(Pin::BValid) == 0 || !inputs.s_axi_bready {
            return None;
        }
        let word = self.write_addresses.pop_front()?;
        let (data, strobe) = self.write_data.pop_front()?;
        Some(WriteAnswer {
            word,
            data,
            strobe,
            response: run.expected(Pin::BResp) as u8,
        })
    }

    /// The read whose answer is taken in this cycle.
    pub fn read(&mut self, run: &Run, inputs: &Inputs) -> Option<ReadAnswer> {
        if run.expected(Pin::RValid) == 0 || !inputs.s_axi_rready {
            return None;
        }
        Some(ReadAnswer {
            word: self.read_addresses.pop_front()?,
            data: run.expected(Pin::RData) as u32,
            response: run.expected(Pin::RResp) as u8,
        })
    }

    /// Takes in what is asked in this cycle.
    pub fn take(&mut self, run: &Run, inputs: &Inputs) {
        let is = |pin: Pin| run.expected(pin) == 1;
        if inputs.s_axi_awvalid && is(Pin::AwReady) {
            self.write_addresses.push_back(inputs.s_axi_awaddr / 4);
        }
        if inputs.s_axi_wvalid && is(Pin::WReady) {
            let data = (inputs.s_axi_wdata, inputs.s_axi_wstrb);
            self.write_data.push_back(data);
        }
        if inputs.s_axi_arvalid && is(Pin::ArReady) {
            self.read_addresses.push_back(inputs.s_axi_araddr / 4);
        }
    }
}
