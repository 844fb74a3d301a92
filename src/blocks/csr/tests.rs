//! Lock-step test of the registers: description against golden model, under random requests
//! and events.

use proptest::prelude::*;

use super::{golden, map, Csr};
use crate::blocks::axi_lite::golden::Request;
use crate::blocks::link_sync::golden::Counted;
use crate::blocks::port::pins::{LowPowerIdle, PowerState};
use crate::blocks::testing::{cases, cycles, share, Bench};
use crate::config::plan::*;
use crate::config::Config;
use crate::hdl::check;

/// A small controller with registers.
pub(crate) fn plan(policy: Policy, time_width: u32) -> PortPlan {
    built(policy, time_width, "sync = \"levels\"", 0)
}

/// The same where software may make the times of the link four times as long, or as short.
pub(crate) fn timed_plan(policy: Policy, time_width: u32) -> PortPlan {
    built(policy, time_width, "sync = \"levels\"\ntiming_range = 4", 0)
}

/// The same with messages, and software that may make times three times as long, or as short.
pub(crate) fn timed_message_plan(policy: Policy, time_width: u32) -> PortPlan {
    built(
        policy,
        time_width,
        "sync_timeout_ns = 40\ntiming_range = 3",
        0,
    )
}

/// The same with messages and a guard of three packets.
pub(crate) fn guarded_plan(policy: Policy, time_width: u32) -> PortPlan {
    built(policy, time_width, "sync_timeout_ns = 40", 3)
}

/// Both, control pins, registers in copies, and memories with a code.
pub(crate) fn timed_guarded_plan(policy: Policy, time_width: u32) -> PortPlan {
    built(
        policy,
        time_width,
        "sync_timeout_ns = 40\ntiming_range = 3\ncontrol_pins = true\ntriple_redundancy = true\n\
         memory_code = \"secded\"",
        3,
    )
}

/// A direction that sleeps for itself, with control pins.
pub(crate) fn lpi_plan(policy: Policy, time_width: u32) -> PortPlan {
    built(policy, time_width, "sync = \"lpi\"\ncontrol_pins = true", 0)
}

fn built(policy: Policy, time_width: u32, sync: &str, burst: u32) -> PortPlan {
    // What is received decides nothing where a direction sleeps for itself.
    let backstop = match sync.contains("lpi") {
        true => "",
        false => "t_backstop_ns = 90\n",
    };
    let text = format!(
        "[port]\npolicy = \"{}\"\nregisters = true\n{sync}\ntime_width = {time_width}\n\
         {backstop}hybrid_hold_ns = 9\n\
         [guard]\nburst = {burst}\n\
         [states.fast-wake]\nt_s_ns = 3\nt_w_ns = 5\n\
         [states.deep-sleep]\nt_s_ns = 7\nt_w_ns = 11\nt_q_ns = 6\nt_r_ns = 2\n\
         [perfbound]\nbound = 0.5\nhops = [[2, 0.5], [5, 0.5]]\n\
         [histogram]\nbins = 20\nbin_ns = 4\nmax_samples = 30\nttl_ns = 1500",
        policy.name()
    );
    let plan = Config::parse(&text, "a").unwrap().plan().unwrap();
    plan.with(|plan| plan.t_pdt_init = 40)
}

fn port(time: u64, bits: [u64; 8]) -> golden::Port {
    let few = |place: usize, of: u64| bits[place].is_multiple_of(of);
    golden::Port {
        active: few(0, 3),
        hit: few(1, 5),
        miss: few(2, 5),
        leaving: few(3, 5),
        power_state: PowerState::ALL[bits[4] as usize % 6],
        sync_error: few(5, 50),
        exchange: Counted {
            requested: few(5, 3),
            nacked: few(5, 4),
            withdraws: few(5, 7),
            crosses: few(6, 4),
        },
        backstop_expires: few(7, 4),
        guard_refuses: few(7, 3),
        link_lost: few(0, 9),
        lpi: LowPowerIdle {
            received: few(3, 2),
            sent: few(6, 2),
            error: few(4, 5),
            early_start: few(5, 6),
        },
        upset: few(1, 11),
        memory_upset: if few(2, 9) { bits[4] as u8 & 3 } else { 0 },
        queue_nonempty: few(6, 3),
        guard_tokens: bits[0] & 3,
        t_pdt: bits[1] & time,
        map_overflow: few(6, 50),
        t_pb: bits[2] & time,
        window: bits[3] & time,
        budget: 0,
        restarted: few(7, 10),
        bin_taken: few(4, 2),
        bin_count: bits[5] & 0x1f,
        hop_count: bits[6] as u32,
        hop_factor: bits[7] & 0xffff,
        hop_measured: few(0, 20),
        rate_done: few(1, 7),
        rate_computed: (bits[2] & 0xffff).into(),
    }
}

/// A register that had the bits of a counter alone cut the weighed samples of a decaying histogram,
/// and the larger counters of a regular one.
#[test]
fn software_reads_all_of_a_bin() {
    for (kind, bits) in [
        ("clearing", 5),
        ("circular", 5),
        ("decaying", 9),
        ("regular", 6),
    ] {
        let text = format!(
            "[port]\nregisters = true\n[histogram]\nkind = \"{kind}\"\nmax_samples = 30\n\
             counter_bits = 5\nttl_ns = 4000000\n"
        );
        let plan = Config::parse(&text, "a").unwrap().plan().unwrap();
        let page = map::port(&plan);
        let delivered = map::bin_count_width(&plan);
        assert!(delivered >= bits, "{kind}: {delivered}");
        let value = page.field("bin_count", "value");
        assert_eq!(value.mask(), (1 << delivered) - 1, "{kind}");
    }
}

/// By hand (`docs/how/histograms.md`): 256 bins of 1 ns reach 1 s with 3 mantissa bits, and as many
/// bins as there are ticks with 12.
#[test]
fn software_finds_the_scale() {
    let shape = |scale: &str, bins: u32, max_value: u64| {
        let text = format!(
            "[port]\nregisters = true\n[histogram]\nbin_scale = \"{scale}\"\nbins = {bins}\n\
             bin_ns = 1\nmax_value_ns = {max_value}\n"
        );
        let plan = Config::parse(&text, "a").unwrap().plan().unwrap();
        let page = map::port(&plan);
        let value = page.register("shape").reset();
        let field = |name: &str| {
            let field = page.field("shape", name);
            (value & field.mask()) >> field.low
        };
        (field("bins"), field("log"), field("mantissa_bits"))
    };
    assert_eq!(shape("log", 256, 1_000_000_000), (256, 1, 3));
    assert_eq!(shape("log", 4096, 4095), (4096, 1, 12));
    assert_eq!(shape("log", 8, 1_000_000_000), (8, 1, 0));
    assert_eq!(shape("linear", 256, 256), (256, 0, 0));
    let page = map::port(&plan(Policy::Fixed, 32));
    assert_eq!(page.register("shape").fields, []);
}

/// Requests that reach the registers more often than chance would.
pub(crate) fn request(page: &map::Map) -> impl Strategy<Value = Option<Request>> {
    let words: Vec<u32> = page.registers.iter().map(|r| r.offset / 4).collect();
    let writable: Vec<u32> = page
        .registers
        .iter()
        .filter(|r| r.writable)
        .map(|r| r.offset / 4)
        .collect();
    let word = prop_oneof![
        4 => prop::sample::select(writable),
        3 => prop::sample::select(words),
        1 => 0u32..1024,
    ];
    let data = prop_oneof![
        0u32..4,
        0u32..60,
        any::<u32>(),
        0u32..0x2000,
        Just(0x8000_0000)
    ];
    let strobe = prop_oneof![3 => Just(15u8), 1 => 0u8..16];
    prop::option::weighted(
        0.6,
        (word, data, strobe, any::<bool>()).prop_map(|(word, data, strobe, write)| {
            if write {
                Request::Write { word, data, strobe }
            } else {
                Request::Read { word }
            }
        }),
    )
}

fn requests(plan: &PortPlan) -> impl Strategy<Value = Vec<(Option<Request>, [u64; 8])>> {
    let page = map::port(plan);
    prop::collection::vec((request(&page), any::<[u64; 8]>()), 1..900)
}

fn configuration() -> impl Strategy<Value = PortPlan> {
    (
        prop::sample::select(Policy::ALL.to_vec()),
        prop::sample::select(vec![24u32, 32, 40]),
        prop::sample::select(HistogramKind::ALL.to_vec()),
        prop::sample::select(vec![
            BinScale::Linear,
            BinScale::Log { mantissa_bits: 0 },
            BinScale::Log { mantissa_bits: 2 },
        ]),
        prop::sample::select(vec![
            plan as fn(Policy, u32) -> PortPlan,
            guarded_plan,
            timed_plan,
            timed_guarded_plan,
            lpi_plan,
        ]),
        any::<bool>(),
    )
        .prop_map(|(policy, width, kind, scale, built, backstops)| {
            let mut plan = built(policy, width);
            plan.t_backstop = plan.t_backstop.filter(|_| backstops);
            plan.link.refresh = plan.link.refresh.filter(|_| width != 32);
            plan.histogram.kind = kind;
            plan.histogram.scale = scale;
            plan
        })
}

/// The pins of a request that comes in so many cycles, 2 to 0.
fn pins(request: Option<Request>, cycles: u8) -> [(&'static str, u64); 6] {
    let (write, word, data, strobe) = match request {
        Some(Request::Write { word, data, strobe }) => (true, word, data, strobe),
        Some(Request::Read { word }) => (false, word, 0, 0),
        None => (false, 0, 0, 0),
    };
    [
        ("ahead", (request.is_some() && cycles == 2).into()),
        ("request", (request.is_some() && cycles == 0).into()),
        ("write", write.into()),
        ("word", word.into()),
        ("write_data", data.into()),
        ("write_strobe", strobe.into()),
    ]
}

/// A request from its address to its answer.
fn ask(bench: &mut Bench, request: Request) {
    for cycles in [2, 1, 0] {
        bench.drive(&pins(Some(request), cycles));
        bench.clock();
    }
}

fn drive(bench: &mut Bench, plan: &PortPlan, port: &golden::Port) {
    bench.drive(&[
        ("active", port.active.into()),
        ("hit", port.hit.into()),
        ("miss", port.miss.into()),
        ("leaving", port.leaving.into()),
        ("queue_nonempty", port.queue_nonempty.into()),
        ("power_state", port.power_state as u64),
        ("sync_error", port.sync_error.into()),
        ("t_pdt", port.t_pdt),
        ("hop_count", port.hop_count.into()),
        ("hop_factor", port.hop_factor),
        ("hop_measured", port.hop_measured.into()),
    ]);
    if plan.predicts() {
        bench.drive(&[
            ("t_pb", port.t_pb),
            ("window", port.window),
            ("budget", port.budget),
            ("rate_done", port.rate_done.into()),
            ("rate_computed", port.rate_computed as u64),
        ]);
    }
    if plan.predicts() && plan.histogram.kind == HistogramKind::Map {
        bench.drive(&[("map_overflow", port.map_overflow.into())]);
    }
    if plan.reads_bins() {
        bench.drive(&[
            ("bin_taken", port.bin_taken.into()),
            ("bin_count", port.bin_count),
        ]);
    }
    if plan.guard.is_some() {
        bench.drive(&[
            ("guard_tokens", port.guard_tokens),
            ("guard_refuses", port.guard_refuses.into()),
        ]);
    }
    if !plan.per_direction() {
        bench.drive(&[("backstop_expires", port.backstop_expires.into())]);
    }
    if plan.control_pins {
        bench.drive(&[("link_lost", port.link_lost.into())]);
    }
    if plan.counts_lpi() {
        bench.drive(&[
            ("rx_lpi", port.lpi.received.into()),
            ("lpi_active", port.lpi.sent.into()),
            ("lpi_error", port.lpi.error.into()),
            ("early_start", port.lpi.early_start.into()),
        ]);
    }
    if plan.triple_redundancy {
        bench.drive(&[("upset", port.upset.into())]);
    }
    if plan.codes_memories() {
        bench.drive(&[("memory_upset", port.memory_upset.into())]);
    }
    if plan.messages().is_some() {
        bench.drive(&[
            ("requested", port.exchange.requested.into()),
            ("nacked", port.exchange.nacked.into()),
            ("withdraws", port.exchange.withdraws.into()),
            ("crosses", port.exchange.crosses.into()),
        ]);
    }
    if plan.ages() {
        bench.drive(&[("restarted", port.restarted.into())]);
    }
}

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn description_and_golden_model_agree(
        (plan, cycles) in configuration().prop_flat_map(|plan| {
            let cycles = requests(&plan);
            (Just(plan), cycles)
        }),
    ) {
        let mut golden = golden::Csr::new(&plan);
        let mut bench = Bench::new(Csr::new(&plan));
        let mut coming = None;
        for (cycle, (wanted, bits)) in cycles.into_iter().enumerate() {
            let port = port(plan.max_time(), bits);
            coming = match coming {
                None | Some((_, 0)) => wanted.map(|request| (request, 2)),
                Some((request, cycles)) => Some((request, cycles - 1)),
            };
            let request = coming.filter(|(_, cycles)| *cycles == 0).map(|(request, _)| request);
            match coming {
                Some((request, cycles)) => bench.drive(&pins(Some(request), cycles)),
                None => bench.drive(&pins(None, 0)),
            }
            drive(&mut bench, &plan, &port);
            let in_force = golden.in_force();
            let next = golden.next(port.active);
            let mut expected = vec![
                ("read_data", u64::from(golden.answer().data)),
                ("answer", golden.answer().response.into()),
                ("sleeps", in_force.sleeps().into()),
                ("sleep", in_force.sleep.into()),
                ("next_policy", next.policy.into()),
                ("next_t_pdt", next.t_pdt),
                ("clear_counts", golden.clears(request, &port).into()),
                ("hop_index", golden.hop_index().into()),
                ("error_flag", golden.error_flag().into()),
                ("irq", golden.interrupt().into()),
            ];
            if !plan.per_direction() {
                expected.extend([
                    ("backstops", in_force.backstop.into()),
                    ("t_backstop", in_force.t_backstop),
                ]);
            }
            if plan.guard.is_some() {
                expected.extend([
                    ("off", in_force.guard_off.into()),
                    ("burst", in_force.guard_burst.into()),
                ]);
            }
            for limits in plan.adjustable_times() {
                let pin = match limits.time {
                    LinkTime::HybridHold => "hold",
                    time => time.name(),
                };
                expected.push((pin, in_force.times[limits.time as usize] - 1));
            }
            if plan.predicts() {
                if plan.ages() {
                    expected.extend([
                        ("ttl", in_force.ttl),
                        ("max_samples", in_force.max_samples.into()),
                        ("restart", golden.restart().into()),
                    ]);
                }
                expected.push(("rate", golden.rate() as u64));
                if plan.reads_bins() {
                    expected.push(("bin_request", golden.bin_request().is_some().into()));
                }
                if let Some(bin) = golden.bin_request() {
                    expected.push(("bin", bin.into()));
                }
                let start = golden.rate_start(port.hop_factor);
                expected.push(("rate_start", start.is_some().into()));
                if let Some(operands) = start {
                    expected.extend([
                        ("rate_bound", operands.bound.into()),
                        ("rate_hop_factor", operands.hop_factor.into()),
                        ("rate_t_w_last", operands.t_w - 1),
                    ]);
                }
            }
            bench.check(cycle as u64, &expected)?;
            bench.clock();
            golden.clock(request, &port);
        }
    }
}

/// Claims that rest on when the AXI4-Lite port asks.
const OF_THE_AXI_PORT: [&str; 4] = [
    "A request comes two cycles after its address, and the next address after both.",
    "The counters are asked for one in every request.",
    "The word of a counter is there when the request comes.",
    "A counter is visited before its turn for a request alone.",
];

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for policy in [Policy::PerfBound, Policy::Fixed] {
        let plans = [
            plan(policy, 24),
            plan(policy, 40),
            timed_plan(policy, 32),
            lpi_plan(policy, 32),
        ];
        for plan in plans {
            check::agrees_but(&OF_THE_AXI_PORT, || Csr::new(&plan), cycles(4000), 1).unwrap();
        }
    }
}

#[test]
fn emitted_verilog_is_lint_clean() {
    let mut plans = Vec::new();
    for policy in [Policy::PerfBound, Policy::Fixed, Policy::AlwaysOn] {
        for width in [24, 32, 40] {
            plans.extend([
                plan(policy, width),
                timed_plan(policy, width),
                lpi_plan(policy, width),
            ]);
        }
    }
    for plan in share(&plans, 5) {
        check::lint_block(&Csr::new(plan)).unwrap();
    }
}

/// The RTL answers at every address of the page as the map says: DECERR (3) where there is
/// no register, SLVERR (2) to a write where software may not.
#[test]
fn every_address_of_the_page_answers_as_the_map_says() {
    let plan = timed_plan(Policy::PerfBound, 40);
    let page = map::port(&plan);
    let mut bench = Bench::new(Csr::new(&plan));
    for word in 0..1 << super::WORD_BITS {
        let register = page.at(word);
        ask(&mut bench, Request::Read { word });
        assert_eq!(bench.get("answer"), if register.is_some() { 0 } else { 3 });
        // No byte is written.
        ask(
            &mut bench,
            Request::Write {
                word,
                data: 0,
                strobe: 0,
            },
        );
        let expected = match register {
            None => 3,
            Some(register) if register.writable => 0,
            Some(_) => 2,
        };
        assert_eq!(bench.get("answer"), expected, "word {word:#x}");
    }
}

/// The map says which registers take some values only (`Register::refuses_values`): each of them refuses
/// one of these, and all the others take every one.
#[test]
fn registers_that_refuse_values_are_known() {
    for plan in [
        timed_plan(Policy::PerfBound, 40),
        guarded_plan(Policy::PerfBoundCorrect, 32),
    ] {
        let page = map::port(&plan);
        for register in page.registers.iter().filter(|it| it.writable_bits() != 0) {
            // Else it waits for the bin, or for parameters to come into force.
            let mut bench = Bench::new(Csr::new(&plan));
            let mut refused = false;
            for data in [0, 1, 2, 0x300, 0x5555_5555, 0xaaaa_aaaa, u32::MAX] {
                let write = Request::Write {
                    word: register.offset / 4,
                    data,
                    strobe: 15,
                };
                ask(&mut bench, write);
                refused |= bench.get("answer") == 2;
            }
            assert_eq!(refused, register.refuses_values(), "{}", register.name);
        }
    }
}

/// Reset values are those of the map, and reserved bits read 0 after all ones were written.
#[test]
fn reset_values_and_reserved_bits_are_those_of_the_map() {
    let plan = timed_plan(Policy::PerfBound, 40);
    let page = map::port(&plan);
    let mut bench = Bench::new(Csr::new(&plan));
    bench.drive(&[
        ("t_pdt", plan.t_pdt_init),
        ("t_pb", plan.t_pdt_init),
        ("hop_factor", INITIAL_HOP_FACTOR),
    ]);
    let read = |bench: &mut Bench, word| {
        ask(bench, Request::Read { word });
        bench.get("read_data") as u32
    };
    for register in &page.registers {
        // The port has been awake for some cycles.
        if register.name != "wake_low" {
            let value = read(&mut bench, register.offset / 4);
            assert_eq!(value, register.reset(), "{}", register.name);
        }
    }
    for register in page.registers.iter().filter(|register| register.staged) {
        let word = register.offset / 4;
        let before = read(&mut bench, word);
        let reserved = !register.writable_bits();
        // What is no time of the link is refused, not cut.
        let refuses = (plan.adjustable_times().iter()).any(|it| it.time.name() == register.name);
        ask(
            &mut bench,
            Request::Write {
                word,
                data: before | reserved,
                strobe: 15,
            },
        );
        let answer = if refuses { 2 } else { 0 };
        assert_eq!(bench.get("answer"), answer, "{}", register.name);
        assert_eq!(read(&mut bench, word), before, "{}", register.name);
    }
}

/// What software applied while the port is idle waits until it is active, and a mean hop count that is
/// measured meanwhile waits behind it: a co-simulation can leap over that time, and has to, because it
/// would clock the idle period to its end otherwise.
#[test]
fn registers_that_wait_for_the_port_are_steady() {
    let plan = plan(Policy::PerfBound, 40);
    let page = map::port(&plan);
    let mut csr = golden::Csr::new(&plan);
    let idle = golden::Port {
        hop_factor: INITIAL_HOP_FACTOR,
        ..port(0, [1; 8])
    };
    let is_steady =
        |csr: &golden::Csr| csr.steady(idle.power_state, false, idle.queue_nonempty, idle.lpi);
    let write = |register: &str, data| {
        Some(Request::Write {
            word: page.register(register).offset / 4,
            data,
            strobe: 15,
        })
    };
    let measure = page.field("control", "measure").mask();
    let control = page.register("control").reset() | measure;
    let done = golden::Port {
        rate_done: true,
        ..idle
    };
    let measured = golden::Port {
        hop_measured: true,
        ..idle
    };
    let active = golden::Port {
        active: true,
        ..idle
    };
    // Hop counts are measured from here on.
    for (request, port) in [
        (write("control", control), &idle),
        (write("command", 1), &idle),
        (None, &idle),
        (None, &idle),
        (None, &done),
        (None, &active),
        (None, &idle),
        (None, &done),
    ] {
        csr.clock(request, port);
    }
    assert!(csr.in_force().measure);
    for (request, port) in [
        (write("command", 1), &idle),
        (None, &idle),
        (None, &idle),
        (None, &done),
        (None, &measured),
        (None, &idle),
    ] {
        csr.clock(request, port);
    }
    assert!(is_steady(&csr));
    assert_eq!(csr.rate_start(INITIAL_HOP_FACTOR), None);
    // It comes as soon as the parameters are in force.
    csr.clock(None, &active);
    assert!(!is_steady(&csr));
    assert!(csr.rate_start(INITIAL_HOP_FACTOR).is_some());
}

/// The answer to a write, and what is read afterwards.
fn write_and_read(bench: &mut Bench, word: u32, data: u32) -> (u64, u64) {
    ask(
        bench,
        Request::Write {
            word,
            data,
            strobe: 15,
        },
    );
    let answer = bench.get("answer");
    ask(bench, Request::Read { word });
    (answer, bench.get("read_data"))
}

/// `t_w` of deep sleep is 11 cycles: 3 to 44 with a range of 4 (3 is 11 / 4, rounded up).
#[test]
fn a_time_of_the_link_takes_what_the_range_allows_and_no_more() {
    let plan = timed_plan(Policy::PerfBound, 32);
    let page = map::port(&plan);
    let word = page.register("t_w_deep_sleep").offset / 4;
    let mut bench = Bench::new(Csr::new(&plan));
    for (data, answer, kept) in [(3, 0, 3), (2, 2, 3), (44, 0, 44), (45, 2, 44), (0, 2, 44)] {
        assert_eq!(
            write_and_read(&mut bench, word, data),
            (answer, kept),
            "{data}"
        );
        // Nothing is in force that was not applied.
        assert_eq!(bench.get("t_w_deep_sleep"), 10);
    }
    // Without a range there is no such register.
    let without = map::port(&self::plan(Policy::PerfBound, 32));
    assert_eq!(without.at(word), None);
}

/// The configuration's bucket holds three tokens: software may make it smaller, not larger.
#[test]
fn the_bucket_of_the_guard_can_be_made_smaller() {
    let plan = guarded_plan(Policy::PerfBound, 32);
    let page = map::port(&plan);
    let word = page.register("guard_burst").offset / 4;
    let mut bench = Bench::new(Csr::new(&plan));
    for (data, answer, kept) in [(1, 0, 1), (0, 2, 1), (4, 2, 1), (0x1_0001, 2, 1), (3, 0, 3)] {
        assert_eq!(
            write_and_read(&mut bench, word, data),
            (answer, kept),
            "{data}"
        );
    }
    // Without a guard there is neither the field nor the flag.
    let without = map::port(&self::plan(Policy::PerfBound, 32));
    assert_eq!(without.register("guard_burst").fields, []);
    assert_eq!(without.find("control", "guard_off"), None);
}

#[test]
fn the_map_is_well_formed() {
    for policy in Policy::ALL {
        for width in [8, 32, 64] {
            let mut plan = timed_plan(Policy::PerfBound, 40);
            plan.policy = policy;
            plan.time_width = width;
            plan.t_pdt_init = 40;
            if let Some(built) = &mut plan.registers {
                built.t_pdt = 50;
            }
            plan.histogram.ttl = Some(200);
            let page = map::port(&plan);
            for pair in page.registers.windows(2) {
                assert!(pair[0].offset < pair[1].offset, "{}", pair[1].name);
            }
            for register in &page.registers {
                assert!(register.offset % 4 == 0 && register.offset < map::STRIDE);
                assert!(!register.name.ends_with("_low") || register.offset % 8 == 0);
                let mut taken = 0;
                for field in &register.fields {
                    assert!(field.low + field.width <= 32);
                    assert_eq!(taken & field.mask(), 0, "{}", register.name);
                    taken |= field.mask();
                    assert!(
                        u64::from(field.reset) >> field.width == 0,
                        "{}",
                        register.name
                    );
                }
            }
        }
    }
}
