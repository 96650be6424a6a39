//! Runs `plateau load` and fio with the same load.

use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context as _, ensure};
use device::OpenOptions;
use serde_json::Value;

use super::made::BYTES;

/// An engine of fio with its options.
pub struct FioEngine {
    pub name: &'static str,
    options: &'static [&'static str],
}

/// fio's engines, with the options that make each of them fast.
pub const FIO_ENGINES: [FioEngine; 4] = [
    FioEngine { name: "io_uring", options: &["--ioengine=io_uring"] },
    FioEngine {
        name: "io_uring with fixedbufs",
        options: &["--ioengine=io_uring", "--fixedbufs", "--registerfiles"],
    },
    FioEngine { name: "libaio", options: &["--ioengine=libaio"] },
    FioEngine { name: "psync", options: &["--ioengine=psync"] },
];

/// A load on a target.
#[derive(Clone, Copy)]
pub struct Cell<'a> {
    pub path: &'a str,
    /// `rw` in fio's words.
    pub load: &'a str,
    pub depth: u16,
    pub seconds: u32,
}

impl Cell<'_> {
    /// Returns the options that both tools understand.
    fn options(&self) -> [String; 7] {
        [
            format!("--rw={}", self.load),
            "--bs=4k".into(),
            format!("--size={BYTES}"),
            format!("--iodepth={}", self.depth),
            format!("--runtime={}", self.seconds),
            "--time_based".into(),
            "--norandommap".into(),
        ]
    }
}

/// Returns fio's version.
pub fn fio_version() -> anyhow::Result<String> {
    let output = Command::new("fio").arg("--version").output().context("fio is not installed")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs fio, and returns its IOPS.
pub fn fio(cell: &Cell<'_>, engine: &FioEngine) -> anyhow::Result<f64> {
    let mut command = Command::new("fio");
    command.args(["--name=bench", "--direct=1", "--thread", "--output-format=json", "--refill_buffers"]);
    command.arg(format!("--filename={}", cell.path)).args(cell.options()).args(engine.options);
    iops(&document(&mut command, "fio")?["jobs"][0])
}

/// Runs `plateau load` with its default engine, and returns its IOPS and the engine.
pub fn plateau(binary: &Path, cell: &Cell<'_>) -> anyhow::Result<(f64, String)> {
    let mut command = Command::new(binary);
    command.args(["load", cell.path, "--json"]).args(cell.options());
    if cell.load.contains("write") || cell.load.contains("rw") {
        command.args(["--erase", &identity(cell.path)?]);
    }
    let document = document(&mut command, "plateau load")?;
    let job = &document["jobs"][0];
    let engine = job["engines"][0].as_str().context("no engine")?;
    let name = engine.split([' ', ';']).next().unwrap_or(engine).to_owned();
    let by = if job["engine_choices"][0].get("measured").is_some() { ", measured" } else { "" };
    Ok((iops(job)?, format!("{name}{by}")))
}

/// Writes the whole target once.
pub fn fill(binary: &Path, path: &str) -> anyhow::Result<()> {
    let mut command = Command::new(binary);
    command.args(["load", path, "--json", "--rw=write", "--bs=128k", "--iodepth=8"]);
    command.arg(format!("--size={BYTES}")).args(["--erase", &identity(path)?]);
    document(&mut command, "plateau load").map(drop)
}

/// Returns the identity of a target that a benchmark created.
pub fn identity(path: &str) -> anyhow::Result<String> {
    Ok(device::open(path, &OpenOptions::default())?.facts().identity.clone())
}

fn document(command: &mut Command, name: &str) -> anyhow::Result<Value> {
    let Output { status, stdout, stderr } = command.output().with_context(|| format!("cannot run {name}"))?;
    ensure!(status.success(), "{name}: {status}: {}", String::from_utf8_lossy(&stderr).trim());
    // fio prints notices before its document.
    let begin = stdout.iter().position(|byte| *byte == b'{').unwrap_or(0);
    serde_json::from_slice(&stdout[begin..]).with_context(|| format!("{name} printed no JSON"))
}

fn iops(job: &Value) -> anyhow::Result<f64> {
    let of = |kind: &str| job[kind]["iops"].as_f64().with_context(|| format!("no rate of {kind}s"));
    Ok(of("read")? + of("write")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_are_added() {
        let job = serde_json::json!({"read": {"iops": 1.5}, "write": {"iops": 2.0}});
        assert!((iops(&job).expect("rates") - 3.5).abs() < 1e-9);
        assert!(iops(&serde_json::json!({"read": {}})).is_err());
    }
}
