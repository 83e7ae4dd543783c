//! Flows: what a merchant decides about the providers of a charge, as a tree of conditions, balances, analyses of risk and
//! providers (`docs/interface/flows.md`). A tree is read and checked once, when it is published; [`Flow::choose`] then walks it
//! for each charge. Pure.

mod choose;
mod condition;
mod learned;
mod publication;
mod read;
mod visited;

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::id::ProviderId;
use crate::payment_type::PaymentType;
use crate::problems::Problems;
use crate::wire::{Object, Text};
use crate::words::words;

pub use choose::{Choice, Draws, Facts, Turn, WHOLE};
pub use condition::{Condition, Operator};
pub use learned::{CountedHour, Evidence, Group, LearnedNode, SharesOf};
pub use publication::Member;
pub use read::{MetadataType, NodeRule, Strategy};
pub use visited::{Visited, visited};

use condition::When;
use deserr::{Deserr, IntoValue, Value as Sent, ValuePointerRef};

use crate::id::{FlowId, MerchantId};
use crate::wire::{read_with, refused};

/// The most lists of nodes within each other.
pub const DEPTH_MAX: usize = 10;
/// The most nodes of a tree.
pub const NODES_MAX: usize = 100;
/// The longest half-life of a balance that learns: rates of ten of them are read.
pub const HALF_LIFE_HOURS_MAX: u32 = 7 * 24;
/// The most payment providers of a branch.
pub const PROVIDERS_MAX: usize = 3;
/// The version of the grammar that this release reads.
pub const GRAMMAR: &str = "0.0.0";

const BYTES_MAX: usize = 64 * 1024;
const MERCHANT_ID: &str = "merchantId";
const MERCHANTS: &str = "merchants";

words! {
    /// The payment types that have flows.
    FlowMethod {
        /// Credit card.
        Credit = "credit",
        /// Brazilian bank slip.
        Boleto = "boleto",
        /// Brazilian instant payment.
        Pix = "pix",
    }
}

impl FlowMethod {
    /// The method of a payment type; `None` for those whose providers always go by priority.
    pub const fn of(payment_type: PaymentType) -> Option<Self> {
        match payment_type {
            PaymentType::Credit => Some(Self::Credit),
            PaymentType::Boleto => Some(Self::Boleto),
            PaymentType::Pix => Some(Self::Pix),
            PaymentType::Debit
            | PaymentType::Voucher
            | PaymentType::Nupay
            | PaymentType::Drip
            | PaymentType::Picpay
            | PaymentType::ApplePay
            | PaymentType::ClickToPay => None,
        }
    }

    /// The payment type.
    pub const fn payment_type(self) -> PaymentType {
        match self {
            Self::Credit => PaymentType::Credit,
            Self::Boleto => PaymentType::Boleto,
            Self::Pix => PaymentType::Pix,
        }
    }
}

words! {
    /// Whether charges follow a version of a flow.
    FlowStatus {
        /// New charges do.
        Active = "active",
        /// Another version took its place, or it was withdrawn. Charges that began with it end with it.
        Archived = "archived",
    }
}

words! {
    /// Why a flow is not published: `businessCode` of the refusal.
    FlowRefusal {
        /// A branch has no payment provider.
        ProviderRequired = "flow_provider_required",
        /// No payment provider follows an analysis.
        ProviderAfterAntiFraudRequired = "flow_provider_after_antifraud_required",
        /// A branch has two analyses.
        AntiFraudDuplicated = "flow_antifraud_duplicated",
        /// A provider is not one of the merchant's.
        ProviderNotInMerchant = "flow_provider_not_in_merchant",
        /// A condition on metadata does not say what holds where the charge lacks them.
        MetadataDefaultRequired = "flow_metadata_default_required",
        /// Anything else.
        Invalid = "flow_invalid",
    }
}

/// One reason why a flow is not published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FlowProblem {
    /// The code of the reason.
    pub code: FlowRefusal,
    /// Where in the tree it is.
    #[schema(example = "flow.root[0].yes")]
    pub path: String,
    /// What is wrong there.
    #[schema(example = "must have a payment provider")]
    pub message: String,
}

impl FlowProblem {
    /// The whole sentence, for the `details` of an error.
    pub fn sentence(&self) -> String {
        format!("{} {}", self.path, self.message)
    }
}

/// A flow as sent to be published or checked.
#[derive(Clone, Debug, ToSchema)]
#[schema(rename_all = "camelCase", example = json!({
    "name": "Credit default", "merchantId": "df601922-e024-4394-8f12-af21ec4218b1", "paymentMethod": "credit",
    "flow": { "version": "0.0.0",
        "root": [{ "rule": "provider", "id": "72cc1ff1-5f6e-4eb2-9cc5-6a3a85525e4b" }] }
}))]
pub struct NewFlow {
    /// The label in lists.
    pub name: Option<Text<1, 100>>,
    /// The merchant that it applies to. `merchants`, a list of one, is taken as well.
    pub merchant_id: MerchantId,
    /// The payment method that it applies to.
    pub payment_method: FlowMethod,
    /// The tree: `version` and `root`.
    #[schema(value_type = Object)]
    pub flow: Map<String, Value>,
    /// The version that it was made from; by default the active one.
    pub parent_id: Option<FlowId>,
}

#[derive(Deserr)]
#[deserr(rename_all = camelCase, error = Problems)]
struct SentFlow {
    #[deserr(default)]
    name: Option<Text<1, 100>>,
    #[deserr(default)]
    merchant_id: Option<MerchantId>,
    #[deserr(default)]
    merchants: Option<Vec<SentMerchant>>,
    payment_method: FlowMethod,
    flow: Object<BYTES_MAX>,
    #[deserr(default)]
    parent_id: Option<FlowId>,
}

#[derive(Deserr)]
#[deserr(rename_all = camelCase, error = Problems)]
struct SentMerchant {
    merchant_id: MerchantId,
}

impl Deserr<Problems> for NewFlow {
    fn deserialize_from_value<V: IntoValue>(
        value: Sent<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent: SentFlow = read_with(value, location, |members, problems| {
            if !members.contains_key(MERCHANT_ID) && !members.contains_key(MERCHANTS) {
                problems.extend(refused(location.push_key(MERCHANT_ID), "should not be empty"));
            }
        })?;
        let SentFlow { name, merchant_id, merchants, payment_method, flow, parent_id } = sent;
        let merchant_id = match (merchant_id, merchants.as_deref()) {
            (Some(id), None) => id,
            (None, Some([merchant])) => merchant.merchant_id,
            (Some(id), Some([merchant])) if merchant.merchant_id == id => id,
            (_, Some(_)) => {
                let rule = "must contain exactly one merchant, the one of merchantId";
                return Err(refused(location.push_key(MERCHANTS), rule));
            }
            (None, None) => return Err(refused(location.push_key(MERCHANT_ID), "should not be empty")),
        };
        Ok(Self { name, merchant_id, payment_method, flow: flow.into_members(), parent_id })
    }
}

/// A flow that was read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    root: Branch,
}

/// Nodes in their order, and what they lead to.
#[derive(Clone, Debug, Default, PartialEq)]
struct Branch {
    leaves: Vec<Leaf>,
    then: Option<Box<Fork>>,
}

/// A node that a charge visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// A payment provider.
    Provider(ProviderId),
    /// An analysis of the risk.
    AntiFraud(ProviderId),
}

/// A node with two ways on.
#[derive(Clone, Debug, PartialEq)]
enum Fork {
    Condition {
        when: When,
        /// Yes, and no.
        ways: [Branch; 2],
    },
    Balance {
        /// Shares of the two ways, in parts of [`WHOLE`].
        shares: [u32; 2],
        /// Its number among the balances of the tree, from 0.
        number: u16,
        /// How its shares are learned; `shares` are then those of which nothing is known.
        learned: Option<Box<LearnedNode>>,
        ways: [Branch; 2],
    },
}

impl Flow {
    /// Reads a tree and checks it for publication. `members` are the merchant's providers.
    ///
    /// # Errors
    /// All reasons why it is not published.
    pub fn publish(
        tree: &Map<String, Value>,
        method: FlowMethod,
        members: &[Member],
    ) -> Result<Self, Vec<FlowProblem>> {
        let (flow, mut problems) = read::read(tree);
        publication::check(&flow.root, method, members, &mut problems);
        if problems.is_empty() { Ok(flow) } else { Err(problems) }
    }

    /// The payment providers of all branches.
    pub fn providers(&self) -> Vec<ProviderId> {
        let mut found = Vec::new();
        self.root.add_providers(&mut found);
        found
    }

    /// Its balances that learn.
    pub fn learned(&self) -> Vec<&LearnedNode> {
        let mut found = Vec::new();
        self.root.add_learned(&mut found);
        found
    }

    /// Reads the tree of a version that was published. What cannot be read any more is left out, so that a charge does not fail
    /// for it.
    pub fn published(tree: &Map<String, Value>) -> Self {
        read::read(tree).0
    }
}

impl Branch {
    fn add_providers(&self, found: &mut Vec<ProviderId>) {
        for leaf in &self.leaves {
            match leaf {
                Leaf::Provider(id) => found.push(*id),
                Leaf::AntiFraud(_) => {}
            }
        }
        let ways = match self.then.as_deref() {
            Some(Fork::Condition { ways, .. } | Fork::Balance { ways, .. }) => ways.as_slice(),
            None => &[],
        };
        for way in ways {
            way.add_providers(found);
        }
    }

    fn add_learned<'f>(&'f self, found: &mut Vec<&'f LearnedNode>) {
        let ways = match self.then.as_deref() {
            Some(Fork::Condition { ways, .. }) => ways,
            Some(Fork::Balance { ways, learned, .. }) => {
                found.extend(learned.as_deref());
                ways
            }
            None => return,
        };
        for way in ways {
            way.add_learned(found);
        }
    }

    /// The first payment provider of its own list.
    fn lead(&self) -> Option<ProviderId> {
        self.leaves.iter().find_map(|leaf| match leaf {
            Leaf::Provider(id) => Some(*id),
            Leaf::AntiFraud(_) => None,
        })
    }
}
