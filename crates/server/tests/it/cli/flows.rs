//! `regente flows`: flows that are kept in files.

use serde_json::{Value, json};

use crate::support::server::{Server, run_on};

const APPROVED: &str = "4916745120294124";

#[tokio::test]
async fn a_file_is_compared_published_once_and_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let merchant = server.value("REGENTE_MERCHANT_ID").to_owned();
    let shown = server.get(&format!("/v1/merchants/{merchant}")).send().await.unwrap();
    let shown: Value = shown.json().await.unwrap();
    let provider = shown["providers"][0]["id"].clone();
    let file = folder.path().join("credit.json");
    let write = |name: &str, provider: &Value| {
        let body = json!({ "name": name, "merchantId": merchant, "paymentMethod": "credit",
            "flow": { "version": "0.0.0", "root": [{ "rule": "provider", "id": provider }] } });
        std::fs::write(&file, body.to_string()).unwrap();
        body
    };
    let body = write("Credit", &provider);
    let path = file.to_str().unwrap();
    let apply =
        async |more: &[&str]| run_on(folder.path(), &[&["flows", "apply", path], more].concat()).await;

    let compared = apply(&[]).await;
    assert!(compared.text().contains("+  \"name\": \"Credit\",\n"), "{}", compared.text());
    assert!(compared.text().ends_with("is as it was. Say `--yes` to publish the file.\n"));
    let listed: Value = server.get("/v1/flows").send().await.unwrap().json().await.unwrap();
    assert_eq!(listed["meta"]["totalItems"], 0);
    let export = ["flows", "export", "--merchant", &merchant, "--method", "credit"];
    let none = run_on(folder.path(), &export).await;
    assert!(none.complaint().contains("has no active flow for credit"), "{}", none.stderr);

    let published = apply(&["--yes", "--json"]).await.json();
    let id = published["compared"]["published"].clone();
    assert!(id.is_string(), "{published}");
    let charge = server.charge("REGENTE_MERCHANT_ID", APPROVED);
    let charge: Value = server.post("/v1/charges", &charge).send().await.unwrap().json().await.unwrap();
    assert_eq!(charge["paymentFlow"]["id"], id, "the running server follows it at once");
    assert_eq!(run_on(folder.path(), &export).await.json(), body);

    // The same again, in another order of members.
    let again =
        json!({ "flow": body["flow"], "paymentMethod": "credit", "merchantId": merchant, "name": "Credit" });
    std::fs::write(&file, again.to_string()).unwrap();
    let unchanged = apply(&["--yes"]).await;
    let expected = format!("is that of the file: version {} is active.\n", id.as_str().unwrap());
    assert!(unchanged.text().ends_with(&expected), "{}", unchanged.text());
    write("Renamed", &provider);
    let renamed = apply(&["--yes"]).await;
    for line in
        ["-  \"name\": \"Credit\",\n", "+  \"name\": \"Renamed\",\n", "Published: new charges of merchant"]
    {
        assert!(renamed.text().contains(line), "{}", renamed.text());
    }
    let listed: Value = server.get("/v1/flows").send().await.unwrap().json().await.unwrap();
    assert_eq!(listed["meta"]["totalItems"], 2, "what was active already was not published again");

    write("Wrong", &json!("72cc1ff1-5f6e-4eb2-9cc5-6a3a85525e4b"));
    let wrong = apply(&["--yes"]).await;
    assert!(
        wrong.complaint().contains("flow.root[0] must be a provider of the merchant"),
        "{}",
        wrong.stderr
    );
    let mut with_parent = body.clone();
    with_parent["parentId"] = id;
    std::fs::write(&file, with_parent.to_string()).unwrap();
    let said = apply(&[]).await;
    assert!(said.complaint().contains("parentId must not stand in a file"), "{}", said.stderr);
    std::fs::write(&file, "[]").unwrap();
    assert!(apply(&[]).await.complaint().contains("is not a JSON object"));
    server.stop().await;
}

#[tokio::test]
async fn charges_of_the_past_are_replayed_as_a_table_as_json_and_as_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let merchant = server.value("REGENTE_MERCHANT_ID").to_owned();
    let shown = server.get(&format!("/v1/merchants/{merchant}")).send().await.unwrap();
    let shown: Value = shown.json().await.unwrap();
    let provider = &shown["providers"][0];
    for _ in 0..3 {
        let charge = server.charge("REGENTE_MERCHANT_ID", APPROVED);
        assert_eq!(server.post("/v1/charges", &charge).send().await.unwrap().status(), 201);
    }
    let named = |name: &str, value: &Value| {
        let path = folder.path().join(name);
        std::fs::write(&path, value.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let flow = json!({ "merchantId": merchant, "paymentMethod": "credit",
        "flow": { "version": "0.0.0", "root": [{ "rule": "provider", "id": provider["id"] }] } });
    let flow = named("credit.json", &flow);
    let fees = json!({ "fees": [{ "providerId": provider["id"], "currency": "BRL", "perTry": 10 }] });
    let fees = named("fees.json", &fees);
    let page = folder.path().join("replay.html");
    let line = |more: &[&str]| {
        let begin = ["flows", "replay", "--flow", &flow, "--from", "2020-01-01"];
        begin.iter().chain(more).map(|&word| word.to_owned()).collect::<Vec<String>>()
    };
    let replay = async |more: &[&str]| {
        let words = line(more);
        run_on(folder.path(), &words.iter().map(String::as_str).collect::<Vec<_>>()).await
    };

    let table = replay(&["--to", "2099-01-01"]).await;
    let name = provider["name"].as_str().unwrap();
    for part in ["3 charges of merchant", "Approvals", "Another provider is asked first for 0 charges.", name]
    {
        assert!(table.text().contains(part), "{part}: {}", table.text());
    }
    assert!(!table.text().contains("FEES"), "{}", table.text());
    let page_path = page.to_str().unwrap();
    let whole = replay(&["--to", "2099-01-01", "--fees", &fees, "--html", page_path, "--json"]).await.json();
    assert_eq!((&whole["charges"], &whole["approvals"]["recorded"]), (&json!(3), &json!(3)), "{whole:#}");
    assert_eq!(whole["providers"][0]["replayed"]["fees"], 30.0, "{whole:#}");
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("aria-label=\"3 tries, 3 approvals\"") && html.contains(name), "{html}");
    assert!(!html.contains("<script") && !html.contains("http"), "it needs nothing else");

    let none = replay(&["--to", "2019-01-01"]).await;
    assert!(none.complaint().contains("--to must be later than --from"), "{}", none.stderr);
    let wrong = named("wrong.json", &json!({ "fees": [{ "currency": "BRL", "perTry": -1 }] }));
    let wrong = replay(&["--to", "2099-01-01", "--fees", &wrong]).await;
    assert!(
        wrong.complaint().contains("perTry") && wrong.complaint().contains("providerId"),
        "{}",
        wrong.stderr
    );
    server.stop().await;
    // The same without a server.
    assert_eq!(replay(&["--to", "2099-01-01"]).await.text(), table.text());
}
