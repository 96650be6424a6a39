//! What the load engine costs, beside fio and fio's own benchmark of io_uring.
//!
//! Everything is measured in pairs that alternate, at least five of them, and medians are compared: the
//! host is shared, and what disturbs one tool must disturb the other. The figure is processor time of the
//! submitting thread per I/O; wall-clock rates say more about the neighbours.

mod cases;
mod contents;
mod memory;
mod rivals;
mod targets;

use std::path::Path;

use anyhow::{Context as _, bail};
use rivals::Rivals;

use super::{Benchmark, Results, Row, median, part};

/// Pairs per comparison.
const PAIRS: usize = 5;

/// The benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "engine",
    about: "what the load engine costs, beside fio [--t-io-uring PATH] [memory|loop|ring|zram|file|data]...",
    of_this_program: true,
    run,
};

/// A part of the benchmark.
struct Part {
    name: &'static str,
    /// Measures, beside the rivals, with a folder for files.
    rows: fn(&Rivals, &Path) -> anyhow::Result<Vec<Row>>,
}

/// Memory first, while nothing else has taken any.
const PARTS: [Part; 6] = [
    Part { name: "memory", rows: |_, _| memory::rows() },
    Part { name: "loop", rows: cases::alone },
    Part { name: "ring", rows: cases::no_op_ring },
    Part { name: "zram", rows: cases::zram },
    Part { name: "file", rows: cases::file },
    Part { name: "data", rows: contents::rows },
];

fn run(_: &Path, folder: &Path, arguments: &[String]) -> anyhow::Result<Results> {
    let (t_io_uring, wanted) = asked_for(arguments)?;
    let rivals = Rivals::find(t_io_uring)?;
    let fio = rivals.fio_version.as_deref().unwrap_or("fio not installed; left out").to_owned();
    println!("{fio}");
    println!("t/io_uring: {}", rivals.t_io_uring.as_deref().unwrap_or("no path given; left out"));
    let mut rows = Vec::new();
    for part in PARTS.iter().filter(|part| wanted.is_empty() || wanted.contains(&part.name)) {
        println!("measuring {}", part.name);
        rows.extend((part.rows)(&rivals, folder)?);
    }
    Ok(Results { rows, how: format!("medians of at least {PAIRS} alternated pairs; {fio}") })
}

/// Where t/io_uring is, and the parts that were named; none named means all.
fn asked_for(arguments: &[String]) -> anyhow::Result<(Option<String>, Vec<&'static str>)> {
    let (mut path, mut wanted) = (None, Vec::new());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word == "--t-io-uring" {
            path = Some(words.next().context("--t-io-uring needs a path")?.clone());
        } else if let Some(part) = PARTS.iter().find(|part| part.name == word) {
            wanted.push(part.name);
        } else {
            bail!(
                "no part '{word}'; there is {}, and --t-io-uring PATH",
                PARTS.map(|part| part.name).join(", ")
            );
        }
    }
    Ok((path, wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[&str]) -> anyhow::Result<(Option<String>, Vec<&'static str>)> {
        asked_for(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn parts_and_the_path_come_in_any_order() {
        assert_eq!(asked(&[]).unwrap(), (None, vec![]));
        let both = (Some("p".to_owned()), vec!["ring", "loop"]);
        assert_eq!(asked(&["ring", "--t-io-uring", "p", "loop"]).unwrap(), both);
    }

    #[test]
    fn what_is_no_part_is_named() {
        assert!(asked(&["--t-io-uring"]).is_err());
        let error = asked(&["rign"]).unwrap_err().to_string();
        assert!(error.contains("rign") && error.contains("ring"), "{error}");
    }
}
