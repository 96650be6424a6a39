//! Tests whole drives with random histories, and defines the defects that these tests must detect.
//!
//! Each invariant is defined in the layer whose state it describes (`Ssd::check` and its callees).

mod histories;
mod planted;
