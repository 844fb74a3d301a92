//! Lock-step test: description against golden model; what becomes of frames.

use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{golden, LpiTx};
use crate::blocks::mii::golden::{Character, Lanes};
use crate::blocks::mii::testing::{
    check_edits, every_fault, items, telling, words, Edit, Emitted, Item, Pins,
};
use crate::blocks::mii::{Mii, IDLE, LPI, SEQUENCE};
use crate::blocks::testing::{cases, Bench};
use crate::hdl::check;

/// Width of the times in the tests, in bits.
const TIME_WIDTH: u32 = 4;

/// The pins of a cycle.
fn input_pins(inputs: &golden::Inputs) -> Pins {
    vec![
        ("mac_data", inputs.word.data),
        ("mac_control", inputs.word.control.into()),
        ("lpi_request", inputs.lpi_request.into()),
        ("tx_enable", inputs.tx_enable.into()),
        ("link_fault", inputs.link_fault.into()),
        ("t_s", inputs.t_s.into()),
        ("t_w_sys", inputs.t_w_sys.into()),
    ]
}

fn output_pins(golden: &golden::LpiTx, inputs: &golden::Inputs) -> Pins {
    let outputs = golden.outputs();
    vec![
        ("phy_data", outputs.word.data),
        ("phy_control", outputs.word.control.into()),
        ("mac_tx_enable", golden.mac_tx_enable(inputs).into()),
        ("transmitting", outputs.transmitting.into()),
        ("lpi_active", outputs.lpi_active.into()),
        ("early_start", outputs.early_start.into()),
    ]
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn description_and_golden_model_agree(
        mii in prop::sample::select(Mii::ALL.to_vec()),
        mac_latency in 0u32..4,
        items in items(IDLE),
        requests in prop::collection::vec(
            (any::<bool>(), any::<bool>(), prop::bool::weighted(0.1), 0u64..16, 0u64..16, 1u64..30),
            1..20,
        ),
    ) {
        let mut golden = golden::LpiTx::new(mii, mac_latency);
        let mut bench = Bench::new(LpiTx::new(mii, TIME_WIDTH, mac_latency));
        let mut levels = requests.iter().cycle();
        let mut level = *levels.next().unwrap();
        for (cycle, word) in (0u64..).zip(words(mii, &items)) {
            if level.5 == 0 {
                level = *levels.next().unwrap();
            }
            level.5 -= 1;
            let (lpi_request, tx_enable, link_fault, t_s, t_w_sys, _) = level;
            let inputs =
                golden::Inputs { word, lpi_request, tx_enable, link_fault, t_s, t_w_sys };
            bench.drive_pins(&input_pins(&inputs));
            bench.check_pins(cycle, &output_pins(&golden, &inputs))?;
            bench.clock();
            golden.clock(&inputs);
        }
    }
}

/// Cycles of a golden model in which much happens: levels stay for some ten words, and there are resets.
fn cycles(mii: Mii, mac_latency: u32) -> Vec<(Pins, Pins)> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut golden = golden::LpiTx::new(mii, mac_latency);
    let mut inputs = golden::Inputs {
        word: Lanes::control(mii, IDLE),
        lpi_request: false,
        tx_enable: true,
        link_fault: false,
        t_s: 0,
        t_w_sys: 0,
    };
    let words = telling(mii, IDLE).into_iter();
    words
        .map(|(word, rst)| {
            inputs.word = word;
            if rng.random_ratio(1, 10) {
                inputs.lpi_request = rng.random();
                inputs.tx_enable = rng.random_ratio(3, 4);
                inputs.link_fault = rng.random_ratio(1, 8);
                inputs.t_s = rng.random_range(0..8);
                inputs.t_w_sys = rng.random_range(0..12);
            }
            let mut driven = input_pins(&inputs);
            driven.push(("rst", rst.into()));
            let expected = output_pins(&golden, &inputs);
            golden.clock(&inputs);
            if rst {
                golden = golden::LpiTx::new(mii, mac_latency);
            }
            (driven, expected)
        })
        .collect()
}

#[test]
fn emitted_verilog_agrees_with_the_golden_model() {
    for mii in Mii::ALL {
        for latency in [0, 2] {
            let verilog = Emitted::of(&LpiTx::new(mii, TIME_WIDTH, latency));
            let found = verilog.first_difference(None, &cycles(mii, latency));
            assert_eq!(found, None, "{}", mii.name());
        }
    }
}

/// One change of the emitted Verilog at a time is seen in its outputs.
#[test]
fn every_edit_is_found() {
    let edits = [
        Edit(
            "idle bytes that are data become LPI",
            "columns_0_idle = columns_0_all_control & (",
            "columns_0_idle = (",
        ),
        Edit(
            "one idle column is enough",
            "idled_2 = idled_1 & columns_1_idle",
            "idled_2 = columns_1_idle",
        ),
        Edit(
            "LPI begins with the idle word that breaks off a frame",
            "& idle & ~in_frame_q",
            "& idle",
        ),
        Edit(
            "frames pass right after reset",
            "state_q <= TX_RESET",
            "state_q <= TX_OPEN",
        ),
        Edit(
            "LPI begins with a fault",
            "wanted = lpi_request & ~link_fault",
            "wanted = lpi_request",
        ),
        Edit(
            "LPI begins before the MAC has reacted",
            "closed_for_q == MAC_LATENCY",
            "closed_for_q != 2'd0",
        ),
        Edit(
            "the MAC is held back for a part of the time only",
            "closed_for_d = 2'd0;",
            "closed_for_d = closed_for_q;",
        ),
        Edit(
            "LPI is a word short",
            "(wanted | (cycles_q > 4'd1))",
            "(wanted | (cycles_q > 4'd2))",
        ),
        Edit(
            "LPI goes on for a word after the request",
            "(wanted | (cycles_q > 4'd1))",
            "(wanted | (cycles_q > 4'd0))",
        ),
        Edit(
            "frames pass a word too early",
            "cycles_q <= 4'd2",
            "cycles_q <= 4'd3",
        ),
        Edit(
            "frames pass a word too late",
            "cycles_q <= 4'd2",
            "cycles_q <= 4'd1",
        ),
        Edit(
            "LPI lasts as long as the way up",
            "cycles_d = t_s;",
            "cycles_d = t_w_sys;",
        ),
        Edit(
            "the MAC may start while LPI is asked for",
            "tx_enable & ~lpi_request",
            "tx_enable",
        ),
        Edit(
            "the MAC may start on the way up",
            "enable = (state_q == TX_OPEN)",
            "enable = (state_q != TX_ASLEEP)",
        ),
        Edit(
            "a start on the way up is not told",
            "(state_q != TX_OPEN)",
            "(state_q == TX_ASLEEP)",
        ),
        Edit(
            "LPI has an idle lane",
            "LPI_WORD = 64'h606060606060606",
            "LPI_WORD = 64'h606060607060606",
        ),
        Edit(
            "a frame that starts in lane 4 is not seen",
            "COLUMNS_1_START_CHARACTER = 8'd251",
            "COLUMNS_1_START_CHARACTER = 8'd250",
        ),
        Edit(
            "the end of a frame in lane 5 is not seen",
            "columns_1_ended_2 = columns_1_ended_1 | columns_1_lanes_1_ends",
            "columns_1_ended_2 = columns_1_ended_1",
        ),
        Edit(
            "a frame that was broken off lasts a word longer",
            "& ~columns_1_idle\n      & ~columns_1_lpi;",
            "& ~columns_1_lpi;",
        ),
    ];
    let block = LpiTx::new(Mii::Xgmii64, TIME_WIDTH, 2);
    check_edits(&block, &edits, &cycles(Mii::Xgmii64, 2));
}

/// Every single fault shows at an output, or is proved to be none.
#[test]
#[ignore = "long; make test-all runs it"]
fn every_fault_shows() {
    for mii in Mii::ALL {
        for latency in [0, 2] {
            let block = LpiTx::new(mii, TIME_WIDTH, latency);
            every_fault(
                &format!("lpi_tx of {}", mii.name()),
                &block,
                &cycles(mii, latency),
            );
        }
    }
}

/// The times of the tests below.
const T_S: u64 = 3;
const T_W_SYS: u64 = 5;

/// A golden model that lets frames pass: it has held the MAC back after its reset.
fn open(mii: Mii, latency: u32) -> golden::LpiTx {
    let mut golden = golden::LpiTx::new(mii, latency);
    let inputs = golden::Inputs {
        word: Lanes::control(mii, IDLE),
        lpi_request: false,
        tx_enable: true,
        link_fault: false,
        t_s: T_S,
        t_w_sys: T_W_SYS,
    };
    for cycle in 0..10 {
        assert_eq!(golden.mac_tx_enable(&inputs), cycle >= T_W_SYS, "{cycle}");
        golden.clock(&inputs);
    }
    golden
}

/// What a golden model sends, a letter a word, under these words of the MAC and these cycles in
/// which it is asked for LPI: `f` a part of a frame, `i` idle, `L` LPI, `q` an ordered set, `E` a
/// start that is too early.
fn sent(mii: Mii, latency: u32, items: &[Item], asked: impl Fn(u64) -> bool) -> String {
    let mut golden = open(mii, latency);
    let mut text = String::new();
    for (cycle, word) in (0..).zip(words(mii, items)) {
        let inputs = golden::Inputs {
            word,
            lpi_request: asked(cycle),
            tx_enable: !asked(cycle),
            link_fault: false,
            t_s: T_S,
            t_w_sys: T_W_SYS,
        };
        golden.clock(&inputs);
        let outputs = golden.outputs();
        assert_eq!(outputs.lpi_active, outputs.word == Lanes::control(mii, LPI));
        text.push(match outputs {
            _ if outputs.early_start => 'E',
            _ if outputs.transmitting => 'f',
            _ if outputs.lpi_active => 'L',
            _ if outputs.word == Lanes::control(mii, IDLE) => 'i',
            _ => {
                let first = outputs.word.characters(mii)[0];
                assert_eq!(first, Character::Control(SEQUENCE));
                'q'
            }
        });
    }
    text
}

#[test]
fn a_frame_is_not_cut_and_lpi_lasts_its_time() {
    let items = [Item::Frame(10), Item::Columns(IDLE, 12)];
    // The frame has three words. LPI lasts `T_S` words, though it is asked for in a few cycles.
    let text = sent(Mii::Xgmii32, 0, &items, |cycle| (1..4).contains(&cycle));
    assert_eq!(text, "fffLLLiiiiiiiii");
    let text = sent(Mii::Xgmii32, 0, &items, |cycle| (1..11).contains(&cycle));
    assert_eq!(text, "fffLLLLLLLLiiii");
    // With a MAC that takes time to react LPI begins later.
    let text = sent(Mii::Xgmii32, 4, &items, |cycle| (1..11).contains(&cycle));
    assert_eq!(text, "fffiiLLLLLLiiii");
}

#[test]
fn a_start_too_early_passes_and_is_told() {
    let items = [
        Item::Columns(IDLE, 4),
        Item::Frame(2),
        Item::Columns(IDLE, 1),
        Item::Frame(2),
        Item::Columns(IDLE, 2),
        Item::Frame(2),
    ];
    let text = sent(Mii::Xgmii32, 0, &items, |cycle| cycle < 4);
    assert_eq!(text, "LLLLEiEiif");
    let text = sent(Mii::Xgmii64, 0, &items, |cycle| cycle < 2);
    assert_eq!(text.len(), 5);
    assert!(text.starts_with("LLE"), "{text}");
}

#[test]
fn an_ordered_set_ends_lpi_and_the_way_up_follows() {
    let items = [Item::Columns(IDLE, 2), Item::Fault, Item::Columns(IDLE, 9)];
    let text = sent(Mii::Xgmii32, 0, &items, |_| true);
    assert_eq!(text, "LLqiiiiLLLLL");
}

/// Frames start in lane 0 of a column, and a column of XGMII has four lanes.
#[test]
fn frames_start_where_the_interface_allows() {
    let start_in_lane_4 = [
        Item::Columns(IDLE, 1),
        Item::Frame(10),
        Item::Columns(IDLE, 8),
    ];
    let text = sent(Mii::Xgmii64, 0, &start_in_lane_4, |_| true);
    assert_eq!(text, "ffLLLL");
    // The same bytes on XLGMII or CGMII start no frame, so the words are no LPI and no idle.
    let word = words(Mii::Xgmii64, &start_in_lane_4)[0];
    let mut golden = open(Mii::Cgmii, 0);
    golden.clock(&golden::Inputs {
        word,
        lpi_request: true,
        tx_enable: false,
        link_fault: false,
        t_s: T_S,
        t_w_sys: T_W_SYS,
    });
    assert!(!golden.outputs().transmitting);
    assert_eq!(golden.outputs().word, word);
}

/// The diagram of the page about the shims is that of the golden model.
#[test]
fn the_diagram_of_the_book() {
    let mii = Mii::Xgmii64;
    let frame = [
        Item::Columns(IDLE, 1),
        Item::Frame(20),
        Item::Columns(IDLE, 33),
    ];
    let words = words(mii, &[&frame[..], &frame[..2]].concat());
    let mut golden = open(mii, 2);
    let letter = |word: Lanes, is_frame: bool| match is_frame {
        true => 'f',
        false if word == Lanes::control(mii, LPI) => 'L',
        false => 'i',
    };
    let level = |high: bool| if high { '#' } else { '_' };
    let mut lines = [(); 6].map(|()| String::new());
    for (cycle, word) in (0..).zip(words) {
        let asked = (5..14).contains(&cycle);
        let inputs = golden::Inputs {
            word,
            lpi_request: asked,
            tx_enable: !asked,
            link_fault: false,
            t_s: T_S,
            t_w_sys: T_W_SYS,
        };
        let outputs = golden.outputs();
        let idle = word == Lanes::control(mii, IDLE);
        lines[0].push(letter(word, !idle));
        lines[1].push(level(asked));
        lines[2].push(level(golden.mac_tx_enable(&inputs)));
        lines[3].push(letter(outputs.word, outputs.transmitting));
        lines[4].push(level(outputs.lpi_active));
        lines[5].push(level(outputs.transmitting));
        golden.clock(&inputs);
    }
    let names = [
        "word of the MAC",
        "lpi_request",
        "mac_tx_enable",
        "word to the PHY",
        "lpi_active",
        "transmitting",
    ];
    let rows = names.iter().zip(&lines);
    let diagram: String = rows
        .map(|(name, line)| format!("{name:<16} {line}\n"))
        .collect();
    let page = include_str!("../../../docs/how/ethernet.md");
    assert!(page.contains(&diagram), "\n{diagram}");
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for mii in Mii::ALL {
        for latency in [0, 3] {
            check::agrees_with_verilog(|| LpiTx::new(mii, TIME_WIDTH, latency), 4000, 1).unwrap();
        }
    }
}

#[test]
fn emitted_verilog_is_lint_clean() {
    for mii in Mii::ALL {
        for (time_width, latency) in [(2, 0), (16, 1), (24, 20)] {
            check::lint_block(&LpiTx::new(mii, time_width, latency)).unwrap();
        }
    }
}
