//! The result of a replay as text.

use regente_domain::flow_replay::{Prediction, ProviderLine};

use super::Replayed;
use super::numbers::{count, fees, money, part_of, sentences};
use crate::cli::lists::columns;
use crate::terminal::printable;

pub(super) fn text(replayed: &Replayed) -> String {
    let Replayed { merchant_id, from, to, prediction, .. } = replayed;
    let Prediction { charges, approvals, providers, moves, .. } = prediction;
    let mut text = format!("{charges} charges of merchant {merchant_id}, {from} until before {to}\n");
    if *charges == 0 {
        return text;
    }
    let approved = [
        vec![String::new(), "RECORDED".to_owned(), "REPLAYED".to_owned(), "95 %".to_owned()],
        vec![
            "Approvals".to_owned(),
            approvals.recorded.to_string(),
            count(approvals.expected),
            format!("{} to {}", count(approvals.low), count(approvals.high)),
        ],
        vec![
            "Of all".to_owned(),
            part_of(approvals.recorded as f64, *charges),
            part_of(approvals.expected, *charges),
            format!("{} to {}", part_of(approvals.low, *charges), part_of(approvals.high, *charges)),
        ],
    ];
    text.push_str(&format!("\n{}\n", columns(&approved)));
    for sentence in sentences(replayed) {
        text.push_str(&format!("{sentence}\n"));
    }
    let mut lines = vec![
        ["PROVIDER", "CURRENCY", "TRIES", "REPLAYED", "APPROVALS", "REPLAYED", "APPROVED", "REPLAYED"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let has_fees = providers.iter().any(|line| line.recorded.fees.is_some());
    if has_fees {
        lines[0].extend(["FEES", "REPLAYED"].map(str::to_owned));
    }
    for ProviderLine { provider_id, currency, recorded, replayed: then } in providers {
        let mut cells = vec![
            printable(&replayed.name_of(Some(*provider_id))).into_owned(),
            currency.clone(),
            count(recorded.tries),
            count(then.tries),
            count(recorded.approvals),
            count(then.approvals),
            money(currency, recorded.volume),
            money(currency, then.volume),
        ];
        if has_fees {
            cells.extend([fees(currency, recorded.fees), fees(currency, then.fees)]);
        }
        lines.push(cells);
    }
    text.push_str(&format!("\n{}", columns(&lines)));
    let mut lines = vec![["ASKED FIRST", "REPLAYED", "CHARGES"].map(str::to_owned).to_vec()];
    for (before, then, charges) in moves {
        let name = |id| printable(&replayed.name_of(id)).into_owned();
        lines.push(vec![name(*before), name(*then), charges.to_string()]);
    }
    text.push_str(&format!("\n{}", columns(&lines)));
    text
}
