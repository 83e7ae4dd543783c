//! The name of a transfer in a payment file: the 20 columns that a company fills in and the bank returns (G064, "seu
//! número").
//!
//! An id has 128 bits, of which six are the same in each (RFC 9562 §5.7), and 20 letters and digits hold 103. So the name
//! has the time of the id and 52 of its 74 random bits, as 20 digits of base 32 in Crockford's alphabet, which leaves out
//! the letters that are taken for digits. It cannot be turned back into the id, but into the range of the ids that have
//! this name, of which one account has one.

use uuid::Uuid;

use crate::id::PaymentBatchId;

/// Columns of a name.
pub const NAME_COLUMNS: usize = 20;
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BITS_PER_DIGIT: u32 = 5;
/// Random bits that the name does not have.
const LEFT_OUT_BITS: u32 = 22;
const VERSION_7: u128 = 0x7 << 76;
const VARIANT: u128 = 0b10 << 62;

/// The name of the transfer of a batch, whose id is of version 7.
pub fn name_of(id: PaymentBatchId) -> String {
    let bits = id.uuid().as_u128();
    let (time, first, second) = (bits >> 80, (bits >> 64) & 0xFFF, (bits >> LEFT_OUT_BITS) & 0xFF_FFFF_FFFF);
    let named = (time << 52) | (first << 40) | second;
    let shifts = (0..NAME_COLUMNS as u32).rev().map(|place| place * BITS_PER_DIGIT);
    shifts.map(|shift| char::from(ALPHABET[((named >> shift) & 0x1F) as usize])).collect()
}

/// The first and the last of the ids that have a name; `None` of what is no name.
pub fn ids_of(name: &str) -> Option<(PaymentBatchId, PaymentBatchId)> {
    if name.len() != NAME_COLUMNS {
        return None;
    }
    let named = name.bytes().try_fold(0_u128, |named, byte| {
        let digit = ALPHABET.iter().position(|known| *known == byte)?;
        Some((named << BITS_PER_DIGIT) | digit as u128)
    })?;
    let (time, first, second) = (named >> 52, (named >> 40) & 0xFFF, named & 0xFF_FFFF_FFFF);
    let lowest = (time << 80) | VERSION_7 | (first << 64) | VARIANT | (second << LEFT_OUT_BITS);
    let highest = lowest | ((1 << LEFT_OUT_BITS) - 1);
    let id = |bits| PaymentBatchId::new(Uuid::from_u128(bits));
    Some((id(lowest), id(highest)))
}
