//! Messages for errors that the store returns.

use stdx::text::with_causes;
use store::StoreError;

use super::next::then;

/// Returns the message for an error, with the next step.
pub fn of_store(error: &StoreError) -> String {
    then(&with_causes(error), next(error))
}

fn next(error: &StoreError) -> Option<&'static str> {
    Some(match error {
        StoreError::TooSlow { .. } => "make it simpler, or raise the limit with --time-limit SECONDS",
        StoreError::Empty { .. } => {
            "`plateau index --store ...`, with a role that may write, creates its tables"
        }
        StoreError::Older { .. } => "`plateau index --store ...`, with a role that may write, migrates it",
        StoreError::Newer { .. } => "install that version of Plateau or a later one",
        StoreError::Unreachable { .. } => {
            "check that the server is running and that the address in --store or PLATEAU_STORE is right, then try again; \
             runs and lists do not need it"
        }
        StoreError::Refused { .. } => {
            "check user, database and certificate (?sslrootcert=FILE) in the address; put the password into ~/.pgpass or \
             the file that PGPASSFILE names, or the whole address into PLATEAU_STORE, because other users can see the \
             options of commands"
        }
        StoreError::Denied { .. } => {
            "use the role that owns the schema 'plateau' for `plateau index`, and GRANT its readers USAGE on the schema and \
             SELECT on its tables"
        }
        StoreError::Altered { .. } => {
            "restore the database from a backup, or let its owner remove everything (DROP SCHEMA plateau CASCADE), create the \
             schema as described in docs/reference/store.md, and run `plateau index --store ...` on each host"
        }
        StoreError::Full { .. } => {
            "free some space on the server, then repeat the command; nothing was stored incompletely"
        }
        StoreError::Encoding { .. } => "create the database with ENCODING 'UTF8' TEMPLATE template0",
        StoreError::Authorities { .. } | StoreError::NoAuthorities => {
            "add ?sslrootcert=FILE to the address, with the certificate of the authority that issued the server's"
        }
        StoreError::LibraryId { .. } => {
            "remove the file; `plateau index --store ...` then gives the library a new name and stores its runs anew"
        }
        _ => return None,
    })
}
