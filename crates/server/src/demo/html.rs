//! The page of the shop: plain HTML, one style and one script that are part of it, and nothing from elsewhere.

use std::fmt::Write;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;

use super::merchant::Refusal;
use super::{PATH, PRODUCTS, Product};
use crate::http::html::{escape, policy_source};

const STYLE: &str = include_str!("shop.css");
const SCRIPT: &str = include_str!("shop.js");

/// Cards that show something (`docs/interface/sandbox.md#test-cards`): number, security code, and what happens.
const TEST_CARDS: [(&str, &str, TestCard); 5] = [
    ("4916 7451 2029 4124", "560", TestCard::Approved),
    ("5214 2549 8849 9590", "220", TestCard::Approved),
    ("4916 8781 7084 2862", "650", TestCard::Refused),
    ("4556 6845 3023 8865", "440", TestCard::Blocked),
    ("4485 4019 4597 9546", "600", TestCard::Silent),
];

/// What becomes of a test card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestCard {
    Approved,
    Refused,
    Blocked,
    Silent,
}

/// The languages of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Portuguese,
    English,
}

/// The texts of one language.
struct Texts {
    tag: &'static str,
    title: &'static str,
    lead: &'static str,
    buy: &'static str,
    opens: &'static str,
    cards: &'static str,
    cards_hint: &'static str,
    number: &'static str,
    code: &'static str,
    result: &'static str,
    approved: &'static str,
    refused: &'static str,
    blocked: &'static str,
    silent: &'static str,
    events: &'static str,
    events_hint: &'static str,
    no_events: &'static str,
    pay: &'static str,
    day_later: &'static str,
    gone: &'static str,
    failed: &'static str,
    back: &'static str,
}

const PORTUGUESE: Texts = Texts {
    tag: "pt-BR",
    title: "Loja de demonstração",
    lead: "Compre alguma coisa e veja os eventos chegarem. Tudo é simulado: nenhum dinheiro se move.",
    buy: "Comprar",
    opens: "abre a página de pagamento em outra aba",
    cards: "Cartões de teste",
    cards_hint: "Validade: qualquer mês futuro. Com Pix ou boleto, o botão ao lado do evento paga pelo simulador.",
    number: "Número",
    code: "CVV",
    result: "O que acontece",
    approved: "aprovado",
    refused: "recusado",
    blocked: "cartão bloqueado",
    silent: "o emissor não responde",
    events: "Eventos",
    events_hint: "O que o webhook da loja recebe, ao vivo, o mais novo primeiro.",
    no_events: "Nenhum evento ainda.",
    pay: "Pagar (simulador)",
    day_later: "Um dia depois",
    gone: "O serviço não responde; tentando de novo.",
    failed: "A sessão de pagamento não foi criada",
    back: "Voltar à loja",
};

const ENGLISH: Texts = Texts {
    tag: "en",
    title: "Demo shop",
    lead: "Buy something and watch the events arrive. All of it is simulated: no money moves.",
    buy: "Buy",
    opens: "opens the payment page in another tab",
    cards: "Test cards",
    cards_hint: "Expiry: any month to come. With Pix or boleto, the button beside the event pays by the simulator.",
    number: "Number",
    code: "CVV",
    result: "What happens",
    approved: "approved",
    refused: "refused",
    blocked: "card blocked",
    silent: "the issuer does not answer",
    events: "Events",
    events_hint: "What the shop's webhook gets, live, newest first.",
    no_events: "No events yet.",
    pay: "Pay (simulator)",
    day_later: "A day later",
    gone: "The service does not answer; trying again.",
    failed: "The payment session was not made",
    back: "Back to the shop",
};

impl Language {
    /// The first language of the browser that the page has; English otherwise.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let known = |tag: &str| match tag.trim().get(..2).map(str::to_ascii_lowercase).as_deref() {
            Some("pt") => Some(Self::Portuguese),
            Some("en") => Some(Self::English),
            Some(_) | None => None,
        };
        accepted.unwrap_or_default().split(',').find_map(known).unwrap_or(Self::English)
    }

    const fn texts(self) -> &'static Texts {
        match self {
            Self::Portuguese => &PORTUGUESE,
            Self::English => &ENGLISH,
        }
    }

    /// The name of a product.
    pub(super) const fn name_of(self, product: &Product) -> &'static str {
        match self {
            Self::Portuguese => product.portuguese,
            Self::English => product.english,
        }
    }
}

impl TestCard {
    const fn text(self, texts: &Texts) -> &'static str {
        match self {
            Self::Approved => texts.approved,
            Self::Refused => texts.refused,
            Self::Blocked => texts.blocked,
            Self::Silent => texts.silent,
        }
    }
}

/// A page that may run the script and call the shop, and nothing else.
pub(super) struct Page(String);

/// The goods, the test cards and the events.
pub(super) fn shop(language: Language) -> Page {
    let texts = language.texts();
    let mut goods = String::new();
    for product in &PRODUCTS {
        let (name, price, picture) = (language.name_of(product), price(product.cents), picture(product.id));
        let _ = write!(
            goods,
            "<li>{picture}<h3>{name}</h3><p>{price}</p><form method=\"post\" action=\"{PATH}/orders\" target=\"_blank\">\
             <button name=\"product\" value=\"{}\" aria-label=\"{}: {name} ({})\">{}</button></form></li>",
            product.id, texts.buy, texts.opens, texts.buy,
        );
    }
    let mut cards = String::new();
    for (number, code, card) in TEST_CARDS {
        let result = card.text(texts);
        let _ = write!(
            cards,
            "<tr><td><code>{number}</code></td><td><code>{code}</code></td><td>{result}</td></tr>"
        );
    }
    let Texts { title, lead, cards: cards_title, cards_hint, number, code, result, .. } = texts;
    let body = format!(
        "<header><h1>Café Regente <small>{title}</small></h1><p>{lead}</p></header><main><section><ul class=\"goods\">{goods}\
         </ul></section><section class=\"events\"><h2>{}</h2><p>{}</p>\
         <p><button type=\"button\" id=\"day\">{}</button> <time id=\"today\"></time></p><p id=\"state\" role=\"status\" data-none=\"{}\" data-gone=\"{}\">{}</p><ol id=\"events\" aria-live=\"polite\" \
         data-from=\"{PATH}\" data-pay=\"{}\"></ol></section><section class=\"cards\"><h2>{cards_title}</h2><p>{cards_hint}</p><table><thead>\
         <tr><th>{number}</th><th>{code}</th><th>{result}</th></tr></thead><tbody>{cards}</tbody></table></section></main><script>{SCRIPT}</script>",
        texts.events,
        texts.events_hint,
        texts.day_later,
        texts.no_events,
        texts.gone,
        texts.no_events,
        texts.pay,
    );
    Page::of(texts, &body)
}

/// That the interface has refused the session, and how.
pub(super) fn refused(language: Language, refusal: &Refusal) -> Page {
    let texts = language.texts();
    let Refusal { status, body } = refusal;
    let body = escape(&serde_json::to_string_pretty(body).unwrap_or_default());
    let (failed, back) = (texts.failed, texts.back);
    let body = format!(
        "<header><h1>Café Regente</h1></header><main><section role=\"alert\"><h2>{failed}: {status}</h2><pre>{body}</pre>\
         <p><a href=\"{PATH}\">{back}</a></p></section></main>"
    );
    Page::of(texts, &body)
}

impl Page {
    fn of(texts: &Texts, body: &str) -> Self {
        let Texts { tag, title, .. } = texts;
        Self(format!(
            "<!doctype html><html lang=\"{tag}\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><link rel=\"icon\" href=\"data:,\">\
             <title>{title}</title><style>{STYLE}</style></head><body>{body}</body></html>"
        ))
    }

    /// The answer with this page.
    pub(super) fn answer(self, status: StatusCode) -> Response {
        let policy = format!(
            "default-src 'none'; style-src {}; script-src {}; connect-src 'self'; img-src data:; form-action 'self'; \
             base-uri 'none'; frame-ancestors 'none'",
            policy_source(STYLE),
            policy_source(SCRIPT),
        );
        let mut response = Response::new(Body::from(self.0));
        *response.status_mut() = status;
        let fixed: [(HeaderName, &'static str); 4] = [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::CACHE_CONTROL, "no-store"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ];
        let headers = response.headers_mut();
        headers.extend(fixed.map(|(name, value)| (name, HeaderValue::from_static(value))));
        headers.extend(
            HeaderValue::from_str(&policy).ok().map(|policy| (header::CONTENT_SECURITY_POLICY, policy)),
        );
        response
    }
}

fn price(cents: i64) -> String {
    format!("R$ {},{:02}", cents / 100, cents % 100)
}

/// A drawing of a product.
fn picture(id: &str) -> String {
    let drawing = match id {
        "beans" => {
            "<path d=\"M20 22h24v34H20z\" fill=\"#5b3a29\"/><path d=\"M20 22l4-8h16l4 8z\" fill=\"#7a5237\"/>\
             <ellipse cx=\"32\" cy=\"39\" rx=\"6\" ry=\"8\" fill=\"#c8963e\"/>\
             <path d=\"M32 31c-3 5 3 11 0 16\" stroke=\"#5b3a29\" fill=\"none\" stroke-width=\"2\"/>"
        }
        "mug" => {
            "<path d=\"M16 22h26v26a8 8 0 0 1-8 8H24a8 8 0 0 1-8-8z\" fill=\"#c8963e\"/>\
             <path d=\"M42 28h6a6 6 0 0 1 0 14h-6\" stroke=\"#c8963e\" fill=\"none\" stroke-width=\"4\"/>\
             <path d=\"M24 16c-2-4 2-4 0-8m10 8c-2-4 2-4 0-8\" stroke=\"#7a5237\" fill=\"none\" stroke-width=\"2\"/>"
        }
        _ => {
            "<path d=\"M12 16h40L38 40H26z\" fill=\"#7a5237\"/><path d=\"M18 44h28v12H18z\" fill=\"#c8963e\"/>\
             <path d=\"M32 40v5\" stroke=\"#5b3a29\" stroke-width=\"3\"/>"
        }
    };
    format!("<svg viewBox=\"0 0 64 64\" width=\"72\" height=\"72\" aria-hidden=\"true\">{drawing}</svg>")
}
