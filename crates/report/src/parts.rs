//! Parts of a report that other documents about runs reuse, so that numbers, marks and pages are the same
//! everywhere.

pub use crate::document::marks::{Mark, MarkKind};
pub use crate::facts::efficiency::printed;
pub use crate::facts::figures::{Better, Figure, family};
pub use crate::formats::card::card_files;
pub use crate::formats::html::shell::Shell;
pub use crate::formats::pdf::flow::{Block, ColumnAlign};
pub use crate::formats::pdf::of_blocks;
pub use crate::pages::cells::{has_host_limited, has_marks, row_texts};
pub use crate::pages::remarks::host_limited_chart;
pub use crate::pages::test_summary::is_valid_figure;
pub use crate::pages::values::{absent, capacity, number, tool};
pub use print::grid::ColumnCell;
