//! A request in JavaScript, as a module for Node.js.

use super::{Body, Call, HeaderValue, SENT_FILE, pretty, quoted, with_own_merchant};
use crate::api::docs_page::text::Html;

pub(super) fn code(call: &Call<'_>) -> Html {
    let has_key = call.headers.iter().any(|(_, value)| *value == HeaderValue::FreshKey);
    let files = match (&call.body, &call.received_file) {
        (Body::Form(_), _) => Some("readFile"),
        (Body::None | Body::Json(_), Some(_)) => Some("writeFile"),
        (Body::None | Body::Json(_), None) => None,
    };
    let imports = [
        has_key.then(|| "import { randomUUID } from \"node:crypto\";\n".to_owned()),
        files.map(|name| format!("import {{ {name} }} from \"node:fs/promises\";\n")),
    ];
    let imports: String = imports.into_iter().flatten().collect();
    let form = match &call.body {
        Body::Form(fields) => form(fields),
        Body::None | Body::Json(_) => String::new(),
    };
    let gap = if imports.is_empty() { "" } else { "\n" };
    let mut code = Html::text(&format!("{imports}{gap}{form}const answer = await fetch("))
        .and(Html::own_value("process.env.REGENTE_URL + \""))
        .and(Html::text(&format!("{}\"", call.target)));
    let options = options(call);
    if !options.is_empty() {
        code = code.and(Html::text(", {\n")).and(options).and(Html::text("}"));
    }
    let told = match &call.received_file {
        Some(file) => format!("await writeFile({}, Buffer.from(await answer.arrayBuffer()));", quoted(file)),
        None => "console.log(answer.status, await answer.text());".to_owned(),
    };
    code.and(Html::text(&format!(");\n{told}")))
}

fn options(call: &Call<'_>) -> Html {
    let mut code = match call.method.as_str() {
        "GET" => Html::default(),
        method => Html::text(&format!("  method: {},\n", quoted(method))),
    };
    let is_json = matches!(call.body, Body::Json(_));
    if is_json || !call.headers.is_empty() {
        code = code.and(Html::text("  headers: {\n"));
        for (name, value) in &call.headers {
            code = code.and(Html::text(&format!("    {}: ", quoted(name)))).and(match value {
                HeaderValue::ClientId => Html::own_value("process.env.REGENTE_CLIENT_ID"),
                HeaderValue::ApiKey => Html::own_value("process.env.REGENTE_API_KEY"),
                HeaderValue::FreshKey => Html::text("randomUUID()"),
            });
            code = code.and(Html::text(",\n"));
        }
        let kind = if is_json { "    \"Content-Type\": \"application/json\",\n" } else { "" };
        code = code.and(Html::text(&format!("{kind}  }},\n")));
    }
    code.and(with_own_merchant(&match &call.body {
        Body::None => String::new(),
        Body::Json(body) => format!("  body: JSON.stringify({}),\n", pretty(body).replace('\n', "\n  ")),
        Body::Form(_) => "  body: form,\n".to_owned(),
    }))
}

fn form(fields: &[(String, Option<String>)]) -> String {
    let field = |(name, value): &(String, Option<String>)| {
        let (name, file) = (quoted(name), quoted(SENT_FILE));
        match value {
            Some(value) => format!("form.set({name}, {});\n", quoted(value)),
            None => format!("form.set({name}, new Blob([await readFile({file})]), {file});\n"),
        }
    };
    format!("const form = new FormData();\n{}", fields.iter().map(field).collect::<String>())
}
