//! Functions and files stay short. Existing ones over the limit are listed and may only shrink.

use super::check::{Blessed, Check, Complaint};
use super::ratchet::{self, Counts};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "lengths", run, bless: Some(bless) };

const FUNCTION_LINES: usize = 70;
const SOURCE_LINES: usize = 500;
const TEST_LINES: usize = 800;
/// Section of the ratchet: lines by file, or by file and function.
const SECTION: &str = "lengths";

fn run(tree: &Tree) -> Vec<Complaint> {
    ratchet::compare(tree, SECTION, &offenders(tree), |key, lines, listed| {
        let (path, item) =
            key.split_once(' ').map_or((key, String::new()), |(path, item)| (path, format!("{item} ")));
        let allowed = if listed > 0 { listed } else { limit(path, &item) };
        vec![Complaint::file(path, format!("{item}has {lines} lines; {allowed} are allowed: split it"))]
    })
}

fn bless(tree: &Tree) -> Option<Blessed> {
    ratchet::bless(tree, SECTION, &offenders(tree))
}

fn limit(path: &str, item: &str) -> usize {
    match item {
        "" if path.contains("/src/") => SOURCE_LINES,
        "" => TEST_LINES,
        _ => FUNCTION_LINES,
    }
}

/// Returns everything over its limit; of several functions with the same name in a file, the longest.
fn offenders(tree: &Tree) -> Counts {
    let mut all = Counts::new();
    for (path, source) in tree.sources() {
        let functions = source.functions().into_iter().map(|f| (format!("{path} fn {}", f.name), f.lines));
        let functions = functions.filter(|(_, lines)| *lines > FUNCTION_LINES);
        let file = (path.to_owned(), source.lines());
        let file = Some(file).filter(|(_, lines)| *lines > limit(path, ""));
        for (key, lines) in functions.chain(file) {
            let longest = all.entry(key).or_default();
            *longest = lines.max(*longest);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/a/src/lib.rs";

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    x();\n".repeat(lines - 2))
    }

    fn texts(list: &str, source: &str) -> Vec<String> {
        let files = [(PATH, source), (ratchet::PATH, list)];
        run(&Tree::of(&files)).into_iter().map(|c| c.text).collect()
    }

    #[test]
    fn seventy_lines_pass_and_one_more_does_not() {
        assert_eq!(texts("", &function(70)), [""; 0]);
        assert_eq!(texts("", &function(71)), ["fn long has 71 lines; 70 are allowed: split it"]);
        assert_eq!(texts(&format!("[lengths]\n\"{PATH} fn long\" = 71"), &function(71)), [""; 0]);
    }

    #[test]
    fn files_have_a_limit_too() {
        let of = |path: &str, lines: usize| run(&Tree::of(&[(path, &"\n".repeat(lines))])).len();
        assert_eq!([of(PATH, 500), of(PATH, 501)], [0, 1]);
        assert_eq!([of("crates/a/tests/x.rs", 800), of("crates/a/tests/x.rs", 801)], [0, 1]);
        assert_eq!(texts(&format!("[lengths]\n\"{PATH}\" = 600\n"), &"\n".repeat(600)), [""; 0]);
    }
}
