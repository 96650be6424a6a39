//! The meters' line protocol, which docs/guide/power.md describes for users.
//!
//! A meter sends lines of text: a number of watts, or a comment with the meter's properties. Lines are untrusted: their
//! length and number are bounded.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use record::{PowerFacts, PowerSubject};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::error::PowerError;
use crate::source::Sample;

/// Maximum line length. A longer line cannot be a number of watts.
const MOST_BYTES: usize = 256;
/// Maximum number of bytes to read at a time, so that a meter that never pauses cannot block the reader.
const MOST_AT_ONCE: usize = 65_536;
/// Maximum plausible power.
const MOST_WATTS: f64 = 1e6;
/// How long to wait for the first value.
const PATIENCE: Duration = Duration::from_secs(10);

/// Properties that a meter reports in comments.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Stated {
    pub(crate) resolution_watts: Option<f64>,
    pub(crate) tolerance_percent: Option<f64>,
    pub(crate) is_of_host: bool,
}

impl Stated {
    /// Accepts the words `resolution=WATTS`, `tolerance=PERCENT` and `measures=host` in a comment; other
    /// words are ignored.
    fn take(&mut self, comment: &str) {
        let number = |text: &str| text.parse::<f64>().ok().filter(|value| (0.0..=1e6).contains(value));
        for word in comment.split_whitespace() {
            match word.split_once('=') {
                Some(("resolution", value)) => self.resolution_watts = number(value),
                Some(("tolerance", value)) => self.tolerance_percent = number(value.trim_end_matches('%')),
                Some(("measures", value)) => self.is_of_host = value == "host",
                _ => {}
            }
        }
    }

    /// Returns the known properties of the meter.
    pub(crate) fn facts(self, meter: String) -> PowerFacts {
        PowerFacts {
            source: String::new(),
            meter,
            subject: if self.is_of_host { PowerSubject::Host } else { PowerSubject::Drive },
            resolution_microwatts: self.resolution_watts.map(|watts| (watts * 1e6).round() as u64),
            tolerance_ppm: self.tolerance_percent.map(|percent| (percent * 1e4).round() as u32),
        }
    }
}

/// Parses a number of watts: `12.5`, `12.5 W` or `12500 mW`.
fn watts(line: &str) -> Option<f64> {
    let (number, factor) = match line {
        _ if line.ends_with("mW") => (&line[..line.len() - 2], 1e-3),
        _ if line.ends_with('W') => (&line[..line.len() - 1], 1.0),
        _ => (line, 1.0),
    };
    let watts = number.trim_end().parse::<f64>().ok()? * factor;
    (0.0..=MOST_WATTS).contains(&watts).then_some(watts)
}

/// Reads lines from a non-blocking descriptor.
pub(crate) struct Lines {
    what: String,
    fd: OwnedFd,
    /// The start of an incomplete line.
    begun: Vec<u8>,
    /// Whether to ignore the remainder of the current line, because its start was missed or it is too long.
    is_skipping: bool,
    /// Whether a read of zero bytes means the end of the input, as with a pipe.
    ends: bool,
    pub(crate) stated: Stated,
}

impl AsFd for Lines {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Lines {
    pub(crate) fn of_pipe(what: String, fd: OwnedFd) -> Self {
        Self { what, fd, begun: Vec::new(), is_skipping: false, ends: true, stated: Stated::default() }
    }

    /// A serial port may be opened in the middle of a line; that line is ignored.
    pub(crate) fn of_port(what: String, fd: OwnedFd) -> Self {
        Self { what, fd, begun: Vec::new(), is_skipping: true, ends: false, stated: Stated::default() }
    }

    /// Returns all values that have arrived so far.
    pub(crate) fn read(&mut self) -> Result<Vec<Sample>, PowerError> {
        let mut samples = Vec::new();
        let mut bytes = [0; 4096];
        let mut taken = 0;
        while taken < MOST_AT_ONCE {
            match rustix::io::read(&self.fd, &mut bytes) {
                Ok(0) if self.ends && samples.is_empty() => {
                    return Err(PowerError::Ended { what: self.what.clone() });
                }
                Ok(0) | Err(Errno::AGAIN) => break,
                Ok(count) => {
                    taken += count;
                    for &byte in &bytes[..count] {
                        samples.extend(self.take(byte)?);
                    }
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(PowerError::io(&self.what, errno)),
            }
        }
        Ok(samples)
    }

    fn take(&mut self, byte: u8) -> Result<Option<Sample>, PowerError> {
        if byte != b'\n' {
            self.is_skipping |= self.begun.len() >= MOST_BYTES;
            if !self.is_skipping {
                self.begun.push(byte);
            }
            return Ok(None);
        }
        let line = std::mem::take(&mut self.begun);
        if std::mem::take(&mut self.is_skipping) {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if let Some(comment) = line.strip_prefix('#') {
            self.stated.take(comment);
            return Ok(None);
        }
        if line.is_empty() {
            return Ok(None);
        }
        let shown = || line.chars().take(40).filter(|c| !c.is_control()).collect();
        let watts = watts(line).ok_or_else(|| PowerError::Line { what: self.what.clone(), line: shown() })?;
        Ok(Some(Sample::now(watts)))
    }

    /// Waits for the first value, which shows that the meter works.
    pub(crate) fn wait_for_value(&mut self) -> Result<(), PowerError> {
        self.wait_until(Instant::now() + PATIENCE)
    }

    fn wait_until(&mut self, end: Instant) -> Result<(), PowerError> {
        loop {
            if !self.read()?.is_empty() {
                return Ok(());
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(PowerError::Silent { what: self.what.clone(), seconds: PATIENCE.as_secs() });
            }
            let timeout = Timespec::try_from(left).unwrap_or_default();
            let mut waiting = [PollFd::from_borrowed_fd(self.fd.as_fd(), PollFlags::IN)];
            match poll(&mut waiting, Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(PowerError::io(&self.what, errno)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pipe::{PipeFlags, pipe_with};

    fn lines() -> (Lines, OwnedFd) {
        let (read, write) = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC).expect("a pipe");
        (Lines::of_pipe("the meter".into(), read), write)
    }

    fn send(fd: &OwnedFd, text: &[u8]) {
        assert_eq!(rustix::io::write(fd, text).expect("there is room"), text.len());
    }

    fn values(lines: &mut Lines) -> Vec<f64> {
        lines.read().expect("watts").iter().map(|sample| sample.watts).collect()
    }

    #[test]
    fn values_arrive_whole_and_comments_describe_the_meter() {
        let (mut lines, meter) = lines();
        send(&meter, b"# plateau power, resolution=0.01 tolerance=0.5% measures=host colour=red\r\n1.5\r\n\n2.25 W\n750 mW\n3.");
        assert_eq!(values(&mut lines), [1.5, 2.25, 0.75]);
        assert_eq!(values(&mut lines), [] as [f64; 0]);
        send(&meter, b"125\n");
        assert_eq!(values(&mut lines), [3.125]);
        let facts = lines.stated.facts("m".into());
        assert_eq!((facts.resolution_microwatts, facts.tolerance_ppm), (Some(10_000), Some(5_000)));
        assert_eq!(facts.subject, PowerSubject::Host);
        drop(meter);
        assert!(matches!(lines.read(), Err(PowerError::Ended { .. })));
    }

    #[test]
    fn an_invalid_line_is_an_error_and_the_next_line_counts() {
        for wrong in ["-1", "NaN", "inf", "12 V", "1e9", "W", "\u{1b}[31m"] {
            let (mut lines, meter) = lines();
            send(&meter, format!("{wrong}\n4\n").as_bytes());
            let message = lines.read().expect_err(wrong).to_string();
            assert!(!message.contains('\u{1b}'), "{message}");
            send(&meter, b"5\n");
            assert_eq!(values(&mut lines), [5.0], "{wrong}");
        }
    }

    #[test]
    fn an_endless_line_takes_no_memory() {
        let (mut lines, meter) = lines();
        for _ in 0..4 {
            send(&meter, &[b'7'; 10_000]);
            assert_eq!(values(&mut lines), [] as [f64; 0]);
        }
        assert!(lines.begun.len() <= MOST_BYTES);
        send(&meter, b"\n6\n");
        assert_eq!(values(&mut lines), [6.0]);
    }

    #[test]
    fn a_silent_meter_is_not_waited_for_forever() {
        let (mut lines, meter) = lines();
        let now = Instant::now();
        assert!(matches!(lines.wait_until(now), Err(PowerError::Silent { .. })));
        send(&meter, b"1\n");
        lines.wait_until(now).expect("a value");
    }
}
