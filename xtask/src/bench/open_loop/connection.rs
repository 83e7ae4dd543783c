//! A connection that sends one request after the other with little processor time, since it shares the machine with
//! the service.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Most headers of an answer.
const HEADERS_MAX: usize = 64;
/// Bytes of one read: enough for an answer, and little memory for thousands of connections.
const READ_BYTES: usize = 4 * 1024;

/// An open connection.
pub(super) struct Connection {
    address: String,
    stream: TcpStream,
    /// The bytes read of the awaited answer.
    buffer: Vec<u8>,
}

/// An answer without its body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) has_retry_after: bool,
    body_bytes: usize,
    is_last: bool,
}

impl Connection {
    pub(super) async fn open(address: String) -> io::Result<Self> {
        let stream = connect(&address).await?;
        Ok(Self { address, stream, buffer: Vec::new() })
    }

    /// Sends a request and waits for the whole answer. A broken connection is opened again for the next request.
    pub(super) async fn ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        if self.was_closed() {
            self.stream = connect(&self.address).await?;
        }
        let answer = self.try_ask(request).await;
        if answer.as_ref().map_or(true, |answer| answer.is_last) {
            self.buffer.clear();
            self.stream = connect(&self.address).await?;
        }
        answer
    }

    /// Whether the server has closed it since the last answer, as it does with one that was idle for long.
    fn was_closed(&self) -> bool {
        match self.stream.try_read(&mut [0]) {
            Ok(_) => true,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }

    async fn try_ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.stream.write_all(request).await?;
        loop {
            if let Some((answer, head_bytes)) = parse(&self.buffer)? {
                let all = head_bytes + answer.body_bytes;
                while self.buffer.len() < all {
                    self.read().await?;
                }
                // Requests are not pipelined, so nothing follows the answer.
                self.buffer.clear();
                return Ok(answer);
            }
            self.read().await?;
        }
    }

    async fn read(&mut self) -> io::Result<()> {
        self.buffer.reserve(READ_BYTES);
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

async fn connect(address: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The head of an answer and its length, once it is complete.
fn parse(bytes: &[u8]) -> io::Result<Option<(Answer, usize)>> {
    let wrong = |error: httparse::Error| io::Error::new(io::ErrorKind::InvalidData, error);
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let head_bytes = match response.parse(bytes).map_err(wrong)? {
        httparse::Status::Partial => return Ok(None),
        httparse::Status::Complete(head_bytes) => head_bytes,
    };
    let mut answer =
        Answer { status: response.code.unwrap_or(0), has_retry_after: false, body_bytes: 0, is_last: false };
    for header in response.headers {
        let value = std::str::from_utf8(header.value).unwrap_or_default();
        if header.name.eq_ignore_ascii_case("content-length") {
            answer.body_bytes = value.parse().map_err(|_| io::ErrorKind::InvalidData)?;
        } else if header.name.eq_ignore_ascii_case("retry-after") {
            answer.has_retry_after = true;
        } else if header.name.eq_ignore_ascii_case("connection") {
            answer.is_last = value.eq_ignore_ascii_case("close");
        }
    }
    Ok(Some((answer, head_bytes)))
}
