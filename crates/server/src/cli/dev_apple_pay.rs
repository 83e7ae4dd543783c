//! Makes keys and tokens to try Apple Pay with: `regente dev` those of its account, `regente dev apple-pay` others.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use regente_domain::card::Expiry;
use regente_domain::currency::Currency;
use regente_domain::id::ClientId;
use regente_engine::chance::Chance;
use regente_engine::clock::Clock;
use regente_wallets::apple_pay::test_keys::{self, Device, Purchase, TestKeys};

use super::Failure;
use crate::bootstrap::{make_private_folder, parent_of};
use crate::config::{Config, Loaded, TEST_ROOT_MARK, TestKeyFiles};

/// A number with which a device pays, unless another one is given.
const DEVICE_ACCOUNT_NUMBER: &str = "4895370012003478";
/// The merchant identifier in test keys.
const MERCHANT_IDENTIFIER: &str = "merchant.com.example";

#[derive(Debug, Subcommand)]
pub(super) enum ApplePayTask {
    /// Make test keys for another account than that of `regente dev`, in DIR/apple-pay; it uses them from its next start
    #[command(after_help = "For `regente serve` in sandbox mode set `apple_pay.root_certificate_file` and \
                        `apple_pay.merchants_dir`. Production refuses the root.")]
    Keys {
        /// The account's id
        client_id: ClientId,
    },
    /// Print a token as a device makes it, for `paymentSource.paymentData`; it is good for some minutes
    Token(TokenArgs),
}

/// What the payer confirms.
#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    /// The account's id
    client_id: ClientId,
    /// The amount, in the minor unit of the currency
    #[arg(long)]
    amount: u64,
    /// The currency
    #[arg(long, default_value = "BRL", value_parser = currency)]
    currency: Currency,
    /// The number that stands for the card
    #[arg(long, default_value = DEVICE_ACCOUNT_NUMBER)]
    number: String,
    /// When it expires
    #[arg(long, value_name = "MM/YYYY", default_value = "12/2035", value_parser = expiry)]
    expiry: Expiry,
}

pub(super) fn run(loaded: &Loaded, task: ApplePayTask) -> Result<ExitCode, Failure> {
    let files = TestKeyFiles::of(&loaded.config.data_dir);
    match task {
        ApplePayTask::Keys { client_id } => {
            make_keys(&files, client_id, since_epoch()?)?;
            print_settings(&files)?;
        }
        ApplePayTask::Token(purchase) => print_token(&files, &purchase, since_epoch()?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes the keys of the sandbox's account, and answers the configuration that names them; `None` where they are there
/// already, or the operator has set others.
pub(super) fn with_keys(config: &Config, client_id: ClientId) -> Result<Option<Config>, Failure> {
    let files = TestKeyFiles::of(&config.data_dir);
    let has_others = config.apple_pay.root_certificate_file.as_ref().is_some_and(|root| *root != files.root);
    if has_others || (files.root.exists() && files.merchant(client_id).exists()) {
        return Ok(None);
    }
    make_keys(&files, client_id, since_epoch()?)?;
    let apple_pay = config.apple_pay.clone().or_test_keys(&config.data_dir);
    Ok(Some(Config { apple_pay, ..config.clone() }))
}

fn since_epoch() -> Result<Duration, Failure> {
    Ok(Duration::from_millis(u64::try_from(Clock::system().deployment().as_millis())?))
}

/// Makes what is missing; keys that are there stay. The root comes last: where it is, `regente dev` expects the rest.
fn make_keys(files: &TestKeyFiles, client_id: ClientId, now: Duration) -> Result<(), Failure> {
    let merchant = files.merchant(client_id);
    if !merchant.exists() {
        write_privately(&merchant, &test_keys::merchant(MERCHANT_IDENTIFIER, now)?)?;
    }
    if !files.root.exists() {
        let TestKeys { root, device } = TestKeys::generate(now)?;
        // Of a root that was never written.
        drop(fs::remove_file(&files.device));
        write_privately(&files.device, &device)?;
        write_privately(&files.root, &format!("{TEST_ROOT_MARK}\n{root}"))?;
    }
    Ok(())
}

fn print_settings(files: &TestKeyFiles) -> Result<(), Failure> {
    let text = format!(
        "apple_pay.root_certificate_file  {}\napple_pay.merchants_dir          {}\n",
        files.root.display(),
        files.merchants.display()
    );
    Ok(io::stdout().write_all(text.as_bytes())?)
}

fn print_token(files: &TestKeyFiles, asked: &TokenArgs, now: Duration) -> Result<(), Failure> {
    let read = |path: &Path| {
        fs::read_to_string(path).map_err(|error| {
            format!("{}: {error}; `regente dev apple-pay keys CLIENT_ID` makes it", path.display())
        })
    };
    let (device, merchant) = (read(&files.device)?, read(&files.merchant(asked.client_id))?);
    let purchase = Purchase {
        device_account_number: &asked.number,
        expiration_year: asked.expiry.year(),
        expiration_month: asked.expiry.month(),
        currency_number: asked.currency.number(),
        amount: asked.amount,
        transaction_id: Chance::system()?.bytes(),
    };
    let token = Device::from_pem(&device)?.pay(&merchant, &purchase, now)?;
    let text = format!("{}\n", serde_json::to_string(&token)?);
    Ok(io::stdout().write_all(text.as_bytes())?)
}

/// Writes a new file, readable by its owner alone, in a folder of the same kind.
fn write_privately(path: &Path, text: &str) -> Result<(), Failure> {
    make_private_folder(parent_of(path))?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    Ok(file.write_all(text.as_bytes())?)
}

fn currency(text: &str) -> Result<Currency, &'static str> {
    Currency::parse(text).ok_or("must be an ISO 4217 code, such as BRL")
}

fn expiry(text: &str) -> Result<Expiry, &'static str> {
    Expiry::parse(text).ok_or("must be a month in the form MM/YYYY")
}
