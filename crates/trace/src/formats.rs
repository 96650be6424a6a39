//! Formats of other tools, one file each.

mod alibaba;
mod blkparse;
mod fields;
mod format;
mod iolog;
mod msr;
mod rwbs;
mod spc;
mod tencent;
mod tracefs;

pub(crate) use format::Parse;
pub use format::{Bad, Format};
pub(crate) use rwbs::op as op_of_letters;

/// All formats, in the order in which they are tried.
pub static FORMATS: &[Format] = &[
    iolog::FORMAT,
    tracefs::FORMAT,
    blkparse::FORMAT,
    msr::FORMAT,
    alibaba::FORMAT,
    spc::FORMAT,
    tencent::FORMAT,
];
