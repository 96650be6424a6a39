//! The flash translation layer: where the host's data goes, and how space is reclaimed.
//!
//! Code belongs here if it knows map units, superblocks and the write buffer, but not commands, links or faults.
//! `block_manager.rs`, `collector.rs` and `placement.rs` hold what the page-mapped and hybrid layers share.

mod block_manager;
mod collector;
mod host_write;
mod hybrid;
mod invariants;
mod layer;
mod page_mapped;
mod placement;
mod policy;
mod slc_cache;
mod superblocks;
mod translation;
mod unprogrammed;
mod victim;
mod write_through;

pub(crate) use host_write::HostWrite;
pub(crate) use translation::Translation;
