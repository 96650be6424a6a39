//! The checks, in groups with one file each.

mod array;
mod campaign;
mod errors;
mod fio_jobs;
mod health;
mod host_checks;
mod hosts;
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
mod zoned;

use super::check::Group;

/// All groups, in execution order. Power cuts come last, because each one requires a boot.
pub const GROUPS: &[Group] = &[
    identity::GROUP,
    refusals::GROUP,
    load::GROUP,
    polling::GROUP,
    passthrough::GROUP,
    health::GROUP,
    known::GROUP,
    errors::GROUP,
    fio_jobs::GROUP,
    host_checks::GROUP,
    purge::GROUP,
    campaign::GROUP,
    write_cache::GROUP,
    lba_format::GROUP,
    array::GROUP,
    zoned::GROUP,
    hosts::GROUP,
    removal::GROUP,
    power::GROUP,
];
