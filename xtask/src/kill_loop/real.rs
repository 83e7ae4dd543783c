//! `--providers real`: the same at the adapters of providers that move real money, whose addresses are those of one bank
//! with the faults of life (`crates/server/tests/bank`). In the end the product goes on in this process, by a clock that
//! runs ahead: what only time proves is proved. Then the charges, the ledger and the bank's books are compared.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::clients::{Caller, ClientLog, Crowd, Finding};
use super::dice::Dice;
use super::{LIFE_MS, Options, verdict};
use crate::Outcome;
use crate::bank::Bank;
use crate::bank::books::{Face, Held};
use crate::bank::faults::{self, Plan};
use crate::bank::news::Notice;
use crate::bank::world::deliveries;
use crate::place::{Account, Inside};
use crate::service::Service;

/// How often the world goes on.
const LOOK_EVERY: Duration = Duration::from_millis(30);
/// How many payments something happens to meanwhile.
const LIVES_AT_ONCE: usize = 8;
/// Steps of the clock in the end: longer than any outcome is asked about.
const STEP: Duration = Duration::from_secs(6 * 60 * 60);
const STEPS_MAX: usize = 80;
/// Differences to print; the rest is counted.
const SHOWN_MAX: usize = 5;
/// The methods of those who pay by themselves: what one of the providers of each merchant has.
const PAYER_METHODS: &[&str] = &["pix", "boleto"];
/// Answers to the repetition of what had no final answer: what only time proves is under way still.
const ANSWERS: &[u16] = &[201, 409];
/// The providers of each merchant, in the order in which they are asked.
const ROUTES: [&[Face]; 5] = [
    &[Face::Stripe, Face::PagarmeV5],
    &[Face::PagarmeV5, Face::Adyen],
    &[Face::Adyen, Face::Stripe],
    &[Face::PagarmeV5, Face::Stripe, Face::Adyen],
    &[Face::PagarmeV5],
];

/// The address of the bank's notifications for each account.
type Addresses = Arc<HashMap<String, String>>;

pub(super) async fn kill(
    options: &Options,
    binary: &Path,
    name: &'static str,
    postgres: Option<&str>,
    seed: u64,
) -> Outcome {
    let started = Instant::now();
    // Behind the machine's until the end, when it shows the time of the product in this process.
    let clock = Clock::manual(Clock::system().deployment());
    let (machine, shown) = (Clock::system(), clock.clone());
    let bank = Bank::new(seed, Plan::Life, Arc::new(move || shown.deployment().max(machine.deployment())));
    let address = bank.listen().await;
    let at = |face: &str| format!("http://{address}/{face}");
    let (stripe, adyen, pagarme_v5) = (at("stripe"), at("adyen"), at("pagarme_v5"));
    let settings = [
        ("REGENTE_PROVIDERS__STRIPE_URL", stripe.as_str()),
        ("REGENTE_PROVIDERS__ADYEN_URL", adyen.as_str()),
        ("REGENTE_PROVIDERS__PAGARME_V5_URL", pagarme_v5.as_str()),
        ("REGENTE_CHARGES__RECONCILE_GRACE_MS", "300"),
    ];
    let (mut service, mut accounts) = Service::start_fresh(binary, postgres, &settings, 1).await?;
    let account = accounts.pop().ok_or("no account was made")?;
    let (merchants, addresses) = merchants(&service, &account).await?;
    let mut dice = Dice::new(seed);
    let client_log = Arc::new(ClientLog::default());
    for round in 1..=options.rounds {
        let caller = Caller::of(&service, &account, merchants.clone(), PAYER_METHODS, Vec::new());
        let crowd = Crowd::begin(caller, options.clients, &mut dice, &client_log);
        let (stop, is_stopped) = watch::channel(false);
        let life = Duration::from_millis(dice.within(LIFE_MS));
        let drawn = faults::Dice(dice.next());
        tokio::join!(
            async {
                tokio::time::sleep(life).await;
                let _ = stop.send(true);
            },
            go_on(&bank, &service.url, &addresses, drawn, is_stopped)
        );
        service.kill()?;
        crowd.end().await?;
        service.start_again()?;
        if round % 10 == 0 || round == options.rounds {
            println!("{name}: killed {round} of {} times, {}", options.rounds, client_log.count());
        }
    }
    bank.finish();
    let caller = Caller::of(&service, &account, merchants, PAYER_METHODS, Vec::new());
    client_log.repeat_the_rest(&caller, ANSWERS).await?;
    let charges = verdict::all_charges(async |path| caller.get(&path).await).await?;
    let broken = verdict::unkept_promises(&caller, &client_log, &charges, ANSWERS).await;
    if let Some(first) = broken.first() {
        return Err(Finding(format!("{} promises are not kept:\n{first}", broken.len())).into());
    }
    service.kill()?;
    clock.set(Clock::system().deployment());
    let inside = service.open(clock.clone()).await?;
    go_to_the_end(&inside, &bank, &addresses, &clock, &account).await?;
    let told = compare(&inside, &bank, &account).await;
    inside.close().await;
    let told = told?;
    println!(
        "{name}, real adapters, {} kills in {} s, seed {seed}\n{told}\n  faults met      {}",
        options.rounds,
        started.elapsed().as_secs(),
        met(&bank)
    );
    service.start_again()?;
    // Of what has never reached a provider that cannot be asked nobody ever tells.
    service.doctor_besides(&["unknown outcomes"])
}

/// Merchants, and where the bank notifies them.
async fn merchants(service: &Service, account: &Account) -> Outcome<(Vec<String>, Addresses)> {
    let (mut merchants, mut addresses) = (Vec::new(), HashMap::new());
    for (number, route) in ROUTES.iter().enumerate() {
        let providers = route.iter().zip(1..).map(|(face, priority)| provider(*face, priority, number));
        let (accounts, providers): (Vec<String>, Vec<Value>) = providers.unzip();
        let body = json!({ "mcc": "5812", "providers": providers });
        let made = service.post(account, "/v1/merchants", &body).await?;
        let ids = made["providers"].as_array().into_iter().flatten();
        let paths = ids.map(|made| format!("/providers/{}/notifications", text(&made["id"])));
        addresses.extend(accounts.into_iter().zip(paths));
        merchants.push(text(&made["id"]).to_owned());
    }
    Ok((merchants, Arc::new(addresses)))
}

/// The key of a provider's account, and the provider.
fn provider(face: Face, priority: u64, merchant: usize) -> (String, Value) {
    let key = format!("sk_test_{face:?}{merchant}");
    let credentials = match face {
        Face::Stripe => json!({ "type": "STRIPE", "secretKey": key, "webhookSecret": "whsec_test" }),
        Face::Adyen => json!({
            "type": "ADYEN", "apiKey": key, "liveUrlPrefix": "1797a841fbb37ca7-Shop", "merchantAccount": "Shop",
            "webhookHmacKey": "44".repeat(32),
        }),
        Face::PagarmeV5 => json!({
            "type": "PAGARME_V5", "secretKey": key, "webhookUser": "regente", "webhookPassword": "a secret",
        }),
    };
    (key, json!({ "name": format!("{face:?}"), "priority": priority, "credentials": credentials }))
}

/// Payers pay, banks take back, what was received is carried out, and notifications come as they like.
async fn go_on(
    bank: &Bank,
    url: &str,
    addresses: &Addresses,
    mut dice: faults::Dice,
    stop: watch::Receiver<bool>,
) {
    let http = Client::new();
    while !*stop.borrow() {
        for _ in 0..LIVES_AT_ONCE {
            bank.live();
        }
        bank.pass();
        if dice.one_in(2) {
            bank.work();
        }
        let mut left = Vec::new();
        let mut notices = bank.notices();
        if dice.one_in(2) {
            notices.reverse();
        }
        for notice in notices {
            // While clients are served there is no end of them.
            if *stop.borrow() {
                left.push(notice);
                continue;
            }
            let times = deliveries(&mut dice);
            let mut is_taken = false;
            for _ in 0..times {
                let (name, value) = notice.signed(Clock::system().deployment());
                let address = format!("{url}{}", addresses[&notice.account]);
                let sent = http.post(address).header(name, value).json(&notice.body).send().await;
                is_taken |= sent.is_ok_and(|answer| answer.status().is_success());
            }
            if !is_taken && (notice.is_needed || dice.one_in(2)) {
                left.push(notice);
            }
        }
        bank.send_again(left);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// No more faults: the bank tells everything, and time passes until nobody waits.
async fn go_to_the_end(
    inside: &Inside,
    bank: &Bank,
    addresses: &Addresses,
    clock: &Clock,
    account: &Account,
) -> Outcome {
    let mut quiet = 0;
    for _ in 0..STEPS_MAX {
        let has_done = bank.finish();
        let notices = bank.notices();
        for notice in &notices {
            arrive(inside, notice, addresses, clock.deployment()).await?;
        }
        inside.work_off(clock).await?;
        let page =
            inside.get(account, "/v1/charges?status=pending,capture_pending,refund_pending&limit=1").await?;
        let is_open = page["meta"]["totalItems"] != 0;
        // The last looks at what was denied come days later.
        quiet = if has_done || is_open || !notices.is_empty() { 0 } else { quiet + 1 };
        if quiet > 20 {
            return Ok(());
        }
        clock.advance(STEP);
    }
    Ok(())
}

async fn arrive(inside: &Inside, notice: &Notice, addresses: &Addresses, now: Timestamp) -> Outcome {
    let (name, value) = notice.signed(now);
    match inside.notify(&addresses[&notice.account], (name, &value), &notice.body).await? {
        200 => Ok(()),
        status => Err(format!("a notification is answered {status}: {:#}", notice.body).into()),
    }
}

/// Every charge, its entries and the bank's books say the same, and the bank has nothing else. No key has two charges. Of what
/// no provider has ever received, or shows, the operator has been told.
async fn compare(inside: &Inside, bank: &Bank, account: &Account) -> Outcome<String> {
    let get = async |path: String| inside.get(account, &path).await;
    let charges = verdict::all_charges(get).await?;
    let ledger = verdict::ledger(get).await?;
    let unknown = inside.given_up().await?;
    let mut keys = HashSet::new();
    let (mut differences, mut sum, mut by_status) =
        (Vec::new(), Held::default(), HashMap::<&str, usize>::new());
    for (id, charge) in &charges {
        let (status, amount) = (text(&charge["status"]), charge["amount"].as_i64().unwrap_or_default());
        *by_status.entry(status).or_default() += 1;
        if !keys.insert(text(&charge["orderId"])) {
            differences.push(format!("{} was charged twice", charge["orderId"]));
        }
        let held = bank.held(id);
        sum.reserved += held.reserved;
        sum.kept += held.kept;
        let in_bank = (held.reserved, held.kept);
        let here = match status {
            "authorized" => (0, amount),
            "pre_authorized" => (amount, 0),
            "charged_back" => in_bank,
            "voided" | "canceled" | "failed" => (0, 0),
            _ if unknown.contains(id) => in_bank,
            _ => (-1, -1),
        };
        let posted = ledger.get(id).copied().unwrap_or_default();
        // A charge back waits for the refund of which nobody knows: the operator has both to settle.
        let waits = unknown.contains(id) && status == "refund_pending" && held.lost > 0;
        let posted = if waits { in_bank } else { posted };
        if !held.is(here) || !held.is(posted) || held.holding > 1 || held.second > 0 {
            differences.push(format!(
                "{id} is {status} with {amount}, the ledger says (reserved, kept) {posted:?}, the bank {held:?}; its \
                 requests: {:#}\nthe bank: {}",
                charge["transactionRequests"],
                bank.shown(id)
            ));
        }
    }
    let all = bank.held_in_all();
    if (all.reserved, all.kept) != (sum.reserved, sum.kept) {
        differences.push(format!("the bank holds {all:?}, for charges that are there {sum:?}"));
    }
    if !differences.is_empty() {
        let shown = differences.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join("\n");
        return Err(Finding(format!("{} differences:\n{shown}", differences.len())).into());
    }
    let mut by_status: Vec<String> =
        by_status.into_iter().map(|(status, count)| format!("{count} {status}")).collect();
    by_status.sort();
    Ok(format!(
        "  charges         {} ({})\n  kept            {} here, in the ledger and in the bank\n  reserved        {}",
        charges.len(),
        by_status.join(", "),
        all.kept,
        all.reserved
    ))
}

fn met(bank: &Bank) -> String {
    let mut met: Vec<String> =
        bank.met().into_iter().map(|(fault, times)| format!("{times} {fault}")).collect();
    met.sort();
    met.join(", ")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
