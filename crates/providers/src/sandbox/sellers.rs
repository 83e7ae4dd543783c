//! The simulator registers sellers. The names and the number of the bank account decide what becomes of one
//! (`docs/interface/sandbox.md#sellers`); its log holds nothing of the person or of the account.

use std::time::Duration;

use regente_domain::seller::data::SellerData;
use regente_domain::seller::document::{DocumentKind, FileFormat};
use regente_domain::seller::review::fields::{BY_DEFAULT, Field};
use regente_domain::seller::review::{Demand, Rejection, Verdict};
use regente_domain::seller::{LinkStatus, Standing};
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::delivery::{Delivery, Lost, received};
use super::draws::Draws;
use super::faults::{Occasion, Options, Then};
use super::transaction_log::{SellerEntry, TransactionLogError};
use super::{Notified, Plans, Recipient, Sandbox, SigningKey, spoil};
use crate::notification::EventKind;
use crate::outcome::UnknownReason;
use crate::seller::{SellerAnswer, SellerAsks, SellerCall};
use crate::staged::StageRefusal;

/// How long the check of a seller takes that is accepted later.
const CHECK_TAKES: Duration = Duration::from_secs(60 * 60);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long such a review is open.
const REVIEW_OPEN_FOR: Duration = DAY.saturating_mul(30);
/// How much further time an answer gets that is refused with some.
const FURTHER_TIME: Duration = DAY.saturating_mul(7);

/// The texts of an answer with what becomes of it; any other is accepted at once.
const ANSWERS: [(&str, TestVerdict); 3] = [
    ("REFUSED", TestVerdict::Refused),
    ("REFUSED ONCE", TestVerdict::RefusedWithTime),
    ("CHECKED", TestVerdict::AcceptedLater),
];

/// What becomes of an answer to a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestVerdict {
    /// It is accepted at once.
    Accepted,
    /// It is accepted an hour later.
    AcceptedLater,
    /// It is refused.
    Refused,
    /// It is refused, and the seller gets a week for another.
    RefusedWithTime,
}

impl TestVerdict {
    fn of(values: &Map<String, Value>) -> Self {
        let texts = values.values().filter_map(Value::as_str);
        let mut known = texts.filter_map(|text| ANSWERS.iter().find(|(known, _)| *known == text));
        known.next().map_or(Self::Accepted, |(_, verdict)| *verdict)
    }

    fn at(self, field: &str, submitted_at: Timestamp, at: Timestamp) -> Verdict {
        let refused = |deadline_at| Verdict::Refused {
            rejections: vec![Rejection {
                field: field.to_owned(),
                message: "could not be confirmed".to_owned(),
                is_free_of_answers: false,
            }],
            deadline_at,
        };
        match self {
            Self::Accepted => Verdict::Accepted,
            Self::AcceptedLater if at.since(submitted_at) < CHECK_TAKES => Verdict::Pending,
            Self::AcceptedLater => Verdict::Accepted,
            Self::Refused => refused(None),
            Self::RefusedWithTime => refused(Some(submitted_at + FURTHER_TIME)),
        }
    }
}

/// Whoever has this in its name is refused, whatever its account.
const REFUSED_NAME: &str = "REJECT";

/// The account numbers with what becomes of their sellers; any other is accepted at once.
const ACCOUNTS: [(&str, TestSeller); 4] = [
    ("1000001", TestSeller::Checked),
    ("1000002", TestSeller::AcceptedLater),
    ("1000003", TestSeller::Refused),
    ("1000004", TestSeller::Blocked),
];

/// What becomes of a seller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestSeller {
    /// It is accepted at once.
    Accepted,
    /// It is checked until somebody stages the result.
    Checked,
    /// It is accepted an hour later.
    AcceptedLater,
    /// It is refused.
    Refused,
    /// It is blocked.
    Blocked,
}

/// A question to the simulator about a seller, with the parts that it uses.
#[derive(Debug)]
pub struct SellerQuestion {
    /// Our key of the registration.
    pub key: Uuid,
    /// When it is asked, by the caller's clock.
    pub at: Timestamp,
    /// `providers[].options`, as registered.
    pub options: Map<String, Value>,
    /// Whom to notify when the seller's standing changes later.
    pub notify: Option<Recipient>,
    /// What is asked.
    pub asks: SimulatedAsks,
}

/// What the simulator is asked about a seller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum SimulatedAsks {
    /// To register it.
    Register {
        /// What becomes of it.
        seller: TestSeller,
    },
    /// To take over its data.
    Update {
        /// What becomes of it.
        seller: TestSeller,
    },
    /// To take over a file. The simulator is not given its content.
    File {
        /// What it shows.
        kind: DocumentKind,
        /// Its format.
        format: FileFormat,
        /// How large it is.
        bytes: u64,
    },
    /// To judge an answer. The simulator is not given the answer itself.
    Review {
        /// What becomes of it.
        verdict: TestVerdict,
        /// The field that a refusal names: the first one that was asked for.
        field: String,
        /// When it was given.
        submitted_at: Timestamp,
    },
    /// How it stands.
    Status,
}

/// The simulator's answer about a seller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SimulatedAnswer {
    /// How it stands.
    Stands(Standing),
    /// What it says about an answer.
    Reviewed(Verdict),
    /// There is no such seller.
    Unknown,
    /// There is no answer to the question.
    Unanswered,
}

impl Lost for SimulatedAnswer {
    fn lost(_: UnknownReason) -> Self {
        Self::Unanswered
    }
}

impl From<SimulatedAnswer> for SellerAnswer {
    fn from(answer: SimulatedAnswer) -> Self {
        match answer {
            SimulatedAnswer::Stands(standing) => Self::Stands(standing),
            SimulatedAnswer::Reviewed(verdict) => Self::Reviewed(verdict),
            SimulatedAnswer::Unknown => Self::Unknown,
            SimulatedAnswer::Unanswered => Self::Unanswered,
        }
    }
}

impl From<SellerCall> for SellerQuestion {
    fn from(call: SellerCall) -> Self {
        let notify = call.notify.as_ref().and_then(|address| {
            let signing_key = SigningKey::of(&call.credentials)?;
            Some(Recipient { url: address.to_string(), object_id: call.seller_id, signing_key })
        });
        let asks = match &call.asks {
            SellerAsks::Register(data) => SimulatedAsks::Register { seller: TestSeller::of(data) },
            SellerAsks::Update(data) => SimulatedAsks::Update { seller: TestSeller::of(data) },
            SellerAsks::File(file) => SimulatedAsks::File {
                kind: file.kind,
                format: file.format,
                bytes: u64::try_from(file.bytes.len()).unwrap_or(u64::MAX),
            },
            SellerAsks::Review(answer) => SimulatedAsks::Review {
                verdict: TestVerdict::of(&answer.values),
                field: answer.asked.first().cloned().unwrap_or_default(),
                submitted_at: answer.submitted_at,
            },
            SellerAsks::Status => SimulatedAsks::Status,
        };
        Self { key: call.key, at: call.at, options: call.options, notify, asks }
    }
}

impl TestSeller {
    fn of(data: &SellerData) -> Self {
        let business = data.business.as_ref().map(|business| business.name.as_str());
        if business.into_iter().chain([data.owner.name.as_str()]).any(|name| name.contains(REFUSED_NAME)) {
            return Self::Refused;
        }
        let number = data.bank_account.account_number.as_str();
        ACCOUNTS.iter().find(|(known, _)| *known == number).map_or(Self::Accepted, |(_, seller)| *seller)
    }
}

/// What the simulator knows of a seller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownSeller {
    seller: TestSeller,
    /// Since when it has been what it is.
    since: Timestamp,
    /// When it was registered; absent where `since` tells.
    #[serde(default)]
    registered_at: Option<Timestamp>,
    /// What was staged, and when.
    staged: Option<(LinkStatus, Timestamp)>,
    /// When a review was staged.
    #[serde(default)]
    asked_at: Option<Timestamp>,
    /// When it was staged that the simulator asks no more for what it has asked.
    #[serde(default)]
    withdrawn_at: Option<Timestamp>,
}

/// What is staged of a seller.
#[derive(Clone, Copy, Debug)]
pub(super) enum Decided {
    /// Where it stands.
    Standing(LinkStatus),
    /// A review.
    Asks,
    /// That it is asked no more.
    AsksNoMore,
}

impl KnownSeller {
    fn new(seller: TestSeller, since: Timestamp) -> Self {
        Self { seller, since, registered_at: None, staged: None, asked_at: None, withdrawn_at: None }
    }

    /// The seller with other data.
    fn again(self, seller: TestSeller, since: Timestamp) -> Self {
        Self { seller, since, registered_at: Some(self.registered_at()), staged: None, ..self }
    }

    fn registered_at(&self) -> Timestamp {
        self.registered_at.unwrap_or(self.since)
    }

    /// The review that the simulator asks for by then: the later of the staged one and the one by the option of the provider.
    fn demand(&self, key: Uuid, options: &Map<String, Value>, at: Timestamp) -> Option<Demand> {
        let begun = [self.asked_at.map(|begun| (begun, begun.as_millis())), self.by_schedule(options, at)];
        let is_asked = |begun: Timestamp| {
            self.withdrawn_at.is_none_or(|withdrawn| withdrawn < begun) && begun + REVIEW_OPEN_FOR > at
        };
        let (begun, name) = begun.into_iter().flatten().filter(|(begun, _)| is_asked(*begun)).max()?;
        Some(Demand {
            key: Uuid::new_v5(&key, &name.to_be_bytes()),
            reason: Some("periodic_update".to_owned()),
            fields: BY_DEFAULT.map(|name| Field { name: name.to_owned(), required: true }).to_vec(),
            deadline_at: begun + REVIEW_OPEN_FOR,
        })
    }

    /// When the last review by the option was due, and which it is.
    fn by_schedule(&self, options: &Map<String, Value>, at: Timestamp) -> Option<(Timestamp, i64)> {
        let every = DAY.saturating_mul(Options::parse(options, "options").ok()?.review_every_days?);
        let registered_at = self.registered_at();
        let round = u32::try_from(at.since(registered_at).as_millis() / every.as_millis())
            .ok()
            .filter(|round| *round > 0)?;
        Some((registered_at + every.saturating_mul(round), i64::from(round)))
    }

    pub(super) fn standing(&self, key: Uuid, at: Timestamp) -> Standing {
        let (status, reason) = match (&self.staged, self.seller) {
            (Some((status, _)), _) => (*status, Some("staged".to_owned())),
            (None, TestSeller::Accepted) => (LinkStatus::Active, Some("ok".to_owned())),
            (None, TestSeller::Checked) => (LinkStatus::Pending, Some("under review".to_owned())),
            (None, TestSeller::AcceptedLater) if at.since(self.since) < CHECK_TAKES => {
                (LinkStatus::Pending, Some("under review".to_owned()))
            }
            (None, TestSeller::AcceptedLater) => (LinkStatus::Active, Some("ok".to_owned())),
            (None, TestSeller::Refused) => (LinkStatus::Inactive, Some("refused".to_owned())),
            (None, TestSeller::Blocked) => (LinkStatus::Blocked, Some("blocked".to_owned())),
        };
        let external_status = match status {
            LinkStatus::Pending => "registration",
            LinkStatus::Active => "active",
            LinkStatus::Inactive => "refused",
            LinkStatus::Blocked => "blocked",
        };
        Standing {
            external_id: Some(recipient_of(key)),
            external_status: external_status.to_owned(),
            external_status_reason: reason,
            status,
            demand: None,
            withdrawn_at: self.withdrawn_at,
        }
    }
}

/// The simulator's id of a seller.
pub(super) fn recipient_of(registration: Uuid) -> String {
    format!("sandbox_seller_{}", registration.simple())
}

impl Sandbox {
    /// Answers a question about a seller and returns how the answer is delivered.
    pub async fn answer_about_seller(&self, question: &SellerQuestion) -> Delivery<SimulatedAnswer> {
        let plans = Plans::read(&question.options, None).unwrap_or_default();
        let draws = Draws::new(&self.seed, None, question.key);
        match self.fault(&plans, &Occasion::seller(question.key), &draws) {
            // A seller is refused by its own data only.
            Some(Then::Decline(_)) | None => Box::pin(self.look_up_seller(question)).await,
            fault => spoil(fault, || Box::pin(self.look_up_seller(question))).await,
        }
    }

    async fn look_up_seller(&self, question: &SellerQuestion) -> Delivery<SimulatedAnswer> {
        let SellerQuestion { key, at, ref asks, .. } = *question;
        let log = self.transaction_log();
        let found = match *asks {
            SimulatedAsks::Register { seller } => {
                log.register_seller(SellerEntry { key, known: KnownSeller::new(seller, at) }).await.map(Some)
            }
            SimulatedAsks::Update { seller } => match log.seller(key).await {
                Ok(Some(entry)) if entry.known.seller != seller => log
                    .change_seller(SellerEntry { key, known: entry.known.again(seller, at) })
                    .await
                    .map(Some),
                found => found,
            },
            SimulatedAsks::File { .. } | SimulatedAsks::Review { .. } | SimulatedAsks::Status => {
                log.seller(key).await
            }
        };
        if let Some(recipient) = question.notify.clone() {
            self.recipients.remember(key, Notified::without_faults(recipient));
        }
        match found {
            Ok(Some(entry)) => Delivery::Whole(match asks {
                SimulatedAsks::Review { verdict, field, submitted_at } => {
                    SimulatedAnswer::Reviewed(verdict.at(field, *submitted_at, at))
                }
                SimulatedAsks::Register { .. }
                | SimulatedAsks::Update { .. }
                | SimulatedAsks::File { .. }
                | SimulatedAsks::Status => SimulatedAnswer::Stands(Standing {
                    demand: entry.known.demand(key, &question.options, at).map(Box::new),
                    ..entry.known.standing(key, at)
                }),
            }),
            Ok(None) => Delivery::Whole(SimulatedAnswer::Unknown),
            Err(error) => seller_log_failed(&error),
        }
    }

    /// The provider decides about a seller, and notifies whoever registered it.
    pub(super) async fn decide_about_seller(
        &self,
        key: Uuid,
        at: Timestamp,
        decided: Decided,
    ) -> Result<(), StageRefusal> {
        let log = self.transaction_log();
        let found = log.seller(key).await.map_err(|_| StageRefusal::Unanswered)?;
        let SellerEntry { known, .. } = found.ok_or(StageRefusal::NothingWaits)?;
        let known = match decided {
            Decided::Standing(status) => KnownSeller { staged: Some((status, at)), ..known },
            Decided::Asks => KnownSeller { asked_at: Some(at), ..known },
            Decided::AsksNoMore => KnownSeller { withdrawn_at: Some(at), ..known },
        };
        let entry = log.change_seller(SellerEntry { key, known }).await;
        let standing = entry.map_err(|_| StageRefusal::Unanswered)?.known.standing(key, at);
        if let Some(Notified { recipient, plans }) = self.recipients.of(key) {
            self.notify(&recipient, &plans, key, at, EventKind::Seller(standing));
        }
        Ok(())
    }

    /// How an adapter in this process asks.
    pub(super) async fn seller_received(&self, question: &SellerQuestion) -> SellerAnswer {
        received(self.answer_about_seller(question).await).await.into()
    }
}

fn seller_log_failed(error: &TransactionLogError) -> Delivery<SimulatedAnswer> {
    tracing::error!(%error, "the simulator cannot use its log of sellers");
    Delivery::ServerError
}
