//! The zones of a zoned block device in a job: `zonemode=zbd`.

use engine::{Engine, Polling};
use record::{Access, Zoned};

use super::Job;
use super::zone_options::ZoneOptions;

impl Job {
    /// Checks that `zonemode=zbd` can be combined with the other options.
    pub(crate) fn check_zoned(&self) -> Result<(), String> {
        let zones = &self.commands.zoned;
        if self.uses_zones_as_unit() && self.strides.zone_bytes == 0 {
            return Err("offset and size in zones (z) need a zonesize".into());
        }
        if !zones.is_on {
            return match zones.given.first() {
                Some(name) => Err(format!("{name} needs zonemode=zbd")),
                None => Ok(()),
            };
        }
        if !matches!(self.engine, Engine::Auto | Engine::IoUring | Engine::Libaio | Engine::Threads) {
            return Err("zonemode=zbd needs an ioengine of the block layer: io_uring, libaio or psync".into());
        }
        let Some(problem) = self.zoned_problem() else { return Ok(()) };
        Err(format!("zonemode=zbd cannot be combined with {problem}"))
    }

    fn zoned_problem(&self) -> Option<&'static str> {
        let is_mix = self.mixed_reads().is_ok_and(|reads| reads > 0 && reads < 100);
        let has_priorities = !self.commands.priorities.is_none();
        [
            (self.verify, "verify: a zone that is reset before all of it is read back loses its data"),
            (
                self.rate_iops.is_some() || self.rate_bytes.is_some(),
                "a rate: a schedule does not wait for zones",
            ),
            (self.access == Access::Sequential && is_mix, "rw=rw; use randrw, or one job for each direction"),
            (self.strides.skip_bytes != 0, "a number of bytes to skip in rw"),
            (self.strides.zone_skip_bytes > 0, "zoneskip; every zone of the range is used"),
            (self.order.blocks.is_some() || self.sprandom.is_on, "sprandom or a sequence of offsets"),
            (
                self.continues_after.tolerated() != record::Tolerated::NONE,
                "continue_on_error: the write pointer is unknown after an error",
            ),
            (self.commands.atomic || has_priorities, "atomic writes or I/O priorities"),
            (self.polling != Polling::No && self.trims, "polling; a reset of a zone is not polled"),
            (self.trims && self.commands.nvme.trim_ranges > 1, "num_range: a trim resets one zone"),
        ]
        .into_iter()
        .find_map(|(is_so, problem)| is_so.then_some(problem))
    }

    /// Returns how the job uses the zones of its target; `None` without `zonemode=zbd`.
    pub(crate) fn zoned(&self) -> Option<Zoned> {
        let ZoneOptions { is_on, how, .. } = &self.commands.zoned;
        is_on
            .then_some(Zoned { zone_bytes: self.strides.zone_bytes, ..*how })
            .map(|zoned| self.for_direction(zoned))
    }

    /// Omits what has no effect on a job that does not write, or does not read.
    fn for_direction(&self, zoned: Zoned) -> Zoned {
        let writes_data = self.writes() && !self.trims;
        Zoned {
            max_open_zones: if writes_data { zoned.max_open_zones } else { 0 },
            thread_max_open_zones: if writes_data { zoned.thread_max_open_zones } else { 0 },
            early_resets: self.commands.zoned.early_resets().filter(|_| writes_data),
            reads_beyond: zoned.reads_beyond && self.read_percent() > 0,
            ..zoned
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Job, Surroundings, parse};
    use record::{EarlyResets, Workload, Zoned};

    const GIB: u64 = 1 << 30;
    const ZONE: u64 = 256 << 20;

    fn workloads(options: &str) -> Result<Vec<Workload>, String> {
        let text = format!("[a]\nzonemode=zbd\nzonesize=256M\n{}\n", options.replace(' ', "\n"));
        let jobs = parse("x", &text, &Job::default(), &Surroundings::none())?;
        jobs[0].streams(1024 * GIB, 0, 1)
    }

    fn zoned(options: &str) -> Zoned {
        let mut workloads = workloads(options).expect("a load");
        workloads.remove(0).zoned().expect("zones")
    }

    #[test]
    fn options_are_those_of_the_examples() {
        let plain = Zoned { zone_bytes: ZONE, ..Zoned::default() };
        assert_eq!(zoned("rw=randwrite max_open_zones=32 bs=512K"), Zoned { max_open_zones: 32, ..plain });
        assert_eq!(zoned("rw=read read_beyond_wp=0"), plain);
        assert_eq!(zoned("rw=randtrim bs=256M size=128z offset=524z"), plain);
        let early = EarlyResets { threshold_milli: 700, per_thousand_writes: 125 };
        let resets = "zone_reset_threshold=0.7 zone_reset_frequency=0.125";
        let with = Zoned { early_resets: Some(early), ..plain };
        assert_eq!(zoned(&format!("rw=randwrite {resets}")), with);
        // Without a frequency, a threshold has no effect, and neither has any effect on reads.
        assert_eq!(zoned("rw=randwrite zone_reset_threshold=0.7"), plain);
        assert_eq!(zoned(&format!("rw=randread max_open_zones=3 {resets}")), plain);
        let own = zoned("rw=randwrite job_max_open_zones=2 max_open_zones=9");
        assert_eq!((own.thread_max_open_zones, own.max_open_zones), (2, 9));
        assert!(zoned("rw=randrw read_beyond_wp=1").reads_beyond);
    }

    #[test]
    fn sizes_are_counted_in_zones() {
        let range = |options: &str| {
            let range = workloads(options).expect("a load").remove(0).range;
            (range.start_bytes / ZONE, range.segment_bytes / ZONE)
        };
        assert_eq!(range("rw=randwrite offset=524z size=128z"), (524, 128));
        assert_eq!(range("rw=read offset=140660178944 size=10G"), (524, 40));
        let clones = workloads("rw=write numjobs=3 size=8z offset_increment=8Z").expect("a load");
        let starts: Vec<u64> = clones.iter().map(|clone| clone.range.start_bytes / ZONE).collect();
        assert_eq!(starts, [0, 8, 16]);
        let without = parse("x", "[a]\nsize=4z\n", &Job::default(), &Surroundings::none()).expect("options");
        assert!(without[0].streams(GIB, 0, 1).is_err_and(|error| error.contains("need a zonesize")));
    }

    #[test]
    fn impossible_combinations_say_why() {
        for (options, expected) in [
            ("rw=randwrite verify=crc32c", "verify"),
            ("rw=randwrite rate=1m", "a rate"),
            ("rw=rw", "use randrw"),
            ("rw=write zoneskip=256M", "zoneskip"),
            ("rw=randwrite continue_on_error=write", "continue_on_error"),
            ("rw=randwrite atomic=1", "atomic"),
            ("rw=randwrite ioengine=io_uring_cmd", "io_uring, libaio or psync"),
            ("rw=randwrite zonemode=none max_open_zones=3", "max_open_zones needs zonemode=zbd"),
        ] {
            let error = workloads(options).expect_err(expected);
            assert!(error.contains(expected), "{options}: {error}");
        }
    }
}
