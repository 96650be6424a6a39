//! Functions and files stay short. Existing ones over the limit are listed and may only shrink.

use std::collections::BTreeMap;

use super::{Blessed, Check, Complaint, tree::Tree};

/// The rule.
pub const CHECK: Check = Check { name: "lengths", run, bless: Some(bless) };

const FUNCTION_LINES: usize = 70;
const SOURCE_LINES: usize = 500;
const TEST_LINES: usize = 800;
const RATCHET: &str = "xtask/ratchet.toml";
const HEAD: &str = "# Files and functions that were too long when the rule was introduced. An entry may \
                    shrink or go, never grow.\n# `cargo xtask tidy --bless` accepts what became shorter.\n";
const BLESS: &str = "`cargo xtask tidy --bless`";

/// A file, or a function in it.
type Key = (String, Option<String>);

/// Items over the limit, with their length in lines.
type Offenders = BTreeMap<Key, usize>;

fn run(tree: &Tree) -> Vec<Complaint> {
    let listed = match listed(tree) {
        Ok(listed) => listed.unwrap_or_default(),
        Err(problem) => return vec![Complaint::file(RATCHET, problem)],
    };
    let found = offenders(tree);
    let too_long = found.iter().filter_map(|(key, &lines)| {
        let allowed = limit(key);
        let text = match listed.get(key) {
            Some(&known) if lines == known => return None,
            Some(&known) if lines < known => {
                format!("shrank from {known} to {lines} lines; accept it with {BLESS}")
            }
            Some(&known) => format!("grew from {known} to {lines} lines; {allowed} are allowed"),
            None => format!("has {lines} lines; {allowed} are allowed: split it"),
        };
        Some(complaint(key, &text))
    });
    let gone = listed.keys().filter(|key| !found.contains_key(key));
    too_long.chain(gone.map(|key| complaint(key, &format!("is short now; accept it with {BLESS}")))).collect()
}

fn complaint((path, function): &Key, text: &str) -> Complaint {
    match function {
        Some(name) => Complaint::file(path, format!("fn {name} {text}")),
        None => Complaint::file(path, text),
    }
}

fn limit((path, function): &Key) -> usize {
    match function {
        Some(_) => FUNCTION_LINES,
        None if path.contains("/src/") => SOURCE_LINES,
        None => TEST_LINES,
    }
}

/// Returns everything over its limit; of several functions with the same name in a file, the longest.
fn offenders(tree: &Tree) -> Offenders {
    let mut all = Offenders::new();
    for (path, source) in tree.sources() {
        let functions = source.functions().into_iter().map(|f| ((path.to_owned(), Some(f.name)), f.lines));
        let file = ((path.to_owned(), None), source.lines());
        for (key, lines) in functions.chain([file]).filter(|(key, lines)| *lines > limit(key)) {
            let longest = all.entry(key).or_default();
            *longest = lines.max(*longest);
        }
    }
    all
}

/// Returns the list in the repository; `None` if it does not exist.
fn listed(tree: &Tree) -> Result<Option<Offenders>, String> {
    let Some(text) = tree.text(RATCHET) else { return Ok(None) };
    let table: toml::Table = text.parse().map_err(|e: toml::de::Error| e.message().to_owned())?;
    let mut all = Offenders::new();
    let lines = |value: &toml::Value| {
        value.as_integer().and_then(|n| usize::try_from(n).ok()).ok_or("a length is a whole number")
    };
    for (kind, entries) in &table {
        for (path, value) in entries.as_table().ok_or("has [files] and [functions.\"path\"]")? {
            match (kind.as_str(), value) {
                ("files", value) => drop(all.insert((path.clone(), None), lines(value)?)),
                ("functions", toml::Value::Table(functions)) => {
                    for (name, value) in functions {
                        all.insert((path.clone(), Some(name.clone())), lines(value)?);
                    }
                }
                _ => return Err("has [files] and [functions.\"path\"]".into()),
            }
        }
    }
    Ok(Some(all))
}

/// Returns the list with reduced lengths, or with everything over its limit if it does not exist yet.
fn bless(tree: &Tree) -> Option<Blessed> {
    let found = offenders(tree);
    let Some(listed) = listed(tree).ok()? else { return Some((RATCHET, written(&found))) };
    let kept = listed.into_iter().filter_map(|(key, known)| {
        let lines = *found.get(&key)?;
        Some((key, lines.min(known)))
    });
    Some((RATCHET, written(&kept.collect())))
}

fn written(offenders: &Offenders) -> String {
    let mut text = HEAD.to_owned();
    let files: Vec<_> = offenders.iter().filter(|((_, function), _)| function.is_none()).collect();
    if !files.is_empty() {
        text += "\n[files]\n";
    }
    files.iter().for_each(|((path, _), lines)| text += &format!("\"{path}\" = {lines}\n"));
    let mut current = "";
    for ((path, function), lines) in offenders {
        let Some(name) = function else { continue };
        if path != current {
            text += &format!("\n[functions.\"{path}\"]\n");
            current = path;
        }
        text += &format!("{name} = {lines}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/a/src/lib.rs";

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    x();\n".repeat(lines - 2))
    }

    fn texts(ratchet: Option<&str>, source: &str) -> Vec<String> {
        let files: Vec<_> = [(PATH, source)].into_iter().chain(ratchet.map(|r| (RATCHET, r))).collect();
        run(&Tree::of(&files)).into_iter().map(|c| c.text).collect()
    }

    fn ratchet(lines: usize) -> String {
        format!("[functions.\"{PATH}\"]\nlong = {lines}\n")
    }

    #[test]
    fn seventy_lines_pass_and_one_more_does_not() {
        assert_eq!(texts(None, &function(70)), [""; 0]);
        assert_eq!(texts(None, &function(71)), ["fn long has 71 lines; 70 are allowed: split it"]);
    }

    #[test]
    fn what_is_listed_may_not_grow_and_is_updated_when_it_shrinks() {
        assert_eq!(texts(Some(&ratchet(90)), &function(90)), [""; 0]);
        assert!(texts(Some(&ratchet(90)), &function(91))[0].contains("grew from 90 to 91"));
        assert!(texts(Some(&ratchet(90)), &function(80))[0].contains("tidy --bless"));
        assert!(texts(Some(&ratchet(90)), &function(10))[0].contains("is short now"));
    }

    #[test]
    fn blessing_never_lets_anything_grow() {
        let blessed = |ratchet: Option<&str>, source: &str| {
            let files: Vec<_> = [(PATH, source)].into_iter().chain(ratchet.map(|r| (RATCHET, r))).collect();
            bless(&Tree::of(&files)).expect("readable").1
        };
        assert!(blessed(None, &function(90)).contains("long = 90"));
        assert!(blessed(Some(&ratchet(90)), &function(80)).contains("long = 80"));
        assert!(blessed(Some(&ratchet(90)), &function(95)).contains("long = 90"));
        assert_eq!(blessed(Some(&ratchet(90)), &function(20)), HEAD);
        assert_eq!(blessed(Some(""), &function(90)), HEAD);
    }

    #[test]
    fn files_have_a_limit_too() {
        let of = |path: &str, lines: usize| run(&Tree::of(&[(path, &"\n".repeat(lines))])).len();
        assert_eq!([of(PATH, 500), of(PATH, 501)], [0, 1]);
        assert_eq!([of("crates/a/tests/x.rs", 800), of("crates/a/tests/x.rs", 801)], [0, 1]);
        assert_eq!(texts(Some(&format!("[files]\n\"{PATH}\" = 600\n")), &"\n".repeat(600)), [""; 0]);
    }

    #[test]
    fn a_broken_list_is_found() {
        assert_eq!(texts(Some("[files]\n\"x\" = \"long\""), "").len(), 1);
    }
}
