//! `regente plans`: sales plans that are kept in files.

use serde_json::{Value, json};

use crate::support::plans::{PLANS, of_pix, standard};
use crate::support::server::{Server, run_on};

const TOML: &str = r#"
name = "Weekly"
description = "For the fair"

[[policies]]
paymentMethod = "pix"
payoutTermDays = 2
payoutRecurrence = "weekly"
payoutDay = 5

[[fees]]
paymentMethod = "credit"
brand = "Visa"
installmentsFrom = 2
installmentsTo = 6
percentage = 3.1
fixedAmount = 25

[[fees]]
paymentMethod = "pix"
percentage = 1
"#;

#[tokio::test]
async fn plans_are_made_of_files_changed_and_listed_by_a_server_and_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let plans = async |words: &[&str]| run_on(folder.path(), &[&["plans"], words].concat()).await;
    let listed = async || -> Value {
        server.get(&format!("{PLANS}?sort=ASC")).send().await.unwrap().json().await.unwrap()
    };

    // A sandbox has the plan of the interface's example.
    let first = listed().await["items"][0].clone();
    assert_eq!((&first["name"], &first["isDefault"]), (&json!("Standard"), &json!(true)));
    assert_eq!(first["fees"][1]["percentage"], 3.79);

    let weekly = write("weekly.toml", TOML);
    let created = plans(&["create", &weekly, "--json"]).await.json()["created"].clone();
    assert_eq!(created["fees"][0]["percentage"], 3.1, "{created}");
    assert_eq!(listed().await["items"][1], created, "the running server has it at once");
    let id = created["id"].as_str().unwrap();
    let shown = plans(&["show", id]).await.text().to_owned();
    for part in [
        format!("Plan {id} (Weekly): active\nFor the fair\n").as_str(),
        "pix     2     weekly, on Friday\n",
        "credit  Visa   2 to 6        3.1 %       25\n",
        "pix     any    any           1 %         -\n",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    let fees = write("fees.json", &json!({ "fees": of_pix("", &json!(0.5))["fees"] }).to_string());
    let changed = plans(&["change", id, &fees, "--json"]).await.json()["changed"].clone();
    assert_eq!((&changed["name"], &changed["fees"][0]["percentage"]), (&json!("Weekly"), &json!(0.5)));
    assert_eq!((&changed["policies"], changed["fees"].as_array().unwrap().len()), (&created["policies"], 1));
    assert_eq!(listed().await["items"][1], changed);

    let refused = plans(&["deactivate", first["id"].as_str().unwrap()]).await;
    assert!(refused.complaint().contains("the default plan cannot be deactivated"), "{}", refused.stderr);
    assert!(plans(&["default", id]).await.text().contains("(Weekly): active, the default\n"));
    let defaults = listed().await;
    assert_eq!(
        (&defaults["items"][0]["isDefault"], &defaults["items"][1]["isDefault"]),
        (&json!(false), &json!(true))
    );
    let off = plans(&["deactivate", first["id"].as_str().unwrap()]).await;
    assert!(off.text().contains("(Standard): inactive\n"), "{}", off.stdout);
    let refused = plans(&["default", first["id"].as_str().unwrap()]).await;
    assert!(refused.complaint().contains("an inactive plan cannot be the default one"), "{}", refused.stderr);
    assert!(
        plans(&["activate", first["id"].as_str().unwrap()]).await.text().contains("(Standard): active\n")
    );

    for (file, said) in [
        (
            write("a.json", &of_pix("P", &json!(101)).to_string()),
            "fees[0].percentage must not be greater than 100",
        ),
        (write("b.json", r#"{ "name": "P", "fee": [] }"#), "fee is not known"),
        (write("c.toml", "name = "), "is not a TOML document"),
        (write("d.json", "[]"), "is not a JSON object"),
        ("/nowhere/plan.json".to_owned(), "cannot be read"),
    ] {
        let refused = plans(&["create", &file]).await;
        assert!(refused.complaint().contains(said), "{said}: {}", refused.stderr);
    }
    let nobodys = "5616b19e-4d99-4bd3-b415-4990e5cab4f4";
    let refused = plans(&["show", nobodys]).await;
    assert!(
        refused.complaint().contains(&format!("the account has no plan {nobodys}")),
        "{}",
        refused.stderr
    );

    // Another account has plans of its own, and is made with one that keeps nothing.
    let created = run_on(folder.path(), &["clients", "create", "Other"]).await;
    let change = created.text().lines().last().unwrap().split_once("has fees: regente ").unwrap().1;
    let [_, _, theirs, _, _, other] = change.split(' ').collect::<Vec<_>>()[..] else { panic!("{change}") };
    let table = plans(&["list", "--client", other]).await;
    assert!(table.text().contains(&format!("{theirs}  active  yes      Standard\n")), "{}", table.stdout);
    let changed = plans(&["change", theirs, &fees, "--client", other, "--json"]).await.json();
    assert_eq!(changed["changed"]["fees"][0]["percentage"], 0.5);
    let file = write("standard.json", &standard().to_string());
    let theirs = plans(&["create", &file, "--client", other, "--json"]).await.json()["created"].clone();
    assert_eq!((&theirs["clientId"], &theirs["isDefault"]), (&json!(other), &json!(false)));
    let refused = plans(&["show", id, "--client", other]).await;
    assert!(refused.complaint().contains("the account has no plan"), "{}", refused.stderr);
    let own = server.value("REGENTE_CLIENT_ID").to_owned();
    server.stop().await;

    // The same without a server.
    let table = plans(&["list", "--client", &own]).await;
    let lines: Vec<Vec<&str>> = table.text().lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["ID", "STATUS", "DEFAULT", "NAME"]);
    assert_eq!(lines[1], [first["id"].as_str().unwrap(), "active", "-", "Standard"]);
    assert_eq!(lines[2], [id, "active", "yes", "Weekly"]);
    assert_eq!(lines.len(), 3);
    let renamed = plans(&["change", id, &write("n.json", r#"{ "name": "Fair" }"#), "--client", &own]).await;
    assert!(renamed.text().contains("(Fair): active, the default\n"), "{}", renamed.stdout);
}
