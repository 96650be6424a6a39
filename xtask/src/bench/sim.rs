//! Cost and fidelity of the simulator, compared with its targets.
//!
//! Speed is I/Os per second of CPU time of one thread. Other load on shared cores also slows that down, by up to a
//! factor of two, so each speed is measured in slices, and the fastest counts.

mod campaigns;
mod fidelity;
mod memory;
mod speed;

use std::path::Path;

use anyhow::bail;

use super::results::{Benchmark, Results, Row};

/// The benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "sim",
    about: "cost and fidelity of the simulator [memory|speed|fidelity|campaigns]...",
    of_this_program: true,
    run,
};

/// A part of the benchmark.
struct Part {
    name: &'static str,
    rows: fn(&Path) -> anyhow::Result<Vec<Row>>,
}

/// Memory first, before other parts allocate; parts that take minutes last.
const PARTS: [Part; 4] = [
    Part { name: "memory", rows: memory::rows },
    Part { name: "speed", rows: speed::rows },
    Part { name: "fidelity", rows: fidelity::rows },
    Part { name: "campaigns", rows: campaigns::rows },
];

fn run(_: &Path, folder: &Path, arguments: &[String]) -> anyhow::Result<Results> {
    if let Some(unknown) = arguments.iter().find(|asked| PARTS.iter().all(|part| part.name != **asked)) {
        bail!("no part '{unknown}'; available: {}", PARTS.map(|part| part.name).join(", "));
    }
    let mut rows = Vec::new();
    for part in PARTS.iter().filter(|part| arguments.is_empty() || arguments.iter().any(|a| a == part.name)) {
        println!("measuring {}", part.name);
        rows.extend((part.rows)(folder)?);
    }
    Ok(Results { rows, how: "CPU time of one thread".into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_none_is_named() {
        let error = run(Path::new("."), Path::new("."), &["memroy".into()]).err().unwrap().to_string();
        assert!(error.contains("memroy") && error.contains("memory"), "{error}");
    }
}
