//! The mail that tells whoever a report is for that its files are there.

use super::{Period, ReportLanguage, Zone};
use crate::time::Timestamp;

/// What a mail about a report says. It has links to the files, not the files: a mailbox keeps what it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportMail {
    /// The subject.
    pub subject: &'static str,
    /// The text.
    pub text: String,
}

impl ReportMail {
    /// The mail in the language of the report. `links` are those to its files, in order, which work until `until`; dates are shown in
    /// the zone of the report.
    pub fn of(
        language: ReportLanguage,
        zone: &Zone,
        period: Period,
        links: &[String],
        until: Timestamp,
    ) -> Self {
        let [from, to, until] = [period.gte, period.lte, until].map(|at| zone.shown(at));
        let (zone, links) = (zone.name(), links.join("\n"));
        if language.is_portuguese() {
            let text = format!(
                "O relatório das cobranças de {from} a {to} está pronto.\n\n{links}\n\n\
                 Quem tem um link baixa o arquivo sem chave: não o repasse a ninguém.\n\
                 Os links valem até {until}. Horários: {zone}.\n"
            );
            return Self { subject: "Seu relatório está pronto", text };
        }
        let text = format!(
            "The report of the charges from {from} to {to} is ready.\n\n{links}\n\n\
             Whoever has a link can fetch its file without a key: pass it on to nobody.\n\
             The links work until {until}. Times: {zone}.\n"
        );
        Self { subject: "Your report is ready", text }
    }
}
