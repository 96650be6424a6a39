//! Cost and fidelity of the simulator, compared with its targets.
//!
//! Speed is the number of I/Os per second of one thread's CPU time. Other load on shared cores reduces even
//! this figure by up to a factor of two, so it is measured in slices, and the fastest slice counts.

mod campaigns;
mod fidelity;
mod memory;
mod speed;

use std::path::Path;

use super::results::{Benchmark, Measured, Results, Row};

/// The benchmark.
pub const BENCHMARK: Benchmark = Benchmark::of::<Sim>("sim", true);

/// Cost and fidelity of the simulator
#[derive(clap::Args)]
struct Sim {
    /// Parts to measure [default: all]
    #[arg(value_name = "PART", value_parser = PARTS.map(|part| part.name))]
    parts: Vec<String>,
}

/// A part of the benchmark.
struct Part {
    name: &'static str,
    rows: fn(&Path) -> anyhow::Result<Vec<Row>>,
}

/// Memory is measured first, before other parts allocate any; parts that take minutes come last.
const PARTS: [Part; 4] = [
    Part { name: "memory", rows: memory::rows },
    Part { name: "speed", rows: speed::rows },
    Part { name: "fidelity", rows: fidelity::rows },
    Part { name: "campaigns", rows: campaigns::rows },
];

impl Measured for Sim {
    fn run(self, _: &Path, folder: &Path) -> anyhow::Result<Results> {
        let mut rows = Vec::new();
        let chosen = |part: &&Part| self.parts.is_empty() || self.parts.iter().any(|name| name == part.name);
        for part in PARTS.iter().filter(chosen) {
            println!("measuring {}", part.name);
            rows.extend((part.rows)(folder)?);
        }
        Ok(Results { rows, how: "CPU time of one thread".into() })
    }
}
