//! What an operator does about customers.

use regente::admin::{Answer, Command, ErasedPerson, run};
use regente::config::Config;
use regente_domain::id::{ClientId, CustomerId};

use crate::support::app::TestApp;

pub async fn ask(app: &TestApp, client_id: ClientId, customer: &str) -> Result<ErasedPerson, String> {
    let customer_id: CustomerId = customer.parse().unwrap();
    match run(&app.app, &Config::default(), Command::CustomersErase { client_id, customer_id }).await {
        Ok(Answer::CustomerErased(person)) => Ok(person),
        Ok(_) => panic!("another answer"),
        Err(error) => Err(error.to_string()),
    }
}

pub async fn erase(app: &TestApp, customer: &str) -> ErasedPerson {
    ask(app, app.client_id(), customer).await.unwrap()
}
