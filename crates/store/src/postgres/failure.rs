//! PostgreSQL errors, grouped by what the user can do about them.

use std::io;

use stdx::text::{on_one_line, with_causes};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::address::Address;
use crate::error::StoreError;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// What was attempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// To log in.
    Connect,
    /// A statement issued by this program; the text says what it does to the store.
    Statement(&'static str),
}

/// Converts an error from the server or the connection.
pub fn failure(address: &Address, attempt: Attempt, error: Error) -> StoreError {
    let store = || address.to_string();
    let action = match attempt {
        Attempt::Connect => "connect to",
        Attempt::Statement(action) => action,
    };
    let is_broken = error.is_closed() || source_of::<io::Error>(&error).is_some();
    let Some(code) = error.code().cloned() else {
        return match attempt {
            // A failed handshake reports an error that wraps the TLS error.
            Attempt::Connect if is_tls(&error) => {
                StoreError::Refused { store: store(), source: error.into() }
            }
            _ if is_broken => StoreError::Unreachable { store: store(), source: error.into() },
            Attempt::Connect => {
                let store = store();
                let source: Source = match &address.no_password {
                    Some(why) => format!("{}; {why}", with_causes(&error)).into(),
                    None => error.into(),
                };
                StoreError::Refused { store, source }
            }
            Attempt::Statement(_) => StoreError::Database { action, source: error.into() },
        };
    };
    let source = Source::from(described(&error));
    let is = |codes: &[SqlState]| codes.contains(&code);
    if is(&[SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW])
        || is(&[SqlState::TOO_MANY_CONNECTIONS, SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT])
    {
        return StoreError::Unreachable { store: store(), source };
    }
    // The server writes to the disk even when somebody connects.
    if is(&[SqlState::DISK_FULL, SqlState::OUT_OF_MEMORY, SqlState::INSUFFICIENT_RESOURCES]) {
        return StoreError::Full { store: store(), source };
    }
    if attempt == Attempt::Connect {
        return match (&address.no_password, code.code().starts_with("28")) {
            (Some(why), true) => {
                StoreError::Refused { store: store(), source: format!("{source}; {why}").into() }
            }
            _ => StoreError::Refused { store: store(), source },
        };
    }
    if is(&[SqlState::LOCK_NOT_AVAILABLE, SqlState::QUERY_CANCELED, SqlState::T_R_DEADLOCK_DETECTED]) {
        return StoreError::Locked { store: store() };
    }
    if is(&[SqlState::INSUFFICIENT_PRIVILEGE, SqlState::READ_ONLY_SQL_TRANSACTION]) {
        return StoreError::Denied { action, store: store(), source };
    }
    if is(&[SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_COLUMN, SqlState::DATATYPE_MISMATCH])
        || code.code().starts_with("XX")
    {
        return StoreError::Altered { store: store(), source };
    }
    StoreError::Database { action, source }
}

/// Returns the server's message on one line.
pub fn described(error: &Error) -> String {
    let Some(found) = error.as_db_error() else { return error.to_string() };
    let detail = found.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
    on_one_line(&format!("{}{detail}", found.message())).into_owned()
}

fn is_tls(error: &Error) -> bool {
    let wrapped = source_of::<io::Error>(error).and_then(io::Error::get_ref);
    wrapped.is_some_and(|inner| inner.is::<rustls::Error>())
}

fn source_of<T: std::error::Error + 'static>(error: &Error) -> Option<&T> {
    std::error::Error::source(error)?.downcast_ref()
}
