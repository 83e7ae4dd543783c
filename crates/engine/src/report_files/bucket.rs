//! Files of reports in a bucket of a storage that speaks S3. Whoever fetches one is led there with a signed address, so an object is plain
//! CSV: what protects it at rest is the storage's own encryption.
//!
//! A page has one key, so writing it again replaces it. Requests are signed (AWS Signature Version 4) in their address, which no error
//! repeats.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use jiff::Timestamp as Moment;
use regente_domain::time::Timestamp;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE};
use reqwest::redirect::Policy;
use reqwest::{Body, Client, Method, RequestBuilder, StatusCode, Url};
use rusty_s3::actions::{DeleteObject, GetObject, PutObject};
use rusty_s3::{Bucket as Place, Credentials, S3Action, UrlStyle};
use zeroize::Zeroizing;

use super::PageName;

/// How long the address of an object works that somebody is led to.
const ADDRESS_LIFE: Duration = Duration::from_secs(5 * 60);
/// How long a request of ours may take: its address works no longer.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(10 * 60);
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);
const CSV: &str = "application/csv";

/// Where a bucket is, and who may write to it.
#[derive(Clone)]
pub struct BucketOptions {
    /// The address of the storage, such as `https://s3.example.com`; the bucket is a part of its path.
    pub endpoint: Url,
    /// The region, which signatures name.
    pub region: String,
    /// The bucket.
    pub name: String,
    /// What the keys of all objects begin with; it may be empty.
    pub prefix: String,
    /// The id of the access key.
    pub access_key: String,
    /// Its secret.
    pub secret_key: Zeroizing<String>,
}

/// A bucket.
pub struct Bucket {
    place: Place,
    credentials: Credentials,
    prefix: String,
    client: Client,
}

/// Why there is no bucket.
#[derive(Debug, thiserror::Error)]
pub enum NoBucket {
    /// The endpoint is none.
    #[error("the endpoint cannot be used")]
    Endpoint(#[from] rusty_s3::BucketError),
    /// No client can be made.
    #[error("no client can be made for it")]
    Client(#[from] reqwest::Error),
}

impl Bucket {
    /// Connects to nothing yet.
    ///
    /// # Errors
    /// [`NoBucket`].
    pub fn new(options: BucketOptions) -> Result<Self, NoBucket> {
        let BucketOptions { endpoint, region, name, prefix, access_key, secret_key } = options;
        let client = Client::builder()
            .connect_timeout(CONNECT_TIME_MAX)
            .timeout(REQUEST_TIME_MAX)
            .no_proxy()
            .redirect(Policy::none())
            .build()?;
        Ok(Self {
            place: Place::new(endpoint, UrlStyle::Path, name, region)?,
            credentials: Credentials::new(access_key, secret_key.as_str()),
            prefix,
            client,
        })
    }

    /// Stores a page of `length` bytes, in place of one that is there.
    pub(super) async fn put(
        &self,
        page: PageName,
        (length, content): (u64, impl Stream<Item = io::Result<Bytes>> + Send + 'static),
        now: Timestamp,
    ) -> io::Result<()> {
        let key = self.key(page);
        let action = PutObject::new(&self.place, Some(&self.credentials), &key);
        let url = action.sign_with_time(REQUEST_TIME_MAX, &moment(now)?);
        let request = self.client.request(Method::PUT, url).header(CONTENT_TYPE, CSV);
        let request = request.header(CONTENT_LENGTH, length).body(Body::wrap_stream(content));
        match status_of(request).await? {
            status if status.is_success() => Ok(()),
            status => Err(refused(status)),
        }
    }

    /// Deletes a page, if it is there.
    pub(super) async fn delete(&self, page: PageName, now: Timestamp) -> io::Result<()> {
        let key = self.key(page);
        let action = DeleteObject::new(&self.place, Some(&self.credentials), &key);
        let url = action.sign_with_time(REQUEST_TIME_MAX, &moment(now)?);
        match status_of(self.client.request(Method::DELETE, url)).await? {
            status if status.is_success() || status == StatusCode::NOT_FOUND => Ok(()),
            status => Err(refused(status)),
        }
    }

    /// The address at which a page is fetched from now on, for [`ADDRESS_LIFE`].
    pub(super) fn address(&self, page: PageName, now: Timestamp) -> io::Result<Url> {
        let (key, name) = (self.key(page), page.file_name());
        let mut action = GetObject::new(&self.place, Some(&self.credentials), &key);
        let query = action.query_mut();
        query.insert("response-content-disposition", format!("attachment; filename=\"{name}\""));
        query.insert("response-content-type", CSV);
        Ok(action.sign_with_time(ADDRESS_LIFE, &moment(now)?))
    }

    fn key(&self, page: PageName) -> String {
        let PageName { client_id, report_id, number } = page;
        format!("{}{client_id}/{report_id}/{number}.csv", self.prefix)
    }
}

fn moment(now: Timestamp) -> io::Result<Moment> {
    Moment::from_millisecond(now.as_millis()).map_err(io::Error::other)
}

async fn status_of(request: RequestBuilder) -> io::Result<StatusCode> {
    let answer = request.send().await.map_err(|error| io::Error::other(error.without_url()))?;
    Ok(answer.status())
}

fn refused(status: StatusCode) -> io::Error {
    io::Error::other(format!("the storage of reports answered {}", status.as_u16()))
}
