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

/// Words that stay on the line of the number that follows.
const COUNTED: [&str; 2] = ["TC", "QD"];

/// Keeps numbers and their units on one line, and thread counts and queue depths with their names.
pub fn bound(text: &str) -> String {
    let is_unit = |word: &str| UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', ')', '?']));
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let mut out = String::with_capacity(text.len() + 8);
    let mut last = "";
    for (index, word) in text.split(' ').enumerate() {
        if index > 0 {
            let is_measured = last.ends_with(|c: char| c.is_ascii_digit()) && is_unit(word);
            let is_counted = COUNTED.contains(&last.trim_start_matches('(')) && is_number(word);
            out.push(if is_measured || is_counted { '\u{a0}' } else { ' ' });
        }
        out.push_str(word);
        last = word;
    }
    out
}

/// Escapes running text for HTML. Numbers stay on one line with their units, and revisions, such as `PTS-C 1.1`, are not
/// split at all.
pub fn escape_running(text: &str) -> String {
    let text = escape(&bound(text));
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text.as_str();
    while let Some(start) = rest.find("PTS-") {
        let is_after = |&(at, c): &(usize, char)| at > 5 && !c.is_ascii_digit() && c != '.';
        let end = rest[start..].char_indices().find(is_after).map_or(rest.len(), |(at, _)| start + at);
        let revision = rest[start..end].trim_end_matches('.');
        let is_revision = revision.len() > 6 && matches!(revision.get(4..6), Some("C " | "E "));
        out += &rest[..start];
        out += &if is_revision {
            format!("<span class=\"whole\">{revision}</span>")
        } else {
            revision.to_owned()
        };
        rest = &rest[start + revision.len()..];
    }
    out + rest
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
    let parts = |words: &str| words.split('\u{a0}').map(word).collect::<Vec<_>>().join("\u{a0}");
    bound(text).split(' ').map(parts).collect::<Vec<_>>().join(" ")
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
        assert_eq!(escape_running("knee at TC 1 QD 8"), "knee at TC\u{a0}1 QD\u{a0}8");
    }

    #[test]
    fn revisions_are_not_split() {
        let whole = |revision: &str| format!("<span class=\"whole\">{revision}</span>");
        assert_eq!(escape_running("PTS-C 1.1: see"), whole("PTS-C 1.1") + ": see");
        let text = escape_running("as in PTS-E 2.0. Not PTS-C, PTS-E 1.0");
        assert_eq!(text, format!("as in {}. Not PTS-C, {}", whole("PTS-E 2.0"), whole("PTS-E 1.0")));
        assert_eq!(escape_running("PTS-"), "PTS-");
    }

    #[test]
    fn long_words_break_after_separators_and_amounts_do_not() {
        assert_eq!(escape_breakable("(3,840,755,982,336 B)"), "(3,840,755,982,336\u{a0}B)");
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
