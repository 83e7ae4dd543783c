use regente_documents::Mark;
use regente_documents::slip::{Party, Slip};
use regente_domain::boleto::{
    BankCode, Barcode, BarcodeFacts, Fine, FineRate, FreeField, Interest, InterestRate, LateCharges,
};
use regente_domain::money::Amount;
use regente_domain::percentage::Percentage;

use crate::judges::{codes_in_pdf, fonts_of_pdf, text_of_pdf};

const PIX: &str = "00020101021226770014BR.GOV.BCB.PIX2555pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99\
                   5204000053039865802BR5907EMPRESA6009SAO PAULO62070503***6304EEAB";

fn slip() -> Slip<'static> {
    let bank = BankCode::parse("341").unwrap();
    let (due, amount) = ("2026-11-30".parse().unwrap(), Amount::new(123_456).unwrap());
    let free_field = FreeField::parse("1101234567880057123457000").unwrap();
    Slip {
        barcode: Barcode::new(BarcodeFacts { bank, due: Some(due), amount, free_field }).unwrap(),
        bank,
        bank_name: "Banco de Testes",
        beneficiary: Party {
            name: "Comércio de Eletrônicos São João Ltda",
            document: "CNPJ 11.222.333/0001-81",
            address: "Avenida Paulista, 1578, Bela Vista, São Paulo – SP, 01310-200",
        },
        beneficiary_code: "0057 / 12345-7",
        payer: Party {
            name: "José Bonifácio de Andrada e Silva",
            document: "CPF 729.120.530-13",
            address: "Rua do Ouvidor, 50, apto. 302, Centro, Rio de Janeiro – RJ, 20040-030",
        },
        due,
        amount,
        issued_on: "2026-11-22".parse().unwrap(),
        our_number: "110/12345678-8",
        document_number: "PEDIDO-231",
        instructions: "Pagável em qualquer banco.\nNão receber após 30 dias do vencimento.",
        late_charges: LateCharges {
            interest: Some(Interest {
                days: 1,
                rate: InterestRate::PercentagePerMonth(Percentage::from_hundredths(150)),
            }),
            fine: Some(Fine { days: 2, rate: FineRate::Amount(Amount::new(200).unwrap()) }),
        },
        pix_code: Some(PIX),
        mark: Mark::None,
    }
}

#[test]
fn a_scanner_reads_both_codes() {
    for mark in [Mark::None, Mark::Sandbox] {
        let slip = Slip { mark, ..slip() };
        let pdf = slip.pdf().unwrap();
        keep(&pdf, &format!("slip-{mark:?}"));
        assert_eq!(codes_in_pdf(&pdf), [format!("I2/5:{}", slip.barcode.digits()), format!("QR-Code:{PIX}")]);
    }
    let without_pix = Slip { pix_code: None, ..slip() };
    assert_eq!(codes_in_pdf(&without_pix.pdf().unwrap()), [format!("I2/5:{}", without_pix.barcode.digits())]);
}

#[test]
fn its_text_can_be_copied() {
    let slip = slip();
    let text = text_of_pdf(&slip.pdf().unwrap());
    let line = slip.barcode.printed_line();
    for (said, times) in [
        (line.as_str(), 2),
        ("341-7", 2),
        ("Banco de Testes", 2),
        ("Comércio de Eletrônicos São João Ltda – CNPJ 11.222.333/0001-81", 2),
        ("José Bonifácio de Andrada e Silva – CPF 729.120.530-13", 2),
        ("Rua do Ouvidor, 50, apto. 302, Centro, Rio de Janeiro – RJ, 20040-030", 2),
        ("30/11/2026", 2),
        ("22/11/2026", 3),
        ("1.234,56", 2),
        ("110/12345678-8", 2),
        ("PEDIDO-231", 2),
        ("0057 / 12345-7", 2),
        ("Não receber após 30 dias do vencimento.", 2),
        ("A partir de 01/12/2026: juros de 1,5% ao mês.", 2),
        ("A partir de 02/12/2026: multa de R$ 2,00.", 2),
        ("RECIBO DO PAGADOR", 1),
        ("FICHA DE COMPENSAÇÃO", 1),
        ("Pague com Pix", 1),
        ("SANDBOX", 0),
    ] {
        assert_eq!(text.matches(said).count(), times, "{said} in {text}");
    }
}

#[test]
fn a_slip_of_the_sandbox_says_so() {
    let text = text_of_pdf(&Slip { mark: Mark::Sandbox, ..slip() }.pdf().unwrap());
    assert!(text.contains("SANDBOX: documento de teste, sem valor. Não pague."), "{text}");
}

#[test]
fn its_fonts_are_inside() {
    let fonts = fonts_of_pdf(&slip().pdf().unwrap());
    let rows: Vec<&str> = fonts.lines().skip(2).collect();
    assert_eq!(rows.len(), 2, "{fonts}");
    for row in rows {
        // Columns: embedded, cut down, with the characters of each glyph.
        assert!(row.contains("CID TrueType") && row.contains("yes yes yes"), "{fonts}");
    }
}

#[test]
fn the_same_slip_is_the_same_file() {
    let file = slip().pdf().unwrap();
    assert_eq!(file, slip().pdf().unwrap());
    assert!(file.len() < 60_000, "{}", file.len());
}

/// Whatever merchants and payers are called and write, the codes stay readable and the words within their boxes.
#[test]
fn long_and_strange_texts_break_nothing() {
    let long = "Nome muito comprido de verdade ".repeat(10);
    let unbroken = "x".repeat(255);
    let lines = "\n".repeat(254) + "z";
    for text in [
        long.as_str(),
        unbroken.as_str(),
        lines.as_str(),
        "",
        "李小龍 \u{7}\u{301}(\\)<>",
        "😀",
        "Łódź Ελλάδα Москва",
    ] {
        let party = Party { name: text, document: text, address: text };
        let slip = Slip {
            bank_name: text,
            beneficiary: party,
            beneficiary_code: text,
            payer: party,
            our_number: text,
            document_number: text,
            instructions: text,
            mark: Mark::Sandbox,
            ..slip()
        };
        let pdf = slip.pdf().unwrap();
        let codes = codes_in_pdf(&pdf);
        assert_eq!(codes, [format!("I2/5:{}", slip.barcode.digits()), format!("QR-Code:{PIX}")], "{text}");
        assert!(text_of_pdf(&pdf).contains(&slip.barcode.printed_line()), "{text}");
    }
    let strange =
        Slip { payer: Party { name: "Łódź Ελλάδα 李", document: "", address: "" }, ..slip() };
    assert!(text_of_pdf(&strange.pdf().unwrap()).contains("Łódź Ελλάδα Li"));
}

/// For people: `KEEP_DOCUMENTS=folder` keeps the files that tests draw.
fn keep(file: &[u8], name: &str) {
    if let Some(folder) = std::env::var_os("KEEP_DOCUMENTS") {
        std::fs::write(std::path::Path::new(&folder).join(name).with_extension("pdf"), file).unwrap();
    }
}
