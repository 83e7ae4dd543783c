//! What a change makes of a vendor.

use regente_domain::problems::Problems;
use regente_domain::text::TextChange;
use regente_domain::vendor::{IdentityType, VendorAddress, VendorData};

/// Where the number of a vendor is, in the interface.
const IDENTITY: &str = "identity";

/// A change of a vendor; what is absent stays.
pub struct VendorChanges {
    /// The id in the client's own system.
    pub reference_id: Option<String>,
    /// Which number identifies it.
    pub identity_type: Option<IdentityType>,
    /// The number.
    pub identity: Option<String>,
    /// The category code.
    pub mcc: Option<String>,
    /// Full name, or name of the company.
    pub name: Option<String>,
    /// E-mail address.
    pub email: TextChange,
    /// Phone number.
    pub phone_number: TextChange,
    /// Address in the web.
    pub website: TextChange,
    /// Where it is.
    pub address: Option<VendorAddress>,
}

impl VendorChanges {
    /// The data after the change.
    ///
    /// # Errors
    /// The number does not fit its type, which may be the one that is stored.
    pub(super) fn apply(&self, before: &VendorData) -> Result<VendorData, Problems> {
        let mut data = before.clone();
        data.identity_type = self.identity_type.unwrap_or(data.identity_type);
        let texts =
            [(&self.identity, &mut data.identity), (&self.mcc, &mut data.mcc), (&self.name, &mut data.name)];
        for (new, text) in texts {
            if let Some(new) = new {
                text.clone_from(new);
            }
        }
        self.email.apply(&mut data.email);
        self.phone_number.apply(&mut data.phone_number);
        self.website.apply(&mut data.website);
        data.address = self.address.clone().unwrap_or(data.address);
        let is_touched = self.identity_type.is_some() || self.identity.is_some();
        match is_touched && !data.identity_type.fits(&data.identity) {
            true => Err(Problems::one(IDENTITY, data.identity_type.rule())),
            false => Ok(data),
        }
    }
}
