//! The ledger: its tables as the documents have them, and random histories of charges.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::attempt::{Asks, RequestType, TransactionRequest};
use regente_domain::charge::reversal::{Reversal, ReversalKind, ReversalVerdict};
use regente_domain::charge::{Charge, FollowUpKind, SecurityCode, SimulatedStatus, StateName, Transition};
use regente_domain::currency::Currency;
use regente_domain::id::SellerId;
use regente_domain::ledger::{
    self, Account, Books, Entry, Movement, Nature, OfSeller, POSTINGS, Purpose, Source, Subject,
};
use regente_domain::money::Amount;
use regente_domain::percentage::Percentage;
use regente_domain::platform_fee::{FeeMethod, PlatformFee, Terms};
use regente_domain::routing::explanation::Stopped;
use regente_domain::settlement::{Kind, Moved, moved};
use regente_domain::split::{Bears, SellerReturn, Share, Split, SplitRule, WholePercent};

use crate::charge::{NOW, SANDBOX, approved, authorization, charge, hop, id, request};
use crate::splitmix::splitmix64;

/// Histories by default; `REGENTE_SEEDS` takes another number.
const SEEDS: u64 = 2000;

/// The cells of the table of `docs/ledger.md` with this head, without their quotes.
fn table(head: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ledger.md");
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().skip_while(|line| *line != head).skip(2);
    let cells = |line: &str| {
        line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
    };
    rows.take_while(|line| line.starts_with('|')).map(cells).collect()
}

#[test]
fn the_chart_of_accounts_is_the_documented_one() {
    let documented = table("| purpose | nature | of a seller | what it holds |");
    let of_code: Vec<Vec<String>> = Purpose::WORDS
        .iter()
        .map(|(word, purpose)| {
            [*word, purpose.nature().word(), purpose.of_seller().word()].map(str::to_owned).to_vec()
        })
        .collect();
    let documented: Vec<Vec<String>> = documented.into_iter().map(|row| row[..3].to_vec()).collect();
    assert_eq!(documented, of_code);
    assert_eq!(Nature::WORDS.len(), 6);
}

#[test]
fn the_posting_rules_are_the_documented_ones() {
    let documented = table("| movement | part | debit | credit |");
    let of_code: Vec<Vec<String>> = POSTINGS
        .iter()
        .map(|rule| {
            let words = [rule.movement.word(), rule.subject.word(), rule.debit.word(), rule.credit.word()];
            words.map(str::to_owned).to_vec()
        })
        .collect();
    assert_eq!(documented, of_code);
    for (word, movement) in Movement::WORDS {
        assert!(POSTINGS.iter().any(|rule| rule.movement == *movement), "{word} has no rule");
    }
    for rule in POSTINGS {
        let same = POSTINGS.iter().filter(|o| (o.movement, o.subject) == (rule.movement, rule.subject));
        assert_eq!(same.count(), 1, "{rule:?}");
        let is_memorandum =
            |purpose: Purpose| matches!(purpose.nature(), Nature::Memorandum | Nature::MemorandumContra);
        assert_eq!(is_memorandum(rule.debit), is_memorandum(rule.credit), "{rule:?}");
        let sellers = [rule.debit, rule.credit].map(Purpose::of_seller);
        assert_ne!(sellers.map(|of| of == OfSeller::Never), [false, false], "{rule:?}");
    }
}

/// The entries of a change, as rows of the table: movement, debit, credit, amount.
fn posted(before: Option<&Charge>, after: &Charge) -> Vec<(&'static str, &'static str, &'static str, i64)> {
    let entries = ledger::entries(before, after);
    let row = |entry: &Entry| {
        (entry.movement.word(), entry.debit.word(), entry.credit.word(), entry.amount.minor_units())
    };
    entries.iter().map(row).collect()
}

fn amount(minor_units: i64) -> Amount {
    Amount::new(minor_units).unwrap()
}

fn seller(n: u128) -> SellerId {
    id(0x5E00 + n)
}

fn rule(n: u128, share: Share, liable: bool) -> SplitRule {
    SplitRule {
        id: id(0x7000 + n),
        seller_id: seller(n),
        share,
        bears: Bears { liable: Some(liable), ..Bears::default() },
    }
}

fn percent(percent: u8) -> Share {
    Share::Percentage(WholePercent::new(percent).unwrap())
}

#[test]
fn a_reservation_is_released_when_a_part_is_captured() {
    let charge = Charge { capture: CaptureMode::Manual, ..charge() };
    let reserved = charge.approve(SANDBOX, charge.amount, NOW).unwrap().charge;
    assert_eq!(posted(None, &charge), []);
    assert_eq!(posted(Some(&charge), &reserved), [("authorization_hold", "hold", "hold_contra", 150)]);
    let (opened, _) = reserved.open(FollowUpKind::Capture, Some(amount(100)), NOW).unwrap();
    assert_eq!(posted(Some(&reserved), &opened), []);
    let captured = opened.settle(NOW).unwrap().charge;
    let expected = [
        ("hold_release", "hold_contra", "hold", 150),
        ("capture", "provider_receivable", "merchant_payable", 100),
    ];
    assert_eq!(posted(Some(&opened), &captured), expected);
    let entries = ledger::entries(Some(&opened), &captured);
    assert!(entries.iter().all(|entry| entry.at == captured.updated_at));
    let sources: Vec<Source> = entries.iter().map(|entry| entry.source).collect();
    let source = |ordinal| Source { id: captured.id.uuid(), version: captured.version, ordinal };
    assert_eq!(sources, [source(0), source(1)]);
}

/// Sellers of 50 % and 25 %, the first of whom is liable.
#[test]
fn each_part_of_a_split_is_posted_and_what_sellers_are_not_liable_for_is_the_merchants() {
    let rules = vec![rule(1, percent(50), true), rule(2, percent(25), false)];
    let charge = Charge { split: Some(Box::new(Split::new(rules, None))), ..charge() };
    let taken = charge.approve(SANDBOX, amount(150), NOW).unwrap().charge;
    let expected = [
        ("capture", "provider_receivable", "merchant_payable", 37),
        ("capture", "provider_receivable", "seller_payable", 75),
        ("capture", "provider_receivable", "seller_payable", 38),
    ];
    assert_eq!(posted(Some(&charge), &taken), expected);
    let sellers: Vec<_> = ledger::entries(None, &taken).iter().map(|entry| entry.seller_id).collect();
    assert_eq!(sellers, [None, Some(seller(1)), Some(seller(2))]);
    let requests = [authorization(0, approved())];
    let lost = Reversal::new(ReversalKind::ChargedBack, "case".to_owned(), None);
    let ReversalVerdict::Applies(reversed) = taken.reverse(&requests, &requests[0], &lost, NOW) else {
        panic!("it applies")
    };
    let expected = [
        ("charge_back", "merchant_payable", "provider_receivable", 75),
        ("charge_back", "seller_payable", "provider_receivable", 75),
    ];
    let lost = reversed.transition.charge.clone();
    assert_eq!(posted(Some(&taken), &lost), expected);
    // The case is decided for the merchant after all: each has again what it has lost.
    let requests = [authorization(0, approved()), reversed.request(id(0xCA5E))];
    let won = Reversal::new(ReversalKind::DisputeWon, "case".to_owned(), None);
    let ReversalVerdict::Applies(reversed) = lost.reverse(&requests, &requests[0], &won, NOW) else {
        panic!("it applies")
    };
    let expected = [
        ("charge_back_reversal", "provider_receivable", "merchant_payable", 75),
        ("charge_back_reversal", "provider_receivable", "seller_payable", 75),
    ];
    let won = reversed.transition.charge;
    assert_eq!(posted(Some(&lost), &won), expected);
    assert_eq!(won.state.name(), StateName::Authorized);
}

#[test]
fn what_was_never_posted_is_opened_and_what_was_posted_too_much_is_taken_back() {
    let taken = charge().approve(SANDBOX, amount(150), NOW).unwrap().charge;
    let all = ledger::entries(None, &taken);
    assert_eq!(ledger::opening(&taken, ledger::posted(&all)), []);
    let opened = ledger::opening(&taken, ledger::Position::new());
    assert_eq!(ledger::posted(&opened), ledger::position(&taken));
    assert_eq!((opened[0].movement, opened[0].source.ordinal), (Movement::Opening, -1));
    // A node of an earlier release has refunded 50.
    let refunded = Charge { amount: amount(100), version: taken.version + 1, ..taken };
    let [correction] = ledger::opening(&refunded, ledger::posted(&all))[..] else { panic!("one entry") };
    assert_eq!(
        (correction.debit, correction.credit),
        (Purpose::MerchantPayable, Purpose::ProviderReceivable)
    );
    assert_eq!(correction.amount, amount(50));
}

#[test]
fn an_entry_names_a_seller_where_it_has_one() {
    let books =
        Books { client_id: id(2), merchant_id: id(3), provider_type: SANDBOX, currency: Currency::BRL };
    let source = Source { id: id::<()>(9).uuid(), version: 0, ordinal: 0 };
    let entry = |movement, subject, seller_id, minor_units| {
        books.entry(source, NOW, movement, subject, seller_id, minor_units)
    };
    let fee = entry(Movement::ProviderFee, Subject::Provider, Some(seller(1)), 30).unwrap();
    assert_eq!((fee.debited().seller_id, fee.credited().seller_id), (Some(seller(1)), None));
    // A fee that is given back is posted the other way round.
    let returned = entry(Movement::ProviderFee, Subject::Provider, None, -30).unwrap();
    assert_eq!((returned.debit, returned.credit), (fee.credit, fee.debit));
    assert_eq!((returned.amount, returned.seller_id), (amount(30), None));
    let merchants = entry(Movement::Capture, Subject::Merchant, Some(seller(1)), 30).unwrap();
    assert_eq!(merchants.seller_id, None);
    assert_eq!(entry(Movement::Capture, Subject::Seller, None, 30), None, "whose?");
    assert_eq!(entry(Movement::Capture, Subject::Provider, None, 30), None, "no such rule");
    assert_eq!(entry(Movement::Payout, Subject::Provider, None, 0), None);
    assert_eq!(entry(Movement::Payout, Subject::Provider, None, i64::MAX), None);
}

struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        splitmix64(&mut self.0)
    }

    fn below(&mut self, n: i64) -> i64 {
        i64::try_from(self.next() % n.unsigned_abs().max(1)).unwrap()
    }

    fn one_in(&mut self, n: i64) -> bool {
        self.below(n) == 0
    }

    fn split(&mut self, total: i64) -> Option<Box<Split>> {
        if self.one_in(3) {
            return None;
        }
        let sellers = 1 + self.below(4);
        let by_percentage = self.one_in(2);
        let rules = (1..=sellers).map(|n| {
            let share = match by_percentage {
                true => percent(u8::try_from(1 + self.below(100 / sellers)).unwrap()),
                false => Share::Amount(amount((1 + self.below(total / sellers)).min(total / sellers).max(1))),
            };
            rule(n.unsigned_abs().into(), share, self.one_in(2))
        });
        // By amounts there may be no room for a fee.
        let rules: Vec<SplitRule> = rules.collect();
        let fee = (by_percentage && self.one_in(2)).then(|| self.fee());
        Some(Box::new(Split::new(rules, fee)))
    }

    fn fee(&mut self) -> PlatformFee {
        PlatformFee {
            rule_id: id(0x7FEE),
            terms: Terms {
                percentage: Percentage::parse(["0.5", "3.33", "12"][usize::try_from(self.below(3)).unwrap()]),
                fixed_amount: self.one_in(2).then(|| amount(self.below(3))),
                payment_method: FeeMethod::Default,
                installment: None,
            },
            applied_at: NOW,
        }
    }
}

/// What has happened to a charge: the books, and what a bookkeeper without them would say.
struct History {
    dice: Dice,
    charge: Charge,
    requests: Vec<TransactionRequest>,
    entries: Vec<Entry>,
    /// Movements of money that were met.
    met: BTreeMap<&'static str, usize>,
    /// A tester has set a status by hand: no request says what has moved.
    is_by_hand: bool,
}

impl History {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let total = 4 + dice.below(2000);
        let capture = if dice.one_in(2) { CaptureMode::Automatic } else { CaptureMode::Manual };
        let split = dice.split(total);
        let (amount, original_amount) = (amount(total), amount(total));
        let charge =
            Charge { id: id(u128::from(seed) + 1), amount, original_amount, capture, split, ..charge() };
        let mut history = Self {
            dice,
            charge,
            requests: Vec::new(),
            entries: Vec::new(),
            met: BTreeMap::new(),
            is_by_hand: false,
        };
        history.entries.extend(ledger::entries(None, &history.charge));
        history
    }

    /// Moves on. A crash before the batch leaves the charge as it was; after it, everything is there.
    fn moved(&mut self, after: Charge) {
        if self.dice.one_in(5) {
            return;
        }
        let entries = ledger::entries(Some(&self.charge), &after);
        for entry in &entries {
            *self.met.entry(entry.movement.word()).or_default() += 1;
        }
        self.entries.extend(entries);
        self.charge = after;
        self.agrees();
    }

    fn transition(&mut self, transition: Transition) {
        self.moved(transition.charge);
    }

    fn step(&mut self) {
        let charge = self.charge.clone();
        match charge.state.name() {
            StateName::Processing => match self.dice.below(5) {
                0 => self.transition(charge.fail(SANDBOX, Stopped::NotRetryable, NOW).unwrap()),
                1 => self.transition(charge.await_payer(SANDBOX, SecurityCode::NotNeeded, NOW).unwrap()),
                2 if charge.capture == CaptureMode::Manual => {
                    let kind = if self.dice.one_in(2) { FollowUpKind::Capture } else { FollowUpKind::Void };
                    self.moved(charge.open_at_once(kind, SANDBOX, NOW).unwrap().0);
                }
                _ => self.approve(),
            },
            StateName::AwaitingPayer => self.approve(),
            StateName::PreAuthorized | StateName::Authorized if self.dice.one_in(12) => {
                let statuses = SimulatedStatus::WORDS;
                let (_, status) = statuses[usize::try_from(self.dice.below(5)).unwrap()];
                if let Ok(simulated) = charge.simulate(status, NOW) {
                    self.is_by_hand = true;
                    self.transition(simulated);
                }
            }
            StateName::PreAuthorized => {
                let kind = if self.dice.one_in(3) { FollowUpKind::Void } else { FollowUpKind::Capture };
                self.open(kind);
            }
            StateName::Authorized | StateName::Voided | StateName::ChargedBack if self.dice.one_in(2) => {
                self.reverse();
            }
            StateName::Authorized => self.open(FollowUpKind::Void),
            StateName::CapturePending | StateName::RefundPending | StateName::RefundAccepted => {
                self.outcome()
            }
            StateName::Failed | StateName::Canceled | StateName::Voided | StateName::ChargedBack => {}
        }
    }

    /// A payer may pay less than they were asked for.
    fn approve(&mut self) {
        let asked = self.charge.amount.minor_units();
        let paid = if self.dice.one_in(6) { 1 + self.dice.below(asked) } else { asked };
        let approved_charge = self.charge.approve(SANDBOX, amount(paid), NOW).unwrap();
        let asks = Asks { amount: amount(paid), ..self.charge.authorization_at(hop(0)) };
        let version = self.charge.version;
        self.transition(approved_charge);
        if self.charge.version > version {
            self.requests = vec![request(0, asks, approved())];
        }
    }

    fn open(&mut self, kind: FollowUpKind) {
        let rest = self.charge.amount.minor_units();
        let part = (!self.dice.one_in(3)).then(|| amount(1 + self.dice.below(rest)));
        let given: Vec<SellerReturn> = match kind {
            FollowUpKind::Void if self.dice.one_in(4) => {
                let seller = SellerReturn { seller_id: seller(1), amount: amount(1 + self.dice.below(rest)) };
                vec![seller]
            }
            FollowUpKind::Void | FollowUpKind::Capture => Vec::new(),
        };
        if let Ok((opened, _)) = self.charge.open_giving_back(kind, part, &given, NOW) {
            self.moved(opened);
        }
    }

    fn outcome(&mut self) {
        let open = *self.charge.state.open_operation().unwrap();
        let after = match self.dice.below(5) {
            0 => self.charge.withdraw(NOW),
            1 => self.charge.accept(NOW),
            _ => self.charge.settle(NOW),
        };
        let before = self.charge.clone();
        self.moved(after.unwrap().charge);
        let is_capture = before.state.name() == StateName::CapturePending;
        let kind = if is_capture { RequestType::Capture } else { RequestType::Void };
        let is_done = match self.charge.state.name() {
            StateName::Authorized => is_capture || self.charge.amount != before.amount,
            StateName::Canceled | StateName::Voided => true,
            StateName::PreAuthorized
            | StateName::CapturePending
            | StateName::RefundPending
            | StateName::RefundAccepted
            | StateName::Processing
            | StateName::AwaitingPayer
            | StateName::Failed
            | StateName::ChargedBack => false,
        };
        if let Some(payment) = self.requests.first()
            && is_done
        {
            let asks = Asks::about(payment, kind, open.amount);
            self.requests.push(request(u128::try_from(open.ordinal).unwrap(), asks, approved()));
        }
    }

    fn reverse(&mut self) {
        if self.requests.is_empty() {
            return;
        }
        let about = self.dice.below(i64::try_from(self.requests.len()).unwrap());
        let about = self.requests[usize::try_from(about).unwrap()].clone();
        let kinds = [
            ReversalKind::RefundReverted,
            ReversalKind::RefundReverted,
            ReversalKind::DisputeOpened,
            ReversalKind::DisputeWon,
            ReversalKind::DisputeLost,
            ReversalKind::ChargedBack,
        ];
        let kind = kinds[usize::try_from(self.dice.below(6)).unwrap()];
        // Disputes of few cases, so that one ends several times; each refund comes back under a name of its own.
        let case = match kind {
            ReversalKind::RefundReverted => self.dice.next(),
            ReversalKind::DisputeOpened
            | ReversalKind::DisputeWon
            | ReversalKind::ChargeBackReversed
            | ReversalKind::DisputeLost
            | ReversalKind::ChargedBack => self.dice.next() % 2,
        };
        let part = self.dice.one_in(2).then(|| amount(1 + self.dice.below(500)));
        let reversal = Reversal::new(kind, format!("case {case}"), part);
        if let ReversalVerdict::Applies(reversed) =
            self.charge.reverse(&self.requests, &about, &reversal, NOW)
        {
            let version = self.charge.version;
            let told = reversed.request(id(0xCA5E_0000 + self.requests.len() as u128));
            self.transition(reversed.transition);
            if self.charge.version > version {
                self.requests.push(told);
            }
        }
    }

    /// What is compared with settlement files adds up to what the provider owes by the books.
    fn settles(&self) {
        if self.is_by_hand || self.requests.is_empty() {
            return;
        }
        let owed = |moved: &Moved| match moved.kind {
            Kind::Sale | Kind::RefundReverted | Kind::ChargeBackReversal => moved.amount,
            Kind::Refund | Kind::ChargeBack => -moved.amount,
            Kind::Fee | Kind::Payout | Kind::Anticipation => panic!("no request says it"),
        };
        let by_requests: i64 = moved(&self.charge, &self.requests).iter().map(owed).sum();
        let side = |entry: &Entry| match (entry.debit, entry.credit) {
            (Purpose::ProviderReceivable, _) => entry.amount.minor_units(),
            (_, Purpose::ProviderReceivable) => -entry.amount.minor_units(),
            (_, _) => 0,
        };
        assert_eq!(by_requests, self.entries.iter().map(side).sum::<i64>(), "{:#?}", self.requests);
    }

    /// The books say what the charge says, to the cent and by its rules.
    fn agrees(&self) {
        let mut sums: BTreeMap<Account, i64> = BTreeMap::new();
        for entry in &self.entries {
            assert!(entry.amount > Amount::ZERO && entry.debit != entry.credit, "{entry:?}");
            *sums.entry(entry.debited()).or_default() += entry.amount.minor_units();
            *sums.entry(entry.credited()).or_default() -= entry.amount.minor_units();
        }
        assert_eq!(sums.values().sum::<i64>(), 0);
        let of = |purpose: Purpose, seller_id: Option<SellerId>| -> i64 {
            let is_asked = |account: &&Account| account.purpose == purpose && account.seller_id == seller_id;
            sums.keys().filter(is_asked).map(|account| sums[account]).sum()
        };
        let amount = self.charge.amount.minor_units();
        let name = self.charge.state.name();
        let is_of_reservation = of(Purpose::Hold, None) > 0;
        let (held, taken) = match name {
            StateName::PreAuthorized | StateName::CapturePending => (amount, 0),
            StateName::Authorized => (0, amount),
            StateName::RefundPending | StateName::RefundAccepted if is_of_reservation => (amount, 0),
            StateName::RefundPending | StateName::RefundAccepted => (0, amount),
            StateName::Processing
            | StateName::AwaitingPayer
            | StateName::Failed
            | StateName::Canceled
            | StateName::Voided => (0, 0),
            StateName::ChargedBack => (0, amount - self.charge.parts_on_charge_back().total().minor_units()),
        };
        assert_eq!((of(Purpose::Hold, None), -of(Purpose::HoldContra, None)), (held, held), "{name:?}");
        assert_eq!(of(Purpose::ProviderReceivable, None), taken, "{name:?}");
        if taken > 0 && name != StateName::ChargedBack {
            let parts = self.charge.parts();
            assert_eq!(-of(Purpose::MerchantPayable, None), parts.merchant.minor_units());
            assert_eq!(-of(Purpose::PlatformFee, None), parts.fee.minor_units());
            for (seller_id, part) in parts.sellers {
                assert_eq!(-of(Purpose::SellerPayable, Some(seller_id)), part.minor_units());
            }
        }
        assert_eq!(ledger::posted(&self.entries), ledger::position(&self.charge));
        assert_eq!(ledger::opening(&self.charge, ledger::posted(&self.entries)), []);
        let mut sources: Vec<Source> = self.entries.iter().map(|entry| entry.source).collect();
        sources.sort_unstable();
        assert!(sources.windows(2).all(|pair| pair[0] != pair[1]), "two entries of one place");
    }
}

#[test]
fn random_histories_leave_books_that_say_what_the_charges_say() {
    let seeds = std::env::var("REGENTE_SEEDS").map_or(SEEDS, |text| text.parse().unwrap());
    let mut met: BTreeMap<&'static str, usize> = BTreeMap::new();
    for seed in 0..seeds {
        let mut history = History::new(seed);
        for _ in 0..24 {
            history.step();
            history.settles();
        }
        for (word, times) in history.met {
            *met.entry(word).or_default() += times;
        }
    }
    let all = [
        "authorization_hold",
        "hold_release",
        "capture",
        "refund",
        "refund_reverted",
        "charge_back",
        "charge_back_reversal",
    ];
    assert!(seeds < SEEDS || all.iter().all(|word| met.contains_key(word)), "{met:?}");
}
