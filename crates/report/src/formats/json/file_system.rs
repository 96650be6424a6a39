//! The file system of a target that is a file, and its I/O overhead.

use record::{BelowLoad, ExportedFileSystem, OnFile};

use super::on_file::{BelowIo, CellOnFile, FileShare, ReportFileSystem, TestFileShare};
use crate::document::contents::Document;

pub(super) fn of_run(facts: &ExportedFileSystem) -> ReportFileSystem {
    ReportFileSystem {
        kind: facts.kind.clone(),
        block_bytes: facts.block_bytes,
        mount_options: facts.mount_options.clone(),
        devices: facts.devices.clone(),
        words: facts.words.clone(),
        share: facts.share.map(share),
    }
}

pub(super) fn of_cell(on_file: OnFile) -> CellOnFile {
    CellOnFile {
        allocated_bytes: on_file.allocated_bytes,
        extents: on_file.extents,
        below: on_file.below.map(below),
    }
}

pub(super) fn of_test(document: &Document, test: &str) -> Vec<TestFileShare> {
    let all = document.per_workload.iter().filter(|one| one.test == test);
    all.flat_map(|one| &one.file_share)
        .map(|workload| TestFileShare {
            workload: workload.workload.clone(),
            share: workload.share.map(share),
            extents: workload.extents,
        })
        .collect()
}

fn below(load: BelowLoad) -> BelowIo {
    BelowIo {
        read_ios: load.read_ios,
        read_bytes: load.read_bytes,
        write_ios: load.write_ios,
        write_bytes: load.write_bytes,
        flushes: load.flushes,
    }
}

fn share(share: record::FileShare) -> FileShare {
    FileShare {
        bytes_written_per_byte: share.bytes_written_per_byte,
        writes_per_write: share.writes_per_write,
        bytes_read_per_byte: share.bytes_read_per_byte,
        reads_per_read: share.reads_per_read,
        flushes_per_thousand_writes: share.flushes_per_thousand_writes,
    }
}
