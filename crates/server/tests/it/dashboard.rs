//! The dashboard, as the browsers of members see it (`docs/dashboard.md`).

mod acting;
mod looking;
mod people;
mod switch;
mod words;
