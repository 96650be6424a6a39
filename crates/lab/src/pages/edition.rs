//! The two editions of the pages, which differ in their links: served, or published as files that need no server.

use record::Digest;
use report::formats::{FORMATS, Format, Make};

/// Maximum length of the readable part of a file name.
const MOST_CHARACTERS: usize = 60;
/// Number of digits of the hash that makes file names unique.
const HASH_DIGITS: usize = 10;

/// Name of the query's field for narrow pictures, and its value.
pub const NARROW: &str = "narrow";

/// Name of the query's field for the windows that a part of a page is for.
pub const WIDTH: &str = "width";

/// The width of the windows that a picture is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    Wide,
    Narrow,
}

impl Width {
    /// Returns the width with this name; None for any other name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "wide" => Some(Self::Wide),
            NARROW => Some(Self::Narrow),
            _ => None,
        }
    }
}

/// How a page is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edition {
    /// `plateau serve`: links are addresses of the server.
    Server,
    /// `plateau publish`: links are relative paths; `up` leads from the page to the top folder, such as `../`.
    Site {
        /// Empty, or a sequence of `../`.
        up: &'static str,
    },
}

/// Paths of a site's files, relative to its folder.
pub mod files {
    pub const HOME: &str = "index.html";
    pub const DRIVES: &str = "drives.html";
    pub const COMPARISONS: &str = "comparisons.html";
    pub const STYLE: &str = "lab.css";
    pub const ICON: &str = "icon.svg";
}

impl Edition {
    /// Returns whether pages may contain forms, which need a server.
    pub const fn has_forms(self) -> bool {
        matches!(self, Self::Server)
    }

    /// Returns the sections: the address and the name of each.
    pub fn menu(self) -> Vec<(String, &'static str)> {
        let of = |entries: &[(&str, &'static str)]| {
            entries.iter().map(|(path, name)| (self.file(path), *name)).collect()
        };
        match self {
            Self::Server => of(&[
                ("/", "Runs"),
                ("/drives", "Drives"),
                ("/fleet", "Fleet"),
                ("/start", "Start"),
                ("/api", "API"),
                ("/account", "Account"),
            ]),
            Self::Site { .. } => {
                of(&[(files::HOME, "Runs"), (files::DRIVES, "Drives"), (files::COMPARISONS, "Comparisons")])
            }
        }
    }

    /// Returns the list of runs.
    pub fn home(self) -> String {
        self.either("/".into(), files::HOME)
    }

    pub fn style(self) -> String {
        self.either("/static/lab.css".into(), files::STYLE)
    }

    pub fn icon(self) -> String {
        self.either("/static/icon.svg".into(), files::ICON)
    }

    /// Returns the page of a run.
    pub fn run(self, id: &str) -> String {
        self.either(format!("/runs/{id}"), &run_file(id))
    }

    /// Returns the report of a run.
    pub fn report(self, id: &str) -> String {
        self.either(format!("/runs/{id}/report"), &report_file(id))
    }

    /// Returns the picture of a run's latest hour up to record number `record`.
    pub fn timeline(self, id: &str, record: Option<u64>, width: Width) -> String {
        // The number lets the browser cache the picture until there is another record.
        let narrow = if width == Width::Narrow { NARROW } else { "" };
        let query = [("record", record.unwrap_or(0).to_string()), (NARROW, narrow.to_owned())];
        let address = link(
            &format!("/runs/{id}/timeline"),
            &query.each_ref().map(|(key, value)| (*key, value.as_str())),
        );
        self.either(address, &timeline_file(id, width))
    }

    /// Returns a run in a format that consists of one file.
    pub fn export(self, id: &str, format: &Format) -> String {
        self.either(format!("/runs/{id}/export/{}", format.name), &export_file(id, format))
    }

    /// Returns the page of a drive.
    pub fn drive(self, id: &str) -> String {
        self.either(link("/drive", &[("id", id)]), &drive_file(id))
    }

    /// Returns the last line of every page.
    pub fn footer(self) -> String {
        match self {
            Self::Server => {
                "A run is a separate process, which is not affected when this server stops.".into()
            }
            Self::Site { .. } => format!("Published with Plateau {}.", env!("CARGO_PKG_VERSION")),
        }
    }

    fn either(self, address: String, path: &str) -> String {
        match self {
            Self::Server => address,
            Self::Site { .. } => self.file(path),
        }
    }

    fn file(self, path: &str) -> String {
        match self {
            Self::Server => path.to_owned(),
            Self::Site { up } => format!("{up}{path}"),
        }
    }
}

/// Returns a link with a query.
pub fn link(path: &str, query: &[(&str, &str)]) -> String {
    let mut encoded = form_urlencoded::Serializer::new(String::new());
    encoded.extend_pairs(query.iter().filter(|(_, value)| !value.is_empty()));
    let query = encoded.finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// Returns the formats of a run that consist of one file.
pub fn file_formats() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| matches!(format.make, Make::File(_)))
}

/// Returns the path of a run's page. Ids of runs are valid file names.
pub fn run_file(id: &str) -> String {
    format!("runs/{id}.html")
}

/// Returns the path of a run's report.
pub fn report_file(id: &str) -> String {
    format!("{}/report.html", run_folder(id))
}

/// Returns the path of the picture of a run's latest hour.
pub fn timeline_file(id: &str, width: Width) -> String {
    let name = if width == Width::Narrow { "timeline-narrow.svg" } else { "timeline.svg" };
    format!("{}/{name}", run_folder(id))
}

/// Returns the path of a run's export in the given format.
pub fn export_file(id: &str, format: &Format) -> String {
    if format.name == "html" {
        return report_file(id);
    }
    format!("{}/{}", run_folder(id), format.output_name(id))
}

/// Returns the path of the folder with a run's files. Its name differs from those of all pages: an id may end in
/// `.html`, but no id starts with a hyphen.
fn run_folder(id: &str) -> String {
    let hyphen = if id.ends_with(".html") { "-" } else { "" };
    format!("runs/{hyphen}{id}")
}

/// Returns the path of a drive's page. Identities may contain any character and have any length.
pub fn drive_file(id: &str) -> String {
    format!("drives/{}.html", file_name(id))
}

/// Returns the path of a comparison of the runs with the given settings.
pub fn comparison_file(settings: &str) -> String {
    format!("compare/{}.html", file_name(settings))
}

/// Returns a readable file name that is valid on every file system and different for every text.
fn file_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let readable: String = text.chars().take(MOST_CHARACTERS).map(plain).collect();
    let hash = Digest::of(text.as_bytes()).to_string();
    let hash = &hash[..HASH_DIGITS.min(hash.len())];
    match readable.trim_matches('-') {
        "" => hash.to_owned(),
        readable => format!("{readable}-{hash}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_plain_and_differ() {
        let names = ["SN 1/2", "SN 1-2", "sn 1-2", "\u{202e}<script>", "..", "", &"x".repeat(4096)];
        let files: Vec<String> = names.iter().map(|name| file_name(name)).collect();
        for (i, file) in files.iter().enumerate() {
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(!file.is_empty() && file.len() < 80 && file.chars().all(is_plain), "{file}");
            assert!(!files[..i].contains(file), "{file}");
        }
    }

    #[test]
    fn every_format_has_its_own_file() {
        let files: Vec<String> = file_formats().map(|format| export_file("r", format)).collect();
        assert!(files.len() > 4, "{files:?}");
        for (i, file) in files.iter().enumerate() {
            assert!(!files[..i].contains(file), "{file}");
        }
    }

    #[test]
    fn no_folder_of_a_run_has_the_name_of_a_page() {
        let ids = ["a", "a.html", "a.html.html", "a_html"];
        let pages: Vec<String> = ids.iter().map(|id| run_file(id)).collect();
        let folders: Vec<String> = ids.iter().map(|id| run_folder(id)).collect();
        for (i, folder) in folders.iter().enumerate() {
            assert!(!pages.contains(folder) && !folders[..i].contains(folder), "{folder}");
        }
    }

    #[test]
    fn links_of_a_site_are_relative() {
        let site = Edition::Site { up: "../" };
        assert_eq!(site.run("20261125-a"), "../runs/20261125-a.html");
        assert_eq!(Edition::Server.run("20261125-a"), "/runs/20261125-a");
        assert_eq!(site.menu()[0], ("../index.html".to_owned(), "Runs"));
    }
}
