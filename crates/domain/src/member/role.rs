//! Roles of members: the one table that says what a role may do. Which operation of the interface needs which permission
//! is said where the interface is.

use crate::words::words;

words! {
    /// What a member is.
    #[schema(as = MemberRole)]
    Role {
        /// Everything that members may do, and who the members are.
        Owner = "owner",
        /// Sells, is paid, and arranges merchants, providers and flows.
        Operator = "operator",
        /// Answers buyers.
        Support = "support",
        /// Looks after the money.
        Finance = "finance",
        /// Reads.
        ReadOnly = "read_only",
    }
}

/// Something that a member may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// To read charges and purchases.
    ReadPayments,
    /// To refund, capture and void, and to say what has become of a charge.
    ActOnPayments,
    /// To read customers and their cards.
    ReadCustomers,
    /// To read the ledger, payouts, prepayments and reports.
    ReadMoney,
    /// To read sellers, vendors, subscriptions and sessions.
    ReadSales,
    /// To write those.
    WriteSales,
    /// To read merchants, providers, flows, webhooks and settings.
    ReadSetup,
    /// To write those.
    WriteSetup,
    /// To invite and revoke members.
    ManageMembers,
}

impl Permission {
    /// Every permission.
    pub const ALL: [Self; 9] = [
        Self::ReadPayments,
        Self::ActOnPayments,
        Self::ReadCustomers,
        Self::ReadMoney,
        Self::ReadSales,
        Self::WriteSales,
        Self::ReadSetup,
        Self::WriteSetup,
        Self::ManageMembers,
    ];
}

impl Role {
    /// Whether a member with this role may do something.
    pub const fn may(self, permission: Permission) -> bool {
        use Permission as May;
        match self {
            Self::Owner => true,
            Self::Operator => !matches!(permission, May::ManageMembers),
            Self::Support => matches!(
                permission,
                May::ReadPayments | May::ActOnPayments | May::ReadCustomers | May::ReadSales
            ),
            Self::Finance => matches!(permission, May::ReadPayments | May::ReadMoney | May::ReadSales),
            Self::ReadOnly => matches!(
                permission,
                May::ReadPayments | May::ReadCustomers | May::ReadMoney | May::ReadSales | May::ReadSetup
            ),
        }
    }
}
