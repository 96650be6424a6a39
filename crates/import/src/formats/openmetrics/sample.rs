//! A sample: metric, labels, value.

/// A line in the file.
pub(super) struct Sample {
    pub name: String,
    labels: Vec<(String, String)>,
    pub value: f64,
}

impl Sample {
    /// Returns the value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// Parses a line such as `plateau_rounds{run="a",test="iops"} 5`.
pub(super) fn sample(line: &str) -> Option<Sample> {
    let (name, rest) = line.split_once('{')?;
    let mut labels = Vec::new();
    let mut rest = rest;
    while !rest.starts_with('}') {
        let (key, quoted) = rest.split_once("=\"")?;
        let (value, after) = unquoted(quoted)?;
        labels.push((key.to_owned(), value));
        rest = after.strip_prefix(',').unwrap_or(after);
    }
    let value = rest.strip_prefix("} ")?.split(' ').next()?.parse().ok()?;
    Some(Sample { name: name.to_owned(), labels, value })
}

/// Returns the text up to the closing quote with its escapes resolved, and the rest.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}
