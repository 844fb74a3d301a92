//! Codes that protect the words of memories.

use serde::{Deserialize, Serialize};

/// The code of a memory's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    /// One bit that makes the number of ones odd: one wrong bit is found.
    Parity,
    /// An extended Hamming code: one wrong bit is put right, two are found.
    Secded,
}

impl Code {
    /// Check bits of a word with `width` bits of data.
    pub fn check_bits(self, width: u32) -> u32 {
        match self {
            Code::Parity => 1,
            // The places of all bits but the last, from 1 on, are numbers of so many bits.
            Code::Secded => {
                let places = |bits: u32| width + bits + 1;
                let bits = (2..).find(|&bits| 1u64 << bits >= u64::from(places(bits)));
                bits.unwrap_or(u32::BITS) + 1
            }
        }
    }

    /// The module of the memories with this code.
    pub(crate) fn module(self) -> &'static str {
        match self {
            Code::Parity => "parity_ram_1r1w",
            Code::Secded => "secded_ram_1r1w",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The widths of usual memories with a code: 8 + 5, 16 + 6, 32 + 7, 64 + 8 bits.
    #[test]
    fn check_bits_are_those_of_usual_memories() {
        let usual = [
            (8, 5),
            (16, 6),
            (32, 7),
            (64, 8),
            (1, 3),
            (4, 4),
            (11, 5),
            (12, 6),
        ];
        for (width, bits) in usual {
            assert_eq!(Code::Secded.check_bits(width), bits, "{width}");
            assert_eq!(Code::Parity.check_bits(width), 1);
        }
    }
}
