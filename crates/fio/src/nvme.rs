//! The NVMe commands of a job.

use engine::Engine;
use record::{DataPlacement, WriteModeShare};

use super::Job;
use super::nvme_options::NvmeOptions;

impl Job {
    /// Checks that the options about NVMe commands can be combined.
    pub(crate) fn check_nvme(&self) -> Result<(), String> {
        let NvmeOptions { trim_ranges, places_data, .. } = self.commands.nvme;
        let replaces_writes = self.commands.nvme.replaces_writes();
        if !(trim_ranges > 1 || places_data || replaces_writes) {
            return Ok(());
        }
        if self.engine != Engine::IoUringCmd {
            return Err("write_mode, num_range above 1 and fdp need ioengine=io_uring_cmd".into());
        }
        if trim_ranges > 1 && !self.trims {
            return Err("num_range above 1 is for jobs that trim: rw=trim or rw=randtrim".into());
        }
        if trim_ranges > 1 && self.rate_bytes.is_some() {
            return Err("num_range above 1 cannot be combined with rate; use rate_iops".into());
        }
        if replaces_writes && (!self.writes() || self.trims) {
            return Err("write_mode is for jobs that write".into());
        }
        if replaces_writes && self.verify {
            return Err("write_mode cannot be combined with verify, which needs written data".into());
        }
        Ok(())
    }

    /// Returns the NVMe commands that take the place of writes; empty for plain writes.
    pub(crate) fn write_modes(&self) -> Vec<WriteModeShare> {
        if self.commands.nvme.replaces_writes() { self.commands.nvme.write_modes.clone() } else { Vec::new() }
    }

    /// Returns the number of ranges of each trim; 0 for trims by any means.
    pub(crate) fn trim_ranges(&self) -> u16 {
        if self.trims && self.commands.nvme.trim_ranges > 1 { self.commands.nvme.trim_ranges } else { 0 }
    }

    /// Returns where the drive places written data; `None` if it decides itself.
    pub(crate) fn data_placement(&self) -> Option<DataPlacement> {
        (self.commands.nvme.places_data && self.writes() && !self.trims)
            .then(|| self.commands.nvme.placement.clone())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Job, Surroundings, parse, set};
    use record::{Commands, WriteMode};

    fn commands(options: &str) -> Result<Option<Commands>, String> {
        let text = format!("[a]\nioengine=io_uring_cmd\n{}\n", options.replace(' ', "\n"));
        let job = parse("x", &text, &Job::default(), &Surroundings::none()).expect("known options").remove(0);
        Ok(job.streams(1 << 30, 0, 1)?.remove(0).commands.map(|commands| *commands))
    }

    fn modes(value: &str) -> Vec<(WriteMode, u8)> {
        let commands = commands(&format!("rw=write write_mode={value}")).expect("a load").expect("commands");
        commands.write_modes.iter().map(|share| (share.mode, share.share_percent)).collect()
    }

    #[test]
    fn options_become_commands() {
        use WriteMode::{Uncorrectable, Verify, Write, Zeroes};
        let mixed = "write/40:zeroes/30:uncor/20:verify/10";
        assert_eq!(modes(mixed), [(Write, 40), (Zeroes, 30), (Uncorrectable, 20), (Verify, 10)]);
        assert_eq!(modes("write/50:zeroes/:uncor/"), [(Write, 50), (Zeroes, 25), (Uncorrectable, 25)]);
        assert_eq!(modes("zeroes"), [(Zeroes, 100)]);
        assert_eq!(commands("rw=write write_mode=write"), Ok(None));
        let ranges = |options: &str| commands(options).expect("a load").map(|commands| commands.trim_ranges);
        assert_eq!(ranges("rw=randtrim num_range=8"), Some(8));
        assert_eq!(ranges("rw=randtrim num_range=1"), None);
        let text = "[a]\nioengine=io_uring_cmd\nrw=randtrim\nbs=4k\nnumber_ios=20\nnum_range=8\n";
        let job = parse("x", text, &Job::default(), &Surroundings::none()).expect("known options").remove(0);
        let until = job.streams(1 << 30, 0, 1).expect("a load").remove(0).until;
        assert_eq!(until, record::Until::AmountBytes(20 * 8 * 4096), "twenty trims of eight ranges each");
        let placed = |options: &str| {
            let commands = commands(options).expect("a load").expect("commands");
            commands.data_placement.map(|placement| (placement.handles, placement.random))
        };
        assert_eq!(placed("rw=randrw fdp=1"), Some((Vec::new(), false)));
        assert_eq!(placed("rw=write fdp=1 fdp_pli=1,3-5"), Some((vec![1, 3, 4, 5], false)));
        assert_eq!(placed("rw=write dataplacement=fdp plids=6 plid_select=random"), Some((vec![6], true)));
        assert_eq!(commands("rw=read fdp=1"), Ok(None), "only writes are placed");
    }

    #[test]
    fn impossible_options_say_why() {
        for (options, expected) in [
            ("rw=write write_mode=zeroes ioengine=io_uring", "need ioengine=io_uring_cmd"),
            ("rw=trim num_range=8 ioengine=libaio", "need ioengine=io_uring_cmd"),
            ("rw=write num_range=8", "jobs that trim"),
            ("rw=trim num_range=8 rate=1m", "use rate_iops"),
            ("rw=read write_mode=zeroes", "jobs that write"),
            ("rw=trim write_mode=zeroes", "jobs that write"),
            ("rw=write write_mode=zeroes verify=md5", "verify"),
        ] {
            let error = commands(options).expect_err(expected);
            assert!(error.contains(expected), "{options}: {error}");
        }
        for (name, value, expected) in [
            ("write_mode", "zone_append", "write, zeroes, uncor and verify"),
            ("write_mode", "write/60:zeroes/50", "110 %"),
            ("num_range", "257", "1 to 256"),
            ("dataplacement", "streams", "none and fdp"),
            ("fdp_pli", "5-1", "ranges"),
            ("fdp_pli", "", "missing"),
            ("plid_select", "scheme", "roundrobin and random"),
        ] {
            let error = set(&mut Job::default(), name, Some(value)).expect_err(expected);
            assert!(error.contains(expected), "{name}={value}: {error}");
        }
    }
}
