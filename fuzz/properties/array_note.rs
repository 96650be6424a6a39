//! Notes of arrays: whatever the text, reading it ends with a note or with none. A note is written and read again as the same.

use drive::untrusted::ArrayNote;

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(note) = ArrayNote::parse(text) else { return };
    assert_eq!(ArrayNote::parse(&note.to_text()).as_ref(), Some(&note));
}
