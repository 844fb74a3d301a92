//! How the two ends of an Ethernet link agree about the time to wake: the EEE TLV of LLDP
//! (IEEE 802.3, 79.3.5) and the state diagrams of 78.4.2.

pub mod eee_tlv;
pub mod negotiation;

/// Words of an interface that `time` microseconds take, rounded up, when a word comes every
/// `period_ps` picoseconds (1 or more): what the shim `lpi_tx` takes as `t_w_sys`.
pub fn words(time: u16, period_ps: u64) -> u64 {
    (u64::from(time) * 1_000_000).div_ceil(period_ps)
}

#[cfg(test)]
mod tests;
