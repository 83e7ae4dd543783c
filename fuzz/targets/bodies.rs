//! Bodies of requests: an object is read as that of every resource. Its canonical text is that of an object which is equal to
//! it, what is stored is read to the same, and a refusal says why.

#![no_main]

use deserr::Deserr;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use regente::api::fields::Body;
use regente_domain::account_clock::NewAdvance;
use regente_domain::card::InlineCard;
use regente_domain::charge::sent::{LateCharge, NewCharge};
use regente_domain::cnab240::parties::{Company, Payer};
use regente_domain::customer::{CustomerChanges, NewCustomer};
use regente_domain::flow_replay::FeesFile;
use regente_domain::merchant::{MerchantChanges, NewMerchant, NewProvider, ProviderChanges};
use regente_domain::plan::{NewPlan, PlanChanges};
use regente_domain::prepayment::NewPrepayment;
use regente_domain::problems::Problems;
use regente_domain::purchase::SentPurchase;
use regente_domain::receipt::NewReceipt;
use regente_domain::report::{Filters, NewReport};
use regente_domain::seller::data::{BankAccount, SellerData};
use regente_domain::session::Patch;
use regente_domain::session::sent::{NewCardLink, NewSession, SessionPayment};
use regente_domain::subscription::data::{read_changes, read_new, read_settings};
use regente_domain::token::NewToken;
use regente_domain::vendor::{NewNamedVendor, VendorChanges, VendorData};
use regente_domain::webhook::{NewWebhook, WebhookChanges};
use regente_fuzz::{is_answer, is_stored};

fuzz_target!(|data: &[u8]| {
    let _ = Body::parse_array(data);
    let Ok(body) = Body::parse(data) else { return };
    let canonical = body.canonical_bytes();
    let again = Body::parse(&canonical).expect("a canonical text is a body");
    assert_eq!(again.canonical_bytes(), canonical);

    read::<CustomerChanges>(&body);
    read::<FeesFile>(&body).inspect(is_stored);
    read::<Filters>(&body).inspect(is_stored);
    read::<InlineCard>(&body);
    read::<LateCharge>(&body);
    read::<MerchantChanges>(&body);
    read::<NewAdvance>(&body);
    read::<NewCardLink>(&body);
    read::<NewCustomer>(&body);
    read::<NewMerchant>(&body);
    read::<NewNamedVendor>(&body);
    read::<NewPlan>(&body);
    read::<NewPrepayment>(&body);
    read::<NewProvider>(&body);
    read::<NewReceipt>(&body);
    read::<NewReport>(&body);
    read::<NewToken>(&body);
    read::<NewWebhook>(&body);
    read::<Patch>(&body);
    read::<PlanChanges>(&body);
    read::<ProviderChanges>(&body);
    read::<SellerData>(&body).inspect(is_stored);
    read::<SentPurchase>(&body);
    read::<VendorChanges>(&body);
    read::<VendorData>(&body).inspect(is_stored);
    read::<WebhookChanges>(&body);
    read::<BankAccount>(&body).inspect(is_stored);
    if let Some(company) = read::<Company>(&body) {
        let _ = Payer::of(&company);
    }

    let members = || body.members().clone();
    taken(NewCharge::read(members(), Problems::new()));
    taken(NewSession::read(members(), Problems::new()));
    taken(SessionPayment::read(members(), Problems::new()));
    for is_live in [false, true] {
        taken(read_new(body.members(), is_live));
        taken(read_changes(body.members(), is_live));
    }
    taken(read_settings(body.members()));
});

fn read<T: Deserr<Problems>>(body: &Body) -> Option<T> {
    taken(body.read_as())
}

fn taken<T>(read: Result<T, Problems>) -> Option<T> {
    read.inspect_err(is_answer).ok()
}

fuzz_mutator!(|data: &mut [u8], size: usize, size_max: usize, seed: u32| {
    regente_fuzz::json::mutate(data, size, size_max, seed, 0)
});
