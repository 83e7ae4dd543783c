//! Charges whose payer goes on at the page or in the application of a wallet
//! (`docs/interface/charges.md#nupay`, `#drip`, `#picpay`).

mod crashes;
pub(crate) mod drip;
mod nupay;
pub(crate) mod pages;
pub(crate) mod picpay;

use serde_json::Value;

use crate::support::app::TestApp;
use crate::support::bodies::payers::nupay_body;
use crate::support::three_d_secure;

/// A NuPay that awaits its payer.
pub(crate) async fn awaiting_nupay(app: &TestApp) -> Value {
    let merchant = three_d_secure::merchant(app).await;
    app.post("/v1/charges", &nupay_body(&merchant)).await.expect(201)
}
