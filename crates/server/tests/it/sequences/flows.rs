//! Flows: half of the merchants have some. Every branch has all their payment providers, in an order of its own, so that a flow
//! changes who is asked first and who analyses, and never whether a charge can be made.

use serde_json::{Value, json};

use super::Sequence;
use crate::support::app::TestApp;
use crate::support::flows::{FLOWS, balance, compares, condition};

/// The half of the amounts that sequences draw.
const MIDDLE: i64 = 5_000;

impl Sequence {
    /// Publishes flows of the merchant, and later others in their place.
    pub(super) async fn publish(&mut self, app: &TestApp, merchant: &str) {
        if self.flows.one_in(2) {
            return;
        }
        let shown = app.get(&format!("/v1/merchants/{merchant}")).await.expect(200);
        let (mut payers, mut analysts) = (Vec::new(), Vec::new());
        for provider in shown["providers"].as_array().unwrap() {
            let group = if provider["name"] == "Risk" { &mut analysts } else { &mut payers };
            group.push(provider["id"].clone());
        }
        for method in ["credit", "pix", "boleto"] {
            let analysts = if method == "credit" { &analysts[..] } else { &[] };
            let root = self.root(&payers, analysts);
            let body = json!({ "merchantId": merchant, "paymentMethod": method,
                "flow": { "version": "0.0.0", "root": root } });
            app.post(FLOWS, &body).await.expect(201);
        }
    }

    fn root(&mut self, payers: &[Value], analysts: &[Value]) -> Value {
        let mut ways = [self.branch(payers, analysts), self.branch(payers, analysts)];
        match self.flows.below(3) {
            0 => ways[0].take(),
            1 => {
                let [yes, no] = ways;
                json!([condition(compares("amount", "lt", MIDDLE), yes, no)])
            }
            _ => json!([balance([json!(30), json!(70)], ways)]),
        }
    }

    fn branch(&mut self, payers: &[Value], analysts: &[Value]) -> Value {
        let mut nodes = Vec::new();
        if self.flows.one_in(2) {
            nodes.extend(analysts.iter().map(|id| json!({ "rule": "antiFraud", "id": id })));
        }
        let first = usize::try_from(self.flows.below(payers.len() as u64)).unwrap();
        let order = payers[first..].iter().chain(&payers[..first]);
        nodes.extend(order.map(|id| json!({ "rule": "provider", "id": id })));
        json!(nodes)
    }
}
