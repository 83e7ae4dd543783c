#[test]
fn dump() {
    let mut text = serde_json::to_string_pretty(&regente::api::router::document()).unwrap();
    text.push('\n');
    std::fs::write("/tmp/openapi.json", text).unwrap();
}
