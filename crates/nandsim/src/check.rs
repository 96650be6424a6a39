//! Tests of whole drives over random histories, and the defects that they must find.
//!
//! The invariants themselves belong to the layer whose state they are about (`Device::check` and what it calls).

mod histories;
mod planted;
