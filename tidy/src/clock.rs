//! Restricts the code that may read the time or sleep, because the target owns the clock.

use super::check::{Check, Complaint};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "clock", run, bless: None };

const NEEDLES: &[&str] = &["Instant::now", "SystemTime::now", "thread::sleep"];
const ALLOWED: &[&str] = &[
    "crates/console/",
    "crates/engine/",
    "crates/device/",
    // The time limit of a query.
    "crates/store/src/sqlite.rs",
    // This file waits for another program, with a timeout.
    "crates/signatures/src/second_opinion.rs",
    // These files wait for other programs or before another attempt; they are not involved in measurements.
    "crates/forward/src/service.rs",
    "crates/forward/src/status.rs",
    "crates/notify/src/service.rs",
    "crates/notify/src/service/worker.rs",
    "crates/outbound/src/process.rs",
    // Time limits in the server, which runs in its own process, separate from all runs.
    "crates/lab/src/announce.rs",
    "crates/lab/src/devices.rs",
    "crates/lab/src/open_connections.rs",
    "crates/lab/src/receiving.rs",
    // A meter uses the host's clock.
    "crates/power/",
    "crates/plateau/",
    "crates/prepare/",
    "crates/stdx/src/files/",
    "dist/",
    "swarm/",
    "labdemo/",
    "vmlab/",
    "xtask/",
];

fn run(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, source) in tree.sources() {
        if ALLOWED.iter().any(|allowed| path.starts_with(allowed)) || tree.is_test(path) {
            continue;
        }
        for needle in NEEDLES {
            for place in source.code_places(needle).into_iter().filter(|&place| !source.in_test(place)) {
                let text =
                    format!("`{needle}`: use the target's clock, through the `device` crate or a `Segment`");
                complaints.push(Complaint::line(path, source.line_of(place), text));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_time_is_for_engine_device_plateau_xtask_and_tests() {
        let text = "fn a() { std::thread::sleep(x); }";
        let tree = Tree::of(&[
            ("crates/pts/src/lib.rs", text),
            ("crates/pts/tests/x.rs", text),
            ("crates/device/src/lib.rs", text),
            ("crates/stdx/src/lib.rs", "#[cfg(test)]\nmod tests { fn a() { Instant::now(); } }"),
        ]);
        let paths: Vec<_> = run(&tree).into_iter().map(|c| (c.path, c.line)).collect();
        assert_eq!(paths, [("crates/pts/src/lib.rs".to_owned(), Some(1))]);
    }
}
