//! Every table must list every file in its directory.

use super::check::{Check, Complaint};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "tables", run, bless: None };

/// A directory with one file per item, and the table that lists them.
struct Listed {
    folder: &'static str,
    extension: &'static str,
    /// Files in the directory that are not items.
    helpers: &'static [&'static str],
    /// File of the table.
    file: &'static str,
    /// Name of the constant; `None` if the whole file is the table (such as a match over a closed set).
    table: Option<&'static str>,
    /// Returns how the table refers to a file.
    entry: fn(&str) -> String,
}

/// Index of the documentation.
const INDEX: &str = "docs/README.md";

const LISTED: &[Listed] = &[
    Listed {
        folder: "crates/pts/src/tests",
        extension: "rs",
        helpers: &[],
        file: "crates/pts/src/tests.rs",
        table: Some("TESTS"),
        entry: module,
    },
    Listed {
        folder: "crates/pts/src/method/profiles",
        extension: "rs",
        helpers: &[],
        file: "crates/pts/src/method/profiles.rs",
        table: Some("PROFILES"),
        entry: module,
    },
    Listed {
        folder: "crates/plans/presets",
        extension: "toml",
        helpers: &[],
        file: "crates/plans/src/preset.rs",
        table: Some("PRESETS"),
        entry: preset,
    },
    Listed {
        folder: "crates/nandsim/models",
        extension: "toml",
        helpers: &[],
        file: "crates/nandsim/src/model.rs",
        table: Some("MODELS"),
        entry: model,
    },
    Listed {
        folder: "crates/charts/src",
        extension: "rs",
        helpers: &["canvas", "card", "lib", "marker", "markup", "panel_area", "ruler", "style"],
        file: "crates/charts/src/lib.rs",
        table: None,
        entry: module,
    },
    Listed {
        folder: "crates/report/src/formats",
        extension: "rs",
        helpers: &["format", "raster", "text"],
        file: "crates/report/src/formats.rs",
        table: Some("FORMATS"),
        entry: module,
    },
    Listed {
        folder: "crates/import/src/formats",
        extension: "rs",
        helpers: &["format"],
        file: "crates/import/src/formats.rs",
        table: Some("FORMATS"),
        entry: module,
    },
    Listed {
        folder: "crates/import/examples-data",
        extension: "toml",
        helpers: &[],
        file: "crates/import/src/examples.rs",
        table: Some("EXAMPLES"),
        entry: example,
    },
    Listed {
        folder: "crates/plateau/src/commands",
        extension: "rs",
        helpers: &[],
        file: "crates/plateau/src/commands.rs",
        table: None,
        entry: module,
    },
    Listed {
        folder: "crates/admin/src/purge",
        extension: "rs",
        helpers: &["ata", "method", "nvme", "scsi", "tests", "verify"],
        file: "crates/admin/src/purge.rs",
        table: Some("PURGE_METHODS"),
        entry: module,
    },
    Listed {
        folder: "crates/device/src/checks",
        extension: "rs",
        helpers: &["check", "tests", "tuning"],
        file: "crates/device/src/checks.rs",
        table: Some("CHECKS"),
        entry: module,
    },
    Listed {
        folder: "crates/power/src/sources",
        extension: "rs",
        helpers: &[],
        file: "crates/power/src/sources.rs",
        table: Some("SOURCES"),
        entry: module,
    },
    Listed {
        folder: "crates/store/src/tables",
        extension: "rs",
        helpers: &["table"],
        file: "crates/store/src/tables.rs",
        table: Some("TABLES"),
        entry: module,
    },
    Listed {
        folder: "tidy/src",
        extension: "rs",
        helpers: &["check", "lib", "ratchet", "source", "tree"],
        file: "tidy/src/lib.rs",
        table: Some("CHECKS"),
        entry: module,
    },
    Listed {
        folder: "xtask/src/bench",
        extension: "rs",
        helpers: &["host", "release", "results"],
        file: "xtask/src/bench.rs",
        table: Some("BENCHMARKS"),
        entry: module,
    },
    Listed {
        folder: "xtask/src/vm_test/checks",
        extension: "rs",
        helpers: &[],
        file: "xtask/src/vm_test/checks.rs",
        table: Some("GROUPS"),
        entry: module,
    },
];

fn module(stem: &str) -> String {
    format!("{stem}::")
}

fn preset(stem: &str) -> String {
    format!("presets/{stem}.toml")
}

fn model(stem: &str) -> String {
    format!("models/{stem}.toml")
}

fn example(stem: &str) -> String {
    format!("examples-data/{stem}.toml")
}

/// Complains about documentation pages that the index does not link to.
fn unlinked_pages(tree: &Tree) -> Vec<Complaint> {
    let index = tree.text(INDEX).unwrap_or_default();
    let pages = tree.texts().map(|(path, _)| path).filter(|path| path.ends_with(".md") && *path != INDEX);
    let unlinked = pages
        .filter(|path| path.strip_prefix("docs/").is_some_and(|page| !index.contains(&format!("({page})"))));
    unlinked.map(|path| Complaint::file(path, format!("{INDEX} has no link to this page"))).collect()
}

fn run(tree: &Tree) -> Vec<Complaint> {
    LISTED.iter().flat_map(|listed| listed.complaints(tree)).chain(unlinked_pages(tree)).collect()
}

impl Listed {
    fn complaints(&self, tree: &Tree) -> Vec<Complaint> {
        let files = tree.files_in(self.folder, self.extension);
        if files.is_empty() {
            return Vec::new();
        }
        let table = match (tree.source(self.file), self.table) {
            (None, _) => None,
            (Some(source), None) => Some(source.code()),
            (Some(source), Some(name)) => source.constant(name),
        };
        let named = self.table.unwrap_or("a list");
        let Some(table) = table else {
            return vec![Complaint::file(
                self.file,
                format!("does not contain {named} of the files in {}", self.folder),
            )];
        };
        files
            .into_iter()
            .filter(|(_, stem)| !self.helpers.contains(stem) && !self.lists(table, stem))
            .map(|(path, _)| Complaint::file(path, format!("not in {named} of {}", self.file)))
            .collect()
    }

    /// Returns whether the table lists the file; `blocklist::` does not count as `list::`.
    fn lists(&self, table: &str, stem: &str) -> bool {
        let entry = (self.entry)(stem);
        let joined = |place: usize| table[..place].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        table.match_indices(&entry).any(|(place, _)| !joined(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(files: &[(&str, &str)]) -> Vec<String> {
        run(&Tree::of(files)).into_iter().map(|c| c.path).collect()
    }

    #[test]
    fn a_file_outside_the_table_is_found() {
        let table = "mod iops;\nmod lat;\npub const TESTS: &[Test] = &[iops::TEST];\nfn f() { lat::TEST; }";
        let files = [
            ("crates/pts/src/tests.rs", table),
            ("crates/pts/src/tests/iops.rs", ""),
            ("crates/pts/src/tests/lat.rs", ""),
            ("crates/pts/src/tests/iops/pages.rs", ""),
        ];
        assert_eq!(paths(&files), ["crates/pts/src/tests/lat.rs"]);
    }

    #[test]
    fn models_are_listed_by_their_file() {
        let table = "const MODELS: &[M] = &[M(include_str!(\"../models/a-1.toml\"))];";
        let files = [
            ("crates/nandsim/src/model.rs", table),
            ("crates/nandsim/models/a-1.toml", ""),
            ("crates/nandsim/models/a-2.toml", ""),
        ];
        assert_eq!(paths(&files), ["crates/nandsim/models/a-2.toml"]);
    }

    #[test]
    fn a_folder_without_a_table_is_found_and_no_folder_is_fine() {
        assert_eq!(paths(&[]), [""; 0]);
        assert_eq!(paths(&[("crates/charts/src/lines.rs", "")]), ["crates/charts/src/lib.rs"]);
        let without = [("crates/pts/src/tests.rs", "mod iops;"), ("crates/pts/src/tests/iops.rs", "")];
        assert_eq!(paths(&without), ["crates/pts/src/tests.rs"]);
    }

    #[test]
    fn pages_are_listed_by_links() {
        let files = [
            ("docs/README.md", "| [ADR 001](adr/001-a.md) | a |\n| 002-b | [b](guide/002-b.md) |"),
            ("docs/adr/001-a.md", ""),
            ("docs/adr/002-b.md", ""),
            ("docs/guide/002-b.md", ""),
        ];
        assert_eq!(paths(&files), ["docs/adr/002-b.md"]);
    }

    #[test]
    fn names_are_whole() {
        let files = [
            ("crates/plateau/src/commands.rs", "mod list;\nuse blocklist::X;"),
            ("crates/plateau/src/commands/list.rs", ""),
        ];
        assert_eq!(paths(&files), ["crates/plateau/src/commands/list.rs"]);
    }
}
