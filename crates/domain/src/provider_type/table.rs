//! The capabilities of each provider type: one row a type. Only published facts appear.

use crate::card::Brand;
use crate::payment_type::{INSTALLMENTS_MAX, PaymentType};

use super::{Ability, AntiFraud, Capabilities, ProviderType, Refund};
use PaymentType::{ApplePay, Boleto, ClickToPay, Credit, Debit, Drip, Nupay, Picpay, Pix, Voucher};
use ProviderType as Type;
use Refund::{FullOnly, No, Partial};

impl ProviderType {
    /// The capabilities of this type.
    pub const fn capabilities(self) -> &'static Capabilities {
        &TABLE[self as usize]
    }
}

type Types = &'static [PaymentType];

const NONE: Types = &[];
/// The simulator supports every payment method and capability, so that integrations can be tested.
const EVERYTHING: Types = &[Credit, Debit, Voucher, Pix, Boleto, Nupay, Drip, Picpay, ApplePay, ClickToPay];
/// Payment types it reserves and captures later, in parts too.
const HELD: Types = &[Credit, ApplePay, ClickToPay];
/// Payment types it refunds: all but boleto.
const RETURNED: Types = &[Credit, Debit, Voucher, Pix, Nupay, Drip, Picpay, ApplePay, ClickToPay];

/// Payment capabilities of each type, in the order of [`ProviderType`].
#[rustfmt::skip]
const PAYMENTS: [(Type, Types, Types, Types, Refund, Types); ProviderType::ALL.len()] = [
    // type                    charges                                    reserves             captures parts       gives back                         splits
    (Type::Sandbox,          EVERYTHING,                                HELD,                HELD,                Partial(RETURNED),                 EVERYTHING),
    (Type::SandboxAntifraud, NONE,                                      NONE,                NONE,                No,                                NONE),
    (Type::Adyen,            &[Credit, Pix, Boleto],                    &[Credit],           &[Credit],           Partial(&[Credit, Pix]),           NONE),
    (Type::B2e,              NONE,                                      NONE,                NONE,                No,                                NONE),
    (Type::Banrisul,         &[Pix],                                    NONE,                NONE,                Partial(&[Pix]),                   NONE),
    (Type::Barte,            &[Credit],                                 &[Credit],           NONE,                Partial(&[Credit]),                NONE),
    (Type::Bb,               &[Pix],                                    NONE,                NONE,                No,                                NONE),
    (Type::Bolt,             &[Credit],                                 &[Credit],           &[Credit],           Partial(&[Credit]),                NONE),
    (Type::Braintree,        &[Credit],                                 &[Credit],           &[Credit],           Partial(&[Credit]),                NONE),
    (Type::Braspag,          &[Credit],                                 NONE,                NONE,                Partial(&[Credit]),                &[Credit]),
    (Type::Bs2,              &[Pix],                                    NONE,                NONE,                No,                                NONE),
    (Type::Bs2Boleto,        &[Boleto],                                 NONE,                NONE,                No,                                NONE),
    (Type::Cielo,            &[Credit, Pix, ApplePay],                  &[Credit, ApplePay], &[Credit, ApplePay], Partial(&[Credit, ApplePay]),      NONE),
    (Type::Clearsale,        NONE,                                      NONE,                NONE,                No,                                NONE),
    (Type::Drip,             &[Drip],                                   NONE,                NONE,                Partial(&[Drip]),                  NONE),
    (Type::Getnet,           &[Credit, Pix, Boleto],                    &[Credit],           &[Credit],           Partial(&[Credit, Pix]),           NONE),
    (Type::GetnetSep,        &[Credit, Pix, Boleto],                    &[Credit],           NONE,                FullOnly(&[Credit]),               NONE),
    (Type::Itau,             &[Pix],                                    NONE,                NONE,                No,                                NONE),
    (Type::Klap,             &[Credit],                                 &[Credit],           &[Credit],           FullOnly(&[Credit]),               NONE),
    (Type::Konduto,          NONE,                                      NONE,                NONE,                No,                                NONE),
    (Type::Mapinvest,        &[Pix],                                    NONE,                NONE,                Partial(&[Pix]),                   NONE),
    (Type::MercadoPago,      &[Credit, Pix, Boleto],                    &[Credit],           &[Credit],           Partial(&[Credit, Pix]),           NONE),
    (Type::Nupay,            &[Nupay],                                  NONE,                NONE,                Partial(&[Nupay]),                 NONE),
    (Type::Owempay,          &[Credit, Pix],                            NONE,                NONE,                FullOnly(&[Credit, Pix]),          NONE),
    (Type::Pagarme,          &[Credit, Pix, Boleto, Voucher, ApplePay], &[Credit, ApplePay], &[Credit, ApplePay], Partial(&[Credit, Pix, ApplePay]), &[Credit]),
    (Type::PagarmeV5,        &[Credit, Pix, Boleto, Voucher, ApplePay], &[Credit, ApplePay], &[Credit, ApplePay], Partial(&[Credit, Pix, ApplePay]), &[Credit, Pix, Boleto]),
    (Type::Pagseguro,        &[Credit, Pix, ApplePay],                  &[Credit, ApplePay], &[Credit, ApplePay], Partial(&[Credit, Pix, ApplePay]), &[Credit, Pix, ApplePay]),
    (Type::Paypal,           &[Credit],                                 &[Credit],           &[Credit],           Partial(&[Credit]),                NONE),
    (Type::Picpay,           &[Credit, Pix, Picpay],                    &[Credit],           &[Credit],           Partial(&[Credit, Pix, Picpay]),   NONE),
    (Type::Platform,         &[Credit, Pix],                            &[Credit],           &[Credit],           Partial(&[Credit, Pix]),           &[Credit, Pix]),
    (Type::Rede,             &[Credit],                                 &[Credit],           &[Credit],           Partial(&[Credit]),                NONE),
    (Type::Safrapay,         &[Credit, Pix],                            &[Credit],           &[Credit],           Partial(&[Credit, Pix]),           NONE),
    (Type::Stripe,           &[Credit, Boleto],                         &[Credit],           &[Credit],           Partial(&[Credit]),                NONE),
    (Type::Vr,               &[Voucher],                                NONE,                NONE,                No,                                NONE),
    (Type::Worldpay,         &[Credit],                                 &[Credit],           &[Credit],           Partial(&[Credit]),                NONE),
    (Type::Zoop,             &[Credit, Pix, Boleto],                    &[Credit],           &[Credit],           Partial(&[Credit, Pix]),           &[Credit, Pix, Boleto]),
];

const YES: Ability = Ability::Yes;
const ___: Ability = Ability::No;

/// Further capabilities; a type without a row has none of them.
#[rustfmt::skip]
const ABILITIES: [(Type, [Ability; 10]); 25] = [
    //                        3-D     card   recur-  multi-    own       network  dispute  charge-  vendors  Pix in
    //                        Secure  check  rence   currency  analysis  tokens   notice   back              installments
    (Type::Sandbox,          [YES,    YES,   YES,    YES,      YES,      ___,     ___,     ___,     YES,     YES]),
    (Type::Adyen,            [YES,    YES,   YES,    YES,      YES,      YES,     YES,     YES,     YES,     ___]),
    (Type::Barte,            [YES,    ___,   YES,    ___,      YES,      ___,     YES,     YES,     ___,     ___]),
    (Type::Bolt,             [___,    YES,   ___,    ___,      ___,      ___,     ___,     ___,     ___,     ___]),
    (Type::Braintree,        [___,    ___,   ___,    YES,      YES,      ___,     ___,     YES,     ___,     ___]),
    (Type::Braspag,          [___,    YES,   YES,    YES,      YES,      ___,     ___,     YES,     ___,     ___]),
    (Type::Cielo,            [___,    YES,   YES,    ___,      ___,      YES,     ___,     ___,     YES,     ___]),
    (Type::Drip,             [___,    ___,   ___,    ___,      ___,      ___,     ___,     ___,     ___,     YES]),
    (Type::Getnet,           [___,    ___,   ___,    YES,      YES,      YES,     ___,     ___,     YES,     ___]),
    (Type::GetnetSep,        [___,    YES,   ___,    ___,      YES,      YES,     ___,     ___,     ___,     ___]),
    (Type::Klap,             [___,    YES,   ___,    YES,      YES,      ___,     ___,     ___,     ___,     ___]),
    (Type::MercadoPago,      [___,    ___,   ___,    YES,      YES,      YES,     ___,     YES,     ___,     ___]),
    (Type::Nupay,            [___,    ___,   ___,    ___,      YES,      ___,     ___,     YES,     ___,     ___]),
    (Type::Owempay,          [___,    ___,   ___,    ___,      ___,      ___,     YES,     YES,     ___,     ___]),
    (Type::Pagarme,          [___,    ___,   ___,    ___,      YES,      ___,     YES,     YES,     ___,     ___]),
    (Type::PagarmeV5,        [___,    ___,   YES,    ___,      YES,      ___,     ___,     ___,     ___,     ___]),
    (Type::Pagseguro,        [___,    YES,   YES,    ___,      YES,      YES,     YES,     YES,     ___,     ___]),
    (Type::Paypal,           [___,    ___,   ___,    ___,      YES,      YES,     ___,     ___,     ___,     ___]),
    (Type::Picpay,           [___,    ___,   ___,    ___,      YES,      ___,     YES,     YES,     ___,     ___]),
    (Type::Platform,         [YES,    ___,   ___,    ___,      ___,      ___,     YES,     YES,     ___,     ___]),
    (Type::Rede,             [___,    YES,   ___,    ___,      ___,      YES,     ___,     ___,     YES,     ___]),
    (Type::Safrapay,         [___,    YES,   YES,    ___,      YES,      ___,     ___,     ___,     YES,     ___]),
    (Type::Stripe,           [YES,    YES,   YES,    YES,      YES,      ___,     YES,     YES,     ___,     ___]),
    (Type::Worldpay,         [___,    ___,   ___,    YES,      ___,      YES,     ___,     ___,     ___,     ___]),
    (Type::Zoop,             [___,    ___,   ___,    ___,      ___,      ___,     YES,     YES,     ___,     ___]),
];

/// Types that check only cards of these brands; the others check any.
const CARD_CHECK_BRANDS: [(Type, &[Brand]); 1] =
    [(Type::Cielo, &[Brand::Visa, Brand::Mastercard, Brand::Elo])];

/// Types that only analyse risk: at once, and later.
const RISK: [(Type, AntiFraud); 4] = [
    (Type::SandboxAntifraud, AntiFraud { real_time: YES, asynchronous: YES }),
    (Type::B2e, AntiFraud { real_time: ___, asynchronous: YES }),
    (Type::Clearsale, AntiFraud { real_time: YES, asynchronous: YES }),
    (Type::Konduto, AntiFraud { real_time: YES, asynchronous: ___ }),
];

/// A type without published capabilities.
const NOTHING: Capabilities = Capabilities {
    payment_types: NONE,
    pre_authorization: NONE,
    partial_capture: NONE,
    refund: No,
    split: NONE,
    pix_installments: ___,
    three_ds: ___,
    zero_dollar: ___,
    zero_dollar_brands: None,
    recurrence: ___,
    multi_currency: ___,
    own_anti_fraud: ___,
    network_tokens: ___,
    dispute_notice: ___,
    chargeback_notice: ___,
    vendors: ___,
    anti_fraud: None,
    installments_max: INSTALLMENTS_MAX,
};

/// The capabilities by type, combined from the rows above.
static TABLE: [Capabilities; ProviderType::ALL.len()] = {
    let mut table = [NOTHING; ProviderType::ALL.len()];
    let mut row = 0;
    while row < PAYMENTS.len() {
        let (of, charges, reserves, captures_parts, refund, splits) = PAYMENTS[row];
        assert!(of as usize == row, "a type has no row, or stands in the wrong place");
        table[row].payment_types = charges;
        table[row].pre_authorization = reserves;
        table[row].partial_capture = captures_parts;
        table[row].refund = refund;
        table[row].split = splits;
        row += 1;
    }
    row = 0;
    while row < ABILITIES.len() {
        let (of, abilities) = ABILITIES[row];
        let can = &mut table[of as usize];
        [
            can.three_ds,
            can.zero_dollar,
            can.recurrence,
            can.multi_currency,
            can.own_anti_fraud,
            can.network_tokens,
            can.dispute_notice,
            can.chargeback_notice,
            can.vendors,
            can.pix_installments,
        ] = abilities;
        row += 1;
    }
    row = 0;
    while row < CARD_CHECK_BRANDS.len() {
        let (of, brands) = CARD_CHECK_BRANDS[row];
        table[of as usize].zero_dollar_brands = Some(brands);
        row += 1;
    }
    row = 0;
    while row < RISK.len() {
        let (of, analyses) = RISK[row];
        table[of as usize].anti_fraud = Some(analyses);
        row += 1;
    }
    table
};
