//! Receivers of the platform's own provider, in an account whose clock is advanced while processes are killed: who charges and refunds for
//! them, and has them paid early. What they must have been paid in the end is judged in `paid`.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use regente_engine::clock::Clock;
use reqwest::Method;
use serde_json::{Value, json};

use super::clients::{CHARGES, Crowd, by_card};
use super::dice::Dice;
use super::requests::{self, Clients, Request, Requests};
use crate::Outcome;
use crate::place::payouts::WORKING_NUMBER;
use crate::place::sellers::{bank_account, cpf};
use crate::service::Service;

pub(super) const PREPAYMENT: &str = "/v1/subacquirer/prepayment";
/// Clients who charge, refund and have receivers paid early.
const CLIENTS: usize = 4;
/// Most charges of a run: all of their receivers are paid on the days of the account.
const CHARGES_MAX: usize = 400;
/// The numbers of the sellers' bank accounts, by which the bank pays, stays silent, refuses, answers late and gives back.
const NUMBERS: [&str; 5] = [WORKING_NUMBER, "4926", "4927", "4928", "4929"];
const AMOUNTS: std::ops::Range<u64> = 101..50_000;
/// What is given back of a charge in parts.
const PARTS: std::ops::Range<u64> = 1..300;
/// Clients who commit something take one of the latest offers, so that two of them often take the same one.
const LATEST_OFFERS: usize = 3;
/// Mostly the latest charges are refunded: the older ones have been.
const LATEST_CHARGES: usize = 60;
/// More than the last installment and a transfer that comes back take: 90 days, the business days after them, some more tries.
const DAYS_AT_THE_END: i64 = 110;
/// What is prepared is a little behind the machine, so that nothing of it lies ahead when the service goes on.
const BEHIND: Duration = Duration::from_secs(60);

/// The account, its sellers, and what its clients were answered.
pub(super) struct Receivers {
    pub(super) requests: Requests,
    sellers: Vec<String>,
    known: Mutex<Known>,
}

/// What the clients know.
#[derive(Clone, Default)]
pub(super) struct Known {
    pub(super) charges: Vec<String>,
    pub(super) offers: Vec<String>,
    /// The offers whose commit was acknowledged.
    pub(super) committed: HashSet<String>,
}

impl Receivers {
    /// Makes the account and its sellers in this process, while the service is down.
    pub(super) async fn prepare(service: &mut Service) -> Outcome<Arc<Self>> {
        service.kill()?;
        let clock = Clock::manual(Clock::system().deployment() - BEHIND);
        let inside = service.open(clock.clone()).await?;
        let shop = inside.make_shop("Receivers".to_owned(), &NUMBERS).await?;
        inside.enable_prepayment(&shop.account).await?;
        // The own provider takes the sellers.
        inside.work_off(&clock).await?;
        for seller in &shop.sellers {
            let seller = inside.get(&shop.account, &format!("/v1/sellers/{seller}")).await?;
            if seller["status"] != "active" {
                return Err(format!("the own provider did not take a seller: {seller}").into());
            }
        }
        inside.close().await;
        service.start_again()?;
        let requests = Requests::of(shop.account);
        Ok(Arc::new(Self { requests, sellers: shop.sellers, known: Mutex::default() }))
    }

    /// Lets clients and the clock join a crowd, until the service is gone.
    pub(super) fn join(self: &Arc<Self>, crowd: &mut Crowd, service: &Service, dice: &mut Dice) {
        requests::join(self, CLIENTS, crowd, service, dice);
    }

    /// Corrects the bank accounts to which nothing can be paid, and advances the clock until everything is due and paid. Nothing may be
    /// unknown any more.
    pub(super) async fn settle(&self, service: &Service) -> Outcome {
        let is_wrong = |number: &str| number.ends_with(['7', '9']);
        let wrong = (0..).zip(&self.sellers).zip(NUMBERS).filter(|(_, number)| is_wrong(number));
        let corrected = wrong.map(|((person, seller), _)| Request {
            method: Method::PATCH,
            ..Request::post(
                format!("/v1/sellers/{seller}"),
                json!({ "bankAccount": bank_account(&cpf(person), WORKING_NUMBER) }),
            )
        });
        self.requests.add(corrected);
        let clock = requests::advance_to_the_end(self, service, DAYS_AT_THE_END).await?;
        self.requests.check_clock(&clock)
    }

    /// What the clients know by now.
    pub(super) fn known(&self) -> Known {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn charge(&self, dice: &mut Dice) -> Request {
        // By card alone: what a payer pays by themselves is looked at every few seconds while it waits, by the settings of the loop, and an
        // advance of a day would do nothing else.
        let (mut method, source) = by_card(dice);
        method["installments"] = json!(dice.pick(&[1, 1, 2, 3]));
        let mut body = json!({
            "merchantId": self.requests.account.merchant_id, "amount": dice.price(AMOUNTS), "capture": true,
            "paymentMethod": method, "paymentSource": source,
        });
        let place = dice.place(self.sellers.len());
        let (one, other) = (&self.sellers[place], &self.sellers[(place + 1) % self.sellers.len()]);
        match dice.within(0..4) {
            0 => {}
            1 => body["splitRules"] = json!([{ "sellerId": one, "percentage": 100 }]),
            _ => {
                body["splitRules"] =
                    json!([{ "sellerId": one, "percentage": 33 }, { "sellerId": other, "percentage": 20 }]);
            }
        }
        Request { reference: Some("orderId"), ..Request::post(CHARGES.to_owned(), body) }
    }

    /// An offer for one of the sellers, or for the account itself.
    fn simulation(&self, dice: &mut Dice) -> Request {
        let mut body = json!({ "endDate": "2099-12-31" });
        if !dice.one_in(4) {
            body["sellerId"] = json!(dice.pick(&self.sellers));
        }
        Request::post(PREPAYMENT.to_owned(), body)
    }
}

/// Mostly two clients send the same request under the same key; now and then each has a key of its own.
fn commit(offer: &str, dice: &mut Dice) -> Request {
    let request = Request::post(format!("{PREPAYMENT}/{offer}/commit"), json!({}));
    match dice.one_in(3) {
        true => request,
        false => Request { key: format!("commit {offer}"), ..request },
    }
}

fn refund(charge: &str, dice: &mut Dice) -> Request {
    let body = if dice.one_in(2) { json!({}) } else { json!({ "amount": dice.within(PARTS) }) };
    Request::post(format!("/v1/charges/{charge}/void"), body)
}

/// One of the last so many.
fn one_of_latest(known: &[String], how_many: usize, dice: &mut Dice) -> Option<String> {
    let first = known.len().saturating_sub(how_many);
    known.get(first + dice.place(known.len() - first)).cloned()
}

impl Clients for Receivers {
    fn requests(&self) -> &Requests {
        &self.requests
    }

    fn invent(&self, dice: &mut Dice) -> Request {
        let known = self.lock();
        let charge = one_of_latest(&known.charges, LATEST_CHARGES, dice);
        let offer = one_of_latest(&known.offers, LATEST_OFFERS, dice);
        let is_full = known.charges.len() >= CHARGES_MAX;
        drop(known);
        match (dice.within(0..20), charge, offer) {
            (0..=4, Some(charge), _) => refund(&charge, dice),
            (5..=8, _, Some(offer)) => commit(&offer, dice),
            (9..=11, Some(_), _) => self.simulation(dice),
            (_, Some(charge), _) if is_full => refund(&charge, dice),
            (_, _, _) => self.charge(dice),
        }
    }

    fn accepted(&self, request: &Request, body: &Value) {
        let id = || body["id"].as_str().unwrap_or_default().to_owned();
        if request.path == CHARGES && body["status"] != "failed" {
            self.lock().charges.push(id());
        } else if request.path == PREPAYMENT {
            self.lock().offers.push(id());
        } else if request.path.ends_with("/commit") {
            self.lock().committed.insert(id());
        }
    }

    fn may_refuse(&self, request: &Request, status: u16) -> bool {
        match status {
            // Not allowed in this state, or something else of the charge is under way.
            400 | 409 if request.path.ends_with("/void") => true,
            // Nothing can be paid early, or not any more, or another client commits it.
            404 | 409 | 422 => request.path.starts_with(PREPAYMENT),
            _ => false,
        }
    }
}
