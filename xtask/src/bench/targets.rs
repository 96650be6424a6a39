//! `cargo xtask bench targets`: `plateau load` with its default options, compared with the best of fio's engines, on
//! every kind of target that this host can create.
//!
//! The benchmark creates all targets itself, in a folder of its own, and touches nothing else. What it created is noted
//! on disk first, so that the next run removes what a killed run left behind.

mod kinds;
pub mod made;
pub mod tools;

use std::path::{Path, PathBuf};

use super::results::{Benchmark, Measured, Results, Row, median, part};
use crate::chore::plateau_program;
use kinds::{KINDS, Kind};
use made::Workshop;
use tools::{Cell, FIO_ENGINES, fio, fio_version, plateau};

/// The benchmark.
pub const BENCHMARK: Benchmark = Benchmark::of::<Targets>("targets", false);

/// plateau load compared with the best of fio's engines, on each kind of target
#[derive(clap::Args)]
struct Targets {
    /// Kinds of targets [default: all]
    #[arg(value_name = "KIND", value_parser = KINDS.map(|kind| kind.name))]
    kinds: Vec<String>,
    /// Queue depths
    #[arg(long, value_name = "QD,..", value_delimiter = ',', default_value = "1,4,32,256")]
    depths: Vec<u16>,
    /// Loads, in fio's words
    #[arg(long, value_name = "RW,..", value_delimiter = ',', default_value = "randread,randwrite,randrw")]
    loads: Vec<String>,
    /// Alternating pairs per cell
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Seconds per load; shorter loads do not measure engines first
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// Release binary to measure [default: built from this tree]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

impl Measured for Targets {
    fn run(self, root: &Path, folder: &Path) -> anyhow::Result<Results> {
        let version = fio_version()?;
        let binary = self.binary.clone().map_or_else(|| plateau_program(root, false), Ok)?;
        let mut rows = Vec::new();
        let is_chosen =
            |kind: &&Kind| self.kinds.is_empty() || self.kinds.iter().any(|name| name == kind.name);
        for kind in KINDS.iter().filter(is_chosen) {
            let mut workshop = Workshop::new(folder)?;
            match (kind.make)(&mut workshop) {
                Err(reason) => println!("missing: {}: {reason:#}", kind.name),
                Ok(path) => rows.extend(self.measured(kind.name, &path, &binary)?),
            }
        }
        let how = format!(
            "alternating pairs of {} s, {} per cell; the best of {} engines of {version}",
            self.seconds,
            self.pairs,
            FIO_ENGINES.len()
        );
        Ok(Results { rows, how })
    }
}

impl Targets {
    fn measured(&self, name: &str, path: &str, binary: &Path) -> anyhow::Result<Vec<Row>> {
        tools::fill(binary, path)?;
        let mut rows = Vec::new();
        for load in &self.loads {
            for &depth in &self.depths {
                let row = self.row(name, &Cell { path, load, depth, seconds: self.seconds }, binary)?;
                println!("{:<44} {}", row.what, row.measured);
                rows.push(row);
            }
        }
        Ok(rows)
    }

    /// Finds fio's best engine for the cell, then runs pairs with it. The order is reversed in every other pair.
    fn row(&self, name: &str, cell: &Cell<'_>, binary: &Path) -> anyhow::Result<Row> {
        let mut best = (0.0, &FIO_ENGINES[0]);
        for engine in &FIO_ENGINES {
            let iops = fio(&Cell { seconds: 1, ..*cell }, engine)?;
            best = if iops > best.0 { (iops, engine) } else { best };
        }
        let (mut quotients, mut engines) = (Vec::new(), Vec::new());
        for index in 0..self.pairs {
            let ours_first = index % 2 == 0;
            let before = if ours_first { None } else { Some(fio(cell, best.1)?) };
            let (ours, engine) = plateau(binary, cell)?;
            let theirs = before.map_or_else(|| fio(cell, best.1), Ok)?;
            quotients.push(ours / theirs);
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
        let (low, high) = (part(quotients.iter().copied(), 0.25), part(quotients.iter().copied(), 0.75));
        let middle = median(quotients);
        let measured =
            format!("{middle:.2} ({low:.2} to {high:.2})  {} / fio {}", engines.join(" or "), best.1.name);
        Ok(Row {
            target: ">= 1.00 x fio".into(),
            limit: Some(1.0),
            best_quarter: Some(1.0 / high),
            ..Row::stated(format!("{name}: {} QD {}", cell.load, cell.depth), measured, 1.0 / middle)
        })
    }
}
