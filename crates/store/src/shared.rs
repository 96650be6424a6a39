//! A library in a store that it shares with others.

use std::path::Path;

use crate::engine::Access;
use crate::error::StoreError;
use crate::index::Index;
use crate::library_id;
use crate::postgres::{Address, Postgres};
use crate::schema;

impl Index {
    /// Opens a shared store. For writing, its tables are created or migrated, and the library receives a name if it has
    /// none. For reading, a library that has never been indexed has no rows.
    ///
    /// # Errors
    /// Returns an error if the store cannot be reached or used, or has a schema that this build does not know.
    pub fn shared(
        address: &Address,
        root: &Path,
        judged_by: &str,
        access: Access,
    ) -> Result<Self, StoreError> {
        let mut engine = Postgres::open(address, access)?;
        let library = match access {
            // The store can be read without the library.
            Access::Read => library_id::known(root).ok().flatten().unwrap_or_default(),
            Access::Write => {
                schema::migrate(&mut engine)?;
                library_id::made(root)?
            }
        };
        Self::on(Box::new(engine), root, &library, judged_by)
    }
}
