//! Golden model of the AXI4-Lite port: five queues of one place each.

/// What the manager drives in a cycle. `None` is `valid` low.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Write address in bytes.
    pub aw: Option<u32>,
    /// Data to write and its byte strobes.
    pub w: Option<(u32, u8)>,
    /// The manager takes a write answer.
    pub b_ready: bool,
    /// Read address in bytes.
    pub ar: Option<u32>,
    /// The manager takes a read answer.
    pub r_ready: bool,
}

/// What the port drives in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// A write address is taken.
    pub aw_ready: bool,
    /// Data to write is taken.
    pub w_ready: bool,
    /// A write is answered.
    pub b_valid: bool,
    /// The answer to the last write.
    pub b_response: u8,
    /// A read address is taken.
    pub ar_ready: bool,
    /// A read is answered.
    pub r_valid: bool,
    /// What the last read found.
    pub r_data: u32,
    /// The answer to the last read.
    pub r_response: u8,
}

/// A request to the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Read the word with this index.
    Read {
        /// Address in words.
        word: u32,
    },
    /// Write the word with this index.
    Write {
        /// Address in words.
        word: u32,
        /// The data.
        data: u32,
        /// Which of its four bytes.
        strobe: u8,
    },
}

/// What the registers say to a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The data read; 0 for a write.
    pub data: u32,
    /// The response as AXI encodes it.
    pub response: u8,
}

/// Cycle-exact model of the AXI4-Lite port.
#[derive(Clone, Debug, Default)]
pub struct AxiLite {
    aw: Option<u32>,
    w: Option<(u32, u8)>,
    /// The last write's answer, and whether it waits.
    b: u8,
    b_waits: bool,
    ar: Option<u32>,
    /// What the last read found and its answer, and whether they wait.
    r: (u32, u8),
    r_waits: bool,
    /// The request of the cycle before was a write, or a read.
    asked: Option<bool>,
    wrote_last: bool,
}

impl AxiLite {
    /// The outputs of this cycle.
    #[inline]
    pub fn outputs(&self) -> Outputs {
        Outputs {
            aw_ready: self.aw.is_none(),
            w_ready: self.w.is_none(),
            b_valid: self.b_waits,
            b_response: self.b,
            ar_ready: self.ar.is_none(),
            r_valid: self.r_waits,
            r_data: self.r.0,
            r_response: self.r.1,
        }
    }

    /// The request of this cycle.
    pub fn request(&self) -> Option<Request> {
        if self.asked.is_some() {
            return None;
        }
        let write = match (self.aw, self.w, self.b_waits) {
            (Some(address), Some((data, strobe)), false) => Some(Request::Write {
                word: address / 4,
                data,
                strobe,
            }),
            _ => None,
        };
        let read = match (self.ar, self.r_waits) {
            (Some(address), false) => Some(Request::Read { word: address / 4 }),
            _ => None,
        };
        match (write, read) {
            (Some(_), Some(_)) if self.wrote_last => read,
            (Some(_), _) => write,
            _ => read,
        }
    }

    /// Nothing changes while the manager drives `inputs`.
    pub fn steady(&self, inputs: &Inputs) -> bool {
        self.asked.is_none()
            && self.request().is_none()
            && !(self.aw.is_none() && inputs.aw.is_some())
            && !(self.w.is_none() && inputs.w.is_some())
            && !(self.b_waits && inputs.b_ready)
            && !(self.ar.is_none() && inputs.ar.is_some())
            && !(self.r_waits && inputs.r_ready)
    }

    /// The clock edge at the end of a cycle; `answer` is the registers' answer to the
    /// request of the cycle before.
    pub fn clock(&mut self, inputs: &Inputs, answer: Answer) {
        let request = self.request();
        let offered = self.outputs();
        self.b_waits &= !inputs.b_ready;
        self.r_waits &= !inputs.r_ready;
        match self.asked {
            Some(true) => (self.b, self.b_waits) = (answer.response, true),
            Some(false) => (self.r, self.r_waits) = ((answer.data, answer.response), true),
            None => {}
        }
        if offered.aw_ready {
            self.aw = inputs.aw;
        }
        if offered.w_ready {
            self.w = inputs.w;
        }
        if offered.ar_ready {
            self.ar = inputs.ar;
        }
        match request {
            Some(Request::Write { .. }) => {
                self.aw = None;
                self.w = None;
            }
            Some(Request::Read { .. }) => self.ar = None,
            None => {}
        }
        self.asked = request.map(|request| matches!(request, Request::Write { .. }));
        if let Some(wrote) = self.asked {
            self.wrote_last = wrote;
        }
    }
}
