//! What an integrator must do, as far as the configuration decides it.

use super::Source;
use crate::blocks::link_sync;
use crate::blocks::mii::Mii;
use crate::config::plan::SleepTimes;
use crate::estimate::summary::time;
use crate::hdl::census::Storage;

/// The items, in the order in which they come up.
pub(super) fn items(source: &Source) -> Vec<String> {
    let mut items = Vec::new();
    let Source {
        config,
        plan,
        design,
        ports,
        estimate,
        ..
    } = *source;
    let top = design.top();
    let of = match ports {
        Some(_) => " of each port",
        None => "",
    };
    let adjusts = !plan.adjustable_times().is_empty();
    let period = config.clock.period_ps;
    items.push(format!(
        "`clk` has a period of {} ({:.6} MHz), `rst` is synchronous and active high.",
        time(period.into()),
        1e6 / period as f64
    ));
    if let Some(wait) = estimate.wait {
        let round_trip = 2 * wait.longest_delay_cycles + 1;
        items.push(format!(
            "A reset lasts at least a round trip over the link; {round_trip} clock cycles ({}) are \
             enough for the longest that the time-out allows.",
            source.time(round_trip)
        ));
    }
    items.push(
        "All inputs come from registers of `clk`. The block has no synchronisers: signals of other \
         clocks are synchronised before they reach it."
            .into(),
    );
    match source.ethernet {
        Some((mii, mac_latency)) => items.extend(of_mac(mii, mac_latency)),
        None => {
            items.push(match plan.per_direction() {
                true => format!(
                    "`queue_nonempty`{of} is 1 while a packet waits or leaves, `transmitting` while it leaves."
                ),
                false => format!(
                    "`queue_nonempty`{of} is 1 while a packet waits or leaves, `transmitting` while it \
                     leaves, `receiving` while one arrives."
                ),
            });
            items.push(format!(
                "A packet begins only in a cycle in which `tx_enable`{of} is 1."
            ));
            if plan.counts_lpi() {
                items.push(format!(
                    "`rx_lpi`{of} is 1 while the other end sends low power idle, `lpi_active` while this \
                     end does, `lpi_error` and `early_start` for a cycle per error; software reads what \
                     they count. What nobody knows is tied to 0."
                ));
            }
        }
    }
    items.push(match plan.registers.is_some() || plan.measures() {
        true => format!(
            "`packet_valid`{of} is 1 for one cycle per packet sent, with its hop count on \
             `packet_hops`."
        ),
        false => "`packet_valid` and `packet_hops` are not read: tie them to 0.".into(),
    });
    if plan.control_pins {
        items.push(format!(
            "`link_up`{of} follows the PHY's link (block lock, no remote fault). While it is 0 nothing \
             is sent; the link is awake {}{} after it rises.{}",
            if adjusts { "at most " } else { "" },
            source.time(link_sync::longest_transitions(plan).1),
            // So that no message from before meets the new beginning.
            match plan.messages() {
                Some(_) => " It stays 0 for a round trip at least.",
                None => "",
            }
        ));
        items.push(format!(
            "`enable`{of} is tied to 1 and `force_wake` to 0 where nobody decides. Bounds on the time \
             to sleep hold while `enable` and `link_up` are 1 and `force_wake` is 0."
        ));
        items.push(format!(
            "While `enable`{of} is 0 or `force_wake` 1 the other end may go on asking; with level pins \
             or directions that sleep for themselves, the other end decides for itself."
        ));
    }
    if plan.triple_redundancy {
        items.push(format!(
            "`inject_upset`{of} comes from a register or a test pin, not from a constant: synthesis \
             would join the copies of registers that an upset is outvoted by. If it is tied all the \
             same, the instances of `voted_register` are not to be touched (`dont_touch`)."
        ));
        items.push(format!(
            "`upset`{of} is counted, or told to software, where upsets are to be known of."
        ));
    }
    if plan.codes_memories() {
        items.push(format!(
            "`memory_upset`{of} is counted, or told to software, where wrong bits in memories are to be \
             known of."
        ));
    }
    match estimate.wait {
        Some(wait) => {
            items.push(format!(
                "`message_out`{of} reaches `message_in` of the other end in every power state, each \
                 code for one cycle and in order, after at most {} clock cycles ({}), PHYs included, \
                 and as soon in one direction as in the other.",
                wait.longest_delay_cycles,
                source.time(wait.longest_delay_cycles)
            ));
            items.push(format!(
                "`initiator`{of} is tied to 1 at one end of each link and to 0 at the other."
            ));
            items.push(
                "Both ends of a link have the same times and the same sleep state (`[states]`, \
                 `port.sleep`, `port.sync_timeout_ns`)."
                    .into(),
            );
        }
        None if source.ethernet.is_some() => items.extend(of_phy(source)),
        None if plan.per_direction() => items.push(format!(
            "While `lpi_request`{of} is 1, the transmitter sends low power idle in the place of idle \
             (IEEE 802.3 clause 78)."
        )),
        None => items.push(format!(
            "`sleep_permit`{of} is 1 while the other end has an empty queue, does not transmit, and \
             nothing is on its way from there; `remote_down` while it goes down or sleeps and its last \
             packet has arrived; `remote_up` while it has a packet and one of the ends is not awake. A \
             packet begins only while `tx_enable` of both ends is 1."
        )),
    }
    let mut states = Vec::new();
    for (used, name, times) in [
        (
            source.plan.uses_fast_wake(),
            "fast wake",
            plan.link.fast_wake,
        ),
        (
            source.plan.uses_deep_sleep(),
            "deep sleep",
            plan.link.deep_sleep,
        ),
    ] {
        if used {
            states.push(format!(
                "{name}: asleep after {}, awake after {}",
                source.time(times.t_s),
                source.time(times.t_w)
            ));
        }
    }
    if let Some(refresh) = plan.link.refresh.filter(|_| source.plan.uses_deep_sleep()) {
        states.push(format!(
            "in deep sleep a refresh of {} after each {}",
            source.time(refresh.t_r),
            source.time(refresh.t_q)
        ));
    }
    let times = match adjusts {
        true => "times that software has set; after reset in those of the configuration",
        false => "configured times",
    };
    let states = states.join("; ");
    items.push(match source.ethernet {
        Some(_) => format!(
            "The PHY sleeps and wakes by the LPI that it is sent, within the {times} ({states}). Quiet and \
             refresh are its own; `power_state` tells where the controller counts it."
        ),
        None => format!("The PHY follows `power_state`{of} in the {times} ({states})."),
    });
    if plan.registers.is_some() {
        items.push(
            "Software sets parameters through `s_axi_*`; without any, the port runs with those of the \
             configuration. Whoever may not write must be kept from it: `s_axi_awprot` is ignored."
                .into(),
        );
    }
    let memories = estimate.census.as_ref().map_or(0, |census| {
        let memories = census.entries.iter();
        memories.filter(|it| it.storage == Storage::Memory).count()
    });
    if memories > 0 {
        items.push(format!(
            "{memories} memories, each with one port to write and one to read, with a register behind \
             it, are mapped to RAM or registers. They need neither reset nor initial content."
        ));
    }
    items.push(format!(
        "Timing constraints: `{top}.sdc`, `.xdc` or `.lpf`. The first two give half of the \
         period to what surrounds the block; the last has the clock alone."
    ));
    if config.verilog.module_prefix.is_empty() {
        items.push(
            "If another configuration is in the same chip, one of them has a prefix \
             (`verilog.module_prefix`)."
                .into(),
        );
    }
    items.push(format!(
        "The smoke test passes in your simulator (`testbench/{top}_smoke.sv`), and your simulation has \
         the assertions (`{top}_checkers.f`)."
    ));
    items.extend(estimate.notes.iter().map(|note| format!("Settle: {note}")));
    items
}

/// What the MAC of a port of Ethernet does (`docs/how/ethernet.md`).
fn of_mac(mii: Mii, mac_latency: u32) -> Vec<String> {
    let starts = match mii.columns() {
        1 => "in lane 0".to_owned(),
        _ => format!("in lane 0 or {}", mii.column()),
    };
    vec![
        format!(
            "A word of {} bits and {} control bits comes from the MAC on `mac_tx_*` and from the PHY on \
             `phy_rx_*` in each clock cycle, idle where nothing is sent; `phy_tx_*` go to the PHY, \
             `mac_rx_*` to the MAC.",
            mii.bits(),
            mii.lanes()
        ),
        format!(
            "The MAC starts frames {starts}, and ends each by a terminate character or by a column of idle."
        ),
        format!(
            "The MAC looks at `mac_tx_enable` before each frame, and starts none while it is 0. After it has \
             fallen the MAC may still start one for {mac_latency} clock cycles (`--mac-latency`), not later. A \
             MAC that cannot look at it is held back where its frames come from."
        ),
        "`early_start` says that the MAC has started a frame while it was held back, and that the other end \
         may lose it. The registers, if there are any, count it; else a part outside does."
            .into(),
        "`queue_nonempty` is 1 from the cycle in which a frame waits until `transmitting` is 1: also while \
         it is on its way through the MAC. `transmitting` is an output here."
            .into(),
        "`link_fault` is 1 while the MAC's reconciliation sublayer reports a local or remote fault (IEEE \
         802.3, 46.3.4): no LPI is sent, and the direction stays awake. The shims do not look for faults."
            .into(),
    ]
}

/// What the PHY of a port of Ethernet and its other end ask for.
fn of_phy(source: &Source) -> Vec<String> {
    let Source { plan, .. } = *source;
    let mut items = Vec::new();
    items.push(match plan.adjustable_times().is_empty() {
        true => {
            let times = plan.used_sleep_states();
            let of = |time: fn(&SleepTimes) -> u64| {
                let cycles = times.iter().map(time);
                let words = cycles.map(|it| format!("{it} words ({})", source.time(it)));
                words.collect::<Vec<_>>().join(" or ")
            };
            format!(
                "`t_s` and `t_w_sys` come from a register, in words. The controller has a `t_s` of {} and a \
                 `t_w` of {}; with longer ones at these pins frames wait for longer than the bounds above.",
                of(|it| it.t_s),
                of(|it| it.t_w)
            )
        }
        false => "Software writes the time to wake that both ends have agreed about by LLDP (EEE TLV) into \
                  `t_w` of the sleep state, in clock cycles; controller and shim follow it."
            .into(),
    });
    items.push(format!(
        "`hold_off` is tied to {} clock cycles: in the first second after the link has come up no LPI may \
         be sent (IEEE 802.3, 78.1.2.1.2). It is 0 if a part outside sees to that.",
        1_000_000_000_000_u64.div_ceil(source.config.clock.period_ps)
    ));
    items.push(
        "`lpi_error` says that LPI received was malformed, or that a frame started right behind it. The \
         registers, if there are any, count it; else a part outside does. `rx_lpi` and `receiving` may be \
         left open."
            .into(),
    );
    items
}
