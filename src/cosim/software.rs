//! Software at the AXI4-Lite port of a controller: random accesses in bursts, legal and illegal.

use std::collections::VecDeque;

use rand::seq::{IndexedRandom, IteratorRandom};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::interrupted::Interrupted;
use super::{Activity, SoftwareMay, Stretch, LONG_STRETCH};
use crate::blocks::axi_lite::golden as axi;
use crate::blocks::csr::map::{self, Map, STRIDE};
use crate::blocks::port::pins::{Inputs, Outputs, PackedOutputs};
use crate::config::plan::{AdjustableTime, LinkTime, PortPlan};

/// Transfers that a channel has in its queue at most.
const AHEAD: usize = 2;

/// An activity with software that asks the registers, where there are any.
pub struct WithSoftware<A> {
    activity: Interrupted<A>,
    software: Option<Software>,
}

impl<A: Activity> WithSoftware<A> {
    /// The software of `seed`.
    pub fn random(activity: A, plan: &PortPlan, seed: u64, leaps: bool) -> Self {
        WithSoftware {
            activity: Interrupted::new(activity),
            software: (plan.registers).map(|_| Software::new(plan, seed, leaps)),
        }
    }
}

impl<A: Activity> Activity for WithSoftware<A> {
    fn next(&mut self, outputs: &PackedOutputs) -> Option<Stretch> {
        let Some(software) = &mut self.software else {
            return self.activity.next(outputs);
        };
        // What the registers answer ends no stretch of the port's own.
        let outputs = outputs.unpack();
        let of_port = outputs.without_registers();
        let stretch = self.activity.next(&of_port.pack())?;
        let cycles = software.drive(&stretch, &outputs);
        Some(Stretch {
            inputs: software.beside(stretch.inputs),
            cycles: cycles.min(stretch.cycles),
            ..stretch
        })
    }

    fn passed(&mut self, cycles: u64, leapt: u64) {
        self.activity.passed(cycles, leapt);
        if let Some(software) = &mut self.software {
            software.clocked(cycles - leapt);
        }
    }
}

/// A part of what software does in a burst.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Write {
        address: u32,
        data: u32,
        strobe: u8,
    },
    Read {
        address: u32,
    },
    /// Waits until all is answered, and so many cycles more.
    Wait(u64),
}

/// The pages of a switch.
struct Pages {
    ports: u32,
    /// The registers of the page of all ports.
    all: Map,
}

/// The manager of the AXI4-Lite port. Its channels move independently of each other, and what
/// it offers stays as it is until it is taken (IHI 0022, A3.2.1).
pub(super) struct Software {
    random: ChaCha8Rng,
    /// The registers of a port, and the address of its page.
    page: Map,
    base: u32,
    /// The other pages of a switch, where this is its software.
    switch: Option<Pages>,
    plan: PortPlan,
    operations: VecDeque<Operation>,
    /// What the channels are still to offer.
    write_addresses: VecDeque<u32>,
    write_data: VecDeque<(u32, u8)>,
    read_addresses: VecDeque<u32>,
    /// Answers that are still to come.
    open: usize,
    /// In 8: how often a channel moves.
    eagerness: u32,
    /// What it drives; the pins of the port itself are not read.
    present: Inputs,
    /// What is taken at the end of the cycle is forgotten in the next.
    taken: axi::Outputs,
    /// The engine leaps over idle time.
    leaps: bool,
    /// Clocked cycles.
    now: u64,
    /// Nothing is asked before this cycle.
    next_at: u64,
}

impl Software {
    /// The software of a switch of so many ports, whose idle time is clocked.
    pub(super) fn of_switch(plan: &PortPlan, ports: u32, seed: u64) -> Software {
        Software {
            switch: Some(Pages {
                ports,
                all: map::all_ports(plan, ports),
            }),
            ..Software::new(plan, seed, false)
        }
    }

    fn new(plan: &PortPlan, seed: u64, leaps: bool) -> Software {
        Software {
            random: ChaCha8Rng::seed_from_u64(seed ^ 0x5057),
            page: map::port(plan),
            base: 0,
            switch: None,
            plan: *plan,
            operations: VecDeque::new(),
            write_addresses: VecDeque::new(),
            write_data: VecDeque::new(),
            read_addresses: VecDeque::new(),
            open: 0,
            eagerness: 8,
            present: Inputs::default(),
            taken: axi::Outputs::default(),
            leaps,
            now: 0,
            next_at: 0,
        }
    }

    /// These inputs with what is driven at the AXI4-Lite port.
    pub(super) fn beside(&self, inputs: Inputs) -> Inputs {
        inputs.with_axi_of(&self.present)
    }

    /// So many cycles were clocked.
    pub(super) fn clocked(&mut self, cycles: u64) {
        self.now += cycles;
    }

    /// Decides what is driven in this cycle, and for how many cycles that stays so.
    pub(super) fn drive(&mut self, stretch: &Stretch, outputs: &Outputs) -> u64 {
        self.forget_taken();
        if stretch.inputs.rst {
            self.reset();
            return stretch.cycles;
        }
        if self.is_idle() {
            if stretch.software == SoftwareMay::Nothing {
                self.next_at = self.now;
                return stretch.cycles;
            }
            if self.now < self.next_at {
                return self.pause(stretch.cycles);
            }
            self.begin(stretch.software);
        }
        self.go_on();
        self.offer();
        self.taken = axi::Outputs {
            aw_ready: outputs.s_axi_awready,
            w_ready: outputs.s_axi_wready,
            b_valid: outputs.s_axi_bvalid,
            ar_ready: outputs.s_axi_arready,
            r_valid: outputs.s_axi_rvalid,
            ..axi::Outputs::default()
        };
        1
    }

    fn chance(&mut self, one_in: u32) -> bool {
        self.random.random_ratio(1, one_in)
    }

    /// For how many of so many cycles nothing is asked.
    fn pause(&mut self, cycles: u64) -> u64 {
        if !self.leaps || cycles <= LONG_STRETCH {
            return self.next_at - self.now;
        }
        // Idle time that is leapt over: now and then something is asked in the middle of it.
        if self.chance(4) {
            self.next_at = self.now;
            return self.random.random_range(1..cycles);
        }
        cycles
    }

    fn is_idle(&self) -> bool {
        self.operations.is_empty() && self.open == 0
    }

    /// Takes back what the cycle before has moved.
    fn forget_taken(&mut self) {
        let taken = std::mem::take(&mut self.taken);
        let present = &mut self.present;
        present.s_axi_awvalid &= !taken.aw_ready;
        present.s_axi_wvalid &= !taken.w_ready;
        present.s_axi_arvalid &= !taken.ar_ready;
        let answers = usize::from(taken.b_valid && present.s_axi_bready)
            + usize::from(taken.r_valid && present.s_axi_rready);
        self.open -= answers;
    }

    /// All transfers are lost.
    fn reset(&mut self) {
        self.operations.clear();
        self.write_addresses.clear();
        self.write_data.clear();
        self.read_addresses.clear();
        self.open = 0;
        let present = &mut self.present;
        (
            present.s_axi_awvalid,
            present.s_axi_wvalid,
            present.s_axi_arvalid,
        ) = (false, false, false);
    }

    /// Begins a burst, and says when the next one does.
    fn begin(&mut self, may: SoftwareMay) {
        let configures = may == SoftwareMay::Configure;
        // A Pareto distribution: many short pauses, some long ones. Parameters change while there
        // is traffic between two changes.
        let uniform: f64 = self.random.random();
        let longest = match may {
            SoftwareMay::Ask => 100_000.0,
            _ => 2_000.0,
        };
        let pause = (100.0 / (1.0 - uniform)).min(longest);
        self.next_at = self.now + 60 + pause as u64;
        self.eagerness = self.random.random_range(1..=8);
        if may == SoftwareMay::ClearCounts {
            return self.clear_counts();
        }
        if let Some(ports) = self.switch.as_ref().map(|pages| pages.ports) {
            // So that every port gets its turn.
            if configures {
                self.base = self.random.random_range(0..ports) * STRIDE;
                self.configure();
            }
        }
        let most = if self.chance(6) { 200 } else { 12 };
        for _ in 0..self.random.random_range(1..most) {
            if self.turns_page() {
                continue;
            }
            match self.random.random_range(0..10) {
                0..3 => self.read_any(),
                3..5 => self.read_status(),
                5 => self.read_bin(),
                6 => self.read_hops(),
                7 if may == SoftwareMay::ReadCounts => self.read_status(),
                7 => self.write_harmless(),
                8 if configures => self.configure(),
                _ => self.read_any(),
            }
            if self.chance(4) {
                let cycles = self.random.random_range(0..20);
                self.operations.push_back(Operation::Wait(cycles));
            }
        }
    }

    /// Takes the page of another port now and then; true if something else than that page is asked.
    fn turns_page(&mut self) -> bool {
        let Some(pages) = &self.switch else {
            return false;
        };
        let random = &mut self.random;
        let address = match random.random_range(0..10) {
            0..2 => {
                self.base = random.random_range(0..pages.ports) * STRIDE;
                return false;
            }
            2 => {
                let register = pages.all.registers.choose(random);
                let offset = register.map_or(0, |register| register.offset);
                map::global_offset(pages.ports) + offset
            }
            3 => self.base + self.page.register("errors").offset,
            // Anywhere, also where no page is.
            4 => random.random_range(0..2 * map::global_offset(pages.ports)),
            _ => return false,
        };
        // What is written to the page of all ports is refused; a port's page has parameters.
        let beyond = address >= pages.ports * STRIDE;
        if beyond && self.chance(3) {
            let data = self.random.random();
            self.write(address, data);
        } else {
            self.read(address);
        }
        true
    }

    fn read(&mut self, address: u32) {
        self.operations.push_back(Operation::Read { address });
    }

    fn write(&mut self, address: u32, data: u32) {
        // The lowest bits of an address count for nothing.
        let address = address + u32::from(self.chance(8)) * self.random.random_range(0..4);
        let strobe = if self.chance(8) {
            self.random.random_range(0..16)
        } else {
            15
        };
        self.operations.push_back(Operation::Write {
            address,
            data,
            strobe,
        });
    }

    /// Clears all counters after some events, and reads some before all of them have had their turn again.
    fn clear_counts(&mut self) {
        self.next_at = self.now + self.random.random_range(100..700);
        self.eagerness = 8;
        self.write(self.address("command"), 2);
        let cycles = self.random.random_range(0..4);
        self.operations.push_back(Operation::Wait(cycles));
        for _ in 0..5 {
            let low = self.any_count();
            self.read(low);
        }
    }

    /// The address of the lower word of a counter.
    fn any_count(&mut self) -> u32 {
        let registers = self.page.registers.iter();
        let latching = registers.filter(|it| it.name.ends_with("_low") && !it.writable);
        let low = latching.choose(&mut self.random);
        self.base + low.map_or(0, |register| register.offset)
    }

    fn address(&self, register: &str) -> u32 {
        self.base + self.page.register(register).offset
    }

    /// Reads anything, also where no register is.
    fn read_any(&mut self) {
        let address = if self.chance(4) {
            self.random.random_range(0..STRIDE)
        } else {
            let register = self.page.registers.choose(&mut self.random);
            register.map_or(0, |register| register.offset)
        };
        self.read(self.base + address);
    }

    /// Reads a wide value: the lower word latches the upper one.
    fn read_status(&mut self) {
        // What was measured last is soon measured anew.
        if self.chance(4) {
            return self.read(self.address("hop_factor_now"));
        }
        let low = self.any_count();
        self.read(low);
        if self.chance(2) {
            self.operations.push_back(Operation::Wait(0));
        }
        match self.random.random_range(0..12) {
            // The lower word of a parameter leaves the upper one as it is.
            0..3 => self.read(self.address("t_pdt_low")),
            // So does a write that is refused.
            3 => {
                let other = self.any_count();
                let data = self.random.random();
                self.write(other, data);
            }
            // The lower word of another value takes its place.
            4 => {
                let other = self.address("t_pdt_now_low");
                self.read(other);
                return self.read(other + 4);
            }
            _ => {}
        }
        self.read(low + 4);
    }

    /// Fetches a bin of the histogram, mostly one that may hold something.
    fn read_bin(&mut self) {
        let bins = self.plan.histogram.bins;
        let bin = match self.random.random_range(0..4) {
            0 => self.random.random_range(0..2 * bins),
            1 => self.random.random_range(0..bins),
            _ => self.random.random_range(0..bins.min(4)),
        };
        let (index, count) = (self.address("bin_index"), self.address("bin_count"));
        // Reserved bits count for nothing.
        let reserved = match self.chance(4) {
            true => self.random.random::<u32>() & !self.mask("bin_index", "index"),
            false => 0,
        };
        self.write(index, bin | reserved);
        // While one is fetched no other is taken, whether there is one of that number or not.
        if self.chance(4) {
            let other = self.random.random_range(0..2 * bins);
            self.write(index, other);
        }
        let cycles = self.random.random_range(0..30);
        self.operations.push_back(Operation::Wait(cycles));
        self.read(count);
        if self.chance(2) {
            self.read(index);
        }
    }

    /// Reads how many packets went so many hops.
    fn read_hops(&mut self) {
        let hops = if self.chance(2) {
            self.random.random_range(0..8)
        } else {
            self.random.random_range(0..64)
        };
        let (index, count) = (self.address("hop_index"), self.address("hop_count"));
        self.write(index, hops);
        self.operations.push_back(Operation::Wait(2));
        self.read(count);
        self.read(self.address("hop_factor_now"));
    }

    /// Writes what changes no parameter: flags, counters, and where nothing can be written.
    fn write_harmless(&mut self) {
        let data = self.random.random();
        match self.random.random_range(0..7) {
            0 => self.write(self.address("errors"), data),
            4..6 => self.write(self.address("events"), data),
            6 => {
                // Mostly one event alone, so that each is seen to raise the interrupt by itself.
                let events = &self.page.register("interrupt_enable").fields;
                let event = events.choose(&mut self.random).map_or(0, map::Field::mask);
                let enables = if self.chance(4) { data } else { event };
                self.write(self.address("interrupt_enable"), enables);
            }
            1 => {
                // Mostly while one of them is read.
                if !self.chance(4) {
                    self.read_status();
                }
                self.write(self.address("command"), 2);
                // Before all of them have had their turn again.
                for _ in 0..self.random.random_range(0..12) {
                    self.read_status();
                }
            }
            2 => {
                let fixed = self
                    .page
                    .registers
                    .iter()
                    .filter(|register| !register.writable);
                let offsets: Vec<u32> = fixed.map(|register| register.offset).collect();
                let address = offsets.choose(&mut self.random).copied().unwrap_or(0);
                self.write(self.base + address, data);
            }
            _ => {
                // Behind the last register.
                let address = self.random.random_range(STRIDE / 2..STRIDE / 4 * 3);
                self.write(self.base + address, data);
            }
        }
    }

    /// Stages some parameters, mostly legal ones, and mostly applies them.
    fn configure(&mut self) {
        let times = self.plan.adjustable_times();
        let timeout = times.iter().find(|it| it.time == LinkTime::SyncTimeout);
        if let Some(timeout) = timeout.filter(|_| self.chance(3)) {
            self.shorten_time_out(timeout);
        }
        if self.chance(3) {
            self.stage_whole_budgets();
        }
        for _ in 0..self.random.random_range(1..4) {
            self.stage();
        }
        if !self.chance(4) {
            self.write(self.address("command"), 1);
        }
    }

    /// Makes the time-out shorter, while the port may be waiting for an answer already: it becomes so
    /// with the next activity.
    fn shorten_time_out(&mut self, timeout: &AdjustableTime) {
        for cycles in [timeout.reset, timeout.least] {
            self.write(self.address(timeout.time.name()), cycles as u32);
            self.write(self.address("command"), 1);
            let cycles = self.random.random_range(0..1000);
            self.operations.push_back(Operation::Wait(cycles));
        }
    }

    /// Stages a budget that is a whole number now and then: there rounding shows.
    fn stage_whole_budgets(&mut self) {
        let control = self.control() & !self.mask("control", "measure");
        self.write(self.address("control"), control);
        let bound = 1 << self.random.random_range(28..32);
        self.write(self.address("bound"), bound);
        self.write(self.address("hop_factor"), 1 << 31);
    }

    /// The bits of a field; none if the port lacks it.
    fn mask(&self, register: &str, field: &str) -> u32 {
        self.page.find(register, field).map_or(0, map::Field::mask)
    }

    fn stage(&mut self) {
        let histogram = self.plan.histogram;
        // Times near the traffic's, and some of any length.
        let any: u32 = self.random.random();
        let time = any >> self.random.random_range(0..32);
        let times = self.plan.adjustable_times();
        if let Some(limits) = times
            .choose(&mut self.random)
            .filter(|_| any.is_multiple_of(4))
        {
            // The shortest and the longest, and just beyond; most often short ones.
            let longest = limits
                .least
                .saturating_add(limits.reset / 4)
                .min(limits.most);
            let cycles = match self.random.random_range(0..8) {
                0 => limits.least,
                1 => limits.most,
                2 => limits.least - 1,
                3 => limits.most + 1,
                4 => self.random.random_range(limits.least..=limits.most),
                _ => self.random.random_range(limits.least..=longest),
            };
            return self.write(self.address(limits.time.name()), cycles as u32);
        }
        if let Some(guard) = self.plan.guard.filter(|_| any % 16 == 1) {
            // None and one too many are refused.
            let most = match self.random.random_ratio(1, 6) {
                true => guard.burst.saturating_add(1),
                false => guard.burst,
            };
            let tokens = self.random.random_range(0..=most);
            return self.write(self.address("guard_burst"), tokens);
        }
        let (name, data) = match self.random.random_range(0..9) {
            0 => ("t_pdt_low", time),
            1 => ("ttl_low", time),
            2 => ("t_backstop_low", time),
            3 => {
                // 0, one too many and what has a bit too many are refused.
                let most = histogram.max_samples.max(1);
                let bits = u32::BITS - most.leading_zeros();
                let samples = match self.random.random_range(0..8) {
                    0 => 0,
                    1 => most.saturating_add(1),
                    2 => self.random.random_range(1..=most) | 1 << bits.min(31),
                    3 => self.random.random_range(1..=most) | 1 << self.random.random_range(0..32),
                    _ => self.random.random_range(1..=most),
                };
                ("max_samples", samples)
            }
            4 => ("bound", any >> (any % 8)),
            // The largest and one more
            5 if any % 8 < 2 => ("hop_factor", (1 << 31) + any % 2),
            5 => ("hop_factor", any >> (1 + any % 4)),
            6 => {
                let registers: Vec<&map::Register> =
                    self.page.registers.iter().filter(|it| it.staged).collect();
                let name = registers
                    .choose(&mut self.random)
                    .map_or("control", |it| it.name);
                (name, any)
            }
            _ => ("control", self.control()),
        };
        self.write(self.address(name), data);
    }

    /// A value of `control`, mostly a legal one.
    fn control(&mut self) -> u32 {
        let fields = &self.page.register("control").fields;
        let mut control = u32::from(!self.random.random_ratio(1, 6));
        for field in fields.iter().filter(|field| field.name != "enable") {
            let legal: Vec<u32> = if field.values.is_empty() {
                vec![0, 1]
            } else {
                let built = field.values.iter().filter(|(_, _, built)| *built);
                built.map(|(_, value, _)| *value).collect()
            };
            let value = match legal.choose(&mut self.random) {
                // Off is seldom enough for the guard to be seen at work.
                Some(_) if field.name == "guard_off" => self.random.random_ratio(1, 6).into(),
                // What the port does not have is refused.
                Some(_) if !field.values.is_empty() && self.random.random_ratio(1, 12) => {
                    self.random.random_range(0..4)
                }
                Some(&value) => value,
                None => 0,
            };
            control |= value << field.low;
        }
        control
    }

    /// Hands operations to the channels.
    fn go_on(&mut self) {
        while let Some(operation) = self.operations.front().copied() {
            match operation {
                Operation::Wait(_) if self.open > 0 => return,
                Operation::Wait(0) => {}
                Operation::Wait(cycles) => {
                    self.operations[0] = Operation::Wait(cycles - 1);
                    return;
                }
                Operation::Write {
                    address,
                    data,
                    strobe,
                } => {
                    if self.write_addresses.len().max(self.write_data.len()) >= AHEAD {
                        return;
                    }
                    self.write_addresses.push_back(address);
                    self.write_data.push_back((data, strobe));
                    self.open += 1;
                }
                Operation::Read { address } => {
                    if self.read_addresses.len() >= AHEAD {
                        return;
                    }
                    self.read_addresses.push_back(address);
                    self.open += 1;
                }
            }
            self.operations.pop_front();
        }
    }

    /// Offers what the channels have, each when it likes to.
    fn offer(&mut self) {
        let mut moves = || self.random.random_ratio(self.eagerness, 8);
        let present = &mut self.present;
        if !present.s_axi_awvalid && moves() {
            if let Some(address) = self.write_addresses.pop_front() {
                present.s_axi_awvalid = true;
                present.s_axi_awaddr = address;
            }
        }
        if !present.s_axi_wvalid && moves() {
            if let Some((data, strobe)) = self.write_data.pop_front() {
                present.s_axi_wvalid = true;
                present.s_axi_wdata = data;
                present.s_axi_wstrb = strobe;
            }
        }
        if !present.s_axi_arvalid && moves() {
            if let Some(address) = self.read_addresses.pop_front() {
                present.s_axi_arvalid = true;
                present.s_axi_araddr = address;
            }
        }
        present.s_axi_bready = moves();
        present.s_axi_rready = moves();
        // Nobody reads them.
        present.s_axi_awprot = self.random.random_range(0..8);
        present.s_axi_arprot = self.random.random_range(0..8);
    }
}
