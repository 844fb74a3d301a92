//! Golden model of the words: what a word holds, lane by lane.

use super::{Mii, IDLE, LPI, START, TERMINATE};

/// The data and the control bits of a word, lane 0 lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// A byte for each lane.
    pub data: u128,
    /// A bit for each lane: its byte is a control character.
    pub control: u16,
}

/// What is in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Character {
    /// A byte of a frame.
    Data(u8),
    /// A control character.
    Control(u8),
}

impl Lanes {
    /// A word with this control character in every lane.
    pub fn control(mii: Mii, character: u8) -> Self {
        Lanes {
            data: mii.filled(character),
            control: mii.all_control(),
        }
    }

    /// A word of these characters, lane 0 first.
    pub fn of(characters: &[Character]) -> Self {
        let mut word = Lanes {
            data: 0,
            control: 0,
        };
        for (lane, &character) in characters.iter().enumerate() {
            let (byte, control) = match character {
                Character::Data(byte) => (byte, 0),
                Character::Control(byte) => (byte, 1),
            };
            word.data |= u128::from(byte) << (8 * lane);
            word.control |= control << lane;
        }
        word
    }

    /// Its characters, lane 0 first.
    pub fn characters(self, mii: Mii) -> Vec<Character> {
        let lanes = 0..mii.lanes();
        lanes
            .map(|lane| {
                let byte = (self.data >> (8 * lane)) as u8;
                match self.control >> lane & 1 {
                    0 => Character::Data(byte),
                    _ => Character::Control(byte),
                }
            })
            .collect()
    }
}

/// The frame under way behind a column, if there was one before it or not. A frame ends with its
/// terminate character. A column of idle or LPI ends one that has none, so that a frame that was
/// broken off does not last for ever.
pub fn open_behind(open: bool, column: &[Character]) -> bool {
    let silent = [IDLE, LPI]
        .iter()
        .any(|&byte| column.iter().all(|&it| it == Character::Control(byte)));
    let ends = column.contains(&Character::Control(TERMINATE));
    (open || starts(column)) && !ends && !silent
}

/// Whether a frame starts in a column.
pub fn starts(column: &[Character]) -> bool {
    column.first() == Some(&Character::Control(START))
}
