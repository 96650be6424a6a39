//! Runs in progress in a terminal (`plateau watch`): where a run is, how far its steady-state window is, what it measures
//! this second, and how the drive is.
//!
//! Only reads journals and files `live`: it opens no device, writes no file and holds no lock, so that a run cannot notice
//! it. `source` reads, `lines` turns what it found into lines, `screen` arranges them, and `terminal` follows the
//! keys. Reading aside, everything is a pure function of a [`Shown`] and a size.
#![forbid(unsafe_code)]

mod keys;
mod lines;
mod paint;
mod screen;
mod shown;
mod source;
mod terminal;

pub use keys::{Key, State};
pub use lines::plain;
pub use paint::Paint;
pub use screen::draw;
pub use shown::{Item, Shown};
pub use source::{Source, Which};
pub use terminal::{WatchError, follow};
