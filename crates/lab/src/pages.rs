//! The pages, as markup. Each page is a function of the application and the call; all pages have the same
//! frame.

pub mod account;
pub mod actions;
pub mod api;
pub mod comparisons;
pub mod drives;
pub mod edition;
pub mod entrance;
pub mod exhibits;
pub mod fleet;
pub mod frame;
pub mod labels;
pub mod library;
pub mod matrix;
pub mod opened;
pub mod plot;
pub mod reported;
pub mod run;
pub mod second;
pub mod sparkline;
pub mod start;
pub mod started;
pub mod timeline;
