//! The store that a command uses, as the user specified it.

use std::fmt;

use crate::error::StoreError;
use crate::postgres::Address;

/// Environment variable with the address of the store.
const STORE: &str = "PLATEAU_STORE";
/// Names the library's own index.
const OWN: &str = "sqlite";

/// The name of a store as typed. It may contain a password, so it is never printed.
#[derive(Clone)]
pub struct StoreName(String);

impl From<String> for StoreName {
    fn from(typed: String) -> Self {
        Self(typed)
    }
}

impl fmt::Debug for StoreName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreName")
    }
}

/// Returns the shared store that was typed as `--store` or that PLATEAU_STORE specifies; None for the library's own index.
///
/// # Errors
/// Returns an error if the address is not valid.
pub fn chosen(typed: Option<&StoreName>) -> Result<Option<Address>, StoreError> {
    let set = || std::env::var_os(STORE).filter(|set| !set.is_empty());
    let (source, text) = match (typed, set()) {
        (Some(typed), _) => ("--store", typed.0.clone()),
        (None, Some(set)) => (STORE, set.to_string_lossy().into_owned()),
        (None, None) => return Ok(None),
    };
    if text == OWN {
        return Ok(None);
    }
    Address::parse(&text).map(Some).map_err(|error| match error {
        StoreError::Address(why) => {
            let form = "postgres://USER@HOST/DATABASE, or sqlite for the library's own index";
            StoreError::Address(format!("{source}: {why}; its form is {form}"))
        }
        other => other,
    })
}
