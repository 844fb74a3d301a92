//! Configurations, idle periods, and the registers of a port.

use std::collections::VecDeque;
use std::sync::OnceLock;

use linkdoze::blocks::csr::map::{self, Map};
use linkdoze::blocks::port::golden::Port;
use linkdoze::blocks::port::model::Model;
use linkdoze::blocks::port::pins::{Inputs, Outputs};
use linkdoze::config::plan::PortPlan;
use linkdoze::config::{Config, PRESETS};
use linkdoze::periods::{Periods, PeriodsError};

use super::{check_faults, check_message, check_written, Folder};

/// A configuration that is accepted can be written and read again, and its golden model does the
/// same in leaps as cycle by cycle; one that is not has its faults named at their places.
pub fn configuration(bytes: &[u8]) -> bool {
    let folder = Folder::of([("port.toml", bytes)]);
    let config = match Config::load(&folder.file("port.toml")) {
        Ok(config) => config,
        Err(error) => return check_faults(&error, bytes),
    };
    check_written(&config);
    config.notes().iter().for_each(|note| check_message(note));
    match config.plan() {
        Ok(plan) => check_leaps(&plan),
        Err(error) => check_message(&error.to_string()),
    }
    true
}

/// Cycles that are clocked one by one: enough for some transitions of a short `t_w`.
const SINGLE_CYCLES: u64 = 400;

/// The golden model in leaps, beside itself cycle by cycle, with packets now and then.
fn check_leaps(plan: &PortPlan) {
    let mut single = Port::new(plan);
    let mut leaping = single.clone();
    let inputs = [Inputs::quiet(), Inputs::waiting(), Inputs::sending()];
    let mut now = 0;
    while now < SINGLE_CYCLES {
        // 1 to 89 cycles each.
        let stretch = 1 + (now * 7) % 89;
        let inputs = inputs[(now % 3) as usize];
        check_stretch(&mut single, &mut leaping, &inputs, stretch);
        now += stretch;
    }
    // Times at the ends of their registers.
    for stretch in [u64::from(u32::MAX), 1 << 45, u64::MAX >> 12] {
        for inputs in &inputs {
            let mut left = stretch;
            // Refresh and a short tick change outputs for ever.
            for _ in 0..20 {
                if left > 0 {
                    left -= leaping.advance(inputs, left);
                }
            }
        }
    }
}

/// So many cycles with the same inputs, in leaps and one by one.
fn check_stretch(single: &mut Port, leaping: &mut Port, inputs: &Inputs, cycles: u64) {
    let mut left = cycles;
    while left > 0 {
        let held = leaping.outputs();
        let leapt = leaping.advance(inputs, left);
        assert!((1..=left).contains(&leapt), "{leapt} of {left} cycles");
        for cycle in 0..leapt {
            assert_eq!(single.outputs(), held, "cycle {cycle} of a leap of {leapt}");
            assert_eq!(single.advance(inputs, 1), 1);
        }
        assert_eq!(
            single.outputs(),
            leaping.outputs(),
            "after a leap of {leapt}"
        );
        left -= leapt;
    }
}

/// A list is read as it is written, and what is refused is named with its line.
pub fn periods(bytes: &[u8]) -> bool {
    let folder = Folder::of([("p.csv", bytes)]);
    let path = folder.file("p.csv");
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    let refused = |error: PeriodsError| {
        let message = error.to_string();
        check_message(&message);
        assert!(message.contains("p.csv"), "{message}");
        if let PeriodsError::Line { line, .. } = error {
            assert!((1..=lines + 1).contains(&line), "{message}");
        }
        false
    };
    let periods = match Periods::open(&path) {
        Ok(periods) => periods,
        Err(error) => return refused(error),
    };
    let mut written = String::from("busy,idle\n");
    let mut all = Vec::new();
    for period in periods {
        match period {
            Ok(period) => {
                assert!(period.busy >= 1 && period.idle >= 1, "{period:?}");
                written += &format!("{},{}\n", period.busy, period.idle);
                all.push(period);
            }
            // What follows a fault is not used.
            Err(error) => return refused(error),
        }
    }
    assert!(!all.is_empty(), "no periods, and no fault");
    let folder = Folder::of([("q.csv", written)]);
    let again: Result<Vec<_>, _> = Periods::open(&folder.file("q.csv")).and_then(Iterator::collect);
    assert_eq!(again.expect("what was read can be written"), all);
    true
}

/// Controllers with registers: the presets, and one with everything that counts at run time.
fn ports() -> &'static [(PortPlan, Map)] {
    static PORTS: OnceLock<Vec<(PortPlan, Map)>> = OnceLock::new();
    PORTS.get_or_init(|| {
        let mut texts: Vec<String> = PRESETS
            .iter()
            .map(|preset| format!("{}\n", preset.text))
            .collect();
        texts.push(
            "[clock]\nperiod_ps = 1000\ntick_ns = 1\n[port]\ntime_width = 40\n\
             policy = \"perfbound-correct\"\n[states.deep-sleep]\nt_w_ns = 20\nt_s_ns = 10\n\
             [histogram]\nkind = \"regular\"\nbins = 8\nbin_ns = 4\ncounter_bits = 4\n\
             max_samples = 12\nmax_value_ns = 31\n[perfbound]\nbound = 0.5\nhops = \"measured\"\n\
             [guard]\nburst = 2\n"
                .into(),
        );
        let plans = texts.iter().map(|text| {
            let config = Config::parse(text, "port").expect("a legal configuration");
            let mut config = config;
            config.port.registers = true;
            let plan = config.plan().expect("it has a controller");
            let map = map::port(&plan);
            (plan, map)
        });
        plans.collect()
    })
}

/// Bytes, one after the other; 0 behind their end.
struct Bytes<'a>(std::slice::Iter<'a, u8>);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|_| self.next()))
    }

    /// An address: of a register mostly.
    fn address(&mut self, map: &Map) -> u32 {
        match self.next() {
            byte @ 0..=239 => map.registers[usize::from(byte) % map.registers.len()].offset,
            _ => (u32::from(self.next()) << 8 | u32::from(self.next())) % map::STRIDE,
        }
    }
}

/// The manager of an AXI4-Lite port, and what it is owed.
#[derive(Default)]
struct Manager {
    /// What it drives: an offer stays until it is taken.
    inputs: Inputs,
    /// Addresses of the writes that were taken and not answered, and of how many the data were.
    write_addresses: VecDeque<u32>,
    write_data: usize,
    /// Addresses of the reads that were taken and not answered.
    reads: VecDeque<u32>,
    /// Answers that were not taken in the cycle before: response, and response and data.
    held_write: Option<u8>,
    held_read: Option<(u8, u32)>,
}

/// Whatever software does, the registers keep to AXI4-Lite (IHI 0022, A3.2): an answer stays until
/// it is taken, every request has one, in order, and it comes in the end. Addresses without a
/// register are answered with 3, reserved bits are 0, and leaps change nothing.
pub fn axi(bytes: &[u8]) -> bool {
    /// Steps of one input: more find nothing that fewer do not.
    const MOST_STEPS: usize = 120;
    let mut bytes = Bytes(bytes.iter());
    let ports = ports();
    let (plan, map) = &ports[usize::from(bytes.next()) % ports.len()];
    let mut models = [Port::new(plan), Port::new(plan)];
    let mut manager = Manager::default();
    for _ in 0..MOST_STEPS {
        if bytes.0.len() == 0 {
            break;
        }
        let does = bytes.next();
        let port = match does & 32 {
            0 => [Inputs::quiet(), Inputs::sending()][usize::from(does >> 6 & 1)],
            _ => any_activity(&mut bytes),
        };
        let inputs = &mut manager.inputs;
        *inputs = port.with_axi_of(inputs);
        if does & 1 != 0 && !inputs.s_axi_awvalid {
            (inputs.s_axi_awvalid, inputs.s_axi_awaddr) = (true, bytes.address(map));
        }
        if does & 2 != 0 && !inputs.s_axi_wvalid {
            let (data, strobe) = match bytes.next() {
                byte @ 0..=127 => (u32::from(byte), 15),
                byte => (bytes.word(), byte & 15),
            };
            (inputs.s_axi_wvalid, inputs.s_axi_wdata, inputs.s_axi_wstrb) = (true, data, strobe);
        }
        if does & 4 != 0 && !inputs.s_axi_arvalid {
            (inputs.s_axi_arvalid, inputs.s_axi_araddr) = (true, bytes.address(map));
        }
        inputs.s_axi_bready = does & 8 != 0;
        inputs.s_axi_rready = does & 16 != 0;
        let cycles = match does >> 7 {
            0 => 1,
            _ => 1 + u64::from(bytes.next() & 63),
        };
        manager.drive(&mut models, map, cycles);
    }
    manager.end(&mut models, map);
    true
}

/// Pins of the link and the switch, legal and illegal.
fn any_activity(bytes: &mut Bytes) -> Inputs {
    let pins = bytes.next();
    Inputs {
        rst: pins == 0xff,
        queue_nonempty: pins & 1 != 0,
        transmitting: pins & 2 != 0,
        receiving: pins & 4 != 0,
        packet_valid: pins & 8 != 0,
        packet_hops: bytes.next() & 63,
        message_in: pins >> 4 & 7,
        ..Inputs::quiet()
    }
}

impl Manager {
    /// So many cycles, in one model one by one and in the other in leaps; what is taken is offered
    /// no longer.
    fn drive(&mut self, models: &mut [Port; 2], map: &Map, cycles: u64) {
        let [single, leaping] = models;
        let mut left = cycles;
        while left > 0 {
            let outputs = single.outputs();
            self.check(&outputs, map);
            let inputs = self.inputs;
            let moves = self.transfer(&outputs);
            let stretch = if moves { 1 } else { left };
            let leapt = leaping.advance(&inputs, stretch);
            assert!((1..=stretch).contains(&leapt), "{leapt} of {stretch}");
            for cycle in 0..leapt {
                assert_eq!(
                    single.outputs(),
                    outputs,
                    "cycle {cycle} of a leap of {leapt}"
                );
                single.advance(&inputs, 1);
            }
            assert_eq!(single.outputs(), leaping.outputs(), "after {leapt} cycles");
            left -= leapt;
        }
    }

    /// What the port offers.
    fn check(&self, outputs: &Outputs, map: &Map) {
        let write = outputs.s_axi_bvalid.then_some(outputs.s_axi_bresp);
        let read = (outputs.s_axi_rvalid).then_some((outputs.s_axi_rresp, outputs.s_axi_rdata));
        if self.held_write.is_some() {
            assert_eq!(write, self.held_write, "an answer that is not taken stays");
        }
        if self.held_read.is_some() {
            assert_eq!(read, self.held_read, "an answer that is not taken stays");
        }
        if let Some(response) = write {
            let address = self.write_addresses.front();
            let address = *address.expect("an answer to a write that nobody asked for");
            assert!(self.write_data > 0, "an answer to a write without data");
            let right: &[u8] = match map.at(address / 4) {
                None => &[3],
                Some(register) if !register.writable => &[2],
                Some(_) => &[0, 2],
            };
            assert!(right.contains(&response), "{response} at {address:#x}");
        }
        if let Some((response, data)) = read {
            let address = *self.reads.front().expect("an answer that nobody asked for");
            let (right, bits) = match map.at(address / 4) {
                None => (3, 0),
                Some(register) => {
                    let masks = register.fields.iter().map(map::Field::mask);
                    (0, masks.fold(0, |all, mask| all | mask))
                }
            };
            assert_eq!(response, right, "at {address:#x}");
            assert_eq!(data & !bits, 0, "reserved bits at {address:#x}");
        }
    }

    /// What moves at the clock edge; whether anything does.
    fn transfer(&mut self, outputs: &Outputs) -> bool {
        let inputs = &mut self.inputs;
        if inputs.rst {
            let activity = Inputs::quiet();
            *self = Manager::default();
            self.inputs = activity;
            return true;
        }
        let address = inputs.s_axi_awvalid && outputs.s_axi_awready;
        let data = inputs.s_axi_wvalid && outputs.s_axi_wready;
        let read = inputs.s_axi_arvalid && outputs.s_axi_arready;
        let written = inputs.s_axi_bready && outputs.s_axi_bvalid;
        let answered = inputs.s_axi_rready && outputs.s_axi_rvalid;
        if written {
            self.write_addresses.pop_front();
            self.write_data -= 1;
        }
        if answered {
            self.reads.pop_front();
        }
        let waits = outputs.s_axi_bvalid && !written;
        self.held_write = waits.then_some(outputs.s_axi_bresp);
        let waits = outputs.s_axi_rvalid && !answered;
        self.held_read = waits.then_some((outputs.s_axi_rresp, outputs.s_axi_rdata));
        if address {
            self.write_addresses.push_back(inputs.s_axi_awaddr);
        }
        self.write_data += usize::from(data);
        if read {
            self.reads.push_back(inputs.s_axi_araddr);
        }
        inputs.s_axi_awvalid &= !address;
        inputs.s_axi_wvalid &= !data;
        inputs.s_axi_arvalid &= !read;
        address || data || read || written || answered
    }

    /// Completes all writes and takes all answers: none may be missing.
    fn end(&mut self, models: &mut [Port; 2], map: &Map) {
        // Cycles in which all that is offered is answered.
        const ENOUGH: u64 = 24;
        self.inputs = Inputs::quiet().with_axi_of(&self.inputs);
        self.inputs.s_axi_bready = true;
        self.inputs.s_axi_rready = true;
        self.drive(models, map, ENOUGH);
        // A channel of a write can be ahead of the other by what it holds and what it offers.
        for _ in 0..2 {
            let addresses = self.write_addresses.len() + usize::from(self.inputs.s_axi_awvalid);
            let data = self.write_data + usize::from(self.inputs.s_axi_wvalid);
            self.inputs.s_axi_wvalid |= addresses > data;
            self.inputs.s_axi_awvalid |= data > addresses;
            self.drive(models, map, ENOUGH);
        }
        let open = (
            self.reads.len(),
            self.write_addresses.len(),
            self.write_data,
        );
        assert_eq!(open, (0, 0, 0), "requests without an answer");
    }
}
