//! Runs `regente dev`, a sandbox on this machine, and prints how to use it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use regente_domain::time::Timestamp;
use regente_engine::chance::Chance;
use regente_engine::members::invitations;

use super::run::{listen, open_socket, runtime, serve_until_stopped};
use super::{Failure, dev_apple_pay};
use crate::api::docs_page::KeySource;
use crate::api::router::Pages;
use crate::app::App;
use crate::bootstrap::dev::{self, Account, DevError};
use crate::bootstrap::{self, Migrations, Missing};
use crate::config::{Config, Loaded};
use crate::demo;
use crate::http::error::ApiError;
use crate::serve::Signals;
use crate::telemetry;

/// The owner of the sandbox's account, in the dashboard.
const OWNER_EMAIL: &str = "owner@example.com";
const OWNER_NAME: &str = "Owner";

/// Runs the sandbox until a signal to stop.
pub(super) fn dev(loaded: &Loaded) -> Result<ExitCode, Failure> {
    let mut config = loaded.config.clone();
    config.outbound = config.outbound.with_own_machine();
    config.apple_pay = config.apple_pay.or_test_keys(&config.data_dir);
    let config = &config;
    let _traces = telemetry::start_with_traces(&config.log)?;
    runtime()?.block_on(async {
        let signals = Signals::take()?;
        let listeners = listen(config)?;
        dev::prepare(config, &Chance::system()?)?;
        let address = listeners.api.local_addr()?;
        let config = &config.clone().listening_at(address);
        let app = bootstrap::open(config, Migrations::Apply, Missing::Make).await?;
        let url = config.local_url(address);
        let Prepared { account, env_file, dashboard, with_keys } = match prepared(&app, config, &url).await {
            Ok(prepared) => prepared,
            Err(error) => {
                app.store.close().await;
                return Err(error);
            }
        };
        // Keys of wallets are read when the application is opened.
        let (app, config) = match with_keys {
            None => (app, config.clone()),
            Some(config) => {
                app.store.close().await;
                drop(app);
                (bootstrap::open(&config, Migrations::Apply, Missing::Make).await?, config)
            }
        };
        let config = &config;
        let text = introduction(&url, &account, &env_file, &dashboard, app.clock.deployment());
        let socket = open_socket(&app, config, address)?;
        io::stdout().write_all(text.as_bytes())?;
        let routes = demo::routes(&app, account.client_id, &account.api_key, &url);
        let shop = Pages { routes, start: demo::PATH, key_source: KeySource::Dev };
        serve_until_stopped(app, shop, config, listeners, socket, signals).await
    })
}

/// What the sandbox is used with.
struct Prepared {
    account: Account,
    env_file: PathBuf,
    /// The link that signs the owner of the account in to the dashboard.
    dashboard: String,
    /// The configuration with keys of the account that were missing.
    with_keys: Option<Config>,
}

async fn prepared(app: &App, config: &Config, url: &str) -> Result<Prepared, Failure> {
    let account = dev::account(app, config).await?;
    let env_file = dev::write_env_file(config, url, &account)?;
    let with_keys = dev_apple_pay::with_keys(config, account.client_id)?;
    let token = invitations::sandbox_link(app, account.client_id, OWNER_EMAIL, OWNER_NAME).await;
    let dashboard =
        format!("{url}/dashboard/sign-in/{}", token.map_err(ApiError::from).map_err(DevError::from)?);
    Ok(Prepared { account, env_file, dashboard, with_keys })
}

/// The text that is printed first: the account, and lines to paste. None of these lines is a comment: some shells take
/// a `#` on the command line for a command.
fn introduction(url: &str, account: &Account, env_file: &Path, dashboard: &str, now: Timestamp) -> String {
    let Account { client_id, api_key, merchant_id, fallback_merchant_id } = account;
    let account = format!(
        r#"
Regente runs a sandbox. Ctrl+C stops it; started again, it has the same account.

  URL                 {url}
  Reference           {url}/docs
  Demo shop           {url}/demo  buy something, watch the events arrive
  Dashboard           {dashboard}  signs you in, once
  Client id           {client_id}
  API key             {api_key}
  Merchant            {merchant_id}  two healthy providers
  Fallback merchant   {fallback_merchant_id}  its first provider declines everything

The same values are in {file}. Paste these lines into another terminal.

Take the values:

  . {source}

"#,
        api_key = api_key.as_str(),
        file = env_file.display(),
        source = shell_path(env_file),
    );
    account + &curl_lines(&expiry(now))
}

/// The last month of next year, `MM/YYYY`.
pub(super) fn expiry(now: Timestamp) -> String {
    let this_year: String = now.to_string().chars().take(4).collect();
    let next_year = this_year.parse::<u32>().map_or(2030, |year| year + 1);
    format!("12/{next_year}")
}

fn curl_lines(expiry: &str) -> String {
    const KEYS: &str = r#"-H "X-Client-Id: $REGENTE_CLIENT_ID" -H "X-Api-Key: $REGENTE_API_KEY""#;
    const JSON: &str = r#"-H "Content-Type: application/json""#;
    format!(
        r#"Exchange a test card for a token, which is good for one use:

  TOKEN_ID=$(curl -sS "$REGENTE_URL/v1/tokens" \
    {KEYS} {JSON} \
    -d '{{ "cardHolderName": "JOSE DAS NEVES", "cardNumber": "4916745120294124",
          "cardCvv": "560", "cardExpirationDate": "{expiry}" }}' \
    | sed 's/.*"tokenId":"\([^"]*\)".*/\1/'); printf '%s\n' "$TOKEN_ID"

Charge it: the first provider declines, the second one authorizes:

  CHARGE=$(curl -sS "$REGENTE_URL/v1/charges" \
    {KEYS} {JSON} \
    -d '{{ "merchantId": "'$REGENTE_FALLBACK_MERCHANT_ID'", "amount": 1500, "capture": true,
          "orderId": "order-1", "paymentMethod": {{ "paymentType": "credit", "installments": 1 }},
          "paymentSource": {{ "sourceType": "token", "tokenId": "'$TOKEN_ID'" }} }}'); printf '%s\n' "$CHARGE"

Give a part of it back, and have the charge explain itself:

  CHARGE_ID=$(printf '%s' "$CHARGE" | cut -d '"' -f 4)
  curl -sS -w '\n' "$REGENTE_URL/v1/charges/$CHARGE_ID/void" \
    {KEYS} {JSON} \
    -d '{{ "amount": 500 }}'
  curl -sS -w '\n' "$REGENTE_URL/v1/charges/$CHARGE_ID/explanation" \
    {KEYS}

List what was authorized (docs/quickstart.md goes on from here):

  curl -sS -w '\n' "$REGENTE_URL/v1/charges?status=authorized&limit=10" \
    {KEYS}

"#
    )
}

/// A path for the shell's `.`: it contains a slash, so that the shell does not search `PATH`, and it is quoted where
/// necessary.
fn shell_path(path: &Path) -> String {
    let path = if path.components().count() == 1 { PathBuf::from(".").join(path) } else { path.to_owned() };
    dev::shell_quoted(&path.display().to_string())
}
