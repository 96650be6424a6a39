//! Shortens external text, such as model names, and makes it safe for markup.

/// Number of characters from which a word may be too long for a column.
const LONG_WORD: usize = 20;

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

/// Units that stay on the line of their number.
const UNITS: [&str; 27] = [
    "%", "IOPS", "ns", "us", "µs", "ms", "s", "min", "h", "d", "B", "kB", "KB", "KiB", "MB", "MiB", "GB",
    "GiB", "TB", "TiB", "MB/s", "GB/s", "W", "J", "mJ", "°C", "IOPS/W",
];

/// Escapes running text, and keeps numbers and their units on one line.
pub fn escape_running(text: &str) -> String {
    let is_unit = |word: &str| UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', ')', '?']));
    let mut out = String::with_capacity(text.len() + 8);
    for word in text.split(' ') {
        if !out.is_empty() {
            let is_bound = out.ends_with(|c: char| c.is_ascii_digit()) && is_unit(word);
            out.push(if is_bound { '\u{a0}' } else { ' ' });
        }
        out.push_str(word);
    }
    escape(&out)
}

/// Escapes `text`, and lets lines break after the separators of lists, such as `mitigations=auto,nosmt`, that are too long
/// for a column.
pub fn escape_breakable(text: &str) -> String {
    let word = |word: &str| {
        // Paths have no such separator; they remain one word, which can be searched for.
        if word.chars().count() <= LONG_WORD || !word.contains(['=', ',']) {
            return escape(word);
        }
        word.split_inclusive(['=', ',', '_']).map(escape).collect::<Vec<_>>().join("<wbr>")
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
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
    fn numbers_keep_their_units() {
        let text = "50 % of the 4 KiB I/Os take 0.04 ms, 3 of 7 rounds at 12 W.";
        let bound = "50\u{a0}% of the 4\u{a0}KiB I/Os take 0.04\u{a0}ms, 3 of 7 rounds at 12\u{a0}W.";
        assert_eq!(escape_running(text), bound);
        assert_eq!(escape_running("s < 3  s"), "s &lt; 3  s");
    }

    #[test]
    fn long_words_break_after_separators() {
        let text = "ro mitigations=auto,no_guest<host /dev/disk/by-id/nvme_eui.0025388b";
        assert_eq!(
            escape_breakable(text),
            "ro mitigations=<wbr>auto,<wbr>no_<wbr>guest&lt;host /dev/disk/by-id/nvme_eui.0025388b"
        );
    }

    #[test]
    fn shortening_counts_characters() {
        assert_eq!(shortened("ääää", 4), "ääää");
        assert_eq!(shortened("äääää", 4), "äää…");
    }
}
