//! The rates of a job: exact fractions, because bytes per second are rarely a whole number of I/Os.

use std::fmt;

use record::Arrivals;

use super::Job;

/// One hundred percent.
const ALL: u128 = 100;
/// Highest rate of a job, in I/Os per second.
const HIGHEST: u128 = 100_000_000;

/// I/Os per second as a fraction in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    ios: u32,
    seconds: u32,
}

impl Rate {
    const NONE: Self = Self { ios: 0, seconds: 1 };

    /// Returns `None` if the terms of the fraction are too large.
    pub(crate) fn of(ios: u128, seconds: u128) -> Option<Self> {
        let (mut divisor, mut rest) = (ios, seconds);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        let reduced = |term: u128| u32::try_from(term / divisor.max(1)).ok();
        Some(Self { ios: reduced(ios)?, seconds: reduced(seconds)? })
    }

    fn plus(self, other: Self) -> Option<Self> {
        let [[a, b], [c, d]] = [self, other].map(|rate| [rate.ios, rate.seconds].map(u128::from));
        Self::of(a * d + c * b, b * d)
    }

    /// Returns the schedule of all clones of a job, of which each has the rate of `one`.
    pub(crate) fn joined(one: Arrivals, clones: u64) -> Option<Arrivals> {
        let all = Self::of(u128::from(one.per_second) * u128::from(clones), one.divisor.into())?;
        Some(Arrivals { per_second: all.ios, divisor: all.seconds, ..one })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seconds {
            1 => write!(f, "{}", self.ios),
            seconds => write!(f, "{:.3}", f64::from(self.ios) / f64::from(seconds)),
        }
    }
}

impl Job {
    /// Returns the I/Os per second of each direction, from `rate` if that is set.
    fn rates(&self) -> Result<Option<[Rate; 2]>, String> {
        let Some(rates) = self.rate_bytes else {
            return Ok(self.rate_iops.map(|rates| rates.map(|ios| Rate { ios, seconds: 1 })));
        };
        if self.rate_iops.is_some() {
            return Err("rate and rate_iops cannot be combined".into());
        }
        let mut of = [Rate::NONE; 2];
        for ((rate, bytes), blocks) in of.iter_mut().zip(rates).zip(&self.blocks) {
            let size: u128 = blocks
                .iter()
                .map(|row| u128::from(row.block_bytes) * u128::from(row.share_percent))
                .sum::<u128>()
                .max(1);
            let wanted = u128::from(bytes) * ALL;
            *rate = Rate::of(wanted, size).filter(|_| wanted <= HIGHEST * size).ok_or_else(|| {
                format!("rate: {bytes} B per second are more than 100,000,000 I/Os of this size per second")
            })?;
        }
        Ok(Some(of))
    }

    /// Returns the percentage of reads; if rates of reads and writes are set, they determine it.
    pub(crate) fn mixed_reads(&self) -> Result<u8, String> {
        let (Some([reads, writes]), None) = (self.rates()?, self.reads) else {
            return Ok(self.read_percent());
        };
        let [of_reads, of_writes] = [(reads, writes), (writes, reads)]
            .map(|(rate, other)| u128::from(rate.ios) * u128::from(other.seconds));
        if reads == writes && self.mix.is_some_and(|mix| mix != 50) || reads.ios == 0 || writes.ios == 0 {
            return Err(format!(
                "in a mix, rate_iops needs a rate for each direction: write READ,WRITE, such as {},{}",
                u32::from(self.read_percent()) * 10,
                1000 - u32::from(self.read_percent()) * 10
            ));
        }
        let (part, all) = (of_reads * ALL, of_reads + of_writes);
        if !part.is_multiple_of(all) {
            return Err(format!("rate_iops {reads},{writes} is not an integer percentage of reads"));
        }
        let percent = (part / all) as u8;
        match self.mix {
            Some(mix) if mix != percent => {
                Err(format!("rate_iops {reads},{writes} means {percent} % reads, not {mix} %"))
            }
            _ => Ok(percent),
        }
    }

    pub(crate) fn arrivals(&self) -> Result<Option<Arrivals>, String> {
        let Some([reads, writes]) = self.rates()? else { return Ok(None) };
        let rate = match self.reads {
            Some(100) => reads,
            Some(_) => writes,
            None => reads.plus(writes).ok_or("the sum of both rates is not a fraction of 32-bit numbers")?,
        };
        if rate.ios == 0 {
            return Err(format!("the rate does not apply to {}", self.pattern));
        }
        Ok(Some(Arrivals { per_second: rate.ios, divisor: rate.seconds, process: self.process }))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Job, Surroundings, parse};

    fn arrivals(options: &str) -> Result<(u32, u32), String> {
        let text = format!("[job]\n{}\n", options.replace(' ', "\n"));
        let jobs = parse("x", &text, &Job::default(), &Surroundings::none()).expect("known options");
        let streams = jobs[0].streams(1 << 30, 0, 1)?;
        let arrivals = streams[0].regime.arrivals.expect("a schedule");
        Ok((arrivals.per_second, arrivals.divisor))
    }

    #[test]
    fn rates_in_bytes_are_exact() {
        for (options, expected) in [
            ("rw=randread rate=1m", (256, 1)),
            ("rw=read rate=1250", (625, 2048)),
            ("rw=read rate=3m bs=2m", (3, 2)),
            ("rw=randread rate=1k numjobs=3", (3, 4)),
            ("rw=randrw rate=300,300,300", (75, 512)),
            ("rw=randrw rate=3k,1k", (1, 1)),
            ("rw=randread bssplit=4k/50:8k/50 rate=1m", (512, 3)),
            ("rw=randread rate_iops=7", (7, 1)),
        ] {
            assert_eq!(arrivals(options), Ok(expected), "{options}");
        }
        assert!(arrivals("rw=read rate=1p").unwrap_err().contains("more than 100,000,000"));
    }
}
