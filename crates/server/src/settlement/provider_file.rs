//! The simulator's settlement file of one provider. The log does not say for which provider the simulator has answered; the records
//! do. What the own provider keeps and pays out is what payouts have posted, and not by the agreement of the simulator.

use std::collections::HashSet;

use regente_domain::settlement::{Kept, Scope};
use regente_domain::time::Timestamp;
use regente_providers::sandbox::{SettlementLine, SettlementPage};
use uuid::Uuid;

use super::Failure;
use super::compare::other_release;
use super::kept;
use crate::admin::{SettlementAnswer, SettlementCommand};

/// A file to be written.
pub struct ProviderFile {
    scope: Scope,
    during: (Timestamp, Timestamp),
    /// The keys of its payments.
    keys: HashSet<Uuid>,
}

impl ProviderFile {
    /// The file of a provider about this time.
    ///
    /// # Errors
    /// What `ask` says.
    pub async fn of(
        ask: &impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
        scope: Scope,
        during: (Timestamp, Timestamp),
    ) -> Result<Self, Failure> {
        let (mut all, mut after) = (HashSet::new(), None);
        loop {
            let command = SettlementCommand::Keys { scope: scope.clone(), after };
            let SettlementAnswer::Keys { keys, next } = ask(command).await? else {
                return Err(other_release());
            };
            all.extend(keys);
            match next {
                Some(next) => after = Some(next),
                None => return Ok(Self { scope, during, keys: all }),
            }
        }
    }

    /// A part of it, after the place where the one before has ended. What payouts have posted is in the last one.
    ///
    /// # Errors
    /// What `ask` says.
    pub async fn page(
        &self,
        ask: &impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
        after: Option<u64>,
    ) -> Result<SettlementPage, Failure> {
        let command = SettlementCommand::SandboxFile { during: self.during, after };
        let SettlementAnswer::SandboxFile(mut page) = ask(command).await? else {
            return Err(other_release());
        };
        page.lines.retain(|line| line.payment.is_some_and(|payment| self.keys.contains(&payment)));
        if self.scope.is_own() {
            page.lines.retain(|line| line.r#type.moves_a_charge());
            for line in &mut page.lines {
                line.fee = 0;
            }
        }
        if page.next.is_none() {
            let add = |kept: Kept| {
                page.lines.push(line_of(&kept));
                Ok(())
            };
            kept::read(ask, &self.scope, self.during, add).await?;
        }
        Ok(page)
    }
}

fn line_of(kept: &Kept) -> SettlementLine {
    SettlementLine {
        line: kept.name(),
        r#type: kept.kind,
        at: kept.at,
        payment: None,
        currency: kept.currency.code().to_owned(),
        amount: kept.amount,
        fee: 0,
        parts: String::new(),
    }
}
