//! Runs on a file on ext4, xfs and btrfs, each on a loop device that the test creates.

mod support;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use record::{Event, FileSystemFacts, OnFile, Run, Segment};
use serde_json::Value;
use support::loop_device::Loop;
use support::{Bench, is_root};

const SIZE: u64 = 512 << 20;

/// A file system on a loop device; unmounted on drop.
struct Mounted {
    at: PathBuf,
    device: Loop,
}

impl Drop for Mounted {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(&self.at).status());
    }
}

/// Makes and mounts a file system; returns `None` if this is not possible on this host.
fn mounted(bench: &Bench, kind: &str) -> Option<Mounted> {
    if !is_root() {
        skips::skip!("only root mounts file systems");
        return None;
    }
    let program = format!("mkfs.{kind}");
    let image = bench.path(&format!("{kind}.image"));
    std::fs::File::create(&image).and_then(|file| file.set_len(SIZE)).expect("an image");
    let device = Loop::over(&image, &[])?;
    let force = if kind == "ext4" { "-F" } else { "-f" };
    match Command::new(&program).args(["-q", force, &device.path]).output() {
        Err(_) => {
            skips::without(&program);
            return None;
        }
        Ok(output) => {
            assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr))
        }
    }
    let at = bench.path(kind);
    std::fs::create_dir(&at).expect("a folder");
    let output = Command::new("mount").args(["-t", kind, &device.path]).arg(&at).output().expect("mount");
    if !output.status.success() {
        skips::skip!("{kind} cannot be mounted: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(Mounted { at, device })
}

fn run(bench: &Bench, file: &Path) -> Value {
    let file = file.to_str().expect("a path in UTF-8");
    bench.json(&["run", "lat", file, "--size", "64MiB", "--cell-seconds", "0.05", "--max-rounds", "5"])
}

/// The file system recorded in the only run's `run.json`, and the run's segments.
fn recorded(bench: &Bench) -> (FileSystemFacts, Vec<Segment>) {
    let run = Run::open(&bench.runs()[0]).expect("a run");
    let segments =
        bench.journal().expect("a journal").entries.into_iter().filter_map(|entry| match entry.event {
            Event::Preconditioned(segment) | Event::Measured(segment) => Some(segment),
            _ => None,
        });
    (run.file.file_system.expect("a known file system"), segments.collect())
}

/// The only run's JSON document and page.
fn reports(bench: &Bench) -> (Value, String) {
    let (json, page) = (bench.path("report.json"), bench.path("report.html"));
    let paths = [&json, &page].map(|path| path.to_str().expect("a path"));
    bench.ok(&["report", "latest", "--json-file", paths[0], "--html", paths[1]]);
    let document = serde_json::from_str(&support::text(&json)).expect("JSON");
    (document, support::text(&page))
}

fn on(kind: &str) -> Option<(Bench, Mounted, Vec<Segment>)> {
    let bench = Bench::on_build_disk();
    let mounted = mounted(&bench, kind)?;
    let summary = run(&bench, &mounted.at.join("target"));
    let expected = format!("the target is a file on {kind}, not a device");
    assert!(summary["modified"].to_string().contains(&expected), "{}", summary["modified"]);
    let (facts, segments) = recorded(&bench);
    assert_eq!((facts.kind.as_str(), facts.block_bytes), (kind, 4096));
    assert!(facts.mount_options.starts_with("rw"), "{facts:?}");
    let [device] = &facts.devices[..] else { panic!("one device: {facts:?}") };
    assert_eq!((device.name.as_str(), device.capacity_bytes), (mounted.device.kname(), SIZE));
    let image = format!("{kind}.image");
    let backing = device.disks[0].backing_file.as_deref().expect("an image");
    assert!(backing.ends_with(&image), "{backing}");
    let stored: Vec<OnFile> = segments.iter().map(|segment| segment.on_file.expect("a file")).collect();
    let last = stored.last().expect("workloads");
    assert!(last.allocated_bytes >= 64 << 20, "preconditioning has filled the file: {last:?}");
    assert!(stored.iter().all(|one| one.extents.is_some_and(|count| count > 0)), "{last:?}");
    assert!(stored.iter().all(|one| one.below.is_some()), "loop devices count their I/O");
    let (document, page) = reports(&bench);
    assert_eq!(document["file_system"]["kind"], kind);
    assert!(
        document["file_system"]["share"]["bytes_written_per_byte"].as_f64().is_some_and(|ratio| ratio > 0.0)
    );
    assert!(page.contains(&format!("File system: {kind} on {}", device.name)), "annex B");
    assert!(page.contains("not a PTS result"), "annex A");
    assert!(page.contains(&format!("file on {kind}")), "the head of each page");
    assert!(page.contains("Bytes written / byte"), "a table for each test");
    Some((bench, mounted, segments))
}

/// Checks a file system that passes direct I/O on to the device.
fn is_direct(kind: &str) {
    let Some((bench, _mounted, segments)) = on(kind) else { return };
    for segment in &segments {
        let below = segment.on_file.and_then(|on_file| on_file.below).expect("counted");
        assert!(below.write_bytes >= segment.write.bytes, "{}: {below:?}", segment.workload);
        assert!(below.read_bytes >= segment.read.bytes, "{}: {below:?}", segment.workload);
    }
    let (document, page) = reports(&bench);
    let share = |key: &str| document["file_system"]["share"][key].as_f64().expect(key);
    // Only the test uses the loop device, so all other I/O comes from the file system.
    assert!((1.0..1.5).contains(&share("bytes_written_per_byte")), "{}", document["file_system"]);
    assert!((1.0..1.5).contains(&share("bytes_read_per_byte")), "{}", document["file_system"]);
    assert!(page.contains("Direct I/O reached the device."));
    let metrics = bench.path("report.prom");
    bench.ok(&["report", "latest", "--openmetrics", metrics.to_str().expect("a path")]);
    let text = support::text(&metrics);
    let samples = || text.lines().filter(|line| line.starts_with("plateau_file_bytes_written_ratio{"));
    let (of_run, of_workloads): (Vec<_>, Vec<_>) = samples().partition(|line| !line.contains("workload="));
    let [of_run] = of_run[..] else { panic!("one for the run: {text}") };
    assert!(of_run.contains(&format!("file_system=\"{kind}\"")), "{of_run}");
    let value = of_run.rsplit(' ').next().expect("a value");
    // OpenMetrics values have at most 15 digits.
    let relative = value.parse::<f64>().expect("a number") / share("bytes_written_per_byte");
    assert!((relative - 1.0).abs() < 1e-14, "{of_run}");
    assert!(
        !of_workloads.is_empty() && of_workloads.iter().all(|line| line.contains("test=\"lat\"")),
        "{text}"
    );
    let book = bench.path("report.xlsx");
    bench.ok(&["report", "latest", "--xlsx", book.to_str().expect("a path")]);
    let bytes = std::fs::read(&book).expect("a spreadsheet");
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).expect("a zip file");
    let mut sheets = String::new();
    archive.by_name("xl/workbook.xml").expect("a workbook").read_to_string(&mut sheets).expect("text");
    assert!(sheets.contains("name=\"File system\""), "{sheets}");
}

#[test]
fn a_file_on_ext4() {
    is_direct("ext4");
}

#[test]
fn a_file_on_xfs() {
    is_direct("xfs");
}

/// Copy-on-write and checksums add I/O at other times, so no assertion about a single workload is possible.
#[test]
fn a_file_on_btrfs() {
    drop(on("btrfs"));
}
