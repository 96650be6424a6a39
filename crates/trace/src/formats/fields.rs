//! Fields of a line, separated by commas or white space.

use super::format::Bad;
use crate::numbers::whole;
use crate::{Io, Op};

/// Size of a sector in formats that count sectors.
pub const SECTOR: u64 = 512;

/// Returns the first `N` fields of a comma-separated line; further fields are ignored.
#[inline]
pub fn comma<const N: usize>(line: &[u8]) -> Option<[&[u8]; N]> {
    let mut fields = [&b""[..]; N];
    let mut rest = line;
    for (place, field) in fields.iter_mut().enumerate() {
        match memchr::memchr(b',', rest) {
            Some(at) => (*field, rest) = (rest[..at].trim_ascii(), &rest[at + 1..]),
            None if place == N - 1 => *field = rest.trim_ascii(),
            None => return None,
        }
    }
    Some(fields)
}

/// Returns the fields of a line, separated by white space.
pub fn spaced(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

#[inline]
pub fn number(field: &[u8], name: &'static str) -> Result<u64, Bad> {
    whole(field).ok_or(Bad::Field(name))
}

/// Returns an I/O, unless its length or address is impossible.
#[inline]
pub fn io(op: Op, issue_ns: u64, offset_bytes: Option<u64>, length_bytes: Option<u64>) -> Result<Io, Bad> {
    let length = length_bytes.and_then(|bytes| u32::try_from(bytes).ok()).ok_or(Bad::Length)?;
    if length == 0 && op != Op::Flush {
        return Err(Bad::Length);
    }
    let offset_bytes =
        offset_bytes.filter(|offset| offset.checked_add(length.into()).is_some()).ok_or(Bad::Address)?;
    Ok(Io { issue_ns, response_ns: None, offset_bytes, length_bytes: length, op })
}
