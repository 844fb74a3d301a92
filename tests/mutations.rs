//! An error in the emitted Verilog is found, and the report leads to it: one operator,
//! operand or constant of the files is changed at a time, as a person would by hand.

use std::fs;
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use serde_json::Value;

use crate::common::{linkdoze, run, share, SHORT_TIMES};

/// A port whose ends exchange messages.
fn config_with_messages() -> String {
    let messages = "sync = \"messages\"\nsync_timeout_ns = 60";
    let config = SHORT_TIMES.replace("sync = \"levels\"", messages);
    assert_ne!(config, SHORT_TIMES);
    config
}

/// The same with a guard of two packets, whose rate is no whole part of a token.
fn config_with_guard() -> String {
    let faster = config_with_messages().replace("hop_factor = 0.1", "hop_factor = 0.22");
    assert_ne!(faster, config_with_messages());
    faster + "[guard]\nburst = 2\n"
}

/// The same with ends that exchange messages, registers, also for the times of the link, and hop
/// counts that are measured.
fn config_with_registers() -> String {
    let registers = "sync_timeout_ns = 60\nregisters = true\ntiming_range = 4";
    let config = config_with_messages().replace("sync_timeout_ns = 60", registers);
    let measured = config.replace(
        "hop_factor = 0.1",
        "bound = 0.2\nhops = \"measured\"\nhop_window = 256",
    );
    assert_ne!(measured, config);
    measured
}

const CYCLES: &str = "2000000";

/// Software takes a third of the cycles for parameters of its own, and a quarter for many events.
const CYCLES_WITH_REGISTERS: &str = "8000000";

/// The guard's registers take some more.
const CYCLES_WITH_GUARD: &str = "10000000";

/// One change of one file.
struct Edit {
    /// What the hardware does wrong then.
    name: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
}

const fn edit(
    name: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
) -> Edit {
    Edit {
        name,
        file,
        from,
        to,
    }
}

const EDITS: [Edit; 29] = [
    // port
    edit(
        "a packet that is received alone is no activity",
        "port.v",
        "queue_nonempty | transmitting | receiving",
        "queue_nonempty | transmitting & receiving",
    ),
    edit(
        "the port sleeps without the other end's permission",
        "port.v",
        "expires & sleep_permit",
        "expires | sleep_permit",
    ),
    edit(
        "the other end takes the link down under a packet",
        "port.v",
        "(remote_down & ~transmitting)",
        "(remote_down | ~transmitting)",
    ),
    edit(
        "the other end's wish to wake counts only with a packet here",
        "port.v",
        "queue_nonempty | remote_up",
        "queue_nonempty & remote_up",
    ),
    edit(
        "a miss is reported as a hit",
        "port.v",
        "idle_meter_ended & ~left_wake_q",
        "idle_meter_ended & left_wake_q",
    ),
    // idle_meter
    edit(
        "a tick is a clock cycle short",
        "idle_meter.v",
        "LAST_CLOCK = 2'd2",
        "LAST_CLOCK = 2'd1",
    ),
    edit(
        "the idle meter wraps instead of saturating",
        "idle_meter.v",
        "(tick & ~saturated)",
        "(tick | ~saturated)",
    ),
    edit(
        "the idle meter calls every count but zero saturated",
        "idle_meter.v",
        "assign saturated = &count_q",
        "assign saturated = |count_q",
    ),
    // pdt_timer
    edit(
        "a port that was refused tries again within the same idle period",
        "pdt_timer.v",
        "(ticks == in_force_q)",
        "(ticks >= in_force_q)",
    ),
    edit(
        "a port that only received waits for its threshold alone",
        "pdt_timer.v",
        "last_sender_d = transmitting;",
        "last_sender_d = active;",
    ),
    edit(
        "a port that was never active waits for the backstop",
        "pdt_timer.v",
        "last_sender_q <= 1'b1;",
        "last_sender_q <= 1'b0;",
    ),
    edit(
        "the backstop is a tick short",
        "pdt_timer.v",
        "BACKSTOP = 16'd512",
        "BACKSTOP = 16'd511",
    ),
    edit(
        "of the threshold and the backstop the shorter one counts",
        "pdt_timer.v",
        "(at_threshold & by_now)",
        "(at_threshold | by_now)",
    ),
    edit(
        "the threshold changes within idle periods rather than before them",
        "pdt_timer.v",
        "if (active) begin\n      in_force_d",
        "if (~active) begin\n      in_force_d",
    ),
    // lpi_fsm
    edit(
        "every state ends a cycle early",
        "lpi_fsm.v",
        "over = cycles_q == 8'd0",
        "over = cycles_q == 8'd1",
    ),
    edit(
        "a refresh is a cycle too long",
        "lpi_fsm.v",
        "T_R = 8'd24",
        "T_R = 8'd25",
    ),
    edit(
        "the hold before deep sleep is a cycle too short",
        "lpi_fsm.v",
        "HOLD = 8'd149",
        "HOLD = 8'd148",
    ),
    edit(
        "deep sleep wakes up as fast as fast wake",
        "lpi_fsm.v",
        "cycles_d = T_S_DEEP_SLEEP;\n          deep_d = 1'b1",
        "cycles_d = T_S_DEEP_SLEEP;\n          deep_d = 1'b0",
    ),
    // histogram_window
    edit(
        "the histogram takes one sample too many",
        "histogram_window.v",
        "SAMPLES_WANTED = 6'd40",
        "SAMPLES_WANTED = 6'd41",
    ),
    edit(
        "the histogram expires, but only when it is full too",
        "histogram_window.v",
        "due = full_q | old",
        "due = full_q & old",
    ),
    edit(
        "a sample in the very cycle of expiry does not clear",
        "histogram_window.v",
        "over_q | (step & last_tick_q)",
        "over_q | (step & over_q)",
    ),
    // counter_store
    edit(
        "a counter wraps instead of saturating",
        "counter_store.v",
        "gain = ~(&count)",
        "gain = 1'b1",
    ),
    edit(
        "a sample that clears finds the counters of before",
        "counter_store.v",
        "clearing_d = clear;",
        "clearing_d = 1'b0;",
    ),
    edit(
        "a bin that is new to its group keeps an old count",
        "counter_store.v",
        "counted_d = read_mask[at_place];",
        "counted_d = 1'b1;",
    ),
    edit(
        "a group is read as it was before the last sample",
        "counter_store.v",
        "same_group = wrote_q & (last_group == at_group)",
        "same_group = 1'b0",
    ),
    // perfbound
    edit(
        "a tail that equals the budget does not fit",
        "perfbound.v",
        "{2'd0, left_q} - {1'b0, samples_q}",
        "{2'd0, left_q} + ~{1'b0, samples_q}",
    ),
    edit(
        "the budget grows by one part in 300 too fast",
        "perfbound.v",
        "GAIN_PART = 10'd1;",
        "GAIN_PART = 10'd2;",
    ),
    edit(
        "the threshold is a tick off the middle of the bin",
        "perfbound.v",
        "HALF = 16'd8",
        "HALF = 16'd7",
    ),
    edit(
        "the search skips the lowest bins of a group",
        "perfbound.v",
        "(bin_place == 3'd1)",
        "(bin_place == 3'd2)",
    ),
];

/// Edits of ends that exchange messages.
const MESSAGE_EDITS: [Edit; 21] = [
    edit(
        "half a round trip is a whole one",
        "link_sync.v",
        "half = count_q >> ONE",
        "half = count_q",
    ),
    edit(
        "an end with a packet accepts to go down",
        "link_sync.v",
        "refuses = queue_nonempty | transmitting",
        "refuses = queue_nonempty & transmitting",
    ),
    edit(
        "an end that gives up stays asleep",
        "link_sync.v",
        "up_now = 1'b1;\n      unheard_d",
        "up_now = 1'b0;\n      unheard_d",
    ),
    edit(
        "an end that gave up asks again",
        "link_sync.v",
        "unheard_d = 1'b1;",
        "unheard_d = 1'b0;",
    ),
    edit(
        "nothing but an answer to REQ_UP counts as heard",
        "link_sync.v",
        "if (is_sync) begin\n      unheard_d = 1'b0;",
        "if (is_sync) begin\n      unheard_d = unheard_q;",
    ),
    edit(
        "the time-out is a cycle too long",
        "link_sync.v",
        "TIMEOUT = 8'd60",
        "TIMEOUT = 8'd61",
    ),
    edit(
        "a reset end sends a cycle too early",
        "link_sync.v",
        "START_LAST = 8'd212",
        "START_LAST = 8'd211",
    ),
    edit(
        "activity that is over does not withdraw the request",
        "link_sync.v",
        "(active | cancelled_q)",
        "(active & cancelled_q)",
    ),
    edit(
        "data follows the promise to go down",
        "link_sync.v",
        "(state_q != EXCHANGE_AWAIT_DOWN)",
        "(state_q != EXCHANGE_AWAIT_UP)",
    ),
    edit(
        "a wish to wake on the way down is forgotten",
        "link_sync.v",
        "(rise_q | up_now);\n  assign up_start",
        "(rise_q & up_now);\n  assign up_start",
    ),
    edit(
        "of two requests to go down the other one goes on",
        "link_sync.v",
        "is_req_down & ~initiator",
        "is_req_down & initiator",
    ),
    edit(
        "of two requests to wake the other one goes on",
        "link_sync.v",
        "is_req_up & ~initiator",
        "is_req_up & initiator",
    ),
    edit(
        "an end asks to go down though nobody wants to",
        "link_sync.v",
        "asks_down & permitted",
        "asks_down | permitted",
    ),
    edit(
        "an end that stays idle asks only once",
        "link_sync.v",
        "wants_down | (overdue & timed_out)",
        "wants_down | (overdue & ~overdue)",
    ),
    edit(
        "an end that could not ask is not counted as overdue",
        "link_sync.v",
        "(overdue & ~timed_out)",
        "(overdue & timed_out)",
    ),
    edit(
        "SYNC from an end that was reset is waited out",
        "link_sync.v",
        "(count_q == 8'd0) | is_sync",
        "(count_q == 8'd0) & is_sync",
    ),
    edit(
        "SYNC_DOWN lasts a cycle less",
        "link_sync.v",
        "end else if (count_q == 8'd0) begin\n          down_start",
        "end else if (count_q == 8'd1) begin\n          down_start",
    ),
    edit(
        "an answer nobody asked for starts a transition",
        "link_sync.v",
        "if (is_sync) begin\n          down_start",
        "if (is_ack) begin\n          down_start",
    ),
    edit(
        "both ends ask for deep sleep",
        "port.v",
        "(lpi_fsm_hold_over & initiator & ~active)",
        "(lpi_fsm_hold_over & ~active)",
    ),
    edit(
        "a timer that expires asleep asks to go down",
        "port.v",
        "(expires & ~pdt_timer_overdue & lpi_fsm_tx_enable)",
        "(expires & ~pdt_timer_overdue)",
    ),
    edit(
        "deep sleep follows the hold without the other end",
        "lpi_fsm.v",
        "deepens = down_start",
        "deepens = over",
    ),
];

/// Edits of ends with a guard. Packets that wait in the very cycle of a refill, and what is left of
/// a token in a full bucket, are too rare here: the block's own test comes to them (`blocks/guard`).
const GUARD_EDITS: [Edit; 9] = [
    edit(
        "the bucket refills twice as fast",
        "guard.v",
        "refilled = part_q + GAIN",
        "refilled = part_q + GAIN + GAIN",
    ),
    edit(
        "each packet that waits takes a token",
        "guard.v",
        "takes = ~awake & queue_nonempty & ~charged_q",
        "takes = ~awake & queue_nonempty",
    ),
    edit(
        "a packet that waits in vain forgets its token",
        "guard.v",
        "~awake & (charged_q | queue_nonempty)",
        "~awake & (charged_q & queue_nonempty)",
    ),
    edit(
        "a bucket begins empty",
        "guard.v",
        "tokens_q <= 2'd2;",
        "tokens_q <= 2'd0;",
    ),
    edit(
        "a tick of the guard is a clock cycle short",
        "guard.v",
        "LAST_CLOCK = 2'd2",
        "LAST_CLOCK = 2'd1",
    ),
    edit(
        "the last token permits nothing",
        "guard.v",
        "permits = tokens_q != 2'd0",
        "permits = tokens_q == 2'd2",
    ),
    edit(
        "an end without a token asks to go down",
        "link_sync.v",
        "asks_down & permitted",
        "asks_down",
    ),
    edit(
        "an end without a token accepts to go down",
        "link_sync.v",
        "~may_go_down | ~permitted",
        "~may_go_down",
    ),
    edit(
        "an end without a token gives up asking",
        "link_sync.v",
        "(overdue & ~timed_out)",
        "(overdue & ~timed_out & permitted)",
    ),
];

/// Of the registers and of what makes the rate of the budget.
const REGISTER_EDITS: [Edit; 35] = [
    // hop_monitor
    edit(
        "the hop factor is a constant",
        "hop_monitor.v",
        "assign factor = mean_q",
        "assign factor = 17'd99",
    ),
    edit(
        "no hop factor is ever new",
        "hop_monitor.v",
        "assign measured = measured_now_q",
        "assign measured = 1'b0",
    ),
    edit(
        "the reciprocal of 13 hops is off by one",
        "hop_reciprocal.v",
        "17'd5041",
        "17'd5042",
    ),
    // budget_rate
    edit(
        "the hop factor is not loaded",
        "budget_rate.v",
        "accumulator_d = {hop_factor, 35'd0};",
        "accumulator_d = 67'd0;",
    ),
    edit(
        "the rate is rounded down",
        "budget_rate.v",
        "round_up_d = rounds;",
        "round_up_d = 1'b0;",
    ),
    edit(
        "t_w goes once too often into the rate",
        "budget_rate.v",
        "+ ~{1'b0, t_w_last}",
        "- {1'b0, t_w_last}",
    ),
    edit(
        "a tick counts as a clock cycle in the rate",
        "budget_rate.v",
        "* SCALE",
        "* 34'd1",
    ),
    // port
    edit(
        "a bin is taken while the search reads",
        "port.v",
        "~perfbound_searches & ~read_taken",
        "~perfbound_searches | ~read_taken",
    ),
    // axi_lite
    edit(
        "a write begins before its data",
        "axi_lite.v",
        "aw_full_q & w_full_q & ~b_full_q",
        "aw_full_q & ~b_full_q",
    ),
    edit(
        "an answer that waits is overwritten",
        "axi_lite.v",
        "ar_full_q & ~r_full_q",
        "ar_full_q",
    ),
    edit(
        "a request is chosen while the registers answer another",
        "axi_lite.v",
        "~(ahead_q | nears_q | asks_q | asked_q)",
        "~(ahead_q | nears_q | asks_q)",
    ),
    edit(
        "reads never take turns with writes",
        "axi_lite.v",
        "may_write & (~may_read | ~wrote_last_q)",
        "may_write & ~may_read",
    ),
    edit(
        "the byte strobes are lost",
        "axi_lite.v",
        "w_strobe_d = wstrb;",
        "w_strobe_d = 4'd15;",
    ),
    edit(
        "an address that is offered replaces one that waits",
        "axi_lite.v",
        "awvalid & ~aw_full_q",
        "awvalid",
    ),
    // csr
    edit(
        "time in refresh is not counted",
        "event_counters.v",
        "low_8_d = left_8 + 7'd1;",
        "low_8_d = left_8;",
    ),
    edit(
        "a counter that is visited goes on calling",
        "event_counters.v",
        "left_8 = low_8_q & LOW_MASK",
        "left_8 = low_8_q",
    ),
    edit(
        "a word is read while it is written",
        "event_counters.v",
        "(asks_now & (place == turn_q)) | (visiting_q & (at_q == turn_q))",
        "asks_now & (place == turn_q)",
    ),
    edit(
        "a request that the other end refuses counts as withdrawn",
        "link_sync.v",
        "asking & (state_q == EXCHANGE_ASK_DOWN) & is_ack & (active | cancelled_q)",
        "asking & (state_q == EXCHANGE_ASK_DOWN) & is_nack",
    ),
    edit(
        "a request to wake crosses nothing",
        "link_sync.v",
        "asking & (is_req_down | is_req_up)",
        "asking & is_req_down",
    ),
    edit(
        "misses are no idle periods",
        "csr.v",
        "event_counters_happens_0 = hit | miss;",
        "event_counters_happens_0 = hit;",
    ),
    edit(
        "clearing leaves the waits",
        "event_counters.v",
        "low_10_d = 7'd0;",
        "low_10_d = low_10_q;",
    ),
    edit(
        "parameters change in idle cycles too",
        "csr.v",
        "pending_q & ready_q & active",
        "pending_q & ready_q",
    ),
    edit(
        "the backstop stays",
        "csr.v",
        "      backstop_d = staged_backstop_q;",
        "      backstop_d = backstop_q;",
    ),
    edit(
        "the histogram does not start anew with its parameters",
        "csr.v",
        "restart_now_d = 1'b1;",
        "restart_now_d = 1'b0;",
    ),
    edit(
        "a factor that was measured in the meantime is lost",
        "csr.v",
        "refresh_d = staged_measure_q;",
        "refresh_d = 1'b0;",
    ),
    edit(
        "the sleep state of the rate is the old one",
        "csr.v",
        "is_wide_sleep = staged_sleep_q != SLEEP_FAST_WAKE;",
        "is_wide_sleep = sleep_now_q != SLEEP_FAST_WAKE;",
    ),
    edit(
        "the hop factor that is set counts for nothing",
        "csr.v",
        "rate_hop_factor = staged_hop_factor_q;",
        "rate_hop_factor = measured_wide;",
    ),
    edit(
        "the flag of a failure cannot be cleared",
        "csr.v",
        "sync_flag_d = 1'b0;",
        "sync_flag_d = sync_flag_q;",
    ),
    edit(
        "the bin is fetched in any cycle",
        "csr.v",
        "bin_request & bin_taken",
        "bin_request",
    ),
    edit(
        "a packet waits once in every cycle",
        "csr.v",
        "waiting & ~waited_q",
        "waiting",
    ),
    edit(
        "a time of the link that is too long is taken",
        "csr.v",
        "(merged < time_least) | (merged > time_most)",
        "merged < time_least",
    ),
    edit(
        "the rate follows the t_w that was in force",
        "csr.v",
        "rate_t_w_last = staged_deep_sleep;",
        "rate_t_w_last = now_deep_sleep;",
    ),
    edit(
        "t_w of deep sleep stays",
        "csr.v",
        "last_3_d = staged_3_q - 10'd1;",
        "last_3_d = last_3_q;",
    ),
    edit(
        "refresh takes the time of quiet",
        "lpi_fsm.v",
        "cycles_d = t_r;",
        "cycles_d = t_q;",
    ),
    edit(
        "the fixed threshold stays",
        "csr.v",
        "next_t_pdt = staged_t_pdt_q;",
        "next_t_pdt = fixed_t_pdt_q;",
    ),
];

/// Writes the design files of `from` to `to`, one of them changed.
fn write_edited(from: &Path, to: &Path, edit: &Edit) {
    fs::create_dir(to).unwrap();
    let mut found = false;
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            continue;
        }
        let mut text = fs::read_to_string(entry.path()).unwrap();
        if entry.file_name() == edit.file {
            assert_eq!(
                text.matches(edit.from).count(),
                1,
                "{}: `{}` in {}",
                edit.name,
                edit.from,
                edit.file
            );
            text = text.replace(edit.from, edit.to);
            found = true;
        }
        fs::write(to.join(entry.file_name()), text).unwrap();
    }
    assert!(found, "{}: no file {}", edit.name, edit.file);
}

/// What follows `label` on the only line that begins with it.
fn after<'a>(text: &'a str, label: &str) -> &'a str {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(label));
    let line = lines
        .next()
        .unwrap_or_else(|| panic!("no `{label}`: {text}"));
    assert_eq!(lines.next(), None, "`{label}` twice: {text}");
    line
}

/// Checks the report of an edit for a person, but for the waveform; returns the cycle.
fn check_report(edit: &Edit, report: &str) -> u64 {
    let what = edit.name;
    assert_eq!(after(report, "mismatches: "), "1", "{what}");
    let cycle: u64 = after(report, "mismatch in cycle ")
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();

    // A row per signal that differs: its name, and two values that are not the same.
    let lines: Vec<&str> = report.lines().collect();
    let table = lines
        .iter()
        .position(|line| line.contains("golden model"))
        .unwrap();
    let pins = [
        "tx_enable",
        "power_state",
        "hit",
        "miss",
        "t_pdt",
        "update",
        "t_pb",
        "window",
        "budget",
        "message_out",
        "sync_error",
        "irq",
    ];
    let rows: Vec<Vec<&str>> = lines[table + 1..]
        .iter()
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert!(!rows.is_empty(), "{what}: {report}");
    for row in rows {
        let [signal, hardware, in_brackets, golden, golden_in_brackets] = row[..] else {
            panic!("{what}: {row:?}");
        };
        // Registers that count time, and counters of samples, are compared where idle time is not
        // clocked.
        let inside =
            signal.ends_with("_q") || signal.contains(".counters[") || signal.contains(".counts[");
        let register = signal.starts_with("u_") && inside;
        let known = pins.contains(&signal) || signal.starts_with("s_axi_") || register;
        assert!(known, "{what}: {row:?}");
        assert_ne!(
            hardware.parse::<u64>().unwrap(),
            golden.parse::<u64>().unwrap()
        );
        assert!(in_brackets.starts_with('(') && golden_in_brackets.ends_with(')'));
    }

    // The last event lasts to the cycle of the mismatch.
    let events = lines
        .iter()
        .position(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some("cycle") && words.next() == Some("for")
        })
        .unwrap_or_else(|| panic!("{what}: no table of events: {report}"));
    let rows: Vec<(u64, u64)> = lines[events + 1..]
        .iter()
        .take_while(|line| !line.is_empty())
        // A long line goes on below, without the two numbers.
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let mut number = || words.next()?.parse().ok();
            Some((number()?, number()?))
        })
        .collect();
    assert!((1..=16).contains(&rows.len()), "{what}: {rows:?}");
    for pair in rows.windows(2) {
        assert_eq!(pair[0].0 + pair[0].1, pair[1].0, "{what}: {rows:?}");
    }
    let last = rows[rows.len() - 1];
    assert_eq!(last.0 + last.1, cycle + 1, "{what}: {rows:?}");
    cycle
}

/// The command that a report names shows the same mismatch again, with its waveform.
fn check_again(folder: &Path, edit: &Edit, report: &str, cycle: u64) {
    let what = edit.name;
    let mut words = after(report, "again: ").split(' ');
    assert_eq!(words.next(), Some("linkdoze"));
    let (again, _) = run(linkdoze(folder).args(words), 1);
    assert_eq!(check_report(edit, &again), cycle, "{what}");
    let wave = folder.join(after(&again, "waveform: "));
    assert!(fs::metadata(&wave).unwrap().len() > 500, "{what}");
}

#[test]
fn every_single_edit_is_found() {
    every_edit_is_found(SHORT_TIMES, &EDITS, CYCLES);
}

#[test]
#[ignore = "long; make test-all runs it"]
fn every_single_edit_of_link_synchronisation_is_found() {
    every_edit_is_found(&config_with_messages(), &MESSAGE_EDITS, CYCLES);
}

#[test]
#[ignore = "long; make test-all runs it"]
fn every_single_edit_of_the_guard_is_found() {
    every_edit_is_found(&config_with_guard(), &GUARD_EDITS, CYCLES);
}

/// Of a guard that software sets.
const GUARD_REGISTER_EDITS: [Edit; 4] = [
    edit(
        "a guard that cannot be switched off",
        "guard.v",
        "off | (tokens_q >= burst)",
        "tokens_q >= burst",
    ),
    edit(
        "a bucket that software cannot make as large as it was",
        "csr.v",
        "merged > MOST_TOKENS",
        "merged >= MOST_TOKENS",
    ),
    edit(
        "the wrong bit switches the guard off",
        "csr.v",
        "staged_guard_off_d = merged[14]",
        "staged_guard_off_d = merged[13]",
    ),
    edit(
        "the size of the bucket never comes into force",
        "csr.v",
        "      guard_burst_d = staged_guard_burst_q",
        "      guard_burst_d = guard_burst_q",
    ),
];

#[test]
#[ignore = "long; make test-all runs it"]
fn every_single_edit_of_the_guards_registers_is_found() {
    let config = config_with_registers() + "[guard]\nburst = 2\n";
    every_edit_is_found(&config, &GUARD_REGISTER_EDITS, CYCLES_WITH_GUARD);
}

#[test]
#[ignore = "long; make test-all runs it"]
fn every_single_edit_of_the_registers_is_found() {
    every_edit_is_found(
        &config_with_registers(),
        &REGISTER_EDITS,
        CYCLES_WITH_REGISTERS,
    );
}

/// Of a time-out that software makes shorter while an end waits.
const SHORTER_TIME_OUT_EDITS: [Edit; 1] = [edit(
    "a time-out that has passed already when it becomes shorter is missed",
    "link_sync.v",
    "timed_out = count_q > timeout_last",
    "timed_out = (count_q > timeout_last) & (count_q[0] != timeout_last[0])",
)];

/// It is so long that software finds ends waiting.
#[test]
#[ignore = "long; make test-all runs it"]
fn a_time_out_that_becomes_shorter_is_watched() {
    let short = "sync_timeout_ns = 60";
    let config = config_with_registers().replace(short, "sync_timeout_ns = 3000");
    assert_ne!(config, config_with_registers());
    every_edit_is_found(&config, &SHORTER_TIME_OUT_EDITS, CYCLES_WITH_REGISTERS);
}

/// Of a budget that is added up several ticks at a time.
const STEPPED_BUDGET_EDITS: [Edit; 6] = [
    edit(
        "a step that a sample breaks off is lost",
        "perfbound.v",
        "adds = completes | needed;",
        "adds = completes;",
    ),
    edit(
        "a complete step is lost",
        "perfbound.v",
        "adds = completes | needed;",
        "adds = needed;",
    ),
    edit(
        "the tick of the cycle is left out",
        "perfbound.v",
        "{1'b0, ticks_behind} + {6'd0, window_step}",
        "{1'b0, ticks_behind}",
    ),
    edit(
        "a budget that was taken counts as behind the window",
        "perfbound.v",
        "    if (needed) begin\n      behind_d = 1'b0;",
        "    if (needed) begin\n      behind_d = behind_q;",
    ),
    edit(
        "43 ticks allow no packet yet",
        "packets_of_ticks.v",
        "      7'd43: begin\n        value = 7'd1;",
        "      7'd43: begin\n        value = 7'd0;",
    ),
    edit(
        "42 ticks allow a little more",
        "parts_of_ticks.v",
        "      7'd42: begin\n        value = 10'd287;",
        "      7'd42: begin\n        value = 10'd299;",
    ),
];

#[test]
#[ignore = "long; make test-all runs it"]
fn every_single_edit_of_a_budget_in_steps_is_found() {
    let faster = SHORT_TIMES.replace("hop_factor = 0.1", "hop_factor = 0.7");
    assert_ne!(faster, SHORT_TIMES);
    let config = faster + "budget_step_ticks = 64\n";
    every_edit_is_found(&config, &STEPPED_BUDGET_EDITS, CYCLES);
}

/// Of an entry of a map that a sample moves down while it answers.
const MOVED_ANSWER_EDITS: [Edit; 2] = [
    edit(
        "the answer stays behind when its entry moves",
        "map_entry.v",
        "answered_d = above_answers & ~above_stays;",
        "answered_d = answers;",
    ),
    edit(
        "a new entry takes over the answer of the one above",
        "map_entry.v",
        "answered_d = above_answers & ~above_stays;",
        "answered_d = above_answers;",
    ),
];

/// A search takes longer than a bin of one clock is wide.
#[test]
#[ignore = "long; make test-all runs it"]
fn an_answer_that_moves_is_watched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut config = config_with_registers();
    for (from, to) in [
        ("tick_ns = 3", "tick_ns = 1"),
        ("t_pdt_init_ns = 600", "t_pdt_init_ns = 20"),
        ("bin_ns = 48", "bin_ns = 1\nkind = \"map\"\nmap_entries = 8"),
        ("max_value_ns = 1536", "max_value_ns = 26"),
    ] {
        assert_eq!(config.matches(from).count(), 1, "{from}");
        config = config.replace(from, to);
    }
    fs::write(path.join("port.toml"), config).unwrap();
    let generate = ["generate", "port.toml", "-o", "rtl"];
    run(linkdoze(path).args(generate), 0);
    let cosim = ["cosim", "port.toml", "--random", "--no-wave", "--cycles"];
    let cosim = [&cosim[..], &[CYCLES_WITH_REGISTERS, "--rtl"]].concat();
    run(linkdoze(path).args(&cosim).arg("rtl"), 0);
    for (index, edit) in MOVED_ANSWER_EDITS.iter().enumerate() {
        let edited = format!("edit-{index}");
        write_edited(&path.join("rtl"), &path.join(&edited), edit);
        let (report, _) = run(linkdoze(path).args(&cosim).arg(edited), 1);
        check_report(edit, &report);
    }
}

fn every_edit_is_found(config: &str, edits: &[Edit], cycles: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("port.toml"), config).unwrap();
    run(
        linkdoze(path).args(["generate", "port.toml", "-o", "rtl"]),
        0,
    );
    let cosim = [
        "cosim",
        "port.toml",
        "--random",
        "--cycles",
        cycles,
        "--seed",
        "1",
    ];

    // What is compared without an edit is equal, and comes to every corner.
    let (json, _) = run(
        linkdoze(path).args(cosim).args(["--rtl", "rtl", "--json"]),
        0,
    );
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["mismatches"], 0);
    assert_eq!(json["cycles"], cycles.parse::<u64>().unwrap());
    let unreached = json["coverage"]["unreached"].as_object().unwrap();
    let reasons: Vec<(&String, &Value)> = unreached.iter().collect();
    assert!(
        reasons
            .iter()
            .all(|(_, reason)| reason.as_str().unwrap().starts_with("not in this config")),
        "{reasons:?}"
    );

    let edits = share(edits, 3);
    edits.par_iter().enumerate().for_each(|(index, edit)| {
        // A folder of its own: the waveform goes to the folder of the run.
        let own = path.join(format!("edit-{index}"));
        fs::create_dir(&own).unwrap();
        fs::copy(path.join("port.toml"), own.join("port.toml")).unwrap();
        write_edited(&path.join("rtl"), &own.join("rtl"), edit);
        let begin = Instant::now();
        let found = [&cosim[..], &["--rtl", "rtl", "--no-wave"]].concat();
        let (report, _) = run(linkdoze(&own).args(found), 1);
        let cycle = check_report(edit, &report);
        println!(
            "cycle {cycle:>7} {:>5.1} s  {}: {}",
            begin.elapsed().as_secs_f64(),
            edit.file,
            edit.name
        );
        // The model that writes waveforms takes longest.
        if index % 10 == 0 {
            check_again(&own, edit, &report, cycle);
        }
    });
}

/// The same for a program: the report is JSON on standard output, a table on standard
/// error.
#[test]
fn a_mismatch_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("port.toml"), SHORT_TIMES).unwrap();
    run(
        linkdoze(path).args(["generate", "port.toml", "-o", "rtl"]),
        0,
    );
    write_edited(&path.join("rtl"), &path.join("edited"), &EDITS[1]);
    let (json, err) = run(
        linkdoze(path).args([
            "cosim",
            "port.toml",
            "--random",
            "--seed",
            "3..4",
            "--rtl",
            "edited",
            "--json",
            "--wave",
            "w.vcd",
        ]),
        1,
    );
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["mismatches"], 1);
    let found = &json["mismatch"];
    assert!(found["cycle"].is_u64() && found["port"].is_null());
    let signals = found["signals"].as_array().unwrap();
    assert!(!signals.is_empty());
    assert!(signals
        .iter()
        .all(|signal| signal["hardware"] != signal["golden"]));
    assert!(err.contains(&format!("mismatch in cycle {}", found["cycle"])));
    assert!(json["command"].as_str().unwrap().contains("--rtl edited"));
    assert_eq!(json["wave"], "w.vcd");
    let wave = fs::read_to_string(path.join("w.vcd")).unwrap();
    assert!(wave.contains("$enddefinitions") && wave.contains("power_state"));
}
