//! Sales plans (`docs/interface/plans.md`): how clients read them, which seller has which one, and from when on each holds.

use std::time::Duration;

use axum::http::Method;
use futures_util::future::join_all;
use regente_domain::id::{ClientId, SellerId};
use regente_domain::money::Amount;
use regente_domain::plan::{Plan, PlanMethod, PlanStatus};
use regente_domain::time::Timestamp;
use regente_engine::audit::Author;
use regente_engine::error::Error;
use regente_engine::plans;
use regente_store::{args, sql};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::plans::{PLANS, change, make, make_default, of_pix, standard};
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::sellers::{SELLERS, changed, made, path, read, seller_body};

stories! {
    an_account_has_a_default_plan_from_the_beginning,
    a_plan_is_read_as_it_was_made,
    plans_are_listed_in_pages_and_by_being_the_default,
    one_plan_is_the_default_whatever_is_done,
    a_seller_is_linked_to_an_active_plan_of_its_account,
    a_change_holds_for_what_is_captured_after_it,
}

sql! {
    /// What operators have done to a plan.
    OF_PLAN_IN_AUDIT = "
        SELECT action FROM audit WHERE client_id = :client_id AND object_id = :object_id AND actor = 'operator'
        ORDER BY id";
    /// How many plans of an account are the default.
    DEFAULT_PLANS = "SELECT COUNT(*) AS n FROM plans WHERE client_id = :client_id AND is_default = 1";
}

const DAY: Duration = Duration::from_secs(86_400);

fn at(plan: &Plan) -> String {
    format!("{PLANS}/{}", plan.id)
}

async fn merchant(app: &TestApp) -> String {
    let body = json!({ "mcc": "5812", "providers": [sandbox("Main", 1)] });
    text(&app.post("/v1/merchants", &body).await.expect(201)["id"]).to_owned()
}

async fn an_account_has_a_default_plan_from_the_beginning(app: TestApp) {
    let other = app.another_client().await;
    for client in [&app.client, &other] {
        let policy = |method: &str, days: u16| {
            json!({ "paymentMethod": method, "payoutTermDays": days,
            "payoutRecurrence": "daily", "payoutDay": null })
        };
        let listed = app.call(client, Method::GET, PLANS, &[], None).await.expect(200);
        let plan = &listed["items"][0];
        let expected = json!({
            "id": plan["id"], "clientId": client.id, "name": "Standard", "description": null, "isDefault": true,
            "status": "active", "fees": [],
            "policies": [policy("credit", 30), policy("pix", 1), policy("boleto", 1), policy("nupay", 1)],
            "createdAt": plan["createdAt"], "updatedAt": plan["createdAt"]
        });
        assert_eq!((&listed["meta"]["totalItems"], plan), (&json!(1), &expected));
        let path = format!("{PLANS}/{}", text(&plan["id"]));
        assert_eq!(app.call(client, Method::GET, &path, &[], None).await.expect(200), *plan);
    }
    // The operator gives it fees, or another one its place.
    let found = app.get(PLANS).await.expect(200)["items"][0].clone();
    let first = plans::find(&app.app, app.client_id(), text(&found["id"]).parse().unwrap()).await.unwrap();
    assert_eq!(fee_at(&app, None, Timestamp::EPOCH).await, 0);
    change(&app.app, &first, &of_pix("Paid", &json!(1))).await;
    let now = app.clock.of(app.client_id());
    assert_eq!((fee_at(&app, None, now).await, fee_at(&app, None, Timestamp::EPOCH).await), (100, 0));
}

async fn a_plan_is_read_as_it_was_made(app: TestApp) {
    let plan = make(&app.app, app.client_id(), &standard()).await;
    let expected = json!({
        "id": plan.id, "clientId": app.client.id, "name": "Standard", "description": null,
        "isDefault": false, "status": "active",
        "policies": [
            { "paymentMethod": "credit", "payoutTermDays": 30, "payoutRecurrence": "daily", "payoutDay": null },
            { "paymentMethod": "pix", "payoutTermDays": 1, "payoutRecurrence": "daily", "payoutDay": null }
        ],
        "fees": [
            { "paymentMethod": "credit", "brand": null, "installmentsFrom": 1, "installmentsTo": 1,
                "percentage": 2.99, "fixedAmount": 39 },
            { "paymentMethod": "credit", "brand": null, "installmentsFrom": 2, "installmentsTo": 12,
                "percentage": 3.79, "fixedAmount": 39 },
            { "paymentMethod": "pix", "brand": null, "installmentsFrom": null, "installmentsTo": null,
                "percentage": 0.99, "fixedAmount": null }
        ],
        "createdAt": plan.created_at, "updatedAt": plan.created_at
    });
    assert_eq!(app.get(&at(&plan)).await.expect(200), expected);

    app.clock.advance(DAY);
    let changes = json!({
        "description": "For all.", "policies": [],
        "fees": [{ "paymentMethod": "credit", "brand": "Visa", "percentage": 3, "installmentsFrom": 7 }]
    });
    let changed = change(&app.app, &plan, &changes).await;
    let shown = app.get(&at(&plan)).await.expect(200);
    assert_eq!((&shown["name"], &shown["description"]), (&json!("Standard"), &json!("For all.")));
    assert_eq!(shown["policies"], json!([]));
    let fee = json!({ "paymentMethod": "credit", "brand": "Visa", "installmentsFrom": 7, "installmentsTo": null,
        "percentage": 3, "fixedAmount": null });
    assert_eq!(shown["fees"], json!([fee]));
    assert_eq!(shown["createdAt"], json!(plan.created_at));
    assert_eq!(shown["updatedAt"], json!(changed.updated_at));
    assert!(changed.updated_at > plan.updated_at);
    assert_eq!(change(&app.app, &plan, &changes).await, changed, "what changes nothing changes no time");

    let other = app.another_client().await;
    assert_eq!(app.call(&other, Method::GET, &at(&plan), &[], None).await.status, 404);
    let theirs = app.call(&other, Method::GET, PLANS, &[], None).await.expect(200);
    let found = (&theirs["items"][0]["clientId"], &theirs["meta"]["totalItems"]);
    assert_eq!(found, (&json!(other.id), &json!(1)), "their own default plan");
    for method in [Method::POST, Method::PATCH, Method::PUT, Method::DELETE] {
        let path = if method == Method::POST { PLANS.to_owned() } else { at(&plan) };
        let reply = app.call(&app.client, method, &path, &[], Some(&standard())).await;
        assert_eq!(reply.status, 405, "plans are read only");
    }
    let by_operator =
        app.app.store.rows(&OF_PLAN_IN_AUDIT, args! { client_id: plan.client_id, object_id: plan.id });
    let rows = by_operator.await.unwrap();
    let actions: Vec<&str> = rows.iter().map(|row| row.get("action").unwrap()).collect();
    assert_eq!(actions, ["plan.created", "plan.updated"]);
}

async fn plans_are_listed_in_pages_and_by_being_the_default(app: TestApp) {
    let mut made = Vec::new();
    for number in 1..=12 {
        made.push(make(&app.app, app.client_id(), &of_pix(&format!("Plan {number}"), &json!(number))).await);
    }
    let names = |listed: &Value| -> Vec<String> {
        let items = listed["items"].as_array().unwrap();
        items.iter().map(|plan| text(&plan["name"]).to_owned()).collect()
    };
    let list = async |query: &str| app.get(&format!("{PLANS}{query}")).await.expect(200);
    let first = list("").await;
    let meta =
        json!({ "itemCount": 10, "totalItems": 13, "itemsPerPage": 10, "totalPages": 2, "currentPage": 1 });
    assert_eq!(first["meta"], meta);
    assert_eq!((names(&first)[0].as_str(), names(&first)[9].as_str()), ("Plan 12", "Plan 3"));
    assert_eq!(names(&list("?page=2").await), ["Plan 2", "Plan 1", "Standard"]);
    assert_eq!(names(&list("?sort=asc&limit=2&page=2").await), ["Plan 2", "Plan 3"]);
    assert_eq!(names(&list("?isDefault=true").await), ["Standard"]);
    let others = list("?isDefault=false&limit=2").await;
    assert_eq!(
        (names(&others), &others["meta"]["totalItems"]),
        (vec!["Plan 12".into(), "Plan 11".into()], &json!(12))
    );
    for (query, problem) in [
        ("?isDefault=yes", "isDefault must be a boolean"),
        ("?limit=101", "limit must not be greater than 100"),
        ("?sort=up", "sort must be one of the following values: ASC, DESC"),
    ] {
        assert_eq!(app.get(&format!("{PLANS}{query}")).await.details(400), [problem]);
    }
}

async fn one_plan_is_the_default_whatever_is_done(app: TestApp) {
    let client_id = app.client_id();
    let author = Author::operator(client_id);
    let defaults = async || {
        let row = app.app.store.row(&DEFAULT_PLANS, args! { client_id }).await.unwrap().unwrap();
        let found: i64 = row.get("n").unwrap();
        found
    };
    // Several come at once, and none takes the place of the first.
    let bodies: Vec<Value> =
        (1..=4).map(|number| of_pix(&format!("Plan {number}"), &json!(number))).collect();
    let plans_made = join_all(bodies.iter().map(|body| make(&app.app, client_id, body))).await;
    assert_eq!(defaults().await, 1);
    let listed = app.get(PLANS).await.expect(200);
    let of_first = listed["items"].as_array().unwrap().iter().filter(|plan| plan["isDefault"] == true);
    let first = of_first.map(|plan| text(&plan["name"]).to_owned()).collect::<Vec<_>>();
    assert_eq!(first, ["Standard"]);

    // Nor do those that each make another one the default leave two.
    let changes = plans_made.iter().map(|plan| plans::make_default(&app.app, author, plan.id));
    let changed = join_all(changes).await;
    assert!(changed.iter().all(Result::is_ok), "{changed:?}");
    assert_eq!(defaults().await, 1);

    let (former, next) = (&plans_made[0], &plans_made[1]);
    plans::make_default(&app.app, author, former.id).await.unwrap();
    let is_default = async |plan: &Plan| app.get(&at(plan)).await.expect(200)["isDefault"].clone();
    assert_eq!((is_default(former).await, is_default(next).await), (json!(true), json!(false)));
    let made_so = plans::make_default(&app.app, author, next.id).await.unwrap();
    assert_eq!((is_default(former).await, is_default(next).await), (json!(false), json!(true)));
    assert_eq!(plans::make_default(&app.app, author, next.id).await.unwrap(), made_so);

    let off = async |plan: &Plan| plans::set_status(&app.app, author, plan.id, PlanStatus::Inactive).await;
    let refused = |result: Result<Plan, Error>| match result {
        Err(Error::Impossible { message, .. }) => message.into_owned(),
        Ok(_) | Err(_) => panic!("{result:?}"),
    };
    assert_eq!(refused(off(next).await), "the default plan cannot be deactivated");
    assert_eq!(off(former).await.unwrap().status, PlanStatus::Inactive);
    assert_eq!(app.get(&at(former)).await.expect(200)["status"], "inactive");
    let refusal = refused(plans::make_default(&app.app, author, former.id).await);
    assert_eq!(refusal, "an inactive plan cannot be the default one");
    assert_eq!(defaults().await, 1);
    plans::set_status(&app.app, author, former.id, PlanStatus::Active).await.unwrap();
    plans::make_default(&app.app, author, former.id).await.unwrap();
    assert_eq!((defaults().await, is_default(former).await), (1, json!(true)));
}

async fn a_seller_is_linked_to_an_active_plan_of_its_account(app: TestApp) {
    let client_id = app.client_id();
    let special = make(&app.app, client_id, &of_pix("Special", &json!(0.5))).await;
    let other = app.another_client().await;
    let theirs = make(&app.app, other.id.parse().unwrap(), &standard()).await;
    let off = make(&app.app, client_id, &of_pix("Off", &json!(1))).await;
    let author = Author::operator(client_id);
    plans::set_status(&app.app, author, off.id, PlanStatus::Inactive).await.unwrap();

    let mut body = seller_body(&merchant(&app).await);
    body["planId"] = json!(special.id);
    body["salesPlanId"] = json!("plan-1");
    let seller = made(&app, &body).await;
    assert_eq!((&seller["planId"], &seller["salesPlanId"]), (&json!(special.id), &json!("plan-1")));
    let listed = app.get(SELLERS).await.expect(200);
    assert_eq!(listed["items"][0]["planId"], json!(special.id));

    let nobodys = json!("5616b19e-4d99-4bd3-b415-4990e5cab4f4");
    for plan in [nobodys, json!(theirs.id), json!(off.id)] {
        let change = json!({ "planId": plan });
        assert_eq!(app.patch(&path(&seller), &change).await.details(400), ["planId was not found"]);
        let mut body = seller_body(&merchant(&app).await);
        body["planId"] = plan;
        assert_eq!(app.post(SELLERS, &body).await.details(400), ["planId was not found"]);
    }
    let details = app.patch(&path(&seller), &json!({ "planId": "standard" })).await.details(400);
    assert_eq!(details, ["planId must be a UUID"]);
    assert_eq!(read(&app, &seller).await, seller);

    // Whoever is linked stays so when the plan takes no new links.
    plans::set_status(&app.app, author, special.id, PlanStatus::Inactive).await.unwrap();
    let after = changed(&app, &seller, &json!({ "mcc": 5812 })).await;
    assert_eq!((&after["planId"], &after["mcc"]), (&json!(special.id), &json!(5812)));
    let same = changed(&app, &seller, &json!({ "planId": special.id })).await;
    assert_eq!(same, after, "that is no new link");
    let without = changed(&app, &seller, &json!({ "planId": null })).await;
    assert_eq!((&without["planId"], &without["salesPlanId"]), (&json!(null), &json!("plan-1")));
    let again = json!({ "planId": special.id });
    assert_eq!(app.patch(&path(&seller), &again).await.details(400), ["planId was not found"]);
}

/// What is kept of a Pix of 100.00 that is captured at this moment, in cents.
async fn fee_at(app: &TestApp, seller: Option<SellerId>, at: Timestamp) -> i64 {
    let terms = plans::terms_of(&app.app, app.client_id(), seller, at).await.unwrap();
    let gross = Amount::new(10_000).unwrap();
    terms.fee_of(PlanMethod::Pix, None, 1, gross).minor_units()
}

async fn a_change_holds_for_what_is_captured_after_it(app: TestApp) {
    let client_id: ClientId = app.client_id();
    let author = Author::operator(client_id);
    let seller = made(&app, &seller_body(&merchant(&app).await)).await;
    let id: SellerId = text(&seller["id"]).parse().unwrap();
    let now = || app.clock.of(client_id);
    let mut expected = Vec::new();
    let step = async |fees: (i64, i64)| {
        let at = now();
        let found = (fee_at(&app, None, at).await, fee_at(&app, Some(id), at).await);
        assert_eq!(found, fees);
        app.clock.advance(DAY);
        (at, fees)
    };

    expected.push(step((0, 0)).await);
    let standard = make_default(&app.app, client_id, &of_pix("Standard", &json!(1))).await;
    expected.push(step((100, 100)).await);
    let special = make(&app.app, client_id, &of_pix("Special", &json!(0.5))).await;
    changed(&app, &seller, &json!({ "planId": special.id })).await;
    expected.push(step((100, 50)).await);
    change(&app.app, &special, &json!({ "name": "Rebate" })).await;
    expected.push(step((100, 50)).await);
    change(&app.app, &special, &of_pix("Rebate", &json!(0.25))).await;
    expected.push(step((100, 25)).await);
    change(&app.app, &standard, &of_pix("Standard", &json!(2))).await;
    expected.push(step((200, 25)).await);
    plans::make_default(&app.app, author, special.id).await.unwrap();
    expected.push(step((25, 25)).await);
    changed(&app, &seller, &json!({ "planId": standard.id })).await;
    expected.push(step((25, 200)).await);
    plans::set_status(&app.app, author, standard.id, PlanStatus::Inactive).await.unwrap();
    expected.push(step((25, 200)).await);
    changed(&app, &seller, &json!({ "planId": null })).await;
    expected.push(step((25, 25)).await);
    let deletion = json!({ "merchantId": seller["merchantId"] });
    app.call(&app.client, Method::DELETE, &path(&seller), &[], Some(&deletion)).await.expect(204);

    // Whenever it is asked, what was captured then has the terms of then.
    for (at, (of_account, of_seller)) in expected {
        let found = (fee_at(&app, None, at).await, fee_at(&app, Some(id), at).await);
        assert_eq!(found, (of_account, of_seller), "{at}");
    }
    // A change holds at once.
    change(&app.app, &special, &of_pix("Rebate", &json!(3))).await;
    assert_eq!(fee_at(&app, None, now()).await, 300);
}
