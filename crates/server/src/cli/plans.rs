//! `regente plans`: the sales plans of an account, kept in files.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use regente_domain::card::Brand;
use regente_domain::id::PlanId;
use regente_domain::plan::{Policy, Recurrence};

use super::account::AccountArgs;
use super::{Failure, files, lists, operate};
use crate::admin::{Command, PlansAnswer, PlansCommand, PlansTask};
use crate::api::plans::{FeeView, PlanView};
use crate::config::Loaded;
use crate::terminal::printable;

#[derive(Debug, Subcommand)]
pub(super) enum PlansCommandLine {
    /// Create a plan
    #[command(
        after_help = "The file is JSON or TOML: name, description, policies (paymentMethod, payoutTermDays, \
                        payoutRecurrence, payoutDay) and fees (paymentMethod, brand, installmentsFrom, installmentsTo, \
                        percentage, fixedAmount). The first fee that fits a charge counts."
    )]
    Create {
        /// The file, or `-` for standard input
        file: PathBuf,
        #[command(flatten)]
        of: AccountArgs,
    },
    /// Change a plan, for charges that are captured from now on
    #[command(
        after_help = "The file holds what changes. A list, such as fees, takes the place of the former one as a whole."
    )]
    Change {
        /// The plan's id
        plan_id: PlanId,
        /// The file, or `-` for standard input
        file: PathBuf,
        #[command(flatten)]
        of: AccountArgs,
    },
    /// List the plans
    List(AccountArgs),
    /// Show a plan
    Show(PlanArgs),
    /// Make a plan the default one, for charges that are captured from now on
    Default(PlanArgs),
    /// Let sellers be linked to a plan
    Activate(PlanArgs),
    /// Let no more sellers be linked to a plan; those that are stay so
    Deactivate(PlanArgs),
}

/// Which plan.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct PlanArgs {
    /// The plan's id, as `regente plans list` shows it
    plan_id: PlanId,
    #[command(flatten)]
    of: AccountArgs,
}

pub(super) fn run(loaded: &Loaded, command: PlansCommandLine) -> Result<ExitCode, Failure> {
    let (AccountArgs { account, output }, task) = match command {
        PlansCommandLine::Create { file, of } => (of, PlansTask::Create(files::object(&file)?)),
        PlansCommandLine::Change { plan_id, file, of } => {
            (of, PlansTask::Change { plan_id, members: files::object(&file)? })
        }
        PlansCommandLine::List(of) => (of, PlansTask::List),
        PlansCommandLine::Show(PlanArgs { plan_id, of }) => (of, PlansTask::Show { plan_id }),
        PlansCommandLine::Default(PlanArgs { plan_id, of }) => (of, PlansTask::Default { plan_id }),
        PlansCommandLine::Activate(PlanArgs { plan_id, of }) => (of, PlansTask::Activate { plan_id }),
        PlansCommandLine::Deactivate(PlanArgs { plan_id, of }) => (of, PlansTask::Deactivate { plan_id }),
    };
    operate::run(loaded, Command::Plans(PlansCommand { client_id: account.client_id, task }), output)
}

/// The text of an answer.
pub(super) fn shown(answer: &PlansAnswer) -> String {
    match answer {
        PlansAnswer::Created(plan) => format!("Created.\n\n{}", one(plan)),
        PlansAnswer::Changed(plan) => {
            format!("From now on it is so; charges that are captured keep their terms.\n\n{}", one(plan))
        }
        PlansAnswer::Listed(plans) => table(plans),
        PlansAnswer::Shown(plan) => one(plan),
    }
}

fn table(plans: &[PlanView]) -> String {
    let head = ["ID", "STATUS", "DEFAULT", "NAME"].map(str::to_owned).to_vec();
    let rows = plans.iter().map(|plan| {
        let default = if plan.is_default { "yes" } else { "-" };
        vec![
            plan.id.to_string(),
            plan.status.word().to_owned(),
            default.to_owned(),
            printable(&plan.name).into_owned(),
        ]
    });
    lists::columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn one(plan: &PlanView) -> String {
    let default = if plan.is_default { ", the default" } else { "" };
    let mut text = format!("Plan {} ({}): {}{default}\n", plan.id, printable(&plan.name), plan.status.word());
    if let Some(description) = &plan.description {
        text.push_str(&format!("{}\n", printable(description)));
    }
    text.push_str(&match plan.policies.is_empty() {
        true => "\nNo policies: cards are paid out after 30 days, the others after one.\n".to_owned(),
        false => format!("\n{}", policies(&plan.policies)),
    });
    text.push_str(&match plan.fees.is_empty() {
        true => "\nNo fees.\n".to_owned(),
        false => format!("\n{}", fees(&plan.fees)),
    });
    text
}

fn policies(policies: &[Policy]) -> String {
    let head = ["METHOD", "DAYS", "PAID OUT"].map(str::to_owned).to_vec();
    let rows = policies.iter().map(|policy| {
        let day = policy.payout_day.unwrap_or_default();
        let paid_out = match policy.payout_recurrence {
            Recurrence::Daily => "daily".to_owned(),
            Recurrence::Weekly => {
                let names = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"];
                let name = usize::from(day).checked_sub(1).and_then(|index| names.get(index));
                format!("weekly, on {}", name.unwrap_or(&"-"))
            }
            Recurrence::Monthly => format!("monthly, on day {day}"),
        };
        vec![policy.payment_method.word().to_owned(), policy.payout_term_days.to_string(), paid_out]
    });
    lists::columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn fees(fees: &[FeeView]) -> String {
    let head = ["METHOD", "BRAND", "INSTALLMENTS", "PERCENTAGE", "FIXED"].map(str::to_owned).to_vec();
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let rows = fees.iter().map(|fee| {
        let installments = match (fee.installments_from, fee.installments_to) {
            (None, None) => "any".to_owned(),
            (Some(from), Some(to)) if from == to => from.to_string(),
            (Some(from), Some(to)) => format!("{from} to {to}"),
            (Some(from), None) => format!("{from} or more"),
            (None, Some(to)) => format!("up to {to}"),
        };
        vec![
            fee.payment_method.word().to_owned(),
            fee.brand.map_or("any", Brand::name).to_owned(),
            installments,
            or_dash(fee.percentage.as_ref().map(|percentage| format!("{percentage} %"))),
            or_dash(fee.fixed_amount.map(|amount| amount.minor_units().to_string())),
        ]
    });
    lists::columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}
