//! Documents that prove refunds, read back by programs of others.

use regente_documents::Mark;
use regente_documents::receipt::Issue;
use regente_domain::card::Brand;
use regente_domain::charge::refunds::Refund;
use regente_domain::currency::Currency;
use regente_domain::id::{Id, TransactionRequestId};
use regente_domain::money::Amount;
use regente_domain::receipt::content::{CardSale, Content, PaidBy, PixSale};
use regente_domain::receipt::{ReceiptLanguage, ReceiptType};
use regente_domain::settings::LogoFormat;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::judges::{complaints_of_archives, files_in_zip, fonts_of_pdf, text_of_pdf};

/// A picture of four colours that can be seen through in one corner.
fn logo() -> Vec<u8> {
    let mut bytes = Vec::new();
    let (width, height) = (300_u32, 100_u32);
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    let pixel = |place: u32| match (place % width < 150, place / width < 50) {
        (true, true) => [20, 90, 160, 255],
        (true, false) => [240, 150, 20, 255],
        (false, true) => [20, 140, 70, 255],
        (false, false) => [0, 0, 0, 0],
    };
    let pixels: Vec<u8> = (0..width * height).flat_map(pixel).collect();
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    bytes
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn amount(minor_units: i64) -> Amount {
    Amount::new(minor_units).unwrap()
}

fn refund(n: u128, minor_units: i64, remaining: i64, confirmed_at: &str) -> Refund {
    let id: TransactionRequestId = Id::new(Uuid::from_u128(0x1c57caad_136d_4bc4_a265_c72d408d5e00 + n));
    let reference = Some(format!("D00000000202605011000{n:012}"));
    Refund {
        id,
        amount: amount(minor_units),
        confirmed_at: at(confirmed_at),
        reference,
        remaining: amount(remaining),
    }
}

fn card() -> PaidBy {
    PaidBy::Card(CardSale {
        holder: Some("JOSÉ BONIFÁCIO DE ANDRADA".to_owned()),
        brand: Some(Brand::Visa),
        first6digits: Some("491674".to_owned()),
        last4digits: Some("4124".to_owned()),
        installments: 3,
        authorization_code: Some("7925658".to_owned()),
        nsu: Some("2446367".to_owned()),
        network_transaction_id: None,
    })
}

fn pix() -> PaidBy {
    PaidBy::Pix(PixSale {
        payer: Some("José Bonifácio".to_owned()),
        document: Some("***.120.530-**".to_owned()),
        end_to_end_id: Some("E00000000202604301200abcdefghijk".to_owned()),
    })
}

fn content(receipt_type: ReceiptType, paid_by: PaidBy) -> Content {
    Content {
        receipt_type,
        language: ReceiptLanguage::PtBr,
        id: Id::new(Uuid::from_u128(0x6f1d6d2c_0a3f_4b4d_9a1e_51d1a2d0c711)),
        issued_at: at("2026-05-02T12:00:00Z"),
        charge_id: Id::new(Uuid::from_u128(0x148d5db0_f1c3_439f_902d_f1f268086e1d)),
        merchant: "Loja São João Ltda".to_owned(),
        acquirer: "PLATFORM".to_owned(),
        sold_at: at("2026-04-30T02:30:00Z"),
        amount: amount(123_456),
        currency: Currency::BRL,
        paid_by,
        refunds: vec![
            refund(7, 5000, 118_456, "2026-05-01T10:00:00Z"),
            refund(8, 118_456, 0, "2026-05-02T11:00:00Z"),
        ],
    }
}

fn drawn(content: &Content, mark: Mark) -> Vec<u8> {
    let logo = logo();
    Issue { content, logo: Some((LogoFormat::Png, &logo)), mark }.file().unwrap()
}

/// All kinds of documents, each a PDF.
fn documents() -> Vec<(&'static str, Vec<u8>)> {
    let mut letter = content(ReceiptType::CancellationLetter, card());
    letter.refunds.truncate(1);
    vec![
        ("letter", drawn(&letter, Mark::None)),
        ("card", drawn(&content(ReceiptType::RefundReceipt, card()), Mark::Sandbox)),
        ("pix", drawn(&content(ReceiptType::RefundReceipt, pix()), Mark::Sandbox)),
    ]
}

#[test]
fn they_are_good_for_archives() {
    for (name, pdf) in documents() {
        keep(&pdf, name);
        assert_eq!(complaints_of_archives(&pdf), "", "{name}");
    }
}

#[test]
fn their_fonts_are_inside() {
    for (name, pdf) in documents() {
        let fonts = fonts_of_pdf(&pdf);
        let rows: Vec<&str> = fonts.lines().skip(2).collect();
        assert!(!rows.is_empty(), "{name}");
        for row in rows {
            // Columns: embedded, cut down, with the characters of each glyph.
            assert!(row.contains("CID TrueType") && row.contains("yes yes yes"), "{name}: {fonts}");
        }
    }
}

#[test]
fn a_letter_says_what_a_bank_needs() {
    let mut content = content(ReceiptType::CancellationLetter, card());
    content.refunds.truncate(1);
    let text = text_of_pdf(&drawn(&content, Mark::None));
    for said in [
        "Carta de cancelamento",
        "São Paulo, 02/05/2026",
        "Emissor do cartão",
        "Loja São João Ltda",
        "PLATFORM",
        "JOSÉ BONIFÁCIO DE ANDRADA",
        "Visa 491674******4124",
        "7925658",
        "2446367",
        // Half past two in the morning of the next day, in UTC.
        "29/04/2026 23:30:00",
        "R$ 1.234,56",
        "01/05/2026 07:00:00",
        "R$ 50,00",
        "Parcial",
        "R$ 1.184,56",
        "1c57caad-136d-4bc4-a265-c72d408d5e07",
        "148d5db0-f1c3-439f-902d-f1f268086e1d",
        "6f1d6d2c-0a3f-4b4d-9a1e-51d1a2d0c711",
        "Página 1 de 1",
    ] {
        assert!(text.contains(said), "{said} is not in\n{text}");
    }
    assert!(!text.contains("SANDBOX"), "{text}");
}

#[test]
fn several_letters_are_one_file() {
    let content = content(ReceiptType::CancellationLetter, card());
    let files = files_in_zip(&drawn(&content, Mark::None));
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let name = |n: usize| format!("cancellation-letter-148d5db0-f1c3-439f-902d-f1f268086e1d-{n}.pdf");
    assert_eq!(names, [name(1), name(2)]);
    for ((_, pdf), (own, other)) in files.iter().zip([("R$ 50,00", "Parcial"), ("R$ 1.184,56", "R$ 0,00")]) {
        let text = text_of_pdf(pdf);
        assert!(text.contains(own) && text.contains(other), "{text}");
        assert_eq!(complaints_of_archives(pdf), "");
    }
}

#[test]
fn a_receipt_lists_each_refund_and_their_sum() {
    let text = text_of_pdf(&drawn(&content(ReceiptType::RefundReceipt, card()), Mark::Sandbox));
    for said in [
        "Comprovante de reembolso",
        "1c57caad-136d-4bc4-a265-c72d408d5e07",
        "1c57caad-136d-4bc4-a265-c72d408d5e08",
        "R$ 50,00",
        "R$ 1.184,56",
        "SANDBOX: documento de teste, sem valor.",
    ] {
        assert!(text.contains(said), "{said} is not in\n{text}");
    }
    // The amount of the sale, and the sum.
    assert_eq!(text.matches("R$ 1.234,56").count(), 2, "{text}");
}

#[test]
fn a_receipt_of_a_pix_names_its_returns() {
    let text = text_of_pdf(&drawn(&content(ReceiptType::RefundReceipt, pix()), Mark::None));
    for said in [
        "Comprovante de devolução de Pix",
        "José Bonifácio",
        "***.120.530-**",
        "Loja São João Ltda",
        "E00000000202604301200abcdefghijk",
        "D00000000202605011000000000000007",
        "D00000000202605011000000000000008",
    ] {
        assert!(text.contains(said), "{said} is not in\n{text}");
    }
}

#[test]
fn each_language_has_its_texts() {
    for (language, title, place, money) in [
        (ReceiptLanguage::PtBr, "Comprovante de reembolso", "São Paulo, 02/05/2026", "R$ 1.184,56"),
        (ReceiptLanguage::En, "Refund receipt", "São Paulo, 2026-05-02", "R$ 1,184.56"),
        (ReceiptLanguage::Es, "Comprobante de reembolso", "São Paulo, 02/05/2026", "R$ 1.184,56"),
    ] {
        let content = Content { language, ..content(ReceiptType::RefundReceipt, card()) };
        let text = text_of_pdf(&drawn(&content, Mark::None));
        for said in [title, place, money] {
            assert!(text.contains(said), "{said} is not in\n{text}");
        }
    }
    let yen = Currency::parse("JPY").unwrap();
    let content = Content { currency: yen, ..content(ReceiptType::RefundReceipt, card()) };
    assert!(text_of_pdf(&drawn(&content, Mark::None)).contains("JPY 118.456"));
}

#[test]
fn the_same_content_is_the_same_file() {
    for receipt_type in [ReceiptType::CancellationLetter, ReceiptType::RefundReceipt] {
        let content = content(receipt_type, card());
        assert_eq!(drawn(&content, Mark::None), drawn(&content, Mark::None));
    }
}

#[test]
fn a_logo_is_no_condition() {
    let content = content(ReceiptType::RefundReceipt, card());
    for logo in [None, Some((LogoFormat::Png, b"no picture".as_slice()))] {
        let pdf = Issue { content: &content, logo, mark: Mark::None }.file().unwrap();
        assert!(text_of_pdf(&pdf).contains("Loja São João Ltda"));
        assert_eq!(complaints_of_archives(&pdf), "");
    }
}

/// Whatever merchants and cardholders are called, and however often something was given back.
#[test]
fn long_and_strange_texts_and_many_refunds_break_nothing() {
    for text in [
        "x".repeat(255),
        "Nome muito comprido ".repeat(12),
        "李小龍 \u{7}(\\)<>&😀".to_owned(),
        String::new(),
    ] {
        let holder = Some(text.clone());
        let paid_by = PaidBy::Card(CardSale { holder, ..CardSale::default() });
        let content = Content { merchant: text, ..content(ReceiptType::RefundReceipt, paid_by) };
        let pdf = drawn(&content, Mark::Sandbox);
        assert_eq!(complaints_of_archives(&pdf), "", "{}", content.merchant);
    }
    let mut many = content(ReceiptType::RefundReceipt, pix());
    many.refunds = (0..200).map(|n| refund(n, 1, 1000, "2026-05-01T10:00:00Z")).collect();
    let pdf = drawn(&many, Mark::None);
    keep(&pdf, "many");
    let text = text_of_pdf(&pdf);
    assert!(text.contains("D00000000202605011000000000000199") && text.contains("R$ 2,00"), "{text}");
    assert!(text.contains("Página 1 de 6"), "{text}");
    assert_eq!(complaints_of_archives(&pdf), "");
}

/// For people: `KEEP_DOCUMENTS=folder` keeps the files that tests draw.
fn keep(file: &[u8], name: &str) {
    if let Some(folder) = std::env::var_os("KEEP_DOCUMENTS") {
        std::fs::write(
            std::path::Path::new(&folder).join(format!("receipt-{name}")).with_extension("pdf"),
            file,
        )
        .unwrap();
    }
}
