//! Formats the verdict for people and for programs that read test results.

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
