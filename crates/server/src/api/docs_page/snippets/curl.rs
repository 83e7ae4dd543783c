//! A request as a line of a POSIX shell.

use super::{Body, Call, HeaderValue, SENT_FILE, pretty, with_own_merchant};
use crate::api::docs_page::text::Html;

pub(super) fn code(call: &Call<'_>) -> Html {
    let method = match (call.method.as_str(), &call.body) {
        ("GET", _) | ("POST", Body::Json(_) | Body::Form(_)) => String::new(),
        (other, _) => format!(" -X {other}"),
    };
    // What is answered does not end its line.
    let end = if call.received_file.is_some() { "" } else { " -w '\\n'" };
    let mut code = Html::text(&format!("curl -sS{end}{method} \"")).and(Html::own_value("$REGENTE_URL"));
    code = code.and(Html::text(&format!("{}\"", call.target)));
    for (name, value) in &call.headers {
        code = code.and(Html::text(&format!(" \\\n  -H \"{name}: "))).and(match value {
            HeaderValue::ClientId => Html::own_value("$REGENTE_CLIENT_ID"),
            HeaderValue::ApiKey => Html::own_value("$REGENTE_API_KEY"),
            HeaderValue::FreshKey => Html::text("$(date +%s)"),
        });
        code = code.and(Html::text("\""));
    }
    let body = match &call.body {
        Body::None => String::new(),
        Body::Json(body) => {
            let body = pretty(body).replace('\'', r"'\''");
            format!(" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{body}'")
        }
        Body::Form(fields) => {
            let field = |(name, value): &(String, Option<String>)| match value {
                Some(value) => format!(" \\\n  -F '{name}={value}'"),
                None => format!(" \\\n  -F '{name}=@{SENT_FILE}'"),
            };
            fields.iter().map(field).collect()
        }
    };
    let output = call.received_file.as_ref().map(|file| format!(" \\\n  -o {file}")).unwrap_or_default();
    code.and(with_own_merchant(&format!("{body}{output}")))
}
