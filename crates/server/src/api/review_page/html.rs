//! What the page of a review says.

use regente_domain::local_day::day_of;
use regente_domain::seller::review::fields::{Field, FieldType, KnownField};
use regente_domain::seller::review::{Review, ReviewStatus};

use super::form::{DECLARATION, Fault, YES};
use crate::api::buyer_page::{Content, FramedBy, Language, Page};
use crate::http::html::escape;

/// What a browser lets choose for a file.
const PICTURES: &str = ".png,.jpg,.jpeg,.bmp,.webp,.heic,.heif";

/// The texts of one language.
struct Texts {
    title: &'static str,
    why: &'static str,
    until: &'static str,
    late: &'static str,
    again: &'static str,
    optional: &'static str,
    choose: &'static str,
    yes: &'static str,
    no: &'static str,
    declare: &'static str,
    send: &'static str,
    wrong: &'static str,
    wrong_field: &'static str,
    wrong_declaration: &'static str,
    wrong_whole: &'static str,
    too_large: &'static str,
    thanks: &'static str,
    submitted: &'static str,
    approved: &'static str,
    over: &'static str,
    unknown: &'static str,
}

const PORTUGUESE: Texts = Texts {
    title: "Confirmação de cadastro",
    why: "O provedor de pagamentos pede que você confirme os dados do seu cadastro. Preencha os campos com os dados de hoje: nada do que já informou é mostrado aqui.",
    until: "Responda até",
    late: "O prazo terminou e seus recebimentos estão bloqueados. Você ainda pode responder.",
    again: "O provedor não aceitou a resposta anterior:",
    optional: "opcional",
    choose: "Escolha",
    yes: "Sim",
    no: "Não",
    declare: "Declaro que estes dados são meus e verdadeiros.",
    send: "Enviar",
    wrong: "Nada foi enviado. Corrija e preencha de novo:",
    wrong_field: "não está certo ou falta",
    wrong_declaration: "Marque a declaração.",
    wrong_whole: "Os dados não combinam com o cadastro.",
    too_large: "O envio é grande demais: cada arquivo pode ter até 3 MB.",
    thanks: "Obrigado. Sua resposta foi enviada ao provedor.",
    submitted: "Sua resposta já foi enviada e está em análise.",
    approved: "Seu cadastro está confirmado.",
    over: "Esta confirmação não pode mais ser respondida aqui.",
    unknown: "Este link não existe ou não vale mais.",
};

const ENGLISH: Texts = Texts {
    title: "Confirm your registration",
    why: "The payment provider asks you to confirm the data of your registration. Fill in the fields as they are today: nothing that you have told before is shown here.",
    until: "Answer until",
    late: "The deadline has passed and your payouts are blocked. You can still answer.",
    again: "The provider has not taken your last answer:",
    optional: "optional",
    choose: "Choose",
    yes: "Yes",
    no: "No",
    declare: "I declare that these data are mine and true.",
    send: "Send",
    wrong: "Nothing was sent. Please correct and fill in again:",
    wrong_field: "is not right or missing",
    wrong_declaration: "Tick the declaration.",
    wrong_whole: "The data do not fit the registration.",
    too_large: "Too much was sent: each file may have up to 3 MB.",
    thanks: "Thank you. Your answer was sent to the provider.",
    submitted: "Your answer was sent before and is being checked.",
    approved: "Your registration is confirmed.",
    over: "This can no longer be answered here.",
    unknown: "This link does not exist, or it is over.",
};

const SPANISH: Texts = Texts {
    title: "Confirmación de registro",
    why: "El proveedor de pagos le pide confirmar los datos de su registro. Complete los campos con los datos de hoy: nada de lo que ya informó se muestra aquí.",
    until: "Responda hasta",
    late: "El plazo terminó y sus cobros están bloqueados. Todavía puede responder.",
    again: "El proveedor no aceptó su respuesta anterior:",
    optional: "opcional",
    choose: "Elija",
    yes: "Sí",
    no: "No",
    declare: "Declaro que estos datos son míos y verdaderos.",
    send: "Enviar",
    wrong: "No se envió nada. Corrija y complete de nuevo:",
    wrong_field: "no está bien o falta",
    wrong_declaration: "Marque la declaración.",
    wrong_whole: "Los datos no coinciden con el registro.",
    too_large: "Lo enviado es demasiado grande: cada archivo puede tener hasta 3 MB.",
    thanks: "Gracias. Su respuesta fue enviada al proveedor.",
    submitted: "Su respuesta ya fue enviada y está en revisión.",
    approved: "Su registro está confirmado.",
    over: "Esto ya no se puede responder aquí.",
    unknown: "Este enlace no existe o ya no vale.",
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

fn label_of(known: &KnownField, language: Language) -> &'static str {
    let [english, portuguese, spanish] = known.labels;
    match language {
        Language::Portuguese => portuguese,
        Language::English => english,
        Language::Spanish => spanish,
    }
}

/// The empty fields; above them what was wrong with what was sent before.
pub(super) fn asking(language: Language, review: &Review, faults: &[Fault]) -> Page {
    let texts = Texts::of(language);
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
    let fields: String = review.demand.fields.iter().map(|field| field_of(language, field, faults)).collect();
    let body = format!(
        "<h1>{title}</h1>{refused}{faults}<p>{why}</p>{deadline}\
         <form method=\"post\" enctype=\"multipart/form-data\" autocomplete=\"off\">{fields}\
         <p><input type=\"checkbox\" id=\"{DECLARATION}\" name=\"{DECLARATION}\" value=\"{YES}\" required>\
         <label for=\"{DECLARATION}\"> {declare}</label></p>\
         <button class=\"go\">{send}</button></form>",
        title = texts.title,
        refused = refused(language, review),
        faults = told(language, faults),
        why = texts.why,
        declare = texts.declare,
        send = texts.send,
    );
    page(language, &body)
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

fn field_of(language: Language, field: &Field, faults: &[Fault]) -> String {
    let Some(known) = KnownField::parse(&field.name) else { return String::new() };
    let texts = Texts::of(language);
    let name = known.name;
    let is_wrong = faults.contains(&Fault::Field(known));
    let mut marks = if field.required { " required".to_owned() } else { String::new() };
    if is_wrong {
        marks.push_str(" aria-invalid=\"true\"");
    }
    let optional = if field.required { String::new() } else { format!(" ({})", texts.optional) };
    let chosen = |words: &[(&str, &str)]| {
        let option = |(value, text): &(&str, &str)| format!("<option value=\"{value}\">{text}</option>");
        let options: String = words.iter().map(option).collect();
        format!(
            "<select id=\"{name}\" name=\"{name}\"{marks}><option value=\"\">{}</option>{options}</select>",
            texts.choose
        )
    };
    let input = |kind: &str, more: &str| {
        format!("<input type=\"{kind}\" id=\"{name}\" name=\"{name}\" autocomplete=\"off\"{more}{marks}>")
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
    format!("<p><label for=\"{name}\">{label}{optional}</label><br>{control}</p>")
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
    page(language, &format!("<h1>{}</h1><p role=\"status\">{text}</p>", Texts::of(language).title))
}

fn page(language: Language, body: &str) -> Page {
    Page::of(&Content {
        language,
        title: Texts::of(language).title,
        head: "<meta name=\"robots\" content=\"noindex\">",
        body,
        script: None,
        framed_by: FramedBy::Nobody,
    })
}
