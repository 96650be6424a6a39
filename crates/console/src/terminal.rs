//! The capabilities of a terminal, determined from the environment by a pure function, and the width of text on
//! it.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use stdx::text::on_one_line;

/// Size assumed for a terminal that does not report one.
const USUAL_SIZE: Size = Size { columns: 80, rows: 24 };
/// First version of each terminal to support OSC 9;4; older versions of iTerm2 and Ghostty show it as a
/// notification.
const ITERM: [u32; 3] = [3, 6, 6];
const GHOSTTY: [u32; 3] = [1, 2, 0];
const WEZTERM: [u32; 3] = [20_250_209, 0, 0];
const VTE: u32 = 7_900;
const KONSOLE: u32 = 260_400;

/// Capabilities of a stream beyond plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    pub is_terminal: bool,
    /// Whether the stream is a terminal on which lines can be rewritten.
    pub rewrites: bool,
    pub colour: bool,
    /// Whether the stream can display non-ASCII characters.
    pub unicode: bool,
    /// Whether the terminal displays the progress of a task in its tab or task bar (OSC 9;4).
    pub taskbar: bool,
}

/// Columns and rows of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

impl Abilities {
    /// The capabilities of a file or a pipe, whose reader is unknown.
    pub const OF_A_FILE: Self =
        Self { is_terminal: false, rewrites: false, colour: false, unicode: true, taskbar: false };

    /// Returns the capabilities of one of this process's streams.
    pub fn of_stream(stream: &impl IsTerminal) -> Self {
        Self::of(stream.is_terminal(), |name| std::env::var_os(name)?.into_string().ok())
    }

    fn of(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        if !is_terminal {
            return Self::OF_A_FILE;
        }
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let rewrites = set("TERM").is_some_and(|term| term != "dumb");
        Self {
            is_terminal,
            rewrites,
            colour: rewrites && set("NO_COLOR").is_none(),
            unicode: is_utf8(&set),
            taskbar: rewrites && shows_progress(&set),
        }
    }
}

/// Returns whether the locale uses UTF-8, by the rules of setlocale(3) for LC_CTYPE; the locale is C if no variable
/// is set.
fn is_utf8(set: &impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

fn shows_progress(set: &impl Fn(&str) -> Option<String>) -> bool {
    // Multiplexers do not pass on OSC 9;4, but they do pass on the environment variables of the terminal that
    // they were started in.
    let multiplexed = set("TERM").is_some_and(|term| term.starts_with("screen") || term.starts_with("tmux"));
    if multiplexed || set("TMUX").is_some() || set("STY").is_some() {
        return false;
    }
    let number = |name: &str| set(name).and_then(|text| text.parse::<u32>().ok()).unwrap_or(0);
    let program = set("TERM_PROGRAM").unwrap_or_default();
    let is_since = |since: [u32; 3]| set("TERM_PROGRAM_VERSION").is_some_and(|text| version(&text) >= since);
    let by_program = match program.as_str() {
        "ghostty" => is_since(GHOSTTY),
        "iTerm.app" => is_since(ITERM),
        "WezTerm" => is_since(WEZTERM),
        _ => false,
    };
    let windows = set("WT_SESSION").is_some() || set("ConEmuANSI").is_some_and(|value| value == "ON");
    by_program || windows || number("VTE_VERSION") >= VTE || number("KONSOLE_VERSION") >= KONSOLE
}

/// Returns the first three numbers of a version.
fn version(text: &str) -> [u32; 3] {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0))
}

/// Returns the size of the terminal connected to a stream, or the default size for any other stream.
pub fn size(stream: &impl AsFd) -> Size {
    let known = rustix::termios::tcgetwinsize(stream).ok();
    let of = |known: rustix::termios::Winsize| Size {
        columns: if known.ws_col == 0 { USUAL_SIZE.columns } else { known.ws_col.into() },
        rows: if known.ws_row == 0 { USUAL_SIZE.rows } else { known.ws_row.into() },
    };
    known.map_or(USUAL_SIZE, of)
}

/// Returns the maximum number of columns of `text`, which must not contain control characters. Terminals differ
/// in the width of some scripts, and an underestimate would make a line wrap.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

const fn columns_of(c: char) -> usize {
    match c {
        // Latin to Hebrew, general punctuation without emoji, box drawing and blocks.
        '\0'..='\u{10ff}' | '\u{2010}'..='\u{203b}' | '\u{2500}'..='\u{259f}' => 1,
        _ => 2,
    }
}

/// Returns `text` on one line, safe to display, and in ASCII unless `unicode` is set.
pub fn clean(text: &str, unicode: bool) -> String {
    let text = on_one_line(text);
    if unicode { text.into_owned() } else { in_ascii(&text) }
}

/// Converts text for a terminal without Unicode: replaces our own symbols with similar ones, and other
/// characters with escapes.
pub fn in_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0'..='\x7f' => out.push(c),
            // Each block element becomes one character, so that charts keep their columns.
            '\u{2581}'..='\u{2588}' => out.push(b".:-=+*%#"[c as usize - 0x2581].into()),
            '\u{2591}'..='\u{2593}' => out.push(b":*%"[c as usize - 0x2591].into()),
            '\u{2500}' => out.push('-'),
            '\u{2026}' => out.push_str("..."),
            '\u{2013}' | '\u{2014}' => out.push('-'),
            '\u{b1}' => out.push_str("+/-"),
            '\u{d7}' => out.push('x'),
            '\u{2264}' => out.push_str("<="),
            '\u{b5}' => out.push('u'),
            // The degree sign is omitted: "41 C" is clear enough.
            '\u{b0}' => {}
            _ => out.extend(c.escape_default()),
        }
    }
    out
}

/// Wraps `text` at spaces to lines of at most `width` columns; all but the first are indented.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    indented(text, width, 2)
}

/// Wraps each line of `text` at spaces to at most `width` columns. If there is room, text after a label stays to
/// the right of the label.
pub fn folded(text: &str, width: usize) -> String {
    let fold = |line: &str| match columns(line) <= width {
        true => line.to_owned(),
        false => indented(line, width, label_columns(line, width)).join("\n"),
    };
    text.split('\n').map(fold).collect::<Vec<_>>().join("\n")
}

/// Returns the number of columns of the labels at the start of a line, including the spaces after them. Labels end
/// with at least two spaces, and take up at most half the width.
fn label_columns(line: &str, width: usize) -> usize {
    let text = line.trim_start();
    let indent = columns(&line[..line.len() - text.len()]);
    let fits = |label: &usize| (1..=width / 2).contains(label);
    if indent > 0 {
        return Some(indent).filter(fits).unwrap_or(2);
    }
    let gaps = line.match_indices("  ").map(|(gap, _)| line.len() - line[gap..].trim_start().len());
    gaps.map(|end| columns(&line[..end])).filter(fits).max().unwrap_or(2)
}

/// Units that are not separated from their number.
const UNITS: &[&str] = &[
    "%", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "kB/s", "MB/s", "GB/s", "IOPS", "us", "ms", "s",
    "min", "h", "d", "W", "\u{b0}C", "C",
];

/// Splits text at spaces, except between a number and its unit; the spaces remain at the ends of the pieces.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces: Vec<&str> = Vec::new();
    let mut end = 0;
    for piece in text.split_inclusive(' ') {
        let start = end;
        end += piece.len();
        let word = piece.trim_end().trim_end_matches([')', ',', ';', ':', '.']);
        let is_number = |last: &str| {
            last.strip_suffix(' ').is_some_and(|last| last.ends_with(|c: char| c.is_ascii_digit()))
        };
        match pieces.last_mut() {
            Some(last) if UNITS.contains(&word) && is_number(last) => {
                *last = &text[start - last.len()..end];
            }
            _ => pieces.push(piece),
        }
    }
    pieces
}

fn indented(text: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in pieces(text) {
        let word = piece.trim_end();
        let first = lines.len() == 1;
        let last = lines.last_mut().expect("never empty");
        let is_begun = !last.trim().is_empty();
        if word.is_empty() {
            // Spaces between columns are omitted at the start of a new line.
            if is_begun || first {
                last.push_str(piece);
            }
        } else if is_begun && columns(last) + columns(word) > width {
            last.truncate(last.trim_end().len());
            lines.push(" ".repeat(indent) + piece);
        } else {
            last.push_str(piece);
        }
    }
    if let Some(last) = lines.last_mut() {
        last.truncate(last.trim_end().len());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(variables: &[(&str, &str)]) -> Abilities {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        Abilities::of(true, |name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn text_after_a_label_stays_next_to_it() {
        let text = "took    one two three four five\n        indented text that is long\nshort\nno label that is long";
        let expected = "took    one two three\n        four five\n        indented text\n        that is \
                        long\nshort\nno label that is long";
        assert_eq!(folded(text, 21), expected);
        assert_eq!(
            folded("a label that is wide  x y", 20),
            "a label that is wide\n  x y",
            "no room next to it"
        );
        let fix = "warn  two words  1 2 3 4 5 6 7 8 9 0\n                 fix: 1 2 3 4 5 6 7 8 9";
        let expected = "warn  two words  1 2 3 4 5 6 7 8 9\n                 0\n                 fix: 1 2 3 4 5 6\n                 7 8 9";
        assert_eq!(folded(fix, 34), expected, "to the right of the last label");
    }

    #[test]
    fn a_file_gets_plain_text_whatever_the_terminal_can_do() {
        let variable = |name: &str| match name {
            "TERM" => Some("xterm-256color".to_owned()),
            "WT_SESSION" => Some("1".to_owned()),
            _ => None,
        };
        assert_eq!(Abilities::of(false, variable), Abilities::OF_A_FILE);
        assert!(Abilities::of(true, variable).taskbar);
    }

    #[test]
    fn colour_is_omitted_where_it_is_disabled() {
        assert!(of(&[("TERM", "xterm")]).colour);
        assert!(of(&[("TERM", "xterm"), ("NO_COLOR", "")]).colour, "an empty NO_COLOR has no effect");
        let without = of(&[("TERM", "xterm"), ("NO_COLOR", "1")]);
        assert!(!without.colour && without.rewrites);
        for unable in [&[("TERM", "dumb")][..], &[]] {
            assert_eq!((of(unable).colour, of(unable).rewrites, of(unable).taskbar), (false, false, false));
        }
    }

    #[test]
    fn the_locale_is_the_first_variable_that_is_set() {
        for (variables, unicode) in [
            (&[("LANG", "en_US.UTF-8")][..], true),
            (&[("LANG", "de_DE.utf8")], true),
            (&[("LANG", "en_US.UTF-8"), ("LC_ALL", "C")], false),
            (&[("LANG", "en_US.UTF-8"), ("LC_CTYPE", "de_DE.ISO-8859-1")], false),
            (&[("LANG", "C"), ("LC_ALL", ""), ("LC_CTYPE", "C.UTF-8")], true),
            (&[], false),
        ] {
            assert_eq!(of(variables).unicode, unicode, "{variables:?}");
        }
    }

    #[test]
    fn only_terminals_that_show_progress_receive_it() {
        let terminal = |variables: &[(&str, &str)]| of(&[&[("TERM", "xterm-256color")], variables].concat());
        for (variables, shows) in [
            (&[("WT_SESSION", "0b3c")][..], true),
            (&[("ConEmuANSI", "ON")], true),
            (&[("ConEmuANSI", "OFF")], false),
            (&[("TERM_PROGRAM", "ghostty"), ("TERM_PROGRAM_VERSION", "1.2.0")], true),
            (&[("TERM_PROGRAM", "ghostty"), ("TERM_PROGRAM_VERSION", "1.1.3")], false),
            (&[("TERM_PROGRAM", "iTerm.app"), ("TERM_PROGRAM_VERSION", "3.6.6")], true),
            (&[("TERM_PROGRAM", "iTerm.app"), ("TERM_PROGRAM_VERSION", "3.5.14")], false),
            (&[("TERM_PROGRAM", "WezTerm"), ("TERM_PROGRAM_VERSION", "20250209-182623-44866cc1")], true),
            (&[("TERM_PROGRAM", "WezTerm"), ("TERM_PROGRAM_VERSION", "20240203-110809-5046fc22")], false),
            (&[("VTE_VERSION", "7900")], true),
            (&[("VTE_VERSION", "7603")], false),
            (&[("KONSOLE_VERSION", "260400")], true),
            (&[("KONSOLE_VERSION", "251203")], false),
            (&[("WT_SESSION", "0b3c"), ("TMUX", "/tmp/tmux-0/default,1,0")], false),
            (&[("WT_SESSION", "0b3c"), ("STY", "1.pts-0.host")], false),
            (&[], false),
        ] {
            assert_eq!(terminal(variables).taskbar, shows, "{variables:?}");
        }
        assert!(!of(&[("TERM", "tmux-256color"), ("VTE_VERSION", "7900")]).taskbar);
    }

    #[test]
    fn bars_keep_their_columns_in_ascii() {
        assert_eq!(in_ascii("\u{2581}\u{2584}\u{2588} 41 \u{b0}C, m\u{fc}"), ".=# 41 C, m\\u{fc}");
        assert_eq!(in_ascii("\u{2591}\u{2592}\u{2593}\u{2588} \u{2500}\u{2500}"), ":*%# --");
        assert_eq!(clean("a\x1b[2J\u{202e}", false), "a\\u{1b}[2J\\u{202e}");
    }

    #[test]
    fn a_number_keeps_its_unit() {
        assert_eq!(wrapped("slope 12.4 % (limit 10 %): x", 25), ["slope 12.4 % (limit", "  10 %): x"]);
        assert_eq!(wrapped("2 h 03 min", 8), ["2 h", "  03 min"]);
        assert_eq!(wrapped("12  s", 3), ["12", "  s"], "columns of a table");
    }

    #[test]
    fn long_lines_break_at_spaces() {
        assert_eq!(wrapped("round  1  RND 4KiB W 21,468.0", 80), ["round  1  RND 4KiB W 21,468.0"]);
        assert_eq!(wrapped("one two three", 9), ["one two", "  three"]);
        assert_eq!(wrapped("/a/path/that/does/not/fit x", 10), ["/a/path/that/does/not/fit", "  x"]);
    }

    proptest! {
        #[test]
        fn a_wrapped_line_is_complete_and_fits(words in "([a-z0-9]{1,12} {1,2}){0,30}", width in 20usize..120) {
            let lines = wrapped(&words, width);
            prop_assert!(lines.iter().all(|line| columns(line) <= width), "{lines:?}");
            let text: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
            prop_assert_eq!(text, words.split_whitespace().collect::<Vec<_>>());
        }

        #[test]
        fn ascii_is_ascii(text: String) {
            prop_assert!(in_ascii(&text).is_ascii());
            prop_assert!(clean(&text, false).chars().all(|c| c.is_ascii() && !c.is_control()));
        }
    }
}
