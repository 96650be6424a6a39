//! Rust source with code, comments and string literals distinguished, as required by `tidy`.
//!
//! This is not a parser. It recognises comments, strings and brackets, which is sufficient to find words in
//! code and to identify code that is compiled only for tests.

use std::ops::Range;

/// Class of a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Text,
}

/// One source file.
#[derive(Debug)]
pub struct Source {
    raw: String,
    code: String,
    comments: String,
    kinds: Vec<Kind>,
    tests: Vec<Range<usize>>,
}

impl Source {
    /// Classifies the bytes of a file.
    pub fn of(raw: &str) -> Self {
        let kinds = kinds_of(raw);
        let code = only(raw, &kinds, Kind::Code);
        let comments = only(raw, &kinds, Kind::Comment);
        let tests = test_ranges(&code);
        Self { raw: raw.into(), code, comments, kinds, tests }
    }

    /// Returns the file with comments and the contents of strings blanked out.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns the file with everything except comments blanked out; non-ASCII characters are also blanked out.
    pub fn comments(&self) -> &str {
        &self.comments
    }

    /// Returns the number of lines.
    pub fn lines(&self) -> usize {
        self.raw.lines().count()
    }

    /// Returns the number of lines outside code that is compiled only for tests.
    pub fn lines_outside_tests(&self) -> usize {
        let lines = |range: &Range<usize>| self.raw[range.clone()].lines().count();
        self.lines() - self.tests.iter().map(lines).sum::<usize>()
    }

    /// Returns the line of a byte, starting at 1.
    pub fn line_of(&self, place: usize) -> usize {
        self.raw.as_bytes()[..place].iter().filter(|&&b| b == b'\n').count() + 1
    }

    /// Returns whether a byte belongs to code that is compiled only for tests.
    pub fn in_test(&self, place: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&place))
    }

    /// Returns the positions of `needle` in the code. A needle that starts or ends with a word character matches only
    /// where a word starts or ends.
    pub fn code_places(&self, needle: &str) -> Vec<usize> {
        places(&self.code, needle)
    }

    /// Returns the positions of `needle` in comments; the same rule for words applies.
    pub fn comment_places(&self, needle: &str) -> Vec<usize> {
        places(&self.comments, needle)
    }

    /// Returns the position and content of every string literal outside tests; escaped line breaks are joined.
    pub fn texts(&self) -> Vec<(usize, String)> {
        let bytes = self.raw.as_bytes();
        let is_text = |place: usize| self.kinds[place] == Kind::Text;
        let begins = (0..bytes.len()).filter(|&place| is_text(place) && (place == 0 || !is_text(place - 1)));
        let text = |begin: usize| {
            let lines: Vec<&str> = self.raw[begin..begin + self.text_length(begin)].split("\\\n").collect();
            let first = lines.first().copied().unwrap_or_default().to_owned();
            let joined = lines.iter().skip(1).fold(first, |text, line| text + line.trim_start());
            (begin, joined)
        };
        begins.filter(|&place| !self.in_test(place)).map(text).collect()
    }

    /// Returns the length of the string literal at `place`.
    pub fn text_length(&self, place: usize) -> usize {
        self.kinds[place..].iter().take_while(|kind| **kind == Kind::Text).count()
    }

    /// Returns the name of each module that is declared here and has its own file, and whether it is compiled
    /// only for tests.
    pub fn modules(&self) -> Vec<(String, bool)> {
        let module = |place: usize| {
            let after = self.code[place + 3..].trim_start();
            let name: String = after.chars().take_while(|&c| is_word(c)).collect();
            let declared = after[name.len()..].trim_start().starts_with(';');
            (declared && !name.is_empty()).then(|| (name, self.in_test(place)))
        };
        self.code_places("mod").into_iter().filter_map(module).collect()
    }

    /// Returns the value of `const NAME: T = ...;`, including comments and strings.
    pub fn constant(&self, name: &str) -> Option<&str> {
        let is_it = |place: &usize| {
            let after = self.code[place + 5..].trim_start();
            after.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        let place = self.code_places("const").into_iter().find(is_it)?;
        let begin = place + self.code[place..].find('=')?;
        Some(&self.raw[begin..begin + statement_end(&self.code[begin..])?])
    }

    /// Returns the file without comments, tests, white space and trailing commas. The result changes only if
    /// the meaning of the code changes.
    pub fn essence(&self) -> String {
        let mut essence = String::new();
        for (place, c) in self.raw.char_indices() {
            match self.kinds[place] {
                Kind::Text if !self.in_test(place) => essence.push(c),
                Kind::Code if !self.in_test(place) && !c.is_whitespace() => {
                    if ")]}".contains(c) && essence.ends_with(',') {
                        essence.pop();
                    }
                    essence.push(c);
                }
                _ => {}
            }
        }
        essence
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the positions of `needle` in `haystack`. A needle that starts or ends with a word character matches only
/// where a word starts or ends.
fn places(haystack: &str, needle: &str) -> Vec<usize> {
    let (begins, ends) = (needle.starts_with(is_word), needle.ends_with(is_word));
    let whole = |&place: &usize| {
        let joined_before = begins && haystack[..place].ends_with(is_word);
        let joined_behind = ends && haystack[place + needle.len()..].starts_with(is_word);
        !joined_before && !joined_behind
    };
    haystack.match_indices(needle).map(|(place, _)| place).filter(whole).collect()
}

fn only(raw: &str, kinds: &[Kind], selected: Kind) -> String {
    let keep = |(byte, kind): (u8, &Kind)| match byte {
        b'\n' => '\n',
        _ if *kind == selected && byte.is_ascii() => byte as char,
        _ => ' ',
    };
    raw.bytes().zip(kinds).map(keep).collect()
}

fn kinds_of(raw: &str) -> Vec<Kind> {
    let mut kinds = vec![Kind::Code; raw.len()];
    let mut place = 0;
    while place < raw.len() {
        let rest = &raw[place..];
        let joined = raw[..place].ends_with(is_word);
        let (kind, length) = if rest.starts_with("//") {
            (Kind::Comment, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (Kind::Comment, block_comment(rest))
        } else if let Some(length) = raw_string(rest).filter(|_| !joined) {
            (Kind::Text, length)
        } else if rest.starts_with('"') {
            (Kind::Text, quoted(rest))
        } else if let Some(length) = character(rest) {
            (Kind::Text, length)
        } else {
            (Kind::Code, rest.chars().next().map_or(1, char::len_utf8))
        };
        kinds[place..place + length].fill(kind);
        place += length;
    }
    kinds
}

/// Returns the length of a block comment, which may be nested.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut place) = (0usize, 0);
    while place < rest.len() {
        let step = match &rest.as_bytes()[place..] {
            [b'/', b'*', ..] => {
                depth += 1;
                2
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        place += step;
        if depth == 0 {
            return place;
        }
    }
    rest.len()
}

/// Returns the length of a raw string, if one starts here.
fn raw_string(rest: &str) -> Option<usize> {
    let behind = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = behind.len() - behind.trim_start_matches('#').len();
    let content = behind[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let begun = rest.len() - content.len();
    Some(content.find(&close).map_or(rest.len(), |end| begun + end + close.len()))
}

/// Returns the length of a string literal that starts with its quotation mark.
fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (place, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return place + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of a character literal, if one starts here; lifetimes do not count.
fn character(rest: &str) -> Option<usize> {
    let content = rest.strip_prefix('\'')?;
    let first = content.chars().next()?;
    if first == '\\' {
        let escape = 1 + content.chars().nth(1)?.len_utf8();
        return Some(1 + escape + content[escape..].find('\'')? + 1);
    }
    content[first.len_utf8()..].starts_with('\'').then(|| first.len_utf8() + 2)
}

/// Returns the end of the item at `place`: after its body, or after its semicolon.
fn item_end(code: &str, place: usize) -> Option<usize> {
    let mut depth = 0i32;
    for (i, byte) in code.bytes().enumerate().skip(place) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' if depth == 0 => return brace_end(code, i),
            b';' if depth == 0 => return Some(i + 1),
            _ => {}
        }
    }
    None
}

/// Returns the position after the brace that closes the brace at `place`.
fn brace_end(code: &str, place: usize) -> Option<usize> {
    let mut depth = 0i32;
    for (i, byte) in code.bytes().enumerate().skip(place) {
        depth += i32::from(byte == b'{') - i32::from(byte == b'}');
        if depth == 0 {
            return Some(i + 1);
        }
    }
    None
}

/// Returns the length of a statement up to its semicolon.
fn statement_end(code: &str) -> Option<usize> {
    let mut depth = 0i32;
    for (i, byte) in code.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b';' if depth == 0 => return Some(i),
            _ => {}
        }
    }
    None
}

fn test_ranges(code: &str) -> Vec<Range<usize>> {
    const MARK: &str = "#[cfg(test)]";
    let range = |(place, _): (usize, &str)| {
        let end = item_end(code, place + MARK.len()).unwrap_or(code.len());
        place..end
    };
    code.match_indices(MARK).map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_comments_and_text_are_distinguished() {
        let text = "let a = \"// no \\\" fn\"; // yes /* \"\nlet b = r#\"x \" y\"#; /* a /* b */ c */ let c = '\"'; let d: &'a str = 'é';";
        let source = Source::of(text);
        assert_eq!(source.code().len(), text.len());
        let words: Vec<_> = source.code().split_whitespace().collect();
        assert_eq!(words.join(" "), "let a = ; let b = ; let c = ; let d: &'a str = ;");
        assert_eq!(source.comments.split_whitespace().collect::<String>(), "//yes/*\"/*a/*b*/c*/");
        assert_eq!(source.comment_places("yes").len(), 1);
    }

    #[test]
    fn test_only_code_is_recognised() {
        let source =
            Source::of("fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\n#[cfg(test)]\nmod c;\nmod d;");
        let test = |needle: &str| source.in_test(source.code_places(needle)[0]);
        assert_eq!(["a", "b", "c", "d"].map(test), [false, true, true, false]);
        assert_eq!(source.modules(), [("c".to_owned(), true), ("d".to_owned(), false)]);
    }

    #[test]
    fn constants_are_found_with_their_text() {
        let source =
            Source::of("const OTHER: u8 = 1;\npub const T: &[X] = &[a::X, Y { b: \"c;\", d: [1; 2] }];");
        assert_eq!(source.constant("T"), Some("= &[a::X, Y { b: \"c;\", d: [1; 2] }]"));
        assert_eq!(source.constant("U"), None);
    }

    #[test]
    fn the_essence_ignores_layout_but_not_meaning() {
        let one = Source::of("fn a(\n    b: u8, // why\n) { c(\"d  e\") }\n#[cfg(test)]\nmod tests {}");
        let same = Source::of("/// Doc.\nfn a(b: u8) {\n\n    c(\"d  e\")\n}");
        let other = Source::of("fn a(b: u8) { c(\"d e\") }");
        assert_eq!(one.essence(), same.essence());
        assert_ne!(one.essence(), other.essence());
    }

    #[test]
    fn words_are_whole() {
        let source = Source::of("unsafe_code unsafe { un_unsafe } todo!() my_todo!()");
        assert_eq!(source.code_places("unsafe"), [12]);
        assert_eq!(source.code_places("todo!").len(), 1);
    }
}
