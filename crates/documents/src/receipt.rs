//! Documents that prove refunds, for archives ([`crate::archive`]): a letter for each refund of a card, or one receipt with all. The
//! same content is the same file, byte for byte.

mod sheet;
mod texts;

use std::io::{Cursor, Write};

use regente_domain::charge::refunds::Refund;
use regente_domain::money::Amount;
use regente_domain::receipt::content::{CardSale, Content, PaidBy, PixSale};
use regente_domain::receipt::{ReceiptFormat, ReceiptType, letter_name};
use regente_domain::settings::LogoFormat;
use uuid::Uuid;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::DrawError;
use crate::archive::Archival;
use crate::mark::Mark;
use crate::picture::Picture;
use sheet::Sheet;
use texts::Texts;

/// What stands for what is not known.
const UNKNOWN: &str = "–";
/// Digits of a card that are not shown.
const HIDDEN: &str = "******";

/// A document to draw.
#[derive(Clone, Copy, Debug)]
pub struct Issue<'a> {
    /// What it says.
    pub content: &'a Content,
    /// The file of the merchant's logo, with its format.
    pub logo: Option<(LogoFormat, &'a [u8])>,
    /// Whether it is of the sandbox.
    pub mark: Mark,
}

impl Issue<'_> {
    /// The file: a PDF, or letters in a ZIP.
    ///
    /// # Errors
    /// [`DrawError`].
    pub fn file(&self) -> Result<Vec<u8>, DrawError> {
        let Content { receipt_type, refunds, charge_id, .. } = self.content;
        match (receipt_type, receipt_type.format(refunds.len()), refunds.as_slice()) {
            (ReceiptType::CancellationLetter, ReceiptFormat::Pdf, [refund, ..]) => self.letter(refund, 1),
            (ReceiptType::CancellationLetter, ReceiptFormat::Zip, _) => {
                let named = |(place, refund): (usize, &Refund)| {
                    Ok((letter_name(*charge_id, place + 1), self.letter(refund, place + 1)?))
                };
                zipped(refunds.iter().enumerate().map(named))
            }
            (ReceiptType::CancellationLetter, ReceiptFormat::Pdf, [])
            | (ReceiptType::RefundReceipt, _, _) => self.receipt(),
        }
    }

    fn letter(&self, refund: &Refund, number: usize) -> Result<Vec<u8>, DrawError> {
        let (content, texts) = (self.content, self.texts());
        let mut sheet = self.begin(&texts.letter_title)?;
        sheet.line(&texts.to);
        sheet.line(&texts.card_issuer);
        sheet.paragraph(&texts.letter_body)?;
        match &content.paid_by {
            PaidBy::Card(sale) => self.card(&mut sheet, sale)?,
            PaidBy::Pix(sale) => self.pix(&mut sheet, sale)?,
        }
        sheet.heading(&texts.refund)?;
        let is_total = refund.amount == content.amount;
        let kind = if is_total { &texts.total_refund } else { &texts.partial_refund };
        sheet.fact(&texts.refund_date, &texts.time(refund.confirmed_at))?;
        sheet.fact(&texts.refund_amount, &self.money(refund.amount))?;
        sheet.fact(&texts.refund_kind, kind)?;
        sheet.fact(&texts.remaining, &self.money(refund.remaining))?;
        sheet.fact(&texts.refund_id, &refund.id.to_string())?;
        self.finish(sheet, &format!("{} {number}", texts.letter_title), number)
    }

    fn receipt(&self) -> Result<Vec<u8>, DrawError> {
        let (content, texts) = (self.content, self.texts());
        let (title, body, heading, column) = match &content.paid_by {
            PaidBy::Card(_) => (&texts.card_title, &texts.card_body, &texts.refunds, &texts.refund_column),
            PaidBy::Pix(_) => (&texts.pix_title, &texts.pix_body, &texts.returns, &texts.return_column),
        };
        let mut sheet = self.begin(title)?;
        sheet.paragraph(body)?;
        match &content.paid_by {
            PaidBy::Card(sale) => self.card(&mut sheet, sale)?,
            PaidBy::Pix(sale) => self.pix(&mut sheet, sale)?,
        }
        sheet.heading(heading)?;
        sheet.columns([&texts.number_column, &texts.date_column, column, &texts.amount_column]);
        for (place, refund) in content.refunds.iter().enumerate() {
            let id = match &content.paid_by {
                PaidBy::Card(_) => refund.id.to_string(),
                PaidBy::Pix(_) => refund.reference.clone().unwrap_or_else(|| refund.id.to_string()),
            };
            let (at, amount) = (texts.time(refund.confirmed_at), self.money(refund.amount));
            sheet.row([&(place + 1).to_string(), &at, &id, &amount])?;
        }
        let sum = content.refunds.iter().try_fold(Amount::ZERO, |sum, refund| sum.plus(refund.amount));
        sheet.total(&texts.total, &self.money(sum.unwrap_or_default()))?;
        if let Some(last) = content.refunds.last() {
            sheet.fact(&texts.remaining, &self.money(last.remaining))?;
        }
        self.finish(sheet, title, 0)
    }

    fn begin(&self, title: &str) -> Result<Sheet, DrawError> {
        let (content, texts) = (self.content, self.texts());
        // A logo that cannot be read is no reason to refuse a proof.
        let logo = self.logo.and_then(|(format, file)| Picture::read(format, file).ok());
        let mut sheet = Sheet::begin(logo, &content.merchant, (self.mark, &texts.sandbox))?;
        sheet.title(title);
        let place_and_date = texts.place_and_date.replace("{date}", &texts.day(content.issued_at));
        sheet.on_the_right(&place_and_date);
        Ok(sheet)
    }

    fn card(&self, sheet: &mut Sheet, sale: &CardSale) -> Result<(), DrawError> {
        let (content, texts) = (self.content, self.texts());
        let digits = match (&sale.first6digits, &sale.last4digits) {
            (Some(first), Some(last)) => format!("{first}{HIDDEN}{last}"),
            (_, _) => UNKNOWN.to_owned(),
        };
        let card = match sale.brand {
            Some(brand) => format!("{} {digits}", brand.name()),
            None => digits,
        };
        sheet.heading(&texts.sale)?;
        sheet.fact(&texts.merchant, known(Some(&content.merchant)))?;
        sheet.fact(&texts.acquirer, &content.acquirer)?;
        sheet.fact(&texts.holder, known(sale.holder.as_ref()))?;
        sheet.fact(&texts.card, &card)?;
        sheet.fact(&texts.authorization_code, known(sale.authorization_code.as_ref()))?;
        sheet.fact(&texts.nsu, known(sale.nsu.as_ref()))?;
        sheet.fact(&texts.network_transaction_id, known(sale.network_transaction_id.as_ref()))?;
        sheet.fact(&texts.sale_date, &texts.time(content.sold_at))?;
        sheet.fact(&texts.sale_amount, &self.money(content.amount))?;
        sheet.fact(&texts.installments, &sale.installments.to_string())
    }

    fn pix(&self, sheet: &mut Sheet, sale: &PixSale) -> Result<(), DrawError> {
        let (content, texts) = (self.content, self.texts());
        sheet.heading(&texts.payment)?;
        sheet.fact(&texts.payer, known(sale.payer.as_ref()))?;
        sheet.fact(&texts.payer_document, known(sale.document.as_ref()))?;
        sheet.fact(&texts.receiver, known(Some(&content.merchant)))?;
        sheet.fact(&texts.institution, &content.acquirer)?;
        sheet.fact(&texts.end_to_end_id, known(sale.end_to_end_id.as_ref()))?;
        sheet.fact(&texts.payment_date, &texts.time(content.sold_at))?;
        sheet.fact(&texts.payment_amount, &self.money(content.amount))
    }

    fn finish(&self, sheet: Sheet, title: &str, number: usize) -> Result<Vec<u8>, DrawError> {
        let (content, texts) = (self.content, self.texts());
        let foot = [
            format!("{}: {}", texts.charge, content.charge_id),
            format!("{}: {}. {}", texts.document, content.id, texts.time_zone),
        ];
        let page = |page: usize, pages: usize| {
            texts.page.replace("{number}", &page.to_string()).replace("{pages}", &pages.to_string())
        };
        let archival = Archival {
            language: content.language.word(),
            issued_at: content.issued_at,
            id: Uuid::new_v5(&content.id.uuid(), &number.to_be_bytes()),
        };
        sheet.finish(&format!("{title} – {}", content.charge_id), &foot, page, &archival)
    }

    fn money(&self, amount: Amount) -> String {
        self.texts().money(amount, self.content.currency)
    }

    fn texts(&self) -> &'static Texts {
        Texts::of(self.content.language)
    }
}

fn known(text: Option<&String>) -> &str {
    text.map(String::as_str).filter(|text| !text.is_empty()).unwrap_or(UNKNOWN)
}

/// Files as one. They are compressed already, and no time but theirs is told.
fn zipped(files: impl Iterator<Item = Result<(String, Vec<u8>), DrawError>>) -> Result<Vec<u8>, DrawError> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for file in files {
        let (name, bytes) = file?;
        zip.start_file(name, options).map_err(|_| DrawError::Zip)?;
        zip.write_all(&bytes).map_err(|_| DrawError::Zip)?;
    }
    Ok(zip.finish().map_err(|_| DrawError::Zip)?.into_inner())
}
