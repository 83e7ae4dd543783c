//! The story of a charge in sentences for people, one a line.

use std::time::Duration;

use crate::charge::attempt::RequestType;
use crate::charge::explanation::{CircuitNote, Skipped, Stopped};
use crate::charge::{Charge, ChargeState, ChargeStatus, PaymentType};
use crate::decline::Decline;

use super::{Candidate, Ended, Named, Step, Story, Then};

/// All sentences of a story.
pub(super) fn of(charge: &Charge, story: &Story) -> Vec<String> {
    let mut lines = vec![headline(charge), String::new(), "Providers, in the order of the route:".to_owned()];
    lines.extend(story.providers.iter().map(|candidate| candidate_line(charge, candidate)));
    lines.extend([String::new(), "What was asked:".to_owned()]);
    let numbered = (1_usize..).zip(&story.steps);
    lines.extend(numbered.map(|(number, step)| format!("{number}. {}", step_line(charge, story, step))));
    lines.extend([String::new(), ending(charge)]);
    lines
}

fn headline(charge: &Charge) -> String {
    let installments = match (charge.payment_type, charge.payment.installments) {
        (PaymentType::Voucher, _) | (_, 1) => String::new(),
        (_, n) => format!(" in {n} installments"),
    };
    format!(
        "Charge {} of {} by {}{installments}, made at {}: {}.",
        charge.id,
        charge.original_amount.shown_in(charge.currency),
        charge.payment_type.word(),
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
            CircuitNote::Trial => " had stopped answering; this charge was let through to try it again",
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
        Skipped::NotAPaymentProvider => "it analyses risk and takes no payments".to_owned(),
        Skipped::PaymentType => format!("it does not take {}", charge.payment_type.word()),
        Skipped::Currency => format!("it does not take {}", charge.currency),
        Skipped::Installments => format!("it does not take {} installments", charge.payment.installments),
        Skipped::PreAuthorization => "it cannot reserve an amount without capturing it".to_owned(),
        Skipped::CircuitOpen => "it had stopped answering, and another provider was left".to_owned(),
    }
}

fn step_line(charge: &Charge, story: &Story, step: &Step) -> String {
    let mut line = format!(
        "{} was asked {}; {}.",
        named(&step.provider),
        what_was_asked(charge, step),
        how_it_ended(step)
    );
    if let Some(then) = what_came_then(story, step) {
        line.push(' ');
        line.push_str(then);
    }
    line
}

fn what_was_asked(charge: &Charge, step: &Step) -> String {
    let amount = step.amount.shown_in(charge.currency);
    match step.request_type {
        RequestType::Authorization => format!("for {amount}"),
        RequestType::PreAuthorization => format!("to reserve {amount}"),
        RequestType::ZeroDollar => "to check the card".to_owned(),
    }
}

fn how_it_ended(step: &Step) -> String {
    match step.ended {
        Ended::Approved => format!("it approved{}", after(step.duration)),
        Ended::Declined => {
            let with = step
                .decline
                .as_ref()
                .map_or_else(String::new, |decline| format!(" with {}", refusal(decline)));
            format!("it refused{}{with}", after(step.duration))
        }
        Ended::NoEffect => {
            let within = step.duration.map_or_else(String::new, |took| format!(" within {}", shown(took)));
            format!("it did not answer{within}; its books say that nothing happened")
        }
        Ended::Unknown => match (step.probes, step.next_probe_at) {
            (_, None) => "what became of it is not known yet".to_owned(),
            (0, Some(at)) => format!("what became of it is not known yet: its books are asked at {at}"),
            (n, Some(at)) => {
                let times = if n == 1 { "once".to_owned() } else { format!("{n} times") };
                format!(
                    "what became of it is not known yet: its books were asked {times}, and are again at {at}"
                )
            }
        },
    }
}

fn refusal(decline: &Decline) -> String {
    let reason = decline.network_denied_reason.as_ref();
    let reason = reason.map_or_else(String::new, |reason| format!(", in its own words \"{reason}\""));
    format!("{} (\"{}\"{reason})", decline.code.code(), decline.message)
}

fn what_came_then(story: &Story, step: &Step) -> Option<&'static str> {
    match (step.then, story.stopped) {
        (Then::Done, _) => None,
        (Then::Waiting, _) => Some("Nobody else is asked until it is known."),
        (Then::NextAsked, _) => Some("The next provider was asked."),
        (Then::Stopped, stopped) => stopped.map(|stopped| match stopped {
            Stopped::NotRetryable => "Such a refusal is final, so nobody else was asked.",
            Stopped::NoProviderLeft => "No other provider was left to ask.",
            Stopped::BudgetUsedUp => "The time for the charge was used up, so nobody else was asked.",
            Stopped::Interrupted => {
                "The service had been interrupted and only the buyer may start again, so nobody else was asked."
            }
        }),
    }
}

fn ending(charge: &Charge) -> String {
    let provider = charge.state.responsible().map_or("", |provider| provider.code());
    let (left, whole) =
        (charge.amount.shown_in(charge.currency), charge.original_amount.shown_in(charge.currency));
    match &charge.state {
        ChargeState::Pending => "It is pending: its outcome is not known yet.".to_owned(),
        ChargeState::PreAuthorized { .. } => format!("It is reserved at {provider}: {left} can be captured."),
        ChargeState::Authorized { .. } if left == whole => format!("{provider} took it: {left}."),
        ChargeState::Authorized { .. } => format!("{provider} took it: {left} of {whole} are left."),
        ChargeState::Failed { .. } => format!("It {}: nobody took it.", ChargeStatus::Failed.word()),
    }
}

fn named(provider: &Named) -> String {
    let code = provider.provider_type.code();
    match (&provider.name, provider.priority) {
        (Some(name), Some(priority)) => format!("{name} ({code}, priority {priority})"),
        (Some(name), None) => format!("{name} ({code})"),
        (None, Some(priority)) => format!("{code} (priority {priority})"),
        (None, None) => code.to_owned(),
    }
}

fn after(duration: Option<Duration>) -> String {
    duration.map_or_else(String::new, |took| format!(" after {}", shown(took)))
}

/// `35 ms`, `2.1 s`.
fn shown(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis < 1000 { format!("{millis} ms") } else { format!("{}.{} s", millis / 1000, millis / 100 % 10) }
}
