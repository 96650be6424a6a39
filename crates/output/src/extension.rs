//! Formats of output files, by the extensions of their names.

use std::path::{Path, PathBuf};

use report::formats::{FORMATS, Format, Make};

/// Returns the format for the file name extension of `path`.
///
/// # Errors
/// Returns an error if the extension is unknown.
pub fn by_extension(path: &Path) -> Result<(&'static Format, PathBuf), String> {
    let end = path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
    let format = FORMATS.iter().find(|format| format.extensions.contains(&&*end));
    format.map(|format| (format, path.to_owned())).ok_or_else(|| {
        let known: Vec<_> =
            FORMATS.iter().flat_map(|format| format.extensions).map(|end| format!(".{end}")).collect();
        format!(
            "{}: the file name extension selects the format; use one of {}; `plateau report --help` lists \
             options for other formats",
            path.display(),
            known.join(", ")
        )
    })
}

/// Checks that an output's name does not contradict the option that selects the format; see [`check_name`].
///
/// # Errors
/// The error suggests the other option, or another name.
pub fn check(format: &Format, path: &Path) -> Result<(), String> {
    let ends: &[&str] = match format.make {
        Make::Folder(_) => &[],
        // The format shares its extension with another format, which the name alone would select.
        Make::File(_) if format.extensions.is_empty() => &["json"],
        Make::File(_) => format.extensions,
    };
    check_name(format.name, ends, path)
}

/// Checks that a file name does not have the extension of another format, because a PDF in `x.html` would be opened
/// by the wrong program. Unknown extensions are allowed. `ends` are the extensions of `option`; empty for a folder.
///
/// # Errors
/// The error suggests the other option, or another name.
pub fn check_name(option: &str, ends: &[&str], path: &Path) -> Result<(), String> {
    let Some(end) = path.extension().map(|end| end.to_string_lossy().to_lowercase()) else { return Ok(()) };
    let of_end = |format: &&Format| format.name == end || format.extensions.contains(&&*end);
    let (Some(other), false) = (FORMATS.iter().find(of_end), ends.contains(&&*end)) else { return Ok(()) };
    let path = path.display();
    Err(match (ends.first(), other.make) {
        (None, _) => {
            format!("--{option} {path}: the output consists of several files; specify a folder, not a file")
        }
        (Some(own), Make::File(_)) => format!(
            "--{option} {path}: the name ends in .{end}; did you mean --{} {path}, or a name that ends in .{own}?",
            other.name
        ),
        (Some(own), Make::Folder(_)) => {
            format!("--{option} {path}: the name ends in .{end}; use one that ends in .{own}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_selects_the_format() {
        for (path, name) in
            [("a/b.pdf", "pdf"), ("R.HTML", "html"), ("x.json", "json-file"), ("x.xml", "tkperf-xml")]
        {
            assert_eq!(by_extension(path.as_ref()).map(|(format, _)| format.name), Ok(name), "{path}");
        }
        for path in ["data.csv", "report", "-", "pdf"] {
            assert!(by_extension(path.as_ref()).unwrap_err().contains(".html"), "{path}");
        }
    }

    #[test]
    fn the_extension_must_match_the_option() {
        let named = |option: &str| FORMATS.iter().find(|format| format.name == option).expect("a format");
        for (option, path, part) in [
            ("pdf", "x.html", "did you mean --html x.html, or a name that ends in .pdf?"),
            ("pdf", "x.svg", "use one that ends in .pdf"),
            ("json-file", "a/x.PDF", "did you mean --pdf a/x.PDF"),
            ("fio-json", "x.pdf", "did you mean --pdf x.pdf"),
            ("csv", "x.csv", "specify a folder"),
            ("csv", "x.html", "specify a folder"),
        ] {
            let error = check(named(option), path.as_ref()).expect_err(path);
            assert!(error.contains(part), "{error}");
        }
        for (option, path) in [
            ("pdf", "x.pdf"),
            ("html", "x.htm"),
            ("pdf", "x"),
            ("pdf", "run.v2"),
            ("csv", "d"),
            ("fio-json", "x.json"),
        ] {
            assert_eq!(check(named(option), path.as_ref()), Ok(()), "{option} {path}");
        }
    }
}
