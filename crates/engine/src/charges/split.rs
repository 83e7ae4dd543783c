//! Divides charges among sellers: who they are and whether they may take part, what their providers are told, and the
//! errors (`docs/interface/charges.md#split`).

use regente_domain::charge::Charge;
use regente_domain::id::{ClientId, MerchantId, ProviderId, SellerId};
use regente_domain::platform_fee::PlatformFee;
use regente_domain::seller::{Seller, SellerStatus};
use regente_domain::split::{Misfit, ReturnRefusal, Shares, Split, SplitRule};
use regente_domain::time::Timestamp;
use regente_providers::division::{Division, SellerPart};
use regente_store::{StoreError, sellers};

use crate::app::App;
use crate::error::Error;

/// The member with the rules.
pub const SPLIT_RULES: &str = "splitRules";
/// The stable code of a fee that leaves nothing.
pub const FEE_EXCEEDS: &str = "platform_fee_exceeds_link_amount";

/// The sellers that rules name, as far as they are there.
pub struct Named {
    sellers: Vec<Seller>,
    missing: Vec<SellerId>,
    unable: Vec<(SellerId, SellerStatus)>,
}

impl Named {
    /// Finds the sellers of these rules. Those of another merchant are not there.
    pub async fn find(
        app: &App,
        client_id: ClientId,
        merchant_id: MerchantId,
        rules: &[SplitRule],
    ) -> Result<Self, StoreError> {
        let mut named = Self { sellers: Vec::new(), missing: Vec::new(), unable: Vec::new() };
        if rules.is_empty() {
            return Ok(named);
        }
        let ids: Vec<SellerId> = rules.iter().map(|rule| rule.seller_id).collect();
        let mut found = sellers::find_many(&app.store, client_id, &ids).await?;
        found.retain(|seller| seller.merchant_id == merchant_id);
        for id in ids {
            match found.iter().position(|seller| seller.id == id) {
                None => named.missing.push(id),
                Some(place) => named.enter(found.swap_remove(place)),
            }
        }
        Ok(named)
    }

    fn enter(&mut self, seller: Seller) {
        match seller.status() {
            SellerStatus::Pending | SellerStatus::Active | SellerStatus::Partial => self.sellers.push(seller),
            status @ (SellerStatus::Inactive | SellerStatus::Blocked) => {
                self.unable.push((seller.id, status));
            }
        }
    }

    /// All sellers, in the order of the rules.
    ///
    /// # Errors
    /// Who is not there, and who may not take part.
    pub fn all(self) -> Result<Vec<Seller>, Error> {
        let missing = self.missing.iter().map(|id| format!("seller {id} was not found"));
        let details: Vec<String> = missing.chain(self.told_unable()).collect();
        match details.is_empty() {
            true => Ok(self.sellers),
            false => {
                let message = "splitRules name sellers who may not take part".into();
                Err(Error::Impossible { message, details })
            }
        }
    }

    /// All sellers, for the payment of a session. A buyer can do nothing about an error.
    ///
    /// # Errors
    /// Who is not there, or else who may not take part.
    pub fn all_of_session(self) -> Result<Vec<Seller>, Error> {
        if !self.missing.is_empty() {
            let missing: Vec<String> = self.missing.iter().map(ToString::to_string).collect();
            let missing = missing.join(", ");
            let message = format!("session cannot be charged: sellers not found [{missing}]").into();
            return Err(Error::SellersNotFound { message });
        }
        let details: Vec<String> = self.told_unable().collect();
        match details.is_empty() {
            true => Ok(self.sellers),
            false => Err(Error::SellersUnable { details }),
        }
    }

    fn told_unable(&self) -> impl Iterator<Item = String> + '_ {
        self.unable.iter().map(|(id, status)| format!("seller {id} is {}", status.word()))
    }
}

/// The rules with ids of their own, and with what they leave to the sellers.
pub fn rules_with(app: &App, rules: &[SplitRule], sellers: &[Seller], now: Timestamp) -> Vec<SplitRule> {
    let complete = |rule: &SplitRule| {
        let seller = sellers.iter().find(|seller| seller.id == rule.seller_id);
        let defaults = seller.map(|seller| seller.bears).unwrap_or_default();
        SplitRule { id: app.chance.id(now), bears: rule.bears.or(defaults), ..*rule }
    };
    rules.iter().map(complete).collect()
}

/// The division of a new charge; `None` without rules: the platform keeps its fee of what is divided alone.
pub fn of_rules(rules: Vec<SplitRule>, fee: Option<PlatformFee>) -> Option<Box<Split>> {
    (!rules.is_empty()).then(|| Box::new(Split::new(rules, fee)))
}

/// The sellers of a charge, also those who were deleted since: what they were given is given back.
pub(crate) async fn sellers_of(app: &App, charge: &Charge) -> Result<Vec<Seller>, StoreError> {
    let Some(split) = charge.split.as_deref() else { return Ok(Vec::new()) };
    let ids: Vec<SellerId> = split.rules.iter().map(|rule| rule.seller_id).collect();
    sellers::find_many_ever(&app.store, charge.client_id, &ids).await
}

/// What the provider of an authorization is told.
pub(crate) fn of_charge(charge: &Charge, sellers: &[Seller], at: ProviderId) -> Option<Box<Division>> {
    let split = charge.split.as_deref()?;
    let shares = split.shares(charge.amount, charge.original_amount);
    Some(division(split, shares, sellers, at))
}

/// What the provider of the open capture or void is told.
pub(crate) async fn of_open(
    app: &App,
    charge: &Charge,
    at: ProviderId,
) -> Result<Option<Box<Division>>, StoreError> {
    match charge.split.as_deref().zip(charge.shares_of_open()) {
        None => Ok(None),
        Some((split, shares)) => Ok(Some(division(split, shares, &sellers_of(app, charge).await?, at))),
    }
}

fn division(split: &Split, shares: Shares, known: &[Seller], at: ProviderId) -> Box<Division> {
    let rest = shares.merchant.plus(shares.fee).unwrap_or(shares.merchant);
    let part = |(rule, amount): (&SplitRule, _)| {
        let seller = known.iter().find(|seller| seller.id == rule.seller_id);
        let link = seller.and_then(|seller| seller.link(at));
        SellerPart {
            registration: link.map(|link| link.key).unwrap_or_default(),
            recipient: link.and_then(|link| link.external_id.clone()),
            amount,
            bears: rule.bears,
        }
    };
    let sellers = split.rules.iter().zip(shares.sellers).map(part).collect();
    Box::new(Division { sellers, rest })
}

/// The error for an amount that the rules cannot divide. `path` is the member that gives it.
pub fn misfit(path: &str, misfit: Misfit) -> Error {
    match misfit {
        Misfit::FeeNotBelow { .. } => Error::BusinessRule {
            business_code: FEE_EXCEEDS,
            message: "Calculated platform fee must be less than the link total amount.".into(),
        },
        Misfit::SellersAbove { room } => Error::invalid(
            path,
            format!("must not give the sellers more than {} together", room.minor_units()),
        ),
    }
}

/// The error for a void that the sellers cannot give back as the caller says.
pub(crate) fn return_refused(refusal: ReturnRefusal) -> Error {
    match refusal {
        ReturnRefusal::Seller(index) => Error::invalid(
            format!("{SPLIT_RULES}[{index}].sellerId"),
            "must be a seller of the charge, each once",
        ),
        ReturnRefusal::MoreThanLeft { index, left } => Error::invalid(
            format!("{SPLIT_RULES}[{index}].amount"),
            format!("must not be greater than {}, what is left to the seller", left.minor_units()),
        ),
        ReturnRefusal::MoreThanRefunded => {
            Error::invalid(SPLIT_RULES, "must not give back more than is voided")
        }
        ReturnRefusal::LessThanRefunded { least } => Error::invalid(
            SPLIT_RULES,
            format!(
                "must give back at least {} together: the merchant has only the rest",
                least.minor_units()
            ),
        ),
    }
}
