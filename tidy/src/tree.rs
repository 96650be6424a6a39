//! The files in the workspace, read into memory once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context as _;

use crate::source::Source;

/// Directories that contain build products or third-party files.
const SKIPPED: &[&str] = &["target", "node_modules"];
/// Hidden directories that belong to the project.
const HIDDEN: &[&str] = &[".cargo", ".ci", ".github"];
/// Extensions of text files.
const TEXT: &[&str] = &["css", "csv", "html", "js", "json", "md", "rs", "sh", "svg", "toml", "txt", "yml"];
/// Text files without an extension.
const TEXT_NAMES: &[&str] = &[".ci/run"];

/// The files in the workspace, by their path relative to its root, with forward slashes.
pub struct Tree {
    texts: BTreeMap<String, String>,
    sources: BTreeMap<String, Source>,
    paths: BTreeSet<String>,
}

impl Tree {
    /// Reads everything under `root`.
    pub fn read(root: &Path) -> anyhow::Result<Self> {
        let mut texts = BTreeMap::new();
        let mut paths = BTreeSet::new();
        walk(root, "", &mut texts, &mut paths)?;
        Ok(Self::from_parts(texts, paths))
    }

    /// Creates a tree from paths and contents, for tests.
    #[must_use]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let texts: BTreeMap<String, String> =
            files.iter().map(|&(path, text)| (path.into(), text.into())).collect();
        let above = |path: &String| {
            let slashes: Vec<usize> = path.match_indices('/').map(|(place, _)| place).collect();
            slashes.into_iter().map(|place| path[..place].to_owned()).collect::<Vec<_>>()
        };
        let paths = texts.keys().cloned().chain(texts.keys().flat_map(above)).collect();
        Self::from_parts(texts, paths)
    }

    fn from_parts(texts: BTreeMap<String, String>, paths: BTreeSet<String>) -> Self {
        let rust = texts.iter().filter(|(path, _)| path.ends_with(".rs"));
        let sources = rust.map(|(path, text)| (path.clone(), Source::of(text))).collect();
        Self { texts, sources, paths }
    }

    /// Returns every text file with its content.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Returns the content of one file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Returns every Rust file.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &Source)> {
        self.sources.iter().map(|(path, source)| (path.as_str(), source))
    }

    /// Returns one Rust file.
    pub fn source(&self, path: &str) -> Option<&Source> {
        self.sources.get(path)
    }

    /// Returns whether a file or directory exists.
    pub fn exists(&self, path: &str) -> bool {
        self.paths.contains(path.trim_end_matches('/'))
    }

    /// Returns files directly in `folder` with this extension: path and name without extension.
    pub fn files_in(&self, folder: &str, extension: &str) -> Vec<(&str, &str)> {
        let stem_of = |path: &str| {
            let (above, name) = path.rsplit_once('/')?;
            let stem = name.strip_suffix(extension)?.strip_suffix('.')?;
            (above == folder).then(|| path.len() - name.len()..path.len() - name.len() + stem.len())
        };
        self.texts.keys().filter_map(|path| Some((path.as_str(), &path[stem_of(path)?]))).collect()
    }

    /// Returns whether a Rust file is test code: it is in a directory such as `tests`, or its parent module
    /// declares it only for tests.
    pub fn is_test(&self, path: &str) -> bool {
        if !path.contains("/src/") {
            return ["/tests/", "/benches/", "/examples/"].iter().any(|folder| path.contains(folder));
        }
        let Some((parent, name)) = self.declared_by(path) else { return false };
        let declares = |(_, source): &(String, &Source)| {
            source.modules().into_iter().any(|(module, test)| test && module == name)
        };
        parent.iter().any(declares) || parent.iter().any(|(above, _)| self.is_test(above))
    }

    /// Returns the files that may declare the module at `path`, and the module's name.
    pub fn declared_by(&self, path: &str) -> Option<(Vec<(String, &Source)>, String)> {
        let (folder, file) = path.rsplit_once('/')?;
        let name = file.strip_suffix(".rs")?;
        let (folder, name) = match name {
            "mod" => folder.rsplit_once('/')?,
            "lib" | "main" => return None,
            _ => (folder, name),
        };
        let above = [
            format!("{folder}.rs"),
            format!("{folder}/mod.rs"),
            format!("{folder}/lib.rs"),
            format!("{folder}/main.rs"),
        ];
        let present = above.into_iter().filter_map(|p| {
            let source = self.sources.get(&p)?;
            Some((p, source))
        });
        Some((present.collect(), name.into()))
    }

    /// Returns the directories of all crates, such as `crates/pts` and `xtask`.
    pub fn crates(&self) -> Vec<&str> {
        let folder = |path: &'_ String| path.strip_suffix("/Cargo.toml").map(str::len);
        self.texts.keys().filter_map(|path| Some(&path[..folder(path)?])).collect()
    }
}

fn walk(
    root: &Path,
    folder: &str,
    texts: &mut BTreeMap<String, String>,
    paths: &mut BTreeSet<String>,
) -> anyhow::Result<()> {
    let full = root.join(folder);
    for entry in std::fs::read_dir(&full).with_context(|| format!("cannot list {}", full.display()))? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            let foreign = name.starts_with('.') && !HIDDEN.contains(&name.as_str());
            // Under `src`, directories with these names contain sources.
            let skipped = SKIPPED.contains(&name.as_str()) && !folder.split('/').any(|part| part == "src");
            if !foreign && !skipped {
                walk(root, &path, texts, paths)?;
                paths.insert(path);
            }
            continue;
        }
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        if TEXT_NAMES.contains(&path.as_str()) || extension.is_some_and(|e| TEXT.contains(&e)) {
            let bytes = std::fs::read(entry.path()).with_context(|| format!("cannot read {path}"))?;
            texts.insert(
                path.clone(),
                String::from_utf8(bytes).with_context(|| format!("{path} is not UTF-8"))?,
            );
        }
        paths.insert(path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_are_distinguished_from_a_module_called_tests() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "mod tests;\n#[cfg(test)]\nmod fake;\nmod b;"),
            ("crates/a/src/tests.rs", "mod x;"),
            ("crates/a/src/tests/x.rs", ""),
            ("crates/a/src/fake.rs", "mod deep;"),
            ("crates/a/src/fake/deep.rs", ""),
            ("crates/a/tests/y.rs", ""),
        ]);
        let test = |path: &str| tree.is_test(&format!("crates/a/{path}"));
        let verdicts =
            ["src/lib.rs", "src/tests.rs", "src/tests/x.rs", "src/fake.rs", "src/fake/deep.rs", "tests/y.rs"]
                .map(test);
        assert_eq!(verdicts, [false, false, false, true, true, true]);
    }

    #[test]
    fn folders_list_their_own_files_only() {
        let tree = Tree::of(&[("a/b/c.rs", ""), ("a/b/d/e.rs", ""), ("a/b/f.toml", ""), ("a/b.rs", "")]);
        assert_eq!(tree.files_in("a/b", "rs"), [("a/b/c.rs", "c")]);
        assert!(tree.exists("a/b/") && tree.exists("a/b/d/e.rs") && !tree.exists("a/c"));
    }
}
