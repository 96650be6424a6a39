//! Overhead of a file system: I/O of the devices below it per I/O issued by Plateau.
//!
//! The counters cover all I/O of the devices during a workload, including I/O by other users. Delayed writes by
//! the file system count towards the workload during which they reach the devices.

use record::{
    BelowLoad, Direction, Entry, Event, ExportedFileSystem, FileShare, FileSystemFacts, OnFile, RunFile,
    Segment,
};
use stdx::units::{amount_base10, block_size, count_of};

use crate::facts::answers::answers;

/// If the devices transferred less than this fraction of the bytes that Plateau read or wrote, some I/O did not reach
/// them.
const ALL: f64 = 0.95;

/// I/O issued by Plateau, and I/O of the devices below the file system, over the same workloads.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Share {
    read: Pair,
    write: Pair,
    flushes: u128,
}

/// Numbers of I/Os and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Pair {
    own_ios: u128,
    own_bytes: u128,
    below_ios: u128,
    below_bytes: u128,
}

impl Pair {
    fn add(&mut self, own: &Direction, below_ios: u64, below_bytes: u64) {
        self.own_ios += u128::from(own.ios);
        self.own_bytes += u128::from(own.bytes);
        self.below_ios += u128::from(below_ios);
        self.below_bytes += u128::from(below_bytes);
    }

    fn bytes_per_byte(&self) -> Option<f64> {
        (self.own_bytes > 0).then(|| self.below_bytes as f64 / self.own_bytes as f64)
    }

    fn ios_per_io(&self) -> Option<f64> {
        (self.own_ios > 0).then(|| self.below_ios as f64 / self.own_ios as f64)
    }
}

impl Share {
    /// Adds up workloads; None if the I/O below the file is not known for any of them. Skips workloads with
    /// verification, because a segment's reads do not include the reads that check the data.
    fn of<'a>(segments: impl IntoIterator<Item = &'a Segment>) -> Option<Self> {
        let mut sum = None;
        for segment in segments {
            let below = segment.on_file.and_then(|on_file| on_file.below);
            let Some(below) = below.filter(|_| !segment.workload.regime.verify) else { continue };
            sum.get_or_insert_with(Self::default).add(segment, &below);
        }
        sum
    }

    fn add(&mut self, segment: &Segment, below: &BelowLoad) {
        self.read.add(&segment.read, below.read_ios, below.read_bytes);
        self.write.add(&segment.write, below.write_ios, below.write_bytes);
        self.flushes += u128::from(below.flushes);
    }

    /// Returns the ratios; a ratio is None if Plateau issued no such I/O.
    fn ratios(&self) -> FileShare {
        let writes = self.write.own_ios;
        FileShare {
            bytes_written_per_byte: self.write.bytes_per_byte(),
            writes_per_write: self.write.ios_per_io(),
            bytes_read_per_byte: self.read.bytes_per_byte(),
            reads_per_read: self.read.ios_per_io(),
            flushes_per_thousand_writes: (writes > 0).then(|| 1e3 * (self.flushes as f64 / writes as f64)),
        }
    }
}

/// Returns the I/O overhead of the file system over several workloads; None if the I/O below the file is not
/// known for any of them.
pub(crate) fn share<'a>(segments: impl IntoIterator<Item = &'a Segment>) -> Option<FileShare> {
    Share::of(segments).as_ref().map(Share::ratios)
}

/// Returns a ratio as printed.
pub(crate) fn printed(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "n/a".into(), |ratio| format!("{ratio:.3}"))
}

/// Returns the file system of a run as exported: as measured or, for an imported run, as stated in the file. None if
/// the target is not a file on a known file system.
pub(crate) fn of_run(run: &RunFile, entries: &[Entry]) -> Option<ExportedFileSystem> {
    if let Some(origin) = &run.origin {
        return origin.file_system.clone();
    }
    let facts = run.file_system.as_ref()?;
    Some(ExportedFileSystem {
        kind: facts.kind.clone(),
        block_bytes: Some(facts.block_bytes),
        mount_options: Some(facts.mount_options.clone()),
        devices: Some(names(facts)),
        words: Some(facts.words()),
        share: share(answers(entries).iter().map(|answer| answer.segment)),
    })
}

fn names(facts: &FileSystemFacts) -> Vec<String> {
    facts.devices.iter().map(|device| device.name.clone()).collect()
}

/// Returns how the file is stored after the last workload; None if it is not known.
fn stored(run: &RunFile, entries: &[Entry]) -> Option<OnFile> {
    if run.origin.is_none() {
        return answers(entries).iter().rev().find_map(|answer| answer.segment.on_file);
    }
    entries.iter().rev().find_map(|entry| match &entry.event {
        Event::Imported(test) => {
            let cells = test.readings.iter().rev().filter_map(|reading| reading.exported.as_ref());
            cells.filter_map(|cell| cell.on_file).next()
        }
        _ => None,
    })
}

/// Describes the file system, its I/O overhead over all workloads of the run, and how the file is stored; None if the
/// target is not a file on a known file system.
pub(crate) fn statement(run: &RunFile, entries: &[Entry]) -> Option<String> {
    let facts = of_run(run, entries)?;
    let known = [
        facts.block_bytes.map(|bytes| format!(", blocks of {}", block_size(u64::from(bytes)))),
        facts.mount_options.as_ref().map(|options| format!(", mounted {options}")),
    ];
    let mut text = format!(
        "File system: {}{}. Results through a file reflect the file system and the device combined; they are \
         not PTS results.",
        facts.words.as_ref().unwrap_or(&facts.kind),
        known.into_iter().flatten().collect::<String>()
    );
    text += &share_text(&facts);
    if let Some(stored) = stored(run, entries) {
        let extents = match stored.extents {
            Some(count) => count_of(count, "extent"),
            None => "an unknown number of extents".into(),
        };
        let size = match run.target.capacity_bytes {
            0 => String::new(),
            bytes => format!("the {} of ", amount_base10(bytes)),
        };
        text += &format!(
            " After the last workload, {} of {size}the file were allocated, in {extents}.",
            amount_base10(stored.allocated_bytes)
        );
    }
    Some(text)
}

fn share_text(facts: &ExportedFileSystem) -> String {
    let Some(share) = facts.share else {
        let why = match facts.devices.as_deref() {
            None => pts::ABSENT,
            Some([]) => "it has no block device, or no known block device",
            Some(_) => "the kernel did not count the I/O of its devices",
        };
        return format!(" Its share is not known: {why}.");
    };
    let devices = facts.devices.as_ref().map_or_else(|| "its devices".into(), |names| names.join(" and "));
    let mut text = format!(
        " Its share, according to the counters of {devices} (which include I/O by other users): per byte that Plateau wrote, \
         {} bytes reached the device; per write, {} writes; per byte read, {} bytes; per read, {} reads; and {} flushes per \
         1,000 writes.",
        printed(share.bytes_written_per_byte),
        printed(share.writes_per_write),
        printed(share.bytes_read_per_byte),
        printed(share.reads_per_read),
        printed(share.flushes_per_thousand_writes)
    );
    let lacking = |name: &str, ratio: Option<f64>| {
        let ratio = ratio.filter(|ratio| *ratio < ALL)?;
        Some(format!(" NOT ALL I/O REACHED THE DEVICE: it {name} {:.1} % of the bytes", 100.0 * ratio))
    };
    let (read, written) =
        (lacking("read", share.bytes_read_per_byte), lacking("wrote", share.bytes_written_per_byte));
    match (read, written) {
        (None, None) => text += " Direct I/O reached the device.",
        (read, written) => {
            for found in [read, written].into_iter().flatten() {
                text += &format!(
                    "{found}; the page cache, compression or holes in the file account for the rest."
                );
            }
        }
    }
    text
}

/// Describes the file system, in place of a drive's interface.
pub(crate) fn words(facts: &ExportedFileSystem) -> String {
    let devices = facts.devices.as_deref().unwrap_or_default();
    let on = if devices.is_empty() { "" } else { " on " };
    format!("file on {}{on}{}", facts.kind, devices.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::samples;

    fn segment(below: Option<BelowLoad>) -> Segment {
        let write = Direction { ios: 1000, bytes: 4_096_000, ..Direction::default() };
        let on_file = Some(OnFile { allocated_bytes: 8192, extents: Some(3), below });
        Segment { write, on_file, ..samples::segment(0) }
    }

    fn below(write_ios: u64, write_bytes: u64) -> Option<BelowLoad> {
        Some(BelowLoad { write_ios, write_bytes, flushes: 5, ..BelowLoad::default() })
    }

    fn facts(share: Option<FileShare>) -> ExportedFileSystem {
        ExportedFileSystem {
            kind: "ext4".into(),
            block_bytes: Some(4096),
            mount_options: Some("rw,relatime".into()),
            devices: Some(vec!["sda1".into()]),
            words: Some("ext4 on sda1".into()),
            share,
        }
    }

    #[test]
    fn the_share_is_the_io_below_per_io_of_plateau() {
        let share =
            share([&segment(below(1100, 4_505_600)), &segment(None), &segment(below(900, 4_096_000))])
                .expect("counted");
        assert_eq!(printed(share.bytes_written_per_byte), "1.050");
        assert_eq!(printed(share.writes_per_write), "1.000");
        assert_eq!(printed(share.flushes_per_thousand_writes), "5.000");
        assert_eq!(printed(share.reads_per_read), "n/a", "it read nothing");
        assert_eq!(super::share([&segment(None)]), None);
    }

    #[test]
    fn io_that_did_not_reach_the_device_is_reported() {
        let text = |bytes| share_text(&facts(share([&segment(below(1000, bytes))])));
        assert!(text(4_096_000).ends_with("Direct I/O reached the device."), "{}", text(4_096_000));
        let cached = text(409_600);
        assert!(cached.contains("NOT ALL I/O REACHED THE DEVICE: it wrote 10.0 % of the bytes"), "{cached}");
        assert!(share_text(&facts(None)).contains("the kernel did not count"));
        let none = ExportedFileSystem { devices: Some(Vec::new()), ..facts(None) };
        assert!(share_text(&none).contains("no block device"));
    }

    #[test]
    fn reads_of_verification_are_not_counted() {
        let mut verified = segment(below(1000, 4_096_000));
        verified.workload.regime.verify = true;
        assert_eq!(share([&verified]), None);
    }
}
