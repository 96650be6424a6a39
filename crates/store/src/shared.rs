//! A library in a store that it shares with others.

use std::path::Path;

use crate::engine::Access;
use crate::error::StoreError;
use crate::index::Index;
use crate::library_id;
use crate::postgres::{Address, Postgres};
use crate::schema;
use crate::summary::{Place, Updated};

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

    /// Removes the rows of a library from a shared store, for example because the library no longer exists. If the
    /// library is indexed again, its rows are written again.
    ///
    /// # Errors
    /// Returns an error if the store cannot be reached or used, or does not contain the library.
    pub fn forget(address: &Address, library: &str) -> Result<(Updated, Place), StoreError> {
        let engine = Postgres::open(address, Access::Write)?;
        // Neither journals nor the build that evaluated them matter here.
        let mut index = Self::on(Box::new(engine), Path::new(""), library, "")?;
        let removed = index.count_runs()?;
        if removed == 0 {
            let answer = index.query("SELECT DISTINCT library FROM source ORDER BY library", &[])?;
            let known = answer.rows.iter().filter_map(|row| row.first()?.text().map(str::to_owned)).collect();
            return Err(StoreError::NoLibrary { library: library.into(), known });
        }
        let rows = "run_key IN (SELECT run_key FROM source WHERE library = $1)";
        index.transaction(|index| index.delete(rows, &[library.into()]))?;
        Ok((Updated { removed, ..Updated::default() }, index.place()))
    }
}
