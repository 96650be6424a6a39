//! Opens a target by its name.

use crate::array::{self, Array};
use crate::drive::{Drive, Kind};
use crate::error::DriveError;
use crate::inspected::Inspected;
use crate::open_options::OpenOptions;
use sysfs::Roots;

/// Inspects a target: `/dev/…`, the path of a regular file, `sim:MODEL`, or `array:FILE.toml`. Nothing is
/// created or written.
///
/// # Errors
/// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if the target cannot be tested,
/// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if threads cannot be placed as requested.
pub fn open(target: &str, options: &OpenOptions) -> Result<Drive, DriveError> {
    if let Some(file) = target.strip_prefix(array::PREFIX) {
        let (array, facts) = Array::open(target, file, options)?;
        return Ok(Drive { facts, kind: Kind::Array(Box::new(array)) });
    }
    open_single(target, options, Roots::default())
}

/// Opens a single drive or file on a host whose `/sys` and `/proc` are under `roots`.
pub(crate) fn open_single(target: &str, options: &OpenOptions, roots: Roots) -> Result<Drive, DriveError> {
    let Inspected { facts, kind } = Inspected::open(target, options, roots)?;
    Ok(Drive { facts, kind: Kind::Single(kind) })
}
