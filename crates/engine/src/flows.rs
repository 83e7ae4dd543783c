//! Flows: publishes, restores, withdraws and lists them (`docs/interface/flows.md`). [`crate::charges::routing`] follows them.

use regente_domain::flow::{Flow, FlowMethod, FlowProblem, FlowRefusal, FlowStatus, Member, NewFlow};
use regente_domain::id::{ClientId, FlowId, MerchantId};
use regente_domain::wire::Text;
use regente_store::flows::{self, FlowDetails, FlowFilter, FlowVersion};
use regente_store::merchants::{self, MerchantWithProviders};
use regente_store::providers::Provider;
use regente_store::{Batch, Commit};
use serde_json::{Map, Value};

use crate::app::App;
use crate::audit::Author;
use crate::error::Error;
use crate::races;

const MERCHANT_ID: &str = "merchantId";
const PARENT_ID: &str = "parentId";

/// A version of a flow of the account.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(app: &App, client_id: ClientId, id: FlowId) -> Result<FlowVersion, Error> {
    flows::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)
}

/// A page of the versions of an account, newest first, and how many there are.
pub async fn list(
    app: &App,
    client_id: ClientId,
    filter: FlowFilter,
    page: (i64, i64),
) -> Result<(Vec<FlowVersion>, u64), Error> {
    Ok(flows::list(&app.store, client_id, filter, page).await?)
}

/// The version that new charges of a merchant by a method follow.
pub async fn active(
    app: &App,
    client_id: ClientId,
    merchant_id: MerchantId,
    method: FlowMethod,
) -> Result<Option<FlowVersion>, Error> {
    let active = flows::active(&app.store, client_id, merchant_id).await?;
    Ok(active.into_iter().find(|version| version.method == method))
}

/// Why a flow would not be published; empty when it would.
///
/// # Errors
/// [`Error::ReferenceNotFound`] when the account has no such merchant.
pub async fn problems(app: &App, client_id: ClientId, new: &NewFlow) -> Result<Vec<FlowProblem>, Error> {
    let merchant = merchant(app, client_id, new.merchant_id).await?;
    let members = members(app, &merchant, new.payment_method);
    Ok(Flow::publish(&new.flow, new.payment_method, &members).err().unwrap_or_default())
}

/// Why a flow would not be published, empty when it would; and a batch that writes nothing, for the key of the request.
///
/// # Errors
/// As [`problems`].
pub async fn plan_validation(
    app: &App,
    client_id: ClientId,
    new: &NewFlow,
) -> Result<(Batch, Vec<FlowProblem>), Error> {
    Ok((Batch::new(client_id), problems(app, client_id, new).await?))
}

/// A new version that is to be active, and what makes it so.
pub struct Publication {
    /// The version.
    pub version: FlowVersion,
    /// Archives the version that was active before, and adds this one.
    pub batch: Batch,
}

/// Plans the publication of a flow. Apply its batch with [`App::change_merchant`]; it is refused when another version has become
/// active meanwhile.
///
/// # Errors
/// [`Error::ReferenceNotFound`]; [`Error::FlowRefused`].
pub async fn plan_publication(app: &App, author: Author<'_>, new: &NewFlow) -> Result<Publication, Error> {
    if let Some(id) = new.parent_id {
        flows::find(&app.store, author.client_id, id).await?.ok_or(Error::ReferenceNotFound(PARENT_ID))?;
    }
    let details = FlowDetails {
        name: new.name.clone().map(Text::into_string),
        flow: new.flow.clone(),
        parent_id: new.parent_id,
        restored_from: None,
    };
    plan(app, author, (new.merchant_id, new.payment_method), details, "flow.published").await
}

/// Publishes a flow in the place of `over`, the version that was active when its author looked.
///
/// # Errors
/// [`Error::Conflict`] when another version is active by now; as [`plan_publication`].
pub async fn publish_over(
    app: &App,
    author: Author<'_>,
    new: &NewFlow,
    over: Option<FlowId>,
) -> Result<FlowId, Error> {
    let Publication { version, batch } = plan_publication(app, author, new).await?;
    let overtaken = || Error::conflict(vec!["another version was published meanwhile".to_owned()]);
    if version.details.parent_id != over {
        return Err(overtaken());
    }
    let _admission = app.store.admit(author.client_id)?;
    match app.change_merchant(batch).await? {
        Commit::Applied => Ok(version.id),
        Commit::Refused(_) => Err(overtaken()),
        Commit::Unknown => {
            let active = active(app, author.client_id, new.merchant_id, new.payment_method).await?;
            match active.is_some_and(|active| active.id == version.id) {
                true => Ok(version.id),
                false => Err(Error::unavailable()),
            }
        }
    }
}

/// Plans a version that restores `from`, for the merchant of that version.
///
/// # Errors
/// [`Error::Invalid`] when `merchant_id` is another merchant; [`Error::FlowRefused`] when it could not be published today.
pub async fn plan_restoration(
    app: &App,
    author: Author<'_>,
    from: &FlowVersion,
    merchant_id: MerchantId,
) -> Result<Publication, Error> {
    if merchant_id != from.merchant_id {
        return Err(Error::invalid(MERCHANT_ID, "must be the merchant of the flow"));
    }
    let details = FlowDetails {
        name: from.details.name.clone(),
        flow: from.details.flow.clone(),
        parent_id: None,
        restored_from: Some(from.id),
    };
    plan(app, author, (merchant_id, from.method), details, "flow.restored").await
}

/// Withdraws the active version: the merchant's providers go by priority again.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Impossible`] when the version is not active.
pub async fn withdraw(app: &App, author: Author<'_>, id: FlowId) -> Result<(), Error> {
    let client_id = author.client_id;
    let mut may_be_done = false;
    for () in races::tries() {
        let version = find(app, client_id, id).await?;
        match version.status {
            FlowStatus::Archived if may_be_done => return Ok(()),
            FlowStatus::Archived => return Err(Error::impossible("flow is not active")),
            FlowStatus::Active => {}
        }
        let mut batch = Batch::new(client_id);
        flows::archive(&mut batch, &version);
        author.record(app, &mut batch, "flow.withdrawn", id.uuid());
        let _admission = app.store.admit(client_id)?;
        match app.change_merchant(batch).await? {
            Commit::Applied => return Ok(()),
            Commit::Refused(_) => {}
            Commit::Unknown => may_be_done = true,
        }
    }
    Err(Error::busy())
}

async fn plan(
    app: &App,
    author: Author<'_>,
    (merchant_id, method): (MerchantId, FlowMethod),
    details: FlowDetails,
    action: &'static str,
) -> Result<Publication, Error> {
    let client_id = author.client_id;
    let merchant = merchant(app, client_id, merchant_id).await?;
    Flow::publish(&details.flow, method, &members(app, &merchant, method)).map_err(refused)?;
    let before = active(app, client_id, merchant_id, method).await?;
    let parent_id = details.parent_id.or(before.as_ref().map(|version| version.id));
    let version = FlowVersion {
        id: app.chance.id(app.clock.of(client_id)),
        client_id,
        merchant_id,
        method,
        status: FlowStatus::Active,
        details: FlowDetails { parent_id, ..details },
    };
    let mut batch = Batch::new(client_id);
    if let Some(before) = &before {
        flows::archive(&mut batch, before);
    }
    flows::insert(&mut batch, &version)?;
    author.record(app, &mut batch, action, version.id.uuid());
    Ok(Publication { version, batch })
}

async fn merchant(app: &App, client_id: ClientId, id: MerchantId) -> Result<MerchantWithProviders, Error> {
    let found = merchants::with_providers(&app.store, client_id, id).await?;
    found.ok_or(Error::ReferenceNotFound(MERCHANT_ID))
}

fn members(app: &App, merchant: &MerchantWithProviders, method: FlowMethod) -> Vec<Member> {
    let none = Map::<String, Value>::new();
    let takes = |provider: &Provider| {
        let options = provider.options.as_ref().unwrap_or(&none);
        let narrowed = app.providers.narrowed(provider.provider_type, options);
        narrowed.payment_types.is_none_or(|types| types.contains(&method.payment_type()))
    };
    let member = |provider: &Provider| Member {
        id: provider.id,
        provider_type: provider.provider_type,
        takes_method: takes(provider),
    };
    merchant.providers.iter().map(member).collect()
}

fn refused(problems: Vec<FlowProblem>) -> Error {
    let code = problems.first().map_or(FlowRefusal::Invalid, |problem| problem.code);
    Error::FlowRefused { code, details: problems.iter().map(FlowProblem::sentence).collect() }
}
