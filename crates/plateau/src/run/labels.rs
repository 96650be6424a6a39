//! Labels that an operator may assign to a run.

use record::{Labels, Library};

use crate::failure::{Done, Exit, Failure};

const MOST_CHARACTERS: usize = 200;

/// Refuses a name that another run already has, because the name would then identify neither run.
pub fn refuse_namesakes(library: &Library, labels: &Labels) -> Done {
    let Some(name) = &labels.name else { return Ok(()) };
    // If the library cannot be read, the run itself reports this.
    let Ok((runs, _)) = library.list() else { return Ok(()) };
    let namesakes = runs.iter().filter(|run| run.file.labels.name.as_ref() == Some(name));
    let ids: Vec<&str> = namesakes.map(|run| &*run.file.id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let text = format!(
        "--name: '{name}' is already the name of {}; choose another name, or remove that one with `plateau name --remove '{name}'`",
        ids.join(", ")
    );
    Err(Failure::text(Exit::Usage, text))
}

/// Checks a name, which later identifies the run.
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
pub fn tag(text: &str) -> Result<String, String> {
    let text = note(text)?;
    if text.contains(|c: char| c.is_whitespace() || c == ',') {
        return Err("a tag is one word without spaces or commas; specify several tags one by one".into());
    }
    Ok(text)
}

/// Checks a note.
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
