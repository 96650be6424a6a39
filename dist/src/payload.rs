//! The installed files, and their paths in each kind of package.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;

use crate::notices::notices;
use crate::packages::Packages;
use crate::packed::{Entry, gzip};
use crate::product::NAME;
use crate::program::Program;

/// Files in the repository that packages install or quote.
const TEXTS: [&str; 4] = [APACHE, MIT, README, CHANGELOG];
pub const APACHE: &str = "LICENSE-APACHE";
pub const MIT: &str = "LICENSE-MIT";
const README: &str = "README.md";
const CHANGELOG: &str = "CHANGELOG.md";
/// Name of the file with the licences of all linked packages.
const NOTICES: &str = "THIRD-PARTY.txt";
/// Install directory of the systemd units from `dist/units`. Packages neither enable nor start them.
const UNITS: &str = "usr/lib/systemd/system";
/// Install directory of the files for Prometheus and Grafana from `dist/monitoring`.
const MONITORING: &str = "usr/share/plateau/monitoring";

/// The program and all files that ship with it.
pub struct Payload {
    pub program: Program,
    /// Files in the repository, by name.
    texts: BTreeMap<&'static str, Vec<u8>>,
    notices: String,
    /// The name and text of each systemd unit.
    units: Vec<(String, Vec<u8>)>,
    /// The name and text of each file for Prometheus and Grafana.
    monitoring: Vec<(String, Vec<u8>)>,
}

impl Payload {
    /// Reads the files in the repository.
    pub fn of(root: &Path, program: Program, packages: &Packages) -> anyhow::Result<Self> {
        let read = |name: &'static str| Ok((name, std::fs::read(root.join(name)).context(name)?));
        Ok(Self {
            program,
            texts: TEXTS.into_iter().map(read).collect::<anyhow::Result<_>>()?,
            notices: notices(root, packages)?,
            units: folder(&root.join("dist/units"))?,
            monitoring: folder(&root.join("dist/monitoring"))?,
        })
    }

    /// Returns the content of a file in the repository.
    pub fn text(&self, name: &str) -> &[u8] {
        self.texts.get(name).map_or(&[], |text| text)
    }

    /// Returns the entries that have the same path on every distribution.
    fn common(&self, zsh: &str) -> anyhow::Result<Vec<Entry>> {
        let program = &self.program;
        let mut entries = vec![
            Entry::program(format!("usr/bin/{NAME}"), program.bytes.clone()),
            Entry::file(format!("usr/share/bash-completion/completions/{NAME}"), program.bash.clone()),
            Entry::file(format!("{zsh}/_{NAME}"), program.zsh.clone()),
            Entry::file(format!("usr/share/fish/vendor_completions.d/{NAME}.fish"), program.fish.clone()),
        ];
        for (name, page) in &program.man {
            entries.push(Entry::file(format!("usr/share/man/man1/{name}.gz"), gzip(page)?));
        }
        for (place, files) in [(UNITS, &self.units), (MONITORING, &self.monitoring)] {
            entries.extend(
                files.iter().map(|(name, text)| Entry::file(format!("{place}/{name}"), text.clone())),
            );
        }
        Ok(entries)
    }

    /// Returns the files for Debian; the package adds the files that only Debian requires.
    pub fn debian(&self) -> anyhow::Result<Vec<Entry>> {
        let mut entries = self.common("usr/share/zsh/vendor-completions")?;
        let folder = format!("usr/share/doc/{NAME}");
        entries.push(Entry::file(format!("{folder}/changelog.gz"), gzip(self.text(CHANGELOG))?));
        entries.push(Entry::file(format!("{folder}/{README}"), self.text(README)));
        entries.push(Entry::file(format!("{folder}/{NOTICES}.gz"), gzip(self.notices.as_bytes())?));
        Ok(entries)
    }

    /// Returns the files for Fedora and openSUSE.
    pub fn rpm(&self) -> anyhow::Result<Vec<Entry>> {
        let mut entries = self.common("usr/share/zsh/site-functions")?;
        entries.extend(self.licences(&format!("usr/share/licenses/{NAME}/")));
        entries.extend(self.documents(&format!("usr/share/doc/{NAME}/")));
        Ok(entries)
    }

    /// Returns the files in the image: only the program, its licences and the files that a run needs.
    pub fn image(&self) -> Vec<Entry> {
        let mut entries = vec![
            Entry::program(format!("usr/bin/{NAME}"), self.program.bytes.clone()),
            Entry::folder("tmp", 0o1777),
            // Mount points for the container runtime, even if the root is read-only. Plateau needs /proc.
            Entry::folder("dev", 0o755),
            Entry::folder("proc", 0o555),
            Entry::folder("sys", 0o555),
            // Root's library of runs.
            Entry::folder(format!("var/lib/{NAME}"), 0o755),
        ];
        entries.extend(self.licences(&format!("usr/share/licenses/{NAME}/")));
        entries
    }

    /// Returns the files in the archive, relative to its directory.
    pub fn archive(&self) -> Vec<Entry> {
        let program = &self.program;
        let mut entries = vec![
            Entry::program(NAME, program.bytes.clone()),
            Entry::file(format!("completions/{NAME}.bash"), program.bash.clone()),
            Entry::file(format!("completions/_{NAME}"), program.zsh.clone()),
            Entry::file(format!("completions/{NAME}.fish"), program.fish.clone()),
        ];
        entries
            .extend(program.man.iter().map(|(name, page)| Entry::file(format!("man/{name}"), page.clone())));
        for (place, files) in [("systemd", &self.units), ("monitoring", &self.monitoring)] {
            entries.extend(
                files.iter().map(|(name, text)| Entry::file(format!("{place}/{name}"), text.clone())),
            );
        }
        entries.extend(self.licences(""));
        entries.extend(self.documents(""));
        entries
    }

    fn licences(&self, folder: &str) -> Vec<Entry> {
        let own = [APACHE, MIT].map(|name| Entry::file(format!("{folder}{name}"), self.text(name)));
        let others = Entry::file(format!("{folder}{NOTICES}"), self.notices.clone());
        own.into_iter().chain([others]).collect()
    }

    fn documents(&self, folder: &str) -> Vec<Entry> {
        [README, CHANGELOG].map(|name| Entry::file(format!("{folder}{name}"), self.text(name))).into()
    }
}

/// Returns the names and contents of the files in a directory, which need not exist.
fn folder(folder: &Path) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        files.push((entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path())?));
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::packed::Content;

    /// Returns a payload with a fake program.
    pub fn example() -> Payload {
        let program = Program {
            bytes: b"program".into(),
            man: vec![("plateau.1".into(), b".TH plateau 1".into())],
            bash: b"bash".into(),
            zsh: b"zsh".into(),
            fish: b"fish".into(),
        };
        Payload {
            program,
            texts: TEXTS.into_iter().map(|name| (name, format!("text of {name}\n").into_bytes())).collect(),
            notices: "notices\n".into(),
            units: vec![("plateau.service".into(), b"[Unit]".into())],
            monitoring: vec![("alerts.yml".into(), b"groups: []".into())],
        }
    }

    #[test]
    fn every_package_has_the_program_and_all_licences() {
        let payload = example();
        for (kind, entries, own) in [
            ("debian", payload.debian().expect("entries"), 0),
            ("rpm", payload.rpm().expect("entries"), 2),
            ("image", payload.image(), 2),
            ("archive", payload.archive(), 2),
        ] {
            let program = entries.iter().find(|entry| entry.content == Content::File(b"program".into()));
            assert!(
                program.is_some_and(|entry| entry.mode == 0o755 && entry.path.ends_with("plateau")),
                "{kind}"
            );
            assert!(entries.iter().any(|entry| entry.path.contains(NOTICES)), "{kind}");
            // The Debian package itself adds its copyright file.
            assert_eq!(entries.iter().filter(|entry| entry.path.contains("LICENSE")).count(), own, "{kind}");
            assert!(entries.iter().all(|entry| !entry.path.starts_with('/')), "{kind}");
        }
    }

    #[test]
    fn pages_completions_and_units_are_installed_where_programs_look_for_them() {
        let payload = example();
        let paths = |entries: Vec<Entry>| entries.into_iter().map(|entry| entry.path).collect::<Vec<_>>();
        let both = [paths(payload.debian().expect("entries")), paths(payload.rpm().expect("entries"))];
        for path in [
            "usr/share/man/man1/plateau.1.gz",
            "usr/share/bash-completion/completions/plateau",
            "usr/share/fish/vendor_completions.d/plateau.fish",
            "usr/lib/systemd/system/plateau.service",
            "usr/share/plateau/monitoring/alerts.yml",
        ] {
            assert!(both.iter().all(|paths| paths.iter().any(|have| have == path)), "{path}");
        }
        assert!(both[0].iter().any(|path| path == "usr/share/zsh/vendor-completions/_plateau"));
        assert!(both[1].iter().any(|path| path == "usr/share/zsh/site-functions/_plateau"));
    }

    #[test]
    fn units_come_from_their_folder_if_there_is_one() {
        let place = tempfile::tempdir().expect("a folder");
        assert_eq!(folder(&place.path().join("units")).expect("none"), []);
        std::fs::write(place.path().join("b.timer"), "b").expect("a file");
        std::fs::write(place.path().join("a.service"), "a").expect("a file");
        let names: Vec<_> = folder(place.path()).expect("units").into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a.service", "b.timer"]);
    }
}
