//! Card numbers that must be nowhere, the places where they could be, and the search for them.

pub mod cards;
pub mod places;
pub mod search;
