//! What must be so, in groups, one file each.

mod array;
mod campaign;
mod errors;
mod health;
mod host_checks;
mod identity;
mod known;
mod lba_format;
mod load;
mod passthrough;
mod polling;
mod power;
mod purge;
mod refusals;
mod removal;
mod write_cache;

use super::Group;

/// Every group, in the order in which they run. What cuts the power comes last: it costs a boot.
pub const GROUPS: &[Group] = &[
    identity::GROUP,
    refusals::GROUP,
    load::GROUP,
    polling::GROUP,
    passthrough::GROUP,
    health::GROUP,
    known::GROUP,
    errors::GROUP,
    host_checks::GROUP,
    purge::GROUP,
    campaign::GROUP,
    write_cache::GROUP,
    lba_format::GROUP,
    array::GROUP,
    removal::GROUP,
    power::GROUP,
];

/// Settings of a test that shall be short. How long a cell lasts comes with each.
const SHORT: &str = "--profile pts-e-1.0 --max-rounds 5 --tc 1 --qd 2";
