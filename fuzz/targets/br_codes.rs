//! BR Codes, the texts of QR codes of Pix. What is read and can be written again is read to the same charge. The checksum of the
//! input is made right, so that the fields behind it are reached.

#![no_main]

use libfuzzer_sys::fuzz_target;
use regente_domain::br_code::BrCode;

fuzz_target!(|text: &str| {
    holds(text);
    let before = format!("{text}6304");
    holds(&format!("{before}{:04X}", crc16(before.as_bytes())));
});

fn holds(text: &str) {
    let Ok(code) = BrCode::parse(text) else { return };
    let Ok(written) = code.encode() else { return };
    let read = BrCode::parse(&written).expect("what is written can be read");
    assert_eq!(read.location, code.location);
    assert_eq!(read.amount, code.amount);
    assert_eq!(read.txid, code.txid);
    assert_eq!(
        read.category.map(|mcc| mcc.digits().parse()),
        code.category.map(|mcc| mcc.digits().parse::<u16>())
    );
    let again =
        BrCode { category: None, ..read }.encode().expect("what was written once can be written again");
    assert_eq!(
        BrCode::parse(&again).map(|code| (code.merchant_name, code.merchant_city)),
        Ok((read.merchant_name, read.merchant_city))
    );
}

/// CRC-16/CCITT-FALSE.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
        })
    })
}
