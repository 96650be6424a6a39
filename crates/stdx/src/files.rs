//! Safe access to files that another user may have tampered with: reads are bounded, and writes do not follow
//! links.
//!
//! A path in a folder that others can write to may refer to a FIFO, a device or a symbolic link instead of a
//! file. All checks here apply to the open descriptor, not to a name that may refer to something else a moment
//! later.

mod folder;
mod kind;
mod lock;
mod owned;
mod read;
mod resolve;
mod within;

pub use folder::{Folder, WriteError};
pub use kind::FileKind;
pub use lock::{is_locked, is_locked_now, try_lock, try_lock_each};
pub use owned::{OwnedFolder, Unowned};
pub use read::{Links, ReadError, open, open_to_append, read, read_text};
pub use resolve::resolve;
pub use within::{
    create_anew_in, create_in, look_in, names_in, open_folder, open_in, open_to_append_in, remove_in,
};
