//! Restore records of arrays: any text yields a record or none. A record is unchanged after being written and
//! read again.

use device::untrusted::ArrayNote;

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(note) = ArrayNote::parse(text) else { return };
    assert_eq!(ArrayNote::parse(&note.to_text()).as_ref(), Some(&note));
}
