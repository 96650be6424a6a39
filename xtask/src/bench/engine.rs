//! CPU cost of the load engine, compared with fio and fio's `t/io_uring`.
//!
//! All figures are measured in at least five alternating pairs, and medians are compared: the host is shared,
//! so disturbances must affect both tools equally. The figure is the CPU time of the submitting thread per
//! I/O, because wall-clock rates depend more on other load on the host.

mod cases;
mod contents;
mod memory;
mod pairs;
mod rivals;
mod targets;

use std::path::{Path, PathBuf};

use pairs::PAIRS;
use rivals::Rivals;

use super::results::{Benchmark, Measured, Results, Row};

/// The benchmark.
pub const BENCHMARK: Benchmark = Benchmark::of::<Engine>("engine", true);

/// Cost of the load engine, compared with fio
#[derive(clap::Args)]
struct Engine {
    /// Path of fio's t/io_uring program, for comparison
    #[arg(long, value_name = "PATH")]
    t_io_uring: Option<String>,
    /// Directory of the test file
    #[arg(long, value_name = "PATH")]
    folder: Option<PathBuf>,
    /// Parts to measure [default: all]
    #[arg(value_name = "PART", value_parser = PARTS.map(|part| part.name))]
    parts: Vec<String>,
}

/// A part of the benchmark.
struct Part {
    name: &'static str,
    /// Measures the engine and the rival tools; the argument is a directory for files.
    rows: fn(&Rivals, &Path) -> anyhow::Result<Vec<Row>>,
}

/// Memory is measured first, before other parts allocate any.
const PARTS: [Part; 6] = [
    Part { name: "memory", rows: |_, _| memory::rows() },
    Part { name: "loop", rows: cases::alone },
    Part { name: "ring", rows: cases::no_op_ring },
    Part { name: "zram", rows: cases::zram },
    Part { name: "file", rows: cases::file },
    Part { name: "data", rows: contents::rows },
];

impl Measured for Engine {
    fn run(self, _: &Path, folder: &Path) -> anyhow::Result<Results> {
        let folder = self.folder.as_deref().unwrap_or(folder);
        let rivals = Rivals::find(self.t_io_uring)?;
        let fio = rivals.fio_version.as_deref().unwrap_or("fio is not installed; skipped").to_owned();
        println!("{fio}");
        println!("t/io_uring: {}", rivals.t_io_uring.as_deref().unwrap_or("no path given; skipped"));
        let mut rows = Vec::new();
        let chosen = |part: &&Part| self.parts.is_empty() || self.parts.iter().any(|name| name == part.name);
        for part in PARTS.iter().filter(chosen) {
            println!("measuring {}", part.name);
            rows.extend((part.rows)(&rivals, folder)?);
        }
        Ok(Results { rows, how: format!("medians of at least {PAIRS} alternating pairs; {fio}") })
    }
}
