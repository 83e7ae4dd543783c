//! `/v1/vendors`: the businesses in whose name a payment facilitator takes payments (`docs/interface/vendors.md`).

mod request;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use regente_domain::country::Country;
use regente_domain::id::VendorId;
use regente_domain::time::Timestamp;
use regente_domain::vendor::{IdentityType, NewVendor, VendorChanges};
use regente_engine::caller::{Caller, RequestId};
use regente_engine::idempotency::Planned;
use regente_engine::vendors::{self, Vendor};
use serde::Serialize;
use utoipa::ToSchema;

use super::fields::Body;
use super::idempotency::commit_once;
use super::page::Page;
use super::path::{Path, path_id};
use super::query::Query;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use request::{read_changes, read_new};

/// The `limit` of the list by default.
const LIMIT: u32 = 10;

/// A vendor as the interface shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Vendor)]
pub struct VendorView<'a> {
    /// Id of the vendor.
    id: VendorId,
    /// The id in the client's own system.
    #[schema(example = "12345")]
    reference_id: &'a str,
    /// Which number identifies it.
    #[schema(example = "CNPJ")]
    identity_type: IdentityType,
    /// The number, as sent.
    #[schema(example = "12.345.678/0001-99")]
    identity: &'a str,
    /// Category code.
    #[schema(example = "5812")]
    mcc: &'a str,
    /// Full name, or name of the company.
    #[schema(example = "Empresa Exemplo Ltda")]
    name: &'a str,
    /// E-mail address.
    #[schema(required = true)]
    email: Option<&'a str>,
    /// Phone number.
    #[schema(required = true)]
    phone_number: Option<&'a str>,
    /// Address in the web.
    #[schema(required = true)]
    website: Option<&'a str>,
    /// Where it is.
    address: VendorAddressView<'a>,
    /// When it was created.
    created_at: Timestamp,
    /// When it changed last.
    updated_at: Timestamp,
}

/// The address of a vendor.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = VendorAddressRecord)]
struct VendorAddressView<'a> {
    /// Country.
    #[schema(example = "BR")]
    country: Country,
    /// State.
    state: &'a str,
    /// City.
    city: &'a str,
    /// District.
    district: &'a str,
    /// Postal code.
    zip_code: &'a str,
    /// Street.
    street: &'a str,
    /// Number in the street.
    street_number: &'a str,
    /// Apartment, floor and the like.
    #[schema(required = true)]
    complement: Option<&'a str>,
}

impl<'a> VendorView<'a> {
    fn of(Vendor { stored, data }: &'a Vendor) -> Self {
        let address = &data.address;
        Self {
            id: stored.id,
            reference_id: &stored.reference_id,
            identity_type: data.identity_type,
            identity: &data.identity,
            mcc: &data.mcc,
            name: &data.name,
            email: data.email.as_deref(),
            phone_number: data.phone_number.as_deref(),
            website: data.website.as_deref(),
            address: VendorAddressView {
                country: address.country,
                state: &address.state,
                city: &address.city,
                district: &address.district,
                zip_code: &address.zip_code,
                street: &address.street,
                street_number: &address.street_number,
                complement: address.complement.as_deref(),
            },
            created_at: stored.id.created_at(),
            updated_at: stored.updated_at,
        }
    }
}

/// Creates a vendor.
#[utoipa::path(
    post, path = "/v1/vendors", operation_id = "createVendor", tag = "Vendors",
    request_body(content = NewVendor, content_type = "application/json"),
    responses((status = 201, description = "The vendor.", body = VendorView),
        (status = 409, description = "The reference is another vendor's, or the idempotency key is in use.",
            body = ErrorEnvelope),
        CommonErrors),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let new = read_new(body.members())?;
    let plan = || async {
        let (batch, vendor) = vendors::plan_creation(&app, (&caller, &request_id), &new).await?;
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &VendorView::of(&vendor))
    };
    commit_once(&app, &caller, &headers, "POST /v1/vendors", &body, plan).await
}

/// Lists the vendors, newest first.
#[utoipa::path(
    get, path = "/v1/vendors", operation_id = "listVendors", tag = "Vendors",
    params(("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<u32>, Query, description = "1 to 100, 10 by default.", minimum = 1, maximum = 100)),
    responses((status = 200, description = "A page of vendors.", body = Page<VendorView>), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Response, ApiError> {
    let page = query.read(|parameters| parameters.page(LIMIT))?;
    let (limit, offset) = (i64::from(page.limit), page.offset());
    let (found, total) = vendors::list(&app, caller.client_id, limit, offset).await?;
    let views = found.iter().map(VendorView::of).collect();
    Ok(Json(Page::new(page, views, total)).into_response())
}

/// Reads a vendor.
#[utoipa::path(
    get, path = "/v1/vendors/{id}", operation_id = "getVendor", tag = "Vendors",
    params(("id" = Uuid, Path, description = "Id of the vendor")),
    responses((status = 200, description = "The vendor.", body = VendorView),
        (status = 404, description = "There is no such vendor.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let vendor = vendors::find(&app, caller.client_id, path_id(&id)?).await?;
    Ok(Json(VendorView::of(&vendor)).into_response())
}

/// Changes a vendor.
#[utoipa::path(
    patch, path = "/v1/vendors/{id}", operation_id = "updateVendor", tag = "Vendors",
    params(("id" = Uuid, Path, description = "Id of the vendor")),
    request_body(content = VendorChanges, content_type = "application/json"),
    responses((status = 200, description = "The vendor after the change.", body = VendorView),
        (status = 404, description = "There is no such vendor.", body = ErrorEnvelope),
        (status = 409, description = "The reference is another vendor's.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn update(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, ApiError> {
    let id = path_id(&id)?;
    vendors::find(&app, caller.client_id, id).await?;
    let changes = read_changes(body.members())?;
    let vendor = vendors::change(&app, (&caller, &request_id), id, &changes).await?;
    Ok(Json(VendorView::of(&vendor)).into_response())
}

/// Deletes a vendor and everything that is known of it.
///
/// Charges made in its name stay, and so does what providers were told. Its reference is free again.
#[utoipa::path(
    delete, path = "/v1/vendors/{id}", operation_id = "deleteVendor", tag = "Vendors",
    params(("id" = Uuid, Path, description = "Id of the vendor")),
    responses((status = 204, description = "The vendor was deleted."),
        (status = 404, description = "There is no such vendor.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn delete(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    vendors::delete(&app, (&caller, &request_id), path_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
