//! Descriptions of arrays: any text yields a possible array or an error. An array has at least one member and
//! no duplicate members, and is not larger than its members together.

use device::untrusted::ArrayDescription;

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(array) = ArrayDescription::parse("array:a.toml", text) else { return };
    let members = array.members();
    assert!(!members.is_empty() && members.len() <= text.len());
    let distinct: std::collections::BTreeSet<&String> = members.iter().collect();
    assert_eq!(distinct.len(), members.len(), "a duplicate member");
    for bytes in [0, 1, 4 << 20, (4 << 20) + 1, 1 << 30, 1 << 50] {
        let sizes = vec![bytes; members.len()];
        assert!(array.capacity_bytes(&sizes) <= bytes * members.len() as u64);
    }
}
