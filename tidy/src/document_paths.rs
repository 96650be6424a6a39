//! Paths in documents must exist: a code map that nothing checks soon becomes outdated.

use super::check::{Check, Complaint};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "document_paths", run, bless: None };

fn run(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        for (line, content) in prose(text) {
            let backticked = code_spans(content).filter_map(|span| path_in(tree, span));
            let linked = link_targets(content).filter_map(|target| resolve(path, target));
            for named in backticked.chain(linked).filter(|named| !tree.exists(named)) {
                complaints.push(Complaint::line(path, line, format!("there is no `{named}`")));
            }
        }
    }
    complaints
}

/// Returns lines outside code blocks, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(i, line)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        (!inside && !fence).then_some((i + 1, line))
    })
}

fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

/// Returns the path in a code span, if it looks like a path in this workspace: up to the first component with
/// a placeholder (`*`, `<name>`, `NAME`), without a line number.
fn path_in(tree: &Tree, span: &str) -> Option<String> {
    let path = span.split(':').next().unwrap_or(span);
    let (first, _) = path.split_once('/')?;
    let ours = tree.exists(first) || tree.exists(&format!("crates/{first}/Cargo.toml")) || first == "crates";
    if !ours || path.contains(char::is_whitespace) {
        return None;
    }
    let placeholder = |part: &&str| {
        let stem = part.split('.').next().unwrap_or(part);
        part.contains(['*', '<', '{', '$'])
            || (stem.len() > 1 && stem.chars().all(|c| c.is_ascii_uppercase()) && stem != "LICENSE")
    };
    let fixed: Vec<_> = path.trim_end_matches('/').split('/').take_while(|part| !placeholder(part)).collect();
    Some(fixed.join("/"))
}

/// Returns the file that a relative link in the document at `path` points to.
fn resolve(path: &str, target: &str) -> Option<String> {
    let target = target.split('#').next().unwrap_or(target);
    if target.is_empty() || target.contains(':') || target.starts_with('<') {
        return None;
    }
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(document: &str) -> Vec<String> {
        let tree = Tree::of(&[
            ("docs/a.md", document),
            ("docs/adr/001.md", ""),
            ("README.md", ""),
            ("crates/pts/Cargo.toml", ""),
            ("crates/pts/src/steady.rs", ""),
        ]);
        run(&tree).into_iter().map(|c| c.text).collect()
    }

    #[test]
    fn what_exists_passes() {
        assert_eq!(missing("`crates/pts/src/steady.rs:12`, `crates/pts/`, `docs/adr/<number>.md`"), [""; 0]);
        assert_eq!(missing("[a](adr/001.md#x), [b](../README.md), [c](https://x.y/z), [d](#e)"), [""; 0]);
        assert_eq!(missing("`and/or`, `a/b c`, `crates/pts/src/*.rs`\n```\n`crates/none.rs`\n```"), [""; 0]);
    }

    #[test]
    fn what_does_not_is_found() {
        assert_eq!(missing("see `crates/pts/src/gone.rs`"), ["there is no `crates/pts/src/gone.rs`"]);
        assert_eq!(missing("see `pts/src/steady.rs`"), ["there is no `pts/src/steady.rs`"]);
        assert_eq!(missing("[a](adr/002.md)"), ["there is no `docs/adr/002.md`"]);
        assert_eq!(missing("`crates/gone/src/<name>.rs`"), ["there is no `crates/gone/src`"]);
    }
}
