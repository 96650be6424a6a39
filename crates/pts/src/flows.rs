//! Courses of action that several tests share, from a loop of rounds to a whole demand variation or zone test.
//! A test in `tests` is its parameters plus one of these, or straight-line code of its own.

pub(crate) mod begun;
pub(crate) mod composite;
pub(crate) mod demand;
pub(crate) mod precondition;
pub(crate) mod rounds;
pub(crate) mod zones;
