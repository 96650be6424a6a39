//! A virtual machine with emulated drives, a power switch, and hot removal of a drive. `cargo xtask vm-test` checks
//! programs in it.
#![forbid(unsafe_code)]

mod accelerator;
pub mod guest;
pub mod hardware;
mod initramfs;
mod kit;
mod lab;
mod machine;
mod missing;
mod program;
mod qmp;
mod session;
mod vmlinux;

pub use lab::{Lab, Lacking};
pub use missing::Missing;
pub use session::Session;
