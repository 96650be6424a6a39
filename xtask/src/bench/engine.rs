//! CPU cost of the load engine, compared with fio and fio's `t/io_uring`.
//!
//! Everything is measured in alternating pairs, at least five of them, and medians are compared: the host is shared,
//! so disturbances must affect both tools alike. The figure is CPU time of the submitting thread per I/O; wall-clock
//! rates depend more on other load on the host.

mod cases;
mod contents;
mod memory;
mod pairs;
mod rivals;
mod targets;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use pairs::PAIRS;
use rivals::Rivals;

use super::results::{Benchmark, Results, Row};

/// The benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "engine",
    about: "cost of the load engine, compared with fio [--t-io-uring PATH] [--folder PATH] \
            [memory|loop|ring|zram|file|data]...",
    of_this_program: true,
    run,
};

/// A part of the benchmark.
struct Part {
    name: &'static str,
    /// Measures it and the rival tools, with a directory for files.
    rows: fn(&Rivals, &Path) -> anyhow::Result<Vec<Row>>,
}

/// Memory first, before other parts allocate.
const PARTS: [Part; 6] = [
    Part { name: "memory", rows: |_, _| memory::rows() },
    Part { name: "loop", rows: cases::alone },
    Part { name: "ring", rows: cases::no_op_ring },
    Part { name: "zram", rows: cases::zram },
    Part { name: "file", rows: cases::file },
    Part { name: "data", rows: contents::rows },
];

fn run(_: &Path, folder: &Path, arguments: &[String]) -> anyhow::Result<Results> {
    let asked = asked_for(arguments)?;
    let folder = asked.folder.as_deref().unwrap_or(folder);
    let rivals = Rivals::find(asked.t_io_uring)?;
    let fio = rivals.fio_version.as_deref().unwrap_or("fio is not installed; skipped").to_owned();
    println!("{fio}");
    println!("t/io_uring: {}", rivals.t_io_uring.as_deref().unwrap_or("no path given; skipped"));
    let mut rows = Vec::new();
    for part in PARTS.iter().filter(|part| asked.parts.is_empty() || asked.parts.contains(&part.name)) {
        println!("measuring {}", part.name);
        rows.extend((part.rows)(&rivals, folder)?);
    }
    Ok(Results { rows, how: format!("medians of at least {PAIRS} alternated pairs; {fio}") })
}

#[derive(Debug, Default, PartialEq)]
struct Asked {
    t_io_uring: Option<String>,
    /// Directory of the test file.
    folder: Option<PathBuf>,
    /// Empty for all.
    parts: Vec<&'static str>,
}

fn asked_for(arguments: &[String]) -> anyhow::Result<Asked> {
    let mut asked = Asked::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut path = || words.next().with_context(|| format!("{word} needs a path")).cloned();
        match word.as_str() {
            "--t-io-uring" => asked.t_io_uring = Some(path()?),
            "--folder" => asked.folder = Some(path()?.into()),
            name => match PARTS.iter().find(|part| part.name == name) {
                Some(part) => asked.parts.push(part.name),
                None => bail!(
                    "no part '{name}'; available: {}, --t-io-uring PATH and --folder PATH",
                    PARTS.map(|part| part.name).join(", ")
                ),
            },
        }
    }
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[&str]) -> anyhow::Result<Asked> {
        asked_for(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn parts_and_paths_come_in_any_order() {
        assert_eq!(asked(&[]).unwrap(), Asked::default());
        let all =
            Asked { t_io_uring: Some("p".to_owned()), folder: Some("f".into()), parts: vec!["ring", "loop"] };
        assert_eq!(asked(&["ring", "--t-io-uring", "p", "loop", "--folder", "f"]).unwrap(), all);
    }

    #[test]
    fn what_is_no_part_is_named() {
        for word in ["--t-io-uring", "--folder"] {
            assert!(asked(&[word]).unwrap_err().to_string().contains(word));
        }
        let error = asked(&["rign"]).unwrap_err().to_string();
        assert!(error.contains("rign") && error.contains("ring"), "{error}");
    }
}
