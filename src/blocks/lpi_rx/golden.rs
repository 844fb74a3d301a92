//! Golden model of the receive side of low power idle: column by column, character by character.

use crate::blocks::mii::golden::{open_behind, starts, Character, Lanes};
use crate::blocks::mii::{Mii, ERROR, IDLE, LPI};

/// The outputs of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// The word to the MAC.
    pub word: Lanes,
    /// LP_IDLE.indication: the other end sends LPI.
    pub rx_lpi: bool,
    /// The word has a frame, or a part of one.
    pub receiving: bool,
    /// Its LPI was malformed, or a frame starts right behind LPI.
    pub lpi_error: bool,
}

/// Cycle-exact model of the receive side of low power idle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LpiRx {
    mii: Mii,
    /// A frame is under way.
    open: bool,
    /// The last column was LPI.
    after_lpi: bool,
    outputs: Outputs,
}

impl LpiRx {
    /// A shim just after reset.
    pub fn new(mii: Mii) -> Self {
        LpiRx {
            mii,
            open: false,
            after_lpi: false,
            outputs: Outputs {
                word: Lanes::control(mii, IDLE),
                rx_lpi: false,
                receiving: false,
                lpi_error: false,
            },
        }
    }

    /// The outputs of this cycle.
    pub fn outputs(&self) -> Outputs {
        self.outputs
    }

    /// Cycles, the present one included, for which the outputs stay as they are if the PHY goes on to
    /// give `word`: 1, or `u64::MAX`, which is for ever.
    pub fn quiet_cycles(&self, word: Lanes) -> u64 {
        let mut next = self.clone();
        next.clock(word);
        match next == *self {
            true => u64::MAX,
            false => 1,
        }
    }

    /// The clock edge at the end of a cycle in which the PHY gives a word.
    pub fn clock(&mut self, word: Lanes) {
        const LOW_POWER: Character = Character::Control(LPI);
        let mut given = Vec::new();
        let (mut rx_lpi, mut receiving, mut lpi_error) = (false, false, false);
        for column in word.characters(self.mii).chunks(self.mii.column() as usize) {
            let all = |character| column.iter().all(|&it| it == character);
            let is_lpi = all(LOW_POWER);
            let is_silent = is_lpi || all(Character::Control(IDLE));
            rx_lpi = is_lpi && !self.open;
            receiving |= starts(column) || (self.open && !is_silent);
            lpi_error |= column.contains(&LOW_POWER) && !rx_lpi;
            lpi_error |= starts(column) && self.after_lpi;
            let instead = Character::Control(if rx_lpi { IDLE } else { ERROR });
            given.extend(column.iter().map(|&it| match it {
                LOW_POWER => instead,
                other => other,
            }));
            self.open = open_behind(self.open, column);
            self.after_lpi = is_lpi;
        }
        self.outputs = Outputs {
            word: Lanes::of(&given),
            rx_lpi,
            receiving,
            lpi_error,
        };
    }
}
