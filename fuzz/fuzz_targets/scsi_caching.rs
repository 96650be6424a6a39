//! Fuzzes the caching mode page of a SCSI disk, and the list that sets it.

#![cfg_attr(fuzzing, no_main)]

use source::wire::scsi::CachingPage;

/// The parsers are private to their crate, so this target compiles them in.
#[expect(dead_code, reason = "each target uses only part of it")]
#[path = "../../crates/admin/src"]
mod source {
    pub mod wire;
}

fuzz::target!(|bytes: &[u8]| {
    if let Some(caching) = CachingPage::decode(&page(bytes)) {
        let (on, off) = (caching.selecting(true), caching.selecting(false));
        let differ: Vec<u8> =
            on.iter().zip(&off).map(|(on, off)| on ^ off).filter(|bits| *bits != 0).collect();
        assert!(on.len() == off.len() && differ == [0b100], "more than one bit is set");
    }
});

/// Returns a page of `N` bytes: the input, truncated or padded with zeros.
fn page<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0))
}
