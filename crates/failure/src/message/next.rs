//! Parts of next steps shared by several messages.

/// Appends the next step, if any.
pub(super) fn then(what: &impl ToString, next: Option<&str>) -> String {
    let what = what.to_string();
    match next {
        Some(next) => format!("{what}; {next}"),
        None => what,
    }
}

/// Returns `--erase 'A' --erase 'B'`, quoted for a shell.
pub fn erase<'a>(identities: impl IntoIterator<Item = &'a String>) -> String {
    let options: Vec<String> = identities
        .into_iter()
        .map(|identity| format!("--erase {}", stdx::text::in_quotes(identity)))
        .collect();
    options.join(" ")
}
