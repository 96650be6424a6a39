//! The pages, as markup. Each page is a function of the application and the call; the frame is common to all.

pub mod api;
pub mod drives;
pub mod entrance;
pub mod frame;
pub mod library;
pub mod picture;
pub mod run;
pub mod sparkline;
