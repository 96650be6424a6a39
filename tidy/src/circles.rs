//! Source files must not depend on each other in a cycle, so that each file can be read together with only the
//! files that it needs, and tested without the rest.
//!
//! File A depends on file B if A's code, apart from tests, mentions an item that is defined in B.
//! Declaring a module or re-exporting its items is not a dependency, but calling them is.

mod modules;
mod scope;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::check::{Check, Complaint};
use super::ratchet::{self, Counts};
use super::tree::Tree;
use modules::{Modules, Needs};

/// The rule.
pub const CHECK: Check = Check { name: "circles", run, bless: Some(bless) };

/// Section of the ratchet: number of files in cycles, by crate.
const SECTION: &str = "files_in_circles";
const REMEDY: &str = "files depend on each other in a cycle: move the items that both need to a separate \
  file that needs neither, or merge the files";

/// A set of files that all depend on each other, directly or indirectly.
type Knot = BTreeSet<String>;

fn run(tree: &Tree) -> Vec<Complaint> {
    let mut found = Counts::new();
    let mut circles = BTreeMap::new();
    for folder in tree.crates() {
        let needs = match needs(tree, folder) {
            Ok(needs) => needs,
            Err(complaint) => return vec![complaint],
        };
        let knots = knots(&needs);
        if !knots.is_empty() {
            found.insert(folder.to_owned(), knots.iter().map(Knot::len).sum());
        }
        let shortest: Vec<_> = knots.iter().map(|knot| shortest_circle(&needs, knot)).collect();
        circles.insert(folder.to_owned(), (needs, shortest));
    }
    ratchet::compare(tree, SECTION, &found, |folder, count, listed| {
        let (needs, circles) = &circles[folder];
        let grew =
            if listed > 0 { format!(" ({count} files in cycles, {listed} listed)") } else { String::new() };
        let one = |circle: &Vec<String>| {
            let first = circle.first().map_or(folder, String::as_str);
            Complaint::file(first, format!("{}: {REMEDY}{grew}", described(needs, circle)))
        };
        circles.iter().map(one).collect()
    })
}

fn bless(tree: &Tree) -> Option<(&'static str, String)> {
    let count = |folder: &str| {
        let files: usize = knots(&needs(tree, folder).ok()?).iter().map(Knot::len).sum();
        Some((folder.to_owned(), files))
    };
    let found = tree.crates().into_iter().filter_map(count).filter(|(_, files)| *files > 0).collect();
    ratchet::bless(tree, SECTION, &found)
}

/// Returns the dependencies of all files under `src` in a crate.
fn needs(tree: &Tree, folder: &str) -> Result<Needs, Complaint> {
    let roots = ["lib", "main"].map(|name| format!("{folder}/src/{name}.rs"));
    let binaries = tree.files_in(&format!("{folder}/src/bin"), "rs");
    let roots = roots.into_iter().chain(binaries.into_iter().map(|(path, _)| path.to_owned()));
    let mut needs = Needs::new();
    for root in roots.filter(|root| tree.source(root).is_some()) {
        let modules = Modules::read(tree, &root).map_err(|(path, error)| {
            Complaint::line(&path, error.span().start().line, format!("cannot be parsed: {error}"))
        })?;
        needs.extend(modules.needs());
    }
    Ok(needs)
}

/// Returns all sets of files that depend on each other.
fn knots(needs: &Needs) -> Vec<Knot> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        needs.keys().map(|file| (file.as_str(), reached(needs, file))).collect();
    let mutual = |a: &str, b: &str| reached[a].contains(b) && reached.get(b).is_some_and(|r| r.contains(a));
    let knot = |file: &String| {
        let knot: Knot = needs.keys().filter(|other| mutual(file, other)).cloned().collect();
        (!knot.is_empty()).then_some(knot)
    };
    needs.keys().filter_map(knot).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns all files that a file depends on, directly or indirectly.
fn reached<'a>(needs: &'a Needs, file: &'a str) -> BTreeSet<&'a str> {
    let mut all = BTreeSet::new();
    let mut next = vec![file];
    while let Some(file) = next.pop() {
        let others = needs.get(file).into_iter().flat_map(BTreeMap::keys);
        next.extend(others.map(String::as_str).filter(|other| all.insert(*other)));
    }
    all
}

/// Returns the files of the shortest cycle in `knot`, beginning with the file whose name sorts first.
fn shortest_circle(needs: &Needs, knot: &Knot) -> Vec<String> {
    knot.iter().filter_map(|file| circle_from(needs, file)).min_by_key(Vec::len).unwrap_or_default()
}

/// Returns the files of the shortest cycle through `file`.
fn circle_from(needs: &Needs, file: &str) -> Option<Vec<String>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut next = VecDeque::from([file]);
    while let Some(at) = next.pop_front() {
        for other in needs.get(at).into_iter().flat_map(BTreeMap::keys).map(String::as_str) {
            if other == file {
                let mut circle: Vec<String> = std::iter::successors(Some(at), |&at| before.get(at).copied())
                    .map(str::to_owned)
                    .collect();
                circle.reverse();
                return Some(circle);
            }
            if !before.contains_key(other) {
                before.insert(other, at);
                next.push_back(other);
            }
        }
    }
    None
}

/// Returns text such as `a.rs -> b.rs (item of b.rs) -> a.rs (item of a.rs)`, with paths relative to `src`.
fn described(needs: &Needs, circle: &[String]) -> String {
    let short = |file: &str| file.split_once("/src/").map_or(file, |(_, short)| short).to_owned();
    let Some(first) = circle.first() else { return String::new() };
    let steps = circle.iter().zip(circle.iter().skip(1).chain([first]));
    let steps = steps.map(|(from, to)| format!(" -> {} ({})", short(to), needs[from][to]));
    short(first) + &steps.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the complaints about a crate with these files under `src`.
    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> =
            files.iter().map(|&(name, text)| (format!("crates/a/src/{name}"), text)).collect();
        let mut all: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        all.push(("crates/a/Cargo.toml", ""));
        let texts = run(&Tree::of(&all)).into_iter().map(|complaint| complaint.text);
        texts.map(|text| text.trim_end_matches(REMEDY).trim_end_matches(": ").to_owned()).collect()
    }

    const TWO: (&str, &str) = ("lib.rs", "mod a; mod b;");
    const ITEM: (&str, &str) = ("b.rs", "use crate::a::A; pub struct B(A);");

    #[test]
    fn two_files_in_a_circle_are_named_with_what_they_need() {
        let circle = ["a.rs -> b.rs (B) -> a.rs (A)"];
        for text in [
            "use crate::b::B; pub struct A;",
            "use super::b::B; pub struct A;",
            "use super::{b::{self, B as C}, d}; pub struct A;",
            "use crate::b; pub struct A; fn f() -> b::B {}",
            "use super::*; pub struct A; fn f(x: b::B) {}",
            "pub struct A; fn f() { let x: Vec<crate::b::B> = g(); }",
            "pub struct A; fn f() { use crate::b::B; }",
            "pub struct A; fn f() { println!(\"{}\", x.b(crate::b::B)); }",
            "pub struct A; mod inner { fn f() { super::super::b::B::new() } }",
            "pub struct A; #[derive(C)] #[serde(with(crate::b::B))] struct D;",
            "pub use crate::b::B; pub struct A;",
        ] {
            assert_eq!(complaints(&[TWO, ("a.rs", text), ITEM]), circle, "{text}");
        }
    }

    #[test]
    fn files_without_mutual_use_are_not_a_circle() {
        for text in [
            "pub struct A;",
            "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }",
            "pub struct A { #[cfg(test)] b: crate::b::B, pub(in crate::b) c: u8 }",
            "pub struct A; #[cfg(test)] use crate::b::B; #[cfg(test)] fn f() { crate::b::B }",
            "pub struct A; fn f() { #[cfg(test)] crate::b::B(); x.b; other::b::B }",
            "use crate::b; pub struct A;",
            "use log::log; use b::Kind; use Kind::*; use super::*; pub struct A; fn f() -> X { log(y); C::D }",
            "/// [`crate::b::B`]\npub struct A;",
            "pub struct A; fn f() { println!(\"crate::b::B\") }",
        ] {
            assert_eq!(complaints(&[TWO, ("a.rs", text), ITEM]), [""; 0], "{text}");
        }
    }

    #[test]
    fn re_exports_lead_to_the_file_with_the_definition() {
        let facade = "mod a; mod b; pub use a::A; pub use b::*;";
        let (a, b) = ("use crate::B; pub struct A;", "pub struct B; fn f() { crate::A }");
        assert_eq!(
            complaints(&[("lib.rs", facade), ("a.rs", a), ("b.rs", b)]),
            ["a.rs -> b.rs (B) -> a.rs (A)"]
        );
        assert_eq!(complaints(&[("lib.rs", facade), ("a.rs", a), ("b.rs", "pub struct B;")]), [""; 0]);
        let used = format!("{facade} const C: A = A;");
        assert_eq!(
            complaints(&[
                ("lib.rs", &used),
                ("a.rs", "pub struct A(crate::b::B);"),
                ("b.rs", "use super::C; pub struct B;")
            ]),
            ["a.rs -> b.rs (B) -> lib.rs (C) -> a.rs (A)"]
        );
    }

    #[test]
    fn a_child_may_not_use_a_parent_whose_code_uses_it() {
        let child = ("a.rs", "use super::Shared; pub fn f(_: Shared) {}");
        assert_eq!(
            complaints(&[("lib.rs", "mod a; struct Shared; fn g() { a::f(Shared) }"), child]),
            ["a.rs -> lib.rs (Shared) -> a.rs (f)"]
        );
        assert_eq!(complaints(&[("lib.rs", "mod a; pub use a::f; struct Shared;"), child]), [""; 0]);
    }

    #[test]
    fn the_shortest_circle_of_a_knot_is_named() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "pub fn a() { crate::b::b() }"),
            ("b.rs", "pub fn b() { crate::c::c() }"),
            ("c.rs", "pub fn c() { crate::a::a(); crate::b::b() }"),
        ];
        assert_eq!(complaints(&files), ["b.rs -> c.rs (c) -> b.rs (b)"]);
        let long = [&files[..3], &[("c.rs", "pub fn c() { crate::a::a() }")]].concat();
        assert_eq!(complaints(&long), ["a.rs -> b.rs (b) -> c.rs (c) -> a.rs (a)"]);
    }

    #[test]
    fn files_that_are_listed_may_leave_a_circle_but_not_enter_one() {
        let with = |listed: usize, a: &str| {
            let ratchet = format!("[{SECTION}]\n\"crates/a\" = {listed}\n");
            let files = [
                ("crates/a/Cargo.toml", ""),
                ("crates/a/src/lib.rs", TWO.1),
                ("crates/a/src/a.rs", a),
                ("crates/a/src/b.rs", ITEM.1),
                (ratchet::PATH, ratchet.as_str()),
            ];
            run(&Tree::of(&files)).len()
        };
        let (circle, line) = ("use crate::b::B; pub struct A;", "pub struct A;");
        assert_eq!([with(2, circle), with(1, circle), with(3, circle), with(2, line)], [0, 1, 1, 1]);
    }

    #[test]
    fn a_file_that_cannot_be_parsed_is_named() {
        let files = [("crates/a/Cargo.toml", ""), ("crates/a/src/lib.rs", "fn a() {}\nfn {")];
        assert_eq!(run(&Tree::of(&files))[0].line, Some(2));
    }
}
