//! Forms with files (RFC 7578), written by hand, and logos.

use axum::body::Body;
use axum::http::{Method, Request};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::support::app::TestApp;
use crate::support::client::{Client, Reply};

/// A form under way.
#[derive(Clone, Debug)]
pub struct Form(Vec<u8>);

/// A logo with its format.
pub struct Logo {
    pub bytes: Vec<u8>,
    pub kind: &'static str,
    pub ending: &'static str,
}

/// A PNG file that claims 60 000 × 60 000 pixels.
pub const BOMB: [u8; 74] = *b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\xea\x60\x00\x00\xea\x60\x08\x06\
\x00\x00\x00\x80\xd2\x75\x42\x00\x00\x00\x11\x49\x44\x41\x54\x78\x9c\x63\x60\x18\x05\xa3\x60\x14\x0c\x77\
\x00\x00\x03\xe8\x00\x01\xb3\xa6\xd3\x46\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";

/// A red picture with a comment.
pub fn png() -> Logo {
    let file = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFHRFWHRDb21tZW50AHNlY3JldCBwbGFjZWgPqY0AAAAQSURBVHicY/jP\
                wABEDBAKAB/uA/2LXxTUAAAAAElFTkSuQmCC";
    Logo { bytes: STANDARD.decode(file).unwrap(), kind: "image/png", ending: ".png" }
}

/// A black picture with the place where it was taken.
pub fn jpeg() -> Logo {
    let file = "/9j/4AAQSkZJRgABAgAAAQABAAD/4QAURXhpZgAAc2VjcmV0IHBsYWNl/8AACwgACAAIAQARAP/bAEMAEAsMDgwKEA4NDhIREBMYKBoYFhYYMS\
                MlHSg6Mz08OTM4N0BIXE5ARFdFNzhQbVFXX2JnaGc+TXF5cGR4XGVnY//bAEMBERISGBUYLxoaL2NCOEJjY2NjY2NjY2NjY2NjY2NjY2NjY2Nj\
                Y2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY//EAB8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYHCAkKC//EALUQAAIBAwMCBAMFBQQEAAABfQ\
                ECAwAEEQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0\
                dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5+v/aAA\
                gBAAAAPwDgq//Z";
    Logo { bytes: STANDARD.decode(file).unwrap(), kind: "image/jpeg", ending: ".jpg" }
}

impl Form {
    pub const KIND: &str = "multipart/form-data; boundary=----x";

    pub fn of(fields: &[(&str, &str)]) -> Self {
        fields.iter().fold(Self(Vec::new()), |form, (name, value)| form.with_field(name, value.as_bytes()))
    }

    pub fn with_field(self, name: &str, value: &[u8]) -> Self {
        self.with(&format!("name=\"{name}\"\r\n\r\n"), value)
    }

    pub fn with_logo(self, logo: &Logo) -> Self {
        self.with_file("logo", &logo.bytes)
    }

    /// With a logo under this name of a file.
    pub fn with_file(self, file: &str, bytes: &[u8]) -> Self {
        self.with(
            &format!("name=\"logo\"; filename=\"{file}\"\r\nContent-Type: image/svg+xml\r\n\r\n"),
            bytes,
        )
    }

    /// With a file in the field of this name, which says nothing true about it.
    pub fn with_upload(self, name: &str, file: &str, bytes: &[u8]) -> Self {
        self.with(&format!("name=\"{name}\"; filename=\"{file}\"\r\nContent-Type: image/gif\r\n\r\n"), bytes)
    }

    fn with(mut self, head: &str, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(format!("------x\r\nContent-Disposition: form-data; {head}").as_bytes());
        self.0.extend_from_slice(bytes);
        self.0.extend_from_slice(b"\r\n");
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        [self.0.as_slice(), b"------x--\r\n"].concat()
    }

    pub fn request_to(&self, client: &Client, method: Method, path: &str) -> Request<Body> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("X-Client-Id", &client.id)
            .header("X-Api-Key", &client.key)
            .header("Content-Type", Self::KIND);
        request.body(Body::from(self.bytes())).unwrap()
    }

    pub fn request(&self, client: &Client, method: Method, merchant: Option<&str>) -> Request<Body> {
        request_of(client, method, merchant, Self::KIND, self.bytes())
    }
}

pub fn request_of(
    client: &Client,
    method: Method,
    merchant: Option<&str>,
    kind: &str,
    body: Vec<u8>,
) -> Request<Body> {
    let request = Request::builder()
        .method(method)
        .uri("/v1/settings")
        .header("X-Client-Id", &client.id)
        .header("X-Api-Key", &client.key)
        .header("Content-Type", kind);
    let request =
        merchant.into_iter().fold(request, |request, merchant| request.header("X-Merchant-Id", merchant));
    request.body(Body::from(body)).unwrap()
}

/// A file as a browser without a key gets it.
pub async fn file_at(app: &TestApp, path: &str) -> Reply {
    app.send(Request::builder().uri(path).body(Body::empty()).unwrap()).await
}
