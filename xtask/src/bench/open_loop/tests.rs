//! Tests that the open loop shows a pause of the server.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

use super::{Line, Measured};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const REFUSAL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n";
const CONNECTIONS: usize = 4;
const BEFORE_PAUSE: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(400);

/// Sends 400 requests a second for half a second over four connections, to a server that gives this answer and pauses
/// once.
async fn measure(answer: &'static [u8], pause: Duration) -> Measured {
    let address = serve(move |listener| answer_everybody(listener, answer, pause));
    let line = Line::to(&address, std::process::id(), CONNECTIONS).await.unwrap();
    line.send(400.0, 0.5, write).await.unwrap()
}

fn write(number: u64, buffer: &mut Vec<u8>) {
    buffer.extend_from_slice(format!("GET /{number} HTTP/1.1\r\n\r\n").as_bytes());
}

/// Runs a server in a thread of its own; returns its address.
fn serve<S: Future<Output = ()>>(server: impl FnOnce(TcpListener) -> S + Send + 'static) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { server(TcpListener::from_std(listener).unwrap()).await });
    });
    address
}

async fn answer_everybody(listener: TcpListener, answer: &'static [u8], pause: Duration) {
    tokio::spawn(async move {
        tokio::time::sleep(BEFORE_PAUSE).await;
        // Blocks the thread, not the task, so that every connection waits.
        std::thread::sleep(pause);
    });
    while let Ok((mut stream, _)) = listener.accept().await {
        tokio::spawn(async move { answer_all(&mut stream, answer).await });
    }
}

async fn answer_all(stream: &mut TcpStream, answer: &[u8]) {
    let mut request = [0; 1024];
    while stream.read(&mut request).await.is_ok_and(|bytes| bytes > 0) {
        stream.write_all(answer).await.unwrap();
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

/// It is the client's part to see that before it sends.
#[tokio::test]
async fn connections_that_the_server_has_closed_are_opened_again() {
    let (close, closing) = watch::channel(false);
    let (tell, mut closed) = mpsc::unbounded_channel();
    let address = serve(async move |listener: TcpListener| {
        for number in 0.. {
            let (mut stream, _) = listener.accept().await.unwrap();
            let (mut closing, tell) = (closing.clone(), tell.clone());
            tokio::spawn(async move {
                let is_of_the_first = number < CONNECTIONS;
                tokio::select! {
                    () = answer_all(&mut stream, ANSWER) => {}
                    _ = closing.wait_for(|closing| *closing), if is_of_the_first => {}
                }
                drop(stream);
                // Nobody listens at the end of the test.
                let _ = tell.send(());
            });
        }
    });
    let line = Line::to(&address, std::process::id(), CONNECTIONS).await.unwrap();
    let before = line.send(400.0, 0.1, write).await.unwrap();
    close.send(true).unwrap();
    for _ in 0..CONNECTIONS {
        closed.recv().await.unwrap();
    }
    let after = line.send(400.0, 0.1, write).await.unwrap();
    assert_eq!((before.taken.len(), after.taken.len(), after.others), (40, 40, 0), "{after:?}");
}
