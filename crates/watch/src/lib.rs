//! Shows runs in progress in a terminal (`plateau watch`): a run's progress, the state of its steady-state window,
//! the measurements of the current second, and the drive's health.
//!
//! This crate only reads journals and `live` files: it opens no device, writes no file and takes no lock, so it does
//! not affect runs. `source` reads the files, `lines` turns their data into lines, `screen` arranges the lines, and
//! `terminal` handles keys. Apart from reading, everything is a pure function of a [`Shown`] and a screen size.
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
