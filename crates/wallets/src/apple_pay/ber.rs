//! Rewrites BER as DER where they differ in a device's signature: devices write the outer layers of a signature with
//! indefinite lengths (X.690, 8.1.3.6), which parsers of DER refuse. Everything inside of a definite length is copied.

/// Layers of indefinite length within each other. A signature has six.
const MAX_DEPTH: u8 = 16;
/// The length octet that announces an indefinite length.
const INDEFINITE: u8 = 0x80;
/// The bit of a tag whose content consists of further values.
const CONSTRUCTED: u8 = 0x20;
/// The bits of a tag whose number continues in further octets.
const LONG_TAG: u8 = 0x1F;
/// What ends a content of indefinite length.
const END_OF_CONTENTS: [u8; 2] = [0, 0];

/// One value, with definite lengths; `None` when the bytes are not exactly one value.
pub(super) fn to_der(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut rest = bytes;
    let value = read_value(&mut rest, 0)?;
    rest.is_empty().then_some(value)
}

fn read_value(rest: &mut &[u8], depth: u8) -> Option<Vec<u8>> {
    let &[tag, length, ..] = *rest else { return None };
    if tag & LONG_TAG == LONG_TAG || depth > MAX_DEPTH {
        return None;
    }
    if length != INDEFINITE {
        let total = 2 + definite_length(length, &rest[2..])?;
        let (value, after) = rest.split_at_checked(total)?;
        *rest = after;
        return Some(value.to_vec());
    }
    if tag & CONSTRUCTED == 0 {
        return None;
    }
    *rest = &rest[2..];
    let mut content = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix(&END_OF_CONTENTS) {
            *rest = after;
            return Some(value_of(tag, &content));
        }
        content.extend(read_value(rest, depth + 1)?);
    }
}

/// The octets that follow the first length octet: further length octets and the content.
fn definite_length(first: u8, rest: &[u8]) -> Option<usize> {
    if first < INDEFINITE {
        return Some(usize::from(first));
    }
    let count = usize::from(first - INDEFINITE);
    let octets = rest.get(..count).filter(|_| count <= 4)?;
    let length =
        octets.iter().try_fold(0_usize, |sum, octet| sum.checked_mul(256)?.checked_add((*octet).into()))?;
    length.checked_add(count)
}

/// A value of definite length.
fn value_of(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut value = vec![tag];
    match u8::try_from(content.len()) {
        Ok(short) if short < INDEFINITE => value.push(short),
        Ok(_) | Err(_) => {
            let octets = content.len().to_be_bytes();
            let zeros = octets.iter().take_while(|octet| **octet == 0).count();
            let count = u8::try_from(octets.len() - zeros).unwrap_or(u8::MAX);
            value.push(INDEFINITE | count);
            value.extend_from_slice(&octets[zeros..]);
        }
    }
    value.extend_from_slice(content);
    value
}

/// A value of indefinite length.
pub(super) fn indefinite(tag: u8, contents: &[Vec<u8>]) -> Vec<u8> {
    let mut value = vec![tag, INDEFINITE];
    contents.iter().for_each(|content| value.extend_from_slice(content));
    value.extend_from_slice(&END_OF_CONTENTS);
    value
}
