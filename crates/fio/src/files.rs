//! The files of a job. A job with several targets is split into several jobs with one target each.

use engine::Engine;

use super::Job;
use super::values::Size;

/// The file names that fio uses for jobs without `filename`.
const FORMAT: &str = "$jobname.$jobnum.$filenum";
/// Every file is open during the load.
const MOST_FILES: u32 = 512;

impl Job {
    /// Returns whether the job specifies no target, so that it uses files named after the job.
    pub fn names_no_target(&self) -> bool {
        self.files.names.is_empty() && self.filename.is_none()
    }

    /// Returns one job for each target of this job; all but the first are continuations. Without `filename`, each clone
    /// has its own files.
    ///
    /// # Errors
    /// Returns an error if the job creates files that are named after it but specifies no size for them.
    pub fn expanded(self) -> Result<Vec<Self>, String> {
        if matches!(self.engine, Engine::Files(_)) {
            return self.on_files();
        }
        if self.names_no_target() {
            return self.with_own_files();
        }
        let names = match &self.files.names[..] {
            [] => self.filename.iter().cloned().collect(),
            names => names.to_vec(),
        };
        let paths = names.iter().map(|name| self.path(name, 0));
        let paths: Vec<String> = paths.map(|path| self.block_device(path)).collect();
        let clones = self.numjobs;
        Ok(self.divided(&paths, clones))
    }

    fn with_own_files(self) -> Result<Vec<Self>, String> {
        if self.size.is_none() && self.files.size_bytes.is_none() {
            return Err(
                "neither filename nor size is set: specify a target, or the size of the files to create"
                    .into(),
            );
        }
        let (clones, files) = (self.numjobs, self.files.count);
        if u32::from(clones) * u32::from(files) > MOST_FILES {
            return Err(format!(
                "{clones} clones with {files} files each; up to {MOST_FILES} files are supported"
            ));
        }
        let mut jobs = Vec::new();
        for clone in 0..clones {
            let paths: Vec<String> =
                (0..files).map(|file| self.path(&self.formatted(clone, file), clone)).collect();
            jobs.extend(self.clone().divided(&paths, 1));
        }
        for job in jobs.iter_mut().skip(1) {
            job.continues = true;
        }
        Ok(jobs)
    }

    pub(crate) fn formatted(&self, clone: u16, file: u16) -> String {
        let format = self.files.format.as_deref().unwrap_or(FORMAT);
        format
            .replace("$jobname", &self.name)
            .replace("$jobnum", &clone.to_string())
            .replace("$filenum", &file.to_string())
    }

    /// Returns the block device of the same NVMe namespace if `path` is its character device, to which `io_uring_cmd` sends
    /// its commands here as well.
    fn block_device(&self, path: String) -> String {
        let (folder, name) = path.split_at(path.rfind('/').map_or(0, |slash| slash + 1));
        match name.strip_prefix("ng") {
            Some(rest)
                if self.engine == Engine::IoUringCmd
                    && rest.starts_with(|first: char| first.is_ascii_digit()) =>
            {
                format!("{folder}nvme{rest}")
            }
            _ => path,
        }
    }

    pub(crate) fn path(&self, name: &str, clone: u16) -> String {
        match &self.files.folders[..] {
            [] => name.to_owned(),
            _ if name.starts_with("sim:") || name.starts_with("array:") => name.to_owned(),
            folders => {
                let folder = folders[usize::from(clone) % folders.len()].trim_end_matches('/');
                format!("{folder}/{}", name.trim_start_matches('/'))
            }
        }
    }

    /// Returns one job for each path, with equal parts of the size, the amount and the depth.
    fn divided(mut self, paths: &[String], clones: u16) -> Vec<Self> {
        let count = paths.len().max(1) as u64;
        let part = |size: Size| match size {
            Size::Bytes(bytes) => Size::Bytes(bytes / count),
            Size::Zones(zones) => Size::Zones(zones / count),
            percent @ Size::Percent(_) => percent,
        };
        self.numjobs = clones;
        self.io_size = self.io_size.map(part);
        self.size = self.size.map(part);
        if let Some(file_bytes) = self.files.size_bytes {
            match self.size {
                // As in fio, the job may access the whole file, and `size` is the amount.
                Some(Size::Bytes(bytes)) if bytes < file_bytes => {
                    self.io_size.get_or_insert(Size::Bytes(bytes));
                    self.size = Some(Size::Bytes(file_bytes));
                }
                Some(percent @ Size::Percent(_)) => self.size = Some(Size::Bytes(percent.of(file_bytes))),
                _ => self.size = Some(Size::Bytes(file_bytes)),
            }
        }
        self.number_ios = self.number_ios.map(|ios| (ios / count).max(1));
        self.rate_bytes = self.rate_bytes.map(|rates| rates.map(|rate| rate / count));
        if count > 1 {
            self.iodepth = (u64::from(self.iodepth) / count).max(1) as u16;
            self.remark(&format!(
                "{count} targets, each with {} of its own: fio would access them in turn",
                stdx::units::count_of(self.depth(), "outstanding I/O")
            ));
        }
        // The parts add up to the whole, unless there are more targets than I/Os per second.
        let rate_part = |rate: u32, index: usize| {
            let more = u64::from(rate) % count > index as u64;
            ((u64::from(rate) / count) as u32 + u32::from(more)).max(rate.min(1))
        };
        let job = |(index, path): (usize, &String)| Self {
            filename: Some(path.clone()),
            rate_iops: self.rate_iops.map(|rates| rates.map(|rate| rate_part(rate, index))),
            continues: self.continues || index > 0,
            ..self.clone()
        };
        paths.iter().enumerate().map(job).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Job, Surroundings, parse};

    fn paths(options: &str) -> Vec<String> {
        let text = format!("[a]\n{}\n", options.replace(' ', "\n"));
        let jobs = parse("x", &text, &Job::default(), &Surroundings::none()).expect("known options");
        let jobs = jobs.into_iter().flat_map(|job| job.expanded().expect("targets"));
        jobs.map(|job| job.filename.expect("a target")).collect()
    }

    #[test]
    fn files_have_the_names_that_fio_gives_them() {
        assert_eq!(paths("size=8m numjobs=2"), ["a.0.0", "a.1.0"]);
        assert_eq!(paths("size=8m nrfiles=2 directory=/x/"), ["/x/a.0.0", "/x/a.0.1"]);
        assert_eq!(paths("size=8m numjobs=3 directory=x:y"), ["x/a.0.0", "y/a.1.0", "x/a.2.0"]);
        assert_eq!(paths("filesize=8m filename_format=$jobname-f$filenum"), ["a-f0"]);
        assert_eq!(paths("filename=one:two numjobs=2"), ["one", "two"]);
        assert_eq!(paths("filename=a\\:b directory=d"), ["d/a:b"]);
        assert_eq!(paths("filename=sim:sas-slc-2011"), ["sim:sas-slc-2011"]);
        assert_eq!(paths("filename=/dev/ng0n1 ioengine=io_uring_cmd"), ["/dev/nvme0n1"]);
        assert_eq!(paths("filename=/dev/ng0n1:ngc ioengine=libaio"), ["/dev/ng0n1", "ngc"]);
    }

    #[test]
    fn several_targets_share_size_amount_and_depth() {
        let text = "[a]\nfilename=x:y\nsize=8m\niodepth=9\nnumber_ios=100\n";
        let jobs = parse("x", text, &Job::default(), &Surroundings::none()).unwrap();
        let jobs = jobs[0].clone().expanded().unwrap();
        assert_eq!(jobs.iter().map(|job| job.continues).collect::<Vec<_>>(), [false, true]);
        for job in jobs {
            let workload = job.streams(1 << 30, 0, 1).unwrap().remove(0);
            assert_eq!((workload.queue_depth, workload.range.segment_bytes), (4, 4 << 20));
            assert_eq!(workload.until, record::Until::AmountBytes(50 * 4096));
            assert!(
                job.notes().iter().any(|note| note.contains("2 targets, each with 4 outstanding")),
                "{:?}",
                job.notes()
            );
        }
    }

    #[test]
    fn the_rates_of_several_targets_add_up() {
        for (rate, expected) in [(100, [34, 33, 33]), (5, [2, 2, 1]), (3, [1, 1, 1])] {
            let text = format!("[a]\nrw=randread\nfilename=x:y:z\nrate_iops={rate}\n");
            let jobs = parse("x", &text, &Job::default(), &Surroundings::none()).unwrap();
            let jobs = jobs[0].clone().expanded().unwrap();
            let rates = jobs.iter().map(|job| job.streams(1 << 30, 0, 1).unwrap()[0].regime.arrivals);
            let rates: Vec<u32> = rates.map(|arrivals| arrivals.unwrap().per_second).collect();
            assert_eq!(rates, expected);
        }
    }

    /// Compared with fio 3.33.
    #[test]
    fn with_filesize_size_is_the_amount() {
        const MIB: u64 = 1 << 20;
        for (options, range_mib, amount_mib) in [
            ("filesize=64m\nsize=8m", 64, 8),
            ("filesize=64m\nsize=8m\nnrfiles=2", 64, 4),
            ("filesize=64m\nsize=50%", 32, 32),
            ("filesize=8m\nsize=64m", 8, 8),
            ("filesize=64m\nnrfiles=2", 64, 64),
            ("filesize=64m\nsize=8m\nio_size=2m", 64, 2),
        ] {
            let text = format!("[a]\nrw=randread\n{options}\n");
            let jobs = parse("x", &text, &Job::default(), &Surroundings::none()).unwrap();
            let job = jobs[0].clone().expanded().unwrap().remove(0);
            let workload = job.streams(1 << 30, 0, 1).unwrap().remove(0);
            assert_eq!(workload.range.segment_bytes, range_mib * MIB, "{options}");
            assert_eq!(workload.until, record::Until::AmountBytes(amount_mib * MIB), "{options}");
        }
    }

    #[test]
    fn a_new_file_needs_a_size() {
        let jobs = parse("x", "[a]\nrw=read\n", &Job::default(), &Surroundings::none()).unwrap();
        assert!(jobs[0].clone().expanded().unwrap_err().contains("neither filename nor size"));
    }
}
