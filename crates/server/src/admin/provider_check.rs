//! Checks a registered provider: whether it knows the credentials, takes a payment, gives it back, and notifies. Only a
//! sandbox is sent a payment.

use std::collections::HashSet;
use std::time::Duration;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::authentication::LiabilityShift;
use regente_domain::charge::{CardSource, Credit, PaymentMethod};
use regente_domain::country::Country;
use regente_domain::currency::Currency;
use regente_domain::customer::Document;
use regente_domain::id::{ClientId, Id, ProviderId};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::time::Timestamp;
use regente_engine::notifications::stored::events_of;
use regente_engine::providers::{notification_address, open_credentials};
use regente_providers::notification::{EventSubject, ProviderEvent};
use regente_providers::outcome::{Answer, Approval};
use regente_providers::provider::{CredentialsCheck, NotRefused};
use regente_providers::request::{
    Authorization, Call, Credentials, FollowUp, Held, Instrument, Mode, Operation, PayerDetails,
};
use regente_store::provider_notifications::{self, State};
use regente_store::providers::{self, Provider};
use regente_store::{Batch, Commit};
use uuid::Uuid;

use super::doctor::{Check, Report, Verdict, check as found};
use super::error::CommandError;
use crate::app::App;

/// How many notifications of the time of a check are looked through for its own.
const NOTIFICATIONS_MAX: i64 = 1000;
/// How often the database is asked whether a notification has come.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// What is authorized, in minor units.
const AMOUNT: i64 = 100;

pub(super) async fn check(
    app: &App,
    provider_id: ProviderId,
    wait_max: Duration,
) -> Result<Report, CommandError> {
    let unknown = || CommandError::Argument(format!("there is no provider {provider_id}"));
    let client_id = providers::client_of(&app.store, provider_id).await?.ok_or_else(unknown)?;
    let provider = providers::find_live(&app.store, client_id, provider_id).await?.ok_or_else(unknown)?;
    let mut checks = vec![adapter(app, &provider)];
    if checks[0].verdict == Verdict::Ok {
        checks.push(credentials(app, &provider).await?);
    }
    if checks.iter().all(|check| check.verdict == Verdict::Ok) {
        checks.extend(payment(app, &provider, wait_max).await?);
    }
    Ok(Report { checks })
}

fn adapter(app: &App, provider: &Provider) -> Check {
    const NAME: &str = "adapter";
    let code = provider.provider_type.code();
    match app.providers.has_adapter(provider.provider_type) {
        true => found(NAME, Verdict::Ok, format!("this release talks to {code}")),
        false => found(NAME, Verdict::Failure, format!("this release has no adapter for {code}")),
    }
}

async fn credentials(app: &App, provider: &Provider) -> Result<Check, CommandError> {
    const NAME: &str = "credentials";
    let check = CredentialsCheck {
        credentials: Credentials::new(open_credentials(app, provider).await?),
        options: provider.options.clone().unwrap_or_default(),
        mode: app.settings.mode,
    };
    Ok(match app.providers.check_credentials(provider.provider_type, check).await {
        Ok(NotRefused::Accepted) => found(NAME, Verdict::Ok, "the provider does not refuse them"),
        Ok(NotRefused::NotAsked) => found(NAME, Verdict::Ok, "this provider is not asked about them"),
        Ok(NotRefused::NotReached) => {
            found(NAME, Verdict::Failure, "the provider was not reached: nothing is known of them")
        }
        Ok(NotRefused::NotTold) => {
            found(NAME, Verdict::Failure, "the provider is not able to answer now: nothing is known of them")
        }
        Err(refusal) => found(NAME, Verdict::Failure, format!("{} {}", refusal.member, refusal.problem)),
    })
}

/// Authorizes a test card, gives the money back, and waits for what the provider notifies.
async fn payment(app: &App, provider: &Provider, wait_max: Duration) -> Result<Vec<Check>, CommandError> {
    const NAME: &str = "authorization";
    match app.settings.mode {
        Mode::Sandbox => {}
        Mode::Production => {
            let why = "production is sent no test payment";
            return Ok(vec![found(NAME, Verdict::Ok, why), address(app, provider)]);
        }
    }
    let Some(card) = app.providers.test_card(provider.provider_type) else {
        let why = "no test card of this provider is known";
        return Ok(vec![found(NAME, Verdict::Warning, why), address(app, provider)]);
    };
    let since = app.clock.of(provider.client_id);
    let amount = Amount::new(AMOUNT).unwrap_or(Amount::ZERO);
    let reference = Reference { key: app.chance.uuid(), object_id: app.chance.uuid() };
    let authorization = Authorization {
        amount,
        currency: Currency::BRL,
        capture: CaptureMode::Manual,
        method: PaymentMethod::Credit(Credit {
            // The card is no stored one; its data is in the instrument.
            source: CardSource::Card { card_id: Id::new(reference.object_id) },
            installments: 1,
            recurrence: None,
        }),
        network_transaction_id: None,
        instrument: Instrument::Card(card),
        buyer: Some(Box::new(somebody())),
        statement_descriptor: None,
        order_id: None,
        description: Some("Check of the connection".to_owned()),
        provider_reference_key: None,
        merchant_mcc: None,
        vendor: None,
        proof: None,
        liability_shift: LiabilityShift::NotRequired,
        division: None,
    };
    let answer = call(app, provider, reference, Operation::Authorize(authorization)).await?;
    let approval = match answer {
        Answer::Approved(approval) => approval,
        answer @ (Answer::Declined(_)
        | Answer::Accepted(_)
        | Answer::Pending(_)
        | Answer::NotSent
        | Answer::Unknown(_)) => {
            return Ok(vec![found(NAME, Verdict::Failure, told(&answer)), address(app, provider)]);
        }
    };
    let transaction_id = approval.transaction_id.clone();
    let id = transaction_id.as_deref().unwrap_or("without an id");
    let mut checks = vec![found(NAME, Verdict::Ok, format!("approved: {id}"))];
    let payment =
        CheckPayment { object_id: reference.object_id, transaction_id: transaction_id.clone(), since };
    let void = Operation::Void(FollowUp {
        authorization_key: reference.key,
        transaction_id,
        payment_type: PaymentType::Credit,
        amount,
        currency: Currency::BRL,
        held: Held::Reserved(amount),
        delay_to_compose: None,
        division: None,
    });
    let answer = call(app, provider, Reference { key: app.chance.uuid(), ..reference }, void).await?;
    let verdict = match answer {
        Answer::Approved(_) | Answer::Accepted(_) => Verdict::Ok,
        Answer::Declined(_) | Answer::Pending(_) | Answer::NotSent | Answer::Unknown(_) => Verdict::Failure,
    };
    checks.push(found("void", verdict, told(&answer)));
    checks.push(notification(app, provider, &payment, wait_max).await?);
    Ok(checks)
}

/// A buyer who does not exist: some providers take no payment without one.
fn somebody() -> PayerDetails {
    PayerDetails {
        name: "Maria Silva".to_owned(),
        email: Some("maria@example.com".to_owned()),
        phone_number: "5511999998888".to_owned(),
        document: Document { kind: "cpf".to_owned(), number: "52998224725".to_owned(), country: Country::BR },
        address: None,
    }
}

/// What names a call at the provider.
#[derive(Clone, Copy)]
struct Reference {
    key: Uuid,
    object_id: Uuid,
}

async fn call(
    app: &App,
    provider: &Provider,
    reference: Reference,
    operation: Operation,
) -> Result<Answer, CommandError> {
    let Reference { key, object_id } = reference;
    let at = app.clock.of(provider.client_id);
    let call = Call {
        key,
        object_id,
        notify: notification_address(app, provider),
        at,
        begun_at: at,
        provider_type: provider.provider_type,
        credentials: Credentials::new(open_credentials(app, provider).await?),
        options: provider.options.clone().unwrap_or_default(),
        mode: app.settings.mode,
        test_overrides: None,
        operation,
    };
    Ok(app.providers.call(call).await)
}

fn told(answer: &Answer) -> String {
    match answer {
        Answer::Approved(Approval { transaction_id, .. }) => {
            format!("done: {}", transaction_id.as_deref().unwrap_or("without an id"))
        }
        Answer::Accepted(_) => "accepted; the provider tells the result later".to_owned(),
        Answer::Declined(decline) => {
            let reason = decline.network_denied_reason.as_deref().unwrap_or(&decline.message);
            format!("declined: {} ({reason})", decline.message)
        }
        Answer::Pending(_) => "waits for a payer, which a card does not".to_owned(),
        Answer::NotSent => "the provider cannot be reached".to_owned(),
        Answer::Unknown(reason) => format!("no answer: {reason}"),
    }
}

/// Where the provider is to send its notifications.
fn address(app: &App, provider: &Provider) -> Check {
    const NAME: &str = "notification";
    match notification_address(app, provider) {
        Some(address) => found(NAME, Verdict::Ok, format!("enter this address at the provider: {address}")),
        None => found(NAME, Verdict::Warning, "`server.base_url` is not set: providers cannot notify"),
    }
}

/// Waits for a notification about the payment. It belongs to no charge, so its job is spared.
async fn notification(
    app: &App,
    provider: &Provider,
    payment: &CheckPayment,
    wait_max: Duration,
) -> Result<Check, CommandError> {
    const NAME: &str = "notification";
    let Some(address) = notification_address(app, provider) else { return Ok(self::address(app, provider)) };
    if !app.providers.notifies_of_answers(provider.provider_type) {
        let why =
            "none is waited for: this provider notifies of what happens later, not of what it has answered";
        return Ok(found(NAME, Verdict::Ok, why));
    }
    let mut waited = Duration::ZERO;
    let mut read = HashSet::new();
    loop {
        let (client_id, since) = (provider.client_id, payment.since);
        let arrived =
            provider_notifications::since(&app.store, client_id, provider.id, since, NOTIFICATIONS_MAX)
                .await?;
        for id in arrived {
            let is_new = read.insert(id);
            let stored = provider_notifications::find(&app.store, client_id, id).await?;
            let Some(stored) = stored.filter(|_| is_new) else { continue };
            if payment.is_subject_of(&events_of(app, &stored).await?.unwrap_or_default()) {
                spare(app, client_id, id).await?;
                let seconds = stored.received_at.since(since).as_secs();
                return Ok(found(NAME, Verdict::Ok, format!("one came after {seconds} s")));
            }
        }
        if waited >= wait_max {
            let seconds = wait_max.as_secs();
            let what = format!("none came within {seconds} s; the provider must send them to {address}");
            return Ok(found(NAME, Verdict::Warning, what));
        }
        tokio::time::sleep(LOOK_EVERY).await;
        waited += LOOK_EVERY;
    }
}

/// The payment of a check, as notifications name it.
struct CheckPayment {
    object_id: Uuid,
    transaction_id: Option<String>,
    since: Timestamp,
}

impl CheckPayment {
    fn is_subject_of(&self, events: &[ProviderEvent]) -> bool {
        events.iter().any(|event| match &event.about {
            EventSubject::Call { object_id, .. } => *object_id == self.object_id,
            EventSubject::Reference(id) => self.transaction_id.as_ref() == Some(id),
        })
    }
}

async fn spare(app: &App, client_id: ClientId, id: Uuid) -> Result<(), CommandError> {
    let mut batch = Batch::new(client_id);
    let why = Some("it is about a check of the provider");
    provider_notifications::settle(&mut batch, id, State::Applied, why, app.clock.of(client_id));
    match app.store.apply(batch).await? {
        // Its job may have settled it first.
        Commit::Applied | Commit::Refused(_) | Commit::Unknown => Ok(()),
    }
}
