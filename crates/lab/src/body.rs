//! What a request contains.

/// The body of a request.
#[derive(Debug, Clone, Copy)]
pub enum Body {
    /// Nothing.
    Empty,
    /// A submitted form with these fields, in addition to the token of the session.
    Form(&'static [Field]),
    /// A JSON document.
    Json,
    /// Records of a journal, byte for byte.
    Records,
}

/// A field of a form or a query.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub name: &'static str,
    pub need: Need,
}

/// How often a form or a query contains a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Once,
    AtMostOnce,
    AnyNumber,
    AtLeastTwice,
}

impl Field {
    pub const fn once(name: &'static str) -> Self {
        Self { name, need: Need::Once }
    }

    pub const fn at_most_once(name: &'static str) -> Self {
        Self { name, need: Need::AtMostOnce }
    }

    pub const fn at_least_twice(name: &'static str) -> Self {
        Self { name, need: Need::AtLeastTwice }
    }

    pub const fn any_number(name: &'static str) -> Self {
        Self { name, need: Need::AnyNumber }
    }
}
