//! Sales plans, as an operator makes them.

use regente::app::App;
use regente_domain::id::ClientId;
use regente_domain::plan::{NewPlan, Plan, PlanChanges};
use regente_domain::wire;
use regente_engine::audit::Author;
use regente_engine::plans;
use serde_json::{Value, json};

pub const PLANS: &str = "/v1/subacquirer/plans";

/// The plan of the interface's example.
pub fn standard() -> Value {
    json!({
        "name": "Standard",
        "policies": [
            { "paymentMethod": "credit", "payoutTermDays": 30, "payoutRecurrence": "daily" },
            { "paymentMethod": "pix", "payoutTermDays": 1, "payoutRecurrence": "daily", "payoutDay": null }
        ],
        "fees": [
            { "paymentMethod": "credit", "brand": null, "installmentsFrom": 1, "installmentsTo": 1, "percentage": 2.99,
                "fixedAmount": 39 },
            { "paymentMethod": "credit", "installmentsFrom": 2, "installmentsTo": 12, "percentage": 3.79,
                "fixedAmount": 39 },
            { "paymentMethod": "pix", "percentage": 0.99 }
        ]
    })
}

/// A plan with this name that keeps this percentage of a Pix.
pub fn of_pix(name: &str, percentage: &Value) -> Value {
    json!({ "name": name, "fees": [{ "paymentMethod": "pix", "percentage": percentage }] })
}

/// Creates a plan.
pub async fn make(app: &App, client_id: ClientId, plan: &Value) -> Plan {
    let new: NewPlan = wire::read(plan.as_object().unwrap().clone()).unwrap();
    plans::create(app, Author::operator(client_id), &new).await.unwrap()
}

/// Creates a plan that is the default from now on.
pub async fn make_default(app: &App, client_id: ClientId, plan: &Value) -> Plan {
    let made = make(app, client_id, plan).await;
    plans::make_default(app, Author::operator(client_id), made.id).await.unwrap()
}

/// Changes a plan.
pub async fn change(app: &App, plan: &Plan, changes: &Value) -> Plan {
    let changes: PlanChanges = wire::read(changes.as_object().unwrap().clone()).unwrap();
    plans::change(app, Author::operator(plan.client_id), plan.id, &changes).await.unwrap()
}
