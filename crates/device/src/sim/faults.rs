//! The faults of a simulated drive, as specified by the user and as stored in a run.

use nandsim::{DataDefect, DataFault, FaultError, Faults, LostCommands, MediaFault, Throttling};
use record::InjectedFault;

use crate::open_options::SimFaults;

/// Returns the faults to inject, with times for the full-size drive; `own` are the model's faults.
pub(super) fn chosen(
    faults: Option<&SimFaults>,
    own: &[String],
    capacity_bytes: u64,
) -> Result<Faults, FaultError> {
    match faults {
        None => Faults::from_texts(own, capacity_bytes),
        Some(SimFaults::Typed(texts)) => Faults::from_texts(texts, capacity_bytes),
        Some(SimFaults::Recorded(faults)) => Ok(injected(faults)),
    }
}

fn injected(recorded: &[InjectedFault]) -> Faults {
    let mut faults = Faults::default();
    let data = |start_bytes: u64, length_bytes, defect, from_ns| {
        let bytes = start_bytes..start_bytes.saturating_add(length_bytes);
        DataFault { bytes, defect, from_ns }
    };
    for fault in recorded {
        match *fault {
            InjectedFault::Flip { start_bytes, length_bytes, after_ns } => {
                faults.data.push(data(start_bytes, length_bytes, DataDefect::Flipped, after_ns));
            }
            InjectedFault::LostWrites { start_bytes, length_bytes, after_ns } => {
                faults.data.push(data(start_bytes, length_bytes, DataDefect::Lost, after_ns));
            }
            InjectedFault::Media { start_bytes, length_bytes, reads, writes, retry_ns } => {
                let bytes = start_bytes..start_bytes.saturating_add(length_bytes);
                faults.media.push(MediaFault { bytes, reads, writes, retry_ns });
            }
            InjectedFault::Timeout { after_ns, commands, wait_ns } => {
                faults.lost.push(LostCommands { from_ns: after_ns, commands, timeout_ns: wait_ns });
            }
            InjectedFault::Throttle { after_ns, length_ns, bytes_per_second } => {
                let times_ns = after_ns..after_ns.saturating_add(length_ns);
                // A rate of zero in a file would cause a division by zero.
                faults.slow.push(Throttling { times_ns, bytes_per_second: bytes_per_second.max(1) });
            }
            InjectedFault::Removal { after_ns } => faults.removed_at_ns = Some(after_ns),
            InjectedFault::Power { after_ns } => faults.power_lost_at_ns.push(after_ns),
        }
    }
    faults
}

/// Returns the faults in the form that a run stores.
pub(super) fn recorded(faults: &Faults) -> Vec<InjectedFault> {
    let length = |range: &std::ops::Range<u64>| range.end - range.start;
    let media = faults.media.iter().map(|media| InjectedFault::Media {
        start_bytes: media.bytes.start,
        length_bytes: length(&media.bytes),
        reads: media.reads,
        writes: media.writes,
        retry_ns: media.retry_ns,
    });
    let data = faults.data.iter().map(|data| {
        let (start_bytes, length_bytes) = (data.bytes.start, length(&data.bytes));
        let after_ns = data.from_ns;
        match data.defect {
            DataDefect::Flipped => InjectedFault::Flip { start_bytes, length_bytes, after_ns },
            DataDefect::Lost => InjectedFault::LostWrites { start_bytes, length_bytes, after_ns },
        }
    });
    let lost = faults.lost.iter().map(|lost| InjectedFault::Timeout {
        after_ns: lost.from_ns,
        commands: lost.commands,
        wait_ns: lost.timeout_ns,
    });
    let slow = faults.slow.iter().map(|slow| InjectedFault::Throttle {
        after_ns: slow.times_ns.start,
        length_ns: length(&slow.times_ns),
        bytes_per_second: slow.bytes_per_second,
    });
    let removed = faults.removed_at_ns.iter().map(|&after_ns| InjectedFault::Removal { after_ns });
    let power = faults.power_lost_at_ns.iter().map(|&after_ns| InjectedFault::Power { after_ns });
    media.chain(data).chain(lost).chain(slow).chain(removed).chain(power).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY_BYTES: u64 = 100_000_000_000;

    #[test]
    fn recorded_faults_are_those_that_were_typed() {
        let typed = [
            "media:at=25%,length=1MiB,on=reads,retry=2s",
            "media:at=0,length=4096B,on=writes,retry=500ms",
            "media:at=10GB",
            "flip:at=64MiB,length=4KiB,after=25min",
            "lost-writes:at=1GB",
            "timeout:after=90min,commands=3,wait=500ms",
            "throttle:after=1h,for=40s,rate=50MB",
            "removal:after=8s",
            "power:after=4s",
            "power:after=12s",
        ];
        let faults = Faults::from_texts(&typed, CAPACITY_BYTES).expect("faults");
        let stored = recorded(&faults);
        assert_eq!(injected(&stored), faults);
        let texts: Vec<String> = stored.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "media:at=25GB,length=1MiB,on=reads,retry=2s",
                "media:at=0,length=4KiB,on=writes,retry=500ms",
                "media:at=10GB,length=1MiB,retry=1s",
                "flip:at=64MiB,length=4KiB,after=25min",
                "lost-writes:at=1GB,length=1MiB,after=0s",
                "timeout:after=90min,commands=3,wait=500ms",
                "throttle:after=1h,for=40s,rate=50MB/s",
                "removal:after=8s",
                "power:after=4s",
                "power:after=12s",
            ]
        );
        assert_eq!(Faults::from_texts(&texts, CAPACITY_BYTES), Ok(faults), "their text can be typed");
    }
}
