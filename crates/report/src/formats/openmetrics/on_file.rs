//! Overhead of the file system in a run on a file: over the whole run, and for each workload in the window.

use record::FileShare;

use super::super::format::Source;
use super::family::Family;

/// A ratio: name and meaning of the metric.
struct Ratio {
    name: &'static str,
    help: &'static str,
    of: fn(&FileShare) -> Option<f64>,
}

const RATIOS: [Ratio; 5] = [
    Ratio {
        name: "plateau_file_bytes_written_ratio",
        help: "Bytes written to the devices below the file system per byte that Plateau wrote.",
        of: |share| share.bytes_written_per_byte,
    },
    Ratio {
        name: "plateau_file_writes_ratio",
        help: "Writes of the devices below the file system per write of Plateau.",
        of: |share| share.writes_per_write,
    },
    Ratio {
        name: "plateau_file_bytes_read_ratio",
        help: "Bytes read from the devices below the file system per byte that Plateau read.",
        of: |share| share.bytes_read_per_byte,
    },
    Ratio {
        name: "plateau_file_reads_ratio",
        help: "Reads of the devices below the file system per read of Plateau.",
        of: |share| share.reads_per_read,
    },
    Ratio {
        name: "plateau_file_flushes_ratio",
        help: "Flushes of the devices below the file system per write of Plateau.",
        of: |share| share.flushes_per_thousand_writes.map(|flushes| flushes / 1e3),
    },
];

/// Returns the metrics of a run on a file; empty if the I/O of the devices is not known. Samples without a test are
/// for the whole run.
pub(super) fn families(source: Source<'_>) -> Vec<Family<'_>> {
    let Some(facts) = &source.document.file_system else { return Vec::new() };
    let kind = ("file_system", facts.kind.as_str());
    let of = |ratio: &Ratio| {
        let run = facts.share.and_then(|share| Some((vec![kind], (ratio.of)(&share)?.into())));
        let workloads = source.document.per_workload.iter().flat_map(|one| {
            let test = ("test", one.test.as_str());
            one.file_share.iter().filter_map(move |workload| {
                let labels = vec![kind, test, ("workload", workload.workload.as_str())];
                Some((labels, (ratio.of)(&workload.share?)?.into()))
            })
        });
        let samples = run.into_iter().chain(workloads).collect();
        Family { name: ratio.name, unit: "", help: ratio.help, samples }
    };
    RATIOS.iter().map(of).filter(|family| !family.samples.is_empty()).collect()
}
