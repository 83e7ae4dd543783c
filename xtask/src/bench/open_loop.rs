//! An open loop: requests are sent when due, whether or not earlier ones are answered. Latency counts from the due
//! time, so that a pause of the server shows in every request it delays (no coordinated omission).

#![allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]

mod connection;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::sync::Notify;
use tokio::task::LocalSet;

use super::meter::Usage;
use crate::Outcome;
use crate::service::Service;
use connection::Connection;

/// Interval between checks for due requests.
const TICK: Duration = Duration::from_micros(250);
/// A request later than this when the time is over is not sent.
const LATE_MAX: Duration = Duration::from_millis(250);
/// How long to wait for the last answers.
const ANSWERS_WAIT_MAX: Duration = Duration::from_secs(30);
/// The longest time that the histogram resolves: two minutes.
const MICROS_MAX: u64 = 120_000_000;
/// The server is overloaded.
const UNAVAILABLE: u16 = 503;
/// Largest delay between due time and sending, for 99 of 100 requests, with which the load counts as on schedule.
const LATE_MS_MAX: f64 = 5.0;

/// The measurements of one load.
#[derive(Debug)]
pub(crate) struct Measured {
    /// Expected answers, in microseconds from the due time.
    pub(crate) taken: Histogram<u64>,
    /// Answers 503, in microseconds from the sending.
    pub(crate) refused: Histogram<u64>,
    /// How late requests were sent, in microseconds.
    late: Histogram<u64>,
    /// Answers 503 without `Retry-After`.
    pub(crate) without_retry_after: u64,
    /// Other answers, and requests without an answer.
    pub(crate) others: u64,
    /// Requests that were due but not sent, since the time was over.
    pub(crate) unsent: u64,
    /// Most requests in flight at once; at the number of connections, further ones had to wait.
    pub(crate) in_flight_max: usize,
    /// From the first request to the last expected answer.
    pub(crate) seconds: f64,
    /// Processor seconds of this process.
    pub(crate) generator_cpu_seconds: f64,
    /// The server's usage meanwhile.
    pub(crate) server: Usage,
}

impl Measured {
    fn new() -> Outcome<Self> {
        let histogram = || Histogram::new_with_bounds(1, MICROS_MAX, 3);
        Ok(Self {
            taken: histogram()?,
            refused: histogram()?,
            late: histogram()?,
            without_retry_after: 0,
            others: 0,
            unsent: 0,
            in_flight_max: 0,
            seconds: 0.0,
            generator_cpu_seconds: 0.0,
            server: Usage::default(),
        })
    }

    /// Number of requests answered in any way.
    pub(crate) fn answered(&self) -> u64 {
        self.taken.len() + self.refused.len() + self.others
    }

    /// The share of `used` for each answered request.
    pub(crate) fn for_each(&self, used: f64) -> f64 {
        let answered = self.answered().max(1) as f64;
        used / answered
    }

    /// Whether requests were sent on schedule; otherwise the generator was the bottleneck.
    pub(crate) fn kept_schedule(&self) -> bool {
        self.unsent == 0 && self.late_p99_ms() <= LATE_MS_MAX
    }

    /// Delay of sending that 99 of 100 requests stay within, in milliseconds.
    pub(crate) fn late_p99_ms(&self) -> f64 {
        quantile_ms(&self.late, 0.99)
    }

    /// A quantile of the expected answers, in milliseconds.
    pub(crate) fn taken_ms(&self, quantile: f64) -> f64 {
        quantile_ms(&self.taken, quantile)
    }

    fn count(&mut self, answer: std::io::Result<connection::Answer>, due: Instant, sent: Instant) {
        match answer {
            Ok(answer) if (200..300).contains(&answer.status) => note(&mut self.taken, due.elapsed()),
            Ok(answer) if answer.status == UNAVAILABLE => {
                note(&mut self.refused, sent.elapsed());
                self.without_retry_after += u64::from(!answer.has_retry_after);
            }
            Ok(_) | Err(_) => self.others += 1,
        }
    }
}

/// A quantile of a histogram of microseconds, in milliseconds.
pub(crate) fn quantile_ms(histogram: &Histogram<u64>, quantile: f64) -> f64 {
    let micros = histogram.value_at_quantile(quantile) as f64;
    micros / 1000.0
}

fn note(histogram: &mut Histogram<u64>, took: Duration) {
    histogram.saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
}

/// Open connections for one load after the other.
pub(crate) struct Line {
    connections: RefCell<Vec<Connection>>,
    process_id: u32,
}

impl Line {
    /// Opens the connections.
    pub(crate) async fn open(service: &Service, connections: usize) -> Outcome<Self> {
        Self::to(&service.address(), service.process_id(), connections).await
    }

    /// Opens connections to an address of this process.
    async fn to(address: &str, process_id: u32, connections: usize) -> Outcome<Self> {
        let mut opened = Vec::with_capacity(connections);
        for _ in 0..connections {
            opened.push(Connection::open(address.to_owned()).await?);
        }
        Ok(Self { connections: opened.into(), process_id })
    }

    /// Sends requests when due. `write` writes the request of a number to the buffer.
    pub(crate) async fn send(
        &self,
        rate: f64,
        seconds: f64,
        write: impl Fn(u64, &mut Vec<u8>) + 'static,
    ) -> Outcome<Measured> {
        let (server_before, generator_before) = (Usage::of(self.process_id), Usage::of_generator());
        let mut measured = LocalSet::new().run_until(self.run(rate, seconds, write)).await?;
        measured.server = Usage::of(self.process_id).since(server_before);
        measured.generator_cpu_seconds = Usage::of_generator() - generator_before;
        Ok(measured)
    }

    async fn run(
        &self,
        rate: f64,
        seconds: f64,
        write: impl Fn(u64, &mut Vec<u8>) + 'static,
    ) -> Outcome<Measured> {
        let schedule = Rc::new(Schedule {
            begun: Instant::now(),
            rate,
            end: Duration::from_secs_f64(seconds),
            requests: (rate * seconds) as u64,
            next: Cell::new(0),
            idle: RefCell::default(),
            in_flight: Cell::new(0),
            measured: RefCell::new(Measured::new()?),
            write,
        });
        let (ticks, over) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
        let clock = std::thread::spawn({
            let (ticks, over) = (ticks.clone(), over.clone());
            let pause = TICK.max(Duration::from_secs_f64(1.0 / rate));
            move || tick(&ticks, &over, pause)
        });
        let waking = tokio::task::spawn_local(wake_when_due(schedule.clone(), ticks));
        let mut senders = Vec::new();
        for connection in self.connections.take() {
            senders.push(tokio::task::spawn_local(sender(connection, schedule.clone())));
        }
        let all = async {
            let mut connections = Vec::with_capacity(senders.len());
            for sender in &mut senders {
                connections.push(sender.await);
            }
            connections
        };
        let waited = tokio::time::timeout(schedule.end + ANSWERS_WAIT_MAX, all).await;
        over.store(true, Ordering::Relaxed);
        waking.abort();
        drop(waking.await);
        drop(clock.join());
        let connections = waited.map_err(|_| "requests were not answered in time")?;
        *self.connections.borrow_mut() = connections.into_iter().collect::<Result<_, _>>()?;
        let schedule = Rc::into_inner(schedule).ok_or("a request is still under way")?;
        Ok(schedule.measured.into_inner())
    }
}

/// The schedule of requests, and its measurements.
struct Schedule<W> {
    begun: Instant,
    rate: f64,
    end: Duration,
    requests: u64,
    /// The first request that no sender has taken.
    next: Cell<u64>,
    /// Idle senders. The last one is woken first: its data is still in the caches.
    idle: RefCell<Vec<Waker>>,
    in_flight: Cell<usize>,
    measured: RefCell<Measured>,
    write: W,
}

impl<W> Schedule<W> {
    /// Number of requests due so far.
    fn due(&self) -> u64 {
        ((self.begun.elapsed().as_secs_f64() * self.rate) as u64 + 1).min(self.requests)
    }

    /// Waits for the next due request; `None` when there is no more.
    async fn next(&self) -> Option<u64> {
        poll_fn(|context| {
            let number = self.next.get();
            if number >= self.requests {
                return Poll::Ready(None);
            }
            if number >= self.due() {
                self.idle.borrow_mut().push(context.waker().clone());
                return Poll::Pending;
            }
            self.next.set(number + 1);
            Poll::Ready(Some(number))
        })
        .await
    }
}

/// Ticks in its own thread: the runtime's timers have a resolution of a millisecond.
fn tick(ticks: &Notify, over: &AtomicBool, pause: Duration) {
    while !over.load(Ordering::Relaxed) {
        ticks.notify_one();
        std::thread::sleep(pause);
    }
}

/// With each tick, wakes one sender for each request that has become due.
async fn wake_when_due<W>(schedule: Rc<Schedule<W>>, ticks: Arc<Notify>) {
    loop {
        ticks.notified().await;
        let next = schedule.next.get();
        let is_over = next >= schedule.requests;
        let mut idle = schedule.idle.borrow_mut();
        // At the end, wake the senders that still wait.
        let waiting = if is_over { idle.len() } else { usize::try_from(schedule.due() - next).unwrap_or(0) };
        let keep = idle.len().saturating_sub(waiting);
        for waker in idle.drain(keep..).rev() {
            waker.wake();
        }
    }
}

/// Sends due requests over one connection until there is no more.
async fn sender<W: Fn(u64, &mut Vec<u8>)>(
    mut connection: Connection,
    schedule: Rc<Schedule<W>>,
) -> Connection {
    let mut request = Vec::with_capacity(2048);
    while let Some(number) = schedule.next().await {
        let was_due = schedule.begun + Duration::from_secs_f64(number as f64 / schedule.rate);
        let sent = Instant::now();
        if sent.duration_since(schedule.begun) > schedule.end + LATE_MAX {
            schedule.measured.borrow_mut().unsent += 1;
            continue;
        }
        request.clear();
        (schedule.write)(number, &mut request);
        let in_flight = schedule.in_flight.get() + 1;
        schedule.in_flight.set(in_flight);
        let answer = connection.ask(&request).await;
        schedule.in_flight.update(|in_flight| in_flight - 1);
        let mut measured = schedule.measured.borrow_mut();
        measured.in_flight_max = measured.in_flight_max.max(in_flight);
        note(&mut measured.late, sent.saturating_duration_since(was_due));
        measured.count(answer, was_due, sent);
        measured.seconds = schedule.begun.elapsed().as_secs_f64();
    }
    connection
}
