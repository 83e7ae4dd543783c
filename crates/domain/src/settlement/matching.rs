//! Compares the lines of one payment with what the records have of it.

use std::collections::{BTreeMap, HashMap};

use super::{Borne, Kind, Line, LinePart, Moved, Verdict};
use crate::id::{ClientId, ProviderId, SellerId};
use crate::time::Timestamp;

/// What was found about a line, about a request, or about both together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What was found.
    pub verdict: Verdict,
    /// The line, if there is one.
    pub line: Option<Line>,
    /// The request; for what only the provider knows, any of the same payment.
    pub ours: Option<Moved>,
    /// Who bears how much of what only the provider knows, or of what it has settled less than the records say.
    pub borne: Borne,
}

/// One payment.
#[derive(Clone, Debug, Default)]
pub struct SettledPayment {
    /// The lines of the file, in its order. No two have the same name and kind.
    pub lines: Vec<Line>,
    /// Lines with the name and kind of an earlier one of the file.
    pub doubled: Vec<Line>,
    /// The requests.
    pub ours: Vec<Moved>,
}

/// Whether the file must have what happened at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Yes,
    Perhaps,
    No,
}

/// The time that a file is about. Clocks differ a little, so near its ends nothing is sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// From then on.
    pub from: Timestamp,
    /// Until before then.
    pub to: Timestamp,
    /// How far clocks may differ.
    pub edge: std::time::Duration,
    /// Whether everything that moved then is in the file; otherwise nothing is missing.
    pub is_complete: bool,
}

impl Covered {
    fn holds(&self, at: Timestamp) -> bool {
        at >= self.from && at < self.to
    }

    pub(super) fn due(&self, at: Timestamp) -> Due {
        if !self.is_complete {
            Due::No
        } else if at >= self.from + self.edge && at < self.to - self.edge {
            Due::Yes
        } else if at >= self.from - self.edge && at < self.to + self.edge {
            Due::Perhaps
        } else {
            Due::No
        }
    }
}

/// Judges what has one name. The provider's ids are its own within each registration, so payments of several may have the
/// same one, and nothing tells whose a line is then.
pub fn judge_named(
    SettledPayment { lines, doubled, ours }: SettledPayment,
    covered: Option<&Covered>,
) -> Vec<Judged> {
    let mut owners: BTreeMap<(ClientId, ProviderId), Vec<Moved>> = BTreeMap::new();
    for ours in ours {
        owners.entry((ours.client_id, ours.provider_id)).or_default().push(ours);
    }
    if owners.len() > 1 && !(lines.is_empty() && doubled.is_empty()) {
        let unassigned = lines.into_iter().map(|line| (Verdict::Unassigned, line));
        let doubled = doubled.into_iter().map(|line| (Verdict::Doubled, line));
        return unassigned.chain(doubled).map(|(verdict, line)| Judged::alone(verdict, line, None)).collect();
    }
    let owners = owners.into_values().map(|ours| SettledPayment { ours, ..SettledPayment::default() });
    let mut owners: Vec<SettledPayment> = owners.collect();
    match owners.first_mut() {
        Some(payment) => (payment.lines, payment.doubled) = (lines, doubled),
        None => owners.push(SettledPayment { lines, doubled, ours: Vec::new() }),
    }
    owners.into_iter().flat_map(|payment| judge(payment, covered)).collect()
}

/// Judges the lines and the requests of one payment. A line settles one request. First those find each other that are
/// equal, then those whose amounts are, then those of the same kind and currency, then those of the same kind. Of several
/// that fit, a line settles one of the days of the file rather than one of other days, which another file has settled or
/// will; of these the nearest in time. `covered` is `None` where nothing says which days the file is about.
pub fn judge(
    SettledPayment { lines, doubled, ours }: SettledPayment,
    covered: Option<&Covered>,
) -> Vec<Judged> {
    let books = ours.first().cloned();
    let recipients: Recipients = ours
        .iter()
        .flat_map(|ours| ours.parts.iter().map(|part| (part.recipient.clone(), part.seller_id)))
        .collect();
    let doubled = doubled.into_iter().map(|line| Judged::alone(Verdict::Doubled, line, books.as_ref()));
    let mut judged: Vec<Judged> = doubled.collect();
    let (mut open, only_theirs): (Vec<Line>, Vec<Line>) =
        lines.into_iter().partition(|line| line.kind.moves_a_charge());
    judged.extend(only_theirs.into_iter().map(|line| of_the_provider(line, books.as_ref(), &recipients)));
    open.sort_by_key(|line| line.at);
    let mut left: Vec<Moved> = ours;
    let mut settled: Vec<(Kind, i64, String)> = Vec::new();
    for fit in [Fit::Parts, Fit::Amount, Fit::Currency, Fit::Kind] {
        for line in std::mem::take(&mut open) {
            let fitting = left.iter().enumerate().filter(|(_, ours)| fit.holds(&line, ours));
            let nearest = fitting.min_by_key(|(_, ours)| {
                let is_elsewhere = !covered.is_some_and(|covered| covered.holds(ours.at));
                let distance = line.at.as_millis().abs_diff(ours.at.as_millis());
                (is_elsewhere, distance, ours.at, ours.request_id)
            });
            let Some((place, _)) = nearest else {
                open.push(line);
                continue;
            };
            settled.push((line.kind, line.amount, line.currency.clone()));
            let ours = left.remove(place);
            let (verdict, borne) = match fit {
                Fit::Parts | Fit::Kind => (fit.verdict(), Borne::new()),
                Fit::Amount | Fit::Currency if names_a_stranger(&line, &ours, &recipients) => {
                    (Verdict::Unassigned, Borne::new())
                }
                Fit::Amount | Fit::Currency => (fit.verdict(), differences(&line, &ours, &recipients)),
            };
            judged.push(Judged { verdict, line: Some(line), ours: Some(ours), borne });
        }
    }
    let mut is_sold = settled.iter().any(|(kind, ..)| *kind == Kind::Sale);
    for line in open {
        let is_again = settled.iter().any(|(kind, amount, currency)| {
            (*kind, *amount, currency) == (line.kind, line.amount, &line.currency)
        });
        let verdict = match is_again {
            true => Verdict::Doubled,
            false if line.kind == Kind::Sale && is_sold => Verdict::SoldAgain,
            false => Verdict::MissingHere,
        };
        is_sold |= line.kind == Kind::Sale;
        judged.push(Judged::alone(verdict, line, books.as_ref()));
    }
    // Of a charge back that found nothing left, no line needs to be.
    for ours in left.into_iter().filter(|ours| ours.amount != 0) {
        let verdict = match covered.map_or(Due::No, |covered| covered.due(ours.at)) {
            Due::Yes => Verdict::MissingThere,
            Due::Perhaps => Verdict::OnTheEdge,
            Due::No => continue,
        };
        judged.push(Judged { verdict, line: None, ours: Some(ours), borne: Borne::new() });
    }
    judged
}

impl Judged {
    /// A line of which nothing is posted.
    pub fn alone(verdict: Verdict, line: Line, books: Option<&Moved>) -> Self {
        Self { verdict, line: Some(line), ours: books.cloned(), borne: Borne::new() }
    }
}

/// The sellers of a payment by their ids at the provider.
type Recipients = HashMap<String, SellerId>;

/// Judges what only the provider knows of a payment.
fn of_the_provider(line: Line, books: Option<&Moved>, recipients: &Recipients) -> Judged {
    let Some(moved) = books else { return Judged::alone(Verdict::MissingHere, line, None) };
    if moved.currency.code() != line.currency {
        return Judged::alone(Verdict::ForeignCurrency, line, books);
    }
    let mut borne = Borne::new();
    let mut rest = line.amount;
    // What was taken unknown to the charge, and given back, is divided nowhere in the books: it is the merchant's.
    let is_divided = !(recipients.is_empty() && moved.is_split);
    for part in line.parts.iter().filter(|_| is_divided) {
        let Some(seller_id) = recipients.get(&part.recipient) else {
            return Judged::alone(Verdict::Unassigned, line, books);
        };
        borne.push((Some(*seller_id), part.amount));
        rest -= part.amount;
    }
    borne.push((line.seller_id, rest));
    Judged { verdict: Verdict::Matched, line: Some(line), ours: books.cloned(), borne }
}

/// Whether a line names a recipient who has no part of the payment, although the books divide it: nothing tells whose that
/// part is.
fn names_a_stranger(line: &Line, ours: &Moved, recipients: &Recipients) -> bool {
    let is_known = |part: &LinePart| part.amount == 0 || recipients.contains_key(&part.recipient);
    !ours.parts.is_empty() && !line.parts.iter().all(is_known)
}

/// By how much less the provider has settled than the records say, for each who has a part of it; negative for more.
fn differences(line: &Line, ours: &Moved, recipients: &Recipients) -> Borne {
    let total = ours.kind.owed(ours.amount - line.amount);
    let mut sellers: BTreeMap<SellerId, i64> = BTreeMap::new();
    if !line.parts.is_empty() && !ours.parts.is_empty() {
        for part in &ours.parts {
            *sellers.entry(part.seller_id).or_default() += ours.kind.owed(part.amount);
        }
        for part in &line.parts {
            if let Some(seller_id) = recipients.get(&part.recipient) {
                *sellers.entry(*seller_id).or_default() -= ours.kind.owed(part.amount);
            }
        }
    }
    let merchants = total - sellers.values().sum::<i64>();
    let sellers = sellers.into_iter().map(|(seller_id, less)| (Some(seller_id), less));
    sellers.chain([(None, merchants)]).filter(|(_, less)| *less != 0).collect()
}

/// Whether both divide an amount in the same way, as far as both say it.
fn is_divided_alike(line: &Line, ours: &Moved) -> bool {
    if line.parts.is_empty() || (ours.parts.is_empty() && ours.is_split) {
        return true;
    }
    let theirs = line.parts.iter().map(|part| (part.recipient.as_str(), part.amount));
    let ours = ours.parts.iter().map(|part| (part.recipient.as_str(), part.amount));
    let has_part = |part: &(&str, i64)| part.1 != 0;
    theirs.filter(has_part).collect::<BTreeMap<_, _>>() == ours.filter(has_part).collect::<BTreeMap<_, _>>()
}

/// How well a line and a request fit each other, best first.
#[derive(Clone, Copy)]
enum Fit {
    Parts,
    Amount,
    Currency,
    Kind,
}

impl Fit {
    fn holds(self, line: &Line, ours: &Moved) -> bool {
        let is_same_currency = ours.currency.code() == line.currency;
        let is_same_amount = is_same_currency && ours.amount == line.amount;
        ours.kind == line.kind
            && match self {
                Self::Parts => is_same_amount && is_divided_alike(line, ours),
                Self::Amount => is_same_amount,
                Self::Currency => is_same_currency,
                Self::Kind => true,
            }
    }

    const fn verdict(self) -> Verdict {
        match self {
            Self::Parts => Verdict::Matched,
            Self::Amount => Verdict::DifferingParts,
            Self::Currency => Verdict::DifferingAmount,
            Self::Kind => Verdict::ForeignCurrency,
        }
    }
}
