//! Copies runs from one library to another, as bytes from an offset.
//!
//! A journal is append-only and hash-chained, so a copy is always a prefix of its source, and both ends can verify this
//! without trusting each other: the receiver reports how many bytes it has, and their digest. The sender compares the
//! digest with its own and sends the rest. Records are verified before they are stored, and stored records never
//! change. A transfer that was interrupted at any point can therefore be continued by starting it again.
//!
//! The directory of a copy contains a [`Mark`] until someone removes it, so that the copy is never resumed or mistaken
//! for the run itself.
#![forbid(unsafe_code)]

mod destination;
mod error;
mod mark;
pub mod protocol;
mod receiver;
mod send;
mod source;

pub use destination::{Destination, First, Received, SourceState};
pub use error::TransferError;
pub use mark::{COPIED, Mark, appears_in_progress, appears_in_progress_at, mark_of};
pub use receiver::Receiver;
pub use send::{Sent, send};
pub use source::{EXTRA_FILES, Source};
