//! Sellers: who receives a part of charges (`docs/interface/sellers.md`). A seller stands at each provider of its merchant
//! that splits payments; the status of the whole follows from these links. [`data`] is what is personal, [`document`] the files
//! that show who it is.

pub mod data;
pub mod document;
pub mod review;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::id::{ClientId, MerchantId, ProviderId, SellerId};
use crate::provider_type::ProviderType;
use crate::seller::review::Demand;
use crate::split::Bears;
use crate::time::Timestamp;
use crate::webhook::EventName;
use crate::words::words;

words! {
    /// Where a seller stands.
    SellerStatus {
        /// No provider has decided.
        Pending = "pending",
        /// Every provider takes it.
        Active = "active",
        /// Some providers take it.
        Partial = "partial",
        /// No provider takes it, or it was switched off.
        Inactive = "inactive",
        /// A provider has blocked it.
        Blocked = "blocked",
    }
}

words! {
    /// Where a seller stands at one provider.
    #[schema(as = SellerLinkStatus)]
    LinkStatus {
        /// Not registered yet, or the provider checks it.
        Pending = "pending",
        /// The provider takes it.
        Active = "active",
        /// The provider has refused it.
        Inactive = "inactive",
        /// The provider has blocked it.
        Blocked = "blocked",
    }
}

words! {
    /// The kind of a reason why the status of a seller was set by hand.
    #[schema(as = SellerReasonType)]
    ReasonType {
        /// Any reason.
        Other = "other",
        /// Its money.
        Funds = "funds",
    }
}

/// Whether a seller was switched off by hand. That wins over its providers until it is switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// Its providers decide.
    On,
    /// It takes part in nothing.
    Off,
}

/// Whether the own provider transfers to a seller what it is due (`transferPolicy.transferEnabled`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transfers {
    /// On its days.
    #[default]
    Made,
    /// It stays due until transfers are switched on.
    Held,
}

/// A seller at one provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// The provider.
    pub provider_id: ProviderId,
    /// Its type.
    pub provider_type: ProviderType,
    /// Our key of the registration: repeated under it, the provider registers one seller.
    pub key: Uuid,
    /// The seller's id at the provider, once registered.
    pub external_id: Option<String>,
    /// The provider's own word for the status.
    pub external_status: Option<String>,
    /// The provider's reason for it.
    pub external_status_reason: Option<String>,
    /// Where the seller stands there.
    pub status: LinkStatus,
    /// While a review holds the seller blocked there: how it would stand without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<LinkStatus>,
    /// The version of the seller's data that the provider has; 0 for none.
    pub told: i64,
    /// When the link was made.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
}

/// What a provider says of a seller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// The seller's id at the provider.
    pub external_id: Option<String>,
    /// The provider's own word for the status.
    pub external_status: String,
    /// The provider's reason for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_status_reason: Option<String>,
    /// What that means here.
    pub status: LinkStatus,
    /// What the provider asks the seller to confirm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand: Option<Box<Demand>>,
    /// What it has asked until then it does not ask any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn_at: Option<Timestamp>,
}

/// A seller without its personal data: what splits, routing and events read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seller {
    /// Its id; the time of creation is the id's own.
    pub id: SellerId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The merchant whose providers have it.
    pub merchant_id: MerchantId,
    /// Whether it was switched off by hand.
    pub switch: Switch,
    /// Why its status was set by hand.
    pub status_reason: Option<String>,
    /// The kind of that reason.
    pub reason_type: Option<ReasonType>,
    /// What rules of a split take from it where they leave it out.
    pub bears: Bears,
    /// Whether its money is transferred to it.
    #[serde(default)]
    pub transfers: Transfers,
    /// Its providers; at first in the order of their priority, later ones behind.
    pub links: Vec<Link>,
    /// Grows with each change of its data.
    pub data_version: i64,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Seller {
    /// Without what a client or a provider has written about it.
    #[must_use]
    pub fn without_words(&self) -> Self {
        let mut bare = Self { status_reason: None, ..self.clone() };
        for link in &mut bare.links {
            link.external_status_reason = None;
        }
        bare
    }

    /// Takes over what is written about it now.
    pub fn take_words_of(&mut self, now: &Self) {
        self.status_reason.clone_from(&now.status_reason);
        for link in &mut self.links {
            let known = now.link(link.provider_id);
            link.external_status_reason = known.and_then(|known| known.external_status_reason.clone());
        }
    }

    /// Its status, from the switch and its links.
    pub fn status(&self) -> SellerStatus {
        match self.switch {
            Switch::Off => SellerStatus::Inactive,
            Switch::On => status_of(self.links.iter().map(|link| link.status)),
        }
    }

    /// Its link to a provider.
    pub fn link(&self, provider_id: ProviderId) -> Option<&Link> {
        self.links.iter().find(|link| link.provider_id == provider_id)
    }

    /// Whether this provider takes charges with a part for this seller.
    pub fn is_active_at(&self, provider_id: ProviderId) -> bool {
        self.switch == Switch::On
            && self.link(provider_id).is_some_and(|link| link.status == LinkStatus::Active)
    }

    /// Whether a provider of this type may pay it now: the provider takes it, no provider has blocked it, and transfers are made.
    pub fn is_paid_by(&self, provider_type: ProviderType) -> bool {
        let takes = |link: &Link| link.provider_type == provider_type && link.status == LinkStatus::Active;
        let is_able = match self.status() {
            SellerStatus::Active | SellerStatus::Partial => self.links.iter().any(takes),
            SellerStatus::Pending | SellerStatus::Inactive | SellerStatus::Blocked => false,
        };
        is_able && self.transfers == Transfers::Made
    }

    /// The seller with a link to a further provider; the same when there is one.
    #[must_use]
    pub fn linked(&self, provider: (ProviderId, ProviderType), key: Uuid, now: Timestamp) -> Self {
        let mut after = self.clone();
        let (provider_id, provider_type) = provider;
        if self.link(provider_id).is_none() {
            after.links.push(Link::new(provider_id, provider_type, key, now));
        }
        after
    }

    /// The seller after its provider has said how it stands. `told` is the version of its data that the provider was
    /// given, if it was given any.
    #[must_use]
    pub fn stands(
        &self,
        provider_id: ProviderId,
        standing: &Standing,
        told: Option<i64>,
        now: Timestamp,
    ) -> Self {
        let mut after = self.clone();
        if let Some(link) = after.links.iter_mut().find(|link| link.provider_id == provider_id) {
            let before = link.clone();
            if standing.external_id.is_some() {
                link.external_id.clone_from(&standing.external_id);
            }
            link.external_status = Some(standing.external_status.clone());
            link.external_status_reason.clone_from(&standing.external_status_reason);
            match &mut link.held {
                Some(without) => *without = standing.status,
                None => link.status = standing.status,
            }
            link.told = told.map_or(link.told, |told| link.told.max(told));
            if *link != before {
                link.updated_at = now;
            }
        }
        after
    }

    /// The seller, blocked at a provider until its reviews there are approved.
    #[must_use]
    pub fn held(&self, provider_id: ProviderId, now: Timestamp) -> Self {
        self.relinked(provider_id, now, |link| {
            if link.held.is_none() {
                link.held = Some(link.status);
                link.status = LinkStatus::Blocked;
            }
        })
    }

    /// The seller, no longer blocked at a provider by a review.
    #[must_use]
    pub fn released(&self, provider_id: ProviderId, now: Timestamp) -> Self {
        self.relinked(provider_id, now, |link| {
            if let Some(without) = link.held.take() {
                link.status = without;
            }
        })
    }

    fn relinked(&self, provider_id: ProviderId, now: Timestamp, change: impl Fn(&mut Link)) -> Self {
        let mut after = self.clone();
        for link in after.links.iter_mut().filter(|link| link.provider_id == provider_id) {
            let before = link.clone();
            change(link);
            if *link != before {
                link.updated_at = now;
            }
        }
        after
    }

    /// The event of its status.
    pub fn event(&self) -> EventName {
        self.status().event()
    }
}

impl SellerStatus {
    /// The event for a seller that came into this status.
    pub const fn event(self) -> EventName {
        match self {
            Self::Pending => EventName::SellerPending,
            Self::Active => EventName::SellerActive,
            Self::Partial => EventName::SellerPartial,
            Self::Inactive => EventName::SellerInactive,
            Self::Blocked => EventName::SellerBlocked,
        }
    }

    /// The status that an event tells of, if it tells of one.
    pub fn of_event(name: EventName) -> Option<Self> {
        Self::WORDS.iter().map(|(_, status)| *status).find(|status| status.event() == name)
    }
}

impl Link {
    /// The link of a seller that is not registered yet.
    pub fn new(provider_id: ProviderId, provider_type: ProviderType, key: Uuid, now: Timestamp) -> Self {
        Self {
            provider_id,
            provider_type,
            key,
            external_id: None,
            external_status: None,
            external_status_reason: None,
            status: LinkStatus::Pending,
            held: None,
            told: 0,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The status of a seller with these links. Without a link nothing is decided yet.
pub fn status_of(links: impl IntoIterator<Item = LinkStatus>) -> SellerStatus {
    let (mut all, mut active, mut pending) = (0_usize, 0_usize, 0_usize);
    for status in links {
        all += 1;
        match status {
            LinkStatus::Blocked => return SellerStatus::Blocked,
            LinkStatus::Active => active += 1,
            LinkStatus::Pending => pending += 1,
            LinkStatus::Inactive => {}
        }
    }
    match (all, active, pending) {
        (0, _, _) => SellerStatus::Pending,
        (all, active, _) if active == all => SellerStatus::Active,
        (_, 1.., _) => SellerStatus::Partial,
        (_, 0, 1..) => SellerStatus::Pending,
        (_, 0, 0) => SellerStatus::Inactive,
    }
}
