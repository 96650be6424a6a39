//! Every source file must be part of its crate.

use super::check::{Check, Complaint};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "dead_files", run, bless: None };

fn run(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, _) in tree.sources().filter(|(path, _)| path.contains("/src/") && !path.contains("/src/bin/"))
    {
        let Some((above, name)) = tree.declared_by(path) else { continue };
        let declared =
            above.iter().any(|(_, source)| source.modules().iter().any(|(module, _)| *module == name));
        if !declared {
            complaints.push(Complaint::file(
                path,
                format!("no file declares `mod {name};`: declare it or remove the file"),
            ));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undeclared_file_is_found() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "mod b; // mod c;"),
            ("crates/a/src/b.rs", "pub mod d;"),
            ("crates/a/src/b/d.rs", ""),
            ("crates/a/src/c.rs", ""),
        ]);
        let paths: Vec<_> = run(&tree).into_iter().map(|c| c.path).collect();
        assert_eq!(paths, ["crates/a/src/c.rs"]);
    }
}
