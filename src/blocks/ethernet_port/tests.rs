//! Lock-step test: description against golden model, and the emitted Verilog against both.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{golden, EthernetPort};
use crate::blocks::axi_lite::golden::Request;
use crate::blocks::csr::map;
use crate::blocks::mii::golden::Lanes;
use crate::blocks::mii::testing::{check_edits, every_fault, sampled, Edit, Emitted, Pins};
use crate::blocks::mii::{Mii, IDLE, LPI};
use crate::blocks::port::pins::{self, PinValue};
use crate::blocks::testing::{Bench, Manager};
use crate::config::plan::PortPlan;
use crate::config::Config;

/// Cycles that the MAC of the tests takes to react.
const LATENCY: u32 = 2;

/// Directions that sleep soon and wake soon: one with a fixed threshold, one that predicts and corrects
/// it and has control pins, and registers in copies, and one whose times of both sleep states software sets.
fn plans() -> [PortPlan; 3] {
    let fixed = "[port]\ntime_width = 8\npolicy = \"fixed\"\nt_pdt_ns = 3\nsync = \"lpi\"\n\
                 [states.deep-sleep]\nt_w_ns = 6\nt_s_ns = 5\n\
                 [histogram]\nbins = 4\nbin_ns = 16\nmax_value_ns = 64\n";
    let corrected = fixed.replace("\"fixed\"", "\"perfbound-correct\"").replace(
        "t_pdt_ns = 3",
        "t_pdt_init_ns = 3\ncontrol_pins = true\ntriple_redundancy = true",
    ) + "max_samples = 4\n[perfbound]\nbound = 0.5\nhop_factor = 0.5\n\
         [correction]\nhistory = 2\n";
    let adjusted = fixed.replace(
        "t_pdt_ns = 3",
        "t_pdt_ns = 3\nsleep = \"hybrid\"\nhybrid_hold_ns = 9\nregisters = true\ntiming_range = 3",
    ) + "[states.fast-wake]\nt_w_ns = 3\nt_s_ns = 2\n";
    [fixed, &corrected, &adjusted]
        .map(|text| Config::parse(text, "port.toml").unwrap().plan().unwrap())
}

fn input_pins(plan: &PortPlan, inputs: &golden::Inputs) -> Pins {
    let mut pins = vec![
        ("queue_nonempty", inputs.port.queue_nonempty.into()),
        ("packet_valid", inputs.port.packet_valid.into()),
        ("packet_hops", inputs.port.packet_hops.into()),
        ("mac_tx_data", inputs.mac_word.data),
        ("mac_tx_control", inputs.mac_word.control.into()),
        ("phy_rx_data", inputs.phy_word.data),
        ("phy_rx_control", inputs.phy_word.control.into()),
        ("link_fault", inputs.link_fault.into()),
        ("hold_off", inputs.hold_off.into()),
    ];
    if plan.registers.is_some() {
        pins.extend([
            ("s_axi_awvalid", inputs.port.s_axi_awvalid.into()),
            ("s_axi_awaddr", inputs.port.s_axi_awaddr.into()),
            ("s_axi_awprot", inputs.port.s_axi_awprot.into()),
            ("s_axi_wvalid", inputs.port.s_axi_wvalid.into()),
            ("s_axi_wdata", inputs.port.s_axi_wdata.into()),
            ("s_axi_wstrb", inputs.port.s_axi_wstrb.into()),
            ("s_axi_bready", inputs.port.s_axi_bready.into()),
            ("s_axi_arvalid", inputs.port.s_axi_arvalid.into()),
            ("s_axi_araddr", inputs.port.s_axi_araddr.into()),
            ("s_axi_arprot", inputs.port.s_axi_arprot.into()),
            ("s_axi_rready", inputs.port.s_axi_rready.into()),
        ]);
    }
    if plan.adjustable_times().is_empty() {
        pins.extend([
            ("t_s", inputs.t_s.into()),
            ("t_w_sys", inputs.t_w_sys.into()),
        ]);
    }
    if plan.control_pins {
        pins.extend([
            ("enable", inputs.port.enable.into()),
            ("force_wake", inputs.port.force_wake.into()),
            ("link_up", inputs.port.link_up.into()),
        ]);
    }
    if plan.triple_redundancy {
        pins.push(("inject_upset", inputs.port.inject_upset.into()));
    }
    pins
}

fn output_pins(plan: &PortPlan, outputs: &golden::Outputs) -> Pins {
    let golden::Outputs {
        port,
        mac_tx_enable,
        sent,
        received,
    } = outputs;
    let mut pins = vec![
        ("mac_tx_enable", (*mac_tx_enable).into()),
        ("phy_tx_data", sent.word.data),
        ("phy_tx_control", sent.word.control.into()),
        ("mac_rx_data", received.word.data),
        ("mac_rx_control", received.word.control.into()),
        ("tx_enable", port.tx_enable.into()),
        ("power_state", port.power_state.encode().into()),
        ("lpi_request", port.lpi_request.into()),
        ("hit", port.hit.into()),
        ("miss", port.miss.into()),
        ("t_pdt", port.t_pdt.into()),
        ("transmitting", sent.transmitting.into()),
        ("lpi_active", sent.lpi_active.into()),
        ("early_start", sent.early_start.into()),
        ("receiving", received.receiving.into()),
        ("rx_lpi", received.rx_lpi.into()),
        ("lpi_error", received.lpi_error.into()),
    ];
    if plan.registers.is_some() {
        pins.extend([
            ("irq", port.irq.into()),
            ("s_axi_awready", port.s_axi_awready.into()),
            ("s_axi_wready", port.s_axi_wready.into()),
            ("s_axi_bvalid", port.s_axi_bvalid.into()),
            ("s_axi_bresp", port.s_axi_bresp.into()),
            ("s_axi_arready", port.s_axi_arready.into()),
            ("s_axi_rvalid", port.s_axi_rvalid.into()),
            ("s_axi_rresp", port.s_axi_rresp.into()),
            ("s_axi_rdata", port.s_axi_rdata.into()),
        ]);
    }
    if plan.triple_redundancy {
        pins.push(("upset", port.upset.into()));
    }
    if plan.codes_memories() {
        pins.push(("memory_upset", port.memory_upset.into()));
    }
    if plan.predicts() {
        pins.extend([
            ("update", port.update.encode().into()),
            ("t_pb", port.t_pb.encode().into()),
            ("window", port.window.encode().into()),
            ("budget", port.budget.encode().into()),
        ]);
    }
    if plan.corrects() {
        pins.push(("log2_cf", port.log2_cf.encode().into()));
    }
    pins
}

/// Requests of software: it sets all times of the link and applies them, lets every event raise the interrupt, and
/// reads some registers.
fn requests(plan: &PortPlan, rng: &mut ChaCha8Rng) -> Vec<Request> {
    let page = map::port(plan);
    let mut values: Vec<(&str, u64)> = (plan.adjustable_times().iter())
        .map(|time| (time.time.name(), rng.random_range(time.least..=time.most)))
        .collect();
    values.extend([
        ("command", 1),
        ("interrupt_enable", u64::from(u8::MAX)),
        ("hop_index", rng.random_range(0..8)),
    ]);
    let writes = values.into_iter().map(|(name, data)| Request::Write {
        word: page.register(name).offset / 4,
        data: data as u32,
        strobe: 15,
    });
    let counted = [
        "rx_lpi_transitions_low",
        "rx_lpi_low",
        "tx_lpi_low",
        "lpi_errors_low",
    ];
    let reads = counted
        .into_iter()
        .chain(["early_starts_low", "hop_count", "status"]);
    let reads = reads.map(|name| Request::Read {
        word: page.register(name).offset / 4,
    });
    writes.chain(reads).collect()
}

/// Cycles of a golden model in which much happens.
fn cycles(plan: &PortPlan, mii: Mii) -> Vec<(Pins, Pins)> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut golden = golden::EthernetPort::new(plan, mii, LATENCY);
    let (sent, received) = (sampled(mii, IDLE, 6_000), sampled(mii, LPI, 6_000));
    let (mut queue_nonempty, mut link_fault, mut t_s, mut t_w_sys) = (false, false, 0, 0);
    let mut hold_off = 0;
    let (mut enable, mut force_wake, mut link_up) = (true, false, true);
    let mut software = Manager::new(VecDeque::new(), 1, 6);
    let words = sent.into_iter().zip(received);
    words
        .map(|(mac_word, phy_word)| {
            if rng.random_ratio(1, 12) {
                queue_nonempty = rng.random_ratio(1, 3);
                link_fault = rng.random_ratio(1, 16);
                hold_off = rng.random_range(0..40) * u64::from(rng.random_ratio(1, 4));
                t_s = rng.random_range(0..8);
                t_w_sys = rng.random_range(0..12);
                enable = rng.random_ratio(7, 8);
                force_wake = rng.random_ratio(1, 8);
                // A fault often comes with a PHY that is not ready.
                link_up = rng.random_ratio(if link_fault { 1 } else { 15 }, 16);
                if plan.registers.is_some() && software.requests.is_empty() {
                    software.requests.extend(requests(plan, &mut rng));
                }
            }
            let inputs = golden::Inputs {
                port: pins::Inputs {
                    queue_nonempty,
                    packet_valid: rng.random_ratio(1, 8),
                    packet_hops: rng.random_range(0..8),
                    enable,
                    force_wake,
                    link_up,
                    inject_upset: rng.random_range(0..4) * u8::from(rng.random_ratio(1, 4)),
                    ..software.drive()
                },
                mac_word,
                phy_word,
                link_fault,
                hold_off,
                t_s,
                t_w_sys,
            };
            let outputs = golden.outputs(&inputs);
            let pins = (input_pins(plan, &inputs), output_pins(plan, &outputs));
            software.clock(&outputs.port);
            golden.clock(&inputs);
            pins
        })
        .collect()
}

#[test]
fn description_and_golden_model_agree() {
    for plan in plans() {
        for mii in Mii::ALL {
            let mut bench = Bench::new(EthernetPort::new(&plan, mii, LATENCY));
            for (cycle, (inputs, outputs)) in (0u64..).zip(cycles(&plan, mii)).take(2_000) {
                bench.drive_pins(&inputs);
                bench.check_pins(cycle, &outputs).unwrap();
                bench.clock();
            }
        }
    }
}

#[test]
fn emitted_verilog_agrees_with_the_golden_model() {
    for plan in plans() {
        for mii in Mii::ALL {
            let verilog = Emitted::of(&EthernetPort::new(&plan, mii, LATENCY));
            let found = verilog.first_difference(None, &cycles(&plan, mii));
            assert_eq!(found, None, "{}", mii.name());
        }
    }
}

/// The threshold of a port that predicts does change.
#[test]
fn thresholds_are_predicted() {
    let [_, plan, _] = plans();
    let of = |pins: &Pins, name| pins.iter().find(|pin| pin.0 == name).map(|pin| pin.1);
    let all = cycles(&plan, Mii::Xgmii64);
    for name in ["t_pdt", "t_pb", "budget", "log2_cf"] {
        let mut values: Vec<_> = all.iter().map(|(_, outputs)| of(outputs, name)).collect();
        values.sort_unstable();
        values.dedup();
        assert!(values.len() > 1, "{name} is always {values:?}");
    }
}

/// Wires that are mixed up are seen.
#[test]
fn every_edit_is_found() {
    let edits = [
        Edit(
            "the controller does not see what is sent",
            ".transmitting   (lpi_tx_transmitting)",
            ".transmitting   (1'b0)",
        ),
        Edit(
            "the controller's permit does not reach the shim",
            ".tx_enable     (port_tx_enable)",
            ".tx_enable     (1'b1)",
        ),
        Edit(
            "nothing asks for LPI",
            ".lpi_request   (port_lpi_request)",
            ".lpi_request   (1'b0)",
        ),
    ];
    let [plan, _, adjusted] = plans();
    let block = EthernetPort::new(&plan, Mii::Xgmii64, LATENCY);
    check_edits(&block, &edits, &cycles(&plan, Mii::Xgmii64));
    let edits = [
        Edit(
            "the shim waits for a cycle less than the register says",
            "assign lpi_tx_t_w_sys = {1'b0, port_t_w_in_force} + 6'd1;",
            "assign lpi_tx_t_w_sys = {1'b0, port_t_w_in_force};",
        ),
        Edit(
            "the least time of LPI is t_w",
            "assign lpi_tx_t_s = {1'b0, port_t_s_in_force}",
            "assign lpi_tx_t_s = {1'b0, port_t_w_in_force}",
        ),
    ];
    let block = EthernetPort::new(&adjusted, Mii::Xgmii64, LATENCY);
    check_edits(&block, &edits, &cycles(&adjusted, Mii::Xgmii64));
}

/// Every single fault of the wiring shows at an output, or is proved to be none.
#[test]
#[ignore = "long; make test-all runs it"]
fn every_fault_shows() {
    for (plan, what) in plans()
        .iter()
        .zip(["a fixed threshold", "prediction", "registers"])
    {
        let mii = Mii::Xgmii64;
        let name = format!("ethernet_port with {what}");
        every_fault(
            &name,
            &EthernetPort::new(plan, mii, LATENCY),
            &cycles(plan, mii),
        );
    }
}

/// Registers say the times of both sleep states: there are no pins of them, and the model sees many.
#[test]
fn the_shim_follows_the_registers() {
    let [fixed, _, adjusted] = plans();
    let pins = |plan: &PortPlan| {
        let design =
            crate::hdl::elaborate(&EthernetPort::new(plan, Mii::Xgmii64, LATENCY)).unwrap();
        let pins: Vec<String> = design.pins().into_iter().map(|pin| pin.name).collect();
        ["t_s", "t_w_sys"].map(|name| pins.iter().any(|pin| pin == name))
    };
    assert_eq!(pins(&fixed), [true; 2]);
    assert_eq!(pins(&adjusted), [false; 2]);
}

/// The registers count what the pins of the shims said in the same cycles (IEEE 802.3, 30.3.2.1.8 to 11):
/// the transitions and the time of LPI of both directions, errors in it and frames that start too early; and
/// each kind of error sets its flag.
#[test]
fn the_registers_count_what_the_shims_say() {
    let [_, _, plan] = plans();
    let page = map::port(&plan);
    let mut bench = Bench::new(EthernetPort::new(&plan, Mii::Xgmii32, LATENCY));
    // How often each pin rose, and for how many cycles it was 1.
    let names = ["rx_lpi", "lpi_active", "lpi_error", "early_start"];
    let mut seen = names.map(|name| (name, 0, 0, 0));
    let count = |bench: &Bench, seen: &mut [(&str, u64, u64, u64); 4]| {
        for (name, before, rises, time) in seen {
            let now = bench.get(name);
            *rises += now & !*before;
            *time += now;
            *before = now;
        }
    };
    for (inputs, _) in cycles(&plan, Mii::Xgmii32) {
        bench.drive_pins(&inputs);
        count(&bench, &mut seen);
        bench.clock();
    }
    // The direction is kept awake, and the other end is silent, while software reads.
    let idle = Lanes::control(Mii::Xgmii32, IDLE);
    let quiet = golden::Inputs {
        port: pins::Inputs {
            queue_nonempty: true,
            ..pins::Inputs::default()
        },
        mac_word: idle,
        phy_word: idle,
        link_fault: false,
        hold_off: 0,
        t_s: 2,
        t_w_sys: 6,
    };
    let mut read = |name: &str| {
        for asks in [true, false] {
            for _ in 0..60 {
                let mut inputs = quiet;
                inputs.port.s_axi_arvalid = asks;
                inputs.port.s_axi_araddr = page.register(name).offset;
                inputs.port.s_axi_rready = !asks;
                inputs.port.s_axi_bready = true;
                bench.drive_pins(&input_pins(&plan, &inputs));
                count(&bench, &mut seen);
                if !asks && bench.get("s_axi_rvalid") == 1 {
                    let data = bench.get("s_axi_rdata");
                    bench.clock();
                    return data;
                }
                let taken = asks && bench.get("s_axi_arready") == 1;
                bench.clock();
                if taken {
                    break;
                }
            }
        }
        panic!("{name} is not read");
    };
    // What was under way before is answered.
    read("magic");
    let registers = [
        "rx_lpi_transitions_low",
        "rx_lpi_low",
        "tx_lpi_transitions_low",
        "tx_lpi_low",
        "lpi_errors_low",
        "early_starts_low",
    ];
    let found = registers.map(&mut read);
    let flags = read("events");
    let [(_, _, rx_rises, rx_time), (_, _, tx_rises, tx_time), (_, _, _, errors), (_, _, _, early)] =
        seen;
    let expected = [rx_rises, rx_time, tx_rises, tx_time, errors, early];
    assert_eq!(found, expected);
    assert!(expected.iter().all(|count| *count > 3), "{expected:?}");
    for event in ["lpi_error", "early_start"] {
        let mask = u64::from(page.field("events", event).mask());
        assert_eq!(flags & mask, mask, "{event}");
    }
}

/// A reset may come while this direction sends LPI, and the other end wakes only as LPI ends: no frame
/// starts before `t_w` is over (SPEC 14). Nor does the direction sleep with a fault, when no LPI is sent.
#[test]
fn no_frame_starts_right_behind_a_reset_and_no_fault_sleeps() {
    for plan in plans() {
        let mii = Mii::ALL[0];
        let mut port = golden::EthernetPort::new(&plan, mii, LATENCY);
        let idle = Lanes::control(mii, IDLE);
        let mut inputs = golden::Inputs {
            port: pins::Inputs {
                enable: true,
                link_up: true,
                ..pins::Inputs::default()
            },
            mac_word: idle,
            phy_word: idle,
            link_fault: true,
            hold_off: 50,
            t_s: 2,
            t_w_sys: 6,
        };
        for cycle in 0..200 {
            // t_w is 6, too.
            let may_send = port.outputs(&inputs).mac_tx_enable;
            assert_eq!(may_send, cycle >= 6, "{cycle}");
            port.clock(&inputs);
        }
        inputs.link_fault = false;
        let mut asks = None;
        for cycle in 0..200 {
            if port.outputs(&inputs).port.lpi_request {
                asks = asks.or(Some(cycle));
            }
            port.clock(&inputs);
        }
        // Nor in the hold-off behind the fault (IEEE 802.3, 78.1.2.1.2); soon after that it does.
        assert!((50..80).contains(&asks.unwrap()), "{asks:?}");
    }
}

/// Cycles that are passed at once end as they do one by one, and no output changes before.
#[test]
fn cycles_are_passed_as_they_are_clocked() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut passed = 0;
    for plan in plans() {
        for mii in Mii::ALL {
            let words = [sampled(mii, IDLE, 500), sampled(mii, LPI, 500)];
            let mut leaps = golden::EthernetPort::new(&plan, mii, LATENCY);
            let mut clocked = leaps.clone();
            for _ in 0..2_000 {
                let mut word = |of: usize, often: u8| match rng.random_ratio(1, 2) {
                    true => Lanes::control(mii, often),
                    false => words[of][rng.random_range(0..words[of].len())],
                };
                let (mac_word, phy_word) = (word(0, IDLE), word(1, LPI));
                let inputs = golden::Inputs {
                    port: pins::Inputs {
                        queue_nonempty: rng.random_ratio(1, 3),
                        force_wake: rng.random_ratio(1, 8),
                        ..pins::Inputs::default()
                    },
                    mac_word,
                    phy_word,
                    link_fault: rng.random_ratio(1, 16),
                    hold_off: rng.random_range(0..40) * u64::from(rng.random_ratio(1, 4)),
                    t_s: rng.random_range(0..8),
                    t_w_sys: rng.random_range(0..12),
                };
                let mut left = rng.random_range(1..40);
                while left > 0 {
                    let cycles = leaps.quiet_cycles(&inputs).min(left);
                    assert!(cycles > 0);
                    let outputs = format!("{:?}", leaps.outputs(&inputs));
                    leaps.pass(&inputs, cycles);
                    for _ in 0..cycles {
                        assert_eq!(format!("{:?}", clocked.outputs(&inputs)), outputs);
                        clocked.clock(&inputs);
                    }
                    left -= cycles;
                    passed += u64::from(cycles > 1);
                }
            }
        }
    }
    assert!(passed > 1_000, "{passed}");
}
