//! Reviews of the registrations of sellers (`docs/interface/registration-reviews.md`). The page at which a seller answers
//! itself is `api/review_page.rs`.

mod schema;

use std::ops::RangeInclusive;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use regente_domain::id::{RegistrationReviewId, SellerId};
use regente_domain::problems::Problems;
use regente_domain::seller::data::SellerData;
use regente_domain::seller::review::fields::{
    BY_DEFAULT, FIELDS_MAX, Field as ReviewField, KnownField, check, is_empty, merged,
};
use regente_domain::seller::review::{Review, ReviewStatus};
use regente_domain::time::Timestamp;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::events::registration_review::ReviewView;
use regente_engine::idempotency::Planned;
use regente_engine::sellers::reviews as flow;
use regente_engine::sellers::reviews::answers::{self, ReviewAnswer};
use regente_engine::{review_links, sellers};
use regente_providers::request::Mode;
use regente_store::customers::{Order, Slice};
use regente_store::registration_reviews::{self as rows, ReviewFilter};
use serde_json::{Map, Value};
use utoipa::IntoParams;

use self::schema::{AnswerBody, NewReviewBody};
use super::super::fields::{Body, Fields};
use super::super::idempotency::commit_once;
use super::super::page::{Page, PageRequest};
use super::super::path::{Path, path_id};
use super::super::query::{Parameters, Query, SortOrder};
use super::super::schema::words;
use super::LIMIT_DEFAULT;
use super::request::read_data;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// How many fields a review asks for.
const FIELDS: RangeInclusive<usize> = 1..=FIELDS_MAX;
/// What is wrong with a field of a company that a person is asked for.
const OF_A_COMPANY: &str = "must not be that of a company: the seller is a person";
/// The most bytes of the values of an answer.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Opens a review by hand, as a provider does; only in the sandbox.
#[utoipa::path(
    post, path = "/v1/sellers/{sellerId}/registration-reviews", operation_id = "openRegistrationReview",
    tag = "Registration reviews",
    params(("sellerId" = Uuid, Path, description = "The seller.")),
    request_body(content = NewReviewBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The review.", body = ReviewView),
        (status = 404, description = "There is no such seller, or this is production.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use, or was used with another body.",
            body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn open(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(seller_id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    if app.settings.mode == Mode::Production {
        return Err(Error::NotFound.into());
    }
    let seller_id: SellerId = path_id(&seller_id)?;
    let route = format!("POST /v1/sellers/{seller_id}/registration-reviews");
    // Read here: what was answered before its deadline passed is answered again.
    let plan = || async {
        let read = |data: &SellerData, now| body.read(|fields| read_demand(fields, data, now));
        let (batch, review) = flow::plan_opening(&app, (&caller, &request_id), seller_id, read).await?;
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &shown(&app, &review).await?)
    };
    commit_once(&app, &caller, &headers, &route, &body, plan).await
}

fn read_demand(
    fields: &Fields<'_>,
    seller: &SellerData,
    now: Timestamp,
) -> Option<(Vec<ReviewField>, Timestamp)> {
    let asked = fields
        .optional("fields")
        .array(FIELDS, |item| item.text_as("must be a field that reviews ask for", KnownField::parse));
    let others = asked.iter().flatten().enumerate().filter(|(_, known)| !known.is_of(seller));
    for (place, _) in others {
        fields.problem(&format!("fields[{place}]"), OF_A_COMPANY);
    }
    let asked = asked.map(|asked| asked.into_iter().map(|known| known.name).collect::<Vec<_>>());
    let mut names: Vec<&str> = Vec::new();
    for name in asked.unwrap_or_else(|| BY_DEFAULT.to_vec()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let deadline_at = fields.optional("deadlineAt").timestamp().unwrap_or(now + flow::OPEN_FOR);
    if deadline_at <= now {
        fields.problem("deadlineAt", "must be in the future");
    }
    let field = |name: &str| ReviewField { name: name.to_owned(), required: true };
    Some((names.into_iter().map(field).collect(), deadline_at))
}

/// A review with the address of its page.
async fn shown<'a>(app: &App, review: &'a Review) -> Result<ReviewView<'a>, Error> {
    Ok(ReviewView::of(review, review_links::address(app, review).await?))
}

/// What a list of reviews is filtered by.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "describes the query for the OpenAPI document; the query itself is read leniently"
)]
pub struct ReviewListQuery {
    /// From 1.
    #[param(minimum = 1, default = 1)]
    page: Option<u32>,
    /// Entries on a page.
    #[param(minimum = 1, maximum = 100, default = 10)]
    limit: Option<u32>,
    /// By time of opening, in upper or lower case; newest first by default.
    #[param(value_type = Option<words::SortOrder>, default = "DESC")]
    sort: Option<String>,
    /// Ids of sellers, separated by commas.
    #[param(rename = "sellerId")]
    seller_id: Option<String>,
    /// Ids of merchants, separated by commas.
    #[param(rename = "merchantId")]
    merchant_id: Option<String>,
    /// Statuses; repeated, or separated by commas.
    #[param(value_type = Option<Vec<ReviewStatus>>)]
    status: Option<String>,
    /// With deadlines before this moment.
    #[param(rename = "deadline.lt")]
    deadline_before: Option<String>,
}

struct ReviewQuery {
    page: PageRequest,
    sort: SortOrder,
    filter: ReviewFilter,
}

impl ReviewQuery {
    fn read(parameters: &Parameters<'_>) -> Self {
        let sellers = parameters.ids("sellerId");
        let merchants = parameters.ids("merchantId");
        let statuses = parameters.one_of("status", ReviewStatus::WORDS);
        Self {
            page: parameters.page(LIMIT_DEFAULT),
            sort: parameters.sort(),
            filter: ReviewFilter {
                sellers: Some(sellers).filter(|sellers| !sellers.is_empty()),
                merchants: Some(merchants).filter(|merchants| !merchants.is_empty()),
                statuses: Some(statuses).filter(|statuses| !statuses.is_empty()),
                deadline_before: parameters.moment("deadline.lt"),
            },
        }
    }
}

/// Lists the reviews of all sellers.
#[utoipa::path(
    get, path = "/v1/sellers/registration-reviews", operation_id = "listRegistrationReviews",
    tag = "Registration reviews",
    params(ReviewListQuery),
    responses((status = 200, description = "A page of reviews.", body = Page<ReviewView>), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Response, ApiError> {
    let asked = query.read(ReviewQuery::read)?;
    page_of(&app, &caller, asked).await
}

/// Lists the reviews of a seller.
#[utoipa::path(
    get, path = "/v1/sellers/{sellerId}/registration-reviews", operation_id = "listRegistrationReviewsOfSeller",
    tag = "Registration reviews",
    params(("sellerId" = Uuid, Path, description = "The seller."),
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<u32>, Query, description = "1 to 100, 10 by default.", minimum = 1, maximum = 100)),
    responses(
        (status = 200, description = "A page of reviews.", body = Page<ReviewView>),
        (status = 404, description = "There is no such seller.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn list_of_seller(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(seller_id): Path<String>,
    query: Query,
) -> Result<Response, ApiError> {
    let seller_id = path_id(&seller_id)?;
    sellers::find(&app, caller.client_id, seller_id).await?;
    let mut asked = query.read(ReviewQuery::read)?;
    asked.filter.sellers = Some(vec![seller_id]);
    page_of(&app, &caller, asked).await
}

async fn page_of(app: &App, caller: &Caller, asked: ReviewQuery) -> Result<Response, ApiError> {
    let ReviewQuery { page, sort, filter } = asked;
    let order = match sort {
        SortOrder::Ascending => Order::OldestFirst,
        SortOrder::Descending => Order::NewestFirst,
    };
    let slice = Slice { order, limit: i64::from(page.limit), offset: page.offset() };
    let total = rows::count(&app.store, caller.client_id, &filter).await?;
    let reviews = rows::page(&app.store, caller.client_id, &filter, slice).await?;
    let mut items = Vec::new();
    for review in &reviews {
        items.push(shown(app, review).await?);
    }
    Ok(Json(Page::new(page, items, total)).into_response())
}

/// Reads a review.
#[utoipa::path(
    get, path = "/v1/sellers/{sellerId}/registration-reviews/{id}", operation_id = "getRegistrationReview",
    tag = "Registration reviews",
    params(("sellerId" = Uuid, Path, description = "The seller."), ("id" = Uuid, Path, description = "The review.")),
    responses(
        (status = 200, description = "The review.", body = ReviewView),
        (status = 404, description = "The seller has no such review.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path((seller_id, id)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let review = flow::find(&app, caller.client_id, path_id(&seller_id)?, path_id(&id)?).await?;
    Ok(Json(shown(&app, &review).await?).into_response())
}

/// Delivers what the seller has answered.
///
/// Every required field must be there: what is known of the seller fills no gap.
#[utoipa::path(
    post, path = "/v1/sellers/{sellerId}/registration-reviews/{id}/answer", operation_id = "answerRegistrationReview",
    tag = "Registration reviews",
    params(("sellerId" = Uuid, Path, description = "The seller."), ("id" = Uuid, Path, description = "The review.")),
    request_body(content = AnswerBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The review.", body = ReviewView),
        (status = 404, description = "The seller has no such review.", body = ErrorEnvelope),
        (status = 409, description = "The review takes no answer, as it stands, or the idempotency key is in use.",
            body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn answer(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path((seller_id, id)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let (seller_id, id): (SellerId, RegistrationReviewId) = (path_id(&seller_id)?, path_id(&id)?);
    let route = format!("POST /v1/sellers/{seller_id}/registration-reviews/{id}/answer");
    let plan = || async {
        let read = |review: &Review, data: &SellerData, now| read_answer(&body, review, data, now);
        let ids = (seller_id, id);
        let (batch, answered) = answers::plan_answer(&app, (&caller, &request_id), ids, read).await?;
        Planned::showing(batch, StatusCode::OK.as_u16(), &shown(&app, &answered).await?)
    };
    commit_once(&app, &caller, &headers, &route, &body, plan).await
}

/// Reads an answer; the problems of the fields and of the values together.
fn read_answer(
    body: &Body,
    review: &Review,
    seller: &SellerData,
    now: Timestamp,
) -> Result<ReviewAnswer, Problems> {
    body.read(|fields| {
        // What is kept of them is read once more, as members of the seller.
        let data: Option<Map<String, Value>> =
            fields.required("data").verbatim().raw_object(ANSWER_BYTES_MAX);
        let data = data.and_then(|data| match judge(review, seller, &data) {
            Ok(data) => Some(data),
            Err(problems) => {
                fields.problems(problems);
                None
            }
        });
        let collected_at = fields.required("collectedAt").timestamp();
        if collected_at.is_some_and(|at| at < review.opened_at) {
            fields.problem("collectedAt", "must not be before the review was opened");
        }
        if collected_at.is_some_and(|at| at > now) {
            fields.problem("collectedAt", "must not be in the future");
        }
        if fields.required("declaration").boolean() == Some(false) {
            fields.problem("declaration", "must be true");
        }
        Some(ReviewAnswer { data: data?, collected_at: collected_at? })
    })
}

/// Judges an answer: it has what is asked for, and the seller that it makes is one as a change would make it. Answers the
/// values as they are kept; those that stand for none are left out.
///
/// # Errors
/// One problem for each field, by its name below `data`.
pub(in crate::api) fn judge(
    review: &Review,
    seller: &SellerData,
    data: &Map<String, Value>,
) -> Result<Map<String, Value>, Problems> {
    let mut problems = check(&review.demand.fields, data).err().unwrap_or_default();
    let mut values = data.clone();
    values.retain(|name, value| !is_empty(value) && KnownField::parse(name).is_some());
    let of_a_company: Vec<&String> = values
        .keys()
        .filter(|name| KnownField::parse(name).is_some_and(|known| !known.is_of(seller)))
        .collect();
    if !of_a_company.is_empty() {
        for name in of_a_company {
            problems.add(format_args!("data.{name}"), OF_A_COMPANY);
        }
        return Err(problems);
    }
    let read = Body::of(merged(seller, &values)).and_then(|body| read_data(body.members().clone()));
    match read.map(serde_json::to_value) {
        Err(broken) => {
            for sentence in broken.details() {
                let (path, rule) = sentence.split_once(' ').unwrap_or((sentence, ""));
                problems.add(format_args!("data.{path}"), rule);
            }
        }
        Ok(record) => {
            let record = record.unwrap_or_default();
            for (name, value) in &mut values {
                if let Some(kept) = record.pointer(&format!("/{}", name.replace('.', "/"))) {
                    value.clone_from(kept);
                }
            }
        }
    }
    problems.into_result().map(|()| values)
}
