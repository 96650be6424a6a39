//! Jobs without a device: no I/O at all, or files that are created, inspected or deleted instead of transferring data.

use engine::{Engine, FolderFiles, Polling, SpaceCall};
use record::{Access, Syncs};

use super::Job;
use super::job::BlockShare;
use super::strides::Strides;
use super::values::Size;

/// Largest file. A file counts as one I/O of its length.
const MOST_BYTES: u32 = 1 << 30;

impl Job {
    /// Returns whether the job accesses no target.
    pub fn is_loose(&self) -> bool {
        matches!(self.engine, Engine::Null | Engine::Files(_))
    }

    /// Returns one job for each clone, with the files that fio would give it.
    pub(crate) fn on_files(self) -> Result<Vec<Self>, String> {
        if !self.names_no_target() {
            return Err("the files of this ioengine are named after the job: omit filename".into());
        }
        let count = u64::from(self.files.count);
        let file_bytes = match (self.files.size_bytes, self.size) {
            (Some(bytes), _) => bytes,
            (None, Some(Size::Bytes(bytes))) => bytes / count,
            _ => 0,
        };
        let block_bytes = u32::try_from(file_bytes).ok().filter(|bytes| (1..=MOST_BYTES).contains(bytes));
        let block_bytes = block_bytes.ok_or("this ioengine needs a filesize from 1 to 1g")?;
        let block = vec![BlockShare { block_bytes, share_percent: 100 }];
        let mut jobs = Vec::new();
        for clone in 0..self.numjobs {
            let names: Vec<String> = (0..self.files.count).map(|file| self.formatted(clone, file)).collect();
            if names.iter().any(|name| name.contains('/')) {
                return Err("names with folders are not supported by this ioengine; use directory".into());
            }
            let folders = &self.files.folders;
            let folder = folders.get(usize::from(clone) % folders.len().max(1)).map_or(".", String::as_str);
            jobs.push(Self {
                filename: Some(self.path(&names[0], clone)),
                folder_files: Some(FolderFiles { folder: folder.to_owned(), names, file_bytes }),
                numjobs: 1,
                size: Some(Size::Bytes(count * file_bytes)),
                blocks: [block.clone(), block.clone()],
                continues: self.continues || clone > 0,
                ..self.clone()
            });
        }
        Ok(jobs)
    }

    fn check_space(&self, call: SpaceCall) -> Result<(), String> {
        if self.verify {
            return Err("this ioengine writes no data, so there is nothing to verify".into());
        }
        if call == SpaceCall::Truncate && (self.trims || self.reads != Some(0)) {
            return Err("ftruncate: only rw=write and rw=randwrite are supported".into());
        }
        Ok(())
    }

    /// Checks that a job without a target requests nothing that needs one.
    pub(crate) fn check_loose(&self) -> Result<(), String> {
        if let Engine::Space(call) = self.engine {
            return self.check_space(call);
        }
        if !self.is_loose() {
            return Ok(());
        }
        if self.trims || self.verify || self.polling != Polling::No {
            return Err("this ioengine accesses no target, so it cannot trim, verify or poll".into());
        }
        if !matches!(self.engine, Engine::Files(_)) {
            return Ok(());
        }
        if self.access == Access::Random || self.reads.is_none() {
            return Err("each file is used once, in order: only rw=read and rw=write are supported".into());
        }
        let repeats = self.loops > 1 || self.time_based || self.io_size.is_some();
        if repeats || self.offset != Size::Bytes(0) || self.strides != Strides::default() {
            return Err(
                "each file is used once, in order: omit loops, time_based, io_size, offset and zones".into(),
            );
        }
        if self.writes() && self.syncs != Syncs::NONE {
            return Err("this ioengine writes no data, so there is nothing to sync".into());
        }
        Ok(())
    }
}

/// Checks that no other job uses a file whose length changes.
///
/// # Errors
/// Returns the position of such a job, and a description of the problem.
pub fn check_lengths(jobs: &[Job]) -> Result<(), (usize, String)> {
    let truncates = |job: &Job| job.engine == Engine::Space(SpaceCall::Truncate);
    let is_shared = |job: &Job| jobs.iter().any(|other| truncates(other) && other.filename == job.filename);
    match jobs.iter().position(|job| !truncates(job) && is_shared(job)) {
        None => Ok(()),
        Some(job) => Err((job, "another job changes the length of the file with ioengine=ftruncate".into())),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Job, Surroundings, parse};

    fn expanded(options: &str) -> Result<Vec<Job>, String> {
        let text = format!("[a]\n{}\n", options.replace(' ', "\n"));
        parse("x", &text, &Job::default(), &Surroundings::none()).expect("known options").remove(0).expanded()
    }

    #[test]
    fn every_clone_has_files_of_its_own() {
        let options = "ioengine=filestat numjobs=3 nrfiles=2 filesize=4k directory=x:y";
        let jobs = expanded(options).expect("jobs");
        let files: Vec<_> = jobs.iter().map(|job| job.folder_files.clone().expect("files")).collect();
        assert_eq!(files.iter().map(|files| &*files.folder).collect::<Vec<_>>(), ["x", "y", "x"]);
        assert_eq!(files[1].names, ["a.1.0", "a.1.1"]);
        assert_eq!(jobs.iter().map(|job| job.continues).collect::<Vec<_>>(), [false, true, true]);
        let workload = jobs[0].streams(8192, 0, 1).expect("a workload").remove(0);
        assert_eq!((workload.block_bytes, workload.queue_depth), (4096, 1));
        assert_eq!(workload.until, record::Until::AmountBytes(8192));
    }

    #[test]
    fn jobs_without_a_target_refuse_what_needs_one() {
        for (options, expected) in [
            ("ioengine=filedelete filesize=4k filename=x", "omit filename"),
            ("ioengine=filedelete", "needs a filesize"),
            ("ioengine=filecreate filesize=4k filename_format=../$filenum", "names with folders"),
            ("ioengine=filecreate filesize=4k loops=2", "each file is used once"),
            ("ioengine=filecreate filesize=4k rw=randread", "each file is used once"),
            ("ioengine=filecreate filesize=4k rw=write fsync=1", "nothing to sync"),
            ("ioengine=falloc size=1m filename=x rw=write verify=md5", "nothing to verify"),
            ("ioengine=ftruncate size=1m filename=x rw=read", "only rw=write"),
            ("ioengine=ftruncate size=1m filename=x rw=randtrim", "only rw=write"),
            ("ioengine=null size=1m rw=randtrim", "accesses no target"),
            ("ioengine=null size=1m rw=write verify=md5", "accesses no target"),
        ] {
            let result = expanded(options).and_then(|jobs| jobs[0].streams(1 << 20, 0, 1));
            let error = result.expect_err(expected);
            assert!(error.contains(expected), "{options}: {error}");
        }
    }
}
