//! The flash translation layer: where the host's data is stored, and how space is reclaimed.
//!
//! Code that deals with map units, superblocks and the write buffer belongs in this module, but not code that
//! deals with commands, links or faults. `block_manager.rs`, `collector.rs` and `placement.rs` contain the code
//! shared by the page-mapped and hybrid layers.

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
