//! The store that a lab shares, instead of the library's own index.

use std::collections::BTreeMap;

use record::Library;
use stdx::text::with_causes;
use stdx::units::count_of;
use store::{Access, Address, Index, Seen, StoreError};

use crate::output::catalogue;
use crate::output::printer;

/// Opens a shared store for reading. Prints a notice if the store lacks runs of this library.
///
/// # Errors
/// Returns an error if the store cannot be used.
pub fn opened(store: &Address, library: &Library) -> Result<Index, StoreError> {
    let mut index = catalogue::shared(store, library, Access::Read)?;
    // The store can be used even if the library cannot be read.
    let seen = index.survey().unwrap_or_else(|error| {
        log::info!("the library is not compared with the store: {}", with_causes(&error));
        BTreeMap::new()
    });
    let stale = seen.values().filter(|seen| **seen == Seen::Stale).count();
    if stale > 0 {
        let (runs, root) = (count_of(stale, "run"), library.root().display());
        printer::notice(&format!(
            "{runs} of {root} missing from the store, or changed since; `plateau index` updates it"
        ));
    }
    Ok(index)
}

/// Returns the answer from the shared store if there is one and it can be used, otherwise from the library's
/// own index.
///
/// # Errors
/// Returns an error if the library itself cannot be read.
pub fn or_own<T>(
    store: Option<&Address>,
    library: &Library,
    ask: impl Fn(&mut Index) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    if let Some(store) = store {
        match opened(store, library).and_then(|mut index| ask(&mut index)) {
            Ok(answer) => return Ok(answer),
            Err(error) => {
                log::info!("the store is not used: {}", with_causes(&error));
                printer::notice(
                    "the store cannot be used; only runs of this library are included (--verbose: why)",
                );
            }
        }
    }
    ask(&mut catalogue::current(library)?)
}
