//! What the commands of a job carry beyond data, offset and length.

use engine::Engine;
use record::{Commands, IoPriority};

use super::Job;
use super::priority::Priorities;

/// Class of I/Os for which only a level or a hint is given, as in fio.
const BEST_EFFORT: u8 = 2;

impl Job {
    /// Checks that the options about commands can be combined.
    pub(crate) fn check_commands(&self) -> Result<(), String> {
        let without_flags = matches!(
            self.engine,
            Engine::IoUringCmd | Engine::Scsi | Engine::Null | Engine::Space(_) | Engine::Files(_)
        );
        if self.commands.atomic && without_flags {
            return Err("atomic needs an ioengine that writes with system calls or io_uring".into());
        }
        self.check_priorities()?;
        self.check_nvme()?;
        self.check_scsi()?;
        self.check_zoned()
    }

    fn check_priorities(&self) -> Result<(), String> {
        let Priorities { percent, split, .. } = &self.commands.priorities;
        let (has_percent, has_split) = (*percent != [0; 2], split.iter().any(|shares| !shares.is_empty()));
        if has_percent && has_split {
            return Err("cmdprio_percentage and cmdprio_bssplit are mutually exclusive".into());
        }
        if (has_percent || has_split) && !matches!(self.engine, Engine::IoUring | Engine::Libaio) {
            return Err("cmdprio_percentage and cmdprio_bssplit need ioengine=io_uring or libaio".into());
        }
        Ok(())
    }

    /// Returns what the job's commands carry beyond data, offset and length; `None` for nothing.
    pub(crate) fn commands(&self) -> Option<Box<Commands>> {
        let priority = self.commands.priorities.of_job.map(|given| IoPriority {
            class: if given.class == 0 { BEST_EFFORT } else { given.class },
            ..given
        });
        let reads = self.read_percent();
        // As in fio, only reads and writes have priorities of their own.
        let directions = [(0, reads > 0), (1, reads < 100 && !self.trims)];
        let used = directions.into_iter().filter(|(_, is_used)| *is_used);
        let priority_shares =
            used.flat_map(|(direction, _)| self.commands.priorities.shares(direction)).collect();
        let commands = Commands {
            priority,
            priority_shares,
            atomic: self.commands.atomic && self.writes() && !self.trims,
            shared_blocks: self.shares_blocks() && self.writes(),
            write_modes: self.write_modes(),
            trim_ranges: self.trim_ranges(),
            data_placement: self.data_placement(),
            scsi: self.scsi_commands(),
            zoned: self.zoned(),
        };
        (commands != Commands::default()).then(|| Box::new(commands))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Job, Surroundings, parse};
    use record::{Commands, IoPriority, PriorityShare};

    fn commands(options: &str) -> Result<Option<Commands>, String> {
        let text = format!("[a]\nioengine=libaio\n{}\n", options.replace(' ', "\n"));
        let job = parse("x", &text, &Job::default(), &Surroundings::none()).expect("known options").remove(0);
        Ok(job.streams(1 << 30, 0, 1)?.remove(0).commands.map(|commands| *commands))
    }

    fn shares(options: &str) -> Vec<(bool, Option<u32>, u8, String)> {
        let commands = commands(options).expect("a load").expect("priorities");
        let row = |share: &PriorityShare| {
            (share.read, share.block_bytes, share.share_percent, share.priority.to_string())
        };
        commands.priority_shares.iter().map(row).collect()
    }

    #[test]
    fn the_defaults_are_those_of_fio() {
        assert_eq!(commands("rw=randrw").unwrap(), None);
        assert_eq!(commands("cmdprio_class=1 cmdprio=3").unwrap(), None, "no I/O has it");
        let job = |options: &str| commands(options).unwrap().expect("a priority").priority;
        assert_eq!(job("prioclass=3"), Some(IoPriority { class: 3, level: 0, hint: 0 }));
        assert_eq!(job("prio=7"), Some(IoPriority { class: 2, level: 7, hint: 0 }));
        assert_eq!(job("priohint=2 prioclass=1"), Some(IoPriority { class: 1, level: 0, hint: 2 }));
        assert_eq!(shares("rw=randread cmdprio_percentage=20"), [(true, None, 20, "1/0/0".into())]);
        let both = "rw=randrw cmdprio_percentage=20,0 cmdprio_class=2 cmdprio=5 cmdprio_hint=1";
        assert_eq!(shares(both), [(true, None, 20, "2/5/1".into())]);
    }

    #[test]
    fn entries_by_size_may_have_priorities_of_their_own() {
        let options = "rw=randrw bssplit=64k/40:1024k/60,1024k/100 cmdprio_bssplit=64k/25/1/1:64k/75/3/2:1024k/0,1024k/0";
        assert_eq!(
            shares(options),
            [(true, Some(65536), 25, "1/1/0".into()), (true, Some(65536), 75, "3/2/0".into())]
        );
        let simple = "rw=randwrite cmdprio_bssplit=4k/50:8k/ cmdprio_class=2 cmdprio=1";
        assert_eq!(shares(simple), [(false, Some(4096), 50, "2/1/0".into())]);
        let hints = "rw=randread cmdprio_bssplit=1M/10/2/0/1";
        assert_eq!(shares(hints), [(true, Some(1 << 20), 10, "2/0/1".into())]);
    }

    #[test]
    fn impossible_combinations_say_why() {
        for (options, expected) in [
            ("rw=randread cmdprio_percentage=20 cmdprio_bssplit=4k/10", "mutually exclusive"),
            ("rw=randread cmdprio_percentage=20 ioengine=psync", "need ioengine=io_uring or libaio"),
        ] {
            let error = commands(options).expect_err(expected);
            assert!(error.contains(expected), "{options}: {error}");
        }
        let exceeding = "[a]\nioengine=libaio\nrw=randread\ncmdprio_bssplit=4k/60:4k/60/2/0\n";
        let jobs = parse("x", exceeding, &Job::default(), &Surroundings::none()).expect("known options");
        let workload = jobs[0].streams(1 << 30, 0, 1).expect("a load").remove(0);
        assert!(workload.validate(1 << 30, 512).is_err_and(|error| error.to_string().contains("100 %")));
    }
}
