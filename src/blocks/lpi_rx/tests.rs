//! Lock-step test: description against golden model; what a MAC finds.

use proptest::prelude::*;

use super::{golden, LpiRx};
use crate::blocks::mii::golden::{Character, Lanes};
use crate::blocks::mii::testing::{
    check_edits, every_fault, items, telling, words, Edit, Emitted, Item, Pins,
};
use crate::blocks::mii::{Mii, ERROR, IDLE, LPI};
use crate::blocks::testing::{cases, Bench};
use crate::hdl::check;

/// The pins of a cycle.
fn input_pins(word: Lanes) -> Pins {
    vec![
        ("phy_data", word.data),
        ("phy_control", word.control.into()),
    ]
}

fn output_pins(golden: &golden::LpiRx) -> Pins {
    let outputs = golden.outputs();
    vec![
        ("mac_data", outputs.word.data),
        ("mac_control", outputs.word.control.into()),
        ("rx_lpi", outputs.rx_lpi.into()),
        ("receiving", outputs.receiving.into()),
        ("lpi_error", outputs.lpi_error.into()),
    ]
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn description_and_golden_model_agree(
        mii in prop::sample::select(Mii::ALL.to_vec()),
        items in items(LPI),
    ) {
        let mut golden = golden::LpiRx::new(mii);
        let mut bench = Bench::new(LpiRx::new(mii));
        for (cycle, word) in (0u64..).zip(words(mii, &items)) {
            bench.drive_pins(&input_pins(word));
            bench.check_pins(cycle, &output_pins(&golden))?;
            bench.clock();
            golden.clock(word);
        }
    }
}

/// Cycles of a golden model in which much happens, resets too.
fn cycles(mii: Mii) -> Vec<(Pins, Pins)> {
    let mut golden = golden::LpiRx::new(mii);
    let words = telling(mii, LPI).into_iter();
    words
        .map(|(word, rst)| {
            let mut driven = input_pins(word);
            driven.push(("rst", rst.into()));
            let expected = output_pins(&golden);
            golden.clock(word);
            if rst {
                golden = golden::LpiRx::new(mii);
            }
            (driven, expected)
        })
        .collect()
}

#[test]
fn emitted_verilog_agrees_with_the_golden_model() {
    for mii in Mii::ALL {
        let verilog = Emitted::of(&LpiRx::new(mii));
        let found = verilog.first_difference(None, &cycles(mii));
        assert_eq!(found, None, "{}", mii.name());
    }
}

/// One change of the emitted Verilog at a time is seen in its outputs.
#[test]
fn every_edit_is_found() {
    let edits = [
        Edit(
            "LPI in the upper column reaches the MAC",
            "more_bits_2 = more_bits_1 | mended_1_bits",
            "more_bits_2 = more_bits_1",
        ),
        Edit(
            "LPI within a frame becomes idle",
            "silent_1 = columns_1_lpi & ~open_1",
            "silent_1 = columns_1_lpi",
        ),
        Edit(
            "a start right behind LPI is not told",
            "(columns_0_starts & after_lpi_0)",
            "(columns_0_starts & 1'b0)",
        ),
        Edit(
            "LPI in lane 6 is not seen",
            "COLUMNS_1_LANES_2_LPI_CHARACTER = 8'd6",
            "COLUMNS_1_LANES_2_LPI_CHARACTER = 8'd7",
        ),
        Edit(
            "LPI in lane 1 becomes another character",
            "MENDED_0_TO_IDLE_1 = 64'd256",
            "MENDED_0_TO_IDLE_1 = 64'd512",
        ),
        Edit(
            "the indication stays for a word",
            "indication_d = silent_1",
            "indication_d = silent_1 | lpi_before_q",
        ),
        Edit(
            "a data byte is taken for LPI",
            "columns_0_lanes_3_lpi = columns_0_lanes_3_is_control\n      & (",
            "columns_0_lanes_3_lpi = (",
        ),
        Edit(
            "the word with the start is not received",
            "carries_d = carries",
            "carries_d = in_frame_q",
        ),
        Edit(
            "a frame that LPI breaks off lasts",
            "& ~columns_0_idle\n      & ~columns_0_lpi;",
            "& ~columns_0_idle;",
        ),
    ];
    check_edits(&LpiRx::new(Mii::Xgmii64), &edits, &cycles(Mii::Xgmii64));
}

/// Every single fault shows at an output, or is proved to be none.
#[test]
#[ignore = "long; make test-all runs it"]
fn every_fault_shows() {
    for mii in Mii::ALL {
        every_fault(
            &format!("lpi_rx of {}", mii.name()),
            &LpiRx::new(mii),
            &cycles(mii),
        );
    }
}

/// What a golden model gives to the MAC under these words of the PHY.
fn given(mii: Mii, items: &[Item]) -> Vec<golden::Outputs> {
    let mut golden = golden::LpiRx::new(mii);
    let words = words(mii, items).into_iter();
    words
        .map(|word| {
            golden.clock(word);
            golden.outputs()
        })
        .collect()
}

#[test]
fn a_mac_finds_idle_in_the_place_of_lpi() {
    for mii in Mii::ALL {
        let columns = mii.columns() as usize;
        let with = |character| {
            [
                Item::Frame(10),
                Item::Columns(IDLE, 2 * columns),
                Item::Columns(character, 4 * columns),
                Item::Columns(IDLE, 3 * columns),
                Item::Frame(20),
            ]
        };
        let (lpi, idle) = (given(mii, &with(LPI)), given(mii, &with(IDLE)));
        assert_eq!(lpi.len(), idle.len());
        for (lpi, idle) in lpi.iter().zip(&idle) {
            assert_eq!((lpi.word, lpi.receiving), (idle.word, idle.receiving));
            assert!(!lpi.lpi_error && !idle.rx_lpi);
        }
        // A frame of three columns leaves half a word of XGMII with 8 lanes to LPI.
        assert_eq!(lpi.iter().filter(|it| it.rx_lpi).count(), 4);
    }
}

#[test]
fn malformed_lpi_is_an_error() {
    let column = |character| vec![Character::Control(character); 4];
    let told = |items: &[Item]| -> Vec<bool> {
        let given = given(Mii::Xgmii32, items).into_iter();
        given.map(|it| it.lpi_error).collect()
    };
    // In some lanes only.
    let partly = [Item::PartlyLpi(0b0100), Item::Columns(LPI, 1)];
    assert_eq!(told(&partly), [true, false]);
    let mut expected = column(IDLE);
    expected[2] = Character::Control(ERROR);
    assert_eq!(given(Mii::Xgmii32, &partly)[0].word, Lanes::of(&expected));
    // A start right behind LPI, and one with idle between.
    assert_eq!(
        told(&[Item::Columns(LPI, 1), Item::Frame(2)]),
        [false, true]
    );
    let between = [
        Item::Columns(LPI, 1),
        Item::Columns(IDLE, 1),
        Item::Frame(2),
    ];
    assert_eq!(told(&between), [false; 3]);
    // Within a frame, which is over then.
    let within = [Item::BrokenFrame(6), Item::Columns(LPI, 2)];
    assert_eq!(told(&within), [false, false, true, false]);
    let given = given(Mii::Xgmii32, &within);
    assert_eq!(given[2].word, Lanes::of(&column(ERROR)));
    assert_eq!(given[3].word, Lanes::of(&column(IDLE)));
    assert!(given[3].rx_lpi && !given[2].rx_lpi);
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for mii in Mii::ALL {
        check::agrees_with_verilog(|| LpiRx::new(mii), 4000, 1).unwrap();
    }
}

#[test]
fn emitted_verilog_is_lint_clean() {
    for mii in Mii::ALL {
        check::lint_block(&LpiRx::new(mii)).unwrap();
    }
}
