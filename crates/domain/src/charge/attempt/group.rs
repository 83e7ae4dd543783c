//! The groups of request types. What is done with a request depends on its group, and rarely on more: decisions match
//! [`RequestGroup`], so that a new type is added to the words and here alone.

use crate::capture_mode::CaptureMode;
use crate::charge::FollowUpKind;

use super::RequestType;

/// What a request is about: to whom it goes, and what its answer can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestGroup {
    /// A payment provider is asked for the money, which it takes at once or reserves.
    Authorization(CaptureMode),
    /// A payment provider is asked whether a card is good.
    CardCheck,
    /// A payment provider is asked to capture or void what it has authorized.
    FollowUp(FollowUpKind),
    /// Nobody is asked: the provider reports what happened to a payment.
    Reversal(Reported),
    /// A step of an authentication of the cardholder.
    Authentication(AuthenticationStep),
    /// A provider of risk is asked or told.
    Risk(RiskStep),
}

/// What a provider reports without a call of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// The cardholder's bank reversed the payment.
    ChargeBack,
    /// The payer disputes the payment.
    Dispute,
    /// A dispute was decided for the merchant.
    DisputeClosed,
    /// A refund came back.
    RevertVoid,
}

/// A step of an authentication of the cardholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthenticationStep {
    /// Prepare it.
    Setup,
    /// Ask a 3DS server to authenticate the cardholder.
    Enroll,
    /// Ask a 3DS server how a challenge of the cardholder has ended.
    Validate,
}

/// What is asked or told about risk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RiskStep {
    /// Analyse the risk.
    Analysis,
    /// Tell of a charge that was not analysed.
    Feeding,
}

impl RequestType {
    /// The group that it belongs to.
    pub const fn group(self) -> RequestGroup {
        match self {
            Self::Authorization => RequestGroup::Authorization(CaptureMode::Automatic),
            Self::PreAuthorization => RequestGroup::Authorization(CaptureMode::Manual),
            Self::ZeroDollar => RequestGroup::CardCheck,
            Self::Capture => RequestGroup::FollowUp(FollowUpKind::Capture),
            Self::Void => RequestGroup::FollowUp(FollowUpKind::Void),
            Self::ChargeBack => RequestGroup::Reversal(Reported::ChargeBack),
            Self::Dispute => RequestGroup::Reversal(Reported::Dispute),
            Self::DisputeClosed => RequestGroup::Reversal(Reported::DisputeClosed),
            Self::RevertVoid => RequestGroup::Reversal(Reported::RevertVoid),
            Self::AuthenticationSetup => RequestGroup::Authentication(AuthenticationStep::Setup),
            Self::AuthenticationEnroll => RequestGroup::Authentication(AuthenticationStep::Enroll),
            Self::AuthenticationValidate => RequestGroup::Authentication(AuthenticationStep::Validate),
            Self::AntiFraud => RequestGroup::Risk(RiskStep::Analysis),
            Self::AntiFraudFeeding => RequestGroup::Risk(RiskStep::Feeding),
        }
    }

    /// Whether it asks for an authorization. An authorization is never sent again, since the security code is gone
    /// (`docs/interface/charges.md#unknown-outcomes`); a follow-up may be repeated under the same provider key.
    pub const fn is_authorization(self) -> bool {
        matches!(self.group(), RequestGroup::Authorization(_))
    }

    /// Whether it is a step of an authentication.
    pub const fn is_authentication(self) -> bool {
        matches!(self.group(), RequestGroup::Authentication(_))
    }

    /// Whether it goes to a provider of risk.
    pub const fn is_about_risk(self) -> bool {
        matches!(self.group(), RequestGroup::Risk(_))
    }

    /// Whether it is sent with the card in the clear.
    pub const fn opens_card(self) -> bool {
        match self.group() {
            RequestGroup::Authorization(_)
            | RequestGroup::CardCheck
            | RequestGroup::Authentication(AuthenticationStep::Enroll)
            | RequestGroup::Risk(RiskStep::Analysis) => true,
            RequestGroup::FollowUp(_)
            | RequestGroup::Reversal(_)
            | RequestGroup::Authentication(AuthenticationStep::Setup | AuthenticationStep::Validate)
            | RequestGroup::Risk(RiskStep::Feeding) => false,
        }
    }
}
