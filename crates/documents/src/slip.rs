//! The slip of a boleto on A4: the payer's receipt with the Pix code above, the part for the bank below (FEBRABAN,
//! "Especificação técnica para confecção de boleto de pagamento"). Its words are Portuguese, as banks know them.

mod words;

use jiff::civil::Date;
use regente_domain::boleto::{BankCode, Barcode, LateCharges};
use regente_domain::money::Amount;

use crate::DrawError;
use crate::font::Weight;
use crate::itf;
use crate::mark::Mark;
use crate::page::{Page, Style};
use crate::qr;
use words::{date, late_charges, money, reais};

/// What a slip says.
#[derive(Clone, Debug)]
pub struct Slip<'a> {
    /// The bar code, with the line to type.
    pub barcode: Barcode,
    /// The bank that issues the boleto.
    pub bank: BankCode,
    /// Its name.
    pub bank_name: &'a str,
    /// Who is paid.
    pub beneficiary: Party<'a>,
    /// The beneficiary's branch and number at the bank.
    pub beneficiary_code: &'a str,
    /// Who pays.
    pub payer: Party<'a>,
    /// When the boleto falls due.
    pub due: Date,
    /// Its amount.
    pub amount: Amount,
    /// When it was issued.
    pub issued_on: Date,
    /// The bank's number of the boleto.
    pub our_number: &'a str,
    /// The beneficiary's own number; may be empty.
    pub document_number: &'a str,
    /// What the beneficiary tells the payer, in lines; may be empty.
    pub instructions: &'a str,
    /// What is added when it is paid late.
    pub late_charges: LateCharges,
    /// The code by which the boleto can be paid with Pix instead.
    pub pix_code: Option<&'a str>,
    /// Whether it can be paid at all.
    pub mark: Mark,
}

/// A person or a company on a slip.
#[derive(Clone, Copy, Debug)]
pub struct Party<'a> {
    /// The name.
    pub name: &'a str,
    /// The document with its type, such as `CPF 729.120.530-13`; may be empty.
    pub document: &'a str,
    /// The address in one line; may be empty.
    pub address: &'a str,
}

const BLACK: [f32; 3] = [0.0, 0.0, 0.0];
const LABEL: Style = Style { weight: Weight::Regular, size: 6.0, color: [0.25, 0.25, 0.25] };
const VALUE: Style = Style { weight: Weight::Regular, size: 9.0, color: BLACK };
const SMALL: Style = Style { weight: Weight::Regular, size: 7.5, color: BLACK };
const TINY: Style = Style { weight: Weight::Regular, size: 5.5, color: BLACK };
const STRONG: Style = Style { weight: Weight::Bold, size: 10.0, color: BLACK };
const HEADING: Style = Style { weight: Weight::Bold, size: 8.5, color: BLACK };
const BANK: Style = Style { weight: Weight::Bold, size: 13.0, color: BLACK };
const LINE: Style = Style { weight: Weight::Bold, size: 11.2, color: BLACK };
const WARNING: Style = Style { weight: Weight::Bold, size: 9.0, color: [0.75, 0.05, 0.05] };
const WATERMARK: Style = Style { weight: Weight::Bold, size: 88.0, color: [0.89, 0.89, 0.89] };

/// The left edge of both parts.
const LEFT: f32 = 15.0;
/// The right edge.
const RIGHT: f32 = 195.0;
/// Where the column of amounts begins.
const COLUMN: f32 = 147.0;
/// The height of a row.
const ROW: f32 = 7.5;
/// Where the receipt begins.
const RECEIPT_TOP: f32 = 18.0;
/// Where the paper is cut.
const CUT: f32 = 178.0;
/// Where the bank's part begins.
const BANK_PART_TOP: f32 = 183.0;
/// Side of the Pix code.
const PIX_SIDE: f32 = 42.0;
/// The bar code, as FEBRABAN demands.
const BARCODE_SIZE: (f32, f32) = (103.0, 13.0);

impl Slip<'_> {
    /// The slip as a PDF file.
    ///
    /// # Errors
    /// [`DrawError`].
    pub fn pdf(&self) -> Result<Vec<u8>, DrawError> {
        let mut page = Page::new()?;
        match self.mark {
            Mark::None => {}
            Mark::Sandbox => mark(&mut page),
        }
        self.receipt(&mut page)?;
        page.text_before(LABEL, RIGHT, CUT - 1.2, "Corte na linha pontilhada");
        page.cut((LEFT, CUT), (RIGHT, CUT));
        self.bank_part(&mut page);
        page.finish(&format!("Boleto {}", self.our_number))
    }

    fn receipt(&self, page: &mut Page) -> Result<(), DrawError> {
        let mut y = RECEIPT_TOP;
        self.head(page, y, Head::Receipt);
        y += 10.0;
        row(
            page,
            y,
            &[
                (LEFT, "Beneficiário", &self.beneficiary.line(), VALUE),
                (COLUMN, "Vencimento", &date(self.due), STRONG),
            ],
        );
        y += ROW;
        row(
            page,
            y,
            &[
                (LEFT, "Endereço do beneficiário", self.beneficiary.address, SMALL),
                (COLUMN, "Agência / Código do beneficiário", self.beneficiary_code, VALUE),
            ],
        );
        y += ROW;
        row(
            page,
            y,
            &[
                (LEFT, "Data do documento", &date(self.issued_on), VALUE),
                (LEFT + 30.0, "Número do documento", self.document_number, VALUE),
                (LEFT + 85.0, "Nosso número", self.our_number, VALUE),
                (COLUMN, "Valor do documento", &reais(self.amount), STRONG),
            ],
        );
        y += ROW;
        self.payer_row(page, y);
        y += 12.0;
        page.text(
            LABEL,
            LEFT + 1.0,
            y + 4.0,
            "Linha digitável: copie no aplicativo ou no caixa do seu banco",
        );
        page.text(LINE, LEFT + 1.0, y + 9.5, &self.barcode.printed_line());
        page.line((LEFT, y + 12.0), (RIGHT, y + 12.0), 0.2);
        y += 17.0;
        let text_right = if self.pix_code.is_some() { RIGHT - PIX_SIDE - 12.0 } else { RIGHT };
        page.text(HEADING, LEFT + 1.0, y, "Informações do beneficiário");
        self.notes(page, (LEFT + 1.0, y + 5.0), text_right - LEFT - 2.0, CUT - 8.0);
        match self.pix_code {
            Some(code) => pix(page, y, code),
            None => Ok(()),
        }
    }

    fn bank_part(&self, page: &mut Page) {
        let mut y = BANK_PART_TOP;
        self.head(page, y, Head::Bank);
        y += 10.0;
        row(
            page,
            y,
            &[
                (LEFT, "Local de pagamento", "Pagável em qualquer banco", VALUE),
                (COLUMN, "Vencimento", &date(self.due), STRONG),
            ],
        );
        y += ROW;
        row(
            page,
            y,
            &[
                (LEFT, "Beneficiário", &self.beneficiary.line(), VALUE),
                (COLUMN, "Agência / Código do beneficiário", self.beneficiary_code, VALUE),
            ],
        );
        y += ROW;
        row(
            page,
            y,
            &[
                (LEFT, "Data do documento", &date(self.issued_on), VALUE),
                (LEFT + 26.0, "Número do documento", self.document_number, VALUE),
                (LEFT + 70.0, "Espécie doc.", "DM", VALUE),
                (LEFT + 87.0, "Aceite", "N", VALUE),
                (LEFT + 100.0, "Data do processamento", &date(self.issued_on), VALUE),
                (COLUMN, "Nosso número", self.our_number, VALUE),
            ],
        );
        y += ROW;
        row(
            page,
            y,
            &[
                (LEFT, "Uso do banco", "", VALUE),
                (LEFT + 26.0, "Carteira", "", VALUE),
                (LEFT + 48.0, "Espécie", "R$", VALUE),
                (LEFT + 66.0, "Quantidade", "", VALUE),
                (LEFT + 100.0, "(x) Valor", "", VALUE),
                (COLUMN, "(=) Valor do documento", &money(self.amount), STRONG),
            ],
        );
        y += ROW;
        let notes_top = y;
        for label in [
            "(-) Desconto / Abatimento",
            "(-) Outras deduções",
            "(+) Juros / Multa",
            "(+) Outros acréscimos",
            "(=) Valor cobrado",
        ] {
            cell(page, COLUMN, RIGHT, y, label, "", VALUE);
            page.line((COLUMN, y + 6.5), (RIGHT, y + 6.5), 0.2);
            y += 6.5;
        }
        page.line((COLUMN, notes_top), (COLUMN, y), 0.2);
        page.line((LEFT, y), (RIGHT, y), 0.2);
        page.text(
            LABEL,
            LEFT + 1.0,
            notes_top + 2.4,
            "Instruções (texto de responsabilidade do beneficiário)",
        );
        self.notes(page, (LEFT + 1.0, notes_top + 6.4), COLUMN - LEFT - 2.0, y);
        self.payer_row(page, y);
        page.text_before(LABEL, RIGHT - 1.0, y + 2.4, "Sacador / Avalista");
        y += 12.0;
        page.text_before(LABEL, RIGHT, y + 3.0, "Autenticação mecânica");
        page.text_before(HEADING, RIGHT, y + 7.0, "FICHA DE COMPENSAÇÃO");
        page.bars(&itf::elements(self.barcode.digits()), (LEFT + 1.0, y + 2.5), BARCODE_SIZE);
    }

    fn head(&self, page: &mut Page, top: f32, head: Head) {
        let code_left = LEFT + 46.0;
        let base = top + 7.5;
        let name = page.fitted(BANK, code_left - LEFT - 2.0, self.bank_name);
        page.text(BANK, LEFT, base, &name);
        page.text(BANK, code_left + 2.5, base, &format!("{}-{}", self.bank, self.bank.check_digit()));
        for x in [code_left, code_left + 19.0] {
            page.line((x, top + 2.5), (x, top + 10.0), 0.5);
        }
        match head {
            Head::Receipt => page.text_before(HEADING, RIGHT, base, "RECIBO DO PAGADOR"),
            Head::Bank => page.text_before(LINE, RIGHT, base, &self.barcode.printed_line()),
        }
        page.line((LEFT, top + 10.0), (RIGHT, top + 10.0), 0.5);
    }

    fn payer_row(&self, page: &mut Page, y: f32) {
        cell(page, LEFT, RIGHT, y, "Pagador", &self.payer.line(), VALUE);
        let address = page.fitted(SMALL, RIGHT - LEFT - 2.0, self.payer.address);
        page.text(SMALL, LEFT + 1.0, y + 9.8, &address);
        page.line((LEFT, y + 12.0), (RIGHT, y + 12.0), 0.2);
    }

    /// The beneficiary's words and what is owed by late payers, as many lines as fit above `bottom`.
    fn notes(&self, page: &mut Page, at: (f32, f32), width: f32, bottom: f32) {
        let notes = [late_charges(&self.late_charges, self.due), self.instructions.to_owned()].join("\n");
        let mut y = at.1;
        for line in page.wrapped(SMALL, width, notes.trim()) {
            if y > bottom - 1.0 {
                break;
            }
            page.text(SMALL, at.0, y, &line);
            y += 3.4;
        }
    }
}

/// What the head of a part says on its right.
#[derive(Clone, Copy)]
enum Head {
    Receipt,
    Bank,
}

impl Party<'_> {
    fn line(&self) -> String {
        if self.document.is_empty() {
            self.name.to_owned()
        } else {
            format!("{} – {}", self.name, self.document)
        }
    }
}

fn mark(page: &mut Page) {
    page.text_rising(WATERMARK, 105.0, 112.0, 30.0, "SANDBOX");
    page.text_rising(Style { size: 56.0, ..WATERMARK }, 82.0, 243.0, 12.0, "SANDBOX");
    page.text(WARNING, LEFT, 12.0, "SANDBOX: documento de teste, sem valor. Não pague.");
}

fn pix(page: &mut Page, top: f32, code: &str) -> Result<(), DrawError> {
    let left = RIGHT - PIX_SIDE;
    page.text(HEADING, left, top, "Pague com Pix");
    page.squares(&qr::squares(code)?, (left, top + 3.0), PIX_SIDE);
    page.text(LABEL, left, top + PIX_SIDE + 8.0, "Pix copia e cola");
    let mut y = top + PIX_SIDE + 11.0;
    for line in page.broken(TINY, PIX_SIDE, code) {
        page.text(TINY, left, y, &line);
        y += 2.4;
    }
    Ok(())
}

/// A row of cells, each from its place to the next one's: place, label, value, style of the value.
fn row(page: &mut Page, y: f32, cells: &[(f32, &str, &str, Style)]) {
    let ends = cells.iter().skip(1).map(|(left, ..)| *left).chain([RIGHT]);
    for ((left, label, value, style), right) in cells.iter().zip(ends) {
        cell(page, *left, right, y, label, value, *style);
        if *left > LEFT {
            page.line((*left, y), (*left, y + ROW), 0.2);
        }
    }
    page.line((LEFT, y + ROW), (RIGHT, y + ROW), 0.2);
}

fn cell(page: &mut Page, left: f32, right: f32, y: f32, label: &str, value: &str, style: Style) {
    page.text(LABEL, left + 1.0, y + 2.4, label);
    let value = page.fitted(style, right - left - 2.0, value);
    page.text(style, left + 1.0, y + 6.4, &value);
}
