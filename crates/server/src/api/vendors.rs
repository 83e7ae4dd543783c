//! `/v1/vendors`: the businesses in whose name a payment facilitator takes payments (`docs/interface/vendors.md`).

mod request;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use regente_domain::country::Country;
use regente_domain::time::Timestamp;
use regente_domain::vendor::IdentityType;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::idempotency::Planned;
use regente_engine::vendors::{self, Vendor};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::Body;
use super::idempotency::commit_once;
use super::page::Page;
use super::path::{Path, path_id};
use super::query::Query;
use super::schema::words;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use request::{read_changes, read_new};

pub use request::{NamedVendorBody, NewVendorBody, VendorAddressBody, VendorChangesBody, read_named};

/// The `limit` of the list by default.
const LIMIT: u32 = 10;

/// A vendor as the interface shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Vendor)]
pub struct VendorView {
    /// Id of the vendor.
    pub id: Uuid,
    /// The id in the client's own system.
    #[schema(example = "12345")]
    pub reference_id: String,
    /// Which number identifies it.
    #[schema(value_type = words::VendorIdentityType, example = "CNPJ")]
    pub identity_type: IdentityType,
    /// The number, as sent.
    #[schema(example = "12.345.678/0001-99")]
    pub identity: String,
    /// Category code.
    #[schema(example = "5812")]
    pub mcc: String,
    /// Full name, or name of the company.
    #[schema(example = "Empresa Exemplo Ltda")]
    pub name: String,
    /// E-mail address.
    #[schema(required = true)]
    pub email: Option<String>,
    /// Phone number.
    #[schema(required = true)]
    pub phone_number: Option<String>,
    /// Address in the web.
    #[schema(required = true)]
    pub website: Option<String>,
    /// Where it is.
    pub address: VendorAddressView,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it changed last.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// The address of a vendor.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = VendorAddressRecord)]
pub struct VendorAddressView {
    /// Country.
    #[schema(value_type = words::Country, example = "BR")]
    pub country: Country,
    /// State.
    pub state: String,
    /// City.
    pub city: String,
    /// District.
    pub district: String,
    /// Postal code.
    pub zip_code: String,
    /// Street.
    pub street: String,
    /// Number in the street.
    pub street_number: String,
    /// Apartment, floor and the like.
    #[schema(required = true)]
    pub complement: Option<String>,
}

impl VendorView {
    fn of(vendor: &Vendor) -> Self {
        let (stored, data) = (&vendor.stored, vendor.data.clone());
        let address = data.address;
        Self {
            id: stored.id.uuid(),
            reference_id: stored.reference_id.clone(),
            identity_type: data.identity_type,
            identity: data.identity,
            mcc: data.mcc,
            name: data.name,
            email: data.email,
            phone_number: data.phone_number,
            website: data.website,
            address: VendorAddressView {
                country: address.country,
                state: address.state,
                city: address.city,
                district: address.district,
                zip_code: address.zip_code,
                street: address.street,
                street_number: address.street_number,
                complement: address.complement,
            },
            created_at: stored.id.created_at(),
            updated_at: stored.updated_at,
        }
    }
}

/// Creates a vendor.
#[utoipa::path(
    post, path = "/v1/vendors", operation_id = "createVendor", tag = "Vendors",
    request_body(content = NewVendorBody, content_type = "application/json"),
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
    let new = body.read(read_new)?;
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
) -> Result<Json<Page<VendorView>>, ApiError> {
    let page = query.read(|parameters| parameters.page(LIMIT))?;
    let (limit, offset) = (i64::from(page.limit), page.offset());
    let (found, total) = vendors::list(&app, caller.client_id, limit, offset).await?;
    Ok(Json(Page::new(page, found.iter().map(VendorView::of).collect(), total)))
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
) -> Result<Json<VendorView>, ApiError> {
    Ok(Json(VendorView::of(&vendors::find(&app, caller.client_id, path_id(&id)?).await?)))
}

/// Changes a vendor.
#[utoipa::path(
    patch, path = "/v1/vendors/{id}", operation_id = "updateVendor", tag = "Vendors",
    params(("id" = Uuid, Path, description = "Id of the vendor")),
    request_body(content = VendorChangesBody, content_type = "application/json"),
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
) -> Result<Json<VendorView>, ApiError> {
    let id = path_id(&id)?;
    vendors::find(&app, caller.client_id, id).await?;
    let changes = body.read(read_changes)?;
    let vendor = vendors::change(&app, (&caller, &request_id), id, &changes).await?;
    Ok(Json(VendorView::of(&vendor)))
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
