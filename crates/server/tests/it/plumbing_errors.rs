//! Every kind of error is answered byte for byte as published, without internal details.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use axum::body::to_bytes;
use axum::http::header::RETRY_AFTER;
use axum::response::IntoResponse;
use regente::http::error::ApiError;
use regente::http::error::{CommonErrors, ErrorEnvelope, ForbiddenBody};
use regente_domain::decline::DeclinedCode;
use regente_domain::problems::Problems;
use regente_engine::error::Error;
use regente_store::StoreError;
use utoipa::{IntoResponses, OpenApi};

async fn answer(error: ApiError) -> (u16, String, Option<String>) {
    let response = error.into_response();
    let status = response.status().as_u16();
    let retry_after = response.headers().get(RETRY_AFTER).map(|value| value.to_str().unwrap().to_owned());
    assert_eq!(response.headers()["content-type"], "application/json");
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap(), retry_after)
}

#[tokio::test]
async fn each_error_has_its_status_and_body() {
    let mut problems = Problems::one("amount", "must be greater than 0");
    problems.add("email", "must be an email");
    let table = [
        (
            ApiError::Unauthorized,
            401,
            r#"{"error":{"type":"unauthorized","code":401,"message":"Unauthorized","details":["unauthorized"]}}"#,
        ),
        (ApiError::Forbidden, 403, r#"{"message":"Forbidden"}"#),
        (
            Error::NotFound.into(),
            404,
            r#"{"error":{"type":"invalid_request_error","code":404,"message":"Resource not found","details":[]}}"#,
        ),
        (
            ApiError::MethodNotAllowed,
            405,
            r#"{"error":{"type":"invalid_request_error","code":405,"message":"Method not allowed","details":[]}}"#,
        ),
        (
            Error::Invalid(problems).into(),
            400,
            r#"{"error":{"type":"bad_request","code":400,"message":"Bad Request","details":["amount must be greater than 0","email must be an email"]}}"#,
        ),
        (
            ApiError::MalformedBody("body must be an object".to_owned()),
            400,
            r#"{"error":{"type":"bad_request","code":400,"message":"Bad Request","details":["body must be an object"]}}"#,
        ),
        (
            Error::impossible("token not found or expired").into(),
            400,
            r#"{"error":{"type":"invalid_request_error","code":400,"message":"token not found or expired","details":[]}}"#,
        ),
        (
            Error::CardDeclined { code: DeclinedCode::InvalidNumber, message: "invalid card number".into() }
                .into(),
            400,
            r#"{"error":{"type":"card_declined","code":400,"declinedCode":"invalid_number","declined_code":"invalid_number","message":"invalid card number","details":[]}}"#,
        ),
        (
            Error::conflict(vec!["customer with this email already exists".to_owned()]).into(),
            409,
            r#"{"error":{"type":"invalid_request_error","code":409,"message":"Conflict Exception","details":["customer with this email already exists"]}}"#,
        ),
        (
            Error::IdempotencyMismatch.into(),
            409,
            r#"{"error":{"type":"conflict","code":409,"message":"Idempotency key reused with a different payload","details":[]}}"#,
        ),
        (
            ApiError::TooLarge { bytes_max: 1_048_576 },
            413,
            r#"{"error":{"type":"bad_request","code":413,"message":"Payload Too Large","details":["body must not be larger than 1048576 bytes"]}}"#,
        ),
        (
            Error::BusinessRule {
                business_code: "platform_fee_exceeds_link_amount",
                message: "Too much.".into(),
            }
            .into(),
            422,
            r#"{"error":{"type":"bad_request","code":422,"message":"Too much.","businessCode":"platform_fee_exceeds_link_amount","details":[]}}"#,
        ),
        (
            Error::VoucherRefused { message: "Transaction failed".into() }.into(),
            422,
            r#"{"error":{"type":"unprocessable_entity","code":422,"message":"Transaction failed","details":[]}}"#,
        ),
        (
            Error::ProviderNeeded {
                message: "Card validation is not available".into(),
                details: vec!["merchant has no provider with zero dollar support".to_owned()],
            }
            .into(),
            424,
            r#"{"error":{"type":"failed_dependency","code":424,"message":"Card validation is not available","details":["merchant has no provider with zero dollar support"]}}"#,
        ),
        (
            Error::internal("password of the database").into(),
            500,
            r#"{"error":{"type":"api_error","code":500,"message":"Internal server error","details":[]}}"#,
        ),
    ];
    for (error, status, body) in table {
        assert_eq!(answer(error).await, (status, body.to_owned(), None));
    }
}

#[tokio::test]
async fn what_may_be_tried_again_says_when() {
    let table = [
        (
            Error::IdempotencyRunning { retry_after: Duration::from_secs(10) }.into(),
            (
                409,
                r#"{"error":{"type":"conflict","code":409,"message":"Transaction is processing","details":[]}}"#,
                "10",
            ),
        ),
        (
            // Part of a second counts as a whole one: a caller who came back earlier would be refused again.
            ApiError::TooManyRequests { retry_after: Duration::from_millis(1_001) },
            (
                429,
                r#"{"error":{"type":"api_error","code":429,"message":"Too many requests","details":[]}}"#,
                "2",
            ),
        ),
        (
            Error::Unavailable { retry_after: Duration::ZERO, cause: None }.into(),
            (
                503,
                r#"{"error":{"type":"api_error","code":503,"message":"Service unavailable","details":[]}}"#,
                "1",
            ),
        ),
    ];
    for (error, (status, body, retry_after)) in table {
        assert_eq!(answer(error).await, (status, body.to_owned(), Some(retry_after.to_owned())));
    }
}

#[tokio::test]
async fn a_busy_database_is_503_and_a_wrong_statement_is_500() {
    assert_eq!(answer(StoreError::Overloaded.into()).await.0, 503);
    let (status, body, _) = answer(StoreError::Programming("SELECT secret".to_owned()).into()).await;
    assert_eq!(status, 500);
    assert!(!body.contains("secret"), "{body}");
}

#[test]
fn no_text_of_an_error_contains_its_cause() {
    let error = Error::internal("password of the database");
    assert_eq!(error.to_string(), "internal error");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "password of the database");
}

#[derive(OpenApi)]
#[openapi(components(schemas(ErrorEnvelope, ForbiddenBody)))]
struct Document;

#[test]
fn the_document_describes_the_bodies_as_they_are() {
    let document = serde_json::to_value(Document::openapi()).unwrap();
    let schemas = &document["components"]["schemas"];
    let members: Vec<_> = schemas["ErrorBody"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        ["type", "code", "declinedCode", "declined_code", "message", "businessCode", "key", "details"]
    );
    assert_eq!(schemas["ErrorBody"]["required"], serde_json::json!(["type", "code", "message", "details"]));
    assert_eq!(
        schemas["ErrorType"]["enum"],
        serde_json::json!([
            "api_error",
            "bad_request",
            "invalid_request_error",
            "card_declined",
            "unauthorized",
            "conflict",
            "failed_dependency",
            "unprocessable_entity",
        ])
    );
    let responses = serde_json::to_value(CommonErrors::responses()).unwrap();
    let statuses: Vec<_> = responses.as_object().unwrap().keys().collect();
    assert_eq!(statuses, ["400", "401", "403", "413", "429", "500", "503"]);
    let schema = |status: &str| &responses[status]["content"]["application/json"]["schema"]["$ref"];
    assert_eq!(schema("403"), "#/components/schemas/ForbiddenBody");
    assert_eq!(schema("429"), "#/components/schemas/ErrorEnvelope");
}
