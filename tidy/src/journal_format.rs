//! When the code that defines the run format changes, the page that documents the format must change, too; it
//! contains a hash of the code.

use sha2::{Digest as _, Sha256};

use super::check::{Blessed, Check, Complaint};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "journal_format", run, bless: Some(bless) };

const DOCUMENT: &str = "docs/reference/journal-format.md";
const FORMAT: &[&str] = &[
    "event",
    "segment",
    "power",
    "io_engine",
    "io_path",
    "path_choice",
    "check",
    "choices",
    "workload",
    "sequence",
    "reducible",
    "regime",
    "tolerated",
    "commands",
    "zoned",
    "sync",
    "thinktime",
    "run_file",
    "stated",
    "custom",
    "host",
    "imported",
    "exported",
    "exported_cell",
    "unknown_wire",
    "injected_fault",
    "purge_evidence",
    "purge_offer",
    "journal",
    "histogram_wire",
    "columns_wire",
    "packed_wire",
    "verified",
    "chain",
    "annotations",
    "library_journal",
];
const MARK: &str = "<!-- format-sha256: ";
const MARK_END: &str = " -->";

fn run(tree: &Tree) -> Vec<Complaint> {
    let Some(document) = tree.text(DOCUMENT) else {
        return vec![Complaint::file(
            DOCUMENT,
            "this page is missing; the journal format must be documented",
        )];
    };
    let Some((_, found, _)) = carried(document) else {
        return vec![Complaint::file(DOCUMENT, format!("has no line `{MARK}...{MARK_END}`"))];
    };
    if found == hash(tree) {
        return Vec::new();
    }
    let text = "the code that defines the format changed; document the change here (and increase the version if old \
      readers would misread the new format), then run `cargo xtask tidy --bless`";
    vec![Complaint::file(DOCUMENT, text)]
}

fn bless(tree: &Tree) -> Option<Blessed> {
    let (before, _, after) = carried(tree.text(DOCUMENT)?)?;
    Some((DOCUMENT, format!("{before}{}{after}", hash(tree))))
}

/// Splits the document into three parts: up to the hash, the hash, the rest.
fn carried(document: &str) -> Option<(&str, &str, &str)> {
    let begin = document.find(MARK)? + MARK.len();
    let end = begin + document[begin..].find(MARK_END)?;
    Some((&document[..begin], &document[begin..end], &document[end..]))
}

/// Returns the SHA-256 of the format's source files, without comments and layout.
fn hash(tree: &Tree) -> String {
    let mut hasher = Sha256::new();
    for name in FORMAT {
        let source = tree.source(&format!("crates/record/src/{name}.rs"));
        hasher.update(source.map(crate::source::Source::essence).unwrap_or_default());
        hasher.update("\n");
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOC: &str = "# Format\n<!-- format-sha256: old -->\nText.";

    fn blessed(event: &str) -> String {
        let tree = Tree::of(&[(DOCUMENT, DOC), ("crates/record/src/event.rs", event)]);
        bless(&tree).expect("has a hash").1
    }

    fn complaints(document: &str, event: &str) -> usize {
        run(&Tree::of(&[(DOCUMENT, document), ("crates/record/src/event.rs", event)])).len()
    }

    #[test]
    fn a_format_change_requires_a_change_of_its_document() {
        let document = blessed("pub enum Event { A, B }");
        assert_eq!(complaints(&document, "/// New words.\npub enum Event {\n    A,\n    B,\n}"), 0);
        assert_eq!(complaints(&document, "pub enum Event { A, B, C }"), 1);
    }

    #[test]
    fn blessing_changes_the_hash_only() {
        let document = blessed("x");
        assert!(document.starts_with("# Format\n") && document.ends_with(" -->\nText."));
        assert!(!document.contains("old"));
    }

    #[test]
    fn a_document_without_a_hash_is_found() {
        assert_eq!(complaints("# Format", "x"), 1);
        assert_eq!(run(&Tree::of(&[])).len(), 1);
    }
}
