//! Merges the statements of a commit group: a group usually repeats a few statements with one row each, which
//! PostgreSQL would start and end one by one. Equal statements become one for many rows.
//!
//! After a missing row or any error the whole group is rolled back, and each batch is applied by itself.

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::batch::Rows;
use crate::group::{BoundStep, Failure, Work};
use crate::placement::Placement;
use crate::sql::{Argument, Many, Sql};
use crate::value::Value;

/// The rows of one statement.
pub(super) struct Stage<'a> {
    pub(super) sql: &'static Sql,
    pub(super) first: &'a BoundStep,
    more: Vec<&'a BoundStep>,
    for_many: Option<&'static Many>,
}

/// Orders the statements of a group: equal ones together, those of each batch in their own order. Batches with other
/// statements follow, one after the other.
///
/// Two batches that change the same row do so under the same guard, since both have read the committed row; one of
/// them then misses its row, wherever it is placed.
pub(super) fn stages<'a>(placement: Placement, group: &[&'a Work]) -> Vec<Stage<'a>> {
    let mut stages: Vec<Stage<'a>> = Vec::new();
    let of = |step: &'a BoundStep| Stage::of(step, step.sql.many(placement));
    let are_mergeable = |work: &Work| work.steps.iter().all(|step| is_mergeable(step, placement));
    let (alike, others): (Vec<&Work>, Vec<&Work>) =
        group.iter().copied().partition(|work| group.len() > 1 && are_mergeable(work));
    for work in alike {
        let mut from = 0;
        for step in &work.steps {
            match stages.iter_mut().skip(from).position(|stage| stage.takes(step)) {
                Some(ahead) => from += ahead,
                None => from = stages.len(),
            }
            match stages.get_mut(from) {
                Some(stage) => stage.more.push(step),
                None => stages.push(of(step)),
            }
            from += 1;
        }
    }
    stages.extend(others.into_iter().flat_map(|work| &work.steps).map(of));
    stages
}

fn is_mergeable(step: &BoundStep, placement: Placement) -> bool {
    let touches_one = match step.rows {
        Rows::Exactly(rows) => rows == 1,
        Rows::AtMostOne => true,
        Rows::Any => false,
    };
    touches_one && step.sql.many(placement).is_some()
}

impl<'a> Stage<'a> {
    fn of(step: &'a BoundStep, for_many: Option<&'static Many>) -> Self {
        Self { sql: step.sql, first: step, more: Vec::new(), for_many }
    }

    fn takes(&self, step: &BoundStep) -> bool {
        let is_alike =
            |many: &Many| many.shared().iter().all(|at| self.first.values[*at] == step.values[*at]);
        std::ptr::eq(self.sql, step.sql)
            && self.first.rows == step.rows
            && self.for_many.is_some_and(|many| is_alike(many) && self.rows() < many.rows_max())
    }

    /// The statement for many rows, if there are many.
    pub(super) fn many(&self) -> Option<&'static Many> {
        self.for_many.filter(|_| !self.more.is_empty())
    }

    /// How many rows it has.
    pub(super) fn rows(&self) -> usize {
        1 + self.more.len()
    }

    /// The arguments for all rows.
    pub(super) fn arguments(&self, many: &Many) -> Vec<Argument<'a>> {
        let steps = std::iter::once(self.first).chain(self.more.iter().copied());
        let rows: Vec<&[Value]> = steps.map(|step| step.values.as_slice()).collect();
        many.arguments(&rows)
    }

    /// Checks whether it changed the required number of rows. Applying each batch by itself shows which one is
    /// missing.
    pub(super) fn judge(&self, actual: u64) -> Result<(), Failure> {
        let steps = self.rows() as u64;
        match self.first.rows {
            Rows::Exactly(_) if steps > 1 && actual != steps => self.first.judge(0),
            Rows::Exactly(_) | Rows::AtMostOne if steps > 1 && actual <= steps => Ok(()),
            Rows::Exactly(_) | Rows::AtMostOne | Rows::Any => self.first.judge(actual),
        }
    }
}

impl ToSql for Argument<'_> {
    fn to_sql(&self, wanted: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::One(value) => value.to_sql(wanted, out),
            Self::Each(values) => values.to_sql(wanted, out),
        }
    }

    fn accepts(_wanted: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
