//! Shows and moves the clock of an account, in the sandbox.

use std::time::Duration;

use regente_domain::account_clock::{AdvanceStatus, NewAdvance, Span};
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_engine::account_clocks::{self, Frozen};
use regente_engine::audit::Author;
use regente_engine::error::Error;
use regente_engine::jobs;
use regente_engine::settings::Mode;
use regente_store::account_clocks::StoredClock;
use serde::{Deserialize, Serialize};

use super::clients::the_client;
use super::error::CommandError;
use crate::api::sandbox_clock::ClockView;
use crate::app::App;

/// How long one command waits for an advance.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// What is done about a clock.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockTask {
    /// It is shown.
    Show,
    /// It begins to be advanced by this span of time.
    AdvanceBy(String),
    /// It begins to be advanced to this moment.
    AdvanceTo(Timestamp),
    /// What is left of an advance is waited for, some seconds long.
    Wait,
    /// It stands from now on.
    Freeze,
    /// It goes on.
    Unfreeze,
    /// It shows the time of the deployment again.
    Reset,
}

impl ClockTask {
    /// The command's name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Show => "clock show",
            Self::AdvanceBy(_) | Self::AdvanceTo(_) | Self::Wait => "clock advance",
            Self::Freeze => "clock freeze",
            Self::Unfreeze => "clock unfreeze",
            Self::Reset => "clock reset",
        }
    }
}

/// The clock of an account.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClockRow {
    /// Whose.
    pub client_id: ClientId,
    /// The clock.
    pub clock: ClockView,
}

impl ClockRow {
    /// Whether an advance is under way.
    pub fn is_advancing(&self) -> bool {
        self.clock.advance.as_ref().is_some_and(|advance| advance.status == AdvanceStatus::Running)
    }
}

pub(super) async fn run(
    app: &App,
    named: Option<ClientId>,
    task: ClockTask,
) -> Result<ClockRow, CommandError> {
    if app.settings.mode == Mode::Production {
        return Err(CommandError::Argument("in production there is only the machine's clock".to_owned()));
    }
    let client_id = the_client(app, named).await?;
    let author = Author::operator(client_id);
    let stored = match task {
        ClockTask::Show => account_clocks::find(app, client_id).await,
        ClockTask::AdvanceBy(text) => {
            let by = Span::parse(&text).ok_or_else(|| {
                CommandError::Argument(format!("{text} is no span of time ahead, such as 1d, 3mo or P1Y6M"))
            })?;
            advance(app, author, NewAdvance { by: Some(by), to: None }).await
        }
        ClockTask::AdvanceTo(to) => advance(app, author, NewAdvance { by: None, to: Some(to) }).await,
        ClockTask::Wait => jobs::advance_within(app, client_id, WAIT_MAX).await,
        ClockTask::Freeze => account_clocks::set_frozen(app, author, Frozen::Yes).await,
        ClockTask::Unfreeze => account_clocks::set_frozen(app, author, Frozen::No).await,
        ClockTask::Reset => account_clocks::reset(app, author).await,
    }
    .map_err(CommandError::of)?;
    Ok(ClockRow { client_id, clock: ClockView::of(&stored.clock, app.clock.deployment()) })
}

async fn advance(app: &App, author: Author<'_>, new: NewAdvance) -> Result<StoredClock, Error> {
    account_clocks::begin_advance(app, author, &new).await?;
    jobs::advance_within(app, author.client_id, WAIT_MAX).await
}
