//! The answers to commands of operators as serializable values.

use std::path::PathBuf;

use regente_domain::id::{ClientId, DeliveryId, Id, TransactionRequestId, WebhookId, of};
use regente_domain::time::Timestamp;
use regente_engine::deliveries::listeners::ListenedEvent;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::backup::{BackedUp, Restored};
use super::clients::{ClientRow, KeyRow};
use super::clock::ClockRow;
use super::customers::ErasedPerson;
use super::doctor::Report;
use super::flow_replay::FlowReplayPart;
use super::flows::FlowsAnswer;
use super::ledger::{LedgerReport, Statement};
use super::members::MembersAnswer;
use super::moving::DatabaseMoved;
use super::payouts::PayoutsAnswer;
use super::plans::PlansAnswer;
use super::prepayments::PrepaymentRow;
use super::reports::ReportPart;
use super::settlement::SettlementAnswer;
use super::unknowns::UnknownRow;
use crate::api::charges::explanation::ExplanationView;
use crate::api::rates::RateListView;

/// The answer to a command. It may hold a new key, so it has no `Debug`.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// A client was made.
    Client(ClientRow),
    /// The settings of a client were changed.
    ClientSet(ClientRow),
    /// The clients, oldest first.
    Clients {
        /// One row for each.
        clients: Vec<ClientRow>,
    },
    /// A new secret key; it cannot be shown again.
    Key {
        /// The key's public id.
        key_id: Id<of::Credential>,
        /// The key.
        key: String,
    },
    /// The secret keys of a client, oldest first.
    Keys {
        /// One row for each.
        keys: Vec<KeyRow>,
    },
    /// A secret key was ended.
    Revoked {
        /// Which.
        key_id: Id<of::Credential>,
    },
    /// There is a new data key.
    Rotated {
        /// Its id.
        data_key_id: Uuid,
    },
    /// The data keys are under another key-encryption key.
    Rewrapped {
        /// How many they were.
        data_keys: usize,
        /// The file of the key-encryption key that opens them now.
        kek_file: PathBuf,
    },
    /// The explanation of a charge.
    Explained(Box<ExplanationView>),
    /// The requests whose outcome is unknown, oldest first.
    Unknowns {
        /// One row for each.
        unknowns: Vec<UnknownRow>,
        /// Whether there are more than a list shows.
        more: bool,
    },
    /// The provider is probed again for a request that was given up.
    Resumed {
        /// Which.
        request_id: TransactionRequestId,
    },
    /// The ledgers were checked.
    LedgerVerified(LedgerReport),
    /// The statement of an account of the books.
    LedgerStatement(Statement),
    /// A part of a replay.
    FlowReplayPart(Box<FlowReplayPart>),
    /// Rates of approval.
    Rates(RateListView),
    /// A person was erased.
    CustomerErased(ErasedPerson),
    /// What works with a provider.
    ProviderChecked(Report),
    /// The clock of an account.
    Clock(ClockRow),
    /// The answer about a flow.
    Flows(FlowsAnswer),
    /// The answer about sales plans.
    Plans(PlansAnswer),
    /// The key of a webhook is being replaced.
    WebhookKeyRotated(WebhookKeys),
    /// The keys of a webhook.
    WebhookKeys(WebhookKeys),
    /// The number of deliveries in a range.
    ReplayCounted {
        /// How many.
        deliveries: u64,
    },
    /// Deliveries of a range are sent again.
    Replayed {
        /// How many.
        replayed: u64,
        /// How many were not replayed because an attempt is under way.
        under_way: u64,
        /// The last delivery that was looked at; `None` at the end of the range.
        last: Option<DeliveryId>,
    },
    /// A listener was added.
    Listening {
        /// Whose events.
        client_id: ClientId,
        /// The listener's id.
        listener_id: WebhookId,
        /// The event it listens to.
        event: String,
        /// The key that verifies signatures, in PEM.
        public_key: String,
    },
    /// Events, oldest first.
    Heard {
        /// Empty when nothing happened while the command waited.
        events: Vec<ListenedEvent>,
    },
    /// A listener was removed.
    ListeningEnded {
        /// Its id.
        listener_id: WebhookId,
    },
    /// The answer about a settlement file.
    Settlement {
        /// What was found or done.
        settlement: SettlementAnswer,
    },
    /// The answer about payouts.
    Payouts(PayoutsAnswer),
    /// The members of an account, or what was done about one.
    Members(MembersAnswer),
    /// How the prepayment of an account stands.
    Prepayment(PrepaymentRow),
    /// A part of a report.
    ReportPart(ReportPart),
    /// Where the API is served.
    Address {
        /// `http://` or `https://`, address and port.
        url: String,
    },
    /// The report of an examination.
    Doctor(Report),
    /// A backup was written.
    BackedUp(BackedUp),
    /// A backup was restored.
    Restored(Restored),
    /// The database was moved.
    Moved(DatabaseMoved),
}

/// The public keys of a webhook.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WebhookKeys {
    /// Whose keys.
    pub webhook_id: WebhookId,
    /// The key in force, in PEM.
    pub public_key: String,
    /// The key that will replace it.
    pub next: Option<NextWebhookKey>,
}

/// The key that replaces another one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NextWebhookKey {
    /// In PEM.
    pub public_key: String,
    /// Until then both keys sign.
    pub signs_alone_from: Timestamp,
}
