//! What the page of a review says.

use std::collections::HashMap;

use regente_domain::local_day::day_of;
use regente_domain::seller::review::fields::{Field, FieldType, KnownField};
use regente_domain::seller::review::{Review, ReviewStatus};

use super::asker::Asker;
use super::form::{DECLARATION, Fault, YES};
use super::texts::{Hints, Texts};
use crate::api::buyer_page::logo::Logo;
use crate::api::buyer_page::{Content, FramedBy, Language, Page};
use crate::http::html::escape;

/// What a browser lets choose for a file.
const PICTURES: &str = ".png,.jpg,.jpeg,.bmp,.webp,.heic,.heif";

fn label_of(known: &KnownField, language: Language) -> &'static str {
    let [english, portuguese, spanish] = known.labels;
    match language {
        Language::Portuguese => portuguese,
        Language::English => english,
        Language::Spanish => spanish,
    }
}

/// What a form shows.
pub(super) struct Form<'a> {
    pub(super) asker: &'a Asker,
    pub(super) review: &'a Review,
    /// What was typed and chosen before, by the names of the fields.
    pub(super) typed: &'a HashMap<&'static str, String>,
}

/// The fields; above them, and beside each, what was wrong with what was sent before.
pub(super) fn asking(language: Language, form: &Form<'_>, faults: &[Fault]) -> Page {
    let (texts, review) = (Texts::of(language), form.review);
    let deadline = match review.status {
        ReviewStatus::Expired => format!("<p><strong>{}</strong></p>", texts.late),
        ReviewStatus::Open
        | ReviewStatus::Submitted
        | ReviewStatus::Approved
        | ReviewStatus::Rejected
        | ReviewStatus::Canceled => {
            let deadline = review.demand.deadline_at.to_string();
            let day = language.day(day_of(review.demand.deadline_at));
            format!("<p>{} <time datetime=\"{deadline}\">{day}</time>.</p>", texts.until)
        }
    };
    let fields: String =
        review.demand.fields.iter().map(|field| field_of(language, form, field, faults)).collect();
    let body = format!(
        "{from}<h1>{title}</h1>{refused}{faults}<p>{who}</p><p>{why}</p>{deadline}\
         <form method=\"post\" enctype=\"multipart/form-data\" autocomplete=\"off\">{fields}\
         <p><input type=\"checkbox\" id=\"{DECLARATION}\" name=\"{DECLARATION}\" value=\"{YES}\" required>\
         <label for=\"{DECLARATION}\"> {declare}</label></p>\
         <button class=\"go\">{send}</button></form>",
        from = from(form.asker),
        title = texts.title,
        who = who_asks(texts, form.asker),
        refused = refused(language, review),
        faults = told(language, faults),
        why = texts.why,
        declare = texts.declare,
        send = texts.send,
    );
    page(language, form.asker.logo.as_ref(), &body)
}

/// The letterhead: the merchant's logo, or its name.
fn from(asker: &Asker) -> String {
    match (&asker.logo, &asker.merchant) {
        (Some(logo), name) => logo.picture(name.as_deref().unwrap_or_default()),
        (None, Some(name)) => format!("<p><strong>{}</strong></p>", escape(name)),
        (None, None) => String::new(),
    }
}

fn who_asks(texts: &Texts, asker: &Asker) -> String {
    let provider = asker
        .provider
        .as_deref()
        .map_or_else(|| texts.some_provider.to_owned(), |name| format!("<strong>{}</strong>", escape(name)));
    match &asker.merchant {
        Some(merchant) => {
            format!("{provider}, {} <strong>{}</strong>, {}", texts.serves, escape(merchant), texts.asks)
        }
        None => format!("{provider} {}", texts.asks),
    }
}

/// What the provider found wrong with the last answer. Its own words may repeat what was answered, so that only the names of
/// the fields are shown.
fn refused(language: Language, review: &Review) -> String {
    let names = review.rejections.iter().filter_map(|rejection| KnownField::parse(&rejection.field));
    let items: String = names.map(|known| format!("<li>{}</li>", label_of(known, language))).collect();
    if review.rejections.is_empty() {
        return String::new();
    }
    format!("<p>{}</p><ul>{items}</ul>", Texts::of(language).again)
}

fn told(language: Language, faults: &[Fault]) -> String {
    if faults.is_empty() {
        return String::new();
    }
    let texts = Texts::of(language);
    let item = |fault: &Fault| match fault {
        Fault::Declaration => format!("<li>{}</li>", texts.wrong_declaration),
        Fault::Whole => format!("<li>{}</li>", texts.wrong_whole),
        Fault::TooLarge => format!("<li>{}</li>", texts.too_large),
        Fault::Field(known) => format!(
            "<li><a href=\"#{}\">{}</a> {}</li>",
            known.name,
            label_of(known, language),
            texts.wrong_field
        ),
    };
    let items: String = faults.iter().map(item).collect();
    format!("<div role=\"alert\"><p>{}</p><ul>{items}</ul></div>", texts.wrong)
}

fn field_of(language: Language, form: &Form<'_>, field: &Field, faults: &[Fault]) -> String {
    let Some(known) = KnownField::parse(&field.name) else { return String::new() };
    let texts = Texts::of(language);
    let name = known.name;
    let required = if field.required { " required" } else { "" };
    let is_wrong = faults.contains(&Fault::Field(known));
    // A browser keeps no file for another try.
    let is_lost = known.kind == FieldType::Document && !faults.is_empty();
    let invalid = if is_wrong { " aria-invalid=\"true\"" } else { "" };
    let (described, hint) = match is_wrong || is_lost {
        true => (
            format!(" aria-describedby=\"{name}-hint\""),
            format!("<br><small class=\"fault\" id=\"{name}-hint\">{}</small>", hint_of(&texts.hints, known)),
        ),
        false => (String::new(), String::new()),
    };
    let marks = format!("{required}{invalid}{described}");
    let typed = form.typed.get(name).map_or("", String::as_str);
    let optional = if field.required { String::new() } else { format!(" ({})", texts.optional) };
    let chosen = |words: &[(&str, &str)]| {
        let option = |(value, text): &(&str, &str)| {
            let chosen = if *value == typed { " selected" } else { "" };
            format!("<option value=\"{value}\"{chosen}>{text}</option>")
        };
        let options: String = words.iter().map(option).collect();
        format!(
            "<select id=\"{name}\" name=\"{name}\"{marks}><option value=\"\">{}</option>{options}</select>",
            texts.choose
        )
    };
    let input = |kind: &str, more: &str| {
        let value = if typed.is_empty() { String::new() } else { format!(" value=\"{}\"", escape(typed)) };
        format!(
            "<input type=\"{kind}\" id=\"{name}\" name=\"{name}\" autocomplete=\"off\"{value}{more}{marks}>"
        )
    };
    let control = match (known.kind, known.words()) {
        (_, Some(words)) => chosen(&words.iter().map(|word| (*word, *word)).collect::<Vec<_>>()),
        (FieldType::Boolean, None) => chosen(&[(YES, texts.yes), ("false", texts.no)]),
        (FieldType::Date, None) => input("date", ""),
        (FieldType::Number, None) => input("text", " inputmode=\"decimal\""),
        (FieldType::Document, None) => {
            let takes_pdf = known.document_kind().is_some_and(|kind| kind.takes_pdf());
            let pdf = if takes_pdf { ",.pdf" } else { "" };
            input("file", &format!(" accept=\"{PICTURES}{pdf}\""))
        }
        (FieldType::String, None) if known.format() == Some("email") => input("email", ""),
        (FieldType::String, None) => input("text", ""),
    };
    let label = escape(label_of(known, language));
    format!("<p><label for=\"{name}\">{label}{optional}</label><br>{control}{hint}</p>")
}

fn hint_of(hints: &'static Hints, known: &KnownField) -> &'static str {
    match known.kind {
        _ if known.words().is_some() => hints.choice,
        FieldType::Boolean => hints.choice,
        FieldType::Date => hints.day,
        FieldType::Number => hints.number,
        FieldType::Document => match known.document_kind().is_some_and(|kind| kind.takes_pdf()) {
            true => hints.picture_or_pdf,
            false => hints.picture,
        },
        FieldType::String if known.format() == Some("email") => hints.email,
        FieldType::String if known.name.ends_with(".phoneNumber") => hints.phone,
        FieldType::String => hints.text,
    }
}

/// The answer was taken.
pub(super) fn thanks(language: Language) -> Page {
    message(language, Texts::of(language).thanks)
}

/// What has become of a review that takes no answer.
pub(super) fn closed(language: Language, review: &Review) -> Page {
    let texts = Texts::of(language);
    message(
        language,
        match review.status {
            ReviewStatus::Submitted => texts.submitted,
            ReviewStatus::Approved => texts.approved,
            ReviewStatus::Open | ReviewStatus::Rejected | ReviewStatus::Expired | ReviewStatus::Canceled => {
                texts.over
            }
        },
    )
}

/// There is no such review.
pub(super) fn unknown(language: Language) -> Page {
    message(language, Texts::of(language).unknown)
}

fn message(language: Language, text: &str) -> Page {
    page(language, None, &format!("<h1>{}</h1><p role=\"status\">{text}</p>", Texts::of(language).title))
}

fn page(language: Language, logo: Option<&Logo>, body: &str) -> Page {
    Page::of(&Content {
        language,
        title: Texts::of(language).title,
        head: "<meta name=\"robots\" content=\"noindex\">",
        body,
        logo,
        script: None,
        framed_by: FramedBy::Nobody,
    })
}
