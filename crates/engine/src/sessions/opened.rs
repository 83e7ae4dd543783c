//! A session with what it says of persons, which rests sealed (`docs/interface/sessions.md#payment-methods`).

use regente_domain::id::{ClientId, SessionId};
use regente_domain::session::Session;
use regente_store::sealed::Sealed;
use regente_store::sessions::{self, StoredSession};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::App;
use crate::error::Error;
use crate::vault::{Binding, Purpose};

/// What a session says of persons.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Private {
    /// `recipients` of the NuPays that pay it: an array, each of them as a charge takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nupay_recipients: Option<Value>,
}

impl Private {
    /// Seals it for a session; `None` where there is nothing to seal.
    ///
    /// # Errors
    /// [`Error::Internal`].
    pub fn seal(&self, app: &App, client_id: ClientId, id: SessionId) -> Result<Option<Sealed>, Error> {
        let Self { nupay_recipients } = self;
        if nupay_recipients.is_none() {
            return Ok(None);
        }
        let plain = serde_json::to_vec(self).map_err(Error::internal)?;
        Ok(Some(app.vault.seal(binding(client_id, id), &plain)))
    }
}

/// A session whose data is open.
#[derive(Clone)]
pub struct Opened {
    /// The session.
    pub session: Session,
    /// What it says of persons.
    pub private: Private,
}

impl Opened {
    /// A session of an account.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Unavailable`]; [`Error::Internal`] for data that does not open.
    pub async fn find(app: &App, client_id: ClientId, id: SessionId) -> Result<Self, Error> {
        let stored = sessions::find_stored(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
        Self::of(app, stored).await
    }

    /// Opens the data of a session.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; [`Error::Internal`] for data that does not open.
    pub async fn of(app: &App, stored: StoredSession) -> Result<Self, Error> {
        let StoredSession { session, private } = stored;
        let private = match private {
            None => Private::default(),
            Some(sealed) => {
                let plain = app.vault.open(binding(session.client_id, session.id), &sealed).await?;
                serde_json::from_slice(&plain).map_err(Error::internal)?
            }
        };
        Ok(Self { session, private })
    }
}

fn binding(client_id: ClientId, id: SessionId) -> Binding {
    Binding::new(Purpose::SessionData, client_id, id.uuid())
}
