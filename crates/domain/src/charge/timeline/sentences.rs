//! Writes the timeline of a charge as sentences, one a line.

use std::time::Duration;

use crate::capture_mode::CaptureMode;
use crate::charge::attempt::{
    AuthenticationStep, OpenReason, Reported, RequestGroup, RequestType, RiskStep, ToldBy,
};
use crate::charge::{Charge, ChargeState, FollowUpKind, Held, PaidOtherwise};
use crate::decline::Decline;
use crate::money::Amount;
use crate::routing::explanation::{CircuitNote, Skipped, Stopped};

use super::{Candidate, Ended, Named, Then, Timeline, TimelineStep};

/// All sentences of a timeline.
pub(super) fn of(charge: &Charge, timeline: &Timeline) -> Vec<String> {
    let mut lines = vec![headline(charge), String::new(), "Providers, in the order of the route:".to_owned()];
    lines.extend(timeline.providers.iter().map(|candidate| candidate_line(charge, candidate)));
    lines.extend([String::new(), "What was asked:".to_owned()]);
    let places = 0..timeline.steps.len();
    lines.extend(places.map(|place| format!("{}. {}", place + 1, step_line(charge, timeline, place))));
    lines.extend([String::new(), ending(charge, &timeline.steps)]);
    lines
}

fn headline(charge: &Charge) -> String {
    let installments = match charge.method.installments() {
        1 => String::new(),
        n => format!(" in {n} installments"),
    };
    format!(
        "Charge {} of {} by {}{installments}, made at {}: {}.",
        charge.id,
        charge.original_amount.shown_in(charge.currency),
        charge.method.payment_type().word(),
        charge.id.created_at(),
        charge.state.status().word(),
    )
}

fn candidate_line(charge: &Charge, candidate: &Candidate) -> String {
    let mut line = format!("- {}", named(&candidate.provider));
    if let Some(skipped) = candidate.skipped {
        line.push_str(&format!(" was skipped: {}", why_skipped(charge, skipped)));
    }
    if let Some(note) = candidate.circuit {
        line.push_str(match note {
            CircuitNote::Probe => " had stopped answering; this charge was let through to try it again",
            CircuitNote::OpenButNoOther => {
                " had stopped answering, but no other provider can serve the charge"
            }
        });
    }
    line.push('.');
    line
}

fn why_skipped(charge: &Charge, skipped: Skipped) -> String {
    match skipped {
        Skipped::Simulator => "it only simulates payments, and production asks no simulator".to_owned(),
        Skipped::NotAPaymentProvider => "it analyses risk and takes no payments".to_owned(),
        Skipped::PaymentType => format!("it does not take {}", charge.method.payment_type().word()),
        Skipped::Currency => format!("it does not take {}", charge.currency),
        Skipped::Installments => format!("it does not take {} installments", charge.method.installments()),
        Skipped::PreAuthorization => "it cannot reserve an amount without capturing it".to_owned(),
        Skipped::Split => {
            format!("it divides no {} among sellers", charge.method.payment_type().word())
        }
        Skipped::Seller => "a seller of the charge is not active there".to_owned(),
        Skipped::CircuitOpen => "it had stopped answering, and another provider was left".to_owned(),
    }
}

fn step_line(charge: &Charge, timeline: &Timeline, place: usize) -> String {
    let (earlier, step) = (&timeline.steps[..place], &timeline.steps[place]);
    if step.set_by_hand {
        return format!(
            "A tester set it by hand, and nobody was asked: {} of {}, {}.",
            step.request_type.word(),
            step.amount.shown_in(charge.currency),
            step.ended.word()
        );
    }
    let provider = named(&step.provider);
    if let Some(what) = what_was_reported(charge, step) {
        return format!("{provider} reported {what}.");
    }
    let mut line = told(charge, earlier, step, &provider);
    if let Some(then) = what_came_then(timeline, step) {
        line.push(' ');
        line.push_str(then);
    }
    line
}

/// What a step was, and how it ended.
fn told(charge: &Charge, earlier: &[TimelineStep], step: &TimelineStep, provider: &str) -> String {
    let amount = step.amount.shown_in(charge.currency);
    let ended = how_it_ended(step);
    if step.takes_back {
        return format!("{provider} took back what it had approved: {ended}.");
    }
    if step.of_analysis {
        return format!("{provider} decided later: {ended}.");
    }
    if step.of_accepted {
        return match step.ended {
            Ended::Approved => format!("{provider} has done what it had accepted{}.", how_it_was_heard(step)),
            Ended::Declined
            | Ended::NoEffect
            | Ended::Instructed
            | Ended::VerdictPending
            | Ended::NoVerdict
            | Ended::Accepted
            | Ended::Unknown => format!("{provider} did not do what it had accepted; {ended}."),
        };
    }
    if !step.of_payer {
        return format!("{provider} was asked {}; {ended}.", what_was_asked(charge, earlier, step));
    }
    let is_cardholder = charge.method.card_id().is_some();
    match (step.ended, step.told_by) {
        (_, Some(ToldBy::Nobody)) if is_cardholder => {
            format!(
                "The cardholder had not answered the challenge of {provider} when the time for it was over."
            )
        }
        (_, Some(ToldBy::Nobody)) => {
            format!("The payer had not paid {provider} when nobody waited for him any longer.")
        }
        (Ended::Approved, _) if is_cardholder => {
            format!("{provider} approved {amount} after the challenge{}.", how_it_was_heard(step))
        }
        (Ended::Approved, _) => format!("The payer paid {provider} {amount}{}.", how_it_was_heard(step)),
        (_, _) if is_cardholder => format!("{provider} did not approve it after the challenge; {ended}."),
        (_, _) => format!("The payer did not pay {provider}; {ended}."),
    }
}

/// From whom it is known that something has happened after the call.
const fn how_it_was_heard(step: &TimelineStep) -> &'static str {
    match step.told_by {
        Some(ToldBy::Probe | ToldBy::Repetition) => ", as it said when it was asked",
        Some(ToldBy::Notification | ToldBy::Elsewhere) => ", as it reported by itself",
        Some(ToldBy::NotSent | ToldBy::Nobody) | None => "",
    }
}

/// What happened at the provider without a call of ours.
fn what_was_reported(charge: &Charge, step: &TimelineStep) -> Option<String> {
    let amount = step.amount.shown_in(charge.currency);
    match step.request_type.group() {
        RequestGroup::Reversal(reported) => Some(match reported {
            Reported::Dispute => format!("that the payer disputes {amount}"),
            Reported::DisputeClosed => "that the dispute was decided for the merchant".to_owned(),
            Reported::ChargeBack => format!("a chargeback of {amount}"),
            Reported::RevertVoid => format!("that {amount} which were given back have come back"),
        }),
        RequestGroup::FollowUp(kind) if step.told_by == Some(ToldBy::Elsewhere) => Some(match kind {
            FollowUpKind::Capture => format!("that {amount} were captured there; nobody had asked it"),
            FollowUpKind::Void => {
                format!("that {amount} went back to the payer, or were released, there; nobody had asked it")
            }
        }),
        RequestGroup::Authorization(_)
        | RequestGroup::CardCheck
        | RequestGroup::FollowUp(_)
        | RequestGroup::Authentication(_)
        | RequestGroup::Risk(_) => None,
    }
}

fn what_was_asked(charge: &Charge, earlier: &[TimelineStep], step: &TimelineStep) -> String {
    let amount = step.amount.shown_in(charge.currency);
    match step.request_type.group() {
        RequestGroup::Authorization(CaptureMode::Automatic) => format!("for {amount}"),
        RequestGroup::Authorization(CaptureMode::Manual) => format!("to reserve {amount}"),
        RequestGroup::CardCheck => "to check the card".to_owned(),
        RequestGroup::FollowUp(FollowUpKind::Capture) => format!("to capture {amount}"),
        RequestGroup::FollowUp(FollowUpKind::Void) if is_reservation(earlier) => {
            format!("to release {amount}")
        }
        RequestGroup::FollowUp(FollowUpKind::Void) => format!("to give back {amount}"),
        // Nobody was asked: it was reported.
        RequestGroup::Reversal(_) => String::new(),
        RequestGroup::Authentication(step) => match step {
            AuthenticationStep::Setup => "to prepare an authentication".to_owned(),
            AuthenticationStep::Enroll => "to authenticate the cardholder".to_owned(),
            AuthenticationStep::Validate => "how the challenge of the cardholder ended".to_owned(),
        },
        RequestGroup::Risk(RiskStep::Analysis) => format!("to analyse the risk of {amount}"),
        RequestGroup::Risk(RiskStep::Feeding) => "to take note of the charge".to_owned(),
    }
}

/// How a step ended, and who told it: the answer to the call with the time that it took, or, when there was none that told
/// anything, why not and how it was found out.
fn how_it_ended(step: &TimelineStep) -> String {
    let with =
        step.decline.as_ref().map_or_else(String::new, |decline| format!(" with {}", refusal(decline)));
    let took = step.duration.map(shown);
    if let (Ended::NoEffect, None) = (step.ended, step.open_reason) {
        // An older release has kept neither why nor by whom.
        let within = took.map_or_else(String::new, |took| format!(" within {took}"));
        return format!("it did not answer{within}; its books say that nothing happened");
    }
    let is_answer = step.open_reason.is_none() && step.told_by.is_none();
    let after = if is_answer { after(took) } else { String::new() };
    let why = step.open_reason.map_or_else(String::new, |reason| format!("{}; ", silence(reason)));
    let who = match (step.told_by, step.open_reason) {
        (Some(ToldBy::Notification | ToldBy::Elsewhere), _) => Channel::Reported,
        (Some(ToldBy::Repetition), _) => Channel::SentAgain,
        (Some(ToldBy::Probe), _) | (None, Some(_)) => Channel::Asked,
        (Some(ToldBy::NotSent | ToldBy::Nobody) | None, _) => Channel::Answered,
    };
    match (step.ended, step.told_by) {
        (Ended::Declined, Some(ToldBy::NotSent)) => {
            "it could not be reached, so nothing was sent to it".to_owned()
        }
        (Ended::Declined, Some(ToldBy::Nobody)) => format!("{why}nobody was left to ask, so it was given up"),
        (Ended::Declined, _) if step.request_type == RequestType::AntiFraud => {
            format!("it found the risk too high{after}")
        }
        (Ended::NoVerdict, _) => match step.open_reason {
            Some(reason) => format!("{}, so there is no verdict", silence(reason)),
            None => format!("it came to no verdict{after}"),
        },
        (Ended::VerdictPending, _) => format!("it decides later{after}"),
        (Ended::NoEffect, _) => format!("{why}its books say that nothing happened"),
        (Ended::Unknown, _) => match step.open_reason {
            None => "it has not answered yet".to_owned(),
            Some(reason) => {
                format!("{}, and what became of it is not known: {}", silence(reason), who_asks(step))
            }
        },
        (Ended::Approved, _) => format!(
            "{why}{}{after}",
            match who {
                Channel::Answered => "it approved",
                Channel::Asked => "asked again, it said that it was done",
                Channel::SentAgain => "sent to it again under the same key, it was approved",
                Channel::Reported => "it reported by itself that it was done",
            }
        ),
        (Ended::Declined, _) => format!(
            "{why}{}{after}{with}",
            match who {
                Channel::Answered => "it refused",
                Channel::Asked => "asked again, it refused",
                Channel::SentAgain => "sent to it again under the same key, it was refused",
                Channel::Reported => "it reported by itself that it refused",
            }
        ),
        (Ended::Instructed, _) => format!(
            "{why}{}{after}",
            match who {
                Channel::Answered => "it gave the payer something to do",
                Channel::Asked => "asked again, it said what the payer has to do",
                Channel::SentAgain =>
                    "sent to it again under the same key, it gave the payer something to do",
                Channel::Reported => "it reported by itself what the payer has to do",
            }
        ),
        (Ended::Accepted, _) => match who {
            Channel::Answered => format!("it accepted{after}, and reports the result later"),
            Channel::Asked => format!("{why}asked again, it accepted and reports the result later"),
            Channel::SentAgain => {
                format!("{why}sent to it again under the same key, it accepted and reports the result later")
            }
            Channel::Reported => {
                format!("{why}it reported by itself that it accepted, and the result comes later")
            }
        },
    }
}

/// How an outcome was heard.
enum Channel {
    /// In the answer to the call.
    Answered,
    /// The provider was asked about it.
    Asked,
    /// The same request was sent again.
    SentAgain,
    /// The provider reported it.
    Reported,
}

const fn silence(reason: OpenReason) -> &'static str {
    match reason {
        OpenReason::TimedOut => "it did not answer in time",
        OpenReason::ConnectionLost => "the connection to it broke",
        OpenReason::ProviderFailed => "it failed",
        OpenReason::Unreadable => "its answer could not be read",
        OpenReason::Interrupted => "the service stopped before the answer was written down",
    }
}

fn who_asks(step: &TimelineStep) -> String {
    let times = match step.probes {
        0 => "it was not asked again yet".to_owned(),
        1 => "it was asked again once".to_owned(),
        n => format!("it was asked again {n} times"),
    };
    match (step.given_up_at, step.next_probe_at) {
        (Some(at), _) => format!("{times}; nobody asks any more since {at}, and the operator must look"),
        (None, Some(at)) => format!("{times}, and is at {at}"),
        (None, None) => times,
    }
}

fn refusal(decline: &Decline) -> String {
    let reason = decline.network_denied_reason.as_ref();
    let reason = reason.map_or_else(String::new, |reason| format!(", in its own words \"{reason}\""));
    format!("{} (\"{}\"{reason})", decline.code.code(), decline.message)
}

fn what_came_then(timeline: &Timeline, step: &TimelineStep) -> Option<&'static str> {
    match (step.then, timeline.stopped) {
        (Then::Done, _) => None,
        (Then::Waiting, _) if step.ended == Ended::Instructed => Some("Nobody else is asked until he has."),
        (Then::Waiting, _) if step.ended == Ended::VerdictPending => {
            Some("The verdict decides what follows.")
        }
        (Then::Waiting, _) if step.request_type.is_authorization() => {
            Some("Nobody else is asked until it is known.")
        }
        (Then::Waiting, _) => Some("Nothing else is done with the charge until it is known."),
        (Then::NextAsked, _) => Some("The next provider was asked."),
        (Then::Stopped, stopped) => stopped.map(|stopped| match stopped {
            Stopped::NotRetryable => "Such a refusal is final, so nobody else was asked.",
            Stopped::NoProviderLeft => "No other provider was left to ask.",
            Stopped::BudgetUsedUp => "The time for the charge was used up, so nobody else was asked.",
            Stopped::Interrupted => "It became known only when the buyer was gone, so nobody else was asked.",
            Stopped::Expired => "The payer did not pay in time.",
            Stopped::Withdrawn => "The session was canceled, so the payer was not waited for any longer.",
            Stopped::StillPayable => {
                "The payer may still pay by what was issued before, so nobody else was asked."
            }
            Stopped::PayerRefused => "The payer refused to pay.",
            Stopped::NotAuthenticated => "The cardholder was not authenticated as the merchant demands.",
            Stopped::Reproved => "So nobody was asked for the money.",
            Stopped::AnalysisFailed => "The merchant wants no charge without a verdict.",
        }),
    }
}

/// Whether these steps reserved money and captured none.
fn is_reservation(steps: &[TimelineStep]) -> bool {
    taken(steps).is_none() && steps.iter().any(|step| step.request_type == RequestType::PreAuthorization)
}

/// How much these steps captured, before refunds. Only the first capture counts: a status set by a tester afterwards
/// captures nothing more.
fn taken(steps: &[TimelineStep]) -> Option<Amount> {
    let takes = |step: &&TimelineStep| match step.request_type.group() {
        RequestGroup::Authorization(CaptureMode::Automatic)
        | RequestGroup::FollowUp(FollowUpKind::Capture) => step.ended == Ended::Approved,
        RequestGroup::Authorization(CaptureMode::Manual)
        | RequestGroup::FollowUp(FollowUpKind::Void)
        | RequestGroup::CardCheck
        | RequestGroup::Reversal(_)
        | RequestGroup::Authentication(_)
        | RequestGroup::Risk(_) => false,
    };
    steps.iter().find(takes).map(|step| step.amount)
}

fn ending(charge: &Charge, steps: &[TimelineStep]) -> String {
    let provider = charge.state.responsible().map_or("", |provider| provider.shown());
    let left = charge.amount.shown_in(charge.currency);
    match &charge.state {
        ChargeState::Processing => "It is pending: its outcome is not known yet.".to_owned(),
        ChargeState::AwaitingPayer { .. } => format!("It is pending: {provider} waits for the payer."),
        ChargeState::PreAuthorized { .. } => {
            let released = charge.original_amount.minus(charge.amount).filter(|part| *part > Amount::ZERO);
            let released = released.map_or_else(String::new, |part| {
                format!(", and {} were released", part.shown_in(charge.currency))
            });
            format!("It is reserved at {provider}: {left} can be captured{released}.")
        }
        ChargeState::CapturePending { open, .. } => {
            let amount = open.amount.shown_in(charge.currency);
            format!("A capture of {amount} is under way at {provider}: its outcome is not known yet.")
        }
        ChargeState::RefundPending { open, .. } => {
            let amount = open.amount.shown_in(charge.currency);
            match open.before {
                Held::Reserved | Held::JustReserved => {
                    format!("{provider} was asked to release {amount}: the outcome is not known yet.")
                }
                Held::Taken => {
                    format!("{provider} was asked to give {amount} back: the outcome is not known yet.")
                }
            }
        }
        ChargeState::RefundAccepted { open, .. } => {
            let amount = open.amount.shown_in(charge.currency);
            format!("{provider} gives {amount} back and has not reported that it is done.")
        }
        ChargeState::Authorized { .. } => {
            let decided = what_was_decided(charge.paid_otherwise);
            format!("{provider} took {}.{decided}", what_was_taken(charge, taken(steps)))
        }
        ChargeState::Failed { .. } => "It failed: nobody took it.".to_owned(),
        ChargeState::Canceled { .. } => match charge.explanation.stopped {
            Some(Stopped::Expired | Stopped::Withdrawn | Stopped::PayerRefused) => {
                "It was canceled: nobody paid it.".to_owned()
            }
            Some(
                Stopped::NotRetryable
                | Stopped::NoProviderLeft
                | Stopped::BudgetUsedUp
                | Stopped::Interrupted
                | Stopped::StillPayable
                | Stopped::NotAuthenticated
                | Stopped::Reproved
                | Stopped::AnalysisFailed,
            )
            | None => "It was canceled: what was reserved is released.".to_owned(),
        },
        ChargeState::Voided { .. } => "It was given back in full.".to_owned(),
        ChargeState::ChargedBack { lost: None, .. } => "The cardholder's bank took it back.".to_owned(),
        ChargeState::ChargedBack { lost: Some(lost), .. } => {
            format!("The cardholder's bank took {} of {left} back.", lost.shown_in(charge.currency))
        }
    }
}

/// What the merchant has decided about a payment of less than was charged.
const fn what_was_decided(paid: Option<PaidOtherwise>) -> &'static str {
    match paid {
        Some(PaidOtherwise::Less { .. }) => {
            " The payer has paid too little: the merchant accepts it by a capture, or gives it back by a void."
        }
        Some(PaidOtherwise::Accepted { .. }) => {
            " The payer has paid too little, and the merchant has accepted it."
        }
        Some(PaidOtherwise::More { .. }) | None => "",
    }
}

/// `it: BRL 1.50`, `BRL 1.00 of the BRL 1.50 that were reserved`, with the rest after a partial refund.
fn what_was_taken(charge: &Charge, taken: Option<Amount>) -> String {
    let (left, whole) = (charge.amount, charge.original_amount);
    let taken = taken.unwrap_or(whole);
    let shown = |amount: Amount| amount.shown_in(charge.currency);
    let mut text = if taken < whole {
        let asked = if charge.paid_otherwise.is_some() { "charged" } else { "reserved" };
        format!("{} of the {} that were {asked}", shown(taken), shown(whole))
    } else {
        format!("it: {}", shown(taken))
    };
    if let Some(given_back) = taken.minus(left).filter(|given_back| *given_back > Amount::ZERO) {
        text.push_str(&format!("; {} given back, {} left", shown(given_back), shown(left)));
    }
    text
}

fn named(provider: &Named) -> String {
    let code = provider.provider_type.shown();
    match (&provider.name, provider.priority) {
        (Some(name), Some(priority)) => format!("{name} ({code}, priority {priority})"),
        (Some(name), None) => format!("{name} ({code})"),
        (None, Some(priority)) => format!("{code} (priority {priority})"),
        (None, None) => code.to_owned(),
    }
}

fn after(took: Option<String>) -> String {
    took.map_or_else(String::new, |took| format!(" after {took}"))
}

/// `35 ms`, `2.1 s`.
fn shown(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis < 1000 { format!("{millis} ms") } else { format!("{}.{} s", millis / 1000, millis / 100 % 10) }
}
