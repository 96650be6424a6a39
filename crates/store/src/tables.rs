//! The tables of the store, one file each.

mod baseline;
mod deviation;
mod drive;
mod figure;
mod figure_round;
mod health;
mod host;
mod member;
mod note;
mod run;
mod steady_state;
mod table;
mod tag;
mod test;

pub use table::{Column, Folded, Kind, Table};

/// Every table with rows for runs. `run` is the first: its row shows that all other rows of the run are
/// complete.
pub const TABLES: &[&Table] = &[
    &run::TABLE,
    &drive::TABLE,
    &member::TABLE,
    &host::TABLE,
    &test::TABLE,
    &steady_state::TABLE,
    &figure::TABLE,
    &figure_round::TABLE,
    &health::TABLE,
    &deviation::TABLE,
    &tag::TABLE,
    &note::TABLE,
    &baseline::TABLE,
];
