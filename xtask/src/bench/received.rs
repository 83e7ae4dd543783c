//! Reads requests as servers of this task receive them, with as little HTTP as possible, because they share the machine with
//! the service.

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// Most bytes of a head and a body.
const REQUEST_BYTES_MAX: usize = 512 * 1024;

/// Reads one request: returns the bytes of its head, and of all of it.
pub(super) async fn request(stream: &mut TcpStream, received: &mut Vec<u8>) -> Option<(usize, usize)> {
    loop {
        if let Some(at) = received.windows(4).position(|window| window == b"\r\n\r\n") {
            let head_bytes = at + 4;
            let head = String::from_utf8_lossy(&received[..head_bytes]);
            // A read has no body.
            let body_bytes: usize = header(&head, "content-length").unwrap_or("0").parse().ok()?;
            let bytes = head_bytes.checked_add(body_bytes).filter(|bytes| *bytes <= REQUEST_BYTES_MAX)?;
            while received.len() < bytes {
                if stream.read_buf(received).await.ok()? == 0 {
                    return None;
                }
            }
            return Some((head_bytes, bytes));
        }
        if received.len() > REQUEST_BYTES_MAX || stream.read_buf(received).await.ok()? == 0 {
            return None;
        }
    }
}

/// The value of a header.
pub(super) fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().skip(1).find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}
