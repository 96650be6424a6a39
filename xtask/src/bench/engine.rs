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

use anyhow::bail;

use super::{Benchmark, Results, Row, median, part};

/// Pairs per comparison.
const PAIRS: usize = 5;

/// The benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "engine",
    about: "what the load engine costs, beside fio [--t-io-uring PATH]",
    of_this_program: true,
    run,
};

fn run(_: &Path, folder: &Path, arguments: &[String]) -> anyhow::Result<Results> {
    let t_io_uring = match arguments {
        [] => None,
        [flag, path] if flag == "--t-io-uring" => Some(path.clone()),
        _ => bail!("usage: cargo xtask bench engine [--t-io-uring PATH]"),
    };
    let rivals = rivals::Rivals::find(t_io_uring)?;
    let fio = rivals.fio_version.as_deref().unwrap_or("fio not installed; left out").to_owned();
    println!("{fio}");
    println!("t/io_uring: {}", rivals.t_io_uring.as_deref().unwrap_or("no path given; left out"));
    let rows = cases::measure(&rivals, folder)?;
    Ok(Results { rows, how: format!("medians of at least {PAIRS} alternated pairs; {fio}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_needed_behind_its_option() {
        assert!(run(Path::new("."), Path::new("."), &["--t-io-uring".into()]).is_err());
    }
}
