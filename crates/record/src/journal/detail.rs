//! The parts of a journal that a reader needs.

/// How much of a journal is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// All records.
    All,
    /// All records, but most of them without the response times per interval ([`Series`](crate::Series)), which are half of
    /// a journal. Only charts depend on them. Their text is covered by the hash chain, but not checked otherwise.
    Conclusions,
}
