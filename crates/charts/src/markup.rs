//! Shortens external text, such as model names, and makes it safe for markup.

/// Replaces control characters and bidirectional formatting characters in `text`.
pub fn plain(text: &str) -> String {
    let safe = |c: char| match c {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => ' ',
        c => c,
    };
    text.chars().map(safe).collect()
}

/// Escapes `text` for element content and quoted attributes. Model names and command lines are untrusted, so control
/// characters and bidirectional formatting characters are also replaced.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Returns at most `limit` characters of `text`; an ellipsis replaces the rest.
pub fn shortened(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_bidirectional_tricks_are_neutralised() {
        assert_eq!(escape("<b a=\"1\">&'\u{202e}\n\u{0}"), "&lt;b a=&quot;1&quot;&gt;&amp;&#39;\u{fffd}  ");
    }

    #[test]
    fn shortening_counts_characters() {
        assert_eq!(shortened("ääää", 4), "ääää");
        assert_eq!(shortened("äääää", 4), "äää…");
    }
}
