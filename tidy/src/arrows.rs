//! Allowed dependencies between crates.

use super::check::{Check, Complaint};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "arrows", run, bless: None };

/// Each crate with the workspace crates that it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("skips", &[]),
    ("unified", &[]),
    ("stdx", &["skips"]),
    ("record", &["stdx"]),
    ("nandsim", &["stdx"]),
    ("live", &["record", "stdx"]),
    ("zones", &["record", "stdx"]),
    ("engine", &["record", "stdx", "skips", "zones"]),
    ("admin", &["record", "stdx"]),
    ("power", &["record"]),
    ("signatures", &["stdx"]),
    ("sysfs", &["record", "skips"]),
    ("device", &["admin", "engine", "record", "signatures", "stdx", "sysfs", "nandsim", "skips"]),
    ("loose", &["device", "engine", "record", "stdx", "sysfs"]),
    ("chartdata", &[]),
    ("capture", &["stdx", "trace"]),
    ("workload", &["capture", "device", "engine", "nandsim", "report", "stdx", "trace"]),
    ("trace", &["chartdata", "charts", "stdx"]),
    ("steadystate", &["record", "stdx"]),
    ("pts", &["chartdata", "record", "steadystate", "stdx"]),
    ("estimate", &["pts", "record", "stdx"]),
    ("plans", &["pts", "record", "stdx"]),
    // Its tests read files that `report` writes.
    ("import", &["pts", "record", "report", "skips", "stdx"]),
    ("charts", &["chartdata", "stdx"]),
    ("print", &["charts"]),
    ("report", &["charts", "estimate", "print", "pts", "record", "stdx", "skips"]),
    ("fitting", &["nandsim", "pts", "record", "stdx"]),
    ("store", &["pts", "record", "report", "stdx", "skips"]),
    ("transfer", &["record", "stdx"]),
    ("fleet", &["device", "record", "stdx"]),
    ("cluster", &["failure", "fleet", "output", "pts", "record", "stdx"]),
    ("state", &["device", "record", "stdx"]),
    ("compare", &["charts", "pts", "record", "report", "stdx", "skips"]),
    ("doctor", &["pts", "record", "stdx", "skips"]),
    ("gate", &["charts", "compare", "pts", "record", "report", "stdx", "skips"]),
    (
        "lab",
        &[
            "live", "charts", "compare", "estimate", "pts", "record", "report", "stdx", "launch", "plans",
            "follow", "transfer",
        ],
    ),
    ("fio", &["engine", "pts", "record", "stdx", "skips"]),
    ("launch", &["record", "stdx"]),
    ("follow", &["estimate", "pts", "record", "stdx", "transfer"]),
    ("watch", &["live", "charts", "follow", "launch", "pts", "record", "report", "stdx"]),
    (
        "output",
        &["console", "device", "estimate", "failure", "host", "pts", "record", "report", "stdx", "transfer"],
    ),
    ("outbound", &["stdx"]),
    ("forward", &["outbound", "record", "stdx", "transfer"]),
    ("notify", &["live", "follow", "outbound", "pts", "record", "stdx", "transfer"]),
    ("console", &["live", "engine", "pts", "record", "stdx"]),
    ("host", &["console", "device", "failure", "pts", "record", "state", "stdx"]),
    ("failure", &["console", "device", "engine", "power", "record", "stdx", "store", "transfer", "workload"]),
    (
        "prepare",
        &["console", "device", "engine", "failure", "nandsim", "plans", "power", "pts", "record", "stdx"],
    ),
    (
        "plateau",
        &[
            "live", "stdx", "record", "nandsim", "engine", "device", "power", "estimate", "pts", "plans",
            "import", "report", "compare", "lab", "fio", "console", "skips", "store", "doctor", "gate",
            "launch", "workload", "watch", "state", "transfer", "cluster", "fleet", "failure", "host",
            "trace", "fitting", "loose", "prepare", "follow", "notify", "forward", "outbound", "output",
            "unified",
        ],
    ),
    ("swarm", &["stdx", "record", "engine", "device", "pts", "plateau"]),
    ("dist", &[]),
    ("labdemo", &[]),
    ("tidy", &[]),
    ("vmlab", &[]),
    ("crosscheck", &["device", "engine", "pts", "record", "stdx"]),
    (
        "fuzz",
        &[
            "stdx", "record", "nandsim", "device", "estimate", "pts", "plans", "import", "report", "fio",
            "plateau", "trace", "notify",
        ],
    ),
    (
        "xtask",
        &[
            "engine", "device", "labdemo", "live", "pts", "record", "stdx", "nandsim", "skips", "tidy",
            "unified", "vmlab",
        ],
    ),
];

const SECTIONS: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

fn run(tree: &Tree) -> Vec<Complaint> {
    tree.crates().into_iter().flat_map(|folder| complaints_of(tree, folder)).collect()
}

fn complaints_of(tree: &Tree, folder: &str) -> Vec<Complaint> {
    let path = format!("{folder}/Cargo.toml");
    let complain = |text: String| vec![Complaint::file(&path, text)];
    let manifest: toml::Table = match tree.text(&path).unwrap_or_default().parse() {
        Ok(manifest) => manifest,
        Err(error) => return complain(format!("cannot be read: {}", error.message())),
    };
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let package = manifest.get("package").and_then(|p| p.get("name")).and_then(toml::Value::as_str);
    if package != Some(name) {
        return complain(format!("the package must be named '{name}', like its folder"));
    }
    let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else {
        return complain("a new crate; add it to ARROWS (this file) and to ARCHITECTURE.md".into());
    };
    dependencies(&manifest)
        .into_iter()
        .filter(|it| ARROWS.iter().any(|(known, _)| known == it) && !allowed.contains(&it.as_str()))
        .map(|other| format!("{name} must not depend on {other}; see the code map in ARCHITECTURE.md"))
        .map(|text| Complaint::file(&path, text))
        .collect()
}

/// Returns the names of all packages that a manifest depends on, with renames resolved.
fn dependencies(manifest: &toml::Table) -> Vec<String> {
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let per_target = targets.into_iter().flat_map(|t| t.values().filter_map(toml::Value::as_table));
    let tables = std::iter::once(manifest).chain(per_target);
    let sections = tables.flat_map(|table| SECTIONS.iter().filter_map(|s| table.get(*s)?.as_table()));
    let real_name = |(name, value): (&String, &toml::Value)| {
        value.get("package").and_then(toml::Value::as_str).unwrap_or(name).to_owned()
    };
    sections.flat_map(|section| section.iter().map(real_name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(path: &str, manifest: &str) -> Vec<String> {
        run(&Tree::of(&[(path, manifest)])).into_iter().map(|c| c.text).collect()
    }

    #[test]
    fn allowed_arrows_pass() {
        let manifest = "[package]\nname = \"pts\"\n[dependencies]\nrecord.workspace = true\nserde = \"1\"";
        assert_eq!(texts("crates/pts/Cargo.toml", manifest), [""; 0]);
    }

    #[test]
    fn a_forbidden_dependency_is_found_in_every_section() {
        for dependency in [
            "[dependencies]\ndevice.workspace = true",
            "[dev-dependencies]\ndevice = { path = \"../device\" }",
            "[target.'cfg(unix)'.dependencies]\nd = { package = \"device\", path = \"../device\" }",
        ] {
            let found = texts("crates/pts/Cargo.toml", &format!("[package]\nname = \"pts\"\n{dependency}"));
            assert_eq!(
                found,
                ["pts must not depend on device; see the code map in ARCHITECTURE.md"],
                "{dependency}"
            );
        }
    }

    #[test]
    fn unknown_and_misnamed_crates_are_found() {
        assert!(texts("crates/web/Cargo.toml", "[package]\nname = \"web\"")[0].contains("a new crate"));
        assert!(
            texts("crates/pts/Cargo.toml", "[package]\nname = \"plateau-pts\"")[0]
                .contains("must be named 'pts', like its folder")
        );
    }
}
