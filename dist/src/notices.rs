//! The licences of all software linked into the program, with their texts, which most licences require.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::packages::{Package, Packages};

/// Prefixes of licence file names.
const BEGINNINGS: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
/// Notices for linked code that is not a cargo package.
const RUNTIME: &str = include_str!("../files/runtime.txt");
/// Fonts embedded in the program, with their licence.
const FONTS: &str = "crates/print/assets/fonts/README.md";
const LINE: &str = "--------------------------------------------------------------------------------";

/// Returns all notices as a single document.
pub fn notices(root: &Path, packages: &Packages) -> anyhow::Result<String> {
    let mut texts: BTreeMap<String, Vec<&Package>> = BTreeMap::new();
    let mut without = Vec::new();
    // Packages of the workspace have Plateau's own licences, which ship as separate files.
    for package in packages.all.iter().filter(|package| package.sha256.is_some()) {
        let found = texts_of(&package.folder)?;
        if found.is_empty() {
            without.push(package);
        }
        found.into_iter().for_each(|text| texts.entry(text).or_default().push(package));
    }
    let fonts = std::fs::read_to_string(root.join(FONTS)).context(FONTS)?;
    written(&texts, &without, &fonts)
}

/// Returns the licence texts in the directory of a package.
fn texts_of(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) && entry.path().is_file() {
            let text = String::from_utf8_lossy(&std::fs::read(entry.path())?).replace("\r\n", "\n");
            texts.push(text.trim().to_owned());
        }
    }
    Ok(texts)
}

fn written(
    texts: &BTreeMap<String, Vec<&Package>>,
    without: &[&Package],
    fonts: &str,
) -> anyhow::Result<String> {
    let mut out = "Plateau is linked with the packages below. Each is followed by its licences.\n".to_owned();
    let mut sorted: Vec<_> = texts.iter().collect();
    sorted.sort_by_key(|(text, packages)| (packages.iter().map(|p| (&p.name, &p.version)).min(), *text));
    for (text, packages) in sorted {
        write!(
            out,
            "\n{LINE}\n{}\n\n{text}\n",
            packages.iter().map(|p| title(p)).collect::<Vec<_>>().join("\n")
        )?;
    }
    for package in without {
        // Apache-2.0 does not require the package's own copyright notice, and the licence text ships with Plateau.
        if !package.licence.split(" OR ").any(|licence| licence == "Apache-2.0") {
            bail!(
                "{} {} does not include the text of its licence, {}",
                package.name,
                package.version,
                package.licence
            );
        }
        write!(out, "\n{LINE}\n{}\n\n", title(package))?;
        let authors = package.authors.join(", ");
        writeln!(out, "Used under Apache-2.0, whose text is in Plateau's LICENSE-APACHE. By {authors}.")?;
    }
    write!(out, "\n{LINE}\n{}\n\n{LINE}\n{}\n", RUNTIME.trim(), fonts.trim())?;
    Ok(out)
}

fn title(package: &Package) -> String {
    format!("{} {} ({})", package.name, package.version, package.licence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, licence: &str) -> Package {
        Package {
            name: name.into(),
            version: "1.0.0".into(),
            licence: licence.into(),
            authors: vec!["N. N.".into()],
            folder: "/nowhere".into(),
            sha256: Some("ab".into()),
            uses: Default::default(),
        }
    }

    #[test]
    fn a_licence_text_appears_once_with_all_its_packages() {
        let (a, b, c) = (package("a", "MIT"), package("b", "MIT"), package("c", "MIT OR Apache-2.0"));
        let texts = BTreeMap::from([("Permission".to_owned(), vec![&a, &b])]);
        let text = written(&texts, &[&c], "fonts").expect("a text");
        assert!(text.contains("a 1.0.0 (MIT)\nb 1.0.0 (MIT)\n\nPermission\n"), "{text}");
        assert!(text.contains("c 1.0.0") && text.contains("By N. N.") && text.ends_with("fonts\n"), "{text}");
        assert!(text.contains("musl") && text.contains("Rust standard library"), "{text}");
        let refused = written(&texts, &[&package("d", "MIT")], "").unwrap_err().to_string();
        assert!(refused.contains("d 1.0.0 does not include the text"), "{refused}");
    }

    #[test]
    fn licences_are_found_whatever_their_case() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [("LICENSE-MIT", "one\r\ntwo\n"), ("Copying.txt", "three"), ("README", "four")] {
            std::fs::write(folder.path().join(name), text).expect("a file");
        }
        let mut texts = texts_of(folder.path()).expect("texts");
        texts.sort();
        assert_eq!(texts, ["one\ntwo", "three"]);
    }
}
