//! Whether the places of cards at sessions are those of the cards that are being tried (decision 35).

use regente_store::sessions::tries;
use regente_store::{Store, StoreError};

use super::{Check, Verdict, check, failure};
use crate::admin::clients;

/// Compares the places that are counted with those that are held, and these with what is under way.
pub(super) async fn places_of_cards(store: &Store) -> Check {
    const NAME: &str = "places of cards";
    match look(store).await {
        Err(error) => failure(NAME, &error),
        Ok((held, wrong)) if wrong.is_empty() => {
            check(NAME, Verdict::Ok, format!("those of the cards that are being tried: {held}"))
        }
        Ok((_, wrong)) => check(NAME, Verdict::Failure, format!("wrong at sessions {}", wrong.join(", "))),
    }
}

async fn look(store: &Store) -> Result<(i64, Vec<String>), StoreError> {
    let (mut held, mut wrong) = (0, Vec::new());
    for client in clients::all(store).await? {
        held += tries::count(store, client.id).await?;
        wrong.extend(tries::wrong(store, client.id).await?.iter().map(ToString::to_string));
    }
    Ok((held, wrong))
}
