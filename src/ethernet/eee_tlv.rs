//! The EEE TLV of LLDP: its bytes (IEEE 802.3, 79.3.5).

/// Bytes of the TLV with its header.
pub const LENGTH: usize = 16;

/// Type of organizationally specific TLVs (IEEE 802.1AB).
const TYPE: u8 = 127;

/// Length of the information string in bytes: OUI, subtype, five fields.
const INFORMATION: usize = 14;

/// The organization: IEEE 802.3.
const OUI: [u8; 3] = [0x00, 0x12, 0x0f];

/// Which of its TLVs this is.
const SUBTYPE: u8 = 5;

/// What an end says of its own times and has understood of those of the other end. Times are in
/// microseconds, whole ones; a fraction is rounded up (78.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EeeTlv {
    /// Transmit `Tw_sys_tx`: so long does this end wait behind LPI before it sends data.
    pub transmit: u16,
    /// Receive `Tw_sys_tx`: so long is the other end to wait.
    pub receive: u16,
    /// Fallback receive `Tw_sys_tx`: so long if it cannot wait as long as `receive`. The same as
    /// `receive` from an end without a fallback.
    pub fallback_receive: u16,
    /// Echo of the other end's `transmit` that this end has taken into account.
    pub echo_transmit: u16,
    /// Echo of the other end's `receive` that this end has taken into account.
    pub echo_receive: u16,
}

/// Bytes that are no EEE TLV.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlvError {
    /// There are fewer bytes than a header.
    #[error("{0} bytes are no TLV: its header has 2")]
    NoHeader(usize),
    /// Another type of TLV.
    #[error("TLV type {0} is not 127, organizationally specific")]
    Type(u8),
    /// The length in the header is not that of an EEE TLV.
    #[error("an information string of {0} bytes is not that of an EEE TLV, which has 14")]
    Length(usize),
    /// The bytes are not as many as the header says.
    #[error("the header says 14 bytes of information, and {0} follow")]
    Cut(usize),
    /// A TLV of another organization.
    #[error("OUI {:02X}-{:02X}-{:02X} is not 00-12-0F, IEEE 802.3", .0[0], .0[1], .0[2])]
    Organization([u8; 3]),
    /// Another TLV of IEEE 802.3.
    #[error("subtype {0} of IEEE 802.3 is not 5, the EEE TLV")]
    Subtype(u8),
}

impl EeeTlv {
    /// The bytes of the TLV, header first, in the order of transmission.
    pub fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        // Seven bits of type, nine of length, which fit in eight here.
        bytes[0] = TYPE << 1;
        bytes[1] = INFORMATION as u8;
        bytes[2..5].copy_from_slice(&OUI);
        bytes[5] = SUBTYPE;
        let fields = [
            self.transmit,
            self.receive,
            self.fallback_receive,
            self.echo_transmit,
            self.echo_receive,
        ];
        for (place, field) in bytes[6..].chunks_exact_mut(2).zip(fields) {
            place.copy_from_slice(&field.to_be_bytes());
        }
        bytes
    }

    /// The TLV of these bytes, which are to be one TLV from its header on.
    ///
    /// # Errors
    /// If they are anything but an EEE TLV of the length that 79.3.5 gives it.
    pub fn decode(bytes: &[u8]) -> Result<Self, TlvError> {
        let &[first, second, ref information @ ..] = bytes else {
            return Err(TlvError::NoHeader(bytes.len()));
        };
        if first >> 1 != TYPE {
            return Err(TlvError::Type(first >> 1));
        }
        let length = usize::from(first & 1) << 8 | usize::from(second);
        if length != INFORMATION {
            return Err(TlvError::Length(length));
        }
        let Ok(information) = <[u8; INFORMATION]>::try_from(information) else {
            return Err(TlvError::Cut(information.len()));
        };
        let [a, b, c, subtype, fields @ ..] = information;
        if [a, b, c] != OUI {
            return Err(TlvError::Organization([a, b, c]));
        }
        if subtype != SUBTYPE {
            return Err(TlvError::Subtype(subtype));
        }
        let field = |at: usize| u16::from_be_bytes([fields[2 * at], fields[2 * at + 1]]);
        Ok(EeeTlv {
            transmit: field(0),
            receive: field(1),
            fallback_receive: field(2),
            echo_transmit: field(3),
            echo_receive: field(4),
        })
    }
}
