//! What a tester does at the simulator in the place of a payer or a bank (`docs/interface/sandbox.md`). It happens in the
//! simulator's books; a charge learns of it by a notification or a probe, as at any provider.

pub mod payment_page;
pub mod set_status;
