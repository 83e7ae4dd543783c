//! A storage that speaks S3, on this machine: it verifies each signature anew, by its own arithmetic, and keeps what it is given.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use regente_engine::report_files::BucketOptions;
use regente_store::testing::Fuse;

const BUCKET: &str = "reports";
const REGION: &str = "sa-east-1";
const ACCESS_KEY: &str = "AKIDEXAMPLE";
const SECRET_KEY: &str = "wJalrXUtnFEMI+bPxRfiCYEXAMPLEKEY";

pub struct S3Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: tokio::task::JoinHandle<()>,
}

struct Shared {
    host: String,
    clock: Clock,
    objects: Mutex<BTreeMap<String, Vec<u8>>>,
    puts: Mutex<usize>,
    fuse: Mutex<Option<Fuse>>,
}

impl S3Server {
    /// A storage whose time is that of a deployment.
    pub async fn start(clock: &Clock) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            host: address.to_string(),
            clock: clock.clone(),
            objects: Mutex::default(),
            puts: Mutex::default(),
            fuse: Mutex::default(),
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, shared, server }
    }

    pub fn options(&self) -> BucketOptions {
        BucketOptions {
            endpoint: format!("http://{}", self.address).parse().unwrap(),
            region: REGION.to_owned(),
            name: BUCKET.to_owned(),
            prefix: "of regente/".to_owned(),
            access_key: ACCESS_KEY.to_owned(),
            secret_key: SECRET_KEY.to_owned().into(),
        }
    }

    /// The objects, by their paths.
    pub fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.shared.objects.lock().unwrap().clone()
    }

    /// How often an object was stored.
    pub fn puts(&self) -> usize {
        *self.shared.puts.lock().unwrap()
    }

    /// Lets the deployment stop after an object was stored and before it is told so.
    pub fn stops_with(&self, fuse: &Fuse) {
        *self.shared.fuse.lock().unwrap() = Some(fuse.clone());
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Err(why) = verify(&shared, &method, &uri, &headers) {
        return (StatusCode::FORBIDDEN, why).into_response();
    }
    let key = uri.path().to_owned();
    match method.as_str() {
        "PUT" => {
            let length =
                headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
            if length != Some(body.len()) {
                return StatusCode::LENGTH_REQUIRED.into_response();
            }
            shared.objects.lock().unwrap().insert(key, body.to_vec());
            *shared.puts.lock().unwrap() += 1;
            let fuse = shared.fuse.lock().unwrap().clone();
            if let Some(fuse) = fuse {
                fuse.step().await;
            }
            StatusCode::OK.into_response()
        }
        "GET" => match shared.objects.lock().unwrap().get(&key) {
            Some(object) => object.clone().into_response(),
            None => StatusCode::NOT_FOUND.into_response(),
        },
        "DELETE" => {
            shared.objects.lock().unwrap().remove(&key);
            StatusCode::NO_CONTENT.into_response()
        }
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

/// Signature Version 4 in the query, as its authors describe it.
fn verify(shared: &Shared, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), &'static str> {
    let query = uri.query().ok_or("not signed")?;
    let (mut pairs, mut signature) = (Vec::new(), None);
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').ok_or("a parameter without a value")?;
        match name {
            "X-Amz-Signature" => signature = Some(value),
            _ => pairs.push((name, value)),
        }
    }
    pairs.sort_unstable();
    let given = |wanted: &str| pairs.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
    let at = given("X-Amz-Date").ok_or("no date")?;
    let day = at.get(..8).ok_or("no day")?;
    let scope = format!("{day}/{REGION}/s3/aws4_request");
    let credential = format!("{ACCESS_KEY}/{scope}").replace('/', "%2F");
    if given("X-Amz-Algorithm") != Some("AWS4-HMAC-SHA256") || given("X-Amz-Credential") != Some(&credential)
    {
        return Err("another key, region or day");
    }
    let (time, now) = (moment(at).ok_or("no time")?, shared.clock.deployment());
    let life: i64 = given("X-Amz-Expires").and_then(|life| life.parse().ok()).ok_or("no end")?;
    if now < time || now.as_millis() >= time.as_millis() + 1000 * life {
        return Err("not its time");
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if given("X-Amz-SignedHeaders") != Some("host") || host != Some(&shared.host) {
        return Err("another host");
    }
    let query: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let request = format!(
        "{method}\n{}\n{}\nhost:{}\n\nhost\nUNSIGNED-PAYLOAD",
        uri.path(),
        query.join("&"),
        shared.host
    );
    let hashed = hex::encode(digest(&SHA256, request.as_bytes()));
    let text = format!("AWS4-HMAC-SHA256\n{at}\n{scope}\n{hashed}");
    let mut key = format!("AWS4{SECRET_KEY}").into_bytes();
    for part in [day, REGION, "s3", "aws4_request"] {
        key = sign(&Key::new(HMAC_SHA256, &key), part.as_bytes()).as_ref().to_vec();
    }
    let expected = hex::encode(sign(&Key::new(HMAC_SHA256, &key), text.as_bytes()));
    if signature == Some(&expected) { Ok(()) } else { Err("another signature") }
}

/// `20260323T151238Z`
fn moment(text: &str) -> Option<Timestamp> {
    let part = |from: usize, to: usize| text.get(from..to);
    let (year, month, day) = (part(0, 4)?, part(4, 6)?, part(6, 8)?);
    let (hour, minute, second) = (part(9, 11)?, part(11, 13)?, part(13, 15)?);
    Timestamp::parse(&format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z"))
}
