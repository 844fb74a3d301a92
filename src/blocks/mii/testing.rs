//! Words for the tests of the shims: frames, gaps, LPI, faults, and what no standard allows.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use rust_hdl_core::block::Block;

use super::golden::{Character, Lanes};
use super::{Mii, ERROR, IDLE, LPI, SEQUENCE, START, TERMINATE};
use crate::hdl::check;
pub(crate) use crate::hdl::check::Pins;
use crate::hdl::mutants::mutants;
use crate::hdl::sim::Pin;
use crate::hdl::{elaborate, verilog};
use crate::mutate::part_faults;

/// What comes one behind the other on an interface.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// So many columns of one control character.
    Columns(u8, usize),
    /// A sequence ordered set.
    Fault,
    /// A frame of so many bytes behind its start.
    Frame(usize),
    /// The same without its end.
    BrokenFrame(usize),
    /// A column with LPI in these lanes and idle in the others.
    PartlyLpi(u8),
    /// A column of any bytes, some of them control characters.
    Anything(u64, u8),
}

/// The bytes that mean something as control characters.
const CHARACTERS: [u8; 6] = [IDLE, LPI, START, TERMINATE, ERROR, SEQUENCE];

/// Byte `at` of a frame of so many: many are those of control characters, which mean nothing in data.
fn frame_byte(at: usize, bytes: usize) -> u8 {
    let chosen = (5 * at + 3 * bytes) % 11;
    CHARACTERS.get(chosen).copied().unwrap_or(at as u8)
}

/// A column of any bytes, most of them with a meaning as control characters, and which are such.
fn anything() -> impl Strategy<Value = Item> {
    let byte = prop_oneof![3 => prop::sample::select(CHARACTERS.to_vec()), 1 => any::<u8>()];
    let control = prop_oneof![Just(u8::MAX), any::<u8>()];
    (prop::array::uniform8(byte), control)
        .prop_map(|(bytes, control)| Item::Anything(u64::from_le_bytes(bytes), control))
}

/// Items, `often` with the character given.
pub(crate) fn items(often: u8) -> impl Strategy<Value = Vec<Item>> {
    let item = prop_oneof![
        4 => (1usize..40).prop_map(move |columns| Item::Columns(often, columns)),
        2 => (1usize..12).prop_map(|columns| Item::Columns(IDLE, columns)),
        1 => (1usize..4).prop_map(|columns| Item::Columns(LPI, columns)),
        1 => Just(Item::Fault),
        4 => (0usize..40).prop_map(Item::Frame),
        2 => (0usize..40).prop_map(Item::BrokenFrame),
        1 => any::<u8>().prop_map(Item::PartlyLpi),
        2 => anything(),
        // The same byte in every lane, but not in every lane a control character.
        2 => (prop::sample::select(vec![IDLE, LPI, TERMINATE]), any::<u8>())
            .prop_map(|(byte, control)| Item::Anything(u64::from_le_bytes([byte; 8]), control)),
        1 => (prop::sample::select(CHARACTERS.to_vec()), 1usize..3)
            .prop_map(|(character, columns)| Item::Columns(character, columns)),
    ];
    prop::collection::vec(item, 1..40)
}

/// The words of items.
pub(crate) fn words(mii: Mii, items: &[Item]) -> Vec<Lanes> {
    let column = mii.column() as usize;
    let mut characters = Vec::new();
    for item in items {
        match *item {
            Item::Columns(character, columns) => {
                characters.extend(vec![Character::Control(character); columns * column]);
            }
            Item::Fault => {
                characters.push(Character::Control(SEQUENCE));
                characters.extend(
                    [0, 0, 1, 0, 0, 0, 0][..column - 1]
                        .iter()
                        .map(|&byte| Character::Data(byte)),
                );
            }
            Item::Frame(bytes) | Item::BrokenFrame(bytes) => {
                characters.push(Character::Control(START));
                characters.extend((0..bytes).map(|at| Character::Data(frame_byte(at, bytes))));
                if matches!(item, Item::Frame(_)) {
                    characters.push(Character::Control(TERMINATE));
                }
                while characters.len() % column != 0 {
                    characters.push(match item {
                        Item::Frame(_) => Character::Control(IDLE),
                        _ => Character::Data(0),
                    });
                }
            }
            Item::PartlyLpi(lanes) => {
                characters.extend((0..column).map(|lane| {
                    Character::Control(if lanes >> lane & 1 == 1 { LPI } else { IDLE })
                }))
            }
            Item::Anything(data, control) => {
                let word = Lanes {
                    data: data.into(),
                    control: control.into(),
                };
                characters.extend(&word.characters(mii)[..column]);
            }
        }
    }
    let lanes = mii.lanes() as usize;
    while characters.len() % lanes != 0 {
        characters.push(Character::Control(IDLE));
    }
    characters.chunks(lanes).map(Lanes::of).collect()
}

/// A column of each character in every lane, with every choice of lanes in which it is one and not data,
/// within frames and between them, at both places of a word with two columns.
fn every_choice_of_lanes(mii: Mii) -> Vec<Item> {
    let mut items = Vec::new();
    for byte in CHARACTERS {
        for lanes in 0..=u8::MAX >> (8 - mii.column()) {
            let column = Item::Anything(u64::from_le_bytes([byte; 8]), lanes);
            // A word of data behind it: part of a frame, or not.
            let mut behind = vec![Item::Anything(0, 0); mii.columns() as usize];
            behind.push(Item::Columns(IDLE, 1));
            items.push(column.clone());
            items.extend(behind.clone());
            items.extend([Item::BrokenFrame(0), column]);
            items.extend(behind);
        }
    }
    let at_the_other_place = [vec![Item::Columns(IDLE, 1)], items.clone()].concat();
    [items, at_the_other_place].concat()
}

/// So many words or some more, the same in every run.
pub(crate) fn sampled(mii: Mii, often: u8, count: usize) -> Vec<Lanes> {
    let mut runner = TestRunner::deterministic();
    let mut found = Vec::new();
    while found.len() < count {
        let items = items(often).new_tree(&mut runner).unwrap().current();
        found.extend(words(mii, &items));
    }
    found
}

/// Words in which every fault of a shim shows, and whether there is a reset in the same cycle.
pub(crate) fn telling(mii: Mii, often: u8) -> Vec<(Lanes, bool)> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let sampled = sampled(mii, often, 20_000).into_iter();
    let sampled = sampled.map(|word| (word, rng.random_ratio(1, 25)));
    // No reset hides what comes once.
    let once = words(mii, &every_choice_of_lanes(mii)).into_iter();
    sampled.chain(once.map(|word| (word, false))).collect()
}

/// One change of the Verilog, and what the hardware does wrong then.
pub(crate) struct Edit(pub &'static str, pub &'static str, pub &'static str);

/// The emitted Verilog of a block.
pub(crate) struct Emitted {
    files: Vec<(String, String)>,
    pins: Vec<Pin>,
}

impl Emitted {
    pub(crate) fn of(block: &impl Block) -> Self {
        let design = elaborate(block).unwrap();
        Emitted {
            files: verilog::print(&design, &verilog::Header::for_tests()),
            pins: design.pins(),
        }
    }

    /// The first cycle in which an output, after an edit of the top, is not as the golden model
    /// has it; `None`: there is none. Each cycle has its inputs and its outputs.
    pub(crate) fn first_difference(
        &self,
        edit: Option<&Edit>,
        cycles: &[(Pins, Pins)],
    ) -> Option<usize> {
        let mut files = self.files.clone();
        if let Some(Edit(what, from, to)) = edit {
            let (_, text) = &mut files[0];
            assert_eq!(text.matches(from).count(), 1, "{what}: `{from}`");
            *text = text.replace(from, to);
        }
        check::first_difference(&files, &self.pins, cycles).unwrap()
    }
}

/// That each edit is found.
pub(crate) fn check_edits(block: &impl Block, edits: &[Edit], cycles: &[(Pins, Pins)]) {
    let verilog = Emitted::of(block);
    edits.par_iter().for_each(|edit| {
        // Most show soon.
        let some = &cycles[..cycles.len() / 6];
        let found = verilog
            .first_difference(Some(edit), some)
            .or_else(|| verilog.first_difference(Some(edit), cycles));
        assert!(found.is_some(), "not found: {}", edit.0);
        println!("cycle {:>5}: {}", found.unwrap_or(0), edit.0);
    });
}

/// That every single fault of the module of a block shows at an output within these cycles, or is proved to be
/// none.
pub(crate) fn every_fault(name: &str, block: &impl Block, cycles: &[(Pins, Pins)]) {
    let design = elaborate(block).unwrap();
    let mut faults = mutants(&design);
    faults.retain(|fault| fault.module == design.top());
    let faults = part_faults(&design, faults, cycles).unwrap();
    let none = faults.equivalent.len();
    println!("{:>4} faults in {name}, {none} of them none", faults.tried);
    faults.all_found().unwrap();
}
