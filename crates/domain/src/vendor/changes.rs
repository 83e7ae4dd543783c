//! What a change makes of a vendor.

use deserr::Deserr;
use utoipa::ToSchema;

use super::{IDENTITY, IdentityType, VendorAddress, VendorData, parse_identity};
use crate::problems::Problems;
use crate::wire::{EmailAddress, Patch, Rule, Text, Verbatim};

/// Changes of a vendor; what is absent stays. Null removes what may be absent.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase", example = json!({ "referenceId": "12345", "name": "Empresa Exemplo Ltda" }))]
pub struct VendorChanges {
    /// The id in the client's own system; unique in the account.
    #[deserr(default, from(Verbatim<1, 15>) = Some)]
    pub reference_id: Option<Verbatim<1, 15>>,
    /// Which number identifies it.
    #[deserr(default, from(IdentityType) = Some)]
    pub identity_type: Option<IdentityType>,
    /// The number.
    #[deserr(default, try_from(String) = some_identity -> Rule)]
    #[schema(max_length = 40)]
    pub identity: Option<String>,
    /// Category code.
    #[deserr(default, from(Text<1, 10>) = Some)]
    pub mcc: Option<Text<1, 10>>,
    /// Full name, or name of the company.
    #[deserr(default, from(Text<1, 100>) = Some)]
    pub name: Option<Text<1, 100>>,
    /// E-mail address.
    #[deserr(default)]
    #[schema(value_type = Option<EmailAddress<100>>)]
    pub email: Patch<EmailAddress<100>>,
    /// Phone number.
    #[deserr(default)]
    #[schema(value_type = Option<Verbatim<0, 13>>)]
    pub phone_number: Patch<Verbatim<0, 13>>,
    /// Address in the web.
    #[deserr(default)]
    #[schema(value_type = Option<Text<0, 100>>)]
    pub website: Patch<Text<0, 100>>,
    /// As a whole.
    #[deserr(default, from(VendorAddress) = Some)]
    pub address: Option<VendorAddress>,
}

fn some_identity(number: String) -> Result<Option<String>, Rule> {
    parse_identity(number).map(Some)
}

impl VendorChanges {
    /// The data after the change.
    ///
    /// # Errors
    /// The number does not fit its type, which may be the one that is stored.
    pub fn applied_to(&self, before: &VendorData) -> Result<VendorData, Problems> {
        let mut data = before.clone();
        set(&mut data.identity_type, self.identity_type.as_ref());
        set(&mut data.identity, self.identity.as_ref());
        set(&mut data.mcc, self.mcc.as_ref());
        set(&mut data.name, self.name.as_ref());
        self.email.apply(&mut data.email);
        self.phone_number.apply(&mut data.phone_number);
        self.website.apply(&mut data.website);
        set(&mut data.address, self.address.as_ref());
        let is_touched = self.identity_type.is_some() || self.identity.is_some();
        match is_touched && !data.identity_type.fits(&data.identity) {
            true => Err(Problems::one(IDENTITY, data.identity_type.rule())),
            false => Ok(data),
        }
    }
}

fn set<T: Clone>(stored: &mut T, new: Option<&T>) {
    if let Some(new) = new {
        stored.clone_from(new);
    }
}
