//! Procedures shared by several tests, from a loop of rounds to a complete demand variation or zone test. Each test
//! in `tests` either passes its parameters to one of these procedures or is straight-line code.

pub(crate) mod begun;
pub(crate) mod composite;
pub(crate) mod continued;
pub(crate) mod demand;
pub(crate) mod precondition;
pub(crate) mod rounds;
pub(crate) mod zones;
