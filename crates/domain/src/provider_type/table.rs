//! What each provider type can do: one row a type, as in `docs/interface/provider-types.md#abilities`. Only what is
//! positively listed there appears.

use crate::card::Brand;
use crate::charge::{INSTALLMENTS_MAX, PaymentType};

use super::{Ability, AntiFraud, Capabilities, ProviderType, Refund};

impl ProviderType {
    /// What providers of this type can do.
    pub const fn capabilities(self) -> &'static Capabilities {
        use Ability::Yes;
        use PaymentType::{ApplePay, Boleto, Credit, Drip, Nupay, Picpay, Pix, Voucher};
        use Refund::{FullOnly, Partial};
        match self {
            Self::Sandbox => &SANDBOX,
            Self::SandboxAntifraud | Self::Clearsale => &RISK,
            Self::B2e => &RISK_LATER,
            Self::Konduto => &RISK_REAL_TIME,
            Self::Adyen => &Capabilities {
                payment_types: &[Credit, Pix, Boleto],
                pre_authorization: &[Credit],
                partial_capture: &[Credit],
                refund: Partial(&[Credit, Pix]),
                three_ds: Yes,
                own_anti_fraud: Yes,
                network_tokens: Yes,
                dispute_notice: Yes,
                chargeback_notice: Yes,
                multi_currency: Yes,
                vendors: Yes,
                ..NOTHING
            },
            Self::Banrisul => &Capabilities { payment_types: &[Pix], refund: Partial(&[Pix]), ..NOTHING },
            Self::Barte => &Capabilities {
                payment_types: &[Credit],
                pre_authorization: &[Credit],
                refund: Partial(&[Credit]),
                three_ds: Yes,
                own_anti_fraud: Yes,
                recurrence: Yes,
                dispute_notice: Yes,
                chargeback_notice: Yes,
                ..NOTHING
            },
            Self::Bb => &Capabilities { payment_types: &[Pix], ..NOTHING },
            Self::Bolt => &Capabilities {
                payment_types: &[Credit],
                pre_authorization: &[Credit],
                partial_capture: &[Credit],
                refund: Partial(&[Credit]),
                ..NOTHING
            },
            Self::Braintree => &Capabilities {
                payment_types: &[Credit],
                pre_authorization: &[Credit],
                partial_capture: &[Credit],
                refund: Partial(&[Credit]),
                own_anti_fraud: Yes,
                chargeback_notice: Yes,
                multi_currency: Yes,
                ..NOTHING
            },
            Self::Braspag => &Capabilities {
                payment_types: &[Credit],
                refund: Partial(&[Credit]),
                split: &[Credit],
                own_anti_fraud: Yes,
                recurrence: Yes,
                chargeback_notice: Yes,
                multi_currency: Yes,
                ..NOTHING
            },
            Self::Bs2 => &Capabilities { payment_types: &[Pix], ..NOTHING },
            Self::Bs2Boleto => &Capabilities { payment_types: &[Boleto], ..NOTHING },
            Self::Cielo => &Capabilities {
                payment_types: &[Credit, Pix, ApplePay],
                pre_authorization: &[Credit, ApplePay],
                partial_capture: &[Credit, ApplePay],
                refund: Partial(&[Credit, ApplePay]),
                network_tokens: Yes,
                zero_dollar: Yes,
                zero_dollar_brands: Some(&[Brand::Visa, Brand::Mastercard, Brand::Elo]),
                recurrence: Yes,
                vendors: Yes,
                ..NOTHING
            },
            Self::Drip => &Capabilities {
                payment_types: &[Drip],
                refund: Partial(&[Drip]),
                pix_installments: Yes,
                ..NOTHING
            },
            Self::Getnet => &Capabilities {
                payment_types: &[Credit, Pix, Boleto],
                pre_authorization: &[Credit],
                partial_capture: &[Credit],
                refund: Partial(&[Credit, Pix]),
                own_anti_fraud: Yes,
                network_tokens: Yes,
                multi_currency: Yes,
                vendors: Yes,
                ..NOTHING
            },
            Self::GetnetSep => &Capabilities {
                payment_types: &[Credit, Pix, Boleto],
                pre_authorization: &[Credit],
                refund: FullOnly(&[Credit]),
                own_anti_fraud: Yes,
                network_tokens: Yes,
                ..NOTHING
            },
            Self::Itau => &Capabilities { payment_types: &[Pix], ..NOTHING },
            Self::Klap => &Capabilities {
                payment_types: &[Credit],
                pre_authorization: &[Credit],
                partial_capture: &[Credit],
                refund: FullOnly(&[Credit]),
                own_anti_fraud: Yes,
                zero_dollar: Yes,
                multi_currency: Yes,
                ..NOTHING
            },
            Self::Mapinvest => &Capabilities { payment_types: &[Pix], refund: Partial(&[Pix]), ..NOTHING },
            Self::MercadoPago => &Capabilities {
                payment_types: &[Credit, Pix, Boleto],
                pre_authorization: &[Credit],
                partial_capture: &[Credit],
                refund: Partial(&[Credit, Pix]),
                own_anti_fraud: Yes,
                network_tokens: Yes,
                chargeback_notice: Yes,
                multi_currency: Yes,
                ..NOTHING
            },
            Self::Nupay => &Capabilities {
                payment_types: &[Nupay],
                refund: Partial(&[Nupay]),
                own_anti_fraud: Yes,
                chargeback_notice: Yes,
                ..NOTHING
            },
            Self::Owempay => &Capabilities {
                payment_types: &[Credit, Pix],
                refund: FullOnly(&[Credit, Pix]),
                dispute_notice: Yes,
                chargeback_notice: Yes,
                ..NOTHING
            },
            Self::Pagarme => &Capabilities {
                payment_types: &[Credit, Pix, Boleto, Voucher, ApplePay],
                pre_authorization: &[Credit, ApplePay],
                partial_capture: &[Credit, ApplePay],
                refund: Partial(&[Credit, Pix, ApplePay]),
                split: &[Credit],
                own_anti_fraud: Yes,
                dispute_notice: Yes,
                chargeback_notice: Yes,
                ..NOTHING
            },
            Self::PagarmeV5 => &Capabilities {
                payment_types: &[Credit, Pix, Boleto, Voucher, ApplePay],
                pre_authorization: &[Credit, ApplePay],
                partial_capture: &[Credit, ApplePay],
                refund: Partial(&[Credit, Pix, ApplePay]),
                split: &[Credit, Pix, Boleto],
                own_anti_fraud: Yes,
                ..NOTHING
            },
            Self::Pagseguro => &Capabilities {
                payment_types: &[Credit, Pix, ApplePay],
                pre_authorization: &[Credit, ApplePay],
                partial_capture: &[Credit, ApplePay],
                refund: Partial(&[Credit, Pix, ApplePay]),
                split: &[Credit, Pix, ApplePay],
                own_anti_fraud: Yes,
                network_tokens: Yes,
                zero_dollar: Yes,
                recurrence: Yes,
                dispute_notice: Yes,
                chargeback_notice: Yes,
                ..NOTHING
            },
            Self::Paypal => &Capabilities {
                payment_types: &[Credit],
                pre_authorization: &[Credit],
                partial_capture: &[Credit],
                refund: Partial(&[Credit]),
                own_anti_fraud: Yes,
                network_tokens: Yes,
                ..NOTHING
            },
            Self::Picpay => &Capabilities {
                payment_types: &[Credit, Pix, Picpay],
                pre_authorization: &[Credit],
                partial_capture: &[Credit],
                refund: Partial(&[Credit, Pix, Picpay]),
                own_anti_fraud: Yes,
                dispute_notice: Yes,
                chargeback_notice: Yes,
                ..NOTHING
            },
            Self::Rede => &Capabilities {
                payment_types: &[Credit],
                pre_authorization: &[Credit],
                partial_capture: &[Credit],
                refund: Partial(&[Credit]),
                network_tokens: Yes,
                zero_dollar: Yes,
                vendors: Yes,
                ..NOTHING
            },
            Self::Safrapay => &Capabilities {
                payment_types: &[Credit, Pix],
                pre_authorization: &[Credit],
                partial_capture: &[Credit],
                refund: Partial(&[Credit, Pix]),
                own_anti_fraud: Yes,
                recurrence: Yes,
                vendors: Yes,
                ..NOTHING
            },
            Self::Stripe => &Capabilities {
                payment_types: &[Credit, Boleto],
                pre_authorization: &[Credit],
                partial_capture: &[Credit],
                refund: Partial(&[Credit]),
                own_anti_fraud: Yes,
                dispute_notice: Yes,
                chargeback_notice: Yes,
                multi_currency: Yes,
                ..NOTHING
            },
            Self::Vr => &Capabilities { payment_types: &[Voucher], ..NOTHING },
            Self::Worldpay => &Capabilities {
                payment_types: &[Credit],
                pre_authorization: &[Credit],
                partial_capture: &[Credit],
                refund: Partial(&[Credit]),
                network_tokens: Yes,
                multi_currency: Yes,
                ..NOTHING
            },
            Self::Zoop => &Capabilities {
                payment_types: &[Credit, Pix, Boleto],
                pre_authorization: &[Credit],
                partial_capture: &[Credit],
                refund: Partial(&[Credit, Pix]),
                split: &[Credit, Pix, Boleto],
                dispute_notice: Yes,
                chargeback_notice: Yes,
                ..NOTHING
            },
        }
    }
}

/// A type of which nothing is listed: every row starts from it.
const NOTHING: Capabilities = Capabilities {
    payment_types: &[],
    pre_authorization: &[],
    partial_capture: &[],
    refund: Refund::No,
    split: &[],
    pix_installments: Ability::No,
    three_ds: Ability::No,
    zero_dollar: Ability::No,
    zero_dollar_brands: None,
    recurrence: Ability::No,
    multi_currency: Ability::No,
    own_anti_fraud: Ability::No,
    network_tokens: Ability::No,
    dispute_notice: Ability::No,
    chargeback_notice: Ability::No,
    vendors: Ability::No,
    anti_fraud: None,
    installments_max: INSTALLMENTS_MAX,
};

/// The simulator plays every payment method and, so that integrations can be tested, everything
/// around it; boleto is never given back (`docs/interface/provider-types.md#abilities`).
const SANDBOX: Capabilities = {
    use Ability::Yes;
    use PaymentType::{ApplePay, Boleto, ClickToPay, Credit, Debit, Drip, Nupay, Picpay, Pix, Voucher};
    Capabilities {
        payment_types: &[Credit, Debit, Voucher, Pix, Boleto, Nupay, Drip, Picpay, ApplePay, ClickToPay],
        pre_authorization: &[Credit, ApplePay, ClickToPay],
        partial_capture: &[Credit, ApplePay, ClickToPay],
        refund: Refund::Partial(&[Credit, Debit, Voucher, Pix, Nupay, Drip, Picpay, ApplePay, ClickToPay]),
        split: &[Credit, Debit, Voucher, Pix, Boleto, Nupay, Drip, Picpay, ApplePay, ClickToPay],
        pix_installments: Yes,
        three_ds: Yes,
        zero_dollar: Yes,
        multi_currency: Yes,
        own_anti_fraud: Yes,
        vendors: Yes,
        ..NOTHING
    }
};

/// A type that only analyses risk, at once or later.
const RISK: Capabilities = risk(Ability::Yes, Ability::Yes);
/// The same, at once only.
const RISK_REAL_TIME: Capabilities = risk(Ability::Yes, Ability::No);
/// The same, later only.
const RISK_LATER: Capabilities = risk(Ability::No, Ability::Yes);

const fn risk(real_time: Ability, asynchronous: Ability) -> Capabilities {
    Capabilities { anti_fraud: Some(AntiFraud { real_time, asynchronous }), ..NOTHING }
}
