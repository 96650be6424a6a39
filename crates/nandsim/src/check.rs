//! Tests of whole drives over random histories, and the defects that they must find.
//!
//! The invariants themselves belong to the layer whose state they describe (`Device::check` and its callees).

mod histories;
mod planted;
