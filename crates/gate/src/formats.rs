//! The verdict for people, and for the programs that read the results of tests.

mod annotations;
mod badge;
mod junit;
mod markdown;
mod text;

pub use annotations::{Annotations, Forge, github, gitlab};
pub use badge::badge;
pub use junit::junit;
pub use markdown::markdown;
pub use text::text;
