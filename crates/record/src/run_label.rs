//! Checks names, tags and notes that operators assign to runs.

const MOST_CHARACTERS: usize = 200;

/// Checks a name, which later identifies the run.
///
/// # Errors
/// Returns why the name cannot be used.
pub fn name(text: &str) -> Result<String, String> {
    let text = note(text)?;
    let means_another = text.starts_with("latest") || text.starts_with("last") || text.starts_with('-');
    if means_another || text.contains('/') {
        return Err(
            "a name must not begin with `latest`, `last` or `-`, nor contain `/`, because RUN would mean something else"
                .into()
        );
    }
    Ok(text)
}

/// Checks a tag, which can be used to find runs.
///
/// # Errors
/// Returns why the tag cannot be used.
pub fn tag(text: &str) -> Result<String, String> {
    let text = note(text)?;
    if text.contains(|c: char| c.is_whitespace() || c == ',') {
        return Err("a tag is one word without spaces or commas; specify several tags one by one".into());
    }
    Ok(text)
}

/// Checks a note.
///
/// # Errors
/// Returns why the note cannot be used.
pub fn note(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("it is empty".into());
    }
    if text.contains(char::is_control) {
        return Err("it must be one line without control characters".into());
    }
    if text.chars().count() > MOST_CHARACTERS {
        return Err(format!("it has more than {MOST_CHARACTERS} characters"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short_lines_and_not_reserved_words() {
        assert_eq!(name(" shelf 3 "), Ok("shelf 3".into()));
        for bad in ["", "  ", "latest", "last~2", "a/b", "a\nb", "\u{1b}[2J", &"x".repeat(201)] {
            assert!(name(bad).is_err(), "{bad:?}");
        }
        assert_eq!(tag("fw-1.2"), Ok("fw-1.2".into()));
        assert!(tag("a b").is_err() && tag("a,b").is_err());
        assert_eq!(note("after 1,000 h"), Ok("after 1,000 h".into()));
    }
}
