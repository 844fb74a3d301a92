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
    /// How many cycles from now the registers are asked for what was chosen.
    asks_in: Option<u8>,
    /// They answer in this cycle.
    asked: bool,
    /// What was chosen last is a write.
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

    /// Cycles from the choice of a request to the request.
    const CHOSEN_AHEAD: u8 = 3;

    /// The request of this cycle.
    pub fn request(&self) -> Option<Request> {
        (self.asks_in == Some(0)).then(|| self.chosen())
    }

    /// The address of a request that comes in two cycles, in words, and whether it is a write.
    pub fn ahead(&self) -> Option<(u32, bool)> {
        (self.asks_in == Some(Self::CHOSEN_AHEAD - 1)).then(|| match self.chosen() {
            Request::Read { word } => (word, false),
            Request::Write { word, .. } => (word, true),
        })
    }

    /// What was chosen, which waits until the registers are asked.
    fn chosen(&self) -> Request {
        let ((data, strobe), write) = (self.w.unwrap_or_default(), self.aw.unwrap_or_default());
        match self.wrote_last {
            true => Request::Write {
                word: write / 4,
                data,
                strobe,
            },
            false => Request::Read {
                word: self.ar.unwrap_or_default() / 4,
            },
        }
    }

    /// Whether what is chosen in this cycle is a write; `None` if nothing is.
    fn chooses(&self) -> Option<bool> {
        let free = self.asks_in.is_none() && !self.asked;
        let write = free && self.aw.is_some() && self.w.is_some() && !self.b_waits;
        let read = free && self.ar.is_some() && !self.r_waits;
        match (write, read) {
            (true, true) => Some(!self.wrote_last),
            (false, false) => None,
            (write, _) => Some(write),
        }
    }

    /// Nothing changes while the manager drives `inputs`.
    pub fn steady(&self, inputs: &Inputs) -> bool {
        !self.asked
            && self.asks_in.is_none()
            && self.chooses().is_none()
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
        let chooses = self.chooses();
        let offered = self.outputs();
        self.b_waits &= !inputs.b_ready;
        self.r_waits &= !inputs.r_ready;
        match (self.asked, self.wrote_last) {
            (true, true) => (self.b, self.b_waits) = (answer.response, true),
            (true, false) => (self.r, self.r_waits) = ((answer.data, answer.response), true),
            (false, _) => {}
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
        self.asked = request.is_some();
        self.asks_in = match (self.asks_in, chooses) {
            (Some(cycles), _) => cycles.checked_sub(1),
            (None, Some(_)) => Some(Self::CHOSEN_AHEAD - 1),
            (None, None) => None,
        };
        self.wrote_last = chooses.unwrap_or(self.wrote_last);
    }
}
