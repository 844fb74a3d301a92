//! Which corners of the register accesses a run has reached.

use super::corner::Corner;
use crate::blocks::axi_lite::response::{DECERR, OKAY, SLVERR};
use crate::blocks::csr::map;
use crate::blocks::event_counters::LOW;
use crate::blocks::port::pins::{Inputs, Pin, PowerState};
use crate::config::plan::{AdjustableTime, PortPlan};
use crate::cosim::transfers::{ReadAnswer, Transfers, WriteAnswer};
use crate::cosim::Run;

/// Follows the transfers of the AXI4-Lite port, as its pins tell.
pub(super) struct Registers {
    /// Addresses in words.
    command: u32,
    bin_count: u32,
    hop_count: u32,
    errors: u32,
    /// The register `events`, and the corners that its flags are seen.
    events: u32,
    event_flags: Vec<(u32, Corner)>,
    /// The interrupt was raised.
    interrupted: bool,
    /// The event counters, lower words, each with the corners that it is to read what it counted, and to
    /// read more than its low bits hold.
    counters: [(u32, Corner, Corner); 25],
    transfers: Transfers,
    configured: bool,
    /// The register `control`, its flag that switches the guard off, and the size of the guard's
    /// bucket.
    control: u32,
    guard_off: u32,
    guard_burst: u32,
    /// The times of the link that software may set, each with its address in words.
    times: Vec<(u32, AdjustableTime)>,
    /// The shortest and the longest way up of the configuration, in clock cycles.
    ways_up: (u64, u64),
    /// Clock cycles of the present way up; `None`: there is none, or it began without a link.
    going_up: Option<u64>,
    controlled: bool,
    /// The state of the link before.
    last_state: Option<PowerState>,
}

impl Registers {
    /// Nothing has been asked yet; `None` if there are no registers.
    pub fn new(plan: &PortPlan) -> Option<Registers> {
        plan.registers?;
        let page = map::port(plan);
        let at = |name: &str| page.register(name).offset / 4;
        let counters = [
            ("periods_low", Corner::CounterRead, Corner::PeriodsMany),
            ("hits_low", Corner::CounterRead, Corner::HitsMany),
            ("misses_low", Corner::CounterRead, Corner::MissesMany),
            (
                "transitions_low",
                Corner::CounterRead,
                Corner::TransitionsMany,
            ),
            ("wake_low", Corner::CounterRead, Corner::WakeMany),
            ("going_down_low", Corner::CounterRead, Corner::GoingDownMany),
            ("fast_wake_low", Corner::CounterRead, Corner::FastWakeMany),
            ("deep_sleep_low", Corner::CounterRead, Corner::DeepSleepMany),
            ("refresh_low", Corner::CounterRead, Corner::RefreshMany),
            ("going_up_low", Corner::CounterRead, Corner::GoingUpMany),
            ("waits_low", Corner::CounterRead, Corner::WaitsMany),
            ("requests_low", Corner::RequestsRead, Corner::RequestsMany),
            ("nacks_low", Corner::NacksRead, Corner::NacksMany),
            (
                "withdrawn_low",
                Corner::WithdrawnRead,
                Corner::WithdrawnMany,
            ),
            ("crossed_low", Corner::CrossedRead, Corner::CrossedMany),
            ("time_outs_low", Corner::TimeOutsRead, Corner::TimeOutsMany),
            (
                "backstops_low",
                Corner::BackstopsRead,
                Corner::BackstopsMany,
            ),
            (
                "guard_refusals_low",
                Corner::RefusalsRead,
                Corner::RefusalsMany,
            ),
            (
                "map_overflows_low",
                Corner::OverflowsRead,
                Corner::OverflowsMany,
            ),
            (
                "rx_lpi_transitions_low",
                Corner::LpiTransitionsRead,
                Corner::LpiTransitionsMany,
            ),
            ("rx_lpi_low", Corner::LpiRead, Corner::LpiMany),
            (
                "tx_lpi_transitions_low",
                Corner::LpiSentTransitionsRead,
                Corner::LpiSentTransitionsMany,
            ),
            ("tx_lpi_low", Corner::LpiSentRead, Corner::LpiSentMany),
            (
                "lpi_errors_low",
                Corner::LpiErrorsRead,
                Corner::LpiErrorsMany,
            ),
            (
                "early_starts_low",
                Corner::EarlyStartsRead,
                Corner::EarlyStartsMany,
            ),
        ];
        let events = [
            ("error", Corner::EventErrorRead),
            ("applied", Corner::EventAppliedRead),
            ("waited", Corner::EventWaitedRead),
            ("backstop", Corner::EventBackstopRead),
            ("guard_refusal", Corner::EventRefusalRead),
            ("link_lost", Corner::EventLostRead),
            ("lpi_error", Corner::EventLpiErrorRead),
            ("early_start", Corner::EventEarlyStartRead),
        ];
        let event_flags = events.into_iter().filter_map(|(name, corner)| {
            let field = page.find("events", name)?;
            Some((field.mask(), corner))
        });
        Some(Registers {
            command: at("command"),
            control: at("control"),
            guard_off: page
                .find("control", "guard_off")
                .map_or(0, |field| field.mask()),
            guard_burst: at("guard_burst"),
            bin_count: at("bin_count"),
            hop_count: at("hop_count"),
            errors: at("errors"),
            events: at("events"),
            event_flags: event_flags.collect(),
            interrupted: false,
            counters: counters.map(|(name, some, many)| (at(name), some, many)),
            transfers: Transfers::default(),
            configured: false,
            times: plan
                .adjustable_times()
                .into_iter()
                .map(|limits| (at(limits.time.name()), limits))
                .collect(),
            ways_up: {
                let (fast, deep) = (plan.link.fast_wake.t_w, plan.link.deep_sleep.t_w);
                (fast.min(deep), fast.max(deep))
            },
            going_up: None,
            controlled: plan.control_pins,
            last_state: None,
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
            if self.transfers.forget() {
                reach(Corner::ResetAsked);
            }
            self.configured = false;
            (self.going_up, self.last_state) = (None, None);
            self.interrupted = false;
            return;
        }
        self.follow_way_up(run, inputs, &mut reach);
        let is = |pin: Pin| run.expected(pin) == 1;
        let interrupts = is(Pin::Irq);
        match (self.interrupted, interrupts) {
            (false, true) => reach(Corner::InterruptRaised),
            (true, false) => reach(Corner::InterruptEnded),
            _ => {}
        }
        self.interrupted = interrupts;
        if is(Pin::BValid) && !inputs.s_axi_bready {
            reach(Corner::WriteStalls);
        }
        if is(Pin::RValid) && !inputs.s_axi_rready {
            reach(Corner::ReadStalls);
        }
        if let Some(write) = self.transfers.written(run, inputs) {
            self.write_answered(&write, inputs, &mut reach);
        }
        if let Some(read) = self.transfers.read(run, inputs) {
            self.read_answered(&read, &mut reach);
        }
        let [addresses, data, _] = self.transfers.waiting();
        if inputs.s_axi_awvalid && is(Pin::AwReady) {
            if data > addresses {
                reach(Corner::DataFirst);
            }
            if !inputs.s_axi_awaddr.is_multiple_of(4) {
                reach(Corner::Unaligned);
            }
        }
        if inputs.s_axi_wvalid && is(Pin::WReady) && addresses > data {
            reach(Corner::AddressFirst);
        }
        self.transfers.take(run, inputs);
        let [_, _, reads] = self.transfers.waiting();
        if addresses.min(data).min(reads) > 0 {
            reach(Corner::ReadAndWrite);
        }
    }

    /// How long the link goes up: by the configuration's times, or those that software has set.
    fn follow_way_up(&mut self, run: &Run, inputs: &Inputs, reach: &mut impl FnMut(Corner)) {
        let state = run.power_state();
        if let (PowerState::Wake, Some(cycles)) = (state, self.going_up) {
            if cycles < self.ways_up.0 {
                reach(Corner::UpFaster);
            } else if cycles > self.ways_up.1 {
                reach(Corner::UpSlower);
            }
        }
        let before = self.last_state.replace(state);
        self.going_up = match (state, self.going_up) {
            _ if self.controlled && !inputs.link_up => None,
            (PowerState::GoingUp, Some(cycles)) => Some(cycles + run.cycles),
            (PowerState::GoingUp, None) if before.is_some_and(|it| it != state) => Some(run.cycles),
            _ => None,
        };
    }

    fn write_answered(
        &mut self,
        write: &WriteAnswer,
        inputs: &Inputs,
        reach: &mut impl FnMut(Corner),
    ) {
        let &WriteAnswer {
            word,
            data,
            strobe,
            response,
        } = write;
        if let Some((_, limits)) = self.times.iter().find(|(at, _)| *at == word) {
            // Of some bytes, what is written depends on the others.
            let whole = strobe == 15;
            match (response, u64::from(data)) {
                (OKAY, data) if whole && data == limits.least => reach(Corner::TimeLeast),
                (OKAY, data) if whole && data == limits.most => reach(Corner::TimeMost),
                (SLVERR, data) if whole && data < limits.least => reach(Corner::TimeTooShort),
                (SLVERR, data) if whole && data > limits.most => reach(Corner::TimeTooLong),
                _ => {}
            }
        }
        if word == self.guard_burst && self.guard_off != 0 && strobe == 15 {
            match response {
                OKAY if data == 1 => reach(Corner::BucketLeast),
                SLVERR => reach(Corner::BucketRefused),
                _ => {}
            }
        }
        match response {
            OKAY => {
                reach(Corner::Written);
                // The flag lies in the second byte.
                if word == self.control && strobe & 2 == 2 && data & self.guard_off != 0 {
                    reach(Corner::GuardOff);
                }
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

    fn read_answered(&mut self, read: &ReadAnswer, reach: &mut impl FnMut(Corner)) {
        let word = read.word;
        match read.response {
            OKAY => reach(Corner::Read),
            DECERR => reach(Corner::ReadNowhere),
            _ => {}
        }
        if read.data == 0 {
            return;
        }
        if word == self.bin_count {
            reach(Corner::BinRead);
        } else if word == self.hop_count {
            reach(Corner::HopsRead);
        } else if word == self.errors {
            reach(Corner::ErrorRead);
        } else if word == self.events {
            for (mask, corner) in &self.event_flags {
                if read.data & mask != 0 {
                    reach(*corner);
                }
            }
        } else if self.counters.iter().any(|(at, ..)| at + 1 == word) {
            reach(Corner::UpperRead);
        } else if let Some((_, some, many)) = self.counters.iter().find(|(at, ..)| *at == word) {
            reach(*some);
            if read.data >= 1 << LOW {
                reach(*many);
            }
        }
    }
}
