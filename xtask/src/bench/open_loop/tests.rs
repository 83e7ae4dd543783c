//! Tests that the open loop shows a pause of the server.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{Line, Measured};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const REFUSAL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n";
const BEFORE_PAUSE: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(400);

/// Sends 400 requests a second for half a second over four connections, to a server that gives this answer and pauses
/// once.
async fn measure(answer: &'static [u8], pause: Duration) -> Measured {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(answer_everybody(listener, answer, pause));
    });
    let line = Line::to(&address, std::process::id(), 4).await.unwrap();
    let write = |number: u64, buffer: &mut Vec<u8>| {
        buffer.extend_from_slice(format!("GET /{number} HTTP/1.1\r\n\r\n").as_bytes());
    };
    line.send(400.0, 0.5, write).await.unwrap()
}

async fn answer_everybody(listener: std::net::TcpListener, answer: &'static [u8], pause: Duration) {
    let listener = TcpListener::from_std(listener).unwrap();
    tokio::spawn(async move {
        tokio::time::sleep(BEFORE_PAUSE).await;
        // Blocks the thread, not the task, so that every connection waits.
        std::thread::sleep(pause);
    });
    while let Ok((mut stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            let mut request = [0; 1024];
            while stream.read(&mut request).await.is_ok_and(|bytes| bytes > 0) {
                stream.write_all(answer).await.unwrap();
            }
        });
    }
}

#[tokio::test]
async fn a_pause_shows_in_every_request_that_waited_for_it() {
    let measured = measure(ANSWER, PAUSE).await;
    assert_eq!(measured.taken.len(), 200, "{measured:?}");
    // A closed loop of four connections would have seen it in four of two hundred requests.
    let noticed = 200 - measured.taken.count_between(0, 150_000);
    assert!(noticed > 60, "{noticed} of 200 took longer than 150 ms");
}

#[tokio::test]
async fn refusals_are_counted_apart() {
    let measured = measure(REFUSAL, Duration::ZERO).await;
    assert_eq!((measured.refused.len(), measured.taken.len(), measured.others), (200, 0, 0));
    assert_eq!(measured.without_retry_after, 0);
}
