//! Who pays and who is paid, as a file has them: numbers of branches and accounts with their check digits, documents.

use std::fmt;

use deserr::Deserr;

use crate::currency::Currency;
use crate::id::PaymentBatchId;
use crate::money::Amount;
use crate::problems::Problems;
use crate::seller::data::{AccountType, BankAccount};
use crate::wire::{Digits, Text, Verbatim};

const BRANCH_COLUMNS: usize = 5;
const ACCOUNT_COLUMNS: usize = 12;
/// Payments to suppliers (G025).
const SUPPLIERS: &str = "20";

/// The company that pays, as its bank knows it. All members are texts.
#[derive(Clone, Debug, PartialEq, Eq, Deserr)]
#[deserr(rename_all = camelCase, error = Problems)]
pub struct Company {
    /// The COMPE code of its bank.
    pub bank: Digits<3>,
    /// The name of its bank.
    #[deserr(default)]
    pub bank_name: Option<Text<0, 255>>,
    /// The code of its agreement with the bank about payments ("convênio").
    pub agreement: Verbatim<1, 20>,
    /// Its name.
    pub name: Text<1, 255>,
    /// Its CNPJ or CPF.
    pub document: Verbatim<1, 18>,
    /// The branch of its account.
    pub branch: Verbatim<1, 20>,
    /// The check digit of the branch.
    #[deserr(default)]
    pub branch_check_digit: Option<Verbatim<0, 1>>,
    /// The account that pays.
    pub account: Verbatim<1, 20>,
    /// The check digit of the account.
    #[deserr(default)]
    pub account_check_digit: Option<Verbatim<0, 1>>,
    /// The type of service (G025); payments to suppliers without it.
    #[deserr(default)]
    pub service: Option<Digits<2>>,
}

/// Why somebody cannot stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwritable {
    /// The money is not BRL.
    Currency,
    /// The bank has no COMPE code.
    Bank,
    /// The branch is no number of five digits with a check digit.
    Branch,
    /// The account is no number of twelve digits with a check digit.
    Account,
    /// The document is neither a CPF nor a CNPJ.
    Document,
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Currency => "only BRL can stand in a file",
            Self::Bank => "the bank has no COMPE code",
            Self::Branch => "the branch must have at most 5 digits and one check digit",
            Self::Account => "the account must have at most 12 digits and one check digit",
            Self::Document => "the document must be a CPF or a CNPJ",
        })
    }
}

/// A number with its check digit, which may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Checked {
    pub(super) number: String,
    pub(super) digit: String,
}

/// A document with its type (G005).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Person {
    pub(super) document_type: &'static str,
    pub(super) document: String,
    pub(super) name: String,
}

/// The company as a file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payer {
    pub(super) bank: String,
    pub(super) bank_name: String,
    pub(super) agreement: String,
    pub(super) person: Person,
    pub(super) branch: Checked,
    pub(super) account: Checked,
    pub(super) service: String,
}

/// How a lot transfers (G029).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// To a checking account at the same bank.
    Credit,
    /// To a savings account at the same bank.
    Savings,
    /// By TED to somebody else's account at another bank.
    Ted,
    /// By TED to an account of the company itself at another bank.
    OwnTed,
}

impl Form {
    /// Every form, in the order of their lots.
    pub(super) const ALL: [Self; 4] = [Self::Credit, Self::Savings, Self::Ted, Self::OwnTed];

    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::Credit => "01",
            Self::Savings => "05",
            Self::Ted => "41",
            Self::OwnTed => "43",
        }
    }

    /// Whether the money goes to another bank.
    pub(super) const fn is_ted(self) -> bool {
        match self {
            Self::Ted | Self::OwnTed => true,
            Self::Credit | Self::Savings => false,
        }
    }
}

/// A payment as a file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    pub(super) id: PaymentBatchId,
    pub(super) amount: Amount,
    pub(super) form: Form,
    pub(super) bank: String,
    pub(super) branch: Checked,
    pub(super) account: Checked,
    pub(super) person: Person,
}

impl Payer {
    /// Of a company.
    ///
    /// # Errors
    /// What cannot stand in a file.
    pub fn of(company: &Company) -> Result<Self, Unwritable> {
        let digit = |digit: &Option<Verbatim<0, 1>>| digit.as_ref().map(|digit| digit.as_str().to_owned());
        let branch =
            checked(company.branch.as_str(), digit(&company.branch_check_digit).as_deref(), BRANCH_COLUMNS);
        let account = checked(
            company.account.as_str(),
            digit(&company.account_check_digit).as_deref(),
            ACCOUNT_COLUMNS,
        );
        let name = company.bank_name.as_ref().map(|name| name.as_str().to_owned());
        Ok(Self {
            bank: company.bank.as_str().to_owned(),
            bank_name: name.unwrap_or_default(),
            agreement: company.agreement.as_str().to_owned(),
            person: person(company.document.as_str(), company.name.as_str())?,
            branch: branch.ok_or(Unwritable::Branch)?,
            account: account.ok_or(Unwritable::Account)?,
            service: company.service.as_ref().map_or(SUPPLIERS, |service| service.as_str()).to_owned(),
        })
    }

    /// The COMPE code of its bank.
    pub fn bank(&self) -> &str {
        &self.bank
    }
}

impl Payment {
    /// What a batch pays to an account.
    ///
    /// # Errors
    /// What cannot stand in a file.
    pub fn of(
        payer: &Payer,
        id: PaymentBatchId,
        (currency, amount): (Currency, Amount),
        to: &BankAccount,
    ) -> Result<Self, Unwritable> {
        if currency != Currency::BRL {
            return Err(Unwritable::Currency);
        }
        let bank = to.bank.as_ref().ok_or(Unwritable::Bank)?.as_str().to_owned();
        let digit = |digit: &Option<Text<0, 255>>| digit.as_ref().map(|digit| digit.as_str().to_owned());
        let branch =
            checked(to.branch_number.as_str(), digit(&to.branch_check_digit).as_deref(), BRANCH_COLUMNS);
        let account =
            checked(to.account_number.as_str(), digit(&to.account_check_digit).as_deref(), ACCOUNT_COLUMNS);
        let person = person(to.holder_document.as_str(), to.holder_name.as_str())?;
        let form = match (bank == payer.bank, to.kind) {
            (true, AccountType::Checking | AccountType::JointChecking) => Form::Credit,
            (true, AccountType::Savings | AccountType::JointSavings) => Form::Savings,
            (false, _) if person.document == payer.person.document => Form::OwnTed,
            (false, _) => Form::Ted,
        };
        Ok(Self {
            id,
            amount,
            form,
            bank,
            branch: branch.ok_or(Unwritable::Branch)?,
            account: account.ok_or(Unwritable::Account)?,
            person,
        })
    }

    /// How much it pays.
    pub const fn amount(&self) -> Amount {
        self.amount
    }
}

/// A number and its check digit, which may follow the number after a hyphen. `None` when it does not fit.
fn checked(number: &str, digit: Option<&str>, columns: usize) -> Option<Checked> {
    let given = digit.map(str::trim).filter(|digit| !digit.is_empty());
    let (number, digit) = match (number.trim().split_once('-'), given) {
        (Some((number, behind)), None) => (number, behind.trim()),
        (Some((number, behind)), Some(digit)) if behind.trim().eq_ignore_ascii_case(digit) => (number, digit),
        (Some(_), Some(_)) => return None,
        (None, digit) => (number, digit.unwrap_or_default()),
    };
    let bare: String = number.chars().filter(|sign| !matches!(sign, '.' | ' ' | '/')).collect();
    let digits = bare.trim_start_matches('0');
    let is_number = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit());
    let is_digit = digit.len() <= 1 && digit.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let fits = is_number && is_digit && digits.len() <= columns;
    fits.then(|| Checked { number: digits.to_owned(), digit: digit.to_ascii_uppercase() })
}

fn person(document: &str, name: &str) -> Result<Person, Unwritable> {
    let bare: String = document.chars().filter(char::is_ascii_alphanumeric).collect();
    let document_type = match bare.len() {
        11 if bare.bytes().all(|byte| byte.is_ascii_digit()) => "1",
        14 => "2",
        _ => return Err(Unwritable::Document),
    };
    Ok(Person { document_type, document: bare.to_ascii_uppercase(), name: name.to_owned() })
}
