//! What the payment pages say.

use regente_engine::simulator::payment_page::Decision;

use crate::api::buyer_page::{Content, FramedBy, Language, LeadingTo, Page};
use crate::http::html::escape;

/// What a payer is asked to pay.
pub(super) struct Order {
    pub(super) merchant: Option<String>,
    pub(super) order_id: Option<String>,
    /// As people write it.
    pub(super) amount: String,
    pub(super) items: Vec<OrderItem>,
}

/// One item of an order.
pub(super) struct OrderItem {
    pub(super) name: String,
    pub(super) quantity: Option<String>,
}

/// The texts of one language.
struct Texts {
    title: &'static str,
    merchant: &'static str,
    order: &'static str,
    items: &'static str,
    amount: &'static str,
    pay: &'static str,
    refuse: &'static str,
    thanks: &'static str,
    refused: &'static str,
    paid: &'static str,
    over: &'static str,
    go_on: &'static str,
}

const PORTUGUESE: Texts = Texts {
    title: "Pagamento (sandbox)",
    merchant: "Loja",
    order: "Pedido",
    items: "Itens",
    amount: "Valor",
    pay: "Pagar",
    refuse: "Recusar",
    thanks: "Obrigado. O pagamento foi feito.",
    refused: "O pagamento foi recusado.",
    paid: "Este pagamento já foi feito.",
    over: "Este pagamento não pode mais ser feito: foi recusado ou expirou.",
    go_on: "Voltar à loja",
};

const ENGLISH: Texts = Texts {
    title: "Payment (sandbox)",
    merchant: "Merchant",
    order: "Order",
    items: "Items",
    amount: "Amount",
    pay: "Pay",
    refuse: "Refuse",
    thanks: "Thank you. The payment is done.",
    refused: "The payment was refused.",
    paid: "This payment is already done.",
    over: "This payment can no longer be made: it was refused or has expired.",
    go_on: "Back to the merchant",
};

const SPANISH: Texts = Texts {
    title: "Pago (sandbox)",
    merchant: "Comercio",
    order: "Pedido",
    items: "Artículos",
    amount: "Importe",
    pay: "Pagar",
    refuse: "Rechazar",
    thanks: "Gracias. El pago está hecho.",
    refused: "El pago fue rechazado.",
    paid: "Este pago ya está hecho.",
    over: "Este pago ya no se puede hacer: fue rechazado o venció.",
    go_on: "Volver al comercio",
};

impl Texts {
    const fn of(language: Language) -> &'static Self {
        match language {
            Language::Portuguese => &PORTUGUESE,
            Language::English => &ENGLISH,
            Language::Spanish => &SPANISH,
        }
    }
}

/// The order, with a button for each decision.
pub(super) fn asking(language: Language, order: &Order) -> Page {
    let texts = Texts::of(language);
    let row = |label: &str, value: &str| format!("<dt>{label}</dt><dd>{}</dd>", escape(value));
    let merchant = order.merchant.as_deref().map(|merchant| row(texts.merchant, merchant));
    let order_id = order.order_id.as_deref().map(|order_id| row(texts.order, order_id));
    let items: Vec<String> = order.items.iter().map(OrderItem::shown).collect();
    let items = (!items.is_empty()).then(|| format!("<dt>{}</dt>{}", texts.items, items.concat()));
    let body = format!(
        "<h1>{title}</h1><dl>{merchant}{order_id}{items}{amount}</dl><form method=\"post\">\
         <button class=\"go\" name=\"decision\" value=\"pay\">{pay}</button>\
         <button name=\"decision\" value=\"refuse\">{refuse}</button></form>",
        title = texts.title,
        merchant = merchant.unwrap_or_default(),
        order_id = order_id.unwrap_or_default(),
        items = items.unwrap_or_default(),
        amount = row(texts.amount, &order.amount),
        pay = texts.pay,
        refuse = texts.refuse,
    );
    page(language, "", &body)
}

impl OrderItem {
    fn shown(&self) -> String {
        match &self.quantity {
            Some(quantity) => format!("<dd>{} × {}</dd>", escape(quantity), escape(&self.name)),
            None => format!("<dd>{}</dd>", escape(&self.name)),
        }
    }
}

/// The decision was taken; the browser goes on to the merchant.
pub(super) fn decided(language: Language, decision: Decision, return_address: Option<&str>) -> Page {
    let texts = Texts::of(language);
    let said = match decision {
        Decision::Pay => texts.thanks,
        Decision::Refuse => texts.refused,
    };
    let leading = return_address.map(|url| LeadingTo::new(url, texts.go_on));
    let (head, link) = leading.map_or_else(Default::default, |LeadingTo { head, link }| (head, link));
    page(language, &head, &format!("<h1>{}</h1><p role=\"status\">{said}</p>{link}", texts.title))
}

/// It is paid; the payer goes on when they want.
pub(super) fn paid(language: Language, return_address: Option<&str>) -> Page {
    closed(language, Texts::of(language).paid, return_address)
}

/// It can no longer be paid.
pub(super) fn over(language: Language, return_address: Option<&str>) -> Page {
    closed(language, Texts::of(language).over, return_address)
}

fn closed(language: Language, said: &str, return_address: Option<&str>) -> Page {
    let texts = Texts::of(language);
    let link = return_address.map_or_else(String::new, |url| LeadingTo::new(url, texts.go_on).link);
    page(language, "", &format!("<h1>{}</h1><p role=\"alert\">{said}</p>{link}", texts.title))
}

fn page(language: Language, head: &str, body: &str) -> Page {
    let title = Texts::of(language).title;
    Page::of(&Content { language, title, head, body, logo: None, script: None, framed_by: FramedBy::Nobody })
}
