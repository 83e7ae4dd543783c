//! The first page: today against the same day of last week, what has no outcome yet, and events that do not arrive. It shows
//! what operations of the interface count; amounts are added up by none of them.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use regente_domain::local_day;
use regente_domain::time::Timestamp;

use super::api::Refused;
use super::layout::{Layout, page};
use super::visit::{Visit, filled};
use crate::app::App;

/// Statuses of charges that a provider has approved, whatever became of them later.
const APPROVED: &str = "authorized,pre_authorized,capture_pending,refund_pending,voided,charged_back";
/// What waits for the answer of a provider: of a card at its payment, of all others after it.
const CARDS_WITHOUT_OUTCOME: &str = "status=pending&paymentType=credit,debit,voucher";
const FOLLOW_UPS_WITHOUT_OUTCOME: &str = "status=capture_pending,refund_pending";
/// The events of a webhook that are looked at.
const EVENTS_OF_A_WEBHOOK: usize = 100;
/// The webhooks that are looked at.
const WEBHOOKS_MAX: usize = 10;
const WEEK_MILLIS: i64 = 7 * 86_400_000;

#[derive(Template)]
#[template(path = "dashboard/home.html")]
struct HomePage<'a> {
    layout: Layout<'a>,
    against: String,
    figures: Vec<Figure>,
    waiting: Vec<Waiting<'a>>,
    deliveries: Option<Deliveries>,
}

/// A number of today beside that of a week ago.
struct Figure {
    name: &'static str,
    today: String,
    before: String,
}

/// Charges whose outcome is not known.
struct Waiting<'a> {
    name: &'a str,
    number: u64,
    href: String,
}

/// What became of the newest events.
#[derive(Default)]
struct Deliveries {
    webhooks: usize,
    lost: usize,
    retried: usize,
    about: String,
}

/// What became of the charges of some time.
struct Counted {
    made: u64,
    approved: u64,
    failed: u64,
}

impl Counted {
    fn rate(&self, nothing: &str) -> String {
        match self.approved + self.failed {
            0 => nothing.to_owned(),
            decided => format!("{}\u{a0}%", (self.approved * 100 + decided / 2) / decided),
        }
    }
}

pub(super) async fn show(State(app): State<App>, visit: Visit) -> Response {
    match render(&app, &visit).await {
        Ok(response) => response,
        Err(refused) => visit.refused(&refused),
    }
}

async fn render(app: &App, visit: &Visit) -> Result<Response, Refused> {
    let (words, t) = (visit.words, &visit.words.t);
    let now = app.clock.of(visit.who.client_id);
    let week_ago = Timestamp::from_millis(now.as_millis() - WEEK_MILLIS);
    let (today, before) = (day_until(visit, now).await?, day_until(visit, week_ago).await?);
    let figure = |name, count: fn(&Counted) -> u64| Figure {
        name,
        today: count(&today).to_string(),
        before: filled(&t.week_before, &[("value", &count(&before).to_string())]),
    };
    let rate = Figure {
        name: &t.approval_rate,
        today: today.rate(&t.no_rate),
        before: filled(&t.week_before, &[("value", &before.rate(&t.no_rate))]),
    };
    let mut waiting = Vec::new();
    for (name, filter) in
        [(&t.unknown_cards, CARDS_WITHOUT_OUTCOME), (&t.unknown_follow_ups, FOLLOW_UPS_WITHOUT_OUTCOME)]
    {
        let number = count(visit, filter).await?;
        waiting.push(Waiting { name, number, href: format!("/dashboard/charges?{filter}") });
    }
    waiting.retain(|waiting| waiting.number > 0);
    let against = words.language.day(local_day::day_of(week_ago));
    Ok(page(&HomePage {
        layout: visit.layout(&t.today),
        against: filled(&t.today_against, &[("day", &against)]),
        figures: vec![
            figure(&t.charges_made, |counted| counted.made),
            figure(&t.approved, |counted| counted.approved),
            figure(&t.declined, |counted| counted.failed),
            rate,
        ],
        waiting,
        deliveries: deliveries(visit).await?,
    }))
}

/// What became of the charges of a day until this moment of it.
async fn day_until(visit: &Visit, until: Timestamp) -> Result<Counted, Refused> {
    let from = local_day::hour_of(local_day::day_of(until), 0);
    // Both ends are left out by the interface.
    let made = format!(
        "created.gt={}&created.lt={}",
        Timestamp::from_millis(from.as_millis() - 1),
        Timestamp::from_millis(until.as_millis() + 1)
    );
    Ok(Counted {
        made: count(visit, &made).await?,
        approved: count(visit, &format!("{made}&status={APPROVED}")).await?,
        failed: count(visit, &format!("{made}&status=failed")).await?,
    })
}

async fn count(visit: &Visit, filter: &str) -> Result<u64, Refused> {
    let listed = visit.get(&format!("/v1/charges?limit=1&{filter}")).await?;
    Ok(listed["meta"]["totalItems"].as_u64().unwrap_or_default())
}

/// What became of the newest events. Nothing for somebody who may not look at webhooks.
async fn deliveries(visit: &Visit) -> Result<Option<Deliveries>, Refused> {
    let webhooks = match visit.get("/v1/webhooks").await {
        Err(refused) if refused.status == StatusCode::FORBIDDEN => return Ok(None),
        answered => answered?,
    };
    let webhooks = webhooks["items"].as_array().map_or(&[][..], Vec::as_slice);
    let mut found = Deliveries {
        webhooks: webhooks.len(),
        about: filled(&visit.words.t.deliveries_newest, &[("count", &EVENTS_OF_A_WEBHOOK.to_string())]),
        ..Deliveries::default()
    };
    for webhook in webhooks.iter().take(WEBHOOKS_MAX) {
        let id = webhook["id"].as_str().unwrap_or_default();
        let path = format!("/v1/webhooks/{id}/deliveries?limit={EVENTS_OF_A_WEBHOOK}");
        let listed = visit.get(&path).await?;
        for delivery in listed["items"].as_array().into_iter().flatten() {
            let was_tried = delivery["attempts"].as_array().is_some_and(|attempts| !attempts.is_empty());
            match delivery["status"].as_str() {
                Some("lost") => found.lost += 1,
                Some("pending") if was_tried => found.retried += 1,
                Some(_) | None => {}
            }
        }
    }
    Ok(Some(found))
}
