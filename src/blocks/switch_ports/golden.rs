//! Golden model of all ports of a switch behind one AXI4-Lite port.

use crate::blocks::axi_lite::golden::{Answer, AxiLite, Request};
use crate::blocks::axi_lite::response::{DECERR, OKAY, SLVERR};
use crate::blocks::axi_lite::DATA_WIDTH;
use crate::blocks::csr::map::{self, Map, PAGE_BITS};
use crate::blocks::port::golden::Port;
use crate::blocks::port::model::Model;
use crate::blocks::port::pins::{Inputs, Outputs};
use crate::blocks::port::Access;
use crate::config::plan::PortPlan;

/// Cycle-exact model of the ports of a switch. Reset and AXI4-Lite pins are those of the first
/// port's inputs and outputs.
#[derive(Clone, Debug)]
pub struct SwitchPorts {
    plan: PortPlan,
    axi: AxiLite,
    ports: Vec<Port>,
    /// The page of all ports, and its address.
    page: Map,
    page_at: u32,
    /// What that page, or no page, answers to the request of the cycle before.
    answer: Answer,
    /// Upper word of the pair last read.
    upper_word: u32,
    /// A port raised its interrupt in the cycle before.
    interrupt: bool,
}

impl SwitchPorts {
    /// So many controllers of `plan`, 1 to [`map::MAX_PORTS`], just after reset.
    ///
    /// # Panics
    /// If the plan has no registers.
    pub fn new(plan: &PortPlan, ports: u32) -> SwitchPorts {
        SwitchPorts {
            plan: *plan,
            axi: AxiLite::default(),
            ports: (0..ports)
                .map(|_| Port::with_access(plan, Access::Shared))
                .collect(),
            page: map::all_ports(plan, ports),
            page_at: map::global_offset(ports),
            answer: Answer::default(),
            upper_word: 0,
            interrupt: false,
        }
    }

    /// The outputs of every port in the present cycle, those that are no pins of a switch among
    /// them.
    pub fn outputs(&self) -> Vec<Outputs> {
        let mut outputs = Vec::new();
        self.outputs_into(&mut outputs);
        outputs
    }

    /// The same, in the place of what is there.
    pub fn outputs_into(&self, outputs: &mut Vec<Outputs>) {
        outputs.clear();
        outputs.extend(self.ports.iter().map(Port::outputs));
        outputs[0] = Outputs {
            irq: self.interrupt,
            ..outputs[0].with_axi(&self.axi.outputs())
        };
    }

    /// Clocks up to `max` (>= 1) cycles with the inputs of every port held, and stops where
    /// something may change. Returns the cycles clocked (>= 1); the outputs were constant during
    /// them.
    pub fn advance(&mut self, inputs: &[Inputs], max: u64) -> u64 {
        let ports = self.ports.iter().zip(inputs);
        let steady = self.axi.steady(&inputs[0].axi())
            && self.answer == Answer::default()
            && self.interrupt == self.any_interrupt();
        let quiet = match steady {
            true => ports.map(|(port, inputs)| port.quiet(inputs)).min(),
            false => None,
        };
        let cycles = quiet.unwrap_or(0).clamp(1, max);
        self.clock(inputs, cycles);
        cycles
    }

    /// The edges at the end of so many cycles; of more than one, if nothing is to happen in them.
    fn clock(&mut self, inputs: &[Inputs], cycles: u64) {
        if inputs[0].rst {
            let ports = u32::try_from(self.ports.len()).unwrap_or(map::MAX_PORTS);
            *self = SwitchPorts::new(&self.plan, ports);
            return;
        }
        let request = self.axi.request();
        // Only what was asked answers; everything else says 0.
        let mut answer = self.answer;
        for port in &self.ports {
            let of_port = port.answer();
            answer.data |= of_port.data;
            answer.response |= of_port.response;
        }
        let (page, request) = match request {
            Some(request) => in_page(request),
            None => (u32::MAX, request),
        };
        self.answer = match request {
            Some(request) if page as usize >= self.ports.len() => self.ask(page, request),
            _ => Answer::default(),
        };
        self.axi.clock(&inputs[0].axi(), answer);
        self.interrupt = self.any_interrupt();
        for (number, (port, inputs)) in (0..).zip(self.ports.iter_mut().zip(inputs)) {
            port.ask(request.filter(|_| page == number));
            let mut left = cycles;
            while left > 0 {
                left -= port.advance(inputs, left);
            }
        }
    }

    /// A port raises its interrupt.
    fn any_interrupt(&self) -> bool {
        self.ports.iter().any(Port::interrupt)
    }

    /// The lower word of a pair with one bit for each port; the upper one can be read then.
    fn latch(&mut self, of: impl Fn(&Port) -> bool) -> u32 {
        let flags = (0..).zip(&self.ports);
        let flags = flags.map(|(number, port)| u64::from(of(port)) << number);
        let flags: u64 = flags.sum();
        self.upper_word = (flags >> DATA_WIDTH) as u32;
        flags as u32
    }

    /// What no page of a port answers.
    fn ask(&mut self, page: u32, request: Request) -> Answer {
        let refused = |response| Answer { data: 0, response };
        let (word, write) = match request {
            Request::Read { word } => (word, false),
            Request::Write { word, .. } => (word, true),
        };
        let register = self.page.at(word);
        let Some(register) = register.filter(|_| page == self.page_at >> PAGE_BITS) else {
            return refused(DECERR);
        };
        if write {
            return refused(SLVERR);
        }
        let data = match register.name {
            "errors_low" => self.latch(Port::error_flag),
            "interrupts_low" => self.latch(Port::interrupt),
            "errors_high" | "interrupts_high" => self.upper_word,
            _ => register.reset(),
        };
        Answer {
            data,
            response: OKAY,
        }
    }
}

/// The page of a request, and the request with its word in that page.
fn in_page(request: Request) -> (u32, Option<Request>) {
    const WORDS: u32 = map::STRIDE / 4;
    match request {
        Request::Read { word } => (word / WORDS, Some(Request::Read { word: word % WORDS })),
        Request::Write { word, data, strobe } => {
            let word_in_page = word % WORDS;
            let request = Request::Write {
                word: word_in_page,
                data,
                strobe,
            };
            (word / WORDS, Some(request))
        }
    }
}
