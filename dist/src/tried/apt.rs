//! Finds the package source of this Debian host.

use std::path::Path;

use anyhow::Context as _;

const LIST: &str = "/etc/apt/sources.list";
const FOLDER: &str = "/etc/apt/sources.list.d";

/// A source of packages.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    pub address: String,
    pub suite: String,
}

/// Returns the first source for a complete release, rather than for updates.
pub fn of_this_host() -> anyhow::Result<Source> {
    let mut files = vec![Path::new(LIST).to_owned()];
    if let Ok(entries) = std::fs::read_dir(FOLDER) {
        files.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("list") => of_lines(&text),
            Some("sources") => of_stanzas(&text),
            _ => None,
        }
    };
    files
        .iter()
        .find_map(read)
        .with_context(|| format!("neither {LIST} nor {FOLDER} names a release of Debian"))
}

/// Parses lines such as `deb [signed-by=KEY] ADDRESS SUITE COMPONENT...`.
fn of_lines(text: &str) -> Option<Source> {
    text.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("deb ")?.trim_start();
        let rest =
            rest.strip_prefix('[').map_or(Some(rest), |rest| rest.split_once(']').map(|(_, rest)| rest))?;
        let mut words = rest.split_whitespace();
        source(words.next()?, words.next()?, words)
    })
}

/// Parses stanzas of `Types:`, `URIs:`, `Suites:` and `Components:`.
fn of_stanzas(text: &str) -> Option<Source> {
    text.split("\n\n").find_map(|stanza| {
        let field = |name: &str| {
            let line = stanza.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.unwrap_or_default().split_whitespace()
        };
        let is_used = field("Types").any(|kind| kind == "deb") && field("Enabled").all(|word| word != "no");
        let address = field("URIs").next().filter(|_| is_used)?;
        field("Suites").find_map(|suite| source(address, suite, field("Components")))
    })
}

/// Accepts complete releases, which have the `main` component and no suffix for updates or backports.
fn source<'a>(address: &str, suite: &str, mut components: impl Iterator<Item = &'a str>) -> Option<Source> {
    let is_whole = !suite.contains(['-', '/']) && components.any(|component| component == "main");
    // The only schemes that debootstrap supports.
    let is_known = ["http://", "https://", "file:/"].iter().any(|scheme| address.starts_with(scheme));
    (is_whole && is_known).then(|| Source { address: address.into(), suite: suite.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(suite: &str) -> Option<Source> {
        Some(Source { address: "https://example.org/debian".into(), suite: suite.into() })
    }

    #[test]
    fn lines_and_stanzas_name_the_release() {
        let lines = "# deb https://example.org/old a main\ndeb https://example.org/debian-security trixie-security main\n\
                     deb-src https://example.org/debian trixie main\ndeb [arch=amd64] https://example.org/debian trixie main\n";
        assert_eq!(of_lines(lines), source("trixie"));
        let stanzas = "Types: deb\nURIs: https://example.org/off\nSuites: sid\nComponents: main\nEnabled: no\n\n\
                       Types: deb deb-src\nURIs: https://example.org/debian\nSuites: bookworm-updates bookworm\nComponents: contrib main\n";
        assert_eq!(of_stanzas(stanzas), source("bookworm"));
    }

    #[test]
    fn sources_without_a_whole_release_are_skipped() {
        for text in [
            "",
            "deb https://example.org/x trixie-updates main",
            "deb https://example.org/x trixie contrib",
            "deb cdrom:x trixie main",
        ] {
            assert_eq!(of_lines(text), None, "{text}");
        }
        assert_eq!(
            of_stanzas("Types: deb\nURIs: https://example.org/x\nSuites: nodistro\nComponents: x\n"),
            None
        );
    }
}
