//! What the pages of the simulated 3DS server look like: plain HTML that works without scripts, in the language of the
//! browser. Only the page that collects device data has a script, of one line.

use axum::http::{HeaderMap, header};
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_providers::sandbox::Challenge;

use crate::http::html::{escape, policy_source};

/// A page with its security policy.
pub(super) struct Page {
    pub(super) html: String,
    pub(super) policy: String,
}

/// The languages of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Portuguese,
    English,
    Spanish,
}

/// The texts of one language.
struct Texts {
    tag: &'static str,
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
    tag: "pt-BR",
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
    tag: "en",
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
    tag: "es",
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

const STYLE: &str = "body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:2rem auto;padding:0 1rem;color:#111;\
background:#fff}dt{font-weight:600}dd{margin:0 0 .75rem}button{font:inherit;padding:.6rem 1.2rem;margin:0 .75rem .75rem 0;\
border:2px solid #111;border-radius:.4rem;background:#fff;color:#111}button.go{background:#111;color:#fff}\
button:focus-visible,a:focus-visible{outline:3px solid #06c;outline-offset:2px}";

/// The page around it learns the origin of the message from the browser.
const SCRIPT: &str =
    "window.parent.postMessage(JSON.stringify({MessageType:\"profile.completed\",Status:true}),\"*\");";

impl Language {
    /// The first language of the browser that the pages have; Portuguese otherwise.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let known = |tag: &str| match tag.trim().get(..2).map(str::to_ascii_lowercase).as_deref() {
            Some("pt") => Some(Self::Portuguese),
            Some("en") => Some(Self::English),
            Some("es") => Some(Self::Spanish),
            Some(_) | None => None,
        };
        accepted.unwrap_or_default().split(',').find_map(known).unwrap_or(Self::Portuguese)
    }

    const fn texts(self) -> &'static Texts {
        match self {
            Self::Portuguese => &PORTUGUESE,
            Self::English => &ENGLISH,
            Self::Spanish => &SPANISH,
        }
    }
}

impl Page {
    /// The question to the cardholder, with a button for each answer.
    pub(super) fn asking(
        language: Language,
        amount: &str,
        merchant: Option<&str>,
        hidden: &[(&str, &str)],
    ) -> Self {
        let texts = language.texts();
        let merchant =
            merchant.filter(|merchant| !merchant.is_empty()).map_or_else(String::new, |merchant| {
                format!("<dt>{}</dt><dd>{}</dd>", texts.merchant, escape(merchant))
            });
        let hidden: String = hidden
            .iter()
            .map(|(name, value)| {
                format!("<input type=\"hidden\" name=\"{name}\" value=\"{}\">", escape(value))
            })
            .collect();
        let body = format!(
            "<h1>{title}</h1><p>{question}</p><dl>{merchant}<dt>{amount_label}</dt><dd>{amount}</dd></dl>\
             <form method=\"post\" action=\"/3ds/step-up\">{hidden}\
             <button class=\"go\" name=\"decision\" value=\"approve\">{approve}</button>\
             <button name=\"decision\" value=\"refuse\">{refuse}</button></form>",
            title = texts.title,
            question = texts.question,
            amount_label = texts.amount,
            amount = escape(amount),
            approve = texts.approve,
            refuse = texts.refuse,
        );
        Self::of(texts, "", &body, "")
    }

    /// A page that leads to `url` at once. The browser is not redirected: a policy for forms would hold it back.
    pub(super) fn leading_to(language: Language, url: &str) -> Self {
        let (texts, url) = (language.texts(), escape(url));
        let head = format!("<meta http-equiv=\"refresh\" content=\"0; url={url}\">");
        let body = format!(
            "<h1>{}</h1><p role=\"status\">{}</p><p><a href=\"{url}\">{}</a></p>",
            texts.title, texts.decided, texts.go_on
        );
        Self::of(texts, &head, &body, "")
    }

    /// The page that has collected the data of the device.
    pub(super) fn collected(language: Language) -> Self {
        let texts = language.texts();
        Self::of(texts, "", &format!("<p role=\"status\">{}</p>", texts.collected), SCRIPT)
    }

    /// The page for a token that leads nowhere.
    pub(super) fn not_good(language: Language) -> Self {
        let texts = language.texts();
        Self::of(texts, "", &format!("<h1>{}</h1><p role=\"alert\">{}</p>", texts.title, texts.not_good), "")
    }

    fn of(texts: &Texts, head: &str, body: &str, script: &str) -> Self {
        let scripts = match script {
            "" => "'none'".to_owned(),
            script => policy_source(script),
        };
        let script = if script.is_empty() { String::new() } else { format!("<script>{script}</script>") };
        let html = format!(
            "<!doctype html><html lang=\"{tag}\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">{head}\
             <title>{title}</title><style>{STYLE}</style></head><body><main>{body}</main>{script}</body></html>",
            tag = texts.tag,
            title = texts.title,
        );
        // Merchants show the pages in frames of their own.
        let policy = format!(
            "default-src 'none'; style-src {}; script-src {scripts}; form-action 'self'; base-uri 'none'; \
             frame-ancestors *",
            policy_source(STYLE)
        );
        Self { html, policy }
    }
}

/// The amount of a challenge, as people write it.
pub(super) fn amount_of(challenge: &Challenge) -> String {
    match (Amount::new(challenge.amount), Currency::parse(&challenge.currency)) {
        (Some(amount), Some(currency)) => amount.shown_in(currency),
        (Some(_) | None, _) => format!("{} {}", challenge.amount, challenge.currency),
    }
}
