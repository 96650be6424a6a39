//! Why a change was not made.

/// Why a change was not made; the state is the same as before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unchanged {
    /// The plan or the run does not exist.
    Unknown(String),
    /// The plan or the run is not in a state that permits the change.
    Late(String),
    /// The request is invalid.
    Mistaken(String),
    /// The change could not be stored.
    Unstored(String),
}

impl Unchanged {
    /// Returns the status of the response.
    pub const fn status(&self) -> u16 {
        match self {
            Self::Unknown(_) => 404,
            Self::Late(_) => 409,
            Self::Mistaken(_) => 422,
            Self::Unstored(_) => 503,
        }
    }

    pub fn text(&self) -> &str {
        let (Self::Unknown(why) | Self::Late(why) | Self::Mistaken(why) | Self::Unstored(why)) = self;
        why
    }
}
