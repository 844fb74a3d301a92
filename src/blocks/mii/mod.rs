//! The media-independent interfaces that the shims for low power idle stand in: their words, and
//! the control characters of IEEE 802.3 (46.3 for XGMII, 81.3 for XLGMII and CGMII).
//!
//! A word has a byte and a control bit for each *lane*, lane 0 lowest. Lanes form *columns*: a
//! start and a sequence ordered set stand in lane 0 of a column, and low power idle (LPI) is a
//! column with its character in every lane.

pub mod golden;
#[cfg(test)]
pub(crate) mod testing;
mod word;

pub use word::Word;

/// Data byte of a control character: low power idle.
pub const LPI: u8 = 0x06;
/// Data byte of a control character: idle.
pub const IDLE: u8 = 0x07;
/// Data byte of a control character: the start of a frame.
pub const START: u8 = 0xfb;
/// Data byte of a control character: the end of a frame.
pub const TERMINATE: u8 = 0xfd;
/// Data byte of a control character: error.
pub const ERROR: u8 = 0xfe;
/// Data byte of a control character: a sequence ordered set, which tells of a fault of the link.
pub const SEQUENCE: u8 = 0x9c;

/// An interface: how many lanes a word has, and how many of them a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mii {
    /// XGMII (10 Gb/s), 4 lanes: a word is a column.
    Xgmii32,
    /// XGMII (10 Gb/s), 8 lanes: two columns of the 4 lanes of clause 46 in a word, so that a
    /// frame starts in lane 0 or 4.
    Xgmii64,
    /// XLGMII (40 Gb/s) or CGMII (100 Gb/s), 8 lanes: a word is a column, and a frame starts in
    /// lane 0 alone.
    Cgmii,
    /// The same, 16 lanes: two columns of the 8 lanes of clause 81 in a word, so that a frame starts in
    /// lane 0 or 8, at half the clock.
    Cgmii128,
}

impl Mii {
    /// Every interface.
    pub const ALL: [Mii; 4] = [Mii::Xgmii32, Mii::Xgmii64, Mii::Cgmii, Mii::Cgmii128];

    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Mii::Xgmii32 => "xgmii32",
            Mii::Xgmii64 => "xgmii64",
            Mii::Cgmii => "cgmii",
            Mii::Cgmii128 => "cgmii128",
        }
    }

    /// The interface of that name.
    pub fn named(name: &str) -> Option<Mii> {
        Mii::ALL.into_iter().find(|mii| mii.name() == name)
    }

    /// Lanes of a word: bytes of data, and bits of control.
    pub fn lanes(self) -> u32 {
        match self {
            Mii::Xgmii32 => 4,
            Mii::Xgmii64 | Mii::Cgmii => 8,
            Mii::Cgmii128 => 16,
        }
    }

    /// Bits of data in a word.
    pub fn bits(self) -> u32 {
        8 * self.lanes()
    }

    /// Its rate in Gb/s, to four digits behind the point, where a clock cycle takes so many ps: a word
    /// comes in each.
    pub fn rate_gbps(self, period_ps: u64) -> f64 {
        (f64::from(self.bits()) * 1e7 / period_ps as f64).round() / 1e4
    }

    /// Lanes of a column.
    pub fn column(self) -> u32 {
        match self {
            Mii::Xgmii32 | Mii::Xgmii64 => 4,
            Mii::Cgmii | Mii::Cgmii128 => 8,
        }
    }

    /// Columns of a word, 1 or 2.
    pub fn columns(self) -> u32 {
        self.lanes() / self.column()
    }

    /// The data of a word with this byte in every lane.
    pub fn filled(self, byte: u8) -> u128 {
        filled(self.lanes(), byte)
    }

    /// The control bits of a word of control characters alone.
    pub fn all_control(self) -> u16 {
        u16::MAX >> (16 - self.lanes())
    }
}

/// `lanes` times the same byte, 1 to 16.
fn filled(lanes: u32, byte: u8) -> u128 {
    u128::from_le_bytes([byte; 16]) >> (128 - 8 * lanes)
}
