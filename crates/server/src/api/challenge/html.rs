//! What the pages of the simulated 3DS server say. Only the page that collects device data has a script, of one line.

use regente_domain::currency::Currency;
use regente_providers::sandbox::Challenge;

use crate::api::buyer_page::{Content, FramedBy, Language, LeadingTo, Page, money};
use crate::http::html::escape;

/// The texts of one language.
struct Texts {
    title: &'static str,
    question: &'static str,
    merchant: &'static str,
    amount: &'static str,
    approve: &'static str,
    refuse: &'static str,
    decided: &'static str,
    go_on: &'static str,
    collected: &'static str,
    not_good: &'static str,
}

const PORTUGUESE: Texts = Texts {
    title: "Autenticação do cartão (sandbox)",
    question: "É você quem faz esta compra?",
    merchant: "Loja",
    amount: "Valor",
    approve: "Aprovar",
    refuse: "Recusar",
    decided: "Obrigado. Você volta à loja agora.",
    go_on: "Continuar",
    collected: "Pronto.",
    not_good: "Esta página não vale mais. Volte à loja e tente de novo.",
};

const ENGLISH: Texts = Texts {
    title: "Card authentication (sandbox)",
    question: "Are you making this purchase?",
    merchant: "Merchant",
    amount: "Amount",
    approve: "Approve",
    refuse: "Refuse",
    decided: "Thank you. You now return to the merchant.",
    go_on: "Continue",
    collected: "Done.",
    not_good: "This page is no longer good. Go back to the merchant and try again.",
};

const SPANISH: Texts = Texts {
    title: "Autenticación de la tarjeta (sandbox)",
    question: "¿Es usted quien hace esta compra?",
    merchant: "Comercio",
    amount: "Importe",
    approve: "Aprobar",
    refuse: "Rechazar",
    decided: "Gracias. Ahora vuelve al comercio.",
    go_on: "Continuar",
    collected: "Listo.",
    not_good: "Esta página ya no es válida. Vuelva al comercio e inténtelo de nuevo.",
};

/// The page around it learns the origin of the message from the browser.
const SCRIPT: &str =
    "window.parent.postMessage(JSON.stringify({MessageType:\"profile.completed\",Status:true}),\"*\");";

impl Texts {
    const fn of(language: Language) -> &'static Self {
        match language {
            Language::Portuguese => &PORTUGUESE,
            Language::English => &ENGLISH,
            Language::Spanish => &SPANISH,
        }
    }
}

/// The question to the cardholder, with a button for each answer.
pub(super) fn asking(language: Language, challenge: &Challenge, hidden: &[(&str, &str)]) -> Page {
    let texts = Texts::of(language);
    let merchant = challenge.merchant.as_deref().filter(|merchant| !merchant.is_empty());
    let merchant = merchant.map_or_else(String::new, |merchant| {
        format!("<dt>{}</dt><dd>{}</dd>", texts.merchant, escape(merchant))
    });
    let hidden: String = hidden
        .iter()
        .map(|(name, value)| format!("<input type=\"hidden\" name=\"{name}\" value=\"{}\">", escape(value)))
        .collect();
    let body = format!(
        "<h1>{title}</h1><p>{question}</p><dl>{merchant}<dt>{amount_label}</dt><dd>{amount}</dd></dl>\
         <form method=\"post\" action=\"/3ds/step-up\">{hidden}\
         <button class=\"go\" name=\"decision\" value=\"approve\">{approve}</button>\
         <button name=\"decision\" value=\"refuse\">{refuse}</button></form>",
        title = texts.title,
        question = texts.question,
        amount_label = texts.amount,
        amount = escape(&amount_of(language, challenge)),
        approve = texts.approve,
        refuse = texts.refuse,
    );
    page(language, "", &body, None)
}

/// The way back to the merchant.
pub(super) fn decided(language: Language, challenge: &Challenge) -> Page {
    let texts = Texts::of(language);
    let LeadingTo { head, link } = LeadingTo::new(&challenge.return_url, texts.go_on);
    let body = format!("<h1>{}</h1><p role=\"status\">{}</p>{link}", texts.title, texts.decided);
    page(language, &head, &body, None)
}

/// The page that has collected the data of the device.
pub(super) fn collected(language: Language) -> Page {
    let body = format!("<p role=\"status\">{}</p>", Texts::of(language).collected);
    page(language, "", &body, Some(SCRIPT))
}

/// The page for a token that leads nowhere.
pub(super) fn not_good(language: Language) -> Page {
    let texts = Texts::of(language);
    page(language, "", &format!("<h1>{}</h1><p role=\"alert\">{}</p>", texts.title, texts.not_good), None)
}

/// Merchants show the pages in frames of their own.
fn page(language: Language, head: &str, body: &str, script: Option<&str>) -> Page {
    let title = Texts::of(language).title;
    Page::of(&Content { language, title, head, body, logo: None, script, framed_by: FramedBy::Anybody })
}

/// The amount of a challenge, as people write it.
fn amount_of(language: Language, challenge: &Challenge) -> String {
    match Currency::parse(&challenge.currency) {
        Some(currency) => money::amount(challenge.amount, currency, language),
        None => format!("{} {}", challenge.amount, challenge.currency),
    }
}
