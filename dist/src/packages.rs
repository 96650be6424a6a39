//! The packages that make up the program, as resolved by cargo: input for the bill of materials and the notices.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use crate::program::TARGET;

/// A package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    pub version: String,
    /// SPDX expression.
    pub licence: String,
    pub authors: Vec<String>,
    /// Directory of the package's sources.
    pub folder: PathBuf,
    /// Checksum of the package in the registry; `None` for packages in the workspace.
    pub sha256: Option<String>,
    /// Names and versions of its direct dependencies.
    pub uses: BTreeSet<(String, String)>,
}

/// The program and all its dependencies, sorted by name and version.
#[derive(Debug)]
pub struct Packages {
    pub all: Vec<Package>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Known>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Known {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    #[serde(default)]
    authors: Vec<String>,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    /// `dev` or `build`; `None` for a normal dependency.
    kind: Option<String>,
}

impl Packages {
    /// Reads the packages from `cargo metadata`.
    pub fn of(root: &Path) -> anyhow::Result<Self> {
        let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["metadata", "--locked", "--format-version", "1", "--filter-platform", TARGET])
            .current_dir(root)
            .output()
            .context("cannot start cargo")?;
        ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        let lock = std::fs::read_to_string(root.join("Cargo.lock")).context("Cargo.lock")?;
        Self::parse(&String::from_utf8_lossy(&output.stdout), &checksums(&lock))
    }

    /// Returns the version of the program.
    pub fn version(&self) -> anyhow::Result<&str> {
        let program = self.all.iter().find(|package| package.name == crate::product::NAME);
        Ok(&program.context("cargo does not report the program")?.version)
    }

    fn parse(metadata: &str, checksums: &BTreeMap<(String, String), String>) -> anyhow::Result<Self> {
        let metadata: Metadata =
            serde_json::from_str(metadata).context("cannot parse the output of cargo metadata")?;
        let nodes: BTreeMap<&str, &Node> =
            metadata.resolve.nodes.iter().map(|node| (&*node.id, node)).collect();
        let known: BTreeMap<&str, &Known> =
            metadata.packages.iter().map(|known| (&*known.id, known)).collect();
        let root = metadata.packages.iter().find(|known| known.name == crate::product::NAME);
        let mut left = vec![&*root.context("cargo does not report the program")?.id];
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        while let Some(id) = left.pop() {
            if !seen.insert(id) {
                continue;
            }
            let (node, package) =
                nodes.get(id).zip(known.get(id)).with_context(|| format!("no package {id}"))?;
            let built_in =
                node.deps.iter().filter(|edge| edge.dep_kinds.iter().any(|kind| kind.kind.is_none()));
            let built_in: Vec<&str> = built_in.map(|edge| &*edge.pkg).collect();
            let name = |id: &&str| known.get(id).map(|known| (known.name.clone(), known.version.clone()));
            all.push(Package {
                name: package.name.clone(),
                version: package.version.clone(),
                licence: package
                    .license
                    .clone()
                    .with_context(|| format!("{id} does not declare a licence"))?
                    .replace('/', " OR "),
                authors: package.authors.clone(),
                folder: package.manifest_path.parent().map(Path::to_owned).unwrap_or_default(),
                sha256: checksums.get(&(package.name.clone(), package.version.clone())).cloned(),
                uses: built_in.iter().filter_map(name).collect(),
            });
            left.extend(built_in);
        }
        all.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        Ok(Self { all })
    }
}

/// Returns the checksums in a Cargo.lock, by package name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""))?;
        Some(line.trim_end_matches('"').to_owned())
    };
    let blocks = lock.split("[[package]]").skip(1);
    blocks
        .filter_map(|block| {
            Some(((value(block, "name")?, value(block, "version")?), value(block, "checksum")?))
        })
        .collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"ab\"\ndependencies = [\n \"b\",\n]\n\n\
                        [[package]]\nname = \"plateau\"\nversion = \"0.1.0\"\n";

    fn metadata() -> String {
        let package = |name: &str, licence: &str| {
            serde_json::json!({ "id": name, "name": name, "version": "1.0.0", "license": licence, "authors": ["A"],
                "manifest_path": format!("/src/{name}/Cargo.toml") })
        };
        let node = |name: &str, uses: &[(&str, Option<&str>)]| {
            let edges = uses
                .iter()
                .map(|(to, kind)| serde_json::json!({ "pkg": to, "dep_kinds": [{ "kind": kind }] }));
            serde_json::json!({ "id": name, "deps": edges.collect::<Vec<_>>() })
        };
        serde_json::json!({
            "packages": [package("plateau", "MIT"), package("a", "MIT/Apache-2.0"), package("t", "MIT"), package("c", "Zlib")],
            "resolve": { "nodes": [
                node("plateau", &[("a", None), ("t", Some("dev")), ("c", Some("build"))]), node("a", &[]), node("t", &[]), node("c", &[]),
            ] },
        })
        .to_string()
    }

    /// Returns the program and a single dependency.
    pub fn example() -> Packages {
        Packages::parse(&metadata(), &checksums(LOCK)).expect("metadata")
    }

    #[test]
    fn only_linked_packages_count() {
        let packages = example();
        let names: Vec<&str> = packages.all.iter().map(|package| &*package.name).collect();
        assert_eq!(names, ["a", "plateau"], "dependencies of tests and build scripts do not count");
        let [a, plateau] = &packages.all[..] else { panic!("two") };
        assert_eq!((&*a.licence, a.sha256.as_deref()), ("MIT OR Apache-2.0", Some("ab")));
        assert_eq!((plateau.sha256.as_deref(), plateau.uses.len()), (None, 1));
        assert_eq!(packages.version().expect("a version"), "1.0.0");
    }

    #[test]
    fn the_metadata_of_this_workspace_is_parsed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root");
        let packages = Packages::of(root).expect("cargo metadata");
        assert_eq!(packages.version().expect("a version"), env!("CARGO_PKG_VERSION"));
        let names: BTreeSet<&str> = packages.all.iter().map(|package| &*package.name).collect();
        assert!(names.contains("clap") && names.contains("device"), "{names:?}");
        assert!(!names.contains("proptest") && !names.contains("rpm"), "{names:?}");
        for package in &packages.all {
            let is_own = package.folder.starts_with(root);
            assert_eq!(package.sha256.is_none(), is_own, "{} has a checksum in Cargo.lock", package.name);
        }
    }
}
