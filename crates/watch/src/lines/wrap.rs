//! Line breaks.

use ratatui::text::Span;

/// Breaks text at spaces into lines of at most `width` columns. A longer word has its own line.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        let columns = Span::raw(last.as_str()).width() + 1 + Span::raw(word).width();
        if last.is_empty() {
            last.push_str(word);
        } else if columns <= width {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("extraordinary", 5), ["extraordinary"]);
        assert_eq!(wrapped("", 5), [""]);
    }
}
