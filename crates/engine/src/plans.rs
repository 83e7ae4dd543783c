//! Sales plans: creates, changes and lists them, and finds what one says of a receiver's money (`docs/interface/plans.md`). Operators
//! change plans; clients read them and link sellers to them. An account comes to be with its default one ([`begin`]).

use regente_domain::id::{ClientId, Id, PlanId, SellerId};
use regente_domain::plan::{NewPlan, Plan, PlanChanges, PlanStatus, Terms};
use regente_domain::seller::Seller;
use regente_domain::time::{Timestamp, later_of};
use regente_domain::wire::Text;
use regente_store::customers::Slice;
use regente_store::plans::{self, PlanFilter};
use regente_store::{Batch, StoreError};

use crate::app::App;
use crate::audit::Author;
use crate::error::Error;
use crate::races::{self, Changed};

/// What the plan is called that an account is made with.
const FIRST_NAME: &str = "Standard";

/// The plan that an account is made with. It has the account's id, so that whoever makes it makes the same one.
pub const fn first_of(client_id: ClientId) -> PlanId {
    PlanId::new(client_id.uuid())
}

/// Gives an account its default plan within the batch that makes the account. It holds from the beginning on: there is no moment at
/// which an account has none.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn begin(batch: &mut Batch, terms: Terms) -> Result<(), StoreError> {
    let client_id = batch.client_id();
    let id = first_of(client_id);
    let plan = Plan {
        id,
        client_id,
        name: FIRST_NAME.to_owned(),
        description: None,
        is_default: true,
        status: PlanStatus::Active,
        terms,
        created_at: id.created_at(),
        updated_at: id.created_at(),
        version: 1,
    };
    plans::insert(batch, &plan, Timestamp::EPOCH)?;
    plans::insert_default(batch, Id::new(client_id.uuid()), &plan, Timestamp::EPOCH);
    Ok(())
}

/// A plan of the account.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(app: &App, client_id: ClientId, id: PlanId) -> Result<Plan, Error> {
    plans::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)
}

/// A page of the plans of an account, and how many there are.
pub async fn list(
    app: &App,
    client_id: ClientId,
    filter: PlanFilter,
    slice: Slice,
) -> Result<(Vec<Plan>, u64), Error> {
    Ok(plans::list(&app.store, client_id, filter, slice).await?)
}

/// What the plan of a receiver said at a moment, such as that of a capture: the plan that the seller was linked to then, else the
/// one that was the default then, which is also that of the account itself. An account of an early release had none until an operator
/// made it: nothing was kept until then.
pub async fn terms_of(
    app: &App,
    client_id: ClientId,
    receiver: Option<SellerId>,
    at: Timestamp,
) -> Result<Terms, Error> {
    let linked = match receiver {
        Some(seller_id) => plans::link_at(&app.store, client_id, seller_id, at).await?,
        None => None,
    };
    let plan = match linked {
        Some(own) => Some(own),
        None => plans::default_at(&app.store, client_id, at).await?,
    };
    let Some(plan) = plan else { return Ok(Terms::default()) };
    Ok(plans::terms_at(&app.store, client_id, plan, at).await?.unwrap_or_default())
}

/// A seller is linked to an active plan of its account, or to none.
///
/// # Errors
/// [`Error::Impossible`] for any other one.
pub(crate) async fn must_take_links(app: &App, client_id: ClientId, id: Option<PlanId>) -> Result<(), Error> {
    let Some(id) = id else { return Ok(()) };
    let found = plans::find(&app.store, client_id, id).await?;
    match found.map(|plan| plan.status) {
        Some(PlanStatus::Active) => Ok(()),
        Some(PlanStatus::Inactive) | None => Err(Error::Impossible {
            message: "not found".into(),
            details: vec!["planId was not found".to_owned()],
        }),
    }
}

/// Links a seller, as it comes to be, to a plan from now on, or to none of its own.
pub(crate) fn link(app: &App, batch: &mut Batch, seller: &Seller, plan_id: Option<PlanId>) {
    let since = app.clock.of(seller.client_id);
    plans::link(batch, (seller.id, seller.version), plan_id, since);
}

/// Creates a plan.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn create(app: &App, author: Author<'_>, new: &NewPlan) -> Result<Plan, Error> {
    let client_id = author.client_id;
    let id: PlanId = app.chance.id(app.clock.of(client_id));
    races::change(|| async {
        if let Some(created) = plans::find(&app.store, client_id, id).await? {
            return Ok(Changed::Already(created));
        }
        let plan = Plan {
            id,
            client_id,
            name: new.name.as_str().to_owned(),
            description: new.description.clone().map(Text::into_string),
            is_default: false,
            status: PlanStatus::Active,
            terms: new.terms(),
            created_at: id.created_at(),
            updated_at: id.created_at(),
            version: 1,
        };
        let mut batch = Batch::new(client_id);
        plans::insert(&mut batch, &plan, app.clock.of(client_id))?;
        author.record(app, &mut batch, "plan.created", id.uuid());
        write(app, batch, plan).await
    })
    .await
}

/// Changes what a plan says. Charges that were captured before keep what it said then.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn change(app: &App, author: Author<'_>, id: PlanId, changes: &PlanChanges) -> Result<Plan, Error> {
    let client_id = author.client_id;
    races::change(|| async {
        let before = find(app, client_id, id).await?;
        let changed = changes.applied_to(&before);
        if changed == before {
            return Ok(Changed::Already(before));
        }
        let since = app.clock.of(client_id);
        let after = next_of(changed, since);
        let mut batch = Batch::new(client_id);
        plans::update(&mut batch, &after)?;
        if after.terms != before.terms {
            plans::insert_terms(&mut batch, &after, since)?;
        }
        author.record(app, &mut batch, "plan.updated", id.uuid());
        write(app, batch, after).await
    })
    .await
}

/// Makes a plan the default of its account, in the place of the one that was. Charges that were captured before keep the terms of
/// that one.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Impossible`] when it is inactive.
pub async fn make_default(app: &App, author: Author<'_>, id: PlanId) -> Result<Plan, Error> {
    let client_id = author.client_id;
    races::change(|| async {
        let before = find(app, client_id, id).await?;
        match before.status {
            PlanStatus::Active if before.is_default => return Ok(Changed::Already(before)),
            PlanStatus::Active => {}
            PlanStatus::Inactive => {
                return Err(Error::impossible("an inactive plan cannot be the default one"));
            }
        }
        let former = plans::default_of(&app.store, client_id).await?;
        let since = app.clock.of(client_id);
        let former = former.map(|plan| next_of(Plan { is_default: false, ..plan }, since));
        let after = next_of(Plan { is_default: true, ..before }, since);
        let mut batch = Batch::new(client_id);
        plans::change_default(&mut batch, (former.as_ref(), &after));
        plans::insert_default(&mut batch, app.chance.id(since), &after, since);
        author.record(app, &mut batch, "plan.made_default", id.uuid());
        write(app, batch, after).await
    })
    .await
}

/// Says whether sellers can be linked to a plan. Those that are linked stay so.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Impossible`] when the default plan would become inactive.
pub async fn set_status(
    app: &App,
    author: Author<'_>,
    id: PlanId,
    status: PlanStatus,
) -> Result<Plan, Error> {
    let client_id = author.client_id;
    races::change(|| async {
        let before = find(app, client_id, id).await?;
        if before.status == status {
            return Ok(Changed::Already(before));
        }
        let action = match status {
            PlanStatus::Active => "plan.activated",
            PlanStatus::Inactive if before.is_default => {
                return Err(Error::impossible("the default plan cannot be deactivated"));
            }
            PlanStatus::Inactive => "plan.deactivated",
        };
        let after = next_of(Plan { status, ..before }, app.clock.of(client_id));
        let mut batch = Batch::new(client_id);
        plans::update(&mut batch, &after)?;
        author.record(app, &mut batch, action, id.uuid());
        write(app, batch, after).await
    })
    .await
}

/// The plan at its next version.
fn next_of(plan: Plan, now: Timestamp) -> Plan {
    Plan { version: plan.version + 1, updated_at: later_of(now, plan.updated_at), ..plan }
}

async fn write(app: &App, batch: Batch, plan: Plan) -> Result<Changed<Plan>, Error> {
    let _admission = app.store.admit(batch.client_id())?;
    Ok(Changed::Written(app.store.apply(batch).await?, plan))
}
