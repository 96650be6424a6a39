//! Addresses of files, relative to the page that refers to them.

use std::path::{Component, Path};

/// Returns the address of `to`, relative to the files in `folder`; both paths must be absolute.
#[must_use]
pub fn address(folder: &Path, to: &Path) -> String {
    let common = folder.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| "..".to_owned());
    let down = to.components().skip(common).map(|part| encoded(part));
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// Returns a component of a path, percent-encoded for a URL.
fn encoded(part: Component<'_>) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    part.as_os_str()
        .as_encoded_bytes()
        .iter()
        .map(|byte| if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_relative_and_encoded() {
        let of = |folder: &str, to: &str| address(Path::new(folder), Path::new(to));
        assert_eq!(of("/a/b", "/a/runs/x y/report.html"), "../runs/x%20y/report.html");
        assert_eq!(of("/a", "/a/r/report.html"), "r/report.html");
        assert_eq!(of("/a/b/c", "/d/#1"), "../../../d/%231");
    }
}
