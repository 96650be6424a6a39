//! Exceptions to rules, as counts that may only decrease.

use std::collections::BTreeMap;

use super::check::{Blessed, Complaint};
use super::tree::Tree;

/// Path of the list in the repository.
pub const PATH: &str = "xtask/ratchet.toml";

const HEAD: &str = "# Counts that violated a rule when the rule was introduced, by rule. They may shrink, but never grow.\n# \
                    `cargo xtask tidy --bless` accepts smaller counts.\n";
const BLESS: &str = "accept it with `cargo xtask tidy --bless`";

/// Counts of one rule, by file or crate.
pub type Counts = BTreeMap<String, usize>;

/// The counts of all rules.
type Lists = BTreeMap<String, Counts>;

/// Compares the counts that break a rule with those in the list. Calls `complain` with both counts for each
/// entry that is new or has grown.
pub fn compare(
    tree: &Tree,
    section: &str,
    found: &Counts,
    complain: impl Fn(&str, usize, usize) -> Vec<Complaint>,
) -> Vec<Complaint> {
    let listed = match read(tree) {
        Ok(mut lists) => lists.remove(section).unwrap_or_default(),
        Err(problem) => return vec![Complaint::file(PATH, problem)],
    };
    let known = |key: &String| listed.get(key).copied().unwrap_or(0);
    let grew = found.iter().filter(|(key, count)| **count > known(key));
    let shrank = listed.iter().filter(|(key, listed)| found.get(*key).is_none_or(|count| count < listed));
    let shrank = shrank.map(|(key, listed)| {
        let now = found.get(key).copied().unwrap_or(0);
        Complaint::file(PATH, format!("{section}: {key} has {now} instead of {listed}; {BLESS}"))
    });
    grew.flat_map(|(key, &count)| complain(key, count, known(key))).chain(shrank).collect()
}

/// Returns the list with the counts of one rule reduced to the current counts.
pub fn bless(tree: &Tree, section: &str, found: &Counts) -> Option<Blessed> {
    let mut lists = read(tree).ok()?;
    if let Some(counts) = lists.get_mut(section) {
        counts.retain(|key, _| found.contains_key(key));
        counts.iter_mut().for_each(|(key, count)| *count = found[key].min(*count));
    }
    Some((PATH, written(&lists)))
}

fn read(tree: &Tree) -> Result<Lists, String> {
    toml::from_str(tree.text(PATH).unwrap_or_default()).map_err(|error| error.message().to_owned())
}

fn written(lists: &Lists) -> String {
    let mut text = HEAD.to_owned();
    for (section, counts) in lists.iter().filter(|(_, counts)| !counts.is_empty()) {
        text += &format!("\n[{section}]\n");
        counts.iter().for_each(|(key, count)| text += &format!("\"{key}\" = {count}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(list: &str) -> Tree {
        Tree::of(&[(PATH, list)])
    }

    fn counts(count: usize) -> Counts {
        Counts::from([("a".to_owned(), count)])
    }

    fn texts(list: &str, found: &Counts) -> Vec<String> {
        let complain = |key: &str, count, listed| vec![Complaint::file(key, format!("{listed} to {count}"))];
        compare(&tree(list), "s", found, complain).into_iter().map(|complaint| complaint.text).collect()
    }

    #[test]
    fn listed_counts_may_not_grow_and_shrink_when_blessed() {
        assert_eq!(texts("", &Counts::new()), [""; 0]);
        assert_eq!(texts("", &counts(7)), ["0 to 7"]);
        assert_eq!(texts("[s]\na = 9", &counts(9)), [""; 0]);
        assert_eq!(texts("[s]\na = 9", &counts(10)), ["9 to 10"]);
        assert!(texts("[s]\na = 9", &counts(8))[0].contains("8 instead of 9"));
        assert!(texts("[s]\na = 9", &Counts::new())[0].contains("0 instead of 9"));
        assert_eq!(texts("[t]\na = 9", &counts(9)), ["0 to 9"]);
    }

    #[test]
    fn blessing_never_lets_anything_grow() {
        let blessed = |list: &str, found: &Counts| bless(&tree(list), "s", found).expect("readable").1;
        assert_eq!(blessed("", &counts(9)), HEAD);
        assert_eq!(blessed("[s]\na = 9", &counts(8)), format!("{HEAD}\n[s]\n\"a\" = 8\n"));
        assert_eq!(blessed("[s]\na = 9", &counts(10)), format!("{HEAD}\n[s]\n\"a\" = 9\n"));
        assert_eq!(blessed("[s]\na = 9\n[t]\nb = 1", &Counts::new()), format!("{HEAD}\n[t]\n\"b\" = 1\n"));
    }

    #[test]
    fn a_broken_list_is_found() {
        assert_eq!(texts("[s]\na = \"long\"", &Counts::new()).len(), 1);
    }
}
