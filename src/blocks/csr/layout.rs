//! Where in the page the registers are, the addresses of [`map::port`], and what a request is to.

use super::map;
use crate::blocks::axi_lite::DATA_WIDTH;
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

/// Bits of a register's address, in words, within a port's page.
pub const WORD_BITS: u32 = map::PAGE_BITS - 2;

/// Registers at the beginning of the page that never change.
pub(super) const IDENTITY: usize = 9;

/// What a register that never changes holds.
pub(crate) fn reset_of(register: &map::Register) -> Constant<Bits> {
    let doc = format!("{}: {}", register.name, register.doc);
    Constant::bits(DATA_WIDTH, register.reset().into(), doc)
}

block! {
    /// Addresses in words, of pairs of registers in pairs of words, and places of fields.
    pub struct Layout;

    /// The layout of `plan`'s registers.
    pub fn new(plan: &PortPlan) {
        let page = map::port(plan);
        let at = |name: &str| {
            let register = page.register(name);
            Constant::bits(WORD_BITS, (register.offset / 4).into(), register.doc.clone())
        };
        let at_pair = |name: &str| {
            let register = page.register(name);
            Constant::bits(WORD_BITS - 1, (register.offset / 8).into(), register.doc.clone())
        };
        let low = |register: &str, field: &str| {
            // Fields that this configuration lacks have no place.
            let place = page.find(register, field).map_or(0, |field| field.low);
            Constant::bits(5, place.into(), format!("lowest bit of {register}.{field}"))
        };
    }

    {
        pub constant identity[register in page.registers[..IDENTITY].iter()]: reset_of(register),
        pub constant at_control: at("control"),
        pub constant at_command: at("command"),
        pub constant at_max_samples: at("max_samples"),
        pub constant at_bound: at("bound"),
        pub constant at_hop_factor: at("hop_factor"),
        pub constant at_guard_burst: at("guard_burst"),
        pub constant at_status: at("status"),
        pub constant at_errors: at("errors"),
        pub constant at_events: at("events"),
        pub constant at_interrupt_enable: at("interrupt_enable"),
        pub constant at_hop_factor_now: at("hop_factor_now"),
        pub constant at_guard_tokens: at("guard_tokens"),
        pub constant at_bin_index: at("bin_index"),
        pub constant at_bin_count: at("bin_count"),
        pub constant at_hop_index: at("hop_index"),
        pub constant at_hop_count: at("hop_count"),
        pub constant at_t_pdt: at_pair("t_pdt_low"),
        pub constant at_ttl: at_pair("ttl_low"),
        pub constant at_t_backstop: at_pair("t_backstop_low"),
        pub constant at_t_pdt_now: at_pair("t_pdt_now_low"),
        pub constant at_t_pb: at_pair("t_pb_low"),
        pub constant at_window: at_pair("window_low"),
        pub constant at_budget: at_pair("budget_low"),
        pub constant first_counter: at_pair("periods_low"),
        pub constant last_counter: at_pair("time_outs_low"),
        pub constant first_late_counter: at_pair("backstops_low"),
        pub constant last_late_counter: at_pair("early_starts_low"),
        pub constant policy_low: low("control", "policy"),
        pub constant sleep_low: low("control", "sleep"),
        pub constant measure_low: low("control", "measure"),
        pub constant backstop_low: low("control", "backstop"),
        pub constant guard_off_low: low("control", "guard_off"),
        pub constant busy_low: low("bin_index", "busy"),
        pub constant active_low: low("status", "active"),
        pub constant rx_lpi_low: low("status", "rx_lpi"),
        pub constant tx_lpi_low: low("status", "tx_lpi"),
    }
}

impl Logic for Layout {
    #[hdl_gen]
    fn update(&mut self) {}
}

bundle! {
    /// What a request is to, and what a write makes of it.
    pub struct Request;

    /// The same of every port.
    pub fn new() {}

    {
        pub local merged: Bits(DATA_WIDTH, "what a write makes of it"),
        pub local upper: Bit("the upper word of a pair"),
        pub local set_bits: Bits(DATA_WIDTH, "ones that are written"),
        pub local is_t_pdt: Bit("t_pdt"),
        pub local is_ttl: Bit("ttl"),
        pub local is_t_backstop: Bit("t_backstop"),
        pub local is_control: Bit("control"),
        pub local is_command: Bit("command"),
        pub local is_max_samples: Bit("max_samples"),
        pub local is_bound: Bit("bound"),
        pub local is_hop_factor: Bit("hop_factor"),
        pub local is_guard_burst: Bit("guard_burst"),
        pub local is_errors: Bit("errors"),
        pub local is_events: Bit("events"),
        pub local is_interrupt_enable: Bit("interrupt_enable"),
        pub local is_bin_index: Bit("bin_index"),
        pub local is_hop_index: Bit("hop_index"),
        pub local is_time: Bit("a time of the link"),
        pub local staged: Bit("a parameter"),
        pub local writable: Bit("a register that software may write"),
        pub local new_policy: Bits(2, "the policy written"),
        pub local new_sleep: Bits(2, "the sleep state written"),
        pub local new_index: Bits(13, "the bin index written"),
        pub local illegal: Bit("the register does not take the value"),
        pub local verdict: Bits(2, "the answer"),
        pub local is_write: Bit("there is a request to write"),
        pub local accepted: Bit("a register is written, if it takes the value"),
        pub local writes: Bit("and it does"),
    }
}
